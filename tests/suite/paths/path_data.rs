//! Intersection analysis of real and of large meshes; those that are not shipped by hand in release (`percale bench paths` measures):
//!
//! ```text
//! PERCALE_DATA=<folder of the public data> cargo test --release --test suite path_data -- --ignored --nocapture
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use glam::DVec3;
use percale::geometry::{Mesh, Scope, crossings};
use percale::io;
use percale::untangle::{Analysis, Inside, PathKind, Rest, analyse};
use robust::Coord3D;

use super::analysis::subdivided;
use super::path_judge::judge;

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
fn a_body_whose_limbs_cut_into_it_is_analysed_completely() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/tangled-body/kick_060_tangled.obj.gz");
    let (mesh, x) = io::read(file).unwrap().into_mesh().unwrap();
    let analysis = analyse(&mesh, &x, Rest::Unknown).unwrap();
    judge("kick 60", &mesh, &x, &analysis);
    assert_eq!(
        analysis.segments.crossings.len(),
        629,
        "as the collection says"
    );
    let counts: Vec<_> = analysis
        .counts()
        .into_iter()
        .map(|(kind, count)| (kind.name(), count))
        .collect();
    assert_eq!(
        counts,
        [("CLOSED", 13), ("EIGHT", 4), ("LL", 7), ("BB/II", 1)]
    );
    assert!(analysis.paths.iter().all(|p| p.inside != Inside::None));
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
        let (inside, on_border) = pierced_faces(&mesh, &x);
        println!("  edges piercing faces: {inside} inside, {on_border} on their border");
        // an edge through the common border of two faces pierces both, and crosses the surface once
        assert_eq!(proper, inside, "{name}");
    }
}

/// Edge-face crossings of the static test: through the inside of the face, and through its border.
fn pierced_faces(mesh: &Mesh, x: &[DVec3]) -> (usize, usize) {
    let all = crossings(mesh, x, Scope::Everything).edge_faces;
    let at = |v: u32| {
        let p = x[v as usize];
        Coord3D {
            x: p.x,
            y: p.y,
            z: p.z,
        }
    };
    let is_inside = |&&[edge, face]: &&[u32; 2]| {
        let [p, q] = mesh.edges()[edge as usize].map(at);
        let [a, b, c] = mesh.faces()[face as usize].map(at);
        [(a, b), (b, c), (c, a)]
            .into_iter()
            .all(|(a, b)| robust::orient3d(p, q, a, b) != 0.0)
    };
    let inside = all.iter().filter(is_inside).count();
    (inside, all.len() - inside)
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
