//! One row of the coupled system: something that is to stay as it was.

use glam::DVec3;

use super::{Cell, Gradient, Recipe, tetrahedron};
use crate::geometry::{ContactPoint, Impact};
use crate::state::Candidate;

/// A volume says nothing about a contact if the cosine between its gradient and the opening of the
/// contact is below this: edges that are nearly parallel, features that meet in their own plane.
const BLIND: f64 = 0.05;

/// What is kept of a pair.
pub(super) enum Row {
    /// The volume of its tetrahedron.
    Volume(Cell, Gradient),
    /// The gap along the normal of its contact point, and what it is to be, in metres.
    Gap(ContactPoint, f64),
}

impl Row {
    pub(super) fn of(impact: &Impact, recipe: &Recipe, candidate: &Candidate<'_>) -> Self {
        let mut cell = Cell::of(impact, candidate);
        let point = impact.point();
        let gap = point.gap(candidate.start.positions());
        let kept = match recipe.to_thickness {
            true => gap.min(candidate.thickness_of(&point)),
            false => gap,
        };
        if recipe.minds_blind && is_blind(impact, &cell, &candidate.x) {
            return Self::Gap(point, kept);
        }
        if gap > kept && kept > 0.0 {
            cell.goal *= kept / gap;
        }
        Self::Volume(cell, recipe.gradient)
    }

    pub(super) fn vertices(&self) -> [u32; 4] {
        match self {
            Self::Volume(cell, _) => cell.vertices,
            Self::Gap(point, _) => point.vertices,
        }
    }

    pub(super) fn gradient(&self, x: &[DVec3]) -> [DVec3; 4] {
        match self {
            Self::Volume(cell, Gradient::AtEnd) => cell.gradient(x),
            Self::Volume(cell, Gradient::Mean) => cell.mean_gradient(x),
            Self::Gap(point, _) => point.weights.map(|w| w * point.normal),
        }
    }

    /// What it lacks, in m³ or m; negative where there is more.
    pub(super) fn defect(&self, x: &[DVec3]) -> f64 {
        match self {
            Self::Volume(cell, _) => cell.goal - cell.volume(x),
            Self::Gap(point, kept) => kept - point.gap(x),
        }
    }
}

/// Whether to keep the volume would not part the pair: it has its sign again at the end of a motion
/// in which the pair meets nevertheless, or hardly changes where the contact opens.
fn is_blind(impact: &Impact, cell: &Cell, x: &[DVec3]) -> bool {
    if cell.volume(x) > 0.0 {
        return true;
    }
    let gradient = tetrahedron::mean_gradient(cell.start, cell.at(x));
    let opening = impact.weights.map(|w| w * impact.normal);
    let dot =
        |a: &[DVec3; 4], b: &[DVec3; 4]| -> f64 { a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum() };
    let across = dot(&gradient, &opening);
    across * across <= BLIND * BLIND * dot(&gradient, &gradient) * dot(&opening, &opening)
}
