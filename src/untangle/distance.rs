//! Distances on the surface from one vertex outward.
//!
//! Vertices are settled in the order of their distance; a face with two settled corners hands the distance on to the third by laying the face out in a
//! plane together with the source, which is exact on a flat sheet as long as the straight line stays within the faces it is handed
//! through, and an upper bound of first order elsewhere. Along edges it is Dijkstra's method.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use glam::DVec3;

use super::Rest;
use crate::geometry::Mesh;

/// Share of its radius by which a vertex has to lie within a disc.
///
/// On regular grids many vertices are exactly as far as the end of the path; rounding (about 1e-14 of the radius for
/// a hundred faces on the way) must not decide about them.
const RIM: f64 = 1e-9;

/// Distances from one vertex at a time; the tables are kept.
pub(super) struct Distances<'a> {
    mesh: &'a Mesh,
    x: &'a [DVec3],
    rest: Rest<'a>,
    distance: Vec<f64>,
    is_settled: Vec<bool>,
}

impl<'a> Distances<'a> {
    pub(super) fn new(mesh: &'a Mesh, x: &'a [DVec3], rest: Rest<'a>) -> Self {
        Self {
            mesh,
            x,
            rest,
            distance: vec![f64::INFINITY; mesh.vertex_count()],
            is_settled: vec![false; mesh.vertex_count()],
        }
    }

    /// Vertices closer to `centre` than the nearer of two points, from there outward; nothing if neither can be reached.
    ///
    /// A point is three vertices with weights.
    pub(super) fn disc(&mut self, centre: u32, points: [([u32; 3], DVec3); 2]) -> Option<Vec<u32>> {
        let settled = self.settle(centre, |reached| {
            points.iter().flat_map(|p| p.0).all(|v| reached[v as usize])
        });
        let radius = points
            .iter()
            .map(|(corners, weights)| {
                let at = |k: usize| {
                    let d = self.distance[corners[k] as usize];
                    if weights[k] == 0.0 {
                        0.0
                    } else {
                        weights[k] * d
                    }
                };
                at(0) + at(1) + at(2)
            })
            .fold(f64::INFINITY, f64::min);
        let disc = settled
            .iter()
            .copied()
            .filter(|&v| self.distance[v as usize] < (1.0 - RIM) * radius)
            .collect();
        for v in settled {
            self.is_settled[v as usize] = false;
            self.distance[v as usize] = f64::INFINITY;
        }
        (radius < f64::INFINITY).then_some(disc)
    }

    /// Settles vertices in the order of their distance until `is_enough`; returns them. Distances of others are infinite.
    fn settle(&mut self, source: u32, is_enough: impl Fn(&[bool]) -> bool) -> Vec<u32> {
        // positive floats are ordered like their bits
        let mut heap = BinaryHeap::from([Reverse((0, source))]);
        let mut touched = vec![source];
        let mut settled = Vec::new();
        self.distance[source as usize] = 0.0;
        while let Some(Reverse((bits, v))) = heap.pop() {
            if self.is_settled[v as usize] || f64::from_bits(bits) > self.distance[v as usize] {
                continue;
            }
            self.is_settled[v as usize] = true;
            settled.push(v);
            if is_enough(&self.is_settled) {
                break;
            }
            for &face in self.mesh.faces_of_vertex(v) {
                for (target, candidate) in self.handed_on(face, v).into_iter().flatten() {
                    if candidate < self.distance[target as usize] {
                        if self.distance[target as usize] == f64::INFINITY {
                            touched.push(target);
                        }
                        self.distance[target as usize] = candidate;
                        heap.push(Reverse((candidate.to_bits(), target)));
                    }
                }
            }
        }
        for v in touched {
            if !self.is_settled[v as usize] {
                self.distance[v as usize] = f64::INFINITY;
            }
        }
        settled
    }

    /// Distances that a face hands on to its corners that are not settled, now that `v` is.
    fn handed_on(&self, face: u32, v: u32) -> [Option<(u32, f64)>; 2] {
        let corners = self.mesh.faces()[face as usize];
        let k = corners
            .iter()
            .position(|&c| c == v)
            .expect("a face at the vertex");
        // lengths of the sides: k joins the corners k and k + 1
        let lengths = self.rest.lengths(self.mesh, self.x, face);
        let (next, previous) = (lengths[k], lengths[(k + 2) % 3]);
        let opposite = lengths[(k + 1) % 3];
        [(1, 2, next, previous), (2, 1, previous, next)].map(|(i, j, to_target, to_other)| {
            let (target, other) = (corners[(k + i) % 3], corners[(k + j) % 3]);
            if self.is_settled[target as usize] {
                return None;
            }
            let along_edge = self.distance[v as usize] + to_target;
            let over_face = self.is_settled[other as usize].then(|| {
                let known = [self.distance[v as usize], self.distance[other as usize]];
                over_face(known, to_other, [to_target, opposite])
            });
            Some((
                target,
                over_face
                    .flatten()
                    .map_or(along_edge, |d| d.min(along_edge)),
            ))
        })
    }
}

/// Distance of the third corner of a triangle from a source whose distances to the other two are known.
///
/// ```text
///        t            a at 0, b at (base, 0); t above with distances `sides` to a and b,
///      ／ ＼           the source s below with distances `known` to them;
///    a ───── b        the answer is |t − s| if the line s t passes between a and b
///      ＼ ／
///        s
/// ```
fn over_face(known: [f64; 2], base: f64, sides: [f64; 2]) -> Option<f64> {
    let foot = |d: [f64; 2]| {
        let along = 0.5 * (base + (d[0] - d[1]) * (d[0] + d[1]) / base);
        (along, (d[0] * d[0] - along * along).max(0.0).sqrt())
    };
    let ((s, depth), (t, height)) = (foot(known), foot(sides));
    let crossing = s + (t - s) * depth / (depth + height);
    let distance = ((t - s) * (t - s) + (depth + height) * (depth + height)).sqrt();
    (crossing >= 0.0 && crossing <= base).then_some(distance)
}
