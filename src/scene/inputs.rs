//! Files that a scene names: found relative to it, and pinned by their hash.
//!
//! A scene that has been read names its files by absolute paths and says what was in them. So its copy in a
//! result folder can be run from anywhere on the same machine, and a file that has changed since is noticed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use glam::DVec3;
use sha2::{Digest, Sha256};

use super::check::Problem;
use super::shapes::{FromFile, Pattern};
use super::{Cloth, Motion, RestShape, Scene, Shape, StartFrom};
use crate::assets;
use crate::dynamics::Fabric;
use crate::io;

impl Scene {
    /// Makes all paths absolute, `base` being the scene file's folder, and fills in or checks the hashes. Those of `known` files are not
    /// computed again.
    pub(super) fn resolve_files(&mut self, base: &Path, known: &Known) -> Result<(), Problem> {
        if let Some(from) = &mut self.start_from {
            let names: Vec<String> = self.cloth.iter().flat_map(Cloth::names).collect();
            pin_run(base, from, &names).map_err(|message| ("start_from.folder".into(), message))?;
        }
        for (i, cloth) in self.cloth.iter_mut().enumerate() {
            if let Some(RestShape::File { file, sha256, .. }) = &mut cloth.rest {
                pin_file(base, file, sha256, known)
                    .map_err(|message| (format!("cloth.{i}.rest.file"), message))?;
            }
        }
        let cloths = self.cloth.iter_mut().enumerate().map(|(i, cloth)| {
            let pins = cloth.pin.iter_mut().enumerate();
            let motions = pins.flat_map(move |(p, pin)| {
                let motions = pin.motion.iter_mut().enumerate();
                motions.map(move |(m, motion)| (format!("cloth.{i}.pin.{p}.motion.{m}"), motion))
            });
            let motions: Vec<_> = motions.collect();
            (format!("cloth.{i}.shape"), &mut cloth.shape, motions)
        });
        let obstacles = self.obstacle.iter_mut().enumerate().map(|(i, obstacle)| {
            let motions = obstacle.motion.iter_mut().enumerate();
            let motions: Vec<_> = motions
                .map(|(m, motion)| (format!("obstacle.{i}.motion.{m}"), motion))
                .collect();
            (format!("obstacle.{i}.shape"), &mut obstacle.shape, motions)
        });
        for (place, shape, motions) in cloths.chain(obstacles) {
            if let Shape::File(FromFile { file, sha256, .. })
            | Shape::Pattern(Pattern { file, sha256, .. }) = shape
            {
                pin_file(base, file, sha256, known)
                    .map_err(|message| (format!("{place}.file"), message))?;
            }
            for (place, motion) in motions {
                if let Motion::Sequence { file, sha256, .. } = motion {
                    pin_file(base, file, sha256, known)
                        .map_err(|message| (format!("{place}.file"), message))?;
                }
            }
        }
        Ok(())
    }

    /// The files that it names, with their hashes.
    pub(super) fn known_files(&self) -> Known {
        let cloths = self.cloth.iter();
        let motions = cloths.flat_map(|cloth| cloth.pin.iter().flat_map(|pin| &pin.motion));
        let motions = motions.chain(self.obstacle.iter().flat_map(|o| &o.motion));
        let motions = motions.filter_map(|motion| match motion {
            Motion::Sequence { file, sha256, .. } => Some((file.clone(), sha256.clone())),
            _ => None,
        });
        let shapes = self.cloth.iter().map(|cloth| &cloth.shape);
        let shapes = shapes.chain(self.obstacle.iter().map(|obstacle| &obstacle.shape));
        let shapes = shapes.filter_map(|shape| match shape {
            Shape::File(FromFile { file, sha256, .. })
            | Shape::Pattern(Pattern { file, sha256, .. }) => Some((file.clone(), sha256.clone())),
            _ => None,
        });
        shapes.chain(motions).collect()
    }
}

/// Files by absolute path, with their hashes.
pub(super) type Known = BTreeMap<PathBuf, String>;

/// Puts the numbers of measured fabrics where a scene names their files; says whether there are any.
pub(super) fn read_fabrics(scene: &mut toml::Value, base: Option<&Path>) -> Result<bool, Problem> {
    let mut is_any = false;
    for (list, place) in [("cloth", "fabric"), ("obstacle", "soft.fabric")] {
        let objects = scene.get_mut(list).and_then(toml::Value::as_array_mut);
        for (i, object) in objects.into_iter().flatten().enumerate() {
            let mut parts = place.split('.');
            let fabric = parts.try_fold(object, |table, part| table.get_mut(part));
            let Some(toml::Value::Table(fabric)) = fabric else {
                continue;
            };
            let Some(file) = fabric.remove("file") else {
                continue;
            };
            let key = format!("{list}.{i}.{place}.file");
            let file = file.as_str().unwrap_or_default(); // a text, by the form of scenes
            let read = match base {
                _ if fabric.contains_key("like") => Err("either `file` or `like`".into()),
                None => Err("files are found when a scene is loaded from a file".into()),
                Some(base) => read_fabric(&base.join(file)),
            };
            let read = read.map_err(|message| (key, message))?;
            for (name, value) in read {
                fabric.entry(name).or_insert(value);
            }
            is_any = true;
        }
    }
    Ok(is_any)
}

fn read_fabric(path: &Path) -> Result<toml::Table, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let fabric = Fabric::from_arcsim(&text);
    let fabric = fabric.map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(toml::Table::try_from(fabric).expect("a fabric is a table of numbers"))
}

/// The cloths of an earlier run: where they are, and what is in them.
fn pin_run(base: &Path, from: &mut StartFrom, names: &[String]) -> Result<(), String> {
    let path = base.join(&from.folder);
    from.folder =
        std::path::absolute(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let caches = names
        .iter()
        .map(|name| from.folder.join("objects").join(format!("{name}.x64")));
    let caches: Vec<PathBuf> = caches.filter(|path| path.exists()).collect();
    if caches.is_empty() {
        return Err(format!(
            "{}: no result folder with a cloth of this scene in it; `percale run` makes one",
            from.folder.display()
        ));
    }
    let mut hash = Sha256::new();
    for file in caches {
        let bytes = fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        hash.update(Sha256::digest(bytes));
    }
    check_hash(&from.folder, hash, &mut from.sha256)
}

fn pin_file(
    base: &Path,
    file: &mut PathBuf,
    sha256: &mut String,
    known: &Known,
) -> Result<(), String> {
    if let Some(bytes) = assets::contents(file) {
        let mut hash = Sha256::new();
        hash.update(Sha256::digest(bytes));
        return check_hash(file, hash, sha256);
    }
    if let Some(message) = assets::missing(file) {
        return Err(message);
    }
    let path = base.join(&*file);
    *file = std::path::absolute(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    if let Some(hash) = known.get(file).filter(|_| sha256.is_empty()) {
        sha256.clone_from(hash);
        return Ok(());
    }
    let mut hash = Sha256::new();
    for file in samples_of(file)? {
        let bytes = fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        hash.update(Sha256::digest(bytes));
    }
    check_hash(file, hash, sha256)
}

/// Fills in a hash, or compares with it.
fn check_hash(file: &Path, hash: Sha256, sha256: &mut String) -> Result<(), String> {
    let found: String = hash.finalize().iter().map(|b| format!("{b:02x}")).collect();
    if sha256.is_empty() {
        *sha256 = found;
    } else if *sha256 != found {
        return Err(format!(
            "{} is not the file that the scene was made with: SHA-256 {found}, not {sha256}; \
             remove `sha256` from the scene to use it as it is",
            file.display()
        ));
    }
    Ok(())
}

/// The files that a path stands for: itself, or all with a whole number in the place of `*`, by that number.
fn samples_of(path: &Path) -> Result<Vec<PathBuf>, String> {
    let named = |message: &str| format!("{}: {message}", path.display());
    let name = path.file_name().and_then(|name| name.to_str());
    let name = name.ok_or_else(|| named("not the name of a file"))?;
    let Some((before, after)) = name.split_once('*') else {
        return Ok(vec![path.into()]);
    };
    let folder = path.parent().unwrap_or(Path::new(""));
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut samples = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| format!("{}: {error}", folder.display()))?;
        let number = entry.file_name().to_str().and_then(|name| {
            let number = name.strip_prefix(before)?.strip_suffix(after)?;
            number.parse::<u64>().ok()
        });
        if let Some(number) = number {
            samples.push((number, entry.path()));
        }
    }
    samples.sort();
    if samples.is_empty() {
        return Err(named("no file matches; * stands for a whole number"));
    }
    Ok(samples.into_iter().map(|(_, path)| path).collect())
}

/// Positions of all samples of a sequence of the mesh with these faces; where files have faces, they must be these.
pub(super) fn read_sequence(path: &Path, faces: &[[u32; 3]]) -> Result<Vec<Vec<DVec3>>, String> {
    let extension = path.extension().and_then(|extension| extension.to_str());
    if extension.is_some_and(|extension| extension.eq_ignore_ascii_case("pc2")) {
        return io::pc2::read(path);
    }
    let (mut first, mut samples): (Option<io::MeshFile>, _) = (None, Vec::new());
    for file in samples_of(path)? {
        let mesh = io::read(&file).map_err(|error| error.to_string())?;
        match &first {
            Some(first) => first
                .check_motion_to(&mesh)
                .map_err(|error| error.to_string())?,
            // polygons may have been cut otherwise, by the shape of another pose
            None if mesh.polygons.is_none() && !mesh.faces.is_empty() && mesh.faces != faces => {
                return Err(format!(
                    "{}: its {} faces are not the {} of the shape; a sequence moves the vertices of one mesh",
                    file.display(),
                    mesh.faces.len(),
                    faces.len()
                ));
            }
            None => {}
        }
        samples.push(mesh.positions.clone());
        first.get_or_insert(mesh);
    }
    Ok(samples)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_ordered_by_number_not_by_letters() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["w_10.obj", "w_9.obj", "w_x.obj", "w_2.ply", "v_1.obj"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let samples = samples_of(&folder.path().join("w_*.obj")).unwrap();
        let names: Vec<_> = samples.iter().map(|p| p.file_name().unwrap()).collect();
        assert_eq!(names, ["w_9.obj", "w_10.obj"]);
        let none = samples_of(&folder.path().join("u_*.obj")).unwrap_err();
        assert!(
            none.contains("u_*.obj") && none.contains("no file matches"),
            "{none}"
        );
    }

    #[test]
    fn a_file_that_has_changed_since_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.obj"), "v 0 0 0").unwrap();
        let (mut file, mut sha256) = (PathBuf::from("a.obj"), String::new());
        pin_file(folder.path(), &mut file, &mut sha256, &Known::new()).unwrap();
        assert!(file.is_absolute() && sha256.len() == 64);
        pin_file(folder.path(), &mut file, &mut sha256, &Known::new()).unwrap();
        fs::write(&file, "v 0 0 1").unwrap();
        let message = pin_file(folder.path(), &mut file, &mut sha256, &Known::new()).unwrap_err();
        assert!(
            message.contains("a.obj") && message.contains(&sha256),
            "{message}"
        );
    }
}
