//! One file with page, program and frames: opened offline, mailed, kept.
//!
//! Positions are whole numbers of 16 bits within the box of their body over all frames (a cloth of 2 m: 0.03 mm), as
//! differences from frame to frame, low bytes before high bytes, compressed by gzip. Bodies that never move are there once.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use glam::DVec3;
use percale::geometry::{Aabb, Body};
use serde_json::json;

use super::show::{Show, face_bytes};
use super::{SCRIPT, page};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::page::base64;
use crate::progress::Progress;

/// Characters in one element: browsers have trouble with texts of half a gigabyte.
const PART: usize = 1 << 23;
/// Largest number of 16 bits.
const UNITS: f64 = 65535.0;

/// Share of the time that the boxes take, of every frame's.
const FIRST_LOOK: f64 = 0.2;

/// The box of a body over all frames, and whether it is ever elsewhere.
struct Room {
    low: DVec3,
    unit: DVec3,
    moves: bool,
}

impl Room {
    fn units(&self, x: DVec3) -> [u16; 3] {
        let share = (x - self.low) / self.unit;
        share.to_array().map(|unit| match unit.is_finite() {
            true => unit.round().clamp(0.0, UNITS) as u16,
            false => 0, // a flat box
        })
    }
}

/// The file.
pub(crate) fn write(show: &mut Show) -> Result<String, Failure> {
    let frames = show.frame_count();
    let progress = Progress::new("frame", frames, 0);
    let interrupt = Interrupt::watch(&progress, "frame", "no file was written")?;
    let bodies = show.mesh().bodies().to_vec();
    let of = |body: &Body, x: &[DVec3]| -> Vec<DVec3> {
        x[body.vertices.start as usize..body.vertices.end as usize].to_vec()
    };

    let mut boxes = vec![Aabb::EMPTY; bodies.len()];
    let mut moves = vec![false; bodies.len()];
    let start = show.positions(0)?;
    for frame in 0..frames {
        check(&interrupt)?;
        let x = show.positions(frame)?;
        for (k, body) in bodies.iter().enumerate() {
            let points = of(body, &x);
            moves[k] |= points != of(body, &start);
            boxes[k] = boxes[k].union(Aabb::of(points));
        }
        progress.at(FIRST_LOOK * (frame + 1) as f64);
    }
    let rooms: Vec<Room> = boxes
        .iter()
        .zip(&moves)
        .map(|(of_body, &moves)| Room {
            low: of_body.min,
            unit: of_body.size() / UNITS,
            moves,
        })
        .collect();

    let mut packed = GzEncoder::new(Vec::new(), Compression::new(6));
    let mut touches = GzEncoder::new(Vec::new(), Compression::new(6));
    let mut paths = Vec::new();
    let mut last: Vec<Vec<u16>> = vec![Vec::new(); bodies.len()];
    for frame in 0..frames {
        check(&interrupt)?;
        let x = show.positions(frame)?;
        for (k, body) in bodies.iter().enumerate() {
            if frame > 0 && !rooms[k].moves {
                continue;
            }
            let now: Vec<u16> = of(body, &x)
                .into_iter()
                .flat_map(|x| rooms[k].units(x))
                .collect();
            packed.write_all(&differences(&last[k], &now))?;
            last[k] = now;
        }
        touches.write_all(&show.touch(frame)?.to_bytes())?;
        paths.push(show.paths(frame)?);
        progress.at(FIRST_LOOK * frames as f64 + (1.0 - FIRST_LOOK) * (frame + 1) as f64);
    }
    progress.finish();

    let boxes = rooms.iter().map(|room| {
        json!({ "low": room.low.to_array(), "unit": room.unit.to_array(), "moves": room.moves })
    });
    let scene = json!({
        "meta": show.meta(), "boxes": boxes.collect::<Vec<_>>(), "touches": frames, "paths": paths,
    });
    let mut faces = GzEncoder::new(Vec::new(), Compression::new(6));
    faces.write_all(&face_bytes(show.mesh()))?;
    let mut data = format!(
        "<script type=\"application/json\" id=\"percale-scene\">{}</script>\n",
        scene.to_string().replace('<', "\\u003c")
    );
    for (name, bytes) in [
        ("faces", faces.finish()?),
        ("frames", packed.finish()?),
        ("touches", touches.finish()?),
    ] {
        // a multiple of three bytes is whole letters
        for part in bytes.chunks(PART / 4 * 3) {
            let text = base64(part);
            data.push_str(&format!(
                "<script type=\"text/plain\" data-part=\"{name}\">{text}</script>\n"
            ));
        }
    }
    Ok(page("inside", &format!("{data}<script>{SCRIPT}</script>")))
}

fn check(interrupt: &Interrupt) -> Result<(), Failure> {
    match interrupt.came() {
        true => Err(Failure::interrupted("stopped; no file was written")),
        false => Ok(()),
    }
}

/// Low bytes, then high bytes of what was added since; without anything before, of the numbers.
fn differences(last: &[u16], now: &[u16]) -> Vec<u8> {
    let before = |i: usize| last.get(i).copied().unwrap_or(0);
    let each: Vec<u16> = (now.iter().enumerate())
        .map(|(i, now)| now.wrapping_sub(before(i)))
        .collect();
    let low = each.iter().map(|d| d.to_le_bytes()[0]);
    let high = each.iter().map(|d| d.to_le_bytes()[1]);
    low.chain(high).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_within_half_a_unit_of_the_place() {
        let (low, high) = (DVec3::new(-1.0, 0.0, 2.0), DVec3::new(1.0, 0.0, 3.0));
        let room = Room {
            low,
            unit: (high - low) / UNITS,
            moves: true,
        };
        assert_eq!(room.units(low), [0; 3]);
        assert_eq!(room.units(high), [65535, 0, 65535]);
        let x = DVec3::new(0.123_456, 0.0, 2.71);
        let [i, j, k] = room.units(x).map(f64::from);
        let back = low + room.unit * DVec3::new(i, j, k);
        assert!((back - x).abs().max_element() <= 0.5 * room.unit.max_element());
    }

    #[test]
    fn differences_wrap_and_come_back() {
        let frames: [&[u16]; 3] = [&[0, 65535, 300], &[65535, 0, 299], &[1, 1, 1]];
        let mut at = [0u16; 3];
        let mut last: &[u16] = &[];
        for now in frames {
            let bytes = differences(last, now);
            for i in 0..3 {
                at[i] = at[i].wrapping_add(u16::from_le_bytes([bytes[i], bytes[3 + i]]));
            }
            assert_eq!(at, now);
            last = now;
        }
    }
}
