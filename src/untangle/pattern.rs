//! Lengths at rest: from another shape of the cloth, or from texture coordinates, if these are the pattern that it was cut by.

use glam::{DVec2, DVec3};

use crate::geometry::mesh::check_positions;
use crate::geometry::{Mesh, MeshError};

/// An edge agrees with the pattern if its length does within this share: more than cloth stretches, less than the distortion of a
/// texture.
const AGREEMENT: f64 = 0.15;
/// Share of all edges that has to agree; the rest may be in the tangle.
const MAJORITY: f64 = 0.75;

/// Rest lengths of each face's sides from texture coordinates, in metres, if these are a pattern of the cloth up to a common scale.
///
/// # Panics
/// If there is not one entry per face.
pub fn pattern_lengths(mesh: &Mesh, x: &[DVec3], uv: &[[DVec2; 3]]) -> Option<Vec<[f64; 3]>> {
    assert_eq!(uv.len(), mesh.faces().len(), "coordinates for every face");
    let sides = |face: usize| {
        let p = uv[face];
        let q = mesh.faces()[face].map(|v| x[v as usize]);
        [0, 1, 2].map(|k| (p[k].distance(p[(k + 1) % 3]), q[k].distance(q[(k + 1) % 3])))
    };
    let mut ratios = Vec::with_capacity(3 * uv.len());
    for face in 0..uv.len() {
        for (flat, length) in sides(face) {
            if flat <= 0.0 {
                return None; // a pattern has no points for edges
            }
            ratios.push(length / flat);
        }
    }
    ratios.sort_unstable_by(f64::total_cmp);
    let scale = ratios[ratios.len() / 2];
    let agree = ratios
        .iter()
        .filter(|r| (*r / scale - 1.0).abs() <= AGREEMENT)
        .count();
    if !(scale > 0.0 && agree as f64 >= MAJORITY * ratios.len() as f64) {
        return None;
    }
    // a scale of nearly one is one: patterns are cut in metres
    let scale = if (scale - 1.0).abs() <= AGREEMENT {
        1.0
    } else {
        scale
    };
    Some(
        (0..uv.len())
            .map(|face| sides(face).map(|(flat, _)| scale * flat))
            .collect(),
    )
}

/// Lengths of the edges in another shape of the mesh, as [`Patient::lengths`](super::Patient::lengths) wants them, in metres.
///
/// # Errors
/// Positions that are missing, not finite or out of range; an edge of cloth that has no length.
pub fn edge_lengths(mesh: &Mesh, shape: &[DVec3]) -> Result<Vec<f64>, MeshError> {
    check_positions(mesh, shape)?;
    let length = |&edge: &[u32; 2]| {
        let [a, b] = edge.map(|v| shape[v as usize]);
        match a == b && !mesh.is_obstacle(edge[0]) {
            true => Err(MeshError::NoLength { edge }),
            false => Ok(a.distance(b)),
        }
    };
    mesh.edges().iter().map(length).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::tangles::of_type;

    #[test]
    fn a_pattern_is_told_from_a_texture() {
        let t = of_type("closed", 12).unwrap();
        let mesh = Mesh::new(t.positions.len(), t.faces.clone()).unwrap();
        let lengths = |uv: Vec<[DVec2; 3]>| pattern_lengths(&mesh, &t.positions, &uv);
        let scaled = |by: DVec2| t.uv.iter().map(|f| f.map(|p| by * p)).collect::<Vec<_>>();
        let own = lengths(scaled(DVec2::ONE)).unwrap();
        assert_eq!(own[5][0], t.uv[5][0].distance(t.uv[5][1]));
        assert!(
            lengths(scaled(DVec2::splat(0.01))).is_some(),
            "another unit"
        );
        assert!(
            lengths(scaled(DVec2::new(1.0, 3.0))).is_none(),
            "stretched over a square"
        );
        assert!(lengths(scaled(DVec2::ZERO)).is_none());
    }
}
