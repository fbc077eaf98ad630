//! Shapes and their straight-line motion; nothing here knows masses or forces.

mod aabb;
mod box32;
mod bvh;
#[doc(hidden)]
pub mod ccd;
pub(crate) mod collider;
pub(crate) mod critical;
mod error;
mod faces32;
mod fan;
pub(crate) mod impact;
pub(crate) mod intersect;
mod lanes;
mod looks32;
mod margin;
pub(crate) mod mesh;
mod nearby;
mod once;
mod proof;
pub(crate) mod proximity;
mod slide;
pub(crate) mod sweep;
mod sweep32;
pub(crate) mod tangle;
pub(crate) mod topology;

pub use aabb::Aabb;
pub use ccd::Mode;
pub use collider::{Asked, Collider, Foreseen, Look, Motion};
pub use error::MeshError;
pub use impact::{ContactPoint, Impact, Pair};
pub use intersect::{Crossings, Scope, crossing_faces, crossings, has_crossings};
pub use margin::Margin;
pub use mesh::{Body, BodyKind, Mesh};
pub use proof::Proof;
pub(crate) use proximity::closest_points_vertex_face;
pub use proximity::{Closest, Proximity};
pub(crate) use slide::slid;
pub use sweep::Sweep;
pub use tangle::{BadTangle, Exempt, Tangle};
