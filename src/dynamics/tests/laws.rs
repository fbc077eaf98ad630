//! Laws that every proposal obeys, whatever the model: momentum, energy, invariances; and
//! derivatives by differences.

use glam::{DMat3, DQuat, DVec2, DVec3};

use super::super::*;
use super::bodies::{cloth, elastic_force, shaken, sheet};
use crate::geometry::Mesh;

fn weightless() -> Settings {
    Settings {
        gravity: [0.0; 3],
        ..Settings::default()
    }
}

/// Both models with both integrators, as they come.
fn all_methods() -> Vec<(Stretch, Settings)> {
    let newmark = Integrator::Newmark(Newmark::default());
    let all = [Stretch::Springs, Stretch::Membrane].map(|stretch| {
        [newmark.clone(), Integrator::default()].map(|integrator| {
            let settings = Settings {
                integrator,
                ..Settings::default()
            };
            (stretch, settings)
        })
    });
    all.into_iter().flatten().collect()
}

fn orthotropic() -> Fabric {
    Fabric {
        stretch: [1000.0, 600.0],
        coupling: 150.0,
        bend: [2.0e-5, 0.5e-5, 1.0e-5],
        ..Fabric::default()
    }
}

/// How exactly a motion is the same when it is computed otherwise, m: matrices are in single
/// precision, everything else in double.
fn exactness(settings: &Settings) -> f64 {
    match settings.integrator {
        Integrator::Implicit(_) => 1e-7,
        Integrator::Newmark(_) => 1e-9,
    }
}

fn largest_difference(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter()
        .zip(b)
        .map(|(a, b)| a.distance(*b))
        .fold(0.0, f64::max)
}

fn assert_forces_match(dynamics: &Dynamics, mut x: Vec<DVec3>, h: f64) {
    let f = elastic_force(dynamics, &x);
    let largest = f.iter().map(|f| f.length()).fold(0.0, f64::max);
    for i in 0..x.len() {
        for axis in 0..3 {
            let start = x[i][axis];
            x[i][axis] = start + h;
            let ahead = dynamics.elements.energy(&x);
            x[i][axis] = start - h;
            let behind = dynamics.elements.energy(&x);
            x[i][axis] = start;
            let slope = (ahead - behind) / (2.0 * h);
            let error = (slope + f[i][axis]).abs();
            assert!(
                error < 1e-6 * largest,
                "vertex {i}: {slope} and {}",
                f[i][axis]
            );
        }
    }
}

#[test]
fn forces_are_minus_the_gradient_of_the_energy() {
    let (mesh, rest) = sheet(3);
    for (stretch, settings) in all_methods() {
        let mut model = cloth(&mesh, &rest, orthotropic());
        model.stretch = stretch;
        let dynamics = Dynamics::new(&mesh, &[model], &settings);
        assert_forces_match(&dynamics, shaken(&rest, 0.05, 1), 1e-5);
    }
    // bending alone: stretching would hide a wrong hinge
    let fabric = Fabric {
        stretch: [0.0; 2],
        shear: 0.0,
        bend: [1.0, 2.0, 3.0],
        ..Fabric::default()
    };
    let dynamics = Dynamics::new(&mesh, &[cloth(&mesh, &rest, fabric)], &weightless());
    assert_forces_match(&dynamics, shaken(&rest, 0.1, 2), 1e-6);
}

#[test]
fn free_fall_is_exact() {
    let (mesh, rest) = sheet(4);
    for (stretch, settings) in all_methods() {
        let mut model = cloth(&mesh, &rest, Fabric::default());
        model.stretch = stretch;
        let explicit = matches!(settings.integrator, Integrator::Newmark(_));
        let dynamics = Dynamics::new(&mesh, &[model], &settings);
        let v0 = vec![DVec3::new(0.3, 1.0, -0.2); rest.len()];
        let t = 0.25;
        let end = dynamics.propose(&rest, &v0, &rest, 0.0, t);
        let g = DVec3::new(0.0, -9.81, 0.0);
        // in each loop implicit Euler falls with the end velocity; Newmark has no error at all
        let late = if explicit {
            0.0
        } else {
            1.0 / f64::from(end.loops)
        };
        let fall = 0.5 * (1.0 + late) * t * t * g;
        for (i, x) in rest.iter().enumerate() {
            // rounding of `loops` additions, and of the forces that it causes
            let rounding = f64::from(end.loops.max(100)) * 1e-15;
            let error = end.x[i] - (*x + v0[i] * t + fall);
            assert!(error.length() < rounding, "{settings:?}: {error}");
            assert!((end.v[i] - (v0[i] + g * t)).length() < 10.0 * rounding);
        }
    }
}

#[test]
fn internal_forces_keep_both_momenta() {
    let (mesh, rest) = sheet(6);
    for (stretch, settings) in all_methods() {
        for strain_limit in [0.1, f64::INFINITY] {
            let fabric = Fabric {
                strain_limit,
                ..orthotropic()
            };
            let mut model = cloth(&mesh, &rest, fabric);
            model.stretch = stretch;
            let explicit = matches!(settings.integrator, Integrator::Newmark(_));
            let settings = Settings {
                gravity: [0.0; 3],
                ..settings.clone()
            };
            let dynamics = Dynamics::new(&mesh, &[model], &settings);
            let x = shaken(&rest, 0.02, 3);
            let v = shaken(&vec![DVec3::ZERO; x.len()], 1.0, 4);
            let end = dynamics.propose(&x, &v, &x, 0.0, 0.01);
            let momenta = |x: &[DVec3], v: &[DVec3]| {
                let m = dynamics.mass();
                let linear: DVec3 = (0..x.len()).map(|i| m[i] * v[i]).sum();
                let angular: DVec3 = (0..x.len()).map(|i| m[i] * x[i].cross(v[i])).sum();
                (linear, angular)
            };
            let (p0, l0) = momenta(&x, &v);
            let (p1, l1) = momenta(&end.x, &end.v);
            assert!(largest_difference(&end.x, &x) > 0.005);
            let size: f64 = v
                .iter()
                .zip(dynamics.mass())
                .map(|(v, m)| m * v.length())
                .sum();
            let lost = (p1 - p0).length() / size;
            assert!(
                lost < 1e-12,
                "{stretch:?}, {settings:?}, {strain_limit}: {lost:e}"
            );
            // the linearised step and the strain limit keep angular momentum to their order only
            if explicit && strain_limit > 1.0 {
                assert!((l1 - l0).length() < 1e-13, "{}", (l1 - l0).length());
            }
        }
    }
}

#[test]
fn smoothing_spreads_a_change_of_velocity_and_keeps_both_momenta() {
    let (mesh, rest) = sheet(8);
    let x = shaken(&rest, 0.01, 5);
    let fabric = Fabric {
        stretch_damping: 0.01,
        ..Fabric::default()
    };
    for stretch in [Stretch::Springs, Stretch::Membrane] {
        let model = ClothModel {
            stretch,
            ..cloth(&mesh, &rest, fabric.clone())
        };
        let dynamics = Dynamics::new(&mesh, &[model], &weightless());
        let mut struck = vec![DVec3::ZERO; x.len()];
        struck[40] = DVec3::new(0.3, 1.0, -0.2);
        let momenta = |v: &[DVec3]| {
            let each = v.iter().zip(dynamics.mass()).zip(&x);
            each.fold((DVec3::ZERO, DVec3::ZERO), |(p, l), ((v, m), x)| {
                (p + m * v, l + m * x.cross(*v))
            })
        };
        let energy = |v: &[DVec3]| dynamics.energy(&x, v).kinetic;
        let mut last = struck.clone();
        for seconds in [1e-4, 1e-3, 1e-2] {
            let mut dv = struck.clone();
            dynamics.smooth(&x, &mut dv, seconds);
            let ((p, l), (p0, l0)) = (momenta(&dv), momenta(&struck));
            let scale = dynamics.mass()[40] * struck[40].length();
            assert!((p - p0).length() < 1e-12 * scale && (l - l0).length() < 1e-12 * scale);
            assert!(energy(&dv) < energy(&last), "{stretch:?}, {seconds} s");
            assert!(dv[40].length() < last[40].length() && dv[41].length() > 0.0);
            last = dv;
        }
    }
}

#[test]
fn a_released_sheet_never_gains_energy() {
    let (mesh, rest) = sheet(6);
    for (stretch, settings) in all_methods() {
        let mut model = cloth(&mesh, &rest, orthotropic());
        model.stretch = stretch;
        model.pinned = vec![0, 6];
        let dynamics = Dynamics::new(&mesh, &[model], &settings);
        // stretched by 5 % and at rest: all of the energy is there at the start
        let mut x: Vec<DVec3> = rest.iter().map(|&x| 1.05 * x).collect();
        let mut v = vec![DVec3::ZERO; x.len()];
        let target = x.clone();
        let mut energy = dynamics.energy(&x, &v).total();
        let scale = energy.abs();
        for k in 0..120 {
            let end = dynamics.propose(&x, &v, &target, 0.0, 1.0 / 60.0);
            (x, v) = (end.x, end.v);
            let next = dynamics.energy(&x, &v).total();
            assert!(
                next <= energy + 1e-6 * scale,
                "{settings:?}, frame {k}: {energy} to {next} J"
            );
            energy = next;
        }
    }
}

#[test]
fn a_cloth_that_meets_its_strain_limit_never_gains_energy() {
    // so soft that the limit carries it; settings as they come
    let (mesh, rest) = sheet(8);
    let newmark = Integrator::Newmark(Newmark::default());
    for stretch in [Stretch::Springs, Stretch::Membrane] {
        for integrator in [Integrator::default(), newmark.clone()] {
            let fabric = Fabric {
                stretch: [20.0; 2],
                shear: 5.0,
                ..Fabric::default()
            };
            let mut model = cloth(&mesh, &rest, fabric);
            model.stretch = stretch;
            model.pinned = vec![0, 8];
            let settings = Settings {
                integrator,
                ..Settings::default()
            };
            let dynamics = Dynamics::new(&mesh, &[model], &settings);
            let mut x = rest.clone();
            let mut v = vec![DVec3::ZERO; x.len()];
            // the fall of 1 m of the whole cloth sets the scale
            let scale = 9.81 * dynamics.mass().iter().sum::<f64>();
            let mut energy = dynamics.energy(&x, &v).total();
            let mut limited = false;
            let mut tension = Vec::new();
            for k in 0..90 {
                let dt = 1.0 / 60.0;
                let end =
                    dynamics.propose_touching(&x, &v, [&rest, &rest], 0.0, dt, None, &tension);
                (x, v, tension) = (end.x, end.v, end.tension);
                limited |= end.strain.largest > 0.09;
                let next = dynamics.energy(&x, &v).total();
                assert!(
                    next <= energy + 1e-6 * scale,
                    "{stretch:?}, {settings:?}, frame {k}: {energy} to {next} J"
                );
                energy = next;
            }
            assert!(limited, "the limit was meant to be met");
        }
    }
}

#[test]
fn a_pinned_vertex_moves_straight_to_its_target() {
    let (mesh, rest) = sheet(4);
    for (stretch, settings) in all_methods() {
        let mut model = cloth(&mesh, &rest, Fabric::default());
        model.stretch = stretch;
        model.pinned = vec![0, 4];
        let dynamics = Dynamics::new(&mesh, &[model], &settings);
        let target = shaken(&rest, 0.01, 5);
        let dt = 0.01;
        let v = vec![DVec3::ZERO; rest.len()];
        let end = dynamics.propose(&rest, &v, &target, 0.0, dt);
        for i in [0, 4] {
            assert_eq!(dynamics.inverse_mass()[i], 0.0);
            assert_eq!(end.x[i], target[i]);
            assert_eq!(end.v[i], (target[i] - rest[i]) / dt);
        }
        assert!(largest_difference(&end.x, &rest) > 0.0);
    }
}

/// A run to compare with after a change of frame: 0.05 s of a shaken, partly pinned sheet.
struct Reference {
    mesh: Mesh,
    rest: Vec<DVec3>,
    x: Vec<DVec3>,
    v: Vec<DVec3>,
    settings: Settings,
    stretch: Stretch,
}

const PINS: [u32; 2] = [0, 5];
const INTERVAL: f64 = 0.05;

impl Reference {
    fn all() -> impl Iterator<Item = Self> {
        all_methods().into_iter().map(|(stretch, settings)| {
            let (mesh, rest) = sheet(5);
            Self {
                x: shaken(&rest, 0.01, 6),
                v: shaken(&vec![DVec3::ZERO; rest.len()], 0.5, 7),
                mesh,
                rest,
                settings,
                stretch,
            }
        })
    }

    fn in_wind(mut self, wind: [f64; 3]) -> Self {
        self.settings.air = Air {
            density: 1.2,
            wind,
            ..Air::default()
        };
        self
    }

    fn run(&self, fabric: Fabric, interval: f64, pins: [u32; 2]) -> Proposal {
        let mut model = cloth(&self.mesh, &self.rest, fabric);
        model.stretch = self.stretch;
        model.pinned = pins.to_vec();
        let dynamics = Dynamics::new(&self.mesh, &[model], &self.settings);
        let (mut x, mut v) = (self.x.clone(), self.v.clone());
        let mut end = dynamics.propose(&x, &v, &self.x, 0.0, 0.5 * interval);
        (x, v) = (end.x, end.v);
        end = dynamics.propose(&x, &v, &self.x, 0.5 * interval, 0.5 * interval);
        end
    }
}

#[test]
fn the_motion_does_not_depend_on_the_frame() {
    for reference in Reference::all() {
        let exact = exactness(&reference.settings);
        let reference = reference.in_wind([1.0, -0.5, 2.0]);
        let end = reference.run(orthotropic(), INTERVAL, PINS);
        let axis = DVec3::new(1.0, 2.0, 3.0).normalize();
        let turn = DMat3::from_quat(DQuat::from_axis_angle(axis, 1.1));
        let shift = DVec3::new(0.7, -1.3, 2.9);
        let place = |x: &[DVec3]| -> Vec<DVec3> { x.iter().map(|&x| turn * x + shift).collect() };
        let rotate = |v: &[DVec3]| -> Vec<DVec3> { v.iter().map(|&v| turn * v).collect() };
        let gravity = turn * DVec3::from_array(reference.settings.gravity);
        let other = Reference {
            x: place(&reference.x),
            v: rotate(&reference.v),
            settings: Settings {
                gravity: gravity.to_array(),
                air: Air {
                    wind: (turn * DVec3::from_array(reference.settings.air.wind)).to_array(),
                    ..reference.settings.air
                },
                ..reference.settings
            },
            ..reference
        };
        let other = other.run(orthotropic(), INTERVAL, PINS);
        let x = largest_difference(&other.x, &place(&end.x));
        assert!(x < exact, "{x:e} m");
        let v = largest_difference(&other.v, &rotate(&end.v));
        assert!(v < exact / 0.01, "as accurate as positions over 10 ms: {v}");
    }
}

#[test]
fn the_motion_does_not_depend_on_the_numbering() {
    for mut reference in Reference::all() {
        let exact = exactness(&reference.settings);
        if let Integrator::Implicit(implicit) = &mut reference.settings.integrator {
            // patches of the preconditioner follow the numbering, and with them what an early stop leaves
            (implicit.iterations, implicit.tolerance) = (1000, 1e-12);
        }
        let end = reference.run(orthotropic(), INTERVAL, PINS);
        let n = reference.x.len();
        let new_number = |i: usize| (i * 7 + 3) % n; // 36 vertices: a permutation
        let renumber = |x: &[DVec3]| {
            let mut out = vec![DVec3::ZERO; n];
            for (i, &x) in x.iter().enumerate() {
                out[new_number(i)] = x;
            }
            out
        };
        let faces = reference.mesh.faces().iter().rev();
        let faces = faces.map(|f| {
            let [a, b, c] = f.map(|v| new_number(v as usize) as u32);
            [b, c, a]
        });
        let other = Reference {
            mesh: Mesh::new(n, faces.collect()).unwrap(),
            rest: renumber(&reference.rest),
            x: renumber(&reference.x),
            v: renumber(&reference.v),
            ..reference
        };
        let pins = PINS.map(|v| new_number(v as usize) as u32);
        let other = other.run(orthotropic(), INTERVAL, pins);
        let difference = largest_difference(&other.x, &renumber(&end.x));
        assert!(difference < exact, "{difference:e} m");
    }
}

#[test]
fn the_motion_does_not_depend_on_the_units() {
    // millimetres, tenths of milliseconds and grams
    let (metre, second, kilogram) = (1e3, 1e4, 1e3);
    let scale = |x: &[DVec3], s: f64| -> Vec<DVec3> { x.iter().map(|&x| x * s).collect() };
    let base = orthotropic();
    let per_width = kilogram / (second * second); // N/m = kg/s²
    let fabric = Fabric {
        density: base.density * kilogram / (metre * metre),
        stretch: base.stretch.map(|k| k * per_width),
        coupling: base.coupling * per_width,
        shear: base.shear * per_width,
        bend: base.bend.map(|b| b * per_width * metre * metre),
        stretch_damping: base.stretch_damping * second,
        bend_damping: base.bend_damping * second,
        strain_limit: base.strain_limit,
    };
    for reference in Reference::all() {
        let exact = exactness(&reference.settings);
        let reference = reference.in_wind([1.0, -0.5, 2.0]);
        let end = reference.run(base.clone(), INTERVAL, PINS);
        let gravity = reference.settings.gravity;
        let air = reference.settings.air.clone();
        let integrator = match reference.settings.integrator.clone() {
            Integrator::Implicit(implicit) => Integrator::Implicit(Implicit {
                max_loop: implicit.max_loop * second,
                tolerance: implicit.tolerance * metre / second,
                matrix_age: implicit.matrix_age * second,
                ..implicit
            }),
            newmark => newmark,
        };
        let other = Reference {
            rest: scale(&reference.rest, metre),
            x: scale(&reference.x, metre),
            v: scale(&reference.v, metre / second),
            settings: Settings {
                gravity: gravity.map(|g| g * metre / (second * second)),
                air: Air {
                    density: air.density * kilogram / (metre * metre * metre),
                    wind: air.wind.map(|w| w * metre / second),
                    ..air
                },
                integrator,
            },
            ..reference
        };
        let other = other.run(fabric.clone(), INTERVAL * second, PINS);
        let x = largest_difference(&scale(&other.x, 1.0 / metre), &end.x);
        assert!(x < exact, "{x:e} m");
    }
}

#[test]
fn stretch_and_shear_have_the_moduli_of_the_fabric() {
    let (mesh, rest) = sheet(8);
    let fabric = Fabric {
        stretch: [1000.0, 400.0],
        coupling: 100.0,
        shear: 50.0,
        bend: [0.0; 3],
        ..Fabric::default()
    };
    let strain = 1e-5;
    let along = |e: f64, n: f64| DMat3::from_diagonal(DVec3::new(1.0 + e, 1.0, 1.0 + n));
    let sheared = DMat3::from_cols(DVec3::X, DVec3::Y, DVec3::new(strain, 0.0, 1.0));
    // springs on a square grid: the diagonals add the shear modulus to the stretch, and couple by
    // it
    let expected = |stretch| match stretch {
        Stretch::Springs => [1050.0, 450.0, 50.0, 1050.0 + 450.0 + 2.0 * 50.0],
        Stretch::Membrane => [1000.0, 400.0, 50.0, 1000.0 + 400.0 + 2.0 * 100.0],
    };
    for stretch in [Stretch::Springs, Stretch::Membrane] {
        let mut model = cloth(&mesh, &rest, fabric.clone());
        model.stretch = stretch;
        let dynamics = Dynamics::new(&mesh, &[model], &weightless());
        let maps = [
            along(strain, 0.0),
            along(0.0, strain),
            sheared,
            along(strain, strain),
        ];
        for (map, expected) in maps.into_iter().zip(expected(stretch)) {
            let x: Vec<DVec3> = rest.iter().map(|&x| map * x).collect();
            let modulus = dynamics.elements.energy(&x) / (0.5 * strain * strain);
            assert!(
                (modulus - expected).abs() < 1e-3 * expected,
                "{stretch:?}: {modulus} for {expected}"
            );
        }
    }
}

#[test]
fn a_cylinder_stores_the_bending_energy_of_the_sheet() {
    let (mesh, rest) = sheet(16);
    let fabric = Fabric {
        stretch: [0.0; 2],
        shear: 0.0,
        bend: [2.0e-5, 1.0e-5, 1.0e-5],
        ..Fabric::default()
    };
    let rest_shape = RestShape::from_material(
        &mesh,
        &mesh.bodies()[0],
        rest.clone(),
        &rest
            .iter()
            .map(|x| DVec2::new(x.x, x.z))
            .collect::<Vec<_>>(),
    );
    let model = ClothModel {
        rest: rest_shape,
        ..cloth(&mesh, &rest, fabric)
    };
    let dynamics = Dynamics::new(&mesh, &[model], &weightless());
    let curvature = 1.0;
    let x: Vec<DVec3> = rest
        .iter()
        .map(|p| {
            let turn = curvature * p.x;
            DVec3::new(libm::sin(turn), 1.0 - libm::cos(turn), p.z) / curvature
        })
        .collect();
    // 15 of 16 columns have a hinge on both sides
    let expected = 0.5 * 2.0e-5 * curvature * curvature * 15.0 / 16.0;
    let stored = dynamics.elements.energy(&x);
    assert!(
        (stored - expected).abs() < 1e-3 * expected,
        "{stored} and {expected}"
    );
}
