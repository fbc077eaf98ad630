//! Mass-spring stretching: one spring per mesh edge.
//!
//! Source of the scaling: Van Gelder's rule \[VG98\] `k = Y Σ A / L²`, the sum over the triangles
//! at the edge. It makes the spring constant independent of the edge length and the energy of a
//! uniform strain independent of the resolution; on equilateral triangles the modulus is Y exactly
//! (Poisson's ratio 1/3), on a square grid with diagonals it is `stretch + shear`. We differ: Y
//! depends on the material direction of the edge ([`Fabric::spring_modulus`]), so that on a grid
//! the axis-parallel edges are the structural springs of the papers and the diagonals the shear
//! springs.
//!
//! Internal forces are central, so linear and angular momentum are conserved up to rounding.

use glam::{DMat3, DVec3};

use super::damping::Damper;
use super::stretch::{Weights, across, outer};

/// A damped linear spring between two vertices.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spring {
    pub(super) ends: [u32; 2],
    /// Rest length, m.
    pub(super) rest: f64,
    /// Spring constant, N/m.
    pub(super) stiffness: f64,
    /// Damping constant, N·s/m.
    pub(super) damping: f64,
}

impl Spring {
    /// Extension and unit vector from the first end to the second; no direction if the ends
    /// coincide.
    fn extension(&self, x: &[DVec3]) -> (f64, DVec3) {
        let [a, b] = self.ends;
        let d = x[b as usize] - x[a as usize];
        let length = d.length();
        let direction = if length > 0.0 {
            d / length
        } else {
            DVec3::ZERO
        };
        (length - self.rest, direction)
    }

    /// ½ k (l − L)², J.
    pub(super) fn energy(&self, x: &[DVec3]) -> f64 {
        let (extension, _) = self.extension(x);
        0.5 * self.stiffness * extension * extension
    }

    /// Elastic force on the first end; that on the second is its opposite.
    pub(super) fn pull(&self, x: &[DVec3]) -> DVec3 {
        let (extension, direction) = self.extension(x);
        self.stiffness * extension * direction
    }

    /// Adds the elastic force on both ends.
    pub(super) fn add_force(&self, x: &[DVec3], f: &mut [DVec3]) {
        let pull = self.pull(x);
        f[self.ends[0] as usize] += pull;
        f[self.ends[1] as usize] -= pull;
    }

    /// Resistance to the rate of extension.
    pub(super) fn damper(&self, x: &[DVec3]) -> Damper<2> {
        let (_, direction) = self.extension(x);
        Damper {
            vertices: self.ends,
            gradient: [-direction, direction],
            coefficient: self.damping,
        }
    }

    /// Weighted stiffness and damping: the block K of `[[K, −K], [−K, K]]`.
    ///
    /// ```text
    /// K = k d dᵀ + k (1 − L/l) (I − d dᵀ)
    /// ```
    ///
    /// Positive semi-definite by dropping the second part under compression, where it is negative.
    pub(super) fn matrix(&self, x: &[DVec3], weights: Weights) -> DMat3 {
        let (extension, d) = self.extension(x);
        let along = weights.stiffness * self.stiffness + weights.damping * self.damping;
        let tension = (extension / (extension + self.rest)).max(0.0);
        outer(along * d, d) + across(d) * (weights.stiffness * self.stiffness * tension)
    }

    /// Adds this spring to the bounds of its ends on the squared frequency, for the given inverse
    /// masses.
    pub(super) fn add_rate_bound(&self, x: &[DVec3], w: &[f64], bound: &mut [DMat3]) {
        let (extension, d) = self.extension(x);
        let tension = (extension / (extension + self.rest)).max(0.0);
        let both = self.ends.map(|v| w[v as usize]).iter().sum::<f64>() * self.stiffness;
        let block = outer(both * d, d) + across(d) * (both * tension);
        for v in self.ends {
            bound[v as usize] += block;
        }
    }
}
