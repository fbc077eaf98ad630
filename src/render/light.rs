//! Light: a sky of many directions and a broad lamp, each direction with its own shadow map.
//!
//! Soft shadows, contact shadows and ambient occlusion are one thing here: the share of directions that are
//! not blocked. Nothing is random and nothing depends on the picture, so frames of a sequence do not flicker.

use glam::{DVec2, DVec3, Vec2, Vec3};
use rayon::prelude::*;

use super::raster::Flat;

/// Directions of the sky.
const SKY_COUNT: usize = 72;
/// Directions of the lamp.
const LAMP_COUNT: usize = 28;
/// Half-angle of the lamp seen from the scene, as a tangent: penumbras are this share of a shadow's length.
const LAMP_SPREAD: f64 = 0.10;
/// Texels across a shadow map of the sky, and of the lamp.
const SKY_TEXELS: usize = 288;
const LAMP_TEXELS: usize = 640;
/// How far a point is lifted off its surface before the maps are asked, in texels.
///
/// The depth of a plane at angle θ to the light varies by up to √2 tan θ texels over the four texels of a
/// bilinear look-up; a lift of δ texels along the normal clears δ / cos θ. So δ = √2 sin θ is enough for
/// every θ, and 1.5 leaves room for rounding and for the curvature within a texel.
const LIFT: f32 = 1.5;
/// The golden angle, π (3 − √5), which spreads points evenly on discs and spheres (Vogel 1979).
const GOLDEN_ANGLE: f64 = 2.399_963_229_728_653;

/// Light from one direction.
#[derive(Clone, Debug)]
struct Beam {
    /// Unit vector towards the light.
    towards: Vec3,
    /// Light on a surface that faces it.
    light: Vec3,
    shadow: ShadowMap,
}

/// All light of a picture.
#[derive(Clone, Debug)]
pub(super) struct Lights {
    beams: Vec<Beam>,
}

/// Light that arrives at a point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arriving {
    /// What a white matte surface sends back.
    pub(super) light: Vec3,
    /// What it would if nothing stood in the way.
    pub(super) unblocked: Vec3,
    /// Share of the sky that is seen, weighted by the cosine.
    pub(super) openness: f32,
}

impl Lights {
    /// Lights for a camera whose right and backward directions are given (the lamp stands upper left of it);
    /// casters in metres from the picture's target.
    pub(super) fn new(
        right: DVec3,
        backward: DVec3,
        points: &[Vec3],
        casters: &[[u32; 3]],
    ) -> Self {
        let level = |v: DVec3| DVec3::new(v.x, 0.0, v.z).normalize_or(DVec3::Z);
        let lamp = (-0.75 * level(right) + 0.55 * level(backward) + 1.15 * DVec3::Y).normalize();
        let (u, v) = lamp.any_orthonormal_pair();

        let mut plan: Vec<(DVec3, Vec3, usize)> = Vec::with_capacity(SKY_COUNT + LAMP_COUNT);
        let zenith = Vec3::new(0.98, 1.0, 1.05);
        let horizon = Vec3::new(0.80, 0.78, 0.76);
        for k in 0..SKY_COUNT {
            // even over the half-sphere: equal steps of height have equal area (Archimedes)
            let height = (k as f64 + 0.5) / SKY_COUNT as f64;
            let radius = (1.0 - height * height).sqrt();
            let angle = GOLDEN_ANGLE * k as f64;
            let towards = DVec3::new(radius * libm::cos(angle), height, radius * libm::sin(angle));
            // Σ cos = SKY_COUNT / 2 for a surface that faces the zenith
            let light = horizon.lerp(zenith, height as f32) * (SKY_LIGHT * 2.0 / SKY_COUNT as f32);
            plan.push((towards, light, SKY_TEXELS));
        }
        for k in 0..LAMP_COUNT {
            let radius = LAMP_SPREAD * ((k as f64 + 0.5) / LAMP_COUNT as f64).sqrt();
            let angle = GOLDEN_ANGLE * k as f64;
            let off = radius * (libm::cos(angle) * u + libm::sin(angle) * v);
            let light = Vec3::new(1.04, 1.0, 0.94) * (LAMP_LIGHT / LAMP_COUNT as f32);
            plan.push(((lamp + off).normalize(), light, LAMP_TEXELS));
        }
        let beams = plan
            .into_par_iter()
            .map(|(towards, light, texels)| Beam {
                towards: towards.as_vec3(),
                light,
                shadow: ShadowMap::new(towards, texels, points, casters),
            })
            .collect();
        Self { beams }
    }

    /// Light at a point with a unit normal; `facet` is the normal of its flat face, on the same side.
    pub(super) fn at(&self, point: Vec3, normal: Vec3, facet: Vec3) -> Arriving {
        let mut arriving = Arriving {
            light: Vec3::ZERO,
            unblocked: Vec3::ZERO,
            openness: 0.0,
        };
        let mut weight = 0.0;
        for (k, beam) in self.beams.iter().enumerate() {
            let cosine = normal.dot(beam.towards);
            if cosine <= 0.0 {
                continue;
            }
            let seen = beam.shadow.seen(point, facet);
            arriving.light += beam.light * (cosine * seen);
            arriving.unblocked += beam.light * cosine;
            if k < SKY_COUNT {
                arriving.openness += cosine * seen;
                weight += cosine;
            }
        }
        arriving.openness = if weight > 0.0 {
            arriving.openness / weight
        } else {
            0.0
        };
        // what the ground throws back up, as far as the point is not closed in
        let bounce = 0.5 - 0.5 * normal.y;
        arriving.light += BOUNCE_LIGHT * bounce * (0.25 + 0.75 * arriving.openness);
        arriving.unblocked += BOUNCE_LIGHT * bounce;
        arriving
    }
}

/// Light of the whole sky on a surface that faces up.
const SKY_LIGHT: f32 = 0.50;
/// Light of the lamp on a surface that faces it.
const LAMP_LIGHT: f32 = 0.62;
/// Light from below.
const BOUNCE_LIGHT: Vec3 = Vec3::new(0.20, 0.19, 0.18);

/// What is nearest to the light on each of its rays.
#[derive(Clone, Debug)]
struct ShadowMap {
    across: Vec3,
    down: Vec3,
    towards: Vec3,
    /// Map coordinates of texel (0, 0), in metres.
    corner: Vec2,
    texels_per_metre: f32,
    texel: f32,
    width: usize,
    height: usize,
    nearness: Vec<f32>,
}

impl ShadowMap {
    /// Draws the casters as seen from the light; `texels` along the longer side.
    fn new(towards: DVec3, texels: usize, points: &[Vec3], casters: &[[u32; 3]]) -> Self {
        let (across, down) = towards.any_orthonormal_pair();
        let place = |p: Vec3| {
            let p = p.as_dvec3();
            (DVec2::new(p.dot(across), p.dot(down)), p.dot(towards))
        };
        let used = || {
            casters
                .iter()
                .flatten()
                .map(|&v| points[v as usize])
                .filter(|p| p.is_finite())
        };
        let (least, greatest) = used().fold(
            (DVec2::INFINITY, DVec2::NEG_INFINITY),
            |(least, greatest), p| {
                let q = place(p).0;
                (least.min(q), greatest.max(q))
            },
        );
        let size = (greatest - least).max_element();
        if !(size > 0.0) {
            return Self::empty(towards);
        }
        // one free texel all round, so that the border is always lit
        let texel = size / (texels - 2) as f64;
        let corner = least - texel;
        let [width, height] = ((greatest - least) / texel)
            .ceil()
            .to_array()
            .map(|n| n as usize + 2);
        let placed: Vec<(DVec2, f64)> = points.iter().map(|&p| place(p)).collect();
        let mut nearness = vec![f32::NEG_INFINITY; width * height];
        for face in casters {
            let [(a, na), (b, nb), (c, nc)] = face.map(|v| {
                let (q, n) = placed[v as usize];
                ((q - corner) / texel, n)
            });
            if !(a + b + c).is_finite() {
                continue;
            }
            if let Some(flat) = Flat::new([a, b, c], [na, nb, nc], 0) {
                flat.cover(width, 0, height, |index, n| {
                    nearness[index] = nearness[index].max(n);
                });
            }
        }
        Self {
            across: across.as_vec3(),
            down: down.as_vec3(),
            towards: towards.as_vec3(),
            corner: corner.as_vec2(),
            texels_per_metre: texel.recip() as f32,
            texel: texel as f32,
            width,
            height,
            nearness,
        }
    }

    /// A map of nothing.
    fn empty(towards: DVec3) -> Self {
        Self {
            across: Vec3::ZERO,
            down: Vec3::ZERO,
            towards: towards.as_vec3(),
            corner: Vec2::ZERO,
            texels_per_metre: 0.0,
            texel: 0.0,
            width: 0,
            height: 0,
            nearness: vec![],
        }
    }

    /// Share of the light that reaches a point, 0 to 1: four texels, weighted bilinearly.
    #[inline]
    fn seen(&self, point: Vec3, facet: Vec3) -> f32 {
        let p = point + facet * (LIFT * self.texel);
        let q = (Vec2::new(p.dot(self.across), p.dot(self.down)) - self.corner)
            * self.texels_per_metre
            - 0.5;
        let (i, j) = (q.x.floor(), q.y.floor());
        if !(i >= 0.0 && j >= 0.0 && i < self.width as f32 - 1.0 && j < self.height as f32 - 1.0) {
            return 1.0;
        }
        let (s, t) = (q.x - i, q.y - j);
        let own = p.dot(self.towards);
        let index = j as usize * self.width + i as usize;
        let lit = |k: usize| if self.nearness[k] > own { 0.0 } else { 1.0 };
        let upper = lit(index) * (1.0 - s) + lit(index + 1) * s;
        let lower = lit(index + self.width) * (1.0 - s) + lit(index + self.width + 1) * s;
        upper * (1.0 - t) + lower * t
    }
}
