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
//! What it cannot do, and why our form differs; docs/measurements.md, "Volume", has the figures:
//! - "Guarantees the resolution of all collisions when satisfied" does not hold: a pair may meet and have
//!   its volume back at the end. The stage then has nothing to do, and the pair meets for ever.
//! - Equations that are linear at x* need not agree where the motion is as long as the edges; steps become
//!   long, and make pairs meet that did not.
//! - The row of a triangle as large as a floor outweighs all others: MINRES is content with it.
//!
//! We differ, unless `form = "paper"`:
//! - The gradient is the mean along the motion, [`tetrahedron::mean_gradient`]. Then the rows never
//!   contradict each other, wherever the motion ends: to stay at the start solves them all.
//! - Pressures only push, and a pair may come as near as the thickness if it was not nearer: the mean
//!   velocity is projected onto a convex set that contains rest, so solved exactly it gains no energy.
//! - Rows are scaled to a diagonal of ones.
//! - Where the volume says nothing of the meeting - it has its sign at the end, or does not change
//!   where the contact opens - the row is that of the contact point.
//! - One whole step between two looks, solved to a tenth in the first rounds, and looks until nothing meets.
//!
//! Tried and not taken: pairs that stay on the list once they have met, which multiplies the rows; two
//! steps between looks and tight solves, which hold more than they have to.
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
    /// Until nothing meets, with gradients along the motion, and contact points where volumes say nothing: ours.
    #[default]
    Secant,
    /// Three rounds of five damped Newton steps \[SMT08\].
    Paper,
}

impl Default for Volume {
    fn default() -> Self {
        Self {
            max_rounds: 20,
            form: VolumeForm::Secant,
            recipe: None,
        }
    }
}

/// Solves of one step in which rows that pull are left out, at most.
const TRIES: u32 = 5;

/// How pressures are found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recipe {
    /// Rounds of detection, at most: the paper's N.
    pub rounds: u32,
    /// Newton steps between two of them: the paper's M.
    pub steps: u32,
    /// Share of a Newton step that is taken: the paper's γ.
    pub share: f64,
    /// When a solve ends, in the first rounds.
    pub until: Until,
    /// When a solve ends in the later ones, which are left a pile.
    pub later: Until,
    /// Whether rows are scaled to a diagonal of ones.
    pub is_scaled: bool,
    /// Where the volumes' gradient is taken.
    pub gradient: Gradient,
    /// Whether pairs of whose meeting the volume says nothing get the row of their contact point.
    pub minds_blind: bool,
    /// Whether pressures only push, and volumes may grow.
    pub only_pushes: bool,
    /// Whether pairs may come as near as the thickness, if they were not nearer at the start.
    pub to_thickness: bool,
}

/// Where the gradient of the volumes is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gradient {
    /// Where the motion ends: Newton's.
    AtEnd,
    /// The mean along the motion: [`tetrahedron::mean_gradient`].
    Mean,
}

/// Rounds of rough solves: what is scattered is resolved by then, and what is left is a pile.
const ROUGH: u32 = 5;

const TIGHT: Until = Until {
    tolerance: 1e-3,
    max_iterations: 300,
};

impl Recipe {
    /// Table 1 of \[SMT08\], and nothing else. The paper does not say when MINRES ends: further on, pressures of rows that contradict each
    /// other grow without end, and cloth is thrown about (docs/measurements.md).
    pub const PAPER: Self = Self {
        rounds: 3,
        steps: 5,
        share: 0.3,
        until: TIGHT,
        later: TIGHT,
        is_scaled: false,
        gradient: Gradient::AtEnd,
        minds_blind: false,
        only_pushes: false,
        to_thickness: false,
    };

    /// What measures best: rough solves, each from a new look at the motion, and tight ones for what they leave.
    pub const SECANT: Self = Self {
        rounds: u32::MAX,
        steps: 1,
        share: 1.0,
        until: Until {
            tolerance: 0.1,
            max_iterations: 50,
        },
        later: TIGHT,
        is_scaled: true,
        gradient: Gradient::Mean,
        minds_blind: true,
        only_pushes: true,
        to_thickness: true,
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
    /// Energy of the mean motion that single steps put in, summed over those that did, in joules; what
    /// scripted vertices push is part of it.
    pub energy_added: f64,
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
        self.energy_added += more.energy_added;
    }
}

/// What the stage remembers between rounds.
#[derive(Default)]
pub(super) struct Cushion {
    work: VolumeWork,
    /// Rounds so far.
    rounds: u32,
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
    /// Its corners at the start, in metres.
    pub start: [DVec3; 4],
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
            start,
            goal: sign * tetrahedron::volume(start),
        }
    }

    /// Its corners, in metres.
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

    /// Its derivative between start and end, in m².
    pub fn mean_gradient(&self, x: &[DVec3]) -> [DVec3; 4] {
        tetrahedron::mean_gradient(self.start, self.at(x)).map(|g| self.sign * g)
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
            VolumeForm::Secant => Recipe::SECANT,
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
        let mut recipe = self.recipe();
        if cushion.rounds >= ROUGH {
            recipe.until = recipe.later;
        }
        cushion.rounds += 1;
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
            let p = recipe.step(&rows, &mut system, &candidate.x, &mut cushion.work);
            let step = system.displacement(&p);
            if step.iter().any(|step| !step.is_finite()) {
                break; // what is left is judged by others
            }
            let mut added = 0.0;
            for (&v, step) in vertices.iter().zip(&step) {
                let (v, step) = (v as usize, recipe.share * *step);
                let way = candidate.x[v] - candidate.start.positions()[v];
                if candidate.inverse_mass[v] > 0.0 {
                    added += step.dot(way + 0.5 * step) / candidate.inverse_mass[v];
                }
                candidate.x[v] += step;
            }
            cushion.work.energy_added += added.max(0.0) / (candidate.dt * candidate.dt);
            for (impact, p) in impacts.iter().zip(&p) {
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
    ///
    /// Where they only push, rows that have enough take no part, and those that would pull are left out, a few times; what is
    /// still negative after that is nothing.
    fn step(
        &self,
        rows: &[Row],
        system: &mut System,
        x: &[DVec3],
        work: &mut VolumeWork,
    ) -> Vec<f64> {
        let lack: Vec<f64> = rows.iter().map(|row| row.defect(x)).collect();
        let mut scale = vec![1.0; rows.len()];
        system.set(|i| (rows[i].gradient(x), 1.0));
        for (i, scale) in scale.iter_mut().enumerate() {
            let diagonal = system.diagonal(i);
            *scale = match diagonal > 0.0 && (!self.only_pushes || lack[i] > 0.0) {
                true if self.is_scaled => diagonal.sqrt().recip(),
                true => 1.0,
                false => 0.0, // four points in one place, about which nothing can be said; or nothing to be done
            };
        }
        let mut tries = if self.only_pushes { TRIES } else { 1 };
        loop {
            system.set(|i| (rows[i].gradient(x), scale[i]));
            let right: Vec<f64> = lack.iter().zip(&scale).map(|(l, s)| s * l).collect();
            let mut solved = minres::solve(system, &right, &self.until);
            work.add(rows.len(), &solved);
            tries -= 1;
            let pulls = solved.x.iter().any(|p| *p < 0.0);
            if !self.only_pushes || !pulls || tries == 0 {
                if self.only_pushes {
                    solved.x.iter_mut().for_each(|p| *p = p.max(0.0));
                }
                return solved.x;
            }
            for (scale, p) in scale.iter_mut().zip(&solved.x) {
                if *p < 0.0 {
                    *scale = 0.0;
                }
            }
        }
    }
}
