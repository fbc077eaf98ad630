//! A first look at pairs in single precision: a direction proves most of them apart, at a small
//! part of the price of the continuous test.

use glam::{DVec3, Vec4};
use pulp::Arch;
use rayon::prelude::*;

use super::sweep::at;
use super::{Mesh, Pair};

/// Positions before and after a motion, rounded to single precision.
#[derive(Clone, Debug)]
pub(super) struct Motion32 {
    /// The vector instructions of this processor.
    pub(super) arch: Arch,
    /// Start and end of each vertex; the fourth coordinate is 0.
    pub(super) ways: Vec<[Vec4; 2]>,
    /// Largest coordinate, in metres; infinite if it is so large that products could overflow.
    largest: f32,
    /// The distance asked for, in metres.
    distance: f32,
    /// How far from its way each vertex may be, in metres; empty if none may.
    slack: Vec<f32>,
}

impl Default for Motion32 {
    fn default() -> Self {
        Self {
            arch: Arch::new(),
            ways: Vec::new(),
            largest: 0.0,
            distance: 0.0,
            slack: Vec::new(),
        }
    }
}

/// Bound on the error of a projection n·d, in units of N (M + 2L + s): N the largest coordinate of
/// the direction n, L that of all differences d, M that of all positions, s the distance asked for;
/// u = 2⁻²⁴ = ε/2.
///
/// The direction is taken as it is. A coordinate of d is off by 2uM from rounding two positions and
/// by uL from rounding itself; three products and two sums add 3u · NL for each axis: together at
/// most 3N (2uM + uL + 3uL) = 6uN (M + 2L). The length of n is at most √3 N and takes 4 roundings,
/// s and its product with it one each: 11uNs. Half as much again and more leaves room for the
/// rounding of this bound, and at least u (M + L) for the distance: far more than a closest
/// distance in double precision is off by.
pub(super) const PROJECTION_ERROR: f32 = 9.0 * f32::EPSILON;

/// Covers products that underflow.
pub(super) const UNDERFLOW: f32 = f32::MIN_POSITIVE;

/// From here on the squared length of a product of two differences could overflow.
const LARGEST: f32 = 1.0e9;

/// Directions below this prove nothing: their squares could underflow, and so could their length.
pub(super) const SHORTEST: f32 = 1.0e-18;

impl Motion32 {
    /// Largest coordinate, in metres.
    pub(super) fn largest(&self) -> f32 {
        self.largest
    }

    /// Takes the motion from `x0` to `x1`; `distance` is what pairs have to stay apart.
    pub(super) fn set(&mut self, x0: &[DVec3], x1: &[DVec3], distance: f64) {
        self.distance = distance as f32;
        self.slack.clear();
        self.take(x0.par_iter().zip(x1).map(|(x0, x1)| [*x0, *x1]));
    }

    /// Takes the motion from `x0` towards `x1`, up to this part of it; no distance. The end is rounded in double precision before it is in
    /// single precision, for which the bound has room.
    pub(super) fn set_until(&mut self, x0: &[DVec3], x1: &[DVec3], until: f64) {
        self.distance = 0.0;
        self.slack.clear();
        let end = |x0: DVec3, x1: DVec3| match until < 1.0 {
            true => x0 * (1.0 - until) + x1 * until,
            false => x1,
        };
        self.take(x0.par_iter().zip(x1).map(|(x0, x1)| [*x0, end(*x0, *x1)]));
    }

    /// Takes all motions in which each vertex starts and ends no further than its slack from the ends of its way; `distance` is what
    /// pairs have to stay apart in any of them.
    pub(super) fn set_schedule(&mut self, ways: &[[DVec3; 2]], slack: &[f64], distance: f64) {
        self.distance = distance as f32;
        self.slack.clear();
        self.slack.extend(slack.iter().map(|&slack| slack as f32));
        self.take(ways.par_iter().copied());
    }

    /// What a pair has to stay apart on these ways, in metres.
    #[inline]
    pub(super) fn distance_of(&self, listed: &Listed) -> f32 {
        if self.slack.is_empty() {
            return self.distance;
        }
        let [a, b, c, d] = at(&self.slack, listed.vertices);
        let slack = match listed.is_vertex_face() {
            true => a + b.max(c).max(d),
            false => a.max(b) + c.max(d),
        };
        // a part in a thousand covers the rounding of slacks, and of the distances that are held to them
        1.001 * (self.distance + slack)
    }

    fn take(&mut self, ways: impl IndexedParallelIterator<Item = [DVec3; 2]>) {
        let single = |way: [DVec3; 2]| way.map(|x| x.as_vec3().extend(0.0));
        let ways = ways.with_min_len(4096).map(single);
        ways.collect_into_vec(&mut self.ways);
        let parts = self.ways.par_chunks(4096);
        let largest = parts.map(|ways| largest_of(ways.iter().flatten().copied()));
        self.largest = largest.reduce(|| 0.0, f32::max);
    }
}

/// Largest coordinate; infinite beyond what products can take, and for anything that is not a
/// number.
pub(super) fn largest_of(each: impl Iterator<Item = Vec4>) -> f32 {
    let (mut largest, mut nothing) = (Vec4::ZERO, Vec4::ZERO);
    for x in each {
        largest = largest.max(x.abs());
        nothing += x * 0.0; // remembers what is not a number, as the maximum does not
    }
    match largest.max_element() {
        largest if largest < LARGEST && nothing == Vec4::ZERO => largest,
        _ => f32::INFINITY,
    }
}

/// A pair with its four vertices.
#[derive(Clone, Copy, Debug)]
pub(super) struct Listed {
    pub(super) pair: Pair,
    pub(super) vertices: [u32; 4],
}

impl Listed {
    /// No pair: holds a place.
    pub(super) const NONE: Self = Self {
        pair: Pair::EdgeEdge { a: 0, b: 0 },
        vertices: [0; 4],
    };

    pub(super) fn of(mesh: &Mesh, pair: Pair) -> Self {
        let vertices = mesh.vertices_of(pair);
        Self { pair, vertices }
    }

    #[inline]
    pub(super) fn vertex_face(vertex: u32, face: u32, [a, b, c]: [u32; 3]) -> Self {
        Self {
            pair: Pair::VertexFace { vertex, face },
            vertices: [vertex, a, b, c],
        }
    }

    /// Two edges, the smaller number first, with their ends.
    #[inline]
    pub(super) fn edge_edge([a, b]: [u32; 2], [c, d]: [u32; 2], [e, f]: [u32; 2]) -> Self {
        Self {
            pair: Pair::EdgeEdge { a, b },
            vertices: [c, d, e, f],
        }
    }

    #[inline]
    pub(super) fn is_vertex_face(&self) -> bool {
        matches!(self.pair, Pair::VertexFace { .. })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::geometry::looks32::Looks;
    use crate::geometry::{Closest, Sweep};

    /// Four points near a place, at both ends of a motion: nearly flat, so that distances come near
    /// the one asked for.
    pub(in crate::geometry) fn sweep() -> impl Strategy<Value = Sweep> {
        let flat = || {
            let each = (-1.0..1.0f64, -1.0..1.0f64, -1e-3..1e-3f64);
            prop::array::uniform4(each.prop_map(|(x, y, z)| DVec3::new(x, y, z)))
        };
        // mostly the same place at both ends
        let place = || prop_oneof![Just(0.0), Just(1.0), Just(1e3), Just(1e6)];
        let places = prop_oneof![3 => place().prop_map(|p| [p, p]), 1 => [place(), place()]];
        (flat(), flat(), places, 0.0..0.5f64, 0.0..0.2f64).prop_map(
            |(start, way, places, lift, far)| {
                let at = |k: usize, x: DVec3, place: f64| {
                    let raised = x + if k < 2 { lift * DVec3::Z } else { DVec3::ZERO };
                    place * DVec3::ONE + raised
                };
                Sweep {
                    start: std::array::from_fn(|k| at(k, start[k], places[0])),
                    end: std::array::from_fn(|k| at(k, start[k] + far * way[k], places[1])),
                }
            },
        )
    }

    fn is_apart(pair: Pair, sweep: &Sweep, distance: f64) -> bool {
        let faces = vec![[1, 2, 3], [0, 1, 2], [0, 1, 3]];
        let mesh = Mesh::new(4, faces).unwrap();
        let mut motion = Motion32::default();
        motion.set(&sweep.start, &sweep.end, distance);
        let (mut looks, mut is_open) = (Looks::default(), false);
        looks.add(Listed::of(&mesh, pair), &motion, |_| is_open = true);
        looks.finish(&motion, |_| is_open = true);
        !is_open
    }

    /// Vertex 0 and face 1 2 3, edges 0 1 and 2 3 of the mesh above.
    pub(in crate::geometry) const PAIRS: [Pair; 2] = [
        Pair::VertexFace { vertex: 0, face: 0 },
        Pair::EdgeEdge { a: 0, b: 5 },
    ];

    #[test]
    fn layers_and_neighbours_are_found_apart() {
        let face = [DVec3::ZERO, DVec3::X, DVec3::Y];
        let sweep = |p: DVec3, by: DVec3| Sweep {
            start: [p, face[0], face[1], face[2]],
            end: [p + by, face[0] + by, face[1] + by, face[2] + by],
        };
        let above = sweep(DVec3::new(0.9, 0.05, 0.01), 3.0 * DVec3::ONE);
        assert!(is_apart(PAIRS[0], &above, 0.009) && !is_apart(PAIRS[0], &above, 0.01));
        let beside = sweep(DVec3::new(-0.5, -0.5, 0.0), 3.0 * DVec3::ONE);
        assert!(is_apart(PAIRS[0], &beside, 0.1));
        let mut tiny = sweep(DVec3::new(0.0, 0.0, 1e-3), DVec3::ZERO);
        for corner in tiny.start[1..].iter_mut().chain(&mut tiny.end[1..]) {
            *corner *= 1e-12;
        }
        assert!(is_apart(PAIRS[0], &tiny, 0.9e-3));
        assert!(
            !is_apart(PAIRS[0], &tiny, 1e-2),
            "the square of its area underflows"
        );
        let far = sweep(DVec3::new(0.2, 0.2, 1.0), 1e9 * DVec3::ONE);
        assert!(
            !is_apart(PAIRS[0], &far, 0.1),
            "too far for single precision"
        );
        let nowhere = sweep(DVec3::new(0.2, 0.2, 1.0), f64::NAN * DVec3::ONE);
        assert!(!is_apart(PAIRS[0], &nowhere, 0.1));
        let mut from_nowhere = sweep(DVec3::new(0.2, 0.2, 1.0), DVec3::ZERO);
        assert!(is_apart(PAIRS[0], &from_nowhere, 0.1));
        from_nowhere.start[0] = f64::NAN * DVec3::ONE;
        assert!(!is_apart(PAIRS[0], &from_nowhere, 0.1));
    }

    #[test]
    fn products_that_overflow_prove_nothing() {
        // differences (3.5, −3.3, −3.3) and twice (−0.83, 1.43, 1.43), in 1e19: projected on the
        // sum of the three, the first is −3e38, of which single precision makes infinity − 3.3e38 −
        // 3.3e38
        let [d, e] = [[3.5, -3.3, -3.3], [-0.83, 1.43, 1.43]];
        let corners = [d, e, e].map(|c| 1e19 * DVec3::from_array(c));
        let start = [DVec3::ZERO, -corners[0], -corners[1], -corners[2]];
        let sweep = Sweep { start, end: start };
        let distance = 5e18;
        assert!(Closest::of(PAIRS[0], start).distance_squared < distance * distance);
        assert!(!is_apart(PAIRS[0], &sweep, distance));
    }

    #[test]
    fn the_bound_is_at_least_what_was_derived() {
        // 6u N (M + 2L) and 11u N s, u = ε/2
        let half_ulp = f32::EPSILON / 2.0;
        assert!(PROJECTION_ERROR >= 11.0 * half_ulp);
    }
}
