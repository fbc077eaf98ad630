//! Shapes and their straight-line motion; nothing here knows masses or forces.

pub mod aabb;
pub mod ccd;
pub mod detect;
pub mod impact;
pub mod intersect;
pub mod mesh;
pub mod sweep;

pub use aabb::Aabb;
pub use impact::{ContactPoint, Impact, Pair};
pub use mesh::{Body, BodyKind, Mesh};
pub use sweep::Sweep;
