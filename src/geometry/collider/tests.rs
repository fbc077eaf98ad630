use std::collections::BTreeSet;

use glam::Vec3Swizzles;
use proptest::prelude::*;

use super::*;
use crate::geometry::margin::{GAP_ERROR, extent};
use crate::geometry::mesh::NONE;
use crate::geometry::{Aabb, Body, BodyKind};
use crate::oracle::position;

/// A mesh of random faces with its motion: bodies, edges of many faces, vertices of none, long and short faces.
#[derive(Clone, Debug)]
struct Soup {
    mesh: Arc<Mesh>,
    x0: Vec<DVec3>,
    x1: Vec<DVec3>,
}

fn soup(max_faces: usize) -> impl Strategy<Value = Soup> {
    let body = |max_faces: usize| {
        (4..24u32).prop_flat_map(move |n| {
            let faces = prop::collection::vec([0..n, 0..n, 0..n], 1..max_faces);
            (Just(n), faces, any::<bool>())
        })
    };
    prop::collection::vec(body(max_faces), 1..4)
        .prop_map(|parts| {
            let (mut faces, mut bodies, mut vertex) = (Vec::new(), Vec::new(), 0);
            for (n, corners, is_obstacle) in parts {
                let first = faces.len() as u32;
                let mut keys = BTreeSet::new();
                for c in corners {
                    let key: BTreeSet<u32> = c.into_iter().collect();
                    if key.len() == 3 && keys.insert(key) {
                        faces.push(c.map(|v| v + vertex));
                    }
                }
                if faces.len() as u32 == first {
                    faces.push([vertex, vertex + 1, vertex + 2]);
                }
                bodies.push(Body {
                    name: format!("body {}", bodies.len()),
                    kind: if is_obstacle {
                        BodyKind::Obstacle
                    } else {
                        BodyKind::Cloth
                    },
                    vertices: vertex..vertex + n,
                    faces: first..faces.len() as u32,
                });
                vertex += n;
            }
            Arc::new(Mesh::with_bodies(vertex as usize, faces, bodies).unwrap())
        })
        .prop_flat_map(|mesh| {
            let n = mesh.vertex_count();
            let at = || prop::collection::vec(position(), n);
            let spread = prop_oneof![Just(0.0), Just(0.5), Just(1.0 / 3.0)];
            // everything flies by many edges, so that rooms have a schedule
            let flight = prop_oneof![3 => Just(0.0), 1 => Just(128.0)];
            (Just(mesh), at(), at(), spread, flight)
        })
        .prop_map(|(mesh, x0, x1, spread, flight)| {
            // a spread leaves some boxes apart, and moves some by a rounded third
            let apart = |(v, p): (usize, &DVec3)| *p + spread * DVec3::splat((v / 3) as f64);
            Soup {
                x0: x0.iter().enumerate().map(apart).collect(),
                x1: x1
                    .iter()
                    .enumerate()
                    .map(apart)
                    .map(|p| p + flight * DVec3::new(1.0, 0.5, -0.25))
                    .collect(),
                mesh,
            }
        })
}

/// A step along an axis, in proof distances: well within reach, just within, just out of it, beyond, and far.
fn nudge() -> impl Strategy<Value = DVec3> {
    let length = prop::sample::select(vec![0.1, 0.3, 0.498, 0.502, 1.0, 1.02, 1.5, 40.0]);
    let axis = prop::sample::select(vec![DVec3::X, DVec3::Y, DVec3::Z]);
    (length, axis, any::<bool>())
        .prop_map(|(r, axis, back)| if back { -r * axis } else { r * axis })
}

/// All pairs by comparing everything with everything.
fn pairs_by_definition(soup: &Soup, margin: f64) -> Vec<Pair> {
    let Soup { mesh, x0, x1 } = soup;
    let hull = |vertices: &[u32]| {
        Aabb::of(
            vertices
                .iter()
                .flat_map(|&v| [x0[v as usize], x1[v as usize]]),
        )
    };
    let near = |a: &[u32], b: &[u32]| {
        let (a_box, b_box) = (hull(a), hull(b));
        let gap = (a_box.min - b_box.max).max(b_box.min - a_box.max);
        a.iter().all(|v| !b.contains(v))
            && !(mesh.is_obstacle(a[0]) && mesh.is_obstacle(b[0]))
            && gap.max_element() <= margin
    };
    let mut pairs = Vec::new();
    for vertex in 0..mesh.vertex_count() as u32 {
        if mesh.vertex_owner()[vertex as usize] == NONE {
            continue;
        }
        for (face, corners) in mesh.faces().iter().enumerate() {
            if near(&[vertex], corners) {
                let face = face as u32;
                pairs.push(Pair::VertexFace { vertex, face });
            }
        }
    }
    for (a, ends) in mesh.edges().iter().enumerate() {
        for (b, others) in mesh.edges().iter().enumerate().skip(a + 1) {
            if near(ends, others) {
                let (a, b) = (a as u32, b as u32);
                pairs.push(Pair::EdgeEdge { a, b });
            }
        }
    }
    pairs
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_tree_finds_every_pair_exactly_once(soup in soup(60), margin in prop_oneof![Just(0.0), Just(0.1), Just(1.0)]) {
        let Soup { mesh, x0, x1 } = &soup;
        let mut collider = Collider::new(mesh);
        let expected = pairs_by_definition(&soup, margin);
        prop_assert_eq!(collider.pairs(Motion::new(x0, x1), margin), &expected[..]);
        // and again after other questions: the tree is then refitted or rebuilt
        let far: Vec<DVec3> = x0.iter().map(|p| 100.0 * p.zxy()).collect();
        for (x0, x1, margin) in [(x1, x1, 0.0), (x1, &far, margin), (x0, x1, margin)] {
            let soup = Soup { mesh: mesh.clone(), x0: x0.clone(), x1: x1.clone() };
            prop_assert_eq!(collider.pairs(Motion::new(x0, x1), margin), pairs_by_definition(&soup, margin));
        }
    }

    #[test]
    fn pairs_listed_before_change_no_result(
        soup in soup(60),
        margin in prop_oneof![Just(0.0), Just(0.1), Just(1.0)],
        steps in prop::collection::vec(prop::collection::vec((0..24usize, nudge()), 0..4), 4),
        drift in 0.0..0.1f64,
    ) {
        // most vertices keep to their rooms, some leave them; now and then all have gone too far
        let Soup { mesh, mut x0, mut x1 } = soup;
        let mut collider = Collider::new(&mesh);
        for step in steps {
            // whether it comes so or not
            collider.expect(Motion::new(&x1, &x0), &vec![margin; x0.len()]);
            let soup = Soup { mesh: mesh.clone(), x0: x0.clone(), x1: x1.clone() };
            prop_assert_eq!(collider.pairs(Motion::new(&x0, &x1), margin), pairs_by_definition(&soup, margin));
            let impacts = collider.impacts(Motion::new(&x0, &x1), &Asked::default());
            prop_assert_eq!(impacts, Collider::new(&mesh).impacts(Motion::new(&x0, &x1), &Asked::default()));
            for (v, by) in step.into_iter().filter(|(v, _)| *v < x0.len()) {
                x1[v] += 0.1 * by;
            }
            for (x0, x1) in x0.iter_mut().zip(&mut x1) {
                let way = drift * (*x1 - *x0);
                (*x0, *x1) = (*x0 + way, *x1 + way);
            }
        }
    }

    #[test]
    fn the_first_impact_is_the_first_of_all(soup in soup(60), exact in any::<bool>(), thickness in prop_oneof![Just(None), Just(Some(0.25))]) {
        let Soup { mesh, x0, x1 } = &soup;
        let thickness = thickness.map(|thickness| vec![thickness; x0.len()]);
        let margin = thickness.as_ref().map(|thickness| Margin { thickness, rest: x0, gap: None });
        let asked = Asked { mode: if exact { Mode::Exact } else { Mode::Fast }, margin };
        let mut collider = Collider::new(mesh);
        let first = collider.first_impact(Motion::new(x0, x1), &asked);
        prop_assert_eq!(first, Collider::new(mesh).impacts(Motion::new(x0, x1), &asked).first().copied());
        prop_assert_eq!(collider.first_impact(Motion::new(x0, x0), &asked), None);
    }

    #[test]
    fn a_question_asked_at_once_is_answered_as_from_a_list(soup in soup(60), exact in any::<bool>(), thickness in prop_oneof![Just(0.0), Just(1.0)]) {
        let Soup { mesh, x0, x1 } = &soup;
        let asked = Asked { mode: if exact { Mode::Exact } else { Mode::Fast }, margin: None };
        let (mut listing, mut at_once) = (Collider::new(mesh), Collider::new(mesh));
        listing.pairs(Motion::new(x0, x1), thickness);
        prop_assert!(listing.has_listed(Motion::new(x0, x1)) && !at_once.has_listed(Motion::new(x0, x1)));
        let expected = listing.impacts(Motion::new(x0, x1), &asked);
        prop_assert_eq!(at_once.impacts(Motion::new(x0, x1), &asked), &expected[..]);
        prop_assert!(!at_once.has_listed(Motion::new(x0, x1)), "nothing was listed for it");
        prop_assert_eq!(at_once.impacts(Motion::new(x0, x1), &asked), expected, "nor does it remember anything");
    }

    #[test]
    fn impacts_of_some_vertices_are_those_impacts_that_have_one(soup in soup(20), changed in prop::collection::vec(0..8u32, 0..4)) {
        let Soup { mesh, x0, x1 } = &soup;
        let changed: Vec<u32> = changed.into_iter().filter(|&v| (v as usize) < x0.len()).collect();
        let mut collider = Collider::new(mesh);
        let asked = Asked::default();
        let all = collider.impacts(Motion::new(x0, x1), &asked);
        let some = collider.look_again(Motion::new(x0, x1), &changed, &asked, None).impacts;
        let expected: Vec<Impact> = all.into_iter().filter(|i| i.vertices.iter().any(|v| changed.contains(v))).collect();
        prop_assert_eq!(some, expected);
        prop_assert!(collider.look_again(Motion::new(x0, x1), &[], &asked, None).impacts.is_empty(), "what changed before does not count");
    }

    #[test]
    fn impacts_are_those_of_every_pair_asked_alone(
        soup in soup(12),
        thickness in prop::collection::vec(prop_oneof![Just(0.0), Just(0.25), Just(1.5)], 72),
        gap in prop::collection::vec(prop_oneof![Just(0.125), Just(f64::INFINITY)], 72),
    ) {
        let Soup { mesh, x0, x1 } = &soup;
        let rest: Vec<DVec3> = x1.iter().map(|p| 3.0 * p.yzx()).collect();
        let margin = Margin { thickness: &thickness[..x0.len()], rest: &rest, gap: Some(&gap) };
        let mut collider = Collider::new(mesh);
        for margin in [None, Some(margin)] {
            let asked = Asked { margin, ..Asked::default() };
            let found = collider.impacts(Motion::new(x0, x1), &asked);
            prop_assert!(found.is_sorted_by_key(|i| (i.time.to_bits(), i.pair)), "by time, then pair");
            for pair in pairs_by_definition(&soup, f64::INFINITY) {
                let sweep = Sweep::of(mesh, pair, x0, x1);
                let separation = margin.map_or(0.0, |margin| margin.separation(mesh, pair, x0));
                let question = Question { mode: asked.mode, separation };
                let answer = match pair {
                    Pair::VertexFace { .. } => ccd::vertex_face(&sweep, question),
                    Pair::EdgeEdge { .. } => ccd::edge_edge(&sweep, question),
                };
                let expected = match answer {
                    Answer::Never => None,
                    Answer::Hit(contact) => Some((contact.time, contact.weights, contact.normal, true)),
                    Answer::Uncertain(contact) => Some((contact.time, contact.weights, contact.normal, false)),
                };
                let found = found.iter().find(|i| i.pair == pair).map(|i| (i.time, i.weights, i.normal, i.certain));
                // boxes apart by rounding errors more than the separation prove what the test leaves open
                let is_proved = box_gap(pair, &sweep.start, &sweep.end) > separation;
                prop_assert!(found == expected || (is_proved && found.is_none() && expected.is_some_and(|e| !e.3)), "{pair:?}: {found:?}, expected {expected:?}");
            }
        }
    }

    #[test]
    fn what_was_proved_before_changes_no_result(
        soup in soup(20),
        first in prop::collection::vec((0..24usize, nudge()), 0..6),
        second in prop::collection::vec((0..24usize, nudge()), 0..12),
        tells in any::<bool>(),
    ) {
        let Soup { mesh, x0, mut x1 } = soup;
        let thickness = vec![0.25; x0.len()];
        let asked = Asked { mode: Mode::Fast, margin: Some(Margin { thickness: &thickness, rest: &x0, gap: None }) };
        let exact = Asked { mode: Mode::Exact, margin: None };
        let distance = proof_distance(&asked).unwrap();
        let mut move_some = |nudges: &[(usize, DVec3)]| {
            let known = nudges.iter().filter(|(v, _)| *v < x0.len());
            let moved: BTreeSet<u32> = known.map(|&(v, by)| { x1[v] += by * distance; v as u32 }).collect();
            (moved.into_iter().collect::<Vec<u32>>(), x1.clone())
        };
        let mut collider = Collider::new(&mesh);
        let fresh = |at: &[DVec3], asked: &Asked<'_>| Collider::new(&mesh).impacts(Motion::new(&x0, at), asked);
        let (_, at) = move_some(&[]);
        let wide = vec![0.375; x0.len()];
        let wide = Margin { thickness: &wide, rest: &x0, gap: None };
        prop_assert_eq!(collider.proximities(&x0, &wide, None), Collider::new(&mesh).proximities(&x0, &wide, None));
        let look = collider.look(Motion::new(&x0, &at), &asked, None);
        prop_assert_eq!(look.impacts, fresh(&at, &asked));
        let mut proof = look.proof;
        prop_assert!(proof.is_some());
        let (changed, at) = move_some(&first);
        if tells {
            let look = collider.look_again(Motion::new(&x0, &at), &changed, &asked, proof);
            let expected = Collider::new(&mesh).look_again(Motion::new(&x0, &at), &changed, &asked, None);
            prop_assert_eq!(look.impacts, expected.impacts);
            prop_assert!(look.proof.is_some() && expected.proof.is_none());
            proof = look.proof;
        }
        let look = collider.look(Motion::new(&x0, &at), &exact, proof.as_ref());
        prop_assert_eq!(look.impacts, fresh(&at, &exact));
        let (_, at) = move_some(&second);
        let look = collider.look(Motion::new(&x0, &at), &exact, proof.as_ref());
        prop_assert_eq!(look.impacts, fresh(&at, &exact));
        // of the same mesh made twice, of another start: covers nothing
        let twin = Arc::new(Mesh::clone(&mesh));
        let look = Collider::new(&twin).look(Motion::new(&x0, &at), &exact, proof.as_ref());
        prop_assert_eq!(look.impacts, fresh(&at, &exact));
        let back = collider.look(Motion::new(&at, &x0), &exact, proof.as_ref());
        prop_assert_eq!(back.impacts, Collider::new(&mesh).impacts(Motion::new(&at, &x0), &exact));
    }

    #[test]
    fn what_is_not_a_number_proves_nothing(soup in soup(60), v in 0..8usize, bad in prop_oneof![Just(f64::NAN), Just(-0.25), Just(f64::INFINITY)]) {
        let Soup { mesh, x0, x1 } = soup;
        let v = v % x0.len();
        let mut thickness = vec![0.25; x0.len()];
        let good = thickness.clone();
        thickness[v] = bad;
        let mut collider = Collider::new(&mesh);
        let [margin, good] = [&thickness, &good].map(|thickness| Margin { thickness, rest: &x0, gap: None });
        let motion = Motion::new(&x0, &x1);
        let asked = Asked { mode: Mode::Fast, margin: Some(margin) };
        prop_assert!(collider.look(motion, &asked, None).proof.is_none());
        prop_assert!(collider.foresee(motion, &good, &margin).proof.is_none());
        prop_assert!(collider.foresee(motion, &margin, &good).proof.is_none());
        let asked = Asked { mode: Mode::Cubic, margin: Some(good) };
        prop_assert!(collider.look(motion, &asked, None).proof.is_none(), "the papers' test proves nothing");
        let mut nowhere = x1.clone();
        nowhere[v].y = if bad.is_nan() { bad } else { 1e-80 };
        let asked = Asked { mode: Mode::Fast, margin: Some(good) };
        prop_assert!(collider.look(Motion::new(&x0, &nowhere), &asked, None).proof.is_none());
        let known = collider.look(motion, &asked, None).proof;
        prop_assert!(known.is_some());
        let changed = [v as u32];
        prop_assert!(collider.look_again(Motion::new(&x0, &nowhere), &changed, &asked, known).proof.is_none());
        // and it does not spoil what is asked afterwards
        let exact = Asked { mode: Mode::Exact, margin: None };
        let asks: [&dyn Fn(&mut Collider); 5] = [
            &|c| c.expect(motion, margin.thickness),
            &|c| drop(c.look(motion, &Asked { mode: Mode::Fast, margin: Some(margin) }, None)),
            &|c| drop(c.foresee(motion, &good, &margin)),
            &|c| drop(c.proximities(&nowhere, &good, None)),
            &|c| drop(c.impacts(Motion::new(&x0, &nowhere), &exact)),
        ];
        for ask in asks {
            let mut collider = Collider::new(&mesh);
            ask(&mut collider);
            prop_assert_eq!(collider.impacts(motion, &exact), Collider::new(&mesh).impacts(motion, &exact));
        }
    }

    #[test]
    fn what_was_foreseen_changes_no_result(
        soup in soup(20),
        nudges in prop::collection::vec((0..24usize, nudge()), 0..12),
        uneven in any::<bool>(),
    ) {
        let Soup { mesh, x0, x1: mut at } = soup;
        let thick = |factor: f64| (0..x0.len()).map(|v| if uneven && v % 5 == 0 { 1.5 * factor } else { factor }).collect::<Vec<f64>>();
        let [reach, whole, half] = [0.375, 0.25, 0.125].map(thick);
        let [reach, whole, half] = [&reach, &whole, &half].map(|thickness| Margin { thickness, rest: &x0, gap: None });
        let mut collider = Collider::new(&mesh);
        let foreseen = collider.foresee(Motion::new(&x0, &at), &reach, &whole);
        prop_assert_eq!(foreseen.near, Collider::new(&mesh).proximities(&x0, &reach, None));
        let fast = |margin| Asked { mode: Mode::Fast, margin: Some(margin) };
        let fresh = |at: &[DVec3], asked: &Asked<'_>| Collider::new(&mesh).impacts(Motion::new(&x0, at), asked);
        let mut expected = fresh(&at, &fast(whole));
        expected.retain(|impact| {
            let start = impact.vertices.map(|v| x0[v as usize]);
            let reach = reach.pair_thickness(&mesh, impact.pair);
            Closest::of(impact.pair, start).distance_squared >= reach * reach
        });
        prop_assert_eq!(foreseen.impacts, expected);
        let known = foreseen.proof;
        prop_assert!(known.is_some());
        // a larger margin than what was proved
        let look = collider.look(Motion::new(&x0, &at), &fast(reach), known.as_ref());
        prop_assert_eq!(look.impacts, fresh(&at, &fast(reach)));
        for (v, by) in nudges.into_iter().filter(|(v, _)| *v < x0.len()) {
            at[v] += 0.125 * by;
        }
        let look = collider.look(Motion::new(&x0, &at), &fast(half), known.as_ref());
        prop_assert_eq!(look.impacts, fresh(&at, &fast(half)));
        // and what follows from that look
        let exact = Asked { mode: Mode::Exact, margin: None };
        let last = collider.look(Motion::new(&x0, &at), &exact, look.proof.as_ref());
        prop_assert_eq!(last.impacts, fresh(&at, &exact));
    }

    #[test]
    fn what_is_near_at_the_start_is_among_the_pairs_of_a_motion(
        soup in soup(20),
        lifts in prop::collection::vec((0..24usize, nudge()), 0..6),
        nudges in prop::collection::vec((0..24usize, nudge()), 0..6),
        uneven in any::<bool>(),
        thicker in prop_oneof![Just(1.0), Just(1.5)],
    ) {
        let Soup { mesh, mut x0, mut x1 } = soup;
        let thick = |factor: f64| (0..x0.len()).map(|v| if uneven && v % 5 == 0 { 1.5 * factor } else { factor }).collect::<Vec<f64>>();
        let [listed, mut asked] = [0.25, 0.25 * thicker].map(thick);
        if uneven {
            asked.reverse(); // no thicker than the thickest, but elsewhere
        }
        let rest = x0.clone();
        let margin = |thickness| Margin { thickness, rest: &rest, gap: None };
        let exact = Asked { mode: Mode::Exact, margin: None };
        let mut collider = Collider::new(&mesh);
        collider.expect(Motion::new(&x0, &x1), &listed);
        for thickness in [&listed, &asked] {
            let near = collider.proximities(&x0, &margin(thickness), None);
            prop_assert_eq!(near, Collider::new(&mesh).proximities(&x0, &margin(thickness), None));
            let wide = Asked { mode: Mode::Fast, margin: Some(margin(thickness)) };
            let look = collider.look(Motion::new(&x0, &x1), &wide, None);
            prop_assert_eq!(look.impacts, Collider::new(&mesh).impacts(Motion::new(&x0, &x1), &wide));
        }
        // other starts, other ends, in turn
        for (v, by) in lifts.into_iter().filter(|(v, _)| *v < rest.len()) {
            x0[v] += 0.125 * by;
        }
        let near = collider.proximities(&x0, &margin(&listed), None);
        prop_assert_eq!(near, Collider::new(&mesh).proximities(&x0, &margin(&listed), None));
        for (v, by) in nudges.into_iter().filter(|(v, _)| *v < rest.len()) {
            x1[v] += by;
        }
        let wide = Asked { mode: Mode::Fast, margin: Some(margin(&listed)) };
        for asked in [wide, exact] {
            let look = collider.look(Motion::new(&x0, &x1), &asked, None);
            prop_assert_eq!(look.impacts, Collider::new(&mesh).impacts(Motion::new(&x0, &x1), &asked));
        }
        let near = collider.proximities(&x1, &margin(&listed), None);
        prop_assert_eq!(near, Collider::new(&mesh).proximities(&x1, &margin(&listed), None));
    }

    #[test]
    fn every_impact_takes_a_query_and_no_pair_takes_two(soup in soup(20), apart in 0.0..0.1f64) {
        let Soup { mesh, x0, mut x1 } = soup;
        let thickness = vec![0.25; x0.len()];
        let asked = Asked { mode: Mode::Fast, margin: Some(Margin { thickness: &thickness, rest: &x0, gap: None }) };
        let exact = Asked { mode: Mode::Exact, margin: None };
        let all = pairs_by_definition(&Soup { mesh: mesh.clone(), x0: x0.clone(), x1: x1.clone() }, f64::INFINITY).len();
        let mut collider = Collider::new(&mesh);
        let mut look = |x1: &[DVec3], asked: &Asked<'_>, known: Option<&Proof>| {
            let before = collider.queries();
            let look = collider.look(Motion::new(&x0, x1), asked, known);
            (look.impacts.len(), (collider.queries() - before) as usize, look.proof)
        };
        let mut proof = None;
        for asked in [&exact, &asked] {
            let (found, queries, _) = look(&x1, asked, None);
            prop_assert!((found..=all).contains(&queries), "{found} impacts, {queries} queries, {all} pairs");
            let again = look(&x1, asked, None);
            prop_assert_eq!((again.0, again.1), (found, queries), "the same again");
            proof = again.2;
        }
        // from what was proved, and again for the vertex that has left it
        x1[0] += apart * DVec3::ONE;
        let (found, queries, _) = look(&x1, &exact, proof.as_ref());
        prop_assert!((found..=2 * all).contains(&queries), "{found} impacts, {queries} queries, {all} pairs");
    }

    #[test]
    fn a_null_motion_has_no_impacts(soup in soup(20)) {
        let Soup { mesh, x0, .. } = &soup;
        prop_assert!(Collider::new(mesh).impacts(Motion::new(x0, x0), &Asked::default()).is_empty());
    }
}

/// A square sheet of n × n vertices, waved, with a thickness of about a tenth of its edges.
fn sheet(n: u32) -> (Arc<Mesh>, Vec<DVec3>) {
    let mut x = Vec::new();
    let mut faces = Vec::new();
    for i in 0..n * n {
        let (u, v) = (f64::from(i % n), f64::from(i / n));
        x.push(DVec3::new(u, 0.3 * (u - v) * (u + v) / f64::from(n), v));
        if i % n + 1 < n && i / n + 1 < n {
            faces.push([i, i + 1, i + n]);
            faces.push([i + 1, i + n + 1, i + n]);
        }
    }
    (Arc::new(Mesh::new(x.len(), faces).unwrap()), x)
}

#[test]
fn large_meshes_are_walked_like_small_ones_for_any_number_of_threads() {
    let (mesh, x0) = sheet(60);
    let x1: Vec<DVec3> = x0.iter().map(|p| p + 0.1 * p.yzx()).collect();
    let pairs = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let pool = pool.build().unwrap();
        pool.install(|| Collider::new(&mesh).pairs(Motion::new(&x0, &x1), 0.1))
    };
    let one = pairs(1);
    assert_eq!(one, pairs(2));
    assert_eq!(one, pairs(5));
    // one half goes over the other and sinks through it
    let over = |p: &DVec3| DVec3::new(60.0 - p.x, p.y + 12.0, p.z);
    let folded: Vec<DVec3> = (x0.iter())
        .map(|p| if p.x < 30.0 { over(p) } else { *p })
        .collect();
    let asked = Asked::default();
    let found = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let mut collider = Collider::new(&mesh);
        let motion = Motion::new(&x0, &folded);
        let look = || {
            let first = collider.first_impact(motion, &asked);
            let queries = collider.queries();
            (
                first,
                queries,
                collider.impacts(motion, &asked),
                collider.queries(),
            )
        };
        pool.build().unwrap().install(look)
    };
    let one = (found(1), one);
    assert!(one.0.2.len() > 100 && one.0.0 == one.0.2.first().copied());
    assert!(
        one.0.1 < one.0.3 - one.0.1,
        "the first takes fewer queries than all"
    );
    assert_eq!(one.0, found(2));
    assert_eq!(one.0, found(5));
    let one = one.1;
    // compare with sampled rows of the definition: all against all would take minutes
    for vertex in (0..3600).step_by(97) {
        let found: Vec<u32> = one
            .iter()
            .filter_map(|p| match *p {
                Pair::VertexFace { vertex: v, face } if v == vertex => Some(face),
                _ => None,
            })
            .collect();
        let expected: Vec<u32> = (0..mesh.faces().len() as u32)
            .filter(|&face| {
                let pair = Pair::VertexFace { vertex, face };
                let Sweep { start, end } = Sweep::of(&mesh, pair, &x0, &x1);
                !mesh.faces()[face as usize].contains(&vertex) && box_gap(pair, &start, &end) <= 0.1
            })
            .collect();
        assert_eq!(found, expected);
    }
}

#[test]
fn a_separation_is_limited_by_gap_and_rest_distance() {
    // two faces one above the other, moved from rest; one body, then two
    let faces = vec![[0, 1, 2], [3, 4, 5]];
    let body = |name: &str, from: u32, face: u32| Body {
        name: name.into(),
        kind: BodyKind::Cloth,
        vertices: from..from + 3,
        faces: face..face + 1,
    };
    let two = vec![body("lower", 0, 0), body("upper", 3, 1)];
    let one = Mesh::new(6, faces.clone()).unwrap();
    let two = Mesh::with_bodies(6, faces, two).unwrap();
    let at = |y: f64| {
        let corners = [DVec3::ZERO, DVec3::X, DVec3::Z];
        let upper = corners.map(|p| p + y * DVec3::Y);
        [corners, upper].concat()
    };
    let pair = Pair::VertexFace { vertex: 0, face: 1 };
    let (thick, thin, none) = (vec![0.3; 6], vec![0.01; 6], vec![0.0; 6]);
    let rest = at(0.25);
    let separation = |mesh: &Mesh, thickness: &[f64], gap: f64| {
        let margin = Margin {
            thickness,
            rest: &rest,
            gap: None,
        };
        margin.separation(mesh, pair, &at(gap))
    };
    assert_eq!(separation(&one, &thin, 1.0), 0.01, "thickness");
    assert_eq!(separation(&two, &thick, 0.5), 0.25, "half the gap");
    assert_eq!(
        separation(&one, &thick, 0.5),
        0.125,
        "half the rest distance"
    );
    assert_eq!(separation(&two, &thick, 1e-15), 0.0, "the gap is rounding");
    assert_eq!(separation(&one, &none, 1.0), 0.0);
    let uneven = [0.2, 9.0, 9.0, 0.4, 0.6, 0.5];
    let expected = 0.5 * (0.2 + 0.4);
    assert_eq!(
        separation(&two, &uneven, 4.0),
        expected,
        "mean of the least"
    );
    let margin = Margin {
        thickness: &uneven,
        rest: &rest,
        gap: None,
    };
    let edges = |a: [u32; 2], b: [u32; 2]| {
        let edge = |ends| two.edges().iter().position(|&e| e == ends).unwrap() as u32;
        let pair = Pair::EdgeEdge {
            a: edge(a),
            b: edge(b),
        };
        margin.separation(&two, pair, &at(40.0))
    };
    assert_eq!(edges([1, 2], [4, 5]), 0.5 * (9.0 + 0.5));
    assert_eq!(edges([0, 1], [3, 4]), 0.5 * (0.2 + 0.4));
}

#[test]
fn to_come_as_near_as_the_separation_is_an_impact() {
    // a corner falls from 2 to 1 above a face, along an axis: the boxes end one thickness apart
    let mesh = Arc::new(Mesh::new(6, vec![[0, 1, 2], [3, 4, 5]]).unwrap());
    let at = |y: f64| {
        let mut x = [
            [-9, 0, -9],
            [9, 0, -9],
            [0, 0, 9],
            [0, 0, 0],
            [1, 9, 0],
            [0, 9, 1],
        ]
        .map(|p| DVec3::from_array(p.map(f64::from)));
        x[3].y = y;
        x.to_vec()
    };
    let rest = at(1e3);
    let asked = Asked {
        margin: Some(Margin {
            thickness: &[1.0; 6],
            rest: &rest,
            gap: None,
        }),
        ..Asked::default()
    };
    let count = |end: f64| {
        let mut collider = Collider::new(&mesh);
        collider
            .impacts(Motion::new(&at(2.0), &at(end)), &asked)
            .len()
    };
    assert_eq!((count(1.0), count(1.0 + 1e-9)), (1, 0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn a_gap_errs_less_than_its_bound(
        foot in [0.1..0.9f64, 0.1..0.9f64],
        plane in [[-1.0..1.0f64, -1.0..1.0, -1.0..1.0], [-1.0..1.0f64, -1.0..1.0, -1.0..1.0]],
        height in prop_oneof![Just(1e-16), Just(1e-14), Just(1e-8), Just(1.0)],
        far in prop_oneof![Just(0.0), Just(1.0), Just(1e6)],
    ) {
        // edges that cross at a known height above each other; the shift costs digits that no computation brings back
        let [d, e] = plane.map(DVec3::from_array);
        let n = d.cross(e).normalize_or_zero();
        prop_assume!(d.cross(e).length() > 0.1 * d.length() * e.length());
        let at = |p: DVec3| p + DVec3::splat(far);
        let x = [
            at(-foot[0] * d),
            at((1.0 - foot[0]) * d),
            at(height * n - foot[1] * e),
            at(height * n + (1.0 - foot[1]) * e),
        ];
        let gap = proximity::closest_points_edge_edge(x).distance_squared.sqrt();
        let exact = exact_gap_edge_edge(&x);
        prop_assert!((gap - exact).abs() <= GAP_ERROR * extent(&x), "{gap} {exact}");
    }
}

/// |(b0 − a0) · n| / |n| of two lines, in rationals up to the last division and root.
fn exact_gap_edge_edge(x: &[DVec3; 4]) -> f64 {
    use num_rational::BigRational;
    use num_traits::{Signed, ToPrimitive};
    let r = |v: DVec3| v.to_array().map(|c| BigRational::from_float(c).unwrap());
    let minus = |a: DVec3, b: DVec3| {
        let (a, b) = (r(a), r(b));
        [&a[0] - &b[0], &a[1] - &b[1], &a[2] - &b[2]]
    };
    let (d, e, o) = (minus(x[1], x[0]), minus(x[3], x[2]), minus(x[2], x[0]));
    let n = [
        &d[1] * &e[2] - &d[2] * &e[1],
        &d[2] * &e[0] - &d[0] * &e[2],
        &d[0] * &e[1] - &d[1] * &e[0],
    ];
    let height: BigRational = (0..3).map(|k| &n[k] * &o[k]).sum();
    let square: BigRational = n.iter().map(|k| k * k).sum();
    (height.abs() * height.abs() / square)
        .to_f64()
        .unwrap()
        .sqrt()
}
