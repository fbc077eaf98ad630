//! Positions at output frames, rounded before they are judged.
//!
//! Files for other programs hold f32. Rounding after certification could make cloth cross itself;
//! so positions are rounded first, and what is certified is what those files hold (docs/method.md
//! §3).

use glam::DVec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::geometry::{Asked, Collider, Proof, ccd};
use crate::state::Candidate;

/// What positions at output frames are rounded to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Grid {
    /// To f32 values.
    #[default]
    F32,
    /// Not at all.
    None,
}

impl Grid {
    /// The nearest grid point.
    pub fn round(self, x: DVec3) -> DVec3 {
        match self {
            Self::F32 => x.as_vec3().as_dvec3(),
            Self::None => x,
        }
    }
}

/// How a vertex is placed while snapping.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Snapping {
    Nearest,
    /// One grid step aside, away from what it met.
    Aside,
    Unsnapped,
}

/// Puts the free vertices of a candidate on the grid; returns how many had to stay off it.
///
/// A vertex whose place makes it meet something tries the neighbouring grid point away from the
/// impact, then keeps its own place. Scripted vertices are on the grid already. If nothing helps,
/// nothing is snapped. What is `known` of the motion only spares work.
pub(crate) fn snap(
    grid: Grid,
    candidate: &mut Candidate<'_>,
    collider: &mut Collider,
    known: Option<&Proof>,
) -> usize {
    if grid == Grid::None {
        return 0;
    }
    let exact = Asked {
        mode: ccd::Mode::Exact,
        margin: None,
    };
    let wanted = candidate.x.clone();
    let free: Vec<bool> = candidate.inverse_mass.iter().map(|&w| w > 0.0).collect();
    let mut places = vec![Snapping::Nearest; wanted.len()];
    for (v, x) in candidate.x.iter_mut().enumerate() {
        if free[v] {
            *x = grid.round(wanted[v]);
        }
    }
    // every round moves each vertex in impact one place on, and there are two moves
    for _ in 0..3 {
        let impacts = collider.look(candidate.motion(), &exact, known).impacts;
        if impacts.is_empty() {
            return places
                .iter()
                .filter(|&&place| place == Snapping::Unsnapped)
                .count();
        }
        let mut aside = vec![DVec3::ZERO; wanted.len()];
        for impact in &impacts {
            for (&v, w) in impact.vertices.iter().zip(impact.weights) {
                aside[v as usize] += w.signum() * impact.normal;
            }
        }
        for v in impacts
            .iter()
            .flat_map(|impact| impact.vertices)
            .map(|v| v as usize)
        {
            if !free[v] || aside[v] == DVec3::ZERO {
                continue; // scripted, or moved on in this round already
            }
            places[v] = if places[v] == Snapping::Nearest {
                Snapping::Aside
            } else {
                Snapping::Unsnapped
            };
            candidate.x[v] = match places[v] {
                Snapping::Unsnapped => wanted[v],
                _ => grid_step(candidate.x[v], aside[v]),
            };
            aside[v] = DVec3::ZERO;
        }
    }
    candidate.x.copy_from_slice(&wanted);
    free.iter().filter(|&&free| free).count()
}

/// The neighbouring f32 point in the direction of `aside`, axis by axis where it has a part of its
/// own.
fn grid_step(x: DVec3, aside: DVec3) -> DVec3 {
    let largest = aside.abs().max_element();
    let step = |x: f64, aside: f64| {
        let x = x as f32;
        if aside.abs() < 0.5 * largest {
            f64::from(x)
        } else if aside > 0.0 {
            f64::from(x.next_up())
        } else {
            f64::from(x.next_down())
        }
    };
    DVec3::new(step(x.x, aside.x), step(x.y, aside.y), step(x.z, aside.z))
}
