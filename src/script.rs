//! Where scripted vertices go: a pure function of the tick.

use glam::DVec3;

use crate::grid::Grid;

/// The motion of every vertex that no force moves.
///
/// Positions at frame ticks are on the output grid; each interval moves straight between two evaluations.
#[derive(Clone, Debug)]
pub struct Script {
    /// Vertices that stand still, and where.
    fixed: Vec<(u32, DVec3)>,
}

impl Script {
    /// Vertices that stand still at `x`, rounded to the grid once and for all.
    pub fn fixed(vertices: impl IntoIterator<Item = u32>, x: &[DVec3], grid: Grid) -> Self {
        Self {
            fixed: vertices
                .into_iter()
                .map(|v| (v, grid.round(x[v as usize])))
                .collect(),
        }
    }

    /// Positions of all vertices at a tick; those that are not scripted keep `x`.
    pub fn at(&self, _tick: u64, x: &[DVec3]) -> Vec<DVec3> {
        let mut target = x.to_vec();
        for &(v, p) in &self.fixed {
            target[v as usize] = p;
        }
        target
    }
}
