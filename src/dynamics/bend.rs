//! Bending: a plate per triangle, curved as the dihedral angles at its three edges say.
//!
//! ```text
//!        2            θ: angle between the two normals, 0 when flat
//!       / \           S = Σ (θ − θ₀) |e| / 2A · n nᵀ      over the triangle's edges, in material coordinates
//!      / A \          energy A/2 (D₁₁ S₁₁² + D₂₂ S₂₂² + 4 D₆₆ S₁₂²)
//!     0──e──1
//!      \   /          |e|, A, n: length of an edge, area, in-plane edge normal, all at rest
//!       \ /           D₁₁, D₂₂: bending rigidity along warp and weft; D₆₆: resistance to twist
//!        3
//! ```
//!
//! Each edge gives half of its turn θ|e| to either triangle; S is the mean shape operator
//! \[GGRZ06\]. Gradients of θ as in \[TG13\]. The plate energy with D₁₂ = 0 (cloth has no
//! measurable Poisson effect in bending) makes a sheet bent to a cylinder along φ resist with
//!
//! ```text
//! B(φ) = D₁₁ cos⁴φ + D₂₂ sin⁴φ + 4 D₆₆ cos²φ sin²φ,     so that 4 D₆₆ = 4 B(45°) − D₁₁ − D₂₂.
//! ```
//!
//! We differ from hinge energies ½ k (θ − θ₀)² per edge (\[GHDS03\], \[BMF03\]): they are exact on
//! meshes where all vertices are alike, but on a grid with alternating diagonals the two kinds of
//! vertices shift against each other and 17 % of the rigidity is lost. Here that shift shows as
//! twist, and costs. At the border the angle is free: it takes the value of least energy, which
//! removes it from the energy (a Schur complement of the 3×3 matrix of the triangle). Angles vary
//! over the open interval (−π, π); a cloth that folds through itself there would have crossed
//! itself.
//!
//! The forces sum to zero, also as torques. A triangle squeezed below [`THINNEST`] of its rest
//! height no longer gains leverage (the gradient, 1/height, would grow without bound and no loop
//! length would be stable).

use glam::{DVec2, DVec3, Vec3A};
use rayon::prelude::*;

use super::material::Fabric;
use super::solve::{GRAIN, MatrixRows, Pattern, Slot, evenly, outer_single};
use super::stretch::Weights;

/// Heights below this share of the rest height count as this share in the gradient of the angle.
const THINNEST: f64 = 0.1;

/// Marks an edge without hinge: a border.
pub(super) const NONE: u32 = u32::MAX;

/// The common edge of two triangles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hinge {
    /// Edge ends, then the opposite vertex of either side.
    pub(super) vertices: [u32; 4],
    /// Rest angle, rad.
    pub(super) rest: f64,
    /// Twice the rest areas, m².
    pub(super) rest_normals: [f64; 2],
}

/// The gradient of a hinge's angle.
type Gradient = [DVec3; 4];

impl Hinge {
    fn positions(&self, x: &[DVec3]) -> [DVec3; 4] {
        self.vertices.map(|v| x[v as usize])
    }

    /// ∇θ with respect to the four vertices.
    ///
    /// ```text
    /// ∂θ/∂x₂ = −|e| n / |n|²,   n = e × (x₂ − x₀)          (1/height, along the normal)
    /// ∂θ/∂x₃ = −|e| n'/ |n'|²,  n' = (x₃ − x₀) × e
    /// ∂θ/∂x₀, ∂θ/∂x₁: minus these, split by where x₂ and x₃ project on the edge
    /// ```
    ///
    /// Returned with θ − θ₀, which shares the normals.
    fn measure(&self, x: &[DVec3]) -> (f64, Gradient) {
        let [x0, x1, x2, x3] = self.positions(x);
        let e = x1 - x0;
        let length_squared = e.length_squared();
        if length_squared == 0.0 {
            return (-self.rest, [DVec3::ZERO; 4]); // a collapsed edge has no direction to turn about
        }
        let length = length_squared.sqrt();
        let (n2, n3) = (e.cross(x2 - x0), (x3 - x0).cross(e));
        let turn = angle_between(e, n2, n3, length) - self.rest;
        let lever = |n: DVec3, rest: f64| {
            let floor = THINNEST * rest;
            -length / n.length_squared().max(floor * floor) * n
        };
        let g2 = lever(n2, self.rest_normals[0]);
        let g3 = lever(n3, self.rest_normals[1]);
        let t2 = (x2 - x0).dot(e) / length_squared;
        let t3 = (x3 - x0).dot(e) / length_squared;
        let gradient = [
            -(1.0 - t2) * g2 - (1.0 - t3) * g3,
            -t2 * g2 - t3 * g3,
            g2,
            g3,
        ];
        (turn, gradient)
    }
}

/// Signed angle between the normals of the triangles (0, 1, 2) and (1, 0, 3), in (−π, π]; 0 when
/// flat.
pub(super) fn angle([x0, x1, x2, x3]: [DVec3; 4]) -> f64 {
    let e = x1 - x0;
    angle_between(e, e.cross(x2 - x0), (x3 - x0).cross(e), e.length())
}

fn angle_between(e: DVec3, n: DVec3, m: DVec3, length: f64) -> f64 {
    // |e| sin θ ∝ e · (n × m); atan2 needs the ratio only, so both sides carry the same |n||m|
    libm::atan2(e.dot(n.cross(m)), n.dot(m) * length)
}

/// Turns and gradients of all hinges at one configuration.
#[derive(Clone, Debug, Default)]
pub(super) struct Bent {
    turns: Vec<f64>,
    gradients: Vec<Gradient>,
}

/// A bent triangle: quadratic in the turns of its hinges.
///
/// Its stiffness is `Σ cᵢⱼ ∇θᵢ ∇θⱼᵀ + Σ mᵢ ∇²θᵢ` with the moments m. Only the first part is kept: it
/// is positive semi-definite by its form, the second is indefinite and vanishes at rest.
#[derive(Clone, Debug)]
pub(super) struct Plate {
    /// Hinge of each edge; edge k joins the corners k and k + 1. [`NONE`] at borders.
    hinges: [u32; 3],
    /// Corners, then the far vertex of each hinge.
    nodes: [u32; 6],
    /// For each hinge, which of `nodes` its four vertices are.
    places: [[u8; 4]; 3],
    /// Energy = ½ Σ cᵢⱼ turnᵢ turnⱼ, N·m.
    coupling: [[f64; 3]; 3],
    /// Damping relative to the stiffness, s.
    damping: f64,
    /// Places of the pairs of `nodes` in the matrix; pairs with a missing hinge have none.
    slots: [Option<Slot>; 15],
}

impl Plate {
    /// From the corners and their material coordinates, and the hinges at the edges as (number,
    /// hinge).
    pub(super) fn new(
        corners: [u32; 3],
        material: [DVec2; 3],
        hinges: [Option<(u32, &Hinge)>; 3],
        fabric: &Fabric,
    ) -> Self {
        let area = 0.5
            * (material[1] - material[0])
                .perp_dot(material[2] - material[0])
                .abs();
        let [d11, d22, d66] = fabric.plate_rigidity();
        let mut nodes = [corners[0], corners[1], corners[2], NONE, NONE, NONE];
        let mut places = [[0; 4]; 3];
        let mut curvature = [[0.0; 3]; 3];
        for (k, hinge) in hinges.iter().enumerate() {
            let edge = material[(k + 1) % 3] - material[k];
            let share = 0.5 * edge.length() / area;
            let n = edge.perp().normalize();
            curvature[k] = [share * n.x * n.x, share * n.y * n.y, share * n.x * n.y];
            let Some((_, hinge)) = hinge else { continue };
            let far = hinge.vertices[2..].iter().find(|v| !corners.contains(v));
            nodes[3 + k] =
                *far.expect("two faces on the same three vertices are refused by the mesh");
            places[k] = hinge.vertices.map(|v| {
                let place = nodes.iter().position(|&node| node == v);
                place.expect("a hinge joins this triangle's corners and one far vertex") as u8
            });
            // the same turn is counted from either side; it bends this triangle up or down by its
            // order of corners
            let first = hinge.vertices[2] == corners[(k + 2) % 3];
            let along = hinge.vertices[0] == corners[k];
            if first != along {
                curvature[k] = curvature[k].map(|c| -c);
            }
        }
        let mut coupling = [[0.0; 3]; 3];
        for i in 0..3 {
            for j in 0..3 {
                let (a, b) = (curvature[i], curvature[j]);
                coupling[i][j] =
                    area * (d11 * a[0] * b[0] + d22 * a[1] * b[1] + 4.0 * d66 * a[2] * b[2]);
            }
        }
        for (k, hinge) in hinges.iter().enumerate() {
            if hinge.is_none() {
                coupling = without(coupling, k);
            }
        }
        Self {
            hinges: hinges.map(|h| h.map_or(NONE, |(number, _)| number)),
            nodes,
            places,
            coupling,
            damping: fabric.bend_damping,
            slots: [None; 15],
        }
    }

    /// All pairs of nodes that the matrix couples.
    pub(super) fn pairs(&self) -> impl Iterator<Item = [u32; 2]> {
        let nodes = self.nodes;
        PAIRS
            .into_iter()
            .map(move |(i, j)| [nodes[i], nodes[j]])
            .filter(|p| !p.contains(&NONE))
    }

    /// Looks up where the pairs lie.
    pub(super) fn find_slots(&mut self, pattern: &Pattern) {
        for (slot, (i, j)) in self.slots.iter_mut().zip(PAIRS) {
            let (i, j) = (self.nodes[i], self.nodes[j]);
            *slot = (i != NONE && j != NONE).then(|| pattern.slot(i, j));
        }
    }

    /// Values of the hinges of this plate; 0 at borders.
    fn pick(&self, values: &[f64]) -> [f64; 3] {
        self.hinges
            .map(|h| if h == NONE { 0.0 } else { values[h as usize] })
    }

    /// Coupling times `turns`.
    fn moments(&self, turns: [f64; 3]) -> [f64; 3] {
        self.coupling
            .map(|row| row[0] * turns[0] + row[1] * turns[1] + row[2] * turns[2])
    }

    /// Gradients of the turns with respect to the nodes; those of missing hinges are 0.
    #[inline]
    fn slopes(&self, gradients: &[Gradient]) -> [[Vec3A; 6]; 3] {
        let mut g = [[Vec3A::ZERO; 6]; 3];
        for k in 0..3 {
            if self.hinges[k] != NONE {
                let gradient = &gradients[self.hinges[k] as usize];
                for (value, &place) in gradient.iter().zip(&self.places[k]) {
                    g[k][place as usize] = value.as_vec3a();
                }
            }
        }
        g
    }

    /// Elastic force on its nodes.
    pub(super) fn forces(&self, bent: &Bent) -> [DVec3; 6] {
        let moments = self.moments(self.pick(&bent.turns));
        let mut force = [DVec3::ZERO; 6];
        for (k, moment) in moments.into_iter().enumerate() {
            if self.hinges[k] != NONE {
                let gradient = &bent.gradients[self.hinges[k] as usize];
                for (g, &place) in gradient.iter().zip(&self.places[k]) {
                    force[place as usize] -= moment * *g;
                }
            }
        }
        force
    }

    /// Adds weighted stiffness and damping.
    pub(super) fn add_matrix(&self, bent: &Bent, weights: Weights, matrix: &mut MatrixRows<'_>) {
        let scale = weights.stiffness + weights.damping * self.damping;
        let g = self.slopes(&bent.gradients);
        // w = scale · coupling · g
        let mut w = [[Vec3A::ZERO; 6]; 3];
        for (w, c) in w.iter_mut().zip(&self.coupling) {
            let c = c.map(|c| (scale * c) as f32);
            for node in 0..3 {
                w[node] = c[0] * g[0][node] + c[1] * g[1][node] + c[2] * g[2][node];
            }
            // a far vertex turns its own hinge only
            for k in 0..3 {
                w[3 + k] = c[k] * g[k][3 + k];
            }
        }
        let block = |i: usize, j: usize| match j {
            0..3 => {
                outer_single(w[0][i], g[0][j])
                    + outer_single(w[1][i], g[1][j])
                    + outer_single(w[2][i], g[2][j])
            }
            _ => outer_single(w[j - 3][i], g[j - 3][j]),
        };
        for (node, &number) in self.nodes.iter().enumerate() {
            if number != NONE {
                matrix.add_diagonal(number, block(node, node));
            }
        }
        for (slot, &(i, j)) in self.slots.iter().zip(&PAIRS) {
            if let Some(slot) = slot {
                matrix.add(*slot, block(i, j));
            }
        }
    }

    /// Corners, then the far vertices; [`NONE`] at borders.
    pub(super) fn nodes(&self) -> &[u32; 6] {
        &self.nodes
    }
}

/// Pairs of 6 nodes, the first smaller.
const PAIRS: [(usize, usize); 15] = [
    (0, 1),
    (0, 2),
    (0, 3),
    (0, 4),
    (0, 5),
    (1, 2),
    (1, 3),
    (1, 4),
    (1, 5),
    (2, 3),
    (2, 4),
    (2, 5),
    (3, 4),
    (3, 5),
    (4, 5),
];

/// A quadratic form after one variable has taken its value of least energy.
fn without(c: [[f64; 3]; 3], k: usize) -> [[f64; 3]; 3] {
    let mut out = c;
    for i in 0..3 {
        for j in 0..3 {
            if i == k || j == k {
                out[i][j] = 0.0;
            } else if c[k][k] > 0.0 {
                out[i][j] -= c[i][k] * c[k][j] / c[k][k];
            }
        }
    }
    out
}

/// All plates of all cloths.
#[derive(Clone, Debug, Default)]
pub(super) struct Bending {
    pub(super) hinges: Vec<Hinge>,
    pub(super) plates: Vec<Plate>,
}

impl Bending {
    /// Measures all hinges, into memory that is used again.
    pub(super) fn measure(&self, x: &[DVec3], out: &mut Bent) {
        let measured = self.hinges.par_iter().map(|hinge| hinge.measure(x));
        evenly(measured, GRAIN).unzip_into_vecs(&mut out.turns, &mut out.gradients);
    }

    /// Stored energy, J.
    pub(super) fn energy(&self, x: &[DVec3]) -> f64 {
        let hinges = self.hinges.iter();
        let turns: Vec<f64> = hinges.map(|h| angle(h.positions(x)) - h.rest).collect();
        let plates = self.plates.iter().map(|plate| {
            let t = plate.pick(&turns);
            let m = plate.moments(t);
            0.5 * (m[0] * t[0] + m[1] * t[1] + m[2] * t[2])
        });
        plates.sum()
    }

    /// Adds the elastic forces.
    pub(super) fn add_force(&self, bent: &Bent, f: &mut [DVec3]) {
        let moments = self.moments(&bent.turns, |_| 1.0);
        self.add_moments(&moments, -1.0, bent, f);
    }

    /// `out += scale · moment · ∇θ` of every hinge.
    fn add_moments(&self, moments: &[f64], scale: f64, bent: &Bent, out: &mut [DVec3]) {
        for ((hinge, g), moment) in self.hinges.iter().zip(&bent.gradients).zip(moments) {
            for (g, v) in g.iter().zip(hinge.vertices) {
                out[v as usize] += scale * moment * *g;
            }
        }
    }

    /// Sum over the plates at each hinge of coupling times `turns`, each plate weighted.
    fn moments(&self, turns: &[f64], weight: impl Fn(&Plate) -> f64) -> Vec<f64> {
        let mut out = vec![0.0; self.hinges.len()];
        for plate in &self.plates {
            let weight = weight(plate);
            for (&h, m) in plate.hinges.iter().zip(plate.moments(plate.pick(turns))) {
                if h != NONE {
                    out[h as usize] += weight * m;
                }
            }
        }
        out
    }

    /// `out += scale · D v`: each plate resists the rate of its turns like the turns themselves,
    /// times its damping.
    pub(super) fn add_damping_product(
        &self,
        bent: &Bent,
        scale: f64,
        v: &[DVec3],
        out: &mut [DVec3],
    ) {
        let hinges = self.hinges.iter().zip(&bent.gradients);
        let rate = |(hinge, g): (&Hinge, &Gradient)| {
            (0..4)
                .map(|k| g[k].dot(v[hinge.vertices[k] as usize]))
                .sum()
        };
        let rates: Vec<f64> = hinges.map(rate).collect();
        let moments = self.moments(&rates, |plate| plate.damping);
        self.add_moments(&moments, scale, bent, out);
    }

    /// Whether any plate is damped.
    pub(super) fn is_damped(&self) -> bool {
        self.plates.iter().any(|plate| plate.damping > 0.0)
    }

    /// Adds bounds on the row sums of the stiffness matrix without its second part, N/m, and of the
    /// damping matrix, N·s/m.
    pub(super) fn add_bounds(&self, x: &[DVec3], stiffness: &mut [f64], damping: &mut [f64]) {
        let mut bent = Bent::default();
        self.measure(x, &mut bent);
        let gradients = &bent.gradients;
        let sum = |g: &Gradient| g.iter().map(|g| g.length()).sum();
        let sums: Vec<f64> = gradients.iter().map(sum).collect();
        for plate in &self.plates {
            let sums = plate.pick(&sums);
            for (k, &h) in plate.hinges.iter().enumerate() {
                if h == NONE {
                    continue;
                }
                let c = plate.coupling[k];
                let reach: f64 = (0..3).map(|l| c[l].abs() * sums[l]).sum();
                let hinge = &self.hinges[h as usize];
                for (g, v) in gradients[h as usize].iter().zip(hinge.vertices) {
                    let bound = g.length() * reach;
                    stiffness[v as usize] += bound;
                    damping[v as usize] += plate.damping * bound;
                }
            }
        }
    }
}
