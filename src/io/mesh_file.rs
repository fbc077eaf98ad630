//! What a mesh file holds, in the file's own numbering, and how several become one mesh.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use glam::{DVec2, DVec3};

use super::error::{FileError, Place, Problem};
use super::look::Look;
use crate::geometry::mesh::check_positions;
use crate::geometry::{Body, BodyKind, Mesh};

/// The content of a mesh file: vertices in the file's order, polygons cut into triangles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeshFile {
    /// Where it came from; used for names and messages.
    pub path: PathBuf,
    /// One position per vertex, in metres, exactly as written.
    pub positions: Vec<DVec3>,
    /// Corners of the triangles; empty for a file of vertices only.
    pub faces: Vec<[u32; 3]>,
    /// The polygons before they were cut into `faces`, if some are not triangles.
    pub polygons: Option<Polygons>,
    /// Texture coordinates, which cloth uses as its flat pattern.
    pub uv: Option<Uv>,
    /// What the file says beyond its triangles: polygons, texture coordinates, normals, groups, materials. It is written again where it has as many
    /// triangles as there are `faces`.
    pub look: Option<Arc<Look>>,
    /// Further numbers per vertex.
    pub attributes: Vec<Attribute>,
    /// Names of the objects or groups of the file; empty if it names none.
    pub part_names: Vec<String>,
    /// The name of each face, as an index into `part_names`; empty if the file names none.
    pub part_of_face: Vec<u32>,
}

/// Polygons as the file has them. How a polygon is cut depends on its shape, so two frames of one mesh may be cut
/// differently: these tell that they are the same mesh.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Polygons {
    /// Corners of all polygons, one after another.
    pub corners: Vec<u32>,
    /// Number of corners of each.
    pub sizes: Vec<u32>,
}

/// Texture coordinates by face corner: a vertex on a seam of the pattern has several.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Uv {
    /// The coordinates.
    pub coordinates: Vec<DVec2>,
    /// For each face the coordinates of its corners, if it has any.
    pub corners: Vec<Option<[u32; 3]>>,
}

/// A number per vertex, such as a colour channel, a normal's component or a mass.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    /// Name, as in the file.
    pub name: String,
    /// How the file stores it.
    pub kind: ScalarKind,
    /// One value per vertex; every kind fits into f64 without rounding.
    pub values: Vec<f64>,
}

/// How a number is stored in a PLY file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScalarKind {
    /// Signed, 8 bits.
    I8,
    /// Unsigned, 8 bits.
    U8,
    /// Signed, 16 bits.
    I16,
    /// Unsigned, 16 bits.
    U16,
    /// Signed, 32 bits.
    I32,
    /// Unsigned, 32 bits.
    U32,
    /// IEEE 754, 32 bits.
    F32,
    /// IEEE 754, 64 bits.
    F64,
}

/// Several files as one mesh: vertices and faces are numbered through, one body per file.
#[derive(Clone, Debug)]
pub struct Assembly {
    /// Topology, with one body per file.
    pub mesh: Arc<Mesh>,
    /// Positions of all vertices.
    pub positions: Vec<DVec3>,
    /// Names of the parts: named objects where a file has at least two, otherwise its connected components.
    pub part_names: Vec<String>,
    /// The part of each face.
    pub part_of_face: Vec<u32>,
}

impl MeshFile {
    /// The content that a file of this mesh would have; bodies become named objects.
    pub fn of(mesh: &Mesh, positions: &[DVec3]) -> Self {
        Self {
            positions: positions.to_vec(),
            faces: mesh.faces().to_vec(),
            part_names: mesh.bodies().iter().map(|b| b.name.clone()).collect(),
            part_of_face: (0..mesh.faces().len() as u32)
                .map(|f| mesh.body_of_face(f))
                .collect(),
            ..Self::default()
        }
    }

    /// The file's name without folder and extensions.
    pub fn name(&self) -> String {
        let stem = |p: &Path| PathBuf::from(p.file_stem().unwrap_or_default());
        let mut name = stem(&self.path);
        if self
            .path
            .extension()
            .is_some_and(|e| e.eq_ignore_ascii_case("gz"))
        {
            name = stem(&name);
        }
        name.to_string_lossy().into_owned()
    }

    /// A mesh of one cloth body, and its positions.
    ///
    /// # Errors
    /// No faces, or a field that was changed after reading is not valid.
    pub fn into_mesh(self) -> Result<(Arc<Mesh>, Vec<DVec3>), FileError> {
        let Assembly {
            mesh, positions, ..
        } = assemble(vec![self])?;
        Ok((mesh, positions))
    }

    /// Checks that `end` has the same vertices and faces, so that one can move to the other; `end` may leave out the faces.
    /// Files with polygons are compared by these.
    ///
    /// # Errors
    /// Another number of vertices or other faces.
    pub fn check_motion_to(&self, end: &Self) -> Result<(), FileError> {
        let other = |what, found, wanted| {
            let problem = Problem::OtherMesh {
                what,
                found,
                expected: self.path.display().to_string(),
                wanted,
            };
            Err(FileError::new(&end.path, Place::Whole, problem))
        };
        if end.positions.len() != self.positions.len() {
            return other("vertices", end.positions.len(), self.positions.len());
        }
        let same_polygons = self.polygons.is_some() && end.polygons == self.polygons;
        if end.faces.is_empty() || same_polygons || end.faces == self.faces {
            return Ok(());
        }
        if end.faces.len() != self.faces.len() {
            return other("faces", end.faces.len(), self.faces.len());
        }
        let face = self.faces.iter().zip(&end.faces).position(|(a, b)| a != b);
        let face = face.expect("lists of the same length that differ, differ somewhere");
        let problem = Problem::OtherFaces {
            face,
            found: end.faces[face],
            expected: self.path.display().to_string(),
            wanted: self.faces[face],
        };
        Err(FileError::new(&end.path, Place::Whole, problem))
    }

    fn has_names(&self) -> bool {
        let first = self.part_of_face.first();
        self.part_of_face.iter().any(|p| Some(p) != first)
    }
}

/// Several files as one mesh, numbered through in the given order.
///
/// # Errors
/// A file without faces, or more than 32-bit indices can number; a field that was changed after reading is not valid.
pub fn assemble(files: Vec<MeshFile>) -> Result<Assembly, FileError> {
    let Some(last) = files.last() else {
        return Err(FileError::new(
            Path::new(""),
            Place::Whole,
            Problem::NoFaces,
        ));
    };
    let last_path = last.path.clone();
    let as_mesh_error = |e| FileError::new(&last_path, Place::Whole, Problem::Mesh(e));

    let names = unique_names(&files);
    let mut positions = Vec::new();
    let mut faces = Vec::new();
    let mut bodies: Vec<Body> = Vec::new();
    for (file, name) in files.iter().zip(&names) {
        if file.faces.is_empty() {
            return Err(FileError::new(&file.path, Place::Whole, Problem::NoFaces));
        }
        let (first_vertex, first_face) = (positions.len(), faces.len());
        let vertex_end = first_vertex + file.positions.len();
        if vertex_end.max(3 * (first_face + file.faces.len())) >= u32::MAX as usize {
            let problem = Problem::TooLarge {
                what: "the vertices or face corners of all files together",
                limit: u64::from(u32::MAX) - 1,
            };
            return Err(FileError::new(&file.path, Place::Whole, problem));
        }
        positions.extend_from_slice(&file.positions);
        let shift = first_vertex as u32;
        faces.extend(
            file.faces
                .iter()
                .map(|f| f.map(|v| v.saturating_add(shift))),
        );
        bodies.push(Body {
            name: name.clone(),
            kind: BodyKind::Cloth,
            vertices: shift..vertex_end as u32,
            faces: first_face as u32..faces.len() as u32,
        });
    }
    let mesh = Mesh::with_bodies(positions.len(), faces, bodies).map_err(as_mesh_error)?;
    check_positions(&mesh, &positions).map_err(as_mesh_error)?;
    let (part_names, part_of_face) = parts(&files, &mesh);
    Ok(Assembly {
        mesh: Arc::new(mesh),
        positions,
        part_names,
        part_of_face,
    })
}

/// File names without folders, or whole paths where those would be the same.
fn unique_names(files: &[MeshFile]) -> Vec<String> {
    let short: Vec<String> = files.iter().map(MeshFile::name).collect();
    let mut sorted = short.clone();
    sorted.sort_unstable();
    sorted.dedup();
    if sorted.len() == short.len() {
        short
    } else {
        let paths = files.iter().map(|f| f.path.display().to_string());
        paths.enumerate().map(|(i, p)| format!("{i}:{p}")).collect()
    }
}

fn parts(files: &[MeshFile], mesh: &Mesh) -> (Vec<String>, Vec<u32>) {
    let components = mesh.components();
    let mut names = Vec::new();
    let mut part_of_face = Vec::with_capacity(mesh.faces().len());
    for (file, body) in files.iter().zip(mesh.bodies()) {
        let first = names.len() as u32;
        if file.has_names() {
            part_of_face.extend(file.part_of_face.iter().map(|p| first + p));
            names.extend(file.part_names.iter().map(|p| match files.len() {
                1 => p.clone(),
                _ => format!("{}/{p}", body.name),
            }));
            continue;
        }
        // components are numbered by their first vertices; those without faces get no number here
        let mut number = vec![u32::MAX; file.positions.len()];
        let component = |v: u32| components[v as usize] - components[body.vertices.start as usize];
        let mut count = 0;
        for f in body.faces.clone() {
            let c = component(mesh.faces()[f as usize][0]) as usize;
            if number[c] == u32::MAX {
                number[c] = count;
                count += 1;
            }
            part_of_face.push(first + number[c]);
        }
        names.extend((0..count).map(|k| match count {
            1 => body.name.clone(),
            _ => format!("{}/{k}", body.name),
        }));
    }
    (names, part_of_face)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn triangles(path: &str, count: u32) -> MeshFile {
        MeshFile {
            path: path.into(),
            positions: (0..3 * count).map(|i| DVec3::splat(f64::from(i))).collect(),
            faces: (0..count).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect(),
            ..MeshFile::default()
        }
    }

    #[test]
    fn the_name_has_neither_folder_nor_extensions() {
        assert_eq!(triangles("a/b.c.obj.gz", 1).name(), "b.c");
        assert_eq!(triangles("dress.PLY", 1).name(), "dress");
        assert_eq!(triangles("", 1).name(), "");
    }

    #[test]
    fn files_are_numbered_through_and_parts_are_objects_or_components() {
        let mut named = triangles("named.obj", 3);
        named.part_names = vec!["left".into(), "right".into()];
        named.part_of_face = vec![0, 1, 0];
        let all = assemble(vec![
            triangles("a.ply", 2),
            named.clone(),
            triangles("c.stl", 1),
        ])
        .unwrap();
        assert_eq!(all.mesh.vertex_count(), 18);
        assert_eq!(all.mesh.faces()[2], [6, 7, 8]);
        let bodies: Vec<_> = all.mesh.bodies().iter().map(|b| b.name.as_str()).collect();
        assert_eq!(bodies, ["a", "named", "c"]);
        assert_eq!(
            all.part_names,
            ["a/0", "a/1", "named/left", "named/right", "c"]
        );
        assert_eq!(all.part_of_face, [0, 1, 2, 3, 2, 4]);
        assert_eq!(all.positions[6], named.positions[0]);

        let twice = assemble(vec![triangles("x/a.ply", 1), triangles("y/a.ply", 1)]).unwrap();
        assert_eq!(twice.part_names, ["0:x/a.ply", "1:y/a.ply"]);
    }

    #[test]
    fn a_file_without_faces_is_no_mesh_but_may_be_an_end_of_a_motion() {
        let start = triangles("a.obj", 2);
        let mut end = start.clone();
        end.path = "b.obj".into();
        assert!(start.check_motion_to(&end).is_ok());
        end.faces[1].swap(0, 1);
        let error = start.check_motion_to(&end).unwrap_err();
        assert!(
            matches!(*error.problem, Problem::OtherFaces { face: 1, .. }),
            "{error}"
        );
        end.faces.pop();
        assert!(start.check_motion_to(&end).is_err());
        end.faces.clear();
        assert!(start.check_motion_to(&end).is_ok());
        end.positions.pop();
        assert!(start.check_motion_to(&end).is_err());
        let error = end.into_mesh().unwrap_err();
        assert_eq!(*error.problem, Problem::NoFaces);
    }

    #[test]
    fn fields_changed_after_reading_are_checked_again() {
        let mut file = triangles("a.obj", 1);
        file.positions[0].x = f64::NAN;
        assert!(file.into_mesh().is_err());
        let mut file = triangles("a.obj", 1);
        file.faces[0][0] = u32::MAX;
        assert!(file.into_mesh().is_err());
    }
}
