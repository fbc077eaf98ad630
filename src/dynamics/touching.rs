//! What touches, seen from the nodes of an integrator.

use cpu_time::ProcessTime;
use glam::DVec3;

use crate::touch::{Touch, TouchWork};

/// What touches, between the nodes of an integrator and what is scripted.
pub(super) struct Touching<'a> {
    touch: &'a mut dyn Touch,
    /// Of the vertices that take part: place among them, node.
    nodes: Vec<(usize, usize)>,
    x: Vec<DVec3>,
    v: Vec<DVec3>,
    forces: Vec<DVec3>,
    /// How long the forces have acted since velocities were last changed, s.
    acted: f64,
    work: TouchWork,
}

impl<'a> Touching<'a> {
    /// `node_of` has `u32::MAX` for vertices that are none; these, and scripted nodes, move
    /// straight from `x0` to `target`.
    pub(super) fn new(
        touch: &'a mut dyn Touch,
        node_of: &[u32],
        [x0, target]: [&[DVec3]; 2],
        dt: f64,
    ) -> Self {
        let vertices = touch.vertices();
        let nodes = vertices.iter().map(|&v| node_of[v as usize]).enumerate();
        let nodes = nodes.filter(|(_, node)| *node != u32::MAX);
        let nodes = nodes.map(|(place, node)| (place, node as usize)).collect();
        let x: Vec<DVec3> = vertices.iter().map(|&v| x0[v as usize]).collect();
        let ends = vertices.iter().map(|&v| target[v as usize]);
        let v = ends.zip(&x).map(|(end, x)| (end - x) / dt).collect();
        Self {
            nodes,
            v,
            forces: vec![DVec3::ZERO; x.len()],
            x,
            touch,
            acted: 0.0,
            work: TouchWork::default(),
        }
    }

    /// Before the first loop.
    pub(super) fn begin(&mut self, h: f64, loops: u32) {
        self.touch.begin(h, loops, &mut self.forces);
        self.acted = 0.5 * h;
    }

    /// Adds the forces that act now.
    pub(super) fn add_force(&self, f: &mut [DVec3]) {
        for &(place, node) in &self.nodes {
            f[node] += self.forces[place];
        }
    }

    /// Before the positions of a loop follow its velocities.
    pub(super) fn act(&mut self, h: f64, x: &[DVec3], v: &mut [DVec3], inverse_mass: &[f64]) {
        let clock = ProcessTime::now();
        for &(place, node) in &self.nodes {
            (self.x[place], self.v[place]) = (x[node], v[node]);
            // until the contact has changed it, what the forces have done so far
            let given = (self.acted * inverse_mass[node]) * self.forces[place];
            v[node] -= given;
        }
        self.touch.act(h, &self.x, &mut self.v, &mut self.forces);
        for &(place, node) in &self.nodes {
            self.work.add(v[node], self.v[place], inverse_mass[node]);
            v[node] = self.v[place];
        }
        // what is scripted goes on; the rest is read anew
        for (x, v) in self.x.iter_mut().zip(&self.v) {
            *x += h * *v;
        }
        self.acted = h;
        self.work.spent_ms += clock.elapsed().as_secs_f64() * 1e3;
    }

    /// After the last loop, in which the forces have acted on the end velocities for half of it.
    pub(super) fn end(mut self, v: &[DVec3], inverse_mass: &[f64]) -> TouchWork {
        for &(place, node) in &self.nodes {
            let given = (0.5 * self.acted * inverse_mass[node]) * self.forces[place];
            self.work.add(v[node] - given, v[node], inverse_mass[node]);
        }
        self.work
    }
}
