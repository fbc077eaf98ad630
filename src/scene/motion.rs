//! How scripted parts move, as a scene says it.

use std::path::PathBuf;
use std::sync::Arc;

use glam::{DAffine3, DMat3, DVec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::objects::Object;
use super::shapes::{Bones, Up};
use crate::script::{self, Interpolation, quaternion};
use crate::skeleton::Playing;

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
        /// Which way is up in the files: "y", or "z".
        #[serde(default, skip_serializing_if = "Up::is_y")]
        up: Up,
        /// SHA-256 of the files; filled in when the scene is read, and checked if given.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        sha256: String,
    },
    /// An animation of the glTF file that the shape comes from, joint by joint; placed like the shape.
    Animated {
        /// Its name in the file [default: the only one].
        #[serde(default, skip_serializing_if = "Option::is_none")]
        clip: Option<String>,
        /// When it begins, in seconds; before that the body stands in its first pose.
        #[serde(default)]
        start: f64,
        /// How long before `start` it takes from the pose without animation, in which garments are made, to the first pose, in seconds.
        #[serde(default)]
        blend: f64,
        /// Seconds of the animation per second.
        #[serde(default = "unit")]
        speed: f64,
        /// Whether it begins anew at its end; otherwise the last pose stays.
        #[serde(default)]
        repeat: bool,
    },
    /// As an obstacle moves, as if fixed to the nearest point of its skin at the start: for pins, such as a waistband's.
    Follow {
        /// The name of the obstacle.
        obstacle: String,
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
    /// The same as a matrix.
    pub(super) turn: DMat3,
    /// Its vertices as its shape has them.
    pub(super) shape: &'a [DVec3],
    /// Its faces.
    pub(super) faces: &'a [[u32; 3]],
    /// Its skeleton, if it has one.
    pub(super) bones: Option<&'a Bones>,
    /// Which of them move, numbered in the object.
    pub(super) moved: &'a [u32],
    /// The scene's frames per second.
    pub(super) fps: f64,
}

/// A clip that repeats may end this far from where it begins, as a share of the body's size: farther, and the body would jump.
const LONGEST_STRIDE: f64 = 0.2;

impl Motion {
    /// The name of the obstacle that it follows.
    pub(super) fn leader(&self) -> Option<&str> {
        match self {
            Self::Follow { obstacle } => Some(obstacle),
            _ => None,
        }
    }

    /// The motion as a script runs it; not of one that follows.
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
                up,
                ..
            } => {
                let samples = super::inputs::read_sequence(file, placed.faces)?;
                let named = |text: String| format!("{}: {text}", file.display());
                super::sequence::check(&samples, placed.shape, *scale, *up).map_err(named)?;
                let place = |x: Vec<DVec3>| -> Vec<DVec3> {
                    let moved = placed.moved.iter();
                    moved
                        .map(|&v| (placed.pose)(scale * up.turn(x[v as usize])))
                        .collect()
                };
                script::Motion::Sequence(script::Sequence {
                    samples: samples.into_iter().map(place).collect(),
                    fps: fps.unwrap_or(placed.fps),
                    start: *start,
                })
            }
            Self::Animated {
                clip,
                start,
                blend,
                speed,
                repeat,
            } => {
                let bones = placed.bones.ok_or(
                    "the shape has no skeleton; `animated` needs a glTF file with one, `sequence` takes vertices from files",
                )?;
                let named = |text: String| format!("{}: {text}", bones.file.display());
                let playing = Playing {
                    clip: chosen(bones, clip.as_deref()).map_err(named)?,
                    start: *start,
                    blend: *blend,
                    speed: *speed,
                    repeat: *repeat,
                };
                if *repeat {
                    check_repetition(bones, playing.clip).map_err(named)?;
                }
                let pose = DAffine3::from_mat3_translation(placed.turn, placed.position);
                script::Motion::Skin(script::Skin {
                    body: Arc::clone(&bones.skinned),
                    playing,
                    place: pose * bones.metres,
                    moved: placed.moved.to_vec(),
                })
            }
            Self::Follow { obstacle } => {
                unreachable!("the motions of '{obstacle}' stand in its place")
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
            Self::Animated {
                start,
                blend,
                speed,
                ..
            } => {
                if !start.is_finite() {
                    return wrong("start", format!("{start} must be finite"));
                }
                if !(*blend >= 0.0 && blend.is_finite()) {
                    return wrong("blend", format!("{blend} must be at least 0"));
                }
                if !(*speed > 0.0 && speed.is_finite()) {
                    return wrong("speed", format!("{speed} must be a positive number"));
                }
                Ok(())
            }
            Self::Follow { .. } => Ok(()), // the scene looks for the obstacle
        }
    }
}

/// The number of a clip.
fn chosen(bones: &Bones, name: Option<&str>) -> Result<usize, String> {
    let clips = &bones.skinned.clips;
    let names: Vec<String> = clips
        .iter()
        .map(|clip| format!("'{}'", clip.name))
        .collect();
    let number = match name {
        None if clips.len() == 1 => 0,
        None if clips.is_empty() => return Err("the file has no animation".into()),
        None => return Err(format!("which `clip`? The file has {}", names.join(", "))),
        Some(name) => match clips.iter().position(|clip| clip.name == name) {
            Some(number) => number,
            None => {
                return Err(format!(
                    "no clip '{name}'; the file has {}",
                    names.join(", ")
                ));
            }
        },
    };
    if clips[number].end <= clips[number].begin {
        return Err(format!(
            "the clip '{}' is one moment long, so nothing would move: export all its keys, or leave the motion out",
            clips[number].name
        ));
    }
    if bones.morphing[number] {
        return Err(
            "the clip also moves morph targets, which are not read; bake it into a sequence (PC2), or remove them".into(),
        );
    }
    Ok(number)
}

fn check_repetition(bones: &Bones, clip: usize) -> Result<(), String> {
    let (low, high) = super::shapes::bounds(&bones.skinned.at_rest());
    let (gap, size) = (bones.skinned.gap_of_repetition(clip), (high - low).length());
    if gap > LONGEST_STRIDE * size {
        return Err(format!(
            "the clip ends {gap:.3} from where it begins, of a body of {size:.3} in the file's units: repeated, the body would jump;              leave `repeat` out, or use a clip that walks on the spot"
        ));
    }
    Ok(())
}

/// The motions of a part, those of what it follows in their place.
pub(super) fn scripts(
    motions: &[Motion],
    key: &str,
    placed: &Placed<'_>,
    x: &[DVec3],
    objects: &[Object<'_>],
) -> Result<Vec<script::Motion>, (String, String)> {
    let mut all = Vec::new();
    for (m, motion) in motions.iter().enumerate() {
        let key = format!("{key}.motion.{m}");
        match motion.leader() {
            None => all.push(motion.script(placed).map_err(|message| (key, message))?),
            Some(name) => {
                let leader = objects.iter().find(|object| object.name == name);
                let leader = leader.expect("check has found the name among the obstacles");
                let own = leader.motions(placed.fps)?;
                all.extend(super::follow::along(leader, own, x).map_err(|message| (key, message))?);
            }
        }
    }
    Ok(all)
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
