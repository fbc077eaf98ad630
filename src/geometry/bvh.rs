//! The tree: which features of a mesh come near each other during a motion.
//!
//! A binary tree over the faces, built by splitting at the median of the longest axis, refitted for
//! every motion and rebuilt when its quality has dropped. Every leaf holds a block of faces and
//! *owns* those of their vertices and edges whose owner face (see [`Mesh`]) is in the block; hence
//! a walk over all overlapping pairs of leaves meets every pair of features exactly once, also
//! between faces that share a vertex or an edge.
//!
//! Boxes are in single precision, rounded outward ([`super::box32`]). What the walk reports is therefore a
//! superset of the overlapping pairs; [`super::collider`] compares boxes in full precision.

mod features;
mod walk;

use glam::Vec3A;
use rayon::prelude::*;

use self::features::{Features, hull};
pub(super) use self::walk::FacePair;
use super::Mesh;
use super::box32::Volume;

/// Faces in a leaf. Measured on layered-sheets: see the table in the commit that set it.
const LEAF_SIZE: usize = 4;
/// Subtrees with fewer leaves are built and refitted by one thread.
const PARALLEL_LEAVES: usize = 512;
/// The tree is rebuilt when its cost has grown by this factor since it was built.
const MAX_COST_GROWTH: f64 = 1.5;

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

/// Hierarchy over the faces of one mesh: what is in which leaf.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    leaf_count: usize,
    faces: Features<3>,
    /// As the edges, listed when they are first asked for: the static test looks at faces only.
    vertices: Features<1>,
    edges: Features<2>,
    roles: Vec<Role>,
    is_obstacle: Vec<bool>,
    /// Cost after the last build; 0 before the first.
    cost: f64,
}

/// The bounding volumes of a tree in one motion.
#[derive(Clone, Debug)]
pub(super) struct Boxes<B> {
    faces: Vec<B>,
    vertices: Vec<B>,
    edges: Vec<B>,
    nodes: Vec<B>,
}

impl<B> Default for Boxes<B> {
    fn default() -> Self {
        let [faces, vertices, edges, nodes] = [const { Vec::new() }; 4];
        Self {
            faces,
            vertices,
            edges,
            nodes,
        }
    }
}

impl Tree {
    pub(super) fn new(mesh: &Mesh) -> Self {
        Self {
            leaf_count: mesh.faces().len().div_ceil(LEAF_SIZE),
            faces: Features::default(),
            vertices: Features::default(),
            edges: Features::default(),
            roles: Vec::new(),
            is_obstacle: (0..mesh.vertex_count() as u32)
                .map(|v| mesh.is_obstacle(v))
                .collect(),
            cost: 0.0,
        }
    }

    fn root(&self) -> Subtree {
        Subtree {
            node: 0,
            first: 0,
            count: self.leaf_count,
        }
    }

    /// Fits all boxes to those of the vertices of the mesh.
    pub(super) fn fit<B: Volume>(&mut self, boxes: &mut Boxes<B>, mesh: &Mesh, of_vertex: &[B]) {
        self.fit_faces(boxes, mesh, of_vertex);
        if self.edges.is_empty() {
            self.list_owned(mesh);
        }
        self.vertices.fit(&mut boxes.vertices, of_vertex);
        self.edges.fit(&mut boxes.edges, of_vertex);
    }

    /// Fits the boxes of faces and of nodes, which are all that [`Self::face_overlaps`] looks at.
    pub(super) fn fit_faces<B: Volume>(
        &mut self,
        boxes: &mut Boxes<B>,
        mesh: &Mesh,
        of_vertex: &[B],
    ) {
        let is_new = self.cost == 0.0;
        if is_new {
            self.build(mesh, of_vertex);
        }
        let cost = self.refit(boxes, of_vertex);
        if is_new {
            self.cost = cost;
        }
        // what is rebuilt in vain raises the bar, so that a scene is not rebuilt for ever
        if cost > MAX_COST_GROWTH * self.cost {
            self.build(mesh, of_vertex);
            self.cost = self.refit(boxes, of_vertex);
        }
    }

    /// Sorts the faces into leaves by the present vertex boxes.
    fn build<B: Volume>(&mut self, mesh: &Mesh, of_vertex: &[B]) {
        let mut keys: Vec<Key> = (mesh.faces().par_iter().with_min_len(4096))
            .map(|f| hull(f, of_vertex).middle().to_array())
            .zip(0..mesh.faces().len() as u32)
            .map(|(middle, face)| Key { middle, face })
            .collect();
        sort_into_leaves(&mut keys, self.leaf_count);
        let order: Vec<u32> = keys.into_iter().map(|key| key.face).collect();
        let itself = |face: u32| [Some((face, mesh.faces()[face as usize])), None, None];
        self.faces = Features::new(&order, itself);
        (self.vertices, self.edges) = Default::default();
        self.roles.clear();
    }

    /// Lists the vertices and edges that leaves own.
    fn list_owned(&mut self, mesh: &Mesh) {
        let owned_vertices = |face: u32| {
            let owned = |v: u32| mesh.vertex_owner()[v as usize] == face;
            mesh.faces()[face as usize].map(|v| owned(v).then_some((v, [v])))
        };
        let owned_edges = |face: u32| {
            let owned = |e: u32| mesh.edge_owner()[e as usize] == face;
            let ends = |e: u32| (e, mesh.edges()[e as usize]);
            mesh.face_edges()[face as usize].map(|e| owned(e).then(|| ends(e)))
        };
        let order = &self.faces.ids;
        self.vertices = Features::new(order, owned_vertices);
        self.edges = Features::new(order, owned_edges);
    }

    /// Returns the cost: the surface of all nodes relative to that of the faces, which grows as siblings drift apart, whatever the
    /// size of the motion.
    fn refit<B: Volume>(&self, boxes: &mut Boxes<B>, of_vertex: &[B]) -> f64 {
        let Boxes { faces, nodes, .. } = boxes;
        self.faces.fit(faces, of_vertex);
        nodes.resize(2 * self.leaf_count - 1, B::EMPTY);
        let leaf_box = |leaf: usize| {
            let own = &faces[self.faces.range(leaf)];
            let area = own.iter().map(B::half_area).sum();
            (own.iter().fold(B::EMPTY, |all, b| all.union(*b)), area)
        };
        let [of_nodes, of_faces] = surfaces(nodes, self.root(), &leaf_box);
        of_nodes / of_faces.max(f64::MIN_POSITIVE)
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
        self.roles.resize(2 * self.leaf_count - 1, idle);
        let root = self.root();
        from_leaves(&mut self.roles, root, &leaf_role, &Role::union);
    }
}

/// What faces are sorted into leaves by.
#[derive(Clone, Copy)]
struct Key {
    middle: [f32; 3],
    face: u32,
}

/// Sorts faces so that each run of [`LEAF_SIZE`] is a leaf: the median of the longest axis parts
/// the left leaves from the right.
fn sort_into_leaves(keys: &mut [Key], leaf_count: usize) {
    if leaf_count == 1 {
        return;
    }
    let none = (Vec3A::INFINITY, Vec3A::NEG_INFINITY);
    let (min, max) = keys.iter().fold(none, |(min, max), key| {
        let middle = Vec3A::from_array(key.middle);
        (min.min(middle), max.max(middle))
    });
    let axis = (max - min).max_position();
    let half = leaf_count / 2;
    // ties by face, so that equal middles do not depend on the order before
    keys.select_nth_unstable_by(half * LEAF_SIZE, |a, b| {
        (a.middle[axis].total_cmp(&b.middle[axis])).then(a.face.cmp(&b.face))
    });
    let (left, right) = keys.split_at_mut(half * LEAF_SIZE);
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

/// Fills the boxes of a subtree, `nodes[0]` being its root, from its leaves upward; `leaf` gives a box and the surface of its faces.
/// Returns the surface of all nodes and that of all faces.
fn surfaces<B: Volume>(
    nodes: &mut [B],
    subtree: Subtree,
    leaf: &(impl Fn(usize) -> (B, f64) + Sync),
) -> [f64; 2] {
    let (value, of_nodes, of_faces) = if subtree.count == 1 {
        let (value, of_faces) = leaf(subtree.first);
        (value, 0.0, of_faces)
    } else {
        let [a, b] = subtree.children();
        let (left, right) = nodes[1..].split_at_mut(b.node - a.node);
        let ([a, c], [b, d]) = both(
            subtree.count,
            || surfaces(left, a, leaf),
            || surfaces(right, b, leaf),
        );
        (left[0].union(right[0]), a + b, c + d)
    };
    nodes[0] = value;
    [of_nodes + value.half_area(), of_faces]
}

/// What the parts of a walk have found, one after the other.
pub(super) fn joined<T>(parts: Vec<Vec<T>>) -> Vec<T> {
    let mut all = Vec::with_capacity(parts.iter().map(Vec::len).sum());
    for part in parts {
        all.extend(part);
    }
    all
}
