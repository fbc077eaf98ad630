//! The volume stage: the limit of short intervals, momenta, energy, sides, threads.

use std::sync::Arc;

use glam::{DVec3, dvec3};
use percale::geometry::{Asked, Mode};
use percale::response::volume::{Recipe, tetrahedron};
use percale::response::{ImpulseForm, Impulses, Response, Stage, Volume, VolumeForm, VolumeWork};
use percale::{Collider, Mesh, verify};

use crate::colliding::Case;
use crate::random::Random;

fn volume(form: VolumeForm) -> Stage {
    Stage::Volume(Volume {
        form,
        ..Volume::default()
    })
}

fn respond(case: &Case, stage: Stage) -> (Vec<DVec3>, Response, bool) {
    let outcome = case.respond(&[stage], false);
    (outcome.x, outcome.response, outcome.accepted.is_some())
}

fn angular_momentum(case: &Case, x: &[DVec3]) -> DVec3 {
    case.ways(x).map(|(m, x0, d)| m * x0.cross(d)).sum()
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
    Case::new(&mesh, &place(-0.5), place(0.5), inverse_mass, [1.0, 0.0])
}

/// Errors by interval, each half of the one before, and the orders of their decrease.
fn orders(errors: &[f64]) -> Vec<f64> {
    let ratio = errors.windows(2).map(|pair| (pair[0] / pair[1]).log2());
    ratio.collect()
}

#[test]
fn in_short_intervals_the_response_is_the_inelastic_impulse_and_the_error_is_of_first_order() {
    // five steps of 0.3 leave a part of the defect, one whole step nothing
    let forms = [
        (VolumeForm::Paper, 1.0 - 0.7f64.powi(5)),
        (VolumeForm::Secant, 1.0),
    ];
    for (kind, (at, speeds)) in ["vertex-face", "edge-edge"].iter().zip(meetings()) {
        for (form, share) in forms {
            let (mut impulse, mut energy, mut angular) = (Vec::new(), Vec::new(), Vec::new());
            for k in 5..12 {
                let dt = 0.5f64.powi(k);
                let case = meeting(&at, &speeds, dt);
                let notes = Stage::Impulses(Impulses {
                    form: ImpulseForm::Notes,
                    ..Impulses::default()
                });
                let (inelastic, met, _) = respond(&case, notes);
                assert_eq!(
                    (met.met.len(), met.rounds.len()),
                    (1, 1),
                    "one impact, once"
                );
                let (x, _, accepted) = respond(&case, volume(form));
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
                let turned = angular_momentum(&case, &x) - angular_momentum(&case, &case.wanted);
                angular.push(turned.length() / angular_momentum(&case, &case.wanted).length());
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

#[test]
fn a_crowd_is_resolved_with_its_momentum_and_without_more_energy() {
    for form in [VolumeForm::Paper, VolumeForm::Secant] {
        for scale in [1.0, 0.25, 0.0625] {
            let case = Case::falling(10, scale, 0.0);
            let (x, response, accepted) = respond(&case, volume(form));
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
            for form in [VolumeForm::Paper, VolumeForm::Secant] {
                let case = Case::new(&mesh, &x, wanted.clone(), inverse_mass.clone(), [1e-3, 0.0]);
                let (end, _, accepted) = respond(&case, volume(form));
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
fn what_pressures_add_to_the_motion_is_reported_and_ours_add_nothing_where_nothing_is_scripted() {
    // a way as long as five cells: linear equations at its end contradict each other
    let mut case = Case::falling(10, 1.0, 0.0);
    let x0 = case.start.positions().to_vec();
    for (x, x0) in case.wanted.iter_mut().zip(&x0) {
        *x = *x0 + 10.0 * (*x - *x0);
    }
    let before = case.energy(&case.wanted) / (0.01 * 0.01);
    let [paper, ours] = [VolumeForm::Paper, VolumeForm::Secant].map(|form| {
        let (x, response, _) = respond(&case, volume(form));
        let after = case.energy(&x) / (0.01 * 0.01);
        let added = response.volume.energy_added;
        println!("{form:?}: {before:.3} J before, {after:.3} J after, {added:.3e} J added by single steps");
        assert!(after <= before + added, "{form:?}: what is added is counted");
        added / before
    });
    assert!(paper > 0.01, "{paper}");
    assert!(ours < 1e-3 * paper, "{ours} beside {paper}");
}

#[test]
fn volumes_can_be_as_they_were_while_the_pair_still_meets_and_ours_parts_it() {
    // the paper's form with as many looks as it wants, on motions as long as the triangles
    let patient = Stage::Volume(Volume {
        recipe: Some(Recipe {
            rounds: u32::MAX,
            ..Recipe::PAPER
        }),
        ..Volume::default()
    });
    let mesh = Arc::new(Mesh::new(6, vec![[0, 1, 2], [3, 4, 5]]).unwrap());
    let mut random = Random(8);
    let (mut met, mut kept_and_met, mut failed) = (0, 0, [0; 2]);
    for _ in 0..3000 {
        let mut point = |height: f64| {
            let [x, y, z] = std::array::from_fn(|_| random.centred());
            dvec3(x, height + 0.2 * y, z)
        };
        let x: Vec<DVec3> = (0..6)
            .map(|v| point(if v < 3 { 0.15 } else { -0.15 }))
            .collect();
        let way: Vec<DVec3> = (0..6).map(|_| dvec3(1.0, 7.0, 1.0) * point(0.0)).collect();
        let wanted: Vec<DVec3> = x.iter().zip(&way).map(|(x, d)| *x + *d).collect();
        let still = vec![DVec3::ZERO; 6];
        let mut collider = Collider::new(&mesh);
        let Ok(motion) = collider.motion(&x, &wanted) else {
            continue;
        };
        let asked = Asked {
            mode: Mode::Fast,
            margin: None,
        };
        if verify::start(Arc::clone(&mesh), x.clone(), still).is_err()
            || collider.impacts(motion, &asked).is_empty()
        {
            continue;
        }
        met += 1;
        let case = Case::new(&mesh, &x, wanted, vec![1.0; 6], [1e-3, 0.0]);
        let (end, _, accepted) = respond(&case, patient.clone());
        failed[0] += usize::from(!accepted);
        if !accepted {
            let motion = collider.motion(&x, &end).unwrap();
            let left = collider.impacts(motion, &asked);
            kept_and_met += usize::from(left.iter().all(|impact| {
                let at = |x: &[DVec3]| tetrahedron::volume(impact.vertices.map(|v| x[v as usize]));
                (at(&end) / at(&x) - 1.0).abs() < 0.01
            }));
        }
        failed[1] += usize::from(!respond(&case, volume(VolumeForm::Secant)).2);
    }
    println!(
        "{met} motions meet; failed: paper's {}, ours {}",
        failed[0], failed[1]
    );
    println!("of the paper's, {kept_and_met} with all volumes within 1 % of the start");
    assert!(met > 300 && kept_and_met > 0, "{met}, {kept_and_met}");
    assert!(10 * failed[1] < failed[0], "{failed:?}");
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
    let case = Case::new(&mesh, &x, wanted, vec![1.0; 6], [1e-3, 0.0]);
    let (end, response, accepted) = respond(&case, volume(VolumeForm::Secant));
    assert!(response.met.iter().any(|impact| !impact.is_vertex_face()));
    assert!(accepted, "{end:?}");
}

#[test]
fn the_bits_do_not_depend_on_the_number_of_threads() {
    let case = Case::falling(60, 1.0, 0.0);
    for form in [VolumeForm::Paper, VolumeForm::Secant] {
        let ends = [1, 2].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let stage = volume(form);
            pool.build().unwrap().install(|| respond(&case, stage))
        });
        assert!(ends[0].1.volume.most_rows > 4096, "{:?}", ends[0].1.volume);
        assert_eq!(ends[0].0, ends[1].0, "{form:?}");
        assert_eq!(ends[0].1.volume, ends[1].1.volume);
    }
}
