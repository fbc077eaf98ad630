//! Tangles: which faces may pass each other while an intersection is being resolved.
//!
//! A tangle is an intersection with two sets of faces, A and B: what lies on its paths, inside of them, and a few rings around.
//! Between A and B nothing is prevented, so that what has come through can go back; everywhere else nothing may meet.
//! Sets instead of single pairs, since a contour slides to neighbouring faces as soon as something moves.

use super::{Analysis, End};
use crate::geometry::Mesh;

/// An intersection and the faces that may pass each other because of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tangle {
    /// The intersection, by number.
    pub contour: u32,
    /// Faces of the first path, ascending; where the path is its own partner, of its first half.
    pub a: Vec<u32>,
    /// Faces of its partner, or of its second half.
    pub b: Vec<u32>,
}

/// The tangles of all intersections, in their order, with `rings` rings of faces around paths and inside regions.
///
/// A contour of two separate paths that are their own partners (BLLB) is two tangles.
pub fn tangles(mesh: &Mesh, analysis: &Analysis, rings: u32) -> Vec<Tangle> {
    let mut grower = Grower {
        mesh,
        is_in: vec![false; mesh.faces().len()],
    };
    let mut found = Vec::new();
    for (number, contour) in (0u32..).zip(&analysis.contours) {
        for path in contour.paths.clone() {
            let partner = analysis.paths[path as usize].partner;
            if partner < path {
                continue;
            }
            let [a, b] = match partner == path {
                true => grower.halves(analysis, path, rings),
                false => [path, partner].map(|p| grower.grown(core(mesh, analysis, p), rings)),
            };
            found.push(Tangle {
                contour: number,
                a,
                b,
            });
        }
    }
    found
}

/// Faces on a path and at its inside vertices, in no order.
fn core(mesh: &Mesh, analysis: &Analysis, path: u32) -> Vec<u32> {
    let path = &analysis.paths[path as usize];
    let mut faces = path.faces.clone();
    for &v in path.inside.vertices() {
        faces.extend(mesh.faces_of_vertex(v));
    }
    for point in &path.points {
        if let End::Loop(v) = *point {
            faces.extend(mesh.faces_of_vertex(v));
        }
    }
    faces
}

/// Faces whose distances from the two halves of a path differ by no more than so many rings belong to both: near the loop vertex there is
/// one sheet, not two.
const BOTH: u32 = 2;

struct Grower<'a> {
    mesh: &'a Mesh,
    is_in: Vec<bool>,
}

impl Grower<'_> {
    /// The two sets of a path that is its own partner: each face belongs to the half of the path that is nearer, in rings, or to both.
    fn halves(&mut self, analysis: &Analysis, path: u32, rings: u32) -> [Vec<u32>; 2] {
        let all = self.grown(core(self.mesh, analysis, path), rings);
        let faces = &analysis.paths[path as usize].faces;
        let (first, second) = faces.split_at(faces.len() / 2);
        let [own, other] = [first, second].map(|half| self.rings_from(half, &all));
        let pick = |own: &[u32], other: &[u32]| -> Vec<u32> {
            let mut of_face = all.iter().zip(own.iter().zip(other));
            of_face
                .by_ref()
                .filter(|(_, (own, other))| **own <= **other + BOTH)
                .map(|(f, _)| *f)
                .collect()
        };
        [pick(&own, &other), pick(&other, &own)]
    }

    /// Rings from some faces to each of a set, ascending.
    fn rings_from(&self, from: &[u32], all: &[u32]) -> Vec<u32> {
        let mut rings = vec![u32::MAX / 2; all.len()];
        let mut queue = std::collections::VecDeque::new();
        for f in from {
            if let Ok(k) = all.binary_search(f) {
                rings[k] = 0;
                queue.push_back(k);
            }
        }
        while let Some(k) = queue.pop_front() {
            for v in self.mesh.faces()[all[k] as usize] {
                for g in self.mesh.faces_of_vertex(v) {
                    if let Ok(next) = all.binary_search(g)
                        && rings[next] > rings[k] + 1
                    {
                        rings[next] = rings[k] + 1;
                        queue.push_back(next);
                    }
                }
            }
        }
        rings
    }

    /// The faces and those around them, ring by ring, ascending.
    fn grown(&mut self, mut faces: Vec<u32>, rings: u32) -> Vec<u32> {
        faces.sort_unstable();
        faces.dedup();
        for &f in &faces {
            self.is_in[f as usize] = true;
        }
        let mut front = 0..faces.len();
        for _ in 0..rings {
            for k in front.clone() {
                for v in self.mesh.faces()[faces[k] as usize] {
                    for &g in self.mesh.faces_of_vertex(v) {
                        if !self.is_in[g as usize] {
                            self.is_in[g as usize] = true;
                            faces.push(g);
                        }
                    }
                }
            }
            front = front.end..faces.len();
        }
        for &f in &faces {
            self.is_in[f as usize] = false;
        }
        faces.sort_unstable();
        faces
    }
}

/// Answers which faces may pass each other.
#[derive(Clone, Debug, Default)]
pub struct Permitted {
    /// For each face its memberships, ascending: twice the tangle's number, plus one for B.
    memberships: Vec<Vec<u32>>,
}

impl Permitted {
    /// By these tangles.
    pub fn new(mesh: &Mesh, tangles: &[Tangle]) -> Self {
        let mut memberships = vec![Vec::new(); mesh.faces().len()];
        for (number, tangle) in (0u32..).zip(tangles) {
            for (side, faces) in [(0, &tangle.a), (1, &tangle.b)] {
                for &f in faces {
                    memberships[f as usize].push(2 * number + side);
                }
            }
        }
        Self { memberships }
    }

    /// Whether one of the faces is in A and the other in B of some tangle.
    pub fn faces(&self, f: u32, g: u32) -> bool {
        let other = &self.memberships[g as usize];
        let mut own = self.memberships[f as usize].iter();
        own.any(|m| other.binary_search(&(m ^ 1)).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Rest, analyse};
    use super::*;
    use crate::scene::tangles::of_type;

    #[test]
    fn every_crossing_pair_of_faces_is_permitted_and_far_ones_are_not() {
        for name in crate::scene::tangles::TYPES {
            let t = of_type(name, 8).unwrap();
            let mesh = Mesh::new(t.positions.len(), t.faces).unwrap();
            let analysis = analyse(&mesh, &t.positions, Rest::Parameters(&t.uv)).unwrap();
            for rings in [0, 2] {
                let tangles = tangles(&mesh, &analysis, rings);
                let permitted = Permitted::new(&mesh, &tangles);
                for s in &analysis.segments.segments {
                    assert!(permitted.faces(s.faces[0], s.faces[1]), "{name}");
                    assert!(permitted.faces(s.faces[1], s.faces[0]), "{name}");
                }
            }
            let none = Permitted::new(&mesh, &[]);
            assert!(!none.faces(0, 1));
        }
    }
}
