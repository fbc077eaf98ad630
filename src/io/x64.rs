//! The caches of result folders, as far as scenes that begin with one need them: the last frames of an object.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use glam::DVec3;

/// The first bytes of a cache, before the number of vertices (u64) and the positions (x y z in f64, frame after frame; little-endian).
pub(crate) const MAGIC: &[u8; 8] = b"PERCALE1";

/// Two frames that follow one another.
pub(crate) struct LastFrames {
    /// Positions of the wanted frame, m.
    pub(crate) x: Vec<DVec3>,
    /// Those of the frame before; of the first, itself.
    pub(crate) before: Vec<DVec3>,
}

/// A frame, by default the last whole one, and the one before.
pub(crate) fn last_frames(path: &Path, frame: Option<u64>) -> Result<LastFrames, String> {
    let named = |message: String| format!("{}: {message}", path.display());
    let failed = |error: std::io::Error| named(error.to_string());
    let mut file = File::open(path).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    let mut head = [0; 16];
    file.read_exact(&mut head)
        .map_err(|_| named("too short for positions".into()))?;
    let [magic, count] =
        [0, 8].map(|at| <[u8; 8]>::try_from(&head[at..at + 8]).expect("eight bytes"));
    let count = u64::from_le_bytes(count);
    let size = count
        .checked_mul(24)
        .filter(|size| magic == *MAGIC && *size > 0);
    let size = size.ok_or_else(|| named("not the positions of an object".into()))?;
    let frames = (length - 16) / size;
    let last = frames.checked_sub(1);
    let last = last.ok_or_else(|| named("it has no frame".into()))?;
    let frame = frame.unwrap_or(last);
    if frame > last {
        return Err(named(format!("no frame {frame}; the last is {last}")));
    }
    let mut read = |frame: u64| {
        file.seek(SeekFrom::Start(16 + frame * size))
            .map_err(failed)?;
        let mut bytes = vec![0; size as usize];
        file.read_exact(&mut bytes).map_err(failed)?;
        let number =
            |at: usize| f64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        let places = (0..count as usize)
            .map(|v| DVec3::new(number(24 * v), number(24 * v + 8), number(24 * v + 16)));
        Ok::<_, String>(places.collect::<Vec<_>>())
    };
    Ok(LastFrames {
        x: read(frame)?,
        before: read(frame.saturating_sub(1))?,
    })
}
