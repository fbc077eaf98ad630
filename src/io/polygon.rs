//! Polygons to triangles, the same way every time.
//!
//! A polygon is projected along the axis on which its area vector is largest. If the fan from the first corner is a
//! triangulation there (always so for convex polygons), the fan is taken, as most programs do; otherwise ears are clipped
//! (every simple polygon with more than three corners has two: Meisters 1975). Signs come from exact predicates, so
//! collinear corners and slivers do not mislead it. Polygons that cross themselves are cut somehow, but always
//! into n − 2 triangles with the polygon's own corners.

use glam::DVec3;
use robust::{Coord, orient2d};

/// Largest number of corners for which ears are clipped, at a cost of n² in the worst case.
///
/// Convex polygons may have any number.
pub(super) const MAX_CONCAVE: usize = 4096;

/// A concave polygon with more than [`MAX_CONCAVE`] corners.
#[derive(Debug)]
pub(super) struct TooManyCorners;

/// The n − 2 triangles of a polygon with n ≥ 3 corners, as numbers of its corners.
pub(super) fn triangulate(corners: &[DVec3]) -> Result<Vec<[usize; 3]>, TooManyCorners> {
    let n = corners.len();
    if n == 3 {
        return Ok(vec![[0, 1, 2]]);
    }
    let flat = project(corners);
    let turns_left = |a: usize, b: usize, c: usize| orient2d(flat[a], flat[b], flat[c]) > 0.0;
    if (1..n - 1).all(|i| turns_left(0, i, i + 1)) {
        return Ok((1..n - 1).map(|i| [0, i, i + 1]).collect());
    }
    if n > MAX_CONCAVE {
        return Err(TooManyCorners);
    }
    Ok(clip_ears(&flat))
}

/// The polygon seen along its area vector's largest component, counter-clockwise.
fn project(corners: &[DVec3]) -> Vec<Coord<f64>> {
    let origin = corners[0];
    let area: DVec3 = corners
        .windows(2)
        .map(|side| (side[0] - origin).cross(side[1] - origin))
        .sum();
    let size = area.abs();
    let axis = if size.x >= size.y && size.x >= size.z {
        0
    } else if size.y >= size.z {
        1
    } else {
        2
    };
    let (mut right, mut up) = ((axis + 1) % 3, (axis + 2) % 3);
    if area[axis] < 0.0 {
        std::mem::swap(&mut right, &mut up);
    }
    corners
        .iter()
        .map(|p| Coord {
            x: p[right],
            y: p[up],
        })
        .collect()
}

fn clip_ears(flat: &[Coord<f64>]) -> Vec<[usize; 3]> {
    let n = flat.len();
    let mut next: Vec<usize> = (0..n).map(|i| (i + 1) % n).collect();
    let mut previous: Vec<usize> = (0..n).map(|i| (i + n - 1) % n).collect();
    let mut triangles = Vec::with_capacity(n - 2);
    let mut corner = 0;
    let mut tried = 0;
    let mut left = n;
    while left > 3 {
        let (before, after) = (previous[corner], next[corner]);
        // after a whole turn without an ear the polygon crosses itself: cut anything off
        if tried < left && !is_ear(flat, &next, before, corner, after) {
            corner = after;
            tried += 1;
            continue;
        }
        triangles.push([before, corner, after]);
        next[before] = after;
        previous[after] = before;
        corner = after;
        tried = 0;
        left -= 1;
    }
    triangles.push([previous[corner], corner, next[corner]]);
    triangles
}

fn is_ear(flat: &[Coord<f64>], next: &[usize], a: usize, b: usize, c: usize) -> bool {
    if orient2d(flat[a], flat[b], flat[c]) <= 0.0 {
        return false;
    }
    let inside = |p: Coord<f64>| {
        [(a, b), (b, c), (c, a)]
            .into_iter()
            .all(|(from, to)| orient2d(flat[from], flat[to], p) >= 0.0)
    };
    let is_corner = |p: Coord<f64>| [a, b, c].into_iter().any(|k| flat[k] == p);
    let mut other = next[c];
    while other != a {
        let p = flat[other];
        if inside(p) && !is_corner(p) {
            return false;
        }
        other = next[other];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Twice the signed area in the plane z = 0, exact for small integers.
    fn doubled_area(corners: &[DVec3], loops: &[Vec<usize>]) -> f64 {
        loops
            .iter()
            .map(|l| {
                (0..l.len())
                    .map(|i| corners[l[i]].perp(corners[l[(i + 1) % l.len()]]))
                    .sum::<f64>()
            })
            .sum()
    }

    trait Perp {
        fn perp(self, other: Self) -> f64;
    }
    impl Perp for DVec3 {
        fn perp(self, other: Self) -> f64 {
            self.x * other.y - self.y * other.x
        }
    }

    fn check(corners: &[DVec3]) -> Vec<[usize; 3]> {
        let triangles = triangulate(corners).unwrap();
        assert_eq!(triangles.len(), corners.len() - 2);
        let whole = doubled_area(corners, &[(0..corners.len()).collect()]);
        for t in &triangles {
            let part = doubled_area(corners, &[t.to_vec()]);
            assert!(part * whole >= 0.0, "triangle {t:?} is turned over");
        }
        let sum = doubled_area(
            corners,
            &triangles.iter().map(|t| t.to_vec()).collect::<Vec<_>>(),
        );
        assert_eq!(sum, whole, "the triangles must cover the polygon once");
        triangles
    }

    fn polygon(points: &[[f64; 2]]) -> Vec<DVec3> {
        points.iter().map(|p| DVec3::new(p[0], p[1], 0.0)).collect()
    }

    #[test]
    fn convex_polygons_become_fans() {
        let square = polygon(&[[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]);
        assert_eq!(check(&square), [[0, 1, 2], [0, 2, 3]]);
        let reversed: Vec<_> = square.iter().rev().copied().collect();
        assert_eq!(check(&reversed), [[0, 1, 2], [0, 2, 3]]);
    }

    #[test]
    fn a_dart_is_cut_at_its_notch_whichever_corner_comes_first() {
        let dart = polygon(&[[0.0, 0.0], [4.0, 0.0], [1.0, 1.0], [0.0, 4.0]]);
        for first in 0..4 {
            let turned: Vec<_> = (0..4).map(|i| dart[(first + i) % 4]).collect();
            let notch = (2 + 4 - first) % 4;
            assert!(check(&turned).iter().all(|t| t.contains(&notch)));
        }
    }

    #[test]
    fn collinear_corners_give_no_overlap() {
        check(&polygon(&[
            [0.0, 0.0],
            [1.0, 0.0],
            [2.0, 0.0],
            [3.0, 0.0],
            [3.0, 3.0],
            [2.0, 2.0],
            [1.0, 1.0],
        ]));
        check(&polygon(&[
            [0.0, 0.0],
            [3.0, 0.0],
            [3.0, 1.0],
            [2.0, 1.0],
            [2.0, 2.0],
            [3.0, 2.0],
            [3.0, 3.0],
            [0.0, 3.0],
        ]));
    }

    #[test]
    fn a_polygon_of_no_area_still_gives_its_triangles() {
        assert_eq!(triangulate(&[DVec3::ZERO; 6]).unwrap().len(), 4);
        let bow_tie = polygon(&[[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]]);
        assert_eq!(triangulate(&bow_tie).unwrap().len(), 2);
    }

    #[test]
    fn only_concave_polygons_are_limited_in_corners() {
        let parabola = |n: usize| -> Vec<DVec3> {
            (0..n)
                .map(|i| DVec3::new(i as f64, (i * i) as f64, 0.0))
                .collect()
        };
        let mut many = parabola(2 * MAX_CONCAVE);
        assert!(triangulate(&many).is_ok());
        many.insert(1, DVec3::new(1.0, 1e9, 0.0));
        assert!(triangulate(&many).is_err());
    }

    proptest! {
        /// Mountains: x increasing, integer heights, closed below; simple for any heights.
        #[test]
        fn mountains_are_covered_exactly_once(
            heights in prop::collection::vec(0..6i32, 2..40),
            first in 0..40usize,
            axes in 0..3usize,
        ) {
            let mut corners: Vec<DVec3> = heights
                .iter()
                .enumerate()
                .map(|(i, &h)| DVec3::new(i as f64, f64::from(h), 0.0))
                .collect();
            corners.push(DVec3::new((heights.len() - 1) as f64, -1.0, 0.0));
            corners.push(DVec3::new(0.0, -1.0, 0.0));
            let n = corners.len();
            corners.rotate_left(first % n);
            let flat = check(&corners);
            // the same polygon in another plane is cut the same way
            let turned: Vec<DVec3> = corners
                .iter()
                .map(|p| { let mut q = [p.x, p.y, p.z]; q.rotate_left(axes); DVec3::from(q) })
                .collect();
            prop_assert_eq!(triangulate(&turned).unwrap(), flat);
        }
    }
}
