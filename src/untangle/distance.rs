//! Distances on the surface from one vertex outward.
//!
//! Vertices are settled in the order of their distance; a face with two settled corners hands the
//! distance on to the third by laying the face out in a plane together with the source, which is
//! exact on a flat sheet as long as the straight line stays within the faces it is handed through,
//! and an upper bound of first order elsewhere. Along edges it is Dijkstra's method.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use glam::DVec3;

use super::Rest;
use crate::geometry::Mesh;

/// Share of its radius by which a vertex has to lie within a disc.
///
/// On regular grids many vertices are exactly as far as the end of the path; rounding (about 1e-14
/// of the radius for a hundred faces on the way) must not decide about them.
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

    /// Vertices closer to `centre` than the nearer of two points, from there outward; nothing if
    /// neither can be reached.
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

    /// Settles vertices in the order of their distance until `is_enough`; returns them. Distances
    /// of others are infinite.
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

/// Distance of the third corner of a triangle from a source whose distances to the other two are
/// known.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// n × n cells of unit size in a plane that is turned in space.
    fn sheet(n: u32) -> (Mesh, Vec<DVec3>) {
        let (u, v) = (
            DVec3::new(2.0, 3.0, 6.0) / 7.0,
            DVec3::new(3.0, -6.0, 2.0) / 7.0,
        );
        let mut x = Vec::new();
        let mut faces = Vec::new();
        for i in 0..=n {
            for j in 0..=n {
                x.push(f64::from(i) * u + f64::from(j) * v);
                if i < n && j < n {
                    let a = i * (n + 1) + j;
                    faces.push([a, a + 1, a + n + 2]);
                    faces.push([a, a + n + 2, a + n + 1]);
                }
            }
        }
        (Mesh::new(x.len(), faces).unwrap(), x)
    }

    #[test]
    fn distances_on_a_flat_sheet_are_straight() {
        let (mesh, x) = sheet(12);
        let mut distances = Distances::new(&mesh, &x, Rest::Unknown);
        let settled = distances.settle(6 * 13 + 6, |_| false);
        assert_eq!(settled.len(), x.len());
        for (v, p) in x.iter().enumerate() {
            let straight = p.distance(x[6 * 13 + 6]);
            let found = distances.distance[v];
            // handed on from face to face: a few percent too far where no face sees the source
            // directly
            assert!(
                found > straight - 1e-12 && found < 1.03 * straight + 1e-12,
                "{found} {straight}"
            );
        }
    }

    #[test]
    fn a_disc_ends_at_the_nearer_point_and_leaves_no_trace() {
        let (mesh, x) = sheet(10);
        let mut distances = Distances::new(&mesh, &x, Rest::Unknown);
        let at = |v: u32| ([v, v, v], DVec3::new(1.0, 0.0, 0.0));
        let centre = 5 * 11 + 5;
        // three and two cells away
        for _ in 0..2 {
            let disc = distances
                .disc(centre, [at(centre + 3), at(centre + 2)])
                .unwrap();
            assert_eq!(disc[0], centre);
            assert_eq!(disc.len(), 9, "closer than two: the 3 × 3 vertices around");
        }
        assert!(distances.distance.iter().all(|d| *d == f64::INFINITY));
    }

    #[test]
    fn what_cannot_be_reached_has_no_disc() {
        let mesh = Mesh::new(7, vec![[0, 1, 2], [3, 4, 5]]).unwrap();
        let x: Vec<DVec3> = (0..7)
            .map(|k| DVec3::new(f64::from(k), f64::from(k * k), 0.0))
            .collect();
        let at = |v: u32| ([v, v, v], DVec3::new(1.0, 0.0, 0.0));
        let mut distances = Distances::new(&mesh, &x, Rest::Unknown);
        assert_eq!(distances.disc(0, [at(3), at(4)]), None);
        assert!(distances.disc(0, [at(3), at(2)]).is_some());
    }
}
