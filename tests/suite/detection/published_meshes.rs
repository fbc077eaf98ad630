//! Detection on whole published meshes: static crossings and impacts with known truth (tests/data/README.md).

use std::sync::Arc;

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;

use flate2::read::GzDecoder;
use glam::DVec3;
use percale::geometry::{Asked, Collider, Mesh, Mode, Pair, Scope, crossings};
use percale::verify::audit;

use crate::support::data;

fn load(name: &str) -> (Mesh, Vec<DVec3>) {
    let file = percale::io::read(data(name)).unwrap();
    let mesh = Mesh::new(file.positions.len(), file.faces).unwrap();
    (mesh, file.positions)
}

#[test]
fn a_tangled_body_has_as_many_crossings_as_published() {
    let (mesh, x) = load("tangled-body/kick_060_tangled.obj.gz");
    let found = crossings(&mesh, &x, Scope::Everything);
    assert_eq!(found.edge_faces.len(), 629);
    assert_eq!(
        found.faces,
        audit::intersections(&mesh, &x),
        "two implementations"
    );
}

#[test]
fn the_obstacles_of_the_funnel_cross_as_often_as_published_and_the_cloth_does_not() {
    for (name, count) in [("227", 285), ("228", 370)] {
        let (mesh, x) = load(&format!("cloth-funnel/{name}.ply.gz"));
        let found = crossings(&mesh, &x, Scope::Everything);
        let components = mesh.components();
        let by_component = found.by_group(&mesh, &components);
        let cloth = components[0];
        assert!(by_component.keys().all(|pair| !pair.contains(&cloth)));
        assert_eq!(found.edge_faces.len(), count);
        assert_eq!(found.faces, audit::intersections(&mesh, &x));
    }
}

/// Published pairs as sorted vertex numbers of the first and the second feature.
fn published(name: &str, split: usize) -> (BTreeSet<[Vec<u32>; 2]>, usize) {
    let mut text = String::new();
    let file = File::open(data(name)).unwrap();
    GzDecoder::new(file).read_to_string(&mut text).unwrap();
    let mut hits = BTreeSet::new();
    let mut count = 0;
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let vertices: Vec<u32> = fields[..4].iter().map(|f| f.parse().unwrap()).collect();
        count += 1;
        if fields[4] == "1" {
            hits.insert(key(&vertices, split));
        }
    }
    (hits, count)
}

fn key(vertices: &[u32], split: usize) -> [Vec<u32>; 2] {
    let (mut a, mut b) = (vertices[..split].to_vec(), vertices[split..].to_vec());
    a.sort_unstable();
    b.sort_unstable();
    if split == 2 && b < a { [b, a] } else { [a, b] }
}

#[test]
fn exactly_the_published_pairs_of_the_funnel_meet() {
    let ((mesh, x0), (_, x1)) = (
        load("cloth-funnel/227.ply.gz"),
        load("cloth-funnel/228.ply.gz"),
    );
    let (edge_edge, listed) = published("cloth-funnel/pairs_ee.csv.gz", 2);
    assert_eq!((edge_edge.len(), listed), (107, 263));
    let (vertex_face, listed) = published("cloth-funnel/pairs_vf.csv.gz", 1);
    assert_eq!((vertex_face.len(), listed), (27, 92));

    for mode in [Mode::Exact, Mode::Fast] {
        let asked = Asked { mode, margin: None };
        let mut collider = Collider::new(&Arc::new(mesh.clone()));
        let impacts = collider.impacts(collider.motion(&x0, &x1).unwrap(), &asked);
        let of_kind = |split: usize| -> BTreeSet<_> {
            impacts
                .iter()
                .filter(|i| matches!(i.pair, Pair::VertexFace { .. }) == (split == 1))
                .map(|i| key(&i.vertices, split))
                .collect()
        };
        let (found_ee, found_vf) = (of_kind(2), of_kind(1));
        assert!(edge_edge.is_subset(&found_ee) && vertex_face.is_subset(&found_vf));
        if mode == Mode::Exact {
            assert!(impacts.iter().all(|i| i.certain));
            assert_eq!(found_ee, edge_edge);
            assert_eq!(found_vf, vertex_face);
        }
    }
}
