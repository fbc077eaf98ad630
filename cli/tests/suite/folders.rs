//! Result folders that two runs want, that are damaged, or that are none: nothing wrong is accepted, nothing foreign is touched.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::random::Random;
use crate::support::{copy, percale};

/// Two equal cloths above a ball; `{turn}` is how the second is turned.
const SCENE: &str = "\
frames = 3
fps = 60
thickness = 1e-3
[[cloth]]
name = \"a\"
position = [0, 0.12, 0]
shape = { kind = \"sheet\", size = [0.2, 0.2], cells = [3, 3] }
[[cloth]]
name = \"b\"
position = [0, 0.14, 0]
rotation = [{turn}, 0, 0]
shape = { kind = \"sheet\", size = [0.2, 0.2], cells = [3, 3] }
[[obstacle]]
name = \"ball\"
shape = { kind = \"sphere\", radius = 0.1, subdivisions = 1 }
";

/// A folder of its own with the scene, and one in which the cloths start crossed.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, turn) in [("scene.toml", "0"), ("tangled.toml", "90")] {
            let text = SCENE.replace("{turn}", turn);
            fs::write(folder.path().join(name), text).unwrap();
        }
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = percale(arguments);
        command.current_dir(self.folder.path());
        command
    }

    fn percale(&self, arguments: &[&str]) -> Output {
        output_of(self.command(arguments).spawn().unwrap())
    }

    /// Runs the scene and gives its totals.
    fn run(&self, out: &str, more: &[&str]) -> Value {
        let output = self.percale(&[&["run", "scene.toml", "--json", "-o", out], more].concat());
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    }

    fn refusal(&self, arguments: &[&str]) -> String {
        let output = self.percale(arguments);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
        assert!(output.stdout.is_empty(), "errors do not go to stdout");
        message
    }

    fn copy(&self, from: &str, to: &str) {
        copy(&self.path(from), &self.path(to));
    }
}

/// All files below a folder.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap();
                found.insert(name.to_string(), fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// Ends a process with the test, however that ends.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill(); // it may have ended
        let _ = self.0.wait();
    }
}

/// Waits for a minute at most.
fn output_of(mut child: Child) -> Output {
    let deadline = Instant::now() + Duration::from_secs(60);
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > deadline {
            child.kill().unwrap();
            panic!("it hangs: {:?}", child.wait_with_output());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    child.wait_with_output().unwrap()
}

#[test]
fn a_folder_has_one_writer_and_many_readers_and_is_free_when_the_writer_is_killed() {
    let place = Place::new();
    let long = ["run", "scene.toml", "-o", "out", "--frames", "1000000"];
    let mut writer = Killed(place.command(&long).spawn().unwrap());
    let journal = place.path("out/frames.jsonl");
    let deadline = Instant::now() + Duration::from_secs(60);
    while fs::read_to_string(&journal).map_or(0, |text| text.lines().count()) < 3 {
        assert!(Instant::now() < deadline, "the run does not get going");
        std::thread::sleep(Duration::from_millis(2));
    }
    let id = format!("process {}", writer.0.id());
    for more in ["--force", "--resume"] {
        let message = place.refusal(&[&long[..], &[more]].concat());
        for words in ["out", &id, "-o"] {
            assert!(message.contains(words), "{more}: {message}");
        }
    }
    assert!(place.refusal(&long).contains(&id));
    let check = place.percale(&["check", "out", "--json"]);
    assert!(check.status.success(), "{check:?}");
    let answer: Value = serde_json::from_slice(&check.stdout).unwrap();
    assert_eq!(answer["ended"], false);
    for more in [
        &["export", "out", "--format", "pc2", "-o", "pc2"][..],
        &["render", "out", "--frames", "0", "-o", "0.png"],
    ] {
        let output = place.percale(more);
        assert!(output.status.success(), "{output:?}");
    }
    assert!(
        writer.0.try_wait().unwrap().is_none(),
        "it was not disturbed"
    );
    drop(writer); // SIGKILL

    let done = fs::read_to_string(&journal).unwrap().lines().count();
    let frames = (done + 2).to_string();
    let resumed = place.run("out", &["--resume", "--frames", &frames]);
    let whole = place.run("whole", &["--frames", &frames]);
    assert_eq!(resumed["hash"], whole["hash"]);
}

#[test]
fn what_is_not_a_result_is_neither_continued_nor_replaced() {
    let place = Place::new();
    let message = place.refusal(&["run", "scene.toml", "--resume", "-o", "none"]);
    assert!(
        message.contains("none: there is no result") && message.contains("without --resume"),
        "{message}"
    );
    assert!(!place.path("none").exists());

    // a project of somebody's own has a scene and objects too
    let foreign = place.path("project");
    fs::create_dir_all(foreign.join("objects")).unwrap();
    for name in [
        "scene.toml",
        "objects/body.obj",
        "frames.jsonl",
        "report.json",
        "checkpoint",
        "lock",
    ] {
        fs::write(foreign.join(name), "mine").unwrap();
    }
    let before = files(&foreign);
    for more in ["--force", "--resume", "--json"] {
        let message = place.refusal(&["run", "scene.toml", "-o", "project", more]);
        assert!(
            message.contains("project")
                && message.contains("not a result")
                && message.contains("-o"),
            "{message}"
        );
        assert_eq!(files(&foreign), before, "{more}");
    }
    for command in [&["check", "project"][..], &["render", "project"]] {
        assert!(place.refusal(command).contains("project"));
    }

    // what somebody has put beside a result stays when that is replaced
    place.run("out", &[]);
    fs::write(place.path("out/notes.txt"), "mine").unwrap();
    fs::write(place.path("out/objects/body.obj"), "mine").unwrap();
    fs::write(place.path("out/objects/old.x64"), "PERCALE1").unwrap();
    place.run("out", &["--force"]);
    for name in ["out/notes.txt", "out/objects/body.obj"] {
        assert_eq!(fs::read_to_string(place.path(name)).unwrap(), "mine");
    }
    assert!(!place.path("out/objects/old.x64").exists());
}

#[test]
fn a_folder_of_an_earlier_build_is_refused_by_name_and_can_be_replaced() {
    let place = Place::new();
    place.run("out", &[]);
    fs::remove_file(place.path("out/checksums")).unwrap();
    fs::write(
        place.path("out/checkpoint"),
        b"PERCALEC\x05\0\0\0\0\0\0\x000.1.0",
    )
    .unwrap();
    for command in [
        &["check", "out"][..],
        &["render", "out"],
        &["export", "out", "--format", "obj"],
        &["run", "scene.toml", "-o", "out", "--resume"],
    ] {
        let message = place.refusal(command);
        assert!(
            message.contains("earlier build") && message.contains("--force"),
            "{message}"
        );
    }
    let message = place.refusal(&["run", "scene.toml", "-o", "out"]);
    assert!(message.contains("already holds a result"), "{message}");
    place.run("out", &["--force"]);
    assert!(place.percale(&["check", "out"]).status.success());
}

#[test]
fn truncated_empty_missing_and_exchanged_files_are_named() {
    let place = Place::new();
    place.run("whole", &[]);
    place.run("other", &["--set", "cloth.a.position=[0, 0.13, 0]"]);
    type Harm = fn(&Path, &Path);
    let harms: [(&str, Harm); 4] = [
        ("shortened", |path, _| {
            let bytes = fs::read(path).unwrap();
            fs::write(path, &bytes[..bytes.len() - 1]).unwrap();
        }),
        ("emptied", |path, _| fs::write(path, "").unwrap()),
        ("made a folder", |path, _| {
            fs::remove_file(path).unwrap();
            fs::create_dir(path).unwrap();
        }),
        ("taken from another run", |path, other| {
            fs::copy(other, path).unwrap();
        }),
    ];
    let names = files(&place.path("whole"));
    for name in names.keys().filter(|name| *name != "lock") {
        for (what, harm) in harms {
            let is_equal = names[name] == fs::read(place.path("other").join(name)).unwrap();
            if what == "taken from another run" && is_equal {
                continue;
            }
            place.copy("whole", "hurt");
            let [hurt, other] = ["hurt", "other"].map(|folder| place.path(folder).join(name));
            harm(&hurt, &other);
            for command in [
                &["check", "hurt"][..],
                &["render", "hurt", "--size", "32x32", "-o", "png"],
                &["export", "hurt", "--format", "pc2", "-o", "pc2"],
                &["run", "scene.toml", "-o", "hurt", "--resume"],
            ] {
                let output = place.percale(command);
                let message = String::from_utf8(output.stderr).unwrap();
                let case = format!("{name} {what}, {command:?}: {message}");
                // a report is written anew by a run that goes on; that of another run is told by its hash
                if name == "report.json"
                    && (command[0] == "run" || what.starts_with("taken") && command[0] != "check")
                {
                    assert_ne!(output.status.code(), Some(101), "{case}");
                    continue;
                }
                assert!([1, 2].contains(&output.status.code().unwrap()), "{case}");
                // checksums and checkpoint of another run do not go together, whichever was exchanged
                assert!(
                    message.contains(name) || message.contains("check"),
                    "{case}"
                );
            }
        }
        place.copy("whole", "hurt");
        fs::remove_file(place.path("hurt").join(name)).unwrap();
        let output = place.percale(&["check", "hurt"]);
        let code = if name == "report.json" { 0 } else { 2 };
        assert_eq!(output.status.code(), Some(code), "{name}: {output:?}");
    }

    for kind in ["obj", "x64"] {
        place.copy("whole", "hurt");
        let [a, b] = ["a", "b"].map(|name| place.path(&format!("hurt/objects/{name}.{kind}")));
        let (old_a, old_b) = (fs::read(&a).unwrap(), fs::read(&b).unwrap());
        fs::write(a, old_b).unwrap();
        fs::write(b, old_a).unwrap();
        for command in [
            &["check", "hurt"][..],
            &["run", "scene.toml", "-o", "hurt", "--resume"],
        ] {
            let message = place.refusal(command);
            assert!(message.contains(&format!("a.{kind}")), "{message}");
        }
    }
}

#[test]
fn a_folder_that_may_not_be_written_is_named_and_can_be_read() {
    let place = Place::new();
    place.run("out", &[]);
    let before = files(&place.path("out"));
    let everybody = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    everybody(place.folder.path(), 0o755);
    for name in before.keys() {
        everybody(&place.path("out").join(name), 0o444);
    }
    everybody(&place.path("out/objects"), 0o555);
    everybody(&place.path("out"), 0o555);
    // root may write everything
    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    let run = |arguments: &[&str]| {
        let mut command = place.command(arguments);
        if is_root {
            command.uid(65534);
        }
        command.output().unwrap()
    };
    for more in ["--resume", "--force"] {
        let output = run(&["run", "scene.toml", "-o", "out", "--frames", "5", more]);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(
            message.contains("out/lock") && message.contains("-o"),
            "{message}"
        );
    }
    assert_eq!(files(&place.path("out")), before);
    let check = run(&["check", "out"]);
    assert!(check.status.success(), "{check:?}");
    everybody(&place.path("out/objects"), 0o755);
    everybody(&place.path("out"), 0o755);
}

#[test]
fn a_tangled_start_is_named_by_object_and_place_and_left_to_be_looked_at() {
    let place = Place::new();
    let run = ["run", "tangled.toml", "-o", "out"];
    let message = place.refusal(&run);
    for words in [
        "face ",
        "of 'a'",
        "of 'b'",
        " m;",
        "percale check out",
        "render out --paths",
    ] {
        assert!(message.contains(words), "{message}");
    }
    // the cloth b stands on its edge, 2 cm above a: it goes through a along x
    let (_, tail) = message.split_once("at (").unwrap();
    let place_of: Vec<f64> = tail
        .split_once(')')
        .unwrap()
        .0
        .split(", ")
        .map(|c| c.parse().unwrap())
        .collect();
    assert!(place_of[0].abs() <= 0.1, "{message}");
    assert!(
        (place_of[1] - 0.12).abs() < 1e-4 && place_of[2].abs() < 1e-4,
        "{message}"
    );
    // 18 faces each: the second object's are counted from 0 again
    let (_, tail) = message.split_once("and face ").unwrap();
    assert!(
        tail.split(' ').next().unwrap().parse::<u32>().unwrap() < 18,
        "{message}"
    );

    let check = place.percale(&["check", "out", "--paths", "--json"]);
    assert_eq!(check.status.code(), Some(1), "{check:?}");
    let answer: Value = serde_json::from_slice(&check.stdout).unwrap();
    assert_eq!(answer["refused"], true);
    assert!(answer["intersections"].as_u64().unwrap() > 0);
    assert!(!answer["paths"].as_array().unwrap().is_empty());
    let text = String::from_utf8(place.percale(&["check", "out"]).stdout).unwrap();
    assert!(
        text.contains("refused") && text.contains("of 'b'"),
        "{text}"
    );
    let render = place.percale(&["render", "out", "--paths", "-o", "0.png", "--size", "64x48"]);
    assert!(
        render.status.success() && place.path("0.png").exists(),
        "{render:?}"
    );
    let export = place.percale(&["export", "out", "--format", "pc2"]);
    assert_eq!(
        export.status.code(),
        Some(1),
        "it is not certified: {export:?}"
    );

    let again = place.refusal(&run);
    assert!(
        again.contains("--force") && !again.contains("--resume"),
        "{again}"
    );
    let forced = place.refusal(&[&run[..], &["--force"]].concat());
    assert!(!forced.contains("--force"), "{forced}");
    let mended = ["run", "scene.toml", "-o", "out"];
    let message = place.refusal(&[&mended[..], &["--resume"]].concat());
    assert!(
        message.contains("refused") && message.contains("--force"),
        "{message}"
    );
    let message = place.refusal(&mended);
    assert!(
        message.contains("refused") && message.contains("--force"),
        "{message}"
    );
    place.run("out", &["--force"]);
    assert!(place.percale(&["check", "out"]).status.success());
    // a result is not given up for a start that is refused
    let message = place.refusal(&run);
    assert!(
        message.contains("tangled") && message.contains("already holds a result"),
        "{message}"
    );
    assert!(place.percale(&["check", "out"]).status.success());
}

/// What commands make of a folder.
#[derive(Clone, Debug, PartialEq)]
struct Outcome {
    code: Option<i32>,
    stdout: String,
    made: BTreeMap<String, Vec<u8>>,
    message: String,
}

impl Outcome {
    fn is_noticed(&self) -> bool {
        [Some(1), Some(2)].contains(&self.code) && self.message.starts_with("error: ")
    }
}

const COMMANDS: [&str; 4] = ["check", "render", "export", "run"];

/// Outcomes of the four commands on a folder, in the order of [`COMMANDS`].
fn outcomes(place: &Place, folder: &str) -> [Outcome; 4] {
    COMMANDS.map(|command| {
        let _ = fs::remove_dir_all(place.path("made"));
        let arguments: &[&str] = match command {
            "check" => &["check", folder, "--json"],
            "render" => &[
                "render", folder, "--frames", "1,3", "--size", "32x24", "-o", "made",
            ],
            "export" => &["export", folder, "--format", "pc2", "-o", "made"],
            _ => &[
                "run",
                "scene.toml",
                "-o",
                folder,
                "--resume",
                "--frames",
                "5",
                "--json",
            ],
        };
        let output = place.percale(arguments);
        let mut stdout = String::from_utf8(output.stdout).unwrap();
        if let Ok(Value::Object(mut report)) = serde_json::from_str(&stdout) {
            report.remove("seconds");
            report.remove("wall_seconds");
            stdout = serde_json::to_string(&report).unwrap();
        }
        let made = place.path("made");
        Outcome {
            code: output.status.code(),
            stdout,
            made: if made.exists() {
                files(&made)
            } else {
                BTreeMap::new()
            },
            message: without_progress(&output.stderr),
        }
    })
}

/// What was said, without lines that hold the time.
fn without_progress(stderr: &[u8]) -> String {
    let text = String::from_utf8(stderr.to_vec()).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with("frame "));
    lines.map(|line| format!("{line}\n")).collect()
}

/// Flips so many single bits, each in a fresh copy of a folder; each file gets its turn.
fn flip(count: usize, seed: u64) {
    let place = Place::new();
    place.run("whole", &[]);
    let whole = files(&place.path("whole"));
    place.copy("whole", "copy");
    let expected = outcomes(&place, "copy");
    assert!(
        expected.iter().all(|outcome| outcome.code == Some(0)),
        "{expected:?}"
    );
    let names: Vec<&String> = whole.keys().collect();
    let mut noticed: BTreeMap<&str, [usize; 5]> = BTreeMap::new();
    let mut dice = Random(seed);
    for number in 0..count {
        let name = names[number % names.len()];
        let mut bytes = whole[name].clone();
        let bit = dice.below(8 * bytes.len());
        bytes[bit / 8] ^= 1 << (bit % 8);
        place.copy("whole", "copy");
        fs::write(place.path("copy").join(name), bytes).unwrap();
        let row = noticed.entry(name).or_default();
        row[0] += 1;
        for (k, (found, expected)) in outcomes(&place, "copy").iter().zip(&expected).enumerate() {
            let case = format!(
                "seed {seed}, flip {number}: bit {bit} of {name}, {}: {found:?}",
                COMMANDS[k]
            );
            if found.is_noticed() {
                assert!(found.stdout.is_empty(), "noticed, but answered: {case}");
                row[k + 1] += 1;
                continue;
            }
            assert_eq!(found, expected, "damage accepted: {case}");
            // all that a command reads is protected: only pictures skip frames
            let reads = match (name.as_str(), COMMANDS[k]) {
                ("lock", _) | ("report.json", "run") => false,
                (name, "render") => !name.ends_with(".x64"),
                _ => true,
            };
            assert!(!reads, "{case}");
        }
    }
    eprintln!("file: flips, noticed by {COMMANDS:?}");
    for (name, row) in noticed {
        eprintln!("{name}: {row:?}");
    }
}

#[test]
fn no_command_accepts_a_folder_with_a_flipped_bit() {
    flip(44, 17);
}

#[test]
#[ignore = "minutes: a thousand flipped bits, four commands each"]
fn no_command_accepts_a_folder_with_one_of_a_thousand_flipped_bits() {
    flip(1000, 1);
}
