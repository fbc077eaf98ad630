//! Which side of a path is the wrong one: votes, in the order in which they convince.
//!
//! The paper's rule is the smaller side. It is right where little has come through, and a coin where half has. So where neither side is small,
//! what knows more comes first: the side that was chosen when the path was last looked at, then the stretch that is left by
//! what pushed the cloth through. A body knows its inside, and where layers are given, they know what belongs outside. Both partners are chosen together: where one has to go up, the other has to go down.

use glam::DVec3;

use super::attract::corresponding_segment;
use super::paths::{Path, PathKind};
use super::regions::Inside;
use super::{Analysis, Rest, winding};
use crate::geometry::{BodyKind, Mesh};

/// Share of the area of a piece of cloth below which the smaller side is believed at once.
const SMALL: f64 = 0.25;
/// Regions of fewer than one in so many vertices are small.
const LARGE: usize = 8;
/// So many times as much energy of stretch per area as on the other side convinces, if it is that of this strain at least. Against a small side it
/// does not: where patterns are not quite those of the cloth, twice as much is found anywhere.
const STRETCHED: f64 = 1.2;
const STRAIN: f64 = 0.01;
/// Times as many vertices along a path have to remember a side as to contradict it.
const REMEMBERED: f64 = 1.5;
/// Cosine between the normals of two sheets, on average, from which on it is clear what up and down is to both.
const PARALLEL: f64 = 0.3;
/// Share of the votes by which a path has to know on which side of its partner something lies.
const MAJORITY: f64 = 0.2;

/// How much a choice convinces.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
struct Trust(f64);

const CERTAIN: Trust = Trust(4.0);
const LITTLE: Trust = Trust(3.0);
const HISTORY: Trust = Trust(2.0);
const STRETCH: Trust = Trust(1.5);

/// What is asked for a side.
#[derive(Clone, Copy)]
pub struct Votes<'a> {
    /// The mesh.
    pub mesh: &'a Mesh,
    /// Its positions, in metres.
    pub x: &'a [DVec3],
    /// The undeformed cloth.
    pub rest: Rest<'a>,
    /// [`Mesh::orientation`].
    pub orientation: Option<&'a [bool]>,
    /// Layer of each vertex; empty if nobody knows. Of two pieces that of the higher layer belongs on the side to which the faces of the other look.
    pub layers: &'a [i32],
    /// For each vertex whether it was on the wrong side of something when last looked at; empty if nobody knows.
    pub was_wrong: &'a [bool],
    /// What that is worth.
    pub history: History,
}

/// What it is worth that something was on the wrong side before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum History {
    /// A hint where neither side is small.
    Hint,
    /// A choice that was made for reasons, and is kept.
    Certain,
}

impl Analysis {
    /// Chooses the wrong side of every path anew, by all that is known.
    ///
    /// Returns the paths of which the side was not just the smaller one.
    pub fn choose_sides(&mut self, votes: &Votes<'_>) -> Vec<u32> {
        let mut contested = Vec::new();
        for first in 0..self.paths.len() {
            let second = self.paths[first].partner as usize;
            if second < first {
                continue;
            }
            let count = if first == second { 1 } else { 2 };
            let mut choices: Vec<Option<(bool, Trust)>> = [first, second][..count]
                .iter()
                .map(|&p| votes.choice(self, &self.paths[p]))
                .collect();
            if let [Some(own), Some(other)] = &mut choices[..] {
                let pair = [first, second].map(|p| &self.paths[p]);
                let (own_wrong, other_wrong) = (
                    votes.wrong_side(self, pair[0], pair[1]),
                    votes.wrong_side(self, pair[1], pair[0]),
                );
                // the sides as they are found; a flipped choice lies on the other side
                let sign = |is_flipped: bool| if is_flipped { -1.0 } else { 1.0 };
                let product = own_wrong * sign(own.0) * other_wrong * sign(other.0);
                if product * votes.parallel(self, pair[0], pair[1]) > 0.0 {
                    let (weaker, stronger) = match own.1 < other.1 {
                        true => (own, other),
                        false => (other, own),
                    };
                    if weaker.1 < STRETCH && stronger.1 > weaker.1 {
                        weaker.0 = !weaker.0;
                    }
                }
            }
            for (&p, choice) in [first, second].iter().zip(choices) {
                if choice.is_some_and(|(_, trust)| trust < LITTLE) {
                    contested.push(p as u32);
                }
                if let Some((true, _)) = choice {
                    let path = &self.paths[p];
                    let others = beyond(votes.mesh, path, path.inside.vertices());
                    self.paths[p].inside = Inside::Vertices(others);
                }
            }
        }
        contested
    }
}

impl Votes<'_> {
    /// Whether the other side than that found is the wrong one, and how much that convinces; `None` if there is no choice.
    fn choice(&self, analysis: &Analysis, path: &Path) -> Option<(bool, Trust)> {
        let Inside::Vertices(fewer) = &path.inside else {
            return None;
        };
        if matches!(path.kind, PathKind::Bli | PathKind::Blb) {
            return None; // it does not part the cloth: there is no other side
        }
        let partner = &analysis.paths[path.partner as usize];
        let body = self.mesh.body_of_face(partner.faces[0]);
        if self.mesh.bodies()[body as usize].kind == BodyKind::Obstacle {
            let is_out = !fewer.is_empty() && !winding::are_inside(self.mesh, self.x, body, fewer);
            return Some((is_out, CERTAIN));
        }
        if let Some(is_other) = self.by_layers(analysis, path, partner) {
            return Some((is_other, CERTAIN));
        }
        if self.history == History::Certain
            && let Some(is_other) = self.remembered(path, fewer)
        {
            return Some((is_other, HISTORY));
        }
        if LARGE * fewer.len() <= self.mesh.vertex_count() {
            return Some((false, LITTLE)); // fewer vertices by far are less area too
        }
        let others = beyond(self.mesh, path, fewer);
        let [(area, energy), (other_area, other_energy)] =
            [fewer, &others].map(|part| self.area_and_energy(part));
        let share = area.min(other_area) / (area + other_area);
        let is_smaller = area > other_area;
        let [own, other] = [energy / area, other_energy / other_area];
        if share < SMALL {
            return Some((is_smaller, LITTLE));
        }
        if self.history == History::Hint
            && let Some(is_other) = self.remembered(path, fewer)
        {
            return Some((is_other, HISTORY));
        }
        let is_stretched = own.max(other) > STRAIN * STRAIN;
        if is_stretched && own.max(other) > STRETCHED * own.min(other) {
            return Some((other > own, STRETCH));
        }
        Some((is_smaller, Trust(1.0 - share)))
    }

    /// Whether layers say that the other part than that found is the wrong one; equal ones, and paths along which sides are not clear, say nothing.
    fn by_layers(&self, analysis: &Analysis, own: &Path, other: &Path) -> Option<bool> {
        let layer = |path: &Path| {
            let [v, ..] = self.mesh.faces()[path.faces[0] as usize];
            self.layers.get(v as usize)
        };
        let (layer, partners) = (layer(own)?, layer(other)?);
        let side = self.wrong_side(analysis, own, other);
        let is_known = layer != partners && side != 0.0;
        is_known.then_some((side > 0.0) == (layer > partners))
    }

    /// Whether the vertices along a path remember that the other side was the wrong one.
    fn remembered(&self, path: &Path, inside: &[u32]) -> Option<bool> {
        if self.was_wrong.is_empty() {
            return None;
        }
        let (mut agree, mut contradict, mut marked) = (0.0, 0.0, 0.0);
        for &v in path
            .faces
            .iter()
            .flat_map(|&f| &self.mesh.faces()[f as usize])
        {
            let was_wrong = self.was_wrong[v as usize];
            marked += f64::from(u8::from(was_wrong));
            match inside.binary_search(&v).is_ok() == was_wrong {
                true => agree += 1.0,
                false => contradict += 1.0,
            }
        }
        if marked == 0.0 || marked == agree + contradict {
            return None; // nobody was here before, or all of it was wrong
        }
        let is_clear = f64::max(agree, contradict) > REMEMBERED * f64::min(agree, contradict);
        is_clear.then_some(contradict > agree)
    }

    /// Area of the faces around some vertices at rest, each a third for each of its corners, in m², and its squared strain, in m².
    fn area_and_energy(&self, vertices: &[u32]) -> (f64, f64) {
        let (mut area, mut energy) = (0.0, 0.0);
        for &f in vertices.iter().flat_map(|&v| self.mesh.faces_of_vertex(v)) {
            let [a, b, c] = self.rest.lengths(self.mesh, self.x, f);
            let s = 0.5 * (a + b + c);
            let part = (s * (s - a) * (s - b) * (s - c)).max(0.0).sqrt() / 3.0;
            let [p, q, r] = self.mesh.faces()[f as usize].map(|v| self.x[v as usize]);
            let now = [p.distance(q), q.distance(r), r.distance(p)];
            let strain = |now: f64, at_rest: f64| {
                let strain = if at_rest > 0.0 {
                    now / at_rest - 1.0
                } else {
                    0.0
                };
                strain * strain
            };
            area += part;
            energy += part * (strain(now[0], a) + strain(now[1], b) + strain(now[2], c)) / 3.0;
        }
        (area, energy)
    }

    /// Which side of the other partner the inside lies on.
    fn wrong_side(&self, analysis: &Analysis, own: &Path, other: &Path) -> f64 {
        let facing = Facing {
            mesh: self.mesh,
            x: self.x,
            orientation: self.orientation,
        };
        facing.wrong_side(analysis, own, other, own.inside.vertices())
    }

    /// 1 if the normals of two sheets mostly agree along their path, −1 if they are opposed, 0 if neither is clear.
    fn parallel(&self, analysis: &Analysis, own: &Path, other: &Path) -> f64 {
        let facing = Facing {
            mesh: self.mesh,
            x: self.x,
            orientation: self.orientation,
        };
        let (mut sum, mut all) = (0.0, 0.0);
        for k in 0..own.segments.len() {
            let (f, g) = (own.faces[k], other.faces[corresponding_segment(own, k)]);
            let ends = analysis.segments.segments[own.segments[k] as usize].ends;
            let [p, q] = ends.map(|e| analysis.segments.position(self.x, e));
            sum += p.distance(q) * facing.normal(f).dot(facing.normal(g));
            all += p.distance(q);
        }
        if sum.abs() > PARALLEL * all {
            sum.signum()
        } else {
            0.0
        }
    }
}

/// Steps for which it is remembered that a vertex was on the wrong side.
const MAX_AGE: u32 = 4;

/// What was on the wrong side, and when.
pub(super) struct Marks {
    last: Vec<Option<u32>>,
}

impl Marks {
    pub(super) fn new(vertex_count: usize) -> Self {
        Self {
            last: vec![None; vertex_count],
        }
    }

    /// Remembers what is on the wrong side of some paths at a step.
    pub(super) fn mark(&mut self, analysis: &Analysis, paths: &[u32], step: u32) {
        let paths = paths.iter().map(|&p| &analysis.paths[p as usize]);
        for &v in paths.flat_map(|p| p.inside.vertices()) {
            self.last[v as usize] = Some(step);
        }
    }

    /// What was on the wrong side within the last steps.
    pub(super) fn was_wrong(&self, step: u32) -> Vec<bool> {
        let is_recent = |last: &Option<u32>| last.is_some_and(|last| last + MAX_AGE >= step);
        self.last.iter().map(is_recent).collect()
    }
}

/// What is on the other side of a path: the rest of its piece of surface.
pub(super) fn beyond(mesh: &Mesh, path: &Path, inside: &[u32]) -> Vec<u32> {
    let loops = path.loop_vertices();
    let mut is_seen = vec![false; mesh.vertex_count()];
    let mut stack = mesh.faces()[path.faces[0] as usize].to_vec();
    for &v in &stack {
        is_seen[v as usize] = true;
    }
    while let Some(v) = stack.pop() {
        for w in mesh.neighbours(v) {
            if !std::mem::replace(&mut is_seen[w as usize], true) {
                stack.push(w);
            }
        }
    }
    let is_beyond = |v: &u32| {
        is_seen[*v as usize] && inside.binary_search(v).is_err() && loops.binary_search(v).is_err()
    };
    (0..mesh.vertex_count() as u32).filter(is_beyond).collect()
}

/// Says on which side of a sheet something lies.
#[derive(Clone, Copy)]
pub(super) struct Facing<'a> {
    pub(super) mesh: &'a Mesh,
    pub(super) x: &'a [DVec3],
    pub(super) orientation: Option<&'a [bool]>,
}

impl Facing<'_> {
    /// Which side of the other partner the inside lies on, by the corners of the faces along the path: +1 where its normals point, −1 on
    /// the other, 0 if that is not clear.
    pub(super) fn wrong_side(
        &self,
        analysis: &Analysis,
        own: &Path,
        other: &Path,
        inside: &[u32],
    ) -> f64 {
        if self.orientation.is_none() || !matches!(own.inside, Inside::Vertices(_)) {
            return 0.0;
        }
        let (mut sum, mut all) = (0.0, 0.0);
        for k in 0..own.segments.len() {
            let (f, g) = (own.faces[k], other.faces[corresponding_segment(own, k)]);
            let ends = analysis.segments.segments[own.segments[k] as usize].ends;
            let [p, q] = ends.map(|e| analysis.segments.position(self.x, e));
            let n = self.normal(g);
            for v in self.mesh.faces()[f as usize] {
                let height = (self.x[v as usize] - p).dot(n) * p.distance(q);
                let is_inside = inside.binary_search(&v).is_ok();
                sum += if is_inside { height } else { -height };
                all += height.abs();
            }
        }
        if sum.abs() > MAJORITY * all {
            sum.signum()
        } else {
            0.0
        }
    }

    /// Unit normal of a face, all faces running the same way.
    pub(super) fn normal(&self, face: u32) -> DVec3 {
        let [a, b, c] = self.mesh.faces()[face as usize].map(|v| self.x[v as usize]);
        let n = (b - a).cross(c - a).normalize_or_zero();
        match self.orientation.is_some_and(|turned| turned[face as usize]) {
            true => -n,
            false => n,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::analyse;
    use super::*;

    const N: u32 = 12;

    /// A sheet that is tilted through a larger one, a little beyond its middle; `stretch` is that of its larger part.
    fn tilted(stretch: f64) -> (Mesh, Vec<DVec3>) {
        let (mut x, mut faces) = (Vec::new(), Vec::new());
        for (size, shift) in [(1.0, 0.0), (2.0, 0.513)] {
            let first = x.len() as u32;
            for i in 0..=N {
                for j in 0..=N {
                    let [u, v] = [i, j].map(|k| size * f64::from(k) / f64::from(N) - shift);
                    let over = (u - 0.46).max(0.0);
                    let p = match shift {
                        0.0 => DVec3::new(u + stretch * over, 0.2 * (u - 0.46), v),
                        _ => DVec3::new(u, 0.0, v),
                    };
                    x.push(p);
                    if i < N && j < N {
                        let a = first + i * (N + 1) + j;
                        faces.extend([[a, a + 1, a + N + 2], [a, a + N + 2, a + N + 1]]);
                    }
                }
            }
        }
        (Mesh::new(x.len(), faces).unwrap(), x)
    }

    /// Whether the chosen side of the tilted sheet is that below the other one, the smaller.
    fn is_low_chosen(stretch: f64, was_wrong: &[bool], layers: &[i32]) -> bool {
        let (mesh, x) = tilted(stretch);
        let (_, rest) = tilted(0.0);
        let lengths: Vec<[f64; 3]> = (0..mesh.faces().len() as u32)
            .map(|f| Rest::Unknown.lengths(&mesh, &rest, f))
            .collect();
        let rest = Rest::Lengths(&lengths);
        let mut analysis = analyse(&mesh, &x, rest).unwrap();
        analysis.choose_sides(&Votes {
            mesh: &mesh,
            x: &x,
            rest,
            orientation: mesh.orientation().as_deref(),
            layers,
            was_wrong,
            history: History::Hint,
        });
        let own = analysis
            .paths
            .iter()
            .find(|p| p.faces[0] < 2 * N * N && !p.inside.vertices().is_empty());
        let inside = own.unwrap().inside.vertices();
        let low = inside.iter().filter(|&&v| x[v as usize].y < 0.0).count();
        assert!(low == 0 || low == inside.len(), "one side, not both");
        low > 0
    }

    #[test]
    fn the_smaller_side_is_wrong_where_nothing_else_is_known() {
        assert!(is_low_chosen(0.0, &[], &[]));
    }

    /// Layers outvote sizes and stretch; equal ones say nothing.
    #[test]
    fn the_higher_layer_belongs_where_the_faces_of_the_lower_look_to() {
        let (mesh, x) = tilted(0.1);
        let first = |f: u32| mesh.faces()[f as usize].map(|v| x[v as usize]);
        let [a, b, c] = first(2 * N * N);
        let looks_up = (b - a).cross(c - a).y > 0.0;
        let count = ((N + 1) * (N + 1)) as usize;
        for layer in [-1, 0, 1] {
            let mut layers = vec![0; x.len()];
            layers[..count].fill(layer);
            // above the other sheet: what is low is wrong
            let expected = match layer {
                0 => is_low_chosen(0.1, &[], &[]),
                _ => (layer > 0) == looks_up,
            };
            assert_eq!(is_low_chosen(0.1, &[], &layers), expected, "layer {layer}");
        }
    }

    #[test]
    fn what_was_stretched_was_pushed_through() {
        assert!(!is_low_chosen(0.1, &[], &[]));
    }

    #[test]
    fn a_side_that_was_chosen_stays_chosen() {
        let (_, x) = tilted(0.1);
        for is_low in [true, false] {
            let is_marked = |p: &DVec3| p.y != 0.0 && (p.y < 0.0) == is_low;
            let was_wrong: Vec<bool> = x.iter().map(is_marked).collect();
            assert_eq!(is_low_chosen(0.1, &was_wrong, &[]), is_low);
        }
    }
}
