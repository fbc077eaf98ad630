//! What mesh files said of the surfaces of a run's objects, kept in its folder so that exports need nothing else.
//!
//! `surfaces/NAME.obj` holds polygons, texture coordinates, normals and the names of objects, groups and materials as the file had them, with the
//! positions of the start, in the numbering of `objects/NAME.obj`; `surfaces/NAME.mtl` its materials, with pictures by absolute paths.
//! Objects whose files say nothing beyond triangles have none.

use std::fs;
use std::path::{Path, PathBuf};

use glam::DVec3;

use super::checkpoint::VERSION;
use super::checksums::Checksums;
use super::error::{ResultError, at, damaged, read};
use super::result::{OBJ_START, replace};
use crate::geometry::Mesh;
use crate::io::material;
use crate::io::obj::{Naming, Part, Parts};
use crate::io::{self, Look};
use crate::scene::Scene;

/// The folder within the result.
pub(super) const FOLDER: &str = "surfaces";

fn path_of(folder: &Path, name: &str, extension: &str) -> PathBuf {
    folder.join(FOLDER).join(format!("{name}.{extension}"))
}

/// What the checksum of a file is listed under.
fn listed(name: &str, extension: &str) -> String {
    format!("{FOLDER}/{name}.{extension}")
}

/// Writes what is known of the objects of a scene.
pub(super) fn write(
    folder: &Path,
    checksums: &mut Checksums,
    scene: &Scene,
    mesh: &Mesh,
    x: &[DVec3],
) -> Result<(), ResultError> {
    let looks = scene.looks().map_err(|message| damaged(folder, message))?;
    for (object, look) in mesh.bodies().iter().zip(looks) {
        let Some(look) = look else { continue };
        let parent = folder.join(FOLDER);
        fs::create_dir_all(&parent).map_err(at(&parent))?;
        let name = &object.name;
        let mut put = |extension: &str, text: &[u8]| {
            replace(&path_of(folder, name, extension), text)?;
            checksums.note(listed(name, extension), text);
            Ok::<(), ResultError>(())
        };
        let library = format!("{name}.mtl");
        let libraries: &[&str] = match look.library.is_empty() {
            true => &[],
            false => &[&library],
        };
        let part = Part {
            name: "",
            look: &look,
            vertex_count: object.vertices.len(),
            naming: Naming::Own,
        };
        let mut text = format!("{OBJ_START}{VERSION}: {name} as its file has it\n").into_bytes();
        let own = &x[object.vertices.start as usize..object.vertices.end as usize];
        Parts::as_read(part)
            .write(&mut text, own, &[], libraries)
            .expect("writing to memory does not fail");
        put("obj", &text)?;
        if !look.library.is_empty() {
            let mut text = format!("{OBJ_START}{VERSION}: materials of {name}\n");
            for material in &look.library {
                text.push('\n');
                text += &material.text();
            }
            put("mtl", text.as_bytes())?;
        }
    }
    Ok(())
}

/// What is known of an object; nothing, if its file said nothing.
pub(super) fn look(
    folder: &Path,
    checksums: &Checksums,
    name: &str,
) -> Result<Option<Look>, ResultError> {
    let content = |extension: &str| {
        let what = listed(name, extension);
        if !checksums.lists(&what) {
            return Ok(None);
        }
        let path = path_of(folder, name, extension);
        let bytes = read(&path)?;
        checksums.check(&path, &what, &bytes)?;
        Ok::<_, ResultError>(Some((path, bytes)))
    };
    let Some((path, bytes)) = content("obj")? else {
        return Ok(None);
    };
    let file = io::read_bytes(&path, &bytes).map_err(|error| damaged(&path, error.to_string()))?;
    let Some(look) = file.look else {
        return Ok(None);
    };
    let mut look = Look::clone(&look);
    if let Some((_, bytes)) = content("mtl")? {
        look.library = material::parse(&String::from_utf8_lossy(&bytes));
    }
    Ok(Some(look))
}
