//! Filters: cheap proofs in `f64` that a moving polygon keeps clear of the origin.
//!
//! Each filter says "certainly apart" or nothing. The bounds on rounding errors are derived beside the constants and
//! measured against exact integers by tests. Underflow is covered by [`UNDERFLOW`], overflow cannot happen for
//! coordinates up to 1e30 m (the highest degree here is 6).
//!
//! Separating directions move, too: for any vectors `n₀`, `n₁` the direction `n(t) = (1−t) n₀ + t n₁` separates at
//! all times if the quadratics `n(t)·dₖ(t)` are positive for all corners `dₖ`. Their Bernstein coefficients are
//!
//! ```text
//! q₀ = n₀·dₖ(0),   q₁ = (n₀·dₖ(1) + n₁·dₖ(0)) / 2,   q₂ = n₁·dₖ(1)
//! ```
//!
//! and a quadratic is positive on [0, 1] exactly if q₀ > 0, q₂ > 0 and q₁ > −√(q₀q₂). This is what makes a sheet
//! that turns and stretches in its own plane cheap: with `z` the plane's normal, `n = z × edge` moves linearly, and
//! `n(t)·dₖ(t)` is its start value times the (positive) growth of area.

use glam::DVec3;

use super::closest::closest_to_origin;
use super::gap::Gap;

/// Covers the absolute error of all products that underflow: each loses at most 2⁻¹⁰⁷⁵, this is 2⁻¹⁰²².
const UNDERFLOW: f64 = f64::MIN_POSITIVE;

/// Bound on the rounding error of one coefficient of [`Gap::separates`], in units of `Σ |nᵢ| scaleᵢ`.
///
/// Corners carry 3 roundings ([`Gap::during`]), the dot product 3, the mean 1: 7 · ε/2. Rounded up to 5 ε, which also
/// covers the rounding of the bound itself and of its subtraction.
const DIRECTION_ERROR: f64 = 5.0 * f64::EPSILON;

/// Bound on the rounding error of [`Gap::coplanarity`], in units of the product of the three scales.
///
/// Each of the 6 products of three coordinates carries 3 · 3 roundings of corners, 2 products, 1 subtraction inside
/// ×, 2 additions of ·, 2 additions and 1 division of the mean: 17 · 6 · ε/2 = 51 ε. Rounded up.
const COPLANARITY_ERROR: f64 = 60.0 * f64::EPSILON;

/// Bound on the rounding error of one coefficient of [`Gap::surrounds`], in units of `Σ |zᵢ| scaleⱼ scaleₖ`.
///
/// Each of the two products per axis carries 2 · 3 roundings of corners, 1 product, 1 subtraction, 3 of the dot
/// product with `z`, 1 of the mean: 12 · 2 · ε/2 = 12 ε. Rounded up.
const AREA_ERROR: f64 = 16.0 * f64::EPSILON;

/// Factor that covers the three roundings of comparing q₁² with q₀q₂.
const BELOW_ONE: f64 = 1.0 - 4.0 * f64::EPSILON;

/// Whether `q₀(1−t)² + 2q₁t(1−t) + q₂t²` is positive on [0, 1]; `false` for anything that is not a number.
fn positive(q0: f64, q1: f64, q2: f64) -> bool {
    q0 > 0.0 && q2 > 0.0 && (q1 >= 0.0 || q1 * q1 + UNDERFLOW < q0 * q2 * BELOW_ONE)
}

impl<const N: usize> Gap<N> {
    /// Whether the polygon certainly stays further than `separation` from the origin.
    pub(super) fn never_meets(&self, separation: f64) -> bool {
        if self.axis_separates(separation) {
            return true;
        }
        let n0 = closest_to_origin(&self.start).try_normalize();
        if n0.is_some_and(|n| self.constant_separates(n, separation)) {
            return true;
        }
        let n1 = closest_to_origin(&self.end).try_normalize();
        if n1.is_some_and(|n| self.constant_separates(n, separation)) {
            return true;
        }
        if let (Some(n0), Some(n1)) = (n0, n1)
            && self.separates(n0, n1, separation)
        {
            return true;
        }
        self.edge_separates(separation) || self.never_coplanar(separation)
    }

    /// Whether a coordinate axis separates: exact, since the sign of a rounded difference is that of the difference,
    /// and rounding is monotone. Used on whole motions, where corners are plain differences, and on parts, where
    /// they carry an error, which the bound covers.
    fn axis_separates(&self, separation: f64) -> bool {
        let (mut min, mut max) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        for d in self.start.iter().chain(&self.end) {
            min = min.min(*d);
            max = max.max(*d);
        }
        let error = self.scale * (2.0 * f64::EPSILON) + separation;
        min.cmpgt(error).any() || max.cmplt(-error).any()
    }

    /// Whether the constant direction `n` separates: `n·dₖ` is linear in time, so both ends decide.
    fn constant_separates(&self, n: DVec3, separation: f64) -> bool {
        let error = self.direction_error(n.abs(), separation * n.length());
        self.start
            .iter()
            .chain(&self.end)
            .all(|d| n.dot(*d) > error)
    }

    /// Whether the direction that moves from `n0` to `n1` separates.
    pub(super) fn separates(&self, n0: DVec3, n1: DVec3, separation: f64) -> bool {
        let length = if separation > 0.0 {
            n0.length().max(n1.length())
        } else {
            0.0
        };
        let error = self.direction_error(n0.abs().max(n1.abs()), separation * length);
        self.start.iter().zip(&self.end).all(|(start, end)| {
            positive(
                n0.dot(*start) - error,
                0.5 * (n0.dot(*end) + n1.dot(*start)) - error,
                n1.dot(*end) - error,
            )
        })
    }

    /// Rounding bound plus the required distance, for directions whose coordinates are at most `n`.
    fn direction_error(&self, n: DVec3, distance: f64) -> f64 {
        DIRECTION_ERROR * (n.dot(self.scale) + distance) + distance + UNDERFLOW
    }

    /// Whether the line through an edge of the polygon, seen along the normal of its plane, separates.
    fn edge_separates(&self, separation: f64) -> bool {
        let Some(z) = self.plane_normal() else {
            return false;
        };
        // Opposite edges of a parallelogram are parallel: two directions are all.
        let directions = if N == 4 { 2 } else { N };
        (0..directions).any(|i| {
            let j = (i + 1) % N;
            let mut n0 = z.cross(self.start[j] - self.start[i]);
            let mut n1 = z.cross(self.end[j] - self.end[i]);
            if n0.dot(self.start[i]) < 0.0 {
                (n0, n1) = (-n0, -n1);
            }
            self.separates(n0, n1, separation)
        })
    }

    /// A direction across the plane in which origin and polygon lie, if they nearly do throughout.
    fn plane_normal(&self) -> Option<DVec3> {
        let across = |d: &[DVec3; N]| {
            let (e, f) = (d[1] - d[0], d[2] - d[1]);
            [e.cross(f), d[0].cross(e), d[1].cross(f)]
        };
        let (start, end) = (across(&self.start), across(&self.end));
        let mut best = DVec3::ZERO;
        for (n0, n1) in start.iter().zip(&end) {
            let n = if n0.dot(*n1) < 0.0 { n0 - n1 } else { n0 + n1 };
            if n.length_squared() > best.length_squared() {
                best = n;
            }
        }
        best.try_normalize()
    }

    /// Whether the polygon's plane certainly stays further than `separation` from the origin: a cubic lies within the
    /// hull of its Bernstein coefficients.
    pub(super) fn never_coplanar(&self, separation: f64) -> bool {
        let v = self.coplanarity();
        let mut error = self.coplanarity_error();
        if separation > 0.0 {
            error += separation * self.largest_normal();
        }
        v.iter().all(|&v| v > error) || v.iter().all(|&v| v < -error)
    }

    /// Signed volume of the first three corners as Bernstein coefficients of a cubic in time.
    ///
    /// It is linear in each corner, so its coefficients are the mixed volumes of start and end.
    pub(super) fn coplanarity(&self) -> [f64; 4] {
        let [a0, b0, c0] = [self.start[0], self.start[1], self.start[2]];
        let [a1, b1, c1] = [self.end[0], self.end[1], self.end[2]];
        let (b0c0, b1c1) = (b0.cross(c0), b1.cross(c1));
        let (b0c1, b1c0) = (b0.cross(c1), b1.cross(c0));
        [
            a0.dot(b0c0),
            (a1.dot(b0c0) + a0.dot(b1c0) + a0.dot(b0c1)) / 3.0,
            (a0.dot(b1c1) + a1.dot(b0c1) + a1.dot(b1c0)) / 3.0,
            a1.dot(b1c1),
        ]
    }

    /// Bound on the error of each coefficient of [`Gap::coplanarity`].
    pub(super) fn coplanarity_error(&self) -> f64 {
        COPLANARITY_ERROR * (self.scale.x * self.scale.y * self.scale.z) + UNDERFLOW
    }

    /// Upper bound on the length of the polygon's area vector (d₁−d₀)×(d₂−d₁) at any time.
    fn largest_normal(&self) -> f64 {
        let edges = |d: &[DVec3; N]| (d[1] - d[0], d[2] - d[1]);
        let ((e0, f0), (e1, f1)) = (edges(&self.start), edges(&self.end));
        let mixed = 0.5 * (e0.cross(f1) + e1.cross(f0));
        let longest = e0
            .cross(f0)
            .length()
            .max(e1.cross(f1).length())
            .max(mixed.length());
        // Edges are differences of corners, up to 2·scale: 4 products of two corners with 9 roundings each, per axis.
        let s = self.scale;
        let products = s.x * s.y + s.y * s.z + s.z * s.x;
        longest + 64.0 * f64::EPSILON * products + UNDERFLOW
    }

    /// Whether, seen along the fixed direction `z`, the origin certainly stays inside the polygon.
    fn surrounds(&self, z: DVec3) -> bool {
        let s = self.scale;
        let areas = DVec3::new(s.y * s.z, s.z * s.x, s.x * s.y);
        let error = AREA_ERROR * z.abs().dot(areas) + UNDERFLOW;
        let side = |i: usize, sign: f64| {
            let j = (i + 1) % N;
            let (i0, i1, j0, j1) = (self.start[i], self.end[i], self.start[j], self.end[j]);
            positive(
                sign * z.dot(i0.cross(j0)) - error,
                sign * 0.5 * (z.dot(i0.cross(j1)) + z.dot(i1.cross(j0))) - error,
                sign * z.dot(i1.cross(j1)) - error,
            )
        };
        [1.0, -1.0]
            .iter()
            .any(|&sign| (0..N).all(|i| side(i, sign)))
    }

    /// Whether the polygon certainly passes over the origin: it is coplanar with it at some moment (the volume changes
    /// sign) and surrounds it at every moment in a fixed projection.
    pub(super) fn certainly_meets(&self) -> bool {
        let v = self.coplanarity();
        let error = self.coplanarity_error();
        let changes = (v[0] > error && v[3] < -error) || (v[0] < -error && v[3] > error);
        changes && self.plane_normal().is_some_and(|z| self.surrounds(z))
    }
}
