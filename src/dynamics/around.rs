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

    /// Lets contacts that have slid off their features be followed by others, with nodes at `x` and scripted vertices at
    /// this share of the interval.
    pub(super) fn slide(&mut self, x: &[DVec3], share: f64, contacts: &mut Contacts) {
        let left = match self.touch {
            Some(_) => contacts.left(x, share),
            None => Vec::new(),
        };
        if let Some(touch) = self.touch.as_mut().filter(|_| !left.is_empty()) {
            let scripted = self.ends[0].iter().zip(self.ends[1]);
            let scripted = scripted.map(|(start, end)| start.lerp(*end, share));
            let slid = touch.slide(&left, &scatter(self.nodes, x, scripted.collect()));
            self.add(&slid.rows, contacts);
            contacts.hand_over(&left, &slid);
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
