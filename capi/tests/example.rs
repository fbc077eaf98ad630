//! C programs, compiled and run against the shared library: the example, that of the guide, and ten thousand bad calls.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The folder of the shared library, which is built with this test.
fn library() -> PathBuf {
    let test = env::current_exe().expect("the path of this test");
    let folders = test.ancestors().skip(1).take(2);
    let mut found = folders.filter(|folder| folder.join("libpercale_c.so").exists());
    found
        .next()
        .expect("the shared library beside its test")
        .into()
}

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Compiles a program with warnings as errors.
fn compiled(source: &Path, folder: &Path) -> PathBuf {
    let program = folder.join("program");
    let done = Command::new("cc")
        .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"])
        .arg("-I")
        .arg(here().join("include"))
        .arg(source)
        .arg("-L")
        .arg(library())
        .args(["-lpercale_c", "-lm", "-o"])
        .arg(&program)
        .output()
        .expect("a C compiler, `cc`; on Debian and Ubuntu: apt install build-essential");
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    program
}

fn ran(program: &Path, arguments: &[&str]) -> Output {
    Command::new(program)
        .args(arguments)
        .env("LD_LIBRARY_PATH", library())
        .output()
        .expect("the program that was compiled")
}

#[test]
fn the_example_falls_untangles_steps_and_is_refused_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(&here().join("examples/falling.c"), folder.path());
    let done = ran(&program, &[]);
    assert!(done.status.success(), "{done:?}");
    assert!(String::from_utf8_lossy(&done.stdout).contains("all is well"));
}

#[test]
fn a_run_from_c_has_the_hash_of_the_library() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(&here().join("examples/falling.c"), folder.path());
    let scene = folder.path().join("scene.toml");
    let text = "frames = 9\n[[cloth]]\nname = \"a\"\nposition = [0, 0.26, 0]\nshape = { kind = \"sheet\", size = [1, 1], cells = [6, 6] }\n\
                [[obstacle]]\nname = \"ball\"\nshape = { kind = \"sphere\", radius = 0.25, subdivisions = 1 }\n";
    std::fs::write(&scene, text).unwrap();
    let out = folder.path().join("out");
    let done = ran(&program, &[scene.to_str().unwrap(), out.to_str().unwrap()]);
    assert!(done.status.success(), "{done:?}");
    let report: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();

    let scene = percale::Scene::load(scene.to_str().unwrap()).unwrap();
    let mut simulation = scene.build().unwrap();
    let each =
        &mut |_: &percale::Simulation, _: &percale::Figures| std::ops::ControlFlow::Continue(());
    let again = folder.path().join("again");
    let earlier = percale::record::Earlier::Refuse;
    let summary = percale::record::run(&scene, &mut simulation, &again, 3, earlier, each).unwrap();
    assert_eq!(report["hash"], summary.hash.as_str());
}

#[test]
fn the_c_program_of_the_guide_runs() {
    let page = std::fs::read_to_string(here().join("../docs/guide/own-integrator.md")).unwrap();
    let (_, program) = page.split_once("```c\n").expect("a C program");
    let (program, _) = program.split_once("```").expect("its end");
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("program.c");
    std::fs::write(&source, program).unwrap();
    let done = ran(&compiled(&source, folder.path()), &[]);
    assert!(done.status.success(), "{done:?}");
}

#[test]
fn bad_calls_are_refused_and_nothing_crashes() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(&here().join("tests/bad_calls.c"), folder.path());
    let done = ran(&program, &[]);
    assert!(done.status.success(), "{done:?}");
    let text = String::from_utf8(done.stdout).unwrap();
    let counts: Vec<u32> = text
        .split_whitespace()
        .map(|n| n.parse().unwrap())
        .collect();
    assert_eq!(counts[0] + counts[1], 10_000);
    assert!(
        counts[0] > 500 && counts[1] > 2_500,
        "both kinds are there: {text}"
    );
}
