//! PC2 point caches: f32 positions of one object, sample after sample; Blender, Maya and 3ds Max read them.
//!
//! ```text
//! "POINTCACHE2\0", version 1 (i32), vertex count (i32), first frame (f32), frames per sample (f32),
//! sample count (i32), then x y z (f32) of every vertex, sample after sample; little-endian
//! ```

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

use glam::{DVec3, Vec3};

const MAGIC: &[u8; 12] = b"POINTCACHE2\0";
const HEADER: u64 = 32;

/// Reads all samples of a PC2 file.
///
/// # Errors
/// What is wrong with the file, and where.
pub fn read(path: &Path) -> Result<Vec<Vec<DVec3>>, String> {
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
    // i32 counts: the product fits
    let needed = u128::from(HEADER) + 12 * u128::from(vertices) * u128::from(samples);
    if vertices == 0 || samples == 0 || needed != u128::from(bytes) {
        return Err(named(format!(
            "{samples} samples of {vertices} vertices need {needed} bytes, but there are {bytes}: is it truncated?"
        )));
    }
    let mut buffer = vec![0; 12 * vertices as usize];
    let mut read_sample = || {
        file.read_exact(&mut buffer).map_err(system)?;
        let (words, _) = buffer.as_chunks::<4>();
        let numbers: Vec<f32> = words.iter().map(|word| f32::from_le_bytes(*word)).collect();
        let x: Vec<DVec3> = numbers
            .chunks_exact(3)
            .map(|p| Vec3::from_slice(p).as_dvec3())
            .collect();
        match x.iter().position(|p| !p.is_finite()) {
            Some(vertex) => Err(named(format!(
                "vertex {vertex} is not at a finite position"
            ))),
            None => Ok(x),
        }
    };
    (0..samples).map(|_| read_sample()).collect()
}

/// A PC2 file that is being written.
pub struct Writer {
    file: BufWriter<File>,
    vertex_count: usize,
    samples: i32,
}

impl Writer {
    /// Starts a file whose first sample is frame 0 and whose samples are one frame apart.
    ///
    /// # Errors
    /// What the system says, or more vertices than the format can count.
    pub fn create(path: &Path, vertex_count: usize) -> io::Result<Self> {
        let count = i32::try_from(vertex_count)
            .map_err(|_| io::Error::other("more vertices than PC2 can count"))?;
        let mut file = BufWriter::new(File::create(path)?);
        file.write_all(MAGIC)?;
        file.write_all(&1i32.to_le_bytes())?;
        file.write_all(&count.to_le_bytes())?;
        file.write_all(&0f32.to_le_bytes())?;
        file.write_all(&1f32.to_le_bytes())?;
        file.write_all(&0i32.to_le_bytes())?;
        Ok(Self {
            file,
            vertex_count,
            samples: 0,
        })
    }

    /// Adds a sample, rounded to f32.
    ///
    /// # Errors
    /// What the system says.
    ///
    /// # Panics
    /// If it has another number of vertices.
    pub fn push(&mut self, x: &[DVec3]) -> io::Result<()> {
        assert_eq!(x.len(), self.vertex_count, "one position per vertex");
        for coordinate in x.iter().flat_map(|p| p.as_vec3().to_array()) {
            self.file.write_all(&coordinate.to_le_bytes())?;
        }
        self.samples += 1;
        Ok(())
    }

    /// Completes the header; without it the file has no samples.
    ///
    /// # Errors
    /// What the system says.
    pub fn finish(mut self) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(HEADER - 4))?;
        self.file.write_all(&self.samples.to_le_bytes())?;
        self.file
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?
            .sync_all()
    }
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
        let mut writer = Writer::create(&path, 2).unwrap();
        for x in &samples {
            writer.push(x).unwrap();
        }
        writer.finish().unwrap();
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
        let mut writer = Writer::create(&path, 1).unwrap();
        writer.push(&[DVec3::ONE]).unwrap();
        writer.finish().unwrap();
        let whole = std::fs::read(&path).unwrap();
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
        assert!(
            damage(whole.len() - 1, 0x7f).contains("vertex 0")
                || whole[whole.len() - 2] & 0x80 == 0
        );
    }
}
