//! Hashes of the first frames of every small scene: a change of structure does not change a bit.
//!
//! A change of method does, and says so in its commit: `PERCALE_BLESS=1 cargo test --test suite golden` writes the table anew.

use std::collections::BTreeMap;
use std::path::Path;

use percale::scene::{BUILTIN, Scene, Variant};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Golden {
    frames: u64,
    hash: String,
}

/// SHA-256 of the little-endian positions of the start and of some frames.
fn hash(name: &str, frames: u64) -> String {
    let scene = Scene::load_variant(name, Variant::Small).unwrap();
    let mut simulation = scene.build().unwrap();
    let mut hash = Sha256::new();
    for frame in 0..=frames {
        if frame > 0 {
            simulation.step().unwrap();
        }
        for x in simulation.state().positions() {
            hash.update(x.to_array().map(f64::to_le_bytes).concat());
        }
    }
    let digest = hash.finalize();
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn small_scenes_keep_their_bits() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/small-scenes.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut golden: BTreeMap<String, Golden> = toml::from_str(&text).unwrap();
    let names = BUILTIN.iter().map(|(name, _)| *name);
    assert_eq!(
        golden
            .keys()
            .map(String::as_str)
            .collect::<std::collections::BTreeSet<_>>(),
        names.collect()
    );
    let mut changed = Vec::new();
    for (name, golden) in &mut golden {
        let hash = hash(name, golden.frames);
        if hash != golden.hash {
            changed.push(name.clone());
            golden.hash = hash;
        }
    }
    if std::env::var_os("PERCALE_BLESS").is_some() {
        let comment = text.lines().take_while(|line| line.starts_with('#'));
        let comment: String = comment.map(|line| format!("{line}\n")).collect();
        std::fs::write(
            path,
            format!("{comment}{}", toml::to_string(&golden).unwrap()),
        )
        .unwrap();
    } else {
        assert!(
            changed.is_empty(),
            "other bits than in {}: {changed:?}",
            path.display()
        );
    }
}
