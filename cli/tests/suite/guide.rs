//! The guide is true: its commands run, and its table of scene keys is that of the schema.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::percale;

fn guide() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/guide")
}

/// A fenced block: what stands behind its fence, and its text.
fn blocks(text: &str) -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(String, String)> = None;
    for line in text.lines() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(head), None) => open = Some((head.trim().into(), String::new())),
            (None, Some((_, text))) => *text += &format!("{line}\n"),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block that is not closed");
    blocks
}

/// The words of a command; quotes hold words together.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_quoted = false;
    for letter in line.chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            ' ' if !is_quoted => words.push(String::new()),
            _ => words.last_mut().unwrap().push(letter),
        }
    }
    words
}

/// Runs all commands of a page in a new folder, which has the files that the page shows; how many there were.
fn run_page(page: &str) -> usize {
    let text = fs::read_to_string(guide().join(page)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut count = 0;
    for (head, text) in blocks(&text) {
        if let Some((_, file)) = head.split_once("file=") {
            fs::write(folder.path().join(file), &text).unwrap();
        }
        if head == "copy" {
            for path in text.lines().map(|path| guide().join("../..").join(path)) {
                fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
            }
        }
        if !head.starts_with("sh") {
            continue;
        }
        let code = head
            .split_once("exit=")
            .map_or(0, |(_, code)| code.parse().unwrap());
        for line in text.lines() {
            let words = words(line);
            assert_eq!(words[0], "percale", "{page}: {line}");
            let arguments: Vec<&str> = words[1..].iter().map(String::as_str).collect();
            let done = percale(&arguments)
                .current_dir(folder.path())
                .output()
                .unwrap();
            let error = String::from_utf8_lossy(&done.stderr);
            assert_eq!(done.status.code(), Some(code), "{page}: {line}: {error}");
            count += 1;
        }
    }
    count
}

#[test]
fn every_command_of_the_guide_does_what_it_says() {
    let mut count = 0;
    let mut pages: Vec<PathBuf> = (fs::read_dir(guide()).unwrap())
        .map(|entry| entry.unwrap().path())
        .collect();
    pages.sort();
    let index = fs::read_to_string(guide().join("README.md")).unwrap();
    for page in pages {
        let name = page.file_name().unwrap().to_str().unwrap();
        assert!(
            name == "README.md" || index.contains(name),
            "{name} is not in the index"
        );
        count += run_page(name);
    }
    assert!(count >= 15, "only {count} commands were found");
}

#[test]
fn the_report_of_a_run_holds_plots_and_pictures_and_asks_nobody() {
    let folder = tempfile::tempdir().unwrap();
    // the scene after the option, which is no file
    let command = [
        "run", "--small", "--frames", "3", "-o", "drop", "--report", "drop",
    ];
    let done = percale(&command)
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
    let page = fs::read_to_string(folder.path().join("drop/report.html")).unwrap();
    for title in ["kinetic energy, J", "processor time by phase, ms"] {
        assert!(page.contains(&format!("<h3>{title}</h3>")), "{title}");
    }
    assert!(page.contains("0 in every frame: impacts;"), "free fall");
    assert_eq!(
        page.matches("data:image/png;base64,").count(),
        4,
        "frames 0 to 3"
    );
    assert!(!page.contains("http"), "nothing from elsewhere");
}

/// `Name`, what it is made of, in the words of a table.
fn type_of(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str() {
        let name = name.rsplit('/').next().unwrap();
        return format!("[{name}](#{})", name.to_lowercase());
    }
    for key in ["anyOf", "oneOf", "allOf"] {
        if let Some(all) = schema[key].as_array() {
            let all: Vec<String> = all.iter().map(type_of).filter(|t| t != "null").collect();
            return all.join(" or ");
        }
    }
    if let Some(value) = schema.get("const") {
        return format!("`{value}`");
    }
    if let Some(values) = schema["enum"].as_array() {
        let values: Vec<String> = values.iter().map(|value| format!("`{value}`")).collect();
        return values.join(" or ");
    }
    match &schema["type"] {
        Value::String(name) if name == "array" => {
            let count = schema["maxItems"]
                .as_u64()
                .map_or(String::new(), |n| format!("{n} "));
            format!("list of {count}{}", type_of(&schema["items"]))
        }
        Value::String(name) => name.clone(),
        Value::Array(names) => {
            let names = names
                .iter()
                .filter_map(Value::as_str)
                .filter(|name| *name != "null");
            let names: Vec<String> = names
                .map(|name| match name {
                    "array" => {
                        let mut plain = schema.clone();
                        plain["type"] = "array".into();
                        type_of(&plain)
                    }
                    name => name.into(),
                })
                .collect();
            names.join(" or ")
        }
        _ => "any".into(),
    }
}

fn cell(text: &str) -> String {
    text.replace('\n', " ").replace('|', "\\|")
}

/// Rows of an object's keys.
fn rows(out: &mut String, schema: &Value) {
    let Some(properties) = schema["properties"].as_object() else {
        return;
    };
    let _ = writeln!(
        out,
        "\n| key | type | default | meaning |\n|---|---|---|---|"
    );
    let required = schema["required"].as_array();
    for (key, of_key) in properties {
        let is_required = required.is_some_and(|keys| keys.iter().any(|k| k == key));
        let default = match of_key.get("default") {
            Some(Value::Null) | None if is_required => "**required**".into(),
            Some(Value::Null) | None => String::new(),
            Some(value) if value.to_string().len() > 60 => "see its type".into(),
            Some(value) => format!("`{value}`"),
        };
        let meaning = of_key["description"].as_str().unwrap_or_default();
        let _ = writeln!(
            out,
            "| `{key}` | {} | {} | {} |",
            cell(&type_of(of_key)),
            cell(&default),
            cell(meaning)
        );
    }
}

/// One type: what it is, its keys, or its variants with theirs.
fn section(out: &mut String, name: &str, schema: &Value) {
    let _ = write!(out, "\n## {name}\n");
    if let Some(text) = schema["description"].as_str() {
        let _ = write!(out, "\n{}\n", text.replace('\n', " "));
    }
    rows(out, schema);
    for key in ["oneOf", "anyOf"] {
        for variant in schema[key].as_array().into_iter().flatten() {
            let kind = &variant["properties"]["kind"]["const"];
            let name = match kind {
                Value::String(kind) => format!("`kind = \"{kind}\"`"),
                _ => type_of(variant),
            };
            let about = variant["description"]
                .as_str()
                .unwrap_or_default()
                .replace('\n', " ");
            let _ = write!(out, "\n**{name}** {about}\n");
            if let Some(base) = variant.get("$ref").filter(|_| kind.is_string()) {
                let base = base.as_str().unwrap().rsplit('/').next().unwrap();
                let _ = write!(
                    out,
                    "\nAlso the keys of [{base}](#{}).\n",
                    base.to_lowercase()
                );
            }
            rows(out, variant);
        }
    }
}

#[test]
fn the_table_of_scene_keys_is_that_of_the_schema() {
    let done = percale(&["scenes", "--schema"]).output().unwrap();
    let schema: Value = serde_json::from_slice(&done.stdout).unwrap();
    let mut text = String::from(
        "# Every key of a scene file\n\nMade from the schema (`percale scenes --schema`) by `PERCALE_BLESS=1 cargo test -p percale-cli scene_keys`. \
         SI units, Y up; keys without a default that are not required may be left out.\n",
    );
    section(&mut text, "Scene", &schema);
    for (name, of_name) in schema["$defs"].as_object().unwrap() {
        section(&mut text, name, of_name);
    }
    for key in [
        "`thickness`",
        "`friction`",
        "`on_pinch`",
        "`max_rounds`",
        "`wind`",
        "`fabric`",
    ] {
        assert!(text.contains(key), "{key} is missing");
    }
    let file = guide().join("scene-keys.md");
    if std::env::var_os("PERCALE_BLESS").is_some() {
        fs::write(&file, &text).unwrap();
    }
    let kept = fs::read_to_string(&file).unwrap_or_default();
    assert!(
        kept == text,
        "docs/guide/scene-keys.md is not that of the schema; PERCALE_BLESS=1 cargo test -p percale-cli scene_keys writes it"
    );
}
