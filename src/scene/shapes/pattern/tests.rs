use std::collections::BTreeMap;

use serde_json::Value;

use super::*;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/garmentcode/");

fn text(name: &str) -> String {
    fs::read_to_string(format!("{FOLDER}{name}_specification.json")).unwrap()
}

fn pattern(edge: f64) -> Pattern {
    Pattern {
        file: "a.json".into(),
        edge,
        gather: 2.0,
        sha256: String::new(),
    }
}

fn changed(name: &str, change: impl Fn(&mut Value)) -> Result<Triangles, String> {
    let mut json: Value = serde_json::from_str(&text(name)).unwrap();
    change(&mut json);
    let strict = Pattern {
        gather: 1.25,
        ..pattern(0.02)
    };
    strict.sewn(&Spec::read(&json.to_string())?)
}

/// The area of a panel by Green's theorem over its curves, by another way than the cutting: Gauss-Legendre of each Bézier curve.
fn area(panel: &Panel) -> f64 {
    let nodes = [
        (-0.6f64.sqrt(), 5.0 / 9.0),
        (0.0, 8.0 / 9.0),
        (0.6f64.sqrt(), 5.0 / 9.0),
    ];
    let point = |p: &[DVec2], t: f64| -> (DVec2, DVec2) {
        let u = 1.0 - t;
        match *p {
            [a, b] => (u * a + t * b, b - a),
            [a, b, c] => (
                u * u * a + 2.0 * u * t * b + t * t * c,
                2.0 * (u * (b - a) + t * (c - b)),
            ),
            [a, b, c, d] => (
                u * u * u * a + 3.0 * u * u * t * b + 3.0 * u * t * t * c + t * t * t * d,
                3.0 * (u * u * (b - a) + 2.0 * u * t * (c - b) + t * t * (d - c)),
            ),
            _ => unreachable!("two to four points"),
        }
    };
    let edges = panel.edges.iter().map(|edge| {
        let parts = nodes.map(|(s, w)| {
            let (p, d) = point(&edge.points, 0.5 + 0.5 * s);
            0.5 * w * 0.5 * p.perp_dot(d)
        });
        parts.iter().sum::<f64>()
    });
    edges.sum::<f64>().abs()
}

#[test]
fn panels_are_cut_to_their_area_into_triangles_of_one_size_and_face_one_way() {
    for name in ["shirt_mean", "dress_pencil"] {
        let spec = Spec::read(&text(name)).unwrap();
        for edge in [0.03, 0.015] {
            let parts = pattern(edge).parts(&spec).unwrap();
            for (panel, parts) in spec.panels.iter().zip(&parts) {
                let mut cloth = Cloth::default();
                cloth.add(panel, parts, spec.unit, edge).unwrap();
                let corner = |v: u32| cloth.flat[v as usize];
                let areas: Vec<f64> = (cloth.faces.iter())
                    .map(|&[a, b, c]| 0.5 * (corner(b) - corner(a)).perp_dot(corner(c) - corner(a)))
                    .collect();
                assert!(areas.iter().all(|&a| a > 0.0), "{name} {}", panel.name);
                // chords of curves cut a little off, or add it
                let wanted = spec.unit * spec.unit * area(panel);
                let found: f64 = areas.iter().sum();
                assert!(
                    (found / wanted - 1.0).abs() < 0.01,
                    "{name} {}: {found} {wanted}",
                    panel.name
                );
                // a disc: V - E + F = 1, with every side used by one face or two, opposite ways
                let mut sides: BTreeMap<[u32; 2], i32> = BTreeMap::new();
                for f in &cloth.faces {
                    for [a, b] in [[f[0], f[1]], [f[1], f[2]], [f[2], f[0]]] {
                        *sides.entry([a.min(b), a.max(b)]).or_default() += 1;
                    }
                }
                assert!(sides.values().all(|&n| n <= 2));
                let euler = cloth.x.len() as i64 - sides.len() as i64 + cloth.faces.len() as i64;
                assert_eq!(euler, 1, "{name} {}", panel.name);
                // no triangle is flat: its height is a share of the edge
                let longest = |&[a, b, c]: &[u32; 3]| {
                    corner(a)
                        .distance(corner(b))
                        .max(corner(b).distance(corner(c)))
                        .max(corner(c).distance(corner(a)))
                };
                let worst = cloth
                    .faces
                    .iter()
                    .zip(&areas)
                    .map(|(f, a)| 2.0 * a / longest(f))
                    .fold(f64::MAX, f64::min);
                assert!(
                    worst > 0.03 * edge,
                    "{name} {}: {}",
                    panel.name,
                    worst / edge
                );
            }
        }
    }
}

#[test]
fn every_stitch_is_sewn_along_its_whole_length_and_halves_that_touch_are_one() {
    for (name, pieces) in [("shirt_mean", 6), ("dress_pencil", 4)] {
        let spec = Spec::read(&text(name)).unwrap();
        let garment = pattern(0.02).sewn(&spec).unwrap();
        // the halves of front and back lie on one another where they meet
        let mut parent: Vec<u32> = (0..garment.x.len() as u32).collect();
        for f in &garment.faces {
            join(&mut parent, f[0], f[1]);
            join(&mut parent, f[1], f[2]);
        }
        let mut roots: Vec<u32> = (0..parent.len() as u32)
            .map(|v| root(&mut parent.clone(), v))
            .collect();
        roots.sort_unstable();
        roots.dedup();
        assert_eq!(roots.len(), pieces, "{name}");
        // sewn, it hangs together
        for stitch in &garment.stitches {
            join(&mut parent, stitch[0].0[0], stitch[1].0[0]);
        }
        let one = root(&mut parent, 0);
        assert!(
            (0..parent.len() as u32).all(|v| root(&mut parent.clone(), v) == one),
            "{name}"
        );
        // as placed, paper and cloth are the same
        for (face, paper) in garment.faces.iter().zip(&garment.material) {
            for k in 0..3 {
                let there =
                    garment.x[face[k] as usize].distance(garment.x[face[(k + 1) % 3] as usize]);
                assert!((there - paper[k].distance(paper[(k + 1) % 3])).abs() < 1e-12);
            }
        }
    }
}

#[test]
fn what_is_wrong_with_a_pattern_is_named() {
    let wrong = |change: &dyn Fn(&mut Value)| changed("shirt_mean", change).unwrap_err();
    let message = wrong(&|json| {
        json["pattern"]["panels"]["left_btorso"]["edges"]
            .as_array_mut()
            .unwrap()
            .remove(2);
    });
    assert!(
        message.contains("panel 'left_btorso'") && message.contains("an edge is missing"),
        "{message}"
    );
    let message = wrong(&|json| json["pattern"]["stitches"][3][1]["edge"] = 17.into());
    assert!(
        message.contains("stitch 3: 'left_ftorso' has no edge 17"),
        "{message}"
    );
    let message = wrong(&|json| json["pattern"]["stitches"][3][1]["panel"] = "hood".into());
    assert!(message.contains("stitch 3: no panel 'hood'"), "{message}");
    let message = wrong(&|json| json["pattern"]["stitches"][0][1]["edge"] = 1.into());
    assert!(
        message.contains("stitch 0") && message.contains("gather ="),
        "{message}"
    );
    let message = wrong(&|json| {
        json["pattern"]["panels"]["left_btorso"]["edges"][1]["curvature"]["type"] = "circle".into();
    });
    assert!(
        message.contains("'left_btorso', edge 1") && message.contains("quadratic or cubic"),
        "{message}"
    );
    let message = wrong(&|json| {
        json["pattern"]["panels"]["left_btorso"]["vertices"][1] = serde_json::json!([60.0, -10.0]);
    });
    assert!(
        message.contains("crosses itself") || message.contains("stitch"),
        "{message}"
    );
    assert!(
        Spec::read("{}")
            .unwrap_err()
            .contains("not a GarmentCode specification")
    );
}
