//! Laws of the collision step: momentum, energy, scripted vertices, friction, invariance.

use std::sync::Arc;

use glam::{DMat3, DVec3, dvec3};
use percale::response::inelastic::Form;
use percale::response::{
    Hold, ImpulseForm, Impulses, Inelastic, Repulsion, RepulsionForm, Stage, bounce,
};
use percale::verify::{self, Verified};
use percale::{Candidate, Collider, Mesh, Surfaces};

use crate::colliding::Case;
use crate::random::Random;
use crate::support::squares;

const THICKNESS: f64 = 1e-3;

/// Two square sheets, 2 cm apart, the upper one turned and shifted.
fn two_sheets() -> (Arc<Mesh>, Vec<DVec3>) {
    let turn = DMat3::from_rotation_y(0.4);
    let (mesh, mut x) = squares(10, 2);
    for p in &mut x[121..] {
        *p = turn * *p + dvec3(0.13, 0.02, 0.07);
    }
    (mesh, x)
}

fn thin(
    mesh: &Arc<Mesh>,
    x: &[DVec3],
    wanted: Vec<DVec3>,
    inverse_mass: Vec<f64>,
    friction: f64,
) -> Case {
    Case::new(mesh, x, wanted, inverse_mass, [THICKNESS, friction])
}

fn falling(friction: f64) -> Case {
    Case::falling(10, 1.0, friction)
}

/// What the stages made of it, with what is near known; it has to be accepted.
fn resolved(case: &Case, stages: &[Stage]) -> (Vec<DVec3>, Verified) {
    let outcome = case.respond(stages, true);
    let accepted = outcome.accepted.expect("the end is certified");
    (outcome.x, accepted)
}

fn impulses() -> Vec<Stage> {
    vec![Stage::Impulses(Impulses {
        max_rounds: 200,
        ..Impulses::default()
    })]
}

#[test]
fn impulses_resolve_keep_momentum_and_never_add_energy() {
    for friction in [0.0, 0.5] {
        let case = falling(friction);
        let (x, _) = resolved(&case, &impulses());
        let change = (case.momentum(&x) - case.momentum(&case.wanted)).length();
        assert!(
            change < 1e-12 * case.scale(),
            "momentum changed by {change}"
        );
        assert!(case.energy(&x) < case.energy(&case.wanted));
        assert!(
            case.energy(&x) > 0.1 * case.energy(&case.wanted),
            "stopped dead"
        );
    }
}

#[test]
fn friction_slows_sliding_and_more_of_it_slows_more() {
    let slid = [0.0, 0.2, 0.6].map(|friction| {
        let case = falling(friction);
        let (x, _) = resolved(&case, &impulses());
        let way = |range: std::ops::Range<usize>| -> f64 {
            let n = range.len() as f64;
            range
                .map(|v| x[v].x - case.start.positions()[v].x)
                .sum::<f64>()
                / n
        };
        way(121..242) - way(0..121)
    });
    assert!(
        (slid[0] - 0.01).abs() < 2e-3,
        "without friction the sheets slide as they like: {slid:?}"
    );
    assert!(
        slid[0] > slid[1] && slid[1] > slid[2] && slid[2] > -1e-9,
        "{slid:?}"
    );
}

#[test]
fn scripted_vertices_stay_where_they_are_told_to_the_bit() {
    let mut case = falling(0.3);
    for v in 0..121 {
        case.inverse_mass[v] = 0.0;
        case.wanted[v].y += 1e-3;
    }
    let (x, accepted) = resolved(&case, &impulses());
    assert_eq!(x[..121], case.wanted[..121]);
    assert_eq!(accepted.positions()[..121], case.wanted[..121]);
}

#[test]
fn hold_alone_succeeds_on_hostile_motions() {
    let (mesh, x) = two_sheets();
    // every vertex thrown anywhere in the scene
    let mut random = Random(12345);
    for _ in 0..20 {
        let wanted: Vec<DVec3> = x
            .iter()
            .map(|_| dvec3(random.centred(), random.centred(), random.centred()))
            .collect();
        let case = thin(&mesh, &x, wanted, vec![1.0; x.len()], 0.3);
        let (_, accepted) = resolved(&case, &[Stage::Hold(Hold::default())]);
        assert_eq!(
            verify::audit::intersections(&mesh, accepted.positions()),
            Vec::<[u32; 2]>::new()
        );
    }
}

#[test]
fn repulsion_opens_what_is_too_near_and_keeps_momentum() {
    let (mesh, rest) = two_sheets();
    let mut x = rest.clone();
    for p in &mut x[121..] {
        p.y = 0.25 * THICKNESS;
    }
    let mut case = thin(&mesh, &x, x.clone(), vec![100.0; x.len()], 0.3);
    case.surfaces = case.surfaces.with_rest(&mesh, rest).unwrap(); // features of one body are not pushed beyond half their distance at rest
    let mut collider = Collider::new(&mesh);
    let mut candidate = Candidate::new(
        &case.start,
        &case.inverse_mass,
        &case.surfaces,
        0.01,
        x.clone(),
    )
    .unwrap();
    let repulsion = Repulsion::default();
    let near = repulsion.near(&candidate, &mut collider);
    let pushed = repulsion.apply(&near, 1.0, &[], &mut candidate).points;
    assert!(pushed.len() > 100, "{} points pushed", pushed.len());
    assert!(case.momentum(candidate.positions()).length() < 1e-15);
    let height = |x: &[DVec3]| {
        x[121..].iter().map(|p| p.y).sum::<f64>() / 121.0
            - x[..121].iter().map(|p| p.y).sum::<f64>() / 121.0
    };
    let (before, after) = (height(&x), height(candidate.positions()));
    assert!(
        after > before && after < THICKNESS,
        "opens, and does not pop: {before} {after}"
    );
}

#[test]
fn the_response_does_not_depend_on_units() {
    // metres or kilometres, as a power of two so that rounding is the same
    let case = falling(0.3);
    let (x, _) = resolved(&case, &impulses());
    let unit = 1024.0;
    let scaled = |x: &[DVec3]| x.iter().map(|&p| unit * p).collect::<Vec<_>>();
    let mut large = thin(
        case.start.mesh(),
        &scaled(case.start.positions()),
        scaled(&case.wanted),
        case.inverse_mass.clone(),
        0.3,
    );
    let thick = vec![unit * THICKNESS; x.len()];
    large.surfaces = large.surfaces.with_thickness(thick).unwrap();
    let (y, _) = resolved(&large, &impulses());
    assert_eq!(scaled(&x), y);
}

#[test]
fn one_impact_alone_gets_the_same_impulse_from_impulses_and_inelastic_projection() {
    // a corner falls on a face; an edge falls across an edge
    let corner = [
        dvec3(0.1, 0.02, 0.1),
        dvec3(0.4, 0.5, 0.1),
        dvec3(-0.2, 0.5, 0.3),
    ];
    let edge = [
        dvec3(0.0, 0.02, -0.6),
        dvec3(0.0, 0.03, -2.0),
        dvec3(0.0, 0.6, -1.3),
    ];
    let ground = |y: f64| {
        [
            dvec3(-1.0, 0.0, -1.0),
            dvec3(1.0, 0.0, -1.0),
            dvec3(0.0, y, 1.5),
        ]
    };
    let (flat, steep) = (ground(0.0), ground(-1.0));
    for (upper, ground, friction) in [
        (corner, flat, 0.0),
        (corner, flat, 0.3),
        (edge, steep, 0.0),
        (edge, steep, 0.3),
    ] {
        let mesh = Arc::new(Mesh::new(6, vec![[0, 1, 2], [3, 4, 5]]).unwrap());
        let x = [upper, ground].concat();
        let mut wanted = x.clone();
        for p in &mut wanted[..3] {
            *p += dvec3(0.02, -0.06, 0.01);
        }
        let inverse_mass = vec![1.0, 2.0, 3.0, 1.5, 0.5, 0.0];
        let case = thin(&mesh, &x, wanted, inverse_mass, friction);
        let impulses = Stage::Impulses(Impulses {
            form: ImpulseForm::Notes,
            ..Impulses::default()
        });
        let (one, _) = resolved(&case, &[impulses]);
        let (all, _) = resolved(&case, &[Stage::Inelastic(Inelastic::default())]);
        assert_ne!(one, case.wanted);
        for (a, b) in one.iter().zip(&all) {
            assert!((*a - *b).length() < 1e-12, "{a} {b}");
        }
    }
}

#[test]
fn inelastic_projection_resolves_keeps_momentum_and_never_adds_energy() {
    for form in [Form::Coulomb, Form::Paper] {
        for friction in [0.0, 0.5] {
            let case = falling(friction);
            let stage = Inelastic {
                form,
                ..Inelastic::default()
            };
            println!("{form:?}, friction {friction}");
            let (x, _) = resolved(&case, &[Stage::Inelastic(stage)]);
            let change = (case.momentum(&x) - case.momentum(&case.wanted)).length();
            assert!(change < 1e-11 * case.scale(), "{form:?}: {change}");
            assert!(case.energy(&x) < case.energy(&case.wanted));
            assert!(
                case.energy(&x) > 0.1 * case.energy(&case.wanted),
                "stopped dead"
            );
        }
    }
}

/// A sheet that flies at another one, or at an obstacle made of it, with its velocities after the elastic pass.
fn bounced(restitution: f64, friction: f64, lower_is_free: bool) -> (Case, Vec<DVec3>, Vec<DVec3>) {
    let mut case = falling(friction);
    let dt = 0.01;
    let v: Vec<DVec3> = case
        .wanted
        .iter()
        .zip(case.start.positions())
        .map(|(x, x0)| (x - x0) / dt)
        .collect();
    case.start.velocities_mut().copy_from_slice(&v);
    if !lower_is_free {
        case.inverse_mass[..121].fill(0.0);
    }
    let mut collider = Collider::new(case.start.mesh());
    let target = case.start.positions().to_vec();
    let after = bounce(
        restitution,
        &case.start,
        &target,
        dt,
        &case.inverse_mass,
        &case.surfaces,
        &mut collider,
    );
    (case, v, after)
}

#[test]
fn the_elastic_pass_keeps_momentum_and_adds_no_energy() {
    for (restitution, friction) in [(0.3, 0.0), (1.0, 0.0), (1.0, 0.4)] {
        let (case, v, after) = bounced(restitution, friction, true);
        assert_ne!(v, after);
        let mass = |i: usize| 1.0 / case.inverse_mass[i];
        let momentum = |v: &[DVec3]| {
            v.iter()
                .enumerate()
                .map(|(i, v)| mass(i) * *v)
                .sum::<DVec3>()
        };
        let energy = |v: &[DVec3]| {
            v.iter()
                .enumerate()
                .map(|(i, v)| 0.5 * mass(i) * v.length_squared())
                .sum::<f64>()
        };
        let scale: f64 = v
            .iter()
            .enumerate()
            .map(|(i, v)| mass(i) * v.length())
            .sum();
        assert!((momentum(&after) - momentum(&v)).length() <= 1e-12 * scale);
        assert!(
            energy(&after) <= energy(&v) * (1.0 + 1e-12),
            "{restitution} {friction}"
        );
    }
    let (_, _, elastic) = bounced(1.0, 0.0, false);
    let (_, _, dull) = bounced(0.5, 0.0, false);
    let upward = |v: &[DVec3]| v[121..].iter().map(|v| v.y).sum::<f64>();
    assert!(upward(&elastic) > upward(&dull), "more comes back");
}

#[test]
fn one_vertex_comes_back_from_a_face_with_its_share_of_the_speed() {
    let x = vec![
        dvec3(0.0, 0.0, 0.0),
        dvec3(1.0, 0.0, 0.0),
        dvec3(0.0, 0.0, 1.0),
        dvec3(0.2, 0.01, 0.2),
        dvec3(0.2, 1.0, 0.2),
        dvec3(0.3, 1.0, 0.2),
    ];
    let mesh = Arc::new(Mesh::new(6, vec![[0, 1, 2], [3, 4, 5]]).unwrap());
    let mut v = vec![DVec3::ZERO; 6];
    v[3] = dvec3(0.5, -3.0, 0.0);
    let start = verify::start(Arc::clone(&mesh), x.clone(), v).unwrap();
    let inverse_mass = [0.0, 0.0, 0.0, 2.0, 0.0, 0.0];
    let surfaces = Surfaces::uniform(&mesh, x.clone(), THICKNESS, 0.05).unwrap();
    let mut collider = Collider::new(&mesh);
    let after = bounce(
        0.8,
        &start,
        &x,
        0.01,
        &inverse_mass,
        &surfaces,
        &mut collider,
    );
    // friction by Coulomb's law: 0.05 of the change of the normal speed
    let expected = dvec3(0.5 - 0.05 * 1.8 * 3.0, 0.8 * 3.0, 0.0);
    assert!((after[3] - expected).length() < 1e-12, "{}", after[3]);
    assert_eq!(after[0], DVec3::ZERO);
}

#[test]
fn a_spring_repulsion_gives_under_pressure_and_is_capped() {
    let (mesh, mut x) = two_sheets();
    for p in &mut x[121..] {
        p.y = 0.4e-3; // of a thickness of 1e-3
    }
    let gap = |repulsion: Repulsion, speed: f64| {
        let mut wanted = x.clone();
        wanted[121..].iter_mut().for_each(|p| p.y -= speed);
        let mut case = thin(&mesh, &x, wanted, vec![100.0; x.len()], 0.0);
        case.surfaces = case.surfaces.with_rest(&mesh, two_sheets().1).unwrap(); // far apart at rest, one body as they are
        let mut candidate = Candidate::new(
            &case.start,
            &case.inverse_mass,
            &case.surfaces,
            1e-3,
            case.wanted.clone(),
        )
        .unwrap();
        let near = repulsion.near(&candidate, &mut Collider::new(&mesh));
        repulsion.apply(&near, 1.0, &[], &mut candidate);
        let mean = |x: &[DVec3]| x.iter().map(|p| p.y).sum::<f64>() / 121.0;
        mean(&candidate.positions()[121..]) - mean(&candidate.positions()[..121])
    };
    let kinematic = Repulsion::default();
    let spring = |stiffness, damping| Repulsion {
        form: RepulsionForm::Spring,
        stiffness,
        damping,
        ..Repulsion::default()
    };
    let (soft, stiff, rigid) = (
        gap(spring(1.0, 1.0), 0.0),
        gap(spring(10.0, 1.0), 0.0),
        gap(spring(1e9, 1.0), 0.0),
    );
    assert!(
        0.4e-3 < soft && soft < stiff && stiff < rigid,
        "{soft} {stiff} {rigid}"
    );
    assert!(
        (rigid - gap(kinematic.clone(), 0.0)).abs() < 1e-12,
        "capped by the same fraction"
    );
    let (through, half, none) = (
        gap(spring(0.0, 0.0), 1e-4),
        gap(spring(0.0, 0.5), 1e-4),
        gap(spring(0.0, 1.0), 1e-4),
    );
    assert!(
        (through - 0.3e-3).abs() < 1e-9 && through < half && half < none,
        "{through} {half} {none}"
    );
}
