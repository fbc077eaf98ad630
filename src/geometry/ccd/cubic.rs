//! The papers' test: times of coplanarity from the cubic, then proximity at those times.
//!
//! Source: Bridson, course notes on cloth collisions, "Solving the Cubic" (after Provot 1997):
//! solve the derivative for critical points, look for roots in the sub-intervals between them, by
//! the secant method where the sign changes, and count the cubic as zero where it is close enough
//! at their ends; then "check proximity (some tolerance) at possible collision times".
//!
//! We differ: the cubic is evaluated from the positions at a time, not from power coefficients, and
//! the secant is kept inside its bracket (Illinois rule), so that it cannot run away. Tolerances
//! are fractions of the pair's extent, the largest coordinate difference of the two features during
//! the motion.
//!
//! What is guaranteed: nothing. Motions that stay coplanar make the cubic vanish identically, and
//! roots closer to each other than the tolerance are lost. The caller therefore certifies: it
//! answers `Never` only if the certified search excludes a meeting, and `Uncertain` where this test
//! finds nothing but the search cannot exclude one.

use super::closest::closest_to_origin;
use super::gap::Gap;

/// The cubic counts as zero below this fraction of the cube of the extent.
const CLOSE_TO_COPLANAR: f64 = 1.0e-9;

/// Features count as touching below this fraction of the extent.
const CLOSE_TO_TOUCHING: f64 = 1.0e-6;

/// Steps of the secant method; the Illinois rule converges with order 1.44, from 1 to 1e-16 in
/// about 12.
const MAX_SECANT_STEPS: u32 = 40;

/// The first time at which the papers' test sees the features touch.
pub(super) fn first_time<const N: usize>(gap: &Gap<N>) -> Option<f64> {
    let extent = gap.scale.max_element();
    let tolerance = CLOSE_TO_COPLANAR * extent * extent * extent;
    let volume = |t: f64| gap.during(t, t).coplanarity()[0];
    let touches = |t: &f64| {
        let distance = closest_to_origin(&gap.during(*t, *t).start).length();
        distance <= CLOSE_TO_TOUCHING * extent
    };

    let mut ends = vec![0.0];
    ends.extend(critical_times(gap.coplanarity()));
    ends.push(1.0);
    let volumes: Vec<f64> = ends.iter().map(|&t| volume(t)).collect();
    let mut times = Vec::new();
    for (i, (&t, &v)) in ends.iter().zip(&volumes).enumerate() {
        if v.abs() <= tolerance {
            times.push(t);
        }
        if let (Some(&next_t), Some(&next_v)) = (ends.get(i + 1), volumes.get(i + 1))
            && v * next_v < 0.0
        {
            times.push(secant(volume, (t, v), (next_t, next_v)));
        }
    }
    times.into_iter().find(touches)
}

/// The zeros in (0, 1), ascending, of the derivative of a cubic given by Bernstein coefficients.
///
/// The derivative is the quadratic with Bernstein coefficients 3(v₁−v₀), 3(v₂−v₁), 3(v₃−v₂).
fn critical_times(v: [f64; 4]) -> Vec<f64> {
    let (p, q, r) = (v[1] - v[0], v[2] - v[1], v[3] - v[2]);
    let (a, half_b, c) = (p - 2.0 * q + r, q - p, p); // a t² + 2 half_b t + c
    let root = (half_b * half_b - a * c).sqrt();
    // Without cancellation; a root that does not exist is not a number and fails the range check.
    let sum = -(half_b + root.copysign(half_b));
    let mut times = [sum / a, c / sum];
    times.sort_by(f64::total_cmp);
    times.into_iter().filter(|t| *t > 0.0 && *t < 1.0).collect()
}

/// A zero of `volume` between two times at which it has opposite signs.
fn secant(volume: impl Fn(f64) -> f64, mut left: (f64, f64), mut right: (f64, f64)) -> f64 {
    for _ in 0..MAX_SECANT_STEPS {
        let t = right.0 - right.1 * (right.0 - left.0) / (right.1 - left.1);
        if !(t > left.0 && t < right.0) {
            break;
        }
        let v = volume(t);
        if v == 0.0 {
            return t;
        }
        if v * right.1 < 0.0 {
            left = (t, v);
            right.1 *= 0.5;
        } else {
            right = (t, v);
            left.1 *= 0.5;
        }
    }
    left.0
}
