//! Software pictures of meshes: no window, no GPU, the same pixels for any number of threads.
//!
//! Internal: may change without notice. Open for the command line.
//!
//! ```text
//! Picture ──surface──▶ corner normals ──light──▶ shadow maps ─┐
//!         ──camera───▶ view axes ──────raster─▶ face ids ─────┴─shade──▶ Image ──▶ PNG, GIF, contact sheet
//! ```
//!
//! Coverage is found at several samples to the pixel; each face is shaded once per pixel that it
//! touches, in linear light.

mod animation;
mod camera;
mod draw;
mod image;
mod light;
mod raster;
mod shade;
mod sheet;
mod strain;
mod surface;

pub use animation::{Animation, Palette};
pub use camera::{Camera, Framing};
pub use draw::draw;
pub use image::{Colour, Image};
pub use sheet::{contact_sheet, legend, text};
pub use strain::{STRAIN_COLOURS, principal_stretch, to_vertices};

use glam::DVec3;

/// How normals vary over a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shading {
    /// Each face has its own.
    Flat,
    /// They vary continuously.
    Smooth,
    /// Continuous, except across edges where faces meet at more than so many degrees.
    Crease(f64),
}

/// What a surface is painted with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Paint<'a> {
    /// A colour for the front (from where faces run counter-clockwise) and one for the back.
    TwoSided(Colour, Colour),
    /// A front and a back colour for each face of the model.
    FaceColours(&'a [[Colour; 2]]),
    /// A value from 0 to 1 for each *vertex of the position array*, shown by [`STRAIN_COLOURS`].
    VertexValues(&'a [f32]),
    /// A value from 0 to 1 for each face of the model, shown by [`STRAIN_COLOURS`].
    FaceValues(&'a [f32]),
}

/// One body of a picture.
#[derive(Clone, Debug)]
pub struct Model<'a> {
    /// Positions, in metres; may hold more vertices than this body uses. Faces with a corner that
    /// is not finite are left out.
    pub positions: &'a [DVec3],
    /// Corners of its faces, as indices of `positions`.
    pub faces: &'a [[u32; 3]],
    /// Its colours.
    pub paint: Paint<'a>,
    /// Its normals.
    pub shading: Shading,
    /// Faces to be drawn red, as indices of `faces`, ascending.
    pub marked: &'a [u32],
    /// Whether it is the floor: fades into the background, casts no shadow, and is not framed.
    pub ground: bool,
}

/// A line of a picture, drawn over what lies closely below it.
#[derive(Clone, Debug)]
pub struct Line<'a> {
    /// Its corners, in metres.
    pub points: &'a [DVec3],
    /// Its colour, not shaded.
    pub colour: Colour,
    /// Its width, in pixels.
    pub width: f64,
}

/// What is to be seen.
#[derive(Clone, Debug, Default)]
pub struct Picture<'a> {
    /// Bodies.
    pub models: Vec<Model<'a>>,
    /// Lines.
    pub lines: Vec<Line<'a>>,
}

/// How it is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Pixels across, at least 1.
    pub width: u32,
    /// Pixels down, at least 1.
    pub height: u32,
    /// Samples per pixel along each axis, 1 to 8: 1 has jagged edges, 4 has 16 shades of coverage.
    pub samples: u32,
    /// Whether the edges of faces (other than the ground's) are drawn.
    pub wire: bool,
    /// Background at the top and at the bottom.
    pub background: [Colour; 2],
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            width: 960,
            height: 720,
            samples: 4,
            wire: false,
            background: [Colour([214, 219, 226]), Colour([243, 244, 246])],
        }
    }
}
