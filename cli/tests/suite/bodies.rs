//! What users bring to dress: damaged characters, garments and sequences end with code 2, a message that names file, place and remedy, and no folder.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::percale;

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/");

/// A small sheet far above; the rest of the scene is what is tried.
const SHEET: &str = "\
frames = 1
thickness = 1e-3
[[cloth]]
name = \"sheet\"
position = [0, 9, 0]
shape = { kind = \"sheet\", size = [0.2, 0.2], cells = [3, 3] }
";

/// Runs a scene in a folder that holds the given files: the exit code, what is said, and whether a result was begun.
fn run(folder: &Path, scene: &str) -> (Option<i32>, String, bool) {
    let (file, out) = (folder.join("scene.toml"), folder.join("out"));
    fs::write(&file, scene).unwrap();
    let _ = fs::remove_dir_all(&out);
    let [file, out_name] = [&file, &out].map(|path| path.to_str().unwrap());
    let output = percale(&["run", file, "-o", out_name, "--threads", "1"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), said, out.exists())
}

fn refused(folder: &Path, scene: &str, expected: &[&str]) {
    let (code, said, begun) = run(folder, scene);
    assert_eq!((code, begun), (Some(2), false), "{said}");
    for part in expected {
        assert!(said.contains(part), "'{part}' is missing in: {said}");
    }
}

fn told(folder: &Path, scene: &str, expected: &str) {
    let (code, said, _) = run(folder, scene);
    assert_eq!(code, Some(0), "{said}");
    let warned = said
        .lines()
        .any(|line| line.contains("warning") && line.contains(expected));
    assert!(warned, "'{expected}' is missing in: {said}");
}

/// The walking person as JSON and numbers.
struct Man {
    json: Value,
    numbers: Vec<u8>,
}

impl Man {
    fn new() -> Self {
        let bytes = fs::read(format!("{DATA}cesium-man/CesiumMan.glb")).unwrap();
        let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
        Self {
            json: serde_json::from_slice(&bytes[20..20 + length]).unwrap(),
            numbers: bytes[28 + length..].to_vec(),
        }
    }

    /// Where the numbers of an accessor begin.
    fn place(&self, accessor: &Value) -> usize {
        let accessor = &self.json["accessors"][accessor.as_u64().unwrap() as usize];
        let view = &self.json["bufferViews"][accessor["bufferView"].as_u64().unwrap() as usize];
        let offset = |value: &Value| value["byteOffset"].as_u64().unwrap_or(0) as usize;
        offset(accessor) + offset(view)
    }

    fn attribute(&self, name: &str) -> usize {
        self.place(&self.json["meshes"][0]["primitives"][0]["attributes"][name])
    }

    fn put(mut self, at: usize, values: &[f32]) -> Self {
        for (k, value) in values.iter().enumerate() {
            self.numbers[at + 4 * k..at + 4 * k + 4].copy_from_slice(&value.to_le_bytes());
        }
        self
    }

    fn bytes(&self) -> Vec<u8> {
        let mut text = serde_json::to_vec(&self.json).unwrap();
        text.resize(text.len().next_multiple_of(4), b' ');
        let length = 28 + text.len() + self.numbers.len();
        let mut bytes = b"glTF\x02\0\0\0".to_vec();
        bytes.extend((length as u32).to_le_bytes());
        bytes.extend((text.len() as u32).to_le_bytes());
        bytes.extend(b"JSON");
        bytes.extend(text);
        bytes.extend((self.numbers.len() as u32).to_le_bytes());
        bytes.extend(b"BIN\0");
        bytes.extend(&self.numbers);
        bytes
    }
}

fn with_body(motion: &str) -> String {
    format!(
        "{SHEET}[[obstacle]]\nname = \"man\"\nshape = {{ kind = \"file\", file = \"man.glb\" }}\nmotion = [{motion}]\n"
    )
}

#[test]
fn damaged_characters_are_refused_and_odd_ones_told() {
    let folder = tempfile::tempdir().unwrap();
    let put = |bytes: &[u8]| fs::write(folder.path().join("man.glb"), bytes).unwrap();
    let walk = with_body("{ kind = \"animated\", repeat = true }");
    let refused = |bytes: &[u8], expected: &[&str]| {
        put(bytes);
        refused(folder.path(), &walk, &[expected, &["man.glb"]].concat());
    };
    let whole = Man::new().bytes();
    refused(&whole[..whole.len() / 2], &["ends after", "truncated"]);
    refused(b"", &["empty"]);
    refused(b"a person", &["letters glTF"]);

    let mut man = Man::new();
    let own = &mut man.json["meshes"][0]["primitives"][0]["attributes"];
    own.as_object_mut()
        .unwrap()
        .retain(|name, _| name != "WEIGHTS_0" && name != "JOINTS_0");
    refused(
        &man.bytes(),
        &["skin but no weights", "weight it in the program"],
    );

    let man = Man::new();
    let (weights, joints) = (man.attribute("WEIGHTS_0"), man.attribute("JOINTS_0"));
    let negative = man.put(weights, &[-0.5, 1.5, 0.0, 0.0]);
    refused(&negative.bytes(), &["vertex 0", "-0.5", "normalise"]);
    let mut man = Man::new();
    man.numbers[joints..joints + 2].copy_from_slice(&99u16.to_le_bytes());
    refused(
        &man.bytes(),
        &["joint 99", "has 19", "export the file anew"],
    );
    let man = Man::new();
    let positions = man.attribute("POSITION");
    let nan = man.put(positions + 4, &[f32::NAN]);
    refused(
        &nan.bytes(),
        &["positions of 'Cesium_Man'", "not finite", "repair"],
    );

    let mut man = Man::new();
    let samplers = man.json["animations"][0]["samplers"]
        .as_array()
        .unwrap()
        .clone();
    for (k, sampler) in samplers.iter().enumerate() {
        for side in ["input", "output"] {
            let mut one = man.json["accessors"][sampler[side].as_u64().unwrap() as usize].clone();
            one["count"] = 1.into();
            let accessors = man.json["accessors"].as_array_mut().unwrap();
            accessors.push(one);
            let number = accessors.len() - 1;
            man.json["animations"][0]["samplers"][k][side] = number.into();
        }
    }
    refused(&man.bytes(), &["one moment long", "leave the motion out"]);

    let mut man = Man::new();
    let roots = man.json["scenes"][0]["nodes"].clone();
    let nodes = man.json["nodes"].as_array_mut().unwrap();
    nodes.push(json!({ "scale": [100, 100, 100], "children": roots }));
    let number = nodes.len() - 1;
    man.json["scenes"][0]["nodes"] = json!([number]);
    refused(
        &man.bytes(),
        &["150.655 m tall: centimetres?", "`scale = 0.01`"],
    );

    put(&Man::new().put(weights, &[0.5, 0.0, 0.0, 0.0]).bytes());
    told(
        folder.path(),
        &walk,
        "1 vertices whose weights do not sum to 1",
    );
    put(&whole);
    let once = with_body("{ kind = \"animated\", speed = 1000.0 }");
    told(folder.path(), &once, "stands still from 0.002 s on");
}

#[test]
fn sequences_that_do_not_fit_their_shape_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let corners = |k: u32, scale: f64| {
        let x = scale * 0.01 * f64::from(k);
        let [w, h, d] = [0.2, 0.9, 0.1].map(|c| scale * c);
        let at = |x: f64, y: f64, z: f64| format!("v {x} {y} {z}\n");
        at(x, 0.0, 0.0) + &at(x + w, 0.0, 0.0) + &at(x, h, 0.0) + &at(x, 0.0, d)
    };
    let faces = "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    let put = |name: &str, text: String| fs::write(folder.path().join(name), text).unwrap();
    for k in 0..3 {
        put(&format!("b_{k}.obj"), corners(k, 1.0) + faces);
        put(&format!("cm_{k}.obj"), corners(k, 100.0) + faces);
        let turned = if k == 2 {
            faces.replace("f 1 3 2", "f 1 2 3")
        } else {
            faces.into()
        };
        put(&format!("other_{k}.obj"), corners(k, 1.0) + &turned);
        let more = if k == 1 { "v 0 0 0\n" } else { "" };
        put(&format!("more_{k}.obj"), corners(k, 1.0) + more + faces);
    }
    let scene = |file: &str| {
        format!(
            "{SHEET}[[obstacle]]\nname = \"b\"\nshape = {{ kind = \"file\", file = \"b_0.obj\" }}\nmotion = [{{ kind = \"sequence\", file = \"{file}\" }}]\n"
        )
    };
    let refused = |file: &str, expected: &[&str]| refused(folder.path(), &scene(file), expected);
    refused(
        "cm_*.obj",
        &[
            "cm_*.obj",
            "100.000 times as large",
            "`scale = 0.01` in the motion",
        ],
    );
    refused("other_*.obj", &["other_2.obj", "face 0", "same mesh"]);
    refused("more_*.obj", &["more_1.obj", "5 vertices", "has 4"]);
    refused("b_0.obj", &["one sample", "`*`"]);
    refused("c_*.obj", &["no file matches"]);
    let (code, said, _) = run(folder.path(), &scene("b_*.obj"));
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn garments_whose_files_do_not_hold_what_the_scene_wants_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    let quad = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n";
    put("no-uv.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    put("half.obj", &format!("{quad}f 1/1 2/2 3/3\nf 1 3 4\n"));
    put("beyond.obj", &format!("{quad}f 1/1 2/2 3/9\n"));
    put("flat.obj", &format!("{quad}f 1/1 2/1 3/1 4/1\n"));
    let scene = |file: &str, more: &str| {
        format!(
            "frames = 1\n[[cloth]]\nname = \"a\"\nshape = {{ kind = \"file\", file = \"{file}\" }}\n{more}\n"
        )
    };
    let uv = "rest = { kind = \"uv\" }";
    let refused = |file: &str, more: &str, expected: &[&str]| {
        let text = scene(file, more);
        // what a group or a pattern lacks names the key; a file that cannot be read names itself
        let file = if more == uv { file } else { "scene.toml" };
        refused(folder.path(), &text, &[expected, &[file]].concat());
    };
    refused(
        "no-uv.obj",
        uv,
        &["cloth.0.rest", "no texture coordinates", "`vt`"],
    );
    refused("half.obj", uv, &["face 1 has no texture coordinates"]);
    refused(
        "beyond.obj",
        uv,
        &["beyond.obj:9", "texture coordinate 9", "there are 4"],
    );
    refused("flat.obj", uv, &["no area in the texture coordinates"]);

    let group = "pin = [{ region = { kind = \"group\", name = \"waist\" } }]";
    refused(
        "no-uv.obj",
        group,
        &["cloth.0.pin.0.region", "only mesh files have groups"],
    );
    put(
        "named.obj",
        "mtllib gone.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\ng hem\nusemtl silk\nf 1 2 3\n",
    );
    refused(
        "named.obj",
        group,
        &["no group, object or material 'waist'", "hem, silk"],
    );
    told(folder.path(), &scene("named.obj", ""), "gone.mtl");
}

#[test]
fn damaged_patterns_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let text =
        fs::read_to_string(format!("{DATA}garmentcode/shirt_mean_specification.json")).unwrap();
    let whole: Value = serde_json::from_str(&text).unwrap();
    let scene = "frames = 1\nthickness = 1e-3\n[[cloth]]\nname = \"shirt\"\nshape = { kind = \"pattern\", file = \"shirt.json\" }\n";
    let refused = |text: &str, expected: &[&str]| {
        fs::write(folder.path().join("shirt.json"), text).unwrap();
        refused(folder.path(), scene, &[expected, &["shirt.json"]].concat());
    };
    let changed = |change: &dyn Fn(&mut Value), expected: &[&str]| {
        let mut json = whole.clone();
        change(&mut json);
        refused(&json.to_string(), expected);
    };
    refused(&text[..2000], &["cut off", "again"]);
    let panel = "left_btorso";
    changed(
        &|json| {
            let edges = &mut json["pattern"]["panels"][panel]["edges"];
            edges.as_array_mut().unwrap().remove(1);
        },
        &["panel 'left_btorso'", "an edge is missing"],
    );
    changed(
        &|json| json["pattern"]["panels"][panel]["edges"][0]["endpoints"][0] = 99.into(),
        &["edge 0 ends at vertex 99", "there are 7"],
    );
    changed(
        &|json| json["pattern"]["stitches"][0][0]["edge"] = 77.into(),
        &["stitch 0", "no edge 77", "it has 4"],
    );
    changed(
        &|json| json["pattern"]["stitches"][0][0]["panel"] = "hat".into(),
        &["stitch 0: no panel 'hat'", "left_btorso"],
    );
    changed(
        &|json| {
            let vertex = &mut json["pattern"]["panels"][panel]["vertices"][1];
            vertex[0] = json!(vertex[0].as_f64().unwrap() + 300.0);
        },
        &["stitch 17", "302.7 cm", "`gather = 7.5`"],
    );
    changed(
        &|json| json["properties"]["units_in_meter"] = 1.into(),
        &["`units_in_meter` = 1", "100 for centimetres"],
    );
}
