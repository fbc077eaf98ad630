//! The faces around a vertex, in order.

use crate::geometry::Mesh;

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

/// The faces at a vertex in their order around it; nothing if they are not one fan.
pub(super) fn around(mesh: &Mesh, vertex: u32) -> Option<Fan> {
    let all = mesh.faces_of_vertex(vertex);
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
    let (mut face, mut entered) = free.or_else(|| Some((*all.first()?, spokes(all[0]).next()?)))?;
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
                (face, entered) = (next, left);
            }
            _ => break,
        }
    }
    (faces.len() == all.len()).then_some(Fan { faces, is_closed })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(faces: &[[u32; 3]], vertex: u32) -> Option<(Vec<u32>, bool)> {
        let count = *faces.as_flattened().iter().max().unwrap() as usize + 1;
        let mesh = Mesh::new(count, faces.to_vec()).unwrap();
        let fan = around(&mesh, vertex)?;
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
