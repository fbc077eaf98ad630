//! Damping: every elastic element also resists the *rate* of what it measures.
//!
//! If an element measures C(x) (a length, a strain, an angle), its damper exerts `−c ∇C (∇C · v)`.
//! Since C does not change under rigid motion, ∇C · v vanishes for rigid velocities and the forces
//! sum to zero, also as torques: damping removes no momentum. The matrix `D = Σ c ∇C ∇Cᵀ` is
//! symmetric and positive semi-definite, so that `½ vᵀ D v ≥ 0` is lost and never gained. Baraff
//! and Witkin's damping \[BW98\] §4.5 has this form.

use glam::DVec3;

use super::air::Drag;
use super::bend::{Bending, Bent};
use super::pins::Pin;

/// One rank-one term of the damping matrix, over N vertices.
#[derive(Clone, Copy, Debug)]
pub(super) struct Damper<const N: usize> {
    pub(super) vertices: [u32; N],
    /// ∇C with respect to each vertex.
    pub(super) gradient: [DVec3; N],
    /// c, in N·s per unit of C².
    pub(super) coefficient: f64,
}

impl<const N: usize> Damper<N> {
    /// `out += scale · D v` for this term.
    #[inline]
    fn add_product(&self, scale: f64, v: &[DVec3], out: &mut [DVec3]) {
        let mut rate = 0.0;
        for (g, &i) in self.gradient.iter().zip(&self.vertices) {
            rate += g.dot(v[i as usize]);
        }
        let magnitude = scale * self.coefficient * rate;
        for (g, &i) in self.gradient.iter().zip(&self.vertices) {
            out[i as usize] += magnitude * *g;
        }
    }
}

/// The damping matrix of all elements at one configuration, with the drag of the air.
#[derive(Clone, Debug, Default)]
pub(super) struct Dampers<'a> {
    pub(super) springs: Vec<Damper<2>>,
    pub(super) membranes: Vec<Damper<3>>,
    /// Of stitches between points of edges.
    pub(super) stitches: Vec<Damper<4>>,
    /// If plates are damped.
    pub(super) bending: Option<&'a Bending>,
    pub(super) bent: Bent,
    /// Whether [`Dampers::add_product`] leaves bending out, because it is integrated apart.
    pub(super) bending_apart: bool,
    pub(super) drag: Vec<Drag>,
    pub(super) pins: &'a [Pin],
}

impl Dampers<'_> {
    /// Whether nothing is damped.
    pub(super) fn is_empty(&self) -> bool {
        self.pins.is_empty()
            && self.springs.is_empty()
            && self.stitches.is_empty()
            && self.membranes.is_empty()
            && (self.bending.is_none() || self.bending_apart)
            && self.drag.is_empty()
    }

    /// Adds the resistance of bending to the forces, if it is integrated apart.
    pub(super) fn add_bending_apart(&self, v: &[DVec3], f: &mut [DVec3]) {
        if self.bending_apart {
            self.add_bending_product(-1.0, v, f);
        }
    }

    /// `out += scale · D v` of bending alone.
    fn add_bending_product(&self, scale: f64, v: &[DVec3], out: &mut [DVec3]) {
        if let Some(bending) = self.bending {
            bending.add_damping_product(&self.bent, scale, v, out);
        }
    }

    /// `out += scale · D v`, in fixed order.
    pub(super) fn add_product(&self, scale: f64, v: &[DVec3], out: &mut [DVec3]) {
        for damper in &self.springs {
            damper.add_product(scale, v, out);
        }
        for damper in &self.membranes {
            damper.add_product(scale, v, out);
        }
        for damper in &self.stitches {
            damper.add_product(scale, v, out);
        }
        if !self.bending_apart {
            self.add_bending_product(scale, v, out);
        }
        for drag in &self.drag {
            drag.add_product(scale, v, out);
        }
        for pin in self.pins {
            pin.add_product(scale, v, out);
        }
    }
}
