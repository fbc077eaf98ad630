//! Seams of a scene: which vertices are sewn together, and how.

use glam::DVec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::objects::Object;
use super::shapes::SewnPoint;
use super::{Region, Scene, SceneError};
use crate::dynamics;
use crate::geometry::Mesh;

/// Two edges, or pairs of vertices, that are drawn together to a gap and stay there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Seam {
    /// Names of the two cloths (of copies: `name-0`); the same twice sews a cloth to itself.
    pub between: [String; 2],
    /// What is sewn of the one and of the other: every vertex is joined to the nearest point of the other side at the start, a vertex or
    /// a point of an edge between two of its vertices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regions: Option<[Region; 2]>,
    /// Instead of regions: vertices of the one and of the other, by their numbers in the cloths, from 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<[u32; 2]>,
    /// Instead of regions: pairs of points, one of each cloth: `[vertex]`, or `[vertex, vertex, share]` for the point of an edge that is so far
    /// along, e.g. `[[17], [4, 5, 0.3]]`. With neither of the three, those of the cloth's pattern.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stitches: Vec<[Vec<f64>; 2]>,
    /// Distance of the two sides when closed, in metres; at least the thickness [default: twice the thickness].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<f64>,
    /// When it begins to close, in seconds; before that it does not pull.
    #[serde(default)]
    pub start: f64,
    /// How long closing takes, in seconds; 0 closes at once.
    #[serde(default = "second")]
    pub duration: f64,
    /// Pull per length of seam and opening while it closes, in N/m². Once closed it holds more, as much as the cloth beside it.
    #[serde(default = "stiffness")]
    pub stiffness: f64,
    /// Damping relative to the stiffness, in seconds.
    #[serde(default = "damping")]
    pub damping: f64,
}

fn second() -> f64 {
    1.0
}

fn stiffness() -> f64 {
    1e5
}

fn damping() -> f64 {
    1e-2
}

/// What a seam joins, by mesh numbers.
#[derive(Default)]
struct Joined {
    pairs: Vec<[u32; 2]>,
    links: Vec<dynamics::Link>,
}

/// Nearer to its end than this share of an edge, a point is that end.
const AT_END: f64 = 0.01;

impl Joined {
    /// Every vertex of two borders with the nearest point of the other one, so that borders with other vertices close as well.
    fn of_borders(sides: &[Vec<u32>; 2], mesh: &Mesh, x: &[DVec3]) -> Self {
        let edges = [0, 1].map(|side: usize| {
            let is_of_side = |v: &u32| sides[side].binary_search(v).is_ok();
            let edges = mesh.edges().iter().copied();
            let edges = edges.filter(|edge| edge.iter().all(is_of_side));
            edges.collect::<Vec<[u32; 2]>>()
        });
        let mut joined = Self::default();
        for side in 0..2 {
            let other = 1 - side;
            for &v in &sides[side] {
                let vertices = sides[other].iter().map(|&w| ([w; 2], 0.0));
                let inside = edges[other].iter().filter(|edge| !edge.contains(&v));
                let inside = inside.filter_map(|&edge| Some((edge, foot(x, v, edge)?)));
                let away = |&(edge, along): &([u32; 2], f64)| {
                    let [a, b] = edge.map(|w| x[w as usize]);
                    x[v as usize].distance_squared(a.lerp(b, along))
                };
                let nearest = vertices
                    .chain(inside)
                    .min_by(|a, b| away(a).total_cmp(&away(b)));
                let (edge, along) = nearest.expect("a region holds at least one vertex");
                let (mut ends, mut share) = ([[v; 2]; 2], [0.0; 2]);
                (ends[other], share[other]) = (edge, along);
                match edge[0] == edge[1] {
                    true => joined.pairs.push([ends[0][0], ends[1][0]]),
                    false => joined.links.push(dynamics::Link::new(ends, share, x)),
                }
            }
        }
        joined.pairs.sort_unstable();
        joined.pairs.dedup();
        joined
    }
}

/// How far along an edge a vertex is nearest to it, if not at its ends.
fn foot(x: &[DVec3], v: u32, edge: [u32; 2]) -> Option<f64> {
    let [p, a, b] = [v, edge[0], edge[1]].map(|v| x[v as usize]);
    let share = (p - a).dot(b - a) / (b - a).length_squared();
    (AT_END..=1.0 - AT_END).contains(&share).then_some(share)
}

/// A point as a scene writes it; `check` has looked at it.
fn point(numbers: &[f64]) -> SewnPoint {
    match *numbers {
        [a, b, share] => ([a as u32, b as u32], share),
        _ => ([numbers[0] as u32; 2], 0.0),
    }
}

/// Whether a point is a vertex.
fn is_corner(edge: [u32; 2], along: f64) -> bool {
    edge[0] == edge[1] || along == 0.0 || along >= 1.0
}

impl Scene {
    /// The seams by mesh vertices; `x` are the start positions.
    pub(super) fn seams(
        &self,
        mesh: &Mesh,
        objects: &[Object<'_>],
        x: &[DVec3],
        thickness: &[f64],
    ) -> Result<Vec<dynamics::Seam>, SceneError> {
        let sew = |(i, seam): (usize, &Seam)| {
            let place = format!("seam.{i}");
            let wrong = |(key, text)| SceneError::value(format!("{place}.{key}"), text);
            let joined = seam.joined(mesh, objects, x).map_err(wrong)?;
            let ends = joined.pairs.iter().copied();
            let ends = ends.chain(joined.links.iter().flat_map(|link| {
                let [[a, b], [c, d]] = link.edges;
                [[a, c], [b, d]]
            }));
            let apart = |[a, b]: [u32; 2]| 0.5 * (thickness[a as usize] + thickness[b as usize]);
            let least = ends.map(apart).fold(0.0, f64::max);
            let gap = seam.gap.unwrap_or(2.0 * least);
            if gap < least {
                let text = format!(
                    "{gap} m is below the thickness, {least} m: seams never close to contact"
                );
                return Err(SceneError::value(format!("{place}.gap"), text));
            }
            Ok(dynamics::Seam {
                start: seam.start,
                duration: seam.duration,
                stiffness: seam.stiffness,
                damping: seam.damping,
                links: joined.links,
                ..dynamics::Seam::new(joined.pairs, x, gap)
            })
        };
        self.seam.iter().enumerate().map(sew).collect()
    }
}

impl Seam {
    /// What it joins, by mesh numbers; or the key that is wrong, and why.
    fn joined(
        &self,
        mesh: &Mesh,
        objects: &[Object<'_>],
        x: &[DVec3],
    ) -> Result<Joined, (&'static str, String)> {
        let numbers = [0, 1].map(|side| {
            let found = objects.iter().position(|o| o.name == self.between[side]);
            found.expect("check has found the names among the cloths")
        });
        let first = numbers.map(|number| mesh.bodies()[number].vertices.start);
        let is_of_pattern =
            self.regions.is_none() && self.pairs.is_empty() && self.stitches.is_empty();
        if !is_of_pattern && self.stitches.is_empty() {
            return self.mesh_pairs(numbers, first, objects, mesh, x);
        }
        let given: Vec<[SewnPoint; 2]> = match is_of_pattern {
            false => (self.stitches.iter())
                .map(|stitch| [0, 1].map(|side| point(&stitch[side])))
                .collect(),
            true => {
                let shape = &objects[numbers[0]].shape;
                if numbers[0] != numbers[1] || shape.stitches.is_empty() {
                    let text = "what is sewn? Write `regions`, `pairs` or `stitches`; only a cloth with a pattern has stitches of its own";
                    return Err(("between", text.into()));
                }
                shape.stitches.clone()
            }
        };
        let counts = numbers.map(|number| objects[number].shape.x.len() as u32);
        let mut joined = Joined::default();
        for ends in given {
            let edges = [0, 1].map(|side| ends[side].0);
            for side in 0..2 {
                if let Some(v) = edges[side].iter().find(|&&v| v >= counts[side]) {
                    let n = counts[side];
                    let text = format!("vertex {v}, but there are only {n} (from 0)");
                    return Err(("stitches", text));
                }
            }
            let along = ends.map(|(_, along)| along);
            let edges = [0, 1].map(|side| edges[side].map(|v| first[side] + v));
            let shared = edges[0].iter().any(|v| edges[1].contains(v));
            if shared
                && (numbers[0] == numbers[1])
                && is_corner(edges[0], along[0])
                && is_corner(edges[1], along[1])
            {
                let text = format!("vertex {} would be sewn to itself", edges[0][0] - first[0]);
                return Err(("stitches", text));
            }
            match edges.map(|[a, b]| a == b) {
                [true, true] => joined.pairs.push([edges[0][0], edges[1][0]]),
                _ => joined.links.push(dynamics::Link::new(edges, along, x)),
            }
        }
        Ok(joined)
    }

    /// What `regions` or `pairs` join, by mesh numbers, pairs ascending, each once; or the key that is wrong, and why.
    fn mesh_pairs(
        &self,
        numbers: [usize; 2],
        first: [u32; 2],
        objects: &[Object<'_>],
        mesh: &Mesh,
        x: &[DVec3],
    ) -> Result<Joined, (&'static str, String)> {
        let counts = numbers.map(|number| objects[number].shape.x.len() as u32);
        let (key, joined) = match &self.regions {
            None => {
                for pair in &self.pairs {
                    for side in 0..2 {
                        if pair[side] >= counts[side] {
                            let (v, n) = (pair[side], counts[side]);
                            let text = format!("vertex {v}, but there are only {n} (from 0)");
                            return Err(("pairs", text));
                        }
                    }
                }
                let pairs = self.pairs.iter();
                let pairs = pairs.map(|&[a, b]| [first[0] + a, first[1] + b]);
                let mut pairs: Vec<[u32; 2]> = pairs.collect();
                pairs.sort_unstable();
                pairs.dedup();
                let links = Vec::new();
                ("pairs", Joined { pairs, links })
            }
            Some(regions) => {
                let mut sides = [Vec::new(), Vec::new()];
                for side in 0..2 {
                    let object = &objects[numbers[side]];
                    let chosen = regions[side].select(&object.shape, |p| object.place(p));
                    let chosen = chosen.map_err(|message| ("regions", message))?;
                    sides[side] = chosen.into_iter().map(|v| first[side] + v).collect();
                    sides[side].sort_unstable();
                }
                ("regions", Joined::of_borders(&sides, mesh, x))
            }
        };
        match joined.pairs.iter().find(|[a, b]| a == b) {
            Some([v, _]) => {
                let text = format!("vertex {} would be sewn to itself", v - first[0]);
                Err((key, text))
            }
            None => Ok(joined),
        }
    }
}
