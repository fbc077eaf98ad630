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
    /// What is sewn of the one and of the other: every vertex is joined to the nearest of the other side at the start.
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
    /// Pull per length of seam and opening, in N/m².
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
            let pairs = self.mesh_pairs(numbers, first, objects, x)?;
            return Ok(Joined {
                pairs,
                links: Vec::new(),
            });
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

    /// Pairs by mesh numbers, ascending, each once; or the key that is wrong, and why.
    fn mesh_pairs(
        &self,
        numbers: [usize; 2],
        first: [u32; 2],
        objects: &[Object<'_>],
        x: &[DVec3],
    ) -> Result<Vec<[u32; 2]>, (&'static str, String)> {
        let counts = numbers.map(|number| objects[number].shape.x.len() as u32);
        let mut pairs: Vec<[u32; 2]> = match &self.regions {
            None => {
                for pair in &self.pairs {
                    for side in 0..2 {
                        if pair[side] >= counts[side] {
                            let (v, n) = (pair[side], counts[side]);
                            return Err((
                                "pairs",
                                format!("vertex {v}, but there are only {n} (from 0)"),
                            ));
                        }
                    }
                }
                let pairs = self.pairs.iter();
                pairs.map(|&[a, b]| [first[0] + a, first[1] + b]).collect()
            }
            Some(regions) => {
                let mut sides = [Vec::new(), Vec::new()];
                for side in 0..2 {
                    let object = &objects[numbers[side]];
                    let chosen = regions[side].select(&object.shape, |p| object.place(p));
                    let chosen = chosen.map_err(|message| ("regions", message))?;
                    sides[side] = chosen.into_iter().map(|v| first[side] + v).collect();
                }
                let nearest = |v: u32, others: &[u32]| {
                    let distance = |&w: &u32| x[v as usize].distance_squared(x[w as usize]);
                    let found = others
                        .iter()
                        .min_by(|a, b| distance(a).total_cmp(&distance(b)));
                    *found.expect("a region holds at least one vertex")
                };
                let there = sides[0].iter().map(|&v| [v, nearest(v, &sides[1])]);
                let back = sides[1].iter().map(|&v| [nearest(v, &sides[0]), v]);
                there.chain(back).collect()
            }
        };
        pairs.sort_unstable();
        pairs.dedup();
        if let Some([v, _]) = pairs.iter().find(|[a, b]| a == b) {
            let text = format!("vertex {} would be sewn to itself", v - first[0]);
            return Err((
                if self.regions.is_some() {
                    "regions"
                } else {
                    "pairs"
                },
                text,
            ));
        }
        Ok(pairs)
    }
}
