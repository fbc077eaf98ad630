//! Which vertices touch something, for the colours of impacts and zones.
//!
//! A result folder has no impacts by vertex: they are of intervals and rounds within a frame. Shown is what the response has to
//! deal with next: impacts of the motion from the frame before, if it simply went on for one frame more, and what is
//! nearer than [`NEAR`] thicknesses now. A zone is what hangs together by either, over cloth.

use std::sync::Arc;

use glam::DVec3;
use percale::Surfaces;
use percale::geometry::{Asked, BodyKind, Collider, Margin, Mesh};

/// Features at rest on one another lie about one thickness apart: a little more is still contact.
const NEAR: f64 = 1.5;

/// Vertices that touch, ascending; impacts of each, at most 255; and the number of its zone.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Touch {
    vertices: Vec<u32>,
    impacts: Vec<u8>,
    zones: Vec<u16>,
}

impl Touch {
    /// Count, vertices (u32), impacts (u8) and zones (u16), each padded to four bytes; little-endian.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let count = self.vertices.len();
        let mut bytes = Vec::with_capacity(8 + 7 * count);
        bytes.extend((count as u32).to_le_bytes());
        bytes.extend(self.vertices.iter().flat_map(|v| v.to_le_bytes()));
        bytes.extend(&self.impacts);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes.extend(self.zones.iter().flat_map(|zone| zone.to_le_bytes()));
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }
}

/// Asks what touches, again and again for one mesh.
pub(crate) struct Toucher {
    collider: Collider,
    thickness: Vec<f64>,
    rest: Vec<DVec3>,
}

impl Toucher {
    pub(crate) fn new(mesh: &Arc<Mesh>, surfaces: &Surfaces) -> Self {
        Self {
            collider: Collider::new(mesh),
            thickness: surfaces.thickness().iter().map(|h| NEAR * h).collect(),
            rest: surfaces.rest().to_vec(),
        }
    }

    /// At `x`, after a frame that began `before`.
    pub(crate) fn touch(&mut self, x: &[DVec3], before: Option<&[DVec3]>) -> Touch {
        let mesh = Arc::clone(self.collider.mesh());
        let mut is_cloth = vec![false; mesh.vertex_count()];
        for body in mesh.bodies() {
            let range = body.vertices.start as usize..body.vertices.end as usize;
            is_cloth[range].fill(body.kind == BodyKind::Cloth);
        }
        let mut impacts = vec![0u8; mesh.vertex_count()];
        let mut groups: Vec<[u32; 4]> = Vec::new();
        let margin = Margin {
            thickness: &self.thickness,
            rest: &self.rest,
            gap: None,
        };
        let near = self.collider.proximities(x, &margin, None);
        groups.extend(near.iter().map(|near| near.vertices));
        if let Some(before) = before {
            let on: Vec<DVec3> = x.iter().zip(before).map(|(x, b)| 2.0 * x - b).collect();
            if let Ok(motion) = self.collider.motion(x, &on) {
                for impact in self.collider.impacts(motion, &Asked::default()) {
                    for v in impact.vertices {
                        impacts[v as usize] = impacts[v as usize].saturating_add(1);
                    }
                    groups.push(impact.vertices);
                }
            }
        }
        let mut root: Vec<u32> = (0..mesh.vertex_count() as u32).collect();
        let mut touches = vec![false; mesh.vertex_count()];
        for group in &groups {
            let cloth: Vec<u32> = (group.iter().copied())
                .filter(|&v| is_cloth[v as usize])
                .collect();
            for &v in &cloth {
                touches[v as usize] = true;
                let (a, b) = (find(&mut root, cloth[0]), find(&mut root, v));
                root[a.max(b) as usize] = a.min(b);
            }
        }
        let mut touch = Touch::default();
        let mut number = vec![u16::MAX; mesh.vertex_count()];
        let mut zones = 0;
        for v in (0..mesh.vertex_count() as u32).filter(|&v| touches[v as usize]) {
            let of_root = &mut number[find(&mut root, v) as usize];
            if *of_root == u16::MAX {
                *of_root = zones;
                zones = (zones + 1).min(u16::MAX - 1);
            }
            touch.vertices.push(v);
            touch.impacts.push(impacts[v as usize]);
            touch.zones.push(*of_root);
        }
        touch
    }
}

fn find(root: &mut [u32], mut v: u32) -> u32 {
    while root[v as usize] != v {
        root[v as usize] = root[root[v as usize] as usize];
        v = root[v as usize];
    }
    v
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Triangles one above the other, `apart` metres.
    fn stack(apart: &[f64]) -> (Arc<Mesh>, Vec<DVec3>) {
        let faces = (0..apart.len() as u32).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]);
        let x = apart
            .iter()
            .flat_map(|&y| [[0.0, y, 0.0], [1.0, y, 0.0], [0.0, y, 1.0]].map(DVec3::from));
        let mesh = Mesh::new(3 * apart.len(), faces.collect()).unwrap();
        (Arc::new(mesh), x.collect())
    }

    #[test]
    fn what_is_near_and_what_will_meet_are_zones_of_their_own() {
        // two that are near, two that will meet, one that is alone
        let (mesh, x) = stack(&[0.0, 0.001, 1.0, 1.1, 2.0]);
        let mut before = x.clone();
        before[9..12].iter_mut().for_each(|x| x.y += 0.2);
        // far apart at rest, so that a thickness counts in full within one body
        let (_, rest) = stack(&[0.0, 1.0, 2.0, 3.0, 4.0]);
        let surfaces = Surfaces::uniform(&mesh, rest, 1e-3, 0.0).unwrap();
        let mut toucher = Toucher::new(&mesh, &surfaces);
        let touch = toucher.touch(&x, Some(&before));
        assert_eq!(touch.vertices, (0..12).collect::<Vec<u32>>());
        assert_eq!(touch.zones, [[0; 6], [1; 6]].concat());
        assert!(touch.impacts[..6].iter().all(|&n| n == 0), "only near");
        assert!(touch.impacts[6..].iter().any(|&n| n > 0), "will meet");
        assert!(toucher.touch(&x, None).vertices.len() < 12, "at rest");
    }

    #[test]
    fn bytes_are_padded_to_four() {
        let touch = Touch {
            vertices: vec![7],
            impacts: vec![2],
            zones: vec![3],
        };
        let bytes = [1, 0, 0, 0, 7, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0];
        assert_eq!(touch.to_bytes(), bytes);
    }
}
