//! A zone in scaled coordinates, in which every gradient is a unit vector.
//!
//! ```text
//! z = √m Δx      ∇̃Cᵢ = (… wᵥ n/√mᵥ …)/√k      k = Σ w²/m      |∇̃Cᵢ| = 1
//! ```
//!
//! The mass norm becomes the plain one and ∇C M⁻¹ ∇Cᵀ gets a diagonal of ones: the normalized
//! gradients of \[HVTG08\] §2, in the norm that the projection is about. Scripted vertices have no
//! coordinate: 1/√m = 0.

use glam::DVec3;

use super::zone::Zone;

/// Gradient of one contact: four vertices with coefficients, all along one direction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) vertices: [u32; 4],
    /// `w/√(m k)`; 0 for scripted vertices.
    pub(super) coefficients: [f64; 4],
    pub(super) normal: DVec3,
}

impl Row {
    /// Relative motion of the two features: three gradients at once, ∇h of \[HVTG08\] §4.
    #[inline]
    pub(super) fn relative(&self, z: &[DVec3]) -> DVec3 {
        let each = self.vertices.iter().zip(self.coefficients);
        each.map(|(&v, c)| c * z[v as usize]).sum()
    }

    /// ∇̃C · z.
    #[inline]
    pub(super) fn dot(&self, z: &[DVec3]) -> f64 {
        self.relative(z).dot(self.normal)
    }

    /// z += ∇̃hᵀ j.
    #[inline]
    pub(super) fn add(&self, z: &mut [DVec3], j: DVec3) {
        for (&v, c) in self.vertices.iter().zip(self.coefficients) {
            z[v as usize] += c * j;
        }
    }
}

/// A zone in scaled coordinates.
pub(super) struct Rows {
    pub(super) rows: Vec<Row>,
    /// `1/√m` of each vertex; 0 for scripted ones.
    pub(super) inverse_root: Vec<f64>,
    /// `√k` of each contact: impulses are scaled by it, gaps by its inverse.
    pub(super) root_k: Vec<f64>,
    /// `(gap − target)/√k` of the wanted positions: negative where something has to be done.
    pub(super) slack: Vec<f64>,
    /// `Σ w (x − x₀)/√k` of the wanted positions.
    pub(super) slide: Vec<DVec3>,
}

impl Rows {
    pub(super) fn of(zone: &Zone) -> Self {
        let inverse_root: Vec<f64> = zone.inverse_mass.iter().map(|w| w.sqrt()).collect();
        let count = zone.contacts.len();
        let mut rows = Self {
            rows: Vec::with_capacity(count),
            inverse_root,
            root_k: Vec::with_capacity(count),
            slack: Vec::with_capacity(count),
            slide: Vec::with_capacity(count),
        };
        for contact in &zone.contacts {
            let root_k = contact.inverse_mass(&zone.inverse_mass).sqrt();
            let coefficient = |i: usize| {
                contact.weights[i] * rows.inverse_root[contact.vertices[i] as usize] / root_k
            };
            rows.rows.push(Row {
                vertices: contact.vertices,
                coefficients: std::array::from_fn(coefficient),
                normal: contact.normal,
            });
            rows.root_k.push(root_k);
            let end = contact.relative(&zone.wanted);
            let start = contact.relative(&zone.start);
            rows.slack
                .push((end.dot(contact.normal) - contact.target) / root_k);
            rows.slide.push((end - start) / root_k);
        }
        rows
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn zeros(&self) -> Vec<DVec3> {
        vec![DVec3::ZERO; self.inverse_root.len()]
    }

    /// z += ∇̃Cᵀ λ.
    pub(super) fn add_normal(&self, z: &mut [DVec3], lambda: &[f64]) {
        for (row, &lambda) in self.rows.iter().zip(lambda) {
            if lambda != 0.0 {
                row.add(z, lambda * row.normal);
            }
        }
    }

    /// z += ∇̃hᵀ j.
    pub(super) fn add_all(&self, z: &mut [DVec3], j: &[DVec3]) {
        for (row, &j) in self.rows.iter().zip(j) {
            row.add(z, j);
        }
    }

    /// Positions after the motion z.
    pub(super) fn positions(&self, zone: &Zone, z: &[DVec3]) -> Vec<DVec3> {
        let each = zone.wanted.iter().zip(z).zip(&self.inverse_root);
        // a scripted vertex stays to the bit
        each.map(|((&x, &z), &r)| if r > 0.0 { x + r * z } else { x })
            .collect()
    }

    /// A bound on the largest eigenvalue of `∇̃C ∇̃Cᵀ`: its largest sum of absolute values in a
    /// row.
    pub(super) fn norm_bound(&self) -> f64 {
        let mut sums = vec![DVec3::ZERO; self.inverse_root.len()];
        for row in &self.rows {
            for (&v, c) in row.vertices.iter().zip(row.coefficients) {
                sums[v as usize] += c.abs() * row.normal.abs();
            }
        }
        let sum = |row: &Row| {
            let each = row.vertices.iter().zip(row.coefficients);
            each.map(|(&v, c)| c.abs() * row.normal.abs().dot(sums[v as usize]))
                .sum::<f64>()
        };
        self.rows.iter().map(sum).fold(0.0, f64::max)
    }
}
