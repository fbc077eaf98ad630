//! `percale bench scenes`: scenes to their end, one record each.

use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use percale::record::{Recording, ResultError, Stopped};
use percale::scene::{BUILTIN, Scene, Variant};

use super::record::{self, Build, Record, State, Stop};
use super::{sheet, table};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output::say;
use crate::progress::Progress;
use crate::run::{self, NoStart};

/// Run scenes to their end, as they are, and keep one record of each
///
/// One after the other, since processor time is measured. What is done is not done again: a scene whose record is complete, made by this very
/// program from the same scene, is skipped; one that was interrupted goes on where it stood. A scene that stops is recorded with the reason,
/// and the next one begins. Exit code 1: a scene stopped, or has intersections.
#[derive(Debug, clap::Args)]
pub(super) struct ScenesBench {
    /// Built-in scenes or files [default: all built-in scenes]
    names: Vec<String>,
    /// Run the small variants
    #[arg(long)]
    small: bool,
    /// Where the result folders are [default: out/bench]
    #[arg(long, short, default_value = "out/bench", hide_default_value = true)]
    out: PathBuf,
    /// Where the records are [default: bench/records]
    #[arg(
        long,
        value_name = "DIR",
        default_value = "bench/records",
        hide_default_value = true
    )]
    records: PathBuf,
    /// Go by records of other builds too
    #[arg(long)]
    any_build: bool,
    /// Run nothing; print the records as a Markdown table, or put it between the markers of a file
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    table: Option<Option<PathBuf>>,
    /// Run nothing; draw the posters of all recorded scenes as one PNG
    #[arg(long, value_name = "FILE.png")]
    sheet: Option<PathBuf>,
    /// Run nothing; write a page with one picture per recorded scene into a folder
    #[arg(long, value_name = "DIR")]
    gallery: Option<PathBuf>,
}

impl ScenesBench {
    pub(super) fn run(&self) -> Result<ExitCode, Failure> {
        if self.table.is_none() && self.sheet.is_none() && self.gallery.is_none() {
            return self.run_all();
        }
        let records = self.recorded()?;
        match &self.table {
            Some(Some(file)) => {
                table::put_into(file, &table::of(&records))?;
                say!("{} records in {}", records.len(), file.display());
            }
            Some(None) => crate::output::write(format_args!("{}", table::of(&records))),
            None => {}
        }
        if let Some(file) = &self.sheet {
            sheet::draw(&records, &self.out, file)?;
            say!("{}", file.display());
        }
        if let Some(folder) = &self.gallery {
            sheet::gallery(&records, &self.out, folder)?;
            say!("{}", folder.join("README.md").display());
        }
        Ok(ExitCode::SUCCESS)
    }

    /// The records that are asked for, in the order of the built-in scenes.
    fn recorded(&self) -> Result<Vec<Record>, Failure> {
        let wanted: Vec<String> = self
            .names
            .iter()
            .map(|n| run::short_name(n, false))
            .collect();
        let mut records = record::read_all(&self.records)?;
        records.retain(|record| {
            let is_named = wanted.is_empty() || wanted.contains(&record.name);
            is_named && (!self.small || record.size == "small")
        });
        if records.is_empty() {
            return Err(Failure::input(format!(
                "{}: no records of these scenes; `percale bench scenes` makes them",
                self.records.display()
            )));
        }
        let place = |record: &Record| {
            let mut names = BUILTIN.iter().map(|(name, _)| *name);
            names.position(|name| name == record.name)
        };
        records.sort_by_key(|record| {
            let place = place(record).unwrap_or(usize::MAX);
            (record.size == "small", place, record.name.clone())
        });
        Ok(records)
    }

    fn run_all(&self) -> Result<ExitCode, Failure> {
        let all = || {
            BUILTIN
                .iter()
                .map(|(name, _)| (*name).to_string())
                .collect()
        };
        let names: Vec<String> = match self.names.is_empty() {
            true => all(),
            false => self.names.clone(),
        };
        let variant = match self.small {
            true => Variant::Small,
            false => Variant::Full,
        };
        // a wrong name is told before hours of work
        let scenes: Vec<Scene> = names
            .iter()
            .map(|name| Scene::load_variant(name, variant))
            .collect::<Result<_, _>>()?;
        let interrupt = Interrupt::watch_unshown(
            "frame",
            "all finished frames are whole, the same command goes on with them",
        )?;
        let build = Build::this();
        let mut is_clean = true;
        for (i, (name, scene)) in names.iter().zip(&scenes).enumerate() {
            let mut record = Record::new(run::short_name(name, false), self.small, scene, &build);
            let old = Record::read(&record.path(&self.records))
                .filter(|old| old.is_of(&record, self.any_build));
            let place = format!(
                "scene {} of {}, {}",
                i + 1,
                names.len(),
                record.short_name()
            );
            if let Some(old) = old.as_ref().filter(|old| old.is_complete()) {
                eprintln!("{place}: recorded already");
                is_clean &= is_good(old);
                continue;
            }
            eprintln!("{place}: {} frames", scene.frames);
            record.write(&self.records)?;
            self.run_one(name, scene, &mut record, old.is_some(), &interrupt)?;
            record.write(&self.records)?;
            say!("{}", line(&record));
            if record.state == State::Interrupted {
                eprintln!("the same command goes on from there");
                return Ok(Interrupt::code());
            }
            is_clean &= is_good(&record);
        }
        Ok(ExitCode::from(u8::from(!is_clean)))
    }

    /// Runs a scene as far as it goes; only what is wrong with the folders is an error.
    fn run_one(
        &self,
        name: &str,
        scene: &Scene,
        record: &mut Record,
        goes_on: bool,
        interrupt: &Interrupt,
    ) -> Result<(), Failure> {
        let path = self.out.join(record.short_name());
        let stop = |frame: u64, message: String| Some(Stop { frame, message });
        let work = || simulate(name, scene, &path, goes_on, interrupt);
        let ended = panic::catch_unwind(AssertUnwindSafe(work));
        let stopped = match ended {
            Ok(Ok(stopped)) => {
                stopped.map(|Stopped { frame, message, .. }| Stop { frame, message })
            }
            Ok(Err(Ended::NoStart(message))) => {
                (record.state, record.stopped) = (State::Stopped, stop(0, message));
                return Ok(()); // what is in the folder is not of this run
            }
            Ok(Err(Ended::Folder(failure))) => return Err(failure),
            Err(panic) => {
                let text = panic.downcast_ref::<String>().map(String::as_str);
                let text = text.or(panic.downcast_ref::<&str>().copied());
                let message = format!("a bug: {}", text.unwrap_or("it panicked"));
                match Recording::open(&path) {
                    Ok(recording) => stop(recording.frame_count(), message),
                    Err(_) => {
                        (record.state, record.stopped) = (State::Stopped, stop(0, message));
                        return Ok(());
                    }
                }
            }
        };
        record.fill(&Recording::open(&path)?)?;
        record.state = match &stopped {
            Some(_) => State::Stopped,
            None if record.frames_done < record.frames_wanted => State::Interrupted,
            None => State::Done,
        };
        record.stopped = stopped;
        Ok(())
    }
}

/// Why a run has no result.
enum Ended {
    /// The scene cannot start.
    NoStart(String),
    /// Its folder cannot be used.
    Folder(Failure),
}

impl From<ResultError> for Ended {
    fn from(error: ResultError) -> Self {
        Self::Folder(error.into())
    }
}

/// Runs a scene into its folder; says why it stopped, if it did.
fn simulate(
    name: &str,
    scene: &Scene,
    path: &Path,
    goes_on: bool,
    interrupt: &Interrupt,
) -> Result<Option<Stopped>, Ended> {
    let mut simulation = run::build(name, scene).map_err(|error| match error {
        NoStart::Tangled(start) => Ended::NoStart(start.to_string()),
        NoStart::Refused(failure) => Ended::NoStart(failure.to_string()),
    })?;
    // what cannot be continued, such as a run that was killed before its first checkpoint, begins anew
    let resumed = match goes_on {
        true => run::resume(name, scene, path, &mut simulation).ok(),
        false => None,
    };
    let mut folder = match resumed {
        Some(folder) => folder,
        None => run::create(scene, path, &simulation, true)?,
    };
    let progress = Progress::new("frame", scene.frames, simulation.frame());
    interrupt.shows(&progress);
    let summary = run::go(
        &mut simulation,
        &mut folder,
        scene.frames,
        &progress,
        interrupt,
    );
    Ok(summary.map_err(Ended::Folder)?.stopped)
}

fn is_good(record: &Record) -> bool {
    record.state == State::Done && record.figures.intersections == 0
}

/// A record in a line.
fn line(record: &Record) -> String {
    let Record {
        frames_done,
        frames_wanted,
        ..
    } = record;
    let intersections = record.figures.intersections;
    let why = match &record.stopped {
        Some(Stop { frame, message }) => format!("; stopped at frame {frame}: {message}"),
        None => String::new(),
    };
    format!(
        "{}: {frames_done} of {frames_wanted} frames, {intersections} intersections, {:.3} s of CPU per frame{why}",
        record.short_name(),
        record.cpu_seconds_per_frame.total,
    )
}
