//! Keys of the dynamics change the motion as predicted.

mod dynamics_keys;
