//! Measurements, run by hand: `cargo test --release --lib dynamics::speed -- --ignored --nocapture --test-threads 1`.

use glam::DVec3;

use super::laws::{cloth, sheet};
use super::*;

/// Processor time of this thread, ms: the wall clock says nothing on a shared machine.
fn processor_ms() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split_whitespace()
        .next()
        .unwrap()
        .parse::<f64>()
        .unwrap()
        * 1e-6
}

/// Lets a sheet hang from two corners and prints every tenth frame.
fn run(cells: u32, stretch: Stretch, integrator: Integrator, frames: u32) {
    let (mesh, rest) = sheet(cells);
    let mut model = cloth(&mesh, &rest, Fabric::default());
    model.stretch = stretch;
    model.pinned = vec![0, cells];
    println!("{cells} cells, {stretch:?}, {integrator:?}");
    let settings = Settings {
        integrator,
        ..Settings::default()
    };
    let dynamics = Dynamics::new(&mesh, &[model], &settings);
    let mut x = rest.clone();
    let mut v = vec![DVec3::ZERO; x.len()];
    let (mut total, mut loops) = (0.0, 0);
    for k in 1..=frames {
        let clock = processor_ms();
        let end = dynamics.propose(&x, &v, &rest, f64::from(k) / 60.0, 1.0 / 60.0);
        let elapsed = processor_ms() - clock;
        total += elapsed;
        loops += end.loops;
        (x, v) = (end.x, end.v);
        let energy = dynamics.energy(&x, &v);
        if k % 10 == 0 {
            println!(
                "  {k}: {elapsed:.1} ms, {} loops, {} iterations, wall: assembly {:.1}, solve {:.1}; energy {:.6} J, over {}",
                end.loops,
                end.iterations,
                end.assembly_ms,
                end.solve_ms,
                energy.total(),
                end.strain.over
            );
        }
    }
    println!(
        "  mean {:.1} ms per frame, {:.0} ns per loop and vertex",
        total / f64::from(frames),
        total * 1e6 / f64::from(loops) / x.len() as f64
    );
}

#[test]
#[ignore = "a measurement"]
fn implicit_100() {
    for max_newton in [1, 5] {
        for stretch in [Stretch::Springs, Stretch::Membrane] {
            let euler = ImplicitEuler {
                max_newton,
                ..ImplicitEuler::default()
            };
            run(99, stretch, Integrator::ImplicitEuler(euler), 40);
        }
    }
}

#[test]
#[ignore = "a measurement"]
fn newmark_50() {
    for cfl in [1.0, 4.0] {
        for stretch in [Stretch::Springs, Stretch::Membrane] {
            let newmark = Newmark {
                cfl,
                tolerance: 1e-2,
                ..Newmark::default()
            };
            run(49, stretch, Integrator::Newmark(newmark), 40);
        }
    }
}
