//! PLY, read in all three encodings and written as binary little-endian doubles.
//!
//! Numbers are taken as they are: f32 is widened without rounding, text becomes the nearest f64 whatever type the header
//! declares. Vertices keep all their numbers as attributes; texture coordinates are recognised per vertex (`s t`, `u v`,
//! `texture_u texture_v`) and per corner (list `texcoord`). Elements other than vertices and faces are skipped.
//!
//! Why not a crate: `ply-rs-bw` (4.0.1) is careful with absurd counts, but its errors name a line of a text only, not the byte of a binary
//! file, and it brings three more crates; what is needed here is the smaller part of the work.

mod data;
mod header;
mod write;

use std::path::Path;

use glam::{DVec2, DVec3};

use super::builder::Builder;
use super::error::{FileError, Place, Problem};
use super::mesh_file::{Attribute, MeshFile, ScalarKind};
use super::moved;
use data::Data;
use header::{Element, Encoding};

pub(crate) use write::write;

/// Pairs of names under which programs write texture coordinates of vertices.
const UV_NAMES: [[&str; 2]; 3] = [["s", "t"], ["u", "v"], ["texture_u", "texture_v"]];

/// Whether data begin like a PLY file.
pub(super) fn is_ply(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    bytes.starts_with(b"ply\n") || bytes.starts_with(b"ply\r")
}

/// Reads a PLY file; `path` is for messages.
pub(super) fn read(path: &Path, bytes: &[u8]) -> Result<MeshFile, FileError> {
    let (encoding, elements, lines) = header::read(path, bytes)?;
    let place = match encoding {
        Encoding::Ascii => Place::Line,
        _ => Place::Byte,
    };
    let mut build = Builder::new(path, 0, place);
    let mut data = Data::new(encoding, bytes, lines);
    for name in ["vertex", "face"] {
        if elements.iter().filter(|e| e.name == name).count() > 1 {
            let problem = Problem::Syntax {
                what: format!("two elements named '{name}'"),
                remedy: "a PLY file has one of each",
            };
            return Err(FileError::new(path, Place::Whole, problem));
        }
    }
    for element in &elements {
        let smallest = element.smallest_size(encoding);
        if smallest == 0 {
            continue; // without properties there are no data
        }
        // the last line of a text may lack its end, hence the one byte more
        let possible = (data.left() as u64 + 1) / smallest;
        let row_count = match usize::try_from(element.count) {
            Ok(count) if element.count <= possible => count,
            _ => {
                let problem = Problem::Truncated(format!(
                    "too early: the header promises {} of '{}', the data hold at most {possible}",
                    element.count, element.name
                ));
                return Err(build.error(data.place(), problem));
            }
        };
        let result = match element.name.as_str() {
            "vertex" => read_vertices(&mut data, &mut build, element, row_count),
            "face" => read_faces(&mut data, &mut build, element, row_count),
            _ => skip(&mut data, element, row_count),
        };
        result.map_err(|problem| build.error(data.place(), problem))?;
    }
    data.check_end()
        .map_err(|problem| build.error(data.place(), problem))?;
    if !elements.iter().any(|e| e.name == "vertex") {
        let problem = Problem::NotAMesh("the header has no element 'vertex'".into());
        return Err(FileError::new(path, Place::Whole, problem));
    }
    build.finish()
}

/// The same file with other coordinates for vertices that moved; `None` if vertices are not the first element, or have lists.
///
/// # Errors
/// Those of the header.
pub(super) fn patch(
    path: &Path,
    bytes: &[u8],
    moved: &[Option<DVec3>],
) -> Result<Option<Vec<u8>>, FileError> {
    let (encoding, elements, lines) = header::read(path, bytes)?;
    let Some(vertex) = elements.first().filter(|e| e.name == "vertex") else {
        return Ok(None);
    };
    let columns = ["x", "y", "z"].map(|name| {
        let mut all = vertex.properties.iter();
        all.position(|p| p.name == name)
    });
    let (Some(size), [Some(x), Some(y), Some(z)]) = (vertex.fixed_size(), columns) else {
        return Ok(None);
    };
    let start = bytes.len() - lines.rest().len();
    let columns = [x, y, z];
    if encoding == Encoding::Ascii {
        return Ok(patch_text(bytes, start, columns, moved));
    }
    let mut out = bytes.to_vec();
    for (row, p) in moved.iter().enumerate() {
        let Some(p) = p else { continue };
        for (column, value) in columns.into_iter().zip(p.to_array()) {
            let before = vertex.properties[..column].iter();
            let offset: usize = before.map(|p| p.kind.size()).sum();
            let at = start + row * size as usize + offset;
            let mut number = match vertex.properties[column].kind {
                ScalarKind::F32 => (value as f32).to_le_bytes().to_vec(),
                ScalarKind::F64 => value.to_le_bytes().to_vec(),
                _ => return Ok(None),
            };
            if encoding == Encoding::Big {
                number.reverse();
            }
            out[at..at + number.len()].copy_from_slice(&number);
        }
    }
    Ok(Some(out))
}

/// The same for text; x, y and z have to follow each other.
fn patch_text(
    bytes: &[u8],
    start: usize,
    [x, y, z]: [usize; 3],
    moved: &[Option<DVec3>],
) -> Option<Vec<u8>> {
    if (y, z) != (x + 1, x + 2) {
        return None;
    }
    let mut out = bytes[..start].to_vec();
    let mut vertices = moved.iter();
    for line in bytes[start..].split_inclusive(|&b| b == b'\n' || b == b'\r') {
        let is_blank = line.trim_ascii().is_empty();
        match if is_blank { None } else { vertices.next() } {
            Some(Some(p)) => {
                let [from, to] = moved::span_of_words(line, x, 3)?;
                out.extend_from_slice(&line[..from]);
                out.extend_from_slice(moved::as_words(*p).as_bytes());
                out.extend_from_slice(&line[to..]);
            }
            _ => out.extend_from_slice(line),
        }
    }
    Some(out)
}

fn read_vertices(
    data: &mut Data<'_>,
    build: &mut Builder<'_>,
    element: &Element,
    row_count: usize,
) -> Result<(), Problem> {
    let column = |name: &str| {
        element
            .properties
            .iter()
            .position(|p| p.name == name && p.list.is_none())
    };
    let (Some(x), Some(y), Some(z)) = (column("x"), column("y"), column("z")) else {
        return Err(Problem::NotAMesh(
            "vertices need the properties x, y and z".into(),
        ));
    };
    let uv = UV_NAMES
        .iter()
        .find_map(|[u, v]| Some([column(u)?, column(v)?]));
    let coordinates = [x, y, z];
    let mut attributes: Vec<(usize, Attribute)> = Vec::new();
    for (i, p) in element.properties.iter().enumerate() {
        if p.list.is_none() && !coordinates.contains(&i) && !uv.is_some_and(|uv| uv.contains(&i)) {
            let values = Vec::with_capacity(row_count);
            let (name, kind) = (p.name.clone(), p.kind);
            attributes.push((i, Attribute { name, kind, values }));
        }
    }
    build.positions.reserve_exact(row_count);
    let mut row = vec![0.0; element.properties.len()];
    for _ in 0..row_count {
        data.begin_row()?;
        for (i, (p, value)) in element.properties.iter().zip(&mut row).enumerate() {
            match p.list {
                Some(length) => {
                    for _ in 0..data.length(length, p)? {
                        data.scalar(p.kind)?;
                    }
                }
                None if coordinates.contains(&i) => *value = data.coordinate(p.kind)?,
                None => *value = data.scalar(p.kind)?,
            }
        }
        data.end_row()?;
        build.positions.push(DVec3::new(row[x], row[y], row[z]));
        for (i, attribute) in &mut attributes {
            attribute.values.push(row[*i]);
        }
        if let Some([u, v]) = uv {
            build.uv.push(finite_uv(row[u], row[v])?);
        }
    }
    build.attributes = attributes.into_iter().map(|(_, a)| a).collect();
    Ok(())
}

fn read_faces(
    data: &mut Data<'_>,
    build: &mut Builder<'_>,
    element: &Element,
    row_count: usize,
) -> Result<(), Problem> {
    let list = |names: &[&str]| {
        element
            .properties
            .iter()
            .position(|p| p.list.is_some() && names.contains(&p.name.as_str()))
    };
    let Some(corners) = list(&["vertex_indices", "vertex_index"]) else {
        return Err(Problem::NotAMesh(
            "faces need the list property 'vertex_indices' or 'vertex_index'".into(),
        ));
    };
    if !element.properties[corners].kind.is_integer() {
        return Err(Problem::NotAMesh(
            "the vertex indices of faces must be whole numbers".into(),
        ));
    }
    let by_corner = list(&["texcoord"]);
    let by_vertex = !build.uv.is_empty();
    let mut vertices: Vec<u32> = Vec::new();
    let mut uv: Vec<f64> = Vec::new();
    for _ in 0..row_count {
        data.begin_row()?;
        let place = data.place();
        vertices.clear();
        uv.clear();
        for (i, p) in element.properties.iter().enumerate() {
            let Some(length) = p.list else {
                data.scalar(p.kind)?;
                continue;
            };
            for _ in 0..data.length(length, p)? {
                let value = data.scalar(p.kind)?;
                if i == corners {
                    vertices.push(vertex_index(value, build.positions.len())?);
                } else if Some(i) == by_corner {
                    uv.push(value);
                }
            }
        }
        data.end_row()?;
        if !uv.is_empty() && uv.len() != 2 * vertices.len() {
            return Err(Problem::Syntax {
                what: format!(
                    "{} texture coordinates for {} corners",
                    uv.len(),
                    vertices.len()
                ),
                remedy: "a face has two per corner, or none",
            });
        }
        for (k, &v) in vertices.iter().enumerate() {
            let at = match uv.get(2 * k..2 * k + 2) {
                Some(t) => {
                    build.uv.push(finite_uv(t[0], t[1])?);
                    Some(build.uv.len() as u32 - 1)
                }
                None => by_vertex.then_some(v),
            };
            build.push_corner(v, at);
        }
        build.close_face(place).map_err(|e| *e.problem)?;
    }
    Ok(())
}

fn skip(data: &mut Data<'_>, element: &Element, row_count: usize) -> Result<(), Problem> {
    if let (Some(size), true) = (element.fixed_size(), data.encoding != Encoding::Ascii) {
        return data.take(size as usize * row_count).map(|_| ());
    }
    for _ in 0..row_count {
        data.begin_row()?;
        for p in &element.properties {
            let count = p.list.map_or(Ok(1), |length| data.length(length, p))?;
            for _ in 0..count {
                data.scalar(p.kind)?;
            }
        }
        data.end_row()?;
    }
    Ok(())
}

fn finite_uv(u: f64, v: f64) -> Result<DVec2, Problem> {
    match [u, v].into_iter().find(|c| !c.is_finite()) {
        None => Ok(DVec2::new(u, v)),
        Some(bad) => Err(Problem::NotFinite {
            what: "a texture coordinate",
            value: bad.to_string(),
        }),
    }
}

fn vertex_index(value: f64, count: usize) -> Result<u32, Problem> {
    if (0.0..f64::from(u32::MAX)).contains(&value) {
        Ok(value as u32)
    } else {
        Err(Problem::IndexOutOfRange {
            what: "vertex",
            index: value as i64,
            count: count as u64,
            first: 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::ScalarKind;

    fn parse(bytes: &[u8]) -> Result<MeshFile, FileError> {
        read(Path::new("t.ply"), bytes)
    }

    fn refused(bytes: &[u8]) -> FileError {
        parse(bytes).unwrap_err()
    }

    const HEADER: &str = "element vertex 4\nproperty float x\nproperty float y\nproperty double z\nproperty uchar red\n\
        property list uchar short skipped\nproperty short mass\nelement edge 2\nproperty int a\nproperty int b\n\
        element face 1\nproperty int material\nproperty list uchar int vertex_index\nend_header\n";

    fn ascii() -> String {
        format!(
            "ply\nformat ascii 1.0\ncomment written by hand\nobj_info 1\n{HEADER}\
             0 0 0.1 255 0 -1\n1 0 0.1 7 2 5 6 -2\n1 1 0 0 1 9 -3\n\n0 1 0 1 0 300\n0 1\n1 2\n5 4 0 1 2 3\n"
        )
    }

    fn binary(little: bool) -> Vec<u8> {
        let name = if little { "little" } else { "big" };
        let mut out = format!("ply\r\nformat binary_{name}_endian 1.0\n{HEADER}").into_bytes();
        let mut put = |bytes: &[u8]| {
            let mut bytes = bytes.to_vec();
            if !little {
                bytes.reverse();
            }
            out.extend(bytes);
        };
        let lists: [&[i16]; 4] = [&[], &[5, 6], &[9], &[]];
        let rows = [
            ([0.0f32, 0.0], 0.1f64, 255u8, -1i16),
            ([1.0, 0.0], 0.1, 7, -2),
            ([1.0, 1.0], 0.0, 0, -3),
            ([0.0, 1.0], 0.0, 1, 300),
        ];
        for ((xy, z, red, mass), list) in rows.into_iter().zip(lists) {
            put(&xy[0].to_le_bytes());
            put(&xy[1].to_le_bytes());
            put(&z.to_le_bytes());
            put(&[red]);
            put(&[list.len() as u8]);
            list.iter().for_each(|i| put(&i.to_le_bytes()));
            put(&mass.to_le_bytes());
        }
        [0i32, 1, 1, 2, 5]
            .iter()
            .for_each(|i| put(&i.to_le_bytes()));
        put(&[4]);
        [0i32, 1, 2, 3].iter().for_each(|i| put(&i.to_le_bytes()));
        out
    }

    #[test]
    fn the_three_encodings_hold_the_same_mesh() {
        let file = parse(ascii().as_bytes()).unwrap();
        assert_eq!(file.positions[1], DVec3::new(1.0, 0.0, 0.1));
        assert_eq!(file.faces, [[0, 1, 2], [0, 2, 3]]);
        let [red, mass] = file.attributes.as_slice() else {
            panic!("two attributes expected");
        };
        assert_eq!((red.name.as_str(), red.kind), ("red", ScalarKind::U8));
        assert_eq!(red.values, [255.0, 7.0, 0.0, 1.0]);
        assert_eq!((mass.kind, mass.values[3]), (ScalarKind::I16, 300.0));
        assert_eq!(parse(&binary(true)).unwrap(), file);
        assert_eq!(parse(&binary(false)).unwrap(), file);
    }

    #[test]
    fn every_cut_of_a_file_is_noticed() {
        for whole in [binary(true), binary(false)] {
            for cut in 0..whole.len() {
                assert!(
                    parse(&whole[..cut]).is_err(),
                    "{cut} of {} bytes",
                    whole.len()
                );
            }
        }
        // a text may lose its last line end, or a last digit that leaves a number
        let text = ascii();
        for cut in 0..text.len() - 1 {
            assert!(
                parse(&text.as_bytes()[..cut]).is_err(),
                "{cut} of {} bytes",
                text.len()
            );
        }
        let mut longer = binary(true);
        longer.push(1);
        assert!(matches!(*refused(&longer).problem, Problem::Syntax { .. }));
    }

    #[test]
    fn absurd_counts_are_refused_without_allocating() {
        for count in ["1000000000000", "9223372036854775807"] {
            for (from, name) in [
                ("vertex 4", "vertex"),
                ("edge 2", "edge"),
                ("face 1", "face"),
            ] {
                let to = format!("{name} {count}");
                let error = refused(ascii().replace(from, &to).as_bytes());
                assert!(matches!(*error.problem, Problem::Truncated(_)), "{error}");
                let bytes = String::from_utf8_lossy(&binary(true)).replace(from, &to);
                assert!(matches!(
                    *refused(bytes.as_bytes()).problem,
                    Problem::Truncated(_)
                ));
            }
        }
        // a list that claims four thousand million numbers
        let mut bytes = b"ply\nformat binary_little_endian 1.0\nelement vertex 1\nproperty list uint double l\nproperty double x\n\
            property double y\nproperty double z\nend_header\n".to_vec();
        bytes.extend(u32::MAX.to_le_bytes());
        bytes.extend([0; 100]);
        assert!(matches!(*refused(&bytes).problem, Problem::Truncated(_)));
        // elements without properties have no data, whatever their count
        let text = ascii().replace(
            "element edge 2",
            "element nothing 1000000000000\nelement edge 2",
        );
        assert!(parse(text.as_bytes()).is_ok());
    }

    /// A table: one row for each fault.
    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        let line = |text: &str| {
            let error = refused(text.as_bytes());
            (error.place, *error.problem)
        };
        let first = ascii().lines().position(|l| l == "end_header").unwrap() as u64 + 2;
        let change = |from: &str, to: &str| line(&ascii().replacen(from, to, 1));
        assert!(matches!(
            change("4 0 1 2 3", "4 0 1 2 4"),
            (Place::Line(l), Problem::IndexOutOfRange { index: 4, count: 4, first: 0, .. }) if l == first + 7
        ));
        assert!(matches!(
            change("4 0 1 2 3", "4 0 1 2 -1").1,
            Problem::IndexOutOfRange { index: -1, .. }
        ));
        assert!(matches!(
            change("4 0 1 2 3", "4 0 1 2 2").1,
            Problem::DegenerateFace {
                vertex: 2,
                first: 0
            }
        ));
        assert!(matches!(
            change("0 0 0.1 255", "0 inf 0.1 255"),
            (Place::Line(l), Problem::NotFinite { .. }) if l == first
        ));
        assert!(matches!(
            change("0 0 0.1 255", "0 0 1e-71 255").1,
            Problem::OutOfRange { .. }
        ));
        assert!(matches!(
            change("0 0 0.1 255", "0 0 0.1 256").1,
            Problem::Syntax { .. }
        ));
        assert!(matches!(
            change("0 0 0.1 255", "0 0 0.1").1,
            Problem::Syntax { .. }
        ));
        assert!(matches!(
            change("4 0 1 2 3", "4 0 1 2 3 4").1,
            Problem::Syntax { .. }
        ));
        assert!(matches!(
            change("4 0 1 2 3", "200 0 1 2 3").1,
            Problem::Truncated(_)
        ));
        assert!(matches!(
            change("property float x", "property half x").1,
            Problem::Syntax { .. }
        ));
        assert!(matches!(
            change("property float x", "property float w").1,
            Problem::NotAMesh(_)
        ));
        assert!(matches!(
            change("vertex_index", "corners").1,
            Problem::NotAMesh(_)
        ));
        assert!(matches!(
            change("uchar int vertex", "uchar float vertex").1,
            Problem::NotAMesh(_)
        ));
        assert!(matches!(
            change("uchar int vertex", "float int vertex").1,
            Problem::Syntax { .. }
        ));
        assert!(matches!(
            change("ascii 1.0", "ascii 2.0").1,
            Problem::Syntax { .. }
        ));
        assert!(matches!(
            change("format ascii 1.0\n", "").1,
            Problem::Syntax { .. }
        ));
        assert!(matches!(
            change("element edge", "element vertex").1,
            Problem::Syntax { .. }
        ));
        assert!(matches!(change("ply", "plx").1, Problem::NotAMesh(_)));

        let mut bytes = binary(true);
        let last = bytes.len() - 1;
        bytes[last] = 0x7f;
        let error = refused(&bytes);
        assert!(
            matches!(error.place, Place::Byte(b) if (b as usize) < last),
            "{error}"
        );
        assert!(matches!(*error.problem, Problem::IndexOutOfRange { .. }));
    }
}
