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
//! [`super::inelastic`], which solves the same problem, the set may also become smaller.
//!
//! The paper's form differs from the paper in what its print has wrong: (13) and (18) lack −J v*; (15)
//! is no form of Coulomb's law, so each contact has its disc; step 4 of a frame is to detect anew;
//! masses are not all equal. Its A is the matrix of the integrator; here it is that of the masses,
//! for which the splitting (20) is exact after one step. (22) and (23) are solved together, contact by contact
//! ([`super::inelastic`]'s `joint`), and where that does not converge in turn, by staggered projections
//! ([`super::inelastic::coulomb`]). With the matrix of the integrator ([`SetMatrix::System`]) the set is part of
//! its own solve first ([`system`]), and this stage takes what that leaves.
//!
//! We differ, unless `form = "paper"`: a constraint that presses is never dropped. One without an impulse leaves the solution as it is
//! when it goes, so that nothing is solved anew; and if it lacks its gap after a later solve, it is recalled within the same round,
//! without detection. Where the set is solved, the solution is therefore that of all constraints that ever occurred: that of `global`.
//!
//! Guaranteed: linear momentum of free vertices, up to rounding; kinetic energy of the mean motion does
//! not grow where no scripted vertex moves. In our form no pair is dropped twice, so the set cannot run
//! in circles. Not guaranteed: that impacts run out within `max_rounds`.

pub mod influence;
pub mod system;

use std::collections::BTreeMap;

use cpu_time::ProcessTime;
use glam::DVec3;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::influence::{Influence, Rule};
pub use self::influence::{InfluenceForm, Policy};
use super::inelastic::zone::{Contact, Zone};
use super::inelastic::{Precision, coulomb};
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
    /// What the change of motion is measured by.
    pub matrix: SetMatrix,
}

/// The paper's A: in which norm the change of motion is the least.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SetMatrix {
    /// That of the masses: the stage knows start, end and masses, whoever proposes.
    #[default]
    Mass,
    /// That of the integrator: the set is handed to it as rows of its solve, and the interval is proposed anew until nothing else
    /// occurs; no other contact is in its loops. What is left is for the masses, and so is everything where somebody else proposes.
    System,
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
            matrix: SetMatrix::Mass,
        }
    }
}

/// A critical contact that lacks more than this share of its gap joins the set, impact or not.
const LACKS: f64 = 0.2;

/// Times that a pair is linearised anew before its older versions stay on the list.
const MAX_REPLACED: u32 = 3;

/// What became of the set, for reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    /// Intervals that had a first, a second, ... round; the last number is that of all later rounds.
    #[serde(default)]
    pub reached: [usize; ROUNDS],
    /// Constraints in the set in these rounds, summed over the intervals.
    #[serde(default)]
    pub sizes: [usize; ROUNDS],
    /// Largest lack of a gap that a constraint of the set, or one that was, had after a round, in metres.
    #[serde(default)]
    pub largest_lack: f64,
    /// Iterations of the solvers.
    #[serde(default)]
    pub iterations: usize,
    /// Processor time of the stage without detection, in milliseconds.
    #[serde(default)]
    pub spent_ms: f64,
}

/// Rounds that are told apart in reports.
pub const ROUNDS: usize = 6;

impl std::ops::AddAssign for SetWork {
    fn add_assign(&mut self, more: Self) {
        self.rounds += more.rounds;
        self.constraints += more.constraints;
        self.largest = self.largest.max(more.largest);
        self.solved += more.solved;
        self.dropped += more.dropped;
        self.returned += more.returned;
        let both = |a: &mut [usize; ROUNDS], b: [usize; ROUNDS]| {
            a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        };
        both(&mut self.reached, more.reached);
        both(&mut self.sizes, more.sizes);
        self.largest_lack = self.largest_lack.max(more.largest_lack);
        self.iterations += more.iterations;
        self.spent_ms += more.spent_ms;
    }
}

/// A constraint, in the set or not.
struct Known {
    point: ContactPoint,
    contact: Contact,
    /// Friction of the last solution, in kg·m.
    friction: DVec3,
    influence: Influence,
    /// Whether it was near at the start and has not been in impact.
    is_critical: bool,
}

impl Known {
    fn new(point: ContactPoint, candidate: &Candidate<'_>, is_critical: bool) -> Self {
        Self {
            contact: Contact::of(&point, candidate),
            point,
            friction: DVec3::ZERO,
            influence: Influence::default(),
            is_critical,
        }
    }

    fn presses(&self) -> bool {
        self.contact.warm > 0.0
    }

    /// Whether it lacks more than this share of its gap.
    fn lacks(&self, share: f64, x: &[DVec3]) -> bool {
        self.contact.target - self.point.gap(x) > share * self.contact.scale
    }
}

/// All constraints of an interval, and where vertices wanted to go.
pub(super) struct Constraints {
    wanted: Vec<DVec3>,
    all: Vec<Known>,
    /// Newest constraint of a pair, and how often it was linearised anew.
    newest: BTreeMap<Pair, (usize, u32)>,
    /// Rounds so far.
    round: usize,
    work: SetWork,
    unsolved: usize,
}

impl Constraints {
    /// None but those that are near at the start, if critical contacts join.
    pub(super) fn new(stage: &SemiGlobal, near: &[Proximity], candidate: &Candidate<'_>) -> Self {
        let mut constraints = Self {
            wanted: candidate.x.clone(),
            all: Vec::new(),
            newest: BTreeMap::new(),
            round: 0,
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
        let pushed = self.all.iter().filter(|known| known.presses());
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
        known.contact.warm = before.contact.warm;
        (known.friction, known.influence) = (before.friction, before.influence);
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

    /// Changes end positions; returns the vertices that moved, ascending.
    pub(super) fn apply(
        &self,
        impacts: &[Impact],
        constraints: &mut Constraints,
        candidate: &mut Candidate<'_>,
    ) -> Vec<u32> {
        let clock = ProcessTime::now();
        let mut changed = self.choose(impacts, constraints, candidate);
        let mut moved = Vec::new();
        loop {
            moved.extend(self.solve(&changed, constraints, candidate));
            // what is known and lacks its gap need not be detected
            changed = self.recall(constraints, candidate);
            if changed.is_empty() {
                break;
            }
        }
        moved.sort_unstable();
        moved.dedup();
        let spent = clock.elapsed();
        let Constraints {
            work, all, round, ..
        } = constraints;
        let size = all.iter().filter(|known| known.influence.is_in()).count();
        let place = (*round).min(ROUNDS - 1);
        work.reached[place] += 1;
        work.sizes[place] += size;
        work.rounds += 1;
        work.constraints += size;
        work.largest = work.largest.max(size);
        let judged = all.iter().filter(|known| known.influence.has_been_in());
        let lacks = judged.map(|known| known.contact.target - known.point.gap(&candidate.x));
        work.largest_lack = lacks.fold(work.largest_lack, f64::max);
        work.spent_ms += 1e3 * spent.as_secs_f64();
        *round += 1;
        moved
    }

    /// Solves the groups of constraints that are others than before; returns the vertices that moved.
    fn solve(
        &self,
        changed: &[usize],
        constraints: &mut Constraints,
        candidate: &mut Candidate<'_>,
    ) -> Vec<u32> {
        let mut is_changed = vec![false; candidate.x.len()];
        for &number in changed {
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
        let solved: Vec<_> = groups
            .into_par_iter()
            .map(|group| {
                let each = || group.iter().map(|m| &constraints.all[m.1]);
                let contacts = each().map(|known| &known.contact);
                let (zone, vertices) = Zone::of(contacts, &constraints.wanted, candidate);
                let rubbed: Vec<DVec3> = each().map(|known| known.friction).collect();
                let rubbed = Some(&rubbed[..]);
                (group, vertices, coulomb::solve(&zone, rubbed, &precision))
            })
            .collect();

        let Constraints { work, all, .. } = constraints;
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
            work.iterations += solution.iterations as usize;
            let each = solution.impulses.iter().zip(&solution.friction);
            for (member, (impulse, friction)) in group.iter().zip(each) {
                let known = &mut all[member.1];
                (known.contact.warm, known.friction) = (*impulse, *friction);
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

    fn rule(&self) -> Rule {
        Rule {
            policy: self.policy,
            form: self.form,
            decay: self.decay,
        }
    }

    /// Whether constraints are known beyond what was detected, which is ours.
    fn remembers(&self) -> bool {
        self.form == InfluenceForm::Returning && self.policy != Policy::NewOnly
    }

    /// Brings back what lacks its gap after a solve; returns the numbers of these constraints.
    fn recall(&self, constraints: &mut Constraints, candidate: &Candidate<'_>) -> Vec<usize> {
        let mut recalled = Vec::new();
        if !self.remembers() {
            return recalled;
        }
        for (number, known) in constraints.all.iter_mut().enumerate() {
            if !known.influence.is_in() && known.lacks(self.bearable(known), &candidate.x) {
                constraints.work.returned += usize::from(known.influence.recall());
                recalled.push(number);
            }
        }
        recalled
    }

    /// What a constraint outside the set may lack, as a share of its gap.
    fn bearable(&self, known: &Known) -> f64 {
        match known.influence.was_dropped() {
            true => 2.0 * self.tolerance, // as near as the solver would have left it
            false => LACKS,
        }
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
        let rule = self.rule();
        let mut changed = Vec::new();
        for (number, known) in constraints.all.iter_mut().enumerate() {
            let is_met = met.binary_search(&number).is_ok();
            let presses = self.remembers() && known.presses();
            let is_close = || known.is_critical && known.lacks(LACKS, &candidate.x);
            let occurs = is_met || presses || is_close();
            let came_back = known.influence.came_back();
            let is_other = known.influence.advance(&rule, occurs);
            let is_lost = is_other && !known.influence.is_in();
            let comes_back = !came_back && known.influence.came_back();
            constraints.work.returned += usize::from(comes_back);
            constraints.work.dropped += usize::from(is_lost);
            // what is lost without having pressed changes nothing
            if is_met || is_other && (!is_lost || known.presses()) {
                changed.push(number);
            }
            if is_lost {
                (known.contact.warm, known.friction) = (0.0, DVec3::ZERO);
            }
        }
        changed
    }
}
