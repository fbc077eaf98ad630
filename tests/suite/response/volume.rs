//! The volume stage: the limit of short intervals, momenta, energy, sides, threads.

use std::sync::Arc;

use glam::{DMat3, DVec3, dvec3};
use percale::response::{
    ImpulseForm, Impulses, Response, Stage, Volume, VolumeForm, VolumeWork, respond,
};
use percale::verify::{self, Verified};
use percale::{Candidate, Collider, Mesh, Surfaces};

use crate::support::squares;

const DT: f64 = 0.01;

fn volume(form: VolumeForm) -> Stage {
    Stage::Volume(Volume {
        form,
        ..Volume::default()
    })
}

/// Two triangles or two sheets, and where they would go.
struct Case {
    start: Verified,
    surfaces: Surfaces,
    inverse_mass: Vec<f64>,
    wanted: Vec<DVec3>,
}

impl Case {
    fn new(
        mesh: &Arc<Mesh>,
        x: &[DVec3],
        wanted: Vec<DVec3>,
        inverse_mass: Vec<f64>,
        thickness: f64,
    ) -> Self {
        let still = vec![DVec3::ZERO; x.len()];
        Self {
            start: verify::start(Arc::clone(mesh), x.to_vec(), still).unwrap(),
            surfaces: Surfaces::uniform(mesh, x.to_vec(), thickness, 0.0).unwrap(),
            inverse_mass,
            wanted,
        }
    }

    fn respond(&self, stage: Stage) -> (Vec<DVec3>, Response, bool) {
        let mut collider = Collider::new(self.start.mesh());
        let wanted = self.wanted.clone();
        let (masses, surfaces) = (&self.inverse_mass, &self.surfaces);
        let mut candidate = Candidate::new(&self.start, masses, surfaces, DT, wanted).unwrap();
        let response = respond(&[stage], &[], &mut candidate, &mut collider);
        let x = candidate.positions().to_vec();
        let proof = response.proof.as_ref();
        let accepted = verify::accept(candidate, &mut collider, proof).is_ok();
        (x, response, accepted)
    }

    /// m and way of each free vertex.
    fn ways(&self, x: &[DVec3]) -> Vec<(f64, DVec3, DVec3)> {
        let each = x.iter().zip(self.start.positions()).zip(&self.inverse_mass);
        each.filter(|(_, w)| **w > 0.0)
            .map(|((x, x0), w)| (1.0 / w, *x0, *x - *x0))
            .collect()
    }

    fn energy(&self, x: &[DVec3]) -> f64 {
        let each = self.ways(x).into_iter();
        each.map(|(m, _, d)| 0.5 * m * d.length_squared()).sum()
    }

    fn momentum(&self, x: &[DVec3]) -> DVec3 {
        self.ways(x).into_iter().map(|(m, _, d)| m * d).sum()
    }

    fn angular_momentum(&self, x: &[DVec3]) -> DVec3 {
        let each = self.ways(x).into_iter();
        each.map(|(m, x0, d)| m * x0.cross(d)).sum()
    }
}

/// A corner on a face, an edge across an edge: where six vertices are when they meet, and their velocities in m/s.
fn meetings() -> [([DVec3; 6], [DVec3; 6]); 2] {
    let corner = [
        dvec3(0.1, 0.0, 0.1),
        dvec3(0.4, 0.5, 0.1),
        dvec3(-0.2, 0.5, 0.3),
        dvec3(-1.0, 0.0, -1.0),
        dvec3(1.0, 0.0, -1.0),
        dvec3(0.0, 0.0, 1.5),
    ];
    let edges = [
        dvec3(0.0, 0.0, -0.3),
        dvec3(0.0, 0.0, -2.0),
        dvec3(0.0, 0.6, -1.3),
        dvec3(-1.0, 0.0, -1.0),
        dvec3(1.0, 0.0, -1.0),
        dvec3(0.0, -1.0, 1.5),
    ];
    // everything turns and stretches, so that nothing is special
    let speeds = [
        dvec3(0.3, -2.0, 0.5),
        dvec3(-0.4, -1.6, 0.2),
        dvec3(0.1, -1.0, -0.7),
        dvec3(0.2, 0.3, 0.1),
        dvec3(-0.3, 0.2, 0.4),
        dvec3(0.1, 0.5, -0.2),
    ];
    [(corner, speeds), (edges, speeds)]
}

/// They meet in the middle of an interval of `dt` seconds.
fn meeting(at: &[DVec3; 6], speeds: &[DVec3; 6], dt: f64) -> Case {
    let place = |share: f64| -> Vec<DVec3> {
        let each = at.iter().zip(speeds);
        each.map(|(x, v)| *x + share * dt * *v).collect()
    };
    let mesh = Arc::new(Mesh::new(6, vec![[0, 1, 2], [3, 4, 5]]).unwrap());
    let inverse_mass = vec![1.0, 2.0, 3.0, 1.5, 0.5, 0.8];
    // thicker than any gap at the start: what meets is to stop where it is
    Case::new(&mesh, &place(-0.5), place(0.5), inverse_mass, 1.0)
}

/// Errors by interval, each half of the one before, and the orders of their decrease.
fn orders(errors: &[f64]) -> Vec<f64> {
    let ratio = errors.windows(2).map(|pair| (pair[0] / pair[1]).log2());
    ratio.collect()
}

#[test]
fn in_short_intervals_the_response_is_the_inelastic_impulse_and_the_error_is_of_first_order() {
    // five steps of 0.3 leave this much of the defect
    let left = 0.7f64.powi(5);
    for (kind, (at, speeds)) in ["vertex-face", "edge-edge"].iter().zip(meetings()) {
        for form in [VolumeForm::Paper, VolumeForm::Repeated] {
            let share = 1.0 - left;
            let (mut impulse, mut energy, mut angular) = (Vec::new(), Vec::new(), Vec::new());
            for k in 5..12 {
                let dt = 0.5f64.powi(k);
                let case = meeting(&at, &speeds, dt);
                let notes = Stage::Impulses(Impulses {
                    form: ImpulseForm::Notes,
                    ..Impulses::default()
                });
                let (inelastic, met, _) = case.respond(notes);
                assert_eq!(
                    (met.met.len(), met.rounds.len()),
                    (1, 1),
                    "one impact, once"
                );
                let (x, _, accepted) = case.respond(volume(form));
                assert!(accepted);
                let change = |x: &[DVec3], v: usize| (x[v] - case.wanted[v]) / dt;
                let size = (0..6).map(|v| change(&inelastic, v).length());
                let size = size.fold(0.0, f64::max);
                let error = (0..6)
                    .map(|v| (change(&x, v) - share * change(&inelastic, v)).length())
                    .fold(0.0, f64::max);
                impulse.push(error / size);
                let before = case.energy(&case.wanted);
                let after = case.energy(&x);
                assert!(after < before, "{form:?}, dt {dt}: {after} of {before}");
                // of the same share of the inelastic impulse
                let each = case.wanted.iter().zip(&inelastic);
                let least: Vec<DVec3> = each.map(|(x, y)| x.lerp(*y, share)).collect();
                energy.push((after - case.energy(&least)).abs() / before);
                let turned = case.angular_momentum(&x) - case.angular_momentum(&case.wanted);
                angular.push(turned.length() / case.angular_momentum(&case.wanted).length());
                let lost = case.momentum(&x) - case.momentum(&case.wanted);
                // six vertices of up to 2 kg, each rounded six times by half an ulp of 2 m
                assert!(lost.length() < 2e-14, "{lost}");
            }
            println!(
                "{kind}, {form:?}: impulse {impulse:?}, orders {:.2?}",
                orders(&impulse)
            );
            println!(
                "  angular momentum {angular:?}, orders {:.2?}",
                orders(&angular)
            );
            println!(
                "  energy beside that of the inelastic impulse {energy:?}, orders {:.2?}",
                orders(&energy)
            );
            let last = |errors: &[f64]| *orders(errors).last().unwrap();
            assert!(last(&impulse) > 0.9, "{kind}, {form:?}");
            assert!(last(&angular) > 0.9, "{kind}, {form:?}");
            assert!(last(&energy) > 0.9, "{kind}, {form:?}");
        }
    }
}

/// The upper sheet falls through the lower one, all lengths across times `scale`.
fn falling(cells: u32, scale: f64) -> Case {
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
    let wanted = each.map(|(v, p)| {
        if v < half {
            *p
        } else {
            *p + scale * ripple(*p)
        }
    });
    let wanted = wanted.collect();
    let inverse_mass = (0..x.len()).map(|v| 1.0 / (0.01 + 0.001 * (v % 7) as f64));
    Case::new(&mesh, &x, wanted, inverse_mass.collect(), 1e-3 * scale)
}

#[test]
fn a_crowd_is_resolved_with_its_momentum_and_without_more_energy() {
    for form in [VolumeForm::Paper, VolumeForm::Repeated] {
        for scale in [1.0, 0.25, 0.0625] {
            let case = falling(10, scale);
            let (x, response, accepted) = case.respond(volume(form));
            let VolumeWork {
                solves,
                iterations,
                largest_residual,
                ..
            } = response.volume;
            let share = case.energy(&x) / case.energy(&case.wanted);
            println!(
                "{form:?}, scale {scale}: {} impacts, {} rounds, {solves} solves, {iterations} iterations, residual \
                 {largest_residual:.1e}, energy kept {share:.3}, accepted {accepted}",
                response.met.len(),
                response.rounds.len()
            );
            assert!(accepted && response.left == 0, "{form:?}, {scale}");
            assert!(solves > 0 && iterations > 0);
            assert!(share < 1.0, "{share}");
            let lost = (case.momentum(&x) - case.momentum(&case.wanted)).length();
            assert!(
                lost < 1e-12 * case.momentum(&case.wanted).length(),
                "{lost}"
            );
        }
    }
}

#[test]
fn what_has_gone_far_through_is_brought_back_to_its_own_side() {
    let (at, _) = meetings()[0];
    for depth in [0.01, 0.1, 0.5] {
        for scripted in [false, true] {
            let mesh = Arc::new(Mesh::new(6, vec![[0, 1, 2], [3, 4, 5]]).unwrap());
            let mut x = at.to_vec();
            x[..3].iter_mut().for_each(|p| p.y += 0.005);
            let mut wanted = x.clone();
            wanted[0].y -= depth + 0.005;
            let mut inverse_mass = vec![1.0; 6];
            if scripted {
                inverse_mass[3..].fill(0.0);
            }
            for form in [VolumeForm::Paper, VolumeForm::Repeated] {
                let case = Case::new(&mesh, &x, wanted.clone(), inverse_mass.clone(), 1e-3);
                let (end, _, accepted) = case.respond(volume(form));
                assert!(accepted, "{form:?}, {depth}, {scripted}");
                if scripted {
                    assert_eq!(end[3..], x[3..], "to the bit");
                    assert!(end[0].y > 0.0, "{form:?}: {}", end[0]);
                }
            }
        }
    }
}

#[test]
fn parallel_edges_that_meet_in_their_plane_are_parted() {
    // two triangles in one plane: every tetrahedron is flat all the time, and its gradient points out of the plane
    let mesh = Arc::new(Mesh::new(6, vec![[0, 1, 2], [3, 4, 5]]).unwrap());
    let x = [
        dvec3(-0.5, 0.0, 0.01),
        dvec3(0.5, 0.0, 0.01),
        dvec3(0.0, 0.0, 1.0),
        dvec3(-0.4, 0.0, -0.01),
        dvec3(0.6, 0.0, -0.01),
        dvec3(0.0, 0.0, -1.0),
    ];
    let mut wanted = x.to_vec();
    wanted[..3].iter_mut().for_each(|p| p.z -= 0.05);
    let case = Case::new(&mesh, &x, wanted, vec![1.0; 6], 1e-3);
    let (end, response, accepted) = case.respond(volume(VolumeForm::Repeated));
    assert!(response.met.iter().any(|impact| !impact.is_vertex_face()));
    assert!(accepted, "{end:?}");
}

#[test]
fn the_bits_do_not_depend_on_the_number_of_threads() {
    let case = falling(60, 1.0);
    for form in [VolumeForm::Paper, VolumeForm::Repeated] {
        let ends = [1, 2].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let stage = volume(form);
            pool.build().unwrap().install(|| case.respond(stage))
        });
        assert!(ends[0].1.volume.most_rows > 4096, "{:?}", ends[0].1.volume);
        assert_eq!(ends[0].0, ends[1].0, "{form:?}");
        assert_eq!(ends[0].1.volume, ends[1].1.volume);
    }
}
