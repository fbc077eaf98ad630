//! What each intersection asks for, by the method of one's choice.

use glam::DVec3;

use super::attract::{Aim, Attract, Sides};
use super::chart::{Surface, Tables};
use super::outward::Outward;
use super::pulls::{Pull, Targets};
use super::shorten::Shorten;
use super::{Analysis, Rest};
use crate::geometry::Mesh;

/// How an intersection is to be resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    /// Inside regions are pulled back (\[WLG06\] §5.1); without inside, the path is pushed over the nearest boundary (§5.3), and where
    /// the cloth has none, shortened.
    Pull(Sides),
    /// The contour is made shorter (\[VM06\]), both sheets moving as wholes.
    ShortenRigid,
    /// The contour is made shorter, each of its nodes by itself.
    ShortenNodes,
}

impl Default for Method {
    fn default() -> Self {
        Self::Pull(Sides::Chosen)
    }
}

/// Settings of the targets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TargetSettings {
    /// How target points are found.
    pub aim: Aim,
    /// How far beyond contact a pull ends at most, in edge lengths of the faces along the path.
    pub clearance: f64,
}

impl Default for TargetSettings {
    fn default() -> Self {
        Self {
            aim: Aim::Smooth,
            clearance: 0.5,
        }
    }
}

/// What is needed to find targets at one instant.
#[derive(Clone, Copy)]
pub struct Instant<'a> {
    /// The mesh.
    pub mesh: &'a Mesh,
    /// Its positions, in metres.
    pub x: &'a [DVec3],
    /// The undeformed cloth.
    pub rest: Rest<'a>,
    /// What crosses at these positions.
    pub analysis: &'a Analysis,
    /// [`Mesh::orientation`], which does not change from step to step.
    pub orientation: Option<&'a [bool]>,
}

/// Where the cloth ought to go so that the given intersections vanish: (number, method) each.
///
/// Nothing is moved; [`Targets::add_forces`] makes forces for a simulation of it. Time is that of laying out the surface
/// around the paths and their inside.
pub fn targets(
    at: Instant<'_>,
    contours: impl IntoIterator<Item = (u32, Method)>,
    settings: &TargetSettings,
) -> Targets {
    targets_by(&Tables::default(), at, contours, settings)
}

/// [`targets`] with tables that are kept: they are as large as the mesh.
pub(super) fn targets_by(
    tables: &Tables,
    at: Instant<'_>,
    contours: impl IntoIterator<Item = (u32, Method)>,
    settings: &TargetSettings,
) -> Targets {
    let Instant {
        mesh,
        x,
        rest,
        analysis,
        orientation,
    } = at;
    let surface = Surface {
        mesh,
        x,
        rest,
        tables,
    };
    let attract = Attract {
        surface,
        analysis,
        orientation,
        aim: settings.aim,
        clearance: settings.clearance,
    };
    let outward = Outward { surface, analysis };
    let shorten = Shorten { mesh, x, analysis };
    let mut pulls: Vec<Pull> = Vec::new();
    for (number, method) in contours {
        let reach = 0.5 * at.mean_edge(number);
        match method {
            Method::Pull(sides) => {
                if !attract.contour(number, sides, &mut pulls)
                    && !outward.contour(number, &mut pulls)
                {
                    shorten.rigid(number, reach, &mut pulls);
                }
            }
            Method::ShortenRigid => shorten.rigid(number, reach, &mut pulls),
            Method::ShortenNodes => shorten.by_node(number, reach, &mut pulls),
        }
    }
    Targets { pulls }
}

impl Instant<'_> {
    /// Mean edge of the faces along an intersection, in metres.
    pub fn mean_edge(&self, contour: u32) -> f64 {
        let (mut sum, mut count) = (0.0, 0.0);
        for path in self.analysis.contours[contour as usize].paths.clone() {
            for &face in &self.analysis.paths[path as usize].faces {
                let [a, b, c] = self.mesh.faces()[face as usize].map(|v| self.x[v as usize]);
                sum += a.distance(b) + b.distance(c) + c.distance(a);
                count += 3.0;
            }
        }
        sum / count
    }
}
