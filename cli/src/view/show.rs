//! What a page shows: a result folder, a mesh, or a mesh before and after.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use glam::DVec3;
use percale::geometry::{BodyKind, Mesh};
use percale::record::{Recording, is_being_written};
use percale::render::Camera;
use percale::untangle::{self, Rest};
use percale::{Figures, Scene, Surfaces};
use serde_json::{Value, json};

use super::touch::{Touch, Toucher};
use crate::failure::Failure;
use crate::inputs;
use crate::render::stage::{self, Source, Stage};

/// Frames per second of a mesh before and after: one a second.
const STILL_FPS: f64 = 1.0;

/// Where the frames come from.
enum Frames {
    Run {
        dir: PathBuf,
        recording: Box<Recording>,
        /// When the checkpoint was written that was read.
        written: Option<SystemTime>,
        /// Which run it is of all that the folder has held.
        run: String,
    },
    Still(Vec<Vec<DVec3>>),
}

/// Frames of one mesh, and how they look.
pub(crate) struct Show {
    title: String,
    frames: Frames,
    mesh: Arc<Mesh>,
    looks: Looks,
    thickness: f64,
    toucher: Toucher,
}

/// Colours, grounds and camera: those of `percale render`.
pub(crate) struct Looks {
    pub(crate) bodies: Value,
    pub(crate) camera: Value,
}

impl Looks {
    pub(crate) fn of(
        mesh: &Mesh,
        source: Source<'_>,
        frames: &[u64],
        camera: Option<Camera>,
    ) -> Result<Self, Failure> {
        let stage = Stage::new(source, frames, [960, 720], camera)?;
        let colours = stage.colours();
        let bodies = mesh.bodies().iter().zip(colours).zip(&stage.grounds);
        let bodies: Vec<Value> = bodies
            .map(|((body, [front, back]), ground)| {
                let kind = match body.kind {
                    BodyKind::Cloth => "cloth",
                    BodyKind::Obstacle => "obstacle",
                };
                json!({
                    "name": body.name, "kind": kind, "ground": ground, "front": front.0, "back": back.0,
                    "vertices": [body.vertices.start, body.vertices.end], "faces": [body.faces.start, body.faces.end],
                })
            })
            .collect();
        let Camera { eye, target, fov } = stage.camera;
        let camera = json!({ "eye": eye.to_array(), "target": target.to_array(), "fov": fov });
        Ok(Self {
            bodies: bodies.into(),
            camera,
        })
    }
}

/// The distance that features keep where no object has its own, in metres.
pub(crate) fn thickness_of(scene: &Scene, mesh: &Mesh, surfaces: &Surfaces) -> f64 {
    let own = scene.thickness;
    own.unwrap_or_else(|| Surfaces::default_thickness(mesh, surfaces.rest()))
}

/// What contact knew of a run's vertices; where files of its shapes are gone, from how it started.
fn surfaces_of(recording: &Recording) -> Result<Surfaces, Failure> {
    let (scene, mesh) = (recording.scene(), recording.mesh());
    match scene.surfaces() {
        Ok(surfaces) if surfaces.rest().len() == mesh.vertex_count() => Ok(surfaces),
        _ => uniform(mesh, recording.positions(0)?, scene.thickness),
    }
}

fn uniform(mesh: &Mesh, x: Vec<DVec3>, thickness: Option<f64>) -> Result<Surfaces, Failure> {
    let thickness = thickness.unwrap_or_else(|| Surfaces::default_thickness(mesh, &x));
    let thickness = Some(thickness).filter(|h| h.is_finite()).unwrap_or(0.0); // no cloth
    Ok(Surfaces::uniform(mesh, x, thickness, 0.0)?)
}

impl Show {
    /// Opens one result folder, one mesh, or two of the same topology.
    pub(crate) fn open(inputs: &[PathBuf]) -> Result<Self, Failure> {
        match inputs {
            [one] if one.is_dir() => Self::open_run(one),
            [one] => Self::open_meshes(&[one]),
            [before, after] => match inputs.iter().find(|path| path.is_dir()) {
                Some(folder) => Err(Failure::input(format!(
                    "{}: a result folder is looked at alone; name one folder, or two meshes",
                    folder.display()
                ))),
                None => Self::open_meshes(&[before, after]),
            },
            more => Err(Failure::input(format!(
                "{} inputs; name one result folder, one mesh, or two: before and after",
                more.len()
            ))),
        }
    }

    fn open_run(dir: &Path) -> Result<Self, Failure> {
        let (written, run) = (changed(dir, "checkpoint"), run_in(dir));
        let recording = Recording::open(dir)?;
        let mesh = Arc::clone(recording.mesh());
        let frames: Vec<u64> = (0..recording.frame_count()).collect();
        let looks = Looks::of(&mesh, Source::Recording(&recording), &frames, None)?;
        let surfaces = surfaces_of(&recording)?;
        let thickness = thickness_of(recording.scene(), &mesh, &surfaces);
        let title = match dir.canonicalize().ok().as_deref().and_then(Path::file_name) {
            Some(name) => name.to_string_lossy().into_owned(),
            None => dir.display().to_string(),
        };
        Ok(Self {
            title,
            looks,
            thickness,
            toucher: Toucher::new(&mesh, &surfaces),
            frames: Frames::Run {
                dir: dir.into(),
                recording: Box::new(recording),
                written,
                run,
            },
            mesh,
        })
    }

    fn open_meshes(files: &[&PathBuf]) -> Result<Self, Failure> {
        let first = files[0].clone();
        let input = inputs::read_meshes(std::slice::from_ref(&first))?;
        let mut positions = vec![input.positions];
        if let [_, after] = files {
            let (before, after) = (inputs::read_one(&first)?, inputs::read_one(after)?);
            before.check_motion_to(&after)?;
            positions.push(after.positions);
        }
        let mesh = input.mesh;
        let looks = Looks::of(&mesh, Source::Still(&mesh, &positions[0]), &[0], None)?;
        let surfaces = uniform(&mesh, positions[0].clone(), None)?;
        let names = files.iter().map(|file| {
            let name = file.file_name().unwrap_or_default();
            name.to_string_lossy().into_owned()
        });
        Ok(Self {
            title: names.collect::<Vec<_>>().join(" → "),
            looks,
            thickness: surfaces.thickness().first().copied().unwrap_or(0.0),
            toucher: Toucher::new(&mesh, &surfaces),
            frames: Frames::Still(positions),
            mesh,
        })
    }

    pub(crate) fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    pub(crate) fn frame_count(&self) -> u64 {
        match &self.frames {
            Frames::Run { recording, .. } => recording.frame_count(),
            Frames::Still(positions) => positions.len() as u64,
        }
    }

    fn reports(&self) -> &[Figures] {
        match &self.frames {
            Frames::Run { recording, .. } => recording.reports(),
            Frames::Still(_) => &[],
        }
    }

    /// Everything but faces and frames.
    pub(crate) fn meta(&self) -> Value {
        let (kind, fps) = match &self.frames {
            Frames::Run { recording, .. } if recording.is_refused() => {
                ("refused", recording.scene().fps)
            }
            Frames::Run { recording, .. } => ("run", recording.scene().fps),
            Frames::Still(positions) if positions.len() > 1 => ("pair", STILL_FPS),
            Frames::Still(_) => ("mesh", STILL_FPS),
        };
        let mut meta = self.news(0);
        let more = json!({
            "title": self.title, "kind": kind, "fps": fps, "thickness": self.thickness,
            "bodies": self.looks.bodies, "camera": self.looks.camera,
        });
        if let (Value::Object(meta), Value::Object(more)) = (&mut meta, more) {
            meta.extend(more);
        }
        meta
    }

    /// What a run has done since a page knew of `have` reports.
    pub(crate) fn news(&self, have: usize) -> Value {
        let (complete, stopped) = match &self.frames {
            Frames::Run { recording, .. } if recording.is_refused() => {
                let text = "The start crosses itself and was refused: this is frame 0, which is not certified. The lines show where.";
                (true, Some(text.to_string()))
            }
            Frames::Run { recording, .. } => match recording.summary() {
                Some(summary) => {
                    let stopped = summary.stopped.as_ref();
                    let text = stopped
                        .map(|why| format!("Stopped before frame {}: {}", why.frame, why.message));
                    (true, text)
                }
                None => (false, None),
            },
            Frames::Still(_) => (true, None),
        };
        let (run, is_written) = match &self.frames {
            Frames::Run { run, dir, .. } => (&run[..], !complete && is_being_written(dir)),
            Frames::Still(_) => (&self.title[..], false),
        };
        let reports = self.reports();
        json!({
            "run": run, "written": is_written,
            "frames": self.frame_count(), "complete": complete, "stopped": stopped,
            "reports": reports[have.min(reports.len())..],
        })
    }

    /// Looks whether the run has gone on, or another has taken its place; what cannot be read right now, because it is being
    /// written, is left as it was.
    pub(crate) fn refresh(&mut self) {
        let Frames::Run {
            dir,
            recording,
            written,
            run,
        } = &mut self.frames
        else {
            return;
        };
        let now = changed(dir, "checkpoint");
        let has_ended = recording.summary().is_none() && dir.join("report.json").exists();
        if now == *written && !has_ended {
            return;
        }
        if run_in(dir) != *run {
            let dir = dir.clone();
            if let Ok(show) = Self::open_run(&dir) {
                *self = show;
            }
        } else if let Ok(newer) = Recording::open(dir) {
            (**recording, *written) = (newer, now);
        }
    }

    pub(crate) fn positions(&self, frame: u64) -> Result<Vec<DVec3>, Failure> {
        Ok(match &self.frames {
            Frames::Run { recording, .. } => recording.positions(frame)?,
            Frames::Still(positions) => positions[frame as usize].clone(),
        })
    }

    pub(crate) fn touch(&mut self, frame: u64) -> Result<Touch, Failure> {
        let x = self.positions(frame)?;
        let before = match frame.checked_sub(1) {
            Some(before) if matches!(self.frames, Frames::Run { .. }) => {
                Some(self.positions(before)?)
            }
            _ => None,
        };
        Ok(self.toucher.touch(&x, before.as_deref()))
    }

    /// Where surfaces cross; frames that the run found free of crossings are not looked at again.
    pub(crate) fn paths(&self, frame: u64) -> Result<Value, Failure> {
        let is_free = |report: &Figures| {
            report.frame == frame && report.intersections + report.crossings == 0
        };
        let is_certified_start = match &self.frames {
            Frames::Run { recording, .. } => {
                let first = recording.reports().first();
                frame == 0
                    && !recording.is_refused()
                    && recording.scene().start == percale::scene::OnTangle::Refuse
                    && first.is_none_or(|report| report.intersections == 0)
            }
            Frames::Still(_) => false,
        };
        if is_certified_start || self.reports().iter().any(is_free) {
            return Ok(json!([]));
        }
        curves(&self.mesh, &self.positions(frame)?)
    }
}

/// Curves where surfaces cross, with type and colour.
pub(crate) fn curves(mesh: &Mesh, x: &[DVec3]) -> Result<Value, Failure> {
    let analysis = untangle::analyse(mesh, x, Rest::Unknown)?;
    let curves = stage::curves(&analysis, x);
    let each = curves.into_iter().map(|(kind, points)| {
        let points: Vec<f32> = (points.iter())
            .flat_map(|point| point.as_vec3().to_array())
            .collect();
        json!({ "kind": kind.name(), "colour": kind.colour(), "points": points })
    });
    Ok(each.collect())
}

fn changed(dir: &Path, name: &str) -> Option<SystemTime> {
    fs::metadata(dir.join(name)).ok()?.modified().ok()
}

/// Which run a folder holds: a run writes its scene once, when it begins.
fn run_in(dir: &Path) -> String {
    let since = changed(dir, "scene.toml").and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.map_or(String::new(), |since| since.as_nanos().to_string())
}

/// Vertices of all faces, u32, little-endian.
pub(crate) fn face_bytes(mesh: &Mesh) -> Vec<u8> {
    let corners = mesh.faces().iter().flatten();
    corners.flat_map(|v| v.to_le_bytes()).collect()
}

/// x y z of all vertices, f32, little-endian.
pub(crate) fn position_bytes(x: &[DVec3]) -> Vec<u8> {
    let numbers = x.iter().flat_map(|x| x.as_vec3().to_array());
    numbers.flat_map(f32::to_le_bytes).collect()
}

/// Whether a path looks like a mesh file that is not there, for a better message than "no result folder".
pub(crate) fn check_exists(path: &Path) -> Result<(), Failure> {
    let is_built_in = path.starts_with("tangles");
    if path.exists() || is_built_in {
        return Ok(());
    }
    let remedy = "name a result folder of `percale run`, or a mesh (.obj, .ply, .stl, also .gz)";
    Err(Failure::input(format!(
        "{}: there is no such file or folder; {remedy}",
        path.display()
    )))
}
