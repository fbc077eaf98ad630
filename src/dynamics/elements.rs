//! The force elements of all cloths of a mesh, built once from topology, rest shapes and fabrics.
//!
//! Elements number the cloth vertices only ("nodes", in mesh order), so that a large obstacle costs
//! nothing here.

use std::ops::Range;

use glam::{DMat3, DVec2, DVec3};
use rayon::prelude::*;

use super::air::Drag;
use super::bend::{self, Bending, Bent, Hinge, Plate};
use super::damping::Dampers;
use super::material::Fabric;
use super::pins::Pin;
use super::seams::{EdgeStitch, Stitch};
use super::solve::{BlockMatrix, GRAIN, Pattern, Slot, single};
use super::springs::Spring;
use super::stretch::{Triangle, Weights};
use super::{ClothModel, Stretch, Tension};
use crate::geometry::{Body, Mesh};

/// Shape of a cloth without forces: lengths and areas from flat material coordinates, angles from
/// positions.
#[derive(Clone, Debug, PartialEq)]
pub struct RestShape {
    /// Rest position of each vertex of the body, m; the rest angles are those of this shape. None: it is flat.
    pub positions: Vec<DVec3>,
    /// Material coordinates (warp, weft) of the corners of each face of the body, m.
    pub material: Vec<[DVec2; 3]>,
}

impl RestShape {
    /// A shape whose every face is at rest as it lies in `positions`.
    ///
    /// Warp runs along the x axis, laid on each face; where a face looks along x (normal within 45°
    /// of it), along y.
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

    /// A shape with material coordinates per vertex of the body (a sheet, a pattern piece without
    /// inner seams).
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
    /// Mesh number of each face.
    pub(super) face_numbers: Vec<u32>,
    /// Faces of the mesh.
    pub(super) face_count: u32,
    /// Which faces are elastic.
    membranes: Vec<u32>,
    pub(super) springs: Vec<Spring>,
    pub(super) bending: Bending,
    pub(super) stitches: Vec<Stitch>,
    pub(super) edge_stitches: Vec<EdgeStitch>,
    pub(super) pins: Vec<Pin>,
    /// Faces around each node, from `first_face[node]` on.
    node_faces: Vec<u32>,
    first_face: Vec<u32>,
    /// Rest area that each node stands for, m².
    pub(super) area_of: Vec<f64>,
    pub(super) pattern: Pattern,
    pub(super) face_slots: Vec<[Slot; 3]>,
    spring_slots: Vec<Slot>,
    stitch_slots: Vec<Slot>,
    /// Of the pairs of all edge stitches, one after the other.
    edge_stitch_slots: Vec<Slot>,
}

impl Elements {
    /// Adds the elements of one cloth; its nodes follow those already in `mass`, which grows by its
    /// lumped masses.
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
        self.area_of.resize(mass.len(), 0.0);
        for face in body.faces.clone() {
            let nodes = mesh.faces()[face as usize].map(|v| rest.node(v));
            let Some(triangle) = Triangle::new(nodes, rest.corners(face), fabric) else {
                continue; // no area: no mass, no force
            };
            if cloth.stretch == Stretch::Membrane {
                self.membranes.push(self.faces.len() as u32);
            }
            self.faces.push(triangle);
            self.face_numbers.push(face);
            for v in nodes {
                mass[v as usize] += fabric.density * triangle.area / 3.0;
                self.area_of[v as usize] += triangle.area / 3.0;
            }
        }
        let mut hinge_of_edge = vec![bend::NONE; mesh.edges().len()];
        for edge in 0..mesh.edges().len() as u32 {
            let faces = mesh.faces_of_edge(edge);
            if !body.faces.contains(&faces[0]) {
                continue;
            }
            if cloth.stretch == Stretch::Springs {
                self.springs.extend(rest.spring(edge, fabric));
            }
            if let Some(hinge) = rest.hinge(edge) {
                hinge_of_edge[edge as usize] = self.bending.hinges.len() as u32;
                self.bending.hinges.push(hinge);
            }
        }
        for face in body.faces.clone() {
            if rest.area(face) == 0.0 {
                continue;
            }
            let hinges = mesh.face_edges()[face as usize].map(|edge| {
                let number = hinge_of_edge[edge as usize];
                (number != bend::NONE).then(|| (number, &self.bending.hinges[number as usize]))
            });
            let nodes = mesh.faces()[face as usize].map(|v| rest.node(v));
            let plate = Plate::new(nodes, rest.corners(face), hinges, fabric);
            self.bending.plates.push(plate);
        }
    }

    /// Fixes the sparsity of the matrix, after the last cloth.
    pub(super) fn finish(&mut self, node_count: usize) {
        let faces = self.faces.iter().flat_map(|t| pairs3(t.vertices));
        let springs = self.springs.iter().map(|s| s.ends);
        let plates = self.bending.plates.iter().flat_map(Plate::pairs);
        let stitches = self.stitches.iter().map(|s| s.spring.ends);
        let edge_stitches = self
            .edge_stitches
            .iter()
            .flat_map(|s| s.pairs().map(|pair| pair.map(|i| s.nodes[i])));
        let pairs = faces
            .chain(springs)
            .chain(plates)
            .chain(stitches)
            .chain(edge_stitches);
        self.pattern = Pattern::new(node_count, pairs);
        let slot = |[i, j]: [u32; 2]| self.pattern.slot(i, j);
        self.face_slots = self
            .faces
            .iter()
            .map(|t| pairs3(t.vertices).map(slot))
            .collect();
        self.spring_slots = self.springs.iter().map(|s| slot(s.ends)).collect();
        let stitches = self.stitches.iter();
        self.stitch_slots = stitches.map(|s| slot(s.spring.ends)).collect();
        let edge_stitches = self.edge_stitches.iter();
        let pairs = edge_stitches.flat_map(|s| s.pairs().map(|pair| pair.map(|i| s.nodes[i])));
        self.edge_stitch_slots = pairs.map(slot).collect();
        for plate in &mut self.bending.plates {
            plate.find_slots(&self.pattern);
        }
        let mut around: Vec<[u32; 2]> = Vec::with_capacity(3 * self.faces.len());
        for (k, face) in self.faces.iter().enumerate() {
            around.extend(face.vertices.map(|v| [v, k as u32]));
        }
        around.sort_unstable();
        let start = |node: usize| around.partition_point(|&[v, _]| (v as usize) < node) as u32;
        self.first_face = (0..=node_count).map(start).collect();
        self.node_faces = around.into_iter().map(|[_, face]| face).collect();
    }

    /// Faces around a node, ascending.
    pub(super) fn faces_of(&self, node: u32) -> &[u32] {
        let (first, last) = (
            self.first_face[node as usize],
            self.first_face[node as usize + 1],
        );
        &self.node_faces[first as usize..last as usize]
    }

    pub(super) fn membranes(&self) -> impl Iterator<Item = &Triangle> {
        self.membranes.iter().map(|&k| &self.faces[k as usize])
    }

    /// What pulls at each face, then at each stitch.
    pub(super) fn pull_of(&self, tension: &[Tension]) -> Vec<f64> {
        let faces = self.faces.len();
        let mut pull = vec![0.0; faces + self.sewn_count()];
        for tension in tension {
            let place = match tension.face.checked_sub(self.face_count) {
                Some(stitch) => Some(faces + stitch as usize),
                None => self.face_numbers.binary_search(&tension.face).ok(),
            };
            if let Some(place) = place.and_then(|place| pull.get_mut(place)) {
                *place = tension.pull;
            }
        }
        pull
    }

    /// The faces and stitches that something pulls at.
    pub(super) fn tension_of(&self, pull: &[f64]) -> Vec<Tension> {
        let stitches = (0..self.sewn_count() as u32).map(|k| self.face_count + k);
        let places = self.face_numbers.iter().copied().chain(stitches).zip(pull);
        places
            .filter(|&(_, &pull)| pull > 0.0)
            .map(|(face, &pull)| Tension { face, pull })
            .collect()
    }

    /// Elastic energy, J.
    pub(super) fn energy(&self, x: &[DVec3]) -> f64 {
        let membranes: f64 = self.membranes().map(|t| t.energy(x)).sum();
        let springs: f64 = self.springs.iter().map(|s| s.energy(x)).sum();
        membranes + springs + self.bending.energy(x)
    }

    /// Adds the elastic forces, in fixed order; `bent` was measured at the same `x`.
    pub(super) fn add_force(&self, x: &[DVec3], bent: &Bent, f: &mut [DVec3]) {
        for triangle in self.membranes() {
            triangle.add_force(x, f);
        }
        for spring in &self.springs {
            spring.add_force(x, f);
        }
        self.bending.add_force(bent, f);
    }

    /// The damping matrix of the elastic elements at `x`, into memory that is used again.
    pub(super) fn dampers<'a>(&'a self, x: &[DVec3], out: &mut Dampers<'a>) {
        out.membranes.clear();
        let membranes = self.membranes().filter(|t| t.damping > 0.0);
        out.membranes.extend(membranes.flat_map(|t| t.dampers(x)));
        out.springs.clear();
        let springs = self.springs.iter().filter(|s| s.damping > 0.0);
        out.springs.extend(springs.map(|s| s.damper(x)));
        self.bending.measure(x, &mut out.bent);
        out.bending = self.bending.is_damped().then_some(&self.bending);
    }

    /// Parts of the elastic elements for as many threads, by the nodes that they touch.
    pub(super) fn parts(&self, threads: usize) -> Vec<Part> {
        let n = self.pattern.node_count();
        let size = n.div_ceil(threads.max(1)).max(GRAIN);
        let ranges = (0..n).step_by(size).map(|first| first..n.min(first + size));
        let part = |nodes: Range<usize>| {
            let touches = |ends: &[u32]| ends.iter().any(|&v| nodes.contains(&(v as usize)));
            let numbers = |count: usize, ends: &dyn Fn(usize) -> bool| {
                let all = 0..count as u32;
                all.filter(|&k| ends(k as usize)).collect::<Vec<u32>>()
            };
            let (springs, plates) = (&self.springs, &self.bending.plates);
            let membrane = |k: usize| &self.faces[self.membranes[k] as usize];
            Part {
                springs: numbers(springs.len(), &|k| touches(&springs[k].ends)),
                plates: numbers(plates.len(), &|k| touches(plates[k].nodes())),
                membranes: numbers(self.membranes.len(), &|k| touches(&membrane(k).vertices)),
                nodes: nodes.clone(),
            }
        };
        ranges.map(part).collect()
    }

    /// Adds the weighted stiffness and damping of the elastic elements; `bent` was measured at the
    /// same `x`. The sum of a row is in the order of its elements, whatever the parts.
    pub(super) fn assemble(
        &self,
        parts: &[Part],
        (x, bent): (&[DVec3], &Bent),
        weights: Weights,
        matrix: &mut BlockMatrix,
    ) {
        let ranges = parts.iter().map(|part| part.nodes.clone());
        let rows = matrix.split(&self.pattern, ranges);
        let work: Vec<_> = parts.iter().zip(rows).collect();
        work.into_par_iter().for_each(|(part, mut matrix)| {
            for &k in &part.membranes {
                let k = self.membranes[k as usize] as usize;
                let triangle = &self.faces[k];
                let blocks = triangle.matrix(x, weights).map(single);
                for (&node, &block) in triangle.vertices.iter().zip(&blocks[..3]) {
                    matrix.add_diagonal(node, block);
                }
                for (&slot, &block) in self.face_slots[k].iter().zip(&blocks[3..]) {
                    matrix.add(slot, block);
                }
            }
            for &k in &part.springs {
                let spring = &self.springs[k as usize];
                let block = single(spring.matrix(x, weights));
                let [a, b] = spring.ends;
                matrix.add_diagonal(a, block);
                matrix.add_diagonal(b, block);
                matrix.add(self.spring_slots[k as usize], -block);
            }
            for &k in &part.plates {
                self.bending.plates[k as usize].add_matrix(bent, weights, &mut matrix);
            }
        });
    }

    /// Adds the elastic forces, likewise.
    pub(super) fn add_forces(
        &self,
        parts: &[Part],
        (x, bent): (&[DVec3], &Bent),
        mut f: &mut [DVec3],
    ) {
        let own = |part: &Part| {
            let own = f.split_off_mut(..part.nodes.len());
            own.expect("parts share out the nodes")
        };
        let work: Vec<_> = parts.iter().map(own).zip(parts).collect();
        work.into_par_iter().for_each(|(f, part)| {
            let first = part.nodes.start;
            let mut push = |node: u32, force: DVec3| {
                if let Some(f) = f.get_mut((node as usize).wrapping_sub(first)) {
                    *f += force;
                }
            };
            for &k in &part.membranes {
                let triangle = &self.faces[self.membranes[k as usize] as usize];
                for (&node, force) in triangle.vertices.iter().zip(triangle.forces(x)) {
                    push(node, force);
                }
            }
            for &k in &part.springs {
                let spring = &self.springs[k as usize];
                let pull = spring.pull(x);
                push(spring.ends[0], pull);
                push(spring.ends[1], -pull);
            }
            for &k in &part.plates {
                let plate = &self.bending.plates[k as usize];
                for (&node, force) in plate.nodes().iter().zip(plate.forces(bent)) {
                    push(node, force);
                }
            }
        });
    }

    /// Adds the weighted stiffness and damping of the elastic elements.
    #[cfg(test)]
    pub(super) fn add_matrix(&self, x: &[DVec3], weights: Weights, matrix: &mut BlockMatrix) {
        let mut bent = Bent::default();
        self.bending.measure(x, &mut bent);
        self.assemble(&self.parts(1), (x, &bent), weights, matrix);
    }

    /// Adds the weighted stiffness and damping of seams at a time, of soft pins and of the air.
    pub(super) fn add_outer_matrix(
        &self,
        x: &[DVec3],
        time: f64,
        drag: &[Drag],
        weights: Weights,
        matrix: &mut BlockMatrix,
    ) {
        let mut matrix = matrix.rows();
        for (stitch, &slot) in self.stitches.iter().zip(&self.stitch_slots) {
            let spring = stitch.at(time);
            let block = single(spring.matrix(x, weights));
            for node in spring.ends {
                matrix.add_diagonal(node, block);
            }
            matrix.add(slot, -block);
        }
        let mut slots = self.edge_stitch_slots.iter();
        for stitch in &self.edge_stitches {
            let block = stitch.matrix(time, x, weights);
            for (&node, w) in stitch.nodes.iter().zip(stitch.weights) {
                if w != 0.0 {
                    matrix.add_diagonal(node, single(block * (w * w)));
                }
            }
            for ([i, j], &slot) in stitch.pairs().zip(slots.by_ref()) {
                let share = stitch.weights[i] * stitch.weights[j];
                matrix.add(slot, single(block * share));
            }
        }
        for pin in &self.pins {
            let block = pin.matrix(weights.stiffness, weights.damping);
            matrix.add_outer(pin.node, block, block);
        }
        // drag lists the faces in order, or is empty
        for (drag, slots) in drag.iter().zip(&self.face_slots) {
            let block: DMat3 = drag.matrix() * weights.damping;
            for node in drag.vertices {
                matrix.add_outer(node, block * 3.0, block);
            }
            for &slot in slots {
                matrix.add(slot, single(block));
            }
        }
    }
}

/// Elastic elements that touch some nodes.
pub(super) struct Part {
    nodes: Range<usize>,
    springs: Vec<u32>,
    plates: Vec<u32>,
    /// Numbers in the list of membranes.
    membranes: Vec<u32>,
}

fn pairs3([a, b, c]: [u32; 3]) -> [[u32; 2]; 3] {
    [[a, b], [a, c], [b, c]]
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

    /// The hinge at an edge of exactly two faces, both with an area: more faces have no common
    /// bending.
    fn hinge(&self, edge: u32) -> Option<Hinge> {
        let &[first, second] = self.mesh.faces_of_edge(edge) else {
            return None;
        };
        let areas = [first, second].map(|face| self.area(face));
        if areas.contains(&0.0) {
            return None;
        }
        let [e0, e1] = self.mesh.edges()[edge as usize];
        let opposite = [first, second].map(|face| self.opposite(face, edge));
        let vertices = [e0, e1, opposite[0], opposite[1]];
        Some(Hinge {
            vertices: vertices.map(|v| self.node(v)),
            rest: match self.shape.positions.is_empty() {
                true => 0.0,
                false => bend::angle(vertices.map(|v| self.position(v))),
            },
            rest_normals: areas.map(|a| 2.0 * a),
        })
    }
}
