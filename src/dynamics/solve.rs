//! Symmetric sparse systems of 3×3 blocks, and conjugate gradients on them.
//!
//! A matrix has one block row per node. The diagonal blocks lie apart; of the others those above the diagonal are kept,
//! row by row. Which blocks there are is fixed once ([`Pattern`]); elements know the places of theirs.

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

/// A symmetric matrix of 3×3 blocks.
#[derive(Clone, Debug, Default)]
pub(super) struct BlockMatrix {
    diagonal: Vec<DMat3>,
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

/// What a solve took.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Solve {
    pub(super) iterations: u32,
    /// |b − A x| / |b − A x₀| at the end.
    pub(super) residual: f64,
}

/// Working memory of [`ConjugateGradients::run`].
#[derive(Clone, Debug, Default)]
pub(super) struct ConjugateGradients {
    preconditioner: Vec<DMat3>,
    direction: Vec<DVec3>,
    product: Vec<DVec3>,
}

impl ConjugateGradients {
    /// Improves `x` until the residual `r` = b − A x has fallen to `goal` (a norm) or the iterations are spent.
    ///
    /// Fixed nodes keep their x: the residual and all directions are zero there.
    pub(super) fn run(
        &mut self,
        matrix: &BlockMatrix,
        pattern: &Pattern,
        fixed: &[bool],
        x: &mut [DVec3],
        r: &mut [DVec3],
        goal: f64,
        max_iterations: u32,
    ) -> Solve {
        let n = x.len();
        let start = norm(r);
        self.preconditioner.clear();
        self.preconditioner.extend(
            matrix
                .diagonal
                .iter()
                .zip(fixed)
                .map(|(d, &fixed)| if fixed { DMat3::ZERO } else { d.inverse() }),
        );
        let w = &self.preconditioner;
        let p = &mut self.direction;
        p.clear();
        p.extend(r.iter().zip(w).map(|(r, w)| *w * *r));
        self.product.resize(n, DVec3::ZERO);
        let q = &mut self.product;
        let mut descent = dot(p, r);
        let mut iterations = 0;
        let mut now = start;
        while now > goal && iterations < max_iterations {
            matrix.multiply(pattern, p, q);
            let step = descent / dot(p, q);
            let mut square = 0.0;
            let mut next = 0.0;
            for i in 0..n {
                if fixed[i] {
                    continue;
                }
                x[i] += step * p[i];
                r[i] -= step * q[i];
                square += r[i].length_squared();
                q[i] = w[i] * r[i];
                next += q[i].dot(r[i]);
            }
            now = square.sqrt();
            let keep = next / descent;
            descent = next;
            for i in 0..n {
                p[i] = if fixed[i] {
                    DVec3::ZERO
                } else {
                    q[i] + keep * p[i]
                };
            }
            iterations += 1;
        }
        Solve {
            iterations,
            residual: if start > 0.0 { now / start } else { 0.0 },
        }
    }
}

pub(super) fn dot(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum()
}

pub(super) fn norm(a: &[DVec3]) -> f64 {
    dot(a, a).sqrt()
}
