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
//! ends at [`Until`] of [`Volume::PAPER`]. It sees the impacts that all stages see, with their
//! separation.
//!
//! We differ, unless `form = "paper"`; what each is worth is in docs/measurements.md:
//! - Pressures push and never pull, and volumes may be larger than asked for: no sticking.
//! - The volume asked for is that of the thickness, or of the start gap if that is less: the rule of
//!   all stages. The paper's keeps two surfaces as far apart as they were when the interval began.
//! - The first step of a row has the gradient of its time of impact, where the tetrahedron is flat
//!   and its gradient the contact normal.
//! - Full steps, halved where they would make it worse; they end when all volumes are kept.
//! - Pairs stay on the list within a response. Pushed against each other, two of them cannot take
//!   turns.
//! - Edges that are parallel when they meet span nothing: they get the row of their contact point.
//! - Rows are scaled to a diagonal of ones.
//!
//! No friction, in either form: that is the repulsions' and the settling velocities' part.
//!
//! Guaranteed: linear momentum of free vertices, up to rounding. Kinetic energy does not grow to
//! first order in the interval; what the goal adds where it lies beyond the start is reported
//! ([`VolumeWork::goal_energy`]). Not guaranteed: that impacts run out. Volumes of one sign at both
//! ends do not exclude a meeting in between: only detection knows.

pub mod minres;
mod pushing;
pub mod system;
pub mod tetrahedron;

use std::collections::BTreeMap;

use glam::DVec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::minres::Until;
use self::pushing::Pushing;
use self::system::System;
use crate::geometry::{ContactPoint, Impact};
use crate::state::Candidate;

/// Settings of the volume stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Volume {
    /// Rounds of detection before the next stage takes over, 3 at most in the paper's form; 0 switches the stage off.
    pub max_rounds: u32,
    /// What is asked of the tetrahedra.
    pub form: VolumeForm,
}

/// What is asked of the tetrahedra between what meets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VolumeForm {
    /// Room for the thickness; pressures push and never pull: ours.
    #[default]
    Pushing,
    /// The volume that they had at the start, by three rounds of five damped Newton steps \[SMT08\].
    Paper,
}

impl Default for Volume {
    fn default() -> Self {
        Self {
            max_rounds: 20,
            form: VolumeForm::Pushing,
        }
    }
}

/// Rounds of detection of the paper, N.
const PAPER_ROUNDS: u32 = 3;

/// Newton steps between two rounds of detection, the paper's M.
const PAPER_STEPS: u32 = 5;

/// Share of a Newton step that is taken, the paper's γ.
const PAPER_SHARE: f64 = 0.3;

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
    /// Kinetic energy that pressures gave by asking for more volume than there was at the start, in
    /// joules: the work of the thickness.
    pub goal_energy: f64,
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
        self.goal_energy += more.goal_energy;
    }
}

/// What the stage remembers between rounds.
pub(super) struct Cushion {
    work: VolumeWork,
    pushing: Pushing,
    /// Of the paper's form: by the vertices of the pair, so that each counts once.
    pushed: BTreeMap<[u32; 4], ContactPoint>,
}

impl Cushion {
    pub(super) fn new() -> Self {
        Self {
            work: VolumeWork::default(),
            pushing: Pushing::default(),
            pushed: BTreeMap::new(),
        }
    }

    /// What the solves took.
    pub(super) fn work(&self) -> VolumeWork {
        self.work
    }

    /// Points with a pressure that pushed.
    pub(super) fn pushed(&self) -> Vec<ContactPoint> {
        let paper = self.pushed.values().copied();
        paper.chain(self.pushing.pushed()).collect()
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
    /// When solves end in the paper's form. The paper names the method only; a thousandth of the
    /// right side is below what 0.3 of a step leaves.
    pub const PAPER: Until = Until {
        tolerance: 1e-3,
        max_iterations: 300,
    };

    pub(super) fn rounds(&self) -> u32 {
        match self.form {
            VolumeForm::Pushing => self.max_rounds,
            VolumeForm::Paper => self.max_rounds.min(PAPER_ROUNDS),
        }
    }

    /// Changes end positions; returns the vertices that moved, ascending.
    pub(super) fn apply(
        &self,
        impacts: &[Impact],
        cushion: &mut Cushion,
        candidate: &mut Candidate<'_>,
    ) -> Vec<u32> {
        // in the order of the mesh: rows next to each other share vertices, and memory
        let mut impacts: Vec<&Impact> = impacts
            .iter()
            .filter(|impact| candidate.inverse_mass_of(&impact.point()) > 0.0)
            .collect();
        impacts.sort_unstable_by_key(|impact| impact.pair);
        let before = candidate.x.clone();
        match self.form {
            VolumeForm::Pushing => {
                let Cushion { pushing, work, .. } = cushion;
                pushing.apply(&impacts, candidate, work);
            }
            VolumeForm::Paper => as_printed(&impacts, cushion, candidate),
        }
        let moved = before.iter().zip(&candidate.x).enumerate();
        moved
            .filter_map(|(v, (a, b))| (a != b).then_some(v as u32))
            .collect()
    }
}

/// The inner loop of Table 1.
fn as_printed(impacts: &[&Impact], cushion: &mut Cushion, candidate: &mut Candidate<'_>) {
    let each = impacts.iter().map(|impact| Cell::of(impact, candidate));
    let cells: Vec<Cell> = each.collect();
    let (vertices, rows) = numbered(cells.iter().map(|cell| cell.vertices));
    let mut system = System::new(rows, mobility(&vertices, candidate.inverse_mass));
    for _ in 0..PAPER_STEPS {
        let x = &candidate.x;
        system.set(|row| (cells[row].gradient(x), 1.0));
        let lack = cells.iter().map(|cell| cell.goal - cell.volume(x));
        let lack: Vec<f64> = lack.collect();
        let solved = minres::solve(&system, &lack, &Volume::PAPER);
        cushion.work.add(cells.len(), &solved);
        let step = system.displacement(&solved.x);
        if step.iter().any(|step| !step.is_finite()) {
            break; // what is left is judged by others
        }
        for (&v, step) in vertices.iter().zip(&step) {
            candidate.x[v as usize] += PAPER_SHARE * step;
        }
        for (impact, p) in impacts.iter().zip(&solved.x) {
            if *p > 0.0 {
                cushion.pushed.insert(impact.vertices, impact.point());
            }
        }
    }
}
