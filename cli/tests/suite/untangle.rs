//! `percale untangle` as a user sees it: files, exit codes, what is kept.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::support::finished_in;

/// A square of quads with a corner of another sheet through it; comments, normals and materials are not ours.
const TANGLED: &str = "# by hand\nmtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 1 0 1\nv 0 0 1\nv 0.4 -0.1 0.5\nv 0.6 0.5 0.3\nv 0.6 0.5 0.7\nv 5 5 5\nv 6 5 5\nv 6 6 5\n\
                       vn 0 1 0\nusemtl cloth\nf 1//1 2//1 3//1 4//1\nf 5 6 7\nf 8 9 10\nstitch 1 2 3 0.5\n";

fn untangle(folder: &Path, arguments: &[&str]) -> Output {
    finished_in(folder, &[&["untangle"], arguments].concat())
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("a.obj", TANGLED);
    write("clean.obj", &TANGLED.replace("0.4 -0.1 0.5", "0.4 0.1 0.5"));
    write("broken.obj", "v 0 0 0\nf 1 2 3\n");
    fs::create_dir(folder.path().join("rest")).unwrap();
    write("rest/short.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    write("rest/turned.obj", &TANGLED.replace("f 5 6 7", "f 6 7 5"));
    write("rest/point.obj", &TANGLED.replace("v 1 0 1", "v 1 0 0"));
    write("rest/nan.obj", &TANGLED.replace("v 1 0 1", "v 1 nan 1"));
    write("all.txt", "0 1 2 3 4 5 6");
    folder
}

#[test]
fn a_cured_file_differs_in_coordinates_only_and_passes_the_check() {
    let folder = folder();
    let output = untangle(
        folder.path(),
        &["a.obj", "-o", "b.obj", "--json", "--render", "b.png"],
    );
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&report["intersections_after"], &report["certified"]),
        (&0.into(), &true.into())
    );
    for key in ["paths", "intersections_before", "steps", "max_displacement"] {
        assert!(!report[key].is_null(), "{key}");
    }
    let cured = fs::read_to_string(folder.path().join("b.obj")).unwrap();
    assert_eq!(cured.lines().count(), TANGLED.lines().count());
    for (old, new) in TANGLED.lines().zip(cured.lines()) {
        assert!(old == new || old.starts_with("v "), "{old} {new}");
    }
    assert!(cured.contains("v 6 6 5\n"), "far vertices keep their text");
    assert!(
        fs::read(folder.path().join("b.png"))
            .unwrap()
            .starts_with(b"\x89PNG")
    );
    assert_eq!(
        finished_in(folder.path(), &["check", "b.obj"])
            .status
            .code(),
        Some(0)
    );
    // once more changes nothing
    let again = untangle(folder.path(), &["b.obj", "-o", "c.obj"]);
    assert_eq!(again.status.code(), Some(0));
    assert_eq!(
        fs::read_to_string(folder.path().join("c.obj")).unwrap(),
        cured
    );
}

#[test]
fn what_cannot_move_is_left_by_name_and_written_all_the_same() {
    let folder = folder();
    let output = untangle(
        folder.path(),
        &["a.obj", "-o", "b.obj", "--keep", "all.txt"],
    );
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("left: ") && text.contains("nothing along it may move"),
        "{text}"
    );
    assert_eq!(
        fs::read_to_string(folder.path().join("b.obj")).unwrap(),
        TANGLED
    );
}

#[test]
fn bad_input_ends_with_2_and_writes_nothing() {
    let folder = folder();
    for arguments in [
        &["broken.obj", "-o", "b.obj"][..],
        &["nothing.obj", "-o", "b.obj"],
        &["a.obj", "-o", "b.xyz"],
        &["a.obj", "-o", "a.obj"],
        &["a.obj", "-o", "b.obj", "--keep", "a.obj"],
        &["a.obj", "-o", "b.obj", "--rest", "rest/short.obj"],
        &["a.obj", "-o", "b.obj", "--rest", "rest/turned.obj"],
        &["a.obj", "-o", "b.obj", "--rest", "rest/point.obj"],
        &["a.obj", "-o", "b.obj", "--rest", "rest/nan.obj"],
        &["a.obj", "-o", "b.obj", "--rest", "b.obj"],
    ] {
        let output = untangle(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(!output.stderr.is_empty() && !folder.path().join("b.obj").exists());
    }
    assert_eq!(
        fs::read_to_string(folder.path().join("a.obj")).unwrap(),
        TANGLED
    );
}

#[test]
fn a_folder_gives_a_folder_and_a_line_for_each() {
    let folder = folder();
    let output = untangle(
        folder.path(),
        &["*.obj", "-o", "out", "--jobs", "2", "--json"],
    );
    assert_eq!(output.status.code(), Some(2), "one of them is broken");
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<Value> = text
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[0]["file"], "a.obj");
    assert!(lines[1]["error"].as_str().unwrap().contains("broken.obj"));
    assert_eq!(lines[2]["moved"], 0);
    let names = fs::read_dir(folder.path().join("out")).unwrap();
    assert_eq!(names.count(), 2);
    let clean = |name: &str| fs::read(folder.path().join(name)).unwrap();
    assert_eq!(clean("out/clean.obj"), clean("clean.obj"));
}
