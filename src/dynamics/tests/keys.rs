//! Every setting does what it says: changing it changes the result in the predicted direction.

use glam::{DVec2, DVec3};

use super::super::*;
use super::bodies::{cloth, sheet, strip};

/// What is predicted is where it comes to rest: long loops that damp, and solves to the end.
fn converged() -> Settings {
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

/// State after some steps, from rest in the rest shape; pins stay.
fn run(dynamics: &Dynamics, rest: &[DVec3], steps: u32, dt: f64) -> (Vec<DVec3>, Vec<DVec3>) {
    let mut x = rest.to_vec();
    let mut v = vec![DVec3::ZERO; x.len()];
    for k in 0..steps {
        let end = dynamics.propose(&x, &v, rest, f64::from(k) * dt, dt);
        (x, v) = (end.x, end.v);
    }
    (x, v)
}

/// Where the middle of a sheet's last row comes to rest when it hangs from its first; warp down if
/// `warp`, else weft.
fn hung(fabric: Fabric, stretch: Stretch, warp: bool) -> DVec3 {
    let (mesh, flat) = sheet(4);
    let rest: Vec<DVec3> = flat.iter().map(|p| DVec3::new(p.z, -p.x, 0.0)).collect();
    let uv = |p: &DVec3| {
        if warp {
            DVec2::new(p.x, p.z)
        } else {
            DVec2::new(p.z, p.x)
        }
    };
    let uv: Vec<DVec2> = flat.iter().map(uv).collect();
    let mut model = cloth(&mesh, &rest, fabric);
    model.rest = RestShape::from_material(&mesh, &mesh.bodies()[0], rest.clone(), &uv);
    model.stretch = stretch;
    model.pinned = (0..5).collect();
    let settings = converged();
    let (x, _) = run(&Dynamics::new(&mesh, &[model], &settings), &rest, 60, 0.1);
    x[22] - rest[22]
}

#[test]
fn weight_and_stiffness_decide_how_far_a_hanging_sheet_stretches() {
    let base = Fabric {
        stretch: [200.0, 200.0],
        ..Fabric::default()
    };
    for stretch in [Stretch::Springs, Stretch::Membrane] {
        for warp in [true, false] {
            let sag = |fabric: &Fabric| -hung(fabric.clone(), stretch, warp).y;
            let plain = sag(&base);
            // ½ ρ g L² / k for the continuous sheet, the diagonals of the springs apart
            let expected = 0.5 * 0.2 * 9.81 / 200.0;
            assert!((plain / expected - 1.0).abs() < 0.35, "{plain} {expected}");
            let heavy = sag(&Fabric {
                density: 0.4,
                ..base.clone()
            });
            assert!((heavy / plain - 2.0).abs() < 0.05, "density");
            let (along, across) = if warp {
                ([400.0, 200.0], [200.0, 400.0])
            } else {
                ([200.0, 400.0], [400.0, 200.0])
            };
            let along = sag(&Fabric {
                stretch: along,
                ..base.clone()
            });
            assert!(along < 0.65 * plain, "stretch along");
            let across = sag(&Fabric {
                stretch: across,
                ..base.clone()
            });
            assert!((across / plain - 1.0).abs() < 0.1, "stretch across");
        }
    }
}

#[test]
fn coupling_narrows_what_is_stretched() {
    let (mesh, rest) = strip([8, 4], [1.0, 0.5]);
    let width = |coupling: f64| {
        let fabric = Fabric {
            stretch: [200.0; 2],
            coupling,
            ..Fabric::default()
        };
        let mut model = cloth(&mesh, &rest, fabric);
        model.stretch = Stretch::Membrane;
        model.pinned = (0..5).chain(40..45).collect();
        let settings = Settings {
            gravity: [0.0; 3],
            ..converged()
        };
        let dynamics = Dynamics::new(&mesh, &[model], &settings);
        let pulled: Vec<DVec3> = rest
            .iter()
            .map(|&x| DVec3::new(1.05 * x.x, x.y, x.z))
            .collect();
        let (x, _) = run(&dynamics, &pulled, 60, 0.1);
        x[24].z - x[20].z
    };
    assert!((width(0.0) - 0.5).abs() < 1e-3);
    assert!(width(100.0) < 0.49, "half of the strain, across");
}

#[test]
fn shear_stiffness_resists_shear() {
    // a sheet held along one side, hanging sideways: it shears by its weight
    let drop = |shear: f64, stretch: Stretch| {
        let (mesh, flat) = sheet(4);
        let rest: Vec<DVec3> = flat.iter().map(|p| DVec3::new(p.x, p.z, 0.0)).collect();
        let fabric = Fabric {
            shear,
            bend: [1.0; 3], // stays flat
            ..Fabric::default()
        };
        let mut model = cloth(&mesh, &rest, fabric);
        model.stretch = stretch;
        model.pinned = (0..5).collect();
        let (x, _) = run(
            &Dynamics::new(&mesh, &[model], &converged()),
            &rest,
            60,
            0.1,
        );
        rest[22].y - x[22].y
    };
    for stretch in [Stretch::Springs, Stretch::Membrane] {
        let (soft, stiff) = (drop(50.0, stretch), drop(100.0, stretch));
        assert!(stiff < 0.7 * soft, "{stretch:?}: {soft} {stiff}");
    }
}

#[test]
fn bending_rigidity_acts_along_its_own_direction() {
    // strips cut along warp, bias and weft droop less only if their own rigidity grows
    let droop = |bend: [f64; 3], angle: f64| {
        let (mesh, rest) = strip([12, 2], [0.06, 0.01]);
        let turn = DVec2::from_angle(angle);
        let uv: Vec<DVec2> = rest
            .iter()
            .map(|p| turn.rotate(DVec2::new(p.x, p.z)))
            .collect();
        let fabric = Fabric {
            bend,
            ..Fabric::default()
        };
        let mut model = cloth(&mesh, &rest, fabric);
        model.rest = RestShape::from_material(&mesh, &mesh.bodies()[0], rest.clone(), &uv);
        model.stretch = Stretch::Membrane;
        model.pinned = (0..6).collect();
        let settings = converged();
        let (x, _) = run(&Dynamics::new(&mesh, &[model], &settings), &rest, 40, 0.1);
        -x[37].y
    };
    let plain = [4e-5, 4e-5, 4e-5];
    for (k, angle) in [0.0, 0.25, 0.5].into_iter().enumerate() {
        let angle = angle * std::f64::consts::PI;
        let base = droop(plain, angle);
        let changes: Vec<f64> = (0..3)
            .map(|j| {
                let mut stiffer = plain;
                stiffer[j] = 6e-5;
                1.0 - droop(stiffer, angle) / base
            })
            .collect();
        for (j, &change) in changes.iter().enumerate() {
            // a narrow strip cut on the bias also twists, so that warp and weft have some say
            assert!(
                change <= changes[k] && (j == k || change.abs() < 0.05),
                "{k}: {changes:?}"
            );
        }
        assert!(changes[k] > 0.12, "{k}: {changes:?}");
    }
}

#[test]
fn damping_takes_energy_out_of_stretching_and_bending() {
    let (mesh, rest) = sheet(4);
    let left = |fabric: Fabric, bent: bool| {
        let newmark = Newmark { cfl: 0.2 };
        let settings = Settings {
            gravity: [0.0; 3],
            integrator: Integrator::Newmark(newmark),
            ..Settings::default()
        };
        let dynamics = Dynamics::new(&mesh, &[cloth(&mesh, &rest, fabric)], &settings);
        let shape = |p: &DVec3| {
            if bent {
                DVec3::new(libm::sin(p.x), 1.0 - libm::cos(p.x), p.z)
            } else {
                1.05 * *p
            }
        };
        let start: Vec<DVec3> = rest.iter().map(shape).collect();
        let v = vec![DVec3::ZERO; start.len()];
        let end = dynamics.propose(&start, &v, &start, 0.0, 0.05);
        dynamics.energy(&end.x, &end.v).total() / dynamics.energy(&start, &v).total()
    };
    let free = Fabric {
        stretch_damping: 0.0,
        bend_damping: 0.0,
        ..Fabric::default()
    };
    let stretched = |stretch_damping: f64| {
        left(
            Fabric {
                stretch_damping,
                ..free.clone()
            },
            false,
        )
    };
    assert!(stretched(0.0) > 0.95);
    assert!(stretched(2e-3) < 0.7 * stretched(0.0));
    // a plate too soft to swing within the time has to be made stiff to show its damping
    let stiff = Fabric {
        bend: [1.0; 3],
        ..free.clone()
    };
    let bent = |bend_damping: f64| {
        left(
            Fabric {
                bend_damping,
                ..stiff.clone()
            },
            true,
        )
    };
    assert!(bent(0.02) < 0.7 * bent(0.0), "{} {}", bent(0.02), bent(0.0));
}

#[test]
fn the_keys_of_the_integrators_do_what_they_say() {
    let (mesh, rest) = sheet(12);
    let propose = |integrator: Integrator| {
        let mut model = cloth(&mesh, &rest, Fabric::default());
        model.pinned = vec![0, 12];
        let settings = Settings {
            integrator,
            ..Settings::default()
        };
        let dynamics = Dynamics::new(&mesh, &[model], &settings);
        let v: Vec<DVec3> = rest
            .iter()
            .map(|p| DVec3::new(p.z, 3.0 * p.x, p.x))
            .collect();
        dynamics.propose(&rest, &v, &rest, 0.0, 0.02)
    };
    let newmark = |cfl: f64| propose(Integrator::Newmark(Newmark { cfl }));
    let base = newmark(1.0);
    assert!((f64::from(newmark(0.5).loops) / f64::from(base.loops) - 2.0).abs() < 0.1);
    let implicit = |max_loop: f64, iterations: u32, tolerance: f64| {
        propose(Integrator::Implicit(Implicit {
            max_loop,
            iterations,
            tolerance,
            ..Implicit::default()
        }))
    };
    for (max_loop, loops) in [(1.0, 1), (0.02, 1), (0.0199, 2), (0.001, 20)] {
        assert_eq!(implicit(max_loop, 8, 1e-4).loops, loops, "{max_loop} s");
    }
    assert_eq!(implicit(0.02, 8, 0.0).iterations, 8);
    assert!(implicit(0.02, 100, 1e-6).iterations > implicit(0.02, 100, 1e-3).iterations);

    // a loop does not see that its own motion turns the sheet: it stretches by √(1 + ω² h²) − 1
    let spun = |rate: f64, max_loop: f64| {
        let settings = Settings {
            gravity: [0.0; 3],
            integrator: Integrator::Implicit(Implicit {
                max_loop,
                ..Implicit::default()
            }),
            ..Settings::default()
        };
        let dynamics = Dynamics::new(&mesh, &[cloth(&mesh, &rest, Fabric::default())], &settings);
        let middle = DVec3::new(0.5, 0.0, 0.5);
        let v: Vec<DVec3> = rest
            .iter()
            .map(|&p| (rate * DVec3::Y).cross(p - middle))
            .collect();
        dynamics.propose(&rest, &v, &rest, 0.0, 0.02).strain.largest
    };
    let [long, short] = [0.02, 0.002].map(|max_loop| spun(10.0, max_loop));
    assert!((long - 0.0198).abs() < 1e-3, "{long}");
    assert!(short < 0.5 * long, "{short}");
}

#[test]
fn air_slows_falls_and_wind_carries() {
    let fallen = |air: Air, edge_on: bool| {
        let (mesh, flat) = sheet(3);
        let rest: Vec<DVec3> = if edge_on {
            flat.iter().map(|p| DVec3::new(p.x, p.z, 0.0)).collect()
        } else {
            flat
        };
        let settings = Settings {
            air,
            ..Settings::default()
        };
        let dynamics = Dynamics::new(&mesh, &[cloth(&mesh, &rest, Fabric::default())], &settings);
        let (x, _) = run(&dynamics, &rest, 30, 1.0 / 60.0);
        let moved: Vec<DVec3> = x.iter().zip(&rest).map(|(x, r)| *x - *r).collect();
        moved.iter().sum::<DVec3>() / moved.len() as f64
    };
    let none = Air::default();
    let air = Air {
        density: 1.2,
        ..Air::default()
    };
    let vacuum = fallen(none.clone(), false).y;
    // 30 frames of 16 loops, each with the velocity of its end
    assert!((vacuum + 0.5 * 9.81 * 0.25 * (1.0 + 1.0 / 480.0)).abs() < 1e-9);
    let slowed = fallen(air.clone(), false).y;
    // falling flat it nears the speed at which drag carries the weight: √(2 m g / ρ C A) = 1.65 m/s
    assert!(slowed > 0.7 * vacuum && slowed < -0.4, "{slowed}");
    assert!(
        fallen(
            Air {
                density: 0.6,
                ..air.clone()
            },
            false
        )
        .y < slowed,
        "density"
    );
    assert!(
        fallen(
            Air {
                drag: 0.6,
                ..air.clone()
            },
            false
        )
        .y < slowed,
        "drag"
    );
    let edge = fallen(air.clone(), true).y;
    assert!(edge < 0.98 * vacuum, "edge-on it hardly notices the air");
    let rough = Air {
        friction: 0.2,
        ..air.clone()
    };
    assert!(fallen(rough, true).y > 0.95 * edge, "friction");

    let wind = Air {
        wind: [0.0, 0.0, 3.0],
        ..air.clone()
    };
    let blown = fallen(wind.clone(), true);
    assert!(blown.z > 0.2 && blown.x.abs() < 1e-6, "{blown}");
    let gusty = Air {
        gust: 0.5,
        gust_period: 4.0,
        friction: 0.2,
        ..wind.clone()
    };
    let first = fallen(gusty.clone(), true).x;
    let calm = fallen(
        Air {
            friction: 0.2,
            ..wind
        },
        true,
    )
    .x;
    assert!(
        (first - calm).abs() > 1e-3,
        "a gust across the wind: {first} {calm}"
    );
    // a wave that takes for ever has not begun to blow
    let slow = Air {
        gust_period: 1e6,
        ..gusty
    };
    let late = fallen(slow, true).x;
    assert!(
        (late - calm).abs() < 0.01 * (first - calm).abs(),
        "{first} {late}"
    );
}
