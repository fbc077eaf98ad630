//! The collision step alone: start, candidate and masses in, certified positions out.
//!
//! This is all of Percale that a simulator of your own needs (course notes, "Separation from internal dynamics"):
//! it does not know where the candidate comes from. Nothing is retried: a refusal says what is in the way, and the
//! caller may try a shorter interval.

use std::collections::BTreeMap;

use glam::DVec3;
use serde::Serialize;

use crate::error::StepError;
use crate::geometry::mesh::{check_positions, flush_tiny};
use crate::geometry::{Asked, Detector, Mesh, ccd};
use crate::response::{Hold, Impulses, Repulsion, RigidZones, Stage, respond};
use crate::state::{Candidate, Surfaces};
use crate::verify::{self, Verified};

/// Settings of [`resolve`].
#[derive(Clone, Debug, PartialEq)]
pub struct Resolve {
    /// Repulsions, before the stages.
    pub repulsion: Repulsion,
    /// The stages, in order.
    pub response: Vec<Stage>,
}

impl Default for Resolve {
    /// Impulses for what they can do, rigid zones for piles, hold for the rest.
    fn default() -> Self {
        Self {
            repulsion: Repulsion::default(),
            response: vec![
                Stage::Impulses(Impulses::default()),
                Stage::RigidZones(RigidZones::default()),
                Stage::Hold(Hold::default()),
            ],
        }
    }
}

/// What a collision step did.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Resolution {
    /// Impacts of the candidate motion, by the exact test.
    pub impacts_before: usize,
    /// Impacts of the accepted motion: 0, or it would not have been accepted.
    pub impacts_after: usize,
    /// Rounds of all stages.
    pub rounds: usize,
    /// Rounds by stage.
    pub stages: BTreeMap<&'static str, usize>,
    /// Pairs put to the continuous test, see [`Detector::queries`]: those of the candidate motion, of every round and of the
    /// certificate together.
    pub queries: u64,
    /// Vertices that do not end where the candidate had them.
    pub moved: usize,
    /// `Σ m |x_new − x0|² / Σ m |x1 − x0|²` of vertices that were in an impact; none without impacts.
    pub kept_share: Option<f64>,
}

/// Durations that [`resolve`] takes, s: from below a clock cycle to above a millennium, so that no velocity leaves the range of a float.
const DURATIONS: std::ops::RangeInclusive<f64> = 1e-12..=1e12;

/// Lumped masses of a sheet of 1 kg/m², in kg: a third of each face's area to each of its corners.
pub fn lumped_mass(mesh: &Mesh, x: &[DVec3]) -> Vec<f64> {
    let mut mass = vec![0.0; x.len()];
    for corners in mesh.faces() {
        let [a, b, c] = corners.map(|v| x[v as usize]);
        let area = 0.5 * (b - a).cross(c - a).length();
        for v in corners {
            mass[*v as usize] += area / 3.0;
        }
    }
    mass
}

/// Changes end positions until the straight motion from `start` to them meets nothing, and certifies the result.
///
/// `inverse_mass` is in 1/kg, 0 for vertices whose end positions are given: they end where `end` has them, to the bit. `dt` is the duration of
/// the motion, s: repulsions act for so long, and the velocities of the result are in m/s.
///
/// # Errors
/// A `dt` that is no duration, positions that are unusable, or impacts that no stage could resolve: with [`Hold`] among the stages that
/// happens only if vertices with given ends force contact. The start is untouched.
pub fn resolve(
    settings: &Resolve,
    start: &Verified,
    mut end: Vec<DVec3>,
    inverse_mass: &[f64],
    surfaces: &Surfaces,
    dt: f64,
    detector: &mut Detector,
) -> Result<(Verified, Resolution), StepError> {
    if !DURATIONS.contains(&dt) {
        return Err(StepError::Duration { dt });
    }
    flush_tiny(&mut end);
    check_positions(start.mesh(), &end)?;
    let asked_before = detector.queries();
    let exact = Asked {
        mode: ccd::Mode::Exact,
        margin: None,
    };
    let wanted = end.clone();
    let before = detector.impacts(start.mesh(), start.positions(), &end, &exact);
    let mut candidate = Candidate {
        start,
        inverse_mass,
        surfaces,
        dt,
        x: end,
    };
    let near = settings.repulsion.near(&candidate, detector);
    settings.repulsion.apply(&near, 1.0, &[], &mut candidate);
    let response = respond(&settings.response, &near, &mut candidate, detector);
    let accepted = verify::accept_stored(candidate, detector)?;

    let mut stages = BTreeMap::new();
    for round in &response.rounds {
        *stages.entry(round.stage).or_default() += 1;
    }
    let x = accepted.positions();
    let way = |x1: DVec3, v: usize| (x1 - start.positions()[v]).length_squared() / inverse_mass[v];
    let free = || {
        let touched = response.touched.iter().map(|&v| v as usize);
        touched.filter(|&v| inverse_mass[v] > 0.0)
    };
    let all: f64 = free().map(|v| way(wanted[v], v)).sum();
    let kept: f64 = free().map(|v| way(x[v], v)).sum();
    let resolution = Resolution {
        impacts_before: before.len(),
        impacts_after: 0,
        rounds: response.rounds.len(),
        stages,
        queries: detector.queries() - asked_before,
        moved: x
            .iter()
            .zip(&wanted)
            .filter(|(new, old)| new != old)
            .count(),
        kept_share: (all > 0.0).then(|| kept / all),
    };
    Ok((accepted, resolution))
}
