//! Whether points are inside a body: generalised winding numbers.
//!
//! The solid angles under which a point sees all faces of a body, divided by 4π \[JKS13\]: 1 inside a closed body, 0 outside, more where the body
//! overlaps itself, something between where it has holes.

use glam::DVec3;

use crate::geometry::Mesh;

/// A winding number above this in magnitude is inside.
const INSIDE: f64 = 0.5;
/// Vertices of a region that are asked; more would not change a majority.
const MAX_ASKED: usize = 9;

/// The winding number of some faces around a point.
pub(super) fn winding_number(mesh: &Mesh, x: &[DVec3], faces: &[[u32; 3]], at: DVec3) -> f64 {
    debug_assert!(mesh.vertex_count() == x.len());
    let angles = faces.iter().map(|f| {
        let [a, b, c] = f.map(|v| x[v as usize] - at);
        let (la, lb, lc) = (a.length(), b.length(), c.length());
        let below = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
        2.0 * libm::atan2(a.dot(b.cross(c)), below)
    });
    angles.sum::<f64>() / (4.0 * std::f64::consts::PI)
}

/// Whether most of some vertices are inside a body of the mesh, by an even choice of them.
pub(super) fn are_inside(mesh: &Mesh, x: &[DVec3], body: u32, vertices: &[u32]) -> bool {
    let range = mesh.bodies()[body as usize].faces.clone();
    let faces = &mesh.faces()[range.start as usize..range.end as usize];
    let count = vertices.len().min(MAX_ASKED);
    let asked = (0..count).map(|k| vertices[(2 * k + 1) * vertices.len() / (2 * count)]);
    let is_inside = |v: u32| winding_number(mesh, x, faces, x[v as usize]).abs() > INSIDE;
    2 * asked.filter(|&v| is_inside(v)).count() > count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_in_a_closed_body_is_inside_whatever_its_size() {
        // a tetrahedron
        for scale in [1e-3, 1.0, 1e3] {
            let x = [
                [0.0, 0.0, 0.0],
                [1.0, 0.0, 0.0],
                [0.0, 1.0, 0.0],
                [0.0, 0.0, 1.0],
            ]
            .map(|p| scale * DVec3::from_array(p));
            let faces = vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
            let mesh = Mesh::new(4, faces).unwrap();
            let number = |p: DVec3| winding_number(&mesh, &x, mesh.faces(), scale * p);
            assert!((number(DVec3::splat(0.1)) - 1.0).abs() < 1e-12);
            assert!(number(DVec3::splat(0.5)).abs() < 1e-12);
            assert!(number(DVec3::new(-3.0, 0.2, 0.1)).abs() < 1e-12);
        }
    }
}
