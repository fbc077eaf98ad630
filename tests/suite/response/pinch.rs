//! Pinches: proofs against exact arithmetic, scenes against closed formulas.

use glam::{DVec3, dvec3};
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};
use percale::error::{Pinch, StepError};
use percale::response::inelastic::pinch::{Certificate, infeasible_subset};
use percale::response::inelastic::zone::{Contact, Unsolved, Zone};
use percale::response::inelastic::{Inelastic, Precision};
use percale::scene::Scene;

use crate::random::Random;

fn rational(x: f64) -> BigRational {
    BigRational::from_float(x).unwrap()
}

/// Whether Aᵀλ = 0, bᵀλ = 1, λ ≥ 0 has a solution: then A z ≥ b has none (Farkas). `columns[i]` is row i of A, then bᵢ.
///
/// Phase one of the simplex method in rationals, with Bland's rule; nothing in common with the solver under test.
fn contradiction_exists(columns: &[Vec<BigRational>]) -> bool {
    if columns.is_empty() {
        return false;
    }
    let (n, m) = (columns.len(), columns[0].len());
    let mut rows: Vec<Vec<BigRational>> = (0..m)
        .map(|r| {
            let right = if r + 1 == m {
                BigRational::one()
            } else {
                BigRational::zero()
            };
            let row = columns.iter().map(|column| column[r].clone());
            row.chain([right]).collect()
        })
        .collect();
    let mut basis: Vec<usize> = (n..n + m).collect();
    loop {
        let cost = |j: usize| -> BigRational {
            (0..m).filter(|&r| basis[r] >= n).map(|r| &rows[r][j]).sum()
        };
        let Some(enter) = (0..n).find(|&j| cost(j).is_positive()) else {
            return cost(n).is_zero();
        };
        let leave = (0..m)
            .filter(|&r| rows[r][enter].is_positive())
            .min_by_key(|&r| (&rows[r][n] / &rows[r][enter], basis[r]))
            .expect("a positive cost has a positive entry");
        let pivot = rows[leave][enter].clone();
        rows[leave].iter_mut().for_each(|value| *value /= &pivot);
        let row = rows[leave].clone();
        for (_, other) in rows.iter_mut().enumerate().filter(|(r, _)| *r != leave) {
            let factor = other[enter].clone();
            for (value, pivoted) in other.iter_mut().zip(&row) {
                *value -= &factor * pivoted;
            }
        }
        basis[leave] = enter;
    }
}

/// Whether no free positions give every contact its target, changed by `more`, exactly.
fn is_infeasible(zone: &Zone, more: f64) -> bool {
    let free: Vec<u32> = (0..zone.start.len() as u32)
        .filter(|&v| zone.inverse_mass[v as usize] > 0.0)
        .collect();
    let columns: Vec<Vec<BigRational>> = zone
        .contacts
        .iter()
        .map(|contact| {
            let mut column = vec![BigRational::zero(); 3 * free.len() + 1];
            let mut right = rational(contact.target) + rational(more);
            for (&v, w) in contact.vertices.iter().zip(contact.weights) {
                for axis in 0..3 {
                    let gradient = rational(w) * rational(contact.normal[axis]);
                    match free.binary_search(&v) {
                        Ok(place) => column[3 * place + axis] += gradient,
                        Err(_) => right -= gradient * rational(zone.wanted[v as usize][axis]),
                    }
                }
            }
            *column.last_mut().unwrap() = right;
            column
        })
        .collect();
    contradiction_exists(&columns)
}

/// A multiple of 1/8 in [−1, 1].
fn eighth(random: &mut Random) -> f64 {
    random.below(17) as f64 / 8.0 - 1.0
}

/// One to three free vertices, six scripted ones, and contacts among them in few directions, so that they often oppose one another.
/// All numbers are multiples of small powers of two: exact in both arithmetics.
fn random_zone(random: &mut Random) -> Zone {
    let free = 1 + random.below(3);
    let n = free + 6;
    let positions = |random: &mut Random| -> Vec<DVec3> {
        (0..n)
            .map(|_| dvec3(eighth(random), eighth(random), eighth(random)))
            .collect()
    };
    let start = positions(random);
    let wanted = positions(random);
    let count = 3 + random.below(7);
    let contacts = (0..count).map(|_| {
        let mut vertices = [0u32; 4];
        vertices[0] = random.below(free) as u32;
        for k in 1..4 {
            vertices[k] = loop {
                let v = random.below(n) as u32;
                if !vertices[..k].contains(&v) {
                    break v;
                }
            };
        }
        let weights = match random.below(3) {
            0 => [1.0, -0.25, -0.25, -0.5],
            1 => [1.0, -1.0, 0.0, 0.0],
            _ => [0.5, 0.5, -0.25, -0.75],
        };
        let sign = if random.below(2) == 0 { 1.0 } else { -1.0 };
        let normal = match random.below(4) {
            0 => DVec3::X,
            1 => DVec3::Y,
            2 => DVec3::Z,
            _ => dvec3(0.5, 0.5, 0.75), // the solver asks for unit length, up to a factor
        };
        Contact {
            vertices,
            weights,
            normal: sign * normal,
            target: (1 + random.below(4)) as f64 / 64.0,
            scale: 1.0 / 64.0,
            friction: 0.0,
            warm: 0.0,
        }
    });
    let contacts = contacts.collect();
    Zone {
        inverse_mass: (0..n)
            .map(|v| if v < free { 1.0 + v as f64 } else { 0.0 })
            .collect(),
        start,
        wanted,
        contacts,
    }
}

#[test]
fn proofs_of_random_zones_agree_with_exact_arithmetic() {
    let random = &mut Random(7);
    let (mut pinched, mut open, mut touching, mut unscripted) = (0, 0, 0, 0);
    for case in 0..3000 {
        let zone = random_zone(random);
        let infeasible = is_infeasible(&zone, 0.0);
        // what is decided by less than rounding is not asked about
        if is_infeasible(&zone, 1e-9) != infeasible || is_infeasible(&zone, -1e-9) != infeasible {
            touching += 1;
            continue;
        }
        let found = infeasible_subset(&zone);
        if infeasible {
            let Some(certificate) = found else {
                let mut among_free = zone.clone();
                among_free.contacts.retain(|c| !has_scripted(&zone, c));
                assert!(is_infeasible(&among_free, 0.0), "case {case}: no proof");
                unscripted += 1;
                continue;
            };
            check(&zone, &certificate, random);
            assert!(certificate.room < certificate.asked, "case {case}");
            if certificate.room <= 0.0 {
                let mut touch = zone.clone();
                touch.contacts.iter_mut().for_each(|c| c.target = 0.0);
                // gaps above 0: infeasible for every target, however small
                assert!(is_infeasible(&touch, 1e-12), "case {case}");
            }
            pinched += 1;
        } else {
            assert_eq!(found, None, "case {case}");
            let precision = Precision {
                tolerance: 1e-6,
                ..Precision::STAGE
            };
            match Inelastic::default().solve(&zone, &precision) {
                Ok(solution) => assert!(zone.lack(&solution.x) < 1e-5, "case {case}"),
                Err(Unsolved::Pinched(_)) => panic!("case {case}: pinched, but there is room"),
                Err(Unsolved::Iterations(_)) => {}
            }
            open += 1;
        }
    }
    println!(
        "{pinched} without room, {open} with, {touching} in between, {unscripted} among free vertices"
    );
    assert!(pinched > 300 && open > 300);
}

fn has_scripted(zone: &Zone, contact: &Contact) -> bool {
    let mut each = contact.vertices.iter().zip(contact.weights);
    each.any(|(&v, w)| w != 0.0 && zone.inverse_mass[v as usize] == 0.0)
}

/// Multipliers are positive, and no free positions within reach make the sum of the gaps larger than the room.
fn check(zone: &Zone, certificate: &Certificate, random: &mut Random) {
    assert!(certificate.multipliers.iter().all(|(_, l)| *l > 0.0));
    for _ in 0..5 {
        let x: Vec<DVec3> = (0..zone.start.len())
            .map(|v| match zone.inverse_mass[v] {
                0.0 => zone.wanted[v],
                _ => {
                    let way = dvec3(eighth(random), eighth(random), eighth(random));
                    zone.start[v] + certificate.reach * way
                }
            })
            .collect();
        let gaps = |&(i, l): &(usize, f64)| -> BigRational {
            let contact = &zone.contacts[i];
            let each = contact.vertices.iter().zip(contact.weights);
            let gap: BigRational = each
                .map(|(&v, w)| {
                    let axis = |k: usize| {
                        rational(contact.normal[k]) * rational(x[v as usize][k]) * rational(w)
                    };
                    axis(0) + axis(1) + axis(2)
                })
                .sum();
            rational(l) * gap
        };
        let sum: BigRational = certificate.multipliers.iter().map(gaps).sum();
        assert!(sum <= rational(certificate.room));
    }
}

/// A napkin between two boxes of which the upper one comes down by `way` metres in 0.2 s and stays there for ten frames.
/// The boxes are 30 mm apart at the start.
fn plates(way: f64, more: &str) -> Scene {
    let text = format!(
        r#"
frames = 24
thickness = 1e-3
{more}
[[cloth]]
name = "napkin"
shape = {{ kind = "sheet", size = [0.3, 0.3], cells = [8, 8] }}
[[obstacle]]
name = "lower"
shape = {{ kind = "box", size = [0.2, 0.1, 0.2] }}
position = [0, -0.06, 0]
[[obstacle]]
name = "upper"
shape = {{ kind = "box", size = [0.2, 0.1, 0.2] }}
rotation = [0, 20, 0]
position = [0.01, 0.07, 0.02]
[[obstacle.motion]]
kind = "keyframed"
keys = [{{ time = 0 }}, {{ time = 0.2, move = [0, {}, 0] }}, {{ time = 0.3666666666666667, move = [0, {}, 0] }}, {{ time = 0.5 }}]
"#,
        -way, -way
    );
    Scene::from_text(&text, "plates").unwrap()
}

/// Runs to the end or to a pinch; returns the fail-safes by squeezing on the way.
fn run(scene: &Scene) -> (usize, Option<Pinch>) {
    let mut simulation = scene.build().unwrap();
    let mut squeezed = 0;
    for _ in 0..scene.frames {
        match simulation.step() {
            Ok(report) => {
                assert_eq!(report.intersections, 0);
                squeezed += report.failsafes.get("squeeze").copied().unwrap_or(0);
            }
            Err(StepError::Pinched(pinch)) => return (squeezed, Some(*pinch)),
            Err(other) => panic!("{other}"),
        }
    }
    (squeezed, None)
}

#[test]
fn a_cloth_between_two_boxes_that_overlap_is_pinched_by_both_and_by_as_much_as_they_overlap() {
    const NEWMARK: &str = "[dynamics]\nintegrator = { kind = \"newmark\" }\n";
    let forms = [
        "",
        "[[response]]\nkind = \"impulses\"",
        "[repulsion]\nmax_sweeps = 0",
    ];
    // the one solve leaves the cloth between the boxes less flat, and an overlap is measured along its normals
    let all = forms.map(|form| [(form, "", 1e-3), (form, NEWMARK, 1e-6)]);
    for (form, integrator, exact) in all.into_iter().flatten() {
        let (_, pinch) = run(&plates(0.031, &format!("{integrator}{form}")));
        let pinch = pinch.expect("there is no room for cloth");
        println!("{form}: {pinch}");
        let names: Vec<&str> = pinch.objects.iter().map(|o| o.name.as_str()).collect();
        assert_eq!(names, ["lower", "upper"]);
        assert_eq!(pinch.cloths, ["napkin"]);
        assert!(pinch.objects.iter().all(|object| !object.pinned));
        // they touch after 0.2 · 30/31 s, in the twelfth frame
        assert_eq!(pinch.frame, 12);
        let room = 0.03 - 0.031 * pinch.time / 0.2;
        assert!(room < 0.0, "no earlier than they touch: {room}");
        assert!(
            (pinch.overlap + room).abs() < exact * room.abs() + 1e-9,
            "{} of {room}",
            pinch.overlap
        );
    }
}

#[test]
fn less_room_than_the_thickness_is_still_room() {
    for way in [0.0285, 0.0295, 0.0299] {
        let (squeezed, pinch) = run(&plates(way, ""));
        println!(
            "{:.1} mm of room: squeezed {squeezed} times",
            30.0 - 1e3 * way
        );
        assert_eq!(pinch, None, "{way}");
    }
}

#[test]
fn a_cloth_between_two_balls_that_overlap_is_pinched_by_both() {
    let text = r#"
frames = 40
thickness = 1e-3
[[cloth]]
name = "sheet"
shape = { kind = "sheet", size = [0.4, 0.4], cells = [12, 12] }
[[cloth.pin]]
region = { kind = "edge", towards = "-x" }
[[obstacle]]
name = "under"
shape = { kind = "sphere", radius = 0.1, subdivisions = 3 }
position = [0, -0.12, 0]
rotation = [3, 5, 7]
[[obstacle]]
name = "over"
shape = { kind = "sphere", radius = 0.1, subdivisions = 3 }
position = [0.013, 0.13, 0.007]
motion = [{ kind = "keyframed", keys = [{ time = 0 }, { time = 0.5, move = [0, -0.06, 0] }] }]
"#;
    for cells in [8, 11, 12, 14] {
        let scene = Scene::from_text(text, "balls").unwrap();
        let scene = scene.set("cloth.0.shape.cells", vec![cells; 2]).unwrap();
        let simulation = &mut scene.build().unwrap();
        let error = (0..scene.frames).find_map(|_| simulation.step().err());
        let StepError::Pinched(pinch) = error.expect("there is no room") else {
            panic!("{cells} cells: unproved");
        };
        let names: Vec<&str> = pinch.objects.iter().map(|o| o.name.as_str()).collect();
        assert_eq!(names, ["over", "under"]);
        assert_eq!(pinch.cloths, ["sheet"]);
        // round balls would touch after 0.4213 s; these are polyhedra inside of them
        assert!(pinch.time > 0.42, "{}", pinch.time);
    }
}

fn pinned(name: &str, text: &str) -> Pinch {
    let scene = Scene::from_text(text, name).unwrap();
    let (_, pinch) = run(&scene);
    pinch.unwrap_or_else(|| panic!("{name}: nothing is pinched"))
}

#[test]
fn a_pinned_vertex_that_is_driven_into_an_obstacle_is_named() {
    let pinch = pinned(
        "pinned",
        r#"
frames = 30
thickness = 1e-3
[[cloth]]
name = "flag"
shape = { kind = "sheet", size = [0.2, 0.2], cells = [4, 4] }
position = [0, 0.05, 0]
[[cloth.pin]]
region = { kind = "corner", towards = ["-x", "-z"] }
motion = [{ kind = "keyframed", keys = [{ time = 0 }, { time = 0.5, move = [0, -0.11, 0] }] }]
[[obstacle]]
name = "floor"
shape = { kind = "plane", size = [2, 2] }
position = [0.3, 0, 0.1]
"#,
    );
    println!("{pinch}");
    assert!(pinch.cloths.is_empty());
    let [flag, floor] = &pinch.objects[..] else {
        panic!("{pinch:?}")
    };
    assert_eq!((flag.name.as_str(), flag.pinned), ("flag", true));
    assert_eq!((floor.name.as_str(), floor.pinned), ("floor", false));
    let way = 0.22 * pinch.time;
    assert!(
        way > 0.05 && way < 0.0502,
        "as soon as it gets there: {way}"
    );
    assert!((pinch.overlap - (way - 0.05)).abs() < 1e-7, "{pinch:?}");
    assert_eq!(pinch.frame, 14);
}

#[test]
fn two_pinned_parts_of_a_cloth_that_meet_are_named() {
    let pinch = pinned(
        "pinned",
        r#"
frames = 60
thickness = 1e-3
[[cloth]]
name = "scarf"
shape = { kind = "sheet", size = [0.4, 0.1], cells = [8, 2] }
[[cloth.pin]]
region = { kind = "edge", towards = "-x" }
[[cloth.pin]]
region = { kind = "edge", towards = "+x" }
motion = [{ kind = "keyframed", keys = [{ time = 0 }, { time = 0.5, move = [-0.5, 0, 0.013], turn = [0, 15, 0] }] }]
"#,
    );
    println!("{pinch}");
    assert!(pinch.cloths.is_empty() || pinch.cloths == ["scarf"]);
    assert_eq!(pinch.objects.len(), 1);
    assert_eq!(pinch.objects[0].name, "scarf");
    assert!(pinch.objects[0].pinned);
}

/// Runs a scene in which cloth is pinched until `release`, in seconds, with the crossing let through; returns the frames that it takes after
/// that to be clean.
fn let_through(scene: &Scene, release: f64) -> u64 {
    let simulation = &mut scene.build().unwrap();
    let mut last = 0;
    let mut count = 0;
    for _ in 0..scene.frames {
        let report = simulation.step().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(report.intersections, 0, "only what is listed");
        count += report.let_through;
        if report.crossings > 0 {
            last = report.frame;
        }
    }
    assert!(count > 0, "nothing was pinched");
    assert!(last < scene.frames, "tangled to the end");
    (last + 1).saturating_sub((release * scene.fps) as u64)
}

#[test]
fn a_pinch_that_is_let_through_is_clean_ten_frames_after_there_is_room() {
    let napkin = plates(0.031, "on_pinch = \"tangle\"")
        .set("frames", 40)
        .unwrap();
    let frames = let_through(&napkin, 0.3666);
    println!("napkin between boxes: {frames} frames");
    assert!(frames <= 10, "{frames}");
    let text = r#"
frames = 52
thickness = 1e-3
on_pinch = "tangle"
[[cloth]]
name = "sheet"
shape = { kind = "sheet", size = [0.4, 0.4], cells = [12, 12] }
[[cloth.pin]]
region = { kind = "edge", towards = "-x" }
[[obstacle]]
name = "under"
shape = { kind = "sphere", radius = 0.1, subdivisions = 3 }
position = [0, -0.12, 0]
rotation = [3, 5, 7]
[[obstacle]]
name = "over"
shape = { kind = "sphere", radius = 0.1, subdivisions = 3 }
position = [0.013, 0.13, 0.007]
motion = [{ kind = "keyframed", keys = [{ time = 0 }, { time = 0.5, move = [0, -0.06, 0] }, { time = 0.6, move = [0, -0.06, 0] }, { time = 0.8 }] }]
"#;
    for cells in [8, 12, 16] {
        let scene = Scene::from_text(text, "balls").unwrap();
        let scene = scene.set("cloth.0.shape.cells", vec![cells; 2]).unwrap();
        let frames = let_through(&scene, 0.6);
        println!("sheet of {cells} cells between balls: {frames} frames");
        assert!(frames <= 10, "{cells} cells: {frames}");
    }
}

#[test]
fn the_key_on_pinch_is_stop_or_tangle() {
    let text = |value: &str| {
        format!(
            "frames = 1\non_pinch = \"{value}\"\n[[cloth]]\nname = \"a\"\n\
             shape = {{ kind = \"sheet\", size = [1, 1], cells = [2, 2] }}\n"
        )
    };
    let scene = |value: &str| Scene::from_text(&text(value), "test.toml");
    assert!(scene("stop").unwrap().build().is_ok());
    let tangle = scene("tangle").unwrap();
    assert!(tangle.to_text().contains("on_pinch = \"tangle\""));
    assert!(tangle.build().is_ok());
    let wrong = scene("ignore").unwrap_err().to_string();
    assert!(
        wrong.contains("stop") && wrong.contains("tangle"),
        "{wrong}"
    );
}
