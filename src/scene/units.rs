//! Guesses about files in another unit, or with another way up, to be said aloud; nothing is changed by them.

use glam::DVec3;

use super::shapes::{FromFile, bounds, likely_scale};
use super::{Scene, SceneError, Shape};

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
            let all = doubt(file, &triangles.x).into_iter().chain(of_look);
            doubts.extend(all.map(|doubt| format!("'{name}' {doubt}")));
        }
        Ok(doubts)
    }
}

fn doubt(file: &FromFile, x: &[DVec3]) -> Option<String> {
    let (low, high) = bounds(x);
    let size = high - low;
    let longest = size.max_element();
    if file.scale.is_none() && !(USUAL[0]..=USUAL[1]).contains(&longest) {
        return Some(format!(
            "measures {longest:.3e} m in its longest direction: is its unit not the metre? `scale = {}` would make it {:.2} m, `scale = 1` says \
             that it is so",
            likely_scale(longest),
            likely_scale(longest) * longest
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
            centimetres.contains("`scale = 0.01` would make it 1.80 m"),
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
