//! Tests against mechanics that others worked out: catenary, cantilever, pendulum.

use glam::DVec3;

use super::super::*;
use super::bodies::{cloth, strip};

/// Steps of 0.1 s until nothing moves by more than a millionth of a metre per step.
fn settled(dynamics: &Dynamics, mut x: Vec<DVec3>) -> Vec<DVec3> {
    let mut v = vec![DVec3::ZERO; x.len()];
    let target = x.clone();
    for _ in 0..400 {
        let end = dynamics.propose(&x, &v, &target, 0.0, 0.1);
        let moved = x
            .iter()
            .zip(&end.x)
            .map(|(a, b)| a.distance(*b))
            .fold(0.0, f64::max);
        (x, v) = (end.x, end.v);
        if moved < 1e-6 {
            return x;
        }
    }
    panic!("the cloth does not come to rest");
}

/// Loops so long that they damp, and solves to the end.
fn implicit() -> Settings {
    Settings {
        integrator: Integrator::Implicit(Implicit {
            max_loop: 0.01,
            iterations: 200,
            tolerance: 1e-6,
            ..Implicit::default()
        }),
        ..Settings::default()
    }
}

/// Sag of an inextensible rope of length 1 m between supports at distance `span`: length 2a
/// sinh(span/2a), sag a (cosh − 1).
fn catenary_sag(span: f64) -> f64 {
    let (mut low, mut high) = (0.05, 10.0);
    for _ in 0..100 {
        let a = 0.5 * (low + high);
        if 2.0 * a * libm::sinh(span / (2.0 * a)) > 1.0 {
            low = a;
        } else {
            high = a;
        }
    }
    low * (libm::cosh(span / (2.0 * low)) - 1.0)
}

#[test]
fn a_hanging_sheet_converges_to_the_catenary() {
    let span = 0.8;
    for stretch in [Stretch::Springs, Stretch::Membrane] {
        let sags: Vec<f64> = [16, 32, 64]
            .into_iter()
            .map(|cells| {
                let (mesh, rest) = strip([cells, 4], [1.0, 4.0 / f64::from(cells)]);
                let mut model = cloth(&mesh, &rest, Fabric::default());
                model.stretch = stretch;
                let across = 5;
                model.pinned = (0..across)
                    .chain(cells * across..(cells + 1) * across)
                    .collect();
                let dynamics = Dynamics::new(&mesh, &[model], &implicit());
                // a parabola of about the right length, between the supports
                let start = rest
                    .iter()
                    .map(|p| DVec3::new(span * p.x, -p.x * (1.0 - p.x), p.z))
                    .collect();
                let x = settled(&dynamics, start);
                -x.iter().map(|x| x.y).fold(0.0, f64::min)
            })
            .collect();
        let exact = catenary_sag(span);
        let (coarse, fine) = (sags[1] - sags[0], sags[2] - sags[1]);
        let order = libm::log2(coarse / fine);
        println!("{stretch:?}: sags {sags:?} m, catenary {exact} m, order {order:.2}");
        assert!(order > 1.7, "{order}");
        assert!((sags[2] - exact).abs() < 0.005 * exact);
    }
}

#[test]
fn a_cantilever_bends_as_peirce_says() {
    // Peirce 1930: bending length c = (B/ρg)^⅓ = l (cos ½θ / 8 tan θ)^⅓, l the overhang, θ the
    // slope of its chord
    let fabric = Fabric::default();
    let bending_length = libm::cbrt(fabric.bend[0] / (fabric.density * 9.81));
    for stretch in [Stretch::Springs, Stretch::Membrane] {
        for overhang in [0.5, 1.3, 2.0, 2.4] {
            let cells = 60;
            let length = overhang * bending_length;
            let (mesh, rest) = strip(
                [cells + 1, 4],
                [
                    length * f64::from(cells + 1) / f64::from(cells),
                    4.0 * length / f64::from(cells),
                ],
            );
            let mut model = cloth(&mesh, &rest, fabric.clone());
            model.stretch = stretch;
            model.pinned = (0..10).collect(); // two columns: clamped
            let dynamics = Dynamics::new(&mesh, &[model], &implicit());
            let x = settled(&dynamics, rest.clone());
            let chord = x[x.len() - 3] - x[7]; // middle of the free end, middle of the clamp
            let angle = libm::atan2(-chord.y, chord.x);
            let measured = length * libm::cbrt(libm::cos(0.5 * angle) / (8.0 * libm::tan(angle)));
            println!(
                "{stretch:?}: overhang {overhang} c, angle {:.1}°, bending length {:.4} of the true one",
                angle.to_degrees(),
                measured / bending_length
            );
            assert!((measured / bending_length - 1.0).abs() < 0.03);
        }
    }
}

/// A square that swings about two pinned corners: lumped, a pendulum of length 1 m. Angle after 0.5
/// s.
fn swung(integrator: Integrator, steps: u32) -> f64 {
    let (mesh, rest) = strip([1, 1], [1.0, 1.0]);
    let fabric = Fabric {
        stretch: [1e4; 2],
        stretch_damping: 0.0,
        bend_damping: 0.0,
        ..Fabric::default()
    };
    let mut model = cloth(&mesh, &rest, fabric);
    model.stretch = Stretch::Membrane;
    model.pinned = vec![0, 1];
    let settings = Settings {
        integrator,
        ..Settings::default()
    };
    let dynamics = Dynamics::new(&mesh, &[model], &settings);
    let mut x = rest.clone();
    let mut v = vec![DVec3::ZERO; 4];
    for k in 0..steps {
        let dt = 0.5 / f64::from(steps);
        let end = dynamics.propose(&x, &v, &rest, f64::from(k) * dt, dt);
        (x, v) = (end.x, end.v);
    }
    let middle = 0.5 * (x[2] + x[3]);
    libm::atan2(-middle.y, middle.x)
}

#[test]
fn a_pendulum_swings_to_the_order_of_the_integrator() {
    // φ'' = (g/L) cos φ from φ = 0, by Runge-Kutta in 10,000 steps
    let (mut angle, mut speed) = (0.0, 0.0);
    let h = 0.5 / 10_000.0;
    let pull = |angle: f64| 9.81 * libm::cos(angle);
    for _ in 0..10_000 {
        let (a1, s1) = (speed, pull(angle));
        let (a2, s2) = (speed + 0.5 * h * s1, pull(angle + 0.5 * h * a1));
        let (a3, s3) = (speed + 0.5 * h * s2, pull(angle + 0.5 * h * a2));
        let (a4, s4) = (speed + h * s3, pull(angle + h * a3));
        angle += h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4);
        speed += h / 6.0 * (s1 + 2.0 * s2 + 2.0 * s3 + s4);
    }
    let newmark = |loops: u32| {
        // one loop per call, of whatever length the number of steps makes it
        let cfl = 1e9;
        swung(Integrator::Newmark(Newmark { cfl }), loops)
    };
    let euler = |steps: u32| {
        let euler = Implicit {
            max_loop: 1.0,
            iterations: 200,
            tolerance: 1e-7,
            ..Implicit::default()
        };
        swung(Integrator::Implicit(euler), steps)
    };
    let order = |run: &dyn Fn(u32) -> f64, n: u32| {
        let (a, b, c) = (run(n), run(2 * n), run(4 * n));
        println!(
            "errors {:.2e} {:.2e} {:.2e}",
            a - angle,
            b - angle,
            c - angle
        );
        ((c - angle).abs(), libm::log2(((a - b) / (b - c)).abs()))
    };
    // what remains is the stretch of the sheet by its own weight, some 1e-4 of its length at 10
    // kN/m
    let (error, second) = order(&newmark, 1000);
    println!("Newmark: error {error:.1e}, order {second:.2}");
    assert!(error < 5e-4 && (second - 2.0).abs() < 0.1);
    let (error, first) = order(&euler, 1600);
    println!("implicit Euler: error {error:.1e}, order {first:.2}");
    assert!(error < 2e-3 && (first - 1.0).abs() < 0.1);
}
