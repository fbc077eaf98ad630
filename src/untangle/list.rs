//! Paths as tangles: what is let through what while they are cured.
//!
//! \[WLG06\] §5.2 switches collisions off "for *inside* parts of the cloth, as well as a small region
//! around the intersection lines". Here that is a list for [`crate::verify`]: for each path the
//! faces on it, those with a vertex inside, and some rings around, on its own side and on that of its
//! partner. Paths move from face to face while they are cured, so rings are what gives them room
//! until they are listed anew.

use std::collections::{BTreeMap, BTreeSet};

use super::Analysis;
use super::paths::Path;
use crate::geometry::tangle::grown;
use crate::geometry::{Mesh, Tangle};

/// Rings of faces around a path and its inside: fewer, and a path that moves from one face to the
/// next would leave them within an interval.
pub const RINGS: u32 = 2;

impl Analysis {
    /// The paths as tangles; `crossing` is what crosses by the exact static test, for paths are those
    /// of a perturbed state and may not know of what merely touches.
    pub fn tangles(&self, mesh: &Mesh, crossing: &[[u32; 2]]) -> Vec<Tangle> {
        let mut drafts: Vec<Draft> = Vec::new();
        let mut named: BTreeSet<[u32; 2]> = BTreeSet::new();
        for (number, path) in (0u32..).zip(&self.paths) {
            if path.partner < number {
                continue; // with its partner
            }
            let mut draft = Draft::default();
            for (&segment, &face) in path.segments.iter().zip(&path.faces) {
                let [f, g] = self.segments.segments[segment as usize].faces;
                let other = if face == f { g } else { f };
                // two paths may pass one pair of faces, and one that turns back passes it twice
                if named.insert([f, g]) {
                    draft.path.push([face, other]);
                }
                draft.sides[0].push(face);
                draft.sides[1].push(other);
            }
            draft.inside[0] = inside(mesh, path);
            match path.partner == number {
                true => draft.make_one(),
                false => draft.inside[1] = inside(mesh, &self.paths[path.partner as usize]),
            }
            drafts.push(draft);
        }
        let is_unnamed = |pair: &&[u32; 2]| !named.contains(*pair);
        let touching: BTreeSet<[u32; 2]> = crossing.iter().filter(is_unnamed).copied().collect();
        add_touching(mesh, touching, &mut drafts);
        let is_crossing = |pair: &[u32; 2]| {
            let pair = [pair[0].min(pair[1]), pair[0].max(pair[1])];
            crossing.binary_search(&pair).is_ok()
        };
        let drafts = drafts.into_iter().map(|mut draft| {
            draft.path.retain(is_crossing);
            draft
        });
        let drafts = drafts.filter(|draft| !draft.path.is_empty());
        drafts.map(|draft| draft.tangle(mesh)).collect()
    }
}

/// Faces with a vertex inside a path.
fn inside(mesh: &Mesh, path: &Path) -> Vec<u32> {
    let vertices = path.inside.vertices().iter();
    vertices
        .flat_map(|&v| mesh.faces_of_vertex(v))
        .copied()
        .collect()
}

/// A tangle whose sets are still without rings and in no order.
#[derive(Default)]
struct Draft {
    path: Vec<[u32; 2]>,
    sides: [Vec<u32>; 2],
    inside: [Vec<u32>; 2],
    /// Whether both sides are the same.
    is_one: bool,
}

impl Draft {
    /// A path that is its own partner: it may cross itself anywhere.
    fn make_one(&mut self) {
        self.is_one = true;
        let [a, b] = &self.sides;
        let both = [&a[..], b].concat();
        self.sides = [both.clone(), both];
        self.inside[1] = self.inside[0].clone();
    }

    fn tangle(self, mesh: &Mesh) -> Tangle {
        let Self {
            mut path,
            sides: [mut a, mut b],
            inside,
            ..
        } = self;
        a.extend(&inside[0]);
        b.extend(&inside[1]);
        path.sort_unstable();
        path.dedup();
        Tangle {
            path,
            sides: [a, b].map(|side| grown(mesh, &side, RINGS)),
            inside: inside.map(|faces| grown(mesh, &faces, 0)),
        }
    }
}

/// Adds pairs that touch without a path: to a tangle of which they are neighbours, else as tangles of
/// their own.
fn add_touching(mesh: &Mesh, mut touching: BTreeSet<[u32; 2]>, drafts: &mut Vec<Draft>) {
    let mut owner: BTreeMap<[u32; 2], usize> = BTreeMap::new();
    for (t, draft) in drafts.iter().enumerate() {
        owner.extend(draft.path.iter().map(|&pair| (pair, t)));
    }
    while let Some(&first) = touching.first() {
        // all that hang together
        let mut group = vec![first];
        touching.remove(&first);
        let mut next = 0;
        let mut of = None;
        while let Some(&pair) = group.get(next) {
            next += 1;
            for [f, g] in neighbours(mesh, pair) {
                if touching.remove(&[f.min(g), f.max(g)]) {
                    group.push([f, g]);
                }
                let known = owner.get(&[f, g]).map(|&t| (t, false));
                of = of.or_else(|| known.or_else(|| owner.get(&[g, f]).map(|&t| (t, true))));
            }
        }
        let (t, is_turned) = of.unwrap_or_else(|| {
            drafts.push(Draft::default());
            (drafts.len() - 1, false)
        });
        for [f, g] in group {
            let pair = if is_turned { [g, f] } else { [f, g] };
            let draft = &mut drafts[t];
            draft.path.push(pair);
            for (k, side) in draft.sides.iter_mut().enumerate() {
                side.push(pair[k]);
                if draft.is_one {
                    side.push(pair[1 - k]);
                }
            }
            owner.insert(pair, t);
        }
    }
}

/// Pairs of a face around the first and one around the second.
fn neighbours(mesh: &Mesh, pair: [u32; 2]) -> Vec<[u32; 2]> {
    let around = pair.map(|face| {
        let corners = mesh.faces()[face as usize];
        let faces = corners.iter().flat_map(|&v| mesh.faces_of_vertex(v));
        let mut faces: Vec<u32> = faces.copied().collect();
        faces.sort_unstable();
        faces.dedup();
        faces
    });
    let [first, second] = &around;
    let each = first
        .iter()
        .flat_map(|&f| second.iter().map(move |&g| [f, g]));
    each.filter(|[f, g]| f != g).collect()
}
