//! `percale run`: simulates a scene into a result folder.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use percale::error::RefusedStart;
use percale::record::{ResultError, ResultFolder, Stopped, Summary};
use percale::response::Account;
use percale::scene::{Scene, SceneError, Variant};
use percale::verify::audit;
use percale::{Figures, Simulation};

use crate::failure::Failure;
use crate::forecast;
use crate::interrupt::Interrupt;
use crate::output::say;
use crate::page;
use crate::progress::Progress;
use crate::report;
use crate::stages::stage_list;

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
    /// Stages of every attempt instead of the scene's, e.g. `impulses{max_rounds=16},inelastic`; or none
    #[arg(long, value_name = "STAGES", value_parser = stage_list)]
    response: Option<String>,
    /// Further stages at the shortest interval instead of the scene's, e.g. hold; or none
    #[arg(long, value_name = "STAGES", value_parser = stage_list)]
    failsafe: Option<String>,
    /// Continue an interrupted run, to the same bits
    #[arg(long)]
    resume: bool,
    /// Replace an earlier result in the folder
    #[arg(long, conflicts_with = "resume")]
    force: bool,
    /// Write a page with totals, plots and pictures when the run ends; --report=FILE.html names it [default: report.html in the
    /// result folder]
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    report: Option<Option<PathBuf>>,
    /// Print the totals as one JSON object
    #[arg(long)]
    json: bool,
    /// Stop after the frame at hand when standard input ends: for `percale sweep`, which holds the other end of it
    #[arg(long, hide = true)]
    until_input_ends: bool,
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
        let scene = Scene::load_variant(&self.scene, variant)?.set_all(self.all_changes())?;
        let path = self.out.clone().unwrap_or_else(|| self.default_out());
        if let Some(Some(file)) = &self.report {
            page::check_target("--report", file)?; // before all the work
        }
        let mut simulation = build(&self.scene, &scene).map_err(|error| match error {
            NoStart::Tangled(start) => self.keep_refused(&scene, &start, &path),
            NoStart::Refused(failure) => failure,
        })?;
        let mut folder = self.open(&path, &scene, &mut simulation)?;
        for doubt in scene.doubts_of_files()? {
            eprintln!("warning: {}: {doubt}", self.scene);
        }
        for cloths in simulation.out_of_order() {
            eprintln!("warning: {}: {cloths}", self.scene);
        }

        let frames = self.frames.unwrap_or(scene.frames);
        let progress = Progress::new("frame", frames, simulation.frame());
        let interrupt = Interrupt::watch(
            &progress,
            "frame",
            "all finished frames are whole, continue with --resume",
        )?;
        if self.until_input_ends {
            interrupt.comes_with_the_end_of_input();
        }
        let summary = go(&mut simulation, &mut folder, frames, &progress, &interrupt)?;
        if let Some(file) = &self.report {
            let file = file.clone().unwrap_or_else(|| path.join("report.html"));
            let about = describe(&summary, &path.display().to_string());
            report::write(&path, &file, &about, &summary)?;
            eprintln!("report in {}", file.display());
        }
        self.report(&summary, &path)?;
        if interrupt.came() && simulation.frame() < frames {
            eprintln!(
                "stopped after frame {}; continue with --resume",
                simulation.frame()
            );
            return Ok(Interrupt::code());
        }
        Ok(if summary.intersections + summary.figures.crossings == 0 {
            ExitCode::SUCCESS
        } else {
            ExitCode::from(1)
        })
    }

    /// The folder that is written: a new one, or the one of an earlier run, and then the simulation where that stood.
    fn open(
        &self,
        path: &Path,
        scene: &Scene,
        simulation: &mut Simulation,
    ) -> Result<ResultFolder, Failure> {
        if self.resume {
            return resume(&self.scene, scene, path, simulation);
        }
        Ok(create(scene, path, simulation, self.force)?)
    }

    /// Prints the totals.
    ///
    /// # Errors
    /// The run was stopped on the way: why, and what there is.
    fn report(&self, summary: &Summary, path: &Path) -> Result<(), Failure> {
        if self.json {
            say!("{}", serde_json::to_string(summary)?);
        }
        if let Some(Stopped { frame, message, .. }) = &summary.stopped {
            return Err(Failure::stopped(format!(
                "frame {frame}: {message}; frames 0 to {} are in {}",
                frame - 1,
                path.display()
            )));
        }
        if !self.json {
            say!("{}", describe(summary, &path.display().to_string()));
        }
        Ok(())
    }

    /// Keys that options set, after those of `--set`.
    fn all_changes(&self) -> Vec<(&str, &str)> {
        let set = self.changes.iter().map(|(k, v)| (k.as_str(), v.as_str()));
        let lists = [("response", &self.response), ("failsafe", &self.failsafe)];
        let lists = lists.into_iter();
        set.chain(lists.filter_map(|(key, list)| Some((key, list.as_deref()?))))
            .collect()
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
        PathBuf::from("out").join(short_name(&self.scene, self.small))
    }
}

/// What a run of a scene or scene file is called.
pub(crate) fn short_name(scene: &str, is_small: bool) -> String {
    let stem = Path::new(scene).file_stem();
    let name = stem.map_or(scene.into(), |stem| stem.to_string_lossy());
    format!("{name}{}", if is_small { "-small" } else { "" })
}

/// Why a scene has no simulation.
pub(crate) enum NoStart {
    /// Its start crosses itself.
    Tangled(Box<RefusedStart>),
    /// Anything else.
    Refused(Failure),
}

impl From<Failure> for NoStart {
    fn from(failure: Failure) -> Self {
        Self::Refused(failure)
    }
}

/// A scene that is ready to run and will end, as far as can be told.
pub(crate) fn build(name: &str, scene: &Scene) -> Result<Simulation, NoStart> {
    forecast::check_memory(name, scene)?;
    let simulation = scene.build().map_err(|error| match error {
        SceneError::Tangled(start) => NoStart::Tangled(start),
        error => NoStart::Refused(cannot_start(name, error)),
    })?;
    forecast::announce(name, scene, &simulation)?;
    Ok(simulation)
}

/// A new result folder with the start of a simulation.
pub(crate) fn create(
    scene: &Scene,
    path: &Path,
    simulation: &Simulation,
    force: bool,
) -> Result<ResultFolder, ResultError> {
    let (state, checkpoint) = (simulation.state(), simulation.checkpoint());
    ResultFolder::create(path, scene, state, &checkpoint, force)
}

/// The result folder of an interrupted run, and the simulation where that stood.
pub(crate) fn resume(
    name: &str,
    scene: &Scene,
    path: &Path,
    simulation: &mut Simulation,
) -> Result<ResultFolder, Failure> {
    let (folder, checkpoint) = ResultFolder::resume(path, scene, simulation.state().mesh())?;
    let restored = simulation.restore(checkpoint);
    restored.map_err(|error| format_start(name, &error))?;
    Ok(folder)
}

/// Runs a simulation into its folder up to a frame, or to where it stops, or until Ctrl-C.
pub(crate) fn go(
    simulation: &mut Simulation,
    folder: &mut ResultFolder,
    frames: u64,
    progress: &Progress,
    interrupt: &Interrupt,
) -> Result<Summary, Failure> {
    let mut stopped = None;
    while simulation.frame() < frames && !interrupt.came() {
        let done = simulation.frame() as f64;
        let report = match simulation.step_with(&mut |share| progress.at(done + share)) {
            Ok(report) => report,
            Err(error) => {
                stopped = Some(Stopped::new(simulation.frame() + 1, &error));
                break;
            }
        };
        progress.note(match report.crossings {
            0 => format!("{} impacts", report.impacts.total()),
            crossings => format!("{} paths of {crossings} crossings left", report.tangles),
        });
        let pushed = folder.push(simulation.state(), report, &simulation.checkpoint());
        pushed.map_err(|error| Failure::stopped(error.to_string()))?;
    }
    progress.finish_with_line();
    let state = simulation.state();
    let crossings = audit::obstacle_crossings(state.mesh(), state.positions()).len();
    let finished = folder.finish(crossings, stopped);
    finished.map_err(|error| Failure::stopped(error.to_string()))
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

fn describe(summary: &Summary, path: &str) -> String {
    let Summary {
        frames,
        intersections,
        figures,
        ..
    } = summary;
    let Figures {
        impacts,
        intervals,
        retries,
        stretched,
        ..
    } = figures;
    let (rounds, failsafes) = (figures.calls(), figures.failsafe_count());
    let (seconds, wall_seconds) = (summary.seconds(), summary.wall_seconds());
    let gap = figures
        .smallest_gap
        .map_or("above the thickness".into(), |gap| format!("{gap:.3e} m"));
    let taken = figures.stages.iter().map(taken);
    let taken = match &figures.stages {
        stages if stages.is_empty() => "nothing touched".into(),
        _ => taken.collect::<Vec<_>>().join(", "),
    };
    format!(
        "{frames} frames in {path}: {intersections} intersections\n\
         {}impacts      {} vertex-face, {} edge-edge; {rounds} rounds\n\
         intervals    {intervals}, {retries} retries, {stretched} shortened to spare the cloth, {failsafes} with fail-safe\n\
         smallest gap {gap}\n\
         motion       of touched vertices: {}\n\
         its energy   {taken}\n\
         strain       {:.1} % at most, {} faces above the limit in all frames\n\
         {}time         {wall_seconds:.1} s, {seconds:.1} s of CPU; hash {}",
        tangled(figures),
        impacts.vertex_face,
        impacts.edge_edge,
        kept(figures.kept_share()),
        100.0 * figures.largest_strain,
        figures.strain_over,
        seams(figures),
        &summary.hash[..16],
    )
}

/// How far the seams are closed, if there are any.
fn seams(figures: &Figures) -> String {
    let (Some(worst), Some([x, y, z])) = (figures.widest_stitch, figures.widest_stitch_place)
    else {
        return String::new();
    };
    format!(
        "seams        {} open, worst {:.2} mm beyond its gap at ({x:.3}, {y:.3}, {z:.3})\n",
        figures.open_stitches,
        1e3 * worst
    )
}

/// What is tangled at the end, if anything ever was.
fn tangled(figures: &Figures) -> String {
    let Figures {
        tangles,
        crossings,
        edge_face,
        contour_length,
        let_through,
        new_paths,
        phases,
        ..
    } = figures;
    if phases.analyse_ms == 0.0 && *crossings == 0 {
        return String::new();
    }
    let left = match crossings {
        0 => "none left".into(),
        _ => format!(
            "{tangles} paths left, {contour_length:.3} m long: {crossings} face pairs, {edge_face} edge-face crossings"
        ),
    };
    format!(
        "tangles      {left}; {let_through} times let through a pinch, {new_paths} times a new path beside one\n\
         untangling   {:.2} s to find paths, {:.2} s for targets, {:.2} s for forces\n",
        1e-3 * phases.analyse_ms,
        1e-3 * phases.target_ms,
        1e-3 * phases.draw_ms,
    )
}

/// What the response left of the motion; more than all of it is a push.
fn kept(share: Option<f64>) -> String {
    match share {
        None => "no impacts".into(),
        Some(share) if share <= 1.0 => format!("{:.1} % kept (of its square)", 100.0 * share),
        Some(_) => "all kept, and more added by what pushed them".into(),
    }
}

/// What a stage took from the energy of motion, as a share of what the intervals in which it acted brought it; or gave, as a share of what
/// they ended with. Sums over intervals are no energy that the cloth ever had, their quotient is a mean.
fn taken((stage, account): (&String, &Account)) -> String {
    let (before, after) = (account.energy_before, account.energy_after);
    let most = before.max(after);
    let share = if most > 0.0 {
        ((before - after) / most).clamp(-1.0, 1.0)
    } else {
        0.0
    };
    let word = if share < 0.0 { "gave" } else { "took" };
    format!("{stage} {word} {:.1} %", 100.0 * share.abs())
}

#[cfg(test)]
mod tests {
    use percale::step::Phases;

    use super::*;

    #[test]
    fn the_summary_says_nothing_impossible() {
        let account = |energy_before, energy_after| Account {
            energy_before,
            energy_after,
            ..Account::default()
        };
        // a load at rest for thousands of intervals, a ball that drives the cloth, and a stage that had nothing to do
        let stages = [
            ("contact", account(3.4e4, 12.0)),
            ("impulses", account(1.0, 4.0)),
            ("hold", account(-2.0, 1.0)),
            ("inelastic", account(0.0, 0.0)),
        ];
        let figures = Figures {
            kept: 2.689,
            wanted: 1.0,
            stages: stages.map(|(name, account)| (name.into(), account)).into(),
            phases: Phases {
                wall_ms: 61_260.0,
                propose_ms: 1e5,
                ..Phases::default()
            },
            ..Figures::default()
        };
        let summary = Summary {
            figures,
            hash: "0123456789abcdef0123".into(),
            ..Summary::default()
        };
        let text = describe(&summary, "out/x");
        for words in [
            "motion       of touched vertices: all kept, and more added by what pushed them",
            "contact took 100.0 %, hold gave 100.0 %, impulses gave 75.0 %, inelastic took 0.0 %",
            "time         61.3 s, 100.0 s of CPU",
        ] {
            assert!(text.contains(words), "{text}");
        }
        for words in ["268", "e4 J", "-0.0", "NaN"] {
            assert!(!text.contains(words), "{words}: {text}");
        }
        assert_eq!(kept(Some(0.5)), "50.0 % kept (of its square)");
        assert_eq!(kept(None), "no impacts");
    }
}
