//! Fabrics: what a cloth weighs and how it resists, per area, so that any mesh of it behaves alike.
//!
//! All stiffnesses are those of the continuous sheet: stretch and shear as force per width and
//! strain (N/m), bending as moment per width and curvature (N·m). The element files turn them into
//! spring constants with the rest geometry, which is what makes the response independent of the
//! resolution.

use glam::DVec2;
use serde::Serialize;

/// A fabric, in SI units. Directions are those of the material coordinates: warp = u, weft = v.
///
/// In a scene file either a name (`"denim"`) or a table of these keys, where `like = "denim"` sets
/// those that are not given; without `like` it is cotton.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fabric {
    /// Mass per area, kg/m²; above 0.
    pub density: f64,
    /// Resistance to stretching along warp and weft, N/m (force per width at strain 1).
    pub stretch: [f64; 2],
    /// Coupling of warp and weft (Poisson effect), N/m: stretching one direction by strain 1 pulls
    /// this much across. At most the geometric mean of the two stretch stiffnesses in magnitude.
    /// Springs have none.
    pub coupling: f64,
    /// Shear modulus, N/m (force per width at shear angle 1 rad).
    pub shear: f64,
    /// Bending rigidity along warp, bias (45°) and weft, N·m (moment per width at curvature 1/m).
    pub bend: [f64; 3],
    /// Damping of stretching and shearing relative to their stiffness, s: an element at rate ε̇
    /// resists like one strained by damping·ε̇. 0 = none.
    pub stretch_damping: f64,
    /// Damping of bending relative to its stiffness, s. 0 = none.
    pub bend_damping: f64,
    /// Largest strain that is let through (0.1 = stretched by a tenth), in the worst direction of
    /// each triangle; `inf` for no limit.
    pub strain_limit: f64,
}

impl Default for Fabric {
    fn default() -> Self {
        Self {
            density: 0.2,
            stretch: [1000.0, 1000.0],
            coupling: 0.0,
            shear: 50.0,
            bend: [1.0e-5, 1.0e-5, 1.0e-5],
            stretch_damping: 1.0e-3,
            bend_damping: 1.0e-2,
            strain_limit: 0.1,
        }
    }
}

impl Fabric {
    /// Modulus of a spring whose rest direction in material coordinates is `d` (any length), N/m.
    ///
    /// Springs along warp and weft carry the stretch stiffness, springs at 45° the shear. In
    /// between
    ///
    /// ```text
    /// Y(φ) = (warp cos²φ + weft sin²φ) cos²2φ + 4 shear sin²2φ
    /// ```
    ///
    /// The factor 4: a square cell of side h with one diagonal of constant Y/2 (see `springs.rs`)
    /// stores Y h² γ²/8 under a shear angle γ, and must store shear·h² γ²/2.
    pub fn spring_modulus(&self, d: DVec2) -> f64 {
        let [warp, weft] = self.stretch;
        let length_squared = d.length_squared();
        let (cc, ss) = (d.x * d.x / length_squared, d.y * d.y / length_squared);
        let bias = 4.0 * cc * ss;
        (warp * cc + weft * ss) * (1.0 - bias) + 4.0 * self.shear * bias
    }

    /// D₁₁, D₂₂ and D₆₆ of the plate ([`super::bend`]), N·m.
    ///
    /// A bias rigidity below half the mean of warp and weft would need a negative D₆₆; twisting
    /// then keeps a hundredth of the softer direction, so that no bending is free.
    pub(super) fn plate_rigidity(&self) -> [f64; 3] {
        let [warp, bias, weft] = self.bend;
        let twist = (4.0 * bias - warp - weft).max(0.01 * warp.min(weft));
        [warp, weft, 0.25 * twist]
    }
}
