//! Light: a sky of many directions and a broad lamp, each direction with its own shadow map.
//!
//! Soft shadows, contact shadows and ambient occlusion are one thing here: the share of directions
//! that are not blocked. Nothing is random and nothing depends on the pixel, so frames of a
//! sequence do not flicker.

use glam::{DVec2, DVec3, Vec3, Vec4};
use rayon::prelude::*;

use super::raster::Flat;

/// Directions of the sky.
const SKY_COUNT: usize = 96;
/// Height of the sky's directions: this power of an even step; 1 is even over the sky, ½ is by the
/// cosine.
const SKY_BIAS: f64 = 0.7;
/// Light of the whole sky on a surface that faces up.
const SKY_LIGHT: f32 = 0.48;
/// Colour of the sky above and at the horizon.
const ZENITH: Vec3 = Vec3::new(0.98, 1.0, 1.04);
const HORIZON: Vec3 = Vec3::new(0.84, 0.83, 0.82);

/// Directions of the lamp.
const LAMP_COUNT: usize = 40;
/// Half-angle of the lamp seen from the scene, as a tangent: a penumbra is twice this share of a
/// shadow's length.
const LAMP_SPREAD: f64 = 0.075;
/// Light of the lamp on a surface that faces it.
const LAMP_LIGHT: f32 = 0.85;
const LAMP_COLOUR: Vec3 = Vec3::new(1.02, 1.0, 0.965);

/// Light from below on a surface that faces down.
const BOUNCE_LIGHT: Vec3 = Vec3::new(0.20, 0.195, 0.19);

/// Texels along the longer side of a shadow map of the sky, and of the lamp.
const SKY_TEXELS: usize = 288;
const LAMP_TEXELS: usize = 512;
/// How far a point is lifted off its surface before the maps are asked, in texels.
///
/// The depth of a plane at angle θ to the light varies by up to √2 tan θ texels over the four
/// texels of a bilinear look-up; a lift of δ texels along the normal clears δ / cos θ. So δ = √2
/// sin θ is enough for every θ, and 1.5 leaves room for rounding and for the curvature within a
/// texel.
const LIFT: f64 = 1.5;
/// The golden angle, π (3 − √5), which spreads points evenly on discs and spheres (Vogel 1979).
const GOLDEN_ANGLE: f64 = 2.399_963_229_728_653;

/// Light that arrives at a point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arriving {
    /// What a white matte surface sends back.
    pub(super) light: Vec3,
    /// What it would if nothing stood in the way.
    pub(super) unblocked: Vec3,
}

/// All light of a picture.
#[derive(Clone, Debug)]
pub(super) struct Lights {
    bundles: Vec<Bundle>,
}

impl Lights {
    /// Lights for a camera with these directions to its right and behind it: the lamp stands upper
    /// left. Points are in metres from the picture's target.
    pub(super) fn new(
        right: DVec3,
        backward: DVec3,
        points: &[Vec3],
        casters: &[[u32; 3]],
    ) -> Self {
        let beams: Vec<Beam> = sky()
            .chain(lamp(right, backward))
            .collect::<Vec<_>>()
            .into_par_iter()
            .map(|(towards, light, texels)| Beam {
                light,
                shadow: ShadowMap::new(towards, texels, points, casters),
            })
            .collect();
        let mut bundles = vec![];
        let mut beams = beams.into_iter().peekable();
        while beams.peek().is_some() {
            bundles.push(Bundle::new(beams.by_ref().take(LANES)));
        }
        Self { bundles }
    }

    /// Light on a white matte surface with this normal if nothing stood in the way.
    pub(super) fn unblocked(&self, normal: Vec3) -> Vec3 {
        // as far from any caster as numbers go
        self.at(Vec3::splat(f32::MAX), normal, normal).unblocked
    }

    /// Light at a point with a unit normal; `facet` is the normal of its flat face, on the same
    /// side.
    pub(super) fn at(&self, point: Vec3, normal: Vec3, facet: Vec3) -> Arriving {
        let mut sums = Sums::default();
        for bundle in &self.bundles {
            bundle.add(point, normal, facet, &mut sums);
        }
        let [light, unblocked] = [sums.light, sums.unblocked]
            .map(|lanes| Vec3::from_array(lanes.map(Vec4::element_sum)));
        let openness = light.element_sum() / unblocked.element_sum().max(f32::MIN_POSITIVE);
        // what the ground throws back up, as far as the point is not closed in
        let bounce = BOUNCE_LIGHT * (0.5 - 0.5 * normal.y);
        Arriving {
            light: light + bounce * (0.3 + 0.7 * openness),
            unblocked: unblocked + bounce,
        }
    }
}

/// Direction, light and map size of each beam of the sky.
fn sky() -> impl Iterator<Item = (DVec3, Vec3, usize)> {
    (0..SKY_COUNT).map(|k| {
        // Equal steps of height have equal area on the sphere (Archimedes). Here directions are
        // denser towards the zenith, where each counts most for the ground, and have less light in
        // turn.
        let step = (k as f64 + 0.5) / SKY_COUNT as f64;
        let height = libm::pow(step, SKY_BIAS);
        let per_step = SKY_BIAS * libm::pow(step, SKY_BIAS - 1.0); // d height / d step
        let radius = (1.0 - height * height).sqrt();
        let angle = GOLDEN_ANGLE * k as f64;
        let towards = DVec3::new(radius * libm::cos(angle), height, radius * libm::sin(angle));
        // facing up, ∫ height d height = ½
        let share = 2.0 * per_step / SKY_COUNT as f64;
        let light = HORIZON.lerp(ZENITH, height as f32) * (SKY_LIGHT * share as f32);
        (towards, light, SKY_TEXELS)
    })
}

/// The same of the lamp, a disc.
fn lamp(right: DVec3, backward: DVec3) -> impl Iterator<Item = (DVec3, Vec3, usize)> {
    let level = |v: DVec3| DVec3::new(v.x, 0.0, v.z).normalize_or(DVec3::Z);
    let middle = (-level(right) + 0.35 * level(backward) + DVec3::Y).normalize();
    let (u, v) = middle.any_orthonormal_pair();
    (0..LAMP_COUNT).map(move |k| {
        let radius = LAMP_SPREAD * ((k as f64 + 0.5) / LAMP_COUNT as f64).sqrt();
        let angle = GOLDEN_ANGLE * k as f64;
        let off = radius * (libm::cos(angle) * u + libm::sin(angle) * v);
        let light = LAMP_COLOUR * (LAMP_LIGHT / LAMP_COUNT as f32);
        ((middle + off).normalize(), light, LAMP_TEXELS)
    })
}

/// Light from one direction.
#[derive(Clone, Debug)]
struct Beam {
    /// Light on a surface that faces it.
    light: Vec3,
    shadow: ShadowMap,
}

/// What is nearest to the light on each of its rays.
#[derive(Clone, Debug)]
struct ShadowMap {
    /// Unit vectors along its rows, along its columns, and towards the light.
    axes: [DVec3; 3],
    /// Places of its first texel along the first two.
    corner: DVec2,
    /// Size of a texel, in metres.
    texel: f64,
    width: usize,
    nearness: Vec<f32>,
}

impl ShadowMap {
    /// Draws the casters as seen from the light; `texels` along the longer side.
    fn new(towards: DVec3, texels: usize, points: &[Vec3], casters: &[[u32; 3]]) -> Self {
        let (across, down) = towards.any_orthonormal_pair();
        let axes = [across, down, towards];
        let placed: Vec<DVec3> = points
            .iter()
            .map(|p| {
                let p = p.as_dvec3();
                DVec3::new(p.dot(across), p.dot(down), p.dot(towards))
            })
            .collect();
        let used = casters.iter().flatten().map(|&v| placed[v as usize]);
        let (least, greatest) = used.fold(
            (DVec3::INFINITY, DVec3::NEG_INFINITY),
            |(least, greatest), q| (least.min(q), greatest.max(q)),
        );
        let size = (greatest - least).truncate();
        let mut map = Self {
            axes,
            corner: DVec2::ZERO,
            texel: 1.0,
            width: 2,
            nearness: vec![f32::NEG_INFINITY; 4],
        };
        if casters.is_empty() {
            return map;
        }
        // two free texels all round, so that the border is lit; what is asked beyond it gets the
        // border's answer
        map.texel = size.max_element() / (texels - 4) as f64;
        map.corner = least.truncate() - 2.0 * map.texel;
        let [width, height] = (size / map.texel).to_array().map(|n| n.ceil() as usize + 4);
        map.width = width;
        map.nearness = vec![f32::NEG_INFINITY; width * height];
        for face in casters {
            let [a, b, c] = face.map(|v| placed[v as usize]);
            let corners = [a, b, c].map(|q| (q.truncate() - map.corner) / map.texel);
            if let Some(flat) = Flat::new(corners, [a.z, b.z, c.z], 0) {
                flat.cover(width, 0, height, |index, n| {
                    map.nearness[index] = map.nearness[index].max(n);
                });
            }
        }
        map
    }
}

/// Beams that are computed side by side, one in each lane of a [`Vec4`].
const LANES: usize = 4;

/// Up to four beams. Map places are in texels from the middle of the first one.
#[derive(Clone, Debug, Default)]
struct Bundle {
    towards: [Vec4; 3],
    across: [Vec4; 3],
    down: [Vec4; 3],
    corner: [Vec4; 2],
    /// Largest place at which a texel to the right and one below exist.
    most: [Vec4; 2],
    lift: Vec4,
    per_texel: Vec4,
    light: [Vec4; 3],
    width: Vec4,
    maps: [(usize, Vec<f32>); LANES],
}

/// Red, green and blue that arrive, and that would if nothing stood in the way; summed lane by
/// lane.
#[derive(Default)]
struct Sums {
    light: [Vec4; 3],
    unblocked: [Vec4; 3],
}

impl Bundle {
    /// An unused lane points nowhere: its cosine is 0.
    fn new(beams: impl Iterator<Item = Beam>) -> Self {
        let mut bundle = Self::default();
        for (lane, Beam { light, shadow }) in beams.enumerate() {
            let size = [shadow.width, shadow.nearness.len() / shadow.width];
            for axis in 0..3 {
                bundle.across[axis][lane] = (shadow.axes[0][axis] / shadow.texel) as f32;
                bundle.down[axis][lane] = (shadow.axes[1][axis] / shadow.texel) as f32;
                bundle.towards[axis][lane] = shadow.axes[2][axis] as f32;
                bundle.light[axis][lane] = light[axis];
            }
            for (axis, size) in size.into_iter().enumerate() {
                bundle.corner[axis][lane] = (shadow.corner[axis] / shadow.texel + 0.5) as f32;
                // in the free border, where any place gives the same
                bundle.most[axis][lane] = size as f32 - 1.5;
            }
            bundle.lift[lane] = (LIFT * shadow.texel) as f32;
            bundle.per_texel[lane] = shadow.texel.recip() as f32;
            bundle.width[lane] = shadow.width as f32;
            bundle.maps[lane] = (shadow.width, shadow.nearness);
        }
        bundle
    }

    /// Adds the light of these beams at a point: the share of each that is not blocked is found
    /// from four texels, weighted bilinearly.
    #[inline]
    fn add(&self, point: Vec3, normal: Vec3, facet: Vec3, sums: &mut Sums) {
        let cosine = along(
            &self.towards,
            [normal.x, normal.y, normal.z].map(Vec4::splat),
        );
        if cosine.cmple(Vec4::ZERO).all() {
            return;
        }
        let lifted = [
            Vec4::splat(point.x) + Vec4::splat(facet.x) * self.lift,
            Vec4::splat(point.y) + Vec4::splat(facet.y) * self.lift,
            Vec4::splat(point.z) + Vec4::splat(facet.z) * self.lift,
        ];
        let own = along(&self.towards, lifted);
        // whatever is beyond the border (or not a number) is asked at the border
        let x = (along(&self.across, lifted) - self.corner[0])
            .max(Vec4::ZERO)
            .min(self.most[0]);
        let y = (along(&self.down, lifted) - self.corner[1])
            .max(Vec4::ZERO)
            .min(self.most[1]);
        let (column, row) = (x.floor(), y.floor());
        let (s, t) = (x - column, y - row);
        // exact: maps have less than 2²⁴ texels
        let index = (row * self.width + column).to_array();

        let mut nearness = [[f32::NEG_INFINITY; LANES]; 4];
        for (lane, (width, map)) in self.maps.iter().enumerate() {
            if cosine[lane] > 0.0 {
                let index = index[lane] as u32 as usize;
                let texels = &map[index..index + width + 2];
                nearness[0][lane] = texels[0];
                nearness[1][lane] = texels[1];
                nearness[2][lane] = texels[*width];
                nearness[3][lane] = texels[width + 1];
            }
        }
        let lit = |k: usize| {
            // from lit to blocked over one texel of depth: what lies close above a surface has no
            // frayed shadow
            let over = (Vec4::from_array(nearness[k]) - own) * self.per_texel;
            Vec4::ONE - over.max(Vec4::ZERO).min(Vec4::ONE)
        };
        let upper = lit(0) + s * (lit(1) - lit(0));
        let lower = lit(2) + s * (lit(3) - lit(2));
        let seen = upper + t * (lower - upper);
        let full = cosine.max(Vec4::ZERO);
        let arriving = full * seen;
        for axis in 0..3 {
            sums.light[axis] += self.light[axis] * arriving;
            sums.unblocked[axis] += self.light[axis] * full;
        }
    }
}

/// Four products of vectors at once.
#[inline]
fn along(axes: &[Vec4; 3], v: [Vec4; 3]) -> Vec4 {
    axes[0] * v[0] + axes[1] * v[1] + axes[2] * v[2]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(half: f32, height: f32) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let points = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
            .map(|(x, z)| Vec3::new(half * x, height, half * z));
        (points.to_vec(), vec![[0, 2, 1], [0, 3, 2]])
    }

    /// Share of the green light that is not blocked.
    fn share(arriving: Arriving) -> f32 {
        arriving.light.y / arriving.unblocked.y
    }

    fn lights(points: &[Vec3], faces: &[[u32; 3]]) -> Lights {
        Lights::new(DVec3::X, DVec3::Z, points, faces)
    }

    #[test]
    fn an_open_place_gets_all_the_light_there_is() {
        let open = lights(&[], &[]).at(Vec3::ZERO, Vec3::Y, Vec3::Y);
        assert_eq!(open.light, open.unblocked);
        // sky: midpoint rule of the closed integral; lamp: cosine of its middle
        let lamp = DVec3::new(-1.0, 1.0, 0.35).normalize().y as f32;
        let expected = SKY_LIGHT * (HORIZON.y / 3.0 + ZENITH.y * 2.0 / 3.0) + LAMP_LIGHT * lamp;
        assert!(
            (open.light.y - expected).abs() < 0.01 * expected,
            "{} {expected}",
            open.light.y
        );
    }

    #[test]
    fn a_large_roof_near_the_ground_leaves_only_what_comes_from_its_rim() {
        let (points, faces) = square(1.0, 0.2);
        let lights = lights(&points, &faces);
        let below = lights.at(Vec3::ZERO, Vec3::Y, Vec3::Y);
        assert!(share(below) < 0.1, "{}", share(below));
        let above = lights.at(Vec3::new(0.0, 0.2, 0.0), Vec3::Y, Vec3::Y);
        assert!(
            share(above) > 0.999,
            "no shadow of its own: {}",
            share(above)
        );
        let away = lights.at(Vec3::new(-9.0, 0.0, 0.0), Vec3::Y, Vec3::Y);
        assert!(share(away) > 0.97, "{}", share(away));
    }

    #[test]
    fn planes_of_any_tilt_have_no_shadow_of_their_own() {
        for k in 0..24 {
            let tilt = f64::from(k) * 0.26;
            let normal = DVec3::new(libm::sin(tilt), libm::cos(tilt), 0.3).normalize();
            let (u, v) = normal.any_orthonormal_pair();
            let (points, faces) = square(1.0, 0.0);
            let points: Vec<Vec3> = points
                .iter()
                .map(|p| (f64::from(p.x) * u + f64::from(p.z) * v).as_vec3())
                .collect();
            let lights = lights(&points, &faces);
            let normal = normal.as_vec3();
            for i in 0..100u8 {
                let at = |k: u8| f32::from(k) / 10.0 * 1.7 - 0.85;
                let p = at(i % 10) * u.as_vec3() + at(i / 10) * v.as_vec3();
                let arriving = lights.at(p, normal, normal);
                assert!(share(arriving) > 0.999, "tilt {tilt}: {}", share(arriving));
            }
        }
    }
}
