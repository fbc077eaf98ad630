//! A preconditioner that sees the whole cloth: block Jacobi on the nodes and on ever larger patches
//! of them.
//!
//! Conjugate gradients with block Jacobi carry a pull by one element per iteration; a cloth that
//! hangs from two corners needs hundreds. Here the correction of a residual r is a sum over levels,
//!
//! ```text
//! z = D⁻¹ r + Σ Pₗ Dₗ⁻¹ Pₗᵀ r + P (Pᵀ A P)⁻¹ Pᵀ r
//! ```
//!
//! where Pₗ moves each patch of level l as one piece (three translations), Dₗ is the block diagonal
//! of Pₗᵀ A Pₗ, and on the coarsest level Pᵀ A P is factorised. The form is that of additive
//! multilevel diagonal scaling \[BPX90\], with patches of the mesh graph for coarse grids
//! \[VMB96\]. Nothing but sums of the matrix's own blocks is computed: the set-up costs about as
//! much as one product with A. Measured on 100×100 vertices: 40 to 60 iterations instead of 350 to
//! 580 (incomplete Cholesky of the same blocks breaks down on these matrices, symmetric
//! Gauss-Seidel takes 120 to 160).

use glam::{DVec3, Mat3A, Vec3A};
use rayon::prelude::*;

use super::rows::{Row, Rows};
use super::solve::{BlockMatrix, GRAIN, Pattern, evenly, pieces_of, sums_of};

/// Marks a node in no patch: it follows a script.
const NONE: u32 = u32::MAX;

/// Patches on the coarsest level, unless the cloth has more separate pieces. 200 patches cost a
/// factorisation of 600 unknowns, in an envelope of about 100: a few products with the matrix of
/// 10,000 nodes.
const COARSEST: usize = 200;

/// The patches of all levels, fine to coarse; fixed with the mesh.
#[derive(Clone, Debug, Default)]
pub(super) struct Hierarchy {
    levels: Vec<Level>,
}

/// One partition of the free nodes into connected patches.
#[derive(Clone, Debug)]
struct Level {
    patch_of: Vec<u32>,
    count: usize,
    /// Nodes of patch p: `nodes[first[p]..first[p + 1]]`.
    first: Vec<u32>,
    nodes: Vec<u32>,
}

impl Hierarchy {
    /// Patches of radius 1, 2, 4 … steps in the graph of the matrix, until there are few.
    pub(super) fn new(pattern: &Pattern, free: &[bool]) -> Self {
        let mut levels: Vec<Level> = Vec::new();
        let mut radius = 1;
        loop {
            let level = Level::new(pattern, free, radius);
            // as many patches as separate pieces: larger radii change nothing
            let stuck = (levels.last()).is_some_and(|finer| finer.count <= level.count);
            let done = level.count <= COARSEST || stuck;
            levels.push(level);
            if done {
                break;
            }
            radius *= 2;
        }
        let coarsest = levels.last_mut().expect("the loop pushes before it ends");
        coarsest.reduce_bandwidth(pattern);
        for level in &mut levels {
            level.list_nodes();
        }
        Self { levels }
    }
}

impl Level {
    /// Seeds more than `radius` steps apart in the order of their numbers; each node joins a
    /// nearest seed.
    fn new(pattern: &Pattern, free: &[bool], radius: u32) -> Self {
        let n = free.len();
        let mut covered = vec![NONE; n];
        let mut seeds: Vec<u32> = Vec::new();
        let (mut front, mut next) = (Vec::new(), Vec::new());
        for node in 0..n {
            if !free[node] || covered[node] != NONE {
                continue;
            }
            let seed = seeds.len() as u32;
            seeds.push(node as u32);
            covered[node] = seed;
            // `reached` would be a set per seed; covering only what no other seed covers is enough
            // and linear
            front.clear();
            front.push(node as u32);
            for _ in 0..radius {
                next.clear();
                for &i in &front {
                    for &j in pattern.neighbours(i as usize) {
                        if free[j as usize] && covered[j as usize] == NONE {
                            covered[j as usize] = seed;
                            next.push(j);
                        }
                    }
                }
                std::mem::swap(&mut front, &mut next);
            }
        }
        let mut patch_of = vec![NONE; n];
        front.clear();
        for (patch, &node) in seeds.iter().enumerate() {
            patch_of[node as usize] = patch as u32;
            front.push(node);
        }
        while !front.is_empty() {
            next.clear();
            for &i in &front {
                for &j in pattern.neighbours(i as usize) {
                    if free[j as usize] && patch_of[j as usize] == NONE {
                        patch_of[j as usize] = patch_of[i as usize];
                        next.push(j);
                    }
                }
            }
            std::mem::swap(&mut front, &mut next);
        }
        Self {
            patch_of,
            count: seeds.len(),
            first: Vec::new(),
            nodes: Vec::new(),
        }
    }

    /// Lists the nodes by patch.
    fn list_nodes(&mut self) {
        let nodes = 0..self.patch_of.len() as u32;
        self.nodes = nodes
            .filter(|&i| self.patch_of[i as usize] != NONE)
            .collect();
        (self.nodes).sort_by_key(|&i| self.patch_of[i as usize]);
        let before = |p: u32| {
            let nodes = &self.nodes;
            nodes.partition_point(|&i| self.patch_of[i as usize] < p) as u32
        };
        self.first = (0..=self.count as u32).map(before).collect();
    }

    /// The nodes of a patch, ascending.
    fn nodes_of(&self, patch: usize) -> &[u32] {
        &self.nodes[self.first[patch] as usize..self.first[patch + 1] as usize]
    }

    /// Numbers the patches so that neighbours have near numbers \[CM69\].
    fn reduce_bandwidth(&mut self, pattern: &Pattern) {
        let mut adjacent: Vec<Vec<u32>> = vec![Vec::new(); self.count];
        for i in 0..self.patch_of.len() {
            for &j in pattern.neighbours(i) {
                let (a, b) = (self.patch_of[i], self.patch_of[j as usize]);
                if a != NONE && b != NONE && a != b {
                    adjacent[a as usize].push(b);
                }
            }
        }
        for list in &mut adjacent {
            list.sort_unstable();
            list.dedup();
        }
        let degree = |p: u32| (adjacent[p as usize].len(), p);
        let mut starts: Vec<u32> = (0..self.count as u32).collect();
        starts.sort_unstable_by_key(|&p| degree(p));
        let mut order: Vec<u32> = Vec::with_capacity(self.count);
        let mut number = vec![NONE; self.count];
        for start in starts {
            if number[start as usize] != NONE {
                continue;
            }
            let mut done = order.len();
            number[start as usize] = done as u32;
            order.push(start);
            while done < order.len() {
                let mut list = adjacent[order[done] as usize].clone();
                list.sort_unstable_by_key(|&p| degree(p));
                for p in list {
                    if number[p as usize] == NONE {
                        number[p as usize] = order.len() as u32;
                        order.push(p);
                    }
                }
                done += 1;
            }
        }
        for patch in &mut self.patch_of {
            if *patch != NONE {
                *patch = number[*patch as usize];
            }
        }
    }
}

/// The preconditioner of one matrix.
#[derive(Clone, Debug, Default)]
pub(super) struct Preconditioner {
    /// Inverse diagonal blocks of the nodes, then of each level but the coarsest.
    inverse: Vec<Vec<Mat3A>>,
    coarsest: Envelope,
    /// Of each level.
    sums: Vec<Vec<Vec3A>>,
    short: Vec<Vec3A>,
}

impl Preconditioner {
    /// Sets up for a matrix and rows on the free nodes of the hierarchy; patches only if asked to:
    /// what they do changes slowly.
    pub(super) fn update(
        &mut self,
        matrix: &BlockMatrix,
        pattern: &Pattern,
        hierarchy: &Hierarchy,
        rows: &Rows,
        with_patches: bool,
    ) {
        let levels = &hierarchy.levels;
        let Some((coarsest, between)) = levels.split_last() else {
            return;
        };
        let blocks = rows.blocks();
        self.inverse.resize(levels.len(), Vec::new());
        let fine = &mut self.inverse[0];
        fine.resize(coarsest.patch_of.len(), Mat3A::ZERO);
        fine.par_iter_mut()
            .enumerate()
            .with_min_len(GRAIN)
            .for_each(|(node, inverse)| {
                if coarsest.patch_of[node] != NONE {
                    let mut sum = matrix.diagonal[node];
                    for &(row, w) in rows.at(node) {
                        sum += blocks[row as usize] * (w * w) as f32;
                    }
                    *inverse = sum.inverse();
                }
            });
        if !with_patches {
            return;
        }
        let each = rows.all().iter().zip(blocks);
        let active: Vec<(&Row, Mat3A)> = each.filter(|(_, b)| *b != Mat3A::ZERO).collect();
        for (level, inverse) in between.iter().zip(&mut self.inverse[1..]) {
            let patches = (0..level.count).into_par_iter().with_min_len(16);
            let sums = patches.map(|patch| {
                let mut sum = Mat3A::ZERO;
                for &node in level.nodes_of(patch) {
                    sum += matrix.diagonal[node as usize];
                    matrix.each_of_row(pattern, node as usize, |j, block| {
                        if level.patch_of[j as usize] == patch as u32 {
                            sum += block;
                        }
                    });
                }
                sum
            });
            sums.collect_into_vec(inverse);
            for (row, block) in &active {
                level.add_row(row, |p, w| inverse[p as usize] += *block * (w * w) as f32);
            }
            for block in inverse {
                *block = block.inverse();
            }
        }
        self.coarsest.assemble(matrix, pattern, coarsest);
        for (row, block) in &active {
            coarsest.add_row(row, |p, w| self.coarsest.add(p, p, *block * (w * w) as f32));
        }
        self.coarsest.factorise();
    }

    /// `z` = the correction of the residual `r`, in single precision: a direction is all that is asked for; z · r, and z · `last`.
    pub(super) fn apply(
        &mut self,
        hierarchy: &Hierarchy,
        [r, last]: [&[DVec3]; 2],
        z: &mut [DVec3],
    ) -> [f64; 2] {
        let Some((coarsest, between)) = hierarchy.levels.split_last() else {
            return [0.0; 2];
        };
        let Self {
            inverse,
            coarsest: factor,
            sums,
            short,
        } = self;
        evenly(r.par_iter().map(|v| v.as_vec3a()), GRAIN).collect_into_vec(short);
        let short = &short[..];
        sums.resize(hierarchy.levels.len(), Vec::new());
        let (coarse, sums) = sums.split_last_mut().expect("as many as levels");
        let solve = || {
            coarsest.restrict(short, None, coarse);
            factor.solve(coarse);
        };
        let restrict = || {
            for ((level, inverse), sums) in between.iter().zip(&inverse[1..]).zip(sums.iter_mut()) {
                level.restrict(short, Some(inverse), sums);
            }
        };
        rayon::join(solve, restrict);
        let fine = &inverse[0];
        sums_of(pieces_of(z), |(k, z)| {
            let mut dots = [-0.0; 2];
            for (i, z) in (k * GRAIN..).zip(z) {
                *z = match coarsest.patch_of[i] {
                    NONE => DVec3::ZERO,
                    patch => {
                        let mut sum = fine[i] * short[i];
                        for (level, sums) in between.iter().zip(sums.iter()) {
                            sum += sums[level.patch_of[i] as usize];
                        }
                        (sum + coarse[patch as usize]).as_dvec3()
                    }
                };
                dots[0] += z.dot(r[i]);
                dots[1] += z.dot(last[i]);
            }
            dots
        })
    }
}

impl Level {
    /// The patches of a row with their weights, where these do not cancel.
    fn add_row(&self, row: &Row, mut add: impl FnMut(u32, f64)) {
        let patch = row.nodes.map(|node| match node {
            NONE => NONE,
            _ => self.patch_of[node as usize],
        });
        for k in 0..4 {
            if patch[k] == NONE || patch[..k].contains(&patch[k]) {
                continue;
            }
            let own = (k..4).filter(|&l| patch[l] == patch[k]);
            let weight: f64 = own.map(|l| row.weights[l]).sum();
            if weight.abs() > 1e-9 {
                add(patch[k], weight);
            }
        }
    }

    /// Sums over the patches, each multiplied by its block if there are any.
    fn restrict(&self, r: &[Vec3A], blocks: Option<&[Mat3A]>, sums: &mut Vec<Vec3A>) {
        let patches = evenly((0..self.count).into_par_iter(), 64).map(|patch| {
            let nodes = self.nodes_of(patch).iter();
            let sum = nodes.map(|&node| r[node as usize]).sum::<Vec3A>();
            blocks.map_or(sum, |blocks| blocks[patch] * sum)
        });
        patches.collect_into_vec(sums);
    }
}

/// Cholesky factor of a symmetric positive definite matrix within its envelope: each row from its
/// first non-zero on.
#[derive(Clone, Debug, Default)]
struct Envelope {
    first: Vec<u32>,
    /// End of each row in `values`; the last value of a row is its diagonal.
    end: Vec<usize>,
    values: Vec<f64>,
    unknowns: Vec<f64>,
}

impl Envelope {
    fn row(&self, i: usize) -> std::ops::Range<usize> {
        self.end[i] - (i + 1 - self.first[i] as usize)..self.end[i]
    }

    /// Pᵀ A P of a level.
    fn assemble(&mut self, matrix: &BlockMatrix, pattern: &Pattern, level: &Level) {
        let mut first: Vec<u32> = (0..level.count as u32).collect();
        for (i, &p) in level.patch_of.iter().enumerate() {
            for &j in pattern.neighbours(i) {
                let q = level.patch_of[j as usize];
                if p != NONE && q != NONE {
                    first[p as usize] = first[p as usize].min(q);
                }
            }
        }
        self.first = first.iter().flat_map(|&p| [3 * p; 3]).collect();
        self.end.clear();
        let mut total = 0;
        for (i, &first) in self.first.iter().enumerate() {
            total += i + 1 - first as usize;
            self.end.push(total);
        }
        self.values.clear();
        self.values.resize(total, 0.0);
        for (d, &p) in matrix.diagonal.iter().zip(&level.patch_of) {
            if p != NONE {
                self.add(p, p, *d);
            }
        }
        for (i, &p) in level.patch_of.iter().enumerate() {
            matrix.each_of_row(pattern, i, |j, block| {
                let q = level.patch_of[j as usize];
                if p != NONE && q != NONE && p >= q {
                    self.add(p, q, block);
                }
            });
        }
    }

    /// Adds to the block (p, q), p ≥ q; of a diagonal block the upper half is left out.
    fn add(&mut self, p: u32, q: u32, block: Mat3A) {
        for a in 0..3 {
            let row = 3 * p as usize + a;
            let start = self.row(row).start;
            let columns = if p == q { a + 1 } else { 3 };
            for b in 0..columns {
                let column = 3 * q as usize + b;
                self.values[start + column - self.first[row] as usize] +=
                    f64::from(block.col(b)[a]);
            }
        }
    }

    /// Replaces the matrix by L with A = L Lᵀ.
    fn factorise(&mut self) {
        for i in 0..self.first.len() {
            let first = self.first[i] as usize;
            let row = self.row(i);
            let (above, rest) = self.values.split_at_mut(row.start);
            let own = &mut rest[..row.len()];
            for j in first..i {
                let start = first.max(self.first[j] as usize);
                let other_end = self.end[j] - 1;
                let other = &above[other_end - (j - start)..other_end];
                let sum = inner(&own[start - first..j - first], other);
                own[j - first] = (own[j - first] - sum) / above[other_end];
            }
            let diagonal = i - first;
            let sum = inner(&own[..diagonal], &own[..diagonal]);
            // A is positive definite; should rounding eat the pivot, the row falls back to its own
            // diagonal
            let pivot = own[diagonal] - sum;
            own[diagonal] = if pivot > 0.0 { pivot } else { own[diagonal] }.sqrt();
        }
    }

    fn solve(&mut self, b: &mut [Vec3A]) {
        let mut y = std::mem::take(&mut self.unknowns);
        y.clear();
        y.extend(b.iter().flat_map(|b| b.as_dvec3().to_array()));
        for i in 0..y.len() {
            let row = &self.values[self.row(i)];
            let (diagonal, left) = row.split_last().expect("a row holds its diagonal");
            y[i] = (y[i] - inner(left, &y[self.first[i] as usize..i])) / diagonal;
        }
        for i in (0..y.len()).rev() {
            let row = &self.values[self.row(i)];
            let (diagonal, left) = row.split_last().expect("a row holds its diagonal");
            let value = y[i] / diagonal;
            y[i] = value;
            for (y, l) in y[self.first[i] as usize..i].iter_mut().zip(left) {
                *y -= l * value;
            }
        }
        for (b, y) in b.iter_mut().zip(y.chunks_exact(3)) {
            *b = DVec3::from_slice(y).as_vec3a();
        }
        self.unknowns = y;
    }
}

/// Inner product in four interleaved sums: a fixed order that the compiler can keep in vector
/// registers.
fn inner(a: &[f64], b: &[f64]) -> f64 {
    let (fours_a, rest_a) = a.as_chunks::<4>();
    let (fours_b, rest_b) = b.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for (a, b) in fours_a.iter().zip(fours_b) {
        for k in 0..4 {
            sums[k] += a[k] * b[k];
        }
    }
    let tail: f64 = rest_a.iter().zip(rest_b).map(|(a, b)| a * b).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + tail
}

#[cfg(test)]
mod tests {
    use glam::DMat3;

    use super::super::solve::dot;
    use super::super::tests::bodies::noise;
    use super::*;

    /// A chain of `n` nodes with stiff links: the worst case for Jacobi.
    fn chain(n: u32) -> (Pattern, BlockMatrix) {
        let pattern = Pattern::new(n as usize, (1..n).map(|i| [i - 1, i]));
        let mut matrix = BlockMatrix::default();
        matrix.reset(&pattern);
        let link = Mat3A::from_cols_array(&[900.0, 10.0, 0.0, 10.0, 500.0, 5.0, 0.0, 5.0, 300.0]);
        let inertia = DMat3::IDENTITY * 0.01;
        let mut rows = matrix.rows();
        for i in 0..n {
            rows.add_outer(i, inertia, inertia);
        }
        for i in 1..n {
            rows.add_diagonal(i - 1, link);
            rows.add_diagonal(i, link);
            rows.add(pattern.slot(i, i - 1), -link);
        }
        (pattern, matrix)
    }

    #[test]
    fn patches_cover_the_free_nodes_and_nothing_else() {
        let (pattern, _) = chain(5000);
        let free: Vec<bool> = (0..5000).map(|i| i % 1000 != 17).collect();
        let hierarchy = Hierarchy::new(&pattern, &free);
        assert!(hierarchy.levels.len() > 2);
        assert!(hierarchy.levels.last().unwrap().count <= COARSEST);
        for level in &hierarchy.levels {
            let mut used = vec![false; level.count];
            for (&p, &free) in level.patch_of.iter().zip(&free) {
                assert_eq!(p == NONE, !free);
                if free {
                    used[p as usize] = true;
                }
            }
            assert!(used.into_iter().all(|used| used));
        }
    }

    #[test]
    fn a_solve_takes_few_iterations_and_leaves_fixed_nodes_alone() {
        let n = 2000;
        let (pattern, matrix) = chain(n);
        let mut next = noise(1);
        let solution: Vec<DVec3> = (0..n).map(|_| DVec3::new(next(), next(), next())).collect();
        let free: Vec<bool> = (0..n).map(|i| i != 700).collect();
        let hierarchy = Hierarchy::new(&pattern, &free);
        let mut x = vec![DVec3::ZERO; n as usize];
        x[700] = solution[700];
        let difference: Vec<DVec3> = solution.iter().zip(&x).map(|(s, x)| *s - *x).collect();
        let mut r = matrix.product(&pattern, &difference);
        r[700] = DVec3::ZERO;
        let first = dot(&r, &r).sqrt();
        let mut preconditioner = Preconditioner::default();
        preconditioner.update(&matrix, &pattern, &hierarchy, &Rows::default(), true);
        let mut p = x.clone();
        let goal = 1e-4 * first; // products are in single precision
        let [mut descent, _] = preconditioner.apply(&hierarchy, [&r; 2], &mut p);
        let mut iterations = 0;
        while dot(&r, &r).sqrt() > goal && iterations < 1000 {
            let mut q = matrix.product(&pattern, &p);
            let step = descent / dot(&p, &q);
            for i in (0..x.len()).filter(|&i| free[i]) {
                x[i] += step * p[i];
                r[i] -= step * q[i];
            }
            let [next, _] = preconditioner.apply(&hierarchy, [&r; 2], &mut q);
            for (p, q) in p.iter_mut().zip(&q) {
                *p = *q + next / descent * *p;
            }
            descent = next;
            iterations += 1;
        }
        // Jacobi alone carries news by one node per iteration: it would need 2000
        assert!(iterations < 200, "{iterations}");
        assert_eq!(x[700], solution[700]);
        let difference: Vec<DVec3> = solution.iter().zip(&x).map(|(s, x)| *s - *x).collect();
        let mut left = matrix.product(&pattern, &difference);
        left[700] = DVec3::ZERO;
        let left = dot(&left, &left).sqrt() / first;
        assert!(left < 1e-3, "{left}");
    }

    #[test]
    fn the_envelope_solves_its_own_matrix() {
        let n = 40;
        let (pattern, matrix) = chain(n);
        let mut level = Level {
            patch_of: (0..n).collect(),
            count: n as usize,
            first: Vec::new(),
            nodes: Vec::new(),
        };
        level.list_nodes();
        let mut envelope = Envelope::default();
        envelope.assemble(&matrix, &pattern, &level);
        envelope.factorise();
        let mut next = noise(2);
        let solution: Vec<DVec3> = (0..n).map(|_| DVec3::new(next(), next(), next())).collect();
        let product = matrix.product(&pattern, &solution);
        let mut b: Vec<Vec3A> = product.iter().map(|b| b.as_vec3a()).collect();
        envelope.solve(&mut b);
        for (a, b) in b.iter().zip(&solution) {
            // right-hand side in single precision, times the condition of the chain
            assert!((a.as_dvec3() - *b).length() < 1e-2, "{a} and {b}");
        }
    }
}
