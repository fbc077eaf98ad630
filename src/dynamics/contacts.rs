//! What touches, for all loops of an interval: rows of the implicit solve that follow the surfaces.
//!
//! Contacts are looked for once per interval; within it each loop has them where the surfaces are
//! by then. A vertex above a face, and two edges that cross, turn with the face or the edges and
//! slide along them; what presses and slides off hands its force over to what touches there. Where a
//! corner or an end is what touches, the normal stays.
//!
//! Most pairs that are near do not touch in a loop of a millisecond. Only those that press, and
//! those that could close in this loop, become rows of it.

use glam::DVec3;
use rayon::prelude::*;

use super::rows::{Linear, NONE, Row};
use super::solve::GRAIN;
use crate::geometry::proximity::{closest_points_edge_edge, closest_points_vertex_face};
use crate::touch::{self, Left, Slid};

/// A contact sleeps through a loop in which it would not come nearer to its kept gap than this share
/// of the gap, were everything twice as fast and twice as surprising as in the loop before.
const SLACK: f64 = 0.02;

/// The same in the first loop, when nothing is known of surprises.
const UNKNOWN: f64 = 0.25;

/// Surfaces are followed up to this multiple of the kept gap: beyond it, what comes to touch is seen as it will be then.
const FOLLOWED: f64 = 2.0;

/// Edges that cross at a smaller angle (its sine, squared) keep their normal.
const PARALLEL: f64 = 0.01;

/// A contact by nodes.
#[derive(Clone, Copy, Debug)]
struct Held {
    is_edge_edge: bool,
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
    /// Whether another contact has taken its place.
    is_gone: bool,
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
                is_edge_edge: row.is_edge_edge,
                nodes: [NONE; 4],
                weights: row.weights,
                scripted: [[DVec3::ZERO; 2]; 4],
                normal: row.normal,
                kept: row.kept,
                opening: row.opening,
                friction: row.friction,
                normal_force: row.force.dot(row.normal).max(0.0),
                tangential_force: row.force.reject_from_normalized(row.normal),
                is_gone: false,
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

    /// Those that press, or nearly do, and have slid off their features, with free nodes at `x` and at this share of the
    /// interval.
    pub(super) fn left(&self, x: &[DVec3], share: f64) -> Vec<Left> {
        let numbers = self.held.par_iter().enumerate().with_min_len(GRAIN);
        let left = numbers.filter(|(_, held)| !held.is_gone && held.has_left(x, share));
        left.map(|(number, held)| Left {
            row: number as u32,
            normal: held.normal,
        })
        .collect()
    }

    /// Lets others take the place of those that were left; what was left before may be slid onto again.
    pub(super) fn hand_over(&mut self, left: &[Left], slid: &Slid) {
        for &number in &slid.inside {
            self.held[number as usize].is_gone = false;
        }
        for (left, heir) in left.iter().zip(&slid.heirs) {
            let Some(heir) = heir else { continue };
            let from = &mut self.held[left.row as usize];
            let force = from.normal_force * from.normal + from.tangential_force;
            (from.normal_force, from.tangential_force) = (0.0, DVec3::ZERO);
            from.is_gone = true;
            let to = &mut self.held[*heir as usize];
            // its first point may be on the other side
            let force = force * to.normal.dot(left.normal).signum();
            to.normal_force += force.dot(to.normal).max(0.0);
            to.tangential_force += force.reject_from_normalized(to.normal);
        }
    }

    /// Wakes those that may press in a loop, and sets their numbers and rows.
    pub(super) fn wake(&mut self, at: &Linear<'_>, awake: &mut Vec<u32>, rows: &mut Vec<Row>) {
        let held = self.held.par_iter_mut().with_min_len(GRAIN);
        held.map(|held| held.see(at))
            .collect_into_vec(&mut self.seen);
        // what is pushed by a contact that closes goes no faster than that one
        let staying = self.seen.iter().zip(&self.held);
        let staying = staying.filter_map(|(seen, held)| (!held.is_gone).then_some(seen));
        let closing = staying.filter(|seen| seen.room < -2.0 * seen.approach);
        let fastest = closing.fold(0.0, |most: f64, seen| most.max(-seen.approach));
        let (all, surprise) = (&self.held[..], self.surprise);
        awake.clear();
        awake.extend((0..all.len() as u32).filter(|&k| {
            let (held, seen) = (&all[k as usize], &self.seen[k as usize]);
            let unforeseen = surprise.map_or(UNKNOWN * held.kept, |way| 2.0 * way);
            let way = 2.0 * fastest.max(-seen.approach) + unforeseen.max(SLACK * held.kept);
            !held.is_gone && (held.normal_force > 0.0 || seen.room < way)
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
        let distance = self.follow(&now);
        let mut gap = self.normal.dot(apart(&self.weights, &now));
        if distance > FOLLOWED * self.kept {
            // along a normal that will be, what is still far may seem near
            gap = gap.max(distance);
        }
        Seen {
            gap,
            room: gap - self.kept,
            approach: self.normal.dot(free + scripted),
            scripted,
        }
    }

    /// Whether it presses, or nearly does, where the surfaces are nearest to each other beyond its features.
    fn has_left(&self, x: &[DVec3], share: f64) -> bool {
        let now: [DVec3; 4] = std::array::from_fn(|k| match self.nodes[k] {
            NONE => self.scripted[k][0].lerp(self.scripted[k][1], share),
            node => x[node as usize],
        });
        let gap = self.normal.dot(apart(&self.weights, &now));
        let may_press = self.normal_force > 0.0 || gap < (1.0 + UNKNOWN) * self.kept;
        may_press && matches!(self.nearest(&now), Nearest::Beyond)
    }

    fn nearest(&self, x: &[DVec3; 4]) -> Nearest {
        match self.is_edge_edge {
            true => at_crossing(x),
            false => on_face(x),
        }
    }

    /// Turns with the surfaces, and goes where these are nearest to each other; returns how near that is.
    fn follow(&mut self, x: &[DVec3; 4]) -> f64 {
        // turned by less: the same side of the same surface
        let (weights, across, turned) = match self.nearest(x) {
            Nearest::Inside(weights, across) => (weights, across, 0.5),
            Nearest::Beyond | Nearest::Unclear => {
                let closest = match self.is_edge_edge {
                    true => closest_points_edge_edge(*x),
                    false => closest_points_vertex_face(*x),
                };
                (closest.weights, apart(&closest.weights, x), 0.0)
            }
        };
        let normal = match across.dot(self.normal) < 0.0 {
            true => -across.normalize(),
            false => across.normalize(),
        };
        let gap = normal.dot(apart(&weights, x));
        let is_near = 0.0 < gap && gap <= FOLLOWED * self.kept;
        if is_near && normal.dot(self.normal) > turned {
            (self.weights, self.normal) = (weights, normal);
            let across = self.tangential_force.reject_from_normalized(normal);
            self.tangential_force = across;
        }
        gap.abs()
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

fn apart(weights: &[f64; 4], x: &[DVec3; 4]) -> DVec3 {
    weights.iter().zip(x).map(|(&w, x)| w * x).sum()
}

/// Where the surfaces of a contact are nearest to each other.
enum Nearest {
    /// Inside both features: weights, and what is across them.
    Inside([f64; 4], DVec3),
    /// Beyond them.
    Beyond,
    Unclear,
}

/// A vertex and the foot of its perpendicular on a face.
fn on_face(&[p, a, b, c]: &[DVec3; 4]) -> Nearest {
    let across = (b - a).cross(c - a);
    let area = across.length_squared();
    let to_b = (p - a).cross(c - a).dot(across) / area;
    let to_c = (b - a).cross(p - a).dot(across) / area;
    let to_a = 1.0 - to_b - to_c;
    match to_a > 0.0 && to_b > 0.0 && to_c > 0.0 {
        true => Nearest::Inside([1.0, -to_a, -to_b, -to_c], across),
        false => Nearest::Beyond,
    }
}

/// The points where two edges are nearest to each other, and their common perpendicular; unclear if they are parallel.
fn at_crossing(&[a0, a1, b0, b1]: &[DVec3; 4]) -> Nearest {
    let (a, b, between) = (a1 - a0, b1 - b0, b0 - a0);
    let across = a.cross(b);
    let size = across.length_squared();
    if size <= PARALLEL * a.length_squared() * b.length_squared() {
        return Nearest::Unclear;
    }
    let s = between.cross(b).dot(across) / size;
    let u = between.cross(a).dot(across) / size;
    let is_inside = |share: f64| 0.0 < share && share < 1.0;
    match is_inside(s) && is_inside(u) {
        true => Nearest::Inside([1.0 - s, s, u - 1.0, -u], across),
        false => Nearest::Beyond,
    }
}
