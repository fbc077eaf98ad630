//! `percale check` as a user sees it: published truth, numbering, exit codes, messages.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::finished;

fn data(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data");
    root.join(name).to_str().unwrap().into()
}

fn check(code: i32, arguments: &[&str]) -> Value {
    let output = finished(&[&["check", "--json"], arguments].concat());
    assert_eq!(
        output.status.code(),
        Some(code),
        "{arguments:?}: {output:?}"
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

fn refusal(arguments: &[&str]) -> String {
    let output = finished(&[&["check"], arguments].concat());
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
    assert!(output.stdout.is_empty(), "errors do not go to stdout");
    String::from_utf8(output.stderr).unwrap()
}

/// Kind and vertices; a face's corners, an edge's ends and two edges in any order are the same.
type Key = (String, [Vec<u32>; 2]);

fn key(kind: &str, vertices: &[u32]) -> Key {
    let sorted = |part: &[u32]| {
        let mut part = part.to_vec();
        part.sort_unstable();
        part
    };
    let (first, second) = vertices.split_at(if kind == "vf" { 1 } else { 2 });
    let mut features = [sorted(first), sorted(second)];
    if kind == "ee" {
        features.sort();
    }
    (kind.into(), features)
}

/// Published pairs that meet, with the time of impact.
fn published() -> BTreeMap<Key, f64> {
    let mut pairs = BTreeMap::new();
    for kind in ["vf", "ee"] {
        let file = fs::File::open(data(&format!("cloth-funnel/pairs_{kind}.csv.gz"))).unwrap();
        let mut text = String::new();
        flate2::read::GzDecoder::new(file)
            .read_to_string(&mut text)
            .unwrap();
        for line in text.lines().skip(1) {
            let columns: Vec<&str> = line.split(',').collect();
            let vertices: Vec<u32> = columns[..4].iter().map(|v| v.parse().unwrap()).collect();
            if columns[4] == "1" {
                pairs.insert(key(kind, &vertices), columns[5].parse().unwrap());
            }
        }
    }
    pairs
}

#[test]
fn the_impacts_of_the_funnel_are_those_published_in_every_mode() {
    let folder = tempfile::tempdir().unwrap();
    let (start, end) = (
        data("cloth-funnel/227.ply.gz"),
        data("cloth-funnel/228.ply.gz"),
    );
    let truth = published();
    assert_eq!(truth.len(), 134);
    for mode in ["fast", "exact", "cubic"] {
        let csv = folder.path().join(mode);
        let csv = csv.to_str().unwrap();
        let answer = check(1, &["--from", &start, &end, "--ccd", mode, "--pairs", csv]);
        let text = fs::read_to_string(csv).unwrap();
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("kind,v0,v1,v2,v3,time"));
        let mut found = BTreeMap::new();
        for line in lines {
            let columns: Vec<&str> = line.split(',').collect();
            let vertices: Vec<u32> = columns[1..5].iter().map(|v| v.parse().unwrap()).collect();
            let time: f64 = columns[5].parse().unwrap();
            assert!(
                found.insert(key(columns[0], &vertices), time).is_none(),
                "once each"
            );
        }
        let first = check(1, &["--from", &start, &end, "--ccd", mode, "--first"]);
        assert_eq!(
            (&first["impacts"], &first["only_first"]),
            (&1.into(), &true.into())
        );
        assert_eq!(first["first_time"], answer["first_time"]);
        assert_eq!(first["pairs"][0], answer["pairs"][0]);
        for (pair, time) in &truth {
            // the published time is rounded once when it is read, hence not below it by more than that
            assert!(found[pair] <= time.next_up(), "{pair:?} in {mode}");
        }
        if mode == "exact" {
            assert!(found.keys().eq(truth.keys()), "none else");
            assert_eq!(answer["uncertain"], 0);
        }
        assert_eq!(answer["impacts"], found.len());
        let first = found.values().copied().min_by(f64::total_cmp).unwrap();
        assert_eq!(answer["first_time"], first);
        let by_kind = |kind| found.keys().filter(|k| k.0 == kind).count();
        assert_eq!(answer["vertex_face"], by_kind("vf"));
        assert_eq!(answer["edge_edge"], by_kind("ee"));
    }
    let still = check(0, &["--from", &start, &start]);
    assert_eq!(
        check(0, &["--from", &start, &start, "--first"])["impacts"],
        0
    );
    assert_eq!(still["impacts"], 0);
    assert_eq!(still["first_time"], Value::Null);
}

#[test]
fn crossings_are_counted_by_body_and_listed() {
    let folder = tempfile::tempdir().unwrap();
    let csv = folder.path().join("pairs.csv");
    let answer = check(
        1,
        &[
            &data("cloth-funnel/227.ply.gz"),
            "--pairs",
            csv.to_str().unwrap(),
        ],
    );
    assert_eq!(answer["edge_face"], 285);
    let bodies = answer["by_body"].as_array().unwrap();
    assert!(
        bodies
            .iter()
            .all(|b| b["a"] != "227/0" && b["b"] != "227/0"),
        "the cloth is clean: {bodies:?}"
    );
    let sum = |key: &str| bodies.iter().map(|b| b[key].as_u64().unwrap()).sum::<u64>();
    assert_eq!(sum("edge_face"), 285);
    assert_eq!(sum("intersections"), answer["intersections"]);
    let text = fs::read_to_string(csv).unwrap();
    assert!(text.starts_with("face_a,face_b\n"));
    assert_eq!(text.lines().count() as u64 - 1, sum("intersections"));
    let pairs = answer["pairs"].as_array().unwrap();
    assert_eq!(
        text.lines().nth(1).unwrap(),
        format!("{},{}", pairs[0][0], pairs[0][1])
    );
    assert!(answer.get("frames").is_none());
}

/// Two triangles through each other, in two files, and one of them moved out of the way.
fn two_meshes(folder: &Path) -> [String; 3] {
    let files = [
        ("a.obj", "v 0 0 0\nv 2 0 0\nv 0 2 0\nf 1 2 3\n"),
        (
            "b.obj",
            "o spike\nv .5 .5 -1\nv .5 .5 1\nv 5 5 0\nf 1 2 3\n",
        ),
        ("c.obj", "v .5 .5 -3\nv .5 .5 -1\nv 5 5 -2\nf 1 2 3\n"),
    ];
    files.map(|(name, text)| {
        let path = folder.join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().into()
    })
}

#[test]
fn several_meshes_are_numbered_through() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b, c] = two_meshes(folder.path());
    assert_eq!(check(0, &[&a])["intersections"], 0);
    assert_eq!(check(0, &[&a, &c])["edge_face"], 0);
    let crossed = check(1, &[&a, &b]);
    assert_eq!(crossed["pairs"], serde_json::json!([[0, 1]]));
    assert_eq!(crossed["by_body"][0]["a"], "a");
    assert_eq!(crossed["by_body"][0]["b"], "b");
    let pattern = folder.path().join("[ab].obj");
    assert_eq!(check(1, &[pattern.to_str().unwrap()]), crossed);

    // the spike is pulled out through the triangle
    let motion = check(1, &["--from", &a, "--from", &b, &a, &c]);
    assert_eq!(motion["impacts"], motion["pairs"].as_array().unwrap().len());
    let spike = motion["pairs"]
        .as_array()
        .unwrap()
        .iter()
        .find(|p| p["kind"] == "vf")
        .unwrap();
    assert_eq!(spike["vertices"], serde_json::json!([4, 0, 1, 2]));
    assert!((spike["time"].as_f64().unwrap() - 0.5).abs() < 1e-3);

    let text = finished(&["check", &a, &b]);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(
        text.contains("1 intersections") && text.contains("a - b"),
        "{text}"
    );
}

#[test]
fn every_frame_of_a_result_folder_is_checked() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("drop").to_str().unwrap().to_string();
    let small = [
        "--set",
        "cloth.0.shape.cells=[4, 4]",
        "--frames",
        "3",
        "-o",
        &out,
    ];
    let run = finished(&[&["run", "drop"], small.as_slice()].concat());
    assert!(run.status.success(), "{run:?}");
    let csv = folder.path().join("pairs.csv");
    let answer = check(0, &[&out, "--pairs", csv.to_str().unwrap()]);
    assert_eq!(answer["intersections"], 0);
    assert_eq!(answer["frames"].as_array().unwrap().len(), 4);
    assert_eq!(fs::read_to_string(&csv).unwrap(), "frame,face_a,face_b\n");

    // a frame that somebody has changed is not one of the run's
    let cache = PathBuf::from(&out).join("objects/cloth.x64");
    let mut bytes = fs::read(&cache).unwrap();
    let middle_of_frame_2 = bytes.len() * 5 / 8;
    bytes[middle_of_frame_2] ^= 1;
    fs::write(&cache, bytes).unwrap();
    let message = refusal(&[&out]);
    assert!(
        message.contains("cloth.x64 frame 2") && message.contains("checksum"),
        "{message}"
    );
}

#[test]
fn pairs_of_a_result_folder_begin_with_the_frame() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("drop").to_str().unwrap().to_string();
    // the cloth starts inside the ball
    let tangled = [
        "--set",
        "cloth.0.shape.cells=[4, 4]",
        "--set",
        "cloth.0.position=[0, 0, 0]",
        "--set",
        "obstacle.ball.position=[0, 0, 0]",
        "-o",
        &out,
    ];
    let run = finished(&[&["run", "drop"], tangled.as_slice()].concat());
    assert_eq!(run.status.code(), Some(2), "{run:?}");
    let csv = folder.path().join("pairs.csv");
    let answer = check(1, &[&out, "--pairs", csv.to_str().unwrap()]);
    let frames = answer["frames"].as_array().unwrap();
    assert_eq!(frames.len(), 1);
    assert!(frames[0]["intersections"].as_u64().unwrap() > 0);
    assert_eq!(frames[0]["intersections"], answer["intersections"]);
    let [a, b] = [1, 2].map(|k| answer["pairs"][0][k].as_u64().unwrap());
    assert_eq!(answer["pairs"][0][0], 0);
    let text = fs::read_to_string(&csv).unwrap();
    assert_eq!(text.lines().nth(1).unwrap(), format!("0,{a},{b}"));
}

#[test]
fn what_cannot_be_checked_is_named_with_exit_code_2() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b, _] = two_meshes(folder.path());
    let path = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_string()
    };
    assert!(refusal(&["nothing.obj"]).contains("nothing.obj: no such file"));
    assert!(refusal(&["*.nothing"]).contains("no file matches"));
    assert!(refusal(&[]).contains("required"));
    let bad = path("bad.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 7\n");
    assert!(refusal(&[&bad]).contains("bad.obj:4: the face uses vertex 7"));
    let points = path("points.obj", b"v 0 0 0\nv 2 0 0\nv 0 2 1\n");
    assert!(refusal(&[&points]).contains("no faces"));
    assert!(refusal(&[folder.path().to_str().unwrap()]).contains("no result folder"));
    assert!(refusal(&[folder.path().to_str().unwrap(), &a]).contains("alone"));
    let two = path("two.obj", b"v 0 0 0\nv 2 0 0\nv 0 2 0\nv 0 0 2\nf 1 2 3\n");
    assert!(refusal(&["--from", &two, &b]).contains("3 vertices, but"));
    assert!(refusal(&["--from", &a, &b, &b]).contains("1 start files for 2 end files"));
    assert!(
        refusal(&[&a, "--ccd", "exact"]).contains("--from"),
        "--ccd alone means nothing"
    );
    assert!(refusal(&[&a, "--pairs", "/no/such/folder/p.csv"]).contains("cannot write the pairs"));
    // vertices alone are enough for the end of a motion
    assert_eq!(check(0, &["--from", &a, &points])["impacts"], 0);
}

#[test]
fn the_answer_does_not_depend_on_the_number_of_threads() {
    let (start, end) = (
        data("cloth-funnel/227.ply.gz"),
        data("cloth-funnel/228.ply.gz"),
    );
    let answer = |threads| {
        let motion = finished(&[
            "check",
            "--json",
            "--threads",
            threads,
            "--from",
            &start,
            &end,
        ]);
        let still = finished(&["check", "--json", "--threads", threads, &start]);
        (motion.stdout, still.stdout)
    };
    assert_eq!(answer("1"), answer("2"));
}

#[test]
fn a_start_that_crosses_is_reported_beside_the_impacts() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    // two triangles across each other, and a third that is far away
    let crossing =
        "v 0 0 0\nv 1 0 0\nv 0 0 1\nv 0.2 -1 0.2\nv 0.2 1 0.2\nv 0.3 1 0.9\nf 1 2 3\nf 4 5 6\n";
    let far = |height: u32| format!("v 9 {height} 0\nv 9 {height} 1\nv 8 {height} 1\nf 7 8 9\n");
    let start = write("a.obj", &(crossing.to_owned() + &far(0)));
    let end = write("b.obj", &(crossing.to_owned() + &far(1)));
    let report = check(0, &["--from", &start, &end]);
    assert_eq!(report["start_intersections"], 1);
    assert_eq!(report["impacts"], 0, "nothing that crosses moves");
    let output = finished(&["check", "--from", &start, &end]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("1 pairs of faces cross or touch already at the start"),
        "{text}"
    );

    let apart = write("c.obj", &far(0).replace("f 7 8 9", "f 1 2 3"));
    let report = check(0, &["--from", &apart, &apart]);
    assert_eq!(report["start_intersections"], 0);
}
