//! Animated GIF files: one palette for all frames, a dither that does not move, and only what
//! changed is stored.

use std::io::{self, Write};

use glam::Vec3;

use super::image::{Image, threshold};

/// Colours of a palette; one more index means "as before".
const COLOUR_COUNT: usize = 255;
const UNCHANGED: u8 = 255;
/// Bits of each channel by which colours are told apart.
const BITS: u32 = 7;
/// Reach of the dither, in channel values: about half the usual distance of neighbouring palette
/// colours.
const DITHER: f32 = 5.0;

/// Up to 255 colours that serve all frames of an animation.
#[derive(Clone, Debug)]
pub struct Palette {
    colours: Vec<[u8; 3]>,
    /// Nearest colour of each cell that was asked for so far.
    nearest: Vec<Option<u8>>,
}

/// A box of colour cells, by median cut: Heckbert 1982.
struct Box3 {
    /// Cells with their number of pixels.
    cells: Vec<([u8; 3], f32)>,
    mean: Vec3,
    /// Sum of squared distances from the mean, along each axis.
    spread: Vec3,
}

impl Box3 {
    fn new(cells: Vec<([u8; 3], f32)>) -> Self {
        let at = |cell: [u8; 3]| Vec3::from_array(cell.map(f32::from));
        let total: f32 = cells.iter().map(|c| c.1).sum();
        let mean = cells.iter().map(|c| at(c.0) * c.1).sum::<Vec3>() / total;
        let spread = cells
            .iter()
            .map(|c| (at(c.0) - mean) * (at(c.0) - mean) * c.1)
            .sum();
        Self {
            cells,
            mean,
            spread,
        }
    }

    /// Cuts across the axis of largest spread, at the mean.
    fn split(mut self) -> [Self; 2] {
        let axis = (0..3)
            .max_by(|&i, &j| self.spread[i].total_cmp(&self.spread[j]))
            .expect("three axes");
        self.cells.sort_unstable_by_key(|c| (c.0[axis], c.0));
        let middle = self.mean[axis];
        let cut = self
            .cells
            .partition_point(|c| f32::from(c.0[axis]) <= middle);
        let cut = cut.clamp(1, self.cells.len() - 1);
        let rest = self.cells.split_off(cut);
        [Self::new(self.cells), Self::new(rest)]
    }
}

impl Palette {
    /// The palette of some frames that show all that matters. We differ from Heckbert: the box of
    /// largest squared error is cut next, at its mean, and counts enter by their root, so that a
    /// large plain background leaves colours for the small things before it.
    ///
    /// # Panics
    /// Without pixels.
    pub fn of<'a>(frames: impl IntoIterator<Item = &'a Image>) -> Self {
        let mut counts = vec![0u32; 1 << (3 * BITS)];
        for image in frames {
            for &pixel in image.pixels() {
                counts[cell(pixel)] += 1;
            }
        }
        let cells: Vec<([u8; 3], f32)> = counts
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0)
            .map(|(index, &count)| (centre(index), (count as f32).sqrt()))
            .collect();
        assert!(!cells.is_empty(), "a palette is made from pixels");
        let mut boxes = vec![Box3::new(cells)];
        while boxes.len() < COLOUR_COUNT {
            let worst = (0..boxes.len())
                .filter(|&k| boxes[k].cells.len() > 1)
                .max_by(|&i, &j| {
                    let error = |k: usize| boxes[k].spread.element_sum();
                    error(i).total_cmp(&error(j)).then(j.cmp(&i))
                });
            let Some(worst) = worst else {
                break;
            };
            let halves = boxes.swap_remove(worst).split();
            boxes.extend(halves);
        }
        let colours: Vec<[u8; 3]> = boxes
            .iter()
            .map(|b| b.mean.to_array().map(|c| c.round() as u8))
            .collect();
        Self {
            colours,
            nearest: vec![None; 1 << (3 * BITS)],
        }
    }

    /// The colours, at most 255.
    pub fn colours(&self) -> &[[u8; 3]] {
        &self.colours
    }

    /// Index of the colour for a pixel at (x, y), dithered.
    fn index(&mut self, pixel: [u8; 3], x: u32, y: u32) -> u8 {
        let shift = (threshold(x, y) - 0.5) * DITHER;
        let wanted = cell(pixel.map(|c| (f32::from(c) + shift).round() as u8));
        *self.nearest[wanted].get_or_insert_with(|| {
            let own = centre(wanted).map(i32::from);
            let distance = |c: &[u8; 3]| -> i32 {
                // green counts most for the eye, blue least
                let d = [0, 1, 2].map(|k| (i32::from(c[k]) - own[k]).pow(2));
                3 * d[0] + 4 * d[1] + 2 * d[2]
            };
            let best = self
                .colours
                .iter()
                .enumerate()
                .min_by_key(|(_, c)| distance(c));
            best.map_or(0, |(k, _)| k as u8)
        })
    }
}

/// Cell of a colour.
fn cell(pixel: [u8; 3]) -> usize {
    pixel
        .iter()
        .fold(0, |index, &c| index << BITS | usize::from(c >> (8 - BITS)))
}

/// Middle of a cell, stretched so that the first is black and the last white.
fn centre(index: usize) -> [u8; 3] {
    let mask = (1usize << BITS) - 1;
    [2 * BITS, BITS, 0].map(|shift| {
        let c = index >> shift & mask;
        ((c * 255 + mask / 2) / mask) as u8
    })
}

/// A GIF file being written.
pub struct Animation<W: Write> {
    encoder: gif::Encoder<W>,
    palette: Palette,
    size: [u16; 2],
    fps: f64,
    count: u64,
    /// What is shown so far.
    shown: Vec<u8>,
}

impl<W: Write> Animation<W> {
    /// Begins a file that repeats for ever at so many frames a second; more than 50 are shown at
    /// 50, which is what players do.
    pub fn new(writer: W, size: [u32; 2], palette: Palette, fps: f64) -> io::Result<Self> {
        let size = [u16::try_from(size[0]), u16::try_from(size[1])];
        let [Ok(width), Ok(height)] = size else {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "a GIF is at most 65535 pixels a side",
            ));
        };
        let mut encoder = gif::Encoder::new(writer, width, height, palette.colours.as_flattened())
            .map_err(io::Error::other)?;
        encoder
            .set_repeat(gif::Repeat::Infinite)
            .map_err(io::Error::other)?;
        Ok(Self {
            encoder,
            palette,
            size: [width, height],
            fps: fps.min(50.0),
            count: 0,
            shown: vec![],
        })
    }

    /// Appends a frame.
    ///
    /// # Panics
    /// If its size is not that of the animation.
    pub fn push(&mut self, image: &Image) -> io::Result<()> {
        let [width, height] = self.size.map(usize::from);
        assert_eq!(
            [image.width() as usize, image.height() as usize],
            [width, height],
            "frames have one size"
        );
        let palette = &mut self.palette;
        let indices: Vec<u8> = image
            .pixels()
            .iter()
            .enumerate()
            .map(|(k, &pixel)| palette.index(pixel, (k % width) as u32, (k / width) as u32))
            .collect();

        let changed = |k: usize| self.shown.get(k) != Some(&indices[k]);
        let rows = (0..height).filter(|y| (0..width).any(|x| changed(y * width + x)));
        let (top, bottom) = ends(rows);
        let columns = (0..width).filter(|x| (top..bottom).any(|y| changed(y * width + x)));
        let (left, right) = ends(columns);
        let buffer: Vec<u8> = (top..bottom)
            .flat_map(|y| (left..right).map(move |x| y * width + x))
            .map(|k| if changed(k) { indices[k] } else { UNCHANGED })
            .collect();

        // hundredths of a second, rounded so that the error does not add up
        let until = |count: u64| (100.0 * count as f64 / self.fps).round();
        let frame = gif::Frame {
            delay: (until(self.count + 1) - until(self.count)).clamp(2.0, 65535.0) as u16,
            dispose: gif::DisposalMethod::Keep,
            transparent: Some(UNCHANGED),
            left: left as u16,
            top: top as u16,
            width: (right - left) as u16,
            height: (bottom - top) as u16,
            buffer: buffer.into(),
            ..gif::Frame::default()
        };
        self.encoder.write_frame(&frame).map_err(io::Error::other)?;
        self.shown = indices;
        self.count += 1;
        Ok(())
    }

    /// Ends the file and gives the writer back.
    pub fn finish(self) -> io::Result<W> {
        self.encoder.into_inner().map_err(io::Error::other)
    }
}

/// First and one past the last; one pixel if there is none, since a frame cannot be empty.
fn ends(mut range: impl DoubleEndedIterator<Item = usize>) -> (usize, usize) {
    match range.next() {
        Some(first) => (first, range.next_back().unwrap_or(first) + 1),
        None => (0, 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::Colour;

    /// A square that moves over a gradient.
    fn frame(k: u32) -> Image {
        let mut image = Image::new(60, 40, Colour([0; 3]));
        for (i, pixel) in image.pixels_mut().iter_mut().enumerate() {
            let (x, y) = (i % 60, i / 60);
            *pixel = [180 + y as u8, 180 + y as u8, 185 + y as u8];
            if (k as usize..k as usize + 12).contains(&x) && (10..22).contains(&y) {
                *pixel = [200, 30 + x as u8, 40];
            }
        }
        image
    }

    /// Plays a file: all frames as they appear on the screen.
    fn play(bytes: &[u8]) -> Vec<Vec<[u8; 3]>> {
        let mut options = gif::DecodeOptions::new();
        options.set_color_output(gif::ColorOutput::RGBA);
        let mut decoder = options.read_info(bytes).unwrap();
        let width = usize::from(decoder.width());
        let mut screen = vec![[0; 3]; width * usize::from(decoder.height())];
        let mut frames = vec![];
        while let Some(frame) = decoder.read_next_frame().unwrap() {
            for (k, pixel) in frame.buffer.as_chunks::<4>().0.iter().enumerate() {
                let w = usize::from(frame.width);
                let (x, y) = (
                    usize::from(frame.left) + k % w,
                    usize::from(frame.top) + k / w,
                );
                if pixel[3] > 0 {
                    screen[y * width + x] = [pixel[0], pixel[1], pixel[2]];
                }
            }
            frames.push(screen.clone());
        }
        frames
    }

    #[test]
    fn a_gif_plays_all_frames_close_to_their_colours() {
        let frames: Vec<Image> = [0, 5, 5, 30].map(frame).to_vec();
        let mut animation = Animation::new(vec![], [60, 40], Palette::of(&frames), 30.0).unwrap();
        for image in &frames {
            animation.push(image).unwrap();
        }
        let played = play(&animation.finish().unwrap());
        assert_eq!(played.len(), 4, "a repeated frame counts");
        for (played, image) in played.iter().zip(&frames) {
            for (a, b) in played.iter().zip(image.pixels()) {
                let off = [0, 1, 2]
                    .map(|k| a[k].abs_diff(b[k]))
                    .into_iter()
                    .max()
                    .unwrap();
                assert!(
                    u32::from(off) <= (1 << (8 - BITS)) + DITHER as u32,
                    "{a:?} for {b:?}"
                );
            }
        }
    }

    #[test]
    fn a_palette_keeps_rare_colours_beside_a_large_background() {
        let mut image = Image::new(200, 200, Colour([0; 3]));
        for (k, pixel) in image.pixels_mut().iter_mut().enumerate() {
            *pixel = [(200 + k / 4000) as u8; 3];
        }
        image.set(3, 3, Colour([220, 20, 30]));
        let palette = Palette::of([&image]);
        let near =
            |c: &[u8; 3]| c[0].abs_diff(220) < 4 && c[1].abs_diff(20) < 4 && c[2].abs_diff(30) < 4;
        assert!(palette.colours().iter().any(near));
        assert!(palette.colours().len() <= COLOUR_COUNT);
    }
}
