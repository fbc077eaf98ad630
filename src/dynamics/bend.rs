//! Bending at the hinge between two triangles, measured by the dihedral angle.
//!
//! ```text
//!        2            angle θ: 0 when flat; the rest angle θ₀ need not be 0.
//!       / \           energy ½ k (θ − θ₀)²,  k = B |e|² / (A + A')   at rest
//!      / A \
//!     0──e──1         B: bending rigidity, N·m; e: the common edge; A, A': the two areas
//!      \ A'/
//!       \ /
//!        3
//! ```
//!
//! Source: the hinge energy of [GHDS03] with the area weights of [BMF03]; gradients as in [TG13]. We differ in the
//! constant: it is calibrated so that a sheet bent to a cylinder of curvature κ stores ½ B κ² per area. On a
//! square grid bent along an axis only the hinges across it turn, by κh each, and `|e|²/(A + A') = 1`; on
//! equilateral triangles of edge l and altitude a, a hinge with its normal at φ to the bend turns by
//! κa (cos²φ − sin²φ/3), whose squares average to κ²a²/3 over the three directions at 3/(l a) hinges per area:
//! again k = B |e|²/(A + A'). Peirce's cantilever tests it.
//!
//! The forces sum to zero, also as torques. A triangle squeezed below [`THINNEST`] of its rest height no longer
//! gains leverage (the gradient, 1/height, would grow without bound and no loop length would be stable).

use glam::DVec3;

use super::damping::Damper;
use super::stretch::Weights;

/// Heights below this share of the rest height count as this share in the gradient of the angle.
const THINNEST: f64 = 0.1;

/// The hinge between two triangles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hinge {
    /// Edge ends, then the opposite vertex of either side.
    pub(super) vertices: [u32; 4],
    /// Rest angle, rad.
    pub(super) rest: f64,
    /// B |e|² / (A + A'), N·m.
    pub(super) stiffness: f64,
    /// Damping constant, N·m·s.
    pub(super) damping: f64,
    /// Twice the rest areas, m².
    pub(super) rest_normals: [f64; 2],
}

impl Hinge {
    fn positions(&self, x: &[DVec3]) -> [DVec3; 4] {
        self.vertices.map(|v| x[v as usize])
    }

    /// ½ k (θ − θ₀)², J.
    pub(super) fn energy(&self, x: &[DVec3]) -> f64 {
        let turn = angle(self.positions(x)) - self.rest;
        0.5 * self.stiffness * turn * turn
    }

    /// Adds the elastic force on the four vertices.
    pub(super) fn add_force(&self, x: &[DVec3], f: &mut [DVec3]) {
        let p = self.positions(x);
        let moment = self.stiffness * (angle(p) - self.rest);
        for (g, v) in self.gradient(p).into_iter().zip(self.vertices) {
            f[v as usize] -= moment * g;
        }
    }

    /// Resistance to the rate of the angle.
    pub(super) fn damper(&self, x: &[DVec3]) -> Damper<4> {
        Damper {
            vertices: self.vertices,
            gradient: self.gradient(self.positions(x)),
            coefficient: self.damping,
        }
    }

    /// ∇θ, and the weight of ∇θ ∇θᵀ in the weighted sum of stiffness and damping.
    ///
    /// The stiffness is `k ∇θ ∇θᵀ + k (θ − θ₀) ∇²θ`. Only the first part is kept: it is positive semi-definite by its form,
    /// the second is indefinite and vanishes at the rest angle.
    pub(super) fn matrix(&self, x: &[DVec3], weights: Weights) -> ([DVec3; 4], f64) {
        let weight = weights.stiffness * self.stiffness + weights.damping * self.damping;
        (self.gradient(self.positions(x)), weight)
    }

    /// Adds the row sums of k ∇θ ∇θᵀ; the rest of the stiffness, k (θ − θ₀) ∇²θ, is of the order of the turn and left out.
    pub(super) fn add_stiffness_bound(&self, x: &[DVec3], bound: &mut [f64]) {
        let lengths = self.gradient(self.positions(x)).map(DVec3::length);
        let sum: f64 = lengths.iter().sum();
        for (length, v) in lengths.into_iter().zip(self.vertices) {
            bound[v as usize] += self.stiffness * length * sum;
        }
    }

    /// ∇θ with respect to the four vertices.
    ///
    /// ```text
    /// ∂θ/∂x₂ = −|e| n / |n|²,   n = e × (x₂ − x₀)          (1/height, along the normal)
    /// ∂θ/∂x₃ = −|e| n'/ |n'|²,  n' = (x₃ − x₀) × e
    /// ∂θ/∂x₀, ∂θ/∂x₁: minus these, split by where x₂ and x₃ project on the edge
    /// ```
    fn gradient(&self, [x0, x1, x2, x3]: [DVec3; 4]) -> [DVec3; 4] {
        let e = x1 - x0;
        let length_squared = e.length_squared();
        if length_squared == 0.0 {
            return [DVec3::ZERO; 4]; // a collapsed edge has no direction to turn about
        }
        let length = length_squared.sqrt();
        let lever = |n: DVec3, rest: f64| {
            let floor = THINNEST * rest;
            -length / n.length_squared().max(floor * floor) * n
        };
        let g2 = lever(e.cross(x2 - x0), self.rest_normals[0]);
        let g3 = lever((x3 - x0).cross(e), self.rest_normals[1]);
        let t2 = (x2 - x0).dot(e) / length_squared;
        let t3 = (x3 - x0).dot(e) / length_squared;
        [
            -(1.0 - t2) * g2 - (1.0 - t3) * g3,
            -t2 * g2 - t3 * g3,
            g2,
            g3,
        ]
    }
}

/// Signed angle between the normals of the triangles (0, 1, 2) and (1, 0, 3), in (−π, π]; 0 when flat.
pub(super) fn angle([x0, x1, x2, x3]: [DVec3; 4]) -> f64 {
    let e = x1 - x0;
    let n = e.cross(x2 - x0);
    let m = (x3 - x0).cross(e);
    // |e| sin θ ∝ e · (n × m); atan2 needs the ratio only, so both sides carry the same |n||m|
    let sine = e.dot(n.cross(m));
    libm::atan2(sine, n.dot(m) * e.length())
}
