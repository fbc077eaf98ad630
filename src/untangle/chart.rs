//! A piece of the surface laid out in the plane: the parameter space of one path.
//!
//! Starting from one face, faces are unfolded over their edges, those nearest to the start first; where several faces agree on
//! a new vertex, their mean counts. Lengths are those at rest. On developable cloth the layout is exact; elsewhere it is a smooth
//! parameterization near the start, which is all that \[WLG06\] §3 asks for ("the parameter space U is arbitrary").
//!
//! We differ: a chart for every path, whether or not the mesh has texture coordinates. A tube needs no periodic
//! parameters, borders of panels do not matter, and nobody has to provide anything. Where the surface comes back to
//! itself, as round a tube, the layout overlaps or has a cut; targets beyond it are refused by their distance.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use glam::{DVec2, DVec3};

use super::Rest;
use super::paths::Spot;
use super::pulls::Point;
use crate::geometry::Mesh;

/// Steps per edge length in which the order of unfolding is counted: faces at equal distances, as on grids, are taken
/// by their numbers, and not as rounding would have it.
const ORDER_STEPS: f64 = 1e4;
/// Keeps multiples of the edge length, which are common, away from the borders of these steps.
const ORDER_SHIFT: f64 = 0.37;

/// Sides longer than this many times their length at rest are no sides of this chart.
const TORN: f64 = 2.0;

/// Points of one face that are laid out further apart than so many times its longest side lie on different sides of a cut. More than crumpled cloth, whose lengths
/// fit nowhere in the plane, is torn everywhere; less than half the way round the smallest tube.
const CUT: f64 = 4.0;

/// Times as much cloth as fits into a disc that is laid out in it at most: crumpled cloth has lengths that fit nowhere in the plane, its layout
/// comes back over itself again and again, and all of it would lie within any disc.
const LAYERS: f64 = 2.0;

/// Tables of charts, kept for the next.
#[derive(Default)]
pub(super) struct Tables(RefCell<Vec<Table>>);

/// What a chart knows of each vertex and face.
struct Table {
    /// Not a number where there is none.
    places: Vec<DVec2>,
    is_laid: Vec<bool>,
}

/// Faces laid out in the plane, in metres at rest.
pub(super) struct Chart<'a> {
    mesh: &'a Mesh,
    x: &'a [DVec3],
    rest: Rest<'a>,
    /// Mean edge of the first face, m.
    edge: f64,
    /// Of the faces that are laid out, at rest, m².
    area: f64,
    table: Table,
    tables: &'a Tables,
    /// Faces that are laid out, in that order.
    faces: Vec<u32>,
    /// Edges to unfold over: order, edge, the face beyond.
    front: BinaryHeap<Reverse<(u64, u32, u32)>>,
    /// Faces by the cells that they reach into, ascending.
    grid: Vec<((i64, i64), u32)>,
}

impl Drop for Chart<'_> {
    fn drop(&mut self) {
        let mut table = Table {
            places: std::mem::take(&mut self.table.places),
            is_laid: std::mem::take(&mut self.table.is_laid),
        };
        for &face in &self.faces {
            table.is_laid[face as usize] = false;
            for v in self.mesh.faces()[face as usize] {
                table.places[v as usize] = DVec2::NAN;
            }
        }
        self.tables.0.borrow_mut().push(table);
    }
}

/// Where a chart is.
#[derive(Clone, Copy)]
pub(super) struct Surface<'a> {
    pub(super) mesh: &'a Mesh,
    pub(super) x: &'a [DVec3],
    pub(super) rest: Rest<'a>,
    pub(super) tables: &'a Tables,
}

impl<'a> Chart<'a> {
    /// Of one face.
    pub(super) fn around(surface: Surface<'a>, face: u32) -> Self {
        let Surface {
            mesh,
            x,
            rest,
            tables,
        } = surface;
        let lengths = rest.lengths(mesh, x, face);
        let [a, b, c] = mesh.faces()[face as usize];
        let table = tables.0.borrow_mut().pop().unwrap_or_else(|| Table {
            places: vec![DVec2::NAN; mesh.vertex_count()],
            is_laid: vec![false; mesh.faces().len()],
        });
        let mut chart = Self {
            mesh,
            x,
            rest,
            edge: lengths.iter().sum::<f64>() / 3.0,
            area: 0.0,
            table,
            tables,
            faces: Vec::new(),
            front: BinaryHeap::new(),
            grid: Vec::new(),
        };
        let base = DVec2::new(lengths[0], 0.0);
        let third = apex(DVec2::ZERO, base, lengths[2], lengths[1], 1.0);
        let middle = (base + third) / 3.0;
        chart.table.places[a as usize] = -middle;
        chart.table.places[b as usize] = base - middle;
        chart.table.places[c as usize] = third - middle;
        chart.lay(face);
        chart
    }

    /// Whether two points of a face are laid out much further from each other than the face is long: the layout has a cut between them.
    pub(super) fn is_cut(&self, face: u32, [p, q]: [DVec2; 2]) -> bool {
        let lengths = self.rest.lengths(self.mesh, self.x, face);
        p.distance(q) > CUT * lengths.into_iter().fold(0.0, f64::max)
    }

    /// Mean edge of the first face, in metres.
    pub(super) fn edge(&self) -> f64 {
        self.edge
    }

    /// Unfolds until the vertices are laid out, if they can be, or `max_faces` are.
    pub(super) fn reach(&mut self, vertices: &[u32], max_faces: usize) {
        let mut left = vertices.iter().filter(|v| !self.has(**v)).count();
        while left > 0 && self.faces.len() < max_faces {
            match self.unfold() {
                Some(Some(v)) => left -= usize::from(vertices.binary_search(&v).is_ok()),
                Some(None) => {}
                None => break,
            }
        }
    }

    /// Unfolds everything within a distance of the start, up to `max_faces` faces; where layouts overlap, until there is twice as
    /// much cloth as a disc has room for.
    pub(super) fn spread(&mut self, radius: f64, max_faces: usize) {
        let end = self.order(radius);
        let rim = radius + self.edge;
        let room = LAYERS * std::f64::consts::PI * rim * rim;
        while let Some(Reverse((order, ..))) = self.front.peek()
            && *order <= end
            && self.faces.len() < max_faces
            && self.area < room
        {
            self.unfold();
        }
    }

    /// Distance of the farthest vertex of a list, in metres.
    pub(super) fn radius(&self, vertices: &[u32]) -> f64 {
        let placed = vertices.iter().filter_map(|v| self.place(*v));
        placed.map(|p| p.length()).fold(0.0, f64::max)
    }

    /// Where a vertex lies.
    pub(super) fn place(&self, vertex: u32) -> Option<DVec2> {
        self.has(vertex).then(|| self.at(vertex))
    }

    fn has(&self, vertex: u32) -> bool {
        !self.at(vertex).is_nan()
    }

    fn at(&self, vertex: u32) -> DVec2 {
        self.table.places[vertex as usize]
    }

    /// Where a point of a path lies.
    pub(super) fn place_of(&self, spot: Spot) -> Option<DVec2> {
        let at = |v: u32| self.place(v);
        match spot {
            Spot::Vertex(v) => at(v),
            Spot::Edge { edge, along } => {
                let [a, b] = self.mesh.edges()[edge as usize];
                Some(at(a)?.lerp(at(b)?, along))
            }
            Spot::Face { face, weights } => {
                let [a, b, c] = self.mesh.faces()[face as usize];
                Some(weights.x * at(a)? + weights.y * at(b)? + weights.z * at(c)?)
            }
        }
    }

    /// The point of the surface that lies at a place, or nearest to it within an edge; of several, where layouts overlap, the one
    /// nearest to `near` in space.
    pub(super) fn locate(&self, place: DVec2, near: DVec3) -> Option<(u32, Point)> {
        let (i, j) = self.cell(place);
        let mut best: Option<(f64, f64, u32, Point)> = None;
        for di in -1..=1 {
            for dj in -1..=1 {
                let cell = (i + di, j + dj);
                let first = self.grid.partition_point(|g| g.0 < cell);
                for &(_, face) in self.grid[first..].iter().take_while(|g| g.0 == cell) {
                    let corners = self.mesh.faces()[face as usize];
                    let at = corners.map(|v| self.at(v));
                    let low = at[0].min(at[1]).min(at[2]) - self.edge;
                    let high = at[0].max(at[1]).max(at[2]) + self.edge;
                    if place.cmplt(low).any() || place.cmpgt(high).any() {
                        continue;
                    }
                    let (weights, distance) = closest_weights(at, place);
                    let point = Point::face(corners, weights);
                    // inside is inside: distances of rounding size are equal
                    let off = if distance < 1e-9 * self.edge {
                        0.0
                    } else {
                        distance
                    };
                    let away = point.position(self.x).distance(near);
                    let better = best.is_none_or(|(o, a, f, _)| {
                        off < o || off == o && (away < a || away == a && face < f)
                    });
                    if off <= self.edge && better {
                        best = Some((off, away, face, point));
                    }
                }
            }
        }
        best.map(|(_, _, face, point)| (face, point))
    }

    /// Faces that are laid out, in that order.
    pub(super) fn faces(&self) -> &[u32] {
        &self.faces
    }

    /// Makes [`Self::locate`] know all faces that are laid out by now.
    pub(super) fn index(&mut self) {
        self.grid.clear();
        for &face in &self.faces {
            let at = self.mesh.faces()[face as usize].map(|v| self.at(v));
            let (low, high) = (at[0].min(at[1]).min(at[2]), at[0].max(at[1]).max(at[2]));
            let ((i0, j0), (i1, j1)) = (self.cell(low), self.cell(high));
            for i in i0..=i1 {
                self.grid.extend((j0..=j1).map(|j| ((i, j), face)));
            }
        }
        self.grid.sort_unstable();
    }

    fn order(&self, distance: f64) -> u64 {
        (distance / self.edge * ORDER_STEPS + ORDER_SHIFT) as u64
    }

    fn cell(&self, place: DVec2) -> (i64, i64) {
        let p = (place / (2.0 * self.edge)).floor();
        (p.x as i64, p.y as i64)
    }

    /// Enters a face whose corners all have places.
    fn lay(&mut self, face: u32) {
        if std::mem::replace(&mut self.table.is_laid[face as usize], true) {
            return;
        }
        self.faces.push(face);
        let [a, b, c] = self.rest.lengths(self.mesh, self.x, face);
        let s = 0.5 * (a + b + c);
        self.area += (s * (s - a) * (s - b) * (s - c)).max(0.0).sqrt();
        for &edge in &self.mesh.face_edges()[face as usize] {
            let ends = self.mesh.edges()[edge as usize].map(|v| self.at(v));
            let order = self.order((0.5 * (ends[0] + ends[1])).length());
            for &next in self.mesh.faces_of_edge(edge) {
                if next != face && self.mesh.faces_of_edge(edge).len() == 2 {
                    self.front.push(Reverse((order, edge, next)));
                }
            }
        }
    }

    /// Unfolds over the next edge: the vertex that got a place, if one did; `None` at the end.
    fn unfold(&mut self) -> Option<Option<u32>> {
        let Reverse((_, edge, face)) = self.front.pop()?;
        if self.table.is_laid[face as usize] {
            return Some(None);
        }
        let ends = self.mesh.edges()[edge as usize];
        let corners = self.mesh.faces()[face as usize];
        let tip = corners.into_iter().find(|v| !ends.contains(v));
        let tip = tip.expect("a face has a corner beyond each of its edges");
        let is_new = !self.has(tip);
        if is_new {
            let mut sum = DVec2::ZERO;
            let mut count = 0.0;
            for &f in self.mesh.faces_of_vertex(tip) {
                if let Some(place) = self.tip_over(f, tip) {
                    sum += place;
                    count += 1.0;
                }
            }
            self.table.places[tip as usize] = sum / count;
        } else if self.is_torn(face) {
            return Some(None);
        }
        self.lay(face);
        Some(is_new.then_some(tip))
    }

    /// Whether a face whose corners have places already would be much too large there: the surface comes back to itself.
    fn is_torn(&self, face: u32) -> bool {
        let at = self.mesh.faces()[face as usize].map(|v| self.at(v));
        let lengths = self.rest.lengths(self.mesh, self.x, face);
        (0..3).any(|k| at[k].distance(at[(k + 1) % 3]) > TORN * lengths[k])
    }

    /// Where a face puts its corner `tip`, if the face beyond the opposite edge is laid out.
    fn tip_over(&self, face: u32, tip: u32) -> Option<DVec2> {
        let corners = self.mesh.faces()[face as usize];
        let k = corners.iter().position(|&v| v == tip)?;
        let edge = self.mesh.face_edges()[face as usize][(k + 1) % 3];
        let around = self.mesh.faces_of_edge(edge);
        let behind = around.iter().copied().find(|&f| f != face)?;
        if around.len() != 2 || !self.table.is_laid[behind as usize] {
            return None;
        }
        let [a, b] = [corners[(k + 1) % 3], corners[(k + 2) % 3]];
        let other = self.mesh.faces()[behind as usize];
        let other = other.into_iter().find(|&v| v != a && v != b)?;
        let (p, q) = (self.place(a)?, self.place(b)?);
        let side = (q - p).perp_dot(self.place(other)? - p);
        // side k joins the corners k and k + 1
        let lengths = self.rest.lengths(self.mesh, self.x, face);
        let (from_a, from_b) = (lengths[k], lengths[(k + 2) % 3]);
        Some(apex(p, q, from_a, from_b, -side))
    }
}

/// The point at given distances from p and q, to the left of the way from p to q if `side` is positive.
fn apex(p: DVec2, q: DVec2, from_p: f64, from_q: f64, side: f64) -> DVec2 {
    let base = p.distance(q);
    if base <= 0.0 {
        return p;
    }
    let along = 0.5 * (base + (from_p - from_q) * (from_p + from_q) / base);
    let height = (from_p * from_p - along * along).max(0.0).sqrt();
    let unit = (q - p) / base;
    p + along * unit + height.copysign(side) * unit.perp()
}

/// Weights of the point of a triangle nearest to a place, and its distance.
fn closest_weights([a, b, c]: [DVec2; 3], p: DVec2) -> (DVec3, f64) {
    let twice = (b - a).perp_dot(c - a);
    if twice != 0.0 {
        let w = DVec3::new(
            (b - p).perp_dot(c - p),
            (c - p).perp_dot(a - p),
            (a - p).perp_dot(b - p),
        ) / twice;
        if w.min_element() >= 0.0 {
            return (w / (w.x + w.y + w.z), 0.0);
        }
    }
    let on = |q: DVec2, r: DVec2| {
        let d = r - q;
        let t = ((p - q).dot(d) / d.length_squared()).clamp(0.0, 1.0);
        let t = if t.is_finite() { t } else { 0.0 };
        (t, p.distance(q + t * d))
    };
    let (s, t, u) = (on(a, b), on(b, c), on(c, a));
    if s.1 <= t.1 && s.1 <= u.1 {
        (DVec3::new(1.0 - s.0, s.0, 0.0), s.1)
    } else if t.1 <= u.1 {
        (DVec3::new(0.0, 1.0 - t.0, t.0), t.1)
    } else {
        (DVec3::new(u.0, 0.0, 1.0 - u.0), u.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::tangles::of_type;

    #[test]
    fn a_flat_pattern_is_laid_out_without_distortion() {
        let t = of_type("closed", 6).unwrap();
        let mesh = Mesh::new(t.positions.len(), t.faces.clone()).unwrap();
        let rest = Rest::Parameters(&t.uv);
        let tables = Tables::default();
        let surface = Surface {
            mesh: &mesh,
            x: &t.positions,
            rest,
            tables: &tables,
        };
        drop(Chart::around(surface, 3)); // leaves no trace
        let mut chart = Chart::around(surface, 77);
        chart.spread(f64::MAX, usize::MAX);
        chart.index();
        assert_eq!(chart.faces().len(), t.faces.len());
        for (face, corners) in (0..).zip(&t.faces) {
            let at = corners.map(|v| chart.place(v).unwrap());
            for (k, length) in rest
                .lengths(&mesh, &t.positions, face)
                .into_iter()
                .enumerate()
            {
                let laid = at[k].distance(at[(k + 1) % 3]);
                assert!((laid - length).abs() < 1e-12, "{laid} {length}");
            }
            // every face is where it says, and its middle is found in it
            let middle = (at[0] + at[1] + at[2]) / 3.0;
            let (found, point) = chart.locate(middle, DVec3::ZERO).unwrap();
            assert_eq!(found, face);
            assert!(point.weights.iter().all(|w| (w - 1.0 / 3.0).abs() < 1e-9));
        }
        assert!(chart.locate(DVec2::splat(10.0), DVec3::ZERO).is_none());
    }

    /// Crumpled cloth has lengths that fit nowhere in the plane: its layout comes back over itself, and a small disc would hold all of it.
    #[test]
    fn no_more_is_laid_out_than_a_disc_has_room_for() {
        let t = of_type("closed", 20).unwrap();
        let mesh = Mesh::new(t.positions.len(), t.faces.clone()).unwrap();
        let mut random = crate::random::Random(5);
        let rough: Vec<DVec3> = t
            .positions
            .iter()
            .map(|p| *p + 0.1 * DVec3::new(random.signed(), random.signed(), random.signed()))
            .collect();
        let tables = Tables::default();
        let mut counts = Vec::new();
        for x in [&t.positions, &rough] {
            let surface = Surface {
                mesh: &mesh,
                x,
                rest: Rest::Unknown,
                tables: &tables,
            };
            let mut chart = Chart::around(surface, 300);
            let radius = 5.0 * chart.edge();
            chart.spread(radius, usize::MAX);
            let rim = radius + chart.edge();
            let largest = 4.0 * chart.edge() * chart.edge();
            assert!(chart.area < LAYERS * std::f64::consts::PI * rim * rim + largest);
            counts.push(chart.faces().len());
        }
        assert!((100..400).contains(&counts[0]), "{counts:?}");
        assert!(2 * counts[1] < t.faces.len(), "{counts:?}");
    }
}
