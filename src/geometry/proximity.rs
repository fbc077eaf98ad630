//! Closest points of two features, and features nearer than a threshold.
//!
//! Vertex-face has three cases (face, edge, corner), edge-edge three more (crossing, end-to-edge, end-to-end), as in
//! Shi §3; which one applies shows in the weights that are zero. The distance is the least over *all* cases, each
//! evaluated at a point that the feature really has: parallel edges and faces without area need no special treatment,
//! and a badly conditioned case can only be beaten by a better one.

use glam::DVec3;
use rayon::prelude::*;

use super::mesh::NONE;
use super::{ContactPoint, Margin, Mesh, Pair};

/// Closest points of the two features of a pair, at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Closest {
    /// Signed weights as in [`super::Impact`]; zero, not nearly zero, for vertices that take no part.
    pub weights: [f64; 4],
    /// Squared distance, in m².
    pub distance_squared: f64,
}

/// Two features nearer than their threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Proximity {
    /// The pair; of several pairs that show the same two touching features, the first.
    pub pair: Pair,
    /// Its four vertices, in the order of [`super::Sweep`].
    pub vertices: [u32; 4],
    /// Signed weights as in [`super::Impact`].
    pub weights: [f64; 4],
    /// Unit vector from the second feature's point to the first feature's.
    pub normal: DVec3,
    /// Distance of the two points, in metres.
    pub gap: f64,
    /// The distance below which the pair counts as near, in metres; above `gap`.
    pub threshold: f64,
}

impl Proximity {
    /// The part that a response needs.
    pub fn point(&self) -> ContactPoint {
        ContactPoint {
            vertices: self.vertices,
            weights: self.weights,
            normal: self.normal,
        }
    }
}

/// Closest points of vertex `x[0]` and face `x[1..4]`.
pub fn closest_points_vertex_face(x: [DVec3; 4]) -> Closest {
    let [p, a, b, c] = x;
    let mut best = closest_points_vertex_edge(p, a, b).spread([0, 1, 2]);
    best = best.nearer(closest_points_vertex_edge(p, b, c).spread([0, 2, 3]));
    best = best.nearer(closest_points_vertex_edge(p, c, a).spread([0, 3, 1]));

    // barycentric coordinates of the foot: areas of the three parts, seen along the normal
    let n = (b - a).cross(c - a);
    let (pa, pb, pc) = (a - p, b - p, c - p);
    let parts = [
        n.dot(pb.cross(pc)),
        n.dot(pc.cross(pa)),
        n.dot(pa.cross(pb)),
    ];
    if parts.iter().all(|&part| part > 0.0) {
        let sum = parts[0] + parts[1] + parts[2];
        let [u, v, w] = parts.map(|part| part / sum);
        if u > 0.0 && v > 0.0 && w > 0.0 {
            best = best.nearer(Closest {
                weights: [1.0, -u, -v, -w],
                distance_squared: (u * pa + v * pb + w * pc).length_squared(),
            });
        }
    }
    best
}

/// Closest points of edges `x[0..2]` and `x[2..4]`.
pub fn closest_points_edge_edge(x: [DVec3; 4]) -> Closest {
    let [a0, a1, b0, b1] = x;
    let mut best = closest_points_vertex_edge(a0, b0, b1).spread([0, 2, 3]);
    best = best.nearer(closest_points_vertex_edge(a1, b0, b1).spread([1, 2, 3]));
    best = best.nearer(
        closest_points_vertex_edge(b0, a0, a1)
            .turned()
            .spread([2, 0, 1]),
    );
    best = best.nearer(
        closest_points_vertex_edge(b1, a0, a1)
            .turned()
            .spread([3, 0, 1]),
    );

    // feet of the common perpendicular n: a0 + s d, b0 + u e
    let (d, e, r) = (a1 - a0, b1 - b0, b0 - a0);
    let n = d.cross(e);
    let area = n.length_squared();
    let (s, u) = (n.dot(r.cross(e)), n.dot(r.cross(d)));
    if 0.0 < s && s < area && 0.0 < u && u < area {
        let (s, u) = (s / area, u / area);
        let weights = [1.0 - s, s, -(1.0 - u), -u];
        if weights.iter().all(|&w| w != 0.0) {
            best = best.nearer(Closest {
                weights,
                distance_squared: (s * d - r - u * e).length_squared(),
            });
        }
    }
    best
}

/// Three weights and a squared distance: a vertex and an edge.
struct ClosestOnEdge {
    weights: [f64; 3],
    distance_squared: f64,
}

/// Closest points of vertex `p` and edge a b; bit-identical weights and distance for edge b a.
fn closest_points_vertex_edge(p: DVec3, a: DVec3, b: DVec3) -> ClosestOnEdge {
    // the order of the ends is that of their coordinates, so that the faces around an edge agree on its distance
    if b.to_array() < a.to_array() {
        let ClosestOnEdge {
            weights: [p, a, b],
            distance_squared,
        } = closest_points_vertex_edge(p, b, a);
        return ClosestOnEdge {
            weights: [p, b, a],
            distance_squared,
        };
    }
    let (d, r) = (b - a, p - a);
    let (along, length_squared) = (r.dot(d), d.length_squared());
    let end = |weights, from: DVec3| ClosestOnEdge {
        weights,
        distance_squared: (p - from).length_squared(),
    };
    let t = along / length_squared;
    if along <= 0.0 || t <= 0.0 {
        end([1.0, -1.0, 0.0], a)
    } else if along >= length_squared || t >= 1.0 {
        end([1.0, 0.0, -1.0], b)
    } else {
        ClosestOnEdge {
            weights: [1.0, -(1.0 - t), -t],
            distance_squared: (r - t * d).length_squared(),
        }
    }
}

impl ClosestOnEdge {
    /// With the edge as the first feature.
    fn turned(self) -> Self {
        Self {
            weights: self.weights.map(|w| 0.0 - w), // keeps zeros positive
            ..self
        }
    }

    /// As part of a pair: `places` of the vertex and of the edge's ends among the four.
    fn spread(self, places: [usize; 3]) -> Closest {
        let mut weights = [0.0; 4];
        for (place, w) in places.into_iter().zip(self.weights) {
            weights[place] = w;
        }
        Closest {
            weights,
            distance_squared: self.distance_squared,
        }
    }
}

impl Closest {
    fn nearer(self, other: Self) -> Self {
        if other.distance_squared < self.distance_squared {
            other
        } else {
            self
        }
    }

    /// Closest points of a pair's four vertices.
    pub fn of(pair: Pair, x: [DVec3; 4]) -> Self {
        match pair {
            Pair::VertexFace { .. } => closest_points_vertex_face(x),
            Pair::EdgeEdge { .. } => closest_points_edge_edge(x),
        }
    }

    /// Unit vector from the second feature's point to the first's.
    ///
    /// Where the points coincide, the face's normal or the edges' common perpendicular; where that vanishes too, any.
    pub fn normal(&self, pair: Pair, x: [DVec3; 4]) -> DVec3 {
        let terms = x.iter().zip(self.weights);
        let across: DVec3 = terms.map(|(&p, w)| w * (p - x[2])).sum(); // the weights sum to 0
        let [a, b, c, d] = x;
        let plane = match pair {
            Pair::VertexFace { .. } => (c - b).cross(d - b),
            Pair::EdgeEdge { .. } => (b - a).cross(d - c),
        };
        across
            .try_normalize()
            .or(plane.try_normalize())
            .unwrap_or(DVec3::Y)
    }
}

/// Half the sum of the thicknesses at the two closest points: the distance at which their surfaces touch.
pub(super) fn thickness_at(vertices: [u32; 4], weights: &[f64; 4], thickness: &[f64]) -> f64 {
    let terms = vertices.iter().zip(weights);
    0.5 * terms
        .map(|(&v, w)| w.abs() * thickness[v as usize])
        .sum::<f64>()
}

/// The vertices of the second feature that take part, ascending, filled up with [`NONE`]: which feature is touched.
type Touched = [u32; 3];

fn touched(vertices: [u32; 4], weights: &[f64; 4]) -> Touched {
    let part = |i: usize| if weights[i] == 0.0 { NONE } else { vertices[i] };
    let mut touched = [part(1), part(2), part(3)];
    touched.sort_unstable();
    touched
}

/// Turns near pairs into proximities: each touching feature once, thresholds clamped; by pair.
///
/// `near` holds vertex-face pairs, and of the edge-edge pairs those that are closest inside both edges.
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
    groups
        .into_par_iter()
        .flat_map_iter(|group| critical(mesh, group))
        .filter_map(|(pair, closest)| {
            let vertices = mesh.vertices_of(pair);
            let gap = closest.distance_squared.sqrt();
            let threshold = threshold(mesh, vertices, &closest.weights, margin, start);
            (gap < threshold).then(|| Proximity {
                pair,
                vertices,
                weights: closest.weights,
                normal: closest.normal(pair, vertices.map(|v| x[v as usize])),
                gap,
                threshold,
            })
        })
        .collect()
}

/// Of the faces near one vertex, those whose closest feature no other of them also has, or has a nearer point than.
fn critical<'a>(
    mesh: &Mesh,
    group: &'a [(Pair, Closest)],
) -> impl Iterator<Item = (Pair, Closest)> + use<'a> {
    // the nearest that any face with a certain edge or corner comes, and the first face that does
    let mut nearest: Vec<(Touched, f64, usize)> = Vec::with_capacity(6 * group.len());
    for (k, (pair, closest)) in group.iter().enumerate() {
        if matches!(pair, Pair::EdgeEdge { .. }) {
            break;
        }
        let [_, mut a, mut b, mut c] = mesh.vertices_of(*pair);
        if a > b {
            std::mem::swap(&mut a, &mut b);
        }
        if b > c {
            std::mem::swap(&mut b, &mut c);
        }
        if a > b {
            std::mem::swap(&mut a, &mut b);
        }
        let parts = [
            [a, NONE, NONE],
            [b, NONE, NONE],
            [c, NONE, NONE],
            [a, b, NONE],
            [a, c, NONE],
            [b, c, NONE],
        ];
        nearest.extend(parts.map(|part| (part, closest.distance_squared, k)));
    }
    nearest.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)));
    nearest.dedup_by_key(|entry| entry.0);
    let vertices: Vec<[u32; 4]> = group
        .iter()
        .map(|(pair, _)| mesh.vertices_of(*pair))
        .collect();
    group
        .iter()
        .enumerate()
        .filter(move |(k, (pair, closest))| {
            let touched = touched(vertices[*k], &closest.weights);
            if matches!(pair, Pair::EdgeEdge { .. }) || touched[2] != NONE {
                return true; // a crossing, or the inside of a face: no other pair has it
            }
            let found = nearest.binary_search_by(|entry| entry.0.cmp(&touched));
            let (_, _, first) = nearest[found.expect("parts of the own face are listed")];
            first == *k
        })
        .map(|(_, near)| *near)
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
    let x = vertices.map(|v| x[v as usize]);
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
