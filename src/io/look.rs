//! How a surface looks: what its file says beyond the triangles that are simulated, so that it can come out with the frames.
//!
//! Polygons, texture coordinates and normals by corner, the names of objects, groups and materials by polygon. All of it is in the
//! numbering of the file's vertices. Where vertices have moved, normals are computed anew (see [`Look::smooth`]): those of the file say
//! only which corners of a vertex are smooth together.

use std::collections::HashMap;

use glam::{DVec2, DVec3};

use super::material::Material;
use super::mesh_file::{MeshFile, Polygons};

/// Stands for a corner without texture coordinates or normal, and for a polygon without a name.
pub const NONE: u32 = u32::MAX;

/// What a mesh file says beyond its triangles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Look {
    /// All polygons, also where all are triangles.
    pub polygons: Polygons,
    /// Texture coordinates, v up.
    pub uv: Vec<DVec2>,
    /// For each corner of the polygons which of them, or [`NONE`]; empty if no corner has any.
    pub uv_of_corner: Vec<u32>,
    /// Normals, as the file has them: equal ones are one.
    pub normals: Vec<DVec3>,
    /// For each corner which of them, or [`NONE`]; empty if no corner has any.
    pub normal_of_corner: Vec<u32>,
    /// Objects (`o` of an OBJ file).
    pub objects: Labels,
    /// Groups (`g`); a line with several names is one label.
    pub groups: Labels,
    /// Materials (`usemtl`).
    pub materials: Labels,
    /// Files that say what the materials are (`mtllib`), as the file names them.
    pub libraries: Vec<String>,
    /// What the materials are, as far as that is known.
    pub library: Vec<Material>,
}

/// A name for each polygon.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    /// The names, each once.
    pub names: Vec<String>,
    /// For each polygon which of them, or [`NONE`]; empty if there are no names.
    pub of_polygon: Vec<u32>,
}

impl Labels {
    /// The name of a polygon.
    pub fn of(&self, polygon: usize) -> Option<&str> {
        let number = *self.of_polygon.get(polygon)?;
        self.names.get(number as usize).map(String::as_str)
    }

    /// The polygons of each name, in the order of the names.
    pub(crate) fn members(&self) -> Vec<Vec<u32>> {
        let mut members = vec![Vec::new(); self.names.len()];
        for (polygon, &name) in (0u32..).zip(&self.of_polygon) {
            if let Some(list) = members.get_mut(name as usize) {
                list.push(polygon);
            }
        }
        members
    }

    fn keep(&mut self, kept: &[bool]) {
        let mut flags = kept.iter();
        self.of_polygon
            .retain(|_| *flags.next().expect("one for each polygon"));
    }
}

/// Labels while a file is read.
#[derive(Debug, Default)]
pub(super) struct Labelling {
    labels: Labels,
    numbers: HashMap<String, u32>,
    current: Option<u32>,
}

impl Labelling {
    /// The following polygons have this name; none if it is empty.
    pub(super) fn enter(&mut self, name: &str) {
        self.current = (!name.is_empty()).then(|| match self.numbers.get(name) {
            Some(&number) => number,
            None => {
                let number = self.labels.names.len() as u32;
                self.labels.names.push(name.into());
                self.numbers.insert(name.into(), number);
                number
            }
        });
    }

    /// A polygon has been read, the number `polygon`.
    pub(super) fn label(&mut self, polygon: usize) {
        if let Some(number) = self.current {
            self.labels.of_polygon.resize(polygon, NONE);
            self.labels.of_polygon.push(number);
        }
    }

    /// The labels of `count` polygons.
    pub(super) fn finish(mut self, count: usize) -> Labels {
        if self.labels.of_polygon.is_empty() {
            return Labels::default();
        }
        self.labels.of_polygon.resize(count, NONE);
        self.labels
    }
}

impl Polygons {
    /// Those of triangles.
    pub fn of_triangles(faces: &[[u32; 3]]) -> Self {
        Self {
            corners: faces.as_flattened().to_vec(),
            sizes: vec![3; faces.len()],
        }
    }

    /// The corners of each polygon, as a range of [`Polygons::corners`].
    pub(crate) fn ranges(&self) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
        self.sizes.iter().scan(0, |start, &size| {
            let range = *start..*start + size as usize;
            *start = range.end;
            Some(range)
        })
    }
}

/// Corners that share a normal: those of one vertex that are smooth together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Smooth {
    /// The normal of each corner.
    pub(crate) of_corner: Vec<u32>,
    /// How many there are.
    pub(crate) count: usize,
    /// Whether they are those of the vertices, in the same order.
    pub(crate) by_vertex: bool,
}

impl Look {
    /// That of triangles of which nothing more is known.
    pub fn of_triangles(faces: &[[u32; 3]]) -> Self {
        Self {
            polygons: Polygons::of_triangles(faces),
            ..Self::default()
        }
    }

    /// What is known of the triangles of a file.
    pub(super) fn of_file(file: &MeshFile) -> Self {
        let mut look = Self::of_triangles(&file.faces);
        if let Some(uv) = &file.uv {
            look.uv.clone_from(&uv.coordinates);
            let corners = uv.corners.iter();
            look.uv_of_corner = corners.flat_map(|c| c.unwrap_or([NONE; 3])).collect();
        }
        if file.part_of_face.len() == file.faces.len() {
            look.objects = Labels {
                names: file.part_names.clone(),
                of_polygon: file.part_of_face.clone(),
            };
        }
        look
    }

    /// Whether it says more than triangles do.
    pub(super) fn says_something(&self) -> bool {
        let labels = [&self.objects, &self.groups, &self.materials];
        !self.uv_of_corner.is_empty()
            || !self.normal_of_corner.is_empty()
            || self.polygons.sizes.iter().any(|&size| size != 3)
            || labels.iter().any(|labels| !labels.of_polygon.is_empty())
    }

    /// How many triangles its polygons are cut into.
    pub(crate) fn triangle_count(&self) -> usize {
        let sizes = self.polygons.sizes.iter();
        sizes.map(|&size| (size as usize).saturating_sub(2)).sum()
    }

    /// Which corners share a normal: without normals in the file all of a vertex, otherwise those that have equal ones there.
    pub(crate) fn smooth(&self, vertex_count: usize) -> Smooth {
        let corners = &self.polygons.corners;
        if self.normal_of_corner.is_empty() {
            return Smooth {
                of_corner: corners.clone(),
                count: vertex_count,
                by_vertex: true,
            };
        }
        // the first of each vertex has its number, so that a vertex without edges that are hard is one entry
        let mut first = vec![None; vertex_count];
        let mut further: HashMap<(u32, u32), u32> = HashMap::new();
        let mut count = vertex_count;
        let both = corners.iter().zip(&self.normal_of_corner);
        let of_corner = both
            .map(|(&vertex, &normal)| {
                if *first[vertex as usize].get_or_insert(normal) == normal {
                    return vertex;
                }
                *further.entry((vertex, normal)).or_insert_with(|| {
                    count += 1;
                    count as u32 - 1
                })
            })
            .collect();
        Smooth {
            of_corner,
            count,
            by_vertex: further.is_empty(),
        }
    }

    /// The unit normals where the vertices are now: polygons weighted by their areas. What has no area looks up.
    pub(crate) fn normals_at(&self, smooth: &Smooth, x: &[DVec3]) -> Vec<DVec3> {
        let mut normals = vec![DVec3::ZERO; smooth.count];
        for range in self.polygons.ranges() {
            let at = |k: usize| x[self.polygons.corners[k] as usize];
            let origin = at(range.start);
            let area: DVec3 = (range.start + 1..range.end - 1)
                .map(|k| (at(k) - origin).cross(at(k + 1) - origin))
                .sum();
            for k in range {
                normals[smooth.of_corner[k] as usize] += area;
            }
        }
        for normal in &mut normals {
            *normal = normal.try_normalize().unwrap_or(DVec3::Y);
        }
        normals
    }

    /// The vertices of the polygons in an object, group or material of this name, ascending; a group also by one name of several.
    pub(crate) fn vertices_of(&self, name: &str) -> Vec<u32> {
        let mut vertices = Vec::new();
        for (polygon, range) in self.polygons.ranges().enumerate() {
            let [object, group, material] =
                [&self.objects, &self.groups, &self.materials].map(|labels| labels.of(polygon));
            let one_of = |group: &str| group == name || group.split(' ').any(|one| one == name);
            if object == Some(name) || material == Some(name) || group.is_some_and(one_of) {
                vertices.extend_from_slice(&self.polygons.corners[range]);
            }
        }
        vertices.sort_unstable();
        vertices.dedup();
        vertices
    }

    /// All names that [`Look::vertices_of`] knows.
    pub(crate) fn names(&self) -> Vec<&str> {
        let all = [&self.objects, &self.groups, &self.materials];
        all.iter()
            .flat_map(|labels| labels.names.iter().map(String::as_str))
            .collect()
    }

    /// Takes polygons away, and gives the vertices that are left the numbers of their places in `vertices`.
    pub(crate) fn keep(&mut self, kept: &[bool], vertices: &[u32]) {
        let of_corner: Vec<bool> = (kept.iter().zip(&self.polygons.sizes))
            .flat_map(|(&kept, &size)| std::iter::repeat_n(kept, size as usize))
            .collect();
        for list in [
            &mut self.polygons.corners,
            &mut self.uv_of_corner,
            &mut self.normal_of_corner,
        ] {
            let mut flags = of_corner.iter();
            list.retain(|_| *flags.next().expect("one for each corner"));
        }
        let mut flags = kept.iter();
        self.polygons
            .sizes
            .retain(|_| *flags.next().expect("one for each polygon"));
        for labels in [&mut self.objects, &mut self.groups, &mut self.materials] {
            labels.keep(kept);
        }
        for v in &mut self.polygons.corners {
            *v = vertices.binary_search(v).expect("every corner is kept") as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two quads that share the edge 1-4, in two groups.
    fn strip() -> Look {
        let mut look = Look {
            polygons: Polygons {
                corners: vec![0, 1, 4, 3, 1, 2, 5, 4],
                sizes: vec![4, 4],
            },
            ..Look::default()
        };
        let mut groups = Labelling::default();
        groups.enter("left waist");
        groups.label(0);
        groups.enter("right");
        groups.label(1);
        look.groups = groups.finish(2);
        look
    }

    fn bent() -> Vec<DVec3> {
        let rows = [0.0, 1.0].map(|z| {
            [
                DVec3::new(-1.0, 0.0, z),
                DVec3::new(0.0, 0.0, z),
                DVec3::new(0.0, 1.0, z),
            ]
        });
        rows.concat()
    }

    #[test]
    fn corners_of_a_vertex_are_smooth_together_where_their_normals_are_equal() {
        let mut look = strip();
        let smooth = look.smooth(6);
        assert!(smooth.by_vertex);
        let normals = look.normals_at(&smooth, &bent());
        let between = DVec3::new(1.0, -1.0, 0.0).normalize();
        assert!((normals[1] - between).length() < 1e-15, "{}", normals[1]);
        assert_eq!(normals[0], -DVec3::Y);

        look.normals = vec![DVec3::Y, DVec3::X];
        look.normal_of_corner = vec![0, 0, 0, 0, 1, 1, 1, 1];
        let hard = look.smooth(6);
        assert_eq!(
            (hard.count, &hard.of_corner[..]),
            (8, &[0, 1, 4, 3, 6, 2, 5, 7][..])
        );
        let normals = look.normals_at(&hard, &bent());
        assert_eq!((normals[1], normals[6]), (-DVec3::Y, DVec3::X));
    }

    #[test]
    fn names_choose_vertices_and_what_is_left_out_is_gone_everywhere() {
        let mut look = strip();
        assert_eq!(look.vertices_of("waist"), [0, 1, 3, 4]);
        assert_eq!(look.vertices_of("left waist"), [0, 1, 3, 4]);
        assert!(look.vertices_of("righ").is_empty());
        look.uv = vec![DVec2::ZERO, DVec2::X];
        look.uv_of_corner = vec![0, 0, 0, 0, 1, 1, 1, NONE];
        look.keep(&[false, true], &[1, 2, 4, 5]);
        assert_eq!(look.polygons.corners, [0, 1, 3, 2]);
        assert_eq!(look.uv_of_corner, [1, 1, 1, NONE]);
        assert_eq!(look.groups.of(0), Some("right"));
        assert_eq!(look.groups.members(), [vec![], vec![0]]);
    }
}
