//! Meshes from files.

use std::path::PathBuf;
use std::sync::Arc;

use glam::{DAffine3, DMat3, DVec3};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::{Check, lengths};
use super::{Generator, Triangles};
use crate::io::{self, gltf::Character};
use crate::skeleton::Skinned;

/// Which way is up in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Up {
    /// As in a scene.
    #[default]
    Y,
    /// (x, y, z) becomes (x, z, −y), as Blender and CAD programs have it.
    Z,
}

impl Up {
    /// A point of the file in a scene.
    pub(in crate::scene) fn turn(self, p: DVec3) -> DVec3 {
        match self {
            Self::Y => p,
            Self::Z => DVec3::new(p.x, p.z, -p.y),
        }
    }

    pub(in crate::scene) fn is_y(&self) -> bool {
        *self == Self::Y
    }
}

/// The skeleton of a body, and how its file's coordinates become metres.
#[derive(Clone, Debug, PartialEq)]
pub struct Bones {
    pub(in crate::scene) skinned: Arc<Skinned>,
    pub(in crate::scene) metres: DAffine3,
    /// Clips that also move morph targets, which are not read.
    pub(in crate::scene) morphing: Vec<bool>,
}

/// Heights of people, m: a character far outside is in another unit than its file should have.
const PEOPLE: [f64; 2] = [0.1, 10.0];

/// What coordinates are multiplied by in the units that programs use: centimetres, millimetres, inches, and hundredths of centimetres as
/// some exporters scale twice.
const UNITS: [f64; 5] = [0.01, 0.001, 0.0254, 100.0, 1e-4];

/// The unit in which something would be as tall as a person.
pub(in crate::scene) fn likely_scale(height: f64) -> f64 {
    let miss = |scale: &f64| libm::log(scale * height / 1.7).abs();
    let best = UNITS.iter().min_by(|a, b| miss(a).total_cmp(&miss(b)));
    *best.expect("there are some")
}

/// A mesh file: OBJ, PLY, STL or glTF (.glb, or .gltf in one file), plain or gzip-compressed. Its coordinates are kept, not centred: without `position` and `rotation` the
/// object starts where the file has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FromFile {
    /// The file; relative to the scene file. `percale:NAME` is one that comes with Percale: `percale:CesiumMan.glb`, a walking person
    /// ((c) 2017 Cesium, CC-BY 4.0), or `percale:mean_all.obj.gz`, a body (`GarmentCode`, MIT).
    pub file: PathBuf,
    /// What its coordinates are multiplied by to be metres [default: 1].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<f64>,
    /// Which way is up in the file: "y", or "z".
    #[serde(default, skip_serializing_if = "Up::is_y")]
    pub up: Up,
    /// Of a glTF file only what has this name, a node or a mesh [default: everything in its scene].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// Joints of a glTF file: what hangs on them, or on what they carry, is left out. For limbs that the animation takes through the body, where
    /// no cloth has room.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<String>,
    /// SHA-256 of the file; filled in when the scene is read, and checked if given.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sha256: String,
}

impl FromFile {
    fn metres(&self, p: DVec3) -> DVec3 {
        self.scale.unwrap_or(1.0) * self.up.turn(p)
    }

    /// Takes away the faces that hang on joints which the scene leaves out, and what no face needs then.
    fn leave_out(&self, character: &mut Character) -> Result<(), String> {
        let gone = character.skinned.hanging_on(&self.without);
        let gone = gone.map_err(|name| {
            let names = character
                .skinned
                .nodes
                .iter()
                .map(|node| node.name.as_str());
            let names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
            let file = self.file.display();
            format!("{file}: no joint '{name}'; it has: {}", names.join(", "))
        })?;
        let faces = &mut character.mesh.faces;
        faces.retain(|face| !face.iter().all(|&v| gone[v as usize]));
        if faces.is_empty() {
            return Err(format!(
                "{}: `without` leaves nothing of it",
                self.file.display()
            ));
        }
        let mut kept: Vec<u32> = faces.iter().flatten().copied().collect();
        kept.sort_unstable();
        kept.dedup();
        let number = |v: &mut u32| *v = kept.binary_search(v).expect("every corner is kept") as u32;
        faces.iter_mut().flatten().for_each(number);
        character.skinned = character.skinned.only(&kept);
        character.mesh.positions = character.skinned.at_rest();
        Ok(())
    }

    fn character(&self) -> Result<Triangles, String> {
        let file = &self.file;
        let character = io::read_character(file, self.part.as_deref());
        let mut character = character.map_err(|error| error.to_string())?;
        if !self.without.is_empty() {
            self.leave_out(&mut character)?;
        }
        let x: Vec<DVec3> = character
            .mesh
            .positions
            .iter()
            .map(|&p| self.metres(p))
            .collect();
        if self.scale.is_none() && !character.skinned.clips.is_empty() {
            let (low, high) = bounds(&x);
            let height = (high - low).max_element();
            if !(PEOPLE[0]..=PEOPLE[1]).contains(&height) {
                return Err(format!(
                    "{}: the body is {height:.3} m tall; write `scale = {}` if it is a person, `scale = 1` if that is its size",
                    file.display(),
                    likely_scale(height)
                ));
            }
        }
        let columns = [DVec3::X, DVec3::Y, DVec3::Z].map(|axis| self.metres(axis));
        let turn = DMat3::from_cols(columns[0], columns[1], columns[2]);
        Ok(Triangles {
            x,
            faces: character.mesh.faces,
            bones: Some(Bones {
                skinned: Arc::new(character.skinned),
                metres: DAffine3::from_mat3(turn),
                morphing: character.morphing,
            }),
            ..Triangles::default()
        })
    }
}

/// Smallest and largest coordinates.
pub(in crate::scene) fn bounds(x: &[DVec3]) -> (DVec3, DVec3) {
    let all = x.iter();
    all.fold((DVec3::MAX, DVec3::MIN), |(low, high), p| {
        (low.min(*p), high.max(*p))
    })
}

impl Generator for FromFile {
    fn check(&self) -> Check {
        lengths(&[("scale", self.scale.unwrap_or(1.0))])
    }

    fn about_vertices(&self) -> f64 {
        0.0 // it is not looked at before it is read
    }

    fn triangles(&self) -> Result<Triangles, String> {
        let file = &self.file;
        if io::is_gltf(file) {
            return self.character();
        }
        if self.part.is_some() || !self.without.is_empty() {
            let file = file.display();
            return Err(format!(
                "{file}: `part` and `without` are for glTF; other files are taken whole"
            ));
        }
        let mesh = io::read(file).map_err(|error| error.to_string())?;
        if mesh.faces.is_empty() {
            return Err(format!("{}: it has no faces", file.display()));
        }
        Ok(Triangles {
            x: mesh.positions.iter().map(|&p| self.metres(p)).collect(),
            faces: mesh.faces,
            attributes: mesh.attributes,
            uv: mesh.uv,
            ..Triangles::default()
        })
    }
}
