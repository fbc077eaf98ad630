//! **One solve**: elasticity, contact, friction and strain limit together, implicitly.
//!
//! ```text
//! A = M/h² + D/h + K⁺(x₀)     b = M v₀/h + f(x₀)     Φ(d) = ½ dᵀA d − bᵀd + Σ ψ(d)     v₁ = d/h
//! ```
//!
//! Each loop of h seconds looks for the displacements d of the free nodes that make Φ least: implicit
//! Euler with elasticity linearised at the start, and a term ψ for each contact and each face at its
//! strain limit ([`super::rows`]). Nonlinear conjugate gradients from inertia, d = h v₀, end after a few
//! iterations: what they leave is taken up by the next loop, for the forces of rows go on. Loops are
//! short because that costs the same as long ones with more iterations and damps less.
//!
//! Guaranteed: linear momentum of what is free, to rounding, and Φ not above that of standing still.
//! Not guaranteed: that a gap or a limit is kept; the collision step judges. Source: ours, after
//! \[AC91\] and \[MSL19\]; see docs/method.md §7.

use std::ops::Range;
use std::time::Instant;

use glam::{DMat3, DVec3, Vec3A};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::around::Around;
use super::bend::Bent;
use super::damping::Dampers;
use super::elements::Part;
use super::integrator::{Advance, Start, System};
use super::multilevel::Preconditioner;
use super::rows::{Linear, Rows};
use super::solve::{BlockMatrix, GRAIN, MatrixRows, Pieces, evenly, least, pieces_of, sums_of};
use super::stretch::{Triangle, Weights};
use crate::touch::TouchWork;

/// A matrix is no longer shared once an edge has turned or changed its length by this share: where cloth crumples, the
/// stiffness of a few loops ago would let it burst.
const TURNED: f64 = 0.2;

/// Loops become half as long while an edge turns or changes its length by more than this share of it in one, and twice as long
/// again where that is less than a third: what a face at its limit does is linear in neither.
const SWIFT: f64 = 0.1;

/// Loops are at least the longest ones divided by this.
const PARTS: u32 = 4;

/// A solve goes on past its budget while its last half budget has taken what faces are beyond their limit down to this share:
/// where limits contradict each other, or what is sewn to them, it does not.
const GAIN: f64 = 0.7;

/// What may touch is looked for anew after so long, s, if anything goes another way than was expected.
const LOOK_AGE: f64 = 1.0 / 120.0;

/// Implicit Euler with contact, friction and strain limit in its solve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Implicit {
    /// Longest loop, s, above 0. Shorter ones damp less and cost more.
    pub max_loop: f64,
    /// Iterations of a loop, at least 1; up to four times as many where faces would be left beyond their strain limit and that helps. What
    /// one loop leaves the next takes up, so more of them matter where that is too late: many stiff layers without friction,
    /// thin cloth that slides far.
    pub iterations: u32,
    /// A solve ends where its residual stands for a velocity of less than this, m/s; above 0.
    pub tolerance: f64,
    /// Loops share a matrix for so long, s: forces are those of every loop, what they change by varies slowly. Not a key of
    /// scenes.
    #[serde(skip)]
    pub matrix_age: f64,
}

impl Default for Implicit {
    fn default() -> Self {
        Self {
            max_loop: 1.0 / 960.0,
            iterations: 8,
            tolerance: 1e-5,
            matrix_age: 1.0 / 240.0,
        }
    }
}

impl Implicit {
    pub(super) fn advance(
        &self,
        system: &System<'_>,
        start: Start<'_>,
        rows: &mut Rows,
        tension: &mut [f64],
        mut around: Around<'_>,
    ) -> Advance {
        let loops = (start.dt / self.max_loop - 1e-6).ceil().max(1.0) as u32;
        let h = start.dt / f64::from(loops);
        let mut solve = Solve::new(self, system, h);
        let mut x = start.x.to_vec();
        let mut v = system.scripted_velocities(&start);
        let mut work = TouchWork::default();
        let looked = (LOOK_AGE / h).round().max(1.0) as u32 * PARTS;
        let all = loops * PARTS;
        let (mut at, mut parts, mut count) = (0, PARTS, 0);
        while at < all {
            let h = solve.h;
            if at > 0 && at.is_multiple_of(looked) {
                let left = f64::from(all - at) * start.dt / f64::from(all);
                let end = |i: usize| match system.inverse_mass[i] > 0.0 {
                    true => x[i] + left * v[i],
                    false => start.target[i],
                };
                let end: Vec<DVec3> = (0..x.len()).map(end).collect();
                around.look(&end, &mut rows.contacts);
            }
            let shares = [at, at + parts].map(|k| f64::from(k) / f64::from(all));
            around.slide([&x, &v], h, shares, &mut rows.contacts);
            solve.step(&start, shares, &x, &v, rows, tension);
            for (row, force) in rows.contact_rows() {
                // what is scripted takes no part in it
                let free: f64 = row.weights.iter().sum();
                work.energy += force.dot(row.sum(&solve.d));
                work.momentum += (h * free) * force;
            }
            at += parts;
            count += 1;
            let nodes = x.par_iter_mut().zip(&mut v).enumerate();
            evenly(nodes, GRAIN).for_each(|(i, (x, v))| {
                if system.inverse_mass[i] > 0.0 {
                    *x += solve.d[i];
                    *v = solve.d[i] / h;
                } else {
                    *x = match at == all {
                        true => start.target[i],
                        false => start.x[i] + shares[1] * (start.target[i] - start.x[i]),
                    };
                }
            });
            let turn = solve.turn(&x);
            solve.turned += turn;
            let wanted = next_parts(turn, parts, at);
            if wanted != parts {
                parts = wanted;
                solve.set_length(f64::from(parts) * start.dt / f64::from(all));
            }
        }
        Advance {
            x,
            v,
            loops: count,
            iterations: solve.iterations,
            assembly_ms: solve.assembly_ms,
            solve_ms: solve.solve_ms,
            draw_ms: solve.draw_ms,
            contact: work,
        }
    }
}

/// How many parts the next loop has, after one of so many parts in which edges turned by so much and which ended at part `at`.
fn next_parts(turn: f64, parts: u32, at: u32) -> u32 {
    if turn > SWIFT {
        (parts / 2).max(1)
    } else if turn < SWIFT / 3.0 && at.is_multiple_of(2 * parts) {
        (2 * parts).min(PARTS)
    } else {
        parts
    }
}

/// The solves of an interval.
struct Solve<'a> {
    settings: &'a Implicit,
    system: &'a System<'a>,
    /// What hangs together by its elements.
    pieces: Pieces,
    parts: Vec<Part>,
    bent: Bent,
    /// Of all free nodes, kg.
    mass: f64,
    /// M/h² of each piece, of its free nodes.
    inertia: Vec<DMat3>,
    /// Whether no node is scripted.
    is_loose: bool,
    h: f64,
    matrix: BlockMatrix,
    /// Of the matrix, s.
    age: f64,
    /// What edges have turned by since it was made, at most.
    turned: f64,
    /// Area below which faces do not count for that.
    tiny: f64,
    preconditioner: Preconditioner,
    /// Displacements.
    d: Vec<DVec3>,
    /// b − A d.
    q: Vec<DVec3>,
    /// The same where the free nodes stay.
    q0: Vec<DVec3>,
    /// −∇Φ.
    r: Vec<DVec3>,
    /// Σ |r|²/m.
    left: f64,
    /// r of the iteration before.
    last: Vec<DVec3>,
    z: Vec<DVec3>,
    p: Vec<DVec3>,
    product: Vec<DVec3>,
    short: Vec<Vec3A>,
    iterations: u32,
    assembly_ms: f64,
    solve_ms: f64,
    draw_ms: f64,
}

impl<'a> Solve<'a> {
    fn new(settings: &'a Implicit, system: &'a System<'a>, h: f64) -> Self {
        let n = system.mass.len();
        let pieces = system.elements.pattern.pieces();
        Self {
            settings,
            system,
            inertia: inertia_of(&pieces, system, h),
            pieces,
            parts: system.elements.parts(rayon::current_num_threads()),
            bent: Bent::default(),
            mass: (system.mass.iter().zip(system.inverse_mass))
                .filter(|&(_, &w)| w > 0.0)
                .map(|(m, _)| m)
                .sum(),
            is_loose: system.inverse_mass.iter().all(|w| *w > 0.0),
            h,
            matrix: BlockMatrix::default(),
            age: f64::INFINITY,
            turned: 0.0,
            tiny: system.elements.tiny_area(),
            preconditioner: Preconditioner::default(),
            d: Vec::new(),
            q: vec![DVec3::ZERO; n],
            q0: Vec::new(),
            r: vec![DVec3::ZERO; n],
            left: 0.0,
            last: vec![DVec3::ZERO; n],
            z: vec![DVec3::ZERO; n],
            p: vec![DVec3::ZERO; n],
            product: vec![DVec3::ZERO; n],
            short: Vec::new(),
            iterations: 0,
            assembly_ms: 0.0,
            solve_ms: 0.0,
            draw_ms: 0.0,
        }
    }

    /// One loop: sets d.
    fn step(
        &mut self,
        start: &Start<'_>,
        shares: [f64; 2],
        x: &[DVec3],
        v: &[DVec3],
        rows: &mut Rows,
        tension: &mut [f64],
    ) {
        let clock = Instant::now();
        let system = self.system;
        self.linearise(start, shares, x, v);
        self.set_rows(start, shares, x, v, rows, tension);
        let still = rows.potential();
        self.coast(v, rows);
        self.assembly_ms += milliseconds(clock);
        let clock = Instant::now();
        self.fall(rows);
        let pattern = &system.elements.pattern;
        let is_first = shares[0] == 0.0;
        self.preconditioner
            .update(&self.matrix, pattern, system.hierarchy, rows, is_first);
        self.pass(rows, still);
        // what slides as a whole does so by the friction of all that presses in the end
        self.renew_radii(rows);
        self.shift(rows);
        rows.renew();
        if start.drawn.is_empty() {
            self.translate(v, rows);
        }
        rows.end(&self.d, tension);
        self.solve_ms += milliseconds(clock);
    }

    /// Loops of another length, s: with a matrix of their own.
    fn set_length(&mut self, h: f64) {
        self.h = h;
        self.age = f64::INFINITY;
        self.inertia = inertia_of(&self.pieces, self.system, h);
    }

    fn is_free(&self, node: usize) -> bool {
        self.system.inverse_mass[node] > 0.0
    }

    /// A, unless that of an earlier loop is young enough; d of what is scripted, and b − A d.
    fn linearise(&mut self, start: &Start<'_>, shares: [f64; 2], x: &[DVec3], v: &[DVec3]) {
        let (system, h) = (self.system, self.h);
        let elements = system.elements;
        let time = start.time + shares[0] * start.dt;
        let mut dampers = Dampers::default();
        system.outer_dampers(x, v, time, &mut dampers);
        elements.bending.measure(x, &mut self.bent);
        let mut f = Vec::new();
        system.outer_force(start, shares[1], x, &dampers, &mut f);
        self.draw_ms += start.draw(shares[0], x, v, &mut f);
        elements.add_forces(&self.parts, (x, &self.bent), &mut f);
        if self.age + 0.5 * h >= self.settings.matrix_age || self.turned > TURNED {
            self.assemble(x, time + h, &dampers);
            (self.age, self.turned) = (0.0, 0.0);
        }
        self.age += h;
        let scripted = |i: usize| match system.inverse_mass[i] > 0.0 {
            true => DVec3::ZERO,
            false => (shares[1] - shares[0]) * (start.target[i] - start.x[i]),
        };
        each_node(x.len(), scripted, &mut self.d);
        self.p.copy_from_slice(&self.d);
        self.multiply(self.d.iter().all(|d| *d == DVec3::ZERO));
        let product = &self.product[..];
        let force = |i: usize| match system.inverse_mass[i] > 0.0 {
            true => system.mass[i] / h * v[i] + f[i] - product[i],
            false => DVec3::ZERO,
        };
        each_node(x.len(), force, &mut self.q0);
    }

    /// A p; p · A p and p · q. Cheaper where every piece moves as one, or not at all.
    fn multiply(&mut self, is_whole: bool) -> [f64; 2] {
        let (vectors, product) = ([&self.p[..], &self.q], &mut self.product);
        let pattern = &self.system.elements.pattern;
        match is_whole {
            true => self.matrix.multiply_outer(vectors, product),
            false => (self.matrix).multiply(pattern, vectors, &mut self.short, product),
        }
    }

    /// The most that an edge of a face that is not tiny has turned or changed its length in the loop that led to `x`, as a share
    /// of its length.
    fn turn(&self, x: &[DVec3]) -> f64 {
        let d = &self.d;
        let of_face = |face: &Triangle| {
            if face.area < self.tiny {
                return 0.0;
            }
            let [a, b, c] = face.vertices.map(|node| node as usize);
            let of_edge = |i: usize, j: usize| {
                (d[i] - d[j]).length_squared() / (x[i] - x[j]).length_squared()
            };
            of_edge(a, b).max(of_edge(b, c)).max(of_edge(c, a))
        };
        let faces = self.system.elements.faces.par_iter().map(of_face);
        evenly(faces, GRAIN).reduce(|| 0.0, f64::max).sqrt()
    }

    /// The rows of this loop.
    fn set_rows(
        &self,
        start: &Start<'_>,
        shares: [f64; 2],
        x: &[DVec3],
        v: &[DVec3],
        rows: &mut Rows,
        tension: &[f64],
    ) {
        let (system, h) = (self.system, self.h);
        let mut ahead = Vec::new();
        let coasted = |i: usize| match self.is_free(i) {
            true => x[i] + h * (v[i] + h * system.gravity),
            false => x[i] + self.d[i],
        };
        each_node(x.len(), coasted, &mut ahead);
        let linear = Linear {
            matrix: &self.matrix,
            inverse_mass: system.inverse_mass,
            x,
            ahead: &ahead,
            weight: self.mass * system.gravity.length(),
            scripted: &self.d,
            time: start.time + shares[1] * start.dt,
            shares,
            h,
        };
        rows.begin(&linear, system.elements, tension);
    }

    /// Everything goes on as it did.
    fn coast(&mut self, v: &[DVec3], rows: &mut Rows) {
        let h = self.h;
        self.look(|_, i| h * v[i]);
        self.multiply(false);
        let (inverse_mass, product, q0) = (self.system.inverse_mass, &self.product, &self.q0);
        let left = |i: usize| match inverse_mass[i] > 0.0 {
            true => q0[i] - product[i],
            false => DVec3::ZERO,
        };
        each_node(v.len(), left, &mut self.q);
        let moved = self.d.par_iter_mut().zip(&self.p);
        evenly(moved, GRAIN).for_each(|(d, p)| *d += *p);
        rows.look_along(&self.p);
        rows.advance(1.0);
        self.renew_residual(rows);
    }

    /// And falls or slides, each piece as a whole: where nothing else acts on it, it is the solution. What slides is
    /// moved by the small difference of its load and its friction, so that is first found by what presses.
    fn fall(&mut self, rows: &mut Rows) {
        self.shift(rows);
        self.renew_radii(rows);
        self.shift(rows);
    }

    fn renew_radii(&mut self, rows: &mut Rows) {
        rows.renew_radii();
        self.renew_residual(rows);
    }

    fn renew_residual(&mut self, rows: &Rows) {
        let inverse_mass = self.system.inverse_mass;
        let q = &self.q;
        [self.left] = sums_of(pieces_of(&mut self.r), |(k, r)| {
            let mut sum = -0.0;
            for (i, r) in (k * GRAIN..).zip(r) {
                *r = rows.add_forces(i, q[i]);
                sum += inverse_mass[i] * r.length_squared();
            }
            [sum]
        });
    }

    /// Goes by `alpha` times p.
    fn go(&mut self, alpha: f64, rows: &mut Rows) {
        rows.advance(alpha);
        let (p, product, inverse_mass) = (&self.p, &self.product, self.system.inverse_mass);
        let pieces = (
            self.d.par_chunks_mut(GRAIN),
            self.q.par_chunks_mut(GRAIN),
            self.r.par_chunks_mut(GRAIN),
        );
        let pieces = evenly(pieces.into_par_iter().enumerate(), 2);
        [self.left] = sums_of(pieces, |(k, (d, q, r))| {
            let mut sum = -0.0;
            for (i, ((d, q), r)) in (k * GRAIN..).zip(d.iter_mut().zip(q).zip(r)) {
                if inverse_mass[i] > 0.0 {
                    *d += alpha * p[i];
                    *q -= alpha * product[i];
                }
                *r = rows.add_forces(i, *q);
                sum += inverse_mass[i] * r.length_squared();
            }
            [sum]
        });
    }

    /// Sets the direction p, of free nodes, by displacement and number; Σ m |p|², and p · r.
    fn look(&mut self, direction: impl Fn(DVec3, usize) -> DVec3 + Sync) -> [f64; 2] {
        let System {
            mass, inverse_mass, ..
        } = *self.system;
        let (d, r) = (&self.d, &self.r);
        sums_of(pieces_of(&mut self.p), |(k, p)| {
            let mut sums = [-0.0; 2];
            for (i, p) in (k * GRAIN..).zip(p) {
                *p = match inverse_mass[i] > 0.0 {
                    true => direction(d[i], i),
                    false => DVec3::ZERO,
                };
                sums[0] += mass[i] * p.length_squared();
                sums[1] += r[i].dot(*p);
            }
            sums
        })
    }

    /// M/h² + D/h + K at x.
    fn assemble(&mut self, x: &[DVec3], end: f64, dampers: &Dampers<'_>) {
        let (system, h) = (self.system, self.h);
        let elements = system.elements;
        let weights = Weights {
            stiffness: 1.0,
            damping: 1.0 / h,
        };
        self.matrix.resize(&elements.pattern);
        let begin = |rows: &mut MatrixRows<'_>, nodes: Range<usize>| {
            rows.clear();
            for node in nodes {
                let block = DMat3::from_diagonal(DVec3::splat(system.mass[node] / (h * h)));
                rows.add_outer(node as u32, block, block);
            }
        };
        let at = (x, &self.bent);
        elements.assemble(&self.parts, at, weights, &mut self.matrix, begin);
        elements.add_outer_matrix(x, end, &dampers.drag, weights, &mut self.matrix);
    }

    /// Velocity that the residual stands for, m/s.
    fn error(&self) -> f64 {
        match self.mass > 0.0 {
            true => self.h * (self.left / self.mass).sqrt(),
            false => 0.0,
        }
    }

    /// Φ.
    fn potential(&self, rows: &Rows) -> f64 {
        let free = |i: usize| self.system.inverse_mass[i] > 0.0;
        let each = (0..self.d.len()).filter(|&i| free(i));
        let quadratic: f64 = each.map(|i| self.d[i].dot(self.q0[i] + self.q[i])).sum();
        rows.potential() - 0.5 * quadratic
    }

    /// Iterates until the residual is small or the budget spent; longer where faces are beyond their limit, which later
    /// loops would take back only slowly, as long as that brings them nearer to it.
    fn pass(&mut self, rows: &mut Rows, still: f64) {
        let goal = self.settings.tolerance;
        let mut before = 0.0;
        let budget = self.settings.iterations;
        let mut k = 0;
        let (mut end, most) = (budget, 4 * budget);
        let mut beyond = 0.0;
        loop {
            if k == end && end < most {
                let left = rows.overstretch();
                if left > 0.0 && left < GAIN * beyond {
                    end += budget.div_ceil(2);
                }
                beyond = left;
            }
            let is_spent = k >= end;
            if is_spent || self.error() <= goal {
                if is_spent && (k >= most || self.potential(rows) <= still) {
                    break;
                }
                if !is_spent {
                    // the discs follow what presses before it is over
                    self.renew_radii(rows);
                    before = 0.0;
                    if self.error() <= goal {
                        break;
                    }
                }
            }
            if k == budget / 2 {
                beyond = rows.overstretch();
                self.renew_radii(rows);
                before = 0.0;
            }
            let last = [&self.r[..], &self.last];
            let [descent, kept] =
                (self.preconditioner).apply(self.system.hierarchy, last, &mut self.z);
            let keep = match before > 0.0 {
                true => ((descent - kept) / before).max(0.0),
                false => 0.0,
            };
            if self.turn_to(keep) <= 0.0 && keep > 0.0 {
                self.p.copy_from_slice(&self.z);
            }
            before = descent;
            std::mem::swap(&mut self.last, &mut self.r);
            self.search(rows, false);
            self.iterations += 1;
            k += 1;
        }
        if self.potential(rows) > still {
            self.look(|d, _| -d);
            self.search(rows, false);
        }
    }

    /// p = z + `keep` p; p · r.
    fn turn_to(&mut self, keep: f64) -> f64 {
        let (z, r) = (&self.z, &self.r);
        let [along] = sums_of(pieces_of(&mut self.p), |(k, p)| {
            let mut sum = -0.0;
            for (i, p) in (k * GRAIN..).zip(p) {
                *p = z[i] + keep * *p;
                sum += p.dot(r[i]);
            }
            [sum]
        });
        along
    }

    /// Goes along p to where Φ is least, and renews the residual. If `is_whole`, p moves every piece as one.
    fn search(&mut self, rows: &mut Rows, is_whole: bool) {
        let [curvature, along] = self.multiply(is_whole);
        let sum = |alpha: f64, [slope, change]: [f64; 2]| {
            [alpha * curvature - along + slope, curvature + change]
        };
        let start = sum(0.0, rows.look_along(&self.p));
        let alpha = least(start, |alpha| sum(alpha, rows.slope(alpha)));
        match alpha > 0.0 {
            true => self.go(alpha, rows),
            false => self.renew_residual(rows),
        }
    }

    /// One more direction: the translation of each piece by what is left of the forces on it, against its inertia and
    /// the contacts that hold it. What rests or slides as a whole does so by the whole of its load.
    fn shift(&mut self, rows: &mut Rows) {
        let system = self.system;
        let mut forces = vec![DVec3::ZERO; self.pieces.count];
        for (i, r) in self.r.iter().enumerate() {
            if system.inverse_mass[i] > 0.0 {
                forces[self.pieces.of[i] as usize] += *r;
            }
        }
        let mut stiffness = self.inertia.clone();
        rows.add_to_pieces(&self.pieces, |piece, block| {
            stiffness[piece as usize] += block;
        });
        let ways = forces.iter().zip(stiffness);
        let ways = ways.map(|(force, stiffness)| match *force == DVec3::ZERO {
            true => DVec3::ZERO,
            false => stiffness.inverse() * *force,
        });
        let ways: Vec<DVec3> = ways.collect();
        let piece_of = std::mem::take(&mut self.pieces.of);
        let [inertia, along] = self.look(|_, i| ways[piece_of[i] as usize]);
        self.pieces.of = piece_of;
        // what is left out is left out of every loop, so it has to be far below the tolerance
        let gain = self.h * along / (self.mass * inertia).sqrt();
        if gain > 1e-3 * self.settings.tolerance {
            self.search(rows, self.is_loose);
        }
    }

    /// Moves what is free as a whole, so that its momentum is exact: what acts within it adds up to
    /// nothing, so it changes by gravity alone.
    fn translate(&mut self, v: &[DVec3], rows: &Rows) {
        let (system, h) = (self.system, self.h);
        if system.air.density > 0.0 || !system.elements.pins.is_empty() {
            return; // nothing is free of other forces from outside
        }
        let group = rows.groups(&self.pieces);
        let group_of = |node: usize| group[self.pieces.of[node] as usize] as usize;
        let mut sums = vec![(DVec3::ZERO, 0.0); self.pieces.count];
        for i in 0..self.d.len() {
            let (lack, mass) = &mut sums[group_of(i)];
            let m = match system.inverse_mass[i] {
                0.0 => f64::INFINITY,
                _ => system.mass[i],
            };
            *lack += m * (h * (v[i] + h * system.gravity) - self.d[i]);
            *mass += m;
        }
        for node in rows.held_nodes() {
            sums[group_of(node)].1 = f64::INFINITY;
        }
        for i in 0..self.d.len() {
            let (lack, mass) = sums[group_of(i)];
            if mass.is_finite() {
                self.d[i] += lack / mass;
            }
        }
    }
}

/// M/h² of each piece, of its free nodes.
fn inertia_of(pieces: &Pieces, system: &System<'_>, h: f64) -> Vec<DMat3> {
    let mut sums = vec![DMat3::ZERO; pieces.count];
    for (i, &piece) in pieces.of.iter().enumerate() {
        if system.inverse_mass[i] > 0.0 {
            let inertia = system.mass[i] / (h * h);
            sums[piece as usize] += DMat3::from_diagonal(DVec3::splat(inertia));
        }
    }
    sums
}

/// Sets one value for each node.
fn each_node(count: usize, value: impl Fn(usize) -> DVec3 + Sync, out: &mut Vec<DVec3>) {
    let nodes = (0..count).into_par_iter().map(&value);
    evenly(nodes, GRAIN).collect_into_vec(out);
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}
