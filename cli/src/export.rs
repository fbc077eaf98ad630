//! `percale export`: result folders in the formats of other programs.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use percale::record::Recording;
use percale::record::export::{self, Exported, Selection};
use serde::Serialize;

use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output::say;
use crate::progress::Progress;
use crate::render::frames::Frames;

/// Write a result folder in a format of other programs
#[derive(Debug, clap::Args)]
pub(crate) struct Export {
    /// Result folder of `percale run`
    folder: PathBuf,
    /// pc2: OBJ and point cache for each object; usda: one USD file; glb: one glTF file with morph targets; obj, ply: one file for each frame
    #[arg(long, value_enum)]
    format: Format,
    /// Where to write [default: a folder named after the format, in the result folder]
    #[arg(long, short)]
    out: Option<PathBuf>,
    /// Frames of the result folder, which are numbered anew from 0: 0,60,last or 10..50 (both ends) or 10..50/5 or "every 10" [default: all after
    /// the scene's pre-roll]
    #[arg(long)]
    frames: Option<Frames>,
    /// Only these objects, by their names in the scene: cloth,ball
    #[arg(long, value_delimiter = ',')]
    objects: Vec<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Format {
    Pc2,
    Usda,
    Obj,
    Ply,
    Glb,
}

impl From<Format> for export::Format {
    fn from(format: Format) -> Self {
        match format {
            Format::Pc2 => Self::Pc2,
            Format::Usda => Self::Usda,
            Format::Obj => Self::Obj,
            Format::Ply => Self::Ply,
            Format::Glb => Self::Glb,
        }
    }
}

impl Export {
    fn selection(&self, recording: &Recording) -> Result<Selection, Failure> {
        let mut selection = Selection::all(recording);
        if let Some(frames) = &self.frames {
            selection.frames = frames.of(recording.frame_count())?;
        }
        if !self.objects.is_empty() {
            let bodies = recording.mesh().bodies();
            let number = |name: &String| {
                let found = bodies.iter().position(|body| body.name == *name);
                found.ok_or_else(|| {
                    let names: Vec<&str> = bodies.iter().map(|body| body.name.as_str()).collect();
                    let names = names.join(", ");
                    Failure::input(format!("--objects: no object '{name}'; there are {names}"))
                })
            };
            selection.objects = self.objects.iter().map(number).collect::<Result<_, _>>()?;
            selection.objects.sort_unstable();
            selection.objects.dedup();
        }
        Ok(selection)
    }

    pub(crate) fn run(&self) -> Result<ExitCode, Failure> {
        let recording = Recording::open(&self.folder)?;
        let name = format!("{:?}", self.format).to_lowercase();
        let out = self.out.clone().unwrap_or_else(|| self.folder.join(&name));
        let selection = self.selection(&recording)?;
        let bytes = export::about_bytes(&recording, self.format.into(), &selection)?;
        if bytes > LARGE {
            let size = bytes as f64 / 1e6;
            eprintln!(
                "warning: scene.glb will have {size:.0} MB: morph targets hold all vertices in every frame, and programs are slow with them; fewer frames \
                 (--frames \"every 2\"), fewer objects (--objects), or usda or pc2 are smaller"
            );
        }
        let progress = Progress::new("frame", selection.frames.len() as u64, 0);
        let kept = "files that were finished are whole";
        let interrupt = Interrupt::watch(&progress, "frame", kept)?;
        let frames = selection.frames.len() as f64;
        let exported = export::export(&recording, self.format.into(), &selection, &out, |share| {
            progress.at(share * frames);
            if interrupt.came() {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        progress.finish();
        let exported = match exported {
            Err(_) if interrupt.came() => {
                let message = format!("stopped; the files in {} are whole", out.display());
                return Err(Failure::interrupted(message));
            }
            exported => exported.map_err(|error| Failure::stopped(error.to_string()))?,
        };
        if self.json {
            #[derive(Serialize)]
            struct Report<'a> {
                format: String,
                #[serde(flatten)]
                exported: &'a Exported,
            }
            let report = Report {
                format: name,
                exported: &exported,
            };
            say!("{}", serde_json::to_string(&report)?);
        } else {
            say!("{}", describe(&exported, &out));
        }
        for lost in &exported.lost {
            eprintln!("warning: {lost}");
        }
        Ok(if exported.intersections == 0 {
            ExitCode::SUCCESS
        } else {
            ExitCode::from(1)
        })
    }
}

/// Bytes from which on a file with morph targets is a burden.
const LARGE: u64 = 200_000_000;

fn describe(exported: &Exported, out: &Path) -> String {
    let mut text = format!(
        "{} frames of {} objects in {}: {} files",
        exported.frames,
        exported.objects,
        out.display(),
        exported.files.len()
    );
    if exported.off_grid > 0 {
        text += &format!(
            "\n{} positions were rounded to f32: {} intersections",
            exported.off_grid, exported.intersections
        );
    }
    for crossing in &exported.crossings {
        let ([a, b], [first, second]) = (crossing.faces, &crossing.objects);
        let frame = crossing.frame;
        text += &format!("\nframe {frame}: face {a} ({first}) crosses face {b} ({second})");
    }
    text
}
