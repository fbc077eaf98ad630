//! Pins: vertices that follow a script, hard or by a spring, and weights.
//!
//! A hard pin is a vertex of inverse mass 0 ([`super::ClothModel::pinned`]): it goes where its target says. A soft pin keeps its mass
//! and is pulled to its target by a damped spring, each axis on its own: a weighted hem that may rise but not swing, or a
//! kinematic object of finite mass that gives way ([SMT08], the two spheres). Its target moves straight from where the vertex
//! is at the start of the interval to the target at its end, so that nothing jumps whatever the number of loops.

use glam::{DMat3, DVec3};

use super::integrator::Start;

/// A vertex that a spring pulls to its script.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoftPin {
    /// Mesh vertex. If it belongs to an obstacle, it becomes free and needs a mass.
    pub vertex: u32,
    /// Spring constants along x, y, z, N/m; 0 leaves an axis free.
    pub stiffness: [f64; 3],
    /// Damping relative to the stiffness, s.
    pub damping: f64,
    /// Mass added to the vertex, kg.
    pub mass: f64,
}

/// A soft pin by node number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pin {
    pub(super) node: u32,
    pub(super) stiffness: DVec3,
    pub(super) damping: f64,
}

impl Pin {
    /// Where the target is after a share of the interval.
    fn anchor(&self, start: &Start<'_>, share: f64) -> DVec3 {
        let (from, to) = (
            start.x[self.node as usize],
            start.target[self.node as usize],
        );
        from + share * (to - from)
    }

    /// ½ k d², J.
    pub(super) fn energy(&self, start: &Start<'_>, share: f64, x: &[DVec3]) -> f64 {
        let d = x[self.node as usize] - self.anchor(start, share);
        0.5 * (self.stiffness * d).dot(d)
    }

    /// Adds the pull of the spring.
    pub(super) fn add_force(&self, start: &Start<'_>, share: f64, x: &[DVec3], f: &mut [DVec3]) {
        let i = self.node as usize;
        f[i] += self.stiffness * (self.anchor(start, share) - x[i]);
    }

    /// Adds the force of the damper on a vertex at rest when the target moves.
    pub(super) fn add_push(&self, start: &Start<'_>, f: &mut [DVec3]) {
        let i = self.node as usize;
        let velocity = (start.target[i] - start.x[i]) / start.dt;
        f[i] += self.damping * self.stiffness * velocity;
    }

    /// Block of stiffness and damping with the given weights.
    pub(super) fn matrix(&self, stiffness: f64, damping: f64) -> DMat3 {
        DMat3::from_diagonal(self.stiffness * (stiffness + damping * self.damping))
    }

    /// `out += scale · D v`.
    pub(super) fn add_product(&self, scale: f64, v: &[DVec3], out: &mut [DVec3]) {
        let i = self.node as usize;
        out[i] += scale * self.damping * self.stiffness * v[i];
    }
}
