//! **Implicit Euler** for large steps: all forces at the end of the step.
//!
//! ```text
//! M (v₁ − v₀) = dt f(x₁) − dt D v₁,     x₁ = x₀ + dt v₁
//! ```
//!
//! The first Newton step, linearised at x₀, is the method of Baraff and Witkin \[BW98\]:
//!
//! ```text
//! (M + dt D + dt² K) v₁ = M v₀ + dt f(x₀)
//! ```
//!
//! with the stiffness K = −∂f/∂x projected to positive semi-definite, so that the matrix is
//! positive definite for any step. Further Newton steps are taken as asked, each shortened until it
//! descends in
//!
//! ```text
//! Φ(v) = ½ (v − v₀)ᵀ M (v − v₀) + U(x₀ + dt v) + ½ dt vᵀ D v,
//! ```
//!
//! whose minimum is the step. D (damping of the elements, drag of the air) is that of x₀. The step
//! is first order and damps what it does not resolve; in free fall velocities are exact and
//! positions ½ g dt per unit of time ahead.

use std::time::Instant;

use glam::{DMat3, DVec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bend::Bent;
use super::damping::Dampers;
use super::integrator::{Advance, Start, System};
use super::solve::{BlockMatrix, ConjugateGradients, Stop, dot, norm};
use super::strain::Looks;
use super::stretch::Weights;
use crate::touch::TouchWork;

/// Implicit Euler.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ImplicitEuler {
    /// A linear solve, and Newton's method, stop when the residual has fallen by this factor (against that of
    /// unchanged velocities), above 0 and below 1. Not a key of scenes: for tests of laws that hold exactly.
    #[serde(skip)]
    pub tolerance: f64,
    /// Newton steps at most, at least 1: 1 is the linearly implicit method \[BW98\]. Not a key of scenes either.
    #[serde(skip)]
    pub max_newton: u32,
}

impl Default for ImplicitEuler {
    fn default() -> Self {
        Self {
            tolerance: 1e-3,
            max_newton: 1,
        }
    }
}

/// A linear solve stops after this many iterations: a bound that keeps one solve from stalling a run.
const MAX_ITERATIONS: u32 = 1000;
/// How often a step is halved for the strain limit.
const MAX_HALVINGS: u32 = 2;
/// Newton steps that harden what is above the strain limit.
const MAX_HARDENINGS: u32 = 2;
/// Shortest share of a Newton step that is tried before the last state is kept.
const SHORTEST_STEP: f64 = 1.0 / 64.0;
/// Share of the descent promised by the slope that a step must bring \[NW06\] §3.1.
const ENOUGH_DESCENT: f64 = 1e-4;

impl ImplicitEuler {
    /// Advances in one step, or in two halves where the strain limit asks for it.
    pub(super) fn advance(&self, system: &System<'_>, start: Start<'_>) -> Advance {
        self.advance_within_limit(system, start, MAX_HALVINGS)
    }

    fn advance_within_limit(
        &self,
        system: &System<'_>,
        start: Start<'_>,
        halvings: u32,
    ) -> Advance {
        let mut step = Step::new(self, system, start);
        step.linear();
        for _ in 1..self.max_newton {
            if !step.newton() {
                break;
            }
        }
        let mut holds = step.limit();
        for _ in 0..MAX_HARDENINGS {
            if holds {
                break;
            }
            step.harden();
            holds = step.limit();
        }
        if holds || halvings == 0 {
            return step.end(1);
        }
        let dt = 0.5 * start.dt;
        let middle: Vec<DVec3> = (start.x.iter().zip(start.target))
            .map(|(from, to)| 0.5 * (*from + *to))
            .collect();
        let first = Start {
            target: &middle,
            dt,
            ..start
        };
        let first = self.advance_within_limit(system, first, halvings - 1);
        let second = Start {
            x: &first.x,
            v: &first.v,
            time: start.time + dt,
            dt,
            ..start
        };
        let second = self.advance_within_limit(system, second, halvings - 1);
        Advance {
            loops: first.loops + second.loops,
            iterations: step.iterations + first.iterations + second.iterations,
            assembly_ms: step.assembly_ms + first.assembly_ms + second.assembly_ms,
            solve_ms: step.solve_ms + first.solve_ms + second.solve_ms,
            ..second
        }
    }
}

/// A step under way.
struct Step<'a> {
    settings: &'a ImplicitEuler,
    system: &'a System<'a>,
    start: Start<'a>,
    fixed: Vec<bool>,
    /// At the start of the step.
    dampers: Dampers<'a>,
    x: Vec<DVec3>,
    v: Vec<DVec3>,
    /// State that meets the strain limit, once that was asked for.
    limited: Option<(Vec<DVec3>, Vec<DVec3>)>,
    /// Faces that are hardened for the strain limit.
    hard: Vec<u32>,
    /// Norm of the residual of unchanged velocities.
    scale: f64,
    matrix: BlockMatrix,
    gradients: ConjugateGradients,
    iterations: u32,
    assembly_ms: f64,
    solve_ms: f64,
}

impl<'a> Step<'a> {
    fn new(settings: &'a ImplicitEuler, system: &'a System<'a>, start: Start<'a>) -> Self {
        let mut dampers = Dampers::default();
        // the matrix holds the damping of the elements
        system.outer_dampers(start.x, start.v, start.time, &mut dampers);
        Self {
            settings,
            system,
            start,
            fixed: system.inverse_mass.iter().map(|&w| w == 0.0).collect(),
            dampers,
            x: start.x.to_vec(),
            v: system.scripted_velocities(&start),
            limited: None,
            hard: system.elements.near_limit(start.x),
            scale: 0.0,
            matrix: BlockMatrix::default(),
            gradients: ConjugateGradients::default(),
            iterations: 0,
            assembly_ms: 0.0,
            solve_ms: 0.0,
        }
    }

    /// M + dt D + dt² K at the present x, and its preconditioner.
    fn assemble(&mut self) {
        let clock = Instant::now();
        let system = self.system;
        let (elements, dt) = (system.elements, self.start.dt);
        let weights = Weights {
            stiffness: dt * dt,
            damping: dt,
        };
        self.matrix.reset(&elements.pattern);
        for (node, &mass) in system.mass.iter().enumerate() {
            let block = DMat3::from_diagonal(DVec3::splat(mass));
            self.matrix.add_diagonal(node as u32, block);
        }
        elements.add_matrix(&self.x, weights, &mut self.matrix);
        let end = self.start.time + dt;
        let drag = &self.dampers.drag;
        elements.add_outer_matrix(&self.x, end, drag, weights, &mut self.matrix);
        elements.add_hard_matrix(&self.hard, &self.x, dt * dt, &mut self.matrix);
        self.assembly_ms += milliseconds(clock);
        let clock = Instant::now();
        self.gradients
            .prepare(&self.matrix, &elements.pattern, system.hierarchy);
        self.solve_ms += milliseconds(clock);
    }

    /// All forces but damping at the present x.
    fn force(&self, f: &mut Vec<DVec3>) {
        let mut bent = Bent::default();
        self.system.elements.bending.measure(&self.x, &mut bent);
        self.system
            .force(&self.start, 1.0, &self.x, &self.dampers, &bent, f);
        self.system.elements.add_hard_force(&self.hard, &self.x, f);
    }

    /// Solves for an improvement of `unknown`, whose residual is `r`.
    fn solve(&mut self, unknown: &mut [DVec3], r: &mut [DVec3]) {
        let clock = Instant::now();
        let stop = Stop {
            residual: self.settings.tolerance * self.scale,
            max_iterations: MAX_ITERATIONS,
        };
        let system = self.system;
        let system = (&self.matrix, &system.elements.pattern, system.hierarchy);
        self.iterations += self.gradients.run(system, &self.fixed, unknown, r, stop);
        self.solve_ms += milliseconds(clock);
    }

    /// The linearly implicit step.
    fn linear(&mut self) {
        self.assemble();
        let (system, dt) = (self.system, self.start.dt);
        let mut f = Vec::new();
        self.force(&mut f);
        let mut v = std::mem::take(&mut self.v);
        let mut r = vec![DVec3::ZERO; v.len()];
        self.matrix.multiply(&system.elements.pattern, &v, &mut r);
        for (i, r) in r.iter_mut().enumerate() {
            *r = match self.fixed[i] {
                true => DVec3::ZERO,
                false => system.mass[i] * self.start.v[i] + dt * f[i] - *r,
            };
        }
        self.scale = norm(&r);
        self.fall(&mut v, &mut r);
        self.solve(&mut v, &mut r);
        self.v = v;
        self.x = self.positions(&self.v);
    }

    /// The best step along free fall, before all others: where nothing holds the cloth it is the
    /// solution.
    fn fall(&self, v: &mut [DVec3], r: &mut [DVec3]) {
        let fall = self.start.dt * self.system.gravity;
        let direction: Vec<DVec3> = (self.fixed.iter())
            .map(|&fixed| if fixed { DVec3::ZERO } else { fall })
            .collect();
        let mut product = vec![DVec3::ZERO; v.len()];
        let pattern = &self.system.elements.pattern;
        self.matrix.multiply(pattern, &direction, &mut product);
        let curvature = dot(&direction, &product);
        if curvature == 0.0 {
            return; // no gravity
        }
        let share = dot(&direction, r) / curvature;
        for i in 0..r.len() {
            if !self.fixed[i] {
                v[i] += share * direction[i];
                r[i] -= share * product[i];
            }
        }
    }

    /// Brings the end within the strain limit, if it can; says whether it could.
    fn limit(&mut self) -> bool {
        let (elements, inverse_mass) = (self.system.elements, self.system.inverse_mass);
        let mut x = self.x.clone();
        let mut looks = Looks::new(elements);
        let limited = elements.limit_strain(inverse_mass, &mut x, &mut looks);
        if !limited.met.is_empty() {
            let ends = x.iter().zip(self.start.x);
            let mut v = ends
                .map(|(x, from)| (*x - *from) / self.start.dt)
                .collect::<Vec<_>>();
            elements.stop_stretching(&limited.met, inverse_mass, &x, &mut v, &mut looks);
            self.limited = Some((x, v));
        }
        limited.holds
    }

    /// A Newton step in which all faces above the strain limit are hard.
    fn harden(&mut self) {
        let elements = self.system.elements;
        self.hard.extend(elements.near_limit(&self.x));
        self.hard.sort_unstable();
        self.hard.dedup();
        self.newton();
    }

    /// The end of the step.
    fn end(self, loops: u32) -> Advance {
        let (x, v) = self.limited.unwrap_or((self.x, self.v));
        Advance {
            x,
            v,
            loops,
            iterations: self.iterations,
            assembly_ms: self.assembly_ms,
            solve_ms: self.solve_ms,
            contact: TouchWork::default(),
        }
    }

    /// One more Newton step; `false` if none was needed, or none descends.
    fn newton(&mut self) -> bool {
        let (system, dt) = (self.system, self.start.dt);
        if self.dampers.bent.is_empty() {
            let start = &self.start;
            system.dampers(start.x, start.v, start.time, &mut self.dampers);
        }
        let mut f = Vec::new();
        self.force(&mut f);
        // −∂Φ/∂v = dt f − M (v − v₀) − dt D v
        let mut r: Vec<DVec3> = (0..f.len())
            .map(|i| dt * f[i] - system.mass[i] * (self.v[i] - self.start.v[i]))
            .collect();
        self.dampers.add_product(-dt, &self.v, &mut r);
        for (r, &fixed) in r.iter_mut().zip(&self.fixed) {
            if fixed {
                *r = DVec3::ZERO;
            }
        }
        if norm(&r) <= self.settings.tolerance * self.scale {
            return false;
        }
        self.assemble();
        let slope = r.clone();
        let mut step = vec![DVec3::ZERO; r.len()];
        self.solve(&mut step, &mut r);
        let promised = dot(&slope, &step);
        let before = self.potential(&self.x, &self.v);
        let mut share = 1.0;
        while share >= SHORTEST_STEP {
            let v: Vec<DVec3> = (self.v.iter().zip(&step))
                .map(|(v, step)| *v + share * *step)
                .collect();
            let x = self.positions(&v);
            if self.potential(&x, &v) <= before - ENOUGH_DESCENT * share * promised {
                (self.x, self.v) = (x, v);
                return true;
            }
            share *= 0.5;
        }
        false
    }

    fn positions(&self, v: &[DVec3]) -> Vec<DVec3> {
        (0..v.len())
            .map(|i| match self.fixed[i] {
                true => self.start.target[i],
                false => self.start.x[i] + self.start.dt * v[i],
            })
            .collect()
    }

    /// Φ, with the potentials of gravity and wind.
    fn potential(&self, x: &[DVec3], v: &[DVec3]) -> f64 {
        let (system, dt) = (self.system, self.start.dt);
        let mut drag = vec![DVec3::ZERO; v.len()];
        self.dampers.add_product(0.5 * dt, v, &mut drag);
        let mut push = Vec::new();
        system.constant_force(&self.dampers, &mut push);
        let mut sum = system.energy(&self.start, 1.0, x);
        sum += system.elements.hard_energy(&self.hard, x);
        for i in 0..v.len() {
            let change = v[i] - self.start.v[i];
            sum += 0.5 * system.mass[i] * change.length_squared();
            sum += (drag[i] - dt * push[i]).dot(v[i]);
        }
        sum
    }
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}
