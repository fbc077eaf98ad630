//! Every scene starts and stays free of intersections; small variants run to the end.

use percale::scene::{BUILTIN, Scene};
use percale::verify::audit;

fn load(name: &str, changes: &[(&str, &str)]) -> Scene {
    let changes: Vec<_> = changes
        .iter()
        .map(|(k, v)| (k.to_string(), v.to_string()))
        .collect();
    Scene::load(name, &changes).unwrap()
}

#[test]
fn every_built_in_scene_starts() {
    for (name, _) in BUILTIN {
        let mut simulation = load(name, &[])
            .build()
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        for _ in 0..2 {
            assert_eq!(simulation.step().unwrap().intersections, 0, "{name}");
        }
    }
}

#[test]
fn a_small_drop_lands_folds_and_never_crosses() {
    let scene = load(
        "drop",
        &[
            ("cloth.0.shape.cells", "[16, 16]"),
            ("obstacle.0.shape.subdivisions", "2"),
        ],
    );
    let mut simulation = scene.build().unwrap();
    let (mut impacts, mut holds, mut intervals) = (0, 0, 0);
    for _ in 0..90 {
        let report = simulation.step().unwrap();
        assert_eq!(report.intersections, 0, "frame {}", report.frame);
        impacts += report.impacts.vertex_face + report.impacts.edge_edge;
        holds += report.failsafes.values().sum::<usize>();
        intervals += report.intervals;
    }
    assert!(
        impacts > 100,
        "the cloth is meant to meet the ball: {impacts}"
    );
    assert!(
        100 * holds <= intervals,
        "{holds} holds in {intervals} intervals"
    );
    let state = simulation.state();
    assert!(audit::intersections(state.mesh(), state.positions()).is_empty());
    let cloth = &state.positions()[..17 * 17];
    let (low, high) = cloth.iter().fold((f64::MAX, f64::MIN), |(low, high), p| {
        (low.min(p.y), high.max(p.y))
    });
    assert!(
        high > 0.49 && low < 0.3 && low > 0.0,
        "lies on the ball and hangs down: {low} to {high}"
    );
}
