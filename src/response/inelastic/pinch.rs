//! Zones without room: an infeasible subset of their contacts, as a proof that anybody can check.
//!
//! ```text
//! λ ≥ 0,   Σᵢ λᵢ ∇Cᵢ = 0 on every free vertex   ⇒   Σᵢ λᵢ gapᵢ is the same wherever free vertices go
//! ```
//!
//! If that sum is not positive where the scripted vertices end, not all of the gaps can be: the scripted vertices leave
//! no room (Farkas' lemma; \[GI83\] finds such a λ when its step has no end). The sum is about touching, not about the
//! thickness: contacts that merely cannot keep their targets have a positive one, which says how much of their targets they can keep.

use glam::DVec3;

use super::zone::{Unsolved, Zone};
use super::{Rows, active_set};

/// Contacts that push against one another without moving anything.
#[derive(Clone, Debug, PartialEq)]
pub struct Certificate {
    /// Contact numbers with their multipliers, all positive. They are scaled so that the scripted features together are
    /// pushed by 2, one on either side: then the sum of the gaps is the room between the two sides.
    pub multipliers: Vec<(usize, f64)>,
    /// Upper bound of the room that the scripted vertices leave, in metres, for every motion of free vertices that is not longer than the
    /// zone is large. Not positive: there is none.
    pub room: f64,
    /// The room that the targets of these contacts ask for, in metres.
    pub asked: f64,
}

/// Rounding error of a gap in units of the largest coordinate: four products with weights of sum 2, the scalar product and the sums, with less than 8
/// roundings each, and as many again for the multipliers.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

impl Certificate {
    /// Weighs a combination of contacts, as a solver of scaled rows found it; none if it is no certificate, or if no scripted
    /// vertex takes part: then linearisations contradict one another, and nobody is pinched.
    pub fn of(zone: &Zone, farkas: &[(usize, f64)]) -> Option<Self> {
        // a row is its gradient divided by √k, so that its multiplier is too
        let unscaled = farkas.iter().map(|&(i, lambda)| {
            let k = zone.contacts[i].inverse_mass(&zone.inverse_mass);
            (i, lambda / k.sqrt())
        });
        let multipliers: Vec<(usize, f64)> = unscaled.filter(|(_, l)| *l != 0.0).collect();
        Self::weighed(zone, multipliers)
    }

    /// Weighs a combination of gradients.
    pub(super) fn weighed(zone: &Zone, mut multipliers: Vec<(usize, f64)>) -> Option<Self> {
        let is_scripted = |v: u32| zone.inverse_mass[v as usize] == 0.0;
        let scripted = |i: usize| -> f64 {
            let contact = &zone.contacts[i];
            let each = contact.vertices.iter().zip(contact.weights);
            each.filter(|(v, _)| is_scripted(**v))
                .map(|(_, w)| w.abs())
                .sum()
        };
        let pushed: f64 = multipliers.iter().map(|&(i, l)| l * scripted(i)).sum();
        if multipliers.iter().any(|(_, l)| *l < 0.0) || !(pushed > 0.0 && pushed.is_finite()) {
            return None;
        }
        for (_, multiplier) in &mut multipliers {
            *multiplier *= 2.0 / pushed;
        }

        let place = |v: usize| match zone.inverse_mass[v] {
            0.0 => zone.wanted[v],
            _ => zone.start[v],
        };
        let x: Vec<DVec3> = (0..zone.start.len()).map(place).collect();
        let (low, high) = zone
            .start
            .iter()
            .chain(&zone.wanted)
            .fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), x| {
                (low.min(*x), high.max(*x))
            });
        let largest = low.abs().max(high.abs()).max_element();

        let mut left = vec![DVec3::ZERO; x.len()];
        let (mut gaps, mut asked, mut sum) = (0.0, 0.0, 0.0);
        for &(i, multiplier) in &multipliers {
            let contact = &zone.contacts[i];
            gaps += multiplier * contact.gap(&x);
            asked += multiplier * contact.target;
            sum += multiplier;
            for (&v, w) in contact.vertices.iter().zip(contact.weights) {
                if !is_scripted(v) {
                    left[v as usize] += multiplier * w * contact.normal;
                }
            }
        }
        // what the gradients leave on a free vertex counts against the proof as if the vertex went that way, all across the zone
        let unbalanced: f64 = left.iter().map(|left| left.length()).sum();
        let room = gaps + unbalanced * (high - low).length() + ROUNDING * largest * sum;
        Some(Self {
            multipliers,
            room,
            asked,
        })
    }
}

/// Largest part of a zone that is looked at as a whole: its dense solve takes seconds.
const LARGEST_PART: usize = 1024;

/// Looks for contacts of a zone that exclude one another: around the one that lacks most, in ever larger parts.
pub fn infeasible_subset(zone: &Zone) -> Option<Certificate> {
    let order = outwards(zone);
    let mut size = 64;
    loop {
        let part = &order[..size.min(order.len())];
        let (small, numbers) = zone.part(part);
        let rows = Rows::of(&small);
        if let Err(Unsolved::Pinched(farkas)) = active_set::solve(&rows, &rows.slack) {
            let mut certificate = Certificate::of(&small, &farkas)?;
            for (i, _) in &mut certificate.multipliers {
                *i = numbers[*i];
            }
            return Some(certificate);
        }
        if size >= order.len().min(LARGEST_PART) {
            return None;
        }
        size *= 4;
    }
}

/// Contact numbers in the order of their distance from the contact that lacks most, from free vertex to free vertex; then those
/// that are not connected with it.
fn outwards(zone: &Zone) -> Vec<usize> {
    let mut at_vertex: Vec<Vec<usize>> = vec![Vec::new(); zone.start.len()];
    for (i, contact) in zone.contacts.iter().enumerate() {
        for &v in &contact.vertices {
            if zone.inverse_mass[v as usize] > 0.0 {
                at_vertex[v as usize].push(i);
            }
        }
    }
    let lack = |i: usize| {
        let contact = &zone.contacts[i];
        contact.target - contact.gap(&zone.wanted)
    };
    let mut worst: Vec<usize> = (0..zone.contacts.len()).collect();
    worst.sort_by(|&a, &b| lack(b).total_cmp(&lack(a)));
    let mut is_listed = vec![false; zone.contacts.len()];
    let mut order = Vec::with_capacity(worst.len());
    for first in worst {
        let mut next = order.len();
        if !std::mem::replace(&mut is_listed[first], true) {
            order.push(first);
        }
        while let Some(&i) = order.get(next) {
            next += 1;
            for v in zone.contacts[i].vertices {
                for &other in &at_vertex[v as usize] {
                    if !std::mem::replace(&mut is_listed[other], true) {
                        order.push(other);
                    }
                }
            }
        }
    }
    order
}
