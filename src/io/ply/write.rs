//! Writing PLY: binary, little-endian, doubles.

use std::io::{self, Write};

use glam::DVec2;

use crate::io::look::{Look, NONE};
use crate::io::mesh_file::{MeshFile, ScalarKind};

/// Writes a binary little-endian PLY file with double coordinates: the same bits as given.
///
/// Texture coordinates go to the vertices if each vertex has only one, else to the corners. PLY has no place for names of parts.
pub(crate) fn write(file: &MeshFile, out: &mut dyn Write) -> io::Result<()> {
    let look = file.look.as_deref();
    let fits = look.filter(|look| look.triangle_count() == file.faces.len());
    let plain = match fits {
        None => Look::of_file(file),
        Some(_) => Look::default(),
    };
    let look = fits.unwrap_or(&plain);
    let by_vertex = uv_by_vertex(look, file.positions.len());
    let by_corner = by_vertex.is_none() && !look.uv_of_corner.is_empty();
    // a list of up to 255 corners has a short count, and two texture coordinates for each
    let most = look.polygons.sizes.iter().max().copied().unwrap_or(0);
    let (count_kind, most_of_short) = match by_corner {
        true => (ScalarKind::U32, 127),
        false => (ScalarKind::U32, 255),
    };
    let count_kind = if most <= most_of_short {
        ScalarKind::U8
    } else {
        count_kind
    };
    writeln!(
        out,
        "ply\nformat binary_little_endian 1.0\nelement vertex {}",
        file.positions.len()
    )?;
    for axis in ["x", "y", "z"] {
        writeln!(out, "property double {axis}")?;
    }
    if by_vertex.is_some() {
        writeln!(out, "property double s\nproperty double t")?;
    }
    for a in &file.attributes {
        writeln!(out, "property {} {}", a.kind.name(), one_word(&a.name))?;
    }
    if !file.faces.is_empty() {
        writeln!(
            out,
            "element face {}\nproperty list {} uint vertex_indices",
            look.polygons.sizes.len(),
            count_kind.name()
        )?;
        if by_corner {
            writeln!(out, "property list {} double texcoord", count_kind.name())?;
        }
    }
    writeln!(out, "end_header")?;
    for (i, p) in file.positions.iter().enumerate() {
        for c in p.to_array() {
            out.write_all(&c.to_le_bytes())?;
        }
        if let Some(uv) = &by_vertex {
            out.write_all(&uv[i].x.to_le_bytes())?;
            out.write_all(&uv[i].y.to_le_bytes())?;
        }
        for a in &file.attributes {
            write_scalar(out, a.kind, a.values[i])?;
        }
    }
    for range in look.polygons.ranges() {
        write_scalar(out, count_kind, range.len() as f64)?;
        for v in &look.polygons.corners[range.clone()] {
            out.write_all(&v.to_le_bytes())?;
        }
        if !by_corner {
            continue;
        }
        let uv = &look.uv_of_corner[range];
        if uv.contains(&NONE) {
            write_scalar(out, count_kind, 0.0)?;
            continue;
        }
        write_scalar(out, count_kind, 2.0 * uv.len() as f64)?;
        for t in uv.iter().map(|&t| look.uv[t as usize]) {
            out.write_all(&t.x.to_le_bytes())?;
            out.write_all(&t.y.to_le_bytes())?;
        }
    }
    Ok(())
}

/// One texture coordinate per vertex, if the file has exactly that.
fn uv_by_vertex(look: &Look, vertex_count: usize) -> Option<Vec<DVec2>> {
    if look.uv_of_corner.is_empty() {
        return None;
    }
    let mut of_vertex = vec![None; vertex_count];
    for (&v, &t) in look.polygons.corners.iter().zip(&look.uv_of_corner) {
        let here = *look.uv.get(t as usize)?;
        let known: DVec2 = *of_vertex[v as usize].get_or_insert(here);
        if known.to_array().map(f64::to_bits) != here.to_array().map(f64::to_bits) {
            return None;
        }
    }
    // a vertex without faces has nothing to map
    Some(
        of_vertex
            .into_iter()
            .map(Option::unwrap_or_default)
            .collect(),
    )
}

fn write_scalar(out: &mut dyn Write, kind: ScalarKind, value: f64) -> io::Result<()> {
    match kind {
        ScalarKind::I8 => out.write_all(&(value as i8).to_le_bytes()),
        ScalarKind::U8 => out.write_all(&(value as u8).to_le_bytes()),
        ScalarKind::I16 => out.write_all(&(value as i16).to_le_bytes()),
        ScalarKind::U16 => out.write_all(&(value as u16).to_le_bytes()),
        ScalarKind::I32 => out.write_all(&(value as i32).to_le_bytes()),
        ScalarKind::U32 => out.write_all(&(value as u32).to_le_bytes()),
        ScalarKind::F32 => out.write_all(&(value as f32).to_le_bytes()),
        ScalarKind::F64 => out.write_all(&value.to_le_bytes()),
    }
}

/// A name without blanks, as headers need it.
fn one_word(name: &str) -> String {
    let clean: String = name
        .chars()
        .map(|c| {
            if c.is_control() || c.is_whitespace() {
                '_'
            } else {
                c
            }
        })
        .collect();
    if clean.is_empty() { "_".into() } else { clean }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::{Attribute, Uv, read_bytes};
    use glam::DVec3;

    #[test]
    fn what_is_written_comes_back_to_the_bit() {
        let kinds = [
            (ScalarKind::I8, -128.0),
            (ScalarKind::U8, 255.0),
            (ScalarKind::I16, -32768.0),
            (ScalarKind::U16, 65535.0),
            (ScalarKind::I32, f64::from(i32::MIN)),
            (ScalarKind::U32, f64::from(u32::MAX)),
            (ScalarKind::F32, f64::from(0.1f32)),
            (ScalarKind::F64, 0.1),
        ];
        let attribute = |(kind, value): (ScalarKind, f64)| Attribute {
            name: format!("{kind:?}"),
            kind,
            values: vec![0.0, value, 1.0, value],
        };
        let mut file = MeshFile {
            path: "t.ply".into(),
            positions: vec![
                DVec3::new(-0.0, 1e-70, 0.1 + 0.2),
                DVec3::X,
                DVec3::Y,
                DVec3::Z,
            ],
            faces: vec![[0, 1, 2], [0, 2, 3]],
            attributes: kinds.map(attribute).to_vec(),
            ..MeshFile::default()
        };
        let round_trip = |file: &MeshFile| {
            let mut out = Vec::new();
            write(file, &mut out).unwrap();
            read_bytes("t.ply", &out).unwrap()
        };
        let back = round_trip(&file);
        assert_eq!(back, file);
        assert_eq!(back.positions[0].x.to_bits(), (-0.0f64).to_bits());

        // one texture coordinate per vertex, then a seam, then a face without any
        let coordinates: Vec<_> = (0..6)
            .map(|i| DVec2::new(0.1 * f64::from(i), 0.5))
            .collect();
        let mut uv = Uv {
            coordinates,
            corners: vec![Some([0, 1, 2]), Some([0, 2, 3])],
        };
        for corners in [Some([0, 2, 3]), Some([4, 5, 3]), None] {
            uv.corners[1] = corners;
            file.uv = Some(uv.clone());
            let back = round_trip(&file).uv.unwrap();
            for (a, b) in uv.corners.iter().zip(&back.corners) {
                let values = |uv: &Uv, c: &Option<[u32; 3]>| {
                    c.map(|c| c.map(|t| uv.coordinates[t as usize]))
                };
                assert_eq!(values(&uv, a), values(&back, b));
            }
        }
    }
}
