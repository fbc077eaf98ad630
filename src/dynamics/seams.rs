//! Seams: pairs of vertices that are drawn together over time, down to a gap.
//!
//! Each pair has a spring whose rest length falls evenly from the distance at the start to the gap.
//! The gap must not be smaller than the thickness: the certificate has no exception for seams, so
//! they close to a gap and never to contact.

use glam::DVec3;

use super::springs::Spring;

/// A seam between vertices of one or two cloths.
#[derive(Clone, Debug, PartialEq)]
pub struct Seam {
    /// Mesh vertices that belong together.
    pub pairs: Vec<[u32; 2]>,
    /// Distance of each pair when it begins to close, m.
    pub from: Vec<f64>,
    /// Distance when closed, m; at least the thickness.
    pub gap: f64,
    /// When it begins to close, s.
    pub start: f64,
    /// How long closing takes, s; 0 closes at once.
    pub duration: f64,
    /// Pull per length of seam and distance, N/m².
    pub stiffness: f64,
    /// Damping relative to the stiffness, s.
    pub damping: f64,
}

impl Seam {
    /// A seam that closes in the first second, from the given positions; 10 N per mm of opening and
    /// 0.1 m of seam.
    pub fn new(pairs: Vec<[u32; 2]>, x: &[DVec3], gap: f64) -> Self {
        let distance = |&[a, b]: &[u32; 2]| x[a as usize].distance(x[b as usize]);
        Self {
            from: pairs.iter().map(distance).collect(),
            pairs,
            gap,
            start: 0.0,
            duration: 1.0,
            stiffness: 1e5,
            damping: 1e-2,
        }
    }
}

/// One pair of a seam by node numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stitch {
    /// Closed.
    pub(super) spring: Spring,
    /// Rest length before it closes, m.
    pub(super) from: f64,
    /// s.
    pub(super) start: f64,
    /// s.
    pub(super) duration: f64,
}

impl Stitch {
    /// The spring at a time; none of its forces act before the start.
    pub(super) fn at(&self, time: f64) -> Spring {
        let elapsed = time - self.start;
        if elapsed < 0.0 {
            return Spring {
                stiffness: 0.0,
                damping: 0.0,
                ..self.spring
            };
        }
        let open = if elapsed < self.duration {
            1.0 - elapsed / self.duration
        } else {
            0.0
        };
        let gap = self.spring.rest;
        Spring {
            rest: gap + open * (self.from - gap),
            ..self.spring
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::bodies::strip;
    use super::super::*;
    use super::*;
    use crate::geometry::{Body, BodyKind, Mesh};

    /// Two strips side by side, 0.1 m apart, sewn along the edges that face each other.
    fn two_strips(integrator: Integrator) -> (Dynamics, Vec<DVec3>, Vec<[u32; 2]>) {
        let (one, rest) = strip([2, 8], [0.1, 0.4]);
        let n = rest.len() as u32;
        let f = one.faces().len() as u32;
        let second = one.faces().iter().map(|face| face.map(|v| v + n));
        let faces = one.faces().iter().copied().chain(second).collect();
        let body = |k: u32| Body {
            name: format!("strip {k}"),
            kind: BodyKind::Cloth,
            vertices: k * n..(k + 1) * n,
            faces: k * f..(k + 1) * f,
        };
        let mesh = Mesh::with_bodies(2 * rest.len(), faces, vec![body(0), body(1)]).unwrap();
        let models: Vec<ClothModel> = (0..2)
            .map(|k| ClothModel {
                body: k,
                fabric: Fabric::default(),
                stretch: Stretch::Membrane,
                rest: RestShape::from_positions(&mesh, &mesh.bodies()[k], rest.clone()),
                pinned: Vec::new(),
            })
            .collect();
        let shifted = rest.iter().map(|&x| x + 0.2 * DVec3::X);
        let x: Vec<DVec3> = rest.iter().copied().chain(shifted).collect();
        // the last column of the first strip, the first of the second
        let pairs: Vec<[u32; 2]> = (0..9).map(|j| [18 + j, n + j]).collect();
        let settings = Settings {
            gravity: [0.0; 3],
            integrator,
            ..Settings::default()
        };
        let seam = Seam {
            start: 0.1,
            duration: 0.4,
            ..Seam::new(pairs.clone(), &x, 0.002)
        };
        let dynamics = Dynamics::new(&mesh, &models, &settings).with_seams(&[seam]);
        (dynamics, x, pairs)
    }

    #[test]
    fn a_seam_waits_then_closes_to_its_gap_and_not_to_contact() {
        let euler = Integrator::Implicit(Implicit::default());
        for integrator in [Integrator::default(), euler] {
            let (dynamics, mut x, pairs) = two_strips(integrator);
            let start = x.clone();
            let mut v = vec![DVec3::ZERO; x.len()];
            let dt = 1.0 / 60.0;
            for k in 0..60 {
                let time = f64::from(k) * dt;
                let end = dynamics.propose(&x, &v, &start, time, dt);
                (x, v) = (end.x, end.v);
                let gaps = pairs
                    .iter()
                    .map(|&[a, b]| x[a as usize].distance(x[b as usize]));
                if time + dt < 0.1 {
                    let moved = x.iter().zip(&start).map(|(a, b)| a.distance(*b));
                    assert!(moved.fold(0.0, f64::max) < 1e-12);
                }
                for gap in gaps {
                    assert!(gap > 0.001, "frame {k}: {gap}");
                    assert!(time < 0.8 || gap < 0.003, "frame {k}: {gap}");
                }
            }
            let momentum: DVec3 = (0..x.len()).map(|i| dynamics.mass()[i] * v[i]).sum();
            assert!(momentum.length() < 1e-4);
        }
    }
}
