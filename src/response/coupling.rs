//! Near pairs, and impacts that are foreseen, as contacts within the loops of the integrator.
//!
//! A few sweeps of projected Gauss-Seidel per loop, on velocities: what is open may close to its
//! thickness, what is nearer may not approach, with Coulomb friction. The forces of a loop go on
//! acting in the next one, as far as they acted in the one before: a load does, a blow does not.
//!
//! What is too near opens at a speed that falls with the square of what it lacks, and comes to rest
//! where nothing is lacking. In proportion to it, or put there at once, it would keep stacks
//! trembling: each push travels through all layers and comes back before the sweeps have converged.
//! What is nearly closed is left to [`super::Repulsion::reopen`].
//!
//! Source: ours; \[MSL19\] for one pass in each of many short steps instead of many passes in a
//! long one. Guaranteed: linear momentum of free vertices, up to rounding. Not guaranteed: anything
//! about impacts; those that are left go to the stages.

use glam::DVec3;

use super::Pressed;
use super::contact::{Balanced, Impulse};
use crate::geometry::Pair;
use crate::touch::{Row, Touch};

/// The contacts of an interval.
pub struct Coupling {
    /// Mesh vertices that take part.
    vertices: Vec<u32>,
    contacts: Vec<Coupled>,
    /// Loops in which each of them cannot close.
    asleep: Vec<u32>,
    /// Those that push or may have to, in this loop.
    pushing: Vec<usize>,
    /// Rate at which something that is closed opens, in 1/s.
    opening: f64,
    /// In all loops together, if that is more than a few in each.
    max_sweeps: u32,
    /// Over what pushes, in one loop.
    sweeps: u32,
    /// Length of a loop, in seconds.
    h: f64,
    /// The forces of rows at the end, in newtons; none if there were no rows.
    ended: Option<Vec<DVec3>>,
    /// Which rows pressed at any time.
    has_pressed: Vec<bool>,
}

/// Sweeps over what pushes, after the one over all that is near.
const SWEEPS_OF_PUSHING: u32 = 3;

/// Loops until an open pair is looked at again, at most; sooner if it could close half of the way
/// by then.
const LONGEST_SLEEP: u32 = 8;

/// A pair that touches, or may.
pub(super) struct Coupled {
    pub(super) pair: Pair,
    pub(super) balanced: Balanced,
    /// The gap that is kept, in metres.
    pub(super) kept: f64,
    /// Whether it counts only where it is inside its features.
    is_aside: bool,
    /// The force that it begins with, in newtons.
    pub(super) force: DVec3,
    /// In kg·m/s, over one loop.
    impulse: Impulse,
    /// Along the normal, in the loop before.
    last: f64,
}

impl Coupled {
    /// `balanced` is that of velocities.
    pub(super) fn new(
        pair: Pair,
        balanced: Balanced,
        kept: f64,
        is_aside: bool,
        force: DVec3,
    ) -> Self {
        Self {
            pair,
            balanced,
            kept,
            is_aside,
            force,
            impulse: Impulse::default(),
            last: 0.0,
        }
    }
}

impl Coupling {
    /// Of contacts between mesh vertices.
    pub(super) fn new(mut contacts: Vec<Coupled>, opening: f64, max_sweeps: u32) -> Self {
        let mut vertices: Vec<u32> = (contacts.iter())
            .flat_map(|contact| contact.balanced.vertices())
            .collect();
        vertices.sort_unstable();
        vertices.dedup();
        let count = vertices.last().map_or(0, |&last| last as usize + 1);
        let mut places = vec![0; count];
        for (&v, place) in vertices.iter().zip(0u32..) {
            places[v as usize] = place;
        }
        for contact in &mut contacts {
            contact.balanced.renumber(|v| places[v as usize]);
        }
        Self {
            vertices,
            asleep: vec![0; contacts.len()],
            contacts,
            pushing: Vec::new(),
            opening,
            max_sweeps,
            sweeps: 0,
            h: 0.0,
            ended: None,
            has_pressed: Vec::new(),
        }
    }

    /// Adds those of another, and returns their rows.
    pub(crate) fn add(&mut self, more: Self) -> Vec<Row> {
        let rows = more.rows();
        let first = self.vertices.len() as u32;
        self.vertices.extend(more.vertices);
        self.asleep.extend(more.asleep);
        self.contacts
            .extend(more.contacts.into_iter().map(|mut contact| {
                contact.balanced.renumber(|place| first + place);
                contact
            }));
        rows
    }

    /// The pairs that may touch, in the order of their rows.
    pub fn pairs(&self) -> impl Iterator<Item = Pair> {
        self.contacts.iter().map(|contact| contact.pair)
    }

    /// That of a row.
    pub(crate) fn pair(&self, row: u32) -> Pair {
        self.contacts[row as usize].pair
    }

    /// The pairs that pressed at any time, as rows; otherwise those that press at the end.
    pub(crate) fn pressing(&self) -> impl Iterator<Item = Pair> {
        let has_pressed = |(number, contact): &(usize, &Coupled)| match self.ended {
            Some(_) => self.has_pressed[*number],
            None => contact.impulse.normal > 0.0,
        };
        let pressing = self.contacts.iter().enumerate().filter(has_pressed);
        pressing.map(|(_, contact)| contact.pair)
    }

    /// The forces at the end, by pair.
    pub fn pressed(&self) -> Vec<Pressed> {
        let of_impulse = |contact: &Coupled| match contact.impulse.normal > 0.0 {
            true => contact.balanced.along(contact.impulse) / self.h,
            false => DVec3::ZERO,
        };
        let forces = match &self.ended {
            Some(forces) => forces.clone(),
            None => self.contacts.iter().map(of_impulse).collect(),
        };
        let each = self.contacts.iter().zip(forces);
        let pressing = each.filter(|(_, force)| *force != DVec3::ZERO);
        let mut pressed: Vec<Pressed> = pressing
            .map(|(contact, force)| Pressed {
                pair: contact.pair,
                force,
                settling: DVec3::ZERO,
            })
            .collect();
        pressed.sort_unstable_by_key(|pressed| pressed.pair);
        pressed
    }
}

impl Touch for Coupling {
    fn vertices(&self) -> &[u32] {
        &self.vertices
    }

    fn rows(&self) -> Vec<Row> {
        let row = |contact: &Coupled| {
            let point = contact.balanced.point();
            Row {
                vertices: point.vertices.map(|place| self.vertices[place as usize]),
                is_edge_edge: matches!(contact.pair, Pair::EdgeEdge { .. }),
                weights: point.weights,
                normal: point.normal,
                kept: contact.kept,
                opening: self.opening,
                is_aside: contact.is_aside,
                friction: contact.balanced.friction(),
                force: contact.force,
            }
        };
        self.contacts.iter().map(row).collect()
    }

    fn press(&mut self, forces: &[DVec3], has_pressed: &[bool]) {
        self.ended = Some(forces.to_vec());
        self.has_pressed = has_pressed.to_vec();
    }

    fn begin(&mut self, h: f64, loops: u32, forces: &mut [DVec3]) {
        self.h = h;
        self.sweeps = (self.max_sweeps / loops).max(SWEEPS_OF_PUSHING);
        forces.fill(DVec3::ZERO);
        for contact in &mut self.contacts {
            contact.impulse = contact.balanced.guess(h * contact.force);
            contact.last = contact.impulse.normal;
            contact.balanced.add_force(contact.impulse, 1.0 / h, forces);
        }
    }

    fn act(&mut self, h: f64, x: &[DVec3], v: &mut [DVec3], forces: &mut [DVec3]) {
        self.pushing.clear();
        for (i, asleep) in self.asleep.iter_mut().enumerate() {
            if *asleep > 0 {
                *asleep -= 1;
                continue;
            }
            let contact = &mut self.contacts[i];
            let room = contact.balanced.gap(x) - contact.kept;
            contact.balanced.target = if room > 0.0 {
                -room / h
            } else {
                let lack = (-room).min(contact.kept);
                self.opening * lack * (lack / contact.kept)
            };
            let speed = contact.balanced.gap(v);
            if contact.impulse.normal == 0.0 && speed >= contact.balanced.target {
                let loops = 0.5 * contact.balanced.target / speed.min(-f64::MIN_POSITIVE);
                *asleep = loops.clamp(0.0, f64::from(LONGEST_SLEEP)) as u32;
                contact.last = 0.0;
                continue;
            }
            contact.balanced.balance(&mut contact.impulse, v);
            self.pushing.push(i);
        }
        for _ in 0..self.sweeps {
            for &i in &self.pushing {
                let contact = &mut self.contacts[i];
                if contact.impulse.normal > 0.0 {
                    contact.balanced.balance(&mut contact.impulse, v);
                }
            }
        }
        forces.fill(DVec3::ZERO);
        for &i in &self.pushing {
            let contact = &mut self.contacts[i];
            let pressed = contact.impulse.normal;
            if pressed > contact.last {
                contact.impulse = contact.impulse.times(contact.last / pressed);
            }
            contact.last = pressed;
            contact.balanced.add_force(contact.impulse, 1.0 / h, forces);
        }
    }
}
