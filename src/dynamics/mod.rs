//! Cloth between collisions: from a state and an interval to candidate positions that ignore contact.
//!
//! The collision step needs only start, candidate and masses, so nothing outside this folder knows what a spring
//! is. A [`Dynamics`] is built once from the mesh, the rest shapes and the fabrics; [`Dynamics::propose`] is a pure
//! function of its arguments: no memory is carried from one interval to the next, so a restart gives the same bits.
//! Everything is summed in a fixed order, and no std transcendental function is used.
//!
//! | file | holds |
//! |---|---|
//! | `material` | fabrics: density, stiffness and damping per area |
//! | `elements` | rest shapes; the springs and hinges of a mesh |
//! | `springs` | mass-spring stretching |
//! | `bend` | hinges between triangles |
//! | `damping` | the damping matrix |
//! | `integrator` | semi-implicit Newmark |

mod bend;
mod damping;
mod elements;
mod integrator;
#[cfg(test)]
mod laws;
mod material;
mod springs;

use glam::DVec3;
use serde::{Deserialize, Serialize};

use crate::geometry::{BodyKind, Mesh};
use elements::Elements;
pub use elements::RestShape;
pub use integrator::Newmark;
use integrator::System;
pub use material::Fabric;

/// How the cloth moves; the same for all cloths of a scene.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Acceleration of free fall, m/s²; Y is up.
    pub gravity: [f64; 3],
    /// Time integration.
    pub integrator: Integrator,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            gravity: [0.0, -9.81, 0.0],
            integrator: Integrator::default(),
        }
    }
}

/// The time integration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Integrator {
    /// Explicit elasticity, implicit damping, several loops per interval.
    Newmark(Newmark),
}

impl Default for Integrator {
    fn default() -> Self {
        Self::Newmark(Newmark::default())
    }
}

/// A cloth body of the mesh: what it is made of, its shape at rest, what is held.
#[derive(Clone, Debug, PartialEq)]
pub struct ClothModel {
    /// Index of the body in [`Mesh::bodies`].
    pub body: usize,
    /// What it is made of.
    pub fabric: Fabric,
    /// Its shape without forces.
    pub rest: RestShape,
    /// Vertices that follow a script, numbered within the body.
    pub pinned: Vec<u32>,
}

/// The forces and masses of all cloths of a mesh.
#[derive(Clone, Debug)]
pub struct Dynamics {
    elements: Elements,
    mass: Vec<f64>,
    inverse_mass: Vec<f64>,
    settings: Settings,
}

/// A candidate end state, and what it took to find it.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// Candidate positions, m.
    pub x: Vec<DVec3>,
    /// The integrator's own end velocities, m/s.
    pub v: Vec<DVec3>,
    /// Integrator steps taken.
    pub loops: u32,
    /// Iterations of linear solves.
    pub iterations: u32,
}

/// Energies of the free and pinned cloth vertices, J.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Energy {
    /// ½ m v².
    pub kinetic: f64,
    /// Stored in springs and hinges.
    pub elastic: f64,
    /// −m g · x, zero at the origin.
    pub gravity: f64,
}

impl Energy {
    /// The sum, J.
    pub fn total(&self) -> f64 {
        self.kinetic + self.elastic + self.gravity
    }
}

impl Dynamics {
    /// Builds the elements of all cloths. Each cloth body of the mesh should occur once in `cloths`; one that does not
    /// is scripted as a whole, like an obstacle.
    ///
    /// # Panics
    /// If a rest shape has not one position per vertex and one triangle per face of its body, or a cloth
    /// names an obstacle.
    pub fn new(mesh: &Mesh, cloths: &[ClothModel], settings: &Settings) -> Self {
        let mut elements = Elements::default();
        let mut mass = vec![0.0; mesh.vertex_count()];
        let mut pinned = vec![false; mesh.vertex_count()];
        for cloth in cloths {
            let body = &mesh.bodies()[cloth.body];
            assert_eq!(
                body.kind,
                BodyKind::Cloth,
                "body '{}' is an obstacle",
                body.name
            );
            assert_eq!(
                cloth.rest.positions.len(),
                body.vertices.len(),
                "rest shape of '{}'",
                body.name
            );
            assert_eq!(
                cloth.rest.material.len(),
                body.faces.len(),
                "rest shape of '{}'",
                body.name
            );
            elements.add_cloth(mesh, cloth, &mut mass);
            for &v in &cloth.pinned {
                pinned[(body.vertices.start + v) as usize] = true;
            }
        }
        let inverse_mass = mass
            .iter()
            .zip(&pinned)
            .map(|(&m, &pinned)| if pinned || m == 0.0 { 0.0 } else { 1.0 / m })
            .collect();
        Self {
            elements,
            mass,
            inverse_mass,
            settings: settings.clone(),
        }
    }

    /// 1/kg per mesh vertex; 0 for vertices that follow a script: obstacles, pins, vertices without a face.
    pub fn inverse_mass(&self) -> &[f64] {
        &self.inverse_mass
    }

    /// Lumped mass per mesh vertex, kg; 0 for obstacles, the true share for pins.
    pub fn mass(&self) -> &[f64] {
        &self.mass
    }

    /// Candidate state after `dt`, ignoring contact.
    ///
    /// `target` holds the end position of every vertex with inverse mass 0, which moves there straight; the other
    /// entries are not read. All slices have one entry per mesh vertex. `time` is that of the start, s.
    pub fn propose(
        &self,
        x0: &[DVec3],
        v0: &[DVec3],
        target: &[DVec3],
        _time: f64,
        dt: f64,
    ) -> Proposal {
        let advance = match &self.settings.integrator {
            Integrator::Newmark(newmark) => newmark.advance(&self.system(), x0, v0, target, dt),
        };
        Proposal {
            x: advance.x,
            v: advance.v,
            loops: advance.loops,
            iterations: advance.iterations,
        }
    }

    /// Longest loop that the integrator will take from the state `x`, s.
    pub fn max_loop(&self, x: &[DVec3]) -> f64 {
        match &self.settings.integrator {
            Integrator::Newmark(newmark) => newmark.cfl * self.system().stable_loop(x),
        }
    }

    /// Energies of a state; obstacles have none.
    pub fn energy(&self, x: &[DVec3], v: &[DVec3]) -> Energy {
        let g = DVec3::from_array(self.settings.gravity);
        let sum = |term: &dyn Fn(usize) -> f64| (0..x.len()).map(term).sum();
        Energy {
            kinetic: sum(&|i| 0.5 * self.mass[i] * v[i].length_squared()),
            elastic: self.elements.energy(x),
            gravity: sum(&|i| -self.mass[i] * g.dot(x[i])),
        }
    }

    fn system(&self) -> System<'_> {
        System {
            elements: &self.elements,
            mass: &self.mass,
            inverse_mass: &self.inverse_mass,
            gravity: DVec3::from_array(self.settings.gravity),
        }
    }
}
