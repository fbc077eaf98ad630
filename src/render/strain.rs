//! Strain as colours: the largest principal stretch of each face against its rest shape.

use glam::{DVec2, DVec3, Vec3};
use rayon::prelude::*;

use super::image::Colour;

/// Colours of values from 0 to 1, at equal steps: slate at rest, through sand, to red.
pub const STRAIN_COLOURS: [Colour; 5] = [
    Colour([58, 82, 139]),
    Colour([74, 151, 168]),
    Colour([224, 213, 150]),
    Colour([232, 138, 62]),
    Colour([178, 24, 33]),
];

/// The colour of a value from 0 to 1; values outside are clamped, and one that is not a number is grey.
pub fn colour_of(value: f32) -> Colour {
    if value.is_nan() {
        return Colour([128; 3]);
    }
    let (k, t) = step_of(value);
    STRAIN_COLOURS[k].mix(STRAIN_COLOURS[k + 1], t)
}

/// The same as light.
pub(super) fn light_of(value: f32) -> Vec3 {
    if value.is_nan() {
        return Colour([128; 3]).to_linear();
    }
    let (k, t) = step_of(value);
    STRAIN_COLOURS[k]
        .to_linear()
        .lerp(STRAIN_COLOURS[k + 1].to_linear(), t)
}

fn step_of(value: f32) -> (usize, f32) {
    let steps = STRAIN_COLOURS.len() - 1;
    let at = value.clamp(0.0, 1.0) * steps as f32;
    let k = (at as usize).min(steps - 1);
    (k, at - k as f32)
}

/// Largest principal stretch of each face: 1 at rest, 1.1 if some direction in it is 10 % longer.
///
/// With the rest shape laid into a plane as the 2 × 2 matrix D₀ (two edge vectors) and the same edges now as
/// D (3 × 2), the deformation gradient is F = D D₀⁻¹; the stretch is its larger singular value, the root of
/// the larger eigenvalue of FᵀF. A face without area at rest gives NaN.
pub fn principal_stretch(rest: &[DVec3], positions: &[DVec3], faces: &[[u32; 3]]) -> Vec<f64> {
    faces
        .par_iter()
        .map(|&[a, b, c]| {
            let edges =
                |x: &[DVec3]| [x[b as usize] - x[a as usize], x[c as usize] - x[a as usize]];
            let [u0, v0] = edges(rest);
            let along = u0.normalize();
            let (p, q) = (
                DVec2::new(u0.length(), 0.0),
                DVec2::new(v0.dot(along), v0.cross(along).length()),
            );
            let [u, v] = edges(positions);
            // columns of F: D₀ is upper triangular
            let first = u / p.x;
            let second = (v - first * q.x) / q.y;
            let (g, h, k) = (
                first.length_squared(),
                second.length_squared(),
                first.dot(second),
            );
            let (mean, half) = (0.5 * (g + h), 0.5 * (g - h));
            (mean + libm::hypot(half, k)).sqrt()
        })
        .collect()
}

/// Values of faces carried to vertices, as the mean of the faces around; 0 where there is none.
pub fn to_vertices(values: &[f64], faces: &[[u32; 3]], vertex_count: usize) -> Vec<f64> {
    let mut sums = vec![(0.0, 0u32); vertex_count];
    for (face, value) in faces.iter().zip(values) {
        for &v in face {
            let (sum, count) = &mut sums[v as usize];
            *sum += value;
            *count += 1;
        }
    }
    sums.into_iter()
        .map(|(sum, count)| sum / f64::from(count.max(1)))
        .collect()
}
