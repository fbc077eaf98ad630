//! Scenes as TOML text: strict, and with errors that say where and what instead.

use std::path::{Path, PathBuf};

use super::Scene;
use crate::error::{MeshError, StartError};

/// The scenes that come with the library: name and text.
pub const BUILTIN: &[(&str, &str)] = &[("drop", include_str!("../../scenes/drop.toml"))];

/// Why a scene cannot be read or started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SceneError {
    /// The file cannot be read.
    #[error("{}: {source}; built-in scenes: {}", path.display(), builtin_names())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },

    /// The text is not a scene.
    #[error("{origin}:{line}: {message}")]
    Text {
        /// File or built-in name.
        origin: String,
        /// Line, from 1.
        line: usize,
        /// What is wrong, and what to write instead.
        message: String,
    },

    /// A value is impossible or two do not go together.
    #[error("{place}: {message}")]
    Value {
        /// The key.
        place: String,
        /// What is wrong, and what is allowed.
        message: String,
    },

    /// The geometry is unusable.
    #[error("{place}: {source}")]
    Mesh {
        /// The object.
        place: String,
        /// Why.
        source: MeshError,
    },

    /// The scene cannot start.
    #[error(transparent)]
    Start(#[from] StartError),
}

impl SceneError {
    pub(super) fn value(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Value {
            place: place.into(),
            message: message.into(),
        }
    }
}

fn builtin_names() -> String {
    BUILTIN
        .iter()
        .map(|(name, _)| *name)
        .collect::<Vec<_>>()
        .join(", ")
}

impl Scene {
    /// Reads a built-in scene by name, or a file.
    ///
    /// # Errors
    /// See [`SceneError`]; nothing is guessed.
    pub fn load(name: &str, changes: &[(String, String)]) -> Result<Self, SceneError> {
        match BUILTIN.iter().find(|(builtin, _)| *builtin == name) {
            Some((_, text)) => Self::from_text(text, name, changes),
            None => {
                let path = Path::new(name);
                let text = std::fs::read_to_string(path).map_err(|source| SceneError::File {
                    path: path.into(),
                    source,
                })?;
                Self::from_text(&text, name, changes)
            }
        }
    }

    /// Reads a scene from TOML; `origin` names it in errors. `changes` are keys like `time.max_loops` or
    /// `cloth.0.fabric` with TOML values, applied before anything is checked twice.
    ///
    /// # Errors
    /// Unknown or missing keys, wrong types, impossible values; with the line and what to write instead.
    pub fn from_text(
        text: &str,
        origin: &str,
        changes: &[(String, String)],
    ) -> Result<Self, SceneError> {
        let read = |error: toml::de::Error| SceneError::Text {
            origin: origin.into(),
            line: error.span().map_or(1, |span| line_of(text, span.start)),
            message: explain(error.message()),
        };
        let scene: Self = toml::from_str(text).map_err(read)?;
        if changes.is_empty() {
            return scene.checked();
        }
        let mut table: toml::Value = toml::Value::Table(toml::from_str(text).map_err(read)?);
        for (key, value) in changes {
            set(&mut table, key, value)
                .map_err(|message| SceneError::value(format!("--set {key}"), message))?;
        }
        let keys = || {
            changes
                .iter()
                .map(|(k, v)| format!("{k}={v}"))
                .collect::<Vec<_>>()
                .join(" ")
        };
        let changed: Self = table.try_into().map_err(|e: toml::de::Error| {
            SceneError::value(format!("--set {}", keys()), explain(e.message()))
        })?;
        changed.checked()
    }

    /// The scene as TOML with every default written out; reading it back gives the same scene.
    pub fn to_text(&self) -> String {
        toml::to_string(self).expect("a scene holds only what TOML can hold")
    }

    fn checked(self) -> Result<Self, SceneError> {
        let positive = |key: &str, value: f64| {
            if value > 0.0 && value.is_finite() {
                Ok(())
            } else {
                Err(SceneError::value(
                    key,
                    format!("{value} must be a positive number"),
                ))
            }
        };
        positive("fps", self.fps)?;
        positive("thickness", self.thickness.unwrap_or(1.0))?;
        positive("time.max_interval", self.time.max_interval)?;
        positive("time.min_interval", self.time.min_interval)?;
        if !(self.friction >= 0.0 && self.friction.is_finite()) {
            return Err(SceneError::value(
                "friction",
                format!("{} must be at least 0", self.friction),
            ));
        }
        if self.cloth.is_empty() {
            return Err(SceneError::value(
                "cloth",
                "a scene needs at least one [[cloth]]",
            ));
        }
        let mut names: Vec<&str> = self.cloth.iter().map(|c| c.name.as_str()).collect();
        names.extend(self.obstacle.iter().map(|o| o.name.as_str()));
        names.sort_unstable();
        for name in &names {
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
            if name.is_empty() || !name.chars().all(plain) {
                return Err(SceneError::value(
                    "name",
                    format!("'{name}' names files: use letters, digits, - and _"),
                ));
            }
        }
        if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(SceneError::value(
                "name",
                format!("'{}' is used twice; names must differ", twice[0]),
            ));
        }
        Ok(self)
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    1 + text.as_bytes()[..offset.min(text.len())]
        .iter()
        .filter(|&&byte| byte == b'\n')
        .count()
}

/// Puts a TOML value at a dotted key; numbers count the elements of lists, names find them.
fn set(table: &mut toml::Value, key: &str, value: &str) -> Result<(), String> {
    let text = format!("value = {value}");
    let parsed: Result<toml::Table, _> = toml::from_str(&text);
    // a bare word is a string: --set cloth.0.fabric=silk
    let value = match parsed {
        Ok(mut table) => table.remove("value").expect("the text has this key"),
        Err(_) => toml::Value::String(value.into()),
    };
    let mut place = table;
    let mut parts = key.split('.').peekable();
    while let Some(part) = parts.next() {
        let last = parts.peek().is_none();
        place = match place {
            toml::Value::Table(table) if last => {
                table.insert(part.into(), value);
                return Ok(());
            }
            toml::Value::Table(table) => table
                .entry(part)
                .or_insert_with(|| toml::Value::Table(toml::Table::new())),
            toml::Value::Array(list) => {
                let named = |item: &toml::Value| {
                    item.get("name").and_then(toml::Value::as_str) == Some(part)
                };
                let index = part.parse().ok().or_else(|| list.iter().position(named));
                let count = list.len();
                let item = index.and_then(|i: usize| list.get_mut(i));
                let item = item.ok_or(format!("no element '{part}' in a list of {count}"))?;
                if last {
                    *item = value;
                    return Ok(());
                }
                item
            }
            _ => return Err(format!("'{part}' is inside a plain value")),
        };
    }
    Err("the key is empty".into())
}

/// Adds the likeliest meaning to "unknown field `x`, expected one of `a`, `b`".
fn explain(message: &str) -> String {
    let message = message.trim_end().to_string();
    if !(message.starts_with("unknown field") || message.starts_with("unknown variant")) {
        return message;
    }
    let mut words = message.split('`').skip(1).step_by(2);
    let Some(wrong) = words.next() else {
        return message;
    };
    match words.map(|word| (distance(wrong, word), word)).min() {
        Some((d, word)) if d <= wrong.len().div_ceil(2) => {
            format!("{message}; did you mean `{word}`?")
        }
        _ => message,
    }
}

/// Levenshtein's distance between two words.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &cb) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(ca != cb);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = "frames = 2\n[[cloth]]\nname = \"a\"\nshape = { kind = \"sheet\", size = [1, 1], cells = [2, 2] }\n";

    fn message(text: &str, changes: &[(&str, &str)]) -> String {
        let changes: Vec<_> = changes
            .iter()
            .map(|(k, v)| (k.to_string(), v.to_string()))
            .collect();
        Scene::from_text(text, "test.toml", &changes)
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn a_resolved_scene_reads_back_the_same() {
        for (name, text) in BUILTIN {
            let scene = Scene::from_text(text, name, &[]).unwrap();
            assert_eq!(
                Scene::from_text(&scene.to_text(), name, &[]).unwrap(),
                scene
            );
        }
    }

    #[test]
    fn an_unknown_key_is_named_with_its_line_and_the_likeliest_one() {
        let error = message(&format!("{SMALL}fabrik = \"silk\"\n"), &[]);
        assert!(error.starts_with("test.toml:5:"), "{error}");
        assert!(
            error.contains("`fabrik`") && error.contains("did you mean `fabric`?"),
            "{error}"
        );
        let error = message(&SMALL.replace("frames", "frame"), &[]);
        assert!(
            error.starts_with("test.toml:1:") && error.contains("did you mean `frames`?"),
            "{error}"
        );
    }

    #[test]
    fn changes_reach_into_lists_by_number_and_by_name() {
        let set = |key: &str, value: &str| {
            Scene::from_text(SMALL, "test.toml", &[(key.into(), value.into())])
        };
        assert_eq!(set("frames", "7").unwrap().frames, 7);
        assert_eq!(
            set("cloth.0.position", "[0, 1, 0]").unwrap().cloth[0].position,
            [0.0, 1.0, 0.0]
        );
        assert_eq!(
            set("cloth.a.position", "[0, 1, 0]").unwrap().cloth[0].position,
            [0.0, 1.0, 0.0]
        );
        assert_eq!(set("time.max_loops", "3").unwrap().time.max_loops, 3);
        assert!(message(SMALL, &[("cloth.b.position", "[0, 1, 0]")]).contains("no element 'b'"));
        assert!(message(SMALL, &[("time.max_lops", "3")]).contains("did you mean `max_loops`?"));
    }

    #[test]
    fn impossible_values_are_refused_by_name() {
        for (key, value) in [
            ("fps", "0"),
            ("thickness", "-1"),
            ("friction", "-0.1"),
            ("cloth", "[]"),
            ("cloth.0.name", "a/b"),
        ] {
            let error = message(SMALL, &[(key, value)]);
            assert!(
                error.contains(key.split('.').next_back().unwrap()),
                "{key}: {error}"
            );
        }
    }
}
