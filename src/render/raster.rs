//! Triangles to samples: clipping, watertight coverage, nearest wins.
//!
//! Corners are snapped to 1/256 sample and coverage is decided in integers: of two triangles that
//! share an edge exactly one owns each sample on it (top-left rule), and no sample between them is
//! missed.

use glam::{DVec2, DVec3};

use super::camera::View;

/// Marks a sample that nothing covers.
pub(super) const EMPTY: u32 = u32::MAX;

/// Steps of snapped coordinates per sample.
const STEPS: i64 = 256;
/// Snapped coordinates stay within ± this, so that an edge function (two products of differences)
/// fits in 62 bits.
const LARGEST: f64 = (1i64 << 29) as f64;
/// Triangles are cut at this many half-pictures from the middle: beyond the picture, so that it is
/// not changed, and near enough that pictures of up to 2¹⁹ samples a side stay within [`LARGEST`].
const GUARD: f64 = 4.0;

/// A triangle ready for coverage, counter-clockwise in a frame with y down, and how near its
/// corners are (any measure that is linear over the picture; larger hides smaller).
#[derive(Clone, Copy, Debug)]
pub(super) struct Flat {
    corners: [[i64; 2]; 3],
    nearness: [f64; 3],
    id: u32,
}

impl Flat {
    /// From places in samples; `None` if nothing is left of it after snapping.
    pub(super) fn new(corners: [DVec2; 3], nearness: [f64; 3], id: u32) -> Option<Self> {
        let [a, b, c] = corners.map(|c| {
            let c = (c * STEPS as f64).clamp(DVec2::splat(-LARGEST), DVec2::splat(LARGEST));
            [c.x.round() as i64, c.y.round() as i64]
        });
        let [na, nb, nc] = nearness;
        let (corners, nearness) = match edge(a, b, c) {
            0 => return None,
            1.. => ([a, b, c], [na, nb, nc]),
            _ => ([a, c, b], [na, nc, nb]),
        };
        Some(Self {
            corners,
            nearness,
            id,
        })
    }

    /// First and one past the last row of samples that it may touch.
    pub(super) fn rows(&self) -> (i64, i64) {
        self.extent(1)
    }

    /// The same of columns (axis 0) or rows (axis 1). The middle of sample k is at STEPS k + STEPS
    /// / 2.
    fn extent(&self, axis: usize) -> (i64, i64) {
        let [a, b, c] = self.corners.map(|c| c[axis]);
        let first = a.min(b).min(c) - STEPS / 2;
        let last = a.max(b).max(c) - STEPS / 2;
        (-(-first).div_euclid(STEPS), last.div_euclid(STEPS) + 1)
    }

    /// Calls `visit(index, nearness)` for every covered sample of a grid `width` wide, whose first
    /// row is row `top` of the picture and which has `rows` rows.
    pub(super) fn cover(
        &self,
        width: usize,
        top: usize,
        rows: usize,
        mut visit: impl FnMut(usize, f32),
    ) {
        let (left, right) = self.extent(0);
        let columns = (left.max(0), right.min(width as i64));
        let (first, last) = self.extent(1);
        let top = top as i64;
        let (first, last) = (first.max(top), last.min(top + rows as i64));
        if columns.0 >= columns.1 || first >= last {
            return;
        }
        let [a, b, c] = self.corners;
        let area = edge(a, b, c) as f64;
        let [na, nb, nc] = self.nearness;
        let (low, high) = (na.min(nb).min(nc), na.max(nb).max(nc));
        // edge functions opposite the corners, at the first sample that may be covered, and their
        // steps; a sample is covered where all are above 0, or 0 on a side that owns its samples:
        // in integers, ≥ 0 after taking 1
        let centre = [columns.0, first].map(|k| STEPS * k + STEPS / 2);
        let sides = [(b, c), (c, a), (a, b)];
        let mut values = sides.map(|(p, q)| edge(p, q, centre) - i64::from(!owns_samples(p, q)));
        let right = sides.map(|(p, q)| (p[1] - q[1]) * STEPS);
        let down = sides.map(|(p, q)| (q[0] - p[0]) * STEPS);
        let rise = [nb - na, nc - na];
        let step = (right[1] as f64 * rise[0] + right[2] as f64 * rise[1]) / area;
        for row in first..last {
            let count = columns.1 - columns.0;
            let (from, to) = if count <= NARROW {
                scan(values, right, count)
            } else {
                divide(values, right, count)
            };
            let weight = |k: usize| (values[k] + right[k] * from) as f64 / area;
            let start = na + weight(1) * rise[0] + weight(2) * rise[1];
            let base = (row - top) as usize * width + (columns.0 + from) as usize;
            for k in 0..(to - from).max(0) as usize {
                let nearness = (start + step * k as f64).clamp(low, high);
                visit(base + k, nearness as f32);
            }
            for k in 0..3 {
                values[k] += down[k];
            }
        }
    }
}

/// Rows of at most this many samples are scanned; for longer ones three divisions are faster.
const NARROW: i64 = 24;

/// First and one past the last of `count` samples at which all three values are at least 0.
fn scan(mut values: [i64; 3], step: [i64; 3], count: i64) -> (i64, i64) {
    let mut advance = |from: i64, inside: bool| {
        let mut k = from;
        // the sign bit of the union is that of "some value is below 0"
        while k < count && ((values[0] | values[1] | values[2]) >= 0) == inside {
            for i in 0..3 {
                values[i] += step[i];
            }
            k += 1;
        }
        k
    };
    let from = advance(0, false);
    (from, advance(from, true))
}

/// The same, for any number of samples at once.
fn divide(values: [i64; 3], step: [i64; 3], count: i64) -> (i64, i64) {
    let (mut from, mut to) = (0, count);
    for (value, step) in values.into_iter().zip(step) {
        match step {
            0 if value < 0 => to = 0,
            0 => {}
            1.. => from = from.max(-value.div_euclid(step)),
            _ => to = to.min(value.div_euclid(-step) + 1),
        }
    }
    (from, to)
}

/// A band of samples: what is nearest at each.
#[derive(Clone, Debug)]
pub(super) struct Samples {
    width: usize,
    top: usize,
    nearness: Vec<f32>,
    /// Id of the nearest triangle at each sample, row by row, or [`EMPTY`].
    pub(super) ids: Vec<u32>,
}

impl Samples {
    /// Rows `top .. top + rows` of a picture, nothing drawn yet.
    pub(super) fn new(width: usize, top: usize, rows: usize) -> Self {
        Self {
            width,
            top,
            nearness: vec![f32::NEG_INFINITY; width * rows],
            ids: vec![EMPTY; width * rows],
        }
    }

    /// Draws a triangle; at equal nearness the earlier one stays.
    pub(super) fn draw(&mut self, flat: &Flat) {
        let rows = self.ids.len() / self.width;
        let (nearness, ids) = (&mut self.nearness, &mut self.ids);
        flat.cover(self.width, self.top, rows, |index, n| {
            if n > nearness[index] {
                nearness[index] = n;
                ids[index] = flat.id;
            }
        });
    }
}

/// Projects triangles to samples, cutting what is behind the eye or far outside.
#[derive(Clone, Copy, Debug)]
pub(super) struct Projection {
    view: View,
    /// Samples per pixel along each axis.
    scale: f64,
}

impl Projection {
    /// Of a view, with `samples` × `samples` to the pixel.
    pub(super) fn new(view: View, samples: u32) -> Self {
        Self {
            view,
            scale: f64::from(samples),
        }
    }

    /// Place in samples, and nearness 1/z, which is linear over the picture for points of a plane.
    fn corner(&self, q: DVec3) -> (DVec2, f64) {
        (self.view.to_pixel(q) * self.scale, q.z.recip())
    }

    /// The ways out of what is drawn: positive inside.
    fn insides(&self, q: DVec3) -> [f64; 5] {
        let reach = self.view.centre * (GUARD / self.view.focal);
        let (x, y) = (reach.x * q.z, reach.y * q.z);
        [q.z - self.view.near, x - q.x, x + q.x, y - q.y, y + q.y]
    }

    /// The triangles of samples that a triangle in view axes becomes: one, none, or the fan of its
    /// cut polygon.
    pub(super) fn triangle(&self, corners: [DVec3; 3], id: u32, out: &mut Vec<Flat>) {
        if !corners.iter().all(|q| q.is_finite()) {
            return;
        }
        let all_inside = corners
            .iter()
            .all(|&q| self.insides(q).iter().all(|&inside| inside >= 0.0));
        if all_inside {
            let [(a, na), (b, nb), (c, nc)] = corners.map(|q| self.corner(q));
            out.extend(Flat::new([a, b, c], [na, nb, nc], id));
            return;
        }
        let polygon = self.cut(corners.to_vec(), true);
        for k in 2..polygon.len() {
            let [(a, na), (b, nb), (c, nc)] =
                [polygon[0], polygon[k - 1], polygon[k]].map(|q| self.corner(q));
            out.extend(Flat::new([a, b, c], [na, nb, nc], id));
        }
    }

    /// A segment in view axes as a strip `width` pixels wide with octagonal ends, drawn in front of
    /// what is within the share `lift` of its distance.
    pub(super) fn segment(
        &self,
        ends: [DVec3; 2],
        width: f64,
        lift: f64,
        id: u32,
        out: &mut Vec<Flat>,
    ) {
        if !ends.iter().all(|q| q.is_finite()) {
            return;
        }
        let &[a, b] = self.cut(ends.to_vec(), false).as_slice() else {
            return;
        };
        let [(a, na), (b, nb)] = [a, b].map(|q| self.corner(q));
        let (na, nb) = (na * (1.0 + lift), nb * (1.0 + lift));
        let half = 0.5 * width * self.scale;
        let along = (b - a).normalize_or(DVec2::X) * half;
        let side = along.perp();
        out.extend(Flat::new([a - side, b - side, b + side], [na, nb, nb], id));
        out.extend(Flat::new([a - side, b + side, a + side], [na, nb, na], id));
        let diagonal = (along + side) * std::f64::consts::FRAC_1_SQRT_2;
        let rim = [
            along,
            diagonal,
            side,
            diagonal.perp(),
            -along,
            -diagonal,
            -side,
            -diagonal.perp(),
        ];
        for (centre, n) in [(a, na), (b, nb)] {
            for k in 0..8 {
                out.extend(Flat::new(
                    [centre, centre + rim[k], centre + rim[(k + 1) % 8]],
                    [n; 3],
                    id,
                ));
            }
        }
    }

    /// Sutherland-Hodgman cutting of a polygon, or of a chain if not `closed`. A cut point is
    /// always computed from the inner towards the outer end, so two triangles get the same bits for
    /// a shared edge.
    fn cut(&self, mut chain: Vec<DVec3>, closed: bool) -> Vec<DVec3> {
        for plane in 0..5 {
            let inside: Vec<f64> = chain.iter().map(|&q| self.insides(q)[plane]).collect();
            let mut kept = Vec::with_capacity(chain.len() + 1);
            for (k, &q) in chain.iter().enumerate() {
                if inside[k] >= 0.0 {
                    kept.push(q);
                }
                let next = (k + 1) % chain.len();
                if (closed || next != 0) && (inside[k] >= 0.0) != (inside[next] >= 0.0) {
                    let (i, o) = if inside[k] >= 0.0 {
                        (k, next)
                    } else {
                        (next, k)
                    };
                    let t = inside[i] / (inside[i] - inside[o]);
                    let mut at = chain[i] + t * (chain[o] - chain[i]);
                    at.z = at.z.max(self.view.near); // rounding must not put it behind the eye
                    kept.push(at);
                }
            }
            chain = kept;
            if chain.is_empty() {
                break;
            }
        }
        chain
    }
}

/// Twice the signed area of a, b, p: the edge function of a → b at p.
fn edge(a: [i64; 2], b: [i64; 2], p: [i64; 2]) -> i64 {
    (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0])
}

/// Whether samples on this side of a triangle belong to it. Of two triangles on either side of an
/// edge, which run through it in opposite directions, exactly one says yes.
fn owns_samples(from: [i64; 2], to: [i64; 2]) -> bool {
    to[1] < from[1] || (to[1] == from[1] && to[0] > from[0])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::render::camera::Camera;

    fn coverage(triangles: &[[DVec2; 3]], width: usize, rows: usize) -> Vec<u32> {
        let mut counts = vec![0; width * rows];
        for &corners in triangles {
            if let Some(flat) = Flat::new(corners, [1.0; 3], 0) {
                flat.cover(width, 0, rows, |index, _| counts[index] += 1);
            }
        }
        counts
    }

    #[test]
    fn a_fan_around_any_point_covers_each_sample_exactly_once() {
        let mut random = Random(7);
        let corners = [[0.0, 0.0], [40.0, 0.0], [40.0, 30.0], [0.0, 30.0]].map(DVec2::from);
        for round in 0..400 {
            let mut middle = DVec2::new(40.0 * random.share(), 30.0 * random.share());
            if round % 2 == 0 {
                middle = middle.floor() + 0.5; // on a sample centre: every edge meets it
            }
            let fan: Vec<_> = (0..4)
                .map(|k| [corners[k], corners[(k + 1) % 4], middle])
                .collect();
            assert_eq!(coverage(&fan, 40, 30), vec![1; 1200], "fan around {middle}");
        }
    }

    #[test]
    fn a_grid_of_slivers_with_corners_on_sample_centres_is_watertight() {
        let mut random = Random(11);
        let place = |i: usize, j: usize, random: &mut Random| {
            let jitter = if i.is_multiple_of(8) || j.is_multiple_of(8) {
                0.0
            } else {
                (random.share() * 8.0).floor() * 0.25 - 1.0
            };
            DVec2::new(i as f64 * 2.0 + jitter * 0.9, j as f64 * 2.0 + jitter)
        };
        let grid: Vec<Vec<DVec2>> = (0..=8)
            .map(|i| (0..=8).map(|j| place(i, j, &mut random)).collect())
            .collect();
        let mut triangles = vec![];
        for i in 0..8 {
            for j in 0..8 {
                let [a, b, c, d] = [
                    grid[i][j],
                    grid[i + 1][j],
                    grid[i + 1][j + 1],
                    grid[i][j + 1],
                ];
                triangles.extend([[a, b, c], [a, c, d]]);
            }
        }
        assert_eq!(coverage(&triangles, 16, 16), vec![1; 256]);
    }

    #[test]
    fn coverage_is_that_of_the_edge_functions_tried_at_every_sample() {
        let mut random = Random(3);
        for _ in 0..500 {
            let corners = [(); 3]
                .map(|()| DVec2::new(50.0 * random.share() - 10.0, 50.0 * random.share() - 10.0));
            let counts = coverage(&[corners], 32, 32);
            let [a, b, c] = corners;
            let sign = (b - a).perp_dot(c - a).signum();
            for (index, &count) in counts.iter().enumerate() {
                let p = DVec2::new((index % 32) as f64 + 0.5, (index / 32) as f64 + 0.5);
                let inner = [[a, b], [b, c], [c, a]]
                    .iter()
                    .map(|&[p0, p1]| sign * (p1 - p0).perp_dot(p - p0) / (p1 - p0).length())
                    .fold(f64::INFINITY, f64::min);
                // snapping moves an edge by at most half a step along each axis
                if inner.abs() > 1.0 / STEPS as f64 {
                    assert_eq!(count, u32::from(inner > 0.0), "sample {p} of {corners:?}");
                }
            }
        }
    }

    /// Depth along `ray` (of depth 1, from the origin) at which it meets the triangle: Möller &
    /// Trumbore 1997.
    fn cast(ray: DVec3, [a, b, c]: [DVec3; 3]) -> Option<f64> {
        let (ab, ac) = (b - a, c - a);
        let h = ray.cross(ac);
        let det = ab.dot(h);
        let u = -a.dot(h) / det;
        let q = (-a).cross(ab);
        let (v, t) = (ray.dot(q) / det, ac.dot(q) / det);
        (u >= 0.0 && v >= 0.0 && u + v <= 1.0 && t > 0.0).then_some(t)
    }

    #[test]
    fn the_nearest_triangle_at_a_sample_is_the_one_a_ray_meets_first() {
        let camera = Camera {
            eye: DVec3::ZERO,
            target: -DVec3::Z,
            fov: 60.0,
        };
        let view = camera.view(64, 48);
        let projection = Projection::new(view, 1);
        let mut random = Random(5);
        // interpenetrating, some behind the eye, some far outside, some through the near plane
        let triangles: Vec<[DVec3; 3]> = (0..60)
            .map(|_| {
                let mut p = || {
                    let [x, y, z] = [(); 3].map(|()| random.share() - 0.5);
                    view.to_view(DVec3::new(6.0 * x, 6.0 * y, 4.0 * z - 1.2))
                };
                [p(), p(), p()]
            })
            .collect();
        let mut flats = vec![];
        for (id, &corners) in triangles.iter().enumerate() {
            projection.triangle(corners, id as u32, &mut flats);
        }
        let mut samples = Samples::new(64, 0, 48);
        flats.iter().for_each(|flat| samples.draw(flat));

        let (mut agreed, mut other) = (0, 0);
        for (index, &id) in samples.ids.iter().enumerate() {
            let pixel = DVec2::new((index % 64) as f64 + 0.5, (index / 64) as f64 + 0.5);
            let hits = triangles.iter().enumerate().filter_map(|(k, &corners)| {
                cast(view.ray(pixel), corners)
                    .filter(|&t| t >= view.near)
                    .map(|t| (t, k as u32))
            });
            let first = hits
                .min_by(|a, b| a.0.total_cmp(&b.0))
                .map_or(EMPTY, |hit| hit.1);
            if first == id {
                agreed += 1;
            } else {
                other += 1; // within a step of an edge, or of the line where two triangles cross
            }
        }
        assert!(
            other * 200 < agreed,
            "{other} of {} samples differ",
            agreed + other
        );
    }

    #[test]
    fn a_floor_that_passes_under_the_eye_fills_everything_below_the_horizon() {
        let camera = Camera {
            eye: DVec3::new(0.0, 1.0, 0.0),
            target: DVec3::new(0.0, 1.0, -1.0),
            fov: 90.0,
        };
        let projection = Projection::new(camera.view(40, 40), 1);
        let far = 1e6;
        let [a, b, c, d] = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
            .map(|(x, z)| projection.view.to_view(DVec3::new(far * x, 0.0, far * z)));
        let mut flats = vec![];
        projection.triangle([a, b, c], 0, &mut flats);
        projection.triangle([a, c, d], 1, &mut flats);
        let mut counts = vec![0; 1600];
        for flat in &flats {
            flat.cover(40, 0, 40, |index, _| counts[index] += 1);
        }
        assert_eq!(counts[..800], [0; 800], "sky");
        assert_eq!(counts[800..], [1; 800], "floor");
    }

    #[test]
    fn bands_drawn_apart_are_the_picture_drawn_at_once() {
        let flat = Flat::new(
            [[3.2, 1.0], [29.0, 17.3], [5.0, 31.0]].map(DVec2::from),
            [1.0, 2.0, 3.0],
            4,
        )
        .unwrap();
        let mut whole = Samples::new(32, 0, 32);
        whole.draw(&flat);
        let mut bands = (vec![], vec![]);
        for top in [0, 8, 16, 24] {
            let mut band = Samples::new(32, top, 8);
            band.draw(&flat);
            bands.0.extend(band.ids);
            bands.1.extend(band.nearness);
        }
        assert_eq!(bands, (whole.ids, whole.nearness));
    }
}
