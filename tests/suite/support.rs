//! What tests are made of: scenes with changes, sheets, two triangles, files of `tests/data`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use glam::{DVec3, dvec3};
use percale::Mesh;
use percale::scene::shapes::{Shape, Sheet};
use percale::scene::{Scene, SceneError, Variant};

fn changed(scene: Result<Scene, SceneError>, changes: &[(&str, &str)]) -> Scene {
    scene
        .and_then(|scene| scene.set_all(changes.iter().copied()))
        .unwrap_or_else(|error| panic!("{error}"))
}

/// A scene from its text, with some keys changed.
pub(crate) fn scene(text: &str, changes: &[(&str, &str)]) -> Scene {
    changed(Scene::from_text(text, "test.toml"), changes)
}

/// A scene by its name or path, with some keys changed.
pub(crate) fn full(name: &str, changes: &[(&str, &str)]) -> Scene {
    changed(Scene::load(name), changes)
}

/// The small variant of a scene, with some keys changed.
pub(crate) fn small(name: &str, changes: &[(&str, &str)]) -> Scene {
    changed(Scene::load_variant(name, Variant::Small), changes)
}

/// Faces and positions of a square metre in the x-z plane, centred at the origin.
pub(crate) fn square(cells: u32) -> (Vec<[u32; 3]>, Vec<DVec3>) {
    let shape = Shape::Sheet(Sheet {
        size: [1.0, 1.0],
        cells: [cells, cells],
        centres: 0,
    });
    let triangles = shape.triangles().unwrap();
    (triangles.faces, triangles.x)
}

/// So many of them in the same place, one after the other.
pub(crate) fn squares(cells: u32, count: u32) -> (Arc<Mesh>, Vec<DVec3>) {
    let (one, x) = square(cells);
    let n = x.len() as u32;
    let moved = (0..count).flat_map(|k| one.iter().map(move |face| face.map(|v| v + k * n)));
    let x = x.repeat(count as usize);
    (Arc::new(Mesh::new(x.len(), moved.collect()).unwrap()), x)
}

/// A triangle in the plane y = 0, vertices 0 to 2, and a small one above the middle of it, at that height.
pub(crate) fn two_triangles(height: f64) -> (Arc<Mesh>, Vec<DVec3>) {
    let mesh = Mesh::new(6, vec![[0, 1, 2], [3, 4, 5]]).unwrap();
    let x = vec![
        dvec3(-2.0, 0.0, -2.0),
        dvec3(2.0, 0.0, -2.0),
        dvec3(0.0, 0.0, 3.0),
        dvec3(-0.2, height, 0.0),
        dvec3(0.2, height, 0.0),
        dvec3(0.0, height, 0.3),
    ];
    (Arc::new(mesh), x)
}

/// Those two with the upper one moved.
pub(crate) fn upper_moved(x: &[DVec3], by: DVec3) -> Vec<DVec3> {
    let mut x = x.to_vec();
    x[3..].iter_mut().for_each(|p| *p += by);
    x
}

/// A file of `tests/data`.
pub(crate) fn data(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    folder.join(name)
}
