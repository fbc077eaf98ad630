//! Surfaces of rings round the y axis: tubes, discs, skirts, cylinders, cones, funnels.

use std::ops::Range;

use glam::{DVec2, DVec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::{Check, around, at_least, centres, grid, lengths, vertices};
use super::grids::add_centres;
use super::{Generator, Triangles, grid_vertices};
use crate::script::sincos_degrees;

/// Rings that are stitched together one after the other.
#[derive(Default)]
struct Rings {
    shape: Triangles,
    last: Option<Range<u32>>,
    rows: u32,
}

impl Rings {
    /// Adds a ring of `count` vertices, or a single vertex for radius 0, and the faces between it and the last one.
    ///
    /// ```text
    /// upper  j ─── j+1        Faces look to the right of the way that the rings go: outwards for rings that
    ///        │  ╲   │         go up, up for rings that shrink.
    /// lower  i ─── i+1        Angles run from x to z.
    /// ```
    fn add(&mut self, radius: f64, y: f64, count: u32) {
        let count = if radius == 0.0 { 1 } else { count };
        let first = self.shape.x.len() as u32;
        self.shape.x.extend((0..count).map(|i| {
            let (sin, cos) = sincos_degrees(360.0 * f64::from(i) / f64::from(count));
            DVec3::new(radius * cos, y, radius * sin)
        }));
        let ring = first..first + count;
        if let Some(last) = self.last.replace(ring.clone()) {
            self.stitch(last, ring);
            self.rows += 1;
        }
    }

    /// Joins two rings by advancing on whichever is behind; a lone vertex is all of its ring.
    fn stitch(&mut self, lower: Range<u32>, upper: Range<u32>) {
        let (n, m) = (lower.len() as u64, upper.len() as u64);
        let at = |ring: &Range<u32>, i: u64| ring.start + (i % ring.len() as u64) as u32;
        // a lone vertex is met at every angle: its side never advances
        let (end_i, end_j) = (if n == 1 { 0 } else { n }, if m == 1 { 0 } else { m });
        let (mut i, mut j) = (0, 0);
        while i < end_i || j < end_j {
            let (next_lower, next_upper) = ((i + 1) * m, (j + 1) * n);
            let lower_first = if i == end_i || j == end_j {
                i < end_i
            } else if next_lower == next_upper {
                // cells of equal rings are cut along alternating diagonals
                (i + u64::from(self.rows)).is_multiple_of(2)
            } else {
                next_lower < next_upper
            };
            let corners = [at(&lower, i), at(&upper, j)];
            let third = if lower_first {
                i += 1;
                at(&lower, i)
            } else {
                j += 1;
                at(&upper, j)
            };
            self.shape.faces.push([corners[0], corners[1], third]);
        }
    }

    /// Adds rings along a straight profile, from where the last ring is (not added again) to radius and height.
    ///
    /// Rows are about as far apart as vertices on the widest ring; the number of vertices on a ring follows its radius.
    fn run_to(&mut self, from: [f64; 2], to: [f64; 2], spacing: Spacing) {
        let length = DVec2::from(to).distance(DVec2::from(from));
        let rows = (length / spacing.edge()).round().max(1.0) as u32;
        for row in 1..=rows {
            let share = f64::from(row) / f64::from(rows);
            let at = |k: usize| {
                if row == rows {
                    to[k]
                } else {
                    from[k] + share * (to[k] - from[k])
                }
            };
            self.add(at(0), at(1), spacing.count(at(0)));
        }
    }

    fn finish(self) -> Triangles {
        self.shape
    }
}

/// How far apart vertices on rings are.
#[derive(Clone, Copy)]
struct Spacing {
    radius: f64,
    /// Vertices on a ring of this radius.
    count: u32,
}

impl Spacing {
    fn edge(self) -> f64 {
        2.0 * self.radius * sincos_degrees(180.0 / f64::from(self.count)).0
    }

    fn count(self, radius: f64) -> u32 {
        let count = f64::from(self.count) * (radius / self.radius);
        (count.round() as u32).max(3)
    }
}

/// Vertices of a body of revolution whose profile is `profile` times as long as its radius, about.
fn round_vertices(segments: u32, profile: f64) -> f64 {
    let n = f64::from(segments);
    n * n / 6.0 * profile
}

/// An open cylinder round the y axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tube {
    /// Of the vertices.
    pub radius: f64,
    /// Along y.
    pub height: f64,
    /// Cells around and along.
    pub cells: [u32; 2],
    /// Cells, evenly spread, that get a vertex in their middle: for a given number of vertices.
    #[serde(default)]
    pub centres: u32,
}

impl Generator for Tube {
    fn check(&self) -> Check {
        lengths(&[("radius", self.radius), ("height", self.height)])?;
        around("cells", self.cells[0])?;
        grid(&self.cells)?;
        centres(self.cells, self.centres)
    }

    fn about_vertices(&self) -> f64 {
        grid_vertices(&self.cells) + f64::from(self.centres)
    }

    fn triangles(&self) -> Result<Triangles, String> {
        let Self {
            radius,
            height,
            cells,
            centres,
        } = *self;
        let mut rings = Rings::default();
        for row in 0..=cells[1] {
            let y = height * (f64::from(row) / f64::from(cells[1]) - 0.5);
            rings.add(radius, y, cells[0]);
        }
        let mut shape = rings.finish();
        add_centres(&mut shape, centres);
        Ok(shape)
    }
}

/// A disc in the xz plane, facing up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Disc {
    /// Of the outermost vertices.
    pub radius: f64,
    /// Rings round the middle vertex; ring k has 6k vertices.
    pub rings: u32,
}

impl Generator for Disc {
    fn check(&self) -> Check {
        lengths(&[("radius", self.radius)])?;
        at_least("rings", self.rings, 1)?;
        vertices("rings", self.about_vertices())
    }

    fn about_vertices(&self) -> f64 {
        3.0 * f64::from(self.rings) * f64::from(self.rings)
    }

    fn triangles(&self) -> Result<Triangles, String> {
        let mut rings = Rings::default();
        for ring in (0..=self.rings).rev() {
            rings.add(
                self.radius * f64::from(ring) / f64::from(self.rings),
                0.0,
                6 * ring,
            );
        }
        Ok(rings.finish())
    }
}

/// An open cone round the y axis: a skirt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Skirt {
    /// Radius above.
    pub waist: f64,
    /// Radius below; at least that of the waist.
    pub hem: f64,
    /// Along y.
    pub height: f64,
    /// Cells around the hem (fewer above, by the radius) and along.
    pub cells: [u32; 2],
}

impl Generator for Skirt {
    fn check(&self) -> Check {
        let Self {
            waist, hem, height, ..
        } = *self;
        lengths(&[("waist", waist), ("hem", hem), ("height", height)])?;
        if waist > hem {
            let message = format!("{waist} is above the hem's radius {hem}");
            return Err(("waist", message));
        }
        around("cells", self.cells[0])?;
        grid(&self.cells)
    }

    fn about_vertices(&self) -> f64 {
        grid_vertices(&self.cells)
    }

    fn triangles(&self) -> Result<Triangles, String> {
        let Self {
            waist,
            hem,
            height,
            cells,
        } = *self;
        let spacing = Spacing {
            radius: hem,
            count: cells[0],
        };
        let mut rings = Rings::default();
        for row in 0..=cells[1] {
            let share = f64::from(row) / f64::from(cells[1]);
            let radius = hem + share * (waist - hem);
            rings.add(radius, height * (share - 0.5), spacing.count(radius));
        }
        Ok(rings.finish())
    }
}

fn round() -> u32 {
    48
}

/// A closed cylinder round the y axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cylinder {
    /// Of the vertices.
    pub radius: f64,
    /// Along y.
    pub height: f64,
    /// Vertices around; those along and on the ends follow.
    #[serde(default = "round")]
    pub segments: u32,
}

impl Generator for Cylinder {
    fn check(&self) -> Check {
        lengths(&[("radius", self.radius), ("height", self.height)])?;
        around("segments", self.segments)?;
        vertices("segments", self.about_vertices())
    }

    fn about_vertices(&self) -> f64 {
        round_vertices(self.segments, (self.radius + self.height) / self.radius)
    }

    fn triangles(&self) -> Result<Triangles, String> {
        let Self {
            radius,
            height,
            segments,
        } = *self;
        let spacing = Spacing {
            radius,
            count: segments,
        };
        let (low, high) = (-0.5 * height, 0.5 * height);
        let mut rings = Rings::default();
        rings.add(0.0, low, 1);
        rings.run_to([0.0, low], [radius, low], spacing);
        rings.run_to([radius, low], [radius, high], spacing);
        rings.run_to([radius, high], [0.0, high], spacing);
        Ok(rings.finish())
    }
}

/// A closed cone round the y axis, its apex a vertex at half its height above the origin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cone {
    /// Of the base.
    pub radius: f64,
    /// Along y.
    pub height: f64,
    /// Vertices around the base; those along follow.
    #[serde(default = "round")]
    pub segments: u32,
}

impl Generator for Cone {
    fn check(&self) -> Check {
        lengths(&[("radius", self.radius), ("height", self.height)])?;
        around("segments", self.segments)?;
        vertices("segments", self.about_vertices())
    }

    fn about_vertices(&self) -> f64 {
        round_vertices(self.segments, (self.radius + self.height) / self.radius)
    }

    fn triangles(&self) -> Result<Triangles, String> {
        let Self {
            radius,
            height,
            segments,
        } = *self;
        let spacing = Spacing {
            radius,
            count: segments,
        };
        let (low, high) = (-0.5 * height, 0.5 * height);
        let mut rings = Rings::default();
        rings.add(0.0, low, 1);
        rings.run_to([0.0, low], [radius, low], spacing);
        rings.run_to([radius, low], [0.0, high], spacing);
        Ok(rings.finish())
    }
}

/// Vertices around a needle.
const NEEDLE_SEGMENTS: u32 = 8;

/// A slender cone round the y axis: its tip is a vertex at half its height above the origin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Needle {
    /// Of the base.
    pub radius: f64,
    /// Along y.
    pub height: f64,
}

impl Generator for Needle {
    fn check(&self) -> Check {
        lengths(&[("radius", self.radius), ("height", self.height)])?;
        vertices("segments", self.about_vertices())
    }

    fn about_vertices(&self) -> f64 {
        round_vertices(NEEDLE_SEGMENTS, (self.radius + self.height) / self.radius)
    }

    fn triangles(&self) -> Result<Triangles, String> {
        let Self { radius, height } = *self;
        let (low, high) = (-0.5 * height, 0.5 * height);
        let rows = (height / (2.0 * radius)).round().max(1.0) as u32;
        let mut rings = Rings::default();
        rings.add(0.0, low, 1);
        for row in 0..rows {
            let share = f64::from(row) / f64::from(rows);
            rings.add(
                radius * (1.0 - share),
                low + share * height,
                NEEDLE_SEGMENTS,
            );
        }
        rings.add(0.0, high, 1);
        Ok(rings.finish())
    }
}

fn eight() -> u32 {
    8
}

fn sixteen() -> u32 {
    16
}

/// A thin closed cylinder along z.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wire {
    /// Of the vertices.
    pub radius: f64,
    /// Along z.
    pub length: f64,
    /// Vertices around.
    #[serde(default = "eight")]
    pub segments: u32,
    /// Cells along.
    #[serde(default = "sixteen")]
    pub rows: u32,
}

impl Generator for Wire {
    fn check(&self) -> Check {
        lengths(&[("radius", self.radius), ("length", self.length)])?;
        around("segments", self.segments)?;
        at_least("rows", self.rows, 1)?;
        vertices("rows", self.about_vertices())
    }

    fn about_vertices(&self) -> f64 {
        f64::from(self.segments) * f64::from(self.rows)
    }

    fn triangles(&self) -> Result<Triangles, String> {
        let Self {
            radius,
            length,
            segments,
            rows,
        } = *self;
        let mut rings = Rings::default();
        rings.add(0.0, -0.5 * length, 1);
        for row in 0..=rows {
            let y = length * (f64::from(row) / f64::from(rows) - 0.5);
            rings.add(radius, y, segments);
        }
        rings.add(0.0, 0.5 * length, 1);
        let mut shape = rings.finish();
        for p in &mut shape.x {
            *p = DVec3::new(p.x, -p.z, p.y); // a quarter turn about x
        }
        Ok(shape)
    }
}

/// A cone that narrows to a chute, open above and below; faces inwards.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Funnel {
    /// Radius above.
    pub mouth: f64,
    /// Radius of the chute.
    pub outlet: f64,
    /// Of the cone.
    pub height: f64,
    /// Length of the chute; may be 0.
    pub chute: f64,
    /// Vertices around the mouth; the rest follows.
    #[serde(default = "round")]
    pub segments: u32,
}

impl Generator for Funnel {
    fn check(&self) -> Check {
        let Self {
            mouth,
            outlet,
            height,
            chute,
            ..
        } = *self;
        lengths(&[("mouth", mouth), ("outlet", outlet), ("height", height)])?;
        if outlet > mouth {
            let message = format!("{outlet} is above the mouth's radius {mouth}");
            return Err(("outlet", message));
        }
        if !(chute >= 0.0 && chute.is_finite()) {
            let message = format!("{chute} must be a length of 0 or more, in metres");
            return Err(("chute", message));
        }
        around("segments", self.segments)?;
        vertices("segments", self.about_vertices())
    }

    fn about_vertices(&self) -> f64 {
        let profile = (self.mouth + self.height + self.chute) / self.mouth;
        round_vertices(self.segments, profile)
    }

    fn triangles(&self) -> Result<Triangles, String> {
        let Self {
            mouth,
            outlet,
            height,
            chute,
            segments,
        } = *self;
        let spacing = Spacing {
            radius: mouth,
            count: segments,
        };
        let top = 0.5 * (height + chute);
        let neck = top - height;
        let mut rings = Rings::default();
        rings.add(mouth, top, segments);
        rings.run_to([mouth, top], [outlet, neck], spacing);
        if chute > 0.0 {
            rings.run_to([outlet, neck], [outlet, -top], spacing);
        }
        Ok(rings.finish())
    }
}
