//! PC2 point caches: f32 positions of one object, sample after sample; Blender, Maya and 3ds Max read them.
//!
//! ```text
//! "POINTCACHE2\0", version 1 (i32), vertex count (i32), first frame (f32), frames per sample (f32),
//! sample count (i32), then x y z (f32) of every vertex, sample after sample; little-endian
//! ```

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use glam::{DVec3, Vec3};

const MAGIC: &[u8; 12] = b"POINTCACHE2\0";
const HEADER: u64 = 32;

/// Reads all samples of a PC2 file.
///
/// # Errors
/// What is wrong with the file, and where.
pub(crate) fn read(path: &Path) -> Result<Vec<Vec<DVec3>>, String> {
    let named = |message: String| format!("{}: {message}", path.display());
    let system = |error: io::Error| named(error.to_string());
    let (mut file, vertices, samples) = open(path)?;
    let mut buffer = vec![0; 12 * vertices as usize];
    let read_sample = |number: u64| {
        file.read_exact(&mut buffer).map_err(system)?;
        let (words, _) = buffer.as_chunks::<4>();
        let numbers: Vec<f32> = words.iter().map(|word| f32::from_le_bytes(*word)).collect();
        let x: Vec<DVec3> = numbers
            .chunks_exact(3)
            .map(|p| Vec3::from_slice(p).as_dvec3())
            .collect();
        match x.iter().position(|p| !p.is_finite()) {
            Some(vertex) => Err(named(format!(
                "sample {number}: vertex {vertex} is not at a finite position; export it anew"
            ))),
            None => Ok(x),
        }
    };
    (0..samples).map(read_sample).collect()
}

/// How many samples a PC2 file has.
///
/// # Errors
/// As [`read`], as far as the header tells.
pub(crate) fn sample_count(path: &Path) -> Result<usize, String> {
    open(path).map(|(_, _, samples)| samples as usize)
}

/// A file behind its header, the number of its vertices and that of its samples.
fn open(path: &Path) -> Result<(BufReader<File>, u64, u64), String> {
    let named = |message: String| format!("{}: {message}", path.display());
    let system = |error: io::Error| named(error.to_string());
    let file = File::open(path).map_err(system)?;
    let bytes = file.metadata().map_err(system)?.len();
    let mut file = BufReader::new(file);
    let mut header = [0; HEADER as usize];
    if bytes < HEADER {
        return Err(named(format!("{bytes} bytes are too few for a PC2 file")));
    }
    file.read_exact(&mut header).map_err(system)?;
    let (words, _) = header[MAGIC.len()..].as_chunks::<4>();
    let [version, vertices, _, _, samples] = [0, 1, 2, 3, 4].map(|k| i32::from_le_bytes(words[k]));
    if header[..MAGIC.len()] != MAGIC[..] || version != 1 {
        return Err(named("not a PC2 file of version 1".into()));
    }
    let (Ok(vertices), Ok(samples)) = (u64::try_from(vertices), u64::try_from(samples)) else {
        return Err(named(format!(
            "{vertices} vertices and {samples} samples cannot be"
        )));
    };
    if vertices == 0 || samples == 0 {
        let what = if vertices == 0 { "vertices" } else { "samples" };
        return Err(named(format!("it has no {what}; export it anew")));
    }
    // i32 counts: the product fits
    let needed = u128::from(HEADER) + 12 * u128::from(vertices) * u128::from(samples);
    if needed != u128::from(bytes) {
        return Err(named(format!(
            "{samples} samples of {vertices} vertices need {needed} bytes, but there are {bytes}: is it truncated?"
        )));
    }
    Ok((file, vertices, samples))
}

/// Writes samples, rounded to f32; the first is frame 0, and they are one frame apart.
///
/// # Errors
/// What the system says, a sample that cannot be had, or more than the format can count.
///
/// # Panics
/// If a sample has another number of vertices.
pub(crate) fn write(
    out: &mut dyn Write,
    vertex_count: usize,
    samples: impl ExactSizeIterator<Item = io::Result<Vec<DVec3>>>,
) -> io::Result<()> {
    let counted = |count: usize| {
        i32::try_from(count).map_err(|_| io::Error::other("more than a PC2 file can count"))
    };
    out.write_all(MAGIC)?;
    out.write_all(&1i32.to_le_bytes())?;
    out.write_all(&counted(vertex_count)?.to_le_bytes())?;
    out.write_all(&0f32.to_le_bytes())?;
    out.write_all(&1f32.to_le_bytes())?;
    out.write_all(&counted(samples.len())?.to_le_bytes())?;
    for x in samples {
        let x = x?;
        assert_eq!(x.len(), vertex_count, "one position per vertex");
        for coordinate in x.iter().flat_map(|p| p.as_vec3().to_array()) {
            out.write_all(&coordinate.to_le_bytes())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_come_back_as_f32() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.pc2");
        let samples = [
            vec![DVec3::new(0.1, 0.2, -0.3), DVec3::ONE],
            vec![DVec3::new(1e-30, 1e20, 0.0), DVec3::new(-7.0, 0.5, 3.25)],
        ];
        let mut bytes = Vec::new();
        write(&mut bytes, 2, samples.iter().cloned().map(Ok)).unwrap();
        std::fs::write(&path, bytes).unwrap();
        let read = read(&path).unwrap();
        assert_eq!(read.len(), 2);
        for (read, written) in read.iter().flatten().zip(samples.iter().flatten()) {
            assert_eq!(*read, written.as_vec3().as_dvec3());
        }
    }

    #[test]
    fn damaged_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.pc2");
        let mut whole = Vec::new();
        write(&mut whole, 1, [Ok(vec![DVec3::ONE])].into_iter()).unwrap();
        let refusal = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            let message = read(&path).unwrap_err();
            assert!(message.contains("a.pc2"), "{message}");
            message
        };
        assert!(refusal(&whole[..whole.len() - 1]).contains("truncated"));
        assert!(refusal(&whole[..20]).contains("too few"));
        let damage = |at: usize, value: u8| {
            let mut bytes = whole.clone();
            bytes[at] = value;
            refusal(&bytes)
        };
        assert!(damage(0, b'X').contains("not a PC2"));
        assert!(damage(16, 9).contains("need"));
        assert!(damage(31, 0xff).contains("cannot be"));
        assert!(damage(whole.len() - 1, 0x7f).contains("vertex 0")); // 0x7f800000 is infinite
    }
}
