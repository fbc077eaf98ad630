//! Shapes that scenes are made of: generators of triangles.
//!
//! Only + − × ÷ √ and the `libm` crate, so that every machine makes the same bits.

mod check;
mod grids;
mod rings;
mod sphere;

use std::path::PathBuf;

use glam::DVec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::io;

/// A shape with its parameters, as a scene names it. Lengths in metres, Y up; all but `file` are centred on the origin.
///
/// Closed surfaces face outwards, floors and channels up. `cells` and `segments` set the resolution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Shape {
    /// A rectangle in the xz plane, facing up; cells are cut along alternating diagonals.
    Sheet {
        /// Along x and z.
        size: [f64; 2],
        /// Cells along x and z; one vertex more than that.
        cells: [u32; 2],
        /// Cells, evenly spread, that get a vertex in their middle: for a given number of vertices.
        #[serde(default)]
        centres: u32,
    },
    /// An open cylinder round the y axis.
    Tube {
        /// Of the vertices.
        radius: f64,
        /// Along y.
        height: f64,
        /// Cells around and along.
        cells: [u32; 2],
        /// Cells, evenly spread, that get a vertex in their middle: for a given number of vertices.
        #[serde(default)]
        centres: u32,
    },
    /// A disc in the xz plane, facing up.
    Disc {
        /// Of the outermost vertices.
        radius: f64,
        /// Rings round the middle vertex; ring k has 6k vertices.
        rings: u32,
    },
    /// An open cone round the y axis: a skirt.
    Skirt {
        /// Radius above.
        waist: f64,
        /// Radius below; at least that of the waist.
        hem: f64,
        /// Along y.
        height: f64,
        /// Cells around the hem (fewer above, by the radius) and along.
        cells: [u32; 2],
    },
    /// A sphere: an icosahedron whose faces are cut in four again and again.
    Sphere {
        /// Distance of the vertices from the centre.
        radius: f64,
        /// How often; 4 gives 2,562 vertices, each more four times as many.
        subdivisions: u32,
    },
    /// A box.
    Box {
        /// Along x, y and z.
        size: [f64; 3],
        /// Cells along x, y and z.
        #[serde(default = "one_cell")]
        cells: [u32; 3],
    },
    /// A rectangle of two triangles in the xz plane, facing up: a floor, or turned by `rotation = [0, 0, -20]` a slope towards +x.
    Plane {
        /// Along x and z.
        size: [f64; 2],
    },
    /// A closed cylinder round the y axis.
    Cylinder {
        /// Of the vertices.
        radius: f64,
        /// Along y.
        height: f64,
        /// Vertices around; those along and on the ends follow.
        #[serde(default = "round")]
        segments: u32,
    },
    /// A closed cone round the y axis, its apex a vertex at half its height above the origin.
    Cone {
        /// Of the base.
        radius: f64,
        /// Along y.
        height: f64,
        /// Vertices around the base; those along follow.
        #[serde(default = "round")]
        segments: u32,
    },
    /// A slender cone round the y axis: its tip is a vertex at half its height above the origin.
    Needle {
        /// Of the base.
        radius: f64,
        /// Along y.
        height: f64,
    },
    /// A prism over a regular polygon, standing; one corner towards +x.
    Prism {
        /// Of the corners.
        radius: f64,
        /// Along y.
        height: f64,
        /// Sides of the polygon.
        #[serde(default = "three")]
        sides: u32,
    },
    /// A cone that narrows to a chute, open above and below; faces inwards.
    Funnel {
        /// Radius above.
        mouth: f64,
        /// Radius of the chute.
        outlet: f64,
        /// Of the cone.
        height: f64,
        /// Length of the chute; may be 0.
        chute: f64,
        /// Vertices around the mouth; the rest follows.
        #[serde(default = "round")]
        segments: u32,
    },
    /// The lower half of a pipe along z, open at both ends; the pipe's axis goes through the origin.
    Trough {
        /// Of the vertices.
        radius: f64,
        /// Along z.
        length: f64,
        /// Cells around and along.
        cells: [u32; 2],
    },
    /// Two level shoulders at height 0 with a slot between them along z.
    Crevice {
        /// Of the slot, along x.
        width: f64,
        /// Of the slot.
        depth: f64,
        /// Along z.
        length: f64,
        /// Width of each shoulder.
        shoulder: f64,
        /// Cells along z.
        #[serde(default = "one")]
        rows: u32,
    },
    /// A thin closed cylinder along z.
    Wire {
        /// Of the vertices.
        radius: f64,
        /// Along z.
        length: f64,
        /// Vertices around.
        #[serde(default = "eight")]
        segments: u32,
        /// Cells along.
        #[serde(default = "sixteen")]
        rows: u32,
    },
    /// A mesh file: OBJ, PLY or STL, plain or gzip-compressed. Its coordinates are kept, not centred: without `position` and `rotation` the
    /// object starts where the file has it.
    File {
        /// The file; relative to the scene file.
        file: PathBuf,
        /// What its coordinates are multiplied by to be metres.
        #[serde(default = "unit")]
        scale: f64,
        /// SHA-256 of the file; filled in when the scene is read, and checked if given.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        sha256: String,
    },
}

fn one_cell() -> [u32; 3] {
    [1; 3]
}

fn one() -> u32 {
    1
}

fn three() -> u32 {
    3
}

fn eight() -> u32 {
    8
}

fn sixteen() -> u32 {
    16
}

fn round() -> u32 {
    48
}

fn unit() -> f64 {
    1.0
}

/// Vertices and faces of a shape.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Triangles {
    /// Positions, in metres.
    pub x: Vec<DVec3>,
    /// Corners, counter-clockwise seen from the front.
    pub faces: Vec<[u32; 3]>,
    /// Further numbers per vertex, if a mesh file has some.
    pub attributes: Vec<io::Attribute>,
}

impl Shape {
    /// Makes the triangles.
    ///
    /// # Errors
    /// A parameter out of its range, or a file that cannot be used: the message says which and what is allowed.
    pub fn triangles(&self) -> Result<Triangles, String> {
        self.check()
            .map_err(|(key, message)| format!("{key}: {message}"))?;
        Ok(match *self {
            Self::Sheet {
                size,
                cells,
                centres,
            } => {
                let mut shape = grids::sheet(size, cells);
                grids::add_centres(&mut shape, centres);
                shape
            }
            Self::Tube {
                radius,
                height,
                cells,
                centres,
            } => {
                let mut shape = rings::tube(radius, height, cells);
                grids::add_centres(&mut shape, centres);
                shape
            }
            Self::Disc { radius, rings } => rings::disc(radius, rings),
            Self::Skirt {
                waist,
                hem,
                height,
                cells,
            } => rings::skirt(waist, hem, height, cells),
            Self::Sphere {
                radius,
                subdivisions,
            } => sphere::sphere(radius, subdivisions),
            Self::Box { size, cells } => grids::cuboid(size, cells),
            Self::Plane { size } => grids::sheet(size, [1, 1]),
            Self::Cylinder {
                radius,
                height,
                segments,
            } => rings::cylinder(radius, height, segments),
            Self::Cone {
                radius,
                height,
                segments,
            } => rings::cone(radius, height, segments),
            Self::Needle { radius, height } => rings::needle(radius, height),
            Self::Prism {
                radius,
                height,
                sides,
            } => grids::prism(radius, height, sides),
            Self::Funnel {
                mouth,
                outlet,
                height,
                chute,
                segments,
            } => rings::funnel(mouth, outlet, [height, chute], segments),
            Self::Trough {
                radius,
                length,
                cells,
            } => grids::trough(radius, length, cells),
            Self::Crevice {
                width,
                depth,
                length,
                shoulder,
                rows,
            } => grids::crevice([width, depth], length, shoulder, rows),
            Self::Wire {
                radius,
                length,
                segments,
                rows,
            } => rings::wire(radius, length, segments, rows),
            Self::File {
                ref file, scale, ..
            } => {
                let mesh = io::read(file).map_err(|error| error.to_string())?;
                if mesh.faces.is_empty() {
                    return Err(format!("{}: it has no faces", file.display()));
                }
                Triangles {
                    x: mesh.positions.iter().map(|p| scale * p).collect(),
                    faces: mesh.faces,
                    attributes: mesh.attributes,
                }
            }
        })
    }
}

#[cfg(test)]
mod tests;
