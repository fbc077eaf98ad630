//! Result folders in the formats of other programs.
//!
//! PC2, USD and glTF hold f32. Positions that are f32 values already (output grid "f32") are exported as they were certified to PC2 and
//! USD; what is rounded only now, as in glTF what frames add to the first, is audited anew, and what crosses after rounding is listed (design §9).
//!
//! Objects whose mesh files say more than triangles come out with it: polygons, texture coordinates, normals, groups, materials.

mod objects;

use std::cell::RefCell;
use std::fs;
use std::io;
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};

use glam::DVec3;
use serde::{Deserialize, Serialize};

use self::objects::{LIBRARY, Object, Objects, together};
use super::error::{ResultError, at};
use super::recording::Recording;
use crate::io::gltf::write as glb;
use crate::io::obj::{Naming, Parts};
use crate::io::{pc2, ply, usda, write_atomically};
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
    /// One glTF file with all objects, whose frames are morph targets; f32.
    Glb,
}

impl Format {
    /// Whether positions are rounded to f32.
    pub fn is_f32(self) -> bool {
        matches!(self, Self::Pc2 | Self::Usda | Self::Glb)
    }

    /// What a vertex of a file is at, for a program that reads it.
    fn as_read(self, start: DVec3, p: DVec3) -> DVec3 {
        match self {
            Self::Glb => glb::as_read(start, p),
            _ => p.as_vec3().as_dvec3(),
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
    /// What of the objects' looks could not be had or kept: one line each.
    pub lost: Vec<String>,
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

/// About how many bytes an export will have, of the formats in which every frame may be large in one file; an error says that it cannot be.
///
/// # Errors
/// More than a .glb file can hold; what cannot be read.
pub fn about_bytes(
    recording: &Recording,
    format: Format,
    selection: &Selection,
) -> Result<u64, ResultError> {
    if format != Format::Glb {
        return Ok(0);
    }
    let objects = Objects::of(recording, selection)?;
    let times = times_of(recording, selection);
    let (bytes, _) = objects.for_glb(recording, &times, |film| film.about_bytes());
    match bytes > glb::MAX_BYTES {
        true => Err(at(Path::new("scene.glb"))(glb::too_large(bytes))),
        false => Ok(bytes),
    }
}

/// When the chosen frames are, in seconds from the first; as if none were left out, where they do not follow each other in time.
fn times_of(recording: &Recording, selection: &Selection) -> Vec<f64> {
    let frames = &selection.frames;
    let ascends = frames.windows(2).all(|pair| pair[0] < pair[1]);
    let number = |(k, &frame): (usize, &u64)| match ascends {
        true => (frame - frames[0]) as f64,
        false => k as f64,
    };
    let numbers = frames.iter().enumerate().map(number);
    numbers.map(|n| n / recording.scene().fps).collect()
}

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
    // f32 files are audited and then written, object after object; USD and glTF read every position twice
    let count = selection.objects.len() as u64;
    let pieces = match format {
        Format::Pc2 => frames * (1 + count),
        Format::Usda | Format::Glb => frames * (1 + 2 * count),
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
    let mut objects = Objects::of(recording, selection)?;
    let mut exported = Exported {
        frames,
        objects: selection.objects.len(),
        ..Exported::default()
    };
    if format.is_f32() {
        let start = recording.positions(selection.frames[0])?;
        for &frame in &selection.frames {
            audit_rounded(recording, format, &start, frame, &mut exported)?;
            step().map_err(at(out))?;
        }
    }
    if !matches!(format, Format::Ply | Format::Glb) {
        exported.files = objects.bring_pictures(out)?;
    }
    let library = match format {
        Format::Obj | Format::Pc2 => write_library(&objects, out, &mut exported)?,
        _ => None,
    };
    let mut work = Work {
        recording,
        frames: &selection.frames,
        objects: &objects,
        out,
        library: library.as_slice(),
        exported: &mut exported,
        step: RefCell::new(&mut step),
    };
    match format {
        Format::Pc2 => work.write_pc2()?,
        Format::Usda => work.write_usda()?,
        Format::Glb => work.write_glb()?,
        Format::Obj => work.write_obj()?,
        Format::Ply => work.write_ply()?,
    }
    exported.lost.extend(objects.lost);
    Ok(exported)
}

/// Writes the library of materials, if there is anything in it; its name.
fn write_library(
    objects: &Objects,
    out: &Path,
    exported: &mut Exported,
) -> Result<Option<&'static str>, ResultError> {
    let Some(text) = objects.library() else {
        return Ok(None);
    };
    let path = out.join(LIBRARY);
    write_atomically(&path, |out| out.write_all(text.as_bytes())).map_err(at(&path))?;
    exported.files.push(path);
    Ok(Some(LIBRARY))
}

/// Counts what an f32 file changes in a frame, and whether it crosses then.
fn audit_rounded(
    recording: &Recording,
    format: Format,
    start: &[DVec3],
    frame: u64,
    exported: &mut Exported,
) -> Result<(), ResultError> {
    let x = recording.positions(frame)?;
    let both = start.iter().zip(&x);
    let rounded: Vec<DVec3> = both.map(|(&a, &b)| format.as_read(a, b)).collect();
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

/// An export under way.
struct Work<'a> {
    recording: &'a Recording,
    frames: &'a [u64],
    objects: &'a Objects,
    out: &'a Path,
    /// The library of materials, if there is one.
    library: &'a [&'static str],
    exported: &'a mut Exported,
    /// Told after each piece of the work.
    step: RefCell<&'a mut dyn FnMut() -> io::Result<()>>,
}

impl Work<'_> {
    /// Positions of an object at one of the chosen frames, for a writer.
    fn positions(&self, object: &Object, number: usize) -> io::Result<Vec<DVec3>> {
        (*self.step.borrow_mut())()?;
        self.recording
            .object_positions(object.number, self.frames[number])
            .map_err(io::Error::other)
    }

    /// The path of a frame's file.
    fn frame_path(&self, number: usize, extension: &str) -> PathBuf {
        let digits = (self.frames.len() - 1).to_string().len().max(4);
        self.out
            .join(format!("frame_{number:0digits$}.{extension}"))
    }

    fn write_obj(&mut self) -> Result<(), ResultError> {
        let parts = Parts::new(self.objects.parts());
        for (number, &frame) in self.frames.iter().enumerate() {
            let path = self.frame_path(number, "obj");
            let mut x = Vec::new();
            for object in &self.objects.list {
                x.extend(self.recording.object_positions(object.number, frame)?);
            }
            let write = |out: &mut dyn io::Write| parts.write(out, &x, &[], self.library);
            write_atomically(&path, write).map_err(at(&path))?;
            self.exported.files.push(path);
            (*self.step.borrow_mut())().map_err(at(self.out))?;
        }
        Ok(())
    }

    fn write_ply(&mut self) -> Result<(), ResultError> {
        let mut file = together(self.recording, &self.objects.list);
        for (number, &frame) in self.frames.iter().enumerate() {
            let path = self.frame_path(number, "ply");
            file.positions.clear();
            for object in &self.objects.list {
                let own = self.recording.object_positions(object.number, frame)?;
                file.positions.extend(own);
            }
            write_atomically(&path, |out| ply::write(&file, out)).map_err(at(&path))?;
            self.exported.files.push(path);
            (*self.step.borrow_mut())().map_err(at(self.out))?;
        }
        Ok(())
    }

    fn write_pc2(&mut self) -> Result<(), ResultError> {
        for object in &self.objects.list {
            let start = self
                .recording
                .object_positions(object.number, self.frames[0])?;
            let start: Vec<DVec3> = start.iter().map(|p| p.as_vec3().as_dvec3()).collect();
            let path = self.out.join(format!("{}.obj", object.name));
            let parts = Parts::new(std::iter::once(object.part(Naming::Whole)));
            let write = |out: &mut dyn io::Write| parts.write(out, &start, &[], self.library);
            write_atomically(&path, write).map_err(at(&path))?;
            self.exported.files.push(path);

            let path = self.out.join(format!("{}.pc2", object.name));
            let frames = u32::try_from(self.frames.len()).unwrap_or(u32::MAX);
            let samples = (0..frames).map(|number| self.positions(object, number as usize));
            write_atomically(&path, |out| pc2::write(out, object.vertex_count, samples))
                .map_err(at(&path))?;
            self.exported.files.push(path);
        }
        Ok(())
    }

    fn write_usda(&mut self) -> Result<(), ResultError> {
        // the first identifier is that of the folder of materials
        let names = self.objects.list.iter().map(|object| &object.name[..]);
        let names = usda::identifiers(std::iter::once(usda::MATERIALS).chain(names));
        let materials = self.objects.materials.iter();
        let identifiers = usda::identifiers(materials.clone().map(|m| &m.name[..]));
        let materials: Vec<_> = identifiers.into_iter().zip(materials.cloned()).collect();
        let stage = usda::Stage {
            fps: self.recording.scene().fps,
            frame_count: self.frames.len() as u64,
            name: "scene",
            materials: &materials,
        };
        let path = self.out.join("scene.usda");
        let write = write_atomically(&path, |out| {
            stage.begin(out)?;
            for (object, name) in self.objects.list.iter().zip(&names[1..]) {
                let surface = usda::Surface {
                    name,
                    look: &object.look,
                    materials: &object.materials,
                    vertex_count: object.vertex_count,
                };
                stage.mesh(out, &surface, |n| self.positions(object, n as usize))?;
            }
            stage.end(out)
        });
        write.map_err(at(&path))?;
        self.exported.files.push(path);
        Ok(())
    }

    fn write_glb(&mut self) -> Result<(), ResultError> {
        let path = self.out.join("scene.glb");
        let selection = Selection {
            frames: self.frames.to_vec(),
            objects: Vec::new(),
        };
        let times = times_of(self.recording, &selection);
        let (written, lost) = self.objects.for_glb(self.recording, &times, |film| {
            let positions = |object: usize, frame: u64| {
                self.positions(&self.objects.list[object], frame as usize)
            };
            write_atomically(&path, |out| film.write(out, &positions))
        });
        written.map_err(at(&path))?;
        self.exported.lost.extend(lost);
        self.exported.files.push(path);
        Ok(())
    }
}
