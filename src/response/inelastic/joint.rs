//! A first guess: both impulses of one contact after the other.
//!
//! ```text
//! λ ← max(0, λ − gap)        β ← the nearest point to β − slide with |β| ≤ μ λ
//! ```
//!
//! In scaled coordinates the block of a contact is the identity, so that each step is exact for its
//! contact: block Gauss-Seidel on Signorini's condition and Coulomb's disc. Where cloth lies on
//! something that does not give way, this is the solution after a few sweeps; what lies on many layers
//! is left to solvers that see all of them at once. Not for the inelastic stage, which solves its small
//! zones exactly.

use glam::DVec3;

use super::rows::Rows;
use super::zone::Zone;

/// Sweeps at most.
const MAX_SWEEPS: u32 = 400;

/// Sweeps over contacts that push, for one over all of them.
const PUSHING: u32 = 4;

/// Sweeps end when one over all contacts moves none of them by more than this share of its tolerance.
const SHARE: f64 = 0.25;

/// Sweeps after which it is asked whether there is hope: at the rate of the last of them the end must be within [`MAX_SWEEPS`].
const PATIENCE: u32 = 16;

/// Improves scaled impulses and frictions; returns how many sweeps it took, and whether they have come to their end. `tolerance` is that
/// of each slack.
pub(super) fn sweep(
    zone: &Zone,
    rows: &Rows,
    tolerance: &[f64],
    lambda: &mut [f64],
    friction: &mut [DVec3],
) -> (u32, bool) {
    let mut z = rows.zeros();
    rows.add_normal(&mut z, lambda);
    rows.add_all(&mut z, friction);
    let mut pushing: Vec<usize> = Vec::new();
    let mut looks_at_all = true;
    let mut before = f64::INFINITY;
    for sweep in 1..=MAX_SWEEPS {
        let mut largest = 0.0f64; // change, in tolerances
        let mut turn = |i: usize| {
            let row = &rows.rows[i];
            let motion = row.relative(&z);
            let along = motion.dot(row.normal);
            let next = (lambda[i] - rows.slack[i] - along).max(0.0);
            if next == 0.0 && lambda[i] == 0.0 {
                return;
            }
            let slide = (rows.slide[i] + motion).reject_from_normalized(row.normal);
            let radius = zone.contacts[i].friction * next;
            let rubbed = (friction[i] - slide).clamp_length_max(radius);
            let change = (next - lambda[i]) * row.normal + (rubbed - friction[i]);
            row.add(&mut z, change);
            (lambda[i], friction[i]) = (next, rubbed);
            largest = largest.max(change.length() / tolerance[i]);
        };
        if looks_at_all {
            (0..rows.len()).for_each(&mut turn);
            if largest <= SHARE {
                return (sweep, true);
            }
            pushing.clear();
            let each = lambda.iter().enumerate();
            pushing.extend(each.filter(|(_, l)| **l > 0.0).map(|(i, _)| i));
        } else {
            pushing.iter().copied().for_each(&mut turn);
        }
        looks_at_all = largest <= SHARE || sweep % PUSHING == 0;
        if sweep % PATIENCE == 0 {
            let (rate, left) = (largest / before, MAX_SWEEPS - sweep);
            let hoped = largest * rate.powi((left / PATIENCE) as i32);
            if before.is_finite() && hoped > SHARE {
                return (sweep, false);
            }
            before = largest;
        }
    }
    (MAX_SWEEPS, false)
}
