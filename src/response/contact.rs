//! One contact point: the impulse that keeps it open, and its friction.
//!
//! ```text
//! k = Σ wᵢ²/mᵢ        Jn = (target − gap)/k        xᵢ += wᵢ J n / mᵢ
//! ```
//!
//! Source: course notes, "Finding the Impulse"; \[BFA02\] for general masses and for the friction
//! formula that the notes leave out: the tangential relative motion shrinks by the factor `max(1 −
//! μ Δₙ/|d_T|, 0)`, where Δₙ is the change of the relative normal motion by this impulse. We
//! differ: positions instead of velocities, as the notes do (`v = x1 − x0`), and a target for the
//! end gap instead of zero approach, so that one rule serves impacts (do not come closer than the
//! thickness, or than you are) and repulsions (open up a little).

use std::{array, iter};

use glam::DVec3;

use super::Pressed;
use crate::geometry::ContactPoint;
use crate::state::{Candidate, Surfaces};
use crate::verify::Verified;

/// Pushes a contact point open until its end gap is `target` metres; returns whether anything
/// moved.
///
/// Linear momentum is kept up to rounding. Kinetic energy of the mean motion does not grow if the
/// point approaches and `target` is at most its start gap.
pub(super) fn keep_open(candidate: &mut Candidate<'_>, point: &ContactPoint, target: f64) -> bool {
    let lack = target - point.gap(&candidate.x);
    let k = candidate.inverse_mass_of(point);
    if lack <= 0.0 || k == 0.0 {
        return false; // open enough already, or nothing here can move
    }
    candidate.push(point, point.normal * (lack / k));

    let displacement = candidate.relative_displacement(point);
    let slide = displacement - point.normal * displacement.dot(point.normal);
    let length = slide.length();
    let friction = (candidate.friction_of(point) * lack).min(length);
    if friction > 0.0 {
        candidate.push(point, slide * (-friction / (length * k)));
    }
    true
}

/// The impulse of a contact point so far, in kg·m for positions and kg·m/s for velocities.
#[derive(Clone, Copy, Default)]
pub(super) struct Impulse {
    /// Along the normal; it pushes or is 0.
    pub(super) normal: f64,
    /// By friction, within the cone.
    tangential: DVec3,
}

impl Impulse {
    /// The parts of an impulse that pushes along the normal.
    fn of(impulse: DVec3, normal: DVec3) -> Self {
        Self {
            normal: impulse.dot(normal).max(0.0),
            tangential: impulse.reject_from_normalized(normal),
        }
    }

    /// A share of it.
    pub(super) fn times(self, share: f64) -> Self {
        Self {
            normal: share * self.normal,
            tangential: share * self.tangential,
        }
    }

    /// Both parts, for the normal of the point.
    pub(super) fn along(self, normal: DVec3) -> DVec3 {
        self.normal * normal + self.tangential
    }
}

/// A contact point that is solved together with others, by passes over all of them.
pub(super) struct Balanced {
    point: ContactPoint,
    /// How far an impulse of 1 moves each vertex: its weight over its mass.
    mobility: [f64; 4],
    /// Mass of the point, in kilograms; 0 where nothing can move.
    mass: f64,
    /// What the relative motion along the normal is to be, at least: an end gap, or 0 for
    /// velocities.
    pub(super) target: f64,
    /// Relative place from which friction measures the slide: that of the start, or 0 for
    /// velocities.
    from: DVec3,
    /// Coulomb coefficient.
    friction: f64,
    /// What the contact has exerted already: friction may use what it has left of the cone of both
    /// together.
    exerted: Impulse,
}

impl Balanced {
    pub(super) fn new(
        point: ContactPoint,
        inverse_mass: &[f64],
        target: f64,
        from: DVec3,
        friction: f64,
    ) -> Self {
        let k = point.inverse_mass(inverse_mass);
        Self {
            point,
            mobility: array::from_fn(|i| {
                point.weights[i] * inverse_mass[point.vertices[i] as usize]
            }),
            mass: if k > 0.0 { 1.0 / k } else { 0.0 },
            target,
            from,
            friction,
            exerted: Impulse::default(),
        }
    }

    /// Where it is, and its direction.
    pub(super) fn point(&self) -> &ContactPoint {
        &self.point
    }

    /// Coulomb coefficient.
    pub(super) fn friction(&self) -> f64 {
        self.friction
    }

    /// The vertices of the point.
    pub(super) fn vertices(&self) -> [u32; 4] {
        self.point.vertices
    }

    /// Numbers the vertices anew.
    pub(super) fn renumber(&mut self, place: impl Fn(u32) -> u32) {
        self.point.vertices = self.point.vertices.map(place);
    }

    /// Distance along the normal, in metres.
    pub(super) fn gap(&self, x: &[DVec3]) -> f64 {
        self.point.gap(x)
    }

    /// An impulse in space.
    pub(super) fn along(&self, impulse: Impulse) -> DVec3 {
        impulse.along(self.point.normal)
    }

    /// Adds `share` of an impulse to the sums of its vertices.
    pub(super) fn add_force(&self, impulse: Impulse, share: f64, sums: &mut [DVec3]) {
        let force = share * self.along(impulse);
        for (&v, w) in self.point.vertices.iter().zip(self.point.weights) {
            sums[v as usize] += w * force;
        }
    }

    /// A guess of the impulse, as far as it pushes and lies in the cone.
    pub(super) fn guess(&self, guess: DVec3) -> Impulse {
        let guess = Impulse::of(guess, self.point.normal);
        Impulse {
            normal: guess.normal,
            tangential: self.rub(guess.tangential, guess.normal),
        }
    }

    /// Applies a guess of the impulse.
    pub(super) fn begin(&self, guess: DVec3, motion: &mut [DVec3]) -> Impulse {
        let impulse = self.guess(guess);
        self.push(motion, impulse.along(self.point.normal));
        impulse
    }

    /// Sets the impulse to what the point needs, all others being as they are; returns by how much
    /// that changes its normal motion.
    ///
    /// What others have done since is taken back here, so that passes converge to the solution of
    /// the contact problem whatever their order (projected Gauss-Seidel). Pushes that are never
    /// taken back would add up to more than the contact force, and friction with them.
    pub(super) fn balance(&self, impulse: &mut Impulse, motion: &mut [DVec3]) -> f64 {
        if self.mass == 0.0 {
            return 0.0;
        }
        let relative = self.point.relative(motion);
        let lack = self.target - relative.dot(self.point.normal);
        let normal = (impulse.normal + self.mass * lack).max(0.0);
        if normal == 0.0 && impulse.normal == 0.0 && self.exerted.normal == 0.0 {
            return 0.0;
        }
        let displacement = relative - self.from;
        let slide = displacement - self.point.normal * displacement.dot(self.point.normal);
        let rubbed = self.rub(impulse.tangential - self.mass * slide, normal);
        let change = normal - impulse.normal;
        let pushed = change * self.point.normal + (rubbed - impulse.tangential);
        self.push(motion, pushed);
        *impulse = Impulse {
            normal,
            tangential: rubbed,
        };
        (change / self.mass).abs()
    }

    /// What is possible of a tangential impulse: the cone holds all that the contact exerts.
    fn rub(&self, wanted: DVec3, normal: f64) -> DVec3 {
        let room = self.friction * (self.exerted.normal + normal);
        (self.exerted.tangential + wanted).clamp_length_max(room) - self.exerted.tangential
    }

    fn push(&self, motion: &mut [DVec3], impulse: DVec3) {
        for (&v, mobility) in self.point.vertices.iter().zip(self.mobility) {
            motion[v as usize] += mobility * impulse;
        }
    }
}

/// Passes over the contact points when velocities settle; what is left after them is stopped in the
/// next interval.
const SETTLE_SWEEPS: usize = 20;

/// Stops what still approaches at contact points that had to be pushed, with friction; returns the
/// impulse of each, in kg·m/s.
///
/// Velocities at the end of an interval are the mean ones plus half of what the integrator
/// accelerated. At a contact point that half belongs to the contact as much as the first one did: a
/// cloth at rest would keep falling at g dt/2, and one that slides would gain only half of g (sin −
/// μ cos) dt, were its mean velocity taken for its end velocity \[SMT08\]. Inelastic and by
/// Coulomb's law, like the impulses; momentum is kept.
///
/// `pressed` says what repulsions exerted at the first points over `dt`: friction that has held a
/// point so far goes on holding it.
pub fn settle(
    points: &[ContactPoint],
    pressed: &[Pressed],
    dt: f64,
    inverse_mass: &[f64],
    surfaces: &Surfaces,
    state: &mut Verified,
) -> Vec<DVec3> {
    let forces = pressed.iter().map(|pressed| pressed.force);
    let contacts: Vec<Balanced> = (points.iter().zip(forces.chain(iter::repeat(DVec3::ZERO))))
        .map(|(point, force)| {
            let friction = surfaces.friction_of(state.mesh(), point);
            Balanced {
                exerted: Impulse::of(dt * force, point.normal),
                ..Balanced::new(*point, inverse_mass, 0.0, DVec3::ZERO, friction)
            }
        })
        .collect();
    let v = state.velocities_mut();
    let before = pressed.iter().map(|pressed| dt * pressed.settling);
    let mut impulses: Vec<Impulse> = (contacts.iter().zip(before.chain(iter::repeat(DVec3::ZERO))))
        .map(|(contact, guess)| contact.begin(guess, v))
        .collect();
    for _ in 0..SETTLE_SWEEPS {
        let mut still = true;
        for (contact, impulse) in contacts.iter().zip(&mut impulses) {
            still &= contact.balance(impulse, v) == 0.0;
        }
        if still {
            break;
        }
    }
    let along = impulses.iter().zip(points);
    along
        .map(|(impulse, point)| impulse.along(point.normal))
        .collect()
}

/// Adds the change of velocities of an impulse given in kg·m/s.
pub(super) fn push(v: &mut [DVec3], point: &ContactPoint, inverse_mass: &[f64], impulse: DVec3) {
    for (&i, w) in point.vertices.iter().zip(point.weights) {
        v[i as usize] += w * inverse_mass[i as usize] * impulse;
    }
}
