//! Small zones: the dual active-set method, with an orthonormal basis of the active gradients.
//!
//! ```text
//! min ½|z|²   subject to   ∇̃C z + s ≥ 0
//! ```
//!
//! Starts from z = 0 and takes up the most violated contact, one at a time; contacts whose impulse
//! would turn negative on the way are let go. Source: Goldfarb and Idnani \[GI83\]. The active
//! gradients are always independent: one that lies in the span of the active ones (duplicated,
//! parallel contacts) takes the place of one of them, or proves that there is no room at all. The
//! basis makes the solve rank-revealing and keeps the condition of ∇̃C, where factoring ∇̃C ∇̃Cᵀ
//! would square it.

use glam::DVec3;

use super::rows::Rows;
use super::zone::Unsolved;

/// Gradients whose part outside the span of the active ones is shorter than this count as inside.
///
/// Two passes of orthogonalisation leave a rest of rounding errors, some ε per active gradient. At
/// √ε as many digits of a direction are lost as are left: a contact further outside is solved on
/// its own, one further inside in place of another.
const DEPENDENT: f64 = 1.0 / (1u64 << 26) as f64;

/// Rounding error of a slack, in units of the largest slack and motion: at most 2⁶ active gradients
/// with 2⁴ roundings each.
const ROUNDING: f64 = 1024.0 * f64::EPSILON;

/// Active gradients as Q R: orthonormal columns and an upper triangle.
#[derive(Default)]
struct Basis {
    /// Numbers of the active contacts.
    active: Vec<usize>,
    columns: Vec<Vec<DVec3>>,
    /// By column, from the top to the diagonal.
    triangle: Vec<Vec<f64>>,
}

impl Basis {
    /// Splits a gradient into coordinates in the basis and the rest.
    fn split(&self, mut rest: Vec<DVec3>) -> (Vec<f64>, Vec<DVec3>) {
        let mut coordinates = vec![0.0; self.columns.len()];
        // twice is enough: the second pass removes what the first left by rounding
        for _ in 0..2 {
            for (coordinate, column) in coordinates.iter_mut().zip(&self.columns) {
                let part = dot(column, &rest);
                *coordinate += part;
                subtract(&mut rest, part, column);
            }
        }
        (coordinates, rest)
    }

    fn add(&mut self, contact: usize, mut coordinates: Vec<f64>, mut rest: Vec<DVec3>) {
        let length = dot(&rest, &rest).sqrt();
        for z in &mut rest {
            *z /= length;
        }
        coordinates.push(length);
        self.active.push(contact);
        self.triangle.push(coordinates);
        self.columns.push(rest);
    }

    /// Removes the active contact at a place; rotations make the rest triangular again.
    fn remove(&mut self, place: usize) {
        self.active.remove(place);
        self.triangle.remove(place);
        for column in place..self.triangle.len() {
            let (a, b) = (
                self.triangle[column][column],
                self.triangle[column][column + 1],
            );
            let length = (a * a + b * b).sqrt();
            let (c, s) = (a / length, b / length);
            for later in &mut self.triangle[column..] {
                let (a, b) = (later[column], later[column + 1]);
                (later[column], later[column + 1]) = (c * a + s * b, c * b - s * a);
            }
            self.triangle[column].truncate(column + 1);
            let (left, right) = self.columns.split_at_mut(column + 1);
            for (q, r) in left[column].iter_mut().zip(&mut right[0]) {
                (*q, *r) = (c * *q + s * *r, c * *r - s * *q);
            }
        }
        self.columns.pop();
    }

    /// Solves R r = y.
    fn back(&self, mut y: Vec<f64>) -> Vec<f64> {
        for i in (0..y.len()).rev() {
            y[i] /= self.triangle[i][i];
            let value = y[i];
            for (above, r) in y[..i].iter_mut().zip(&self.triangle[i]) {
                *above -= r * value;
            }
        }
        y
    }

    /// Solves Rᵀ y = b.
    fn forward(&self, b: &[f64]) -> Vec<f64> {
        let mut y = Vec::with_capacity(b.len());
        for (i, (b, column)) in b.iter().zip(&self.triangle).enumerate() {
            let sum: f64 = column.iter().zip(&y).map(|(r, y)| r * y).sum();
            y.push((b - sum) / column[i]);
        }
        y
    }
}

/// Scaled impulses λ ≥ 0 with ∇̃C ∇̃Cᵀ λ + `slack` ≥ 0, and how many steps it took.
///
/// In one piece: the outer loop, which lets contacts in, and the inner one, which lets them out,
/// share all that they know.
pub(super) fn solve(rows: &Rows, slack: &[f64]) -> Result<(Vec<f64>, u32), Unsolved> {
    let count = rows.len();
    let max_steps = 20 + 10 * count as u32;
    let mut basis = Basis::default();
    let mut lambda: Vec<f64> = Vec::new(); // of the active contacts
    let mut z = rows.zeros();
    let size = slack.iter().fold(0.0f64, |most, s| most.max(s.abs()));
    let mut steps = 0;
    let mut is_active = vec![false; count];
    loop {
        let now = |i: usize| slack[i] + rows.rows[i].dot(&z);
        let worst = (0..count)
            .filter(|&i| !is_active[i])
            .map(|i| (now(i), i))
            .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let Some((lack, entering)) = worst.filter(|(s, _)| *s < -ROUNDING * size) else {
            break;
        };
        let mut lack = -lack;
        let mut taken = 0.0;
        loop {
            steps += 1;
            if steps > max_steps {
                return Err(Unsolved::Iterations(steps));
            }
            let mut gradient = rows.zeros();
            rows.rows[entering].add(&mut gradient, rows.rows[entering].normal);
            let (coordinates, rest) = basis.split(gradient);
            let share = basis.back(coordinates.clone());
            let square = dot(&rest, &rest);
            let full = if square > DEPENDENT * DEPENDENT {
                lack / square
            } else {
                f64::INFINITY
            };
            let (partial, leaving) = lambda
                .iter()
                .zip(&share)
                .enumerate()
                .filter(|(_, (_, share))| **share > 0.0)
                .map(|(place, (lambda, share))| (lambda / share, place))
                .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))
                .unwrap_or((f64::INFINITY, 0));
            let step = full.min(partial);
            if step == f64::INFINITY {
                let mut farkas: Vec<(usize, f64)> = basis
                    .active
                    .iter()
                    .zip(&share)
                    .map(|(&i, s)| (i, -s))
                    .collect();
                farkas.push((entering, 1.0));
                return Err(Unsolved::Pinched(farkas));
            }
            for (lambda, share) in lambda.iter_mut().zip(&share) {
                *lambda = (*lambda - step * share).max(0.0);
            }
            taken += step;
            if full < f64::INFINITY {
                subtract(&mut z, -step, &rest);
                lack -= step * square;
            }
            if full <= partial {
                is_active[entering] = true;
                basis.add(entering, coordinates, rest);
                lambda.push(taken);
                break;
            }
            is_active[basis.active[leaving]] = false;
            basis.remove(leaving);
            lambda.remove(leaving);
        }
        // afresh from the basis, so that rounding does not pile up over the steps
        let wanted: Vec<f64> = basis.active.iter().map(|&i| -slack[i]).collect();
        let y = basis.forward(&wanted);
        z = rows.zeros();
        for (y, column) in y.iter().zip(&basis.columns) {
            subtract(&mut z, -y, column);
        }
        lambda = basis.back(y).into_iter().map(|l| l.max(0.0)).collect();
    }
    let mut all = vec![0.0; count];
    for (&i, lambda) in basis.active.iter().zip(&lambda) {
        all[i] = *lambda;
    }
    Ok((all, steps))
}

fn dot(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum()
}

fn subtract(a: &mut [DVec3], factor: f64, b: &[DVec3]) {
    for (a, b) in a.iter_mut().zip(b) {
        *a -= factor * b;
    }
}
