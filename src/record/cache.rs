//! The position cache of one object: certified bits, frame after frame.
//!
//! ```text
//! 8 bytes "PERCALE1", vertex count (u64), then x y z (f64) of every vertex for frame 0, 1, ...; little-endian
//! ```
//!
//! Each frame has a checksum of its own, see [`super::checksums`]; the header says what is known from elsewhere.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use glam::DVec3;

pub(super) use crate::io::x64::MAGIC;
const HEADER: u64 = 16;

/// The first bytes of a cache.
pub(super) fn header(vertex_count: usize) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend((vertex_count as u64).to_le_bytes());
    bytes
}

/// Length of a cache with this many frames, in bytes.
pub(super) fn length(vertex_count: usize, frames: u64) -> u64 {
    HEADER + frames * frame_length(vertex_count)
}

fn frame_length(vertex_count: usize) -> u64 {
    24 * vertex_count as u64
}

/// A cache that is open for reading.
#[derive(Debug)]
pub(super) struct Cache {
    file: File,
    vertex_count: usize,
    bytes: u64,
}

impl Cache {
    /// Opens a cache; the inner error says what is wrong with a file that is not one.
    pub(super) fn open(path: &Path) -> io::Result<Result<Self, String>> {
        let mut file = File::open(path)?;
        let bytes = file.metadata()?.len();
        if bytes < HEADER {
            let message = format!("{bytes} bytes are not even the header of a position cache");
            return Ok(Err(message));
        }
        let mut header = [0; HEADER as usize];
        file.read_exact(&mut header)?;
        let (magic, mut count) = header.split_at(MAGIC.len());
        if magic != MAGIC {
            return Ok(Err(
                "not a position cache: it does not begin with PERCALE1".into()
            ));
        }
        let count = take_u64(&mut count).expect("the header is 16 bytes long");
        match u32::try_from(count) {
            Ok(count) => Ok(Ok(Self {
                file,
                vertex_count: count as usize,
                bytes,
            })),
            Err(_) => Ok(Err(format!("{count} vertices cannot be right"))),
        }
    }

    pub(super) fn vertex_count(&self) -> usize {
        self.vertex_count
    }

    /// Frames that are there in full.
    pub(super) fn frames(&self) -> u64 {
        (self.bytes - HEADER)
            .checked_div(frame_length(self.vertex_count))
            .unwrap_or(u64::MAX)
    }

    /// The bytes of a frame.
    pub(super) fn frame(&self, frame: u64) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; frame_length(self.vertex_count) as usize];
        let mut file = &self.file;
        file.seek(SeekFrom::Start(length(self.vertex_count, frame)))?;
        file.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

/// Takes a little-endian number off the front.
pub(super) fn take_u64(bytes: &mut &[u8]) -> Option<u64> {
    let (first, rest) = bytes.split_first_chunk::<8>()?;
    *bytes = rest;
    Some(u64::from_le_bytes(*first))
}

/// Positions as they are stored.
pub(super) fn bytes_of(x: &[DVec3]) -> Vec<u8> {
    x.iter()
        .flat_map(|p| p.to_array())
        .flat_map(f64::to_le_bytes)
        .collect()
}

/// Stored positions.
pub(super) fn vectors_of(bytes: &[u8]) -> Vec<DVec3> {
    let (numbers, _) = bytes.as_chunks::<8>();
    let numbers: Vec<f64> = numbers.iter().map(|b| f64::from_le_bytes(*b)).collect();
    numbers.chunks_exact(3).map(DVec3::from_slice).collect()
}
