//! The static test: which faces cross at an instant, by exact predicates on the stored bits.
//!
//! Two faces *cross* if a feature of the one (vertex, edge, face) meets a feature of the other with
//! which it has no vertex in common. Features are closed, so touching counts; faces that share a
//! vertex or an edge cross if they meet anywhere else (loop vertices; overlap in a plane, folded
//! neighbours included).
//!
//! Beside that, *edge-face crossings* are counted as the collections of tangled meshes do it: an
//! edge and a face without a common vertex, the ends of the edge strictly on either side of the
//! face's plane, the point between in the closed face. An edge that merely touches, or lies in the
//! plane, is a crossing of faces but not of this kind.
//!
//! Signs come from the `robust` crate, which is exact unless its expansions leave the range of a
//! double. They do not: a coordinate of at least 1e-70 is a multiple of 2⁻²⁸⁵, hence a product of
//! three differences one of 2⁻⁸⁵⁵, and below 1e92.
//! `orientations_are_exact_at_the_ends_of_the_range` tests it. `verify::audit` is the second
//! opinion and shares no code with this file.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use glam::DVec3;
use rayon::prelude::*;
use robust::{Coord, Coord3D};

use super::box32::Box32;
use super::bvh::{Boxes, FacePair, Tree, joined};
use super::faces32::{FaceLooks, Positions32};
use super::fan::is_side_by_side;
use super::mesh::check_positions;
use super::{Collider, Mesh};

/// Which pairs of faces are looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// All but those of two obstacle faces, which no certificate covers.
    #[default]
    Certified,
    /// All.
    Everything,
}

/// What crosses at an instant; all lists ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Crossings {
    /// Crossing faces, the smaller index first.
    pub faces: Vec<[u32; 2]>,
    /// Edges and the faces that they pierce, `[edge, face]`.
    pub edge_faces: Vec<[u32; 2]>,
}

/// Numbers of crossings between two groups, or within one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Crossing pairs of faces.
    pub intersections: usize,
    /// Edge-face crossings.
    pub edge_face: usize,
}

/// All crossings at `x`; builds a tree of its own, see [`super::Collider::crossings`] for repeated
/// calls.
///
/// # Panics
/// If there is not one position per vertex.
pub fn crossings(mesh: &Mesh, x: &[DVec3], scope: Scope) -> Crossings {
    find(
        (&mut Tree::new(mesh), &mut Boxes::default()),
        mesh,
        x,
        scope,
    )
}

/// Whether anything crosses at `x`; builds a tree of its own, see [`super::Collider::has_crossings`] for repeated calls.
///
/// # Panics
/// If there is not one position per vertex.
pub fn has_crossings(mesh: &Mesh, x: &[DVec3], scope: Scope) -> bool {
    has(
        (&mut Tree::new(mesh), &mut Boxes::default()),
        mesh,
        x,
        scope,
    )
}

/// Crossing pairs of faces inside the certificate, the smaller index first, ascending.
///
/// # Panics
/// If there is not one position per vertex.
pub fn crossing_faces(mesh: &Mesh, x: &[DVec3]) -> Vec<[u32; 2]> {
    crossings(mesh, x, Scope::Certified).faces
}

impl Collider {
    /// All crossings at `x`.
    ///
    /// # Panics
    /// If there is not one position per vertex.
    pub fn crossings(&mut self, x: &[DVec3], scope: Scope) -> Crossings {
        let mesh = Arc::clone(self.mesh());
        find((&mut self.tree, &mut self.fitted), &mesh, x, scope)
    }

    /// Whether anything crosses at `x`: whether [`Self::crossings`] finds any.
    ///
    /// Costs less where something does, as it stops at what it meets first.
    ///
    /// # Panics
    /// If there is not one position per vertex.
    ///
    /// # Examples
    /// ```
    /// use std::sync::Arc;
    /// use percale::geometry::Scope;
    /// use percale::{Collider, DVec3, Mesh};
    ///
    /// let mesh = Arc::new(Mesh::new(6, vec![[0, 1, 2], [3, 4, 5]])?);
    /// let mut x = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.2, 0.1, 0.2], [1.2, 0.1, 0.2], [0.2, 0.1, 1.2]].map(DVec3::from);
    /// let mut collider = Collider::new(&mesh);
    /// assert!(!collider.has_crossings(&x, Scope::Certified));
    /// x[3].y = -0.1;
    /// assert!(collider.has_crossings(&x, Scope::Certified));
    /// # Ok::<(), percale::MeshError>(())
    /// ```
    pub fn has_crossings(&mut self, x: &[DVec3], scope: Scope) -> bool {
        let mesh = Arc::clone(self.mesh());
        has((&mut self.tree, &mut self.fitted), &mesh, x, scope)
    }

    /// [`overlapping_faces`] by the collider's tree.
    pub(crate) fn overlapping_faces<T: Send>(
        &mut self,
        x: &[DVec3],
        report: impl Fn([u32; 2], &mut Vec<T>) + Sync,
    ) -> Vec<T> {
        let mesh = Arc::clone(self.mesh());
        overlapping((&mut self.tree, &mut self.fitted), &mesh, x, report)
    }
}

impl Crossings {
    /// Counts per pair of groups, `group[vertex]` being the body or the connected component of a
    /// vertex.
    pub fn by_group(&self, mesh: &Mesh, group: &[u32]) -> BTreeMap<[u32; 2], Counts> {
        let of_face = |face: u32| group[mesh.faces()[face as usize][0] as usize];
        let of_edge = |edge: u32| group[mesh.edges()[edge as usize][0] as usize];
        let ordered = |a: u32, b: u32| [a.min(b), a.max(b)];
        let mut counts: BTreeMap<[u32; 2], Counts> = BTreeMap::new();
        for &[f, g] in &self.faces {
            let key = ordered(of_face(f), of_face(g));
            counts.entry(key).or_default().intersections += 1;
        }
        for &[e, f] in &self.edge_faces {
            let key = ordered(of_edge(e), of_face(f));
            counts.entry(key).or_default().edge_face += 1;
        }
        counts
    }
}

/// What one part of the walk has found, and what it has not looked at yet.
#[derive(Default)]
struct Part {
    looks: FaceLooks,
    found: Vec<Found>,
}

enum Found {
    Faces([u32; 2]),
    EdgeFace([u32; 2]),
}

/// Whatever part of the walk meets something first, the answer is the same.
fn has(tree: (&mut Tree, &mut Boxes<Box32>), mesh: &Mesh, x: &[DVec3], scope: Scope) -> bool {
    let is_found = AtomicBool::new(false);
    let is_over = || is_found.load(Ordering::Relaxed);
    let note = |found: &[Found]| {
        if !found.is_empty() {
            is_found.store(true, Ordering::Relaxed);
        }
    };
    look(tree, mesh, x, scope, is_over, note);
    is_found.into_inner()
}

fn find(tree: (&mut Tree, &mut Boxes<Box32>), mesh: &Mesh, x: &[DVec3], scope: Scope) -> Crossings {
    let found = look(tree, mesh, x, scope, || false, |_| {});
    let mut crossings = Crossings::default();
    for crossing in found.into_iter().flatten() {
        match crossing {
            Found::Faces(pair) => crossings.faces.push(pair),
            Found::EdgeFace(pair) => crossings.edge_faces.push(pair),
        }
    }
    crossings.faces.par_sort_unstable();
    crossings.edge_faces.par_sort_unstable();
    crossings
}

/// Compares all faces that may cross, until it `is_over`; `note` sees what the present part of the walk has found after every comparison
/// until then.
fn look(
    (tree, boxes): (&mut Tree, &mut Boxes<Box32>),
    mesh: &Mesh,
    x: &[DVec3],
    scope: Scope,
    is_over: impl Fn() -> bool + Sync,
    note: impl Fn(&[Found]) + Sync,
) -> Vec<Vec<Found>> {
    assert_eq!(x.len(), mesh.vertex_count(), "one position per vertex");
    debug_assert!(check_positions(mesh, x).is_ok());
    tree.fit_faces(boxes, mesh, &boxes_at(x));
    let all = scope == Scope::Everything;
    let vertices = (0..mesh.vertex_count() as u32).into_par_iter();
    let vertices = vertices.with_min_len(1024);
    let fine: Vec<bool> = vertices.map(|v| is_side_by_side(mesh, x, v)).collect();
    let fine = Some(&fine[..]);
    let single = Positions32::of(x);
    let test = |pair, found: &mut Vec<Found>| {
        if !is_over() {
            compare(mesh, x, pair, found);
            note(found);
        }
    };
    let report = |pair: FacePair, Part { looks, found }: &mut Part| {
        if pair.shares_vertex() {
            test(pair, found);
        } else {
            looks.add(pair, &single, |pair| test(pair, found));
        }
    };
    let mut parts = tree.face_overlaps(boxes, mesh, all, fine, &is_over, report);
    parts.par_iter_mut().for_each(|Part { looks, found }| {
        looks.finish(&single, |pair| test(pair, found));
    });
    parts.into_iter().map(|part| part.found).collect()
}

fn boxes_at(x: &[DVec3]) -> Vec<Box32> {
    let each = x.par_iter().with_min_len(4096);
    each.map(|&p| Box32::of_vertex(p, p, 0.0)).collect()
}

/// Calls `report` for all pairs of faces whose boxes overlap at `x`, those of two obstacle faces
/// excepted; what it pushes comes in an order that does not depend on the number of threads.
pub(crate) fn overlapping_faces<T: Send>(
    mesh: &Mesh,
    x: &[DVec3],
    report: impl Fn([u32; 2], &mut Vec<T>) + Sync,
) -> Vec<T> {
    let tree = (&mut Tree::new(mesh), &mut Boxes::default());
    overlapping(tree, mesh, x, report)
}

fn overlapping<T: Send>(
    (tree, boxes): (&mut Tree, &mut Boxes<Box32>),
    mesh: &Mesh,
    x: &[DVec3],
    report: impl Fn([u32; 2], &mut Vec<T>) + Sync,
) -> Vec<T> {
    tree.fit_faces(boxes, mesh, &boxes_at(x));
    let report = |pair: FacePair, out: &mut Vec<T>| report(pair.faces, out);
    joined(tree.face_overlaps(boxes, mesh, false, None, || false, report))
}

type Triangle = [DVec3; 3];

/// Compares two faces whose boxes overlap.
fn compare(mesh: &Mesh, x: &[DVec3], pair: FacePair, out: &mut Vec<Found>) {
    let [corners, others] = pair.corners;
    // turn both so that common vertices come first
    let in_others = corners.map(|v| others.contains(&v));
    let shared = in_others.iter().filter(|&&is_in| is_in).count();
    let cross = match shared {
        0 => compare_apart(mesh, x, pair, out),
        1 => compare_at_vertex(mesh, x, pair, out),
        _ => {
            let apex = |face: [u32; 3], other: [u32; 3]| {
                let k = (0..3).find(|&k| !other.contains(&face[k]));
                let k = k.expect("no two faces have the same three vertices");
                [0, 1, 2].map(|i| x[face[(k + i) % 3] as usize])
            };
            meet_beyond_edge(apex(corners, others), apex(others, corners))
        }
    };
    if cross {
        out.push(Found::Faces(pair.faces));
    }
}

/// Faces without a common vertex: they meet if an edge of one meets the other.
fn compare_apart(mesh: &Mesh, x: &[DVec3], pair: FacePair, out: &mut Vec<Found>) -> bool {
    let [f, g] = pair.faces;
    let [a, b] = pair.corners.map(|corners| corners.map(|v| x[v as usize]));
    if apart_along_direction(&a, &b) || apart_in_view(&a, &b) {
        return false;
    }
    let b_sides = b.map(|p| side(&a, p));
    if on_one_side(b_sides) {
        return false;
    }
    let a_sides = a.map(|p| side(&b, p));
    if on_one_side(a_sides) {
        return false;
    }
    let mut meet = false;
    for (face, edges_of, other, ends, sides) in [(g, f, b, a, a_sides), (f, g, a, b, b_sides)] {
        for k in 0..3 {
            let l = (k + 1) % 3;
            let edge = mesh.face_edges()[edges_of as usize][k];
            let owned = mesh.edge_owner()[edge as usize] == edges_of;
            match segment_and_triangle([ends[k], ends[l]], [sides[k], sides[l]], &other) {
                Meeting::None => {}
                Meeting::Touching => meet = true,
                Meeting::Crossing => {
                    meet = true;
                    if owned {
                        out.push(Found::EdgeFace([edge, face]));
                    }
                }
            }
        }
    }
    meet
}

/// Faces with one common vertex s: if they meet in another point, they meet along the line from s
/// to it, up to where it leaves one of them through the edge opposite to s; so these two edges
/// decide.
fn compare_at_vertex(mesh: &Mesh, x: &[DVec3], pair: FacePair, out: &mut Vec<Found>) -> bool {
    let ([f, g], [corners, others]) = (pair.faces, pair.corners);
    let place = |face: [u32; 3], other: [u32; 3]| {
        let k = (0..3).find(|&k| other.contains(&face[k]));
        k.expect("one vertex is common")
    };
    let (i, j) = (place(corners, others), place(others, corners));
    let turned = |face: [u32; 3], k: usize| {
        let corner = |l: usize| x[face[(k + l) % 3] as usize];
        [corner(0), corner(1), corner(2)]
    };
    let (a, b) = (turned(corners, i), turned(others, j));
    if apart_along_middle(&a, &b) || apart_at_vertex(&a, &b) {
        return false;
    }
    let b_sides = [side(&a, b[1]), side(&a, b[2])];
    if b_sides[0] * b_sides[1] > 0 {
        return false;
    }
    let a_sides = [side(&b, a[1]), side(&b, a[2])];
    if a_sides[0] * a_sides[1] > 0 {
        return false;
    }
    let mut meet = false;
    for (face, edges_of, k, other, ends, sides) in
        [(g, f, i, b, a, a_sides), (f, g, j, a, b, b_sides)]
    {
        let edge = mesh.face_edges()[edges_of as usize][(k + 1) % 3];
        let owned = mesh.edge_owner()[edge as usize] == edges_of;
        match segment_and_triangle([ends[1], ends[2]], sides, &other) {
            Meeting::None => {}
            Meeting::Touching => meet = true,
            Meeting::Crossing => {
                meet = true;
                if owned {
                    out.push(Found::EdgeFace([edge, face]));
                }
            }
        }
    }
    meet
}

/// Rounding error of the difference of two projections n·(p − o), in units of N L: N the largest
/// coordinate of n, L that of all p − o. Rounding p − o moves a projection by 3N · ε/2 L, three
/// products and two sums by 3 · 3 · ε/2 NL: 6 ε NL, twice that for two of them. Rounded up, for the
/// rounding of the bound. Underflow is excluded as below.
const PROJECTION_ERROR: f64 = 16.0 * f64::EPSILON;

/// Greatest and least projection of points on a direction, from `o`, and the bound on the error of
/// their difference.
#[inline]
fn projections<const N: usize>(n: DVec3, o: DVec3, points: &[DVec3; N]) -> (f64, f64, f64) {
    let (mut most, mut least) = (f64::NEG_INFINITY, f64::INFINITY);
    let mut size = DVec3::ZERO;
    for p in points {
        let d = p - o;
        let along = n.dot(d);
        (most, least) = (most.max(along), least.min(along));
        size = size.max(d.abs());
    }
    let scale = n.abs().max_element() * size.max_element();
    (most, least, PROJECTION_ERROR * scale)
}

/// Whether a direction *certainly* parts two triangles: from middle to middle, as it does
/// neighbours in smooth cloth, or across the first, as it does layers.
fn apart_along_direction(a: &Triangle, b: &Triangle) -> bool {
    let middle = (b[0] - a[0]) + (b[1] - a[1]) + (b[2] - a[2]);
    let across = (a[1] - a[0]).cross(a[2] - a[0]);
    [middle, across].into_iter().any(|n| {
        let (most_a, least_a, error_a) = projections(n, a[0], a);
        let (most_b, least_b, error_b) = projections(n, a[0], b);
        let error = error_a.max(error_b);
        least_b - most_a > error || least_a - most_b > error
    })
}

/// Whether the direction from middle to middle *certainly* has two triangles with the common corner
/// `a[0] = b[0]` on either side of it.
fn apart_along_middle(a: &Triangle, b: &Triangle) -> bool {
    let n = (b[1] - a[1]) + (b[2] - a[2]);
    let (most, _, error_a) = projections(n, a[0], &[a[1], a[2]]);
    let (_, least, error_b) = projections(n, a[0], &[b[1], b[2]]);
    most < -error_a && least > error_b
}

/// Rounding error of a cross product of two differences in a plane, relative to the sum of its two
/// products' magnitudes: two differences, a product and the subtraction are 4 roundings, 2 ε; the
/// sum of magnitudes may be too small by second order. Underflow is excluded: products of
/// differences are 0 or above 1e-180.
const CROSS_ERROR: f64 = 3.0 * f64::EPSILON;

/// Sign of u × v in a plane, 0 if rounding leaves it open; u and v are differences of two points
/// each.
pub(super) fn certain_cross(u: [f64; 2], v: [f64; 2]) -> i32 {
    let (left, right) = (u[0] * v[1], u[1] * v[0]);
    let value = left - right;
    let error = CROSS_ERROR * (left.abs() + right.abs());
    i32::from(value > error) - i32::from(value < -error)
}

/// Whether triangles are *certainly* seen apart: along the axis nearest to the first one's normal,
/// a side of one of them has its own third corner on one hand and all of the other triangle on the
/// other.
///
/// Most pairs that get here are near each other in smooth cloth, nearly coplanar: the third
/// dimension decides nothing about them at a high price.
fn apart_in_view(a: &Triangle, b: &Triangle) -> bool {
    let k = facing_axis(a);
    let (i, j) = ((k + 1) % 3, (k + 2) % 3);
    let flat = |p: DVec3| [p[i], p[j]];
    let (a, b) = (a.map(flat), b.map(flat));
    let minus = |p: [f64; 2], q: [f64; 2]| [p[0] - q[0], p[1] - q[1]];
    [(a, b), (b, a)].into_iter().any(|(t, other)| {
        (0..3).any(|k| {
            let [p, q, r] = [t[k], t[(k + 1) % 3], t[(k + 2) % 3]];
            let along = minus(q, p);
            let hand = certain_cross(along, minus(r, p));
            let is_beyond = |o: [f64; 2]| certain_cross(along, minus(o, p)) == -hand;
            hand != 0 && other.into_iter().all(is_beyond)
        })
    })
}

/// Whether triangles with the common corner `a[0] = b[0]` are *certainly* seen to lie in two
/// different angles at it, along the axis nearest to the normal. Two such angles are parted by a
/// line through the corner, hence also by one along a side.
fn apart_at_vertex(a: &Triangle, b: &Triangle) -> bool {
    let k = facing_axis(a);
    let (i, j) = ((k + 1) % 3, (k + 2) % 3);
    let flat = |p: DVec3| [p[i] - a[0][i], p[j] - a[0][j]];
    let ([a1, a2], [b1, b2]) = ([flat(a[1]), flat(a[2])], [flat(b[1]), flat(b[2])]);
    let (aa, bb) = (certain_cross(a1, a2), certain_cross(b1, b2));
    let [[s11, s12], [s21, s22]] = [a1, a2].map(|u| [b1, b2].map(|v| certain_cross(u, v)));
    // along a1: b1 and b2 on the hand where a2 is not; and so on for a2, b1, b2
    aa != 0 && (s11 == -aa && s12 == -aa || s21 == aa && s22 == aa)
        || bb != 0 && (s11 == bb && s21 == bb || s12 == -bb && s22 == -bb)
}

/// Whether faces p s t and q t s (or q s t), given with the apex first, meet anywhere but on their
/// common edge.
///
/// They have to be coplanar; then an apex lies in the other face, or two sides cross.
fn meet_beyond_edge(a: Triangle, b: Triangle) -> bool {
    let ([p, s, t], q) = (a, b[0]);
    let k = facing_axis(&a);
    if turn(s, t, p, k) * turn(s, t, q, k) < 0 || side(&a, q) != 0 {
        return false;
    }
    point_in_triangle(p, &b)
        || point_in_triangle(q, &a)
        || segments_meet([s, p], [t, q])
        || segments_meet([t, p], [s, q])
}

/// The axis along which a triangle is seen largest; a rounded guess, used where any axis would be
/// right.
fn facing_axis([a, b, c]: &Triangle) -> usize {
    (b - a).cross(c - a).abs().max_position()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meeting {
    None,
    /// In a point of the segment's ends, or in the plane.
    Touching,
    /// The ends lie strictly on either side of the plane.
    Crossing,
}

/// How a closed segment meets a closed triangle; `sides` are the signs of its ends with respect to
/// the plane.
fn segment_and_triangle([p, q]: [DVec3; 2], sides: [i32; 2], t: &Triangle) -> Meeting {
    let [a, b, c] = *t;
    if sides[0] * sides[1] > 0 {
        return Meeting::None;
    }
    if sides == [0, 0] {
        let meet = point_in_triangle(p, t)
            || [[a, b], [b, c], [c, a]]
                .into_iter()
                .any(|e| segments_meet([p, q], e));
        return if meet {
            Meeting::Touching
        } else {
            Meeting::None
        };
    }
    // the line passes the three sides on the same hand exactly if it goes through the triangle
    let first = side(&[p, q, a], b);
    let second = side(&[p, q, b], c);
    if first * second < 0 {
        return Meeting::None;
    }
    let third = side(&[p, q, c], a);
    if first * third < 0 || second * third < 0 {
        Meeting::None
    } else if sides[0] * sides[1] < 0 {
        Meeting::Crossing
    } else {
        Meeting::Touching
    }
}

/// Whether a point of a triangle's plane (any point, if the triangle has no area) lies in the
/// closed triangle.
fn point_in_triangle(p: DVec3, t: &Triangle) -> bool {
    let [a, b, c] = *t;
    if side(t, p) != 0 {
        return false;
    }
    match (0..3).find(|&k| turn(a, b, c, k) != 0) {
        Some(k) => {
            let turns = [turn(a, b, p, k), turn(b, c, p, k), turn(c, a, p, k)];
            turns.iter().all(|&s| s >= 0) || turns.iter().all(|&s| s <= 0)
        }
        None => [[a, b], [b, c], [c, a]]
            .into_iter()
            .any(|e| segments_meet([p, p], e)),
    }
}

/// Whether two closed segments meet; either may be a point.
fn segments_meet([p, q]: [DVec3; 2], [a, b]: [DVec3; 2]) -> bool {
    let in_box = |r: DVec3, u: DVec3, v: DVec3| u.min(v).cmple(r).all() && r.cmple(u.max(v)).all();
    if side(&[p, q, a], b) != 0 {
        return false;
    }
    // in a plane that some axis sees as more than a line: there the signs of three points are those
    // within the plane
    for k in 0..3 {
        let (pa, qa) = (turn(a, b, p, k), turn(a, b, q, k));
        let (ap, bp) = (turn(p, q, a, k), turn(p, q, b, k));
        if [pa, qa, ap, bp] == [0; 4] {
            continue;
        }
        return pa * qa < 0 && ap * bp < 0
            || pa == 0 && in_box(p, a, b)
            || qa == 0 && in_box(q, a, b)
            || ap == 0 && in_box(a, p, q)
            || bp == 0 && in_box(b, p, q);
    }
    // all on one line: then the boxes tell
    p.min(q).cmple(a.max(b)).all() && a.min(b).cmple(p.max(q)).all()
}

fn on_one_side(sides: [i32; 3]) -> bool {
    sides.iter().all(|&s| s > 0) || sides.iter().all(|&s| s < 0)
}

/// On which side of the plane through a triangle a point lies; exact.
#[inline]
fn side([a, b, c]: &Triangle, p: DVec3) -> i32 {
    let at = |p: &DVec3| Coord3D {
        x: p.x,
        y: p.y,
        z: p.z,
    };
    sign(robust::orient3d(at(a), at(b), at(c), at(&p)))
}

/// To which hand the way a b c turns, seen along axis `k`; exact.
#[inline]
fn turn(a: DVec3, b: DVec3, c: DVec3, k: usize) -> i32 {
    let at = |p: DVec3| match k {
        0 => Coord { x: p.y, y: p.z },
        1 => Coord { x: p.z, y: p.x },
        _ => Coord { x: p.x, y: p.y },
    };
    sign(robust::orient2d(at(a), at(b), at(c)))
}

#[inline]
fn sign(value: f64) -> i32 {
    i32::from(value > 0.0) - i32::from(value < 0.0)
}

#[cfg(test)]
mod tests;
