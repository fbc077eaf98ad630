//! The auditor: a second, independent implementation of the static intersection test.
//!
//! It finds the crossing face pairs of stored positions, bit for bit, and shares no code with the
//! continuous test, with `geometry::intersect` or with the tree: a judge must not lean on the
//! defendant.
//!
//! **Definition.** Two faces *cross* if some feature of the one (vertex, edge, face) meets some
//! feature of the other with which it has no vertex in common; features are closed sets, so
//! touching counts. For faces of positive area this says:
//!
//! ```text
//! no common vertex     they meet at all
//! one common vertex    they meet anywhere besides it        (loop vertices, coplanar overlap)
//! a common edge        they meet anywhere besides it        (folded flat onto each other)
//! ```
//!
//! A face that has no area is legal by itself; whether it crosses another follows from the
//! definition. Pairs of two obstacle faces are outside the certificate and counted apart.
//!
//! **How.** Candidate pairs come from a recursive median split of the face boxes. A pair is
//! dismissed if some direction separates its features beyond the rounding error; what is left is
//! decided by orientation signs, in floats where these are certain, in integers otherwise. Right
//! for all finite coordinates: where products over- or underflow, the float tests do not claim
//! anything.

use dashu_int::{IBig, Sign};
use glam::{DVec2, DVec3};

use crate::geometry::Mesh;

/// Crossing face pairs with at least one face of a cloth: each as `[smaller, larger]`, ascending.
///
/// # Panics
/// If a coordinate is not finite, or positions are missing.
pub fn intersections(mesh: &Mesh, x: &[DVec3]) -> Vec<[u32; 2]> {
    crossings(mesh, x, false)
}

/// Crossing pairs of two obstacle faces, which no certificate covers; same form as
/// [`intersections`].
///
/// # Panics
/// If a coordinate is not finite, or positions are missing.
pub fn obstacle_crossings(mesh: &Mesh, x: &[DVec3]) -> Vec<[u32; 2]> {
    crossings(mesh, x, true)
}

fn crossings(mesh: &Mesh, x: &[DVec3], between_obstacles: bool) -> Vec<[u32; 2]> {
    assert_eq!(x.len(), mesh.vertex_count(), "one position per vertex");
    assert!(
        x.iter().all(|p| p.is_finite()),
        "positions must be finite to be judged"
    );
    let faces = mesh.faces();
    let is_obstacle: Vec<bool> = faces.iter().map(|f| mesh.is_obstacle(f[0])).collect();
    let boxes: Vec<Extent> = (0..faces.len() as u32)
        .map(|face| {
            let [a, b, c] = faces[face as usize].map(|v| x[v as usize]);
            Extent {
                face,
                min: a.min(b).min(c).to_array(),
                max: a.max(b).max(c).to_array(),
            }
        })
        .filter(|e| !between_obstacles || is_obstacle[e.face as usize])
        .collect();
    let test = |a: u32, b: u32| {
        (is_obstacle[a as usize] && is_obstacle[b as usize]) == between_obstacles
            && faces_cross(faces[a as usize], faces[b as usize], x)
    };
    let mut pairs = overlapping(boxes, Cell::ALL, 0, &test);
    pairs.sort_unstable();
    pairs
}

/// The box of a face.
#[derive(Clone, Copy)]
struct Extent {
    face: u32,
    min: [f64; 3],
    max: [f64; 3],
}

/// A part of space, closed below and open above.
#[derive(Clone, Copy)]
struct Cell {
    min: [f64; 3],
    end: [f64; 3],
}

impl Cell {
    const ALL: Self = Self {
        min: [f64::NEG_INFINITY; 3],
        end: [f64::INFINITY; 3],
    };

    fn contains(&self, p: [f64; 3]) -> bool {
        (0..3).all(|k| self.min[k] <= p[k] && p[k] < self.end[k])
    }
}

/// Below this number all pairs are compared; the split costs more than it saves.
const LEAF_SIZE: usize = 16;
/// Neither side of a split may keep more than this share of the boxes; else too many lie on both
/// sides.
const MAX_SHARE: f64 = 0.75;
/// Levels that run in parallel; beyond them tasks are too small to be worth it.
const PARALLEL_DEPTH: u32 = 6;

/// Pairs of overlapping boxes that pass `test`, each once, unsorted.
///
/// `boxes` are all those that meet `cell`. A pair is reported in the one cell that holds the least
/// corner of its common box: that corner lies in both boxes, so both were handed down to that cell.
fn overlapping(
    boxes: Vec<Extent>,
    cell: Cell,
    depth: u32,
    test: &(impl Fn(u32, u32) -> bool + Sync),
) -> Vec<[u32; 2]> {
    if boxes.len() > LEAF_SIZE
        && let Some(Split {
            axis,
            at,
            below,
            above,
        }) = split(&boxes, &cell)
    {
        drop(boxes);
        let (mut low, mut high) = (cell, cell);
        low.end[axis] = at;
        high.min[axis] = at;
        let below = || overlapping(below, low, depth + 1, test);
        let above = || overlapping(above, high, depth + 1, test);
        let (mut pairs, others) = if depth < PARALLEL_DEPTH {
            rayon::join(below, above)
        } else {
            (below(), above())
        };
        pairs.extend(others);
        return pairs;
    }
    let mut pairs = Vec::new();
    for (i, a) in boxes.iter().enumerate() {
        for b in &boxes[i + 1..] {
            let overlap = (0..3).all(|k| a.min[k] <= b.max[k] && b.min[k] <= a.max[k]);
            let corner = std::array::from_fn(|k| a.min[k].max(b.min[k]));
            if overlap && cell.contains(corner) && test(a.face, b.face) {
                pairs.push([a.face.min(b.face), a.face.max(b.face)]);
            }
        }
    }
    pairs
}

/// The boxes on either side of a plane; those that it cuts are on both.
struct Split {
    axis: usize,
    at: f64,
    below: Vec<Extent>,
    above: Vec<Extent>,
}

/// A split at the median of the boxes' lower ends within the cell, along the axis of largest spread
/// on which it parts them well; none if there is no such axis.
fn split(boxes: &[Extent], cell: &Cell) -> Option<Split> {
    let end = |b: &Extent, k: usize| b.min[k].max(cell.min[k]);
    let spread = |k: usize| {
        let (low, high) = boxes
            .iter()
            .map(|b| end(b, k))
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), e| {
                (l.min(e), h.max(e))
            });
        high - low
    };
    let spreads = [0, 1, 2].map(spread);
    let mut axes = [0, 1, 2];
    axes.sort_by(|&i, &j| spreads[j].total_cmp(&spreads[i]));
    axes.into_iter().find_map(|axis| {
        let mut ends: Vec<f64> = boxes.iter().map(|b| end(b, axis)).collect();
        let middle = ends.len() / 2;
        let at = *ends.select_nth_unstable_by(middle, f64::total_cmp).1;
        let side = |is_inside: &dyn Fn(&Extent) -> bool| -> Vec<Extent> {
            boxes.iter().filter(|b| is_inside(b)).copied().collect()
        };
        let below = side(&|b| b.min[axis] < at);
        let above = side(&|b| b.max[axis] >= at);
        let limit = MAX_SHARE * boxes.len() as f64;
        (below.len().max(above.len()) as f64 <= limit).then_some(Split {
            axis,
            at,
            below,
            above,
        })
    })
}

/// Whether two faces cross, by the definition above reduced to the features that decide it.
///
/// No common vertex: if the triangles meet, an edge of one meets the other. One common vertex s: if
/// they meet in p ≠ s they meet along s–p, continued until it leaves one of the two through the
/// edge opposite to s. Common edge: the convex overlap then has a corner that is an apex in the
/// other face, or two sides that cross.
fn faces_cross(f: [u32; 3], g: [u32; 3], x: &[DVec3]) -> bool {
    let at = |v: u32| x[v as usize];
    let (a, b) = (f.map(at), g.map(at));
    let shared: Vec<u32> = f.into_iter().filter(|v| g.contains(v)).collect();
    match shared[..] {
        [] => {
            !separated(&a, &b)
                && (sides(a).into_iter().any(|e| segment_meets_triangle(e, b))
                    || sides(b).into_iter().any(|e| segment_meets_triangle(e, a)))
        }
        [s] => {
            let opposite = |face: [u32; 3]| {
                let k = face.iter().position(|&v| v == s).expect("s is shared");
                [at(face[(k + 1) % 3]), at(face[(k + 2) % 3])]
            };
            segment_meets_triangle(opposite(f), b) || segment_meets_triangle(opposite(g), a)
        }
        [s, t] => {
            let apex = |face: [u32; 3]| {
                let v = face.into_iter().find(|&v| v != s && v != t);
                at(v.expect("faces have three different vertices"))
            };
            let (s, t, p, q) = (at(s), at(t), apex(f), apex(g));
            point_meets_triangle(p, b)
                || point_meets_triangle(q, a)
                || segments_meet([s, p], [t, q])
                || segments_meet([t, p], [s, q])
        }
        _ => unreachable!("a mesh holds no two faces on the same vertices"),
    }
}

fn sides([a, b, c]: [DVec3; 3]) -> [[DVec3; 2]; 3] {
    [[a, b], [b, c], [c, a]]
}

/// Rounding error of one term of [`separated`] relative to `Σ|dₖ||xₖ − oₖ|`.
///
/// The difference, the product and two additions round once each: 4 u, u = ε/2. Both terms of a gap
/// and their subtraction double it and add one: 9 u; the computed sum of magnitudes may be 4 u too
/// small, which is of second order. 8 ε leaves a factor of almost two. Underflow is covered by the
/// absolute term in `separated`.
const SEPARATION_ERROR: f64 = 8.0 * f64::EPSILON;

/// Whether some direction *certainly* separates the convex hulls of `a` and `b`; `false` means
/// "ask".
///
/// Tried are the directions of the separating-axis theorem for triangles in space and in a plane:
/// normals, cross products of sides, and sides turned in their plane. Rounding of the direction
/// itself does no harm.
fn separated(a: &[DVec3], b: &[DVec3]) -> bool {
    let origin = b[0];
    let separates = |d: DVec3| {
        let (mut a_min, mut a_max) = (f64::INFINITY, f64::NEG_INFINITY);
        let (mut b_min, mut b_max) = (f64::INFINITY, f64::NEG_INFINITY);
        let mut magnitude = 0.0;
        for &p in a {
            let r = p - origin;
            let t = d.dot(r);
            (a_min, a_max) = (a_min.min(t), a_max.max(t));
            magnitude += d.abs().dot(r.abs());
        }
        for &p in b {
            let r = p - origin;
            let t = d.dot(r);
            (b_min, b_max) = (b_min.min(t), b_max.max(t));
            magnitude += d.abs().dot(r.abs());
        }
        // an overflow makes the magnitude infinite or NaN, and the comparison false
        (b_min - a_max).max(a_min - b_max) > SEPARATION_ERROR * magnitude + f64::MIN_POSITIVE
    };
    let sides_of = |p: &[DVec3]| -> ([DVec3; 3], usize) {
        match *p {
            [u, v, w] => ([v - u, w - v, u - w], 3),
            [u, v] => ([v - u, DVec3::ZERO, DVec3::ZERO], 1),
            _ => ([DVec3::ZERO; 3], 0),
        }
    };
    let ((a_sides, a_count), (b_sides, b_count)) = (sides_of(a), sides_of(b));
    // a segment has no normal of its own: take that of the plane through it and a point of the
    // other hull
    let between = b[0] - a[0];
    let normal = |s: &[DVec3; 3], count| s[0].cross(if count == 3 { s[1] } else { between });
    let normals = [normal(&a_sides, a_count), normal(&b_sides, b_count)];
    if normals.into_iter().any(&separates) {
        return true;
    }
    for n in normals {
        for &side in a_sides[..a_count].iter().chain(&b_sides[..b_count]) {
            if separates(n.cross(side)) {
                return true;
            }
        }
    }
    for &p in &a_sides[..a_count] {
        for &q in &b_sides[..b_count] {
            if separates(p.cross(q)) {
                return true;
            }
        }
    }
    false
}

/// Whether a closed segment and a closed triangle meet; exact, also where either is degenerate.
fn segment_meets_triangle([p, q]: [DVec3; 2], [a, b, c]: [DVec3; 3]) -> bool {
    if separated(&[p, q], &[a, b, c]) {
        return false;
    }
    let (above_p, above_q) = (side_of_plane(a, b, c, p), side_of_plane(a, b, c, q));
    if above_p * above_q > 0 {
        return false;
    }
    if above_p != 0 || above_q != 0 {
        // the line crosses the plane in one point, which is inside if it passes all sides on one
        // hand
        let hands = [(a, b), (b, c), (c, a)].map(|(u, v)| side_of_plane(p, q, u, v));
        return hands.iter().all(|&s| s >= 0) || hands.iter().all(|&s| s <= 0);
    }
    point_meets_triangle(p, [a, b, c])
        || sides([a, b, c])
            .into_iter()
            .any(|e| segments_meet([p, q], e))
}

/// Whether a point lies in a closed triangle; exact.
fn point_meets_triangle(p: DVec3, [a, b, c]: [DVec3; 3]) -> bool {
    if separated(&[p], &[a, b, c]) || side_of_plane(a, b, c, p) != 0 {
        return false;
    }
    match (0..3).find(|&k| turn(a, b, c, k) != 0) {
        // seen along an axis that does not lie in the plane, nothing is lost
        Some(k) => {
            let turns = [(a, b), (b, c), (c, a)].map(|(u, v)| turn(u, v, p, k));
            turns.iter().all(|&s| s >= 0) || turns.iter().all(|&s| s <= 0)
        }
        None => sides([a, b, c])
            .into_iter()
            .any(|e| point_meets_segment(p, e)),
    }
}

/// Whether two closed segments meet; exact.
fn segments_meet([p, q]: [DVec3; 2], [a, b]: [DVec3; 2]) -> bool {
    if separated(&[p, q], &[a, b]) || side_of_plane(p, q, a, b) != 0 {
        return false;
    }
    // in one plane: seen along any axis on which they are not parallel, they cross as they do in
    // the plane
    let turns = |k| {
        [
            turn(p, q, a, k),
            turn(p, q, b, k),
            turn(a, b, p, k),
            turn(a, b, q, k),
        ]
    };
    match (0..3).find(|&k| is_turned(p, q, a, b, k)) {
        Some(k) => {
            let [a, b, p, q] = turns(k);
            a * b <= 0 && p * q <= 0
        }
        None => {
            point_meets_segment(p, [a, b])
                || point_meets_segment(q, [a, b])
                || point_meets_segment(a, [p, q])
                || point_meets_segment(b, [p, q])
        }
    }
}

/// Whether a point lies on a closed segment; exact.
fn point_meets_segment(p: DVec3, [a, b]: [DVec3; 2]) -> bool {
    a.min(b).cmple(p).all() && p.cmple(a.max(b)).all() && (0..3).all(|k| turn(a, b, p, k) == 0)
}

/// Rounding error of the determinant in [`side_of_plane`] relative to the sum of its terms'
/// magnitudes.
///
/// A term is a product of three differences (3 roundings, 2 for the products), goes through the
/// subtraction of the cross product and two additions: 8 u = 4 ε. The computed sum of magnitudes is
/// too small by second order only.
const SIDE_ERROR: f64 = 5.0 * f64::EPSILON;

/// Sign of (b − a) × (c − a) · (d − a): the side of the plane a b c on which d lies.
fn side_of_plane(a: DVec3, b: DVec3, c: DVec3, d: DVec3) -> i32 {
    let (u, v, w) = (b - a, c - a, d - a);
    let value = u.cross(v).dot(w);
    let magnitude = DVec3::new(
        (u.y * v.z).abs() + (u.z * v.y).abs(),
        (u.z * v.x).abs() + (u.x * v.z).abs(),
        (u.x * v.y).abs() + (u.y * v.x).abs(),
    )
    .dot(w.abs());
    certain_sign(value, SIDE_ERROR * magnitude).unwrap_or_else(|| {
        let [a, b, c, d] = integers([a, b, c, d]);
        let (u, v, w) = (minus(&b, &a), minus(&c, &a), minus(&d, &a));
        sign(
            &((&u[1] * &v[2] - &u[2] * &v[1]) * &w[0]
                + (&u[2] * &v[0] - &u[0] * &v[2]) * &w[1]
                + (&u[0] * &v[1] - &u[1] * &v[0]) * &w[2]),
        )
    })
}

/// Rounding error of the determinant in [`turn`] relative to the sum of its terms' magnitudes: two
/// differences, a product and the subtraction are 4 u = 2 ε.
const TURN_ERROR: f64 = 3.0 * f64::EPSILON;

/// Sign of the turn from a→b to a→c, seen along axis `k`.
fn turn(a: DVec3, b: DVec3, c: DVec3, k: usize) -> i32 {
    let flat = |p: DVec3| DVec2::new(p[(k + 1) % 3], p[(k + 2) % 3]);
    let (u, v) = (flat(b) - flat(a), flat(c) - flat(a));
    let (left, right) = (u.x * v.y, u.y * v.x);
    certain_sign(left - right, TURN_ERROR * (left.abs() + right.abs())).unwrap_or_else(|| {
        let [a, b, c] = integers([a, b, c]);
        cross_sign(&minus(&b, &a), &minus(&c, &a), k)
    })
}

/// Whether the segments p q and a b are not parallel, seen along axis `k`; exact.
fn is_turned(p: DVec3, q: DVec3, a: DVec3, b: DVec3, k: usize) -> bool {
    let [p, q, a, b] = integers([p, q, a, b]);
    cross_sign(&minus(&q, &p), &minus(&b, &a), k) != 0
}

/// The sign of a value known up to `error`, if that is enough to tell it.
fn certain_sign(value: f64, error: f64) -> Option<i32> {
    let error = error + f64::MIN_POSITIVE; // where products underflow, nothing is certain
    if value > error {
        Some(1)
    } else if value < -error {
        Some(-1)
    } else {
        None
    }
}

type Integers = [IBig; 3];

/// The points in integers, all scaled by the same power of two.
fn integers<const N: usize>(points: [DVec3; N]) -> [Integers; N] {
    // |x| = mantissa · 2^(exponent − 1075)
    let parts = points.map(|p| {
        p.to_array().map(|x| {
            let bits = x.to_bits();
            let exponent = (bits >> 52 & 0x7ff) as usize;
            let fraction = bits & ((1 << 52) - 1);
            let (mantissa, exponent) = match exponent {
                0 => (fraction, 1),
                _ => (fraction | 1 << 52, exponent),
            };
            (x.is_sign_negative(), mantissa, exponent)
        })
    });
    let least = parts
        .iter()
        .flatten()
        .filter(|(_, mantissa, _)| *mantissa != 0)
        .map(|&(_, _, exponent)| exponent)
        .min()
        .unwrap_or(0);
    parts.map(|p| {
        p.map(|(negative, mantissa, exponent)| {
            let shift = exponent.saturating_sub(least); // saturates for zeros only
            let magnitude = IBig::from(mantissa) << shift;
            if negative { -magnitude } else { magnitude }
        })
    })
}

fn minus(a: &Integers, b: &Integers) -> Integers {
    std::array::from_fn(|k| &a[k] - &b[k])
}

/// Sign of component `k` of u × v.
fn cross_sign(u: &Integers, v: &Integers, k: usize) -> i32 {
    let (i, j) = ((k + 1) % 3, (k + 2) % 3);
    sign(&(&u[i] * &v[j] - &u[j] * &v[i]))
}

fn sign(value: &IBig) -> i32 {
    if *value == IBig::ZERO {
        0
    } else if value.sign() == Sign::Negative {
        -1
    } else {
        1
    }
}

#[cfg(test)]
mod tests;
