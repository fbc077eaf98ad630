//! Zones of connected impacts are solved as a whole: the approach stops, the sliding does not.
//!
//! Impulses one at a time undo each other in a pile; a rigid zone glues it together. This stage
//! finds the least change of motion, in the mass norm, after which no contact of a zone approaches:
//! what is dissipated is what inelastic impacts dissipate, and every motion along the contacts is
//! kept. Source: \[HVTG08\], Algorithm 1.
//!
//! ```text
//! p' = p + ∇Cᵀ λ      ∇C M⁻¹ ∇Cᵀ λ = −∇C q̇        gradients at the time of impact, normalized
//! ```
//!
//! Contacts stay on the list once found. A zone that meets something grows by it, goes back to the
//! motion that it had before the stage, and is solved again with all of its contacts.
//!
//! We differ, unless `form = "paper"`:
//! - λ ≥ 0: contacts push and never pull, where the paper's equality "sticks"; see [`coulomb`].
//! - Gaps instead of velocities: a contact may close in to its thickness, or to its start gap if
//!   that is less: the rule of the impulses, so that one impact alone gets the impulse that they
//!   would give it.
//! - A friction cone for each contact, with its own μ.
//! - A pair that is met again is linearised anew at its new time of impact, in place of the old;
//!   one that keeps coming back is kept in all its versions, so that two of them cannot alternate.
//! - Zones start from the impulses of the round before.
//! - Scripted vertices do not connect zones: no impulse passes through them. (In the paper's form
//!   they do, because its friction is one for all that a zone holds.)
//!
//! Guaranteed: linear momentum of free vertices, up to rounding; kinetic energy of the mean motion
//! does not grow where no scripted vertex moves. A zone that cannot be solved is left as it was
//! before the stage, for the next stage, and counted ([`super::Response::unsolved`]). Not
//! guaranteed: that zones stop growing within `max_rounds`.

mod active_set;
mod bounded;
pub mod coulomb;
mod joint;
mod lsmr;
pub mod paper;
pub mod pinch;
mod rows;
pub mod zone;

use std::collections::BTreeMap;

use glam::DVec3;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::pinch::{Certificate, infeasible_subset, is_limit, limit};
use self::rows::Rows;
use self::zone::{Contact, Solution, Unsolved, Zone};
use super::zones::Sets;
use crate::geometry::{ContactPoint, Impact, Pair};
use crate::state::Candidate;

/// Settings of the inelastic projection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Inelastic {
    /// Rounds before the next stage takes over; a zone may need one for each layer of a pile. 0 switches the stage off.
    pub max_rounds: u32,
    /// What is solved for each zone.
    pub form: Form,
}

/// How closely zones are solved, and how much may be spent on it: not a matter of scenes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precision {
    /// What a contact may lack after the solve, as a share of the gap that it must keep; impacts are judged by half of that gap, so that it
    /// must be below 0.5.
    pub tolerance: f64,
    /// Zones of at most this many contacts are solved by a dense, rank-revealing method, others by iteration.
    pub dense_limit: u32,
    /// Iterations after which a large zone counts as unsolved.
    pub max_iterations: u32,
}

impl Precision {
    /// That of the stage: a fifth of what impacts are judged by, and a bound on iterations that keeps one zone from stalling a run.
    pub const STAGE: Self = Self {
        tolerance: 0.1,
        dense_limit: 64,
        max_iterations: 20_000,
    };
}

/// What the inelastic projection solves for each zone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// Contacts push and never pull, with a friction cone each: ours.
    #[default]
    Coulomb,
    /// The same, but a round takes up only the earliest impacts of each connected group (those of a quarter of the interval), so that what
    /// they prevent is not answered: less energy lost in long intervals, more rounds.
    Causal,
    /// No contact moves along its normal, one friction for the whole zone \[HVTG08\].
    Paper,
}

impl Default for Inelastic {
    fn default() -> Self {
        Self {
            max_rounds: 100,
            form: Form::Coulomb,
        }
    }
}

/// Impacts of a group that follow its earliest within this share of the interval count as
/// simultaneous. Measured: at 1/16 a little more sliding is kept and twice the time spent
/// (docs/measurements.md).
const SIMULTANEOUS: f64 = 0.25;

/// Times that a pair is linearised anew before its older versions stay on the list.
const MAX_REPLACED: u32 = 3;

/// A contact of a zone, in the numbers of the mesh.
#[derive(Clone, Copy)]
struct Known {
    point: ContactPoint,
    contact: Contact,
}

/// Contacts of all rounds, zones, and where vertices wanted to go.
pub(super) struct Zones {
    sets: Sets,
    wanted: Vec<DVec3>,
    contacts: Vec<Known>,
    /// Newest contact of a pair, and how often it was linearised anew.
    newest: BTreeMap<Pair, (usize, u32)>,
    /// 1 where zones grow together.
    connects: Vec<f64>,
    /// By root: zones without a solution, with the number of their contacts then.
    unsolved: BTreeMap<u32, usize>,
    /// Whether contacts that leave no room for one another give up part of their gaps.
    squeezes: bool,
    /// What proves that a zone has no room at all, least room first.
    pinched: Option<Pinched>,
}

/// Contact points with multipliers that prove that scripted vertices leave no room; see
/// [`Certificate`].
#[derive(Clone, Debug)]
pub struct Pinched {
    /// Points with their multipliers.
    pub points: Vec<(ContactPoint, f64)>,
    /// The room that is left, in metres; not positive.
    pub room: f64,
    /// How far free vertices may go along each axis, in metres.
    pub reach: f64,
}

impl Zones {
    /// Zones whose contacts give up part of their gaps where there is not room for all of them.
    pub(super) fn squeezing(candidate: &Candidate<'_>) -> Self {
        Self {
            squeezes: true,
            ..Self::new(candidate, Form::Coulomb)
        }
    }

    pub(super) fn pinched(&mut self) -> Option<Pinched> {
        self.pinched.take()
    }

    pub(super) fn new(candidate: &Candidate<'_>, form: Form) -> Self {
        let n = candidate.x.len();
        let connects = match form {
            Form::Coulomb | Form::Causal => candidate.inverse_mass.to_vec(),
            Form::Paper => vec![1.0; n],
        };
        Self {
            sets: Sets::new(n),
            wanted: candidate.x.clone(),
            contacts: Vec::new(),
            newest: BTreeMap::new(),
            connects,
            unsolved: BTreeMap::new(),
            squeezes: false,
            pinched: None,
        }
    }

    /// Points with an impulse.
    pub(super) fn pushed(&self) -> impl Iterator<Item = ContactPoint> {
        let pushed = self
            .contacts
            .iter()
            .filter(|known| known.contact.warm > 0.0);
        pushed.map(|known| known.point)
    }

    /// How many zones have no solution.
    pub(super) fn unsolved(&self) -> usize {
        self.unsolved.len()
    }

    /// The earliest impacts of each group that is connected by impacts and zones.
    fn earliest(&self, impacts: &[Impact]) -> Vec<Impact> {
        let mut groups = self.sets.clone();
        for impact in impacts {
            groups.merge(impact.vertices, &self.connects);
        }
        let mut group_of = |impact: &Impact| {
            let mut vertices = impact.vertices.iter();
            let first = vertices.find(|&&v| self.connects[v as usize] > 0.0)?;
            Some(groups.root(*first))
        };
        let mut first: BTreeMap<u32, f64> = BTreeMap::new();
        for impact in impacts {
            if let Some(group) = group_of(impact) {
                let time = first.entry(group).or_insert(f64::INFINITY);
                *time = time.min(impact.time);
            }
        }
        let is_early = |impact: &&Impact| {
            group_of(impact).is_some_and(|group| impact.time <= first[&group] + SIMULTANEOUS)
        };
        impacts.iter().filter(is_early).copied().collect()
    }

    /// Takes up an impact; returns a vertex of its zone, none if nothing can move.
    fn add(&mut self, impact: &Impact, form: Form, candidate: &Candidate<'_>) -> Option<u32> {
        let point = impact.point();
        if candidate.inverse_mass_of(&point) == 0.0 {
            return None;
        }
        if form == Form::Paper && is_parallel(impact, candidate) {
            return None; // found as an impact of a vertex and a face, too
        }
        let mut known = Known {
            point,
            contact: Contact::of(&point, candidate),
        };
        if self.squeezes {
            known.contact.friction = 0.0; // whether there is room does not depend on it
        }
        let next = self.contacts.len();
        let newest = self.newest.entry(impact.pair).or_insert((next, 0));
        let replaces = form != Form::Paper && newest.0 < next && newest.1 < MAX_REPLACED;
        if replaces {
            newest.1 += 1;
            known.contact.warm = self.contacts[newest.0].contact.warm;
            self.contacts[newest.0] = known;
        } else {
            newest.0 = next;
            self.contacts.push(known);
        }
        self.sets
            .merge(impact.vertices, &self.connects)
            .first()
            .copied()
    }
}

/// A zone after its solve.
struct Solved<'a> {
    /// Root, and number of each contact.
    members: &'a [(u32, usize)],
    zone: Zone,
    vertices: Vec<u32>,
    solution: Result<Solution, Unsolved>,
    pinched: Option<Certificate>,
}

impl Zones {
    /// The contacts of the zones with these roots, which ascend: root and number, ascending.
    fn members_of(&mut self, roots: &[u32]) -> Vec<(u32, usize)> {
        let mut members: Vec<(u32, usize)> = Vec::new();
        for (number, known) in self.contacts.iter().enumerate() {
            let vertices = known.point.vertices.iter();
            let mut connecting = vertices.filter(|&&v| self.connects[v as usize] > 0.0);
            let &first = connecting.next().expect("contacts can move something");
            let root = self.sets.root(first);
            if roots.binary_search(&root).is_ok() {
                members.push((root, number));
            }
        }
        members.sort_unstable();
        members
    }

    /// Moves vertices to where their zones have them, and remembers what the next round needs;
    /// returns those that moved, ascending.
    fn keep(&mut self, solved: Vec<Solved<'_>>, candidate: &mut Candidate<'_>) -> Vec<u32> {
        let mut changed = Vec::new();
        for Solved {
            members,
            zone,
            vertices,
            solution,
            pinched,
        } in solved
        {
            if self.squeezes {
                for (member, squeezed) in members.iter().zip(&zone.contacts) {
                    let contact = &mut self.contacts[member.1].contact;
                    (contact.target, contact.scale) = (squeezed.target, squeezed.scale);
                }
            }
            if let Some(certificate) = pinched {
                self.keep_pinched(&certificate, members);
            }
            let root = members[0].0;
            let x = match solution {
                Ok(solution) => {
                    self.unsolved.remove(&root);
                    for (member, impulse) in members.iter().zip(&solution.impulses) {
                        self.contacts[member.1].contact.warm = *impulse;
                    }
                    solution.x
                }
                Err(_) => {
                    self.unsolved.insert(root, members.len());
                    zone.wanted // for the next stage as it came
                }
            };
            for (&v, x) in vertices.iter().zip(&x) {
                if candidate.inverse_mass[v as usize] > 0.0 && candidate.x[v as usize] != *x {
                    candidate.x[v as usize] = *x;
                    changed.push(v);
                }
            }
        }
        changed.sort_unstable();
        changed
    }
}

impl Inelastic {
    pub(super) fn apply(
        &self,
        impacts: &[Impact],
        zones: &mut Zones,
        candidate: &mut Candidate<'_>,
    ) -> Vec<u32> {
        let earliest;
        let impacts = if self.form == Form::Causal {
            earliest = zones.earliest(impacts);
            &earliest[..]
        } else {
            impacts
        };
        let met: Vec<u32> = impacts
            .iter()
            .filter_map(|impact| zones.add(impact, self.form, candidate))
            .collect();
        let mut roots: Vec<u32> = met.into_iter().map(|v| zones.sets.root(v)).collect();
        roots.sort_unstable();
        roots.dedup();
        zones.unsolved = std::mem::take(&mut zones.unsolved)
            .into_iter()
            .map(|(root, count)| (zones.sets.root(root), count))
            .collect();

        let members = zones.members_of(&roots);
        // a zone without a solution has none until it grows
        let groups: Vec<&[(u32, usize)]> = members
            .chunk_by(|a, b| a.0 == b.0)
            .filter(|group| zones.unsolved.get(&group[0].0) != Some(&group.len()))
            .collect();
        let solved: Vec<Solved<'_>> = groups
            .into_par_iter()
            .map(|group| {
                let (mut zone, vertices) = zones.zone_of(group, candidate);
                let (solution, pinched) = match zones.squeezes {
                    false => (self.solve(&zone, &Precision::STAGE), None),
                    true => self.squeeze(&mut zone, &super::squeeze::PRECISION),
                };
                Solved {
                    members: group,
                    zone,
                    vertices,
                    solution,
                    pinched,
                }
            })
            .collect();
        zones.keep(solved, candidate)
    }

    /// Solves one zone.
    ///
    /// # Errors
    /// Scripted vertices that leave no room, or too many iterations.
    pub fn solve(&self, zone: &Zone, precision: &Precision) -> Result<Solution, Unsolved> {
        match self.form {
            Form::Coulomb | Form::Causal => coulomb::solve(zone, None, precision),
            Form::Paper => paper::solve(zone, precision),
        }
    }
}

/// Of the room that there is, the share that contacts are given which cannot have all: the rest is
/// for what a contact does besides what its linearisation says.
const ROOM_SHARE: f64 = 0.5;

/// Times that contacts of one zone give up part of their gaps, or that more of its vertices are
/// limited.
const MAX_SQUEEZES: usize = 64;

impl Inelastic {
    /// Solves a zone, with no vertex going further than an edge is long; where not all contacts can keep their gaps, all keep
    /// the share that there is room for where they exclude one another. A certificate is returned where there is none.
    fn squeeze(
        &self,
        zone: &mut Zone,
        precision: &Precision,
    ) -> (Result<Solution, Unsolved>, Option<Certificate>) {
        let reach = zone.longest_edge();
        for _ in 0..MAX_SQUEEZES {
            let unsolved = match self.solve(zone, precision) {
                Ok(solution) if limit(zone, &solution.x, reach) => continue,
                Ok(solution) => return (Ok(solution), None),
                Err(unsolved) => unsolved,
            };
            let certificate = match &unsolved {
                Unsolved::Pinched(farkas) => Certificate::of(zone, farkas),
                Unsolved::Iterations(_) => infeasible_subset(zone),
            };
            match certificate {
                Some(certificate) if certificate.room <= 0.0 => {
                    return (Err(unsolved), Some(certificate));
                }
                Some(certificate) if certificate.room < certificate.asked => {
                    let share = ROOM_SHARE * certificate.room / certificate.asked;
                    // all of the zone alike: what is squeezed here is squeezed next to it, too
                    for contact in zone.contacts.iter_mut().filter(|c| !is_limit(c)) {
                        contact.target *= share;
                        contact.scale = contact.target;
                    }
                }
                _ => return (Err(unsolved), None),
            }
        }
        (Err(Unsolved::Iterations(0)), None)
    }
}

impl Zones {
    fn keep_pinched(&mut self, certificate: &Certificate, group: &[(u32, usize)]) {
        let least = self.pinched.as_ref().map(|pinched| pinched.room);
        if least.is_none_or(|least| certificate.room < least) {
            let each = certificate.multipliers.iter();
            let point = |&(i, l): &(usize, f64)| (self.contacts[group[i].1].point, l);
            self.pinched = Some(Pinched {
                points: each.map(point).collect(),
                room: certificate.room,
                reach: certificate.reach,
            });
        }
    }

    /// A zone in numbers of its own, and which vertices they stand for.
    fn zone_of(&self, group: &[(u32, usize)], candidate: &Candidate<'_>) -> (Zone, Vec<u32>) {
        let contacts = group
            .iter()
            .map(|&(_, number)| &self.contacts[number].contact);
        Zone::of(contacts, &self.wanted, candidate)
    }
}

/// Whether an impact is one of two edges that are parallel when they meet, up to the rounding of
/// their positions.
fn is_parallel(impact: &Impact, candidate: &Candidate<'_>) -> bool {
    if impact.is_vertex_face() {
        return false;
    }
    let (start, t) = (candidate.start.positions(), impact.time);
    let x = impact.vertices.map(|v| {
        let v = v as usize;
        start[v] * (1.0 - t) + candidate.x[v] * t
    });
    let (a, b) = (x[1] - x[0], x[3] - x[2]);
    let size = x
        .iter()
        .fold(0.0f64, |most, x| most.max(x.abs().max_element()));
    // each position is rounded three times and each product once: 8 ε covers an edge's share of a ×
    // b
    let rounding = 8.0 * f64::EPSILON * size * (a.length() + b.length());
    a.cross(b).length() <= rounding
}
