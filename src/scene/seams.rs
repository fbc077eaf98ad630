//! Seams of a scene: which vertices are sewn together, and how.

use glam::DVec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::objects::Object;
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
            let pairs = seam.mesh_pairs(mesh, objects, x);
            let pairs =
                pairs.map_err(|(key, text)| SceneError::value(format!("{place}.{key}"), text))?;
            let apart = |&[a, b]: &[u32; 2]| 0.5 * (thickness[a as usize] + thickness[b as usize]);
            let least = pairs.iter().map(apart).fold(0.0, f64::max);
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
                ..dynamics::Seam::new(pairs, x, gap)
            })
        };
        self.seam.iter().enumerate().map(sew).collect()
    }
}

impl Seam {
    /// Pairs by mesh numbers, ascending, each once; or the key that is wrong, and why.
    fn mesh_pairs(
        &self,
        mesh: &Mesh,
        objects: &[Object<'_>],
        x: &[DVec3],
    ) -> Result<Vec<[u32; 2]>, (&'static str, String)> {
        let numbers = [0, 1].map(|side| {
            let found = objects.iter().position(|o| o.name == self.between[side]);
            found.expect("check has found the names among the cloths")
        });
        let first = numbers.map(|number| mesh.bodies()[number].vertices.start);
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
