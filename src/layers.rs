//! The order of layers: of two cloths in contact the one of the higher layer lies outside.
//!
//! A start without intersections stays so, and what cannot pass through cannot change places: a
//! layer orders nothing, it is a claim about the scene. Here it is checked.

use std::collections::BTreeMap;
use std::fmt;

use glam::DVec3;

use crate::geometry::{BodyKind, Mesh, Pair, Proximity};
use crate::state::Surfaces;

/// Two cloths of which the one of the higher layer lies inside somewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutOfOrder {
    /// The cloth of the lower layer, then that of the higher one.
    pub names: [String; 2],
    /// Their layers.
    pub layers: [i32; 2],
    /// Vertices near a face of the other cloth, on its wrong side.
    pub places: usize,
}

impl fmt::Display for OutOfOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([low, high], [lower, higher]) = (&self.names, self.layers);
        write!(
            f,
            "'{high}' (layer {higher}) lies inside '{low}' (layer {lower}) in {} places, and collisions keep it there; \
             swap the layers, or turn the faces of what faces inward",
            self.places
        )
    }
}

/// Whether there are cloths of different layers at all.
pub(crate) fn differ(mesh: &Mesh, surfaces: &Surfaces) -> bool {
    let bodies = mesh.bodies().iter().zip(surfaces.layers());
    let mut layers =
        bodies.filter_map(|(body, layer)| (body.kind == BodyKind::Cloth).then_some(layer));
    let first = layers.next();
    layers.any(|layer| Some(layer) != first)
}

/// The cloths that lie the wrong way round where they are near, by number of the lower, then of the
/// higher one.
///
/// Looked at are vertices near faces; two edges have no side, nor has what lies beyond the border
/// of a cloth.
pub(crate) fn out_of_order(
    mesh: &Mesh,
    x: &[DVec3],
    surfaces: &Surfaces,
    near: &[Proximity],
) -> Vec<OutOfOrder> {
    if !differ(mesh, surfaces) {
        return Vec::new();
    }
    let is_cloth = |body: u32| mesh.bodies()[body as usize].kind == BodyKind::Cloth;
    let layer = |body: u32| surfaces.layers()[body as usize];
    let mut places: BTreeMap<[u32; 2], usize> = BTreeMap::new();
    for proximity in near {
        let Pair::VertexFace { vertex, face } = proximity.pair else {
            continue;
        };
        let (vertex, face) = (mesh.body_of_vertex(vertex), mesh.body_of_face(face));
        if !is_cloth(vertex) || !is_cloth(face) || layer(vertex) == layer(face) {
            continue;
        }
        let outward = outward(mesh, x, proximity).dot(proximity.normal);
        let (is_wrong, cloths) = if layer(vertex) > layer(face) {
            (outward < 0.0, [face, vertex])
        } else {
            (outward > 0.0, [vertex, face])
        };
        if is_wrong {
            *places.entry(cloths).or_default() += 1;
        }
    }
    let describe = |(cloths, places): ([u32; 2], usize)| OutOfOrder {
        names: cloths.map(|body| mesh.bodies()[body as usize].name.clone()),
        layers: cloths.map(layer),
        places,
    };
    places.into_iter().map(describe).collect()
}

/// A direction on the outer side of a face where a vertex is nearest to it; 0 at a border.
///
/// Inside the face its normal; on an edge or a corner the sum of the unit normals around: what is
/// nearest to a fold lies between the normals of its faces, so within a right angle of their sum,
/// but may lie behind one of them. At a corner of many faces that is the rule, not a theorem.
fn outward(mesh: &Mesh, x: &[DVec3], proximity: &Proximity) -> DVec3 {
    let corners = proximity.vertices.iter().zip(proximity.weights).skip(1);
    let touched: Vec<u32> = corners
        .filter_map(|(&v, w)| (w != 0.0).then_some(v))
        .collect();
    let has_all = |feature: &[u32]| touched.iter().all(|v| feature.contains(v));
    let mut edges = mesh.edges_of_vertex(touched[0]).iter();
    if edges.any(|&edge| mesh.is_boundary(edge) && has_all(&mesh.edges()[edge as usize])) {
        return DVec3::ZERO;
    }
    let faces = mesh.faces_of_vertex(touched[0]).iter();
    let faces = faces.map(|&face| mesh.faces()[face as usize]);
    let normal = |face: [u32; 3]| {
        let [a, b, c] = face.map(|v| x[v as usize]);
        (b - a).cross(c - a).normalize_or_zero()
    };
    faces.filter(|face| has_all(face)).map(normal).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use crate::geometry::{Body, Collider, Margin};
    use crate::scene::shapes::{Shape, Sheet};

    const CELLS: u32 = 6;
    const THICKNESS: f64 = 0.01;

    /// A sheet of cells 1 m wide at y = 0 and another 0.9 thicknesses above it, shifted by shares
    /// of a cell.
    fn two_sheets(shift: [f64; 2]) -> (Mesh, Vec<DVec3>) {
        let size = [f64::from(CELLS); 2];
        let sheet = Shape::Sheet(Sheet {
            size,
            cells: [CELLS; 2],
            centres: 0,
        });
        let sheet = sheet.triangles().unwrap();
        let by = DVec3::new(shift[0], 0.9 * THICKNESS, shift[1]);
        let (n, m) = (sheet.x.len() as u32, sheet.faces.len() as u32);
        let mut x = sheet.x.clone();
        x.extend(sheet.x.iter().map(|p| p + by));
        let mut faces = sheet.faces.clone();
        faces.extend(sheet.faces.iter().map(|face| face.map(|v| v + n)));
        let body = |name: &str, k: u32| Body {
            name: name.into(),
            kind: BodyKind::Cloth,
            vertices: k * n..(k + 1) * n,
            faces: k * m..(k + 1) * m,
        };
        let bodies = vec![body("shirt", 0), body("coat", 1)];
        (Mesh::with_bodies(x.len(), faces, bodies).unwrap(), x)
    }

    fn check(mesh: &Mesh, x: &[DVec3], layers: &[i32]) -> Vec<OutOfOrder> {
        let mut surfaces = Surfaces::uniform(mesh, x.to_vec(), THICKNESS, 0.0).unwrap();
        surfaces = surfaces.with_layers(layers.to_vec()).unwrap();
        let margin = Margin {
            thickness: surfaces.thickness(),
            rest: x,
            gap: None,
        };
        let near = Collider::new(&Arc::new(mesh.clone())).proximities(x, &margin, None);
        assert!(!near.is_empty());
        out_of_order(mesh, x, &surfaces, &near)
    }

    fn shirt_over_coat(layers: [i32; 2], places: u32) -> Vec<OutOfOrder> {
        let names = ["coat".into(), "shirt".into()];
        vec![OutOfOrder {
            names,
            layers,
            places: places as usize,
        }]
    }

    #[test]
    fn sheets_in_order_have_no_place_out_of_order_and_swapped_ones_all() {
        // shifted: CELLS² vertices of each lie over or under a face of the other; aligned: corners
        // on corners, those at the border do not count
        let all = [
            ([0.3, 0.2], 2 * CELLS * CELLS),
            ([0.0, 0.0], (CELLS - 1) * (CELLS - 1)),
        ];
        for (shift, places) in all {
            let (mesh, x) = two_sheets(shift);
            assert_eq!(check(&mesh, &x, &[0, 1]), [], "the coat lies above");
            assert_eq!(check(&mesh, &x, &[-3, 7]), []);
            assert_eq!(check(&mesh, &x, &[2, 2]), [], "nothing is claimed");
            assert_eq!(check(&mesh, &x, &[5, -1]), shirt_over_coat([-1, 5], places));
            let above: Vec<DVec3> = x.iter().map(|p| p * DVec3::new(1.0, -1.0, -1.0)).collect();
            assert_eq!(check(&mesh, &above, &[0, 1]), [], "turned over as a whole");
        }
    }

    #[test]
    fn faces_that_look_inward_are_wrong_by_themselves() {
        let (mesh, x) = two_sheets([0.3, 0.2]);
        let mut faces = mesh.faces().to_vec();
        let half = faces.len() / 2;
        for [_, b, c] in &mut faces[..half] {
            std::mem::swap(b, c);
        }
        let turned = Mesh::with_bodies(x.len(), faces, mesh.bodies().to_vec()).unwrap();
        // the shirt's own faces say that the coat is inside, the coat's that it is outside
        let [found] = &check(&turned, &x, &[0, 1])[..] else {
            panic!("one pair of cloths");
        };
        assert_eq!(found.places as u32, CELLS * CELLS);
        assert!(
            found
                .to_string()
                .contains("'coat' (layer 1) lies inside 'shirt' (layer 0) in 36 places")
        );
    }

    #[test]
    fn only_cloths_of_different_layers_have_an_order() {
        // a third cloth far away, of yet another layer
        let (mesh, mut x) = two_sheets([0.3, 0.2]);
        let (n, m) = (x.len() as u32, mesh.faces().len() as u32);
        x.extend([DVec3::X, DVec3::Y, DVec3::Z].map(|p| p + 99.0 * DVec3::X));
        let mut faces = mesh.faces().to_vec();
        faces.push([n, n + 1, n + 2]);
        for (kind, layers) in [
            (BodyKind::Cloth, [2, 2, 5]),
            (BodyKind::Obstacle, [9, 0, 5]),
        ] {
            let mut bodies = mesh.bodies().to_vec();
            bodies[0].kind = kind;
            bodies.push(Body {
                name: "hat".into(),
                kind: BodyKind::Cloth,
                vertices: n..n + 3,
                faces: m..m + 1,
            });
            let three = Mesh::with_bodies(x.len(), faces.clone(), bodies).unwrap();
            assert_eq!(check(&three, &x, &layers), [], "{kind:?}");
        }
    }

    #[test]
    fn beyond_a_sharp_fold_the_faces_on_both_sides_tell_what_is_outside() {
        // a roof with a ridge of 2 · atan(0.2) along z, closed by its lower faces' far edges only;
        // a vertex beside the ridge lies behind one slope
        let at = [
            [0.0, 0.0, -9.0],
            [0.0, 0.0, 9.0],
            [-2.0, -10.0, 0.0],
            [2.0, -10.0, 0.0],
        ];
        let mut x: Vec<DVec3> = at.map(DVec3::from_array).to_vec();
        for side in [-1.0, 1.0] {
            x.truncate(4);
            let tip = 0.5 * THICKNESS * DVec3::new(0.6 * side, 0.8, 0.0);
            x.extend([
                tip,
                tip + DVec3::new(1.0, 9.0, 0.0),
                tip + DVec3::new(-1.0, 9.0, 0.0),
            ]);
            let body = |name: &str, vertices, faces| Body {
                name: name.into(),
                kind: BodyKind::Cloth,
                vertices,
                faces,
            };
            let bodies = vec![body("roof", 0..4, 0..2), body("vane", 4..7, 2..3)];
            let faces = vec![[0, 2, 1], [0, 1, 3], [4, 5, 6]];
            let mesh = Mesh::with_bodies(7, faces, bodies).unwrap();
            let normal = |[a, b, c]: [usize; 3]| (x[b] - x[a]).cross(x[c] - x[a]);
            let slopes = [normal([0, 2, 1]), normal([0, 1, 3])];
            assert!(
                slopes.iter().any(|n| n.dot(tip) < 0.0),
                "one slope alone would be wrong"
            );
            assert_eq!(check(&mesh, &x, &[0, 1]), []);
            assert_eq!(check(&mesh, &x, &[1, 0]).len(), 1);
        }
    }
}
