//! The time loop: one output frame in as many certified intervals as it takes.
//!
//! ```text
//! Verified ──propose──▶ Candidate ──repel──▶ Candidate ──respond──▶ Candidate ──accept──▶ Verified
//! ```
//!
//! Source: Sifakis §3 \[SMT08\], after \[BFA02\]. An interval that is refused is retried at half its length; the
//! fail-safe stages run only at the shortest one. Time is counted in ticks, so that intervals halve, double and
//! land on frames exactly. Nothing depends on the clock: the same scene gives the same bits for any number of
//! threads, and after a restart from a [`Checkpoint`].

mod forecast;

use std::collections::BTreeMap;
use std::sync::Arc;

use cpu_time::ProcessTime;
use glam::DVec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::dynamics::{self, Dynamics, Energy};
use crate::error::{Pinch, StartError, StepError};
use crate::geometry::detect::{Detector, Margin};
use crate::geometry::mesh::flush_tiny;
use crate::geometry::{Mesh, Proximity};
use crate::grid::{self, Grid};
use crate::layers::{self, OutOfOrder};
use crate::response::inelastic::zone::Zone;
use crate::response::squeeze::{self, NoRoom, squeeze};
use crate::response::{
    Account, Pass, Pressed, Repelled, Repulsion, Response, Scope, Stage, bounce, respond_in, settle,
};
use crate::script::Script;
use crate::state::{Candidate, Surfaces};
use crate::verify::{self, Verified, audit};

pub use forecast::{Doubt, Forecast, Stiffest};

/// Ticks per output frame; intervals are powers of two of them.
pub const TICKS_PER_FRAME: u64 = 1 << 16;

/// How long an interval may be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TimeSettings {
    /// Longest interval, in frames; rounded down to a power of two, at most 1. Newmark needs no short ones, implicit Euler damps by its
    /// length.
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
            max_interval: 0.5,
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
    fn longest(&self) -> u64 {
        ticks(self.max_interval)
    }

    fn shortest(&self) -> u64 {
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

/// Everything about the collision step that a scene can set.
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
}

/// What [`Simulation::new`] is made of.
pub struct Setup {
    /// Topology of all bodies.
    pub mesh: Arc<Mesh>,
    /// Start positions, in metres.
    pub x: Vec<DVec3>,
    /// Start velocities, in metres per second.
    pub v: Vec<DVec3>,
    /// Forces and masses.
    pub dynamics: Dynamics,
    /// Thickness and friction.
    pub surfaces: Surfaces,
    /// Where scripted vertices go.
    pub script: Script,
    /// The collision step.
    pub settings: Settings,
}

/// Cloth in motion: a certified state and what moves it on.
pub struct Simulation {
    dynamics: Dynamics,
    surfaces: Surfaces,
    script: Script,
    settings: Settings,
    detector: Detector,
    state: Verified,
    tick: u64,
    interval: u64,
    pressed: Vec<Pressed>,
    hardest: Option<(u32, Zone)>,
}

/// All that a run remembers between frames.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// Time, in ticks.
    pub tick: u64,
    /// Length of the next interval, in ticks.
    pub interval: u64,
    /// Positions, in metres.
    pub x: Vec<DVec3>,
    /// Velocities, in metres per second.
    pub v: Vec<DVec3>,
    /// Forces of the repulsions over the last interval, by pair.
    pub pressed: Vec<Pressed>,
}

/// Impacts by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImpactCount {
    /// Of a vertex with a face.
    pub vertex_face: usize,
    /// Of two edges.
    pub edge_edge: usize,
}

/// Processor time of all threads by phase, in milliseconds; the only part of a report that differs between runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Phases {
    /// Internal dynamics.
    pub propose_ms: f64,
    /// Proximities and repulsions.
    pub repel_ms: f64,
    /// Detection and stages.
    pub respond_ms: f64,
    /// Snapping and certification.
    pub accept_ms: f64,
    /// The independent audit and the gap at the output frame.
    pub audit_ms: f64,
}

impl Phases {
    /// Sum of all phases, in milliseconds.
    pub fn total_ms(&self) -> f64 {
        self.propose_ms + self.repel_ms + self.respond_ms + self.accept_ms + self.audit_ms
    }
}

/// What happened in one output frame.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FrameReport {
    /// Number of the frame; the start state is frame 0.
    pub frame: u64,
    /// Crossing face pairs at its end, by the auditor: 0, or something is very wrong.
    pub intersections: usize,
    /// Accepted intervals.
    pub intervals: usize,
    /// Refused attempts.
    pub retries: usize,
    /// Attempts that were given up because the response would have stretched the cloth too much.
    #[serde(default)]
    pub stretched: usize,
    /// Integrator loops of the accepted intervals.
    pub loops: u64,
    /// Impacts at the beginning of every round, summed.
    pub impacts: ImpactCount,
    /// Most impacts in one round.
    pub peak_impacts: usize,
    /// Rounds by stage.
    pub rounds: BTreeMap<String, usize>,
    /// Intervals in which a fail-safe stage had to act, by stage.
    pub failsafes: BTreeMap<String, usize>,
    /// Zones that the inelastic projection had to leave to the next stage or to a shorter interval, in accepted intervals.
    #[serde(default)]
    pub unsolved_zones: usize,
    /// What repulsions and stages did to momentum and energy, summed over the accepted intervals in which they acted.
    pub stages: BTreeMap<String, Account>,
    /// Free vertices that could not be put on the output grid.
    pub off_grid: usize,
    /// Smallest gap of a pair nearer than its thickness at the end of the frame, in metres.
    pub smallest_gap: Option<f64>,
    /// Places at the end of the frame where a cloth of a higher layer lies inside one of a lower layer, see [`layers::out_of_order`].
    #[serde(default)]
    pub out_of_order: usize,
    /// `Σ m |x_new − x0|²` of touched vertices, in kg·m².
    pub kept: f64,
    /// `Σ m |x1 − x0|²` of touched vertices, in kg·m²; `kept` divided by this is the kept share.
    pub wanted: f64,
    /// `Σ |s_new|²/k` of the slides s (relative motion along the contact) of impacts before any stage, in kg·m².
    #[serde(default)]
    pub slid: f64,
    /// The same for the candidate motion; `slid` divided by this is the sliding kept.
    #[serde(default)]
    pub slide_wanted: f64,
    /// Kinetic energy at the end, in joules.
    pub kinetic_energy: f64,
    /// Cloth faces above the strain limit of their fabric at the end: contact and scripts come before the limit.
    #[serde(default)] // folders of earlier builds have none
    pub strain_over: u32,
    /// Largest principal strain of all cloth faces at the end (0.1 = stretched by a tenth).
    #[serde(default)]
    pub largest_strain: f64,
    /// The face that has it.
    #[serde(default)]
    pub strained_face: u32,
    /// Processor time by phase.
    pub phases: Phases,
}

impl FrameReport {
    /// Kinetic energy of the mean motion that repulsions and stages took, in joules.
    pub fn energy_lost(&self) -> f64 {
        self.stages.values().map(Account::energy_lost).sum()
    }
}

/// Why an attempt came to nothing.
enum Refusal {
    /// The response would have stretched the cloth too much.
    Stretched,
    /// The end was not certified.
    Step(StepError),
}

/// An interval grows again after one that stretched the cloth by at most this share of the limit: twice the length makes about twice the
/// stretch where something is stopped, four times where something lies.
const CALM: f64 = 0.4;

/// An interval is also too long if the response would store more energy in the cloth than it takes from its motion, by this share of the
/// energy of the motion: squeezed together at the end of a long interval, cloth would be shot away in the next.
const ADDED: f64 = 0.05;

/// Changes of length, as a share of the rest length, that store too little energy to look at it.
const HARMLESS: f64 = 0.02;

/// What one accepted interval did.
struct Attempt {
    response: Response,
    /// By repulsions and response, as a share of what is allowed.
    strain: f64,
    loops: u64,
    off_grid: usize,
    kept: f64,
    wanted: f64,
    slid: f64,
    slide_wanted: f64,
}

impl Simulation {
    /// Certifies the start and makes it ready to run.
    ///
    /// # Errors
    /// The start is unusable or tangled.
    pub fn new(setup: Setup) -> Result<Self, StartError> {
        let Setup {
            mesh,
            x,
            v,
            dynamics,
            surfaces,
            script,
            settings,
        } = setup;
        let detector = Detector::new(&mesh);
        let state = verify::start(mesh, x, v)?;
        let interval = settings.time.longest();
        Ok(Self {
            dynamics,
            surfaces,
            script,
            settings,
            detector,
            state,
            tick: 0,
            interval,
            pressed: Vec::new(),
            hardest: None,
        })
    }

    /// The certified state.
    pub fn state(&self) -> &Verified {
        &self.state
    }

    /// Mass of each vertex, in kilograms; 0 for obstacles, the true share for pins.
    pub fn mass(&self) -> &[f64] {
        self.dynamics.mass()
    }

    /// 1/kg for each vertex; 0 for those that the script moves.
    pub fn inverse_mass(&self) -> &[f64] {
        self.dynamics.inverse_mass()
    }

    /// Energies of the cloth.
    pub fn energy(&self) -> Energy {
        let (x, v) = (self.state.positions(), self.state.velocities());
        self.dynamics.energy(x, v)
    }

    /// The zone that took the inelastic projection most iterations in any attempt so far (`u32::MAX`: unsolved).
    pub fn hardest_zone(&self) -> Option<&(u32, Zone)> {
        self.hardest.as_ref()
    }

    /// Output frames done so far.
    pub fn frame(&self) -> u64 {
        self.tick / TICKS_PER_FRAME
    }

    /// All that is needed to go on later, to the same bits; taken between frames.
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            tick: self.tick,
            interval: self.interval,
            x: self.state.positions().to_vec(),
            v: self.state.velocities().to_vec(),
            pressed: self.pressed.clone(),
        }
    }

    /// Goes on from a checkpoint of the same scene; its positions are certified anew.
    ///
    /// # Errors
    /// The checkpoint's positions are unusable or tangled: it is not one of this scene.
    pub fn restore(&mut self, checkpoint: Checkpoint) -> Result<(), StartError> {
        let Checkpoint {
            tick,
            interval,
            x,
            v,
            pressed,
        } = checkpoint;
        self.state = verify::start(Arc::clone(self.state.mesh()), x, v)?;
        (self.tick, self.interval, self.pressed) = (tick, interval, pressed);
        self.dynamics.hold(&self.script.held(self.frame()));
        Ok(())
    }

    /// Advances by one output frame.
    ///
    /// # Errors
    /// An interval of the shortest length was refused after all stages. The state is then that of the last
    /// accepted interval.
    pub fn step(&mut self) -> Result<FrameReport, StepError> {
        // to enter the pool once costs less than to enter it for every loop
        rayon::scope(|_| self.advance())
    }

    fn advance(&mut self) -> Result<FrameReport, StepError> {
        if self.script.lets_go(self.frame()) {
            self.dynamics.hold(&self.script.held(self.frame()));
        }
        let end = (self.frame() + 1) * TICKS_PER_FRAME;
        let mut report = FrameReport {
            frame: self.frame() + 1,
            ..Default::default()
        };
        while self.tick < end {
            let mut length = self.affordable(self.interval);
            let attempt = loop {
                match self.attempt(length, &mut report.phases) {
                    Ok(attempt) => break attempt,
                    Err(Refusal::Stretched) => {
                        report.stretched += 1;
                        length /= 2;
                    }
                    Err(Refusal::Step(error)) if length <= self.settings.time.shortest() => {
                        return Err(error);
                    }
                    Err(Refusal::Step(_)) => {
                        report.retries += 1;
                        length /= 2;
                    }
                }
            };
            self.tick += length;
            // doubled intervals must still land on frames: only where the tick is a multiple of them
            let may_grow = 2 * length <= self.settings.time.longest()
                && self.tick.is_multiple_of(2 * length)
                && attempt.strain <= CALM;
            self.interval = if may_grow { 2 * length } else { length };
            self.count(&attempt, &mut report);
        }

        let clock = ProcessTime::now();
        report.intersections =
            audit::intersections(self.state.mesh(), self.state.positions()).len();
        let near = self.near();
        report.smallest_gap = near.iter().map(|near| near.gap).min_by(f64::total_cmp);
        let (mesh, x) = (self.state.mesh(), self.state.positions());
        let out_of_order = layers::out_of_order(mesh, x, &self.surfaces, &near);
        report.out_of_order = out_of_order.iter().map(|cloths| cloths.places).sum();
        report.kinetic_energy = self.kinetic_energy();
        let strain = self.dynamics.strain(self.state.positions());
        report.strain_over = strain.over;
        report.largest_strain = strain.largest;
        report.strained_face = strain.face;
        report.phases.audit_ms += milliseconds(clock);
        Ok(report)
    }

    /// The interval shortened until it takes at most `max_loops` integrator loops, but not below the shortest.
    fn affordable(&self, mut length: u64) -> u64 {
        let longest = f64::from(self.settings.time.max_loops)
            * self.dynamics.max_loop(self.state.positions());
        while length > self.settings.time.shortest()
            && length as f64 * self.seconds_per_tick() > longest
        {
            length /= 2;
        }
        length
    }

    fn seconds_per_tick(&self) -> f64 {
        1.0 / (self.settings.fps * TICKS_PER_FRAME as f64)
    }

    /// One attempt at one interval of `length` ticks: the flow, without retries.
    fn attempt(&mut self, length: u64, phases: &mut Phases) -> Result<Attempt, Refusal> {
        let seconds_per_tick = self.seconds_per_tick();
        let Self {
            dynamics,
            surfaces,
            script,
            settings,
            detector,
            state,
            tick,
            pressed,
            hardest,
            ..
        } = self;
        let (time, dt) = (
            *tick as f64 * seconds_per_tick,
            length as f64 * seconds_per_tick,
        );

        let clock = ProcessTime::now();
        let target = script.at(*tick + length, state.positions());
        let bounced = (settings.time.restitution > 0.0).then(|| {
            let (w, e) = (dynamics.inverse_mass(), settings.time.restitution);
            bounce(e, state, &target, dt, w, surfaces, detector)
        });
        let velocities = bounced.as_deref().unwrap_or(state.velocities());
        phases.propose_ms += milliseconds(clock);

        let clock = ProcessTime::now();
        let repulsion = &settings.repulsion;
        let share = length as f64 / settings.time.longest() as f64;
        let coast = |v: usize| match dynamics.inverse_mass()[v] {
            0.0 => target[v],
            _ => state.positions()[v] + dt * velocities[v],
        };
        let mut coasted = Candidate {
            start: state,
            inverse_mass: dynamics.inverse_mass(),
            surfaces,
            dt,
            x: (0..target.len()).map(coast).collect(),
        };
        flush_tiny(&mut coasted.x);
        let (near, mut coupling) = if repulsion.couples() && dynamics.takes_contact() {
            let (near, coming) = repulsion.foresee(&coasted, detector);
            let coupling = repulsion.couple(&near, &coming, share, pressed, &coasted);
            (near, Some(coupling))
        } else {
            (repulsion.near(&coasted, detector), None)
        };
        phases.repel_ms += milliseconds(clock);

        let clock = ProcessTime::now();
        let contact = coupling.as_mut().map(|c| c as &mut dyn dynamics::Contact);
        let mut proposal =
            dynamics.propose_touching(state.positions(), velocities, &target, time, dt, contact);
        flush_tiny(&mut proposal.x);
        phases.propose_ms += milliseconds(clock) - proposal.contact.spent_ms;
        phases.repel_ms += proposal.contact.spent_ms;

        let proposed = || Candidate {
            x: proposal.x.clone(),
            ..coasted.clone()
        };
        let mut candidate = proposed();
        let clock = ProcessTime::now();
        let mut repelled = match &coupling {
            Some(coupling) => Repelled {
                points: Vec::new(), // settled by the loops
                pressed: coupling.pressed(),
                opening: repulsion.reopen(&near, share, &mut candidate),
            },
            None => repulsion.apply(&near, share, pressed, &mut candidate),
        };
        let by_repulsion = Account::of(&proposal.x, &candidate);
        phases.repel_ms += milliseconds(clock);

        let clock = ProcessTime::now();
        let scopes: &[Scope] = match settings.passes {
            2 => &[Scope::Objects, Scope::Cloth],
            _ => &[Scope::All],
        };
        let stages = &settings.response[..];
        let mut passes: Vec<Pass<'_>> =
            scopes.iter().map(|&scope| Pass { scope, stages }).collect();
        if length <= settings.time.shortest() {
            passes.push(Pass {
                scope: Scope::All,
                stages: &settings.failsafe,
            });
        }
        let mut response = respond_in(&passes, &near, &mut candidate, detector);
        if let Some(zone) = response.hardest.take()
            && hardest.as_ref().is_none_or(|hardest| zone.0 > hardest.0)
        {
            *hardest = Some(*zone);
        }
        if !repelled.pressed.is_empty() {
            response.accounts.insert(0, ("repulsion", by_repulsion));
        }
        if coupling.is_some() {
            let account = Account::of_work(&proposal, dynamics.inverse_mass());
            response.accounts.insert(0, ("contact", account));
        }
        let [stretch, change] = stretch(&proposal.x, &candidate);
        let strain = stretch / settings.time.max_stretch;
        let adds_energy = || {
            let stored = |x: &[DVec3]| dynamics.elastic_energy(x);
            let added = stored(&candidate.x) - stored(&proposal.x);
            let moving = by_repulsion.energy_after;
            let lost = moving - Account::of(&proposal.x, &candidate).energy_after;
            added > lost + ADDED * moving
        };
        let is_strained = strain > 1.0 || coupling.is_some() && change > HARMLESS && adds_energy();
        phases.respond_ms += milliseconds(clock);
        if is_strained && length > settings.time.shortest() {
            return Err(Refusal::Stretched);
        }

        let at_frame = (*tick + length).is_multiple_of(TICKS_PER_FRAME);
        let judge = |mut candidate: Candidate<'_>, detector: &mut Detector, phases: &mut Phases| {
            let clock = ProcessTime::now();
            flush_tiny(&mut candidate.x);
            let responded = candidate.x.clone();
            let (off_grid, accepted) = if at_frame {
                let off_grid = grid::snap(settings.grid, &mut candidate, detector);
                (off_grid, verify::accept_stored(candidate, detector))
            } else {
                (0, verify::accept(candidate, detector))
            };
            phases.accept_ms += milliseconds(clock);
            (responded, off_grid, accepted)
        };
        let (mut responded, mut off_grid, mut accepted) = judge(candidate, detector, phases);
        let is_refused = matches!(accepted, Err(StepError::Unresolved { .. }));
        if is_refused && length <= settings.time.shortest() {
            let clock = ProcessTime::now();
            let mut squeezed = proposed();
            let mut answer = squeeze(&mut squeezed, detector);
            if matches!(answer, Err(NoRoom::Unknown)) {
                // whether there is room does not depend on where the cloth wants to go; at rest it meets least
                squeezed = proposed();
                let w = dynamics.inverse_mass();
                for (v, x) in squeezed.x.iter_mut().enumerate().filter(|v| w[v.0] > 0.0) {
                    *x = state.positions()[v];
                }
                answer = squeeze(&mut squeezed, detector);
            }
            phases.respond_ms += milliseconds(clock);
            match answer {
                // without fail-safes the stages are on their own
                Ok(_) if settings.failsafe.is_empty() => {}
                Ok(more) => {
                    response.add(more);
                    (responded, off_grid, accepted) = judge(squeezed, detector, phases);
                }
                Err(NoRoom::Pinched(pinched)) => {
                    let (w, mesh) = (dynamics.inverse_mass(), state.mesh());
                    return Err(Refusal::Step(StepError::Pinched(Box::new(Pinch {
                        frame: *tick / TICKS_PER_FRAME + 1,
                        time: time + dt,
                        ..Pinch::new(mesh, w, &pinched.points, pinched.room, pinched.reach)
                    }))));
                }
                Err(NoRoom::Unknown) => {}
            }
        }
        let mut next = accepted.map_err(Refusal::Step)?;
        let (kept, wanted) = kept_share(
            dynamics.mass(),
            state.positions(),
            &proposal.x,
            &responded,
            &response.touched,
        );
        let slide = |x: &[DVec3]| -> f64 {
            let each = response.met.iter().map(|point| {
                let motion = point.relative(x) - point.relative(state.positions());
                let along = motion - point.normal * motion.dot(point.normal);
                let k = point.inverse_mass(dynamics.inverse_mass());
                if k > 0.0 {
                    along.length_squared() / k
                } else {
                    0.0
                }
            });
            each.sum()
        };
        let (slid, slide_wanted) = (slide(&responded), slide(&proposal.x));
        let mean = |v: usize| (responded[v] - state.positions()[v]) / dt;
        let clock = ProcessTime::now();
        // from positions before snapping: laws are not to feel the output grid
        let change = responded.iter().zip(&proposal.x);
        let mut dv: Vec<DVec3> = change.map(|(after, x)| (after - x) / dt).collect();
        for (dv, opening) in dv.iter_mut().zip(&repelled.opening) {
            *dv -= opening / dt;
        }
        if settings.time.smoothing > 0.0 {
            dynamics.smooth(&responded, &mut dv, settings.time.smoothing * dt);
        }
        let proposed = proposal.v.iter().zip(dv);
        for (velocity, (v, dv)) in next.velocities_mut().iter_mut().zip(proposed) {
            *velocity = v + dv;
        }
        let collided = !response.rounds.is_empty();
        match settings.time.velocity {
            VelocityUpdate::Settle => {
                for v in response.zoned.iter().map(|&v| v as usize) {
                    next.velocities_mut()[v] = mean(v);
                }
                let points = [&repelled.points[..], &response.pushed].concat();
                let w = dynamics.inverse_mass();
                let of_points = &mut repelled.pressed[..repelled.points.len()];
                let settled = settle(&points, of_points, dt, w, surfaces, &mut next);
                for (pressed, impulse) in of_points.iter_mut().zip(settled) {
                    pressed.settling = impulse / dt;
                }
            }
            VelocityUpdate::Sifakis if collided => {
                let repelled = repelled.points.iter().flat_map(|point| &point.vertices);
                for v in response.touched.iter().chain(repelled) {
                    next.velocities_mut()[*v as usize] = mean(*v as usize);
                }
            }
            VelocityUpdate::Sifakis | VelocityUpdate::Notes => {}
        }
        phases.respond_ms += milliseconds(clock);
        *state = next;
        *pressed = repelled.pressed;
        Ok(Attempt {
            response,
            strain,
            loops: u64::from(proposal.loops),
            off_grid,
            kept,
            wanted,
            slid,
            slide_wanted,
        })
    }

    fn count(&self, attempt: &Attempt, report: &mut FrameReport) {
        report.intervals += 1;
        report.loops += attempt.loops;
        report.off_grid += attempt.off_grid;
        report.unsolved_zones += attempt.response.unsolved;
        report.kept += attempt.kept;
        report.wanted += attempt.wanted;
        report.slid += attempt.slid;
        report.slide_wanted += attempt.slide_wanted;
        for round in &attempt.response.rounds {
            report.impacts.vertex_face += round.vertex_face;
            report.impacts.edge_edge += round.edge_edge;
            report.peak_impacts = report.peak_impacts.max(round.vertex_face + round.edge_edge);
            *report.rounds.entry(round.stage.to_string()).or_default() += 1;
        }
        for (stage, account) in &attempt.response.accounts {
            let sum = report.stages.entry(stage.to_string()).or_default();
            *sum = sum.plus(*account);
        }
        let failsafes = self.settings.failsafe.iter().map(Stage::name);
        for stage in failsafes.chain([squeeze::NAME]) {
            let rounds = &attempt.response.rounds;
            if rounds.iter().any(|round| round.stage == stage) {
                *report.failsafes.entry(stage.to_string()).or_default() += 1;
            }
        }
    }

    /// Cloths that lie the wrong way round, by their layers; without layers nothing is looked at.
    pub fn out_of_order(&mut self) -> Vec<OutOfOrder> {
        if !layers::differ(self.state.mesh(), &self.surfaces) {
            return Vec::new();
        }
        let near = self.near();
        let (mesh, x) = (self.state.mesh(), self.state.positions());
        layers::out_of_order(mesh, x, &self.surfaces, &near)
    }

    /// What is nearer than its thickness now.
    fn near(&mut self) -> Vec<Proximity> {
        let margin = Margin {
            thickness: &self.surfaces.thickness,
            rest: &self.surfaces.rest,
            gap: None,
        };
        let (mesh, x) = (self.state.mesh(), self.state.positions());
        self.detector.proximities(mesh, x, &margin, None)
    }

    fn kinetic_energy(&self) -> f64 {
        let free = self.dynamics.inverse_mass().iter().map(|&w| w > 0.0);
        let energy = |(&m, v): (&f64, &DVec3)| 0.5 * m * v.length_squared();
        let each = self
            .dynamics
            .mass()
            .iter()
            .zip(self.state.velocities())
            .map(energy);
        each.zip(free)
            .filter_map(|(energy, free)| free.then_some(energy))
            .sum()
    }
}

/// The most that any cloth edge was stretched, and changed in length, by what changed its end positions from `wanted`, as shares of its rest
/// length.
fn stretch(wanted: &[DVec3], candidate: &Candidate<'_>) -> [f64; 2] {
    let free = |v: u32| candidate.inverse_mass[v as usize] > 0.0;
    let edges = candidate.mesh().edges().iter();
    let cloth = edges.filter(|[a, b]| free(*a) || free(*b));
    cloth.fold([0.0; 2], |[longer, other]: [f64; 2], &[a, b]| {
        let length = |x: &[DVec3]| x[a as usize].distance(x[b as usize]);
        let change = (length(&candidate.x) - length(wanted)) / length(&candidate.surfaces.rest);
        [longer.max(change), other.max(change.abs())]
    })
}

/// `Σ m |x_new − x0|²` and `Σ m |x1 − x0|²` of the touched vertices.
fn kept_share(
    mass: &[f64],
    x0: &[DVec3],
    x1: &[DVec3],
    new: &[DVec3],
    touched: &[u32],
) -> (f64, f64) {
    touched
        .iter()
        .map(|&v| v as usize)
        .fold((0.0, 0.0), |(kept, wanted), v| {
            let way = |x: &[DVec3]| mass[v] * (x[v] - x0[v]).length_squared();
            (kept + way(new), wanted + way(x1))
        })
}

fn milliseconds(since: ProcessTime) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}
