//! Inelastic impulses with friction, one impact at a time.
//!
//! Each impulse stops the approach of its own impact and may create others, so the stage is swept repeatedly,
//! in the order of impact times; it converges fast for scattered impacts and slowly for stacks, which the zone
//! stages exist for. Source: course notes, "Collision Impulse" and "Iteration"; [BFA02].
//!
//! We differ: a pair that starts further apart than the thickness may still close in to the thickness; one that
//! starts nearer keeps its distance ("cloth can get closer and closer" is the notes' robustness problem).
//! Guaranteed: linear momentum of free vertices, up to rounding. Not guaranteed: that impacts run out.

use serde::{Deserialize, Serialize};

use super::contact::keep_open;
use crate::geometry::Impact;
use crate::state::Candidate;

/// Settings of the impulse stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Impulses {
    /// Rounds over all impacts before the next stage takes over; 0 switches the stage off.
    pub max_rounds: u32,
}

impl Default for Impulses {
    fn default() -> Self {
        Self { max_rounds: 30 }
    }
}

impl Impulses {
    pub(super) fn apply(&self, impacts: &[Impact], candidate: &mut Candidate<'_>) -> Vec<u32> {
        let mut changed = Vec::new();
        for impact in impacts {
            let point = impact.point();
            let start_gap = point.gap(candidate.start.positions());
            let target = start_gap.min(candidate.thickness_of(&point));
            if keep_open(candidate, &point, target) {
                changed.extend(
                    point
                        .vertices
                        .iter()
                        .filter(|&&v| candidate.inverse_mass[v as usize] > 0.0),
                );
            }
        }
        changed.sort_unstable();
        changed.dedup();
        changed
    }
}
