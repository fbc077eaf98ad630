//! `percale scenes`: lists the built-in scenes.

use std::process::ExitCode;

use percale::scene::{BUILTIN, Counts, Scene, TANGLES, Variant};
use serde::Serialize;

use crate::failure::Failure;
use crate::output::say;

/// List the built-in scenes
#[derive(Debug, clap::Args)]
pub(crate) struct Scenes {
    /// Print one JSON list
    #[arg(long)]
    json: bool,
    /// List the sizes of the small variants
    #[arg(long)]
    small: bool,
    /// Print the text of one scene, to start a scene of your own from
    #[arg(long, value_name = "NAME", conflicts_with_all = ["json", "small"])]
    show: Option<String>,
    /// Print the JSON Schema of scene files, for completion in editors
    #[arg(long, conflicts_with_all = ["json", "small", "show"])]
    schema: bool,
}

#[derive(Serialize)]
struct Entry {
    name: &'static str,
    paper: String,
    #[serde(flatten)]
    counts: Counts,
    frames: u64,
    fps: f64,
}

impl Scenes {
    pub(crate) fn run(&self) -> Result<ExitCode, Failure> {
        if self.schema {
            crate::output::write(format_args!("{}", Scene::schema()));
            return Ok(ExitCode::SUCCESS);
        }
        if let Some(wanted) = &self.show {
            let found = all().find(|(name, _)| name == wanted);
            let (_, text) = found.ok_or_else(|| {
                let names: Vec<&str> = all().map(|(name, _)| name).collect();
                Failure::input(format!(
                    "no scene '{wanted}'; there are: {}",
                    names.join(", ")
                ))
            })?;
            crate::output::write(format_args!("{text}"));
            return Ok(ExitCode::SUCCESS);
        }
        let variant = if self.small {
            Variant::Small
        } else {
            Variant::Full
        };
        let entry = |(name, _): (&'static str, &str)| {
            let scene = Scene::load_variant(name, variant)?;
            Ok(Entry {
                name,
                counts: scene.counts()?,
                paper: scene.paper,
                frames: scene.frames,
                fps: scene.fps,
            })
        };
        let entries: Vec<Entry> = all().map(entry).collect::<Result<_, Failure>>()?;
        if self.json {
            say!("{}", serde_json::to_string(&entries)?);
            return Ok(ExitCode::SUCCESS);
        }
        let width = entries.iter().map(|entry| entry.name.len()).max();
        let width = width.unwrap_or_default();
        say!("{:width$}  vertices  triangles  frames  after", "scene");
        for entry in &entries {
            say!(
                "{:width$}  {:8}  {:9}  {:6}  {}",
                entry.name,
                entry.counts.vertices,
                entry.counts.triangles,
                entry.frames,
                entry.paper
            );
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Name and text of all built-in scenes.
fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    let tangles = TANGLES
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()));
    BUILTIN.iter().copied().chain(tangles)
}
