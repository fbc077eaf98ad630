//! What lies around a vertex: faces, neighbouring vertices, the fan in order.

use crate::geometry::Mesh;

/// Faces and edges around each vertex.
#[derive(Clone, Debug)]
pub(super) struct Neighbours {
    faces: Rows,
    edges: Rows,
    /// Whether some edge at the vertex has only one face.
    pub(super) on_boundary: Vec<bool>,
}

/// Lists of different lengths, one after the other.
#[derive(Clone, Debug)]
struct Rows {
    starts: Vec<u32>,
    values: Vec<u32>,
}

impl Rows {
    /// The numbers of the items that list each vertex, ascending.
    fn invert<const N: usize>(vertex_count: usize, items: &[[u32; N]]) -> Self {
        let mut starts = vec![0u32; vertex_count + 1];
        for &v in items.as_flattened() {
            starts[v as usize + 1] += 1;
        }
        for v in 0..vertex_count {
            starts[v + 1] += starts[v];
        }
        let mut next = starts.clone();
        let mut values = vec![0; items.len() * N];
        for (number, item) in (0u32..).zip(items) {
            for &v in item {
                values[next[v as usize] as usize] = number;
                next[v as usize] += 1;
            }
        }
        Self { starts, values }
    }

    fn row(&self, v: u32) -> &[u32] {
        &self.values[self.starts[v as usize] as usize..self.starts[v as usize + 1] as usize]
    }
}

impl Neighbours {
    pub(super) fn of(mesh: &Mesh) -> Self {
        let mut on_boundary = vec![false; mesh.vertex_count()];
        for (edge, ends) in (0u32..).zip(mesh.edges()) {
            if mesh.faces_of_edge(edge).len() == 1 {
                ends.iter().for_each(|&v| on_boundary[v as usize] = true);
            }
        }
        Self {
            faces: Rows::invert(mesh.vertex_count(), mesh.faces()),
            edges: Rows::invert(mesh.vertex_count(), mesh.edges()),
            on_boundary,
        }
    }

    /// Faces at a vertex, ascending.
    pub(super) fn faces(&self, vertex: u32) -> &[u32] {
        self.faces.row(vertex)
    }

    /// Edges at a vertex, ascending.
    pub(super) fn edges(&self, vertex: u32) -> &[u32] {
        self.edges.row(vertex)
    }

    /// The faces at a vertex in their order around it; nothing if they are not one fan.
    pub(super) fn fan(&self, mesh: &Mesh, vertex: u32) -> Option<Fan> {
        let all = self.faces(vertex);
        let spokes = |face: u32| {
            let sides = mesh.face_edges()[face as usize].into_iter();
            sides.filter(|&e| mesh.edges()[e as usize].contains(&vertex))
        };
        let across = |face: u32, edge: u32| {
            let around = mesh.faces_of_edge(edge);
            around.iter().copied().find(|&f| f != face)
        };
        if all
            .iter()
            .any(|&f| spokes(f).any(|e| mesh.faces_of_edge(e).len() > 2))
        {
            return None;
        }
        // at a boundary, start with the first face that has a free spoke
        let free = all.iter().find_map(|&f| {
            let edge = spokes(f).find(|&e| across(f, e).is_none())?;
            Some((f, edge))
        });
        let is_closed = free.is_none();
        let (mut face, mut entered) =
            free.or_else(|| Some((*all.first()?, spokes(all[0]).next()?)))?;
        let first = face;
        let mut faces = Vec::with_capacity(all.len());
        loop {
            let left = spokes(face).find(|&e| e != entered)?;
            let far = |edge: u32| {
                let [a, b] = mesh.edges()[edge as usize];
                if a == vertex { b } else { a }
            };
            faces.push(FanFace {
                face,
                from: far(entered),
                to: far(left),
            });
            match across(face, left) {
                Some(next) if next != first && faces.len() < all.len() => {
                    (face, entered) = (next, left)
                }
                _ => break,
            }
        }
        (faces.len() == all.len()).then_some(Fan { faces, is_closed })
    }
}

/// The faces around a vertex in order.
pub(super) struct Fan {
    pub(super) faces: Vec<FanFace>,
    /// Whether the last is next to the first.
    pub(super) is_closed: bool,
}

/// A face of a fan, and its other two vertices in the order of the fan.
pub(super) struct FanFace {
    pub(super) face: u32,
    pub(super) from: u32,
    pub(super) to: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(faces: &[[u32; 3]], vertex: u32) -> Option<(Vec<u32>, bool)> {
        let count = *faces.as_flattened().iter().max().unwrap() as usize + 1;
        let mesh = Mesh::new(count, faces.to_vec()).unwrap();
        let fan = Neighbours::of(&mesh).fan(&mesh, vertex)?;
        for pair in fan.faces.windows(2) {
            assert_eq!(pair[0].to, pair[1].from);
        }
        Some((fan.faces.iter().map(|f| f.face).collect(), fan.is_closed))
    }

    #[test]
    fn a_fan_is_walked_in_order_whatever_the_winding() {
        assert_eq!(
            order(&[[0, 1, 2], [0, 4, 3], [0, 3, 2], [4, 1, 0]], 0).unwrap(),
            (vec![0, 2, 1, 3], true)
        );
        let (faces, is_closed) = order(&[[0, 1, 2], [3, 4, 0], [0, 3, 2]], 0).unwrap();
        assert_eq!((faces, is_closed), (vec![0, 2, 1], false));
    }

    #[test]
    fn two_fans_or_a_spoke_with_three_faces_have_no_order() {
        assert!(order(&[[0, 1, 2], [0, 3, 4]], 0).is_none());
        assert!(order(&[[0, 1, 2], [0, 1, 3], [0, 1, 4]], 0).is_none());
    }
}
