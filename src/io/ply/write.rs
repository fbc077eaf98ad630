//! Writing PLY: binary, little-endian, doubles.

use std::io::{self, Write};

use glam::DVec2;

use crate::io::mesh_file::{MeshFile, ScalarKind};

/// Writes a binary little-endian PLY file with double coordinates: the same bits as given.
///
/// Texture coordinates go to the vertices if each vertex has only one, else to the corners. PLY has no place for names of parts.
pub(crate) fn write(file: &MeshFile, out: &mut dyn Write) -> io::Result<()> {
    let by_vertex = uv_by_vertex(file);
    let by_corner = file.uv.as_ref().filter(|_| by_vertex.is_none());
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
            "element face {}\nproperty list uchar uint vertex_indices",
            file.faces.len()
        )?;
        if by_corner.is_some() {
            writeln!(out, "property list uchar double texcoord")?;
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
    for (i, corners) in file.faces.iter().enumerate() {
        out.write_all(&[3])?;
        for v in corners {
            out.write_all(&v.to_le_bytes())?;
        }
        let Some(uv) = by_corner else {
            continue;
        };
        match uv.corners[i] {
            None => out.write_all(&[0])?,
            Some(corners) => {
                out.write_all(&[6])?;
                for t in corners.map(|t| uv.coordinates[t as usize]) {
                    out.write_all(&t.x.to_le_bytes())?;
                    out.write_all(&t.y.to_le_bytes())?;
                }
            }
        }
    }
    Ok(())
}

/// One texture coordinate per vertex, if the file has exactly that.
fn uv_by_vertex(file: &MeshFile) -> Option<Vec<DVec2>> {
    let uv = file.uv.as_ref()?;
    let mut of_vertex = vec![None; file.positions.len()];
    for (corners, mapped) in file.faces.iter().zip(&uv.corners) {
        for (&v, t) in corners.iter().zip((*mapped)?) {
            let here = uv.coordinates[t as usize];
            let known: DVec2 = *of_vertex[v as usize].get_or_insert(here);
            if known.to_array().map(f64::to_bits) != here.to_array().map(f64::to_bits) {
                return None;
            }
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
