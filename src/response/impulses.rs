//! Inelastic impulses with friction, one impact at a time.
//!
//! Each impulse stops the approach of its own impact and may create others, so the stage is swept repeatedly,
//! in the order of impact times; it converges fast for scattered impacts and slowly for stacks, which the zone
//! stages exist for. Source: course notes, "Collision Impulse" and "Iteration"; [BFA02].
//!
//! We differ:
//! - A pair that starts further apart than the thickness may still close in to the thickness; one that starts
//!   nearer keeps its distance ("cloth can get closer and closer" is the notes' robustness problem).
//! - Impacts are remembered within an interval: one that was pushed open by its own impulse and closed again by a
//!   neighbour's costs a few flops to find, where the notes detect anew. `sweeps = 1, remember = false` is theirs.
//!
//! Guaranteed: linear momentum of free vertices, up to rounding. Not guaranteed: that impacts run out.

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
    /// Passes over the impacts between two rounds of detection, at least 1.
    pub sweeps: u32,
    /// Whether impacts of earlier rounds stay on the list.
    pub remember: bool,
}

impl Default for Impulses {
    fn default() -> Self {
        Self {
            max_rounds: 30,
            sweeps: 4,
            remember: true,
        }
    }
}

/// The impacts of all rounds, each as it was last seen.
#[derive(Default)]
pub(super) struct Seen {
    points: Vec<(ContactPoint, f64)>,
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
            _ => self.points.push((point, target)),
        }
    }
}

impl Impulses {
    pub(super) fn apply(
        &self,
        impacts: &[Impact],
        seen: &mut Seen,
        candidate: &mut Candidate<'_>,
    ) -> Vec<u32> {
        if !self.remember {
            *seen = Seen::default();
        }
        for impact in impacts {
            seen.add(impact, candidate);
        }
        let mut changed = vec![false; candidate.x.len()];
        for _ in 0..self.sweeps.max(1) {
            let mut moved = false;
            for (point, target) in &seen.points {
                if keep_open(candidate, point, *target) {
                    moved = true;
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
