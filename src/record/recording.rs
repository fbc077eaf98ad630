//! Reading a result folder: the scene, one mesh of all objects, positions of any frame.
//!
//! Whatever is read is compared with its checksum first, see [`super`]: what comes out is what the run wrote, to the bit.
//! Readers take no lock: they show what belongs to the checkpoint at the moment of opening, also while a run goes on.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use glam::DVec3;
use sha2::{Digest, Sha256};

use super::cache::{self, Cache};
use super::checkpoint::Stored;
use super::checksums::{self, Checksums, REMEDY, hex};
use super::error::{ResultError, at, damaged, read};
use super::summary::{Summary, sum_of};
use super::surfaces;
use crate::geometry::{Body, Mesh};
use crate::io::Look;
use crate::scene::Scene;
use crate::step::Figures;

/// A result folder that is open for reading; of a run that has ended, was killed, or is still going on.
///
/// Frames are read when they are asked for. What a killed run has half-written is not shown.
#[derive(Debug)]
pub struct Recording {
    path: PathBuf,
    scene: Scene,
    scene_text: String,
    mesh: Arc<Mesh>,
    caches: Vec<Cache>,
    frames: u64,
    is_refused: bool,
    checksums: Checksums,
    reports: Vec<Figures>,
    /// Bytes of the reports in their file.
    journal_length: u64,
    summary: Option<Summary>,
}

impl Recording {
    /// Opens a result folder.
    ///
    /// # Errors
    /// It is none, or files in it are missing, damaged, or do not belong together.
    pub fn open(path: &Path) -> Result<Self, ResultError> {
        let mut recording = Self::open_frames(path, &Stored::read(path)?)?;
        recording.read_summary()?;
        Ok(recording)
    }

    /// Opens all but the totals, which a run that goes on writes anew.
    pub(super) fn open_frames(path: &Path, stored: &Stored) -> Result<Self, ResultError> {
        let checksums = Checksums::read(path, &stored.seal)?;
        let scene_path = path.join("scene.toml");
        let scene_text = read_text(&checksums, &scene_path, "scene.toml")?;
        let scene = Scene::from_text(&scene_text, &scene_path.display().to_string())
            .map_err(|error| damaged(&scene_path, error.to_string()))?;

        let (mut faces, mut bodies, mut caches) = (Vec::new(), Vec::<Body>::new(), Vec::new());
        let mut vertex_count = 0;
        for (name, kind) in scene.object_names() {
            let topology = object_path(path, &name, "obj");
            let text = read_text(&checksums, &topology, &format!("objects/{name}.obj"))?;
            let (count, corners) =
                read_topology(&text).map_err(|message| damaged(&topology, message))?;
            let positions = object_path(path, &name, "x64");
            if !positions.exists() {
                return Err(damaged(&positions, format!("missing; {REMEDY}")));
            }
            let cache = Cache::open(&positions)
                .map_err(at(&positions))?
                .map_err(|message| damaged(&positions, format!("{message}; {REMEDY}")))?;
            if cache.vertex_count() != count as usize {
                let message = format!(
                    "positions of {} vertices, but {name}.obj has {count}; {REMEDY}",
                    cache.vertex_count()
                );
                return Err(damaged(&positions, message));
            }
            let first_face = faces.len() as u32;
            faces.extend(
                corners
                    .into_iter()
                    .map(|face| face.map(|v| v + vertex_count)),
            );
            bodies.push(Body {
                name,
                kind,
                vertices: vertex_count..vertex_count + count,
                faces: first_face..faces.len() as u32,
            });
            caches.push(cache);
            vertex_count += count;
        }
        let mesh = Mesh::with_bodies(vertex_count as usize, faces, bodies)
            .map_err(|error| damaged(&path.join("objects"), error.to_string()))?;

        let done = stored.done();
        for (cache, body) in caches.iter().zip(mesh.bodies()) {
            if cache.frames() <= done {
                let (found, needed) = (cache.frames(), done + 1);
                let message = format!("truncated: {found} whole frames of {needed}; {REMEDY}");
                return Err(damaged(&object_path(path, &body.name, "x64"), message));
            }
        }
        let mut recording = Self {
            path: path.into(),
            scene,
            scene_text,
            mesh: Arc::new(mesh),
            caches,
            frames: done + 1,
            is_refused: stored.is_refused,
            checksums,
            reports: Vec::new(),
            journal_length: 0,
            summary: None,
        };
        recording.read_reports(done)?;
        Ok(recording)
    }

    /// The scene that was run, with every default written out.
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// Where that is not the same scene: the first line that differs, there and here.
    pub fn differs_from(&self, scene: &Scene) -> Option<String> {
        let (old, new) = (&self.scene_text, scene.to_text());
        let mut lines = old.lines().zip(new.lines());
        match lines.find(|(old, new)| old != new) {
            Some((old, new)) => Some(format!("'{old}' there, '{new}' here")),
            None => (*old != new).then(|| "one has more lines than the other".into()),
        }
    }

    /// Whether the start crosses itself and was refused: there is frame 0 only, and it is not certified.
    pub fn is_refused(&self) -> bool {
        self.is_refused
    }

    /// All objects as one mesh; its bodies carry their names.
    pub fn mesh(&self) -> &Arc<Mesh> {
        &self.mesh
    }

    /// Number of frames, the start (frame 0) included.
    pub fn frame_count(&self) -> u64 {
        self.frames
    }

    /// Positions of all vertices of the mesh at a frame, in metres: the certified bits.
    ///
    /// # Errors
    /// The file cannot be read any more, or is damaged.
    ///
    /// # Panics
    /// If the frame is not below [`Recording::frame_count`].
    pub fn positions(&self, frame: u64) -> Result<Vec<DVec3>, ResultError> {
        let mut x = Vec::with_capacity(self.mesh.vertex_count());
        for object in 0..self.caches.len() {
            x.extend(self.object_positions(object, frame)?);
        }
        Ok(x)
    }

    /// Positions of one object, numbered like the mesh's bodies, at a frame; in metres.
    ///
    /// # Errors
    /// The file cannot be read any more, or is damaged.
    ///
    /// # Panics
    /// If there is no such object, or the frame is not below [`Recording::frame_count`].
    pub fn object_positions(&self, object: usize, frame: u64) -> Result<Vec<DVec3>, ResultError> {
        assert!(frame < self.frames, "frame {frame} of {}", self.frames);
        Ok(cache::vectors_of(&self.frame_bytes(object, frame)?))
    }

    /// What the mesh file of an object, numbered like the mesh's bodies, said beyond triangles: polygons, texture coordinates, normals, groups,
    /// materials. None for shapes that are made by parameters, and for files of plain triangles.
    ///
    /// # Errors
    /// The file that holds it cannot be read, is damaged, or is that of another object.
    ///
    /// # Panics
    /// If there is no such object.
    pub fn look(&self, object: usize) -> Result<Option<Look>, ResultError> {
        let body = &self.mesh.bodies()[object];
        let look = surfaces::look(&self.path, &self.checksums, &body.name)?;
        let faces = body.faces.len();
        if look
            .as_ref()
            .is_some_and(|look| look.triangle_count() != faces)
        {
            let path = self.path.join(surfaces::FOLDER);
            let message = format!(
                "'{}' does not have the {faces} faces of the object",
                body.name
            );
            return Err(damaged(&path, message));
        }
        Ok(look)
    }

    fn frame_bytes(&self, object: usize, frame: u64) -> Result<Vec<u8>, ResultError> {
        let name = &self.mesh.bodies()[object].name;
        let path = object_path(&self.path, name, "x64");
        let bytes = self.caches[object].frame(frame).map_err(at(&path))?;
        let what = checksums::frame_of(name, frame);
        self.checksums.check(&path, &what, &bytes)?;
        Ok(bytes)
    }

    /// One report per frame after the start.
    pub fn reports(&self) -> &[Figures] {
        &self.reports
    }

    /// Sum of the reports.
    pub fn figures(&self) -> Figures {
        sum_of(&self.reports)
    }

    /// SHA-256 of the positions of one frame.
    ///
    /// # Errors
    /// A file cannot be read any more, or is damaged.
    ///
    /// # Panics
    /// If the frame is not below [`Recording::frame_count`].
    pub fn frame_hash(&self, frame: u64) -> Result<String, ResultError> {
        assert!(frame < self.frames, "frame {frame} of {}", self.frames);
        let mut hash = Sha256::new();
        self.add_to_hash(&mut hash, frame)?;
        Ok(hex(&hash.finalize()))
    }

    fn add_to_hash(&self, hash: &mut Sha256, frame: u64) -> Result<(), ResultError> {
        for object in 0..self.caches.len() {
            hash.update(self.frame_bytes(object, frame)?);
        }
        Ok(())
    }

    /// Totals, if the run has ended.
    pub fn summary(&self) -> Option<&Summary> {
        self.summary.as_ref()
    }

    /// SHA-256 of the positions of all frames, from the files as they are now; the same as in the totals, if there are any.
    ///
    /// # Errors
    /// A file cannot be read any more, is damaged, or the totals are those of another run.
    pub fn hash(&self) -> Result<String, ResultError> {
        let hash = hex(&self.running_hash()?.finalize());
        match &self.summary {
            Some(summary) if summary.hash != hash => {
                let message = format!(
                    "it has the hash {}, but the frames have {hash}: the report of another run; {REMEDY}",
                    summary.hash
                );
                Err(damaged(&self.path.join("report.json"), message))
            }
            _ => Ok(hash),
        }
    }

    /// The hash of all frames, to be continued.
    pub(super) fn running_hash(&self) -> Result<Sha256, ResultError> {
        let mut hash = Sha256::new();
        for frame in 0..self.frames {
            self.add_to_hash(&mut hash, frame)?;
        }
        Ok(hash)
    }

    /// Bytes of the reports in their file; what lies behind is half-written.
    pub(super) fn journal_length(&self) -> u64 {
        self.journal_length
    }

    /// What a run that goes on needs.
    pub(super) fn into_parts(self) -> (Checksums, Vec<Figures>) {
        (self.checksums, self.reports)
    }

    fn read_reports(&mut self, done: u64) -> Result<(), ResultError> {
        let journal = self.path.join("frames.jsonl");
        let bytes = read(&journal)?;
        let lines = bytes.split_inclusive(|byte| *byte == b'\n');
        for (frame, line) in (1..=done).zip(lines) {
            let what = checksums::line_of(frame);
            self.checksums.check(&journal, &what, line)?;
            let report = serde_json::from_slice(line)
                .map_err(|error| damaged(&journal, format!("line {frame}: {error}")))?;
            self.reports.push(report);
            self.journal_length += line.len() as u64;
        }
        if self.reports.len() as u64 != done {
            let found = self.reports.len();
            let message = format!("truncated: {found} reports of {done}; {REMEDY}");
            return Err(damaged(&journal, message));
        }
        Ok(())
    }

    fn read_summary(&mut self) -> Result<(), ResultError> {
        let path = self.path.join("report.json");
        if !path.exists() {
            return Ok(()); // the run has not ended
        }
        let bytes = read(&path)?;
        let remedy = "`percale run` with --resume writes it anew";
        if !checksums::is_sealed_json(&bytes) {
            let message = format!("damaged: it does not have the checksum at its end; {remedy}");
            return Err(damaged(&path, message));
        }
        let mut summary: Summary = serde_json::from_slice(&bytes)
            .map_err(|error| damaged(&path, format!("{error}; {remedy}")))?;
        summary.figures = self.figures();
        // a run that goes on after its report was written has a newer checkpoint
        self.summary = (summary.frames + 1 == self.frames).then_some(summary);
        Ok(())
    }
}

/// The text of a file that is as the run has written it.
fn read_text(checksums: &Checksums, path: &Path, what: &str) -> Result<String, ResultError> {
    let bytes = read(path)?;
    checksums.check(path, what, &bytes)?;
    String::from_utf8(bytes).map_err(|_| damaged(path, "not text".into()))
}

/// Where a result folder keeps a file of an object.
pub(super) fn object_path(folder: &Path, name: &str, extension: &str) -> PathBuf {
    folder.join("objects").join(format!("{name}.{extension}"))
}

/// Vertex count and faces of a topology file, in the exact form that [`super::ResultFolder`] writes.
fn read_topology(text: &str) -> Result<(u32, Vec<[u32; 3]>), String> {
    let (mut count, mut faces) = (0u32, Vec::new());
    for (number, line) in text.lines().enumerate() {
        let mut words = line.split(' ');
        match words.next() {
            Some("v") => count += 1,
            Some("f") => {
                let mut corner = || words.next()?.parse::<u32>().ok()?.checked_sub(1);
                let face = [corner(), corner(), corner()];
                match face {
                    [Some(a), Some(b), Some(c)] => faces.push([a, b, c]),
                    _ => return Err(format!("line {}: '{line}' is no triangle", number + 1)),
                }
            }
            _ => {}
        }
    }
    match faces.iter().flatten().max() {
        None => Err("no faces: is it truncated?".into()),
        Some(&v) if v >= count => Err(format!(
            "a face uses vertex {}, but there are only {count}: is it truncated?",
            v + 1
        )),
        Some(_) => Ok((count, faces)),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::record::ResultFolder;

    /// Three frames of a small drop, and the states that went in.
    fn record(path: &Path) -> Vec<Vec<DVec3>> {
        let small = [
            ("cloth.0.shape.cells", "[4, 4]"),
            ("obstacle.0.shape.subdivisions", "0"),
        ];
        let scene = Scene::load("drop").unwrap().set_all(small).unwrap();
        let mut run = scene.build().unwrap();
        let mut folder =
            ResultFolder::create(path, &scene, run.state(), &run.checkpoint(), false).unwrap();
        let mut states = vec![run.state().positions().to_vec()];
        for _ in 0..2 {
            let report = run.step().unwrap();
            folder.push(run.state(), report, &run.checkpoint()).unwrap();
            states.push(run.state().positions().to_vec());
        }
        folder.finish(0, None).unwrap();
        states
    }

    #[test]
    fn what_was_written_is_read_back_to_the_bit_in_any_order() {
        let folder = tempfile::tempdir().unwrap();
        let states = record(folder.path());
        let recording = Recording::open(folder.path()).unwrap();
        assert_eq!(recording.frame_count(), 3);
        for frame in [2, 0, 1] {
            assert_eq!(recording.positions(frame).unwrap(), states[frame as usize]);
        }
        let built = recording.scene().build().unwrap();
        assert_eq!(recording.mesh().faces(), built.state().mesh().faces());
        assert_eq!(recording.mesh().bodies(), built.state().mesh().bodies());
        assert_eq!(recording.reports().len(), 2);
        let summary = recording.summary().unwrap();
        assert_eq!(recording.hash().unwrap(), summary.hash);
    }

    #[test]
    fn a_frame_that_was_being_written_is_not_shown() {
        let folder = tempfile::tempdir().unwrap();
        record(folder.path());
        let cache = object_path(folder.path(), "cloth", "x64");
        let mut bytes = fs::read(&cache).unwrap();
        bytes.extend([1; 24 * 25 + 7]);
        fs::write(&cache, bytes).unwrap();
        assert_eq!(Recording::open(folder.path()).unwrap().frame_count(), 3);
    }

    #[test]
    fn damage_is_named_with_its_file() {
        type Harm = fn(Vec<u8>) -> Vec<u8>;
        let shorten: Harm = |mut bytes| {
            bytes.truncate(bytes.len() - 1);
            bytes
        };
        let flip: Harm = |mut bytes| {
            bytes[10] ^= 1;
            bytes
        };
        let empty: Harm = |_| Vec::new();
        for (name, harm, expected) in [
            (
                "objects/cloth.x64",
                shorten,
                "truncated: 2 whole frames of 3",
            ),
            ("objects/cloth.x64", flip, "but cloth.obj has 25"),
            ("objects/cloth.x64", empty, "0 bytes"),
            ("objects/cloth.obj", empty, "damaged"),
            ("objects/cloth.obj", flip, "damaged"),
            ("checkpoint", flip, "damaged"),
            ("checkpoint", shorten, "damaged"),
            ("checksums", flip, "damaged"),
            ("checksums", shorten, "truncated"),
            ("frames.jsonl", empty, "truncated: 0 reports of 2"),
            ("frames.jsonl", flip, "line 1"),
            ("scene.toml", empty, "damaged"),
            ("report.json", flip, "damaged"),
            ("report.json", empty, "damaged"),
        ] {
            let folder = tempfile::tempdir().unwrap();
            record(folder.path());
            let path = folder.path().join(name);
            let bytes = fs::read(&path).unwrap();
            fs::write(&path, harm(bytes)).unwrap();
            let message = Recording::open(folder.path()).unwrap_err().to_string();
            assert!(
                message.contains(name) && message.contains(expected),
                "{name}: {message}"
            );
            fs::remove_file(&path).unwrap();
            match (name, Recording::open(folder.path())) {
                ("report.json", whole) => assert_eq!(whole.unwrap().summary(), None),
                ("checkpoint", lost) => drop(lost.unwrap_err()),
                (_, lost) => {
                    let message = lost.unwrap_err().to_string();
                    assert!(
                        message.contains(name) && message.contains("missing"),
                        "{name}: {message}"
                    );
                }
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let message = Recording::open(folder.path()).unwrap_err().to_string();
        assert!(message.contains("no result folder"), "{message}");
    }
}
