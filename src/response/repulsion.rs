//! Keeps what is near apart, before anything collides.
//!
//! Features nearer than the thickness at the start of the interval are opened by a fraction of what
//! they lack; features near enough to reach the thickness within the interval are kept from passing
//! it. Friction as everywhere. Source: course notes, "Repulsions", both forms: the kinematic one
//! ("move closest points some fraction of the way to cloth thickness apart"), and the damped spring
//! with the cap of \[BFA02\]: one interval opens at most that fraction.
//!
//! We differ: several sweeps over the same proximities, each a few flops, spare rounds of detection
//! later; a push can be taken back, so that the sweeps converge to the contact forces (projected
//! Gauss-Seidel) whatever their order; and they start from the forces of the interval before, for
//! what lies at rest needs the same ones again. Where the integrator goes in loops they do all that
//! within the loops ([`Repulsion::couple`]), and only what is nearly closed is pushed open
//! afterwards. Guaranteed: linear momentum of free vertices, up to rounding. Not guaranteed:
//! anything about impacts.

use glam::DVec3;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contact::{Balanced, Impulse};
use super::coupling::{Coupled, Coupling};
use crate::geometry::critical::is_critical;
use crate::geometry::sweep::at;
use crate::geometry::{
    Asked, Closest, Collider, ContactPoint, Foreseen, Impact, Margin, Mode, Pair, Proximity, slid,
};
use crate::state::Candidate;

/// How strongly repulsions open what is too near.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RepulsionForm {
    /// By a tenth of the missing gap in every interval.
    #[default]
    Kinematic,
    /// By a spring of `stiffness`, at most by a tenth of the missing gap; approach is stopped by the share `damping`. Cloth that
    /// gives under pressure.
    Spring,
}

/// Settings of the repulsions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Repulsion {
    /// What opens a gap.
    pub form: RepulsionForm,
    /// Stiffness of a spring between two closest points, in N/m; in the spring form only.
    pub stiffness: f64,
    /// Share of the approach within the thickness that is stopped in one interval, 0 to 1; in the spring form only, the kinematic
    /// one stops all of it.
    pub damping: f64,
    /// Most passes over all proximities; 0 switches repulsions off. A stack of n layers needs several times n. In the loops of an integrator that
    /// is for all of them together, but each has four.
    pub max_sweeps: u32,
    /// Whether what is near touches within the loops of the integrator already (Newmark, kinematic form). Without, cloth under load is
    /// sent into what it lies on and put back once per interval.
    pub in_loops: bool,
    /// Passes end when no gap lacks more than this share of its thickness, at least 0. Not a key of scenes: for tests that ask what
    /// passes converge to.
    #[serde(skip)]
    pub tolerance: f64,
}

/// Share of the missing gap that one interval opens, at most in the spring form \[BFA02\]: 0 would only stop the approach, 1 pops.
const FRACTION: f64 = 0.1;

/// Proximities are looked for up to this many thicknesses: below 1 would miss some that matter, and what is a little further off may come
/// near within the interval.
const REACH: f64 = 1.5;

/// Passes end when no gap lacks more than this share of its thickness: next to what impacts are judged by, half a gap, it is nothing.
const TOLERANCE: f64 = 0.01;

impl Default for Repulsion {
    fn default() -> Self {
        Self {
            form: RepulsionForm::Kinematic,
            stiffness: 100.0,
            damping: 1.0,
            max_sweeps: 60,
            in_loops: true,
            tolerance: TOLERANCE,
        }
    }
}

/// The force of a repulsion over one interval: the first guess for the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pressed {
    /// What touches.
    pub pair: Pair,
    /// On the first feature, in newtons, with friction.
    pub force: DVec3,
    /// What had to be added to settle its velocity at the end, likewise.
    pub settling: DVec3,
}

/// A pair that comes to touch.
#[derive(Clone, Copy, Debug)]
pub struct Coming {
    /// What will touch.
    pub pair: Pair,
    /// Where, and in which direction.
    pub point: ContactPoint,
    /// The gap at which it is to stop, in metres.
    pub kept: f64,
    /// Whether something next to it is nearer when it comes.
    pub is_aside: bool,
}

impl Coming {
    /// Those of the motion of a candidate, of its impacts in the order of time: those
    /// in which nothing takes part that has gone through something already, and those where the
    /// surfaces are nearest to each other.
    pub fn of(impacts: &[Impact], candidate: &Candidate<'_>) -> Vec<Self> {
        let (mesh, x0) = (candidate.mesh(), candidate.start.positions());
        let is_nearest = |impact: &Impact| is_critical(mesh, impact, x0, &candidate.x);
        let mut has_passed = vec![false; candidate.x.len()];
        let coming = |impact: &Impact| {
            let is_aside = !is_nearest(impact);
            if impact.vertices.iter().any(|&v| has_passed[v as usize]) {
                if is_aside {
                    return None;
                }
            } else if let Pair::VertexFace { vertex, .. } = impact.pair {
                // later it meets the same surface from behind
                has_passed[vertex as usize] = candidate.inverse_mass[vertex as usize] > 0.0;
            }
            let point = impact.point();
            let (gap, end) = (point.gap(x0), point.gap(&candidate.x));
            let kept = gap + impact.time * (end - gap);
            (0.0 < kept && kept < gap).then_some(Self {
                pair: impact.pair,
                point,
                kept,
                is_aside,
            })
        };
        impacts.iter().filter_map(coming).collect()
    }
}

/// What repulsions did to a candidate.
#[derive(Clone, Debug, Default)]
pub struct Repelled {
    /// The points that had to be pushed.
    pub points: Vec<ContactPoint>,
    /// Their forces, by pair; what settled them is still that of the interval before.
    pub pressed: Vec<Pressed>,
    /// What opened that was too near, in metres by vertex: a part of the change that is no
    /// velocity. Empty if nothing did.
    pub opening: Vec<DVec3>,
}

/// What is nearer than this share of the thickness after the loops of the integrator is opened at
/// once.
const CLOSED: f64 = 0.6;

/// Sweeps over the points that push, before one over all of them again: most of what is near needs
/// no push.
const SWEEPS_OF_PUSHING: u32 = 7;

impl Repulsion {
    /// What is near at the start of the interval: for [`Repulsion::apply`], and for
    /// [`super::respond`] to know where cloth lies on something. The end positions of the candidate
    /// only spare work.
    pub fn near(&self, candidate: &Candidate<'_>, collider: &mut Collider) -> Vec<Proximity> {
        let reach = reach(candidate);
        collider.expect(candidate.motion(), &reach);
        let (x, exempt) = (candidate.start.positions(), candidate.start.exempt());
        collider.near(x, exempt, &margin(&reach, candidate), None)
    }

    /// What is near at the start of the interval, and the impacts between other features in a
    /// candidate that goes on as it did.
    pub fn foresee(&self, candidate: &Candidate<'_>, collider: &mut Collider) -> Foreseen {
        let reach = reach(candidate);
        collider.expect(candidate.motion(), &reach);
        let thickness = candidate.surfaces.thickness();
        let margins = [&reach, thickness].map(|thickness| margin(thickness, candidate));
        collider.foresee(candidate.motion(), &margins[0], &margins[1])
    }

    /// The impacts, by thickness, of the motion of a candidate in which some of its vertices take part.
    pub fn impacts_of(
        &self,
        vertices: &[u32],
        candidate: &Candidate<'_>,
        collider: &mut Collider,
    ) -> Vec<Impact> {
        let asked = Asked {
            mode: Mode::Fast,
            margin: Some(margin(candidate.surfaces.thickness(), candidate)),
        };
        let motion = candidate.motion();
        collider.look_again(motion, vertices, &asked, None).impacts
    }

    /// Where pairs with these normals have slid off their features, what is near inside its own, and the distance of the
    /// pair; all vertices are at `x`.
    pub fn slid(
        &self,
        left: &[(Pair, DVec3)],
        x: &[DVec3],
        candidate: &Candidate<'_>,
    ) -> Vec<(Vec<Proximity>, f64)> {
        let reach = reach(candidate);
        let (mesh, margin) = (candidate.mesh(), margin(&reach, candidate));
        let is_kept = |near: &Proximity| {
            let exempt = candidate.start.exempt();
            exempt.is_none_or(|exempt| !exempt.holds(near.pair))
        };
        let next = |&(pair, normal): &(Pair, DVec3)| {
            let (mut near, distance) = slid(mesh, pair, normal, x, &margin);
            near.retain(is_kept);
            (near, distance)
        };
        left.par_iter().with_min_len(64).map(next).collect()
    }

    /// Applies repulsions to a candidate of `share` of the longest interval. `before` are the forces of the interval before, by pair; they only
    /// spare sweeps.
    ///
    /// First the approach is stopped, which is a matter of forces and velocities; then what is too
    /// near is opened, which in the kinematic form is none: an opening that went on as velocity
    /// would keep cloth at rest trembling.
    pub fn apply(
        &self,
        near: &[Proximity],
        share: f64,
        before: &[Pressed],
        candidate: &mut Candidate<'_>,
    ) -> Repelled {
        if self.max_sweeps == 0 {
            return Repelled::default();
        }
        let points: Vec<ContactPoint> = near.iter().map(Proximity::point).collect();
        let (mut contacts, opened): (Vec<Repelling>, Vec<f64>) = (near.iter().zip(&points))
            .map(|(near, point)| self.contact(near, point, share, candidate))
            .unzip();
        let seconds_squared = candidate.dt * candidate.dt;
        let before_of = |near: &Proximity| pressed_before(near.pair, before);
        let x = &mut candidate.x;
        let mut impulses: Vec<Impulse> = (near.iter().zip(&contacts))
            .map(|(near, contact)| {
                let force = before_of(near).map(|before| before.force);
                let guess = seconds_squared * force.unwrap_or_default();
                contact.balanced.begin(guess, x)
            })
            .collect();
        self.balance_all(&contacts, &mut impulses, x);
        let forces: Vec<DVec3> = (impulses.iter().zip(&points))
            .map(|(impulse, point)| impulse.along(point.normal) / seconds_squared)
            .collect();

        let mut opening = Vec::new();
        if opened.iter().any(|&opened| opened > 0.0) {
            let stopped = x.clone();
            for (contact, opened) in contacts.iter_mut().zip(opened) {
                contact.balanced.target += opened;
            }
            self.balance_all(&contacts, &mut impulses, x);
            opening = x.iter().zip(stopped).map(|(x, old)| x - old).collect();
        }
        let pushed = || (0..near.len()).filter(|&i| impulses[i].normal > 0.0);
        Repelled {
            points: pushed().map(|i| points[i]).collect(),
            pressed: pushed()
                .map(|i| Pressed {
                    pair: near[i].pair,
                    force: forces[i],
                    settling: before_of(&near[i]).map_or(DVec3::ZERO, |before| before.settling),
                })
                .collect(),
            opening,
        }
    }

    /// Whether contacts in the loops of an integrator do what these repulsions would.
    pub fn couples(&self) -> bool {
        self.in_loops && self.form == RepulsionForm::Kinematic && self.max_sweeps > 0
    }

    /// Contacts for the loops of an integrator: what is near, and what comes to touch.
    /// `share` and `before` as in [`Self::apply`].
    pub fn couple(
        &self,
        near: &[Proximity],
        coming: &[Coming],
        share: f64,
        before: &[Pressed],
        candidate: &Candidate<'_>,
    ) -> Coupling {
        let pairs = near.iter().map(|near| near.pair);
        let pairs = pairs.chain(coming.iter().map(|coming| coming.pair));
        let mut handed = Handed::new(before, pairs);
        let mut coupled = |pair: Pair, point: ContactPoint, kept: f64, is_aside: bool| {
            let friction = candidate.friction_of(&point);
            let balanced = Balanced::new(point, candidate.inverse_mass, 0.0, DVec3::ZERO, friction);
            let pressed = pressed_before(pair, before).map(|before| before.force);
            let force = pressed.or_else(|| handed.take(pair)).unwrap_or_default();
            Coupled::new(pair, balanced, kept, is_aside, force)
        };
        let mut contacts: Vec<Coupled> = (near.iter())
            .map(|near| {
                let point = near.point();
                coupled(
                    near.pair,
                    point,
                    self.thickness(near, &point, candidate),
                    false,
                )
            })
            .collect();
        contacts.extend(coming.iter().map(|coming| {
            let Coming {
                pair,
                point,
                kept,
                is_aside,
            } = *coming;
            coupled(pair, point, kept, is_aside)
        }));
        Coupling::new(contacts, FRACTION * share / candidate.dt, self.max_sweeps)
    }

    /// Opens what the loops of the integrator have left nearer than six tenths of their thickness;
    /// returns by how much, by vertex.
    ///
    /// No velocity: that is a matter of the loops.
    pub fn reopen(
        &self,
        near: &[Proximity],
        share: f64,
        candidate: &mut Candidate<'_>,
    ) -> Vec<DVec3> {
        let contacts: Vec<Repelling> = (near.iter())
            .filter_map(|near| {
                let point = near.point();
                let thickness = self.thickness(near, &point, candidate);
                let floor = CLOSED * thickness;
                let lack = (floor - near.gap).max(0.0);
                let rate = FRACTION * share.max(lack / floor);
                let target = near.gap.min(floor) + rate * lack;
                let from = point.relative(&candidate.x);
                let friction = candidate.friction_of(&point);
                // by the points of the start, what has slid far may seem near
                let has_slid = from.reject_from_normalized(point.normal).length() > thickness;
                let is_open = || {
                    let closest = Closest::of(near.pair, at(&candidate.x, near.vertices));
                    closest.distance_squared >= target * target
                };
                (!has_slid || !is_open()).then(|| Repelling {
                    balanced: Balanced::new(point, candidate.inverse_mass, target, from, friction),
                    tolerance: self.tolerance * thickness,
                })
            })
            .collect();
        let mut impulses = vec![Impulse::default(); contacts.len()];
        let before = candidate.x.clone();
        self.balance_all(&contacts, &mut impulses, &mut candidate.x);
        let change = candidate.x.iter().zip(before);
        change.map(|(x, old)| x - old).collect()
    }

    /// The distance that a near pair should have, in metres: the threshold may be clamped by the
    /// rest distance of neighbours.
    fn thickness(&self, near: &Proximity, point: &ContactPoint, candidate: &Candidate<'_>) -> f64 {
        let thickness = candidate.thickness_of(point);
        thickness.min(near.threshold / REACH)
    }

    /// A near pair as a contact whose approach is stopped, and by how much it is to be opened then,
    /// in metres.
    fn contact(
        &self,
        near: &Proximity,
        point: &ContactPoint,
        share: f64,
        candidate: &Candidate<'_>,
    ) -> (Repelling, f64) {
        let thickness = self.thickness(near, point, candidate);
        let lack = (thickness - near.gap).max(0.0);
        // short intervals open as fast as whole ones together, but what is nearly closed must open faster than sweeps let it close
        let rate = FRACTION * share.max(lack / thickness);
        let (kept, opened) = (near.gap.min(thickness), rate * lack);
        let (target, opened) = match self.form {
            RepulsionForm::Kinematic => (kept, opened),
            RepulsionForm::Spring => {
                let dt = candidate.dt;
                let by_spring = self.stiffness * lack * dt * dt * candidate.inverse_mass_of(point);
                let approach = (kept - point.gap(&candidate.x)).max(0.0);
                let given = (1.0 - self.damping) * approach;
                (kept - given + opened.min(by_spring), 0.0)
            }
        };
        let from = point.relative(candidate.start.positions());
        let friction = candidate.friction_of(point);
        let contact = Repelling {
            balanced: Balanced::new(*point, candidate.inverse_mass, target, from, friction),
            tolerance: self.tolerance * thickness,
        };
        (contact, opened)
    }

    /// Passes over all contacts until none changes by more than its tolerance.
    fn balance_all(&self, contacts: &[Repelling], impulses: &mut [Impulse], x: &mut [DVec3]) {
        let all: Vec<usize> = (0..contacts.len()).collect();
        let mut pushing = Vec::new();
        for sweep in 0..self.max_sweeps {
            let is_over_all = sweep % (1 + SWEEPS_OF_PUSHING) == 0;
            let mut is_done = true;
            for &i in if is_over_all { &all } else { &pushing } {
                let Repelling {
                    balanced,
                    tolerance,
                } = &contacts[i];
                let change = balanced.balance(&mut impulses[i], x);
                is_done &= change <= *tolerance;
            }
            if is_over_all {
                if is_done {
                    break;
                }
                let pushes = |i: &usize| impulses[*i].normal > 0.0;
                pushing = all.iter().copied().filter(pushes).collect();
            }
        }
    }
}

/// How far proximities are looked for, in metres by vertex.
fn reach(candidate: &Candidate<'_>) -> Vec<f64> {
    let thickness = candidate.surfaces.thickness().iter();
    thickness.map(|h| REACH * h).collect()
}

fn margin<'a>(thickness: &'a [f64], candidate: &Candidate<'a>) -> Margin<'a> {
    Margin {
        thickness,
        rest: candidate.surfaces.rest(),
        gap: None,
    }
}

fn pressed_before(pair: Pair, before: &[Pressed]) -> Option<&Pressed> {
    let place = before.binary_search_by_key(&pair, |pressed| pressed.pair);
    place.ok().map(|place| &before[place])
}

/// Forces of vertices on faces that they have left: what slides from one face to the next is still
/// pressed.
struct Handed {
    /// By vertex, ascending.
    forces: Vec<(u32, DVec3)>,
}

impl Handed {
    /// Of pairs that were pressed before and are not among those now.
    fn new(before: &[Pressed], now: impl Iterator<Item = Pair>) -> Self {
        let mut now: Vec<Pair> = now.collect();
        now.sort_unstable();
        let left = before
            .iter()
            .filter(|p| now.binary_search(&p.pair).is_err());
        let of_vertex = left.filter_map(|p| match p.pair {
            Pair::VertexFace { vertex, .. } => Some((vertex, p.force)),
            Pair::EdgeEdge { .. } => None,
        });
        let mut forces: Vec<(u32, DVec3)> = of_vertex.collect();
        forces.sort_by_key(|&(vertex, _)| vertex);
        Self { forces }
    }

    /// The force of a vertex, once.
    fn take(&mut self, pair: Pair) -> Option<DVec3> {
        let Pair::VertexFace { vertex, .. } = pair else {
            return None;
        };
        let first = self.forces.partition_point(|&(v, _)| v < vertex);
        let (_, force) = self.forces.get_mut(first).filter(|(v, _)| *v == vertex)?;
        Some(std::mem::take(force))
    }
}

/// A near pair in the sweeps.
struct Repelling {
    balanced: Balanced,
    /// In metres.
    tolerance: f64,
}
