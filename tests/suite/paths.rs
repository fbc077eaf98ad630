//! Global intersection analysis: the judge on every mesh, types under motion, renumbering and scaling.

use std::collections::BTreeSet;

use glam::{DQuat, DVec2, DVec3};
use percale::geometry::Mesh;
use percale::scene::tangles::{self, Tangled};
use percale::untangle::{Analysis, Contour, End, Kind, Path, Rest, analyse};

use crate::path_judge::judge;

/// A small generator of numbers (splitmix64), so that every run is the same.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// In −1..1.
    fn signed(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn shuffled(&mut self, n: usize) -> Vec<u32> {
        let mut order: Vec<u32> = (0..n as u32).collect();
        for i in (1..n).rev() {
            order.swap(i, self.below(i + 1));
        }
        order
    }

    fn rotation(&mut self) -> DQuat {
        loop {
            let q = DQuat::from_xyzw(self.signed(), self.signed(), self.signed(), self.signed());
            if (0.1..1.0).contains(&q.length_squared()) {
                return q.normalize();
            }
        }
    }
}

fn mesh_of(t: &Tangled) -> Mesh {
    Mesh::new(t.positions.len(), t.faces.clone()).unwrap()
}

fn judged(name: &str, mesh: &Mesh, x: &[DVec3], rest: Rest<'_>) -> Analysis {
    let analysis = analyse(mesh, x, rest).unwrap();
    judge(name, mesh, x, &analysis);
    analysis
}

/// Intersections that are more than a touch.
fn real(analysis: &Analysis) -> Vec<&Contour> {
    analysis.contours.iter().filter(|c| !c.is_touch).collect()
}

fn paths_of<'a>(analysis: &'a Analysis, contour: &Contour) -> &'a [Path] {
    &analysis.paths[contour.paths.start as usize..contour.paths.end as usize]
}

fn expected_kind(name: &str) -> Kind {
    let upper = name.to_uppercase().replace('-', "/");
    Kind::ALL.into_iter().find(|k| k.name() == upper).unwrap()
}

#[test]
fn every_type_is_found_at_every_resolution() {
    for name in tangles::TYPES {
        for cells in [4, 5, 6, 7, 8, 11, 16] {
            let t = tangles::of_type(name, cells).unwrap();
            let mesh = mesh_of(&t);
            let label = format!("{name} with {cells} cells");
            let analysis = judged(&label, &mesh, &t.positions, Rest::Parameters(&t.uv));
            let kinds: Vec<Kind> = real(&analysis).iter().map(|c| c.kind).collect();
            assert_eq!(kinds, [expected_kind(name)], "{label}");
            let touches = analysis
                .segments
                .locations
                .iter()
                .filter(|l| l.is_touch)
                .count();
            let may_touch = ["blb", "bllb", "bb-bi"].contains(&name);
            assert!(touches == 0 || may_touch, "{label} is in general position");
            assert_eq!(
                analysis,
                {
                    let pool = rayon_pool();
                    pool.install(|| analyse(&mesh, &t.positions, Rest::Parameters(&t.uv)).unwrap())
                },
                "{label}: one thread"
            );
        }
    }
}

fn rayon_pool() -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .unwrap()
}

/// What a path is, in the vertex numbers of the original: crossings and inside vertices, without touches.
fn signature(analysis: &Analysis, mesh: &Mesh, original: &[u32]) -> BTreeSet<String> {
    let name = |vertices: &[u32]| {
        let mut names: Vec<u32> = vertices.iter().map(|&v| original[v as usize]).collect();
        names.sort_unstable();
        names
    };
    let found = &analysis.segments;
    real(analysis)
        .iter()
        .flat_map(|contour| {
            paths_of(analysis, contour)
                .iter()
                .map(|p| (contour.kind, p))
        })
        .map(|(kind, path)| {
            let mut points: Vec<_> = path
                .points
                .iter()
                .filter_map(|p| match *p {
                    End::Loop(v) => Some((name(&[v]), vec![])),
                    End::Crossing(c) if found.locations[c as usize].is_touch => None,
                    End::Crossing(c) => {
                        let c = found.crossings[c as usize];
                        Some((
                            name(&mesh.edges()[c.edge as usize]),
                            name(&mesh.faces()[c.face as usize]),
                        ))
                    }
                })
                .collect();
            points.sort();
            format!(
                "{kind} {:?} {:?} {points:?} inside {:?}",
                path.kind,
                path.loop_vertices().len(),
                name(path.inside.vertices())
            )
        })
        .collect()
}

/// The same sheet moved, scaled, and with vertices, faces and corners renumbered; also the original number of each vertex.
fn transformed(t: &Tangled, random: &mut Random, scale: f64) -> (Tangled, Vec<u32>) {
    let rotation = random.rotation();
    let shift = DVec3::new(random.signed(), random.signed(), random.signed()) * 3.0;
    let original = random.shuffled(t.positions.len());
    let mut number = vec![0; original.len()];
    for (new, &old) in (0u32..).zip(&original) {
        number[old as usize] = new;
    }
    let positions = original
        .iter()
        .map(|&old| scale * (rotation * t.positions[old as usize] + shift))
        .collect();
    let (mut faces, mut uv) = (Vec::new(), Vec::new());
    for face in random.shuffled(t.faces.len()) {
        let mut order = [0, 1, 2];
        order.rotate_left(random.below(3));
        if random.below(2) == 0 {
            order.swap(0, 1); // winding does not matter
        }
        faces.push(order.map(|k| number[t.faces[face as usize][k] as usize]));
        uv.push(order.map(|k| scale * t.uv[face as usize][k]));
    }
    (
        Tangled {
            positions,
            faces,
            uv,
        },
        original,
    )
}

#[test]
fn types_and_paths_survive_motion_scaling_and_renumbering() {
    let mut random = Random(9);
    for name in tangles::TYPES {
        let t = tangles::of_type(name, 6).unwrap();
        let mesh = mesh_of(&t);
        let same: Vec<u32> = (0..t.positions.len() as u32).collect();
        let analysis = judged(name, &mesh, &t.positions, Rest::Parameters(&t.uv));
        let expected = signature(&analysis, &mesh, &same);
        for round in 0..100 {
            let scale = [0.01, 1.0, 100.0][round % 3];
            let (moved, original) = transformed(&t, &mut random, scale);
            let mesh = mesh_of(&moved);
            let label = format!("{name}, motion {round}");
            let analysis = analyse(&mesh, &moved.positions, Rest::Parameters(&moved.uv)).unwrap();
            if round < 5 {
                judge(&label, &mesh, &moved.positions, &analysis);
            }
            let kinds: Vec<Kind> = real(&analysis).iter().map(|c| c.kind).collect();
            assert_eq!(kinds, [expected_kind(name)], "{label}");
            let found = signature(&analysis, &mesh, &original);
            for (a, b) in found.iter().zip(&expected).filter(|(a, b)| a != b) {
                panic!("{label}:\n{a}\n{b}");
            }
        }
    }
}

#[test]
fn no_soup_of_touching_triangles_breaks_an_invariant() {
    let mut random = Random(1);
    for round in 0..400 {
        let n = 5 + random.below(9);
        let x: Vec<DVec3> = (0..n)
            .map(|_| {
                DVec3::new(
                    random.below(3) as f64,
                    random.below(3) as f64,
                    random.below(3) as f64,
                )
            })
            .collect();
        let mut faces = BTreeSet::new();
        for _ in 0..4 + random.below(16) {
            let mut f = [0; 3].map(|_: u32| random.below(n) as u32);
            f.sort_unstable();
            if f[0] != f[1] && f[1] != f[2] {
                faces.insert(f);
            }
        }
        let faces: Vec<_> = faces.into_iter().collect();
        if let Ok(mesh) = Mesh::new(n, faces) {
            judged(&format!("soup {round}"), &mesh, &x, Rest::Unknown);
        }
    }
}

/// A flat sheet of n × n cells with unit spacing.
fn grid(n: u32) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let mut x = Vec::new();
    let mut faces = Vec::new();
    for i in 0..=n {
        for j in 0..=n {
            x.push(DVec3::new(f64::from(i), f64::from(j), 0.0));
            if i < n && j < n {
                let a = i * (n + 1) + j;
                faces.push([a, a + 1, a + n + 2]);
                faces.push([a, a + n + 2, a + n + 1]);
            }
        }
    }
    (x, faces)
}

#[test]
fn no_crumpled_sheet_breaks_an_invariant() {
    let mut random = Random(2);
    for round in 0..60 {
        let (x, faces) = grid(5);
        let mesh = Mesh::new(x.len(), faces).unwrap();
        // integers for touching, floats for crossing
        let is_integer = round % 2 == 0;
        let mut coordinate = || match is_integer {
            true => random.below(4) as f64,
            false => random.signed(),
        };
        let x: Vec<DVec3> = x
            .iter()
            .map(|_| DVec3::new(coordinate(), coordinate(), coordinate()))
            .collect();
        judged(&format!("crumpled {round}"), &mesh, &x, Rest::Unknown);
    }
}

#[test]
fn a_flat_sheet_and_a_fold_pressed_flat_have_no_proper_intersection() {
    let (mut x, faces) = grid(6);
    let mesh = Mesh::new(x.len(), faces).unwrap();
    assert_eq!(judged("flat", &mesh, &x, Rest::Unknown).contours, []);
    for p in &mut x {
        p.x = (p.x - 3.0).abs();
    }
    let pressed = judged("pressed flat", &mesh, &x, Rest::Unknown);
    assert_eq!(real(&pressed).len(), 0);
    let uv = vec![[DVec2::ZERO; 3]; mesh.faces().len()];
    judged("without size", &mesh, &x, Rest::Parameters(&uv));
}
