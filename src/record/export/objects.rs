//! The chosen objects with what is known of their looks: names that do not clash, one library of materials, pictures next to the export.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::super::error::{ResultError, at};
use super::super::recording::Recording;
use super::Selection;
use crate::io::gltf::write::{Film, Picture, Surface};
use crate::io::look::NONE;
use crate::io::obj::{Naming, Part};
use crate::io::{Look, Material, MeshFile};

/// The name of the folder with pictures, and of the library.
const PICTURES: &str = "textures";
pub(super) const LIBRARY: &str = "materials.mtl";

/// An object as it is exported.
pub(super) struct Object {
    /// Its number in the recording.
    pub(super) number: usize,
    pub(super) name: String,
    pub(super) vertex_count: usize,
    /// What its file said, or its triangles; materials by the names of the export.
    pub(super) look: Look,
    /// For each of its look's materials the number in [`Objects::materials`].
    pub(super) materials: Vec<usize>,
}

/// What is exported.
pub(super) struct Objects {
    pub(super) list: Vec<Object>,
    /// The materials of all, each once.
    pub(super) materials: Vec<Material>,
    /// What could not be had or kept.
    pub(super) lost: Vec<String>,
}

impl Objects {
    pub(super) fn of(recording: &Recording, selection: &Selection) -> Result<Self, ResultError> {
        let mut objects = Self {
            list: Vec::new(),
            materials: Vec::new(),
            lost: Vec::new(),
        };
        for &number in &selection.objects {
            let body = &recording.mesh().bodies()[number];
            let mut look = match recording.look(number)? {
                Some(look) => look,
                None => Look::of_triangles(&faces_of(recording, number)),
            };
            let materials = objects.take_materials(&mut look, &body.name);
            objects.list.push(Object {
                number,
                name: body.name.clone(),
                vertex_count: body.vertices.len(),
                look,
                materials,
            });
        }
        Ok(objects)
    }

    /// Adds the materials of an object; those of the same name that are others get its name behind theirs.
    fn take_materials(&mut self, look: &mut Look, object: &str) -> Vec<usize> {
        let mut numbers = Vec::new();
        for name in &mut look.materials.names {
            let known = look.library.iter().find(|material| material.name == *name);
            let mut material = known.cloned().unwrap_or_else(|| Material {
                name: name.clone(),
                statements: Vec::new(),
            });
            let other = |all: &[Material], one: &Material| {
                all.iter()
                    .any(|known| known.name == one.name && known != one)
            };
            if other(&self.materials, &material) {
                material.name = format!("{name}.{object}");
                while other(&self.materials, &material) {
                    material.name.push('_');
                }
            }
            name.clone_from(&material.name);
            let all = &mut self.materials;
            let number = all.iter().position(|known| *known == material);
            numbers.push(number.unwrap_or_else(|| {
                all.push(material);
                all.len() - 1
            }));
        }
        numbers
    }

    /// Copies the pictures of the materials next to the export, under different names.
    pub(super) fn bring_pictures(&mut self, out: &Path) -> Result<Vec<PathBuf>, ResultError> {
        let mut names: BTreeMap<PathBuf, String> = BTreeMap::new();
        let mut written = Vec::new();
        for material in &mut self.materials {
            let pictures: Vec<PathBuf> = material.pictures().map(Path::to_path_buf).collect();
            for picture in pictures {
                if names.contains_key(&picture) || !picture.is_absolute() {
                    continue; // those that the run did not find are named as they were
                }
                if !picture.is_file() {
                    let (name, picture) = (&material.name, picture.display());
                    self.lost.push(format!(
                        "material '{name}': its picture {picture} is not there any more; it is named where it was"
                    ));
                    continue;
                }
                let own = picture.file_name().unwrap_or_default().to_string_lossy();
                let mut name = own.clone().into_owned();
                for number in 2.. {
                    if !names.values().any(|taken| *taken == name) {
                        break;
                    }
                    name = format!("{number}-{own}");
                }
                let folder = out.join(PICTURES);
                fs::create_dir_all(&folder).map_err(at(&folder))?;
                let copy = folder.join(&name);
                fs::copy(&picture, &copy).map_err(at(&picture))?;
                written.push(copy);
                names.insert(picture, name);
            }
            material.rename_pictures(|picture| match names.get(Path::new(picture)) {
                Some(name) => format!("{PICTURES}/{name}"),
                None => picture.into(),
            });
        }
        Ok(written)
    }

    /// The text of the library, if anything is known of the materials.
    pub(super) fn library(&self) -> Option<String> {
        let known = self.materials.iter().any(|m| !m.statements.is_empty());
        known.then(|| {
            let all: Vec<String> = self.materials.iter().map(Material::text).collect();
            all.join("\n")
        })
    }

    /// The objects as parts of an OBJ file.
    pub(super) fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        let naming = match self.list.len() {
            1 => Naming::Own,
            _ => Naming::Prefixed,
        };
        self.list.iter().map(move |object| object.part(naming))
    }

    /// What a .glb needs of them.
    pub(super) fn for_glb<T>(
        &self,
        recording: &Recording,
        times: &[f64],
        use_film: impl FnOnce(&Film<'_>) -> T,
    ) -> (T, Vec<String>) {
        let mut lost = Vec::new();
        let pictures: Vec<Option<Picture>> = self
            .materials
            .iter()
            .map(|material| {
                let path = material.texture()?;
                let picture = fs::read(&path).ok().and_then(Picture::of);
                if picture.is_none() {
                    let (name, path) = (&material.name, path.display());
                    lost.push(format!(
                        "material '{name}': its picture {path} is not in the file; it takes PNG and JPEG that are there"
                    ));
                }
                picture
            })
            .collect();
        let scene = recording.scene();
        let stays = |name: &str| {
            let mut obstacles = scene.obstacle.iter();
            obstacles.any(|o| o.name == name && o.motion.is_empty() && o.soft.is_none())
        };
        let surfaces: Vec<Surface<'_>> = (self.list.iter())
            .map(|object| Surface {
                name: &object.name,
                faces: faces_of(recording, object.number),
                vertex_count: object.vertex_count,
                look: &object.look,
                materials: &object.materials,
                moves: !stays(&object.name),
            })
            .collect();
        let film = Film::new(times, &surfaces, &self.materials, &pictures);
        (use_film(&film), lost)
    }
}

impl Object {
    pub(super) fn part(&self, naming: Naming) -> Part<'_> {
        Part {
            name: &self.name,
            look: &self.look,
            vertex_count: self.vertex_count,
            naming,
        }
    }
}

/// Several objects as one file, their vertices numbered through: polygons and texture coordinates; positions are still missing.
pub(super) fn together(recording: &Recording, objects: &[Object]) -> MeshFile {
    let (mut all, mut faces) = (Look::default(), Vec::new());
    let has_uv = objects.iter().any(|o| !o.look.uv_of_corner.is_empty());
    let mut vertex = 0;
    for object in objects {
        let look = &object.look;
        let uv = all.uv.len() as u32;
        let shifted = look.uv_of_corner.iter().map(|&t| match t {
            NONE => NONE,
            t => t + uv,
        });
        if has_uv && look.uv_of_corner.is_empty() {
            let count = look.polygons.corners.len();
            all.uv_of_corner.extend(std::iter::repeat_n(NONE, count));
        }
        all.uv_of_corner.extend(shifted);
        all.uv.extend_from_slice(&look.uv);
        let corners = look.polygons.corners.iter().map(|v| v + vertex);
        all.polygons.corners.extend(corners);
        all.polygons.sizes.extend_from_slice(&look.polygons.sizes);
        let own = faces_of(recording, object.number).into_iter();
        faces.extend(own.map(|face| face.map(|v| v + vertex)));
        vertex += object.vertex_count as u32;
    }
    MeshFile {
        faces,
        look: Some(Arc::new(all)),
        ..MeshFile::default()
    }
}

/// The triangles of an object, its vertices numbered from 0.
fn faces_of(recording: &Recording, object: usize) -> Vec<[u32; 3]> {
    let body = &recording.mesh().bodies()[object];
    let faces = &recording.mesh().faces()[body.faces.start as usize..body.faces.end as usize];
    faces
        .iter()
        .map(|face| face.map(|v| v - body.vertices.start))
        .collect()
}
