//! Large zones: conjugate gradients on the impulses that push, projection where one would pull.
//!
//! ```text
//! min ½ λᵀ A λ + sᵀ λ   subject to   λ ≥ 0      A = ∇̃C ∇̃Cᵀ      g = A λ + s: the slack that is left
//! ```
//!
//! Source: Dostál and Schöberl \[DS05\], modified proportioning with reduced gradient projections. While the impulses that
//! are zero should stay so (in proportion), it takes conjugate-gradient steps on the others; a step that would pull
//! is cut there and followed by a projected gradient step; else the zero impulses of violated contacts are let
//! go along their own gradients. Started from zero, steps stay in the range of A where nothing is cut, so that a singular
//! A (duplicated, parallel contacts) is no obstacle. A is never formed: one product costs two passes over the contacts.

use glam::DVec3;

use super::rows::Rows;
use super::zone::Unsolved;

/// Scaled impulses and how many iterations they took.
///
/// Stops where no slack is below −`tolerance` of its contact and none above it where the impulse is not zero.
pub(super) fn solve(
    rows: &Rows,
    slack: &[f64],
    tolerance: &[f64],
    warm: Vec<f64>,
    max_iterations: u32,
) -> Result<(Vec<f64>, u32), Unsolved> {
    let bound = rows.norm_bound();
    // any length up to 2/|A| converges; the bound is above |A|, so this is within it
    let step = 1.9 / bound;
    let mut product = Product::default();
    let mut lambda = warm;
    let mut gradient = product.of(rows, &lambda);
    add(&mut gradient, 1.0, slack);
    let mut direction = free_part(&lambda, &gradient);
    for iteration in 0..max_iterations {
        if is_solved(&lambda, &gradient, tolerance) {
            // the gradient has been updated step by step: judged afresh
            gradient = product.of(rows, &lambda);
            add(&mut gradient, 1.0, slack);
            if is_solved(&lambda, &gradient, tolerance) {
                return Ok((lambda, iteration));
            }
            direction = free_part(&lambda, &gradient);
        }
        let chopped: f64 = violated(&lambda, &gradient).map(|(_, g)| g * g).sum();
        let reduced: f64 = lambda
            .iter()
            .zip(&gradient)
            .filter(|(l, _)| **l > 0.0)
            .map(|(l, g)| g * g.min(l / step))
            .sum();
        if chopped <= reduced {
            let image = product.of(rows, &direction);
            let curvature = dot(&direction, &image);
            let full = if curvature > 0.0 {
                dot(&gradient, &direction) / curvature
            } else {
                f64::INFINITY
            };
            let feasible = lambda
                .iter()
                .zip(&direction)
                .filter(|(_, p)| **p > 0.0)
                .map(|(l, p)| l / p)
                .fold(f64::INFINITY, f64::min);
            if full <= feasible && full.is_finite() {
                add(&mut lambda, -full, &direction);
                // an impulse that rounding made negative is none
                lambda.iter_mut().for_each(|l| *l = l.max(0.0));
                add(&mut gradient, -full, &image);
                let free = free_part(&lambda, &gradient);
                let conjugate = dot(&free, &image) / curvature;
                for (p, f) in direction.iter_mut().zip(free) {
                    *p = f - conjugate * *p;
                }
                continue;
            }
            if feasible.is_infinite() {
                // nothing pulls and nothing curves: the impulses grow for ever without moving anything
                let pushing = direction.iter().enumerate().filter(|(_, p)| **p != 0.0);
                return Err(Unsolved::Pinched(pushing.map(|(i, p)| (i, -p)).collect()));
            }
            add(&mut lambda, -feasible, &direction);
            add(&mut gradient, -feasible, &image);
            for (l, g) in lambda.iter_mut().zip(&gradient) {
                *l = if *l > 0.0 {
                    (*l - step * g).max(0.0)
                } else {
                    0.0
                };
            }
            gradient = product.of(rows, &lambda);
            add(&mut gradient, 1.0, slack);
        } else {
            let mut release = vec![0.0; lambda.len()];
            for (i, g) in violated(&lambda, &gradient) {
                release[i] = g;
            }
            let image = product.of(rows, &release);
            let curvature = dot(&release, &image);
            if curvature <= 0.0 {
                let pushing = release.iter().enumerate().filter(|(_, p)| **p != 0.0);
                return Err(Unsolved::Pinched(pushing.map(|(i, p)| (i, -p)).collect()));
            }
            let length = dot(&gradient, &release) / curvature;
            add(&mut lambda, -length, &release);
            add(&mut gradient, -length, &image);
        }
        direction = free_part(&lambda, &gradient);
    }
    Err(Unsolved::Iterations(max_iterations))
}

fn is_solved(lambda: &[f64], gradient: &[f64], tolerance: &[f64]) -> bool {
    let mut each = lambda.iter().zip(gradient).zip(tolerance);
    each.all(|((l, g), t)| *g >= -t && (*l == 0.0 || g <= t))
}

/// The gradient where impulses are not zero.
fn free_part(lambda: &[f64], gradient: &[f64]) -> Vec<f64> {
    let each = lambda.iter().zip(gradient);
    each.map(|(l, g)| if *l > 0.0 { *g } else { 0.0 }).collect()
}

/// Violated contacts without an impulse.
fn violated<'a>(lambda: &'a [f64], gradient: &'a [f64]) -> impl Iterator<Item = (usize, f64)> {
    let each = lambda.iter().zip(gradient).enumerate();
    each.filter(|(_, (l, g))| **l == 0.0 && **g < 0.0)
        .map(|(i, (_, g))| (i, *g))
}

/// `A λ` by way of the motion that λ makes.
#[derive(Default)]
struct Product {
    z: Vec<DVec3>,
}

impl Product {
    fn of(&mut self, rows: &Rows, lambda: &[f64]) -> Vec<f64> {
        self.z.clear();
        self.z.resize(rows.inverse_root.len(), DVec3::ZERO);
        rows.add_normal(&mut self.z, lambda);
        rows.times(&self.z)
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add(a: &mut [f64], factor: f64, b: &[f64]) {
    for (a, b) in a.iter_mut().zip(b) {
        *a += factor * b;
    }
}
