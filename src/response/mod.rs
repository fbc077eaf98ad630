//! Changes a candidate so that its motion meets nothing: repulsions, then stages.
//!
//! A stage maps impacts to a change of end positions. It does not detect, loop, judge or log;
//! [`respond`] does.
//!
//! To add a stage: a file like `hold`, with its settings and `apply`; a variant of [`Stage`] and, if it remembers something between
//! rounds, of `Memory`; the compiler lists the arms, and [`Stage::NAMES`] and [`Stage::named`] take its name. If it moves zones as a
//! whole, `Responding::run` counts them as such.

mod bounce;
mod contact;
mod coupling;
pub mod hold;
pub mod impulses;
pub mod inelastic;
pub mod pass;
pub mod repulsion;
pub mod rigid_zones;
pub mod semi_global;
pub mod squeeze;
pub mod volume;
mod zones;

use glam::DVec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use bounce::bounce;
pub use contact::settle;
pub use coupling::Coupling;
pub use hold::Hold;
pub use impulses::{ImpulseForm, Impulses};
pub use inelastic::{Inelastic, Precision};
pub use pass::{Pass, Scope};
pub use repulsion::{Coming, Pressed, Repelled, Repulsion, RepulsionForm};
pub use rigid_zones::RigidZones;
pub use semi_global::{InfluenceForm, Policy, SemiGlobal, SetMatrix, SetWork};
pub use volume::{Volume, VolumeForm, VolumeWork};

use crate::error::ValueError;
use crate::geometry::critical::is_critical;
use crate::geometry::{
    Asked, Collider, ContactPoint, Impact, Look, Margin, Mesh, Proof, Proximity, ccd,
};
use crate::state::Candidate;
use crate::touch::TouchWork;

/// A response method with its settings, as a scene names it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Stage {
    /// Inelastic impulses with friction, one impact at a time.
    Impulses(Impulses),
    /// Connected impacts move as one rigid body.
    RigidZones(RigidZones),
    /// Connected impacts are solved as a whole: the approach stops, sliding goes on.
    Inelastic(Inelastic),
    /// All impacts at once: what lies between them keeps its volume.
    Volume(Volume),
    /// Impacts and critical contacts as one set of constraints, from which what no longer occurs is dropped.
    SemiGlobal(SemiGlobal),
    /// Last resort: vertices in impact go only a certified fraction of their motion.
    Hold(Hold),
}

/// What a stage remembers between its rounds.
enum Memory {
    /// Impacts of all rounds.
    Impulses(impulses::Seen),
    /// Zones and where they wanted to go.
    RigidZones(rigid_zones::FusedZones),
    /// Contacts and zones.
    Inelastic(Box<inelastic::Zones>),
    /// Pressures, and what the solves took.
    Volume(Box<volume::Cushion>),
    /// Constraints and their influence.
    SemiGlobal(Box<semi_global::Constraints>),
    /// Zones and how far each may go.
    Hold(hold::HeldZones),
}

impl Stage {
    /// The stage of a name with its default settings; none if there is no such stage.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "impulses" => Some(Self::Impulses(Impulses::default())),
            "rigid_zones" => Some(Self::RigidZones(RigidZones::default())),
            "inelastic" => Some(Self::Inelastic(Inelastic::default())),
            "volume" => Some(Self::Volume(Volume::default())),
            "semi_global" => Some(Self::SemiGlobal(SemiGlobal::default())),
            "hold" => Some(Self::Hold(Hold::default())),
            _ => None,
        }
    }

    /// Names of all stages.
    pub const NAMES: &[&str] = &[
        "impulses",
        "rigid_zones",
        "inelastic",
        "volume",
        "semi_global",
        "hold",
    ];

    /// Name, as in scene files and reports.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Impulses(_) => "impulses",
            Self::RigidZones(_) => "rigid_zones",
            Self::Inelastic(_) => "inelastic",
            Self::Volume(_) => "volume",
            Self::SemiGlobal(_) => "semi_global",
            Self::Hold(_) => "hold",
        }
    }

    /// The semi-global set that is to be rows of the integrator's solve, if it is one.
    pub(crate) fn of_system(&self) -> Option<&SemiGlobal> {
        match self {
            Self::SemiGlobal(stage) if stage.matrix == SetMatrix::System => Some(stage),
            _ => None,
        }
    }

    /// Whether all numbers are in their ranges.
    ///
    /// # Errors
    /// Names the first that is not.
    pub fn check(&self) -> Result<(), ValueError> {
        match self {
            Self::SemiGlobal(stage) => stage.check(),
            _ => Ok(()), // theirs are whole numbers and names
        }
    }

    fn max_rounds(&self) -> u32 {
        match self {
            Self::Impulses(stage) => stage.max_rounds,
            Self::RigidZones(_) => rigid_zones::MAX_ROUNDS,
            Self::Inelastic(stage) => stage.max_rounds,
            Self::Volume(stage) => stage.rounds(),
            Self::SemiGlobal(stage) => stage.max_rounds,
            Self::Hold(_) => hold::MAX_ROUNDS,
        }
    }

    fn memory(&self, near: &[Proximity], candidate: &Candidate<'_>) -> Memory {
        match self {
            Self::Impulses(_) => Memory::Impulses(impulses::Seen::default()),
            Self::RigidZones(_) => Memory::RigidZones(rigid_zones::FusedZones::new(candidate)),
            Self::Inelastic(stage) => {
                Memory::Inelastic(Box::new(inelastic::Zones::new(candidate, stage.form)))
            }
            Self::Volume(_) => Memory::Volume(Box::default()),
            Self::SemiGlobal(stage) => Memory::SemiGlobal(Box::new(semi_global::Constraints::new(
                stage, near, candidate,
            ))),
            Self::Hold(_) => Memory::Hold(hold::HeldZones::new(candidate)),
        }
    }

    /// Whether some impacts wait in the first round, see [`due`]. Not for pressures, which hold only
    /// together: a part of a pile would be pushed through the rest.
    fn puts_off(&self) -> bool {
        !matches!(self, Self::Volume(_))
    }

    /// Changes end positions; returns the vertices that it moved, ascending.
    fn apply(
        &self,
        impacts: &[Impact],
        memory: &mut Memory,
        candidate: &mut Candidate<'_>,
    ) -> Vec<u32> {
        match (self, memory) {
            (Self::Impulses(stage), Memory::Impulses(seen)) => {
                stage.apply(impacts, seen, candidate)
            }
            (Self::RigidZones(stage), Memory::RigidZones(zones)) => {
                stage.apply(impacts, zones, candidate)
            }
            (Self::Inelastic(stage), Memory::Inelastic(zones)) => {
                stage.apply(impacts, zones, candidate)
            }
            (Self::Volume(stage), Memory::Volume(cushion)) => {
                stage.apply(impacts, cushion, candidate)
            }
            (Self::SemiGlobal(stage), Memory::SemiGlobal(constraints)) => {
                stage.apply(impacts, constraints, candidate)
            }
            (Self::Hold(stage), Memory::Hold(zones)) => stage.apply(impacts, zones, candidate),
            _ => unreachable!("Stage::memory gives each stage its own"),
        }
    }
}

/// One pass of a stage over all impacts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Round {
    /// The stage's name.
    pub stage: &'static str,
    /// Vertex-face impacts at its beginning.
    pub vertex_face: usize,
    /// Edge-edge impacts at its beginning.
    pub edge_edge: usize,
}

/// What a stage did to the mean motion of the free vertices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Account {
    /// Kinetic energy before, in joules.
    pub energy_before: f64,
    /// Kinetic energy after, in joules.
    pub energy_after: f64,
    /// Change of linear momentum, in kg·m/s: what went into scripted vertices, else rounding.
    pub momentum_change: [f64; 3],
}

impl Account {
    /// Of a change of end positions from `before` to those that the candidate has.
    pub fn of(before: &[DVec3], candidate: &Candidate<'_>) -> Self {
        let sums = |x: &[DVec3]| {
            let way = x.iter().zip(candidate.start.positions());
            let moving = way.zip(candidate.inverse_mass).filter(|(_, w)| **w > 0.0);
            moving.fold((0.0, DVec3::ZERO), |(energy, momentum), ((x, x0), w)| {
                let v = (x - x0) / candidate.dt;
                (energy + 0.5 * v.length_squared() / w, momentum + v / *w)
            })
        };
        let ((energy_before, momentum), (energy_after, end)) = (sums(before), sums(&candidate.x));
        Self {
            energy_before,
            energy_after,
            momentum_change: (end - momentum).to_array(),
        }
    }

    /// Of what touched in the loops of an integrator that ended with velocities `v`: kinetic energy
    /// at the end, and what it would be without the work done.
    pub fn of_work(work: &TouchWork, v: &[DVec3], inverse_mass: &[f64]) -> Self {
        let moving = v.iter().zip(inverse_mass).filter(|(_, w)| **w > 0.0);
        let energy_after = moving.map(|(v, w)| 0.5 * v.length_squared() / w).sum();
        Self {
            energy_before: energy_after - work.energy,
            energy_after,
            momentum_change: work.momentum.to_array(),
        }
    }

    /// What the stage took, in joules; negative where moving obstacles pushed more in.
    pub fn energy_lost(&self) -> f64 {
        self.energy_before - self.energy_after
    }

    /// Both together.
    pub fn plus(self, other: Self) -> Self {
        let [a, b] = [self.momentum_change, other.momentum_change];
        Self {
            energy_before: self.energy_before + other.energy_before,
            energy_after: self.energy_after + other.energy_after,
            momentum_change: std::array::from_fn(|k| a[k] + b[k]),
        }
    }
}

/// What a list of stages did.
#[derive(Clone, Debug, Default)]
pub struct Response {
    /// The rounds, in order.
    pub rounds: Vec<Round>,
    /// What each stage that acted did to momentum and energy, in order.
    pub accounts: Vec<(&'static str, Account)>,
    /// Impacts found that were not excluded when the stages ended; [`crate::verify::accept`] judges
    /// them.
    pub left: usize,
    /// What the last look at the motion proved.
    pub proof: Option<Proof>,
    /// Vertices that were part of an impact at any time, ascending.
    pub touched: Vec<u32>,
    /// Points that impulses had to push open.
    pub pushed: Vec<ContactPoint>,
    /// The impacts before any stage, in the order of their times: the same for every list of stages.
    pub met: Vec<Impact>,
    /// Zones that the inelastic projection or the semi-global stage had to leave to the next stage.
    pub unsolved: usize,
    /// What the solves of the volume stage took.
    pub volume: VolumeWork,
    /// What became of the set of the semi-global stage.
    pub constraints: SetWork,
    /// Vertices that a rigid or held zone moved, ascending: their mean velocity is all that they
    /// have left.
    pub zoned: Vec<u32>,
}

impl Response {
    /// Adds what was done after these stages had failed: their end positions are given up, what
    /// they met is kept.
    pub(crate) fn add(&mut self, last: Self) {
        self.rounds.extend(last.rounds);
        self.accounts = last.accounts;
        self.touched.extend(last.touched);
        self.touched.sort_unstable();
        self.touched.dedup();
        self.pushed = last.pushed;
        self.zoned.clear();
    }

    /// Adds what the same stages did after these, from where these had ended.
    pub(crate) fn go_on(&mut self, more: Self) {
        self.rounds.extend(more.rounds);
        self.accounts.extend(more.accounts);
        for (all, more) in [
            (&mut self.touched, more.touched),
            (&mut self.zoned, more.zoned),
        ] {
            all.extend(more);
            all.sort_unstable();
            all.dedup();
        }
        self.pushed.extend(more.pushed);
        (self.left, self.proof) = (more.left, more.proof);
        self.unsolved += more.unsolved;
    }
}

/// Impacts are judged by this share of the thickness, while stages open pairs to the whole of it:
/// what one impulse resolved does not come back because the next one moved it by a rounding error.
const SLACK: f64 = 0.5;

/// The least gap of each cloth vertex in metres, infinite where nothing is near. Obstacles have
/// none: one triangle may carry many cloths, and what presses on it here is no measure of what
/// comes near there.
fn least_gaps(mesh: &Mesh, near: &[Proximity]) -> Vec<f64> {
    let mut gaps = vec![f64::INFINITY; mesh.vertex_count()];
    for near in near {
        for v in near.vertices.into_iter().filter(|&v| !mesh.is_obstacle(v)) {
            gaps[v as usize] = near.gap.min(gaps[v as usize]);
        }
    }
    gaps
}

/// What impacts are judged by, by vertex.
struct Separations {
    thickness: Vec<f64>,
    gaps: Vec<f64>,
}

impl Separations {
    fn of(near: &[Proximity], candidate: &Candidate<'_>) -> Self {
        let thickness = candidate.surfaces.thickness().iter();
        Self {
            thickness: thickness.map(|h| SLACK * h).collect(),
            gaps: least_gaps(candidate.mesh(), near),
        }
    }

    fn asked<'a>(&'a self, candidate: &Candidate<'a>) -> Asked<'a> {
        Asked {
            mode: ccd::Mode::Fast,
            margin: Some(Margin {
                thickness: &self.thickness,
                rest: candidate.surfaces.rest(),
                gap: Some(&self.gaps),
            }),
        }
    }
}

/// The impacts that stages see first in the motion of a candidate, and what is proved of it. What is `known` of a motion like this one
/// only spares work.
pub(crate) fn look(
    near: &[Proximity],
    candidate: &Candidate<'_>,
    collider: &mut Collider,
    known: Option<&Proof>,
) -> Look {
    let separations = Separations::of(near, candidate);
    collider.look(candidate.motion(), &separations.asked(candidate), known)
}

/// The impacts to respond to first: those where the two surfaces are nearest, and others that share
/// no free vertex with one.
///
/// A candidate that goes through a floor meets the edges between the floor's triangles from below
/// and from the side. Once what came first is resolved, these impacts are gone; responded to at the
/// same time, they would catch what slides. Only in the first round: later ones see no raw
/// candidate any more, and in a crowd putting off costs rounds.
fn due(impacts: &[Impact], candidate: &Candidate<'_>) -> Vec<Impact> {
    let (mesh, x0) = (candidate.mesh(), candidate.start.positions());
    let first: Vec<bool> = impacts
        .iter()
        .map(|impact| is_critical(mesh, impact, x0, &candidate.x))
        .collect();
    let mut is_taken = vec![false; candidate.x.len()];
    let free = |v: &u32| candidate.inverse_mass[*v as usize] > 0.0;
    for (impact, _) in impacts.iter().zip(&first).filter(|(_, first)| **first) {
        for &v in impact.vertices.iter().filter(|v| free(v)) {
            is_taken[v as usize] = true;
        }
    }
    let alone = |impact: &Impact| impact.vertices.iter().all(|&v| !is_taken[v as usize]);
    let both = impacts.iter().zip(first);
    both.filter_map(|(impact, first)| (first || alone(impact)).then_some(*impact))
        .collect()
}

/// Runs the stages in order until no impact is left or all rounds are spent.
///
/// Impacts are looked for with the pair's separation (docs/method.md §2.4), so that what is
/// resolved here stays clear of rounding; `near` are the proximities at the start
/// ([`Repulsion::near`]), which limit it. Leftover impacts are not an error: only
/// [`crate::verify::accept`] judges.
pub fn respond(
    stages: &[Stage],
    near: &[Proximity],
    candidate: &mut Candidate<'_>,
    collider: &mut Collider,
) -> Response {
    let scope = Scope::All;
    respond_in(&[Pass { scope, stages }], near, candidate, collider, None)
}

/// The same pass after pass, each over its own impacts; see [`pass`]. What is `known` of a motion
/// like this one only spares work.
pub fn respond_in(
    passes: &[Pass<'_>],
    near: &[Proximity],
    candidate: &mut Candidate<'_>,
    collider: &mut Collider,
    known: Option<&Proof>,
) -> Response {
    let look = look(near, candidate, collider, known);
    respond_after(look, passes, near, candidate, collider)
}

/// The same after the first [`look`] at the candidate.
pub(crate) fn respond_after(
    look: Look,
    passes: &[Pass<'_>],
    near: &[Proximity],
    candidate: &mut Candidate<'_>,
    collider: &mut Collider,
) -> Response {
    let separations = Separations::of(near, candidate);
    let asked = separations.asked(candidate);
    let mut responding = Responding {
        near,
        touched: vec![false; candidate.x.len()],
        response: Response {
            met: look.impacts.clone(),
            ..Response::default()
        },
        asked,
        look,
    };
    for pass in passes {
        for stage in pass.stages {
            responding.run(stage, pass.scope, candidate, collider);
        }
    }
    responding.end()
}

/// A response under way.
struct Responding<'a> {
    /// What is near at the start.
    near: &'a [Proximity],
    asked: Asked<'a>,
    /// At the present motion.
    look: Look,
    /// By vertex: whether it was part of an impact at any time.
    touched: Vec<bool>,
    response: Response,
}

impl Responding<'_> {
    /// Runs a stage until no impact in its scope is left or its rounds are spent.
    fn run(
        &mut self,
        stage: &Stage,
        scope: Scope,
        candidate: &mut Candidate<'_>,
        collider: &mut Collider,
    ) {
        let mut own = self.impacts_in(scope, candidate);
        if own.is_empty() {
            return;
        }
        let mut memory = stage.memory(self.near, candidate);
        let before = candidate.x.clone();
        for _ in 0..stage.max_rounds() {
            if own.is_empty() {
                break;
            }
            self.count(stage, &own);
            let mut changed = Vec::new();
            if self.response.rounds.len() == 1 && stage.puts_off() {
                changed = stage.apply(&due(&own, candidate), &mut memory, candidate);
            }
            if changed.is_empty() {
                changed = stage.apply(&own, &mut memory, candidate);
            }
            if matches!(stage, Stage::RigidZones(_) | Stage::Hold(_)) {
                self.response.zoned.extend(&changed);
            }
            if changed.is_empty() {
                break; // another round would see the same impacts
            }
            self.look_again(&changed, candidate, collider);
            own = self.impacts_in(scope, candidate);
        }
        let response = &mut self.response;
        let account = Account::of(&before, candidate);
        response.accounts.push((stage.name(), account));
        match memory {
            Memory::Impulses(seen) => response.pushed.extend(seen.pushed()),
            Memory::Inelastic(zones) => {
                response.pushed.extend(zones.pushed());
                response.unsolved += zones.unsolved();
            }
            Memory::Volume(cushion) => {
                response.pushed.extend(cushion.pushed());
                response.volume += cushion.work();
            }
            Memory::SemiGlobal(constraints) => {
                response.pushed.extend(constraints.pushed());
                response.unsolved += constraints.unsolved();
                response.constraints += constraints.work();
            }
            Memory::RigidZones(_) | Memory::Hold(_) => {}
        }
    }

    fn impacts_in(&self, scope: Scope, candidate: &Candidate<'_>) -> Vec<Impact> {
        let all = self.look.impacts.iter().copied();
        all.filter(|impact| scope.holds(impact, candidate.mesh()))
            .collect()
    }

    /// Notes what a round is about to see.
    fn count(&mut self, stage: &Stage, impacts: &[Impact]) {
        for &v in impacts.iter().flat_map(|impact| &impact.vertices) {
            self.touched[v as usize] = true;
        }
        let of_vertices = impacts.iter().filter(|impact| impact.is_vertex_face());
        let vertex_face = of_vertices.count();
        self.response.rounds.push(Round {
            stage: stage.name(),
            vertex_face,
            edge_edge: impacts.len() - vertex_face,
        });
    }

    /// Finds the impacts of the motion after the ends of some vertices have changed; others stay as
    /// they are.
    fn look_again(&mut self, changed: &[u32], candidate: &Candidate<'_>, collider: &mut Collider) {
        let Look { impacts, proof } = &mut self.look;
        let is_changed = |v: &u32| changed.binary_search(v).is_ok();
        impacts.retain(|impact| !impact.vertices.iter().any(is_changed));
        let more = collider.look_again(candidate.motion(), changed, &self.asked, proof.take());
        impacts.extend(more.impacts);
        impacts.sort_by(|a, b| a.time.total_cmp(&b.time).then(a.pair.cmp(&b.pair)));
        *proof = more.proof;
    }

    fn end(self) -> Response {
        let mut response = self.response;
        response.zoned.sort_unstable();
        response.zoned.dedup();
        response.left = self.look.impacts.len();
        response.proof = self.look.proof;
        response.touched = (0..)
            .zip(self.touched)
            .filter_map(|(v, touched)| touched.then_some(v))
            .collect();
        response
    }
}
