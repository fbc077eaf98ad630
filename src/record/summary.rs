//! Totals of a run.

use serde::ser::SerializeMap as _;
use serde::{Deserialize, Serialize, Serializer};

use super::checkpoint::VERSION;
use crate::error::{Pinch, StepError};
use crate::step::Figures;

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
    /// Sum of all frames; written in short, and read from the frames.
    #[serde(flatten, serialize_with = "write_totals", skip_deserializing)]
    pub figures: Figures,
    /// SHA-256 of the little-endian f64 positions of all output frames.
    pub hash: String,
    /// Why the run ended before its last frame; none if it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Stopped>,
}

impl Summary {
    /// Sums over the frames; what they do not know (obstacles, the hash, why it stopped) is left empty.
    pub(super) fn of(frames: &[Figures]) -> Self {
        let figures = sum_of(frames);
        Self {
            version: VERSION.into(),
            frames: frames.len() as u64,
            intersections: figures.intersections,
            figures,
            ..Self::default()
        }
    }

    /// Processor time of all threads spent stepping, over all frames, in seconds.
    pub fn seconds(&self) -> f64 {
        1e-3 * self.figures.phases.total_ms()
    }

    /// The same by the clock on the wall, in seconds.
    pub fn wall_seconds(&self) -> f64 {
        1e-3 * self.figures.phases.wall_ms
    }
}

/// The sum of several frames.
pub(super) fn sum_of(frames: &[Figures]) -> Figures {
    let mut sum = Figures::default();
    frames.iter().for_each(|frame| sum += frame);
    sum
}

/// Figures of a run as `report.json` has them among its totals.
fn write_totals<S: Serializer>(figures: &Figures, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    map.serialize_entry("tangles", &figures.tangles)?;
    map.serialize_entry("crossings", &figures.crossings)?;
    map.serialize_entry("edge_face", &figures.edge_face)?;
    map.serialize_entry("contour_length", &figures.contour_length)?;
    map.serialize_entry("let_through", &figures.let_through)?;
    map.serialize_entry("new_paths", &figures.new_paths)?;
    map.serialize_entry("prevented_paths", &figures.prevented_paths)?;
    map.serialize_entry("impacts", &figures.impacts)?;
    map.serialize_entry("rounds", &figures.calls())?;
    map.serialize_entry("intervals", &figures.intervals)?;
    map.serialize_entry("loops", &figures.loops)?;
    map.serialize_entry("iterations", &figures.iterations)?;
    map.serialize_entry("failsafes", &figures.failsafe_count())?;
    map.serialize_entry("retries", &figures.retries)?;
    map.serialize_entry("stretched", &figures.stretched)?;
    map.serialize_entry("repeated", &figures.repeated)?;
    map.serialize_entry("refused", &figures.refused)?;
    map.serialize_entry("off_grid", &figures.off_grid)?;
    map.serialize_entry("strain_over", &figures.strain_over)?;
    map.serialize_entry("largest_strain", &figures.largest_strain)?;
    map.serialize_entry("smallest_gap", &figures.smallest_gap)?;
    map.serialize_entry("smallest_gap_share", &figures.smallest_gap_share)?;
    map.serialize_entry("out_of_order", &figures.out_of_order)?;
    map.serialize_entry("open_stitches", &figures.open_stitches)?;
    map.serialize_entry("widest_stitch", &figures.widest_stitch)?;
    map.serialize_entry("kept_share", &figures.kept_share())?;
    map.serialize_entry("stages", &figures.stages)?;
    map.serialize_entry("seconds", &(1e-3 * figures.phases.total_ms()))?;
    map.serialize_entry("wall_seconds", &(1e-3 * figures.phases.wall_ms))?;
    map.end()
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
