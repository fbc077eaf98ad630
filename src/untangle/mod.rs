//! Global intersection analysis: every crossing of sheets, as curves with a type (\[WLG06\] §4).
//!
//! ```text
//! segments   pairs of crossing faces, by exact signs
//! trace      chains of segments: curves in space
//! classify   the curves on the cloth: types and partners
//! regions    what is on the wrong side of each path
//! cure       moves the cloth until nothing crosses, or nothing helps (§5)
//! ```
//!
//! The analysis reads positions only; it knows nothing of the past, of masses or of thickness. It
//! works on several bodies at once and on one, with or without boundary. Meshes that are not
//! manifold are analysed too: an edge with more than two faces counts as an end of every sheet
//! there.

use glam::{DVec2, DVec3};

use crate::geometry::mesh::check_positions;
use crate::geometry::{Collider, Mesh, MeshError};

mod attract;
pub(crate) mod body;
mod chart;
mod classify;
mod components;
mod cure;
mod distance;
mod envelope;
mod export;
mod fan;
mod finish;
mod list;
mod memory;
mod outward;
mod parity;
mod paths;
mod pattern;
mod perturb;
mod prevent;
mod pulls;
mod rbf;
mod regions;
mod relax;
mod segments;
mod shorten;
mod sides;
mod tangle;
mod targets;
mod touching;
mod trace;
mod weld;
mod winding;

pub use attract::{Aim, Sides};
pub use cure::{
    CureReport, CureSeconds, CureSettings, Cured, Left, Patient, Reason, Response, cure,
};
pub use export::PathSummary;
pub use list::RINGS;
pub use paths::{Contour, Kind, Path, PathKind, Spot};
pub use pattern::{edge_lengths, pattern_lengths};
pub use pulls::{Point, Pull, Targets};
pub use regions::Inside;
pub use segments::{Crossing, End, Location, Segment, Segments};
pub use sides::{History, Votes};
pub use tangle::{Permitted, Tangle, tangles};
pub use targets::{Instant, Method, TargetSettings, targets};
pub use weld::{Welded, coincident, weld};

/// All intersections of a mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct Analysis {
    /// Edges through faces and the segments between them.
    pub segments: Segments,
    /// Intersections, as found.
    pub contours: Vec<Contour>,
    /// Curves on the cloth, after the splits; those of a contour follow each other.
    pub paths: Vec<Path>,
}

/// The undeformed cloth, on which the discs of BLI paths are measured.
#[derive(Clone, Copy, Debug)]
pub enum Rest<'a> {
    /// Not known: measured on the cloth as it is.
    Unknown,
    /// Parameters of each corner of each face, in metres; faces next to each other may lie in
    /// different charts.
    Parameters(&'a [[DVec2; 3]]),
    /// Lengths of each face's sides, in metres; side k joins the corners k and k + 1.
    Lengths(&'a [[f64; 3]]),
}

impl Rest<'_> {
    /// Lengths of a face's sides; side k joins the corners k and k + 1.
    fn lengths(&self, mesh: &Mesh, x: &[DVec3], face: u32) -> [f64; 3] {
        match self {
            Self::Unknown => {
                let [a, b, c] = mesh.faces()[face as usize].map(|v| x[v as usize]);
                [a.distance(b), b.distance(c), c.distance(a)]
            }
            Self::Parameters(uv) => {
                let [a, b, c] = uv[face as usize];
                [a.distance(b), b.distance(c), c.distance(a)]
            }
            Self::Lengths(lengths) => lengths[face as usize],
        }
    }
}

/// Finds and names all intersections of a mesh.
///
/// The same answer for any number of threads. Time is that of finding overlapping boxes, plus
/// linear in the number of segments and of inside vertices.
///
/// # Errors
/// Positions that are missing, not finite or out of range.
///
/// # Panics
/// If `rest` does not have an entry for every face.
pub fn analyse(mesh: &Mesh, x: &[DVec3], rest: Rest<'_>) -> Result<Analysis, MeshError> {
    check_positions(mesh, x)?;
    Ok(name(mesh, x, rest, Segments::find(mesh, x)))
}

/// [`analyse`] by the tree of a collider, which need not be built anew.
fn analyse_by(collider: &mut Collider, x: &[DVec3], rest: Rest<'_>) -> Result<Analysis, MeshError> {
    check_positions(collider.mesh(), x)?;
    let segments = Segments::find_by(collider, x);
    Ok(name(collider.mesh(), x, rest, segments))
}

/// Names what crosses.
fn name(mesh: &Mesh, x: &[DVec3], rest: Rest<'_>, segments: Segments) -> Analysis {
    let given = match rest {
        Rest::Unknown => mesh.faces().len(),
        Rest::Parameters(uv) => uv.len(),
        Rest::Lengths(lengths) => lengths.len(),
    };
    assert_eq!(given, mesh.faces().len(), "a rest shape for every face");
    let (contours, mut paths) = assemble(mesh, x, &segments);
    regions::Flood::new(mesh, x, rest, &segments).fill(&mut paths);
    Analysis {
        segments,
        contours,
        paths,
    }
}

/// Joins segments to intersections and paths, without their inside; linear in the number of
/// segments.
pub fn assemble(mesh: &Mesh, x: &[DVec3], segments: &Segments) -> (Vec<Contour>, Vec<Path>) {
    let chains = trace::chains(mesh, x, segments);
    classify::classify(mesh, x, segments, &chains)
}
