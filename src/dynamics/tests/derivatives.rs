//! Tests of every matrix against differences of forces, and of the closed-form projections against
//! numerical ones.

use glam::{DMat3, DVec2, DVec3};

use super::super::damping::Dampers;
use super::super::solve::BlockMatrix;
use super::super::springs::Spring;
use super::super::stretch::{Triangle, Weights};
use super::super::*;
use super::bodies::{cloth, elastic_force, noise, shaken, sheet};

const STIFFNESS: Weights = Weights {
    stiffness: 1.0,
    damping: 0.0,
};

/// Eigenvalues and eigenvectors (columns) of a symmetric matrix, by Jacobi rotations.
fn eigen(mut a: Vec<Vec<f64>>) -> (Vec<f64>, Vec<Vec<f64>>) {
    let n = a.len();
    let mut q: Vec<Vec<f64>> = (0..n)
        .map(|i| (0..n).map(|j| f64::from(i == j)).collect())
        .collect();
    for _ in 0..100 {
        for i in 0..n {
            for j in i + 1..n {
                if a[i][j].abs() < 1e-300 {
                    continue;
                }
                let theta = 0.5 * (a[j][j] - a[i][i]) / a[i][j];
                let t = 1f64.copysign(theta) / (theta.abs() + (theta * theta + 1.0).sqrt());
                let c = 1.0 / (t * t + 1.0).sqrt();
                let s = t * c;
                for row in a.iter_mut().chain(q.iter_mut()) {
                    let (x, y) = (row[i], row[j]);
                    (row[i], row[j]) = (c * x - s * y, s * x + c * y);
                }
                let (upper, lower) = a.split_at_mut(j);
                for (x, y) in upper[i].iter_mut().zip(&mut lower[0]) {
                    (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
                }
            }
        }
    }
    ((0..n).map(|i| a[i][i]).collect(), q)
}

/// The nearest positive semi-definite matrix.
fn projected(a: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let (values, q) = eigen(a.to_vec());
    let n = a.len();
    let entry = |i: usize, j: usize| (0..n).map(|k| q[i][k] * values[k].max(0.0) * q[j][k]).sum();
    (0..n)
        .map(|i| (0..n).map(|j| entry(i, j)).collect())
        .collect()
}

/// −∂f/∂x by central differences, rows and columns of the vertices in `nodes`.
fn differences(
    nodes: &[usize],
    x: &[DVec3],
    force: &dyn Fn(&[DVec3], &mut [DVec3]),
) -> Vec<Vec<f64>> {
    let h = 1e-6;
    let mut out = vec![vec![0.0; 3 * nodes.len()]; 3 * nodes.len()];
    for (column, &j) in nodes.iter().enumerate() {
        for axis in 0..3 {
            let at = |step: f64| {
                let mut y = x.to_vec();
                y[j][axis] += step;
                let mut f = vec![DVec3::ZERO; x.len()];
                force(&y, &mut f);
                f
            };
            let (ahead, behind) = (at(h), at(-h));
            for (row, &i) in nodes.iter().enumerate() {
                for k in 0..3 {
                    let slope = (ahead[i][k] - behind[i][k]) / (2.0 * h);
                    out[3 * row + k][3 * column + axis] = -slope;
                }
            }
        }
    }
    out
}

fn assert_close(a: &[Vec<f64>], b: &[Vec<f64>]) {
    let scale = a.iter().flatten().fold(0.0, |m: f64, v| m.max(v.abs()));
    for (a, b) in a.iter().flatten().zip(b.iter().flatten()) {
        assert!(
            (a - b).abs() <= 1e-6 * scale,
            "{a} and {b} at scale {scale}"
        );
    }
}

fn dense(blocks: [[DMat3; 2]; 2]) -> Vec<Vec<f64>> {
    (0..6)
        .map(|i| {
            (0..6)
                .map(|j| blocks[i / 3][j / 3].col(j % 3)[i % 3])
                .collect()
        })
        .collect()
}

#[test]
fn a_spring_has_the_projected_stiffness() {
    let spring = Spring {
        ends: [0, 1],
        rest: 1.0,
        stiffness: 30.0,
        damping: 0.0,
    };
    for length in [0.6, 0.99, 1.0, 1.3] {
        let x = [DVec3::ZERO, length * DVec3::new(2.0, -1.0, 2.0) / 3.0];
        // one end only: the projection of the pair is that of the block
        let exact = differences(&[0], &x, &|x, f| spring.add_force(x, f));
        let k = spring.matrix(&x, STIFFNESS);
        let ours: Vec<Vec<f64>> = (0..3)
            .map(|i| (0..3).map(|j| k.col(j)[i]).collect())
            .collect();
        assert_close(&projected(&exact), &ours);
    }
}

#[test]
fn a_membrane_has_the_projected_stiffness() {
    let fabrics = [
        ("stretch", [800.0, 300.0], 0.0),
        ("shear", [0.0, 0.0], 70.0),
    ];
    for (part, stretch, shear) in fabrics {
        let fabric = Fabric {
            stretch,
            shear,
            ..Fabric::default()
        };
        // with these corners the vertices 1 and 2 move a and b themselves
        let corners = [DVec2::ZERO, DVec2::X, DVec2::Y];
        let triangle = Triangle::new([0, 1, 2], corners, &fabric).unwrap();
        let flat = [DVec3::ZERO, DVec3::X, DVec3::Z];
        for seed in 1..40 {
            let x = shaken(&flat, 0.4, seed);
            let exact = differences(&[1, 2], &x, &|x, f| triangle.add_force(x, f));
            let m = triangle.matrix(&x, STIFFNESS);
            let ours = dense([[m[1], m[5]], [m[5].transpose(), m[2]]]);
            assert_close(&projected(&exact), &ours);
            assert!(part == "stretch" || eigen(exact).0.iter().any(|&l| l < 0.0));
        }
    }
}

/// All elements at once, by the assembled matrix.
fn assembled(dynamics: &Dynamics, x: &[DVec3], weights: Weights) -> BlockMatrix {
    let mut matrix = BlockMatrix::default();
    matrix.reset(&dynamics.elements.pattern);
    dynamics.elements.add_matrix(x, weights, &mut matrix);
    matrix
}

#[test]
fn the_assembled_stiffness_is_the_slope_of_the_forces() {
    // rest angles of a crumpled shape, and the same crumple stretched evenly: every part is
    // positive, nothing is dropped
    let (mesh, flat) = sheet(4);
    let crumpled = shaken(&flat, 0.05, 8);
    for stretch in [Stretch::Springs, Stretch::Membrane] {
        let fabric = Fabric {
            stretch: [1000.0, 600.0],
            coupling: 100.0,
            bend: [1e-2; 3],
            ..Fabric::default()
        };
        let mut model = cloth(&mesh, &crumpled, fabric);
        model.stretch = stretch;
        let dynamics = Dynamics::new(&mesh, &[model], &Settings::default());
        let x: Vec<DVec3> = crumpled.iter().map(|&x| 1.04 * x).collect();
        let mut next = noise(9);
        let d: Vec<DVec3> = x
            .iter()
            .map(|_| DVec3::new(next(), next(), next()))
            .collect();
        let force = |step: f64| {
            let y: Vec<DVec3> = x.iter().zip(&d).map(|(x, d)| *x + step * *d).collect();
            elastic_force(&dynamics, &y)
        };
        let h = 1e-6;
        let (ahead, behind) = (force(h), force(-h));
        let product = assembled(&dynamics, &x, STIFFNESS).product(&dynamics.elements.pattern, &d);
        let largest = product.iter().map(|p| p.length()).fold(0.0, f64::max);
        for i in 0..x.len() {
            let slope = (behind[i] - ahead[i]) / (2.0 * h);
            assert!(
                (slope - product[i]).length() < 1e-6 * largest,
                "{slope} and {}",
                product[i]
            );
        }
    }
}

#[test]
fn the_assembled_damping_is_the_sum_of_the_dampers() {
    let (mesh, rest) = sheet(4);
    for stretch in [Stretch::Springs, Stretch::Membrane] {
        let mut model = cloth(&mesh, &rest, Fabric::default());
        model.stretch = stretch;
        let dynamics = Dynamics::new(&mesh, &[model], &Settings::default());
        let x = shaken(&rest, 0.05, 10);
        let v = shaken(&vec![DVec3::ZERO; x.len()], 1.0, 11);
        let mut dampers = Dampers::default();
        dynamics.elements.dampers(&x, &mut dampers);
        let mut expected = vec![DVec3::ZERO; x.len()];
        dampers.add_product(1.0, &v, &mut expected);
        let weights = Weights {
            stiffness: 0.0,
            damping: 1.0,
        };
        let product = assembled(&dynamics, &x, weights).product(&dynamics.elements.pattern, &v);
        let largest = expected.iter().map(|p| p.length()).fold(0.0, f64::max);
        for (a, b) in expected.iter().zip(&product) {
            assert!((*a - *b).length() < 1e-6 * largest); // blocks are in single precision
        }
    }
}

#[test]
fn drag_is_the_same_as_a_matrix_and_face_by_face() {
    let (mesh, rest) = sheet(3);
    let settings = Settings {
        air: Air {
            density: 1.2,
            wind: [3.0, 1.0, -2.0],
            gust: 0.3,
            ..Air::default()
        },
        ..Settings::default()
    };
    let fabric = Fabric {
        stretch_damping: 0.0,
        bend_damping: 0.0,
        ..Fabric::default()
    };
    let dynamics = Dynamics::new(&mesh, &[cloth(&mesh, &rest, fabric)], &settings);
    let x = shaken(&rest, 0.05, 12);
    let v = shaken(&vec![DVec3::ZERO; x.len()], 1.0, 13);
    let mut dampers = Dampers::default();
    dynamics.system().dampers(&x, &v, 0.2, &mut dampers);
    let mut expected = vec![DVec3::ZERO; x.len()];
    dampers.add_product(1.0, &v, &mut expected);
    let weights = Weights {
        stiffness: 0.0,
        damping: 1.0,
    };
    let mut matrix = BlockMatrix::default();
    matrix.reset(&dynamics.elements.pattern);
    dynamics
        .elements
        .add_outer_matrix(&x, 0.2, &dampers.drag, weights, &mut matrix);
    let product = matrix.product(&dynamics.elements.pattern, &v);
    for (a, b) in expected.iter().zip(&product) {
        assert!((*a - *b).length() < 1e-8, "{a} and {b}"); // of 0.01, by blocks in single precision
    }
}

/// −∂E/∂x by central differences against the force, and −∂f/∂x against the matrix times a
/// direction; relative 1e-6.
fn assert_consistent(
    x: &[DVec3],
    energy: &dyn Fn(&[DVec3]) -> f64,
    force: &dyn Fn(&[DVec3], &mut [DVec3]),
    product: &dyn Fn(&[DVec3]) -> Vec<DVec3>,
) {
    let h = 1e-6;
    let force_at = |x: &[DVec3]| {
        let mut f = vec![DVec3::ZERO; x.len()];
        force(x, &mut f);
        f
    };
    let f = force_at(x);
    let largest = f.iter().map(|f| f.length()).fold(0.0, f64::max);
    for i in 0..x.len() {
        for axis in 0..3 {
            let at = |step: f64| {
                let mut y = x.to_vec();
                y[i][axis] += step;
                energy(&y)
            };
            let slope = (at(h) - at(-h)) / (2.0 * h);
            let error = (slope + f[i][axis]).abs();
            assert!(
                error < 1e-6 * largest,
                "vertex {i}: {slope}, {}",
                f[i][axis]
            );
        }
    }
    let mut next = noise(40);
    let d: Vec<DVec3> = (x.iter())
        .map(|_| DVec3::new(next(), next(), next()))
        .collect();
    let moved =
        |step: f64| -> Vec<DVec3> { x.iter().zip(&d).map(|(x, d)| *x + step * *d).collect() };
    let (ahead, behind) = (force_at(&moved(h)), force_at(&moved(-h)));
    let expected = product(&d);
    let largest = expected.iter().map(|p| p.length()).fold(0.0, f64::max);
    for i in 0..x.len() {
        let slope = (behind[i] - ahead[i]) / (2.0 * h);
        let error = (slope - expected[i]).length();
        assert!(
            error < 1e-6 * largest,
            "vertex {i}: {slope}, {}",
            expected[i]
        );
    }
}

#[test]
fn soft_pins_and_open_seams_have_their_derivatives() {
    let (mesh, rest) = sheet(2);
    let pins: Vec<SoftPin> = (0..3)
        .map(|vertex| SoftPin {
            vertex,
            stiffness: [100.0, 0.0, 30.0],
            damping: 0.01,
            mass: 0.0,
        })
        .collect();
    let x = shaken(&rest, 0.05, 41);
    // a vertex with an edge, two edges, and two edges that share a vertex
    let link = |edges, along| Link::new(edges, along, &rest);
    let seam = Seam {
        links: vec![
            link([[0, 0], [7, 8]], [0.0, 0.3]),
            link([[1, 2], [6, 7]], [0.6, 0.2]),
            link([[3, 4], [4, 8]], [0.1, 0.7]),
        ],
        ..Seam::new(vec![[0, 6], [2, 8]], &rest, 0.01)
    };
    let none = Fabric {
        stretch: [0.0; 2],
        shear: 0.0,
        bend: [0.0; 3],
        ..Fabric::default()
    };
    let dynamics = Dynamics::new(&mesh, &[cloth(&mesh, &rest, none)], &Settings::default())
        .with_soft_pins(&pins)
        .with_seams(&[seam]);
    let elements = &dynamics.elements;
    let time = 0.6; // partly closed, under tension: nothing of its stiffness is dropped
    let energy = |x: &[DVec3]| {
        let pins: f64 = elements
            .pins
            .iter()
            .map(|p| p.energy(rest[p.node as usize], x))
            .sum();
        let seams: f64 = elements.stitches.iter().map(|s| s.at(time).energy(x)).sum();
        let links: f64 = elements
            .edge_stitches
            .iter()
            .map(|s| s.energy(time, x))
            .sum();
        pins + seams + links
    };
    let force = |x: &[DVec3], f: &mut [DVec3]| {
        for pin in &elements.pins {
            pin.add_force(rest[pin.node as usize], x, f);
        }
        for stitch in &elements.stitches {
            stitch.at(time).add_force(x, f);
        }
        for stitch in &elements.edge_stitches {
            stitch.add_force(time, x, f);
        }
    };
    let product = |d: &[DVec3]| {
        let mut matrix = BlockMatrix::default();
        matrix.reset(&elements.pattern);
        elements.add_outer_matrix(&x, time, &[], STIFFNESS, &mut matrix);
        matrix.product(&elements.pattern, d)
    };
    assert_consistent(&x, &energy, &force, &product);
}

#[test]
fn dampers_resist_the_rate_of_what_the_elements_measure() {
    // along a motion x + t v the power of damping is Σ c Ċ², Ċ by differences of the elastic energy
    // of an element measured from its own present state: E(t) = ½ k (C(t) − C(0))² = ½ k Ċ² t²
    let (mesh, rest) = sheet(2);
    let x = shaken(&rest, 0.05, 43);
    let v = shaken(&vec![DVec3::ZERO; x.len()], 1.0, 44);
    for stretch in [Stretch::Springs, Stretch::Membrane] {
        let fabric = Fabric {
            stretch: [1000.0, 600.0],
            shear: 0.0, // the shear of a membrane is a · b, which is not 0 in a present state taken as rest
            bend: [1.0, 1.0, 1.0],
            stretch_damping: 1.0,
            bend_damping: 1.0,
            ..Fabric::default()
        };
        let mut model = cloth(&mesh, &x, fabric); // x is the rest shape
        model.stretch = stretch;
        let dynamics = Dynamics::new(&mesh, &[model], &Settings::default());
        let mut dampers = Dampers::default();
        dynamics.elements.dampers(&x, &mut dampers);
        let mut resistance = vec![DVec3::ZERO; x.len()];
        dampers.add_product(1.0, &v, &mut resistance);
        let power: f64 = resistance.iter().zip(&v).map(|(r, v)| r.dot(*v)).sum();
        let t = 1e-5;
        let at = |t: f64| {
            let moved: Vec<DVec3> = x.iter().zip(&v).map(|(x, v)| *x + t * *v).collect();
            dynamics.elements.energy(&moved)
        };
        let expected = (at(t) + at(-t)) / (t * t);
        assert!(
            (power / expected - 1.0).abs() < 1e-6,
            "{stretch:?}: {power} {expected}"
        );
    }
}
