//! Mesh files named on the command line: patterns, reading, putting together.

use std::path::{Path, PathBuf};

use glam::{DVec2, DVec3};
use percale::io::{self, Assembly, FileError, MeshFile, assemble};
use percale::scene::tangles::{self, Tangled};

use crate::failure::Failure;

/// Cells of the built-in tangled sheets.
const TANGLE_CELLS: u32 = 24;

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
    Ok(read_flat(files)?.0)
}

/// Reads meshes and numbers them through, with the flat pattern of each face if all have one.
pub(crate) fn read_flat(files: &[PathBuf]) -> Result<(Assembly, Option<Vec<[DVec2; 3]>>), Failure> {
    let meshes: Result<Vec<MeshFile>, FileError> = files.iter().map(read_one).collect();
    let meshes = meshes?;
    let pattern = meshes
        .iter()
        .flat_map(|mesh| (0..mesh.faces.len()).map(move |face| corners_in_pattern(mesh, face)))
        .collect();
    Ok((assemble(meshes)?, pattern))
}

pub(crate) fn corners_in_pattern(mesh: &MeshFile, face: usize) -> Option<[DVec2; 3]> {
    let uv = mesh.uv.as_ref()?;
    let corners = (*uv.corners.get(face)?)?;
    Some(corners.map(|k| uv.coordinates[k as usize]))
}

/// A mesh file, or a built-in tangled sheet such as `tangles/closed` if there is no such file.
pub(crate) fn read_one(path: &PathBuf) -> Result<MeshFile, FileError> {
    let name = path
        .to_str()
        .filter(|p| p.starts_with("tangles/") && !path.exists());
    match name.and_then(|name| tangles::by_name(name, TANGLE_CELLS)) {
        Some(Tangled {
            positions,
            faces,
            uv,
        }) => Ok(MeshFile {
            path: path.clone(),
            positions,
            uv: Some(io::Uv {
                coordinates: uv.into_iter().flatten().collect(),
                corners: (0..faces.len() as u32)
                    .map(|f| Some([3 * f, 3 * f + 1, 3 * f + 2]))
                    .collect(),
            }),
            faces,
            ..MeshFile::default()
        }),
        None => io::read(path),
    }
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

/// Whether two paths name one existing file: also over links and other spellings.
pub(crate) fn same_file(a: &Path, b: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let identity = |path: &Path| std::fs::metadata(path).map(|m| (m.dev(), m.ino())).ok();
        identity(a).is_some_and(|found| identity(b) == Some(found)) || a == b
    }
    #[cfg(not(unix))]
    {
        let whole = |path: &Path| path.canonicalize().ok();
        whole(a).is_some_and(|found| whole(b) == Some(found)) || a == b
    }
}
