//! Finite-element membrane: orthotropic stretch, shear and their coupling, one linear triangle per
//! face.
//!
//! Source: Baraff and Witkin's stretch and shear conditions \[BW98\] §4.2-4.3 as an energy of the
//! deformation gradient \[KIM20\]. With a = ∂x/∂u and b = ∂x/∂v, the images of the warp and weft
//! directions:
//!
//! ```text
//! ψ = ½ c₁₁ ε² + c₁₂ ε η + ½ c₂₂ η² + ½ G s²,    ε = |a| − 1,  η = |b| − 1,  s = a · b
//! ```
//!
//! per rest area; c₁₁, c₂₂ are the stretch stiffnesses of the fabric, c₁₂ its coupling (Poisson
//! effect), G its shear modulus, all N/m: for small strains ε, η are the engineering strains and s
//! the shear angle. We differ: \[BW98\] scales the conditions by the area, not the energy, which
//! makes stiffness depend on the mesh; the coupling is ours.
//!
//! The stiffness matrix is projected to positive semi-definite in closed form, part by part.
//! Stretch: the part along a is c₁₁ > 0, the two across are σ/|a|, dropped under compression. Shear
//! \[KIM20\]: with λ = (T + √(T² + 12 s²))/2, T = |a|² + |b|², the positive eigenvalues of its
//! Hessian are λ once and |s| twice. The force itself is exact.

use glam::{DMat3, DVec2, DVec3};

use super::damping::Damper;
use super::material::Fabric;

/// A membrane triangle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Triangle {
    pub(super) vertices: [u32; 3],
    /// Rest area, m².
    pub(super) area: f64,
    /// a = Σ αᵢ xᵢ and b = Σ βᵢ xᵢ, 1/m: x = αᵢ, y = βᵢ.
    pub(super) gradient: [DVec2; 3],
    /// c₁₁, c₁₂, c₂₂, N/m.
    pub(super) stretch: [f64; 3],
    /// G, N/m.
    pub(super) shear: f64,
    /// Damping relative to the stiffness, s.
    pub(super) damping: f64,
    /// Largest principal stretch permitted: 1 + the strain limit.
    pub(super) limit: f64,
}

/// The largest stretch of a triangle and where it acts.
pub(super) struct LargestStretch {
    /// σ: 1 at rest, 1.1 when stretched by 10 % in the worst direction.
    pub(super) value: f64,
    /// Unit vector in the material that is stretched most.
    pub(super) material: DVec2,
    /// Its image in space, divided by σ.
    pub(super) world: DVec3,
}

/// Factors of the stiffness and damping matrices in a sum of both.
#[derive(Clone, Copy, Debug)]
pub(super) struct Weights {
    /// Of ∂f/∂x.
    pub(super) stiffness: f64,
    /// Of ∂f/∂v.
    pub(super) damping: f64,
}

/// The deformation of a triangle.
struct Strain {
    a: DVec3,
    b: DVec3,
    length: [f64; 2],
    direction: [DVec3; 2],
    /// ∂ψ/∂ε and ∂ψ/∂η, N/m.
    stress: [f64; 2],
    shear: f64,
}

impl Triangle {
    /// From the material coordinates of the corners; `None` if they span no area.
    pub(super) fn new(vertices: [u32; 3], [p, q, r]: [DVec2; 3], fabric: &Fabric) -> Option<Self> {
        let (d, e) = (q - p, r - p);
        let twice_area = d.perp_dot(e);
        if twice_area == 0.0 {
            return None;
        }
        // rows of the inverse of [d e]
        let g1 = DVec2::new(e.y, -e.x) / twice_area;
        let g2 = DVec2::new(-d.y, d.x) / twice_area;
        Some(Self {
            vertices,
            area: 0.5 * twice_area.abs(),
            gradient: [-g1 - g2, g1, g2],
            stretch: [fabric.stretch[0], fabric.coupling, fabric.stretch[1]],
            shear: fabric.shear,
            damping: fabric.stretch_damping,
            limit: 1.0 + fabric.strain_limit,
        })
    }

    /// a and b.
    fn columns(&self, x: &[DVec3]) -> [DVec3; 2] {
        let (mut a, mut b) = (DVec3::ZERO, DVec3::ZERO);
        for (g, &v) in self.gradient.iter().zip(&self.vertices) {
            a += g.x * x[v as usize];
            b += g.y * x[v as usize];
        }
        [a, b]
    }

    fn strain(&self, x: &[DVec3]) -> Strain {
        let [a, b] = self.columns(x);
        let length = [a.length(), b.length()];
        let unit = |d: DVec3, l: f64| if l > 0.0 { d / l } else { DVec3::ZERO };
        let (e, n) = (length[0] - 1.0, length[1] - 1.0);
        let [c11, c12, c22] = self.stretch;
        Strain {
            a,
            b,
            length,
            direction: [unit(a, length[0]), unit(b, length[1])],
            stress: [c11 * e + c12 * n, c12 * e + c22 * n],
            shear: a.dot(b),
        }
    }

    /// Stored energy, J.
    pub(super) fn energy(&self, x: &[DVec3]) -> f64 {
        let s = self.strain(x);
        let stretch = s.stress[0] * (s.length[0] - 1.0) + s.stress[1] * (s.length[1] - 1.0);
        0.5 * self.area * (stretch + self.shear * s.shear * s.shear)
    }

    /// Elastic force on the corners.
    pub(super) fn forces(&self, x: &[DVec3]) -> [DVec3; 3] {
        let s = self.strain(x);
        let pa = s.stress[0] * s.direction[0] + self.shear * s.shear * s.b;
        let pb = s.stress[1] * s.direction[1] + self.shear * s.shear * s.a;
        self.gradient.map(|g| -(self.area * (g.x * pa + g.y * pb)))
    }

    /// Adds the elastic force on the corners.
    pub(super) fn add_force(&self, x: &[DVec3], f: &mut [DVec3]) {
        for (force, &v) in self.forces(x).into_iter().zip(&self.vertices) {
            f[v as usize] += force;
        }
    }

    /// Resistance to the rates of warp strain, weft strain and shear.
    pub(super) fn dampers(&self, x: &[DVec3]) -> [Damper<3>; 3] {
        let s = self.strain(x);
        let strength = self.damping * self.area;
        let damper = |stiffness: f64, slope: &dyn Fn(DVec2) -> DVec3| Damper {
            vertices: self.vertices,
            gradient: self.gradient.map(slope),
            coefficient: strength * stiffness,
        };
        [
            damper(self.stretch[0], &|g| g.x * s.direction[0]),
            damper(self.stretch[2], &|g| g.y * s.direction[1]),
            damper(self.shear, &|g| g.x * s.b + g.y * s.a),
        ]
    }

    /// Weighted stiffness (projected) and damping matrices; blocks (0,0), (1,1), (2,2), (0,1),
    /// (0,2), (1,2).
    pub(super) fn matrix(&self, x: &[DVec3], weights: Weights) -> [DMat3; 6] {
        let s = self.strain(x);
        let w = weights.stiffness;
        let both = w + weights.damping * self.damping;
        let [c11, c12, c22] = self.stretch;
        let [da, db] = s.direction;
        let mut aa = outer(both * c11 * da, da);
        let mut bb = outer(both * c22 * db, db);
        let mut ab = outer(w * c12 * da, db);
        for (block, k) in [(&mut aa, 0), (&mut bb, 1)] {
            if s.stress[k] > 0.0 {
                *block += across(s.direction[k]) * (w * s.stress[k] / s.length[k]);
            }
        }
        // shear, stiffness: λ q qᵀ and |s| twice, in the sum (s > 0) or the difference (s < 0) of
        // the two columns
        let trace = s.a.length_squared() + s.b.length_squared();
        let lambda = 0.5 * (trace + (trace * trace + 12.0 * s.shear * s.shear).sqrt());
        let (qa, qb) = (lambda * s.b + s.shear * s.a, lambda * s.a + s.shear * s.b);
        let norm = qa.length_squared() + qb.length_squared();
        if norm > 0.0 {
            let scale = w * self.shear * lambda / norm;
            aa += outer(scale * qa, qa);
            bb += outer(scale * qb, qb);
            ab += outer(scale * qa, qb);
            let axis = if s.shear > 0.0 { s.a + s.b } else { s.b - s.a };
            let twice = across(axis.normalize_or_zero()) * (0.5 * w * self.shear * s.shear.abs());
            aa += twice;
            bb += twice;
            ab += if s.shear > 0.0 { twice } else { -twice };
        }
        let damped = weights.damping * self.damping * self.shear;
        aa += outer(damped * s.b, s.b);
        bb += outer(damped * s.a, s.a);
        ab += outer(damped * s.b, s.a);

        let ba = ab.transpose();
        let block = |i: usize, j: usize| {
            let (g, h) = (self.area * self.gradient[i], self.gradient[j]);
            aa * (g.x * h.x) + ab * (g.x * h.y) + ba * (g.y * h.x) + bb * (g.y * h.y)
        };
        [
            block(0, 0),
            block(1, 1),
            block(2, 2),
            block(0, 1),
            block(0, 2),
            block(1, 2),
        ]
    }

    /// Adds this triangle to the bounds of its corners on the squared frequency, for the given
    /// inverse masses.
    pub(super) fn add_rate_bound(&self, x: &[DVec3], w: &[f64], bound: &mut [DMat3]) {
        let s = self.strain(x);
        let w = self.vertices.map(|v| w[v as usize]);
        let [c11, c12, c22] = self.stretch;
        let reach = |size: [f64; 3]| size[0] * w[0] + size[1] * w[1] + size[2] * w[2];
        let alpha = self.gradient.map(|g| g.x.abs());
        let beta = self.gradient.map(|g| g.y.abs());
        let slopes = self.gradient.map(|g| g.x * s.b + g.y * s.a);
        let steep = slopes.map(DVec3::length);
        let twist = self.shear * s.shear.abs();
        let along = |k: usize, stiffness: f64| {
            let d = s.direction[k];
            let tension = (s.stress[k] / s.length[k]).max(0.0);
            outer((stiffness + c12.abs()) * d, d)
                + across(d) * tension
                + DMat3::from_diagonal(DVec3::splat(twist))
        };
        let (warp, weft) = (along(0, c11) * reach(alpha), along(1, c22) * reach(beta));
        let sheared = self.shear * reach(steep);
        for i in 0..3 {
            let mut sum = warp * alpha[i] + weft * beta[i];
            if steep[i] > 0.0 {
                sum += outer(sheared / steep[i] * slopes[i], slopes[i]);
            }
            bound[self.vertices[i] as usize] += sum * self.area;
        }
    }

    /// Whether some direction is stretched beyond the limit L: whether `L² − FᵀF` has a negative
    /// eigenvalue.
    pub(super) fn exceeds_limit(&self, x: &[DVec3]) -> bool {
        self.exceeds(self.limit, x) // no limit: ∞ · ∞ is above everything
    }

    /// Whether some direction is stretched beyond `most`.
    pub(super) fn exceeds(&self, most: f64, x: &[DVec3]) -> bool {
        let [a, b] = self.columns(x);
        let most = most * most;
        let (left, right) = (most - a.length_squared(), most - b.length_squared());
        let ab = a.dot(b);
        left < 0.0 || right < 0.0 || left * right < ab * ab
    }

    /// Larger singular value of the deformation gradient, with its vectors.
    pub(super) fn largest_stretch(&self, x: &[DVec3]) -> LargestStretch {
        let [a, b] = self.columns(x);
        let (aa, bb, ab) = (a.length_squared(), b.length_squared(), a.dot(b));
        // larger eigenvalue of FᵀF, from the middle of the two
        let half_difference = 0.5 * (aa - bb);
        let root = (half_difference * half_difference + ab * ab).sqrt();
        let value = (0.5 * (aa + bb) + root).sqrt();
        let direction = if half_difference > 0.0 {
            DVec2::new(root + half_difference, ab)
        } else {
            DVec2::new(ab, root - half_difference)
        };
        let material = direction.try_normalize().unwrap_or(DVec2::X);
        LargestStretch {
            value,
            material,
            world: (material.x * a + material.y * b) / value,
        }
    }
}

/// u vᵀ.
pub(super) fn outer(u: DVec3, v: DVec3) -> DMat3 {
    DMat3::from_cols(u * v.x, u * v.y, u * v.z)
}

/// I − n nᵀ.
pub(super) fn across(n: DVec3) -> DMat3 {
    DMat3::IDENTITY - outer(n, n)
}
