//! The set of an interval whose constraints are rows of the integrator's own solve.
//!
//! ```text
//! min ½ ΔvᵀA Δv  with the constraints  =  min Φ(v)  with the constraints,  for  Φ(v) = Φ(v*) + ½ ΔvᵀA Δv
//! ```
//!
//! v* makes Φ of the integrator least, so that the paper's problem with its matrix A is the integrator's own with
//! the constraints in it: nothing has to be solved that it does not solve already. A round is a proposal with the
//! set as rows, and a look at what it meets; rounds end when nothing enters the set.
//!
//! A constraint occurs in a round if it is met, if it pressed in any loop, or if it is a critical contact that ends
//! nearer than its thickness (Shi §3). Critical contacts are in the set of the first round, for they occur before
//! anything moves. Source: Shi §5; as in the stage, what presses does not count in the paper's form.

use std::collections::BTreeMap;

use super::influence::Influence;
use super::{ROUNDS, SemiGlobal, SetWork};
use crate::geometry::sweep::at;
use crate::geometry::{Closest, Pair, Proximity};
use crate::response::Coming;
use crate::state::Candidate;

/// Proposals of an interval, at most: what is left then is for the masses.
const MAX_PROPOSALS: u32 = 8;

/// What may be in the set.
struct Known {
    /// Where it was met; none for what is near at the start.
    coming: Option<Coming>,
    influence: Influence,
}

/// The constraints of an interval, near ones first.
pub(crate) struct SystemSet<'a> {
    stage: &'a SemiGlobal,
    near: &'a [Proximity],
    all: Vec<Known>,
    numbers: BTreeMap<Pair, usize>,
    work: SetWork,
}

impl<'a> SystemSet<'a> {
    /// What is near, in the set if critical contacts join.
    pub(crate) fn new(stage: &'a SemiGlobal, near: &'a [Proximity]) -> Self {
        let known = |_: &Proximity| {
            let mut influence = Influence::default();
            influence.advance(&stage.rule(), stage.critical);
            Known {
                coming: None,
                influence,
            }
        };
        Self {
            stage,
            near,
            all: near.iter().map(known).collect(),
            numbers: near.iter().map(|near| near.pair).zip(0..).collect(),
            work: SetWork::default(),
        }
    }

    /// What is in the set: of what is near, and of what was met.
    pub(crate) fn members(&self) -> (Vec<Proximity>, Vec<Coming>) {
        let (near, met) = self.all.split_at(self.near.len());
        let near = near.iter().zip(self.near);
        let near = near.filter_map(|(known, near)| known.influence.is_in().then_some(*near));
        let met = met.iter().filter(|known| known.influence.is_in());
        (
            near.collect(),
            met.filter_map(|known| known.coming).collect(),
        )
    }

    /// The next round, after a proposal that met and pressed these; whether anything is in the set now that was not,
    /// and another proposal may follow.
    pub(crate) fn advance(
        &mut self,
        met: Vec<Coming>,
        pressing: impl Iterator<Item = Pair>,
        candidate: &Candidate<'_>,
    ) -> bool {
        self.count();
        let mut occurs = vec![false; self.all.len()];
        for coming in met {
            let next = self.all.len();
            let number = *self.numbers.entry(coming.pair).or_insert(next);
            if number == next {
                self.all.push(Known {
                    coming: None,
                    influence: Influence::default(),
                });
                occurs.push(true);
            }
            occurs[number] = true;
            if number >= self.near.len() {
                self.all[number].coming = Some(coming);
            }
        }
        if self.stage.remembers() {
            // what slid to features that nobody knew of goes on doing so
            let known = pressing.filter_map(|pair| self.numbers.get(&pair));
            known.for_each(|&number| occurs[number] = true);
        }
        if self.stage.critical {
            for (occurs, near) in occurs.iter_mut().zip(self.near) {
                *occurs |= is_critical(near, candidate);
            }
        }
        let rule = self.stage.rule();
        let mut has_entered = false;
        for (known, occurs) in self.all.iter_mut().zip(occurs) {
            let influence = &mut known.influence;
            let (was_in, had_returned) = (influence.is_in(), influence.came_back());
            influence.advance(&rule, occurs);
            has_entered |= !was_in && influence.is_in();
            self.work.dropped += usize::from(was_in && !influence.is_in());
            self.work.returned += usize::from(!had_returned && influence.came_back());
        }
        let proposals = self.stage.max_rounds.min(MAX_PROPOSALS) as usize;
        has_entered && self.work.rounds < proposals
    }

    fn count(&mut self) {
        let size = self.all.iter().filter(|k| k.influence.is_in()).count();
        let work = &mut self.work;
        let place = work.rounds.min(ROUNDS - 1);
        work.reached[place] += 1;
        work.sizes[place] += size;
        work.rounds += 1;
        work.constraints += size;
        work.solved += size;
        work.largest = work.largest.max(size);
    }

    /// What became of the set.
    pub(crate) fn work(&self) -> SetWork {
        self.work
    }
}

/// Whether something near ends nearer than its thickness.
fn is_critical(near: &Proximity, candidate: &Candidate<'_>) -> bool {
    let thickness = candidate.thickness_of(&near.point()).min(near.threshold);
    let closest = Closest::of(near.pair, at(&candidate.x, near.vertices));
    closest.distance_squared < thickness * thickness
}
