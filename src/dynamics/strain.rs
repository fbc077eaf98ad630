//! The strain limit: no triangle is stretched beyond it in any direction, if that can be had.
//!
//! The largest stretch of a triangle is σ, the larger singular value of its deformation gradient F. It is a norm of F, and
//! F is linear in the positions: the states within the limit form a convex set. So projecting one triangle
//! after the other, each along
//!
//! ```text
//! ∂σ/∂xᵢ = (γᵢ · w) u,     F w = σ u,  γᵢ: gradient of the i-th shape function
//! ```
//!
//! weighted by the inverse masses, approaches it \[GPR67\]; momentum is kept, and scripted nodes do not move. Provot's limit on
//! springs \[PRO95\] and \[BFA02\] are the same idea on edges. We differ in the end: sweeps are finite, so what is left over is
//! removed by taking only the largest share of the motion that stays within the limit (convexity: with σ₀ ≤ L < σ₁ any share
//! up to (L − σ₀)/(σ₁ − σ₀) does), per connected piece. The limit then holds whenever it held at the start and nothing
//! scripted moved; otherwise the report tells.
//!
//! Velocities are treated as in an inelastic stop: where the limit was met, the rate of σ loses its positive part, by impulses of
//! the same form. They never add kinetic energy. Moving positions can add energy to neighbours that are stiff; then the piece
//! slows down, about the motion of its centre, until it has no more than it came with.

use std::cmp::Ordering;

use glam::DVec3;
use serde::Serialize;

use super::elements::Elements;
use super::integrator::System;

/// Sweeps over all triangles at most.
const MAX_SWEEPS: u32 = 100;
/// Triangles above the limit are brought this share of the permitted strain below it: sweeps disturb one another, and a
/// target inside the set is reached where its border is only approached.
const MARGIN: f64 = 0.02;

/// Stretch beyond the limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct StrainReport {
    /// Faces above the strain limit of their fabric.
    pub over: u32,
    /// Largest principal strain of all faces (0.1 = stretched by a tenth).
    pub largest: f64,
    /// The face that has it.
    pub face: u32,
}

impl Elements {
    /// Measures all faces.
    pub(super) fn strain(&self, x: &[DVec3]) -> StrainReport {
        let mut report = StrainReport {
            largest: f64::NEG_INFINITY,
            ..StrainReport::default()
        };
        for (triangle, &face) in self.faces.iter().zip(&self.face_numbers) {
            let stretch = triangle.largest_stretch(x).value;
            report.over += u32::from(stretch > triangle.limit);
            if stretch - 1.0 > report.largest {
                (report.largest, report.face) = (stretch - 1.0, face);
            }
        }
        report
    }

    /// Moves free nodes until the limit holds; `start` is where the motion began.
    pub(super) fn limit_strain(
        &self,
        system: &System<'_>,
        start: &[DVec3],
        x: &mut [DVec3],
        v: &mut [DVec3],
    ) {
        let over = |x: &[DVec3]| (self.faces.iter()).any(|t| t.largest_stretch(x).value > t.limit);
        if !over(x) {
            return;
        }
        let before = self.energy_by_piece(system, x, v);
        let inverse_mass = system.inverse_mass;
        let count = self.faces.len();
        let mut met = vec![false; count];
        let mut sweeps = 0;
        while over(x) && sweeps < MAX_SWEEPS {
            for k in 0..count {
                // there and back, so that corrections travel both ways
                let k = if sweeps % 2 == 0 { k } else { count - 1 - k };
                met[k] |= self.project(k, inverse_mass, x);
            }
            sweeps += 1;
        }
        self.shorten(start, inverse_mass, x);
        for sweep in 0..sweeps {
            for k in 0..count {
                let k = if sweep % 2 == 0 { k } else { count - 1 - k };
                if met[k] {
                    self.stop(k, inverse_mass, x, v);
                }
            }
        }
        self.calm(system, &before, x, v);
    }

    /// Kinetic energy and the potentials of elasticity and gravity of each connected piece, J.
    fn energy_by_piece(&self, system: &System<'_>, x: &[DVec3], v: &[DVec3]) -> Vec<f64> {
        let mut sums = vec![0.0; self.piece_count];
        self.for_each_energy(x, |node, energy| {
            sums[self.piece_of[node as usize] as usize] += energy;
        });
        for i in 0..x.len() {
            let motion = 0.5 * v[i].length_squared() - system.gravity.dot(x[i]);
            sums[self.piece_of[i] as usize] += system.mass[i] * motion;
        }
        sums
    }

    /// Slows pieces that have more energy than `before`; their momentum stays.
    fn calm(&self, system: &System<'_>, before: &[f64], x: &[DVec3], v: &mut [DVec3]) {
        let after = self.energy_by_piece(system, x, v);
        let mut mass = vec![0.0; self.piece_count];
        let mut drift = vec![DVec3::ZERO; self.piece_count];
        let free = |i: &usize| system.inverse_mass[*i] > 0.0;
        for i in (0..x.len()).filter(free) {
            let piece = self.piece_of[i] as usize;
            mass[piece] += system.mass[i];
            drift[piece] += system.mass[i] * v[i];
        }
        for (drift, mass) in drift.iter_mut().zip(&mass) {
            *drift /= mass.max(f64::MIN_POSITIVE);
        }
        let mut motion = vec![0.0; self.piece_count];
        for i in (0..x.len()).filter(free) {
            let piece = self.piece_of[i] as usize;
            motion[piece] += 0.5 * system.mass[i] * v[i].distance_squared(drift[piece]);
        }
        for i in (0..x.len()).filter(free) {
            let piece = self.piece_of[i] as usize;
            let excess = after[piece] - before[piece];
            if excess > 0.0 {
                let keep = (1.0 - excess / motion[piece]).max(0.0).sqrt();
                v[i] = drift[piece] + keep * (v[i] - drift[piece]);
            }
        }
    }

    /// Takes the growth of the largest stretch out of the velocities.
    fn stop(&self, face: usize, inverse_mass: &[f64], x: &[DVec3], v: &mut [DVec3]) {
        let triangle = &self.faces[face];
        let stretch = triangle.largest_stretch(x);
        let weights = triangle.vertices.map(|v| inverse_mass[v as usize]);
        let slopes = triangle.gradient.map(|g| g.dot(stretch.material));
        let response: f64 = (0..3).map(|i| weights[i] * slopes[i] * slopes[i]).sum();
        let rate: f64 = (0..3)
            .map(|i| slopes[i] * stretch.world.dot(v[triangle.vertices[i] as usize]))
            .sum();
        if response > 0.0 && rate > 0.0 {
            for i in 0..3 {
                let impulse = rate / response * weights[i] * slopes[i];
                v[triangle.vertices[i] as usize] -= impulse * stretch.world;
            }
        }
    }

    /// Brings one triangle below the limit, if it is above; says whether it was.
    fn project(&self, face: usize, inverse_mass: &[f64], x: &mut [DVec3]) -> bool {
        let triangle = &self.faces[face];
        let goal = triangle.limit - MARGIN * (triangle.limit - 1.0);
        let stretch = triangle.largest_stretch(x);
        if stretch.value.partial_cmp(&goal) != Some(Ordering::Greater) {
            return false; // within, or not a number, which others report
        }
        let weights = triangle.vertices.map(|v| inverse_mass[v as usize]);
        let slopes = triangle.gradient.map(|g| g.dot(stretch.material));
        let response: f64 = (0..3).map(|i| weights[i] * slopes[i] * slopes[i]).sum();
        if response == 0.0 {
            return false; // all of it follows a script
        }
        let step = (stretch.value - goal) / response;
        for i in 0..3 {
            x[triangle.vertices[i] as usize] -= step * weights[i] * slopes[i] * stretch.world;
        }
        true
    }

    /// Takes back as much of the motion of each connected piece as its worst triangle asks for.
    fn shorten(&self, start: &[DVec3], inverse_mass: &[f64], x: &mut [DVec3]) {
        let mut share = vec![1.0f64; self.piece_count];
        for triangle in &self.faces {
            let end = triangle.largest_stretch(x).value;
            let piece = self.piece_of[triangle.vertices[0] as usize] as usize;
            if end > triangle.limit {
                let begin = triangle.largest_stretch(start).value;
                if begin <= triangle.limit {
                    share[piece] = share[piece].min((triangle.limit - begin) / (end - begin));
                }
            }
        }
        for i in 0..x.len() {
            if inverse_mass[i] == 0.0 && x[i] != start[i] {
                share[self.piece_of[i] as usize] = 1.0; // stretched by its script: nothing to take back
            }
        }
        for i in 0..x.len() {
            let share = share[self.piece_of[i] as usize];
            if share < 1.0 {
                x[i] = start[i] + share * (x[i] - start[i]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::laws::{cloth, sheet};
    use super::super::*;

    fn soft() -> Fabric {
        Fabric {
            stretch: [20.0; 2],
            shear: 5.0,
            ..Fabric::default()
        }
    }

    #[test]
    fn a_soft_cloth_that_falls_into_its_pins_keeps_the_limit_on_every_frame() {
        let (mesh, rest) = sheet(12);
        for stretch in [Stretch::Springs, Stretch::Membrane] {
            for limit in [0.1, f64::INFINITY] {
                let mut model = cloth(
                    &mesh,
                    &rest,
                    Fabric {
                        strain_limit: limit,
                        ..soft()
                    },
                );
                model.stretch = stretch;
                model.pinned = vec![0, 12];
                let dynamics = Dynamics::new(&mesh, &[model], &Settings::default());
                let mut x = rest.clone();
                let mut v = vec![DVec3::ZERO; x.len()];
                let (mut largest, mut over): (f64, u32) = (0.0, 0);
                for _ in 0..60 {
                    let end = dynamics.propose(&x, &v, &rest, 0.0, 1.0 / 60.0);
                    (x, v) = (end.x, end.v);
                    let strain = dynamics.strain(&x);
                    (largest, over) = (largest.max(strain.largest), over + strain.over);
                }
                // without the limit the same cloth stretches far more: the limit is what holds it
                assert_eq!(over, 0);
                assert_eq!(largest > 0.3, limit > 1.0, "{largest}");
            }
        }
    }

    #[test]
    fn limiting_keeps_momentum_and_leaves_what_is_within_alone() {
        let (mesh, rest) = sheet(6);
        let dynamics = Dynamics::new(&mesh, &[cloth(&mesh, &rest, soft())], &Settings::default());
        let mut v = vec![DVec3::ZERO; rest.len()];
        let within: Vec<DVec3> = rest.iter().map(|&x| 1.09 * x).collect();
        let mut x = within.clone();
        let system = dynamics.system();
        dynamics
            .elements
            .limit_strain(&system, &rest, &mut x, &mut v);
        assert_eq!(x, within);
        let beyond: Vec<DVec3> = rest.iter().map(|&x| 1.3 * x).collect();
        let mut x = beyond.clone();
        let system = dynamics.system();
        dynamics
            .elements
            .limit_strain(&system, &rest, &mut x, &mut v);
        assert_eq!(dynamics.strain(&x).over, 0);
        let centre = |x: &[DVec3]| {
            (0..x.len())
                .map(|i| dynamics.mass()[i] * x[i])
                .sum::<DVec3>()
        };
        assert!((centre(&x) - centre(&beyond)).length() < 1e-14);
    }

    #[test]
    fn a_script_that_stretches_is_reported() {
        let (mesh, rest) = sheet(4);
        let mut model = cloth(&mesh, &rest, soft());
        model.pinned = (0..25).filter(|v| v % 5 == 0 || v % 5 == 4).collect();
        let dynamics = Dynamics::new(&mesh, &[model], &Settings::default());
        let pulled: Vec<DVec3> = rest
            .iter()
            .map(|&x| DVec3::new(x.x, x.y, 1.5 * x.z))
            .collect();
        let v = vec![DVec3::ZERO; rest.len()];
        let end = dynamics.propose(&rest, &v, &pulled, 0.0, 1.0 / 60.0);
        assert!(
            end.strain.over > 0 && end.strain.largest > 0.3,
            "{:?}",
            end.strain
        );
        assert_eq!(end.strain, dynamics.strain(&end.x));
    }
}
