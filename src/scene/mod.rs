//! Scenes: what is in them, read from TOML, built into a simulation.

mod build;
mod file;
pub mod shapes;
pub mod tangles;

use serde::{Deserialize, Serialize};

pub use file::{BUILTIN, SceneError};
pub use shapes::Shape;

use crate::dynamics::{self, Fabric, Stretch};
use crate::grid::Grid;
use crate::response::{Hold, Impulses, Repulsion, Stage};
use crate::step::TimeSettings;

/// A scene, with every default filled in. SI units, Y up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    /// Output frames after the start.
    pub frames: u64,
    /// Output frames per second.
    #[serde(default = "default_fps")]
    pub fps: f64,
    /// Distance that features keep, in metres [default: 1 % of the mean cloth edge].
    #[serde(default)]
    pub thickness: Option<f64>,
    /// Coulomb coefficient of all pairs of surfaces; at least 0.
    #[serde(default = "default_friction")]
    pub friction: f64,
    /// Simulated objects, at least one.
    pub cloth: Vec<Cloth>,
    /// Scripted objects.
    #[serde(default)]
    pub obstacle: Vec<Obstacle>,
    /// Integrator and external forces.
    #[serde(default)]
    pub dynamics: dynamics::Settings,
    /// Interval lengths and velocities.
    #[serde(default)]
    pub time: TimeSettings,
    /// Repulsions, before the stages.
    #[serde(default)]
    pub repulsion: Repulsion,
    /// Stages of every attempt.
    #[serde(default = "default_response")]
    pub response: Vec<Stage>,
    /// Further stages at the shortest interval.
    #[serde(default = "default_failsafe")]
    pub failsafe: Vec<Stage>,
    /// What is written.
    #[serde(default)]
    pub output: Output,
}

fn default_fps() -> f64 {
    60.0
}

fn default_friction() -> f64 {
    0.3
}

fn default_response() -> Vec<Stage> {
    vec![Stage::Impulses(Impulses::default())]
}

fn default_failsafe() -> Vec<Stage> {
    vec![Stage::Hold(Hold::default())]
}

/// A simulated object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cloth {
    /// Name, unique in the scene; names its files.
    pub name: String,
    /// Rest shape.
    pub shape: Shape,
    /// Where its centre starts, in metres.
    #[serde(default)]
    pub position: [f64; 3],
    /// Rotation about x, then y, then z, in degrees.
    #[serde(default)]
    pub rotation: [f64; 3],
    /// What it is made of: a name or a table.
    #[serde(default)]
    pub fabric: Fabric,
    /// How it resists stretching: `springs` or `membrane`.
    #[serde(default)]
    pub stretch: Stretch,
}

/// A scripted object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Obstacle {
    /// Name, unique in the scene; names its files.
    pub name: String,
    /// Shape.
    pub shape: Shape,
    /// Where its centre is, in metres.
    #[serde(default)]
    pub position: [f64; 3],
    /// Rotation about x, then y, then z, in degrees.
    #[serde(default)]
    pub rotation: [f64; 3],
}

/// What is written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Output {
    /// What positions at output frames are rounded to, before they are certified.
    pub grid: Grid,
}
