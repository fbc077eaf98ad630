//! Laws of physics that the collision step keeps: momentum, energy, Coulomb's friction, rest.

mod friction;
mod friction_laws;
mod in_loops;
mod liveliness;
mod shared_zone;
mod step_laws;
