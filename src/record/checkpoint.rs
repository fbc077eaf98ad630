//! The checkpoint of a result folder: all that a run remembers, and the seal of the folder's checksums.
//!
//! ```text
//! 8 bytes "PERCALC4", length of the version (u64), version, 1 for a refused start or 0 (u64), tick (u64), interval (u64),
//! length of the checksums (u64), their SHA-256, positions, velocities (x y z in f64 of every vertex),
//! number of repulsions (u64), these (kind of pair, two indices in u32, two forces),
//! number of tensions (u64), these (face in u32, f64),
//! tangles (path, two sides, two insides each: their numbers (u64), then u32),
//! SHA-256 of all that; little-endian
//! ```

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::cache::{bytes_of, take_u64, vectors_of};
use super::checksums::{self, REMEDY, Seal};
use super::error::{ResultError, damaged, read};
use crate::dynamics::Tension;
use crate::geometry::{Pair, Tangle};
use crate::response::Pressed;
use crate::scene::Scene;
use crate::step::{Checkpoint, TICKS_PER_FRAME};

const MAGIC: &[u8; 8] = b"PERCALC4";
/// Of builds that remembered no tension, or no tangles.
const LAST_MAGICS: [&[u8; 8]; 2] = [b"PERCALC2", b"PERCALC3"];
/// Of builds without checksums.
const OLD_MAGIC: &[u8; 8] = b"PERCALEC";
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A checkpoint as it lies in the folder; its own checksum is right.
#[derive(Debug)]
pub(super) struct Stored {
    path: PathBuf,
    /// Which version wrote it.
    pub(super) version: String,
    /// Whether the start was refused, so that there is nothing to go on from.
    pub(super) is_refused: bool,
    pub(super) seal: Seal,
    tick: u64,
    interval: u64,
    vectors: Vec<u8>,
}

impl Stored {
    /// Reads the checkpoint of a folder.
    pub(super) fn read(folder: &Path) -> Result<Self, ResultError> {
        let path = path_in(folder);
        if !path.exists() {
            let message = match checksums::path_in(folder).exists() {
                true => {
                    "the run has not stored its start yet; wait for it, or, if it was killed, \
                         run the scene anew with --force"
                }
                false => "no result folder; `percale run` makes one",
            };
            return Err(damaged(folder, message.into()));
        }
        let bytes = read(&path)?;
        if bytes.starts_with(OLD_MAGIC) {
            let message = "written by an earlier build, without checksums: nothing shows whether its frames are still \
                           those that were certified; run the scene anew (--force replaces the folder)";
            return Err(damaged(folder, message.into()));
        }
        if LAST_MAGICS.iter().any(|magic| bytes.starts_with(*magic)) {
            let message = "written by an earlier build, whose checkpoints hold less than this one goes on from; \
                           run the scene anew (--force replaces the folder)";
            return Err(damaged(folder, message.into()));
        }
        Self::parse(&bytes, &path).ok_or_else(|| {
            let message = format!("damaged: it does not have the checksum at its end; {REMEDY}");
            damaged(&path, message)
        })
    }

    /// What the bytes say, if they are whole.
    fn parse(bytes: &[u8], path: &Path) -> Option<Self> {
        let (content, digest) = bytes.split_last_chunk::<32>()?;
        if Sha256::digest(content)[..] != digest[..] {
            return None;
        }
        let mut rest = content.strip_prefix(MAGIC)?;
        let length = usize::try_from(take_u64(&mut rest)?).ok()?;
        let (version, mut rest) = rest.split_at_checked(length)?;
        let is_refused = take_u64(&mut rest)? == 1;
        let (tick, interval) = (take_u64(&mut rest)?, take_u64(&mut rest)?);
        let length = take_u64(&mut rest)?;
        let (digest, vectors) = rest.split_first_chunk::<32>()?;
        Some(Self {
            path: path.into(),
            version: String::from_utf8_lossy(version).into_owned(),
            is_refused,
            seal: Seal {
                length,
                digest: *digest,
            },
            tick,
            interval,
            vectors: vectors.to_vec(),
        })
    }

    /// The last frame that is there.
    pub(super) fn done(&self) -> u64 {
        self.tick / TICKS_PER_FRAME
    }

    /// What the run goes on from.
    pub(super) fn checkpoint(&self, vertex_count: usize) -> Result<Checkpoint, ResultError> {
        let parse = || {
            let (x, rest) = self.vectors.split_at_checked(24 * vertex_count)?;
            let (v, rest) = rest.split_at_checked(24 * vertex_count)?;
            let mut rest = rest;
            let count = usize::try_from(take_u64(&mut rest)?).ok()?;
            let (pressed, rest) = rest.split_at_checked(count.checked_mul(PRESSED_SIZE)?)?;
            let (pressed, _) = pressed.as_chunks::<PRESSED_SIZE>();
            let mut rest = rest;
            let count = usize::try_from(take_u64(&mut rest)?).ok()?;
            let (tension, rest) = rest.split_at_checked(count.checked_mul(TENSION_SIZE)?)?;
            let (tension, _) = tension.as_chunks::<TENSION_SIZE>();
            let mut rest = rest;
            let mut tangles = Vec::new();
            while !rest.is_empty() {
                tangles.push(take_tangle(&mut rest)?);
            }
            let checkpoint = Checkpoint {
                tick: self.tick,
                interval: self.interval,
                x: vectors_of(x),
                v: vectors_of(v),
                pressed: pressed.iter().map(pressed_of).collect::<Option<_>>()?,
                tension: tension.iter().map(tension_of).collect(),
                tangles,
            };
            Some(checkpoint)
        };
        parse().ok_or_else(|| {
            let message = format!("not a checkpoint of these objects; {REMEDY}");
            damaged(&self.path, message)
        })
    }
}

/// A checkpoint as bytes, to be kept by somebody else; says of which scene it is.
pub fn pack(checkpoint: &Checkpoint, scene: &Scene) -> Vec<u8> {
    bytes_of_checkpoint(Some(checkpoint), &seal_of(scene))
}

/// The checkpoint that [`pack`] made bytes of.
///
/// # Errors
/// The bytes are damaged, or of another scene or version.
pub fn unpack(bytes: &[u8], scene: &Scene, vertex_count: usize) -> Result<Checkpoint, ResultError> {
    let path = PathBuf::from("checkpoint");
    let different = |message: String| ResultError::Different {
        path: path.clone(),
        message,
    };
    let stored = Stored::parse(bytes, &path).ok_or_else(|| {
        damaged(
            &path,
            "damaged: these are not the bytes of a checkpoint; take another one".into(),
        )
    })?;
    if stored.version != VERSION {
        let message = format!("of version {}, this is {VERSION}", stored.version);
        return Err(different(message));
    }
    if stored.seal != seal_of(scene) {
        return Err(different("it is one of another scene".into()));
    }
    stored.checkpoint(vertex_count)
}

/// Stands for the checksums of a folder where there is none: the scene.
fn seal_of(scene: &Scene) -> Seal {
    Seal {
        length: 0,
        digest: Sha256::digest(scene.to_text()).into(),
    }
}

/// Where the checkpoint of a folder is.
pub(super) fn path_in(folder: &Path) -> PathBuf {
    folder.join("checkpoint")
}

/// Whether these are the first bytes of a checkpoint, of this or an earlier build.
pub(super) fn is_checkpoint(bytes: &[u8]) -> bool {
    let [before, last] = LAST_MAGICS;
    let all = [MAGIC, last, before, OLD_MAGIC];
    all.iter().any(|magic| bytes.starts_with(*magic))
}

/// The bytes of a checkpoint; none stands for a refused start.
pub(super) fn bytes_of_checkpoint(checkpoint: Option<&Checkpoint>, seal: &Seal) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend((VERSION.len() as u64).to_le_bytes());
    bytes.extend(VERSION.as_bytes());
    let (tick, interval) = checkpoint.map_or((0, 0), |c| (c.tick, c.interval));
    let is_refused = u64::from(checkpoint.is_none());
    for number in [is_refused, tick, interval, seal.length] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend(seal.digest);
    if let Some(checkpoint) = checkpoint {
        bytes.extend(bytes_of(&checkpoint.x));
        bytes.extend(bytes_of(&checkpoint.v));
        bytes.extend((checkpoint.pressed.len() as u64).to_le_bytes());
        for pressed in &checkpoint.pressed {
            let (kind, a, b) = match pressed.pair {
                Pair::VertexFace { vertex, face } => (0_u32, vertex, face),
                Pair::EdgeEdge { a, b } => (1, a, b),
            };
            bytes.extend([kind, a, b].iter().flat_map(|number| number.to_le_bytes()));
            bytes.extend(bytes_of(&[pressed.force, pressed.settling]));
        }
        bytes.extend((checkpoint.tension.len() as u64).to_le_bytes());
        for Tension { face, pull } in &checkpoint.tension {
            bytes.extend(face.to_le_bytes());
            bytes.extend(pull.to_le_bytes());
        }
        for tangle in &checkpoint.tangles {
            let path = tangle.path.as_flattened();
            let sets = tangle.sides.iter().chain(&tangle.inside).map(Vec::as_slice);
            for list in [path].into_iter().chain(sets) {
                bytes.extend((list.len() as u64).to_le_bytes());
                bytes.extend(list.iter().flat_map(|number| number.to_le_bytes()));
            }
        }
    }
    let digest = Sha256::digest(&bytes);
    bytes.extend(digest);
    bytes
}

/// Bytes of a repulsion in a checkpoint: kind of pair, two indices, two forces.
const PRESSED_SIZE: usize = 3 * 4 + 2 * 24;

/// Bytes of a tension in a checkpoint.
const TENSION_SIZE: usize = 4 + 8;

/// Takes a list of numbers.
fn take_list(rest: &mut &[u8]) -> Option<Vec<u32>> {
    let count = usize::try_from(take_u64(rest)?).ok()?;
    let (list, after) = rest.split_at_checked(count.checked_mul(4)?)?;
    *rest = after;
    let (numbers, _) = list.as_chunks::<4>();
    Some(numbers.iter().map(|n| u32::from_le_bytes(*n)).collect())
}

fn take_tangle(rest: &mut &[u8]) -> Option<Tangle> {
    let path = take_list(rest)?;
    let (pairs, []) = path.as_chunks::<2>() else {
        return None;
    };
    let path = pairs.to_vec();
    let mut two = || Some([take_list(rest)?, take_list(rest)?]);
    Some(Tangle {
        path,
        sides: two()?,
        inside: two()?,
    })
}

fn tension_of(&[a, b, c, d, pull @ ..]: &[u8; TENSION_SIZE]) -> Tension {
    Tension {
        face: u32::from_le_bytes([a, b, c, d]),
        pull: f64::from_le_bytes(pull),
    }
}

fn pressed_of(bytes: &[u8; PRESSED_SIZE]) -> Option<Pressed> {
    let (numbers, forces) = bytes.split_at(12);
    let number = |k: usize| {
        let (number, _) = numbers[4 * k..].split_first_chunk()?;
        Some(u32::from_le_bytes(*number))
    };
    let (first, second) = (number(1)?, number(2)?);
    let pair = match number(0)? {
        0 => Pair::VertexFace {
            vertex: first,
            face: second,
        },
        1 => Pair::EdgeEdge {
            a: first,
            b: second,
        },
        _ => return None,
    };
    let [force, settling] = vectors_of(forces)[..] else {
        return None;
    };
    Some(Pressed {
        pair,
        force,
        settling,
    })
}
