//! Symmetric sparse matrices of 3×3 blocks, and which nodes they connect.
//!
//! A matrix has one block row per node. The diagonal blocks lie apart; of the others those above
//! the diagonal are kept, row by row. Which blocks there are is fixed once ([`Pattern`]); elements
//! know the places of theirs.

use glam::{DMat3, DVec3};

/// Which off-diagonal blocks of a symmetric matrix may be non-zero.
#[derive(Clone, Debug, Default)]
pub(super) struct Pattern {
    /// Start of each row in `columns`, and the end of the last.
    rows: Vec<u32>,
    /// Columns of the blocks above the diagonal, ascending in each row.
    columns: Vec<u32>,
}

/// Place of an element's block: index into the blocks, and whether it is kept transposed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    index: u32,
    transposed: bool,
}

impl Pattern {
    /// From all pairs of different nodes that share an element, in any order and number.
    pub(super) fn new(node_count: usize, pairs: impl Iterator<Item = [u32; 2]>) -> Self {
        let mut entries: Vec<[u32; 2]> = pairs.map(|[i, j]| [i.min(j), i.max(j)]).collect();
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

    fn row(&self, i: usize) -> std::ops::Range<usize> {
        self.rows[i] as usize..self.rows[i + 1] as usize
    }

    /// The nodes that each node shares an element with, ascending.
    pub(super) fn neighbours(&self) -> Vec<Vec<u32>> {
        let mut out = vec![Vec::new(); self.rows.len() - 1];
        for i in 0..out.len() {
            for &j in &self.columns[self.row(i)] {
                out[j as usize].push(i as u32);
            }
        }
        // what was pushed so far is smaller than the own number, the row holds what is larger
        for (i, list) in out.iter_mut().enumerate() {
            list.extend(&self.columns[self.row(i)]);
        }
        out
    }

    /// What hangs together.
    pub(super) fn pieces(&self) -> Pieces {
        let n = self.rows.len() - 1;
        let mut parent: Vec<u32> = (0..n as u32).collect();
        for i in 0..n {
            for &j in &self.columns[self.row(i)] {
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
        let range = self.row(i.min(j) as usize);
        let found = self.columns[range.clone()].binary_search(&i.max(j));
        let place = found.expect("the pattern holds every pair of an element's nodes");
        Slot {
            index: (range.start + place) as u32,
            transposed: i > j,
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
    pub(super) diagonal: Vec<DMat3>,
    upper: Vec<DMat3>,
}

impl BlockMatrix {
    /// Zero, in memory that is used again.
    pub(super) fn reset(&mut self, pattern: &Pattern) {
        self.diagonal.clear();
        self.diagonal.resize(pattern.rows.len() - 1, DMat3::ZERO);
        self.upper.clear();
        self.upper.resize(pattern.columns.len(), DMat3::ZERO);
    }

    /// Adds to a diagonal block.
    pub(super) fn add_diagonal(&mut self, node: u32, block: DMat3) {
        self.diagonal[node as usize] += block;
    }

    /// Adds to the block (i, j) whose slot is given.
    pub(super) fn add(&mut self, slot: Slot, block: DMat3) {
        self.upper[slot.index as usize] += if slot.transposed {
            block.transpose()
        } else {
            block
        };
    }

    /// The blocks above the diagonal with their row and column.
    pub(super) fn upper<'a>(
        &'a self,
        pattern: &'a Pattern,
    ) -> impl Iterator<Item = (usize, usize, &'a DMat3)> {
        (0..self.diagonal.len()).flat_map(move |i| {
            let range = pattern.row(i);
            let columns = &pattern.columns[range.clone()];
            let blocks = self.upper[range].iter();
            columns
                .iter()
                .zip(blocks)
                .map(move |(&j, block)| (i, j as usize, block))
        })
    }

    /// `out = A p`.
    pub(super) fn multiply(&self, pattern: &Pattern, p: &[DVec3], out: &mut [DVec3]) {
        for (out, (d, p)) in out.iter_mut().zip(self.diagonal.iter().zip(p)) {
            *out = *d * *p;
        }
        for i in 0..p.len() {
            let own = p[i];
            let mut sum = DVec3::ZERO;
            let range = pattern.row(i);
            for (block, &j) in self.upper[range.clone()]
                .iter()
                .zip(&pattern.columns[range])
            {
                sum += *block * p[j as usize];
                out[j as usize] += transposed_product(block, own);
            }
            out[i] += sum;
        }
    }
}

/// `Bᵀ p` without forming Bᵀ.
fn transposed_product(b: &DMat3, p: DVec3) -> DVec3 {
    DVec3::new(b.x_axis.dot(p), b.y_axis.dot(p), b.z_axis.dot(p))
}

pub(super) fn dot(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum()
}
