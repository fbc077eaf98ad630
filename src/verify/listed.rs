//! What a list of tangles has to be, and what becomes of it in a motion.
//!
//! Every crossing belongs to a path. It belongs to one from the beginning if the path names it. In a
//! motion, two features that meet belong to a path if a face around the one already crosses a face
//! around the other, or did on the way, or if both lie on the wrong side of the path: a hole in what
//! is on the wrong side is a piece of its border. Everything else is a new path.
//!
//! Times of meetings do not count: floats do not order what meets at once. So a path that ends and
//! one that begins where it once was are taken for one.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::geometry::{BadTangle, Exempt, Impact, Mesh, Pair, Tangle};

/// The smaller face first, as the static test has them.
pub(super) fn ascending([f, g]: [u32; 2]) -> [u32; 2] {
    [f.min(g), f.max(g)]
}

/// Why a list is not that of a state.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wrong {
    /// These cross and no path names them.
    Unlisted(Vec<[u32; 2]>),
    /// A tangle, by number, is not what it says.
    Tangle(usize, BadTangle),
}

/// Whether these tangles are those of a state in which exactly these pairs of faces cross, which
/// ascend.
pub(super) fn check(mesh: &Mesh, crossing: &[[u32; 2]], tangles: &[Tangle]) -> Result<(), Wrong> {
    let mut named = BTreeSet::new();
    for (number, tangle) in tangles.iter().enumerate() {
        let wrong = |bad: BadTangle| Wrong::Tangle(number, bad);
        if tangle.path.is_empty() {
            return Err(wrong(BadTangle::NoPath));
        }
        check_sets(mesh, tangle).map_err(wrong)?;
        for &pair in &tangle.path {
            let pair = ascending(pair);
            if crossing.binary_search(&pair).is_err() {
                return Err(wrong(BadTangle::Stale));
            }
            if !named.insert(pair) {
                return Err(wrong(BadTangle::Twice));
            }
        }
    }
    let unlisted: Vec<[u32; 2]> = (crossing.iter().copied())
        .filter(|pair| !named.contains(pair))
        .collect();
    match unlisted.is_empty() {
        true => Ok(()),
        false => Err(Wrong::Unlisted(unlisted)),
    }
}

/// Whether the sets of a tangle are sets of faces of the mesh that hang together with its path, if
/// it has one.
pub(super) fn check_sets(mesh: &Mesh, tangle: &Tangle) -> Result<(), BadTangle> {
    let count = mesh.faces().len() as u32;
    let is_set = |faces: &[u32]| {
        faces.is_sorted_by(|a, b| a < b) && faces.last().is_none_or(|&last| last < count)
    };
    let sets = || tangle.sides.iter().chain(&tangle.inside);
    if !sets().all(|faces| is_set(faces)) || !tangle.path.is_sorted_by(|a, b| a < b) {
        return Err(BadTangle::List);
    }
    for (side, inside) in tangle.sides.iter().zip(&tangle.inside) {
        let is_stray = |face: &&u32| side.binary_search(face).is_err();
        if let Some(&face) = inside.iter().find(is_stray) {
            return Err(BadTangle::Stray { face });
        }
    }
    let [a, b] = &tangle.sides;
    let is_in = |set: &[u32], face: u32| set.binary_search(&face).is_ok();
    if !(tangle.path.iter()).all(|&[f, g]| is_in(a, f) && is_in(b, g)) {
        return Err(BadTangle::PathOutside);
    }
    if tangle.path.is_empty() {
        return Ok(());
    }
    for (k, side) in tangle.sides.iter().enumerate() {
        let seeds = tangle.path.iter().map(|pair| pair[k]);
        if let Some(face) = unconnected(mesh, side, seeds) {
            return Err(BadTangle::Stray { face });
        }
    }
    Ok(())
}

/// A face of a set that cannot be reached from the seeds within it, from vertex to vertex.
fn unconnected(mesh: &Mesh, set: &[u32], seeds: impl Iterator<Item = u32>) -> Option<u32> {
    let place = |face: u32| set.binary_search(&face).ok();
    let mut is_reached = vec![false; set.len()];
    let mut reached: Vec<u32> = Vec::new();
    let mut reach = |face: u32, reached: &mut Vec<u32>| {
        if let Some(at) = place(face)
            && !std::mem::replace(&mut is_reached[at], true)
        {
            reached.push(face);
        }
    };
    for face in seeds {
        reach(face, &mut reached);
    }
    while let Some(face) = reached.pop() {
        for v in mesh.faces()[face as usize] {
            for &next in mesh.faces_of_vertex(v) {
                reach(next, &mut reached);
            }
        }
    }
    let at = is_reached.iter().position(|&is_reached| !is_reached)?;
    Some(set[at])
}

/// What becomes of the tangles in a motion after which exactly these pairs of faces cross; `met` are
/// the meetings of features that they let through.
///
/// Paths name what belongs to them now, those of which nothing is left are gone; the sets stay.
///
/// # Errors
/// The pairs that belong to none, ascending.
pub(super) fn follow(
    mesh: &Mesh,
    tangles: &[Tangle],
    exempt: &Arc<Exempt>,
    met: &[Impact],
    crossing: &[[u32; 2]],
) -> Result<Vec<Tangle>, Vec<[u32; 2]>> {
    let mut reached: Vec<BTreeSet<[u32; 2]>> = (tangles.iter())
        .map(|tangle| tangle.path.iter().map(|&pair| ascending(pair)).collect())
        .collect();
    let belongs = |reached: &[BTreeSet<[u32; 2]>], t: usize, pair: [u32; 2]| {
        tangles[t].path.is_empty() // opened for whatever comes
            || reached[t].contains(&pair)
            || tangles[t].is_inside(pair)
    };

    // what meets hands on what it belongs to, until nothing does any more
    let mut open: Vec<(usize, Vec<[u32; 2]>)> = (met.iter())
        .flat_map(|impact| {
            let pairs = around(mesh, impact.pair);
            let tangles = exempt.tangles_of(impact.pair);
            tangles.map(move |t| (t as usize, pairs.clone()))
        })
        .collect();
    loop {
        let before = open.len();
        open.retain(|(t, pairs)| {
            let is_theirs = pairs.iter().any(|&pair| belongs(&reached, *t, pair));
            if is_theirs {
                reached[*t].extend(pairs);
            }
            !is_theirs
        });
        if open.len() == before {
            break;
        }
    }

    let mut next = tangles.to_vec();
    for tangle in &mut next {
        tangle.path.clear();
    }
    let mut nobodys = Vec::new();
    for &pair in crossing {
        let owner = (0..tangles.len()).find_map(|t| {
            let oriented = tangles[t].oriented(pair)?;
            belongs(&reached, t, pair).then_some((t, oriented))
        });
        match owner {
            Some((t, oriented)) => next[t].path.push(oriented),
            None => nobodys.push(pair),
        }
    }
    if !nobodys.is_empty() {
        return Err(nobodys);
    }
    next.retain_mut(|tangle| {
        tangle.path.sort_unstable();
        !tangle.path.is_empty()
    });
    Ok(next)
}

/// The pairs of faces around two features.
fn around(mesh: &Mesh, pair: Pair) -> Vec<[u32; 2]> {
    let (first, second) = match pair {
        Pair::VertexFace { vertex, face } => (mesh.faces_of_vertex(vertex), &[face][..]),
        Pair::EdgeEdge { a, b } => (mesh.faces_of_edge(a), mesh.faces_of_edge(b)),
    };
    let each = first
        .iter()
        .flat_map(|&f| second.iter().map(move |&g| [f, g]));
    each.filter(|[f, g]| f != g).map(ascending).collect()
}
