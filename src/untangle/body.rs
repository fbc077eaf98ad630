//! Out of a body: where cloth ought to go that has come into something scripted.
//!
//! A body has an inside of its own and cannot give way, so nothing has to be guessed: cloth vertices
//! behind the surface, or too near to it, are pulled to the closest point of it and a little beyond
//! (\[BWK03\] for the closest points). Behind is where the normal of what is closest points away: of a
//! face its own, of an edge the sum of both, of a corner the sum weighted by angles (\[BA05\]). Where
//! faces and edges of the body pass the cloth between its vertices, these points of the cloth are
//! pulled the same way, and so are its edges where they cut off sharp edges of the body; where a
//! corner of it sticks out through the cloth, what is closest to it is pulled over it.
//!
//! Bodies face outwards, floors up. What is closest to a border of an open surface is left alone: it
//! has no side. Bodies thinner than the cloth is deep are left by the wrong side.

use glam::DVec3;

use super::Analysis;
use super::pulls::{Point, Pull};
use super::segments::Segments;
use crate::geometry::{Closest, Mesh, Pair, Tangle};

/// How far beyond the surface a pull ends, in mean edges of the cloth, if its thickness is less.
const CLEARANCE: f64 = 0.02;

/// The same in addition where an edge or a corner of the body sticks out through the cloth: a face of
/// cloth is lifted over it against all that hangs on it.
const LIFT: f64 = 0.1;

/// A pull that only keeps an edge away counts this share of one from a vertex: there are many.
const NEAR_WEIGHT: f64 = 0.25;

/// Cloth that has cut off an edge of a body is looked for within so many mean edges of the cloth.
const REACH: f64 = 1.0;

/// An edge of a body is sharp if the normals on either side of it differ by more than that of this
/// cosine: cloth between its vertices can cut off no more than a sliver of others.
const SHARP: f64 = 0.9;

/// Faces of one plane have normals whose cosine is above this.
const SAME: f64 = 0.99;

/// A pull from a point on a path counts this share of one from a vertex.
const PATH_WEIGHT: f64 = 0.5;

/// Whether an intersection is one of cloth with a body.
pub(crate) fn is_of_body(mesh: &Mesh, analysis: &Analysis, contour: u32) -> bool {
    let mut paths = analysis.contours[contour as usize].paths.clone();
    paths.any(|path| is_body(mesh, analysis.paths[path as usize].faces[0]))
}

fn is_body(mesh: &Mesh, face: u32) -> bool {
    mesh.is_obstacle(mesh.faces()[face as usize][0])
}

/// What pulls the cloth of a tangle out of a body, and the mean edge of that cloth, in metres; none if
/// there is no body in it. `thickness` is that of each vertex, in metres.
pub(crate) fn push_out(
    mesh: &Mesh,
    x: &[DVec3],
    thickness: &[f64],
    analysis: &Analysis,
    tangle: &Tangle,
) -> Option<(Vec<Pull>, f64)> {
    let body = (0..2).find(|&k| tangle.sides[k].first().is_some_and(|&f| is_body(mesh, f)))?;
    let behind = corners_within(mesh, &tangle.inside[body]);
    let (cloth, body) = (&tangle.sides[1 - body], &tangle.sides[body]);
    let edge = mean_edge(mesh, x, cloth);
    let thick = (cloth.iter().flat_map(|&f| mesh.faces()[f as usize]))
        .map(|v| 1.5 * thickness[v as usize])
        .fold(0.0, f64::max);
    let mut push = Push {
        mesh,
        x,
        found: &analysis.segments,
        cloth,
        body,
        clearance: thick.max(CLEARANCE * edge),
        lift: LIFT * edge,
        reach: REACH * edge,
        pulls: Vec::new(),
    };
    push.vertices();
    push.cut_edges();
    push.corners(behind);
    push.along_paths();
    Some((push.pulls, edge))
}

/// The pulls of one tangle.
struct Push<'a> {
    mesh: &'a Mesh,
    x: &'a [DVec3],
    found: &'a Segments,
    /// Faces, ascending, and those of the body.
    cloth: &'a [u32],
    body: &'a [u32],
    /// In metres, as the next two.
    clearance: f64,
    lift: f64,
    reach: f64,
    pulls: Vec<Pull>,
}

impl Push<'_> {
    fn pull(&mut self, from: Point, to: Point, wanted: DVec3, weight: f64) {
        self.pulls.push(Pull {
            from,
            to: Some(to),
            wanted,
            weight,
            contour: 0,
        });
    }

    /// Vertices of the cloth that are behind the surface, or too near to it.
    fn vertices(&mut self) {
        let (mesh, x) = (self.mesh, self.x);
        let corners = self.cloth.iter().flat_map(|&f| mesh.faces()[f as usize]);
        let mut vertices: Vec<u32> = corners.collect();
        vertices.sort_unstable();
        vertices.dedup();
        for vertex in vertices {
            let p = x[vertex as usize];
            let Some((to, normal)) = nearest(mesh, x, p, self.body) else {
                continue;
            };
            if (p - to.position(x)).dot(normal) < self.clearance {
                self.pull(Point::vertex(vertex), to, self.clearance * normal, 1.0);
            }
        }
    }

    /// Edges of the cloth that cut off a sharp edge of the body, or are about to.
    fn cut_edges(&mut self) {
        let (mesh, x) = (self.mesh, self.x);
        let sharp = sharp_edges(mesh, x, self.body);
        for edge in edges_of(mesh, self.cloth) {
            let pierced = self.pierced_by(edge);
            let ends = mesh.edges()[edge as usize];
            let [p, q] = ends.map(|v| x[v as usize]);
            for &(other, normals) in &sharp {
                let sides = mesh.edges()[other as usize];
                let [a, b] = sides.map(|v| x[v as usize]);
                let pair = Pair::EdgeEdge { a: 0, b: 1 };
                let closest = Closest::of(pair, [p, q, a, b]);
                let [_, s, _, t] = closest.weights;
                let is_far = closest.distance_squared > self.reach * self.reach;
                if closest.weights.contains(&0.0) || is_far {
                    continue; // a vertex is nearer, or nothing is near
                }
                let (from, to) = (Point::edge(ends, s), Point::edge(sides, -t));
                let normal = (normals[0] + normals[1]).normalize_or_zero();
                let above = (from.position(x) - to.position(x)).dot(normal);
                let is_pierced = |m: &DVec3| pierced.iter().any(|n| m.dot(*n) > SAME);
                if above < 0.0 && normals.iter().all(is_pierced) {
                    self.pull(from, to, (self.clearance + self.lift) * normal, 1.0);
                } else if (0.0..self.clearance).contains(&above) {
                    self.pull(from, to, self.clearance * normal, NEAR_WEIGHT);
                }
            }
        }
    }

    /// Normals of the faces of the body that an edge goes through.
    fn pierced_by(&self, edge: u32) -> Vec<DVec3> {
        // crossings ascend by edge
        let crossings = &self.found.crossings;
        let first = crossings.partition_point(|c| c.edge < edge);
        let own = crossings[first..].iter().take_while(|c| c.edge == edge);
        own.filter(|c| is_in(self.body, c.face))
            .map(|c| unit_normal(self.mesh, self.x, c.face))
            .collect()
    }

    /// Corners of the body that have come through the cloth between its vertices.
    fn corners(&mut self, behind: Vec<u32>) {
        let (mesh, x) = (self.mesh, self.x);
        for vertex in behind {
            let of_body = at_corner(mesh, x, vertex);
            let of_cloth = closest_point(mesh, x, x[vertex as usize], self.cloth);
            if let (Some(normal), Some((from, _))) = (of_body, of_cloth)
                && self.is_behind(from.position(x))
            {
                let wanted = (self.clearance + self.lift) * normal.normalize_or_zero();
                self.pull(from, Point::vertex(vertex), wanted, 1.0);
            }
        }
    }

    fn is_behind(&self, p: DVec3) -> bool {
        let nearest = nearest(self.mesh, self.x, p, self.body);
        nearest.is_some_and(|(to, normal)| (p - to.position(self.x)).dot(normal) < 0.0)
    }

    /// Points of the paths.
    fn along_paths(&mut self) {
        let (mesh, x, found) = (self.mesh, self.x, self.found);
        for (crossing, location) in found.crossings.iter().zip(&found.locations) {
            let ends = mesh.edges()[crossing.edge as usize];
            let corners = mesh.faces()[crossing.face as usize];
            let of_face = Point::face(corners, location.weights);
            let of_edge = Point::edge(ends, location.along_edge);
            let around = mesh.faces_of_edge(crossing.edge);
            let edge_in = |set: &[u32]| around.iter().any(|&f| is_in(set, f));
            if is_in(self.body, crossing.face) && edge_in(self.cloth) {
                let normal = unit_normal(mesh, x, crossing.face);
                self.pull(of_edge, of_face, self.clearance * normal, PATH_WEIGHT);
            } else if is_in(self.cloth, crossing.face) && edge_in(self.body) {
                let normals = around.iter().map(|&f| unit_normal(mesh, x, f));
                let normal = normals.sum::<DVec3>().normalize_or_zero();
                self.pull(of_face, of_edge, self.clearance * normal, PATH_WEIGHT);
            }
        }
    }
}

/// Whether a face is in an ascending list.
fn is_in(faces: &[u32], face: u32) -> bool {
    faces.binary_search(&face).is_ok()
}

/// Edges of faces, ascending.
fn edges_of(mesh: &Mesh, faces: &[u32]) -> Vec<u32> {
    let mut edges: Vec<u32> = (faces.iter())
        .flat_map(|&face| mesh.face_edges()[face as usize])
        .collect();
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// Convex edges of a body that are not nearly flat, with the unit normals on either side.
fn sharp_edges(mesh: &Mesh, x: &[DVec3], faces: &[u32]) -> Vec<(u32, [DVec3; 2])> {
    let sharp = |edge: u32| {
        let &[f, g] = mesh.faces_of_edge(edge) else {
            return None;
        };
        let [m, n] = [f, g].map(|face| unit_normal(mesh, x, face));
        let ends = mesh.edges()[edge as usize];
        let apex = mesh.faces()[g as usize]
            .into_iter()
            .find(|v| !ends.contains(v))?;
        let beyond = (x[apex as usize] - x[ends[0] as usize]).dot(m);
        (m.dot(n) < SHARP && beyond < 0.0).then_some((edge, [m, n]))
    };
    edges_of(mesh, faces)
        .into_iter()
        .filter_map(sharp)
        .collect()
}

fn mean_edge(mesh: &Mesh, x: &[DVec3], faces: &[u32]) -> f64 {
    let around = |&face: &u32| {
        let [a, b, c] = mesh.faces()[face as usize].map(|v| x[v as usize]);
        a.distance(b) + b.distance(c) + c.distance(a)
    };
    faces.iter().map(around).sum::<f64>() / (3.0 * faces.len() as f64)
}

fn unit_normal(mesh: &Mesh, x: &[DVec3], face: u32) -> DVec3 {
    let [a, b, c] = mesh.faces()[face as usize].map(|v| x[v as usize]);
    (b - a).cross(c - a).normalize_or_zero()
}

/// Vertices with all of their faces in a set, ascending.
fn corners_within(mesh: &Mesh, faces: &[u32]) -> Vec<u32> {
    let mut vertices: Vec<u32> = faces
        .iter()
        .flat_map(|&f| mesh.faces()[f as usize])
        .collect();
    vertices.sort_unstable();
    vertices.dedup();
    vertices.retain(|&v| {
        let mut around = mesh.faces_of_vertex(v).iter();
        around.all(|face| faces.binary_search(face).is_ok())
    });
    vertices
}

/// The point of these faces that is closest to `p`, and its face.
fn closest_point(mesh: &Mesh, x: &[DVec3], p: DVec3, faces: &[u32]) -> Option<(Point, u32)> {
    let closest = |&face: &u32| {
        let corners = mesh.faces()[face as usize];
        let [a, b, c] = corners.map(|v| x[v as usize]);
        let pair = Pair::VertexFace { vertex: 0, face };
        (Closest::of(pair, [p, a, b, c]), face)
    };
    let each = faces.iter().map(closest);
    let (closest, face) =
        each.min_by(|(a, _), (b, _)| a.distance_squared.total_cmp(&b.distance_squared))?;
    let [_, a, b, c] = closest.weights.map(|w| -w);
    let corners = mesh.faces()[face as usize];
    Some((Point::face(corners, DVec3::new(a, b, c)), face))
}

/// The point of these faces that is closest to `p`, and the unit normal of what it lies on; none at a
/// border.
fn nearest(mesh: &Mesh, x: &[DVec3], p: DVec3, faces: &[u32]) -> Option<(Point, DVec3)> {
    let (to, face) = closest_point(mesh, x, p, faces)?;
    let on: Vec<u32> = to.parts().map(|(v, _)| v).collect();
    let normal = match on[..] {
        [v] => at_corner(mesh, x, v)?,
        [a, b] => {
            let is_it = |&&e: &&u32| mesh.edges()[e as usize] == [a.min(b), a.max(b)];
            let edge = *mesh.edges_of_vertex(a).iter().find(is_it)?;
            if mesh.is_boundary(edge) {
                return None;
            }
            let around = mesh.faces_of_edge(edge).iter();
            around.map(|&f| unit_normal(mesh, x, f)).sum::<DVec3>()
        }
        _ => unit_normal(mesh, x, face),
    };
    Some((to, normal.normalize_or_zero()))
}

/// The sum of the normals around a vertex, weighted by the angles there; none at a border.
fn at_corner(mesh: &Mesh, x: &[DVec3], v: u32) -> Option<DVec3> {
    if mesh
        .edges_of_vertex(v)
        .iter()
        .any(|&edge| mesh.is_boundary(edge))
    {
        return None;
    }
    let weighted = |&face: &u32| {
        let corners = mesh.faces()[face as usize];
        let [b, c] = match corners {
            [a, b, c] if a == v => [b, c],
            [a, b, c] if b == v => [c, a],
            [a, b, _] => [a, b],
        };
        let [b, c] = [b, c].map(|w| x[w as usize] - x[v as usize]);
        let angle = libm::atan2(b.cross(c).length(), b.dot(c));
        angle * unit_normal(mesh, x, face)
    };
    Some(mesh.faces_of_vertex(v).iter().map(weighted).sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::shapes::{Cuboid, Shape};

    fn cube() -> (Mesh, Vec<DVec3>) {
        let shape: Shape = toml::from_str("kind = \"box\"\nsize = [2.0, 2.0, 2.0]").unwrap();
        assert!(matches!(shape, Shape::Box(Cuboid { .. })));
        let shape = shape.triangles().unwrap();
        (Mesh::new(shape.x.len(), shape.faces).unwrap(), shape.x)
    }

    #[test]
    fn a_point_in_a_cube_goes_to_the_nearest_face_and_one_outside_is_known_to_be_outside() {
        let (mesh, x) = cube();
        let all: Vec<u32> = (0..mesh.faces().len() as u32).collect();
        let side = |p: DVec3| {
            let (to, normal) = nearest(&mesh, &x, p, &all).unwrap();
            (p - to.position(&x)).dot(normal)
        };
        let (to, normal) = nearest(&mesh, &x, DVec3::new(0.1, 0.9, 0.3), &all).unwrap();
        assert!((normal - DVec3::Y).length() < 1e-12);
        assert!((to.position(&x) - DVec3::new(0.1, 1.0, 0.3)).length() < 1e-12);
        // faces, edges and corners
        for p in [
            [0.3, 0.2, 1.2],
            [1.3, 1.2, 0.1],
            [-1.1, 1.2, 1.3],
            [0.0, -1.01, 0.999],
        ] {
            assert!(side(p.into()) > 0.0, "{p:?}");
        }
        for p in [[0.3, 0.2, 0.8], [0.95, 0.94, 0.1], [-0.9, 0.9, 0.9]] {
            assert!(side(p.into()) < 0.0, "{p:?}");
        }
    }
}
