//! What holds for every cure: nothing crosses afterwards, nothing else changes, units and places do not matter.

use std::sync::Arc;

use glam::{DQuat, DVec3};
use percale::geometry::{Mesh, crossing_faces};
use percale::scene::tangles::{self, Tangled};
use percale::untangle::{
    Aim, CureSettings, Cured, Kind, PathKind, Patient, Reason, Response, Rest, TargetSettings,
    analyse, cure,
};
use percale::verify::audit;

use crate::random::Random;

pub(super) fn cured(mesh: &Arc<Mesh>, x: &[DVec3], rest: Rest<'_>) -> Cured {
    let patient = Patient {
        mesh,
        x,
        rest,
        keep: &[],
        layers: &[],
        lengths: &[],
    };
    cure(patient, &CureSettings::default()).unwrap()
}

pub(super) fn assert_clean(name: &str, mesh: &Mesh, cured: &Cured) {
    let left = audit::intersections(mesh, &cured.positions);
    assert_eq!(left, Vec::<[u32; 2]>::new(), "{name}: the auditor");
    assert_eq!(crossing_faces(mesh, &cured.positions), left, "{name}");
    assert_eq!(cured.report.intersections_after, 0, "{name}");
    assert_eq!(cured.report.left, [], "{name}");
}

fn sheet(name: &str, cells: u32) -> (Arc<Mesh>, Tangled) {
    let t = tangles::of_type(name, cells).unwrap();
    (
        Arc::new(Mesh::new(t.positions.len(), t.faces.clone()).unwrap()),
        t,
    )
}

fn rotation(random: &mut Random) -> DQuat {
    loop {
        let [x, y, z, w] = [(); 4].map(|()| random.signed());
        let q = DQuat::from_xyzw(x, y, z, w);
        if (0.1..1.0).contains(&q.length_squared()) {
            return q.normalize();
        }
    }
}

/// Boundaries that touch exactly come apart in general under rounding; types without them keep their shape under any motion.
const GENERAL: [&str; 7] = ["closed", "eight", "ll", "bli", "cross", "bb-ii", "bi-bi"];

#[test]
fn every_type_is_cured_at_every_resolution() {
    for name in tangles::TYPES {
        for cells in [4, 6, 9, 16] {
            let (mesh, t) = sheet(name, cells);
            let label = format!("{name} with {cells} cells");
            let pattern = cured(&mesh, &t.positions, Rest::Parameters(&t.uv));
            assert_clean(&label, &mesh, &pattern);
            let unknown = cured(&mesh, &t.positions, Rest::Unknown);
            assert_clean(&format!("{label}, no pattern"), &mesh, &unknown);
        }
    }
}

#[test]
fn motions_and_scales_do_not_change_the_result() {
    let mut random = Random(20);
    for name in GENERAL {
        let (mesh, t) = sheet(name, 6);
        let still = cured(&mesh, &t.positions, Rest::Parameters(&t.uv));
        for scale in [1.0, 1e-3, 1e3] {
            let turn = rotation(&mut random);
            let shift = scale * DVec3::new(random.signed(), random.signed(), random.signed());
            let there = |p: DVec3| turn * (scale * p) + shift;
            let back = |p: DVec3| turn.inverse() * (p - shift) / scale;
            let x: Vec<DVec3> = t.positions.iter().map(|&p| there(p)).collect();
            let uv: Vec<_> = t.uv.iter().map(|f| f.map(|p| scale * p)).collect();
            let moved = cured(&mesh, &x, Rest::Parameters(&uv));
            assert_clean(name, &mesh, &moved);
            assert_eq!(
                moved.report.steps, still.report.steps,
                "{name}, scale {scale}"
            );
            for (p, q) in moved.positions.iter().zip(&still.positions) {
                assert!(
                    back(*p).distance(*q) < 1e-9,
                    "{name}, scale {scale}: {}",
                    back(*p).distance(*q)
                );
            }
        }
    }
}

/// Quarter turns, shifts and scales by powers of two are exact, so that boundaries that touch stay in touch: every type.
#[test]
fn exact_motions_and_scales_do_not_change_the_result_of_any_type() {
    let turns = [DVec3::X, DVec3::Y, DVec3::Z];
    for (k, name) in tangles::TYPES.into_iter().enumerate() {
        let (mesh, t) = sheet(name, 6);
        let still = cured(&mesh, &t.positions, Rest::Parameters(&t.uv));
        assert_clean(name, &mesh, &still);
        for (scale, turn) in [(1.0 / 1024.0, k), (1024.0, k + 1)] {
            // (x, y, z) → (y, z, x), once or twice
            let [a, b, c] = [0, 1, 2].map(|i| turns[(i + turn) % 3]);
            let there = |p: DVec3| scale * (p.x * a + p.y * b + p.z * c);
            let back = |p: DVec3| DVec3::new(p.dot(a), p.dot(b), p.dot(c)) / scale;
            let x: Vec<DVec3> = t.positions.iter().map(|&p| there(p)).collect();
            let uv: Vec<_> = t.uv.iter().map(|f| f.map(|p| scale * p)).collect();
            let moved = cured(&mesh, &x, Rest::Parameters(&uv));
            assert_clean(name, &mesh, &moved);
            for (p, q) in moved.positions.iter().zip(&still.positions) {
                let distance = back(*p).distance(*q);
                assert!(distance < 1e-9, "{name}, scale {scale}: {distance}");
            }
        }
    }
}

/// Where boundaries touch exactly, a motion may change the type by its rounding; it is cured all the same.
#[test]
fn every_type_is_cured_after_any_motion() {
    let mut random = Random(21);
    for name in tangles::TYPES {
        let (mesh, t) = sheet(name, 6);
        for scale in [1e-3, 1.0, 1e3] {
            let turn = rotation(&mut random);
            let shift = scale * DVec3::new(random.signed(), random.signed(), random.signed());
            let x = t.positions.iter().map(|&p| turn * (scale * p) + shift);
            let uv: Vec<_> = t.uv.iter().map(|f| f.map(|p| scale * p)).collect();
            let moved = cured(&mesh, &x.collect::<Vec<_>>(), Rest::Parameters(&uv));
            assert_clean(&format!("{name}, scale {scale}"), &mesh, &moved);
        }
    }
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let t = tangles::table_1(1).unwrap();
    let mesh = Arc::new(Mesh::new(t.positions.len(), t.faces.clone()).unwrap());
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| cured(&mesh, &t.positions, Rest::Parameters(&t.uv)).positions)
    };
    assert!(run(1) == run(2), "the same bits");
}

#[test]
fn a_clean_mesh_comes_back_with_the_same_bits_and_a_second_cure_changes_nothing() {
    for name in ["closed", "bli"] {
        let (mesh, t) = sheet(name, 8);
        let first = cured(&mesh, &t.positions, Rest::Unknown);
        assert_clean(name, &mesh, &first);
        let second = cured(&mesh, &first.positions, Rest::Unknown);
        assert!(second.positions == first.positions, "{name}: the same bits");
        assert_eq!((second.report.steps, second.report.moved), (0, 0));
    }
}

/// A large flat sheet over another, with one vertex pushed through: nobody else needs to move.
#[test]
fn what_is_far_away_keeps_its_bits() {
    let (mesh, mut x, n) = layers(40);
    let middle = n * (n / 2) + n / 2;
    x[middle as usize].y -= 0.05;
    let result = cured(&mesh, &x, Rest::Unknown);
    assert_clean("one vertex", &mesh, &result);
    let moved = |v: usize| result.positions[v] != x[v];
    assert!((0..x.len()).any(moved) && result.report.moved < 200);
    for v in 0..x.len() {
        let cells =
            |v: usize| [v % n as usize, v % (n * n) as usize / n as usize].map(|c| c as i64);
        let [i, j] = cells(v);
        let [k, l] = cells(middle as usize);
        if (i - k).abs().max((j - l).abs()) > 10 {
            assert!(!moved(v), "vertex {v}");
        }
    }
}

#[test]
fn layers_that_crossed_are_parted_to_the_thickness() {
    let (mesh, mut x, n) = layers(20);
    let middle = (n * (n / 2) + n / 2) as usize;
    x[middle].y -= 0.03;
    let least_gap = |thickness: f64| {
        let patient = Patient {
            mesh: &mesh,
            x: &x,
            rest: Rest::Unknown,
            keep: &[],
            layers: &[],
            lengths: &[],
        };
        let settings = CureSettings {
            thickness,
            ..CureSettings::default()
        };
        let result = cure(patient, &settings).unwrap();
        assert_clean("one vertex", &mesh, &result);
        let upper = &result.positions[..(n * n) as usize];
        let lower = &mesh.faces()[mesh.faces().len() / 2..];
        let gap = |p: &DVec3| {
            // the lower sheet is nearly flat: heights over its faces
            let over = lower.iter().filter_map(|f| {
                let [a, b, c] = f.map(|v| result.positions[v as usize]);
                let normal = (b - a).cross(c - a);
                let area = |p: DVec3, q: DVec3, r: DVec3| (q - p).cross(r - p).dot(normal);
                let is_over =
                    area(a, b, *p) >= 0.0 && area(b, c, *p) >= 0.0 && area(c, a, *p) >= 0.0;
                is_over.then(|| (*p - a).dot(normal.normalize()).abs())
            });
            over.fold(f64::INFINITY, f64::min)
        };
        upper.iter().map(gap).fold(f64::INFINITY, f64::min)
    };
    let [as_it_is, parted] = [0.0, 0.006].map(least_gap);
    assert!(as_it_is < 0.005, "the cure alone leaves {as_it_is}");
    assert!(parted > 0.97 * 0.006, "{parted}");
}

/// Two flat sheets of n × n vertices, the upper first, 2 cm apart.
fn layers(n: u32) -> (Arc<Mesh>, Vec<DVec3>, u32) {
    let (mut x, mut faces) = (Vec::new(), Vec::new());
    for (layer, height) in [(0, 0.02), (1, 0.0)] {
        for i in 0..n {
            for j in 0..n {
                // layers differ, so that no two edges lie above each other
                let [u, v] = [i, j].map(|k| 0.03 * f64::from(k) * (1.0 + 0.013 * f64::from(layer)));
                x.push(DVec3::new(u, height, v));
                if i + 1 < n && j + 1 < n {
                    let a = layer * n * n + i * n + j;
                    faces.extend([[a, a + 1, a + n + 1], [a, a + n + 1, a + n]]);
                }
            }
        }
    }
    (Arc::new(Mesh::new(x.len(), faces).unwrap()), x, n)
}

/// Two discs whose rims are linked and may not move: every pair of discs with these rims crosses.
#[test]
fn discs_in_linked_rings_are_left_by_name_and_not_made_worse() {
    let (mut x, mut faces, mut keep) = (Vec::new(), Vec::new(), Vec::new());
    let (rings, spokes) = (6, 24);
    for (centre, u, v) in [
        (DVec3::ZERO, DVec3::X, DVec3::Y),
        (DVec3::X, DVec3::X, DVec3::Z),
    ] {
        let first = x.len() as u32;
        x.push(centre);
        keep.push(false);
        for ring in 1..=rings {
            for k in 0..spokes {
                let angle = std::f64::consts::TAU * (f64::from(k) + 0.13) / f64::from(spokes);
                let radius = f64::from(ring) / f64::from(rings);
                x.push(centre + radius * (angle.cos() * u + angle.sin() * v));
                keep.push(ring == rings);
                let at = |ring: u32, k: u32| first + 1 + (ring - 1) * spokes + k % spokes;
                if ring == 1 {
                    faces.push([first, at(1, k), at(1, k + 1)]);
                } else {
                    faces.push([at(ring - 1, k), at(ring, k), at(ring, k + 1)]);
                    faces.push([at(ring - 1, k), at(ring, k + 1), at(ring - 1, k + 1)]);
                }
            }
        }
    }
    let mesh = Arc::new(Mesh::new(x.len(), faces).unwrap());
    let patient = Patient {
        mesh: &mesh,
        x: &x,
        rest: Rest::Unknown,
        keep: &keep,
        layers: &[],
        lengths: &[],
    };
    let result = cure(patient, &CureSettings::default()).unwrap();
    let before = crossing_faces(&mesh, &x).len();
    let after = audit::intersections(&mesh, &result.positions).len();
    assert!(0 < after && after <= before, "{before} {after}");
    assert_eq!(result.report.intersections_after, after);
    assert!(!result.report.left.is_empty());
    for left in &result.report.left {
        assert_eq!(left.reason, Reason::NothingHelps);
    }
    for (v, _) in keep.iter().enumerate().filter(|(_, keep)| **keep) {
        assert_eq!(result.positions[v], x[v], "a kept vertex stays");
    }
}

#[test]
fn direct_displacement_and_closest_points_are_options() {
    let (mesh, t) = sheet("closed", 6);
    let patient = Patient {
        mesh: &mesh,
        x: &t.positions,
        rest: Rest::Parameters(&t.uv),
        keep: &[],
        layers: &[],
        lengths: &[],
    };
    let closest = CureSettings {
        targets: TargetSettings {
            aim: Aim::Closest,
            ..TargetSettings::default()
        },
        ..CureSettings::default()
    };
    let direct = CureSettings {
        response: Response::Displace(0.55),
        ..CureSettings::default()
    };
    let smooth = cure(patient, &CureSettings::default()).unwrap();
    for settings in [closest, direct] {
        let other = cure(patient, &settings).unwrap();
        assert_clean("closed", &mesh, &other);
        assert!(other.positions != smooth.positions);
    }
}

/// A tube along x of n × n cells, its radius at both ends, shifted aside; faces after those of others.
fn tube(n: u32, radii: [f64; 2], shift: f64, x: &mut Vec<DVec3>, faces: &mut Vec<[u32; 3]>) {
    let first = x.len() as u32;
    for i in 0..=n {
        let along = f64::from(i) / f64::from(n);
        let radius = radii[0] + along * (radii[1] - radii[0]);
        for k in 0..n {
            // not a row of vertices in one plane with those of the other tube
            let angle = std::f64::consts::TAU * (f64::from(k) + 0.37 * shift + 0.31 * along);
            let angle = angle / f64::from(n);
            let length = 1.0 + 0.1 * shift;
            x.push(DVec3::new(
                length * along,
                radius * angle.sin() + shift,
                radius * angle.cos(),
            ));
            if i < n {
                let at = |i: u32, k: u32| first + i * n + k % n;
                faces.push([at(i, k), at(i + 1, k), at(i + 1, k + 1)]);
                faces.push([at(i, k), at(i + 1, k + 1), at(i, k + 1)]);
            }
        }
    }
}

/// One tube beside another of the same width: each is cut twice from rim to rim, and neither cut alone parts it.
#[test]
fn two_cuts_from_rim_to_rim_part_a_tube() {
    let (mut x, mut faces) = (Vec::new(), Vec::new());
    tube(14, [0.16; 2], 0.0, &mut x, &mut faces);
    tube(14, [0.16; 2], 0.07, &mut x, &mut faces);
    let mesh = Arc::new(Mesh::new(x.len(), faces).unwrap());
    let analysis = analyse(&mesh, &x, Rest::Unknown).unwrap();
    let cuts = analysis.paths.iter().filter(|p| p.kind == PathKind::Bb);
    let insides: Vec<&[u32]> = cuts.map(|p| p.inside.vertices()).collect();
    assert_eq!(insides.len(), 2, "the longer tube is cut twice");
    assert!(!insides[0].is_empty() && insides[0] == insides[1]);
    // what lies within the other tube, or what does not
    let is_within = |p: DVec3| (p.y - 0.035) * if insides[0][0] < 14 * 15 { 1.0 } else { -1.0 };
    let within = insides[0]
        .iter()
        .filter(|&&v| is_within(x[v as usize]) > 0.0);
    let share = within.count() as f64 / insides[0].len() as f64;
    assert!(!(0.1..0.9).contains(&share), "{share}");
    assert_clean("tubes", &mesh, &cured(&mesh, &x, Rest::Unknown));
}

/// A tube that gets wider through one that does not: they cross in a ring, whose layout in the plane has a cut.
#[test]
fn a_ring_around_a_tube_is_cured() {
    let (mut x, mut faces) = (Vec::new(), Vec::new());
    tube(14, [0.16; 2], 0.0, &mut x, &mut faces);
    tube(14, [0.152, 0.17], 0.001, &mut x, &mut faces);
    let mesh = Arc::new(Mesh::new(x.len(), faces).unwrap());
    let analysis = analyse(&mesh, &x, Rest::Unknown).unwrap();
    assert!(
        analysis
            .contours
            .iter()
            .any(|c| c.kind == Kind::Closed && c.length > 0.9)
    );
    assert_clean("tubes", &mesh, &cured(&mesh, &x, Rest::Unknown));
}

/// Lips of a slit that was never opened lie exactly on each other; in which order the faces are listed decides how the analysis takes that, not
/// how long the cure takes.
#[test]
fn lips_that_touch_come_apart_whatever_the_order_of_faces() {
    let t = tangles::of_type("bllb", 6).unwrap();
    for first in 0..24 {
        let mut faces = t.faces.clone();
        let mut uv = t.uv.clone();
        faces.rotate_left(first * 12);
        uv.rotate_left(first * 12);
        if first % 2 == 1 {
            for (face, uv) in faces.iter_mut().zip(&mut uv) {
                face.rotate_left(1);
                uv.rotate_left(1);
            }
        }
        let mesh = Arc::new(Mesh::new(t.positions.len(), faces).unwrap());
        let result = cured(&mesh, &t.positions, Rest::Parameters(&uv));
        assert_clean(&format!("first {first}"), &mesh, &result);
        assert!(result.report.steps <= 3, "{}", result.report.steps);
    }
}

/// What came through is smooth again: hardly an edge between the sheets' creases is bent by more than 15°.
#[test]
fn hems_that_came_through_do_not_ripple() {
    for name in ["cross", "bb-ii"] {
        let (mesh, t) = sheet(name, 24);
        let result = cured(&mesh, &t.positions, Rest::Parameters(&t.uv));
        assert_clean(name, &mesh, &result);
        let normal = |f: u32| {
            let [a, b, c] = mesh.faces()[f as usize].map(|v| result.positions[v as usize]);
            (b - a).cross(c - a).normalize()
        };
        let is_bent = |edge: u32| match *mesh.faces_of_edge(edge) {
            // the fold between the layers is bent by more than a right angle
            [f, g] => (0.0..0.966).contains(&normal(f).dot(normal(g))),
            _ => false,
        };
        let count = (0..mesh.edges().len() as u32)
            .filter(|&e| is_bent(e))
            .count();
        assert!(count <= 15, "{name}: {count}");
    }
}
