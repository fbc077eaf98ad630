//! How much of its motion a swinging sheet keeps.

use crate::support::scene;

/// A sheet that falls from level and swings below the edge it hangs from, without air.
const SWING: &str = r#"
frames = 300
fps = 60
thickness = 1e-3
[[cloth]]
name = "sheet"
shape = { kind = "sheet", size = [0.5, 0.5], cells = [12, 12] }
[[cloth.pin]]
region = { kind = "edge", towards = "-x" }
"#;

/// Energy above that of hanging still and unstretched, as a share of that at the start, after each second.
fn kept(keys: &[(&str, &str)]) -> Vec<f64> {
    let mut simulation = scene(SWING, keys).build().unwrap();
    let start = simulation.energy();
    let mut energies = vec![start];
    for _ in 0..300 {
        assert_eq!(simulation.step().unwrap().intersections, 0);
        energies.push(simulation.energy());
    }
    let total = |e: &percale::dynamics::Energy| e.kinetic + e.elastic + e.gravity;
    let hanging = -0.25 * simulation.mass().iter().sum::<f64>() * 9.81;
    let height = total(&start) - hanging;
    (1..=5)
        .map(|second| (total(&energies[60 * second]) - hanging) / height)
        .collect()
}

#[test]
fn a_swinging_sheet_loses_at_most_half_more_than_by_newmark() {
    let newmark = kept(&[("dynamics.integrator", "{ kind = \"newmark\" }")]);
    let implicit = kept(&[]);
    let short = kept(&[(
        "dynamics.integrator",
        "{ kind = \"implicit\", max_loop = 2.5e-4 }",
    )]);
    println!("newmark {newmark:.3?}\nimplicit {implicit:.3?}\nloops of a quarter {short:.3?}");
    let lost = |kept: &[f64]| 1.0 - kept[4];
    assert!(lost(&implicit) <= 1.5 * lost(&newmark));
}
