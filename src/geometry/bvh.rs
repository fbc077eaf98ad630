//! The tree: which features of a mesh come near each other during a motion.
//!
//! A binary tree over the faces, built by splitting at the median of the longest axis, refitted for
//! every motion and rebuilt when its quality has dropped. Every leaf holds a block of faces and
//! *owns* those of their vertices and edges whose owner face (see [`Mesh`]) is in the block; hence
//! a walk over all overlapping pairs of leaves meets every pair of features exactly once, also
//! between faces that share a vertex or an edge.
//!
//! Boxes are in single precision, rounded outward ([`Box32`]). What the walk reports is therefore a
//! superset of the overlapping pairs; [`super::collider`] compares boxes in full precision.

use std::ops::Range;

use glam::Vec3A;
use rayon::prelude::*;

use super::box32::Box32;
use super::{Mesh, Pair};

/// Faces in a leaf. Measured on layered-sheets: see the table in the commit that set it.
const LEAF_SIZE: usize = 4;
/// Tasks that a walk is cut into; independent of the number of threads, so that results come in the
/// same order.
const TASK_COUNT: usize = 512;
/// Subtrees with fewer leaves are built and refitted by one thread.
const PARALLEL_LEAVES: usize = 512;
/// The tree is rebuilt when its cost has grown by this factor since it was built.
const MAX_COST_GROWTH: f64 = 1.5;

/// Features of `N` vertices, in the order of the leaves.
#[derive(Clone, Debug, Default)]
struct Features<const N: usize> {
    /// Indices in the mesh.
    ids: Vec<u32>,
    vertices: Vec<[u32; N]>,
    boxes: Vec<Box32>,
    /// Where the features of each leaf start; one more at the end.
    starts: Vec<u32>,
}

impl<const N: usize> Features<N> {
    /// The features `ids`, whose vertices are listed in `all`; `starts` as in the leaves.
    fn new(ids: Vec<u32>, all: impl Fn(u32) -> [u32; N], starts: Vec<u32>) -> Self {
        Self {
            vertices: ids.iter().map(|&id| all(id)).collect(),
            boxes: vec![Box32::EMPTY; ids.len()],
            ids,
            starts,
        }
    }

    fn range(&self, leaf: usize) -> Range<usize> {
        self.starts[leaf] as usize..self.starts[leaf + 1] as usize
    }

    /// Fits all boxes to those of the vertices.
    fn fit(&mut self, of_vertex: &[Box32]) {
        let each = self.boxes.par_iter_mut().zip(&self.vertices);
        each.with_min_len(4096).for_each(|(fitted, vertices)| {
            *fitted = hull(vertices, of_vertex);
        });
    }

    fn leaf(&self, leaf: Subtree) -> Leaf<'_, N> {
        let range = self.range(leaf.first);
        Leaf {
            ids: &self.ids[range.clone()],
            vertices: &self.vertices[range.clone()],
            boxes: &self.boxes[range],
        }
    }
}

/// The features of one leaf; at most three times as many as faces, so that a set of them fits into
/// a word.
#[derive(Clone, Copy)]
struct Leaf<'a, const N: usize> {
    ids: &'a [u32],
    vertices: &'a [[u32; N]],
    boxes: &'a [Box32],
}

/// Features of a leaf, one bit each. Whether boxes overlap cannot be foreseen, and a wrong guess of
/// the processor costs more than a test: so tests are gathered without branches first.
#[derive(Clone, Copy)]
struct Set(u32);

const _: () = assert!(3 * LEAF_SIZE <= 32, "a set of features fits into a word");

impl Iterator for Set {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        let first = self.0.trailing_zeros();
        self.0 &= self.0.wrapping_sub(1);
        (first < 32).then_some(first as usize)
    }
}

impl<const N: usize> Leaf<'_, N> {
    /// Those that overlap a box.
    #[inline]
    fn overlapping(&self, other: &Box32) -> Set {
        let each = self.boxes.iter().enumerate();
        Set(each.fold(0, |set, (k, fitted)| {
            set | u32::from(fitted.overlaps(other)) << k
        }))
    }

    /// Those of a set that overlap the box of a feature and have none of its vertices.
    #[inline]
    fn apart<const M: usize>(&self, set: Set, other: &Box32, vertices: [u32; M]) -> Set {
        Set(set.fold(0, |found, k| {
            let mut shares = false;
            for v in self.vertices[k] {
                for w in vertices {
                    shares |= v == w;
                }
            }
            found | u32::from(self.boxes[k].overlaps(other) & !shares) << k
        }))
    }

    fn all(&self) -> Set {
        Set((1u64 << self.ids.len()).wrapping_sub(1) as u32)
    }
}

/// What a node is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Role {
    /// Some face is of a cloth, or obstacles count too; two nodes without such a face need not be
    /// compared.
    is_judged: bool,
    /// Some face has a vertex among those that are asked for.
    is_asked: bool,
}

impl Role {
    fn union(self, other: Self) -> Self {
        Self {
            is_judged: self.is_judged | other.is_judged,
            is_asked: self.is_asked | other.is_asked,
        }
    }

    fn concerns(self, other: Self) -> bool {
        (self.is_judged | other.is_judged) && (self.is_asked | other.is_asked)
    }
}

/// A node and the leaves below it: `count` of them from `first`. Nodes lie in preorder, so its
/// children's subtrees follow.
#[derive(Clone, Copy, Debug)]
struct Subtree {
    node: usize,
    first: usize,
    count: usize,
}

impl Subtree {
    fn children(self) -> [Self; 2] {
        let half = self.count / 2;
        [
            Self {
                node: self.node + 1,
                first: self.first,
                count: half,
            },
            Self {
                node: self.node + 2 * half,
                first: self.first + half,
                count: self.count - half,
            },
        ]
    }
}

/// Bounding volume hierarchy over the faces of one mesh in motion.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    faces: Features<3>,
    vertices: Features<1>,
    edges: Features<2>,
    nodes: Vec<Box32>,
    roles: Vec<Role>,
    is_obstacle: Vec<bool>,
    /// Cost after the last build; 0 before the first.
    cost: f64,
}

impl Tree {
    pub(super) fn new(mesh: &Mesh) -> Self {
        let leaf_count = mesh.faces().len().div_ceil(LEAF_SIZE);
        let vertex_count = mesh.vertex_count();
        Self {
            faces: Features::default(),
            vertices: Features::default(),
            edges: Features::default(),
            nodes: vec![Box32::EMPTY; 2 * leaf_count - 1],
            roles: Vec::new(),
            is_obstacle: (0..vertex_count as u32)
                .map(|v| mesh.is_obstacle(v))
                .collect(),
            cost: 0.0,
        }
    }

    fn root(&self) -> Subtree {
        Subtree {
            node: 0,
            first: 0,
            count: self.nodes.len().div_ceil(2),
        }
    }

    /// Fits all boxes to those of the vertices of the mesh.
    pub(super) fn fit(&mut self, mesh: &Mesh, of_vertex: &[Box32]) {
        if self.cost == 0.0 {
            self.build(mesh, of_vertex);
        }
        self.refit(of_vertex);
        // what is rebuilt in vain raises the bar, so that a scene is not rebuilt for ever
        if self.current_cost() > MAX_COST_GROWTH * self.cost {
            self.build(mesh, of_vertex);
            self.refit(of_vertex);
            self.cost = self.current_cost();
        }
    }

    /// Sorts the faces into leaves by the present vertex boxes.
    fn build(&mut self, mesh: &Mesh, of_vertex: &[Box32]) {
        let mut centres: Vec<(Vec3A, u32)> = mesh
            .faces()
            .par_iter()
            .with_min_len(4096)
            .map(|f| hull(f, of_vertex))
            .map(|b| b.min + b.max)
            .zip(0..mesh.faces().len() as u32)
            .collect();
        sort_into_leaves(&mut centres, self.root().count);
        let order: Vec<u32> = centres.into_iter().map(|(_, face)| face).collect();

        let leaves = order.chunks(LEAF_SIZE);
        let owned = |owner: &[u32], of_face: &[[u32; 3]]| {
            let (mut ids, mut starts) = (Vec::new(), vec![0]);
            for leaf in leaves.clone() {
                for &face in leaf {
                    let all = of_face[face as usize].into_iter();
                    ids.extend(all.filter(|&id| owner[id as usize] == face));
                }
                starts.push(ids.len() as u32);
            }
            (ids, starts)
        };
        let (ids, starts) = owned(mesh.vertex_owner(), mesh.faces());
        self.vertices = Features::new(ids, |v| [v], starts);
        let (ids, starts) = owned(mesh.edge_owner(), mesh.face_edges());
        self.edges = Features::new(ids, |e| mesh.edges()[e as usize], starts);
        let starts = (0..=self.root().count).map(|leaf| (leaf * LEAF_SIZE).min(order.len()) as u32);
        let starts = starts.collect();
        self.faces = Features::new(order, |f| mesh.faces()[f as usize], starts);
        self.roles.clear();
    }

    fn refit(&mut self, of_vertex: &[Box32]) {
        self.vertices.fit(of_vertex);
        self.edges.fit(of_vertex);
        self.faces.fit(of_vertex);
        let root = self.root();
        let leaf_box = |leaf: usize| {
            self.faces.boxes[self.faces.range(leaf)]
                .iter()
                .fold(Box32::EMPTY, |all, b| all.union(*b))
        };
        from_leaves(&mut self.nodes, root, &leaf_box, &Box32::union);
        if self.cost == 0.0 {
            self.cost = self.current_cost();
        }
    }

    /// Surface of all nodes relative to that of the faces: grows as siblings drift apart, whatever
    /// the size of the motion.
    fn current_cost(&self) -> f64 {
        let sum = |boxes: &[Box32]| boxes.iter().map(Box32::half_area).sum::<f64>();
        sum(&self.nodes) / sum(&self.faces.boxes).max(f64::MIN_POSITIVE)
    }

    /// All overlapping pairs of features, each once, in an order that does not depend on the number
    /// of threads.
    ///
    /// Pairs of two obstacle features are left out. With `asked`, only faces that have a vertex in
    /// it (true) are compared with others; pairs without such a vertex may still be among the
    /// reported.
    pub(super) fn overlaps<T: Send>(
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
    pub(super) fn face_overlaps<T: Send>(
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

    fn assign_roles(&mut self, mesh: &Mesh, asked: Option<&[bool]>, obstacles_too: bool) {
        let idle = Role {
            is_judged: false,
            is_asked: false,
        };
        let role = |face: u32| {
            let corners = mesh.faces()[face as usize];
            let is_obstacle = self.is_obstacle[corners[0] as usize];
            Role {
                is_judged: !is_obstacle || obstacles_too,
                is_asked: asked.is_none_or(|asked| corners.iter().any(|&v| asked[v as usize])),
            }
        };
        let leaf_role = |leaf: usize| {
            self.faces.ids[self.faces.range(leaf)]
                .iter()
                .fold(idle, |all, &face| all.union(role(face)))
        };
        self.roles.resize(self.nodes.len(), idle);
        let root = self.root();
        from_leaves(&mut self.roles, root, &leaf_role, &Role::union);
    }
}

#[inline]
fn hull<const N: usize>(vertices: &[u32; N], of_vertex: &[Box32]) -> Box32 {
    let each = vertices.iter().map(|&v| of_vertex[v as usize]);
    each.fold(Box32::EMPTY, Box32::union)
}

/// Sorts faces so that each run of [`LEAF_SIZE`] is a leaf: the median of the longest axis parts
/// the left leaves from the right.
fn sort_into_leaves(centres: &mut [(Vec3A, u32)], leaf_count: usize) {
    if leaf_count == 1 {
        return;
    }
    let (min, max) = centres.iter().fold(
        (Vec3A::INFINITY, Vec3A::NEG_INFINITY),
        |(min, max), (c, _)| (min.min(*c), max.max(*c)),
    );
    let axis = (max - min).max_position();
    let half = leaf_count / 2;
    // ties by face, so that equal centres do not depend on the order before
    centres.select_nth_unstable_by(half * LEAF_SIZE, |a, b| {
        a.0[axis].total_cmp(&b.0[axis]).then(a.1.cmp(&b.1))
    });
    let (left, right) = centres.split_at_mut(half * LEAF_SIZE);
    both(
        leaf_count,
        || sort_into_leaves(left, half),
        || sort_into_leaves(right, leaf_count - half),
    );
}

/// Runs two halves of the work on a subtree, in parallel if it is large enough.
fn both<A: Send, B: Send>(
    leaf_count: usize,
    a: impl FnOnce() -> A + Send,
    b: impl FnOnce() -> B + Send,
) -> (A, B) {
    if leaf_count < PARALLEL_LEAVES {
        (a(), b())
    } else {
        rayon::join(a, b)
    }
}

/// Fills the nodes of a subtree, `nodes[0]` being its root, from its leaves upward.
fn from_leaves<T: Copy + Send>(
    nodes: &mut [T],
    subtree: Subtree,
    leaf: &(impl Fn(usize) -> T + Sync),
    union: &(impl Fn(T, T) -> T + Sync),
) -> T {
    let value = if subtree.count == 1 {
        leaf(subtree.first)
    } else {
        let [a, b] = subtree.children();
        let (left, right) = nodes[1..].split_at_mut(b.node - a.node);
        let (a, b) = both(
            subtree.count,
            || from_leaves(left, a, leaf, union),
            || from_leaves(right, b, leaf, union),
        );
        union(a, b)
    };
    nodes[0] = value;
    value
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
