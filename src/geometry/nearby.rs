//! Pairs that may meet soon: one walk through the tree answers several questions.
//!
//! Every vertex gets a *room*, a box around where it is asked about now and where it is expected to
//! be asked about next; listed are all pairs whose features overlap when every vertex fills its
//! room. A question about other positions is answered from the list as long as all vertices keep to
//! their rooms: the box of a feature is the union of those of its vertices, so it lies in the union
//! of their rooms, and features whose boxes overlap are listed. Vertices that leave their rooms get
//! new ones, and their pairs are listed anew. How large rooms are is therefore a matter of speed
//! alone.
//!
//! In a motion by a good part of an edge much is in the room of much else. Then rooms are for that
//! motion alone, and have a *schedule*: what starts where it does and ends within some slack of where it does. Pairs
//! that an axis or another direction parts, at the start and by more than the slacks of both at the end, are not listed.
//! They are apart at the start in any case, so that what is near there is asked of the same list.

use glam::DVec3;
use rayon::prelude::*;

use super::Mesh;
use super::box32::{Box32, Volume, Way32};
use super::bvh::{Boxes, Tree, joined};
use super::looks32::Looks;
use super::sweep::at;
use super::sweep32::{Listed, Motion32};

/// Motions ahead that a room is made for, at most,
const HORIZON: f64 = 3.0;
/// and the part of the shortest edge that it may go ahead beyond the first: in long rooms
/// everything is near.
const EDGE_SHARE: f64 = 0.1;
/// Room to each side beyond the expected way, as a share of that way.
const SIDE_SHARE: f64 = 0.1;
/// If more than this share of the vertices have left their rooms, all get new ones.
const MAX_MOVED_SHARE: f64 = 0.125;
/// Rooms have a schedule where vertices go further than this, in edges, on average.
const FAR: f64 = 0.25;

/// All pairs, but those of two obstacle features, that overlap while every vertex keeps to its
/// room, and to its schedule if there is one.
#[derive(Clone, Debug, Default)]
pub(super) struct Nearby {
    rooms: Vec<Box32>,
    pairs: Vec<Listed>,
    /// The last motion that was asked about; empty before the first.
    motion: Vec<DVec3>,
    schedule: Option<Schedule>,
    is_moved: Vec<bool>,
}

/// When vertices are where.
#[derive(Clone, Debug, Default)]
struct Schedule {
    /// Where each starts and ends.
    ways: Vec<[DVec3; 2]>,
    /// How far from there it may end, m.
    slack: Vec<f64>,
    /// By how much its boxes are grown, m.
    growth: Vec<f64>,
    /// Around all that each may be, with its growth.
    boxes: Vec<Way32>,
    /// What is not listed is further apart than this, m.
    distance: f64,
    single: Motion32,
}

/// What one part of the walk has listed, and what it has not looked at yet.
#[derive(Default)]
struct Found {
    looks: Looks,
    pairs: Vec<Listed>,
}

/// A motion that is asked about.
pub(super) struct Boxed<'a> {
    pub(super) start: &'a [DVec3],
    pub(super) end: &'a [DVec3],
    /// Of its vertices, each grown.
    pub(super) boxes: &'a [Box32],
    /// What two features may be proved apart by to be left out, m; none if all are meant whose boxes overlap.
    pub(super) distance: Option<f64>,
}

impl Nearby {
    /// Remembers a motion, from which the next rooms are made.
    pub(super) fn expect(&mut self, x0: &[DVec3], x1: &[DVec3]) {
        self.motion.clear();
        self.motion
            .extend(x1.iter().zip(x0).map(|(x1, x0)| x1 - x0));
    }

    /// Whether nothing has ever been listed.
    pub(super) fn is_empty(&self) -> bool {
        self.rooms.is_empty()
    }

    /// Whether the list holds as it is for a question whose boxes are not grown.
    pub(super) fn is_covering(&self, asked: &Boxed<'_>) -> bool {
        let is_still = asked.is_still();
        let holds = |v: usize| self.keeps(v, asked, is_still, 0.0);
        self.is_answered(asked)
            && (0..self.rooms.len())
                .into_par_iter()
                .with_min_len(4096)
                .all(holds)
    }

    /// Whether a vertex keeps to its room, and to its schedule; of that only the start counts if nothing moves.
    fn keeps(&self, v: usize, asked: &Boxed<'_>, is_still: bool, growth: f64) -> bool {
        let in_time = |schedule: &Schedule| {
            schedule.starts(v, asked.start[v], growth)
                && (is_still || schedule.ends(v, asked.end[v]))
        };
        self.rooms[v].holds(&asked.boxes[v]) && self.schedule.as_ref().is_none_or(in_time)
    }

    /// Makes the list hold for a question, whose boxes are grown by `growth`.
    pub(super) fn cover(
        &mut self,
        (tree, fitted, ways): (&mut Tree, &mut Boxes<Box32>, &mut Boxes<Way32>),
        mesh: &Mesh,
        asked: &Boxed<'_>,
        growth: impl Fn(usize) -> f64 + Sync,
    ) {
        let count = asked.boxes.len();
        self.rooms.resize(count, Box32::EMPTY);
        if !self.is_answered(asked) {
            self.rooms.fill(Box32::EMPTY);
        }
        let mut is_moved = std::mem::take(&mut self.is_moved);
        let is_still = asked.is_still();
        let vertices = (0..count).into_par_iter().with_min_len(4096);
        vertices
            .map(|v| !self.keeps(v, asked, is_still, growth(v)))
            .collect_into_vec(&mut is_moved);
        self.is_moved = is_moved;
        let moved = self.is_moved.iter().filter(|&&is_moved| is_moved).count();
        if moved == 0 {
            return;
        }
        let is_all = moved as f64 > MAX_MOVED_SHARE * count as f64;
        if is_all {
            self.is_moved.fill(true);
            let distance = asked.distance.filter(|_| self.goes_far(mesh, asked.start));
            self.schedule = distance.map(|distance| Schedule {
                ways: vec![[DVec3::ZERO; 2]; count],
                slack: vec![0.0; count],
                growth: vec![0.0; count],
                boxes: vec![Way32::EMPTY; count],
                distance,
                ..Schedule::default()
            });
        }
        for v in (0..count).filter(|&v| self.is_moved[v]) {
            self.rooms[v] = match &mut self.schedule {
                Some(schedule) => schedule.room(v, asked, growth(v)),
                None => self.room(mesh, v, asked.start, growth(v)),
            }
            .union(asked.boxes[v]);
        }
        match &mut self.schedule {
            Some(schedule) => {
                schedule.set();
                tree.fit(ways, mesh, &schedule.boxes);
                self.list((tree, ways), mesh, is_all);
            }
            None => {
                tree.fit(fitted, mesh, &self.rooms);
                self.list((tree, fitted), mesh, is_all);
            }
        }
    }

    /// Whether the list is of the kind that is asked for.
    fn is_answered(&self, asked: &Boxed<'_>) -> bool {
        let is_wide = |schedule: &Schedule| {
            (asked.distance).is_some_and(|distance| distance <= schedule.distance)
        };
        self.schedule.as_ref().is_none_or(is_wide)
    }

    /// Whether the last motion was far.
    pub(super) fn goes_far(&self, mesh: &Mesh, x: &[DVec3]) -> bool {
        let far = (self.motion.iter().enumerate())
            .map(|(v, way)| (way.length() / shortest_edge(mesh, v, x)).min(1.0 / EDGE_SHARE));
        far.sum::<f64>() > FAR * x.len() as f64
    }

    /// For a vertex that is at `x` and may go on as it did.
    fn room(&self, mesh: &Mesh, v: usize, x: &[DVec3], growth: f64) -> Box32 {
        let way = self.motion.get(v).copied().unwrap_or_default();
        let edge = shortest_edge(mesh, v, x);
        let ahead = (1.0 + EDGE_SHARE * edge / way.length()).min(HORIZON);
        let side = 2.0 * growth + SIDE_SHARE * way.length();
        Box32::of_vertex(x[v], x[v] + ahead * way, side)
    }

    /// Lists all pairs, or those of what has moved anew.
    fn list<B: Volume>(
        &mut self,
        (tree, boxes): (&mut Tree, &Boxes<B>),
        mesh: &Mesh,
        is_all: bool,
    ) {
        let Self {
            pairs,
            schedule,
            is_moved,
            ..
        } = self;
        let has_moved = |listed: &Listed| at(is_moved, listed.vertices).contains(&true);
        let single = schedule.as_ref().map(|schedule| &schedule.single);
        let moved = (!is_all).then_some(&is_moved[..]);
        let add = |listed, Found { looks, pairs }: &mut Found| {
            if is_all || has_moved(&listed) {
                match single {
                    Some(motion) => looks.add(listed, motion, |open| pairs.push(open)),
                    None => pairs.push(listed),
                }
            }
        };
        let mut found = tree.overlaps(boxes, mesh, moved, 1, add);
        if let Some(motion) = single {
            (found.par_iter_mut())
                .for_each(|Found { looks, pairs }| looks.finish(motion, |open| pairs.push(open)));
        }
        let found = joined(found.into_iter().map(|found| found.pairs).collect());
        match is_all {
            true => *pairs = found,
            false => {
                pairs.retain(|listed| !has_moved(listed));
                pairs.extend(found);
            }
        }
    }

    /// Reports all pairs with overlapping boxes that are not idle, and that looks at a motion, if one is given, do not find further apart
    /// than its distance, in an order that does not depend on the number of threads; the list must cover these boxes.
    pub(super) fn overlaps<T: Send>(
        &self,
        boxes: &[Box32],
        is_idle: impl Fn(&Listed) -> bool + Sync,
        single: Option<&Motion32>,
        report: impl Fn(Listed, &mut Vec<T>) + Sync,
    ) -> Vec<T> {
        let overlap = |listed: &Listed| {
            let [a, b, c, d] = at(boxes, listed.vertices);
            if listed.is_vertex_face() {
                a.overlaps(&b.union(c).union(d))
            } else {
                a.union(b).overlaps(&c.union(d))
            }
        };
        let part = |pairs: &[Listed]| {
            let (mut looks, mut out) = (Looks::default(), Vec::new());
            for listed in pairs {
                if !is_idle(listed) && overlap(listed) {
                    match single {
                        Some(motion) => looks.add(*listed, motion, |open| report(open, &mut out)),
                        None => report(*listed, &mut out),
                    }
                }
            }
            if let Some(motion) = single {
                looks.finish(motion, |open| report(open, &mut out));
            }
            out
        };
        joined(self.pairs.par_chunks(4096).map(part).collect())
    }
}

impl Boxed<'_> {
    fn is_still(&self) -> bool {
        self.start == self.end
    }
}

impl Schedule {
    /// Whether a vertex starts where it is expected to, with a box that is grown by no more.
    fn starts(&self, v: usize, start: DVec3, growth: f64) -> bool {
        start == self.ways[v][0] && growth <= self.growth[v]
    }

    fn ends(&self, v: usize, end: DVec3) -> bool {
        end.distance(self.ways[v][1]) <= self.slack[v]
    }

    fn set(&mut self) {
        let Self {
            ways,
            slack,
            distance,
            single,
            ..
        } = self;
        single.set_schedule(ways, slack, *distance);
    }

    /// Puts a vertex on it, as it is asked about, and returns its room.
    fn room(&mut self, v: usize, asked: &Boxed<'_>, growth: f64) -> Box32 {
        let [a, b] = [asked.start[v], asked.end[v]];
        self.ways[v] = [a, b];
        let slack = growth + SIDE_SHARE * a.distance(b);
        (self.slack[v], self.growth[v]) = (slack, growth);
        self.boxes[v] = Way32::of_vertex([a, b], [growth, growth + slack]);
        Box32::of_vertex(a, b, growth + slack)
    }
}

fn shortest_edge(mesh: &Mesh, v: usize, x: &[DVec3]) -> f64 {
    let edges = mesh.neighbours(v as u32);
    let lengths = edges.map(|w| x[v].distance(x[w as usize]));
    lengths.fold(f64::INFINITY, f64::min)
}
