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

/// Rounds in which a normal that leans is put upright.
const UPRIGHT: u32 = 4;

/// Cosine of the angle by which it may turn.
const SAME_SIDE: f64 = 0.5;

/// Whether the two surfaces are nearest to each other where an impact at a distance has its points:
/// no vertex next to either touching feature lies on the other one's side (the Voronoi regions of
/// Shi §3, at the time of the impact).
pub(crate) fn is_critical(mesh: &Mesh, impact: &Impact, x0: &[DVec3], x1: &[DVec3]) -> bool {
    let at = |v: u32| x0[v as usize].lerp(x1[v as usize], impact.time);
    let mut ways = ways(mesh, impact.pair, &impact.weights, at);
    ways.all(|way| way.dot(impact.normal) <= LEAN)
}

/// The normal of two points of a pair, turned until no vertex next to either touching feature lies on the other one's side; none
/// if that is not found near it. Vertices are `at` some places.
pub(crate) fn upright(
    mesh: &Mesh,
    pair: Pair,
    weights: &[f64; 4],
    normal: DVec3,
    at: impl Fn(u32) -> DVec3,
) -> Option<DVec3> {
    let ways: Vec<DVec3> = ways(mesh, pair, weights, at).collect();
    let leans = |way: &DVec3, normal: DVec3| way.dot(normal) > LEAN;
    let mut upright = normal;
    for _ in 0..UPRIGHT {
        if !ways.iter().any(|way| leans(way, upright)) {
            return (upright.dot(normal) > SAME_SIDE).then_some(upright);
        }
        for way in &ways {
            if leans(way, upright) {
                upright = upright.reject_from_normalized(*way).normalize_or_zero();
            }
        }
    }
    None
}

/// Unit vectors from the points of a pair along their surfaces to what is next to the features that touch; those of the first
/// point reversed, so that a normal between nearest points has a positive product with none.
fn ways(
    mesh: &Mesh,
    pair: Pair,
    weights: &[f64; 4],
    at: impl Fn(u32) -> DVec3,
) -> impl Iterator<Item = DVec3> {
    let vertices = mesh.vertices_of(pair);
    let split = match pair {
        Pair::VertexFace { .. } => 1,
        Pair::EdgeEdge { .. } => 2,
    };
    let weights = *weights;
    [(0..split, -1.0), (split..4, 1.0)]
        .into_iter()
        .flat_map(move |(side, sign)| {
            let parts = side.filter(|&i| weights[i] != 0.0);
            let point: DVec3 = parts
                .clone()
                .map(|i| weights[i].abs() * at(vertices[i]))
                .sum();
            let mut corners = parts.map(|i| vertices[i]);
            let ways: Vec<DVec3> = match (corners.next(), corners.next(), corners.next()) {
                (Some(corner), None, _) => mesh.neighbours(corner).map(|v| at(v) - point).collect(),
                (Some(a), Some(b), None) => {
                    let along = (at(b) - at(a)).normalize_or_zero();
                    let faces = mesh.faces_of_vertex(a).iter();
                    let faces = faces.map(|&face| mesh.faces()[face as usize]);
                    let around = faces.filter(|face| face.contains(&b)).flatten();
                    let around = around.filter(|&v| v != a && v != b);
                    around
                        .map(|v| (at(v) - point).reject_from_normalized(along))
                        .collect()
                }
                _ => Vec::new(), // inside a face
            };
            ways.into_iter()
                .map(move |way| sign * way.normalize_or_zero())
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

/// The distance below which a pair with these closest points counts as near.
pub(super) fn threshold(
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
mod tests;
