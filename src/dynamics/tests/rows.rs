//! The rows of the solve: their potential against differences, and contact against closed forms.

use glam::DVec3;

use super::super::tests::bodies::{cloth, noise, strip};
use super::super::{Dynamics, Fabric, Implicit, Integrator, Settings};
use super::{NONE, Pull, Row, Taut};
use crate::touch::{self, Touch};

/// A row, where it is, and the direction in which it looks.
struct Looking {
    row: Row,
    radius: f64,
    motion: DVec3,
    along: DVec3,
}

impl Looking {
    /// Where it has moved by that much more.
    fn at(&self, by: DVec3) -> Pull {
        let mut pull = Pull::new(&self.row, self.motion + by);
        pull.radius = self.radius;
        pull.look(&self.row, self.along);
        pull
    }
}

/// Rows of all sorts: apart and pressed, that stick and slide, that hold and give.
fn rows() -> Vec<Looking> {
    let mut next = noise(60);
    let mut vector = |size: f64| size * DVec3::new(next(), next(), next());
    let row = |k: u32| {
        let normal = vector(1.0).normalize();
        let row = Row {
            nodes: [0, NONE, NONE, NONE],
            weights: [1.0, 0.0, 0.0, 0.0],
            normal,
            friction: if k % 5 == 1 { 0.0 } else { 0.5 },
            stiffness: 3.0,
            room: vector(0.3).x,
            strength: if k.is_multiple_of(3) {
                0.4
            } else {
                f64::INFINITY
            },
            normal_force: vector(1.0).x.abs(),
            tangential_force: vector(0.5).reject_from_normalized(normal),
            motion: DVec3::ZERO,
            taut: (k % 5 == 1).then(|| Taut {
                stretch: 1.0 + vector(0.2).x.abs(),
                permitted: 0.1,
            }),
        };
        Looking {
            row,
            radius: if k.is_multiple_of(4) || row.taut.is_some() {
                0.0
            } else {
                vector(2.0).x.abs()
            },
            motion: vector(0.5),
            along: vector(1.0),
        }
    };
    (0..200).map(row).collect()
}

#[test]
fn the_force_of_a_row_is_minus_the_gradient_of_its_potential() {
    let h = 1e-6;
    let mut kinds = [0; 5];
    for looking in rows() {
        let (row, pull) = (&looking.row, looking.at(DVec3::ZERO));
        let (pressed, rubbed) = (pull.pressed(), pull.rubbed());
        let force = pull.force(row);
        for axis in DVec3::AXES {
            let at = |by: f64| looking.at(by * axis).potential();
            let slope = (at(h) - at(-h)) / (2.0 * h);
            let error = (slope + force.dot(axis)).abs();
            assert!(error < 1e-5, "{row:?}: {slope} and {force}");
        }
        kinds[0] += usize::from(pressed == 0.0);
        kinds[1] += usize::from(pressed == row.strength);
        kinds[4] += usize::from(row.taut.is_some() && pressed > 0.0);
        let is_sliding = rubbed.length() > 0.999 * pull.radius;
        kinds[2] += usize::from(pull.radius > 0.0 && is_sliding);
        kinds[3] += usize::from(pull.radius > 0.0 && !is_sliding);
    }
    assert!(kinds.iter().all(|&count| count > 10), "{kinds:?}");
}

#[test]
fn along_a_direction_slope_and_curvature_are_those_of_the_potential() {
    let h = 1e-5;
    for looking in rows() {
        let (row, pull) = (&looking.row, looking.at(DVec3::ZERO));
        for alpha in [0.0, 0.3, 1.0] {
            let at = |alpha: f64| looking.at(alpha * looking.along).potential();
            let [slope, change] = pull.slope(alpha);
            let expected = (at(alpha + h) - at(alpha - h)) / (2.0 * h);
            let error = (slope - expected).abs();
            assert!(error < 1e-4, "{row:?}: {slope}, {expected}");
            let sides = [alpha - h, alpha + h].map(|alpha| pull.slope(alpha));
            let rise = (sides[1][0] - sides[0][0]) / (2.0 * h);
            // a kink between the two sides would show as a jump
            if (sides[0][1] - sides[1][1]).abs() < 1e-2 {
                assert!((rise - change).abs() < 1e-2, "{row:?}: {rise}, {change}");
            }
            assert!(change >= 0.0, "not convex: {row:?}");
        }
    }
}

#[test]
fn a_potential_is_convex() {
    for looking in rows() {
        let at = |alpha: f64| looking.at(alpha * looking.along).potential();
        for k in 0..20 {
            let alpha = 0.1 * f64::from(k) - 1.0;
            let middle = at(alpha + 0.05);
            assert!(middle <= 0.5 * (at(alpha) + at(alpha + 0.1)) + 1e-12);
        }
    }
}

#[test]
fn going_on_is_the_same_as_looking_from_there() {
    for looking in rows() {
        let mut pull = looking.at(DVec3::ZERO);
        pull.advance(0.7);
        let there = looking.at(0.7 * looking.along);
        assert!((pull.normal - there.normal).abs() < 1e-12);
        assert!((pull.tangential - there.tangential).length() < 1e-12);
    }
}

/// A plane at y = 0 under all vertices, each on its own.
struct Plane {
    count: u32,
    kept: f64,
    friction: f64,
    forces: Vec<DVec3>,
}

impl Touch for Plane {
    fn vertices(&self) -> &[u32] {
        &[]
    }

    fn rows(&self) -> Vec<touch::Row> {
        let row = |v: u32| touch::Row {
            is_edge_edge: false,
            // the plane is a large face of scripted vertices, the last ones
            vertices: [v, self.count, self.count + 1, self.count + 2],
            weights: [1.0, -0.25, -0.25, -0.5],
            normal: DVec3::Y,
            kept: self.kept,
            opening: 0.0,
            is_aside: false,
            friction: self.friction,
            force: self.forces[v as usize],
        };
        (0..self.count).map(row).collect()
    }

    fn press(&mut self, forces: &[DVec3], _: &[bool]) {
        self.forces = forces.to_vec();
    }

    fn begin(&mut self, _: f64, _: u32, _: &mut [DVec3]) {
        unreachable!("of Newmark")
    }

    fn act(&mut self, _: f64, _: &[DVec3], _: &mut [DVec3], _: &mut [DVec3]) {
        unreachable!("of Newmark")
    }
}

/// One loop of masses without any elasticity above a plane; returns displacements and forces.
struct Masses {
    dynamics: Dynamics,
    plane: Plane,
    x: Vec<DVec3>,
    v: Vec<DVec3>,
}

const G: f64 = 10.0;
const H: f64 = 1.0 / 960.0;

impl Masses {
    /// Four at that height, with that velocity, above the corners of a face.
    fn new(height: f64, velocity: DVec3, friction: f64, tolerance: f64) -> Self {
        let (faces, flat) = strip([1, 1], [1.0, 1.0]);
        let mesh = crate::geometry::Mesh::new(7, faces.faces().to_vec()).unwrap();
        let none = Fabric {
            stretch: [0.0; 2],
            shear: 0.0,
            bend: [0.0; 3],
            strain_limit: f64::INFINITY,
            ..Fabric::default()
        };
        let mut rest = flat;
        let face = [[-9.0, -9.0], [9.0, -9.0], [0.0, 18.0]];
        rest.extend(face.map(|[x, z]| DVec3::new(x, 0.0, z)));
        let settings = Settings {
            gravity: [0.0, -G, 0.0],
            integrator: Integrator::Implicit(Implicit {
                iterations: 200,
                tolerance,
                ..Implicit::default()
            }),
            ..Settings::default()
        };
        let dynamics = Dynamics::new(&mesh, &[cloth(&mesh, &rest, none)], &settings);
        let mut x = rest;
        for x in &mut x[..4] {
            x.y += height;
        }
        let mut v = vec![DVec3::ZERO; x.len()];
        v[..4].fill(velocity);
        Self {
            dynamics,
            plane: Plane {
                count: 4,
                kept: 1e-3,
                friction,
                forces: vec![DVec3::ZERO; 4],
            },
            x,
            v,
        }
    }

    fn step(&mut self) {
        let target = self.x.clone();
        let end = self.dynamics.propose_touching(
            &self.x,
            &self.v,
            [&target, &target],
            0.0,
            H,
            Some(&mut self.plane),
            &[],
        );
        assert_eq!(end.loops, 1);
        (self.x, self.v) = (end.x, end.v);
    }
}

#[test]
fn one_loop_of_a_mass_on_a_plane_is_the_closed_form() {
    // A = m/h², ρ = 10 A. Free, it would go by d = h v − h² g; of what is missing to the kept gap, the row of no
    // multiplier gives back ρ/(A + ρ), and friction of the disc μ pn acts on the rest
    for (height, v, friction) in [
        (1e-3, DVec3::new(0.3, -1.0, 0.0), 0.2),
        (1.2e-3, DVec3::new(0.3, -1.0, 0.1), 0.2),
        (1.2e-3, DVec3::new(0.01, -1.0, 0.0), 0.9),
        (5e-3, DVec3::new(0.3, -1.0, 0.0), 0.2),
    ] {
        let mut masses = Masses::new(height, v, friction, 1e-12);
        let start = masses.x.clone();
        masses.step();
        for i in 0..4 {
            let a = masses.dynamics.mass()[i] / (H * H);
            let rho = 10.0 * a;
            let free = H * v - H * H * G * DVec3::Y;
            let missing = (1e-3 - (height + free.y)).max(0.0);
            let up = missing * rho / (a + rho);
            let pressed = a * up;
            // stuck: it goes by A/(A + ρ) of the way; sliding: μ pn against it
            let across = DVec3::new(free.x, 0.0, free.z);
            let rub = (rho / (a + rho) * a * across.length()).min(friction * pressed);
            let expected = free + up * DVec3::Y - rub / a * across.normalize();
            let moved = masses.x[i] - start[i];
            assert!(
                (moved - expected).length() < 1e-6 * free.length(),
                "{height}, {v}: {moved} and {expected}"
            );
            let force = masses.plane.forces[i];
            assert!((force.y - pressed).abs() < 1e-6 * pressed.max(a * H * H * G));
        }
    }
}

#[test]
fn a_mass_on_a_plane_carries_its_weight_and_slides_as_coulomb_says() {
    for tolerance in [Implicit::default().tolerance, 1e-12] {
        let mut masses = Masses::new(1e-3, DVec3::new(0.5, 0.0, 0.0), 0.3, tolerance);
        let start = masses.x[0].x;
        for _ in 0..96 {
            masses.step();
        }
        let weight = masses.dynamics.mass()[0] * G;
        let force = masses.plane.forces[0];
        assert!((force.y / weight - 1.0).abs() < 1e-3, "{force}, {weight}");
        assert!((-force.x / weight - 0.3).abs() < 1e-3, "{force}, {weight}");
        // v = 0.5 − 0.3 · 10 · 0.1 = 0.2 m/s
        assert!((masses.v[0].x - 0.2).abs() < 5e-3, "{}", masses.v[0]);
        // it has sunk by what the stiffness ρ gives under its weight before the multiplier has it
        let sunk = (1e-3 - masses.x[0].y) / (H * H * G / 10.0);
        assert!((sunk - 1.0).abs() < 1e-3, "{sunk}");
        for _ in 0..400 {
            masses.step();
        }
        // v²/2μg = 4.17 cm, and then it rests, exactly
        let way = masses.x[0].x - start;
        assert!((way / (0.25 / 6.0) - 1.0).abs() < 0.01, "{way}");
        let place = masses.x[0];
        for _ in 0..100 {
            masses.step();
        }
        let drift = masses.x[0].distance(place);
        assert!(drift < 1e-9, "{tolerance}: {drift:e} m");
    }
}
