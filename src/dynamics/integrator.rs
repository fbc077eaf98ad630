//! Time integration: from a state to the candidate at the end of an interval.
//!
//! **Semi-implicit Newmark** \[BMF03\], \[BFA02\]: elastic forces explicit, damping implicit. One
//! loop of length h:
//!
//! ```text
//! (M + h/2 D(x)) v½  = M v + h/2 f(x)         first half, implicit in the damping
//! x'                 = x + h v½
//! (M + h/2 D(x')) v' = M v½ + h/2 f(x')       second half
//! ```
//!
//! f holds elastic forces, gravity and wind, and those of a contact, which may also change v½
//! ([`crate::touch::Touch`]); D is the damping matrix. Without damping this is velocity Verlet:
//! second order, and exact for free fall. A loop of at most 2/ω is stable, ω the highest frequency;
//! [`Newmark::cfl`] multiplies a bound from below on that length ([`super::stability`]). The
//! damping solves are conjugate gradients preconditioned by the masses: each search direction then
//! keeps momentum and angular momentum, so both are conserved to rounding however early the solve
//! stops. The damping of bending is so weak on most meshes that it may be explicit: where half a
//! loop removes at most [`WEAK`] of a velocity, −D v joins the forces f(x'), with the velocity v½
//! that led to x'. This halves the cost of a loop.

use std::time::Instant;

use glam::DVec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::air::Air;
use super::attract::Drawn;
use super::bend::Bent;
use super::damping::Dampers;
use super::elements::Elements;
use super::multilevel::Hierarchy;
use super::solve::dot;
use super::strain::Looks;
use super::touching::Touching;
use crate::touch::TouchWork;

/// Damping of bending is explicit where half a loop removes at most this share of a velocity.
const WEAK: f64 = 0.1;

/// The damping solve stops when its residual has fallen by this factor. Momentum does not suffer from an early stop,
/// only the strength of the damping.
const TOLERANCE: f64 = 1e-2;

/// The damping solve stops after this many iterations: a bound that keeps one solve from stalling a run.
const MAX_ITERATIONS: u32 = 100;

/// Semi-implicit Newmark.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Newmark {
    /// Loop length as a multiple of the provably stable one. At most 1 is stable for certain; damping makes more
    /// usable (a loop shorter than twice [`super::Fabric::stretch_damping`] is damped at every frequency).
    pub cfl: f64,
}

impl Default for Newmark {
    fn default() -> Self {
        Self { cfl: 1.0 }
    }
}

/// What the integrators act on: masses and forces of all nodes.
pub(super) struct System<'a> {
    pub(super) elements: &'a Elements,
    pub(super) hierarchy: &'a Hierarchy,
    /// kg.
    pub(super) mass: &'a [f64],
    /// 1/kg; 0 for nodes that follow a script.
    pub(super) inverse_mass: &'a [f64],
    /// m/s².
    pub(super) gravity: DVec3,
    pub(super) air: &'a Air,
}

impl<'a> System<'a> {
    /// Damping matrix at a state, with seams, soft pins and the drag of the air.
    pub(super) fn dampers(&self, x: &[DVec3], v: &[DVec3], time: f64, out: &mut Dampers<'a>) {
        self.elements.dampers(x, out);
        let stitches = self.elements.stitches.iter().map(|s| s.at(time).damper(x));
        out.springs.extend(stitches);
        let stitches = self.elements.edge_stitches.iter();
        out.stitches.clear();
        out.stitches.extend(stitches.map(|s| s.damper(time, x)));
        self.outer_dampers(x, v, time, out);
    }

    /// Only soft pins and the drag of the air.
    pub(super) fn outer_dampers(&self, x: &[DVec3], v: &[DVec3], time: f64, out: &mut Dampers<'a>) {
        out.pins = &self.elements.pins;
        self.air
            .drag(&self.elements.faces, x, v, time, &mut out.drag);
    }

    /// All forces but damping after a share of the interval, N; `bent` was measured at the same
    /// `x`.
    pub(super) fn force(
        &self,
        start: &Start<'_>,
        share: f64,
        x: &[DVec3],
        dampers: &Dampers<'_>,
        bent: &Bent,
        f: &mut Vec<DVec3>,
    ) {
        self.outer_force(start, share, x, dampers, f);
        self.elements.add_force(x, bent, f);
    }

    /// The same without the elastic ones.
    pub(super) fn outer_force(
        &self,
        start: &Start<'_>,
        share: f64,
        x: &[DVec3],
        dampers: &Dampers<'_>,
        f: &mut Vec<DVec3>,
    ) {
        self.constant_force(dampers, f);
        for stitch in &self.elements.stitches {
            stitch.at(start.time + share * start.dt).add_force(x, f);
        }
        for stitch in &self.elements.edge_stitches {
            stitch.add_force(start.time + share * start.dt, x, f);
        }
        for pin in &self.elements.pins {
            pin.add_force(start.wanted(pin.node, share), x, f);
        }
    }

    /// Gravity, and the push of the wind on faces at rest, N.
    pub(super) fn constant_force(&self, dampers: &Dampers<'_>, f: &mut Vec<DVec3>) {
        f.clear();
        f.extend(self.mass.iter().map(|&m| m * self.gravity));
        for drag in &dampers.drag {
            drag.add_wind_force(f);
        }
    }

    /// Start velocities, where scripted nodes have the one that takes them to their target.
    pub(super) fn scripted_velocities(&self, start: &Start<'_>) -> Vec<DVec3> {
        (0..start.x.len())
            .map(|i| match self.inverse_mass[i] {
                0.0 => (start.target[i] - start.x[i]) / start.dt,
                _ => start.v[i],
            })
            .collect()
    }
}

/// Where an integration begins, and how far it goes.
#[derive(Clone, Copy)]
pub(super) struct Start<'a> {
    pub(super) x: &'a [DVec3],
    pub(super) v: &'a [DVec3],
    /// Where the script has its nodes at the start.
    pub(super) from: &'a [DVec3],
    /// End positions of scripted nodes, which move straight.
    pub(super) target: &'a [DVec3],
    /// s.
    pub(super) time: f64,
    /// s.
    pub(super) dt: f64,
    /// What untangles.
    pub(super) drawn: &'a [Drawn],
}

impl Start<'_> {
    /// Adds the forces that untangle, after a share of the interval; returns what that took, ms.
    pub(super) fn draw(&self, share: f64, x: &[DVec3], v: &[DVec3], f: &mut [DVec3]) -> f64 {
        if self.drawn.is_empty() {
            return 0.0;
        }
        let clock = Instant::now();
        for drawn in self.drawn {
            drawn.add_force(share, self.dt, x, v, f);
        }
        clock.elapsed().as_secs_f64() * 1e3
    }
}

impl Start<'_> {
    /// Where the script has a node after a share of the interval.
    fn wanted(&self, node: u32, share: f64) -> DVec3 {
        let (from, target) = (self.from[node as usize], self.target[node as usize]);
        from + share * (target - from)
    }
}

/// End state of an integration and what it took.
#[derive(Debug)]
pub(super) struct Advance {
    pub(super) x: Vec<DVec3>,
    pub(super) v: Vec<DVec3>,
    pub(super) loops: u32,
    pub(super) iterations: u32,
    pub(super) assembly_ms: f64,
    pub(super) solve_ms: f64,
    pub(super) draw_ms: f64,
    pub(super) contact: TouchWork,
}

impl Newmark {
    /// Advances in equal loops.
    pub(super) fn advance(
        &self,
        system: &System<'_>,
        start: Start<'_>,
        mut touching: Option<Touching<'_>>,
    ) -> Advance {
        let (stable, bend_rate) = system.stable_loop(start.x);
        let loops = loop_count(start.dt, self.cfl * stable);
        let h = start.dt / f64::from(loops);
        let mut x = start.x.to_vec();
        let mut v = system.scripted_velocities(&start);
        let mut solve = DampingSolve::default();
        solve.dampers.bending_apart = 0.5 * h * bend_rate <= WEAK;
        let mut f = Vec::with_capacity(x.len());
        let mut iterations = 0;
        system.dampers(&x, &v, start.time, &mut solve.dampers);
        system.force(&start, 0.0, &x, &solve.dampers, &solve.dampers.bent, &mut f);
        solve.dampers.add_bending_apart(&v, &mut f);
        let mut draw_ms = start.draw(0.0, &x, &v, &mut f);
        if let Some(touching) = &mut touching {
            touching.begin(h, loops);
            touching.add_force(&mut f);
        }
        let mut looks = Looks::new(system.elements);
        for k in 1..=loops {
            iterations += Self::half(system, h, &f, &mut v, &mut solve);
            if let Some(touching) = &mut touching {
                touching.act(h, &x, &mut v, system.inverse_mass);
            }
            let share = f64::from(k) / f64::from(loops);
            for (i, x) in x.iter_mut().enumerate() {
                *x = if system.inverse_mass[i] > 0.0 {
                    *x + h * v[i]
                } else if k == loops {
                    start.target[i]
                } else {
                    start.x[i] + share * (start.target[i] - start.x[i])
                };
            }
            let met = limit_step(system, h, &mut x, &mut v, &mut looks);
            system.dampers(&x, &v, start.time + share * start.dt, &mut solve.dampers);
            system.force(
                &start,
                share,
                &x,
                &solve.dampers,
                &solve.dampers.bent,
                &mut f,
            );
            solve.dampers.add_bending_apart(&v, &mut f);
            draw_ms += start.draw(share, &x, &v, &mut f);
            if let Some(touching) = &touching {
                touching.add_force(&mut f);
            }
            iterations += Self::half(system, h, &f, &mut v, &mut solve);
            let elements = system.elements;
            elements.stop_stretching(&met, system.inverse_mass, &x, &mut v, &mut looks);
        }
        let end = touching.map(|touching| touching.end(&v, system.inverse_mass));
        Advance {
            x,
            v,
            loops,
            iterations,
            assembly_ms: 0.0,
            solve_ms: 0.0,
            draw_ms,
            contact: end.unwrap_or_default(),
        }
    }

    /// `(M + h/2 D) v_new = M v + h/2 f`; returns the iterations it took.
    fn half(
        system: &System<'_>,
        h: f64,
        f: &[DVec3],
        v: &mut [DVec3],
        solve: &mut DampingSolve,
    ) -> u32 {
        for (i, v) in v.iter_mut().enumerate() {
            *v += (0.5 * h * system.inverse_mass[i]) * f[i];
        }
        solve.run(system, 0.5 * h, v)
    }
}

/// Brings end positions within the strain limit, and with them the velocities of the step; returns
/// the faces that met it.
///
/// Where that takes more sweeps than there are, the limit cannot be met, or nearly not: what is
/// above it is then left to elasticity until the interval ends.
fn limit_step(
    system: &System<'_>,
    h: f64,
    x: &mut [DVec3],
    v: &mut [DVec3],
    looks: &mut Looks,
) -> Vec<u32> {
    if looks.are_spent() || system.elements.over_limit(x).is_empty() {
        return Vec::new(); // most loops
    }
    let before = x.to_vec();
    let limited = (system.elements).limit_strain(system.inverse_mass, x, looks);
    if !limited.holds {
        looks.give_up();
        x.copy_from_slice(&before);
        return Vec::new();
    }
    if !limited.met.is_empty() {
        for (v, (after, before)) in v.iter_mut().zip(x.iter().zip(before)) {
            *v += (*after - before) / h;
        }
    }
    limited.met
}

/// Number of equal loops, none longer than `longest`.
fn loop_count(dt: f64, longest: f64) -> u32 {
    // a count beyond u32 means a stiffness no loop can follow; the positions will say so
    (dt / longest).ceil().clamp(1.0, f64::from(u32::MAX)) as u32
}

/// Working memory of the damping solve.
#[derive(Default)]
struct DampingSolve<'a> {
    dampers: Dampers<'a>,
    residual: Vec<DVec3>,
    direction: Vec<DVec3>,
    product: Vec<DVec3>,
}

impl System<'_> {
    /// Damps velocities by what the cloth itself damps for `seconds`: `(M + s D(x)) v_new = M v`.
    /// Without air, pins and seams, it changes no momentum of what is free.
    pub(super) fn damp(&self, x: &[DVec3], v: &mut [DVec3], seconds: f64) {
        let mut solve = DampingSolve::default();
        self.elements.dampers(x, &mut solve.dampers);
        solve.run(self, seconds, v);
    }
}

impl DampingSolve<'_> {
    /// Solves `(M + s D) v_new = M v` for the free nodes; scripted ones keep their velocity.
    fn run(&mut self, system: &System<'_>, s: f64, v: &mut [DVec3]) -> u32 {
        if self.dampers.is_empty() {
            return 0;
        }
        let Self {
            dampers,
            residual: r,
            direction: p,
            product: q,
        } = self;
        let (w, mass) = (system.inverse_mass, system.mass);
        // starting from v itself the residual is −s D v: a sum of internal forces; that of scripted
        // nodes is never used, as their inverse mass is 0
        r.clear();
        r.resize(v.len(), DVec3::ZERO);
        dampers.add_product(-s, v, r);
        let mut energy = weighted_square(w, r);
        let goal = TOLERANCE * TOLERANCE * energy;
        p.clear();
        p.extend(r.iter().zip(w).map(|(r, w)| *w * *r));
        q.clear();
        q.extend(p.iter().zip(mass).map(|(p, m)| *m * *p));
        let mut iterations = 0;
        while energy > goal && iterations < MAX_ITERATIONS {
            // few passes over the nodes: they cost as much as the product itself
            dampers.add_product(s, p, q);
            let step = energy / dot(p, q);
            let mut next = 0.0;
            for i in 0..v.len() {
                v[i] += step * p[i];
                r[i] -= step * q[i];
                next += w[i] * r[i].length_squared();
            }
            let keep = next / energy;
            energy = next;
            for i in 0..v.len() {
                p[i] = w[i] * r[i] + keep * p[i];
                q[i] = mass[i] * p[i];
            }
            iterations += 1;
        }
        iterations
    }
}

/// Σ w r², the norm in which the mass-preconditioned residual is measured.
fn weighted_square(inverse_mass: &[f64], r: &[DVec3]) -> f64 {
    let terms = r.iter().zip(inverse_mass);
    terms.map(|(r, w)| w * r.length_squared()).sum()
}
