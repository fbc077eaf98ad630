//! What touches, for all loops of an interval: rows of the implicit solve that follow the surfaces.
//!
//! Contacts are looked for once per interval; within it each loop has them where the surfaces are
//! by then. A vertex above a face, and two edges that cross, turn with the face or the edges and
//! slide along them; what presses and slides off hands its force over to what touches there. Only
//! where nothing does, a corner or an end touches, and the normal is that between the closest points:
//! what is about to slide onto a face is as near to its border, but is not to be stopped by it.
//!
//! Most pairs that are near do not touch in a loop of a millisecond. Only those that press, and
//! those that could close in this loop, become rows of it.

use glam::DVec3;
use rayon::prelude::*;

use super::rows::{Linear, NONE, Row};
use super::solve::{GRAIN, evenly};
use crate::geometry::proximity::{closest_points_edge_edge, closest_points_vertex_face};
use crate::touch::{self, Placed};

/// A contact sleeps through a loop in which it would not come nearer to its kept gap than this share
/// of the gap, were everything twice as fast and twice as surprising as in the loop before.
const SLACK: f64 = 0.02;

/// The same in the first loop, when nothing is known of surprises.
const UNKNOWN: f64 = 0.25;

/// Surfaces are followed up to this multiple of the kept gap: beyond it, what comes to touch is seen as it will be then.
const FOLLOWED: f64 = 2.0;

/// Where a normal leans so far that what slides comes nearer along it by more than this share of its kept gap in a loop, it has to stand upright on both
/// surfaces.
const FAST: f64 = 0.05;

/// Of edges that cross at a smaller angle (its sine, squared), the normal is that between their closest points.
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
    standing: Standing,
    /// Of its features.
    distance: f64,
    /// In any loop so far.
    has_pressed: bool,
}

/// What a contact counts for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Standing {
    /// It may press.
    Touching,
    /// The same, at a corner or an end that nothing else is next to.
    AtEnd,
    /// Something next to it is nearer: it waits until its points are inside of their features.
    Aside,
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
                standing: match row.is_aside {
                    true => Standing::Aside,
                    false => Standing::Touching,
                },
                distance: 0.0,
                has_pressed: false,
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

    /// Which of them pressed in any loop.
    pub(super) fn have_pressed(&self) -> Vec<bool> {
        self.held.iter().map(|held| held.has_pressed).collect()
    }

    /// Those that press, or nearly do, and have slid off their features, with free nodes at `x` and at this share of the
    /// interval.
    pub(super) fn left(&self, x: &[DVec3], share: f64) -> Vec<Placed> {
        self.placed(|held| held.has_left(x, share))
    }

    /// Lets others take the place of those that were left; those may be slid onto again.
    pub(super) fn hand_over(&mut self, left: &[Placed], heirs: &[Option<u32>]) {
        for (left, heir) in left.iter().zip(heirs) {
            let from = &mut self.held[left.row as usize];
            let Some(heir) = heir else {
                from.standing = Standing::AtEnd;
                continue;
            };
            let force = from.normal_force * from.normal + from.tangential_force;
            from.set_aside();
            let to = &mut self.held[*heir as usize];
            // its first point may be on the other side
            let force = force * to.normal.dot(left.normal).signum();
            to.normal_force += force.dot(to.normal).max(0.0);
            to.tangential_force += force.reject_from_normalized(to.normal);
        }
    }

    /// Follows the surfaces.
    pub(super) fn follow(&mut self, x: &[DVec3], share: f64) {
        evenly(self.held.par_iter_mut(), GRAIN).for_each(|held| held.follow(&held.at(x, share)));
    }

    /// Those that may press in a loop of `h` seconds in which they slide far, if free nodes go on as they do.
    pub(super) fn fast(&self, v: &[DVec3], h: f64, shares: [f64; 2]) -> Vec<Placed> {
        self.placed(|held| {
            let way = held.way(v, h, shares);
            let along = way.reject_from_normalized(held.normal).length();
            along > FAST * held.kept && held.distance - way.length() < held.kept
        })
    }

    fn placed(&self, is_meant: impl Fn(&Held) -> bool + Sync) -> Vec<Placed> {
        let numbers = self.held.par_iter().enumerate().with_min_len(GRAIN);
        let meant = numbers.filter(|(_, held)| held.may_press() && is_meant(held));
        let placed = |(row, held): (usize, &Held)| Placed {
            row: row as u32,
            weights: held.weights,
            normal: held.normal,
        };
        meant.map(placed).collect()
    }

    /// Turns their normals where these would stop what slides; what does not press and has none waits.
    pub(super) fn stand(
        &mut self,
        rows: &[Placed],
        normals: &[Option<DVec3>],
        v: &[DVec3],
        h: f64,
        shares: [f64; 2],
    ) {
        for (row, normal) in rows.iter().zip(normals) {
            let held = &mut self.held[row.row as usize];
            let way = held.way(v, h, shares);
            match normal {
                Some(normal) if way.dot(*normal - held.normal) > FAST * held.kept => {
                    held.turn(held.weights, *normal);
                }
                None if held.normal_force == 0.0 => held.set_aside(),
                _ => {}
            }
        }
    }

    /// Wakes those that may press in a loop, and sets their numbers and rows.
    pub(super) fn wake(&mut self, at: &Linear<'_>, awake: &mut Vec<u32>, rows: &mut Vec<Row>) {
        let seen = self.held.par_iter().map(|held| held.see(at));
        evenly(seen, GRAIN).collect_into_vec(&mut self.seen);
        // what is pushed by a contact that closes goes no faster than that one
        let staying = self.seen.iter().zip(&self.held);
        let staying = staying.filter_map(|(seen, held)| held.may_press().then_some(seen));
        let closing = staying.filter(|seen| seen.room < -2.0 * seen.approach);
        let fastest = closing.fold(0.0, |most: f64, seen| most.max(-seen.approach));
        let (all, surprise) = (&self.held[..], self.surprise);
        awake.clear();
        awake.extend((0..all.len() as u32).filter(|&k| {
            let (held, seen) = (&all[k as usize], &self.seen[k as usize]);
            let unforeseen = surprise.map_or(UNKNOWN * held.kept, |way| 2.0 * way);
            let way = 2.0 * fastest.max(-seen.approach) + unforeseen.max(SLACK * held.kept);
            held.may_press() && (held.normal_force > 0.0 || seen.room < way)
        }));
        let numbers = awake.par_iter();
        let row = numbers.map(|&k| all[k as usize].row(&self.seen[k as usize], at));
        evenly(row, GRAIN).collect_into_vec(rows);
    }

    /// Keeps the multipliers of the rows, and looks how far they went another way than without any force.
    pub(super) fn keep(&mut self, awake: &[u32], rows: &[Row], d: &[DVec3]) {
        let mut surprise: f64 = 0.0;
        for (&k, row) in awake.iter().zip(rows) {
            let (held, seen) = (&mut self.held[k as usize], &self.seen[k as usize]);
            held.normal_force = row.normal_force;
            held.tangential_force = row.tangential_force;
            held.has_pressed |= row.normal_force > 0.0;
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
    /// Looks how near the surfaces are, and how they move.
    fn see(&self, at: &Linear<'_>) -> Seen {
        let points = self.at(at.x, at.shares[0]);
        let mut gap = self.normal.dot(apart(&self.weights, &points));
        if self.distance > FOLLOWED * self.kept {
            // along a normal that will be, what is still far may seem near
            gap = gap.max(self.distance);
        }
        let [mut free, mut scripted] = [DVec3::ZERO; 2];
        for (k, &w) in self.weights.iter().enumerate() {
            match self.nodes[k] {
                NONE => scripted += w * (self.scripted_at(k, at.shares[1]) - points[k]),
                node => free += w * (at.ahead[node as usize] - points[k]),
            }
        }
        Seen {
            gap,
            room: gap - self.kept,
            approach: self.normal.dot(free + scripted),
            scripted,
        }
    }

    /// Its vertices.
    fn at(&self, x: &[DVec3], share: f64) -> [DVec3; 4] {
        std::array::from_fn(|k| match self.nodes[k] {
            NONE => self.scripted_at(k, share),
            node => x[node as usize],
        })
    }

    /// How the first point goes away from the second one in a loop.
    fn way(&self, v: &[DVec3], h: f64, shares: [f64; 2]) -> DVec3 {
        let ways = (0..4).map(|k| match self.nodes[k] {
            NONE => (shares[1] - shares[0]) * (self.scripted[k][1] - self.scripted[k][0]),
            node => h * v[node as usize],
        });
        self.weights.iter().zip(ways).map(|(&w, way)| w * way).sum()
    }

    fn scripted_at(&self, k: usize, share: f64) -> DVec3 {
        self.scripted[k][0].lerp(self.scripted[k][1], share)
    }

    fn may_press(&self) -> bool {
        self.standing != Standing::Aside
    }

    /// Whether it presses, or nearly does, where the surfaces are nearest to each other beyond its features.
    fn has_left(&self, x: &[DVec3], share: f64) -> bool {
        let points = self.at(x, share);
        let gap = self.normal.dot(apart(&self.weights, &points));
        let is_near = self.normal_force > 0.0 || gap < (1.0 + UNKNOWN) * self.kept;
        is_near && matches!(self.nearest(&points), Nearest::Beyond)
    }

    fn nearest(&self, x: &[DVec3; 4]) -> Nearest {
        match self.is_edge_edge {
            true => at_crossing(x),
            false => on_face(x),
        }
    }

    /// Turns with the surfaces, and goes where these are nearest to each other.
    fn follow(&mut self, x: &[DVec3; 4]) {
        let nearest = self.nearest(x);
        if let Nearest::Inside(weights, across) = nearest {
            let normal = across.normalize();
            let normal = normal * normal.dot(self.normal).signum();
            let gap = normal.dot(apart(&weights, x));
            self.distance = gap.abs();
            let is_found = match self.may_press() {
                // turned by less: the same side of the same surface
                true => gap <= FOLLOWED * self.kept && normal.dot(self.normal) > 0.5,
                false => true,
            };
            if gap > 0.0 && is_found {
                self.turn(weights, normal);
                self.standing = Standing::Touching;
            }
            return;
        }
        let closest = match self.is_edge_edge {
            true => closest_points_edge_edge(*x),
            false => closest_points_vertex_face(*x),
        };
        let (between, distance) = (apart(&closest.weights, x), closest.distance_squared.sqrt());
        self.distance = distance;
        let is_followed = match nearest {
            Nearest::Unclear => self.may_press(),
            _ => self.standing == Standing::AtEnd,
        };
        let is_near = 0.0 < distance && distance <= FOLLOWED * self.kept;
        if is_followed && is_near && between.dot(self.normal) > 0.0 {
            self.turn(closest.weights, between / distance);
        }
    }

    fn set_aside(&mut self) {
        self.standing = Standing::Aside;
        (self.normal_force, self.tangential_force) = (0.0, DVec3::ZERO);
    }

    fn turn(&mut self, weights: [f64; 4], normal: DVec3) {
        (self.weights, self.normal) = (weights, normal);
        self.tangential_force = self.tangential_force.reject_from_normalized(normal);
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
