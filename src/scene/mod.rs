//! Scenes: what is in them, read from TOML, built into a simulation.
//!
//! | file | holds |
//! |---|---|
//! | `file` | reading and writing TOML, with errors that say where and what instead |
//! | `form` | what is wrong with keys, names, types and lengths, in plain words |
//! | `builtin` | the scenes that come with the library |
//! | `camera`, `poster` | from where it is looked at, and the frame that stands for all |
//! | `check` | what values may be |
//! | `inputs` | files that a scene names: found, and pinned by their hash |
//! | `looks` | what files say of surfaces beyond triangles |
//! | `schema` | the form of scene files, for editors |
//! | `shapes` | generators of triangles |
//! | `motion`, `follow`, `region` | how scripted parts move, what goes along with them, and which vertices they are |
//! | `objects` | copies made, shapes generated, regions chosen |
//! | `tangles` | crossing meshes of every kind, for untangling |
//! | `rest` | shapes without forces: patterns and other meshes |
//! | `staging` | what changes on the way, and earlier runs that a scene begins with |
//! | `seams` | which vertices are sewn together |
//! | `source` | what a scene was read from, and changes of its keys |
//! | `sequence` | whether samples are of the shape that they move |
//! | `units` | guesses about files in other units |
//! | `size` | what memory it takes |
//! | `build` | all of it together, as a simulation |
//!
//! To add a key: a field with its doc comment below (or in the settings it belongs to), its range in `check`, its use in `build`, then
//! `PERCALE_BLESS=1 cargo test --lib schema` writes `scenes/scene.schema.json` anew.

mod build;
mod builtin;
mod camera;
mod check;
mod file;
mod follow;
mod form;
mod inputs;
mod looks;
mod motion;
mod objects;
mod region;
mod rest;
mod schema;
mod seams;
mod sequence;
pub mod shapes;
mod size;
mod source;
mod staging;
#[doc(hidden)]
pub mod tangles;
mod units;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use builtin::{BUILTIN, TANGLES};
pub use camera::{Camera, Viewpoint};
pub use file::{SceneError, Variant};
pub use motion::{Key, Motion};
pub use objects::Counts;
pub use region::{Direction, Region};
pub use rest::RestShape;
pub use seams::Seam;
pub use shapes::Shape;
pub use size::Size;
pub use staging::{StageKey, StartFrom};

use self::source::Source;
use crate::dynamics::{self, Fabric, Stretch};
use crate::geometry::BodyKind;
pub use crate::grid::Grid;
use crate::response::{Repulsion, Stage};
use crate::step::{self, TimeSettings};
pub use crate::step::{OnPinch, OnTangle};

/// A scene, with every default filled in. SI units, Y up.
///
/// ```
/// use percale::scene::Scene;
///
/// let scene = Scene::load("drop")?
///     .set("frames", 2)?
///     .set("cloth.0.shape.cells", "[8, 8]")?
///     .set("obstacle.ball.shape.subdivisions", 2)?;
/// let mut simulation = scene.build()?;
/// assert_eq!(simulation.step()?.intersections, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(description = "A scene, with every default filled in. SI units, Y up.")]
pub struct Scene {
    /// Figure or table that the scene is made after.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub paper: String,
    /// Output frames after the start.
    pub frames: u64,
    /// Output frames per second.
    #[serde(default = "default_fps")]
    pub fps: f64,
    /// Distance that features keep, in metres [default: 1 % of the mean cloth edge].
    #[serde(default)]
    pub thickness: Option<f64>,
    /// Coulomb coefficient of all pairs of surfaces without one of their own; at least 0.
    #[serde(default = "default_friction")]
    pub friction: f64,
    /// What becomes of a start in which faces cross: `refuse`, or `untangle` it while the run goes on.
    #[serde(default)]
    pub start: OnTangle,
    /// An earlier run whose last frame this one begins with [default: none, every cloth starts as its shape is].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_from: Option<StartFrom>,
    /// What becomes of a run when scripted objects leave no room for cloth between them.
    #[serde(default)]
    pub on_pinch: OnPinch,
    /// Pairs of surfaces with a friction of their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub surface_pair: Vec<SurfacePair>,
    /// Simulated objects, at least one.
    pub cloth: Vec<Cloth>,
    /// Scripted objects.
    #[serde(default)]
    pub obstacle: Vec<Obstacle>,
    /// Cloths sewn to one another, or to themselves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seam: Vec<Seam>,
    /// Gravity, wind, friction, the strength of seams and of soft pins, as they change on the way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stage: Vec<StageKey>,
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
    #[serde(default = "step::Settings::default_response")]
    pub response: Vec<Stage>,
    /// Passes of these stages: 1 over all impacts, or 2, first over those with obstacles and then over those of cloth with cloth. What the
    /// second pass pushes into an obstacle is left to shorter intervals and to fail-safes: for comparison only.
    #[serde(default = "default_passes")]
    pub passes: u32,
    /// Further stages at the shortest interval.
    #[serde(default = "step::Settings::default_failsafe")]
    pub failsafe: Vec<Stage>,
    /// What is written.
    #[serde(default)]
    pub output: Output,
    /// From where `percale render` looks: "auto", or a table of `position`, `target` and `fov`.
    #[serde(default, skip_serializing_if = "Camera::is_auto")]
    pub camera: Camera,
    /// Output frame that stands for the whole run where there is room for one picture [default: the last, also where there are fewer].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub poster: Option<u64>,
    /// Changes that make the small variant: keys as for `--set`, e.g. `"cloth.0.shape.cells" = [8, 8]`.
    #[serde(default, skip_serializing)]
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    pub small: BTreeMap<String, toml::Value>,
    /// What it was read from, for [`Scene::set`].
    #[serde(skip)]
    source: Source,
}

fn default_fps() -> f64 {
    60.0
}

fn default_friction() -> f64 {
    0.3
}

fn default_passes() -> u32 {
    1
}

/// Friction between two surfaces.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SurfacePair {
    /// Names that cloths and obstacles give as their `surface`; the same twice for cloth on itself.
    pub surfaces: [String; 2],
    /// Coulomb coefficient; at least 0.
    pub friction: f64,
}

/// A simulated object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cloth {
    /// Name, unique in the scene; names its files.
    pub name: String,
    /// What it looks like at the start, and without forces, unless `rest` says otherwise.
    pub shape: Shape,
    /// Its shape without forces, if that is not the one it starts in: a draped garment keeps the sizes of its pattern.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest: Option<RestShape>,
    /// Where its centre starts, in metres; of a `file` shape, where the origin of the file's coordinates starts.
    #[serde(default)]
    pub position: [f64; 3],
    /// Rotation about x, then y, then z, in degrees, about the place that `position` names.
    #[serde(default)]
    pub rotation: [f64; 3],
    /// Velocity at the start, in metres per second.
    #[serde(default)]
    pub velocity: [f64; 3],
    /// Several of them: `name-0`, `name-1`, ...
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copies: Option<Copies>,
    /// What it is made of: a name or a table.
    #[serde(default)]
    pub fabric: Fabric,
    /// How it resists stretching: `springs` or `membrane`.
    #[serde(default)]
    pub stretch: Stretch,
    /// Name by which pairs of surfaces find it.
    #[serde(default = "cloth_surface")]
    pub surface: String,
    /// Of two cloths in contact the one of the higher layer lies outside: on the side that the faces of the lower look to. This is a claim,
    /// not a force: collisions keep whatever order the scene starts with. A run warns if the start contradicts it, and reports count the places
    /// (`out_of_order`).
    #[serde(default)]
    pub layer: i32,
    /// Distance that its features keep, in metres [default: the scene's].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thickness: Option<f64>,
    /// Parts that follow a script.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pin: Vec<Pin>,
    /// Maps over its vertices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paint: Vec<Paint>,
}

fn cloth_surface() -> String {
    "cloth".into()
}

/// A row of equal cloths.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Copies {
    /// How many.
    pub count: u32,
    /// From each to the next, in metres.
    #[serde(default)]
    pub step: [f64; 3],
    /// Added to the rotation from each to the next, in degrees.
    #[serde(default)]
    pub turn: [f64; 3],
    /// Each lets go of its pins by this much later than the one before, in seconds.
    #[serde(default)]
    pub delay: f64,
}

/// Vertices of a cloth that are held.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pin {
    /// Which.
    pub region: Region,
    /// How they move; nothing: they stay where they start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub motion: Vec<Motion>,
    /// When they are let go, in seconds from the start of the scene [default: never].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<f64>,
    /// Pulled to their places by springs instead of being there to the bit; not with `until`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub soft: Option<Springs>,
}

/// Springs on each vertex of a region.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Springs {
    /// Along x, y and z, in newtons per metre; 0 leaves a direction free.
    pub stiffness: [f64; 3],
    /// Damping relative to the stiffness, in seconds.
    #[serde(default = "springs_damping")]
    pub damping: f64,
}

fn springs_damping() -> f64 {
    0.01
}

/// A map over the vertices of a cloth, multiplied with what the cloth has anyway; several multiply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Paint {
    /// What is changed.
    pub quantity: Quantity,
    /// Where; elsewhere the map is 1.
    #[serde(default)]
    pub region: Region,
    /// Value of the map, or what the attribute is multiplied by.
    #[serde(default = "one")]
    pub factor: f64,
    /// Number per vertex in the cloth's mesh file, e.g. "red" of a painted PLY; whole numbers count as shares of
    /// the largest that they can be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attribute: Option<String>,
}

fn one() -> f64 {
    1.0
}

/// What a map changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Mass per area; stiffness stays.
    Density,
    /// Distance that features keep.
    Thickness,
}

/// A scripted object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Obstacle {
    /// Name, unique in the scene; names its files.
    pub name: String,
    /// Shape.
    pub shape: Shape,
    /// Where its centre is, in metres; of a `file` shape, where the origin of the file's coordinates is.
    #[serde(default)]
    pub position: [f64; 3],
    /// Rotation about x, then y, then z, in degrees, about the place that `position` names.
    #[serde(default)]
    pub rotation: [f64; 3],
    /// How it moves from there; several are applied one after the other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub motion: Vec<Motion>,
    /// Follows its motion with a finite mass, so that contact can hold it up; otherwise nothing does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub soft: Option<Soft>,
    /// Name by which pairs of surfaces find it.
    #[serde(default = "obstacle_surface")]
    pub surface: String,
    /// Distance that its features keep, in metres [default: the scene's].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thickness: Option<f64>,
}

/// How an obstacle follows its script if it gives way: simulated as cloth, every vertex on a critically damped spring.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Soft {
    /// Time by which its springs lag, in seconds: it trails a steady motion by 2 lag times the speed, sags by lag²
    /// times gravity, and pushes with mass times distance over lag².
    pub lag: f64,
    /// What its surface is made of.
    #[serde(default)]
    pub fabric: Fabric,
}

impl Obstacle {
    /// Whether pairs within it are judged: a soft obstacle is simulated.
    pub fn kind(&self) -> BodyKind {
        match self.soft {
            Some(_) => BodyKind::Cloth,
            None => BodyKind::Obstacle,
        }
    }
}

fn obstacle_surface() -> String {
    "obstacle".into()
}

impl Scene {
    /// Names of all objects in the order of the mesh's bodies: cloths with their copies, then obstacles.
    pub fn object_names(&self) -> Vec<(String, BodyKind)> {
        let cloths = self.cloth.iter().flat_map(Cloth::names);
        let obstacles = self.obstacle.iter();
        let obstacles = obstacles.map(|obstacle| (obstacle.name.clone(), obstacle.kind()));
        let cloths = cloths.map(|name| (name, BodyKind::Cloth));
        cloths.chain(obstacles).collect()
    }
}

impl Cloth {
    /// Its name, or those of its copies.
    pub fn names(&self) -> Vec<String> {
        match &self.copies {
            None => vec![self.name.clone()],
            Some(copies) => (0..copies.count)
                .map(|copy| format!("{}-{copy}", self.name))
                .collect(),
        }
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// What is written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Output {
    /// What positions at output frames are rounded to, before they are certified.
    pub grid: Grid,
    /// Frames at the beginning in which the scene is only made ready: exports and pictures begin with the one after them, as their frame 0.
    #[serde(skip_serializing_if = "is_zero")]
    pub pre_roll: u64,
}
