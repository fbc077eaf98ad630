//! The C example, compiled and run against the shared library.

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

/// Compiles the example with warnings as errors, as C and as C++ does it.
fn compiled(folder: &Path) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = folder.join("falling");
    let done = Command::new("cc")
        .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"])
        .arg("-I")
        .arg(here.join("include"))
        .arg(here.join("examples/falling.c"))
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
    let program = compiled(folder.path());
    let done = ran(&program, &[]);
    assert!(done.status.success(), "{done:?}");
    assert!(String::from_utf8_lossy(&done.stdout).contains("all is well"));
}

#[test]
fn a_run_from_c_has_the_hash_of_the_library() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(folder.path());
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
