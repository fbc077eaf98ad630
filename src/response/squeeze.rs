//! Before a run is stopped: is there room at all?
//!
//! Scripted objects may come so near to each other that cloth between them cannot keep its
//! thickness, and all stages fail, [`super::hold`] too, which lets nothing go where it is pushed
//! to. This asks the exact question instead: does a motion exist that touches nothing? Contacts
//! that exclude one another at their full gaps give up part of them, as much as the proof of their
//! conflict says (see [`super::inelastic::pinch`]). Then there is a motion, or a proof that there
//! is none in the linearised contacts, with the objects that take part in it; or neither within its
//! rounds.
//!
//! Source: \[HVTG08\] for the zones; constraints are generated, as there, from what the last motion
//! meets. It is ours to ask for the smallest conflict. Guaranteed: a [`Pinched`] has been weighed,
//! with all of its rounding errors; linear momentum of free vertices. Not guaranteed: an answer.

use super::inelastic::{Inelastic, Pinched, Precision, Zones};
use super::{Account, Response, Round};
use crate::geometry::{Asked, Collider, Impact, ccd};
use crate::state::Candidate;

/// Rounds without an answer after which there is none.
const MAX_ROUNDS: usize = 64;

/// Zones up to many contacts are solved by the method that proves; gaps differ by orders of magnitude here, and iterations
/// take long to find out.
pub(super) const PRECISION: Precision = Precision {
    dense_limit: 512,
    max_iterations: 2000,
    ..Precision::STAGE
};

/// Name in reports.
pub const NAME: &str = "squeeze";

/// Why there is no motion.
#[derive(Clone, Debug)]
pub enum NoRoom {
    /// Scripted vertices leave none.
    Pinched(Pinched),
    /// None was found.
    Unknown,
}

/// Looks for a motion of the free vertices that touches nothing, with whatever gaps there is room
/// for.
///
/// # Errors
/// See [`NoRoom`]; the candidate is then of no use.
pub fn squeeze(candidate: &mut Candidate<'_>, collider: &mut Collider) -> Result<Response, NoRoom> {
    let asked = Asked {
        mode: ccd::Mode::Exact,
        margin: None,
    };
    let stage = Inelastic::default();
    let mut zones = Zones::squeezing(candidate);
    let before = candidate.x.clone();
    let mut response = Response::default();
    let mut impacts = collider.impacts(candidate.motion(), &asked);
    while !impacts.is_empty() {
        if response.rounds.len() == MAX_ROUNDS {
            return Err(NoRoom::Unknown);
        }
        if let Some(pinched) = scripted(&impacts, candidate) {
            return Err(NoRoom::Pinched(pinched));
        }
        let vertex_face = impacts
            .iter()
            .filter(|impact| impact.is_vertex_face())
            .count();
        response.rounds.push(Round {
            stage: NAME,
            vertex_face,
            edge_edge: impacts.len() - vertex_face,
        });
        let vertices = impacts.iter().flat_map(|impact| impact.vertices);
        response.touched.extend(vertices);
        let changed = stage.apply(&impacts, &mut zones, candidate);
        if let Some(pinched) = zones.pinched() {
            return Err(NoRoom::Pinched(pinched));
        }
        if changed.is_empty() {
            return Err(NoRoom::Unknown);
        }
        impacts = collider.impacts(candidate.motion(), &asked);
    }
    response.touched.sort_unstable();
    response.touched.dedup();
    response.pushed.extend(zones.pushed());
    response
        .accounts
        .push((NAME, Account::of(&before, candidate)));
    Ok(response)
}

/// The deepest impact in which nothing can move: it needs no other to be impossible.
fn scripted(impacts: &[Impact], candidate: &Candidate<'_>) -> Option<Pinched> {
    let points = impacts.iter().map(Impact::point);
    let stuck = points.filter(|point| candidate.inverse_mass_of(point) == 0.0);
    let each = stuck.map(|point| (point.gap(&candidate.x), point));
    let (gap, point) = each.min_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(Pinched {
        points: vec![(point, 1.0)],
        reach: f64::INFINITY,
        room: gap.min(0.0), // the continuous test has found that they meet, even if they end apart
    })
}
