//! The station between start and end: a candidate that stages may still change.

use glam::DVec3;

use crate::error::{StepError, ValueError};
use crate::geometry::mesh::{check_positions, flush_tiny};
use crate::geometry::{ContactPoint, Mesh, Motion};
use crate::verify::Verified;

/// Thickness as a share of the mean edge, where none is given.
const DEFAULT_SHARE: f64 = 0.01;

/// What contact needs to know beyond positions and masses.
///
/// # Examples
/// ```
/// use percale::{DVec3, Mesh, Surfaces};
///
/// let mesh = Mesh::new(3, vec![[0, 1, 2]])?;
/// let rest = vec![DVec3::ZERO, DVec3::X, DVec3::Y];
/// let mut surfaces = Surfaces::uniform(&mesh, rest.clone(), 1e-3, 0.3)?;
/// surfaces.set_friction(0, 0, 0.5)?; // of the one body with itself
/// assert_eq!(surfaces.friction(0, 0), 0.5);
/// assert!(Surfaces::uniform(&mesh, rest, -1e-3, 0.3).is_err(), "refused by name");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Surfaces {
    thickness: Vec<f64>,
    rest: Vec<DVec3>,
    layer: Vec<i32>,
    /// By pair of bodies, row by row; symmetric.
    friction: Vec<f64>,
    body_count: usize,
}

impl Surfaces {
    /// The same thickness, in metres, and Coulomb coefficient everywhere.
    ///
    /// `rest` are rest positions, in metres: neighbours whose rest distance is below the thickness
    /// keep to that instead.
    ///
    /// # Errors
    /// Numbers that are not finite or below 0, or not one rest position per vertex.
    pub fn uniform(
        mesh: &Mesh,
        rest: Vec<DVec3>,
        thickness: f64,
        friction: f64,
    ) -> Result<Self, ValueError> {
        let (count, body_count) = (mesh.vertex_count(), mesh.bodies().len());
        let surfaces = Self {
            thickness: Vec::new(),
            rest: Vec::new(),
            layer: vec![0; body_count],
            friction: vec![friction; body_count * body_count],
            body_count,
        };
        check_friction(friction)?;
        surfaces
            .with_rest(mesh, rest)?
            .with_thickness(vec![thickness; count])
    }

    /// With other rest positions.
    ///
    /// # Errors
    /// Not one per vertex, or coordinates that are not finite.
    pub fn with_rest(mut self, mesh: &Mesh, rest: Vec<DVec3>) -> Result<Self, ValueError> {
        ValueError::check_count("rest positions", rest.len(), mesh.vertex_count())?;
        if let Some(at) = rest.iter().position(|x| !x.is_finite()) {
            return Err(ValueError::Number {
                what: "a coordinate of rest position",
                at: Some(at),
                value: rest[at]
                    .to_array()
                    .into_iter()
                    .find(|c| !c.is_finite())
                    .unwrap_or(f64::NAN),
                expected: "finite",
            });
        }
        self.rest = rest;
        Ok(self)
    }

    /// With a thickness of its own for each vertex, in metres.
    ///
    /// # Errors
    /// Not one per vertex, or one that is not finite or below 0.
    pub fn with_thickness(mut self, thickness: Vec<f64>) -> Result<Self, ValueError> {
        ValueError::check_count("thickness", thickness.len(), self.rest.len())?;
        let is_usable = |h: f64| h.is_finite() && h >= 0.0;
        ValueError::check_each(
            "the thickness of vertex",
            &thickness,
            "finite and at least 0",
            is_usable,
        )?;
        self.thickness = thickness;
        Ok(self)
    }

    /// With a layer for each body.
    ///
    /// # Errors
    /// Not one per body.
    pub fn with_layers(mut self, layer: Vec<i32>) -> Result<Self, ValueError> {
        ValueError::check_count("layer", layer.len(), self.body_count)?;
        self.layer = layer;
        Ok(self)
    }

    /// Sets the Coulomb coefficient of a pair of bodies (or of a body with itself).
    ///
    /// # Errors
    /// One that is not finite or below 0.
    ///
    /// # Panics
    /// If there is no such body.
    pub fn set_friction(&mut self, a: u32, b: u32, coefficient: f64) -> Result<(), ValueError> {
        check_friction(coefficient)?;
        assert!((a.max(b) as usize) < self.body_count, "bodies {a} and {b}");
        let (a, b) = (a as usize, b as usize);
        self.friction[a * self.body_count + b] = coefficient;
        self.friction[b * self.body_count + a] = coefficient;
        Ok(())
    }

    /// The thickness where none is given, in metres: a hundredth of the mean edge of the cloths at rest; not a number without
    /// cloth.
    pub fn default_thickness(mesh: &Mesh, rest: &[DVec3]) -> f64 {
        let cloth = mesh.edges().iter().filter(|[a, _]| !mesh.is_obstacle(*a));
        let lengths = cloth.map(|&[a, b]| (rest[a as usize] - rest[b as usize]).length());
        let (count, sum) = lengths.fold((0u32, 0.0), |(n, sum), length| (n + 1, sum + length));
        DEFAULT_SHARE * (sum / f64::from(count))
    }

    /// Thickness at each vertex, in metres: features of two vertices keep the mean of both apart.
    pub fn thickness(&self) -> &[f64] {
        &self.thickness
    }

    /// Rest positions, in metres.
    pub fn rest(&self) -> &[DVec3] {
        &self.rest
    }

    /// Layer of each body: of two cloths in contact the one of the higher layer lies outside;
    /// checked by [`crate::Simulation::out_of_order`].
    pub fn layers(&self) -> &[i32] {
        &self.layer
    }

    /// Coulomb coefficient of a contact point.
    pub fn friction_of(&self, mesh: &Mesh, point: &ContactPoint) -> f64 {
        // the first vertex is always of the first feature, the last of the second
        let body = |k: usize| mesh.body_of_vertex(point.vertices[k]);
        self.friction(body(0), body(3))
    }

    /// Coulomb coefficient of a pair of bodies.
    ///
    /// # Panics
    /// If there is no such body.
    pub fn friction(&self, a: u32, b: u32) -> f64 {
        assert!((a.max(b) as usize) < self.body_count, "bodies {a} and {b}");
        self.friction[a as usize * self.body_count + b as usize]
    }
}

fn check_friction(coefficient: f64) -> Result<(), ValueError> {
    let is_usable = |mu: f64| mu.is_finite() && mu >= 0.0;
    ValueError::check(
        "the friction",
        coefficient,
        "finite and at least 0",
        is_usable,
    )
}

/// End positions that nobody has judged yet, and what they came from.
///
/// A stage changes end positions and nothing else; velocities are derived, so they cannot disagree.
///
/// # Examples
/// A motion that goes through something is refused; changed by somebody, it is certified:
///
/// ```
/// use std::sync::Arc;
/// use percale::{Candidate, Collider, DVec3, Mesh, Surfaces, verify};
///
/// let mesh = Arc::new(Mesh::new(6, vec![[0, 1, 2], [3, 4, 5]])?);
/// let lower = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]];
/// let upper = [[0.2, 0.1, 0.2], [1.2, 0.1, 0.2], [0.2, 0.1, 1.2]];
/// let x0: Vec<DVec3> = lower.iter().chain(&upper).map(|&x| x.into()).collect();
/// let mut collider = Collider::new(&mesh);
/// let start = collider.start(x0.clone(), vec![DVec3::ZERO; 6])?;
/// let surfaces = Surfaces::uniform(&mesh, x0.clone(), 1e-3, 0.3)?;
///
/// let mut x1 = x0.clone();
/// x1[3].y = -0.1;
/// let mut candidate = Candidate::new(&start, &[1.0; 6], &surfaces, 1.0 / 60.0, x1)?;
/// assert!(verify::accept(candidate.clone(), &mut collider, None).is_err());
///
/// candidate.positions_mut()[3].y = 0.01;
/// assert!(verify::accept(candidate, &mut collider, None).is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Candidate<'a> {
    /// Where the motion starts.
    pub(crate) start: &'a Verified,
    /// 1/kg for each vertex; 0 for scripted and pinned ones, which no stage may move.
    pub(crate) inverse_mass: &'a [f64],
    /// Thickness and friction.
    pub(crate) surfaces: &'a Surfaces,
    /// Length of the interval, in seconds.
    pub(crate) dt: f64,
    /// End positions, in metres.
    pub(crate) x: Vec<DVec3>,
}

impl<'a> Candidate<'a> {
    /// A motion from a certified start to `x`, in metres, within `dt` seconds.
    ///
    /// `inverse_mass` is in 1/kg, 0 for vertices whose end positions are given: no stage moves
    /// them. Coordinates below 1e-70 m become 0.
    ///
    /// # Errors
    /// Values that are not numbers, out of range, or not one for each vertex.
    pub fn new(
        start: &'a Verified,
        inverse_mass: &'a [f64],
        surfaces: &'a Surfaces,
        dt: f64,
        mut x: Vec<DVec3>,
    ) -> Result<Self, StepError> {
        let (mesh, count) = (start.mesh(), start.mesh().vertex_count());
        let is_usable = |dt: f64| (1e-12..=1e12).contains(&dt);
        // so that no velocity leaves the range of a float
        ValueError::check(
            "the interval in seconds",
            dt,
            "between 1e-12 and 1e12",
            is_usable,
        )?;
        ValueError::check_count("inverse mass", inverse_mass.len(), count)?;
        let is_usable = |w: f64| w.is_finite() && w >= 0.0;
        ValueError::check_each(
            "the inverse mass of vertex",
            inverse_mass,
            "finite and at least 0",
            is_usable,
        )?;
        ValueError::check_count("thickness", surfaces.thickness.len(), count)?;
        ValueError::check_count("rest positions", surfaces.rest.len(), count)?;
        ValueError::check_count("layer", surfaces.body_count, mesh.bodies().len())?;
        flush_tiny(&mut x);
        check_positions(mesh, &x)?;
        Ok(Self {
            start,
            inverse_mass,
            surfaces,
            dt,
            x,
        })
    }

    /// End positions, in metres.
    pub fn positions(&self) -> &[DVec3] {
        &self.x
    }

    /// End positions, in metres, to be changed by a stage of your own.
    pub fn positions_mut(&mut self) -> &mut [DVec3] {
        &mut self.x
    }

    /// The motion from the start to the present end.
    pub(crate) fn motion(&self) -> Motion<'_> {
        self.start.motion_to(&self.x)
    }

    /// The mesh that moves.
    pub fn mesh(&self) -> &Mesh {
        self.start.mesh()
    }

    /// Inverse mass of a contact point, in 1/kg; 0 where nothing can move.
    pub fn inverse_mass_of(&self, point: &ContactPoint) -> f64 {
        point.inverse_mass(self.inverse_mass)
    }

    /// Adds the displacement of an impulse given in kg·m: `xᵢ += wᵢ J / mᵢ`.
    pub fn push(&mut self, point: &ContactPoint, impulse: DVec3) {
        for (&v, w) in point.vertices.iter().zip(point.weights) {
            self.x[v as usize] += w * self.inverse_mass[v as usize] * impulse;
        }
    }

    /// Displacement of the first feature's point relative to the second's over the interval, in
    /// metres.
    pub fn relative_displacement(&self, point: &ContactPoint) -> DVec3 {
        point.relative(&self.x) - point.relative(self.start.positions())
    }

    /// Coulomb coefficient of a contact point.
    pub fn friction_of(&self, point: &ContactPoint) -> f64 {
        self.surfaces.friction_of(self.mesh(), point)
    }

    /// Thickness that a contact point should keep, in metres.
    pub fn thickness_of(&self, point: &ContactPoint) -> f64 {
        let at = |v: u32| self.surfaces.thickness[v as usize];
        0.5 * (at(point.vertices[0]) + at(point.vertices[3]))
    }
}
