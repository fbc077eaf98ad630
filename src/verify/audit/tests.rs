use proptest::prelude::*;

use super::*;
use crate::geometry::{Body, BodyKind};
use crate::oracle::{cross_by_definition, hulls_meet, nearly_touching, position};

/// 2⁻³⁵⁵ and 2⁻⁵³⁵: products of three or two such coordinates are subnormal, with hardly a digit left.
const TINY: f64 = f64::from_bits((1023 - 355) << 52);
const TINIER: f64 = f64::from_bits((1023 - 535) << 52);

fn points<const N: usize>(coordinates: [[f64; 3]; N]) -> [DVec3; N] {
    coordinates.map(DVec3::from_array)
}

/// Two faces without a common vertex.
fn two_faces(x: [[f64; 3]; 6]) -> Vec<[u32; 2]> {
    let mesh = Mesh::new(6, vec![[0, 1, 2], [3, 4, 5]]).unwrap();
    intersections(&mesh, &points(x))
}

const FLAT: [[f64; 3]; 3] = [[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]];

fn with_flat(other: [[f64; 3]; 3]) -> Vec<[u32; 2]> {
    let [a, b, c] = FLAT;
    let [d, e, f] = other;
    two_faces([a, b, c, d, e, f])
}

#[test]
fn a_vertex_touching_a_face_is_rejected_and_one_just_above_it_is_not() {
    let apex = |z| [[1.0, 1.0, z], [1.0, 2.0, 3.0], [2.0, 1.0, 3.0]];
    assert_eq!(with_flat(apex(0.0)), [[0, 1]]);
    assert_eq!(with_flat(apex(-1e-60)), [[0, 1]]);
    assert_eq!(with_flat(apex(1e-60)), [[0u32; 2]; 0]);
}

#[test]
fn an_edge_through_a_face_is_rejected() {
    assert_eq!(
        with_flat([[1.0, 1.0, -1.0], [1.0, 1.0, 1.0], [9.0, 9.0, 0.0]]),
        [[0, 1]]
    );
}

#[test]
fn touching_edges_and_corners_are_rejected() {
    // edge on edge, crossing in one point
    assert_eq!(
        with_flat([[2.0, 0.0, -1.0], [2.0, 0.0, 1.0], [2.0, -3.0, 0.0]]),
        [[0, 1]]
    );
    // corner on corner, at equal positions of different vertices
    assert_eq!(
        with_flat([[4.0, 0.0, 0.0], [6.0, 0.0, 1.0], [6.0, 1.0, 1.0]]),
        [[0, 1]]
    );
    // parallel edges that overlap
    assert_eq!(
        with_flat([[1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [1.0, -1.0, 2.0]]),
        [[0, 1]]
    );
    // the same three, moved away by one unit in the last place or less
    let y = -1e-70;
    assert_eq!(
        with_flat([[2.0, y, -1.0], [2.0, y, 1.0], [2.0, -3.0, 0.0]]),
        [[0u32; 2]; 0]
    );
    let x = 4.0 + 4.0 * f64::EPSILON;
    assert_eq!(
        with_flat([[x, 0.0, 0.0], [6.0, 0.0, 1.0], [6.0, 1.0, 1.0]]),
        [[0u32; 2]; 0]
    );
    assert_eq!(
        with_flat([[1.0, y, 0.0], [2.0, y, 0.0], [1.0, -1.0, 2.0]]),
        [[0u32; 2]; 0]
    );
}

#[test]
fn coplanar_overlap_is_rejected_also_without_any_vertex_inside() {
    assert_eq!(
        with_flat([[1.0, 1.0, 0.0], [9.0, 1.0, 0.0], [1.0, 9.0, 0.0]]),
        [[0, 1]]
    );
    // a face within the other, without crossing sides
    assert_eq!(
        with_flat([[0.5, 0.5, 0.0], [1.0, 0.5, 0.0], [0.5, 1.0, 0.0]]),
        [[0, 1]]
    );
    // a star: all sides cross, no vertex inside
    assert_eq!(
        with_flat([[-1.0, 2.0, 0.0], [3.0, 2.0, 0.0], [1.0, -1.0, 0.0]]),
        [[0, 1]]
    );
    // in the plane, apart
    assert_eq!(
        with_flat([[3.0, 3.0, 0.0], [9.0, 1.0, 0.0], [1.0, 9.0, 0.0]]),
        [[0u32; 2]; 0]
    );
}

#[test]
fn faces_with_a_common_vertex_cross_only_beyond_it() {
    let mesh = Mesh::new(5, vec![[0, 1, 2], [0, 3, 4]]).unwrap();
    let with = |p: [f64; 3], q: [f64; 3]| {
        let [a, b, c] = FLAT;
        intersections(&mesh, &points([a, b, c, p, q])).len()
    };
    assert_eq!(
        with([-4.0, 0.0, 0.0], [0.0, -4.0, 0.0]),
        0,
        "opposite in the plane"
    );
    assert_eq!(with([4.0, 4.0, 1e-9], [4.0, 4.0, 1.0]), 0, "a wedge above");
    assert_eq!(
        with([4.0, 4.0, -1.0], [4.0, 4.0, 1.0]),
        1,
        "loop vertex: its edge cuts through"
    );
    assert_eq!(
        with([1.0, 1.0, -1.0], [1.0, 1.0, 1.0]),
        1,
        "loop vertex: its edge ends inside"
    );
    assert_eq!(with([1.0, 2.0, 0.0], [2.0, 1.0, 0.0]), 1, "folded onto it");
    assert_eq!(
        with([9.0, 0.0, 0.0], [9.0, -1.0, 0.0]),
        1,
        "one side lies on the other's"
    );
    assert_eq!(
        with([0.0, 0.0, 0.0], [9.0, -1.0, 0.0]),
        1,
        "another vertex at the same place"
    );
}

#[test]
fn faces_with_a_common_edge_cross_only_if_folded_flat() {
    let mesh = Mesh::new(4, vec![[0, 1, 2], [1, 0, 3]]).unwrap();
    let with = |p: [f64; 3]| {
        let [a, b, c] = FLAT;
        intersections(&mesh, &points([a, b, c, p])).len()
    };
    assert_eq!(with([0.0, -4.0, 0.0]), 0, "flat");
    assert_eq!(with([1.0, 1.0, 1e-60]), 0, "folded, not quite shut");
    assert_eq!(with([1.0, 1.0, 0.0]), 1, "folded, within");
    assert_eq!(with([9.0, 9.0, 0.0]), 1, "folded, around");
    assert_eq!(with([9.0, 1.0, 0.0]), 1, "folded, sides crossing");
    assert_eq!(with([0.0, 4.0, 0.0]), 1, "folded, apex on apex");
    assert_eq!(with([2.0, 0.0, 0.0]), 1, "apex on the common edge");
    assert_eq!(
        with([-1.0, 0.0, 0.0]),
        1,
        "apex on its line: a corner lies on the other's side"
    );
}

#[test]
fn crossing_sheets_are_rejected_and_parallel_ones_accepted() {
    let n = 12;
    let (mesh, mut x) = two_sheets(n);
    assert_eq!(intersections(&mesh, &x), [[0u32; 2]; 0]);
    let last = x.len() - 1;
    x[last].z = -0.5;
    let found = intersections(&mesh, &x);
    assert!(
        !found.is_empty()
            && found
                .iter()
                .all(|p| p[0] < mesh.bodies()[0].faces.end && p[1] >= mesh.bodies()[1].faces.start)
    );
}

#[test]
fn only_pairs_of_two_obstacle_faces_are_set_apart() {
    let (mesh, mut x) = two_sheets(3);
    x.iter_mut().skip(9).for_each(|p| p.z = 0.0);
    let kinds = |kinds: [BodyKind; 2]| {
        let mut bodies = mesh.bodies().to_vec();
        bodies[0].kind = kinds[0];
        bodies[1].kind = kinds[1];
        let mesh = Mesh::with_bodies(x.len(), mesh.faces().to_vec(), bodies).unwrap();
        (
            !intersections(&mesh, &x).is_empty(),
            !obstacle_crossings(&mesh, &x).is_empty(),
        )
    };
    use BodyKind::{Cloth, Obstacle};
    assert_eq!(kinds([Cloth, Cloth]), (true, false));
    assert_eq!(kinds([Cloth, Obstacle]), (true, false));
    assert_eq!(kinds([Obstacle, Obstacle]), (false, true));
}

/// Two flat square sheets of n × n vertices, one unit above the other.
fn two_sheets(n: u32) -> (Mesh, Vec<DVec3>) {
    let mut x = Vec::new();
    let mut faces = Vec::new();
    for z in 0..2 {
        for i in 0..n * n {
            x.push(DVec3::new(f64::from(i % n), f64::from(i / n), f64::from(z)));
            let v = z * n * n + i;
            if i % n + 1 < n && i / n + 1 < n {
                faces.push([v, v + 1, v + n]);
                faces.push([v + 1, v + n + 1, v + n]);
            }
        }
    }
    let half = faces.len() as u32 / 2;
    let body = |name: &str, vertices, faces| Body {
        name: name.into(),
        kind: BodyKind::Cloth,
        vertices,
        faces,
    };
    let bodies = vec![
        body("lower", 0..n * n, 0..half),
        body("upper", n * n..2 * n * n, half..2 * half),
    ];
    let mesh = Mesh::with_bodies(x.len(), faces, bodies).unwrap();
    (mesh, x)
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
        let expected = cross_by_definition(f, g, &x);
        prop_assert_eq!(faces_cross(f, g, &x), expected);
        prop_assert_eq!(faces_cross(g, f, &x), expected);
    }

    #[test]
    fn faces_that_nearly_touch_are_judged_exactly(x in nearly_touching(), shared in 0..3u32) {
        // the corner near the first face is vertex 3
        let g = match shared {
            0 => [3, 4, 5],
            1 => [3, 0, 4],
            _ => [3, 1, 0],
        };
        let expected = cross_by_definition([0, 1, 2], g, &x);
        prop_assert_eq!(faces_cross([0, 1, 2], g, &x), expected);
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
        prop_assert_eq!(faces_cross(f, g, &x), cross_by_definition(f, g, &x));
    }

    #[test]
    fn a_claimed_separation_is_true(
        x in prop_oneof![prop::collection::vec(position(), 6), nearly_touching()],
        (m, n) in (1..4usize, 1..4usize),
        scale in prop_oneof![Just(1.0), Just(TINY)],
    ) {
        let x: Vec<DVec3> = x.into_iter().map(|p| scale * p).collect();
        let (a, b) = (&x[3 - m..3], &x[3..3 + n]);
        if separated(a, b) {
            prop_assert!(!hulls_meet(a, b));
        }
    }

    #[test]
    fn signs_are_those_of_integers(
        x in nearly_touching(),
        k in 0..3usize,
        scale in prop_oneof![Just(1.0), Just(TINY), Just(TINIER)],
    ) {
        let x: Vec<DVec3> = x.into_iter().map(|p| scale * p).collect();
        // a face and the point that nearly lies in it; two corners and a point that may lie between them
        let [a, b, c, d] = integers([x[0], x[1], x[2], x[3]]);
        let (u, v, w) = (minus(&b, &a), minus(&c, &a), minus(&d, &a));
        let volume = &u[0] * (&v[1] * &w[2] - &v[2] * &w[1])
            + &u[1] * (&v[2] * &w[0] - &v[0] * &w[2])
            + &u[2] * (&v[0] * &w[1] - &v[1] * &w[0]);
        prop_assert_eq!(side_of_plane(x[0], x[1], x[2], x[3]), sign(&volume));
        prop_assert_eq!(turn(x[0], x[1], x[3], k), cross_sign(&u, &w, k));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn the_split_finds_what_comparing_all_pairs_finds(
        x in prop::collection::vec(position(), 40),
        corners in prop::collection::btree_set([0..40u32, 0..40u32, 0..40u32], 60..90),
        spread in prop_oneof![Just(1.0), Just(20.0)],
    ) {
        let mut keys = std::collections::BTreeSet::new();
        let faces: Vec<[u32; 3]> = corners.into_iter().filter(|&[a, b, c]| {
            let mut key = [a, b, c];
            key.sort_unstable();
            a != b && b != c && a != c && keys.insert(key)
        }).collect();
        // clusters far from each other, joined by a few long faces
        let x: Vec<DVec3> = x.iter().enumerate().map(|(v, p)| *p + spread * (v % 3) as f64).collect();
        let mesh = Mesh::new(40, faces.clone()).unwrap();
        let mut expected = Vec::new();
        for a in 0..faces.len() {
            for b in a + 1..faces.len() {
                if faces_cross(faces[a], faces[b], &x) {
                    expected.push([a as u32, b as u32]);
                }
            }
        }
        prop_assert_eq!(intersections(&mesh, &x), expected);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn many_small_faces_are_split_well_and_found_once(
        place in prop::collection::vec([0..9i32, 0..9i32, 0..2i32], 150),
        corner in prop::collection::vec([0..3i32, 0..3i32, 0..2i32], 450),
    ) {
        // on a grid, so that boxes begin and end where space is split
        let at = |p: [i32; 3]| DVec3::from_array(p.map(f64::from));
        let x: Vec<DVec3> = corner.iter().enumerate().map(|(v, &c)| at(place[v / 3]) + at(c)).collect();
        let faces: Vec<[u32; 3]> = (0..150).map(|f| [3 * f, 3 * f + 1, 3 * f + 2]).collect();
        let mesh = Mesh::new(x.len(), faces.clone()).unwrap();
        let mut expected = Vec::new();
        for a in 0..150 {
            for b in a + 1..150 {
                if faces_cross(faces[a as usize], faces[b as usize], &x) {
                    expected.push([a, b]);
                }
            }
        }
        prop_assert_eq!(intersections(&mesh, &x), expected);
    }
}

#[test]
fn integers_keep_every_bit() {
    let [[least, normal, half]] = integers(points([[
        5e-324,
        f64::MIN_POSITIVE,
        0.5 * f64::MIN_POSITIVE,
    ]]));
    assert_eq!(least, IBig::ONE);
    assert_eq!(&half * IBig::from(2), normal, "subnormal numbers too");

    let [[a, b, c], [d, ..]] = integers(points([[1.5, -2.0, 0.0], [1e-300, 0.0, 3.0]]));
    let unit = &d / IBig::from((1e-300f64).to_bits() & ((1 << 52) - 1) | 1 << 52);
    assert_eq!(unit, IBig::ONE, "the smallest number sets the unit");
    assert_eq!(&a * IBig::from(4), &b * IBig::from(-3));
    assert_eq!(c, IBig::ZERO);
    assert!(IBig::from(2) * &a > &b + &d && a > d);
}
