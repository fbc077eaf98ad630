//! Integration tests: one binary, one folder for what is protected.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot unwrap has failed, and prints what it measured; clippy.toml knows only #[test] functions"
)]

mod certificate;
mod colliding;
mod cure;
mod detection;
mod documents;
mod dynamics;
mod laws;
#[path = "../support/motions.rs"]
mod motions;
mod paths;
#[path = "../support/random.rs"]
mod random;
mod regressions;
mod response;
mod scenes;
mod support;
