//! Writing a result folder: begun, continued, finished.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use glam::DVec3;
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::cache::{self, bytes_of};
use super::checkpoint::{self, Stored, VERSION};
use super::checksums::{self, Checksums, hex};
use super::error::{ResultError, at};
use super::holding::{Holding, begins};
use super::lock;
use super::recording::{Recording, object_path};
use super::summary::{Stopped, Summary};
use super::surfaces;
use crate::error::RefusedStart;
use crate::geometry::{Body, Mesh};
use crate::io::write_by_way_of;
use crate::scene::Scene;
use crate::step::{Checkpoint, Figures};
use crate::verify::{Verified, audit};

/// A result folder that is open for writing; nobody else can write it as long as this exists.
#[derive(Debug)]
pub struct ResultFolder {
    path: PathBuf,
    scene: Scene,
    objects: Vec<Body>,
    frames: Vec<Figures>,
    checksums: Checksums,
    /// Over the positions of all frames so far.
    hash: Sha256,
    /// Crossings of a start that was refused.
    crossings: usize,
    /// Held, not used.
    _lock: File,
}

impl ResultFolder {
    /// Starts a folder with a scene's start state as frame 0.
    ///
    /// # Errors
    /// Another run is writing the folder, or it holds something already, unless that is a result and `force` is given; then the files of
    /// that result are removed, and only those.
    pub fn create(
        path: &Path,
        scene: &Scene,
        start: &Verified,
        checkpoint: &Checkpoint,
        force: bool,
    ) -> Result<Self, ResultError> {
        let mut folder = Self::begin(path, scene, start.mesh(), start.positions(), force)?;
        folder.write_checkpoint(Some(checkpoint))?;
        Ok(folder)
    }

    /// Leaves a folder with a start that was refused, to be looked at.
    ///
    /// # Errors
    /// As [`ResultFolder::create`].
    pub fn refuse(
        path: &Path,
        scene: &Scene,
        start: &RefusedStart,
        force: bool,
    ) -> Result<Summary, ResultError> {
        let mut folder = Self::begin(path, scene, &start.mesh, &start.positions, force)?;
        folder.crossings = start.count;
        folder.write_checkpoint(None)?;
        let stopped = Stopped {
            frame: 0,
            message: start.to_string(),
            pinch: None,
        };
        let crossings = audit::obstacle_crossings(&start.mesh, &start.positions).len();
        folder.finish(crossings, Some(stopped))
    }

    /// Everything of a new folder but the checkpoint.
    fn begin(
        path: &Path,
        scene: &Scene,
        mesh: &Mesh,
        x: &[DVec3],
        force: bool,
    ) -> Result<Self, ResultError> {
        let path_buf = || PathBuf::from(path);
        if Holding::of(path)? == Holding::Foreign {
            return Err(ResultError::Foreign { path: path_buf() });
        }
        fs::create_dir_all(path).map_err(at(path))?;
        let lock = lock::lock(path)?;
        // another run may have come and gone since the first look
        match Holding::of(path)? {
            Holding::Foreign => return Err(ResultError::Foreign { path: path_buf() }),
            Holding::Result if !force => {
                return Err(match Stored::read(path) {
                    Ok(stored) if stored.is_refused => {
                        ResultError::HoldsRefused { path: path_buf() }
                    }
                    _ => ResultError::Exists { path: path_buf() },
                });
            }
            Holding::Nothing | Holding::Result => {}
        }
        let mut folder = Self {
            path: path.into(),
            scene: scene.clone(),
            objects: mesh.bodies().to_vec(),
            frames: Vec::new(),
            checksums: Checksums::new(),
            hash: Sha256::new(),
            crossings: 0,
            _lock: lock,
        };
        // this first: it says whose folder it is
        let header = folder.checksums.take_unwritten();
        replace(&checksums::path_in(path), header.as_bytes())?;
        folder.remove_old()?;
        let objects_path = path.join("objects");
        fs::create_dir_all(&objects_path).map_err(at(&objects_path))?;

        let text = scene.to_text();
        replace(&path.join("scene.toml"), text.as_bytes())?;
        folder.checksums.note("scene.toml".into(), text.as_bytes());
        for object in mesh.bodies() {
            let text = obj_text(object, mesh, x);
            replace(&folder.object(object, "obj"), text.as_bytes())?;
            let what = format!("objects/{}.obj", object.name);
            folder.checksums.note(what, text.as_bytes());
            let cache = folder.object(object, "x64");
            fs::write(&cache, cache::header(object.vertices.len())).map_err(at(&cache))?;
        }
        surfaces::write(path, &mut folder.checksums, scene, mesh, x)?;
        let journal = folder.journal();
        File::create(&journal).map_err(at(&journal))?;
        folder.append_positions(0, x)?;
        Ok(folder)
    }

    /// Removes the files of an earlier result, and only those.
    fn remove_old(&self) -> Result<(), ResultError> {
        for name in ["checkpoint", "report.json", "frames.jsonl"] {
            let old = self.path.join(name);
            if old.exists() {
                fs::remove_file(&old).map_err(at(&old))?;
            }
        }
        for folder in ["objects", surfaces::FOLDER] {
            let folder = self.path.join(folder);
            let Ok(entries) = fs::read_dir(&folder) else {
                continue; // none, or no folder: making it says why not
            };
            for entry in entries {
                let old = entry.map_err(at(&folder))?.path();
                let is_ours = |bytes: &[u8]| {
                    bytes.starts_with(cache::MAGIC) || bytes.starts_with(OBJ_START.as_bytes())
                };
                if begins(&old, is_ours) {
                    fs::remove_file(&old).map_err(at(&old))?;
                }
            }
        }
        Ok(())
    }

    /// Opens a folder to continue it, cutting off what was half-written; returns where the run stood.
    ///
    /// # Errors
    /// No result there, a damaged one, one that another run is writing, or one of another scene or version; nothing but the
    /// lock is changed then.
    pub fn resume(
        path: &Path,
        scene: &Scene,
        mesh: &Mesh,
    ) -> Result<(Self, Checkpoint), ResultError> {
        let what = match Holding::of(path)? {
            Holding::Result => None,
            Holding::Nothing => Some("there is no result"),
            Holding::Foreign => Some("what is there is not a result"),
        };
        if let Some(what) = what {
            let path = path.into();
            return Err(ResultError::Nothing { path, what });
        }
        let lock = lock::lock(path)?;
        let different = |message: String| {
            let path = path.into();
            Err(ResultError::Different { path, message })
        };
        let stored = Stored::read(path)?;
        if stored.version != VERSION {
            let version = &stored.version;
            return different(format!("written by version {version}, this is {VERSION}"));
        }
        if stored.is_refused {
            let message = "its start crosses itself and was refused, no frame was run";
            return different(message.into());
        }
        let recording = Recording::open_frames(path, &stored)?;
        if let Some(difference) = recording.differs_from(scene) {
            return different(format!("the scene has changed: {difference}"));
        }
        if recording.mesh().faces() != mesh.faces() || recording.mesh().bodies() != mesh.bodies() {
            return different("the objects have changed".into());
        }
        let checkpoint = stored.checkpoint(mesh.vertex_count())?;
        let hash = recording.running_hash()?;

        // all is known to be whole before anything is cut
        let journal = path.join("frames.jsonl");
        let mut cuts = vec![
            (journal, recording.journal_length()),
            (checksums::path_in(path), stored.seal.length),
        ];
        for object in mesh.bodies() {
            let length = cache::length(object.vertices.len(), stored.done() + 1);
            cuts.push((object_path(path, &object.name, "x64"), length));
        }
        for (file, length) in cuts {
            OpenOptions::new()
                .write(true)
                .open(&file)
                .and_then(|f| f.set_len(length))
                .map_err(at(&file))?;
        }
        let (checksums, frames) = recording.into_parts();
        let folder = Self {
            path: path.into(),
            scene: scene.clone(),
            objects: mesh.bodies().to_vec(),
            frames,
            checksums,
            hash,
            crossings: 0,
            _lock: lock,
        };
        Ok((folder, checkpoint))
    }

    /// Adds a frame: positions, report and checksums first, then the checkpoint.
    pub fn push(
        &mut self,
        state: &Verified,
        report: Figures,
        checkpoint: &Checkpoint,
    ) -> Result<(), ResultError> {
        let frame = self.frames.len() as u64 + 1;
        self.append_positions(frame, state.positions())?;
        let mut line = serde_json::to_string(&report).expect("a report is plain data");
        line.push('\n');
        append(&self.journal(), line.as_bytes())?;
        self.checksums
            .note(checksums::line_of(frame), line.as_bytes());
        self.write_checkpoint(Some(checkpoint))?;
        self.frames.push(report);
        Ok(())
    }

    /// Writes `report.json` and returns its totals; `stopped` says why the run ended on the way, if it did.
    pub fn finish(
        &self,
        obstacle_crossings: usize,
        stopped: Option<Stopped>,
    ) -> Result<Summary, ResultError> {
        let totals = Summary::of(&self.frames);
        let summary = Summary {
            intersections: self.crossings + totals.intersections,
            obstacle_crossings,
            hash: hex(&self.hash.clone().finalize()),
            stopped,
            ..totals
        };
        #[derive(Serialize)]
        struct Report<'a> {
            #[serde(flatten)]
            summary: &'a Summary,
            frame_reports: &'a [Figures],
        }
        let report = Report {
            summary: &summary,
            frame_reports: &self.frames,
        };
        let text = serde_json::to_string_pretty(&report).expect("a report is plain data");
        let sealed = checksums::seal_json(&text);
        replace(&self.path.join("report.json"), sealed.as_bytes())?;
        Ok(summary)
    }

    /// Where the folder is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The scene that it was made from.
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    fn object(&self, object: &Body, extension: &str) -> PathBuf {
        object_path(&self.path, &object.name, extension)
    }

    fn journal(&self) -> PathBuf {
        self.path.join("frames.jsonl")
    }

    fn append_positions(&mut self, frame: u64, x: &[DVec3]) -> Result<(), ResultError> {
        for object in &self.objects {
            let vertices = object.vertices.start as usize..object.vertices.end as usize;
            let bytes = bytes_of(&x[vertices]);
            append(&self.object(object, "x64"), &bytes)?;
            let what = checksums::frame_of(&object.name, frame);
            self.checksums.note(what, &bytes);
            self.hash.update(&bytes);
        }
        Ok(())
    }

    /// Appends the checksums of what was written since the last checkpoint and replaces that; none stands for a refused start.
    fn write_checkpoint(&mut self, checkpoint: Option<&Checkpoint>) -> Result<(), ResultError> {
        let lines = self.checksums.take_unwritten();
        append(&checksums::path_in(&self.path), lines.as_bytes())?;
        let bytes = checkpoint::bytes_of_checkpoint(checkpoint, &self.checksums.seal());
        replace(&checkpoint::path_in(&self.path), &bytes)
    }
}

fn append(path: &Path, bytes: &[u8]) -> Result<(), ResultError> {
    OpenOptions::new()
        .append(true)
        .open(path)
        .and_then(|mut file| file.write_all(bytes))
        .map_err(at(path))
}

/// Writes a file so that it is either the old one or the new one, whole.
///
/// The draft has the same name every time, so that what a killed run has left of it is overwritten by the next; the lock keeps
/// others away.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> Result<(), ResultError> {
    let mut draft = path.as_os_str().to_owned();
    draft.push(".part");
    write_by_way_of(Path::new(&draft), path, |out| out.write_all(bytes)).map_err(at(path))
}

/// The first bytes of a topology file, and of what is known of a surface.
pub(super) const OBJ_START: &str = "# Percale ";

fn obj_text(object: &Body, mesh: &Mesh, x: &[DVec3]) -> String {
    use std::fmt::Write as _;
    let mut text = format!(
        "{OBJ_START}{VERSION}: {} at the start; positions of all frames are in {}.x64\no {}\n",
        object.name, object.name, object.name
    );
    let into = "writing to a string cannot fail";
    for v in object.vertices.clone() {
        let p = x[v as usize];
        writeln!(text, "v {} {} {}", p.x, p.y, p.z).expect(into);
    }
    for f in object.faces.clone() {
        let [a, b, c] = mesh.faces()[f as usize].map(|v| v - object.vertices.start + 1);
        writeln!(text, "f {a} {b} {c}").expect(into);
    }
    text
}
