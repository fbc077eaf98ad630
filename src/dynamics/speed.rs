//! Measurements, run by hand: `cargo test --release --lib dynamics::speed -- --ignored --nocapture`.

use glam::DVec3;

use super::laws::{cloth, sheet};
use super::*;

fn run(cells: u32, stretch: Stretch, integrator: Integrator, frames: u32) {
    let (mesh, rest) = sheet(cells);
    let mut model = cloth(&mesh, &rest, Fabric::default());
    model.stretch = stretch;
    model.pinned = vec![0, cells];
    let settings = Settings {
        integrator,
        ..Settings::default()
    };
    let dynamics = Dynamics::new(&mesh, &[model], &settings);
    let mut x = rest.clone();
    let mut v = vec![DVec3::ZERO; x.len()];
    for k in 0..frames {
        let clock = std::time::Instant::now();
        let end = dynamics.propose(&x, &v, &rest, 0.0, 1.0 / 60.0);
        let elapsed = clock.elapsed().as_secs_f64() * 1e3;
        (x, v) = (end.x, end.v);
        let e = dynamics.energy(&x, &v);
        if k % 5 == 4 {
            println!(
                "{k}: {elapsed:.1} ms, {} loops, {} iterations, assembly {:.1}, solve {:.1}; E {:.5} {:.5} {:.5} lowest {:.4}",
                end.loops,
                end.iterations,
                end.assembly_ms,
                end.solve_ms,
                e.kinetic,
                e.elastic,
                e.gravity,
                x.iter().map(|x| x.y).fold(0.0, f64::min)
            );
        }
    }
}

#[test]
#[ignore = "a measurement"]
fn implicit_100() {
    for stretch in [Stretch::Springs, Stretch::Membrane] {
        println!("{stretch:?}");
        run(
            99,
            stretch,
            Integrator::ImplicitEuler(ImplicitEuler::default()),
            40,
        );
    }
}

#[test]
#[ignore = "a measurement"]
fn newmark_50() {
    for stretch in [Stretch::Springs, Stretch::Membrane] {
        println!("{stretch:?}");
        run(49, stretch, Integrator::Newmark(Newmark::default()), 40);
    }
}
