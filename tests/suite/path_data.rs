//! Intersection analysis of real and of large meshes; by hand, in release:
//!
//! ```text
//! PERCALE_DATA=<folder of the public data> cargo test --release --test suite path_data -- --ignored --nocapture
//! ```

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use percale::geometry::Mesh;
use percale::io;
use percale::untangle::{Analysis, Inside, Rest, analyse};

use crate::path_judge::judge;

fn data(name: &str) -> PathBuf {
    let folder =
        std::env::var_os("PERCALE_DATA").expect("PERCALE_DATA names the folder of the public data");
    PathBuf::from(folder).join(name)
}

fn print_summary(name: &str, mesh: &Mesh, analysis: &Analysis, seconds: f64) {
    let mut kinds: BTreeMap<_, (usize, usize)> = BTreeMap::new();
    for contour in &analysis.contours {
        let entry = kinds.entry(contour.kind).or_default();
        entry.0 += 1;
        entry.1 += contour.segment_count;
    }
    let inside: usize = analysis
        .paths
        .iter()
        .map(|p| p.inside.vertices().len())
        .sum();
    let none = analysis
        .paths
        .iter()
        .filter(|p| p.inside == Inside::None)
        .count();
    let touches = analysis
        .segments
        .locations
        .iter()
        .filter(|l| l.is_touch)
        .count();
    println!(
        "{name}: {} triangles, {} crossings ({touches} touches), {} segments, {} contours, {} paths, {inside} inside vertices, {none} paths without inside, {seconds:.3} s",
        mesh.faces().len(),
        analysis.segments.crossings.len(),
        analysis.segments.segments.len(),
        analysis.contours.len(),
        analysis.paths.len(),
    );
    for (kind, (count, segments)) in kinds {
        println!("  {kind:<7} {count:>6} with {segments} segments");
    }
}

#[test]
#[ignore = "needs the public data, PERCALE_DATA"]
fn cloth_ball_is_analysed_completely() {
    let file = io::read(data("dynamic-scenes/cloth-ball/cloth_ball92.ply.gz")).unwrap();
    let (mesh, x) = file.into_mesh().unwrap();
    let start = Instant::now();
    let analysis = analyse(&mesh, &x, Rest::Unknown).unwrap();
    print_summary(
        "cloth-ball 92",
        &mesh,
        &analysis,
        start.elapsed().as_secs_f64(),
    );
    judge("cloth-ball 92", &mesh, &x, &analysis);
}
