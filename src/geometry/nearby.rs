//! Pairs that may meet soon: one walk through the tree answers several questions.
//!
//! Every vertex gets a *room*, a box around where it is asked about now and where it is expected to
//! be asked about next; listed are all pairs whose features overlap when every vertex fills its
//! room. A question about other positions is answered from the list as long as all vertices keep to
//! their rooms: the box of a feature is the union of those of its vertices, so it lies in the union
//! of their rooms, and features whose boxes overlap are listed. Vertices that leave their rooms get
//! new ones, and their pairs are listed anew. How large rooms are is therefore a matter of speed
//! alone.

use glam::DVec3;
use rayon::prelude::*;

use super::box32::Box32;
use super::bvh::Tree;
use super::sweep::at;
use super::sweep32::Listed;
use super::{Mesh, Pair};

/// Motions ahead that a room is made for, at most,
const HORIZON: f64 = 3.0;
/// and the part of the shortest edge that it may go ahead beyond the first: in long rooms
/// everything is near.
const EDGE_SHARE: f64 = 0.1;
/// Room to each side beyond the expected way, as a share of that way.
const SIDE_SHARE: f64 = 0.1;
/// If more than this share of the vertices have left their rooms, all get new ones.
const MAX_MOVED_SHARE: f64 = 0.125;

/// All pairs, but those of two obstacle features, that overlap while every vertex keeps to its
/// room.
#[derive(Clone, Debug, Default)]
pub(super) struct Nearby {
    rooms: Vec<Box32>,
    pairs: Vec<Listed>,
    /// The last motion that was asked about; empty before the first.
    motion: Vec<DVec3>,
    is_moved: Vec<bool>,
}

impl Nearby {
    /// Remembers a motion, from which the next rooms are made.
    pub(super) fn expect(&mut self, x0: &[DVec3], x1: &[DVec3]) {
        self.motion.clear();
        self.motion
            .extend(x1.iter().zip(x0).map(|(x1, x0)| x1 - x0));
    }

    /// Makes the list hold for a question with these boxes of vertices, which start at `x` and are
    /// grown by `growth`.
    pub(super) fn cover(
        &mut self,
        tree: &mut Tree,
        mesh: &Mesh,
        x: &[DVec3],
        boxes: &[Box32],
        growth: impl Fn(usize) -> f64,
    ) {
        self.rooms.resize(boxes.len(), Box32::EMPTY);
        let both = self.rooms.iter().zip(boxes);
        let is_moved = both.map(|(room, asked)| !room.holds(asked));
        self.is_moved.clear();
        self.is_moved.extend(is_moved);
        let mut moved = self.is_moved.iter().filter(|&&is_moved| is_moved).count();
        if moved == 0 {
            return;
        }
        if moved as f64 > MAX_MOVED_SHARE * boxes.len() as f64 {
            self.is_moved.fill(true);
            moved = boxes.len();
        }
        for v in (0..boxes.len()).filter(|&v| self.is_moved[v]) {
            let way = self.motion.get(v).copied().unwrap_or_default();
            let edges = mesh
                .neighbours(v as u32)
                .map(|w| x[v].distance(x[w as usize]));
            let edge = edges.fold(f64::INFINITY, f64::min);
            let ahead = (1.0 + EDGE_SHARE * edge / way.length()).min(HORIZON);
            let side = 2.0 * growth(v) + SIDE_SHARE * way.length();
            self.rooms[v] = Box32::of_vertex(x[v], x[v] + ahead * way, side).union(boxes[v]);
        }
        tree.fit(mesh, &self.rooms);
        if moved == boxes.len() {
            self.pairs = tree.overlaps(mesh, None, |pair, out| out.push(Listed::new(mesh, pair)));
            return;
        }
        let is_moved = &self.is_moved;
        let has_moved = |listed: &Listed| at(is_moved, listed.vertices).contains(&true);
        let found = tree.overlaps(mesh, Some(is_moved), |pair, out| {
            let listed = Listed::new(mesh, pair);
            if has_moved(&listed) {
                out.push(listed);
            }
        });
        self.pairs.retain(|listed| !has_moved(listed));
        self.pairs.extend(found);
    }

    /// Reports all pairs with overlapping boxes that are not idle, in an order that does not depend
    /// on the number of threads; the list must cover these boxes.
    pub(super) fn overlaps<T: Send>(
        &self,
        boxes: &[Box32],
        is_idle: impl Fn(&Listed) -> bool + Sync,
        report: impl Fn(Pair, &mut Vec<T>) + Sync,
    ) -> Vec<T> {
        let overlap = |listed: &Listed| {
            let [a, b, c, d] = at(boxes, listed.vertices);
            if listed.is_vertex_face() {
                a.overlaps(&b.union(c).union(d))
            } else {
                a.union(b).overlaps(&c.union(d))
            }
        };
        let found: Vec<Vec<T>> = self
            .pairs
            .par_chunks(4096)
            .map(|pairs| {
                let mut out = Vec::new();
                for listed in pairs {
                    if overlap(listed) && !is_idle(listed) {
                        report(listed.pair, &mut out);
                    }
                }
                out
            })
            .collect();
        let mut all = Vec::with_capacity(found.iter().map(Vec::len).sum());
        for found in found {
            all.extend(found);
        }
        all
    }
}
