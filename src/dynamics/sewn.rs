//! Closed seams as rows of the implicit solve: stitches that are taut.
//!
//! What a stitch sees is the vector from one of its points to the other, e = Σ wᵢ xᵢ: a row keeps its length at the gap or below,
//! as that of a face keeps the image of a direction below the strain limit. Its multiplier goes on from loop to loop and from
//! interval to interval, so a closed seam stays closed whatever pulls, up to its strength, where a spring would open by pull over
//! stiffness. A stitch that is farther apart is drawn in slowly; while a seam closes, there is its spring alone.

use glam::DVec3;

use super::elements::Elements;
use super::rows::{Linear, NONE, Row, Taut};
use super::seams::{EdgeStitch, Stitch};

/// Share of its gap from which on a stitch has a row.
const WATCHED: f64 = 0.5;

/// Share of what a stitch is too far apart that one loop takes back, and the speed at which it does at most, m/s.
const RETURN: f64 = 0.5;
const FASTEST: f64 = 0.1;

/// A stitch holds this many times what the elasticity of the weaker of the two cloths carries at its strain limit along the border
/// that the stitch stands for; real cloth is about that much stiffer than ours. It is less than a face holds at its limit under
/// gravity: what the cloth would have to be overstretched for stays open.
const STRENGTH: f64 = 10.0;

/// Strain at which a cloth without a limit counts.
const UNLIMITED: f64 = 1.0;

impl Elements {
    /// All stitches with their nodes and weights, those of pairs first.
    pub(super) fn sewn(&self) -> impl Iterator<Item = (&Stitch, [u32; 4], [f64; 4])> {
        let pairs = self.stitches.iter().map(|stitch| {
            let [a, b] = stitch.spring.ends;
            (stitch, [a, b, a, a], [1.0, -1.0, 0.0, 0.0])
        });
        let edges = self.edge_stitches.iter();
        pairs.chain(edges.map(|each: &EdgeStitch| (&each.stitch, each.nodes, each.weights)))
    }

    /// How many there are.
    pub(super) fn sewn_count(&self) -> usize {
        self.stitches.len() + self.edge_stitches.len()
    }

    /// Most that a stitch between two nodes holds that stands for so much border, N.
    pub(super) fn holds(&self, ends: [u32; 2], length: f64) -> f64 {
        let carries = |node: u32| {
            let faces = self.faces_of(node).iter();
            let of_face = |&k: &u32| {
                let face = &self.faces[k as usize];
                face.stretch[0].max(face.stretch[2]) * (face.limit - 1.0).min(UNLIMITED)
            };
            faces.map(of_face).fold(0.0, f64::max)
        };
        STRENGTH * length * carries(ends[0]).min(carries(ends[1]))
    }
}

impl Linear<'_> {
    /// The row of a stitch that is closed, or has to be.
    pub(super) fn sew(
        &self,
        stitch: &Stitch,
        nodes: [u32; 4],
        weights: [f64; 4],
        tension: f64,
    ) -> Option<Row> {
        let strength = stitch.strength * stitch.holds;
        if self.time < stitch.start + stitch.duration || strength <= 0.0 {
            return None;
        }
        let parts = nodes.iter().zip(weights);
        let apart: DVec3 = parts.map(|(&i, w)| w * self.x[i as usize]).sum();
        let (length, gap) = (apart.length(), stitch.spring.rest);
        if length <= WATCHED * gap {
            return None;
        }
        let room = gap - length;
        let mut row = Row {
            nodes: [NONE; 4],
            weights: [0.0; 4],
            normal: -apart / length,
            friction: 0.0,
            stiffness: 0.0,
            room: if room >= 0.0 {
                room
            } else {
                (RETURN * room).max(-FASTEST * self.h)
            },
            strength,
            normal_force: tension.min(strength),
            tangential_force: DVec3::ZERO,
            motion: DVec3::ZERO,
            taut: Some(Taut {
                stretch: length,
                permitted: gap,
            }),
        };
        for (k, (&node, w)) in nodes.iter().zip(weights).enumerate() {
            if w == 0.0 {
                continue;
            }
            if self.inverse_mass[node as usize] > 0.0 {
                (row.nodes[k], row.weights[k]) = (node, w);
            } else {
                row.motion += w * self.scripted[node as usize];
            }
        }
        let has_free = row.nodes.iter().any(|&node| node != NONE);
        has_free.then(|| self.stiffened(row))
    }
}
