//! What is wrong with the form of a scene, in plain words: keys, names, types and lengths, against the schema.
//!
//! The schema is made from the same types that read the scene, so there is nothing here to keep in step with them. Reading itself stays
//! the last judge; it is stricter in nothing but what the schema cannot say, and laxer in one thing: it drops what a list has too much.

use std::sync::LazyLock;

use serde_json::Value as Json;
use toml::Value;

use super::Scene;
use super::check::Problem;
use super::file::nearest;

static SCHEMA: LazyLock<Json> = LazyLock::new(|| schemars::schema_for!(Scene).to_value());

/// Checks the form of a whole scene: the key that is wrong, and what to write instead.
pub(super) fn check(scene: &Value) -> Result<(), Problem> {
    walk("", scene, &SCHEMA, None)
}

fn wrong(key: &str, message: impl Into<String>) -> Result<(), Problem> {
    Err((key.into(), message.into()))
}

/// The schema that a reference stands for, or the schema itself.
fn resolved(schema: &Json) -> &Json {
    let name = schema.get("$ref").and_then(Json::as_str);
    let name = name.and_then(|name| name.strip_prefix("#/$defs/"));
    name.and_then(|name| SCHEMA["$defs"].get(name))
        .unwrap_or(schema)
}

/// The alternatives of a schema, without "nothing".
fn alternatives(schema: &Json) -> Vec<&Json> {
    let list = schema.get("oneOf").or_else(|| schema.get("anyOf"));
    let list = list.and_then(Json::as_array).into_iter().flatten();
    list.map(resolved)
        .filter(|schema| schema["type"] != "null")
        .collect()
}

/// Names that a text may be, if it may not be anything.
fn names(schema: &Json) -> Option<Vec<&str>> {
    if let Some(list) = schema.get("enum").and_then(Json::as_array) {
        return list.iter().map(Json::as_str).collect();
    }
    let alternatives = alternatives(schema);
    let names: Option<Vec<&str>> = (alternatives.iter())
        .map(|schema| schema.get("const").and_then(Json::as_str))
        .collect();
    names.filter(|names| !names.is_empty())
}

fn kind_of(schema: &Json) -> Option<&str> {
    schema["properties"]["kind"]
        .get("const")
        .and_then(Json::as_str)
}

/// Kinds of tables, if `kind` says which one it is.
fn kinds(schema: &Json) -> Option<Vec<&str>> {
    let alternatives = alternatives(schema);
    let kinds: Option<Vec<&str>> = alternatives.iter().map(|schema| kind_of(schema)).collect();
    kinds.filter(|kinds| !kinds.is_empty())
}

/// `says` is the description that stands with the key, if it has one.
fn walk(key: &str, value: &Value, schema: &Json, says: Option<&str>) -> Result<(), Problem> {
    let says = schema.get("description").and_then(Json::as_str).or(says);
    let schema = resolved(schema);
    if let Some(names) = names(schema) {
        return match value.as_str() {
            Some(name) if names.contains(&name) => Ok(()),
            Some(name) => wrong(key, unknown_name(name, &names)),
            None => wrong(
                key,
                format!("expected {}, but it is {}", expected(schema), found(value)),
            ),
        };
    }
    if let Some(kinds) = kinds(schema) {
        return walk_kinds(key, value, schema, &kinds);
    }
    match &alternatives(schema)[..] {
        [] => walk_plain(key, value, schema, says),
        [only] => walk(key, value, only, says),
        several => {
            let fits = |schema: &&&Json| match value {
                Value::String(_) => schema["type"] == "string",
                Value::Table(_) => schema["type"] == "object",
                _ => false,
            };
            match several.iter().find(fits) {
                Some(schema) => walk(key, value, schema, says).map_err(|(wrong, message)| {
                    let others = several
                        .iter()
                        .filter(|other| value.is_str() && other != &schema);
                    let others = others.map(|other| format!(", or {}", expected(other)));
                    (wrong, message + &others.collect::<String>())
                }),
                None => {
                    let forms: Vec<String> = several.iter().map(|s| expected(s)).collect();
                    let forms = forms.join(", or ");
                    wrong(key, format!("expected {forms}, but it is {}", found(value)))
                }
            }
        }
    }
}

fn walk_kinds(key: &str, value: &Value, schema: &Json, kinds: &[&str]) -> Result<(), Problem> {
    let Value::Table(table) = value else {
        let word = value.as_str().filter(|word| kinds.contains(word));
        let like = word.unwrap_or(kinds[0]);
        let message = format!(
            "expected a table such as {}, but it is {}",
            example(schema, like),
            found(value)
        );
        return wrong(key, message);
    };
    let kind = match table.get("kind") {
        None => {
            let kinds = listed(kinds);
            let message = format!("missing key `kind`, which says what it is: one of {kinds}");
            return wrong(key, message);
        }
        Some(Value::String(kind)) => kind,
        Some(other) => {
            let message = format!(
                "expected one of {}, but it is {}",
                listed(kinds),
                found(other)
            );
            return wrong(&inside(key, "kind"), message);
        }
    };
    let alternatives = alternatives(schema);
    let own = alternatives
        .iter()
        .find(|schema| kind_of(schema) == Some(kind));
    match own {
        None => {
            let message = removed(&format!("kind.{kind}"));
            let message = message.unwrap_or_else(|| unknown_name(kind, kinds));
            wrong(&inside(key, "kind"), message)
        }
        Some(schema) => walk_table(key, table, schema),
    }
}

fn walk_plain(key: &str, value: &Value, schema: &Json, says: Option<&str>) -> Result<(), Problem> {
    let is = |word: &str| match &schema["type"] {
        Json::String(one) => one == word,
        Json::Array(several) => several.iter().any(|one| one == word),
        _ => false,
    };
    if schema.get("type").is_none() {
        return Ok(()); // anything goes
    }
    let mismatch = || {
        let message = format!("expected {}, but it is {}", expected(schema), found(value));
        wrong(key, message + &explained(says))
    };
    match value {
        Value::Table(table) if is("object") => walk_table(key, table, schema),
        Value::Table(_) if is("array") && resolved(&schema["items"])["type"] == "object" => {
            let name = key.rsplit('.').next().unwrap_or(key);
            let message = format!("there may be several: write [[{name}]] in double brackets");
            wrong(key, message)
        }
        Value::Table(_) if is("array") && kinds(resolved(&schema["items"])).is_some() => {
            wrong(key, "there may be several: put it into a list, [{ ... }]")
        }
        Value::Array(list) if is("array") => {
            let count = list.len() as u64;
            let least = schema.get("minItems").and_then(Json::as_u64).unwrap_or(0);
            let most = schema.get("maxItems").and_then(Json::as_u64);
            if count < least || most.is_some_and(|most| count > most) {
                return mismatch();
            }
            let mut each = list.iter().enumerate();
            each.try_for_each(|(i, item)| {
                walk(&inside(key, &i.to_string()), item, &schema["items"], says)
            })
        }
        Value::Array(_) if is("object") => {
            let message = format!("there is one only: write [{key}] in single brackets, once");
            wrong(key, message)
        }
        Value::Integer(number) if is("integer") => {
            let least = schema.get("minimum").and_then(Json::as_i64);
            if least.is_some_and(|least| *number < least) {
                return mismatch();
            }
            Ok(())
        }
        Value::Integer(_) | Value::Float(_) if is("number") => Ok(()),
        Value::Boolean(_) if is("boolean") => Ok(()),
        Value::String(_) if is("string") => Ok(()),
        _ => mismatch(),
    }
}

fn walk_table(key: &str, table: &toml::Table, schema: &Json) -> Result<(), Problem> {
    let Some(known) = schema.get("properties").and_then(Json::as_object) else {
        return Ok(());
    };
    let is_closed = schema.get("additionalProperties") == Some(&Json::Bool(false));
    for (name, value) in table {
        match known.get(name) {
            Some(schema) => walk(&inside(key, name), value, schema, None)?,
            None if is_closed => {
                let message = removed_key(key, kind_of(schema), name);
                let message = message.unwrap_or_else(|| unknown_key(key, name, known));
                return wrong(&inside(key, name), message);
            }
            None => {}
        }
    }
    let required = schema.get("required").and_then(Json::as_array);
    let required = required.into_iter().flatten().filter_map(Json::as_str);
    for name in required {
        if !table.contains_key(name) {
            let says = known[name].get("description").and_then(Json::as_str);
            let message = match name {
                "cloth" => "missing key `cloth`; a scene needs at least one [[cloth]]".into(),
                _ => format!("missing key `{name}`{}", explained(says)),
            };
            return wrong(key, message);
        }
    }
    Ok(())
}

/// Keys and kinds that older scenes have, and what to do instead. What had no use in a scene has become a constant of the code, with the value
/// that was the default.
const REMOVED: &[(&[&str], &str)] = &[
    (
        &["impulses.sweeps", "impulses.remember"],
        "write `form = \"notes\"` for one pass over what was detected, nothing remembered; else remove the line",
    ),
    (
        &["inelastic.causal"],
        "write `form = \"causal\"` instead of `causal = true`",
    ),
    (
        &[
            "rigid_zones.max_rounds",
            "rigid_zones.max_angle",
            "inelastic.tolerance",
            "inelastic.dense_limit",
            "inelastic.max_iterations",
            "hold.fraction",
            "hold.max_cuts",
            "hold.max_rounds",
            "repulsion.fraction",
            "repulsion.reach",
            "repulsion.tolerance",
            "newmark.tolerance",
            "newmark.max_iterations",
            // of `implicit_euler`, for whom the next entry has told to write `implicit`
            "implicit.max_iterations",
            "implicit.max_newton",
        ],
        "what was its default is now built in; remove the line",
    ),
    (
        &["cloth.fabric_file"],
        "write `fabric = { file = \"...\" }`",
    ),
    (
        &["kind.implicit_euler"],
        "write `kind = \"implicit\"`, which takes contact into its solve, and remove what `[time]` says about intervals",
    ),
    (
        &["kind.incline"],
        "write `kind = \"plane\"` without `angle`, and give the object `rotation = [0, 0, -angle]`",
    ),
];

/// What to do about a key of a table of some kind, or of a name without its number in a list, if it has been removed.
fn removed_key(table: &str, kind: Option<&str>, name: &str) -> Option<String> {
    let mut parts = table.rsplit('.');
    let table = kind.or_else(|| parts.find(|part| part.parse::<u32>().is_err()))?;
    removed(&format!("{table}.{name}"))
}

fn removed(what: &str) -> Option<String> {
    let (_, instead) = REMOVED.iter().find(|(names, _)| names.contains(&what))?;
    let (_, name) = what.split_once('.')?;
    Some(format!("`{name}` no longer exists: {instead}"))
}

fn unknown_key(table: &str, name: &str, known: &serde_json::Map<String, Json>) -> String {
    if !table.is_empty() && SCHEMA["properties"].get(name).is_some() {
        return format!(
            "unknown key `{name}` here; it belongs to the whole scene: write it before the first line in brackets"
        );
    }
    let words: Vec<&str> = known.keys().map(String::as_str).collect();
    unknown("key", name, &words)
}

fn unknown_name(name: &str, names: &[&str]) -> String {
    unknown("name", name, names)
}

fn unknown(what: &str, word: &str, known: &[&str]) -> String {
    let all = listed(known);
    match nearest(word, known.iter().copied()) {
        Some(likely) => {
            format!("unknown {what} `{word}`; did you mean `{likely}`? There are {all}")
        }
        None => format!("unknown {what} `{word}`; there are {all}"),
    }
}

fn listed(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

fn inside(key: &str, name: &str) -> String {
    if key.is_empty() {
        name.into()
    } else {
        format!("{key}.{name}")
    }
}

/// The first sentence of a description, as the end of a message.
fn explained(says: Option<&str>) -> String {
    let Some(says) = says else {
        return String::new();
    };
    let says = says.replace('\n', " ");
    let sentence = says.split(". ").next().unwrap_or(&says);
    format!(" ({})", sentence.trim_end_matches('.'))
}

/// What is there instead.
fn found(value: &Value) -> String {
    match value {
        Value::String(text) => format!("the text \"{text}\""),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Boolean(truth) => truth.to_string(),
        Value::Datetime(_) => "a date".into(),
        Value::Array(list) => format!("a list of {}", list.len()),
        Value::Table(_) => "a table".into(),
    }
}

/// What a schema wants, in words.
fn expected(schema: &Json) -> String {
    let schema = resolved(schema);
    if let Some(names) = names(schema) {
        return format!("one of {}", listed(&names));
    }
    if let Some(kinds) = kinds(schema) {
        return format!("a table such as {}", example(schema, kinds[0]));
    }
    let word = match &schema["type"] {
        Json::Array(several) => several.first().and_then(Json::as_str),
        one => one.as_str(),
    };
    match word {
        Some("number") => "a number".into(),
        Some("integer") if schema.get("minimum").is_some() => "a whole number of at least 0".into(),
        Some("integer") => "a whole number".into(),
        Some("string") => "a text in quotes".into(),
        Some("boolean") => "true or false".into(),
        Some("array") => {
            let items = match resolved(&schema["items"])["type"].as_str() {
                Some("number") => " numbers",
                Some("integer") => " whole numbers",
                Some("string") => " texts in quotes",
                _ => "",
            };
            match schema.get("maxItems").and_then(Json::as_u64) {
                Some(count) => format!("a list of {count}{items}"),
                None if items.is_empty() => "a list".into(),
                None => format!("a list of{items}"),
            }
        }
        _ => match schema.get("properties").and_then(Json::as_object) {
            Some(known) => {
                let keys: Vec<&str> = known.keys().map(String::as_str).collect();
                format!("a table with keys among {}", listed(&keys))
            }
            None => "a table".into(),
        },
    }
}

/// `{ kind = "edge", towards = ... }`: a kind with the keys that it needs.
fn example(schema: &Json, kind: &str) -> String {
    let alternatives = alternatives(schema);
    let own = alternatives
        .iter()
        .find(|schema| kind_of(schema) == Some(kind));
    let needed = own.and_then(|schema| schema["required"].as_array());
    let needed = needed.into_iter().flatten().filter_map(Json::as_str);
    let needed = needed.filter(|name| *name != "kind");
    let rest: String = needed.map(|name| format!(", {name} = ...")).collect();
    format!("{{ kind = \"{kind}\"{rest} }}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_been_removed_is_really_gone() {
        // a name that comes back must leave the list, else scenes with it are told that it does not exist
        let every = SCHEMA["$defs"].as_object().unwrap().values();
        let every = every.flat_map(|schema| std::iter::once(schema).chain(alternatives(schema)));
        for schema in every.filter(|schema| schema.get("properties").is_some()) {
            let kind = kind_of(schema);
            assert_eq!(removed(&format!("kind.{}", kind.unwrap_or_default())), None);
            for name in schema["properties"].as_object().unwrap().keys() {
                assert_eq!(
                    kind.and_then(|kind| removed_key("", Some(kind), name)),
                    None
                );
            }
        }
        for (table, schema) in SCHEMA["properties"].as_object().unwrap() {
            let known = resolved(schema).get("properties").and_then(Json::as_object);
            for name in known.into_iter().flat_map(|known| known.keys()) {
                assert_eq!(removed_key(table, None, name), None);
            }
        }
    }
}
