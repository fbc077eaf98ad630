//! Four vertices in straight-line motion: what the continuous test looks at.

use glam::DVec3;

use super::{Mesh, Pair};

/// Four vertices moving straight from `start` to `end` while time goes from 0 to 1.
///
/// ```text
/// vertex-face:  0 = vertex,  1 2 3 = face         edge-edge:  0 1 = edge a,  2 3 = edge b
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sweep {
    /// Positions at time 0, in metres.
    pub start: [DVec3; 4],
    /// Positions at time 1, in metres.
    pub end: [DVec3; 4],
}

/// Of each vertex its position, or any other quantity; written out, because this is in every inner
/// loop and `map` is not free.
#[inline]
pub(crate) fn at<T: Copy>(x: &[T], [a, b, c, d]: [u32; 4]) -> [T; 4] {
    [x[a as usize], x[b as usize], x[c as usize], x[d as usize]]
}

impl Sweep {
    /// The motion of a pair's four vertices.
    pub fn of(mesh: &Mesh, pair: Pair, x0: &[DVec3], x1: &[DVec3]) -> Self {
        let vertices = mesh.vertices_of(pair);
        Self {
            start: at(x0, vertices),
            end: at(x1, vertices),
        }
    }

    /// Positions at time `t`, rounded; exact at 0 and 1.
    pub fn at(&self, t: f64) -> [DVec3; 4] {
        std::array::from_fn(|i| self.start[i] * (1.0 - t) + self.end[i] * t)
    }

    /// Whether no vertex moves at all, to the bit.
    pub fn is_still(&self) -> bool {
        self.start == self.end
    }
}
