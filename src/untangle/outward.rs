//! Intersections without an inside: the path is pushed over the nearest boundary (\[WLG06\] §5.3).
//!
//! With h(u) the distance to the boundary in parameter space and T = ∂s/∂u (5), each point of the partner P' says which way
//! along its surface the cloth ends, and P is pushed by the mean of that over the path:
//!
//! ```text
//! F_out(u) = −T ∇h / |T ∇h| · min(k h, f_max)            (6)
//! F_P      = Σ lᵢ / l · F_out(r'ᵢ)                       (7), rᵢ the middle of segment i
//! ```
//!
//! We differ: h is measured in the chart of the path, as far as it goes; the distance to the nearest edge of the boundary is
//! exact there, and so is its gradient. `max` in (6) must be `min`.

use glam::{DVec2, DVec3};

use super::Analysis;
use super::attract::{corners, corresponding_segment, weights_in};
use super::chart::{Chart, Surface};
use super::paths::Path;
use super::pulls::{Point, Pull};

/// Pushes paths towards boundaries.
pub(super) struct Outward<'a> {
    pub(super) surface: Surface<'a>,
    pub(super) analysis: &'a Analysis,
}

impl Outward<'_> {
    /// Adds the pulls of an intersection; says whether there is a boundary to push it over.
    pub(super) fn contour(&self, number: u32, pulls: &mut Vec<Pull>) -> bool {
        let mut is_pushed = false;
        for first in self.analysis.contours[number as usize].paths.clone() {
            let own = &self.analysis.paths[first as usize];
            if own.partner < first {
                continue;
            }
            let other = &self.analysis.paths[own.partner as usize];
            // the first is pushed over the second's surface, and the other way round
            let [push, back] = [other, own].map(|path| self.way_out(path));
            let wanted = push.unwrap_or_default() - back.unwrap_or_default();
            if push.is_none() && back.is_none() || wanted == DVec3::ZERO {
                continue;
            }
            is_pushed = true;
            for k in 0..own.segments.len() {
                let answer = corresponding_segment(own, k);
                pulls.push(Pull {
                    from: self.middle(own, k),
                    to: Some(self.middle(other, answer)),
                    wanted,
                    weight: 1.0,
                    contour: number,
                });
            }
        }
        is_pushed
    }

    /// The way over a path's own surface to where it ends, by (7), in metres; `None` if it does not end.
    fn way_out(&self, path: &Path) -> Option<DVec3> {
        let start = path.faces[path.faces.len() / 2];
        let mut chart = Chart::around(self.surface, start);
        let needed = corners(self.surface.mesh, &path.faces);
        let all = self.surface.mesh.faces().len();
        chart.reach(&needed, all);
        let mut radius = chart.radius(&needed) + 2.0 * chart.edge();
        let mut ends = Vec::new();
        // as far again as the nearest end, since the first that is found need not be the nearest
        loop {
            let known = chart.faces().len();
            chart.spread(radius, all);
            ends = self.boundary(&chart, ends);
            if !ends.is_empty()
                || chart.faces().len() == all
                || (chart.faces().len() == known && radius > 1e3 * chart.edge())
            {
                break;
            }
            radius *= 2.0;
        }
        chart.spread(2.0 * radius, all);
        let ends = self.boundary(&chart, Vec::new());
        let (mut sum, mut length) = (DVec3::ZERO, 0.0);
        for k in 0..path.segments.len() {
            let point = self.middle(path, k);
            let line = self.analysis.segments.segments[path.segments[k] as usize].ends;
            let [p, q] = line.map(|e| self.analysis.segments.position(self.surface.x, e));
            let place = point
                .parts()
                .map(|(v, w)| Some(w * chart.place(v)?))
                .sum::<Option<DVec2>>()?;
            let way = way_to_boundary(&ends, place)?;
            let along = self
                .in_space(&chart, path.faces[k], way)
                .normalize_or_zero();
            sum += p.distance(q) * way.length() * along;
            length += p.distance(q);
        }
        (length > 0.0).then(|| sum / length)
    }

    /// Boundary edges of the chart's faces, as laid out.
    fn boundary(&self, chart: &Chart<'_>, mut ends: Vec<[DVec2; 2]>) -> Vec<[DVec2; 2]> {
        ends.clear();
        for &face in chart.faces() {
            for &edge in &self.surface.mesh.face_edges()[face as usize] {
                let [a, b] = self.surface.mesh.edges()[edge as usize];
                if let (true, Some(p), Some(q)) = (
                    self.surface.mesh.is_boundary(edge),
                    chart.place(a),
                    chart.place(b),
                ) {
                    ends.push([p, q]);
                }
            }
        }
        ends
    }

    /// T: a vector of the chart as one in space, by the face.
    fn in_space(&self, chart: &Chart<'_>, face: u32, way: DVec2) -> DVec3 {
        let vertices = self.surface.mesh.faces()[face as usize];
        let [Some(p), Some(q), Some(r)] = vertices.map(|v| chart.place(v)) else {
            return DVec3::ZERO;
        };
        let [a, b, c] = vertices.map(|v| self.surface.x[v as usize]);
        let (d, e) = (q - p, r - p);
        let twice = d.perp_dot(e);
        if twice == 0.0 {
            return DVec3::ZERO;
        }
        // way = s d + t e
        let (s, t) = (way.perp_dot(e) / twice, d.perp_dot(way) / twice);
        s * (b - a) + t * (c - a)
    }

    fn middle(&self, path: &Path, k: usize) -> Point {
        let face = self.surface.mesh.faces()[path.faces[k] as usize];
        let n = path.points.len();
        let spots = [k, (k + 1) % n].map(|p| path.spot(&self.analysis.segments, p));
        let weights = weights_in(self.surface.mesh, face, spots[0])
            + weights_in(self.surface.mesh, face, spots[1]);
        Point::face(face, weights / (weights.x + weights.y + weights.z))
    }
}

/// −h ∇h: the way to the nearest of some edges.
fn way_to_boundary(ends: &[[DVec2; 2]], place: DVec2) -> Option<DVec2> {
    let ways = ends.iter().map(|[p, q]| {
        let d = *q - *p;
        let t = ((place - *p).dot(d) / d.length_squared()).clamp(0.0, 1.0);
        *p + if t.is_finite() { t } else { 0.0 } * d - place
    });
    ways.min_by(|a, b| a.length_squared().total_cmp(&b.length_squared()))
}
