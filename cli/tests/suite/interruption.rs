//! Runs that are killed, run out of disk, or may not write: earlier frames stay whole, and `--resume` ends at the same bits.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use serde_json::Value;

use crate::random::Random;
use crate::support::{copy, percale};

const FRAMES: &str = "6";

/// A small cloth and a large ball: much of the time goes into writing frames.
const SCENE: [&str; 8] = [
    "run",
    "drop",
    "--json",
    "--small",
    "--set",
    "cloth.0.shape.cells=[6, 6]",
    "--set",
    "obstacle.ball.shape.subdivisions=4",
];

fn command(out: &Path, more: &[&str]) -> Command {
    let mut command = percale(&SCENE);
    command.arg("-o").arg(out).args(more);
    command
}

fn run(out: &Path, more: &[&str]) -> Output {
    command(out, more).output().unwrap()
}

fn hash(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    report["hash"].as_str().unwrap().to_string()
}

/// What a run appends or writes for one frame, in this order.
const WRITES: [&str; 6] = [
    "objects/cloth.x64",
    "objects/ball.x64",
    "objects/floor.x64",
    "frames.jsonl",
    "checksums",
    "checkpoint.part",
];

#[test]
fn killed_at_any_byte_of_a_frame_it_resumes_to_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let [whole, half] = ["whole", "half"].map(|name| folder.path().join(name));
    let expected = hash(&run(&whole, &["--frames", FRAMES]));
    hash(&run(&half, &["--frames", "3"]));

    // the bytes of frame 4, as the whole run has written them
    let pieces: Vec<Vec<u8>> = WRITES
        .iter()
        .map(|name| {
            let written = |folder: &Path| fs::read(folder.join(name)).unwrap_or_default();
            match *name {
                "checkpoint.part" => fs::read(whole.join("checkpoint")).unwrap(),
                "frames.jsonl" => {
                    let text = String::from_utf8(written(&whole)).unwrap();
                    format!("{}\n", text.lines().nth(3).unwrap()).into_bytes()
                }
                "checksums" => {
                    let text = String::from_utf8(written(&whole)).unwrap();
                    let lines = text.lines().filter(|line| line.ends_with(" 4"));
                    lines
                        .map(|line| format!("{line}\n"))
                        .collect::<String>()
                        .into_bytes()
                }
                _ => {
                    let (start, all) = (written(&half).len(), written(&whole));
                    all[start..start + (all.len() - start) / 3].to_vec()
                }
            }
        })
        .collect();

    for (number, piece) in pieces.iter().enumerate() {
        for cut in [1, piece.len() / 2, piece.len() - 1, piece.len()] {
            let torn = folder.path().join(format!("torn-{number}-{cut}"));
            copy(&half, &torn);
            for (name, piece) in WRITES.iter().zip(&pieces[..number]) {
                append(&torn.join(name), piece);
            }
            append(&torn.join(WRITES[number]), &piece[..cut]);
            let resumed = run(&torn, &["--resume", "--frames", FRAMES]);
            assert_eq!(hash(&resumed), expected, "{} cut at {cut}", WRITES[number]);
        }
    }
}

fn append(path: &Path, bytes: &[u8]) {
    let file = OpenOptions::new().append(true).create(true).open(path);
    file.unwrap().write_all(bytes).unwrap();
}

#[test]
#[ignore = "minutes: twenty kills at moments that the clock chooses"]
fn killed_at_twenty_random_moments_it_resumes_to_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let frames = ["--frames", "40"];
    let whole = folder.path().join("whole");
    let clock = std::time::Instant::now();
    let expected = hash(&run(&whole, &frames));
    let whole_ms = clock.elapsed().as_millis() as u64;
    let killed = folder.path().join("killed");
    let mut random = Random(1);
    let mut kills = 0;
    while kills < 20 {
        let more: &[&str] = if killed.join("checkpoint").exists() {
            &["--resume"]
        } else {
            &["--force"]
        };
        let mut child = command(&killed, &[&frames[..], more].concat())
            .spawn()
            .unwrap();
        // up to a tenth of the whole run, so that twenty kills spread over it
        let most = (whole_ms / 10).max(20);
        std::thread::sleep(Duration::from_millis(random.next() % most));
        child.kill().unwrap(); // SIGKILL
        child.wait().unwrap();
        kills += 1;
    }
    assert_eq!(
        hash(&run(&killed, &[&frames[..], &["--resume"]].concat())),
        expected
    );
}

#[test]
fn a_full_disk_is_named_and_earlier_frames_stay_whole() {
    let folder = tempfile::tempdir().unwrap();
    let [whole, out] = ["whole", "out"].map(|name| folder.path().join(name));
    let expected = hash(&run(&whole, &["--frames", FRAMES]));
    let earlier = hash(&run(&out, &["--frames", "3"]));
    // every write to this device fails like one to a full disk
    std::os::unix::fs::symlink("/dev/full", out.join("checkpoint.part")).unwrap();
    let full = run(&out, &["--resume", "--frames", FRAMES]);
    let message = String::from_utf8(full.stderr).unwrap();
    assert_eq!(full.status.code(), Some(1), "{message}");
    for words in [
        "checkpoint",
        "No space left",
        "earlier frames are intact",
        "--resume",
    ] {
        assert!(message.contains(words), "{message}");
    }
    assert!(
        !out.join("checkpoint.part").is_symlink(),
        "a draft that failed takes no room"
    );
    assert_eq!(hash(&run(&out, &["--resume", "--frames", "3"])), earlier);
    assert_eq!(
        hash(&run(&out, &["--resume", "--frames", FRAMES])),
        expected
    );
}

#[test]
fn a_folder_that_cannot_be_written_is_named_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("notes.txt");
    fs::write(&file, "mine").unwrap();
    for out in [
        file.join("run"),
        file.clone(),
        Path::new("/dev/null/run").into(),
    ] {
        let refused = run(&out, &[]);
        let message = String::from_utf8(refused.stderr).unwrap();
        assert_eq!(refused.status.code(), Some(2), "{message}");
        let named = message.contains("notes.txt") || message.contains("/dev/null");
        assert!(named && message.contains("-o"), "{message}");
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
}

#[test]
fn ctrl_c_ends_after_a_whole_frame_and_says_how_to_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let [whole, out] = ["whole", "out"].map(|name| folder.path().join(name));
    let expected = hash(&run(&whole, &["--frames", "30"]));
    let child = command(&out, &["--frames", "30"]).spawn().unwrap();
    let journal = out.join("frames.jsonl");
    while fs::read_to_string(&journal).map_or(0, |text| text.lines().count()) < 2 {
        std::thread::sleep(Duration::from_millis(2));
    }
    let id = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &id])
            .status()
            .unwrap()
            .success()
    );
    let output = child.wait_with_output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{message}");
    assert!(message.contains("--resume"), "{message}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let frames = report["frames"].as_u64().unwrap();
    assert!((2..30).contains(&frames), "{frames}");
    assert_eq!(hash(&run(&out, &["--frames", "30", "--resume"])), expected);
}
