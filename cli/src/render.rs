//! `percale render`: pictures of a result folder, without a GPU.

pub(crate) mod frames;
mod movie;
pub(crate) mod stage;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use percale::io::write_atomically;
use percale::record::Recording;
use percale::render::{Animation, Camera, Image, Palette, contact_sheet};

use crate::failure::Failure;
use crate::inputs;
use crate::interrupt::Interrupt;
use crate::output::say;
use crate::progress::Progress;
use frames::Frames;
use stage::{Source, Stage};

/// Frames on a contact sheet, unless chosen.
const SHEET_FRAMES: u64 = 12;
/// Pixels of a picture on a contact sheet, unless chosen.
const SHEET_SIZE: [u32; 2] = [320, 240];
/// Pixels of all pictures on a contact sheet: they are held in memory at once, beside the sheet.
const MAX_SHEET_PIXELS: f64 = 2e8;
/// Frames from which the palette of a GIF is made.
const PALETTE_FRAMES: u64 = 8;
/// Frames per second of a GIF, at most, unless frames are chosen.
const GIF_FPS: f64 = 30.0;

/// Draw a result folder: PNG frames, a contact sheet, a GIF or an MP4; or meshes as one PNG
#[derive(Debug, clap::Args)]
pub(crate) struct Render {
    /// Result folder of `percale run`, or a mesh (.obj, .ply, .stl, also .gz)
    #[arg(value_name = "DIR|MESH")]
    dir: PathBuf,
    /// Folder for the PNG frames, or a .png file for a single frame or a sheet [default: DIR/frames, DIR/sheet.png]
    #[arg(long, short)]
    out: Option<PathBuf>,
    /// Frames to draw: 0,60,last or 10..50 (both ends) or 10..50/5 or "every 10" [default: all; 12 for a sheet]
    #[arg(long, value_name = "FRAMES")]
    frames: Option<Frames>,
    /// Pixels of each picture, `WIDTHxHEIGHT` [default: 960x720; 320x240 on a sheet; 640x480 in a GIF]
    #[arg(long, value_name = "WxH", value_parser = size)]
    size: Option<[u32; 2]>,
    /// Write one picture with all frames, numbered, instead of single frames
    #[arg(long)]
    sheet: bool,
    /// Write an animated GIF instead of single frames
    #[arg(long, value_name = "FILE")]
    gif: Option<PathBuf>,
    /// Write an MP4 instead of single frames; needs ffmpeg
    #[arg(long, value_name = "FILE")]
    mp4: Option<PathBuf>,
    /// Eye, target (metres) and vertical angle of view (degrees), e.g. 2,1.5,3,0,0.3,0,30 [default: the scene's `camera`, else all cloth in view]
    #[arg(long, value_name = "EX,EY,EZ,TX,TY,TZ,FOV", allow_hyphen_values = true)]
    camera: Option<Camera>,
    /// Colour the cloth by its largest stretch since frame 0, from 0 to PERCENT
    #[arg(long, value_name = "PERCENT", num_args = 0..=1, default_missing_value = "10", value_parser = percent)]
    strain: Option<f64>,
    /// Draw the edges of the triangles
    #[arg(long)]
    wire: bool,
    /// Draw intersection paths in a colour for each type, and tint what is inside of them
    #[arg(long)]
    paths: bool,
}

fn size(text: &str) -> Result<[u32; 2], String> {
    let parsed = text
        .split_once(['x', 'X'])
        .and_then(|(w, h)| Some([w.trim().parse().ok()?, h.trim().parse().ok()?]));
    parsed
        .filter(|size: &[u32; 2]| size.iter().all(|n| (16..=8192).contains(n)))
        .ok_or_else(|| "write WIDTHxHEIGHT in pixels, 16 to 8192 each, e.g. 960x720".into())
}

fn percent(text: &str) -> Result<f64, String> {
    let value = text.trim_end_matches('%').parse::<f64>().ok();
    value
        .filter(|value| value.is_finite() && *value > 0.0)
        .ok_or_else(|| "write a number above 0, e.g. 10".into())
}

impl Render {
    pub(crate) fn run(&self) -> Result<ExitCode, Failure> {
        if !self.dir.is_dir() {
            return self.write_mesh();
        }
        let recording = Recording::open(&self.dir)?;
        let count = recording.frame_count();
        let chosen = match &self.frames {
            Some(frames) => Some(frames.of(count)?),
            None => None,
        };
        let all: Vec<u64> = percale::record::export::shown(&recording).collect();
        let or = |frames: Vec<u64>| chosen.clone().unwrap_or(frames);
        let step = (recording.scene().fps / GIF_FPS).ceil().max(1.0) as usize;
        let sheet = or(spread(&all, SHEET_FRAMES));
        let gif = or(all.iter().copied().step_by(step).collect());
        let frames = or(all);
        let is_single = !self.sheet && self.gif.is_none() && self.mp4.is_none();

        let pictures = [
            (self.sheet, sheet.len()),
            (self.gif.is_some(), gif.len()),
            (self.mp4.is_some() || is_single, frames.len()),
        ];
        let pictures = pictures.iter().filter(|(is_made, _)| *is_made);
        let work = Work::new(pictures.map(|(_, count)| *count).sum())?;
        if self.sheet {
            self.write_sheet(&recording, &sheet, &work)?;
        }
        if let Some(file) = &self.gif {
            self.write_gif(&recording, &gif, file, &work)?;
        }
        if let Some(file) = &self.mp4 {
            self.write_mp4(&recording, &frames, file, &work)?;
        }
        if is_single {
            self.write_frames(&recording, &frames, &work)?;
        }
        work.progress.finish();
        Ok(ExitCode::SUCCESS)
    }

    fn stage<'a>(
        &self,
        recording: &'a Recording,
        frames: &[u64],
        size: [u32; 2],
    ) -> Result<Stage<'a>, Failure> {
        self.stage_of(Source::Recording(recording), frames, size)
    }

    /// The stage for some frames, with pictures of the wanted size or this one.
    fn stage_of<'a>(
        &self,
        source: Source<'a>,
        frames: &[u64],
        size: [u32; 2],
    ) -> Result<Stage<'a>, Failure> {
        let [width, height] = self.size.unwrap_or(size);
        let mut stage = Stage::new(source, frames, [width, height], self.camera)?;
        stage.settings.wire = self.wire;
        stage.shows_paths = self.paths;
        if let Some(percent) = self.strain {
            stage.show_strain(percent)?;
        }
        Ok(stage)
    }

    fn write_mesh(&self) -> Result<ExitCode, Failure> {
        if self.sheet || self.gif.is_some() || self.mp4.is_some() || self.frames.is_some() {
            return Err(Failure::input(format!(
                "{}: frames, sheets and movies are made of a result folder; a mesh is one picture",
                self.dir.display()
            )));
        }
        let input = inputs::read_meshes(&inputs::expand(std::slice::from_ref(&self.dir))?)?;
        let stage = self.stage_of(
            Source::Still(&input.mesh, &input.positions),
            &[0],
            [960, 720],
        )?;
        let name = self.dir.file_name().unwrap_or_default().to_string_lossy();
        let stem = name.split('.').next().unwrap_or_default();
        let default = || PathBuf::from(format!("{stem}.png"));
        let file = self.out.clone().unwrap_or_else(default);
        save(&stage.draw(0)?, &file)?;
        say!("{}", file.display());
        Ok(ExitCode::SUCCESS)
    }

    fn write_frames(
        &self,
        recording: &Recording,
        frames: &[u64],
        work: &Work,
    ) -> Result<(), Failure> {
        let stage = self.stage(recording, frames, [960, 720])?;
        let single = self.out.as_ref().filter(|out| is_png(out));
        if let (Some(file), &[frame]) = (single, frames) {
            save(&work.draw(&stage, frame)?, file)?;
            work.tell(file);
            return Ok(());
        }
        if single.is_some() {
            return Err(Failure::input(format!(
                "{} frames do not fit into one .png file; choose one with --frames, or use --sheet, --gif or --mp4",
                frames.len()
            )));
        }
        let folder = self.out.clone().unwrap_or_else(|| self.dir.join("frames"));
        fs::create_dir_all(&folder).map_err(|e| cannot_write(&folder, &e))?;
        for &frame in frames {
            let picture = work.draw(&stage, frame)?;
            save(&picture, &folder.join(format!("{frame:04}.png")))?;
        }
        let (count, folder) = (frames.len(), folder.display());
        work.progress.aside(|| say!("{count} frames in {folder}"));
        Ok(())
    }

    fn write_sheet(
        &self,
        recording: &Recording,
        frames: &[u64],
        work: &Work,
    ) -> Result<(), Failure> {
        let [width, height] = self.size.unwrap_or(SHEET_SIZE);
        let pixels = frames.len() as f64 * f64::from(width) * f64::from(height);
        if pixels > MAX_SHEET_PIXELS {
            return Err(Failure::input(format!(
                "--sheet: {} pictures of {width}x{height} have {:.0} million pixels, at most {:.0}; choose fewer --frames or a smaller --size",
                frames.len(),
                pixels / 1e6,
                MAX_SHEET_PIXELS / 1e6
            )));
        }
        let stage = self.stage(recording, frames, SHEET_SIZE)?;
        let mut cells = Vec::with_capacity(frames.len());
        for &frame in frames {
            cells.push((frame.to_string(), work.draw(&stage, frame)?));
        }
        // about as wide as high, and not wider than four pictures
        let columns = frames
            .len()
            .min(((frames.len() as f64).sqrt().ceil() as usize).min(4));
        let sheet = contact_sheet(&cells, columns.max(1));
        let file = match &self.out {
            Some(out) if is_png(out) => out.clone(),
            Some(out) => {
                fs::create_dir_all(out).map_err(|e| cannot_write(out, &e))?;
                out.join("sheet.png")
            }
            None => self.dir.join("sheet.png"),
        };
        save(&sheet, &file)?;
        work.tell(&file);
        Ok(())
    }

    fn write_gif(
        &self,
        recording: &Recording,
        frames: &[u64],
        file: &Path,
        work: &Work,
    ) -> Result<(), Failure> {
        let stage = self.stage(recording, frames, [640, 480])?;
        let mut samples = Vec::new();
        for frame in spread(frames, PALETTE_FRAMES) {
            samples.push(stage.draw(frame)?);
        }
        let palette = Palette::of(&samples);
        let fps = playing_speed(recording.scene().fps, frames);
        let size = [stage.settings.width, stage.settings.height];
        let mut failure = None;
        let written = write_atomically(file, |out| {
            let mut animation = Animation::new(out, size, palette, fps)?;
            for &frame in frames {
                match work.draw(&stage, frame) {
                    Ok(image) => animation.push(&image)?,
                    Err(reason) => {
                        failure = Some(reason);
                        return Err(io::ErrorKind::InvalidData.into());
                    }
                }
            }
            animation.finish().map(|_| ())
        });
        if let Some(reason) = failure {
            return Err(reason);
        }
        written.map_err(|e| cannot_write(file, &e))?;
        work.tell(file);
        Ok(())
    }

    fn write_mp4(
        &self,
        recording: &Recording,
        frames: &[u64],
        file: &Path,
        work: &Work,
    ) -> Result<(), Failure> {
        let stage = self.stage(recording, frames, [960, 720])?;
        let fps = playing_speed(recording.scene().fps, frames);
        let size = [stage.settings.width, stage.settings.height];
        let mut movie = movie::Movie::new(file, size, fps)?;
        for &frame in frames {
            movie.push(&work.draw(&stage, frame)?)?;
        }
        movie.finish()?;
        work.tell(file);
        Ok(())
    }
}

/// Pictures to be drawn, until Ctrl-C.
struct Work {
    progress: Progress,
    interrupt: Interrupt,
}

impl Work {
    fn new(pictures: usize) -> Result<Self, Failure> {
        let progress = Progress::new("picture", pictures as u64, 0);
        let kept = "pictures that were finished are whole";
        let interrupt = Interrupt::watch(&progress, "picture", kept)?;
        Ok(Self {
            progress,
            interrupt,
        })
    }

    /// A file is there.
    fn tell(&self, file: &Path) {
        self.progress.aside(|| say!("{}", file.display()));
    }

    /// The next picture, unless somebody wants to stop.
    fn draw(&self, stage: &Stage<'_>, frame: u64) -> Result<Image, Failure> {
        if self.interrupt.came() {
            self.progress.finish();
            let message = "stopped; pictures that were finished are whole";
            return Err(Failure::interrupted(message));
        }
        let image = stage.draw(frame)?;
        self.progress.add_one();
        Ok(image)
    }
}

fn is_png(path: &Path) -> bool {
    path.extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("png"))
}

pub(crate) fn save(image: &Image, file: &Path) -> Result<(), Failure> {
    write_atomically(file, |out| image.write_png(out)).map_err(|e| cannot_write(file, &e))
}

pub(crate) fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    Failure::input(format!("cannot write {}: {error}", path.display()))
}

/// Up to `count` of the frames, evenly, with the first and the last.
fn spread(frames: &[u64], count: u64) -> Vec<u64> {
    let (last, count) = (frames.len() as u64 - 1, count.min(frames.len() as u64));
    (0..count)
        .map(|k| frames[(k * last / (count - 1).max(1)) as usize])
        .collect()
}

/// Frames per second at which equally spaced frames of a recording play in real time.
fn playing_speed(fps: f64, frames: &[u64]) -> f64 {
    match frames {
        [first, .., last] if last > first => {
            fps * (frames.len() - 1) as f64 / (last - first) as f64
        }
        _ => fps,
    }
}
