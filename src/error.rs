//! What can go wrong, at the three borders: meshes, scenes, steps.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use glam::DVec3;
use serde::{Deserialize, Serialize};

pub use crate::geometry::MeshError;
use crate::geometry::{BadTangle, BodyKind, ContactPoint, Mesh, Pair};

/// Why a value that came in from outside cannot be used.
///
/// # Examples
/// ```
/// use percale::{DVec3, Mesh, Surfaces};
///
/// let mesh = Mesh::new(3, vec![[0, 1, 2]])?;
/// let rest = vec![DVec3::ZERO, DVec3::X, DVec3::Z];
/// let error = Surfaces::uniform(&mesh, rest, -1e-3, 0.5).unwrap_err();
/// assert!(error.to_string().contains("is -0.001; it must be"), "{error}");
/// # Ok::<(), percale::MeshError>(())
/// ```
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ValueError {
    /// A number that means nothing where it was given.
    #[error("{what}{} is {value}; it must be {expected}", place(*at))]
    Number {
        /// What it should be.
        what: &'static str,
        /// The vertex, body or entry, from 0.
        at: Option<usize>,
        /// The number.
        value: f64,
        /// What would do.
        expected: &'static str,
    },

    /// Too many or too few of something.
    #[error("{count} values of {what} for {expected}; there must be one for each")]
    Count {
        /// What was counted.
        what: &'static str,
        /// How many there are.
        count: usize,
        /// How many there must be.
        expected: usize,
    },

    /// Things of different meshes.
    #[error("the {what} is of another mesh than the state; make both from one `Arc<Mesh>`")]
    OtherMesh {
        /// What is of another mesh.
        what: &'static str,
    },
}

fn place(at: Option<usize>) -> String {
    at.map_or(String::new(), |at| format!(" {at}"))
}

impl ValueError {
    /// Checks one number.
    pub(crate) fn check(
        what: &'static str,
        value: f64,
        expected: &'static str,
        is_usable: impl Fn(f64) -> bool,
    ) -> Result<(), Self> {
        Self::check_each(what, &[value], expected, is_usable).map_err(|error| match error {
            Self::Number {
                what,
                value,
                expected,
                ..
            } => Self::Number {
                what,
                at: None,
                value,
                expected,
            },
            error => error,
        })
    }

    /// Checks a list of numbers.
    pub(crate) fn check_each(
        what: &'static str,
        values: &[f64],
        expected: &'static str,
        is_usable: impl Fn(f64) -> bool,
    ) -> Result<(), Self> {
        match values.iter().position(|&value| !is_usable(value)) {
            Some(at) => Err(Self::Number {
                what,
                at: Some(at),
                value: values[at],
                expected,
            }),
            None => Ok(()),
        }
    }

    /// Checks that there is one for each.
    pub(crate) fn check_count(
        what: &'static str,
        count: usize,
        expected: usize,
    ) -> Result<(), Self> {
        match count == expected {
            true => Ok(()),
            false => Err(Self::Count {
                what,
                count,
                expected,
            }),
        }
    }
}

/// Why a state cannot be certified as a start.
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use percale::{Collider, DVec3, Mesh, StartError};
///
/// let mesh = Arc::new(Mesh::new(6, vec![[0, 1, 2], [3, 4, 5]])?);
/// let flat = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]];
/// let upright = [[0.2, 1.0, 0.2], [0.3, 1.0, 0.2], [0.2, -1.0, 0.2]];
/// let x = flat.iter().chain(&upright).map(|&x| x.into()).collect();
/// let refused = Collider::new(&mesh).start(x, vec![DVec3::ZERO; 6]);
/// assert!(matches!(refused, Err(StartError::Crossing { count: 1, faces: [0, 1], .. })));
/// # Ok::<(), percale::MeshError>(())
/// ```
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The positions are unusable.
    #[error(transparent)]
    Mesh(#[from] MeshError),

    /// Faces cross already.
    #[error(
        "the start is tangled: {count} crossing face pairs, first faces {} ('{}') and {} ('{}'); \
         move the objects apart or repair the mesh, `percale check` lists all pairs",
        faces[0], bodies[0], faces[1], bodies[1]
    )]
    Crossing {
        /// Crossing face pairs.
        count: usize,
        /// The first of them.
        faces: [u32; 2],
        /// The bodies they belong to.
        bodies: [String; 2],
    },

    /// A listed tangle is not what it says.
    #[error(
        "tangle {number} of the list is not one of this state: {what}; \
         a list holds for the positions that it was made for"
    )]
    Tangle {
        /// Its number in the list, from 0.
        number: usize,
        /// What is wrong with it.
        what: BadTangle,
    },

    /// Velocities and positions do not belong together.
    #[error("{velocities} velocities for {vertex_count} vertices; there must be one for each")]
    VelocityCount {
        /// How many velocities there are.
        velocities: usize,
        /// How many vertices there are.
        vertex_count: usize,
    },

    /// Something else about it is unusable.
    #[error(transparent)]
    Value(#[from] ValueError),

    /// A velocity is NaN or infinite.
    #[error("vertex {vertex} has velocity {velocity}, which is not finite")]
    Velocity {
        /// The vertex, from 0.
        vertex: usize,
        /// Its velocity.
        velocity: DVec3,
    },
}

/// A start that was refused because faces cross: what crosses, where, and the start itself, to be
/// looked at.
#[derive(Clone, Debug)]
pub struct RefusedStart {
    /// All objects; its bodies carry their names.
    pub mesh: Arc<Mesh>,
    /// Where the vertices are, in metres.
    pub positions: Vec<DVec3>,
    /// Crossing face pairs.
    pub count: usize,
    /// The first of them.
    pub first: [NamedFace; 2],
    /// Where those two cross, in metres.
    pub place: DVec3,
}

/// A face of a named object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedFace {
    /// Name in the scene.
    pub object: String,
    /// The face, from 0 within its object.
    pub face: u32,
}

impl NamedFace {
    /// The object of a face, and its number there.
    pub fn of(mesh: &Mesh, face: u32) -> Self {
        let body = &mesh.bodies()[mesh.body_of_face(face) as usize];
        Self {
            object: body.name.clone(),
            face: face - body.faces.start,
        }
    }
}

impl fmt::Display for NamedFace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "face {} of '{}'", self.face, self.object)
    }
}

impl fmt::Display for RefusedStart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            count,
            first: [a, b],
            place: DVec3 { x, y, z },
            ..
        } = self;
        write!(
            f,
            "the start is tangled: {count} crossing face pairs, first {a} and {b} (counted from 0 in each object) \
             at ({x:.4}, {y:.4}, {z:.4}) m; move the objects apart, repair the mesh (`percale untangle`), \
             or let the run untangle it (`start = \"untangle\"`)"
        )
    }
}

/// Why a step could not be taken. The state that it started from is untouched; a run stands at its last accepted interval.
///
/// # Examples
/// Two triangles whose motion is given go through each other: nobody may move them.
///
/// ```
/// use std::sync::Arc;
/// use percale::{Collider, DVec3, Mesh, Settings, StepError, Surfaces, resolve};
///
/// let mesh = Arc::new(Mesh::new(6, vec![[0, 1, 2], [3, 4, 5]])?);
/// let lower = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]];
/// let upper = [[0.2, 0.1, 0.2], [1.2, 0.1, 0.2], [0.2, 0.1, 1.2]];
/// let x0: Vec<DVec3> = lower.iter().chain(&upper).map(|&x| x.into()).collect();
/// let mut x1 = x0.clone();
/// x1[3].y = -0.1;
/// let mut collider = Collider::new(&mesh);
/// let start = collider.start(x0.clone(), vec![DVec3::ZERO; 6])?;
/// let surfaces = Surfaces::uniform(&mesh, x0, 1e-3, 0.3)?;
/// let refused = resolve(&Settings::default(), &start, x1, &[0.0; 6], &surfaces, 1.0 / 60.0, &mut collider);
/// assert!(matches!(refused, Err(StepError::Pinched(_))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StepError {
    /// Every stage has run and the motion still collides.
    #[error(
        "{count} impacts left, first between {first} (vertices {vertices:?}) of '{}' and '{}'; \
         try a smaller `time.min_interval`, or append a `hold` stage to `failsafe`",
        bodies[0], bodies[1]
    )]
    Unresolved {
        /// Impacts left.
        count: usize,
        /// The earliest of them.
        first: Pair,
        /// Its four vertices.
        vertices: [u32; 4],
        /// The bodies of its two features.
        bodies: [String; 2],
    },

    /// Scripted vertices leave no room: no response can help.
    #[error("{0}")]
    Pinched(Box<Pinch>),

    /// The end state crosses itself although no impact was found on the way: a bug, caught by the
    /// static test.
    #[error(
        "{count} crossing face pairs after a motion without impacts, first faces {} and {}; please report this scene",
        first[0], first[1]
    )]
    Crossing {
        /// Crossing face pairs.
        count: usize,
        /// The first of them.
        first: [u32; 2],
    },

    /// Something crosses that belongs to no listed tangle.
    #[error(
        "{count} crossing face pairs belong to no listed path, first faces {} ('{}') and {} ('{}'); \
         try a smaller `time.min_interval`",
        first[0], bodies[0], first[1], bodies[1]
    )]
    NewPath {
        /// Crossing face pairs that belong to none.
        count: usize,
        /// The first of them.
        first: [u32; 2],
        /// All of them, ascending.
        pairs: Vec<[u32; 2]>,
        /// The bodies they belong to.
        bodies: [String; 2],
    },

    /// The integrator produced a position that is not a number or out of range.
    #[error(
        "a candidate position is unusable: {0}; the usual cause is a material too stiff for the time step"
    )]
    BadCandidate(#[from] MeshError),

    /// A value that the step was given is unusable.
    #[error(transparent)]
    BadValue(#[from] ValueError),
}

/// Scripted objects that leave no room for cloth, with the proof.
///
/// The sum of the gaps of these contacts, each times its multiplier, is not positive where the
/// scripted vertices end, wherever the cloth goes within `reach`: not all of the gaps can be.
/// Contacts are linearised where the last trial motion met them. Where no contact has a free
/// vertex, the two features are scripted themselves and the continuous test has found that they
/// meet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pinch {
    /// Frame that could not be reached, from 1.
    pub frame: u64,
    /// End of the interval that could not be taken, in seconds.
    pub time: f64,
    /// What pinches, by name.
    pub objects: Vec<Scripted>,
    /// Names of the cloths that are pinched; none where scripted features meet one another.
    pub cloths: Vec<String>,
    /// What is missing for the objects to touch the cloth without crossing it, in metres; at
    /// least 0. A lower bound.
    pub overlap: f64,
    /// How far the cloth may go along each axis within the interval, in metres, for this to be so:
    /// the length of an edge. None where nothing can go anywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reach: Option<f64>,
    /// The contacts, with their multipliers.
    pub contacts: Vec<PinchContact>,
}

/// An object, or part of one, whose motion is given.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Scripted {
    /// Name in the scene.
    pub name: String,
    /// Whether it is the pinned part of a cloth.
    pub pinned: bool,
}

/// A contact of a [`Pinch`]; weights and normal as in [`crate::geometry::Impact`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PinchContact {
    /// Its four vertices.
    pub vertices: [u32; 4],
    /// Their signed weights.
    pub weights: [f64; 4],
    /// From the second feature to the first.
    pub normal: [f64; 3],
    /// Share in the sum; positive.
    pub multiplier: f64,
}

/// What pushes less than this share of the strongest takes part in the proof, but is not named:
/// nobody would move it.
const WEAK: f64 = 1.0e-3;

impl Pinch {
    /// Names the objects and cloths of contact points; `inverse_mass` says what is scripted.
    pub(crate) fn new(
        mesh: &Mesh,
        inverse_mass: &[f64],
        points: &[(ContactPoint, f64)],
        room: f64,
        reach: f64,
    ) -> Self {
        let (mut pushes, mut cloths) = (BTreeMap::new(), Vec::new());
        for (point, multiplier) in points {
            let taking_part = point.vertices.iter().zip(point.weights);
            for (&v, w) in taking_part.filter(|(_, w)| *w != 0.0) {
                let body = &mesh.bodies()[mesh.body_of_vertex(v) as usize];
                if inverse_mass[v as usize] > 0.0 {
                    cloths.push(body.name.clone());
                } else {
                    let object = Scripted {
                        name: body.name.clone(),
                        pinned: body.kind == BodyKind::Cloth,
                    };
                    *pushes.entry(object).or_insert(0.0) += multiplier * w.abs();
                }
            }
        }
        let most = pushes.values().copied().fold(0.0, f64::max);
        let pushing = pushes.into_iter().filter(|(_, push)| *push >= WEAK * most);
        let objects = pushing.map(|(object, _)| object).collect();
        cloths.sort_unstable();
        cloths.dedup();
        let contact = |(point, multiplier): &(ContactPoint, f64)| PinchContact {
            vertices: point.vertices,
            weights: point.weights,
            normal: point.normal.to_array(),
            multiplier: *multiplier,
        };
        Self {
            frame: 0,
            time: 0.0,
            objects,
            cloths,
            overlap: 0.0 - room, // no negative zero
            reach: reach.is_finite().then_some(reach),
            contacts: points.iter().map(contact).collect(),
        }
    }
}

impl fmt::Display for Scripted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pinned {
            true => write!(f, "the pinned part of '{}'", self.name),
            false => write!(f, "'{}'", self.name),
        }
    }
}

impl fmt::Display for Pinch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}, or let one of them give way (`soft`), or let go of pins earlier (`until`)",
            self.describe()
        )
    }
}

impl Pinch {
    /// What pinches what, when and by how much, and what to do about the objects; what else a scene
    /// could change is not said.
    pub fn describe(&self) -> String {
        let objects: Vec<String> = self.objects.iter().map(Scripted::to_string).collect();
        let objects = listed(&objects);
        let cloths: Vec<String> = self.cloths.iter().map(|name| format!("'{name}'")).collect();
        let Self { time, overlap, .. } = self;
        let by = format!("by {overlap:.3e} m");
        match (&cloths[..], self.objects.len()) {
            ([], 1) => format!(
                "{objects} is driven through itself at {time:.4} s, {by}: both places are scripted; change its motion"
            ),
            ([], _) => format!(
                "{objects} are driven into each other at {time:.4} s, {by}: both are scripted; keep them apart"
            ),
            (_, count) => format!(
                "{} is pinched {} {objects} at {time:.4} s: they overlap {by} there, wherever the cloth goes within \
                 {:.2e} m (proved by {} contacts); keep them further apart",
                listed(&cloths),
                if count > 1 { "between" } else { "by" },
                self.reach.unwrap_or_default(),
                self.contacts.len(),
            ),
        }
    }
}

/// `a`, `a and b`, `a, b and c`.
fn listed(names: &[String]) -> String {
    match names {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => names.concat(),
    }
}
