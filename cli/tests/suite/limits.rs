//! Values that no run can take are refused at once, costly ones are announced, and sizes beyond memory are no crash.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::support::{PERCALE, finished_in};

const SCENE: &str = r#"frames = 1
fps = 60
[[cloth]]
name = "sheet"
shape = { kind = "sheet", size = [1.0, 1.0], cells = [6, 6] }
position = [0.0, 0.5, 0.0]
[[obstacle]]
name = "ball"
shape = { kind = "sphere", radius = 0.3, subdivisions = 1 }
"#;

/// The integrator whose loops are as short as what is stiff asks for.
const NEWMARK: &str = "dynamics.integrator={kind='newmark'}";

/// Runs the scene with changes; exit code and stderr. Nothing here may take longer than a build under load.
fn run(changes: &[&str]) -> (i32, String) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("s.toml"), SCENE).unwrap();
    let mut arguments = vec!["run", "s.toml", "-o", "out"];
    for change in changes {
        arguments.extend(["--set", change]);
    }
    let start = Instant::now();
    let output = finished_in(folder.path(), &arguments);
    let took = start.elapsed();
    assert!(took < Duration::from_secs(20), "{changes:?}: {took:?}");
    let stderr = String::from_utf8(output.stderr).unwrap();
    let lines = stderr.lines().filter(|line| !line.starts_with("frame ")); // progress
    let stderr = lines.map(|line| format!("{line}\n")).collect();
    (output.status.code().unwrap(), stderr)
}

#[test]
fn values_that_cannot_end_or_make_no_sense_are_refused_by_name() {
    // change, key, what else the message says
    let cases = [
        (
            "cloth.0.fabric.stretch=[1e15,1e15]",
            "stretch",
            "at most 1e10 N/m",
        ),
        (
            "cloth.0.fabric.bend=[1e9,1e9,1e9]",
            "bend",
            "at most 1e5 N·m",
        ),
        ("cloth.0.fabric.density=1e-12", "density", "from 1e-6"),
        ("thickness=1e9", "thickness", "more than the whole scene"),
        ("fps=1e-300", "fps", "at least 0.001"),
        ("fps=1e-3", "fps", "loops per frame"),
        ("fps=1e300", "fps", "at most 1e9"),
        (
            "dynamics.air.wind=[1e9,0,0]",
            "dynamics.air.wind",
            "at most 1e4 m/s",
        ),
        (
            "dynamics.gravity=[0,-1e30,0]",
            "dynamics.gravity",
            "at most 1e6",
        ),
        (
            "cloth.0.velocity=[1e20,0,0]",
            "cloth.0.velocity",
            "at most 1e4 m/s",
        ),
        (
            "dynamics.integrator={kind='implicit',max_loop=0}",
            "dynamics.integrator.max_loop",
            "positive",
        ),
        (
            "dynamics.integrator={kind='implicit',max_loop=1e-9}",
            "dynamics.integrator.max_loop",
            "loops per frame of 49 vertices, and no run would end; try a longer one",
        ),
        ("cloth.0.shape.size=[1e-5,1.0]", "cloth.0.shape", "needles"),
        (
            "cloth.0.shape.cells=[100000,100000]",
            "cloth.0.shape.cells",
            "at most 20000000",
        ),
        (
            "cloth.0.copies.count=10000",
            "cloth.0.copies.step",
            "in one place",
        ),
        (
            "obstacle.0.shape.subdivisions=20",
            "subdivisions",
            "at most 10",
        ),
    ];
    let newmark = [
        (
            "cloth.0.shape.size=[1e-5,1e-5]",
            "cloth.0.shape",
            "lengths are in metres",
        ),
        ("cloth.0.shape.size=[1e-5,1.0]", "cloth.0.shape", "sliver"),
    ];
    let cases = cases.map(|case| (case, None)).into_iter();
    let all = cases.chain(newmark.map(|case| (case, Some(NEWMARK))));
    for ((change, key, more), integrator) in all {
        let changes: Vec<&str> = integrator.into_iter().chain([change]).collect();
        let (code, stderr) = run(&changes);
        assert_eq!(code, 2, "{change}: {stderr}");
        let error = stderr
            .lines()
            .find(|line| line.starts_with("error: s.toml"));
        let error = error.unwrap_or_else(|| panic!("{change}: {stderr}"));
        assert!(
            error.contains(key) && error.contains(more),
            "{change}: {error}"
        );
    }
}

#[test]
fn what_costs_much_is_said_before_it_starts() {
    let stiff = ["cloth.0.fabric.stretch=[1e8,1e8]", "fps=100"];
    let (code, stderr) = run(&stiff);
    assert_eq!(
        (code, stderr.as_str()),
        (0, ""),
        "what is stiff costs nothing"
    );
    let (code, stderr) = run(&[NEWMARK, stiff[0], stiff[1]]);
    assert_eq!(code, 0, "{stderr}");
    assert!(
        stderr.contains("loops per frame: cloth.0.fabric.stretch = [100000000.0, 100000000.0]; try a softer fabric"),
        "{stderr}"
    );
    let (code, stderr) = run(&["fps=0.2", "obstacle=[]"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(
        stderr.contains("4,800 loops per frame: fps = 0.2; try more frames"),
        "{stderr}"
    );
    let (code, stderr) = run(&[
        "dynamics.integrator={kind='implicit',max_loop=1e-5}",
        "obstacle=[]",
    ]);
    assert_eq!(code, 0, "{stderr}");
    let says = "1,667 loops per frame: dynamics.integrator.max_loop = 0.00001; try a longer one";
    assert!(stderr.contains(says), "{stderr}");
    let (code, stderr) = run(&[]);
    assert_eq!(
        (code, stderr.as_str()),
        (0, ""),
        "nothing to say about an ordinary scene"
    );
}

#[test]
fn doubtful_sizes_are_named() {
    let (_, stderr) = run(&["thickness=0.5"]);
    assert!(
        stderr.contains("'sheet' keeps a thickness of 0.5 m, more than its edges are long"),
        "{stderr}"
    );
    let (_, stderr) = run(&["obstacle.0.shape.radius=3e-4"]);
    assert!(
        stderr.contains("'ball' measures") && stderr.contains("times smaller than the cloth"),
        "{stderr}"
    );
    let (_, stderr) = run(&[
        "obstacle.0.shape.radius=300",
        "obstacle.0.position=[0,-301,0]",
    ]);
    assert!(stderr.contains("times larger than the cloth"), "{stderr}");
}

#[test]
fn sizes_beyond_memory_and_machine_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("s.toml"), SCENE).unwrap();
    let refused = |arguments: &[&str], what: &str| {
        let output = finished_in(folder.path(), arguments);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
        assert!(stderr.contains(what), "{arguments:?}: {stderr}");
    };
    for count in ["10000", "99999999999999999999", "0", "-1", "x"] {
        refused(
            &["run", "s.toml", &format!("--threads={count}")],
            "from 1 to 1024",
        );
    }
    let header = "ply\nformat ascii 1.0\nelement vertex 4000000000\nproperty float x\nproperty float y\nproperty float z\n\
                  element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n";
    fs::write(folder.path().join("big.ply"), header).unwrap();
    refused(&["check", "big.ply"], "promises 4000000000");
    let mut stl = vec![b' '; 80];
    stl.extend([255; 4]);
    fs::write(folder.path().join("big.stl"), stl).unwrap();
    refused(&["check", "big.stl"], "4294967295 facets");
    fs::write(
        folder.path().join("far.obj"),
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4000000000\n",
    )
    .unwrap();
    refused(&["check", "far.obj"], "4000000000");
    refused(
        &["render", "far.obj", "--size", "100000x100000"],
        "16 to 8192",
    );
    let run = finished_in(
        folder.path(),
        &["run", "s.toml", "-o", "out", "--set", "frames=3"],
    );
    assert!(run.status.success(), "{run:?}");
    refused(
        &["render", "out", "--sheet", "--size", "8192x8192"],
        "268 million pixels",
    );
}

#[cfg(unix)]
#[test]
fn a_scene_that_does_not_fit_is_refused_before_it_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let scene = SCENE.replace("cells = [6, 6]", "cells = [2000, 2000]");
    fs::write(folder.path().join("s.toml"), scene).unwrap();
    let output = Command::new("sh")
        .args(["-c", "ulimit -v 4194304; exec \"$0\" run s.toml -o out"])
        .arg(PERCALE)
        .current_dir(folder.path())
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(
        stderr.contains("s.toml:5: cloth.0.shape: about 4,004,000 vertices"),
        "{stderr}"
    );
}

#[test]
fn a_flat_polygon_of_a_hundred_thousand_corners_is_read_and_checked() {
    let folder = tempfile::tempdir().unwrap();
    let n = 100_000;
    let corner = |i: usize| {
        let angle = std::f64::consts::TAU * i as f64 / n as f64;
        format!("v {} {} 0\n", angle.cos(), angle.sin())
    };
    let mut text: String = (0..n).map(corner).collect();
    text += "f";
    text.extend((1..=n).map(|i| format!(" {i}")));
    text += "\n";
    fs::write(folder.path().join("disc.obj"), text).unwrap();
    let start = Instant::now();
    let output = finished_in(folder.path(), &["check", "disc.obj"]);
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(
        stdout.contains("99998 triangles: 0 intersections"),
        "{stdout}"
    );
    assert!(
        start.elapsed() < Duration::from_secs(20),
        "{:?}",
        start.elapsed()
    );
}
