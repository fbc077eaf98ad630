//! Contact forces that outlast the interval in which they were found.
//!
//! What lies at rest needs the same forces again. Sweeps that begin with them are short. More than that: the integrator is given
//! them, so that they act *while* the forces of the cloth do. Without them cloth under load falls or springs into what it lies on in
//! every interval, and is moved back as if its vertices were free: contact and elasticity in turn settle on a compromise that depends on
//! the length of the interval. With them a cloth at rest is proposed to stay where it is. Sweeps then find only what is lacking, or too much,
//! and since a force does more to free masses than to masses that hold each other, the sum of what they find converges.
//!
//! Not in the papers, which know no forces between intervals. Three things need care:
//! - Only what pressed in two intervals in a row is given to the integrator: the shock of an impact is over.
//! - Friction is not: it holds things that would otherwise move, and would move things that it need not hold any more.
//! - Pairs come and go while vertices stay where they are. So loads are kept by vertex, and what touches now is asked to bear them.

use std::iter;

use glam::DVec3;

use super::contact::{Balanced, Impulse};
use crate::geometry::{Pair, Proximity};
use crate::state::Candidate;

/// The contact force of a near pair over one interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pressed {
    /// What touches.
    pub pair: Pair,
    /// On the first feature, in newtons, with friction.
    pub force: DVec3,
}

/// The contact force on a vertex over one interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Borne {
    /// In newtons.
    pub force: DVec3,
    /// The same, at most as strong as in the interval before.
    pub steady: DVec3,
}

/// All contact forces of an interval: what the next one begins with.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Forces {
    /// By pair, ascending.
    pub pressed: Vec<Pressed>,
    /// By vertex; empty before the first interval.
    pub borne: Vec<Borne>,
}

impl Forces {
    /// Forces at the points of near pairs, after an interval that began with `before`.
    pub(super) fn new(
        near: &[Proximity],
        forces: &[DVec3],
        before: &[Borne],
        count: usize,
    ) -> Self {
        let pressed = near.iter().zip(forces).filter(|(_, f)| **f != DVec3::ZERO);
        let pressed = pressed.map(|(near, &force)| Pressed {
            pair: near.pair,
            force,
        });
        let before = before.iter().copied();
        let before = before.chain(iter::repeat(Borne::default()));
        let on_vertices = on_vertices(near, forces.iter().copied(), count);
        let borne = on_vertices.into_iter().zip(before);
        Self {
            pressed: pressed.collect(),
            borne: borne
                .map(|(force, before)| Borne {
                    force,
                    steady: force.clamp_length_max(before.force.length()),
                })
                .collect(),
        }
    }
}

/// Forces on all vertices, in newtons, from those at contact points.
fn on_vertices(
    near: &[Proximity],
    forces: impl Iterator<Item = DVec3>,
    count: usize,
) -> Vec<DVec3> {
    let mut sum = vec![DVec3::ZERO; count];
    for (near, force) in near.iter().zip(forces) {
        for (&v, weight) in near.vertices.iter().zip(near.weights) {
            sum[v as usize] += weight * force;
        }
    }
    sum
}

/// What the forces of the interval before are at the contact points of this one.
#[derive(Clone, Debug, Default)]
pub struct Carried {
    /// Of the way F dt²/m of a free mass, what the integrator goes in the interval; the rest is left in its velocity.
    part: f64,
    each: Vec<Recalled>,
}

/// Forces at one contact point, in newtons.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Recalled {
    /// To begin the sweeps with, with friction.
    force: DVec3,
    /// What of it the integrator is given, along the normal.
    steady: DVec3,
}

/// Passes over what touches until it bears the loads of the interval before; what they leave is found by the sweeps of the repulsions.
const BEARING_SWEEPS: usize = 20;
/// They end when none changes the acceleration at a point by more than this share of the largest.
const BEARING_TOLERANCE: f64 = 0.01;

impl Carried {
    /// Recalls forces for what is near at the start of a candidate.
    pub(super) fn new(
        near: &[Proximity],
        touches: impl Fn(&Proximity) -> bool,
        before: &Forces,
        part: f64,
        candidate: &Candidate<'_>,
    ) -> Self {
        if before.pressed.is_empty() {
            let each = Vec::new();
            return Self { part, each };
        }
        let Candidate { inverse_mass, .. } = *candidate;
        let recalled = near.iter().map(|near| {
            let pressed = &before.pressed;
            let place = pressed.binary_search_by_key(&near.pair, |pressed| pressed.pair);
            place.map_or(DVec3::ZERO, |place| pressed[place].force)
        });
        let recalled: Vec<DVec3> = recalled.collect();

        // accelerations by what was borne, taken back by what bears now
        let loads = before.borne.iter().zip(inverse_mass);
        let mut motion: Vec<DVec3> = loads.map(|(borne, w)| -*w * borne.steady).collect();
        let largest = motion.iter().fold(0.0, |most: f64, a| most.max(a.length()));
        let touching: Vec<(usize, Balanced)> = (near.iter().enumerate())
            .filter_map(|(i, near)| {
                let point = near.point();
                let friction = candidate.friction_of(&point);
                let new = || Balanced::new(point, inverse_mass, 0.0, DVec3::ZERO, friction);
                touches(near).then(|| (i, new()))
            })
            .collect();
        let mut impulses: Vec<Impulse> = touching
            .iter()
            .map(|(i, contact)| {
                let vertices = near[*i].vertices.iter();
                let shares = vertices.map(|&v| share_of(before.borne[v as usize]));
                let share = shares.fold(1.0, f64::min);
                contact.begin(share * recalled[*i], DVec3::ZERO, &mut motion)
            })
            .collect();
        for _ in 0..BEARING_SWEEPS {
            let mut most: f64 = 0.0;
            for ((_, contact), impulse) in touching.iter().zip(&mut impulses) {
                most = most.max(contact.balance(impulse, &mut motion));
            }
            if most <= BEARING_TOLERANCE * largest {
                break;
            }
        }
        let mut each: Vec<Recalled> = (recalled.iter())
            .map(|&force| Recalled {
                force,
                steady: DVec3::ZERO,
            })
            .collect();
        for ((i, _), impulse) in touching.iter().zip(impulses) {
            let Recalled { force, steady } = &mut each[*i];
            *steady = impulse.normal * near[*i].normal;
            if force.length() < steady.length() {
                *force = *steady;
            }
        }
        Self { part, each }
    }

    /// The steady forces on all vertices, in newtons, for the integrator.
    pub fn on_vertices(&self, near: &[Proximity], count: usize) -> Vec<DVec3> {
        on_vertices(near, self.each.iter().map(|each| each.steady), count)
    }

    fn each(&self) -> impl Iterator<Item = Recalled> {
        let each = self.each.iter().copied();
        each.chain(iter::repeat(Recalled::default()))
    }

    /// For each of the near pairs: what to begin with, and what of it the candidate shows already; impulses for positions over `dt`, in kg·m.
    pub(super) fn impulses(&self, dt: f64) -> impl Iterator<Item = [DVec3; 2]> {
        let way = self.part * dt * dt;
        self.each()
            .map(move |recalled| [way * recalled.force, way * recalled.steady])
    }

    /// For each of the near pairs: what velocities may need, and what of it they show already, in newtons.
    pub(super) fn settling(&self) -> impl Iterator<Item = [DVec3; 2]> {
        let rest = 1.0 - self.part;
        self.each()
            .map(move |recalled| [rest * recalled.force, rest * recalled.steady])
    }

    /// The force that moves a free mass by as much as an impulse for positions over `dt`.
    ///
    /// What velocities need in addition does not count for the next interval: the end velocity of something elastic may have either sign under
    /// a push, and a force corrected by it would grow; its way has the sign of the push.
    pub(super) fn force_of(&self, impulse: DVec3, dt: f64) -> DVec3 {
        let part = if self.part > 0.0 { self.part } else { 1.0 };
        impulse / (part * dt * dt)
    }
}

/// The steady share of what a vertex bears.
fn share_of(borne: Borne) -> f64 {
    let whole = borne.force.length();
    if whole > 0.0 {
        borne.steady.length() / whole
    } else {
        1.0
    }
}
