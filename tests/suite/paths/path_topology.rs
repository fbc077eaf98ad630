//! Intersection analysis on what is not one sheet: tubes, handles, one-sided and non-manifold surfaces, several bodies, seams.

use std::f64::consts::TAU;

use glam::{DVec2, DVec3};
use percale::geometry::{Body, BodyKind, Mesh};
use percale::scene::tangles;
use percale::untangle::{Inside, Kind, PathKind, Rest, analyse, coincident, weld};

use super::analysis::{judged, mesh_of, paths_of, real};

/// Cells between `across` columns and `along` rows; a column past the last is the first again, turned if `is_turned`.
fn band(across: u32, along: u32, is_ring: bool, is_turned: bool) -> Vec<[u32; 3]> {
    let vertex = |i: u32, j: u32| {
        if i < across {
            i * along + j
        } else if is_turned {
            along - 1 - j
        } else {
            j
        }
    };
    let mut faces = Vec::new();
    for i in 0..if is_ring { across } else { across - 1 } {
        for j in 0..along - 1 {
            let [a, b, c, d] = [
                vertex(i, j),
                vertex(i + 1, j),
                vertex(i + 1, j + 1),
                vertex(i, j + 1),
            ];
            faces.push([a, b, c]);
            faces.push([a, c, d]);
        }
    }
    faces
}

/// A square sheet in the plane z = 0, a little tilted; n × n vertices, from −1 to 1 times `size`.
fn sheet(n: u32, size: f64) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let at = |k: u32| size * (2.0 * f64::from(k) / f64::from(n - 1) - 1.0);
    let x = (0..n * n)
        .map(|v| {
            let (p, q) = (at(v / n), at(v % n));
            DVec3::new(p, q, 0.013 * p + 0.0071 * q)
        })
        .collect();
    (x, band(n, n, false, false))
}

/// Several surfaces as the bodies of one mesh.
fn bodies(parts: Vec<(BodyKind, Vec<DVec3>, Vec<[u32; 3]>)>) -> (Mesh, Vec<DVec3>) {
    let (mut x, mut faces, mut bodies) = (Vec::new(), Vec::new(), Vec::new());
    for (number, (kind, positions, triangles)) in parts.into_iter().enumerate() {
        let (v, f) = (x.len() as u32, faces.len() as u32);
        x.extend(positions);
        faces.extend(triangles.iter().map(|t| t.map(|c| c + v)));
        bodies.push(Body {
            name: format!("body {number}"),
            kind,
            vertices: v..x.len() as u32,
            faces: f..faces.len() as u32,
        });
    }
    (Mesh::with_bodies(x.len(), faces, bodies).unwrap(), x)
}

#[test]
fn a_one_sided_band_meets_itself_in_a_path_that_is_its_own_partner() {
    // the arms of a cross that makes a quarter turn on its way round: after two rounds each arm is itself, upside down
    let (n, m) = (43, 6);
    let x: Vec<DVec3> = (0..n * m)
        .map(|v| {
            let share = f64::from(v / m) / f64::from(n);
            let s = f64::from(v % m) / f64::from(m - 1) - 0.5;
            let (round, turn) = (2.0 * TAU * share, 0.5 * TAU * share);
            let outward = DVec3::new(round.cos(), round.sin(), 0.0);
            outward * 2.0 + s * (outward * turn.cos() + DVec3::Z * turn.sin())
        })
        .collect();
    let mesh = Mesh::new(x.len(), band(n, m, true, true)).unwrap();
    assert!(mesh.orientation().is_none(), "one-sided");
    let analysis = judged("one-sided band", &mesh, &x, Rest::Unknown);
    let [contour] = &analysis.contours[..] else {
        panic!("{:?}", analysis.contours);
    };
    assert_eq!(contour.kind, Kind::Closed);
    let [path] = paths_of(&analysis, contour) else {
        panic!("one path");
    };
    assert_eq!(path.segments.len(), 2 * contour.segment_count);
    assert_eq!(
        path.inside,
        Inside::None,
        "the middle line does not part the band"
    );
}

/// An open tube about the z axis whose wall near x = 1 is pushed through the opposite one.
fn pinched_tube(push: impl Fn(f64, f64) -> f64, height: impl Fn(f64) -> f64) -> (Mesh, Vec<DVec3>) {
    let (n, m) = (41, 12);
    let x: Vec<DVec3> = (0..n * m)
        .map(|v| {
            let angle = TAU * (f64::from(v / m) + 0.21) / f64::from(n);
            let share = f64::from(v % m) / f64::from(m - 1) - 0.5;
            let front = angle.cos().max(0.0);
            let z = share * height(angle);
            DVec3::new(
                angle.cos() - push(angle, share) * front * front,
                angle.sin(),
                z + 0.01 * angle.sin(),
            )
        })
        .collect();
    (Mesh::new(x.len(), band(n, m, true, false)).unwrap(), x)
}

#[test]
fn a_cut_from_one_end_of_a_tube_to_the_other_does_not_part_it() {
    // pushed through along the whole tube; the front wall is shorter, so that it is the one that is cut
    let (mesh, x) = pinched_tube(|_, _| 2.6, |angle| 2.0 - 0.4 * angle.cos());
    let analysis = judged("pinched tube", &mesh, &x, Rest::Unknown);
    let kinds: Vec<Kind> = analysis.contours.iter().map(|c| c.kind).collect();
    assert_eq!(kinds, [Kind::CutAndSlit; 2]);
    for path in &analysis.paths {
        assert_eq!(path.inside, Inside::None, "{:?}", path.kind);
    }
}

#[test]
fn a_dent_in_a_tube_parts_both_walls() {
    let (mesh, x) = pinched_tube(|_, share| 2.6 - 11.0 * share * share, |_| 2.0);
    let analysis = judged("dented tube", &mesh, &x, Rest::Unknown);
    let kinds: Vec<Kind> = analysis.contours.iter().map(|c| c.kind).collect();
    assert_eq!(kinds, [Kind::Closed]);
    assert!(
        analysis
            .paths
            .iter()
            .all(|p| !p.inside.vertices().is_empty())
    );
}

/// A ring of radius 1 about the z axis, thick 0.3.
fn torus() -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let (n, m) = (31, 13);
    let x = (0..n * m)
        .map(|v| {
            let (a, b) = (
                TAU * f64::from(v / m) / f64::from(n),
                TAU * f64::from(v % m) / f64::from(m),
            );
            let r = 1.0 + 0.3 * b.cos();
            DVec3::new(r * a.cos(), r * a.sin(), 0.3 * b.sin())
        })
        .collect();
    let faces = (0..n * m)
        .flat_map(|v| {
            let (i, j) = (v / m, v % m);
            let at = |i: u32, j: u32| (i % n) * m + j % m;
            let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            [[a, b, c], [a, c, d]]
        })
        .collect();
    (x, faces)
}

#[test]
fn a_loop_round_a_handle_uses_the_inside_of_its_partner() {
    let (ring, ring_faces) = torus();
    let (flat, flat_faces) = sheet(14, 0.7);
    // the sheet stands across the ring at one place only
    let flat = flat
        .iter()
        .map(|p| DVec3::new(p.x + 1.02, p.z + 0.031, p.y + 0.013))
        .collect();
    let (mesh, x) = bodies(vec![
        (BodyKind::Cloth, ring, ring_faces),
        (BodyKind::Cloth, flat, flat_faces),
    ]);
    let analysis = judged("ring through sheet", &mesh, &x, Rest::Unknown);
    let kinds: Vec<Kind> = analysis.contours.iter().map(|c| c.kind).collect();
    assert_eq!(kinds, [Kind::Closed]);
    for path in &analysis.paths {
        if mesh.body_of_face(path.faces[0]) == 0 {
            assert_eq!(
                path.inside,
                Inside::Partner,
                "a loop round the ring does not part it"
            );
        } else {
            assert!(path.inside.vertices().len() > 5);
            assert!(
                path.inside
                    .vertices()
                    .iter()
                    .all(|&v| mesh.body_of_vertex(v) == 1)
            );
        }
    }
}

#[test]
fn obstacles_cross_the_cloth_and_not_each_other() {
    let (ring, ring_faces) = torus();
    let second: Vec<DVec3> = ring
        .iter()
        .map(|p| DVec3::new(p.x + 0.9, p.y, p.z + 0.02))
        .collect();
    let (flat, flat_faces) = sheet(21, 2.4);
    let (mesh, x) = bodies(vec![
        (BodyKind::Obstacle, ring, ring_faces.clone()),
        (BodyKind::Obstacle, second, ring_faces),
        (BodyKind::Cloth, flat, flat_faces),
    ]);
    let analysis = judged("rings in a sheet", &mesh, &x, Rest::Unknown);
    // the sheet cuts each ring along its inner and outer circle
    assert_eq!(real(&analysis).len(), 4);
    for contour in &analysis.contours {
        assert_eq!(contour.kind, Kind::Closed);
        let of: Vec<u32> = paths_of(&analysis, contour)
            .iter()
            .map(|p| mesh.body_of_face(p.faces[0]))
            .collect();
        assert!(of.contains(&2));
    }
}

#[test]
fn sheets_that_meet_in_one_edge_all_end_there() {
    // three leaves of a book whose back goes through a sheet
    let (flat, flat_faces) = sheet(9, 1.0);
    let mut x = flat;
    let mut faces = flat_faces;
    let back = x.len() as u32;
    x.extend([DVec3::new(0.03, 0.05, -0.7), DVec3::new(0.05, 0.03, 0.8)]);
    for leaf in 0..3 {
        let angle = TAU * (f64::from(leaf) + 0.1) / 3.0;
        let out = 0.5 * DVec3::new(angle.cos(), angle.sin(), 0.0);
        let v = x.len() as u32;
        x.extend([out - 0.6 * DVec3::Z, out + 0.7 * DVec3::Z]);
        faces.extend([[back, v, v + 1], [back, v + 1, back + 1]]);
    }
    let mesh = Mesh::new(x.len(), faces).unwrap();
    assert_eq!(mesh.non_manifold().edges.len(), 1);
    let analysis = judged("book", &mesh, &x, Rest::Unknown);
    let kinds: Vec<Kind> = analysis.contours.iter().map(|c| c.kind).collect();
    assert_eq!(
        kinds,
        [Kind::CutAndSlit; 3],
        "from the back to the far end of each leaf"
    );
}

#[test]
fn a_seam_is_crossed_once_it_is_welded() {
    let t = tangles::of_type("closed", 8).unwrap();
    let whole = judged("whole", &mesh_of(&t), &t.positions, Rest::Unknown);
    // cut along the middle row: its vertices are doubled for the upper half
    let rows = 17;
    let middle = rows / 2;
    let mut x = t.positions.clone();
    let mut faces = t.faces.clone();
    for column in 0..x.len() as u32 / rows {
        let old = column * rows + middle;
        let copy = x.len() as u32;
        x.push(x[old as usize]);
        for f in &mut faces {
            if f.contains(&old)
                && f.iter()
                    .any(|v| (*v as usize) < t.positions.len() && v % rows > middle)
            {
                *f = f.map(|v| if v == old { copy } else { v });
            }
        }
    }
    let cut = Mesh::new(x.len(), faces).unwrap();
    let apart = judged("cut in two", &cut, &x, Rest::Unknown);
    let kinds: Vec<Kind> = real(&apart).iter().map(|c| c.kind).collect();
    assert_ne!(kinds, [Kind::Closed]);
    let seams = coincident(&cut, &x);
    assert_eq!(seams.len(), 17);
    let welded = weld(&cut, &x, &seams).unwrap();
    let closed = judged("sewn", &welded.mesh, &welded.positions, Rest::Unknown);
    assert_eq!(closed.contours, whole.contours);
    for (a, b) in closed.paths.iter().zip(&whole.paths) {
        assert_eq!(a.inside, b.inside);
    }
}

#[test]
fn two_ribbons_of_equal_width_that_cross_cut_each_other_in_two() {
    // at both ends a boundary vertex of one lies exactly on one of the other
    let ribbon = |dip: f64| -> Vec<DVec3> {
        (0..7 * 4)
            .map(|v| {
                let (i, j) = (f64::from(v / 4), f64::from(v % 4));
                let away = i - 3.0;
                let inner = if v % 4 == 1 || v % 4 == 2 {
                    0.03 * dip
                } else {
                    0.0
                };
                DVec3::new(
                    away * (1.0 + 0.1 * dip) + inner,
                    j,
                    dip * away * 0.7 + inner,
                )
            })
            .collect()
    };
    let (mesh, x) = bodies(vec![
        (BodyKind::Cloth, ribbon(1.0), band(7, 4, false, false)),
        (BodyKind::Cloth, ribbon(-1.0), band(7, 4, false, false)),
    ]);
    let analysis = judged("ribbons", &mesh, &x, Rest::Unknown);
    let kinds: Vec<Kind> = real(&analysis).iter().map(|c| c.kind).collect();
    assert_eq!(kinds, [Kind::CutAndCut]);
    for path in paths_of(&analysis, real(&analysis)[0]) {
        assert_eq!(path.kind, PathKind::Bb);
        assert!(!path.inside.vertices().is_empty());
    }
}

#[test]
fn parameters_measure_the_disc_and_positions_do_where_there_are_none() {
    let t = tangles::of_type("bli", 10).unwrap();
    let mesh = mesh_of(&t);
    let inside = |rest: Rest<'_>| {
        let analysis = analyse(&mesh, &t.positions, rest).unwrap();
        analysis.paths[0].inside.vertices().len() as f64
    };
    let measured = inside(Rest::Parameters(&t.uv));
    let unknown = inside(Rest::Unknown);
    assert!(
        (measured - unknown).abs() < 0.5 * measured,
        "the lower layer is stretched by a quarter: {measured}, {unknown}"
    );
    // each face in a chart of its own, anywhere
    let charts: Vec<[DVec2; 3]> = (t.uv.iter().enumerate())
        .map(|(k, uv)| uv.map(|p| DVec2::from_angle(k as f64).rotate(p) + DVec2::splat(k as f64)))
        .collect();
    assert_eq!(
        inside(Rest::Parameters(&charts)),
        measured,
        "charts may be cut anywhere"
    );
}
