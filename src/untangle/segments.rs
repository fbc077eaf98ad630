//! Where faces cross: edges through faces, and the segments between these points.
//!
//! Every crossing is an edge that passes through a face, with no vertex in common, by the signs of
//! [`super::perturb`]: there are no touching cases left. In general position two faces meet
//!
//! ```text
//! no common vertex     in nothing, or in a segment between two crossings
//! one common vertex    in that vertex, or in a segment from it to one crossing: a loop vertex ([WLG06] §4)
//! a common edge        in that edge
//! ```
//!
//! so the crossings alone determine all segments. \[WLG06\] §4 counts two *corresponding* segments
//! per pair of faces, one on each; here a [`Segment`] is the pair, and its two sides are the
//! paper's segments.

use std::sync::Arc;

use glam::DVec3;
use rayon::prelude::*;

use super::perturb::{self, Frame};
use crate::geometry::intersect::overlapping_faces;
use crate::geometry::{Collider, Mesh};

/// An edge that passes through a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Crossing {
    /// The edge.
    pub edge: u32,
    /// The face; it has no vertex in common with the edge.
    pub face: u32,
}

/// Where a crossing is, in floats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Location {
    /// In space, in metres.
    pub position: DVec3,
    /// Along the edge, from 0 at its first vertex to 1.
    pub along_edge: f64,
    /// Weights of the face's corners.
    pub weights: DVec3,
    /// Whether something only touches here (a vertex on a face, an edge on an edge, a common
    /// plane), so that the perturbation has made it a crossing.
    pub is_touch: bool,
}

/// An end of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// A crossing, by its number.
    Crossing(u32),
    /// The vertex that both faces have in common.
    Loop(u32),
}

/// The line in which two faces meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The faces, ascending.
    pub faces: [u32; 2],
    /// Its ends; a loop vertex comes last.
    pub ends: [End; 2],
}

/// All crossings and segments of a mesh.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Segments {
    /// Edges through faces, ascending.
    pub crossings: Vec<Crossing>,
    /// Where each crossing is.
    pub locations: Vec<Location>,
    /// Pairs of crossing faces, ascending.
    pub segments: Vec<Segment>,
}

impl Segments {
    /// Finds them all. Pairs of two obstacle faces are left out: no certificate covers them.
    ///
    /// Positions must have passed `geometry::mesh::check_positions`. Parallel, in the same
    /// order for any number of threads.
    pub fn find(mesh: &Mesh, x: &[DVec3]) -> Self {
        let sheets = Sheets::new(mesh, x);
        let crossings = overlapping_faces(mesh, x, |pair, out| sheets.cross(pair, out));
        sheets.join(crossings)
    }

    /// The same by the tree of a collider, which need not be built anew.
    pub(super) fn find_by(collider: &mut Collider, x: &[DVec3]) -> Self {
        let mesh = Arc::clone(collider.mesh());
        let sheets = Sheets::new(&mesh, x);
        let crossings = collider.overlapping_faces(x, |pair, out| sheets.cross(pair, out));
        sheets.join(crossings)
    }

    /// Position of a segment's end, in metres.
    pub fn position(&self, x: &[DVec3], end: End) -> DVec3 {
        match end {
            End::Crossing(c) => self.locations[c as usize].position,
            End::Loop(v) => x[v as usize],
        }
    }
}
/// A face with what the filters need.
struct Plane {
    corners: [u32; 3],
    origin: DVec3,
    normal: DVec3,
    magnitude: DVec3,
}

/// On which side of a plane a vertex is: −1, 1, or 0 where floats cannot tell.
impl Plane {
    fn of(corners: [u32; 3], x: &[DVec3]) -> Self {
        let [a, b, c] = corners.map(|v| x[v as usize]);
        Self {
            corners,
            origin: a,
            normal: (b - a).cross(c - a),
            magnitude: perturb::VOLUME_ERROR * perturb::cross_magnitude(b - a, c - a),
        }
    }

    fn side(&self, p: DVec3) -> i32 {
        let w = p - self.origin;
        let (value, error) = (self.normal.dot(w), self.magnitude.dot(w.abs()));
        i32::from(value > error) - i32::from(value < -error)
    }
}

/// What the tests of one mesh share.
struct Sheets<'a> {
    mesh: &'a Mesh,
    x: &'a [DVec3],
    planes: Vec<Plane>,
    frame: Frame,
}

impl<'a> Sheets<'a> {
    fn new(mesh: &'a Mesh, x: &'a [DVec3]) -> Self {
        let faces = mesh.faces().par_iter().with_min_len(4096);
        Self {
            mesh,
            x,
            planes: faces.map(|&f| Plane::of(f, x)).collect(),
            frame: Frame::first(x, mesh.faces()),
        }
    }

    /// Makes locations and segments of all crossings, in any order.
    fn join(&self, mut crossings: Vec<Crossing>) -> Segments {
        crossings.sort_unstable();
        let each = crossings.par_iter().with_min_len(1024);
        Segments {
            locations: each.map(|c| locate(self.mesh, self.x, *c)).collect(),
            segments: pair_up(self.mesh, &crossings),
            crossings,
        }
    }

    /// Finds the crossings between two faces that those faces' own edges make.
    fn cross(&self, pair: [u32; 2], out: &mut Vec<Crossing>) {
        let Self {
            mesh, x, planes, ..
        } = self;
        let [a, b] = pair.map(|f| &planes[f as usize]);
        // a face wholly on one side of the other's plane does not meet it beyond common vertices
        let apart = |f: &Plane, g: &Plane| {
            let mut sides = f.corners.iter().filter(|v| !g.corners.contains(v));
            let first = sides.next().map_or(0, |&v| g.side(x[v as usize]));
            first != 0 && sides.all(|&v| g.side(x[v as usize]) == first)
        };
        if apart(a, b) || apart(b, a) {
            return;
        }
        for [f, g] in [pair, [pair[1], pair[0]]] {
            let plane = &planes[g as usize];
            for &edge in &mesh.face_edges()[f as usize] {
                let ends = mesh.edges()[edge as usize];
                if mesh.edge_owner()[edge as usize] == f
                    && !ends.iter().any(|v| plane.corners.contains(v))
                    && self.passes(ends, plane)
                {
                    out.push(Crossing { edge, face: g });
                }
            }
        }
    }

    /// Whether an edge passes through a face, after the perturbation.
    fn passes(&self, ends: [u32; 2], face: &Plane) -> bool {
        let x = self.x;
        let [p, q] = ends;
        let [a, b, c] = face.corners;
        let (at_p, at_q) = (face.side(x[p as usize]), face.side(x[q as usize]));
        if at_p * at_q > 0 || (at_p * at_q == 0 && beside(x, ends, face)) {
            return false;
        }
        let is_positive = |vertices| perturb::is_positive(x, self.frame, vertices);
        let is_above = |side: i32, v| match side {
            0 => is_positive([a, b, c, v]),
            s => s > 0,
        };
        if is_above(at_p, p) == is_above(at_q, q) {
            return false;
        }
        let turn = is_positive([p, q, a, b]);
        is_positive([p, q, b, c]) == turn && is_positive([p, q, c, a]) == turn
    }
}

/// Whether an edge certainly passes beside a face, seen along the main axis of its normal; `false`
/// means "ask".
///
/// This is what makes flat sheets cheap: there every neighbouring pair is coplanar, and floats
/// cannot tell sides.
fn beside(x: &[DVec3], ends: [u32; 2], face: &Plane) -> bool {
    let n = face.normal.abs();
    let k = if n.x >= n.y && n.x >= n.z {
        0
    } else if n.y >= n.z {
        1
    } else {
        2
    };
    let flat = |v: u32| {
        let p = x[v as usize];
        [p[(k + 1) % 3], p[(k + 2) % 3]]
    };
    let [a, b, c] = face.corners.map(flat);
    let [p, q] = ends.map(flat);
    let around = turn(a, b, c);
    let outside = |from, to| {
        let side = turn(from, to, p);
        side != 0 && side != around && turn(from, to, q) == side
    };
    around != 0 && (outside(a, b) || outside(b, c) || outside(c, a)) || {
        let side = turn(p, q, a);
        side != 0 && turn(p, q, b) == side && turn(p, q, c) == side
    }
}

/// Rounding error of [`turn`] relative to the magnitudes: two differences, a product and a
/// subtraction round once each, 4 u = 2 ε; one more ε for the rounding of the magnitudes.
const TURN_ERROR: f64 = 3.0 * f64::EPSILON;

/// Sign of the turn a → b → c in the plane, 0 where floats cannot tell.
fn turn(a: [f64; 2], b: [f64; 2], c: [f64; 2]) -> i32 {
    let left = (b[0] - a[0]) * (c[1] - a[1]);
    let right = (b[1] - a[1]) * (c[0] - a[0]);
    let error = TURN_ERROR * (left.abs() + right.abs());
    i32::from(left - right > error) - i32::from(left - right < -error)
}

/// Place of a crossing in floats; where rounding leaves nothing, the middle.
fn locate(mesh: &Mesh, x: &[DVec3], crossing: Crossing) -> Location {
    let [p, q] = mesh.edges()[crossing.edge as usize].map(|v| x[v as usize]);
    let [a, b, c] = mesh.faces()[crossing.face as usize].map(|v| x[v as usize]);
    let share = |part: f64, whole: f64, middle: f64| {
        let share = part / whole;
        if share.is_finite() {
            share.clamp(0.0, 1.0)
        } else {
            middle
        }
    };
    let volume = |points| perturb::volume(points).0.abs();
    let (at_p, at_q) = (volume([a, b, c, p]), volume([a, b, c, q]));
    let along_edge = share(at_p, at_p + at_q, 0.5);
    let [wa, wb, wc] = [[p, q, b, c], [p, q, c, a], [p, q, a, b]].map(volume);
    let sum = wa + wb + wc;
    let weights = DVec3::new(wa, wb, wc).map(|w| share(w, sum, 1.0 / 3.0));
    Location {
        position: p + along_edge * (q - p),
        along_edge,
        weights,
        is_touch: is_touch(mesh, x, crossing),
    }
}

fn is_touch(mesh: &Mesh, x: &[DVec3], crossing: Crossing) -> bool {
    let [p, q] = mesh.edges()[crossing.edge as usize];
    let [a, b, c] = mesh.faces()[crossing.face as usize];
    let signs = [
        [a, b, c, p],
        [a, b, c, q],
        [p, q, a, b],
        [p, q, b, c],
        [p, q, c, a],
    ];
    signs.into_iter().any(|s| perturb::sign(x, s) == 0)
}

/// Makes the segments from the crossings, in time linear in their number (and that of the faces).
///
/// Crossing (e, f) is an end of the segment (g, f) for every face g around e. Segments are
/// collected in buckets by their smaller face; a bucket holds the few faces that cross it.
fn pair_up(mesh: &Mesh, crossings: &[Crossing]) -> Vec<Segment> {
    let mut starts = vec![0u32; mesh.faces().len() + 1];
    let for_each = |visit: &mut dyn FnMut(usize, u32, u32)| {
        for (number, c) in (0u32..).zip(crossings) {
            for &g in mesh.faces_of_edge(c.edge) {
                visit(g.min(c.face) as usize, g.max(c.face), number);
            }
        }
    };
    for_each(&mut |first, _, _| starts[first + 1] += 1);
    for f in 0..mesh.faces().len() {
        starts[f + 1] += starts[f];
    }
    let mut next = starts.clone();
    let mut ends = vec![(0, 0); starts[mesh.faces().len()] as usize];
    for_each(&mut |first, second, crossing| {
        ends[next[first] as usize] = (second, crossing);
        next[first] += 1;
    });

    let mut segments = Vec::with_capacity(ends.len() / 2);
    for first in 0..mesh.faces().len() {
        let bucket = &mut ends[starts[first] as usize..starts[first + 1] as usize];
        bucket.sort_unstable();
        for group in bucket.chunk_by(|a, b| a.0 == b.0) {
            let faces = [first as u32, group[0].0];
            let ends = match *group {
                [(_, c), (_, d)] => [End::Crossing(c), End::Crossing(d)],
                [(_, c)] => [End::Crossing(c), End::Loop(common_vertex(mesh, faces))],
                _ => panic!(
                    "faces {faces:?} meet in {} crossings: a predicate is wrong",
                    group.len()
                ),
            };
            segments.push(Segment { faces, ends });
        }
    }
    segments
}

fn common_vertex(mesh: &Mesh, faces: [u32; 2]) -> u32 {
    let [f, g] = faces.map(|f| mesh.faces()[f as usize]);
    let vertex = f.into_iter().find(|v| g.contains(v));
    vertex.unwrap_or_else(|| panic!("faces {faces:?} meet in one crossing: a predicate is wrong"))
}
