//! Triangle meshes: topology, validated once, shared by everything.

use std::ops::Range;

use glam::DVec3;
use serde::Serialize;

use super::MeshError;
use super::Pair;

/// Marks "no face" in owner tables.
pub(crate) const NONE: u32 = u32::MAX;

/// Smallest non-zero coordinate, in metres: below it products of differences could underflow
/// (docs/method.md §1).
pub(crate) const SMALLEST_COORDINATE: f64 = 1e-70;
/// Largest coordinate, in metres.
pub(crate) const LARGEST_COORDINATE: f64 = 1e30;

/// What a body is for the certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BodyKind {
    /// Simulated; every pair with it is inside the certificate.
    Cloth,
    /// Scripted; pairs of two obstacle features are outside the certificate (real bodies cross
    /// themselves).
    Obstacle,
}

/// A named run of vertices and faces of a mesh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    /// Name, as in the scene file.
    pub name: String,
    /// Whether pairs within it are judged.
    pub kind: BodyKind,
    /// Its vertices.
    pub vertices: Range<u32>,
    /// Its faces; they use its vertices only.
    pub faces: Range<u32>,
}

/// Triangles over numbered vertices, with unique edges; positions are kept apart.
///
/// Non-manifold edges are legal. Vertices that no face uses are legal too, and never tested. Every
/// vertex and edge has an *owner*, the first face that uses it: a broad phase over faces reports a
/// pair of features exactly once by reporting it for the owners only.
///
/// # Examples
/// ```
/// use percale::Mesh;
///
/// let square = Mesh::new(4, vec![[0, 1, 2], [2, 1, 3]])?;
/// assert_eq!(square.edges().len(), 5);
/// assert!(Mesh::new(3, vec![[0, 1, 1]]).is_err(), "a face has three different corners");
/// # Ok::<(), percale::MeshError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Mesh {
    faces: Vec<[u32; 3]>,
    edges: Vec<[u32; 2]>,
    face_edges: Vec<[u32; 3]>,
    edge_faces: Lists,
    vertex_faces: Lists,
    vertex_edges: Lists,
    vertex_owner: Vec<u32>,
    edge_owner: Vec<u32>,
    bodies: Vec<Body>,
    body_of_vertex: Vec<u32>,
}

impl Mesh {
    /// A mesh of one cloth body named "mesh".
    pub fn new(vertex_count: usize, faces: Vec<[u32; 3]>) -> Result<Self, MeshError> {
        let body = Body {
            name: "mesh".into(),
            kind: BodyKind::Cloth,
            vertices: 0..index(vertex_count)?,
            faces: 0..index(faces.len())?,
        };
        Self::with_bodies(vertex_count, faces, vec![body])
    }

    /// A mesh of several bodies, whose ranges must tile the vertices and the faces in order.
    ///
    /// # Errors
    /// No faces, an index out of range, a face with a repeated vertex, two faces on the same three
    /// vertices, or a face that reaches into another body.
    pub fn with_bodies(
        vertex_count: usize,
        faces: Vec<[u32; 3]>,
        bodies: Vec<Body>,
    ) -> Result<Self, MeshError> {
        index(vertex_count)?;
        index(3 * faces.len())?;
        if faces.is_empty() {
            return Err(MeshError::Empty);
        }
        for (face, corners) in faces.iter().enumerate() {
            for &vertex in corners {
                if vertex as usize >= vertex_count {
                    return Err(MeshError::IndexOutOfRange {
                        face,
                        vertex,
                        vertex_count,
                    });
                }
            }
            let [a, b, c] = *corners;
            if a == b || b == c || c == a {
                return Err(MeshError::DegenerateFace {
                    face,
                    corners: *corners,
                });
            }
        }
        check_duplicates(vertex_count, &faces)?;
        let body_of_vertex = check_bodies(vertex_count, &faces, &bodies)?;

        let (edges, face_edges) = unique_edges(vertex_count, &faces);
        let mut vertex_owner = vec![NONE; vertex_count];
        let mut edge_owner = vec![NONE; edges.len()];
        for (face, (corners, sides)) in faces.iter().zip(&face_edges).enumerate() {
            for &v in corners {
                let owner = &mut vertex_owner[v as usize];
                *owner = (*owner).min(face as u32);
            }
            for &e in sides {
                let owner = &mut edge_owner[e as usize];
                *owner = (*owner).min(face as u32);
            }
        }
        let edge_faces = Lists::invert(edges.len(), &face_edges);
        let vertex_faces = Lists::invert(vertex_count, &faces);
        let vertex_edges = Lists::invert(vertex_count, &edges);
        Ok(Self {
            faces,
            edges,
            face_edges,
            edge_faces,
            vertex_faces,
            vertex_edges,
            vertex_owner,
            edge_owner,
            bodies,
            body_of_vertex,
        })
    }

    /// Number of vertices, those without a face included.
    pub fn vertex_count(&self) -> usize {
        self.vertex_owner.len()
    }

    /// Corners of each face.
    pub fn faces(&self) -> &[[u32; 3]] {
        &self.faces
    }

    /// Ends of each edge, ascending; the list is ascending too.
    pub fn edges(&self) -> &[[u32; 2]] {
        &self.edges
    }

    /// Edges of each face; edge k joins the corners k and k + 1.
    pub fn face_edges(&self) -> &[[u32; 3]] {
        &self.face_edges
    }

    /// Faces around an edge, ascending: one at a boundary, two inside, more where it is not
    /// manifold.
    pub fn faces_of_edge(&self, edge: u32) -> &[u32] {
        self.edge_faces.of(edge)
    }

    /// Faces that use a vertex, ascending.
    pub fn faces_of_vertex(&self, vertex: u32) -> &[u32] {
        self.vertex_faces.of(vertex)
    }

    /// Edges that end at a vertex, ascending.
    pub fn edges_of_vertex(&self, vertex: u32) -> &[u32] {
        self.vertex_edges.of(vertex)
    }

    /// Vertices that an edge joins to a vertex, ascending.
    pub fn neighbours(&self, vertex: u32) -> impl Iterator<Item = u32> {
        // edges ascend by their smaller end, then the larger: first come those from below, then
        // those to above
        self.edges_of_vertex(vertex).iter().map(move |&e| {
            let [a, b] = self.edges[e as usize];
            if a == vertex { b } else { a }
        })
    }

    /// The face that reports a vertex; [`NONE`] if no face uses it.
    pub(crate) fn vertex_owner(&self) -> &[u32] {
        &self.vertex_owner
    }

    /// The face that reports an edge.
    pub fn edge_owner(&self) -> &[u32] {
        &self.edge_owner
    }

    /// The bodies, in order.
    pub fn bodies(&self) -> &[Body] {
        &self.bodies
    }

    /// Index of the body that a vertex belongs to.
    pub fn body_of_vertex(&self, vertex: u32) -> u32 {
        self.body_of_vertex[vertex as usize]
    }

    /// Index of the body that a face belongs to.
    pub fn body_of_face(&self, face: u32) -> u32 {
        self.body_of_vertex(self.faces[face as usize][0])
    }

    /// Whether a vertex belongs to an obstacle.
    pub fn is_obstacle(&self, vertex: u32) -> bool {
        self.bodies[self.body_of_vertex(vertex) as usize].kind == BodyKind::Obstacle
    }

    /// The four vertices of a pair, in the order of [`super::Sweep`].
    pub fn vertices_of(&self, pair: Pair) -> [u32; 4] {
        match pair {
            Pair::VertexFace { vertex, face } => {
                let [a, b, c] = self.faces[face as usize];
                [vertex, a, b, c]
            }
            Pair::EdgeEdge { a, b } => {
                let ([a0, a1], [b0, b1]) = (self.edges[a as usize], self.edges[b as usize]);
                [a0, a1, b0, b1]
            }
        }
    }

    /// Connected component of each vertex, numbered in the order of first vertices; vertices
    /// without a face count alone.
    pub fn components(&self) -> Vec<u32> {
        let mut parent: Vec<u32> = (0..self.vertex_count() as u32).collect();
        fn root(parent: &mut [u32], mut v: u32) -> u32 {
            while parent[v as usize] != v {
                parent[v as usize] = parent[parent[v as usize] as usize];
                v = parent[v as usize];
            }
            v
        }
        for &[a, b] in &self.edges {
            let (a, b) = (root(&mut parent, a), root(&mut parent, b));
            parent[a.max(b) as usize] = a.min(b);
        }
        let mut numbers = vec![NONE; parent.len()];
        let mut count = 0;
        (0..parent.len() as u32)
            .map(|v| {
                let r = root(&mut parent, v) as usize;
                if numbers[r] == NONE {
                    numbers[r] = count;
                    count += 1;
                }
                numbers[r]
            })
            .collect()
    }
}

/// A list of numbers for each of many things, in one piece of memory.
#[derive(Clone, Debug)]
struct Lists {
    offsets: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    /// For each of `count` things the rows that contain it, ascending.
    fn invert<const N: usize>(count: usize, rows: &[[u32; N]]) -> Self {
        let mut offsets = vec![0u32; count + 1];
        for &thing in rows.iter().flatten() {
            offsets[thing as usize + 1] += 1;
        }
        for i in 0..count {
            offsets[i + 1] += offsets[i];
        }
        let mut next = offsets.clone();
        let mut items = vec![0; N * rows.len()];
        for (row, things) in rows.iter().enumerate() {
            for &thing in things {
                items[next[thing as usize] as usize] = row as u32;
                next[thing as usize] += 1;
            }
        }
        Self { offsets, items }
    }

    fn of(&self, thing: u32) -> &[u32] {
        let i = thing as usize;
        &self.items[self.offsets[i] as usize..self.offsets[i + 1] as usize]
    }
}

/// Checks that there is one position per vertex and that each coordinate is in the range of the
/// guarantee: 0, or between [`SMALLEST_COORDINATE`] and [`LARGEST_COORDINATE`] in magnitude.
pub(crate) fn check_positions(mesh: &Mesh, x: &[DVec3]) -> Result<(), MeshError> {
    if x.len() != mesh.vertex_count() {
        return Err(MeshError::PositionCount {
            positions: x.len(),
            vertex_count: mesh.vertex_count(),
        });
    }
    for (vertex, p) in x.iter().enumerate() {
        for coordinate in p.to_array() {
            let magnitude = coordinate.abs();
            if !coordinate.is_finite() {
                return Err(MeshError::NotFinite {
                    vertex,
                    position: *p,
                });
            }
            if magnitude != 0.0 && !(SMALLEST_COORDINATE..=LARGEST_COORDINATE).contains(&magnitude)
            {
                return Err(MeshError::OutOfRange {
                    vertex,
                    position: *p,
                });
            }
        }
    }
    Ok(())
}

/// Puts coordinates that are smaller than [`SMALLEST_COORDINATE`], but not 0, to 0.
///
/// A coordinate that should be 0 by symmetry decays for as long as a run goes on; nobody can tell
/// it from 0, and the exact test cannot take it.
pub(crate) fn flush_tiny(x: &mut [DVec3]) {
    let flush = |coordinate: f64| {
        if coordinate != 0.0 && coordinate.abs() < SMALLEST_COORDINATE {
            0.0
        } else {
            coordinate // also what is not a number, which is refused by name
        }
    };
    for p in x {
        *p = DVec3::new(flush(p.x), flush(p.y), flush(p.z));
    }
}

fn index(count: usize) -> Result<u32, MeshError> {
    // NONE is reserved, so the count itself has to stay below it
    u32::try_from(count)
        .ok()
        .filter(|&n| n < NONE)
        .ok_or(MeshError::TooLarge { count })
}

fn check_duplicates(vertex_count: usize, faces: &[[u32; 3]]) -> Result<(), MeshError> {
    match duplicate(vertex_count, faces) {
        Some([first, second]) => Err(MeshError::DuplicateFace {
            first,
            second,
            corners: faces[first],
        }),
        None => Ok(()),
    }
}

/// Two faces on the same three vertices, of which there are as many as said, if there are any: the first by these vertices, ascending.
pub(crate) fn duplicate(vertex_count: usize, faces: &[[u32; 3]]) -> Option<[usize; 2]> {
    let keys = faces.iter().zip(0..).map(|(corners, face)| {
        let mut key = *corners;
        key.sort_unstable();
        let [a, b, c] = key;
        (a, ([b, c], face))
    });
    let keys: Vec<(u32, ([u32; 2], u32))> =
        sorted_by_number(vertex_count, &keys.collect::<Vec<_>>());
    let is_same = |w: &&[(u32, ([u32; 2], u32))]| (w[0].0, w[0].1.0) == (w[1].0, w[1].1.0);
    let twice = keys.windows(2).find(is_same)?;
    Some([twice[0].1.1 as usize, twice[1].1.1 as usize])
}

/// What `sort_unstable` makes of these rows, whose numbers are below `count`: by number in one pass, and then the few of each among
/// themselves.
fn sorted_by_number<T: Copy + Default + Ord>(count: usize, rows: &[(u32, T)]) -> Vec<(u32, T)> {
    let mut next = vec![0; count + 1];
    for (number, _) in rows {
        next[*number as usize + 1] += 1;
    }
    for i in 0..count {
        next[i + 1] += next[i];
    }
    let mut sorted = vec![(0, T::default()); rows.len()];
    for row in rows {
        let at: &mut usize = &mut next[row.0 as usize];
        sorted[*at] = *row;
        *at += 1;
    }
    for run in sorted.chunk_by_mut(|a, b| a.0 == b.0) {
        run.sort_unstable();
    }
    sorted
}

fn check_bodies(
    vertex_count: usize,
    faces: &[[u32; 3]],
    bodies: &[Body],
) -> Result<Vec<u32>, MeshError> {
    let mut body_of_vertex = vec![NONE; vertex_count];
    let (mut vertex, mut face) = (0, 0);
    for (number, body) in bodies.iter().enumerate() {
        assert!(
            body.vertices.start == vertex && body.faces.start == face,
            "the ranges of bodies must follow one another"
        );
        (vertex, face) = (body.vertices.end, body.faces.end);
        body_of_vertex[body.vertices.start as usize..body.vertices.end as usize]
            .fill(number as u32);
        for f in body.faces.clone() {
            if let Some(&v) = faces[f as usize]
                .iter()
                .find(|v| !body.vertices.contains(v))
            {
                return Err(MeshError::FaceAcrossBodies {
                    face: f as usize,
                    vertex: v,
                    body: body.name.clone(),
                });
            }
        }
    }
    assert!(
        vertex as usize == vertex_count && face as usize == faces.len(),
        "the bodies must cover all vertices and faces"
    );
    Ok(body_of_vertex)
}

fn unique_edges(vertex_count: usize, faces: &[[u32; 3]]) -> (Vec<[u32; 2]>, Vec<[u32; 3]>) {
    let mut sides: Vec<(u32, (u32, u32))> = Vec::with_capacity(3 * faces.len());
    for (face, &[a, b, c]) in faces.iter().enumerate() {
        for (k, [p, q]) in [[a, b], [b, c], [c, a]].into_iter().enumerate() {
            sides.push((p.min(q), (p.max(q), (3 * face + k) as u32)));
        }
    }
    let mut edges: Vec<[u32; 2]> = Vec::with_capacity(sides.len() / 2 + 1);
    let mut face_edges = vec![[0; 3]; faces.len()];
    for (p, (q, side)) in sorted_by_number(vertex_count, &sides) {
        let ends = [p, q];
        if edges.last() != Some(&ends) {
            edges.push(ends);
        }
        face_edges[side as usize / 3][side as usize % 3] = edges.len() as u32 - 1;
    }
    (edges, face_edges)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn two_triangles_share_one_edge() {
        let mesh = Mesh::new(4, vec![[0, 1, 2], [2, 1, 3]]).unwrap();
        assert_eq!(mesh.edges(), [[0, 1], [0, 2], [1, 2], [1, 3], [2, 3]]);
        assert_eq!(mesh.face_edges(), [[0, 2, 1], [2, 3, 4]]);
        assert_eq!(mesh.faces_of_edge(2), [0, 1]);
        assert_eq!(mesh.vertex_owner(), [0, 0, 0, 1]);
        assert_eq!(mesh.components(), [0, 0, 0, 0]);
        assert_eq!(mesh.faces_of_vertex(1), [0, 1]);
        assert_eq!(mesh.edges_of_vertex(2), [1, 2, 4]);
        assert_eq!(mesh.neighbours(2).collect::<Vec<_>>(), [0, 1, 3]);
    }

    proptest! {
        #[test]
        fn rows_are_sorted_by_number_as_by_comparing_them(
            rows in prop::collection::vec((0..7u32, (0..3u32, 0..3u32)), 0..60),
            many in 0..200u32,
        ) {
            let mut rows = rows;
            rows.extend((0..many).rev().map(|k| (3, (k % 5, k)))); // more of one number than of all others
            let mut expected = rows.clone();
            expected.sort_unstable();
            prop_assert_eq!(sorted_by_number(7, &rows), expected);
        }
    }

    #[test]
    fn of_faces_on_the_same_vertices_the_first_by_vertices_are_named() {
        let faces = [
            [5, 6, 7],
            [1, 2, 3],
            [7, 5, 6],
            [4, 1, 2],
            [3, 1, 2],
            [2, 3, 1],
        ];
        assert_eq!(duplicate(8, &faces), Some([1, 4]));
        assert_eq!(duplicate(8, &faces[..4]), Some([0, 2]));
        assert_eq!(duplicate(8, &faces[..2]), None);
    }

    #[test]
    fn bad_topology_is_refused_by_name() {
        assert!(matches!(Mesh::new(3, vec![]), Err(MeshError::Empty)));
        assert!(matches!(
            Mesh::new(3, vec![[0, 1, 3]]),
            Err(MeshError::IndexOutOfRange {
                face: 0,
                vertex: 3,
                ..
            })
        ));
        assert!(matches!(
            Mesh::new(3, vec![[0, 1, 1]]),
            Err(MeshError::DegenerateFace { face: 0, .. })
        ));
        let twice = Mesh::new(4, vec![[0, 1, 2], [0, 1, 3], [2, 0, 1]]);
        assert!(matches!(
            twice,
            Err(MeshError::DuplicateFace {
                first: 0,
                second: 2,
                ..
            })
        ));
    }

    #[test]
    fn coordinates_outside_the_stated_range_are_refused() {
        let mesh = Mesh::new(3, vec![[0, 1, 2]]).unwrap();
        let at = |x| [DVec3::ZERO, DVec3::X, DVec3::new(0.0, x, 0.0)];
        assert!(check_positions(&mesh, &at(1.0)).is_ok());
        assert!(matches!(
            check_positions(&mesh, &at(f64::NAN)),
            Err(MeshError::NotFinite { vertex: 2, .. })
        ));
        assert!(matches!(
            check_positions(&mesh, &at(1e-71)),
            Err(MeshError::OutOfRange { vertex: 2, .. })
        ));
        assert!(matches!(
            check_positions(&mesh, &at(1e31)),
            Err(MeshError::OutOfRange { vertex: 2, .. })
        ));
        assert!(matches!(
            check_positions(&mesh, &at(1.0)[..2]),
            Err(MeshError::PositionCount { .. })
        ));
    }

    #[test]
    fn only_what_is_too_small_becomes_zero() {
        let mut x = [
            DVec3::new(-1e-71, 1e-70, -0.0),
            DVec3::new(5e-324, -1.0, f64::NAN),
        ];
        flush_tiny(&mut x);
        assert_eq!(x[0].to_array(), [0.0, 1e-70, 0.0]);
        assert!(x[0].z.is_sign_negative());
        assert_eq!(x[1].truncate().to_array(), [0.0, -1.0]);
        assert!(x[1].z.is_nan());
    }
}
