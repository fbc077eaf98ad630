//! The slowest query that a search finds: families of near-degenerate motions, then hill climbing from the slowest.
//!
//! `cargo test --release --test suite ccd_worst -- --ignored --nocapture --test-threads 1`; results in docs/measurements.md.

use std::time::{Duration, Instant};

use percale::geometry::Sweep;
use percale::geometry::ccd::{
    Answer, Effort, Mode, Question, edge_edge_effort, vertex_face_effort,
};

use super::ccd_random::{FAMILIES, sweep};
use crate::random::Random;

/// Design §3 bounds the cost; the issue sets the number.
const LIMIT: Duration = Duration::from_millis(1);

fn ask(motion: &Sweep, edges: bool, question: Question) -> (Answer, Effort) {
    if edges {
        edge_edge_effort(motion, question)
    } else {
        vertex_face_effort(motion, question)
    }
}

/// The least of some timings: what the query itself takes, whatever else the machine does.
fn time(motion: &Sweep, edges: bool, question: Question, repeats: u32) -> Duration {
    let once = |_| {
        let clock = Instant::now();
        std::hint::black_box(ask(motion, edges, question));
        clock.elapsed()
    };
    (0..repeats).map(once).min().expect("at least one")
}

/// Another motion nearby: a coordinate copied from elsewhere, moved by units in the last place, scaled by a power of two,
/// or taken from the start to the end.
fn changed(r: &mut Random, motion: &Sweep) -> Sweep {
    let mut motion = *motion;
    for _ in 0..1 + r.below(3) {
        let (from, to) = (r.below(8), r.below(8));
        let (i, j) = (r.below(3), r.below(3));
        let points = [motion.start, motion.end].concat();
        let value = match r.below(5) {
            0 => points[from][i],
            1 => points[to % 4][j],
            2 => r.nudged(points[to][j]),
            3 => points[to][j] * [0.5, 2.0, 1e-3, 1e3, -1.0][r.below(5)],
            _ => points[to][j] + r.signed() * points[from][i],
        };
        if value == 0.0 || (1e-70..=1e30).contains(&value.abs()) {
            let half = if to < 4 {
                &mut motion.start
            } else {
                &mut motion.end
            };
            half[to % 4][j] = value;
        }
    }
    motion
}

#[test]
#[ignore = "a measurement: run in release, alone"]
fn the_slowest_query_found_takes_less_than_a_millisecond() {
    let mut random = Random(7);
    for (mode, separation) in [(Mode::Fast, 0.0), (Mode::Fast, 1e-3), (Mode::Exact, 0.0)] {
        let question = Question { mode, separation };
        let mut slowest: Vec<(Duration, Sweep, bool, &str)> = Vec::new();
        for (name, make) in FAMILIES {
            let mut worst: Option<(Duration, Sweep, bool, &str)> = None;
            for round in 0..3000 {
                let scale = [1.0, 1e-6, 1e6][round % 3];
                let (motion, edges) = (sweep(make(&mut random).map(|x| x * scale)), round % 2 == 0);
                let taken = time(&motion, edges, question, 2);
                if worst.as_ref().is_none_or(|w| taken > w.0) {
                    // once more, since the first times may be those of another program
                    let taken = time(&motion, edges, question, 8);
                    if worst.as_ref().is_none_or(|w| taken > w.0) {
                        worst = Some((taken, motion, edges, name));
                    }
                }
            }
            slowest.extend(worst);
        }
        slowest.sort_by_key(|w| std::cmp::Reverse(w.0));
        for worst in slowest.iter_mut().take(4) {
            for _ in 0..3000 {
                let motion = changed(&mut random, &worst.1);
                if time(&motion, worst.2, question, 2) > worst.0 {
                    let taken = time(&motion, worst.2, question, 8);
                    if taken > worst.0 {
                        (worst.0, worst.1) = (taken, motion);
                    }
                }
            }
        }
        slowest.sort_by_key(|w| std::cmp::Reverse(w.0));
        for (taken, motion, edges, name) in &slowest[..4] {
            let (_, effort) = ask(motion, *edges, question);
            println!(
                "{mode:?}, separation {separation}, edges: {edges}, from \"{name}\": {taken:?}, {effort:?}"
            );
        }
        println!("{:?}", slowest[0].1);
        assert!(slowest[0].0 < LIMIT, "{:?}", slowest[0]);
    }
}
