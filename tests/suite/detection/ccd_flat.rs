//! A flat sheet that moves in its own plane: degenerate in every neighbouring pair, and the common case. It must be
//! decided by the filters at once: no hit, nothing uncertain, no halving of time, no exact arithmetic.

use glam::{DMat3, DVec2, DVec3};
use percale::geometry::Sweep;
use percale::geometry::ccd::{Answer, Mode, Question, edge_edge_effort, vertex_face_effort};

/// Cells along a side of the sheet.
const CELLS: usize = 8;

/// How far apart, in cells, the pairs lie at most.
const REACH: usize = 3;

struct Sheet {
    vertices: Vec<DVec2>,
    faces: Vec<[usize; 3]>,
    edges: Vec<[usize; 2]>,
}

/// A square grid with diagonals that alternate, so that all directions and all collinear cases occur.
fn sheet() -> Sheet {
    let side = CELLS + 1;
    let at = |i: usize, j: usize| i * side + j;
    let vertices = (0..side * side)
        .map(|k| DVec2::new((k / side) as f64, (k % side) as f64) / CELLS as f64)
        .collect();
    let (mut faces, mut edges) = (Vec::new(), Vec::new());
    for i in 0..side {
        for j in 0..side {
            if i < CELLS {
                edges.push([at(i, j), at(i + 1, j)]);
            }
            if j < CELLS {
                edges.push([at(i, j), at(i, j + 1)]);
            }
            if i < CELLS && j < CELLS {
                let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
                if (i + j) % 2 == 0 {
                    faces.extend([[a, b, c], [a, c, d]]);
                    edges.push([a, c]);
                } else {
                    faces.extend([[a, b, d], [b, c, d]]);
                    edges.push([b, d]);
                }
            }
        }
    }
    Sheet {
        vertices,
        faces,
        edges,
    }
}

impl Sheet {
    /// All pairs without a common vertex within reach, as (vertices, is edge-edge).
    fn pairs(&self) -> Vec<([usize; 4], bool)> {
        let side = CELLS + 1;
        let near = |a: &[usize], b: &[usize]| {
            let shared = a.iter().any(|v| b.contains(v));
            let close = a.iter().any(|v| {
                b.iter().any(|w| {
                    (v / side).abs_diff(w / side) <= REACH && (v % side).abs_diff(w % side) <= REACH
                })
            });
            close && !shared
        };
        let mut pairs = Vec::new();
        for v in 0..self.vertices.len() {
            for f in self.faces.iter().filter(|f| near(&[v], *f)) {
                pairs.push(([v, f[0], f[1], f[2]], false));
            }
        }
        for (i, a) in self.edges.iter().enumerate() {
            for b in self.edges[i + 1..].iter().filter(|b| near(a, *b)) {
                pairs.push(([a[0], a[1], b[0], b[1]], true));
            }
        }
        pairs
    }
}

/// Turned, then stretched along the axes, then moved.
#[derive(Clone, Copy, Debug)]
struct Motion {
    degrees: f64,
    stretch: DVec2,
    shift: DVec2,
}

impl Motion {
    fn of(&self, x: DVec2) -> DVec2 {
        DVec2::from_angle(self.degrees.to_radians()).rotate(x * self.stretch) + self.shift
    }
}

#[test]
fn a_flat_sheet_moving_in_its_plane_is_decided_by_filters_alone() {
    let sheet = sheet();
    let pairs = sheet.pairs();
    assert!(pairs.len() > 10_000, "{}", pairs.len());

    let planes = [
        DMat3::IDENTITY,
        DMat3::from_rotation_x(0.3),
        DMat3::from_euler(glam::EulerRot::XYZ, 0.7, -1.1, 0.4),
        DMat3::from_cols(DVec3::Z, DVec3::X, DVec3::Y),
    ];
    let stretches = [
        (1.0, 1.0),
        (1.2, 1.2),
        (1.5, 0.8),
        (0.5, 2.0),
        (1.0 / 3.0, 1.0),
    ];
    let mut queries = 0;
    for plane in planes {
        for degrees in [0.0, 1.0, 30.0, 45.0, 77.0, 90.0, -90.0] {
            for (x, y) in stretches {
                let motion = Motion {
                    degrees,
                    stretch: DVec2::new(x, y),
                    shift: DVec2::new(0.31, -7.7),
                };
                let place = |x: &DVec2| plane * x.extend(0.1);
                let start: Vec<DVec3> = sheet.vertices.iter().map(place).collect();
                let end: Vec<DVec3> = sheet
                    .vertices
                    .iter()
                    .map(|x| place(&motion.of(*x)))
                    .collect();
                for (k, (vertices, edges)) in pairs.iter().enumerate() {
                    // Every other pair the other way round: faces turned over, edges exchanged.
                    let [a, b, c, d] = *vertices;
                    let vertices = match (k % 2, edges) {
                        (0, _) => [a, b, c, d],
                        (_, false) => [a, c, b, d],
                        (_, true) => [d, c, b, a],
                    };
                    let sweep = Sweep {
                        start: vertices.map(|v| start[v]),
                        end: vertices.map(|v| end[v]),
                    };
                    let question = Question {
                        mode: Mode::Exact,
                        ..Question::default()
                    };
                    let test = if *edges {
                        edge_edge_effort
                    } else {
                        vertex_face_effort
                    };
                    let (answer, effort) = test(&sweep, question);
                    assert_eq!(answer, Answer::Never, "{motion:?} {sweep:?}");
                    queries += 1;
                    assert!(
                        effort.parts <= 1 && effort.exact == 0,
                        "{motion:?} {effort:?} {sweep:?}"
                    );
                }
            }
        }
    }
    println!("{queries} queries");
}
