use glam::DVec3;

use super::*;

fn integers<const N: usize>(x: [i64; N]) -> [IBig; N] {
    x.map(IBig::from)
}

/// (a s − b)(c s − d) …, lowest coefficient first.
fn product<const N: usize>(factors: &[(i64, i64)], lead: i64) -> [i64; N] {
    let mut p = [0; N];
    p[0] = lead;
    for (n, &(a, b)) in factors.iter().enumerate() {
        for k in (0..=n + 1).rev() {
            p[k] = -b * p[k] + if k > 0 { a * p[k - 1] } else { 0 };
        }
    }
    p
}

/// Roots as (a, b) for b/a.
const ROOTS: [(i64, i64); 8] = [
    (1, -2),
    (2, -1),
    (1, 0),
    (2, 1),
    (1, 1),
    (3, 4),
    (1, 2),
    (1, 3),
];

#[test]
fn signs_of_quadratics_at_roots_of_cubics_are_those_of_rational_arithmetic() {
    let mut quadratics = vec![
        [0, 0, 0],
        [5, 0, 0],
        [-5, 0, 0],
        [1, 1, 1],
        [-2, 1, -1],
        [1, -2, 3],
        [-1, 0, 2],
        [1, -3, 1],
    ];
    for (i, r) in ROOTS.iter().enumerate() {
        quadratics.push(product(&[*r], 1));
        quadratics.extend(
            ROOTS[i..]
                .iter()
                .flat_map(|q| [product(&[*r, *q], 1), product(&[*r, *q], -1)]),
        );
    }
    let check = |cubic: [i64; 4], roots: &[(i64, i64)]| {
        let mut expected: Vec<(i64, i64)> = roots.iter().copied().filter(|r| r.1 > 0).collect();
        expected.sort_by_key(|r| 12 * r.1 / r.0);
        expected.dedup();
        let mut seen = 0;
        any_positive_root(integers(cubic), |sign_at| {
            let (a, b) = expected[seen];
            for q in &quadratics {
                let truth = q[0] * a * a + q[1] * a * b + q[2] * b * b;
                assert_eq!(
                    i64::from(sign_at(&integers(*q))),
                    truth.signum(),
                    "{q:?} at {b}/{a} of {cubic:?}"
                );
            }
            seen += 1;
            false
        });
        assert_eq!(seen, expected.len(), "{cubic:?} {roots:?}");
    };
    for (i, r) in ROOTS.iter().enumerate() {
        for (j, q) in ROOTS[i..].iter().enumerate() {
            for p in &ROOTS[i + j..] {
                for lead in [1, -1] {
                    check(product(&[*r, *q, *p], lead), &[*r, *q, *p]);
                }
            }
            check(product(&[*r, *q], 1), &[*r, *q]);
        }
        check(product(&[*r], -1), &[*r]);
        // One real root: times s² − s + 1.
        let [c0, c1, ..] = product::<4>(&[*r], 1);
        check([c0, c1 - c0, c0 - c1, c1], &[*r]);
    }
    // A level inflection: (s − 1)³ − 8 and (s − 2)³ + 1.
    check([-9, 3, -3, 1], &[(1, 3)]);
    check([-7, 12, -6, 1], &[(1, 1)]);
}

fn meet(start: [[f64; 3]; 4], end: [[f64; 3]; 4]) -> [bool; 2] {
    let sweep = Sweep {
        start: start.map(DVec3::from),
        end: end.map(DVec3::from),
    };
    [
        vertex_face_meet(&sweep, 0.0, 1.0),
        edge_edge_meet(&sweep, 0.0, 1.0),
    ]
}

/// All points on one moving line: `at[i]` along it.
fn along_a_line(start: [f64; 4], end: [f64; 4]) -> [bool; 2] {
    meet(
        start.map(|x| [x, 2.0 * x, -x]),
        end.map(|x| [x, 2.0 * x, -x]),
    )
}

#[test]
fn points_on_a_line_meet_when_their_order_changes() {
    assert_eq!(
        along_a_line([0.0, 1.0, 2.0, 3.0], [0.5, 1.0, 2.0, 3.0]),
        [false, false]
    );
    assert_eq!(
        along_a_line([0.0, 1.0, 2.0, 3.0], [1.0, 1.5, 2.0, 3.0]),
        [false, false]
    );
    assert_eq!(
        along_a_line([0.0, 1.0, 2.0, 3.0], [0.0, 2.0, 3.0, 4.0]),
        [false, false]
    );
    assert_eq!(
        along_a_line([0.0, 1.0, 2.0, 3.0], [5.0, 6.0, 2.0, 3.0]),
        [true, true]
    );
    assert_eq!(
        along_a_line([0.0, 1.0, 2.0, 3.0], [2.0, 3.0, 2.5, 4.0]),
        [false, true]
    );
}

#[test]
fn a_face_that_shrinks_to_the_vertex_for_a_moment_meets_it() {
    // The products of corners have a double root and are positive otherwise.
    assert_eq!(
        along_a_line([0.0, -1.0, -2.0, -3.0], [0.0, 1.0, 2.0, 3.0]),
        [true, true]
    );
    assert_eq!(
        along_a_line([0.0, -1.0, -2.0, -4.0], [0.0, 1.5, 2.0, 3.0]),
        [true, true]
    );
}

#[test]
fn a_face_that_is_a_segment_for_a_moment_meets_only_what_lies_on_it() {
    // The tip c passes through the line a b at t = ½, when the vertex is on that line, too.
    let face = |c: f64| [[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [1.0, 0.0, c]];
    for (x, touches) in [
        (-1.0, false),
        (0.0, true),
        (1.0, true),
        (2.0, true),
        (2.5, false),
    ] {
        let at = |y: f64, c: f64| {
            let [a, b, d] = face(c);
            [[x, y, 0.0], a, b, d]
        };
        assert_eq!(meet(at(1.0, 1.0), at(-1.0, -1.0))[0], touches, "x = {x}");
    }
}

#[test]
fn edges_that_are_collinear_for_a_moment_meet_only_if_they_overlap() {
    // Edge b turns through the direction of edge a at t = ½, on its line.
    for (x, touches) in [
        (1.5, false),
        (1.0, true),
        (0.5, true),
        (-2.0, true),
        (-2.5, false),
    ] {
        let at = |y: f64, z: f64| {
            [
                [0.0, 0.0, 0.0],
                [1.0, 0.0, 0.0],
                [x, y, z],
                [x + 2.0, 2.0 * y, -z],
            ]
        };
        assert_eq!(meet(at(1.0, 1.0), at(-1.0, -1.0))[1], touches, "x = {x}");
    }
}

#[test]
fn a_touching_without_crossing_is_found_and_a_miss_by_the_smallest_number_is_not() {
    // Face z = t x, vertex on a tangent of the parabola t (t + 1): coplanarity has a double root at t = ½.
    let graze = |lift: f64| {
        let face = |t: f64| [[0.0, -4.0, 0.0], [0.0, 4.0, 0.0], [4.0, 0.0, 4.0 * t]];
        let at = |t: f64| {
            let [a, b, c] = face(t);
            [[1.0 + t, 0.0, 2.0 * t - 0.25 + lift], a, b, c]
        };
        meet(at(0.0), at(1.0))[0]
    };
    assert!(graze(0.0));
    assert!(graze(f64::EPSILON), "it dips in");
    assert!(!graze(-f64::EPSILON), "it stays below the face");
}

#[test]
fn parts_of_a_motion_are_decided_apart() {
    let face = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]].map(DVec3::from);
    let at = |z: f64| [DVec3::new(0.25, 0.25, z), face[0], face[1], face[2]];
    let sweep = Sweep {
        start: at(3.0),
        end: at(-1.0),
    };
    assert!(!vertex_face_meet(&sweep, 0.0, 0.75 - 0.5f64.powi(20)));
    assert!(vertex_face_meet(&sweep, 0.0, 0.75));
    assert!(vertex_face_meet(&sweep, 0.75, 1.0));
    assert!(!vertex_face_meet(&sweep, 0.75 + 0.5f64.powi(20), 1.0));
}
