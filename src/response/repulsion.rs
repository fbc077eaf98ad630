//! Keeps what is near apart, before anything collides.
//!
//! Features nearer than the thickness at the start of the interval are opened by a fraction of what they lack;
//! features near enough to reach the thickness within the interval are kept from passing it. Friction as
//! everywhere. Source: course notes, "Repulsions", the kinematic form ("move closest points some fraction of
//! the way to cloth thickness apart"), with the cap of [BFA02]: one interval closes at most that fraction.
//!
//! We differ: several sweeps over the same proximities, each a few flops, spare rounds of detection later.
//! Guaranteed: linear momentum of free vertices, up to rounding. Not guaranteed: anything about impacts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contact::keep_open;
use crate::geometry::detect::{Detector, Margin};
use crate::state::Candidate;

/// Settings of the repulsions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Repulsion {
    /// Share of the missing gap that one interval opens; 0 only stops the approach, 1 pops.
    pub fraction: f64,
    /// Proximities are looked for up to this many thicknesses; below 1 would miss some that matter.
    pub reach: f64,
    /// Passes over all proximities; 0 switches repulsions off.
    pub sweeps: u32,
}

impl Default for Repulsion {
    fn default() -> Self {
        Self {
            fraction: 0.1,
            reach: 1.5,
            sweeps: 4,
        }
    }
}

impl Repulsion {
    /// Applies repulsions to a candidate; returns the vertices that it moved, ascending.
    pub fn apply(&self, candidate: &mut Candidate<'_>, detector: &mut Detector) -> Vec<u32> {
        if self.sweeps == 0 {
            return Vec::new();
        }
        let start = candidate.start;
        let surfaces = candidate.surfaces;
        let reach: Vec<f64> = surfaces.thickness.iter().map(|h| self.reach * h).collect();
        let margin = Margin {
            thickness: &reach,
            rest: &surfaces.rest,
        };
        let proximities = detector.proximities(start.mesh(), start.positions(), &margin, None);
        let mut moved = vec![false; candidate.x.len()];
        for _ in 0..self.sweeps {
            for proximity in &proximities {
                let point = proximity.point();
                // the threshold may be clamped by the rest distance of neighbours, the thickness with it
                let thickness = candidate
                    .thickness_of(&point)
                    .min(proximity.threshold / self.reach);
                let target = if proximity.gap < thickness {
                    proximity.gap + self.fraction * (thickness - proximity.gap)
                } else {
                    thickness
                };
                if keep_open(candidate, &point, target) {
                    for v in point.vertices {
                        moved[v as usize] |= candidate.inverse_mass[v as usize] > 0.0;
                    }
                }
            }
        }
        (0..)
            .zip(moved)
            .filter_map(|(v, moved)| moved.then_some(v))
            .collect()
    }
}
