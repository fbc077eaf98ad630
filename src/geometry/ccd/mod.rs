//! The continuous test: do two features in straight-line motion meet?

mod closest;
mod contact;
mod exact;
mod filter;
mod gap;
mod isolate;

use glam::DVec3;
use serde::{Deserialize, Serialize};

use self::contact::Weights;
use self::gap::Gap;
use self::isolate::Search;
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
    if sweep.is_still() {
        return Answer::Never;
    }
    let gap = Gap::vertex_face(sweep);
    decide(&gap, question, |from, to| {
        exact::vertex_face_meet(sweep, from, to)
    })
}

/// Whether two edges meet.
pub fn edge_edge(sweep: &Sweep, question: Question) -> Answer {
    if sweep.is_still() {
        return Answer::Never;
    }
    let gap = Gap::edge_edge(sweep);
    decide(&gap, question, |from, to| {
        exact::edge_edge_meet(sweep, from, to)
    })
}

/// The largest number of parts that the exact test is asked about before it is asked about all the rest at once.
const MAX_EXACT_PARTS: usize = 8;

/// Both kinds of pairs; `meet` decides exactly whether they meet in a part of the motion.
fn decide<const N: usize>(
    gap: &Gap<N>,
    question: Question,
    meet: impl Fn(f64, f64) -> bool,
) -> Answer
where
    [DVec3; N]: Weights,
{
    let exact = question.mode == Mode::Exact && question.separation == 0.0 && gap.scale.is_finite();
    let mut search = Search::new(gap, question.separation);
    let mut asked = 0;
    while let Some(part) = search.next_part() {
        if part.certain {
            return Answer::Hit(contact::contact_at(gap, part.from));
        }
        if !exact {
            return Answer::Uncertain(contact::contact_at(gap, part.from));
        }
        asked += 1;
        if asked == MAX_EXACT_PARTS {
            search.budget = 0;
        }
        if meet(part.from, part.to) {
            return Answer::Hit(contact::contact_at(
                gap,
                first_meeting(part.from, part.to, &meet),
            ));
        }
    }
    Answer::Never
}

/// A time not later than the first meeting, which lies in [`from`, `to`]; nearer than 1/1000 of the motion.
fn first_meeting(mut from: f64, mut to: f64, meet: impl Fn(f64, f64) -> bool) -> f64 {
    while to - from > 1.0 / 1024.0 {
        let middle = 0.5 * (from + to);
        if meet(from, middle) {
            to = middle;
        } else {
            from = middle;
        }
    }
    from
}
