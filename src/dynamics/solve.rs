//! Symmetric sparse matrices of 3×3 blocks.
//!
//! A matrix has one block row per node, with all of its blocks: a product is then a sum per row, and
//! rows can be shared out among threads without changing a bit. What lies off the diagonal is kept in
//! single precision, and so is the work of a product with it: that suffices, for a solve only
//! chooses directions by it and ends before it is exact. A product adds up
//!
//! ```text
//! (A p)ᵢ = Eᵢ pᵢ + Σ Aᵢⱼ (pⱼ − pᵢ),     Eᵢ = Σⱼ Aᵢⱼ in double precision
//! ```
//!
//! where E holds what acts on a node from outside (inertia, pins, drag): what moves as a whole feels
//! no elastic force.
//!
//! Which blocks there are is fixed once ([`Pattern`]); elements know the places of theirs.

use std::ops::Range;

use glam::{DMat3, DVec3, Mat3, Mat3A, Vec3A};
use rayon::iter::MinLen;
use rayon::prelude::*;

/// Nodes in one piece of work of a thread. Sums over nodes are sums over these pieces: the same bits
/// for any number of threads.
pub(super) const GRAIN: usize = 512;

/// Which off-diagonal blocks of a symmetric matrix may be non-zero.
#[derive(Clone, Debug, Default)]
pub(super) struct Pattern {
    /// Start of each row in `columns`, and the end of the last.
    rows: Vec<u32>,
    /// Columns of the blocks off the diagonal, ascending in each row.
    columns: Vec<u32>,
}

/// Places of an element's block (i, j) and of its transpose.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    index: u32,
    mirrored: u32,
}

impl Pattern {
    /// From all pairs of different nodes that share an element, in any order and number.
    pub(super) fn new(node_count: usize, pairs: impl Iterator<Item = [u32; 2]>) -> Self {
        let mut entries: Vec<[u32; 2]> = pairs.flat_map(|[i, j]| [[i, j], [j, i]]).collect();
        entries.sort_unstable();
        entries.dedup();
        let mut rows = vec![0; node_count + 1];
        for [i, _] in &entries {
            rows[*i as usize + 1] += 1;
        }
        for i in 0..node_count {
            rows[i + 1] += rows[i];
        }
        let columns = entries.into_iter().map(|[_, j]| j).collect();
        Self { rows, columns }
    }

    fn row(&self, i: usize) -> Range<usize> {
        self.rows[i] as usize..self.rows[i + 1] as usize
    }

    /// The nodes that a node shares an element with, ascending.
    pub(super) fn neighbours(&self, node: usize) -> &[u32] {
        &self.columns[self.row(node)]
    }

    pub(super) fn node_count(&self) -> usize {
        self.rows.len() - 1
    }

    /// What hangs together.
    pub(super) fn pieces(&self) -> Pieces {
        let n = self.node_count();
        let mut parent: Vec<u32> = (0..n as u32).collect();
        for i in 0..n {
            for &j in self.neighbours(i) {
                join(&mut parent, i as u32, j);
            }
        }
        let mut number = vec![u32::MAX; n];
        let mut count = 0;
        let mut of = Vec::with_capacity(n);
        for i in 0..n as u32 {
            let root = root(&mut parent, i) as usize;
            if number[root] == u32::MAX {
                number[root] = count;
                count += 1;
            }
            of.push(number[root]);
        }
        Pieces {
            of,
            count: count as usize,
        }
    }

    /// Where the block of the nodes `i` and `j` lies.
    ///
    /// # Panics
    /// If the pattern was made without this pair.
    pub(super) fn slot(&self, i: u32, j: u32) -> Slot {
        let place = |i: u32, j: u32| {
            let range = self.row(i as usize);
            let found = self.columns[range.clone()].binary_search(&j);
            let place = found.expect("the pattern holds every pair of an element's nodes");
            (range.start + place) as u32
        };
        Slot {
            index: place(i, j),
            mirrored: place(j, i),
        }
    }
}

/// What hangs together by its elements.
#[derive(Clone, Debug, Default)]
pub(super) struct Pieces {
    /// Piece of each node.
    pub(super) of: Vec<u32>,
    pub(super) count: usize,
}

/// The first of the set of `i`, with the way to it shortened.
pub(super) fn root(parent: &mut [u32], mut i: u32) -> u32 {
    while parent[i as usize] != i {
        parent[i as usize] = parent[parent[i as usize] as usize];
        i = parent[i as usize];
    }
    i
}

/// Makes one set of two; its first is the smaller number.
pub(super) fn join(parent: &mut [u32], i: u32, j: u32) {
    let (a, b) = (root(parent, i), root(parent, j));
    parent[a.max(b) as usize] = a.min(b);
}

/// A symmetric matrix of 3×3 blocks.
#[derive(Clone, Debug, Default)]
pub(super) struct BlockMatrix {
    /// The diagonal blocks, E included.
    pub(super) diagonal: Vec<Mat3A>,
    /// E.
    outer: Vec<DMat3>,
    /// Those off the diagonal; packed, for products wait for them.
    blocks: Vec<Mat3>,
}

/// Some rows of a matrix, to add to; what belongs to other rows is left out.
pub(super) struct MatrixRows<'a> {
    first: usize,
    diagonal: &'a mut [Mat3A],
    outer: &'a mut [DMat3],
    first_block: usize,
    blocks: &'a mut [Mat3],
}

impl MatrixRows<'_> {
    pub(super) fn clear(&mut self) {
        self.diagonal.fill(Mat3A::ZERO);
        self.outer.fill(DMat3::ZERO);
        self.blocks.fill(Mat3::ZERO);
    }

    /// Adds to a diagonal block what balances the blocks beside it.
    #[inline]
    pub(super) fn add_diagonal(&mut self, node: u32, block: Mat3A) {
        let place = (node as usize).wrapping_sub(self.first);
        if let Some(d) = self.diagonal.get_mut(place) {
            *d += block;
        }
    }

    /// Adds what acts on a node from outside: to the row sum, and a part of it to the diagonal block.
    pub(super) fn add_outer(&mut self, node: u32, row_sum: DMat3, diagonal: DMat3) {
        let place = (node as usize).wrapping_sub(self.first);
        if let Some(d) = self.diagonal.get_mut(place) {
            *d += single(diagonal);
            self.outer[place] += row_sum;
        }
    }

    /// Adds to the block (i, j) whose slot is given, and to (j, i).
    #[inline]
    pub(super) fn add(&mut self, slot: Slot, block: Mat3A) {
        let place = (slot.index as usize).wrapping_sub(self.first_block);
        if let Some(b) = self.blocks.get_mut(place) {
            *b += Mat3::from(block);
        }
        let place = (slot.mirrored as usize).wrapping_sub(self.first_block);
        if let Some(b) = self.blocks.get_mut(place) {
            *b += Mat3::from(block.transpose());
        }
    }
}

impl BlockMatrix {
    /// Of the size of the pattern, in memory that is used again; what it holds is left over, and [`MatrixRows::clear`] makes
    /// it zero.
    pub(super) fn resize(&mut self, pattern: &Pattern) {
        let n = pattern.node_count();
        self.outer.resize(n, DMat3::ZERO);
        self.diagonal.resize(n, Mat3A::ZERO);
        self.blocks.resize(pattern.columns.len(), Mat3::ZERO);
    }

    /// All rows.
    pub(super) fn rows(&mut self) -> MatrixRows<'_> {
        MatrixRows {
            first: 0,
            diagonal: &mut self.diagonal,
            outer: &mut self.outer,
            first_block: 0,
            blocks: &mut self.blocks,
        }
    }

    /// The rows of consecutive ranges of nodes that begin with the first.
    pub(super) fn split<'a>(
        &'a mut self,
        pattern: &Pattern,
        ranges: impl Iterator<Item = Range<usize>>,
    ) -> Vec<MatrixRows<'a>> {
        let (mut diagonal, mut outer) = (&mut self.diagonal[..], &mut self.outer[..]);
        let mut blocks = &mut self.blocks[..];
        let split = |range: Range<usize>| {
            let first_block = pattern.rows[range.start] as usize;
            let count = pattern.rows[range.end] as usize - first_block;
            MatrixRows {
                first: range.start,
                diagonal: diagonal.split_off_mut(..range.len()).expect(CONSECUTIVE),
                outer: outer.split_off_mut(..range.len()).expect(CONSECUTIVE),
                first_block,
                blocks: blocks.split_off_mut(..count).expect(CONSECUTIVE),
            }
        };
        ranges.map(split).collect()
    }

    /// Calls with the column of each block of a row off the diagonal, and the block.
    pub(super) fn each_of_row(
        &self,
        pattern: &Pattern,
        node: usize,
        mut call: impl FnMut(u32, Mat3A),
    ) {
        let range = pattern.row(node);
        let columns = &pattern.columns[range.clone()];
        for (&j, block) in columns.iter().zip(&self.blocks[range]) {
            call(j, Mat3A::from(*block));
        }
    }

    /// `out = A p`, and p · A p and p · q; `short` is p in single precision.
    pub(super) fn multiply(
        &self,
        pattern: &Pattern,
        [p, q]: [&[DVec3]; 2],
        short: &mut Vec<Vec3A>,
        out: &mut [DVec3],
    ) -> [f64; 2] {
        evenly(p.par_iter().map(|v| v.as_vec3a()), GRAIN).collect_into_vec(short);
        let short = &short[..];
        sums_of(pieces_of(out), |(k, out)| {
            let mut sums = [-0.0; 2];
            for (i, out) in (k * GRAIN..).zip(out) {
                let own = short[i];
                let range = pattern.row(i);
                let columns = &pattern.columns[range.clone()];
                let mut sum = Vec3A::ZERO;
                for (block, &j) in self.blocks[range].iter().zip(columns) {
                    sum += Mat3A::from(*block) * (short[j as usize] - own);
                }
                *out = self.outer[i] * p[i] + sum.as_dvec3();
                sums[0] += p[i].dot(*out);
                sums[1] += q[i].dot(p[i]);
            }
            sums
        })
    }

    /// The same where what hangs together moves as one: nothing but E.
    pub(super) fn multiply_outer(&self, [p, q]: [&[DVec3]; 2], out: &mut [DVec3]) -> [f64; 2] {
        sums_of(pieces_of(out), |(k, out)| {
            let mut sums = [-0.0; 2];
            for (i, out) in (k * GRAIN..).zip(out) {
                *out = self.outer[i] * p[i];
                sums[0] += p[i].dot(*out);
                sums[1] += q[i].dot(p[i]);
            }
            sums
        })
    }
}

/// Where a convex function is least for arguments above 0; its slope and curvature are given, and those at 0.
pub(super) fn least([start, curvature]: [f64; 2], slope: impl Fn(f64) -> [f64; 2]) -> f64 {
    if start >= 0.0 || curvature <= 0.0 {
        return 0.0;
    }
    let (mut low, mut high) = (0.0, f64::INFINITY);
    let mut alpha = -start / curvature;
    for _ in 0..12 {
        let [value, curvature] = slope(alpha);
        if value.abs() <= 0.02 * -start {
            return alpha;
        }
        if value < 0.0 {
            low = alpha;
        } else {
            high = alpha;
        }
        let newton = alpha - value / curvature;
        alpha = if newton > low && newton < high {
            newton
        } else if high.is_finite() {
            0.5 * (low + high)
        } else {
            2.0 * alpha
        };
    }
    low
}

#[cfg(test)]
impl BlockMatrix {
    /// Zero.
    pub(super) fn reset(&mut self, pattern: &Pattern) {
        self.resize(pattern);
        self.rows().clear();
    }

    /// `A p`.
    pub(super) fn product(&self, pattern: &Pattern, p: &[DVec3]) -> Vec<DVec3> {
        let mut out = vec![DVec3::ZERO; p.len()];
        self.multiply(pattern, [p; 2], &mut Vec::new(), &mut out);
        out
    }
}

const CONSECUTIVE: &str = "the ranges follow one another and end with the nodes";

/// In single precision.
pub(super) fn single(block: DMat3) -> Mat3A {
    let [x, y, z] = [block.x_axis, block.y_axis, block.z_axis].map(|axis| axis.as_vec3a());
    Mat3A::from_cols(x, y, z)
}

/// In double precision.
pub(super) fn double(block: Mat3A) -> DMat3 {
    let [x, y, z] = [block.x_axis, block.y_axis, block.z_axis].map(|axis| axis.as_dvec3());
    DMat3::from_cols(x, y, z)
}

/// u vᵀ.
#[inline]
pub(super) fn outer_single(u: Vec3A, v: Vec3A) -> Mat3A {
    Mat3A::from_cols(u * v.x, u * v.y, u * v.z)
}

/// a · b, summed piece by piece.
pub(super) fn dot(a: &[DVec3], b: &[DVec3]) -> f64 {
    let pieces = a.par_chunks(GRAIN).zip(b.par_chunks(GRAIN));
    let [sum] = sums_of(pieces.with_min_len(2), |(a, b)| {
        [a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum()]
    });
    sum
}

/// As many parts as threads, each of at least so many: what is short is not worth a theft, and parts that are everywhere the same
/// find their data in the cache of their core.
pub(super) fn evenly<I: IndexedParallelIterator>(items: I, least: usize) -> MinLen<I> {
    let parts = rayon::current_num_threads().next_power_of_two();
    let count = items.len();
    items.with_min_len(least.max(count / parts))
}

/// The pieces of a list by their number.
pub(super) fn pieces_of<T: Send>(
    list: &mut [T],
) -> impl IndexedParallelIterator<Item = (usize, &mut [T])> {
    evenly(list.par_chunks_mut(GRAIN).enumerate(), 2)
}

/// What a function says of each piece, added up in their order.
pub(super) fn sums_of<T: Send, const N: usize>(
    pieces: impl IndexedParallelIterator<Item = T>,
    sums: impl Fn(T) -> [f64; N] + Sync + Send,
) -> [f64; N] {
    let sums: Vec<[f64; N]> = pieces.map(sums).collect();
    let mut total = [-0.0; N];
    for sums in sums {
        for (total, sum) in total.iter_mut().zip(sums) {
            *total += sum;
        }
    }
    total
}
