//! Percale in a simulator of your own: a mass-spring cloth falls on a pyramid and does not go through.
//!
//! `cargo run --release --example own_loop`

use std::sync::Arc;

use percale::geometry::{Body, BodyKind};
use percale::{Collider, DVec3, Mesh, Settings, Surfaces, resolve};

const N: u32 = 20; // vertices along a side
const DT: f64 = 1.0 / 240.0;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // a square of 1 m above a pyramid
    let mut x: Vec<DVec3> = (0..N * N)
        .map(|i| DVec3::new(f64::from(i % N), 0.0, f64::from(i / N)) / f64::from(N - 1))
        .collect();
    let corners = (0..N * N).filter(|i| i % N + 1 < N && i / N + 1 < N);
    let mut faces: Vec<[u32; 3]> = corners
        .flat_map(|i| [[i, i + N, i + 1], [i + 1, i + N, i + N + 1]])
        .collect();
    let (cloth, cloth_faces) = (N * N, faces.len() as u32);
    let pyramid = [
        [0.5, -0.05, 0.5],
        [0.1, -0.6, 0.1],
        [0.1, -0.6, 0.9],
        [0.9, -0.6, 0.9],
        [0.9, -0.6, 0.1],
    ];
    x.extend(pyramid.map(DVec3::from_array));
    faces.extend([1, 2, 3, 4].map(|k| [cloth, cloth + k, cloth + k % 4 + 1]));
    let body = |name: &str, kind, vertices, faces| Body {
        name: name.into(),
        kind,
        vertices,
        faces,
    };
    let bodies = vec![
        body("cloth", BodyKind::Cloth, 0..cloth, 0..cloth_faces),
        body(
            "pyramid",
            BodyKind::Obstacle,
            cloth..cloth + 5,
            cloth_faces..cloth_faces + 4,
        ),
    ];
    let mesh = Arc::new(Mesh::with_bodies(x.len(), faces, bodies)?);

    // 0.2 kg of springs along all edges; the pyramid cannot move
    let mass = 0.2 / f64::from(cloth);
    let free = |v: usize| (v as u32) < cloth;
    let inverse_mass: Vec<f64> = (0..x.len())
        .map(|v| if free(v) { 1.0 / mass } else { 0.0 })
        .collect();
    let rest = x.clone();
    let springs = mesh.edges().iter().filter(|e| free(e[0] as usize));
    let springs: Vec<[usize; 2]> = springs.map(|e| e.map(|v| v as usize)).collect();

    let mut collider = Collider::new(&mesh);
    let surfaces = Surfaces::uniform(&mesh, rest.clone(), 2e-3, 0.3)?;
    let mut state = collider.start(x, vec![DVec3::ZERO; inverse_mass.len()])?;
    for step in 1..=240 {
        // yours: forces, and where they would take the cloth
        let (x, mut v) = (state.positions(), state.velocities().to_vec());
        for &[a, b] in &springs {
            let (way, length) = (x[b] - x[a], rest[a].distance(rest[b]));
            let direction = way.normalize();
            let pull = 100.0 * (way.length() - length) + 0.05 * (v[b] - v[a]).dot(direction);
            v[a] += DT * inverse_mass[a] * pull * direction;
            v[b] -= DT * inverse_mass[b] * pull * direction;
        }
        let fall = |v: &DVec3, w: f64| {
            if w > 0.0 {
                *v - 9.81 * DT * DVec3::Y
            } else {
                DVec3::ZERO
            }
        };
        let end = x
            .iter()
            .zip(v.iter().zip(&inverse_mass))
            .map(|(x, (v, &w))| *x + DT * fall(v, w))
            .collect();
        // ours: a certified state with its velocities, or why not
        let (next, report) = resolve(
            &Settings::default(),
            &state,
            end,
            &inverse_mass,
            &surfaces,
            DT,
            &mut collider,
        )?;
        state = next;
        if step % 60 == 0 {
            println!(
                "{:.2} s: {} impacts, {} vertices moved",
                f64::from(step) * DT,
                report.impacts_before,
                report.moved
            );
        }
    }
    let lowest = state.positions()[..cloth as usize]
        .iter()
        .map(|x| x.y)
        .fold(0.0, f64::min);
    println!("lowest vertex at {lowest:.3} m, nothing crosses");
    Ok(())
}
