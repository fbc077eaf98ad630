//! Looks at eight pairs of faces at a time, in single precision: directions that prove them apart at an instant.
//!
//! Most faces without a common vertex whose boxes overlap are parted by the direction from middle to middle, as neighbours in smooth
//! cloth are, or by one across either of them, as layers are. Any direction is right; what none of them parts is for exact predicates.

use glam::{DVec3, Vec4};
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::bvh::FacePair;
use super::lanes::{Eight, EightVectors, LANES, Lanes, Vectors};
use super::sweep32::{UNDERFLOW, largest_of};

/// Positions rounded to single precision.
pub(super) struct Positions32 {
    /// The vector instructions of this processor.
    arch: Arch,
    /// The fourth coordinate is 0.
    x: Vec<Vec4>,
    /// Largest coordinate, in metres; infinite if it is so large that products could overflow.
    largest: f32,
}

impl Positions32 {
    pub(super) fn of(x: &[DVec3]) -> Self {
        let each = x.par_iter().with_min_len(4096);
        let x: Vec<Vec4> = each.map(|x| x.as_vec3().extend(0.0)).collect();
        let parts = x.par_chunks(4096);
        let largest = parts.map(|x| largest_of(x.iter().copied()));
        let largest = largest.reduce(|| 0.0, f32::max);
        Self {
            arch: Arch::new(),
            x,
            largest,
        }
    }
}

/// Pairs of faces that wait for their look.
#[derive(Clone, Debug)]
pub(super) struct FaceLooks {
    pairs: [FacePair; LANES],
    count: usize,
    /// From the first corner of the first face to its other two, and to those of the second.
    corners: [EightVectors; 5],
}

impl Default for FaceLooks {
    fn default() -> Self {
        Self {
            pairs: [FacePair::NONE; LANES],
            count: 0,
            corners: [EightVectors::ZERO; 5],
        }
    }
}

impl FaceLooks {
    /// Takes a pair, and gives what is not proved apart to `open`, now or later.
    #[inline]
    pub(super) fn add(&mut self, pair: FacePair, x: &Positions32, open: impl FnMut(FacePair)) {
        let k = self.count;
        let [[o, a, b], [c, d, e]] = pair.corners;
        let origin = x.x[o as usize];
        for (v, at) in [a, b, c, d, e].into_iter().zip(&mut self.corners) {
            let corner = x.x[v as usize] - origin;
            (at.x.0[k], at.y.0[k], at.z.0[k]) = (corner.x, corner.y, corner.z);
        }
        self.pairs[k] = pair;
        self.count += 1;
        if self.count == LANES {
            self.finish(x, open);
        }
    }

    /// Looks at all that wait.
    #[inline(never)]
    pub(super) fn finish(&mut self, x: &Positions32, open: impl FnMut(FacePair)) {
        let (corners, largest) = (&self.corners, x.largest);
        let apart = x.arch.dispatch(Parted { corners, largest });
        let count = std::mem::take(&mut self.count);
        let left = (0..count).filter(|k| apart >> k & 1 == 0);
        left.map(|k| self.pairs[k]).for_each(open);
    }
}

/// Which pairs are apart, as bits, as the processor's vector instructions tell.
struct Parted<'a> {
    corners: &'a [EightVectors; 5],
    largest: f32,
}

impl WithSimd for Parted<'_> {
    type Output = u8;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> u8 {
        let mut beyond = Eight::ZERO;
        for part in 0..LANES / S::F32_LANES {
            let [a, b, c, d, e] = self.corners;
            let faces = Faces {
                first: [a.load(simd, part), b.load(simd, part)],
                second: [c.load(simd, part), d.load(simd, part), e.load(simd, part)],
            };
            faces.look(self.largest).store(&mut beyond, part);
        }
        let bit = |k: usize| u8::from(beyond.0[k] > 0.0) << k;
        (0..LANES).fold(0, |bits, k| bits | bit(k))
    }
}

/// Bound on the error of the difference of two projections, in units of N (M + 2L): N the largest coordinate of the direction, L that
/// of all differences from the corner they start from, M that of all positions; u = ε/2.
///
/// The direction is taken as it is. A coordinate of a difference is off by 2uM from rounding two positions and by uL from rounding
/// itself; three products and two sums add 3u · NL for each axis: at most 3N (2uM + 4uL) for a projection and 12uN (M + 2L) for two, to
/// which their difference, of at most 6NL, adds 6uNL: together 15uN (M + 2L). The rest is for the rounding of this bound.
const COMPARISON_ERROR: f32 = 9.0 * f32::EPSILON;

/// Pairs of faces, as many as fill the registers, from the first corner of the first.
struct Faces<S: Simd> {
    first: [Vectors<S>; 2],
    second: [Vectors<S>; 3],
}

impl<S: Simd> Faces<S> {
    /// Positive where a direction parts the faces. Without closures: one that is not inlined loses the processor's vector instructions.
    #[inline(always)]
    fn look(&self, largest: f32) -> Lanes<S> {
        let ([a, b], [c, d, e]) = (self.first, self.second);
        let first = a.size().max(b.size());
        let size = first.max(c.size()).max(d.size()).max(e.size());
        let scale = size + size + size.all(largest);
        let middle = (c + d + e) - (a + b);
        let (across, other) = (a.cross(b), (d - c).cross(e - c));
        let by_across = self.parted_by(across, scale);
        let by_other = self.parted_by(other, scale);
        self.parted_by(middle, scale).max(by_across).max(by_other)
    }

    /// Positive where a direction does.
    #[inline(always)]
    fn parted_by(&self, n: Vectors<S>, scale: Lanes<S>) -> Lanes<S> {
        let ([a, b], [c, d, e]) = (self.first, self.second);
        let (a, b) = (n.dot(a), n.dot(b));
        let (c, d, e) = (n.dot(c), n.dot(d), n.dot(e));
        let none = a.all(0.0);
        let (least_first, most_first) = (none.min(a).min(b), none.max(a).max(b));
        let (least, most) = (c.min(d).min(e), c.max(d).max(e));
        let error = a.all(COMPARISON_ERROR) * n.size() * scale + a.all(UNDERFLOW);
        (least - most_first).max(least_first - most) - error
    }
}

#[cfg(test)]
mod tests {
    use num_rational::BigRational;
    use num_traits::Signed;
    use proptest::prelude::*;
    use pulp::Scalar;

    use super::*;
    use crate::oracle::{cross_by_definition, nearly_touching};

    /// Pairs of faces in one list of positions.
    fn pairs(each: &[[DVec3; 6]]) -> (Vec<DVec3>, Vec<FacePair>) {
        let pair = |k: u32| FacePair {
            faces: [2 * k, 2 * k + 1],
            corners: [
                [6 * k, 6 * k + 1, 6 * k + 2],
                [6 * k + 3, 6 * k + 4, 6 * k + 5],
            ],
        };
        (each.concat(), (0..each.len() as u32).map(pair).collect())
    }

    /// What looks leave, by its place.
    fn left(each: &[[DVec3; 6]]) -> Vec<u32> {
        let (x, pairs) = pairs(each);
        let x = Positions32::of(&x);
        let (mut looks, mut open) = (FaceLooks::default(), Vec::new());
        for pair in pairs {
            looks.add(pair, &x, |pair| open.push(pair.faces[0] / 2));
        }
        looks.finish(&x, |pair| open.push(pair.faces[0] / 2));
        open.sort_unstable();
        open
    }

    /// Two faces of any tilt, a small way apart or through each other, at some place.
    fn near() -> impl Strategy<Value = [DVec3; 6]> {
        let point = || prop::array::uniform3(-1.0..1.0f64).prop_map(DVec3::from_array);
        let thickness = prop_oneof![Just(0.0), Just(1e-6), Just(1e-3), Just(1.0)];
        let place = prop_oneof![Just(0.0f64), Just(1.0), Just(1e3), Just(1e6)];
        (
            prop::array::uniform6(point()),
            point(),
            thickness,
            place,
            -3e-6..3e-6f64,
        )
            .prop_map(|(x, n, thickness, place, lift)| {
                let n = n.normalize_or(DVec3::Z);
                let flat = |k: usize| {
                    x[k] - n * n.dot(x[k]) * (1.0 - thickness)
                        + if k < 3 {
                            n * lift * place.max(1.0)
                        } else {
                            DVec3::ZERO
                        }
                };
                std::array::from_fn(|k| flat(k) + place)
            })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn what_a_look_finds_apart_does_not_meet(each in prop::collection::vec(near(), 11), touching in nearly_touching()) {
            let touching = <[DVec3; 6]>::try_from(&touching[..6]).unwrap();
            let each = [&each[..], &[touching]].concat();
            let left = left(&each);
            for (k, x) in each.iter().enumerate() {
                let meet = cross_by_definition([0, 1, 2], [3, 4, 5], x);
                prop_assert!(!meet || left.contains(&(k as u32)), "{x:?}");
            }
        }

        #[test]
        fn every_lane_says_what_it_says_alone_on_any_processor(each in prop::collection::vec(near(), 8)) {
            let (x, pairs) = pairs(&each);
            let x = Positions32::of(&x);
            let mut looks = FaceLooks::default();
            for pair in &pairs[..7] {
                looks.add(*pair, &x, |_| unreachable!("seven wait"));
            }
            let parted = || Parted { corners: &looks.corners, largest: x.largest };
            prop_assert_eq!(x.arch.dispatch(parted()), parted().with_simd(Scalar));
            let alone = |k: &u32| !left(&each[*k as usize..=*k as usize]).is_empty();
            // alone, the largest coordinate is that of the pair: it leaves no more
            let all = left(&each);
            prop_assert!((0..8).filter(alone).all(|k| all.contains(&k)));
        }

        #[test]
        fn the_bound_holds_in_rationals(x in near(), n in prop::array::uniform3(-1.0..1.0f32)) {
            let r = |x: f64| BigRational::from_float(x).unwrap();
            let rounded = x.map(|x| x.as_vec3());
            let n32 = glam::Vec3::from_array(n);
            let from = |k: usize| rounded[k] - rounded[0];
            let along = |k: usize| n32.x * from(k).x + n32.y * from(k).y + n32.z * from(k).z;
            let exact = |k: usize| (0..3).map(|i| r(f64::from(n[i])) * (r(x[k][i]) - r(x[0][i]))).sum::<BigRational>();
            let size = (0..6).map(|k| from(k).abs().max_element()).fold(0.0, f32::max);
            let largest = rounded.iter().map(|x| x.abs().max_element()).fold(0.0, f32::max);
            let error = COMPARISON_ERROR * n32.abs().max_element() * (size + size + largest) + UNDERFLOW;
            for k in 1..6 {
                for l in 1..k {
                    let off = (exact(k) - exact(l)) - r(f64::from(along(k) - along(l)));
                    prop_assert!(off.abs() <= r(f64::from(error)));
                }
            }
        }
    }

    #[test]
    fn each_direction_parts_what_no_other_does() {
        let face = [DVec3::ZERO, DVec3::X, DVec3::Y];
        let is_left = |other: [DVec3; 3], first: [DVec3; 3]| {
            let x = [first[0], first[1], first[2], other[0], other[1], other[2]];
            !left(&[x]).is_empty()
        };
        let at = DVec3::new;
        // side by side in one plane: from middle to middle
        let beside = [at(1.1, 0.0, 0.0), at(2.0, 0.0, 0.0), at(2.0, 1.0, 0.0)];
        assert!(!is_left(beside, face));
        // beyond a corner of a face that leans away, which its middle does not see: across the first, or across the second
        let above = [at(0.9, 0.9, 0.01), at(-5.0, 0.1, 0.02), at(0.1, -5.0, 0.01)];
        assert!(!is_left(above, face) && !is_left(face, above));
        let steep = [at(0.1, 0.1, 0.01), at(0.2, 0.1, 5.0), at(0.1, 0.2, 5.0)];
        assert!(!is_left(steep, face) && !is_left(face, steep));
        // through it
        let through = [at(0.1, 0.1, -1.0), at(0.2, 0.1, 1.0), at(0.1, 0.2, 1.0)];
        assert!(is_left(through, face) && is_left(face, through));
    }

    #[test]
    fn what_is_too_large_or_not_a_number_is_left() {
        let [a, b, c] = [DVec3::ZERO, DVec3::X, DVec3::Y];
        for bad in [2e9, 1e30, 1e300, f64::INFINITY, f64::NAN] {
            let p = DVec3::new(0.2, 0.2, bad);
            assert_eq!(left(&[[a, b, c, p, p + b, p + c]]), [0], "{bad}");
        }
        let tiny = 1e-30;
        assert_eq!(left(&[[a, tiny * b, tiny * c, a, tiny * b, tiny * c]]), [0]);
    }
}
