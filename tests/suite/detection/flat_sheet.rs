//! A flat sheet moving in its own plane: coplanar in every neighbouring pair, and never an impact.
//!
//! The degenerate case is the common case: it must cost nothing and raise no doubt.

use std::sync::Arc;

use glam::{DMat3, DQuat, DVec3, dvec3};
use percale::geometry::{Asked, Collider, Mesh, Mode};

use crate::support::square;

/// Impacts or doubts of the motion from `x` to `end(x)`, both laid into the plane by `tilt`.
fn doubts(tilt: DQuat, offset: DVec3, end: impl Fn(DVec3) -> DVec3) -> usize {
    let (faces, x) = square(24);
    let mesh = Mesh::new(x.len(), faces).unwrap();
    let place = |p: DVec3| tilt * p + offset;
    let x0: Vec<DVec3> = x.iter().map(|&p| place(p)).collect();
    let x1: Vec<DVec3> = x.iter().map(|&p| place(end(p))).collect();
    let mut collider = Collider::new(&Arc::new(mesh));
    let asked = Asked {
        mode: Mode::Fast,
        margin: None,
    };
    let motion = collider.motion(&x0, &x1).unwrap();
    collider.impacts(motion, &asked).len()
}

#[test]
fn moving_turning_and_stretching_in_the_plane_raises_no_doubt() {
    let tilts = [
        DQuat::IDENTITY,
        DQuat::from_rotation_x(0.7),
        DQuat::from_axis_angle(dvec3(1.0, 2.0, 3.0).normalize(), 1.1),
    ];
    for tilt in tilts {
        for degrees in [0.0, 1.0, 30.0, 60.0, 89.0, 90.0f64] {
            for stretch in [DVec3::ONE, dvec3(1.4, 1.0, 0.8), dvec3(0.5, 1.0, 2.0)] {
                let turn =
                    DMat3::from_rotation_y(degrees.to_radians()) * DMat3::from_diagonal(stretch);
                let shift = dvec3(0.3, 0.0, -2.0);
                let found = doubts(tilt, dvec3(0.1, 5.0, -3.0), |p| turn * p + shift);
                assert_eq!(
                    found, 0,
                    "tilt {tilt}, {degrees} degrees, stretch {stretch}"
                );
            }
        }
    }
}

#[test]
fn a_sheet_that_is_folded_through_itself_in_the_plane_is_caught() {
    // the same plane, but the right half slides over the left one
    let fold = |p: DVec3| if p.x > 0.01 { dvec3(-p.x, p.y, p.z) } else { p };
    assert!(doubts(DQuat::from_rotation_x(0.7), DVec3::ZERO, fold) > 0);
}
