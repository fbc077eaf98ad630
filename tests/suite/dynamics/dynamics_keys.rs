//! Every key of a scene's dynamics, fabrics, seams and springs: changing it changes the motion as predicted.
//!
//! `every_key_has_a_case` compares the list of cases with the schema: a new key without a case fails.

use std::cell::RefCell;
use std::collections::BTreeSet;

use glam::DVec3;
use percale::dynamics::{Implicit, Integrator};
use percale::scene::Scene;
use percale::step::Simulation;

fn scene(text: &str, changes: &[(&str, &str)]) -> Scene {
    let scene = Scene::from_text(text, "keys.toml");
    let scene = scene.and_then(|scene| scene.set_all(changes.iter().copied()));
    let mut scene = scene.unwrap_or_else(|error| panic!("{error}"));
    let default = Implicit::default();
    if let Integrator::Implicit(implicit) = &mut scene.dynamics.integrator
        && (implicit.iterations, implicit.tolerance) == (default.iterations, default.tolerance)
    {
        // what is predicted is the solution, not what the default makes of it
        (implicit.iterations, implicit.tolerance) = (1000, 1e-6);
    }
    scene
}

/// What a run ended with.
struct End {
    x: Vec<DVec3>,
    loops: u64,
    iterations: u64,
    /// Kinetic energies of all frames, J.
    kinetic: f64,
}

fn run(scene: &Scene) -> End {
    let mut simulation: Simulation = scene.build().unwrap();
    let (mut loops, mut iterations, mut kinetic) = (0, 0, 0.0);
    for _ in 0..scene.frames {
        let report = simulation.step().unwrap();
        assert_eq!(report.intersections, 0);
        loops += report.loops;
        iterations += report.iterations;
        kinetic += report.kinetic_energy;
    }
    End {
        x: simulation.state().positions().to_vec(),
        loops,
        iterations,
        kinetic,
    }
}

thread_local! {
    static SEEN: RefCell<BTreeSet<String>> = const { RefCell::new(BTreeSet::new()) };
}

/// The end of a run with changes; notes the changed keys, list numbers left out.
fn with(text: &str, changes: &[(&str, &str)]) -> End {
    SEEN.with_borrow_mut(|seen| {
        for (key, _) in changes {
            let parts = key.split('.').filter(|part| part.parse::<u32>().is_err());
            seen.insert(parts.collect::<Vec<_>>().join("."));
        }
    });
    run(&scene(text, changes))
}

fn lowest(end: &End) -> f64 {
    end.x.iter().map(|x| x.y).fold(f64::MAX, f64::min)
}

fn mean(x: &[DVec3]) -> DVec3 {
    x.iter().sum::<DVec3>() / x.len() as f64
}

/// A square metre that hangs from its upper edge, at rest after 4 s.
const HANG: &str = r#"
frames = 40
fps = 10
thickness = 1e-3
[time]
max_interval = 1.0
[dynamics]
integrator = { kind = "implicit" }
[[cloth]]
name = "a"
stretch = "membrane"
rotation = [90, 0, 0]
shape = { kind = "sheet", size = [1, 1], cells = [4, 4] }
fabric = { stretch = [200, 200] }
[[cloth.pin]]
region = { kind = "edge", towards = "-z" }
"#;

fn stretching() {
    let sag = |changes: &[(&str, &str)]| -0.5 - lowest(&with(HANG, changes));
    let plain = sag(&[]);
    let expected = 0.5 * 0.2 * 9.81 / 200.0; // ½ ρ g L² / k
    assert!((plain / expected - 1.0).abs() < 0.35, "{plain} {expected}");
    for (key, value, ratio, tolerance) in [
        ("dynamics.gravity", "[0, -19.62, 0]", 2.0, 0.1),
        ("cloth.0.fabric.density", "0.4", 2.0, 0.1),
        ("cloth.0.fabric.stretch", "[400, 400]", 0.5, 0.05),
        ("cloth.0.fabric.like", "\"denim\"", 2.0, 0.1), // twice as heavy; its stretch is given
        ("cloth.0.fabric", "\"denim\"", 2.0 * 200.0 / 2500.0, 0.05),
    ] {
        let changed = sag(&[(key, value)]) / plain;
        assert!((changed - ratio).abs() < tolerance, "{key}: {changed}");
    }
    let limited = sag(&[("cloth.0.fabric.strain_limit", "0.002")]);
    assert!(limited <= 0.002 + 1e-6, "strain_limit: {limited}");
    let springs = sag(&[("cloth.0.stretch", "\"springs\"")]);
    assert!(
        springs < plain && springs > 0.6 * plain,
        "the diagonals help: {springs}"
    );
    // a soft pin lets it sink by its weight over the springs
    let soft = |stiffness: &str| sag(&[("cloth.0.pin.0.soft.stiffness", stiffness)]);
    let weight = 0.2 * 9.81 / 5.0;
    assert!((soft("[50, 50, 50]") - plain - weight / 50.0).abs() < 0.005);
    assert!((soft("[100, 100, 100]") - plain - weight / 100.0).abs() < 0.005);
    let after = |damping: &str| {
        let text = HANG.replace("frames = 40", "frames = 2");
        let end = with(
            &text,
            &[
                ("cloth.0.pin.0.soft.stiffness", "[50, 50, 50]"),
                ("cloth.0.pin.0.soft.damping", damping),
            ],
        );
        // by the pins themselves: below them the cloth swings
        0.5 - end.x.iter().map(|x| x.y).fold(f64::MIN, f64::max)
    };
    assert!(after("3.0") < 0.8 * after("0.01"), "soft.damping");
}

#[test]
fn a_measured_fabric_is_read_from_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let row = "[400, 0, 400, 100]";
    let json = format!(
        "{{ \"density\": 0.2, \"stretching\": [{row}], \"bending\": [[1e-5], [1e-5], [1e-5]] }}"
    );
    std::fs::write(folder.path().join("measured.json"), json).unwrap();
    let path = folder.path().join("scene.toml");
    let text = HANG.replace(
        "fabric = { stretch = [200, 200] }",
        "fabric = { file = \"measured.json\" }",
    );
    std::fs::write(&path, &text).unwrap();
    let loaded = Scene::load(path.to_str().unwrap()).unwrap();
    assert_eq!(loaded.cloth[0].fabric.stretch, [400.0, 400.0]);
    let sag = |end: &End| -0.5 - lowest(end);
    let ratio = sag(&run(&loaded)) / sag(&with(HANG, &[]));
    assert!((ratio - 0.5).abs() < 0.05, "{ratio}");
    // the resolved scene holds the numbers and needs the file no more
    assert_eq!(Scene::from_text(&loaded.to_text(), "copy").unwrap(), loaded);
    std::fs::write(folder.path().join("measured.json"), "{}").unwrap();
    let error = Scene::load(path.to_str().unwrap()).unwrap_err().to_string();
    assert!(
        error.contains("measured.json") && error.contains("density"),
        "{error}"
    );
    assert!(error.contains("scene.toml:"), "{error}");
}

fn shearing() {
    // in the x-y plane, held along -x: it shears by its weight; stiff in bending, so that it stays flat
    let text = HANG.replace("towards = \"-z\"", "towards = \"-x\"");
    let drop = |shear: &str| {
        let changes = [
            ("cloth.0.fabric.shear", shear),
            ("cloth.0.fabric.bend", "[1, 1, 1]"),
            ("cloth.0.fabric.strain_limit", "inf"),
        ];
        -0.5 - lowest(&with(&text, &changes))
    };
    assert!(drop("100") < 0.75 * drop("50"), "shear");

    // pulled by 5 % along x: coupling narrows it
    let text = format!(
        "{text}[[cloth.pin]]\nregion = {{ kind = \"edge\", towards = \"+x\" }}\n\
         motion = [{{ kind = \"keyframed\", keys = [{{ time = 0 }}, {{ time = 1, move = [0.05, 0, 0] }}] }}]\n"
    );
    let width = |coupling: &str| {
        let changes = [
            ("cloth.0.fabric.coupling", coupling),
            ("dynamics.gravity", "[0, 0, 0]"),
        ];
        let x = with(&text, &changes).x;
        x[2].y - x[22].y
    };
    assert!(
        width("100") < width("0") - 0.01,
        "{} {}",
        width("100"),
        width("0")
    );
}

/// A narrow strip that is clamped at one end.
const STRIP: &str = r#"
frames = 40
fps = 10
thickness = 1e-4
[time]
max_interval = 1.0
[dynamics]
integrator = { kind = "implicit" }
[[cloth]]
name = "a"
stretch = "membrane"
shape = { kind = "sheet", size = [0.06, 0.01], cells = [12, 2] }
[[cloth.pin]]
region = { kind = "box", min = [-1, -1, -1], max = [-0.024, 1, 1] }
"#;

fn bending() {
    let droop = |bend: &str| -lowest(&with(STRIP, &[("cloth.0.fabric.bend", bend)]));
    assert!(
        droop("[6e-5, 6e-5, 6e-5]") < 0.9 * droop("[4e-5, 4e-5, 4e-5]"),
        "bend"
    );
    assert!(
        droop("[6e-5, 4e-5, 4e-5]") < 0.92 * droop("[4e-5, 4e-5, 4e-5]"),
        "bend along warp"
    );

    // damping takes the motion out: kinetic energy of all frames
    let swing = STRIP.replace("fps = 10", "fps = 60");
    let kinetic = |damping: &str| {
        with(
            &swing,
            &[
                ("dynamics.integrator", "{ kind = \"newmark\" }"),
                ("cloth.0.fabric.bend_damping", damping),
                ("cloth.0.fabric.stretch", "[100, 100]"),
                ("cloth.0.fabric.stretch_damping", "1e-4"),
            ],
        )
        .kinetic
    };
    assert!(kinetic("0.2") < 0.7 * kinetic("0.0"), "bend_damping");
    let bounce = HANG.replace("fps = 10", "fps = 60");
    let kinetic = |damping: &str| {
        with(
            &bounce,
            &[
                ("dynamics.integrator", "{ kind = \"newmark\" }"),
                ("cloth.0.fabric.stretch_damping", damping),
            ],
        )
        .kinetic
    };
    assert!(kinetic("0.02") < 0.7 * kinetic("0.0"), "stretch_damping");
}

/// A square that falls, lying flat.
const FALL: &str = r#"
frames = 20
[[cloth]]
name = "a"
shape = { kind = "sheet", size = [1, 1], cells = [2, 2] }
[dynamics]
air = { density = 1.2 }
"#;

fn air() {
    let moved = |changes: &[(&str, &str)]| mean(&with(FALL, changes).x);
    let plain = moved(&[]).y;
    let vacuum = moved(&[("dynamics.air.density", "0")]).y;
    let exact = -0.5 * 9.81 / 9.0 * (1.0 + 1.0 / 320.0); // 320 loops, each with the velocity of its end
    assert!(
        (vacuum - exact).abs() < 1e-3 && plain > 0.9 * vacuum,
        "{plain} {vacuum}"
    );
    assert!(
        moved(&[("dynamics.air.density", "2.4")]).y > plain,
        "density"
    );
    assert!(moved(&[("dynamics.air.drag", "2.4")]).y > plain, "drag");
    let upright = ("cloth.0.rotation", "[90, 0, 0]");
    let edge_on = |more: &[(&str, &str)]| moved(&[&[upright], more].concat());
    let still = edge_on(&[]);
    assert!(
        edge_on(&[("dynamics.air.friction", "0.5")]).y > still.y + 0.005,
        "friction"
    );
    let wind = ("dynamics.air.wind", "[0, 0, 3]");
    assert!(edge_on(&[wind]).z > still.z + 0.1, "wind");
    // the gust blows across: first towards wind × up, -x
    let rough = ("dynamics.air.friction", "0.2");
    let gust = |period: &str| {
        let gusty = [
            wind,
            rough,
            ("dynamics.air.gust", "0.5"),
            ("dynamics.air.gust_period", period),
        ];
        edge_on(&gusty).x
    };
    let calm = edge_on(&[wind, rough]).x;
    assert!(gust("2.0") < calm - 1e-4, "gust: {} {calm}", gust("2.0"));
    assert!(
        (gust("1e6") - calm).abs() < 0.01 * (gust("2.0") - calm).abs(),
        "gust_period"
    );
}

fn integrators() {
    let text = HANG
        .replace("frames = 40", "frames = 6")
        .replace("towards = \"-z\"", "towards = \"-x\"");
    let newmark = |more: &str| {
        let value = format!("{{ kind = \"newmark\"{more} }}");
        with(&text, &[("dynamics.integrator", &value)])
    };
    let loops = newmark("").loops as f64;
    assert!(
        (newmark(", cfl = 0.5").loops as f64 / loops - 2.0).abs() < 0.15,
        "cfl"
    );
    let implicit = |more: &str| {
        let value = format!("{{ kind = \"implicit\"{more} }}");
        with(&text, &[("dynamics.integrator", &value)])
    };
    // 6 frames of 0.1 s
    assert_eq!(implicit("").loops, 6 * 96);
    assert_eq!(implicit(", max_loop = 0.01").loops, 60, "max_loop");
    let (default, few, none) = (
        implicit("").iterations,
        implicit(", iterations = 2").iterations,
        implicit(", tolerance = 1e3").iterations,
    );
    assert!(
        none == 0 && few > 0 && few < default,
        "{none}, {few}, {default}"
    );
    for key in ["cfl", "max_loop", "iterations", "tolerance"] {
        SEEN.with_borrow_mut(|seen| seen.insert(format!("dynamics.integrator.{key}")));
    }
}

/// Two strips, 3 cm apart, held at their far edges; a third that is not sewn.
const SEWN: &str = r#"
frames = 90
thickness = 1e-3
[time]
max_interval = 0.5
[dynamics]
gravity = [0, 0, 0]
integrator = { kind = "implicit" }
[[cloth]]
name = "a"
position = [-0.115, 0, 0]
shape = { kind = "sheet", size = [0.2, 0.1], cells = [4, 2] }
[[cloth.pin]]
region = { kind = "edge", towards = "-x" }
[[cloth]]
name = "b"
position = [0.115, 0, 0]
shape = { kind = "sheet", size = [0.2, 0.1], cells = [4, 2] }
[[cloth.pin]]
region = { kind = "edge", towards = "+x" }
[[cloth]]
name = "c"
position = [0.115, 0.2, 0]
shape = { kind = "sheet", size = [0.2, 0.1], cells = [4, 2] }
[[seam]]
between = ["a", "b"]
regions = [{ kind = "edge", towards = "+x" }, { kind = "edge", towards = "-x" }]
"#;

fn seams() {
    let open = |end: &End| end.x[15].x - end.x[4].x; // b's first vertex, a's last of the first row
    let opening = |changes: &[(&str, &str)]| open(&with(SEWN, changes));
    let closed = opening(&[]);
    assert!(
        (closed - 0.002).abs() < 0.001,
        "twice the thickness: {closed}"
    );
    let gap = opening(&[("seam.0.gap", "0.01")]);
    assert!((gap - 0.01).abs() < 0.001, "gap: {gap}");
    let early = ("frames", "20");
    // what draws in is a spring; what is closed is held by a row, however soft the spring
    let [stiff, soft] = [&[early][..], &[early, ("seam.0.stiffness", "1e3")]].map(opening);
    assert!(soft > stiff + 0.004, "stiffness: {stiff} {soft}");
    let waiting = opening(&[early, ("seam.0.start", "0.5")]);
    assert!((waiting - 0.03).abs() < 1e-6, "start: {waiting}");
    let fast = opening(&[early, ("seam.0.duration", "0.2")]);
    let slow = opening(&[early, ("seam.0.duration", "1.0")]);
    assert!(fast < 0.5 * slow, "duration: {fast} {slow}");
    let sluggish = |damping: &str| {
        opening(&[
            early,
            ("seam.0.duration", "1.0"),
            ("seam.0.damping", damping),
        ])
    };
    assert!(sluggish("1.0") > sluggish("0.001") + 0.002, "damping");

    // the same seam as pairs of numbers; and c stays, unless it is the one that is sewn
    let by_region = with(SEWN, &[]);
    let pairs = SEWN.replace(
        "regions = [{ kind = \"edge\", towards = \"+x\" }, { kind = \"edge\", towards = \"-x\" }]",
        "pairs = [[4, 0], [9, 5], [14, 10]]",
    );
    let by_pairs = with(&pairs, &[("seam.0.pairs", "[[4, 0], [9, 5], [14, 10]]")]);
    assert_eq!(by_region.x, by_pairs.x);
    // and as stitches, of which one goes to the middle of an edge
    let written = "[[[4], [0]], [[9], [5]], [[14], [10]]]";
    let stitches = pairs.replace(
        "pairs = [[4, 0], [9, 5], [14, 10]]",
        &format!("stitches = {written}"),
    );
    let by_stitches = with(&stitches, &[("seam.0.stitches", written)]);
    let apart = |end: &End| {
        (0..3)
            .map(|k| end.x[15 + 5 * k].distance(end.x[4 + 5 * k]))
            .fold(0.0, f64::max)
    };
    assert!(
        (apart(&by_stitches) - apart(&by_pairs)).abs() < 1e-3,
        "stitches"
    );
    let middle = "[[[9], [0, 5, 0.5]]]";
    let one = with(&stitches, &[("seam.0.stitches", middle)]);
    let to_middle = one.x[9].distance(0.5 * (one.x[15] + one.x[20]));
    assert!(
        to_middle < 0.004 && one.x[9].distance(one.x[15]) > 0.02,
        "stitches: {to_middle}"
    );
    let start = run(&scene(SEWN, &[("frames", "0")]));
    let moved = |end: &End, v: usize| end.x[v].distance(start.x[v]);
    // the output grid has rounded where it starts, which relaxes
    assert!((30..45).all(|v| moved(&by_region, v) < 1e-6));
    let other = with(SEWN, &[("seam.0.between", "[\"a\", \"c\"]")]);
    assert!(moved(&other, 30) > 0.05);
    let corner = "[{ kind = \"corner\", towards = [\"+x\", \"-z\"] }, { kind = \"corner\", towards = [\"-x\", \"-z\"] }]";
    let one = with(SEWN, &[("seam.0.regions", corner)]);
    assert!(
        one.x[25].x - one.x[14].x > open(&one) + 0.003,
        "only a corner is sewn"
    );
}

fn soft_obstacles() {
    let text = "frames = 60\n[[cloth]]\nname = \"a\"\nposition = [0, 3, 0]\n\
        shape = { kind = \"sheet\", size = [0.1, 0.1], cells = [1, 1] }\n\
        [[cloth.pin]]\nregion = { kind = \"all\" }\n\
        [[obstacle]]\nname = \"ball\"\nshape = { kind = \"sphere\", radius = 0.2, subdivisions = 1 }\n\
        soft = { lag = 0.02 }\n";
    let sunk = |changes: &[(&str, &str)]| -mean(&with(text, changes).x[4..]).y;
    let (little, much) = (sunk(&[]), sunk(&[("obstacle.0.soft.lag", "0.04")]));
    // lag² g
    assert!((little / (0.0004 * 9.81) - 1.0).abs() < 0.1, "{little}");
    assert!((much / little - 4.0).abs() < 0.4, "{much}");
    let mass = |changes: &[(&str, &str)]| {
        let _ = with(text, changes);
        scene(text, changes).build().unwrap().mass()[4..]
            .iter()
            .sum::<f64>()
    };
    let heavy = mass(&[("obstacle.0.soft.fabric", "{ density = 0.4 }")]);
    assert!((heavy / mass(&[]) - 2.0).abs() < 1e-9);
}

#[test]
fn every_key_has_a_case_and_does_what_it_says() {
    // all of them, so that one failure does not hide the next
    let parts: [(&str, fn()); 7] = [
        ("stretching", stretching),
        ("shearing", shearing),
        ("bending", bending),
        ("air", air),
        ("integrators", integrators),
        ("seams", seams),
        ("soft obstacles", soft_obstacles),
    ];
    let failed = |(_, part): &(&str, fn())| std::panic::catch_unwind(part).is_err();
    let failed: Vec<&str> = parts.iter().filter(|p| failed(p)).map(|p| p.0).collect();
    assert!(failed.is_empty(), "{failed:?}");

    let schema: serde_json::Value = serde_json::from_str(&Scene::schema()).unwrap();
    let keys = |node: &serde_json::Value| -> Vec<String> {
        let properties = node.get("properties").and_then(|p| p.as_object());
        properties.map_or(Vec::new(), |p| p.keys().cloned().collect())
    };
    let definition = |name: &str| keys(&schema["$defs"][name]);
    let mut wanted = BTreeSet::new();
    for (place, names) in [
        ("dynamics", definition("Settings")),
        ("dynamics.air", definition("Air")),
        ("cloth.fabric", definition("Table")),
        ("cloth.pin.soft", definition("Springs")),
        ("obstacle.soft", definition("Soft")),
        ("seam", definition("Seam")),
    ] {
        assert!(
            !names.is_empty(),
            "{place}: the schema has changed its form"
        );
        wanted.extend(names.into_iter().map(|name| format!("{place}.{name}")));
    }
    for variant in schema["$defs"]["Integrator"]["oneOf"].as_array().unwrap() {
        let names = keys(variant).into_iter().filter(|name| name != "kind");
        wanted.extend(names.map(|name| format!("dynamics.integrator.{name}")));
    }
    wanted.remove("dynamics.air"); // its own keys are in the list
    wanted.remove("cloth.fabric.file"); // a_measured_fabric_is_read_from_its_file
    let seen = SEEN.with_borrow(Clone::clone);
    let missing: Vec<_> = wanted.difference(&seen).collect();
    assert!(missing.is_empty(), "keys without a case: {missing:?}");
}

#[test]
fn without_contact_and_scripts_the_strain_limit_holds_on_every_frame() {
    for integrator in ["newmark", "implicit"] {
        for stretch in ["springs", "membrane"] {
            let kind = format!("{{ kind = \"{integrator}\" }}");
            let stretch = format!("\"{stretch}\"");
            let changes = [
                ("frames", "60"),
                ("fps", "60"),
                ("dynamics.integrator", kind.as_str()),
                ("cloth.0.stretch", stretch.as_str()),
                ("cloth.0.rotation", "[0, 0, 0]"),
                ("cloth.0.shape.cells", "[10, 10]"),
                // two corners hold a cloth so soft that only the limit keeps it together
                ("cloth.0.fabric", "{ stretch = [20, 20], shear = 5 }"),
                (
                    "cloth.0.pin.0.region",
                    "{ kind = \"vertices\", list = [0, 10] }",
                ),
            ];
            let scene = scene(HANG, &changes);
            let mut simulation = scene.build().unwrap();
            let (mut largest, mut over): (f64, usize) = (0.0, 0);
            for _ in 0..scene.frames {
                let report = simulation.step().unwrap();
                largest = largest.max(report.largest_strain);
                over += report.strain_over;
            }
            println!("{integrator}, {stretch}: {over} faces over, strain at most {largest:.4}");
            assert_eq!(over, 0, "{changes:?}: {largest}");
            assert!(
                largest > 0.09 && largest <= 0.1,
                "the limit was met: {largest}"
            );
        }
    }
}

#[test]
fn a_script_that_stretches_is_told() {
    let pull = "[[cloth.pin]]\nregion = { kind = \"edge\", towards = \"+z\" }\n\
        motion = [{ kind = \"keyframed\", keys = [{ time = 0 }, { time = 1, move = [0, -0.3, 0] }] }]\n";
    let scene = scene(&format!("{HANG}{pull}"), &[("frames", "12")]);
    let mut simulation = scene.build().unwrap();
    let mut last = 0;
    for _ in 0..scene.frames {
        let report = simulation.step().unwrap();
        last = report.strain_over;
        assert!(report.largest_strain >= 0.0 && (report.strained_face as usize) < 32);
    }
    assert!(
        last > 24,
        "pulled by 30 %, most of the 32 faces are above 10 %: {last}"
    );
}

#[test]
fn impossible_dynamics_and_seams_are_refused_by_name() {
    for (text, key, value, says) in [
        (HANG, "dynamics.gravity", "[0, inf, 0]", "finite"),
        (
            HANG,
            "dynamics.integrator.max_newton",
            "3",
            "`max_newton` no longer exists: what was its default is now built in; remove the line",
        ),
        (
            HANG,
            "dynamics.integrator",
            "{ kind = \"newmark\", cfl = 0 }",
            "cfl",
        ),
        (
            HANG,
            "dynamics.integrator.max_loop",
            "0",
            "dynamics.integrator.max_loop: 0 must be a positive number",
        ),
        (HANG, "dynamics.integrator.max_loop", "inf", "positive"),
        (HANG, "dynamics.integrator.iterations", "0", "positive"),
        (HANG, "dynamics.integrator.tolerance", "0", "positive"),
        (HANG, "dynamics.integrator.matrix_age", "9", "unknown key"),
        (FALL, "dynamics.air.gust_period", "0", "positive"),
        (FALL, "dynamics.air.density", "-1", "at least 0"),
        (
            SEWN,
            "seam.0.between",
            "[\"a\", \"bb\"]",
            "did you mean 'b'",
        ),
        (
            SEWN,
            "seam.0.pairs",
            "[[0, 0]]",
            "either `regions`, `pairs` or `stitches`",
        ),
        (SEWN, "seam.0.stiffness", "0", "positive"),
    ] {
        let scene = Scene::from_text(text, "keys.toml").unwrap();
        let error = scene.set(key, value).unwrap_err().to_string();
        assert!(error.contains(says), "{key}: {error}");
    }
    let error = |key: &str, value: &str| {
        let built = scene(SEWN, &[(key, value)]).build();
        built.err().unwrap().to_string()
    };
    assert!(error("seam.0.gap", "1e-4").contains("below the thickness"));
    let pairs = SEWN.replace(
        "regions = [{ kind = \"edge\", towards = \"+x\" }, { kind = \"edge\", towards = \"-x\" }]",
        "pairs = [[3, 3]]",
    );
    let built = scene(&pairs, &[("seam.0.between", "[\"a\", \"a\"]")]).build();
    let itself = built.err().unwrap().to_string();
    assert!(
        itself.contains("vertex 3 would be sewn to itself"),
        "{itself}"
    );
}
