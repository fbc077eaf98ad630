//! Our form: volumes at least as large as asked for, by pressures that push.
//!
//! ```text
//! Fᵀ M⁻¹ F p = goal − V(x)   over the rows that lack volume and whose p pushes        x += s M⁻¹ F p
//! ```
//!
//! Rows that would pull are left out, and the others solved once more; what pulls even then is cut
//! off. s is 1, halved where that makes the worst lacks worse.

use std::collections::BTreeMap;

use glam::DVec3;

use super::minres::{Until, solve};
use super::system::System;
use super::{Cell, VolumeWork, at_impact, mobility, numbered, opening_sign, tetrahedron};
use crate::geometry::{ContactPoint, Impact, Pair};
use crate::state::Candidate;

/// Steps between two rounds of detection. A step costs a solve, a round a look at the motion.
const STEPS: u32 = 5;

/// Solves of one step: all that lack volume, then those that push.
const SOLVES: u32 = 2;

/// Halvings of a step that would make it worse.
const HALVINGS: u32 = 2;

/// No vertex goes further in one step than this many times the longest way that a vertex of the
/// system has in the interval: rows that nearly contradict each other ask for more.
const REACH: f64 = 2.0;

/// When a solve ends: what it leaves is for the next step.
const UNTIL: Until = Until {
    tolerance: 1e-2,
    max_iterations: 200,
};

/// What a volume may lack, as a share of its goal. Impacts are judged by half of the gap.
const TOLERANCE: f64 = 0.1;

/// Below this share of the thickness a start gap no longer sets the scale of what may lack.
const LEAST_SCALE: f64 = 1e-6;

/// Edges count as parallel below this sine: their tetrahedron is then flat along the edges, and a
/// little turn changes its volume more than the approach does.
const PARALLEL: f64 = 0.05;

/// Something that is to stay open.
struct Row {
    point: ContactPoint,
    measure: Measure,
    /// What it is to measure at least, in m³ or m.
    goal: f64,
    /// What counts as nothing.
    scale: f64,
    /// What it measured at the start.
    start: f64,
    /// Gradient of its first step.
    first: [DVec3; 4],
    /// Its volume at x is this and `first · x`, as far as the time of impact knows.
    at_first: f64,
    /// Whether a step has been made with it.
    is_new: bool,
    /// Pressure, in kg/m for volumes and in kg·m for gaps.
    pressure: f64,
}

enum Measure {
    Volume(Cell),
    Gap,
}

impl Row {
    fn of(impact: &Impact, candidate: &Candidate<'_>) -> Self {
        let (x0, point) = (candidate.start.positions(), impact.point());
        let thickness = candidate.thickness_of(&point);
        let target = point.gap(x0).min(thickness);
        let [a, b, c, d] = at_impact(impact, candidate);
        let (one, other) = match impact.is_vertex_face() {
            true => (c - b, d - b),
            false => (b - a, d - c),
        };
        let area = one.cross(other).length();
        let size = one.length() * other.length();
        let (measure, per_gap) = if !impact.is_vertex_face() && area <= PARALLEL * size {
            (Measure::Gap, 1.0)
        } else {
            let mut cell = Cell::of(impact, candidate);
            cell.sign = opening_sign(impact, candidate);
            (Measure::Volume(cell), area / 6.0)
        };
        let mut row = Self {
            point,
            measure,
            goal: per_gap * target,
            scale: per_gap * target.max(LEAST_SCALE * thickness),
            start: 0.0,
            first: [DVec3::ZERO; 4],
            at_first: 0.0,
            is_new: true,
            pressure: 0.0,
        };
        row.start = row.value(x0);
        let four = [a, b, c, d];
        if let Measure::Volume(cell) = &row.measure {
            row.first = tetrahedron::gradient(four).map(|g| cell.sign * g);
            let volume = cell.sign * tetrahedron::volume(four);
            let along = row.first.iter().zip(four).map(|(g, x)| g.dot(x));
            row.at_first = volume - along.sum::<f64>();
        }
        row
    }

    fn value(&self, x: &[DVec3]) -> f64 {
        match &self.measure {
            Measure::Volume(cell) => cell.volume(x),
            Measure::Gap => self.point.gap(x),
        }
    }

    /// The gradient of its next step.
    fn gradient(&self, x: &[DVec3]) -> [DVec3; 4] {
        match &self.measure {
            Measure::Gap => self.point.weights.map(|w| w * self.point.normal),
            Measure::Volume(_) if self.is_new => self.first,
            Measure::Volume(cell) => cell.gradient(x),
        }
    }

    /// What it lacks in its next step.
    fn defect(&self, x: &[DVec3]) -> f64 {
        match &self.measure {
            Measure::Volume(_) if self.is_new => {
                let four = self.point.vertices.map(|v| x[v as usize]);
                let along = self.first.iter().zip(four).map(|(g, x)| g.dot(x));
                self.goal - self.at_first - along.sum::<f64>()
            }
            _ => self.goal - self.value(x),
        }
    }

    fn lack(&self, x: &[DVec3]) -> f64 {
        (self.goal - self.value(x)) / self.scale
    }
}

/// Rows of all rounds.
#[derive(Default)]
pub(super) struct Pushing {
    rows: BTreeMap<Pair, Row>,
}

impl Pushing {
    pub(super) fn pushed(&self) -> impl Iterator<Item = ContactPoint> {
        let pushed = self.rows.values().filter(|row| row.pressure > 0.0);
        pushed.map(|row| row.point)
    }

    pub(super) fn apply(
        &mut self,
        impacts: &[&Impact],
        candidate: &mut Candidate<'_>,
        work: &mut VolumeWork,
    ) {
        for impact in impacts {
            let mut row = Row::of(impact, candidate);
            if let Some(old) = self.rows.get(&impact.pair) {
                row.pressure = old.pressure;
            }
            self.rows.insert(impact.pair, row);
        }
        let mut rows: Vec<&mut Row> = self.rows.values_mut().collect();
        for _ in 0..STEPS {
            if !advance(&mut rows, candidate, work) {
                break;
            }
        }
    }
}

/// One step; false if there is nothing to do.
fn advance(rows: &mut [&mut Row], candidate: &mut Candidate<'_>, work: &mut VolumeWork) -> bool {
    let x = &candidate.x;
    let mut active: Vec<usize> = (0..rows.len())
        .filter(|&i| rows[i].defect(x) > TOLERANCE * rows[i].scale)
        .collect();
    let mut made = None;
    for solves in 1..=SOLVES {
        if active.is_empty() {
            break;
        }
        let (vertices, four) = numbered(active.iter().map(|&i| rows[i].point.vertices));
        let mut system = System::new(four, mobility(&vertices, candidate.inverse_mass));
        system.set(|row| (rows[active[row]].gradient(x), 1.0));
        let scale: Vec<f64> = (0..system.len())
            .map(|row| match system.diagonal(row) {
                0.0 => 0.0,
                diagonal => 1.0 / diagonal.sqrt(),
            })
            .collect();
        system.set(|row| (rows[active[row]].gradient(x), scale[row]));
        let right = active.iter().zip(&scale);
        let right: Vec<f64> = right.map(|(&i, s)| s * rows[i].defect(x)).collect();
        let mut solved = solve(&system, &right, &UNTIL);
        work.add(system.len(), &solved);
        let pushes = |p: &f64| *p > 0.0;
        if solves < SOLVES && !solved.x.iter().all(pushes) {
            let kept = active.iter().zip(&solved.x).filter(|(_, p)| pushes(p));
            active = kept.map(|(i, _)| *i).collect();
            continue;
        }
        for p in &mut solved.x {
            *p = p.max(0.0);
        }
        let step = system.displacement(&solved.x);
        for (p, scale) in solved.x.iter_mut().zip(&scale) {
            *p *= scale;
        }
        made = Some((vertices, step, solved.x));
        break;
    }
    let Some((vertices, step, pressures)) = made else {
        return false;
    };
    if step.iter().any(|step| !step.is_finite()) {
        return false; // what is left is judged by others
    }
    let share = go(rows, &vertices, &step, candidate);
    let per_second_squared = (candidate.dt * candidate.dt).recip();
    for (&i, p) in active.iter().zip(&pressures) {
        let row = &mut rows[i];
        row.pressure += share * p;
        let beyond = (row.goal - row.start).max(0.0);
        work.goal_energy += 0.5 * share * p * beyond * per_second_squared;
    }
    for row in rows {
        row.is_new = false;
    }
    true
}

/// Goes along a step as far as that makes the lacks smaller; returns the share of it.
fn go(rows: &[&mut Row], vertices: &[u32], step: &[DVec3], candidate: &mut Candidate<'_>) -> f64 {
    let merit = |x: &[DVec3]| -> f64 {
        let lack = rows.iter().map(|row| row.lack(x).max(0.0));
        lack.map(|lack| lack * lack).sum()
    };
    let x0 = candidate.start.positions();
    let begin: Vec<DVec3> = vertices.iter().map(|&v| candidate.x[v as usize]).collect();
    let way = vertices.iter().zip(&begin);
    let way = way.map(|(&v, x)| x.distance(x0[v as usize]));
    let reach = REACH * way.fold(0.0, f64::max);
    let longest = step.iter().map(|step| step.length()).fold(0.0, f64::max);
    let mut share = if longest > reach {
        reach / longest
    } else {
        1.0
    };
    let before = merit(&candidate.x);
    for halving in 0..=HALVINGS {
        for ((&v, begin), step) in vertices.iter().zip(&begin).zip(step) {
            candidate.x[v as usize] = begin + share * step;
        }
        if halving == HALVINGS || merit(&candidate.x) < before {
            break;
        }
        share *= 0.5;
    }
    share
}
