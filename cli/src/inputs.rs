//! Mesh files named on the command line: patterns, reading, putting together.

use std::path::{Path, PathBuf};

use glam::DVec3;
use percale::io::{self, Assembly, FileError, MeshFile, assemble};

use crate::failure::Failure;

/// Files that the arguments name: a path that exists, or a pattern such as `'frames/*.obj'`, in the order of names.
pub(crate) fn expand(arguments: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for argument in arguments {
        let text = argument.to_string_lossy();
        if argument.exists() || !text.contains(['*', '?', '[']) {
            files.push(argument.clone());
            continue;
        }
        let bad = |error| Failure::input(format!("{text}: not a pattern: {error}"));
        let matches = glob::glob(&text).map_err(bad)?;
        let before = files.len();
        for file in matches {
            files.push(file?);
        }
        if files.len() == before {
            return Err(Failure::input(format!(
                "{text}: no file matches; check the folder, and quote the pattern if the shell should not expand it"
            )));
        }
    }
    Ok(files)
}

/// Reads meshes and numbers them through.
pub(crate) fn read_meshes(files: &[PathBuf]) -> Result<Assembly, Failure> {
    let meshes: Result<Vec<MeshFile>, FileError> = files.iter().map(io::read).collect();
    Ok(assemble(meshes?)?)
}

/// Reads the two ends of a motion: the mesh at its start, and its positions at the end.
pub(crate) fn read_motion(
    starts: &[PathBuf],
    ends: &[PathBuf],
) -> Result<(Assembly, Vec<DVec3>), Failure> {
    if starts.len() != ends.len() {
        return Err(Failure::input(format!(
            "{} start files for {} end files; give one --from for each mesh, in the same order",
            starts.len(),
            ends.len()
        )));
    }
    let mut meshes = Vec::new();
    let mut end_positions = Vec::new();
    for (start, end) in starts.iter().zip(ends) {
        let (start, end) = (io::read(start)?, io::read(end)?);
        start.check_motion_to(&end)?;
        end_positions.extend(end.positions);
        meshes.push(start);
    }
    Ok((assemble(meshes)?, end_positions))
}

/// Whether the one argument is a folder; a folder among several inputs is refused.
pub(crate) fn folder(files: &[PathBuf]) -> Result<Option<&Path>, Failure> {
    match files {
        [only] if only.is_dir() => Ok(Some(only)),
        _ => match files.iter().find(|f| f.is_dir()) {
            None => Ok(None),
            Some(folder) => Err(Failure::input(format!(
                "{}: a result folder is checked alone; name mesh files, or this folder only",
                folder.display()
            ))),
        },
    }
}
