//! The calls of the bindings, on plain arrays: vertices, triangles and numbers in, arrays out.
//!
//! Python and C pass on what they are given; everything that is decided is decided here, so that both say the same, to the bit and
//! to the word. A call is a function of its arguments: what a [`Stepper`] keeps between calls saves time and changes no result.

mod cure;

use std::sync::Arc;

use glam::{DVec2, DVec3};

use crate::error::{MeshError, StartError, StepError, ValueError};
use crate::geometry::mesh::check_positions;
use crate::geometry::{
    Asked, Body, BodyKind, Collider, Crossings, Impact, Mesh, Mode, Motion, Scope,
};
use crate::resolve::{Resolution, lumped_mass, resolve};
use crate::response::Stage;
use crate::state::Surfaces;
use crate::step::Settings;
use crate::untangle::{self, Analysis, Rest};
use crate::verify::Verified;

pub use cure::{Evidence, Untangled, untangled};

/// Why a call is refused, with the argument that is to blame.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// A mesh or positions.
    #[error("{argument}: {source}")]
    Mesh {
        /// Name of the argument.
        argument: &'static str,
        /// What is wrong with it.
        source: MeshError,
    },
    /// A start that cannot be certified.
    #[error("{argument}: {source}")]
    Start {
        /// Name of the argument.
        argument: &'static str,
        /// What is wrong with it.
        source: StartError,
    },
    /// Any other argument.
    #[error("{argument}: {message}")]
    Argument {
        /// Name of the argument.
        argument: &'static str,
        /// What is wrong with it, and what would do.
        message: String,
    },
    /// The collision step found no way.
    #[error(transparent)]
    Step(#[from] StepError),
}

impl CallError {
    /// An argument that is unusable.
    pub fn argument(argument: &'static str, message: impl Into<String>) -> Self {
        Self::Argument {
            argument,
            message: message.into(),
        }
    }
}

fn in_mesh(argument: &'static str) -> impl Fn(MeshError) -> CallError {
    move |source| CallError::Mesh { argument, source }
}

fn in_value(argument: &'static str) -> impl Fn(ValueError) -> CallError {
    move |error| CallError::argument(argument, error.to_string())
}

/// A mesh whose faces come as an argument.
///
/// # Errors
/// Faces that are unusable.
pub fn mesh(vertex_count: usize, faces: Vec<[u32; 3]>) -> Result<Arc<Mesh>, CallError> {
    let mesh = Mesh::new(vertex_count, faces).map_err(in_mesh("F"))?;
    Ok(Arc::new(mesh))
}

/// All crossings at `x`, those of the whole mesh.
///
/// # Errors
/// Positions that are missing, not finite or out of range.
pub fn crossings(mesh: &Arc<Mesh>, x: &[DVec3]) -> Result<Crossings, CallError> {
    check_positions(mesh, x).map_err(in_mesh("V"))?;
    Ok(crate::geometry::crossings(mesh, x, Scope::Everything))
}

/// Whether there are any.
///
/// # Errors
/// As [`crossings`].
pub fn has_crossings(mesh: &Arc<Mesh>, x: &[DVec3]) -> Result<bool, CallError> {
    check_positions(mesh, x).map_err(in_mesh("V"))?;
    Ok(crate::geometry::has_crossings(mesh, x, Scope::Everything))
}

/// Impacts of the straight motion from `x0` to `x1`, by time, then pair.
///
/// # Errors
/// Positions that are missing, not finite or out of range.
pub fn impacts(
    collider: &mut Collider,
    x0: &[DVec3],
    x1: &[DVec3],
    mode: Mode,
) -> Result<Vec<Impact>, CallError> {
    let motion = motion(collider, x0, x1)?;
    Ok(collider.impacts(motion, &Asked { mode, margin: None }))
}

/// The earliest of them: how far everything may go.
///
/// # Errors
/// As [`impacts`].
pub fn first_impact(
    collider: &mut Collider,
    x0: &[DVec3],
    x1: &[DVec3],
    mode: Mode,
) -> Result<Option<Impact>, CallError> {
    let motion = motion(collider, x0, x1)?;
    Ok(collider.first_impact(motion, &Asked { mode, margin: None }))
}

fn motion<'a>(
    collider: &Collider,
    x0: &'a [DVec3],
    x1: &'a [DVec3],
) -> Result<Motion<'a>, CallError> {
    check_positions(collider.mesh(), x0).map_err(in_mesh("V0"))?;
    check_positions(collider.mesh(), x1).map_err(in_mesh("V1"))?;
    collider.motion(x0, x1).map_err(in_mesh("V1"))
}

/// Intersection paths of a mesh; `uv` are parameters of each corner of each face, in metres, if known.
///
/// # Errors
/// Positions that are missing, not finite or out of range; not one entry of `uv` per face.
pub fn paths(mesh: &Mesh, x: &[DVec3], uv: Option<&[[DVec2; 3]]>) -> Result<Analysis, CallError> {
    check_uv(mesh.faces().len(), uv)?;
    let rest = uv.map_or(Rest::Unknown, Rest::Parameters);
    untangle::analyse(mesh, x, rest).map_err(in_mesh("V"))
}

fn check_uv(faces: usize, uv: Option<&[[DVec2; 3]]>) -> Result<(), CallError> {
    let Some(uv) = uv else { return Ok(()) };
    if uv.len() != faces {
        let message = format!(
            "coordinates of {} faces for {faces}; give one for each",
            uv.len()
        );
        return Err(CallError::argument("uv", message));
    }
    match uv.iter().position(|uv| !uv.iter().all(|uv| uv.is_finite())) {
        Some(face) => {
            let message = format!("those of face {face} are not finite");
            Err(CallError::argument("uv", message))
        }
        None => Ok(()),
    }
}

/// Further triangles beside a cloth; nothing moves them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Beside {
    /// How many vertices they have.
    pub vertex_count: usize,
    /// Corners, numbered from 0 among themselves.
    pub faces: Vec<[u32; 3]>,
}

/// One mesh of a cloth and what is beside it.
fn together(
    vertex_count: usize,
    mut faces: Vec<[u32; 3]>,
    beside: Option<Beside>,
    argument: &'static str,
) -> Result<Arc<Mesh>, CallError> {
    // each apart first, for errors in terms of its own numbers
    let cloth = Mesh::new(vertex_count, faces.clone()).map_err(in_mesh("F"))?;
    let Some(beside) = beside else {
        return Ok(Arc::new(cloth));
    };
    Mesh::new(beside.vertex_count, beside.faces.clone()).map_err(in_mesh(argument))?;
    let all = vertex_count + beside.vertex_count;
    if u32::try_from(all).is_err() {
        let message = format!("{all} vertices are more than indices of 32 bits can name");
        return Err(CallError::argument(argument, message));
    }
    let (n, m) = (vertex_count as u32, faces.len() as u32);
    faces.extend(beside.faces.iter().map(|face| face.map(|v| v + n)));
    let bodies = vec![
        Body {
            name: "cloth".into(),
            kind: BodyKind::Cloth,
            vertices: 0..n,
            faces: 0..m,
        },
        Body {
            name: argument.into(),
            kind: BodyKind::Obstacle,
            vertices: n..all as u32,
            faces: m..faces.len() as u32,
        },
    ];
    let mesh = Mesh::with_bodies(all, faces, bodies).map_err(in_mesh("F"))?;
    Ok(Arc::new(mesh))
}

/// What a [`Stepper`] is made of, beside its faces.
#[derive(Clone, Debug)]
pub struct Terms {
    /// Masses of the cloth's vertices, in kg, 0 for those that end where they are told; none: by area, of V0.
    pub mass: Option<Vec<f64>>,
    /// Vertices that end where they are told.
    pub fixed: Vec<u32>,
    /// Where the vertices are at rest, in metres; none: as at V0.
    pub rest: Option<Vec<DVec3>>,
    /// Distance that features keep, in metres; none: 1 % of the mean edge of V0.
    pub thickness: Option<f64>,
    /// Coulomb coefficient.
    pub friction: f64,
    /// Stages; none: the default.
    pub response: Option<Vec<Stage>>,
}

impl Default for Terms {
    fn default() -> Self {
        Self {
            mass: None,
            fixed: Vec::new(),
            rest: None,
            thickness: None,
            friction: 0.3,
            response: None,
        }
    }
}

/// The collision step alone, with what need not be made anew for every step: topology, tree, and the certificate of the last end.
///
/// # Examples
/// A corner of the upper triangle is sent through the lower one:
///
/// ```
/// use percale::DVec3;
/// use percale::plain::{Stepper, Terms};
///
/// let x0 = [[0., 0., 0.], [1., 0., 0.], [0., 0., 1.], [0.2, 0.1, 0.2], [1.2, 0.1, 0.2], [0.2, 0.1, 1.2]];
/// let x0: Vec<DVec3> = x0.map(DVec3::from).to_vec();
/// let mut x1 = x0.clone();
/// x1[3].y = -0.1;
/// let mut stepper = Stepper::new(6, vec![[0, 1, 2], [3, 4, 5]], None, Terms::default())?;
/// let end = stepper.resolve(x0, x1, None, 1.0 / 60.0)?;
/// assert!(end.report.impacts_before > 0 && end.positions[3].y > end.positions[0].y);
/// # Ok::<(), percale::plain::CallError>(())
/// ```
#[derive(Debug)]
pub struct Stepper {
    collider: Collider,
    /// Vertices of the cloth.
    count: usize,
    terms: Terms,
    settings: Settings,
    /// Certified at the end of the last call.
    last: Option<Verified>,
}

/// Where a collision step ends.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// Of the cloth's vertices, in metres.
    pub positions: Vec<DVec3>,
    /// In m/s: those of the candidate motion and what the response changed.
    pub velocities: Vec<DVec3>,
    /// What happened.
    pub report: Resolution,
}

impl Stepper {
    /// For a cloth and perhaps an obstacle.
    ///
    /// # Errors
    /// Faces, masses or numbers that are unusable, by the names of the arguments.
    pub fn new(
        vertex_count: usize,
        faces: Vec<[u32; 3]>,
        obstacle: Option<Beside>,
        terms: Terms,
    ) -> Result<Self, CallError> {
        let mesh = together(vertex_count, faces, obstacle, "obstacle")?;
        let usable = |value: f64| value.is_finite() && value >= 0.0;
        if let Some(mass) = &terms.mass {
            ValueError::check_count("mass", mass.len(), vertex_count).map_err(in_value("mass"))?;
            ValueError::check_each("the mass of vertex", mass, "finite and at least 0", usable)
                .map_err(in_value("mass"))?;
            // its inverse must be a number
            let light = |m: f64| m == 0.0 || m >= f64::MIN_POSITIVE;
            ValueError::check_each("the mass of vertex", mass, "0 or a normal number", light)
                .map_err(in_value("mass"))?;
        }
        check_vertices("fixed", &terms.fixed, vertex_count)?;
        if let Some(rest) = &terms.rest {
            let count = rest.len();
            ValueError::check_count("rest positions", count, vertex_count)
                .map_err(in_value("rest"))?;
            if let Some(v) = rest.iter().position(|x| !x.is_finite()) {
                let message = format!("vertex {v} is at {}, which is not finite", rest[v]);
                return Err(CallError::argument("rest", message));
            }
        }
        if let Some(h) = terms.thickness.filter(|&h| !(usable(h) && h > 0.0)) {
            let message = format!("{h} is no distance; write one above 0, in metres");
            return Err(CallError::argument("thickness", message));
        }
        if !usable(terms.friction) {
            let message = format!("{} must be finite and at least 0", terms.friction);
            return Err(CallError::argument("friction", message));
        }
        let mut settings = Settings::default();
        if let Some(response) = &terms.response {
            settings.response.clone_from(response);
            settings.failsafe.clear();
            settings.check().map_err(in_value("response"))?;
        }
        Ok(Self {
            collider: Collider::new(&mesh),
            count: vertex_count,
            terms,
            settings,
            last: None,
        })
    }

    /// All vertices and faces, those of the obstacle after the cloth's.
    pub fn mesh(&self) -> &Arc<Mesh> {
        self.collider.mesh()
    }

    /// Vertices of the cloth.
    pub fn vertex_count(&self) -> usize {
        self.count
    }

    /// All crossings of the cloth at `x`, and with the obstacle at `obstacle`.
    ///
    /// # Errors
    /// Positions that are missing, not finite or out of range.
    pub fn crossings(
        &mut self,
        x: Vec<DVec3>,
        obstacle: Option<Vec<DVec3>>,
    ) -> Result<Crossings, CallError> {
        let x = self.all(x, obstacle, "V", "obstacle")?;
        Ok(self.collider.crossings(&x, Scope::Certified))
    }

    /// Whether there are any.
    ///
    /// # Errors
    /// As [`Self::crossings`].
    pub fn has_crossings(
        &mut self,
        x: Vec<DVec3>,
        obstacle: Option<Vec<DVec3>>,
    ) -> Result<bool, CallError> {
        let x = self.all(x, obstacle, "V", "obstacle")?;
        Ok(self.collider.has_crossings(&x, Scope::Certified))
    }

    /// Impacts of the straight motion from `x0` to `x1`; the obstacle goes from the first to the second of its positions.
    ///
    /// # Errors
    /// Positions that are missing, not finite or out of range.
    pub fn impacts(
        &mut self,
        x0: Vec<DVec3>,
        x1: Vec<DVec3>,
        obstacle: Option<[Vec<DVec3>; 2]>,
        mode: Mode,
    ) -> Result<Vec<Impact>, CallError> {
        let (x0, x1) = self.ends(x0, x1, obstacle)?;
        impacts(&mut self.collider, &x0, &x1, mode)
    }

    /// The earliest of them.
    ///
    /// # Errors
    /// As [`Self::impacts`].
    pub fn first_impact(
        &mut self,
        x0: Vec<DVec3>,
        x1: Vec<DVec3>,
        obstacle: Option<[Vec<DVec3>; 2]>,
        mode: Mode,
    ) -> Result<Option<Impact>, CallError> {
        let (x0, x1) = self.ends(x0, x1, obstacle)?;
        first_impact(&mut self.collider, &x0, &x1, mode)
    }

    /// Changes `x1` until the straight motion from `x0` to it, in `dt` seconds, meets nothing, and certifies the result.
    ///
    /// # Errors
    /// Values that are unusable, a start that crosses itself, or impacts that no stage could resolve.
    pub fn resolve(
        &mut self,
        x0: Vec<DVec3>,
        x1: Vec<DVec3>,
        obstacle: Option<[Vec<DVec3>; 2]>,
        dt: f64,
    ) -> Result<Resolved, CallError> {
        if !(1e-12..=1e12).contains(&dt) {
            let message = format!("{dt} is no duration; write seconds, from 1e-12 to 1e12");
            return Err(CallError::argument("dt", message));
        }
        let (x0, x1) = self.ends(x0, x1, obstacle)?;
        let mesh = Arc::clone(self.collider.mesh());
        let inverse_mass = self.inverse_mass(&mesh, &x0);
        let thickness = match self.terms.thickness {
            Some(thickness) => thickness,
            None => Surfaces::default_thickness(&mesh, &x0),
        };
        let mut rest = x0.clone();
        if let Some(own) = &self.terms.rest {
            rest[..self.count].copy_from_slice(own);
        }
        let surfaces = Surfaces::uniform(&mesh, rest, thickness, self.terms.friction)
            .map_err(in_value("thickness"))?;
        // only positions count as the start; its velocities are nobody's
        let start = match self.last.take().filter(|last| last.positions() == x0) {
            Some(mut last) => {
                last.velocities_mut().fill(DVec3::ZERO);
                last
            }
            None => {
                let v = vec![DVec3::ZERO; x0.len()];
                let start = self.collider.start(x0, v);
                start.map_err(|source| CallError::Start {
                    argument: "V0",
                    source,
                })?
            }
        };
        let resolved = resolve(
            &self.settings,
            &start,
            x1,
            &inverse_mass,
            &surfaces,
            dt,
            &mut self.collider,
        );
        let (end, report) = match resolved {
            Ok(done) => done,
            Err(error) => {
                self.last = Some(start); // it may be tried again with another end
                return Err(error.into());
            }
        };
        let resolved = Resolved {
            positions: end.positions()[..self.count].to_vec(),
            velocities: end.velocities()[..self.count].to_vec(),
            report,
        };
        self.last = Some(end);
        Ok(resolved)
    }

    /// 1/kg of every vertex, 0 for those that end where they are told.
    fn inverse_mass(&self, mesh: &Mesh, x0: &[DVec3]) -> Vec<f64> {
        let mass = match &self.terms.mass {
            Some(mass) => mass.clone(),
            None => lumped_mass(mesh, x0)[..self.count].to_vec(),
        };
        let inverse = mass.iter().map(|&m| if m > 0.0 { 1.0 / m } else { 0.0 });
        let mut inverse_mass: Vec<f64> = inverse.collect();
        inverse_mass.resize(x0.len(), 0.0);
        for &v in &self.terms.fixed {
            inverse_mass[v as usize] = 0.0;
        }
        inverse_mass
    }

    fn ends(
        &self,
        x0: Vec<DVec3>,
        x1: Vec<DVec3>,
        obstacle: Option<[Vec<DVec3>; 2]>,
    ) -> Result<(Vec<DVec3>, Vec<DVec3>), CallError> {
        let [o0, o1] = match obstacle {
            Some([o0, o1]) => [Some(o0), Some(o1)],
            None => [None, None],
        };
        let x0 = self.all(x0, o0, "V0", "obstacle")?;
        Ok((x0, self.all(x1, o1, "V1", "obstacle")?))
    }

    /// Positions of all vertices, in the range of the guarantee.
    fn all(
        &self,
        mut x: Vec<DVec3>,
        obstacle: Option<Vec<DVec3>>,
        argument: &'static str,
        beside: &'static str,
    ) -> Result<Vec<DVec3>, CallError> {
        let counts = |argument, found: usize, expected: usize| match found == expected {
            true => Ok(()),
            false => Err(CallError::Mesh {
                argument,
                source: MeshError::PositionCount {
                    positions: found,
                    vertex_count: expected,
                },
            }),
        };
        counts(argument, x.len(), self.count)?;
        let missing = self.mesh().vertex_count() - self.count;
        match obstacle {
            Some(obstacle) => {
                counts(beside, obstacle.len(), missing)?;
                x.extend(obstacle);
            }
            None if missing > 0 => {
                let message = "its positions at both ends of the motion are missing";
                return Err(CallError::argument(beside, message));
            }
            None => {}
        }
        check_positions(self.mesh(), &x).map_err(|source| match source {
            MeshError::NotFinite { vertex, position } if vertex >= self.count => CallError::Mesh {
                argument: beside,
                source: MeshError::NotFinite {
                    vertex: vertex - self.count,
                    position,
                },
            },
            MeshError::OutOfRange { vertex, position } if vertex >= self.count => CallError::Mesh {
                argument: beside,
                source: MeshError::OutOfRange {
                    vertex: vertex - self.count,
                    position,
                },
            },
            source => CallError::Mesh { argument, source },
        })?;
        Ok(x)
    }
}

fn check_vertices(argument: &'static str, vertices: &[u32], count: usize) -> Result<(), CallError> {
    match vertices.iter().find(|&&v| v as usize >= count) {
        Some(v) => {
            let message = format!("vertex {v}, but there are {count}, numbered from 0");
            Err(CallError::argument(argument, message))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_triangles() -> (Vec<DVec3>, Vec<[u32; 3]>) {
        let lower = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]];
        let upper = [[0.2, 0.1, 0.2], [1.2, 0.1, 0.2], [0.2, 0.1, 1.2]];
        let x = lower.iter().chain(&upper).map(|&x| x.into()).collect();
        (x, vec![[0, 1, 2], [3, 4, 5]])
    }

    #[test]
    fn what_is_kept_between_calls_changes_no_result() {
        let (x0, faces) = two_triangles();
        let down = |x: &[DVec3]| -> Vec<DVec3> {
            let mut x = x.to_vec();
            x[3].y -= 0.08;
            x
        };
        let mut kept = Stepper::new(6, faces.clone(), None, Terms::default()).unwrap();
        let mut x = x0;
        for _ in 0..3 {
            let mut anew = Stepper::new(6, faces.clone(), None, Terms::default()).unwrap();
            let a = kept.resolve(x.clone(), down(&x), None, 0.01).unwrap();
            let b = anew.resolve(x.clone(), down(&x), None, 0.01).unwrap();
            assert_eq!((&a.positions, &a.velocities), (&b.positions, &b.velocities));
            x = a.positions;
        }
    }

    #[test]
    fn the_argument_that_is_to_blame_is_named() {
        let (x, faces) = two_triangles();
        let named = |error: CallError| error.to_string();
        let terms = |terms: Terms| Stepper::new(6, faces.clone(), None, terms).map(drop);
        let bad = Terms {
            friction: f64::NAN,
            ..Terms::default()
        };
        assert!(named(terms(bad).unwrap_err()).starts_with("friction: "));
        let bad = Terms {
            fixed: vec![6],
            ..Terms::default()
        };
        assert!(named(terms(bad).unwrap_err()).starts_with("fixed: vertex 6"));
        let mut stepper = Stepper::new(6, faces.clone(), None, Terms::default()).unwrap();
        let mut end = x.clone();
        end[4].x = f64::NAN;
        let error = stepper.resolve(x.clone(), end, None, 0.01).unwrap_err();
        assert!(named(error).starts_with("V1: vertex 4 "));
        let error = stepper
            .resolve(x.clone(), x.clone(), None, 0.0)
            .unwrap_err();
        assert!(named(error).starts_with("dt: 0 "));
        let keep = Evidence {
            keep: vec![9],
            ..Evidence::default()
        };
        let error = untangled(x, faces, keep).unwrap_err();
        assert!(named(error).starts_with("keep: vertex 9"));
    }

    #[test]
    fn vertices_of_an_obstacle_are_numbered_apart() {
        let (x, _) = two_triangles();
        let beside = Beside {
            vertex_count: 3,
            faces: vec![[0, 1, 2]],
        };
        let (lower, upper) = (x[..3].to_vec(), x[3..].to_vec());
        let mut down = upper.clone();
        down[0].y = -0.1;
        let terms = Terms::default();
        let mut stepper = Stepper::new(3, vec![[0, 1, 2]], Some(beside), terms).unwrap();
        let still = [lower.clone(), lower.clone()];
        let end = stepper
            .resolve(upper.clone(), down.clone(), Some(still), 0.01)
            .unwrap();
        assert_eq!(end.positions.len(), 3);
        assert!(end.positions[0].y > 0.0);
        let error = stepper.resolve(upper, down, None, 0.01).unwrap_err();
        assert!(error.to_string().starts_with("obstacle: its positions"));
    }
}
