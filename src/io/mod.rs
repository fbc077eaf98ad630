//! Files: meshes in and out.
//!
//! [`read`] takes OBJ, PLY, STL and glTF (where it stands without animation), plain or gzip-compressed. What it returns is checked: every coordinate finite and in the range
//! of the guarantee, every index valid, no face degenerate or double; otherwise a [`FileError`] names file, line or byte, and what
//! to do. A file is never believed before it is seen: counts in headers do not allocate, and compressed files may
//! not grow without limit. [`write()`] makes OBJ and PLY whose numbers come back with the same bits.

mod atomic;
mod builder;
mod error;
pub(crate) mod gltf;
mod gzip;
mod mesh_file;
mod moved;
#[doc(hidden)]
pub mod obj;
pub(crate) mod pc2;
pub(crate) mod ply;
mod polygon;
mod stl;
mod text;
pub(crate) mod usda;
pub(crate) mod x64;

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use flate2::{Compression, write::GzEncoder};

use crate::assets;
pub use atomic::write_atomically;
pub(crate) use atomic::write_by_way_of;
pub use error::{FileError, Place, Problem};
pub use mesh_file::{Assembly, Attribute, MeshFile, Polygons, ScalarKind, Uv, assemble};
pub use moved::{with_positions, write_bytes};

/// Largest file that is read, in bytes: about 40 million triangles as text.
const MAX_FILE: u64 = 4 << 30;

/// Reads a mesh file.
///
/// The format follows from the content where it can (gzip, PLY), otherwise from the extension (`.obj`, `.stl`, with or without
/// `.gz`). A file of vertices only is fine here: it may be an end of a motion.
///
/// # Errors
/// Anything that keeps the file from being a usable mesh.
pub fn read(path: impl AsRef<Path>) -> Result<MeshFile, FileError> {
    let path = path.as_ref();
    read_bytes(path, &bytes_of(path)?)
}

/// Whether a file is glTF, by its extension.
pub(crate) fn is_gltf(path: &Path) -> bool {
    matches!(extension(path).as_deref(), Some("glb" | "gltf"))
}

/// Reads a glTF file with its skeleton; `part` takes only what has this name.
pub(crate) fn read_character(
    path: &Path,
    part: Option<&str>,
) -> Result<gltf::Character, FileError> {
    let bytes = bytes_of(path)?;
    if gzip::is_gzip(&bytes) {
        return gltf::read(path, &gzip::unpack(path, &bytes)?, part);
    }
    gltf::read(path, &bytes, part)
}

fn bytes_of(path: &Path) -> Result<Vec<u8>, FileError> {
    if let Some(bytes) = assets::contents(path) {
        return Ok(bytes.to_vec());
    }
    let as_file_error = |e: io::Error| FileError::from_io(path, &e);
    let file = File::open(path).map_err(as_file_error)?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE + 1)
        .read_to_end(&mut bytes)
        .map_err(as_file_error)?;
    if bytes.len() as u64 > MAX_FILE {
        let problem = Problem::TooLarge {
            what: "the bytes of the file",
            limit: MAX_FILE,
        };
        return Err(FileError::new(path, Place::Whole, problem));
    }
    Ok(bytes)
}

/// Reads a mesh from the bytes of a file; `path` gives the extension and the name in messages.
///
/// # Errors
/// As [`read`].
pub fn read_bytes(path: impl AsRef<Path>, bytes: &[u8]) -> Result<MeshFile, FileError> {
    let path = path.as_ref();
    if gzip::is_gzip(bytes) {
        let unpacked = gzip::unpack(path, bytes)?;
        return read_plain(path, &unpacked);
    }
    read_plain(path, bytes)
}

fn read_plain(path: &Path, bytes: &[u8]) -> Result<MeshFile, FileError> {
    let whole = |problem| FileError::new(path, Place::Whole, problem);
    if bytes.is_empty() {
        return Err(whole(Problem::NotAMesh("the file is empty".into())));
    }
    if ply::is_ply(bytes) {
        return ply::read(path, bytes);
    }
    match extension(path).as_deref() {
        Some("obj") => obj::read(path, bytes),
        Some("ply") => ply::read(path, bytes),
        Some("stl") => stl::read(path, bytes),
        Some("glb" | "gltf") => Ok(gltf::read(path, bytes, None)?.mesh),
        other => Err(whole(Problem::UnknownFormat {
            extension: other.map(str::to_owned),
        })),
    }
}

/// Writes a mesh as OBJ or PLY, by the extension; `.gz` behind it compresses. The file appears whole or not at all.
///
/// # Errors
/// Another extension, or the system refuses.
pub fn write(path: impl AsRef<Path>, file: &MeshFile) -> Result<(), FileError> {
    let path = path.as_ref();
    let format = match extension(path).as_deref() {
        Some("obj") => obj::write,
        Some("ply") => ply::write,
        other => {
            let extension = other.map(str::to_owned);
            let problem = Problem::UnknownFormat { extension };
            return Err(FileError::new(path, Place::Whole, problem));
        }
    };
    write_atomically(path, |out| {
        if !is_gz(path) {
            return format(file, out);
        }
        let mut packed = GzEncoder::new(out, Compression::default());
        format(file, &mut packed)?;
        packed.finish().and_then(Write::flush)
    })
    .map_err(|e| FileError::from_io(path, &e))
}

fn is_gz(path: &Path) -> bool {
    path.extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("gz"))
}

/// The extension in lower case, without `.gz` behind it.
fn extension(path: &Path) -> Option<String> {
    let inner = if is_gz(path) {
        path.with_extension("")
    } else {
        path.to_owned()
    };
    inner
        .extension()
        .map(|e| e.to_string_lossy().to_lowercase())
}
