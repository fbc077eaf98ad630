//! Meshes from files.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::{Check, lengths};
use super::{Generator, Triangles};
use crate::io;

fn unit() -> f64 {
    1.0
}

/// A mesh file: OBJ, PLY or STL, plain or gzip-compressed. Its coordinates are kept, not centred: without `position` and `rotation` the
/// object starts where the file has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FromFile {
    /// The file; relative to the scene file.
    pub file: PathBuf,
    /// What its coordinates are multiplied by to be metres.
    #[serde(default = "unit")]
    pub scale: f64,
    /// SHA-256 of the file; filled in when the scene is read, and checked if given.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sha256: String,
}

impl Generator for FromFile {
    fn check(&self) -> Check {
        lengths(&[("scale", self.scale)])
    }

    fn about_vertices(&self) -> f64 {
        0.0 // it is not looked at before it is read
    }

    fn triangles(&self) -> Result<Triangles, String> {
        let file = &self.file;
        let mesh = io::read(file).map_err(|error| error.to_string())?;
        if mesh.faces.is_empty() {
            return Err(format!("{}: it has no faces", file.display()));
        }
        Ok(Triangles {
            x: mesh.positions.iter().map(|p| self.scale * p).collect(),
            faces: mesh.faces,
            attributes: mesh.attributes,
            ..Triangles::default()
        })
    }
}
