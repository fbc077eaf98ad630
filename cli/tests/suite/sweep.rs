//! `percale sweep`: folders, the table, what fails, shards, what was killed.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{finished, percale};

const SMALL: [&str; 8] = [
    "sweep",
    "drop",
    "--set",
    "cloth.0.shape.cells=[6, 6]",
    "--set",
    "obstacle.ball.shape.subdivisions=1",
    "--frames",
    "16", // it has touched the ball by then
];

fn sweep(out: &Path, more: &[&str]) -> (i32, String) {
    let out = out.to_str().unwrap();
    let done = finished(&[&SMALL[..], &["-o", out], more].concat());
    let text = String::from_utf8(done.stdout).unwrap() + &String::from_utf8(done.stderr).unwrap();
    (done.status.code().unwrap(), text)
}

/// Column of a row of the table, by the name of the folder.
fn cell(out: &Path, folder: &str, column: &str) -> String {
    let table = fs::read_to_string(out.join("totals.csv")).unwrap();
    let mut lines = table.lines();
    let column = lines
        .next()
        .unwrap()
        .split(',')
        .position(|name| name == column);
    let row = lines.find(|line| {
        line.starts_with(&format!("{folder},")) || line.starts_with(&format!("\"{folder}\","))
    });
    let row = row
        .unwrap_or_else(|| panic!("{folder} in {table}"))
        .to_owned();
    // names with commas are quoted, and nothing before the column has a quote of its own
    let row = row.replace(&format!("\"{folder}\""), "folder");
    row.split(',').nth(column.unwrap()).unwrap().to_owned()
}

#[test]
fn a_sweep_has_the_hashes_of_single_runs_for_any_number_of_jobs_and_shards() {
    let folder = tempfile::tempdir().unwrap();
    let [whole, parts, single] = ["whole", "parts", "single"].map(|name| folder.path().join(name));
    let vary = ["--vary", "friction=0.1,0.7"];
    let (code, text) = sweep(&whole, &[&vary[..], &["--jobs", "2"]].concat());
    assert_eq!(code, 0, "{text}");
    for shard in ["2/2", "1/2"] {
        let (code, text) = sweep(&parts, &[&vary[..], &["--shard", shard]].concat());
        assert_eq!(code, 0, "{text}");
    }
    let run = [
        "run", "drop", SMALL[2], SMALL[3], SMALL[4], SMALL[5], "--frames", "16",
    ];
    let run = [
        &run[..],
        &[
            "--set",
            "friction=0.7",
            "--json",
            "-o",
            single.to_str().unwrap(),
        ],
    ]
    .concat();
    let report: serde_json::Value = serde_json::from_slice(&finished(&run).stdout).unwrap();
    let hash = report["hash"].as_str().unwrap();
    assert_eq!(cell(&whole, "friction=0.7", "hash"), hash);
    assert_ne!(cell(&whole, "friction=0.1", "hash"), hash);
    assert_eq!(cell(&parts, "friction=0.7", "hash"), hash);
    assert_eq!(
        cell(&parts, "friction=0.1", "status"),
        "done",
        "the last shard sees all"
    );
    let scenes = [&whole, &parts].map(|out| fs::read(out.join("friction=0.1/scene.toml")).unwrap());
    assert_eq!(scenes[0], scenes[1]);
}

#[test]
fn what_fails_is_listed_and_the_rest_is_finished() {
    let folder = tempfile::tempdir().unwrap();
    let vary = [
        "--vary",
        "cloth.0.fabric=silc,silk",
        "--vary",
        "cloth.0.position=[0, 0.6, 0],[0, 0.2, 0]",
    ];
    let (code, text) = sweep(folder.path(), &vary);
    assert_eq!(code, 1, "{text}");
    let table = fs::read_to_string(folder.path().join("totals.csv")).unwrap();
    let rows: Vec<&str> = table.lines().skip(1).collect();
    let count = |status: &str| {
        rows.iter()
            .filter(|row| row.contains(&format!(",{status},")))
            .count()
    };
    assert_eq!(
        (rows.len(), count("failed"), count("done")),
        (4, 3, 1),
        "{table}"
    );
    assert!(
        table.contains("did you mean") && table.contains("tangled"),
        "{table}"
    );
    let before = fs::metadata(folder.path().join("totals.csv")).unwrap();
    assert!(before.len() > 0);
    // what failed is tried again, what is done is not
    let (code, _) = sweep(folder.path(), &vary);
    assert_eq!(code, 1);
    assert_eq!(
        fs::read_to_string(folder.path().join("totals.csv")).unwrap(),
        table
    );
}

#[test]
fn a_sweep_that_was_killed_goes_on_to_the_same_hashes() {
    let folder = tempfile::tempdir().unwrap();
    let [killed, whole] = ["killed", "whole"].map(|name| folder.path().join(name));
    let more = ["--vary", "friction=0.1,0.7", "--frames", "40"];
    let own = [&SMALL[..6], &more[..]].concat();
    let arguments = |out: &'static str, path: &Path| -> Vec<String> {
        let all = own.iter().map(|a| a.to_string());
        all.chain([out.to_string(), path.to_str().unwrap().to_string()])
            .collect()
    };
    let first = arguments("-o", &killed);
    let first: Vec<&str> = first.iter().map(String::as_str).collect();
    let mut child = percale(&first).spawn().unwrap();
    let journal = killed.join("friction=0.1/frames.jsonl");
    let since = Instant::now();
    while !fs::metadata(&journal).is_ok_and(|file| file.len() > 0) {
        assert!(
            since.elapsed() < Duration::from_secs(60),
            "no frame in a minute"
        );
        thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // the run that it had started goes on alone and holds its folder until it ends
    let since = Instant::now();
    loop {
        let again = finished(&first);
        if again.status.code() == Some(0) {
            break;
        }
        assert!(since.elapsed() < Duration::from_secs(60), "{again:?}");
        thread::sleep(Duration::from_millis(50));
    }
    let second = arguments("-o", &whole);
    let second: Vec<&str> = second.iter().map(String::as_str).collect();
    assert_eq!(finished(&second).status.code(), Some(0));
    for name in ["friction=0.1", "friction=0.7"] {
        assert_eq!(
            cell(&killed, name, "hash"),
            cell(&whole, name, "hash"),
            "{name}"
        );
    }
}

#[test]
fn what_cannot_start_is_said_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    for (more, word) in [
        (&["--vary", "friction"][..], "KEY=VALUE"),
        (&["--vary", "friction=1,1"], "twice"),
        (
            &["--vary", "friction=1", "--vary", "friction=2"],
            "varied twice",
        ),
        (&["--vary", "friction=1", "--shard", "3/2"], "I from 1 to N"),
        (&["--vary", "friction=1", "--jobs", "0"], "jobs"),
        (&["--vary", "friction=1", "--set", "frictoin=1"], "friction"),
        (&[], "--vary"),
    ] {
        let (code, text) = sweep(&out, more);
        assert_eq!(code, 2, "{text}");
        assert!(text.contains(word), "{text}");
        assert!(!out.exists());
    }
}

#[test]
fn a_folder_of_another_sweep_is_refused_and_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let vary = ["--vary", "friction=0.1,0.3"];
    let (code, text) = sweep(folder.path(), &vary);
    assert_eq!(code, 0, "{text}");
    let table = fs::read(folder.path().join("totals.csv")).unwrap();
    let out = folder.path().to_str().unwrap();
    for other in [
        ["--set", "fps=30", "--frames", "16"],
        ["--frames", "1", "--jobs", "1"],
    ] {
        let done = finished(&[&SMALL[..6], &["-o", out], &vary[..], &other].concat());
        let text = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(2), "{text}");
        assert!(text.contains("choose another folder"), "{text}");
    }
    assert_eq!(fs::read(folder.path().join("totals.csv")).unwrap(), table);
    let nothing = folder.path().join("nothing");
    let (code, _) = sweep(&nothing, &["--vary", "frictoin=0.1,0.3"]);
    assert!(code == 2 && !nothing.exists());
}

#[cfg(unix)]
#[test]
fn the_runs_of_a_sweep_that_was_killed_end_after_their_frame() {
    let folder = tempfile::tempdir().unwrap();
    let more = ["--vary", "friction=0.1", "--frames", "100000", "-o"];
    let mut killed = percale(&[&SMALL[..6], &more[..]].concat())
        .arg(folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let run = folder.path().join("friction=0.1");
    let until = |what: &str, is_so: &dyn Fn() -> bool| {
        let end = Instant::now() + Duration::from_secs(60);
        while !is_so() {
            assert!(Instant::now() < end, "{what}");
            thread::sleep(Duration::from_millis(10));
        }
    };
    until("it goes", &|| percale::record::is_being_written(&run));
    killed.kill().unwrap();
    killed.wait().unwrap();
    until("it ends", &|| !percale::record::is_being_written(&run));
}
