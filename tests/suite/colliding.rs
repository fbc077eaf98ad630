//! One collision step without dynamics: where things are, where they would go, and what stages make of it.

use std::sync::Arc;

use glam::{DMat3, DVec3, dvec3};
use percale::response::{Repulsion, Response, Stage, respond};
use percale::verify::{self, Verified};
use percale::{Candidate, Collider, Mesh, Surfaces};

use crate::support::squares;

/// Duration of the step, in seconds.
const DT: f64 = 0.01;

/// What would collide.
pub(crate) struct Case {
    pub(crate) start: Verified,
    pub(crate) inverse_mass: Vec<f64>,
    pub(crate) surfaces: Surfaces,
    pub(crate) wanted: Vec<DVec3>,
}

/// What stages made of it.
pub(crate) struct Outcome {
    pub(crate) x: Vec<DVec3>,
    pub(crate) response: Response,
    /// None if the end was refused.
    pub(crate) accepted: Option<Verified>,
}

impl Case {
    pub(crate) fn new(
        mesh: &Arc<Mesh>,
        x: &[DVec3],
        wanted: Vec<DVec3>,
        inverse_mass: Vec<f64>,
        [thickness, friction]: [f64; 2],
    ) -> Self {
        let still = vec![DVec3::ZERO; x.len()];
        Self {
            start: verify::start(Arc::clone(mesh), x.to_vec(), still).unwrap(),
            surfaces: Surfaces::uniform(mesh, x.to_vec(), thickness, friction).unwrap(),
            inverse_mass,
            wanted,
        }
    }

    /// Two sheets, the upper one turned and shifted, falls through the lower one with a ripple, so that nothing is symmetric; all
    /// lengths across times `scale`.
    pub(crate) fn falling(cells: u32, scale: f64, friction: f64) -> Self {
        let (mesh, mut x) = squares(cells, 2);
        let half = x.len() / 2;
        let turn = DMat3::from_rotation_y(0.4);
        for p in &mut x[half..] {
            *p = turn * *p + dvec3(0.13, 0.02 * scale, 0.07);
        }
        let ripple = |p: DVec3| {
            dvec3(
                0.01,
                -0.05 + 0.02 * (7.0 * p.x).sin() * (5.0 * p.z).cos(),
                -0.02,
            )
        };
        let each = x.iter().enumerate();
        let wanted = each.map(|(v, p)| match v < half {
            true => *p,
            false => *p + scale * ripple(*p),
        });
        let wanted = wanted.collect();
        let inverse_mass = (0..x.len()).map(|v| 1.0 / (0.01 + 0.001 * (v % 7) as f64));
        let surfaces = [1e-3 * scale, friction];
        Self::new(&mesh, &x, wanted, inverse_mass.collect(), surfaces)
    }

    /// With what is near at the start known or not.
    pub(crate) fn respond(&self, stages: &[Stage], knows_near: bool) -> Outcome {
        let mut collider = Collider::new(self.start.mesh());
        let wanted = self.wanted.clone();
        let (masses, surfaces) = (&self.inverse_mass, &self.surfaces);
        let mut candidate = Candidate::new(&self.start, masses, surfaces, DT, wanted).unwrap();
        let near = match knows_near {
            true => Repulsion::default().near(&candidate, &mut collider),
            false => Vec::new(),
        };
        let response = respond(stages, &near, &mut candidate, &mut collider);
        assert!(!response.rounds.is_empty(), "the case is meant to collide");
        let x = candidate.positions().to_vec();
        let proof = response.proof.as_ref();
        let accepted = verify::accept(candidate, &mut collider, proof).ok();
        Outcome {
            x,
            response,
            accepted,
        }
    }

    /// Mass, place at the start and way of each free vertex.
    pub(crate) fn ways(&self, x: &[DVec3]) -> impl Iterator<Item = (f64, DVec3, DVec3)> {
        let each = x.iter().zip(self.start.positions()).zip(&self.inverse_mass);
        each.filter(|(_, w)| **w > 0.0)
            .map(|((x, x0), w)| (1.0 / w, *x0, *x - *x0))
    }

    /// Of the ways instead of velocities, in kg·m².
    pub(crate) fn energy(&self, x: &[DVec3]) -> f64 {
        let each = self.ways(x);
        each.map(|(m, _, d)| 0.5 * m * d.length_squared()).sum()
    }

    /// Likewise, in kg·m.
    pub(crate) fn momentum(&self, x: &[DVec3]) -> DVec3 {
        self.ways(x).map(|(m, _, d)| m * d).sum()
    }

    /// What momenta are measured by.
    pub(crate) fn scale(&self) -> f64 {
        self.ways(&self.wanted)
            .map(|(m, _, d)| m * d.length())
            .sum()
    }
}
