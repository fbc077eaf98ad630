//! The strain limit as rows of the implicit solve: triangles that are taut.
//!
//! The image of the direction m in the material that is stretched most is e = F m = σ u + Σ (γᵢ · m) dᵢ: a
//! row that looks at e − σ u and keeps the length of e below the limit. A length, and not its rate σ' = u · j:
//! a face that turns by an angle φ in a loop would grow by φ²/2 unseen.

use glam::DVec3;

use super::rows::{Linear, NONE, Row, Taut};
use super::stretch::Triangle;

/// Share of the permitted strain from which on a triangle has a row.
const WATCHED: f64 = 0.5;

/// Triangles are held this share of the permitted strain below the limit.
const MARGIN: f64 = 0.08;

/// Share of what a triangle is stretched beyond its limit that one loop takes back.
const RETURN: f64 = 0.5;

/// A limit holds up to this multiple of the elastic stress at it, and carries this many times the
/// weight of all cloth in one triangle: where scripted vertices pull harder, it gives.
const STRENGTH: f64 = 1.0;
const WEIGHTS: f64 = 10.0;

/// From this share of the permitted strain above the limit on, what it holds becomes less as the
/// triangle is stretched, by this share of what elasticity gains: what cannot be met is left to
/// elasticity, and stress does not fall while stretch grows. If it did, one row of triangles would
/// take all of it; and if a limit held on for good, faces that it holds and faces that it does not
/// would make the cloth tremble.
const WORRYING: f64 = 0.2;
const YIELD: f64 = 0.5;

impl Linear<'_> {
    /// The row of a triangle that is stretched, or may be soon.
    pub(super) fn watch(&self, triangle: &Triangle, tension: f64) -> Option<Row> {
        let watched = 1.0 + WATCHED * (triangle.limit - 1.0);
        let is_near = tension > 0.0
            || triangle.exceeds(watched, self.x)
            || triangle.exceeds(watched, self.ahead);
        if triangle.limit.is_infinite() || !is_near {
            return None;
        }
        let stretch = triangle.largest_stretch(self.x);
        if !stretch.value.is_finite() {
            return None; // others report it
        }
        let permitted = triangle.limit - 1.0;
        let room = triangle.limit - MARGIN * permitted - stretch.value;
        let stiffness = triangle.stretch[0].max(triangle.stretch[2]);
        let elastic = stiffness * triangle.area;
        let carried = WEIGHTS * self.weight * (2.0 * triangle.area).sqrt();
        let beyond = (-room - WORRYING * permitted).max(0.0);
        let strength = elastic * (STRENGTH * permitted - YIELD * beyond) + carried;
        if strength <= 0.0 {
            return None;
        }
        let mut row = Row {
            nodes: [NONE; 4],
            weights: [0.0; 4],
            normal: -stretch.world,
            friction: 0.0,
            stiffness: 0.0,
            room: if room >= 0.0 { room } else { RETURN * room },
            strength,
            normal_force: tension.min(strength),
            tangential_force: DVec3::ZERO,
            motion: DVec3::ZERO,
            taut: Some(Taut {
                stretch: stretch.value,
                permitted,
            }),
        };
        for (k, &node) in triangle.vertices.iter().enumerate() {
            let w = triangle.gradient[k].dot(stretch.material);
            if self.inverse_mass[node as usize] > 0.0 {
                row.nodes[k] = node;
                row.weights[k] = w;
            } else {
                row.motion += w * self.scripted[node as usize];
            }
        }
        Some(self.stiffened(row))
    }
}
