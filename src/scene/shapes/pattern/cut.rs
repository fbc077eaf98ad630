//! A panel cut out of cloth: triangles of one size inside a closed outline.
//!
//! The outline keeps its points; inside stand the points of a regular triangular grid that are not too near to it, joined by a constrained
//! Delaunay triangulation (the crate `spade`, whose predicates are exact). What is inside is found from the outline's own edges, not
//! by asking where a middle lies, so that flat slivers along a straight edge are never taken for cloth.

use std::collections::HashMap;

use glam::DVec2;
use spade::{ConstrainedDelaunayTriangulation, Point2, Triangulation as _};

/// Points of the grid keep this share of an edge from the outline: nearer, and triangles there get flat.
const FROM_OUTLINE: f64 = 0.6;

/// Triangles inside a closed outline that is passed anticlockwise; its points come first.
pub(super) fn cut(outline: &[DVec2], edge: f64) -> Result<(Vec<DVec2>, Vec<[u32; 3]>), String> {
    let count = outline.len();
    let mut points = outline.to_vec();
    points.extend(grid(outline, edge));
    let mut triangulation = ConstrainedDelaunayTriangulation::<Point2<f64>>::new();
    let mut handles = Vec::with_capacity(points.len());
    for p in &points {
        let handle = triangulation.insert(Point2::new(p.x, p.y));
        handles.push(handle.map_err(|error| format!("a point that is no place: {error:?}"))?);
    }
    let mut numbers: HashMap<usize, u32> = HashMap::new();
    for (k, handle) in handles.iter().enumerate() {
        if numbers.insert(handle.index(), k as u32).is_some() {
            return Err("two corners of its outline are one point".into());
        }
    }
    for k in 0..count {
        let (a, b) = (handles[k], handles[(k + 1) % count]);
        if !triangulation.can_add_constraint(a, b) {
            let p = outline[k];
            return Err(format!(
                "its outline crosses itself near ({:.2}, {:.2})",
                p.x, p.y
            ));
        }
        triangulation.add_constraint(a, b);
    }
    let mut faces: Vec<[u32; 3]> = triangulation
        .inner_faces()
        .map(|face| face.vertices().map(|v| numbers[&v.fix().index()]))
        .collect();
    for face in &mut faces {
        let least = (0..3).min_by_key(|&k| face[k]).expect("three corners");
        face.rotate_left(least);
    }
    faces.sort_unstable();
    Ok((points, inside(faces, count as u32)))
}

/// The faces that lie to the left of the outline 0, 1, ..., `count` − 1.
fn inside(faces: Vec<[u32; 3]>, count: u32) -> Vec<[u32; 3]> {
    let sides = |face: [u32; 3]| [[face[0], face[1]], [face[1], face[2]], [face[2], face[0]]];
    let mut face_of: HashMap<[u32; 2], usize> = HashMap::new();
    for (f, &face) in faces.iter().enumerate() {
        for side in sides(face) {
            face_of.insert(side, f);
        }
    }
    let is_outline =
        |[a, b]: [u32; 2]| a < count && b < count && ((a + 1) % count == b || (b + 1) % count == a);
    let mut is_inside = vec![false; faces.len()];
    let mut open: Vec<usize> = (0..count)
        .filter_map(|k| face_of.get(&[k, (k + 1) % count]).copied())
        .collect();
    while let Some(f) = open.pop() {
        if std::mem::replace(&mut is_inside[f], true) {
            continue;
        }
        let over = sides(faces[f])
            .into_iter()
            .filter(|&side| !is_outline(side));
        open.extend(over.filter_map(|[a, b]| face_of.get(&[b, a]).copied()));
    }
    let faces = faces.into_iter().zip(is_inside);
    faces
        .filter_map(|(face, is_inside)| is_inside.then_some(face))
        .collect()
}

/// Points of a triangular grid inside the outline and not near to it.
fn grid(outline: &[DVec2], edge: f64) -> Vec<DVec2> {
    let low = outline.iter().fold(DVec2::MAX, |low, p| low.min(*p));
    let high = outline.iter().fold(DVec2::MIN, |high, p| high.max(*p));
    let row = 0.75f64.sqrt() * edge;
    let [columns, rows] = [(high.x - low.x) / edge, (high.y - low.y) / row].map(|n| n as u32 + 1);
    let mut points = Vec::new();
    for j in 0..=rows {
        let shift = if j % 2 == 0 { 0.0 } else { 0.5 * edge };
        for i in 0..=columns {
            let p = low + DVec2::new(f64::from(i) * edge + shift, f64::from(j) * row);
            if is_within(outline, p) && distance(outline, p) >= FROM_OUTLINE * edge {
                points.push(p);
            }
        }
    }
    points
}

fn sides(outline: &[DVec2]) -> impl Iterator<Item = [DVec2; 2]> + '_ {
    (0..outline.len()).map(|k| [outline[k], outline[(k + 1) % outline.len()]])
}

/// Whether a ray to the right meets the outline an odd number of times.
fn is_within(outline: &[DVec2], p: DVec2) -> bool {
    let crosses = |[a, b]: [DVec2; 2]| {
        (a.y > p.y) != (b.y > p.y) && p.x < a.x + (p.y - a.y) / (b.y - a.y) * (b.x - a.x)
    };
    sides(outline).filter(|&side| crosses(side)).count() % 2 == 1
}

fn distance(outline: &[DVec2], p: DVec2) -> f64 {
    let to = |[a, b]: [DVec2; 2]| {
        let along = ((p - a).dot(b - a) / (b - a).length_squared()).clamp(0.0, 1.0);
        p.distance(a + along * (b - a))
    };
    sides(outline).map(to).fold(f64::MAX, f64::min)
}
