//! The smallest inputs that failed once, each with a line on what went wrong.

use cpu_time::ThreadTime;
use glam::{DMat3, DVec3};
use percale::dynamics::{
    self, ClothModel, Dynamics, Fabric, Integrator, Newmark, Proposal, RestShape, Stretch,
};
use percale::{Candidate, Collider, Mesh, Settings, Surfaces, resolve, verify};

use crate::support::{square, two_triangles, upper_moved};

/// A coordinate that decays towards 0 fell below what exact arithmetic covers, and the run stopped at it as out of range.
#[test]
fn coordinates_that_decay_become_zero_and_are_judged() {
    let (mesh, x) = two_triangles(0.1);
    let mut collider = Collider::new(&mesh);
    let state = collider.start(x.clone(), vec![DVec3::ZERO; 6]).unwrap();
    let surfaces = Surfaces::uniform(&mesh, x.clone(), 1e-2, 0.3).unwrap();
    let w = [1.0; 6];
    let mut end = upper_moved(&x, 0.01 * DVec3::Y);
    end[2].x = 1e-75;
    end[5].x = -1e-200;
    let candidate = Candidate::new(&state, &w, &surfaces, 0.1, end.clone()).unwrap();
    let accepted = verify::accept(candidate, &mut collider, None).unwrap();
    assert_eq!(
        [accepted.positions()[2].x, accepted.positions()[5].x],
        [0.0; 2]
    );
    let settings = Settings::default();
    let resolved = resolve(&settings, &state, end, &w, &surfaces, 0.1, &mut collider);
    assert_eq!(resolved.unwrap().0.positions()[2].x, 0.0);
}

/// The collision step did not know how long its interval is, and gave displacements where it promised velocities.
#[test]
fn velocities_of_the_collision_step_are_in_metres_per_second() {
    let (mesh, x) = two_triangles(0.1);
    let mut collider = Collider::new(&mesh);
    let state = collider.start(x.clone(), vec![DVec3::ZERO; 6]).unwrap();
    let surfaces = Surfaces::uniform(&mesh, x.clone(), 1e-2, 0.3).unwrap();
    let settings = Settings::default();
    let mut moved = |by: f64, dt: f64| {
        let end = upper_moved(&x, by * DVec3::Y);
        let w = [1.0; 6];
        let resolved = resolve(&settings, &state, end, &w, &surfaces, dt, &mut collider);
        resolved.unwrap().0
    };
    for dt in [0.5, 1.0 / 240.0] {
        let free = moved(0.125, dt);
        assert!((free.velocities()[3].y * dt / 0.125 - 1.0).abs() < 1e-12);
    }
    // stopped by the lower one, both go on together
    let hit = moved(-0.2, 0.1);
    let approach = hit.velocities()[3..].iter().map(|v| v.y).sum::<f64>();
    assert!(approach > -3.0 * 2.0, "{approach}");
}

/// A square of 16 x 16 cells that is held by two opposite edges.
fn held_square(strain_limit: f64) -> (Mesh, ClothModel) {
    let (faces, rest) = square(16);
    let mesh = Mesh::new(rest.len(), faces).unwrap();
    let ends = (0u32..).zip(&rest).filter(|(_, p)| p.x.abs() > 0.49);
    let model = ClothModel {
        body: 0,
        fabric: Fabric {
            strain_limit,
            ..Fabric::default()
        },
        stretch: Stretch::default(),
        rest: RestShape::from_positions(&mesh, &mesh.bodies()[0], rest.clone()),
        pinned: ends.map(|(v, _)| v).collect(),
    };
    (mesh, model)
}

/// Half a second in which opposite edges of a square are pulled apart by half of its length: the last proposal, and the iterations of all.
fn pulled(strain_limit: f64, integrator: &Integrator) -> (Proposal, u32) {
    let (mesh, model) = held_square(strain_limit);
    let rest = model.rest.positions.clone();
    let settings = dynamics::Settings {
        integrator: integrator.clone(),
        ..dynamics::Settings::default()
    };
    let dynamics = Dynamics::new(&mesh, &[model], &settings);
    let mut end = Proposal {
        x: rest.clone(),
        v: vec![DVec3::ZERO; rest.len()],
        ..Proposal::default()
    };
    let mut iterations = 0;
    for frame in 1..=30 {
        let wide = |p: &DVec3| DVec3::new(p.x * (1.0 + f64::from(frame) / 60.0), p.y, p.z);
        let target: Vec<DVec3> = rest.iter().map(wide).collect();
        let (dt, time) = (1.0 / 60.0, f64::from(frame - 1) / 60.0);
        let (x, v, tension) = (&end.x, &end.v, &end.tension);
        end = dynamics.propose_touching(x, v, [&target, &target], time, dt, None, tension);
        iterations += end.iterations;
    }
    (end, iterations)
}

/// A limit that a script makes impossible took all its sweeps in every loop of the integrator, in vain: 9 to 18 s of CPU per frame of a twist.
#[test]
fn a_strain_limit_that_cannot_be_met_costs_no_more_than_any_loop_may() {
    let (free, plain) = pulled(0.8, &Integrator::default());
    let (limited, taken) = pulled(0.1, &Integrator::default());
    println!(
        "{plain} iterations with a limit that is never reached, {taken} with one that cannot be met; strains {:.3}, {:.3}",
        free.strain.largest, limited.strain.largest
    );
    assert_eq!(free.strain.over, 0);
    assert!(limited.strain.over > 256, "{:?}", limited.strain);
    // without any limit the cloth would be stretched as evenly
    assert!(limited.strain.largest < 1.1 * free.strain.largest);
    // 30 frames of 16 loops of 8 iterations, a fifth more where faces are beyond their limit
    assert!(taken <= 30 * 16 * 8 * 6 / 5, "{taken}");
    assert!(
        f64::from(taken) <= 1.5 * f64::from(plain),
        "{taken}, {plain}"
    );
}

#[test]
#[ignore = "known fault: 3,895 iterations, for solves go on where that brings faces nearer to a limit which they cannot reach"]
fn a_strain_limit_that_cannot_be_met_never_takes_more_than_the_budget() {
    let (_, taken) = pulled(0.1, &Integrator::default());
    assert!(taken <= 30 * 16 * 8, "{taken}");
}

/// One interval of 0.1 s in which both ends of a square turn by 60° against each other, and the processor time of it in seconds.
///
/// Its sides have to be √(1 + sin² 60°) = 1.32 m long then: no motion keeps a limit of a tenth.
fn twisted(strain_limit: f64) -> (Proposal, f64) {
    let (mesh, model) = held_square(strain_limit);
    let rest = model.rest.positions.clone();
    let weightless = dynamics::Settings {
        gravity: [0.0; 3],
        integrator: Integrator::Newmark(Newmark::default()),
        ..dynamics::Settings::default()
    };
    let dynamics = Dynamics::new(&mesh, &[model], &weightless);
    let turn = |p: &DVec3| DMat3::from_rotation_x((60.0 * p.x.signum()).to_radians()) * *p;
    let target: Vec<DVec3> = rest.iter().map(turn).collect();
    let clock = ThreadTime::now();
    let still = vec![DVec3::ZERO; rest.len()];
    let end = dynamics.propose(&rest, &still, &target, 0.0, 0.1);
    (end, clock.elapsed().as_secs_f64())
}

/// The same with Newmark.
#[test]
fn a_strain_limit_that_cannot_be_met_costs_no_more_than_its_sweeps() {
    let (free, plain) = twisted(f64::INFINITY);
    let (limited, taken) = twisted(0.1);
    println!(
        "{} loops: {:.1} ms without a limit, {:.1} ms with one that cannot be met; strains {:.2}, {:.2}",
        limited.loops,
        1e3 * plain,
        1e3 * taken,
        free.strain.largest,
        limited.strain.largest
    );
    assert!(limited.strain.over > 0, "the limit can be met");
    // elasticity alone is stretched by 0.48, this by 0.51; with all sweeps in every loop 0.81
    assert!(limited.strain.largest < 1.2 * free.strain.largest);
    // 2.6 times as long; with all sweeps in every loop 140 times
    assert!(taken < 20.0 * plain, "{taken} s, {plain} s without a limit");
}
