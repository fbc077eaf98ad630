//! Samples to colours.

use glam::{DVec2, DVec3, Vec3};
use rayon::prelude::*;

use super::camera::{Camera, View};
use super::image::{Colour, Image, pixel};
use super::light::Lights;
use super::raster::{EMPTY, Flat, Projection, Samples};
use super::strain::light_of;
use super::surface::Surface;
use super::{Paint, Picture, Settings};

/// Rows of pixels that one task draws.
const BAND: usize = 8;
/// Lines are drawn over what lies within this share of their distance from the eye.
const LINE_LIFT: f64 = 2e-3;
/// Colour of marked faces.
const MARK: Colour = Colour([226, 24, 28]);
/// The ground begins to fade at this many radii of the camera from its target, and is gone at the second.
const FADE: [f32; 2] = [1.2, 4.0];

/// Draws a picture.
///
/// # Panics
/// If a face has a corner that is not among its model's positions, or a setting is out of its range.
pub fn draw(picture: &Picture<'_>, camera: &Camera, settings: &Settings) -> Image {
    assert!(
        settings.width > 0 && settings.height > 0,
        "a picture has pixels"
    );
    assert!(
        (1..=8).contains(&settings.samples),
        "1 to 8 samples along each axis"
    );
    let view = camera.view(settings.width, settings.height);
    let surface = Surface::new(picture, camera.target);
    let casters: Vec<[u32; 3]> = surface
        .faces
        .iter()
        .zip(&surface.origin)
        .filter(|(_, (model, _))| !picture.models[*model as usize].ground)
        .map(|(face, _)| *face)
        .collect();
    let shader = Shader {
        picture,
        settings,
        view,
        lights: Lights::new(view.right, -view.forward, &surface.points, &casters),
        seen: surface.positions.iter().map(|&p| view.to_view(p)).collect(),
        radius: camera.radius() as f32,
        paints: picture
            .models
            .iter()
            .map(|model| match model.paint {
                Paint::TwoSided(front, back) => [front.to_linear(), back.to_linear()],
                Paint::VertexValues(_) | Paint::FaceValues(_) => [Vec3::ONE; 2],
            })
            .collect(),
        background: settings.background.map(Colour::to_linear),
        mark: MARK.to_linear(),
        surface,
    };

    let bands = shader.bands();
    let mut image = Image::new(settings.width, settings.height, settings.background[0]);
    let width = settings.width as usize;
    image
        .pixels_mut()
        .par_chunks_mut(BAND * width)
        .zip(bands)
        .enumerate()
        .for_each(|(k, (pixels, flats))| shader.draw_band(BAND * k, &flats, pixels));
    image
}

struct Shader<'a> {
    picture: &'a Picture<'a>,
    settings: &'a Settings,
    view: View,
    surface: Surface,
    /// Positions in view axes.
    seen: Vec<DVec3>,
    lights: Lights,
    radius: f32,
    paints: Vec<[Vec3; 2]>,
    background: [Vec3; 2],
    mark: Vec3,
}

impl Shader<'_> {
    /// Everything to be drawn in each band of rows, in order. Ids past the faces are lines.
    fn bands(&self) -> Vec<Vec<Flat>> {
        let projection = Projection::new(self.view, self.settings.samples);
        let mut flats = Vec::with_capacity(self.surface.faces.len());
        for (id, face) in self.surface.faces.iter().enumerate() {
            projection.triangle(face.map(|v| self.seen[v as usize]), id as u32, &mut flats);
        }
        for (k, line) in self.picture.lines.iter().enumerate() {
            let id = (self.surface.faces.len() + k) as u32;
            for ends in line.points.windows(2) {
                let ends = [ends[0], ends[1]].map(|p| self.view.to_view(p));
                projection.segment(ends, line.width, LINE_LIFT, id, &mut flats);
            }
        }
        let rows = BAND as i64 * i64::from(self.settings.samples);
        let count = (self.settings.height as usize).div_ceil(BAND);
        let mut bands = vec![vec![]; count];
        for flat in flats {
            let (first, last) = flat.rows();
            let first = first.div_euclid(rows).max(0) as usize;
            let last = ((last - 1).div_euclid(rows) + 1).clamp(0, count as i64) as usize;
            for band in bands.iter_mut().take(last).skip(first) {
                band.push(flat);
            }
        }
        bands
    }

    /// Draws rows of pixels from row `top` on.
    fn draw_band(&self, top: usize, flats: &[Flat], pixels: &mut [[u8; 3]]) {
        let scale = self.settings.samples as usize;
        let width = self.settings.width as usize;
        let rows = pixels.len() / width;
        let mut samples = Samples::new(width * scale, top * scale, rows * scale);
        for flat in flats {
            samples.draw(flat);
        }
        let mut found: Vec<Found> = Vec::with_capacity(scale * scale);
        for (k, out) in pixels.iter_mut().enumerate() {
            let (x, y) = (k % width, k / width);
            found.clear();
            for j in 0..scale {
                let from = (y * scale + j) * width * scale + x * scale;
                for (i, &id) in samples.ids[from..from + scale].iter().enumerate() {
                    let at = DVec2::new(i as f64 + 0.5, j as f64 + 0.5);
                    match found.iter_mut().find(|f| f.id == id) {
                        Some(f) => {
                            f.count += 1;
                            f.sum += at;
                        }
                        None => found.push(Found {
                            id,
                            count: 1,
                            sum: at,
                        }),
                    }
                }
            }
            let corner = DVec2::new(x as f64, (top + y) as f64);
            let mut light = Vec3::ZERO;
            for f in &found {
                // the middle of its samples lies inside the face, which is convex
                let place = corner + f.sum / (f64::from(f.count) * scale as f64);
                light += self.light(f.id, place) * (f.count as f32);
            }
            light /= (scale * scale) as f32;
            *out = pixel(light, x as u32, (top + y) as u32);
        }
    }

    /// Light from what is seen at a place in pixels, ready for the screen.
    fn light(&self, id: u32, place: DVec2) -> Vec3 {
        if id == EMPTY {
            return self.background_at(place);
        }
        let faces = self.surface.faces.len();
        if id as usize >= faces {
            return self.picture.lines[id as usize - faces].colour.to_linear();
        }
        self.surface_light(id as usize, place)
    }

    /// Smooth from top to bottom.
    fn background_at(&self, place: DVec2) -> Vec3 {
        let t = (place.y / f64::from(self.settings.height)) as f32;
        self.background[0].lerp(self.background[1], t * t * (3.0 - 2.0 * t))
    }

    fn surface_light(&self, face: usize, place: DVec2) -> Vec3 {
        let corners = self.surface.faces[face];
        let ray = self.view.ray(place);
        let weights = weights(ray, corners.map(|v| self.seen[v as usize]));
        let blend = |v: [Vec3; 3]| v[0] * weights[0] + v[1] * weights[1] + v[2] * weights[2];
        let point = blend(corners.map(|v| self.surface.points[v as usize]));
        let to_eye = -self.view.to_world(ray).normalize().as_vec3();

        let (number, own) = self.surface.origin[face];
        let model = &self.picture.models[number as usize];
        let facet = self.surface.facets[face];
        let side = if facet.dot(to_eye) >= 0.0 { 1.0 } else { -1.0 };
        let facet = facet * side;
        let normal = blend(self.surface.normals[face]).normalize_or(facet * side) * side;

        let arriving = self.lights.at(point, normal, facet);
        if model.ground {
            let paint = self.paints[number as usize][usize::from(side < 0.0)];
            return self.ground_light(place, point, paint, arriving);
        }
        let shift = self.surface.shift[number as usize];
        let paint = match model.paint {
            _ if model.marked.binary_search(&own).is_ok() => self.mark,
            Paint::TwoSided(..) => self.paints[number as usize][usize::from(side < 0.0)],
            Paint::FaceValues(values) => light_of(values[own as usize]),
            Paint::VertexValues(values) => {
                let value =
                    |k: usize| values[(i64::from(corners[k]) + shift) as usize] * weights[k];
                light_of(value(0) + value(1) + value(2))
            }
        };
        // fibres that stand off the surface catch light at its outline
        let grazing = 1.0 - normal.dot(to_eye).clamp(0.0, 1.0);
        let sheen = 0.18 * grazing * grazing * grazing * (0.3 + 0.7 * arriving.openness);
        let mut light = paint * arriving.light + (0.35 * paint + 0.15) * sheen * arriving.light;
        if self.settings.wire {
            let wire = self.wire_at(corners, place);
            light *= 1.0 - 0.75 * wire;
        }
        shoulder(light)
    }

    /// The ground near the target is painted; farther out it is the background, with shadows.
    fn ground_light(
        &self,
        place: DVec2,
        point: Vec3,
        paint: Vec3,
        arriving: super::light::Arriving,
    ) -> Vec3 {
        let away = Vec3::new(point.x, 0.0, point.z).length() / self.radius;
        let t = ((away - FADE[0]) / (FADE[1] - FADE[0])).clamp(0.0, 1.0);
        let t = t * t * (3.0 - 2.0 * t);
        let near = paint * arriving.light;
        let far = self.background_at(place) * (arriving.light / arriving.unblocked);
        shoulder(near).lerp(far, t)
    }

    /// How much of a pixel the edges of a face cover; less for faces that are smaller than a few pixels.
    fn wire_at(&self, corners: [u32; 3], place: DVec2) -> f32 {
        let q = corners.map(|v| self.seen[v as usize]);
        if q.iter().any(|q| q.z < self.view.near) {
            return 0.0;
        }
        let [a, b, c] = q.map(|q| self.view.to_pixel(q));
        let area = (b - a).perp_dot(c - a).abs();
        let mut nearest = f64::INFINITY;
        let mut height = f64::INFINITY;
        for [p, q] in [[a, b], [b, c], [c, a]] {
            let length = p.distance(q);
            nearest = nearest.min((q - p).perp_dot(place - p).abs() / length);
            height = height.min(area / length);
        }
        let line = (0.5 * WIRE + 0.5 - nearest).clamp(0.0, 1.0);
        (line * (height / 6.0).min(1.0)) as f32
    }
}

/// Width of the edges of faces, in pixels.
const WIRE: f64 = 0.9;

/// A face within a pixel: its samples, and the sum of their places.
struct Found {
    id: u32,
    count: u32,
    sum: DVec2,
}

/// Weights of the corners where a ray from the eye meets the plane of a triangle in view axes, kept inside it.
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
