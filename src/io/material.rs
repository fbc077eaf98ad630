//! Materials of OBJ files: `.mtl` libraries.
//!
//! Every statement is kept as it is, so that an OBJ comes out with the materials that went in; what other formats can say too (colour,
//! opacity, roughness, metal, a picture of the colour) is read from them.

use std::fs;
use std::path::{Path, PathBuf};

/// A material.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Material {
    /// Its name.
    pub name: String,
    /// Its statements, as in the library; pictures by absolute paths where they have been found.
    pub statements: Vec<String>,
}

/// Statements that name a picture.
fn is_picture(keyword: &str) -> bool {
    let keyword = keyword.to_ascii_lowercase();
    keyword.starts_with("map_") || ["bump", "disp", "decal", "refl", "norm"].contains(&&keyword[..])
}

/// How many words at most follow an option of a picture, all but the first only if they are numbers.
fn words_after(option: &str) -> usize {
    match option {
        "-o" | "-s" | "-t" => 3,
        "-mm" => 2,
        _ => 1,
    }
}

/// A statement that names a picture, as what stands before the name and the name.
fn picture(statement: &str) -> Option<(&str, &str)> {
    let statement = statement.trim();
    let keyword_end = statement.find(char::is_whitespace)?;
    if !is_picture(&statement[..keyword_end]) {
        return None;
    }
    let skip_blanks = |at: usize| at + statement[at..].len() - statement[at..].trim_start().len();
    let word_end = |at: usize| {
        let length = statement[at..].find(char::is_whitespace);
        length.map_or(statement.len(), |length| at + length)
    };
    let mut at = skip_blanks(keyword_end);
    while statement[at..].starts_with('-') {
        let option = &statement[at..word_end(at)];
        at = skip_blanks(word_end(at));
        for k in 0..words_after(option) {
            let word = &statement[at..word_end(at)];
            if k > 0 && word.parse::<f64>().is_err() {
                break;
            }
            at = skip_blanks(word_end(at));
        }
    }
    (at < statement.len()).then(|| statement.split_at(at))
}

impl Material {
    /// The numbers of a statement, the last one of this kind.
    fn numbers(&self, keyword: &str) -> Option<Vec<f64>> {
        let found = self.statements.iter().rev().find_map(|statement| {
            let mut words = statement.split_whitespace();
            (words.next() == Some(keyword)).then_some(words)
        })?;
        Some(found.map_while(|word| word.parse().ok()).collect())
    }

    fn share(&self, keyword: &str) -> Option<f64> {
        let number = *self.numbers(keyword)?.first()?;
        number.is_finite().then_some(number.clamp(0.0, 1.0))
    }

    /// Its colour in light, red, green and blue from 0 to 1.
    pub fn colour(&self) -> Option<[f64; 3]> {
        let numbers = self.numbers("Kd")?;
        let colour = <[f64; 3]>::try_from(numbers.get(..3)?).ok()?;
        let is_colour = colour.iter().all(|c| c.is_finite());
        is_colour.then(|| colour.map(|c| c.clamp(0.0, 1.0)))
    }

    /// Its opacity, from 0 to 1.
    pub fn opacity(&self) -> Option<f64> {
        self.share("d")
            .or_else(|| self.share("Tr").map(|clear| 1.0 - clear))
    }

    /// Its roughness, from 0 to 1: as written, or from the exponent of its highlight.
    pub fn roughness(&self) -> Option<f64> {
        let from_exponent = || {
            let exponent = *self.numbers("Ns")?.first()?;
            // as Blender reads and writes it
            (exponent.is_finite())
                .then(|| 1.0 - exponent.clamp(0.0, 1000.0).sqrt() / 1000f64.sqrt())
        };
        self.share("Pr").or_else(from_exponent)
    }

    /// How much of a metal it is, from 0 to 1.
    pub fn metallic(&self) -> Option<f64> {
        self.share("Pm")
    }

    /// The picture of its colour.
    pub fn texture(&self) -> Option<PathBuf> {
        let statements = self.statements.iter().rev();
        let mut pictures = statements.filter(|s| s.trim_start().starts_with("map_Kd"));
        pictures
            .find_map(|statement| picture(statement))
            .map(|(_, name)| PathBuf::from(name))
    }

    /// All pictures.
    pub(crate) fn pictures(&self) -> impl Iterator<Item = &Path> {
        let pictures = self.statements.iter().filter_map(|s| picture(s));
        pictures.map(|(_, name)| Path::new(name))
    }

    /// Gives every picture another name.
    pub(crate) fn rename_pictures(&mut self, mut other: impl FnMut(&str) -> String) {
        for statement in &mut self.statements {
            if let Some((before, name)) = picture(statement) {
                *statement = format!("{before}{}", other(name));
            }
        }
    }

    /// As a library has it.
    pub(crate) fn text(&self) -> String {
        let mut text = format!("newmtl {}\n", self.name);
        for statement in &self.statements {
            text += statement;
            text.push('\n');
        }
        text
    }
}

/// The materials of the text of a library.
pub(crate) fn parse(text: &str) -> Vec<Material> {
    let mut materials: Vec<Material> = Vec::new();
    for line in text.lines() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match (line.strip_prefix("newmtl"), materials.last_mut()) {
            (Some(name), _) => materials.push(Material {
                name: name.trim().into(),
                statements: Vec::new(),
            }),
            (None, Some(material)) => material.statements.push(line.into()),
            (None, None) => {}
        }
    }
    materials
}

/// Reads the libraries that a mesh file names; those that cannot be read are returned with the reason, for a mesh is none the worse for them.
pub(crate) fn read_libraries(mesh: &Path, names: &[String]) -> (Vec<Material>, Vec<String>) {
    let folder = mesh.parent().unwrap_or(Path::new(""));
    let (mut materials, mut missing) = (Vec::<Material>::new(), Vec::new());
    for name in names {
        let whole = folder.join(name);
        // one name with blanks, or several
        let paths = match whole.exists() || !name.contains(' ') {
            true => vec![whole],
            false => name.split(' ').map(|name| folder.join(name)).collect(),
        };
        for path in paths {
            let text = match fs::read(&path) {
                Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
                Err(error) => {
                    missing.push(format!("{}: {error}", path.display()));
                    continue;
                }
            };
            let base = path.parent().unwrap_or(Path::new(""));
            for mut material in parse(&text) {
                material.rename_pictures(|name| found(base, name));
                if !materials.iter().any(|known| known.name == material.name) {
                    materials.push(material);
                }
            }
        }
    }
    (materials, missing)
}

/// A picture by its absolute path, if it is there; also where the path was written on Windows.
fn found(base: &Path, name: &str) -> String {
    let candidates = [name.to_string(), name.replace('\\', "/")];
    let mut paths = candidates.iter().map(|name| base.join(name));
    let path = paths.find(|path| path.is_file());
    let path = path.and_then(|path| std::path::absolute(path).ok());
    path.map_or_else(|| name.into(), |path| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_kept_and_what_others_can_say_is_read() {
        let text = "# by hand\nKd 9 9 9\nnewmtl red silk\n Ns 250\nKd 0.8 0.1 0.2\nTr 0.25\nillum 2\n\
                    map_Kd -s 2 2 -o 0.5 -bm 1 my cloth.png\nnewmtl plain\n";
        let materials = parse(text);
        assert_eq!(materials.len(), 2);
        let silk = &materials[0];
        assert_eq!(silk.name, "red silk");
        assert_eq!(silk.colour(), Some([0.8, 0.1, 0.2]));
        assert_eq!(silk.opacity(), Some(0.75));
        assert_eq!(silk.roughness(), Some(0.5));
        assert_eq!(silk.texture(), Some("my cloth.png".into()));
        assert_eq!(parse(&silk.text())[0], *silk);
        let plain = &materials[1];
        assert_eq!((plain.colour(), plain.texture()), (None, None));
        let mut renamed = silk.clone();
        renamed.rename_pictures(|name| format!("/a/{name}"));
        assert_eq!(
            renamed.statements[4],
            "map_Kd -s 2 2 -o 0.5 -bm 1 /a/my cloth.png"
        );
    }

    #[test]
    fn libraries_are_found_next_to_the_mesh_and_missing_ones_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write("my dress.mtl", "newmtl a\nKd 1 0 0\nmap_Kd tex\\a.png\n");
        fs::create_dir(folder.path().join("tex")).unwrap();
        write("tex/a.png", "");
        let mesh = folder.path().join("dress.obj");
        let names = ["my dress.mtl".into(), "b.mtl".into()];
        let (materials, missing) = read_libraries(&mesh, &names);
        let texture = materials[0].texture().unwrap();
        assert!(texture.is_absolute() && texture.ends_with("tex/a.png"));
        assert!(
            missing.len() == 1 && missing[0].contains("b.mtl"),
            "{missing:?}"
        );
    }
}
