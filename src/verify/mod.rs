//! The judge: the only place where a certificate is issued.
//!
//! A [`Verified`] exists only if its positions, as stored, cross nothing, and if the straight
//! motion that led to them met nothing on the way. It sees neither the response nor the dynamics:
//! whatever stages believe does not count. [`audit`] is a second implementation that shares no code
//! with the first.
//!
//! Cloth that is tangled can be certified all the same, for what is not: with a list of
//! [tangles](Tangle), each a path of crossing faces with two sets of faces A and B. Then it says:
//! outside A × B nothing crosses, and nothing met on the way; what crosses belongs to a listed path;
//! no path is new. The list is empty unless somebody asks for another one by name ([`start_listed`],
//! [`open`]), and it only becomes shorter by itself.

pub mod audit;
mod listed;

use std::sync::Arc;

use glam::DVec3;

use crate::error::{StartError, StepError, ValueError};
use crate::geometry::intersect::{self, Scope};
use crate::geometry::mesh::{check_positions, flush_tiny};
use crate::geometry::{Asked, BadTangle, Collider, Exempt, Mesh, Motion, Proof, Tangle, ccd};
use crate::state::Candidate;
use listed::Wrong;

/// A state that is proved free of intersections, those of its [tangles](Self::tangles) excepted;
/// pairs of two obstacle features are outside the certificate.
///
/// Made by the functions of this module only. Velocities may be replaced: the certificate is about
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
/// let mut collider = Collider::new(&mesh);
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
    /// Their paths together are all that crosses.
    tangles: Vec<Tangle>,
    /// What they let through; none if there are none.
    exempt: Option<Arc<Exempt>>,
}

impl Verified {
    fn new(mesh: Arc<Mesh>, x: Vec<DVec3>, v: Vec<DVec3>, tangles: Vec<Tangle>) -> Self {
        let mut state = Self {
            mesh,
            x,
            v,
            tangles: Vec::new(),
            exempt: None,
        };
        state.list(tangles);
        state
    }

    fn list(&mut self, tangles: Vec<Tangle>) {
        let is_clean = tangles.is_empty();
        self.exempt = (!is_clean).then(|| Arc::new(Exempt::new(&self.mesh, &tangles)));
        self.tangles = tangles;
    }

    /// What crosses, as listed paths; none unless somebody asked for it.
    pub fn tangles(&self) -> &[Tangle] {
        &self.tangles
    }

    /// Pairs of features that are let through each other, if there are any.
    pub(crate) fn exempt(&self) -> Option<&Arc<Exempt>> {
        self.exempt.as_ref()
    }

    /// The motion from here straight to `end`, without what is let through.
    pub(crate) fn motion_to<'a>(&'a self, end: &'a [DVec3]) -> Motion<'a> {
        Motion::new(&self.x, end).outside(self.exempt())
    }

    /// All that crosses, by the listed paths: pairs of faces, the smaller first, ascending.
    pub fn crossing(&self) -> Vec<[u32; 2]> {
        let paths = self.tangles.iter().flat_map(|tangle| &tangle.path);
        let mut crossing: Vec<[u32; 2]> = paths.copied().map(listed::ascending).collect();
        crossing.sort_unstable();
        crossing
    }

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
    start_listed(mesh, x, v, Vec::new())
}

/// Certifies a start state for all that is not listed: what crosses has to be what the paths of
/// these tangles name, no more and no less.
///
/// # Errors
/// Those of [`start`]; faces that cross and that no path names ([`StartError::Crossing`], with or
/// without a list); a tangle that is not what it says ([`StartError::Tangle`]).
pub fn start_listed(
    mesh: Arc<Mesh>,
    x: Vec<DVec3>,
    v: Vec<DVec3>,
    tangles: Vec<Tangle>,
) -> Result<Verified, StartError> {
    check_start(&mesh, &x, &v)?;
    check_list(&mesh, &intersect::crossing_faces(&mesh, &x), &tangles)?;
    Ok(Verified::new(mesh, x, v, tangles))
}

/// Whether a start state can be judged.
fn check_start(mesh: &Mesh, x: &[DVec3], v: &[DVec3]) -> Result<(), StartError> {
    check_positions(mesh, x)?;
    if v.len() != x.len() {
        return Err(StartError::VelocityCount {
            velocities: v.len(),
            vertex_count: x.len(),
        });
    }
    match v.iter().position(|v| !v.is_finite()) {
        None => Ok(()),
        Some(vertex) => Err(StartError::Velocity {
            vertex,
            velocity: v[vertex],
        }),
    }
}

fn check_list(mesh: &Mesh, crossing: &[[u32; 2]], tangles: &[Tangle]) -> Result<(), StartError> {
    listed::check(mesh, crossing, tangles).map_err(|wrong| match wrong {
        Wrong::Tangle(number, what) => StartError::Tangle { number, what },
        Wrong::Unlisted(pairs) => StartError::Crossing {
            count: pairs.len(),
            faces: pairs[0],
            bodies: pairs[0].map(|face| name_of_face(mesh, face)),
        },
    })
}

fn name_of_face(mesh: &Mesh, face: u32) -> String {
    mesh.bodies()[mesh.body_of_face(face) as usize].name.clone()
}

/// Lists what crosses anew: the same crossings by other paths and sets, as a new look at them finds
/// them.
///
/// # Errors
/// As of [`start_listed`]; the state is as before then.
pub fn relist(state: &mut Verified, tangles: Vec<Tangle>) -> Result<(), StartError> {
    check_list(&state.mesh, &state.crossing(), &tangles)?;
    state.list(tangles);
    Ok(())
}

/// The same state with room for new paths: tangles without a path, between whose two sides whatever
/// meets next is let through. Those in which nothing crosses after that are gone.
///
/// For what is pinched: the certificate says less from now on, and its list says by how much.
///
/// # Errors
/// A tangle that is not what it says, or one with a path ([`StartError::Tangle`]).
pub fn open(state: &Verified, pinched: Vec<Tangle>) -> Result<Verified, StartError> {
    for (number, tangle) in pinched.iter().enumerate() {
        let wrong = |what: BadTangle| StartError::Tangle { number, what };
        if !tangle.path.is_empty() {
            return Err(wrong(BadTangle::Stale));
        }
        listed::check_sets(&state.mesh, tangle).map_err(wrong)?;
    }
    let mut opened = state.clone();
    opened.list([&state.tangles[..], &pinched].concat());
    Ok(opened)
}

impl Collider {
    /// Certifies a start state of the mesh, see [`start()`]; by the collider's tree, which is there then for what comes next.
    ///
    /// # Errors
    /// Those of [`start()`].
    pub fn start(&mut self, x: Vec<DVec3>, v: Vec<DVec3>) -> Result<Verified, StartError> {
        let mesh = Arc::clone(self.mesh());
        check_start(&mesh, &x, &v)?;
        check_list(&mesh, &self.crossings(&x, Scope::Certified).faces, &[])?;
        Ok(Verified::new(mesh, x, v, Vec::new()))
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
/// What the tangles of the start let through may meet; then the exact static test says what crosses
/// at the end, and all of it has to belong to a listed path.
///
/// # Errors
/// [`StepError::BadCandidate`] for positions that are not numbers or out of range,
/// [`StepError::Unresolved`] if something meets on the way, [`StepError::NewPath`] if something
/// crosses that belongs to no listed path, [`StepError::BadValue`] for a collider of another mesh.
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
    let impacts = collider.look(start.motion_to(&x), &exact, proof).impacts;
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
    let tangles = follow(start, &x, collider)?;
    Ok(Verified::new(Arc::clone(mesh), x, v, tangles))
}

/// The tangles of a start after a motion in which nothing else met.
fn follow(
    start: &Verified,
    x: &[DVec3],
    collider: &mut Collider,
) -> Result<Vec<Tangle>, StepError> {
    let Some(exempt) = start.exempt() else {
        return Ok(Vec::new());
    };
    let mesh = start.mesh();
    let crossing = collider.crossings(x, Scope::Certified).faces;
    let is_listed = |pair: &[u32; 2]| start.tangles.iter().any(|t| t.oriented(*pair).is_some());
    let beyond: Vec<[u32; 2]> = crossing.iter().copied().filter(|p| !is_listed(p)).collect();
    if let Some(&first) = beyond.first() {
        return Err(StepError::Crossing {
            count: beyond.len(),
            first,
        });
    }
    let exact = Asked {
        mode: ccd::Mode::Exact,
        margin: None,
    };
    let met = collider.impacts(Motion::new(&start.x, x).within(exempt), &exact);
    let followed = listed::follow(mesh, &start.tangles, exempt, &met, &crossing);
    followed.map_err(|nobodys| StepError::NewPath {
        count: nobodys.len(),
        first: nobodys[0],
        bodies: nobodys[0].map(|face| name_of_face(mesh, face)),
        pairs: nobodys,
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
    if !accepted.tangles.is_empty() {
        return Ok(accepted); // the static test has been asked
    }
    let crossing = collider.crossings(&accepted.x, Scope::Certified);
    match crossing.faces.first() {
        Some(&first) => Err(StepError::Crossing {
            count: crossing.faces.len(),
            first,
        }),
        None => Ok(accepted),
    }
}
