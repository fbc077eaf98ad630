//! The force elements of all cloths of a mesh, built once from topology, rest shapes and fabrics.
//!
//! Elements number the cloth vertices only ("nodes", in mesh order), so that a large obstacle costs nothing here.

use glam::{DMat3, DVec2, DVec3};

use super::air::Drag;
use super::bend::{self, Hinge};
use super::damping::Dampers;
use super::material::Fabric;
use super::solve::{BlockMatrix, Pattern, Slot};
use super::springs::Spring;
use super::stretch::{Triangle, Weights, outer};
use super::{ClothModel, Stretch};
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
        let corner = |v: u32| positions[(v - body.vertices.start) as usize];
        let material = faces_of(mesh, body)
            .iter()
            .map(|corners| flatten(corners.map(corner)))
            .collect();
        Self {
            positions,
            material,
        }
    }

    /// A shape with material coordinates per vertex of the body (a sheet, a pattern piece without inner seams).
    pub fn from_material(mesh: &Mesh, body: &Body, positions: Vec<DVec3>, uv: &[DVec2]) -> Self {
        let corner = |v: u32| uv[(v - body.vertices.start) as usize];
        let material = faces_of(mesh, body)
            .iter()
            .map(|corners| corners.map(corner))
            .collect();
        Self {
            positions,
            material,
        }
    }
}

fn faces_of<'a>(mesh: &'a Mesh, body: &Body) -> &'a [[u32; 3]] {
    &mesh.faces()[body.faces.start as usize..body.faces.end as usize]
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

/// Elements of all cloths, in mesh order.
#[derive(Clone, Debug, Default)]
pub(super) struct Elements {
    /// Every face: its rest shape, for strain, drag and, of membranes, elasticity.
    pub(super) faces: Vec<Triangle>,
    /// Which faces are elastic.
    membranes: Vec<u32>,
    springs: Vec<Spring>,
    hinges: Vec<Hinge>,
    pub(super) pattern: Pattern,
    face_slots: Vec<[Slot; 3]>,
    spring_slots: Vec<Slot>,
    hinge_slots: Vec<[Slot; 6]>,
}

impl Elements {
    /// Adds the elements of one cloth; its nodes follow those already in `mass`, which grows by its lumped masses.
    pub(super) fn add_cloth(&mut self, mesh: &Mesh, cloth: &ClothModel, mass: &mut Vec<f64>) {
        let body = &mesh.bodies()[cloth.body];
        let rest = Rest {
            mesh,
            body,
            shape: &cloth.rest,
            first_node: mass.len() as u32,
        };
        let fabric = &cloth.fabric;
        mass.resize(mass.len() + body.vertices.len(), 0.0);
        for face in body.faces.clone() {
            let nodes = mesh.faces()[face as usize].map(|v| rest.node(v));
            let Some(triangle) = Triangle::new(nodes, rest.corners(face), fabric) else {
                continue; // no area: no mass, no force
            };
            if cloth.stretch == Stretch::Membrane {
                self.membranes.push(self.faces.len() as u32);
            }
            self.faces.push(triangle);
            for v in nodes {
                mass[v as usize] += fabric.density * triangle.area / 3.0;
            }
        }
        for edge in 0..mesh.edges().len() as u32 {
            let faces = mesh.faces_of_edge(edge);
            if !body.faces.contains(&faces[0]) {
                continue;
            }
            if cloth.stretch == Stretch::Springs {
                self.springs.extend(rest.spring(edge, fabric));
            }
            for pair in faces.windows(2) {
                self.hinges
                    .extend(rest.hinge(edge, [pair[0], pair[1]], fabric));
            }
        }
    }

    /// Fixes the sparsity of the matrix, after the last cloth.
    pub(super) fn finish(&mut self, node_count: usize) {
        let faces = self.faces.iter().flat_map(|t| pairs3(t.vertices));
        let springs = self.springs.iter().map(|s| s.ends);
        let hinges = self.hinges.iter().flat_map(|h| pairs4(h.vertices));
        self.pattern = Pattern::new(node_count, faces.chain(springs).chain(hinges));
        let slot = |[i, j]: [u32; 2]| self.pattern.slot(i, j);
        self.face_slots = self
            .faces
            .iter()
            .map(|t| pairs3(t.vertices).map(slot))
            .collect();
        self.spring_slots = self.springs.iter().map(|s| slot(s.ends)).collect();
        self.hinge_slots = self
            .hinges
            .iter()
            .map(|h| pairs4(h.vertices).map(slot))
            .collect();
    }

    fn membranes(&self) -> impl Iterator<Item = &Triangle> {
        self.membranes.iter().map(|&k| &self.faces[k as usize])
    }

    /// Elastic energy, J.
    pub(super) fn energy(&self, x: &[DVec3]) -> f64 {
        let membranes: f64 = self.membranes().map(|t| t.energy(x)).sum();
        let springs: f64 = self.springs.iter().map(|s| s.energy(x)).sum();
        let hinges: f64 = self.hinges.iter().map(|h| h.energy(x)).sum();
        membranes + springs + hinges
    }

    /// Adds the elastic forces, in fixed order.
    pub(super) fn add_force(&self, x: &[DVec3], f: &mut [DVec3]) {
        for triangle in self.membranes() {
            triangle.add_force(x, f);
        }
        for spring in &self.springs {
            spring.add_force(x, f);
        }
        for hinge in &self.hinges {
            hinge.add_force(x, f);
        }
    }

    /// The damping matrix of the elastic elements at `x`, into memory that is used again.
    pub(super) fn dampers(&self, x: &[DVec3], out: &mut Dampers) {
        out.membranes.clear();
        let membranes = self.membranes().filter(|t| t.damping > 0.0);
        out.membranes.extend(membranes.flat_map(|t| t.dampers(x)));
        out.springs.clear();
        let springs = self.springs.iter().filter(|s| s.damping > 0.0);
        out.springs.extend(springs.map(|s| s.damper(x)));
        out.hinges.clear();
        let hinges = self.hinges.iter().filter(|h| h.damping > 0.0);
        out.hinges.extend(hinges.map(|h| h.damper(x)));
    }

    /// Adds the weighted stiffness and damping of all elements, and the weighted drag.
    pub(super) fn add_matrix(
        &self,
        x: &[DVec3],
        drag: &[Drag],
        weights: Weights,
        matrix: &mut BlockMatrix,
    ) {
        for &k in &self.membranes {
            let triangle = &self.faces[k as usize];
            let blocks = triangle.matrix(x, weights);
            for (&node, &block) in triangle.vertices.iter().zip(&blocks[..3]) {
                matrix.add_diagonal(node, block);
            }
            for (&slot, &block) in self.face_slots[k as usize].iter().zip(&blocks[3..]) {
                matrix.add(slot, block);
            }
        }
        for (spring, &slot) in self.springs.iter().zip(&self.spring_slots) {
            let block = spring.matrix(x, weights);
            for node in spring.ends {
                matrix.add_diagonal(node, block);
            }
            matrix.add(slot, -block);
        }
        for (hinge, slots) in self.hinges.iter().zip(&self.hinge_slots) {
            let (g, weight) = hinge.matrix(x, weights);
            for (&node, &g) in hinge.vertices.iter().zip(&g) {
                matrix.add_diagonal(node, outer(weight * g, g));
            }
            for (&slot, [i, j]) in slots.iter().zip(pairs4([0, 1, 2, 3])) {
                matrix.add(slot, outer(weight * g[i as usize], g[j as usize]));
            }
        }
        // drag lists the faces in order, or is empty
        for (drag, slots) in drag.iter().zip(&self.face_slots) {
            let block: DMat3 = drag.matrix() * weights.damping;
            for node in drag.vertices {
                matrix.add_diagonal(node, block);
            }
            for &slot in slots {
                matrix.add(slot, block);
            }
        }
    }

    /// For each node a bound on its row sum of the stiffness matrix, N/m.
    pub(super) fn stiffness_bound(&self, x: &[DVec3]) -> Vec<f64> {
        let mut bound = vec![0.0; x.len()];
        for triangle in self.membranes() {
            triangle.add_stiffness_bound(x, &mut bound);
        }
        for spring in &self.springs {
            spring.add_stiffness_bound(&mut bound);
        }
        for hinge in &self.hinges {
            hinge.add_stiffness_bound(x, &mut bound);
        }
        bound
    }
}

fn pairs3([a, b, c]: [u32; 3]) -> [[u32; 2]; 3] {
    [[a, b], [a, c], [b, c]]
}

fn pairs4([a, b, c, d]: [u32; 4]) -> [[u32; 2]; 6] {
    [[a, b], [a, c], [a, d], [b, c], [b, d], [c, d]]
}

/// Rest geometry of one body by mesh numbers.
struct Rest<'a> {
    mesh: &'a Mesh,
    body: &'a Body,
    shape: &'a RestShape,
    first_node: u32,
}

impl Rest<'_> {
    fn node(&self, vertex: u32) -> u32 {
        self.first_node + (vertex - self.body.vertices.start)
    }

    fn corners(&self, face: u32) -> [DVec2; 3] {
        self.shape.material[(face - self.body.faces.start) as usize]
    }

    fn area(&self, face: u32) -> f64 {
        let [a, b, c] = self.corners(face);
        0.5 * (b - a).perp_dot(c - a).abs()
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

    /// The spring along an edge; none if the edge has no length.
    fn spring(&self, edge: u32, fabric: &Fabric) -> Option<Spring> {
        let faces = self.mesh.faces_of_edge(edge);
        let vectors = faces.iter().map(|&face| self.edge_vector(face, edge));
        let rest = vectors.map(DVec2::length).sum::<f64>() / faces.len() as f64;
        if rest == 0.0 {
            return None;
        }
        // Σ Y A over the faces, each with the edge's direction in its own chart
        let strength: f64 = faces
            .iter()
            .map(|&face| fabric.spring_modulus(self.edge_vector(face, edge)) * self.area(face))
            .sum();
        let stiffness = strength / (rest * rest);
        Some(Spring {
            ends: self.mesh.edges()[edge as usize].map(|v| self.node(v)),
            rest,
            stiffness,
            damping: fabric.stretch_damping * stiffness,
        })
    }

    /// The hinge between two faces at an edge; none if one of them has no area.
    fn hinge(&self, edge: u32, faces: [u32; 2], fabric: &Fabric) -> Option<Hinge> {
        let areas = faces.map(|face| self.area(face));
        if areas.contains(&0.0) {
            return None;
        }
        let [e0, e1] = self.mesh.edges()[edge as usize];
        let opposite = faces.map(|face| self.opposite(face, edge));
        let vertices = [e0, e1, opposite[0], opposite[1]];
        let vectors = faces.map(|face| self.edge_vector(face, edge));
        let length_squared = 0.5 * (vectors[0].length_squared() + vectors[1].length_squared());
        // the sheet curves across the edge
        let rigidity = vectors.map(|e| fabric.bending_rigidity(e.perp()));
        let stiffness = 0.5 * (rigidity[0] + rigidity[1]) * length_squared / (areas[0] + areas[1]);
        Some(Hinge {
            vertices: vertices.map(|v| self.node(v)),
            rest: bend::angle(vertices.map(|v| self.position(v))),
            stiffness,
            damping: fabric.bend_damping * stiffness,
            rest_normals: areas.map(|a| 2.0 * a),
        })
    }
}
