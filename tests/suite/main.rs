//! Integration tests: one binary, one module per theme.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot unwrap has failed, and prints what it measured; clippy.toml knows only #[test] functions"
)]

mod attacks;
mod broken_scenes;
mod ccd_data;
mod ccd_flat;
mod ccd_oracle;
mod ccd_random;
mod ccd_separation;
mod ccd_worst;
mod compare;
mod detection;
mod documents;
mod dynamics_keys;
mod example;
mod flat_sheet;
mod friction;
mod friction_laws;
mod golden;
mod in_loops;
mod judge;
mod laws;
mod loaders;
mod order;
mod path_data;
mod path_judge;
mod path_topology;
mod paths;
mod pinch;
mod proofs;
mod resolve;
mod scene_keys;
mod scenes;
mod shared_zone;
mod zones;
