//! Certified isolation: where during the motion can the features meet?
//!
//! Time is halved, earlier half first, and every part is put to the filters. What they exclude is certainly free; the
//! first part that they cannot exclude and that is short enough is where the features may meet, and its start is
//! certainly not later than the first meeting. The work is bounded by a number of parts.

use super::Effort;
use super::gap::Gap;

/// Shortest part that is still halved, as a fraction of the motion.
const SHORTEST_PART: f64 = 1.0 / (1 << 20) as f64;

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
    /// Parts still to look at, earliest last.
    open: Vec<(f64, f64)>,
    /// Work done so far.
    pub(super) effort: Effort,
}

impl<'a, const N: usize> Search<'a, N> {
    /// A search through a motion that the filters cannot exclude as a whole.
    pub(super) fn new(gap: &'a Gap<N>, separation: f64) -> Self {
        Self {
            gap,
            separation,
            open: vec![(0.0, 1.0)],
            effort: Effort { parts: 1, exact: 0 },
        }
    }

    /// The earliest part, after those returned so far, that the filters cannot exclude.
    ///
    /// When the budget is spent the part is all that remains.
    pub(super) fn next_part(&mut self) -> Option<Part> {
        while let Some((from, to)) = self.open.pop() {
            let whole = (from, to) == (0.0, 1.0);
            let gap = if whole {
                *self.gap
            } else {
                self.gap.during(from, to)
            };
            if !whole {
                if self.effort.parts == MAX_PARTS {
                    self.open.clear();
                    return Some(Part {
                        from,
                        to: 1.0,
                        certain: false,
                    });
                }
                self.effort.parts += 1;
                if gap.never_meets(self.separation) {
                    continue;
                }
            }
            if self.separation == 0.0 && gap.certainly_meets() {
                let from = self.first_coplanar(from, to);
                return Some(Part {
                    from,
                    to,
                    certain: true,
                });
            }
            if to - from <= SHORTEST_PART {
                return Some(Part {
                    from,
                    to,
                    certain: false,
                });
            }
            let middle = 0.5 * (from + to);
            self.open.push((middle, to));
            self.open.push((from, middle));
        }
        None
    }

    /// A time before which, from `from` on, the polygon is certainly not coplanar with the origin; it is so at most
    /// about [`SHORTEST_PART`] later, unless rounding hides it.
    fn first_coplanar(&self, mut from: f64, mut to: f64) -> f64 {
        while to - from > SHORTEST_PART {
            let middle = 0.5 * (from + to);
            if self.gap.during(from, middle).never_coplanar(0.0) {
                from = middle;
            } else {
                to = middle;
            }
        }
        from
    }
}
