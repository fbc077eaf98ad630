//! Shapes without forces that are not the shapes of the start.

use std::path::PathBuf;

use glam::{DVec2, DVec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shapes::{Triangles, Up};
use crate::io;

fn unit() -> f64 {
    1.0
}

/// What a cloth is without forces.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum RestShape {
    /// Flat, as the texture coordinates of its mesh file lay it out: u is the warp, v the weft.
    Uv {
        /// What they are multiplied by to be metres.
        #[serde(default = "unit")]
        scale: f64,
    },
    /// As another mesh file of the same faces has it.
    File {
        /// The file; relative to the scene file.
        file: PathBuf,
        /// What its coordinates are multiplied by to be metres.
        #[serde(default = "unit")]
        scale: f64,
        /// Which way is up in the file: "y", or "z"; that is the way that the warp is laid by.
        #[serde(default, skip_serializing_if = "Up::is_y")]
        up: Up,
        /// SHA-256 of the file; filled in when the scene is read, and checked if given.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        sha256: String,
    },
}

/// A shape without forces, ready for use.
#[derive(Clone, Debug)]
pub(super) enum Rest {
    /// Flat: the corners of each face on paper, m.
    Paper(Vec<[DVec2; 3]>),
    /// The vertices elsewhere, m.
    Mesh(Vec<DVec3>),
}

/// A pattern whose edges are this many times longer or shorter than those of the start, in the mean, is in another unit.
const OTHER_UNIT: f64 = 2.0;

impl RestShape {
    pub(super) fn scale(&self) -> f64 {
        match self {
            Self::Uv { scale } | Self::File { scale, .. } => *scale,
        }
    }

    /// The rest of a shape, or why it can be none.
    pub(super) fn of(&self, shape: &Triangles) -> Result<Rest, String> {
        let (rest, sides) = match self {
            Self::Uv { scale } => {
                let paper = paper(shape, *scale)?;
                let side = |[a, b, c]: [DVec2; 3]| a.distance(b) + b.distance(c) + c.distance(a);
                let sides = paper.iter().map(|&face| side(face)).sum::<f64>();
                (Rest::Paper(paper), sides)
            }
            Self::File {
                file, scale, up, ..
            } => {
                let mesh = io::read(file).map_err(|error| error.to_string())?;
                let other = |what: &str, found: usize, wanted: usize| {
                    Err(format!(
                        "{}: it has {found} {what}, the shape {wanted}",
                        file.display()
                    ))
                };
                if mesh.positions.len() != shape.x.len() {
                    return other("vertices", mesh.positions.len(), shape.x.len());
                }
                if mesh.faces.len() != shape.faces.len() {
                    return other("faces", mesh.faces.len(), shape.faces.len());
                }
                let differs = mesh
                    .faces
                    .iter()
                    .zip(&shape.faces)
                    .position(|(a, b)| a != b);
                if let Some(face) = differs.filter(|_| mesh.polygons.is_none()) {
                    return Err(format!(
                        "{}: its face {face} is not that of the shape",
                        file.display()
                    ));
                }
                let x: Vec<DVec3> = mesh
                    .positions
                    .iter()
                    .map(|&p| *scale * up.turn(p))
                    .collect();
                let sides = around(&x, &shape.faces);
                (Rest::Mesh(x), sides)
            }
        };
        let ratio = sides / around(&shape.x, &shape.faces);
        if !(1.0 / OTHER_UNIT..=OTHER_UNIT).contains(&ratio) {
            return Err(format!(
                "its edges are {ratio:.3e} times as long as at the start; with the right unit, `scale = {:.3e}`, they would be as long",
                self.scale() / ratio
            ));
        }
        Ok(rest)
    }
}

/// The length of all sides.
fn around(x: &[DVec3], faces: &[[u32; 3]]) -> f64 {
    let side = |a: u32, b: u32| x[a as usize].distance(x[b as usize]);
    faces
        .iter()
        .map(|&[a, b, c]| side(a, b) + side(b, c) + side(c, a))
        .sum()
}

fn paper(shape: &Triangles, scale: f64) -> Result<Vec<[DVec2; 3]>, String> {
    let Some(uv) = &shape.uv else {
        return Err("no texture coordinates; an OBJ file has them as `vt` lines".into());
    };
    let corners = uv.corners.iter().enumerate().map(|(face, corners)| {
        let corners = corners.ok_or_else(|| format!("face {face} has no texture coordinates"))?;
        let [a, b, c] = corners.map(|k| scale * uv.coordinates[k as usize]);
        let area = 0.5 * (b - a).perp_dot(c - a);
        if area == 0.0 {
            return Err(format!(
                "face {face} has no area in the texture coordinates"
            ));
        }
        // a pattern seen from behind is the same pattern
        let turned = |p: DVec2| DVec2::new(p.x * area.signum(), p.y);
        Ok([a, b, c].map(turned))
    });
    corners.collect()
}

#[cfg(test)]
mod tests {
    use super::super::shapes::{Shape, Sheet};
    use super::*;
    use crate::io::Uv;

    /// A sheet of 2 m x 3 m whose pattern is the same but mirrored, in units of `unit` metres.
    fn sheet(unit: f64) -> Triangles {
        let shape = Shape::Sheet(Sheet {
            size: [2.0, 3.0],
            cells: [2, 3],
            centres: 0,
        });
        let mut triangles = shape.triangles().unwrap();
        triangles.uv = Some(Uv {
            coordinates: triangles
                .x
                .iter()
                .map(|p| DVec2::new(-p.x, p.z) / unit)
                .collect(),
            corners: triangles.faces.iter().map(|&face| Some(face)).collect(),
        });
        triangles
    }

    #[test]
    fn a_pattern_in_texture_coordinates_gives_every_face_its_area() {
        let shape = sheet(0.01);
        let Rest::Paper(paper) = (RestShape::Uv { scale: 0.01 }).of(&shape).unwrap() else {
            panic!("a pattern is flat");
        };
        assert_eq!(paper.len(), shape.faces.len());
        for [a, b, c] in paper {
            assert!(
                ((b - a).perp_dot(c - a) - 1.0).abs() < 1e-12,
                "each cell is 1 m²"
            );
        }
    }

    #[test]
    fn patterns_in_another_unit_or_with_gaps_are_refused() {
        let wrong = (RestShape::Uv { scale: 1.0 }).of(&sheet(0.01)).unwrap_err();
        assert!(wrong.contains("`scale = 1.000e-2`"), "{wrong}");
        let mut shape = sheet(1.0);
        shape.uv.as_mut().unwrap().corners[3] = None;
        let wrong = (RestShape::Uv { scale: 1.0 }).of(&shape).unwrap_err();
        assert!(
            wrong.contains("face 3 has no texture coordinates"),
            "{wrong}"
        );
        shape.uv = None;
        assert!(
            (RestShape::Uv { scale: 1.0 })
                .of(&shape)
                .unwrap_err()
                .contains("`vt`")
        );
    }
}
