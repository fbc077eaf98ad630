//! The command line as a user sees it: one binary, one module for each command or theme.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot unwrap has failed, and prints what it counted"
)]

mod bench_scenes;
mod bodies;
mod check;
mod folders;
mod fuzz;
mod guide;
mod interruption;
mod limits;
mod output;
mod paths;
mod pinch;
#[path = "../../../tests/support/random.rs"]
mod random;
mod render;
mod resolve;
mod run;
mod support;
mod sweep;
mod terminal;
mod untangle;
mod view;
