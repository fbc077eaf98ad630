//! Whether the samples of a sequence are of the shape that they move: as many vertices, the same unit, the same way up.

use glam::DVec3;

use super::shapes::{Up, bounds};

/// Samples that are all this many times larger or smaller than the shape are in another unit.
const OTHER_UNIT: f64 = 10.0;

/// Shares of the size: samples fit a shape that is nearer, and lie otherwise where they are farther.
const FITS: f64 = 0.1;
const LIES_OTHERWISE: f64 = 0.25;

/// Checks samples against the vertices of a shape; `scale` and `up` are those of the motion.
pub(super) fn check(
    samples: &[Vec<DVec3>],
    shape: &[DVec3],
    scale: f64,
    up: Up,
) -> Result<(), String> {
    if let Some(number) = samples.iter().position(|x| x.len() != shape.len()) {
        return Err(format!(
            "sample {number} has {} vertices, the shape {}; a sequence moves the vertices of one mesh: export both from the same one",
            samples[number].len(),
            shape.len()
        ));
    }
    if samples.len() == 1 {
        return Err(
            "it has one sample, so nothing would move: name all files with `*` for their numbers, or leave the motion out".into(),
        );
    }
    let size = |x: &[DVec3]| {
        let (low, high) = bounds(x);
        (high - low).length()
    };
    let own = size(shape);
    let ratios = samples.iter().map(|x| scale * size(x) / own);
    let nearest = |ratio: f64| libm::log(ratio).abs();
    let best = ratios.min_by(|a, b| nearest(*a).total_cmp(&nearest(*b)));
    let best = best.expect("there are samples");
    if own > 0.0 && best > 0.0 && !(1.0 / OTHER_UNIT..OTHER_UNIT).contains(&best) {
        return Err(format!(
            "its samples are {best:.3} times as large as the shape; with the same unit, `scale = {}` in the motion, they would be as large",
            rounded(scale / best)
        ));
    }
    let other = match up {
        Up::Y => Up::Z,
        Up::Z => Up::Y,
    };
    let best = |up: Up| {
        let all = samples.iter().map(|x| apart(x, shape, scale, up));
        all.fold(f64::INFINITY, f64::min)
    };
    if best(up) > LIES_OTHERWISE * own && best(other) < FITS * own {
        let other = if other.is_y() { "y" } else { "z" };
        return Err(format!(
            "its samples do not lie as the shape does, and would with `up = \"{other}\"` in the motion"
        ));
    }
    Ok(())
}

/// How far vertices are from those of the shape in the root mean square, wherever the sample is.
fn apart(x: &[DVec3], shape: &[DVec3], scale: f64, up: Up) -> f64 {
    let count = shape.len() as f64;
    let place = |p: DVec3| scale * up.turn(p);
    let shift = (shape.iter().sum::<DVec3>() - x.iter().map(|&p| place(p)).sum::<DVec3>()) / count;
    let both = x.iter().zip(shape);
    let sum: f64 = both
        .map(|(&p, &q)| (place(p) + shift).distance_squared(q))
        .sum();
    (sum / count).sqrt()
}

/// A scale with three digits.
fn rounded(scale: f64) -> f64 {
    format!("{scale:.2e}").parse().unwrap_or(scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Corners of a box that is higher than deep, at two moments.
    fn samples(scale: f64, turn: impl Fn(DVec3) -> DVec3) -> Vec<Vec<DVec3>> {
        let corner = |k: u32| {
            DVec3::new(
                f64::from(k & 1),
                4.0 * f64::from(k >> 1 & 1),
                0.5 * f64::from(k >> 2),
            )
        };
        let moment = |shift: f64| {
            let all = (0..8).map(corner);
            all.map(|p| scale * turn(p + shift * DVec3::X)).collect()
        };
        vec![moment(0.0), moment(0.3)]
    }

    #[test]
    fn samples_in_another_unit_or_lying_down_are_refused_with_what_to_write() {
        let shape = samples(1.0, |p| p).remove(0);
        let said = |samples: Vec<Vec<DVec3>>, scale, up| {
            check(&samples, &shape, scale, up).err().unwrap_or_default()
        };
        assert_eq!(said(samples(1.0, |p| p), 1.0, Up::Y), "");
        let unit = said(samples(100.0, |p| p), 1.0, Up::Y);
        assert!(unit.contains("`scale = 0.01` in the motion"), "{unit}");
        assert_eq!(said(samples(100.0, |p| p), 0.01, Up::Y), "");
        let lying = |p: DVec3| DVec3::new(p.x, -p.z, p.y);
        let up = said(samples(1.0, lying), 1.0, Up::Y);
        assert!(up.contains("`up = \"z\"` in the motion"), "{up}");
        assert_eq!(said(samples(1.0, lying), 1.0, Up::Z), "");
        let up = said(samples(1.0, |p| p), 1.0, Up::Z);
        assert!(up.contains("`up = \"y\"`"), "{up}");
        let one = said(samples(1.0, |p| p)[..1].to_vec(), 1.0, Up::Y);
        assert!(one.contains("one sample") && one.contains('*'), "{one}");
        let mut fewer = samples(1.0, |p| p);
        fewer[1].pop();
        let fewer = said(fewer, 1.0, Up::Y);
        assert!(
            fewer.contains("sample 1 has 7 vertices, the shape 8"),
            "{fewer}"
        );
    }
}
