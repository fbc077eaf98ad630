//! The result folder: what a run leaves behind, and what it goes on from.
//!
//! ```text
//! scene.toml            the scene with every default written out
//! objects/NAME.obj      topology and start positions of each object
//! objects/NAME.x64      certified positions: 8 bytes "PERCALE1", vertex count (u64),
//!                       then x y z (f64) of every vertex, frame after frame; little-endian
//! frames.jsonl          one report per frame, written as the run goes
//! checksums             SHA-256 of scene.toml, of each .obj, of each frame of each .x64, of each line of frames.jsonl
//! checkpoint            all that the run remembers, and the SHA-256 of the checksums up to there; replaced after each frame
//! report.json           totals and all frames, written when the run ends
//! lock                  locked by the run that writes the folder; holds the number of its process, for messages
//! ```
//!
//! Positions, reports and checksums are appended first, the checkpoint is replaced last: whatever lies behind the checkpoint is
//! half-written, and [`ResultFolder::resume`] cuts it off.
//!
//! Every byte that a reader uses is protected: `checkpoint` and `report.json` end with a checksum of themselves, the checkpoint
//! seals `checksums`, and those cover the rest; the header of a `.x64` has to agree with its `.obj`. Readers
//! ([`super::recording`]) compare whatever they read, [`ResultFolder::resume`] compares everything before it changes anything.
//! Folders of builds that wrote no checksums are refused by name: nothing shows whether they are still what was certified.
//!
//! A start that crosses itself leaves a folder too, to be looked at: frame 0 is not certified then, the checkpoint says so, and
//! it cannot be resumed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use glam::DVec3;
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Serialize, Serializer};
use sha2::{Digest, Sha256};

use super::atomic::write_by_way_of;
use super::cache::{self, bytes_of};
use super::checkpoint::{self, Stored, VERSION};
use super::checksums::{self, Checksums, hex};
use super::lock;
use super::recording::{Recording, object_path};
use crate::error::{Pinch, RefusedStart, StepError};
use crate::geometry::{Body, Mesh};
use crate::scene::Scene;
use crate::step::{Checkpoint, Figures};
use crate::verify::{Verified, audit};

/// Why a result folder cannot be written, read or continued.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResultError {
    /// The system refused.
    #[error("{}: {source}{}", path.display(), remedy(source))]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },

    /// There is a result already.
    #[error("{}: already holds a result; continue it with --resume, replace it with --force, or choose another folder with -o", path.display())]
    Exists {
        /// The folder.
        path: PathBuf,
    },

    /// There is a start that was refused.
    #[error("{}: already holds a start that was refused; replace it with --force, or choose another folder with -o", path.display())]
    HoldsRefused {
        /// The folder.
        path: PathBuf,
    },

    /// There are files of somebody else.
    #[error("{}: holds files that are not a result of Percale, and those are never replaced; choose another folder with -o", path.display())]
    Foreign {
        /// The folder.
        path: PathBuf,
    },

    /// There is nothing to continue.
    #[error("{}: {what}, so there is nothing to continue; start the run without --resume, or name its folder with -o", path.display())]
    Nothing {
        /// The folder.
        path: PathBuf,
        /// What is there instead.
        what: &'static str,
    },

    /// Another run is writing it.
    #[error(
        "{}: another run is writing this folder{}; wait until it ends, stop it, or choose another folder with -o",
        path.display(), process.map(|id| format!(" (process {id})")).unwrap_or_default()
    )]
    Busy {
        /// The folder.
        path: PathBuf,
        /// The number of its process, if it could be read.
        process: Option<u32>,
    },

    /// It is not a result folder, or a damaged one.
    #[error("{}: {message}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong, and what to do.
        message: String,
    },

    /// It belongs to another scene or version.
    #[error("{}: cannot resume: {message}; run it anew into another folder with -o, or here with --force", path.display())]
    Different {
        /// The folder.
        path: PathBuf,
        /// What differs.
        message: String,
    },
}

fn remedy(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::StorageFull => "; all earlier frames are intact: make room, then --resume",
        io::ErrorKind::PermissionDenied
        | io::ErrorKind::ReadOnlyFilesystem
        | io::ErrorKind::NotADirectory
        | io::ErrorKind::AlreadyExists => "; choose a folder that can be written with -o",
        _ => "",
    }
}

/// The bytes of a file that belongs to a result.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, ResultError> {
    fs::read(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => damaged(path, format!("missing; {}", checksums::REMEDY)),
        _ => at(path)(source),
    })
}

pub(super) fn at(path: &Path) -> impl Fn(io::Error) -> ResultError + '_ {
    move |source| ResultError::Io {
        path: path.into(),
        source,
    }
}

/// Totals of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Version of Percale that ran.
    pub version: String,
    /// Output frames after the start.
    pub frames: u64,
    /// Crossing face pairs over all frames, by the auditor; those of the start if it was refused.
    pub intersections: usize,
    /// Crossings of obstacles among themselves in the last frame: outside the certificate.
    pub obstacle_crossings: usize,
    /// Sum of all frames; written in short, and read from the frames.
    #[serde(flatten, serialize_with = "write_totals", skip_deserializing)]
    pub figures: Figures,
    /// SHA-256 of the little-endian f64 positions of all output frames.
    pub hash: String,
    /// Why the run ended before its last frame; none if it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Stopped>,
}

impl Summary {
    /// Processor time of all threads spent stepping, over all frames, in seconds.
    pub fn seconds(&self) -> f64 {
        1e-3 * self.figures.phases.total_ms()
    }

    /// The same by the clock on the wall, in seconds.
    pub fn wall_seconds(&self) -> f64 {
        1e-3 * self.figures.phases.wall_ms
    }
}

/// The sum of several frames.
pub(super) fn sum_of(frames: &[Figures]) -> Figures {
    let mut sum = Figures::default();
    frames.iter().for_each(|frame| sum += frame);
    sum
}

/// Figures of a run as `report.json` has them among its totals.
fn write_totals<S: Serializer>(figures: &Figures, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    map.serialize_entry("impacts", &figures.impacts)?;
    map.serialize_entry("rounds", &figures.calls())?;
    map.serialize_entry("intervals", &figures.intervals)?;
    map.serialize_entry("loops", &figures.loops)?;
    map.serialize_entry("iterations", &figures.iterations)?;
    map.serialize_entry("failsafes", &figures.failsafe_count())?;
    map.serialize_entry("retries", &figures.retries)?;
    map.serialize_entry("stretched", &figures.stretched)?;
    map.serialize_entry("refused", &figures.refused)?;
    map.serialize_entry("off_grid", &figures.off_grid)?;
    map.serialize_entry("strain_over", &figures.strain_over)?;
    map.serialize_entry("largest_strain", &figures.largest_strain)?;
    map.serialize_entry("smallest_gap", &figures.smallest_gap)?;
    map.serialize_entry("smallest_gap_share", &figures.smallest_gap_share)?;
    map.serialize_entry("out_of_order", &figures.out_of_order)?;
    map.serialize_entry("kept_share", &figures.kept_share())?;
    map.serialize_entry("stages", &figures.stages)?;
    map.serialize_entry("seconds", &(1e-3 * figures.phases.total_ms()))?;
    map.serialize_entry("wall_seconds", &(1e-3 * figures.phases.wall_ms))?;
    map.end()
}

/// Why a run ended on the way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stopped {
    /// Frame that could not be reached.
    pub frame: u64,
    /// For people.
    pub message: String,
    /// Which objects leave no room, if that is why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinch: Option<Pinch>,
}

impl Stopped {
    /// At a frame, by an error.
    pub fn new(frame: u64, error: &StepError) -> Self {
        let pinch = match error {
            StepError::Pinched(pinch) => Some((**pinch).clone()),
            _ => None,
        };
        Self {
            frame,
            message: error.to_string(),
            pinch,
        }
    }
}

/// What a folder holds, as far as its first bytes tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holding {
    /// It does not exist, or there is nothing but a lock.
    Nothing,
    /// A result, whole or not.
    Result,
    /// Something else.
    Foreign,
}

impl Holding {
    fn of(folder: &Path) -> Result<Self, ResultError> {
        let mut entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::Nothing),
            Err(error) => return Err(at(folder)(error)),
        };
        let is_checksums = |bytes: &[u8]| bytes.starts_with(checksums::HEADER.as_bytes());
        if begins(&checksums::path_in(folder), is_checksums)
            || begins(&checkpoint::path_in(folder), checkpoint::is_checkpoint)
        {
            return Ok(Self::Result);
        }
        let is_lock = |path: &Path| path.ends_with(lock::NAME) && lock::is_lock(path);
        let is_empty = entries.all(|entry| entry.is_ok_and(|entry| is_lock(&entry.path())));
        Ok(if is_empty {
            Self::Nothing
        } else {
            Self::Foreign
        })
    }
}

/// Whether the first bytes of a file are as expected.
fn begins(path: &Path, is_expected: impl Fn(&[u8]) -> bool) -> bool {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(64).read_to_end(&mut bytes));
    read.is_ok() && is_expected(&bytes)
}

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
        let objects = self.path.join("objects");
        let Ok(entries) = fs::read_dir(&objects) else {
            return Ok(()); // none, or no folder: making it says why not
        };
        for entry in entries {
            let old = entry.map_err(at(&objects))?.path();
            let is_ours = |bytes: &[u8]| {
                bytes.starts_with(cache::MAGIC) || bytes.starts_with(OBJ_START.as_bytes())
            };
            if begins(&old, is_ours) {
                fs::remove_file(&old).map_err(at(&old))?;
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
        let (old, new) = (recording.scene_text(), scene.to_text());
        if let Some((old, new)) = old.lines().zip(new.lines()).find(|(old, new)| old != new) {
            return different(format!(
                "the scene has changed: '{old}' there, '{new}' here"
            ));
        }
        if old != new {
            return different("the scene has changed in length".into());
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
        let figures = sum_of(&self.frames);
        let summary = Summary {
            version: VERSION.into(),
            frames: self.frames.len() as u64,
            intersections: self.crossings + figures.intersections,
            obstacle_crossings,
            figures,
            hash: hex(&self.hash.clone().finalize()),
            stopped,
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

pub(super) fn damaged(path: &Path, message: String) -> ResultError {
    ResultError::Damaged {
        path: path.into(),
        message,
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
fn replace(path: &Path, bytes: &[u8]) -> Result<(), ResultError> {
    let mut draft = path.as_os_str().to_owned();
    draft.push(".part");
    write_by_way_of(Path::new(&draft), path, |out| out.write_all(bytes)).map_err(at(path))
}

/// The first bytes of a topology file.
const OBJ_START: &str = "# Percale ";

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
