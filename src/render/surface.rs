//! The faces of a picture in one list, with their normals.

use glam::{DVec3, Vec3};
use rayon::prelude::*;

use super::{Picture, Shading};

/// All models, concatenated; faces that cannot be drawn are left out.
#[derive(Clone, Debug, Default)]
pub(super) struct Surface {
    /// What the picture looks at.
    pub(super) target: DVec3,
    /// Positions in metres from there.
    pub(super) points: Vec<Vec3>,
    /// The same in full, from the origin.
    pub(super) positions: Vec<DVec3>,
    /// Corners, as indices of the two above.
    pub(super) faces: Vec<[u32; 3]>,
    /// Unit normals of the faces.
    pub(super) facets: Vec<Vec3>,
    /// Unit normals at the corners of each face.
    pub(super) normals: Vec<[Vec3; 3]>,
    /// Model of each face, and the number of the face in it.
    pub(super) origin: Vec<(u32, u32)>,
    /// Number of `points[0]` of each model among its own positions, minus its number here.
    pub(super) shift: Vec<i64>,
}

impl Surface {
    pub(super) fn new(picture: &Picture<'_>, target: DVec3) -> Self {
        let mut all = Self {
            target,
            ..Self::default()
        };
        for (number, model) in picture.models.iter().enumerate() {
            let used = model.faces.iter().flatten();
            let first = used.clone().min().map_or(0, |&v| v as usize);
            let end = used.max().map_or(0, |&v| v as usize + 1);
            let shift = first as i64 - all.points.len() as i64;
            all.shift.push(shift);
            let positions = &model.positions[first..end];
            all.positions.extend_from_slice(positions);
            all.points
                .extend(positions.iter().map(|&p| (p - target).as_vec3()));

            let from = all.faces.len();
            for (k, face) in model.faces.iter().enumerate() {
                let [a, b, c] = face.map(|v| model.positions[v as usize]);
                // in full precision: thin faces keep a direction
                let normal = (b - a).cross(c - a).normalize_or_zero();
                if normal == DVec3::ZERO || !normal.is_finite() {
                    continue;
                }
                all.faces.push(face.map(|v| (i64::from(v) - shift) as u32));
                all.facets.push(normal.as_vec3());
                all.origin.push((number as u32, k as u32));
            }
            let normals = corner_normals(
                &all.points,
                &all.faces[from..],
                &all.facets[from..],
                model.shading,
            );
            all.normals.extend(normals);
        }
        all
    }
}

/// Normals at the corners: the mean of the faces around, weighted by their angles there (Thürmer & Wüthrich 1998),
/// over those faces that do not turn away by more than the crease.
fn corner_normals(
    points: &[Vec3],
    faces: &[[u32; 3]],
    facets: &[Vec3],
    shading: Shading,
) -> Vec<[Vec3; 3]> {
    let least_cosine = match shading {
        Shading::Flat => return facets.iter().map(|&n| [n; 3]).collect(),
        Shading::Smooth => -2.0,
        Shading::Crease(degrees) => libm::cos(degrees.to_radians()) as f32,
    };
    let weighted: Vec<[Vec3; 3]> = faces
        .par_iter()
        .zip(facets)
        .map(|(face, &normal)| {
            let p = face.map(|v| points[v as usize]);
            [0, 1, 2].map(|k| {
                let (u, v) = (p[(k + 1) % 3] - p[k], p[(k + 2) % 3] - p[k]);
                normal * libm::atan2f(u.cross(v).length(), u.dot(v))
            })
        })
        .collect();

    let first = faces.iter().flatten().min().map_or(0, |&v| v as usize);
    let end = faces.iter().flatten().max().map_or(0, |&v| v as usize + 1);
    let mut offsets = vec![0u32; end - first + 1];
    for &v in faces.iter().flatten() {
        offsets[v as usize - first + 1] += 1;
    }
    for v in 1..offsets.len() {
        offsets[v] += offsets[v - 1];
    }
    let mut next = offsets.clone();
    let mut around = vec![(0u32, 0u8); 3 * faces.len()];
    for (f, face) in faces.iter().enumerate() {
        for (k, &v) in face.iter().enumerate() {
            let slot = &mut next[v as usize - first];
            around[*slot as usize] = (f as u32, k as u8);
            *slot += 1;
        }
    }
    faces
        .par_iter()
        .zip(facets)
        .map(|(face, &own)| {
            face.map(|v| {
                let v = v as usize - first;
                around[offsets[v] as usize..offsets[v + 1] as usize]
                    .iter()
                    .filter(|(f, _)| facets[*f as usize].dot(own) >= least_cosine)
                    .map(|&(f, k)| weighted[f as usize][k as usize])
                    .sum::<Vec3>()
                    .normalize_or(own)
            })
        })
        .collect()
}
