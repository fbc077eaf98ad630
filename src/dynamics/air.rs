//! Air: drag of each face against still air or wind.
//!
//! ```text
//! F = ½ ρ A ( C_n |u_n| u_n + C_t |u_t| u_t ),   u = wind − mean velocity of the face
//! ```
//!
//! The indices n and t mean along and across the face normal, A is the face's present area; a third
//! of F acts on each corner. This is the drag of a flat plate; each face is on its own (no
//! shadowing, no wake). The two speeds are taken from the start of the loop and the rest is
//! implicit in the velocity, so drag can stop a face but never turn it back.

use std::f64::consts::TAU;

use glam::{DMat3, DVec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::stretch::{Triangle, outer};

/// The air around the cloth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Air {
    /// Density ρ, kg/m³: 1.2 for air at sea level, 0 (default) for none.
    pub density: f64,
    /// Drag coefficient of a face that meets the air head-on; about 1.2 for a flat plate.
    pub drag: f64,
    /// Skin friction coefficient of a face that the air passes along; about 0.01.
    pub friction: f64,
    /// Velocity of the air, m/s.
    pub wind: [f64; 3],
    /// Sideways gusts, as a share of the wind speed; horizontal, carried along with the wind.
    pub gust: f64,
    /// Time between two gusts at one place, s; above 0.
    pub gust_period: f64,
}

impl Default for Air {
    fn default() -> Self {
        Self {
            density: 0.0,
            drag: 1.2,
            friction: 0.01,
            wind: [0.0; 3],
            gust: 0.0,
            gust_period: 0.5,
        }
    }
}

impl Air {
    /// Velocity of the air at a place and time.
    ///
    /// A gust is a wave across the wind that travels with it: `gust |w| sin(2π (t − ŵ·x/|w|) /
    /// period)`, horizontal (across wind and Y; along X in a vertical wind).
    fn velocity(&self, x: DVec3, time: f64) -> DVec3 {
        let wind = DVec3::from_array(self.wind);
        let speed = wind.length();
        if self.gust == 0.0 || speed == 0.0 {
            return wind;
        }
        let side = wind.cross(DVec3::Y).try_normalize().unwrap_or(DVec3::X);
        let phase = (time - wind.dot(x) / (speed * speed)) / self.gust_period;
        wind + self.gust * speed * libm::sin(TAU * phase) * side
    }

    /// Drag of the faces at a state.
    pub(super) fn drag(
        &self,
        faces: &[Triangle],
        x: &[DVec3],
        v: &[DVec3],
        time: f64,
        out: &mut Vec<Drag>,
    ) {
        out.clear();
        if self.density == 0.0 {
            return;
        }
        out.extend(faces.iter().map(|&Triangle { vertices, .. }| {
            let [a, b, c] = vertices.map(|i| x[i as usize]);
            let twice = (b - a).cross(c - a);
            let area = 0.5 * twice.length();
            let normal = twice.normalize_or_zero();
            let wind = self.velocity((a + b + c) / 3.0, time);
            let mean = vertices.map(|i| v[i as usize]).iter().sum::<DVec3>() / 3.0;
            let flow = wind - mean;
            let along = flow.dot(normal);
            let dynamic = 0.5 * self.density * area;
            Drag {
                vertices,
                normal,
                wind,
                across: dynamic * self.friction * (flow - along * normal).length(),
                along: dynamic * self.drag * along.abs(),
            }
        }));
    }
}

/// Linear drag of one face: `F = R (wind − v)`, `R = across I + (along − across) n nᵀ`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drag {
    pub(super) vertices: [u32; 3],
    normal: DVec3,
    wind: DVec3,
    /// N·s/m.
    across: f64,
    /// N·s/m.
    along: f64,
}

impl Drag {
    fn resistance(&self, u: DVec3) -> DVec3 {
        self.across * u + (self.along - self.across) * self.normal.dot(u) * self.normal
    }

    /// Adds the force of the wind on a face at rest, a third at each corner.
    pub(super) fn add_wind_force(&self, f: &mut [DVec3]) {
        let third = self.resistance(self.wind) / 3.0;
        for v in self.vertices {
            f[v as usize] += third;
        }
    }

    /// `out += scale · D v`: minus the force on a face that moves in still air.
    pub(super) fn add_product(&self, scale: f64, v: &[DVec3], out: &mut [DVec3]) {
        let mean = self.vertices.map(|i| v[i as usize]).iter().sum::<DVec3>() / 3.0;
        let third = self.resistance(mean) * (scale / 3.0);
        for i in self.vertices {
            out[i as usize] += third;
        }
    }

    /// The block of D that every pair of corners (also a corner with itself) has.
    pub(super) fn matrix(&self) -> DMat3 {
        let rank_one = outer((self.along - self.across) * self.normal, self.normal);
        (DMat3::from_diagonal(DVec3::splat(self.across)) + rank_one) * (1.0 / 9.0)
    }
}
