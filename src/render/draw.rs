//! The picture as a whole: what covers each pixel, and the mean of its light.

use glam::{DVec2, Vec3};
use rayon::prelude::*;

use super::camera::Camera;
use super::image::{Image, pixel};
use super::raster::{EMPTY, Flat, Projection, Samples};
use super::shade::{GroundShade, Shader};
use super::{Picture, Settings};

/// Rows of pixels that one task draws; even, for the ground's grid.
const BAND: usize = 8;
/// Lines are drawn over what lies within this share of their distance from the eye.
const LINE_LIFT: f64 = 2e-3;

/// Draws a picture.
///
/// # Panics
/// If a face has a corner that is not among its model's positions, a paint has too few values, or a setting is
/// out of its range.
pub fn draw(picture: &Picture<'_>, camera: &Camera, settings: &Settings) -> Image {
    assert!(
        settings.width > 0 && settings.height > 0,
        "a picture has pixels"
    );
    assert!(
        (1..=8).contains(&settings.samples),
        "1 to 8 samples along each axis"
    );
    let shader = Shader::new(picture, camera, settings);
    let bands = bands(&shader, picture, settings);
    let mut image = Image::new(settings.width, settings.height, settings.background[0]);
    image
        .pixels_mut()
        .par_chunks_mut(BAND * settings.width as usize)
        .zip(bands)
        .enumerate()
        .for_each(|(k, (pixels, flats))| draw_band(&shader, settings, BAND * k, &flats, pixels));
    image
}

/// Everything to be drawn in each band of rows, in order. Ids past the faces are lines.
fn bands(shader: &Shader<'_>, picture: &Picture<'_>, settings: &Settings) -> Vec<Vec<Flat>> {
    let projection = Projection::new(shader.view, settings.samples);
    let faces = &shader.surface.faces;
    let mut flats = Vec::with_capacity(faces.len());
    for (id, face) in faces.iter().enumerate() {
        let corners = face.map(|v| shader.seen[v as usize]);
        projection.triangle(corners, id as u32, &mut flats);
    }
    for (k, line) in picture.lines.iter().enumerate() {
        let id = (faces.len() + k) as u32;
        for ends in line.points.windows(2) {
            let ends = [ends[0], ends[1]].map(|p| shader.view.to_view(p));
            projection.segment(ends, line.width, LINE_LIFT, id, &mut flats);
        }
    }
    let rows = BAND as i64 * i64::from(settings.samples);
    let count = (settings.height as usize).div_ceil(BAND);
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

/// A face within a pixel: its samples, and the sum of their places.
#[derive(Clone, Copy)]
struct Found {
    id: u32,
    count: u32,
    sum: DVec2,
}

/// Draws rows of pixels from row `top` on.
fn draw_band(
    shader: &Shader<'_>,
    settings: &Settings,
    top: usize,
    flats: &[Flat],
    pixels: &mut [[u8; 3]],
) {
    let scale = settings.samples as usize;
    let width = settings.width as usize;
    let rows = pixels.len() / width;
    let mut samples = Samples::new(width * scale, top * scale, rows * scale);
    for flat in flats {
        samples.draw(flat);
    }
    let mut ground = GroundShade::new(width, top, rows);
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
        join_neighbours(shader, &mut found);
        let corner = DVec2::new(x as f64, (top + y) as f64);
        let mut light = Vec3::ZERO;
        for f in &found {
            let place = corner + f.sum / (f64::from(f.count) * scale as f64);
            light += shader.light(f.id, place, &mut ground) * (f.count as f32);
        }
        light /= (scale * scale) as f32;
        *out = pixel(light, x as u32, (top + y) as u32);
    }
}

/// Joins faces of one pixel that would get the same light up to what a pixel can show, to the largest of them.
fn join_neighbours(shader: &Shader<'_>, found: &mut Vec<Found>) {
    if found.len() < 2 {
        return;
    }
    found.sort_by_key(|f| std::cmp::Reverse(f.count)); // stable: ties stay as met
    let mut kept = 0;
    for k in 0..found.len() {
        let f = found[k];
        let like = found[..kept]
            .iter()
            .position(|g| f.id != EMPTY && g.id != EMPTY && shader.alike(f.id, g.id));
        match like {
            Some(g) => {
                found[g].count += f.count;
                found[g].sum += f.sum;
            }
            None => {
                found[kept] = f;
                kept += 1;
            }
        }
    }
    found.truncate(kept);
}
