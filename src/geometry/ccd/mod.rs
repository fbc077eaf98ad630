//! The continuous test: do two features in straight-line motion meet?
//!
//! Internal: may change without notice. Open for tests and the command line.

mod closest;
mod cubic;
mod encounter;
mod exact;
mod filter;
mod gap;
mod isolate;

use glam::DVec3;
use serde::{Deserialize, Serialize};

use self::encounter::Weights;
use self::filter::{Closest, Judgement};
use self::gap::Gap;
use self::isolate::{Part, Search};
use super::{Pair, Sweep};

/// How the continuous test decides (docs/method.md §2.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Filters, certified isolation, bounded inclusion; answers `Uncertain` where these cannot
    /// tell.
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
pub struct Encounter {
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
    Hit(Encounter),
    /// They may meet: not excluded within the bounded work of this mode.
    Uncertain(Encounter),
}

/// What is asked of the continuous test.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Question {
    /// How to decide.
    pub mode: Mode,
    /// Distance, in metres, at which features count as meeting; 0 means touching. The features must
    /// lie further apart than this at the start. `Exact` decides separation 0 only, and treats
    /// others like `Fast`.
    pub separation: f64,
}

/// How much work an answer took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// Parts of the motion put to the filters; 0 if nothing moves, 1 if the filters decided at
    /// once.
    pub parts: u32,
    /// Times the exact arithmetic was used.
    pub exact: u32,
}

/// Whether a vertex meets a face.
pub fn vertex_face(sweep: &Sweep, question: Question) -> Answer {
    vertex_face_effort(sweep, question).0
}

/// Whether two edges meet.
pub fn edge_edge(sweep: &Sweep, question: Question) -> Answer {
    edge_edge_effort(sweep, question).0
}

/// Whether one fixed direction proves that the features stay further apart than `separation`;
/// `false` says nothing.
pub(super) fn is_easily_apart(pair: Pair, sweep: &Sweep, separation: f64) -> bool {
    match pair {
        Pair::VertexFace { .. } => Gap::vertex_face(sweep).is_easily_apart(separation).is_ok(),
        Pair::EdgeEdge { .. } => Gap::edge_edge(sweep).is_easily_apart(separation).is_ok(),
    }
}

/// Whether a pair meets, unless it [is easily apart](is_easily_apart): then none. The answer is that of [`vertex_face`] or
/// [`edge_edge`]; what both questions have in common is done once.
pub(super) fn answer_unless_easily_apart(
    pair: Pair,
    sweep: &Sweep,
    question: Question,
) -> Option<Answer> {
    match pair {
        Pair::VertexFace { .. } => look(sweep, &Gap::vertex_face(sweep), question, |from, to| {
            exact::vertex_face_meet(sweep, from, to)
        }),
        Pair::EdgeEdge { .. } => look(sweep, &Gap::edge_edge(sweep), question, |from, to| {
            exact::edge_edge_meet(sweep, from, to)
        }),
    }
}

fn look<const N: usize>(
    sweep: &Sweep,
    gap: &Gap<N>,
    question: Question,
    meet: impl Fn(f64, f64) -> bool,
) -> Option<Answer>
where
    [DVec3; N]: Weights,
{
    let closest = gap.is_easily_apart(question.separation).err()?;
    Some(match sweep.is_still() {
        true => Answer::Never,
        false => decide(gap, Some(closest), question, meet).0,
    })
}

/// Like [`vertex_face`], with the work it took.
pub fn vertex_face_effort(sweep: &Sweep, question: Question) -> (Answer, Effort) {
    if sweep.is_still() {
        return (Answer::Never, Effort::default());
    }
    let gap = Gap::vertex_face(sweep);
    decide(&gap, None, question, |from, to| {
        exact::vertex_face_meet(sweep, from, to)
    })
}

/// Like [`edge_edge`], with the work it took.
pub fn edge_edge_effort(sweep: &Sweep, question: Question) -> (Answer, Effort) {
    if sweep.is_still() {
        return (Answer::Never, Effort::default());
    }
    let gap = Gap::edge_edge(sweep);
    decide(&gap, None, question, |from, to| {
        exact::edge_edge_meet(sweep, from, to)
    })
}

/// Both kinds of pairs; `closest` if that was found not to separate, `meet` decides exactly whether they meet in a part of the motion.
fn decide<const N: usize>(
    gap: &Gap<N>,
    closest: Option<Closest>,
    question: Question,
    meet: impl Fn(f64, f64) -> bool,
) -> (Answer, Effort)
where
    [DVec3; N]: Weights,
{
    let judgement = gap.judge(closest, question.separation);
    if judgement == Judgement::Never {
        return (Answer::Never, Effort { parts: 1, exact: 0 });
    }
    let touching = question.separation == 0.0;
    let mut search = Search::new(gap, question.separation, judgement);
    if question.mode == Mode::Cubic && touching {
        return decide_by_cubic(gap, search);
    }
    let Some(part) = search.next_part() else {
        return (Answer::Never, search.effort);
    };
    if part.certain {
        let contact = encounter::encounter_at(gap, part.from);
        return (Answer::Hit(contact), search.effort);
    }
    if question.mode != Mode::Exact || !touching || !gap.scale.is_finite() {
        let contact = encounter::encounter_at(gap, part.from);
        return (Answer::Uncertain(contact), search.effort);
    }
    let answer = match first_meeting(&mut search, part, meet) {
        Some(time) => Answer::Hit(encounter::encounter_at(gap, time)),
        None => Answer::Never,
    };
    (answer, search.effort)
}

/// The largest number of short parts that the exact test is asked about.
const MAX_EXACT_PARTS: u32 = 4;

/// When the short parts do not tell, the first meeting is located exactly to this fraction of the
/// motion.
const EXACT_RESOLUTION: f64 = 1.0 / 256.0;

/// A time not later than the first meeting, by exact decisions; `part` is the first that the
/// filters cannot exclude.
///
/// Asks at most 1 + [`MAX_EXACT_PARTS`] + log₂(1 / [`EXACT_RESOLUTION`]) times: about the rest of
/// the motion, since most often there is no meeting; then about the parts which the filters leave
/// open; then about halves.
fn first_meeting<const N: usize>(
    search: &mut Search<'_, N>,
    part: Part,
    meet: impl Fn(f64, f64) -> bool,
) -> Option<f64> {
    let mut asked = 0;
    let mut meet = |from: f64, to: f64| {
        asked += 1;
        meet(from, to)
    };
    let time = meet(part.from, 1.0).then(|| {
        let (mut from, mut to) = (part.from, 1.0);
        let mut open = Some(part);
        for _ in 0..MAX_EXACT_PARTS {
            let Some(part) = open else { break };
            from = part.from;
            if part.certain || meet(part.from, part.to) {
                to = part.to;
                break;
            }
            from = part.to;
            open = search.next_part();
        }
        while to - from > EXACT_RESOLUTION {
            let middle = 0.5 * (from + to);
            if meet(from, middle) {
                to = middle;
            } else {
                from = middle;
            }
        }
        from
    });
    search.effort.exact = asked;
    time
}

/// The papers' test, certified: `Never` only if the search excludes a meeting, and the search's
/// time if that is earlier.
fn decide_by_cubic<const N: usize>(gap: &Gap<N>, mut search: Search<'_, N>) -> (Answer, Effort)
where
    [DVec3; N]: Weights,
{
    let answer = match (cubic::first_time(gap), search.next_part()) {
        (None, None) => Answer::Never,
        (None, Some(part)) => Answer::Uncertain(encounter::encounter_at(gap, part.from)),
        (Some(time), None) => Answer::Uncertain(encounter::encounter_at(gap, time)),
        (Some(time), Some(part)) => {
            let contact = Encounter {
                time: time.min(part.from),
                ..encounter::encounter_at(gap, time)
            };
            if part.certain {
                Answer::Hit(contact)
            } else {
                Answer::Uncertain(contact)
            }
        }
    };
    (answer, search.effort)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODES: [Mode; 3] = [Mode::Fast, Mode::Exact, Mode::Cubic];

    fn both(sweep: &Sweep, question: Question) -> [Answer; 2] {
        [vertex_face(sweep, question), edge_edge(sweep, question)]
    }

    #[test]
    fn what_does_not_move_never_meets_even_if_it_touches() {
        let touching = [DVec3::ZERO, DVec3::ZERO, DVec3::X, DVec3::Y];
        let sweep = Sweep {
            start: touching,
            end: touching,
        };
        for mode in MODES {
            for separation in [0.0, 1.0] {
                assert_eq!(
                    both(&sweep, Question { mode, separation }),
                    [Answer::Never; 2]
                );
            }
        }
    }

    #[test]
    fn what_is_not_a_number_is_uncertain_at_the_start() {
        let start = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
        let end = [DVec3::splat(f64::NAN), DVec3::INFINITY, DVec3::Y, DVec3::Z];
        for mode in MODES {
            for answer in both(
                &Sweep { start, end },
                Question {
                    mode,
                    separation: 0.0,
                },
            ) {
                let Answer::Uncertain(contact) = answer else {
                    panic!("{answer:?}");
                };
                assert_eq!(contact.time, 0.0);
                assert!(contact.normal.is_normalized());
                assert!(contact.weights.iter().all(|w| w.is_finite()));
            }
        }
    }

    #[test]
    fn the_cubic_is_uncertain_about_motions_within_a_plane() {
        let face = [DVec3::X, 2.0 * DVec3::X, DVec3::X + DVec3::Y];
        let sweep = |x: f64| Sweep {
            start: [DVec3::new(0.0, 0.1, 0.0), face[0], face[1], face[2]],
            end: [DVec3::new(x, 0.1, 0.0), face[0], face[1], face[2]],
        };
        let question = Question {
            mode: Mode::Cubic,
            separation: 0.0,
        };
        assert!(matches!(
            vertex_face(&sweep(1.5), question),
            Answer::Uncertain(_)
        ));
        assert_eq!(vertex_face(&sweep(0.5), question), Answer::Never);
    }
}
