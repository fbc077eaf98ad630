//! What touches, for all loops of an interval: rows of the implicit solve that follow the surfaces.
//!
//! Contacts are looked for once per interval; within it each loop has them where the surfaces are
//! by then. A vertex above a face, and two edges that cross, turn with the face or the edges and
//! slide along them; where a corner or an end is what touches, the normal stays.
//!
//! Most pairs that are near do not touch in a loop of a millisecond. Only those that press, and
//! those that could close in this loop, become rows of it.

use glam::DVec3;
use rayon::prelude::*;

use super::rows::{Linear, NONE, Row};
use super::solve::GRAIN;
use crate::touch;

/// A contact sleeps through a loop in which it would not come nearer to its kept gap than this share
/// of the gap, were everything twice as fast and twice as surprising as in the loop before.
const SLACK: f64 = 0.02;

/// The same in the first loop, when nothing is known of surprises.
const UNKNOWN: f64 = 0.25;

/// Surfaces are followed up to this multiple of the kept gap: beyond it, what comes to touch is seen as it will be then.
const FOLLOWED: f64 = 2.0;

/// Edges that cross at a smaller angle (its sine, squared) keep their normal.
const PARALLEL: f64 = 0.01;

/// What touches what.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// A vertex the inside of a face.
    Face,
    /// An edge the inside of another.
    Crossing,
    /// Anything else.
    Corner,
}

/// A contact by nodes.
#[derive(Clone, Copy, Debug)]
struct Held {
    kind: Kind,
    /// [`NONE`] for scripted vertices.
    nodes: [u32; 4],
    /// Of all four vertices.
    weights: [f64; 4],
    /// Where scripted vertices are at the start and at the end of the interval.
    scripted: [[DVec3; 2]; 4],
    normal: DVec3,
    kept: f64,
    opening: f64,
    friction: f64,
    /// λn.
    normal_force: f64,
    /// λt.
    tangential_force: DVec3,
}

/// The contacts of an interval.
#[derive(Clone, Debug, Default)]
pub(super) struct Contacts {
    held: Vec<Held>,
    seen: Vec<Seen>,
    /// The most by which a gap came nearer in the loop before than it would have without any force, m; none before the
    /// first loop.
    surprise: Option<f64>,
}

impl Contacts {
    /// More of them. `node_of` has [`NONE`] for vertices that are none; `ends` are the positions of
    /// scripted vertices at the start and at the end of the interval.
    pub(super) fn add(
        &mut self,
        rows: &[touch::Row],
        node_of: &[u32],
        inverse_mass: &[f64],
        ends: [&[DVec3]; 2],
    ) {
        let held = |row: &touch::Row| {
            let mut held = Held {
                kind: Kind::of(&row.weights),
                nodes: [NONE; 4],
                weights: row.weights,
                scripted: [[DVec3::ZERO; 2]; 4],
                normal: row.normal,
                kept: row.kept,
                opening: row.opening,
                friction: row.friction,
                normal_force: row.force.dot(row.normal).max(0.0),
                tangential_force: row.force.reject_from_normalized(row.normal),
            };
            for (k, &v) in row.vertices.iter().enumerate() {
                let v = v as usize;
                match inverse_mass[v] > 0.0 {
                    true => held.nodes[k] = node_of[v],
                    false => held.scripted[k] = ends.map(|x| x[v]),
                }
            }
            held
        };
        self.held.extend(rows.iter().map(held));
    }

    /// Forces, N, on the first points.
    pub(super) fn forces(&self) -> Vec<DVec3> {
        let force = |held: &Held| held.normal_force * held.normal + held.tangential_force;
        self.held.iter().map(force).collect()
    }

    /// Wakes those that may press in a loop, and sets their numbers and rows.
    pub(super) fn wake(&mut self, at: &Linear<'_>, awake: &mut Vec<u32>, rows: &mut Vec<Row>) {
        let held = self.held.par_iter_mut().with_min_len(GRAIN);
        held.map(|held| held.see(at))
            .collect_into_vec(&mut self.seen);
        // what is pushed by a contact that closes goes no faster than that one
        let closing = (self.seen.iter()).filter(|seen| seen.room < -2.0 * seen.approach);
        let fastest = closing.fold(0.0, |most: f64, seen| most.max(-seen.approach));
        let (all, surprise) = (&self.held[..], self.surprise);
        awake.clear();
        awake.extend((0..all.len() as u32).filter(|&k| {
            let (held, seen) = (&all[k as usize], &self.seen[k as usize]);
            let unforeseen = surprise.map_or(UNKNOWN * held.kept, |way| 2.0 * way);
            let way = 2.0 * fastest.max(-seen.approach) + unforeseen.max(SLACK * held.kept);
            held.normal_force > 0.0 || seen.room < way
        }));
        let numbers = awake.par_iter().with_min_len(GRAIN);
        numbers
            .map(|&k| all[k as usize].row(&self.seen[k as usize], at))
            .collect_into_vec(rows);
    }

    /// Keeps the multipliers of the rows, and looks how far they went another way than without any force.
    pub(super) fn keep(&mut self, awake: &[u32], rows: &[Row], d: &[DVec3]) {
        let mut surprise: f64 = 0.0;
        for (&k, row) in awake.iter().zip(rows) {
            let (held, seen) = (&mut self.held[k as usize], &self.seen[k as usize]);
            held.normal_force = row.normal_force;
            held.tangential_force = row.tangential_force;
            let went = row.normal.dot(row.sum(d) + seen.scripted);
            surprise = surprise.max(seen.approach - went);
        }
        self.surprise = Some(surprise);
    }
}

/// A contact at the start of a loop.
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// Gap.
    gap: f64,
    /// Gap above the one that is kept.
    room: f64,
    /// How the gap would change without any force.
    approach: f64,
    /// How its scripted points move.
    scripted: DVec3,
}

impl Held {
    /// Follows the surfaces, and looks how near they are.
    fn see(&mut self, at: &Linear<'_>) -> Seen {
        let when = |k: usize, share: f64| {
            let [start, end] = self.scripted[k];
            start + share * (end - start)
        };
        let mut now = [DVec3::ZERO; 4];
        let (mut free, mut scripted) = (DVec3::ZERO, DVec3::ZERO);
        for k in 0..4 {
            let w = self.weights[k];
            match self.nodes[k] {
                NONE => {
                    now[k] = when(k, at.shares[0]);
                    scripted += w * (when(k, at.shares[1]) - now[k]);
                }
                node => {
                    now[k] = at.x[node as usize];
                    free += w * (at.ahead[node as usize] - now[k]);
                }
            }
        }
        self.follow(&now);
        let gap = self.normal.dot(apart(&self.weights, &now));
        Seen {
            gap,
            room: gap - self.kept,
            approach: self.normal.dot(free + scripted),
            scripted,
        }
    }

    /// Turns with the surfaces, if the points are where these are nearest to each other.
    fn follow(&mut self, x: &[DVec3; 4]) {
        let found = match self.kind {
            Kind::Face => on_face(x),
            Kind::Crossing => at_crossing(x),
            Kind::Corner => None,
        };
        let Some((weights, across)) = found else {
            return;
        };
        let normal = match across.dot(self.normal) < 0.0 {
            true => -across.normalize(),
            false => across.normalize(),
        };
        let gap = normal.dot(apart(&weights, x));
        let is_near = 0.0 < gap && gap <= FOLLOWED * self.kept;
        // turned by less than 60°: the same side of the same surface
        if is_near && normal.dot(self.normal) > 0.5 {
            (self.weights, self.normal) = (weights, normal);
            let across = self.tangential_force.reject_from_normalized(normal);
            self.tangential_force = across;
        }
    }

    fn row(&self, seen: &Seen, at: &Linear<'_>) -> Row {
        let lack = (self.kept - seen.gap).clamp(0.0, self.kept);
        let opened = at.h * self.opening * lack * (lack / self.kept);
        let free = |k: usize| match self.nodes[k] {
            NONE => 0.0,
            _ => self.weights[k],
        };
        let weights = std::array::from_fn(free);
        let row = Row {
            // a weight of nothing takes no part
            nodes: std::array::from_fn(|k| {
                if weights[k] == 0.0 {
                    NONE
                } else {
                    self.nodes[k]
                }
            }),
            weights,
            normal: self.normal,
            friction: self.friction,
            stiffness: 0.0,
            room: if lack > 0.0 { -opened } else { seen.room },
            strength: f64::INFINITY,
            normal_force: self.normal_force,
            tangential_force: (self.tangential_force)
                .clamp_length_max(self.friction * self.normal_force),
            motion: seen.scripted,
            taut: None,
        };
        at.stiffened(row)
    }
}

impl Kind {
    /// By the signs of the weights: (1, −a, −b, −c), or (1−s, s, −(1−u), −u).
    fn of(weights: &[f64; 4]) -> Self {
        match weights.map(|w| w > 0.0) {
            _ if weights.contains(&0.0) => Self::Corner,
            [true, false, false, false] => Self::Face,
            [true, true, false, false] => Self::Crossing,
            _ => Self::Corner,
        }
    }
}

fn apart(weights: &[f64; 4], x: &[DVec3; 4]) -> DVec3 {
    weights.iter().zip(x).map(|(&w, x)| w * x).sum()
}

/// Weights of a vertex and the foot of its perpendicular on a face, and the perpendicular; none if
/// the foot is outside.
fn on_face(&[p, a, b, c]: &[DVec3; 4]) -> Option<([f64; 4], DVec3)> {
    let across = (b - a).cross(c - a);
    let area = across.length_squared();
    let to_b = (p - a).cross(c - a).dot(across) / area;
    let to_c = (b - a).cross(p - a).dot(across) / area;
    let to_a = 1.0 - to_b - to_c;
    let is_inside = to_a > 0.0 && to_b > 0.0 && to_c > 0.0;
    is_inside.then_some(([1.0, -to_a, -to_b, -to_c], across))
}

/// Weights of the points where two edges are nearest to each other, and their common perpendicular;
/// none at an end, or if the edges are parallel.
fn at_crossing(&[a0, a1, b0, b1]: &[DVec3; 4]) -> Option<([f64; 4], DVec3)> {
    let (a, b, between) = (a1 - a0, b1 - b0, b0 - a0);
    let across = a.cross(b);
    let size = across.length_squared();
    if size <= PARALLEL * a.length_squared() * b.length_squared() {
        return None;
    }
    let s = between.cross(b).dot(across) / size;
    let u = between.cross(a).dot(across) / size;
    let is_inside = |share: f64| 0.0 < share && share < 1.0;
    (is_inside(s) && is_inside(u)).then_some(([1.0 - s, s, u - 1.0, -u], across))
}
