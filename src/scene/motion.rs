//! How scripted parts move, as a scene says it.

use std::path::PathBuf;

use glam::DVec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::script::{self, Interpolation, quaternion};

/// Metres that a key may move something by: farther than any scene is wide, and no speed of light.
const FARTHEST: f64 = 1e6;

/// A motion from where an object was placed. Times in seconds from the start of the scene.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Motion {
    /// From pose to pose; stands still before the first and after the last.
    Keyframed {
        /// At least one, ascending in time.
        keys: Vec<Key>,
        /// How it moves between keys.
        #[serde(default)]
        interpolation: Interpolation,
        /// What it turns about, in metres [default: the object's position].
        #[serde(default, skip_serializing_if = "Option::is_none")]
        centre: Option<[f64; 3]>,
    },
    /// Round and round.
    Rotating {
        /// Direction of the axis; any length.
        axis: [f64; 3],
        /// Degrees per second; anticlockwise seen against the axis.
        speed: f64,
        /// A point on the axis, in metres [default: the object's position].
        #[serde(default, skip_serializing_if = "Option::is_none")]
        centre: Option<[f64; 3]>,
        /// When it begins.
        #[serde(default)]
        from: f64,
        /// When it ends [default: never].
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<f64>,
    },
    /// Vertex by vertex through the samples of files, straight from each to the next; placed like the shape.
    Sequence {
        /// A PC2 file, or meshes with a number in their names for which `*` stands, e.g. "walk/*.obj".
        file: PathBuf,
        /// Samples per second [default: the scene's frames per second].
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fps: Option<f64>,
        /// Time of the first sample.
        #[serde(default)]
        start: f64,
        /// What its coordinates are multiplied by to be metres.
        #[serde(default = "unit")]
        scale: f64,
        /// SHA-256 of the files; filled in when the scene is read, and checked if given.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        sha256: String,
    },
}

fn unit() -> f64 {
    1.0
}

/// A pose at a time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// Seconds from the start of the scene.
    pub time: f64,
    /// Displacement from where it was placed, in metres.
    #[serde(default, rename = "move")]
    pub shift: [f64; 3],
    /// Rotation about x, then y, then z, in degrees; from key to key the shorter way round.
    #[serde(default)]
    pub turn: [f64; 3],
}

/// What a motion needs to know about the object that it moves.
pub(super) struct Placed<'a> {
    /// The object's position.
    pub(super) position: DVec3,
    /// Its pose, for samples.
    pub(super) pose: &'a dyn Fn(DVec3) -> DVec3,
    /// Its vertices.
    pub(super) vertex_count: usize,
    /// Which of them move, numbered in the object.
    pub(super) moved: &'a [u32],
    /// The scene's frames per second.
    pub(super) fps: f64,
}

impl Motion {
    /// The motion as a script runs it.
    pub(super) fn script(&self, placed: &Placed<'_>) -> Result<script::Motion, String> {
        let centre = |centre: &Option<[f64; 3]>| centre.map_or(placed.position, DVec3::from_array);
        Ok(match self {
            Self::Keyframed {
                keys,
                interpolation,
                centre: about,
            } => script::Motion::Keyframes(script::Keyframes {
                keys: keys.iter().map(Key::script).collect(),
                interpolation: *interpolation,
                centre: centre(about),
            }),
            Self::Rotating {
                axis,
                speed,
                centre: about,
                from,
                until,
            } => script::Motion::Rotation(script::Rotation {
                centre: centre(about),
                axis: DVec3::from_array(*axis).normalize(),
                speed: *speed,
                from: *from,
                until: until.unwrap_or(f64::INFINITY),
            }),
            Self::Sequence {
                file,
                fps,
                start,
                scale,
                ..
            } => {
                let samples = super::inputs::read_sequence(file)?;
                if let Some(number) = samples.iter().position(|x| x.len() != placed.vertex_count) {
                    return Err(format!(
                        "{}: sample {number} has {} vertices, the shape {}",
                        file.display(),
                        samples[number].len(),
                        placed.vertex_count
                    ));
                }
                let place = |x: Vec<DVec3>| -> Vec<DVec3> {
                    let moved = placed.moved.iter();
                    moved
                        .map(|&v| (placed.pose)(scale * x[v as usize]))
                        .collect()
                };
                script::Motion::Sequence(script::Sequence {
                    samples: samples.into_iter().map(place).collect(),
                    fps: fps.unwrap_or(placed.fps),
                    start: *start,
                })
            }
        })
    }

    /// Checks the values: the key that is impossible, and what is allowed.
    pub(super) fn check(&self) -> Result<(), (String, String)> {
        let wrong = |key: &str, message: String| Err((key.to_string(), message));
        match self {
            Self::Keyframed { keys, .. } => {
                if keys.is_empty() {
                    return wrong("keys", "there must be at least one".into());
                }
                for (k, key) in keys.iter().enumerate() {
                    let numbers = key.shift.iter().chain(&key.turn).chain([&key.time]);
                    if !numbers.into_iter().all(|number| number.is_finite()) {
                        return wrong(&format!("keys.{k}"), "all numbers must be finite".into());
                    }
                    if key.shift.iter().any(|shift| shift.abs() > FARTHEST) {
                        let message = format!("at most {FARTHEST:e} m along each axis");
                        return wrong(&format!("keys.{k}.move"), message);
                    }
                    if k > 0 && key.time <= keys[k - 1].time {
                        let before = keys[k - 1].time;
                        let message = format!("{} is not after {before}, the key before", key.time);
                        return wrong(&format!("keys.{k}.time"), message);
                    }
                }
                Ok(())
            }
            Self::Rotating {
                axis,
                speed,
                from,
                until,
                ..
            } => {
                let length = DVec3::from_array(*axis).length();
                if !(length > 0.0 && length.is_finite()) {
                    return wrong("axis", "it must have a direction, e.g. [0, 1, 0]".into());
                }
                if !speed.is_finite() {
                    return wrong("speed", format!("{speed} must be finite"));
                }
                if until.is_some_and(|until| until.is_nan() || until < *from) {
                    return wrong("until", format!("it must not be before `from`, {from} s"));
                }
                Ok(())
            }
            Self::Sequence {
                fps, scale, start, ..
            } => {
                if fps.is_some_and(|fps| !(fps > 0.0 && fps.is_finite())) {
                    return wrong("fps", "it must be a positive number".into());
                }
                if !(*scale > 0.0 && scale.is_finite()) {
                    return wrong("scale", format!("{scale} must be a positive number"));
                }
                if !start.is_finite() {
                    return wrong("start", format!("{start} must be finite"));
                }
                Ok(())
            }
        }
    }
}

impl Key {
    fn script(&self) -> script::Key {
        script::Key {
            time: self.time,
            translation: DVec3::from_array(self.shift),
            rotation: quaternion(self.turn),
        }
    }
}
