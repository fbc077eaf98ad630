//! What a scene was read from, and changes of its keys: those of the command line, and [`Scene::set`].

use std::path::{Path, PathBuf};

use super::file::{SceneError, explain, in_words};
use super::inputs::read_fabrics;
use super::{Scene, form};

/// What a scene was read from; says nothing about what it is.
#[derive(Clone, Debug, Default)]
pub(super) struct Source(Option<Box<Written>>);

impl PartialEq for Source {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// A scene as it was written, without the defaults: a change of `fabric.like` or of a `kind` would come to nothing, or clash, with them.
#[derive(Clone, Debug)]
struct Written {
    /// Its name in errors, with the changes so far.
    origin: String,
    /// What paths are relative to; none if files are not looked for.
    base: Option<PathBuf>,
    table: toml::Value,
    /// What was made of it. A scene that differs has been changed since, field by field.
    made: Scene,
}

impl Scene {
    /// Changes a key like `time.max_loops`, `cloth.0.fabric` or `obstacle.ball.position`; numbers count the elements of lists, names
    /// find them. A text is TOML as for `--set`: `"0.5"`, `"[8, 8]"`, `"{ kind = \"hold\" }"`; a bare word is a string.
    ///
    /// What the scene file does not say follows from what it says then: after `fabric.like`, the other keys of the fabric.
    /// Paths are relative to the scene file.
    ///
    /// # Errors
    /// The same as for reading: unknown keys, wrong types, impossible values.
    pub fn set(self, key: &str, value: impl Into<toml::Value>) -> Result<Self, SceneError> {
        self.set_all([(key, value)])
    }

    /// Changes several keys, which are checked together: see [`Scene::set`].
    ///
    /// # Errors
    /// See [`Scene::set`].
    pub fn set_all<K: AsRef<str>, V: Into<toml::Value>>(
        mut self,
        changes: impl IntoIterator<Item = (K, V)>,
    ) -> Result<Self, SceneError> {
        let mut changes = changes.into_iter().peekable();
        if changes.peek().is_none() {
            return Ok(self);
        }
        let Written {
            mut origin,
            base,
            mut table,
            ..
        } = self.take_source();
        for (key, value) in changes {
            let key = key.as_ref();
            let (written, value) = match value.into() {
                toml::Value::String(text) => (text.clone(), parse(&text)),
                value => (value.to_string(), value),
            };
            origin += &format!(" --set {key}={written}");
            set(&mut table, key, value)
                .map_err(|message| SceneError::value(format!("--set {key}"), message))?;
        }
        let wrong = |problem| SceneError::value(&origin, in_words(problem));
        form::check(&table).map_err(wrong)?;
        read_fabrics(&mut table, base.as_deref()).map_err(wrong)?;
        let mut scene: Self = (table.clone().try_into())
            .map_err(|error| SceneError::value(&origin, explain(error)))?;
        let in_value = |(key, message)| SceneError::value(format!("{origin}: {key}"), message);
        scene.check().map_err(in_value)?;
        if let Some(base) = &base {
            scene
                .resolve_files(base, &self.known_files())
                .map_err(in_value)?;
        }
        Ok(scene.with_source(&origin, base.as_deref(), table))
    }

    pub(super) fn with_source(
        mut self,
        origin: &str,
        base: Option<&Path>,
        table: toml::Value,
    ) -> Self {
        let written = Written {
            origin: origin.into(),
            base: base.map(Path::to_path_buf),
            table,
            made: self.clone(),
        };
        self.source = Source(Some(Box::new(written)));
        self
    }

    /// What it was read from; where that is no longer what it is, the scene itself with every default.
    fn take_source(&mut self) -> Written {
        let now = || toml::Value::try_from(&*self).expect("a scene holds only what TOML can hold");
        match self.source.0.clone() {
            Some(written) if written.made == *self => *written,
            Some(written) => Written {
                table: now(),
                ..*written
            },
            None => Written {
                origin: "scene".into(),
                base: None,
                table: now(),
                made: self.clone(),
            },
        }
    }
}

/// A TOML value, as given on the command line; a bare word is a string: `--set cloth.0.fabric=silk`.
fn parse(value: &str) -> toml::Value {
    let parsed: Result<toml::Table, _> = toml::from_str(&format!("value = {value}"));
    match parsed {
        Ok(mut table) => table.remove("value").expect("the text has this key"),
        Err(_) => toml::Value::String(value.into()),
    }
}

/// Puts a TOML value at a dotted key; numbers count the elements of lists, names find them.
pub(super) fn set(table: &mut toml::Value, key: &str, value: toml::Value) -> Result<(), String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = "frames = 2\n[[cloth]]\nname = \"a\"\nshape = { kind = \"sheet\", size = [1, 1], cells = [2, 2] }\n";

    fn small() -> Scene {
        Scene::from_text(SMALL, "test.toml").unwrap()
    }

    #[test]
    fn values_are_typed_or_text() {
        let scene = small().set("frames", 7).unwrap();
        let scene = scene.set("friction", 0.5).unwrap();
        let scene = scene.set("cloth.a.fabric", "silk").unwrap();
        let scene = scene.set("cloth.0.position", vec![0.0, 1.0, 0.0]).unwrap();
        let scene = scene
            .set("response", "[{ kind = \"rigid_zones\" }]")
            .unwrap();
        assert_eq!((scene.frames, scene.friction), (7, 0.5));
        assert_eq!(scene.cloth[0].fabric.density, 0.06);
        assert_eq!(scene.cloth[0].position, [0.0, 1.0, 0.0]);
        assert_eq!(scene.response[0].name(), "rigid_zones");
    }

    #[test]
    fn changes_act_on_what_was_written_and_keep_what_was_changed_by_hand() {
        // the keys that the text does not give follow the new kind, and the new fabric
        let scene = small().set("dynamics.integrator.kind", "implicit");
        let scene = scene.unwrap().set("cloth.0.fabric.density", 0.3).unwrap();
        let scene = scene.set("cloth.0.fabric.like", "denim").unwrap();
        let fabric = &scene.cloth[0].fabric;
        assert_eq!((fabric.density, fabric.stretch), (0.3, [3000.0, 2000.0]));

        let mut scene = scene;
        scene.frames = 99;
        let scene = scene.set("fps", 30).unwrap();
        assert_eq!((scene.frames, scene.fps), (99, 30.0));
        assert_eq!(scene.cloth[0].fabric.density, 0.3);
    }

    #[test]
    fn several_changes_are_checked_together_and_errors_name_them() {
        let error = small().set("cloth.0.copies.count", 3).unwrap_err();
        assert!(error.to_string().contains("cloth.0.copies.step"), "{error}");
        let both = [
            ("cloth.0.copies.count", "3"),
            ("cloth.0.copies.step", "[0, 0.1, 0]"),
        ];
        small().set_all(both).unwrap();
        let error = small().set("frames", 3).unwrap().set("fps", 0).unwrap_err();
        let message = error.to_string();
        assert!(
            message.starts_with("test.toml --set frames=3 --set fps=0: fps"),
            "{message}"
        );
    }
}
