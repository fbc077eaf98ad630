//! Pins that go along with a body, as if they were fixed to its skin.
//!
//! Each vertex hangs on the nearest point of the body's surface. With a skeleton it takes the weights of that point, so that what is around a
//! waist moves as smoothly as the skin under it; with a sequence it keeps its place to the triangle (its barycentric coordinates and
//! its height above it); rigid motions move it as they move the body.

use std::sync::Arc;

use glam::DVec3;

use super::objects::Object;
use crate::geometry::closest_points_vertex_face;
use crate::script::{Motion, Sequence, Skin};

/// The motions of a leader as they act on vertices at `x`, which go along with it.
pub(super) fn along(
    leader: &Object<'_>,
    motions: Vec<Motion>,
    x: &[DVec3],
) -> Result<Vec<Motion>, String> {
    let faces = &leader.shape.faces;
    let on = |surface: &[DVec3]| -> Vec<Foot> {
        x.iter()
            .map(|&p| Foot::nearest(p, surface, faces))
            .collect()
    };
    let along = |motion: Motion| match motion {
        Motion::Skin(skin) => {
            let feet = on(&skin.at(0.0));
            let bound = feet
                .iter()
                .map(|foot| skin.body.influences_at(faces[foot.face], foot.weights));
            let back = skin.place.inverse();
            let places: Vec<DVec3> = x.iter().map(|&p| back.transform_point3(p)).collect();
            let body = skin.body.bind(&skin.playing, 0.0, &places, bound.collect());
            let body =
                body.ok_or_else(|| format!("a bone of '{}' is flat at the start", leader.name))?;
            Ok(Motion::Skin(Skin {
                body: Arc::new(body),
                moved: (0..x.len() as u32).collect(),
                ..skin
            }))
        }
        Motion::Sequence(sequence) => {
            let feet = on(&sequence.at(0.0));
            let places = |x: &Vec<DVec3>| feet.iter().map(|foot| foot.place(x, faces)).collect();
            Ok(Motion::Sequence(Sequence {
                samples: sequence.samples.iter().map(places).collect(),
                ..sequence
            }))
        }
        rigid => Ok(rigid),
    };
    motions.into_iter().map(along).collect()
}

/// A point that keeps its place to a triangle.
#[derive(Clone, Copy, Debug)]
struct Foot {
    face: usize,
    /// Barycentric, of the foot of the perpendicular, or of the nearest point beside it.
    weights: [f64; 3],
    /// From there to the point: along the first side, the normal, and across.
    offset: [f64; 3],
}

impl Foot {
    fn nearest(p: DVec3, x: &[DVec3], faces: &[[u32; 3]]) -> Self {
        let mut best: Option<(f64, Self)> = None;
        for (face, corners) in faces.iter().enumerate() {
            let [a, b, c] = corners.map(|v| x[v as usize]);
            let closest = closest_points_vertex_face([p, a, b, c]);
            if best
                .as_ref()
                .is_some_and(|(nearest, _)| *nearest <= closest.distance_squared)
            {
                continue;
            }
            let [_, u, v, w] = closest.weights.map(|w| -w);
            let foot = u * a + v * b + w * c;
            let offset = axes([a, b, c]).map(|axis| axis.dot(p - foot));
            let found = Self {
                face,
                weights: [u, v, w],
                offset,
            };
            best = Some((closest.distance_squared, found));
        }
        best.expect("a shape has faces").1
    }

    fn place(&self, x: &[DVec3], faces: &[[u32; 3]]) -> DVec3 {
        let corners = faces[self.face].map(|v| x[v as usize]);
        let foot: DVec3 = corners.iter().zip(self.weights).map(|(p, w)| w * *p).sum();
        let axes = axes(corners).into_iter().zip(self.offset);
        foot + axes.map(|(axis, d)| d * axis).sum::<DVec3>()
    }
}

/// Along the first side, the normal, and across both.
fn axes([a, b, c]: [DVec3; 3]) -> [DVec3; 3] {
    let along = (b - a).normalize_or_zero();
    let normal = (b - a).cross(c - a).normalize_or_zero();
    [along, normal, normal.cross(along)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_foot_goes_along_when_its_triangle_moves_rigidly() {
        let x = [
            DVec3::ZERO,
            DVec3::X,
            DVec3::Z,
            DVec3::new(0.0, 5.0, 0.0),
            DVec3::new(1.0, 5.0, 0.0),
            DVec3::new(0.0, 5.0, 1.0),
        ];
        let faces = [[3, 4, 5], [0, 1, 2]];
        let turn = glam::DQuat::from_rotation_z(0.7) * glam::DQuat::from_rotation_x(-1.3);
        let moved: Vec<DVec3> = x.iter().map(|&p| turn * p + DVec3::ONE).collect();
        for p in [DVec3::new(0.2, 0.01, 0.3), DVec3::new(-0.2, -0.05, 1.4)] {
            let foot = Foot::nearest(p, &x, &faces);
            assert_eq!(foot.face, 1);
            assert!((foot.place(&x, &faces) - p).length() < 1e-15);
            let wanted = turn * p + DVec3::ONE;
            assert!((foot.place(&moved, &faces) - wanted).length() < 1e-15);
        }
    }
}
