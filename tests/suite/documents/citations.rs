//! Citations exist, and documents say what is true.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use percale::error::{Pinch, PinchContact, Scripted};
use percale::record::{Stopped, Summary};
use percale::response::Account;
use percale::step::Figures;
use serde_json::Value;

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Keys like `[BFA02]`: two to five capitals and two digits.
fn keys(text: &str) -> Vec<&str> {
    text.split('[')
        .skip(1)
        .filter_map(|after| {
            after
                .split_once(']')
                .map(|(key, _)| key.trim_end_matches('\\'))
        })
        .filter(|key| {
            let letters = key.trim_end_matches(|c: char| c.is_ascii_digit());
            key.len() == letters.len() + 2
                && (2..=5).contains(&letters.len())
                && letters.chars().all(|c| c.is_ascii_uppercase())
        })
        .collect()
}

#[test]
fn every_cited_key_is_in_the_bibliography() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let bibliography = fs::read_to_string(root.join("docs/references.md")).unwrap();
    let known = keys(&bibliography);
    assert!(
        known.contains(&"BFA02"),
        "the bibliography is where this test looks for it"
    );
    let mut files = Vec::new();
    sources(&root.join("src"), &mut files);
    for file in files {
        for key in keys(&fs::read_to_string(&file).unwrap()) {
            assert!(
                known.contains(&key),
                "{}: [{key}] is not in docs/references.md",
                file.display()
            );
        }
    }
}

/// Keys of a JSON object, dotted; names of stages become NAME, reasons REASON, lists of objects are entered.
fn json_keys(value: &Value, at: &str, found: &mut BTreeSet<String>) {
    let inside = |name: &str| match at {
        "" => name.to_string(),
        _ => format!("{at}.{name}"),
    };
    match value {
        Value::Object(table) => {
            let stands_for = match at {
                "rounds" | "failsafes" | "stages" => Some("NAME"),
                "refused" => Some("REASON"),
                _ => None,
            };
            for (name, value) in table {
                json_keys(value, &inside(stands_for.unwrap_or(name)), found);
            }
        }
        Value::Array(list) if list.first().is_some_and(Value::is_object) => {
            json_keys(&list[0], at, found);
        }
        _ => {
            found.insert(at.to_string());
        }
    }
}

/// The words in backticks of the first column of the table that begins with `head`.
fn table_keys(document: &str, head: &str) -> BTreeSet<String> {
    let rows = document.lines().skip_while(|line| !line.starts_with(head));
    let rows = rows.skip(2).take_while(|line| line.starts_with('|'));
    let first = rows.filter_map(|row| row.split('|').nth(1));
    first
        .flat_map(|cell| cell.split('`').skip(1).step_by(2))
        .map(String::from)
        .collect()
}

#[test]
fn every_field_of_a_report_is_documented_and_nothing_else() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let document = fs::read_to_string(root.join("docs/formats.md")).unwrap();
    let pinch = Pinch {
        frame: 1,
        time: 0.0,
        objects: vec![Scripted {
            name: "ball".into(),
            pinned: false,
        }],
        cloths: Vec::new(),
        overlap: 0.0,
        reach: Some(0.0),
        contacts: vec![PinchContact {
            vertices: [0; 4],
            weights: [0.0; 4],
            normal: [0.0; 3],
            multiplier: 1.0,
        }],
    };
    let stages: BTreeMap<String, Account> = [("impulses".into(), Account::default())].into();
    let counts: BTreeMap<String, usize> = [("impulses".into(), 1)].into();
    let figures = Figures {
        stages,
        refused: counts.clone(),
        rounds: counts.clone(),
        failsafes: counts,
        ..Figures::default()
    };
    let summary = Summary {
        figures: figures.clone(),
        stopped: Some(Stopped {
            frame: 1,
            message: String::new(),
            pinch: Some(pinch),
        }),
        ..Summary::default()
    };
    for (head, value) in [
        ("| totals |", serde_json::to_value(summary).unwrap()),
        (
            "| each of `frame_reports` |",
            serde_json::to_value(figures).unwrap(),
        ),
    ] {
        let mut written = BTreeSet::new();
        json_keys(&value, "", &mut written);
        let documented = table_keys(&document, head);
        let missing: Vec<_> = written.difference(&documented).collect();
        let stale: Vec<_> = documented.difference(&written).collect();
        assert!(
            missing.is_empty() && stale.is_empty(),
            "docs/formats.md, table {head}: missing {missing:?}, stale {stale:?}"
        );
    }
}

/// The sentence about dependencies in ARCHITECTURE.md, where it says who must not know whom.
#[test]
fn modules_do_not_name_those_above_them() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let above: [(&str, &[&str]); 7] = [
        ("io", &["step", "scene", "record", "render"]),
        ("response", &["dynamics", "step", "scene", "record"]),
        ("dynamics", &["response", "step", "scene", "record"]),
        ("verify", &["response", "dynamics", "step", "scene"]),
        ("step", &["scene", "io", "record", "render"]),
        ("scene", &["record", "render"]),
        ("render", &["step", "scene", "io", "record"]),
    ];
    for (module, forbidden) in above {
        let mut files = Vec::new();
        sources(&src.join(module), &mut files);
        assert!(!files.is_empty(), "src/{module}");
        for file in files {
            let text = fs::read_to_string(&file).unwrap();
            for name in forbidden {
                assert!(
                    !text.contains(&format!("crate::{name}")),
                    "{} names crate::{name}",
                    file.display()
                );
            }
        }
    }
}
