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
        directions: directions(mesh, x),
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
    directions: [Big; 3],
    analysis: &'a Analysis,
}

/// A point or a direction in integers; all finite doubles are multiples of 2^-1074.
type Big = [BigInt; 3];

fn scaled(p: DVec3) -> Big {
    p.to_array().map(|value| {
        let bits = value.abs().to_bits();
        let (exponent, fraction) = (bits >> 52, bits & ((1 << 52) - 1));
        let (mantissa, shift) = if exponent == 0 {
            (fraction, 0)
        } else {
            (fraction | 1 << 52, exponent - 1)
        };
        let magnitude = BigInt::from(mantissa) << shift;
        if value < 0.0 { -magnitude } else { magnitude }
    })
}

/// Divides by the largest power of two that divides all, so that products stay short; no sign depends on it.
fn shorten(points: &mut [Big]) {
    let zeros = points.iter().flatten().filter_map(BigInt::trailing_zeros);
    let shift = zeros.min().unwrap_or(0);
    points.iter_mut().flatten().for_each(|c| *c >>= shift);
}

fn minus(p: &Big, q: &Big) -> Big {
    [0, 1, 2].map(|k| &p[k] - &q[k])
}

/// The directions of the perturbation (docs/method.md, 8.1): of the first face a, b, c whose area is not exactly zero
/// a − c, b − a and their cross product; the axes where there is none.
fn directions(mesh: &Mesh, x: &[DVec3]) -> [Big; 3] {
    let of_face = |face: &[u32; 3]| {
        let mut corners = face.map(|v| scaled(x[v as usize]));
        shorten(&mut corners);
        let [a, b, c] = &corners;
        let (u, v) = (minus(a, c), minus(b, a));
        let normal = [(1, 2), (2, 0), (0, 1)].map(|(i, j)| &u[i] * &v[j] - &u[j] * &v[i]);
        let has_area = normal.iter().any(|c| !c.is_zero());
        has_area.then_some([u, v, normal])
    };
    let axes = || [[1, 0, 0], [0, 1, 0], [0, 0, 1]].map(|axis| axis.map(BigInt::from));
    mesh.faces().iter().find_map(of_face).unwrap_or_else(axes)
}

/// A polynomial in α, β, γ: coefficients by the exponents of γ, β and α, in this order. As each of α, β, γ is smaller than
/// all powers of the one before, the first term that is not zero is the largest.
type Polynomial = BTreeMap<[u32; 3], BigInt>;

fn product(p: &Polynomial, q: &Polynomial) -> Polynomial {
    let mut out = Polynomial::new();
    for (i, a) in p {
        for (j, b) in q {
            *out.entry([0, 1, 2].map(|k| i[k] + j[k])).or_default() += a * b;
        }
    }
    out
}

/// Orientation of four vertices: whether it is positive after the perturbation, and whether it is zero before.
fn orientation(x: &[DVec3], directions: &[Big; 3], v: [u32; 4]) -> (bool, bool) {
    // coarse filter: 100 ε times the product of the largest differences, far above any rounding error
    let [a, b, c, d] = v.map(|v| x[v as usize]);
    let (p, q, r) = (b - a, c - a, d - a);
    let det = p.cross(q).dot(r);
    let size = |u: DVec3| u.abs().max_element();
    if det.abs() > 100.0 * f64::EPSILON * size(p) * size(q) * size(r) {
        return (det > 0.0, false);
    }
    let mut still = [a, b, c, d].map(scaled);
    shorten(&mut still);
    // coordinate k of vertex r less that of the first one, terms that are zero left out
    let entry = |r: usize, k: usize| -> Polynomial {
        let number = |power| BigInt::from(v[r]).pow(power) - BigInt::from(v[0]).pow(power);
        let [alpha, beta, gamma] = directions;
        let terms = [
            ([0, 0, 0], &still[r][k] - &still[0][k]),
            ([0, 0, 1], number(1) * &alpha[k]),
            ([0, 1, 0], number(2) * &beta[k]),
            ([1, 0, 0], number(3) * &gamma[k]),
        ];
        terms.into_iter().filter(|(_, c)| !c.is_zero()).collect()
    };
    let rows = [1, 2, 3].map(|r| [0, 1, 2].map(|k| entry(r, k)));
    let mut volume = Polynomial::new();
    for (i, j, k, sign) in [
        (0, 1, 2, 1),
        (1, 2, 0, 1),
        (2, 0, 1, 1),
        (0, 2, 1, -1),
        (2, 1, 0, -1),
        (1, 0, 2, -1),
    ] {
        for (exponents, c) in product(&product(&rows[0][i], &rows[1][j]), &rows[2][k]) {
            *volume.entry(exponents).or_default() += c * sign;
        }
    }
    let (exponents, first) = volume
        .iter()
        .find(|(_, c)| !c.is_zero())
        .expect("four different vertices");
    (first.is_positive(), *exponents != [0, 0, 0])
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
        let o = |v| orientation(self.x, &self.directions, v);
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
