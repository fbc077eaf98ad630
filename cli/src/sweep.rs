//! `percale sweep`: many runs of one scene, each a process of its own, and a table of totals.
//!
//! A run that dies, of whatever, takes nobody with it. What is to be done is read from the folders, so that shards on other machines
//! and runs from Python go together: see `percale::runs`.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use percale::record::is_being_written;
use percale::runs::{Axis, Case, Standing, Status, cases, check, write_table};
use percale::scene::{Scene, Variant};

use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output::say;
use crate::progress::Progress;
use crate::run::key_value;

/// Run a scene with every combination of some values, one result folder each
///
/// Folders are named by what they change; OUT/totals.csv has a line for each. What is there is kept, what was interrupted is continued. Exit code
/// 0: all runs of this shard are done; 1: some stopped or failed, and are listed; 2: could not start.
#[derive(Debug, clap::Args)]
pub(crate) struct Sweep {
    /// Built-in scene or file, e.g. drop or scenes/drop.toml
    scene: String,
    /// Values of a key, e.g. --vary friction=0.1,0.3 --vary cloth.0.fabric=silk,denim
    #[arg(long, value_name = "KEY=A,B", value_parser = Axis::parse, required = true)]
    vary: Vec<Axis>,
    /// Where to write the folders and the table
    #[arg(long, short)]
    out: PathBuf,
    /// Change a key in all runs, e.g. --set fps=30
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    changes: Vec<(String, String)>,
    /// Stop after this many frames instead of the scene's own number
    #[arg(long)]
    frames: Option<u64>,
    /// Run the scene's small variant
    #[arg(long)]
    small: bool,
    /// Runs at the same time; they share the cores
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1024))]
    jobs: u64,
    /// Take every N-th run only, beginning with the I-th: for Slurm arrays, `--shard $SLURM_ARRAY_TASK_ID/N` with tasks from 1
    #[arg(long, value_name = "I/N", value_parser = shard, default_value = "1/1")]
    shard: (usize, usize),
    /// Print one JSON object for each run of the shard, on a line of its own
    #[arg(long)]
    json: bool,
}

fn shard(text: &str) -> Result<(usize, usize), String> {
    let parts = text.split_once('/');
    let numbers = parts.and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
    let shard = numbers.filter(|(i, n)| (1..=*n).contains(i));
    shard.ok_or_else(|| "write I/N with I from 1 to N, e.g. 1/4".into())
}

impl Sweep {
    pub(crate) fn run(&self) -> Result<ExitCode, Failure> {
        let variant = match self.small {
            true => Variant::Small,
            false => Variant::Full,
        };
        let set = self.changes.iter().map(|(k, v)| (k, v.as_str()));
        let scene = Scene::load_variant(&self.scene, variant)?.set_all(set)?;
        let frames = self.frames.unwrap_or(scene.frames);
        let cases = cases(&self.vary).map_err(|e| Failure::input(format!("--vary {e}")))?;
        let (first, of) = self.shard;
        let own: Vec<&Case> = cases.iter().skip(first - 1).step_by(of).collect();
        check(&own, &scene, &self.out, frames).map_err(Failure::input)?;
        let cannot = |e| Failure::input(format!("{}: {e}; name another --out", self.out.display()));
        fs::create_dir_all(&self.out).map_err(cannot)?;
        let is_open = |case: &&&Case| {
            let standing = case.standing(&scene, &self.out, frames);
            !standing.status.is_final()
        };
        let open: Vec<&Case> = own.iter().filter(is_open).copied().collect();
        let progress = Progress::new("run", own.len() as u64, (own.len() - open.len()) as u64);
        let interrupt = Interrupt::watch(&progress, "frame", "continue with the same command")?;
        let next = AtomicUsize::new(0);
        let failure = Mutex::new(None);
        thread::scope(|scope| {
            for _ in 0..(self.jobs as usize).min(open.len()) {
                scope.spawn(|| {
                    while !interrupt.came()
                        && let Some(case) = open.get(next.fetch_add(1, Ordering::Relaxed))
                    {
                        if let Err(error) = self.run_case(case, &scene, &interrupt) {
                            *failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                            break;
                        }
                        progress.add_one();
                    }
                });
            }
        });
        progress.finish_with_line();
        if let Some(failure) = failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(failure);
        }
        self.report(&cases, &own, &scene, frames, interrupt.came())
    }

    /// Runs or continues a case in a process of its own, and notes why it has no result if it has none.
    fn run_case(&self, case: &Case, scene: &Scene, interrupt: &Interrupt) -> Result<(), Failure> {
        let cannot = |e: std::io::Error| Failure::stopped(format!("{}: {e}", self.out.display()));
        if let Err(error) = case.scene(scene) {
            return case
                .note(&self.out, Some(&error.to_string()))
                .map_err(cannot);
        }
        let folder = case.folder(&self.out);
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("run").arg(&self.scene).arg("-o").arg(&folder);
        if let Some(frames) = self.frames {
            command.args(["--frames", &frames.to_string()]);
        }
        if self.small {
            command.arg("--small");
        }
        for (key, value) in self.changes.iter().chain(&case.changes) {
            command.args(["--set", &format!("{key}={value}")]);
        }
        match (
            folder.join("checkpoint").exists(),
            folder.join("checksums").exists(),
        ) {
            (true, _) => drop(command.arg("--resume")),
            // killed before its start was stored
            (false, true) => drop(command.arg("--force")),
            _ => {}
        }
        let cores = thread::available_parallelism().map_or(1, |cores| cores.get());
        let threads = (cores / self.jobs as usize).max(1);
        let threads = rayon::current_num_threads().min(threads);
        command.args(["--threads", &threads.to_string()]);
        let log = self.log(case);
        let file = File::create(&log).map_err(cannot)?;
        command.arg("--until-input-ends").stdin(Stdio::piped());
        command.stdout(Stdio::null()).stderr(file);
        let status = wait(command, interrupt).map_err(cannot)?;
        if interrupt.came() || !status.success() && is_being_written(&folder) {
            // it has ended with us, or somebody else is at it: it can be continued
            return fs::remove_file(&log).map_err(cannot);
        }
        let message = match status.code() {
            Some(0) => None,
            _ => {
                Some(last_error(&log).unwrap_or_else(|| format!("its process ended with {status}")))
            }
        };
        if message.is_none() {
            fs::remove_file(&log).map_err(cannot)?;
        }
        case.note(&self.out, message.as_deref()).map_err(cannot)
    }

    /// What a run says on its way.
    fn log(&self, case: &Case) -> PathBuf {
        self.out.join(format!("{}.log", case.name))
    }

    /// Writes the table, prints the runs of this shard, and says whether all are done.
    fn report(
        &self,
        cases: &[Case],
        own: &[&Case],
        scene: &Scene,
        frames: u64,
        is_interrupted: bool,
    ) -> Result<ExitCode, Failure> {
        let rows: Vec<(Case, Standing)> = cases
            .iter()
            .map(|case| (case.clone(), case.standing(scene, &self.out, frames)))
            .collect();
        let table = write_table(&self.out, &rows)
            .map_err(|e| Failure::stopped(format!("{}: {e}", self.out.display())))?;
        // of runs that another sweep has ended
        for (case, _) in rows.iter().filter(|row| row.1.status == Status::Done) {
            let cannot = |e| Failure::stopped(format!("{}: {e}", self.out.display()));
            case.note(&self.out, None).map_err(cannot)?;
            let _ = fs::remove_file(self.log(case)); // mostly there is none
        }
        let mut is_all_done = true;
        for (case, standing) in rows.iter().filter(|(case, _)| own.contains(&case)) {
            is_all_done &= standing.status == Status::Done;
            let Standing {
                status,
                summary,
                message,
            } = standing;
            if self.json {
                let changes: serde_json::Map<_, _> = (case.changes.iter())
                    .map(|(key, value)| (key.clone(), value.clone().into()))
                    .collect();
                let row = serde_json::json!({
                    "folder": case.name, "changes": changes, "status": status, "totals": summary, "message": message,
                });
                say!("{row}");
            } else {
                let hash = summary.as_ref().and_then(|summary| summary.hash.get(..16));
                let told = message.as_deref().or(hash).unwrap_or_default();
                say!("{:<8} {}  {told}", status.name(), case.name);
            }
        }
        if !self.json {
            say!("{}", table.display());
        }
        if is_interrupted {
            eprintln!("stopped; continue with the same command");
            return Ok(Interrupt::code());
        }
        Ok(ExitCode::from(u8::from(!is_all_done)))
    }
}

/// Waits for a run, which stops after the frame at hand once we let go of its input: when we are asked to stop, or die.
fn wait(mut command: Command, interrupt: &Interrupt) -> std::io::Result<ExitStatus> {
    let mut child = command.spawn()?;
    let mut input = child.stdin.take();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if interrupt.came() {
            input.take();
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// What a run has said last about why it ended.
fn last_error(log: &Path) -> Option<String> {
    let lines = BufReader::new(File::open(log).ok()?).lines();
    let errors = lines.map_while(Result::ok);
    errors
        .filter_map(|line| Some(line.strip_prefix("error: ")?.to_owned()))
        .last()
}
