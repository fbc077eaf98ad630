//! Contact in the loops of an integrator, looked for again on the way.
//!
//! What touches in an interval is foreseen as if everything went on as it does at its start. Cloth that crumples leaves
//! that way within milliseconds, and what it meets then would be left to the stages, which do not know how stiff it is.
//! So the loops tell from time to time where they are going; if that is elsewhere, what they will meet there joins them.
//! And what slides off a face or an edge goes over to the next one.

use std::collections::HashMap;

use glam::DVec3;
use rayon::prelude::*;

use super::interval::Terms;
use super::report::timed;
use crate::geometry::critical::upright;
use crate::geometry::mesh::flush_tiny;
use crate::geometry::{Collider, Impact, Pair, Proximity};
use crate::response::{Coming, Coupling};
use crate::state::Candidate;
use crate::touch::{Placed, Row, Slid, Touch};

/// Looks again at what would end further from where it was last expected than this share of its thickness.
const ASTRAY: f64 = 0.5;

/// The contacts of an interval, which become more.
pub(super) struct Looking<'a, 'b> {
    coupling: &'b mut Coupling,
    terms: Terms<'a>,
    /// Where all vertices were last expected to end; none if nothing more is looked for.
    expected: Option<Vec<DVec3>>,
    collider: &'b mut Collider,
    /// The number of each pair, of the first so many.
    numbers: HashMap<Pair, u32>,
    numbered: usize,
    /// Processor time of looking, ms.
    pub(super) spent_ms: f64,
}

impl<'a, 'b> Looking<'a, 'b> {
    pub(super) fn new(
        coupling: &'b mut Coupling,
        terms: Terms<'a>,
        expected: Option<&[DVec3]>,
        collider: &'b mut Collider,
    ) -> Self {
        Self {
            coupling,
            terms,
            expected: expected.map(<[DVec3]>::to_vec),
            collider,
            numbers: HashMap::new(),
            numbered: 0,
            spent_ms: 0.0,
        }
    }

    /// Vertices that would end elsewhere, ascending; they are expected there from now on.
    fn astray(&mut self, end: &[DVec3]) -> Vec<u32> {
        let Some(expected) = &mut self.expected else {
            return Vec::new();
        };
        let thickness = self.terms.surfaces.thickness();
        let is_astray = |v: &u32| {
            let v = *v as usize;
            end[v].distance(expected[v]) > ASTRAY * thickness[v]
        };
        let astray: Vec<u32> = (0..end.len() as u32).filter(is_astray).collect();
        for &v in &astray {
            expected[v as usize] = end[v as usize];
        }
        astray
    }

    /// Adds what these meet on the straight way from the start of the interval to `end`; its rows.
    fn add(&mut self, astray: &[u32], end: &[DVec3]) -> Vec<Row> {
        let (repulsion, span) = (&self.terms.settings.repulsion, self.terms.span);
        let mut candidate = self.terms.candidate(end.to_vec());
        flush_tiny(&mut candidate.x);
        let impacts = repulsion.impacts_of(astray, &candidate, self.collider);
        let coming = overlooked(self.coupling, &impacts, &candidate);
        let more = repulsion.couple(&[], &coming, span.share, &[], &candidate);
        self.coupling.add(more)
    }

    /// What touches where these have slid off, each once, and who takes their place.
    fn slid(&mut self, left: &[Placed], x: &[DVec3]) -> Slid {
        let pairs: Vec<Pair> = self.coupling.pairs().collect();
        let new = pairs.iter().copied().zip(0..).skip(self.numbered);
        self.numbers.extend(new);
        self.numbered = pairs.len();
        let candidate = self.terms.candidate(Vec::new());
        let (repulsion, share) = (&self.terms.settings.repulsion, self.terms.span.share);
        let left = left
            .iter()
            .map(|left| (pairs[left.row as usize], left.normal));
        let slid = repulsion.slid(&left.collect::<Vec<_>>(), x, &candidate);
        let mut near = Vec::new();
        let heir = |(next, distance): (Vec<Proximity>, f64)| {
            let mut heir = None;
            for next in next {
                let free = self.numbered as u32;
                let number = *self.numbers.entry(next.pair).or_insert(free);
                if number == free {
                    self.numbered += 1;
                    near.push(next);
                }
                // a vertex that passes an edge carries on by itself, not by its edges
                let is_edge_edge = matches!(next.pair, Pair::EdgeEdge { .. });
                let own = (is_edge_edge, next.gap);
                if next.gap <= distance && heir.is_none_or(|(best, _)| own < best) {
                    heir = Some((own, number));
                }
            }
            heir.map(|(_, number)| number)
        };
        let heirs = slid.into_iter().map(heir).collect();
        let more = repulsion.couple(&near, &[], share, &[], &candidate);
        Slid {
            rows: self.coupling.add(more),
            heirs,
        }
    }
}

impl Touch for Looking<'_, '_> {
    fn vertices(&self) -> &[u32] {
        self.coupling.vertices()
    }

    fn begin(&mut self, h: f64, loops: u32, forces: &mut [DVec3]) {
        self.coupling.begin(h, loops, forces);
    }

    fn act(&mut self, h: f64, x: &[DVec3], v: &mut [DVec3], forces: &mut [DVec3]) {
        self.coupling.act(h, x, v, forces);
    }

    fn rows(&self) -> Vec<Row> {
        self.coupling.rows()
    }

    fn look(&mut self, end: &[DVec3]) -> Vec<Row> {
        let mut spent = 0.0;
        let rows = timed(&mut spent, || {
            let astray = self.astray(end);
            match astray.is_empty() {
                true => Vec::new(),
                false => self.add(&astray, end),
            }
        });
        self.spent_ms += spent;
        rows
    }

    fn slide(&mut self, left: &[Placed], x: &[DVec3]) -> Slid {
        let mut spent = 0.0;
        let slid = timed(&mut spent, || self.slid(left, x));
        self.spent_ms += spent;
        slid
    }

    fn upright(&self, rows: &[Placed], x: &[DVec3]) -> Vec<Option<DVec3>> {
        let mesh = self.terms.start.mesh();
        let upright = |row: &Placed| {
            let pair = self.coupling.pair(row.row);
            upright(mesh, pair, &row.weights, row.normal, |v| x[v as usize])
        };
        rows.par_iter().with_min_len(64).map(upright).collect()
    }

    fn press(&mut self, forces: &[DVec3], has_pressed: &[bool]) {
        self.coupling.press(forces, has_pressed);
    }
}

/// What comes to touch in the motion of a candidate, by its impacts, and is no contact yet.
pub(super) fn overlooked(
    coupling: &Coupling,
    impacts: &[Impact],
    candidate: &Candidate<'_>,
) -> Vec<Coming> {
    let mut known: Vec<Pair> = coupling.pairs().collect();
    known.sort_unstable();
    let mut coming = Coming::of(impacts, candidate);
    coming.retain(|coming| known.binary_search(&coming.pair).is_err());
    coming
}
