//! How far features are kept apart.

use glam::DVec3;

use super::proximity::Closest;
use super::sweep::at;
use super::{Mesh, Pair};

/// How far features are kept apart.
#[derive(Clone, Copy, Debug)]
pub struct Margin<'a> {
    /// Thickness at each vertex, in metres, at least 0: two layers are meant to lie one thickness
    /// apart.
    pub thickness: &'a [f64],
    /// Rest positions. Features of one body are never kept further apart than half their distance
    /// at rest, else cloth with a thickness near the length of its edges would push itself apart.
    pub rest: &'a [DVec3],
    /// The least gap that each vertex has at the start, in metres; none means that nothing is near.
    /// What slides over a surface in contact comes upon features that it is not kept from yet:
    /// asked to stay further from them than from that surface, it would be caught by edges that
    /// nobody can feel.
    pub gap: Option<&'a [f64]>,
}

/// Share of the start gap and of the rest distance that a separation may take (docs/method.md
/// §2.4).
const SHARE: f64 = 0.5;

/// Rounding error of a computed gap, in units of the largest coordinate difference of its four
/// vertices.
///
/// A closest point is r − t d or a − u b − v c: each coordinate is a sum of at most three products
/// of differences below the extent with weights that sum to at most 2, with at most 6 roundings
/// each: 12 u = 6 ε, and √3 of that as a length; that the weights themselves are rounded moves the
/// point by another ε within the feature. Halving a gap leaves a factor 2, so a gap of 32 ε is
/// still larger than the separation taken from it. `a_gap_errs_less_than_its_bound` measures it.
pub(super) const GAP_ERROR: f64 = 16.0 * f64::EPSILON;

impl Margin<'_> {
    /// Whether all thicknesses are numbers of at least 0; what is seen by another margin proves
    /// nothing.
    pub(super) fn is_usable(&self) -> bool {
        self.thickness.iter().all(|h| h.is_finite() && *h >= 0.0)
    }

    /// The separation of a pair, in metres: the least of its thickness, half its gap at `x0`, half
    /// the least gap of its vertices there, and half its distance at rest within one body; 0 where
    /// the gap is too small to be told from rounding.
    pub fn separation(&self, mesh: &Mesh, pair: Pair, x0: &[DVec3]) -> f64 {
        let thickness = self.pair_thickness(mesh, pair);
        if thickness == 0.0 {
            return 0.0;
        }
        let vertices = mesh.vertices_of(pair);
        let start = at(x0, vertices);
        let gap = Closest::of(pair, start).distance_squared.sqrt();
        if gap <= 2.0 * GAP_ERROR * extent(&start) {
            return 0.0;
        }
        let least = |gaps: &[f64]| {
            vertices
                .iter()
                .fold(gap, |gap, &v| gap.min(gaps[v as usize]))
        };
        let separation = thickness.min(SHARE * self.gap.map_or(gap, least));
        separation.min(self.rest_limit(mesh, pair, separation))
    }

    /// Mean of the two features' thicknesses, each the least of its vertices.
    pub(super) fn pair_thickness(&self, mesh: &Mesh, pair: Pair) -> f64 {
        self.thickness_of(pair, mesh.vertices_of(pair))
    }

    /// The same of a pair whose vertices are known.
    #[inline]
    pub(super) fn thickness_of(&self, pair: Pair, vertices: [u32; 4]) -> f64 {
        let h = at(self.thickness, vertices);
        match pair {
            Pair::VertexFace { .. } => 0.5 * (h[0] + h[1].min(h[2]).min(h[3])),
            Pair::EdgeEdge { .. } => 0.5 * (h[0].min(h[1]) + h[2].min(h[3])),
        }
    }

    /// Half the rest distance within one body; any number above `enough` if it is not below it.
    fn rest_limit(&self, mesh: &Mesh, pair: Pair, enough: f64) -> f64 {
        let [a, .., b] = mesh.vertices_of(pair);
        if mesh.body_of_vertex(a) != mesh.body_of_vertex(b) {
            return f64::INFINITY;
        }
        let rest = at(self.rest, mesh.vertices_of(pair));
        // boxes first: most features of a body rest far apart
        if box_gap(pair, &rest, &rest) > enough / SHARE {
            return f64::INFINITY;
        }
        SHARE * Closest::of(pair, rest).distance_squared.sqrt()
    }
}

/// The largest gap on any axis between the swept boxes of a pair's features; negative where they
/// overlap on all.
///
/// Rounding is monotonic: a gap that is at most s is at most s after rounding too.
pub(super) fn box_gap(pair: Pair, start: &[DVec3; 4], end: &[DVec3; 4]) -> f64 {
    let low = |i: usize| start[i].min(end[i]);
    let high = |i: usize| start[i].max(end[i]);
    let (min_a, max_a, min_b, max_b) = match pair {
        Pair::VertexFace { .. } => (
            low(0),
            high(0),
            low(1).min(low(2)).min(low(3)),
            high(1).max(high(2)).max(high(3)),
        ),
        Pair::EdgeEdge { .. } => (
            low(0).min(low(1)),
            high(0).max(high(1)),
            low(2).min(low(3)),
            high(2).max(high(3)),
        ),
    };
    (min_b - max_a).max(min_a - max_b).max_element()
}

/// Largest coordinate difference of four points.
pub(super) fn extent(x: &[DVec3; 4]) -> f64 {
    let [a, b, c, d] = *x;
    let size = a.max(b).max(c).max(d) - a.min(b).min(c).min(d);
    size.max_element()
}

#[cfg(test)]
mod tests {
    use super::*;

    const VERTEX_FACE: Pair = Pair::VertexFace { vertex: 3, face: 0 };

    /// A triangle and a second one whose first corner hangs `gap` above the first; one body.
    fn two(gap: f64) -> (Mesh, Vec<DVec3>) {
        let mesh = Mesh::new(6, vec![[0, 1, 2], [3, 4, 5]]).unwrap();
        let lower = [DVec3::ZERO, 4.0 * DVec3::Z, 4.0 * DVec3::X];
        let upper = [
            DVec3::new(1.0, gap, 1.0),
            DVec3::new(1.0, 5.0, 2.0),
            DVec3::new(2.0, 5.0, 1.0),
        ];
        (mesh, [lower, upper].concat())
    }

    fn edges_above_each_other(mesh: &Mesh) -> Pair {
        let number = |edge: [u32; 2]| mesh.edges().iter().position(|e| *e == edge).unwrap() as u32;
        let (a, b) = (number([1, 2]), number([4, 5]));
        Pair::EdgeEdge { a, b }
    }

    #[test]
    fn a_separation_is_the_least_of_thickness_half_gap_and_half_rest_distance() {
        let (mesh, x) = two(0.5);
        let far = two(3.0).1;
        let near = two(0.25).1;
        let of = |thickness: f64, rest: &[DVec3], gap: Option<&[f64]>| {
            let thickness = &[thickness; 6];
            let margin = Margin {
                thickness,
                rest,
                gap,
            };
            margin.separation(&mesh, VERTEX_FACE, &x)
        };
        assert_eq!(of(0.125, &far, None), 0.125);
        assert_eq!(of(2.0, &far, None), 0.25);
        assert_eq!(of(2.0, &near, None), 0.125);
        assert_eq!(of(2.0, &two(0.375).1, None), 0.1875);
        assert_eq!(of(0.0, &far, None), 0.0);
        let mut gaps = [f64::INFINITY; 6];
        assert_eq!(of(2.0, &far, Some(&gaps)), 0.25);
        gaps[1] = 0.125;
        assert_eq!(of(2.0, &far, Some(&gaps)), 0.0625);
    }

    #[test]
    fn a_gap_within_its_rounding_error_asks_for_no_separation() {
        let far = two(3.0).1;
        let of = |gap: f64| {
            let (mesh, x) = two(gap);
            let margin = Margin {
                thickness: &[1.0; 6],
                rest: &far,
                gap: None,
            };
            margin.separation(&mesh, VERTEX_FACE, &x)
        };
        // the extent is 4
        assert_eq!(of(127.0 * f64::EPSILON), 0.0);
        assert_eq!(of(130.0 * f64::EPSILON), 65.0 * f64::EPSILON);
    }

    #[test]
    fn a_pair_is_as_thick_as_its_thinnest_vertices_on_either_side() {
        let (mesh, rest) = two(1.0);
        let margin = Margin {
            thickness: &[0.5, 0.25, 0.75, 1.0, 3.0, 2.0],
            rest: &rest,
            gap: None,
        };
        assert_eq!(margin.pair_thickness(&mesh, VERTEX_FACE), 0.625);
        let edges = edges_above_each_other(&mesh);
        assert_eq!(margin.pair_thickness(&mesh, edges), 1.125);
    }

    #[test]
    fn a_thickness_below_0_or_not_a_number_is_unusable() {
        let usable = |h: f64| {
            let (thickness, rest) = ([1.0, h], [DVec3::ZERO; 2]);
            let margin = Margin {
                thickness: &thickness,
                rest: &rest,
                gap: None,
            };
            margin.is_usable()
        };
        assert!(usable(0.0) && usable(2.0));
        assert!(!usable(-1.0) && !usable(f64::NAN) && !usable(f64::INFINITY));
    }

    #[test]
    fn the_gap_of_boxes_is_that_of_the_axis_that_parts_them_most_during_the_motion() {
        let at = |y: f64, z: f64| DVec3::new(y, y, z);
        let start = [at(5.0, 0.0), at(1.0, 9.0), at(0.0, 7.0), at(2.0, 8.0)];
        let end = [at(6.0, 3.0), at(1.0, 9.0), at(3.0, 7.0), at(2.0, 8.0)];
        assert_eq!(box_gap(VERTEX_FACE, &start, &end), 4.0); // z: 7 − 3
        let edges = Pair::EdgeEdge { a: 0, b: 1 };
        assert_eq!(box_gap(edges, &start, &end), -2.0); // z: 7 − 9
        let [a, _, c, d] = start;
        assert_eq!(box_gap(edges, &[a, a, c, d], &[a, a, c, d]), 7.0); // z: 7 − 0
        assert_eq!(box_gap(edges, &[c, d, a, a], &[c, d, a, a]), 7.0);
        assert_eq!(extent(&start), 9.0);
        assert_eq!(extent(&start.map(|x| x - DVec3::ONE)), 9.0);
    }
}
