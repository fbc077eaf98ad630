//! A smooth map of the plane into the plane that takes given points to given points: radial basis functions.
//!
//! \[WLG06\] §5.1, (2) and (3): thin plate φ(d) = d² log d and a polynomial of degree one,
//!
//! ```text
//! ⎛ Φ  A ⎞ ⎛ w ⎞   ⎛ v ⎞
//! ⎜      ⎟ ⎜   ⎟ = ⎜   ⎟,    Φᵢⱼ = φ(|cᵢ − cⱼ|),    row i of A = (1, cᵢ)
//! ⎝ Aᵀ 0 ⎠ ⎝ a ⎠   ⎝ 0 ⎠
//! ```
//!
//! We differ: A has three columns in two variables, not four. Centres on one line make A singular, and centres near one line make
//! the map across it a matter of noise; the paper adds more noise. Here the map is then affine along the line and constant across it, by least
//! squares. Lengths are divided by the spread of the centres first, so that the result does not depend on the unit.

use glam::DVec2;

/// Centres whose spread across their main line is below this share of that along it count as being on the line.
///
/// Across the line the map is extrapolated by the inverse of this share: a displacement of the path by one edge would move targets by ten.
const THINNEST: f64 = 0.1;

/// A map that takes centres to values.
#[derive(Clone, Debug)]
pub(super) struct Map {
    origin: DVec2,
    scale: f64,
    /// Weighted centres; empty if the map is affine.
    centres: Vec<(DVec2, DVec2)>,
    /// Value at the origin and change along both axes.
    affine: [DVec2; 3],
}

impl Map {
    /// Fits the map; `None` if all centres are in one place.
    pub(super) fn fit(centres: &[DVec2], values: &[DVec2]) -> Option<Self> {
        assert_eq!(centres.len(), values.len(), "a value for each centre");
        let n = centres.len();
        let mean = |all: &[DVec2]| all.iter().sum::<DVec2>() / n as f64;
        let (origin, value) = (mean(centres), mean(values));
        let [mut xx, mut xy, mut yy] = [0.0; 3];
        for c in centres {
            let d = *c - origin;
            (xx, xy, yy) = (xx + d.x * d.x, xy + d.x * d.y, yy + d.y * d.y);
        }
        // eigenvalues of the covariance: spread along and across the main line
        let (half, turn) = (0.5 * (xx + yy), libm::hypot(0.5 * (xx - yy), xy));
        let (along, across) = (half + turn, (half - turn).max(0.0));
        if along <= 0.0 || !along.is_finite() {
            return None;
        }
        let scale = (along / n as f64).sqrt();
        if across >= THINNEST * THINNEST * along
            && let Some(map) = Self::thin_plate(centres, values, origin, scale)
        {
            return Some(map);
        }
        // main direction, from the better conditioned of two forms
        let (p, q) = (DVec2::new(along - yy, xy), DVec2::new(xy, along - xx));
        let axis = if p.length_squared() >= q.length_squared() {
            p
        } else {
            q
        };
        let axis = axis.try_normalize()?;
        let pairs = centres.iter().zip(values);
        let slope: DVec2 = pairs
            .map(|(c, v)| (*c - origin).dot(axis) * (*v - value))
            .sum();
        let slope = slope / along * scale;
        Some(Self {
            origin,
            scale,
            centres: Vec::new(),
            affine: [value, axis.x * slope, axis.y * slope],
        })
    }

    fn thin_plate(centres: &[DVec2], values: &[DVec2], origin: DVec2, scale: f64) -> Option<Self> {
        let n = centres.len();
        let at: Vec<DVec2> = centres.iter().map(|c| (*c - origin) / scale).collect();
        let size = n + 3;
        let mut matrix = vec![0.0; size * size];
        let mut right = vec![DVec2::ZERO; size];
        for i in 0..n {
            for j in 0..n {
                matrix[i * size + j] = thin_plate(at[i].distance_squared(at[j]));
            }
            for (k, entry) in [1.0, at[i].x, at[i].y].into_iter().enumerate() {
                matrix[i * size + n + k] = entry;
                matrix[(n + k) * size + i] = entry;
            }
            right[i] = values[i];
        }
        let solution = solve(&mut matrix, right)?;
        Some(Self {
            origin,
            scale,
            centres: at.into_iter().zip(solution[..n].iter().copied()).collect(),
            affine: [solution[n], solution[n + 1], solution[n + 2]],
        })
    }

    /// Where a point goes.
    pub(super) fn at(&self, point: DVec2) -> DVec2 {
        let p = (point - self.origin) / self.scale;
        let [constant, x, y] = self.affine;
        let smooth: DVec2 = self
            .centres
            .iter()
            .map(|(c, w)| thin_plate(p.distance_squared(*c)) * *w)
            .sum();
        constant + p.x * x + p.y * y + smooth
    }

    /// Whether the centres were on a line.
    #[cfg(test)]
    fn is_affine(&self) -> bool {
        self.centres.is_empty()
    }
}

/// d² log d of a squared distance.
fn thin_plate(distance_squared: f64) -> f64 {
    match distance_squared > 0.0 {
        true => 0.5 * distance_squared * libm::log(distance_squared),
        false => 0.0,
    }
}

/// Gaussian elimination with the largest pivot of each column; `None` if one is lost in rounding.
fn solve(matrix: &mut [f64], mut right: Vec<DVec2>) -> Option<Vec<DVec2>> {
    let n = right.len();
    let largest = matrix.iter().fold(0.0, |m: f64, a| m.max(a.abs()));
    // entries carry a rounding error of about ε times the largest; n of them add up
    let least = n as f64 * f64::EPSILON * largest;
    for column in 0..n {
        let pivot = (column..n).max_by(|&i, &j| {
            let (a, b) = (matrix[i * n + column].abs(), matrix[j * n + column].abs());
            a.total_cmp(&b).then(j.cmp(&i))
        })?;
        if matrix[pivot * n + column].abs() <= least {
            return None;
        }
        for k in 0..n {
            matrix.swap(column * n + k, pivot * n + k);
        }
        right.swap(column, pivot);
        for row in column + 1..n {
            let factor = matrix[row * n + column] / matrix[column * n + column];
            if factor != 0.0 {
                for k in column..n {
                    matrix[row * n + k] -= factor * matrix[column * n + k];
                }
                right[row] = right[row] - factor * right[column];
            }
        }
    }
    for row in (0..n).rev() {
        let mut sum = right[row];
        for k in row + 1..n {
            sum -= matrix[row * n + k] * right[k];
        }
        right[row] = sum / matrix[row * n + row];
    }
    Some(right)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn circle(n: usize, radius: f64) -> Vec<DVec2> {
        let angle = |k: usize| std::f64::consts::TAU * k as f64 / n as f64;
        (0..n)
            .map(|k| {
                DVec2::new(3.0, -7.0)
                    + radius * DVec2::new(libm::cos(angle(k)), libm::sin(angle(k)))
            })
            .collect()
    }

    #[test]
    fn affine_maps_are_reproduced_everywhere() {
        let affine = |p: DVec2| DVec2::new(0.3 * p.x - 2.0 * p.y + 5.0, p.x + 0.7 * p.y - 1.0);
        for radius in [1e-3, 1.0, 1e3] {
            let centres = circle(11, radius);
            let values: Vec<DVec2> = centres.iter().map(|&c| affine(c)).collect();
            let map = Map::fit(&centres, &values).unwrap();
            assert!(!map.is_affine());
            for p in [
                centres[0],
                DVec2::new(3.0, -7.0),
                DVec2::new(3.0 + 2.0 * radius, -7.0),
            ] {
                assert!((map.at(p) - affine(p)).length() < 1e-9 * (10.0 + radius));
            }
        }
    }

    #[test]
    fn centres_go_to_their_values_and_units_do_not_matter() {
        let mut random = Random(7);
        let centres: Vec<DVec2> = (0..20)
            .map(|_| DVec2::new(random.signed(), random.signed()))
            .collect();
        let values: Vec<DVec2> = (0..20)
            .map(|_| DVec2::new(random.signed(), random.signed()))
            .collect();
        let map = Map::fit(&centres, &values).unwrap();
        let scaled: Vec<DVec2> = centres.iter().map(|c| 1e-3 * *c).collect();
        let small = Map::fit(&scaled, &values).unwrap();
        for (c, v) in centres.iter().zip(&values) {
            assert!((map.at(*c) - *v).length() < 1e-9);
        }
        for _ in 0..50 {
            let p = DVec2::new(random.signed(), random.signed());
            assert!((map.at(p) - small.at(1e-3 * p)).length() < 1e-9);
        }
    }

    #[test]
    fn the_thin_plate_bends_least() {
        // a value that differs at one of four corners of a square: by symmetry the middle takes the mean
        let centres = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]].map(DVec2::from_array);
        let values = [1.0, 0.0, 0.0, 0.0].map(|v| DVec2::new(v, 0.0));
        let map = Map::fit(&centres, &values).unwrap();
        assert!((map.at(DVec2::splat(0.5)).x - 0.25).abs() < 1e-12);
        // closed form: w = c (1, −1, −1, 1), c = 1/4 / (φ(√2) + φ(0) − 2 φ(1)) = 1 / (4 log 2), with unit edges
        let saddle = map.at(DVec2::new(0.5, 0.0)).x - 0.5;
        assert!(saddle.abs() < 1e-12, "edges of a bilinear saddle: {saddle}");
    }

    #[test]
    fn centres_on_a_line_give_a_map_along_it() {
        let line = |k: u32| DVec2::new(1.0, 2.0) + 0.1 * f64::from(k) * DVec2::new(0.6, 0.8);
        let centres: Vec<DVec2> = (0..7).map(line).collect();
        let values: Vec<DVec2> = (0..7).map(|k| DVec2::new(0.0, f64::from(k))).collect();
        let map = Map::fit(&centres, &values).unwrap();
        assert!(map.is_affine());
        for across in [-1.0, 0.0, 3.0] {
            let p = line(4) + across * DVec2::new(-0.8, 0.6);
            assert!((map.at(p) - DVec2::new(0.0, 4.0)).length() < 1e-9);
        }
        assert!(Map::fit(&[DVec2::ONE; 5], &[DVec2::ZERO; 5]).is_none());
    }
}
