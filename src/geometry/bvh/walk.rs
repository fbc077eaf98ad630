//! The walk over all pairs of leaves that overlap, and the comparison of their features.

use rayon::prelude::*;

use super::features::{Leaf, Set};
use super::{Subtree, Tree};
use crate::geometry::{Mesh, Pair};

/// Tasks that a walk is cut into; independent of the number of threads, so that results come in the
/// same order.
const TASK_COUNT: usize = 512;

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

impl Tree {
    /// All overlapping pairs of features, each once, in an order that does not depend on the number
    /// of threads.
    ///
    /// Pairs of two obstacle features are left out. With `asked`, only faces that have a vertex in
    /// it (true) are compared with others; pairs without such a vertex may still be among the
    /// reported.
    pub(in crate::geometry) fn overlaps<T: Send>(
        &mut self,
        mesh: &Mesh,
        asked: Option<&[bool]>,
        report: impl Fn(Pair, &mut Vec<T>) + Sync,
    ) -> Vec<T> {
        self.assign_roles(mesh, asked, false);
        self.walk(|a, b, out| match b {
            None => self.compare_leaf(a, &report, out),
            Some(b) => self.compare_leaves(a, b, &report, out),
        })
    }

    /// All pairs of faces with overlapping boxes, each once, also of faces with common vertices;
    /// order as above.
    ///
    /// Pairs of two obstacle faces are left out unless `obstacles_too`.
    pub(in crate::geometry) fn face_overlaps<T: Send>(
        &mut self,
        mesh: &Mesh,
        obstacles_too: bool,
        report: impl Fn([u32; 2], &mut Vec<T>) + Sync,
    ) -> Vec<T> {
        self.assign_roles(mesh, None, obstacles_too);
        let Self {
            faces, is_obstacle, ..
        } = &*self;
        let is_obstacle = |face: u32| {
            let [corner, ..] = mesh.faces()[face as usize];
            is_obstacle[corner as usize]
        };
        self.walk(|a, b, out| {
            let leaf = faces.leaf(a);
            let (other, mut near) = match b {
                None => (leaf, leaf.all()),
                Some(b) => (
                    faces.leaf(b),
                    faces.leaf(b).overlapping(&self.nodes[a.node]),
                ),
            };
            for (k, &f) in leaf.ids.iter().enumerate() {
                if b.is_none() {
                    near.next();
                }
                for l in other.apart(near, &leaf.boxes[k], []) {
                    let g = other.ids[l];
                    if obstacles_too || !is_obstacle(f) || !is_obstacle(g) {
                        report([f.min(g), f.max(g)], out);
                    }
                }
            }
        })
    }

    /// Compares every leaf with itself and with those that it overlaps.
    fn walk<T: Send>(
        &self,
        compare: impl Fn(Subtree, Option<Subtree>, &mut Vec<T>) + Sync,
    ) -> Vec<T> {
        let mut tasks = vec![Task::Within(self.root())];
        while tasks.len() < TASK_COUNT && tasks.iter().any(|t| !t.is_leaf()) {
            tasks = tasks.iter().flat_map(|t| self.parts(t)).collect();
        }
        let found: Vec<Vec<T>> = tasks
            .par_iter()
            .map(|task| {
                let mut out = Vec::new();
                match *task {
                    Task::Within(a) => self.walk_within(a, &compare, &mut out),
                    Task::Between(a, b) => self.walk_between(a, b, &compare, &mut out),
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

    fn meet(&self, a: Subtree, b: Subtree) -> bool {
        let Self { nodes, roles, .. } = self;
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
        compare: &impl Fn(Subtree, Option<Subtree>, &mut Vec<T>),
        out: &mut Vec<T>,
    ) {
        let role = self.roles[a.node];
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
        compare: &impl Fn(Subtree, Option<Subtree>, &mut Vec<T>),
        out: &mut Vec<T>,
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
impl Tree {
    /// Pairs of features of two different leaves.
    fn compare_leaves<T>(
        &self,
        a: Subtree,
        b: Subtree,
        report: &impl Fn(Pair, &mut Vec<T>),
        out: &mut Vec<T>,
    ) {
        let boxes = [&self.nodes[a.node], &self.nodes[b.node]];
        let (edges, others) = (self.edges.leaf(a), self.edges.leaf(b));
        let near = others.overlapping(boxes[0]);
        for k in edges.overlapping(boxes[1]) {
            self.compare_edge((edges, k), (others, near), report, out);
        }
        for (a, b, [a_box, b_box]) in [(a, b, boxes), (b, a, [boxes[1], boxes[0]])] {
            let vertices = self.vertices.leaf(a);
            let near = vertices.overlapping(b_box);
            if near.0 != 0 {
                let faces = self.faces.leaf(b);
                let faces = (faces, faces.overlapping(a_box));
                self.compare_vertices_and_faces((vertices, near), faces, report, out);
            }
        }
    }

    /// Pairs of features of one leaf.
    fn compare_leaf<T>(&self, a: Subtree, report: &impl Fn(Pair, &mut Vec<T>), out: &mut Vec<T>) {
        let edges = self.edges.leaf(a);
        let mut later = edges.all();
        while let Some(k) = later.next() {
            self.compare_edge((edges, k), (edges, later), report, out);
        }
        let (vertices, faces) = (self.vertices.leaf(a), self.faces.leaf(a));
        let (vertices, faces) = ((vertices, vertices.all()), (faces, faces.all()));
        self.compare_vertices_and_faces(vertices, faces, report, out);
    }

    #[inline]
    fn compare_edge<T>(
        &self,
        (edges, k): (Leaf<'_, 2>, usize),
        (others, near): (Leaf<'_, 2>, Set),
        report: &impl Fn(Pair, &mut Vec<T>),
        out: &mut Vec<T>,
    ) {
        let ends = edges.vertices[k];
        for l in others.apart(near, &edges.boxes[k], ends) {
            if !self.are_obstacles(ends[0], others.vertices[l][0]) {
                let (e, f) = (edges.ids[k], others.ids[l]);
                let (a, b) = (e.min(f), e.max(f));
                report(Pair::EdgeEdge { a, b }, out);
            }
        }
    }

    #[inline]
    fn compare_vertices_and_faces<T>(
        &self,
        (vertices, near): (Leaf<'_, 1>, Set),
        (faces, near_faces): (Leaf<'_, 3>, Set),
        report: &impl Fn(Pair, &mut Vec<T>),
        out: &mut Vec<T>,
    ) {
        for k in near {
            let vertex = vertices.ids[k];
            for l in faces.apart(near_faces, &vertices.boxes[k], [vertex]) {
                if !self.are_obstacles(vertex, faces.vertices[l][0]) {
                    let face = faces.ids[l];
                    report(Pair::VertexFace { vertex, face }, out);
                }
            }
        }
    }

    fn are_obstacles(&self, v: u32, w: u32) -> bool {
        self.is_obstacle[v as usize] && self.is_obstacle[w as usize]
    }
}
