//! Guesses about files in another unit, or with another way up, to be said aloud; nothing is changed by them.

use glam::DVec3;

use super::shapes::{FromFile, bounds, likely_scale};
use super::{Motion, Obstacle, Scene, SceneError, Shape};

/// Sizes of what is simulated with cloth, m: a handkerchief's hem and a house. A file that is outside, without a `scale`, is in question.
const USUAL: [f64; 2] = [0.05, 50.0];

/// How many times deeper than high something is that lies, or whose z points up.
const LYING: f64 = 1.5;

impl Scene {
    /// What may be wrong with the unit or the axes of files, as far as their sizes tell: a guess and what to write, one line each. A file
    /// with its own `scale` is not asked for its size. Also what of their materials cannot be found.
    ///
    /// # Errors
    /// Files that cannot be read.
    pub fn doubts_of_files(&self) -> Result<Vec<String>, SceneError> {
        let mut doubts = Vec::new();
        let cloths = self.cloth.iter().map(|cloth| (&cloth.name, &cloth.shape));
        let obstacles = self
            .obstacle
            .iter()
            .map(|obstacle| (&obstacle.name, &obstacle.shape));
        for (name, shape) in cloths.chain(obstacles) {
            let Shape::File(file) = shape else { continue };
            let triangles = shape.triangles();
            let triangles =
                triangles.map_err(|message| SceneError::value(name.as_str(), message))?;
            let look = triangles.look.as_deref();
            let of_look = look.map_or_else(Vec::new, |look| super::looks::doubts(&file.file, look));
            let bones = triangles.bones.as_ref();
            let of_bones = bones.map_or_else(Vec::new, |bones| bones.doubts.clone());
            let all = doubt(file, &triangles.x).into_iter();
            let all = all.chain(of_look).chain(of_bones);
            doubts.extend(all.map(|doubt| format!("'{name}' {doubt}")));
        }
        for obstacle in &self.obstacle {
            let ends = obstacle
                .motion
                .iter()
                .filter_map(|motion| self.end_of(obstacle, motion));
            let last = self.frames as f64 / self.fps;
            doubts.extend(ends.filter(|(end, _)| *end < last - 0.5 / self.fps).map(|(end, rate)| {
                format!(
                    "'{}' stands still from {end:.3} s on, where its motion ends; the scene ends at {last:.3} s{rate}",
                    obstacle.name
                )
            }));
        }
        Ok(doubts)
    }

    /// When the motion that a file holds has come to its end, and what may be wrong with its rate.
    fn end_of(&self, obstacle: &Obstacle, motion: &Motion) -> Option<(f64, String)> {
        match motion {
            Motion::Sequence {
                file, fps, start, ..
            } => {
                let count = super::inputs::sample_count(file).ok()?;
                let rate = fps.unwrap_or(self.fps);
                let end = start + (count.max(1) - 1) as f64 / rate;
                let hint = format!(
                    "; it has {count} samples at {rate} per second: `fps` in the motion says otherwise"
                );
                Some((end, hint))
            }
            Motion::Animated {
                clip,
                start,
                speed,
                repeat: false,
                ..
            } => {
                let bones = obstacle.shape.triangles().ok()?.bones?;
                let clips = &bones.skinned.clips;
                let clip = match clip {
                    Some(name) => clips.iter().find(|clip| clip.name == *name)?,
                    None => clips.first()?,
                };
                let end = start + (clip.end - clip.begin) / speed;
                Some((end, "; `repeat = true` plays it again".into()))
            }
            _ => None,
        }
    }
}

fn doubt(file: &FromFile, x: &[DVec3]) -> Option<String> {
    let (low, high) = bounds(x);
    let size = high - low;
    let longest = size.max_element();
    if file.scale.is_none() && !(USUAL[0]..=USUAL[1]).contains(&longest) {
        let (scale, unit) = likely_scale(longest);
        return Some(format!(
            "measures {longest:.3} m in its longest direction: {unit} `scale = {scale}` would make it {:.2} m, `scale = 1` says that it is so",
            scale * longest
        ));
    }
    // it stands on z = 0 and is higher along z, but no floor
    let stands = low.z.abs() < 0.05 * size.z && low.y < -0.2 * size.y;
    if file.up.is_y() && stands && size.z > LYING * size.y && size.y > 0.05 * size.z {
        return Some(format!(
            "is {:.2} m along z, from 0 up, and {:.2} m along y: if z points up in its file, write `up = \"z\"`",
            size.z, size.y
        ));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::shapes::Up;
    use super::*;

    fn file(scale: Option<f64>, up: Up) -> FromFile {
        FromFile {
            file: "a.obj".into(),
            scale,
            up,
            part: None,
            without: Vec::new(),
            sha256: String::new(),
        }
    }

    fn said(file: &FromFile, low: [f64; 3], high: [f64; 3]) -> String {
        doubt(file, &[low.into(), high.into()]).unwrap_or_default()
    }

    #[test]
    fn a_person_in_centimetres_or_lying_down_is_noticed_and_a_floor_is_not() {
        let plain = file(None, Up::Y);
        let centimetres = said(&plain, [-80.0, 0.0, -15.0], [80.0, 180.0, 15.0]);
        assert!(
            centimetres.contains("180.000 m in its longest direction: centimetres? `scale = 0.01` would make it 1.80 m"),
            "{centimetres}"
        );
        let tiny = said(&plain, [0.0; 3], [0.008, 0.018, 0.003]);
        assert!(
            tiny.contains("`scale = 100` would make it 1.80 m"),
            "{tiny}"
        );
        assert_eq!(
            said(&file(Some(1.0), Up::Y), [0.0; 3], [0.008, 0.018, 0.003]),
            ""
        );
        let lying = said(&plain, [-0.8, -0.15, 0.0], [0.8, 0.15, 1.7]);
        assert!(lying.contains("up = \"z\""), "{lying}");
        assert_eq!(
            said(&file(None, Up::Z), [-0.8, 0.0, -0.15], [0.8, 1.7, 0.15]),
            ""
        );
        assert_eq!(said(&plain, [-0.8, 0.0, -0.15], [0.8, 1.7, 0.15]), "");
        assert_eq!(
            said(&plain, [-3.0, 0.0, 0.0], [3.0, 0.0, 6.0]),
            "",
            "a floor"
        );
    }
}
