//! A motion that is asked about once: no pairs are listed, the walk through the tree tests them as it meets them.
//!
//! Its boxes are those of the question, without room for others, and tell where features are when ([`Way32`]): most of what
//! flies side by side is never compared. Impacts are those of any other way to ask, to the bit.
//!
//! Who only wants to know how far everything may go asks for the first impact: a few parts of the walk find some, and the others
//! look no further than to the earliest of these. The parts are the same for any number of threads.

use glam::DVec3;
use rayon::prelude::*;

use super::box32::Way32;
use super::ccd::{self, Answer, Mode, Question};
use super::collider::{Asked, Motion, in_order, sort};
use super::looks32::Looks;
use super::margin::box_gap;
use super::sweep::at;
use super::sweep32::Listed;
use super::{Collider, Impact, Sweep};

/// What one part of the walk has found, and what it has not looked at yet.
#[derive(Default)]
struct Found {
    looks: Looks,
    tested: Tested,
}

/// Of pairs that were put to the continuous test.
#[derive(Default)]
struct Tested {
    impacts: Vec<Impact>,
    queries: u64,
}

/// How a motion is walked through.
#[derive(Clone, Copy)]
struct Walk {
    mode: Mode,
    /// The part of the motion that is looked at, from its start on, in (0, 1].
    until: f64,
    /// Of the parts of the walk, every how many-th is taken.
    every: usize,
}

/// A few parts of the walk tell until when the others have to be looked at: of [`Collider::first_impact`].
const SAMPLE: usize = 16;

/// How much longer than until the earliest impact known pairs are looked at, as a part of the motion: a time of impact is earlier than
/// what it stands for by up to 2⁻²⁰. A power of two.
const MORE: f64 = 1.0 / (1 << 16) as f64;

impl Collider {
    /// The earliest impact of a motion, of several at the same time that of the first pair: the first of [`Self::impacts`], unless the
    /// features of that only graze each other within rounding errors. Nothing meets before it.
    ///
    /// Costs less than all impacts: pairs are looked at until the earliest impact known, and those that meet later are not told apart.
    /// With a margin it costs the same.
    ///
    /// # Examples
    /// ```
    /// use std::sync::Arc;
    /// use percale::geometry::Asked;
    /// use percale::{Collider, DVec3, Mesh};
    ///
    /// let mesh = Arc::new(Mesh::new(6, vec![[0, 1, 2], [3, 4, 5]])?);
    /// let lower = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]];
    /// let upper = [[0.2, 0.1, 0.2], [1.2, 0.1, 0.2], [0.2, 0.1, 1.2]];
    /// let x0: Vec<DVec3> = lower.iter().chain(&upper).map(|&x| x.into()).collect();
    /// let x1: Vec<DVec3> = x0.iter().map(|x| x * DVec3::new(1.0, -1.0, 1.0)).collect();
    ///
    /// let mut collider = Collider::new(&mesh);
    /// let motion = collider.motion(&x0, &x1)?;
    /// let first = collider.first_impact(motion, &Asked::default()).expect("they change places");
    /// // the step that a line search may take: this part of the way is free
    /// assert!(first.time <= 0.5 && first.time > 0.499);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn first_impact(&mut self, motion: Motion<'_>, asked: &Asked<'_>) -> Option<Impact> {
        if asked.margin.is_some() {
            return self.impacts(motion, asked).into_iter().next();
        }
        let walk = |until, every| Walk {
            mode: asked.mode,
            until,
            every,
        };
        let sample = self.walk(motion, walk(1.0, SAMPLE));
        let until = match sample.first() {
            Some(first) => (((first.time / MORE).ceil() + 1.0) * MORE).min(1.0),
            None => 1.0,
        };
        let others = self.walk(motion, walk(until, 1));
        let first = [sample.first(), others.first()].into_iter().flatten();
        first.min_by(|a, b| in_order(a, b)).copied()
    }

    /// All impacts of a motion by touching, by time, then pair.
    pub(super) fn impacts_at_once(&mut self, motion: Motion<'_>, mode: Mode) -> Vec<Impact> {
        let walk = Walk {
            mode,
            until: 1.0,
            every: 1,
        };
        self.walk(motion, walk)
    }

    /// The impacts that a walk meets, by time, then pair.
    fn walk(&mut self, motion: Motion<'_>, walk: Walk) -> Vec<Impact> {
        if !self.is_number(motion, |_| 0.0) {
            return Vec::new();
        }
        let Motion { start, end, .. } = motion;
        let Walk { mode, until, every } = walk;
        (start.par_iter().zip(end).with_min_len(4096))
            .map(|(a, b)| Way32::until(*a, *b, until))
            .collect_into_vec(&mut self.vertex_ways);
        self.tree.fit(&mut self.ways, &self.mesh, &self.vertex_ways);
        self.single.set_until(start, end, until);
        let single = &self.single;
        let test = |listed: Listed, tested: &mut Tested| {
            if !motion.leaves_out(listed.pair) {
                tested.test(&listed, start, end, mode);
            }
        };
        let look = |listed, Found { looks, tested }: &mut Found| {
            looks.add(listed, single, |listed| test(listed, tested));
        };
        let mut found = (self.tree).overlaps(&self.ways, &self.mesh, None, every, look);
        found.par_iter_mut().for_each(|Found { looks, tested }| {
            looks.finish(single, |listed| test(listed, tested));
        });
        self.queries += found.iter().map(|found| found.tested.queries).sum::<u64>();
        let impacts = found.into_iter().flat_map(|found| found.tested.impacts);
        let mut impacts: Vec<Impact> = impacts.collect();
        sort(&mut impacts);
        impacts
    }
}

impl Tested {
    #[inline(never)]
    fn test(&mut self, listed: &Listed, start: &[DVec3], end: &[DVec3], mode: Mode) {
        let Listed { pair, vertices } = *listed;
        let sweep = Sweep {
            start: at(start, vertices),
            end: at(end, vertices),
        };
        if box_gap(pair, &sweep.start, &sweep.end) > 0.0 {
            return;
        }
        let question = Question {
            mode,
            separation: 0.0,
        };
        let Some(answer) = ccd::answer_unless_easily_apart(pair, &sweep, question) else {
            return;
        };
        self.queries += 1;
        let (contact, certain) = match answer {
            Answer::Never => return,
            Answer::Hit(contact) => (contact, true),
            Answer::Uncertain(contact) => (contact, false),
        };
        self.impacts.push(Impact {
            pair,
            vertices,
            time: contact.time,
            weights: contact.weights,
            normal: contact.normal,
            certain,
        });
    }
}
