//! The paper's form: no contact of a zone moves along its normal, and one friction for the whole
//! zone.
//!
//! ```text
//! q̇'  = argmin |q̇ − q̇'|_M   subject to  ∇C q̇' = 0                                   (3), (4)
//! q̇_fix = argmin |q̇' − q̇_fix|_M  subject to  ∇H q̇_fix = 0      slide = q̇' − q̇_fix       §4, (6)
//! q̇'' = q̇' − min(μ |q̇' − q̇|, |slide|) slide/|slide|
//! ```
//!
//! Source: \[HVTG08\] §2 to §4, velocities being displacements over the interval. As printed, (3)
//! and (5) disagree in sign with the text; `q̇_fix = q̇' + …` and the friction, which is added
//! there, do too. Equality may pull ("sticking"), a large impulse at one contact rubs at all
//! others, and a zone has one μ: the mean of its contacts. That is what the paper describes and
//! what [`super::coulomb`] does without.

use glam::DVec3;

use super::Precision;
use super::lsmr::{self, Map};
use super::rows::Rows;
use super::zone::{Solution, Unsolved, Zone};

/// Gradients whose part outside the span of the others is shorter than this are combinations of
/// them.
///
/// As in the active-set method: at √ε as many digits of a direction are lost as are left.
const DEPENDENT: f64 = 1.0 / (1u64 << 26) as f64;

/// Solves a zone.
pub(super) fn solve(zone: &Zone, precision: &Precision) -> Result<Solution, Unsolved> {
    let rows = Rows::of(zone);
    let approach: Vec<f64> = rows
        .rows
        .iter()
        .zip(&rows.slide)
        .map(|(row, slide)| -slide.dot(row.normal))
        .collect();
    let (mut z, mut iterations, converged) = if rows.len() <= precision.dense_limit as usize {
        (project_dense(&rows, &approach), rows.len() as u32, true)
    } else {
        let right = rows.rows.iter().zip(&approach);
        let right = right.map(|(row, a)| *a * row.normal).collect();
        let solved = lsmr::solve(&Normals(&rows), right, precision.max_iterations);
        (solved.z, solved.iterations, solved.converged)
    };
    let left = rows
        .rows
        .iter()
        .zip(&approach)
        .map(|(row, a)| a - row.dot(&z));
    let scales = zone.contacts.iter().zip(&rows.root_k);
    let tolerances = scales.map(|(contact, k)| precision.tolerance * contact.scale / k);
    let pinched: Vec<(usize, f64)> = left
        .zip(tolerances)
        .enumerate()
        .filter(|(_, (left, tolerance))| left.abs() > *tolerance)
        .map(|(i, (left, _))| (i, left))
        .collect();
    if !pinched.is_empty() && !converged {
        return Err(Unsolved::Iterations(iterations));
    }
    if !pinched.is_empty() {
        return Err(Unsolved::Pinched(pinched)); // the rest of a least-squares solution: no motion changes it
    }

    let mean = zone.contacts.iter().map(|c| c.friction).sum::<f64>() / rows.len() as f64;
    if mean > 0.0 {
        let stop: Vec<DVec3> = rows
            .rows
            .iter()
            .zip(&rows.slide)
            .map(|(row, slide)| -(*slide + row.relative(&z)))
            .collect();
        let fixed = lsmr::solve(&Relatives(&rows), stop, precision.max_iterations);
        iterations += fixed.iterations;
        // fixed.z leads from q̇' to q̇_fix: it is −slide; norms are those of plain velocities, as
        // printed
        let slide = length(&rows, &fixed.z);
        let share = if slide > 0.0 {
            (mean * length(&rows, &z) / slide).min(1.0)
        } else {
            0.0
        };
        for (z, fix) in z.iter_mut().zip(&fixed.z) {
            *z += share * fix;
        }
    }
    Ok(Solution {
        x: rows.positions(zone, &z),
        impulses: Vec::new(),
        friction: Vec::new(),
        iterations,
    })
}

/// Length of a motion without masses.
fn length(rows: &Rows, z: &[DVec3]) -> f64 {
    let each = z.iter().zip(&rows.inverse_root);
    let squares = each.map(|(z, r)| (*r * *z).length_squared());
    squares.sum::<f64>().sqrt()
}

/// The shortest z with ∇̃C z = `right`: gradients made orthonormal one after the other, the longest
/// rest first.
fn project_dense(rows: &Rows, right: &[f64]) -> Vec<DVec3> {
    let mut right = right.to_vec();
    let mut rests: Vec<Vec<DVec3>> = rows
        .rows
        .iter()
        .map(|row| {
            let mut gradient = rows.zeros();
            row.add(&mut gradient, row.normal);
            gradient
        })
        .collect();
    let dot = |a: &[DVec3], b: &[DVec3]| a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum::<f64>();
    let mut z = rows.zeros();
    loop {
        let longest = rests
            .iter()
            .map(|rest| dot(rest, rest))
            .enumerate()
            .max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
        let Some((pivot, square)) = longest.filter(|(_, s)| *s > DEPENDENT * DEPENDENT) else {
            return z;
        };
        let length = square.sqrt();
        let unit: Vec<DVec3> = rests[pivot].iter().map(|rest| rest / length).collect();
        let along = right[pivot] / length;
        for (z, unit) in z.iter_mut().zip(&unit) {
            *z += along * unit;
        }
        for (rest, right) in rests.iter_mut().zip(&mut right) {
            // twice: the second pass removes what the first left by rounding
            for _ in 0..2 {
                let part = dot(&unit, rest);
                for (rest, unit) in rest.iter_mut().zip(&unit) {
                    *rest -= part * unit;
                }
                *right -= part * along;
            }
        }
        rests[pivot].fill(DVec3::ZERO);
    }
}

/// ∇̃C, as rows along the normals.
struct Normals<'a>(&'a Rows);

impl Map for Normals<'_> {
    fn times(&self, z: &[DVec3]) -> Vec<DVec3> {
        let rows = self.0.rows.iter();
        rows.map(|row| row.dot(z) * row.normal).collect()
    }

    fn transposed(&self, u: &[DVec3]) -> Vec<DVec3> {
        let mut z = self.0.zeros();
        for (row, u) in self.0.rows.iter().zip(u) {
            row.add(&mut z, u.dot(row.normal) * row.normal);
        }
        z
    }
}

/// ∇̃H.
struct Relatives<'a>(&'a Rows);

impl Map for Relatives<'_> {
    fn times(&self, z: &[DVec3]) -> Vec<DVec3> {
        self.0.rows.iter().map(|row| row.relative(z)).collect()
    }

    fn transposed(&self, u: &[DVec3]) -> Vec<DVec3> {
        let mut z = self.0.zeros();
        self.0.add_all(&mut z, u);
        z
    }
}
