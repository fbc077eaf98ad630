//! What only touches: the exact test counts it, but it is no crossing, and no path leads along it.
//!
//! The lips of a cut that was never opened, or two hems in one place, lie exactly on each other. The analysis decides such contacts by a
//! perturbation (`perturb`), as often as not in favour of "apart"; then there is no path and nothing to pull. Here the faces
//! that touch are moved from each other a little, each pair along the line between their middles: of two faces that touch with their rims
//! the middles lie on either side of the contact.

use glam::DVec3;

use super::components::{Cloth, grown};
use super::prevent;
use super::pulls::{Point, Pull};
use super::relax::Relaxation;
use super::tangle::{Permitted, Tangle};
use crate::geometry::mesh::{NONE, flush_tiny};
use crate::geometry::{Collider, Crossings, Scope};

/// How far faces that touch are parted at once, in edge lengths: enough to be seen, little enough to change nothing else.
const APART: f64 = 0.05;
/// Steps at most, and rings around the faces that give way.
const MAX_STEPS: u32 = 8;
const RINGS: u32 = 2;

/// Parts faces that touch and do not cross, `is_crossing` says which do, of those that the exact test names; returns the number of steps that
/// helped, and what it names then.
pub(super) fn part(
    cloth: &Cloth<'_>,
    stiffness: f64,
    collider: &mut Collider,
    x: &mut [DVec3],
    mut crossings: Crossings,
    is_crossing: impl Fn([u32; 2]) -> bool,
) -> (u32, Crossings) {
    let mesh = cloth.mesh;
    let mut slots = vec![NONE; x.len()];
    for step in 0..MAX_STEPS {
        let mut pairs = crossings.faces.clone();
        pairs.retain(|&pair| !is_crossing(pair));
        if pairs.is_empty() {
            return (step, crossings);
        }
        let [a, b] = [0, 1].map(|k| {
            let mut faces: Vec<u32> = pairs.iter().map(|p| p[k]).collect();
            faces.sort_unstable();
            faces.dedup();
            faces
        });
        let middle = |face: u32| {
            let corners = mesh.faces()[face as usize];
            Point::face(corners, DVec3::splat(1.0 / 3.0))
        };
        let edge = |face: u32| {
            let [a, b, c] = mesh.faces()[face as usize].map(|v| x[v as usize]);
            (a.distance(b) + b.distance(c) + c.distance(a)) / 3.0
        };
        let pulls: Vec<Pull> = pairs
            .iter()
            .map(|&[f, g]| {
                let (from, to) = (middle(f), middle(g));
                let between = from.position(x) - to.position(x);
                let further = APART * edge(f).min(edge(g)) * between.normalize_or_zero();
                Pull {
                    from,
                    to: Some(to),
                    wanted: between + further,
                    weight: 1.0,
                    contour: 0,
                }
            })
            .collect();
        let corners = a.iter().chain(&b).flat_map(|&f| mesh.faces()[f as usize]);
        let mut corners: Vec<u32> = corners.collect();
        corners.sort_unstable();
        corners.dedup();
        let free: Vec<u32> = grown(mesh, corners, RINGS)
            .into_iter()
            .filter(|&v| !cloth.is_fixed[v as usize])
            .collect();
        let start = x.to_vec();
        let relaxation = Relaxation::new(cloth, free, &mut slots);
        relaxation.step(x, &pulls, stiffness, &mut slots);
        flush_tiny(x);
        let moving: Vec<u32> = relaxation
            .free()
            .iter()
            .copied()
            .filter(|&v| x[v as usize] != start[v as usize])
            .collect();
        let permitted = Permitted::new(mesh, &[Tangle { contour: 0, a, b }]);
        prevent::keep_apart(collider, &start, x, &moving, &permitted);
        let after = collider.crossings(x, Scope::Certified);
        if after.faces.len() >= crossings.faces.len() {
            x.copy_from_slice(&start);
            return (step, crossings);
        }
        crossings = after;
    }
    (MAX_STEPS, crossings)
}
