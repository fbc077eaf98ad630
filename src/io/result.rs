//! The result folder: what a run leaves behind, and what it goes on from.
//!
//! ```text
//! scene.toml            the scene with every default written out
//! objects/NAME.obj      topology and start positions of each object
//! objects/NAME.x64      certified positions: 8 bytes "PERCALE1", vertex count (u64),
//!                       then x y z (f64) of every vertex, frame after frame; little-endian
//! frames.jsonl          one report per frame, written as the run goes
//! report.json           totals and all frames, written when the run ends
//! checkpoint            all that the run remembers; replaced atomically after each frame
//! ```
//!
//! Positions and reports are appended first, the checkpoint is replaced last: whatever lies behind the
//! checkpoint is half-written, and [`ResultFolder::resume`] cuts it off.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use glam::DVec3;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::cache::{self, Cache, bytes_of, take_u64, vectors_of};
use super::recording::object_path;
use crate::error::{Pinch, StepError};
use crate::geometry::{Body, Mesh, Pair};
use crate::response::{Account, Pressed};
use crate::scene::Scene;
use crate::step::{Checkpoint, FrameReport, ImpactCount};
use crate::verify::Verified;

const CHECKPOINT_MAGIC: &[u8; 8] = b"PERCALEC";
const VERSION: &str = env!("CARGO_PKG_VERSION");

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

    /// There is something already.
    #[error("{}: already holds {what}; continue it with --resume, replace it with --force, or choose another folder with -o", path.display())]
    Exists {
        /// The folder.
        path: PathBuf,
        /// What is there.
        what: &'static str,
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
    #[error("{}: cannot resume: {message}; run it anew into another folder with -o", path.display())]
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
    /// Crossing face pairs over all frames, by the auditor.
    pub intersections: usize,
    /// Crossings of obstacles among themselves in the last frame: outside the certificate.
    pub obstacle_crossings: usize,
    /// Impacts at the beginning of every round, summed.
    pub impacts: ImpactCount,
    /// Rounds of all stages.
    pub rounds: usize,
    /// Accepted intervals.
    pub intervals: usize,
    /// Intervals in which a fail-safe stage had to act.
    pub failsafes: usize,
    /// Refused attempts.
    pub retries: usize,
    /// Attempts given up because the response would have stretched the cloth too much.
    pub stretched: usize,
    /// Vertices that could not be put on the output grid, over all frames.
    pub off_grid: usize,
    /// Cloth faces above the strain limit of their fabric, summed over all frames.
    pub strain_over: usize,
    /// Largest principal strain of a cloth face at the end of any frame (0.1 = stretched by a tenth).
    pub largest_strain: f64,
    /// Smallest gap at the end of any frame, in metres; none if nothing came nearer than the thickness.
    pub smallest_gap: Option<f64>,
    /// Places at the end of the last frame where a cloth of a higher layer lies inside one of a lower layer.
    #[serde(default)]
    pub out_of_order: usize,
    /// Kept share of the motion, `Σ m |x_new − x0|² / Σ m |x1 − x0|²` of touched vertices; none without impacts. Above 1 where objects push
    /// cloth further than it would have gone by itself.
    pub kept_share: Option<f64>,
    /// What repulsions and stages did to momentum and energy, summed over all frames.
    pub stages: BTreeMap<String, Account>,
    /// Processor time of all threads spent stepping, over all frames, in seconds.
    pub seconds: f64,
    /// The same by the clock on the wall, in seconds.
    #[serde(default)]
    pub wall_seconds: f64,
    /// SHA-256 of the little-endian f64 positions of all output frames.
    pub hash: String,
    /// Why the run ended before its last frame; none if it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Stopped>,
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

/// A result folder that is open for writing.
#[derive(Debug)]
pub struct ResultFolder {
    path: PathBuf,
    scene: Scene,
    objects: Vec<Body>,
    frames: Vec<FrameReport>,
}

impl ResultFolder {
    /// Starts a folder with a scene's start state as frame 0.
    ///
    /// # Errors
    /// The folder holds something already, unless `force`; then earlier results in it are removed, and only those.
    pub fn create(
        path: &Path,
        scene: &Scene,
        start: &Verified,
        checkpoint: &Checkpoint,
        force: bool,
    ) -> Result<Self, ResultError> {
        let scene_path = path.join("scene.toml");
        if scene_path.exists() && !force {
            return Err(ResultError::Exists {
                path: path.into(),
                what: "a result",
            });
        }
        if !scene_path.exists()
            && fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some())
        {
            return Err(ResultError::Exists {
                path: path.into(),
                what: "something that is not a result",
            });
        }
        let objects_path = path.join("objects");
        for old in ["checkpoint", "report.json", "frames.jsonl"].map(|name| path.join(name)) {
            if old.exists() {
                fs::remove_file(&old).map_err(at(&old))?;
            }
        }
        if objects_path.exists() {
            fs::remove_dir_all(&objects_path).map_err(at(&objects_path))?;
        }
        fs::create_dir_all(&objects_path).map_err(at(&objects_path))?;
        write_atomically(&scene_path, scene.to_text().as_bytes())?;

        let folder = Self {
            path: path.into(),
            scene: scene.clone(),
            objects: start.mesh().bodies().to_vec(),
            frames: Vec::new(),
        };
        let mesh = start.mesh();
        for object in &folder.objects {
            let obj = folder.object(object, "obj");
            write_atomically(&obj, obj_text(object, mesh, start.positions()).as_bytes())?;
            let cache = folder.object(object, "x64");
            fs::write(&cache, cache::header(object.vertices.len())).map_err(at(&cache))?;
        }
        folder.append_positions(start.positions())?;
        let journal = folder.journal();
        File::create(&journal).map_err(at(&journal))?;
        folder.write_checkpoint(checkpoint)?;
        Ok(folder)
    }

    /// Opens a folder to continue it, cutting off what was half-written; returns where the run stood.
    ///
    /// # Errors
    /// No result there, a damaged one, or one of another scene or version; nothing is changed then.
    pub fn resume(
        path: &Path,
        scene: &Scene,
        mesh: &Mesh,
    ) -> Result<(Self, Checkpoint), ResultError> {
        let scene_path = path.join("scene.toml");
        let old = fs::read_to_string(&scene_path).map_err(at(&scene_path))?;
        let new = scene.to_text();
        if let Some((old, new)) = old.lines().zip(new.lines()).find(|(old, new)| old != new) {
            let message = format!("the scene has changed: '{old}' there, '{new}' here");
            return Err(ResultError::Different {
                path: path.into(),
                message,
            });
        }
        if old != new {
            return Err(ResultError::Different {
                path: path.into(),
                message: "the scene has changed in length".into(),
            });
        }
        let mut folder = Self {
            path: path.into(),
            scene: scene.clone(),
            objects: mesh.bodies().to_vec(),
            frames: Vec::new(),
        };
        let (checkpoint, version) = read_checkpoint(path, mesh.vertex_count())?;
        if version != VERSION {
            return Err(ResultError::Different {
                path: path.into(),
                message: format!("written by version {version}, this is {VERSION}"),
            });
        }
        let done = checkpoint.tick / crate::step::TICKS_PER_FRAME;

        let journal = folder.journal();
        let text = fs::read_to_string(&journal).map_err(at(&journal))?;
        let mut length = 0;
        for line in text.split_inclusive('\n').take(done as usize) {
            let report = serde_json::from_str(line)
                .map_err(|e| damaged(&journal, format!("{e}; run the scene anew")))?;
            folder.frames.push(report);
            length += line.len() as u64;
        }
        if folder.frames.len() as u64 != done {
            let message = format!(
                "{} frame reports, but the checkpoint is at frame {done}",
                folder.frames.len()
            );
            return Err(damaged(&journal, message));
        }
        // all is known to be whole before anything is cut
        let mut cuts = vec![(journal, length)];
        for object in &folder.objects {
            let cache = folder.object(object, "x64");
            let length = cache::length(object.vertices.len(), done + 1);
            let found = fs::metadata(&cache).map_err(at(&cache))?.len();
            if found < length {
                return Err(damaged(
                    &cache,
                    format!("{found} bytes, but frame {done} needs {length}"),
                ));
            }
            cuts.push((cache, length));
        }
        for (file, length) in cuts {
            OpenOptions::new()
                .write(true)
                .open(&file)
                .and_then(|f| f.set_len(length))
                .map_err(at(&file))?;
        }
        Ok((folder, checkpoint))
    }

    /// Adds a frame: positions and report first, then the checkpoint.
    pub fn push(
        &mut self,
        state: &Verified,
        report: FrameReport,
        checkpoint: &Checkpoint,
    ) -> Result<(), ResultError> {
        self.append_positions(state.positions())?;
        let journal = self.journal();
        let mut line = serde_json::to_string(&report).expect("a report is plain data");
        line.push('\n');
        append(&journal, line.as_bytes())?;
        self.write_checkpoint(checkpoint)?;
        self.frames.push(report);
        Ok(())
    }

    fn stages(&self) -> BTreeMap<String, Account> {
        let mut sums: BTreeMap<String, Account> = BTreeMap::new();
        for (stage, account) in self.frames.iter().flat_map(|frame| &frame.stages) {
            let sum = sums.entry(stage.clone()).or_default();
            *sum = sum.plus(*account);
        }
        sums
    }

    /// Writes `report.json` and returns its totals; `stopped` says why the run ended on the way, if it did.
    pub fn finish(
        &self,
        obstacle_crossings: usize,
        stopped: Option<Stopped>,
    ) -> Result<Summary, ResultError> {
        let sum = |count: fn(&FrameReport) -> usize| self.frames.iter().map(count).sum::<usize>();
        // the sum of nothing would be -0.0
        let total =
            |value: fn(&FrameReport) -> f64| self.frames.iter().fold(0.0, |sum, f| sum + value(f));
        let wanted = total(|f| f.wanted);
        let summary = Summary {
            version: VERSION.into(),
            frames: self.frames.len() as u64,
            intersections: sum(|f| f.intersections),
            obstacle_crossings,
            impacts: ImpactCount {
                vertex_face: sum(|f| f.impacts.vertex_face),
                edge_edge: sum(|f| f.impacts.edge_edge),
            },
            rounds: sum(|f| f.rounds.values().sum()),
            intervals: sum(|f| f.intervals),
            failsafes: sum(|f| f.failsafes.values().sum()),
            retries: sum(|f| f.retries),
            stretched: sum(|f| f.stretched),
            off_grid: sum(|f| f.off_grid),
            strain_over: sum(|f| f.strain_over as usize),
            largest_strain: (self.frames.iter())
                .map(|f| f.largest_strain)
                .fold(0.0, f64::max),
            smallest_gap: self
                .frames
                .iter()
                .filter_map(|f| f.smallest_gap)
                .min_by(f64::total_cmp),
            out_of_order: self.frames.last().map_or(0, |f| f.out_of_order),
            kept_share: (wanted > 0.0).then(|| total(|f| f.kept) / wanted),
            stages: self.stages(),
            seconds: 1e-3 * total(|f| f.phases.total_ms()),
            wall_seconds: 1e-3 * total(|f| f.phases.wall_ms),
            hash: self.hash()?,
            stopped,
        };
        #[derive(Serialize)]
        struct Report<'a> {
            #[serde(flatten)]
            summary: &'a Summary,
            frame_reports: &'a [FrameReport],
        }
        let report = Report {
            summary: &summary,
            frame_reports: &self.frames,
        };
        let text = serde_json::to_string_pretty(&report).expect("a report is plain data");
        write_atomically(&self.path.join("report.json"), text.as_bytes())?;
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

    fn append_positions(&self, x: &[DVec3]) -> Result<(), ResultError> {
        for object in &self.objects {
            let vertices = object.vertices.start as usize..object.vertices.end as usize;
            append(&self.object(object, "x64"), &bytes_of(&x[vertices]))?;
        }
        Ok(())
    }

    fn hash(&self) -> Result<String, ResultError> {
        let mut caches = Vec::new();
        for object in &self.objects {
            let path = self.object(object, "x64");
            let cache = Cache::open(&path).map_err(at(&path))?;
            caches.push(cache.map_err(|message| damaged(&path, message))?);
        }
        let frames = self.frames.len() as u64 + 1;
        cache::hash(&caches, frames)
            .map_err(|(number, source)| at(&self.object(&self.objects[number], "x64"))(source))
    }

    /// Magic, version, tick, interval, positions, velocities, forces of repulsions, SHA-256 of all that.
    fn write_checkpoint(&self, checkpoint: &Checkpoint) -> Result<(), ResultError> {
        let mut bytes = CHECKPOINT_MAGIC.to_vec();
        bytes.extend((VERSION.len() as u64).to_le_bytes());
        bytes.extend(VERSION.as_bytes());
        bytes.extend(checkpoint.tick.to_le_bytes());
        bytes.extend(checkpoint.interval.to_le_bytes());
        bytes.extend(bytes_of(&checkpoint.x));
        bytes.extend(bytes_of(&checkpoint.v));
        for pressed in &checkpoint.pressed {
            let (kind, a, b) = match pressed.pair {
                Pair::VertexFace { vertex, face } => (0_u32, vertex, face),
                Pair::EdgeEdge { a, b } => (1, a, b),
            };
            bytes.extend([kind, a, b].iter().flat_map(|number| number.to_le_bytes()));
            bytes.extend(bytes_of(&[pressed.force, pressed.settling]));
        }
        let digest = Sha256::digest(&bytes);
        bytes.extend(digest);
        write_atomically(&self.path.join("checkpoint"), &bytes)
    }
}

/// Reads the checkpoint of a result folder, and which version wrote it.
pub(super) fn read_checkpoint(
    folder: &Path,
    vertex_count: usize,
) -> Result<(Checkpoint, String), ResultError> {
    let path = folder.join("checkpoint");
    let bytes = fs::read(&path).map_err(at(&path))?;
    let parse = || {
        let (content, digest) = bytes.split_last_chunk::<32>()?;
        let mut rest = content.strip_prefix(CHECKPOINT_MAGIC)?;
        let length = take_u64(&mut rest)? as usize;
        let (version, after) = rest.split_at_checked(length)?;
        rest = after;
        let (tick, interval) = (take_u64(&mut rest)?, take_u64(&mut rest)?);
        let is_whole = Sha256::digest(content)[..] == digest[..];
        let (x, rest) = rest.split_at_checked(24 * vertex_count)?;
        let (v, rest) = rest.split_at_checked(24 * vertex_count)?;
        let (pressed, rest) = rest.as_chunks::<PRESSED_SIZE>();
        let checkpoint = Checkpoint {
            tick,
            interval,
            x: vectors_of(x),
            v: vectors_of(v),
            pressed: pressed.iter().map(pressed_of).collect::<Option<_>>()?,
        };
        (is_whole && rest.is_empty())
            .then(|| (checkpoint, String::from_utf8_lossy(version).into_owned()))
    };
    parse().ok_or_else(|| {
        let message = "not a checkpoint of these objects, or damaged; run the scene anew";
        damaged(&path, message.into())
    })
}

/// Bytes of a repulsion in a checkpoint: kind of pair, two indices, two forces.
const PRESSED_SIZE: usize = 3 * 4 + 2 * 24;

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
fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), ResultError> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".part");
    let temporary = PathBuf::from(temporary);
    let write = || {
        let mut file = File::create(&temporary)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    };
    write().map_err(at(path))
}

fn obj_text(object: &Body, mesh: &Mesh, x: &[DVec3]) -> String {
    use std::fmt::Write as _;
    let mut text = format!(
        "# Percale {VERSION}: {} at the start; positions of all frames are in {}.x64\no {}\n",
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
