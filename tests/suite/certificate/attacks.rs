//! With safe code from outside, nobody gets a certificate for a motion that meets something.
//!
//! Each of these values was taken at some time, or could be: the step has to refuse it by name, or to see through it.

use std::sync::Arc;

use percale::geometry::{Asked, Margin, Mode};
use percale::response::{Pass, Pressed, Scope, respond_in};
use percale::step::{Checkpoint, TICKS_PER_FRAME};
use percale::{
    Candidate, Collider, DVec3, Mesh, MeshError, Settings, StartError, StepError, Surfaces,
    ValueError, Verified, resolve, verify,
};

use crate::support::{small, squares, two_triangles, upper_moved};

fn start(collider: &mut Collider, x: &[DVec3]) -> Verified {
    collider
        .start(x.to_vec(), vec![DVec3::ZERO; x.len()])
        .unwrap()
}

/// The upper triangle moved by `by`.
fn moved(x: &[DVec3], by: f64) -> Vec<DVec3> {
    upper_moved(x, by * DVec3::Y)
}

fn surfaces(mesh: &Mesh, x: &[DVec3]) -> Surfaces {
    Surfaces::uniform(mesh, x.to_vec(), 1e-2, 0.3).unwrap()
}

#[test]
fn a_proof_of_another_mesh_start_or_end_covers_nothing() {
    let (mesh, x) = two_triangles(0.1);
    let mut collider = Collider::new(&mesh);
    let state = start(&mut collider, &x);
    let (surfaces, w) = (surfaces(&mesh, &x), [1.0; 6]);
    let through = || Candidate::new(&state, &w, &surfaces, 0.1, moved(&x, -0.2)).unwrap();

    // looks at motions that meet nothing, each with the proof that it gives
    let thickness = vec![1e-2; 6];
    let margin = Margin {
        thickness: &thickness,
        rest: &x,
        gap: None,
    };
    let asked = Asked {
        mode: Mode::Fast,
        margin: Some(margin),
    };
    let up = moved(&x, 0.1);
    let other_end = collider.look(collider.motion(&x, &up).unwrap(), &asked, None);
    let below = moved(&x, -0.15);
    let other_start = collider.look(
        collider.motion(&below, &moved(&x, -0.2)).unwrap(),
        &asked,
        None,
    );
    // a mesh of as many vertices whose faces never meet
    let apart = Arc::new(Mesh::new(6, vec![[0, 1, 2], [0, 4, 5]]).unwrap());
    let mut foreign = Collider::new(&apart);
    let ends = moved(&x, -0.2);
    let other_mesh = foreign.look(foreign.motion(&x, &ends).unwrap(), &asked, None);
    for (name, look) in [
        ("end", other_end),
        ("start", other_start),
        ("mesh", other_mesh),
    ] {
        assert!(look.proof.is_some(), "{name}");
        let judged = verify::accept(through(), &mut collider, look.proof.as_ref());
        assert!(
            matches!(judged, Err(StepError::Unresolved { .. })),
            "{name}: {judged:?}"
        );
    }
}

#[test]
fn a_candidate_changed_after_the_last_look_is_looked_at_again() {
    let (mesh, x) = two_triangles(0.1);
    let mut collider = Collider::new(&mesh);
    let state = start(&mut collider, &x);
    let (surfaces, w) = (surfaces(&mesh, &x), [1.0; 6]);
    let mut candidate = Candidate::new(&state, &w, &surfaces, 0.1, moved(&x, 0.1)).unwrap();
    let settings = Settings::default();
    let pass = Pass {
        scope: Scope::All,
        stages: &settings.response,
    };
    let response = respond_in(&[pass], &[], &mut candidate, &mut collider, None);
    assert!(response.proof.is_some());
    candidate.positions_mut().copy_from_slice(&moved(&x, -0.2));
    let judged = verify::accept(candidate, &mut collider, response.proof.as_ref());
    assert!(
        matches!(judged, Err(StepError::Unresolved { .. })),
        "{judged:?}"
    );
}

#[test]
fn a_collider_of_another_mesh_is_refused() {
    let (mesh, x) = two_triangles(0.1);
    let state = start(&mut Collider::new(&mesh), &x);
    let (surfaces, w) = (surfaces(&mesh, &x), [1.0; 6]);
    let others = [
        Mesh::new(6, vec![[0, 1, 2], [0, 4, 5]]).unwrap(),
        Mesh::new(3, vec![[0, 1, 2]]).unwrap(),
    ];
    for other in others {
        let mut foreign = Collider::new(&Arc::new(other));
        let candidate = Candidate::new(&state, &w, &surfaces, 0.1, moved(&x, -0.2)).unwrap();
        let expected = StepError::BadValue(ValueError::OtherMesh { what: "collider" });
        let judged = verify::accept(candidate, &mut foreign, None);
        assert_eq!(judged.unwrap_err(), expected);
        let settings = Settings::default();
        let resolved = resolve(
            &settings,
            &state,
            moved(&x, -0.2),
            &w,
            &surfaces,
            0.1,
            &mut foreign,
        );
        assert_eq!(resolved.unwrap_err(), expected);
    }
}

#[test]
fn states_that_share_a_collider_do_not_share_proofs() {
    let (mesh, x) = two_triangles(0.1);
    let mut collider = Collider::new(&mesh);
    let below = moved(&x, -0.2);
    let states = [start(&mut collider, &x), start(&mut collider, &below)];
    let (surfaces, w) = (surfaces(&mesh, &x), [1.0; 6]);
    for _ in 0..3 {
        for (state, wanted) in states.iter().zip([&below, &x]) {
            let settings = Settings::default();
            let resolved = resolve(
                &settings,
                state,
                wanted.clone(),
                &w,
                &surfaces,
                0.1,
                &mut collider,
            );
            let (end, report) = resolved.unwrap();
            assert!(report.impacts_before > 0);
            let side = |x: &[DVec3]| x[3].y > x[0].y;
            assert_eq!(side(end.positions()), side(state.positions()));
        }
    }
}

#[test]
fn numbers_that_mean_nothing_are_refused_where_they_come_in() {
    let (mesh, x) = two_triangles(0.1);
    let mut collider = Collider::new(&mesh);
    let state = start(&mut collider, &x);
    let good = surfaces(&mesh, &x);
    for bad in [f64::NAN, -1e-3, f64::INFINITY] {
        assert!(Surfaces::uniform(&mesh, x.clone(), bad, 0.3).is_err());
        assert!(Surfaces::uniform(&mesh, x.clone(), 1e-3, bad).is_err());
        let mut thickness = vec![1e-3; 6];
        thickness[4] = bad;
        let error = good.clone().with_thickness(thickness).unwrap_err();
        assert!(
            matches!(error, ValueError::Number { at: Some(4), .. }),
            "{error}"
        );
        assert!(good.clone().set_friction(0, 0, bad).is_err());
        let mut w = [1.0; 6];
        w[2] = bad;
        let candidate = Candidate::new(&state, &w, &good, 0.1, x.clone());
        assert!(matches!(candidate, Err(StepError::BadValue(_))));
    }
    for dt in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let candidate = Candidate::new(&state, &[1.0; 6], &good, dt, x.clone());
        assert!(matches!(candidate, Err(StepError::BadValue(_))), "{dt}");
        let settings = Settings::default();
        let resolved = resolve(
            &settings,
            &state,
            x.clone(),
            &[1.0; 6],
            &good,
            dt,
            &mut collider,
        );
        assert!(matches!(resolved, Err(StepError::BadValue(_))), "{dt}");
    }
    let mut nowhere = x.clone();
    nowhere[1].z = f64::NAN;
    let candidate = Candidate::new(&state, &[1.0; 6], &good, 0.1, nowhere.clone());
    assert!(matches!(
        candidate,
        Err(StepError::BadCandidate(MeshError::NotFinite {
            vertex: 1,
            ..
        }))
    ));
    assert!(collider.motion(&x, &nowhere).is_err());
    assert!(Surfaces::uniform(&mesh, nowhere, 1e-3, 0.3).is_err());
    let mut settings = Settings::default();
    settings.repulsion.stiffness = f64::NAN;
    let resolved = resolve(
        &settings,
        &state,
        x.clone(),
        &[1.0; 6],
        &good,
        0.1,
        &mut collider,
    );
    assert!(
        resolved
            .unwrap_err()
            .to_string()
            .contains("repulsion.stiffness")
    );
}

#[test]
fn lists_of_the_wrong_length_are_refused_by_name() {
    let (mesh, x) = two_triangles(0.1);
    let mut collider = Collider::new(&mesh);
    let state = start(&mut collider, &x);
    let good = surfaces(&mesh, &x);
    let short = x[..5].to_vec();
    assert!(collider.start(short.clone(), vec![DVec3::ZERO; 5]).is_err());
    assert!(collider.motion(&x, &short).is_err());
    assert!(Surfaces::uniform(&mesh, short.clone(), 1e-3, 0.3).is_err());
    assert!(good.clone().with_thickness(vec![1e-3; 7]).is_err());
    assert!(good.clone().with_layers(vec![0; 2]).is_err());
    let settings = Settings::default();
    let mut resolve = |end: &[DVec3], w: &[f64], surfaces: &Surfaces| {
        resolve(
            &settings,
            &state,
            end.to_vec(),
            w,
            surfaces,
            0.1,
            &mut collider,
        )
        .map(|_| ())
    };
    assert!(resolve(&x, &[1.0; 6], &good).is_ok());
    assert!(resolve(&short, &[1.0; 6], &good).is_err());
    assert!(resolve(&x, &[1.0; 5], &good).is_err());
    let three = Mesh::new(3, vec![[0, 1, 2]]).unwrap();
    let of_three = Surfaces::uniform(&three, x[..3].to_vec(), 1e-3, 0.3).unwrap();
    assert!(resolve(&x, &[1.0; 6], &of_three).is_err());
}

#[test]
fn a_corrupt_checkpoint_is_refused_and_changes_nothing() {
    let mut simulation = small("drop", &[]).build().unwrap();
    for _ in 0..12 {
        simulation.step().unwrap();
    }
    let good = simulation.checkpoint();
    assert!(!good.pressed.is_empty(), "the cloth lies on the ball");
    let corrupt: [(&str, fn(&mut Checkpoint)); 9] = [
        ("no interval", |c| c.interval = 0),
        ("an interval of ages", |c| c.interval = 1 << 40),
        ("no power of two", |c| c.interval = 3),
        ("within a frame", |c| c.tick = TICKS_PER_FRAME / 2),
        ("not a number", |c| c.x[7].y = f64::NAN),
        ("a velocity that is none", |c| c.v[7].y = f64::INFINITY),
        ("a vertex short", |c| c.x.truncate(9)),
        ("a force that is none", |c| c.pressed[0].force.x = f64::NAN),
        ("twice the same pair", |c| {
            let first: Pressed = c.pressed[0];
            c.pressed.insert(0, first);
        }),
    ];
    for (name, corrupt) in corrupt {
        let mut checkpoint = good.clone();
        corrupt(&mut checkpoint);
        assert!(simulation.restore(checkpoint).is_err(), "{name}");
        assert_eq!(simulation.checkpoint(), good, "{name}");
    }
    let mut tangled = good.clone();
    tangled.x.swap(0, 40);
    let refused = simulation.restore(tangled);
    assert!(
        matches!(refused, Err(StartError::Crossing { .. })),
        "{refused:?}"
    );
    simulation.restore(good).unwrap();
    simulation.step().unwrap();
}

#[test]
fn what_is_not_a_number_does_not_spoil_a_collider() {
    // two sheets, one sent through the other, after the collider was asked with one NaN
    let (mesh, mut x) = squares(8, 2);
    let half = x.len() / 2;
    x[half..].iter_mut().for_each(|x| x.y = 0.1);
    let mut end = x.clone();
    end[half..].iter_mut().for_each(|x| x.y = -0.1);
    let surfaces = surfaces(&mesh, &x);
    let w = vec![1.0; x.len()];
    for v in 0..x.len() {
        let mut collider = Collider::new(&mesh);
        let state = start(&mut collider, &x);
        let mut thickness = vec![1e-2; x.len()];
        thickness[v] = f64::NAN;
        let motion = collider.motion(&x, &end).unwrap();
        collider.expect(motion, &thickness);
        let candidate = Candidate::new(&state, &w, &surfaces, 0.1, end.clone()).unwrap();
        let judged = verify::accept(candidate, &mut collider, None);
        let Err(StepError::Unresolved { count, .. }) = judged else {
            panic!("vertex {v}: {judged:?}");
        };
        let fresh = Collider::new(&mesh).impacts(motion, &exact());
        assert_eq!(count, fresh.len(), "vertex {v}");
    }
}

fn exact() -> Asked<'static> {
    Asked {
        mode: Mode::Exact,
        margin: None,
    }
}
