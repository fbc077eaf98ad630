//! Spheres: subdivided icosahedra.

use std::collections::BTreeMap;

use glam::DVec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::{Check, lengths};
use super::{Generator, Triangles};

/// A sphere: an icosahedron whose faces are cut in four again and again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sphere {
    /// Distance of the vertices from the centre.
    pub radius: f64,
    /// How often; 4 gives 2,562 vertices, each more four times as many.
    pub subdivisions: u32,
}

impl Generator for Sphere {
    fn check(&self) -> Check {
        lengths(&[("radius", self.radius)])?;
        if self.subdivisions > 10 {
            let message = format!("{}: at most 10 (10,485,762 vertices)", self.subdivisions);
            return Err(("subdivisions", message));
        }
        Ok(())
    }

    fn about_vertices(&self) -> f64 {
        10.0 * 4f64.powf(f64::from(self.subdivisions))
    }

    fn triangles(&self) -> Result<Triangles, String> {
        let radius = self.radius;
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
        for _ in 0..self.subdivisions {
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
        Ok(Triangles {
            x,
            faces,
            ..Triangles::default()
        })
    }
}
