//! A person at the terminal: Ctrl-C, progress, summaries, the version.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::percale;

/// A run whose frames take long enough to press Ctrl-C twice within one.
fn long_frames(out: &Path, more: &[&str]) -> Command {
    let mut command = percale(&[
        "run",
        "drop",
        "--json",
        "--frames",
        "2",
        "--set",
        "cloth.0.shape.cells=[36, 36]",
        "--set",
        "fps=4",
    ]);
    command.arg("-o").arg(out).args(more);
    command
}

fn interrupt(child: &Child) {
    let id = child.id().to_string();
    let sent = Command::new("kill").args(["-INT", &id]).status().unwrap();
    assert!(sent.success());
}

/// Waits until something is so.
fn until(mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(120);
    while !is_so() {
        assert!(Instant::now() < deadline, "it does not happen");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn drafts(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    files
        .filter(|path| path.to_str().unwrap().ends_with(".part"))
        .collect()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn ctrl_c_is_answered_at_once_and_the_second_one_stops_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let [whole, out] = ["whole", "out"].map(|name| folder.path().join(name));
    let hash = |output: &Output| {
        assert!(output.status.success(), "{output:?}");
        let totals: Value = serde_json::from_slice(&output.stdout).unwrap();
        totals["hash"].as_str().unwrap().to_string()
    };
    let expected = hash(&long_frames(&whole, &[]).output().unwrap());

    let mut child = long_frames(&out, &[]).spawn().unwrap();
    let journal = out.join("frames.jsonl");
    until(|| fs::read_to_string(&journal).is_ok_and(|text| text.lines().count() == 1));
    // from the first report to the second frame it is a moment; the frame itself takes long
    std::thread::sleep(Duration::from_millis(500));
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut line = || lines.next().map_or(String::new(), Result::unwrap);
    interrupt(&child);
    let clock = Instant::now();
    assert_eq!(
        line(),
        "stopping after this frame; press Ctrl-C again to stop now"
    );
    interrupt(&child);
    let answer = line();
    assert!(answer.starts_with("stopped at once"), "{answer}");
    assert!(answer.contains("--resume"), "{answer}");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(clock.elapsed() < Duration::from_secs(5), "at once");
    assert_eq!(fs::read_to_string(&journal).unwrap().lines().count(), 1);

    let resumed = long_frames(&out, &["--resume"]).output().unwrap();
    assert_eq!(hash(&resumed), expected, "the same bits");
}

/// A result of many frames, most of it a ball that does not move.
fn recording(folder: &Path) -> PathBuf {
    let out = folder.join("result");
    let run = percale(&[
        "run",
        "drop",
        "--frames",
        "60",
        "--set",
        "cloth.0.shape.cells=[3, 3]",
        "--set",
        "cloth.0.position=[0, 9, 0]",
        "--set",
        "obstacle.ball.shape.subdivisions=5",
        "-o",
        out.to_str().unwrap(),
    ]);
    let run = { run }.output().unwrap();
    assert!(run.status.success(), "{run:?}");
    out
}

/// A command that is interrupted as soon as a file appears whose name starts so.
fn interrupted(arguments: &[&str], out: &Path, is_under_way: &str) -> Output {
    fs::create_dir_all(out).unwrap();
    let child = percale(arguments).arg(out).spawn().unwrap();
    until(|| {
        let mut files = fs::read_dir(out).unwrap();
        files.any(|file| {
            let name = file.unwrap().file_name();
            name.to_str().unwrap().starts_with(is_under_way)
        })
    });
    interrupt(&child);
    child.wait_with_output().unwrap()
}

#[test]
fn ctrl_c_leaves_no_half_written_files() {
    let folder = tempfile::tempdir().unwrap();
    let result = recording(folder.path());
    let result = result.to_str().unwrap();
    for (name, arguments, is_under_way) in [
        (
            "obj",
            &["export", result, "--format", "obj", "-o"][..],
            "frame_0001.obj",
        ),
        (
            "usda",
            &["export", result, "--format", "usda", "-o"],
            ".scene.usda.",
        ),
        ("png", &["render", result, "-o"], "0001.png"),
    ] {
        // on a busy machine all may be written before the signal arrives
        let (out, output) = (0..20)
            .map(|attempt| {
                let out = folder.path().join(format!("{name}-{attempt}"));
                let output = interrupted(arguments, &out, is_under_way);
                (out, output)
            })
            .find(|(_, output)| !output.status.success())
            .expect("the signal arrives in time");
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(130), "{name}: {message}");
        assert!(message.contains("stopping after this"), "{name}: {message}");
        assert!(message.contains("whole"), "{name}: {message}");
        assert!(drafts(&out).is_empty(), "{name}: {:?}", drafts(&out));
        if name == "usda" {
            assert!(!out.join("scene.usda").exists());
        }
    }
}

#[test]
fn ctrl_c_ends_a_comparison_after_the_frame_with_what_it_has() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let mut command = percale(&[
        "compare",
        "drop",
        "--small",
        "--frames",
        "5000",
        "--pictures",
        "0",
        "--response",
        "impulses,hold;inelastic",
    ]);
    let mut child = command.arg("-o").arg(&out).spawn().unwrap();
    until(|| out.exists());
    interrupt(&child);
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let answer = lines.next().unwrap().unwrap();
    assert!(answer.contains("stopping after this frame"), "{answer}");
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    assert!(rest.last().unwrap().contains("of 5000"), "{rest:?}");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let methods: Value =
        serde_json::from_str(&fs::read_to_string(out.join("compare.json")).unwrap()).unwrap();
    let frames: Vec<usize> = (0..2)
        .map(|k| methods[k]["frames"].as_array().unwrap().len())
        .collect();
    assert!(frames[0] > 0 && frames[0] == frames[1], "{frames:?}");
    assert!(out.join("compare.html").exists() && drafts(&out).is_empty());
}

#[test]
fn a_log_gets_lines_and_the_summary_names_both_clocks() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let run = |more: &[&str]| {
        let mut command = percale(&["run", "drop", "--small", "-o", out.to_str().unwrap()]);
        command.args(more).output().unwrap()
    };
    let output = run(&["--frames", "2"]);
    let (summary, log) = (text(&output.stdout), text(&output.stderr));
    assert!(log.starts_with("frame 2 of 2, 0:0"), "{log}");
    assert!(summary.contains(" s of CPU"), "{summary}");
    assert!(!log.contains('\u{1b}'), "no bar: {log:?}");

    // frames of the earlier run are not counted as done by this one
    let log = text(&run(&["--frames", "3", "--resume"]).stderr);
    assert!(log.starts_with("frame 3 of 3, 0:0"), "{log}");

    for more in [&["--json"][..], &[]] {
        let nothing = run(&[&["--frames", "0", "--force"][..], more].concat());
        assert!(nothing.status.success(), "{nothing:?}");
        let summary = text(&nothing.stdout);
        assert!(!summary.contains("-0.0"), "{summary}");
    }
}

#[test]
fn the_summary_says_nothing_impossible_of_cloth_that_is_driven() {
    // a ball comes up from below, faster than the cloth falls
    let folder = tempfile::tempdir().unwrap();
    let scene = folder.path().join("push.toml");
    let push = r#"
frames = 8
fps = 30
repulsion = { in_loops = false } # else nothing is left to the response
[[cloth]]
name = "cloth"
shape = { kind = "sheet", size = [1, 1], cells = [10, 10] }
[[obstacle]]
name = "ball"
position = [0, -0.25, 0]
shape = { kind = "sphere", radius = 0.2, subdivisions = 2 }
motion = [{ kind = "keyframed", keys = [{ time = 0 }, { time = 1, move = [0, 2, 0] }] }]
"#;
    fs::write(&scene, push).unwrap();
    let out = folder.path().join("out");
    let run = |more: &[&str]| {
        let arguments = ["run", scene.to_str().unwrap(), "-o", out.to_str().unwrap()];
        percale(&[&arguments[..], more].concat()).output().unwrap()
    };
    let summary = text(&run(&[]).stdout);
    let totals: Value = serde_json::from_slice(&run(&["--json", "--force"]).stdout).unwrap();
    assert!(totals["impacts"]["vertex_face"].as_u64().unwrap() > 0);
    for share in summary
        .split(" %")
        .filter_map(|part| part.split(' ').next_back())
    {
        if let Ok(percent) = share.parse::<f64>() {
            assert!((0.0..=100.0).contains(&percent), "{summary}");
        }
    }
    assert!(!summary.contains(" J"), "{summary}");
    assert!(totals["wall_seconds"].as_f64().unwrap() > 0.0, "{totals}");
    assert!(totals["seconds"].as_f64().unwrap() > 0.0, "{totals}");
}

#[test]
fn the_version_names_the_program() {
    for arguments in [&["--version"][..], &["-V"], &["run", "--version"]] {
        let output = percale(arguments).output().unwrap();
        let version = text(&output.stdout);
        let begin = format!("{} ", env!("CARGO_PKG_VERSION"));
        let (name, rest) = version.trim().split_once(' ').unwrap();
        assert!(name == "percale" || name == "percale-run", "{version}");
        let rest = format!("{rest} ");
        assert!(rest.starts_with(&begin), "{version}");
        let after = rest[begin.len()..].trim();
        assert!(
            after.is_empty() || after.starts_with("(commit "),
            "{version}"
        );
    }
}

#[test]
fn a_half_made_python_environment_is_made_anew() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/python/venv.sh");
    let folder = tempfile::tempdir().unwrap();
    let environment = folder.path().join("venv");
    fs::create_dir_all(environment.join("bin")).unwrap();
    // there is a python, but it has no pip
    let python = environment.join("bin/python");
    std::os::unix::fs::symlink("/bin/false", &python).unwrap();
    let made = Command::new(&script).arg(&environment).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    assert!(text(&made.stderr).contains("made anew"), "{made:?}");
    let pip = Command::new(&python)
        .args(["-m", "pip", "--version"])
        .output();
    assert!(pip.unwrap().status.success());
    // one that works is left alone
    let again = Command::new(&script).arg(&environment).output().unwrap();
    assert!(
        again.status.success() && again.stderr.is_empty(),
        "{again:?}"
    );
}
