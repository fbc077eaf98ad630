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

/// The colour of a value from 0 to 1; values outside are clamped, and one that is not a number is
/// grey.
pub(super) fn colour_of(value: f32) -> Colour {
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
/// With the rest shape laid into a plane as the 2 × 2 matrix D₀ (two edge vectors) and the same
/// edges now as D (3 × 2), the deformation gradient is F = D D₀⁻¹; the stretch is its larger
/// singular value, the root of the larger eigenvalue of `FᵀF`. A face without area at rest gives
/// NaN.
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

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DMat3;

    #[test]
    fn the_stretch_of_a_known_deformation_is_its_larger_singular_value() {
        let rest = [
            DVec3::new(0.3, -0.2, 0.0),
            DVec3::new(1.4, 0.1, 0.0),
            DVec3::new(0.2, 0.9, 0.0),
        ];
        // diag(0.7, 1.3) between two rotations in the plane, then turned into space
        let turn = |angle: f64| DMat3::from_rotation_z(angle);
        let plane = turn(0.4) * DMat3::from_diagonal(DVec3::new(0.7, 1.3, 1.0)) * turn(-1.1);
        let space = DMat3::from_axis_angle(DVec3::new(1.0, 2.0, -2.0).normalize(), 0.8);
        let now = rest.map(|p| space * plane * p + DVec3::splat(3.0));
        let stretch = principal_stretch(&rest, &now, &[[0, 1, 2], [1, 2, 0], [0, 2, 1]]);
        for s in stretch {
            assert!((s - 1.3).abs() < 1e-12, "{s}");
        }
    }

    #[test]
    fn a_rigid_motion_has_no_stretch_and_a_face_without_area_no_number() {
        let rest = [DVec3::ZERO, DVec3::X, DVec3::Y, 2.0 * DVec3::X];
        let now = rest.map(|p| DMat3::from_rotation_y(1.0) * p);
        let stretch = principal_stretch(&rest, &now, &[[0, 1, 2], [0, 1, 3]]);
        assert!((stretch[0] - 1.0).abs() < 1e-15);
        assert!(stretch[1].is_nan());
    }

    #[test]
    fn values_reach_vertices_as_means() {
        let values = to_vertices(&[1.0, 3.0], &[[0, 1, 2], [2, 1, 3]], 5);
        assert_eq!(values, [1.0, 2.0, 2.0, 3.0, 0.0]);
    }

    #[test]
    fn the_scale_of_colours_meets_its_ends_and_clamps() {
        assert_eq!(colour_of(0.0), STRAIN_COLOURS[0]);
        assert_eq!(colour_of(-1.0), STRAIN_COLOURS[0]);
        assert_eq!(colour_of(0.5), STRAIN_COLOURS[2]);
        assert_eq!(colour_of(7.0), STRAIN_COLOURS[4]);
        assert_eq!(colour_of(f32::NAN), Colour([128; 3]));
    }
}
