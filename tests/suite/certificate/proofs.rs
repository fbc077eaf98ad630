//! What the detector proved about a motion is used for the next one; here by two features whose answer a formula tells.

use std::sync::Arc;

use glam::{DVec3, dvec3};
use percale::geometry::{Asked, Body, BodyKind, Collider, Margin, Mesh, Mode, Proof};
use proptest::prelude::*;
use proptest::sample::select;

/// All pairs not listed are proved to keep this distance, a 32nd of the least thickness, in metres.
const PROVED: f64 = 2e-3;
const THICKNESS: f64 = 32.0 * PROVED;

/// Faces far away, so that the few that move are a small share.
const IDLE: u32 = 8;

/// A level face, a narrow one that stands above it on a corner or on a long side, and idle ones; each a body.
fn mesh() -> Mesh {
    let faces = (0..IDLE + 2).map(|f| [3 * f, 3 * f + 1, 3 * f + 2]);
    let body = |f: u32| Body {
        name: format!("{f}"),
        kind: BodyKind::Cloth,
        vertices: 3 * f..3 * f + 3,
        faces: f..f + 1,
    };
    let count = 3 * (IDLE as usize + 2);
    Mesh::with_bodies(count, faces.collect(), (0..IDLE + 2).map(body).collect()).unwrap()
}

/// With the level face at one height and the lowest point of the standing one at another, in units of [`PROVED`].
fn at([level, standing]: [f64; 2], on_side: bool) -> Vec<DVec3> {
    let foot = if on_side {
        [
            dvec3(-3.0, 0.0, 0.1),
            dvec3(3.0, 0.0, -0.1),
            dvec3(0.0, 1.0, 0.0),
        ]
    } else {
        [
            dvec3(0.0, 0.0, 0.1),
            dvec3(0.05, 1.0, 0.1),
            dvec3(-0.05, 1.0, 0.1),
        ]
    };
    let flat = [
        dvec3(-1.0, 0.0, -1.0),
        dvec3(1.0, 0.0, -1.0),
        dvec3(0.0, 0.0, 1.0),
    ];
    let lifted = |face: [DVec3; 3], by: f64| face.map(|p| p + by * PROVED * DVec3::Y);
    let idle = (0..IDLE).flat_map(|f| flat.map(|p| p + f64::from(30 * (f + 1)) * DVec3::X));
    let both = [lifted(flat, level), lifted(foot, standing)];
    both.into_iter().flatten().chain(idle).collect()
}

/// Where a standing face ends above the level one, in proved distances: hits and misses about every bound in use.
const GAPS: [f64; 13] = [
    -40.0, -1.0, -0.3, 0.02, 0.3, 0.9, 1.02, 1.1, 1.5, 2.1, 20.0, 33.0, 63.0,
];

/// What is unlike the first look in the second one.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Other {
    Nothing,
    ThinnerMargin,
    ThickerMargin,
    Start,
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn two_features_meet_exactly_if_they_change_sides_whatever_was_looked_at_before(
        on_side: bool,
        start in select(vec![0.2, 0.5, 1.1, 100.0, 1000.0]),
        gaps in [select(GAPS.to_vec()), select(GAPS.to_vec()), select(vec![-1.0, -0.02, 0.02, 0.3, 1.0])],
        // of these gaps: back to the first, where the second was, or elsewhere
        last in select(vec![0, 1, 2, 2]),
        lift in select(vec![0.0, 0.0, 0.0, -0.3, 0.4, 0.7]),
        told in select(vec![&[][..], &[3, 4, 5], &[0, 1, 2, 3, 4, 5]]),
        other in select(vec![Other::Nothing, Other::Nothing, Other::Nothing, Other::ThinnerMargin, Other::ThickerMargin, Other::Start]),
        share in select(vec![0.0, 0.0, 0.5, 0.5, 1.0]),
        from_below in select(vec![false, false, false, true]),
        idle in select(vec![1.0, 40.0]),
        looks_between in select(vec![true, true, false]),
    ) {
        let mesh = Arc::new(mesh());
        let above = at([0.0, start], on_side);
        let below = at([0.0, -0.1 * start], on_side);
        let thickness = |factor: f64| -> Vec<f64> {
            let of = |v: usize| factor * THICKNESS * if v < 6 { 1.0 } else { idle };
            (0..above.len()).map(of).collect()
        };
        let exact = Asked { mode: Mode::Exact, margin: None };
        let mut collider = Collider::new(&mesh);
        let mut proof: Option<Proof> = None;
        let mut look = |x0: &[DVec3], x1: &[DVec3], factor: f64, changed: Option<&[u32]>| {
            let thickness = thickness(factor);
            let margin = Margin { thickness: &thickness, rest: &above, gap: None };
            let asked = Asked { mode: Mode::Fast, margin: Some(margin) };
            let motion = collider.motion(x0, x1).unwrap();
            let look = match changed {
                Some(changed) => collider.look_again(motion, changed, &asked, proof.take()),
                None => collider.look(motion, &asked, None),
            };
            proof = look.proof;
        };

        let ([first, second, _], last) = (gaps, gaps[last]);
        look(&above, &at([0.0, first], on_side), 1.0, None);
        let mut heights = [0.0, first];
        if looks_between {
            heights = [lift, lift + second];
            let (x0, factor) = match other {
                Other::Nothing => (&above, 1.0),
                Other::ThinnerMargin => (&above, 0.125),
                Other::ThickerMargin => (&above, 8.0),
                Other::Start => (&below, 1.0),
            };
            look(x0, &at(heights, on_side), factor, Some(told));
        }
        let change = last - (heights[1] - heights[0]);
        let end = at([heights[0] - share * change, heights[1] + (1.0 - share) * change], on_side);
        let x0 = if from_below { &below } else { &above };
        let motion = collider.motion(x0, &end).unwrap();
        let found = collider.look(motion, &exact, proof.as_ref()).impacts;
        prop_assert_eq!(found.is_empty(), (last > 0.0) != from_below, "{:?}", found);
        prop_assert_eq!(found, Collider::new(&mesh).impacts(motion, &exact));
    }
}
