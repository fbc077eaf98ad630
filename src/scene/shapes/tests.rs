//! Shapes are closed or open as they should be, of the right size, and made of well-shaped triangles.

use std::collections::BTreeMap;
use std::f64::consts::PI;

use super::*;
use crate::geometry::Mesh;
use crate::verify::audit;

/// From TOML, as scenes write them.
fn shape(text: &str) -> Shape {
    toml::from_str(&text.replace(", ", "\n").replace(" ;", ",")).unwrap()
}

fn triangles(text: &str) -> Triangles {
    shape(text).triangles().unwrap()
}

fn normals(shape: &Triangles) -> impl Iterator<Item = (DVec3, DVec3)> + '_ {
    shape.faces.iter().map(|face| {
        let [a, b, c] = face.map(|v| shape.x[v as usize]);
        ((a + b + c) / 3.0, 0.5 * (b - a).cross(c - a))
    })
}

fn area(shape: &Triangles) -> f64 {
    normals(shape).map(|(_, n)| n.length()).sum()
}

fn volume(shape: &Triangles) -> f64 {
    normals(shape).map(|(p, n)| p.dot(n) / 3.0).sum()
}

/// Smallest angle of all triangles, in degrees.
fn smallest_angle(shape: &Triangles) -> f64 {
    let angles = shape.faces.iter().flat_map(|face| {
        let x = face.map(|v| shape.x[v as usize]);
        (0..3).map(move |k| {
            let (a, b) = (x[(k + 1) % 3] - x[k], x[(k + 2) % 3] - x[k]);
            a.angle_between(b).to_degrees()
        })
    });
    angles.fold(f64::MAX, f64::min)
}

/// Boundary edges; every edge has at most two faces, which run along it in opposite directions.
fn boundary(shape: &Triangles) -> usize {
    let mut sides: BTreeMap<[u32; 2], Vec<bool>> = BTreeMap::new();
    for face in &shape.faces {
        for k in 0..3 {
            let (a, b) = (face[k], face[(k + 1) % 3]);
            sides.entry([a.min(b), a.max(b)]).or_default().push(a < b);
        }
    }
    for (edge, ways) in &sides {
        assert!(ways.len() <= 2, "edge {edge:?} has {} faces", ways.len());
        assert!(
            ways.len() == 1 || ways[0] != ways[1],
            "edge {edge:?} is folded"
        );
    }
    sides.values().filter(|ways| ways.len() == 1).count()
}

/// A table: text, closed volume or open area, smallest angle that its triangles keep, boundary edges.
#[test]
fn every_shape_is_whole_well_shaped_and_of_its_size() {
    let cone_side = |r: f64, h: f64| PI * r * (r * r + h * h).sqrt();
    let cases = [
        (
            "kind = 'sheet', size = [2.0 ;3.0], cells = [4 ;6]",
            None,
            6.0,
            44.0,
            20,
        ),
        (
            "kind = 'sheet', size = [1.0 ;1.0], cells = [9 ;9], centres = 17",
            None,
            1.0,
            44.0,
            36,
        ),
        (
            "kind = 'tube', radius = 0.5, height = 2.0, cells = [64 ;40]",
            None,
            2.0 * PI,
            40.0,
            128,
        ),
        (
            "kind = 'tube', radius = 0.5, height = 2.0, cells = [64 ;40], centres = 5",
            None,
            2.0 * PI,
            40.0,
            128,
        ),
        (
            "kind = 'disc', radius = 2.0, rings = 16",
            None,
            4.0 * PI,
            35.0,
            96,
        ),
        (
            "kind = 'skirt', waist = 0.3, hem = 0.9, height = 0.8, cells = [96 ;17]",
            None,
            cone_side(0.9, 1.2) - cone_side(0.3, 0.4),
            25.0,
            96 + 32,
        ),
        ("kind = 'plane', size = [2.0 ;3.0]", None, 6.0, 30.0, 4),
        (
            "kind = 'funnel', mouth = 1.0, outlet = 0.2, height = 0.8, chute = 0.5, segments = 96",
            None,
            cone_side(1.0, 1.0) - cone_side(0.2, 0.2) + 0.2 * PI,
            25.0,
            96 + 19,
        ),
        (
            "kind = 'trough', radius = 0.5, length = 2.0, cells = [32 ;40]",
            None,
            PI,
            40.0,
            2 * 72,
        ),
        (
            "kind = 'crevice', width = 0.1, depth = 0.4, length = 1.0, shoulder = 0.5, rows = 4",
            None,
            1.0 + 0.8 + 0.1,
            10.0,
            2 * (5 + 4),
        ),
        (
            "kind = 'sphere', radius = 2.0, subdivisions = 4",
            Some(32.0 / 3.0 * PI),
            0.0,
            40.0,
            0,
        ),
        (
            "kind = 'box', size = [1.0 ;2.0 ;3.0]",
            Some(6.0),
            0.0,
            18.0,
            0,
        ),
        (
            "kind = 'box', size = [1.0 ;2.0 ;3.0], cells = [2 ;4 ;6]",
            Some(6.0),
            0.0,
            44.0,
            0,
        ),
        (
            "kind = 'cylinder', radius = 0.5, height = 2.0",
            Some(0.5 * PI),
            0.0,
            25.0,
            0,
        ),
        (
            "kind = 'cone', radius = 0.5, height = 1.5",
            Some(0.125 * PI),
            0.0,
            25.0,
            0,
        ),
        (
            "kind = 'needle', radius = 0.01, height = 1.0",
            Some(PI / 3e4),
            0.0,
            0.4,
            0,
        ),
        (
            "kind = 'wire', radius = 0.01, length = 1.0, rows = 50",
            Some(PI / 1e4),
            0.0,
            15.0,
            0,
        ),
        (
            "kind = 'prism', radius = 1.0, height = 2.0",
            Some(1.5 * 3f64.sqrt()),
            0.0,
            25.0,
            0,
        ),
        (
            "kind = 'prism', radius = 1.0, height = 2.0, sides = 6",
            Some(3.0 * 3f64.sqrt()),
            0.0,
            25.0,
            0,
        ),
    ];
    for (text, expected_volume, expected_area, angle, boundary_edges) in cases {
        let shape = triangles(text);
        assert_eq!(boundary(&shape), boundary_edges, "{text}");
        assert!(
            smallest_angle(&shape) > angle,
            "{text}: {}",
            smallest_angle(&shape)
        );
        // polyhedra lie inside the round shapes that they stand for: eight segments miss a tenth
        let share = match expected_volume {
            Some(expected) => volume(&shape) / expected,
            None => area(&shape) / expected_area,
        };
        let coarse = text.contains("needle") || text.contains("wire");
        let least = if coarse { 0.9 } else { 0.99 };
        assert!(share > least && share < 1.0 + 1e-12, "{text}: {share}");
        let mesh = Mesh::new(shape.x.len(), shape.faces.clone()).unwrap();
        assert!(audit::intersections(&mesh, &shape.x).is_empty(), "{text}");
    }
}

#[test]
fn open_shapes_face_the_side_that_cloth_lies_on() {
    let up = |text: &str| {
        let shape = triangles(text);
        assert!(normals(&shape).all(|(_, n)| n.y > -1e-12), "{text}");
        assert!(normals(&shape).any(|(_, n)| n.y > 0.0), "{text}");
    };
    up("kind = 'sheet', size = [2.0 ;3.0], cells = [4 ;6], centres = 7");
    up("kind = 'disc', radius = 2.0, rings = 6");
    up("kind = 'trough', radius = 0.5, length = 2.0, cells = [32 ;40]");
    up("kind = 'crevice', width = 0.1, depth = 0.4, length = 1.0, shoulder = 0.5");
    up("kind = 'funnel', mouth = 1.0, outlet = 0.2, height = 0.8, chute = 0.5");
    let radial = |text: &str, sign: f64| {
        let shape = triangles(text);
        let out = |(p, n): (DVec3, DVec3)| sign * (p.x * n.x + p.z * n.z) > 0.0;
        assert!(normals(&shape).all(out), "{text}");
    };
    radial(
        "kind = 'tube', radius = 0.5, height = 2.0, cells = [9 ;3]",
        1.0,
    );
    radial(
        "kind = 'skirt', waist = 0.3, hem = 0.9, height = 0.8, cells = [96 ;17]",
        1.0,
    );
    radial(
        "kind = 'funnel', mouth = 1.0, outlet = 0.2, height = 0.8, chute = 0.5",
        -1.0,
    );
}

#[test]
fn meshes_of_the_papers_have_their_vertex_counts() {
    for (text, degrees_of_freedom) in [
        (
            "kind = 'sheet', size = [1.0 ;1.0], cells = [73 ;73], centres = 47",
            16_569,
        ),
        (
            "kind = 'sheet', size = [1.0 ;1.0], cells = [49 ;49], centres = 65",
            7_695,
        ),
        (
            "kind = 'sheet', size = [1.0 ;1.0], cells = [11 ;205]",
            7_416,
        ),
        (
            "kind = 'tube', radius = 1.0, height = 1.0, cells = [24 ;42], centres = 1",
            3_099,
        ),
    ] {
        assert_eq!(3 * triangles(text).x.len(), degrees_of_freedom, "{text}");
    }
    assert_eq!(
        triangles("kind = 'sphere', radius = 1.0, subdivisions = 4")
            .x
            .len(),
        2562
    );
}

#[test]
fn apexes_tips_and_corners_are_vertices_where_they_are_said_to_be() {
    for (text, place) in [
        (
            "kind = 'cone', radius = 0.5, height = 1.5",
            [0.0, 0.75, 0.0],
        ),
        (
            "kind = 'needle', radius = 0.01, height = 0.5",
            [0.0, 0.25, 0.0],
        ),
        (
            "kind = 'prism', radius = 0.5, height = 0.5",
            [0.5, 0.25, 0.0],
        ),
        ("kind = 'box', size = [1.0 ;2.0 ;3.0]", [0.5, 1.0, -1.5]),
        (
            "kind = 'cylinder', radius = 0.5, height = 2.0",
            [0.0, 1.0, -0.5],
        ),
        (
            "kind = 'wire', radius = 0.01, length = 1.0",
            [0.0, 0.01, 0.5],
        ),
    ] {
        let place = DVec3::from(place);
        assert!(
            triangles(text).x.contains(&place),
            "{text}: no vertex at {place}"
        );
    }
}

#[test]
fn impossible_parameters_are_refused_by_name() {
    for (text, key) in [
        ("kind = 'sheet', size = [1.0 ;0.0], cells = [1 ;1]", "size"),
        ("kind = 'sheet', size = [1.0 ;1.0], cells = [0 ;1]", "cells"),
        (
            "kind = 'sheet', size = [1.0 ;1.0], cells = [9999 ;9999]",
            "cells",
        ),
        (
            "kind = 'sheet', size = [1.0 ;1.0], cells = [2 ;2], centres = 5",
            "centres",
        ),
        (
            "kind = 'tube', radius = 1.0, height = 1.0, cells = [2 ;2]",
            "cells",
        ),
        ("kind = 'disc', radius = 1.0, rings = 0", "rings"),
        (
            "kind = 'skirt', waist = 1.0, hem = 0.5, height = 1.0, cells = [9 ;9]",
            "waist",
        ),
        ("kind = 'sphere', radius = nan, subdivisions = 1", "radius"),
        (
            "kind = 'sphere', radius = 1.0, subdivisions = 11",
            "subdivisions",
        ),
        ("kind = 'box', size = [1.0 ;-1.0 ;1.0]", "size"),
        ("kind = 'cylinder', radius = 1.0, height = inf", "height"),
        (
            "kind = 'cone', radius = 1.0, height = 1.0, segments = 2",
            "segments",
        ),
        (
            "kind = 'prism', radius = 1.0, height = 1.0, sides = 2",
            "sides",
        ),
        (
            "kind = 'funnel', mouth = 0.1, outlet = 0.2, height = 0.8, chute = 0.5",
            "outlet",
        ),
        (
            "kind = 'funnel', mouth = 1.0, outlet = 0.2, height = 0.8, chute = -0.5",
            "chute",
        ),
        (
            "kind = 'crevice', width = 0.1, depth = 0.4, length = 1.0, shoulder = 0.5, rows = 0",
            "rows",
        ),
    ] {
        let message = shape(text).triangles().unwrap_err();
        assert!(message.starts_with(key), "{text}: {message}");
    }
}
