//! One row of the coupled system: something that is to stay as it was.

use glam::DVec3;

use super::{Cell, Recipe, at_impact};
use crate::geometry::{ContactPoint, Impact};
use crate::state::Candidate;

/// Edges count as parallel below this sine: their tetrahedron is then flat along the edges, and a
/// little turn changes its volume more than the approach does.
const PARALLEL: f64 = 0.05;

/// What is kept of a pair.
pub(super) enum Row {
    /// The volume of its tetrahedron.
    Volume(Cell),
    /// The gap along the normal of its contact point, and what that was at the start, in metres.
    Gap(ContactPoint, f64),
}

impl Row {
    pub(super) fn of(impact: &Impact, recipe: &Recipe, candidate: &Candidate<'_>) -> Self {
        if recipe.minds_parallel && is_parallel(impact, candidate) {
            let point = impact.point();
            return Self::Gap(point, point.gap(candidate.start.positions()));
        }
        Self::Volume(Cell::of(impact, candidate))
    }

    pub(super) fn vertices(&self) -> [u32; 4] {
        match self {
            Self::Volume(cell) => cell.vertices,
            Self::Gap(point, _) => point.vertices,
        }
    }

    pub(super) fn gradient(&self, x: &[DVec3]) -> [DVec3; 4] {
        match self {
            Self::Volume(cell) => cell.gradient(x),
            Self::Gap(point, _) => point.weights.map(|w| w * point.normal),
        }
    }

    /// What it lacks, in m³ or m; negative where there is more.
    pub(super) fn defect(&self, x: &[DVec3]) -> f64 {
        match self {
            Self::Volume(cell) => cell.goal - cell.volume(x),
            Self::Gap(point, start) => start - point.gap(x),
        }
    }
}

/// Whether two edges are nearly parallel when they meet.
fn is_parallel(impact: &Impact, candidate: &Candidate<'_>) -> bool {
    let [a, b, c, d] = at_impact(impact, candidate);
    let (one, other) = (b - a, d - c);
    let across = one.cross(other).length_squared();
    let size = one.length_squared() * other.length_squared();
    !impact.is_vertex_face() && across <= PARALLEL * PARALLEL * size
}
