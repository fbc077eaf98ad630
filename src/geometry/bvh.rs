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

mod features;
mod walk;

use glam::Vec3A;
use rayon::prelude::*;

use self::features::{Features, hull};
use super::Mesh;
use super::box32::Box32;

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
