//! Shapes that scenes are made of: generators of triangles.
//!
//! Only + − × ÷ √ and the `libm` crate, so that every machine makes the same bits.

use std::collections::BTreeMap;

use glam::DVec3;
use serde::{Deserialize, Serialize};

/// A shape with its parameters, as a scene names it. Lengths in metres, Y up, centred on the origin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Shape {
    /// A rectangle in the xz plane, facing up; cells are cut along alternating diagonals.
    Sheet {
        /// Along x and z.
        size: [f64; 2],
        /// Cells along x and z; one vertex more than that.
        cells: [u32; 2],
    },
    /// A sphere: an icosahedron whose faces are cut in four again and again, facing outwards.
    Sphere {
        /// Distance of the vertices from the centre.
        radius: f64,
        /// How often; 4 gives 2,562 vertices, each more four times as many.
        subdivisions: u32,
    },
    /// A rectangle of two triangles in the xz plane, facing up: a floor.
    Plane {
        /// Along x and z.
        size: [f64; 2],
    },
}

/// Vertices and faces of a shape.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Triangles {
    /// Positions, in metres.
    pub x: Vec<DVec3>,
    /// Corners, counter-clockwise seen from the front.
    pub faces: Vec<[u32; 3]>,
}

/// More than this many vertices in one shape is a typing error.
const MAX_VERTICES: u64 = 20_000_000;

impl Shape {
    /// Makes the triangles.
    ///
    /// # Errors
    /// A parameter out of its range: the message says which and what is allowed.
    pub fn triangles(&self) -> Result<Triangles, String> {
        match *self {
            Self::Sheet { size, cells } => {
                positive("size", size[0].min(size[1]))?;
                let count = (u64::from(cells[0]) + 1) * (u64::from(cells[1]) + 1);
                if cells[0] == 0 || cells[1] == 0 || count > MAX_VERTICES {
                    return Err(format!(
                        "cells = {cells:?}: each at least 1, at most {MAX_VERTICES} vertices in all"
                    ));
                }
                Ok(sheet(size, cells))
            }
            Self::Sphere {
                radius,
                subdivisions,
            } => {
                positive("radius", radius)?;
                if subdivisions > 10 {
                    return Err(format!(
                        "subdivisions = {subdivisions}: at most 10 (10,485,762 vertices)"
                    ));
                }
                Ok(sphere(radius, subdivisions))
            }
            Self::Plane { size } => {
                positive("size", size[0].min(size[1]))?;
                Ok(sheet(size, [1, 1]))
            }
        }
    }
}

fn positive(name: &str, value: f64) -> Result<(), String> {
    if value > 0.0 && value.is_finite() {
        Ok(())
    } else {
        Err(format!("{name} must be a positive length, in metres"))
    }
}

fn sheet(size: [f64; 2], cells: [u32; 2]) -> Triangles {
    let [nx, nz] = cells;
    let at = |i: u32, n: u32, length: f64| length * (f64::from(i) / f64::from(n) - 0.5);
    let x = (0..=nz)
        .flat_map(|j| {
            (0..=nx).map(move |i| DVec3::new(at(i, nx, size[0]), 0.0, at(j, nz, size[1])))
        })
        .collect();
    let vertex = |i: u32, j: u32| j * (nx + 1) + i;
    let mut faces = Vec::with_capacity(2 * (nx * nz) as usize);
    for j in 0..nz {
        for i in 0..nx {
            // seen from above (+y), z points down the page:   a b
            //                                                 c d
            let [a, b, c, d] = [
                vertex(i, j),
                vertex(i + 1, j),
                vertex(i, j + 1),
                vertex(i + 1, j + 1),
            ];
            if (i + j) % 2 == 0 {
                faces.extend([[a, c, d], [a, d, b]]);
            } else {
                faces.extend([[a, c, b], [b, c, d]]);
            }
        }
    }
    Triangles { x, faces }
}

fn sphere(radius: f64, subdivisions: u32) -> Triangles {
    let g = 0.5 * (1.0 + 5f64.sqrt());
    let mut x: Vec<DVec3> = [
        [-1.0, g, 0.0],
        [1.0, g, 0.0],
        [-1.0, -g, 0.0],
        [1.0, -g, 0.0],
        [0.0, -1.0, g],
        [0.0, 1.0, g],
        [0.0, -1.0, -g],
        [0.0, 1.0, -g],
        [g, 0.0, -1.0],
        [g, 0.0, 1.0],
        [-g, 0.0, -1.0],
        [-g, 0.0, 1.0],
    ]
    .map(DVec3::from)
    .to_vec();
    let mut faces: Vec<[u32; 3]> = vec![
        [0, 11, 5],
        [0, 5, 1],
        [0, 1, 7],
        [0, 7, 10],
        [0, 10, 11],
        [1, 5, 9],
        [5, 11, 4],
        [11, 10, 2],
        [10, 7, 6],
        [7, 1, 8],
        [3, 9, 4],
        [3, 4, 2],
        [3, 2, 6],
        [3, 6, 8],
        [3, 8, 9],
        [4, 9, 5],
        [2, 4, 11],
        [6, 2, 10],
        [8, 6, 7],
        [9, 8, 1],
    ];
    let project = |p: DVec3| p * (radius / p.length());
    for p in &mut x {
        *p = project(*p);
    }
    for _ in 0..subdivisions {
        let mut middles: BTreeMap<[u32; 2], u32> = BTreeMap::new();
        let mut middle = |a: u32, b: u32| {
            *middles.entry([a.min(b), a.max(b)]).or_insert_with(|| {
                x.push(project(0.5 * (x[a as usize] + x[b as usize])));
                x.len() as u32 - 1
            })
        };
        faces = faces
            .iter()
            .flat_map(|&[a, b, c]| {
                let [ab, bc, ca] = [middle(a, b), middle(b, c), middle(c, a)];
                [[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]]
            })
            .collect();
    }
    Triangles { x, faces }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area_vector(shape: &Triangles) -> DVec3 {
        let corner = |v: u32| shape.x[v as usize];
        shape
            .faces
            .iter()
            .map(|&[a, b, c]| 0.5 * (corner(b) - corner(a)).cross(corner(c) - corner(a)))
            .sum()
    }

    fn volume(shape: &Triangles) -> f64 {
        let corner = |v: u32| shape.x[v as usize];
        shape
            .faces
            .iter()
            .map(|&[a, b, c]| corner(a).dot(corner(b).cross(corner(c))) / 6.0)
            .sum()
    }

    #[test]
    fn a_sheet_faces_up_and_has_its_area() {
        let shape = Shape::Sheet {
            size: [2.0, 3.0],
            cells: [4, 5],
        }
        .triangles()
        .unwrap();
        assert_eq!((shape.x.len(), shape.faces.len()), (30, 40));
        assert!((area_vector(&shape) - DVec3::new(0.0, 6.0, 0.0)).length() < 1e-14);
    }

    #[test]
    fn a_sphere_is_closed_faces_out_and_fills_up_under_refinement() {
        let ball = |subdivisions| {
            Shape::Sphere {
                radius: 2.0,
                subdivisions,
            }
            .triangles()
            .unwrap()
        };
        let exact = 4.0 / 3.0 * std::f64::consts::PI * 8.0;
        let errors = [2, 3, 4].map(|s| {
            assert!(
                area_vector(&ball(s)).length() < 1e-12,
                "a closed surface has no area vector"
            );
            1.0 - volume(&ball(s)) / exact
        });
        assert_eq!(ball(4).x.len(), 2562);
        assert!(
            errors[0] > 0.0 && errors.is_sorted_by(|a, b| *a > 3.5 * b && *a < 4.5 * b),
            "{errors:?}"
        );
    }

    #[test]
    fn impossible_parameters_are_refused() {
        assert!(
            Shape::Sheet {
                size: [1.0, 0.0],
                cells: [1, 1]
            }
            .triangles()
            .is_err()
        );
        assert!(
            Shape::Sheet {
                size: [1.0, 1.0],
                cells: [0, 1]
            }
            .triangles()
            .is_err()
        );
        assert!(
            Shape::Sphere {
                radius: f64::NAN,
                subdivisions: 1
            }
            .triangles()
            .is_err()
        );
        assert!(
            Shape::Sphere {
                radius: 1.0,
                subdivisions: 11
            }
            .triangles()
            .is_err()
        );
    }
}
