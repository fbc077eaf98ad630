//! Keys by which a scene changes on the way, and the folder in which it begins.

use std::path::PathBuf;

use glam::DVec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Scene;
use super::check::Problem;
use super::objects::Object;
use crate::io::x64;
use crate::step::Staging;

/// What is so at a time; from one key that names a thing to the next that does, it goes straight, frame by frame. What no key names is as the
/// scene has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StageKey {
    /// Seconds from the start of the scene.
    pub time: f64,
    /// Acceleration of free fall, m/s².
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gravity: Option<[f64; 3]>,
    /// Velocity of the air, m/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wind: Option<[f64; 3]>,
    /// Friction of all pairs of surfaces without one of their own; at least 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub friction: Option<f64>,
    /// Share of their stiffness that all seams have; at least 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seams: Option<f64>,
    /// Share of their stiffness that all soft pins have; at least 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pins: Option<f64>,
}

/// An earlier run whose cloths this one begins with: each cloth that has its name there starts where that one ends, and as fast. Everything else
/// may differ.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StartFrom {
    /// Result folder of that run; relative to the scene file.
    pub folder: PathBuf,
    /// Which of its frames [default: the last].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<u64>,
    /// SHA-256 of its positions up to that frame; filled in when the scene is read, and checked if given.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sha256: String,
}

impl Scene {
    /// The keys by what they change; `own` says whether two surfaces have a friction of their own.
    pub(super) fn staging(&self, objects: &[Object<'_>]) -> Staging {
        let keys = |value: &dyn Fn(&StageKey) -> Option<DVec3>| {
            let keys = self.stage.iter();
            keys.filter_map(|key| Some((key.time, value(key)?)))
                .collect()
        };
        let is_own = |a: &str, b: &str| {
            let pairs = self.surface_pair.iter().map(|pair| &pair.surfaces);
            pairs
                .into_iter()
                .any(|[c, d]| (c == a && d == b) || (c == b && d == a))
        };
        let mut pairs = Vec::new();
        for (a, one) in (0..).zip(objects) {
            for (b, other) in (0..=a).zip(objects) {
                if !is_own(one.surface, other.surface) {
                    pairs.push([a, b]);
                }
            }
        }
        Staging {
            gravity: keys(&|key| key.gravity.map(DVec3::from_array)),
            wind: keys(&|key| key.wind.map(DVec3::from_array)),
            friction: keys(&|key| key.friction.map(DVec3::splat)),
            pairs,
            seams: keys(&|key| key.seams.map(DVec3::splat)),
            pins: keys(&|key| key.pins.map(DVec3::splat)),
        }
    }

    /// Puts the cloths where the earlier run left them, `x` and `v` being those of all objects, one after the other.
    pub(super) fn begin(
        &self,
        objects: &[Object<'_>],
        x: &mut [DVec3],
        v: &mut [DVec3],
    ) -> Result<(), Problem> {
        let Some(from) = &self.start_from else {
            return Ok(());
        };
        let wrong = |message: String| ("start_from.folder".to_string(), message);
        let (mut first, mut found) = (0, 0);
        for object in objects {
            let own = first..first + object.shape.x.len();
            first = own.end;
            let path = from
                .folder
                .join("objects")
                .join(format!("{}.x64", object.name));
            if object.fabric.is_none() || !path.exists() {
                continue;
            }
            let last = x64::last_frames(&path, from.frame).map_err(wrong)?;
            if last.x.len() != own.len() {
                return Err(wrong(format!(
                    "{}: it has {} vertices, '{}' has {}",
                    path.display(),
                    last.x.len(),
                    object.name,
                    own.len()
                )));
            }
            x[own.clone()].copy_from_slice(&last.x);
            for ((v, now), before) in v[own].iter_mut().zip(&last.x).zip(&last.before) {
                *v = from_fps(&from.folder).map_err(wrong)? * (*now - *before);
            }
            found += 1;
        }
        match found {
            0 => Err(wrong(format!(
                "{}: no cloth of this scene is in it",
                from.folder.display()
            ))),
            _ => Ok(()),
        }
    }
}

/// Frames per second of an earlier run.
fn from_fps(folder: &std::path::Path) -> Result<f64, String> {
    let path = folder.join("scene.toml");
    let text =
        std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let scene: toml::Table = text
        .parse()
        .map_err(|_| format!("{}: not a scene", path.display()))?;
    let fps = scene.get("fps").and_then(toml::Value::as_float);
    fps.ok_or_else(|| format!("{}: it has no `fps`", path.display()))
}
