//! Percale: cloth that does not go through itself or anything else, with proof.
//!
//! ```text
//! Verified ──propose──▶ Candidate ──repel──▶ Candidate ──respond──▶ Candidate ──accept──▶ Verified
//! (start)   dynamics      x(1)      response              stages                 verify    (or StepError,
//!                                                                                           start untouched)
//! ```
//!
//! A [`verify::Verified`] state is proved free of intersections, and so is the straight motion that
//! led to it; only [`verify`] can make one. Everything else proposes: [`dynamics`] (or any
//! integrator of yours) proposes end positions, [`response`] changes them until nothing meets, and
//! [`verify::accept`] judges the very bits that will be stored. Scripted objects and pinned
//! vertices are ordinary vertices of infinite mass.
//!
//! | module | knows |
//! |---|---|
//! | [`geometry`] | shapes and their straight motion: meshes, boxes, trees, the continuous and the static test |
//! | [`state`] | the candidate: start, end positions, masses |
//! | [`touch`] | what touches within the loops of an integrator: asked for by dynamics, answered by contact |
//! | [`response`] | repulsions and stages: how impacts change a candidate |
//! | [`dynamics`] | forces, fabrics, integrators |
//! | [`untangle`] | every intersection of a tangled state, by type |
//! | [`verify`] | certificates, and an auditor that shares no code with detection |
//! | [`layers`] | the order of cloths in contact, checked |
//! | [`step`] | the time loop: intervals, retries, reports |
//! | [`compare`](mod@compare) | methods side by side, from the same states |
//! | [`resolve`](mod@resolve) | the collision step alone, for an integrator of your own |
//! | [`script`], [`grid`] | scripted motion by the tick; output positions, rounded before they are judged |
//! | [`scene`], [`io`], [`render`] | scenes in, results and pictures out |
//! | [`error`] | what can be wrong, by name |
//!
//! The short way, a scene:
//!
//! ```
//! use percale::scene::Scene;
//!
//! let scene = Scene::load("drop")?.set("cloth.0.shape.cells", "[8, 8]")?;
//! let mut simulation = scene.build()?; // Err: the start intersects, and where
//! let report = simulation.step().expect("one frame of free fall");
//! assert_eq!(report.intersections, 0);
//! # Ok::<(), percale::scene::SceneError>(())
//! ```
//!
//! SI units, Y up, `f64`, three dimensions. The same bits for any number of threads.

pub mod compare;
pub mod dynamics;
pub mod error;
pub mod geometry;
pub mod grid;
pub mod io;
pub mod layers;
pub mod render;
pub mod resolve;
pub mod response;
pub mod scene;
pub mod script;
pub mod state;
pub mod step;
pub mod touch;
pub mod untangle;
pub mod verify;

pub use error::{MeshError, StartError, StepError, ValueError};
pub use geometry::{Collider, Impact, Mesh, Motion, Proof};
pub use glam::DVec3;
pub use resolve::{Resolution, resolve};
pub use scene::{Scene, SceneError};
pub use state::{Candidate, Surfaces};
pub use step::{Figures, Settings, Simulation};
pub use verify::Verified;

/// Pairs of faces that cross at `x`, the smaller number first, ascending: the exact static test of
/// the whole mesh.
///
/// # Errors
/// Not one position per vertex, or coordinates outside the range of the guarantee.
///
/// # Examples
/// ```
/// use percale::{DVec3, Mesh, intersections};
///
/// let mesh = Mesh::new(6, vec![[0, 1, 2], [3, 4, 5]])?;
/// let mut x = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.2, 1.0, 0.2], [0.3, 1.0, 0.2], [0.2, 0.5, 0.2]]
///     .map(DVec3::from_array);
/// assert!(intersections(&mesh, &x)?.is_empty());
/// x[5].y = -0.5;
/// assert_eq!(intersections(&mesh, &x)?, [[0, 1]]);
/// # Ok::<(), percale::MeshError>(())
/// ```
pub fn intersections(mesh: &Mesh, x: &[DVec3]) -> Result<Vec<[u32; 2]>, MeshError> {
    geometry::mesh::check_positions(mesh, x)?;
    Ok(geometry::crossing_faces(mesh, x))
}

#[cfg(test)]
mod oracle;

#[cfg(test)]
#[path = "../tests/support/random.rs"]
mod random;
