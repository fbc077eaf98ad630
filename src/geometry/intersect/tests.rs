use num_rational::BigRational;
use num_traits::Signed;
use proptest::prelude::*;

use super::*;
use crate::geometry::{Body, BodyKind};
use crate::oracle::{cross_by_definition, nearly_touching, position};

/// Sign of (b − a) · (c − a) × (p − a) in rationals.
fn exact_side([a, b, c]: &Triangle, p: DVec3) -> i32 {
    let r = |v: DVec3| v.to_array().map(|c| BigRational::from_float(c).unwrap());
    let minus = |v: &DVec3| {
        let (v, a) = (r(*v), r(*a));
        [&v[0] - &a[0], &v[1] - &a[1], &v[2] - &a[2]]
    };
    let (u, v, w) = (minus(b), minus(c), minus(&p));
    let value: BigRational = (0..3)
        .map(|k| {
            let (i, j) = ((k + 1) % 3, (k + 2) % 3);
            &u[k] * (&v[i] * &w[j] - &v[j] * &w[i])
        })
        .sum();
    i32::from(value.is_positive()) - i32::from(value.is_negative())
}

/// Edges that pierce faces, as the README of the data counts them, in rationals and without a tree.
fn edge_faces_by_definition(mesh: &Mesh, x: &[DVec3]) -> Vec<[u32; 2]> {
    let mut found = Vec::new();
    for (e, ends) in mesh.edges().iter().enumerate() {
        for (f, corners) in mesh.faces().iter().enumerate() {
            if ends.iter().any(|v| corners.contains(v)) {
                continue;
            }
            let ([p, q], [a, b, c]) = (ends.map(|v| x[v as usize]), corners.map(|v| x[v as usize]));
            let sides = [p, q].map(|p| exact_side(&[a, b, c], p));
            let hands = [[a, b], [b, c], [c, a]].map(|[u, v]| exact_side(&[p, q, u], v));
            let through = hands.iter().all(|&s| s >= 0) || hands.iter().all(|&s| s <= 0);
            if sides[0] * sides[1] < 0 && through {
                found.push([e as u32, f as u32]);
            }
        }
    }
    found
}

fn random_mesh() -> impl Strategy<Value = (Mesh, Vec<DVec3>)> {
    (6..20u32)
        .prop_flat_map(|n| {
            let faces = prop::collection::vec([0..n, 0..n, 0..n], 2..30);
            (faces, prop::collection::vec(position(), n as usize))
        })
        .prop_map(|(corners, x)| {
            let mut keys = std::collections::BTreeSet::new();
            let mut faces: Vec<[u32; 3]> = corners
                .into_iter()
                .filter(|c| {
                    let mut key = *c;
                    key.sort_unstable();
                    key[0] != key[1] && key[1] != key[2] && keys.insert(key)
                })
                .collect();
            if faces.is_empty() {
                faces.push([0, 1, 2]);
            }
            (Mesh::new(x.len(), faces).unwrap(), x)
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_two_faces_cross_exactly_if_the_definition_says_so(
        x in prop::collection::vec(position(), 6),
        shared in 0..3u32,
        tilt in any::<bool>(),
    ) {
        // a shear by a third makes coordinates inexact and spoils exact coplanarity by an ulp
        let x: Vec<DVec3> = x.iter().map(|p| if tilt { DVec3::new(p.x, p.y, p.z / 3.0 + p.x * 0.7 + p.y * 0.3) } else { *p }).collect();
        let (f, g) = match shared {
            0 => ([0, 1, 2], [3, 4, 5]),
            1 => ([0, 1, 2], [3, 0, 4]),
            _ => ([0, 1, 2], [3, 2, 0]),
        };
        let mesh = Mesh::new(6, vec![f, g]).unwrap();
        prop_assume!(check_positions(&mesh, &x).is_ok());
        let expected: &[[u32; 2]] = if cross_by_definition(f, g, &x) { &[[0, 1]] } else { &[] };
        prop_assert_eq!(crossing_faces(&mesh, &x), expected);
    }

    #[test]
    fn faces_that_nearly_touch_are_judged_exactly(x in nearly_touching(), shared in 0..3u32) {
        // the corner near the first face is vertex 3
        let g = match shared {
            0 => [3, 4, 5],
            1 => [3, 0, 4],
            _ => [3, 1, 0],
        };
        let mesh = Mesh::new(6, vec![[0, 1, 2], g]).unwrap();
        prop_assume!(check_positions(&mesh, &x).is_ok()); // the next number after 0 is out of range
        let expected: &[[u32; 2]] = if cross_by_definition([0, 1, 2], g, &x) { &[[0, 1]] } else { &[] };
        prop_assert_eq!(crossing_faces(&mesh, &x), expected);
    }

    #[test]
    fn faces_of_one_plane_cross_exactly_if_the_definition_says_so(
        flat in prop::collection::vec([-1..3i32, -1..3i32], 6),
        plane in 0..4usize,
        line in 0..4u32,
        shared in 0..3u32,
    ) {
        // overlaps, folds and faces without area; in a coordinate plane or a slanted one, sometimes all on a line
        let x: Vec<DVec3> = flat.iter().map(|p| {
            let [u, v] = p.map(f64::from);
            let v = if line == 0 { 2.0 * u } else { v };
            [DVec3::new(u, v, 0.0), DVec3::new(0.0, u, v), DVec3::new(v, 0.0, u), DVec3::new(u, v, u + v)][plane]
        }).collect();
        let (f, g) = match shared {
            0 => ([0, 1, 2], [3, 4, 5]),
            1 => ([0, 1, 2], [3, 0, 4]),
            _ => ([0, 1, 2], [3, 2, 0]),
        };
        let mesh = Mesh::new(6, vec![f, g]).unwrap();
        let expected: &[[u32; 2]] = if cross_by_definition(f, g, &x) { &[[0, 1]] } else { &[] };
        prop_assert_eq!(crossing_faces(&mesh, &x), expected);
    }

    #[test]
    fn faces_of_one_plane_that_nearly_touch_are_judged_exactly(x in nearly_touching(), axis in 0..3usize, shared in 0..3u32) {
        // exactly in a plane, and a corner a few units in the last place from a side or a corner: what two dimensions get wrong
        let mut x = x;
        for p in &mut x {
            p[axis] = 0.0;
        }
        let g = match shared {
            0 => [3, 4, 5],
            1 => [3, 0, 4],
            _ => [3, 1, 0],
        };
        let mesh = Mesh::new(6, vec![[0, 1, 2], g]).unwrap();
        prop_assume!(check_positions(&mesh, &x).is_ok());
        let expected: &[[u32; 2]] = if cross_by_definition([0, 1, 2], g, &x) { &[[0, 1]] } else { &[] };
        prop_assert_eq!(crossing_faces(&mesh, &x), expected);
    }

    #[test]
    fn signs_do_not_depend_on_rounding(x in prop::collection::vec(position(), 4), tilt in -1.0..1.0f64) {
        let x: Vec<DVec3> = x.iter().map(|p| DVec3::new(p.x, p.y, p.z + tilt * p.x)).collect();
        let (t, p) = ([x[0], x[1], x[2]], x[3]);
        // the crate counts a point below the plane as positive
        prop_assert_eq!(side(&t, p), -exact_side(&t, p));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn edge_face_crossings_are_those_of_the_definition((mesh, x) in random_mesh()) {
        let found = crossings(&mesh, &x, Scope::Everything);
        prop_assert_eq!(found.edge_faces, edge_faces_by_definition(&mesh, &x));
    }

    #[test]
    fn whether_anything_crosses_is_what_the_definition_says((mesh, x) in random_mesh(), few in 2..12usize) {
        let some = mesh.faces().len().min(few);
        let mesh = Arc::new(Mesh::new(x.len(), mesh.faces()[..some].to_vec()).unwrap());
        let faces = mesh.faces();
        let cross = |f: usize, g: usize| cross_by_definition(faces[f], faces[g], &x);
        let expected = (0..some).any(|f| (0..f).any(|g| cross(g, f)));
        prop_assert_eq!(has_crossings(&mesh, &x, Scope::Everything), expected);
        // also by a tree that a motion was asked about before, and by one that is asked about a motion next
        let mut collider = Collider::new(&mesh);
        for _ in 0..2 {
            prop_assert_eq!(collider.has_crossings(&x, Scope::Certified), expected);
            let still = collider.motion(&x, &x).unwrap();
            let pairs = collider.pairs(still, 0.0);
            let still = collider.motion(&x, &x).unwrap();
            prop_assert_eq!(pairs, Collider::new(&mesh).pairs(still, 0.0));
        }
    }
}

#[test]
fn orientations_are_exact_at_the_ends_of_the_range() {
    // nearly coplanar within the last bits of the smallest coordinates, and with the largest ones beside
    for scale in [1e-70 / 1.2, 1e30 / 4.0] {
        let ulp = |x: f64| x.next_up() - x;
        let a = DVec3::new(1.3, 1.7, 1.9) * scale;
        let b = DVec3::new(2.9, 1.2, 3.1) * scale;
        let c = DVec3::new(1.6, 3.3, 2.2) * scale;
        let foot = (a + b + c) / 3.0;
        for k in -3..=3 {
            let p = foot + DVec3::Z * f64::from(k) * ulp(foot.z);
            let t = [a, b, c];
            assert_eq!(side(&t, p), -exact_side(&t, p), "{scale:e} {k}");
        }
    }
    let t = [
        DVec3::new(1e30, -1e30, 1e-70),
        DVec3::new(-1e30, 1e30, 1.1e-70),
        DVec3::new(1e-70, 1e30, 0.0),
    ];
    for p in [
        DVec3::ZERO,
        DVec3::new(1e-70, 0.0, 1.05e-70),
        DVec3::splat(1e-70),
    ] {
        assert_eq!(side(&t, p), -exact_side(&t, p));
    }
}

#[test]
fn a_loop_vertex_counts_as_one_pair_and_one_pierced_face() {
    // the edge opposite to the common vertex 0 goes through the other face
    let mesh = Mesh::new(5, vec![[0, 1, 2], [0, 3, 4]]).unwrap();
    let x = [
        [0.0; 3],
        [4.0, 0.0, 0.0],
        [0.0, 4.0, 0.0],
        [1.0, 1.0, -1.0],
        [1.0, 1.0, 1.0],
    ];
    let x = x.map(DVec3::from_array);
    let found = crossings(&mesh, &x, Scope::Certified);
    assert_eq!(found.faces, [[0, 1]]);
    assert_eq!(found.edge_faces, [[mesh.face_edges()[1][1], 0]]);
}

#[test]
fn touching_is_a_crossing_of_faces_but_pierces_none() {
    let mesh = Mesh::new(6, vec![[0, 1, 2], [3, 4, 5]]).unwrap();
    let x = [
        [0.0; 3],
        [4.0, 0.0, 0.0],
        [0.0, 4.0, 0.0],
        [1.0, 1.0, 0.0],
        [1.0, 2.0, 3.0],
        [2.0, 1.0, 3.0],
    ];
    let found = crossings(&mesh, &x.map(DVec3::from_array), Scope::Certified);
    assert_eq!((found.faces.len(), found.edge_faces.len()), (1, 0));
}

#[test]
fn obstacles_may_cross_each_other_and_are_counted_apart() {
    // three flat squares through each other: cloth, obstacle, obstacle
    let square = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
    let mut x = Vec::new();
    for axis in 0..3 {
        x.extend(square.map(|[u, v]| {
            let mut p = [0.0; 3];
            (p[(axis + 1) % 3], p[(axis + 2) % 3]) = (u, 0.9 * v);
            DVec3::from_array(p)
        }));
    }
    let bodies = (0..3u32)
        .map(|b| Body {
            name: format!("square {b}"),
            kind: if b == 0 {
                BodyKind::Cloth
            } else {
                BodyKind::Obstacle
            },
            vertices: 4 * b..4 * b + 4,
            faces: 2 * b..2 * b + 2,
        })
        .collect();
    let faces = (0..3).flat_map(|b| [[4 * b, 4 * b + 1, 4 * b + 2], [4 * b, 4 * b + 2, 4 * b + 3]]);
    let mesh = Mesh::with_bodies(12, faces.collect(), bodies).unwrap();
    let bodies: Vec<u32> = (0..12).map(|v| mesh.body_of_vertex(v)).collect();
    let groups = |scope| {
        let counts = crossings(&mesh, &x, scope).by_group(&mesh, &bodies);
        assert!(counts.values().all(|c| c.intersections > 0));
        counts.into_keys().collect::<Vec<_>>()
    };
    assert_eq!(groups(Scope::Certified), [[0, 1], [0, 2]]);
    assert_eq!(groups(Scope::Everything), [[0, 1], [0, 2], [1, 2]]);
    assert_eq!(
        mesh.components(),
        bodies,
        "here, bodies are what is connected"
    );
    // without the cloth, the obstacles cross where nobody asks
    let away = DVec3::new(0.0, 9.0, 0.0);
    let x: Vec<DVec3> = (x
        .iter()
        .zip(&bodies)
        .map(|(x, b)| if *b == 0 { x + away } else { *x }))
    .collect();
    assert!(!has_crossings(&mesh, &x, Scope::Certified));
    assert!(has_crossings(&mesh, &x, Scope::Everything));
}

#[test]
fn the_bound_of_a_cross_product_is_at_least_what_was_derived() {
    // four roundings; where the products are nearly equal, the subtraction makes none of them
    let half_ulp = f64::EPSILON / 2.0;
    assert!(CROSS_ERROR >= 4.0 * half_ulp);
}
