//! Contact sheets, labels, and the small font they use.

use super::image::{Colour, Image};
use super::strain::colour_of;

/// Free pixels around the frames of a sheet.
const GAP: u32 = 6;
/// Background of a sheet.
const PAPER: Colour = Colour([250, 250, 250]);
/// Colour of labels.
const INK: Colour = Colour([40, 44, 52]);
/// Width and height of a glyph, in dots; one dot is left free after it.
const GLYPH: [u32; 2] = [5, 7];

/// Frames with labels in rows of `columns`, in order. Cells take the size of the largest frame.
///
/// # Panics
/// If `columns` is 0.
pub fn contact_sheet(frames: &[(String, Image)], columns: usize) -> Image {
    assert!(columns > 0, "a sheet has columns");
    let columns = columns.min(frames.len().max(1));
    let rows = frames.len().div_ceil(columns);
    let width = frames
        .iter()
        .map(|(_, image)| image.width())
        .max()
        .unwrap_or(0);
    let height = frames
        .iter()
        .map(|(_, image)| image.height())
        .max()
        .unwrap_or(0);
    let total = |count: usize, size: u32| count as u32 * (size + GAP) + GAP;
    let mut sheet = Image::new(total(columns, width), total(rows, height), PAPER);
    let scale = (height / 160).max(1);
    for (k, (label, image)) in frames.iter().enumerate() {
        let x = total(k % columns, width);
        let y = total(k / columns, height);
        sheet.paste(image, x, y);
        text(
            &mut sheet,
            label,
            [x + 4 * scale, y + 4 * scale],
            scale,
            INK,
        );
    }
    sheet
}

/// Writes a line of text, its upper left corner at `at`, with dots of `scale` pixels. Letters are
/// capitals; characters without a glyph leave a space.
pub fn text(image: &mut Image, line: &str, at: [u32; 2], scale: u32, colour: Colour) {
    for (k, character) in line.chars().enumerate() {
        let Some(rows) = glyph(character.to_ascii_uppercase()) else {
            continue;
        };
        let x = at[0] + k as u32 * (GLYPH[0] + 1) * scale;
        for (row, bits) in rows.iter().enumerate() {
            for column in (0..GLYPH[0]).filter(|column| bits >> (GLYPH[0] - 1 - column) & 1 == 1) {
                for dot in 0..scale * scale {
                    let px = x + column * scale + dot % scale;
                    let py = at[1] + row as u32 * scale + dot / scale;
                    image.set(i64::from(px), i64::from(py), colour);
                }
            }
        }
    }
}

/// Draws the scale of values in the lower left corner: a bar from the first to the last colour, and
/// what its ends mean.
pub fn legend(image: &mut Image, low: &str, high: &str) {
    let scale = (image.height() / 360).max(1);
    let (width, height) = (image.width() / 4, 6 * scale);
    let left = 10 * scale;
    let top = image.height().saturating_sub(18 * scale + height);
    for x in 0..width {
        let colour = colour_of(x as f32 / width.max(2).saturating_sub(1) as f32);
        for y in 0..height {
            image.set(i64::from(left + x), i64::from(top + y), colour);
        }
    }
    let below = top + height + 3 * scale;
    text(image, low, [left, below], scale, INK);
    let length = high.chars().count() as u32 * (GLYPH[0] + 1) * scale - scale;
    text(
        image,
        high,
        [(left + width).saturating_sub(length), below],
        scale,
        INK,
    );
}

/// Rows of a character, five bits each, the leftmost highest. Long because it is a table.
fn glyph(character: char) -> Option<[u8; 7]> {
    Some(match character {
        '0' => [
            0b01110, 0b10001, 0b10011, 0b10101, 0b11001, 0b10001, 0b01110,
        ],
        '1' => [
            0b00100, 0b01100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110,
        ],
        '2' => [
            0b01110, 0b10001, 0b00001, 0b00110, 0b01000, 0b10000, 0b11111,
        ],
        '3' => [
            0b01110, 0b10001, 0b00001, 0b00110, 0b00001, 0b10001, 0b01110,
        ],
        '4' => [
            0b00010, 0b00110, 0b01010, 0b10010, 0b11111, 0b00010, 0b00010,
        ],
        '5' => [
            0b11111, 0b10000, 0b11110, 0b00001, 0b00001, 0b10001, 0b01110,
        ],
        '6' => [
            0b00110, 0b01000, 0b10000, 0b11110, 0b10001, 0b10001, 0b01110,
        ],
        '7' => [
            0b11111, 0b00001, 0b00010, 0b00100, 0b01000, 0b01000, 0b01000,
        ],
        '8' => [
            0b01110, 0b10001, 0b10001, 0b01110, 0b10001, 0b10001, 0b01110,
        ],
        '9' => [
            0b01110, 0b10001, 0b10001, 0b01111, 0b00001, 0b00010, 0b01100,
        ],
        'A' => [
            0b01110, 0b10001, 0b10001, 0b11111, 0b10001, 0b10001, 0b10001,
        ],
        'B' => [
            0b11110, 0b10001, 0b10001, 0b11110, 0b10001, 0b10001, 0b11110,
        ],
        'C' => [
            0b01110, 0b10001, 0b10000, 0b10000, 0b10000, 0b10001, 0b01110,
        ],
        'D' => [
            0b11110, 0b10001, 0b10001, 0b10001, 0b10001, 0b10001, 0b11110,
        ],
        'E' => [
            0b11111, 0b10000, 0b10000, 0b11110, 0b10000, 0b10000, 0b11111,
        ],
        'F' => [
            0b11111, 0b10000, 0b10000, 0b11110, 0b10000, 0b10000, 0b10000,
        ],
        'G' => [
            0b01110, 0b10001, 0b10000, 0b10111, 0b10001, 0b10001, 0b01111,
        ],
        'H' => [
            0b10001, 0b10001, 0b10001, 0b11111, 0b10001, 0b10001, 0b10001,
        ],
        'I' => [
            0b01110, 0b00100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110,
        ],
        'J' => [
            0b00111, 0b00010, 0b00010, 0b00010, 0b00010, 0b10010, 0b01100,
        ],
        'K' => [
            0b10001, 0b10010, 0b10100, 0b11000, 0b10100, 0b10010, 0b10001,
        ],
        'L' => [
            0b10000, 0b10000, 0b10000, 0b10000, 0b10000, 0b10000, 0b11111,
        ],
        'M' => [
            0b10001, 0b11011, 0b10101, 0b10101, 0b10001, 0b10001, 0b10001,
        ],
        'N' => [
            0b10001, 0b11001, 0b10101, 0b10011, 0b10001, 0b10001, 0b10001,
        ],
        'O' => [
            0b01110, 0b10001, 0b10001, 0b10001, 0b10001, 0b10001, 0b01110,
        ],
        'P' => [
            0b11110, 0b10001, 0b10001, 0b11110, 0b10000, 0b10000, 0b10000,
        ],
        'Q' => [
            0b01110, 0b10001, 0b10001, 0b10001, 0b10101, 0b10010, 0b01101,
        ],
        'R' => [
            0b11110, 0b10001, 0b10001, 0b11110, 0b10100, 0b10010, 0b10001,
        ],
        'S' => [
            0b01111, 0b10000, 0b10000, 0b01110, 0b00001, 0b00001, 0b11110,
        ],
        'T' => [
            0b11111, 0b00100, 0b00100, 0b00100, 0b00100, 0b00100, 0b00100,
        ],
        'U' => [
            0b10001, 0b10001, 0b10001, 0b10001, 0b10001, 0b10001, 0b01110,
        ],
        'V' => [
            0b10001, 0b10001, 0b10001, 0b10001, 0b10001, 0b01010, 0b00100,
        ],
        'W' => [
            0b10001, 0b10001, 0b10001, 0b10101, 0b10101, 0b11011, 0b10001,
        ],
        'X' => [
            0b10001, 0b10001, 0b01010, 0b00100, 0b01010, 0b10001, 0b10001,
        ],
        'Y' => [
            0b10001, 0b10001, 0b01010, 0b00100, 0b00100, 0b00100, 0b00100,
        ],
        'Z' => [
            0b11111, 0b00001, 0b00010, 0b00100, 0b01000, 0b10000, 0b11111,
        ],
        '.' => [0, 0, 0, 0, 0, 0b01100, 0b01100],
        ',' => [0, 0, 0, 0, 0b01100, 0b00100, 0b01000],
        ':' => [0, 0b01100, 0b01100, 0, 0b01100, 0b01100, 0],
        '-' => [0, 0, 0, 0b11111, 0, 0, 0],
        '+' => [0, 0b00100, 0b00100, 0b11111, 0b00100, 0b00100, 0],
        '%' => [
            0b11000, 0b11001, 0b00010, 0b00100, 0b01000, 0b10011, 0b00011,
        ],
        '/' => [0, 0b00001, 0b00010, 0b00100, 0b01000, 0b10000, 0],
        '=' => [0, 0, 0b11111, 0, 0b11111, 0, 0],
        '_' => [0, 0, 0, 0, 0, 0, 0b11111],
        '(' => [
            0b00010, 0b00100, 0b01000, 0b01000, 0b01000, 0b00100, 0b00010,
        ],
        ')' => [
            0b01000, 0b00100, 0b00010, 0b00010, 0b00010, 0b00100, 0b01000,
        ],
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sheet_has_every_frame_in_its_cell() {
        let frames: Vec<(String, Image)> = (0..5u8)
            .map(|k| (String::new(), Image::new(40, 30, Colour([k; 3]))))
            .collect();
        let sheet = contact_sheet(&frames, 3);
        assert_eq!((sheet.width(), sheet.height()), (3 * 46 + 6, 2 * 36 + 6));
        for k in 0..5u32 {
            let (x, y) = (k % 3 * 46 + 6, k / 3 * 36 + 6);
            for (dx, dy) in [(0, 0), (39, 0), (0, 29), (39, 29)] {
                assert_eq!(sheet.get(x + dx, y + dy), [k as u8; 3], "frame {k}");
            }
            assert_eq!(sheet.get(x - 1, y), PAPER.0);
        }
        assert_eq!(
            sheet.get(2 * 46 + 20, 36 + 20),
            PAPER.0,
            "the last cell is free"
        );
    }

    #[test]
    fn letters_and_digits_are_legible_and_all_different() {
        let mut seen = vec![];
        for character in "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ.,:-+%/=_()".chars() {
            let rows = glyph(character).unwrap();
            assert!(rows.iter().all(|row| *row < 32) && rows.iter().any(|row| *row > 0));
            assert!(!seen.contains(&rows), "{character} looks like another");
            seen.push(rows);
        }
        let mut image = Image::new(30, 20, PAPER);
        text(&mut image, "1a", [2, 3], 2, INK);
        // the foot of the 1: three dots of two pixels, in the last row of dots
        let foot: Vec<u32> = (0..14).filter(|&x| image.get(x, 3 + 13) == INK.0).collect();
        assert_eq!(foot, [4, 5, 6, 7, 8, 9]);
    }

    #[test]
    fn text_beyond_the_border_is_cut() {
        let mut image = Image::new(8, 4, PAPER);
        text(&mut image, "WWW", [5, 2], 3, INK);
        assert_eq!(image.get(5, 3), INK.0);
    }
}
