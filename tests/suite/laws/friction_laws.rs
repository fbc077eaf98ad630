//! Laws of friction at three resolutions and two thicknesses. The long ones are run, and print their tables, with
//! `cargo test --release --test suite friction_laws -- --ignored --nocapture --test-threads 1`.

use std::f64::consts::PI;
use std::fmt::Write;
use std::path::Path;

use glam::{DVec3, dvec3};
use percale::scene::Scene;
use percale::step::{Figures, Simulation};

const SIN: f64 = 0.4472135954999579; // of the slope of tan ½
const COS: f64 = 0.8944271909999159;

/// Cells along a side, and thickness.
const SIZES: [(u32, f64); 6] = [
    (6, 1e-3),
    (12, 1e-3),
    (24, 1e-3),
    (6, 2e-4),
    (12, 2e-4),
    (24, 2e-4),
];

/// A sheet on a slope of tan = ½, one thickness above it; no fail-safe, no rigid zones, nothing rounded.
fn slope(friction: f64, integrator: &str, interval: f64, (cells, thickness): (u32, f64)) -> Scene {
    let at = thickness * dvec3(SIN, COS, 0.0);
    let text = format!(
        r#"
frames = 600
thickness = {thickness}
friction = {friction}
failsafe = []
output = {{ grid = "none" }}
time = {{ max_interval = {interval} }}
dynamics = {{ integrator = {{ kind = "{integrator}" }} }}
[[cloth]]
name = "cloth"
shape = {{ kind = "sheet", size = [0.2, 0.2], cells = [{cells}, {cells}] }}
rotation = [0, 0, -26.56505117707799]
position = [{}, {}, 0]
[[obstacle]]
name = "slope"
shape = {{ kind = "plane", size = [12, 12] }}
rotation = [0, 0, -26.56505117707799]
"#,
        at.x, at.y
    );
    Scene::from_text(&text, "slope").unwrap()
}

fn centre(simulation: &Simulation, name: &str) -> DVec3 {
    let x = positions(simulation, name);
    x.iter().sum::<DVec3>() / x.len() as f64
}

fn positions<'a>(simulation: &'a Simulation, name: &str) -> &'a [DVec3] {
    let state = simulation.state();
    let mut bodies = state.mesh().bodies().iter();
    let body = bodies.find(|body| body.name == name).unwrap();
    &state.positions()[body.vertices.start as usize..body.vertices.end as usize]
}

fn step(simulation: &mut Simulation) -> Figures {
    let report = simulation.step().unwrap();
    assert_eq!(report.intersections, 0);
    assert!(
        report.failsafes.is_empty(),
        "laws must not come from holding"
    );
    report
}

/// Ways down the slope after some numbers of frames, in metres.
fn ways<const N: usize>(scene: &Scene, frames: [u32; N]) -> [f64; N] {
    let simulation = &mut scene.build().unwrap();
    let start = centre(simulation, "cloth");
    let mut done = 0;
    frames.map(|frames| {
        for _ in done..frames {
            step(simulation);
        }
        done = frames;
        (centre(simulation, "cloth") - start).dot(dvec3(COS, -SIN, 0.0))
    })
}

fn way(scene: &Scene, frames: u32) -> f64 {
    ways(scene, [frames])[0]
}

/// Loops of the implicit integrator, s.
const LOOP: f64 = 1.0 / 960.0;

/// By how much a sheet that sticks gives when its load comes on, and how far it goes in ten seconds then, in metres.
fn stuck(integrator: &str, interval: f64, size: (u32, f64)) -> (f64, f64) {
    let [first, last] = ways(&slope(0.55, integrator, interval, size), [6, 606]);
    (first, last - first)
}

#[test]
fn a_sheet_slides_and_sticks_on_a_slope_whatever_the_interval() {
    for integrator in ["implicit", "newmark"] {
        for interval in [1.0, 0.125] {
            let slid = way(&slope(0.45, integrator, interval, SIZES[0]), 60);
            let expected = 0.5 * 9.81 * (SIN - 0.45 * COS);
            let error = slid / expected - 1.0;
            let (gave, drift) = stuck(integrator, interval, SIZES[0]);
            println!(
                "{integrator}, {interval}: {error:+.5}; gave {gave:+.1e} m, then {drift:+.1e} m in 10 s"
            );
            // implicit Euler goes with the velocity of the end of a loop: by h/T too far in a second; a row gives by
            // what its stiffness, ten times that of the mass in a loop, makes of the load before the multiplier has it
            let is_implicit = integrator == "implicit";
            let [late, give] = if is_implicit {
                [LOOP, 0.1 * LOOP * LOOP * 9.81 * SIN]
            } else {
                [0.0; 2]
            };
            assert!(drift.abs() < 1e-9, "{integrator}, {interval}: {drift}");
            assert!(
                gave.abs() < 1.1 * give + 1e-9,
                "{integrator}, {interval}: {gave}"
            );
            assert!(
                error.abs() < 0.005 + late,
                "{integrator}, {interval}: {error}"
            );
        }
    }
}

#[test]
#[ignore = "minutes: 24 runs; prints a table"]
fn on_a_slope_at_three_resolutions_and_two_thicknesses() {
    println!(
        "| integrator | dt, s | cells | thickness, m | mu 0.45: error of the way | mu 0.55: drift in 10 s, m |"
    );
    println!("|---|---|---|---|---|---|");
    for integrator in ["implicit", "newmark"] {
        for (interval, dt) in [(1.0, "1/60"), (0.125, "1/480")] {
            for size @ (cells, thickness) in SIZES {
                let slid = way(&slope(0.45, integrator, interval, size), 60);
                let error = slid / (0.5 * 9.81 * (SIN - 0.45 * COS)) - 1.0;
                let (_, drift) = stuck(integrator, interval, size);
                println!(
                    "| {integrator} | {dt} | {cells} | {thickness:e} | {:+.3} % | {drift:+.1e} |",
                    100.0 * error
                );
                assert!(error.abs() < 0.005 + LOOP && drift.abs() < 1e-9);
            }
        }
    }
}

/// Friction by how far a sheet goes in a quarter of a second on a belt that runs at `speed` m/s, both of many faces; turned by
/// `degrees` against each other.
fn on_a_belt(friction: f64, speed: f64, degrees: f64) -> f64 {
    const SETTLED: u32 = 15;
    const LAST: u32 = 30;
    let way = speed * f64::from(LAST - SETTLED) / 60.0;
    let text = format!(
        r#"
frames = {LAST}
thickness = 1e-3
friction = {friction}
failsafe = []
output = {{ grid = "none" }}
[[cloth]]
name = "cloth"
shape = {{ kind = "sheet", size = [0.15, 0.2], cells = [12, 12] }}
rotation = [0, {degrees}, 0]
position = [0, 1e-3, 0]
[[obstacle]]
name = "belt"
shape = {{ kind = "sheet", size = [2.5, 0.4], cells = [100, 16] }}
position = [{}, 0, 0]
motion = [{{ kind = "keyframed", keys = [{{ time = 0.25 }}, {{ time = 0.5, move = [{way}, 0, 0] }}] }}]
"#,
        -0.5 * way
    );
    let simulation = &mut Scene::from_text(&text, "belt").unwrap().build().unwrap();
    let mut start = DVec3::ZERO;
    for frame in 1..=LAST {
        step(simulation);
        if frame == SETTLED {
            start = centre(simulation, "cloth");
        }
    }
    (centre(simulation, "cloth") - start).x / (0.5 * 9.81 * 0.25 * 0.25)
}

#[test]
fn a_sheet_slides_by_its_friction_however_fast() {
    // at 3 m/s three thicknesses and an eighth of a face in every loop, two faces in every interval
    for (speed, allowed) in [(0.3, 0.003), (1.0, 0.003), (3.0, 0.01)] {
        for degrees in [0.0, 17.0] {
            for friction in [0.0, 0.1] {
                let found = on_a_belt(friction, speed, degrees);
                println!("{speed} m/s, {degrees} degrees, friction {friction}: {found:.5}");
                assert!(
                    (found - friction).abs() < allowed,
                    "{speed} m/s, {degrees} degrees: {found} instead of {friction}"
                );
            }
        }
    }
}

/// A ribbon that lies round a drum by `angle`, with straight ends: positions by rows of three, and the directions of its ends.
fn ribbon(radius: f64, angle: f64, cells: u32) -> (Vec<DVec3>, [DVec3; 2]) {
    const TAIL: f64 = 0.05;
    const WIDTH: f64 = 0.02;
    // more than once round it must pass beside itself: a helix, which is straight on the drum
    let rise = if angle > 1.5 * PI {
        0.03 / (2.0 * PI)
    } else {
        0.0
    };
    let at = |t: f64| dvec3(radius * t.sin(), radius * t.cos(), rise * t);
    let along = |t: f64| dvec3(radius * t.cos(), -radius * t.sin(), rise).normalize();
    let tail = (f64::from(cells) * TAIL / (radius * angle))
        .round()
        .max(2.0) as u32;
    let (first, last) = (-0.5 * angle, 0.5 * angle);
    let share = |k: u32, n: u32| f64::from(k) / f64::from(n);
    let before = (0..tail).map(|k| at(first) - (1.0 - share(k, tail)) * TAIL * along(first));
    let round = (0..=cells).map(|k| at(first + angle * share(k, cells)));
    let after = (1..=tail).map(|k| at(last) + share(k, tail) * TAIL * along(last));
    let line = before.chain(round).chain(after);
    let x = line.flat_map(|p| [-0.5, 0.0, 0.5].map(|s| p + dvec3(0.0, 0.0, s * WIDTH)));
    (x.collect(), [-along(first), along(last)])
}

/// A grid of `columns` cells in rows of vertices, with diagonals that alternate, as an OBJ file.
fn write_grid(path: &Path, x: &[DVec3], columns: usize) {
    let mut text = String::new();
    for p in x {
        writeln!(text, "v {} {} {}", p.x, p.y, p.z).unwrap();
    }
    let width = columns + 1;
    for row in 0..x.len() / width - 1 {
        for column in 0..columns {
            let a = width * row + column + 1;
            let (b, c, d) = (a + 1, a + width, a + width + 1);
            if (row + column) % 2 == 0 {
                writeln!(text, "f {a} {c} {d}\nf {a} {d} {b}").unwrap();
            } else {
                writeln!(text, "f {a} {c} {b}\nf {b} {c} {d}").unwrap();
            }
        }
    }
    std::fs::write(path, text).unwrap();
}

/// Ratio of the pulls at the two ends of a ribbon that is drawn slowly over a drum, mean over all frames after its slack end has
/// slipped by 4 mm; none if it does not slip that far.
///
/// Both ends hang on springs whose places are known, so that positions tell forces. No gravity.
fn capstan(
    friction: f64,
    angle: f64,
    (cells, thickness): (u32, f64),
    changes: &[(&str, &str)],
) -> Option<f64> {
    // a drum of 96 is a polygon to a ribbon of 64 cells: −5.4 % at 2 pi and mu = 0.4, with 192 −1.2 %
    const SEGMENTS: f64 = 192.0;
    const PULL: f64 = 0.03; // N, at the beginning
    const DRAG: f64 = 0.02; // m
    const SLIPPED: f64 = 4e-3; // m
    let stiffness = [10.0, 300.0]; // N/m, of each end
    let radius = 0.1 / (PI / SEGMENTS).cos();
    let (x, ends) = ribbon(radius + 1.2 * thickness, angle, cells);
    let folder = tempfile::tempdir().unwrap();
    write_grid(&folder.path().join("ribbon.obj"), &x, 2);
    let n = x.len();
    let vertices = [[0, 1, 2], [n - 3, n - 2, n - 1]];
    let pulled = [0, 1].map(|e| ends[e] * PULL / stiffness[e]);
    let dragged = [pulled[0], pulled[1] + ends[1] * DRAG];
    let pin = |e: usize| {
        let k = stiffness[e] / 3.0;
        format!(
            "[[cloth.pin]]\nregion = {{ kind = \"vertices\", list = {:?} }}\nsoft = {{ stiffness = [{k}, {k}, {k}], damping = 0 }}\n\
             motion = [{{ kind = \"keyframed\", keys = [{{ time = 0 }}, {{ time = 0.2, move = {:?} }}, {{ time = 2.5, move = {:?} }}] }}]\n",
            vertices[e],
            pulled[e].to_array(),
            dragged[e].to_array()
        )
    };
    let text = format!(
        r#"
frames = 150
thickness = {thickness}
friction = {friction}
failsafe = []
output = {{ grid = "none" }}
dynamics = {{ gravity = [0, 0, 0] }}
[[cloth]]
name = "ribbon"
shape = {{ kind = "file", file = "ribbon.obj" }}
stretch = "membrane"
fabric = {{ density = 0.3, stretch = [2000, 2000], shear = 400, bend = [1e-4, 1e-4, 1e-4] }}
{}{}
[[obstacle]]
name = "drum"
shape = {{ kind = "cylinder", radius = {radius}, height = 0.2, segments = {SEGMENTS} }}
rotation = [90, 0, 0]
"#,
        pin(0),
        pin(1)
    );
    let simulation = &mut load(folder.path(), &text, changes);
    let (mut sum, mut count) = (0.0, 0);
    for frame in 1..=150 {
        step(simulation);
        let drawn = (f64::from(frame) / 60.0 - 0.2) / 2.3;
        let force = |e: usize| {
            let place = pulled[e] + (dragged[e] - pulled[e]) * drawn;
            let now = positions(simulation, "ribbon");
            let each = vertices[e].iter().map(|&v| x[v] + place - now[v]);
            (each.sum::<DVec3>() * stiffness[e] / 3.0).length()
        };
        if frame > 12 && force(0) > PULL + stiffness[0] * SLIPPED {
            sum += force(1) / force(0);
            count += 1;
        }
    }
    (count > 10).then(|| sum / f64::from(count))
}

fn load(folder: &Path, text: &str, changes: &[(&str, &str)]) -> Simulation {
    let file = folder.join("scene.toml");
    std::fs::write(&file, text).unwrap();
    let scene = Scene::load(file.to_str().unwrap()).unwrap();
    let scene = scene.set_all(changes.iter().copied()).unwrap();
    scene.build().unwrap()
}

/// Error of the ratio of the pulls, relative; prints a line of a table.
fn capstan_error(friction: f64, angle: f64, size: (u32, f64), changes: &[(&str, &str)]) -> f64 {
    let ratio = capstan(friction, angle, size, changes).unwrap_or(f64::INFINITY);
    let expected = (friction * angle).exp();
    let error = ratio / expected - 1.0;
    println!(
        "| {:.0} pi | {friction} | {} | {:e} | {ratio:.4} | {expected:.4} | {:+.1} % |",
        angle / PI,
        size.0,
        size.1,
        100.0 * error
    );
    error.abs()
}

#[test]
fn a_ribbon_over_half_a_drum_pulls_as_euler_and_eytelwein_say() {
    let error = capstan_error(0.4, PI, (32, 1e-3), &[]);
    assert!(error < 0.03, "{error}");
}

#[test]
#[ignore = "minutes: 24 runs; prints a table"]
fn a_ribbon_over_a_drum_pulls_as_euler_and_eytelwein_say() {
    println!("| angle | mu | cells | thickness, m | T2/T1 | exp(mu angle) | error |");
    println!("|---|---|---|---|---|---|---|");
    let mut worst = 0.0f64;
    for (angle, cells) in [(PI, [24, 32, 48]), (2.0 * PI, [48, 64, 96])] {
        for friction in [0.2, 0.4] {
            for thickness in [1e-3, 5e-4] {
                for cells in cells {
                    worst = worst.max(capstan_error(friction, angle, (cells, thickness), &[]));
                }
            }
        }
    }
    assert!(worst < 0.03, "{worst}");
}

/// Height of a wrinkled cloth whose wrinkles run along x, in metres.
fn wrinkle(z: f64) -> f64 {
    0.004 * (2.0 * PI * z / 0.05).sin()
}

/// A wrinkled square whose grid is turned by `degrees`, so that its edges do not follow its wrinkles.
fn wrinkled(size: f64, cells: u32, degrees: f64, lift: f64) -> Vec<DVec3> {
    let (sin, cos) = degrees.to_radians().sin_cos();
    let at = |k: u32| size * (f64::from(k) / f64::from(cells) - 0.5);
    let each = (0..=cells).flat_map(|i| (0..=cells).map(move |j| (i, j)));
    each.map(|(i, j)| {
        let (u, v) = (at(i), at(j));
        let z = sin * u + cos * v;
        dvec3(cos * u - sin * v, wrinkle(z) + lift, z)
    })
    .collect()
}

/// Mean force that it takes to draw a wrinkled cloth along the wrinkles of another one, as a share of its weight; `speed` in m/s; `refined`
/// divides the longest loop and the longest interval.
fn chainmail(cell: f64, thickness: f64, speed: f64, refined: f64) -> f64 {
    const SIZE: f64 = 0.1;
    const FPS: f64 = 60.0;
    // after half a second of rest the cloth is drawn over three of the coarsest cells; the force is that over the last two
    let way = 3.0 * 12.5e-3;
    let first = 30 + (way / 3.0 / speed * FPS).round() as u32;
    let last = 30 + (way / speed * FPS).round() as u32;
    const STIFFNESS: f64 = 20.0; // N/m, of all springs together
    let folder = tempfile::tempdir().unwrap();
    // chords of two turned grids cut into each other by less than this
    let lift = thickness + 0.6 * 0.004 * (PI * cell / 0.05).powi(2);
    let cells = |size: f64| (size / cell).round() as u32;
    let upper = wrinkled(SIZE, cells(SIZE), -17.0, lift);
    write_grid(
        &folder.path().join("upper.obj"),
        &upper,
        cells(SIZE) as usize,
    );
    let lower = wrinkled(0.3, cells(0.3), 30.0, 0.0);
    write_grid(
        &folder.path().join("lower.obj"),
        &lower,
        cells(0.3) as usize,
    );
    let k = STIFFNESS / upper.len() as f64;
    let interval = 1.0 / refined;
    let max_loop = 1.0 / 960.0 / refined;
    let text = format!(
        r#"
frames = {last}
thickness = {thickness}
friction = 0
failsafe = []
output = {{ grid = "none" }}
time = {{ max_interval = {interval} }}
dynamics = {{ integrator = {{ kind = "implicit", max_loop = {max_loop} }} }}
[[cloth]]
name = "upper"
shape = {{ kind = "file", file = "upper.obj" }}
fabric = {{ density = 0.2, stretch = [1000, 1000], shear = 200, bend = [1e-5, 1e-5, 1e-5] }}
[[cloth.pin]]
region = {{ kind = "all" }}
soft = {{ stiffness = [{k}, 0, 0], damping = 0 }}
motion = [{{ kind = "keyframed", keys = [{{ time = 0.5 }}, {{ time = {}, move = [{way}, 0, 0] }}] }}]
[[obstacle]]
name = "lower"
shape = {{ kind = "file", file = "lower.obj" }}
"#,
        0.5 + way / speed
    );
    let simulation = &mut load(folder.path(), &text, &[]);
    let weight = 9.81 * simulation.mass().iter().sum::<f64>();
    let momentum = |simulation: &Simulation| -> f64 {
        let each = simulation
            .mass()
            .iter()
            .zip(simulation.state().velocities());
        each.map(|(m, v)| m * v.x).sum()
    };
    // the springs also set the cloth swinging; what they do for that is no resistance
    let (mut pull, mut begin) = (0.0, 0.0);
    for frame in 1..=last {
        step(simulation);
        let place = speed * (f64::from(frame) / FPS - 0.5);
        let now = positions(simulation, "upper").iter().zip(&upper);
        let force: f64 = now.map(|(now, x)| k * (x.x + place - now.x)).sum();
        if frame == first {
            begin = momentum(simulation);
        }
        if frame >= first {
            let is_end = frame == first || frame == last;
            pull += if is_end { 0.5 * force } else { force } / FPS;
        }
    }
    let seconds = f64::from(last - first) / FPS;
    (pull - (momentum(simulation) - begin)) / seconds / weight
}

#[test]
#[ignore = "known fault, minutes: at loops of one length resistance is small (0.004) but does not vanish with refinement (table in docs/measurements.md)"]
fn wrinkled_sheets_slide_more_freely_the_finer_they_are() {
    const SPEEDS: [f64; 3] = [0.05, 0.025, 0.0125];
    println!("| cell, mm | thickness, m | at 50 mm/s | at 25 mm/s | at 12.5 mm/s |");
    println!("|---|---|---|---|---|");
    for thickness in [1e-3, 5e-4] {
        let [coarse, medium, fine] = [12.5e-3, 6.25e-3, 3.125e-3].map(|cell| {
            let [fast, half, slow] = SPEEDS.map(|speed| chainmail(cell, thickness, speed, 1.0));
            let mm = 1e3 * cell;
            println!("| {mm:.1} | {thickness:e} | {fast:.4} | {half:.4} | {slow:.4} |");
            [fast, half, slow]
        });
        let fast = [coarse[0], medium[0], fine[0]];
        // a stop at a facet costs energy with the square of the speed, whatever the size of the facets; what sticks does so at any speed
        let at_rest = |[_, half, slow]: [f64; 3]| (4.0 * slow - half) / 3.0;
        let [coarse, medium, fine] = [coarse, medium, fine].map(at_rest);
        println!("extrapolated to rest: {coarse:.5}, {medium:.5}, {fine:.5}");
        assert!(medium.abs() < coarse / 2.0 && fine.abs() < coarse / 2.0);
        assert!(fine.abs() < 5e-4, "{fine}");
        assert!(fast[1] < fast[0] && fast[2] < fast[1], "{fast:?}");
        assert!(fast[2] < 0.01, "{fast:?}");
    }
}

#[test]
#[ignore = "two minutes: six runs; prints a table"]
fn wrinkled_sheets_slide_more_freely_refined_in_space_and_time() {
    // a stop at a facet is a loop long: with shorter facets and loops alike, it takes less
    println!("| cell, mm | loop, 1/960 s | thickness 1 mm | thickness 0.5 mm |");
    println!("|---|---|---|---|");
    let refined = [(12.5e-3, 1.0), (6.25e-3, 2.0), (3.125e-3, 4.0)];
    let forces = refined.map(|(cell, refined)| {
        let [thick, thin] = [1e-3, 5e-4].map(|h| chainmail(cell, h, 0.05, refined));
        println!(
            "| {:.1} | 1/{refined} | {thick:.4} | {thin:.4} |",
            1e3 * cell
        );
        [thick, thin]
    });
    for thickness in 0..2 {
        let [coarse, medium, fine] = forces.map(|forces| forces[thickness]);
        assert!(medium < coarse && fine < medium, "{forces:?}");
        assert!(fine < 0.5 * coarse && fine < 0.01, "{forces:?}");
    }
}

/// Largest way of a card between two frames of `card-house`, in metres; `from` < `to`.
fn house_moves(frames: &[u32], changes: &[(&str, &str)]) -> Vec<f64> {
    let scene = Scene::load("card-house").unwrap();
    let scene = scene.set_all(changes.iter().copied()).unwrap();
    let simulation = &mut scene.build().unwrap();
    let cards: Vec<String> = scene.cloth.iter().map(|card| card.name.clone()).collect();
    let places = |simulation: &Simulation| -> Vec<DVec3> {
        cards.iter().map(|card| centre(simulation, card)).collect()
    };
    let mut last = places(simulation);
    let mut moves = Vec::new();
    for frame in 1..=frames[frames.len() - 1] {
        step(simulation);
        if frames.contains(&frame) {
            let now = places(simulation);
            let ways = now
                .iter()
                .zip(&last)
                .map(|(now, last)| (*now - *last).length());
            moves.push(ways.fold(0.0, f64::max));
            last = now;
        }
    }
    moves
}

#[test]
#[ignore = "a minute: 1,290 frames"]
fn a_card_house_stands_for_twenty_seconds_and_falls_when_hit() {
    let [settles, stands, falls] = house_moves(&[60, 1200, 1290], &[])[..] else {
        unreachable!("three frames are asked for")
    };
    println!("first second {settles:.1e} m, then to 20 s {stands:.1e} m, hit {falls:.1e} m");
    assert!(settles < 1e-3 && stands < 5e-5, "{settles}, {stands}");
    assert!(falls > 0.03, "{falls}");
}

/// The semi-global stage alone, with the matrix of the masses: no contact in the loops, no repulsions.
const SET_ALONE: [(&str, &str); 3] = [
    ("response", "[{ kind = \"semi_global\" }]"),
    ("repulsion.in_loops", "false"),
    ("repulsion.max_sweeps", "0"),
];

/// The same with that of the integrator: its loops have the constraints of the set, and no other contact.
const SET_IN_SYSTEM: [(&str, &str); 3] = [
    (
        "response",
        "[{ kind = \"semi_global\", matrix = \"system\" }]",
    ),
    ("repulsion.in_loops", "false"),
    ("repulsion.max_sweeps", "0"),
];

#[test]
fn the_semi_global_stage_alone_slides_and_sticks_as_coulomb_says() {
    for (matrix, changes) in [("mass", SET_ALONE), ("system", SET_IN_SYSTEM)] {
        for integrator in ["implicit", "newmark"] {
            for interval in [1.0, 0.125] {
                let alone = |friction| {
                    let scene = slope(friction, integrator, interval, SIZES[0]);
                    scene.set_all(changes).unwrap()
                };
                let expected = 0.5 * 9.81 * (SIN - 0.45 * COS);
                let error = way(&alone(0.45), 60) / expected - 1.0;
                let [first, last] = ways(&alone(0.55), [6, 66]);
                let drift = last - first;
                let what = format!("{matrix}, {integrator}, {interval}");
                println!("{what}: {error:+.5}, then {drift:+.1e} m in 1 s");
                assert!(error.abs() < 0.01, "{what}: {error}");
                assert!(drift.abs() < 1e-9, "{what}: {drift}");
            }
        }
    }
}

#[test]
fn a_ribbon_over_half_a_drum_pulls_as_it_should_with_the_set_in_the_system() {
    for friction in [0.2, 0.4] {
        let error = capstan_error(friction, PI, (32, 1e-3), &SET_IN_SYSTEM);
        assert!(error < 0.01, "{friction}: {error}");
    }
}

#[test]
#[ignore = "minutes: 600 frames of a card house and a whole turn round a drum"]
fn a_card_house_stands_and_a_ribbon_holds_with_the_set_in_the_system() {
    let error = capstan_error(0.4, 2.0 * PI, (64, 1e-3), &SET_IN_SYSTEM);
    assert!(error < 0.03, "{error}");
    let moves = house_moves(&[60, 600], &SET_IN_SYSTEM);
    println!(
        "card house: first second {:.1e} m, then to 10 s {:.1e} m",
        moves[0], moves[1]
    );
    assert!(moves[0] < 1e-3 && moves[1] < 5e-5, "{moves:?}");
}

#[test]
#[ignore = "known fault, minutes: with the matrix of the masses a ribbon over a drum has too little friction and the house falls; prints figures"]
fn the_semi_global_stage_alone_over_a_drum_and_in_a_card_house() {
    for (friction, angle, cells) in [(0.2, PI, 32), (0.4, PI, 32), (0.4, 2.0 * PI, 64)] {
        capstan_error(friction, angle, (cells, 1e-3), &SET_ALONE);
    }
    let moves = house_moves(&[60, 600], &SET_ALONE);
    println!(
        "card house: first second {:.1e} m, then to 10 s {:.1e} m",
        moves[0], moves[1]
    );
}

/// Cards without friction, each across the one below.
fn cards(integrator: &str) -> Scene {
    let text = format!(
        r#"
frames = 1200
thickness = 1e-3
friction = 0
failsafe = []
output = {{ grid = "none" }}
dynamics = {{ integrator = {{ kind = "implicit"{integrator} }} }}
[[cloth]]
name = "card"
shape = {{ kind = "sheet", size = [0.088, 0.063], cells = [1, 1] }}
position = [0, 1e-3, 0]
fabric = {{ density = 0.3, stretch = [20000, 20000], shear = 8000, bend = [0.05, 0.05, 0.05] }}
copies = {{ count = 27, step = [0, 1e-3, 0], turn = [0, 90, 0] }}
[[obstacle]]
name = "table"
shape = {{ kind = "plane", size = [1, 1] }}
"#
    );
    Scene::from_text(&text, "cards").unwrap()
}

/// Largest way of a card's centre along the table, and up or down, in metres; and the smallest gap.
fn drift(scene: &Scene, frames: u32) -> (f64, f64, f64) {
    let simulation = &mut scene.build().unwrap();
    let names: Vec<String> = (0..27).map(|card| format!("card-{card}")).collect();
    let start: Vec<DVec3> = names.iter().map(|name| centre(simulation, name)).collect();
    let mut gap = f64::INFINITY;
    for _ in 0..frames {
        gap = gap.min(step(simulation).smallest_gap.unwrap_or(f64::INFINITY));
    }
    let mut most = (0.0f64, 0.0f64, gap);
    for (name, start) in names.iter().zip(start) {
        let way = centre(simulation, name) - start;
        most.0 = most.0.max(way.with_y(0.0).length());
        most.1 = most.1.max(way.y.abs());
    }
    most
}

#[test]
fn cards_without_friction_stay_where_they_are() {
    let print = |integrator: &str| {
        let (along, up, gap) = drift(&cards(integrator), 60);
        println!(
            "{integrator}: {along:.1e} m along the table, {up:.1e} m up or down, smallest gap {gap:.1e} m"
        );
        along
    };
    print("");
    let along = print(", iterations = 100, tolerance = 1e-9");
    assert!(along < 1e-6, "{along}");
}
