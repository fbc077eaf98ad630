//! Surfaces of rectangular cells: sheets, boxes, channels along z.

use std::collections::BTreeMap;

use glam::DVec3;

use super::Triangles;
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

/// In the xz plane, facing up.
pub(super) fn sheet(size: [f64; 2], cells: [u32; 2]) -> Triangles {
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

/// Closed; `cells` along x, y and z.
pub(super) fn cuboid(size: [f64; 3], cells: [u32; 3]) -> Triangles {
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
    shape
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

/// The lower half of a pipe along z, facing inwards; the pipe's axis is the z axis.
pub(super) fn trough(radius: f64, length: f64, cells: [u32; 2]) -> Triangles {
    let profile: Vec<[f64; 2]> = (0..=cells[0])
        .map(|i| {
            let (sin, cos) = sincos_degrees(180.0 * f64::from(i) / f64::from(cells[0]));
            [-radius * cos, -radius * sin]
        })
        .collect();
    channel(&profile, length, cells[1])
}

/// Two level shoulders with a slot between them along z; the shoulders are at height 0.
pub(super) fn crevice(slot: [f64; 2], length: f64, shoulder: f64, rows: u32) -> Triangles {
    let [width, depth] = slot;
    let (edge, end) = (0.5 * width, 0.5 * width + shoulder);
    let profile = [
        [-end, 0.0],
        [-edge, 0.0],
        [-edge, -depth],
        [edge, -depth],
        [edge, 0.0],
        [end, 0.0],
    ];
    channel(&profile, length, rows)
}

/// A standing prism over a regular polygon, closed.
pub(super) fn prism(radius: f64, height: f64, sides: u32) -> Triangles {
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
    Triangles {
        x,
        faces,
        ..Triangles::default()
    }
}
