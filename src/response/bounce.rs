//! The elastic part of collisions: an extra step on the velocities that an interval starts with.
//!
//! Everything else in the response is inelastic, and rightly so: were the impacts of a whole
//! interval to bounce, cloth at rest would bounce with what gravity adds within it. So what flies
//! into something is turned round before the integrator sees it, by the velocities that it has at
//! the start; a cloth at rest has none. Source: course notes, "Notes"; \[GBF03\].
//!
//! Guaranteed: linear momentum of free vertices, up to rounding; kinetic energy does not grow by a
//! bounce at obstacles at rest. Not guaranteed: that nothing meets afterwards; that is what the
//! stages are for.

use glam::DVec3;

use super::contact::push;
use crate::geometry::{Asked, Collider};
use crate::state::Surfaces;
use crate::verify::Verified;

/// Rounds of detection; what still meets then is stopped by the stages.
const ROUNDS: usize = 5;

/// Velocities after the elastic collisions of an interval of `dt` seconds.
///
/// `target` are the end positions of scripted vertices; those of others do not count. `restitution`
/// is the share of the approach speed that returns.
pub fn bounce(
    restitution: f64,
    start: &Verified,
    target: &[DVec3],
    dt: f64,
    inverse_mass: &[f64],
    surfaces: &Surfaces,
    collider: &mut Collider,
) -> Vec<DVec3> {
    let (mesh, x0) = (start.mesh(), start.positions());
    let scripted = |v: usize| (target[v] - x0[v]) / dt;
    let mut v: Vec<DVec3> = start.velocities().to_vec();
    for (i, velocity) in v.iter_mut().enumerate() {
        if inverse_mass[i] == 0.0 {
            *velocity = scripted(i);
        }
    }
    let end = |v: &[DVec3]| -> Vec<DVec3> {
        let each = x0.iter().zip(v).enumerate();
        each.map(|(i, (x, v))| match inverse_mass[i] {
            0.0 => target[i],
            _ => x + dt * v,
        })
        .collect()
    };
    let asked = Asked::default();
    let mut impacts = collider.impacts(start.motion_to(&end(&v)), &asked);
    for _ in 0..ROUNDS {
        let mut changed = Vec::new();
        for impact in &impacts {
            let point = impact.point();
            let velocity = point.relative(&v);
            let approach = -velocity.dot(point.normal);
            let k = point.inverse_mass(inverse_mass);
            if approach <= 0.0 || k == 0.0 {
                continue;
            }
            let stopped = (1.0 + restitution) * approach;
            let slide = velocity + approach * point.normal;
            let friction = slide.clamp_length_max(surfaces.friction_of(mesh, &point) * stopped);
            let impulse = (stopped * point.normal - friction) / k;
            push(&mut v, &point, inverse_mass, impulse);
            changed.extend(point.vertices);
        }
        if changed.is_empty() {
            break;
        }
        changed.sort_unstable();
        changed.dedup();
        let end = end(&v);
        let look = collider.look_again(start.motion_to(&end), &changed, &asked, None);
        impacts = look.impacts;
    }
    for (i, velocity) in v.iter_mut().enumerate() {
        if inverse_mass[i] == 0.0 {
            *velocity = start.velocities()[i];
        }
    }
    v
}
