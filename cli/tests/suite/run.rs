//! `percale run` as a user sees it: exit codes, messages, interruption, the same bits.

use std::path::Path;
use std::process::Output;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::percale;

/// A drop that takes seconds, not minutes; all contact happens.
const SMALL: [&str; 4] = [
    "--set",
    "cloth.0.shape.cells=[16, 16]",
    "--set",
    "obstacle.0.shape.subdivisions=2",
];

fn run_small(out: &Path, more: &[&str]) -> Output {
    let out = out.to_str().unwrap();
    let mut arguments = vec!["run", "drop", "--json", "--frames", "40", "-o", out];
    arguments.extend(SMALL);
    arguments.extend(more);
    percale(&arguments).output().unwrap()
}

fn json(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text)
        .unwrap_or_else(|e| panic!("{e}: {text} {}", String::from_utf8_lossy(&output.stderr)))
}

fn refusal(arguments: &[&str]) -> String {
    let output = percale(arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
    assert!(output.stdout.is_empty(), "errors do not go to stdout");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_killed_run_resumes_to_the_same_hash_and_threads_do_not_matter() {
    let folder = tempfile::tempdir().unwrap();
    let whole = run_small(&folder.path().join("whole"), &["--threads", "1"]);
    assert!(whole.status.success(), "{whole:?}");
    let whole = json(&whole);
    assert_eq!(whole["frames"], 40);
    assert_eq!(whole["intersections"], 0);
    assert!(
        whole["impacts"]["vertex_face"].as_u64().unwrap() > 0,
        "the cloth reaches the ball"
    );

    let two = json(&run_small(&folder.path().join("two"), &["--threads", "2"]));
    assert_eq!(two["hash"], whole["hash"]);

    let killed = folder.path().join("killed");
    let out = killed.to_str().unwrap();
    let mut arguments = vec!["run", "drop", "--frames", "40", "-o", out];
    arguments.extend(SMALL);
    // moments spread over the run by the number of frames that are there, wherever inside a frame that hits
    for frames in [1, 9, 17, 30] {
        let mut more = arguments.clone();
        if killed.exists() {
            more.push("--resume");
        }
        let mut child = percale(&more).spawn().unwrap();
        let deadline = Instant::now() + Duration::from_secs(120);
        let journal = killed.join("frames.jsonl");
        while std::fs::read_to_string(&journal).map_or(0, |text| text.lines().count()) < frames {
            assert!(
                Instant::now() < deadline && child.try_wait().unwrap().is_none(),
                "the run does not get to frame {frames}"
            );
            std::thread::sleep(Duration::from_millis(3));
        }
        child.kill().unwrap(); // SIGKILL
        child.wait().unwrap();
    }
    let resumed = run_small(&killed, &["--resume"]);
    assert!(resumed.status.success(), "{resumed:?}");
    assert_eq!(json(&resumed)["hash"], whole["hash"]);

    // what a killed write leaves behind the checkpoint is cut off
    let cache = killed.join("objects/cloth.x64");
    let mut bytes = std::fs::read(&cache).unwrap();
    bytes.extend([7; 1000]);
    std::fs::write(&cache, bytes).unwrap();
    assert_eq!(
        json(&run_small(&killed, &["--resume"]))["hash"],
        whole["hash"]
    );
}

#[test]
fn bad_settings_of_stages_are_refused_by_name_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let out = out.to_str().unwrap();
    let bad = [
        ("volume{form=nonsense}", "nonsense"),
        ("volume{max_rounds=-1}", "max_rounds"),
        ("volume{max_round=3}", "max_round"),
        ("volume{recipe=3}", "recipe"),
        ("impulses{form=paper}", "paper"),
        ("inelastic{max_rounds=many}", "many"),
        ("rigid_zones{max_rounds=3}", "max_rounds"),
        ("pressure", "pressure"),
    ];
    for (stages, named) in bad {
        let arguments = ["run", "drop", "--small", "-o", out, "--response", stages];
        let message = refusal(&arguments); // exit code 2
        assert!(message.contains(named), "{stages}: {message}");
    }
    assert!(!folder.path().join("out").exists());
}

#[test]
fn stages_named_on_the_command_line_are_recorded_and_asked_for_again_by_resume() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let run = |more: &[&str]| {
        let out = out.to_str().unwrap();
        let arguments = ["run", "squares-plane", "--small", "--json", "-o", out];
        percale(&[&arguments, more].concat()).output().unwrap()
    };
    let stages = [
        "--response",
        "impulses{max_rounds=16,form=notes},rigid_zones",
        "--failsafe",
        "none",
    ];
    let first = run(&[&stages[..], &["--frames", "1"]].concat());
    assert!(first.status.success(), "{first:?}");
    let scene = std::fs::read_to_string(out.join("scene.toml")).unwrap();
    for line in [
        "failsafe = []",
        "kind = \"impulses\"\nmax_rounds = 16\nform = \"notes\"",
        "kind = \"rigid_zones\"",
    ] {
        assert!(scene.contains(line), "{line}: {scene}");
    }
    let other = run(&["--frames", "2", "--resume"]);
    assert_eq!(other.status.code(), Some(2), "{other:?}");
    let message = String::from_utf8_lossy(&other.stderr).into_owned();
    assert!(
        message.contains("response") || message.contains("failsafe"),
        "{message}"
    );
    let same = run(&[&stages[..], &["--frames", "2", "--resume"]].concat());
    assert!(same.status.success(), "{same:?}");
    assert_eq!(json(&same)["frames"], 2);
    let message = refusal(&["run", "drop", "--response", "impulse"]);
    assert!(
        message.contains("no stage 'impulse'") && message.contains("inelastic"),
        "{message}"
    );
}

#[test]
fn a_changed_scene_is_not_resumed_and_says_what_changed() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let out = out.to_str().unwrap();
    let mut arguments = vec!["run", "drop", "--frames", "1", "-o", out];
    arguments.extend(SMALL);
    assert!(percale(&arguments).status().unwrap().success());
    arguments.extend(["--resume", "--set", "friction=0.4"]);
    let message = refusal(&arguments);
    assert!(
        message.contains("friction = 0.3") && message.contains("friction = 0.4"),
        "{message}"
    );
}

#[test]
fn an_earlier_result_is_not_overwritten_unasked() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let out = out.to_str().unwrap();
    let mut arguments = vec!["run", "drop", "--frames", "1", "-o", out];
    arguments.extend(SMALL);
    assert!(percale(&arguments).status().unwrap().success());
    let message = refusal(&arguments);
    assert!(
        message.contains("--resume") && message.contains("--force"),
        "{message}"
    );
    arguments.push("--force");
    assert!(percale(&arguments).status().unwrap().success());

    let other = folder.path().join("other");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("thesis.txt"), "years of work").unwrap();
    arguments[5] = other.to_str().unwrap();
    assert!(refusal(&arguments).contains("not a result"));
    assert!(
        other.join("thesis.txt").exists(),
        "nothing that is not ours is touched, --force or not"
    );
}

#[test]
fn bad_input_ends_with_code_2_a_place_and_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let scene = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_string()
    };
    let sheet =
        "[[cloth]]\nname = \"a\"\nshape = { kind = \"sheet\", size = [1, 1], cells = [4, 4] }\n";

    let missing = refusal(&["run", "no-such-scene.toml"]);
    assert!(
        missing.contains("no-such-scene.toml") && missing.contains("drop"),
        "{missing}"
    );

    let unknown = scene(
        "unknown.toml",
        &format!("frames = 1\nfrictoin = 0.3\n{sheet}"),
    );
    let message = refusal(&["run", &unknown]);
    assert!(
        message.contains("unknown.toml:2:") && message.contains("did you mean `friction`?"),
        "{message}"
    );

    let nan = scene(
        "nan.toml",
        &format!("frames = 1\n{sheet}position = [0, nan, 0]\n"),
    );
    let message = refusal(&["run", &nan]);
    assert!(
        message.contains("nan.toml:5")
            && message.contains("position")
            && message.contains("finite"),
        "{message}"
    );

    let tangled = scene(
        "tangled.toml",
        &format!(
            "frames = 1\n{sheet}[[cloth]]\nname = \"b\"\nrotation = [90, 0, 0]\nshape = {{ kind = \"sheet\", size = [1, 1], cells = [3, 3] }}\n"
        ),
    );
    let out = folder.path().join("tangled");
    let message = refusal(&["run", &tangled, "-o", out.to_str().unwrap()]);
    assert!(
        message.contains("tangled") && message.contains("'a'") && message.contains("'b'"),
        "{message}"
    );
    assert!(message.contains("move the objects apart"), "{message}");
}

#[test]
fn a_start_that_contradicts_its_layers_is_warned_of_and_runs() {
    let folder = tempfile::tempdir().unwrap();
    let sheet = |name: &str, layer: i32, y: f64| {
        format!(
            "[[cloth]]\nname = \"{name}\"\nlayer = {layer}\nposition = [{y}, {y}, 0]\n\
             shape = {{ kind = \"sheet\", size = [1, 1], cells = [4, 4] }}\n"
        )
    };
    for (layers, is_warned) in [([0, 1], false), ([2, 1], true)] {
        let [shirt, coat] = layers;
        let scene = folder.path().join("layers.toml");
        let head = "frames = 1\nfps = 60\nthickness = 1e-2\n";
        let text = [
            head,
            &sheet("shirt", shirt, 0.0),
            &sheet("coat", coat, 0.009),
        ]
        .concat();
        std::fs::write(&scene, text).unwrap();
        let out = folder.path().join("out");
        let arguments = ["run", scene.to_str().unwrap(), "--force", "--json", "-o"];
        let run = percale(&arguments).arg(&out).output().unwrap();
        assert!(run.status.success(), "{run:?}");
        let warning = String::from_utf8(run.stderr.clone()).unwrap();
        assert_eq!(warning.contains("warning"), is_warned, "{warning}");
        assert_eq!(json(&run)["out_of_order"].as_u64().unwrap() > 0, is_warned);
        for words in [
            "'shirt' (layer 2)",
            "'coat' (layer 1)",
            "places",
            "swap the layers",
        ] {
            assert_eq!(warning.contains(words), is_warned, "{warning}");
        }
    }
}
