//! Broken scene files, each with the message that a person would want: where, what, and what instead.

use std::path::{Path, PathBuf};

use percale::scene::{Scene, Variant};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/broken")
}

/// File, where (line or nothing), and what else the message says.
const EXPECTED: &[(&str, &str, &[&str])] = &[
    (
        "unknown-key",
        ":2:",
        &["unknown key `frictoin`", "did you mean `friction`?"],
    ),
    (
        "unknown-key-of-a-cloth",
        ":5:",
        &["cloth.0.fabrik:", "`fabrik`", "did you mean `fabric`?"],
    ),
    ("missing-frames", ":1:", &["missing key `frames`"]),
    (
        "missing-cells",
        ":4:",
        &["cloth.0.shape", "missing key `cells`", "along x and z"],
    ),
    (
        "unknown-shape",
        ":4:",
        &["`sheat`", "did you mean `sheet`?", "`funnel`"],
    ),
    (
        "unknown-shape-key",
        ":4:",
        &["`cels`", "did you mean `cells`?"],
    ),
    (
        "wrong-type",
        ":1:",
        &["frames", "the text \"two\"", "a whole number of at least 0"],
    ),
    (
        "negative-count",
        ":4:",
        &[
            "cloth.0.shape.cells.1",
            "-4",
            "a whole number of at least 0",
        ],
    ),
    (
        "too-few-numbers",
        ":4:",
        &["cloth.0.shape.size", "a list of 1", "a list of 2 numbers"],
    ),
    ("not-toml", ":3:", &["must be quoted"]),
    ("no-cloth", ":1:", &["at least one [[cloth]]"]),
    (
        "name-twice",
        ":6:",
        &["obstacle.0.name", "'cloth' is used twice"],
    ),
    (
        "name-with-slash",
        ":3:",
        &["'a/b' names files", "letters, digits"],
    ),
    (
        "zero-size",
        ":4:",
        &[
            "cloth.0.shape.size",
            "0 must be a positive length, in metres",
        ],
    ),
    (
        "negative-friction",
        ":2:",
        &["friction: -0.1 must be at least 0"],
    ),
    ("not-finite", ":5:", &["cloth.0.position", "finite"]),
    (
        "unknown-stage",
        ":6:",
        &["`rigid_zone`", "did you mean `rigid_zones`?"],
    ),
    (
        "unknown-surface",
        ":7:",
        &["no object has the surface 'slik'; did you mean 'silk'?"],
    ),
    (
        "keys-not-in-order",
        ":9:",
        &["keys.1.time: 0.5 is not after 1"],
    ),
    ("no-axis", ":11:", &["motion.0.axis", "e.g. [0, 1, 0]"]),
    (
        "pin-outside",
        ":6:",
        &[
            "no vertex lies in the box",
            "[-0.5, 0, -0.5] to [0.5, 0, 0.5]",
        ],
    ),
    (
        "unknown-direction",
        ":6:",
        &["cloth.0.pin.0.region.towards", "`left`", "`-x`"],
    ),
    (
        "missing-file",
        ":7:",
        &["obstacle.0.shape.file", "no-such-body.obj", "No such file"],
    ),
    (
        "file-of-something-else",
        ":7:",
        &["unknown-key.toml", "Percale reads .obj"],
    ),
    (
        "tangled",
        "",
        &[
            "32 crossing face pairs",
            "'cloth'",
            "'other'",
            "move the objects apart",
        ],
    ),
    (
        "camera-word",
        ":2:",
        &["`auto`", "`position`", "unknown name `front`"],
    ),
    (
        "camera-angle",
        ":7:",
        &["camera.fov", "200", "between 1 and 170"],
    ),
    (
        "small-without-quotes",
        ":6:",
        &["write the whole key in quotes", "\"cloth.0"],
    ),
    (
        "shape-without-kind",
        ":4:",
        &["cloth.0.shape: missing key `kind`", "`sheet`, `tube`"],
    ),
    (
        "shape-as-word",
        ":4:",
        &[
            "cloth.0.shape: expected a table such as { kind = \"sheet\", size = ..., cells = ... }",
            "the text \"sheet\"",
        ],
    ),
    (
        "kind-as-number",
        ":4:",
        &["cloth.0.shape.kind: expected one of `sheet`", "it is 3"],
    ),
    (
        "response-as-words",
        ":2:",
        &["response.0: expected a table such as { kind = \"impulses\" }"],
    ),
    (
        "region-as-word",
        ":5:",
        &["cloth.0.pin.0.region: expected a table such as { kind = \"edge\", towards = ... }"],
    ),
    (
        "integrator-as-word",
        ":2:",
        &["dynamics.integrator: expected a table such as { kind = \"newmark\" }"],
    ),
    (
        "table-as-number",
        ":2:",
        &[
            "time: expected a table with keys among",
            "`max_loops`",
            "it is 3",
        ],
    ),
    (
        "soft-as-truth",
        ":8:",
        &["obstacle.0.soft: expected a table", "`lag`", "it is true"],
    ),
    (
        "too-many-numbers",
        ":4:",
        &[
            "cloth.0.position: expected a list of 3 numbers",
            "a list of 4",
        ],
    ),
    (
        "too-many-names",
        ":3:",
        &[
            "surface_pair.0.surfaces: expected a list of 2 texts",
            "a list of 3",
        ],
    ),
    (
        "cloth-in-single-brackets",
        ":2:",
        &["write [[cloth]] in double brackets"],
    ),
    (
        "time-in-double-brackets",
        ":5:",
        &["write [time] in single brackets"],
    ),
    (
        "key-after-a-table",
        ":4:",
        &["cloth.0.frames", "before the first line in brackets"],
    ),
    (
        "motion-without-list",
        ":8:",
        &["obstacle.0.motion", "put it into a list"],
    ),
    (
        "unknown-motion",
        ":8:",
        &["obstacle.0.motion.0.kind", "did you mean `rotating`?"],
    ),
    (
        "unknown-region",
        ":5:",
        &["cloth.0.pin.0.region.kind", "did you mean `edge`?"],
    ),
    (
        "unknown-fabric",
        ":4:",
        &["cloth.0.fabric", "did you mean `cotton`?", "`denim`"],
    ),
    (
        "unknown-fabric-in-a-table",
        ":4:",
        &["fabric", "did you mean 'denim'?"],
    ),
    ("no-value", ":1:", &["frames: there is no value after `=`"]),
    (
        "key-twice",
        ":2:",
        &["frames: this key is in an earlier line already"],
    ),
    (
        "removed-key",
        ":2:",
        &[
            "response.0.sweeps: `sweeps` no longer exists",
            "`form = \"notes\"`",
        ],
    ),
    (
        "removed-integrator",
        ":2:",
        &[
            "dynamics.integrator.kind: `implicit_euler` no longer exists",
            "`kind = \"implicit\"`",
        ],
    ),
    (
        "removed-shape",
        ":7:",
        &[
            "obstacle.0.shape.kind: `incline` no longer exists",
            "`rotation = [0, 0, -angle]`",
        ],
    ),
    (
        "small-with-a-wrong-name",
        "",
        &["[small]", "cloth.0.fabric", "did you mean `silk`?"],
    ),
];

/// Words of the parser that say nothing to somebody who writes a scene.
const JARGON: [&str; 7] = [
    "enum",
    "tagged",
    "struct",
    "variant",
    "identifier",
    "u32",
    "f64",
];

#[test]
fn every_broken_scene_is_refused_with_place_cause_and_remedy() {
    let files = std::fs::read_dir(folder()).unwrap().count();
    assert_eq!(
        files,
        EXPECTED.len(),
        "every file is expected to fail in its way"
    );
    for (name, line, words) in EXPECTED {
        let path = folder().join(format!("{name}.toml"));
        let origin = path.to_str().unwrap();
        let variant = if name.starts_with("small") {
            Variant::Small
        } else {
            Variant::Full
        };
        let built = Scene::load_variant(origin, variant).and_then(|scene| scene.build());
        let error = built
            .err()
            .unwrap_or_else(|| panic!("{name} is not broken"));
        let message = error.in_scene(origin).to_string();
        if !line.is_empty() {
            assert!(
                message.starts_with(&format!("{origin}{line}")),
                "{name}: {message}"
            );
        }
        for word in *words {
            assert!(message.contains(word), "{name}: {message}");
        }
        assert!(!message.contains('\n'), "{name}: one line: {message}");
        let mut words = message.split(|c: char| !c.is_alphanumeric());
        let jargon = words.find(|word| JARGON.contains(word));
        assert_eq!(jargon, None, "{name}: {message}");
    }
}
