//! The command line of Percale: cloth that does not go through itself or anything else, with proof.
//!
//! Results on stdout, everything else on stderr. Exit codes: 0 done; 1 the answer is "no"; 2 could not start;
//! 130 stopped by Ctrl-C: after a whole frame, or at once if it is pressed twice.

mod bench;
mod check;
mod compare;
mod export;
mod failure;
mod forecast;
mod inputs;
mod interrupt;
mod output;
mod page;
mod play;
mod progress;
mod render;
mod report;
mod resolve;
mod run;
mod scenes;
mod stages;
mod sweep;
mod untangle;
mod view;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use failure::Failure;

/// Cloth collision engine and simulator: prevents every intersection, with proof
#[derive(Debug, Parser)]
#[command(name = "percale", version = env!("PERCALE_VERSION"), propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Threads to use; the result does not depend on it [default: one per core]
    #[arg(long, global = true, value_parser = threads)]
    threads: Option<usize>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Scenes(scenes::Scenes),
    Run(run::Run),
    Check(check::Check),
    Compare(compare::Compare),
    Export(export::Export),
    Bench(bench::Bench),
    Render(render::Render),
    Resolve(resolve::Resolve),
    Sweep(sweep::Sweep),
    Untangle(untangle::Untangle),
    View(view::View),
    Play(play::Play),
}

/// More threads than any machine has cores; each takes a stack, and all of them time to start.
const MAX_THREADS: usize = 1024;

fn threads(text: &str) -> Result<usize, String> {
    let count = text.parse().ok().filter(|n| (1..=MAX_THREADS).contains(n));
    count.ok_or_else(|| {
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        format!("write a number from 1 to {MAX_THREADS}; this machine has {cores} cores")
    })
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    if let Some(threads) = cli.threads {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build_global();
        if let Err(error) = pool {
            eprintln!("error: --threads {threads}: {error}; try fewer");
            return ExitCode::from(2);
        }
    }
    let result = match cli.command {
        Command::Scenes(scenes) => scenes.run(),
        Command::Run(run) => run.run(),
        Command::Check(check) => check.run(),
        Command::Compare(compare) => compare.run(),
        Command::Export(export) => export.run(),
        Command::Bench(bench) => bench.run(),
        Command::Render(render) => render.run(),
        Command::Resolve(resolve) => resolve.run(),
        Command::Sweep(sweep) => sweep.run(),
        Command::Untangle(untangle) => untangle.run(),
        Command::View(view) => view.run(),
        Command::Play(play) => play.run(),
    };
    result.unwrap_or_else(|failure: Failure| {
        failure.report();
        failure.code()
    })
}
