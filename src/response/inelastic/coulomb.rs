//! Our form: impulses push and never pull, and every contact has a friction cone of its own.
//!
//! ```text
//! normal     λ ≥ 0,  gap' ≥ target,  λ (gap' − target) = 0          the linear complementarity problem of [HVTG08] §2
//! friction   |β| ≤ μ λ, and among these the β that leave the least kinetic energy
//! ```
//!
//! Both are convex problems, solved in turn until the impulses no longer change ("staggered
//! projections" \[KSJP08\]); the normal one comes last, so that friction creates no approach inside
//! the zone. What a contact loses to friction is bounded by its own impulse: no norm of the zone
//! leaks from one contact to the next.
//!
//! Guaranteed where no scripted vertex moves: a solution exists (nothing moves at all is one that
//! is allowed), and kinetic energy does not grow, since the motion is projected on a convex set
//! that holds zero motion.

use glam::DVec3;

use super::rows::Rows;
use super::zone::{Solution, Unsolved, Zone};
use super::{Precision, active_set, bounded, joint};

/// Times that friction and normal impulses are solved in turn; what is left then is a cone that is
/// off by the last change.
const MAX_PASSES: u32 = 8;

/// They end when no impulse changes by more than this share of the largest.
const PASS_CHANGE: f64 = 1e-3;

/// Passes over the friction impulses; each lowers the energy, so that any number is a valid
/// friction.
const MAX_SWEEPS: u32 = 60;

/// They end when no friction changes by more than this share of the largest cone.
const SWEEP_CHANGE: f64 = 1e-4;

/// Solves a zone. `rubbed` is a first guess of the friction, in kg·m; with it, [`joint`] looks for the
/// solution first.
pub(in crate::response) fn solve(
    zone: &Zone,
    rubbed: Option<&[DVec3]>,
    precision: &Precision,
) -> Result<Solution, Unsolved> {
    let rows = Rows::of(zone);
    let count = rows.len();
    let normal = Normal {
        tolerance: zone
            .contacts
            .iter()
            .zip(&rows.root_k)
            .map(|(contact, root_k)| precision.tolerance * contact.scale / root_k)
            .collect(),
        rows: &rows,
        precision,
    };
    let warm = zone.contacts.iter().zip(&rows.root_k);
    let mut warm: Vec<f64> = warm
        .map(|(contact, root_k)| contact.warm * root_k)
        .collect();
    let mut friction = vec![DVec3::ZERO; count];
    let (mut iterations, mut is_settled) = (0, false);
    let mut slack = rows.slack.clone();
    if let Some(rubbed) = rubbed {
        let guesses = rubbed.iter().zip(&rows.root_k);
        let radii = zone.contacts.iter().zip(&warm);
        let radii = radii.map(|(contact, warm)| contact.friction * warm);
        for ((friction, (rubbed, root_k)), radius) in friction.iter_mut().zip(guesses).zip(radii) {
            *friction = (root_k * rubbed).clamp_length_max(radius);
        }
        let tolerance = &normal.tolerance;
        (iterations, is_settled) = joint::sweep(zone, &rows, tolerance, &mut warm, &mut friction);
        slack = with_friction(&rows, &friction);
        is_settled &= bounded::is_solution(&rows, &slack, tolerance, &warm);
    }
    let (mut lambda, more) = match is_settled {
        true => (warm, 0),
        false => normal.solve(&slack, warm)?,
    };
    iterations += more;
    let without = rubbed.is_none().then(|| lambda.clone());

    let slides = zone
        .contacts
        .iter()
        .zip(&lambda)
        .any(|(contact, lambda)| contact.friction * lambda > 0.0);
    let passes = if slides && !is_settled { MAX_PASSES } else { 0 };
    for _ in 0..passes {
        iterations += rub(zone, &rows, &lambda, &mut friction);
        let slack = with_friction(&rows, &friction);
        let (next, more) = normal.solve(&slack, lambda.clone())?;
        iterations += more;
        let change = next.iter().zip(&lambda).map(|(a, b)| (a - b).abs());
        let change = change.fold(0.0, f64::max);
        let largest = next.iter().copied().fold(0.0, f64::max);
        lambda = next;
        if change <= PASS_CHANGE * largest {
            break;
        }
    }

    let solution = |lambda: &[f64], friction: &[DVec3]| {
        let mut z = rows.zeros();
        rows.add_normal(&mut z, lambda);
        rows.add_all(&mut z, friction);
        Solution {
            x: rows.positions(zone, &z),
            impulses: scaled(lambda, &rows.root_k),
            friction: friction
                .iter()
                .zip(&rows.root_k)
                .map(|(b, k)| b / k)
                .collect(),
            iterations,
        }
    };
    let rough = solution(&lambda, &friction);
    // cut short, friction could feed a zone: the frictionless solution never does
    if slides && zone.energy(&rough.x) > zone.energy(&zone.wanted) {
        let without = match without {
            Some(without) => without,
            None => normal.solve(&rows.slack, lambda)?.0,
        };
        let smooth = solution(&without, &vec![DVec3::ZERO; count]);
        if zone.energy(&smooth.x) < zone.energy(&rough.x) {
            return Ok(smooth);
        }
    }
    Ok(rough)
}

/// The slacks of the wanted positions after friction has acted.
fn with_friction(rows: &Rows, friction: &[DVec3]) -> Vec<f64> {
    let mut z = rows.zeros();
    rows.add_all(&mut z, friction);
    let each = rows.slack.iter().zip(&rows.rows);
    each.map(|(slack, row)| slack + row.dot(&z)).collect()
}

fn scaled(lambda: &[f64], root_k: &[f64]) -> Vec<f64> {
    lambda.iter().zip(root_k).map(|(l, k)| l / k).collect()
}

/// The normal problem of a zone.
struct Normal<'a> {
    rows: &'a Rows,
    precision: &'a Precision,
    /// Of each slack.
    tolerance: Vec<f64>,
}

impl Normal<'_> {
    fn solve(&self, slack: &[f64], warm: Vec<f64>) -> Result<(Vec<f64>, u32), Unsolved> {
        let mut steps = 0;
        if self.rows.len() <= self.precision.dense_limit as usize {
            match active_set::solve(self.rows, slack) {
                Ok((lambda, steps)) if self.holds(slack, &lambda) => return Ok((lambda, steps)),
                Err(pinched @ Unsolved::Pinched(_)) => return Err(pinched),
                // nearly dependent gradients can make it run in circles: the other method does not
                // factor anything
                Ok((_, more)) | Err(Unsolved::Iterations(more)) => steps = more,
            }
        }
        let max_iterations = self.precision.max_iterations;
        let (lambda, more) =
            bounded::solve(self.rows, slack, &self.tolerance, warm, max_iterations)?;
        Ok((lambda, steps + more))
    }

    fn holds(&self, slack: &[f64], lambda: &[f64]) -> bool {
        let mut z = self.rows.zeros();
        self.rows.add_normal(&mut z, lambda);
        let left = self
            .rows
            .rows
            .iter()
            .zip(slack)
            .map(|(row, s)| s + row.dot(&z));
        left.zip(&self.tolerance).all(|(left, t)| left >= -t)
    }
}

/// Friction that leaves the least energy within the cones of given normal impulses; returns how
/// many sweeps it took.
///
/// Contact by contact: within its disc of radius μλ a contact stops as much of its slide as it can,
/// exactly, since the tangential block of a contact is its k times the identity.
fn rub(zone: &Zone, rows: &Rows, lambda: &[f64], friction: &mut [DVec3]) -> u32 {
    let radius: Vec<f64> = zone
        .contacts
        .iter()
        .zip(lambda)
        .map(|(contact, lambda)| contact.friction * lambda)
        .collect();
    let largest = radius.iter().copied().fold(0.0, f64::max);
    let mut z = rows.zeros();
    rows.add_normal(&mut z, lambda);
    rows.add_all(&mut z, friction);
    let rubs = |i: &usize| radius[*i] != 0.0 || friction[*i] != DVec3::ZERO;
    let rubbing: Vec<usize> = (0..rows.len()).filter(rubs).collect();
    for sweep in 1..=MAX_SWEEPS {
        let mut change = 0.0f64;
        for &i in &rubbing {
            let row = &rows.rows[i];
            let motion = rows.slide[i] + row.relative(&z);
            let slide = motion - row.normal * motion.dot(row.normal);
            let next = (friction[i] - slide).clamp_length_max(radius[i]);
            let difference = next - friction[i];
            row.add(&mut z, difference);
            change = change.max(difference.length());
            friction[i] = next;
        }
        if change <= SWEEP_CHANGE * largest {
            return sweep;
        }
    }
    MAX_SWEEPS
}
