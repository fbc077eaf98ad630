//! The station between start and end: a candidate that stages may still change.

use glam::DVec3;

use crate::geometry::{ContactPoint, Mesh};
use crate::verify::Verified;

/// What contact needs to know beyond positions and masses.
#[derive(Clone, Debug)]
pub struct Surfaces {
    /// Thickness at each vertex, in metres: features of two vertices keep the mean of both apart.
    pub thickness: Vec<f64>,
    /// Rest positions, in metres; neighbours whose rest distance is below the thickness keep to that instead.
    pub rest: Vec<DVec3>,
    /// Layer of each body: of two cloths in contact the one of the higher layer lies outside; checked by [`crate::layers`].
    pub layer: Vec<i32>,
    /// Coulomb coefficients by pair of bodies, row by row; symmetric.
    friction: Vec<f64>,
    body_count: usize,
}

impl Surfaces {
    /// The same thickness and friction everywhere.
    pub fn uniform(mesh: &Mesh, rest: Vec<DVec3>, thickness: f64, friction: f64) -> Self {
        let body_count = mesh.bodies().len();
        Self {
            thickness: vec![thickness; mesh.vertex_count()],
            rest,
            layer: vec![0; body_count],
            friction: vec![friction; body_count * body_count],
            body_count,
        }
    }

    /// Sets the Coulomb coefficient of a pair of bodies (or of a body with itself).
    pub fn set_friction(&mut self, a: u32, b: u32, coefficient: f64) {
        let (a, b) = (a as usize, b as usize);
        self.friction[a * self.body_count + b] = coefficient;
        self.friction[b * self.body_count + a] = coefficient;
    }

    /// Coulomb coefficient of a contact point.
    pub fn friction_of(&self, mesh: &Mesh, point: &ContactPoint) -> f64 {
        // the first vertex is always of the first feature, the last of the second
        let body = |k: usize| mesh.body_of_vertex(point.vertices[k]);
        self.friction(body(0), body(3))
    }

    /// Coulomb coefficient of a pair of bodies.
    pub fn friction(&self, a: u32, b: u32) -> f64 {
        self.friction[a as usize * self.body_count + b as usize]
    }
}

/// End positions that nobody has judged yet, and what they came from.
///
/// A stage changes end positions and nothing else; velocities are derived, so they cannot disagree.
#[derive(Clone, Debug)]
pub struct Candidate<'a> {
    /// Where the motion starts.
    pub start: &'a Verified,
    /// 1/kg for each vertex; 0 for scripted and pinned ones, which no stage may move.
    pub inverse_mass: &'a [f64],
    /// Thickness and friction.
    pub surfaces: &'a Surfaces,
    /// Length of the interval, in seconds.
    pub dt: f64,
    /// End positions, in metres.
    pub x: Vec<DVec3>,
}

impl Candidate<'_> {
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

    /// Displacement of the first feature's point relative to the second's over the interval, in metres.
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
