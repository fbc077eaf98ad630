//! One zone: vertices and linearised contacts, as plain data that can be written down and solved
//! again.

use glam::DVec3;
use serde::{Deserialize, Serialize};

use crate::geometry::ContactPoint;
use crate::state::Candidate;

/// Below this share of the thickness a start gap no longer sets the scale of tolerances.
const LEAST_SCALE: f64 = 1e-6;

/// Vertices that are connected by contacts, with where they wanted to go.
///
/// It knows nothing of the mesh that it was taken from, so that a hard one can be kept in a file
/// and solved again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Zone {
    /// 1/kg for each vertex; 0 for scripted ones.
    pub inverse_mass: Vec<f64>,
    /// Positions at the start, in metres.
    pub start: Vec<DVec3>,
    /// End positions before any response, in metres.
    pub wanted: Vec<DVec3>,
    /// Contacts, each with at least one free vertex.
    pub contacts: Vec<Contact>,
}

/// A contact, linearised at its time of impact.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Contact {
    /// Its four vertices, by number in the zone.
    pub vertices: [u32; 4],
    /// Signed weights; see [`crate::geometry::Impact`].
    pub weights: [f64; 4],
    /// Unit vector along which the features approach.
    pub normal: DVec3,
    /// End gap that it must keep, in metres; at most its start gap.
    pub target: f64,
    /// What counts as closed in this contact, in metres: tolerances are shares of it.
    pub scale: f64,
    /// Coulomb coefficient.
    pub friction: f64,
    /// Impulse of an earlier solution, in kg·m: where the next one starts from.
    pub warm: f64,
}

/// How a zone was solved.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// End positions of all vertices, in metres; scripted ones where they were.
    pub x: Vec<DVec3>,
    /// Normal impulse of each contact, in kg·m.
    pub impulses: Vec<f64>,
    /// Friction impulse of each contact, in kg·m, as it acts on the first feature.
    pub friction: Vec<DVec3>,
    /// Iterations of all solvers.
    pub iterations: u32,
}

/// Why a zone has no solution.
#[derive(Clone, Debug, PartialEq)]
pub enum Unsolved {
    /// Scripted vertices leave no room, proved: these impulses push against each other without
    /// moving anything (a Farkas vector: contact number, share).
    Pinched(Vec<(usize, f64)>),
    /// The solver ran out of iterations.
    Iterations(u32),
}

impl Contact {
    /// A contact that may close in to its thickness, or to its start gap if that is less.
    pub(in crate::response) fn of(point: &ContactPoint, candidate: &Candidate<'_>) -> Self {
        let start_gap = point.gap(candidate.start.positions());
        let thickness = candidate.thickness_of(point);
        let target = start_gap.min(thickness);
        Self {
            vertices: point.vertices, // of the mesh, until its zone is put together
            weights: point.weights,
            normal: point.normal,
            target,
            scale: target.max(LEAST_SCALE * thickness),
            friction: candidate.friction_of(point),
            warm: 0.0,
        }
    }

    /// `Σ wᵢ xᵢ` of a vertex quantity of the zone.
    pub fn relative(&self, x: &[DVec3]) -> DVec3 {
        let each = self.vertices.iter().zip(self.weights);
        each.map(|(&v, w)| w * x[v as usize]).sum()
    }

    /// Gap along the normal, in metres.
    pub fn gap(&self, x: &[DVec3]) -> f64 {
        self.relative(x).dot(self.normal)
    }

    /// `Σ wᵢ²/mᵢ`, in 1/kg.
    pub fn inverse_mass(&self, inverse_mass: &[f64]) -> f64 {
        let each = self.vertices.iter().zip(self.weights);
        each.map(|(&v, w)| w * w * inverse_mass[v as usize]).sum()
    }
}

impl Zone {
    /// Of contacts between vertices of a mesh, which wanted to go to `wanted`; in numbers of its own, and which vertices these
    /// stand for.
    pub(in crate::response) fn of<'a>(
        contacts: impl Iterator<Item = &'a Contact> + Clone,
        wanted: &[DVec3],
        candidate: &Candidate<'_>,
    ) -> (Self, Vec<u32>) {
        let mut vertices: Vec<u32> = contacts.clone().flat_map(|c| c.vertices).collect();
        vertices.sort_unstable();
        vertices.dedup();
        let local = |v: u32| {
            let place = vertices.binary_search(&v);
            place.expect("all vertices of all contacts are listed") as u32
        };
        let each = || vertices.iter().map(|&v| v as usize);
        let zone = Self {
            inverse_mass: each().map(|v| candidate.inverse_mass[v]).collect(),
            start: each().map(|v| candidate.start.positions()[v]).collect(),
            wanted: each().map(|v| wanted[v]).collect(),
            contacts: contacts
                .map(|contact| Contact {
                    vertices: contact.vertices.map(local),
                    ..*contact
                })
                .collect(),
        };
        (zone, vertices)
    }

    /// `½ Σ m |x − x₀|²` of the free vertices, in kg·m²: kinetic energy of the mean motion times
    /// dt².
    pub fn energy(&self, x: &[DVec3]) -> f64 {
        let each = self.inverse_mass.iter().zip(x).zip(&self.start);
        each.filter(|((w, _), _)| **w > 0.0)
            .map(|((w, x), x0)| 0.5 * (x - x0).length_squared() / w)
            .sum()
    }

    /// Length of the longest edge of the features that meet, at the start, in metres.
    pub(super) fn longest_edge(&self) -> f64 {
        let each = self.contacts.iter().map(|contact| {
            let [a, b, c, d] = contact.vertices.map(|v| self.start[v as usize]);
            match contact.weights[1] > 0.0 {
                true => (a - b).length().max((c - d).length()),
                false => (b - c).length().max((c - d).length()).max((d - b).length()),
            }
        });
        each.fold(0.0, f64::max)
    }

    /// The zone of some of its contacts alone, and their numbers in this one.
    pub(super) fn part(&self, contacts: &[usize]) -> (Self, Vec<usize>) {
        let mut numbers = contacts.to_vec();
        numbers.sort_unstable();
        let mut vertices: Vec<u32> = numbers
            .iter()
            .flat_map(|&i| self.contacts[i].vertices)
            .collect();
        vertices.sort_unstable();
        vertices.dedup();
        let local = |v: u32| {
            let place = vertices.binary_search(&v);
            place.expect("all vertices of all contacts are listed") as u32
        };
        let part = Self {
            inverse_mass: vertices
                .iter()
                .map(|&v| self.inverse_mass[v as usize])
                .collect(),
            start: vertices.iter().map(|&v| self.start[v as usize]).collect(),
            wanted: vertices.iter().map(|&v| self.wanted[v as usize]).collect(),
            contacts: numbers
                .iter()
                .map(|&i| Contact {
                    vertices: self.contacts[i].vertices.map(local),
                    ..self.contacts[i]
                })
                .collect(),
        };
        (part, numbers)
    }

    /// Largest lack of a gap, as a share of the contact's scale.
    pub fn lack(&self, x: &[DVec3]) -> f64 {
        let lack = |contact: &Contact| (contact.target - contact.gap(x)) / contact.scale;
        self.contacts.iter().map(lack).fold(0.0, f64::max)
    }
}
