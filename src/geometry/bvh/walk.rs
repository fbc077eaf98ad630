//! The walk over all pairs of leaves that overlap, and the comparison of their features.

use rayon::prelude::*;

use super::features::{Leaf, Set};
use super::{Boxes, Subtree, Tree};
use crate::geometry::Mesh;
use crate::geometry::box32::Volume;
use crate::geometry::mesh::NONE;
use crate::geometry::sweep32::Listed;

/// Tasks that a walk is cut into; independent of the number of threads, so that results come in the
/// same order.
const TASK_COUNT: usize = 512;

/// Two faces, the smaller number first, with their corners.
#[derive(Clone, Copy, Debug)]
pub(in crate::geometry) struct FacePair {
    pub(in crate::geometry) faces: [u32; 2],
    pub(in crate::geometry) corners: [[u32; 3]; 2],
}

impl FacePair {
    /// No pair: holds a place.
    pub(in crate::geometry) const NONE: Self = Self {
        faces: [0; 2],
        corners: [[0; 3]; 2],
    };

    #[inline]
    pub(in crate::geometry) fn shares_vertex(&self) -> bool {
        let [corners, others] = self.corners;
        corners.iter().any(|v| others.contains(v))
    }
}

/// A part of the walk over all pairs of leaves.
#[derive(Clone, Copy)]
enum Task {
    Within(Subtree),
    Between(Subtree, Subtree),
}

impl Task {
    fn is_leaf(&self) -> bool {
        match self {
            Self::Within(a) => a.count == 1,
            Self::Between(a, b) => a.count == 1 && b.count == 1,
        }
    }
}

/// A tree with its boxes in a motion.
#[derive(Clone, Copy)]
struct Fitted<'a, B> {
    tree: &'a Tree,
    boxes: &'a Boxes<B>,
}

impl Tree {
    /// All overlapping pairs of features, each once, in an order that does not depend on the number
    /// of threads: every part of the walk reports to a value of its own.
    ///
    /// Pairs of two obstacle features are left out. With `asked`, only faces that have a vertex in
    /// it (true) are compared with others; pairs without such a vertex may still be among the
    /// reported. Of the parts, every `every`-th is walked through: 1 for all.
    pub(in crate::geometry) fn overlaps<B: Volume, T: Default + Send>(
        &mut self,
        boxes: &Boxes<B>,
        mesh: &Mesh,
        asked: Option<&[bool]>,
        every: usize,
        report: impl Fn(Listed, &mut T) + Sync,
    ) -> Vec<T> {
        self.assign_roles(mesh, asked, false);
        let fitted = Fitted { tree: self, boxes };
        fitted.walk(
            every,
            || false,
            |a, b, out| match b {
                None => fitted.compare_leaf(a, &report, out),
                Some(b) => fitted.compare_leaves(a, b, &report, out),
            },
        )
    }

    /// All pairs of faces with overlapping boxes, each once, also of faces with common vertices;
    /// order as above.
    ///
    /// Pairs of two obstacle faces are left out unless `obstacles_too`, and so are those with a common vertex that is `fine`. Parts
    /// of the walk that have not begun when it `is_over` are left out.
    pub(in crate::geometry) fn face_overlaps<B: Volume, T: Default + Send>(
        &mut self,
        boxes: &Boxes<B>,
        mesh: &Mesh,
        obstacles_too: bool,
        fine: Option<&[bool]>,
        is_over: impl Fn() -> bool + Sync,
        report: impl Fn(FacePair, &mut T) + Sync,
    ) -> Vec<T> {
        self.assign_roles(mesh, None, obstacles_too);
        let leaf = |leaf: Subtree| self.faces.leaf(leaf, &boxes.faces);
        let is_obstacle = |[corner, ..]: [u32; 3]| self.is_obstacle[corner as usize];
        let is_fine = |v: u32| fine.is_some_and(|fine| fine[v as usize]);
        let fine_of = |corners: [u32; 3]| corners.map(|v| if is_fine(v) { v } else { NONE });
        Fitted { tree: self, boxes }.walk(1, is_over, |a, b, out| {
            let own = leaf(a);
            let (other, own_near, mut near) = match b {
                None => (own, own.all(), own.all()),
                Some(b) => {
                    let (other, near) = (leaf(b), leaf(b).overlapping(&boxes.nodes[a.node]));
                    (other, own.overlapping(&boxes.nodes[b.node]), near)
                }
            };
            for k in own_near {
                if b.is_none() {
                    near.next();
                }
                let corners = own.vertices[k];
                for l in other.apart(near, &own.boxes[k], fine_of(corners)) {
                    let others = other.vertices[l];
                    if obstacles_too || !is_obstacle(corners) || !is_obstacle(others) {
                        let (f, g) = (own.ids[k], other.ids[l]);
                        let pair = match f < g {
                            true => FacePair {
                                faces: [f, g],
                                corners: [corners, others],
                            },
                            false => FacePair {
                                faces: [g, f],
                                corners: [others, corners],
                            },
                        };
                        report(pair, out);
                    }
                }
            }
        })
    }
}

impl<B: Volume> Fitted<'_, B> {
    /// Compares every leaf with itself and with those that it overlaps.
    fn walk<T: Default + Send>(
        &self,
        every: usize,
        is_over: impl Fn() -> bool + Sync,
        compare: impl Fn(Subtree, Option<Subtree>, &mut T) + Sync,
    ) -> Vec<T> {
        let mut tasks = vec![Task::Within(self.tree.root())];
        while tasks.len() < TASK_COUNT && tasks.iter().any(|t| !t.is_leaf()) {
            tasks = tasks.iter().flat_map(|t| self.parts(t)).collect();
        }
        let part = |task: &Task| {
            let mut out = T::default();
            match *task {
                _ if is_over() => {}
                Task::Within(a) => self.walk_within(a, &compare, &mut out),
                Task::Between(a, b) => self.walk_between(a, b, &compare, &mut out),
            }
            out
        };
        tasks.par_iter().step_by(every).map(part).collect()
    }

    fn meet(&self, a: Subtree, b: Subtree) -> bool {
        let (nodes, roles) = (&self.boxes.nodes, &self.tree.roles);
        nodes[a.node].overlaps(&nodes[b.node]) && roles[a.node].concerns(roles[b.node])
    }

    /// The tasks that a task consists of; itself if it cannot be cut.
    fn parts(&self, task: &Task) -> Vec<Task> {
        let halves = |a: Subtree| match a.count {
            1 => vec![a],
            _ => a.children().to_vec(),
        };
        match *task {
            Task::Within(a) if a.count > 1 => {
                let [l, r] = a.children();
                vec![Task::Within(l), Task::Within(r), Task::Between(l, r)]
            }
            Task::Between(a, b) if a.count > 1 || b.count > 1 => {
                let mut parts = Vec::new();
                for a in halves(a) {
                    let meeting = halves(b).into_iter().filter(|&b| self.meet(a, b));
                    parts.extend(meeting.map(|b| Task::Between(a, b)));
                }
                parts
            }
            _ => vec![*task],
        }
    }

    fn walk_within<T>(
        &self,
        a: Subtree,
        compare: &impl Fn(Subtree, Option<Subtree>, &mut T),
        out: &mut T,
    ) {
        let role = self.tree.roles[a.node];
        if !role.concerns(role) {
            return;
        }
        if a.count == 1 {
            compare(a, None, out);
            return;
        }
        let [left, right] = a.children();
        self.walk_within(left, compare, out);
        self.walk_within(right, compare, out);
        self.walk_between(left, right, compare, out);
    }

    fn walk_between<T>(
        &self,
        a: Subtree,
        b: Subtree,
        compare: &impl Fn(Subtree, Option<Subtree>, &mut T),
        out: &mut T,
    ) {
        if !self.meet(a, b) {
            return;
        }
        match (a.count, b.count) {
            (1, 1) => compare(a, Some(b), out),
            (1, _) => {
                for b in b.children() {
                    self.walk_between(a, b, compare, out);
                }
            }
            (_, 1) => {
                for a in a.children() {
                    self.walk_between(a, b, compare, out);
                }
            }
            _ => {
                for a in a.children() {
                    for b in b.children() {
                        self.walk_between(a, b, compare, out);
                    }
                }
            }
        }
    }
}

/// Comparison of the features of leaves.
impl<B: Volume> Fitted<'_, B> {
    /// Pairs of features of two different leaves.
    fn compare_leaves<T>(
        &self,
        a: Subtree,
        b: Subtree,
        report: &impl Fn(Listed, &mut T),
        out: &mut T,
    ) {
        let Self { tree, boxes } = *self;
        let own = [&boxes.nodes[a.node], &boxes.nodes[b.node]];
        let edges = tree.edges.leaf(a, &boxes.edges);
        let others = tree.edges.leaf(b, &boxes.edges);
        let near = others.overlapping(own[0]);
        if near.0 != 0 {
            for k in edges.overlapping(own[1]) {
                self.compare_edge((edges, k), (others, near), report, out);
            }
        }
        for (a, b, [a_box, b_box]) in [(a, b, own), (b, a, [own[1], own[0]])] {
            let vertices = tree.vertices.leaf(a, &boxes.vertices);
            let near = vertices.overlapping(b_box);
            if near.0 != 0 {
                let faces = tree.faces.leaf(b, &boxes.faces);
                let faces = (faces, faces.overlapping(a_box));
                self.compare_vertices_and_faces((vertices, near), faces, report, out);
            }
        }
    }

    /// Pairs of features of one leaf.
    fn compare_leaf<T>(&self, a: Subtree, report: &impl Fn(Listed, &mut T), out: &mut T) {
        let Self { tree, boxes } = *self;
        let edges = tree.edges.leaf(a, &boxes.edges);
        let mut later = edges.all();
        while let Some(k) = later.next() {
            self.compare_edge((edges, k), (edges, later), report, out);
        }
        let vertices = tree.vertices.leaf(a, &boxes.vertices);
        let faces = tree.faces.leaf(a, &boxes.faces);
        let (vertices, faces) = ((vertices, vertices.all()), (faces, faces.all()));
        self.compare_vertices_and_faces(vertices, faces, report, out);
    }

    #[inline]
    fn compare_edge<T>(
        &self,
        (edges, k): (Leaf<'_, 2, B>, usize),
        (others, near): (Leaf<'_, 2, B>, Set),
        report: &impl Fn(Listed, &mut T),
        out: &mut T,
    ) {
        let ends = edges.vertices[k];
        for l in others.apart(near, &edges.boxes[k], ends) {
            let others_ends = others.vertices[l];
            if !self.are_obstacles(ends[0], others_ends[0]) {
                let (e, f) = (edges.ids[k], others.ids[l]);
                let listed = match e < f {
                    true => Listed::edge_edge([e, f], ends, others_ends),
                    false => Listed::edge_edge([f, e], others_ends, ends),
                };
                report(listed, out);
            }
        }
    }

    #[inline]
    fn compare_vertices_and_faces<T>(
        &self,
        (vertices, near): (Leaf<'_, 1, B>, Set),
        (faces, near_faces): (Leaf<'_, 3, B>, Set),
        report: &impl Fn(Listed, &mut T),
        out: &mut T,
    ) {
        for k in near {
            let vertex = vertices.ids[k];
            for l in faces.apart(near_faces, &vertices.boxes[k], [vertex]) {
                let corners = faces.vertices[l];
                if !self.are_obstacles(vertex, corners[0]) {
                    report(Listed::vertex_face(vertex, faces.ids[l], corners), out);
                }
            }
        }
    }

    fn are_obstacles(&self, v: u32, w: u32) -> bool {
        let is_obstacle = &self.tree.is_obstacle;
        is_obstacle[v as usize] && is_obstacle[w as usize]
    }
}
