//! Finite-element membrane: orthotropic stretch, shear and their coupling, one linear triangle per face.
//!
//! Source: Baraff and Witkin's stretch and shear conditions \[BW98\] §4.2-4.3 as an energy of the deformation gradient
//! \[KIM20\]. With a = ∂x/∂u and b = ∂x/∂v, the images of the warp and weft directions:
//!
//! ```text
//! ψ = ½ c₁₁ ε² + c₁₂ ε η + ½ c₂₂ η² + ½ G s²,    ε = |a| − 1,  η = |b| − 1,  s = a · b
//! ```
//!
//! per rest area; c₁₁, c₂₂ are the stretch stiffnesses of the fabric, c₁₂ its coupling (Poisson effect), G its shear
//! modulus, all N/m: for small strains ε, η are the engineering strains and s the shear angle. We differ: \[BW98\]
//! scales the conditions by the area, not the energy, which makes stiffness depend on the mesh; the coupling is ours.
//!
//! The stiffness matrix is projected to positive semi-definite in closed form, part by part. Stretch: the part along
//! a is c₁₁ > 0, the two across are σ/|a|, dropped under compression. Shear \[KIM20\]: with λ = (T + √(T² + 12 s²))/2,
//! T = |a|² + |b|², the positive eigenvalues of its Hessian are λ once and |s| twice. The force itself is exact.

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

    fn strain(&self, x: &[DVec3]) -> Strain {
        let (mut a, mut b) = (DVec3::ZERO, DVec3::ZERO);
        for (g, &v) in self.gradient.iter().zip(&self.vertices) {
            a += g.x * x[v as usize];
            b += g.y * x[v as usize];
        }
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

    /// Adds the elastic force on the corners.
    pub(super) fn add_force(&self, x: &[DVec3], f: &mut [DVec3]) {
        let s = self.strain(x);
        let pa = s.stress[0] * s.direction[0] + self.shear * s.shear * s.b;
        let pb = s.stress[1] * s.direction[1] + self.shear * s.shear * s.a;
        for (g, &v) in self.gradient.iter().zip(&self.vertices) {
            f[v as usize] -= self.area * (g.x * pa + g.y * pb);
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

    /// Weighted stiffness (projected) and damping matrices; blocks (0,0), (1,1), (2,2), (0,1), (0,2), (1,2).
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
        // shear, stiffness: λ q qᵀ and |s| twice, in the sum (s > 0) or the difference (s < 0) of the two columns
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

    /// Adds bounds on the row sums of the stiffness matrix.
    pub(super) fn add_stiffness_bound(&self, x: &[DVec3], bound: &mut [f64]) {
        let s = self.strain(x);
        let [c11, c12, c22] = self.stretch;
        let shear = self.shear * (s.length[0].powi(2) + s.length[1].powi(2) + s.shear.abs());
        let density = self.area * (c11.max(c22) + c12.abs() + shear);
        let lengths = self.gradient.map(DVec2::length);
        let sum: f64 = lengths.iter().sum();
        for (length, v) in lengths.into_iter().zip(self.vertices) {
            bound[v as usize] += density * length * sum;
        }
    }

    /// Larger singular value of the deformation gradient, with its vectors.
    pub(super) fn largest_stretch(&self, x: &[DVec3]) -> LargestStretch {
        let (mut a, mut b) = (DVec3::ZERO, DVec3::ZERO);
        for (g, &v) in self.gradient.iter().zip(&self.vertices) {
            a += g.x * x[v as usize];
            b += g.y * x[v as usize];
        }
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

impl Triangle {
    /// ∂σ/∂x of the corners.
    pub(super) fn stretch_slope(&self, stretch: &LargestStretch) -> [DVec3; 3] {
        self.gradient
            .map(|g| g.dot(stretch.material) * stretch.world)
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
