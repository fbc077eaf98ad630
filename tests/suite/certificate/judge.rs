//! The judge before the defendant: start, accept and the auditor reject hand-made bad states.

use std::sync::Arc;

use glam::{DVec3, dvec3};
use percale::verify::{self, audit};
use percale::{Candidate, Collider, Mesh, MeshError, StartError, StepError, Surfaces, Verified};

use crate::support::{two_triangles, upper_moved};

fn verified(mesh: &Arc<Mesh>, x: &[DVec3]) -> Verified {
    verify::start(Arc::clone(mesh), x.to_vec(), vec![DVec3::ZERO; x.len()]).unwrap()
}

fn judge(start: &Verified, end: Vec<DVec3>) -> Result<Verified, StepError> {
    let surfaces = Surfaces::uniform(start.mesh(), start.positions().to_vec(), 1e-3, 0.0).unwrap();
    let inverse_mass = vec![1.0; end.len()];
    let mut collider = Collider::new(start.mesh());
    let candidate = Candidate::new(start, &inverse_mass, &surfaces, 0.1, end)?;
    verify::accept_stored(candidate, &mut collider, None)
}

#[test]
fn a_motion_that_passes_through_is_refused_although_both_ends_are_clean() {
    let (mesh, x) = two_triangles(1.0);
    let start = verified(&mesh, &x);
    let end = upper_moved(&x, dvec3(0.0, -2.0, 0.0));
    assert_eq!(
        audit::intersections(&mesh, &end),
        Vec::<[u32; 2]>::new(),
        "the end alone looks innocent"
    );
    let refused = judge(&start, end);
    assert!(
        matches!(refused, Err(StepError::Unresolved { count: 1.., .. })),
        "{refused:?}"
    );
}

#[test]
fn a_motion_that_ends_in_touch_is_refused_and_one_that_ends_an_ulp_above_is_not() {
    let (mesh, x) = two_triangles(1.0);
    let start = verified(&mesh, &x);
    let touching = upper_moved(&x, dvec3(0.0, -1.0, 0.0));
    assert!(matches!(
        judge(&start, touching),
        Err(StepError::Unresolved { .. })
    ));

    let mut above = upper_moved(&x, dvec3(0.0, -1.0, 0.0));
    for p in &mut above[3..] {
        p.y = f64::EPSILON * f64::EPSILON;
    }
    let accepted = judge(&start, above.clone()).unwrap();
    assert_eq!(
        accepted.positions(),
        above,
        "what is verified is what is stored"
    );
    assert_eq!(accepted.velocities()[3], (above[3] - x[3]) / 0.1);
}

#[test]
fn a_swing_past_a_corner_is_judged_by_the_path_not_by_the_ends() {
    // two edges that cross only in the middle of the motion
    let (mesh, mut x) = two_triangles(1.0);
    for p in &mut x[3..] {
        *p = dvec3(p.x - 5.0, p.y - 0.5, p.z);
    }
    let start = verified(&mesh, &x);
    let low = upper_moved(&x, dvec3(10.0, -1.0, 0.0)); // from above on the left to below on the right: through
    let high = upper_moved(&x, dvec3(10.0, -0.25, 0.0)); // stays above
    assert!(matches!(
        judge(&start, low),
        Err(StepError::Unresolved { .. })
    ));
    assert!(judge(&start, high).is_ok());
}

#[test]
fn the_null_motion_of_a_certified_state_is_always_accepted() {
    let (mesh, mut x) = two_triangles(1.0);
    // as near as doubles can be without touching
    for p in &mut x[3..] {
        p.y = 1e-60;
    }
    let start = verified(&mesh, &x);
    assert!(judge(&start, x).is_ok());
}

#[test]
fn positions_that_are_not_numbers_are_refused_by_vertex() {
    let (mesh, x) = two_triangles(1.0);
    let start = verified(&mesh, &x);
    let mut bad = x.clone();
    bad[4].z = f64::NAN;
    let refused = judge(&start, bad);
    assert!(
        matches!(
            refused,
            Err(StepError::BadCandidate(MeshError::NotFinite {
                vertex: 4,
                ..
            }))
        ),
        "{refused:?}"
    );
    let mut far = x;
    far[1].x = 1e31;
    assert!(matches!(
        judge(&start, far),
        Err(StepError::BadCandidate(MeshError::OutOfRange {
            vertex: 1,
            ..
        }))
    ));
}

#[test]
fn a_tangled_start_is_refused_with_the_first_pair_and_its_bodies() {
    let (mesh, x) = two_triangles(1.0);
    let mut crossing = x.clone();
    crossing[5].y = -1.0;
    for x in [upper_moved(&x, dvec3(0.0, -1.0, 0.0)), crossing] {
        assert_eq!(audit::intersections(&mesh, &x), [[0, 1]]);
        let v = vec![DVec3::ZERO; x.len()];
        match verify::start(Arc::clone(&mesh), x, v) {
            Err(StartError::Crossing {
                count: 1,
                faces: [0, 1],
                bodies,
            }) => assert_eq!(bodies, ["mesh", "mesh"]),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn velocities_that_are_not_numbers_are_refused_by_vertex() {
    let (mesh, x) = two_triangles(1.0);
    let mut v = vec![DVec3::ZERO; 6];
    v[2].x = f64::INFINITY;
    assert!(matches!(
        verify::start(Arc::clone(&mesh), x.clone(), v),
        Err(StartError::Velocity { vertex: 2, .. })
    ));
    let short = verify::start(mesh, x, vec![DVec3::ZERO; 5]);
    assert!(matches!(
        short,
        Err(StartError::VelocityCount {
            velocities: 5,
            vertex_count: 6
        })
    ));
}
