//! `percale export`: result folders in the formats of other programs.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use percale::record::Recording;
use percale::record::export::{self, Exported};
use serde::Serialize;

use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output::say;
use crate::progress::Progress;

/// Write a result folder in a format of other programs
#[derive(Debug, clap::Args)]
pub(crate) struct Export {
    /// Result folder of `percale run`
    folder: PathBuf,
    /// pc2: OBJ and point cache for each object; usda: one USD file; obj, ply: one file for each frame
    #[arg(long, value_enum)]
    format: Format,
    /// Where to write [default: a folder named after the format, in the result folder]
    #[arg(long, short)]
    out: Option<PathBuf>,
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
}

impl From<Format> for export::Format {
    fn from(format: Format) -> Self {
        match format {
            Format::Pc2 => Self::Pc2,
            Format::Usda => Self::Usda,
            Format::Obj => Self::Obj,
            Format::Ply => Self::Ply,
        }
    }
}

impl Export {
    pub(crate) fn run(&self) -> Result<ExitCode, Failure> {
        let recording = Recording::open(&self.folder)?;
        let name = format!("{:?}", self.format).to_lowercase();
        let out = self.out.clone().unwrap_or_else(|| self.folder.join(&name));
        let progress = Progress::new("frame", recording.frame_count(), 0);
        let kept = "files that were finished are whole";
        let interrupt = Interrupt::watch(&progress, "frame", kept)?;
        let frames = recording.frame_count() as f64;
        let exported = export::export(&recording, self.format.into(), &out, |share| {
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
        Ok(if exported.intersections == 0 {
            ExitCode::SUCCESS
        } else {
            ExitCode::from(1)
        })
    }
}

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
