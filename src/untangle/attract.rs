//! Where what is on the wrong side ought to go: target points (\[WLG06\] §5.1).
//!
//! Along a path each point lies on both partners: that is a map from the parameters of the one to those of the other, known on
//! a curve. Radial basis functions (`rbf`) carry it on to the inside region, the chart of the partner says which
//! point of the cloth lies there, and each inside vertex is pulled to its point. A region between the vertices is represented by one
//! inner point per face that the path passes.
//!
//! We differ in four ways. (1) A pull ends `clearance` beyond the target, on the side of the partner that the path says is
//! right: with the target alone the sheets would end in contact, neither crossing nor apart. (2) Points on the path ask for the same
//! clearance; this is what closes contours that run between the vertices. (3) Targets off the chart, or further away than twice the
//! extent of the region, are not believed: a closest point takes their place. (4) \[BWK03\]'s closest points
//! are an option for all.

use glam::{DVec2, DVec3};

use super::Analysis;
use super::chart::{Chart, Surface};
use super::paths::{Path, PathKind, Spot};
use super::pulls::{Point, Pull};
use super::rbf::Map;
use super::regions::Inside;
use super::sides::{Facing, beyond};
use crate::geometry::Mesh;

/// How targets are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Aim {
    /// Correspondences along the path, carried on smoothly (\[WLG06\]).
    #[default]
    Smooth,
    /// The closest point of the partner's inside region (\[BWK03\]).
    Closest,
}

/// Which side of each path is taken for the wrong one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sides {
    /// The chosen one on both partners.
    #[default]
    Chosen,
    /// The other one on the first partner.
    OtherFirst,
    /// The other one on the second.
    OtherSecond,
    /// The other one on both.
    OtherBoth,
}

impl Sides {
    fn is_other(self, partner: usize) -> bool {
        match self {
            Self::Chosen => false,
            Self::OtherFirst => partner == 0,
            Self::OtherSecond => partner == 1,
            Self::OtherBoth => true,
        }
    }
}

/// Fewest and most centres of a map; \[WLG06\] §5.1.
const CENTRES: [usize; 2] = [5, 30];
/// A pull from a point on the path counts this share of one from an inside vertex: there are about two for every vertex nearby.
const PATH_WEIGHT: f64 = 0.5;

/// Share of the cloth between two points of one sheet that may become distance between them in space: at a crease, neighbours cannot part.
const SLACK: f64 = 0.25;
/// Least clearance, in edge lengths.
const LEAST: f64 = 0.05;
/// Inside vertices up to which closest points are looked for in a whole region: the time is that of all pairs.
const MAX_SEARCHED: usize = 200;

/// Finds targets of the paths of one mesh at one instant.
pub(super) struct Attract<'a> {
    pub(super) surface: Surface<'a>,
    pub(super) analysis: &'a Analysis,
    /// For each face whether it is turned over; none on one-sided surfaces.
    pub(super) orientation: Option<&'a [bool]>,
    pub(super) aim: Aim,
    /// How far beyond the target a pull ends, in edge lengths.
    pub(super) clearance: f64,
}

/// One partner of a pair.
struct Partner<'a> {
    path: &'a Path,
    chart: Chart<'a>,
    inside: Vec<u32>,
    /// Places of the path's points in the chart.
    places: Vec<Option<DVec2>>,
    /// +1 if what is inside lies on the side of the *other* partner to which its normals point, −1 if on the other, 0 if that is not clear.
    wrong_side: f64,
}

/// A point that is to move.
struct Asked {
    from: Point,
    /// Where its answer lies in the chart of the other partner, and where it lies itself in that of its own.
    answer: Option<(DVec2, DVec2)>,
}

/// What the pulls of one partner have in common.
struct Aiming<'p, 'a> {
    contour: u32,
    own: &'p Partner<'a>,
    other: &'p Partner<'a>,
    /// Faces among which closest points are looked for.
    near: Vec<u32>,
    /// Whether the path is its own partner.
    is_self: bool,
    /// Of path and inside, in metres.
    extent: f64,
    /// Mean edge along the path, in metres.
    edge: f64,
}

impl<'a> Attract<'a> {
    /// Adds the pulls of an intersection; says whether it has an inside at all.
    pub(super) fn contour(&self, number: u32, sides: Sides, pulls: &mut Vec<Pull>) -> bool {
        let mut has_inside = false;
        for first in self.analysis.contours[number as usize].paths.clone() {
            let second = self.analysis.paths[first as usize].partner;
            if second < first {
                continue;
            }
            let pair = [first, second].map(|p| &self.analysis.paths[p as usize]);
            if pair.iter().any(|p| matches!(p.inside, Inside::Vertices(_))) {
                has_inside = true;
                self.pair(number, pair, sides, pulls);
            }
        }
        has_inside
    }

    fn pair(&self, contour: u32, pair: [&'a Path; 2], sides: Sides, pulls: &mut Vec<Pull>) {
        let is_self = std::ptr::eq(pair[0], pair[1]);
        let edge = self.mean_edge(pair);
        let count = if is_self { 1 } else { 2 };
        let partners = (0..count).map(|i| self.partner(pair[i], sides.is_other(i)));
        let mut partners: Vec<Partner<'_>> = partners.collect();
        let radius = partners.iter().map(|p| {
            let mut needed = corners(self.surface.mesh, &p.path.faces);
            needed.extend(&p.inside);
            p.chart.radius(&needed)
        });
        let radius = 1.2 * radius.fold(0.0, f64::max) + 2.0 * edge;
        let asked: Vec<Vec<Asked>> = partners
            .iter()
            .enumerate()
            .map(|(i, own)| self.asked(own, &partners[count - 1 - i], edge))
            .collect();
        for (i, partner) in partners.iter_mut().enumerate() {
            // no more is laid out than answers are looked for in
            let answers = asked[count - 1 - i].iter().filter_map(|a| a.answer);
            let furthest = answers.map(|(at, _)| at.length()).fold(0.0, f64::max);
            let radius = radius.min(furthest + 2.0 * edge.max(partner.chart.edge()));
            partner
                .chart
                .spread(radius, self.surface.mesh.faces().len());
            partner.chart.index();
            partner.wrong_side = self.wrong_side(pair[i], pair[1 - i], &partner.inside);
        }
        let extent = self.extent(&partners);
        for (i, own) in partners.iter().enumerate() {
            let other = &partners[count - 1 - i];
            let aim = Aiming {
                contour,
                own,
                other,
                near: self.near(other),
                is_self,
                extent,
                edge,
            };
            let found = asked[i].iter();
            pulls.extend(found.filter_map(|asked| self.pull(&aim, asked)));
        }
        self.along_path(contour, [&partners[0], &partners[count - 1]], edge, pulls);
    }

    /// What of a partner is to move, and where in the other's chart its answers lie.
    fn asked(&self, own: &Partner<'_>, other: &Partner<'_>, edge: f64) -> Vec<Asked> {
        let map = self.map(own, other, edge);
        let asked = |from: Point, place: Option<DVec2>| {
            let mapped = map.as_ref().zip(place);
            let answer = mapped.map(|(map, place)| (map.at(place), place));
            Asked { from, answer }
        };
        if own.inside.is_empty() && matches!(own.path.inside, Inside::Vertices(_)) {
            let of_face = |(face, spots): (u32, Vec<Spot>)| {
                let places = spots.iter().map(|s| own.chart.place_of(*s));
                let place = places.sum::<Option<DVec2>>();
                let place = place.map(|sum| sum / spots.len() as f64);
                asked(self.middle(face, &spots), place)
            };
            let points = self.inner_points(own.path);
            return points.into_iter().map(of_face).collect();
        }
        let inside = own.inside.iter();
        inside
            .map(|&v| asked(Point::vertex(v), own.chart.place(v)))
            .collect()
    }

    fn partner(&self, path: &'a Path, is_other: bool) -> Partner<'a> {
        let inside = self.inside(path, is_other);
        let start = path.faces[path.faces.len() / 2];
        let mut chart = Chart::around(self.surface, start);
        let mut needed = corners(self.surface.mesh, &path.faces);
        needed.extend(&inside);
        needed.sort_unstable();
        needed.dedup();
        chart.reach(&needed, self.surface.mesh.faces().len());
        let places =
            (0..path.points.len()).map(|k| chart.place_of(path.spot(&self.analysis.segments, k)));
        Partner {
            path,
            places: places.collect(),
            chart,
            inside,
            wrong_side: 0.0,
        }
    }

    /// What is on the wrong side, as chosen ([`Analysis::choose_sides`]); or the other part.
    fn inside(&self, path: &Path, is_other: bool) -> Vec<u32> {
        let Inside::Vertices(chosen) = &path.inside else {
            return Vec::new();
        };
        // what does not part the cloth has no other side
        let mut inside = match is_other && !matches!(path.kind, PathKind::Bli | PathKind::Blb) {
            true => beyond(self.surface.mesh, path, chosen),
            false => chosen.clone(),
        };
        if let Some(share) = &path.share {
            inside.retain(|v| share.binary_search(v).is_ok());
        }
        inside
    }

    fn facing(&self) -> Facing<'_> {
        Facing {
            mesh: self.surface.mesh,
            x: self.surface.x,
            orientation: self.orientation,
        }
    }

    fn wrong_side(&self, own: &Path, other: &Path, inside: &[u32]) -> f64 {
        let facing = self.facing();
        facing.wrong_side(self.analysis, own, other, inside)
    }

    fn normal(&self, face: u32) -> DVec3 {
        self.facing().normal(face)
    }

    /// The map from one partner's chart to the other's.
    fn map(&self, own: &Partner<'_>, other: &Partner<'_>, edge: f64) -> Option<Map> {
        if self.aim == Aim::Closest {
            return None;
        }
        let path = own.path;
        let n = path.points.len();
        let closed = path.kind.is_closed();
        let mut nodes: Vec<Node> = Vec::with_capacity(n + 1);
        let mut length = 0.0;
        let mut last: Option<DVec3> = None;
        for k in 0..n + usize::from(closed) {
            let at = self
                .analysis
                .segments
                .position(self.surface.x, path.points[k % n]);
            length += last.replace(at).map_or(0.0, |last| last.distance(at));
            let answer = path.corresponding(k % n);
            nodes.push((length, own.places[k % n]?, other.places[answer]?));
        }
        let is_cut = |k: &usize| {
            let ((_, u, v), (_, w, z)) = (nodes[*k], nodes[*k + 1]);
            let answer = other.path.faces[corresponding_segment(path, *k)];
            own.chart.is_cut(path.faces[*k], [u, w]) || other.chart.is_cut(answer, [v, z])
        };
        let cuts: Vec<usize> = (0..nodes.len() - 1).filter(is_cut).collect();
        let closed = closed && cuts.is_empty();
        if !cuts.is_empty() {
            nodes = longest_run(&nodes, &cuts, path.kind.is_closed());
            length = nodes.last()?.0;
        }
        if length <= 0.0 {
            return None;
        }
        let count = ((length / edge).ceil() as usize).clamp(CENTRES[0], CENTRES[1]);
        let spacing = length / (if closed { count } else { count - 1 }) as f64;
        let mut centres = Vec::with_capacity(count);
        let mut values = Vec::with_capacity(count);
        let mut k = 0;
        for i in 0..count {
            let at = spacing * i as f64;
            while k + 2 < nodes.len() && nodes[k + 1].0 < at {
                k += 1;
            }
            let ((s, u, v), (t, w, z)) = (nodes[k], nodes[k + 1]);
            let share = if t > s {
                ((at - s) / (t - s)).clamp(0.0, 1.0)
            } else {
                0.0
            };
            centres.push(u.lerp(w, share));
            values.push(v.lerp(z, share));
        }
        Map::fit(&centres, &values)
    }

    fn pull(&self, aim: &Aiming<'_, '_>, asked: &Asked) -> Option<Pull> {
        let Surface { mesh, x, .. } = self.surface;
        let from = asked.from;
        let at = from.position(x);
        let mapped = asked.answer.and_then(|(answer, place)| {
            let (face, to) = aim.other.chart.locate(answer, at)?;
            Some((face, to, answer.distance(place)))
        });
        let mapped = mapped.filter(|(_, to, _)| to.position(x).distance(at) <= 2.0 * aim.extent);
        let closest = || closest_point(mesh, x, &aim.near, at).map(|(face, to)| (face, to, 0.0));
        let (face, to, apart) = mapped.or_else(closest)?;
        let direction = match aim.own.wrong_side {
            0.0 => (to.position(x) - at).normalize_or_zero(),
            side => -side * self.normal(face),
        };
        let depth = (to.position(x) - at).dot(direction).abs();
        Some(Pull {
            from,
            to: Some(to),
            wanted: self.clearance(aim.edge, depth, aim.is_self.then_some(apart)) * direction,
            weight: 1.0,
            contour: aim.contour,
        })
    }

    /// How far beyond its target a point is to go, in metres: as far as it is on the wrong side now, so that near the path, where
    /// the sheets are close together on both sides of it, they stay so; of points of one chart not further than the cloth
    /// between them can give.
    fn clearance(&self, edge: f64, depth: f64, apart: Option<f64>) -> f64 {
        let wanted = depth.clamp(LEAST * edge, self.clearance.max(LEAST) * edge);
        apart.map_or(wanted, |apart| wanted.min(SLACK * apart))
    }

    /// Faces for closest points: a partner's inside and the faces along its path; the latter alone if the inside is large.
    fn near(&self, other: &Partner<'_>) -> Vec<u32> {
        let mut faces: Vec<u32> = other.path.faces.clone();
        if self.aim == Aim::Closest || other.inside.len() <= MAX_SEARCHED {
            let inside = other.inside.iter();
            faces.extend(inside.flat_map(|&v| self.surface.mesh.faces_of_vertex(v)));
        }
        faces.sort_unstable();
        faces.dedup();
        faces
    }

    /// Largest distance of inside vertices and path points from the middle of the path, in metres.
    fn extent(&self, partners: &[Partner<'_>]) -> f64 {
        let line = partners[0]
            .path
            .polyline(&self.analysis.segments, self.surface.x);
        let middle = line.iter().sum::<DVec3>() / line.len() as f64;
        let inside = partners
            .iter()
            .flat_map(|p| &p.inside)
            .map(|&v| self.surface.x[v as usize]);
        let all = line.iter().copied().chain(inside);
        all.map(|p| p.distance(middle)).fold(0.0, f64::max)
    }

    fn mean_edge(&self, pair: [&Path; 2]) -> f64 {
        let (mut sum, mut count) = (0.0, 0.0);
        for &face in pair.iter().flat_map(|p| &p.faces) {
            let [a, b, c] =
                self.surface.mesh.faces()[face as usize].map(|v| self.surface.x[v as usize]);
            sum += a.distance(b) + b.distance(c) + c.distance(a);
            count += 3.0;
        }
        sum / count
    }

    /// The points of a path in each face that it passes: their middle is between its runs, hence inside if no corner is.
    fn inner_points(&self, path: &Path) -> Vec<(u32, Vec<Spot>)> {
        let mut spots: std::collections::BTreeMap<u32, Vec<Spot>> =
            std::collections::BTreeMap::new();
        let n = path.points.len();
        for (k, &face) in path.faces.iter().enumerate() {
            let of_face = spots.entry(face).or_default();
            for point in [k, (k + 1) % n] {
                of_face.push(path.spot(&self.analysis.segments, point));
            }
        }
        spots.into_iter().collect()
    }

    /// The mean of spots in one face.
    fn middle(&self, face: u32, spots: &[Spot]) -> Point {
        let corners = self.surface.mesh.faces()[face as usize];
        let mut weights = DVec3::ZERO;
        for spot in spots {
            weights += weights_in(self.surface.mesh, corners, *spot);
        }
        Point::face(corners, weights / (weights.x + weights.y + weights.z))
    }

    /// Pulls that part the two sheets along their path.
    fn along_path(
        &self,
        contour: u32,
        [own, other]: [&Partner<'_>; 2],
        edge: f64,
        pulls: &mut Vec<Pull>,
    ) {
        for k in 0..own.path.segments.len() {
            let answer = corresponding_segment(own.path, k);
            let (f, g) = (own.path.faces[k], other.path.faces[answer]);
            let direction = other.wrong_side * self.normal(f) - own.wrong_side * self.normal(g);
            let Some(direction) = direction.try_normalize() else {
                continue;
            };
            let n = own.path.points.len();
            let place = |p: usize| own.places[p].zip(own.places[own.path.corresponding(p)]);
            let apart = std::ptr::eq(own.path, other.path).then(|| {
                let ends = [k, (k + 1) % n].map(|p| place(p).map_or(0.0, |(a, b)| a.distance(b)));
                0.5 * (ends[0] + ends[1])
            });
            let spots = [k, (k + 1) % n].map(|p| own.path.spot(&self.analysis.segments, p));
            let m = other.path.points.len();
            let answers = [k, (k + 1) % n]
                .map(|p| own.path.corresponding(p))
                .map(|p| other.path.spot(&self.analysis.segments, p % m));
            pulls.push(Pull {
                from: self.middle(f, &spots),
                to: Some(self.middle(g, &answers)),
                wanted: self.clearance(edge, 0.0, apart) * direction,
                weight: PATH_WEIGHT,
                contour,
            });
        }
    }
}

/// A point of a path: its distance along the path, in metres, and its places in both charts.
type Node = (f64, DVec2, DVec2);

/// The longest piece of a path between two cuts, each after the node of its number: round a tube a path comes back to itself, its layout does not.
fn longest_run(nodes: &[Node], cuts: &[usize], is_closed: bool) -> Vec<Node> {
    let last = nodes.len() - 1;
    let mut ends: Vec<[usize; 2]> = cuts.windows(2).map(|c| [c[0] + 1, c[1]]).collect();
    match is_closed {
        // the last node is the first once more
        true => ends.push([cuts[cuts.len() - 1] + 1, last + cuts[0]]),
        false => ends.extend([[0, cuts[0]], [cuts[cuts.len() - 1] + 1, last]]),
    }
    let at = |k: usize| nodes[k % last.max(1)].0 + (k / last.max(1)) as f64 * nodes[last].0;
    let at = |k: usize| if is_closed { at(k) } else { nodes[k].0 };
    let length = |[first, last]: [usize; 2]| at(last) - at(first);
    let longer = |a: [usize; 2], b: [usize; 2]| if length(b) > length(a) { b } else { a };
    let [first, end] = ends.into_iter().reduce(longer).unwrap_or_default();
    let node = |k: usize| {
        let (_, u, v) = nodes[if is_closed { k % last.max(1) } else { k }];
        (at(k) - at(first), u, v)
    };
    (first..=end).map(node).collect()
}

/// The segment of the partner at the place of segment `k`.
pub(super) fn corresponding_segment(path: &Path, k: usize) -> usize {
    let n = path.points.len();
    let (a, b) = (path.corresponding(k), path.corresponding((k + 1) % n));
    // a segment is named by its first point; at the seam of a closed path that is the larger
    if path.kind.is_closed() && a.abs_diff(b) > 1 {
        a.max(b)
    } else {
        a.min(b)
    }
}

/// Weights of a spot as a point of a face that it lies on.
pub(super) fn weights_in(mesh: &Mesh, corners: [u32; 3], spot: Spot) -> DVec3 {
    let at = |v: u32, w: f64| DVec3::from_array(corners.map(|c| if c == v { w } else { 0.0 }));
    match spot {
        Spot::Vertex(v) => at(v, 1.0),
        Spot::Edge { edge, along } => {
            let [a, b] = mesh.edges()[edge as usize];
            at(a, 1.0 - along) + at(b, along)
        }
        Spot::Face { weights, .. } => weights,
    }
}

/// Corners of faces, ascending.
pub(super) fn corners(mesh: &Mesh, faces: &[u32]) -> Vec<u32> {
    let mut all: Vec<u32> = faces
        .iter()
        .flat_map(|&f| mesh.faces()[f as usize])
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The closest point of some faces, the first of equal ones.
pub(super) fn closest_point(
    mesh: &Mesh,
    x: &[DVec3],
    faces: &[u32],
    at: DVec3,
) -> Option<(u32, Point)> {
    let mut best: Option<(f64, u32, Point)> = None;
    for &face in faces {
        let corners = mesh.faces()[face as usize];
        let [a, b, c] = corners.map(|v| x[v as usize]);
        let found = crate::geometry::closest_points_vertex_face([at, a, b, c]);
        if best.is_none_or(|(d, ..)| found.distance_squared < d) {
            let [_, u, v, w] = found.weights;
            best = Some((
                found.distance_squared,
                face,
                Point::face(corners, -DVec3::new(u, v, w)),
            ));
        }
    }
    best.map(|(_, face, point)| (face, point))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_run_between_cuts_may_lead_over_the_start_of_a_ring() {
        let node = |k: usize| (k as f64, DVec2::new(k as f64, 0.0), DVec2::ZERO);
        let first = |run: &[Node]| (run[0].1.x, run.len(), run[run.len() - 1].0);
        // ten points of a ring, the first once more
        let mut ring: Vec<Node> = (0..10).map(node).collect();
        ring.push((10.0, ring[0].1, ring[0].2));
        // after the nodes 3 and 5: from node 6 over 0 to 3
        assert_eq!(first(&longest_run(&ring, &[3, 5], true)), (6.0, 8, 7.0));
        assert_eq!(first(&longest_run(&ring, &[3], true)), (4.0, 10, 9.0));
        // the same as a line: from 6 to 10
        assert_eq!(first(&longest_run(&ring, &[3, 5], false)), (6.0, 5, 4.0));
        assert_eq!(first(&longest_run(&ring, &[7], false)), (0.0, 8, 7.0));
    }
}
