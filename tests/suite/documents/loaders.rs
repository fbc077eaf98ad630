//! Mesh files end to end: real files, every format, damage of every kind.

use std::io::Write;
use std::path::Path;

use flate2::{Compression, write::GzEncoder};
use percale::io::{self, FileError, MeshFile, Problem};
use proptest::prelude::*;

use crate::support::data;

fn pack(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn as_obj(file: &MeshFile) -> Vec<u8> {
    let mut out = Vec::new();
    io::obj::write(file, &mut out).unwrap();
    out
}

fn as_ascii_ply(file: &MeshFile) -> Vec<u8> {
    let mut out = format!(
        "ply\nformat ascii 1.0\nelement vertex {}\nproperty double x\nproperty double y\nproperty double z\n\
         element face {}\nproperty list uchar int vertex_indices\nend_header\n",
        file.positions.len(),
        file.faces.len()
    );
    for p in &file.positions {
        out += &format!("{:e} {:e} {:e}\n", p.x, p.y, p.z);
    }
    for [a, b, c] in &file.faces {
        out += &format!("3 {a} {b} {c}\n");
    }
    out.into_bytes()
}

fn as_ascii_stl(file: &MeshFile) -> Vec<u8> {
    let mut out = String::from("solid cloth\n");
    for f in &file.faces {
        out += "facet normal 0 0 0\nouter loop\n";
        for p in f.map(|v| file.positions[v as usize]) {
            out += &format!("vertex {} {} {}\n", p.x, p.y, p.z);
        }
        out += "endloop\nendfacet\n";
    }
    (out + "endsolid cloth\n").into_bytes()
}

fn as_binary_stl(file: &MeshFile) -> Vec<u8> {
    let mut out = vec![0; 80];
    out.extend((file.faces.len() as u32).to_le_bytes());
    for f in &file.faces {
        out.extend([0; 12]);
        for p in f.map(|v| file.positions[v as usize]) {
            out.extend(p.to_array().iter().flat_map(|c| (*c as f32).to_le_bytes()));
        }
        out.extend([0; 2]);
    }
    out
}

/// One real mesh in every format, with the name that its extension asks for.
fn in_every_format() -> Vec<(&'static str, Vec<u8>)> {
    let ply = std::fs::read(data("thick-cloth/t0.ply")).unwrap();
    let file = io::read_bytes("t0.ply", &ply).unwrap();
    let obj = as_obj(&file);
    vec![
        ("a.obj.gz", pack(&obj)),
        ("a.obj", obj),
        ("a.ply", as_ascii_ply(&file)),
        ("a.stl", as_ascii_stl(&file)),
        ("b.stl", as_binary_stl(&file)),
        ("b.ply.gz", pack(&ply)),
        ("b.ply", ply),
    ]
}

#[test]
fn a_real_mesh_is_the_same_in_every_format() {
    let file = io::read(data("thick-cloth/t0.ply")).unwrap();
    assert_eq!((file.positions.len(), file.faces.len()), (233, 404));
    for (name, bytes) in in_every_format() {
        let same = io::read_bytes(name, &bytes).unwrap();
        if name.ends_with("stl") {
            // welded in order of appearance; compare what the faces look like
            let shape = |m: &MeshFile| -> Vec<_> {
                let at = |v: u32| m.positions[v as usize].as_vec3();
                m.faces.iter().map(|f| f.map(at)).collect()
            };
            assert_eq!(shape(&same), shape(&file), "{name}");
            assert_eq!(same.positions.len(), 233, "{name}");
        } else {
            assert_eq!(same.faces, file.faces, "{name}");
            assert_eq!(same.positions, file.positions, "{name}");
        }
        let (mesh, _) = same.into_mesh().unwrap();
        assert_eq!(mesh.faces().len(), 404);
    }
}

#[test]
fn files_are_written_whole_and_read_back_by_their_content() {
    let folder = tempfile::tempdir().unwrap();
    let file = io::read(data("thick-cloth/t1.ply")).unwrap();
    for name in ["a.obj", "a.OBJ.gz", "a.ply", "b.ply.gz"] {
        let path = folder.path().join(name);
        io::write(&path, &file).unwrap();
        let back = io::read(&path).unwrap();
        assert_eq!(
            (back.positions, back.faces),
            (file.positions.clone(), file.faces.clone())
        );
    }
    // PLY and gzip are known by their content
    let misnamed = folder.path().join("c.dat");
    std::fs::copy(folder.path().join("b.ply.gz"), &misnamed).unwrap();
    assert_eq!(io::read(&misnamed).unwrap().faces, file.faces);
    assert_eq!(
        std::fs::read_dir(folder.path()).unwrap().count(),
        5,
        "no drafts are left"
    );
}

#[test]
fn what_cannot_be_opened_or_guessed_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let problem = |answer: Result<MeshFile, FileError>| *answer.unwrap_err().problem;
    assert_eq!(problem(io::read("no/such/file.obj")), Problem::Missing);
    assert_eq!(problem(io::read(folder.path())), Problem::IsFolder);
    assert!(matches!(
        problem(io::read_bytes("a.fbx", b"Kaydara")),
        Problem::UnknownFormat { extension: Some(e) } if e == "fbx"
    ));
    assert!(matches!(
        problem(io::read_bytes("a.obj", b"")),
        Problem::NotAMesh(_)
    ));
    assert!(matches!(
        problem(io::read_bytes("a.gz", &pack(b"hello"))),
        Problem::UnknownFormat { .. }
    ));
    assert!(matches!(
        problem(io::read_bytes("a.ply", b"solid\n")),
        Problem::NotAMesh(_)
    ));

    let file = io::read(data("thick-cloth/t0.ply")).unwrap();
    let refused = |path: &Path| *io::write(path, &file).unwrap_err().problem;
    assert!(matches!(
        refused(Path::new("a.stl")),
        Problem::UnknownFormat { .. }
    ));
    assert_eq!(refused(&folder.path().join("no/a.ply")), Problem::Missing);
}

/// What every answer to damaged input has to satisfy.
fn check(name: &str, bytes: &[u8]) -> Result<(), TestCaseError> {
    match io::read_bytes(name, bytes) {
        Err(error) => {
            prop_assert!(error.to_string().starts_with(name), "{}", error);
        }
        Ok(file) => {
            // nothing comes from nothing: a vertex takes at least three bytes, a corner two
            let size = if bytes.starts_with(b"\x1f\x8b") {
                1100 * bytes.len()
            } else {
                bytes.len()
            };
            prop_assert!(3 * file.positions.len() <= size && 2 * file.faces.len() <= size);
            let is_mesh = !file.faces.is_empty();
            prop_assert_eq!(file.into_mesh().is_ok(), is_mesh);
        }
    }
    Ok(())
}

/// A change of a file: where (as a share of its length), what kind, and a number to do it with.
fn change(bytes: &mut Vec<u8>, (place, kind, number): (f64, u8, u16)) {
    let at = ((place * bytes.len() as f64) as usize).min(bytes.len().saturating_sub(1));
    let end = (at + usize::from(number % 200)).min(bytes.len());
    match kind {
        0 => bytes.truncate(at),
        1 => bytes
            .iter_mut()
            .skip(at)
            .take(1)
            .for_each(|b| *b = number as u8),
        2 => bytes
            .iter_mut()
            .skip(at)
            .take(1)
            .for_each(|b| *b ^= 1 << (number % 8)),
        3 => bytes.insert(at, number as u8),
        4 => drop(bytes.drain(at..end)),
        5 => {
            let block = bytes[at..end].to_vec();
            bytes.splice(at..at, block);
        }
        // digits and signs change the meaning of a text without breaking its form
        _ => {
            let digits = b"0123456789-.e/ \n\\#";
            bytes.insert(at, digits[usize::from(number) % digits.len()]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn random_bytes_are_refused_or_a_mesh(bytes in prop::collection::vec(any::<u8>(), 0..400), first in 0..5usize) {
        let starts: [&[u8]; 5] = [b"", b"ply\nformat ascii 1.0\n", b"solid\n", b"v 1 2 3\nf ", b"\x1f\x8b\x08\x00"];
        let bytes = [starts[first], &bytes].concat();
        for name in ["x.obj", "x.ply", "x.stl", "x.gz"] {
            check(name, &bytes)?;
        }
    }

    #[test]
    fn damaged_real_files_are_refused_or_a_mesh(
        which in 0..7usize,
        changes in prop::collection::vec((0.0..1.0, 0..10u8, any::<u16>()), 1..6),
        early in any::<bool>(),
    ) {
        let (name, mut bytes) = in_every_format().swap_remove(which);
        for (place, kind, number) in changes {
            // headers are short but decide most
            let place = if early { place * 0.03 } else { place };
            change(&mut bytes, (place, kind, number));
        }
        check(name, &bytes)?;
    }
}
