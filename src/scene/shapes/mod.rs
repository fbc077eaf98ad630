//! Shapes that scenes are made of: generators of triangles.
//!
//! To add one: a struct that implements `Generator`, in the file where such meshes are made, and its name in [`Shape`]: twice, once to
//! read it and once to find it.
//!
//! Only + − × ÷ √ and the `libm` crate, so that every machine makes the same bits.

mod check;
mod file;
mod grids;
mod mesh;
mod pattern;
mod rings;
mod sphere;
mod tangle;

use std::sync::Arc;

use glam::{DVec2, DVec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::check::Check;
pub use self::file::{Bones, FromFile, Up};
pub(super) use self::file::{bounds, likely_scale};
pub use self::grids::{Crevice, Cuboid, Plane, Prism, Sheet, Trough};
pub use self::mesh::Given;
pub use self::pattern::Pattern;
pub use self::rings::{Cone, Cylinder, Disc, Funnel, Needle, Skirt, Tube, Wire};
pub use self::sphere::Sphere;
pub use self::tangle::Tangle;
use crate::io::{Attribute, Look, ScalarKind, Uv};

/// What every shape can tell of itself.
trait Generator {
    /// The parameters: the key that is out of its range, and what is allowed.
    fn check(&self) -> Check;

    /// Vertices by the parameters, to a few percent where there are many; none for a file.
    fn about_vertices(&self) -> f64;

    /// The triangles, from parameters that are in their ranges.
    fn triangles(&self) -> Result<Triangles, String>;
}

/// A shape with its parameters, as a scene names it. Lengths in metres, Y up; all but `file`, `mesh` and `tangle` are centred on the origin.
///
/// Closed surfaces face outwards, floors and channels up. `cells` and `segments` set the resolution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[allow(
    missing_docs,
    reason = "each struct says what it is, also in the schema"
)]
pub enum Shape {
    Sheet(Sheet),
    Tube(Tube),
    Disc(Disc),
    Skirt(Skirt),
    Sphere(Sphere),
    Box(Cuboid),
    Plane(Plane),
    Cylinder(Cylinder),
    Cone(Cone),
    Needle(Needle),
    Prism(Prism),
    Funnel(Funnel),
    Trough(Trough),
    Crevice(Crevice),
    Wire(Wire),
    Tangle(Tangle),
    File(FromFile),
    Pattern(Pattern),
    Mesh(Given),
}

/// A point of an edge: its two vertices and how far along it is; the same vertex twice for a vertex.
pub type SewnPoint = ([u32; 2], f64);

/// Vertices and faces of a shape.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Triangles {
    /// Positions, in metres.
    pub x: Vec<DVec3>,
    /// Corners, counter-clockwise seen from the front.
    pub faces: Vec<[u32; 3]>,
    /// Further numbers per vertex, if a mesh file has some.
    pub attributes: Vec<Attribute>,
    /// Where the vertices would be without bending and far from themselves, in metres; none if that is as they are.
    pub flat: Vec<DVec3>,
    /// For each face its corners on paper (warp, weft), in metres: the shape that it has without forces. None if that is as it lies.
    pub material: Vec<[DVec2; 3]>,
    /// Texture coordinates, if a mesh file has some.
    pub uv: Option<Uv>,
    /// What else its mesh file says of the surface.
    pub look: Option<Arc<Look>>,
    /// Points that its pattern says are sewn together.
    pub stitches: Vec<[SewnPoint; 2]>,
    /// What moves it, if its file says so.
    pub bones: Option<Bones>,
}

impl Triangles {
    /// The shape that bending goes back to, and by which neighbours are told from layers.
    pub(super) fn unbent(&self) -> &[DVec3] {
        match self.flat.is_empty() {
            true => &self.x,
            false => &self.flat,
        }
    }

    /// Numbers per vertex of the mesh file; whole numbers as shares of the largest that they can be.
    pub(super) fn attribute(&self, name: &str) -> Result<Vec<f64>, String> {
        let attributes = &self.attributes;
        let Some(found) = attributes.iter().find(|attribute| attribute.name == name) else {
            let names: Vec<&str> = attributes.iter().map(|a| a.name.as_str()).collect();
            return Err(match names.is_empty() {
                true => format!(
                    "no attribute '{name}': only mesh files have attributes, such as colours in PLY"
                ),
                false => format!("no attribute '{name}'; the file has: {}", names.join(", ")),
            });
        };
        let largest = match found.kind {
            ScalarKind::I8 => f64::from(i8::MAX),
            ScalarKind::U8 => f64::from(u8::MAX),
            ScalarKind::I16 => f64::from(i16::MAX),
            ScalarKind::U16 => f64::from(u16::MAX),
            ScalarKind::I32 => f64::from(i32::MAX),
            ScalarKind::U32 => f64::from(u32::MAX),
            ScalarKind::F32 | ScalarKind::F64 => 1.0,
        };
        Ok(found.values.iter().map(|value| value / largest).collect())
    }
}

impl Shape {
    fn generator(&self) -> &dyn Generator {
        match self {
            Self::Sheet(shape) => shape,
            Self::Tube(shape) => shape,
            Self::Disc(shape) => shape,
            Self::Skirt(shape) => shape,
            Self::Sphere(shape) => shape,
            Self::Box(shape) => shape,
            Self::Plane(shape) => shape,
            Self::Cylinder(shape) => shape,
            Self::Cone(shape) => shape,
            Self::Needle(shape) => shape,
            Self::Prism(shape) => shape,
            Self::Funnel(shape) => shape,
            Self::Trough(shape) => shape,
            Self::Crevice(shape) => shape,
            Self::Wire(shape) => shape,
            Self::Tangle(shape) => shape,
            Self::File(shape) => shape,
            Self::Pattern(shape) => shape,
            Self::Mesh(shape) => shape,
        }
    }

    /// Checks the parameters: the key that is out of its range, and what is allowed.
    pub(super) fn check(&self) -> Check {
        self.generator().check()
    }

    /// Vertices by the parameters, to a few percent where there are many; none for a file.
    pub(super) fn about_vertices(&self) -> f64 {
        self.generator().about_vertices()
    }

    /// Makes the triangles.
    ///
    /// # Errors
    /// A parameter out of its range, or a file that cannot be used: the message says which and what is allowed.
    pub fn triangles(&self) -> Result<Triangles, String> {
        self.check()
            .map_err(|(key, message)| format!("{key}: {message}"))?;
        self.generator().triangles()
    }
}

/// Vertices of a grid of cells.
fn grid_vertices(cells: &[u32]) -> f64 {
    cells.iter().map(|&n| f64::from(n) + 1.0).product()
}

#[cfg(test)]
mod tests;
