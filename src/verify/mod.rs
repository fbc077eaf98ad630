//! The judge: the only place where a certificate is issued.
//!
//! A [`Verified`] exists only if its positions, as stored, cross nothing, and if the straight
//! motion that led to them met nothing on the way. It sees neither the response nor the dynamics:
//! whatever stages believe does not count. [`audit`] is a second implementation that shares no code
//! with the first.

pub mod audit;

use std::sync::Arc;

use glam::DVec3;

use crate::error::{StartError, StepError, ValueError};
use crate::geometry::intersect::{self, Scope};
use crate::geometry::mesh::{check_positions, flush_tiny};
use crate::geometry::{Asked, Collider, Mesh, Motion, Proof, ccd};
use crate::state::Candidate;

/// A state that is proved free of intersections; pairs of two obstacle features are outside the
/// certificate.
///
/// Made by [`start`] and [`accept`] only. Velocities may be replaced: the certificate is about
/// positions.
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use percale::{Collider, DVec3, Mesh};
///
/// let mesh = Arc::new(Mesh::new(6, vec![[0, 1, 2], [3, 4, 5]])?);
/// let lower = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]];
/// let upper = [[0.2, 0.1, 0.2], [1.2, 0.1, 0.2], [0.2, 0.1, 1.2]];
/// let x0: Vec<DVec3> = lower.iter().chain(&upper).map(|&x| x.into()).collect();
/// let collider = Collider::new(&mesh);
/// let v0 = vec![DVec3::ZERO; 6];
/// assert!(collider.start(x0.clone(), v0.clone()).is_ok());
///
/// let mut tangled = x0;
/// tangled[3].y = -0.1;
/// let refused = collider.start(tangled, v0).unwrap_err();
/// assert!(refused.to_string().contains("first faces 0"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Verified {
    mesh: Arc<Mesh>,
    x: Vec<DVec3>,
    v: Vec<DVec3>,
}

impl Verified {
    /// The mesh that the certificate is about.
    pub fn mesh(&self) -> &Arc<Mesh> {
        &self.mesh
    }

    /// Positions, in metres.
    pub fn positions(&self) -> &[DVec3] {
        &self.x
    }

    /// Velocities, in metres per second.
    pub fn velocities(&self) -> &[DVec3] {
        &self.v
    }

    /// Velocities, to be finished by the integrator after acceptance.
    pub fn velocities_mut(&mut self) -> &mut [DVec3] {
        &mut self.v
    }
}

/// Certifies a start state.
///
/// # Errors
/// Positions or velocities that are unusable, or crossing faces; nothing is repaired here.
pub fn start(mesh: Arc<Mesh>, x: Vec<DVec3>, v: Vec<DVec3>) -> Result<Verified, StartError> {
    check_positions(&mesh, &x)?;
    if v.len() != x.len() {
        return Err(StartError::VelocityCount {
            velocities: v.len(),
            vertex_count: x.len(),
        });
    }
    if let Some(vertex) = v.iter().position(|v| !v.is_finite()) {
        return Err(StartError::Velocity {
            vertex,
            velocity: v[vertex],
        });
    }
    let crossing = intersect::crossing_faces(&mesh, &x);
    match crossing.first() {
        Some(&[a, b]) => {
            let name = |face| mesh.bodies()[mesh.body_of_face(face) as usize].name.clone();
            Err(StartError::Crossing {
                count: crossing.len(),
                faces: [a, b],
                bodies: [name(a), name(b)],
            })
        }
        None => Ok(Verified { mesh, x, v }),
    }
}

impl Collider {
    /// Certifies a start state of the mesh, see [`start`].
    ///
    /// # Errors
    /// Those of [`start`].
    pub fn start(&self, x: Vec<DVec3>, v: Vec<DVec3>) -> Result<Verified, StartError> {
        start(Arc::clone(self.mesh()), x, v)
    }
}

/// Certifies the end of a motion, or says why not; the start is untouched either way.
///
/// The continuous test is run in exact mode over every pair, on the very bits of the end: what
/// starts apart and meets nothing on the way ends apart. What a [`Proof`] of this mesh, start and
/// motion covers is not tested again; one of anything else covers nothing. Coordinates below 1e-70
/// m become 0 before they are judged. The velocities of the new state are the mean ones, `(x −
/// x₀)/dt`.
///
/// # Errors
/// [`StepError::BadCandidate`] for positions that are not numbers or out of range,
/// [`StepError::Unresolved`] if something meets on the way, [`StepError::BadValue`] for a collider
/// of another mesh.
pub fn accept(
    candidate: Candidate<'_>,
    collider: &mut Collider,
    proof: Option<&Proof>,
) -> Result<Verified, StepError> {
    let Candidate {
        start, dt, mut x, ..
    } = candidate;
    let mesh = start.mesh();
    if !Arc::ptr_eq(mesh, collider.mesh()) {
        return Err(ValueError::OtherMesh { what: "collider" }.into());
    }
    flush_tiny(&mut x);
    check_positions(mesh, &x)?;

    let exact = Asked {
        mode: ccd::Mode::Exact,
        margin: None,
    };
    let impacts = collider
        .look(Motion::new(&start.x, &x), &exact, proof)
        .impacts;
    if let Some(first) = impacts.first() {
        let [a, .., b] = first.vertices;
        let name = |v| mesh.bodies()[mesh.body_of_vertex(v) as usize].name.clone();
        return Err(StepError::Unresolved {
            bodies: [name(a), name(b)],
            count: impacts.len(),
            first: first.pair,
            vertices: first.vertices,
        });
    }
    let v = x
        .iter()
        .zip(&start.x)
        .map(|(x1, x0)| (x1 - x0) / dt)
        .collect();
    Ok(Verified {
        mesh: Arc::clone(mesh),
        x,
        v,
    })
}

/// Like [`accept`], for a state that is going to be stored: the exact static test has to agree.
///
/// # Errors
/// Those of [`accept`], and [`StepError::Crossing`]: never, unless detection has a bug.
pub fn accept_stored(
    candidate: Candidate<'_>,
    collider: &mut Collider,
    proof: Option<&Proof>,
) -> Result<Verified, StepError> {
    let accepted = accept(candidate, collider, proof)?;
    let crossing = collider.crossings(&accepted.x, Scope::Certified);
    match crossing.faces.first() {
        Some(&first) => Err(StepError::Crossing {
            count: crossing.faces.len(),
            first,
        }),
        None => Ok(accepted),
    }
}
