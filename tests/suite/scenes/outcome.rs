//! What small scenes come to at default settings.

use percale::step::{Figures, Simulation};

use crate::support::small;

/// Runs a small scene to its end; its simulation and its reports.
fn run(name: &str) -> (Simulation, Vec<Figures>) {
    let scene = small(name, &[]);
    let mut simulation = scene.build().unwrap();
    let reports = (0..scene.frames).map(|_| simulation.step().unwrap());
    let reports: Vec<Figures> = reports.collect();
    assert!(reports.iter().all(|report| report.intersections == 0));
    (simulation, reports)
}

fn largest_strain(reports: &[Figures]) -> f64 {
    let strains = reports.iter().map(|report| report.largest_strain);
    strains.fold(0.0, f64::max)
}

#[test]
fn a_crushed_cylinder_takes_few_intervals_and_is_not_torn() {
    let (_, reports) = run("crushed-cylinder");
    let intervals: usize = reports.iter().map(|report| report.intervals).sum();
    let per_frame = intervals as f64 / reports.len() as f64;
    let strain = largest_strain(&reports);
    println!("{per_frame:.2} intervals per frame, strain at most {strain:.3}");
    assert!(per_frame <= 4.0, "{per_frame} intervals per frame");
    assert!(strain <= 0.2, "stretched by {strain}");
}

#[test]
fn a_cloth_passes_the_funnel() {
    let (simulation, reports) = run("funnel");
    let state = simulation.state();
    let cloth = &state.mesh().bodies()[0].vertices;
    let x = &state.positions()[cloth.start as usize..cloth.end as usize];
    let highest = x.iter().map(|p| p.y).fold(f64::MIN, f64::max);
    let retries: usize = reports.iter().map(|report| report.retries).sum();
    let strain = largest_strain(&reports);
    println!("highest vertex at {highest:.3} m, {retries} retries, strain at most {strain:.3}");
    assert!(highest < 0.6, "the outlet is at 0.6 m: {highest}");
    assert_eq!(retries, 0);
}

/// Median and largest speed of the cloth, m/s.
fn speeds(simulation: &Simulation) -> [f64; 2] {
    let state = simulation.state();
    let cloth = &state.mesh().bodies()[0].vertices;
    let v = &state.velocities()[cloth.start as usize..cloth.end as usize];
    let mut speeds: Vec<f64> = v.iter().map(|v| v.length()).collect();
    speeds.sort_by(f64::total_cmp);
    [speeds[speeds.len() / 2], speeds[speeds.len() - 1]]
}

#[test]
fn a_cloth_on_pillars_swings_out_and_rests() {
    let mut simulation = small("pillars", &[]).build().unwrap();
    // its free sides swing: slower and slower, and nothing keeps trembling
    let [after_2s, after_5s, after_8s] = [120, 180, 180].map(|frames| {
        for _ in 0..frames {
            assert_eq!(simulation.step().unwrap().intersections, 0);
        }
        speeds(&simulation)
    });
    println!("median and largest, m/s: {after_2s:?}, {after_5s:?}, {after_8s:?}");
    assert!(after_5s[0] < after_2s[0] && after_8s[0] < after_5s[0]);
    assert!(after_5s[0] < 1e-3, "{after_5s:?}");
}
