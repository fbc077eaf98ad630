//! Numbers and vectors by lanes: eight at a time in memory, as many at a time as the processor takes in registers.
//!
//! Every lane is computed as it would be alone: with the same operations in the same order, without fused ones, whatever the
//! processor. Comparisons choose the second if they fail, so what is not a number is passed on.

use std::ops::{Add, Mul, Sub};

use pulp::Simd;

/// Lanes in memory; a multiple of those of any processor that is asked for.
pub(super) const LANES: usize = 8;

/// Eight numbers.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(super) struct Eight(pub(super) [f32; LANES]);

/// Eight vectors, by coordinates.
#[derive(Clone, Copy, Debug)]
pub(super) struct EightVectors {
    pub(super) x: Eight,
    pub(super) y: Eight,
    pub(super) z: Eight,
}

impl Eight {
    pub(super) const ZERO: Self = Self([0.0; LANES]);

    /// The part of the lanes that fills a register.
    #[inline(always)]
    pub(super) fn load<S: Simd>(&self, simd: S, part: usize) -> Lanes<S> {
        let each = S::as_simd_f32s(&self.0).0[part];
        Lanes { simd, each }
    }
}

impl EightVectors {
    pub(super) const ZERO: Self = Self {
        x: Eight::ZERO,
        y: Eight::ZERO,
        z: Eight::ZERO,
    };

    /// The part of the lanes that fills a register.
    #[inline(always)]
    pub(super) fn load<S: Simd>(&self, simd: S, part: usize) -> Vectors<S> {
        Vectors {
            x: self.x.load(simd, part),
            y: self.y.load(simd, part),
            z: self.z.load(simd, part),
        }
    }
}

/// As many numbers as fill a register.
#[derive(Clone, Copy)]
pub(super) struct Lanes<S: Simd> {
    simd: S,
    each: S::f32s,
}

/// As many vectors as fill three registers.
#[derive(Clone, Copy)]
pub(super) struct Vectors<S: Simd> {
    pub(super) x: Lanes<S>,
    pub(super) y: Lanes<S>,
    pub(super) z: Lanes<S>,
}

impl<S: Simd> Lanes<S> {
    /// The same number in every lane.
    #[inline(always)]
    pub(super) fn splat(simd: S, value: f32) -> Self {
        let each = simd.splat_f32s(value);
        Self { simd, each }
    }

    /// The same number in every lane, beside this one.
    #[inline(always)]
    pub(super) fn all(self, value: f32) -> Self {
        Self::splat(self.simd, value)
    }

    #[inline(always)]
    fn with(self, each: S::f32s) -> Self {
        Self { each, ..self }
    }

    /// Where this is less than `other`, `yes`; `no` elsewhere.
    #[inline(always)]
    pub(super) fn if_less(self, other: Self, yes: Self, no: Self) -> Self {
        let is_less = self.simd.less_than_f32s(self.each, other.each);
        self.with(self.simd.select_f32s(is_less, yes.each, no.each))
    }

    #[inline(always)]
    pub(super) fn min(self, other: Self) -> Self {
        self.if_less(other, self, other)
    }

    #[inline(always)]
    pub(super) fn max(self, other: Self) -> Self {
        other.if_less(self, self, other)
    }

    #[inline(always)]
    pub(super) fn abs(self) -> Self {
        self.with(self.simd.abs_f32s(self.each))
    }

    #[inline(always)]
    pub(super) fn negative(self) -> Self {
        self.with(self.simd.neg_f32s(self.each))
    }

    #[inline(always)]
    pub(super) fn sqrt(self) -> Self {
        self.with(self.simd.sqrt_f32s(self.each))
    }

    #[inline(always)]
    pub(super) fn over(self, divisor: Self) -> Self {
        self.with(self.simd.div_f32s(self.each, divisor.each))
    }

    /// `self / divisor` kept to [0, 1]; 0 where the divisor is not positive.
    #[inline(always)]
    pub(super) fn fraction_of(self, divisor: Self) -> Self {
        let zero = self.all(0.0);
        let kept = self.over(divisor).min(self.all(1.0)).max(zero);
        zero.if_less(divisor, kept, zero)
    }

    /// Puts the lanes where [`Eight::load`] takes them from.
    #[inline(always)]
    pub(super) fn store(self, out: &mut Eight, part: usize) {
        S::as_mut_simd_f32s(&mut out.0).0[part] = self.each;
    }
}

impl<S: Simd> Add for Lanes<S> {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.with(self.simd.add_f32s(self.each, other.each))
    }
}

impl<S: Simd> Sub for Lanes<S> {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.with(self.simd.sub_f32s(self.each, other.each))
    }
}

impl<S: Simd> Mul for Lanes<S> {
    type Output = Self;

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.with(self.simd.mul_f32s(self.each, other.each))
    }
}

impl<S: Simd> Vectors<S> {
    #[inline(always)]
    pub(super) fn scaled(self, by: Lanes<S>) -> Self {
        Self {
            x: self.x * by,
            y: self.y * by,
            z: self.z * by,
        }
    }

    #[inline(always)]
    pub(super) fn over(self, divisor: Lanes<S>) -> Self {
        Self {
            x: self.x.over(divisor),
            y: self.y.over(divisor),
            z: self.z.over(divisor),
        }
    }

    #[inline(always)]
    pub(super) fn dot(self, other: Self) -> Lanes<S> {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    #[inline(always)]
    pub(super) fn cross(self, other: Self) -> Self {
        Self {
            x: self.y * other.z - self.z * other.y,
            y: self.z * other.x - self.x * other.z,
            z: self.x * other.y - self.y * other.x,
        }
    }

    /// Largest coordinate.
    #[inline(always)]
    pub(super) fn size(self) -> Lanes<S> {
        self.x.abs().max(self.y.abs()).max(self.z.abs())
    }

    /// Where `a` is less than `b`, `yes`; `no` elsewhere.
    #[inline(always)]
    pub(super) fn if_less(a: Lanes<S>, b: Lanes<S>, yes: Self, no: Self) -> Self {
        Self {
            x: a.if_less(b, yes.x, no.x),
            y: a.if_less(b, yes.y, no.y),
            z: a.if_less(b, yes.z, no.z),
        }
    }
}

impl<S: Simd> Add for Vectors<S> {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self {
            x: self.x + other.x,
            y: self.y + other.y,
            z: self.z + other.z,
        }
    }
}

impl<S: Simd> Sub for Vectors<S> {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self {
            x: self.x - other.x,
            y: self.y - other.y,
            z: self.z - other.z,
        }
    }
}
