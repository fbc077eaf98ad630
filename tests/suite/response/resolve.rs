//! The collision step alone, on hostile candidates: with nothing scripted, a refusal is a bug.

use std::sync::Arc;

use glam::{DVec3, dvec3};
use percale::resolve::{lumped_mass, resolve};
use percale::verify::{self, audit};
use percale::{Collider, Mesh, Settings, Surfaces};
use rayon::prelude::*;

use crate::random::Random;
use crate::support::squares;

/// Layers of small sheets, each rippled by less than their distance.
fn layers(count: u32, random: &mut Random) -> (Arc<Mesh>, Vec<DVec3>) {
    let (mesh, mut x) = squares(5, count);
    for (v, p) in x.iter_mut().enumerate() {
        let height = 0.01 * (v / 36) as f64;
        let ripple = 0.2 * (p.x * 5.0).sin() * (p.z * 4.0).cos();
        p.y = ripple + height + 0.002 * random.centred();
    }
    (mesh, x)
}

/// What a resolved candidate took.
struct Thrown {
    kept_share: f64,
    rounds: usize,
    /// For each pair of the mesh.
    queries: f64,
}

/// Rounds of impulses, rigid zones and hold: all that the stages are given.
const MAX_ROUNDS: usize = 30 + 50 + 64;

/// Pairs of features without a common vertex: every face with all vertices but its own, every two edges but those that meet.
fn pair_count(mesh: &Mesh) -> u64 {
    let two = |n: u64| n * n.saturating_sub(1) / 2;
    let mut edges_at = vec![0; mesh.vertex_count()];
    for v in mesh.edges().iter().flatten() {
        edges_at[*v as usize] += 1;
    }
    let vertex_face = mesh.faces().len() * (mesh.vertex_count() - 3);
    let edge_edge = two(mesh.edges().len() as u64) - edges_at.into_iter().map(two).sum::<u64>();
    vertex_face as u64 + edge_edge
}

/// Throws every vertex anywhere, again and again, going on from the result.
fn throw(cases: u32, layer_count: u32, seed: u64) -> Vec<Thrown> {
    let mut random = Random(seed);
    let (mesh, mut x) = layers(layer_count, &mut random);
    let rest = x.clone();
    let inverse_mass: Vec<f64> = lumped_mass(&mesh, &x).iter().map(|m| 1.0 / m).collect();
    let surfaces = Surfaces::uniform(&mesh, rest, 2e-3, 0.3).unwrap();
    let mut collider = Collider::new(&mesh);
    let pairs = pair_count(&mesh);
    let mut thrown = Vec::new();
    for case in 0..cases {
        let start =
            verify::start(Arc::clone(&mesh), x.clone(), vec![DVec3::ZERO; x.len()]).unwrap();
        let end: Vec<DVec3> = x
            .iter()
            .map(|_| dvec3(random.centred(), random.centred(), random.centred()))
            .collect();
        let resolved = resolve(
            &Settings::default(),
            &start,
            end,
            &inverse_mass,
            &surfaces,
            1.0,
            &mut collider,
        );
        let (accepted, report) = resolved.unwrap_or_else(|error| panic!("case {case}: {error}"));
        assert!(report.rounds <= MAX_ROUNDS, "case {case}: {report:?}");
        // No look at a motion asks about a pair twice, but for those at the candidate and of the certificate: about what the look before left near,
        // and about all pairs of what moved since. Looks are the first of the stages, the one at the candidate, one after each round, and the
        // certificate.
        let looks = report.rounds as u64 + 4;
        assert!(report.queries <= looks * pairs, "case {case}: {report:?}");
        assert!(
            report.queries >= 2 * report.impacts_before as u64,
            "every impact takes a query, of the candidate and of the stages: {report:?}"
        );
        thrown.push(Thrown {
            kept_share: report.kept_share.unwrap_or(1.0),
            rounds: report.rounds,
            queries: report.queries as f64 / pairs as f64,
        });
        x = accepted.positions().to_vec();
        let crossing = audit::intersections(&mesh, &x);
        assert_eq!(crossing, Vec::<[u32; 2]>::new(), "case {case}");
        if case % 50 == 49 {
            eprintln!("{layer_count} layers, seed {seed}: {} certified", case + 1);
        }
    }
    thrown
}

fn print(thrown: &[Thrown]) {
    let mut shares: Vec<f64> = thrown.iter().map(|case| case.kept_share).collect();
    shares.sort_by(f64::total_cmp);
    println!(
        "{} candidates; kept share: median {:.4}, mean {:.4}; most rounds {}, queries for each pair at most {:.2}",
        shares.len(),
        shares[shares.len() / 2],
        shares.iter().sum::<f64>() / shares.len() as f64,
        thrown.iter().map(|case| case.rounds).max().unwrap_or(0),
        thrown.iter().map(|case| case.queries).fold(0.0, f64::max)
    );
}

#[test]
fn hostile_candidates_end_certified() {
    let thrown = throw(60, 3, 7);
    print(&thrown);
    // far below what is derived, and only measured: 3.5 queries for each pair of the mesh at most, times two
    assert!(thrown.iter().all(|case| case.queries < 7.0));
}

#[test]
#[ignore = "a quarter of an hour: ten thousand hostile candidates; run in release"]
fn ten_thousand_hostile_candidates_end_certified() {
    // layers, candidates in a row (each crumples what the one before has left), rows; every pair meets, so layers cost by their square
    let plan = [
        (1, 250, 16),
        (2, 250, 12),
        (3, 250, 8),
        (4, 100, 6),
        (5, 50, 5),
        (6, 50, 3),
    ];
    let rows: Vec<(u32, u32)> = plan
        .iter()
        .flat_map(|&(layers, cases, rows)| (0..rows).map(move |_| (layers, cases)))
        .collect();
    let seeds = rows.into_par_iter().enumerate().with_max_len(1);
    let thrown: Vec<Thrown> = seeds
        .flat_map_iter(|(seed, (layers, cases))| throw(cases, layers, seed as u64))
        .collect();
    assert_eq!(thrown.len(), 10_000);
    print(&thrown);
}
