//! Pins: vertices that follow a script, hard or by a spring, and weights.
//!
//! A hard pin is a vertex of inverse mass 0 ([`super::ClothModel::pinned`]): it goes where its
//! target says. A soft pin keeps its mass and is pulled to its target by a damped spring, each axis
//! on its own: a weighted hem that may rise but not swing, or a kinematic object of finite mass
//! that gives way (\[SMT08\], the two spheres). Its damper resists motion in space: a pin on a
//! moving script lags by its damping times the speed.

use glam::{DMat3, DVec3};

/// A vertex that a spring pulls to its script.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoftPin {
    /// Mesh vertex. If it belongs to an obstacle, it becomes free and needs a mass.
    pub vertex: u32,
    /// Spring constants along x, y, z, N/m; 0 leaves an axis free.
    pub stiffness: [f64; 3],
    /// Damping relative to the stiffness, s.
    pub damping: f64,
    /// Mass added to the vertex, kg.
    pub mass: f64,
}

/// A soft pin by node number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pin {
    pub(super) node: u32,
    pub(super) stiffness: DVec3,
    /// What the stiffness is a share of while a scene is staged.
    pub(super) full: DVec3,
    pub(super) damping: f64,
}

impl Pin {
    /// ½ k d², J.
    #[cfg(test)]
    pub(super) fn energy(&self, target: DVec3, x: &[DVec3]) -> f64 {
        let d = x[self.node as usize] - target;
        0.5 * (self.stiffness * d).dot(d)
    }

    /// Adds the pull of the spring.
    pub(super) fn add_force(&self, target: DVec3, x: &[DVec3], f: &mut [DVec3]) {
        let i = self.node as usize;
        f[i] += self.stiffness * (target - x[i]);
    }

    /// Block of stiffness and damping with the given weights.
    pub(super) fn matrix(&self, stiffness: f64, damping: f64) -> DMat3 {
        DMat3::from_diagonal(self.stiffness * (stiffness + damping * self.damping))
    }

    /// `out += scale · D v`.
    pub(super) fn add_product(&self, scale: f64, v: &[DVec3], out: &mut [DVec3]) {
        let i = self.node as usize;
        out[i] += scale * self.damping * self.stiffness * v[i];
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::bodies::{cloth, sheet, strip};
    use super::super::*;
    use super::*;
    use crate::geometry::{Body, BodyKind, Mesh};

    fn integrators() -> [Integrator; 2] {
        [
            Integrator::default(),
            Integrator::Implicit(Implicit::default()),
        ]
    }

    #[test]
    fn a_weighted_hem_may_rise_but_not_swing() {
        for integrator in integrators() {
            // hangs from its first row, in the x-y plane
            let (mesh, flat) = sheet(6);
            let rest: Vec<DVec3> = flat.iter().map(|p| DVec3::new(p.z, -p.x, 0.0)).collect();
            let mut model = cloth(&mesh, &rest, Fabric::default());
            model.pinned = (0..7).collect();
            let settings = Settings {
                integrator,
                ..Settings::default()
            };
            let hem: Vec<SoftPin> = (42..49)
                .map(|vertex| SoftPin {
                    vertex,
                    stiffness: [1000.0, 0.0, 1000.0],
                    damping: 0.01,
                    mass: 0.01,
                })
                .collect();
            let before = Dynamics::new(&mesh, &[model], &settings);
            let dynamics = before.clone().with_soft_pins(&hem);
            assert!((dynamics.mass()[45] - before.mass()[45] - 0.01).abs() < 1e-15);
            let mut x = rest.clone();
            let mut v = vec![DVec3::ZERO; x.len()];
            for k in 1..=120 {
                // the upper edge goes up by 0.2 m and the hem's script aside by 0.1 m
                let way = f64::from(k.min(60)) / 60.0;
                let shift = |i: usize| {
                    if i < 7 {
                        0.2 * DVec3::Y
                    } else {
                        0.1 * DVec3::Z
                    }
                };
                let target: Vec<DVec3> = (0..x.len()).map(|i| rest[i] + way * shift(i)).collect();
                let end = dynamics.propose(&x, &v, &target, 0.0, 1.0 / 60.0);
                (x, v) = (end.x, end.v);
            }
            for i in 42..49 {
                let moved = x[i] - rest[i];
                assert!(
                    (moved.z - 0.1).abs() < 0.01 && (moved.y - 0.2).abs() < 0.02,
                    "{moved}"
                );
            }
        }
    }

    #[test]
    fn an_obstacle_with_soft_pins_follows_its_script_and_gives_way() {
        for integrator in integrators() {
            let (one, x) = strip([1, 1], [1.0, 1.0]);
            let body = Body {
                name: "plate".into(),
                kind: BodyKind::Obstacle,
                vertices: 0..4,
                faces: 0..2,
            };
            let mesh = Mesh::with_bodies(4, one.faces().to_vec(), vec![body]).unwrap();
            let settings = Settings {
                integrator,
                ..Settings::default()
            };
            let (mass, stiffness) = (0.5, 500.0);
            let pins: Vec<SoftPin> = (0..4)
                .map(|vertex| SoftPin {
                    vertex,
                    stiffness: [stiffness; 3],
                    damping: 0.02,
                    mass,
                })
                .collect();
            let dynamics = Dynamics::new(&mesh, &[], &settings).with_soft_pins(&pins);
            assert_eq!(dynamics.inverse_mass(), [2.0; 4]);
            let mut now = x.clone();
            let mut v = vec![DVec3::ZERO; 4];
            let mut target = x.clone();
            for k in 1..=240 {
                let way = f64::from(k.min(60)) / 60.0;
                target = x.iter().map(|&x| x + way * DVec3::X).collect();
                let end = dynamics.propose(&now, &v, &target, 0.0, 1.0 / 60.0);
                (now, v) = (end.x, end.v);
            }
            // at rest the spring carries the weight
            let sag = mass * 9.81 / stiffness;
            for (x, target) in now.iter().zip(&target) {
                assert!((*x - *target + sag * DVec3::Y).length() < 0.02 * sag, "{x}");
            }
        }
    }
}
