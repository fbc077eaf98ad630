//! Tests of the whole model: forces and matrices against differences, laws, mechanics that others worked out, every setting.

pub(super) mod bodies;
mod derivatives;
mod keys;
mod laws;
mod physics;
