//! Certified isolation: where during the motion can the features meet?
//!
//! Time is halved, earlier half first, and every part is put to the filters. What they exclude is
//! certainly free; the first part that they cannot exclude and that is short enough is where the
//! features may meet, and its start is certainly not later than the first meeting. The work is
//! bounded by a number of parts.

use super::Effort;
use super::filter::Judgement;
use super::gap::Gap;

/// Parts up to this fraction of the motion are not halved further.
const SHORTEST_PART: f64 = 1.0 / (1 << 20) as f64;

/// The most parts that are open at a time: one after each halving, and two after the last.
const MAX_OPEN: usize = 22;

/// The same where features must keep a distance: the moment at which it is lost need not be known
/// as well as the moment of touching, and finding it takes two parts per halving.
const SHORTEST_PART_APART: f64 = 1.0 / (1 << 12) as f64;

/// Largest number of parts looked at.
const MAX_PARTS: u32 = 256;

/// A part of the motion in which the features may meet, everything earlier being excluded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Part {
    /// Start of the part.
    pub(super) from: f64,
    /// End of the part.
    pub(super) to: f64,
    /// Whether the features certainly meet, in this part or later.
    pub(super) certain: bool,
}

/// The search through a motion, earliest part first.
pub(super) struct Search<'a, const N: usize> {
    gap: &'a Gap<N>,
    separation: f64,
    /// What the filters say of the whole motion.
    whole: Judgement,
    shortest: f64,
    /// Parts still to look at, earliest last: the first `count` of these.
    open: [(f64, f64); MAX_OPEN],
    count: usize,
    /// Whether the features certainly come within the separation at some time not before the open
    /// parts.
    certain: bool,
    /// Work done so far.
    pub(super) effort: Effort,
}

impl<'a, const N: usize> Search<'a, N> {
    /// A search through a motion that the filters cannot exclude as a whole.
    pub(super) fn new(gap: &'a Gap<N>, separation: f64, whole: Judgement) -> Self {
        Self {
            gap,
            separation,
            whole,
            shortest: if separation > 0.0 {
                SHORTEST_PART_APART
            } else {
                SHORTEST_PART
            },
            open: [(0.0, 1.0); MAX_OPEN],
            count: 1,
            certain: false,
            effort: Effort { parts: 1, exact: 0 },
        }
    }

    /// The earliest part, after those returned so far, that the filters cannot exclude.
    ///
    /// When the budget is spent the part is all that remains.
    pub(super) fn next_part(&mut self) -> Option<Part> {
        while let Some(left) = self.count.checked_sub(1) {
            self.count = left;
            let (from, to) = self.open[left];
            let (gap, judgement) = if (from, to) == (0.0, 1.0) {
                (*self.gap, self.whole)
            } else {
                if self.effort.parts == MAX_PARTS {
                    self.count = 0;
                    return Some(Part {
                        from,
                        to: 1.0,
                        certain: false,
                    });
                }
                self.effort.parts += 1;
                let gap = self.gap.during(from, to);
                (gap, gap.judge(None, self.separation))
            };
            match judgement {
                Judgement::Never => continue,
                Judgement::Meets(volume) => {
                    let from = first_coplanar(volume, gap.coplanarity_error(), from, to);
                    return Some(Part {
                        from,
                        to,
                        certain: true,
                    });
                }
                Judgement::Open => {}
            }
            if self.separation > 0.0 {
                self.certain = self.certain || gap.ends_within(self.separation);
            }
            if to - from <= self.shortest {
                return Some(Part {
                    from,
                    to,
                    certain: self.certain,
                });
            }
            let middle = 0.5 * (from + to);
            self.open[left] = (middle, to);
            self.open[left + 1] = (from, middle);
            self.count = left + 2;
        }
        None
    }
}

/// A time, from `from` on, before which the polygon (given by its volume from `from` to `to`, and the error of that) is certainly not
/// coplanar with the origin; it is so at most [`SHORTEST_PART`] later, unless rounding hides it.
///
/// Halves the cubic by de Casteljau's scheme: three roundings of ε/2 of the largest coefficient
/// each time.
fn first_coplanar(mut v: [f64; 4], error: f64, mut from: f64, mut to: f64) -> f64 {
    let largest = v.iter().fold(0.0, |max: f64, v| max.max(v.abs()));
    let error = error + 32.0 * f64::EPSILON * largest;
    while to - from > SHORTEST_PART {
        let middle = 0.5 * (from + to);
        let mean = |a: f64, b: f64| 0.5 * (a + b);
        let (ab, bc, cd) = (mean(v[0], v[1]), mean(v[1], v[2]), mean(v[2], v[3]));
        let (abc, bcd) = (mean(ab, bc), mean(bc, cd));
        let abcd = mean(abc, bcd);
        let left = [v[0], ab, abc, abcd];
        if left.iter().all(|&v| v > error) || left.iter().all(|&v| v < -error) {
            (from, v) = (middle, [abcd, bcd, cd, v[3]]);
        } else {
            (to, v) = (middle, left);
        }
    }
    from
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::geometry::Sweep;

    fn falling() -> Gap<3> {
        let at = |z: f64| [DVec3::new(0.2, 0.2, z), DVec3::ZERO, DVec3::X, DVec3::Y];
        Gap::vertex_face(&Sweep {
            start: at(0.6),
            end: at(-1.0),
        })
    }

    #[test]
    fn a_spent_budget_leaves_all_the_rest_open() {
        let gap = falling();
        let mut search = Search::new(&gap, 0.1, Judgement::Open);
        search.effort.parts = MAX_PARTS;
        assert_eq!(
            search.next_part(),
            Some(Part {
                from: 0.0,
                to: 1.0,
                certain: false
            })
        );
        assert_eq!(search.next_part(), None);
    }

    #[test]
    fn the_first_open_part_starts_shortly_before_the_impact() {
        let gap = falling();
        let part = Search::new(&gap, 0.0, gap.judge(None, 0.0))
            .next_part()
            .expect("they meet");
        assert!(part.certain);
        assert!(
            part.from <= 0.375 && part.from >= 0.375 - SHORTEST_PART,
            "{}",
            part.from
        );
    }
}
