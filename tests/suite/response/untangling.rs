//! Tangles in running scenes: cured, and kept clean from then on.

use percale::scene::tangles::TYPES;
use percale::scene::{Scene, SceneError};
use percale::{Figures, Simulation};

use crate::support::{scene, small};

/// Runs some frames; what is not listed never crosses.
fn frames(simulation: &mut Simulation, count: u64) -> Vec<Figures> {
    let step = |_| {
        let report = simulation.step().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(report.intersections, 0, "frame {}", report.frame);
        assert_eq!(report.crossings, simulation.state().crossing().len());
        report
    };
    (0..count).map(step).collect()
}

/// The last frame with something tangled; after it nothing is.
fn last_tangled(reports: &[Figures]) -> u64 {
    let tangled = reports.iter().rfind(|report| report.crossings > 0);
    let last = tangled.map_or(0, |report| report.frame);
    assert!(last < reports.last().unwrap().frame, "tangled to the end");
    last
}

fn bits(simulation: &Simulation) -> Vec<[u64; 3]> {
    let x = simulation.state().positions().iter();
    x.map(|x| x.to_array().map(f64::to_bits)).collect()
}

#[test]
fn every_type_of_path_is_cured_while_it_runs_and_stays_clean() {
    for name in TYPES {
        let mut simulation = small(&format!("tangles/{name}"), &[]).build().unwrap();
        assert!(!simulation.state().tangles().is_empty(), "{name}");
        let reports = frames(&mut simulation, 40);
        let last = last_tangled(&reports);
        let first = &reports[0];
        println!(
            "{name}: {} crossings after the first frame, the last in frame {last}",
            first.crossings
        );
        assert!(simulation.state().tangles().is_empty(), "{name}");
        // from then on there is nothing to analyse
        let after = &reports[last as usize + 1..];
        assert!(
            after.iter().all(|report| report.phases.analyse_ms == 0.0),
            "{name}"
        );
        assert!(
            reports.iter().all(|report| report.largest_strain < 0.2),
            "{name}"
        );
    }
}

#[test]
fn newmark_cures_as_well() {
    let changes = [("dynamics.integrator", "{ kind = \"newmark\" }")];
    let mut simulation = small("tangles/ll", &changes).build().unwrap();
    last_tangled(&frames(&mut simulation, 30));
}

#[test]
fn a_tangled_start_is_refused_by_name_unless_the_scene_asks_for_a_cure() {
    let refused = small("tangles/closed", &[("start", "refuse")]).build();
    let Err(SceneError::Tangled(start)) = refused else {
        panic!("accepted");
    };
    let message = start.to_string();
    for words in ["start = \"untangle\"", "percale untangle", "of 'sheet'"] {
        assert!(message.contains(words), "{message}");
    }
    let wrong = Scene::load("tangles/closed").unwrap().set("start", "cure");
    assert!(wrong.unwrap_err().to_string().contains("untangle"));
    // what is clean runs to the same bits either way
    let [refusing, untangling] = ["refuse", "untangle"].map(|start| {
        let mut simulation = small("drop", &[("start", start)]).build().unwrap();
        frames(&mut simulation, 3);
        bits(&simulation)
    });
    assert_eq!(refusing, untangling);
}

#[test]
fn a_cure_goes_on_from_a_checkpoint_to_the_same_bits_for_any_number_of_threads() {
    let scene = small("tangles/bb-ii", &[]);
    let mut simulation = scene.build().unwrap();
    frames(&mut simulation, 3);
    let checkpoint = simulation.checkpoint();
    assert!(!checkpoint.tangles.is_empty(), "in the middle of it");
    let reports = frames(&mut simulation, 15);
    assert_eq!(reports.last().unwrap().crossings, 0);
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(|| {
            let mut resumed = scene.build().unwrap();
            resumed.restore(checkpoint.clone()).unwrap();
            let again = frames(&mut resumed, 15);
            assert_eq!(bits(&resumed), bits(&simulation), "{threads} threads");
            let counts = |reports: &[Figures]| -> Vec<[usize; 3]> {
                let each = reports.iter();
                each.map(|r| [r.tangles, r.crossings, r.edge_face])
                    .collect()
            };
            assert_eq!(counts(&again), counts(&reports));
        });
    }
    // a list of another time is none of this state
    let mut stale = checkpoint.clone();
    stale.tangles = scene.build().unwrap().checkpoint().tangles;
    assert!(simulation.restore(stale).is_err());
    let mut without = checkpoint;
    without.tangles.clear();
    assert!(simulation.restore(without).is_err());
    assert_eq!(simulation.frame(), 18, "unchanged");
}

#[test]
fn cloth_that_starts_in_a_ball_gets_out_against_its_weight() {
    let text = r#"
frames = 40
thickness = 2e-3
start = "untangle"
[[cloth]]
name = "sheet"
shape = { kind = "sheet", size = [0.4, 0.4], cells = [16, 16] }
position = [0.003, 0.08, 0.002]
[[obstacle]]
name = "ball"
shape = { kind = "sphere", radius = 0.1, subdivisions = 3 }
rotation = [3, 5, 7]
"#;
    let mut simulation = scene(text, &[]).build().unwrap();
    let reports = frames(&mut simulation, 40);
    println!("out after frame {}", last_tangled(&reports));
    let radius = |x: &percale::DVec3| x.length();
    let sheet = &simulation.state().positions()[..17 * 17];
    assert!(sheet.iter().map(radius).fold(f64::INFINITY, f64::min) > 0.095);
}
