//! Direct solution of small symmetric systems: Cholesky within the envelope, in the order of \[CM69\].
//!
//! Conjugate gradients that stop early amplify rounding up to their tolerance, so that a moved mesh would come out a little different;
//! a factorization does not, and for a few hundred unknowns it is faster too.

use glam::DVec3;

/// Most multiplications of a factorization, about four milliseconds; beyond, iterations are cheaper.
const MAX_WORK: f64 = 4e6;

/// A factorized matrix.
pub(super) struct Envelope {
    /// The unknown at each place of the order.
    order: Vec<u32>,
    /// First column of each row, and where the row begins in `values`.
    rows: Vec<(u32, u32)>,
    /// Rows of L from their first column to the diagonal.
    values: Vec<f64>,
}

/// Symmetric sparse matrix: columns and values of row i from `rows[i]` to `rows[i + 1]`, both triangles, columns ascending.
#[derive(Default)]
pub(super) struct Matrix {
    pub(super) rows: Vec<u32>,
    pub(super) columns: Vec<u32>,
    pub(super) values: Vec<f64>,
}

impl Matrix {
    fn row(&self, i: u32) -> std::ops::Range<usize> {
        self.rows[i as usize] as usize..self.rows[i as usize + 1] as usize
    }
}

impl Envelope {
    /// Factorizes the matrix A + Σ w c cᵀ, given A and for each product the entries (unknown, value) of c and w; `None` if it is too large, or not
    /// positive definite.
    pub(super) fn new<'a>(
        matrix: &Matrix,
        outer: impl Iterator<Item = (&'a [(u32, f64)], f64)> + Clone,
    ) -> Option<Self> {
        let n = matrix.rows.len() - 1;
        let order = Graph::new(matrix, outer.clone()).cuthill_mckee();
        let mut place = vec![0; n];
        for (k, &i) in (0u32..).zip(&order) {
            place[i as usize] = k;
        }
        let mut first: Vec<u32> = (0u32..)
            .zip(&order)
            .map(|(k, &i)| {
                let columns = matrix.columns[matrix.row(i)].iter();
                columns.map(|&j| place[j as usize]).fold(k, u32::min)
            })
            .collect();
        for (parts, _) in outer.clone() {
            let places = parts.iter().map(|(i, _)| place[*i as usize]);
            let least = places.clone().min().unwrap_or(0);
            for k in places {
                first[k as usize] = first[k as usize].min(least);
            }
        }
        let mut rows = Vec::with_capacity(n);
        let (mut size, mut work) = (0u32, 0.0);
        for (k, &first) in (0u32..).zip(&first) {
            let width = k - first + 1;
            rows.push((first, size));
            size = size.checked_add(width)?;
            work += f64::from(width) * f64::from(width);
        }
        if work > MAX_WORK {
            return None;
        }
        let mut values = vec![0.0; size as usize];
        let mut add = |row: u32, column: u32, value: f64| {
            let (first, at) = rows[row as usize];
            if column <= row {
                values[(at + column - first) as usize] += value;
            }
        };
        for (k, &i) in (0u32..).zip(&order) {
            for entry in matrix.row(i) {
                let column = place[matrix.columns[entry] as usize];
                add(k, column, matrix.values[entry]);
            }
        }
        for (parts, weight) in outer {
            for &(i, c) in parts {
                for &(j, d) in parts {
                    add(place[i as usize], place[j as usize], weight * c * d);
                }
            }
        }
        for k in 0..n {
            let (first, at) = (rows[k].0 as usize, rows[k].1 as usize);
            for j in first..=k {
                let (first_j, at_j) = (rows[j].0 as usize, rows[j].1 as usize);
                let from = first.max(first_j);
                let left = &values[at + from - first..at + j - first];
                let right = &values[at_j + from - first_j..at_j + j - first_j];
                let value = values[at + j - first] - dot(left, right);
                values[at + j - first] = if j < k {
                    value / values[at_j + j - first_j]
                } else if value > 0.0 {
                    value.sqrt()
                } else {
                    return None;
                };
            }
        }
        Some(Self {
            order,
            rows,
            values,
        })
    }

    /// Puts the solution in the place of the right-hand side.
    pub(super) fn solve(&self, right: &mut [DVec3]) {
        let row = |k: usize| {
            let (first, at) = (self.rows[k].0 as usize, self.rows[k].1 as usize);
            (first, &self.values[at..=at + k - first])
        };
        let mut y: Vec<DVec3> = self.order.iter().map(|&i| right[i as usize]).collect();
        for k in 0..y.len() {
            let (first, values) = row(k);
            let (before, own) = y.split_at_mut(k);
            let (diagonal, values) = values.split_last().expect("a row has its diagonal");
            let known = before[first..].iter().zip(values);
            own[0] = (own[0] - known.map(|(y, l)| *l * *y).sum::<DVec3>()) / *diagonal;
        }
        for k in (0..y.len()).rev() {
            let (first, values) = row(k);
            let (before, own) = y.split_at_mut(k);
            let (diagonal, values) = values.split_last().expect("a row has its diagonal");
            own[0] /= *diagonal;
            for (y, l) in before[first..].iter_mut().zip(values) {
                *y -= *l * own[0];
            }
        }
        for (y, &i) in y.into_iter().zip(&self.order) {
            right[i as usize] = y;
        }
    }
}

/// Scalar product, in four sums: one would wait for each addition.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (fours, others) = (a.chunks_exact(4), b.chunks_exact(4));
    let rest = fours.remainder().iter().zip(others.remainder());
    let rest: f64 = rest.map(|(a, b)| a * b).sum();
    for (a, b) in fours.zip(others) {
        for k in 0..4 {
            sums[k] += a[k] * b[k];
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// Which unknowns have an entry in common.
struct Graph<'a> {
    matrix: &'a Matrix,
    /// Neighbours by products, of unknown i from `starts[i]` to `starts[i + 1]`; some more than once.
    starts: Vec<u32>,
    links: Vec<u32>,
}

impl<'a> Graph<'a> {
    fn new<'b>(
        matrix: &'a Matrix,
        outer: impl Iterator<Item = (&'b [(u32, f64)], f64)> + Clone,
    ) -> Self {
        // the first and the last of a product know all others: enough to bring them together, and few
        let pairs = outer.flat_map(|(parts, _)| {
            let known = parts.first().into_iter().chain(parts.last());
            known.flat_map(move |k| parts.iter().map(move |p| (k.0, p.0)))
        });
        let both = pairs.flat_map(|(i, j)| [(i, j), (j, i)]);
        let mut starts = vec![0; matrix.rows.len()];
        for (i, _) in both.clone() {
            starts[i as usize + 1] += 1;
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut next = starts.clone();
        let mut links = vec![0; starts[starts.len() - 1] as usize];
        for (i, j) in both {
            links[next[i as usize] as usize] = j;
            next[i as usize] += 1;
        }
        Self {
            matrix,
            starts,
            links,
        }
    }

    fn neighbours(&self, i: u32) -> impl Iterator<Item = u32> {
        let links = self.starts[i as usize] as usize..self.starts[i as usize + 1] as usize;
        let near = self.matrix.columns[self.matrix.row(i)].iter();
        near.chain(&self.links[links]).copied()
    }

    fn degree(&self, i: u32) -> usize {
        let links = self.starts[i as usize + 1] - self.starts[i as usize];
        self.matrix.row(i).len() + links as usize
    }

    /// An order in which neighbours are close together: breadth first from an end of each piece.
    fn cuthill_mckee(&self) -> Vec<u32> {
        let n = self.matrix.rows.len() - 1;
        let mut order: Vec<u32> = Vec::with_capacity(n);
        let mut is_in = vec![false; n];
        let breadth_first = |start: u32, is_in: &mut [bool], order: &mut Vec<u32>| {
            let mut next = order.len();
            is_in[start as usize] = true;
            order.push(start);
            while next < order.len() {
                let i = order[next];
                next += 1;
                let from = order.len();
                for j in self.neighbours(i) {
                    if !std::mem::replace(&mut is_in[j as usize], true) {
                        order.push(j);
                    }
                }
                order[from..].sort_by_key(|&j| (self.degree(j), j));
            }
        };
        for start in 0..n as u32 {
            if is_in[start as usize] {
                continue;
            }
            // what is found last lies at an end
            let from = order.len();
            breadth_first(start, &mut is_in, &mut order);
            let end = order[order.len() - 1];
            for &i in &order[from..] {
                is_in[i as usize] = false;
            }
            order.truncate(from);
            breadth_first(end, &mut is_in, &mut order);
        }
        order.reverse();
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn the_solution_solves_the_system() {
        let mut random = Random(11);
        let n = 60;
        // a ring of springs, some chords, two pieces
        let mut dense = vec![vec![0.0; n]; n];
        let mut spring = |a: usize, b: usize, k: f64| {
            for (i, j, s) in [(a, a, k), (b, b, k), (a, b, -k), (b, a, -k)] {
                dense[i][j] += s;
            }
        };
        for i in 0..40 {
            spring(i, (i + 1) % 40, 1.0 + random.signed().abs());
        }
        for _ in 0..10 {
            let (a, b) = (random.below(40), random.below(40));
            spring(a, b, 0.5);
        }
        for i in 40..59 {
            spring(i, i + 1, 2.0);
        }
        for (i, row) in dense.iter_mut().enumerate() {
            row[i] += 0.02;
        }
        let sparse = |dense: &[Vec<f64>]| {
            let mut matrix = Matrix {
                rows: vec![0],
                ..Matrix::default()
            };
            for row in dense {
                for (j, value) in (0u32..).zip(row).filter(|(_, v)| **v != 0.0) {
                    matrix.columns.push(j);
                    matrix.values.push(*value);
                }
                matrix.rows.push(matrix.columns.len() as u32);
            }
            matrix
        };
        let given = sparse(&dense);
        // two products across the pieces, one with an unknown twice
        let products: [(&[(u32, f64)], f64); 2] = [
            (&[(3, 1.0), (41, -0.4), (57, -0.6)], 2.0),
            (&[(7, 0.5), (20, 0.5), (7, -0.3), (44, -0.7)], 0.7),
        ];
        for (parts, weight) in products {
            for &(i, c) in parts {
                for &(j, d) in parts {
                    dense[i as usize][j as usize] += weight * c * d;
                }
            }
        }
        let right: Vec<DVec3> = (0..n)
            .map(|_| DVec3::new(random.signed(), random.signed(), 1.0))
            .collect();
        let mut x = right.clone();
        let factor = Envelope::new(&given, products.into_iter()).unwrap();
        factor.solve(&mut x);
        for (row, b) in dense.iter().zip(&right) {
            let product: DVec3 = row.iter().zip(&x).map(|(a, x)| *a * *x).sum();
            assert!(product.distance(*b) < 1e-11);
        }
        let indefinite = sparse(&[vec![1.0, 2.0], vec![2.0, 1.0]]);
        assert!(Envelope::new(&indefinite, std::iter::empty()).is_none());
    }
}
