use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use std::sync::Arc;

use crate::geometry::{Body, BodyKind, Collider, Motion};
use crate::oracle::position;

/// Proximities of bodies without rest distances between them, as (first feature, second feature).
fn touching(mesh: &Mesh, x: &[DVec3], thickness: f64) -> Vec<(Vec<u32>, Vec<u32>)> {
    let margin = Margin {
        thickness: &vec![thickness; x.len()],
        rest: &x.iter().map(|p| 1e3 * *p).collect::<Vec<_>>(),
        gap: None,
    };
    let found = Collider::new(&Arc::new(mesh.clone())).proximities(x, &margin, None);
    found.iter().map(features).collect()
}

fn features(p: &Proximity) -> (Vec<u32>, Vec<u32>) {
    let part = |keep: fn(f64) -> bool| -> Vec<u32> {
        let mut part: Vec<u32> = (0..4)
            .filter(|&i| keep(p.weights[i]))
            .map(|i| p.vertices[i])
            .collect();
        part.sort_unstable();
        part
    };
    (part(|w| w > 0.0), part(|w| w < 0.0))
}

/// A fan of four faces around vertex 0 at the origin, raised there by `ridge`, and a face whose corner 5 hangs at `tip`.
fn fan(ridge: f64, tip: [f64; 3]) -> Vec<(Vec<u32>, Vec<u32>)> {
    let mut x = [
        [0.0, 0.0, ridge],
        [2.0, 0.0, 0.0],
        [0.0, 2.0, 0.0],
        [-2.0, 0.0, 0.0],
        [0.0, -2.0, 0.0],
        tip,
        tip,
        tip,
    ]
    .map(DVec3::from_array);
    x[6] += DVec3::new(0.1, 0.3, 9.0);
    x[7] += DVec3::new(-0.2, 0.1, 9.0);
    let faces = vec![[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 1], [5, 6, 7]];
    let mesh = Mesh::with_bodies(
        8,
        faces,
        vec![
            Body {
                name: "fan".into(),
                kind: BodyKind::Cloth,
                vertices: 0..5,
                faces: 0..4,
            },
            Body {
                name: "tip".into(),
                kind: BodyKind::Cloth,
                vertices: 5..8,
                faces: 4..5,
            },
        ],
    )
    .unwrap();
    touching(&mesh, &x, 0.5)
}

/// How near the faces around either touching feature come to the other's point, in units of the gap: 1 if they do
/// not come nearer than the feature itself.
fn nearest_around(mesh: &Mesh, impact: &Impact, gap: f64, x: &[DVec3]) -> f64 {
    let split = if impact.is_vertex_face() { 1 } else { 2 };
    let side = |range: std::ops::Range<usize>| -> (DVec3, Vec<u32>) {
        let parts = range.filter(|&i| impact.weights[i] != 0.0);
        let point = |i: usize| impact.weights[i].abs() * x[impact.vertices[i] as usize];
        let vertices = parts.clone().map(|i| impact.vertices[i]).collect();
        (parts.map(point).sum(), vertices)
    };
    let (a, b) = (side(0..split), side(split..4));
    let nearest = |part: &[u32], other: DVec3| {
        let around = mesh
            .faces()
            .iter()
            .filter(|face| part.iter().all(|v| face.contains(v)));
        let distances = around.map(|face| {
            let [a, b, c] = face.map(|v| x[v as usize]);
            closest_points_vertex_face([other, a, b, c])
                .distance_squared
                .sqrt()
        });
        distances.fold(gap, f64::min)
    };
    nearest(&a.1, b.0).min(nearest(&b.1, a.0)) / gap
}

proptest! {
    #[test]
    fn an_impact_is_critical_if_no_face_around_it_is_nearer(
        heights in prop::array::uniform5(prop::sample::select(vec![-0.5, 0.0, 0.25])),
        tip in position(),
        lower in position(),
        upper in position(),
    ) {
        let ring = [[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [-2.0, 0.0], [0.0, -2.0]];
        let mut x: Vec<DVec3> = ring.iter().zip(heights).map(|([x, y], z)| DVec3::new(*x, *y, z)).collect();
        x.extend([tip, tip + lower + DVec3::X, tip + upper + DVec3::Z]);
        let area = (x[6] - x[5]).cross(x[7] - x[5]).length();
        prop_assume!(area > 1e-3, "to which side a needle leans is not known");
        let faces = vec![[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 1], [5, 6, 7]];
        let mesh = Mesh::new(8, faces).unwrap();
        for pair in Collider::new(&Arc::new(mesh.clone())).pairs(Motion::new(&x, &x), f64::INFINITY) {
            let vertices = mesh.vertices_of(pair);
            let at = vertices.map(|v| x[v as usize]);
            let closest = Closest::of(pair, at);
            let gap = closest.distance_squared.sqrt();
            if gap < 1e-3 {
                continue; // the direction is not known well enough
            }
            let normal = closest.normal(pair, at);
            let impact = Impact { pair, vertices, weights: closest.weights, normal, time: 0.5, certain: true };
            let found = is_critical(&mesh, &impact, &x, &x);
            let nearest = nearest_around(&mesh, &impact, gap, &x);
            // between two neighbours of a corner the lean is at most twice that of either, at angles up to 120°
            let as_leaning = (1.0 - 4.0 * LEAN * LEAN).sqrt();
            let holds = if found { nearest > as_leaning - 1e-9 } else { nearest < 1.0 };
            prop_assert!(holds, "{impact:?}: {found}, {nearest}");
        }
    }
}

#[test]
fn a_vertex_touches_a_face_an_edge_or_a_corner_once() {
    assert_eq!(
        fan(0.0, [0.5, 0.5, 0.3]),
        [(vec![5], vec![0, 1, 2])],
        "inside a face"
    );
    assert_eq!(
        fan(0.0, [1.0, 0.0, 0.3]),
        [(vec![5], vec![0, 1])],
        "on an edge of two faces"
    );
    assert_eq!(
        fan(0.0, [0.0, 0.0, 0.3]),
        [(vec![0], vec![5])],
        "on a corner of four faces"
    );
    assert_eq!(
        fan(1.0, [0.0, 0.0, 1.3]),
        [(vec![0], vec![5])],
        "above an apex"
    );
    assert_eq!(
        fan(0.0, [2.2, 0.0, 0.3]),
        [(vec![1], vec![5])],
        "beyond a corner of the boundary"
    );
    assert_eq!(fan(0.0, [0.0, 0.0, 0.6]), [], "too far");
}

#[test]
fn in_a_valley_every_slope_touches_but_its_edges_do_not() {
    let found = fan(-2.0, [0.0, 0.0, -1.6]);
    assert_eq!(found.len(), 4);
    assert!(
        found
            .iter()
            .all(|(first, second)| first == &[5] && second.len() == 3)
    );
}

#[test]
fn crossing_edges_touch_once() {
    let x = [
        [-1.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [0.0, -5.0, -5.0],
        [0.0, -1.0, 0.3],
        [0.0, 1.0, 0.3],
        [5.0, 0.0, 5.0],
    ];
    let mesh = Mesh::new(6, vec![[0, 1, 2], [3, 4, 5]]).unwrap();
    assert_eq!(
        touching(&mesh, &x.map(DVec3::from_array), 0.5),
        [(vec![0, 1], vec![3, 4])]
    );
}

#[test]
fn a_proximity_points_from_the_second_feature_to_the_first() {
    let x = [
        [-9.0, -9.0, 0.0],
        [9.0, -9.0, 0.0],
        [0.0, 9.0, 0.0],
        [0.0, 0.0, -0.25],
        [1.0, 0.0, -9.0],
        [0.0, 1.0, -9.0],
    ]
    .map(DVec3::from_array);
    let mesh = Mesh::new(6, vec![[0, 1, 2], [3, 4, 5]]).unwrap();
    let margin = Margin {
        thickness: &[0.1, 0.1, 0.1, 0.9, 0.9, 0.9],
        rest: &x.map(|p| 9.0 * p),
        gap: None,
    };
    let found = Collider::new(&Arc::new(mesh.clone())).proximities(&x, &margin, None);
    assert_eq!(found.len(), 1);
    let p = &found[0];
    assert_eq!((p.normal, p.gap), (DVec3::NEG_Z, 0.25));
    assert!((p.threshold - 0.5).abs() < 1e-15, "mean of 0.9 and 0.1");
    // the start clamps: nearer than it was is near, as near as it was is not
    let start = |z: f64| {
        let mut start = x;
        start[3].z = z;
        start
    };
    let count = |z: f64| {
        Collider::new(&Arc::new(mesh.clone()))
            .proximities(&x, &margin, Some(&start(z)))
            .len()
    };
    assert_eq!((count(-0.3), count(-0.25)), (1, 0));
}

#[test]
fn a_threshold_is_limited_by_rest_within_a_body_and_by_the_touching_features_alone() {
    // a corner beside a corner, 0.25 apart; at rest 0.6 from that corner, but near another part of its face
    let x = [
        [0.0, 0.0, 0.0],
        [-2.0, -1.0, 0.0],
        [-2.0, 1.0, 0.0],
        [0.25, 0.0, 0.0],
        [9.0, -1.0, 5.0],
        [9.0, 1.0, 5.0],
    ]
    .map(DVec3::from_array);
    let mut rest = x;
    rest[3] = DVec3::new(-0.3, 0.0, 0.3 * 3.0f64.sqrt()); // 0.6 from corner 0, 0.52 from its face
    let faces = vec![[0, 1, 2], [3, 4, 5]];
    let body = |name: &str, from: u32| Body {
        name: name.into(),
        kind: BodyKind::Cloth,
        vertices: from..from + 3,
        faces: from / 3..from / 3 + 1,
    };
    let one = Mesh::new(6, faces.clone()).unwrap();
    let two = Mesh::with_bodies(6, faces, vec![body("left", 0), body("right", 3)]).unwrap();
    let threshold = |mesh: &Mesh| {
        let margin = Margin {
            thickness: &[0.5; 6],
            rest: &rest,
            gap: None,
        };
        let found = Collider::new(&Arc::new(mesh.clone())).proximities(&x, &margin, None);
        assert_eq!(found.len(), 1, "{found:?}");
        found[0].threshold
    };
    assert!((threshold(&one) - 0.3).abs() < 1e-15, "half of 0.6");
    assert_eq!(threshold(&two), 0.5, "bodies have no rest distance");
}

#[test]
fn cloth_at_rest_does_not_touch_itself_however_thick() {
    let n = 8;
    let x: Vec<DVec3> = (0..n * n)
        .map(|i| DVec3::new(f64::from(i % n), 0.0, f64::from(i / n)))
        .collect();
    let faces = (0..n * n)
        .filter(|i| i % n + 1 < n && i / n + 1 < n)
        .flat_map(|i| [[i, i + 1, i + n], [i + 1, i + n + 1, i + n]].map(|f| f.map(|v| v as u32)))
        .collect();
    let mesh = Mesh::new(x.len(), faces).unwrap();
    let thickness = vec![1.7; x.len()];
    let margin = Margin {
        thickness: &thickness,
        rest: &x,
        gap: None,
    };
    assert_eq!(
        Collider::new(&Arc::new(mesh.clone())).proximities(&x, &margin, None),
        []
    );
    // folded in the middle it does
    let folded: Vec<DVec3> = x
        .iter()
        .map(|p| {
            if p.x > 3.0 {
                DVec3::new(6.5 - p.x, 0.8, p.z)
            } else {
                *p
            }
        })
        .collect();
    assert!(
        !Collider::new(&Arc::new(mesh.clone()))
            .proximities(&folded, &margin, None)
            .is_empty()
    );
}

/// The definition without a tree: a vertex and any feature whose closest point lies inside it and than which
/// no face around it comes nearer; and crossing edges.
fn touching_by_definition(
    mesh: &Mesh,
    x: &[DVec3],
    thickness: f64,
) -> BTreeSet<(Vec<u32>, Vec<u32>)> {
    let mut found = BTreeSet::new();
    for v in 0..x.len() as u32 {
        if mesh.vertex_owner()[v as usize] == NONE {
            continue;
        }
        let faces: Vec<[u32; 3]> = mesh
            .faces()
            .iter()
            .filter(|f| !f.contains(&v))
            .copied()
            .collect();
        let closest = |f: [u32; 3]| {
            let [a, b, c] = f.map(|v| x[v as usize]);
            closest_points_vertex_face([x[v as usize], a, b, c])
        };
        for &f in &faces {
            let own = closest(f);
            let [a, b, c] = f;
            let feature: Vec<u32> = touched([v, a, b, c], &own.weights)
                .into_iter()
                .filter(|&v| v != NONE)
                .collect();
            let around = faces
                .iter()
                .filter(|g| feature.iter().all(|v| g.contains(v)));
            let is_nearest = around
                .clone()
                .all(|&g| closest(g).distance_squared >= own.distance_squared);
            if own.distance_squared < thickness * thickness && is_nearest {
                found.insert((vec![v], feature));
            }
        }
    }
    // corner on corner needs both to see it so, and counts once
    let corners = found.clone();
    found.retain(|(a, b)| match (&a[..], &b[..]) {
        (&[v], &[w]) => v < w && corners.contains(&(vec![w], vec![v])),
        _ => true,
    });
    for (k, &a) in mesh.edges().iter().enumerate() {
        for &b in &mesh.edges()[k + 1..] {
            let closest = closest_points_edge_edge([a[0], a[1], b[0], b[1]].map(|v| x[v as usize]));
            let is_inside = closest.weights.iter().all(|&w| w != 0.0);
            if a.iter().all(|v| !b.contains(v))
                && is_inside
                && closest.distance_squared < thickness * thickness
            {
                found.insert((a.to_vec(), b.to_vec()));
            }
        }
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn proximities_are_those_of_the_definition_each_once(
        corners in prop::collection::vec([0..12u32, 0..12u32, 0..12u32], 1..20),
        x in prop::collection::vec(position(), 12),
    ) {
        let mut keys = BTreeSet::new();
        let faces: Vec<[u32; 3]> = corners.into_iter().filter(|f| {
            let key: BTreeSet<u32> = f.iter().copied().collect();
            key.len() == 3 && keys.insert(key)
        }).collect();
        prop_assume!(!faces.is_empty());
        let mesh = Mesh::new(12, faces).unwrap();
        // what touches at rest, up to rounding, has no threshold
        let apart = |(a, b): &(Vec<u32>, Vec<u32>)| squared_gap(&x, a, b) > f64::EPSILON;
        let found: Vec<_> = touching(&mesh, &x, 0.75).into_iter().filter(apart).collect();
        let expected: BTreeSet<_> = touching_by_definition(&mesh, &x, 0.75).into_iter().filter(apart).collect();
        let unique: BTreeSet<_> = found.iter().cloned().collect();
        prop_assert_eq!(unique.len(), found.len(), "each once");
        prop_assert_eq!(unique, expected);
    }
}

fn squared_gap(x: &[DVec3], a: &[u32], b: &[u32]) -> f64 {
    let at = |v: u32| x[v as usize];
    match (a, b) {
        (&[p], &[q]) => (at(p) - at(q)).length_squared(),
        (&[p], &[q, r]) => closest_points_vertex_edge(at(p), at(q), at(r)).distance_squared,
        (&[p], &[q, r, s]) => {
            closest_points_vertex_face([at(p), at(q), at(r), at(s)]).distance_squared
        }
        (&[p, q], &[r, s]) => {
            closest_points_edge_edge([at(p), at(q), at(r), at(s)]).distance_squared
        }
        _ => unreachable!("features of pairs"),
    }
}

/// Two faces that share the edge from (0, 0, `ridge`) to (2, 0, `ridge`), and an edge above its middle that goes across it and rises by `rise`: the
/// mesh, the pair, its weights and its normal, and the positions.
fn crossed(ridge: f64, rise: f64) -> (Mesh, Pair, [f64; 4], DVec3, Vec<DVec3>) {
    let faces = vec![[0, 1, 2], [1, 0, 3], [4, 5, 6]];
    let mesh = Mesh::new(7, faces).unwrap();
    let x = [
        [0.0, 0.0, ridge],
        [2.0, 0.0, ridge],
        [1.0, 2.0, 0.0],
        [1.0, -2.0, 0.0],
        [1.0, -1.0, ridge + 0.1 - rise],
        [1.0, 1.0, ridge + 0.1 + rise],
        [1.0, 0.0, 2.0],
    ];
    let x = x.map(DVec3::from_array).to_vec();
    let edge = |ends: [u32; 2]| {
        let mut edges = mesh.edges().iter();
        let place = edges.position(|edge| ends.iter().all(|v| edge.contains(v)));
        place.unwrap() as u32
    };
    let (a, b) = (edge([0, 1]), edge([4, 5]));
    let pair = Pair::EdgeEdge { a, b };
    let closest = Closest::of(pair, at(&x, mesh.vertices_of(pair)));
    assert!(a < b && !closest.weights.contains(&0.0));
    let normal = closest.normal(pair, at(&x, mesh.vertices_of(pair)));
    (mesh, pair, closest.weights, normal, x)
}

#[test]
fn a_normal_that_leans_is_put_upright_and_one_on_a_ridge_stays() {
    let turned = |ridge: f64, rise: f64| {
        let (mesh, pair, weights, normal, x) = crossed(ridge, rise);
        let upright = upright(&mesh, pair, &weights, normal, |v| x[v as usize]);
        (normal, upright)
    };
    // over flat faces an edge that rises by a fifth leans by as much
    let (leaning, upright) = turned(0.0, 0.2);
    assert!(leaning.y.abs() > 0.19, "{leaning}");
    let upright = upright.unwrap();
    assert!(
        upright.y.abs() <= 1.01 * LEAN && upright.z.abs() > 0.999,
        "{upright}"
    );
    assert!(upright.dot(leaning) > 0.9, "on the same side");
    // over a ridge that falls off by a half it does not
    let (normal, upright) = turned(1.0, 0.2);
    assert_eq!(upright, Some(normal));
    // what stands nearly upright on nothing has no normal there
    assert_eq!(turned(0.0, 3.0).1, None);
}
