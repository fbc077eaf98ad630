//! Symmetric sparse matrices of 3×3 blocks.
//!
//! A matrix has one block row per node, with all of its blocks: a product is then a sum per row, and
//! rows can be shared out among threads without changing a bit. What lies off the diagonal is kept in
//! single precision, which halves what a product has to read. It is summed the same way in either
//! triangle, so the matrix is symmetric to the bit; and a product adds up
//!
//! ```text
//! (A p)ᵢ = Eᵢ pᵢ + Σ Aᵢⱼ (pⱼ − pᵢ),     Eᵢ = Σⱼ Aᵢⱼ in double precision
//! ```
//!
//! where E holds what acts on a node from outside (inertia, pins, drag): what moves as a whole feels
//! no elastic force, to the bit.
//!
//! Which blocks there are is fixed once ([`Pattern`]); elements know the places of theirs.

use std::ops::Range;

use glam::{DMat3, DVec3};
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

/// A block off the diagonal, column by column.
type Block = [f32; 9];

/// A symmetric matrix of 3×3 blocks.
#[derive(Clone, Debug, Default)]
pub(super) struct BlockMatrix {
    /// The diagonal blocks, E included.
    pub(super) diagonal: Vec<DMat3>,
    /// E.
    outer: Vec<DMat3>,
    blocks: Vec<Block>,
}

/// Some rows of a matrix, to add to; what belongs to other rows is left out.
pub(super) struct MatrixRows<'a> {
    first: usize,
    diagonal: &'a mut [DMat3],
    outer: &'a mut [DMat3],
    first_block: usize,
    blocks: &'a mut [Block],
}

impl MatrixRows<'_> {
    /// Adds to a diagonal block what balances the blocks beside it.
    pub(super) fn add_diagonal(&mut self, node: u32, block: DMat3) {
        if let Some(d) = self
            .diagonal
            .get_mut((node as usize).wrapping_sub(self.first))
        {
            *d += block;
        }
    }

    /// Adds what acts on a node from outside: to the row sum, and a part of it to the diagonal block.
    pub(super) fn add_outer(&mut self, node: u32, row_sum: DMat3, diagonal: DMat3) {
        let place = (node as usize).wrapping_sub(self.first);
        if let Some(d) = self.diagonal.get_mut(place) {
            *d += diagonal;
            self.outer[place] += row_sum;
        }
    }

    /// Adds to the block (i, j) whose slot is given, and to (j, i).
    #[inline]
    pub(super) fn add(&mut self, slot: Slot, block: DMat3) {
        let [x, y, z] = [block.x_axis, block.y_axis, block.z_axis];
        if let Some(b) = (self.blocks).get_mut((slot.index as usize).wrapping_sub(self.first_block))
        {
            let values = [x.x, x.y, x.z, y.x, y.y, y.z, z.x, z.y, z.z];
            for (b, value) in b.iter_mut().zip(values) {
                *b += value as f32;
            }
        }
        let place = (slot.mirrored as usize).wrapping_sub(self.first_block);
        if let Some(b) = self.blocks.get_mut(place) {
            let values = [x.x, y.x, z.x, x.y, y.y, z.y, x.z, y.z, z.z];
            for (b, value) in b.iter_mut().zip(values) {
                *b += value as f32;
            }
        }
    }
}

impl BlockMatrix {
    /// Zero, in memory that is used again.
    pub(super) fn reset(&mut self, pattern: &Pattern) {
        for diagonal in [&mut self.diagonal, &mut self.outer] {
            diagonal.clear();
            diagonal.resize(pattern.node_count(), DMat3::ZERO);
        }
        self.blocks.clear();
        self.blocks.resize(pattern.columns.len(), [0.0; 9]);
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
        let mut out = Vec::new();
        for range in ranges {
            let first_block = pattern.rows[range.start] as usize;
            let count = pattern.rows[range.end] as usize - first_block;
            let rows = MatrixRows {
                first: range.start,
                diagonal: diagonal
                    .split_off_mut(..range.len())
                    .expect("consecutive ranges"),
                outer: outer
                    .split_off_mut(..range.len())
                    .expect("consecutive ranges"),
                first_block,
                blocks: blocks
                    .split_off_mut(..count)
                    .expect("rows of consecutive ranges"),
            };
            out.push(rows);
        }
        out
    }

    /// Calls with the column of each block of a row off the diagonal, and the block.
    pub(super) fn each_of_row(
        &self,
        pattern: &Pattern,
        node: usize,
        mut call: impl FnMut(u32, DMat3),
    ) {
        let range = pattern.row(node);
        for (&j, block) in pattern.columns[range.clone()]
            .iter()
            .zip(&self.blocks[range])
        {
            call(j, wide(block));
        }
    }

    /// `out = A p`.
    pub(super) fn multiply(&self, pattern: &Pattern, p: &[DVec3], out: &mut [DVec3]) {
        out.par_chunks_mut(GRAIN).enumerate().for_each(|(k, out)| {
            for (i, out) in (k * GRAIN..).zip(out) {
                let own = p[i];
                let mut sum = self.outer[i] * own;
                let range = pattern.row(i);
                let columns = &pattern.columns[range.clone()];
                for (b, &j) in self.blocks[range].iter().zip(columns) {
                    let d = p[j as usize] - own;
                    sum.x += f64::from(b[0]) * d.x + f64::from(b[3]) * d.y + f64::from(b[6]) * d.z;
                    sum.y += f64::from(b[1]) * d.x + f64::from(b[4]) * d.y + f64::from(b[7]) * d.z;
                    sum.z += f64::from(b[2]) * d.x + f64::from(b[5]) * d.y + f64::from(b[8]) * d.z;
                }
                *out = sum;
            }
        });
    }
}

fn wide(block: &Block) -> DMat3 {
    DMat3::from_cols_array(&block.map(f64::from))
}

/// a · b, summed piece by piece.
pub(super) fn dot(a: &[DVec3], b: &[DVec3]) -> f64 {
    sum_of(a.len(), |range| {
        let pairs = a[range.clone()].iter().zip(&b[range]);
        pairs.map(|(a, b)| a.dot(*b)).sum()
    })
}

/// The sum of a function of ranges over all of them, in their order.
pub(super) fn sum_of(count: usize, sum: impl Fn(Range<usize>) -> f64 + Sync) -> f64 {
    let pieces = count.div_ceil(GRAIN);
    let piece = |k: usize| sum(k * GRAIN..count.min((k + 1) * GRAIN));
    if pieces < 4 {
        return (0..pieces).map(piece).sum();
    }
    let sums: Vec<f64> = (0..pieces).into_par_iter().map(piece).collect();
    sums.iter().sum()
}
