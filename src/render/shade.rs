//! Surfaces, ground and background to light.

use glam::{DVec2, DVec3, Vec3};

use super::camera::{Camera, View};
use super::image::Colour;
use super::light::Lights;
use super::raster::EMPTY;
use super::strain::light_of;
use super::surface::Surface;
use super::{Paint, Picture, Settings, Shading};

/// Colour of marked faces.
const MARK: Colour = Colour([226, 24, 28]);
/// The ground begins to fade at this many radii of the camera from its target, and is gone at the
/// second.
const FADE: [f32; 2] = [1.2, 4.0];
/// Width of the edges of faces, in pixels.
const WIRE: f64 = 0.9;
/// Shadows on the ground are found at every so many pixels, and are smooth in between: a texel of a
/// shadow map is wider than that.
const GROUND_STEP: usize = 2;
/// Faces around a corner whose normals have at least this cosine are shaded as one within a pixel.
const ALIKE: f32 = 0.95;

/// All that is needed to find the light of a place on a face.
pub(super) struct Shader<'a> {
    picture: &'a Picture<'a>,
    settings: &'a Settings,
    lights: Lights,
    /// Radius of the camera, in metres.
    radius: f32,
    paints: Vec<[Vec3; 2]>,
    background: [Vec3; 2],
    mark: Vec3,
    pub(super) view: View,
    pub(super) surface: Surface,
    /// Positions in view axes.
    pub(super) seen: Vec<DVec3>,
}

impl<'a> Shader<'a> {
    pub(super) fn new(picture: &'a Picture<'a>, camera: &Camera, settings: &'a Settings) -> Self {
        let view = camera.view(settings.width, settings.height);
        let surface = Surface::new(picture, camera.target);
        let casters: Vec<[u32; 3]> = surface
            .faces
            .iter()
            .zip(&surface.origin)
            .filter(|(_, (model, _))| !picture.models[*model as usize].ground)
            .map(|(face, _)| *face)
            .collect();
        let paints = picture.models.iter().map(|model| match model.paint {
            Paint::TwoSided(front, back) => [front.to_linear(), back.to_linear()],
            Paint::FaceColours(_) | Paint::VertexValues(_) | Paint::FaceValues(_) => [Vec3::ONE; 2],
        });
        Self {
            picture,
            settings,
            lights: Lights::new(view.right, -view.forward, &surface.points, &casters),
            radius: camera.radius() as f32,
            paints: paints.collect(),
            background: settings.background.map(Colour::to_linear),
            mark: MARK.to_linear(),
            seen: surface.positions.iter().map(|&p| view.to_view(p)).collect(),
            view,
            surface,
        }
    }

    /// Light from what is seen at a place in pixels, ready for the screen.
    pub(super) fn light(&self, id: u32, place: DVec2, ground: &mut GroundShade) -> Vec3 {
        if id == EMPTY {
            return self.background_at(place);
        }
        let face = id as usize;
        if let Some(line) = face.checked_sub(self.surface.faces.len()) {
            return self.picture.lines[line].colour.to_linear();
        }
        let (number, _) = self.surface.origin[face];
        if self.picture.models[number as usize].ground {
            self.ground_light(face, place, ground)
        } else {
            self.surface_light(face, place)
        }
    }

    /// Whether two faces, if in one pixel, may be shaded as one: they meet, lie nearly in one plane
    /// and have one paint.
    pub(super) fn alike(&self, a: u32, b: u32) -> bool {
        let (a, b) = (a as usize, b as usize);
        let count = self.surface.faces.len();
        if a >= count || b >= count || self.surface.origin[a].0 != self.surface.origin[b].0 {
            return false;
        }
        let model = &self.picture.models[self.surface.origin[a].0 as usize];
        if model.ground {
            return true;
        }
        let [p, q] = [a, b].map(|face| self.surface.faces[face]);
        p.iter().any(|v| q.contains(v))
            && self.surface.facets[a].dot(self.surface.facets[b]) >= ALIKE
            && model.shading != Shading::Flat
            && model.marked.is_empty()
            && !matches!(model.paint, Paint::FaceValues(_) | Paint::FaceColours(_))
            && !self.settings.wire
    }

    /// Smooth from top to bottom.
    fn background_at(&self, place: DVec2) -> Vec3 {
        let t = (place.y / f64::from(self.settings.height)) as f32;
        self.background[0].lerp(self.background[1], smooth(t))
    }

    fn surface_light(&self, face: usize, place: DVec2) -> Vec3 {
        let corners = self.surface.faces[face];
        let ray = self.view.ray(place);
        let weights = weights(ray, corners.map(|v| self.seen[v as usize]));
        let blend = |v: [Vec3; 3]| v[0] * weights[0] + v[1] * weights[1] + v[2] * weights[2];
        let point = blend(corners.map(|v| self.surface.points[v as usize]));
        let to_eye = -self.view.to_world(ray).normalize().as_vec3();

        let facet = self.surface.facets[face];
        let side = if facet.dot(to_eye) >= 0.0 { 1.0 } else { -1.0 };
        let facet = facet * side;
        let normal = side * quadratic(&self.surface.normals[face], weights).normalize_or(facet);

        let (number, own) = self.surface.origin[face];
        let model = &self.picture.models[number as usize];
        let paint = match model.paint {
            _ if model.marked.binary_search(&own).is_ok() => self.mark,
            Paint::TwoSided(..) => self.paints[number as usize][usize::from(side < 0.0)],
            Paint::FaceColours(colours) => {
                colours[own as usize][usize::from(side < 0.0)].to_linear()
            }
            Paint::FaceValues(values) => light_of(values[own as usize]),
            Paint::VertexValues(values) => {
                let shift = self.surface.shift[number as usize];
                let value =
                    |k: usize| values[(i64::from(corners[k]) + shift) as usize] * weights[k];
                light_of(value(0) + value(1) + value(2))
            }
        };
        let arriving = self.lights.at(point, normal, facet);
        // fibres that stand off the surface catch light at its outline
        let grazing = 1.0 - normal.dot(to_eye).clamp(0.0, 1.0);
        let sheen = SHEEN * grazing * grazing * grazing;
        let mut light = arriving.light * (paint + (root(paint) - paint) * sheen);
        if self.settings.wire {
            light *= 1.0 - 0.75 * self.wire_at(corners, place);
        }
        shoulder(light)
    }

    /// The ground near the target has its paint; farther out it is the background. Shadows fall on
    /// both.
    fn ground_light(&self, face: usize, place: DVec2, ground: &mut GroundShade) -> Vec3 {
        let (number, _) = self.surface.origin[face];
        let corner = self.surface.points[self.surface.faces[face][0] as usize];
        let eye = (self.view.eye - self.surface.target).as_vec3();
        let facet = self.surface.facets[face];
        let side = if facet.dot(eye - corner) >= 0.0 {
            1.0
        } else {
            -1.0
        };
        let normal = facet * side;
        let meet = |place: DVec2| {
            let ray = self.view.to_world(self.view.ray(place)).as_vec3();
            let t = (corner - eye).dot(normal) / ray.dot(normal);
            (t > 0.0).then(|| eye + t * ray)
        };
        let full = || self.lights.unblocked(normal);
        let (full, share) = ground.share(number, place, full, |place| {
            meet(place).map_or(Vec3::ONE, |point| {
                let arriving = self.lights.at(point, normal, normal);
                arriving.light / arriving.unblocked
            })
        });
        let Some(point) = meet(place) else {
            return self.background_at(place) * share;
        };
        let away = Vec3::new(point.x, 0.0, point.z).length() / self.radius;
        let t = smooth((away - FADE[0]) / (FADE[1] - FADE[0]));
        let paint = self.paints[number as usize][usize::from(side < 0.0)];
        let near = shoulder(paint * full);
        near.lerp(self.background_at(place), t) * share
    }

    /// How much of a pixel the edges of a face cover; less for faces that are only a few pixels
    /// large.
    fn wire_at(&self, corners: [u32; 3], place: DVec2) -> f32 {
        let q = corners.map(|v| self.seen[v as usize]);
        if q.iter().any(|q| q.z < self.view.near) {
            return 0.0;
        }
        let [a, b, c] = q.map(|q| self.view.to_pixel(q));
        let area = (b - a).perp_dot(c - a).abs();
        let (mut nearest, mut height) = (f64::INFINITY, f64::INFINITY);
        for [p, q] in [[a, b], [b, c], [c, a]] {
            let length = p.distance(q);
            nearest = nearest.min((q - p).perp_dot(place - p).abs() / length);
            height = height.min(area / length);
        }
        let line = (0.5 * WIRE + 0.5 - nearest).clamp(0.0, 1.0);
        (line * (height / 6.0).min(1.0)) as f32
    }
}

/// Strength of the sheen of fibres at grazing angles.
const SHEEN: f32 = 0.5;

/// Shadows on the ground in a band of pixels, found when first asked for.
pub(super) struct GroundShade {
    columns: usize,
    /// Row of the band's first pixels.
    top: usize,
    /// Per ground: its model, its light without shadows, and the share of it at the grid points.
    grounds: Vec<(u32, Vec3, Vec<Option<Vec3>>)>,
    count: usize,
}

impl GroundShade {
    pub(super) fn new(width: usize, top: usize, rows: usize) -> Self {
        let columns = width / GROUND_STEP + 2;
        Self {
            columns,
            top,
            grounds: vec![],
            count: columns * (rows / GROUND_STEP + 2),
        }
    }

    /// Light without shadows, and the share of it at a place in pixels, bilinear between grid
    /// points.
    fn share(
        &mut self,
        model: u32,
        place: DVec2,
        full: impl Fn() -> Vec3,
        at: impl Fn(DVec2) -> Vec3,
    ) -> (Vec3, Vec3) {
        let number = self.grounds.iter().position(|g| g.0 == model);
        let number = number.unwrap_or_else(|| {
            self.grounds.push((model, full(), vec![None; self.count]));
            self.grounds.len() - 1
        });
        let (_, full, values) = &mut self.grounds[number];
        let step = GROUND_STEP as f64;
        let origin = DVec2::new(0.0, self.top as f64);
        let q = ((place - origin) / step).max(DVec2::ZERO);
        let (i, j) = (q.x as usize, q.y as usize);
        let [a, b, c, d] = [(i, j), (i + 1, j), (i, j + 1), (i + 1, j + 1)].map(|(i, j)| {
            *values[j * self.columns + i]
                .get_or_insert_with(|| at(origin + step * DVec2::new(i as f64, j as f64)))
        });
        let (s, t) = ((q.x - i as f64) as f32, (q.y - j as f64) as f32);
        (*full, a.lerp(b, s).lerp(c.lerp(d, s), t))
    }
}

/// Weights of the corners where a ray from the eye meets the plane of a triangle in view axes, kept
/// inside it.
///
/// ```text
/// wₐ ∝ r · (b × c),  w_b ∝ r · (c × a),  w_c ∝ r · (a × b)
/// ```
///
/// the volumes between ray and edges (Olano & Greer 1997); corners behind the eye do no harm.
fn weights(ray: DVec3, [a, b, c]: [DVec3; 3]) -> [f32; 3] {
    let volumes = [
        ray.dot(b.cross(c)),
        ray.dot(c.cross(a)),
        ray.dot(a.cross(b)),
    ];
    let sum: f64 = volumes.iter().sum();
    let inside = volumes.map(|v| (v / sum).max(0.0));
    let sum: f64 = inside.iter().sum();
    if sum.is_finite() && sum > 0.0 {
        inside.map(|w| (w / sum) as f32)
    } else {
        [1.0 / 3.0; 3] // seen edge-on: no place on it is better than another
    }
}

/// The field of degree two that has these values at the corners and in the middle of the sides
/// opposite.
fn quadratic(values: &[Vec3; 6], [a, b, c]: [f32; 3]) -> Vec3 {
    values[0] * (a * (2.0 * a - 1.0))
        + values[1] * (b * (2.0 * b - 1.0))
        + values[2] * (c * (2.0 * c - 1.0))
        + 4.0 * (values[3] * (b * c) + values[4] * (c * a) + values[5] * (a * b))
}

/// A lighter and paler shade of the same hue.
fn root(paint: Vec3) -> Vec3 {
    paint.map(f32::sqrt)
}

/// From 0 to 1 without corners, as its argument goes from 0 to 1.
fn smooth(t: f32) -> f32 {
    let t = t.clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// Leaves light below 0.8 as it is and bends what is above so that it never reaches 1.
fn shoulder(light: Vec3) -> Vec3 {
    light.map(|c| {
        if c <= 0.8 {
            c
        } else {
            1.0 - 0.2 * libm::expf((0.8 - c) / 0.2)
        }
    })
}
