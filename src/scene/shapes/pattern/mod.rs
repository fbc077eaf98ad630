//! Garments from their sewing patterns: `GarmentCode` specifications, cut into triangles and placed around the body.
//!
//! The two sides of a stitch are cut into the same number of parts, so that their vertices are sewn one to one, in the order in which they are
//! nearer as placed. Where both sides lie on one another already, as the halves of a front do, they become one. Faces look away from the
//! middle of the garment.

mod cut;
mod spec;

use std::fs;
use std::path::PathBuf;

use glam::{DVec2, DVec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::cut::cut;
use self::spec::{Panel, Spec};
use super::super::objects::rotation;
use super::check::{Check, lengths};
use super::{Generator, Triangles};
use crate::assets;

fn edge() -> f64 {
    0.02
}

fn gather() -> f64 {
    2.0
}

/// A garment from a `GarmentCode` specification (a .json file): its panels, placed around the body as it says. A seam of the cloth with itself, without
/// further keys, sews its stitches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pattern {
    /// The file; relative to the scene file. `percale:shirt_mean_specification.json` comes with Percale.
    pub file: PathBuf,
    /// Length of the triangles' edges, in metres.
    #[serde(default = "edge")]
    pub edge: f64,
    /// How many times longer one side of a stitch may be than the other, which is then gathered.
    #[serde(default = "gather")]
    pub gather: f64,
    /// SHA-256 of the file; filled in when the scene is read, and checked if given.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sha256: String,
}

/// Sides of a stitch that are nearer than this share of an edge everywhere lie on one another.
const SAME_PLACE: f64 = 1e-6;

impl Generator for Pattern {
    fn check(&self) -> Check {
        lengths(&[("edge", self.edge)])?;
        match self.gather >= 1.0 && self.gather.is_finite() {
            true => Ok(()),
            false => Err(("gather", format!("{} must be at least 1", self.gather))),
        }
    }

    fn about_vertices(&self) -> f64 {
        0.0 // it is not looked at before it is read
    }

    fn triangles(&self) -> Result<Triangles, String> {
        let named = |text: String| format!("{}: {text}", self.file.display());
        let text = match assets::contents(&self.file) {
            Some(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            None => fs::read_to_string(&self.file).map_err(|error| named(error.to_string()))?,
        };
        let spec = Spec::read(&text).map_err(named)?;
        self.sewn(&spec).map_err(named)
    }
}

/// The number that stands for one.
fn root(parent: &mut [u32], mut v: u32) -> u32 {
    while parent[v as usize] != v {
        let above = parent[parent[v as usize] as usize];
        parent[v as usize] = above;
        v = above;
    }
    v
}

/// Lets two numbers have the same one standing for them, the smaller.
fn join(parent: &mut [u32], a: u32, b: u32) {
    let (a, b) = (root(parent, a), root(parent, b));
    parent[a.max(b) as usize] = a.min(b);
}

/// The vertices of all panels.
#[derive(Default)]
struct Cloth {
    x: Vec<DVec3>,
    /// The same on paper, m.
    flat: Vec<DVec2>,
    faces: Vec<[u32; 3]>,
    /// For each panel and edge its vertices, from its start to its end.
    edges: Vec<Vec<Vec<u32>>>,
}

impl Pattern {
    fn sewn(&self, spec: &Spec) -> Result<Triangles, String> {
        let parts = self.parts(spec)?;
        let mut cloth = Cloth::default();
        for (panel, parts) in spec.panels.iter().zip(&parts) {
            let added = cloth.add(panel, parts, spec.unit, self.edge);
            added.map_err(|text| format!("panel '{}': {text}", panel.name))?;
        }
        let mut parent: Vec<u32> = (0..cloth.x.len() as u32).collect();
        let mut pairs: Vec<[u32; 2]> = Vec::new();
        for sides in &spec.stitches {
            let [one, mut other] = sides.map(|(panel, edge)| cloth.edges[panel][edge].clone());
            let apart = |a: u32, b: u32| cloth.x[a as usize].distance(cloth.x[b as usize]);
            let last = one.len() - 1;
            let along = apart(one[0], other[0]) + apart(one[last], other[last]);
            if apart(one[0], other[last]) + apart(one[last], other[0]) < along {
                other.reverse();
            }
            let both = one.iter().copied().zip(other);
            let widest = both.clone().map(|(a, b)| apart(a, b)).fold(0.0, f64::max);
            if widest < SAME_PLACE * self.edge {
                both.for_each(|(a, b)| join(&mut parent, a, b));
            } else {
                pairs.extend(both.map(|(a, b)| [a, b]));
            }
        }
        Ok(cloth.joined(&mut parent, pairs))
    }

    /// Into how many parts each edge of each panel is cut: the two sides of a stitch into the same number.
    fn parts(&self, spec: &Spec) -> Result<Vec<Vec<usize>>, String> {
        let lengths = spec.panels.iter().map(|panel| {
            let edges = panel.edges.iter();
            edges.map(|edge| spec.unit * edge.length()).collect()
        });
        let lengths: Vec<Vec<f64>> = lengths.collect();
        let mut first = vec![0];
        for panel in &lengths {
            first.push(first[first.len() - 1] + panel.len() as u32);
        }
        let all: Vec<f64> = lengths.concat();
        let mut parent: Vec<u32> = (0..all.len() as u32).collect();
        for (number, sides) in spec.stitches.iter().enumerate() {
            let [a, b] = sides.map(|(panel, edge)| lengths[panel][edge]);
            if a.max(b) > self.gather * a.min(b) {
                let [one, other] = sides
                    .map(|(panel, edge)| format!("edge {edge} of '{}'", spec.panels[panel].name));
                return Err(format!(
                    "stitch {number}: {one} is {:.1} cm long and {other} {:.1} cm; if the longer one is to be gathered, write `gather = {:.1}`",
                    100.0 * a,
                    100.0 * b,
                    0.1 * (10.0 * a.max(b) / a.min(b)).ceil()
                ));
            }
            let [a, b] = sides.map(|(panel, edge)| first[panel] + edge as u32);
            join(&mut parent, a, b);
        }
        let mut sums = vec![(0.0, 0.0); all.len()];
        for (k, length) in all.iter().enumerate() {
            let sum = &mut sums[root(&mut parent, k as u32) as usize];
            *sum = (sum.0 + length, sum.1 + 1.0);
        }
        let mut count = |k: u32| {
            let (sum, edges) = sums[root(&mut parent, k) as usize];
            (sum / edges / self.edge).round().max(1.0) as usize
        };
        let panels = lengths.iter().enumerate();
        Ok(panels
            .map(|(panel, edges)| {
                (0..edges.len() as u32)
                    .map(|edge| count(first[panel] + edge))
                    .collect()
            })
            .collect())
    }
}

impl Cloth {
    fn add(&mut self, panel: &Panel, parts: &[usize], unit: f64, edge: f64) -> Result<(), String> {
        let edges = panel.edges.iter().zip(parts);
        let cuts: Vec<Vec<DVec2>> = edges.map(|(edge, &parts)| edge.cut(parts)).collect();
        let outline: Vec<DVec2> = cuts.iter().flatten().map(|p| unit * *p).collect();
        let count = outline.len();
        let area: f64 = (0..count)
            .map(|k| outline[k].perp_dot(outline[(k + 1) % count]))
            .sum();
        // anticlockwise, however the panel is drawn
        let order: Vec<usize> = match area >= 0.0 {
            true => (0..count).collect(),
            false => (0..count).rev().collect(),
        };
        let round: Vec<DVec2> = order.iter().map(|&k| outline[k]).collect();
        let (points, faces) = cut(&round, edge)?;
        let base = self.x.len() as u32;
        let number = |k: usize| match area >= 0.0 {
            true => base + k as u32,
            false => base + (count - 1 - k) as u32,
        };
        let mut start = 0;
        let edges = cuts.iter().map(|cut| {
            let own: Vec<u32> = (start..=start + cut.len())
                .map(|k| number(k % count))
                .collect();
            start += cut.len();
            own
        });
        self.edges.push(edges.collect());
        let turn = rotation(panel.rotation);
        let shift = unit * DVec3::from_array(panel.translation);
        self.x
            .extend(points.iter().map(|p| turn * p.extend(0.0) + shift));
        self.flat.extend(points);
        self.faces
            .extend(faces.iter().map(|face| face.map(|v| base + v)));
        Ok(())
    }

    /// The triangles, vertices with one root made one, and what is sewn.
    fn joined(self, parent: &mut [u32], mut pairs: Vec<[u32; 2]>) -> Triangles {
        let mut number = vec![u32::MAX; self.x.len()];
        let mut x = Vec::new();
        let mut of = |v: u32, parent: &mut [u32], x: &mut Vec<DVec3>| {
            let root = root(parent, v) as usize;
            if number[root] == u32::MAX {
                number[root] = x.len() as u32;
                x.push(self.x[root]);
            }
            number[root]
        };
        for v in 0..self.x.len() as u32 {
            of(v, parent, &mut x);
        }
        let middle = self.x.iter().sum::<DVec3>() / self.x.len() as f64;
        let (mut faces, mut material) = (Vec::new(), Vec::new());
        for face in &self.faces {
            let corners = face.map(|v| self.x[v as usize]);
            // the warp runs up the panel, along its y axis
            let mut paper = face.map(|v| -self.flat[v as usize].perp());
            let mut face = face.map(|v| of(v, parent, &mut x));
            let normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]);
            if normal.dot(corners[0] - middle) < 0.0 {
                face.swap(1, 2);
                paper.swap(1, 2);
            }
            faces.push(face);
            material.push(paper);
        }
        let mut joined: Vec<[u32; 2]> = faces
            .iter()
            .flat_map(|f: &[u32; 3]| [[f[0], f[1]], [f[1], f[2]], [f[2], f[0]]])
            .collect();
        let order = |[a, b]: [u32; 2]| [a.min(b), a.max(b)];
        joined.iter_mut().for_each(|side| *side = order(*side));
        joined.sort_unstable();
        for pair in &mut pairs {
            *pair = order(pair.map(|v| of(v, parent, &mut x)));
        }
        pairs.sort_unstable();
        pairs.dedup();
        // a tip of a dart is one point, and next to it an edge may join the two sides already
        pairs.retain(|pair| pair[0] != pair[1] && joined.binary_search(pair).is_err());
        Triangles {
            x,
            faces,
            material,
            stitches: pairs
                .into_iter()
                .map(|pair| pair.map(|v| ([v; 2], 0.0)))
                .collect(),
            ..Triangles::default()
        }
    }
}

#[cfg(test)]
mod tests;
