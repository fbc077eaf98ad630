//! All impacts at once: the tetrahedra between what meets keep their volume, as if a fluid lay
//! between the surfaces.
//!
//! Each pair in impact spans a tetrahedron. A pressure p in each pushes its four vertices, and all
//! pressures together are found such that every tetrahedron has the volume that it is to have: one
//! coupled system for a whole pile. Source: \[SMT08\], Table 1.
//!
//! ```text
//! Fᵀ M⁻¹ F (p Δt) = V_goal − V(x*)        Δx = M⁻¹ F (p Δt)        F = (∂V/∂x)ᵀ at x*
//! paper    V_goal = V(x⁰);  N = 3 rounds of detection, M = 5 steps each, 0.3 of every step
//! ```
//!
//! | paper | here |
//! |---|---|
//! | xⁿ, x*ⁿ⁺¹ | `start`, `x` |
//! | p Δt, in kg/m | pressures |
//! | Vⱼ, F column j | [`tetrahedron::volume`], [`tetrahedron::gradient`], with the sign at the start |
//!
//! The paper's form differs from the paper in what its print leaves open or has wrong: tetrahedra
//! are never re-oriented at x*; Table 1 prints x*ⁿ for xⁿ; the system is semi-definite, and MINRES
//! ends as [`Recipe::PAPER`] says. It sees the impacts that all stages see, with their
//! separation.
//!
//! We differ, unless `form = "paper"`; what each is worth is in docs/measurements.md:
//! - Detection goes on until nothing meets, as long as there are rounds; three are not enough for
//!   what is pressed.
//! - Rows are scaled to a diagonal of ones: a quarter fewer iterations.
//! - Edges that are parallel when they meet span nothing: they get the row of their contact point.
//!
//! Tried and not taken, since fewer piles are resolved: pressures that only push; that with the
//! thickness in place of the volume at the start, and with pairs that stay on the list. To keep all
//! volumes of a pile is what makes its pressures fit together.
//!
//! No friction, in either form: that is the repulsions' and the settling velocities' part.
//!
//! Guaranteed: linear momentum of free vertices, up to rounding. Kinetic energy does not grow to
//! first order in the interval. Not guaranteed: that impacts run out. Volumes of one sign at both
//! ends do not exclude a meeting in between: only detection knows.

pub mod minres;
mod rows;
pub mod system;
pub mod tetrahedron;

use std::collections::BTreeMap;

use glam::DVec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::minres::Until;
use self::rows::Row;
use self::system::System;
use crate::geometry::{ContactPoint, Impact, Pair};
use crate::state::Candidate;

/// Settings of the volume stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Volume {
    /// Rounds of detection before the next stage takes over, 3 at most in the paper's form; 0 switches the stage off.
    pub max_rounds: u32,
    /// How it is done.
    pub form: VolumeForm,
    /// How, in place of what the form says. Not a key of scenes: for measurements of what each part is worth.
    #[serde(skip)]
    pub recipe: Option<Recipe>,
}

/// How the volumes between what meets are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VolumeForm {
    /// Until nothing meets, with scaled rows, and contact points where edges are parallel: ours.
    #[default]
    Repeated,
    /// Three rounds of five damped Newton steps \[SMT08\].
    Paper,
}

impl Default for Volume {
    fn default() -> Self {
        Self {
            max_rounds: 20,
            form: VolumeForm::Repeated,
            recipe: None,
        }
    }
}

/// How pressures are found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recipe {
    /// Rounds of detection, at most: the paper's N.
    pub rounds: u32,
    /// Newton steps between two of them: the paper's M.
    pub steps: u32,
    /// Share of a Newton step that is taken: the paper's γ.
    pub share: f64,
    /// When a solve ends.
    pub until: Until,
    /// Whether rows are scaled to a diagonal of ones.
    pub is_scaled: bool,
    /// Whether edges that are parallel when they meet get the row of their contact point.
    pub minds_parallel: bool,
}

impl Recipe {
    /// Table 1 of \[SMT08\], and nothing else. The paper does not say when MINRES ends: further on, pressures of rows that contradict each
    /// other grow without end, and cloth is thrown about (docs/measurements.md).
    pub const PAPER: Self = Self {
        rounds: 3,
        steps: 5,
        share: 0.3,
        until: Until {
            tolerance: 1e-3,
            max_iterations: 300,
        },
        is_scaled: false,
        minds_parallel: false,
    };

    /// What measures best.
    pub const REPEATED: Self = Self {
        rounds: u32::MAX,
        is_scaled: true,
        minds_parallel: true,
        ..Self::PAPER
    };
}

/// What the solves of a stage took, for reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct VolumeWork {
    /// Linear systems.
    pub solves: usize,
    /// Iterations of all of them.
    pub iterations: u64,
    /// Tetrahedra times iterations, summed: what the solves cost.
    pub row_iterations: u64,
    /// Systems whose iterations ran out first.
    pub unfinished: usize,
    /// Largest residual at the end of a solve, as a share of its right side.
    pub largest_residual: f64,
    /// Most tetrahedra in one system.
    pub most_rows: usize,
}

impl VolumeWork {
    fn add(&mut self, rows: usize, solved: &minres::Solved) {
        self.solves += 1;
        self.iterations += u64::from(solved.iterations());
        self.row_iterations += rows as u64 * u64::from(solved.iterations());
        self.unfinished += usize::from(!solved.converged);
        self.largest_residual = self.largest_residual.max(solved.residual());
        self.most_rows = self.most_rows.max(rows);
    }
}

impl std::ops::AddAssign for VolumeWork {
    fn add_assign(&mut self, more: Self) {
        self.solves += more.solves;
        self.iterations += more.iterations;
        self.row_iterations += more.row_iterations;
        self.unfinished += more.unfinished;
        self.largest_residual = self.largest_residual.max(more.largest_residual);
        self.most_rows = self.most_rows.max(more.most_rows);
    }
}

/// What the stage remembers between rounds.
#[derive(Default)]
pub(super) struct Cushion {
    work: VolumeWork,
    /// Points with a pressure that pushed.
    pushed: BTreeMap<Pair, ContactPoint>,
}

impl Cushion {
    /// What the solves took.
    pub(super) fn work(&self) -> VolumeWork {
        self.work
    }

    /// Points with a pressure that pushed.
    pub(super) fn pushed(&self) -> impl Iterator<Item = ContactPoint> {
        self.pushed.values().copied()
    }
}

/// A tetrahedron with the volume that it is to have.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    /// Its vertices, in the order of the pair.
    pub vertices: [u32; 4],
    /// ±1, such that the volume at the start is positive.
    pub sign: f64,
    /// Volume that it is to have, in m³.
    pub goal: f64,
}

impl Cell {
    /// Of a pair in impact, with the volume that it had at the start.
    pub fn of(impact: &Impact, candidate: &Candidate<'_>) -> Self {
        let start = impact
            .vertices
            .map(|v| candidate.start.positions()[v as usize]);
        let sign = match tetrahedron::orientation(start) {
            0.0 => opening_sign(impact, candidate),
            sign => sign,
        };
        Self {
            vertices: impact.vertices,
            sign,
            goal: sign * tetrahedron::volume(start),
        }
    }

    fn at(&self, x: &[DVec3]) -> [DVec3; 4] {
        self.vertices.map(|v| x[v as usize])
    }

    /// Volume, in m³, negative where it is inverted.
    pub fn volume(&self, x: &[DVec3]) -> f64 {
        self.sign * tetrahedron::volume(self.at(x))
    }

    /// Its derivative, in m².
    pub fn gradient(&self, x: &[DVec3]) -> [DVec3; 4] {
        tetrahedron::gradient(self.at(x)).map(|g| self.sign * g)
    }
}

/// The sign of a tetrahedron that is flat at the start: to open the contact makes it larger.
fn opening_sign(impact: &Impact, candidate: &Candidate<'_>) -> f64 {
    let x = at_impact(impact, candidate);
    let opening = tetrahedron::gradient(x).into_iter().zip(impact.weights);
    let opening: f64 = opening.map(|(g, w)| w * g.dot(impact.normal)).sum();
    if opening < 0.0 { -1.0 } else { 1.0 }
}

/// Where the four vertices are when they meet.
fn at_impact(impact: &Impact, candidate: &Candidate<'_>) -> [DVec3; 4] {
    let (start, t) = (candidate.start.positions(), impact.time);
    impact.vertices.map(|v| {
        let v = v as usize;
        start[v] * (1.0 - t) + candidate.x[v] * t
    })
}

/// The vertices of some rows, ascending, and the rows in their numbers.
fn numbered(rows: impl Iterator<Item = [u32; 4]> + Clone) -> (Vec<u32>, Vec<[u32; 4]>) {
    let mut vertices: Vec<u32> = rows.clone().flatten().collect();
    vertices.sort_unstable();
    vertices.dedup();
    let local = |v: u32| {
        let place = vertices.binary_search(&v);
        place.expect("all vertices of all rows are listed") as u32
    };
    let rows = rows.map(|row| row.map(local)).collect();
    (vertices, rows)
}

/// √(1/m) of vertices.
fn mobility(vertices: &[u32], inverse_mass: &[f64]) -> Vec<f64> {
    let each = vertices.iter().map(|&v| inverse_mass[v as usize].sqrt());
    each.collect()
}

impl Volume {
    fn recipe(&self) -> Recipe {
        let of_form = match self.form {
            VolumeForm::Repeated => Recipe::REPEATED,
            VolumeForm::Paper => Recipe::PAPER,
        };
        self.recipe.unwrap_or(of_form)
    }

    pub(super) fn rounds(&self) -> u32 {
        self.max_rounds.min(self.recipe().rounds)
    }

    /// Changes end positions; returns the vertices that moved, ascending.
    pub(super) fn apply(
        &self,
        impacts: &[Impact],
        cushion: &mut Cushion,
        candidate: &mut Candidate<'_>,
    ) -> Vec<u32> {
        let recipe = self.recipe();
        // in the order of the mesh: rows next to each other share vertices, and memory
        let mut impacts: Vec<&Impact> = impacts
            .iter()
            .filter(|impact| candidate.inverse_mass_of(&impact.point()) > 0.0)
            .collect();
        impacts.sort_unstable_by_key(|impact| impact.pair);
        let rows = impacts.iter();
        let rows: Vec<Row> = rows.map(|i| Row::of(i, &recipe, candidate)).collect();
        let (vertices, four) = numbered(rows.iter().map(Row::vertices));
        let mut system = System::new(four, mobility(&vertices, candidate.inverse_mass));
        let before: Vec<DVec3> = vertices.iter().map(|&v| candidate.x[v as usize]).collect();
        for _ in 0..recipe.steps {
            let solved = recipe.step(&rows, &mut system, &candidate.x);
            cushion.work.add(rows.len(), &solved);
            let step = system.displacement(&solved.x);
            if step.iter().any(|step| !step.is_finite()) {
                break; // what is left is judged by others
            }
            for (&v, step) in vertices.iter().zip(&step) {
                candidate.x[v as usize] += recipe.share * step;
            }
            for (impact, p) in impacts.iter().zip(&solved.x) {
                if *p > 0.0 {
                    cushion.pushed.insert(impact.pair, impact.point());
                }
            }
        }
        let moved = vertices.iter().zip(&before);
        moved
            .filter_map(|(&v, x)| (candidate.x[v as usize] != *x).then_some(v))
            .collect()
    }
}

impl Recipe {
    /// The pressures of one Newton step, for a system of the same rows.
    fn step(&self, rows: &[Row], system: &mut System, x: &[DVec3]) -> minres::Solved {
        let mut scale = vec![1.0; rows.len()];
        system.set(|i| (rows[i].gradient(x), 1.0));
        if self.is_scaled {
            for (i, scale) in scale.iter_mut().enumerate() {
                let diagonal = system.diagonal(i);
                *scale = match diagonal > 0.0 {
                    true => diagonal.sqrt().recip(),
                    false => 0.0, // four points in one place: nothing can be said of them
                };
            }
            system.set(|i| (rows[i].gradient(x), scale[i]));
        }
        let lack = rows.iter().zip(&scale);
        let lack: Vec<f64> = lack.map(|(row, s)| s * row.defect(x)).collect();
        minres::solve(system, &lack, &self.until)
    }
}
