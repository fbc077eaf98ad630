//! Totals of a run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::checkpoint::VERSION;
use crate::error::{Pinch, StepError};
use crate::response::Account;
use crate::step::{FrameReport, ImpactCount};

/// Totals of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Version of Percale that ran.
    pub version: String,
    /// Output frames after the start.
    pub frames: u64,
    /// Crossing face pairs over all frames, by the auditor; those of the start if it was refused.
    pub intersections: usize,
    /// Crossings of obstacles among themselves in the last frame: outside the certificate.
    pub obstacle_crossings: usize,
    /// Impacts at the beginning of every round, summed.
    pub impacts: ImpactCount,
    /// Rounds of all stages.
    pub rounds: usize,
    /// Accepted intervals.
    pub intervals: usize,
    /// Intervals in which a fail-safe stage had to act.
    pub failsafes: usize,
    /// Refused attempts.
    pub retries: usize,
    /// Attempts given up because the response would have stretched the cloth too much.
    pub stretched: usize,
    /// Vertices that could not be put on the output grid, over all frames.
    pub off_grid: usize,
    /// Cloth faces above the strain limit of their fabric, summed over all frames.
    pub strain_over: usize,
    /// Largest principal strain of a cloth face at the end of any frame (0.1 = stretched by a tenth).
    pub largest_strain: f64,
    /// Smallest gap at the end of any frame, in metres; none if nothing came nearer than the thickness.
    pub smallest_gap: Option<f64>,
    /// Places at the end of the last frame where a cloth of a higher layer lies inside one of a lower layer.
    #[serde(default)]
    pub out_of_order: usize,
    /// Kept share of the motion, `Σ m |x_new − x0|² / Σ m |x1 − x0|²` of touched vertices; none without impacts. Above 1 where objects push
    /// cloth further than it would have gone by itself.
    pub kept_share: Option<f64>,
    /// What repulsions and stages did to momentum and energy, summed over all frames.
    pub stages: BTreeMap<String, Account>,
    /// Processor time of all threads spent stepping, over all frames, in seconds.
    pub seconds: f64,
    /// The same by the clock on the wall, in seconds.
    #[serde(default)]
    pub wall_seconds: f64,
    /// SHA-256 of the little-endian f64 positions of all output frames.
    pub hash: String,
    /// Why the run ended before its last frame; none if it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Stopped>,
}

impl Summary {
    /// Sums over the frames; what they do not know (obstacles, the hash, why it stopped) is left empty.
    pub(super) fn of(frames: &[FrameReport]) -> Self {
        let sum = |count: fn(&FrameReport) -> usize| frames.iter().map(count).sum::<usize>();
        // the sum of nothing would be -0.0
        let total =
            |value: fn(&FrameReport) -> f64| frames.iter().fold(0.0, |sum, f| sum + value(f));
        let wanted = total(|f| f.wanted);
        Self {
            version: VERSION.into(),
            frames: frames.len() as u64,
            intersections: sum(|f| f.intersections),
            impacts: ImpactCount {
                vertex_face: sum(|f| f.impacts.vertex_face),
                edge_edge: sum(|f| f.impacts.edge_edge),
            },
            rounds: sum(|f| f.rounds.values().sum()),
            intervals: sum(|f| f.intervals),
            failsafes: sum(|f| f.failsafes.values().sum()),
            retries: sum(|f| f.retries),
            stretched: sum(|f| f.stretched),
            off_grid: sum(|f| f.off_grid),
            strain_over: sum(|f| f.strain_over as usize),
            largest_strain: frames.iter().map(|f| f.largest_strain).fold(0.0, f64::max),
            smallest_gap: (frames.iter().filter_map(|f| f.smallest_gap)).min_by(f64::total_cmp),
            out_of_order: frames.last().map_or(0, |f| f.out_of_order),
            kept_share: (wanted > 0.0).then(|| total(|f| f.kept) / wanted),
            stages: stages_of(frames),
            seconds: 1e-3 * total(|f| f.phases.total_ms()),
            wall_seconds: 1e-3 * total(|f| f.phases.wall_ms),
            ..Self::default()
        }
    }
}

fn stages_of(frames: &[FrameReport]) -> BTreeMap<String, Account> {
    let mut sums: BTreeMap<String, Account> = BTreeMap::new();
    for (stage, account) in frames.iter().flat_map(|frame| &frame.stages) {
        let sum = sums.entry(stage.clone()).or_default();
        *sum = sum.plus(*account);
    }
    sums
}

/// Why a run ended on the way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stopped {
    /// Frame that could not be reached.
    pub frame: u64,
    /// For people.
    pub message: String,
    /// Which objects leave no room, if that is why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinch: Option<Pinch>,
}

impl Stopped {
    /// At a frame, by an error.
    pub fn new(frame: u64, error: &StepError) -> Self {
        let pinch = match error {
            StepError::Pinched(pinch) => Some((**pinch).clone()),
            _ => None,
        };
        Self {
            frame,
            message: error.to_string(),
            pinch,
        }
    }
}
