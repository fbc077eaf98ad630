//! Large zones: conjugate gradients on the impulses that push, projection where one would pull.
//!
//! ```text
//! min ½ λᵀ A λ + sᵀ λ   subject to   λ ≥ 0      A = ∇̃C ∇̃Cᵀ      g = A λ + s: the slack that is left
//! ```
//!
//! Source: Dostál and Schöberl \[DS05\], modified proportioning with reduced gradient projections.
//! While the impulses that are zero should stay so (in proportion), it takes conjugate-gradient
//! steps on the others; a step that would pull is cut there and followed by a projected gradient
//! step; else the zero impulses of violated contacts are let go along their own gradients. A is
//! never formed: products go by way of the motion z = ∇̃Cᵀ λ.
//!
//! We differ, all of it measured on recorded piles (docs/measurements.md):
//! - Conjugate gradients see the pushing contacts alone, a fifth of a pile; what the others lack is
//!   looked at every [`CHECK`] steps.
//! - They are preconditioned on these contacts ("in face" \[KH25\]) by a symmetric Gauss–Seidel
//!   sweep, which needs no A either \[BE79\]. A has a diagonal of ones, so that the sweep exists
//!   where A is singular (duplicated, parallel contacts).
//! - A step that would pull is first tried in full and projected, which stops many contacts at
//!   once, and cut only where that is worse. Either is followed by a sweep of exact steps on one
//!   impulse at a time.
//!
//! Each of these lowers what is minimised, so that the method still ends where \[DS05\] does; their
//! rate is not proved for it.

use glam::DVec3;

use super::rows::Rows;
use super::zone::Unsolved;

/// Steps on the pushing contacts after which all are looked at again. Measured on 206 recorded
/// piles: 4 to 20 differ by less than 10 %.
const CHECK: u32 = 8;

/// Scaled impulses and how many iterations they took.
///
/// Stops where no slack is below −`tolerance` of its contact and none above it where the impulse is
/// not zero.
pub(super) fn solve(
    rows: &Rows,
    slack: &[f64],
    tolerance: &[f64],
    warm: Vec<f64>,
    max_iterations: u32,
) -> Result<(Vec<f64>, u32), Unsolved> {
    // any length up to 2/|A| converges; the bound is above |A|, so this is within it
    let step = 1.9 / rows.norm_bound();
    let mut now = Iterate::new(rows, slack, warm);
    let mut age = 0; // of the gradient of contacts that do not push
    for iteration in 0..max_iterations {
        if age >= CHECK {
            now.measure_all();
            age = 0;
        }
        if age == 0 {
            if is_solved(&now.lambda, &now.gradient, tolerance) {
                // the motion has been updated step by step: judged afresh
                now.afresh();
                if is_solved(&now.lambda, &now.gradient, tolerance) {
                    return Ok((now.lambda, iteration));
                }
            }
            if now.chopped() > now.reduced(step) {
                now.release()?;
                continue;
            }
        }
        age += 1;
        let (full, feasible) = (now.full_length(), now.feasible_length());
        if full <= feasible && full.is_finite() {
            now.advance(full);
            if now.is_settled(tolerance) {
                age = CHECK;
            }
        } else if feasible.is_finite() {
            if !(full.is_finite() && now.project(full, feasible)) {
                now.cut(step, feasible);
            }
            now.relax();
            now.measure();
            now.restart();
        } else {
            // nothing pulls and nothing curves: the impulses grow for ever without moving anything
            return Err(now.pinched());
        }
    }
    Err(Unsolved::Iterations(max_iterations))
}

/// Impulses with the motion that they make, and a direction to go on along.
struct Iterate<'a> {
    rows: &'a Rows,
    slack: &'a [f64],
    lambda: Vec<f64>,
    /// ∇̃Cᵀ λ.
    z: Vec<DVec3>,
    /// Slack that is left; of all contacts after `measure_all`, of the pushing ones always.
    gradient: Vec<f64>,
    /// Contacts with an impulse, in order; the next three are by place in here.
    pushing: Vec<usize>,
    direction: Vec<f64>,
    /// A times the direction.
    image: Vec<f64>,
    preconditioned: Vec<f64>,
    /// ∇̃Cᵀ times the direction, and times the preconditioned gradient.
    motion: Vec<DVec3>,
    preconditioned_motion: Vec<DVec3>,
    /// Direction · A · direction.
    curvature: f64,
}

impl<'a> Iterate<'a> {
    fn new(rows: &'a Rows, slack: &'a [f64], warm: Vec<f64>) -> Self {
        let mut iterate = Self {
            rows,
            slack,
            z: rows.zeros(),
            gradient: vec![0.0; warm.len()],
            lambda: warm,
            pushing: Vec::new(),
            direction: Vec::new(),
            image: Vec::new(),
            preconditioned: Vec::new(),
            motion: rows.zeros(),
            preconditioned_motion: rows.zeros(),
            curvature: 0.0,
        };
        iterate.afresh();
        iterate
    }

    /// Everything from the impulses alone.
    fn afresh(&mut self) {
        self.z.fill(DVec3::ZERO);
        self.rows.add_normal(&mut self.z, &self.lambda);
        self.measure_all();
        self.restart();
    }

    fn measure_all(&mut self) {
        let each = self.gradient.iter_mut().zip(&self.rows.rows);
        for ((gradient, row), slack) in each.zip(self.slack) {
            *gradient = slack + row.dot(&self.z);
        }
    }

    fn measure(&mut self) {
        for &i in &self.pushing {
            self.gradient[i] = self.slack[i] + self.rows.rows[i].dot(&self.z);
        }
    }

    /// Starts along the preconditioned gradient of what pushes now.
    fn restart(&mut self) {
        self.pushing.clear();
        let each = self.lambda.iter().enumerate();
        self.pushing
            .extend(each.filter(|(_, l)| **l > 0.0).map(|(i, _)| i));
        self.precondition();
        self.direction.clone_from(&self.preconditioned);
        self.motion.clone_from(&self.preconditioned_motion);
        self.bend();
    }

    /// Solves (I + L)(I + Lᵀ) y = g for the pushing contacts, L being what is below the diagonal of
    /// their A.
    ///
    /// The products of a row of L with what was found so far go by way of the motion that it makes,
    /// and the motion that y makes comes with it \[BE79\].
    fn precondition(&mut self) {
        self.preconditioned.clear();
        let motion = &mut self.preconditioned_motion;
        motion.fill(DVec3::ZERO);
        for &i in &self.pushing {
            let row = &self.rows.rows[i];
            let value = self.gradient[i] - row.dot(motion);
            row.add(motion, value * row.normal);
            self.preconditioned.push(value);
        }
        motion.fill(DVec3::ZERO);
        for (&i, value) in self.pushing.iter().zip(&mut self.preconditioned).rev() {
            let row = &self.rows.rows[i];
            *value -= row.dot(motion);
            row.add(motion, *value * row.normal);
        }
    }

    /// Image and curvature of the direction, from its motion.
    fn bend(&mut self) {
        let rows = &self.rows.rows;
        self.image.clear();
        let each = self.pushing.iter().map(|&i| rows[i].dot(&self.motion));
        self.image.extend(each);
        self.curvature = self.motion.iter().map(|w| w.length_squared()).sum();
        // each gradient is of length 1 and adds at most 8 roundings to its share of the motion,
        // which is what the sums of as many contacts add, too: a motion below that is none
        let sum: f64 = self.direction.iter().map(|p| p.abs()).sum();
        let rounding = (8 + self.direction.len()) as f64 * f64::EPSILON * sum;
        if self.curvature <= rounding * rounding {
            self.curvature = 0.0;
        }
    }

    /// What violated contacts without an impulse lack, squared.
    fn chopped(&self) -> f64 {
        let violated = violated(&self.lambda, &self.gradient);
        violated.map(|(_, g)| g * g).sum()
    }

    /// Gradient times the part of it that a projected step leaves.
    fn reduced(&self, step: f64) -> f64 {
        let reduced = |&i: &usize| self.gradient[i] * self.gradient[i].min(self.lambda[i] / step);
        self.pushing.iter().map(reduced).sum()
    }

    /// Length of the step to the least value along the direction.
    fn full_length(&self) -> f64 {
        if self.curvature == 0.0 {
            return f64::INFINITY;
        }
        let each = self.pushing.iter().zip(&self.direction);
        let along: f64 = each.map(|(&i, p)| self.gradient[i] * p).sum();
        along / self.curvature
    }

    /// Length of the step to where the first impulse is zero.
    fn feasible_length(&self) -> f64 {
        let each = self.pushing.iter().zip(&self.direction);
        each.filter(|(_, p)| **p > 0.0)
            .map(|(&i, p)| self.lambda[i] / p)
            .fold(f64::INFINITY, f64::min)
    }

    fn take(&mut self, length: f64) {
        let each = self.pushing.iter().zip(&self.direction).zip(&self.image);
        for ((&i, p), image) in each {
            // an impulse that rounding made negative is none
            self.lambda[i] = (self.lambda[i] - length * p).max(0.0);
            self.gradient[i] -= length * image;
        }
        for (z, w) in self.z.iter_mut().zip(&self.motion) {
            *z -= length * w;
        }
    }

    /// A step of conjugate gradients.
    fn advance(&mut self, length: f64) {
        self.take(length);
        self.precondition();
        let each = self.preconditioned.iter().zip(&self.image);
        let conjugate = each.map(|(y, image)| y * image).sum::<f64>() / self.curvature;
        for (p, y) in self.direction.iter_mut().zip(&self.preconditioned) {
            *p = y - conjugate * *p;
        }
        for (w, y) in self.motion.iter_mut().zip(&self.preconditioned_motion) {
            *w = *y - conjugate * *w;
        }
        self.bend();
    }

    /// Whether the pushing contacts are where they should be.
    fn is_settled(&self, tolerance: &[f64]) -> bool {
        let mut each = self.pushing.iter();
        each.all(|&i| self.gradient[i].abs() <= tolerance[i])
    }

    /// The full step, projected; nothing happens where the step that ends with the first impulse
    /// leaves less.
    fn project(&mut self, full: f64, feasible: f64) -> bool {
        let change: Vec<f64> = self
            .pushing
            .iter()
            .zip(&self.direction)
            .map(|(&i, p)| (self.lambda[i] - full * p).max(0.0) - self.lambda[i])
            .collect();
        let mut z = self.rows.zeros();
        let mut linear = 0.0;
        for (&i, change) in self.pushing.iter().zip(&change) {
            let row = &self.rows.rows[i];
            row.add(&mut z, (self.lambda[i] + change) * row.normal);
            linear += self.gradient[i] * change;
        }
        let each = z.iter().zip(&self.z);
        let square: f64 = each.map(|(a, b)| (a - b).length_squared()).sum();
        let of_cut = (0.5 * feasible - full) * feasible * self.curvature;
        let is_better = linear + 0.5 * square < of_cut;
        if is_better {
            self.z = z;
            for (&i, change) in self.pushing.iter().zip(&change) {
                self.lambda[i] += change;
            }
        }
        is_better
    }

    /// The step to where the first impulse is zero, and a projected gradient step from there.
    fn cut(&mut self, step: f64, feasible: f64) {
        self.take(feasible);
        self.z.fill(DVec3::ZERO);
        for &i in &self.pushing {
            let row = &self.rows.rows[i];
            let lambda = &mut self.lambda[i];
            if *lambda > 0.0 {
                *lambda = (*lambda - step * self.gradient[i]).max(0.0);
                row.add(&mut self.z, *lambda * row.normal);
            }
        }
    }

    /// The best step for each impulse alone, there and back; those that have become zero stay so.
    fn relax(&mut self) {
        for &i in self.pushing.iter().chain(self.pushing.iter().rev()) {
            let lambda = self.lambda[i];
            if lambda > 0.0 {
                let row = &self.rows.rows[i];
                let next = (lambda - self.slack[i] - row.dot(&self.z)).max(0.0);
                row.add(&mut self.z, (next - lambda) * row.normal);
                self.lambda[i] = next;
            }
        }
    }

    /// Lets violated contacts go along their gradients.
    fn release(&mut self) -> Result<(), Unsolved> {
        self.pushing.clear();
        self.direction.clear();
        self.motion.fill(DVec3::ZERO);
        for (i, gradient) in violated(&self.lambda, &self.gradient) {
            let row = &self.rows.rows[i];
            row.add(&mut self.motion, gradient * row.normal);
            self.pushing.push(i);
            self.direction.push(gradient);
        }
        self.bend();
        if self.curvature == 0.0 {
            return Err(self.pinched());
        }
        self.take(self.full_length());
        self.measure_all();
        self.restart();
        Ok(())
    }

    /// The direction as a proof that there is no room.
    fn pinched(&self) -> Unsolved {
        let each = self.pushing.iter().zip(&self.direction);
        let pushing = each.filter(|(_, p)| **p != 0.0);
        Unsolved::Pinched(pushing.map(|(&i, p)| (i, -p)).collect())
    }
}

/// Whether scaled impulses are a solution already.
pub(super) fn is_solution(rows: &Rows, slack: &[f64], tolerance: &[f64], lambda: &[f64]) -> bool {
    let mut z = rows.zeros();
    rows.add_normal(&mut z, lambda);
    let each = slack.iter().zip(&rows.rows);
    let gradient: Vec<f64> = each.map(|(slack, row)| slack + row.dot(&z)).collect();
    is_solved(lambda, &gradient, tolerance)
}

fn is_solved(lambda: &[f64], gradient: &[f64], tolerance: &[f64]) -> bool {
    let mut each = lambda.iter().zip(gradient).zip(tolerance);
    each.all(|((l, g), t)| *g >= -t && (*l == 0.0 || g <= t))
}

/// Violated contacts without an impulse.
fn violated<'a>(lambda: &'a [f64], gradient: &'a [f64]) -> impl Iterator<Item = (usize, f64)> {
    let each = lambda.iter().zip(gradient).enumerate();
    each.filter(|(_, (l, g))| **l == 0.0 && **g < 0.0)
        .map(|(i, (_, g))| (i, *g))
}
