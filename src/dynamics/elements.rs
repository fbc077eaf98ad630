//! The force elements of all cloths of a mesh, built once from topology, rest shapes and fabrics.

use glam::{DVec2, DVec3};

use super::bend::{self, Hinge};
use super::damping::Dampers;
use super::springs::Spring;
use super::{ClothModel, Fabric};
use crate::geometry::{Body, Mesh};

/// Shape of a cloth without forces: lengths and areas from flat material coordinates, angles from positions.
#[derive(Clone, Debug, PartialEq)]
pub struct RestShape {
    /// Rest position of each vertex of the body, m; the rest angles are those of this shape.
    pub positions: Vec<DVec3>,
    /// Material coordinates (warp, weft) of the corners of each face of the body, m.
    pub material: Vec<[DVec2; 3]>,
}

impl RestShape {
    /// A shape whose every face is at rest as it lies in `positions`.
    ///
    /// Warp runs along the x axis, laid on each face; where a face looks along x (normal within 45° of it), along y.
    pub fn from_positions(mesh: &Mesh, body: &Body, positions: Vec<DVec3>) -> Self {
        let material = mesh.faces()[body.faces.start as usize..body.faces.end as usize]
            .iter()
            .map(|corners| flatten(corners.map(|v| positions[(v - body.vertices.start) as usize])))
            .collect();
        Self {
            positions,
            material,
        }
    }

    /// A shape with material coordinates per vertex of the body (a sheet, a pattern piece without inner seams).
    pub fn from_material(mesh: &Mesh, body: &Body, positions: Vec<DVec3>, uv: &[DVec2]) -> Self {
        let material = mesh.faces()[body.faces.start as usize..body.faces.end as usize]
            .iter()
            .map(|corners| corners.map(|v| uv[(v - body.vertices.start) as usize]))
            .collect();
        Self {
            positions,
            material,
        }
    }
}

/// Lays a triangle into the plane without changing its shape.
fn flatten([a, b, c]: [DVec3; 3]) -> [DVec2; 3] {
    let normal = (b - a).cross(c - a).normalize_or_zero();
    let axis = if normal.x * normal.x > 0.5 {
        DVec3::Y
    } else {
        DVec3::X
    };
    let warp = (axis - normal * normal.dot(axis)).normalize_or_zero();
    let weft = normal.cross(warp);
    [a, b, c].map(|p| DVec2::new((p - a).dot(warp), (p - a).dot(weft)))
}

/// Area of a flat triangle, m².
fn area([a, b, c]: [DVec2; 3]) -> f64 {
    0.5 * (b - a).perp_dot(c - a).abs()
}

/// Elements of all cloths, in mesh order.
#[derive(Clone, Debug, Default)]
pub(super) struct Elements {
    pub(super) springs: Vec<Spring>,
    pub(super) hinges: Vec<Hinge>,
}

impl Elements {
    /// Adds the elements of one cloth and its share of the lumped masses.
    pub(super) fn add_cloth(&mut self, mesh: &Mesh, cloth: &ClothModel, mass: &mut [f64]) {
        let body = &mesh.bodies()[cloth.body];
        let rest = Rest {
            mesh,
            body,
            shape: &cloth.rest,
        };
        let fabric = &cloth.fabric;
        for face in body.faces.clone() {
            let share = fabric.density * area(rest.corners(face)) / 3.0;
            for v in mesh.faces()[face as usize] {
                mass[v as usize] += share;
            }
        }
        for edge in 0..mesh.edges().len() as u32 {
            let faces = mesh.faces_of_edge(edge);
            if !body.faces.contains(&faces[0]) {
                continue;
            }
            self.springs.push(rest.spring(edge, fabric));
            for pair in faces.windows(2) {
                self.hinges
                    .push(rest.hinge(edge, [pair[0], pair[1]], fabric));
            }
        }
    }

    /// Elastic energy, J.
    pub(super) fn energy(&self, x: &[DVec3]) -> f64 {
        let springs: f64 = self.springs.iter().map(|s| s.energy(x)).sum();
        let hinges: f64 = self.hinges.iter().map(|h| h.energy(x)).sum();
        springs + hinges
    }

    /// Adds the elastic forces, in fixed order.
    pub(super) fn add_force(&self, x: &[DVec3], f: &mut [DVec3]) {
        for spring in &self.springs {
            spring.add_force(x, f);
        }
        for hinge in &self.hinges {
            hinge.add_force(x, f);
        }
    }

    /// The damping matrix at `x`, into memory that is used again.
    pub(super) fn dampers(&self, x: &[DVec3], out: &mut Dampers) {
        out.springs.clear();
        out.springs.extend(
            self.springs
                .iter()
                .filter(|s| s.damping > 0.0)
                .map(|s| s.damper(x)),
        );
        out.hinges.clear();
        out.hinges.extend(
            self.hinges
                .iter()
                .filter(|h| h.damping > 0.0)
                .map(|h| h.damper(x)),
        );
    }

    /// For each vertex a bound on its row sum of the stiffness matrix, N/m.
    pub(super) fn stiffness_bound(&self, x: &[DVec3]) -> Vec<f64> {
        let mut bound = vec![0.0; x.len()];
        for spring in &self.springs {
            spring.add_stiffness_bound(&mut bound);
        }
        for hinge in &self.hinges {
            hinge.add_stiffness_bound(x, &mut bound);
        }
        bound
    }
}

/// Rest geometry of one body by mesh numbers.
struct Rest<'a> {
    mesh: &'a Mesh,
    body: &'a Body,
    shape: &'a RestShape,
}

impl Rest<'_> {
    fn corners(&self, face: u32) -> [DVec2; 3] {
        self.shape.material[(face - self.body.faces.start) as usize]
    }

    fn position(&self, vertex: u32) -> DVec3 {
        self.shape.positions[(vertex - self.body.vertices.start) as usize]
    }

    /// Material vector from the edge's first end to its second, as seen by `face`.
    fn edge_vector(&self, face: u32, edge: u32) -> DVec2 {
        let ends = self.mesh.edges()[edge as usize];
        let (numbers, corners) = (self.mesh.faces()[face as usize], self.corners(face));
        let at = |vertex: u32| {
            let k = numbers.iter().position(|&v| v == vertex);
            corners[k.expect("a face at an edge has both of its ends")]
        };
        at(ends[1]) - at(ends[0])
    }

    fn opposite(&self, face: u32, edge: u32) -> u32 {
        let ends = self.mesh.edges()[edge as usize];
        let corners = self.mesh.faces()[face as usize];
        let other = corners.into_iter().find(|v| !ends.contains(v));
        other.expect("a face has a corner outside each of its edges")
    }

    fn spring(&self, edge: u32, fabric: &Fabric) -> Spring {
        let faces = self.mesh.faces_of_edge(edge);
        let vectors = faces.iter().map(|&face| self.edge_vector(face, edge));
        let rest = vectors.map(DVec2::length).sum::<f64>() / faces.len() as f64;
        // Σ Y A over the faces, each with the edge's direction in its own chart
        let strength: f64 = faces
            .iter()
            .map(|&face| {
                fabric.spring_modulus(self.edge_vector(face, edge)) * area(self.corners(face))
            })
            .sum();
        let stiffness = strength / (rest * rest);
        Spring {
            ends: self.mesh.edges()[edge as usize],
            rest,
            stiffness,
            damping: fabric.stretch_damping * stiffness,
        }
    }

    fn hinge(&self, edge: u32, faces: [u32; 2], fabric: &Fabric) -> Hinge {
        let [e0, e1] = self.mesh.edges()[edge as usize];
        let vertices = [
            e0,
            e1,
            self.opposite(faces[0], edge),
            self.opposite(faces[1], edge),
        ];
        let areas = faces.map(|face| area(self.corners(face)));
        let vectors = faces.map(|face| self.edge_vector(face, edge));
        let length_squared = 0.5 * (vectors[0].length_squared() + vectors[1].length_squared());
        // the sheet curves across the edge
        let rigidity = vectors.map(|e| fabric.bending_rigidity(e.perp()));
        let stiffness = 0.5 * (rigidity[0] + rigidity[1]) * length_squared / (areas[0] + areas[1]);
        Hinge {
            vertices,
            rest: bend::angle(vertices.map(|v| self.position(v))),
            stiffness,
            damping: fabric.bend_damping * stiffness,
            rest_normals: areas.map(|a| 2.0 * a),
        }
    }
}
