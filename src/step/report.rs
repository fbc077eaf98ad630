//! What happened in an interval, a frame or a run, as data: one type, added up from the one to the other.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use cpu_time::ProcessTime;
use serde::{Deserialize, Serialize};

use crate::response::{Account, Response, SetWork, Stage, VolumeWork, squeeze};

/// Impacts by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImpactCount {
    /// Of a vertex with a face.
    pub vertex_face: usize,
    /// Of two edges.
    pub edge_edge: usize,
}

impl ImpactCount {
    /// Of either kind.
    pub fn total(&self) -> usize {
        self.vertex_face + self.edge_edge
    }
}

impl AddAssign for ImpactCount {
    fn add_assign(&mut self, more: Self) {
        self.vertex_face += more.vertex_face;
        self.edge_edge += more.edge_edge;
    }
}

/// Processor time of all threads by phase, and the time by the clock, in milliseconds; the only part of a report that differs between runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Phases {
    /// Internal dynamics.
    pub propose_ms: f64,
    /// Proximities and repulsions.
    pub repel_ms: f64,
    /// Detection and stages.
    pub respond_ms: f64,
    /// Snapping and certification.
    pub accept_ms: f64,
    /// The independent audit and the gap at the output frame.
    pub audit_ms: f64,
    /// Finding and listing the paths of tangles.
    #[serde(default)]
    pub analyse_ms: f64,
    /// Finding where tangled cloth ought to go.
    #[serde(default)]
    pub target_ms: f64,
    /// The forces that draw it there, by the clock on the wall; a part of `propose_ms`.
    #[serde(default)]
    pub draw_ms: f64,
    /// All of them by the clock on the wall.
    #[serde(default)] // folders of earlier builds have none
    pub wall_ms: f64,
}

/// Runs some work and adds the processor time of all threads to a clock, in milliseconds.
pub(super) fn timed<T>(clock: &mut f64, work: impl FnOnce() -> T) -> T {
    let started = ProcessTime::now();
    let result = work();
    *clock += started.elapsed().as_secs_f64() * 1e3;
    result
}

impl Phases {
    /// Processor time of all phases, in milliseconds.
    pub fn total_ms(&self) -> f64 {
        self.stepping_ms() + self.audit_ms
    }

    /// Processor time of all phases but the audit, in milliseconds.
    pub fn stepping_ms(&self) -> f64 {
        let untangling = self.analyse_ms + self.target_ms;
        self.propose_ms + self.repel_ms + self.respond_ms + self.accept_ms + untangling
    }
}

impl AddAssign for Phases {
    fn add_assign(&mut self, more: Self) {
        self.propose_ms += more.propose_ms;
        self.repel_ms += more.repel_ms;
        self.respond_ms += more.respond_ms;
        self.accept_ms += more.accept_ms;
        self.audit_ms += more.audit_ms;
        self.analyse_ms += more.analyse_ms;
        self.target_ms += more.target_ms;
        self.draw_ms += more.draw_ms;
        self.wall_ms += more.wall_ms;
    }
}

/// What happened in a piece of a run: an accepted interval, an output frame, or all of it.
///
/// Pieces that follow one another are added with `+=`, in their order: counts and times are summed, extremes kept, and what is said of an
/// end is that of the later one. An interval says nothing of its end; a frame does, once it is looked at.
///
/// # Examples
/// ```
/// use percale::{Figures, Scene};
///
/// let mut simulation = Scene::load("drop")?.set("cloth.0.shape.cells", "[8, 8]")?.build()?;
/// let mut both = Figures::default();
/// for _ in 0..2 {
///     both += &simulation.step().expect("free fall");
/// }
/// assert_eq!((both.frame, both.calls()), (2, 0));
/// assert!(both.intervals >= 2 && both.phases.total_ms() > 0.0);
/// # Ok::<(), percale::SceneError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Number of the frame, the last of several; the start state is frame 0.
    pub frame: u64,
    /// Crossing face pairs at the ends of frames that no listed tangle names, by the auditor: 0, or something is very wrong.
    pub intersections: usize,
    /// Paths of tangles that are listed at the end; see [`crate::verify`].
    #[serde(default)]
    pub tangles: usize,
    /// Crossing face pairs that they name.
    #[serde(default)]
    pub crossings: usize,
    /// Edge-face crossings among these.
    #[serde(default)]
    pub edge_face: usize,
    /// Length of all paths in space, in metres.
    #[serde(default)]
    pub contour_length: f64,
    /// Times that something pinched was let through.
    #[serde(default)]
    pub let_through: usize,
    /// Times that a new path was let come up beside listed ones, between faces that are on a path already.
    #[serde(default)]
    pub new_paths: usize,
    /// Times that a path that would have come up beside listed ones was prevented.
    #[serde(default)]
    pub prevented_paths: usize,
    /// Accepted intervals.
    pub intervals: usize,
    /// Attempts that were refused because their end was not certified.
    pub retries: usize,
    /// Attempts that were given up because the response would have stretched the cloth too much, or added energy.
    #[serde(default)]
    pub stretched: usize,
    /// Attempts that came to nothing, by reason.
    #[serde(default)]
    pub refused: BTreeMap<String, usize>,
    /// Proposals of accepted intervals that were made once more, with what the one before had met.
    #[serde(default)]
    pub repeated: usize,
    /// Integrator loops of the accepted intervals.
    pub loops: u64,
    /// Iterations of the linear solves of the accepted intervals.
    #[serde(default)]
    pub iterations: u64,
    /// Impacts at the beginning of every round, summed.
    pub impacts: ImpactCount,
    /// Most impacts in one round.
    pub peak_impacts: usize,
    /// Rounds by stage.
    pub rounds: BTreeMap<String, usize>,
    /// Intervals in which a fail-safe stage had to act, by stage.
    pub failsafes: BTreeMap<String, usize>,
    /// Zones that the inelastic projection or the semi-global stage had to leave to the next stage or to a shorter interval, in accepted intervals.
    #[serde(default)]
    pub unsolved_zones: usize,
    /// What the solves of the volume stage took, in accepted intervals.
    #[serde(default)]
    pub volume: VolumeWork,
    /// What became of the set of the semi-global stage, in accepted intervals.
    #[serde(default)]
    pub constraints: SetWork,
    /// What repulsions and stages did to momentum and energy, summed over the accepted intervals in which they acted.
    pub stages: BTreeMap<String, Account>,
    /// Free vertices that could not be put on the output grid.
    pub off_grid: usize,
    /// Smallest gap of a pair nearer than its thickness at the end of a frame, in metres.
    pub smallest_gap: Option<f64>,
    /// The same as a share of the distance below which the pair counts as near: its thickness, or less where it is made nearer than that.
    #[serde(default)]
    pub smallest_gap_share: Option<f64>,
    /// Places at the end of the last frame where a cloth of a higher layer lies inside one of a lower layer, see [`crate::Simulation::out_of_order`].
    #[serde(default)]
    pub out_of_order: usize,
    /// Stitches of seams at the end that are farther apart than half as much again as their gap.
    #[serde(default)]
    pub open_stitches: usize,
    /// Largest distance of a stitch at the end beyond its gap, in metres; none without seams.
    #[serde(default)]
    pub widest_stitch: Option<f64>,
    /// Where that stitch is; none without seams.
    #[serde(default)]
    pub widest_stitch_place: Option<[f64; 3]>,
    /// `Σ m |x_new − x0|²` of touched vertices, in kg·m².
    pub kept: f64,
    /// `Σ m |x1 − x0|²` of touched vertices, in kg·m².
    pub wanted: f64,
    /// `Σ |s_new|²/k` of the slides s (relative motion along the contact) of impacts before any stage, in kg·m².
    #[serde(default)]
    pub slid: f64,
    /// The same for the candidate motion.
    #[serde(default)]
    pub slide_wanted: f64,
    /// Kinetic energy at the end, in joules.
    pub kinetic_energy: f64,
    /// Median of the speeds of free vertices at the end, in m/s.
    #[serde(default)]
    pub median_speed: f64,
    /// Largest of the speeds of free vertices at the end, in m/s.
    #[serde(default)]
    pub largest_speed: f64,
    /// Cloth faces above the strain limit of their fabric at the ends of frames, summed: contact and scripts come before the limit.
    #[serde(default)] // folders of earlier builds have none
    pub strain_over: usize,
    /// Largest principal strain of all cloth faces at the end of a frame (0.1 = stretched by a tenth).
    #[serde(default)]
    pub largest_strain: f64,
    /// The face that has it.
    #[serde(default)]
    pub strained_face: u32,
    /// Processor time by phase.
    pub phases: Phases,
}

impl Figures {
    /// What a response did in an accepted interval; `failsafe` are the stages that count as such.
    pub(super) fn of(response: &Response, failsafe: &[Stage]) -> Self {
        let mut figures = Self {
            intervals: 1,
            unsolved_zones: response.unsolved,
            volume: response.volume,
            constraints: response.constraints,
            ..Self::default()
        };
        for round in &response.rounds {
            let impacts = ImpactCount {
                vertex_face: round.vertex_face,
                edge_edge: round.edge_edge,
            };
            figures.impacts += impacts;
            figures.peak_impacts = figures.peak_impacts.max(impacts.total());
            *figures.rounds.entry(round.stage.to_string()).or_default() += 1;
        }
        for (stage, account) in &response.accounts {
            add_account(&mut figures.stages, stage, account);
        }
        let failsafes = failsafe.iter().map(Stage::name);
        for stage in failsafes.chain([squeeze::NAME]) {
            if figures.rounds.contains_key(stage) {
                *figures.failsafes.entry(stage.to_string()).or_default() += 1;
            }
        }
        figures
    }

    /// Rounds of all stages.
    pub fn calls(&self) -> usize {
        self.rounds.values().sum()
    }

    /// Times that a fail-safe stage had to act.
    pub fn failsafe_count(&self) -> usize {
        self.failsafes.values().sum()
    }

    /// Pairs handed to a stage, per round; 0 without rounds.
    pub fn pairs_per_call(&self) -> f64 {
        share(self.impacts.total() as f64, self.calls() as f64).unwrap_or_default()
    }

    /// Share of the motion of touched vertices that the response left, `kept / wanted`; none without impacts. Above 1 where objects push
    /// cloth further than it would have gone by itself.
    pub fn kept_share(&self) -> Option<f64> {
        share(self.kept, self.wanted)
    }

    /// Share of the sliding at impacts that is left; none without impacts.
    pub fn sliding_kept(&self) -> Option<f64> {
        share(self.slid, self.slide_wanted)
    }

    /// Kinetic energy of the mean motion that repulsions and stages took, summed over the intervals, in joules. Each interval proposes the
    /// fall of what lies on something anew: a load at rest counts again and again.
    pub fn energy_lost(&self) -> f64 {
        let each = self.stages.values().map(Account::energy_lost);
        each.fold(0.0, |sum, lost| sum + lost) // the sum of nothing would be -0.0
    }
}

impl AddAssign<&Self> for Figures {
    fn add_assign(&mut self, later: &Self) {
        self.frame = later.frame;
        self.intersections += later.intersections;
        self.tangles = later.tangles;
        self.crossings = later.crossings;
        self.edge_face = later.edge_face;
        self.contour_length = later.contour_length;
        self.let_through += later.let_through;
        self.new_paths += later.new_paths;
        self.prevented_paths += later.prevented_paths;
        self.intervals += later.intervals;
        self.retries += later.retries;
        self.stretched += later.stretched;
        self.repeated += later.repeated;
        add_counts(&mut self.refused, &later.refused);
        self.loops += later.loops;
        self.iterations += later.iterations;
        self.impacts += later.impacts;
        self.peak_impacts = self.peak_impacts.max(later.peak_impacts);
        add_counts(&mut self.rounds, &later.rounds);
        add_counts(&mut self.failsafes, &later.failsafes);
        self.unsolved_zones += later.unsolved_zones;
        self.volume += later.volume;
        self.constraints += later.constraints;
        for (stage, account) in &later.stages {
            add_account(&mut self.stages, stage, account);
        }
        self.off_grid += later.off_grid;
        self.smallest_gap = least([self.smallest_gap, later.smallest_gap]);
        self.smallest_gap_share = least([self.smallest_gap_share, later.smallest_gap_share]);
        self.out_of_order = later.out_of_order;
        self.open_stitches = later.open_stitches;
        self.widest_stitch = later.widest_stitch;
        self.widest_stitch_place = later.widest_stitch_place;
        self.kept += later.kept;
        self.wanted += later.wanted;
        self.slid += later.slid;
        self.slide_wanted += later.slide_wanted;
        self.kinetic_energy = later.kinetic_energy;
        self.median_speed = later.median_speed;
        self.largest_speed = later.largest_speed;
        self.strain_over += later.strain_over;
        if later.largest_strain > self.largest_strain {
            self.largest_strain = later.largest_strain;
            self.strained_face = later.strained_face;
        }
        self.phases += later.phases;
    }
}

fn share(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

fn least(of: [Option<f64>; 2]) -> Option<f64> {
    of.into_iter().flatten().min_by(f64::total_cmp)
}

fn add_counts(sums: &mut BTreeMap<String, usize>, more: &BTreeMap<String, usize>) {
    for (name, count) in more {
        *sums.entry(name.clone()).or_default() += count;
    }
}

fn add_account(sums: &mut BTreeMap<String, Account>, stage: &str, account: &Account) {
    let sum = sums.entry(stage.to_string()).or_default();
    *sum = sum.plus(*account);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_extremes_and_ends_are_added_each_by_its_rule() {
        let first = Figures {
            frame: 1,
            intervals: 2,
            rounds: [("impulses".into(), 3)].into(),
            impacts: ImpactCount {
                vertex_face: 4,
                edge_edge: 5,
            },
            peak_impacts: 9,
            smallest_gap: Some(2e-4),
            kept: 1.0,
            wanted: 2.0,
            kinetic_energy: 7.0,
            largest_strain: 0.2,
            strained_face: 11,
            ..Figures::default()
        };
        let second = Figures {
            frame: 2,
            intervals: 1,
            rounds: [("hold".into(), 1), ("impulses".into(), 1)].into(),
            peak_impacts: 2,
            kept: 2.0,
            wanted: 2.0,
            kinetic_energy: 3.0,
            largest_strain: 0.1,
            strained_face: 12,
            ..Figures::default()
        };
        let mut sum = Figures::default();
        sum += &first;
        assert_eq!(sum, first, "nothing is where a sum begins");
        sum += &second;
        assert_eq!((sum.frame, sum.intervals, sum.calls()), (2, 3, 5));
        assert_eq!((sum.peak_impacts, sum.strained_face), (9, 11));
        assert_eq!(
            (sum.smallest_gap, sum.kept_share()),
            (Some(2e-4), Some(0.75))
        );
        assert_eq!((sum.pairs_per_call(), sum.kinetic_energy), (1.8, 3.0));
        assert_eq!(sum.sliding_kept(), None);
    }
}
