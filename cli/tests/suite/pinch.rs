//! Scripted objects that leave no room: the run ends with their names, and everything before is whole.

use std::path::Path;

use serde_json::Value;

use crate::support::finished;

/// Two boxes that overlap by 1 mm for ten frames, with a napkin between them; they touch in frame 12.
const SCENE: &str = r#"
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
keys = [{ time = 0 }, { time = 0.2, move = [0, -0.031, 0] }, { time = 0.3666666666666667, move = [0, -0.031, 0] }, { time = 0.5 }]
"#;

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn scene(folder: &Path, more: &str) -> String {
    let path = folder.join("press.toml");
    std::fs::write(&path, format!("{more}{SCENE}")).unwrap();
    path.to_str().unwrap().to_string()
}

#[test]
fn a_pinched_cloth_ends_the_run_with_both_objects_the_frame_and_all_earlier_frames() {
    let folder = tempfile::tempdir().unwrap();
    let scene = scene(folder.path(), "");
    let out = folder.path().join("out");
    let out = out.to_str().unwrap();
    let run = finished(&["run", &scene, "-o", out, "--json"]);
    assert_eq!(run.status.code(), Some(1), "{run:?}");
    let message = text(&run.stderr);
    for part in [
        "frame 12:",
        "'napkin' is pinched between 'lower' and 'upper'",
        "overlap by",
        "keep them further apart",
        "frames 0 to 11 are in",
    ] {
        assert!(message.contains(part), "{part}: {message}");
    }

    let printed: Value = serde_json::from_slice(&run.stdout).unwrap();
    let report = std::fs::read_to_string(format!("{out}/report.json")).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    for summary in [&printed, &report] {
        assert_eq!(summary["frames"], 11);
        assert_eq!(summary["intersections"], 0);
        let pinch = &summary["stopped"]["pinch"];
        assert_eq!(summary["stopped"]["frame"], 12);
        assert_eq!(pinch["cloths"], serde_json::json!(["napkin"]));
        assert_eq!(pinch["objects"][0]["name"], "lower");
        assert_eq!(pinch["objects"][1]["name"], "upper");
        // the proof is there: multipliers that are all positive
        let contacts = pinch["contacts"].as_array().unwrap();
        let positive = |c: &Value| c["multiplier"].as_f64().unwrap() > 0.0;
        assert!(contacts.len() >= 2 && contacts.iter().all(positive));
    }

    let check = finished(&["check", out, "--json"]);
    assert!(check.status.success(), "{check:?}");
    let check: Value = serde_json::from_slice(&check.stdout).unwrap();
    assert_eq!(check["intersections"], 0);
    assert_eq!(
        check["frames"].as_array().map(Vec::len),
        Some(12),
        "{check}"
    );

    // resumed, it stops at the same place for the same reason, with the same frames
    let resumed = finished(&["run", &scene, "-o", out, "--json", "--resume"]);
    assert_eq!(resumed.status.code(), Some(1), "{resumed:?}");
    let error = |text: &str| text.lines().last().map(str::to_owned); // after lines of progress
    assert_eq!(error(text(&resumed.stderr)), error(message));
    let again: Value = serde_json::from_slice(&resumed.stdout).unwrap();
    assert_eq!(again["hash"], printed["hash"]);
    // up to there it can be had in peace
    let part = finished(&["run", &scene, "-o", out, "--force", "--frames", "11"]);
    assert!(part.status.success(), "{part:?}");
}

#[test]
fn tangle_goes_on_lists_what_crosses_and_is_resumed_to_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let scene = scene(folder.path(), "on_pinch = \"tangle\"\n");
    let [whole, parts] = ["whole", "parts"].map(|name| folder.path().join(name));
    let [whole, parts] = [&whole, &parts].map(|path| path.to_str().unwrap());
    let run = |more: &[&str]| {
        let all = [&["run", &scene, "--json"], more].concat();
        let run = finished(&all);
        let printed: Value =
            serde_json::from_slice(&run.stdout).unwrap_or_else(|_| panic!("{run:?}"));
        (run.status.code(), printed)
    };
    let (code, printed) = run(&["-o", whole, "--frames", "14"]);
    assert_eq!(printed["intersections"], 0, "{printed}");
    assert!(printed["crossings"].as_u64().unwrap() > 0 && printed["tangles"].as_u64().unwrap() > 0);
    assert!(
        printed["let_through"].as_u64().unwrap() > 0
            && printed["contour_length"].as_f64().unwrap() > 0.0
    );
    assert_eq!(code, Some(1), "crossings are left");
    run(&["-o", parts, "--frames", "13"]);
    let (_, resumed) = run(&["-o", parts, "--frames", "14", "--resume"]);
    assert_eq!(resumed["hash"], printed["hash"]);
    assert_eq!(resumed["crossings"], printed["crossings"]);
    // what is left is what the static test finds
    let check = finished(&["check", whole, "--json"]);
    let found: Value = serde_json::from_slice(&check.stdout).unwrap();
    let last = found["frames"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(last["intersections"], printed["crossings"], "{last}");
    assert_eq!(last["edge_face"], printed["edge_face"], "{last}");
}
