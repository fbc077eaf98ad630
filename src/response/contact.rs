//! One contact point: the impulse that keeps it open, and its friction.
//!
//! ```text
//! k = Σ wᵢ²/mᵢ        Jn = (target − gap)/k        xᵢ += wᵢ J n / mᵢ
//! ```
//!
//! Source: course notes, "Finding the Impulse"; [BFA02] for general masses and for the friction formula that the
//! notes leave out: the tangential relative motion shrinks by the factor `max(1 − μ Δₙ/|d_T|, 0)`, where Δₙ is the
//! change of the relative normal motion by this impulse. We differ: positions instead of velocities, as the
//! notes do (`v = x1 − x0`), and a target for the end gap instead of zero approach, so that one rule serves
//! impacts (do not come closer than the thickness, or than you are) and repulsions (open up a little).

use crate::geometry::ContactPoint;
use crate::state::Candidate;

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
