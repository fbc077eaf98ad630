//! Connected impacts move as one rigid body.
//!
//! What is free of intersections stays so under rigid motion; so a zone of vertices that are
//! connected by impacts is given the rigid motion that keeps its linear and angular momentum, and
//! grows by what it meets next. It resolves any pile in a few rounds, at the price of all motion
//! inside the zone: infinite friction. Source: course notes, "Rigidifying"; Provot 1997; \[BFA02\].
//!
//! ```text
//! c = Σ m x₀ / M     d = Σ m (x₁−x₀) / M     L = Σ m (x₀−c) × (x₁−x₀)     I ω = L
//! x' = x₀ + d + ω × (x₀−c)
//! ```
//!
//! We differ:
//! - The turn is the linear map 1 + \[ω\], not a finite rotation. The motion is straight anyway, and the straight
//!   motion into a rotated place shrinks on the way and loses angular momentum (0.7 % at 0.2 rad). `1 + t\[ω\]` is
//!   invertible for all t (its determinant is 1 + t²ω²), so the zone stays free of intersections at every
//!   moment, and both momenta are kept to rounding. It grows by ω²/2; `MAX_ANGLE` bounds that.
//! - Collinear zones have a singular inertia: the pseudo-inverse leaves out the turn that nothing can feel.
//! - Scripted vertices do not connect zones (a floor would glue together all that lies on it). A zone that meets
//!   some takes their motion, if it is a common translation; if it is none, the zone is left to the next stage,
//!   which is what the notes mean by "you're in trouble".

use glam::{DMat3, DVec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::zones::Sets;
use crate::geometry::Impact;
use crate::state::Candidate;

/// The rigid zones; there is nothing to set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RigidZones {}

/// Rounds before the next stage takes over; each may only merge zones, so few are needed.
pub(super) const MAX_ROUNDS: u32 = 50;

/// Largest turn of a zone in one interval, in radians; what exceeds it is lost. A zone grows by 2 % at this angle.
const MAX_ANGLE: f64 = 0.2;

/// Zones, and where their vertices wanted to go.
pub(super) struct FusedZones {
    sets: Sets,
    wanted: Vec<DVec3>,
    /// By root: scripted vertices that the zone has met, ascending.
    scripted: Vec<Vec<u32>>,
}

impl FusedZones {
    pub(super) fn new(candidate: &Candidate<'_>) -> Self {
        let n = candidate.x.len();
        Self {
            sets: Sets::new(n),
            wanted: candidate.x.clone(),
            scripted: vec![Vec::new(); n],
        }
    }

    /// Merges the vertices of the impacts; returns the roots of zones in impact, ascending.
    fn grow(&mut self, impacts: &[Impact], inverse_mass: &[f64]) -> Vec<u32> {
        let mut roots = Vec::new();
        for impact in impacts {
            let merged = self.sets.merge(impact.vertices, inverse_mass);
            let Some(&root) = merged.first() else {
                continue; // two scripted features: nothing here can move
            };
            for &other in &merged[1..] {
                let scripted = std::mem::take(&mut self.scripted[other as usize]);
                self.scripted[root as usize].extend(scripted);
            }
            let scripted = impact
                .vertices
                .iter()
                .filter(|&&v| inverse_mass[v as usize] == 0.0);
            self.scripted[root as usize].extend(scripted);
            roots.push(root);
        }
        let mut roots: Vec<u32> = roots.into_iter().map(|root| self.sets.root(root)).collect();
        roots.sort_unstable();
        roots.dedup();
        roots
    }
}

impl RigidZones {
    pub(super) fn apply(
        &self,
        impacts: &[Impact],
        zones: &mut FusedZones,
        candidate: &mut Candidate<'_>,
    ) -> Vec<u32> {
        let roots = zones.grow(impacts, candidate.inverse_mass);
        let mut members: Vec<(u32, u32)> = (0..candidate.x.len() as u32)
            .filter(|&v| candidate.inverse_mass[v as usize] > 0.0)
            .map(|v| (zones.sets.root(v), v))
            .filter(|(root, _)| roots.binary_search(root).is_ok())
            .collect();
        members.sort_unstable();

        let mut changed = Vec::new();
        for zone in members.chunk_by(|a, b| a.0 == b.0) {
            let vertices: Vec<u32> = zone.iter().map(|&(_, v)| v).collect();
            let scripted = &mut zones.scripted[zone[0].0 as usize];
            scripted.sort_unstable();
            scripted.dedup();
            let motion = match common_translation(scripted, candidate) {
                None => continue, // no rigid motion fits: left to the next stage
                Some(Some(shift)) => Motion {
                    shift,
                    turn: DVec3::ZERO,
                    centre: DVec3::ZERO,
                },
                Some(None) => self.motion_of(&vertices, &zones.wanted, candidate),
            };
            for &v in &vertices {
                let x0 = candidate.start.positions()[v as usize];
                let x = motion.of(x0);
                if candidate.x[v as usize] != x {
                    candidate.x[v as usize] = x;
                    changed.push(v);
                }
            }
        }
        changed.sort_unstable();
        changed
    }

    /// The motion that keeps linear and angular momentum of free vertices.
    fn motion_of(&self, vertices: &[u32], wanted: &[DVec3], candidate: &Candidate<'_>) -> Motion {
        let start = candidate.start.positions();
        let each = || {
            let mass = |v: usize| 1.0 / candidate.inverse_mass[v];
            vertices
                .iter()
                .map(move |&v| (mass(v as usize), start[v as usize], wanted[v as usize]))
        };
        let mass: f64 = each().map(|(m, _, _)| m).sum();
        let centre = each().map(|(m, x0, _)| m * x0).sum::<DVec3>() / mass;
        let shift = each().map(|(m, x0, x1)| m * (x1 - x0)).sum::<DVec3>() / mass;
        let momentum: DVec3 = each()
            .map(|(m, x0, x1)| m * (x0 - centre).cross(x1 - x0))
            .sum();
        let inertia = each().fold(DMat3::ZERO, |sum, (m, x0, _)| {
            let r = x0 - centre;
            let outer = DMat3::from_cols(r * r.x, r * r.y, r * r.z);
            sum + (DMat3::from_diagonal(DVec3::splat(r.length_squared())) - outer) * m
        });
        let turn = solve_symmetric(inertia, momentum);
        Motion {
            shift,
            turn: turn.clamp_length_max(MAX_ANGLE),
            centre,
        }
    }
}

/// `x₀ + shift + turn × (x₀ − centre)`.
struct Motion {
    shift: DVec3,
    turn: DVec3,
    centre: DVec3,
}

impl Motion {
    fn of(&self, x0: DVec3) -> DVec3 {
        if self.turn == DVec3::ZERO && self.shift == DVec3::ZERO {
            return x0; // to the bit, so that the zone counts as still
        }
        x0 + self.shift + self.turn.cross(x0 - self.centre)
    }
}

/// The displacement that all scripted vertices share: `Some(None)` if there are none, `None` if
/// they differ.
fn common_translation(scripted: &[u32], candidate: &Candidate<'_>) -> Option<Option<DVec3>> {
    let start = candidate.start.positions();
    let way = |v: u32| candidate.x[v as usize] - start[v as usize];
    let Some((&first, rest)) = scripted.split_first() else {
        return Some(None);
    };
    let shift = way(first);
    // positions are rounded, so equal displacements may differ by an ulp of the coordinates
    let same = |&v: &u32| {
        let ulp = f64::EPSILON * candidate.x[v as usize].abs().max(start[v as usize].abs());
        (way(v) - shift).abs().cmple(4.0 * ulp).all()
    };
    rest.iter().all(same).then_some(Some(shift))
}

/// Solves a symmetric positive semi-definite system in the least-squares sense, by Jacobi
/// rotations.
fn solve_symmetric(matrix: DMat3, right: DVec3) -> DVec3 {
    let mut a = matrix.to_cols_array_2d();
    let mut vectors = DMat3::IDENTITY.to_cols_array_2d(); // columns are eigenvectors
    // 3x3 Jacobi converges quadratically; six sweeps are beyond double precision
    for _ in 0..6 {
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            if a[p][q] == 0.0 {
                continue;
            }
            let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
            let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
            let c = 1.0 / (t * t + 1.0).sqrt();
            let s = t * c;
            for row in &mut a {
                (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
            }
            for k in 0..3 {
                (a[p][k], a[q][k]) = (c * a[p][k] - s * a[q][k], s * a[p][k] + c * a[q][k]);
                let (vp, vq) = (vectors[p][k], vectors[q][k]);
                (vectors[p][k], vectors[q][k]) = (c * vp - s * vq, s * vp + c * vq);
            }
        }
    }
    let largest = a[0][0].max(a[1][1]).max(a[2][2]);
    let felt = |k: &usize| a[*k][*k] > 64.0 * f64::EPSILON * largest; // a collinear zone's inertia is rounding
    let along = |k: usize| DVec3::from(vectors[k]) * (DVec3::from(vectors[k]).dot(right) / a[k][k]);
    (0..3).filter(felt).map(along).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_system_is_solved_and_a_singular_one_in_the_least_squares_sense() {
        let a = DMat3::from_cols_array(&[4.0, 1.0, 0.5, 1.0, 3.0, -0.2, 0.5, -0.2, 2.0]);
        let x = DVec3::new(1.0, -2.0, 3.0);
        assert!((solve_symmetric(a, a * x) - x).length() < 1e-14);
        // inertia of points along the x axis: nothing feels a turn about it
        let line = DMat3::from_diagonal(DVec3::new(0.0, 2.0, 2.0));
        assert_eq!(
            solve_symmetric(line, DVec3::new(0.0, 4.0, -6.0)),
            DVec3::new(0.0, 2.0, -3.0)
        );
        assert_eq!(solve_symmetric(DMat3::ZERO, DVec3::ZERO), DVec3::ZERO);
    }
}
