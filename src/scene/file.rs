//! Scenes as TOML text: strict, and with errors that say where and what instead.

use std::io;
use std::path::{Path, PathBuf};

use super::check::Problem;
use super::inputs::{Known, read_fabrics};
use super::source::set;
use super::{Scene, builtin, form};
use crate::dynamics::FABRICS;
use crate::error::{MeshError, RefusedStart, StartError};

/// Why a scene cannot be read or started.
///
/// # Examples
/// ```
/// use percale::{Scene, SceneError};
///
/// let error = Scene::load("drop")?.set("frictoin", 0.5).unwrap_err();
/// assert!(error.to_string().contains("friction"), "{error}");
/// assert!(matches!(Scene::load("no/such.toml"), Err(SceneError::File { .. })));
/// # Ok::<(), SceneError>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SceneError {
    /// The file cannot be read.
    #[error("{}: {}", path.display(), unreadable(path, source))]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
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
    #[error("{}{place}: {message}", line.as_ref().map(|line| format!("{line}: ")).unwrap_or_default())]
    Value {
        /// File or built-in name and line, if the value is written there.
        line: Option<String>,
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

    /// Faces cross at the start.
    #[error("{0}")]
    Tangled(Box<RefusedStart>),
}

/// Why a scene file cannot be read, and what may have been meant.
fn unreadable(path: &Path, source: &io::Error) -> String {
    match source.kind() {
        io::ErrorKind::InvalidData => "not a text file: a scene is TOML in UTF-8".into(),
        io::ErrorKind::IsADirectory => {
            "a folder, not a scene file; the scene of a result folder is its scene.toml".into()
        }
        _ => {
            let name = path.to_string_lossy();
            let built_in = builtin::BUILTIN.iter().map(|(name, _)| *name);
            let hint = nearest(&name, built_in).map(|name| format!(" did you mean '{name}'?"));
            let hint = hint.unwrap_or_default();
            format!("{source};{hint} built-in scenes: {}", builtin::names())
        }
    }
}

impl SceneError {
    pub(super) fn value(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Value {
            line: None,
            place: place.into(),
            message: message.into(),
        }
    }
}

/// Which size of a scene.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Variant {
    /// As the paper has it.
    #[default]
    Full,
    /// With the changes of its `[small]` table: for tests and first looks.
    Small,
}

impl Scene {
    /// Reads a built-in scene by name, or a file; full size.
    ///
    /// # Errors
    /// See [`SceneError`]; nothing is guessed.
    pub fn load(name: &str) -> Result<Self, SceneError> {
        Self::load_variant(name, Variant::Full)
    }

    /// Reads a variant of a built-in scene or a file, and finds the files that it names.
    ///
    /// # Errors
    /// See [`SceneError`]; nothing is guessed.
    pub fn load_variant(name: &str, variant: Variant) -> Result<Self, SceneError> {
        if let Some(text) = builtin::text_of(name) {
            return Self::read(text, name, variant, None);
        }
        let path = Path::new(name);
        let text = std::fs::read_to_string(path).map_err(|source| SceneError::File {
            path: path.into(),
            source,
        })?;
        let base = path.parent().unwrap_or(Path::new(""));
        Self::read(&text, name, variant, Some(base))
    }

    /// Reads a scene from TOML; `origin` names it in errors. Files are not looked for.
    ///
    /// # Errors
    /// Unknown or missing keys, wrong types, impossible values; with the line and what to write instead.
    pub fn from_text(text: &str, origin: &str) -> Result<Self, SceneError> {
        Self::read(text, origin, Variant::Full, None)
    }

    /// The same with the files that it names, found relative to `base`.
    ///
    /// # Errors
    /// See [`Scene::from_text`]; files that cannot be read.
    pub fn from_text_in(text: &str, origin: &str, base: &Path) -> Result<Self, SceneError> {
        Self::read(text, origin, Variant::Full, Some(base))
    }

    fn read(
        text: &str,
        origin: &str,
        variant: Variant,
        base: Option<&Path>,
    ) -> Result<Self, SceneError> {
        let in_text = |error: toml::de::Error| {
            let line = error.span().map_or(1, |span| line_of(text, span.start));
            let written = text.lines().nth(line - 1).unwrap_or_default();
            SceneError::Text {
                origin: origin.into(),
                line,
                message: in_line(explain(error), written),
            }
        };
        let in_value =
            |(key, message): Problem| SceneError::value(key, message).located(text, origin);
        let mut table = toml::Value::Table(toml::from_str(text).map_err(in_text)?);
        form::check(&table).map_err(|problem| in_form(problem, text, origin))?;
        let mut scene: Self = match read_fabrics(&mut table, base).map_err(in_value)? {
            false => toml::from_str(text).map_err(in_text)?, // knows its lines
            true => (table.clone().try_into())
                .map_err(|error| SceneError::value(origin, explain(error)))?,
        };
        let small = std::mem::take(&mut scene.small);
        if let Some(table) = table.as_table_mut() {
            table.remove("small");
        }
        if variant == Variant::Small {
            if small.is_empty() {
                let message = "it has no small variant: no table [small]";
                return Err(SceneError::value(origin, message));
            }
            for (key, value) in small {
                let wrong = |message: String| in_value((format!("small.{key}"), message));
                if value.is_table() && table.get(&key).is_some_and(toml::Value::is_array) {
                    let message = format!("write the whole key in quotes: \"{key}.0...\" = ...");
                    return Err(wrong(message));
                }
                set(&mut table, &key, value).map_err(wrong)?;
            }
            let wrong = |message| SceneError::value(format!("{origin}: [small]"), message);
            form::check(&table).map_err(|problem| wrong(in_words(problem)))?;
            read_fabrics(&mut table, base).map_err(|problem| wrong(in_words(problem)))?;
            scene = table
                .clone()
                .try_into()
                .map_err(|error| wrong(explain(error)))?;
        }
        scene.check().map_err(in_value)?;
        if let Some(base) = base {
            scene.resolve_files(base, &Known::new()).map_err(in_value)?;
        }
        Ok(scene.with_source(origin, base, table))
    }

    /// A scene from values, as [`Scene::from_text`] has them in TOML; `origin` names it in errors, paths are relative to `base`.
    ///
    /// # Errors
    /// See [`SceneError`]; the key is named, there are no lines.
    ///
    /// # Examples
    /// ```
    /// use percale::Scene;
    ///
    /// let table = toml::toml! {
    ///     frames = 2
    ///     cloth = [{ name = "a", shape = { kind = "sheet", size = [1.0, 1.0], cells = [2, 2] } }]
    /// };
    /// assert_eq!(Scene::from_table(table, "mine", "")?.frames, 2);
    /// # Ok::<(), percale::SceneError>(())
    /// ```
    pub fn from_table(
        table: toml::Table,
        origin: &str,
        base: impl AsRef<Path>,
    ) -> Result<Self, SceneError> {
        let base = base.as_ref();
        let mut table = toml::Value::Table(table);
        let wrong = |problem| SceneError::value(origin, in_words(problem));
        form::check(&table).map_err(wrong)?;
        read_fabrics(&mut table, Some(base)).map_err(wrong)?;
        let mut scene: Self = (table.clone().try_into())
            .map_err(|error| SceneError::value(origin, explain(error)))?;
        scene.small.clear();
        if let Some(table) = table.as_table_mut() {
            table.remove("small");
        }
        scene.check().map_err(wrong)?;
        scene.resolve_files(base, &Known::new()).map_err(wrong)?;
        Ok(scene.with_source(origin, Some(base), table))
    }

    /// The scene as TOML with every default written out; reading it back gives the same scene.
    pub fn to_text(&self) -> String {
        toml::to_string(self).expect("a scene holds only what TOML can hold")
    }
}

impl SceneError {
    /// Says in which line of a scene (built-in or file) the key of a bad value is, if it can be found there.
    pub fn in_scene(self, name: &str) -> Self {
        let text = match builtin::text_of(name) {
            Some(text) => Some(text.to_string()),
            None => std::fs::read_to_string(name).ok(),
        };
        match text {
            Some(text) => self.located(&text, name),
            None => self,
        }
    }

    /// Says in which line of the text the key of a bad value is.
    fn located(self, text: &str, origin: &str) -> Self {
        match self {
            Self::Value { place, message, .. } => Self::Value {
                line: Some(format!("{origin}:{}", line_of_key(text, &place))),
                place,
                message,
            },
            other => other,
        }
    }
}

/// A message about the text of a line, with what the line says where the message is too short to help.
fn in_line(message: String, line: &str) -> String {
    let (key, value) = line.split_once('=').unwrap_or((line, ""));
    let (key, value) = (key.trim(), value.trim());
    match message.as_str() {
        _ if message.starts_with("string values must be quoted") => match value {
            "" => format!("{key}: there is no value after `=`"),
            _ => format!("{key}: texts must be quoted, e.g. \"{value}\""),
        },
        "duplicate key" => {
            format!("{key}: this key is in an earlier line already; remove one of them")
        }
        _ => message,
    }
}

/// A problem of form, with the line of its key.
fn in_form((key, message): Problem, text: &str, origin: &str) -> SceneError {
    SceneError::Text {
        origin: origin.into(),
        line: line_of_key(text, &key),
        message: in_words((key, message)),
    }
}

/// A problem as "key: message"; the scene as a whole has no key.
pub(super) fn in_words((key, message): Problem) -> String {
    if key.is_empty() {
        message
    } else {
        format!("{key}: {message}")
    }
}

/// The line in which a dotted key is, or the nearest table around it.
fn line_of_key(text: &str, key: &str) -> usize {
    let Ok(table) = toml::de::DeTable::parse(text) else {
        return 1;
    };
    let mut start = 0;
    let mut parts = key.split('.');
    let mut place = parts.next().and_then(|part| table.get_ref().get(part));
    while let Some(value) = place {
        start = value.span().start;
        place = parts.next().and_then(|part| match part.parse::<usize>() {
            Ok(number) => value.get_ref().get(number),
            Err(_) => value.get_ref().get(part),
        });
    }
    line_of(text, start)
}

fn line_of(text: &str, offset: usize) -> usize {
    1 + text.as_bytes()[..offset.min(text.len())]
        .iter()
        .filter(|&&byte| byte == b'\n')
        .count()
}

/// The name in "unknown fabric 'name'; ...".
fn unknown_fabric(message: &str) -> Option<&str> {
    let (name, _) = message.strip_prefix("unknown fabric '")?.split_once('\'')?;
    Some(name)
}

/// What is wrong and where, with the likeliest meaning of "unknown field `x`, expected one of `a`, `b`".
pub(super) fn explain(mut error: toml::de::Error) -> String {
    error.set_input(None);
    // without input, the second line names the keys that lead there
    let text = error.to_string();
    let place = text.lines().find_map(|line| line.strip_prefix("in `"));
    let place = place.map_or(String::new(), |keys| {
        format!("{}: ", keys.trim_end_matches('`'))
    });
    let mut message = error.message().trim_end().replace('\n', ", ");
    for (theirs, ours) in [
        ("unknown field", "unknown key"),
        ("missing field", "missing key"),
        ("unknown variant", "unknown name"),
        ("expected u32", "expected a whole number of at least 0"),
        ("expected u64", "expected a whole number of at least 0"),
        ("expected i32", "expected a whole number"),
        ("expected f64", "expected a number"),
        ("expected an array of length", "expected a list of"),
        ("expected a sequence", "expected a list"),
        ("invalid type: map", "invalid type: table"),
    ] {
        message = message.replace(theirs, ours);
    }
    let mut words = message.split('`').skip(1).step_by(2);
    let hint = match words.next() {
        Some(wrong) if message.starts_with("unknown ") => {
            nearest(wrong, words).map(|word| format!("; did you mean `{word}`?"))
        }
        _ => unknown_fabric(&message)
            .and_then(|name| nearest(name, FABRICS.into_iter()))
            .map(|word| format!("; did you mean '{word}'?")),
    };
    format!("{place}{message}{}", hint.unwrap_or_default())
}

/// The word that somebody may have meant.
pub(super) fn nearest<'a>(wrong: &str, words: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let nearest = words.map(|word| (distance(wrong, word), word)).min()?;
    (nearest.0 <= wrong.len().div_ceil(2)).then_some(nearest.1)
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
        Scene::from_text(text, "test.toml")
            .and_then(|scene| scene.set_all(changes.iter().copied()))
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn a_resolved_scene_reads_back_the_same() {
        for (name, text) in super::super::BUILTIN {
            let scene = Scene::from_text(text, name).unwrap();
            assert_eq!(Scene::from_text(&scene.to_text(), name).unwrap(), scene);
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
        let set = |key: &str, value: &str| Scene::from_text(SMALL, "test.toml")?.set(key, value);
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
