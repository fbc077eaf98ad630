//! Critical contacts: of all near pairs of features, each touching once, with its threshold.
//!
//! Source: Shi §3, the three cases each of vertex-face and edge-edge. We differ: a vertex near an
//! edge is near all faces around it, and as many contacts for one touching would be as many times
//! the response (Shi Fig. 5b); so contacts are told apart by the features that the closest points
//! lie in, and those are left out from which another feature is nearer.

use glam::DVec3;
use rayon::prelude::*;

use super::mesh::NONE;
use super::proximity::{
    closest_points_edge_edge, closest_points_vertex_edge, closest_points_vertex_face,
};
use super::sweep::at;
use super::{Closest, Impact, Margin, Mesh, Pair, Proximity};

/// Half the sum of the thicknesses at the two closest points: the distance at which their surfaces
/// touch.
pub(super) fn thickness_at(vertices: [u32; 4], weights: &[f64; 4], thickness: &[f64]) -> f64 {
    let terms = vertices.iter().zip(weights);
    0.5 * terms
        .map(|(&v, w)| w.abs() * thickness[v as usize])
        .sum::<f64>()
}

/// The vertices of the second feature that take part, ascending, filled up with [`NONE`]: which
/// feature is touched.
type Touched = [u32; 3];

fn touched(vertices: [u32; 4], weights: &[f64; 4]) -> Touched {
    let part = |i: usize| if weights[i] == 0.0 { NONE } else { vertices[i] };
    sorted([part(1), part(2), part(3)])
}

fn sorted(mut vertices: [u32; 3]) -> [u32; 3] {
    vertices.sort_unstable();
    vertices
}

/// Sine of the angle by which a normal may lean towards the surface that it stands on: a hundredth
/// of the impulse then acts along that surface, like a friction of 0.01.
const LEAN: f64 = 1.0e-2;

/// Whether the two surfaces are nearest to each other where an impact at a distance has its points:
/// no vertex next to either touching feature lies on the other one's side (the Voronoi regions of
/// Shi §3, at the time of the impact).
pub(crate) fn is_critical(mesh: &Mesh, impact: &Impact, x0: &[DVec3], x1: &[DVec3]) -> bool {
    let at = |v: u32| x0[v as usize].lerp(x1[v as usize], impact.time);
    let split = if impact.is_vertex_face() { 1 } else { 2 };
    let sides = [(0..split, -impact.normal), (split..4, impact.normal)];
    sides.into_iter().all(|(side, other)| {
        let parts = side.filter(|&i| impact.weights[i] != 0.0);
        let point: DVec3 = parts
            .clone()
            .map(|i| impact.weights[i].abs() * at(impact.vertices[i]))
            .sum();
        let is_behind = |way: DVec3| way.dot(other) <= LEAN * way.length();
        let mut corners = parts.map(|i| impact.vertices[i]);
        match (corners.next(), corners.next(), corners.next()) {
            (Some(corner), None, _) => mesh.neighbours(corner).all(|v| is_behind(at(v) - point)),
            (Some(a), Some(b), None) => {
                let along = (at(b) - at(a)).normalize_or_zero();
                let faces = mesh.faces_of_vertex(a).iter();
                let faces = faces.map(|&face| mesh.faces()[face as usize]);
                let mut around = faces.filter(|face| face.contains(&b)).flatten();
                around.all(|v| {
                    v == a || v == b || is_behind((at(v) - point).reject_from_normalized(along))
                })
            }
            _ => true, // inside a face
        }
    })
}

/// Turns near pairs into proximities: each touching feature once, thresholds clamped; by pair.
///
/// `near` holds vertex-face pairs, and of the edge-edge pairs those that are closest inside both
/// edges.
pub(super) fn select(
    mesh: &Mesh,
    mut near: Vec<(Pair, Closest)>,
    x: &[DVec3],
    margin: &Margin<'_>,
    start: Option<&[DVec3]>,
) -> Vec<Proximity> {
    near.par_sort_unstable_by_key(|(pair, _)| *pair);
    let same_vertex = |a: &(Pair, Closest), b: &(Pair, Closest)| match (a.0, b.0) {
        (Pair::VertexFace { vertex: v, .. }, Pair::VertexFace { vertex: w, .. }) => v == w,
        _ => false,
    };
    let groups: Vec<&[(Pair, Closest)]> = near.chunk_by(same_vertex).collect();
    let critical: Vec<(Pair, Closest)> = groups
        .into_par_iter()
        .flat_map_iter(|group| critical(mesh, group))
        .collect();
    // of two corners each has to be the other's nearest; then one of the two proximities is enough
    let corners = |(pair, closest): &(Pair, Closest)| {
        let vertices = mesh.vertices_of(*pair);
        let [corner, second, _] = touched(vertices, &closest.weights);
        let is_corner = matches!(pair, Pair::VertexFace { .. }) && second == NONE;
        is_corner.then_some([vertices[0], corner])
    };
    let mut seen: Vec<[u32; 2]> = critical.iter().filter_map(corners).collect();
    seen.sort_unstable();
    critical
        .into_par_iter()
        .filter(|near| {
            corners(near).is_none_or(|[v, w]| v < w && seen.binary_search(&[w, v]).is_ok())
        })
        .filter_map(|(pair, closest)| {
            let vertices = mesh.vertices_of(pair);
            let gap = closest.distance_squared.sqrt();
            let threshold = threshold(mesh, vertices, &closest.weights, margin, start);
            (gap < threshold).then(|| Proximity {
                pair,
                vertices,
                weights: closest.weights,
                normal: closest.normal(pair, at(x, vertices)),
                gap,
                threshold,
            })
        })
        .collect()
}

/// Of the faces near one vertex, those whose closest feature is theirs alone, or theirs first, with
/// no other face around that feature coming nearer.
fn critical(mesh: &Mesh, group: &[(Pair, Closest)]) -> Vec<(Pair, Closest)> {
    if let [crossing @ (Pair::EdgeEdge { .. }, _)] = group {
        return vec![*crossing];
    }
    let own =
        |(pair, closest): &(Pair, Closest)| touched(mesh.vertices_of(*pair), &closest.weights);
    // of all faces around the touched edge or corner the nearest, among equals one that touches
    // there, the first of them
    let is_critical = |face: usize| {
        let part = own(&group[face]);
        let distance = group[face].1.distance_squared;
        let is_first = |(other, near): (usize, &(Pair, Closest))| {
            let [_, corners @ ..] = mesh.vertices_of(near.0);
            let is_around = part.iter().all(|v| *v == NONE || corners.contains(v));
            let by_distance = distance.total_cmp(&near.1.distance_squared);
            let order = by_distance.then_with(|| (false, face).cmp(&(own(near) != part, other)));
            !is_around || order.is_le()
        };
        let is_inside = part[2] != NONE; // no other face has this point
        is_inside || group.iter().enumerate().all(is_first)
    };
    (0..group.len())
        .filter(|&face| is_critical(face))
        .map(|face| group[face])
        .collect()
}

fn threshold(
    mesh: &Mesh,
    vertices: [u32; 4],
    weights: &[f64; 4],
    margin: &Margin<'_>,
    start: Option<&[DVec3]>,
) -> f64 {
    let thickness = thickness_at(vertices, weights, margin.thickness);
    let same_body = mesh.body_of_vertex(vertices[0]) == mesh.body_of_vertex(vertices[3]);
    let mut threshold = thickness;
    if same_body {
        threshold = threshold.min(0.5 * distance(vertices, weights, margin.rest));
    }
    if let Some(start) = start {
        threshold = threshold.min(distance(vertices, weights, start));
    }
    threshold
}

/// Distance of the two features that take part (those with weights), at other positions.
fn distance(vertices: [u32; 4], weights: &[f64; 4], x: &[DVec3]) -> f64 {
    let x = at(x, vertices);
    let is_edge_edge = weights[1] > 0.0;
    let mut parts = (1..4).filter(|&i| weights[i] != 0.0).map(|i| x[i]);
    let squared = match (is_edge_edge, parts.next(), parts.next(), parts.next()) {
        (true, ..) => closest_points_edge_edge(x).distance_squared,
        (false, Some(a), None, _) => (x[0] - a).length_squared(),
        (false, Some(a), Some(b), None) => closest_points_vertex_edge(x[0], a, b).distance_squared,
        _ => closest_points_vertex_face(x).distance_squared,
    };
    squared.sqrt()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use std::sync::Arc;

    use crate::geometry::{Body, BodyKind, Collider, Motion};
    use crate::oracle::position;

    /// Proximities of bodies without rest distances between them, as (first feature, second
    /// feature).
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

    /// A fan of four faces around vertex 0 at the origin, raised there by `ridge`, and a face whose
    /// corner 5 hangs at `tip`.
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

    /// How near the faces around either touching feature come to the other's point, in units of the
    /// gap: 1 if they do not come nearer than the feature itself.
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
                // between two neighbours of a corner the lean is at most twice that of either, at
                // angles up to 120°
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
        // a corner beside a corner, 0.25 apart; at rest 0.6 from that corner, but near another part
        // of its face
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
            .flat_map(|i| {
                [[i, i + 1, i + n], [i + 1, i + n + 1, i + n]].map(|f| f.map(|v| v as u32))
            })
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

    /// The definition without a tree: a vertex and any feature whose closest point lies inside it
    /// and than which no face around it comes nearer; and crossing edges.
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
                let closest =
                    closest_points_edge_edge([a[0], a[1], b[0], b[1]].map(|v| x[v as usize]));
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
}
