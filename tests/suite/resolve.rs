//! The collision step alone, on hostile candidates: with nothing scripted, a refusal is a bug.

use std::sync::Arc;

use glam::{DVec3, dvec3};
use percale::geometry::{Detector, Mesh};
use percale::resolve::{Resolve, lumped_mass, resolve};
use percale::scene::Shape;
use percale::state::Surfaces;
use percale::verify::{self, audit};
use rayon::prelude::*;

/// Numbers in (−½, ½) from a fixed congruential generator.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    }

    fn point(&mut self) -> DVec3 {
        dvec3(self.next(), self.next(), self.next())
    }
}

/// Layers of small sheets, each rippled by less than their distance.
fn layers(count: u32, random: &mut Random) -> (Arc<Mesh>, Vec<DVec3>) {
    let sheet = Shape::Sheet {
        size: [1.0, 1.0],
        cells: [5, 5],
        centres: 0,
    };
    let sheet = sheet.triangles().unwrap();
    let n = sheet.x.len() as u32;
    let (mut x, mut faces) = (Vec::new(), Vec::new());
    for layer in 0..count {
        let height = 0.01 * f64::from(layer);
        x.extend(sheet.x.iter().map(|p| {
            let ripple = 0.2 * (p.x * 5.0).sin() * (p.z * 4.0).cos();
            dvec3(p.x, ripple + height + 0.002 * random.next(), p.z)
        }));
        faces.extend(sheet.faces.iter().map(|face| face.map(|v| v + layer * n)));
    }
    (Arc::new(Mesh::new(x.len(), faces).unwrap()), x)
}

/// What a resolved candidate took.
struct Thrown {
    kept_share: f64,
    rounds: usize,
}

/// Throws every vertex anywhere, again and again, going on from the result.
fn throw(cases: u32, layer_count: u32, seed: u64) -> Vec<Thrown> {
    let mut random = Random(seed);
    let (mesh, mut x) = layers(layer_count, &mut random);
    let rest = x.clone();
    let inverse_mass: Vec<f64> = lumped_mass(&mesh, &x).iter().map(|m| 1.0 / m).collect();
    let surfaces = Surfaces::uniform(&mesh, rest, 2e-3, 0.3);
    let mut detector = Detector::new(&mesh);
    let mut thrown = Vec::new();
    for case in 0..cases {
        let start =
            verify::start(Arc::clone(&mesh), x.clone(), vec![DVec3::ZERO; x.len()]).unwrap();
        let end: Vec<DVec3> = x.iter().map(|_| random.point()).collect();
        let resolved = resolve(
            &Resolve::default(),
            &start,
            end,
            &inverse_mass,
            &surfaces,
            &mut detector,
        );
        let (accepted, report) = resolved.unwrap_or_else(|error| panic!("case {case}: {error}"));
        assert!(report.rounds <= 30 + 50 + 64, "case {case}: {report:?}");
        thrown.push(Thrown {
            kept_share: report.kept_share.unwrap_or(1.0),
            rounds: report.rounds,
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
        "{} candidates; kept share: median {:.4}, mean {:.4}; most rounds {}",
        shares.len(),
        shares[shares.len() / 2],
        shares.iter().sum::<f64>() / shares.len() as f64,
        thrown.iter().map(|case| case.rounds).max().unwrap_or(0)
    );
}

#[test]
fn hostile_candidates_end_certified() {
    print(&throw(60, 3, 7));
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
