//! Pixels: colours, 8-bit images, PNG files.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use glam::Vec3;

/// A colour as people write it: sRGB, 8 bits a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour(pub [u8; 3]);

impl Colour {
    /// Red, green and blue as amounts of light, 0 to 1: IEC 61966-2-1, the sRGB transfer function.
    pub(crate) fn to_linear(self) -> Vec3 {
        Vec3::from_array(self.0.map(|channel| {
            let c = f32::from(channel) / 255.0;
            if c <= 0.04045 {
                c / 12.92
            } else {
                libm::powf((c + 0.055) / 1.055, 2.4)
            }
        }))
    }

    /// The mix `(1 − t) self + t other`, as light.
    pub fn mix(self, other: Self, t: f32) -> Self {
        let light = self.to_linear().lerp(other.to_linear(), t);
        Self(light.to_array().map(|c| (encode(c) + 0.5) as u8))
    }
}

/// Amount of light to an sRGB channel value from 0 to 255, not yet rounded.
fn encode(light: f32) -> f32 {
    let c = light.clamp(0.0, 1.0);
    255.0
        * if c <= 0.003_130_8 {
            12.92 * c
        } else {
            1.055 * libm::powf(c, 1.0 / 2.4) - 0.055
        }
}

/// Light to a pixel. The threshold of rounding varies from pixel to pixel, so that a slow gradient
/// shows no steps.
pub(super) fn pixel(light: Vec3, x: u32, y: u32) -> [u8; 3] {
    // away from 0 and 1, so that the rounding of `encode` cannot move a whole value
    let threshold = 0.005 + 0.99 * threshold(x, y);
    light.to_array().map(|c| (encode(c) + threshold) as u8)
}

/// A number from 0 to below 1 for each pixel, evenly distributed in every small neighbourhood:
/// interleaved gradient noise, Jimenez 2014 ("Next generation post processing in Call of Duty:
/// Advanced Warfare").
pub(super) fn threshold(x: u32, y: u32) -> f32 {
    let part = |v: f64| v - v.floor();
    // in double precision: the sum must keep its fraction for pictures of any size
    let mixed = part(0.067_110_56 * f64::from(x) + 0.005_837_15 * f64::from(y));
    // single precision could round up to 1
    (part(52.982_918_9 * mixed) as f32).min(1.0 - f32::EPSILON)
}

/// An 8-bit sRGB image, rows from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    width: u32,
    height: u32,
    pixels: Vec<[u8; 3]>,
}

impl Image {
    /// An image of one colour.
    pub fn new(width: u32, height: u32, colour: Colour) -> Self {
        Self {
            width,
            height,
            pixels: vec![colour.0; width as usize * height as usize],
        }
    }

    /// Pixels across.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Pixels down.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// All pixels, row by row from the top.
    pub fn pixels(&self) -> &[[u8; 3]] {
        &self.pixels
    }

    /// The same, to be drawn on.
    pub(crate) fn pixels_mut(&mut self) -> &mut [[u8; 3]] {
        &mut self.pixels
    }

    /// The pixel in column x and row y.
    pub fn get(&self, x: u32, y: u32) -> [u8; 3] {
        assert!(x < self.width, "column {x} of {}", self.width);
        self.pixels[y as usize * self.width as usize + x as usize]
    }

    /// Sets a pixel; outside the image nothing happens.
    pub fn set(&mut self, x: i64, y: i64, colour: Colour) {
        if (0..i64::from(self.width)).contains(&x) && (0..i64::from(self.height)).contains(&y) {
            self.pixels[y as usize * self.width as usize + x as usize] = colour.0;
        }
    }

    /// Copies another image into this one, its corner at (x, y); what does not fit is left out.
    pub(crate) fn paste(&mut self, other: &Image, x: u32, y: u32) {
        let columns = other.width.min(self.width.saturating_sub(x)) as usize;
        let rows = other.height.min(self.height.saturating_sub(y)) as usize;
        for row in 0..rows {
            let from = row * other.width as usize;
            let to = (y as usize + row) * self.width as usize + x as usize;
            self.pixels[to..to + columns].copy_from_slice(&other.pixels[from..from + columns]);
        }
    }

    /// Encodes as PNG.
    pub fn write_png(&self, writer: impl Write) -> io::Result<()> {
        let mut encoder = png::Encoder::new(writer, self.width, self.height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(self.pixels.as_flattened())?;
        Ok(writer.finish()?)
    }

    /// Writes a PNG file.
    pub fn save_png(&self, path: &Path) -> io::Result<()> {
        let mut file = BufWriter::new(File::create(path)?);
        self.write_png(&mut file)?;
        file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_channel_value_survives_light_and_back() {
        for value in 0..=255 {
            let light = Colour([value; 3]).to_linear();
            assert!((encode(light.x) - f32::from(value)).abs() < 0.01, "{value}");
        }
    }

    #[test]
    fn thresholds_are_even_in_every_small_neighbourhood() {
        for corner in 0..500 {
            let (x, y) = (37 * corner % 1000, 91 * corner % 700);
            let mut seen: Vec<f32> = (0..25).map(|k| threshold(x + k % 5, y + k / 5)).collect();
            let mean = seen.iter().sum::<f32>() / 25.0;
            assert!((mean - 0.5).abs() < 0.1, "mean {mean} at {x}, {y}");
            seen.sort_by(f32::total_cmp);
            let gap = seen.windows(2).map(|w| w[1] - w[0]).fold(0.0, f32::max);
            assert!(gap < 0.15, "gap {gap} at {x}, {y}");
            assert!(seen[0] >= 0.0 && seen[24] < 1.0);
        }
    }

    #[test]
    fn black_and_white_are_not_dithered() {
        for k in 0..64 {
            assert_eq!(pixel(Vec3::ZERO, k % 8, k / 8), [0; 3]);
            assert_eq!(pixel(Vec3::ONE, k % 8, k / 8), [255; 3]);
        }
    }

    #[test]
    fn a_png_decodes_to_the_same_pixels() {
        let mut image = Image::new(37, 21, Colour([9, 8, 7]));
        for (k, pixel) in image.pixels_mut().iter_mut().enumerate() {
            *pixel = [k as u8, (k / 3) as u8, (k * k) as u8];
        }
        let mut bytes = vec![];
        image.write_png(&mut bytes).unwrap();
        let mut reader = png::Decoder::new(io::Cursor::new(bytes))
            .read_info()
            .unwrap();
        let mut decoded = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut decoded).unwrap();
        assert_eq!((info.width, info.height), (37, 21));
        assert_eq!(decoded, image.pixels().as_flattened());
    }

    #[test]
    fn pasting_over_the_border_leaves_out_what_does_not_fit() {
        let mut image = Image::new(4, 4, Colour([0; 3]));
        image.paste(&Image::new(3, 3, Colour([1; 3])), 2, 3);
        let ones = image.pixels().iter().filter(|p| **p == [1; 3]).count();
        assert_eq!(ones, 2);
        assert_eq!(image.get(3, 3), [1; 3]);
    }
}
