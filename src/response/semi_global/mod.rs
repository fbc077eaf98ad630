//! Impacts and critical contacts as one set of constraints that grows and shrinks between rounds.
//!
//! A constraint keeps the gap of one pair open; all of the set are solved together, with Signorini's
//! condition along the normal and Coulomb's disc across it. What is solved for is the least change of
//! the motion, in the norm of the masses. Source: Shi, "Boundary Condition and Constrained Method in
//! Cloth Collision", §5.
//!
//! ```text
//! min ½ ΔvᵀM Δv     J Δv ≥ −g₀/Δt − J v*     0 ≤ λ ⊥ …     |γ| ≤ μ λ     M Δv = Jᵀλ + Hᵀγ
//! ```
//!
//! Which constraints are in the set is a matter of their influence ([`influence`]). Compared with
//! [`super::inelastic`], which solves the same problem, zones may also become smaller: what no longer
//! occurs is dropped, and the rest goes back to where it wanted to go.
//!
//! The paper's form differs from the paper in what its print has wrong: (13) and (18) lack −J v*; (15)
//! is no form of Coulomb's law, so each contact has its disc; step 4 of a frame is to detect anew;
//! masses are not all equal. Its A is the matrix of the integrator; here it is that of the masses,
//! for which the splitting (20) is exact after one step, and (22) and (23) in turn are the staggered
//! projections of [`super::inelastic::coulomb`]. With the matrix of the integrator, contact is part of
//! its own solve (docs/method.md §7).
//!
//! Guaranteed: linear momentum of free vertices, up to rounding; kinetic energy of the mean motion does
//! not grow where no scripted vertex moves. In our form no pair is dropped twice, so the set cannot run
//! in circles. Not guaranteed: that impacts run out within `max_rounds`.

pub mod influence;

use std::collections::BTreeMap;

use glam::DVec3;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::influence::{Influence, Rule};
pub use self::influence::{InfluenceForm, Policy};
use super::inelastic::zone::{Contact, Zone};
use super::inelastic::{Inelastic, Precision};
use super::zones::Sets;
use crate::error::ValueError;
use crate::geometry::{ContactPoint, Impact, Pair, Proximity};
use crate::state::Candidate;

/// Settings of the semi-global constraint set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SemiGlobal {
    /// Rounds of detection before the next stage takes over; 0 switches the stage off.
    pub max_rounds: u32,
    /// Which constraints stay from one round to the next.
    pub policy: Policy,
    /// What becomes of a constraint that comes back after it was dropped.
    pub form: InfluenceForm,
    /// Share of its influence that a constraint keeps from round to round, at least 0 and below 1: the paper's α.
    pub decay: f64,
    /// Whether pairs that are near at the start join the set where they come nearer than they may, impact or not.
    pub critical: bool,
    /// What a constraint may lack after a solve, as a share of its gap, above 0 and at most 0.1.
    pub tolerance: f64,
}

impl Default for SemiGlobal {
    fn default() -> Self {
        Self {
            max_rounds: 100,
            policy: Policy::SemiGlobal,
            form: InfluenceForm::Returning,
            decay: 0.7,
            critical: true,
            tolerance: 0.01,
        }
    }
}

/// A constraint that lacks more than this share of its gap occurs, impact or not.
const LACKS: f64 = 0.2;

/// Times that a pair is linearised anew before its older versions stay on the list.
const MAX_REPLACED: u32 = 3;

/// What became of the set, for reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetWork {
    /// Rounds.
    pub rounds: usize,
    /// Constraints in the set, summed over the rounds.
    pub constraints: usize,
    /// Most constraints in one round.
    pub largest: usize,
    /// Constraints in the groups that were solved, summed over the rounds: what the solves cost.
    pub solved: usize,
    /// Times that a constraint left the set.
    pub dropped: usize,
    /// Constraints that came back after they had been dropped.
    pub returned: usize,
}

impl std::ops::AddAssign for SetWork {
    fn add_assign(&mut self, more: Self) {
        self.rounds += more.rounds;
        self.constraints += more.constraints;
        self.largest = self.largest.max(more.largest);
        self.solved += more.solved;
        self.dropped += more.dropped;
        self.returned += more.returned;
    }
}

/// A constraint, in the set or not.
struct Known {
    point: ContactPoint,
    contact: Contact,
    influence: Influence,
    /// Whether it was near at the start and has not been in impact.
    is_critical: bool,
}

impl Known {
    fn new(point: ContactPoint, candidate: &Candidate<'_>, is_critical: bool) -> Self {
        Self {
            contact: Contact::of(&point, candidate),
            point,
            influence: Influence::default(),
            is_critical,
        }
    }

    fn lacks(&self, x: &[DVec3]) -> bool {
        self.contact.target - self.point.gap(x) > LACKS * self.contact.scale
    }
}

/// All constraints of an interval, and where vertices wanted to go.
pub(super) struct Constraints {
    wanted: Vec<DVec3>,
    all: Vec<Known>,
    /// Newest constraint of a pair, and how often it was linearised anew.
    newest: BTreeMap<Pair, (usize, u32)>,
    work: SetWork,
    unsolved: usize,
}

impl Constraints {
    fn new(stage: &SemiGlobal, near: &[Proximity], candidate: &Candidate<'_>) -> Self {
        let mut constraints = Self {
            wanted: candidate.x.clone(),
            all: Vec::new(),
            newest: BTreeMap::new(),
            work: SetWork::default(),
            unsolved: 0,
        };
        if stage.critical {
            for near in near {
                let point = near.point();
                if candidate.inverse_mass_of(&point) > 0.0 {
                    let number = constraints.all.len();
                    constraints.newest.insert(near.pair, (number, 0));
                    constraints.all.push(Known::new(point, candidate, true));
                }
            }
        }
        constraints
    }

    /// What became of the set.
    pub(super) fn work(&self) -> SetWork {
        self.work
    }

    /// Groups without a solution in the last round.
    pub(super) fn unsolved(&self) -> usize {
        self.unsolved
    }

    /// Points with an impulse.
    pub(super) fn pushed(&self) -> impl Iterator<Item = ContactPoint> {
        let pushed = self.all.iter().filter(|known| known.contact.warm > 0.0);
        pushed.map(|known| known.point)
    }

    /// Takes up an impact, linearised at its time; returns its number.
    fn take_up(&mut self, impact: &Impact, candidate: &Candidate<'_>) -> usize {
        let mut known = Known::new(impact.point(), candidate, false);
        let next = self.all.len();
        let newest = self.newest.entry(impact.pair).or_insert((next, 0));
        if newest.0 == next || newest.1 >= MAX_REPLACED {
            newest.0 = next;
            self.all.push(known);
            return next;
        }
        newest.1 += 1;
        let before = &mut self.all[newest.0];
        (known.contact.warm, known.influence) = (before.contact.warm, before.influence);
        *before = known;
        newest.0
    }

    /// Numbers of the constraints in the set by group: root of the group and number, ascending.
    fn groups(&self, inverse_mass: &[f64]) -> Vec<(u32, usize)> {
        let mut sets = Sets::new(inverse_mass.len());
        let mut members = Vec::new();
        for (number, known) in self.all.iter().enumerate() {
            if known.influence.is_in() {
                let roots = sets.merge(known.point.vertices, inverse_mass);
                members.push((roots[0], number));
            }
        }
        for (root, _) in &mut members {
            *root = sets.root(*root);
        }
        members.sort_unstable();
        members
    }
}

impl SemiGlobal {
    /// Whether all numbers are in their ranges.
    pub(super) fn check(&self) -> Result<(), ValueError> {
        let is_decay = |value: f64| (0.0..1.0).contains(&value);
        let expected = "at least 0 and below 1";
        ValueError::check("response semi_global.decay", self.decay, expected, is_decay)?;
        let is_tolerance = |value: f64| value > 0.0 && value <= 0.1;
        let expected = "above 0 and at most 0.1";
        let (what, tolerance) = ("response semi_global.tolerance", self.tolerance);
        ValueError::check(what, tolerance, expected, is_tolerance)
    }

    pub(super) fn constraints(&self, near: &[Proximity], candidate: &Candidate<'_>) -> Constraints {
        Constraints::new(self, near, candidate)
    }

    /// Changes end positions; returns the vertices that moved, ascending.
    pub(super) fn apply(
        &self,
        impacts: &[Impact],
        constraints: &mut Constraints,
        candidate: &mut Candidate<'_>,
    ) -> Vec<u32> {
        let changed = self.choose(impacts, constraints, candidate);
        let mut is_changed = vec![false; candidate.x.len()];
        for &number in &changed {
            for v in constraints.all[number].point.vertices {
                is_changed[v as usize] = candidate.inverse_mass[v as usize] > 0.0;
            }
        }
        let members = constraints.groups(candidate.inverse_mass);
        // a group is solved if one of its constraints is another than before, or if it lost one
        let is_due = |group: &&[(u32, usize)]| {
            let points = group.iter().map(|m| &constraints.all[m.1].point);
            points
                .flat_map(|p| p.vertices)
                .any(|v| is_changed[v as usize])
        };
        let groups: Vec<&[(u32, usize)]> =
            members.chunk_by(|a, b| a.0 == b.0).filter(is_due).collect();
        let precision = Precision {
            tolerance: self.tolerance,
            ..Precision::STAGE
        };
        let solver = Inelastic::default();
        let solved: Vec<_> = groups
            .into_par_iter()
            .map(|group| {
                let contacts = group.iter().map(|m| &constraints.all[m.1].contact);
                let (zone, vertices) = Zone::of(contacts, &constraints.wanted, candidate);
                (group, vertices, solver.solve(&zone, &precision))
            })
            .collect();

        let Constraints { work, all, .. } = constraints;
        work.rounds += 1;
        work.constraints += members.len();
        work.largest = work.largest.max(members.len());
        constraints.unsolved = 0;
        // what is in no group any more goes where it wanted to
        let mut ends: BTreeMap<u32, DVec3> = (0..)
            .zip(is_changed.iter().zip(&constraints.wanted))
            .filter_map(|(v, (is_changed, x))| is_changed.then_some((v, *x)))
            .collect();
        for (group, vertices, solution) in solved {
            work.solved += group.len();
            let Ok(solution) = solution else {
                constraints.unsolved += 1; // for the next stage as it came
                continue;
            };
            for (member, impulse) in group.iter().zip(&solution.impulses) {
                all[member.1].contact.warm = *impulse;
            }
            ends.extend(vertices.into_iter().zip(solution.x));
        }
        let mut moved = Vec::new();
        for (v, x) in ends {
            let i = v as usize;
            if candidate.inverse_mass[i] > 0.0 && candidate.x[i] != x {
                candidate.x[i] = x;
                moved.push(v);
            }
        }
        moved
    }

    /// The set of this round; returns the numbers of the constraints that are others than before.
    fn choose(
        &self,
        impacts: &[Impact],
        constraints: &mut Constraints,
        candidate: &Candidate<'_>,
    ) -> Vec<usize> {
        let movable = |impact: &&Impact| candidate.inverse_mass_of(&impact.point()) > 0.0;
        let mut met: Vec<usize> = impacts
            .iter()
            .filter(movable)
            .map(|impact| constraints.take_up(impact, candidate))
            .collect();
        met.sort_unstable();
        let rule = Rule {
            policy: self.policy,
            form: self.form,
            decay: self.decay,
        };
        let is_ours = self.form == InfluenceForm::Returning && self.policy != Policy::NewOnly;
        let mut changed = Vec::new();
        for (number, known) in constraints.all.iter_mut().enumerate() {
            let is_met = met.binary_search(&number).is_ok();
            let minds_lack = known.is_critical || is_ours;
            let occurs = is_met || minds_lack && known.lacks(&candidate.x);
            let came_back = known.influence.came_back();
            let is_other = known.influence.advance(&rule, occurs);
            if is_other && !known.influence.is_in() {
                known.contact.warm = 0.0;
                constraints.work.dropped += 1;
            }
            let comes_back = !came_back && known.influence.came_back();
            constraints.work.returned += usize::from(comes_back);
            if is_met || is_other {
                changed.push(number);
            }
        }
        changed
    }
}
