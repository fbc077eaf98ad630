//! Shapes and their straight-line motion; nothing here knows masses or forces.

pub mod aabb;
mod box32;
mod bvh;
pub mod ccd;
pub mod collider;
pub(crate) mod critical;
mod error;
pub mod impact;
pub mod intersect;
mod margin;
pub mod mesh;
mod nearby;
mod proof;
pub mod proximity;
pub mod sweep;
mod sweep32;
pub mod topology;

pub use aabb::Aabb;
pub use collider::{Asked, Collider, Foreseen, Look, Motion};
pub use error::MeshError;
pub use impact::{ContactPoint, Impact, Pair};
pub use intersect::{Crossings, crossing_faces, crossings};
pub use margin::Margin;
pub use mesh::{Body, BodyKind, Mesh};
pub use proof::Proof;
pub use proximity::{Closest, Proximity};
pub use sweep::Sweep;
