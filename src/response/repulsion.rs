//! Keeps what is near apart, before anything collides.
//!
//! Features nearer than the thickness at the start of the interval are opened by a fraction of what they lack;
//! features near enough to reach the thickness within the interval are kept from passing it. Friction as
//! everywhere. Source: course notes, "Repulsions", both forms: the kinematic one ("move closest points some fraction of
//! the way to cloth thickness apart"), and the damped spring with the cap of \[BFA02\]: one interval opens at most that fraction.
//!
//! We differ: several sweeps over the same proximities, each a few flops, spare rounds of detection later; and a push can be taken
//! back, so that the sweeps converge to the contact forces (projected Gauss-Seidel) whatever their order.
//! Guaranteed: linear momentum of free vertices, up to rounding. Not guaranteed: anything about impacts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contact::{Balanced, Impulse};
use crate::geometry::{ContactPoint, Detector, Margin, Proximity};
use crate::state::Candidate;

/// How strongly repulsions open what is too near.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RepulsionForm {
    /// By `fraction` of the missing gap in every interval.
    #[default]
    Kinematic,
    /// By a spring of `stiffness`, at most by `fraction` of the missing gap; approach is stopped by the share `damping`. Cloth that
    /// gives under pressure.
    Spring,
}

/// Settings of the repulsions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Repulsion {
    /// What opens a gap.
    pub form: RepulsionForm,
    /// Share of the missing gap that one interval opens, at most in the spring form; 0 only stops the approach, 1 pops.
    pub fraction: f64,
    /// Stiffness of a spring between two closest points, in N/m; in the spring form only.
    pub stiffness: f64,
    /// Share of the approach within the thickness that is stopped in one interval, 0 to 1; in the spring form only, the kinematic
    /// one stops all of it.
    pub damping: f64,
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
            form: RepulsionForm::Kinematic,
            fraction: 0.1,
            stiffness: 100.0,
            damping: 1.0,
            reach: 1.5,
            max_sweeps: 60,
            tolerance: 0.01,
        }
    }
}

impl Repulsion {
    /// What is near at the start of the interval: for [`Repulsion::apply`], and for [`super::respond`] to know where cloth
    /// lies on something.
    pub fn near(&self, candidate: &Candidate<'_>, detector: &mut Detector) -> Vec<Proximity> {
        let (start, surfaces) = (candidate.start, candidate.surfaces);
        let reach: Vec<f64> = surfaces.thickness.iter().map(|h| self.reach * h).collect();
        let margin = Margin {
            thickness: &reach,
            rest: &surfaces.rest,
            gap: None,
        };
        detector.proximities(start.mesh(), start.positions(), &margin, None)
    }

    /// Applies repulsions to a candidate; returns the points that had to be pushed.
    pub fn apply(&self, near: &[Proximity], candidate: &mut Candidate<'_>) -> Vec<ContactPoint> {
        if self.max_sweeps == 0 {
            return Vec::new();
        }
        let points: Vec<ContactPoint> = near.iter().map(Proximity::point).collect();
        let contacts: Vec<(Balanced<'_>, f64)> = (near.iter().zip(&points))
            .map(|(near, point)| {
                // the threshold may be clamped by the rest distance of neighbours, the thickness with it
                let thickness = candidate
                    .thickness_of(point)
                    .min(near.threshold / self.reach);
                let contact = Balanced {
                    point,
                    target: self.target(point, near.gap, thickness, candidate),
                    from: point.relative(candidate.start.positions()),
                    friction: candidate.friction_of(point),
                };
                (contact, self.tolerance * thickness)
            })
            .collect();
        let mut impulses = vec![Impulse::default(); points.len()];
        for _ in 0..self.max_sweeps {
            let mut done = true;
            for ((contact, tolerance), impulse) in contacts.iter().zip(&mut impulses) {
                let change = contact.balance(impulse, &mut candidate.x, candidate.inverse_mass);
                done &= change <= *tolerance;
            }
            if done {
                break;
            }
        }
        let pushed = points.iter().zip(impulses);
        pushed
            .filter_map(|(point, impulse)| (impulse.normal > 0.0).then_some(*point))
            .collect()
    }

    /// The gap that a point is to end the interval with, in metres.
    fn target(
        &self,
        point: &ContactPoint,
        gap: f64,
        thickness: f64,
        candidate: &Candidate<'_>,
    ) -> f64 {
        let lack = (thickness - gap).max(0.0);
        let (kept, opened) = (gap.min(thickness), self.fraction * lack);
        match self.form {
            RepulsionForm::Kinematic => kept + opened,
            RepulsionForm::Spring => {
                let dt = candidate.dt;
                let by_spring = self.stiffness * lack * dt * dt * candidate.inverse_mass_of(point);
                let approach = (kept - point.gap(&candidate.x)).max(0.0);
                kept - (1.0 - self.damping) * approach + opened.min(by_spring)
            }
        }
    }
}
