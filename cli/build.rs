//! Tells the binary its commit, if it is built in a repository and git is there to ask; nothing depends on either.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let commit = commit();
    let version = env!("CARGO_PKG_VERSION");
    println!(
        "cargo::rustc-env=PERCALE_COMMIT={}",
        commit.as_deref().unwrap_or_default()
    );
    let version = match commit {
        Some(commit) => format!("{version} (commit {commit})"),
        None => version.into(),
    };
    println!("cargo::rustc-env=PERCALE_VERSION={version}");
}

/// The commit that is checked out, shortened; none outside of a repository of our own.
fn commit() -> Option<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent()?;
    // sources unpacked inside of somebody else's repository have no commit
    let top = git(root, &["rev-parse", "--show-toplevel"])?;
    if Path::new(&top).canonicalize().ok()? != root.canonicalize().ok()? {
        return None;
    }
    // every commit and checkout adds a line there
    let log = root.join(git(root, &["rev-parse", "--git-path", "logs/HEAD"])?);
    if log.exists() {
        println!("cargo::rerun-if-changed={}", log.display());
    }
    git(root, &["rev-parse", "--short=10", "HEAD"])
}

fn git(folder: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(arguments)
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !text.trim().is_empty()).then(|| text.trim().into())
}
