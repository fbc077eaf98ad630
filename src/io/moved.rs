//! A mesh file with other positions: everything else stays as it is, to the byte.
//!
//! Whoever moves the vertices of a file must not lose what we do not read: polygons, normals, materials, comments, private statements, the order of
//! lines. So only the coordinates of vertices that moved are replaced, in the text of an OBJ or PLY, or in the bytes of a binary PLY.

use std::path::Path;

use glam::DVec3;

use super::error::{FileError, Place, Problem};
use super::mesh_file::MeshFile;
use super::text::{self, words};
use super::{extension, gzip, is_gz, obj, ply};

/// The content of a file named `out` that holds what `bytes`, the content of `path`, holds, at `positions`; not
/// compressed.
///
/// In the format of the input only coordinates change. In another one (`.obj` or `.ply`) it is written anew from `file`, which is what
/// [`super::read`] made of the input; polygons are then triangles.
///
/// Coordinates are rounded if the file stores them so (PLY with `float`): read the result to know.
///
/// # Errors
/// Another extension, or an input that cannot be read.
pub fn with_positions(
    path: &Path,
    bytes: &[u8],
    file: &MeshFile,
    positions: &[DVec3],
    out: &Path,
) -> Result<Vec<u8>, FileError> {
    let unpacked;
    let bytes = match gzip::is_gzip(bytes) {
        true => {
            unpacked = gzip::unpack(path, bytes)?;
            &unpacked[..]
        }
        false => bytes,
    };
    let is_ply = ply::is_ply(bytes);
    let moved: Vec<Option<DVec3>> = positions
        .iter()
        .zip(&file.positions)
        .map(|(new, old)| (new != old).then_some(*new))
        .collect();
    let patched = match extension(out).as_deref() {
        Some("obj") if !is_ply && extension(path).as_deref() == Some("obj") => {
            patch_obj(bytes, &moved)
        }
        Some("ply") if is_ply => ply::patch(path, bytes, &moved)?,
        _ => None,
    };
    if let Some(patched) = patched {
        return Ok(patched);
    }
    let mut file = file.clone();
    file.positions = positions.to_vec();
    let mut content = Vec::new();
    let written = match extension(out).as_deref() {
        Some("obj") => obj::write(&file, &mut content),
        Some("ply") => ply::write(&file, &mut content),
        other => {
            let extension = other.map(str::to_owned);
            let problem = Problem::UnknownFormat { extension };
            return Err(FileError::new(out, Place::Whole, problem));
        }
    };
    written.expect("writing to memory does not fail");
    Ok(content)
}

/// Writes content, compressed if the name says so; the file appears whole or not at all.
///
/// # Errors
/// The system refuses.
pub fn write_bytes(path: &Path, content: &[u8]) -> Result<(), FileError> {
    super::write_atomically(path, |out| {
        if !is_gz(path) {
            return out.write_all(content);
        }
        let mut packed = flate2::write::GzEncoder::new(out, flate2::Compression::default());
        std::io::Write::write_all(&mut packed, content)?;
        packed.finish().and_then(std::io::Write::flush)
    })
    .map_err(|e| FileError::from_io(path, &e))
}

/// An OBJ with other coordinates; `None` if a vertex is spread over several lines.
fn patch_obj(bytes: &[u8], moved: &[Option<DVec3>]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut vertex = 0;
    let mut goes_on = false;
    for line in bytes.split_inclusive(|&b| b == b'\n' || b == b'\r') {
        let begins = !std::mem::replace(&mut goes_on, false);
        let text = line.trim_ascii_end();
        let is_comment = text.trim_ascii_start().starts_with(b"#");
        let is_vertex = begins
            && words(text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)).next() == Some(b"v");
        goes_on = text.ends_with(b"\\") && !is_comment;
        if goes_on && (is_vertex || line.ends_with(b"\r")) {
            return None;
        }
        let new = if is_vertex {
            vertex += 1;
            *moved.get(vertex - 1)?
        } else {
            None
        };
        match new {
            Some(p) => {
                let [start, end] = span_of_words(line, 1, 3)?;
                out.extend_from_slice(&line[..start]);
                out.extend_from_slice(as_words(p).as_bytes());
                out.extend_from_slice(&line[end..]);
            }
            None => out.extend_from_slice(line),
        }
    }
    (vertex == moved.len()).then_some(out)
}

/// Three numbers that come back with the same bits.
pub(super) fn as_words(p: DVec3) -> String {
    p.to_array().map(text::shortest).join(" ")
}

/// First byte of the word `first`, and the byte behind the last of `count` words.
pub(super) fn span_of_words(line: &[u8], first: usize, count: usize) -> Option<[usize; 2]> {
    let mut at = 0;
    let mut start = None;
    for k in 0..first + count {
        at += line[at..].iter().position(|b| !b.is_ascii_whitespace())?;
        if k == first {
            start = Some(at);
        }
        let rest = &line[at..];
        at += rest
            .iter()
            .position(u8::is_ascii_whitespace)
            .unwrap_or(rest.len());
    }
    Some([start?, at])
}

#[cfg(test)]
mod tests {
    use super::super::read_bytes;
    use super::*;

    fn moved(name: &str, bytes: &[u8], vertex: usize, to: DVec3) -> Vec<u8> {
        let path = Path::new(name);
        let file = read_bytes(path, bytes).unwrap();
        let mut positions = file.positions.clone();
        positions[vertex] = to;
        with_positions(path, bytes, &file, &positions, path).unwrap()
    }

    #[test]
    fn only_the_coordinates_of_what_moved_change_in_an_obj() {
        let text = "# by hand\r\nmtllib a.mtl\r\nv 0 0 0\r\n  v  1.50   0 0 0.5 0.5 0.25 # red\r\nv 0 1e0 0\nv 1 1 0\nvn 0 0 1\nusemtl cloth\n\
                    f 1//1 2//1 4//1 \\\n 3//1\nstitch 1 2 3 0.5\n";
        let new = moved(
            "a.obj",
            text.as_bytes(),
            1,
            DVec3::new(0.1, 1.0 / 3.0, -2.0),
        );
        let expected = text.replace("1.50   0 0 0.5", "0.1 0.3333333333333333 -2 0.5");
        assert_eq!(String::from_utf8(new).unwrap(), expected);
        assert_eq!(
            moved("a.obj", text.as_bytes(), 2, DVec3::Y),
            text.as_bytes()
        );
    }

    #[test]
    fn only_the_coordinates_of_what_moved_change_in_a_ply() {
        let header = "ply\nformat ascii 1.0\ncomment made by hand\nelement vertex 4\nproperty uchar id\nproperty float x\nproperty float y\n\
                      property float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n";
        let text = format!("{header}7 0 0 0\n8 1 0  0\n9 1 1 0\n6 0 1 0\n4 0 1 2 3\n");
        let new = moved("a.ply", text.as_bytes(), 1, DVec3::new(2.0, 0.1, 0.0));
        assert_eq!(
            String::from_utf8(new).unwrap(),
            text.replace("8 1 0  0", "8 2 0.1 0")
        );

        for (format, big) in [("binary_little_endian", false), ("binary_big_endian", true)] {
            let mut bytes = header.replace("ascii", format).into_bytes();
            let start = bytes.len();
            for p in [
                [0.0f32, 0.0, 0.0],
                [1.0, 0.0, 0.0],
                [1.0, 1.0, 0.0],
                [0.0, 1.0, 0.0],
            ] {
                bytes.push(5);
                for c in p {
                    bytes.extend(if big {
                        c.to_be_bytes()
                    } else {
                        c.to_le_bytes()
                    });
                }
            }
            let face = |v: i32| {
                if big {
                    v.to_be_bytes()
                } else {
                    v.to_le_bytes()
                }
            };
            bytes.push(4);
            bytes.extend([0, 1, 2, 3].into_iter().flat_map(face));
            let new = moved("a.ply", &bytes, 2, DVec3::new(1.0, 0.1, 0.0));
            assert_eq!(new.len(), bytes.len());
            let changed: Vec<usize> = (0..new.len()).filter(|&k| new[k] != bytes[k]).collect();
            assert!(
                !changed.is_empty() && changed.iter().all(|k| (start + 31..start + 35).contains(k))
            );
            let file = read_bytes("a.ply", &new).unwrap();
            assert_eq!(
                file.positions[2].y,
                f64::from(0.1f32),
                "rounded as the file stores it"
            );
            assert!(file.polygons.is_some());
        }
    }
}
