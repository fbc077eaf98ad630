//! What the tests of this folder are made of: sheets, strips, noise.

use glam::DVec3;

use super::super::*;
use crate::geometry::Mesh;
use crate::random::Random;

/// A square sheet of `cells`² cells and side 1 m in the x-z plane.
pub(in crate::dynamics) fn sheet(cells: u32) -> (Mesh, Vec<DVec3>) {
    strip([cells; 2], [1.0; 2])
}

/// A rectangle of `cells` along x and z and that `size`, in the x-z plane, numbered along z first; diagonals alternate.
pub(in crate::dynamics) fn strip(cells: [u32; 2], size: [f64; 2]) -> (Mesh, Vec<DVec3>) {
    let n = [cells[0] + 1, cells[1] + 1];
    let at = |i: u32, j: u32| i * n[1] + j;
    let place = |i: u32, k: usize| f64::from(i) * size[k] / f64::from(cells[k]);
    let x = (0..n[0] * n[1])
        .map(|v| DVec3::new(place(v / n[1], 0), 0.0, place(v % n[1], 1)))
        .collect();
    let mut faces = Vec::new();
    for i in 0..cells[0] {
        for j in 0..cells[1] {
            let (a, b, c, d) = (at(i, j), at(i, j + 1), at(i + 1, j + 1), at(i + 1, j));
            if (i + j) % 2 == 0 {
                faces.extend([[a, b, c], [a, c, d]]);
            } else {
                faces.extend([[a, b, d], [b, c, d]]);
            }
        }
    }
    let mesh = Mesh::new((n[0] * n[1]) as usize, faces).unwrap();
    (mesh, x)
}

/// Reproducible numbers in [−1, 1).
pub(in crate::dynamics) fn noise(seed: u64) -> impl FnMut() -> f64 {
    let mut random = Random(seed);
    move || random.signed()
}

pub(in crate::dynamics) fn shaken(x: &[DVec3], amount: f64, seed: u64) -> Vec<DVec3> {
    let mut next = noise(seed);
    x.iter()
        .map(|&x| x + amount * DVec3::new(next(), next(), next()))
        .collect()
}

pub(in crate::dynamics) fn cloth(mesh: &Mesh, rest: &[DVec3], fabric: Fabric) -> ClothModel {
    ClothModel {
        body: 0,
        fabric,
        stretch: Stretch::Springs,
        rest: RestShape::from_positions(mesh, &mesh.bodies()[0], rest.to_vec()),
        pinned: Vec::new(),
    }
}

/// Elastic forces at a state, N.
pub(in crate::dynamics) fn elastic_force(dynamics: &Dynamics, x: &[DVec3]) -> Vec<DVec3> {
    let mut bent = bend::Bent::default();
    dynamics.elements.bending.measure(x, &mut bent);
    let mut f = vec![DVec3::ZERO; x.len()];
    dynamics.elements.add_force(x, &bent, &mut f);
    f
}
