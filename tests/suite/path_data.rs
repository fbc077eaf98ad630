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
use percale::untangle::{Analysis, Inside, PathKind, Rest, analyse};

use crate::path_judge::judge;
use crate::paths::subdivided;

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
    for path in &analysis.paths {
        if path.inside == Inside::None && path.kind != PathKind::Bi {
            println!(
                "  without inside: {} of {} segments",
                path.kind.name(),
                path.segments.len()
            );
        }
    }
    for (kind, (count, segments)) in kinds {
        println!("  {kind:<7} {count:>6} with {segments} segments");
    }
}

#[test]
#[ignore = "needs the public data, PERCALE_DATA"]
fn real_tangles_are_analysed_completely() {
    for (name, crossings) in [
        ("dynamic-scenes/cloth-ball/cloth_ball92.ply.gz", 62_655),
        ("dynamic-scenes/cloth-ball/cloth_ball93.ply.gz", 98_728),
        ("tangled/body/kick_040_tangled.obj.gz", 656),
        ("tangled/body/kick_048_tangled.obj.gz", 765),
        ("tangled/body/kick_060_tangled.obj.gz", 629),
        ("tangled/gia/better_cloth.obj.gz", 124),
        ("garment-mannequin/dress_draped_crossing.obj.gz", 528),
    ] {
        let (mesh, x) = io::read(data(name)).unwrap().into_mesh().unwrap();
        let start = Instant::now();
        let analysis = analyse(&mesh, &x, Rest::Unknown).unwrap();
        print_summary(name, &mesh, &analysis, start.elapsed().as_secs_f64());
        judge(name, &mesh, &x, &analysis);
        let proper = analysis
            .segments
            .locations
            .iter()
            .filter(|l| !l.is_touch)
            .count();
        println!("  {proper} proper crossings, {crossings} in the collection's README");
    }
}

#[test]
#[ignore = "needs the public data, PERCALE_DATA"]
fn canonical_tangles_are_what_their_readme_says() {
    for (name, kind, crossings) in [
        ("BLI", "BLI", 1),
        ("BIBI", "BI/BI", 2),
        ("Closed", "CLOSED", 3),
        ("Eight", "EIGHT", 2),
    ] {
        let file = io::read(data(&format!("tangled/canonical/unit_{name}.obj"))).unwrap();
        let (mut faces, mut x) = (file.faces, file.positions);
        for level in 0..5 {
            let mesh = Mesh::new(x.len(), faces.clone()).unwrap();
            let label = format!("{name}, {level} times subdivided");
            let analysis = analyse(&mesh, &x, Rest::Unknown).unwrap();
            judge(&label, &mesh, &x, &analysis);
            print_summary(&label, &mesh, &analysis, 0.0);
            let kinds: Vec<&str> = analysis.contours.iter().map(|c| c.kind.name()).collect();
            assert_eq!(kinds, [kind], "{label}");
            assert!(
                level > 0 || analysis.segments.crossings.len() == crossings,
                "{label}"
            );
            (x, faces) = subdivided(&x, &mesh);
        }
    }
}
