//! Vertices whose faces lie side by side around them.
//!
//! In smooth cloth nearly all faces whose boxes overlap have a common vertex. Seen along some axis, each face is a wedge at that
//! vertex. If all wedges turn the same way and no direction is in two of them, then two of these faces meet in the vertex alone, or
//! in their common edge: one look at a vertex spares those at all pairs around it.

use glam::DVec3;

use super::Mesh;
use super::intersect::certain_cross;

/// Faces around a vertex that are looked at, at most.
const MAX_FACES: usize = 16;

/// Whether two faces around a vertex *certainly* meet nowhere but in it and in their common edge.
///
/// A wedge is the half-open set of directions from one side of a face to the other. Where one starts another ends, once for each
/// edge, but for the ends of a boundary. Hence around an inner vertex all directions are in the same number of wedges, which one of
/// them tells; at a boundary in one more between its two ends than beyond them, and a direction that is in none tells that no other is
/// in more than one.
pub(super) fn is_side_by_side(mesh: &Mesh, x: &[DVec3], vertex: u32) -> bool {
    let faces = mesh.faces_of_vertex(vertex);
    let count = faces.len();
    if !(1..=MAX_FACES).contains(&count) {
        return false;
    }
    let (mut from, mut to) = ([0; MAX_FACES], [0; MAX_FACES]);
    for (k, &face) in faces.iter().enumerate() {
        let [a, b, c] = mesh.faces()[face as usize];
        (from[k], to[k]) = match vertex {
            v if v == a => (b, c),
            v if v == b => (c, a),
            _ => (a, b),
        };
    }
    let (from, to) = (&from[..count], &to[..count]);
    let is_once = |all: &[u32]| (1..count).all(|k| !all[..k].contains(&all[k]));
    let open = from.iter().filter(|v| !to.contains(v)).count();
    if open > 1 || !is_once(from) || !is_once(to) {
        return false;
    }
    let centre = x[vertex as usize];
    let side = |v: u32| x[v as usize] - centre;
    let across = |(&a, &b): (&u32, &u32)| side(a).cross(side(b));
    let normal: DVec3 = from.iter().zip(to).map(across).sum();
    let k = normal.abs().max_position();
    let flat = |v: u32| {
        let d = side(v);
        [d[(k + 1) % 3], d[(k + 2) % 3]]
    };
    let hand = if normal[k] > 0.0 { 1 } else { -1 };
    // how many wedges each of four directions is in
    let mut covered = [0; 4];
    for (&a, &b) in from.iter().zip(to) {
        let (a, b) = if hand > 0 { (a, b) } else { (b, a) };
        let ([ax, ay], [bx, by]) = (flat(a), flat(b));
        if certain_cross([ax, ay], [bx, by]) != 1 {
            return false;
        }
        covered[0] += i32::from(ay < 0.0 && by >= 0.0);
        covered[1] += i32::from(ax > 0.0 && bx <= 0.0);
        covered[2] += i32::from(ay > 0.0 && by <= 0.0);
        covered[3] += i32::from(ax < 0.0 && bx >= 0.0);
    }
    match open {
        0 => covered[0] == 1,
        _ => covered.contains(&0),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::geometry::{Scope, crossings};
    use crate::oracle::{cross_by_definition, position};

    /// `n` faces around vertex 0, closed or open, the others at these places.
    fn fan(places: &[DVec3], is_closed: bool) -> (Mesh, Vec<DVec3>) {
        let n = places.len() as u32;
        let faces = (1..n).map(|k| [0, k, k + 1]);
        let last = is_closed.then_some([0, n, 1]);
        let mesh = Mesh::new(places.len() + 1, faces.chain(last).collect()).unwrap();
        (mesh, [&[DVec3::ZERO], places].concat())
    }

    fn around(angles: &[f64]) -> Vec<DVec3> {
        let at = |angle: &f64| DVec3::new(angle.to_radians().cos(), 0.1, angle.to_radians().sin());
        angles.iter().map(at).collect()
    }

    fn is_fine(angles: &[f64], is_closed: bool) -> bool {
        let (mesh, x) = fan(&around(angles), is_closed);
        is_side_by_side(&mesh, &x, 0)
    }

    #[test]
    fn wedges_that_go_round_once_lie_side_by_side_and_no_others() {
        assert!(is_fine(&[0.0, 60.0, 120.0, 180.0, 240.0, 300.0], true));
        assert!(is_fine(&[300.0, 240.0, 180.0, 120.0, 60.0, 0.0], true));
        assert!(is_fine(&[10.0, 100.0, 190.0, 250.0], false));
        assert!(is_fine(&[-100.0, 0.0, 100.0], false));
        let twice: Vec<f64> = (0..8).map(|k| 90.0 * f64::from(k) + 10.0).collect();
        assert!(!is_fine(&twice, true));
        assert!(
            !is_fine(&[0.0, 100.0, 200.0, 300.0, 400.0], false),
            "over itself"
        );
        assert!(
            !is_fine(&[0.0, 100.0, 200.0, 300.0, 0.0], false),
            "its ends touch"
        );
        assert!(!is_fine(&[0.0, 100.0, 50.0, 200.0, 300.0], true), "folded");
        assert!(!is_fine(&[0.0, 200.0, 270.0], false), "bent back");
    }

    #[test]
    fn faces_that_turn_differently_or_hang_together_otherwise_are_left() {
        let x = [
            &[DVec3::ZERO],
            &around(&[0.0, 60.0, 120.0, 180.0, 240.0])[..],
        ]
        .concat();
        let fine =
            |faces: &[[u32; 3]]| is_side_by_side(&Mesh::new(6, faces.to_vec()).unwrap(), &x, 0);
        assert!(fine(&[[0, 1, 2], [2, 3, 0]]));
        assert!(!fine(&[[0, 1, 2], [0, 3, 2]]), "turned over");
        assert!(!fine(&[[0, 1, 2], [0, 3, 4]]), "two fans");
        assert!(
            !fine(&[[0, 1, 2], [0, 2, 3], [0, 2, 4]]),
            "three at an edge"
        );
        assert!(
            !is_side_by_side(&Mesh::new(7, vec![[0, 1, 2]]).unwrap(), &x, 6),
            "no face"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1500))]

        #[test]
        fn faces_side_by_side_never_cross(
            places in prop::collection::vec(position(), 2..7),
            is_closed in any::<bool>(),
            flat in any::<bool>(),
        ) {
            prop_assume!(places.len() > 2 || !is_closed);
            let places: Vec<DVec3> = places.iter().map(|p| if flat { DVec3::new(p.x, 0.0, p.z) } else { *p }).collect();
            let (mesh, x) = fan(&places, is_closed);
            let mut expected = Vec::new();
            for (f, &corners) in mesh.faces().iter().enumerate() {
                for (g, &others) in mesh.faces().iter().enumerate().skip(f + 1) {
                    if cross_by_definition(corners, others, &x) {
                        expected.push([f as u32, g as u32]);
                    }
                }
            }
            prop_assert!(expected.is_empty() || !is_side_by_side(&mesh, &x, 0), "{expected:?}");
            // with those left out that lie side by side, all are found
            prop_assert_eq!(crossings(&mesh, &x, Scope::Everything).faces, expected);
        }
    }
}
