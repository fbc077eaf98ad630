//! `percale run`: simulates a scene into a result folder.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use percale::error::RefusedStart;
use percale::io::result::{ResultFolder, Stopped, Summary};
use percale::scene::{Scene, SceneError, Variant};
use percale::verify::audit;

use crate::failure::Failure;
use crate::output::say;

/// Run a scene and write its motion to a result folder
#[derive(Debug, clap::Args)]
pub(crate) struct Run {
    /// Built-in scene or file, e.g. drop or scenes/drop.toml
    scene: String,
    /// Where to write the result folder [default: out/NAME, out/NAME-small]
    #[arg(long, short)]
    out: Option<PathBuf>,
    /// Stop after this many frames instead of the scene's own number
    #[arg(long)]
    frames: Option<u64>,
    /// Run the scene's small variant: minutes become seconds, numbers are no longer the paper's
    #[arg(long)]
    small: bool,
    /// Change a key of the scene, e.g. --set friction=0.5 --set cloth.0.fabric=silk
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    changes: Vec<(String, String)>,
    /// Continue an interrupted run, to the same bits
    #[arg(long)]
    resume: bool,
    /// Replace an earlier result in the folder
    #[arg(long, conflicts_with = "resume")]
    force: bool,
    /// Write the zone that took the inelastic projection most iterations to a JSON file, e.g. for a test
    #[arg(long, value_name = "FILE")]
    hardest_zone: Option<PathBuf>,
    /// Print the totals as one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn key_value(text: &str) -> Result<(String, String), String> {
    let (key, value) = text
        .split_once('=')
        .ok_or("write KEY=VALUE, e.g. friction=0.5")?;
    Ok((key.trim().into(), value.trim().into()))
}

impl Run {
    pub(crate) fn run(&self) -> Result<ExitCode, Failure> {
        let variant = if self.small {
            Variant::Small
        } else {
            Variant::Full
        };
        let scene = Scene::load_variant(&self.scene, variant, &self.changes)?;
        let path = self.out.clone().unwrap_or_else(|| self.default_out());
        let mut simulation = scene.build().map_err(|error| match error {
            SceneError::Tangled(start) => self.keep_refused(&scene, &start, &path),
            error => cannot_start(&self.scene, error),
        })?;
        let mut folder = if self.resume {
            let (folder, checkpoint) =
                ResultFolder::resume(&path, &scene, simulation.state().mesh())?;
            simulation
                .restore(checkpoint)
                .map_err(|error| format_start(&self.scene, &error))?;
            folder
        } else {
            ResultFolder::create(
                &path,
                &scene,
                simulation.state(),
                &simulation.checkpoint(),
                self.force,
            )?
        };

        for cloths in simulation.out_of_order() {
            eprintln!("warning: {}: {cloths}", self.scene);
        }

        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        ctrlc::set_handler(move || flag.store(true, Ordering::SeqCst))?;

        let frames = self.frames.unwrap_or(scene.frames);
        let bar = progress_bar(frames);
        bar.set_position(simulation.frame());
        let mut stopped = None;
        while simulation.frame() < frames && !stop.load(Ordering::SeqCst) {
            let report = match simulation.step() {
                Ok(report) => report,
                Err(error) => {
                    stopped = Some(Stopped::new(simulation.frame() + 1, &error));
                    break;
                }
            };
            bar.set_message(format!(
                "{} impacts",
                report.impacts.vertex_face + report.impacts.edge_edge
            ));
            bar.inc(1);
            let pushed = folder.push(simulation.state(), report, &simulation.checkpoint());
            pushed.map_err(|error| Failure::stopped(error.to_string()))?;
        }
        bar.finish_and_clear();
        if let (Some(path), Some((iterations, zone))) =
            (&self.hardest_zone, simulation.hardest_zone())
        {
            eprintln!("{} contacts, {iterations} iterations", zone.contacts.len());
            std::fs::write(path, serde_json::to_string(zone)?)
                .map_err(|error| Failure::stopped(format!("{}: {error}", path.display())))?;
        }

        let state = simulation.state();
        let crossings = audit::obstacle_crossings(state.mesh(), state.positions()).len();
        let summary = folder
            .finish(crossings, stopped)
            .map_err(|error| Failure::stopped(error.to_string()))?;
        if self.json {
            say!("{}", serde_json::to_string(&summary)?);
        }
        if let Some(Stopped { frame, message, .. }) = &summary.stopped {
            return Err(Failure::stopped(format!(
                "frame {frame}: {message}; frames 0 to {} are in {}",
                frame - 1,
                path.display()
            )));
        }
        if !self.json {
            say!("{}", describe(&summary, &path.display().to_string()));
        }
        if stop.load(Ordering::SeqCst) && simulation.frame() < frames {
            eprintln!(
                "stopped after frame {}; continue with --resume",
                simulation.frame()
            );
            return Ok(ExitCode::from(130));
        }
        Ok(if summary.intersections == 0 {
            ExitCode::SUCCESS
        } else {
            ExitCode::from(1)
        })
    }

    /// Leaves a start that crosses itself in the folder, to be looked at, and says so.
    fn keep_refused(&self, scene: &Scene, start: &RefusedStart, path: &Path) -> Failure {
        let message = match self.resume {
            true => start.to_string(),
            false => match ResultFolder::refuse(path, scene, start, self.force) {
                Ok(_) => format!(
                    "{start}; look at it with `percale check {0} --paths` or `percale render {0} --paths`",
                    path.display()
                ),
                Err(error) => {
                    format!("{start}\nerror: it could not be kept to be looked at: {error}")
                }
            },
        };
        Failure::input(format!("{}: {message}", self.scene))
    }

    fn default_out(&self) -> PathBuf {
        let path = PathBuf::from(&self.scene);
        let mut name = path.file_stem().unwrap_or(path.as_os_str()).to_owned();
        if self.small {
            name.push("-small");
        }
        PathBuf::from("out").join(name)
    }
}

/// An error of a scene that could be read, with its place in the scene file where there is one.
pub(crate) fn cannot_start(scene: &str, error: SceneError) -> Failure {
    match error.in_scene(scene) {
        error @ SceneError::Value { line: Some(_), .. } => Failure::input(error.to_string()),
        error => format_start(scene, &error),
    }
}

fn format_start(scene: &str, error: &dyn std::error::Error) -> Failure {
    Failure::input(format!("{scene}: {error}"))
}

/// A bar on the terminal, with what is gone and what is to go; none if nobody looks.
pub(crate) fn progress_bar(frames: u64) -> ProgressBar {
    let bar = if std::io::stderr().is_terminal() {
        ProgressBar::new(frames)
    } else {
        ProgressBar::hidden()
    };
    let template = "{bar:40} frame {pos}/{len}  {elapsed} gone, {eta} to go  {msg}";
    bar.set_style(ProgressStyle::with_template(template).expect("the template is well formed"));
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

fn describe(summary: &Summary, path: &str) -> String {
    let Summary {
        frames,
        intersections,
        impacts,
        rounds,
        intervals,
        failsafes,
        retries,
        stretched,
        seconds,
        ..
    } = summary;
    let gap = summary
        .smallest_gap
        .map_or("above the thickness".into(), |gap| format!("{gap:.3e} m"));
    let kept = summary
        .kept_share
        .map_or("no impacts".into(), |kept| format!("{:.1} %", 100.0 * kept));
    let lost = summary
        .stages
        .iter()
        .map(|(stage, account)| format!("{stage} {:.3e} J", account.energy_lost()));
    let lost = match &summary.stages {
        stages if stages.is_empty() => "none".into(),
        _ => lost.collect::<Vec<_>>().join(", "),
    };
    format!(
        "{frames} frames in {path}: {intersections} intersections\n\
         impacts      {} vertex-face, {} edge-edge; {rounds} rounds\n\
         intervals    {intervals}, {retries} retries, {stretched} shortened to spare the cloth, {failsafes} with fail-safe\n\
         smallest gap {gap}; motion kept by touched vertices: {kept}\n\
         energy lost  {lost}\n\
         strain       {:.1} % at most, {} faces above the limit in all frames\n\
         {seconds:.1} s, hash {}",
        impacts.vertex_face,
        impacts.edge_edge,
        100.0 * summary.largest_strain,
        summary.strain_over,
        &summary.hash[..16],
    )
}
