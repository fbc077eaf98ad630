//! Zones without room: an infeasible subset of their contacts, as a proof that anybody can check.
//!
//! ```text
//! λ ≥ 0,   rᵥ = Σᵢ λᵢ ∂Cᵢ/∂xᵥ of free vertices   ⇒   Σᵢ λᵢ gapᵢ ≤ Σᵢ λᵢ gapᵢ(x₀) + R Σᵥ |rᵥ|₁   within R of x₀
//! ```
//!
//! If the right-hand side is not positive where the scripted vertices end, not all of the gaps can
//! be: the scripted vertices leave no room (Farkas' lemma; \[GI83\] finds such a λ when its step
//! has no end). Between flat objects r is 0 and R plays no part; between round ones cloth could
//! always slip away to where linearised contacts no longer mean anything, so that R limits how far
//! it may go. The sum is about touching, not about the thickness: contacts that merely cannot keep
//! their targets have a positive one, which says how much of them they can keep.

use glam::DVec3;

use super::zone::{Contact, Unsolved, Zone};
use super::{Rows, active_set};

/// Contacts that push against one another without moving anything.
#[derive(Clone, Debug, PartialEq)]
pub struct Certificate {
    /// Contact numbers with their multipliers, all positive. They are scaled so that the scripted
    /// features together are pushed by 2, one on either side: then the sum of the gaps is the room
    /// between the two sides.
    pub multipliers: Vec<(usize, f64)>,
    /// Upper bound of the room that the scripted vertices leave, in metres. Not positive: there is
    /// none.
    pub room: f64,
    /// How far free vertices may go along each axis, in metres, R above: the length of the longest
    /// edge that takes part.
    pub reach: f64,
    /// The room that the targets of these contacts ask for, in metres.
    pub asked: f64,
}

/// Rounding error of a gap in units of the largest coordinate: four products with weights of sum 2,
/// the scalar product and the sums, with less than 8 roundings each, and as many again for the
/// multipliers.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

impl Certificate {
    /// Weighs a combination of contacts, as a solver of scaled rows found it, limits left out; none
    /// if it is no certificate, or if no scripted vertex takes part: then linearisations contradict
    /// one another, and nobody is pinched.
    pub fn of(zone: &Zone, farkas: &[(usize, f64)]) -> Option<Self> {
        // a row is its gradient divided by √k, so that its multiplier is too
        let unscaled = farkas.iter().map(|&(i, lambda)| {
            let k = zone.contacts[i].inverse_mass(&zone.inverse_mass);
            (i, lambda / k.sqrt())
        });
        let multipliers: Vec<(usize, f64)> = unscaled
            .filter(|&(i, l)| l != 0.0 && !is_limit(&zone.contacts[i]))
            .collect();
        Self::weighed(zone, multipliers)
    }

    /// Weighs a combination of gradients.
    fn weighed(zone: &Zone, mut multipliers: Vec<(usize, f64)>) -> Option<Self> {
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
        let all = zone.start.iter().chain(&zone.wanted);
        let largest = all.fold(0.0f64, |most, x| most.max(x.abs().max_element()));

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
        // what the gradients leave on a free vertex counts against the proof, as if the vertex went
        // that way as far as it may
        let unbalanced: f64 = left.iter().map(|left| left.abs().element_sum()).sum();
        let reach = zone.longest_edge();
        Some(Self {
            multipliers,
            room: gaps + unbalanced * reach + ROUNDING * largest * sum,
            reach,
            asked,
        })
    }
}

/// Share of its reach by which a vertex may exceed it.
const SLACK: f64 = 0.1;

/// Whether a contact is a limit: contacts ask for gaps that are not negative.
pub(super) fn is_limit(contact: &Contact) -> bool {
    contact.target < 0.0
}

/// Limits free vertices that have gone further than `reach` along an axis; returns whether there
/// are any.
///
/// A limit is written as a contact with a place that does not move, whose target lets the vertex go
/// as far as it may.
pub(super) fn limit(zone: &mut Zone, x: &[DVec3], reach: f64) -> bool {
    let count = zone.contacts.len();
    for v in 0..zone.inverse_mass.len() {
        let way = x[v] - zone.start[v];
        if zone.inverse_mass[v] == 0.0 || way.abs().max_element() <= reach * (1.0 + SLACK) {
            continue;
        }
        let place = zone.start.len() as u32;
        zone.inverse_mass.push(0.0);
        zone.start.push(zone.start[v]);
        zone.wanted.push(zone.start[v]);
        for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
            for normal in [axis, -axis] {
                zone.contacts.push(Contact {
                    vertices: [v as u32, place, place, place],
                    weights: [1.0, -1.0, 0.0, 0.0],
                    normal,
                    target: -reach,
                    scale: SLACK * reach,
                    friction: 0.0,
                    warm: 0.0,
                });
            }
        }
    }
    zone.contacts.len() > count
}

/// Largest part of a zone that is looked at as a whole: its dense solve takes seconds.
const LARGEST_PART: usize = 1024;

/// Looks for contacts of a zone that exclude one another: around the one that lacks most, in ever
/// larger parts.
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

/// Contact numbers in the order of their distance from the contact that lacks most, from free
/// vertex to free vertex; then those that are not connected with it.
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
