//! Prevention while the cure is at work: what is not permitted to pass each other does not.
//!
//! A step is a straight motion of some vertices. Impacts between faces that no tangle permits are answered per group of connected
//! impacts, not for all at once: the vertices of a group go half of their way, and again, and in the end stay where they are. The
//! null motion meets nothing, so this ends.

use glam::DVec3;

use super::tangle::Permitted;
use crate::geometry::{Asked, Collider, Impact, Mesh, Motion, Pair};

/// Halvings before a vertex stays where it is: less than a hundredth of its way is not worth the tests.
const MAX_HALVINGS: u32 = 6;
/// Rounds before everything that moved stays where it is. Each round halves the way of some vertex; chains of contacts
/// are resolved one after another.
const MAX_ROUNDS: u32 = 60;

/// Cuts a motion short where it would make something meet that may not; says how many vertices were cut.
///
/// `moving` ascends and holds all vertices whose ends differ from their starts.
pub(super) fn keep_apart(
    collider: &mut Collider,
    start: &[DVec3],
    end: &mut [DVec3],
    moving: &[u32],
    permitted: &Permitted,
) -> usize {
    let mesh = std::sync::Arc::clone(collider.mesh());
    let mut halvings = vec![0u32; moving.len()];
    let mut changed: Vec<u32> = moving.to_vec();
    for round in 0..=MAX_ROUNDS {
        let impacts =
            collider.look_again(Motion::new(start, end), &changed, &Asked::default(), None);
        let refused = impacts
            .impacts
            .iter()
            .filter(|i| !is_permitted(&mesh, permitted, i));
        let mut vertices: Vec<u32> = refused.flat_map(|i| i.vertices).collect();
        if vertices.is_empty() {
            break;
        }
        vertices.sort_unstable();
        vertices.dedup();
        vertices.retain(|v| start[*v as usize] != end[*v as usize]);
        if round == MAX_ROUNDS {
            vertices = moving.to_vec();
        }
        for &v in &vertices {
            let k = moving.binary_search(&v).expect("only these move");
            halvings[k] += 1;
            let (from, to) = (start[v as usize], &mut end[v as usize]);
            *to = if halvings[k] > MAX_HALVINGS || round == MAX_ROUNDS {
                from
            } else {
                from + 0.5 * (*to - from)
            };
        }
        // what has been changed may meet something else now
        changed = vertices;
    }
    halvings.iter().filter(|&&h| h > 0).count()
}

/// Whether some faces at the two features may pass each other.
fn is_permitted(mesh: &Mesh, permitted: &Permitted, impact: &Impact) -> bool {
    let (a, b) = match impact.pair {
        Pair::VertexFace { vertex, face } => (mesh.faces_of_vertex(vertex), &[face][..]),
        Pair::EdgeEdge { a, b } => (mesh.faces_of_edge(a), mesh.faces_of_edge(b)),
    };
    a.iter().any(|&f| b.iter().any(|&g| permitted.faces(f, g)))
}
