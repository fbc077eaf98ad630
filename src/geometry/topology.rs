//! How a mesh is put together as a surface: its boundary, where it is not a surface, which way its
//! faces run.

use super::Mesh;
use super::mesh::NONE;

/// Where a mesh is not a surface. Detection works on such meshes all the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NonManifold {
    /// Edges of more than two faces, ascending.
    pub edges: Vec<u32>,
    /// Vertices whose faces do not hang together around them (bow ties), ascending.
    pub vertices: Vec<u32>,
}

/// A run of boundary edges, as the vertices along it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundaryLoop {
    /// Vertices in order; the first is the smallest of a closed loop.
    pub vertices: Vec<u32>,
    /// Whether it returns to its start; only at edges of three or more faces can a run end
    /// otherwise.
    pub closed: bool,
}

impl Mesh {
    /// Whether an edge has one face only.
    pub fn is_boundary(&self, edge: u32) -> bool {
        self.faces_of_edge(edge).len() == 1
    }

    /// The boundary as loops, by smallest vertex; each runs along the direction of its first edge's
    /// face.
    ///
    /// Where several loops touch at a vertex they are told apart by the faces between them: a loop
    /// goes on at the other end of the fan of faces that it came in on.
    pub fn boundary_loops(&self) -> Vec<BoundaryLoop> {
        let mut seen = vec![false; self.edges().len()];
        let mut loops = Vec::new();
        for edge in 0..self.edges().len() as u32 {
            if seen[edge as usize] || !self.is_boundary(edge) {
                continue;
            }
            let [from, to] = self.directed(edge);
            let (mut vertices, closed) = self.follow(edge, from, to, &mut seen);
            if closed {
                let smallest = (0..vertices.len()).min_by_key(|&i| vertices[i]);
                vertices.rotate_left(smallest.expect("a loop has vertices"));
            } else {
                // the run may also go on before its first edge
                let (mut before, _) = self.follow(edge, to, from, &mut seen);
                before.reverse();
                before.truncate(before.len() - 2);
                before.append(&mut vertices);
                vertices = before;
            }
            loops.push(BoundaryLoop { vertices, closed });
        }
        loops
    }

    /// Vertices from `from` over `to` on along the boundary, and whether the run closes.
    fn follow(&self, first: u32, from: u32, to: u32, seen: &mut [bool]) -> (Vec<u32>, bool) {
        let mut vertices = vec![from];
        let (mut edge, mut at) = (first, to);
        loop {
            seen[edge as usize] = true;
            match self.next_boundary(edge, at) {
                Some(next) if next == first => return (vertices, true),
                Some(next) => {
                    vertices.push(at);
                    at = self.other_end(next, at);
                    edge = next;
                }
                None => {
                    vertices.push(at);
                    return (vertices, false);
                }
            }
        }
    }

    /// The boundary edge at the other end of the fan of faces around `vertex` that begins with
    /// `edge`.
    fn next_boundary(&self, edge: u32, vertex: u32) -> Option<u32> {
        let mut face = self.faces_of_edge(edge)[0];
        let mut edge = edge;
        loop {
            edge = self.other_edge_at(face, edge, vertex);
            match *self.faces_of_edge(edge) {
                [_] => return Some(edge),
                [a, b] => face = if a == face { b } else { a },
                _ => return None,
            }
        }
    }

    /// The ends of a boundary edge in the order in which its face runs through them.
    fn directed(&self, edge: u32) -> [u32; 2] {
        let face = self.faces_of_edge(edge)[0];
        let [a, b] = self.edges()[edge as usize];
        if self.runs_along(face, a, b) {
            [a, b]
        } else {
            [b, a]
        }
    }

    /// Whether a face has the corners `a` and `b` in this order.
    fn runs_along(&self, face: u32, a: u32, b: u32) -> bool {
        let [p, q, r] = self.faces()[face as usize];
        [[p, q], [q, r], [r, p]].contains(&[a, b])
    }

    fn other_end(&self, edge: u32, vertex: u32) -> u32 {
        let [a, b] = self.edges()[edge as usize];
        if a == vertex { b } else { a }
    }

    /// The edge of a face that shares `vertex` with `edge`.
    fn other_edge_at(&self, face: u32, edge: u32, vertex: u32) -> u32 {
        self.face_edges()[face as usize]
            .into_iter()
            .find(|&e| e != edge && self.edges()[e as usize].contains(&vertex))
            .expect("two of a face's edges meet at each of its corners")
    }

    /// Edges and vertices at which the mesh is not a surface; both lists are empty for a manifold.
    pub fn non_manifold(&self) -> NonManifold {
        let edges = (0..self.edges().len() as u32)
            .filter(|&e| self.faces_of_edge(e).len() > 2)
            .collect();
        let vertices = (0..self.vertex_count() as u32)
            .filter(|&v| self.fan_count(v) > 1)
            .collect();
        NonManifold { edges, vertices }
    }

    /// Groups of faces around a vertex that hang together by edges at it.
    fn fan_count(&self, vertex: u32) -> usize {
        let faces = self.faces_of_vertex(vertex);
        let mut reached = vec![false; faces.len()];
        let place = |face| faces.binary_search(&face).expect("a face of the vertex");
        let mut count = 0;
        let mut stack = Vec::new();
        for start in 0..faces.len() {
            if reached[start] {
                continue;
            }
            count += 1;
            reached[start] = true;
            stack.push(faces[start]);
            while let Some(face) = stack.pop() {
                for e in self.face_edges()[face as usize] {
                    if !self.edges()[e as usize].contains(&vertex) {
                        continue;
                    }
                    for &next in self.faces_of_edge(e) {
                        if !std::mem::replace(&mut reached[place(next)], true) {
                            stack.push(next);
                        }
                    }
                }
            }
        }
        count
    }

    /// For each face whether it has to be turned over so that all neighbours run the same way; none
    /// if that is impossible, as on a Möbius strip. The first face of each component stays; edges
    /// of more than two faces do not bind.
    pub fn orientation(&self) -> Option<Vec<bool>> {
        let mut turned = vec![NONE; self.faces().len()];
        let mut stack = Vec::new();
        for start in 0..self.faces().len() as u32 {
            if turned[start as usize] != NONE {
                continue;
            }
            turned[start as usize] = 0;
            stack.push(start);
            while let Some(face) = stack.pop() {
                for e in self.face_edges()[face as usize] {
                    let [a, b] = self.edges()[e as usize];
                    let &[f, g] = self.faces_of_edge(e) else {
                        continue;
                    };
                    let next = if f == face { g } else { f };
                    let agree = self.runs_along(f, a, b) != self.runs_along(g, a, b);
                    let wanted = turned[face as usize] ^ u32::from(!agree);
                    match turned[next as usize] {
                        NONE => {
                            turned[next as usize] = wanted;
                            stack.push(next);
                        }
                        known if known != wanted => return None,
                        _ => {}
                    }
                }
            }
        }
        Some(turned.into_iter().map(|t| t == 1).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ```text
    /// 6 7 8
    /// 3 4 5
    /// 0 1 2
    /// ```
    fn grid(width: u32, height: u32) -> Vec<[u32; 3]> {
        let at = |x, y| y * (width + 1) + x;
        (0..height)
            .flat_map(|y| (0..width).map(move |x| (x, y)))
            .flat_map(|(x, y)| {
                let [a, b, c, d] = [at(x, y), at(x + 1, y), at(x + 1, y + 1), at(x, y + 1)];
                [[a, b, c], [a, c, d]]
            })
            .collect()
    }

    fn mesh(faces: Vec<[u32; 3]>) -> Mesh {
        let count = faces.iter().flatten().max().map_or(0, |v| v + 1);
        Mesh::new(count as usize, faces).unwrap()
    }

    fn loops(mesh: &Mesh) -> Vec<(Vec<u32>, bool)> {
        mesh.boundary_loops()
            .into_iter()
            .map(|l| (l.vertices, l.closed))
            .collect()
    }

    #[test]
    fn a_sheet_has_one_loop_that_runs_as_its_faces_do() {
        let sheet = mesh(grid(2, 2));
        assert_eq!(loops(&sheet), [(vec![0, 1, 2, 5, 8, 7, 6, 3], true)]);
        assert_eq!(sheet.non_manifold(), NonManifold::default());
        assert_eq!(sheet.orientation(), Some(vec![false; 8]));
        let reversed = mesh(grid(2, 2).iter().map(|&[a, b, c]| [a, c, b]).collect());
        assert_eq!(loops(&reversed), [(vec![0, 3, 6, 7, 8, 5, 2, 1], true)]);
    }

    #[test]
    fn a_closed_mesh_has_no_loop_and_a_hole_has_its_own() {
        let tetrahedron = mesh(vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]);
        assert!(tetrahedron.boundary_loops().is_empty());
        assert_eq!(tetrahedron.orientation(), Some(vec![false; 4]));
        let mut faces = grid(3, 3);
        faces.drain(8..10); // the cell in the middle
        let frame = mesh(faces);
        let mut hole = frame.boundary_loops().pop().unwrap();
        hole.vertices.sort_unstable();
        assert_eq!(hole.vertices, [5, 6, 9, 10]);
        assert_eq!(frame.boundary_loops().len(), 2);
    }

    #[test]
    fn loops_that_touch_at_a_vertex_are_told_apart() {
        let bow_tie = mesh(vec![[0, 1, 2], [2, 3, 4]]);
        assert_eq!(
            loops(&bow_tie),
            [(vec![0, 1, 2], true), (vec![2, 3, 4], true)]
        );
        assert_eq!(bow_tie.non_manifold().vertices, [2]);
        // two cells of four, touching at their corner
        let mut faces = grid(2, 2);
        faces.drain(6..8);
        faces.drain(0..2);
        let diagonal = mesh(faces);
        let all = loops(&diagonal);
        assert_eq!(all.len(), 2);
        assert!(
            all.iter()
                .all(|(vertices, closed)| *closed && vertices.len() == 4)
        );
    }

    #[test]
    fn three_sheets_on_one_edge_have_open_runs() {
        let book = mesh(vec![[0, 1, 2], [0, 1, 3], [0, 1, 4]]);
        assert_eq!(
            loops(&book),
            [
                (vec![1, 2, 0], false),
                (vec![1, 3, 0], false),
                (vec![1, 4, 0], false)
            ]
        );
        assert_eq!(book.non_manifold().edges, [0]);
        assert!(book.non_manifold().vertices.is_empty());
    }

    #[test]
    fn turned_faces_are_found_and_a_moebius_strip_has_no_orientation() {
        let mut faces = grid(3, 1);
        faces[2].swap(0, 1);
        faces[5].swap(1, 2);
        let turned: Vec<bool> = (0..6).map(|f| f == 2 || f == 5).collect();
        assert_eq!(mesh(faces).orientation(), Some(turned));
        // a strip of five cells between (0 2 4 6 8) and (1 3 5 7 9), closed with a half twist
        let strip: Vec<[u32; 3]> = (0..5u32)
            .flat_map(|i| {
                let [a, b] = [2 * i, 2 * i + 1];
                let [c, d] = if i == 4 { [1, 0] } else { [a + 2, b + 2] };
                [[a, c, b], [c, d, b]]
            })
            .collect();
        let moebius = mesh(strip);
        assert_eq!(moebius.orientation(), None);
        assert_eq!(moebius.boundary_loops().len(), 1);
        assert_eq!(moebius.boundary_loops()[0].vertices.len(), 10);
    }

    #[test]
    fn every_boundary_edge_of_a_random_mesh_is_on_exactly_one_run() {
        use proptest::prelude::*;
        let corners = prop::array::uniform3(0..9u32);
        proptest!(|(faces in prop::collection::vec(corners, 1..25))| {
            let mut faces: Vec<[u32; 3]> = faces;
            let key = |f: &[u32; 3]| { let mut k = *f; k.sort_unstable(); k };
            faces.retain(|&[a, b, c]| a != b && b != c && c != a);
            faces.sort_unstable_by_key(key);
            faces.dedup_by_key(|f| key(f));
            prop_assume!(!faces.is_empty());
            let mesh = mesh(faces);
            let mut found: Vec<[u32; 2]> = Vec::new();
            for l in mesh.boundary_loops() {
                let n = l.vertices.len();
                for i in 0..if l.closed { n } else { n - 1 } {
                    let (a, b) = (l.vertices[i], l.vertices[(i + 1) % n]);
                    found.push([a.min(b), a.max(b)]);
                }
            }
            found.sort_unstable();
            let all: Vec<[u32; 2]> = (0u32..)
                .zip(mesh.edges())
                .filter(|(e, _)| mesh.is_boundary(*e))
                .map(|(_, ends)| *ends)
                .collect();
            prop_assert_eq!(found, all);
        });
    }
}
