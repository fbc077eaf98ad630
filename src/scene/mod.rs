//! Scenes: what is simulated, from parameters.

pub mod tangles;
