//! Citations exist, and documents say what is true.

use std::fs;
use std::path::{Path, PathBuf};

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Keys like `[BFA02]`: two to five capitals and two digits.
fn keys(text: &str) -> Vec<&str> {
    text.split('[')
        .skip(1)
        .filter_map(|after| {
            after
                .split_once(']')
                .map(|(key, _)| key.trim_end_matches('\\'))
        })
        .filter(|key| {
            let letters = key.trim_end_matches(|c: char| c.is_ascii_digit());
            key.len() == letters.len() + 2
                && (2..=5).contains(&letters.len())
                && letters.chars().all(|c| c.is_ascii_uppercase())
        })
        .collect()
}

#[test]
fn every_cited_key_is_in_the_bibliography() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let bibliography = fs::read_to_string(root.join("docs/references.md")).unwrap();
    let known = keys(&bibliography);
    assert!(
        known.contains(&"BFA02"),
        "the bibliography is where this test looks for it"
    );
    let mut files = Vec::new();
    sources(&root.join("src"), &mut files);
    for file in files {
        for key in keys(&fs::read_to_string(&file).unwrap()) {
            assert!(
                known.contains(&key),
                "{}: [{key}] is not in docs/references.md",
                file.display()
            );
        }
    }
}
