//! `percale bench scenes` as a user sees it: records, what is skipped, resumed and stopped, the table and the sheet.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::percale;

/// A cloth that falls on a box.
const FALL: &str = r#"
frames = 40
thickness = 1e-3
[[cloth]]
name = "napkin"
shape = { kind = "sheet", size = [0.3, 0.3], cells = [8, 8] }
position = [0, 0.02, 0]
[[obstacle]]
name = "table"
shape = { kind = "box", size = [0.2, 0.1, 0.2] }
position = [0, -0.06, 0]
"#;

/// A cloth between two boxes that overlap by 1 mm from frame 12 on.
const PRESS: &str = r#"
frames = 30
thickness = 1e-3
[[cloth]]
name = "napkin"
shape = { kind = "sheet", size = [0.3, 0.3], cells = [8, 8] }
[[obstacle]]
name = "lower"
shape = { kind = "box", size = [0.2, 0.1, 0.2] }
position = [0, -0.06, 0]
[[obstacle]]
name = "upper"
shape = { kind = "box", size = [0.2, 0.1, 0.2] }
rotation = [0, 20, 0]
position = [0.01, 0.07, 0.02]
[[obstacle.motion]]
kind = "keyframed"
keys = [{ time = 0 }, { time = 0.2, move = [0, -0.031, 0] }, { time = 0.5, move = [0, -0.031, 0] }]
"#;

/// A folder with both scenes, and room for results and records.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("press.toml"), PRESS).unwrap();
        fs::write(folder.path().join("fall.toml"), FALL).unwrap();
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn bench(&self, arguments: &[&str]) -> Command {
        let fixed = ["bench", "scenes", "--threads", "1", "-o", "results"];
        let mut command = percale(&fixed);
        command
            .args(["--records", "records"])
            .args(arguments)
            .current_dir(self.0.path());
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.bench(arguments).output().unwrap()
    }

    fn record(&self, name: &str) -> Value {
        let text = fs::read(self.path(&format!("records/{name}.json"))).unwrap();
        serde_json::from_slice(&text).unwrap()
    }
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// Waits until a run has written some frames.
fn wait_for_frames(results: &Path, frames: usize) {
    let deadline = Instant::now() + Duration::from_secs(120);
    let journal = results.join("frames.jsonl");
    while fs::read_to_string(&journal).map_or(0, |text| text.lines().count()) < frames {
        assert!(Instant::now() < deadline, "no frame {frames}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_scene_that_stops_is_recorded_with_its_reason_and_the_next_one_runs() {
    let place = Place::new();
    let run = place.run(&["press.toml", "fall.toml"]);
    assert_eq!(run.status.code(), Some(1), "one stopped: {run:?}");

    let press = place.record("press");
    assert_eq!(press["state"], "stopped");
    assert_eq!(press["stopped"]["frame"], 12);
    let why = press["stopped"]["message"].as_str().unwrap();
    assert!(why.contains("'lower' and 'upper'"), "{why}");
    assert_eq!(
        (&press["frames_done"], &press["frames_wanted"]),
        (&11.into(), &30.into())
    );

    let fall = place.record("fall");
    assert!(fall.get("stopped").is_none(), "{fall}");
    for (key, value) in [
        ("name", "fall".into()),
        ("size", "full".into()),
        ("state", "done".into()),
        ("frames_done", 40.into()),
        ("frames_wanted", 40.into()),
        ("cloth_vertices", 81.into()),
        ("cloth_faces", 128.into()),
        ("intersections", 0.into()),
        ("threads", 1.into()),
        ("strain_limit", Value::from(0.1)),
    ] {
        assert_eq!(fall[key], value, "{key}");
    }
    let number = |key: &str| fall.pointer(key).and_then(Value::as_f64).unwrap();
    let phases = ["propose", "repel", "respond", "accept"]
        .map(|phase| number(&format!("/cpu_seconds_per_frame/{phase}")));
    let total = number("/cpu_seconds_per_frame/total");
    assert!((phases.iter().sum::<f64>() - total).abs() < 1e-9 && total > 0.0);
    assert!(number("/wall_seconds") > 0.0 && number("/intervals") >= 40.0);
    assert!(number("/loops") >= 40.0 && number("/largest_speed") >= number("/median_speed"));
    assert!(number("/vertices") > 81.0 && number("/faces") > 128.0);
    // 1 mm thick, no pair made nearer: the share is the gap in millimetres
    let share = number("/smallest_gap_share");
    assert!((share - 1e3 * number("/smallest_gap")).abs() < 1e-9 && share < 1.0);
    // none where the solve has left nothing for the stages
    let kept = fall["kept_share"].as_f64();
    assert!(kept.is_none_or(|kept| (0.0..1.5).contains(&kept)));
    for key in ["last_frame_hash", "scene_hash"] {
        assert_eq!(fall[key].as_str().unwrap().len(), 64, "{key}");
    }
    assert_eq!(fall["build"]["version"], env!("CARGO_PKG_VERSION"));
    for key in ["refused", "failsafes"] {
        assert!(fall[key].is_object(), "{key}");
    }

    // a second call has nothing to do, and says the same
    let file = place.path("records/fall.json");
    let before = (
        fs::read(&file).unwrap(),
        fs::metadata(&file).unwrap().modified().unwrap(),
    );
    let again = place.run(&["press.toml", "fall.toml"]);
    assert_eq!(again.status.code(), Some(1), "{again:?}");
    assert_eq!(text(&again.stderr).matches("recorded already").count(), 2);
    let after = (
        fs::read(&file).unwrap(),
        fs::metadata(&file).unwrap().modified().unwrap(),
    );
    assert_eq!(before, after);

    // another scene of the same name is run anew; another build too, unless any will do
    fs::write(place.path("fall.toml"), FALL.replace("40", "3")).unwrap();
    let changed = place.run(&["fall.toml"]);
    assert!(changed.status.success(), "{changed:?}");
    let mut record = place.record("fall");
    assert_eq!(record["frames_done"], 3);
    record["build"]["executable"] = "of somebody else".into();
    fs::write(&file, record.to_string()).unwrap();
    let any = place.run(&["fall.toml", "--any-build"]);
    assert!(text(&any.stderr).contains("recorded already"), "{any:?}");
    let anew = place.run(&["fall.toml"]);
    assert!(anew.status.success(), "{anew:?}");
    assert!(!text(&anew.stderr).contains("recorded already"), "{anew:?}");
    assert_eq!(
        place.record("fall")["last_frame_hash"],
        record["last_frame_hash"]
    );
}

#[test]
fn a_table_and_a_sheet_are_made_of_what_is_recorded() {
    let place = Place::new();
    fs::write(place.path("fall.toml"), FALL.replace("40", "3")).unwrap();
    let nothing = place.run(&["--table"]);
    assert_eq!(nothing.status.code(), Some(2), "{nothing:?}");
    place.run(&["press.toml", "fall.toml"]);

    let table = place.run(&["--table"]);
    assert!(table.status.success(), "{table:?}");
    let table = text(&table.stdout).to_string();
    let row = |name: &str| {
        let row = table.lines().find(|line| line.starts_with(name));
        row.unwrap_or_else(|| panic!("{name}: {table}")).to_string()
    };
    assert!(row("| fall |").contains("| 3 | 0 |"), "{table}");
    assert!(row("| press |").contains("| 11 of 30, stopped | 0 |"));
    assert!(row("- press stops at frame 12").contains("is pinched"));
    let one = place.run(&["fall.toml", "--table"]);
    assert!(!text(&one.stdout).contains("press"), "{one:?}");

    let (begin, end) = (
        "<!-- percale bench scenes --table: begin -->",
        "<!-- percale bench scenes --table: end -->",
    );
    let document = place.path("document.md");
    fs::write(&document, format!("before\n{begin}\nold\n{end}\nafter\n")).unwrap();
    let put = place.run(&["--table=document.md"]);
    assert!(put.status.success(), "{put:?}");
    let written = fs::read_to_string(&document).unwrap();
    assert_eq!(written, format!("before\n{begin}\n{table}{end}\nafter\n"));
    fs::write(&document, "no place\n").unwrap();
    let refused = place.run(&["--table=document.md"]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");

    let sheet = place.run(&["--sheet", "sheet.png"]);
    assert!(sheet.status.success(), "{sheet:?}");
    let png = png::Decoder::new(std::io::BufReader::new(
        fs::File::open(place.path("sheet.png")).unwrap(),
    ));
    let info = png.read_info().unwrap();
    // two pictures side by side
    assert_eq!(
        (info.info().width, info.info().height),
        (2 * 326 + 6, 246 + 6)
    );
}

#[cfg(unix)]
#[test]
fn an_interrupted_or_killed_scene_goes_on_to_the_same_bits() {
    let whole = Place::new();
    assert!(whole.run(&["fall.toml"]).status.success());
    let whole = whole.record("fall");

    let place = Place::new();
    let results = place.path("results/fall");
    let mut killed = place.bench(&["fall.toml"]).spawn().unwrap();
    wait_for_frames(&results, 3);
    killed.kill().unwrap();
    killed.wait().unwrap();
    let record = place.record("fall");
    assert_eq!(
        (&record["state"], &record["frames_done"]),
        (&"running".into(), &0.into())
    );

    let child = place.bench(&["fall.toml"]).spawn().unwrap();
    wait_for_frames(&results, 10);
    let id = child.id().to_string();
    let mut signal = Command::new("kill");
    assert!(signal.args(["-INT", &id]).status().unwrap().success());
    let interrupted = child.wait_with_output().unwrap();
    assert_eq!(interrupted.status.code(), Some(130), "{interrupted:?}");
    let record = place.record("fall");
    assert_eq!(record["state"], "interrupted");
    let done = record["frames_done"].as_u64().unwrap();
    assert!((10..40).contains(&done), "{done}");

    let resumed = place.run(&["fall.toml"]);
    assert!(resumed.status.success(), "{resumed:?}");
    let record = place.record("fall");
    assert_eq!(record["state"], "done");
    for key in [
        "frames_done",
        "last_frame_hash",
        "intervals",
        "loops",
        "largest_strain",
        "kept_share",
    ] {
        assert_eq!(record[key], whole[key], "{key}");
    }
}
