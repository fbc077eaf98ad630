//! Orientation of four vertices, never zero: degenerate contacts are decided by a symbolic
//! perturbation.
//!
//! A vertex exactly on a face, edges that touch, faces in one plane and vertices at one place are
//! all common in made meshes, and every one of them would break the rule that two crossing faces
//! meet in one segment with two ends. So vertex i is thought to lie at
//!
//! ```text
//! xᵢ + α i u + β i² v + γ i³ (u × v),    1 ≫ α ≫ β ≫ γ > 0, smaller than any number
//! ```
//!
//! each smaller than all powers of the one before, with u = a − c and v = b − a two sides of the first face a, b, c whose
//! area is not exactly zero, and the axes instead of u, v, u × v where there is none ([`Frame`]). This is the idea of \[EM90\], simulation of
//! simplicity. We differ: each coordinate has its number squared or cubed instead of a power of ε for each vertex (as
//! Emiris and Canny do), because then the proof is short: of the orientation of four vertices, a polynomial in α, β, γ, the
//! coefficient of αβγ is the Vandermonde determinant of their numbers times |u × v|², hence not zero, and its sign is that of
//! the first coefficient that is not zero, in the order α, β, αβ, γ, αγ, βγ, αβγ of their sizes; powers do not occur, for two
//! rows along one direction have no volume. All answers are about *one* perturbed mesh in general position, so
//! that they fit each other. What is not degenerate is not affected; what is depends on the vertex numbers and on the frame. The frame
//! moves with the mesh, and every coefficient scales as a whole: a mesh that is turned, shifted or scaled exactly gets the same answers.
//! With the axes for directions, or one ε for all three, it would not.

use dashu_int::{IBig, Sign};
use glam::DVec3;
use robust::Coord3D;

/// Rounding error of `(b − a) × (c − a) · (d − a)` relative to the sum of its terms' magnitudes.
///
/// A term is a product of three differences (3 roundings and 2 products), passes the subtraction of
/// the cross product and two additions: 8 u = 4 ε (u = ε/2); one more ε for the rounding of the
/// magnitudes themselves.
pub(super) const VOLUME_ERROR: f64 = 5.0 * f64::EPSILON;

/// Six times the signed volume of a tetrahedron, with its rounding error.
///
/// No underflow in the range of [`crate::geometry::mesh::check_positions`]: differences are 0 or
/// multiples of 1e-86, products of three of them 0 or above 1e-258.
pub(super) fn volume([a, b, c, d]: [DVec3; 4]) -> (f64, f64) {
    let (u, v, w) = (b - a, c - a, d - a);
    let magnitude = cross_magnitude(u, v).dot(w.abs());
    (u.cross(v).dot(w), VOLUME_ERROR * magnitude)
}

/// Sum of the magnitudes of the terms of each component of u × v.
pub(super) fn cross_magnitude(u: DVec3, v: DVec3) -> DVec3 {
    let (u, v) = (u.abs(), v.abs());
    DVec3::new(
        u.y * v.z + u.z * v.y,
        u.z * v.x + u.x * v.z,
        u.x * v.y + u.y * v.x,
    )
}

/// Sign of (b − a) × (c − a) · (d − a) at the stored positions; exact.
pub(super) fn sign(x: &[DVec3], vertices: [u32; 4]) -> i32 {
    let points = vertices.map(|v| x[v as usize]);
    let (value, error) = volume(points);
    if value.abs() > error {
        return if value > 0.0 { 1 } else { -1 };
    }
    let [a, b, c, d] = points.map(|p| Coord3D {
        x: p.x,
        y: p.y,
        z: p.z,
    });
    // counts as positive below the plane: the opposite of ours
    let below = robust::orient3d(a, b, c, d);
    i32::from(below < 0.0) - i32::from(below > 0.0)
}

/// The directions of a perturbation.
#[derive(Clone, Copy, Debug)]
pub(super) enum Frame {
    /// Two sides of a face of some area, by its corners, and their cross product.
    Face([u32; 3]),
    /// The axes: no face has an area.
    Axes,
}

impl Frame {
    /// That of the first of some faces that has an area; exact.
    pub(super) fn first(x: &[DVec3], faces: &[[u32; 3]]) -> Self {
        let has_area = |face: &&[u32; 3]| {
            let [a, b, c] = face.map(|v| x[v as usize]);
            let (u, v) = (b - a, c - a);
            let error = VOLUME_ERROR * cross_magnitude(u, v);
            u.cross(v).abs().cmpgt(error).any() || {
                let [_, _, normal] = Self::Face(**face).directions(x);
                normal.iter().any(|c| *c != IBig::ZERO)
            }
        };
        faces
            .iter()
            .find(has_area)
            .map_or(Self::Axes, |&f| Self::Face(f))
    }

    fn directions(self, x: &[DVec3]) -> [Integers; 3] {
        let axes = [DVec3::X, DVec3::Y, DVec3::Z];
        let Self::Face(corners) = self else {
            return integers(axes);
        };
        // their scale does not matter: each has an infinitesimal of its own; which sides these are, and in which order, is
        // arbitrary in theory, and measured for one type (docs/measurements.md, bllb)
        let [a, b, c] = integers(corners.map(|v| x[v as usize]));
        let (u, v) = (minus(&a, &c), minus(&b, &a));
        let normal = cross(&u, &v);
        [u, v, normal]
    }
}

/// Whether (b − a) × (c − a) · (d − a) > 0 after the perturbation; the four vertices must differ.
pub(super) fn is_positive(x: &[DVec3], frame: Frame, vertices: [u32; 4]) -> bool {
    match sign(x, vertices) {
        0 => perturbed_is_positive(x, frame, vertices),
        s => s > 0,
    }
}

type Integers = [IBig; 3];

#[cold]
fn perturbed_is_positive(x: &[DVec3], frame: Frame, vertices: [u32; 4]) -> bool {
    let [a, b, c, d] = integers(vertices.map(|v| x[v as usize]));
    let still = [minus(&b, &a), minus(&c, &a), minus(&d, &a)];
    let directions = frame.directions(x);
    // numbers of the last three vertices less that of the first, then their squares, their cubes
    let moved = [1, 2, 3].map(|power| {
        let [first, others @ ..] = vertices.map(|v| IBig::from(v).pow(power));
        others.map(|number| number - &first)
    });
    // a row of the determinant is still (0) or along a direction (1 to 3); bit k of a set stands for direction k
    let choices = || (0..64u32).map(|c| [c & 3, c >> 2 & 3, c >> 4]);
    for wanted in 1..8u32 {
        let mut coefficient = IBig::ZERO;
        for choice in choices() {
            let along = choice.iter().filter(|&&c| c > 0);
            let set = along.clone().fold(0, |set, c| set | 1 << (c - 1));
            if set != wanted || along.count() != set.count_ones() as usize {
                continue;
            }
            let row = |r: usize| match choice[r] {
                0 => &still[r],
                k => &directions[k as usize - 1],
            };
            let factors = (0..3).filter(|&r| choice[r] > 0);
            let factor: IBig = factors.map(|r| &moved[choice[r] as usize - 1][r]).product();
            coefficient += factor * determinant(row(0), row(1), row(2));
        }
        if coefficient != IBig::ZERO {
            return coefficient.sign() == Sign::Positive;
        }
    }
    unreachable!("the vertices {vertices:?} are not all different")
}

fn determinant(u: &Integers, v: &Integers, w: &Integers) -> IBig {
    let [x, y, z] = cross(u, v);
    x * &w[0] + y * &w[1] + z * &w[2]
}

fn cross(u: &Integers, v: &Integers) -> Integers {
    [
        &u[1] * &v[2] - &u[2] * &v[1],
        &u[2] * &v[0] - &u[0] * &v[2],
        &u[0] * &v[1] - &u[1] * &v[0],
    ]
}

fn minus(a: &Integers, b: &Integers) -> Integers {
    std::array::from_fn(|k| &a[k] - &b[k])
}

/// The points as integers, all scaled by the same power of two.
fn integers<const N: usize>(points: [DVec3; N]) -> [Integers; N] {
    // x = mantissa · 2^exponent; subnormal numbers are outside the range of `check_positions`
    let parts = points.map(|p| {
        p.to_array().map(|x| {
            let bits = x.to_bits();
            let exponent = (bits >> 52 & 0x7ff) as i64;
            let mantissa = (bits & ((1 << 52) - 1) | 1 << 52) as i64;
            let signed = if x < 0.0 { -mantissa } else { mantissa };
            (if x == 0.0 { 0 } else { signed }, exponent)
        })
    });
    let nonzero = parts
        .iter()
        .flatten()
        .filter(|(mantissa, _)| *mantissa != 0);
    let least = nonzero.map(|&(_, exponent)| exponent).min().unwrap_or(0);
    parts.map(|p| {
        p.map(|(mantissa, exponent)| {
            // zeros may lie below the least exponent
            IBig::from(mantissa) << (exponent - least).max(0) as usize
        })
    })
}

/// Whether two edges cross the plane of a face in the same point; exact, at the stored positions.
///
/// Neither edge may lie in the plane. With o = orientation relative to the face, the point is
/// `(o(q) p − o(p) q) / (o(q) − o(p))`; the quotients are compared by cross multiplication.
pub(super) fn same_point(x: &[DVec3], face: [u32; 3], first: [u32; 2], second: [u32; 2]) -> bool {
    let at = |v: u32| x[v as usize];
    let [a, b, c] = face;
    let ([p, q], [r, s]) = (first, second);
    let [a, b, c, p, q, r, s] = integers([at(a), at(b), at(c), at(p), at(q), at(r), at(s)]);
    let (u, v) = (minus(&b, &a), minus(&c, &a));
    let point = |p: &Integers, q: &Integers| -> (Integers, IBig) {
        let side = |d: &Integers| determinant(&u, &v, &minus(d, &a));
        let (at_p, at_q) = (side(p), side(q));
        let top = std::array::from_fn(|k| &at_q * &p[k] - &at_p * &q[k]);
        (top, at_q - at_p)
    };
    let ((m, i), (n, j)) = (point(&p, &q), point(&r, &s));
    i != IBig::ZERO && j != IBig::ZERO && (0..3).all(|k| &m[k] * &j == &n[k] * &i)
}

#[cfg(test)]
mod tests {
    use num_bigint::BigInt;
    use num_rational::BigRational;
    use num_traits::{Signed, Zero};
    use proptest::prelude::*;

    use super::*;
    use crate::oracle::position;

    /// x · 2^1400; exact for coordinates that are multiples of 2^-1074.
    fn scaled(x: f64) -> BigInt {
        let ratio: BigRational = BigRational::from_float(x).unwrap() * (BigInt::from(1) << 1400);
        ratio.to_integer()
    }

    /// The determinant of the perturbed matrix in integers, at α, β, γ so small that nothing else
    /// matters.
    ///
    /// Coordinates are multiples of 2^-300 below 4 and vertex numbers below 10: coefficients are
    /// 0 or above 2^-1200, and below 2^80; α, β, γ are 2^-1500, 2^-6000 and 2^-24000.
    fn sign_at_small_epsilon(x: &[DVec3], frame: Frame, vertices: [u32; 4]) -> i32 {
        // places, then what is small, as multiples of 2^-25400
        let big = |p: DVec3| p.to_array().map(scaled);
        let directions = match frame {
            Frame::Axes => [DVec3::X, DVec3::Y, DVec3::Z].map(big),
            Frame::Face(face) => {
                let [a, b, c] = face.map(|v| big(x[v as usize]));
                let minus = |p: &[BigInt; 3], q: &[BigInt; 3]| [0, 1, 2].map(|k| &p[k] - &q[k]);
                let (u, v) = (minus(&a, &c), minus(&b, &a));
                let normal =
                    [(1, 2), (2, 0), (0, 1)].map(|(i, j)| (&u[i] * &v[j] - &u[j] * &v[i]) >> 1400);
                [u, v, normal]
            }
        };
        let rows = vertices.map(|v| {
            let p = big(x[v as usize]);
            let i = BigInt::from(v);
            [0, 1, 2].map(|k| {
                let small = (0..3).map(|d| {
                    let shift = 24_000 - [1500, 6000, 24_000][d];
                    (&directions[d][k] * i.pow(d as u32 + 1)) << shift
                });
                (&p[k] << 24_000) + small.sum::<BigInt>()
            })
        });
        let difference = |r: usize| [0, 1, 2].map(|k| &rows[r][k] - &rows[0][k]);
        let [u, v, w] = [difference(1), difference(2), difference(3)];
        let mut value = BigInt::zero();
        for (i, j, k) in [(0, 1, 2), (1, 2, 0), (2, 0, 1)] {
            value += &u[i] * (&v[j] * &w[k] - &v[k] * &w[j]);
        }
        i32::from(value.is_positive()) - i32::from(value.is_negative())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn the_sign_is_that_of_a_really_perturbed_mesh(
            x in prop::collection::vec(position(), 4),
            numbers in Just((0..9u32).collect::<Vec<_>>()).prop_shuffle(),
            equal in 0..4usize,
            face in [0..4usize, 0..4usize, 0..4usize],
        ) {
            // some vertices at the same place
            let mut all = vec![x[3]; 9];
            let vertices = [numbers[0], numbers[1], numbers[2], numbers[3]];
            for (k, &v) in vertices.iter().enumerate() {
                all[v as usize] = x[k.max(equal)];
            }
            let [a, b, c] = face.map(|k| x[k]);
            all.extend([a, b, c]);
            let frame = Frame::first(&all, &[[9, 10, 11]]);
            let expected = sign_at_small_epsilon(&all, frame, vertices);
            prop_assert!(expected != 0);
            prop_assert_eq!(is_positive(&all, frame, vertices), expected > 0);
        }

        #[test]
        fn swapping_two_vertices_turns_the_sign(x in prop::collection::vec(position(), 4), j in 1..4usize, i in 0..3usize) {
            prop_assume!(i != j);
            let mut other = [0, 1, 2, 3];
            other.swap(i, j);
            let frame = Frame::first(&x, &[[0, 1, 2]]);
            prop_assert_eq!(is_positive(&x, frame, [0, 1, 2, 3]), !is_positive(&x, frame, other));
        }

        #[test]
        fn the_float_volume_keeps_within_its_error(x in prop::collection::vec([-1e3..1e3f64, -1.0..1.0f64, 0.0..1e-3f64], 4)) {
            let points = [0, 1, 2, 3].map(|k| DVec3::from_array(x[k]));
            let (value, error) = volume(points);
            let rational = |p: DVec3| p.to_array().map(|c| BigRational::from_float(c).unwrap());
            let [a, b, c, d] = points.map(rational);
            let minus = |p: &[BigRational; 3], q: &[BigRational; 3]| [0, 1, 2].map(|k| &p[k] - &q[k]);
            let (u, v, w) = (minus(&b, &a), minus(&c, &a), minus(&d, &a));
            let mut exact = BigRational::zero();
            for (i, j, k) in [(0, 1, 2), (1, 2, 0), (2, 0, 1)] {
                exact += &u[i] * (&v[j] * &w[k] - &v[k] * &w[j]);
            }
            let off = (BigRational::from_float(value).unwrap() - exact).abs();
            prop_assert!(off <= BigRational::from_float(error).unwrap());
        }
    }

    #[test]
    fn the_frame_is_of_the_first_face_with_an_area_however_small() {
        let x = [
            [0.0, 0.0, 0.0],
            [1.0, 1.0, 0.0],
            [3.0, 3.0, 0.0],
            [1.0f64.next_up(), 1.0, 0.0], // floats do not know on which side of 0, 1
            [0.0, 0.0, 1.0],
        ]
        .map(DVec3::from_array);
        let first = |faces: &[[u32; 3]]| match Frame::first(&x, faces) {
            Frame::Face(face) => Some(face),
            Frame::Axes => None,
        };
        assert_eq!(first(&[[0, 1, 2], [0, 1, 3], [0, 1, 4]]), Some([0, 1, 3]));
        assert_eq!(first(&[[0, 1, 2], [0, 1, 4]]), Some([0, 1, 4]));
        assert_eq!(first(&[[0, 1, 2]]), None);
    }

    #[test]
    fn points_of_piercing_are_compared_exactly() {
        let x = [
            [0.0, 0.0, 0.0],
            [3.0, 0.0, 0.0],
            [0.0, 3.0, 0.0],
            [0.0, 0.0, -1.0],
            [0.5, 0.5, 0.5], // pierces in thirds
            [0.0, 0.0, -2.0],
            [0.5, 0.5, 1.0],
            [0.5, 0.5, 1.0f64.next_up()],
        ]
        .map(DVec3::from_array);
        assert!(same_point(&x, [0, 1, 2], [3, 4], [5, 6]));
        assert!(!same_point(&x, [0, 1, 2], [3, 4], [5, 7]));
    }
}
