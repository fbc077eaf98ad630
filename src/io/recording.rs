//! Reading a result folder: the scene, one mesh of all objects, positions of any frame.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use glam::DVec3;

use super::cache::{self, Cache};
use super::result::{ResultError, Summary, at, damaged, read_checkpoint};
use crate::geometry::{Body, Mesh};
use crate::scene::Scene;
use crate::step::{FrameReport, TICKS_PER_FRAME};

/// A result folder that is open for reading; of a run that has ended, was killed, or is still going on.
///
/// Frames are read when they are asked for. What a killed run has half-written is not shown.
#[derive(Debug)]
pub struct Recording {
    path: PathBuf,
    scene: Scene,
    mesh: Arc<Mesh>,
    caches: Vec<Cache>,
    frames: u64,
    reports: Vec<FrameReport>,
    summary: Option<Summary>,
}

impl Recording {
    /// Opens a result folder.
    ///
    /// # Errors
    /// It is none, or files in it are missing, damaged, or do not belong together.
    pub fn open(path: &Path) -> Result<Self, ResultError> {
        let scene_path = path.join("scene.toml");
        if !scene_path.is_file() {
            let message = "no result folder: it has no scene.toml; `percale run` makes one";
            return Err(damaged(path, message.into()));
        }
        let text = fs::read_to_string(&scene_path).map_err(at(&scene_path))?;
        let scene = Scene::from_text(&text, &scene_path.display().to_string(), &[])
            .map_err(|error| damaged(&scene_path, error.to_string()))?;

        let (mut faces, mut bodies, mut caches) = (Vec::new(), Vec::<Body>::new(), Vec::new());
        let mut vertex_count = 0;
        for (name, kind) in scene.object_names() {
            let topology = object_path(path, &name, "obj");
            let text = fs::read_to_string(&topology).map_err(at(&topology))?;
            let (count, corners) =
                read_topology(&text).map_err(|message| damaged(&topology, message))?;
            let positions = object_path(path, &name, "x64");
            let cache = Cache::open(&positions)
                .map_err(at(&positions))?
                .map_err(|message| damaged(&positions, message))?;
            if cache.vertex_count() != count as usize {
                let message = format!(
                    "positions of {} vertices, but {name}.obj has {count}",
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

        let (checkpoint, _) = read_checkpoint(path, vertex_count as usize)?;
        let done = checkpoint.tick / TICKS_PER_FRAME;
        for (cache, body) in caches.iter().zip(mesh.bodies()) {
            if cache.frames() <= done {
                let message = format!("truncated: {} whole frames of {}", cache.frames(), done + 1);
                return Err(damaged(&object_path(path, &body.name, "x64"), message));
            }
        }
        let mut recording = Self {
            path: path.into(),
            scene,
            mesh: Arc::new(mesh),
            caches,
            frames: done + 1,
            reports: Vec::new(),
            summary: None,
        };
        recording.read_reports(done)?;
        Ok(recording)
    }

    /// The scene that was run, with every default written out.
    pub fn scene(&self) -> &Scene {
        &self.scene
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
    /// The file cannot be read any more.
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
    /// The file cannot be read any more.
    ///
    /// # Panics
    /// If there is no such object, or the frame is not below [`Recording::frame_count`].
    pub fn object_positions(&self, object: usize, frame: u64) -> Result<Vec<DVec3>, ResultError> {
        assert!(frame < self.frames, "frame {frame} of {}", self.frames);
        let name = &self.mesh.bodies()[object].name;
        let bytes = self.caches[object].frame(frame);
        let bytes = bytes.map_err(at(&object_path(&self.path, name, "x64")))?;
        Ok(cache::vectors_of(&bytes))
    }

    /// One report per frame after the start.
    pub fn reports(&self) -> &[FrameReport] {
        &self.reports
    }

    /// Totals, if the run has ended.
    pub fn summary(&self) -> Option<&Summary> {
        self.summary.as_ref()
    }

    /// SHA-256 of the positions of all frames, from the files as they are now.
    ///
    /// # Errors
    /// A file cannot be read any more.
    pub fn hash(&self) -> Result<String, ResultError> {
        cache::hash(&self.caches, self.frames).map_err(|(number, source)| {
            let name = &self.mesh.bodies()[number].name;
            at(&object_path(&self.path, name, "x64"))(source)
        })
    }

    fn read_reports(&mut self, done: u64) -> Result<(), ResultError> {
        let journal = self.path.join("frames.jsonl");
        let text = fs::read_to_string(&journal).map_err(at(&journal))?;
        for line in text.lines().take(done as usize) {
            let report =
                serde_json::from_str(line).map_err(|error| damaged(&journal, error.to_string()))?;
            self.reports.push(report);
        }
        if self.reports.len() as u64 != done {
            let message = format!("truncated: {} reports of {done}", self.reports.len());
            return Err(damaged(&journal, message));
        }
        let report = self.path.join("report.json");
        if report.exists() {
            let text = fs::read_to_string(&report).map_err(at(&report))?;
            let summary: Summary =
                serde_json::from_str(&text).map_err(|error| damaged(&report, error.to_string()))?;
            // a run that goes on after its report was written has a newer checkpoint
            self.summary = (summary.frames == done).then_some(summary);
        }
        Ok(())
    }
}

/// Where a result folder keeps a file of an object.
pub(super) fn object_path(folder: &Path, name: &str, extension: &str) -> PathBuf {
    folder.join("objects").join(format!("{name}.{extension}"))
}

/// Vertex count and faces of a topology file, in the exact form that [`super::result`] writes.
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
    use super::*;
    use crate::io::result::ResultFolder;

    /// Three frames of a small drop, and the states that went in.
    fn record(path: &Path) -> Vec<Vec<DVec3>> {
        let small = [
            ("cloth.0.shape.cells", "[4, 4]"),
            ("obstacle.0.shape.subdivisions", "0"),
        ];
        let small = small.map(|(k, v)| (k.to_string(), v.to_string()));
        let scene = Scene::load("drop", &small).unwrap();
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
            ("objects/cloth.obj", empty, "no faces"),
            ("checkpoint", flip, "damaged"),
            ("checkpoint", shorten, "damaged"),
            ("frames.jsonl", empty, "truncated: 0 reports of 2"),
            ("scene.toml", empty, "frames"),
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
            let message = Recording::open(folder.path()).unwrap_err().to_string();
            assert!(message.contains(name), "{name}: {message}");
        }
        let folder = tempfile::tempdir().unwrap();
        let message = Recording::open(folder.path()).unwrap_err().to_string();
        assert!(message.contains("no result folder"), "{message}");
    }
}
