//! Every scene starts and stays free of intersections; small variants run to the end.

use percale::scene::{BUILTIN, Scene};
use percale::verify::audit;
use rayon::prelude::*;

use crate::support::{full, small};

#[test]
fn every_small_scene_starts() {
    for (name, _) in BUILTIN {
        let scene = small(name, &[]);
        let built = scene.build();
        let mut simulation = built.unwrap_or_else(|error| panic!("{name}: {error}"));
        for _ in 0..2 {
            assert_eq!(simulation.step().unwrap().intersections, 0, "{name}");
        }
    }
}

#[test]
#[ignore = "minutes: every scene at full size"]
fn every_scene_starts() {
    for (name, _) in BUILTIN {
        let built = full(name, &[]).build();
        let mut simulation = built.unwrap_or_else(|error| panic!("{name}: {error}"));
        for _ in 0..2 {
            assert_eq!(simulation.step().unwrap().intersections, 0, "{name}");
        }
    }
}

/// Scenes of the collision step that must not fail whatever the last digits of their start.
const JITTERED: [&str; 11] = [
    "squares-plane",
    "squares-incline",
    "drop",
    "rotating-ball",
    "pillars",
    "twist",
    "ribbon",
    "funnel-low",
    "curtains",
    "stack",
    "cannonball",
];

/// Runs a scene from a start whose free vertices are moved by up to 1e-6 m; returns retries and fail-safes.
fn run_jittered(scene: &Scene, seed: u64) -> Result<(usize, usize), String> {
    let mut simulation = scene.build().unwrap();
    let mut checkpoint = simulation.checkpoint();
    let is_free: Vec<bool> = simulation.inverse_mass().iter().map(|w| *w > 0.0).collect();
    let free = checkpoint.x.iter_mut().enumerate();
    for (v, x) in free.filter(|(v, _)| is_free[*v]) {
        let digits = (v as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15 ^ (seed << 17));
        let part = |k: u32| (digits >> (20 * k) & 0xf_ffff) as f64 / f64::from(1 << 20) - 0.5;
        *x += 2e-6 * glam::DVec3::new(part(0), part(1), part(2));
    }
    simulation.restore(checkpoint).unwrap();
    let (mut retries, mut failsafes) = (0, 0);
    for frame in 0..scene.frames {
        let report = simulation
            .step()
            .map_err(|error| format!("seed {seed}, frame {frame}: {error}"))?;
        if report.intersections > 0 {
            return Err(format!("seed {seed}, frame {frame}: intersections"));
        }
        retries += report.retries;
        failsafes += report.failsafes.values().sum::<usize>();
    }
    Ok((retries, failsafes))
}

#[test]
#[ignore = "a quarter of an hour: eleven small scenes, ten times each, run in release"]
fn small_scenes_run_to_the_end_from_jittered_starts() {
    let mut failures = Vec::new();
    for name in JITTERED {
        let scene = small(name, &[]);
        let seeds = (0..10_u32).into_par_iter().with_max_len(1);
        let runs: Vec<_> = seeds
            .map(|seed| run_jittered(&scene, seed.into()))
            .collect();
        let (mut retries, mut failsafes) = (0, 0);
        for run in runs {
            match run {
                Ok(counts) => (retries, failsafes) = (retries + counts.0, failsafes + counts.1),
                Err(failure) => failures.push(format!("{name}, {failure}")),
            }
        }
        println!("{name}: 10 runs, {retries} retries, {failsafes} fail-safes");
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn a_ball_of_fifty_metres_per_second_passes_no_drape() {
    let shot = "[{ time = 0.02 }, { time = 0.08, move = [0, 0, 3] }]";
    let scene = small("cannonball", &[("obstacle.0.motion.0.keys", shot)]);
    let mut simulation = scene.build().unwrap();
    let bodies = simulation.state().mesh().bodies().to_vec();
    let mut farthest = vec![f64::NEG_INFINITY; bodies.len()];
    for frame in 1..=6 {
        let report = simulation
            .step()
            .unwrap_or_else(|error| panic!("frame {frame}: {error}"));
        assert_eq!(report.intersections, 0, "frame {frame}");
        for (body, farthest) in bodies.iter().zip(&mut farthest) {
            let x = simulation.state().positions();
            let x = &x[body.vertices.start as usize..body.vertices.end as usize];
            *farthest = x.iter().map(|p| p.z).fold(*farthest, f64::max);
        }
    }
    // the ball takes all five along, before they swing over their rails: far beyond where the last one hung
    for (body, farthest) in bodies.iter().zip(farthest) {
        assert!(farthest > 0.2, "{}: {farthest} m", body.name);
    }
}

#[test]
fn scenes_keep_the_numbers_of_the_papers() {
    // degrees of freedom (3 per cloth vertex), cloths, frames, frames per second; 0: the paper does not say
    for (name, freedom, cloths, frames, fps) in [
        ("drop", 7500, 1, 120, 60.0),
        ("curtains", 0, 5, 280, 60.0),
        ("hammock", 0, 31, 300, 60.0),
        ("cannonball", 0, 5, 0, 0.0),
        ("skirt", 0, 3, 570, 60.0),
        ("gown", 0, 2, 570, 60.0),
        ("rotating-ball", 7500, 1, 0, 0.0),
        ("funnel", 16_569, 1, 1000, 480.0),
        ("funnel-low", 7_695, 1, 1000, 480.0),
        ("ribbon", 7_416, 1, 1000, 480.0),
        ("crushed-cylinder", 3_099, 1, 1000, 384.0),
        ("squares-incline", 732, 61, 2500, 24.0),
        ("squares-plane", 732, 61, 2500, 24.0),
    ] {
        let scene = full(name, &[]);
        let counts = scene.counts().unwrap();
        assert_eq!(counts.cloths, cloths, "{name}");
        assert!(
            freedom == 0 || 3 * counts.vertices == freedom,
            "{name}: {counts:?}"
        );
        assert!(frames == 0 || scene.frames == frames, "{name}");
        assert!(fps == 0.0 || scene.fps == fps, "{name}");
    }
}

#[test]
fn every_scene_says_what_it_is_for_and_has_a_small_variant() {
    for (name, text) in BUILTIN {
        let comment: Vec<&str> = text
            .lines()
            .take_while(|line| line.starts_with('#'))
            .collect();
        assert!(
            comment.iter().any(|line| line.starts_with("# Purpose: ")),
            "{name}"
        );
        let sourced = |line: &&str| line.starts_with("# After ") || line.starts_with("# Ours");
        assert!(comment.iter().any(sourced), "{name}");
        let reduced = small(name, &[]);
        let whole = full(name, &[]);
        assert_ne!(reduced, whole, "{name}");
        assert_eq!(
            reduced.object_names().len().cmp(&1),
            whole.object_names().len().cmp(&1)
        );
    }
}

#[test]
fn every_scene_file_is_built_in() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("scenes");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            let name = path.file_stem().unwrap().to_str().unwrap();
            let found = BUILTIN.iter().find(|(builtin, _)| *builtin == name);
            let (_, text) = found.unwrap_or_else(|| panic!("{name} is not built in"));
            assert_eq!(*text, std::fs::read_to_string(&path).unwrap(), "{name}");
        }
    }
}

#[test]
fn a_small_drop_lands_folds_and_never_crosses() {
    let scene = full(
        "drop",
        &[
            ("cloth.0.shape.cells", "[16, 16]"),
            ("obstacle.0.shape.subdivisions", "2"),
        ],
    );
    let mut simulation = scene.build().unwrap();
    let (mut touching, mut holds, mut intervals) = (0, 0, 0);
    for _ in 0..90 {
        let report = simulation.step().unwrap();
        assert_eq!(report.intersections, 0, "frame {}", report.frame);
        touching += usize::from(report.smallest_gap.is_some());
        holds += report.failsafes.values().sum::<usize>();
        intervals += report.intervals;
    }
    assert!(
        touching > 60,
        "the cloth is meant to meet the ball: {touching} frames"
    );
    assert!(
        100 * holds <= intervals,
        "{holds} holds in {intervals} intervals"
    );
    let state = simulation.state();
    assert!(audit::intersections(state.mesh(), state.positions()).is_empty());
    let cloth = &state.positions()[..17 * 17];
    let (low, high) = cloth.iter().fold((f64::MAX, f64::MIN), |(low, high), p| {
        (low.min(p.y), high.max(p.y))
    });
    assert!(
        high > 0.49 && low < 0.3 && low > 0.0,
        "lies on the ball and hangs down: {low} to {high}"
    );
}

#[test]
fn progress_is_told_after_every_interval_and_changes_nothing() {
    let scene = small("drop", &[("cloth.0.shape.cells", "[6, 6]")]);
    let (mut told, mut alone) = (scene.build().unwrap(), scene.build().unwrap());
    for _ in 0..3 {
        let mut shares = Vec::new();
        let report = told.step_with(&mut |share| shares.push(share)).unwrap();
        alone.step().unwrap();
        assert_eq!(shares.len(), report.intervals);
        assert!(shares.is_sorted_by(|a, b| a < b), "{shares:?}");
        assert_eq!(shares.last(), Some(&1.0));
        assert!(shares[0] > 0.0);
        assert_eq!(told.checkpoint(), alone.checkpoint());
    }
}
