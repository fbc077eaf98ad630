//! What a run goes by: frames per second, lengths of intervals, repulsions and stages.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::TICKS_PER_FRAME;
use crate::error::ValueError;
use crate::grid::Grid;
use crate::response::{Hold, Impulses, Inelastic, Repulsion, SemiGlobal, Stage};

/// How long an interval may be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TimeSettings {
    /// Longest interval, in frames; rounded down to a power of two, at most 1. Contact is looked for once per interval, and intervals become
    /// short by themselves where it is fast.
    pub max_interval: f64,
    /// Shortest interval, in frames; rounded down to a power of two. Fail-safes run at this length only.
    pub min_interval: f64,
    /// Integrator loops that one interval may take; more make it shorter, but not below `min_interval`.
    pub max_loops: u32,
    /// How much of its rest length repulsions and response may stretch an edge by within one interval; more, and the interval is tried again
    /// at half its length. What is stopped while its neighbours go on is what tears cloth: the limit makes intervals short where contact is
    /// fast, and leaves them long where it is at rest. `inf` switches it off.
    /// With [`Repulsion::in_loops`] a response that would add energy is not taken either.
    pub max_stretch: f64,
    /// What becomes of velocities after a response.
    pub velocity: VelocityUpdate,
    /// Intervals for which the damping of the cloth acts on the change of velocity by repulsions and response, 0 and up: spreads the shock
    /// of an impact over the cloth around it (course notes). 0 leaves it as it is.
    pub smoothing: f64,
    /// Share of the approach speed that returns when something is flown into, 0 to 1: an extra collision step
    /// on the velocities at the start of each interval (course notes).
    pub restitution: f64,
}

impl Default for TimeSettings {
    fn default() -> Self {
        Self {
            max_interval: 1.0,
            min_interval: 1.0 / 64.0,
            max_loops: 128,
            max_stretch: 0.1,
            velocity: VelocityUpdate::Settle,
            smoothing: 0.0,
            restitution: 0.0,
        }
    }
}

impl TimeSettings {
    /// In ticks.
    pub(super) fn longest(&self) -> u64 {
        ticks(self.max_interval)
    }

    /// In ticks.
    pub(super) fn shortest(&self) -> u64 {
        ticks(self.min_interval).min(self.longest())
    }
}

/// The power of two of ticks at or below a number of frames.
fn ticks(frames: f64) -> u64 {
    let ticks = (frames * TICKS_PER_FRAME as f64).clamp(1.0, TICKS_PER_FRAME as f64) as u64;
    1 << ticks.ilog2()
}

/// How the end velocity follows from the response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VelocityUpdate {
    /// `v + dv` for all vertices, then what still approaches at a contact is stopped, with friction: ours. It alone
    /// gives a sliding cloth all of its acceleration, and one at rest no velocity.
    Settle,
    /// Vertices that were touched take their mean velocity over the interval, the rest keep the integrator's;
    /// without impacts only the change is added \[SMT08\].
    Sifakis,
    /// `v + dv` for all vertices, `dv` being the response's change of the mean velocity (course notes).
    Notes,
}

/// What becomes of a start in which faces cross.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnTangle {
    /// It is refused, with what crosses and where.
    #[default]
    Refuse,
    /// It is accepted with its paths listed, and untangled while the run goes on.
    Untangle,
}

/// What becomes of a run when scripted objects leave no room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnPinch {
    /// It ends with an error that names the objects, the frame and what is missing; all earlier frames stay.
    #[default]
    Stop,
    /// It goes on with the crossing listed, and untangles it when there is room again.
    Tangle,
}

/// Everything about the collision step that a scene can set.
///
/// # Examples
/// ```
/// use percale::Settings;
/// use percale::response::Stage;
///
/// let mut settings = Settings {
///     response: vec![Stage::named("inelastic").unwrap()], // without impulses before it
///     ..Settings::default()
/// };
/// assert!(settings.check().is_ok());
/// settings.time.max_interval = f64::NAN;
/// assert!(settings.check().is_err(), "refused by name");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Output frames per second.
    pub fps: f64,
    /// Interval lengths and velocities.
    pub time: TimeSettings,
    /// Repulsions, before the stages.
    pub repulsion: Repulsion,
    /// Stages of every attempt.
    pub response: Vec<Stage>,
    /// Passes of these stages: 1, or 2 for objects first and then cloth with itself.
    pub passes: u32,
    /// Further stages at the shortest interval.
    pub failsafe: Vec<Stage>,
    /// What positions at output frames are rounded to.
    pub grid: Grid,
    /// What becomes of a start in which faces cross.
    pub start: OnTangle,
    /// What becomes of a run when scripted objects leave no room.
    pub on_pinch: OnPinch,
}

impl Default for Settings {
    /// What scenes have that say nothing: 60 frames per second, the default stages, nothing rounded.
    fn default() -> Self {
        Self {
            fps: 60.0,
            time: TimeSettings::default(),
            repulsion: Repulsion::default(),
            response: Self::default_response(),
            passes: 1,
            failsafe: Self::default_failsafe(),
            grid: Grid::None,
            start: OnTangle::Refuse,
            on_pinch: OnPinch::Stop,
        }
    }
}

impl Settings {
    /// Five rounds of impulses for what is scattered, then zones as a whole: fewest retries and least energy lost of the combinations
    /// measured (docs/measurements.md).
    pub fn default_response() -> Vec<Stage> {
        let impulses = Impulses {
            max_rounds: 5,
            ..Impulses::default()
        };
        vec![
            Stage::Impulses(impulses),
            Stage::Inelastic(Inelastic::default()),
        ]
    }

    /// Hold, for the rest.
    pub fn default_failsafe() -> Vec<Stage> {
        vec![Stage::Hold(Hold::default())]
    }

    /// The semi-global set that is to be rows of the integrator's solve, if there is one.
    pub(super) fn constrained(&self) -> Option<&SemiGlobal> {
        self.response.iter().find_map(Stage::of_system)
    }

    /// Whether all numbers are in their ranges.
    ///
    /// # Errors
    /// Names the first that is not.
    pub fn check(&self) -> Result<(), ValueError> {
        let finite = |least: f64| move |value: f64| value.is_finite() && value >= least;
        let share = |value: f64| (0.0..=1.0).contains(&value);
        let above = |value: f64| value.is_finite() && value > 0.0;
        let Self {
            fps,
            time,
            repulsion,
            ..
        } = self;
        for stage in self.response.iter().chain(&self.failsafe) {
            stage.check()?;
        }
        ValueError::check("fps", *fps, "finite and above 0", above)?;
        let is_known = |passes: f64| passes == 1.0 || passes == 2.0;
        ValueError::check("passes", f64::from(self.passes), "1 or 2", is_known)?;
        ValueError::check(
            "time.max_interval",
            time.max_interval,
            "finite and above 0",
            above,
        )?;
        ValueError::check(
            "time.min_interval",
            time.min_interval,
            "finite and above 0",
            above,
        )?;
        ValueError::check(
            "time.max_stretch",
            time.max_stretch,
            "above 0, or inf",
            |value| value > 0.0,
        )?;
        ValueError::check(
            "time.smoothing",
            time.smoothing,
            "finite and at least 0",
            finite(0.0),
        )?;
        ValueError::check(
            "time.restitution",
            time.restitution,
            "between 0 and 1",
            share,
        )?;
        ValueError::check(
            "repulsion.stiffness",
            repulsion.stiffness,
            "finite and at least 0",
            finite(0.0),
        )?;
        ValueError::check(
            "repulsion.damping",
            repulsion.damping,
            "between 0 and 1",
            share,
        )?;
        ValueError::check(
            "repulsion.tolerance",
            repulsion.tolerance,
            "finite and at least 0",
            finite(0.0),
        )
    }
}
