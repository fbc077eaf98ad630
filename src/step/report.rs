//! What happened in a frame, as data.

use std::collections::BTreeMap;

use cpu_time::ProcessTime;
use serde::{Deserialize, Serialize};

use super::interval::Settled;
use crate::response::{Account, Stage, squeeze};

/// Impacts by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImpactCount {
    /// Of a vertex with a face.
    pub vertex_face: usize,
    /// Of two edges.
    pub edge_edge: usize,
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
        self.propose_ms + self.repel_ms + self.respond_ms + self.accept_ms + self.audit_ms
    }
}

/// What happened in one output frame.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FrameReport {
    /// Number of the frame; the start state is frame 0.
    pub frame: u64,
    /// Crossing face pairs at its end, by the auditor: 0, or something is very wrong.
    pub intersections: usize,
    /// Accepted intervals.
    pub intervals: usize,
    /// Refused attempts.
    pub retries: usize,
    /// Attempts that were given up because the response would have stretched the cloth too much.
    #[serde(default)]
    pub stretched: usize,
    /// Integrator loops of the accepted intervals.
    pub loops: u64,
    /// Impacts at the beginning of every round, summed.
    pub impacts: ImpactCount,
    /// Most impacts in one round.
    pub peak_impacts: usize,
    /// Rounds by stage.
    pub rounds: BTreeMap<String, usize>,
    /// Intervals in which a fail-safe stage had to act, by stage.
    pub failsafes: BTreeMap<String, usize>,
    /// Zones that the inelastic projection had to leave to the next stage or to a shorter interval, in accepted intervals.
    #[serde(default)]
    pub unsolved_zones: usize,
    /// What repulsions and stages did to momentum and energy, summed over the accepted intervals in which they acted.
    pub stages: BTreeMap<String, Account>,
    /// Free vertices that could not be put on the output grid.
    pub off_grid: usize,
    /// Smallest gap of a pair nearer than its thickness at the end of the frame, in metres.
    pub smallest_gap: Option<f64>,
    /// Places at the end of the frame where a cloth of a higher layer lies inside one of a lower layer, see [`crate::Simulation::out_of_order`].
    #[serde(default)]
    pub out_of_order: usize,
    /// `Σ m |x_new − x0|²` of touched vertices, in kg·m².
    pub kept: f64,
    /// `Σ m |x1 − x0|²` of touched vertices, in kg·m²; `kept` divided by this is the kept share.
    pub wanted: f64,
    /// `Σ |s_new|²/k` of the slides s (relative motion along the contact) of impacts before any stage, in kg·m².
    #[serde(default)]
    pub slid: f64,
    /// The same for the candidate motion; `slid` divided by this is the sliding kept.
    #[serde(default)]
    pub slide_wanted: f64,
    /// Kinetic energy at the end, in joules.
    pub kinetic_energy: f64,
    /// Cloth faces above the strain limit of their fabric at the end: contact and scripts come before the limit.
    #[serde(default)] // folders of earlier builds have none
    pub strain_over: u32,
    /// Largest principal strain of all cloth faces at the end (0.1 = stretched by a tenth).
    #[serde(default)]
    pub largest_strain: f64,
    /// The face that has it.
    #[serde(default)]
    pub strained_face: u32,
    /// Processor time by phase.
    pub phases: Phases,
}

impl FrameReport {
    /// Kinetic energy of the mean motion that repulsions and stages took, summed over the intervals, in joules. Each interval proposes the
    /// fall of what lies on something anew: a load at rest counts again and again.
    pub fn energy_lost(&self) -> f64 {
        let each = self.stages.values().map(Account::energy_lost);
        each.fold(0.0, |sum, lost| sum + lost) // the sum of nothing would be -0.0
    }

    /// Adds an accepted interval; `failsafe` are the stages that count as such.
    pub(super) fn add(&mut self, settled: &Settled, failsafe: &[Stage]) {
        let Settled { response, .. } = settled;
        self.intervals += 1;
        self.loops += settled.loops;
        self.off_grid += settled.off_grid;
        self.unsolved_zones += response.unsolved;
        self.kept += settled.kept;
        self.wanted += settled.wanted;
        self.slid += settled.slid;
        self.slide_wanted += settled.slide_wanted;
        for round in &response.rounds {
            self.impacts.vertex_face += round.vertex_face;
            self.impacts.edge_edge += round.edge_edge;
            self.peak_impacts = self.peak_impacts.max(round.vertex_face + round.edge_edge);
            *self.rounds.entry(round.stage.to_string()).or_default() += 1;
        }
        for (stage, account) in &response.accounts {
            let sum = self.stages.entry(stage.to_string()).or_default();
            *sum = sum.plus(*account);
        }
        let failsafes = failsafe.iter().map(Stage::name);
        for stage in failsafes.chain([squeeze::NAME]) {
            if response.rounds.iter().any(|round| round.stage == stage) {
                *self.failsafes.entry(stage.to_string()).or_default() += 1;
            }
        }
    }
}
