use std::fs;

use super::*;
use crate::skeleton::Playing;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/cesium-man/");

fn man() -> Vec<u8> {
    fs::read(format!("{FOLDER}CesiumMan.glb")).unwrap()
}

/// The JSON of a binary file and what follows it.
fn parts(bytes: &[u8]) -> (serde_json::Value, Vec<u8>) {
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let json = serde_json::from_slice(&bytes[20..20 + length]).unwrap();
    (json, bytes[20 + length..].to_vec())
}

fn whole(json: &serde_json::Value, rest: &[u8]) -> Vec<u8> {
    let mut text = serde_json::to_vec(json).unwrap();
    while !text.len().is_multiple_of(4) {
        text.push(b' ');
    }
    let mut bytes = b"glTF\x02\0\0\0".to_vec();
    bytes.extend(((20 + text.len() + rest.len()) as u32).to_le_bytes());
    bytes.extend((text.len() as u32).to_le_bytes());
    bytes.extend(b"JSON");
    bytes.extend(text);
    bytes.extend(rest);
    bytes
}

fn refused(change: impl Fn(&mut serde_json::Value)) -> String {
    let (mut json, rest) = parts(&man());
    change(&mut json);
    let error = read(Path::new("man.glb"), &whole(&json, &rest), None).unwrap_err();
    error.to_string()
}

#[test]
fn a_walking_person_is_where_another_program_has_him() {
    let man = read(Path::new("man.glb"), &man(), None).unwrap();
    assert_eq!(man.skinned.clips.len(), 1);
    let text = fs::read_to_string(format!("{FOLDER}positions.txt")).unwrap();
    let mut count = 0;
    let mut shown: (String, Vec<DVec3>) = Default::default();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split(' ');
        let time = words.next().unwrap();
        let p: Vec<f64> = words.map(|word| word.parse().unwrap()).collect();
        if shown.0 != time {
            let x = match time.parse::<f64>() {
                Err(_) => man.skinned.at_rest(),
                Ok(time) => {
                    let playing = Playing {
                        clip: 0,
                        start: man.skinned.clips[0].begin,
                        blend: 0.0,
                        speed: 1.0,
                        repeat: false,
                    };
                    man.skinned.at(&playing, time)
                }
            };
            shown = (time.into(), x);
        }
        let p = DVec3::from_slice(&p);
        let nearest = shown
            .1
            .iter()
            .map(|x| x.distance(p))
            .fold(f64::MAX, f64::min);
        assert!(
            nearest < 1e-8,
            "{time}: {p} is {nearest} from the nearest vertex"
        );
        count += 1;
    }
    assert_eq!(count, 5 * 55);
}

#[test]
fn split_vertices_are_one_again_and_a_walk_closes_over_the_time_of_a_key() {
    let man = read(Path::new("man.glb"), &man(), None).unwrap();
    // 3,273 in the file; every two that remain differ in place or in weights
    assert!(man.skinned.vertex_count() < 3273);
    assert_eq!(man.skinned.at_rest(), man.mesh.positions);
    let mut places: Vec<_> = (0..man.skinned.vertex_count())
        .map(|v| {
            let own = man.skinned.first[v] as usize..man.skinned.first[v + 1] as usize;
            (
                man.skinned.places[v].to_array().map(f64::to_bits),
                format!("{:?}", &man.skinned.influences[own]),
            )
        })
        .collect();
    let count = places.len();
    places.sort();
    places.dedup();
    assert_eq!(places.len(), count);
    for face in &man.mesh.faces {
        assert!(face[0] != face[1] && face[1] != face[2] && face[2] != face[0]);
    }
    let clip = &man.skinned.clips[0];
    assert!((clip.closing - 1.0 / 24.0).abs() < 1e-6, "{}", clip.closing);
    let playing = Playing {
        clip: 0,
        start: 0.0,
        blend: 0.0,
        speed: 1.0,
        repeat: true,
    };
    // no vertex is faster where the walk begins anew than its fastest elsewhere
    let step = 1.0 / 240.0;
    let x: Vec<_> = (0..=480)
        .map(|k| man.skinned.at(&playing, f64::from(k) * step))
        .collect();
    let far = |k: usize| {
        x[k].iter()
            .zip(&x[k + 1])
            .map(|(a, b)| a.distance(*b))
            .fold(0.0, f64::max)
    };
    let fastest = (0..465).map(far).fold(0.0, f64::max);
    for k in 465..480 {
        assert!(far(k) < 1.5 * fastest, "{k}: {} {fastest}", far(k));
    }
}

#[test]
fn what_cannot_be_a_body_is_refused_by_name() {
    let message = refused(|json| {
        let primitive = json["meshes"][0]["primitives"][0]["attributes"]
            .as_object_mut()
            .unwrap();
        primitive.remove("WEIGHTS_0");
        primitive.remove("JOINTS_0");
    });
    assert!(
        message.contains("'Cesium_Man' has a skin but no weights"),
        "{message}"
    );
    let message = refused(|json| json["accessors"][3]["count"] = 999_999.into());
    assert!(
        message.contains("positions of 'Cesium_Man' reach beyond the end"),
        "{message}"
    );
    let message = refused(|json| json["buffers"][0]["uri"] = "man.bin".into());
    assert!(
        message.contains("'man.bin'") && message.contains(".glb"),
        "{message}"
    );
    let message = refused(|json| json["nodes"][3]["children"] = serde_json::json!([1]));
    assert!(
        message.contains("parent") || message.contains("ancestor"),
        "{message}"
    );
    let message = refused(|json| {
        json["extensionsRequired"] = serde_json::json!(["KHR_draco_mesh_compression"]);
    });
    assert!(message.contains("without compression"), "{message}");
    for cut in [0, 3, 11, 20, 1000, 200_000] {
        let error = read(Path::new("man.glb"), &man()[..cut], None);
        assert!(error.is_err(), "{cut}");
    }
    let error = read(Path::new("man.glb"), &man(), Some("Hat"))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("no part 'Hat'") && error.contains("Cesium_Man"),
        "{error}"
    );
}
