//! `check --paths` and `render --paths` as a user sees them.

use std::fs;

use serde_json::Value;

use crate::support::finished;

#[test]
fn paths_are_listed_with_types_partners_and_insides() {
    let output = finished(&["check", "--paths", "--json", "tangles/bb-ii"]);
    assert_eq!(
        output.status.code(),
        Some(1),
        "something crosses: {output:?}"
    );
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let paths = report["paths"].as_array().unwrap();
    assert_eq!(paths.len(), 2);
    for (number, path) in paths.iter().enumerate() {
        assert_eq!(path["type"], "BB/II");
        assert_eq!(path["path"], ["BB", "II"][number]);
        assert_eq!(path["partner"], 1 - number);
        assert_eq!(path["segments"], report["intersections"]);
        assert!(path["inside"].as_u64().unwrap() > 0);
    }
    let text = finished(&["check", "--paths", "tangles/eight"]);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(
        text.contains("EIGHT       1") && text.contains("CLOSED side"),
        "{text}"
    );
    let plain = finished(&["check", "--json", "tangles/eight"]);
    let plain: Value = serde_json::from_slice(&plain.stdout).unwrap();
    assert!(plain.get("paths").is_none(), "only if asked for");
}

#[test]
fn polylines_are_written_for_other_programs() {
    let folder = tempfile::tempdir().unwrap();
    for (name, start) in [
        ("paths.obj", "o CLOSED_0"),
        ("paths.ply", "ply\nformat ascii"),
    ] {
        let file = folder.path().join(name);
        let arguments = [
            "check",
            "--paths",
            "tangles/closed",
            "--polylines",
            file.to_str().unwrap(),
        ];
        assert_eq!(finished(&arguments).status.code(), Some(1));
        assert!(fs::read_to_string(&file).unwrap().starts_with(start));
    }
    let refused = finished(&[
        "check",
        "--paths",
        "tangles/closed",
        "--polylines",
        "paths.stl",
    ]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains(".obj or .ply"));
}

#[test]
fn a_mesh_is_drawn_with_its_paths_in_their_colours() {
    let folder = tempfile::tempdir().unwrap();
    let picture = |name: &str, extra: &[&str]| {
        let file = folder.path().join(name);
        let arguments = [
            "render",
            "tangles/closed",
            "--size",
            "160x120",
            "-o",
            file.to_str().unwrap(),
        ];
        let output = finished(&[&arguments, extra].concat());
        assert!(output.status.success(), "{output:?}");
        let decoder = png::Decoder::new(std::io::BufReader::new(fs::File::open(&file).unwrap()));
        let mut reader = decoder.read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        pixels
    };
    let count =
        |pixels: &[u8], wanted: [u8; 3]| pixels.chunks_exact(3).filter(|p| **p == wanted).count();
    let red = percale::untangle::Kind::Closed.colour();
    assert_eq!(count(&picture("plain.png", &[]), red), 0);
    assert!(count(&picture("paths.png", &["--paths"]), red) > 20);
    let refused = finished(&["render", "tangles/closed", "--sheet"]);
    assert_eq!(refused.status.code(), Some(2));
}
