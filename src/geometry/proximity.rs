//! Closest points of two features, and features nearer than a threshold.
//!
//! Vertex-face has three cases (face, edge, corner), edge-edge three more (crossing, end-to-edge,
//! end-to-end), as in Shi §3; which one applies shows in the weights that are zero. The distance is
//! the least over *all* cases, each evaluated at a point that the feature really has: parallel
//! edges and faces without area need no special treatment, and a badly conditioned case can only be
//! beaten by a better one.

use glam::DVec3;

use super::{ContactPoint, Pair};

/// Closest points of the two features of a pair, at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Closest {
    /// Signed weights as in [`super::Impact`]; zero, not nearly zero, for vertices that take no
    /// part.
    pub weights: [f64; 4],
    /// Squared distance, in m².
    pub distance_squared: f64,
}

/// Two features nearer than their threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Proximity {
    /// The pair; of several pairs that show the same two touching features, the first.
    pub pair: Pair,
    /// Its four vertices, in the order of [`super::Sweep`].
    pub vertices: [u32; 4],
    /// Signed weights as in [`super::Impact`].
    pub weights: [f64; 4],
    /// Unit vector from the second feature's point to the first feature's.
    pub normal: DVec3,
    /// Distance of the two points, in metres.
    pub gap: f64,
    /// The distance below which the pair counts as near, in metres; above `gap`.
    pub threshold: f64,
}

impl Proximity {
    /// The part that a response needs.
    pub fn point(&self) -> ContactPoint {
        ContactPoint {
            vertices: self.vertices,
            weights: self.weights,
            normal: self.normal,
        }
    }
}

/// Closest points of vertex `x[0]` and face `x[1..4]`.
pub(crate) fn closest_points_vertex_face(x: [DVec3; 4]) -> Closest {
    let [p, a, b, c] = x;
    let mut best = closest_points_vertex_edge(p, a, b).spread([0, 1, 2]);
    best = best.nearer(closest_points_vertex_edge(p, b, c).spread([0, 2, 3]));
    best = best.nearer(closest_points_vertex_edge(p, c, a).spread([0, 3, 1]));

    // barycentric coordinates of the foot: areas of the three parts, seen along the normal
    let n = (b - a).cross(c - a);
    let (pa, pb, pc) = (a - p, b - p, c - p);
    let parts = [
        n.dot(pb.cross(pc)),
        n.dot(pc.cross(pa)),
        n.dot(pa.cross(pb)),
    ];
    if parts.iter().all(|&part| part > 0.0) {
        let sum = parts[0] + parts[1] + parts[2];
        let [u, v, w] = parts.map(|part| part / sum);
        if u > 0.0 && v > 0.0 && w > 0.0 {
            best = best.nearer(Closest {
                weights: [1.0, -u, -v, -w],
                distance_squared: (u * pa + v * pb + w * pc).length_squared(),
            });
        }
    }
    best
}

/// Closest points of edges `x[0..2]` and `x[2..4]`.
pub(crate) fn closest_points_edge_edge(x: [DVec3; 4]) -> Closest {
    let [a0, a1, b0, b1] = x;
    let mut best = closest_points_vertex_edge(a0, b0, b1).spread([0, 2, 3]);
    best = best.nearer(closest_points_vertex_edge(a1, b0, b1).spread([1, 2, 3]));
    best = best.nearer(
        closest_points_vertex_edge(b0, a0, a1)
            .turned()
            .spread([2, 0, 1]),
    );
    best = best.nearer(
        closest_points_vertex_edge(b1, a0, a1)
            .turned()
            .spread([3, 0, 1]),
    );

    match crossing(x) {
        Some(inside) => best.nearer(inside),
        None => best,
    }
}

/// The feet of the common perpendicular of two edges, if they lie inside both: where edges cross
/// each other.
///
/// Of nearly parallel edges the feet may be anywhere; [`closest_points_edge_edge`] compares them
/// with the ends.
pub(super) fn crossing([a0, a1, b0, b1]: [DVec3; 4]) -> Option<Closest> {
    // a0 + s d and b0 + u e, n = d × e
    let (d, e, r) = (a1 - a0, b1 - b0, b0 - a0);
    let n = d.cross(e);
    let area = n.length_squared();
    let (s, u) = (n.dot(r.cross(e)), n.dot(r.cross(d)));
    if !(0.0 < s && s < area && 0.0 < u && u < area) {
        return None;
    }
    let (s, u) = (s / area, u / area);
    let weights = [1.0 - s, s, -(1.0 - u), -u];
    weights.iter().all(|&w| w != 0.0).then(|| Closest {
        weights,
        distance_squared: (s * d - r - u * e).length_squared(),
    })
}

/// Three weights and a squared distance: a vertex and an edge.
pub(super) struct ClosestOnEdge {
    weights: [f64; 3],
    pub(super) distance_squared: f64,
}

/// Closest points of vertex `p` and edge a b; bit-identical weights and distance for edge b a.
pub(super) fn closest_points_vertex_edge(p: DVec3, a: DVec3, b: DVec3) -> ClosestOnEdge {
    // the order of the ends is that of their coordinates, so that the faces around an edge agree on
    // its distance
    let is_turned = b.to_array() < a.to_array();
    let (a, b) = if is_turned { (b, a) } else { (a, b) };
    let (d, r) = (b - a, p - a);
    let (along, length_squared) = (r.dot(d), d.length_squared());
    let t = along / length_squared;
    let (at_a, at_b, distance_squared) = if along <= 0.0 || t <= 0.0 {
        (-1.0, 0.0, r.length_squared())
    } else if along >= length_squared || t >= 1.0 {
        (0.0, -1.0, (p - b).length_squared())
    } else {
        (-(1.0 - t), -t, (r - t * d).length_squared())
    };
    ClosestOnEdge {
        weights: if is_turned {
            [1.0, at_b, at_a]
        } else {
            [1.0, at_a, at_b]
        },
        distance_squared,
    }
}

impl ClosestOnEdge {
    /// With the edge as the first feature.
    fn turned(self) -> Self {
        Self {
            weights: self.weights.map(|w| 0.0 - w), // keeps zeros positive
            ..self
        }
    }

    /// As part of a pair: `places` of the vertex and of the edge's ends among the four.
    fn spread(self, places: [usize; 3]) -> Closest {
        let mut weights = [0.0; 4];
        for (place, w) in places.into_iter().zip(self.weights) {
            weights[place] = w;
        }
        Closest {
            weights,
            distance_squared: self.distance_squared,
        }
    }
}

impl Closest {
    fn nearer(self, other: Self) -> Self {
        if other.distance_squared < self.distance_squared {
            other
        } else {
            self
        }
    }

    /// Closest points of a pair's four vertices.
    pub fn of(pair: Pair, x: [DVec3; 4]) -> Self {
        match pair {
            Pair::VertexFace { .. } => closest_points_vertex_face(x),
            Pair::EdgeEdge { .. } => closest_points_edge_edge(x),
        }
    }

    /// Unit vector from the second feature's point to the first's.
    ///
    /// Where the points coincide, the face's normal or the edges' common perpendicular; where that
    /// vanishes too, any.
    pub fn normal(&self, pair: Pair, x: [DVec3; 4]) -> DVec3 {
        let terms = x.iter().zip(self.weights);
        let across: DVec3 = terms.map(|(&p, w)| w * (p - x[2])).sum(); // the weights sum to 0
        let [a, b, c, d] = x;
        let plane = match pair {
            Pair::VertexFace { .. } => (c - b).cross(d - b),
            Pair::EdgeEdge { .. } => (b - a).cross(d - c),
        };
        across
            .try_normalize()
            .or(plane.try_normalize())
            .unwrap_or(DVec3::Y)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::oracle::position;

    /// Rounding of a squared distance, in units of the squared size of the four points: a sum of
    /// products of two vectors, each a sum of four weighted positions.
    const SQUARE_ERROR: f64 = 64.0 * f64::EPSILON;

    /// A convex function is least where no straight step leads downhill, and steps to the corners
    /// tell it.
    ///
    /// Moving a closest point towards a corner by the vector c changes the difference d to d + τ c,
    /// 0 ≤ τ ≤ 1: if c·d < 0,
    /// |d + τ c|² gets smaller by at most the lesser of (c·d)²/|c|² and −2 c·d.
    fn is_closest(x: [DVec3; 4], closest: &Closest, first: usize) -> bool {
        let size = x.iter().map(|p| p.abs().max_element()).fold(0.0, f64::max);
        let w = closest.weights;
        let sum =
            |range: std::ops::Range<usize>| -> DVec3 { range.map(|i| w[i].abs() * x[i]).sum() };
        let weight =
            |range: std::ops::Range<usize>| -> f64 { w[range].iter().map(|w| w.abs()).sum() };
        let (p, q) = (sum(0..first), sum(first..4));
        let d = p - q;
        let tolerance = SQUARE_ERROR * size * size;
        let is_downhill = |c: DVec3| {
            let slope = -c.dot(d);
            2.0 * slope > tolerance && slope * slope > tolerance * c.length_squared()
        };
        let is_inside = (weight(0..first) - 1.0).abs() < 4.0 * f64::EPSILON
            && (weight(first..4) - 1.0).abs() < 4.0 * f64::EPSILON
            && w[..first].iter().all(|&w| w >= 0.0)
            && w[first..].iter().all(|&w| w <= 0.0);
        is_inside
            && (closest.distance_squared - d.length_squared()).abs() <= tolerance
            && !x[..first].iter().any(|&c| is_downhill(c - p))
            && !x[first..].iter().any(|&c| is_downhill(q - c))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(5000))]

        #[test]
        fn closest_points_have_no_nearer_neighbours(
            x in [position(), position(), position(), position()],
            smooth in prop::collection::vec(-0.5..0.5f64, 12),
            mix in prop_oneof![Just(0.0), Just(1e-9), Just(1.0)],
        ) {
            // on a grid (parallel, degenerate, touching), almost on it, and anywhere
            let x: [DVec3; 4] = std::array::from_fn(|i| x[i] + mix * DVec3::from_slice(&smooth[3 * i..]));
            prop_assert!(is_closest(x, &closest_points_vertex_face(x), 1));
            prop_assert!(is_closest(x, &closest_points_edge_edge(x), 2));
            // faces around an edge see it from both ends, and have to agree to the bit on which of
            // them is nearest
            let [p, a, b, _] = x;
            let (there, back) = (closest_points_vertex_edge(p, a, b), closest_points_vertex_edge(p, b, a));
            prop_assert_eq!(there.distance_squared.to_bits(), back.distance_squared.to_bits());
            let [vertex, at_b, at_a] = back.weights;
            prop_assert!(a == b || there.weights == [vertex, at_a, at_b]);
        }
    }

    #[test]
    fn each_case_has_its_weights() {
        let face = [DVec3::ZERO, DVec3::X, DVec3::Y];
        let at = |x: f64, y: f64| {
            let [a, b, c] = face;
            closest_points_vertex_face([DVec3::new(x, y, 2.0), a, b, c])
        };
        assert_eq!(at(0.25, 0.25).weights, [1.0, -0.5, -0.25, -0.25]);
        assert_eq!(at(0.25, -1.0).weights, [1.0, -0.75, -0.25, 0.0]);
        assert_eq!(at(3.0, 3.0).weights, [1.0, 0.0, -0.5, -0.5]);
        assert_eq!(at(-1.0, -3.0).weights, [1.0, -1.0, 0.0, 0.0]);
        assert_eq!(at(0.25, -1.0).distance_squared, 5.0);

        let edge = |b0: [f64; 3], b1: [f64; 3]| {
            closest_points_edge_edge([DVec3::ZERO, DVec3::X, b0.into(), b1.into()])
        };
        assert_eq!(
            edge([0.25, -1.0, 2.0], [0.25, 3.0, 2.0]).weights,
            [0.75, 0.25, -0.75, -0.25]
        );
        assert_eq!(
            edge([0.25, 1.0, 2.0], [0.25, 3.0, 2.0]).weights,
            [0.75, 0.25, -1.0, 0.0]
        );
        assert_eq!(
            edge([2.0, 1.0, 0.0], [3.0, 5.0, 0.0]).weights,
            [0.0, 1.0, -1.0, 0.0]
        );
        // touching: along the face's normal, and across both edges
        let touching = [DVec3::new(0.25, 0.25, 0.0), DVec3::ZERO, DVec3::X, DVec3::Y];
        let pair = Pair::VertexFace { vertex: 0, face: 0 };
        assert_eq!(Closest::of(pair, touching).normal(pair, touching), DVec3::Z);
        let crossing = [-DVec3::X, DVec3::X, -DVec3::Z, DVec3::Z];
        let pair = Pair::EdgeEdge { a: 0, b: 1 };
        let normal = Closest::of(pair, crossing).normal(pair, crossing);
        assert_eq!(normal, DVec3::NEG_Y);
        // parallel and overlapping: some end, at the right distance
        assert_eq!(edge([0.5, 1.0, 0.0], [7.0, 1.0, 0.0]).distance_squared, 1.0);
    }
}
