//! Seams: panels that are sewn together, as one surface.
//!
//! A path that reaches a seam goes on across it, but to a mesh the panels are apart, and the path
//! ends there. Welding makes sewn vertices one. Where the seam gapes, they meet in the middle: the
//! analysis is then that of the closed seam.

use glam::DVec3;

use crate::geometry::MeshError;
use crate::geometry::{Body, Mesh};

/// A mesh with its seams closed.
#[derive(Clone, Debug)]
pub struct Welded {
    /// The same faces in the same order; vertices that were sewn to a smaller number are not used
    /// any more.
    pub mesh: Mesh,
    /// Positions of all vertices.
    pub positions: Vec<DVec3>,
    /// For each vertex the one that stands for it.
    pub stands_for: Vec<u32>,
}

/// Closes seams, given as pairs of vertices; chains of pairs make one vertex of all.
///
/// Bodies that are sewn together become one, as do those between them.
///
/// # Errors
/// A face that loses an edge, two faces that become one, or panels with an obstacle between them in
/// the numbering.
///
/// # Panics
/// If a seam names a vertex that does not exist, or positions are missing.
pub fn weld(mesh: &Mesh, x: &[DVec3], seams: &[[u32; 2]]) -> Result<Welded, MeshError> {
    let mut stands_for: Vec<u32> = (0..mesh.vertex_count() as u32).collect();
    for &[a, b] in seams {
        let (a, b) = (root(&stands_for, a), root(&stands_for, b));
        stands_for[a.max(b) as usize] = a.min(b);
    }
    for v in 0..stands_for.len() {
        stands_for[v] = root(&stands_for, v as u32); // smaller ones are done
    }
    // the mean of equal positions must be that position to the bit
    let mut sums = vec![(DVec3::ZERO, 0.0); x.len()];
    for (&v, p) in stands_for.iter().zip(x) {
        let (sum, count) = &mut sums[v as usize];
        *sum += *p - x[v as usize];
        *count += 1.0;
    }
    let middle = |v: u32| x[v as usize] + sums[v as usize].0 / sums[v as usize].1;
    let positions = stands_for.iter().map(|&v| middle(v)).collect();
    let faces = mesh
        .faces()
        .iter()
        .map(|f| f.map(|v| stands_for[v as usize]));
    let bodies = joined(mesh, &stands_for);
    Ok(Welded {
        mesh: Mesh::with_bodies(mesh.vertex_count(), faces.collect(), bodies)?,
        positions,
        stands_for,
    })
}

/// Pairs of boundary vertices at exactly the same place, each with the next of its place: seams of
/// panels that were cut apart when a file was written.
pub fn coincident(mesh: &Mesh, x: &[DVec3]) -> Vec<[u32; 2]> {
    let mut boundary: Vec<u32> = (0..mesh.edges().len() as u32)
        .filter(|&e| mesh.is_boundary(e))
        .flat_map(|e| mesh.edges()[e as usize])
        .collect();
    boundary.sort_unstable();
    boundary.dedup();
    // adding zero makes one zero of the two
    let key = |v: u32| x[v as usize].to_array().map(|c| (c + 0.0).to_bits());
    boundary.sort_by_key(|&v| (key(v), v));
    let pairs = boundary.windows(2).filter(|w| key(w[0]) == key(w[1]));
    pairs.map(|w| [w[0], w[1]]).collect()
}

fn root(stands_for: &[u32], mut v: u32) -> u32 {
    while stands_for[v as usize] != v {
        v = stands_for[v as usize];
    }
    v
}

/// The bodies, with those of one kind joined that share vertices now.
fn joined(mesh: &Mesh, stands_for: &[u32]) -> Vec<Body> {
    // the first body that each is sewn to
    let mut first: Vec<u32> = (0..mesh.bodies().len() as u32).collect();
    for (v, &other) in (0u32..).zip(stands_for) {
        let (own, other) = (mesh.body_of_vertex(v), mesh.body_of_vertex(other));
        first[own as usize] = first[own as usize].min(other);
    }
    let mut bodies: Vec<Body> = Vec::new();
    for (body, &first) in mesh.bodies().iter().zip(&first) {
        let start = mesh.bodies()[first as usize].vertices.start;
        let mut body = body.clone();
        while let Some(last) = bodies.pop_if(|b| b.vertices.end > start && b.kind == body.kind) {
            body = Body {
                name: format!("{}+{}", last.name, body.name),
                kind: body.kind,
                vertices: last.vertices.start..body.vertices.end,
                faces: last.faces.start..body.faces.end,
            };
        }
        bodies.push(body);
    }
    bodies
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::BodyKind;

    /// Three triangles in a row, each a panel of its own.
    fn panels(kinds: [BodyKind; 3]) -> Mesh {
        let body = |k: u32| Body {
            name: ["a", "b", "c"][k as usize].into(),
            kind: kinds[k as usize],
            vertices: 3 * k..3 * k + 3,
            faces: k..k + 1,
        };
        let faces = (0..3).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]).collect();
        Mesh::with_bodies(9, faces, (0..3).map(body).collect()).unwrap()
    }

    #[test]
    fn sewn_panels_become_one_body_and_gaps_close_in_the_middle() {
        use BodyKind::{Cloth, Obstacle};
        let mesh = panels([Cloth; 3]);
        let x: Vec<DVec3> = (0..9).map(|k| DVec3::splat(f64::from(k) / 10.0)).collect();
        let welded = weld(&mesh, &x, &[[1, 3], [2, 4]]).unwrap();
        assert_eq!(welded.mesh.faces(), [[0, 1, 2], [1, 2, 5], [6, 7, 8]]);
        assert_eq!(welded.positions[3], 0.5 * (x[1] + x[3]));
        assert_eq!(welded.positions[5], x[5]);
        let names: Vec<_> = welded.mesh.bodies().iter().map(|b| &b.name).collect();
        assert_eq!(names, ["a+b", "c"]);
        let all = weld(&mesh, &x, &[[1, 8], [2, 7]]).unwrap();
        assert_eq!(all.mesh.bodies().len(), 1);
        let apart = weld(&panels([Cloth, Obstacle, Cloth]), &x, &[[1, 8]]);
        assert!(matches!(apart, Err(MeshError::FaceAcrossBodies { .. })));
        let collapsed = weld(&mesh, &x, &[[0, 1]]);
        assert!(matches!(collapsed, Err(MeshError::DegenerateFace { .. })));
    }

    #[test]
    fn equal_positions_are_found_and_kept_to_the_bit() {
        let mesh = panels([BodyKind::Cloth; 3]);
        let mut x: Vec<DVec3> = (0..9)
            .map(|k| DVec3::splat(1.0 / f64::from(k + 3)))
            .collect();
        x[4] = x[1];
        x[7] = x[1];
        x[5] = DVec3::new(0.0, 1.0, 0.0);
        x[8] = DVec3::new(-0.0, 1.0, -0.0);
        assert_eq!(coincident(&mesh, &x), [[5, 8], [1, 4], [4, 7]]);
        let welded = weld(&mesh, &x, &coincident(&mesh, &x)).unwrap();
        assert_eq!(welded.stands_for, [0, 1, 2, 3, 1, 5, 6, 1, 5]);
        assert_eq!(welded.positions[7], x[1]);
    }
}
