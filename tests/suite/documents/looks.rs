//! Garments whose files say more than triangles: what goes in comes out with every format, moved.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use glam::{DVec3, Vec3};
use percale::io::{self, Look, MeshFile};
use percale::record::export::{self, Exported, Format, Selection};
use percale::record::{self, Recording};
use percale::scene::Scene;

/// A tube of quads, one of them cut in two, open along a line in its texture coordinates; two materials, three groups, a hard edge.
fn skirt() -> String {
    const AROUND: usize = 8;
    const DOWN: usize = 4;
    let mut text = String::from("mtllib skirt colours.mtl\no Skirt\n");
    for row in 0..=DOWN {
        for k in 0..AROUND {
            let angle = std::f64::consts::TAU * k as f64 / AROUND as f64;
            let (x, z) = (0.2 * angle.cos(), 0.2 * angle.sin());
            text += &format!("v {x:.6} {} {z:.6}\n", 1.0 - 0.1 * row as f64);
        }
    }
    for row in 0..=DOWN {
        for k in 0..=AROUND {
            let v = 1.0 - row as f64 / DOWN as f64;
            text += &format!("vt {} {v}\n", k as f64 / AROUND as f64);
        }
    }
    text += "vn 1 0 0\nvn 0 0 1\n";
    for row in 0..DOWN {
        text += [
            "g waist band\nusemtl red silk\n",
            "g body\n",
            "usemtl blue\n",
            "g hem\n",
        ][row];
        let normal = if row < 2 { 1 } else { 2 };
        for k in 0..AROUND {
            let corner = |row: usize, k: usize| {
                let (v, t) = (row * AROUND + k % AROUND + 1, row * (AROUND + 1) + k + 1);
                format!("{v}/{t}/{normal}")
            };
            let [a, b, c, d] = [
                corner(row, k + 1),
                corner(row, k),
                corner(row + 1, k),
                corner(row + 1, k + 1),
            ];
            text += &match (row, k) {
                (1, 3) => format!("f {a} {b} {c}\nf {a} {c} {d}\n"),
                _ => format!("f {a} {b} {c} {d}\n"),
            };
        }
    }
    text
}

const COLOURS: &str = "newmtl red silk\nKd 0.8 0.1 0.2\nNs 250\nmap_Kd -s 2 2 check.png\nnewmtl blue\nKd 0 0 1\nd 0.5\n";

const SCENE: &str = r#"
frames = 3
fps = 30
thickness = 2e-3
[[cloth]]
name = "skirt"
shape = { kind = "file", file = "skirt.obj" }
pin = [{ region = { kind = "group", name = "waist" } }]
[[obstacle]]
name = "ball"
shape = { kind = "sphere", radius = 0.1, subdivisions = 1 }
position = [0.0, 0.6, 0.0]
motion = [{ kind = "keyframed", keys = [{ time = 0.0 }, { time = 0.1, move = [0.05, 0, 0] }] }]
[[obstacle]]
name = "floor"
shape = { kind = "plane", size = [1.0, 1.0] }
"#;

fn run(folder: &Path) -> Recording {
    fs::write(folder.join("skirt.obj"), skirt()).unwrap();
    fs::write(folder.join("skirt colours.mtl"), COLOURS).unwrap();
    let png = [0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, 1];
    fs::write(folder.join("check.png"), png).unwrap();
    fs::write(folder.join("scene.toml"), SCENE).unwrap();
    let scene = Scene::load(folder.join("scene.toml").to_str().unwrap()).unwrap();
    let mut simulation = scene.build().unwrap();
    let out = folder.join("out");
    let each = &mut |_: &_, _: &_| ControlFlow::Continue(());
    let earlier = record::Earlier::Refuse;
    let summary = record::run(&scene, &mut simulation, &out, 3, earlier, each).unwrap();
    assert_eq!((summary.frames, summary.intersections), (3, 0));
    // the folder has all that is needed
    fs::remove_file(folder.join("skirt.obj")).unwrap();
    fs::remove_file(folder.join("skirt colours.mtl")).unwrap();
    Recording::open(&out).unwrap()
}

fn exported(recording: &Recording, format: Format, objects: &[usize], out: &Path) -> Exported {
    let selection = Selection {
        objects: objects.to_vec(),
        ..Selection::all(recording)
    };
    let go_on = |_| ControlFlow::Continue(());
    let exported = export::export(recording, format, &selection, out, go_on).unwrap();
    assert_eq!(exported.lost, Vec::<String>::new());
    exported
}

fn input() -> MeshFile {
    io::read_bytes("skirt.obj", skirt().as_bytes()).unwrap()
}

/// What of a look stays as it is where normals are those of the frame.
fn kept(look: &Look) -> Look {
    Look {
        normals: Vec::new(),
        normal_of_corner: Vec::new(),
        libraries: Vec::new(),
        library: Vec::new(),
        ..look.clone()
    }
}

#[test]
fn a_garment_comes_out_of_a_run_with_its_polygons_uv_groups_and_materials() {
    let folder = tempfile::tempdir().unwrap();
    let recording = run(folder.path());
    let input = input();
    let wanted: &Arc<Look> = input.look.as_ref().unwrap();
    let stored = recording.look(0).unwrap().unwrap();
    assert_eq!(kept(&stored), kept(wanted));
    assert_eq!(
        (&stored.normals, &stored.normal_of_corner),
        (&wanted.normals, &wanted.normal_of_corner)
    );
    assert!(recording.look(1).unwrap().is_none(), "a ball is what it is");

    let out = folder.path().join("obj");
    exported(&recording, Format::Obj, &[0], &out);
    let last = io::read(out.join("frame_0003.obj")).unwrap();
    assert_eq!(last.positions, recording.object_positions(0, 3).unwrap());
    assert_ne!(last.positions, input.positions);
    let look = last.look.as_ref().unwrap();
    assert_eq!(kept(look), kept(wanted));
    assert_eq!(look.libraries, ["materials.mtl"]);
    // the hard edge between the second and the third row is one still
    let ring: Vec<usize> = (0..look.polygons.corners.len())
        .filter(|&k| look.polygons.corners[k] == 16)
        .collect();
    let mut normals: Vec<u32> = ring.iter().map(|&k| look.normal_of_corner[k]).collect();
    normals.sort_unstable();
    normals.dedup();
    assert_eq!(normals.len(), 2, "two normals at each vertex of the edge");
    let library = fs::read_to_string(out.join("materials.mtl")).unwrap();
    let expected = COLOURS.replace("check.png", "textures/check.png");
    assert_eq!(library.replace("\n\n", "\n"), expected);
    assert!(out.join("textures/check.png").is_file());

    let out = folder.path().join("ply");
    exported(&recording, Format::Ply, &[0, 2], &out);
    let ply = io::read(out.join("frame_0001.ply")).unwrap();
    let look = ply.look.unwrap();
    let sizes = &wanted.polygons.sizes;
    assert_eq!(look.polygons.sizes[..sizes.len()], sizes[..]);
    assert_eq!(
        look.uv[look.uv_of_corner[5] as usize],
        wanted.uv[wanted.uv_of_corner[5] as usize]
    );
}

#[test]
fn all_objects_in_one_file_keep_apart() {
    let folder = tempfile::tempdir().unwrap();
    let recording = run(folder.path());
    let out = folder.path().join("all");
    exported(&recording, Format::Obj, &[0, 1, 2], &out);
    let file = io::read(out.join("frame_0000.obj")).unwrap();
    let look = file.look.unwrap();
    assert_eq!(look.objects.names, ["skirt", "ball", "floor"]);
    let skirt = look.objects.of_polygon.iter().filter(|&&o| o == 0).count();
    assert_eq!(skirt, 33);
    assert_eq!(
        look.groups.of(skirt),
        None,
        "a ball is in no group of the skirt"
    );
    assert_eq!(look.materials.of(skirt), Some("default"));
    assert_eq!(look.materials.of(0), Some("red silk"));
}

#[test]
fn usd_has_quads_uv_by_corner_normals_and_a_subset_for_each_material_and_group() {
    let folder = tempfile::tempdir().unwrap();
    let recording = run(folder.path());
    let out = folder.path().join("usd");
    let files = exported(&recording, Format::Usda, &[0, 1], &out).files;
    let text = fs::read_to_string(files.last().unwrap()).unwrap();
    let values = |what: &str| {
        let line = text.lines().find(|line| line.contains(what)).expect(what);
        line.matches(", ").count() + 1
    };
    assert_eq!(values("int[] faceVertexCounts"), 33);
    assert_eq!(values("int[] primvars:st:indices"), 2 * 3 + 31 * 4);
    for expected in [
        "interpolation = \"faceVarying\"",
        "normal3f[] normals.timeSamples",
        "def GeomSubset \"red_silk\"",
        "displayName = \"waist band\"",
        "rel material:binding = </scene/materials/blue>",
        "asset inputs:file = @textures/check.png@",
        "float inputs:opacity = 0.5",
    ] {
        assert!(text.contains(expected), "{expected}");
    }
}

/// Positions of a mesh of a .glb in every frame, as a player adds them up.
fn played(glb: &gltf::Gltf, mesh: usize) -> (Vec<Vec<Vec3>>, usize) {
    let blob = glb.blob.as_deref().unwrap();
    let vectors = |accessor: gltf::Accessor<'_>| -> Vec<Vec3> {
        let start = accessor.view().unwrap().offset() + accessor.offset();
        let bytes = &blob[start..start + 12 * accessor.count()];
        let numbers: Vec<f32> = bytes
            .chunks_exact(4)
            .map(|b| f32::from_le_bytes(b.try_into().unwrap()))
            .collect();
        numbers.chunks_exact(3).map(Vec3::from_slice).collect()
    };
    let mesh = glb.meshes().nth(mesh).unwrap();
    let part = mesh.primitives().next().unwrap();
    let first = vectors(part.get(&gltf::Semantic::Positions).unwrap());
    let mut frames = vec![first.clone()];
    for target in part.morph_targets() {
        let moved = vectors(target.positions().unwrap());
        frames.push(first.iter().zip(moved).map(|(a, b)| *a + b).collect());
    }
    (frames, mesh.primitives().count())
}

#[test]
fn a_glb_plays_the_frames_that_were_certified() {
    let folder = tempfile::tempdir().unwrap();
    let recording = run(folder.path());
    let out = folder.path().join("glb");
    let files = exported(&recording, Format::Glb, &[0, 1, 2], &out).files;
    let about = export::about_bytes(&recording, Format::Glb, &Selection::all(&recording)).unwrap();
    let many = Selection {
        frames: vec![0; 40_000],
        objects: vec![0],
    };
    let error = export::about_bytes(&recording, Format::Glb, &many).unwrap_err();
    let error = error.to_string();
    assert!(
        error.contains("4.3 GB") && error.contains("--frames"),
        "{error}"
    );
    let bytes = fs::read(&files[0]).unwrap();
    assert!((bytes.len() as u64) > about && (bytes.len() as u64) < about + 20_000);
    // the crate validates what it reads
    let glb = gltf::Gltf::from_slice(&bytes).unwrap();
    for (object, parts) in [(0, 2), (1, 1), (2, 1)] {
        let (frames, found) = played(&glb, object);
        assert_eq!(found, parts, "a part for each material");
        assert_eq!(frames.len(), if object == 2 { 1 } else { 4 });
        for (number, frame) in frames.iter().enumerate() {
            let x = recording.object_positions(object, number as u64).unwrap();
            for (v, p) in x.iter().enumerate() {
                let apart = (frame[v].as_dvec3() - *p).length();
                assert!(
                    apart < 1e-7,
                    "object {object}, frame {number}, vertex {v}: {apart}"
                );
            }
        }
    }
    let split = played(&glb, 0).0[0].len();
    // a second uv on the seam of four rows, a second normal at seven vertices of the hard edge, two of each where both meet
    assert_eq!(split, 40 + 4 + 7 + 3);
    let animation = glb.animations().next().unwrap();
    assert_eq!(animation.channels().count(), 2, "the floor stays");
    let times = animation.channels().next().unwrap().sampler().input();
    assert_eq!(times.max().unwrap()[0].as_f64().unwrap() as f32, 0.1);

    // and it is a body again, with its materials
    let back = io::read(&files[0]).unwrap();
    let x = recording.object_positions(0, 0).unwrap();
    assert!(
        back.positions
            .iter()
            .take(40)
            .zip(&x)
            .all(|(a, b): (&DVec3, _)| a == b)
    );
    let look = back.look.unwrap();
    assert_eq!(look.materials.names, ["red silk", "blue", "default"]);
    assert_eq!(look.library[1].opacity(), Some(0.5));
}

#[test]
fn pins_are_where_groups_and_attributes_say() {
    let folder = tempfile::tempdir().unwrap();
    let painted = skirt().replace("v 0.200000 1 0.000000\n", "v 0.200000 1 0.000000 1 0 0\n");
    fs::write(folder.path().join("skirt.obj"), painted).unwrap();
    fs::write(folder.path().join("skirt colours.mtl"), COLOURS).unwrap();
    let scene = |region: &str| {
        let text = SCENE.replace("kind = \"group\", name = \"waist\"", region);
        Scene::from_text_in(&text, "skirt.toml", folder.path())
            .unwrap()
            .build()
    };
    assert!(scene("kind = \"group\", name = \"blue\"").is_ok());
    // what has no colour is white: above 0.5 in green are all but the red one
    assert!(scene("kind = \"attribute\", name = \"green\", above = 0.5").is_ok());
    let wrong = |region: &str| scene(region).err().unwrap().to_string();
    let error = wrong("kind = \"group\", name = \"wait\"");
    assert!(
        error.contains("no group, object or material 'wait'"),
        "{error}"
    );
    assert!(
        error.contains("Skirt, waist band, body, hem, red silk, blue"),
        "{error}"
    );
    let error = wrong("kind = \"attribute\", name = \"red\", above = 2");
    assert!(error.contains("from 1 to 1"), "{error}");
    let error = wrong("kind = \"attribute\", name = \"weight\"");
    assert!(error.contains("red, green, blue"), "{error}");
}
