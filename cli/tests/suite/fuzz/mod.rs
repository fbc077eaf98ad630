//! Mutated meshes and scenes through the command line: whatever the input, exit codes 0, 1 or 2, and soon. See `tests/fuzz/README.md`.

#![cfg(unix)]

mod inputs;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use self::inputs::{MeshCase, scene_case};
use crate::support::PERCALE;

/// Limits of a process: seconds of computing, kilobytes, and seconds in all if it sleeps.
const LIMITS: &str = "ulimit -t 60; ulimit -v 4194304; exec \"$0\" \"$@\"";
const LONGEST: Duration = Duration::from_secs(300);

/// How a command ended: its exit code, or what is wrong.
fn run(arguments: &[&str], stderr: &Path) -> Result<i32, String> {
    let start = Instant::now();
    let mut child = Command::new("sh")
        .args(["-c", LIMITS, PERCALE])
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(File::create(stderr).unwrap())
        .spawn()
        .unwrap();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if start.elapsed() > LONGEST {
            child.kill().unwrap();
            child.wait().unwrap();
            return Err(format!("does not end ({LONGEST:?})"));
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    match status.code() {
        Some(code @ 0..=2) => Ok(code),
        _ => {
            let text = fs::read_to_string(stderr).unwrap_or_default();
            let end: Vec<&str> = text.lines().take(4).collect();
            Err(format!("{status}: {}", end.join(" | ")))
        }
    }
}

/// Exit codes by command, and failures.
#[derive(Default)]
struct Outcome {
    codes: BTreeMap<(&'static str, i32), usize>,
    failures: Vec<String>,
}

impl Outcome {
    fn note(&mut self, command: &'static str, label: &str, ended: &Result<i32, String>) {
        match ended {
            Ok(code) => *self.codes.entry((command, *code)).or_default() += 1,
            Err(reason) => self.failures.push(format!("{command}, {label}: {reason}")),
        }
    }

    fn print(&self) {
        for ((command, code), count) in &self.codes {
            println!("  {command}: exit code {code}: {count}");
        }
    }
}

/// Sends the two ends of a motion through every command that reads meshes; those that the reader refuses through one.
fn try_mesh(
    folder: &Path,
    label: &str,
    start: &Path,
    end: &Path,
    outcome: &Mutex<Outcome>,
) -> bool {
    let [start, end] = [start, end].map(|p| p.to_str().unwrap());
    let at = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (result, picture, stderr) = (at("result.ply"), at("picture.png"), folder.join("stderr"));
    let _ = fs::remove_file(&result);
    let commands: [(&'static str, Vec<&str>); 5] = [
        ("check --paths", vec!["check", "--paths", "--json", start]),
        ("check", vec!["check", end]),
        ("check --from", vec!["check", "--from", start, end]),
        ("resolve", vec!["resolve", start, end, "-o", &result]),
        (
            "render",
            vec![
                "render", start, "-o", &picture, "--size", "64x48", "--paths", "--wire",
            ],
        ),
    ];
    let mut is_good = true;
    for (name, arguments) in commands {
        let ended = run(&arguments, &stderr);
        outcome.lock().unwrap().note(name, label, &ended);
        is_good &= ended.is_ok();
        if name == "check --paths" && ended == Ok(2) {
            break;
        }
    }
    is_good
}

fn try_scene(folder: &Path, label: &str, scene: &Path, outcome: &Mutex<Outcome>) -> bool {
    let out = folder.join("out");
    let arguments = [
        "run",
        scene.to_str().unwrap(),
        "--frames",
        "1",
        "--force",
        "-o",
        out.to_str().unwrap(),
    ];
    let ended = run(&arguments, &folder.join("stderr"));
    outcome.lock().unwrap().note("run", label, &ended);
    ended.is_ok()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fuzz")
}

fn files(folder: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    found.retain(|p| {
        extensions
            .iter()
            .any(|e| p.extension().is_some_and(|own| own == *e))
    });
    found.sort();
    found
}

/// Keeps what failed where it can be found again.
fn keep(case: &Path) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fuzz-failures");
    fs::create_dir_all(&folder).unwrap();
    fs::copy(case, folder.join(case.file_name().unwrap())).unwrap();
}

/// Tries cases in two processes at a time; `work` is given a folder of its own and the number of a case.
fn in_parallel(cases: u64, work: impl Fn(&Path, u64) + Sync) {
    let next = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let folder = tempfile::tempdir().unwrap();
                loop {
                    let case = next.fetch_add(1, Ordering::Relaxed);
                    if case >= cases {
                        break;
                    }
                    work(folder.path(), case);
                }
            });
        }
    });
}

fn fuzz(meshes: u64, scenes: u64, seed: u64) {
    let outcome = Mutex::new(Outcome::default());
    in_parallel(meshes, |folder, case| {
        let MeshCase {
            extension,
            start,
            end,
        } = MeshCase::of(seed, case);
        let paths =
            ["", ".end"].map(|end| folder.join(format!("mesh-{seed}-{case}{end}.{extension}")));
        fs::write(&paths[0], start).unwrap();
        fs::write(&paths[1], end).unwrap();
        if !try_mesh(
            folder,
            &format!("mesh {seed}-{case}"),
            &paths[0],
            &paths[1],
            &outcome,
        ) {
            paths.iter().for_each(|path| keep(path));
        }
        paths.iter().for_each(|path| fs::remove_file(path).unwrap());
    });
    let seeds: Vec<String> = files(&root().join("seeds"), &["toml"])
        .iter()
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    in_parallel(scenes, |folder, case| {
        let path = folder.join(format!("scene-{seed}-{case}.toml"));
        fs::write(&path, scene_case(seed, case, &seeds)).unwrap();
        if !try_scene(folder, &format!("scene {seed}-{case}"), &path, &outcome) {
            keep(&path);
        }
        fs::remove_file(path).unwrap();
    });
    let outcome = outcome.into_inner().unwrap();
    println!("{meshes} meshes and {scenes} scenes, seed {seed}:");
    outcome.print();
    assert!(outcome.failures.is_empty(), "{:#?}", outcome.failures);
}

fn from_environment(key: &str, default: u64) -> u64 {
    std::env::var(key).map_or(default, |text| text.parse().unwrap())
}

#[test]
fn inputs_that_failed_once_fail_no_more() {
    let outcome = Mutex::new(Outcome::default());
    let corpus = root().join("corpus");
    let meshes = files(&corpus, &["obj", "ply", "stl"]);
    let meshes: Vec<PathBuf> = meshes
        .into_iter()
        .filter(|p| !p.file_stem().unwrap().to_str().unwrap().ends_with(".end"))
        .collect();
    let scenes = files(&corpus, &["toml"]);
    in_parallel((meshes.len() + scenes.len()) as u64, |folder, case| {
        let case = case as usize;
        if let Some(start) = meshes.get(case) {
            let extension = start.extension().unwrap().to_str().unwrap();
            let end = start.with_extension(format!("end.{extension}"));
            let end = if end.exists() { end } else { start.clone() };
            try_mesh(folder, start.to_str().unwrap(), start, &end, &outcome);
        } else {
            let scene = &scenes[case - meshes.len()];
            try_scene(folder, scene.to_str().unwrap(), scene, &outcome);
        }
    });
    let outcome = outcome.into_inner().unwrap();
    outcome.print();
    assert!(outcome.failures.is_empty(), "{:#?}", outcome.failures);
}

#[test]
fn the_seeds_run() {
    let outcome = Mutex::new(Outcome::default());
    let folder = tempfile::tempdir().unwrap();
    for seed in files(&root().join("seeds"), &["toml"]) {
        assert!(try_scene(
            folder.path(),
            seed.to_str().unwrap(),
            &seed,
            &outcome
        ));
    }
    let outcome = outcome.into_inner().unwrap();
    assert_eq!(
        outcome.codes.keys().copied().collect::<Vec<_>>(),
        [("run", 0)]
    );
}

#[test]
fn mutated_inputs_are_refused_or_used() {
    fuzz(2_000, 60, 1);
}

#[test]
#[ignore = "an hour: ten thousand meshes and two thousand scenes, or as many as PERCALE_FUZZ_MESHES and PERCALE_FUZZ_SCENES say"]
fn many_mutated_inputs_are_refused_or_used() {
    fuzz(
        from_environment("PERCALE_FUZZ_MESHES", 10_000),
        from_environment("PERCALE_FUZZ_SCENES", 2_000),
        from_environment("PERCALE_FUZZ_SEED", 2),
    );
}
