//! The picture as a whole: what covers each pixel, and the mean of its light.

use glam::{DVec2, Vec3};
use rayon::prelude::*;

use super::camera::Camera;
use super::image::{Image, pixel};
use super::raster::{EMPTY, Flat, Projection, Samples};
use super::shade::{GroundShade, Shader};
use super::{Picture, Settings};

/// Rows of pixels that one task draws; a multiple of the ground's grid.
const BAND: usize = 8;
/// Lines are drawn over what lies within this share of their distance from the eye (and their
/// width).
const LINE_LIFT: f64 = 2e-3;

/// Draws a picture.
///
/// # Panics
/// If a face has a corner that is not among its model's positions, a paint has too few values, or a
/// setting is out of its range.
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
        // its own width on top, since a surface below it may slope by 45°
        let lift = LINE_LIFT + line.width / shader.view.focal;
        for ends in line.points.windows(2) {
            let ends = [ends[0], ends[1]].map(|p| shader.view.to_view(p));
            projection.segment(ends, line.width, lift, id, &mut flats);
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
    // square by square, so that neighbouring looks into the shadow maps follow one another
    let squares = (0..width).step_by(BAND);
    let order = squares.flat_map(|left| {
        let columns = left..width.min(left + BAND);
        (0..rows).flat_map(move |y| columns.clone().map(move |x| (x, y)))
    });
    for (x, y) in order {
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
        pixels[y * width + x] = pixel(light, x as u32, (top + y) as u32);
    }
}

/// Joins faces of one pixel that would get the same light up to what a pixel can show, to the
/// largest of them.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::{Colour, Line, Model, Paint, Shading};
    use glam::DVec3;

    const FRONT: Colour = Colour([40, 80, 200]);
    const BACK: Colour = Colour([200, 120, 40]);

    /// A level square around the y axis, front up.
    fn square(half: f64, height: f64) -> Vec<DVec3> {
        [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
            .map(|(x, z)| DVec3::new(half * x, height, half * z))
            .to_vec()
    }

    const FACES: [[u32; 3]; 2] = [[0, 2, 1], [0, 3, 2]];

    fn model(positions: &[DVec3], ground: bool) -> Model<'_> {
        Model {
            positions,
            faces: &FACES,
            paint: Paint::TwoSided(FRONT, BACK),
            shading: Shading::Smooth,
            marked: &[],
            ground,
        }
    }

    fn settings() -> Settings {
        Settings {
            width: 120,
            height: 90,
            ..Settings::default()
        }
    }

    fn from(eye: DVec3) -> Camera {
        Camera {
            eye,
            target: DVec3::ZERO,
            fov: 40.0,
        }
    }

    fn picture(models: Vec<Model<'_>>) -> Picture<'_> {
        Picture {
            models,
            lines: vec![],
        }
    }

    /// Mean of the pixels around the place of a point.
    fn seen(image: &Image, camera: &Camera, p: DVec3) -> [f64; 3] {
        let view = camera.view(image.width(), image.height());
        let place = view.to_pixel(view.to_view(p));
        let mut sum = [0.0; 3];
        for k in 0..9u32 {
            let pixel = image.get(place.x as u32 + k % 3 - 1, place.y as u32 + k / 3 - 1);
            for c in 0..3 {
                sum[c] += f64::from(pixel[c]);
            }
        }
        sum.map(|c| c / 9.0)
    }

    #[test]
    fn the_two_sides_of_a_cloth_have_their_own_colours() {
        let x = square(0.5, 0.0);
        let picture = picture(vec![model(&x, false)]);
        let above = from(DVec3::new(0.0, 2.0, 1.0));
        let [r, _, b] = seen(&draw(&picture, &above, &settings()), &above, DVec3::ZERO);
        assert!(b > 1.5 * r, "front is blue: {r} {b}");
        let below = from(DVec3::new(0.0, -2.0, 1.0));
        let [r, _, b] = seen(&draw(&picture, &below, &settings()), &below, DVec3::ZERO);
        assert!(r > 1.5 * b, "back is orange: {r} {b}");
    }

    #[test]
    fn a_floating_square_has_a_shadow_on_the_ground_below_it() {
        let (floor, x) = (square(20.0, 0.0), square(0.3, 0.3));
        let camera = from(DVec3::new(0.0, 1.0, 3.0));
        let empty = draw(&picture(vec![model(&floor, true)]), &camera, &settings());
        let with = draw(
            &picture(vec![model(&floor, true), model(&x, false)]),
            &camera,
            &settings(),
        );
        // the lamp stands to the upper left: the shadow lies to the right of what is straight below
        let shaded = DVec3::new(0.25, 0.0, 0.0);
        let (before, after) = (seen(&empty, &camera, shaded), seen(&with, &camera, shaded));
        assert!(after[1] < 0.75 * before[1], "{before:?} {after:?}");
        let away = DVec3::new(-1.0, 0.0, 0.2);
        let (before, after) = (seen(&empty, &camera, away), seen(&with, &camera, away));
        assert!(
            (after[1] - before[1]).abs() < 0.05 * before[1],
            "{before:?} {after:?}"
        );
    }

    #[test]
    fn what_is_covered_has_the_pixels_that_a_projected_outline_has() {
        let x = square(0.5, 0.0);
        let camera = from(DVec3::new(0.7, 2.0, 1.0));
        let mut settings = settings();
        settings.background = [Colour([255; 3]); 2];
        let image = draw(&picture(vec![model(&x, false)]), &camera, &settings);
        let view = camera.view(120, 90);
        let corners: Vec<DVec2> = x.iter().map(|&p| view.to_pixel(view.to_view(p))).collect();
        for (k, pixel) in image.pixels().iter().enumerate() {
            let p = DVec2::new((k % 120) as f64 + 0.5, (k / 120) as f64 + 0.5);
            let inner = (0..4)
                .map(|i| {
                    let side = corners[(i + 1) % 4] - corners[i];
                    side.perp_dot(p - corners[i]) / side.length()
                })
                .fold(f64::INFINITY, f64::min);
            // a pixel is within 1/√2 of its middle
            if inner.abs() > 0.75 {
                assert_eq!(*pixel != [255; 3], inner > 0.0, "pixel {p}");
            }
        }
    }

    #[test]
    fn threads_do_not_change_a_pixel() {
        let (floor, x) = (square(20.0, 0.0), square(0.3, 0.3));
        let picture = picture(vec![model(&floor, true), model(&x, false)]);
        let camera = from(DVec3::new(1.0, 1.0, 3.0));
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            pool.unwrap()
                .install(|| draw(&picture, &camera, &settings()))
        };
        assert_eq!(on(1), on(3));
    }

    #[test]
    fn marked_faces_are_red_and_values_have_their_colours() {
        let x = square(0.5, 0.0);
        let camera = from(DVec3::new(0.0, 2.0, 0.5));
        let in_face = [DVec3::new(0.2, 0.0, -0.3), DVec3::new(-0.2, 0.0, 0.3)];
        let marked = picture(vec![Model {
            marked: &[1],
            ..model(&x, false)
        }]);
        let image = draw(&marked, &camera, &settings());
        let [r, g, b] = seen(&image, &camera, in_face[1]);
        assert!(r > 2.0 * g && r > 2.0 * b, "{r} {g} {b}");
        let [r, _, b] = seen(&image, &camera, in_face[0]);
        assert!(b > r, "the other face keeps its colour");

        let values = picture(vec![Model {
            paint: Paint::FaceValues(&[0.0, 1.0]),
            ..model(&x, false)
        }]);
        let image = draw(&values, &camera, &settings());
        let [low, high] = in_face.map(|p| seen(&image, &camera, p));
        assert!(
            low[2] > low[0] && high[0] > 2.0 * high[2],
            "{low:?} {high:?}"
        );
    }

    #[test]
    fn lines_are_seen_on_a_surface_and_hidden_behind_it() {
        let x = square(0.5, 0.0);
        let camera = from(DVec3::new(0.0, 2.0, 0.5));
        let drawn_at = |height: f64| {
            let points = [DVec3::new(-0.3, height, 0.0), DVec3::new(0.3, height, 0.0)];
            let picture = Picture {
                models: vec![model(&x, false)],
                lines: vec![Line {
                    points: &points,
                    colour: Colour([0, 255, 0]),
                    width: 5.0,
                }],
            };
            seen(
                &draw(&picture, &camera, &settings()),
                &camera,
                DVec3::new(0.0, height, 0.0),
            )
        };
        assert_eq!(drawn_at(0.0), [0.0, 255.0, 0.0]);
        assert!(drawn_at(-0.1)[1] < 200.0, "below the square");
    }

    #[test]
    fn a_face_with_a_corner_that_is_not_a_number_is_left_out() {
        let mut x = square(0.5, 0.0);
        x[3] = DVec3::NAN;
        let camera = from(DVec3::new(0.0, 2.0, 0.5));
        let image = draw(&picture(vec![model(&x, false)]), &camera, &settings());
        let [r, _, b] = seen(&image, &camera, DVec3::new(0.2, 0.0, -0.3));
        assert!(b > r, "the other face is drawn");
        let nothing = draw(&picture(vec![]), &camera, &settings());
        let gap = DVec3::new(-0.2, 0.0, 0.3);
        assert_eq!(seen(&image, &camera, gap), seen(&nothing, &camera, gap));
    }

    #[test]
    fn wire_darkens_edges_and_leaves_the_inside() {
        let x = square(0.5, 0.0);
        let camera = from(DVec3::new(0.0, 2.0, 0.5));
        let wire = Settings {
            wire: true,
            ..settings()
        };
        let picture = picture(vec![model(&x, false)]);
        let (plain, wired) = (
            draw(&picture, &camera, &settings()),
            draw(&picture, &camera, &wire),
        );
        let inside = DVec3::new(0.2, 0.0, -0.3);
        assert_eq!(seen(&plain, &camera, inside), seen(&wired, &camera, inside));
        let diagonal = DVec3::ZERO;
        assert!(seen(&wired, &camera, diagonal)[2] < 0.95 * seen(&plain, &camera, diagonal)[2]);
    }
}
