//! Clothes on bodies: characters that move by their skeletons, pins that go along, seams, patterns, what changes on the way.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use glam::DVec3;
use percale::Scene;
use percale::record::{self, Earlier};
use percale::step::{Figures, Simulation};

use crate::support::{data, scene};

/// A short skirt on the walking person, whose arms are left out.
fn skirt() -> String {
    format!(
        "frames = 30\nfps = 60\nthickness = 2e-3\n\
         [[cloth]]\nname = \"skirt\"\nshape = {{ kind = \"skirt\", waist = 0.15, hem = 0.22, height = 0.3, cells = [40, 10] }}\n\
         position = [0, 0.68, 0.005]\nfabric = \"cotton\"\n\
         [[cloth.pin]]\nregion = {{ kind = \"edge\", towards = \"+y\" }}\nmotion = [{{ kind = \"follow\", obstacle = \"man\" }}]\n\
         [[obstacle]]\nname = \"man\"\n\
         shape = {{ kind = \"file\", file = {:?}, without = [\"Skeleton_arm_joint_L__4_\", \"Skeleton_arm_joint_R\"] }}\n\
         motion = [{{ kind = \"animated\", start = 0.25, blend = 0.25, repeat = true }}]\n",
        data("cesium-man/CesiumMan.glb")
    )
}

fn bad(text: &str, changes: &[(&str, &str)]) -> String {
    let scene = Scene::from_text_in(text, "test.toml", Path::new(""));
    let built = scene.and_then(|scene| scene.set_all(changes.iter().copied())?.build());
    built.err().expect("it is wrong").to_string()
}

fn object(simulation: &Simulation, name: &str) -> Vec<DVec3> {
    let state = simulation.state();
    let bodies = state.mesh().bodies();
    let body = bodies.iter().find(|body| body.name == name).unwrap();
    state.positions()[body.vertices.start as usize..body.vertices.end as usize].to_vec()
}

fn step(simulation: &mut Simulation) -> Figures {
    simulation.step().unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_skirt_goes_along_with_a_walking_person_and_after_a_restart_with_the_same_bits() {
    let mut simulation = scene(&skirt(), &[]).build().unwrap();
    let (start, man) = (object(&simulation, "skirt"), object(&simulation, "man"));
    let waist: Vec<usize> = (0..start.len()).filter(|&v| start[v].y > 0.8299).collect();
    assert!(waist.len() > 20);
    let mut saved = None;
    for frame in 1..=30 {
        assert_eq!(step(&mut simulation).intersections, 0, "frame {frame}");
        if frame == 15 {
            saved = Some(simulation.checkpoint());
        }
    }
    let end = object(&simulation, "skirt");
    let bodies = [man, object(&simulation, "man")];
    // the waistband moves with the hips, as near to them as it was, and is stretched no more than cotton may be
    let centre = |x: &[DVec3]| waist.iter().map(|&v| x[v]).sum::<DVec3>() / waist.len() as f64;
    assert!(centre(&end).distance(centre(&start)) > 0.02);
    let nearest = |x: DVec3, body: &[DVec3]| {
        let ways = body.iter().map(|y| x.distance(*y));
        ways.fold(f64::INFINITY, f64::min)
    };
    for &v in &waist {
        let [before, after] =
            [(start[v], &bodies[0]), (end[v], &bodies[1])].map(|(x, b)| nearest(x, b));
        assert!((after - before).abs() < 0.015, "{v}: {before} {after}");
    }
    let mesh = simulation.state().mesh();
    let is_waist = |v: u32| waist.contains(&(v as usize));
    let edges = mesh
        .edges()
        .iter()
        .filter(|[a, b]| is_waist(*a) && is_waist(*b));
    for &[v, w] in edges {
        let [before, after] = [&start, &end].map(|x| x[v as usize].distance(x[w as usize]));
        assert!(after < 1.1 * before, "{v} {w}: {before} {after}");
    }
    let mut again = scene(&skirt(), &[]).build().unwrap();
    again.restore(saved.unwrap()).unwrap();
    for _ in 15..30 {
        step(&mut again);
    }
    assert_eq!(again.state().positions(), simulation.state().positions());
}

#[test]
fn what_cannot_be_worn_is_refused_by_name() {
    let text = skirt();
    let file = ("obstacle.man.shape.scale", "0.01");
    assert!(
        bad(&text, &[("obstacle.man.shape.without", "[\"tail\"]")]).contains("no joint 'tail'")
    );
    assert!(bad(&text, &[("obstacle.man.motion.0.clip", "run")]).contains("no clip 'run'"));
    assert!(
        bad(&text, &[("cloth.0.pin.0.motion.0.obstacle", "mam")]).contains("did you mean 'man'")
    );
    let nobody = ("obstacle.man.shape.file", "\"percale:nobody.glb\"");
    assert!(bad(&text, &[nobody]).contains("there are: percale:CesiumMan.glb"));
    let animated = "motion = [{ kind = \"animated\" }]\n";
    let plain = format!(
        "frames = 1\n[[cloth]]\nname = \"a\"\nshape = {{ kind = \"sheet\", size = [1, 1], cells = [2, 2] }}\n\
         [[obstacle]]\nname = \"b\"\nshape = {{ kind = \"sphere\", radius = 0.1, subdivisions = 1 }}\nposition = [0, -1, 0]\n{animated}"
    );
    assert!(bad(&plain, &[]).contains("has no skeleton"));
    // a person in centimetres is noticed, if the file says nothing else
    let doubts = scene(&text, &[file]).doubts_of_files().unwrap();
    assert!(
        doubts.is_empty(),
        "a scale that is written is not doubted: {doubts:?}"
    );
}

#[test]
fn a_sequence_of_another_mesh_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    let points = "v 0 0 0\nv 1 0 0\nv 0 0 1\nv 1 0 1\n";
    file("a.obj", &format!("{points}f 1 2 3\nf 2 4 3\n"));
    file("b_0.obj", &format!("{points}f 1 2 3\nf 2 4 3\n"));
    file("b_1.obj", &format!("{points}f 1 2 4\nf 1 4 3\n"));
    let text = "frames = 1\n[[cloth]]\nname = \"c\"\nshape = { kind = \"sheet\", size = [1, 1], cells = [2, 2] }\nposition = [0, 1, 0]\n\
                [[obstacle]]\nname = \"o\"\nshape = { kind = \"file\", file = \"a.obj\" }\nmotion = [{ kind = \"sequence\", file = \"b_*.obj\" }]\n";
    let build =
        || Scene::from_text_in(text, "test.toml", folder.path()).and_then(|scene| scene.build());
    let message = build().err().expect("another mesh").to_string();
    assert!(
        message.contains("b_1.obj") && message.contains("face"),
        "{message}"
    );
    file("b_1.obj", &format!("{points}v 5 5 5\n"));
    let message = build().err().expect("more vertices").to_string();
    assert!(
        message.contains("b_1.obj") && message.contains('5'),
        "{message}"
    );
    file("b_0.obj", &format!("{points}f 1 2 4\nf 1 4 3\n"));
    let message = build()
        .err()
        .expect("another mesh than the shape")
        .to_string();
    assert!(
        message.contains("b_0.obj") && message.contains("one mesh"),
        "{message}"
    );
    file("b_0.obj", &format!("{points}f 1 2 3\nf 2 4 3\n"));
    file("b_1.obj", points);
    assert!(build().is_ok());
}

/// Two sheets side by side, 4 cm apart, with borders of other vertices, without weight.
const SHEETS: &str = "frames = 60\nfps = 60\nthickness = 1e-3\n[dynamics]\ngravity = [0, 0, 0]\n\
    [[cloth]]\nname = \"a\"\nshape = { kind = \"sheet\", size = [0.2, 0.2], cells = [4, 4] }\nposition = [-0.12, 0, 0]\n\
    [[cloth]]\nname = \"b\"\nshape = { kind = \"sheet\", size = [0.2, 0.2], cells = [4, 3] }\nposition = [0.12, 0, 0]\n";

#[test]
fn vertices_are_sewn_to_points_of_edges_and_the_report_counts_what_is_open() {
    // the right border of `a` has five vertices, the left of `b` four: each vertex of `a` to its place on `b`
    let stitches: Vec<String> = (0..5)
        .map(|k| {
            let place = 0.75 * f64::from(k);
            let (below, share) = (
                (place as u32).min(2),
                place - f64::from((place as u32).min(2)),
            );
            format!(
                "[[{}], [{}, {}, {share}]]",
                5 * k + 4,
                5 * below,
                5 * below + 5
            )
        })
        .collect();
    let text = format!(
        "{SHEETS}[[seam]]\nbetween = [\"a\", \"b\"]\nstitches = [{}]\nduration = 0.4\n",
        stitches.join(", ")
    );
    let mut simulation = scene(&text, &[]).build().unwrap();
    let mut frames = (0..60).map(|_| step(&mut simulation));
    let first = frames.next().unwrap();
    assert_eq!(first.open_stitches, 5);
    assert!(
        (first.widest_stitch.unwrap() - 0.037).abs() < 2e-3,
        "{:?}",
        first.widest_stitch
    );
    let last = frames.last().unwrap();
    assert_eq!(last.open_stitches, 0, "{:?}", last.widest_stitch);
    assert!(last.widest_stitch.unwrap() < 1e-3);
    for (point, message) in [
        ("[[0, 1], [2]]", "is no point"),
        ("[[0], [1, 2, 1.5]]", "is no point"),
        ("[[0], [99]]", "vertex 99"),
    ] {
        let text = format!("{SHEETS}[[seam]]\nbetween = [\"a\", \"b\"]\nstitches = [{point}]\n");
        let found = bad(&text, &[]);
        assert!(found.contains(message), "{found}");
    }
    let found = bad(
        &format!("{SHEETS}[[seam]]\nbetween = [\"a\", \"b\"]\n"),
        &[],
    );
    assert!(found.contains("what is sewn?"), "{found}");
}

#[test]
fn borders_with_other_vertices_close_to_their_gap_everywhere() {
    let text = format!(
        "{SHEETS}[[seam]]\nbetween = [\"a\", \"b\"]\nduration = 0.4\n\
         regions = [{{ kind = \"edge\", towards = \"+x\" }}, {{ kind = \"edge\", towards = \"-x\" }}]\n"
    );
    let mut simulation = scene(&text, &[]).build().unwrap();
    let frames: Vec<Figures> = (0..60).map(|_| step(&mut simulation)).collect();
    // corners are sewn to corners, the 3 and 2 vertices between them to edges
    assert_eq!(frames[0].open_stitches, 7);
    assert_eq!(frames[59].open_stitches, 0);
    let widest = frames[59].widest_stitch.unwrap();
    assert!(widest < 1e-4, "{widest}");
}

#[test]
fn a_closed_seam_carries_what_hangs_on_it_and_after_a_restart_with_the_same_bits() {
    // springs of this stiffness would open by 4 mm under the weight of one sheet
    let text = format!(
        "{SHEETS}[[seam]]\nbetween = [\"a\", \"b\"]\nduration = 0.4\nstiffness = 100\n\
         regions = [{{ kind = \"edge\", towards = \"+x\" }}, {{ kind = \"edge\", towards = \"-x\" }}]\n"
    );
    let text = scene(
        &text,
        &[
            (
                "cloth.0.pin",
                "[{ region = { kind = \"edge\", towards = \"-x\" } }]",
            ),
            ("dynamics.gravity", "[0, -9.81, 0]"),
        ],
    );
    let mut simulation = text.build().unwrap();
    let mut saved = None;
    for frame in 1..=90 {
        let figures = step(&mut simulation);
        if frame == 60 {
            saved = Some(simulation.checkpoint());
        }
        let place = figures.widest_stitch_place;
        assert!(
            frame < 60 || figures.open_stitches == 0,
            "{frame}: {:?} at {place:?}",
            figures.widest_stitch
        );
    }
    let mut again = text.build().unwrap();
    again.restore(saved.unwrap()).unwrap();
    for _ in 60..90 {
        step(&mut again);
    }
    assert_eq!(again.state().positions(), simulation.state().positions());
}

#[test]
fn gravity_seams_and_friction_change_by_their_keys() {
    let stage = "[[stage]]\ntime = 0.2\ngravity = [0, 0, 0]\nseams = 0\n[[stage]]\ntime = 0.3\ngravity = [0, -9.81, 0]\nseams = 1\n";
    let text = format!(
        "{SHEETS}{stage}[[seam]]\nbetween = [\"a\", \"b\"]\nduration = 0.1\n\
         regions = [{{ kind = \"edge\", towards = \"+x\" }}, {{ kind = \"edge\", towards = \"-x\" }}]\n"
    );
    let mut simulation = scene(&text, &[]).build().unwrap();
    let start = simulation.state().positions().to_vec();
    for _ in 0..12 {
        step(&mut simulation);
    }
    let moved = simulation
        .state()
        .positions()
        .iter()
        .zip(&start)
        .map(|(a, b)| a.distance(*b));
    assert!(
        moved.fold(0.0, f64::max) < 1e-6,
        "neither weight nor seams pull before 0.2 s"
    );
    for _ in 12..48 {
        step(&mut simulation);
    }
    // 6 frames in which gravity grows evenly, and 30 of free fall; steps of the implicit solve are shorter than a frame, so that it falls
    // farther than by the exact integral and less than by one step each frame
    let (mut v, mut exact, mut coarse) = (0.0, 0.0, 0.0);
    for frame in 12..48 {
        let share = ((f64::from(frame) + 0.5) / 60.0 - 0.2) / 0.1;
        let change = 9.81 / 60.0 * share.clamp(0.0, 1.0);
        exact += (v + 0.5 * change) / 60.0;
        v += change;
        coarse += v / 60.0;
    }
    let heights = simulation.state().positions().iter().map(|x| -x.y);
    let mean = heights.sum::<f64>() / start.len() as f64;
    assert!(exact < mean && mean < coarse, "{exact} {mean} {coarse}");
    assert!(
        bad(
            &format!("{SHEETS}[[stage]]\ntime = 0\nwind = [1, 0, 0]\n"),
            &[]
        )
        .contains("no air")
    );
    assert!(
        bad(
            &format!("{SHEETS}[[stage]]\ntime = 1\n[[stage]]\ntime = 1\n"),
            &[]
        )
        .contains("not after")
    );
}

#[test]
fn a_run_begins_where_another_ended_and_notices_if_that_has_changed() {
    let folder = tempfile::tempdir().unwrap();
    let first = scene(
        SHEETS,
        &[("cloth.0.velocity", "[0.3, 0, 0.1]"), ("frames", "4")],
    );
    let run = |scene: &Scene, path: &Path| {
        let mut simulation = scene.build().unwrap();
        let frames = scene.frames;
        let go = &mut |_: &Simulation, _: &Figures| ControlFlow::Continue(());
        record::run(scene, &mut simulation, path, frames, Earlier::Replace, go).unwrap();
        simulation
    };
    let path = folder.path().join("drape");
    let before = run(&first, &path);
    let text = format!("start_from = {{ folder = \"drape\" }}\n{SHEETS}");
    let text = text.replace("thickness = 1e-3", "thickness = 2e-3");
    let second = Scene::from_text_in(&text, "test.toml", folder.path()).unwrap();
    let after = second.build().unwrap();
    assert_eq!(after.state().positions(), before.state().positions());
    let v = after.state().velocities()[3];
    assert!((v - DVec3::new(0.3, 0.0, 0.1)).length() < 1e-5, "{v}");
    let earlier = second
        .clone()
        .set("start_from.frame", 0)
        .unwrap()
        .build()
        .unwrap();
    assert_eq!(
        earlier.state().positions(),
        first.build().unwrap().state().positions()
    );
    let message = second
        .clone()
        .set("start_from.frame", 9)
        .unwrap()
        .build()
        .err()
        .unwrap()
        .to_string();
    assert!(message.contains("no frame 9; the last is 4"), "{message}");
    // the copy of the scene knows what it began with
    run(&scene(SHEETS, &[("frames", "2")]), &path);
    let message = Scene::from_text_in(&second.to_text(), "copy", folder.path())
        .unwrap_err()
        .to_string();
    assert!(message.contains("SHA-256"), "{message}");
    let other = text.replace("cells = [4, 4]", "cells = [5, 4]");
    let message = Scene::from_text_in(&other, "test.toml", folder.path())
        .unwrap()
        .build()
        .err()
        .unwrap();
    assert!(
        message.to_string().contains("25 vertices, 'a' has 30"),
        "{message}"
    );
    let none = text.replace("\"drape\"", "\"nothing\"");
    assert!(Scene::from_text_in(&none, "test.toml", folder.path()).is_err());
}

#[test]
fn a_cloth_that_starts_too_wide_goes_back_to_the_size_of_its_pattern() {
    let folder = tempfile::tempdir().unwrap();
    let (mut v, mut vt, mut f) = (String::new(), String::new(), String::new());
    for j in 0..=6 {
        for i in 0..=6 {
            v += &format!("v {} 0 {}\n", 0.105 * f64::from(i), 0.1 * f64::from(j));
            vt += &format!("vt {} {}\n", 10 * i, 10 * j); // centimetres
            if i < 6 && j < 6 {
                let a = 7 * j + i + 1;
                f += &format!(
                    "f {a}/{a} {}/{} {}/{}\nf {}/{} {}/{} {}/{}\n",
                    a + 7,
                    a + 7,
                    a + 8,
                    a + 8,
                    a,
                    a,
                    a + 8,
                    a + 8,
                    a + 1,
                    a + 1
                );
            }
        }
    }
    fs::write(folder.path().join("wide.obj"), format!("{v}{vt}{f}")).unwrap();
    fs::write(
        folder.path().join("flat.obj"),
        format!("{}{f}", v.replace("0.105", "0.1")),
    )
    .unwrap();
    let flat: String = (0..49)
        .map(|k| {
            format!(
                "v {} {} 0\n",
                0.1 * f64::from(k % 7),
                0.1 * f64::from(k / 7)
            )
        })
        .collect();
    fs::write(folder.path().join("flat.obj"), format!("{flat}{vt}{f}")).unwrap();
    for rest in [
        "{ kind = \"uv\", scale = 0.01 }",
        "{ kind = \"file\", file = \"flat.obj\" }",
    ] {
        let text = format!(
            "frames = 60\nfps = 60\nthickness = 1e-3\n[dynamics]\ngravity = [0, 0, 0]\n\
             [[cloth]]\nname = \"a\"\nshape = {{ kind = \"file\", file = \"wide.obj\" }}\nrest = {rest}\nstretch = \"membrane\"\n"
        );
        let scene = Scene::from_text_in(&text, "test.toml", folder.path()).unwrap();
        let mut simulation = scene.build().unwrap();
        let strains: Vec<f64> = (0..60)
            .map(|_| step(&mut simulation).largest_strain)
            .collect();
        assert!(strains[59] < 0.01, "{rest}: {strains:?}");
        let x = simulation.state().positions();
        assert!(
            (x[6].distance(x[0]) - 0.6).abs() < 0.01,
            "{rest}: {}",
            x[6].distance(x[0])
        );
    }
}

#[test]
fn a_shirt_is_sewn_from_its_pattern() {
    // without a body, coarse: what is tested is that every stitch closes
    let text = format!(
        "frames = 75\nfps = 60\nthickness = 2e-3\n[dynamics]\ngravity = [0, 0, 0]\n\
         [[cloth]]\nname = \"shirt\"\nshape = {{ kind = \"pattern\", file = {:?}, edge = 0.04 }}\nfabric = \"cotton\"\nstretch = \"membrane\"\n\
         [[seam]]\nbetween = [\"shirt\", \"shirt\"]\nduration = 1.0\n",
        data("garmentcode/shirt_mean_specification.json")
    );
    let mut simulation = scene(&text, &[]).build().unwrap();
    let mut last = Figures::default();
    for _ in 0..75 {
        last = step(&mut simulation);
        assert_eq!(last.intersections, 0);
    }
    // a gap is 4 mm; a few stitches at corners are held a little apart by contact
    assert!(
        last.widest_stitch.unwrap() < 4e-3,
        "{:?}",
        last.widest_stitch
    );
}
