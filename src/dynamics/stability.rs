//! How long an explicit loop may be: a bound on the highest frequency, from below on 2/ω.
//!
//! Each element measures some C(x), linear to first order, and adds `c (Σ gᵢ·xᵢ)²` to the quadratic
//! form of the stiffness matrix. With the inverse masses w, Cauchy's inequality gives
//!
//! ```text
//! (Σ gᵢ·xᵢ)²  ≤  Σⱼ |gⱼ| wⱼ  ·  Σᵢ (gᵢ·xᵢ)² / |gᵢ| wᵢ,
//! ```
//!
//! a sum over single nodes. Summed over the elements it bounds ω² by the largest eigenvalue of one
//! symmetric 3×3 matrix per node,
//!
//! ```text
//! Tᵢ = Σ c (Σⱼ |gⱼ| wⱼ) gᵢgᵢᵀ / |gᵢ|        over the elements at node i.
//! ```
//!
//! Masses are shared out by direction: on a square grid springs along warp do not count for weft,
//! which the plain row sums of the matrix do not see (their loops are 1.4 times shorter there). It
//! turns with the cloth, and stiffness under compression, which is negative, is left out. The bound
//! holds at the state it is taken at; it is taken anew for every interval.

use glam::{DMat3, DVec3};

use super::elements::Elements;
use super::integrator::System;

impl System<'_> {
    /// 2/ω at `x`, s, and the largest rate of bending's damping, 1/s; infinite and 0 without
    /// elements.
    pub(super) fn stable_loop(&self, x: &[DVec3]) -> (f64, f64) {
        let (squares, damping) = self.elements.rates(x, self.inverse_mass);
        let largest = |values: Vec<f64>| values.into_iter().fold(0.0, f64::max);
        (2.0 / largest(squares).sqrt(), largest(damping))
    }
}

impl System<'_> {
    /// The node that asks for the shortest loops, and its bound on ω², 1/s²; none where nothing is
    /// stiff. Of equal ones the first.
    pub(super) fn stiffest(&self, x: &[DVec3]) -> Option<(usize, f64)> {
        let (squares, _) = self.elements.rates(x, self.inverse_mass);
        let mut stiffest = None;
        for (node, square) in squares.into_iter().enumerate() {
            if square > stiffest.map_or(0.0, |(_, most)| most) {
                stiffest = Some((node, square));
            }
        }
        stiffest
    }
}

impl Elements {
    /// For each node a bound on ω², 1/s², and on the rate of bending's damping, 1/s; 0 for scripted
    /// nodes.
    fn rates(&self, x: &[DVec3], w: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let mut tensors = vec![DMat3::ZERO; x.len()];
        for triangle in self.membranes() {
            triangle.add_rate_bound(x, w, &mut tensors);
        }
        for spring in &self.springs {
            spring.add_rate_bound(x, w, &mut tensors);
        }
        // seams in all directions: they turn fast while they close
        for stitch in &self.stitches {
            let ends = stitch.spring.ends;
            let both = stitch.spring.stiffness * ends.map(|v| w[v as usize]).iter().sum::<f64>();
            for v in ends {
                tensors[v as usize] += DMat3::from_diagonal(DVec3::splat(both));
            }
        }
        for stitch in &self.edge_stitches {
            let parts = stitch.nodes.iter().zip(stitch.weights);
            let all = parts
                .map(|(&v, weight)| weight * weight * w[v as usize])
                .sum::<f64>();
            let all = stitch.stitch.spring.stiffness * all;
            for v in stitch.nodes {
                tensors[v as usize] += DMat3::from_diagonal(DVec3::splat(all));
            }
        }
        for pin in &self.pins {
            let block = DMat3::from_diagonal(pin.stiffness * w[pin.node as usize]);
            tensors[pin.node as usize] += block;
        }
        // bending by the row sums of its matrix
        let mut bending = vec![0.0; x.len()];
        let mut damping = vec![0.0; x.len()];
        self.bending.add_bounds(x, &mut bending, &mut damping);
        for i in 0..x.len() {
            bending[i] *= w[i];
            damping[i] *= w[i];
            if w[i] > 0.0 {
                bending[i] += largest_eigenvalue_bound(tensors[i]);
            }
        }
        (bending, damping)
    }
}

/// A bound on the largest eigenvalue of a positive semi-definite matrix: `(tr A¹⁶)^(1/16)`, at most
/// 3^(1/16) = 1.07 times too large.
fn largest_eigenvalue_bound(a: DMat3) -> f64 {
    let trace = |m: DMat3| m.x_axis.x + m.y_axis.y + m.z_axis.z;
    let scale = trace(a);
    if !(scale > 0.0 && scale.is_finite()) {
        return scale.max(0.0); // no stiffness, or not a number, which others report
    }
    let mut power = a * (1.0 / scale);
    for _ in 0..4 {
        power = power * power;
    }
    let mut root = trace(power);
    for _ in 0..4 {
        root = root.sqrt();
    }
    scale * root
}

#[cfg(test)]
mod tests {
    use super::super::solve::{BlockMatrix, dot};
    use super::super::stretch::Weights;
    use super::super::tests::bodies::{cloth, noise, shaken, sheet};
    use super::super::*;
    use super::*;

    /// Largest eigenvalue of M⁻¹K by power iteration, from below.
    fn highest(dynamics: &Dynamics, x: &[DVec3]) -> f64 {
        let pattern = &dynamics.elements.pattern;
        let mut matrix = BlockMatrix::default();
        matrix.reset(pattern);
        let weights = Weights {
            stiffness: 1.0,
            damping: 0.0,
        };
        dynamics.elements.add_matrix(x, weights, &mut matrix);
        let w = &dynamics.node_inverse_mass;
        let mut next = noise(30);
        let mut v: Vec<DVec3> = x
            .iter()
            .map(|_| DVec3::new(next(), next(), next()))
            .collect();
        let mut value = 0.0;
        for _ in 0..3000 {
            for (v, &w) in v.iter_mut().zip(w) {
                *v *= w.sqrt();
            }
            let mut product = matrix.product(pattern, &v);
            for (p, &w) in product.iter_mut().zip(w) {
                *p *= w.sqrt();
            }
            value = dot(&product, &product).sqrt();
            v = product.iter().map(|p| *p / value).collect();
        }
        value
    }

    #[test]
    fn the_bound_is_above_the_highest_frequency_and_not_far() {
        let (mesh, rest) = sheet(8);
        for stretch in [Stretch::Springs, Stretch::Membrane] {
            for (amount, strain, tightest) in
                [(0.0, 1.0, 0.75), (0.02, 1.05, 0.5), (0.05, 0.9, 0.3)]
            {
                let fabric = Fabric {
                    stretch: [1000.0, 700.0],
                    coupling: 100.0,
                    ..Fabric::default()
                };
                let mut model = cloth(&mesh, &rest, fabric);
                model.stretch = stretch;
                model.pinned = vec![0, 8];
                let dynamics = Dynamics::new(&mesh, &[model], &Settings::default());
                let x: Vec<DVec3> = shaken(&rest, amount, 31)
                    .iter()
                    .map(|&x| strain * x)
                    .collect();
                let bound = 2.0 / dynamics.system().stable_loop(&x).0;
                let share = highest(&dynamics, &x).sqrt() / bound;
                println!("{stretch:?}, shaken by {amount}: ω is {share:.3} of its bound");
                assert!(
                    share <= 1.0 && share > tightest,
                    "{stretch:?}, {amount}: {share}"
                );
            }
        }
    }
}
