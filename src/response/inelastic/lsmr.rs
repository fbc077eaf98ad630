//! Least squares of least length, by the method LSMR of Fong and Saunders \[FS11\].
//!
//! Finds z of least length among those that minimise |B z − r|, for any B: singular, inconsistent,
//! wide or tall. It needs products with B and Bᵀ only.

use glam::DVec3;

/// A linear map from motions of vertices to rows of three numbers, and back.
pub(super) trait Map {
    /// B z.
    fn times(&self, z: &[DVec3]) -> Vec<DVec3>;
    /// Bᵀ u.
    fn transposed(&self, u: &[DVec3]) -> Vec<DVec3>;
}

/// How far it went.
pub(super) struct Solved {
    /// The motion.
    pub(super) z: Vec<DVec3>,
    /// Iterations.
    pub(super) iterations: u32,
    /// Whether it ended by its own rule.
    pub(super) converged: bool,
}

/// Ends where |Bᵀ r| or |r| is below this share of what it may be at most: rounding in some hundred
/// products.
const TOLERANCE: f64 = 1e-13;

/// Iterations for each row: in exact arithmetic one is enough, and rounding in nearly singular maps
/// costs a few more.
const PER_ROW: u32 = 4;

/// Minimises |B z − r|.
pub(super) fn solve(map: &impl Map, right: Vec<DVec3>, max_iterations: u32) -> Solved {
    let max_iterations = max_iterations.min(100 + PER_ROW * right.len() as u32);
    let mut u = right;
    let mut beta = normalize(&mut u);
    let mut v = map.transposed(&u);
    let mut alpha = normalize(&mut v);
    let mut z = vec![DVec3::ZERO; v.len()];
    let solved = |z: Vec<DVec3>, iterations, converged| Solved {
        z,
        iterations,
        converged,
    };
    if alpha * beta == 0.0 {
        return solved(z, 0, true);
    }
    let first = alpha * beta;
    let mut zeta_bar = first;
    let mut alpha_bar = alpha;
    let (mut rho, mut rho_bar, mut c_bar, mut s_bar) = (1.0f64, 1.0f64, 1.0f64, 0.0f64);
    let mut h = v.clone();
    let mut h_bar = vec![DVec3::ZERO; v.len()];
    for iteration in 1..=max_iterations {
        // continue the bidiagonalization: β u = B v − α u, α v = Bᵀ u − β v
        let mut next = map.times(&v);
        combine(&mut next, -alpha, &u);
        beta = normalize(&mut next);
        u = next;
        let mut next = map.transposed(&u);
        combine(&mut next, -beta, &v);
        alpha = normalize(&mut next);
        v = next;

        let rho_old = rho;
        rho = (alpha_bar * alpha_bar + beta * beta).sqrt();
        let (c, s) = (alpha_bar / rho, beta / rho);
        let theta = s * alpha;
        alpha_bar = c * alpha;

        let rho_bar_old = rho_bar;
        let theta_bar = s_bar * rho;
        let along = c_bar * rho;
        rho_bar = (along * along + theta * theta).sqrt();
        c_bar = along / rho_bar;
        s_bar = theta / rho_bar;
        let zeta = c_bar * zeta_bar;
        zeta_bar *= -s_bar;

        let factor = -theta_bar * rho / (rho_old * rho_bar_old);
        for (h_bar, h) in h_bar.iter_mut().zip(&h) {
            *h_bar = h + factor * *h_bar;
        }
        combine(&mut z, zeta / (rho * rho_bar), &h_bar);
        for (h, v) in h.iter_mut().zip(&v) {
            *h = v - theta / rho * *h;
        }
        if zeta_bar.abs() <= TOLERANCE * first || alpha == 0.0 || beta == 0.0 {
            return solved(z, iteration, true);
        }
    }
    solved(z, max_iterations, false)
}

fn combine(a: &mut [DVec3], factor: f64, b: &[DVec3]) {
    for (a, b) in a.iter_mut().zip(b) {
        *a += factor * b;
    }
}

/// Makes it a unit vector, unless it is zero; returns its length.
fn normalize(a: &mut [DVec3]) -> f64 {
    let length = a.iter().map(|a| a.length_squared()).sum::<f64>().sqrt();
    if length > 0.0 {
        for a in a {
            *a /= length;
        }
    }
    length
}
