//! The checksums of a result folder: a line for each file, and for each part of the files that grow.
//!
//! ```text
//! percale checksums 1
//! SHA-256 in hex  scene.toml
//! SHA-256 in hex  objects/cloth.obj
//! SHA-256 in hex  objects/cloth.x64 frame 0
//! SHA-256 in hex  frames.jsonl line 1
//! ```
//!
//! The file is only appended to. The checkpoint holds a [`Seal`] of the lines that belong to it and a checksum of itself, so that
//! every byte a reader uses hangs on the checkpoint; lines behind the seal are half-written. This finds accidents of disks, copies
//! and people, not forgery: who can write the folder can write its checksums.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::error::{ResultError, damaged, read};

/// The first line; it also tells a result folder from something else.
pub(super) const HEADER: &str = "percale checksums 1\n";

/// What is wrong with a file that does not have its checksum, and what to do.
pub(super) const REMEDY: &str =
    "restore the folder from a copy, or run the scene anew (--force replaces the folder)";

/// Length of the checksums that belong to a checkpoint, in bytes, and their SHA-256.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seal {
    pub(super) length: u64,
    pub(super) digest: [u8; 32],
}

/// Checksums by what they are of; grows with the run.
#[derive(Debug)]
pub(super) struct Checksums {
    of: BTreeMap<String, String>,
    /// Over the whole text, written or not.
    hash: Sha256,
    length: u64,
    /// What has not been written yet.
    unwritten: String,
}

impl Checksums {
    /// The checksums of nothing, with the first line to be written.
    pub(super) fn new() -> Self {
        let mut checksums = Self {
            of: BTreeMap::new(),
            hash: Sha256::new(),
            length: 0,
            unwritten: String::new(),
        };
        checksums.push(HEADER);
        checksums
    }

    /// Reads those that belong to a checkpoint.
    pub(super) fn read(folder: &Path, seal: &Seal) -> Result<Self, ResultError> {
        let path = path_in(folder);
        let bytes = read(&path)?;
        let wrong = |what: &str| damaged(&path, format!("{what}; {REMEDY}"));
        let sealed = usize::try_from(seal.length)
            .ok()
            .and_then(|length| bytes.get(..length))
            .ok_or_else(|| {
                let (found, needed) = (bytes.len(), seal.length);
                wrong(&format!(
                    "truncated: {found} bytes of {needed} that the checkpoint needs"
                ))
            })?;
        if Sha256::digest(sealed)[..] != seal.digest[..] {
            return Err(wrong("damaged: not the checksums of this checkpoint"));
        }
        let lines = std::str::from_utf8(sealed)
            .ok()
            .and_then(|text| text.strip_prefix(HEADER))
            .ok_or_else(|| wrong("not a file of checksums"))?;
        let of: Option<BTreeMap<String, String>> = lines
            .lines()
            .map(|line| line.split_once("  "))
            .map(|parts| parts.map(|(sum, what)| (what.into(), sum.into())))
            .collect();
        Ok(Self {
            of: of.ok_or_else(|| wrong("not a file of checksums"))?,
            hash: Sha256::new_with_prefix(sealed),
            length: seal.length,
            unwritten: String::new(),
        })
    }

    /// Takes down the checksum of a file or a part of one.
    pub(super) fn note(&mut self, what: String, bytes: &[u8]) {
        let sum = hex(&Sha256::digest(bytes));
        self.push(&format!("{sum}  {what}\n"));
        self.of.insert(what, sum);
    }

    fn push(&mut self, text: &str) {
        self.hash.update(text);
        self.length += text.len() as u64;
        self.unwritten += text;
    }

    /// The text that has not been written yet; it counts as written then.
    pub(super) fn take_unwritten(&mut self) -> String {
        std::mem::take(&mut self.unwritten)
    }

    /// What a checkpoint holds about everything noted so far.
    pub(super) fn seal(&self) -> Seal {
        Seal {
            length: self.length,
            digest: self.hash.clone().finalize().into(),
        }
    }

    /// Whether the run has written something of this name.
    pub(super) fn lists(&self, what: &str) -> bool {
        self.of.contains_key(what)
    }

    /// Compares what was read with what was written.
    pub(super) fn check(&self, path: &Path, what: &str, bytes: &[u8]) -> Result<(), ResultError> {
        let wrong = |problem: &str| Err(damaged(path, format!("{problem}; {REMEDY}")));
        match self.of.get(what) {
            Some(sum) if *sum == hex(&Sha256::digest(bytes)) => Ok(()),
            Some(_) => wrong(&format!(
                "damaged: {what} does not have the checksum that the run wrote"
            )),
            None => wrong(&format!("the run has written no checksum of {what}")),
        }
    }
}

/// Where the checksums of a folder are.
pub(super) fn path_in(folder: &Path) -> PathBuf {
    folder.join("checksums")
}

/// What the checksum of a frame of an object is listed under.
pub(super) fn frame_of(object: &str, frame: u64) -> String {
    format!("objects/{object}.x64 frame {frame}")
}

/// What the checksum of a frame's report, a line with its end, is listed under.
pub(super) fn line_of(frame: u64) -> String {
    format!("frames.jsonl line {frame}")
}

/// A digest in hexadecimal digits.
pub(super) fn hex(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

const JSON_KEY: &str = ",\n  \"checksum\": \"";
const JSON_END: &str = "\"\n}\n";

/// Adds a last key `checksum` to a JSON object: the SHA-256 of all text before that key.
pub(super) fn seal_json(object: &str) -> String {
    let before = object.trim_end().trim_end_matches('}').trim_end();
    let sum = hex(&Sha256::digest(before));
    format!("{before}{JSON_KEY}{sum}{JSON_END}")
}

/// Whether a JSON object is as [`seal_json`] has left it, to the byte.
pub(super) fn is_sealed_json(object: &[u8]) -> bool {
    let tail = JSON_KEY.len() + 64 + JSON_END.len();
    let Some((before, tail)) =
        (object.len().checked_sub(tail)).and_then(|length| object.split_at_checked(length))
    else {
        return false;
    };
    let sum = hex(&Sha256::digest(before));
    tail == format!("{JSON_KEY}{sum}{JSON_END}").as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_of_a_sealed_object_counts() {
        let sealed = seal_json("{\n  \"frames\": 3,\n  \"list\": [\n    {}\n  ]\n}");
        let value: serde_json::Value = serde_json::from_str(&sealed).unwrap();
        assert_eq!(value["frames"], 3);
        assert_eq!(value["checksum"].as_str().unwrap().len(), 64);
        assert!(is_sealed_json(sealed.as_bytes()));
        for bit in 0..8 * sealed.len() {
            let mut bytes = sealed.clone().into_bytes();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(!is_sealed_json(&bytes), "bit {bit}");
        }
        for length in 0..sealed.len() {
            assert!(!is_sealed_json(&sealed.as_bytes()[..length]), "{length}");
        }
    }

    #[test]
    fn what_lies_behind_the_seal_does_not_count_and_every_bit_before_does() {
        let folder = tempfile::tempdir().unwrap();
        let mut checksums = Checksums::new();
        checksums.note("scene.toml".into(), b"frames = 3");
        let seal = checksums.seal();
        let sealed = checksums.take_unwritten();
        checksums.note(line_of(1), b"{}\n");
        let path = path_in(folder.path());
        std::fs::write(&path, [&sealed, &checksums.take_unwritten()[..30]].concat()).unwrap();

        let found = Checksums::read(folder.path(), &seal).unwrap();
        assert_eq!(found.seal(), seal);
        found.check(&path, "scene.toml", b"frames = 3").unwrap();
        for (what, bytes) in [
            ("scene.toml", "frames = 4"),
            ("frames.jsonl line 1", "{}\n"),
        ] {
            found.check(&path, what, bytes.as_bytes()).unwrap_err();
        }
        for bit in 0..8 * sealed.len() {
            let mut bytes = sealed.clone().into_bytes();
            bytes[bit / 8] ^= 1 << (bit % 8);
            std::fs::write(&path, bytes).unwrap();
            Checksums::read(folder.path(), &seal).unwrap_err();
        }
    }
}
