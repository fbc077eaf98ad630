//! The strain limit: no triangle is stretched beyond it in any direction, if that can be had.
//!
//! The largest stretch of a triangle is σ, the larger singular value of its deformation gradient F.
//! It is a norm of F, and F is linear in the positions: the states within the limit form a convex
//! set. So projecting one triangle after the other, each along
//!
//! ```text
//! ∂σ/∂xᵢ = (γᵢ · w) u,     F w = σ u,  γᵢ: gradient of the i-th shape function
//! ```
//!
//! weighted by the inverse masses, approaches it \[GPR67\]; momentum is kept, and scripted nodes do
//! not move. Provot's limit on springs \[PRO95\] and that of \[BFA02\] are the same idea on edges.
//! It is applied in every loop of Newmark, as there; what cannot be met in [`MAX_SWEEPS`] is left to
//! elasticity, and reported. The implicit integrator has the same derivatives as rows of its solve
//! ([`super::rows`]), where stiffness has its say too.
//!
//! A correction Δx changes the velocity of its loop by Δx/h, as if a force had acted, and at the
//! end of the loop the rate of σ loses its positive part where the limit was met ("position and
//! velocity level" of \[AND83\]): an inelastic stop. From a start within the limit, standing still
//! is within it too, and a projection onto a convex set that holds zero never adds kinetic energy.

use std::cmp::Ordering;

use glam::DVec3;
use serde::Serialize;

use super::elements::Elements;
use super::stretch::Triangle;

/// Sweeps over the triangles around what moved, at most.
const MAX_SWEEPS: u32 = 1000;
/// The same where a response has stretched some of them: what does not help soon is left.
const EASING_SWEEPS: u32 = 30;
/// As many whole sweeps may all loops of an interval take together.
const MAX_SWEEPS_OF_INTERVAL: u64 = 10_000;
/// Triangles above the limit are brought this share of the permitted strain below it: sweeps
/// disturb one another, and a target inside the set is reached where its border is only approached.
/// The price is a small bounce.
const MARGIN: f64 = 5e-3;
/// A stretch that grows by less than this share of what the speeds of its corners could do is as
/// good as stopped.
const NOTICEABLE: f64 = 1e-3;

/// Stretch beyond the limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct StrainReport {
    /// Faces above the strain limit of their fabric.
    pub over: u32,
    /// Largest principal strain of all faces (0.1 = stretched by a tenth).
    pub largest: f64,
    /// The face that has it.
    pub face: u32,
}

/// Outcome of limiting positions.
pub(super) struct Limited {
    /// Faces that were brought back.
    pub(super) met: Vec<u32>,
    /// Whether no face is above its limit any more.
    pub(super) holds: bool,
}

/// Looks at triangles that an interval has left.
///
/// A limit that cannot be met, as that of a sheet between two edges that are pulled apart, would
/// take all sweeps in every loop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Looks(u64);

impl Looks {
    /// Those of one interval.
    pub(super) fn new(elements: &Elements) -> Self {
        Self(MAX_SWEEPS_OF_INTERVAL * elements.faces.len() as u64)
    }

    /// Gives up those that are left.
    pub(super) fn give_up(&mut self) {
        self.0 = 0;
    }

    /// Whether none is left.
    pub(super) fn are_spent(self) -> bool {
        self.0 == 0
    }

    /// Takes those of one sweep; `false` if none was left. The last sweep may overdraw.
    fn spend(&mut self, count: usize) -> bool {
        let is_affordable = self.0 > 0;
        self.0 = self.0.saturating_sub(count as u64);
        is_affordable
    }
}

/// Faces below this share of the mean area are no reason to refuse an interval or to shorten a loop: a seam or a contact
/// stretches and turns them by what is nothing anywhere else.
const TINY: f64 = 1.0 / 16.0;

impl Elements {
    /// Measures all faces.
    pub(super) fn strain(&self, x: &[DVec3]) -> StrainReport {
        self.strain_of(x, 0.0)
    }

    /// Measures all faces that are not tiny.
    pub(super) fn strain_of_most(&self, x: &[DVec3]) -> StrainReport {
        self.strain_of(x, self.tiny_area())
    }

    /// Area below which a face is tiny.
    pub(super) fn tiny_area(&self) -> f64 {
        let areas: f64 = self.faces.iter().map(|face| face.area).sum();
        TINY * areas / self.faces.len().max(1) as f64
    }

    /// Measures all faces from a least area on.
    fn strain_of(&self, x: &[DVec3], least: f64) -> StrainReport {
        let mut report = StrainReport {
            largest: f64::NEG_INFINITY,
            ..StrainReport::default()
        };
        for (triangle, &face) in self.faces.iter().zip(&self.face_numbers) {
            if triangle.area < least {
                continue;
            }
            let stretch = triangle.largest_stretch(x).value;
            report.over += u32::from(triangle.exceeds_limit(x));
            if stretch - 1.0 > report.largest {
                (report.largest, report.face) = (stretch - 1.0, face);
            }
        }
        if self.faces.is_empty() {
            report.largest = 0.0;
        }
        report
    }

    /// Faces above their limit.
    pub(super) fn over_limit(&self, x: &[DVec3]) -> Vec<u32> {
        (0..self.faces.len() as u32)
            .filter(|&k| self.faces[k as usize].exceeds_limit(x))
            .collect()
    }

    /// Moves free nodes of `x` until the limit holds, or the sweeps are spent.
    pub(super) fn limit_strain(
        &self,
        inverse_mass: &[f64],
        x: &mut [DVec3],
        looks: &mut Looks,
    ) -> Limited {
        let work = self.over_limit(x);
        self.lower(&|_| 0.0, work, MAX_SWEEPS, inverse_mass, x, looks)
    }

    /// By how much a face is stretched at `x` beyond its limit, or beyond what it is at `wanted`, at most.
    pub(super) fn stretched(&self, wanted: &[DVec3], x: &[DVec3]) -> f64 {
        let beyond = |face: &Triangle| match face.exceeds_limit(x) {
            true => {
                let permitted = face.limit.max(face.largest_stretch(wanted).value);
                face.largest_stretch(x).value - permitted
            }
            false => 0.0,
        };
        self.faces.iter().map(beyond).fold(0.0, f64::max)
    }

    /// Moves free nodes of `x` until no face is stretched beyond its limit, or beyond what it is at `wanted`, or the sweeps
    /// are spent.
    pub(super) fn ease(&self, inverse_mass: &[f64], wanted: &[DVec3], x: &mut [DVec3]) {
        let permitted = |face: usize| self.faces[face].largest_stretch(wanted).value;
        let work = self.over_limit(x);
        let mut looks = Looks::new(self);
        self.lower(&permitted, work, EASING_SWEEPS, inverse_mass, x, &mut looks);
    }

    /// Moves free nodes of `x` until no face is stretched beyond its limit, or beyond what is permitted to it besides, or
    /// the sweeps are spent.
    fn lower(
        &self,
        permitted: &dyn Fn(usize) -> f64,
        mut work: Vec<u32>,
        max_sweeps: u32,
        inverse_mass: &[f64],
        x: &mut [DVec3],
        looks: &mut Looks,
    ) -> Limited {
        if work.is_empty() {
            return Limited {
                met: Vec::new(),
                holds: true,
            };
        }
        let mut met = vec![false; self.faces.len()];
        let mut listed = vec![false; self.faces.len()];
        let mut holds = false;
        for sweep in 0..max_sweeps {
            if !looks.spend(work.len()) {
                break;
            }
            // next come the triangles around those that move; back and forth, so that corrections
            // travel both ways
            let mut next = Vec::new();
            for &k in &work {
                let face = k as usize;
                if self.project(face, permitted(face), inverse_mass, x) {
                    met[face] = true;
                    for node in self.faces[face].vertices {
                        for &neighbour in self.faces_of(node) {
                            if !listed[neighbour as usize] {
                                listed[neighbour as usize] = true;
                                next.push(neighbour);
                            }
                        }
                    }
                }
            }
            next.sort_unstable();
            if sweep % 2 == 0 {
                next.reverse();
            }
            for &k in &next {
                listed[k as usize] = false;
            }
            holds = !next.iter().any(|&k| {
                let face = &self.faces[k as usize];
                face.exceeds_limit(x) && face.exceeds(permitted(k as usize), x)
            });
            if holds {
                break;
            }
            work = next;
        }
        let met = (0..met.len() as u32).filter(|&k| met[k as usize]).collect();
        Limited { met, holds }
    }

    /// Takes the growth of stretch out of the velocities of triangles that met the limit.
    pub(super) fn stop_stretching(
        &self,
        met: &[u32],
        inverse_mass: &[f64],
        x: &[DVec3],
        v: &mut [DVec3],
        looks: &mut Looks,
    ) {
        for sweep in 0..MAX_SWEEPS {
            if !looks.spend(met.len()) {
                break;
            }
            let mut stopped = false;
            for i in 0..met.len() {
                let i = if sweep % 2 == 0 { i } else { met.len() - 1 - i };
                stopped |= self.stop(met[i] as usize, inverse_mass, x, v);
            }
            if !stopped {
                break;
            }
        }
    }

    /// Takes the growth of the largest stretch out of the velocities; says whether there was any to
    /// speak of.
    fn stop(&self, face: usize, inverse_mass: &[f64], x: &[DVec3], v: &mut [DVec3]) -> bool {
        let triangle = &self.faces[face];
        let stretch = triangle.largest_stretch(x);
        let weights = triangle.vertices.map(|v| inverse_mass[v as usize]);
        let slopes = triangle.gradient.map(|g| g.dot(stretch.material));
        let response: f64 = (0..3).map(|i| weights[i] * slopes[i] * slopes[i]).sum();
        let rate: f64 = (0..3)
            .map(|i| slopes[i] * stretch.world.dot(v[triangle.vertices[i] as usize]))
            .sum();
        if response == 0.0 || rate <= 0.0 {
            return false;
        }
        let mut fastest: f64 = 0.0;
        for i in 0..3 {
            let v = &mut v[triangle.vertices[i] as usize];
            fastest = fastest.max(slopes[i].abs() * v.length());
            *v -= rate / response * weights[i] * slopes[i] * stretch.world;
        }
        rate > NOTICEABLE * fastest
    }

    /// Brings one triangle below the limit, or to what is permitted besides, if it is above; says whether it was.
    fn project(&self, face: usize, permitted: f64, inverse_mass: &[f64], x: &mut [DVec3]) -> bool {
        let triangle = &self.faces[face];
        let limit = triangle.limit - MARGIN * (triangle.limit - 1.0);
        let goal = limit.max(permitted);
        let stretch = triangle.largest_stretch(x);
        if stretch.value.partial_cmp(&goal) != Some(Ordering::Greater) {
            return false; // within, or not a number, which others report
        }
        let weights = triangle.vertices.map(|v| inverse_mass[v as usize]);
        let slopes = triangle.gradient.map(|g| g.dot(stretch.material));
        let response: f64 = (0..3).map(|i| weights[i] * slopes[i] * slopes[i]).sum();
        if response == 0.0 {
            return false; // all of it follows a script
        }
        let step = (stretch.value - goal) / response;
        for i in 0..3 {
            x[triangle.vertices[i] as usize] -= step * weights[i] * slopes[i] * stretch.world;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::bodies::{cloth, shaken, sheet};
    use super::super::*;
    use super::Looks;

    fn soft() -> Fabric {
        Fabric {
            stretch: [20.0; 2],
            shear: 5.0,
            ..Fabric::default()
        }
    }

    #[test]
    fn what_was_stretched_gives_way_and_keeps_its_momentum() {
        let (mesh, rest) = sheet(8);
        let mut model = cloth(&mesh, &rest, Fabric::default());
        model.pinned = vec![0];
        let dynamics = Dynamics::new(&mesh, &[model], &Settings::default());
        // one edge a fifth longer than it is meant to be was so before, and is left alone
        let mut start = rest.clone();
        start[0].x -= 0.025;
        let mut pushed = start.clone();
        for v in [30, 31, 40] {
            pushed[v].y += 0.05;
        }
        let before = dynamics.stretched(&start, &pushed);
        assert!(before > 0.01, "{before}");
        let mut eased = pushed.clone();
        dynamics.ease(&start, &mut eased);
        assert_eq!(dynamics.stretched(&start, &eased), 0.0);
        assert_eq!(eased[0], pushed[0]);
        let centre = |x: &[DVec3]| -> DVec3 {
            let each = x.iter().zip(dynamics.mass()).skip(1);
            each.map(|(x, &m)| m * *x).sum()
        };
        assert!(centre(&eased).distance(centre(&pushed)) < 1e-15);
        let highest = |x: &[DVec3]| x.iter().fold(0.0, |most: f64, x| most.max(x.y));
        assert!(highest(&eased) > 0.5 * highest(&pushed), "flattened");
        let mut again = eased.clone();
        dynamics.ease(&start, &mut again);
        assert_eq!(again, eased);
    }

    #[test]
    fn a_soft_cloth_that_falls_into_its_pins_keeps_the_limit_on_every_frame() {
        let (mesh, rest) = sheet(12);
        let newmark = Integrator::Newmark(Newmark::default());
        for stretch in [Stretch::Springs, Stretch::Membrane] {
            for integrator in [Integrator::default(), newmark.clone()] {
                for strain_limit in [0.1, f64::INFINITY] {
                    let fabric = Fabric {
                        strain_limit,
                        ..soft()
                    };
                    let mut model = cloth(&mesh, &rest, fabric);
                    model.stretch = stretch;
                    model.pinned = vec![0, 12];
                    let settings = Settings {
                        integrator: integrator.clone(),
                        ..Settings::default()
                    };
                    let dynamics = Dynamics::new(&mesh, &[model], &settings);
                    let mut x = rest.clone();
                    let mut v = vec![DVec3::ZERO; x.len()];
                    let mut tension = Vec::new();
                    let (mut largest, mut over): (f64, u32) = (0.0, 0);
                    for _ in 0..60 {
                        let dt = 1.0 / 60.0;
                        let end = dynamics.propose_touching(
                            &x,
                            &v,
                            [&rest, &rest],
                            0.0,
                            dt,
                            None,
                            &tension,
                        );
                        (x, v, tension) = (end.x, end.v, end.tension);
                        largest = largest.max(end.strain.largest);
                        over += end.strain.over;
                    }
                    // without the limit the same cloth stretches far more: the limit is what holds
                    // it; solves that end early hold it to a twentieth
                    match integrator {
                        Integrator::Newmark(_) => assert_eq!(over, 0, "{stretch:?}: {largest}"),
                        Integrator::Implicit(_) => {
                            assert!(
                                over < 10 && (largest < 0.105 || strain_limit > 1.0),
                                "{stretch:?}: {over}, {largest}"
                            );
                        }
                    }
                    assert_eq!(largest > 0.3, strain_limit > 1.0, "{largest}");
                }
            }
        }
    }

    #[test]
    fn limiting_keeps_the_centre_and_leaves_what_is_within_alone() {
        let (mesh, rest) = sheet(6);
        let dynamics = Dynamics::new(&mesh, &[cloth(&mesh, &rest, soft())], &Settings::default());
        let within: Vec<DVec3> = rest.iter().map(|&x| 1.09 * x).collect();
        let mut x = within.clone();
        let limited = dynamics.elements.limit_strain(
            dynamics.inverse_mass(),
            &mut x,
            &mut Looks::new(&dynamics.elements),
        );
        assert!(limited.holds && limited.met.is_empty());
        assert_eq!(x, within);
        let beyond: Vec<DVec3> = rest.iter().map(|&x| 1.3 * x).collect();
        let mut x = beyond.clone();
        let limited = dynamics.elements.limit_strain(
            dynamics.inverse_mass(),
            &mut x,
            &mut Looks::new(&dynamics.elements),
        );
        assert!(limited.holds && !limited.met.is_empty());
        assert_eq!(dynamics.strain(&x).over, 0);
        let centre = |x: &[DVec3]| {
            (0..x.len())
                .map(|i| dynamics.mass()[i] * x[i])
                .sum::<DVec3>()
        };
        assert!((centre(&x) - centre(&beyond)).length() < 1e-14);
    }

    #[test]
    fn a_stop_never_adds_kinetic_energy_and_ends_all_growth() {
        let (mesh, rest) = sheet(6);
        let dynamics = Dynamics::new(&mesh, &[cloth(&mesh, &rest, soft())], &Settings::default());
        let x: Vec<DVec3> = rest
            .iter()
            .map(|&x| x * DVec3::new(1.1, 1.0, 1.0))
            .collect();
        let all: Vec<u32> = (0..dynamics.elements.faces.len() as u32).collect();
        let start = shaken(&rest, 1.0, 20);
        let mut v = start.clone();
        let elements = &dynamics.elements;
        elements.stop_stretching(
            &all,
            dynamics.inverse_mass(),
            &x,
            &mut v,
            &mut Looks::new(elements),
        );
        let kinetic = |v: &[DVec3]| dynamics.energy(&x, v).kinetic;
        assert!(kinetic(&v) < 0.9 * kinetic(&start));
        let momentum = |v: &[DVec3]| {
            (0..v.len())
                .map(|i| dynamics.mass()[i] * v[i])
                .sum::<DVec3>()
        };
        assert!((momentum(&v) - momentum(&start)).length() < 1e-13);
        let h = 1e-6;
        let ahead: Vec<DVec3> = x.iter().zip(&v).map(|(x, v)| *x + h * *v).collect();
        let growth = (dynamics.strain(&ahead).largest - 0.1) / h;
        assert!(growth < 0.01, "{growth}");
    }

    #[test]
    fn a_script_that_stretches_is_reported() {
        let (mesh, rest) = sheet(4);
        let mut model = cloth(&mesh, &rest, soft());
        model.pinned = (0..25).filter(|v| v % 5 == 0 || v % 5 == 4).collect();
        let dynamics = Dynamics::new(&mesh, &[model], &Settings::default());
        let pulled: Vec<DVec3> = rest
            .iter()
            .map(|&x| DVec3::new(x.x, x.y, 1.5 * x.z))
            .collect();
        let v = vec![DVec3::ZERO; rest.len()];
        let end = dynamics.propose(&rest, &v, &pulled, 0.0, 1.0 / 60.0);
        assert!(
            end.strain.over > 0 && end.strain.largest > 0.3,
            "{:?}",
            end.strain
        );
        assert_eq!(end.strain, dynamics.strain(&end.x));
    }
}
