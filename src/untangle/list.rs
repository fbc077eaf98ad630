//! Paths as tangles: what is let through what while they are cured.
//!
//! \[WLG06\] §5.2 switches collisions off "for *inside* parts of the cloth, as well as a small region
//! around the intersection lines". Here that is a list for [`crate::verify`]: for each path the
//! faces on it, those with a vertex inside, and some rings around, on its own side and on that of its
//! partner. Paths move from face to face while they are cured, so rings are what gives them room
//! until they are listed anew.
//!
//! A path that is its own partner runs along one layer and back along the other. What is inside of it
//! is shared out: to the strand that is nearer, counted in faces; otherwise each layer could fold
//! through itself.

use std::collections::{BTreeMap, BTreeSet};

use super::Analysis;
use super::paths::{Fold, Path};
use super::regions::Inside;
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
            let is_own = path.partner == number && path.fold == Fold::Twice;
            let strand = match path.partner == number && !is_own {
                true => path.segments.len() / 2,
                false => path.segments.len(),
            };
            let along = path.segments.iter().zip(&path.faces);
            for (&segment, &face) in along.take(strand) {
                let [f, g] = self.segments.segments[segment as usize].faces;
                let other = if face == f { g } else { f };
                // two paths may pass one pair of faces, and one that turns back passes it twice
                if named.insert([f, g]) {
                    draft.path.push([face, other]);
                }
                draft.sides[0].push(face);
                draft.sides[1].push(other);
            }
            let own = inside(mesh, path);
            if is_own {
                draft.make_one(own);
            } else if path.partner == number {
                draft.inside = share_out(mesh, &own, &draft.sides);
            } else {
                let partner = &self.paths[path.partner as usize];
                draft.inside = [own, inside(mesh, partner)];
                draft.is_cut = [path, partner].map(|path| path.inside == Inside::Partner);
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

/// Shares faces out among two strands: to the one that is nearer, from face to face within them, and to
/// both where that is undecided.
fn share_out(mesh: &Mesh, faces: &[u32], strands: &[Vec<u32>; 2]) -> [Vec<u32>; 2] {
    let all = grown(mesh, &[faces, &strands[0], &strands[1]].concat(), 0);
    let steps = strands.each_ref().map(|strand| {
        let place = |face: u32| all.binary_search(&face).ok();
        let mut steps = vec![u32::MAX; all.len()];
        let mut reached: Vec<usize> = Vec::new();
        for at in strand.iter().filter_map(|&face| place(face)) {
            if std::mem::replace(&mut steps[at], 0) != 0 {
                reached.push(at);
            }
        }
        let mut next = 0;
        while let Some(&at) = reached.get(next) {
            next += 1;
            for v in mesh.faces()[all[at] as usize] {
                for neighbour in mesh.faces_of_vertex(v).iter().filter_map(|&f| place(f)) {
                    if steps[neighbour] == u32::MAX {
                        steps[neighbour] = steps[at] + 1;
                        reached.push(neighbour);
                    }
                }
            }
        }
        steps
    });
    let [first, second] = &steps;
    let nearer = |own: &[u32], other: &[u32]| -> Vec<u32> {
        let steps = own.iter().zip(other).zip(&all);
        steps
            .filter(|((own, other), _)| own <= other)
            .map(|(_, &face)| face)
            .collect()
    };
    [nearer(first, second), nearer(second, first)]
}

/// A tangle whose sets are still without rings and in no order.
#[derive(Default)]
struct Draft {
    path: Vec<[u32; 2]>,
    sides: [Vec<u32>; 2],
    inside: [Vec<u32>; 2],
    /// Whether both sides are the same.
    is_one: bool,
    /// Whether a side has no inside because all that is beside the slit was passed.
    is_cut: [bool; 2],
}

impl Draft {
    /// A path that runs twice round a one-sided surface: it may cross itself anywhere.
    fn make_one(&mut self, inside: Vec<u32>) {
        self.is_one = true;
        let [a, b] = &self.sides;
        let both = [&a[..], b].concat();
        self.sides = [both.clone(), both];
        self.inside = [inside.clone(), inside];
    }

    fn tangle(self, mesh: &Mesh) -> Tangle {
        let Self {
            mut path,
            sides: [mut a, mut b],
            inside,
            is_cut,
            ..
        } = self;
        a.extend(&inside[0]);
        b.extend(&inside[1]);
        path.sort_unstable();
        path.dedup();
        let sides = [a, b].map(|side| grown(mesh, &side, RINGS));
        let mut inside = inside.map(|faces| grown(mesh, &faces, 0));
        for k in (0..2).filter(|&k| is_cut[k]) {
            inside[k].clone_from(&sides[k]);
        }
        Tangle {
            path,
            sides,
            inside,
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
