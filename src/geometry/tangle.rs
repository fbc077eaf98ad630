//! Tangles: what is let through what, while it is being cured.
//!
//! A tangle is a path of crossing faces with two sets of faces, A and B (\[WLG06\] §5.2: "we disable
//! collision detection for *inside* parts of the cloth, as well as a small region around the
//! intersection lines"). Features are let through each other only if *all* faces around the one are
//! in A and all faces around the other are in B. So no pair of faces outside A × B can begin to
//! cross unnoticed: at the first instant a feature of the one would meet a feature of the other, and
//! that pair of features is looked at as ever.

use std::fmt;

use super::{Mesh, Pair};

/// A path of crossing faces, and what may cross while it is cured.
///
/// A claim like any other: anybody may write one, and [`crate::verify`] believes none of it before it
/// has looked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tangle {
    /// Crossing pairs of faces, the first of A and the second of B, ascending. None in one that was
    /// opened for what is pinched and does not cross yet.
    pub path: Vec<[u32; 2]>,
    /// The faces of A and those of B, ascending: those on the path, on the wrong side of it, and
    /// some rings around.
    pub sides: [Vec<u32>; 2],
    /// Those of them on the wrong side of the path, ascending; perhaps none.
    pub inside: [Vec<u32>; 2],
}

impl Tangle {
    /// The pair as one of A and one of B, if it lies in A × B.
    pub fn oriented(&self, [f, g]: [u32; 2]) -> Option<[u32; 2]> {
        let [a, b] = &self.sides;
        between(a, b, [f, g])
    }

    /// Whether the pair lies between what is on the wrong side of A and what is of B.
    pub(crate) fn is_inside(&self, pair: [u32; 2]) -> bool {
        let [a, b] = &self.inside;
        between(a, b, pair).is_some()
    }
}

/// The pair with its face in `a` first and that in `b` second.
fn between(a: &[u32], b: &[u32], [f, g]: [u32; 2]) -> Option<[u32; 2]> {
    let is_in = |set: &[u32], face: u32| set.binary_search(&face).is_ok();
    if is_in(a, f) && is_in(b, g) {
        Some([f, g])
    } else if is_in(a, g) && is_in(b, f) {
        Some([g, f])
    } else {
        None
    }
}

/// What is wrong with a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadTangle {
    /// A list is not ascending, or names a face that the mesh does not have.
    List,
    /// A pair of the path is not in A × B.
    PathOutside,
    /// A pair of the path does not cross.
    Stale,
    /// It has no path.
    NoPath,
    /// A face does not hang together with the path.
    Stray {
        /// The face.
        face: u32,
    },
    /// A pair is in two paths.
    Twice,
}

impl fmt::Display for BadTangle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::List => f.write_str("its lists are not ascending faces of this mesh"),
            Self::PathOutside => f.write_str("a pair of its path is not between its two sides"),
            Self::Stale => f.write_str("a pair of its path does not cross"),
            Self::NoPath => f.write_str("nothing in it crosses"),
            Self::Stray { face } => write!(f, "face {face} does not hang together with its path"),
            Self::Twice => f.write_str("a pair of its path is in another one already"),
        }
    }
}

/// The pairs of features that a list of tangles lets through each other.
#[derive(Debug, Default)]
pub struct Exempt {
    vertices: Tags,
    edges: Tags,
    faces: Tags,
}

impl Exempt {
    /// Of tangles whose faces the mesh has.
    pub(crate) fn new(mesh: &Mesh, tangles: &[Tangle]) -> Self {
        let mut of_face: Vec<(u32, u32)> = Vec::new();
        for (t, tangle) in (0u32..).zip(tangles) {
            for (side, faces) in (0..).zip(&tangle.sides) {
                of_face.extend(faces.iter().map(|&face| (face, 2 * t + side)));
            }
        }
        of_face.sort_unstable();
        let faces = Tags::new(mesh.faces().len(), &of_face);
        // a feature belongs to a side if all faces around it do
        let around = |count: usize, around: &dyn Fn(u32) -> Vec<u32>| {
            let mut tags: Vec<(u32, u32)> = Vec::new();
            for feature in 0..count as u32 {
                let own = around(feature);
                let Some((&first, others)) = own.split_first() else {
                    continue;
                };
                let in_all = |tag: &u32| others.iter().all(|&f| faces.of(f).contains(tag));
                let common = faces.of(first).iter().copied().filter(in_all);
                tags.extend(common.map(|tag| (feature, tag)));
            }
            Tags::new(count, &tags)
        };
        let vertices = around(mesh.vertex_count(), &|v| mesh.faces_of_vertex(v).to_vec());
        let edges = around(mesh.edges().len(), &|e| mesh.faces_of_edge(e).to_vec());
        Self {
            vertices,
            edges,
            faces,
        }
    }

    /// The tangles that let this pair of features through, by number; perhaps one twice.
    pub(crate) fn tangles_of(&self, pair: Pair) -> impl Iterator<Item = u32> {
        let [first, second] = match pair {
            Pair::VertexFace { vertex, face } => [self.vertices.of(vertex), self.faces.of(face)],
            Pair::EdgeEdge { a, b } => [self.edges.of(a), self.edges.of(b)],
        };
        // the tags of the two sides of a tangle differ in their last bit
        let facing = first.iter().filter(|&&tag| second.contains(&(tag ^ 1)));
        facing.map(|tag| tag / 2)
    }

    /// Whether some tangle lets this pair of features through.
    pub(crate) fn holds(&self, pair: Pair) -> bool {
        self.tangles_of(pair).next().is_some()
    }
}

/// Some numbers for each of many things, most of which have none.
#[derive(Debug, Default)]
struct Tags {
    starts: Vec<u32>,
    tags: Vec<u32>,
}

impl Tags {
    /// Of pairs (thing, tag), by thing.
    fn new(count: usize, pairs: &[(u32, u32)]) -> Self {
        let mut starts = vec![0; count + 1];
        for &(thing, _) in pairs {
            starts[thing as usize + 1] += 1;
        }
        for i in 0..count {
            starts[i + 1] += starts[i];
        }
        Self {
            starts,
            tags: pairs.iter().map(|&(_, tag)| tag).collect(),
        }
    }

    fn of(&self, thing: u32) -> &[u32] {
        let [from, to] = [thing, thing + 1].map(|i| self.starts[i as usize] as usize);
        &self.tags[from..to]
    }
}

/// Faces around the vertices of these, `rings` times; ascending.
pub(crate) fn grown(mesh: &Mesh, faces: &[u32], rings: u32) -> Vec<u32> {
    let mut is_in = vec![false; mesh.faces().len()];
    let mut all = Vec::with_capacity(faces.len());
    for &face in faces {
        if !std::mem::replace(&mut is_in[face as usize], true) {
            all.push(face);
        }
    }
    let mut front = 0..all.len();
    for _ in 0..rings {
        let end = all.len();
        for k in front.clone() {
            for v in mesh.faces()[all[k] as usize] {
                for &face in mesh.faces_of_vertex(v) {
                    if !std::mem::replace(&mut is_in[face as usize], true) {
                        all.push(face);
                    }
                }
            }
        }
        front = end..all.len();
    }
    all.sort_unstable();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two strips of four triangles each, one after the other.
    fn strips() -> Mesh {
        let strip = |first: u32| (0..4).map(move |k| [first + k, first + k + 1, first + k + 2]);
        Mesh::new(12, strip(0).chain(strip(6)).collect()).unwrap()
    }

    #[test]
    fn features_at_the_rim_of_a_side_are_not_let_through() {
        let mesh = strips();
        let tangle = Tangle {
            path: vec![[1, 5]],
            sides: [vec![0, 1, 2], vec![4, 5]],
            inside: [vec![], vec![]],
        };
        let exempt = Exempt::new(&mesh, &[tangle]);
        let holds = |vertex: u32, face: u32| exempt.holds(Pair::VertexFace { vertex, face });
        // all faces of vertex 2 are in A; face 3, which is not, holds vertices 3, 4 and 5
        assert!(holds(2, 4) && holds(2, 5) && holds(0, 5));
        assert!(!holds(3, 4) && !holds(5, 4), "at the rim");
        assert!(!holds(2, 6), "face 6 is not in B");
        assert!(holds(6, 1), "B into A");
        assert!(!holds(6, 4), "B into itself");
        let edge = |a: u32, b: u32| {
            let is_it = |e: &[u32; 2]| *e == [a, b];
            mesh.edges().iter().position(is_it).unwrap() as u32
        };
        let holds = |a: u32, b: u32| exempt.holds(Pair::EdgeEdge { a, b });
        assert!(holds(edge(1, 2), edge(6, 7)));
        assert!(!holds(edge(3, 4), edge(6, 7)), "at the rim");
    }

    #[test]
    fn two_tangles_do_not_let_through_what_neither_does() {
        let mesh = strips();
        let tangle = |a: Vec<u32>, b: Vec<u32>| Tangle {
            path: Vec::new(),
            sides: [a, b],
            inside: Default::default(),
        };
        let tangles = [tangle(vec![0], vec![4]), tangle(vec![2, 3], vec![6, 7])];
        let exempt = Exempt::new(&mesh, &tangles);
        let holds = |vertex: u32, face: u32| exempt.holds(Pair::VertexFace { vertex, face });
        assert!(holds(0, 4) && holds(5, 7));
        assert!(!holds(0, 7) && !holds(5, 4), "A of one and B of the other");
    }

    #[test]
    fn rings_are_counted_by_vertices() {
        let mesh = strips();
        assert_eq!(grown(&mesh, &[0], 0), [0]);
        assert_eq!(grown(&mesh, &[0], 1), [0, 1, 2]);
        assert_eq!(grown(&mesh, &[7, 4], 1), [4, 5, 6, 7]);
    }
}
