//! From where a scene is looked at: the key `camera`.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::check::Problem;

/// From where `percale render` looks; changes pictures only.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Camera {
    /// All cloth of the drawn frames in view, from slightly above.
    #[default]
    Auto,
    /// From a place of your own.
    At(Viewpoint),
}

/// A place to look from.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Viewpoint {
    /// Where the camera stands, in metres.
    pub position: [f64; 3],
    /// What it looks at, in metres: the middle of the picture.
    #[serde(default)]
    pub target: [f64; 3],
    /// Vertical angle of view, in degrees, from 1 to 170.
    #[serde(default = "default_fov")]
    pub fov: f64,
}

/// That of the automatic camera: a long lens.
fn default_fov() -> f64 {
    28.0
}

impl Camera {
    pub(super) fn is_auto(&self) -> bool {
        *self == Self::Auto
    }

    pub(super) fn check(&self) -> Result<(), Problem> {
        let Self::At(view) = self else { return Ok(()) };
        let problem = |key: &str, message: String| Err((format!("camera.{key}"), message));
        for (key, point) in [("position", view.position), ("target", view.target)] {
            if point.iter().any(|number| !number.is_finite()) {
                return problem(key, format!("{point:?}: all numbers must be finite"));
            }
        }
        if view.position == view.target {
            let message = "is the target too; move one of them, so that there is a direction";
            return problem("position", message.into());
        }
        if !(1.0..=170.0).contains(&view.fov) {
            let message = format!("{} is in degrees and must be between 1 and 170", view.fov);
            return problem("fov", message);
        }
        Ok(())
    }
}

impl Serialize for Camera {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Auto => serializer.serialize_str("auto"),
            Self::At(view) => view.serialize(serializer),
        }
    }
}

/// `camera = "auto"` or `camera = { position = [2, 1.5, 3], target = [0, 0.3, 0], fov = 30 }`.
impl<'de> Deserialize<'de> for Camera {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AutoOrTable;
        impl<'de> Visitor<'de> for AutoOrTable {
            type Value = Camera;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("\"auto\" or a table with `position`, `target` and `fov`")
            }

            fn visit_str<E: Error>(self, word: &str) -> Result<Camera, E> {
                match word {
                    "auto" => Ok(Camera::Auto),
                    _ => Err(E::custom(format!(
                        "\"{word}\" is neither \"auto\" nor a table with `position`, `target` and `fov`"
                    ))),
                }
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Camera, A::Error> {
                Viewpoint::deserialize(MapAccessDeserializer::new(map)).map(Camera::At)
            }
        }
        deserializer.deserialize_any(AutoOrTable)
    }
}

/// A word or a table, for editors.
impl JsonSchema for Camera {
    fn schema_name() -> Cow<'static, str> {
        "Camera".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let table = generator.subschema_for::<Viewpoint>();
        json_schema!({
            "description": "From where `percale render` looks: \"auto\" (all cloth in view), or a place.",
            "anyOf": [{ "type": "string", "enum": ["auto"] }, table],
        })
    }
}
