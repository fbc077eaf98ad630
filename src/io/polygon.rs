//! Polygons to triangles, the same way every time.
//!
//! A polygon is projected along the axis on which its area vector is largest. If the fan from the first corner is a
//! triangulation there (always so for convex polygons), the fan is taken, as most programs do; a large convex polygon is halved instead, again
//! and again; otherwise ears are clipped (every simple polygon with more than three corners has two: Meisters 1975). Signs come from exact predicates, so
//! collinear corners and slivers do not mislead it. Polygons that cross themselves are cut somehow, but always
//! into n − 2 triangles with the polygon's own corners.

use glam::DVec3;
use robust::{Coord, orient2d};

/// Largest number of corners for which ears are clipped, at a cost of n² in the worst case: 0.1 s here.
///
/// Convex polygons may have any number.
pub(super) const MAX_CONCAVE: usize = 4096;

/// Largest number of corners of a convex polygon that becomes a fan.
///
/// The triangles of a fan all meet in one corner: their boxes overlap in n²/2 pairs, which is what a tree is asked about afterwards. Those of
/// a polygon that is halved again and again overlap in n log n.
const MAX_FAN: usize = 256;

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
    let is_fan = (1..n - 1).all(|i| turns_left(0, i, i + 1));
    if is_fan && n > MAX_FAN && (0..n).all(|i| turns_left(i, (i + 1) % n, (i + 2) % n)) {
        return Ok(halve(n));
    }
    if is_fan && n <= MAX_CONCAVE {
        return Ok((1..n - 1).map(|i| [0, i, i + 1]).collect());
    }
    if n > MAX_CONCAVE {
        return Err(TooManyCorners);
    }
    Ok(clip_ears(&flat))
}

/// The triangles of a convex polygon: one over its halves, then those of the halves. All have an area if every corner turns.
fn halve(n: usize) -> Vec<[usize; 3]> {
    let mut triangles = Vec::with_capacity(n - 2);
    let mut parts = vec![[0, n - 1]];
    while let Some([first, last]) = parts.pop() {
        if last - first > 1 {
            let middle = first.midpoint(last);
            triangles.push([first, middle, last]);
            parts.extend([[middle, last], [first, middle]]);
        }
    }
    triangles
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

/// Whole rounds in which ears are looked for anew before the rest is cut into a fan: a polygon without self-crossings and
/// collinear corners needs one, one that crosses itself soon has no ears left.
const MAX_SWEEPS: usize = 16;

/// A polygon while its ears are cut off.
struct Ring<'a> {
    flat: &'a [Coord<f64>],
    next: Vec<usize>,
    previous: Vec<usize>,
    /// Corners that do not turn left. Only these can lie in an ear: of the corners in a triangle on a convex corner,
    /// the one farthest from the diagonal is such a corner.
    blunt: Vec<usize>,
    is_blunt: Vec<bool>,
    is_ear: Vec<bool>,
}

fn clip_ears(flat: &[Coord<f64>]) -> Vec<[usize; 3]> {
    let n = flat.len();
    let mut ring = Ring {
        flat,
        next: (0..n).map(|i| (i + 1) % n).collect(),
        previous: (0..n).map(|i| (i + n - 1) % n).collect(),
        blunt: Vec::new(),
        is_blunt: vec![true; n],
        is_ear: vec![false; n],
    };
    let mut triangles = Vec::with_capacity(n - 2);
    let mut corner = 0;
    let mut left = n;
    for _ in 0..MAX_SWEEPS {
        if left == 3 || !ring.look_anew(corner) {
            break;
        }
        // after a whole turn without an ear only a new look can find one
        let mut tried = 0;
        while left > 3 && tried < left {
            if !ring.is_ear[corner] {
                corner = ring.next[corner];
                tried += 1;
                continue;
            }
            triangles.push([ring.previous[corner], corner, ring.next[corner]]);
            corner = ring.cut(corner);
            left -= 1;
            tried = 0;
        }
    }
    while left > 3 {
        triangles.push([ring.previous[corner], corner, ring.next[corner]]);
        let (before, after) = (ring.previous[corner], ring.next[corner]);
        ring.next[before] = after;
        ring.previous[after] = before;
        corner = after;
        left -= 1;
    }
    triangles.push([ring.previous[corner], corner, ring.next[corner]]);
    triangles
}

impl Ring<'_> {
    /// Looks at all corners anew; whether there is an ear.
    fn look_anew(&mut self, start: usize) -> bool {
        let mut corner = start;
        let mut all = Vec::new();
        loop {
            all.push(corner);
            corner = self.next[corner];
            if corner == start {
                break;
            }
        }
        for &c in &all {
            self.is_blunt[c] = !self.turns_left(c);
        }
        self.blunt = all.iter().copied().filter(|&c| self.is_blunt[c]).collect();
        for &c in &all {
            self.is_ear[c] = self.test_ear(c);
        }
        all.iter().any(|&c| self.is_ear[c])
    }

    /// Cuts a corner off and looks at its neighbours anew; the next corner.
    fn cut(&mut self, corner: usize) -> usize {
        let (before, after) = (self.previous[corner], self.next[corner]);
        self.next[before] = after;
        self.previous[after] = before;
        for c in [before, after] {
            // a corner may stop to be blunt, and with collinear corners become it
            let was = self.is_blunt[c];
            self.is_blunt[c] = !self.turns_left(c);
            if self.is_blunt[c] && !was {
                self.blunt.push(c);
            }
        }
        let is_blunt = &self.is_blunt;
        self.blunt.retain(|&c| is_blunt[c]);
        for c in [before, after] {
            self.is_ear[c] = self.test_ear(c);
        }
        after
    }

    fn turns_left(&self, corner: usize) -> bool {
        let at = |c: usize| self.flat[c];
        orient2d(at(self.previous[corner]), at(corner), at(self.next[corner])) > 0.0
    }

    /// Whether a corner turns left and no other corner lies in its triangle, its border included.
    fn test_ear(&self, corner: usize) -> bool {
        if self.is_blunt[corner] {
            return false;
        }
        let triangle = [self.previous[corner], corner, self.next[corner]];
        let [a, b, c] = triangle.map(|k| self.flat[k]);
        let low = [a.x.min(b.x).min(c.x), a.y.min(b.y).min(c.y)];
        let high = [a.x.max(b.x).max(c.x), a.y.max(b.y).max(c.y)];
        !self.blunt.iter().any(|&other| {
            let p = self.flat[other];
            low[0] <= p.x
                && p.x <= high[0]
                && low[1] <= p.y
                && p.y <= high[1]
                && !triangle.contains(&other)
                && ![a, b, c].contains(&p)
                && [[a, b], [b, c], [c, a]]
                    .into_iter()
                    .all(|[from, to]| orient2d(from, to, p) >= 0.0)
        })
    }
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

    #[test]
    fn a_large_convex_polygon_is_halved() {
        // corners of a parabola: every one turns left, and areas are exact
        let corners: Vec<DVec3> = (0..2 * MAX_CONCAVE)
            .map(|i| DVec3::new(i as f64, (i * i) as f64, 0.0))
            .collect();
        let triangles = check(&corners);
        let mut at = vec![0; corners.len()];
        for v in triangles.iter().flatten() {
            at[*v] += 1;
        }
        let most = at.into_iter().max().unwrap();
        assert!(
            most <= 2 * 13 + 1,
            "{most} triangles at one corner: two for each halving"
        );
        // one that turns right among them, still a fan from the first: too many for ears
        let mut dented = corners.clone();
        dented[MAX_CONCAVE].y += 2.0;
        assert!(triangulate(&dented).is_err());
    }

    #[test]
    fn the_hardest_polygons_of_the_largest_size_are_cut_quickly() {
        // teeth: every second corner is blunt, and an ear is far from the next
        let teeth = |n: usize| -> Vec<DVec3> {
            let top = (0..n - 2)
                .rev()
                .map(|i| [i as f64, if i % 2 == 0 { 1.0 } else { 1e3 }]);
            let base = [[0.0, 0.0], [(n - 3) as f64, 0.0]];
            polygon(&top.chain(base).collect::<Vec<_>>())
        };
        // a star drawn in one line crosses itself everywhere
        let star = |n: usize| -> Vec<DVec3> {
            let step = n / 2 - 1;
            let at = |i: usize| (i * step % n) as f64;
            (0..n)
                .map(|i| DVec3::new(at(i), at(i) * (n as f64 - at(i)), 0.0))
                .collect()
        };
        let start = std::time::Instant::now();
        check(&teeth(MAX_CONCAVE - 1));
        let _ = triangulate(&star(MAX_CONCAVE - 1)).unwrap();
        assert!(start.elapsed().as_secs_f64() < 5.0, "{:?}", start.elapsed());
    }

    proptest! {
        /// Random closed lines on a small lattice: they cross and touch themselves in every way.
        #[test]
        fn any_polygon_gives_its_triangles(points in prop::collection::vec((0..5i32, 0..5i32), 4..40)) {
            let corners: Vec<DVec3> = points.iter().map(|&(x, y)| DVec3::new(x.into(), y.into(), 0.0)).collect();
            let triangles = triangulate(&corners).unwrap();
            prop_assert_eq!(triangles.len(), corners.len() - 2);
            // every side of the polygon is a side of exactly one triangle, whatever the shape
            let n = corners.len();
            let mut sides: Vec<[usize; 2]> = triangles
                .iter()
                .flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]])
                .filter(|[a, b]| (a + 1) % n == *b)
                .collect();
            sides.sort_unstable();
            let expected: Vec<_> = (0..n).map(|i| [i, (i + 1) % n]).collect();
            prop_assert_eq!(sides, expected);
        }

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
