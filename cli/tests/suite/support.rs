//! The program, started.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// The program under test.
pub(crate) const PERCALE: &str = env!("CARGO_BIN_EXE_percale");

/// The program with arguments; it is given no input, and what it prints can be read.
pub(crate) fn percale(arguments: &[&str]) -> Command {
    let mut command = Command::new(PERCALE);
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// The program, run to its end.
pub(crate) fn finished(arguments: &[&str]) -> Output {
    percale(arguments).output().unwrap()
}

/// The program, run to its end in a folder.
pub(crate) fn finished_in(folder: &Path, arguments: &[&str]) -> Output {
    percale(arguments).current_dir(folder).output().unwrap()
}

/// Copies a folder with all that is in it; what was there before is gone.
pub(crate) fn copy(from: &Path, to: &Path) {
    let _ = fs::remove_dir_all(to);
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::write(&target, fs::read(&path).unwrap()).unwrap();
        }
    }
}
