//! Surfaces of rings round the y axis: tubes, discs, skirts, cylinders, cones, funnels.

use std::ops::Range;

use glam::{DVec2, DVec3};

use super::Triangles;
use crate::script::sincos_degrees;

/// Rings that are stitched together one after the other.
#[derive(Default)]
pub(super) struct Rings {
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
    pub(super) fn add(&mut self, radius: f64, y: f64, count: u32) {
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
    pub(super) fn run_to(&mut self, from: [f64; 2], to: [f64; 2], spacing: Spacing) {
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

    pub(super) fn finish(self) -> Triangles {
        self.shape
    }
}

/// How far apart vertices on rings are.
#[derive(Clone, Copy)]
pub(super) struct Spacing {
    pub(super) radius: f64,
    /// Vertices on a ring of this radius.
    pub(super) count: u32,
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

/// Open at both ends, facing outwards; `cells` around and along.
pub(super) fn tube(radius: f64, height: f64, cells: [u32; 2]) -> Triangles {
    let mut rings = Rings::default();
    for row in 0..=cells[1] {
        let y = height * (f64::from(row) / f64::from(cells[1]) - 0.5);
        rings.add(radius, y, cells[0]);
    }
    rings.finish()
}

/// In the xz plane, facing up: a hexagonal pattern bent round, 6k vertices on ring k.
pub(super) fn disc(radius: f64, ring_count: u32) -> Triangles {
    let mut rings = Rings::default();
    for ring in (0..=ring_count).rev() {
        rings.add(
            radius * f64::from(ring) / f64::from(ring_count),
            0.0,
            6 * ring,
        );
    }
    rings.finish()
}

/// Open cone from hem (below) to waist, facing outwards; `cells` around the hem and along.
pub(super) fn skirt(waist: f64, hem: f64, height: f64, cells: [u32; 2]) -> Triangles {
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
    rings.finish()
}

/// Closed, standing.
pub(super) fn cylinder(radius: f64, height: f64, segments: u32) -> Triangles {
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
    rings.finish()
}

/// Closed, standing, the apex a vertex on the axis.
pub(super) fn cone(radius: f64, height: f64, segments: u32) -> Triangles {
    let spacing = Spacing {
        radius,
        count: segments,
    };
    let (low, high) = (-0.5 * height, 0.5 * height);
    let mut rings = Rings::default();
    rings.add(0.0, low, 1);
    rings.run_to([0.0, low], [radius, low], spacing);
    rings.run_to([radius, low], [0.0, high], spacing);
    rings.finish()
}

/// Closed, standing, eight vertices around; rows as far apart as the base is wide.
pub(super) fn needle(radius: f64, height: f64) -> Triangles {
    let (low, high) = (-0.5 * height, 0.5 * height);
    let rows = (height / (2.0 * radius)).round().max(1.0) as u32;
    let mut rings = Rings::default();
    rings.add(0.0, low, 1);
    for row in 0..rows {
        let share = f64::from(row) / f64::from(rows);
        rings.add(radius * (1.0 - share), low + share * height, 8);
    }
    rings.add(0.0, high, 1);
    rings.finish()
}

/// Closed and thin, lying along z; `rows` along.
pub(super) fn wire(radius: f64, length: f64, segments: u32, rows: u32) -> Triangles {
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
    shape
}

/// A cone that narrows to a chute, open at both ends, facing inwards and up.
pub(super) fn funnel(mouth: f64, outlet: f64, heights: [f64; 2], segments: u32) -> Triangles {
    let [cone, chute] = heights;
    let spacing = Spacing {
        radius: mouth,
        count: segments,
    };
    let top = 0.5 * (cone + chute);
    let neck = top - cone;
    let mut rings = Rings::default();
    rings.add(mouth, top, segments);
    rings.run_to([mouth, top], [outlet, neck], spacing);
    if chute > 0.0 {
        rings.run_to([outlet, neck], [outlet, -top], spacing);
    }
    rings.finish()
}
