//! Intersections and paths: what they are called, where they run, how partners answer each other.

use glam::DVec3;
use serde::Serialize;

use super::regions::Inside;
use super::segments::{End, Segments};
use super::trace::Touched;

/// What an intersection is, as \[WLG06\] §4.1 names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Kind {
    /// A loop in space and on the cloth.
    #[serde(rename = "CLOSED")]
    Closed,
    /// A loop in space through one loop vertex.
    #[serde(rename = "EIGHT")]
    Eight,
    /// From one loop vertex to another.
    #[serde(rename = "LL")]
    LoopLoop,
    /// From a loop vertex to a boundary.
    #[serde(rename = "BLI")]
    BoundaryLoopInside,
    /// From a loop vertex to where two boundaries touch.
    #[serde(rename = "BLB")]
    BoundaryLoopBoundary,
    /// Two BLI that end in the same point.
    #[serde(rename = "BLLB")]
    BoundaryLoopLoopBoundary,
    /// Two BLI through the same loop vertex.
    #[serde(rename = "CROSS")]
    Cross,
    /// One sheet is cut from boundary to boundary, the other has a slit inside.
    #[serde(rename = "BB/II")]
    CutAndSlit,
    /// As BB/II, but at one end two boundaries touch.
    #[serde(rename = "BB/BI")]
    CutAndNotch,
    /// Each sheet cuts into the other from its boundary.
    #[serde(rename = "BI/BI")]
    NotchAndNotch,
    /// At both ends two boundaries touch.
    #[serde(rename = "BB/BB")]
    CutAndCut,
}

impl Kind {
    /// All of them, in the order of their declaration.
    pub const ALL: [Self; 11] = [
        Self::Closed,
        Self::Eight,
        Self::LoopLoop,
        Self::BoundaryLoopInside,
        Self::BoundaryLoopBoundary,
        Self::BoundaryLoopLoopBoundary,
        Self::Cross,
        Self::CutAndSlit,
        Self::CutAndNotch,
        Self::NotchAndNotch,
        Self::CutAndCut,
    ];

    /// The paper's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Closed => "CLOSED",
            Self::Eight => "EIGHT",
            Self::LoopLoop => "LL",
            Self::BoundaryLoopInside => "BLI",
            Self::BoundaryLoopBoundary => "BLB",
            Self::BoundaryLoopLoopBoundary => "BLLB",
            Self::Cross => "CROSS",
            Self::CutAndSlit => "BB/II",
            Self::CutAndNotch => "BB/BI",
            Self::NotchAndNotch => "BI/BI",
            Self::CutAndCut => "BB/BB",
        }
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// What a path on the cloth is, after the splits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum PathKind {
    /// Comes back to its start.
    Closed,
    /// Comes back to its start, over two loop vertices.
    Ll,
    /// From a boundary over a loop vertex to an end inside.
    Bli,
    /// From a boundary over a loop vertex to a boundary.
    Blb,
    /// From boundary to boundary.
    Bb,
    /// From a boundary to an end inside.
    Bi,
    /// Both ends inside.
    Ii,
}

impl PathKind {
    /// The paper's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Closed => "CLOSED",
            Self::Ll => "LL",
            Self::Bli => "BLI",
            Self::Blb => "BLB",
            Self::Bb => "BB",
            Self::Bi => "BI",
            Self::Ii => "II",
        }
    }

    /// Whether the path has no ends.
    pub fn is_closed(self) -> bool {
        matches!(self, Self::Closed | Self::Ll)
    }
}

/// An intersection: one curve in space (two for CROSS and BLLB) and its paths on the cloth.
#[derive(Clone, Debug, PartialEq)]
pub struct Contour {
    /// As found, before any split.
    pub kind: Kind,
    /// Its paths, by number: one, or two.
    pub paths: std::ops::Range<u32>,
    /// Pairs of crossing faces along it.
    pub segment_count: usize,
    /// Length in space, in metres.
    pub length: f64,
    /// Whether every crossing of it is a mere touch that the perturbation has made a crossing.
    pub is_touch: bool,
}

/// A curve on the cloth, or on one of several bodies.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// After the splits.
    pub kind: PathKind,
    /// The intersection that it belongs to, by number.
    pub contour: u32,
    /// The path at the same places in space, by number; itself for LL, BLI and BLB.
    pub partner: u32,
    /// Segments in the order of the path.
    pub segments: Vec<u32>,
    /// The face on this path's side of each segment.
    pub faces: Vec<u32>,
    /// Points between the segments: segment k runs from point k to point k + 1, or back to point 0
    /// if the path is closed.
    pub points: Vec<End>,
    /// The part of the cloth that is on the wrong side of this path.
    pub inside: Inside,
    /// Where several paths part the cloth together: the vertices that are nearer to this one than to the others, ascending.
    pub(super) share: Option<Vec<u32>>,
    /// Boundary that the first and last point touch exactly although they lie within a face.
    pub(super) touched: [Option<Touched>; 2],
    pub(super) fold: Fold,
}

/// Where a point of a path lies on the cloth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Spot {
    /// At a vertex: a loop vertex.
    Vertex(u32),
    /// On an edge.
    Edge {
        /// The edge.
        edge: u32,
        /// From 0 at its first vertex to 1.
        along: f64,
    },
    /// Within a face.
    Face {
        /// The face.
        face: u32,
        /// Weights of its corners.
        weights: DVec3,
    },
}

/// How the points of a path and of its partner answer each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fold {
    /// Point k of one is point k of the other.
    Straight,
    /// The path is its own partner and runs back from a loop vertex.
    Back,
    /// The path is its own partner and runs twice round a one-sided surface.
    Twice,
}

impl Path {
    /// The number, in the partner, of the point that is at the same place in space as point `k` of
    /// this path.
    pub fn corresponding(&self, k: usize) -> usize {
        let n = self.points.len();
        match (self.fold, self.kind.is_closed()) {
            (Fold::Straight, _) => k,
            (Fold::Back, true) => (n - k) % n,
            (Fold::Back, false) => n - 1 - k,
            (Fold::Twice, _) => (k + n / 2) % n,
        }
    }

    /// Where point `k` lies on this path's side of the cloth.
    pub fn spot(&self, found: &Segments, k: usize) -> Spot {
        match self.points[k] {
            End::Loop(v) => Spot::Vertex(v),
            End::Crossing(c) => {
                let crossing = found.crossings[c as usize];
                let location = &found.locations[c as usize];
                // the segments on either side of the point lie in one face or in two that the edge
                // joins
                if self.faces[k.min(self.faces.len() - 1)] == crossing.face {
                    Spot::Face {
                        face: crossing.face,
                        weights: location.weights,
                    }
                } else {
                    Spot::Edge {
                        edge: crossing.edge,
                        along: location.along_edge,
                    }
                }
            }
        }
    }

    /// The loop vertices on the path, ascending.
    pub fn loop_vertices(&self) -> Vec<u32> {
        let mut vertices: Vec<u32> = self
            .points
            .iter()
            .filter_map(|p| match *p {
                End::Loop(v) => Some(v),
                End::Crossing(_) => None,
            })
            .collect();
        vertices.sort_unstable();
        vertices.dedup();
        vertices
    }

    /// Points in space from first to last, in metres; a closed path repeats the first at the end.
    pub fn polyline(&self, found: &Segments, x: &[DVec3]) -> Vec<DVec3> {
        let again = self.kind.is_closed().then(|| self.points[0]);
        let points = self.points.iter().copied().chain(again);
        points.map(|p| found.position(x, p)).collect()
    }
}
