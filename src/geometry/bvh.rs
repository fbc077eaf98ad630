//! The tree: which features of a mesh come near each other during a motion.
//!
//! A binary tree over the faces, built by splitting at the median of the longest axis, refitted for every motion and
//! rebuilt when its quality has dropped. Every leaf holds a block of faces and *owns* those of their vertices and
//! edges whose owner face (see [`Mesh`]) is in the block; hence a walk over all overlapping pairs of leaves meets
//! every pair of features exactly once, also between faces that share a vertex or an edge.
//!
//! Boxes are in single precision, rounded outward: half the memory traffic, and never a box too small. What the walk
//! reports is therefore a superset of the overlapping pairs; [`super::detect`] compares boxes in full precision.

use glam::{DVec3, Vec3A};
use rayon::prelude::*;

use super::Mesh;

/// Faces in a leaf. Measured on layered-sheets: see the table in the commit that set it.
const LEAF_SIZE: usize = 4;
/// Tasks that a walk is cut into; independent of the number of threads, so that results come in the same order.
const TASK_COUNT: usize = 512;
/// Subtrees with fewer leaves are built and refitted by one thread.
const PARALLEL_LEAVES: usize = 512;
/// The tree is rebuilt when its cost has grown by this factor since it was built.
const MAX_COST_GROWTH: f64 = 1.5;

/// A box in single precision.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Box32 {
    min: Vec3A,
    max: Vec3A,
}

impl Box32 {
    const EMPTY: Self = Self {
        min: Vec3A::INFINITY,
        max: Vec3A::NEG_INFINITY,
    };

    /// A box around `[min, max]`, rounded outward.
    ///
    /// Conversion rounds by at most 2⁻²⁴ of the value, or 2⁻¹⁵⁰ where the result is subnormal; moving the bound
    /// outward by 2⁻²³ of the value and 2⁻¹⁴⁹ first makes up for it, and for the rounding of a growth in double precision.
    fn around(min: DVec3, max: DVec3) -> Self {
        const SHARE: f64 = f32::EPSILON as f64;
        let least = f64::from(f32::from_bits(1));
        let outward = |x: DVec3| x.abs() * SHARE + least;
        Self {
            min: (min - outward(min)).as_vec3a(),
            max: (max + outward(max)).as_vec3a(),
        }
    }

    /// A box around the way of a vertex from `a` to `b`, grown by `growth`.
    fn of_vertex(a: DVec3, b: DVec3, growth: f64) -> Self {
        Self::around(a.min(b) - growth, a.max(b) + growth)
    }

    fn union(self, other: Self) -> Self {
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }

    #[inline]
    fn overlaps(&self, other: &Self) -> bool {
        (self.min.cmple(other.max) & other.min.cmple(self.max)).all()
    }

    /// Half the surface, the usual estimate of how often a box is met.
    fn half_area(&self) -> f64 {
        let size = (self.max - self.min).as_dvec3();
        size.x * size.y + size.y * size.z + size.z * size.x
    }
}

/// Features of one kind, in the order of the leaves.
#[derive(Clone, Debug, Default)]
struct Features {
    /// Indices in the mesh.
    ids: Vec<u32>,
    boxes: Vec<Box32>,
    /// Where the features of each leaf start; one more at the end.
    starts: Vec<u32>,
}

impl Features {
    fn range(&self, leaf: usize) -> std::ops::Range<usize> {
        self.starts[leaf] as usize..self.starts[leaf + 1] as usize
    }
}

/// What a node is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Role {
    /// Some face is of a cloth, or obstacles count too; two nodes without such a face need not be compared.
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

/// A node and the leaves below it: `count` of them from `first`. Nodes lie in preorder, so its children's places follow.
#[derive(Clone, Copy, Debug)]
struct Place {
    node: usize,
    first: usize,
    count: usize,
}

impl Place {
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

/// A pair of overlapping boxes, as the walk reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overlap {
    /// A vertex and a face that does not use it.
    VertexFace(u32, u32),
    /// Two edges without a common vertex, in any order.
    EdgeEdge(u32, u32),
}

/// Bounding volume hierarchy over the faces of one mesh in motion.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    faces: Features,
    vertices: Features,
    edges: Features,
    /// Box of each vertex of the mesh.
    vertex_boxes: Vec<Box32>,
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
            vertex_boxes: vec![Box32::EMPTY; vertex_count],
            nodes: vec![Box32::EMPTY; 2 * leaf_count - 1],
            roles: Vec::new(),
            is_obstacle: (0..vertex_count as u32)
                .map(|v| mesh.is_obstacle(v))
                .collect(),
            cost: 0.0,
        }
    }

    fn root(&self) -> Place {
        Place {
            node: 0,
            first: 0,
            count: self.nodes.len().div_ceil(2),
        }
    }

    /// Fits all boxes to the motion from `x0` to `x1`, every vertex grown by `growth(vertex)`.
    pub(super) fn fit(
        &mut self,
        mesh: &Mesh,
        x0: &[DVec3],
        x1: &[DVec3],
        growth: impl Fn(usize) -> f64 + Sync,
    ) {
        self.vertex_boxes
            .par_iter_mut()
            .enumerate()
            .with_min_len(4096)
            .for_each(|(v, vertex_box)| {
                *vertex_box = Box32::of_vertex(x0[v], x1[v], growth(v));
            });
        if self.cost == 0.0 {
            self.build(mesh);
        }
        self.refit(mesh);
        // what is rebuilt in vain raises the bar, so that a scene is not rebuilt for ever
        if self.current_cost() > MAX_COST_GROWTH * self.cost {
            self.build(mesh);
            self.refit(mesh);
            self.cost = self.current_cost();
        }
    }

    /// Sorts the faces into leaves by the present vertex boxes.
    fn build(&mut self, mesh: &Mesh) {
        let mut centres: Vec<(Vec3A, u32)> = mesh
            .faces()
            .par_iter()
            .with_min_len(4096)
            .map(|f| face_box(f, &self.vertex_boxes))
            .map(|b| b.min + b.max)
            .zip(0..mesh.faces().len() as u32)
            .collect();
        sort_into_leaves(&mut centres, self.root().count);
        let order: Vec<u32> = centres.into_iter().map(|(_, face)| face).collect();

        let leaves = order.chunks(LEAF_SIZE);
        let owned = |owner: &[u32], corners: &dyn Fn(u32) -> [u32; 3]| {
            let mut features = Features {
                starts: vec![0],
                ..Features::default()
            };
            for leaf in leaves.clone() {
                for &face in leaf {
                    let of_face = corners(face).into_iter();
                    features
                        .ids
                        .extend(of_face.filter(|&id| owner[id as usize] == face));
                }
                features.starts.push(features.ids.len() as u32);
            }
            features.boxes = vec![Box32::EMPTY; features.ids.len()];
            features
        };
        self.vertices = owned(mesh.vertex_owner(), &|f| mesh.faces()[f as usize]);
        self.edges = owned(mesh.edge_owner(), &|f| mesh.face_edges()[f as usize]);
        self.faces = Features {
            starts: (0..=self.root().count)
                .map(|leaf| (leaf * LEAF_SIZE).min(order.len()) as u32)
                .collect(),
            boxes: vec![Box32::EMPTY; order.len()],
            ids: order,
        };
        self.roles.clear();
    }

    fn refit(&mut self, mesh: &Mesh) {
        let of_vertex = &self.vertex_boxes;
        let fit = |features: &mut Features, of: &(dyn Fn(usize) -> Box32 + Sync)| {
            features
                .boxes
                .par_iter_mut()
                .zip(&features.ids)
                .with_min_len(4096)
                .for_each(|(b, &id)| *b = of(id as usize));
        };
        fit(&mut self.vertices, &|v| of_vertex[v]);
        fit(&mut self.edges, &|e| {
            let [a, b] = mesh.edges()[e].map(|v| of_vertex[v as usize]);
            a.union(b)
        });
        fit(&mut self.faces, &|f| face_box(&mesh.faces()[f], of_vertex));
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

    /// Surface of all nodes relative to that of the faces: grows as siblings drift apart, whatever the size of the motion.
    fn current_cost(&self) -> f64 {
        let sum = |boxes: &[Box32]| boxes.iter().map(Box32::half_area).sum::<f64>();
        sum(&self.nodes) / sum(&self.faces.boxes).max(f64::MIN_POSITIVE)
    }

    /// All overlapping pairs of features, each once, in an order that does not depend on the number of threads.
    ///
    /// Pairs of two obstacle features are left out. With `asked`, only faces that have a vertex in it (true) are compared
    /// with others; pairs without such a vertex may still be among the reported.
    pub(super) fn overlaps<T: Send>(
        &mut self,
        mesh: &Mesh,
        asked: Option<&[bool]>,
        report: impl Fn(Overlap, &mut Vec<T>) + Sync,
    ) -> Vec<T> {
        self.assign_roles(mesh, asked, false);
        let leaves = Leaves { tree: self, mesh };
        self.walk(|a, b, out| match b {
            None => leaves.compare_leaf(a, &report, out),
            Some(b) => leaves.compare_leaves(a, b, &report, out),
        })
    }

    /// All pairs of faces with overlapping boxes, each once, also of faces with common vertices; order as above.
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
            for i in faces.range(a.first) {
                let others = match b {
                    None => i + 1..faces.range(a.first).end,
                    Some(b) => faces.range(b.first),
                };
                for j in others {
                    let (f, g) = (faces.ids[i], faces.ids[j]);
                    if faces.boxes[i].overlaps(&faces.boxes[j])
                        && (obstacles_too || !is_obstacle(f) || !is_obstacle(g))
                    {
                        report([f.min(g), f.max(g)], out);
                    }
                }
            }
        })
    }

    /// Compares every leaf with itself and with those that it overlaps.
    fn walk<T: Send>(&self, compare: impl Fn(Place, Option<Place>, &mut Vec<T>) + Sync) -> Vec<T> {
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
        found.into_iter().flatten().collect()
    }

    fn meet(&self, a: Place, b: Place) -> bool {
        let Self { nodes, roles, .. } = self;
        nodes[a.node].overlaps(&nodes[b.node]) && roles[a.node].concerns(roles[b.node])
    }

    /// The tasks that a task consists of; itself if it cannot be cut.
    fn parts(&self, task: &Task) -> Vec<Task> {
        let halves = |a: Place| match a.count {
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
        a: Place,
        compare: &impl Fn(Place, Option<Place>, &mut Vec<T>),
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
        a: Place,
        b: Place,
        compare: &impl Fn(Place, Option<Place>, &mut Vec<T>),
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

fn face_box(corners: &[u32; 3], of_vertex: &[Box32]) -> Box32 {
    let [a, b, c] = corners.map(|v| of_vertex[v as usize]);
    a.union(b).union(c)
}

/// Sorts faces so that each run of [`LEAF_SIZE`] is a leaf: the median of the longest axis parts the left leaves from the right.
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

/// Fills the nodes of a subtree, `nodes[0]` being the one at `place`, from its leaves upward.
fn from_leaves<T: Copy + Send>(
    nodes: &mut [T],
    place: Place,
    leaf: &(impl Fn(usize) -> T + Sync),
    union: &(impl Fn(T, T) -> T + Sync),
) -> T {
    let value = if place.count == 1 {
        leaf(place.first)
    } else {
        let [a, b] = place.children();
        let (left, right) = nodes[1..].split_at_mut(b.node - a.node);
        let (a, b) = both(
            place.count,
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
    Within(Place),
    Between(Place, Place),
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
struct Leaves<'a> {
    tree: &'a Tree,
    mesh: &'a Mesh,
}

impl Leaves<'_> {
    /// Pairs of features of two different leaves.
    fn compare_leaves<T>(
        &self,
        a: Place,
        b: Place,
        report: &impl Fn(Overlap, &mut Vec<T>),
        out: &mut Vec<T>,
    ) {
        let Tree {
            edges,
            vertices,
            faces,
            nodes,
            ..
        } = self.tree;
        let (a_box, b_box) = (&nodes[a.node], &nodes[b.node]);
        let mut near = [0; 3 * LEAF_SIZE];
        let near_b = near_features(edges, b, a_box, &mut near);
        for i in edges.range(a.first) {
            if edges.boxes[i].overlaps(b_box) {
                for &j in near_b {
                    self.compare_edges(i, j, report, out);
                }
            }
        }
        for (a, b, a_box, b_box) in [(a, b, a_box, b_box), (b, a, b_box, a_box)] {
            let mut near = [0; 3 * LEAF_SIZE];
            let near_b = near_features(faces, b, a_box, &mut near);
            for i in vertices.range(a.first) {
                if vertices.boxes[i].overlaps(b_box) {
                    for &j in near_b {
                        self.compare_vertex_and_face(i, j, report, out);
                    }
                }
            }
        }
    }

    /// Pairs of features of one leaf.
    fn compare_leaf<T>(&self, a: Place, report: &impl Fn(Overlap, &mut Vec<T>), out: &mut Vec<T>) {
        let edges = self.tree.edges.range(a.first);
        for i in edges.clone() {
            for j in i + 1..edges.end {
                self.compare_edges(i, j, report, out);
            }
        }
        for i in self.tree.vertices.range(a.first) {
            for j in self.tree.faces.range(a.first) {
                self.compare_vertex_and_face(i, j, report, out);
            }
        }
    }

    #[inline]
    fn compare_edges<T>(
        &self,
        i: usize,
        j: usize,
        report: &impl Fn(Overlap, &mut Vec<T>),
        out: &mut Vec<T>,
    ) {
        let edges = &self.tree.edges;
        if edges.boxes[i].overlaps(&edges.boxes[j]) {
            let (e, f) = (edges.ids[i], edges.ids[j]);
            let ([a, b], [c, d]) = (self.mesh.edges()[e as usize], self.mesh.edges()[f as usize]);
            let share = a == c || a == d || b == c || b == d;
            if !share && !self.are_obstacles(a, c) {
                report(Overlap::EdgeEdge(e, f), out);
            }
        }
    }

    #[inline]
    fn compare_vertex_and_face<T>(
        &self,
        i: usize,
        j: usize,
        report: &impl Fn(Overlap, &mut Vec<T>),
        out: &mut Vec<T>,
    ) {
        let Tree {
            vertices, faces, ..
        } = self.tree;
        if vertices.boxes[i].overlaps(&faces.boxes[j]) {
            let (v, f) = (vertices.ids[i], faces.ids[j]);
            let corners = self.mesh.faces()[f as usize];
            if !corners.contains(&v) && !self.are_obstacles(v, corners[0]) {
                report(Overlap::VertexFace(v, f), out);
            }
        }
    }

    fn are_obstacles(&self, v: u32, w: u32) -> bool {
        self.tree.is_obstacle[v as usize] && self.tree.is_obstacle[w as usize]
    }
}

/// The features of a leaf that overlap a box, as places in the feature list.
fn near_features<'n>(
    features: &Features,
    leaf: Place,
    other: &Box32,
    near: &'n mut [usize; 3 * LEAF_SIZE],
) -> &'n [usize] {
    let mut count = 0;
    for i in features.range(leaf.first) {
        if features.boxes[i].overlaps(other) {
            near[count] = i;
            count += 1;
        }
    }
    &near[..count]
}
