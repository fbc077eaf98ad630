//! The coupled system of all tetrahedra, `Fᵀ M⁻¹ F`, as two products: pressures to motion, motion
//! to volumes.
//!
//! The matrix itself is never put together: a vertex of a crowded place is part of fifty pairs, and
//! each pair of pairs that share one would be an entry. Every sum has a fixed order, whoever adds
//! it: the same bits for any number of threads.

use glam::DVec3;
use rayon::prelude::*;

use super::minres::Symmetric;

/// Rows or vertices that one thread takes at a time, and the length of partial sums.
const CHUNK: usize = 2048;

/// `B = M^-½ F`, by pairs and by vertices.
pub struct System {
    /// Four vertices for each row, by number in the system.
    vertices: Vec<[u32; 4]>,
    /// For each row `∂V/∂xᵢ · √(1/mᵢ)`.
    rows: Vec<[DVec3; 4]>,
    /// Where the entries of each vertex begin.
    begin: Vec<u32>,
    /// Row of each entry, by vertex.
    of_row: Vec<u32>,
    /// Place of each entry in its row.
    place: Vec<u8>,
    /// The same numbers as `rows`, by vertex: read in order, where those of rows would be all over memory.
    columns: Vec<DVec3>,
    /// √(1/m) of each vertex, in kg^-½.
    mobility: Vec<f64>,
}

impl System {
    /// For rows of four vertices each, and √(1/m) by vertex, in kg^-½.
    pub fn new(vertices: Vec<[u32; 4]>, mobility: Vec<f64>) -> Self {
        let mut begin = vec![0u32; mobility.len() + 1];
        for v in vertices.iter().flatten() {
            begin[*v as usize + 1] += 1;
        }
        for v in 1..begin.len() {
            begin[v] += begin[v - 1];
        }
        let count = 4 * vertices.len();
        let (mut of_row, mut place) = (vec![0; count], vec![0; count]);
        let mut next = begin.clone();
        for (row, four) in vertices.iter().enumerate() {
            for (i, &v) in four.iter().enumerate() {
                let at = next[v as usize] as usize;
                (of_row[at], place[at]) = (row as u32, i as u8);
                next[v as usize] += 1;
            }
        }
        Self {
            rows: vec![[DVec3::ZERO; 4]; vertices.len()],
            columns: vec![DVec3::ZERO; count],
            vertices,
            begin,
            of_row,
            place,
            mobility,
        }
    }

    /// Takes the gradients of the rows, each times a factor.
    pub fn set(&mut self, gradient: impl Fn(usize) -> ([DVec3; 4], f64) + Sync) {
        let (vertices, mobility) = (&self.vertices, &self.mobility);
        let rows = self.rows.par_iter_mut().with_min_len(CHUNK).enumerate();
        rows.for_each(|(row, to)| {
            let (gradient, factor) = gradient(row);
            *to = std::array::from_fn(|i| {
                gradient[i] * (factor * mobility[vertices[row][i] as usize])
            });
        });
        let entries = self.of_row.par_iter().zip(&self.place);
        let columns = self.columns.par_iter_mut().with_min_len(CHUNK);
        columns
            .zip(entries)
            .for_each(|(to, (&row, &i))| *to = self.rows[row as usize][usize::from(i)]);
    }

    /// Rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The diagonal of the matrix at a row.
    pub fn diagonal(&self, row: usize) -> f64 {
        self.rows[row].iter().map(|g| g.length_squared()).sum()
    }

    /// `M^-½ F p` by vertex: what pressures make of the motion, times √m.
    fn motion(&self, p: &[f64], to: &mut [DVec3]) {
        let each = |(v, to): (usize, &mut DVec3)| {
            let entries = self.begin[v] as usize..self.begin[v + 1] as usize;
            let of = entries.clone().zip(&self.of_row[entries]);
            *to = of.fold(DVec3::ZERO, |sum, (at, &row)| {
                sum + self.columns[at] * p[row as usize]
            });
        };
        let vertices = to.par_iter_mut().with_min_len(CHUNK / 4).enumerate();
        vertices.for_each(each);
    }

    /// `M⁻¹ F p` by vertex: the displacement, in metres.
    pub fn displacement(&self, p: &[f64]) -> Vec<DVec3> {
        let mut motion = vec![DVec3::ZERO; self.mobility.len()];
        self.motion(p, &mut motion);
        for (motion, mobility) in motion.iter_mut().zip(&self.mobility) {
            *motion *= *mobility;
        }
        motion
    }
}

impl Symmetric for System {
    fn times(&self, x: &[f64], to: &mut [f64]) {
        let mut motion = vec![DVec3::ZERO; self.mobility.len()];
        self.motion(x, &mut motion);
        let rows = to.par_iter_mut().with_min_len(CHUNK).enumerate();
        rows.for_each(|(row, to)| {
            let (four, g) = (&self.vertices[row], &self.rows[row]);
            *to = (0..4).fold(0.0, |sum, i| sum + g[i].dot(motion[four[i] as usize]));
        });
    }

    fn dot(&self, a: &[f64], b: &[f64]) -> f64 {
        let part = |(a, b): (&[f64], &[f64])| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
        let parts = a.chunks(CHUNK).zip(b.chunks(CHUNK));
        parts.map(part).sum()
    }
}
