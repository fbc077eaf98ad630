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
    /// Conversion rounds by at most 2⁻²⁴ of the value, or 2⁻¹⁵⁰ where the result is subnormal; moving the bound
    /// outward by 2⁻²³ of the value and 2⁻¹⁴⁹ first makes up for it, and for the rounding of a growth in double precision.
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
