//! Boxes in single precision, rounded outward: half the memory traffic, and never a box too small.

use glam::{DVec3, Vec3A};

/// A closed axis-aligned box in single precision; empty if `min > max` on some axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Box32 {
    pub(super) min: Vec3A,
    pub(super) max: Vec3A,
}

impl Box32 {
    pub(super) const EMPTY: Self = Self {
        min: Vec3A::INFINITY,
        max: Vec3A::NEG_INFINITY,
    };

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

    #[inline]
    pub(super) fn union(self, other: Self) -> Self {
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }

    #[inline]
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        (self.min.cmple(other.max) & other.min.cmple(self.max)).all()
    }

    /// Whether all of `other` is in this box; false for anything that is not a number.
    #[inline]
    pub(super) fn holds(&self, other: &Self) -> bool {
        (self.min.cmple(other.min) & other.max.cmple(self.max)).all()
    }

    /// Half the surface, the usual estimate of how often a box is met.
    pub(super) fn half_area(&self) -> f64 {
        let size = (self.max - self.min).as_dvec3();
        size.x * size.y + size.y * size.z + size.z * size.x
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
