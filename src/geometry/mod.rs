//! Shapes and their straight-line motion; nothing here knows masses or forces.

pub mod aabb;
pub mod ccd;
pub mod impact;
pub mod mesh;
pub mod sweep;
pub mod topology;

pub use aabb::Aabb;
pub use impact::{Impact, Pair};
pub use mesh::{Body, BodyKind, Mesh};
pub use sweep::Sweep;
