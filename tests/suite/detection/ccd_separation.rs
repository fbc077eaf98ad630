//! The continuous test with a separation, against distances sampled during the motion.

use glam::DVec3;
use percale::geometry::Sweep;
use percale::geometry::ccd::{Answer, Mode, Question, edge_edge, vertex_face};
use proptest::prelude::*;

/// Samples of a motion.
const SAMPLES: u32 = 500;

/// Slack for the rounding of sampled distances, as a fraction of the size of all motions here.
const SLACK: f64 = 1e-14;

fn point_segment(p: DVec3, a: DVec3, b: DVec3) -> f64 {
    let (ab, ap) = (b - a, p - a);
    let length = ab.length_squared();
    let s = if length > 0.0 {
        (ap.dot(ab) / length).clamp(0.0, 1.0)
    } else {
        0.0
    };
    (ap - s * ab).length()
}

/// The least of the distances to the edges and, if the foot lies inside, to the plane.
fn point_triangle(p: DVec3, [a, b, c]: [DVec3; 3]) -> f64 {
    let n = (b - a).cross(c - a);
    let inside = [(a, b), (b, c), (c, a)]
        .iter()
        .all(|(u, v)| (v - u).cross(p - u).dot(n) >= 0.0);
    let plane = if inside && n.length() > 0.0 {
        ((p - a).dot(n) / n.length()).abs()
    } else {
        f64::INFINITY
    };
    plane
        .min(point_segment(p, a, b))
        .min(point_segment(p, b, c))
        .min(point_segment(p, c, a))
}

/// The least of the distances of ends to segments and, if the feet lie inside, of the lines.
fn segment_segment(a: DVec3, b: DVec3, c: DVec3, d: DVec3) -> f64 {
    let (e, f, r) = (b - a, d - c, c - a);
    let n = e.cross(f);
    let area = n.length_squared();
    let (s, u) = (r.cross(f).dot(n) / area, r.cross(e).dot(n) / area);
    let lines = if (0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&u) {
        (r.dot(n) / area.sqrt()).abs()
    } else {
        f64::INFINITY
    };
    lines
        .min(point_segment(a, c, d))
        .min(point_segment(b, c, d))
        .min(point_segment(c, a, b))
        .min(point_segment(d, a, b))
}

/// The distance of a vertex and a face, or of two edges.
pub(crate) fn distance([a, b, c, d]: [DVec3; 4], edges: bool) -> f64 {
    if edges {
        segment_segment(a, b, c, d)
    } else {
        point_triangle(a, [b, c, d])
    }
}

/// The least distance during a motion: the best sample, then smaller and smaller steps around it.
fn nearest_distance(sweep: &Sweep, edges: bool, samples: &[(f64, f64)]) -> f64 {
    let mut best = *samples
        .iter()
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .expect("samples");
    let mut step = 1.0 / f64::from(SAMPLES);
    for _ in 0..40 {
        for t in [best.0 - step, best.0 + step].map(|t| t.clamp(0.0, 1.0)) {
            let d = distance(sweep.at(t), edges);
            if d < best.1 {
                best = (t, d);
            }
        }
        step *= 0.6;
    }
    best.1
}

fn vector(size: f64) -> impl Strategy<Value = DVec3> {
    [-size..size, -size..size, -size..size].prop_map(DVec3::from)
}

/// Motions of a few kinds: anything; a common motion plus a little; flat ones in a tilted plane.
fn motion() -> impl Strategy<Value = Sweep> {
    let points = || prop::array::uniform4(vector(1.0));
    prop_oneof![
        (points(), points()).prop_map(|(start, end)| Sweep { start, end }),
        (points(), vector(5.0), prop::array::uniform4(vector(0.3))).prop_map(
            |(start, common, own)| Sweep {
                start,
                end: std::array::from_fn(|i| start[i] + common + own[i])
            }
        ),
        (points(), points(), vector(1.0), vector(1.0)).prop_map(|(start, end, x, y)| {
            let flat = |p: [DVec3; 4]| p.map(|p| p.x * x + p.y * y);
            Sweep {
                start: flat(start),
                end: flat(end),
            }
        }),
        (points(), vector(1.0), vector(1.0)).prop_map(|(start, push, gap)| {
            // Layers: everything but point 0 (and 1) lies in the plane z = 0.
            let start: [DVec3; 4] = std::array::from_fn(|i| {
                if i == 0 {
                    start[0] * 0.3 + gap.z.abs() * DVec3::Z
                } else {
                    start[i].with_z(0.0)
                }
            });
            Sweep {
                start,
                end: std::array::from_fn(|i| {
                    if i == 0 {
                        start[0] + push * 0.3
                    } else {
                        start[i]
                    }
                }),
            }
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn never_means_further_apart_than_the_separation_throughout(
        sweep in motion(),
        edges in any::<bool>(),
        share in prop_oneof![0.05..1.2f64, (1e-9..1e-4f64).prop_map(|x| 1.0 - x)],
        mode in prop_oneof![Just(Mode::Fast), Just(Mode::Exact), Just(Mode::Cubic)],
    ) {
        let at = |k: u32| (f64::from(k) / f64::from(SAMPLES), distance(sweep.at(f64::from(k) / f64::from(SAMPLES)), edges));
        let samples: Vec<(f64, f64)> = (0..=SAMPLES).map(at).collect();
        let nearest = nearest_distance(&sweep, edges, &samples);
        let separation = share * nearest;
        let test = if edges { edge_edge } else { vertex_face };
        match test(&sweep, Question { mode, separation }) {
            Answer::Never => prop_assert!(nearest > separation - SLACK, "{nearest} <= {separation}"),
            Answer::Hit(contact) => {
                prop_assert!(samples.iter().all(|s| s.0 >= contact.time || s.1 > separation - SLACK));
                prop_assert!(nearest <= separation + SLACK, "{nearest} > {separation}");
            }
            Answer::Uncertain(contact) => {
                prop_assert!(samples.iter().all(|s| s.0 >= contact.time || s.1 > separation - SLACK));
            }
        }
    }
}

#[test]
fn a_separation_that_is_violated_at_the_start_is_a_hit_at_time_0() {
    let x = |z: f64| [DVec3::new(0.2, 0.2, z), DVec3::ZERO, DVec3::X, DVec3::Y];
    let sweep = Sweep {
        start: x(0.1),
        end: x(0.2),
    };
    let question = |separation| Question {
        separation,
        ..Question::default()
    };
    assert_eq!(vertex_face(&sweep, question(0.09)), Answer::Never);
    for separation in [0.1, 0.11, 0.5] {
        match vertex_face(&sweep, question(separation)) {
            Answer::Hit(contact) | Answer::Uncertain(contact) => {
                assert_eq!(contact.time, 0.0);
                assert_eq!(contact.normal, DVec3::Z);
            }
            Answer::Never => panic!("{separation} is not kept"),
        }
    }
}

#[test]
fn the_loss_of_separation_is_found_in_time_and_proved() {
    let x = |z: f64| [DVec3::new(0.2, 0.2, z), DVec3::ZERO, DVec3::X, DVec3::Y];
    let sweep = Sweep {
        start: x(1.0),
        end: x(0.0),
    };
    let Answer::Hit(contact) = vertex_face(
        &sweep,
        Question {
            separation: 0.25,
            ..Question::default()
        },
    ) else {
        panic!("it ends in contact");
    };
    assert!(
        contact.time <= 0.75 && contact.time > 0.75 - 1e-3,
        "{}",
        contact.time
    );
}
