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
    /// Unit normals at the corners of each face, then in the middle of the sides opposite to them.
    pub(super) normals: Vec<[Vec3; 6]>,
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
            let corners = corner_normals(
                &all.points,
                &all.faces[from..],
                &all.facets[from..],
                model.shading,
            );
            all.normals.extend(match model.shading {
                Shading::Smooth => relaxed(&all.faces[from..], &corners),
                Shading::Flat | Shading::Crease(_) => corners.into_iter().map(with_means).collect(),
            });
        }
        all
    }
}

/// Normals at the corners: the mean of the faces around, weighted by their angles there (Thürmer &
/// Wüthrich 1998), over those faces that do not turn away by more than the crease.
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

/// Corner normals, and their means on the sides.
fn with_means([a, b, c]: [Vec3; 3]) -> [Vec3; 6] {
    [a, b, c, 0.5 * (b + c), 0.5 * (c + a), 0.5 * (a + b)]
}

/// Normals of a smooth surface after one step of Loop's subdivision (1987), taken as a field over
/// the surface: the corners, and the middles of the sides. Without it, a mesh whose diagonals
/// alternate shows them as teeth wherever light grazes it. Positions stay as they are.
///
/// ```text
/// corner  ⅝ own + ⅜ mean of the neighbours       side  ⅜ (ends) + ⅛ (the two corners opposite)
/// ```
///
/// (Loop's weights at six neighbours serve for all); at a boundary the side is the mean of its
/// ends.
fn relaxed(faces: &[[u32; 3]], corners: &[[Vec3; 3]]) -> Vec<[Vec3; 6]> {
    let first = faces.iter().flatten().min().map_or(0, |&v| v as usize);
    let end = faces.iter().flatten().max().map_or(0, |&v| v as usize + 1);
    let mut own = vec![Vec3::ZERO; end - first];
    // a side: its ends, ascending; its face; the corner opposite
    let mut sides: Vec<([usize; 2], usize, usize)> = Vec::with_capacity(3 * faces.len());
    for (f, (face, normals)) in faces.iter().zip(corners).enumerate() {
        let face = face.map(|v| v as usize - first);
        for k in 0..3 {
            own[face[k]] = normals[k];
            let (a, b) = (face[(k + 1) % 3], face[(k + 2) % 3]);
            sides.push(([a.min(b), a.max(b)], f, k));
        }
    }
    sides.sort_unstable();

    let mut out: Vec<[Vec3; 6]> = corners.iter().copied().map(with_means).collect();
    let mut around = vec![(Vec3::ZERO, 0.0f32); own.len()];
    for side in sides.chunk_by(|a, b| a.0 == b.0) {
        let [a, b] = side[0].0;
        for (v, other) in [(a, b), (b, a)] {
            around[v].0 += own[other];
            around[v].1 += 1.0;
        }
        if let [(_, f, k), (_, g, l)] = *side {
            let opposite = corners[f][k] + corners[g][l];
            let middle = (0.375 * (own[a] + own[b]) + 0.125 * opposite).normalize_or(own[a]);
            out[f][3 + k] = middle;
            out[g][3 + l] = middle;
        }
    }
    for (face, normals) in faces.iter().zip(&mut out) {
        for (k, &v) in face.iter().enumerate() {
            let (sum, count) = around[v as usize - first];
            let mixed = 0.625 * normals[k] + 0.375 * sum / count;
            normals[k] = mixed.normalize_or(normals[k]);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::{Colour, Model, Paint};

    fn surface(positions: &[DVec3], faces: &[[u32; 3]], shading: Shading) -> Surface {
        let model = Model {
            positions,
            faces,
            paint: Paint::TwoSided(Colour([0; 3]), Colour([0; 3])),
            shading,
            marked: &[],
            ground: false,
        };
        let picture = Picture {
            models: vec![model],
            lines: vec![],
        };
        Surface::new(&picture, DVec3::ZERO)
    }

    /// Three faces of a cube around its corner at the origin; x = 0 is split into two triangles,
    /// unevenly.
    fn cube_corner() -> (Vec<DVec3>, Vec<[u32; 3]>) {
        let x = vec![
            DVec3::ZERO,
            DVec3::X,
            DVec3::Y,
            DVec3::Z,
            DVec3::new(0.0, 0.3, 0.7),
        ];
        (x, vec![[0, 2, 1], [0, 1, 3], [0, 3, 4], [0, 4, 2]])
    }

    #[test]
    fn the_normal_at_a_cube_corner_does_not_depend_on_how_its_sides_are_split() {
        let (x, faces) = cube_corner();
        let smooth = surface(&x, &faces, Shading::Smooth);
        let diagonal = Vec3::splat(-1.0).normalize();
        let corners = corner_normals(
            &smooth.points,
            &smooth.faces,
            &smooth.facets,
            Shading::Smooth,
        );
        assert!(corners[0][0].distance(diagonal) < 1e-6, "{}", corners[0][0]);
    }

    #[test]
    fn a_crease_keeps_the_sides_of_a_cube_apart_and_a_split_side_together() {
        let (x, faces) = cube_corner();
        let crease = surface(&x, &faces, Shading::Crease(40.0));
        for (normals, facet) in crease.normals.iter().zip(&crease.facets) {
            for n in normals {
                assert!(n.distance(*facet) < 1e-6, "{n} on a side {facet}");
            }
        }
        assert_eq!(
            surface(&x, &faces, Shading::Flat).normals[3],
            [crease.facets[3]; 6]
        );
    }

    #[test]
    fn only_the_vertices_that_a_model_uses_are_taken() {
        let mut x = vec![DVec3::splat(9.0); 7];
        x.extend([DVec3::ZERO, DVec3::X, DVec3::Y]);
        let part = surface(&x, &[[7, 8, 9], [7, 8, 8]], Shading::Smooth);
        assert_eq!(part.points.len(), 3);
        assert_eq!(part.faces, [[0, 1, 2]], "the face without area is left out");
        assert_eq!(part.shift, [7]);
        assert_eq!(part.origin, [(0, 0)]);
    }
}
