//! Where and along which direction two features meet: weights and normal for the response.
//!
//! Nothing here is part of a proof, but everything is finite, of unit length and consistently
//! oriented.

use glam::DVec3;

use super::Encounter;
use super::closest::{closest_on_edges, closest_on_triangle, closest_to_origin};
use super::gap::Gap;

/// Weights are multiples of this, so that those of a feature add up to exactly 1 in any order.
const WEIGHT_UNIT: f64 = 1.0 / (1u64 << 50) as f64;

/// Contact points at least this fraction of a feature inside it meet along the polygon's normal.
const INSIDE: f64 = 1.0e-6;

/// Edges of the polygon with a smaller sine between them count as parallel: its normal, which
/// carries a relative error of about 10 ε over the sine, would be off by more than 1e-8.
const LEAST_SINE: f64 = 1.0e-7;

/// A direction is used if its cosine with the way that the contact points have come is at least
/// this: a response along a direction at a right angle to the approach does nothing. Fast sliding
/// makes small cosines, rounding smaller ones.
const LEAST_COSINE: f64 = 1.0e-6;

/// Distances below this fraction of the features' extent give no direction: their rounding error,
/// about 10 ε of the extent, would tilt it by more than 1e-6.
const LEAST_DISTANCE: f64 = 1.0e-9;

/// How much before the impact the closest points are looked at, as fractions of its time: as late
/// as the distance allows.
const EARLIER: [f64; 6] = [0.0, 1.0e-6, 1.0e-4, 1.0e-2, 0.1, 1.0];

/// The kinds of pairs, as far as contact data differ.
pub(super) trait Weights {
    /// Signed weights of the closest points of the features (see [`crate::geometry::Impact`]) from
    /// the corners.
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
pub(super) fn encounter_at<const N: usize>(gap: &Gap<N>, time: f64) -> Encounter
where
    [DVec3; N]: Weights,
{
    let corners = gap.during(time, time).start;
    let weights = corners.weights();
    let apart = apart_at_start(gap, weights);
    let usable =
        |n: &DVec3| n.dot(apart).abs() >= LEAST_COSINE * apart.length() && apart != DVec3::ZERO;

    let across = polygon_normal(&corners);
    let inside = weights.iter().all(|w| w.abs() >= INSIDE);
    let between = closest_direction(gap, time);
    let normal = [
        across.filter(|_| inside),
        between,
        across,
        apart.try_normalize(),
    ]
    .into_iter()
    .flatten()
    .find(usable)
    .or(between)
    .or(across)
    .unwrap_or(DVec3::Y);
    let normal = if normal.dot(apart) < 0.0 {
        -normal
    } else {
        normal
    };
    Encounter {
        time,
        weights,
        normal,
    }
}

/// The unit normal of the polygon, unless its edges are parallel.
fn polygon_normal<const N: usize>(corners: &[DVec3; N]) -> Option<DVec3> {
    let (e, f) = (corners[1] - corners[0], corners[2] - corners[1]);
    let normal = e.cross(f);
    let sine = normal.length() / (e.length() * f.length());
    if sine >= LEAST_SINE {
        normal.try_normalize()
    } else {
        None
    }
}

/// The direction between the closest points shortly before `time`: at the impact they coincide.
fn closest_direction<const N: usize>(gap: &Gap<N>, time: f64) -> Option<DVec3> {
    let extent = gap.scale.max_element();
    EARLIER.iter().find_map(|fraction| {
        let earlier = time * (1.0 - fraction);
        let between = closest_to_origin(&gap.during(earlier, earlier).start);
        if between.length() > LEAST_DISTANCE * extent {
            between.try_normalize()
        } else {
            None
        }
    })
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

#[cfg(test)]
mod tests {
    use super::super::{Answer, Question, edge_edge, vertex_face};
    use super::*;
    use crate::geometry::Sweep;

    fn contact(answer: Answer) -> Encounter {
        match answer {
            Answer::Hit(contact) | Answer::Uncertain(contact) => contact,
            Answer::Never => panic!("they meet"),
        }
    }

    const FACE: [DVec3; 3] = [
        DVec3::new(0.0, 0.0, 0.0),
        DVec3::new(1.0, 0.0, 0.0),
        DVec3::new(0.0, 1.0, 0.0),
    ];

    fn onto_face(from: DVec3, to: DVec3) -> Encounter {
        let [a, b, c] = FACE;
        contact(vertex_face(
            &Sweep {
                start: [from, a, b, c],
                end: [to, a, b, c],
            },
            Question::default(),
        ))
    }

    fn assert_near(found: &[f64], expected: &[f64]) {
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-5, "{found} is not {expected}");
        }
    }

    #[test]
    fn a_vertex_falling_on_a_face_meets_it_along_its_normal() {
        let contact = onto_face(DVec3::new(0.25, 0.5, 1.0), DVec3::new(0.25, 0.5, -1.0));
        assert_near(&[contact.time], &[0.5]);
        assert_near(&contact.weights, &[1.0, -0.25, -0.25, -0.5]);
        assert_eq!(contact.normal, DVec3::Z);
    }

    #[test]
    fn the_normal_points_to_the_side_from_which_the_vertex_comes() {
        let contact = onto_face(DVec3::new(0.25, 0.5, -1.0), DVec3::new(0.25, 0.5, 1.0));
        assert_eq!(contact.normal, -DVec3::Z);
    }

    #[test]
    fn fast_sliding_does_not_tilt_the_normal() {
        let contact = onto_face(DVec3::new(-5.0, 0.25, 1e-4), DVec3::new(5.5, 0.25, -1e-4));
        assert_eq!(contact.normal, DVec3::Z);
    }

    #[test]
    fn a_vertex_that_runs_into_an_edge_within_the_plane_is_stopped_within_the_plane() {
        let contact = onto_face(DVec3::new(0.25, -1.0, 0.0), DVec3::new(0.25, 1.0, 0.0));
        assert_near(&contact.weights, &[1.0, -0.75, -0.25, 0.0]);
        assert_near(&contact.normal.to_array(), &[0.0, -1.0, 0.0]);
    }

    #[test]
    fn crossing_edges_meet_along_their_common_perpendicular() {
        let sweep = Sweep {
            start: [
                DVec3::new(-1.0, 0.0, 1.0),
                DVec3::new(3.0, 0.0, 1.0),
                -DVec3::Y,
                DVec3::Y,
            ],
            end: [
                DVec3::new(-1.0, 0.0, -1.0),
                DVec3::new(3.0, 0.0, -1.0),
                -DVec3::Y,
                DVec3::Y,
            ],
        };
        let contact = contact(edge_edge(&sweep, Question::default()));
        assert_near(&contact.weights, &[0.75, 0.25, -0.5, -0.5]);
        assert_eq!(contact.normal, DVec3::Z);
    }

    #[test]
    fn parallel_edges_meet_along_the_line_between_them() {
        let (x, shift) = (DVec3::X, DVec3::new(0.5, 0.0, 0.0));
        let (up, down) = (DVec3::new(0.0, 0.3, 1.0), DVec3::new(0.0, -0.3, -1.0));
        let sweep = Sweep {
            start: [up, up + x, shift, shift + x],
            end: [down, down + x, shift, shift + x],
        };
        let contact = contact(edge_edge(&sweep, Question::default()));
        let expected = up.normalize();
        assert_near(&contact.normal.to_array(), &expected.to_array());
        assert_near(&[contact.time], &[0.5]);
    }

    #[test]
    fn edges_on_one_line_meet_along_it() {
        let sweep = Sweep {
            start: [DVec3::ZERO, DVec3::X, 3.0 * DVec3::X, 2.0 * DVec3::X],
            end: [
                2.0 * DVec3::X,
                3.0 * DVec3::X,
                3.0 * DVec3::X,
                2.0 * DVec3::X,
            ],
        };
        let contact = contact(edge_edge(&sweep, Question::default()));
        assert_near(&contact.weights, &[0.0, 1.0, 0.0, -1.0]);
        assert_near(&contact.normal.to_array(), &[-1.0, 0.0, 0.0]);
    }

    #[test]
    fn features_that_touch_all_the_time_still_have_a_normal() {
        let contact = onto_face(DVec3::new(0.25, 0.25, 0.0), DVec3::new(0.3, 0.25, 0.0));
        assert_eq!(contact.time, 0.0);
        assert!(contact.normal.is_normalized());
    }
}
