//! Global intersection analysis: the judge on every mesh, types under motion, renumbering and scaling.

use std::collections::BTreeSet;

use glam::{DQuat, DVec2, DVec3};
use percale::geometry::Mesh;
use percale::scene::tangles::{self, Tangled};
use percale::untangle::{Analysis, Contour, End, Kind, Path, PathKind, Rest, Spot, analyse};

use super::path_judge::judge;
use crate::random::Random;

fn rotation(random: &mut Random) -> DQuat {
    loop {
        let [x, y, z, w] = [(); 4].map(|()| random.signed());
        let q = DQuat::from_xyzw(x, y, z, w);
        if (0.1..1.0).contains(&q.length_squared()) {
            return q.normalize();
        }
    }
}

pub(crate) fn mesh_of(t: &Tangled) -> Mesh {
    Mesh::new(t.positions.len(), t.faces.clone()).unwrap()
}

pub(crate) fn judged(name: &str, mesh: &Mesh, x: &[DVec3], rest: Rest<'_>) -> Analysis {
    let analysis = analyse(mesh, x, rest).unwrap();
    judge(name, mesh, x, &analysis);
    analysis
}

/// Intersections that are more than a touch.
pub(crate) fn real(analysis: &Analysis) -> Vec<&Contour> {
    analysis.contours.iter().filter(|c| !c.is_touch).collect()
}

pub(crate) fn paths_of<'a>(analysis: &'a Analysis, contour: &Contour) -> &'a [Path] {
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
    let rotation = rotation(random);
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
            if let Some((a, b)) = found.iter().zip(&expected).find(|(a, b)| a != b) {
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

/// The perturbation takes its directions from the first face with an area: there is none on a line, and floats do not
/// know that of a sliver.
#[test]
fn no_soup_on_a_line_or_after_a_sliver_breaks_an_invariant() {
    let mut random = Random(3);
    for round in 0..100 {
        let is_line = round % 2 == 0;
        let sliver = [
            DVec3::ZERO,
            DVec3::new(1.0, 1.0, 0.0),
            DVec3::new(1.0f64.next_up(), 1.0, 0.0),
        ];
        let mut x = if is_line { Vec::new() } else { sliver.to_vec() };
        let mut faces: Vec<[u32; 3]> = if is_line { vec![] } else { vec![[0, 1, 2]] };
        let first = x.len() as u32;
        for k in 0..6 {
            let [i, j, l] = [(); 3].map(|()| random.below(3) as f64);
            x.extend(match is_line {
                true => [i, j, l].map(|t| t * DVec3::new(1.0, 2.0, 3.0)),
                false => [[i, j, l], [j, l, i], [l, 1.0, j]].map(DVec3::from_array),
            });
            faces.push([0, 1, 2].map(|c| first + 3 * k + c));
        }
        let mesh = Mesh::new(x.len(), faces).unwrap();
        judged(&format!("soup {round}"), &mesh, &x, Rest::Unknown);
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

/// Every face cut into four at the middles of its edges.
pub(crate) fn subdivided(x: &[DVec3], mesh: &Mesh) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let middles = mesh
        .edges()
        .iter()
        .map(|&[a, b]| 0.5 * (x[a as usize] + x[b as usize]));
    let positions = x.iter().copied().chain(middles).collect();
    let faces = mesh
        .faces()
        .iter()
        .zip(mesh.face_edges())
        .flat_map(|(&[a, b, c], edges)| {
            let [p, q, r] = edges.map(|e| x.len() as u32 + e);
            [[a, p, r], [p, b, q], [r, q, c], [p, q, r]]
        })
        .collect();
    (positions, faces)
}

/// The smallest meshes of a kind: raw and subdivided they are the same.
#[test]
fn a_handful_of_triangles_is_named_like_its_subdivisions() {
    let cases: [(Kind, usize, &[[f64; 3]], &[[u32; 3]]); 5] = [
        (
            // a fan of three whose last face comes back through the first
            Kind::BoundaryLoopInside,
            1,
            &[
                [1.0, 0.1, 0.0],
                [-0.2, 0.0, 0.1],
                [0.1, 0.0, 1.1],
                [0.0, 1.2, -0.1],
                [0.45, -0.6, 0.55],
            ],
            &[[0, 2, 1], [0, 1, 3], [0, 3, 4]],
        ),
        (
            // the same with a second face behind: the fan dives and comes up again
            Kind::Eight,
            2,
            &[
                [1.0, 0.0, 0.0],
                [1.1, 0.0, 2.1],
                [-1.0, 0.0, 0.1],
                [0.0, 0.6, -0.1],
                [0.45, -0.5, 0.55],
                [1.0, 0.6, 1.1],
            ],
            &[[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5], [4, 3, 5]],
        ),
        (
            // without the face behind the far edges are boundary
            Kind::Cross,
            2,
            &[
                [1.0, 0.0, 0.0],
                [1.1, 0.0, 2.1],
                [-1.0, 0.0, 0.1],
                [0.0, 0.6, -0.1],
                [0.45, -0.5, 0.55],
                [1.0, 0.6, 1.1],
            ],
            &[[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]],
        ),
        (
            // a tip through a face
            Kind::Closed,
            3,
            &[
                [0.3, -1.0, 0.25],
                [0.1, 1.0, 0.9],
                [0.9, 1.1, 0.05],
                [-0.1, 0.9, 0.0],
                [-0.8, 0.0, 2.1],
                [2.2, 0.1, -0.7],
                [-0.9, 0.0, -0.8],
            ],
            &[[0, 1, 2], [0, 2, 3], [0, 3, 1], [4, 5, 6]],
        ),
        (
            // two faces cut into each other
            Kind::NotchAndNotch,
            2,
            &[
                [0.0, 0.0, 0.0],
                [2.0, 0.1, 0.0],
                [0.1, 2.0, 0.0],
                [0.4, 0.3, -1.0],
                [0.35, 0.45, 1.1],
                [-2.0, 0.2, 0.1],
            ],
            &[[0, 1, 2], [3, 4, 5]],
        ),
    ];
    for (kind, crossings, x, faces) in cases {
        let (mut x, mut faces): (Vec<DVec3>, _) = (
            x.iter().copied().map(DVec3::from_array).collect(),
            faces.to_vec(),
        );
        for level in 0..4 {
            let mesh = Mesh::new(x.len(), faces).unwrap();
            let label = format!("{kind}, {level} times subdivided");
            let analysis = judged(&label, &mesh, &x, Rest::Unknown);
            let kinds: Vec<Kind> = analysis.contours.iter().map(|c| c.kind).collect();
            assert_eq!(kinds, [kind], "{label}");
            assert!(
                level > 0 || analysis.segments.crossings.len() == crossings,
                "{label}"
            );
            (x, faces) = subdivided(&x, &mesh);
        }
    }
}

/// Where a point of a path lies in parameters.
fn parameters(t: &Tangled, mesh: &Mesh, place: Spot) -> DVec2 {
    let corner = |v: u32| {
        let face = mesh.faces_of_vertex(v)[0] as usize;
        let k = mesh.faces()[face].iter().position(|&c| c == v).unwrap();
        t.uv[face][k]
    };
    match place {
        Spot::Vertex(v) => corner(v),
        Spot::Edge { edge, along } => {
            let [a, b] = mesh.edges()[edge as usize].map(corner);
            a.lerp(b, along)
        }
        Spot::Face { face, weights } => {
            let [a, b, c] = t.uv[face as usize];
            a * weights.x + b * weights.y + c * weights.z
        }
    }
}

/// On how many sides of a polyline two points are: the number of times that the straight line between them crosses it.
fn crossings_between(p: DVec2, q: DVec2, line: &[DVec2]) -> usize {
    let turn = |a: DVec2, b: DVec2, c: DVec2| (b - a).perp_dot(c - a) > 0.0;
    line.windows(2)
        .filter(|w| {
            turn(p, q, w[0]) != turn(p, q, w[1]) && turn(w[0], w[1], p) != turn(w[0], w[1], q)
        })
        .count()
}

#[test]
fn inside_is_what_the_path_cuts_off_in_the_plane_of_the_parameters() {
    for name in tangles::TYPES {
        let t = tangles::of_type(name, 9).unwrap();
        let mesh = mesh_of(&t);
        let analysis = analyse(&mesh, &t.positions, Rest::Parameters(&t.uv)).unwrap();
        let contour = real(&analysis)[0];
        for path in paths_of(&analysis, contour) {
            let mut line: Vec<DVec2> = (0..path.points.len())
                .map(|k| parameters(&t, &mesh, path.spot(&analysis.segments, k)))
                .collect();
            if path.kind.is_closed() {
                line.push(line[0]);
            }
            let on_path = |v: &u32| path.points.contains(&End::Loop(*v));
            let place = |v: u32| parameters(&t, &mesh, Spot::Vertex(v));
            let everywhere: Vec<u32> = (0..t.positions.len() as u32)
                .filter(|v| !on_path(v))
                .collect();
            let (candidates, margin) = match path.kind {
                PathKind::Closed | PathKind::Ll => (everywhere, false),
                PathKind::Bb if name != "bb-bi" => (everywhere, false),
                PathKind::Bli => {
                    let centre = place(path.loop_vertices()[0]);
                    let radius = line[0]
                        .distance(centre)
                        .min(line[line.len() - 1].distance(centre));
                    let is_near = |v: &u32| place(*v).distance(centre) < radius;
                    (everywhere.into_iter().filter(is_near).collect(), true)
                }
                _ => continue,
            };
            // somewhere off all rows and columns, in the middle of the sheet or of the disc
            let from = if margin {
                place(path.loop_vertices()[0])
            } else {
                DVec2::ZERO
            } + DVec2::new(0.0137, 0.0293);
            let mut parts = [BTreeSet::new(), BTreeSet::new()];
            for v in candidates {
                parts[crossings_between(from, place(v), &line) % 2].insert(v);
            }
            parts.sort_by_key(BTreeSet::len);
            let found: BTreeSet<u32> = path.inside.vertices().iter().copied().collect();
            let allowed = if margin { parts[0].len() / 20 } else { 0 };
            let off = found.symmetric_difference(&parts[0]).count();
            assert!(
                off <= allowed && !found.is_empty(),
                "{name} {:?}: {found:?}, expected {:?}",
                path.kind,
                parts[0]
            );
        }
    }
}

#[test]
fn the_sheets_of_table_1_have_its_counts_within_a_fifth() {
    for (number, row) in tangles::TABLE_1.iter().enumerate() {
        let t = tangles::table_1(number).unwrap();
        let mesh = mesh_of(&t);
        let analysis = judged(row.name, &mesh, &t.positions, Rest::Parameters(&t.uv));
        let segments = 2 * analysis.segments.segments.len();
        let inside: usize = analysis
            .paths
            .iter()
            .map(|p| p.inside.vertices().len())
            .sum();
        println!(
            "{row:?}: {} paths, {segments} segments, {inside} inside",
            analysis.paths.len()
        );
        assert_eq!(mesh.faces().len(), row.triangles);
        for (name, found, wanted) in [
            ("paths", analysis.paths.len(), row.paths),
            ("segments", segments, row.segments),
            ("inside", inside, row.inside),
        ] {
            assert!(
                5 * found.abs_diff(wanted) <= wanted,
                "{}: {found} {name}, the paper has {wanted}",
                row.name
            );
        }
    }
}

#[test]
fn a_crumpled_fan_of_many_faces_is_analysed_soon() {
    // n² paths end at the vertex in the middle; partners were once looked for among all pairs, along all rays: n⁶
    let fan = |n: u32, seed: u64| {
        let mut random = Random(seed);
        let x: Vec<DVec3> = (0..=n)
            .map(|v| match v {
                0 => DVec3::ZERO,
                _ => DVec3::new(random.signed(), random.signed(), random.signed()),
            })
            .collect();
        let faces = (1..=n).map(|v| [0, v, 1 + v % n]).collect();
        (Mesh::new(x.len(), faces).unwrap(), x)
    };
    let (mesh, x) = fan(40, 1);
    let small = judged("fan", &mesh, &x, Rest::Unknown);
    let crosses = |a: &Analysis| a.contours.iter().filter(|c| c.kind == Kind::Cross).count();
    assert!(crosses(&small) > 0);
    let (mesh, x) = fan(250, 2);
    let start = std::time::Instant::now();
    let large = analyse(&mesh, &x, Rest::Unknown).unwrap();
    assert!(large.paths.len() > 2000 && crosses(&large) > 10);
    assert!(start.elapsed().as_secs() < 30, "{:?}", start.elapsed());
}
