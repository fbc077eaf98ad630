//! The first station with a semi-global set: proposed again and again, until nothing more is met.

use glam::DVec3;

use super::{Before, Interval};
use crate::dynamics::Dynamics;
use crate::geometry::Collider;
use crate::response::semi_global::system::SystemSet;
use crate::response::{self, Coming, SemiGlobal};
use crate::step::report::{Phases, timed};

impl Interval<'_> {
    /// Where the cloth goes with the constraints of the set; what is near at the start is known.
    pub(super) fn constrain(
        &mut self,
        stage: &SemiGlobal,
        dynamics: &Dynamics,
        velocities: &[DVec3],
        before: Before<'_>,
        collider: &mut Collider,
        phases: &mut Phases,
    ) {
        let near = self.near.clone();
        let mut set = SystemSet::new(stage, &near);
        loop {
            let (members, met) = set.members();
            self.coming = met;
            self.solve(dynamics, velocities, &members, before, collider, phases);
            let goes_on = timed(&mut phases.respond_ms, || {
                let look = response::look(&near, &self.candidate, collider);
                let met = Coming::of(&look.impacts, &self.candidate);
                self.foreseen = look.proof;
                let coupling = self.coupling.as_ref();
                let pressing = coupling
                    .into_iter()
                    .flat_map(|coupling| coupling.pressing());
                set.advance(met, pressing, &self.candidate)
            });
            if !goes_on {
                break;
            }
            self.repeated += 1;
        }
        self.constraints = Some(set.work());
    }
}
