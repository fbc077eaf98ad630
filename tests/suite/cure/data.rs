//! Published tangles.

use std::path::Path;
use std::sync::Arc;

use glam::DVec3;
use percale::geometry::Mesh;
use percale::io;
use percale::untangle::Rest;

use super::laws::{assert_clean, cured};

fn read(name: &str) -> (Arc<Mesh>, Vec<DVec3>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name);
    io::read(path).unwrap().into_mesh().unwrap()
}

/// A body whose limbs cut into its torso, 629 edge-face crossings; its repaired twin has 496.
#[test]
fn a_tangled_body_is_cured_below_its_twin_and_hardly_moves() {
    let (mesh, x) = read("tangled-body/kick_060_tangled.obj.gz");
    let result = cured(&mesh, &x, Rest::Unknown);
    assert_eq!(result.report.edge_face_before, 629);
    assert_clean("kick_060", &mesh, &result);
    assert!(
        result.report.max_displacement < 0.02,
        "{}",
        result.report.max_displacement
    );
    assert!(result.report.moved < x.len() / 2);
}
