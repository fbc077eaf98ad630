//! The moving polygon of differences, in which both kinds of pairs are one problem.
//!
//! Two convex features share a point if and only if the origin lies in the set of differences
//! "point of the first minus point of the second". For a vertex and a face this set is a triangle,
//! for two edges a parallelogram; its corners move straight and evenly, because the vertices do.
//! Corners are listed in cyclic order:
//!
//! ```text
//! vertex-face:  p−a, p−b, p−c              edge-edge:  a₀−b₀ ── a₀−b₁
//!                                                        │        │
//!                                                      a₁−b₀ ── a₁−b₁
//! ```
//!
//! In both, the determinant of the first three corners is the coplanarity of the four vertices: for
//! edges `(a₁−b₁) = (a₁−b₀) + (a₀−b₁) − (a₀−b₀)`.

use glam::DVec3;

use super::Sweep;

/// The moving polygon during a part of the motion, rounded to `f64`.
///
/// Each coordinate of each corner, at both ends of the part, differs from the true one by at most
/// `1.5 ε · scale` of its axis (see [`Gap::during`]) and is itself at most `scale` in size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gap<const N: usize> {
    /// Corners at the start of this part.
    pub(super) start: [DVec3; N],
    /// Corners at the end of this part.
    pub(super) end: [DVec3; N],
    /// Largest coordinate of any corner per axis, at both ends of this part.
    pub(super) scale: DVec3,
}

impl Gap<3> {
    /// Vertex 0 against face 1 2 3.
    pub(super) fn vertex_face(sweep: &Sweep) -> Self {
        let corners = |x: &[DVec3; 4]| [x[0] - x[1], x[0] - x[2], x[0] - x[3]];
        Self::between(corners(&sweep.start), corners(&sweep.end))
    }
}

impl Gap<4> {
    /// Edge 0 1 against edge 2 3.
    pub(super) fn edge_edge(sweep: &Sweep) -> Self {
        let corners = |x: &[DVec3; 4]| [x[0] - x[2], x[0] - x[3], x[1] - x[3], x[1] - x[2]];
        Self::between(corners(&sweep.start), corners(&sweep.end))
    }
}

impl<const N: usize> Gap<N> {
    fn between(start: [DVec3; N], end: [DVec3; N]) -> Self {
        let scale = start
            .iter()
            .chain(&end)
            .fold(DVec3::ZERO, |scale, d| scale.max(d.abs()));
        Self { start, end, scale }
    }

    /// The same polygon from time `from` to time `to`, both multiples of 2⁻⁵² (so that `1 − t` is
    /// exact).
    ///
    /// Corner `(1−t)·start + t·end`: the rounded difference of vertices (one rounding), the product
    /// (one), the sum (one) give at most 3 · ε/2 of `(1−t)|start| + t|end|`, which `scale` bounds:
    /// it is taken from those sums of absolute values, not from the corners, in which they may
    /// cancel. Rounding of `scale` itself is of second order and covered by the slack of the bounds
    /// that use it.
    pub(super) fn during(&self, from: f64, to: f64) -> Self {
        let mut scale = DVec3::ZERO;
        let mut at = |t: f64| {
            std::array::from_fn(|i| {
                let (start, end) = (self.start[i] * (1.0 - t), self.end[i] * t);
                scale = scale.max(start.abs() + end.abs());
                start + end
            })
        };
        let (start, end) = (at(from), at(to));
        Self { start, end, scale }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_counts_what_cancels() {
        // half-way from −1 to 1 the corners vanish, but their rounding errors are those of ½ and −½
        let at = |x: f64| [x * DVec3::X, DVec3::ZERO, DVec3::Y, DVec3::Z];
        let sweep = Sweep {
            start: at(-1.0),
            end: at(1.0),
        };
        let half = Gap::vertex_face(&sweep).during(0.5, 0.5);
        assert_eq!(half.start[0], DVec3::ZERO);
        assert_eq!(half.scale, DVec3::ONE);
    }
}
