//! Meshes written into the scene itself.

use glam::DVec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::{Check, vertices};
use super::{Generator, Triangles};
use crate::geometry::Mesh;

/// Triangles given as lists of numbers: what a program that makes its own meshes passes on. Its coordinates are kept, not centred.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Given {
    /// Where the vertices are, in metres.
    pub positions: Vec<[f64; 3]>,
    /// Three vertices each, numbered from 0, counter-clockwise seen from the front.
    pub faces: Vec<[u32; 3]>,
}

impl Generator for Given {
    fn check(&self) -> Check {
        vertices("positions", self.positions.len() as f64)?;
        let is_number = |x: &[f64; 3]| x.iter().all(|c| c.is_finite());
        if let Some(at) = self.positions.iter().position(|x| !is_number(x)) {
            let x = self.positions[at];
            return Err((
                "positions",
                format!("vertex {at} is at {x:?}, which is not finite"),
            ));
        }
        let mesh = Mesh::new(self.positions.len(), self.faces.clone());
        mesh.map(drop).map_err(|error| ("faces", error.to_string()))
    }

    fn about_vertices(&self) -> f64 {
        self.positions.len() as f64
    }

    fn triangles(&self) -> Result<Triangles, String> {
        Ok(Triangles {
            x: self.positions.iter().copied().map(DVec3::from).collect(),
            faces: self.faces.clone(),
            ..Triangles::default()
        })
    }
}
