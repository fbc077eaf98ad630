//! Inelastic impulses with friction, one impact at a time.
//!
//! Each impulse stops the approach of its own impact and may create others, so the stage is swept
//! repeatedly, in the order of impact times; it converges fast for scattered impacts and slowly for
//! stacks, which the zone stages exist for. Source: course notes, "Collision Impulse" and
//! "Iteration"; \[BFA02\].
//!
//! We differ:
//! - A pair that starts further apart than the thickness may still close in to the thickness; one that starts
//!   nearer keeps its distance ("cloth can get closer and closer" is the notes' robustness problem).
//! - Impacts are remembered within an interval: one that was pushed open by its own impulse and closed again by a
//!   neighbour's costs a few flops to find, where the notes detect anew. `form = "notes"` is theirs.
//!
//! Guaranteed: linear momentum of free vertices, up to rounding. Not guaranteed: that impacts run
//! out.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contact::keep_open;
use crate::geometry::{ContactPoint, Impact, Pair};
use crate::state::Candidate;

/// Settings of the impulse stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Impulses {
    /// Rounds of detection before the next stage takes over; 0 switches the stage off.
    pub max_rounds: u32,
    /// What becomes of impacts between two rounds of detection.
    pub form: ImpulseForm,
}

/// What becomes of impacts between two rounds of detection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ImpulseForm {
    /// Those of earlier rounds stay on the list, and all are gone through several times: ours.
    #[default]
    Remembered,
    /// One pass over what was detected, nothing remembered (course notes).
    Notes,
}

/// Passes over the impacts between two rounds of detection: a pass costs a few flops per impact, a round a look at the motion.
const SWEEPS: u32 = 4;

impl Default for Impulses {
    fn default() -> Self {
        Self {
            max_rounds: 30,
            form: ImpulseForm::Remembered,
        }
    }
}

/// The impacts of all rounds, each as it was last seen.
#[derive(Default)]
pub(super) struct Seen {
    points: Vec<(ContactPoint, f64)>,
    /// Points that had to be pushed, one entry for each in `points`.
    pushed: Vec<bool>,
    number: BTreeMap<Pair, usize>,
}

impl Seen {
    fn add(&mut self, impact: &Impact, candidate: &Candidate<'_>) {
        let point = impact.point();
        let start_gap = point.gap(candidate.start.positions());
        let target = start_gap.min(candidate.thickness_of(&point));
        let next = self.points.len();
        match *self.number.entry(impact.pair).or_insert(next) {
            number if number < next => self.points[number] = (point, target),
            _ => {
                self.points.push((point, target));
                self.pushed.push(false);
            }
        }
    }

    /// Points that had to be pushed.
    pub(super) fn pushed(&self) -> impl Iterator<Item = ContactPoint> {
        let all = self.points.iter().zip(&self.pushed);
        all.filter_map(|((point, _), pushed)| pushed.then_some(*point))
    }
}

impl Impulses {
    pub(super) fn apply(
        &self,
        impacts: &[Impact],
        seen: &mut Seen,
        candidate: &mut Candidate<'_>,
    ) -> Vec<u32> {
        let sweeps = match self.form {
            ImpulseForm::Remembered => SWEEPS,
            ImpulseForm::Notes => {
                *seen = Seen::default();
                1
            }
        };
        for impact in impacts {
            seen.add(impact, candidate);
        }
        let mut changed = vec![false; candidate.x.len()];
        for _ in 0..sweeps {
            let mut moved = false;
            for ((point, target), pushed) in seen.points.iter().zip(&mut seen.pushed) {
                if keep_open(candidate, point, *target) {
                    moved = true;
                    *pushed = true;
                    for v in point.vertices {
                        changed[v as usize] |= candidate.inverse_mass[v as usize] > 0.0;
                    }
                }
            }
            if !moved {
                break;
            }
        }
        (0..)
            .zip(changed)
            .filter_map(|(v, changed)| changed.then_some(v))
            .collect()
    }
}
