//! The collision step alone: start, candidate and masses in, certified positions out.
//!
//! This is all of Percale that a simulator of your own needs (course notes, "Separation from
//! internal dynamics"): it does not know where the candidate comes from. Nothing is retried: a
//! refusal says what is in the way, and the caller may try a shorter interval.

use std::collections::BTreeMap;

use glam::DVec3;
use serde::Serialize;

use crate::error::{StepError, ValueError};
use crate::geometry::{Asked, Collider, Mesh, ccd};
use crate::state::{Candidate, Surfaces};
use crate::step::{Interval, Phases, Refusal, Settings, Span, Terms};
use crate::verify::Verified;

/// What a collision step did.
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use percale::{Collider, DVec3, Mesh, Settings, Surfaces, resolve};
///
/// let mesh = Arc::new(Mesh::new(6, vec![[0, 1, 2], [3, 4, 5]])?);
/// let lower = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]];
/// let upper = [[0.2, 0.1, 0.2], [1.2, 0.1, 0.2], [0.2, 0.1, 1.2]];
/// let x0: Vec<DVec3> = lower.iter().chain(&upper).map(|&x| x.into()).collect();
/// let x1: Vec<DVec3> = x0.iter().map(|x| x.with_y(0.1 - x.y)).collect(); // they change places
/// let mut collider = Collider::new(&mesh);
/// let start = collider.start(x0.clone(), vec![DVec3::ZERO; 6])?;
/// let surfaces = Surfaces::uniform(&mesh, x0, 1e-3, 0.3)?;
/// let (_, done) = resolve(&Settings::default(), &start, x1, &[1.0; 6], &surfaces, 1.0 / 60.0, &mut collider)?;
/// assert!(done.impacts_before > 0 && done.impacts_after == 0);
/// assert_eq!(done.moved, 6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Resolution {
    /// Impacts of the candidate motion, by the exact test.
    pub impacts_before: usize,
    /// Impacts of the accepted motion: 0, or it would not have been accepted.
    pub impacts_after: usize,
    /// Rounds of all stages.
    pub rounds: usize,
    /// Rounds by stage.
    pub stages: BTreeMap<String, usize>,
    /// Pairs put to the continuous test, see [`Collider::queries`]: those of the candidate motion,
    /// of every round and of the certificate together.
    pub queries: u64,
    /// Vertices that do not end where the candidate had them.
    pub moved: usize,
    /// `Σ m |x_new − x0|² / Σ m |x1 − x0|²` of vertices that were in an impact; none without
    /// impacts.
    pub kept_share: Option<f64>,
}

/// Lumped masses of a sheet of 1 kg/m², in kg: a third of each face's area to each of its corners.
pub fn lumped_mass(mesh: &Mesh, x: &[DVec3]) -> Vec<f64> {
    let mut mass = vec![0.0; x.len()];
    for corners in mesh.faces() {
        let [a, b, c] = corners.map(|v| x[v as usize]);
        let area = 0.5 * (b - a).cross(c - a).length();
        for v in corners {
            mass[*v as usize] += area / 3.0;
        }
    }
    mass
}

/// Changes end positions until the straight motion from `start` to them meets nothing, and
/// certifies the result.
///
/// `inverse_mass` is in 1/kg, 0 for vertices whose end positions are given: they end where `end`
/// has them, to the bit. `dt` is how long the motion takes, in seconds. The velocities of the
/// result, in m/s, are those of the candidate motion and what the response changed: an integrator
/// whose end velocities are others adds the difference of [`Verified::velocities`] and `(end −
/// start)/dt` to its own. Of the settings, `fps` and the lengths of intervals do not count.
///
/// # Errors
/// Values that are unusable, or impacts that no stage could resolve: with [`crate::response::Hold`]
/// among the fail-safes that happens only if vertices with given ends force contact. The start is
/// untouched.
///
/// # Examples
/// A vertex of a triangle is sent through another one:
///
/// ```
/// use std::sync::Arc;
/// use percale::{Collider, Mesh, Settings, Surfaces, resolve};
///
/// let mesh = Arc::new(Mesh::new(6, vec![[0, 1, 2], [3, 4, 5]])?);
/// let lower = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]];
/// let upper = [[0.2, 0.1, 0.2], [1.2, 0.1, 0.2], [0.2, 0.1, 1.2]];
/// let x0: Vec<_> = lower.iter().chain(&upper).map(|&x| x.into()).collect();
/// let mut x1: Vec<percale::DVec3> = x0.clone();
/// x1[3].y = -0.1;
///
/// let mut collider = Collider::new(&mesh);
/// let start = collider.start(x0.clone(), vec![Default::default(); 6])?;
/// let surfaces = Surfaces::uniform(&mesh, x0, 1e-3, 0.3)?;
/// let (end, report) = resolve(&Settings::default(), &start, x1, &[1.0; 6], &surfaces, 1.0 / 60.0, &mut collider)?;
/// assert!(report.impacts_before > 0);
/// assert!(end.positions()[3].y > end.positions()[0].y);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn resolve(
    settings: &Settings,
    start: &Verified,
    end: Vec<DVec3>,
    inverse_mass: &[f64],
    surfaces: &Surfaces,
    dt: f64,
    collider: &mut Collider,
) -> Result<(Verified, Resolution), StepError> {
    settings.check()?;
    let candidate = Candidate::new(start, inverse_mass, surfaces, dt, end)?;
    if !std::sync::Arc::ptr_eq(start.mesh(), collider.mesh()) {
        return Err(ValueError::OtherMesh { what: "collider" }.into());
    }
    let asked_before = collider.queries();
    let exact = Asked {
        mode: ccd::Mode::Exact,
        margin: None,
    };
    let wanted = candidate.x.clone();
    let terms = Terms {
        start,
        inverse_mass,
        surfaces,
        settings,
        dynamics: None,
        span: Span {
            time: 0.0,
            dt,
            share: 1.0,
            is_shortest: true,
            is_stored: true,
            frame: 1,
        },
    };
    let phases = &mut Phases::default();
    let mut interval = Interval::given(candidate, terms, collider);
    interval.repel(&[], phases);
    // nearly this motion is what the response begins with
    let known = interval.look(collider);
    let before = collider.look(start.motion_to(&wanted), &exact, known);
    let mut pass = || {
        interval.respond(collider, phases)?;
        interval.judge(collider, phases)
    };
    let mut accepted = pass().map_err(|refusal| match refusal {
        Refusal::NotCertified(error) => error,
        Refusal::TooStretched { .. } | Refusal::TooMuchEnergy => {
            unreachable!("the shortest interval is never refused for what it does to the cloth")
        }
    })?;
    let figures = interval.settle(&mut accepted, phases).figures;

    let ends = accepted.positions().iter().zip(&wanted);
    let resolution = Resolution {
        impacts_before: before.impacts.len(),
        impacts_after: 0,
        rounds: figures.calls(),
        queries: collider.queries() - asked_before,
        moved: ends.filter(|(new, old)| new != old).count(),
        kept_share: figures.kept_share(),
        stages: figures.rounds,
    };
    Ok((accepted, resolution))
}
