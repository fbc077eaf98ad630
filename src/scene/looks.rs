//! What mesh files say of surfaces beyond triangles, with the materials of their libraries.

use std::sync::Arc;

use super::{Cloth, Scene, Shape};
use crate::io::{Look, material};

impl Scene {
    /// What is known of each object, in the order of [`Scene::object_names`]; nothing of shapes that are made by parameters.
    ///
    /// # Errors
    /// Files that cannot be read.
    pub(crate) fn looks(&self) -> Result<Vec<Option<Arc<Look>>>, String> {
        let mut looks = Vec::new();
        for cloth in &self.cloth {
            let look = look_of(&cloth.shape)?;
            looks.extend(Cloth::names(cloth).iter().map(|_| look.clone()));
        }
        for obstacle in &self.obstacle {
            looks.push(look_of(&obstacle.shape)?);
        }
        Ok(looks)
    }
}

fn look_of(shape: &Shape) -> Result<Option<Arc<Look>>, String> {
    let Shape::File(file) = shape else {
        return Ok(None);
    };
    let Some(mut look) = shape.triangles()?.look else {
        return Ok(None);
    };
    if !look.libraries.is_empty() {
        let (library, _) = material::read_libraries(&file.file, &look.libraries);
        let look = Arc::make_mut(&mut look);
        library
            .into_iter()
            .filter(|material| look.materials.names.contains(&material.name))
            .for_each(|material| look.library.push(material));
    }
    Ok(Some(look))
}

/// What of the materials of a file cannot be had: one line each.
pub(super) fn doubts(file: &std::path::Path, look: &Look) -> Vec<String> {
    let (library, missing) = material::read_libraries(file, &look.libraries);
    let mut doubts: Vec<String> = missing
        .iter()
        .map(|missing| {
            format!("names a library of materials that cannot be read, {missing}: exports will have the names of its materials only")
        })
        .collect();
    let known = |name: &String| library.iter().any(|material| material.name == *name);
    if missing.is_empty() && !look.libraries.is_empty() {
        let unknown = look.materials.names.iter().filter(|name| !known(name));
        doubts.extend(unknown.map(|name| {
            let libraries = look.libraries.join(", ");
            format!("uses the material '{name}', which {libraries} does not have: exports will have its name only")
        }));
    }
    let pictures = library.iter().flat_map(|material| {
        let pictures = material.pictures().filter(|picture| !picture.is_file());
        pictures.map(|picture| (material.name.clone(), picture.display().to_string()))
    });
    doubts.extend(pictures.map(|(material, picture)| {
        format!("has a material '{material}' with the picture {picture}, which is not there: exports will name it as it is")
    }));
    doubts
}
