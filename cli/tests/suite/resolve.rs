//! `percale resolve` as a user sees it: velocities, files that are kept, advice that this command can take.

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::support::finished_in;

/// A sheet of two triangles at a height.
fn sheet(height: f64) -> String {
    let corners = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
    let line = |[x, z]: [f64; 2]| format!("v {x} {height} {z}\n");
    corners.map(line).concat() + "f 1 2 3\nf 1 3 4\n"
}

/// A folder with a sheet that falls by 0.1 m through a shelf at 0.05 m.
fn fall() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| fs::write(folder.path().join(name), text).unwrap();
    write("before.obj", sheet(0.1));
    write("after.obj", sheet(0.0));
    write("shelf.obj", sheet(0.05));
    write("apart.obj", sheet(-1.0));
    folder
}

fn resolve(folder: &Path, arguments: &[&str]) -> Output {
    finished_in(folder, &[&["resolve"], arguments].concat())
}

fn refused(folder: &Path, code: i32, arguments: &[&str]) -> String {
    let output = resolve(folder, arguments);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {stderr}");
    stderr
}

#[test]
fn velocities_are_metres_per_second_of_the_given_duration() {
    let folder = fall();
    for (dt, speed) in [(None, -6.0), (Some("0.5"), -0.2)] {
        let mut arguments = vec![
            "before.obj",
            "after.obj",
            "-o",
            "result.obj",
            "--velocities",
            "v.txt",
        ];
        arguments.extend(dt.iter().flat_map(|dt| ["--dt", dt]));
        let output = resolve(folder.path(), &arguments);
        assert!(output.status.success(), "{output:?}");
        let text = fs::read_to_string(folder.path().join("v.txt")).unwrap();
        let rows: Vec<Vec<f64>> = text
            .lines()
            .map(|line| line.split(' ').map(|word| word.parse().unwrap()).collect())
            .collect();
        assert_eq!(rows.len(), 4);
        for row in rows {
            assert!(
                (row[1] - speed).abs() < 1e-12 && row[0] == 0.0,
                "{dt:?}: {row:?}"
            );
        }
    }
    for dt in ["0", "-1", "nan", "inf", "1e-300"] {
        let dt_argument = format!("--dt={dt}");
        let message = refused(
            folder.path(),
            2,
            &["before.obj", "after.obj", "-o", "new.obj", &dt_argument],
        );
        assert!(
            message.contains("--dt") && message.contains("seconds"),
            "{message}"
        );
    }
    assert!(!folder.path().join("new.obj").exists());
}

#[test]
fn no_input_is_overwritten_under_any_name() {
    let folder = fall();
    let path = |name: &str| folder.path().join(name);
    fs::hard_link(path("before.obj"), path("hard.obj")).unwrap();
    let mut names = vec![
        "before.obj",
        "after.obj",
        "./before.obj",
        "hard.obj",
        "shelf.obj",
    ];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(path("after.obj"), path("soft.obj")).unwrap();
        names.push("soft.obj");
    }
    let obstacle = ["--obstacle", "shelf.obj", "apart.obj"];
    for name in names {
        for outputs in [
            ["-o", name, "--velocities", "v.txt"],
            ["-o", "new.obj", "--velocities", name],
        ] {
            let arguments = [&["before.obj", "after.obj"], &outputs[..], &obstacle].concat();
            let message = refused(folder.path(), 2, &arguments);
            assert!(message.contains("would be overwritten"), "{message}");
        }
    }
    let twice = [
        "before.obj",
        "after.obj",
        "-o",
        "new.obj",
        "--velocities",
        "new.obj",
    ];
    assert!(refused(folder.path(), 2, &twice).contains("would be overwritten"));
    for (name, height) in [("before.obj", 0.1), ("after.obj", 0.0), ("shelf.obj", 0.05)] {
        assert_eq!(fs::read_to_string(path(name)).unwrap(), sheet(height));
    }
    assert!(!path("new.obj").exists() && !path("v.txt").exists());
}

#[test]
fn advice_names_what_the_command_has_and_bodies_have_the_names_of_files() {
    let folder = fall();
    let shelf = ["--obstacle", "shelf.obj", "shelf.obj"];
    let base = ["before.obj", "after.obj", "-o", "result.obj"];
    let given = ["--response", "impulses", "--thickness", "1e-9"];
    fs::write(folder.path().join("all.txt"), "0 1 2 3").unwrap();
    let fixed = ["--fixed", "all.txt"];

    let message = refused(
        folder.path(),
        1,
        &[&base[..], &shelf, &given, &fixed].concat(),
    );
    assert!(
        message.contains("'before'") && message.contains("'shelf'"),
        "{message}"
    );
    assert!(message.contains("driven into each other"), "{message}");
    for word in ["soft", "until"] {
        assert!(!message.contains(word), "no key of a scene: {message}");
    }
    let message = refused(folder.path(), 1, &[&base[..], &shelf, &fixed].concat());
    assert!(
        message.contains("--fixed") && message.contains("--obstacle"),
        "{message}"
    );
    for word in ["min_interval", "failsafe"] {
        assert!(!message.contains(word), "{message}");
    }

    let start = [
        "before.obj",
        "after.obj",
        "-o",
        "result.obj",
        "--obstacle",
        "before.obj",
        "before.obj",
    ];
    let message = refused(folder.path(), 2, &start);
    assert!(message.contains("'before'"), "{message}");
}
