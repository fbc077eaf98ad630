//! The continuous test: do two features in straight-line motion meet?

use glam::DVec3;
use serde::{Deserialize, Serialize};

use super::Sweep;

/// How the continuous test decides (design §3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Filters, certified isolation, bounded inclusion; answers `Uncertain` where these cannot tell.
    #[default]
    Fast,
    /// Like `Fast`, then exact arithmetic: never `Uncertain`.
    Exact,
    /// The papers' cubic: derivative, sub-intervals, secant; `Uncertain` where it cannot know.
    Cubic,
}

/// When, where and along which direction two features meet.
///
/// The fields mean the same as those of [`super::Impact`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// Never later than the true first time of impact, in [0, 1].
    pub time: f64,
    /// Signed weights; see [`super::Impact`].
    pub weights: [f64; 4],
    /// Unit vector, from the second feature to the first as they lay at the start.
    pub normal: DVec3,
}

/// The answer of the continuous test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Answer {
    /// The features stay further apart than the separation, proved.
    Never,
    /// They meet, proved.
    Hit(Contact),
    /// They may meet: not excluded within the bounded work of this mode.
    Uncertain(Contact),
}

/// What is asked of the continuous test.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Question {
    /// How to decide.
    pub mode: Mode,
    /// Distance, in metres, at which features count as meeting; 0 means touching. The features must lie further
    /// apart than this at the start. `Exact` decides separation 0 only, and treats others like `Fast`.
    pub separation: f64,
}

/// Whether a vertex meets a face.
pub fn vertex_face(sweep: &Sweep, question: Question) -> Answer {
    let _ = (sweep, question);
    Answer::Never
}

/// Whether two edges meet.
pub fn edge_edge(sweep: &Sweep, question: Question) -> Answer {
    let _ = (sweep, question);
    Answer::Never
}
