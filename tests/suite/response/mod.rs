//! Stages resolve what they are given, in the order that they are given it, or prove that there is no room.

mod order;
mod pinch;
mod resolve;
mod semi_global;
mod untangling;
mod volume;
mod zones;
