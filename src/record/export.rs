//! Result folders in the formats of other programs.
//!
//! PC2 and USD hold f32. Positions that are f32 values already (output grid "f32") are exported as they were
//! certified; what is rounded only now is audited anew, and what crosses after rounding is listed (design §9).

use std::cell::RefCell;
use std::fs;
use std::io;
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};

use glam::DVec3;
use serde::{Deserialize, Serialize};

use super::error::{ResultError, at};
use super::recording::Recording;
use crate::io::{MeshFile, obj, pc2, ply, usda, write_atomically};
use crate::verify::audit;

/// A format of other programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// An OBJ and a PC2 point cache for each object; f32.
    Pc2,
    /// One USD text file with all objects; f32.
    Usda,
    /// An OBJ for each frame with all objects; f64.
    Obj,
    /// A binary PLY for each frame with all objects; f64.
    Ply,
}

impl Format {
    /// Whether positions are rounded to f32.
    pub fn is_f32(self) -> bool {
        matches!(self, Self::Pc2 | Self::Usda)
    }

    fn extension(self) -> &'static str {
        match self {
            Self::Pc2 => "pc2",
            Self::Usda => "usda",
            Self::Obj => "obj",
            Self::Ply => "ply",
        }
    }
}

/// What was exported, and what rounding did to it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Exported {
    /// Frames, the start included.
    pub frames: u64,
    /// Objects.
    pub objects: usize,
    /// Files that were written.
    pub files: Vec<PathBuf>,
    /// Positions that were rounded, over all frames.
    pub off_grid: usize,
    /// Crossing face pairs after rounding, over all frames.
    pub intersections: usize,
    /// The first thousand of them.
    pub crossings: Vec<CrossedFaces>,
}

/// Two faces that cross after rounding.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CrossedFaces {
    /// The frame.
    pub frame: u64,
    /// The faces, numbered over all objects.
    pub faces: [u32; 2],
    /// The objects that they belong to.
    pub objects: [String; 2],
}

/// What of a recording is exported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// Frames, in this order; they are numbered anew, from 0.
    pub frames: Vec<u64>,
    /// Objects, by their numbers in the mesh.
    pub objects: Vec<usize>,
}

impl Selection {
    /// All objects, and all frames but those of the pre-roll.
    pub fn all(recording: &Recording) -> Self {
        Self {
            frames: shown(recording).collect(),
            objects: (0..recording.mesh().bodies().len()).collect(),
        }
    }
}

/// The frames after the pre-roll; the last, if the run has not come that far.
pub fn shown(recording: &Recording) -> Range<u64> {
    let count = recording.frame_count();
    recording.scene().output.pre_roll.min(count - 1)..count
}

/// Crossings that are listed; the rest is counted.
const MAX_LISTED: usize = 1000;

/// Writes what is selected to the folder `out`; `progress` is told which share of the work is done, and may end it there.
///
/// # Errors
/// What cannot be read or written, and [`io::ErrorKind::Interrupted`] if `progress` has ended it; files appear whole or not at all.
pub fn export(
    recording: &Recording,
    format: Format,
    selection: &Selection,
    out: &Path,
    mut progress: impl FnMut(f64) -> ControlFlow<()>,
) -> Result<Exported, ResultError> {
    fs::create_dir_all(out).map_err(at(out))?;
    let frames = selection.frames.len() as u64;
    // f32 files are audited and then written, object after object; USD reads every position twice
    let objects = selection.objects.len() as u64;
    let pieces = match format {
        Format::Pc2 => frames * (1 + objects),
        Format::Usda => frames * (1 + 2 * objects),
        Format::Obj | Format::Ply => frames,
    };
    let mut done = 0;
    let mut step = || {
        done += 1;
        match progress(done.min(pieces) as f64 / pieces as f64) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(io::Error::from(io::ErrorKind::Interrupted)),
        }
    };
    let mut exported = Exported {
        frames,
        objects: selection.objects.len(),
        ..Exported::default()
    };
    if format.is_f32() {
        for &frame in &selection.frames {
            audit_rounded(recording, frame, &mut exported)?;
            step().map_err(at(out))?;
        }
    }
    match format {
        Format::Pc2 => write_pc2(recording, selection, out, &mut exported, &mut step)?,
        Format::Usda => write_usda(recording, selection, out, &mut exported, &mut step)?,
        Format::Obj | Format::Ply => {
            let digits = (frames - 1).to_string().len().max(4);
            for (number, &frame) in selection.frames.iter().enumerate() {
                let extension = format.extension();
                let path = out.join(format!("frame_{number:0digits$}.{extension}"));
                let file = chosen(recording, &selection.objects, &recording.positions(frame)?);
                let write = write_atomically(&path, |out| match format {
                    Format::Ply => ply::write(&file, out),
                    _ => obj::write(&file, out),
                });
                write.map_err(at(&path))?;
                exported.files.push(path);
                step().map_err(at(out))?;
            }
        }
    }
    Ok(exported)
}

/// The chosen objects as one file, numbered through.
fn chosen(recording: &Recording, objects: &[usize], x: &[DVec3]) -> MeshFile {
    let mesh = recording.mesh();
    if objects.len() == mesh.bodies().len() {
        return MeshFile::of(mesh, x);
    }
    let mut file = MeshFile::default();
    for (part, &object) in (0..).zip(objects) {
        let body = &mesh.bodies()[object];
        let shift = file.positions.len() as u32;
        let own = body.vertices.start as usize..body.vertices.end as usize;
        file.positions.extend_from_slice(&x[own]);
        let faces = &mesh.faces()[body.faces.start as usize..body.faces.end as usize];
        let moved = faces
            .iter()
            .map(|face| face.map(|v| v - body.vertices.start + shift));
        file.faces.extend(moved);
        file.part_names.push(body.name.clone());
        file.part_of_face.resize(file.faces.len(), part);
    }
    file
}

/// Counts what an f32 file changes in a frame, and whether it crosses then.
fn audit_rounded(
    recording: &Recording,
    frame: u64,
    exported: &mut Exported,
) -> Result<(), ResultError> {
    let x = recording.positions(frame)?;
    let rounded: Vec<DVec3> = x.iter().map(|p| p.as_vec3().as_dvec3()).collect();
    let moved = x.iter().zip(&rounded).filter(|(a, b)| a != b).count();
    exported.off_grid += moved;
    if moved == 0 && !recording.is_refused() {
        return Ok(());
    }
    let mesh = recording.mesh();
    let crossing = audit::intersections(mesh, &rounded);
    exported.intersections += crossing.len();
    let room = MAX_LISTED - exported.crossings.len();
    exported
        .crossings
        .extend(crossing.into_iter().take(room).map(|faces| {
            let name = |face| mesh.bodies()[mesh.body_of_face(face) as usize].name.clone();
            CrossedFaces {
                frame,
                faces,
                objects: faces.map(name),
            }
        }));
    Ok(())
}

/// Positions of one object, for a writer.
fn positions_of(recording: &Recording, object: usize, frame: u64) -> io::Result<Vec<DVec3>> {
    recording
        .object_positions(object, frame)
        .map_err(io::Error::other)
}

fn write_pc2(
    recording: &Recording,
    selection: &Selection,
    out: &Path,
    exported: &mut Exported,
    step: &mut dyn FnMut() -> io::Result<()>,
) -> Result<(), ResultError> {
    for &object in &selection.objects {
        let body = &recording.mesh().bodies()[object];
        let faces = &recording.mesh().faces()[body.faces.start as usize..body.faces.end as usize];
        let start = recording.object_positions(object, selection.frames[0])?;
        let file = MeshFile {
            positions: start.iter().map(|p| p.as_vec3().as_dvec3()).collect(),
            faces: faces
                .iter()
                .map(|face| face.map(|v| v - body.vertices.start))
                .collect(),
            part_names: vec![body.name.clone()],
            part_of_face: vec![0; faces.len()],
            ..MeshFile::default()
        };
        let path = out.join(format!("{}.obj", body.name));
        write_atomically(&path, |out| obj::write(&file, out)).map_err(at(&path))?;
        exported.files.push(path);

        let path = out.join(format!("{}.pc2", body.name));
        let frames = u32::try_from(selection.frames.len()).unwrap_or(u32::MAX);
        let samples = (0..frames).map(|number| {
            step()?;
            positions_of(recording, object, selection.frames[number as usize])
        });
        write_atomically(&path, |out| pc2::write(out, body.vertices.len(), samples))
            .map_err(at(&path))?;
        exported.files.push(path);
    }
    Ok(())
}

fn write_usda(
    recording: &Recording,
    selection: &Selection,
    out: &Path,
    exported: &mut Exported,
    step: &mut dyn FnMut() -> io::Result<()>,
) -> Result<(), ResultError> {
    let bodies = selection.objects.iter();
    let bodies: Vec<_> = bodies
        .map(|&object| &recording.mesh().bodies()[object])
        .collect();
    let frame_count = selection.frames.len() as u64;
    let names = usda::identifiers(bodies.iter().map(|body| body.name.as_str()));
    let stage = usda::Stage {
        fps: recording.scene().fps,
        frame_count,
        name: "scene",
    };
    let path = out.join("scene.usda");
    let step = RefCell::new(step);
    let write = write_atomically(&path, |out| {
        stage.begin(out)?;
        for ((&object, body), name) in selection.objects.iter().zip(bodies).zip(&names) {
            let faces =
                &recording.mesh().faces()[body.faces.start as usize..body.faces.end as usize];
            let faces = faces
                .iter()
                .map(|face| face.map(|v| v - body.vertices.start));
            let positions = |frame| {
                (*step.borrow_mut())()?;
                positions_of(recording, object, selection.frames[frame as usize])
            };
            usda::mesh(out, name, faces, frame_count, positions)?;
        }
        stage.end(out)
    });
    write.map_err(at(&path))?;
    exported.files.push(path);
    Ok(())
}
