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
//! The front door is what lies directly in this crate, each with an example. The rooms behind it are
//! open where their settings, reports and errors are needed:
//!
//! | module | knows |
//! |---|---|
//! | [`geometry`] | shapes and their straight motion: meshes, boxes, trees, the continuous and the static test |
//! | [`response`] | repulsions and stages: how impacts change a candidate |
//! | [`dynamics`] | forces, fabrics, integrators |
//! | [`untangle`] | every intersection of a tangled state, by type, and its cure |
//! | [`verify`] | certificates, and an auditor that shares no code with detection |
//! | [`step`] | the time loop: intervals, retries, reports |
//! | [`compare`](mod@compare) | methods side by side, from the same states; internal |
//! | [`resolve`](mod@resolve) | the collision step alone, for an integrator of your own |
//! | [`io`] | mesh files in and out |
//! | [`scene`] | scenes: TOML in, a simulation out |
//! | [`record`] | result folders: written, continued, read, exported |
//! | [`runs`] | many runs of one scene |
//! | [`plain`] | the calls of the bindings, on plain arrays |
//! | [`render`] | software pictures; internal |
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

mod assets;
pub mod compare;
pub mod dynamics;
pub mod error;
pub mod geometry;
mod grid;
pub mod io;
mod layers;
pub mod plain;
pub mod record;
pub mod render;
pub mod resolve;
pub mod response;
pub mod runs;
pub mod scene;
#[doc(hidden)]
pub mod script;
#[doc(hidden)]
pub mod skeleton;
mod state;
pub mod step;
mod touch;
pub mod untangle;
pub mod verify;

#[doc(inline)]
pub use error::{MeshError, StartError, StepError, ValueError};
#[doc(inline)]
pub use geometry::{Collider, Impact, Mesh, Motion, Proof};
pub use glam::{DVec2, DVec3};
#[doc(inline)]
pub use resolve::{Resolution, resolve};
#[doc(inline)]
pub use scene::{Scene, SceneError};
pub use state::{Candidate, Surfaces};
/// # Examples
/// ```
/// use percale::Scene;
///
/// let scene = Scene::load("drop")?.set("cloth.0.shape.cells", "[8, 8]")?;
/// let report = scene.build()?.step()?;
/// assert_eq!((report.frame, report.intersections), (1, 0));
/// assert!(report.intervals >= 1 && report.impacts.vertex_face == 0, "still in free fall");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(inline)]
pub use step::Figures;
#[doc(inline)]
pub use step::{Settings, Simulation};
#[doc(inline)]
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
