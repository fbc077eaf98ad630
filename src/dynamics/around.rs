//! What may touch, asked for by the loops of the implicit integrator and answered in its nodes.

use glam::DVec3;

use super::contacts::Contacts;
use crate::touch::{Row, Touch};

/// Who knows what may touch, and how nodes lie among the vertices of the mesh.
pub(super) struct Around<'a> {
    /// None where nothing touches.
    pub(super) touch: Option<&'a mut (dyn Touch + 'a)>,
    /// Mesh vertex of each node.
    pub(super) nodes: &'a [u32],
    /// Node of each mesh vertex, `u32::MAX` for those without.
    pub(super) node_of: &'a [u32],
    /// Of mesh vertices.
    pub(super) inverse_mass: &'a [f64],
    /// Mesh vertices at the start of the interval, and those that are scripted at its end.
    pub(super) ends: [&'a [DVec3]; 2],
}

impl Around<'_> {
    /// Contacts before the first loop.
    pub(super) fn begin(&self, contacts: &mut Contacts) {
        if let Some(touch) = &self.touch {
            self.add(&touch.rows(), contacts);
        }
    }

    /// Adds what else may touch if the nodes go straight on to `end`.
    pub(super) fn look(&mut self, end: &[DVec3], contacts: &mut Contacts) {
        if let Some(touch) = &mut self.touch {
            let rows = touch.look(&scatter(self.nodes, end, self.ends[1].to_vec()));
            self.add(&rows, contacts);
        }
    }

    /// Lets contacts follow the surfaces, and others follow those that have slid off their features, before a loop that
    /// goes from nodes at `x` with velocities `v`; `shares` of the interval are its start and its end.
    pub(super) fn slide(
        &mut self,
        [x, v]: [&[DVec3]; 2],
        h: f64,
        shares: [f64; 2],
        contacts: &mut Contacts,
    ) {
        let Some(touch) = &mut self.touch else {
            return;
        };
        let all = || {
            let scripted = self.ends[0].iter().zip(self.ends[1]);
            let scripted = scripted.map(|(start, end)| start.lerp(*end, shares[0]));
            scatter(self.nodes, x, scripted.collect())
        };
        let left = contacts.left(x, shares[0]);
        if !left.is_empty() {
            let slid = touch.slide(&left, &all());
            contacts.add(&slid.rows, self.node_of, self.inverse_mass, self.ends);
            contacts.hand_over(&left, &slid.heirs);
        }
        contacts.follow(x, shares[0]);
        let fast = contacts.fast(v, h, shares);
        if !fast.is_empty() {
            let upright = touch.upright(&fast, &all());
            contacts.stand(&fast, &upright, v, h, shares);
        }
    }

    fn add(&self, rows: &[Row], contacts: &mut Contacts) {
        contacts.add(rows, self.node_of, self.inverse_mass, self.ends);
    }
}

/// Positions of all mesh vertices: those of nodes, and others as they are.
pub(super) fn scatter(nodes: &[u32], x: &[DVec3], mut others: Vec<DVec3>) -> Vec<DVec3> {
    for (&x, &i) in x.iter().zip(nodes) {
        others[i as usize] = x;
    }
    others
}
