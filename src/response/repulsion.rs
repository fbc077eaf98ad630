//! Keeps what is near apart, before anything collides.
//!
//! Features nearer than the thickness at the start of the interval are opened by a fraction of what they lack;
//! features near enough to reach the thickness within the interval are kept from passing it. Friction as
//! everywhere. Source: course notes, "Repulsions", the kinematic form ("move closest points some fraction of
//! the way to cloth thickness apart"), with the cap of \[BFA02\]: one interval closes at most that fraction.
//!
//! We differ: several sweeps over the same proximities, each a few flops, spare rounds of detection later.
//! Guaranteed: linear momentum of free vertices, up to rounding. Not guaranteed: anything about impacts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contact::keep_open;
use crate::geometry::{ContactPoint, Detector, Margin};
use crate::state::Candidate;

/// Settings of the repulsions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Repulsion {
    /// Share of the missing gap that one interval opens; 0 only stops the approach, 1 pops.
    pub fraction: f64,
    /// Proximities are looked for up to this many thicknesses; below 1 would miss some that matter.
    pub reach: f64,
    /// Most passes over all proximities; 0 switches repulsions off. A stack of n layers needs several times n.
    pub max_sweeps: u32,
    /// Passes end when no gap lacks more than this share of its thickness.
    pub tolerance: f64,
}

impl Default for Repulsion {
    fn default() -> Self {
        Self {
            fraction: 0.1,
            reach: 1.5,
            max_sweeps: 60,
            tolerance: 0.01,
        }
    }
}

impl Repulsion {
    /// Applies repulsions to a candidate; returns the points that had to be pushed.
    pub fn apply(
        &self,
        candidate: &mut Candidate<'_>,
        detector: &mut Detector,
    ) -> Vec<ContactPoint> {
        if self.max_sweeps == 0 {
            return Vec::new();
        }
        let start = candidate.start;
        let surfaces = candidate.surfaces;
        let reach: Vec<f64> = surfaces.thickness.iter().map(|h| self.reach * h).collect();
        let margin = Margin {
            thickness: &reach,
            rest: &surfaces.rest,
        };
        let near = detector.proximities(start.mesh(), start.positions(), &margin, None);
        // the threshold may be clamped by the rest distance of neighbours, the thickness with it
        let points: Vec<(ContactPoint, f64, f64)> = near
            .iter()
            .map(|near| {
                let point = near.point();
                let thickness = candidate
                    .thickness_of(&point)
                    .min(near.threshold / self.reach);
                let lack = (thickness - near.gap).max(0.0);
                let target = near.gap.min(thickness) + self.fraction * lack;
                (point, target, self.tolerance * thickness)
            })
            .collect();
        let mut pushed = vec![false; points.len()];
        for _ in 0..self.max_sweeps {
            let mut done = true;
            for ((point, target, tolerance), pushed) in points.iter().zip(&mut pushed) {
                done &= target - point.gap(&candidate.x) <= *tolerance;
                *pushed |= keep_open(candidate, point, *target);
            }
            if done {
                break;
            }
        }
        let points = points.into_iter().zip(pushed);
        points
            .filter_map(|((point, ..), pushed)| pushed.then_some(point))
            .collect()
    }
}
