//! Surfaces of rectangular cells: sheets, boxes, channels along z.

use std::collections::BTreeMap;

use glam::DVec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::{Check, around, at_least, centres, grid, lengths, vertices};
use super::{Generator, Triangles, grid_vertices};
use crate::script::sincos_degrees;

/// Cuts a cell in two, along alternating diagonals.
///
/// ```text
/// a b     seen from the front
/// c d
/// ```
fn cut([a, b, c, d]: [u32; 4], even: bool) -> [[u32; 3]; 2] {
    if even {
        [[a, c, d], [a, d, b]]
    } else {
        [[a, c, b], [b, c, d]]
    }
}

/// A rectangle in the xz plane, facing up; cells are cut along alternating diagonals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sheet {
    /// Along x and z.
    pub size: [f64; 2],
    /// Cells along x and z; one vertex more than that.
    pub cells: [u32; 2],
    /// Cells, evenly spread, that get a vertex in their middle: for a given number of vertices.
    #[serde(default)]
    pub centres: u32,
}

impl Generator for Sheet {
    fn check(&self) -> Check {
        lengths(&[("size", self.size[0]), ("size", self.size[1])])?;
        grid(&self.cells)?;
        centres(self.cells, self.centres)
    }

    fn about_vertices(&self) -> f64 {
        grid_vertices(&self.cells) + f64::from(self.centres)
    }

    fn triangles(&self) -> Result<Triangles, String> {
        let mut shape = sheet(self.size, self.cells);
        add_centres(&mut shape, self.centres);
        Ok(shape)
    }
}

/// A rectangle of two triangles in the xz plane, facing up: a floor, or turned by `rotation = [0, 0, -20]` a slope towards +x.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plane {
    /// Along x and z.
    pub size: [f64; 2],
}

impl Generator for Plane {
    fn check(&self) -> Check {
        lengths(&self.size.map(|length| ("size", length)))
    }

    fn about_vertices(&self) -> f64 {
        8.0
    }

    fn triangles(&self) -> Result<Triangles, String> {
        Ok(sheet(self.size, [1, 1]))
    }
}

/// In the xz plane, facing up.
fn sheet(size: [f64; 2], cells: [u32; 2]) -> Triangles {
    let [nx, nz] = cells;
    let at = |i: u32, n: u32, length: f64| length * (f64::from(i) / f64::from(n) - 0.5);
    let x = (0..=nz)
        .flat_map(|j| {
            (0..=nx).map(move |i| DVec3::new(at(i, nx, size[0]), 0.0, at(j, nz, size[1])))
        })
        .collect();
    Triangles {
        x,
        faces: grid_faces(cells),
        ..Triangles::default()
    }
}

/// Faces of a grid of vertices, row by row.
fn grid_faces([nx, nz]: [u32; 2]) -> Vec<[u32; 3]> {
    let vertex = |i: u32, j: u32| j * (nx + 1) + i;
    let cell = |(i, j): (u32, u32)| {
        let corners = [
            vertex(i, j),
            vertex(i + 1, j),
            vertex(i, j + 1),
            vertex(i + 1, j + 1),
        ];
        cut(corners, (i + j) % 2 == 0)
    };
    let cells = (0..nz).flat_map(|j| (0..nx).map(move |i| (i, j)));
    cells.flat_map(cell).collect()
}

/// Cuts `count` cells, evenly spread, in four about a vertex in their middle instead of in two.
///
/// Meshes of the papers have vertex counts that no grid has; this meets them with well-shaped triangles. The two
/// faces of a cell must follow one another.
pub(super) fn add_centres(shape: &mut Triangles, count: u32) {
    let cells = shape.faces.len() as u64 / 2;
    let count = u64::from(count);
    let mut faces = Vec::with_capacity(shape.faces.len() + 2 * count as usize);
    let mut next = 0;
    for (cell, pair) in shape.faces.chunks_exact(2).enumerate() {
        if next < count && cell as u64 == (2 * next + 1) * cells / (2 * count) {
            next += 1;
            let [first, second] = [pair[0], pair[1]];
            let shared = |v: &u32| second.contains(v);
            let only = |face: [u32; 3], other: [u32; 3]| {
                face.into_iter().position(|v| !other.contains(&v))
            };
            let diagonal: Vec<u32> = first.into_iter().filter(shared).collect();
            let middle = 0.5 * (shape.x[diagonal[0] as usize] + shape.x[diagonal[1] as usize]);
            shape.x.push(middle);
            let centre = shape.x.len() as u32 - 1;
            for (face, other) in [(first, second), (second, first)] {
                // the corner opposite the diagonal, then the sides on both sides of it
                let k = only(face, other).expect("two faces of a cell share one edge");
                let [tip, left, right] = [face[k], face[(k + 1) % 3], face[(k + 2) % 3]];
                faces.extend([[tip, left, centre], [right, tip, centre]]);
            }
        } else {
            faces.extend_from_slice(pair);
        }
    }
    shape.faces = faces;
}

fn one_cell() -> [u32; 3] {
    [1; 3]
}

/// A box.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cuboid {
    /// Along x, y and z.
    pub size: [f64; 3],
    /// Cells along x, y and z.
    #[serde(default = "one_cell")]
    pub cells: [u32; 3],
}

impl Generator for Cuboid {
    fn check(&self) -> Check {
        lengths(&self.size.map(|length| ("size", length)))?;
        grid(&self.cells)
    }

    fn about_vertices(&self) -> f64 {
        let [a, b, c] = self.cells;
        2.0 * (grid_vertices(&[a, b]) + grid_vertices(&[b, c]) + grid_vertices(&[c, a]))
    }

    fn triangles(&self) -> Result<Triangles, String> {
        let Self { size, cells } = *self;
        let mut shape = Triangles::default();
        let mut numbers: BTreeMap<[u32; 3], u32> = BTreeMap::new();
        // u × v is the direction in which the side faces
        for (u, v) in [(1, 2), (2, 1), (2, 0), (0, 2), (0, 1), (1, 0)] {
            let w = 3 - u - v;
            let positive = (u + 1) % 3 == v;
            let level = if positive { cells[w] } else { 0 };
            let mut vertex = |i: u32, j: u32| {
                let mut place = [0; 3];
                (place[u], place[v], place[w]) = (i, j, level);
                *numbers.entry(place).or_insert_with(|| {
                    let at = |k: usize| size[k] * (f64::from(place[k]) / f64::from(cells[k]) - 0.5);
                    shape.x.push(DVec3::new(at(0), at(1), at(2)));
                    shape.x.len() as u32 - 1
                })
            };
            for j in 0..cells[v] {
                for i in 0..cells[u] {
                    // u runs to the right and v up: d is the far corner of a
                    let corners = [
                        vertex(i, j + 1),
                        vertex(i + 1, j + 1),
                        vertex(i, j),
                        vertex(i + 1, j),
                    ];
                    shape.faces.extend(cut(corners, (i + j) % 2 == 0));
                }
            }
        }
        Ok(shape)
    }
}

/// A profile in the xy plane from left to right, drawn out along z; faces up. `rows` along.
fn channel(profile: &[[f64; 2]], length: f64, rows: u32) -> Triangles {
    let columns = profile.len() as u32 - 1;
    let z = |row: u32| length * (f64::from(row) / f64::from(rows) - 0.5);
    let x = (0..=rows)
        .flat_map(|row| profile.iter().map(move |&[x, y]| DVec3::new(x, y, z(row))))
        .collect();
    Triangles {
        x,
        faces: grid_faces([columns, rows]),
        ..Triangles::default()
    }
}

/// The lower half of a pipe along z, open at both ends; the pipe's axis goes through the origin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Trough {
    /// Of the vertices.
    pub radius: f64,
    /// Along z.
    pub length: f64,
    /// Cells around and along.
    pub cells: [u32; 2],
}

impl Generator for Trough {
    fn check(&self) -> Check {
        lengths(&[("radius", self.radius), ("length", self.length)])?;
        grid(&self.cells)
    }

    fn about_vertices(&self) -> f64 {
        grid_vertices(&self.cells)
    }

    fn triangles(&self) -> Result<Triangles, String> {
        let Self {
            radius,
            length,
            cells,
        } = *self;
        let profile: Vec<[f64; 2]> = (0..=cells[0])
            .map(|i| {
                let (sin, cos) = sincos_degrees(180.0 * f64::from(i) / f64::from(cells[0]));
                [-radius * cos, -radius * sin]
            })
            .collect();
        Ok(channel(&profile, length, cells[1]))
    }
}

fn one() -> u32 {
    1
}

/// Two level shoulders at height 0 with a slot between them along z.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Crevice {
    /// Of the slot, along x.
    pub width: f64,
    /// Of the slot.
    pub depth: f64,
    /// Along z.
    pub length: f64,
    /// Width of each shoulder.
    pub shoulder: f64,
    /// Cells along z.
    #[serde(default = "one")]
    pub rows: u32,
}

impl Generator for Crevice {
    fn check(&self) -> Check {
        lengths(&[
            ("width", self.width),
            ("depth", self.depth),
            ("length", self.length),
            ("shoulder", self.shoulder),
        ])?;
        at_least("rows", self.rows, 1)?;
        vertices("rows", self.about_vertices())
    }

    fn about_vertices(&self) -> f64 {
        6.0 * f64::from(self.rows)
    }

    fn triangles(&self) -> Result<Triangles, String> {
        let Self {
            width,
            depth,
            length,
            shoulder,
            rows,
        } = *self;
        let (edge, end) = (0.5 * width, 0.5 * width + shoulder);
        let profile = [
            [-end, 0.0],
            [-edge, 0.0],
            [-edge, -depth],
            [edge, -depth],
            [edge, 0.0],
            [end, 0.0],
        ];
        Ok(channel(&profile, length, rows))
    }
}

fn three() -> u32 {
    3
}

/// A prism over a regular polygon, standing; one corner towards +x.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Prism {
    /// Of the corners.
    pub radius: f64,
    /// Along y.
    pub height: f64,
    /// Sides of the polygon.
    #[serde(default = "three")]
    pub sides: u32,
}

impl Generator for Prism {
    fn check(&self) -> Check {
        lengths(&[("radius", self.radius), ("height", self.height)])?;
        around("sides", self.sides)
    }

    fn about_vertices(&self) -> f64 {
        2.0 * f64::from(self.sides)
    }

    fn triangles(&self) -> Result<Triangles, String> {
        let Self {
            radius,
            height,
            sides,
        } = *self;
        let corner = |i: u32, y: f64| {
            let (sin, cos) = sincos_degrees(360.0 * f64::from(i) / f64::from(sides));
            DVec3::new(radius * cos, y, radius * sin)
        };
        let (low, high) = (-0.5 * height, 0.5 * height);
        let ring = |y: f64| (0..sides).map(move |i| corner(i, y));
        let x = ring(low).chain(ring(high)).collect();
        let mut faces = Vec::new();
        for i in 0..sides {
            let next = (i + 1) % sides;
            // angles run from x to z: clockwise seen from above
            faces.extend(cut([sides + next, sides + i, next, i], i % 2 == 0));
        }
        for i in 1..sides - 1 {
            faces.extend([[0, i, i + 1], [sides, sides + i + 1, sides + i]]);
        }
        Ok(Triangles {
            x,
            faces,
            ..Triangles::default()
        })
    }
}
