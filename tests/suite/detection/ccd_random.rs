//! The continuous test on random and near-degenerate motions, against the oracle.

use glam::DVec3;
use num_rational::BigRational;
use percale::geometry::Sweep;
use percale::geometry::ccd::{
    Answer, Effort, Encounter, Mode, Question, edge_edge_effort, vertex_face_effort,
};

use rayon::prelude::*;

use super::ccd_oracle::{edge_edge_meeting, vertex_face_meeting};
use crate::motions::{ALL_MAGNITUDES, FAMILIES, sweep};
use crate::random::Random;

type Test = fn(&Sweep, Question) -> (Answer, Effort);

fn rational(x: f64) -> BigRational {
    BigRational::from_float(x).expect("a finite number")
}

/// What must hold for every contact, whatever the motion.
fn check_encounter(contact: &Encounter, sweep: &Sweep, first: Option<&BigRational>, split: usize) {
    let Encounter {
        time,
        weights: w,
        normal,
    } = *contact;
    assert!((0.0..=1.0).contains(&time));
    if let Some(first) = first {
        assert!(rational(time) <= *first, "{time} is later than {first}");
    }
    assert!((normal.length() - 1.0).abs() < 1e-12, "{normal}");
    assert_eq!(w[..split].iter().sum::<f64>(), 1.0);
    assert_eq!(w[split..].iter().sum::<f64>(), -1.0);
    assert!(w[..split].iter().all(|w| (0.0..=1.0).contains(w)));
    assert!(w[split..].iter().all(|w| (-1.0..=0.0).contains(w)));
    let apart: DVec3 = sweep.start.iter().zip(w).map(|(x, w)| w * *x).sum();
    let extent = sweep
        .start
        .iter()
        .map(|x| x.abs().max_element())
        .fold(0.0, f64::max);
    assert!(
        apart.dot(normal) >= -1e-14 * extent,
        "{apart} against {normal}"
    );
}

#[derive(Default)]
struct Tally {
    meets: usize,
    uncertain: usize,
    uncertain_apart: usize,
}

fn check(sweep: &Sweep, edges: bool, tally: &mut Tally) {
    let (test, split): (Test, usize) = if edges {
        (edge_edge_effort, 2)
    } else {
        (vertex_face_effort, 1)
    };
    let first = if edges {
        edge_edge_meeting(sweep)
    } else {
        vertex_face_meeting(sweep)
    };
    let first = if sweep.is_still() { None } else { first };
    tally.meets += usize::from(first.is_some());
    for mode in [Mode::Fast, Mode::Exact, Mode::Cubic] {
        let (answer, effort) = test(
            sweep,
            Question {
                mode,
                ..Question::default()
            },
        );
        assert!(effort.parts <= 256 && effort.exact <= 13, "{effort:?}");
        match &answer {
            Answer::Never => assert!(first.is_none(), "{mode:?} misses {sweep:?}"),
            Answer::Hit(contact) => {
                assert!(first.is_some(), "{mode:?} invents {sweep:?}");
                check_encounter(contact, sweep, first.as_ref(), split);
            }
            Answer::Uncertain(contact) => {
                assert_ne!(mode, Mode::Exact);
                check_encounter(contact, sweep, first.as_ref(), split);
                if mode == Mode::Fast {
                    tally.uncertain += 1;
                    tally.uncertain_apart += usize::from(first.is_none());
                }
            }
        }
    }
}

/// One line per family.
fn run(seed: u64, rounds: usize) -> Vec<String> {
    FAMILIES
        .par_iter()
        .enumerate()
        .map(|(i, (name, make))| {
            let mut random = Random(seed + 1000 * i as u64);
            let mut tally = Tally::default();
            let rounds = if *name == ALL_MAGNITUDES { rounds / 8 } else { rounds };
            for _ in 0..rounds {
                let scale = [1.0, 1.0, 1e-6, 1e-3, 1e3, 1e6][random.below(6)];
                let mut sweep = sweep(make(&mut random).map(|x| x * scale));
                if random.below(8) == 0 {
                    std::mem::swap(&mut sweep.start, &mut sweep.end);
                }
                check(&sweep, false, &mut tally);
                check(&sweep, true, &mut tally);
            }
            format!(
                "{name}: of {} queries {} meet; fast is uncertain about {}, of which {} do not meet",
                2 * rounds,
                tally.meets,
                tally.uncertain,
                tally.uncertain_apart
            )
        })
        .collect()
}

#[test]
fn ten_thousand_random_motions_agree_with_the_oracle() {
    println!("{}", run(1, 280).join("\n"));
}

#[test]
#[ignore = "minutes: a million queries against a slow oracle; run in release"]
fn a_million_random_motions_agree_with_the_oracle() {
    println!("{}", run(2, 27_800).join("\n"));
}
