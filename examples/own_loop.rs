//! Percale in a simulator of your own: a mass-spring cloth falls on a ball and does not go through.
//!
//! `cargo run --release --example own_loop`

#![allow(clippy::print_stdout, reason = "an example says what it does")]

use std::sync::Arc;

use percale::geometry::{Body, BodyKind};
use percale::scene::Shape;
use percale::{Collider, DVec3, Mesh, Settings, Surfaces, resolve};

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let cloth: Shape = toml::from_str("kind = 'sheet'\nsize = [1, 1]\ncells = [15, 15]")?;
    let ball: Shape = toml::from_str("kind = 'sphere'\nradius = 0.25\nsubdivisions = 3")?;
    let (cloth, ball) = (cloth.triangles()?, ball.triangles()?);
    let (n, m) = (cloth.x.len() as u32, cloth.faces.len() as u32);
    let body = |name: &str, kind, vertices, faces| {
        let name = name.into();
        Body {
            name,
            kind,
            vertices,
            faces,
        }
    };
    let mut faces = cloth.faces;
    faces.extend(ball.faces.iter().map(|face| face.map(|v| v + n)));
    let x = cloth.x.iter().map(|&x| x + 0.3 * DVec3::Y);
    let x: Vec<DVec3> = x.chain(ball.x).collect();
    let bodies = vec![
        body("cloth", BodyKind::Cloth, 0..n, 0..m),
        body(
            "ball",
            BodyKind::Obstacle,
            n..x.len() as u32,
            m..faces.len() as u32,
        ),
    ];
    let mesh = Arc::new(Mesh::with_bodies(x.len(), faces, bodies)?);

    // 0.2 kg, springs along all edges of the cloth; the ball cannot move
    let w: Vec<f64> = (0..x.len() as u32)
        .map(|v| if v < n { f64::from(n) / 0.2 } else { 0.0 })
        .collect();
    let edges = mesh.edges().iter().filter(|edge| edge[0] < n);
    let springs: Vec<[usize; 2]> = edges.map(|edge| edge.map(|v| v as usize)).collect();
    let (rest, dt) = (x.clone(), 1.0 / 480.0);

    let mut collider = Collider::new(&mesh);
    let surfaces = Surfaces::uniform(&mesh, rest.clone(), 4e-3, 0.3)?;
    let settings = Settings::default();
    let mut state = collider.start(x, vec![DVec3::ZERO; w.len()])?;
    for step in 1..=480 {
        // yours: forces, and where they would take the cloth
        let (x, mut v) = (state.positions(), state.velocities().to_vec());
        for &[a, b] in &springs {
            let (way, length) = (x[b] - x[a], rest[a].distance(rest[b]));
            let along = way.normalize();
            let pull = 20.0 * (way.length() - length) + 0.02 * (v[b] - v[a]).dot(along);
            v[a] += dt * w[a] * pull * along;
            v[b] -= dt * w[b] * pull * along;
        }
        let fall = |i: usize| {
            if w[i] > 0.0 {
                v[i] - 9.81 * dt * DVec3::Y
            } else {
                DVec3::ZERO
            }
        };
        let end = (0..x.len()).map(|i| x[i] + dt * fall(i)).collect();
        // ours: a certified state with its velocities, or why not
        let (next, report) = resolve(&settings, &state, end, &w, &surfaces, dt, &mut collider)?;
        state = next;
        if step % 120 == 0 {
            let heights = state.positions()[..n as usize].iter().map(|x| x.y);
            let lowest = heights.fold(f64::INFINITY, f64::min);
            let impacts = report.impacts_before;
            let seconds = f64::from(step) * dt;
            println!("{seconds:.2} s: {impacts} impacts, lowest vertex at {lowest:.3} m");
        }
    }
    Ok(())
}
