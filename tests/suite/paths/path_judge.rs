//! The judge of the intersection analysis: invariants that hold for every mesh, checked against brute force.
//!
//! It has its own predicate (integers, no filter but a coarse one), its own list of crossings and ends, and reads the
//! analysis as data. Nothing here traces.

use std::collections::{BTreeMap, BTreeSet};

use glam::DVec3;
use num_bigint::BigInt;
use num_traits::{Signed, Zero};
use percale::geometry::Mesh;
use percale::untangle::{Analysis, End, PathKind};
use percale::verify::audit;

/// Above this many edge-face pairs the list of all crossings is not made by brute force, only that of the ends.
const MAX_BRUTE_FORCE: usize = 4_000_000;

/// Panics with `name` and the reason if the analysis breaks an invariant.
pub(crate) fn judge(name: &str, mesh: &Mesh, x: &[DVec3], analysis: &Analysis) {
    let judge = Judge {
        name,
        mesh,
        x,
        analysis,
    };
    judge.crossings_are_all_found();
    judge.segments_are_the_crossing_faces();
    judge.every_side_of_every_segment_is_on_one_path();
    judge.paths_are_connected();
    judge.partners_answer_each_other();
    judge.ends_are_boundary_crossings_and_loop_vertices();
    judge.kinds_say_where_paths_end();
}

struct Judge<'a> {
    name: &'a str,
    mesh: &'a Mesh,
    x: &'a [DVec3],
    analysis: &'a Analysis,
}

/// Orientation of four vertices: whether it is positive after the perturbation, and whether it is zero before.
fn orientation(x: &[DVec3], v: [u32; 4]) -> (bool, bool) {
    // coarse filter: 100 ε times the product of the largest differences, far above any rounding error
    let [a, b, c, d] = v.map(|v| x[v as usize]);
    let (p, q, r) = (b - a, c - a, d - a);
    let det = p.cross(q).dot(r);
    let size = |u: DVec3| u.abs().max_element();
    if det.abs() > 100.0 * f64::EPSILON * size(p) * size(q) * size(r) {
        return (det > 0.0, false);
    }
    let scaled = |value: f64| -> BigInt {
        // all finite doubles are multiples of 2^-1074
        let bits = value.abs().to_bits();
        let (exponent, fraction) = (bits >> 52, bits & ((1 << 52) - 1));
        let (mantissa, shift) = if exponent == 0 {
            (fraction, 0)
        } else {
            (fraction | 1 << 52, exponent - 1)
        };
        let magnitude = BigInt::from(mantissa) << shift;
        if value < 0.0 { -magnitude } else { magnitude }
    };
    let rows: Vec<[BigInt; 3]> = [a, b, c, d]
        .iter()
        .map(|p| p.to_array().map(scaled))
        .collect();
    let ids: Vec<[BigInt; 3]> = v
        .iter()
        .map(|&i| [1, 2, 3].map(|k| BigInt::from(i).pow(k)))
        .collect();
    // cubic in ε, each row a linear polynomial
    let linear = |r: usize, k: usize| [&rows[r][k] - &rows[0][k], &ids[r][k] - &ids[0][k]];
    let multiply = |p: &[BigInt], q: &[BigInt]| -> Vec<BigInt> {
        let mut out = vec![BigInt::zero(); p.len() + q.len() - 1];
        for (i, a) in p.iter().enumerate() {
            for (j, b) in q.iter().enumerate() {
                out[i + j] += a * b;
            }
        }
        out
    };
    let mut cubic = vec![BigInt::zero(); 4];
    for (i, j, k, sign) in [
        (0, 1, 2, 1),
        (1, 2, 0, 1),
        (2, 0, 1, 1),
        (0, 2, 1, -1),
        (2, 1, 0, -1),
        (1, 0, 2, -1),
    ] {
        let term = multiply(&multiply(&linear(1, i), &linear(2, j)), &linear(3, k));
        for (c, t) in cubic.iter_mut().zip(term) {
            *c += t * sign;
        }
    }
    let first = cubic
        .iter()
        .find(|c| !c.is_zero())
        .expect("four different vertices");
    (first.is_positive(), cubic[0].is_zero())
}

impl Judge<'_> {
    fn fail(&self, why: String) -> ! {
        panic!("{}: {why}", self.name)
    }

    /// Whether an edge passes through a face (perturbed), and whether it does so properly (no sign is zero).
    fn passes(&self, edge: u32, face: u32) -> (bool, bool) {
        let [p, q] = self.mesh.edges()[edge as usize];
        let f = self.mesh.faces()[face as usize];
        let [a, b, c] = f;
        if f.contains(&p) || f.contains(&q) {
            return (false, false);
        }
        let at = |v: u32| self.x[v as usize];
        let apart = (0..3).any(|k| {
            let (low, high) = (at(p)[k].min(at(q)[k]), at(p)[k].max(at(q)[k]));
            f.iter().all(|&v| at(v)[k] < low) || f.iter().all(|&v| at(v)[k] > high)
        });
        if apart {
            return (false, false);
        }
        let o = |v| orientation(self.x, v);
        let (s, t) = (o([a, b, c, p]), o([a, b, c, q]));
        if s.0 == t.0 {
            return (false, false);
        }
        let turns = [o([p, q, a, b]), o([p, q, b, c]), o([p, q, c, a])];
        let passes = turns[0].0 == turns[1].0 && turns[1].0 == turns[2].0;
        (passes, passes && [s, t].iter().chain(&turns).all(|t| !t.1))
    }

    fn is_between_obstacles(&self, f: u32, g: u32) -> bool {
        [f, g]
            .iter()
            .all(|&f| self.mesh.is_obstacle(self.mesh.faces()[f as usize][0]))
    }

    fn crossings_are_all_found(&self) {
        let (edges, faces) = (self.mesh.edges().len(), self.mesh.faces().len());
        let found = &self.analysis.segments.crossings;
        if !found.is_sorted_by(|a, b| a < b) {
            self.fail("crossings are not ascending".into());
        }
        if edges * faces > MAX_BRUTE_FORCE {
            return;
        }
        let mut expected = Vec::new();
        for edge in 0..edges as u32 {
            let owner = self.mesh.faces_of_edge(edge)[0];
            for face in 0..faces as u32 {
                if !self.is_between_obstacles(owner, face) && self.passes(edge, face).0 {
                    expected.push([edge, face]);
                }
            }
        }
        let found: Vec<_> = found.iter().map(|c| [c.edge, c.face]).collect();
        if found != expected {
            self.fail(format!("crossings {found:?}, brute force {expected:?}"));
        }
    }

    /// The auditor's pairs, except those that only touch.
    fn segments_are_the_crossing_faces(&self) {
        let found: BTreeSet<[u32; 2]> = self
            .analysis
            .segments
            .segments
            .iter()
            .map(|s| s.faces)
            .collect();
        if found.len() != self.analysis.segments.segments.len() {
            self.fail("a pair of faces is listed twice".into());
        }
        let audited: BTreeSet<[u32; 2]> = audit::intersections(self.mesh, self.x)
            .into_iter()
            .collect();
        if let Some(pair) = found.difference(&audited).next() {
            self.fail(format!("faces {pair:?} do not meet"));
        }
        for &[f, g] in audited.difference(&found) {
            let sides = |f: u32| self.mesh.face_edges()[f as usize];
            let proper = sides(f).into_iter().any(|e| self.passes(e, g).1)
                || sides(g).into_iter().any(|e| self.passes(e, f).1);
            if proper {
                self.fail(format!("faces {f}, {g} cross and are not listed"));
            }
        }
    }

    fn every_side_of_every_segment_is_on_one_path(&self) {
        let mut seen = BTreeMap::new();
        for path in &self.analysis.paths {
            for (&segment, &face) in path.segments.iter().zip(&path.faces) {
                *seen.entry((segment, face)).or_insert(0) += 1;
            }
        }
        for (number, segment) in (0u32..).zip(&self.analysis.segments.segments) {
            for face in segment.faces {
                if seen.remove(&(number, face)) != Some(1) {
                    self.fail(format!(
                        "side {face} of segment {number} is not on exactly one path"
                    ));
                }
            }
        }
        if !seen.is_empty() {
            self.fail(format!("paths use sides that do not exist: {seen:?}"));
        }
        let count: usize = self.analysis.contours.iter().map(|c| c.segment_count).sum();
        if count != self.analysis.segments.segments.len() {
            self.fail("segments of contours do not add up".into());
        }
    }

    fn paths_are_connected(&self) {
        let found = &self.analysis.segments;
        for (number, path) in self.analysis.paths.iter().enumerate() {
            let n = path.segments.len();
            let is_closed = path.kind.is_closed();
            if path.faces.len() != n || path.points.len() != n + usize::from(!is_closed) {
                self.fail(format!("path {number} has the wrong number of points"));
            }
            let point = |k: usize| path.points[if is_closed { k % n } else { k }];
            for k in 0..n {
                let mut ends = found.segments[path.segments[k] as usize].ends;
                let mut between = [point(k), point(k + 1)];
                let key = |e: &End| format!("{e:?}");
                ends.sort_by_key(key);
                between.sort_by_key(key);
                if ends != between {
                    self.fail(format!("path {number}, step {k}: not between its points"));
                }
            }
            for k in 0..if is_closed { n } else { n - 1 } {
                let next = (k + 1) % n;
                let side = |k: usize| {
                    let faces = found.segments[path.segments[k] as usize].faces;
                    let own = path.faces[k];
                    (own, faces[usize::from(faces[0] == own)])
                };
                let ((a, a_other), (b, b_other)) = (side(k), side(next));
                let fits = match point(k + 1) {
                    End::Crossing(c) => {
                        let c = found.crossings[c as usize];
                        let around = self.mesh.faces_of_edge(c.edge);
                        let steps = |from: u32, to: u32| {
                            around.len() == 2
                                && around.contains(&from)
                                && around.contains(&to)
                                && from != to
                        };
                        (a == c.face && b == c.face && steps(a_other, b_other))
                            || (a_other == c.face && b_other == c.face && steps(a, b))
                    }
                    End::Loop(v) => {
                        let has = |f: u32| self.mesh.faces()[f as usize].contains(&v);
                        // a fold turns to the other side of the same segment; a split goes on with another
                        has(a)
                            && has(b)
                            && (path.segments[k] != path.segments[next]
                                || (a == b_other && b == a_other))
                    }
                };
                if !fits {
                    self.fail(format!("path {number} breaks after step {k}"));
                }
            }
        }
    }

    fn partners_answer_each_other(&self) {
        let found = &self.analysis.segments;
        for (number, path) in self.analysis.paths.iter().enumerate() {
            let partner = &self.analysis.paths[path.partner as usize];
            if partner.partner as usize != number || partner.contour != path.contour {
                self.fail(format!(
                    "path {number} and its partner do not know each other"
                ));
            }
            if partner.segments.len() != path.segments.len() {
                self.fail(format!("path {number} and its partner differ in length"));
            }
            let length = |p: &percale::untangle::Path| -> f64 {
                p.polyline(found, self.x)
                    .windows(2)
                    .map(|w| w[0].distance(w[1]))
                    .sum()
            };
            let (a, b) = (length(path), length(partner));
            // the same terms, perhaps in another order: n roundings each
            if (a - b).abs() > path.segments.len() as f64 * f64::EPSILON * a {
                self.fail(format!("path {number}: {a} m, its partner {b} m"));
            }
            for k in 0..path.points.len() {
                let other = path.corresponding(k);
                if partner.points[other] != path.points[k] || partner.corresponding(other) != k {
                    self.fail(format!("point {k} of path {number} has no counterpart"));
                }
            }
            let range = &self.analysis.contours[path.contour as usize].paths;
            if !range.contains(&(number as u32)) {
                self.fail(format!("path {number} is not in its contour"));
            }
        }
    }

    /// Ends of paths are the brute-force list of crossings of edges that do not have two faces; points at vertices
    /// are the brute-force list of faces that cross beyond a common vertex.
    fn ends_are_boundary_crossings_and_loop_vertices(&self) {
        let mut expected: BTreeMap<[u32; 2], usize> = BTreeMap::new();
        for edge in 0..self.mesh.edges().len() as u32 {
            let around = self.mesh.faces_of_edge(edge);
            if around.len() == 2 {
                continue;
            }
            for face in 0..self.mesh.faces().len() as u32 {
                if !self.is_between_obstacles(around[0], face) && self.passes(edge, face).0 {
                    // every sheet at the edge ends there, on both of its sides
                    expected.insert([edge, face], 2 * around.len());
                }
            }
        }
        let mut at_vertex: Vec<Vec<u32>> = vec![Vec::new(); self.mesh.vertex_count()];
        for (face, corners) in (0u32..).zip(self.mesh.faces()) {
            corners
                .iter()
                .for_each(|&v| at_vertex[v as usize].push(face));
        }
        let mut expected_loops: BTreeMap<u32, usize> = BTreeMap::new();
        for (v, faces) in (0u32..).zip(&at_vertex) {
            if self.mesh.is_obstacle(v) {
                continue;
            }
            for (i, &f) in faces.iter().enumerate() {
                for &g in &faces[i + 1..] {
                    let opposite = |f: u32| {
                        let mut sides = self.mesh.face_edges()[f as usize].into_iter();
                        sides
                            .find(|&e| !self.mesh.edges()[e as usize].contains(&v))
                            .expect("the side opposite to v")
                    };
                    if self.passes(opposite(f), g).0 || self.passes(opposite(g), f).0 {
                        *expected_loops.entry(v).or_insert(0) += 1;
                    }
                }
            }
        }
        let mut ends = BTreeMap::new();
        let mut loops = BTreeMap::new();
        for path in &self.analysis.paths {
            for point in &path.points {
                if let End::Loop(v) = *point {
                    *loops.entry(v).or_insert(0) += 1;
                }
            }
            if !path.kind.is_closed() {
                for point in [path.points[0], path.points[path.points.len() - 1]] {
                    let End::Crossing(c) = point else {
                        self.fail("a path ends at a loop vertex".into());
                    };
                    let c = self.analysis.segments.crossings[c as usize];
                    *ends.entry([c.edge, c.face]).or_insert(0) += 1;
                }
            }
        }
        if ends != expected {
            self.fail(format!("path ends {ends:?}, brute force {expected:?}"));
        }
        if loops != expected_loops {
            self.fail(format!(
                "loop vertices {loops:?}, brute force {expected_loops:?}"
            ));
        }
    }

    fn kinds_say_where_paths_end(&self) {
        let found = &self.analysis.segments;
        for (number, path) in self.analysis.paths.iter().enumerate() {
            if path.kind.is_closed() {
                continue;
            }
            let last = path.points.len() - 1;
            let mut inside = 0;
            let mut could_touch = 0;
            for (point, face) in [
                (path.points[0], path.faces[0]),
                (path.points[last], path.faces[last - 1]),
            ] {
                let End::Crossing(c) = point else {
                    unreachable!()
                };
                if found.crossings[c as usize].face == face {
                    inside += 1;
                    could_touch += usize::from(found.locations[c as usize].is_touch);
                }
            }
            let claimed = match path.kind {
                PathKind::Bb | PathKind::Blb => 0,
                PathKind::Bi | PathKind::Bli => 1,
                PathKind::Ii => 2,
                PathKind::Closed | PathKind::Ll => unreachable!(),
            };
            if claimed > inside || inside - claimed > could_touch {
                self.fail(format!(
                    "path {number} is {:?} but has {inside} ends inside",
                    path.kind
                ));
            }
            let has_loop = matches!(path.kind, PathKind::Bli | PathKind::Blb);
            let split = self.analysis.contours[path.contour as usize].kind
                == percale::untangle::Kind::Cross;
            if (path.loop_vertices().len() == 1) != (has_loop || split) {
                self.fail(format!(
                    "path {number} is {:?} with loop vertices {:?}",
                    path.kind,
                    path.loop_vertices()
                ));
            }
        }
    }
}
