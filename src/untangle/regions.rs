//! Inside and outside: the part of the cloth that is on the wrong side of a path.
//!
//! \[WLG06\] §4.2. A path that parts the cloth (CLOSED, LL, BB) has two sides; both are flooded in
//! parallel, and the one that is complete first, the smaller by vertices, is *inside*. A BLI does
//! not part the cloth: only the disc around its loop vertex, just large enough to reach the nearer
//! of its two ends, is flooded. II (and BI beside BB) uses the region of its partner. BI/BI has
//! none.
//!
//! Sides are told by parity: walking along a mesh edge changes sides as often as the path crosses
//! that edge. On the *band*, the faces that the path passes, this either fits all round and gives
//! every vertex a side, or the path does not part the cloth; beyond the band no edge is crossed, so
//! there each side spreads freely, and where the two meet the path does not part the cloth either.
//! The cost is that of the path and of the smaller side.
//!
//! We differ: "CLOSED, LL and BB partition the mesh" holds on a disc only. A BB between two
//! boundaries of a tube or a loop round a handle does not, and is found out here: [`Inside::None`].
//! Where a path crosses itself on the cloth, parity makes inside what is enclosed an odd number of
//! times. Equal sizes are decided by area, then by the smallest vertex number. The disc is measured
//! on the surface (in parameter space if there is one), not in the plane of the parameters, so that
//! it may cross chart borders.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use glam::DVec3;

use super::Rest;
use super::distance::Distances;
use super::parity::Sides;
use super::paths::{Path, PathKind};
use super::perturb;
use super::segments::{Crossing, End, Segments};
use super::trace::Touched;
use crate::geometry::mesh::NONE;
use crate::geometry::{BodyKind, Mesh};

/// The part of the cloth that is on the wrong side of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inside {
    /// The path does not part the cloth.
    None,
    /// That of the partner.
    Partner,
    /// Vertices on the wrong side, ascending; perhaps none, where the path runs between them.
    Vertices(Vec<u32>),
}

impl Inside {
    /// The path's own inside vertices, ascending.
    pub fn vertices(&self) -> &[u32] {
        match self {
            Self::Vertices(vertices) => vertices,
            Self::None | Self::Partner => &[],
        }
    }
}

const FREE: u8 = 2;
const REMOVED: u8 = 3;

/// Finds the regions of all paths.
pub(super) struct Flood<'a> {
    mesh: &'a Mesh,
    x: &'a [DVec3],
    found: &'a Segments,
    /// Side of each vertex, or `FREE`, or `REMOVED` where the path goes through it.
    side: Vec<u8>,
    /// Whether the path crosses an edge an odd number of times.
    is_odd: Vec<bool>,
    in_band: Vec<bool>,
    /// Entries of the three tables that have been written.
    written: Written,
    /// Vertices exactly on the path, on neither side.
    met: Vec<u32>,
    distances: Distances<'a>,
}

#[derive(Default)]
struct Written {
    vertices: Vec<u32>,
    edges: Vec<u32>,
    faces: Vec<u32>,
}

impl<'a> Flood<'a> {
    pub(super) fn new(mesh: &'a Mesh, x: &'a [DVec3], rest: Rest<'a>, found: &'a Segments) -> Self {
        Self {
            mesh,
            x,
            found,
            side: vec![FREE; mesh.vertex_count()],
            is_odd: vec![false; mesh.edges().len()],
            in_band: vec![false; mesh.faces().len()],
            written: Written::default(),
            met: Vec::new(),
            distances: Distances::new(mesh, x, rest),
        }
    }

    /// Fills in the inside of every path.
    pub(super) fn fill(&mut self, paths: &mut [Path]) {
        for path in paths.iter_mut() {
            let vertices = match path.kind {
                PathKind::Closed | PathKind::Ll | PathKind::Bb => self.smaller_side(path),
                PathKind::Bli | PathKind::Blb => self.smaller_sector(path),
                PathKind::Bi | PathKind::Ii => None,
            };
            path.inside = vertices.map_or(Inside::None, Inside::Vertices);
        }
        self.part_together(paths);
        for number in 0..paths.len() {
            let partner = paths[number].partner as usize;
            let own = paths[number].inside == Inside::None;
            if own && matches!(paths[partner].inside, Inside::Vertices(_)) {
                paths[number].inside = Inside::Partner;
            }
        }
    }

    /// Finds what paths part together that part nothing by themselves: two cuts from rim to rim part a tube, one does not.
    ///
    /// They have to lead through the same two pieces of cloth: where one of these passes the other, all of them are the border.
    fn part_together(&mut self, paths: &mut [Path]) {
        let parts_nothing = |p: &Path| {
            matches!(p.kind, PathKind::Bb | PathKind::Closed) && p.inside == Inside::None
        };
        let alone: Vec<usize> = (0..paths.len())
            .filter(|&p| parts_nothing(&paths[p]) && paths[p].partner as usize != p)
            .collect();
        if alone.len() < 2 {
            return;
        }
        let pieces = self.pieces();
        let piece = |p: usize| {
            let [v, ..] = self.mesh.faces()[paths[p].faces[0] as usize];
            pieces[v as usize]
        };
        let mut groups: BTreeMap<[u32; 2], Vec<usize>> = BTreeMap::new();
        for p in alone {
            let both = [p, paths[p].partner as usize];
            let sheets = both.map(piece);
            // an obstacle knows its inside by itself, and cloth around it is not parted by it
            let is_cloth = |p: usize| {
                let body = self.mesh.body_of_face(paths[p].faces[0]);
                self.mesh.bodies()[body as usize].kind != BodyKind::Obstacle
            };
            if sheets[0] != sheets[1] && both.into_iter().all(is_cloth) {
                groups.entry(sheets).or_default().push(p);
            }
        }
        for group in groups.into_values().filter(|g| g.len() > 1) {
            for &p in &group {
                self.mark(&paths[p]);
            }
            let [start, ..] = self.mesh.faces()[paths[group[0]].faces[0] as usize];
            let regions = (self.side[start as usize] == FREE)
                .then(|| self.label_from(start, |_, _| true))
                .flatten();
            let inside = regions.map(|regions| self.smaller(regions));
            self.clear();
            let Some(inside) = inside else {
                continue;
            };
            for (&p, share) in group.iter().zip(self.shares(paths, &group)) {
                paths[p].inside = Inside::Vertices(inside.clone());
                paths[p].share = Some(share);
            }
        }
    }

    /// The piece of cloth of each vertex: its lowest vertex.
    fn pieces(&self) -> Vec<u32> {
        let mut pieces = vec![NONE; self.mesh.vertex_count()];
        for first in 0..pieces.len() as u32 {
            let mut stack = vec![first];
            while let Some(v) = stack.pop() {
                if pieces[v as usize] == NONE {
                    pieces[v as usize] = first;
                    stack.extend(self.mesh.neighbours(v));
                }
            }
        }
        pieces
    }

    /// For each of some paths the vertices that are fewest edges from it, ascending; of equal paths the first.
    fn shares(&self, paths: &[Path], group: &[usize]) -> Vec<Vec<u32>> {
        let mut nearest = vec![usize::MAX; self.mesh.vertex_count()];
        let mut queue = Vec::new();
        let mut enter = |v: u32, k: usize, queue: &mut Vec<u32>| {
            if nearest[v as usize] == usize::MAX {
                nearest[v as usize] = k;
                queue.push(v);
            }
            nearest[v as usize]
        };
        for (k, &p) in group.iter().enumerate() {
            for &f in &paths[p].faces {
                for v in self.mesh.faces()[f as usize] {
                    enter(v, k, &mut queue);
                }
            }
        }
        let mut next = 0;
        while next < queue.len() {
            let v = queue[next];
            next += 1;
            let k = enter(v, usize::MAX, &mut queue);
            for w in self.mesh.neighbours(v) {
                enter(w, k, &mut queue);
            }
        }
        let of = |k: usize| {
            let all = (0u32..).zip(&nearest);
            all.filter(|n| *n.1 == k).map(|n| n.0).collect()
        };
        (0..group.len()).map(of).collect()
    }

    /// The smaller of the two parts into which a path parts the cloth.
    fn smaller_side(&mut self, path: &Path) -> Option<Vec<u32>> {
        self.mark(path);
        for &face in &path.faces {
            self.add_to_band(face);
        }
        let removed = self.written.vertices.clone();
        for v in removed {
            for &face in self.mesh.faces_of_vertex(v) {
                self.add_to_band(face);
            }
        }
        let inside = self.flood_from_band();
        self.clear();
        inside
    }

    /// The smaller of the two sectors into which a BLI parts the disc around its loop vertex.
    fn smaller_sector(&mut self, path: &Path) -> Option<Vec<u32>> {
        let vertex = *path.loop_vertices().first()?;
        let ends = [0, path.points.len() - 1].map(|k| {
            let End::Crossing(c) = path.points[k] else {
                unreachable!("a BLI ends in crossings");
            };
            let crossing = self.found.crossings[c as usize];
            let location = &self.found.locations[c as usize];
            if k == 0 {
                let [a, b] = self.mesh.edges()[crossing.edge as usize];
                let t = location.along_edge;
                ([a, b, b], DVec3::new(1.0 - t, t, 0.0))
            } else {
                (self.mesh.faces()[crossing.face as usize], location.weights)
            }
        });
        let disc = self.distances.disc(vertex, ends)?;
        self.mark(path);
        let inside = self.split_disc(vertex, &disc);
        self.clear();
        Some(inside)
    }

    /// Notes which edges the path crosses and which vertices it goes through.
    fn mark(&mut self, path: &Path) {
        for (k, point) in path.points.iter().enumerate() {
            match *point {
                End::Loop(v) => self.set(v, REMOVED),
                End::Crossing(c) => {
                    let crossing = self.found.crossings[c as usize];
                    let is_over_edge = path.faces[k.min(path.faces.len() - 1)] != crossing.face;
                    if is_over_edge {
                        self.toggle(crossing.edge);
                    }
                    if self.found.locations[c as usize].is_touch {
                        let met = vertices_met(self.mesh, self.x, crossing, is_over_edge);
                        self.met.extend(met);
                    }
                }
            }
        }
        for touched in path.touched.into_iter().flatten() {
            match touched {
                Touched::Edge(edge) => self.toggle(edge),
                Touched::Vertex(v) => self.set(v, REMOVED),
            }
        }
    }

    fn set(&mut self, vertex: u32, side: u8) {
        self.side[vertex as usize] = side;
        self.written.vertices.push(vertex);
    }

    fn toggle(&mut self, edge: u32) {
        self.is_odd[edge as usize] ^= true;
        self.written.edges.push(edge);
    }

    fn add_to_band(&mut self, face: u32) {
        if !self.in_band[face as usize] {
            self.in_band[face as usize] = true;
            self.written.faces.push(face);
        }
    }

    fn clear(&mut self) {
        self.met.clear();
        for v in self.written.vertices.drain(..) {
            self.side[v as usize] = FREE;
        }
        for e in self.written.edges.drain(..) {
            self.is_odd[e as usize] = false;
        }
        for f in self.written.faces.drain(..) {
            self.in_band[f as usize] = false;
        }
    }

    fn across(&self, edge: u32, vertex: u32) -> u32 {
        let [a, b] = self.mesh.edges()[edge as usize];
        if a == vertex { b } else { a }
    }

    /// Gives every vertex reachable from `start` over allowed edges its side; `None` if that does
    /// not fit.
    fn label_from(
        &mut self,
        start: u32,
        allowed: impl Fn(&Self, u32) -> bool,
    ) -> Option<[Vec<u32>; 2]> {
        let mut labelled = [vec![start], Vec::new()];
        let mut queue = vec![start];
        self.set(start, 0);
        while let Some(v) = queue.pop() {
            let own = self.side[v as usize];
            for &edge in self.mesh.edges_of_vertex(v) {
                let w = self.across(edge, v);
                if self.side[w as usize] == REMOVED || !allowed(self, edge) {
                    continue;
                }
                let expected = own ^ u8::from(self.is_odd[edge as usize]);
                if self.side[w as usize] == FREE {
                    self.set(w, expected);
                    labelled[usize::from(expected)].push(w);
                    queue.push(w);
                } else if self.side[w as usize] != expected {
                    return None;
                }
            }
        }
        Some(labelled)
    }

    fn flood_from_band(&mut self) -> Option<Vec<u32>> {
        let corners = |flood: &Self| -> Vec<u32> {
            let faces = flood.written.faces.iter();
            faces
                .flat_map(|&f| flood.mesh.faces()[f as usize])
                .collect()
        };
        let band = corners(self);
        let is_free = |flood: &Self, v: u32| flood.side[v as usize] == FREE;
        let start = band.iter().copied().find(|&v| is_free(self, v))?;
        let in_band = |flood: &Self, edge: u32| {
            let mut faces = flood.mesh.faces_of_edge(edge).iter();
            faces.any(|&f| flood.in_band[f as usize])
        };
        let mut regions = self.label_from(start, in_band)?;
        if band.iter().any(|&v| is_free(self, v)) {
            return None; // the band falls apart at a vertex that the path goes through
        }
        let mut heads = [0; 2];
        loop {
            let is_done = [0, 1].map(|i| heads[i] == regions[i].len());
            let counts = [regions[0].len(), regions[1].len()];
            let i = match is_done {
                [true, true] => break,
                [true, false] if counts[0] < counts[1] => break,
                [false, true] if counts[1] < counts[0] => break,
                [true, false] => 1,
                [false, true] => 0,
                [false, false] => usize::from(counts[1] < counts[0]),
            };
            let v = regions[i][heads[i]];
            heads[i] += 1;
            for &edge in self.mesh.edges_of_vertex(v) {
                let w = self.across(edge, v);
                if self.is_odd[edge as usize] {
                    continue; // its ends are in the band, on different sides
                }
                match self.side[w as usize] {
                    REMOVED => {}
                    FREE => {
                        self.set(w, i as u8);
                        regions[i].push(w);
                    }
                    side if usize::from(side) != i => return None,
                    _ => {}
                }
            }
        }
        Some(self.smaller(regions))
    }

    /// The smaller of the two parts of a disc, whose vertices come from its centre outward.
    ///
    /// On crumpled cloth a disc may reach round an end of the path, and then the path does not part
    /// it: it is cut back to where it does.
    fn split_disc(&mut self, centre: u32, disc: &[u32]) -> Vec<u32> {
        // the neighbours of the centre come first, to hold the disc together there
        let edges = self.mesh.edges_of_vertex(centre).iter();
        let ring: Vec<u32> = edges.map(|&e| self.across(e, centre)).collect();
        let mut members: Vec<u32> = ring.iter().chain(disc).copied().collect();
        members.sort_unstable();
        members.dedup();
        members.retain(|&v| self.side[v as usize] != REMOVED);
        let place = |v: u32| members.binary_search(&v);

        let mut sides = Sides::new(members.len());
        for &face in self.mesh.faces_of_vertex(centre) {
            for &edge in &self.mesh.face_edges()[face as usize] {
                let [a, b] = self.mesh.edges()[edge as usize];
                if let (Ok(a), Ok(b)) = (place(a), place(b)) {
                    // an end of the path within the ring makes one of these fail; then the others
                    // suffice
                    sides.relate(a, b, self.is_odd[edge as usize]);
                }
            }
        }
        let mut reached = vec![false; members.len()];
        'outward: for &v in disc {
            let Ok(at) = place(v) else {
                continue;
            };
            for &edge in self.mesh.edges_of_vertex(v) {
                if let Ok(other) = place(self.across(edge, v))
                    && reached[other]
                    && !sides.relate(at, other, self.is_odd[edge as usize])
                {
                    break 'outward;
                }
            }
            reached[at] = true;
        }

        let mut parts: BTreeMap<usize, [Vec<u32>; 2]> = BTreeMap::new();
        for at in (0..members.len()).filter(|&at| reached[at]) {
            let (root, is_other) = sides.root(at);
            parts.entry(root).or_default()[usize::from(is_other)].push(members[at]);
        }
        // parts of which nothing is known but that they exist are left out
        let largest = parts.into_values().max_by_key(|[a, b]| {
            (
                a.len() + b.len(),
                Reverse(a.first().min(b.first()).copied()),
            )
        });
        largest.map_or(Vec::new(), |parts| self.smaller(parts))
    }

    /// The region with fewer vertices, ascending; of two equal ones that of less area, then that of
    /// the first vertex.
    fn smaller(&self, regions: [Vec<u32>; 2]) -> Vec<u32> {
        let [mut a, mut b] = regions;
        a.sort_unstable();
        b.sort_unstable();
        let area = |region: &[u32]| -> f64 {
            let faces = region.iter().flat_map(|&v| self.mesh.faces_of_vertex(v));
            let corners = faces.map(|&f| self.mesh.faces()[f as usize].map(|v| self.x[v as usize]));
            corners.map(|[p, q, r]| (q - p).cross(r - p).length()).sum()
        };
        let order = a
            .len()
            .cmp(&b.len())
            .then_with(|| area(&a).total_cmp(&area(&b)))
            .then_with(|| a.cmp(&b));
        let mut smaller = if order.is_le() { a } else { b };
        let mut met = self.met.clone();
        met.sort_unstable();
        smaller.retain(|v| met.binary_search(v).is_err());
        smaller
    }
}

/// Vertices that lie exactly where an edge passes a face: of the edge, or of the face.
///
/// The perturbation puts them on one side or the other by their numbers; that must not show.
fn vertices_met(mesh: &Mesh, x: &[DVec3], crossing: Crossing, of_edge: bool) -> Vec<u32> {
    let [p, q] = mesh.edges()[crossing.edge as usize];
    let corners = mesh.faces()[crossing.face as usize];
    let [a, b, c] = corners;
    let is_zero = |vertices| perturb::sign(x, vertices) == 0;
    let at_ends = [p, q].map(|v| is_zero([a, b, c, v]));
    if at_ends == [true; 2] {
        return Vec::new(); // in one plane: no point is distinguished
    }
    if of_edge {
        [p, q]
            .into_iter()
            .zip(at_ends)
            .filter(|v| v.1)
            .map(|v| v.0)
            .collect()
    } else {
        let on = [[a, b], [b, c], [c, a]].map(|[i, j]| is_zero([p, q, i, j]));
        let met = (0..3).filter(|&k| on[k] && on[(k + 2) % 3]);
        met.map(|k| corners[k]).collect()
    }
}
