//! The command line of Percale: cloth that does not go through itself or anything else, with proof.
//!
//! Results on stdout, everything else on stderr. Exit codes: 0 done; 1 the answer is "no"; 2 could not start;
//! 130 stopped by Ctrl-C: after a whole frame, or at once if it is pressed twice.

mod bench;
mod check;
mod compare;
mod export;
mod failure;
mod inputs;
mod interrupt;
mod output;
mod progress;
mod render;
mod resolve;
mod run;
mod scenes;

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
    #[arg(long, global = true)]
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
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    if let Some(threads) = cli.threads {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build_global();
        pool.expect("the pool is made once, before anything uses it");
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
    };
    result.unwrap_or_else(|failure: Failure| {
        failure.report();
        failure.code()
    })
}
