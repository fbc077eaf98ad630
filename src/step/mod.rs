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
mod interval;
mod looking;
mod report;
mod settings;
mod staging;
mod tangles;

use std::sync::Arc;
use std::time::Instant;

use glam::DVec3;

use crate::dynamics::{Attraction, Dynamics, Energy, Tension};
use crate::error::{StartError, StepError, ValueError};
use crate::geometry::mesh::check_positions;
use crate::geometry::{Collider, Margin, Mesh, Pair, Proximity, Scope, Tangle};
use crate::layers;
pub use crate::layers::OutOfOrder;
use crate::response::Pressed;
use crate::script::Script;
pub use crate::script::TICKS_PER_FRAME;
use crate::state::Surfaces;
use crate::verify::{self, Verified, audit};

pub use forecast::{Doubt, Forecast, Stiffest};
pub(crate) use interval::{Before, Interval, Refusal, Settled, Span, Terms};
use report::timed;
pub use report::{Figures, ImpactCount, Phases};
pub use settings::{OnPinch, OnTangle, Settings, TimeSettings, VelocityUpdate};
pub use staging::Staging;
use tangles::Cure;

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
    /// What changes on the way.
    pub staging: Staging,
}

/// Cloth in motion: a certified state and what moves it on.
///
/// # Examples
/// ```
/// use percale::Scene;
///
/// let mut simulation = Scene::load("drop")?.set("cloth.0.shape.cells", "[8, 8]")?.build()?;
/// let before = simulation.checkpoint();
/// let report = simulation.step().expect("one frame of free fall");
/// assert_eq!((report.frame, report.intersections), (1, 0));
///
/// let end = simulation.state().positions().to_vec();
/// simulation.restore(before).expect("a checkpoint of this scene");
/// simulation.step().expect("the same frame");
/// assert_eq!(simulation.state().positions(), end, "to the bit");
/// # Ok::<(), percale::SceneError>(())
/// ```
pub struct Simulation {
    dynamics: Dynamics,
    surfaces: Surfaces,
    script: Script,
    settings: Settings,
    staging: Staging,
    collider: Collider,
    state: Verified,
    tick: u64,
    interval: u64,
    pressed: Vec<Pressed>,
    tension: Vec<Tension>,
    /// Pulls of somebody's hand.
    pulls: Vec<Attraction>,
    /// Made when something is tangled.
    cure: Option<Cure>,
    /// Of all paths of tangles, in metres.
    contour_length: f64,
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
    /// What held faces at their strain limit, by face.
    pub tension: Vec<Tension>,
    /// What crosses, as listed.
    pub tangles: Vec<Tangle>,
}

/// An interval grows again after one that stretched the cloth by at most this share of the limit: twice the length makes about twice the
/// stretch where something is stopped, four times where something lies.
const CALM: f64 = 0.4;

/// Nor does it grow where something would then go further against something else than this many edges.
const FAST: f64 = 12.0;

/// An interval that would have stretched it by more than this multiple of the limit is tried at a quarter of its length.
const HOPELESS: f64 = 8.0;

/// Doors that are opened for one interval, at most.
const MOST_DOORS: u32 = 8;

/// What the list of tangles is in an interval of the shortest length.
#[derive(Clone, Copy, PartialEq, Eq)]
enum List {
    /// As the last look at the tangles made it.
    Wide,
    /// Without what would let new paths come up.
    Narrow,
    /// As at first, for the narrow one left no way out.
    WideAgain,
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
            staging,
        } = setup;
        settings.check()?;
        let count = mesh.vertex_count();
        ValueError::check_count("thickness", surfaces.thickness().len(), count)?;
        ValueError::check_count("rest positions", surfaces.rest().len(), count)?;
        ValueError::check_count("mass", dynamics.mass().len(), count)?;
        let collider = Collider::new(&mesh);
        let state = match settings.start {
            OnTangle::Refuse => verify::start(mesh, x, v)?,
            OnTangle::Untangle => {
                check_positions(&mesh, &x)?;
                let tangles = Cure::new(&mesh, &surfaces).tangles(&mesh, &x)?;
                verify::start_listed(mesh, x, v, tangles)?
            }
        };
        let interval = settings.time.longest();
        let mut simulation = Self {
            dynamics,
            surfaces,
            script,
            settings,
            staging,
            collider,
            state,
            tick: 0,
            interval,
            pressed: Vec::new(),
            tension: Vec::new(),
            pulls: Vec::new(),
            cure: None,
            contour_length: 0.0,
        };
        simulation.look_at_tangles(&mut Phases::default());
        Ok(simulation)
    }

    /// What contact knows of each vertex.
    pub fn surfaces(&self) -> &Surfaces {
        &self.surfaces
    }

    /// Lists what is tangled anew, and has it pulled apart from now on.
    fn look_at_tangles(&mut self, phases: &mut Phases) {
        if self.state.tangles().is_empty() {
            if self.cure.take().is_some() {
                self.dynamics.attract(self.pulls.clone());
                self.contour_length = 0.0;
            }
            return;
        }
        let frame = self.frame();
        let (mesh, surfaces) = (self.state.mesh(), &self.surfaces);
        let cure = self.cure.get_or_insert_with(|| Cure::new(mesh, surfaces));
        let seen = cure.look(&mut self.state, frame, phases);
        let mut attractions = seen.attractions;
        attractions.extend(self.pulls.iter().cloned());
        self.dynamics.attract(attractions);
        self.contour_length = seen.contour_length;
    }

    /// Lets exactly these pulls act from now on, beside those that untangle: a hand that draws the cloth. They are no part of a
    /// [`Checkpoint`]: whoever pulls says so again.
    ///
    /// # Errors
    /// A pull with numbers that are not finite, without a time to take, or on vertices that the mesh does not have.
    pub fn pull(&mut self, pulls: Vec<Attraction>) -> Result<(), ValueError> {
        let count = self.state.mesh().vertex_count();
        for (at, pull) in pulls.iter().enumerate() {
            let is_part = |&(v, w): &(u32, f64)| (v as usize) < count && w.is_finite();
            let numbers = [pull.share, pull.reach, pull.damping, pull.lag];
            let is_usable = pull.parts.iter().all(is_part)
                && pull.wanted.is_finite()
                && numbers
                    .iter()
                    .all(|number| number.is_finite() && *number >= 0.0)
                && pull.lag > 0.0;
            if !is_usable {
                return Err(ValueError::Number {
                    what: "pull",
                    at: Some(at),
                    value: f64::NAN,
                    expected: "finite and at least 0, with a lag above 0, of vertices of this mesh",
                });
            }
        }
        self.pulls = pulls;
        self.look_at_tangles(&mut Phases::default());
        if self.state.tangles().is_empty() {
            self.dynamics.attract(self.pulls.clone());
        }
        Ok(())
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
            tension: self.tension.clone(),
            tangles: self.state.tangles().to_vec(),
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
            tension,
            tangles,
        } = checkpoint;
        self.check_memory(tick, interval, &pressed)?;
        self.check_tension(&tension)?;
        let mesh = Arc::clone(self.state.mesh());
        self.state = verify::start_listed(mesh, x, v, tangles)?;
        (self.tick, self.interval) = (tick, interval);
        (self.pressed, self.tension) = (pressed, tension);
        self.dynamics.hold(&self.script.held(self.frame()));
        self.look_at_tangles(&mut Phases::default());
        Ok(())
    }

    /// Whether what a checkpoint remembers beside its state can be of this scene.
    fn check_memory(
        &self,
        tick: u64,
        interval: u64,
        pressed: &[Pressed],
    ) -> Result<(), ValueError> {
        // half of the range, so that the end of the next frame is a number of ticks too
        let is_frame = |_: f64| tick.is_multiple_of(TICKS_PER_FRAME) && tick < u64::MAX / 2;
        let expected = "a whole number of frames, 65536 each";
        ValueError::check("the checkpoint's tick", tick as f64, expected, is_frame)?;
        let longest = self.settings.time.longest();
        let is_length = |_: f64| interval.is_power_of_two() && interval <= longest;
        let expected = "a power of two of ticks, at most `time.max_interval`";
        ValueError::check(
            "the checkpoint's interval",
            interval as f64,
            expected,
            is_length,
        )?;
        let mesh = self.state.mesh();
        let is_known = |pair: Pair| match pair {
            Pair::VertexFace { vertex, face } => {
                (vertex as usize) < mesh.vertex_count() && (face as usize) < mesh.faces().len()
            }
            Pair::EdgeEdge { a, b } => (a.max(b) as usize) < mesh.edges().len(),
        };
        let is_usable =
            |p: &Pressed| is_known(p.pair) && p.force.is_finite() && p.settling.is_finite();
        let is_sorted = pressed.is_sorted_by(|a, b| a.pair < b.pair);
        match pressed.iter().position(|p| !is_usable(p)) {
            None if is_sorted => Ok(()),
            at => Err(ValueError::Number {
                what: "force of the checkpoint",
                at,
                value: f64::NAN,
                expected: "finite, of a pair of this mesh, once each and ascending",
            }),
        }
    }

    fn check_tension(&self, tension: &[Tension]) -> Result<(), ValueError> {
        let places = self.dynamics.tension_places();
        let is_usable =
            |t: &Tension| (t.face as usize) < places && t.pull.is_finite() && t.pull > 0.0;
        let is_sorted = tension.is_sorted_by(|a, b| a.face < b.face);
        match tension.iter().position(|t| !is_usable(t)) {
            None if is_sorted => Ok(()),
            at => Err(ValueError::Number {
                what: "tension of the checkpoint",
                at,
                value: f64::NAN,
                expected: "above 0, of a face or a stitch, once each and ascending",
            }),
        }
    }

    /// Advances by one output frame.
    ///
    /// # Errors
    /// An interval of the shortest length was refused after all stages. The state is then that of the last
    /// accepted interval.
    pub fn step(&mut self) -> Result<Figures, StepError> {
        self.step_with(&mut |_| {})
    }

    /// Like [`Simulation::step`]; after each accepted interval `progress` is told the share of the frame that is done.
    ///
    /// # Errors
    /// As of [`Simulation::step`].
    pub fn step_with(
        &mut self,
        progress: &mut (dyn FnMut(f64) + Send),
    ) -> Result<Figures, StepError> {
        // to enter the pool once costs less than to enter it for every loop
        rayon::scope(|_| self.advance(progress))
    }

    fn advance(&mut self, progress: &mut (dyn FnMut(f64) + Send)) -> Result<Figures, StepError> {
        let wall = Instant::now();
        if self.script.lets_go(self.frame()) {
            self.dynamics.hold(&self.script.held(self.frame()));
        }
        self.set_the_stage();
        let end = (self.frame() + 1) * TICKS_PER_FRAME;
        let mut report = Figures {
            frame: self.frame() + 1,
            ..Default::default()
        };
        while self.tick < end {
            let mut length = self.affordable(self.interval);
            let mut doors = 0;
            let mut list = List::Wide;
            let settled = loop {
                let refusal = match self.attempt(length, &mut report.phases) {
                    Ok(settled) => break settled,
                    Err(refusal) => refusal,
                };
                *report.refused.entry(refusal.name().into()).or_default() += 1;
                let mut shorter = 2;
                match refusal {
                    Refusal::TooStretched { share } => {
                        report.stretched += 1;
                        if share > HOPELESS && length > 2 * self.settings.time.shortest() {
                            shorter = 4;
                        }
                    }
                    Refusal::TooMuchEnergy => report.stretched += 1,
                    // a crossing after a motion without impacts is a bug: no retry may hide it
                    Refusal::NotCertified(error)
                        if length <= self.settings.time.shortest()
                            || matches!(error, StepError::Crossing { .. }) =>
                    {
                        doors += 1;
                        if doors > MOST_DOORS || !self.give_way(&error, &mut list, &mut report) {
                            return Err(error);
                        }
                        continue;
                    }
                    Refusal::NotCertified(_) => report.retries += 1,
                }
                length /= shorter;
            };
            self.tick += length;
            // doubled intervals must still land on frames: only where the tick is a multiple of them
            let may_grow = 2 * length <= self.settings.time.longest()
                && self.tick.is_multiple_of(2 * length)
                && settled.strain <= CALM
                && 2.0 * settled.pace <= FAST;
            self.interval = if may_grow { 2 * length } else { length };
            report += &settled.figures;
            self.look_at_tangles(&mut report.phases);
            progress(1.0 - (end - self.tick) as f64 / TICKS_PER_FRAME as f64);
        }

        let mut spent = 0.0;
        timed(&mut spent, || self.look_at_frame(&mut report));
        report.phases.audit_ms += spent;
        report.phases.wall_ms = 1e3 * wall.elapsed().as_secs_f64();
        Ok(report)
    }

    /// What the scene changes on the way, as it is in the coming frame.
    fn set_the_stage(&mut self) {
        if self.staging.is_empty() {
            return;
        }
        let (frame, fps) = (self.frame(), self.settings.fps);
        self.dynamics.stage(&self.staging.forces(frame, fps));
        if let Some(friction) = self.staging.friction(frame, fps) {
            for &[a, b] in &self.staging.pairs {
                let set = self.surfaces.set_friction(a, b, friction);
                set.expect("the scene has checked the values");
            }
        }
    }

    /// Opens a door, by name, where the shortest interval was refused and the scene lets it; says
    /// whether it did.
    fn give_way(&mut self, error: &StepError, list: &mut List, report: &mut Figures) -> bool {
        let doors = match error {
            StepError::NewPath { pairs, .. } => {
                if *list != List::WideAgain
                    && let Some(narrowed) = tangles::narrowed(&self.state, pairs)
                    && verify::relist(&mut self.state, narrowed).is_ok()
                {
                    *list = List::Narrow;
                    report.prevented_paths += 1;
                    return true;
                }
                report.new_paths += 1;
                tangles::around(&self.state, pairs)
            }
            StepError::Pinched(pinch) if self.settings.on_pinch == OnPinch::Tangle => {
                report.let_through += 1;
                let near = self.near();
                let inverse_mass = self.dynamics.inverse_mass();
                tangles::pinched(&self.state, inverse_mass, pinch, &near)
            }
            _ if *list == List::Narrow => {
                // what is prevented leaves no way out: as it was before, and no more of it in this interval
                *list = List::WideAgain;
                self.look_at_tangles(&mut report.phases);
                return true;
            }
            _ => return false,
        };
        match verify::open(&self.state, doors) {
            Ok(opened) => {
                self.state = opened;
                true
            }
            Err(_) => false,
        }
    }

    /// What the end of a frame is like.
    fn look_at_frame(&mut self, report: &mut Figures) {
        let near = self.near();
        let (mesh, x) = (self.state.mesh(), self.state.positions());
        let listed = self.state.crossing();
        let is_unlisted = |pair: &&[u32; 2]| listed.binary_search(pair).is_err();
        let crossing = audit::intersections(mesh, x);
        report.intersections = crossing.iter().filter(is_unlisted).count();
        report.crossings = listed.len();
        report.tangles = self.state.tangles().len();
        report.contour_length = self.contour_length;
        if !listed.is_empty() {
            report.edge_face = self
                .collider
                .crossings(x, Scope::Certified)
                .edge_faces
                .len();
        }
        let least = |gap: fn(&Proximity) -> f64| near.iter().map(gap).min_by(f64::total_cmp);
        report.smallest_gap = least(|near| near.gap);
        report.smallest_gap_share = least(|near| near.gap / near.threshold);
        let out_of_order = layers::out_of_order(mesh, x, &self.surfaces, &near);
        report.out_of_order = out_of_order.iter().map(|cloths| cloths.places).sum();
        let seams = self.dynamics.seams(x);
        (report.open_stitches, report.widest_stitch) = (seams.open, seams.worst);
        report.widest_stitch_place = seams.worst.map(|_| seams.place.to_array());
        report.kinetic_energy = self.kinetic_energy();
        let strain = self.dynamics.strain(x);
        report.strain_over = strain.over as usize;
        report.largest_strain = strain.largest;
        report.strained_face = strain.face;
        [report.median_speed, report.largest_speed] = self.speeds();
    }

    /// Median and maximum of the speeds of free vertices, in m/s.
    fn speeds(&self) -> [f64; 2] {
        let inverse_mass = self.dynamics.inverse_mass();
        let each = self.state.velocities().iter().zip(inverse_mass);
        let free = each.filter(|(_, w)| **w > 0.0);
        let mut squared: Vec<f64> = free.map(|(v, _)| v.length_squared()).collect();
        if squared.is_empty() {
            return [0.0; 2];
        }
        let middle = squared.len() / 2;
        let (_, median, above) = squared.select_nth_unstable_by(middle, f64::total_cmp);
        let largest = above.iter().fold(*median, |most, v| most.max(*v));
        [*median, largest].map(f64::sqrt)
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

    /// One try at one interval of `length` ticks: the five stations, without retries.
    fn attempt(&mut self, length: u64, phases: &mut Phases) -> Result<Settled, Refusal> {
        let span = self.span(length);
        let Self {
            dynamics,
            surfaces,
            script,
            settings,
            collider,
            state,
            tick,
            pressed,
            tension,
            ..
        } = self;
        let ends = [*tick, *tick + length].map(|tick| script.at(tick, state.positions()));
        let terms = Terms {
            start: state,
            inverse_mass: dynamics.inverse_mass(),
            surfaces,
            settings,
            dynamics: Some(dynamics),
            span,
        };
        let before = Before {
            pressed,
            tension,
            script: [&ends[0], &ends[1]],
        };
        let mut interval = Interval::propose(terms, dynamics, before, collider, phases);
        loop {
            interval.check_proposal()?;
            interval.repel(before.pressed, phases);
            let Err(refusal) = interval.respond(collider, phases) else {
                break;
            };
            if !interval.propose_again(dynamics, before, collider, phases) {
                return Err(refusal);
            }
        }
        let mut next = interval.judge(collider, phases)?;
        let mut settled = interval.settle(&mut next, phases);
        *state = next;
        *pressed = std::mem::take(&mut settled.pressed);
        *tension = std::mem::take(&mut settled.tension);
        Ok(settled)
    }

    /// The next interval, if it has `length` ticks.
    fn span(&self, length: u64) -> Span {
        let seconds = |ticks: u64| ticks as f64 * self.seconds_per_tick();
        let time = &self.settings.time;
        Span {
            time: seconds(self.tick),
            dt: seconds(length),
            share: length as f64 / time.longest() as f64,
            is_shortest: length <= time.shortest(),
            is_stored: (self.tick + length).is_multiple_of(TICKS_PER_FRAME),
            frame: self.frame() + 1,
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
            thickness: self.surfaces.thickness(),
            rest: self.surfaces.rest(),
            gap: None,
        };
        let (x, exempt) = (self.state.positions(), self.state.exempt());
        self.collider.near(x, exempt, &margin, None)
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
