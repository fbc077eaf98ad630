//! The random numbers of all tests: of the library's own, of the suite and of the command line's, which include this file.

#![allow(
    dead_code,
    reason = "each of the three that include it uses a part of it"
)]

/// `SplitMix64` (Steele, Lea, Flood 2014): small, and the same everywhere. Any seed will do.
#[derive(Clone, Debug)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// Another sequence for each case.
    pub(crate) fn of(seed: u64, case: u64) -> Self {
        let mut random = Self(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ case);
        random.next();
        random
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// One of 0, …, n − 1; 0 if n is 0.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    pub(crate) fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    /// 0, …, n − 1 in any order.
    pub(crate) fn shuffled(&mut self, n: usize) -> Vec<u32> {
        let mut order: Vec<u32> = (0..n as u32).collect();
        for i in (1..n).rev() {
            order.swap(i, self.below(i + 1));
        }
        order
    }

    /// In [0, 1).
    pub(crate) fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// In [−½, ½).
    pub(crate) fn centred(&mut self) -> f64 {
        self.share() - 0.5
    }

    /// In [−1, 1).
    pub(crate) fn signed(&mut self) -> f64 {
        2.0 * self.centred()
    }

    /// Moved by up to two units in the last place; 0 stays.
    pub(crate) fn nudged(&mut self, x: f64) -> f64 {
        let steps = self.below(5) as i64 - 2;
        if x == 0.0 {
            x
        } else {
            f64::from_bits(x.to_bits().wrapping_add_signed(steps))
        }
    }
}
