//! Filters: cheap proofs in `f64` that a moving polygon keeps clear of the origin.
//!
//! Each filter says "certainly apart" or nothing. The bounds on rounding errors are derived beside
//! the constants and measured against exact integers by tests. Underflow is covered by
//! [`UNDERFLOW`], overflow cannot happen for coordinates up to 1e30 m (the highest degree here is
//! 6).
//!
//! Separating directions move, too: for any vectors `n₀`, `n₁` the direction `n(t) = (1−t) n₀ + t
//! n₁` separates at all times if the quadratics `n(t)·dₖ(t)` are positive for all corners `dₖ`.
//! Their Bernstein coefficients are
//!
//! ```text
//! q₀ = n₀·dₖ(0),   q₁ = (n₀·dₖ(1) + n₁·dₖ(0)) / 2,   q₂ = n₁·dₖ(1)
//! ```
//!
//! and a quadratic is positive on [0, 1] exactly if q₀ > 0, q₂ > 0 and q₁ > −√(q₀q₂). This is what
//! makes a sheet that turns and stretches in its own plane cheap: with `z` the plane's normal, `n =
//! z × edge` moves linearly, and `n(t)·dₖ(t)` is its start value times the (positive) growth of
//! area.

use glam::DVec3;

use super::closest::closest_to_origin;
use super::gap::Gap;

/// Covers the absolute error of all products that underflow: each loses at most 2⁻¹⁰⁷⁵, this is
/// 2⁻¹⁰²².
const UNDERFLOW: f64 = f64::MIN_POSITIVE;

/// Bound on the rounding error of one coordinate of a corner, in units of `scale` of its axis.
///
/// 3 · ε/2 ([`Gap::during`]). Rounded up, which also covers the rounding of the bound and of adding
/// a separation to it.
const CORNER_ERROR: f64 = 2.0 * f64::EPSILON;

/// Bound on the rounding error of one coefficient of [`Gap::separates`], in units of `Σ |nᵢ|
/// scaleᵢ`.
///
/// Corners carry 3 roundings ([`Gap::during`]), the dot product 3, the mean 1: 7 · ε/2. Rounded up
/// to 5 ε, which also covers the rounding of the bound itself and of its subtraction.
const DIRECTION_ERROR: f64 = 5.0 * f64::EPSILON;

/// Bound on the rounding error of [`Gap::coplanarity`], in units of the product of the three
/// scales.
///
/// Each of the 6 products of three coordinates carries 3 · 3 roundings of corners, 2 products, 1
/// subtraction inside ×, 2 additions of ·, 2 additions and 1 division of the mean: 17 · 6 · ε/2 =
/// 51 ε. Rounded up.
const COPLANARITY_ERROR: f64 = 60.0 * f64::EPSILON;

/// Bound on the rounding error of one coefficient of [`Gap::surrounds`], in units of `Σ |zᵢ| scaleⱼ
/// scaleₖ`.
///
/// Each of the two products per axis carries 2 · 3 roundings of corners, 1 product, 1 subtraction,
/// 3 of the dot product with `z`, 1 of the mean: 12 · 2 · ε/2 = 12 ε. Rounded up.
const AREA_ERROR: f64 = 16.0 * f64::EPSILON;

/// Factor that covers the roundings of comparing q₁² with q₀q₂: one of each factor, from
/// subtracting the bound, and one of each product, 7 · ε/2 in all.
const BELOW_ONE: f64 = 1.0 - 4.0 * f64::EPSILON;

/// Whether `q₀(1−t)² + 2q₁t(1−t) + q₂t²` is positive on [0, 1]; `false` for anything that is not a
/// number.
fn positive(q0: f64, q1: f64, q2: f64) -> bool {
    q0 > 0.0 && q2 > 0.0 && (q1 >= 0.0 || q1 * q1 + UNDERFLOW < q0 * q2 * BELOW_ONE)
}

/// Whether all coefficients are certainly on one side of 0.
fn keeps_sign(v: &[f64; 4], error: f64) -> bool {
    v.iter().all(|&v| v > error) || v.iter().all(|&v| v < -error)
}

/// Whether the first and the last coefficient are certainly on different sides of 0.
fn changes_sign(v: &[f64; 4], error: f64) -> bool {
    (v[0] > error && v[3] < -error) || (v[0] < -error && v[3] > error)
}

/// What the filters say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Judgement {
    /// The polygon certainly stays further than the separation from the origin.
    Never,
    /// It certainly passes over the origin: it is coplanar with it at some moment, as the volume changes sign, and surrounds it at
    /// every moment in a fixed projection. With the coefficients of the volume.
    Meets([f64; 4]),
    /// Neither is certain.
    Open,
}

/// The point of a polygon closest to the origin at the start: the direction to it does not separate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Closest(DVec3);

impl<const N: usize> Gap<N> {
    /// Whether a direction from one feature to the other, as they lie at the start, separates:
    /// between their middles, which is the cheapest and enough for most neighbours in a smooth
    /// cloth; or between their closest points, which is returned if it does not.
    pub(super) fn is_easily_apart(&self, separation: f64) -> Result<(), Closest> {
        if self.constant_separates(self.start.iter().sum(), separation) {
            return Ok(());
        }
        let closest = closest_to_origin(&self.start);
        match self.constant_separates(closest, separation) {
            true => Ok(()),
            false => Err(Closest(closest)),
        }
    }

    /// What the filters say of the whole motion; `closest` if that was found not to separate.
    ///
    /// Where touching is asked, the volume is looked at first: that it keeps its sign, or changes it over a polygon which surrounds
    /// the origin, decides most of what is worth asking about.
    pub(super) fn judge(&self, closest: Option<Closest>, separation: f64) -> Judgement {
        let (mut normal, mut may_be_coplanar) = (None, true);
        if separation == 0.0 {
            let volume = self.coplanarity();
            let error = self.coplanarity_error();
            if keeps_sign(&volume, error) {
                return Judgement::Never;
            }
            if changes_sign(&volume, error) {
                let across = self.plane_normal();
                if across.is_some_and(|z| self.surrounds(z)) {
                    return Judgement::Meets(volume);
                }
                normal = Some(across);
            }
            may_be_coplanar = false;
        }
        let is_apart = self.axis_separates(separation)
            || self.turning_separates(closest, separation)
            || self.edge_separates(normal.unwrap_or_else(|| self.plane_normal()), separation)
            || may_be_coplanar && self.never_coplanar(separation);
        match is_apart {
            true => Judgement::Never,
            false => Judgement::Open,
        }
    }

    /// Whether the direction to the closest point separates, as it is at the start or at the end, or turning evenly.
    fn turning_separates(&self, closest: Option<Closest>, separation: f64) -> bool {
        let n0 = closest.map_or_else(|| closest_to_origin(&self.start), |Closest(n0)| n0);
        if closest.is_none() && self.constant_separates(n0, separation) {
            return true;
        }
        let n1 = closest_to_origin(&self.end);
        if self.constant_separates(n1, separation) {
            return true;
        }
        // Of equal length, so that the direction turns evenly.
        match (n0.try_normalize(), n1.try_normalize()) {
            (Some(n0), Some(n1)) => self.separates(n0, n1, separation),
            _ => false,
        }
    }

    /// Whether a coordinate axis separates: the corners move straight, so both ends decide.
    fn axis_separates(&self, separation: f64) -> bool {
        let (mut min, mut max) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        for d in self.start.iter().chain(&self.end) {
            min = min.min(*d);
            max = max.max(*d);
        }
        let error = self.scale * CORNER_ERROR + (separation + UNDERFLOW);
        min.cmpgt(error).any() || max.cmplt(-error).any()
    }

    /// Whether the constant direction `n` separates: `n·dₖ` is linear in time, so both ends decide.
    fn constant_separates(&self, n: DVec3, separation: f64) -> bool {
        let length = if separation > 0.0 { n.length() } else { 0.0 };
        let error = self.direction_error(n.abs(), separation * length);
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

    /// Whether the line through an edge of the polygon, seen along the normal of its plane,
    /// separates.
    fn edge_separates(&self, plane_normal: Option<DVec3>, separation: f64) -> bool {
        let Some(z) = plane_normal else {
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

    /// Whether the polygon's plane certainly stays further than `separation` from the origin: a
    /// cubic lies within the hull of its Bernstein coefficients.
    pub(super) fn never_coplanar(&self, separation: f64) -> bool {
        let mut error = self.coplanarity_error();
        if separation > 0.0 {
            error += separation * self.largest_normal();
        }
        keeps_sign(&self.coplanarity(), error)
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
        // Edges are differences of corners, up to 2·scale: 4 products of two corners with 9
        // roundings each, per axis.
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

    /// Whether the polygon is certainly nearer to the origin than `distance` at the end of this
    /// part.
    ///
    /// The closest point is a mean of corners with weights that are off 1 by at most 3 roundings;
    /// with those of corners (3), products and sums of differences (8) it is within 14 · ε/2 · Σ
    /// scale of a point of the polygon; the length adds 3 roundings. Rounded up.
    pub(super) fn ends_within(&self, distance: f64) -> bool {
        let closest = closest_to_origin(&self.end).length();
        closest + 16.0 * f64::EPSILON * self.scale.element_sum() < distance
    }
}

#[cfg(test)]
mod tests {
    use num_rational::BigRational;
    use num_traits::{Signed, ToPrimitive, Zero};
    use proptest::prelude::*;

    use super::*;
    use crate::geometry::Sweep;
    use crate::random::Random;

    type Exact = [BigRational; 3];

    fn exact(x: f64) -> BigRational {
        BigRational::from_float(x).expect("a finite number")
    }

    fn lift(x: DVec3) -> Exact {
        x.to_array().map(exact)
    }

    fn dot(a: &Exact, b: &Exact) -> BigRational {
        (0..3).fold(BigRational::zero(), |sum, i| sum + &a[i] * &b[i])
    }

    fn cross(a: &Exact, b: &Exact) -> Exact {
        std::array::from_fn(|i| {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            &a[j] * &b[k] - &a[k] * &b[j]
        })
    }

    /// The true corners of the vertex-face polygon at a time.
    fn corners(sweep: &Sweep, t: f64) -> [Exact; 3] {
        let at = |i: usize| -> Exact {
            let (x0, x1) = (lift(sweep.start[i]), lift(sweep.end[i]));
            std::array::from_fn(|k| &x0[k] * (exact(1.0) - exact(t)) + &x1[k] * exact(t))
        };
        let p = at(0);
        std::array::from_fn(|i| {
            let x = at(i + 1);
            std::array::from_fn(|k| &p[k] - &x[k])
        })
    }

    /// How much of the bound the error uses up.
    fn share(computed: f64, truth: &BigRational, bound: f64) -> f64 {
        let share = (exact(computed) - truth).abs() / exact(bound);
        share.to_f64().expect("a ratio of finite numbers")
    }

    /// The largest share of each bound (corner, direction, coplanarity, area) that errors of one
    /// motion use up.
    fn shares(sweep: &Sweep, from: f64, to: f64, n0: DVec3, n1: DVec3) -> [f64; 4] {
        let gap = Gap::vertex_face(sweep).during(from, to);
        let (start, end) = (corners(sweep, from), corners(sweep, to));
        let (m0, m1) = (lift(n0), lift(n1));
        let half = exact(0.5);

        let mut corner: f64 = 0.0;
        for (computed, truth) in gap
            .start
            .iter()
            .chain(&gap.end)
            .zip(start.iter().chain(&end))
        {
            for axis in 0..3 {
                let bound = CORNER_ERROR * gap.scale[axis] + UNDERFLOW;
                corner = corner.max(share(computed[axis], &truth[axis], bound));
            }
        }

        let bound = DIRECTION_ERROR * n0.abs().max(n1.abs()).dot(gap.scale) + UNDERFLOW;
        let mut direction: f64 = 0.0;
        for k in 0..3 {
            let mixed = (dot(&m0, &end[k]) + dot(&m1, &start[k])) * &half;
            let computed = 0.5 * (n0.dot(gap.end[k]) + n1.dot(gap.start[k]));
            direction = direction.max(share(computed, &mixed, bound));
            direction = direction.max(share(n0.dot(gap.start[k]), &dot(&m0, &start[k]), bound));
        }

        let volume = |a: &Exact, b: &Exact, c: &Exact| dot(a, &cross(b, c));
        let ([a0, b0, c0], [a1, b1, c1]) = (&start, &end);
        let third = exact(3.0).recip();
        let truth = [
            volume(a0, b0, c0),
            (volume(a1, b0, c0) + volume(a0, b1, c0) + volume(a0, b0, c1)) * &third,
            (volume(a0, b1, c1) + volume(a1, b0, c1) + volume(a1, b1, c0)) * &third,
            volume(a1, b1, c1),
        ];
        let computed = gap.coplanarity();
        let coplanarity = (0..4)
            .map(|i| share(computed[i], &truth[i], gap.coplanarity_error()))
            .fold(0.0, f64::max);

        let s = gap.scale;
        let areas = DVec3::new(s.y * s.z, s.z * s.x, s.x * s.y);
        let bound = AREA_ERROR * n0.abs().dot(areas) + UNDERFLOW;
        let mut area: f64 = 0.0;
        for i in 0..3 {
            let j = (i + 1) % 3;
            let mixed = (dot(&m0, &cross(&start[i], &end[j]))
                + dot(&m0, &cross(&end[i], &start[j])))
                * &half;
            let computed = 0.5
                * (n0.dot(gap.start[i].cross(gap.end[j])) + n0.dot(gap.end[i].cross(gap.start[j])));
            area = area.max(share(computed, &mixed, bound));
        }
        [corner, direction, coplanarity, area]
    }

    fn coordinate() -> impl Strategy<Value = f64> {
        prop_oneof![
            -1.0..1.0,
            (-1.0..1.0).prop_map(|x: f64| 1.0 + x * 1e-9),
            (-1.0..1.0, -70i32..30).prop_map(|(x, e): (f64, i32)| if x == 0.0 {
                0.0
            } else {
                x.signum() * (0.1 + 0.9 * x.abs()) * 10f64.powi(e)
            }),
            (-3i32..4).prop_map(f64::from),
        ]
    }

    fn vector() -> impl Strategy<Value = DVec3> {
        [coordinate(), coordinate(), coordinate()].prop_map(DVec3::from)
    }

    fn time() -> impl Strategy<Value = f64> {
        (0u32..=1 << 20).prop_map(|k| f64::from(k) / f64::from(1 << 20))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn rounding_errors_stay_below_their_bounds(
            start in prop::array::uniform4(vector()),
            end in prop::array::uniform4(vector()),
            times in (time(), time()),
            n in (vector(), vector()),
        ) {
            let (from, to) = (times.0.min(times.1), times.0.max(times.1));
            for share in shares(&Sweep { start, end }, from, to, n.0, n.1) {
                prop_assert!(share <= 1.0, "{share}");
            }
        }
    }

    /// A bound that nothing comes near would hide a wrong derivation; random motions use this much
    /// of each.
    #[test]
    fn rounding_errors_reach_a_fair_share_of_their_bounds() {
        let mut random = Random(1);
        let mut unit = || random.centred();
        let mut most = [0.0f64; 4];
        for _ in 0..300 {
            let mut vector = || DVec3::new(unit(), unit(), unit());
            let sweep = Sweep {
                start: std::array::from_fn(|_| vector()),
                end: std::array::from_fn(|_| vector()),
            };
            let (n0, n1) = (vector(), vector());
            let from = (0.5 + unit()) * 0.5;
            let from = (from * 1024.0).round() / 1024.0;
            for (most, share) in most
                .iter_mut()
                .zip(shares(&sweep, from, from + 0.25, n0, n1))
            {
                *most = most.max(share);
            }
        }
        println!("shares of the bounds: {most:?}");
        assert!(most.iter().all(|&share| share > 0.025), "{most:?}");
    }

    #[test]
    fn the_bounds_are_at_least_what_was_derived() {
        let half_ulp = f64::EPSILON / 2.0;
        let corner = 3.0;
        assert!(CORNER_ERROR >= (corner + 1.0) * half_ulp);
        assert!(DIRECTION_ERROR >= (corner + 3.0 + 1.0) * half_ulp);
        assert!(COPLANARITY_ERROR >= 6.0 * (3.0 * corner + 5.0 + 3.0) * half_ulp);
        assert!(AREA_ERROR >= 2.0 * (2.0 * corner + 2.0 + 3.0 + 1.0) * half_ulp);
        let below_one = 1.0 - BELOW_ONE;
        assert!(below_one >= 7.0 * half_ulp);
    }

    #[test]
    fn a_quadratic_is_positive_exactly_above_its_discriminant() {
        assert!(positive(1.0, 0.0, 1.0));
        assert!(positive(1.0, -0.999, 1.0));
        assert!(!positive(1.0, -1.0, 1.0), "it vanishes in the middle");
        assert!(positive(4.0, -1.99, 1.0));
        assert!(!positive(0.0, 1.0, 1.0));
        assert!(!positive(1.0, f64::NAN, 1.0));
        assert!(!positive(1e-200, -1e-190, 1e-200), "the squares underflow");
    }

    #[test]
    fn products_that_underflow_prove_nothing() {
        // In units of the smallest number: 0.55 rounds to 1, twice −0.45 to 0; the sum is 1 instead
        // of −0.35.
        let n = DVec3::splat(2f64.powi(-540));
        let d = DVec3::new(0.55, -0.45, -0.45) * 2f64.powi(-534);
        let gap = Gap {
            start: [d; 3],
            end: [d; 3],
            scale: d.abs(),
        };
        assert!(n.dot(d) > 0.0);
        assert!(!gap.constant_separates(n, 0.0));
        assert!(!gap.separates(n, n, 0.0));

        let [a, b, c] = [DVec3::X, DVec3::Y, DVec3::Z].map(|e| e * 2f64.powi(-358) * 0.9);
        let gap = Gap {
            start: [a, b, c],
            end: [a, b, c],
            scale: (a + b + c) * 0.5,
        };
        assert!(gap.coplanarity().iter().all(|&v| v > 0.0));
        assert!(
            !gap.never_coplanar(0.0),
            "a volume of one smallest number may be any"
        );
    }

    #[test]
    fn a_corner_that_rounding_puts_on_the_wrong_side_separates_nothing() {
        let mut random = Random(5);
        let mut unit = || random.share();
        let mut wrong = 0;
        for _ in 0..20_000 {
            // A vertex that crosses the plane of a face, at x = `plane`, at about the time `t`.
            let t = ((1.0 + 62.0 * unit()) as u32) as f64 / 64.0;
            let (plane0, plane1) = (0.5 * unit(), 0.5 * unit());
            let from = 0.5 + unit();
            let to = plane1 - (from - plane0) * (1.0 - t) / t;
            let face = |x: f64| {
                [
                    DVec3::new(x, 1.0, 0.0),
                    DVec3::new(x, -1.0, 1.0),
                    DVec3::new(x, -1.0, -1.0),
                ]
            };
            let at = |x: f64, plane: f64| {
                let [a, b, c] = face(plane);
                [DVec3::new(x, 0.0, 0.0), a, b, c]
            };
            let sweep = Sweep {
                start: at(from, plane0),
                end: at(to, plane1),
            };
            let gap = Gap::vertex_face(&sweep).during(0.0, t);
            if gap.end[0].x > 0.0 && !corners(&sweep, t)[0][0].is_positive() {
                wrong += 1;
                assert!(!gap.axis_separates(0.0));
                assert!(!gap.constant_separates(DVec3::X, 0.0));
                assert!(!gap.separates(DVec3::X, DVec3::X, 0.0));
                assert!(!gap.never_coplanar(0.0));
            }
        }
        assert!(wrong > 100, "only {wrong} wrong signs");
    }

    #[test]
    fn a_flat_polygon_is_separated_on_each_of_its_sides() {
        // A parallelogram in the plane z = 0, the origin beyond one side after the other; it turns
        // by a right angle and is stretched, so that neither a constant direction nor one that
        // turns evenly would do for all shapes.
        let corners = [(-3.0, -1.0), (2.0, -1.0), (3.0, 1.0), (-2.0, 1.0)]
            .map(|(x, y)| DVec3::new(x, y, 0.0));
        for shift in [
            DVec3::Y * 1.5,
            -DVec3::Y * 1.5,
            DVec3::X * 3.5,
            -DVec3::X * 3.5,
        ] {
            let start = corners.map(|d| d + shift);
            let end = start.map(|d| DVec3::new(-2.0 * d.y, 0.5 * d.x, 0.0));
            let gap = Gap {
                start,
                end,
                scale: DVec3::new(7.0, 7.0, 0.0),
            };
            assert!(gap.edge_separates(gap.plane_normal(), 0.0), "{shift}");
        }
    }
}
