//! Tangles in a run: listed, pulled apart, listed anew after every interval.
//!
//! `untangle` says where paths run and where the cloth ought to go; `verify` checks the list; the
//! pulls become forces of the next interval ([`crate::dynamics::Attraction`]). All of it is a function
//! of the state, so a run that is resumed finds the same.
//!
//! A path that would come up beside listed ones is prevented, at the shortest interval: what would let it through is taken off the list for one
//! interval ([`narrowed`]). Where nothing else helps, doors are opened by name ([`crate::verify::open`]): for what is pinched, if the
//! scene allows it, and for new paths between faces that are on a path already. Both are counted.
//!
//! Which side of a path is wrong is remembered by the list itself: the insides that it names are those that were chosen.

use std::collections::{BTreeMap, BTreeSet};

use super::report::{Phases, timed};
use crate::dynamics::Attraction;
use crate::error::{Pinch, StartError};
use crate::geometry::tangle::grown;
use crate::geometry::{Mesh, Pair, Proximity, Tangle};
use crate::state::Surfaces;
use crate::untangle::{
    self, History, Instant, Method, Pull, RINGS, Rest, TargetSettings, Votes, body,
};
use crate::verify::{self, Verified};

/// Time in which a pull shortens its way to a third, s: less than a frame, and many loops of an
/// integrator. Under gravity cloth sags by the square of it, 1 mm, which has to be less than what
/// pulls go beyond contact.
const LAG: f64 = 0.01;

/// The same where cloth is pulled out of a body: the body carries it, and fine cloth is to get out
/// against its weight.
const LAG_OF_BODY: f64 = 0.0035;

/// Share of critical damping of pulls between cloths, and of those out of a body, which are as stiff
/// as loops of an integrator bear.
const DAMPING: [f64; 2] = [1.0, 0.5];

/// What is lacking counts up to so many mean edges of the faces along the path: it limits the speed
/// of the cure to half of it per [`LAG`].
const REACH: f64 = 1.0;

/// The same where cloth is pulled out of a body, by stiffer springs: what it gets out with it keeps.
const REACH_OF_BODY: f64 = 0.25;

/// Pulls end at least so many mean edges beyond contact: what moves under forces does not stop at a
/// touch, and sags.
const CLEARANCE: f64 = 0.2;

/// Pulls on one vertex together are at most as strong as so many: more would be too stiff for the
/// loops of an integrator.
const MOST: f64 = 3.0;

/// Paths of at most so many segments are made shorter (\[VM06\]), instead of what is inside of them being
/// pulled back, in the last [`SHORTENED`] of every [`CYCLE`] frames: a second opinion for what the first
/// leaves. By the number of the frame, so that nothing has to be remembered.
const SMALL: usize = 16;
const CYCLE: u64 = 32;
const SHORTENED: u64 = 8;

/// What the cure of a mesh needs that does not change.
pub(super) struct Cure {
    /// Lengths of each face's sides at rest, m.
    rest: Vec<[f64; 3]>,
    orientation: Option<Vec<bool>>,
    /// Of each vertex.
    layers: Vec<i32>,
    thickness: Vec<f64>,
}

/// What a look at a tangled state found.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) attractions: Vec<Attraction>,
    /// Of all paths in space, m.
    pub(super) contour_length: f64,
}

impl Cure {
    pub(super) fn new(mesh: &Mesh, surfaces: &Surfaces) -> Self {
        let rest = surfaces.rest();
        let lengths = |face: &[u32; 3]| {
            let [a, b, c] = face.map(|v| rest[v as usize]);
            [a.distance(b), b.distance(c), c.distance(a)]
        };
        let layer = |v: u32| surfaces.layers()[mesh.body_of_vertex(v) as usize];
        Self {
            layers: (0..mesh.vertex_count() as u32).map(layer).collect(),
            rest: mesh.faces().iter().map(lengths).collect(),
            orientation: mesh.orientation(),
            thickness: surfaces.thickness().to_vec(),
        }
    }

    /// Lists the tangles of a state anew, and says what would resolve them.
    ///
    /// `frame` is the number of the frame that is begun: now and then small paths are shortened instead.
    pub(super) fn look(&self, state: &mut Verified, frame: u64, phases: &mut Phases) -> Seen {
        if state.tangles().is_empty() {
            return Seen::default();
        }
        let rest = Rest::Lengths(&self.rest);
        let analysis = timed(&mut phases.analyse_ms, || {
            let analysis = untangle::analyse(state.mesh(), state.positions(), rest);
            let mut analysis = analysis.expect("the positions are certified");
            let was_wrong = was_wrong(state);
            analysis.choose_sides(&self.votes(state.mesh(), state.positions(), &was_wrong));
            let tangles = analysis.tangles(state.mesh(), &state.crossing());
            // a list that is not believed leaves the one before, which is certified as it is
            let _ = verify::relist(state, tangles);
            analysis
        });
        let attractions = timed(&mut phases.target_ms, || {
            let at = Instant {
                mesh: state.mesh(),
                x: state.positions(),
                rest,
                analysis: &analysis,
                orientation: self.orientation.as_deref(),
            };
            let is_of_cloth = |k: &u32| !body::is_of_body(state.mesh(), &analysis, *k);
            let of_cloth = (0..analysis.contours.len() as u32).filter(is_of_cloth);
            let is_small = |k: u32| analysis.contours[k as usize].segment_count <= SMALL;
            let all = of_cloth.map(
                |k| match is_small(k) && frame % CYCLE >= CYCLE - SHORTENED {
                    true => (k, Method::ShortenNodes),
                    false => (k, Method::default()),
                },
            );
            let targets = untangle::targets(at, all, &TargetSettings::default());
            let each = targets.pulls.iter().map(|pull| {
                let edge = at.mean_edge(pull.contour);
                attraction(
                    &beyond(pull, CLEARANCE * edge),
                    REACH * edge,
                    (LAG, DAMPING[0]),
                )
            });
            let mut attractions: Vec<Attraction> = each.collect();
            for tangle in state.tangles() {
                let out = body::push_out(at.mesh, at.x, &self.thickness, &analysis, tangle);
                let (pulls, edge) = out.unwrap_or_default();
                let each = pulls.iter();
                attractions.extend(
                    each.map(|pull| {
                        attraction(pull, REACH_OF_BODY * edge, (LAG_OF_BODY, DAMPING[1]))
                    }),
                );
            }
            limit(&mut attractions, state.positions().len());
            attractions
        });
        let lengths = analysis.contours.iter().map(|contour| contour.length);
        Seen {
            attractions,
            contour_length: lengths.fold(0.0, |sum, length| sum + length),
        }
    }

    fn votes<'a>(
        &'a self,
        mesh: &'a Mesh,
        x: &'a [glam::DVec3],
        was_wrong: &'a [bool],
    ) -> Votes<'a> {
        Votes {
            mesh,
            x,
            rest: Rest::Lengths(&self.rest),
            orientation: self.orientation.as_deref(),
            layers: &self.layers,
            was_wrong,
            history: History::Hint,
        }
    }

    /// The tangles of a start that nobody has certified.
    pub(super) fn tangles(
        &self,
        mesh: &Mesh,
        x: &[glam::DVec3],
    ) -> Result<Vec<Tangle>, StartError> {
        let mut analysis = untangle::analyse(mesh, x, Rest::Lengths(&self.rest))?;
        analysis.choose_sides(&self.votes(mesh, x, &[]));
        let crossing = crate::geometry::crossing_faces(mesh, x);
        Ok(analysis.tangles(mesh, &crossing))
    }
}

/// For each vertex whether the list says that it is on the wrong side of something: the memory of the sides that were chosen.
fn was_wrong(state: &Verified) -> Vec<bool> {
    let mesh = state.mesh();
    let mut was_wrong = vec![false; mesh.vertex_count()];
    for tangle in state.tangles() {
        for (inside, side) in tangle.inside.iter().zip(&tangle.sides) {
            if inside == side {
                continue; // a cut: all that is beside it was passed, and nothing is known
            }
            let is_in = |face: &u32| inside.binary_search(face).is_ok();
            for v in inside.iter().flat_map(|&face| mesh.faces()[face as usize]) {
                was_wrong[v as usize] |= mesh.faces_of_vertex(v).iter().all(is_in);
            }
        }
    }
    was_wrong
}

/// The same wish, which ends at least so far beyond contact.
fn beyond(pull: &Pull, clearance: f64) -> Pull {
    let length = pull.wanted.length();
    let is_short = pull.to.is_some() && length > 0.0 && length < clearance;
    Pull {
        wanted: pull.wanted * if is_short { clearance / length } else { 1.0 },
        ..*pull
    }
}

fn attraction(pull: &Pull, reach: f64, (lag, damping): (f64, f64)) -> Attraction {
    let from = pull.from.parts();
    let to = pull.to.into_iter().flat_map(|to| to.parts());
    Attraction {
        parts: from.chain(to.map(|(v, w)| (v, -w))).collect(),
        wanted: pull.wanted,
        share: pull.weight,
        reach,
        lag,
        damping,
    }
}

/// Weakens what would pull a vertex too strongly together.
fn limit(attractions: &mut [Attraction], vertex_count: usize) {
    let mut strength = vec![0.0; vertex_count];
    for each in attractions.iter() {
        for &(v, w) in &each.parts {
            strength[v as usize] += each.share * w.abs();
        }
    }
    for each in attractions {
        let most = each.parts.iter().map(|&(v, _)| strength[v as usize]);
        each.share *= (MOST / most.fold(MOST, f64::max)).min(1.0);
    }
}

/// The list of a state without what would let these pairs of faces through each other, if they can be taken off it: of each pair
/// what lies on no path. Then these faces are kept apart as everything else is.
///
/// None if both faces of a pair are on one path: it crosses what is next to the pair, and has to stay listed.
pub(super) fn narrowed(state: &Verified, pairs: &[[u32; 2]]) -> Option<Vec<Tangle>> {
    let mesh = state.mesh();
    let mut tangles = state.tangles().to_vec();
    for tangle in &mut tangles {
        let on_path: [BTreeSet<u32>; 2] =
            [0, 1].map(|k: usize| tangle.path.iter().map(|pair| pair[k]).collect());
        let mut is_changed = false;
        for &pair in pairs {
            let Some(pair) = tangle.oriented(pair) else {
                continue;
            };
            let may_go = [0, 1].map(|k| !on_path[k].contains(&pair[k]));
            if may_go == [false; 2] {
                return None;
            }
            for k in (0..2).filter(|&k| may_go[k]) {
                tangle.sides[k].retain(|face| *face != pair[k]);
                is_changed = true;
            }
        }
        if is_changed {
            for k in 0..2 {
                tangle.sides[k] = hanging_on(mesh, &tangle.sides[k], &on_path[k]);
                let side = &tangle.sides[k];
                tangle.inside[k].retain(|face| side.binary_search(face).is_ok());
            }
        }
    }
    Some(tangles)
}

/// What of a set of faces can be reached from some of them, from vertex to vertex, ascending.
fn hanging_on(mesh: &Mesh, set: &[u32], seeds: &BTreeSet<u32>) -> Vec<u32> {
    let mut reached = seeds.clone();
    let mut stack: Vec<u32> = seeds.iter().copied().collect();
    while let Some(face) = stack.pop() {
        for v in mesh.faces()[face as usize] {
            for &next in mesh.faces_of_vertex(v) {
                if set.binary_search(&next).is_ok() && reached.insert(next) {
                    stack.push(next);
                }
            }
        }
    }
    reached.into_iter().collect()
}

/// Doors around pairs of faces within what is let through already: for paths that come up there.
pub(super) fn around(state: &Verified, pairs: &[[u32; 2]]) -> Vec<Tangle> {
    let mesh = state.mesh();
    let mut doors = Vec::new();
    for tangle in state.tangles() {
        let mut sides = [Vec::new(), Vec::new()];
        for pair in pairs.iter().filter_map(|&pair| tangle.oriented(pair)) {
            for (k, face) in pair.into_iter().enumerate() {
                let near = grown(mesh, &[face], RINGS);
                let own = &tangle.sides[k];
                sides[k].extend(near.into_iter().filter(|f| own.binary_search(f).is_ok()));
            }
        }
        if !sides[0].is_empty() {
            for side in &mut sides {
                side.sort_unstable();
                side.dedup();
            }
            doors.push(Tangle {
                sides,
                ..Tangle::default()
            });
        }
    }
    doors
}

/// Doors for what is pinched: between the bodies of the proof, where it says so and wherever else
/// they are near each other.
pub(super) fn pinched(
    state: &Verified,
    inverse_mass: &[f64],
    pinch: &Pinch,
    near: &[Proximity],
) -> Vec<Tangle> {
    let mesh = state.mesh();
    let mut doors: BTreeMap<[u32; 2], [Vec<u32>; 2]> = BTreeMap::new();
    let mut open = |features: [Vec<u32>; 2]| {
        let body = |faces: &[u32]| faces.first().map(|&face| mesh.body_of_face(face));
        if let [Some(a), Some(b)] = [body(&features[0]), body(&features[1])] {
            let is_turned = a > b;
            let sides = doors.entry([a.min(b), a.max(b)]).or_default();
            for (k, faces) in features.into_iter().enumerate() {
                sides[usize::from(is_turned) ^ k].extend(faces);
            }
        }
    };
    for contact in &pinch.contacts {
        let of = |is_first: bool| {
            let parts = contact.vertices.iter().zip(contact.weights);
            let own = parts.filter(|(_, w)| *w != 0.0 && (*w > 0.0) == is_first);
            own.flat_map(|(&v, _)| mesh.faces_of_vertex(v))
                .copied()
                .collect()
        };
        open([of(true), of(false)]);
    }
    let is_named = |v: u32| {
        let name = &mesh.bodies()[mesh.body_of_vertex(v) as usize].name;
        match inverse_mass[v as usize] > 0.0 {
            true => pinch.cloths.contains(name),
            false => pinch.objects.iter().any(|object| object.name == *name),
        }
    };
    for near in near {
        let [a, .., b] = near.vertices;
        let is_between = (inverse_mass[a as usize] > 0.0) != (inverse_mass[b as usize] > 0.0);
        if is_between && is_named(a) && is_named(b) {
            open(match near.pair {
                Pair::VertexFace { vertex, face } => {
                    [mesh.faces_of_vertex(vertex).to_vec(), vec![face]]
                }
                Pair::EdgeEdge { a, b } => [a, b].map(|edge| mesh.faces_of_edge(edge).to_vec()),
            });
        }
    }
    let door = |([a, b], mut sides): ([u32; 2], [Vec<u32>; 2])| {
        if a == b {
            let both = sides.concat();
            sides = [both.clone(), both];
        }
        Tangle {
            sides: sides.map(|faces| grown(mesh, &faces, RINGS)),
            ..Tangle::default()
        }
    };
    doors.into_iter().map(door).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use glam::{DVec2, DVec3};

    use super::*;

    /// A level sheet, and one above it with a dent that goes through it: a closed path on each.
    fn dented() -> (Mesh, Vec<DVec3>, Vec<[DVec2; 3]>) {
        let (mut x, mut uv, mut faces) = (Vec::new(), Vec::new(), Vec::new());
        for sheet in 0..2 {
            let first = x.len() as u32;
            for (i, j) in (0..81).map(|k| (k % 9, k / 9)) {
                // aside by a little, so that no edge meets a vertex
                let [u, v] = [i, j].map(|k| (f64::from(k) - 4.0) / 4.0);
                let dent = 0.15 * (1.0 - 2.0 * (u * u + v * v)).max(0.0);
                x.push(match sheet {
                    0 => DVec3::new(u, 0.0, v),
                    _ => DVec3::new(u + 0.013, 0.05 - dent, v + 0.029),
                });
                uv.push(DVec2::new(u, v));
                if i < 8 && j < 8 {
                    let a = first + i as u32 + 9 * j as u32;
                    faces.extend([[a, a + 1, a + 10], [a, a + 10, a + 9]]);
                }
            }
        }
        let corners = faces.iter();
        let corners = corners.map(|face: &[u32; 3]| face.map(|v| uv[v as usize]));
        let corners = corners.collect();
        (Mesh::new(x.len(), faces).unwrap(), x, corners)
    }

    /// What is taken off a list is not let through any longer, and the list is still that of the state; what is on a path stays.
    #[test]
    fn a_narrower_list_is_believed_and_keeps_what_crosses() {
        let (mesh, x, uv) = dented();
        let mesh = Arc::new(mesh);
        let rest = Rest::Parameters(&uv);
        let analysis = untangle::analyse(&mesh, &x, rest).unwrap();
        let crossing = crate::geometry::crossing_faces(&mesh, &x);
        let list = analysis.tangles(&mesh, &crossing);
        let still = vec![DVec3::ZERO; x.len()];
        let state = verify::start_listed(Arc::clone(&mesh), x, still, list);
        let mut state = state.unwrap();
        let tangle = state.tangles()[0].clone();
        let is_on_path = |k: usize, face: u32| tangle.path.iter().any(|pair| pair[k] == face);
        let aside = |k: usize| {
            let mut faces = tangle.sides[k].iter().copied();
            faces.find(|&face| !is_on_path(k, face)).unwrap()
        };
        let on_path = tangle.path[0];
        for pair in [[aside(0), aside(1)], [on_path[0], aside(1)]] {
            assert!(tangle.oriented(pair).is_some());
            let narrow = narrowed(&state, &[pair]).unwrap();
            assert!(narrow.iter().all(|tangle| tangle.oriented(pair).is_none()));
            assert_eq!(narrow[0].path, tangle.path);
            let doors = around(&state, &[pair]);
            assert!(doors.iter().any(|door| door.oriented(pair).is_some()));
            let before = state.tangles().to_vec();
            verify::relist(&mut state, narrow).unwrap();
            verify::relist(&mut state, before).unwrap();
        }
        assert_eq!(narrowed(&state, &[on_path]), None);
    }
}
