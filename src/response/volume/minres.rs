//! Symmetric systems, singular ones included, by the method MINRES of Paige and Saunders \[PS75\].
//!
//! Of all vectors that `k` products with the matrix can reach, the k-th iterate has the least
//! residual; so residuals never grow. A right side outside the range of a singular matrix leaves
//! one that no iterate can remove: then the least possible is reached, and `A r` goes to zero.

/// A symmetric matrix that can be multiplied with.
pub trait Symmetric {
    /// `to = A x`.
    fn times(&self, x: &[f64], to: &mut [f64]);
    /// `a · b`, by a partition that depends on the length alone.
    fn dot(&self, a: &[f64], b: &[f64]) -> f64;
}

/// When a solve ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Until {
    /// Residual as a share of the right side, or `|A r|` as a share of `|A| |r|`: what is left is then of
    /// directions that the matrix hardly knows.
    pub tolerance: f64,
    /// Products with the matrix.
    pub max_iterations: u32,
}

/// How a solve ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Solved {
    /// The solution.
    pub x: Vec<f64>,
    /// Residual after each iteration, as a share of the right side.
    pub residuals: Vec<f64>,
    /// Whether it ended by its own rule.
    pub converged: bool,
}

impl Solved {
    /// Products with the matrix.
    pub fn iterations(&self) -> u32 {
        self.residuals.len() as u32
    }

    /// Residual as a share of the right side.
    pub fn residual(&self) -> f64 {
        self.residuals.last().copied().unwrap_or(0.0)
    }
}

/// Solves `A x = b`.
pub fn solve(matrix: &impl Symmetric, b: &[f64], until: &Until) -> Solved {
    let n = b.len();
    let length = |a: &[f64]| matrix.dot(a, a).sqrt();
    let size = length(b);
    let mut solved = Solved {
        x: vec![0.0; n],
        residuals: Vec::new(),
        converged: true,
    };
    if size == 0.0 {
        return solved;
    }
    // Lanczos vectors before they are scaled; the names are those of the published code
    let (mut r1, mut r2, mut y) = (b.to_vec(), b.to_vec(), b.to_vec());
    let mut v = vec![0.0; n];
    let (mut w, mut w1, mut w2) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
    let (mut beta, mut old_beta) = (size, 0.0);
    let (mut dbar, mut epsln, mut phibar) = (0.0f64, 0.0, size);
    let (mut cs, mut sn) = (-1.0, 0.0);
    let mut norm_squared = 0.0; // of the tridiagonal matrix: an estimate of |A|² from below
    for iteration in 1..=until.max_iterations {
        for (v, y) in v.iter_mut().zip(&y) {
            *v = y / beta;
        }
        matrix.times(&v, &mut y);
        if iteration > 1 {
            add(&mut y, -beta / old_beta, &r1);
        }
        let alpha = matrix.dot(&v, &y);
        add(&mut y, -alpha / beta, &r2);
        std::mem::swap(&mut r1, &mut r2);
        r2.copy_from_slice(&y);
        old_beta = beta;
        beta = length(&y);
        norm_squared +=
            alpha * alpha + old_beta * old_beta * f64::from(iteration > 1) + beta * beta;

        // the last plane rotation, then the next
        let old_epsln = epsln;
        let delta = cs * dbar + sn * alpha;
        let gbar = sn * dbar - cs * alpha;
        epsln = sn * beta;
        dbar = -cs * beta;
        // |A r| of the iterate so far is phibar times this: nothing more can be removed of what is left
        if (gbar * gbar + dbar * dbar).sqrt() <= until.tolerance * norm_squared.sqrt() {
            return solved;
        }
        let gamma = (gbar * gbar + beta * beta).sqrt();
        (cs, sn) = (gbar / gamma, beta / gamma);
        let phi = cs * phibar;
        phibar *= sn;

        std::mem::swap(&mut w1, &mut w2);
        std::mem::swap(&mut w2, &mut w);
        for i in 0..n {
            w[i] = (v[i] - old_epsln * w1[i] - delta * w2[i]) / gamma;
            solved.x[i] += phi * w[i];
        }
        solved.residuals.push(phibar / size);
        if phibar <= until.tolerance * size || beta == 0.0 {
            return solved;
        }
    }
    solved.converged = false;
    solved
}

fn add(a: &mut [f64], factor: f64, b: &[f64]) {
    for (a, b) in a.iter_mut().zip(b) {
        *a += factor * b;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Bᵀ B.
    struct Dense {
        rows: Vec<Vec<f64>>,
    }

    impl Symmetric for Dense {
        fn times(&self, x: &[f64], to: &mut [f64]) {
            to.fill(0.0);
            for row in &self.rows {
                add(to, self.dot(row, x), row);
            }
        }

        fn dot(&self, a: &[f64], b: &[f64]) -> f64 {
            a.iter().zip(b).map(|(a, b)| a * b).sum()
        }
    }

    fn random(rows: usize, columns: usize, seed: u64) -> Dense {
        let mut random = Random(seed);
        let mut row = || (0..columns).map(|_| random.signed()).collect();
        Dense {
            rows: (0..rows).map(|_| row()).collect(),
        }
    }

    const TIGHT: Until = Until {
        tolerance: 1e-12,
        max_iterations: 500,
    };

    fn apply(matrix: &Dense, x: &[f64]) -> Vec<f64> {
        let mut to = vec![0.0; x.len()];
        matrix.times(x, &mut to);
        to
    }

    #[test]
    fn regular_and_singular_systems_are_solved_and_residuals_never_grow() {
        for (rows, columns) in [(60, 40), (40, 40), (12, 40)] {
            let matrix = random(rows, columns, 7);
            let wanted: Vec<f64> = (0..columns).map(|i| (i as f64).sqrt() - 3.0).collect();
            let b = apply(&matrix, &wanted);
            let solved = solve(&matrix, &b, &TIGHT);
            let mut left = b.clone();
            add(&mut left, -1.0, &apply(&matrix, &solved.x));
            let residual = (matrix.dot(&left, &left) / matrix.dot(&b, &b)).sqrt();
            println!(
                "{rows} x {columns}: {} iterations, {residual:.1e}",
                solved.iterations()
            );
            assert!(solved.converged && residual < 1e-9, "{residual}");
            assert!((residual - solved.residual()).abs() < 1e-9);
            assert!(solved.residuals.is_sorted_by(|a, b| a >= b));
            if rows < columns {
                assert!(
                    solved.iterations() <= rows as u32 + 3,
                    "as many as the rank, but for rounding"
                );
            }
        }
    }

    #[test]
    fn what_is_out_of_range_is_left_and_nothing_else() {
        let matrix = random(12, 40, 3);
        let b: Vec<f64> = (0..40).map(|i| f64::from(i % 7) - 2.0).collect();
        let solved = solve(&matrix, &b, &TIGHT);
        let mut left = b.clone();
        add(&mut left, -1.0, &apply(&matrix, &solved.x));
        let across = apply(&matrix, &left);
        let [left, across] = [&left, &across].map(|a| matrix.dot(a, a).sqrt());
        assert!(solved.converged && left > 1.0, "{left}");
        assert!(across < 1e-8 * left, "{across}");
        assert!(
            solved.x.iter().all(|x| x.abs() < 1e3),
            "and no runaway in the null space"
        );
        assert_eq!(solve(&matrix, &[0.0; 40], &TIGHT).iterations(), 0);
    }
}
