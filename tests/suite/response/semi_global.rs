//! The semi-global set: what competes, what is held by several, what it keeps of momentum and energy.

use std::sync::Arc;

use glam::{DVec3, dvec3};
use percale::response::{Account, InfluenceForm, Policy, Response, SemiGlobal, Stage, respond};
use percale::step::{Figures, Simulation};
use percale::verify;
use percale::{Candidate, Collider, Mesh, Surfaces};

use crate::support::{small, squares};

/// Where a motion ends after a stage, what the stage did, and whether that is certified.
struct Outcome {
    x: Vec<DVec3>,
    response: Response,
    account: Account,
    is_certified: bool,
}

fn outcome(
    mesh: &Arc<Mesh>,
    start: &[DVec3],
    wanted: &[DVec3],
    inverse_mass: &[f64],
    stage: SemiGlobal,
) -> Outcome {
    let still = vec![DVec3::ZERO; start.len()];
    let verified = verify::start(Arc::clone(mesh), start.to_vec(), still).unwrap();
    let surfaces = Surfaces::uniform(mesh, start.to_vec(), 1e-3, 0.0).unwrap();
    let mut collider = Collider::new(mesh);
    let (dt, wanted) = (0.01, wanted.to_vec());
    let mut candidate = Candidate::new(&verified, inverse_mass, &surfaces, dt, wanted).unwrap();
    let before = candidate.positions().to_vec();
    let stages = [Stage::SemiGlobal(stage)];
    let response = respond(&stages, &[], &mut candidate, &mut collider);
    let x = candidate.positions().to_vec();
    let account = Account::of(&before, &candidate);
    let proof = response.proof.as_ref();
    Outcome {
        is_certified: verify::accept(candidate, &mut collider, proof).is_ok(),
        x,
        account,
        response,
    }
}

fn policy(policy: Policy, form: InfluenceForm) -> SemiGlobal {
    SemiGlobal {
        policy,
        form,
        tolerance: 1e-6,
        ..SemiGlobal::default()
    }
}

/// A valley of two faces, and a triangle whose lowest corner wants to go below its bottom: kept out of one face alone, the
/// corner goes through the other.
#[test]
fn competing_constraints_are_resolved_unless_they_are_forgotten() {
    let mesh = Mesh::new(7, vec![[0, 1, 2], [1, 0, 3], [4, 5, 6]]).unwrap();
    let mesh = Arc::new(mesh);
    let start = [
        dvec3(0.0, 0.0, -2.0),
        dvec3(0.0, 0.0, 2.0),
        dvec3(-2.0, 2.0, 0.0),
        dvec3(2.0, 2.0, 0.0),
        dvec3(0.05, 1.0, 0.0),
        dvec3(0.1, 1.6, 0.1),
        dvec3(-0.1, 1.6, -0.1),
    ];
    let mut wanted = start;
    wanted[4] += dvec3(0.1, -1.5, 0.0);
    let masses = [0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0];
    let run = |which, form| outcome(&mesh, &start, &wanted, &masses, policy(which, form));

    use InfluenceForm::{Paper, Returning};
    let global = run(Policy::Global, Returning);
    let ours = run(Policy::SemiGlobal, Returning);
    for outcome in [&global, &ours] {
        assert!(outcome.is_certified && outcome.response.left == 0);
        // at the bottom, a thickness away from both faces
        let [x, y] = [outcome.x[4].x, outcome.x[4].y];
        assert!(
            x.abs() < 1e-3 && (y - 1e-3 * 2f64.sqrt()).abs() < 1e-3,
            "{x} {y}"
        );
    }
    assert!(global.x[4].distance(ours.x[4]) < 1e-8);
    assert!(
        ours.response.rounds.len() <= 6,
        "{}",
        ours.response.rounds.len()
    );
    for (which, form) in [(Policy::NewOnly, Returning), (Policy::SemiGlobal, Paper)] {
        let outcome = run(which, form);
        assert!(
            outcome.response.left > 0 && !outcome.is_certified,
            "{which:?}"
        );
        assert_eq!(outcome.response.rounds.len(), 100, "it goes on for ever");
    }
}

/// An edge falls on one ridge, or on three: the impulse is the same (Shi, Figure 5 b).
#[test]
fn an_edge_against_three_edges_gets_one_response() {
    let impulse = |ridges: &[f64]| {
        let mut faces = vec![[0, 1, 2]];
        let mut x = vec![
            dvec3(-0.5, 0.02, 0.0),
            dvec3(0.5, 0.02, 0.0),
            dvec3(0.0, 0.5, 0.0),
        ];
        for &at in ridges {
            let first = x.len() as u32;
            faces.push([first, first + 1, first + 2]);
            x.extend([
                dvec3(at, 0.0, -0.5),
                dvec3(at, 0.0, 0.5),
                dvec3(at, -0.5, 0.0),
            ]);
        }
        let mesh = Arc::new(Mesh::new(x.len(), faces).unwrap());
        let mut wanted = x.clone();
        wanted[..3].iter_mut().for_each(|x| x.y -= 0.1);
        let masses: Vec<f64> = (0..x.len()).map(|v| f64::from(u8::from(v < 3))).collect();
        let outcome = outcome(
            &mesh,
            &x,
            &wanted,
            &masses,
            policy(Policy::SemiGlobal, InfluenceForm::Returning),
        );
        assert!(outcome.is_certified);
        (DVec3::from(outcome.account.momentum_change), outcome.x)
    };
    let (one, _) = impulse(&[0.0]);
    let (three, x) = impulse(&[-0.3, 0.0, 0.3]);
    assert!(
        (one - three).length() < 1e-5 * one.length(),
        "{one} {three}"
    );
    // the edge lies on the ridges, a thickness above them
    assert!(
        (x[0].y - 1e-3).abs() < 1e-6 && (x[1].y - 1e-3).abs() < 1e-6,
        "{} {}",
        x[0],
        x[1]
    );
}

/// Three sheets that want to go through one another, each wrinkled in its own way.
fn pile() -> (Arc<Mesh>, Vec<DVec3>, Vec<DVec3>) {
    let (mesh, flat) = squares(8, 3);
    let per_sheet = flat.len() / 3;
    let start: Vec<DVec3> = (0..)
        .zip(&flat)
        .map(|(v, x)| dvec3(x.x, 0.02 * (v / per_sheet) as f64, x.z))
        .collect();
    let wanted = (0..).zip(&start).map(|(v, x): (usize, &DVec3)| {
        let sheet = (v / per_sheet) as f64;
        let wave = (7.0 * x.x + 2.0 * sheet).sin() * (5.0 * x.z - 3.0 * sheet).cos();
        *x + dvec3(0.01 * wave, 0.015 - 0.015 * sheet + 0.01 * wave, 0.0)
    });
    let wanted = wanted.collect();
    (mesh, start, wanted)
}

#[test]
fn a_pile_keeps_its_momentum_and_gains_no_energy_whatever_is_dropped() {
    let (mesh, start, wanted) = pile();
    let masses = vec![1.0; start.len()];
    let mut ends = Vec::new();
    for which in [Policy::SemiGlobal, Policy::Global] {
        let outcome = outcome(
            &mesh,
            &start,
            &wanted,
            &masses,
            policy(which, InfluenceForm::Returning),
        );
        let work = outcome.response.constraints;
        println!("{which:?}: {work:?}, certified: {}", outcome.is_certified);
        assert!(outcome.is_certified);
        assert!(work.largest > 100, "nothing to tell apart: {work:?}");
        let account = outcome.account;
        let scale = (2.0 * account.energy_before * start.len() as f64).sqrt();
        assert!(DVec3::from(account.momentum_change).length() < 1e-12 * scale);
        assert!(account.energy_lost() > 0.0);
        ends.push(outcome.x);
    }
    let apart = ends[0]
        .iter()
        .zip(&ends[1])
        .map(|(a, b)| a.distance_squared(*b));
    let rms = (apart.sum::<f64>() / start.len() as f64).sqrt();
    println!("RMS difference {rms:.1e} m");
    assert!(rms < 1e-2, "of sheets of a metre: {rms}");
}

#[test]
fn numbers_out_of_range_are_named() {
    for (key, value) in [
        ("decay", "1.0"),
        ("decay", "-0.1"),
        ("tolerance", "0.5"),
        ("tolerance", "0.0"),
    ] {
        let stage = format!("[{{ kind = \"semi_global\", {key} = {value} }}]");
        let scene = small("drop", &[]).set("response", stage.as_str()).unwrap();
        let error = scene
            .build()
            .err()
            .expect("no such number is allowed")
            .to_string();
        assert!(error.contains(key), "{error}");
    }
}

/// A small scene with the set as rows of the integrator, and nothing else in its loops.
fn in_system(name: &str, stage: &str) -> Simulation {
    let response = format!("[{{ kind = \"semi_global\", matrix = \"system\"{stage} }}]");
    let changes = [
        ("response", response.as_str()),
        ("repulsion.max_sweeps", "0"),
        ("failsafe", "[]"),
    ];
    small(name, &changes).build().unwrap()
}

#[test]
fn the_set_in_the_system_proposes_until_nothing_enters_it() {
    let mut ours = in_system("rotating-ball", "");
    let mut global = in_system("rotating-ball", ", policy = \"global\"");
    let (mut sum, mut of_global) = (Figures::default(), Figures::default());
    let mut farthest = 0.0f64;
    for _ in 0..40 {
        global.restore(ours.checkpoint()).unwrap();
        sum += &ours.step().unwrap();
        of_global += &global.step().unwrap();
        let ends = [&ours, &global].map(|simulation| simulation.state().positions());
        let squares = ends[0].iter().zip(ends[1]);
        let squares = squares.map(|(a, b)| a.distance_squared(*b));
        let rms = (squares.sum::<f64>() / ends[0].len() as f64).sqrt();
        farthest = farthest.max(rms);
    }
    println!("{:?}", [sum.constraints, of_global.constraints]);
    println!("RMS difference in a frame at most {farthest:.1e} m");
    for figures in [&sum, &of_global] {
        let work = figures.constraints;
        assert_eq!(figures.intersections, 0);
        assert_eq!(work.reached[0], figures.intervals);
        assert_eq!(work.rounds, figures.intervals + figures.repeated);
        assert!(work.reached[1] > 0 && work.reached[1] < work.reached[0]);
        assert!(work.largest > 100, "nothing to tell apart: {work:?}");
    }
    assert!(sum.constraints.dropped > 0 && of_global.constraints.dropped == 0);
    assert!(farthest < 1e-3, "{farthest}");
}

#[test]
fn without_critical_contacts_the_set_in_the_system_proposes_more_often() {
    let [with, without] = ["true", "false"].map(|critical| {
        let mut simulation = in_system("pillars", &format!(", critical = {critical}"));
        let mut figures = Figures::default();
        for _ in 0..30 {
            figures += &simulation.step().unwrap();
        }
        assert_eq!(figures.intersections, 0, "{critical}");
        figures.repeated as f64 / figures.intervals as f64
    });
    println!("proposals after the first, per interval: {with:.3}, without {without:.3}");
    assert!(without > 1.5 * with, "{with} {without}");
}
