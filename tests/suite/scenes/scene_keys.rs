//! Keys of scene files do what they say.

use std::path::Path;

use glam::DVec3;
use percale::geometry::BodyKind;
use percale::scene::{Camera, Scene, Variant, Viewpoint};
use percale::step::Simulation;

use crate::support;

fn build(text: &str) -> Simulation {
    support::scene(text, &[])
        .build()
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Positions of an object.
fn object(simulation: &Simulation, name: &str) -> Vec<DVec3> {
    let state = simulation.state();
    let bodies = state.mesh().bodies();
    let body = bodies.iter().find(|body| body.name == name).unwrap();
    state.positions()[body.vertices.start as usize..body.vertices.end as usize].to_vec()
}

fn centre(x: &[DVec3]) -> DVec3 {
    x.iter().sum::<DVec3>() / x.len() as f64
}

fn run(simulation: &mut Simulation, frames: usize) {
    for _ in 0..frames {
        assert_eq!(simulation.step().unwrap().intersections, 0);
    }
}

/// A square of four cells, 1 m wide, and what else is in the scene.
fn sheet(more: &str) -> String {
    format!(
        "frames = 10\nfps = 60\n[[cloth]]\nname = \"a\"\n\
         shape = {{ kind = \"sheet\", size = [1, 1], cells = [2, 2] }}\n{more}"
    )
}

/// Largest strain at any frame, and attempts given up, of a sheet thrown over a ball.
fn thrown_over_a_ball(max_stretch: &str) -> (f64, usize) {
    let mut simulation = build(&format!(
        "frames = 8\nfps = 60\nthickness = 2e-3\n[time]\nmax_interval = 1\nmax_stretch = {max_stretch}\n\
         [repulsion]\nin_loops = false\n[[cloth]]\nname = \"cloth\"\nshape = {{ kind = \"sheet\", size = [1, 1], cells = [16, 16] }}\n\
         position = [0, 0.3, 0]\nvelocity = [0, -5, 0]\n\
         [[obstacle]]\nname = \"ball\"\nshape = {{ kind = \"sphere\", radius = 0.25, subdivisions = 3 }}\n"
    ));
    let frames: Vec<_> = (0..8).map(|_| simulation.step().unwrap()).collect();
    let strain = frames.iter().map(|frame| frame.largest_strain);
    let given_up = frames.iter().map(|frame| frame.stretched).sum();
    (strain.fold(0.0, f64::max), given_up)
}

#[test]
fn max_stretch_makes_intervals_short_where_contact_would_tear_the_cloth() {
    let (free, none) = thrown_over_a_ball("inf");
    let (limited, given_up) = thrown_over_a_ball("0.1");
    println!("strain {free:.3} without the limit, {limited:.3} with it, {given_up} given up");
    assert_eq!(none, 0);
    assert!(given_up > 0);
    assert!(limited < 0.5 * free, "{limited} of {free}");
    let text = sheet("[time]\nmax_stretch = 0\n");
    let error = Scene::from_text(&text, "test.toml").unwrap_err();
    assert!(error.to_string().contains("time.max_stretch"), "{error}");
}

#[test]
fn a_layer_says_which_cloth_lies_outside_and_reports_count_where_it_does_not() {
    // 4 of 5 times 4 of 5 vertices of each sheet lie over or under a face of the other
    for (layers, places) in [([0, 1], 0), ([1, 0], 2 * 4 * 4), ([3, 3], 0)] {
        let [lower, upper] = layers;
        let text = format!(
            "frames = 1\nfps = 60\nthickness = 1e-2\nfriction = 0\n[repulsion]\nmax_sweeps = 0\n[dynamics]\ngravity = [0, 0, 0]\n\
             [[cloth]]\nname = \"lower\"\nlayer = {lower}\nshape = {{ kind = \"sheet\", size = [4, 4], cells = [4, 4] }}\n\
             [[cloth]]\nname = \"upper\"\nlayer = {upper}\nshape = {{ kind = \"sheet\", size = [4, 4], cells = [4, 4] }}\n\
             position = [0.3, 0.009, 0.2]\n"
        );
        let mut simulation = build(&text);
        let start = simulation.out_of_order();
        let at_start: usize = start.iter().map(|cloths| cloths.places).sum();
        assert_eq!(at_start, places, "{start:?}");
        assert_eq!(simulation.step().unwrap().out_of_order, places);
    }
}

#[test]
fn restitution_brings_back_its_square_of_the_height() {
    for restitution in [0.0, 0.5, 0.9] {
        let mut simulation = build(&format!(
            "frames = 40\nfps = 60\nthickness = 1e-3\nfriction = 0\n[time]\nrestitution = {restitution}\n\
             [[cloth]]\nname = \"a\"\nshape = {{ kind = \"sheet\", size = [0.4, 0.4], cells = [8, 8] }}\n\
             position = [0.1, 0.5, 0.3]\n\
             [[obstacle]]\nname = \"floor\"\nshape = {{ kind = \"plane\", size = [4, 4] }}\n",
        ));
        run(&mut simulation, 20); // it falls for 0.32 s
        let mut highest: f64 = 0.0;
        for _ in 20..40 {
            run(&mut simulation, 1);
            highest = highest.max(centre(&object(&simulation, "a")).y);
        }
        // within an interval at impact speed, 3.1 m/s / 240
        let expected = restitution * restitution * 0.5;
        assert!(
            (highest - expected).abs() < 0.013,
            "{restitution}: {highest} m"
        );
    }
}

#[test]
fn pins_hold_and_move_as_their_keys_say() {
    let mut simulation = build(&sheet(
        "[[cloth.pin]]\nregion = { kind = \"edge\", towards = \"-x\" }\n\
         [[cloth.pin]]\nregion = { kind = \"corner\", towards = [\"+x\", \"+z\"] }\n\
         motion = [{ kind = \"keyframed\", keys = [{ time = 0 }, { time = 0.1, move = [0, 0.5, 0] }] }]\n",
    ));
    let start = object(&simulation, "a");
    run(&mut simulation, 3);
    let x = object(&simulation, "a");
    for v in [0, 3, 6] {
        assert_eq!(x[v], start[v], "a pin without motion stays to the bit");
    }
    // half of 0.1 s, half of the way, on the f32 grid
    assert_eq!(x[8], start[8] + DVec3::new(0.0, 0.25, 0.0));
    assert!(x[4].y < 0.0, "the rest falls");
}

#[test]
fn a_pin_lets_go_at_its_time_also_after_a_restart() {
    let text = sheet("[[cloth.pin]]\nregion = { kind = \"all\" }\nuntil = 0.05\n");
    let mut simulation = build(&text);
    run(&mut simulation, 3);
    assert!(object(&simulation, "a").iter().all(|p| p.y == 0.0));
    let mut restarted = build(&text);
    restarted.restore(simulation.checkpoint()).unwrap();
    run(&mut simulation, 3);
    run(&mut restarted, 3);
    let fallen = -centre(&object(&simulation, "a")).y;
    // 48 loops, each with the velocity of its end
    let expected = 0.5 * 9.81 * 0.05f64.powi(2) * (1.0 + 1.0 / 48.0);
    assert!((fallen / expected - 1.0).abs() < 0.01, "{fallen}");
    assert_eq!(object(&simulation, "a"), object(&restarted, "a"));
}

#[test]
fn copies_stand_in_a_row_and_let_go_one_after_the_other() {
    let simulation = &mut build(&sheet(
        "copies = { count = 3, step = [0, 0.5, 0], turn = [0, 90, 0], delay = 0.05 }\n\
         [[cloth.pin]]\nregion = { kind = \"all\" }\nuntil = 0\n",
    ));
    let names: Vec<&str> = simulation
        .state()
        .mesh()
        .bodies()
        .iter()
        .map(|b| b.name.as_str())
        .collect();
    assert_eq!(names, ["a-0", "a-1", "a-2"]);
    let first = object(simulation, "a-0");
    let second = object(simulation, "a-1");
    assert_eq!(
        second[0],
        DVec3::new(first[0].z, 0.5, -first[0].x),
        "turned by a quarter"
    );
    run(simulation, 5);
    let heights = ["a-0", "a-1", "a-2"].map(|name| centre(&object(simulation, name)).y);
    assert!(
        heights[0] < -0.01 && heights[1] < 0.5 - 0.001 && heights[2] == 1.0,
        "{heights:?}"
    );
}

#[test]
fn a_start_velocity_carries_a_cloth_along() {
    let mut simulation = build(&sheet(
        "velocity = [2, 0, 0]\n[dynamics]\ngravity = [0, 0, 0]\n",
    ));
    run(&mut simulation, 6);
    let moved = centre(&object(&simulation, "a"));
    assert!(
        (moved - DVec3::new(0.2, 0.0, 0.0)).length() < 1e-6,
        "{moved}"
    );
}

/// Two flat squares side by side on a slope of 30°.
fn slope(more: &str) -> String {
    let square = |name: &str, z: f64, surface: &str| {
        format!(
            "[[cloth]]\nname = \"{name}\"\nsurface = \"{surface}\"\nrotation = [0, 0, -30]\nposition = [0, 0.004, {z}]\n\
             shape = {{ kind = \"sheet\", size = [0.2, 0.2], cells = [1, 1] }}\n"
        )
    };
    format!(
        "frames = 30\nfriction = 0.0\nthickness = 0.002\n{more}{}{}\
         [[obstacle]]\nname = \"slope\"\nshape = {{ kind = \"plane\", size = [8, 2] }}\nrotation = [0, 0, -30]\n",
        square("left", -0.3, "rubber"),
        square("right", 0.3, "ice"),
    )
}

#[test]
fn friction_belongs_to_pairs_of_surfaces() {
    let pair = "[[surface_pair]]\nsurfaces = [\"rubber\", \"obstacle\"]\nfriction = 2.0\n";
    let mut simulation = build(&slope(pair));
    run(&mut simulation, 30);
    let slid = |name| centre(&object(&simulation, name)).x;
    let free = 0.5 * 9.81 * 0.5 * 0.75f64.sqrt() * 0.25; // ½ g sin 30° cos 30° t²
    assert!(
        slid("left") < 0.05 * free,
        "rubber holds: {} of {free}",
        slid("left")
    );
    assert!(
        slid("right") > 0.9 * free,
        "ice slides: {} of {free}",
        slid("right")
    );
}

#[test]
fn painted_weight_pulls_its_side_down() {
    let heavy = "dynamics = { integrator = { kind = \"newmark\" } }\n";
    let text = format!(
        "{heavy}{}",
        sheet(
            "fabric = { density = 0.1, stretch = [20, 20], strain_limit = inf }\n\
             [[cloth.pin]]\nregion = { kind = \"box\", min = [-0.1, -1, -1], max = [0.1, 1, 1] }\n\
             [[cloth.paint]]\nquantity = \"density\"\nregion = { kind = \"edge\", towards = \"+x\" }\nfactor = 10.0\n",
        )
    );
    let mut simulation = build(&text);
    run(&mut simulation, 20);
    let x = object(&simulation, "a");
    assert!(x[5].y < x[3].y - 0.01, "{} {}", x[5], x[3]);
}

#[test]
fn thickness_is_that_of_the_scene_the_object_and_the_paint() {
    let rest_height = |more: &str, floor: &str| {
        let mut simulation = build(&format!(
            "frames = 10\nthickness = 0.002\n[[cloth]]\nname = \"a\"\nposition = [0, 0.02, 0]\n\
             shape = {{ kind = \"sheet\", size = [0.2, 0.2], cells = [2, 2] }}\n{more}\
             [[obstacle]]\nname = \"floor\"\nshape = {{ kind = \"plane\", size = [1, 1] }}\n{floor}"
        ));
        run(&mut simulation, 90);
        object(&simulation, "a")[0].y
    };
    let [scene, object, both, painted] = [
        ("", ""),
        ("thickness = 0.006\n", ""),
        ("thickness = 0.006\n", "thickness = 0.006\n"),
        (
            "[[cloth.paint]]\nquantity = \"thickness\"\nfactor = 3.0\n",
            "",
        ),
    ]
    .map(|(cloth, floor)| rest_height(cloth, floor));
    // features keep the mean of both thicknesses
    assert!((0.0005..0.0025).contains(&scene), "{scene}");
    assert!(
        object > 1.5 * scene && both > 1.3 * object,
        "{scene} {object} {both}"
    );
    assert_eq!(painted, object);
}

#[test]
fn obstacles_turn_and_travel_together() {
    let simulation = &mut build(&sheet(
        "position = [0, 9, 0]\n[[obstacle]]\nname = \"box\"\nshape = { kind = \"box\", size = [1, 1, 1] }\nposition = [0, 1, 0]\n\
         motion = [{ kind = \"rotating\", axis = [0, 2, 0], speed = 900 }, \
                   { kind = \"keyframed\", keys = [{ time = 0 }, { time = 0.1, move = [3, 0, 0] }] }]\n",
    ));
    let start = object(simulation, "box");
    run(simulation, 6);
    // a quarter turn about its own axis, then 3 m aside
    for (p, q) in start.iter().zip(object(simulation, "box")) {
        assert_eq!(q, DVec3::new(p.z + 3.0, p.y, -p.x));
    }
}

/// A square that grows, as OBJ files 0.5 frames apart.
fn write_sequence(folder: &Path) {
    for (number, width) in [(8, 1.0), (9, 1.5), (10, 2.0)] {
        let corners = [[-1, -1], [1, -1], [-1, 1], [1, 1]]
            .map(|[x, z]| format!("v {} 0 {}\n", f64::from(x) * width, f64::from(z) * width));
        let text = format!("{}f 1 3 4\nf 1 4 2\n", corners.concat());
        std::fs::write(folder.join(format!("grow{number}.obj")), text).unwrap();
    }
}

#[test]
fn a_sequence_of_files_moves_vertex_by_vertex() {
    let folder = tempfile::tempdir().unwrap();
    write_sequence(folder.path());
    let obstacle = "position = [0, 9, 0]\n[[obstacle]]\nname = \"grow\"\nposition = [0, 1, 0]\n\
         shape = { kind = \"file\", file = \"grow8.obj\", scale = 0.5 }\n\
         motion = [{ kind = \"sequence\", file = \"grow*.obj\", fps = 30, scale = 0.5 }]\n";
    let path = folder.path().join("scene.toml");
    std::fs::write(&path, sheet(obstacle)).unwrap();
    let scene = Scene::load(path.to_str().unwrap()).unwrap();
    let mut simulation = scene.build().unwrap();
    for width in [0.5, 0.625, 0.75, 0.875, 1.0, 1.0] {
        let x = object(&simulation, "grow");
        assert_eq!(x[3], DVec3::new(width, 1.0, width));
        run(&mut simulation, 1);
    }
    // the resolved scene runs from anywhere, and notices that a file has changed
    let copy = folder.path().join("elsewhere.toml");
    std::fs::write(&copy, scene.to_text()).unwrap();
    assert_eq!(Scene::load(copy.to_str().unwrap()).unwrap(), scene);
    std::fs::write(folder.path().join("grow9.obj"), "v 0 0 0\n").unwrap();
    let error = Scene::load(copy.to_str().unwrap()).unwrap_err().to_string();
    assert!(
        error.contains("grow*.obj") && error.contains("SHA-256"),
        "{error}"
    );
    let error = Scene::load(path.to_str().unwrap()).unwrap().build();
    let error = error.err().unwrap().to_string();
    assert!(
        error.contains("grow9.obj: 1 vertices, but") && error.contains("grow8.obj has 4"),
        "{error}"
    );
}

#[test]
fn painted_attributes_come_from_the_mesh_file() {
    let folder = tempfile::tempdir().unwrap();
    let ply = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n\
               property uchar red\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n\
               0 0 0 51\n1 0 0 255\n0 0 1 102\n3 0 2 1\n";
    std::fs::write(folder.path().join("a.ply"), ply).unwrap();
    let text = |attribute: &str| {
        format!(
            "frames = 1\n[[cloth]]\nname = \"a\"\nshape = {{ kind = \"file\", file = \"a.ply\" }}\n\
             [[cloth.paint]]\nquantity = \"density\"\nattribute = \"{attribute}\"\n"
        )
    };
    let path = folder.path().join("scene.toml");
    std::fs::write(&path, text("red")).unwrap();
    let scene = Scene::load(path.to_str().unwrap()).unwrap();
    let simulation = scene.build().unwrap();
    let mass = simulation.mass();
    assert!((mass[1] / mass[0] - 5.0).abs() < 1e-12 && (mass[2] / mass[0] - 2.0).abs() < 1e-12);
    std::fs::write(&path, text("blue")).unwrap();
    let error = Scene::load(path.to_str().unwrap()).unwrap().build();
    let error = error.err().unwrap().to_string();
    assert!(
        error.contains("no attribute 'blue'") && error.contains("red"),
        "{error}"
    );
}

#[test]
fn the_small_variant_is_changed_before_the_command_line_changes_it() {
    let text = sheet("[small]\nframes = 3\n\"cloth.a.shape.cells\" = [1, 1]\n");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scene.toml");
    std::fs::write(&path, &text).unwrap();
    let path = path.to_str().unwrap();
    let small = Scene::load_variant(path, Variant::Small).unwrap();
    let small = small.set("frames", 5).unwrap();
    assert_eq!((small.frames, small.counts().unwrap().vertices), (5, 4));
    let full = Scene::load(path).unwrap();
    assert_eq!((full.frames, full.counts().unwrap().vertices), (10, 9));
    assert!(
        small.small.is_empty(),
        "what was run is written, not what could have been"
    );
    assert_eq!(small.object_names(), [("a".to_string(), BodyKind::Cloth)]);
}

#[test]
fn a_camera_is_automatic_or_stands_somewhere() {
    let camera = |text: &str| {
        let scene = support::scene(&sheet(text), &[]);
        let again = Scene::from_text(&scene.to_text(), "again").unwrap();
        assert_eq!(again, scene, "what is written is read back");
        scene.camera
    };
    assert_eq!(camera(""), Camera::Auto);
    let text = format!("camera = \"auto\"\n{}", sheet(""));
    assert_eq!(support::scene(&text, &[]).camera, Camera::Auto);
    let view = Viewpoint {
        position: [2.0, 1.5, 3.0],
        target: [0.0, 0.3, 0.0],
        fov: 30.0,
    };
    let table = "[camera]\nposition = [2, 1.5, 3]\ntarget = [0, 0.3, 0]\nfov = 30\n";
    assert_eq!(camera(table), Camera::At(view));
    let plain = Viewpoint {
        target: [0.0; 3],
        fov: 28.0,
        ..view
    };
    assert_eq!(
        camera("[camera]\nposition = [2, 1.5, 3]\n"),
        Camera::At(plain)
    );
    let same = Scene::from_text(&sheet("[camera]\nposition = [0, 0, 0]\n"), "test.toml");
    let same = same.err().unwrap().to_string();
    assert!(same.contains("test.toml:7: camera.position"), "{same}");
}
