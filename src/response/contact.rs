//! One contact point: the impulse that keeps it open, and its friction.
//!
//! ```text
//! k = Σ wᵢ²/mᵢ        Jn = (target − gap)/k        xᵢ += wᵢ J n / mᵢ
//! ```
//!
//! Source: course notes, "Finding the Impulse"; \[BFA02\] for general masses and for the friction formula that the
//! notes leave out: the tangential relative motion shrinks by the factor `max(1 − μ Δₙ/|d_T|, 0)`, where Δₙ is the
//! change of the relative normal motion by this impulse. We differ: positions instead of velocities, as the
//! notes do (`v = x1 − x0`), and a target for the end gap instead of zero approach, so that one rule serves
//! impacts (do not come closer than the thickness, or than you are) and repulsions (open up a little).

use glam::DVec3;

use crate::geometry::ContactPoint;
use crate::state::{Candidate, Surfaces};
use crate::verify::Verified;

/// Pushes a contact point open until its end gap is `target` metres; returns whether anything moved.
///
/// Linear momentum is kept up to rounding. Kinetic energy of the mean motion does not grow if the point
/// approaches and `target` is at most its start gap.
pub(super) fn keep_open(candidate: &mut Candidate<'_>, point: &ContactPoint, target: f64) -> bool {
    let lack = target - point.gap(&candidate.x);
    let k = candidate.inverse_mass_of(point);
    if lack <= 0.0 || k == 0.0 {
        return false; // open enough already, or nothing here can move
    }
    candidate.push(point, point.normal * (lack / k));

    let displacement = candidate.relative_displacement(point);
    let slide = displacement - point.normal * displacement.dot(point.normal);
    let length = slide.length();
    let friction = (candidate.friction_of(point) * lack).min(length);
    if friction > 0.0 {
        candidate.push(point, slide * (-friction / (length * k)));
    }
    true
}

/// Passes over the contact points when velocities settle; what is left after them is stopped in the next interval.
const SETTLE_SWEEPS: usize = 20;

/// Stops what still approaches at contact points that had to be pushed, with friction.
///
/// Velocities at the end of an interval are the mean ones plus half of what the integrator accelerated. At a
/// contact point that half belongs to the contact as much as the first one did: a cloth at rest would keep falling
/// at g dt/2, and one that slides would gain only half of g (sin − μ cos) dt, were its mean velocity taken for its
/// end velocity \[SMT08\]. Inelastic and by Coulomb's law, like the impulses; momentum is kept.
pub fn settle(
    points: &[ContactPoint],
    inverse_mass: &[f64],
    surfaces: &Surfaces,
    state: &mut Verified,
) {
    let mesh = std::sync::Arc::clone(state.mesh());
    let v = state.velocities_mut();
    for _ in 0..SETTLE_SWEEPS {
        let mut still = true;
        for point in points {
            let velocity = point.relative(v);
            let approach = -velocity.dot(point.normal);
            let k = point.inverse_mass(inverse_mass);
            if approach <= 0.0 || k == 0.0 {
                continue;
            }
            still = false;
            let slide = velocity + approach * point.normal;
            let friction = surfaces.friction_of(&mesh, point) * approach;
            let stopped = slide.clamp_length_max(friction);
            push(
                v,
                point,
                inverse_mass,
                (approach * point.normal - stopped) / k,
            );
        }
        if still {
            break;
        }
    }
}

/// Adds the change of velocities of an impulse given in kg·m/s.
pub(super) fn push(v: &mut [DVec3], point: &ContactPoint, inverse_mass: &[f64], impulse: DVec3) {
    for (&i, w) in point.vertices.iter().zip(point.weights) {
        v[i as usize] += w * inverse_mass[i as usize] * impulse;
    }
}
