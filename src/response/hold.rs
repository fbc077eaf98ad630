//! Last resort: vertices in impact go only part of their way, down to none.
//!
//! Free vertices that are connected by impacts form a zone. A zone in impact goes back to a
//! fraction of its motion, well before its first impact; a zone that is hit again and again stops
//! where it started. Since the null motion from a certified start is free of impacts, the stage
//! succeeds whenever no scripted vertex forces contact. It is ours, after the "cutting the
//! timestep" of the course notes, zone by zone.
//!
//! Guaranteed: ends within `MAX_ROUNDS`; then, with nothing scripted in the way, no impact is left.
//! Not guaranteed: momentum. A held zone looks frozen, so each use is counted as a fail-safe.

use glam::DVec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::zones::Sets;
use crate::geometry::Impact;
use crate::state::Candidate;

/// The hold stage; there is nothing to set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Hold {}

/// Share of the way to a zone's first impact that it still goes, in (0, 1): near 1 it would end too close to what it met.
const FRACTION: f64 = 0.8;

/// Times a zone may go part of its way before it stops where it started: of its motion 0.8³ is left by then at most, about half.
const MAX_CUTS: u32 = 3;

/// Rounds in all; in the last one every free vertex stops, so that the stage ends in any case.
pub(super) const MAX_ROUNDS: u32 = 64;

/// Zones, how far each goes, and where its vertices wanted to go.
pub(super) struct HeldZones {
    sets: Sets,
    /// By root: share of the motion that is left.
    share: Vec<f64>,
    /// By root: how often the zone was cut.
    cuts: Vec<u32>,
    wanted: Vec<DVec3>,
    round: u32,
}

impl HeldZones {
    pub(super) fn new(candidate: &Candidate<'_>) -> Self {
        let n = candidate.x.len();
        Self {
            sets: Sets::new(n),
            share: vec![1.0; n],
            cuts: vec![0; n],
            wanted: candidate.x.clone(),
            round: 0,
        }
    }
}

impl Hold {
    pub(super) fn apply(
        &self,
        impacts: &[Impact],
        zones: &mut HeldZones,
        candidate: &mut Candidate<'_>,
    ) -> Vec<u32> {
        zones.round += 1;
        let mut earliest = vec![f64::INFINITY; candidate.x.len()];
        for impact in impacts {
            let roots = zones.sets.merge(impact.vertices, candidate.inverse_mass);
            let Some(&root) = roots.first() else { continue };
            let root = root as usize;
            for &other in &roots[1..] {
                let other = other as usize;
                zones.share[root] = zones.share[root].min(zones.share[other]);
                zones.cuts[root] = zones.cuts[root].max(zones.cuts[other]);
                earliest[root] = earliest[root].min(earliest[other]);
            }
            earliest[root] = earliest[root].min(impact.time);
        }
        for (root, &time) in earliest.iter().enumerate() {
            if time.is_finite() && zones.sets.root(root as u32) == root as u32 {
                zones.cuts[root] += 1;
                let cut = if zones.cuts[root] > MAX_CUTS {
                    0.0
                } else {
                    FRACTION * time
                };
                zones.share[root] *= cut;
            }
        }
        let last = zones.round >= MAX_ROUNDS;
        let mut changed = Vec::new();
        for (v, &start) in candidate.start.positions().iter().enumerate() {
            if candidate.inverse_mass[v] == 0.0 {
                continue;
            }
            let share = if last {
                0.0
            } else {
                zones.share[zones.sets.root(v as u32) as usize]
            };
            let x = match share {
                1.0 => zones.wanted[v],
                0.0 => start, // to the bit, so that the pair counts as still
                _ => start + share * (zones.wanted[v] - start),
            };
            if x != candidate.x[v] {
                candidate.x[v] = x;
                changed.push(v as u32);
            }
        }
        changed
    }
}
