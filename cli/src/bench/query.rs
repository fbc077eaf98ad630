//! `percale bench query`: the slowest question to the continuous test that a search finds.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use glam::DVec3;
use percale::geometry::Sweep;
use percale::geometry::ccd::{
    Answer, Effort, Mode, Question, edge_edge_effort, vertex_face_effort,
};

use crate::failure::Failure;
use crate::output::say;

#[path = "../../../tests/support/motions.rs"]
mod motions;
#[path = "../../../tests/support/random.rs"]
mod random;

use motions::{FAMILIES, sweep};
use random::Random;

/// Look for the slowest query of the continuous test
///
/// Families of near-degenerate motions, then climbing from the slowest of them. Times are the least of eight, by the clock: use a quiet machine.
#[derive(Debug, clap::Args)]
pub(super) struct QueryBench {
    /// Motions of each family, and changes of each of the slowest
    #[arg(long, default_value_t = 3000, value_parser = clap::value_parser!(u32).range(1..))]
    motions: u32,
    /// How many of the slowest are climbed from and shown
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..))]
    shown: u32,
}

/// A slow question.
struct Slow {
    time: Duration,
    motion: Sweep,
    edges: bool,
    family: &'static str,
}

impl QueryBench {
    pub(super) fn run(&self) -> Result<ExitCode, Failure> {
        let shown = self.shown as usize;
        let mut random = Random(7);
        say!(
            "{:6} {:>10}  {:11} {:>8} {:>6} {:>6}  found in",
            "mode",
            "separation",
            "pair",
            "µs",
            "parts",
            "exact"
        );
        for (mode, separation) in [(Mode::Fast, 0.0), (Mode::Fast, 1e-3), (Mode::Exact, 0.0)] {
            let question = Question { mode, separation };
            let families = FAMILIES.iter();
            let mut slowest: Vec<Slow> = families
                .map(|family| self.slowest(family, question, &mut random))
                .collect();
            let by_time = |slow: &Slow| std::cmp::Reverse(slow.time);
            slowest.sort_by_key(by_time);
            for slow in slowest.iter_mut().take(shown) {
                for _ in 0..self.motions {
                    let motion = changed(&mut random, &slow.motion);
                    slow.take_if_slower(motion, slow.edges, question);
                }
            }
            slowest.sort_by_key(by_time);
            for slow in slowest.iter().take(shown) {
                let (_, effort) = ask(&slow.motion, slow.edges, question);
                say!(
                    "{:6} {separation:>10}  {:11} {:>8.1} {:>6} {:>6}  {}",
                    format!("{mode:?}").to_lowercase(),
                    if slow.edges { "edges" } else { "vertex-face" },
                    1e6 * slow.time.as_secs_f64(),
                    effort.parts,
                    effort.exact,
                    slow.family,
                );
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    /// The slowest motion of a family.
    fn slowest(
        &self,
        (family, make): &(&'static str, motions::Make),
        question: Question,
        random: &mut Random,
    ) -> Slow {
        let mut slowest = Slow {
            time: Duration::ZERO,
            motion: sweep([DVec3::ZERO; 8]),
            edges: false,
            family,
        };
        for round in 0..self.motions as usize {
            let scale = [1.0, 1e-6, 1e6][round % 3];
            let motion = sweep(make(random).map(|x| x * scale));
            slowest.take_if_slower(motion, round % 2 == 0, question);
        }
        slowest
    }
}

impl Slow {
    fn take_if_slower(&mut self, motion: Sweep, edges: bool, question: Question) {
        if time(&motion, edges, question, 2) > self.time {
            // once more, since the first times may be those of another program
            let time = time(&motion, edges, question, 8);
            if time > self.time {
                (self.time, self.motion, self.edges) = (time, motion, edges);
            }
        }
    }
}

fn ask(motion: &Sweep, edges: bool, question: Question) -> (Answer, Effort) {
    match edges {
        true => edge_edge_effort(motion, question),
        false => vertex_face_effort(motion, question),
    }
}

/// The least of some timings: what the query itself takes, whatever else the machine does.
fn time(motion: &Sweep, edges: bool, question: Question, repeats: u32) -> Duration {
    let once = |_| {
        let clock = Instant::now();
        std::hint::black_box(ask(motion, edges, question));
        clock.elapsed()
    };
    (0..repeats).map(once).min().unwrap_or_default()
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
            let half = match to {
                0..4 => &mut motion.start,
                _ => &mut motion.end,
            };
            half[to % 4][j] = value;
        }
    }
    motion
}
