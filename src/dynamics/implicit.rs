//! **Implicit Euler** for large steps: all forces at the end of the step.
//!
//! ```text
//! M (v₁ − v₀) = dt f(x₁) − dt D v₁,     x₁ = x₀ + dt v₁
//! ```
//!
//! The first Newton step, linearised at x₀, is the method of Baraff and Witkin [BW98]:
//!
//! ```text
//! (M + dt D + dt² K) v₁ = M v₀ + dt f(x₀)
//! ```
//!
//! with the stiffness K = −∂f/∂x projected to positive semi-definite, so that the matrix is positive definite for any
//! step. Further Newton steps are taken as asked, each shortened until it descends. D (damping of the elements, drag of
//! the air) is that of x₀. The step is first order, and damps what it does not resolve; free fall ends ½ g dt t ahead
//! of the exact place, as implicit Euler does, with exact velocity.

use std::time::Instant;

use glam::{DMat3, DVec3};
use serde::{Deserialize, Serialize};

use super::damping::Dampers;
use super::integrator::{Advance, Start, System};
use super::solve::{BlockMatrix, ConjugateGradients, dot, norm};
use super::stretch::Weights;

/// Implicit Euler.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ImplicitEuler {
    /// A linear solve stops when its residual has fallen by this factor (against the residual of unchanged velocities).
    pub tolerance: f64,
    /// A linear solve stops after this many iterations.
    pub max_iterations: u32,
    /// Newton steps; 1 is the linearly implicit method.
    pub max_newton: u32,
}

impl Default for ImplicitEuler {
    fn default() -> Self {
        Self {
            tolerance: 1e-3,
            max_iterations: 1000,
            max_newton: 1,
        }
    }
}

/// Shortest share of a Newton step that is tried before the last state is kept.
const SHORTEST_STEP: f64 = 1.0 / 64.0;

impl ImplicitEuler {
    /// Advances in one step.
    pub(super) fn advance(&self, system: &System<'_>, start: Start<'_>) -> Advance {
        let mut step = Step::new(self, system, start);
        step.linear();
        for _ in 1..self.max_newton {
            if !step.newton() {
                break;
            }
        }
        Advance {
            x: step.x,
            v: step.v,
            loops: 1,
            iterations: step.iterations,
            assembly_ms: step.assembly_ms,
            solve_ms: step.solve_ms,
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
    dampers: Dampers,
    x: Vec<DVec3>,
    v: Vec<DVec3>,
    /// Norm of the residual of unchanged velocities.
    scale: f64,
    matrix: BlockMatrix,
    iterations: u32,
    assembly_ms: f64,
    solve_ms: f64,
}

impl<'a> Step<'a> {
    fn new(settings: &'a ImplicitEuler, system: &'a System<'a>, start: Start<'a>) -> Self {
        let mut dampers = Dampers::default();
        system.drag(start.x, start.v, start.time, &mut dampers);
        Self {
            settings,
            system,
            start,
            fixed: system.inverse_mass.iter().map(|&w| w == 0.0).collect(),
            dampers,
            x: start.x.to_vec(),
            v: system.scripted_velocities(&start),
            scale: 0.0,
            matrix: BlockMatrix::default(),
            iterations: 0,
            assembly_ms: 0.0,
            solve_ms: 0.0,
        }
    }

    /// M + dt D + dt² K at the present x.
    fn assemble(&mut self) {
        let clock = Instant::now();
        let elements = self.system.elements;
        let dt = self.start.dt;
        let weights = Weights {
            stiffness: dt * dt,
            damping: dt,
        };
        self.matrix.reset(&elements.pattern);
        for (node, &mass) in self.system.mass.iter().enumerate() {
            let block = DMat3::from_diagonal(DVec3::splat(mass));
            self.matrix.add_diagonal(node as u32, block);
        }
        elements.add_matrix(&self.x, &self.dampers.drag, weights, &mut self.matrix);
        self.assembly_ms += milliseconds(clock);
    }

    /// The linearly implicit step.
    fn linear(&mut self) {
        self.assemble();
        let clock = Instant::now();
        let (system, dt) = (self.system, self.start.dt);
        let pattern = &system.elements.pattern;
        let mut f = Vec::new();
        system.force(self.start.x, &self.dampers, &mut f);
        let mut product = vec![DVec3::ZERO; f.len()];
        self.matrix.multiply(pattern, &self.v, &mut product);
        let mut r: Vec<DVec3> = (0..f.len())
            .map(|i| match self.fixed[i] {
                true => DVec3::ZERO,
                false => system.mass[i] * self.start.v[i] + dt * f[i] - product[i],
            })
            .collect();
        self.scale = norm(&r);
        self.fall(&mut r, &mut product);
        self.solve(&mut r, |step| &mut step.v);
        for (i, x) in self.x.iter_mut().enumerate() {
            *x = if self.fixed[i] {
                self.start.target[i]
            } else {
                self.start.x[i] + dt * self.v[i]
            };
        }
        self.solve_ms += milliseconds(clock);
    }

    /// The best step along free fall, before all others: where nothing holds the cloth it is the solution.
    fn fall(&mut self, r: &mut [DVec3], product: &mut [DVec3]) {
        let fall = self.start.dt * self.system.gravity;
        let direction: Vec<DVec3> = (self.fixed.iter())
            .map(|&fixed| if fixed { DVec3::ZERO } else { fall })
            .collect();
        self.matrix
            .multiply(&self.system.elements.pattern, &direction, product);
        let curvature = dot(&direction, product);
        if curvature == 0.0 {
            return; // no gravity
        }
        let share = dot(&direction, r) / curvature;
        for i in 0..r.len() {
            if !self.fixed[i] {
                self.v[i] += share * direction[i];
                r[i] -= share * product[i];
            }
        }
    }

    fn solve(&mut self, r: &mut [DVec3], unknown: fn(&mut Self) -> &mut Vec<DVec3>) {
        let mut x = std::mem::take(unknown(self));
        let mut gradients = ConjugateGradients::default();
        let pattern = &self.system.elements.pattern;
        let goal = self.settings.tolerance * self.scale;
        let done = gradients.run(
            &self.matrix,
            pattern,
            &self.fixed,
            &mut x,
            r,
            goal,
            self.settings.max_iterations,
        );
        self.iterations += done.iterations;
        *unknown(self) = x;
    }

    fn newton(&mut self) -> bool {
        false
    }
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}
