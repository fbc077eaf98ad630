//! The first station once more: with what a try has met, or with a semi-global set until nothing enters it.

use glam::DVec3;

use super::{Before, Interval};
use crate::dynamics::Dynamics;
use crate::geometry::Collider;
use crate::response::semi_global::system::SystemSet;
use crate::response::{self, Coming, Repelled, Response, SemiGlobal};
use crate::step::looking::overlooked;
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
                let look = response::look(&near, &self.candidate, collider, None);
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

    /// First station once more, with what this try has met in the solve; false if it knew all of it, or
    /// is the second one already.
    ///
    /// What is met only at the end of the last loops is known after a first try. It costs less to try
    /// again than to take two half intervals.
    pub(crate) fn propose_again(
        &mut self,
        dynamics: &Dynamics,
        before: Before<'_>,
        collider: &mut Collider,
        phases: &mut Phases,
    ) -> bool {
        if self.constraints.is_some() {
            return false; // the rounds of the set were these
        }
        let overlooked = self.overlooked();
        if overlooked.is_empty() || self.repeated > 0 {
            return false;
        }
        self.repeated = 1;
        self.coming.extend(overlooked);
        self.repelled = Repelled::default();
        self.response = Response::default();
        let velocities = self.terms.start.velocities();
        self.solve_all(dynamics, velocities, before, collider, phases);
        true
    }

    /// What this try met that its proposal did not know of.
    fn overlooked(&self) -> Vec<Coming> {
        let Some(coupling) = &self.coupling else {
            return Vec::new();
        };
        let candidate = self.terms.candidate(self.proposal.x.clone());
        overlooked(coupling, &self.response.met, &candidate)
    }
}
