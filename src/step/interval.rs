//! One try at one interval: a value that passes five stations.
//!
//! ```text
//! propose ──▶ repel ──▶ respond ──▶ judge ──▶ settle
//! where the    what is    what      what is    the velocities
//! cloth would  too near   meets     proved     that are left
//! go           is kept    is kept
//!              apart      apart
//! ```
//!
//! A run, [`crate::resolve()`] and an integrator of your own pass the same stations; they differ in who proposes. An interval that is
//! refused says why, and has changed nothing.

mod again;

use glam::DVec3;

use super::looking::Looking;
use super::report::{Figures, Phases, timed};
use super::settings::{Settings, VelocityUpdate};
use crate::dynamics::{Dynamics, Proposal, Tension};
use crate::error::{Pinch, StepError};
use crate::geometry::mesh::{check_positions, flush_tiny};
use crate::geometry::{Collider, Impact, Look, Pair, Proof, Proximity};
use crate::grid;
use crate::response::squeeze::{NoRoom, squeeze};
use crate::response::{
    self, Account, Coming, Coupling, Pass, Pressed, Repelled, Response, Scope, SetWork, bounce,
    respond_after, settle,
};
use crate::state::{Candidate, Surfaces};
use crate::touch::Touch;
use crate::verify::{self, Verified};

/// An interval is also too long if the cloth would give back more energy than the response takes from its motion, by this share of the
/// energy of the motion: squeezed together at the end of a long interval, cloth would be shot away in the next.
const ADDED: f64 = 0.1;

/// An interval may stretch cloth beyond its limit by this share of what the response may stretch it.
const OVER: f64 = 0.1;

/// Times that cloth which is stretched beyond its limit gives way.
const EASINGS: u32 = 12;

/// Faces beyond their limit, as a share of all, that it gives way for however they came there.
const FEW: f64 = 0.005;

/// Changes of length, as a share of the rest length, that store too little energy to look at it.
const HARMLESS: f64 = 0.02;

/// What an interval is about, and what it goes by.
#[derive(Clone, Copy)]
pub(crate) struct Terms<'a> {
    pub(crate) start: &'a Verified,
    /// 1/kg; 0 for scripted vertices.
    pub(crate) inverse_mass: &'a [f64],
    pub(crate) surfaces: &'a Surfaces,
    pub(crate) settings: &'a Settings,
    /// None if somebody else proposes.
    pub(crate) dynamics: Option<&'a Dynamics>,
    pub(crate) span: Span,
}

/// When an interval is, and how long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    /// Of the start, in seconds.
    pub(crate) time: f64,
    /// In seconds.
    pub(crate) dt: f64,
    /// Of the longest interval.
    pub(crate) share: f64,
    /// Whether it cannot be made shorter.
    pub(crate) is_shortest: bool,
    /// Whether its end is going to be stored.
    pub(crate) is_stored: bool,
    /// Output frame that it leads to.
    pub(crate) frame: u64,
}

/// What an interval begins with beside its state.
#[derive(Clone, Copy)]
pub(crate) struct Before<'a> {
    /// Forces of contacts in the interval before, by pair.
    pub(crate) pressed: &'a [Pressed],
    /// What held faces at their strain limit in it, by face.
    pub(crate) tension: &'a [Tension],
    /// Where the script has its vertices at the start and at the end.
    pub(crate) script: [&'a [DVec3]; 2],
}

/// Why an interval came to nothing.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The cloth would have been stretched too much: by repulsions and response, or beyond its limit.
    TooStretched {
        /// As a share of what is allowed.
        share: f64,
    },
    /// The response would have added energy.
    TooMuchEnergy,
    /// The end was not certified.
    NotCertified(StepError),
}

impl Refusal {
    /// For counts.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::TooStretched { .. } => "too_stretched",
            Self::TooMuchEnergy => "too_much_energy",
            Self::NotCertified(StepError::Unresolved { .. }) => "unresolved",
            Self::NotCertified(StepError::Pinched(_)) => "pinched",
            Self::NotCertified(StepError::Crossing { .. }) => "crossing",
            Self::NotCertified(StepError::NewPath { .. }) => "new_path",
            Self::NotCertified(StepError::BadCandidate(_) | StepError::BadValue(_)) => "unusable",
        }
    }
}

/// One try at one interval.
pub(crate) struct Interval<'a> {
    terms: Terms<'a>,
    near: Vec<Proximity>,
    /// What will touch beside what is near.
    coming: Vec<Coming>,
    /// Of the motion that was expected.
    foreseen: Option<Proof>,
    /// End of that motion.
    expected: Vec<DVec3>,
    /// Contact in the loops of the integrator, if that takes it.
    coupling: Option<Coupling>,
    proposal: Proposal,
    candidate: Candidate<'a>,
    /// What the response sees first, if that is known already.
    seen: Option<Look>,
    repelled: Repelled,
    by_repulsion: Account,
    response: Response,
    strain: f64,
    off_grid: usize,
    /// Times that it was proposed once more.
    repeated: usize,
    /// The work of the set that was handed to the integrator.
    constraints: Option<SetWork>,
}

/// What an accepted interval did.
pub(crate) struct Settled {
    pub(crate) figures: Figures,
    /// Forces of the repulsions, by pair: the first guess for the next interval.
    pub(crate) pressed: Vec<Pressed>,
    /// What holds faces at their strain limit, likewise.
    pub(crate) tension: Vec<Tension>,
    /// By repulsions and response, or beyond the limit, as a share of what is allowed.
    pub(crate) strain: f64,
    /// How far anything would have gone through anything else, at most, in edges.
    pub(crate) pace: f64,
}

impl<'a> Interval<'a> {
    /// First station: our own dynamics proposes, with contact in its loops where the integrator takes it.
    pub(crate) fn propose(
        terms: Terms<'a>,
        dynamics: &Dynamics,
        before: Before<'_>,
        collider: &mut Collider,
        phases: &mut Phases,
    ) -> Self {
        let Terms {
            start,
            inverse_mass,
            surfaces,
            settings,
            span: Span { dt, .. },
            ..
        } = terms;
        let (repulsion, target) = (&settings.repulsion, before.script[1]);
        let bounced = timed(&mut phases.propose_ms, || {
            let e = settings.time.restitution;
            (e > 0.0).then(|| bounce(e, start, target, dt, inverse_mass, surfaces, collider))
        });
        let velocities = bounced.as_deref().unwrap_or(start.velocities());
        let constrained = settings.constrained();

        let mut interval = Self::new(terms, Vec::new(), Proposal::default());
        timed(&mut phases.repel_ms, || {
            let coast = |v: usize| match inverse_mass[v] {
                0.0 => target[v],
                _ => start.positions()[v] + dt * velocities[v],
            };
            let mut coasted = terms.candidate((0..target.len()).map(coast).collect());
            flush_tiny(&mut coasted.x);
            if constrained.is_none() && repulsion.couples() {
                let seen = repulsion.foresee(&coasted, collider);
                interval.coming = Coming::of(&seen.impacts, &coasted);
                (interval.near, interval.foreseen) = (seen.near, seen.proof);
                interval.expected = coasted.x;
            } else {
                interval.near = repulsion.near(&coasted, collider);
                interval.expected = coasted.x;
            }
        });
        if let Some(set) = constrained {
            interval.constrain(set, dynamics, velocities, before, collider, phases);
        } else {
            interval.solve_all(dynamics, velocities, before, collider, phases);
        }
        interval
    }

    /// Where the cloth goes with all that is near and what is coming.
    fn solve_all(
        &mut self,
        dynamics: &Dynamics,
        velocities: &[DVec3],
        before: Before<'_>,
        collider: &mut Collider,
        phases: &mut Phases,
    ) {
        let near = std::mem::take(&mut self.near);
        self.solve(dynamics, velocities, &near, before, collider, phases);
        self.near = near;
    }

    /// Where the cloth goes with some of what is near and what is coming.
    fn solve(
        &mut self,
        dynamics: &Dynamics,
        velocities: &[DVec3],
        near: &[Proximity],
        Before {
            pressed,
            tension,
            script,
        }: Before<'_>,
        collider: &mut Collider,
        phases: &mut Phases,
    ) {
        let Terms {
            start,
            settings,
            span: Span {
                time, dt, share, ..
            },
            ..
        } = self.terms;
        let repulsion = &settings.repulsion;
        let is_constrained = settings.constrained().is_some();
        self.coupling = timed(&mut phases.repel_ms, || {
            let candidate = self.terms.candidate(Vec::new());
            let couple = || repulsion.couple(near, &self.coming, share, pressed, &candidate);
            (repulsion.couples() || is_constrained).then(couple)
        });
        // the rounds of a set look for themselves
        let expected = (!is_constrained).then_some(&self.expected[..]);
        let mut looking = (self.coupling.as_mut())
            .map(|coupling| Looking::new(coupling, self.terms, expected, collider));
        let mut proposal = timed(&mut phases.propose_ms, || {
            let contact = looking.as_mut().map(|looking| looking as &mut dyn Touch);
            let x0 = start.positions();
            dynamics.propose_touching(x0, velocities, script, time, dt, contact, tension)
        });
        proposal.contact.spent_ms += looking.map_or(0.0, |looking| looking.spent_ms);
        phases.draw_ms += proposal.draw_ms;
        phases.propose_ms -= proposal.contact.spent_ms;
        phases.repel_ms += proposal.contact.spent_ms;
        flush_tiny(&mut proposal.x);
        self.candidate = self.terms.candidate(proposal.x.clone());
        self.proposal = proposal;
    }

    /// First station: somebody else has proposed.
    pub(crate) fn given(
        candidate: Candidate<'a>,
        terms: Terms<'a>,
        collider: &mut Collider,
    ) -> Self {
        let near = terms.settings.repulsion.near(&candidate, collider);
        let dt = terms.span.dt;
        let way = candidate.x.iter().zip(terms.start.positions());
        let proposal = Proposal {
            v: way.map(|(x1, x0)| (x1 - x0) / dt).collect(),
            x: candidate.x.clone(),
            ..Proposal::default()
        };
        Self::new(terms, near, proposal)
    }

    fn new(terms: Terms<'a>, near: Vec<Proximity>, proposal: Proposal) -> Self {
        Self {
            terms,
            near,
            coming: Vec::new(),
            foreseen: None,
            expected: Vec::new(),
            coupling: None,
            candidate: terms.candidate(proposal.x.clone()),
            proposal,
            seen: None,
            repelled: Repelled::default(),
            by_repulsion: Account::default(),
            response: Response::default(),
            strain: 0.0,
            off_grid: 0,
            repeated: 0,
            constraints: None,
        }
    }

    /// Refuses what is not a position before anybody looks at it.
    pub(crate) fn check_proposal(&self) -> Result<(), Refusal> {
        check_positions(self.terms.start.mesh(), &self.proposal.x)
            .map_err(|error| Refusal::NotCertified(error.into()))
    }

    /// Second station: what is too near stops approaching, and opens.
    pub(crate) fn repel(&mut self, pressed: &[Pressed], phases: &mut Phases) {
        let (repulsion, share) = (&self.terms.settings.repulsion, self.terms.span.share);
        timed(&mut phases.repel_ms, || {
            self.repelled = match &self.coupling {
                Some(coupling) => Repelled {
                    points: Vec::new(), // settled by the loops
                    pressed: coupling.pressed(),
                    opening: repulsion.reopen(&self.near, share, &mut self.candidate),
                },
                None => repulsion.apply(&self.near, share, pressed, &mut self.candidate),
            };
            self.by_repulsion = Account::of(&self.proposal.x, &self.candidate);
        });
    }

    /// What the response is going to see first, before it: what is proved of the motion it begins with.
    pub(crate) fn look(&mut self, collider: &mut Collider) -> Option<&Proof> {
        let known = self.foreseen.as_ref();
        let seen = response::look(&self.near, &self.candidate, collider, known);
        self.seen.insert(seen).proof.as_ref()
    }

    /// Third station: what meets is kept apart by the stages.
    pub(crate) fn respond(
        &mut self,
        collider: &mut Collider,
        phases: &mut Phases,
    ) -> Result<(), Refusal> {
        let clock = &mut phases.respond_ms;
        timed(clock, || {
            self.run_stages(collider);
            self.ease(collider);
            self.check_stretch()
        })
    }

    /// What is stretched beyond its limit gives way, and what meets then is kept apart again, as long as that helps. Stages move
    /// few vertices by little, which is much for the faces between these and their neighbours. Where many faces are beyond
    /// their limit, it cannot be met: then nothing gives way but what the stages have done.
    fn ease(&mut self, collider: &mut Collider) {
        let Some(dynamics) = self.terms.dynamics.filter(|_| self.coupling.is_some()) else {
            return;
        };
        let over = dynamics.strain(&self.candidate.x).over as f64;
        let wanted = match over <= FEW * self.terms.start.mesh().faces().len() as f64 {
            true => self.terms.start.positions(),
            false => &self.proposal.x,
        };
        let mut beyond = dynamics.stretched(wanted, &self.candidate.x);
        let mut eased = self.candidate.clone();
        let mut since = Vec::new(); // the best, which need not be the last
        for _ in 0..EASINGS {
            if beyond == 0.0 {
                return;
            }
            dynamics.ease(wanted, &mut eased.x);
            let known = self.response.proof.as_ref();
            let look = response::look(&self.near, &eased, collider, known);
            let more = self.respond_to(look, &mut eased, collider);
            let left = dynamics.stretched(wanted, &eased.x);
            if more.left > self.response.left {
                return;
            }
            since.push(more);
            if left < beyond {
                beyond = left;
                self.candidate = eased.clone();
                since.drain(..).for_each(|more| self.response.go_on(more));
            }
        }
    }

    fn run_stages(&mut self, collider: &mut Collider) {
        let mut candidate = self.candidate.clone();
        let known = self.foreseen.as_ref();
        let look = (self.seen.take())
            .unwrap_or_else(|| response::look(&self.near, &candidate, collider, known));
        self.response = self.respond_to(look, &mut candidate, collider);
        self.candidate = candidate;
        let accounts = &mut self.response.accounts;
        if !self.repelled.pressed.is_empty() {
            accounts.insert(0, ("repulsion", self.by_repulsion));
        }
        if self.coupling.is_some() {
            let Proposal { contact, v, .. } = &self.proposal;
            let account = Account::of_work(contact, v, self.terms.inverse_mass);
            accounts.insert(0, ("contact", account));
        }
    }

    /// All stages, once, after a first look.
    fn respond_to(
        &self,
        look: Look,
        candidate: &mut Candidate<'_>,
        collider: &mut Collider,
    ) -> Response {
        let Terms { settings, span, .. } = self.terms;
        let scopes: &[Scope] = match settings.passes {
            2 => &[Scope::Objects, Scope::Cloth],
            _ => &[Scope::All],
        };
        let stages = &settings.response[..];
        let mut passes: Vec<Pass<'_>> =
            scopes.iter().map(|&scope| Pass { scope, stages }).collect();
        if span.is_shortest {
            passes.push(Pass {
                scope: Scope::All,
                stages: &settings.failsafe,
            });
        }
        respond_after(look, &passes, &self.near, candidate, collider)
    }

    /// Whether the cloth can bear what was done to it; the shortest interval has to.
    fn check_stretch(&mut self) -> Result<(), Refusal> {
        let [stretch, change] = stretch(&self.proposal.x, &self.candidate);
        let bearable = self.terms.settings.time.max_stretch;
        let x0 = self.terms.start.positions();
        let over = (self.terms.dynamics).map_or(0.0, |d| d.overstretch(x0, &self.candidate.x));
        self.strain = (stretch / bearable).max(over / (OVER * bearable));
        if self.terms.span.is_shortest {
            return Ok(());
        }
        if self.strain > 1.0 {
            return Err(Refusal::TooStretched { share: self.strain });
        }
        match self.coupling.is_some() && change > HARMLESS && self.adds_energy() {
            true => Err(Refusal::TooMuchEnergy),
            false => Ok(()),
        }
    }

    /// Whether the cloth would give back more than the motion has lost: at most all that is stored in it, and not
    /// sooner than within a loop, so at most the energy of a motion that undoes the response in one.
    fn adds_energy(&self) -> bool {
        let Some(dynamics) = self.terms.dynamics else {
            return false;
        };
        let (x, proposed) = (&self.candidate.x, &self.proposal.x);
        let stored = dynamics.elastic_energy(x) - dynamics.elastic_energy(proposed);
        let undone = x.iter().zip(proposed).zip(dynamics.mass());
        let undone: f64 = undone.map(|((x, p), m)| m * (x - p).length_squared()).sum();
        let at_once = 0.5 * undone / dynamics.max_loop(proposed).powi(2);
        let moving = self.by_repulsion.energy_after;
        let lost = moving - Account::of(proposed, &self.candidate).energy_after;
        stored.min(at_once) > lost + ADDED * moving
    }

    /// Fourth station: `verify` certifies the end, or says what is in the way. Before the shortest interval is refused, the exact question
    /// is asked whether there is room at all.
    pub(crate) fn judge(
        &mut self,
        collider: &mut Collider,
        phases: &mut Phases,
    ) -> Result<Verified, Refusal> {
        let certified = timed(&mut phases.accept_ms, || self.certify(collider));
        match certified {
            Err(StepError::Unresolved { .. }) if self.terms.span.is_shortest => {}
            certified => return certified.map_err(Refusal::NotCertified),
        }
        let squeezed = timed(&mut phases.respond_ms, || self.squeeze(collider))?;
        match squeezed {
            // without fail-safes the stages are on their own
            Some((candidate, more)) if !self.terms.settings.failsafe.is_empty() => {
                self.response.add(more);
                self.candidate = candidate;
                timed(&mut phases.accept_ms, || self.certify(collider))
            }
            _ => certified,
        }
        .map_err(Refusal::NotCertified)
    }

    /// Rounds what is going to be stored, and has it judged. The candidate keeps its place: laws are not to feel the output grid.
    fn certify(&mut self, collider: &mut Collider) -> Result<Verified, StepError> {
        flush_tiny(&mut self.candidate.x);
        let (mut candidate, known) = (self.candidate.clone(), self.response.proof.as_ref());
        self.off_grid = 0;
        if !self.terms.span.is_stored {
            return verify::accept(candidate, collider, known);
        }
        self.off_grid = grid::snap(self.terms.settings.grid, &mut candidate, collider, known);
        verify::accept_stored(candidate, collider, known)
    }

    /// A motion with whatever room there is, if one is found; refuses where scripted objects leave none.
    fn squeeze(
        &self,
        collider: &mut Collider,
    ) -> Result<Option<(Candidate<'a>, Response)>, Refusal> {
        let Terms {
            start,
            inverse_mass,
            span,
            ..
        } = self.terms;
        let mut squeezed = self.terms.candidate(self.proposal.x.clone());
        let mut answer = squeeze(&mut squeezed, collider);
        if matches!(answer, Err(NoRoom::Unknown)) {
            // whether there is room does not depend on where the cloth wants to go; at rest it meets least
            squeezed = self.terms.candidate(self.proposal.x.clone());
            let ends = squeezed.x.iter_mut().enumerate();
            for (v, x) in ends.filter(|v| inverse_mass[v.0] > 0.0) {
                *x = start.positions()[v];
            }
            answer = squeeze(&mut squeezed, collider);
        }
        match answer {
            Ok(more) => Ok(Some((squeezed, more))),
            Err(NoRoom::Unknown) => Ok(None),
            Err(NoRoom::Pinched(pinched)) => {
                let (points, room, reach) = (&pinched.points, pinched.room, pinched.reach);
                let pinch = Pinch {
                    frame: span.frame,
                    time: span.time + span.dt,
                    ..Pinch::new(start.mesh(), inverse_mass, points, room, reach)
                };
                Err(Refusal::NotCertified(StepError::Pinched(Box::new(pinch))))
            }
        }
    }

    /// Fifth station: the velocities of the certified state, from positions before rounding.
    pub(crate) fn settle(mut self, next: &mut Verified, phases: &mut Phases) -> Settled {
        timed(&mut phases.respond_ms, || self.settle_velocities(next));
        let x0 = self.terms.start.positions();
        let (proposed, x) = (&self.proposal.x, &self.candidate.x);
        let [kept, wanted] = [x, proposed].map(|x| self.way_of_touched(x0, x));
        let [slid, slide_wanted] = [x, proposed].map(|x| self.slides(x0, x));
        let figures = Figures {
            frame: self.terms.span.frame,
            loops: u64::from(self.proposal.loops),
            iterations: u64::from(self.proposal.iterations),
            off_grid: self.off_grid,
            repeated: self.repeated,
            kept,
            wanted,
            slid,
            slide_wanted,
            constraints: self.constraints.unwrap_or(self.response.constraints),
            ..Figures::of(&self.response, &self.terms.settings.failsafe)
        };
        Settled {
            figures,
            pace: self.pace(),
            pressed: self.repelled.pressed,
            tension: self.proposal.tension,
            strain: self.strain,
        }
    }

    /// The furthest that what was foreseen to meet would have gone against each other, in edges.
    fn pace(&self) -> f64 {
        let x0 = self.terms.start.positions();
        let pace = |coming: &Coming| {
            let point = &coming.point;
            let [a, b, c, d] = point.vertices.map(|v| x0[v as usize]);
            let edge = match coming.pair {
                Pair::VertexFace { .. } => b.distance(c).max(c.distance(d)).max(d.distance(b)),
                Pair::EdgeEdge { .. } => a.distance(b).max(c.distance(d)),
            };
            (point.gap(x0) - point.gap(&self.expected)) / edge
        };
        self.coming.iter().map(pace).fold(0.0, f64::max)
    }

    fn settle_velocities(&mut self, next: &mut Verified) {
        let Terms {
            start,
            inverse_mass,
            surfaces,
            settings,
            dynamics,
            span: Span { dt, .. },
        } = self.terms;
        let (responded, proposal) = (&self.candidate.x, &self.proposal);
        let mean = |v: usize| (responded[v] - start.positions()[v]) / dt;
        let change = responded.iter().zip(&proposal.x);
        let mut dv: Vec<DVec3> = change.map(|(after, x)| (after - x) / dt).collect();
        for (dv, opening) in dv.iter_mut().zip(&self.repelled.opening) {
            *dv -= opening / dt;
        }
        if let Some(dynamics) = dynamics.filter(|_| settings.time.smoothing > 0.0) {
            dynamics.smooth(responded, &mut dv, settings.time.smoothing * dt);
        }
        let proposed = proposal.v.iter().zip(dv);
        for (velocity, (v, dv)) in next.velocities_mut().iter_mut().zip(proposed) {
            *velocity = v + dv;
        }
        let (repelled, response) = (&mut self.repelled, &self.response);
        match settings.time.velocity {
            VelocityUpdate::Settle => {
                for v in response.zoned.iter().map(|&v| v as usize) {
                    next.velocities_mut()[v] = mean(v);
                }
                let points = [&repelled.points[..], &response.pushed].concat();
                let of_points = &mut repelled.pressed[..repelled.points.len()];
                let settled = settle(&points, of_points, dt, inverse_mass, surfaces, next);
                for (pressed, impulse) in of_points.iter_mut().zip(settled) {
                    pressed.settling = impulse / dt;
                }
            }
            VelocityUpdate::Sifakis if !response.rounds.is_empty() => {
                let repelled = repelled.points.iter().flat_map(|point| &point.vertices);
                for v in response.touched.iter().chain(repelled) {
                    next.velocities_mut()[*v as usize] = mean(*v as usize);
                }
            }
            VelocityUpdate::Sifakis | VelocityUpdate::Notes => {}
        }
    }

    /// `Σ m |x − x0|²` of touched vertices.
    fn way_of_touched(&self, x0: &[DVec3], x: &[DVec3]) -> f64 {
        let touched = self.response.touched.iter().map(|&v| v as usize);
        let way = |v: usize| self.terms.mass(v) * (x[v] - x0[v]).length_squared();
        touched.map(way).fold(0.0, |sum, way| sum + way)
    }

    /// `Σ |s|²/k` of the slides s at impacts.
    fn slides(&self, x0: &[DVec3], x: &[DVec3]) -> f64 {
        let slide = |impact: &Impact| {
            let point = impact.point();
            let motion = point.relative(x) - point.relative(x0);
            let along = motion - point.normal * motion.dot(point.normal);
            let k = point.inverse_mass(self.terms.inverse_mass);
            if k > 0.0 {
                along.length_squared() / k
            } else {
                0.0
            }
        };
        self.response.met.iter().map(slide).sum()
    }
}

impl<'a> Terms<'a> {
    pub(super) fn candidate(&self, x: Vec<DVec3>) -> Candidate<'a> {
        Candidate {
            start: self.start,
            inverse_mass: self.inverse_mass,
            surfaces: self.surfaces,
            dt: self.span.dt,
            x,
        }
    }

    /// In kg; that of a pin is known to the dynamics only.
    fn mass(&self, v: usize) -> f64 {
        match (self.dynamics, self.inverse_mass[v]) {
            (Some(dynamics), _) => dynamics.mass()[v],
            (None, 0.0) => 0.0,
            (None, w) => 1.0 / w,
        }
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
        let change = (length(&candidate.x) - length(wanted)) / length(candidate.surfaces.rest());
        [longer.max(change), other.max(change.abs())]
    })
}
