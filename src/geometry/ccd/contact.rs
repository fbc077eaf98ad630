//! Where and along which direction two features meet: weights and normal for the response.
//!
//! Nothing here is part of a proof, but everything is finite, of unit length and consistently oriented.

use glam::DVec3;

use super::Contact;
use super::closest::{closest_on_edges, closest_on_triangle, closest_to_origin};
use super::gap::Gap;

/// Weights are multiples of this, so that those of a feature add up to exactly 1 in any order.
const WEIGHT_UNIT: f64 = 1.0 / (1u64 << 50) as f64;

/// A direction is trusted if its cosine with the way that the contact points have come is at least this: rounding
/// errors tilt directions far less, and a response along a direction at a right angle to the approach does nothing.
const LEAST_COSINE: f64 = 1.0e-6;

/// Distances below this fraction of the features' extent give no direction: their rounding error, about 10 ε of the
/// extent, would tilt it by more than 1e-6.
const LEAST_DISTANCE: f64 = 1.0e-9;

/// The kinds of pairs, as far as contact data differ.
pub(super) trait Weights {
    /// Signed weights of the closest points of the features (see [`crate::geometry::Impact`]) from the corners.
    fn weights(&self) -> [f64; 4];
}

impl Weights for [DVec3; 3] {
    fn weights(&self) -> [f64; 4] {
        let [_, b, c] = closest_on_triangle(*self).map(rounded);
        let (b, c) = (b, c.min(1.0 - b));
        [1.0, -(1.0 - b - c), -b, -c]
    }
}

impl Weights for [DVec3; 4] {
    fn weights(&self) -> [f64; 4] {
        let (s, u) = closest_on_edges(self[0], self[3] - self[0], self[0] - self[1]);
        let (s, u) = (rounded(s), rounded(u));
        [1.0 - s, s, -(1.0 - u), -u]
    }
}

fn rounded(weight: f64) -> f64 {
    (weight / WEIGHT_UNIT).round() * WEIGHT_UNIT
}

/// The contact at `time`, at which the features touch or nearly do.
pub(super) fn contact_at<const N: usize>(gap: &Gap<N>, time: f64) -> Contact
where
    [DVec3; N]: Weights,
{
    let now = gap.during(time, time);
    let weights = now.start.weights();
    let apart = apart_at_start(gap, weights);
    let normal = normal(gap, time, apart);
    Contact {
        time,
        weights,
        normal,
    }
}

/// Σ wᵢ xᵢ(0): the way that the contact points have to each other.
fn apart_at_start<const N: usize>(gap: &Gap<N>, w: [f64; 4]) -> DVec3 {
    let d = &gap.start;
    if N == 4 {
        // (1−s) a₀ + s a₁ − (1−u) b₀ − u b₁
        w[0] * (-w[2] * d[0] - w[3] * d[1]) + w[1] * (-w[2] * d[3] - w[3] * d[2])
    } else {
        -w[1] * d[0] - w[2] * d[1] - w[3] * d[2]
    }
}

/// The normal of the polygon at the impact if the contact points came along it; else the direction of the closest points
/// before the impact; else the way the contact points came.
fn normal<const N: usize>(gap: &Gap<N>, time: f64, apart: DVec3) -> DVec3 {
    let way = apart.length();
    let oriented = |n: DVec3| if n.dot(apart) < 0.0 { -n } else { n };
    let trusted = |n: &DVec3| n.dot(apart).abs() >= LEAST_COSINE * way && way > 0.0;
    let extent = gap.scale.max_element();

    // Closest points: at the impact they coincide, so look shortly before, then earlier and earlier.
    let separation = (0..=4).find_map(|k| {
        let earlier = time * (1.0 - [2e-7, 2e-5, 2e-3, 0.1, 1.0][k]);
        let d = closest_to_origin(&gap.during(earlier, earlier).start);
        (d.length() > LEAST_DISTANCE * extent).then(|| d.normalize())
    });
    let now = gap.during(time, time).start;
    let geometric = (now[1] - now[0]).cross(now[2] - now[1]).try_normalize();

    [separation, geometric, apart.try_normalize()]
        .into_iter()
        .flatten()
        .find(trusted)
        .or(separation)
        .or(geometric)
        .map_or(DVec3::Y, oriented)
}
