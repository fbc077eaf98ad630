//! What a run of a scene to its end is remembered by: one JSON file per scene.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use percale::io::write_atomically;
use percale::record::Recording;
use percale::scene::Scene;
use percale::step::{Figures, Phases};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::failure::Failure;

/// How far a run got.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum State {
    /// It goes on, or was killed.
    #[default]
    Running,
    /// Ctrl-C.
    Interrupted,
    /// It cannot start or go on, see `stopped`.
    Stopped,
    /// All frames are there.
    Done,
}

/// Why a scene stopped.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Stop {
    /// Frame that could not be reached; 0 if there is no start.
    pub(super) frame: u64,
    pub(super) message: String,
}

/// Which program makes or made a record: other numbers, other results or other times.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Build {
    pub(super) version: String,
    /// Of the sources, where known.
    pub(super) commit: Option<String>,
    /// First 16 digits of the SHA-256 of the executable.
    pub(super) executable: Option<String>,
}

impl Build {
    pub(super) fn this() -> Self {
        let bytes = std::env::current_exe().and_then(fs::read);
        Self {
            version: env!("CARGO_PKG_VERSION").into(),
            commit: Some(env!("PERCALE_COMMIT"))
                .filter(|commit| !commit.is_empty())
                .map(String::from),
            executable: bytes.ok().map(|bytes| short_hash(&bytes)),
        }
    }

    /// `0.1.0 (1a2b3c4d5e)`.
    pub(super) fn name(&self) -> String {
        match &self.commit {
            Some(commit) => format!("{} ({commit})", self.version),
            None => self.version.clone(),
        }
    }
}

/// Processor seconds of all threads per frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Cpu {
    pub(super) propose: f64,
    pub(super) repel: f64,
    pub(super) respond: f64,
    pub(super) accept: f64,
    /// Of these four, without the audit.
    pub(super) total: f64,
    pub(super) audit: f64,
}

impl Cpu {
    fn of(phases: &Phases, frames: u64) -> Self {
        let each = |ms: f64| 1e-3 * ms / frames.max(1) as f64;
        Self {
            propose: each(phases.propose_ms),
            repel: each(phases.repel_ms),
            respond: each(phases.respond_ms),
            accept: each(phases.accept_ms),
            total: each(phases.stepping_ms()),
            audit: each(phases.audit_ms),
        }
    }
}

/// One scene.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) name: String,
    /// `small` or `full`.
    pub(super) size: String,
    pub(super) state: State,
    pub(super) frames_wanted: u64,
    pub(super) frames_done: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) stopped: Option<Stop>,
    /// Of all objects.
    pub(super) vertices: usize,
    pub(super) faces: usize,
    pub(super) cloth_vertices: usize,
    pub(super) cloth_faces: usize,
    /// Sum of all frames, as in `report.json`.
    #[serde(flatten)]
    pub(super) figures: Figures,
    pub(super) cpu_seconds_per_frame: Cpu,
    pub(super) wall_seconds: f64,
    /// Least of the cloths' fabrics; none if there is no limit.
    pub(super) strain_limit: Option<f64>,
    pub(super) kept_share: Option<f64>,
    /// SHA-256 of the positions of the last frame.
    pub(super) last_frame_hash: String,
    /// Over 1, 5 and 15 minutes, at the end of the run, where the system tells.
    pub(super) load_average: Option<[f64; 3]>,
    pub(super) threads: usize,
    pub(super) build: Build,
    /// SHA-256 of the scene with every default written out, but without its poster.
    pub(super) scene_hash: String,
}

/// Another poster is no other run.
fn without_poster(scene: &Scene) -> Scene {
    let mut scene = scene.clone();
    scene.poster = None;
    scene
}

impl Record {
    /// Of a scene that has not begun.
    pub(super) fn new(name: String, is_small: bool, scene: &Scene, build: &Build) -> Self {
        let limits = scene.cloth.iter().map(|cloth| cloth.fabric.strain_limit);
        let limit = limits.fold(f64::INFINITY, f64::min);
        let counts = scene.counts().unwrap_or_default(); // a mesh that cannot be read is named by the run
        Self {
            name,
            size: if is_small { "small" } else { "full" }.into(),
            frames_wanted: scene.frames,
            vertices: counts.vertices + counts.obstacle_vertices,
            faces: counts.triangles + counts.obstacle_triangles,
            cloth_vertices: counts.vertices,
            cloth_faces: counts.triangles,
            strain_limit: Some(limit).filter(|limit| limit.is_finite()),
            threads: rayon::current_num_threads(),
            build: build.clone(),
            scene_hash: hash(without_poster(scene).to_text().as_bytes()),
            ..Self::default()
        }
    }

    /// Takes over what a result folder tells.
    pub(super) fn fill(&mut self, recording: &Recording) -> Result<(), Failure> {
        let figures = recording.figures();
        self.frames_done = figures.frame;
        self.cpu_seconds_per_frame = Cpu::of(&figures.phases, figures.frame);
        self.wall_seconds = 1e-3 * figures.phases.wall_ms;
        self.kept_share = figures.kept_share();
        self.last_frame_hash = recording.frame_hash(figures.frame)?;
        self.load_average = load_average();
        self.figures = figures;
        Ok(())
    }

    /// What its file and its result folder are called.
    pub(super) fn short_name(&self) -> String {
        let size = if self.size == "small" { "-small" } else { "" };
        format!("{}{size}", self.name)
    }

    /// Whether nothing is left to do.
    pub(super) fn is_complete(&self) -> bool {
        matches!(self.state, State::Done | State::Stopped)
    }

    /// Whether what was done is what this scene and build would do.
    pub(super) fn is_of(&self, other: &Self, any_build: bool) -> bool {
        self.scene_hash == other.scene_hash && (any_build || self.build == other.build)
    }

    pub(super) fn path(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{}.json", self.short_name()))
    }

    /// Reads a record; none if there is none, or one of another form.
    pub(super) fn read(path: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(path).ok()?).ok()
    }

    pub(super) fn write(&self, folder: &Path) -> Result<(), Failure> {
        let path = self.path(folder);
        let failure = |error: &io::Error| {
            Failure::stopped(format!("cannot write {}: {error}", path.display()))
        };
        fs::create_dir_all(folder).map_err(|error| failure(&error))?;
        let text = serde_json::to_string_pretty(self)?;
        write_atomically(&path, |out| writeln!(out, "{text}")).map_err(|error| failure(&error))
    }
}

/// All records of a folder, by name.
pub(super) fn read_all(folder: &Path) -> Result<Vec<Record>, Failure> {
    let failure = |error: io::Error| Failure::input(format!("{}: {error}", folder.display()));
    let entries = fs::read_dir(folder).map_err(failure)?;
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()
        .map_err(failure)?;
    paths.sort();
    Ok(paths.iter().filter_map(|path| Record::read(path)).collect())
}

/// SHA-256 in hexadecimal digits.
fn hash(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn short_hash(bytes: &[u8]) -> String {
    hash(bytes)[..16].into()
}

/// None where the system does not tell.
fn load_average() -> Option<[f64; 3]> {
    let text = fs::read_to_string("/proc/loadavg").ok()?;
    let mut numbers = text.split_whitespace().map_while(|word| word.parse().ok());
    Some([numbers.next()?, numbers.next()?, numbers.next()?])
}
