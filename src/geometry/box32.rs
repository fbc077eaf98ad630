//! Boxes in single precision, rounded outward: half the memory traffic, and never a box too small.
//!
//! What moves straight is in a [`Box32`] around all of its way, or in a [`Way32`], which is one box at the start and one at the end:
//! two ways are apart if an axis has the one before the other at both, and fast things that fly side by side are.

use glam::{DVec3, Vec3A};

/// What a tree is made of.
pub(super) trait Volume: Copy + Send + Sync {
    /// The neutral element of [`Self::union`].
    const EMPTY: Self;

    /// The smallest around both.
    fn union(self, other: Self) -> Self;

    /// Whether what they hold can meet; touching counts.
    fn overlaps(&self, other: &Self) -> bool;

    /// Half the surface, the usual estimate of how often a box is met.
    fn half_area(&self) -> f64;

    /// A multiple of its middle, the same multiple for all.
    fn middle(&self) -> Vec3A;
}

/// A closed axis-aligned box in single precision; empty if `min > max` on some axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Box32 {
    pub(super) min: Vec3A,
    pub(super) max: Vec3A,
}

/// The box of something at the start of a motion, and that at its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Way32 {
    start: Box32,
    end: Box32,
}

impl Way32 {
    /// Around the way of a vertex from one place to the other, each grown by its growth.
    pub(super) fn of_vertex(ends: [DVec3; 2], growth: [f64; 2]) -> Self {
        let [start, end] = [0, 1].map(|k| Box32::of_vertex(ends[k], ends[k], growth[k]));
        Self { start, end }
    }

    /// Around the way of a vertex from `a` towards `b`, up to this part of it; `1 - until` is exact.
    pub(super) fn until(a: DVec3, b: DVec3, until: f64) -> Self {
        let start = Box32::around(a, a);
        let end = if until < 1.0 {
            // two products and their sum: three roundings of half an ε
            let error = 2.0 * f64::EPSILON * a.abs().max(b.abs());
            let end = a * (1.0 - until) + b * until;
            Box32::around(end - error, end + error)
        } else {
            Box32::around(b, b)
        };
        Self { start, end }
    }
}

impl Volume for Way32 {
    const EMPTY: Self = Self {
        start: Box32::EMPTY,
        end: Box32::EMPTY,
    };

    #[inline]
    fn union(self, other: Self) -> Self {
        Self {
            start: self.start.union(other.start),
            end: self.end.union(other.end),
        }
    }

    /// Positions in between are means of those at both ends, with the same weights for all: what is less at both is less throughout.
    #[inline]
    fn overlaps(&self, other: &Self) -> bool {
        let before =
            |a: &Self, b: &Self| a.start.max.cmplt(b.start.min) & a.end.max.cmplt(b.end.min);
        !(before(self, other) | before(other, self)).any()
    }

    fn half_area(&self) -> f64 {
        self.start.half_area() + self.end.half_area()
    }

    fn middle(&self) -> Vec3A {
        self.start.middle() + self.end.middle()
    }
}

impl Box32 {
    /// A box around `[min, max]`, rounded outward.
    ///
    /// Conversion rounds by at most 2⁻²⁴ of the value, or 2⁻¹⁵⁰ where the result is subnormal;
    /// moving the bound outward by 2⁻²³ of the value and 2⁻¹⁴⁹ first makes up for it, and for the
    /// rounding of a growth in double precision.
    fn around(min: DVec3, max: DVec3) -> Self {
        const SHARE: f64 = f32::EPSILON as f64;
        let least = f64::from(f32::from_bits(1));
        let outward = |x: DVec3| x.abs() * SHARE + least;
        Self {
            min: (min - outward(min)).as_vec3a(),
            max: (max + outward(max)).as_vec3a(),
        }
    }

    /// A box around the way of a vertex from `a` to `b`, grown by `growth`.
    pub(super) fn of_vertex(a: DVec3, b: DVec3, growth: f64) -> Self {
        Self::around(a.min(b) - growth, a.max(b) + growth)
    }

    /// Whether all of `other` is in this box; false for anything that is not a number.
    #[inline]
    pub(super) fn holds(&self, other: &Self) -> bool {
        (self.min.cmple(other.min) & other.max.cmple(self.max)).all()
    }
}

impl Volume for Box32 {
    const EMPTY: Self = Self {
        min: Vec3A::INFINITY,
        max: Vec3A::NEG_INFINITY,
    };

    #[inline]
    fn union(self, other: Self) -> Self {
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }

    #[inline]
    fn overlaps(&self, other: &Self) -> bool {
        (self.min.cmple(other.max) & other.min.cmple(self.max)).all()
    }

    fn half_area(&self) -> f64 {
        let size = (self.max - self.min).as_dvec3();
        size.x * size.y + size.y * size.z + size.z * size.x
    }

    fn middle(&self) -> Vec3A {
        self.min + self.max
    }
}

#[cfg(test)]
mod tests {
    use num_rational::BigRational;
    use proptest::prelude::*;

    use super::*;

    /// Of any size, from subnormal to beyond single precision; also numbers that single precision
    /// has, and their neighbours.
    fn coordinate() -> impl Strategy<Value = f64> {
        let any_size = (-1.0..1.0f64, -1070..130i32).prop_map(|(m, k)| m * 2f64.powi(k));
        let narrow = (-1.0..1.0f32, -140..20i32)
            .prop_map(|(m, k)| f64::from(m * 2f32.powi(k)))
            .prop_flat_map(|x| prop::sample::select(vec![x, x.next_up(), x.next_down()]));
        prop_oneof![any_size, narrow, Just(0.0)]
    }

    fn point() -> impl Strategy<Value = DVec3> {
        [coordinate(), coordinate(), coordinate()].prop_map(DVec3::from_array)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn a_box_holds_the_grown_way_of_its_vertex_in_rationals(a in point(), b in point(), growth in coordinate()) {
            let growth = growth.abs();
            let exact = |x: f64| BigRational::from_float(x).unwrap();
            let found = Box32::of_vertex(a, b, growth);
            for k in 0..3 {
                for end in [a[k], b[k]] {
                    let (min, max) = (f64::from(found.min[k]), f64::from(found.max[k]));
                    prop_assert!(!min.is_finite() || exact(min) <= exact(end) - exact(growth), "{min:e} {end:e} {growth:e}");
                    prop_assert!(!max.is_finite() || exact(max) >= exact(end) + exact(growth), "{max:e} {end:e} {growth:e}");
                }
            }
        }

        #[test]
        fn a_way_holds_its_vertex_until_then_in_rationals(a in point(), b in point(), parts in 1..=1 << 16) {
            let until = f64::from(parts) / f64::from(1 << 16);
            let exact = |x: f64| BigRational::from_float(x).unwrap();
            let found = Way32::until(a, b, until);
            for k in 0..3 {
                let end = exact(a[k]) * (exact(1.0) - exact(until)) + exact(b[k]) * exact(until);
                for (found, place) in [(found.start, exact(a[k])), (found.end, end)] {
                    let (min, max) = (f64::from(found.min[k]), f64::from(found.max[k]));
                    prop_assert!(!min.is_finite() || exact(min) <= place, "{min:e} {place}");
                    prop_assert!(!max.is_finite() || exact(max) >= place, "{max:e} {place}");
                }
            }
        }

        #[test]
        fn ways_are_apart_if_one_is_before_the_other_on_an_axis_all_the_time(ends in prop::collection::vec([-3..4i8, -3..4i8], 12)) {
            let at = |ends: &[[i8; 2]], pick: fn(i8, i8) -> i8| Vec3A::from_array(std::array::from_fn(|k| f32::from(pick(ends[k][0], ends[k][1]))));
            let fitted = |ends: &[[i8; 2]]| Box32 { min: at(ends, i8::min), max: at(ends, i8::max) };
            let way = |k: usize| Way32 { start: fitted(&ends[k..k + 3]), end: fitted(&ends[k + 3..k + 6]) };
            let (a, b) = (way(0), way(6));
            // by the ends of both at both times
            let before = |first: usize, second: usize| {
                let is_less = |k: usize| ends[first + k].iter().max() < ends[second + k].iter().min();
                (0..3).any(|k| is_less(k) && is_less(k + 3))
            };
            prop_assert_eq!(a.overlaps(&b), !before(0, 6) && !before(6, 0));
            prop_assert_eq!(b.overlaps(&a), a.overlaps(&b));
            let union = a.union(b);
            prop_assert!(union.start == a.start.union(b.start) && union.end == a.end.union(b.end));
            prop_assert_eq!(Way32::EMPTY.union(a), a);
        }

        #[test]
        fn boxes_hold_and_overlap_as_their_intervals_do(ends in prop::collection::vec([-3..4i8, -3..4i8], 6)) {
            // by the integers in them: closed intervals between integers share a number exactly if
            // they share an integer
            let numbers = |[a, b]: [i8; 2]| -> Vec<i8> { (a.min(b)..=a.max(b)).collect() };
            let both = [&ends[..3], &ends[3..]];
            let at = |ends: &[[i8; 2]], pick: fn(i8, i8) -> i8| Vec3A::from_array(std::array::from_fn(|k| f32::from(pick(ends[k][0], ends[k][1]))));
            let [a, b] = both.map(|ends| Box32 { min: at(ends, i8::min), max: at(ends, i8::max) });
            let all = |is: fn(&[i8], &[i8]) -> bool| (0..3).all(|k| is(&numbers(ends[k]), &numbers(ends[k + 3])));
            prop_assert_eq!(a.overlaps(&b), all(|a, b| a.iter().any(|n| b.contains(n))));
            prop_assert_eq!(a.holds(&b), all(|a, b| b.iter().all(|n| a.contains(n))));
            let union = a.union(b);
            prop_assert!(union.holds(&a) && union.holds(&b));
            for k in 0..3 {
                prop_assert!([a.min[k], b.min[k]].contains(&union.min[k]) && [a.max[k], b.max[k]].contains(&union.max[k]), "no more than both");
            }
        }
    }

    #[test]
    fn nothing_is_held_by_an_empty_box_or_holds_what_is_not_a_number() {
        let some = Box32::of_vertex(DVec3::ZERO, DVec3::ONE, 0.5);
        let nowhere = Box32::of_vertex(DVec3::new(0.0, f64::NAN, 0.0), DVec3::ZERO, f64::NAN);
        assert!(!Box32::EMPTY.holds(&some) && some.holds(&Box32::EMPTY));
        assert_eq!(Box32::EMPTY.union(some), some);
        assert!(!some.holds(&nowhere) && !nowhere.holds(&some));
    }
}
