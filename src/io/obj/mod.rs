//! Wavefront OBJ, read and written.
//!
//! Internal: may change without notice. Open for tests and the command line.
//!
//! Read: `v` (with colours, if there are any), `vt`, `vn`, `f` in all its forms with positive and negative indices, `o` and `g` as
//! names of parts, `usemtl` and `mtllib`, line continuation, comments, any line end. Of normals counts only which are equal: they are
//! stale as soon as something moves. Other statements (lines, points, curves, private ones such as seams) are skipped.
//!
//! Why not a crate: the errors of `tobj` (4.0.5) are an enum without line or value, it renumbers the vertices of every object,
//! cuts polygons into fans only and has no check for degenerate or duplicate faces; Percale needs the file's own numbering and a
//! message that names the line.

mod write;

use std::collections::HashMap;
use std::path::Path;

use glam::{DVec2, DVec3};

use super::builder::Builder;
use super::error::{FileError, Place, Problem};
use super::mesh_file::{Attribute, MeshFile, ScalarKind};
use super::text::{self, Lines, quoted, words};
pub use write::write;
pub(crate) use write::{Naming, Part, Parts};

/// Names of the colour channels behind the coordinates of a `v` line.
const CHANNELS: [&str; 4] = ["red", "green", "blue", "alpha"];

/// Reads the text of an OBJ file; `path` is for messages.
pub(super) fn read(path: &Path, bytes: &[u8]) -> Result<MeshFile, FileError> {
    let mut reader = Reader {
        build: Builder::new(path, 1, Place::Line),
        normal_numbers: Vec::new(),
        known_normals: HashMap::new(),
        largest_normal: None,
        object: None,
    };
    let mut lines = Lines::of(bytes);
    let mut joined = Vec::new();
    while let Some((number, line)) = lines.next() {
        if line.contains(&0) {
            let problem = Problem::NotAMesh("it has bytes that no text has".into());
            return Err(reader.build.error(number, problem));
        }
        let mut statement = line;
        if line.ends_with(b"\\") && !line.trim_ascii_start().starts_with(b"#") {
            joined.clear();
            joined.extend_from_slice(&line[..line.len() - 1]);
            for (_, more) in lines.by_ref() {
                joined.push(b' ');
                joined.extend_from_slice(more);
                if joined.last() != Some(&b'\\') {
                    break;
                }
                joined.pop();
            }
            statement = &joined;
        }
        reader
            .statement(number, statement)
            .map_err(|problem| reader.build.error(number, problem))?;
    }
    reader.finish()
}

struct Reader<'a> {
    build: Builder<'a>,
    /// For each `vn` line its number among the normals that differ.
    normal_numbers: Vec<u32>,
    known_normals: HashMap<[u64; 3], u32>,
    /// Largest normal used so far and the line that uses it.
    largest_normal: Option<(i64, u64)>,
    object: Option<String>,
}

impl Reader<'_> {
    fn statement(&mut self, number: u64, line: &[u8]) -> Result<(), Problem> {
        let mut words = words(line);
        let Some(keyword) = words.next() else {
            return Ok(());
        };
        match keyword {
            b"v" => self.vertex(words),
            b"vt" => self.texture_coordinate(words),
            b"vn" => {
                self.normal(words);
                Ok(())
            }
            b"f" => self.face(number, words),
            b"o" => {
                let name = name_of(line);
                self.build.objects.enter(&name);
                self.build.enter_part(name.clone());
                self.object = Some(name);
                Ok(())
            }
            b"g" => {
                let name = name_of(line);
                let is_none = name == write::NO_GROUP;
                self.build.groups.enter(if is_none { "" } else { &name });
                if self.object.is_none() {
                    self.build.enter_part(name);
                }
                Ok(())
            }
            b"usemtl" => {
                self.build.materials.enter(&rest_of(line, keyword));
                Ok(())
            }
            b"mtllib" => {
                let name = rest_of(line, keyword);
                if !name.is_empty() && !self.build.libraries.contains(&name) {
                    self.build.libraries.push(name);
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn vertex<'w>(&mut self, words: impl Iterator<Item = &'w [u8]>) -> Result<(), Problem> {
        let mut numbers = [b"".as_slice(); 7];
        let mut count = 0;
        for word in words {
            if count < numbers.len() {
                numbers[count] = word;
            }
            count += 1;
        }
        let colours = match count {
            3 => 0,
            4 => {
                if text::number(numbers[3])? != 1.0 {
                    return Err(Problem::Syntax {
                        what: format!("a vertex of weight {}", quoted(numbers[3])),
                        remedy: "weights belong to curves; write x y z only",
                    });
                }
                0
            }
            6 | 7 => count - 3,
            _ => {
                return Err(Problem::Syntax {
                    what: format!("a vertex with {count} numbers"),
                    remedy: "write x y z, or x y z and a colour of three or four numbers",
                });
            }
        };
        let at = DVec3::new(
            text::coordinate(numbers[0])?,
            text::coordinate(numbers[1])?,
            text::coordinate(numbers[2])?,
        );
        let before = self.build.positions.len();
        while self.build.attributes.len() < colours {
            self.build.attributes.push(Attribute {
                name: CHANNELS[self.build.attributes.len()].into(),
                kind: ScalarKind::F64,
                // vertices without a colour are white, as programs show them
                values: vec![1.0; before],
            });
        }
        for (channel, attribute) in self.build.attributes.iter_mut().enumerate() {
            attribute.values.push(if channel < colours {
                text::finite("a colour", numbers[3 + channel])?
            } else {
                1.0
            });
        }
        self.build.positions.push(at);
        Ok(())
    }

    fn texture_coordinate<'w>(
        &mut self,
        mut words: impl Iterator<Item = &'w [u8]>,
    ) -> Result<(), Problem> {
        let Some(u) = words.next() else {
            return Err(Problem::Syntax {
                what: "a texture coordinate without numbers".into(),
                remedy: "write vt u v",
            });
        };
        let u = text::finite("a texture coordinate", u)?;
        let v = words
            .next()
            .map_or(Ok(0.0), |v| text::finite("a texture coordinate", v))?;
        self.build.uv.push(DVec2::new(u, v));
        Ok(())
    }

    /// Programs write normals of faces without area as anything: they count as none.
    fn normal<'w>(&mut self, words: impl Iterator<Item = &'w [u8]>) {
        let numbers: Vec<f64> = words.map_while(|word| text::number(word).ok()).collect();
        let normal = match numbers[..] {
            [x, y, z, ..] => DVec3::new(x, y, z),
            _ => DVec3::ZERO,
        };
        let normal = if normal.is_finite() {
            normal
        } else {
            DVec3::ZERO
        };
        let next = self.build.normals.len() as u32;
        let key = (normal + DVec3::ZERO).to_array().map(f64::to_bits);
        let number = *self.known_normals.entry(key).or_insert(next);
        if number == next {
            self.build.normals.push(normal);
        }
        self.normal_numbers.push(number);
    }

    fn face<'w>(
        &mut self,
        number: u64,
        words: impl Iterator<Item = &'w [u8]>,
    ) -> Result<(), Problem> {
        for word in words {
            let mut fields = word.split(|&b| b == b'/');
            let mut field = || match fields.next() {
                None | Some(b"") => Ok(None),
                Some(digits) => text::integer(digits)
                    .map(Some)
                    .ok_or_else(|| bad_corner(word)),
            };
            let (vertex, uv, normal) = (field()?, field()?, field()?);
            let vertex = vertex.ok_or_else(|| bad_corner(word))?;
            if fields.next().is_some() {
                return Err(bad_corner(word));
            }
            let vertex = resolve("vertex", vertex, self.build.positions.len())?;
            let uv = match uv {
                Some(uv) => Some(resolve("texture coordinate", uv, self.build.uv.len())?),
                None => None,
            };
            if let Some(normal) = normal {
                let normal = resolve("normal", normal, self.normal_numbers.len())?;
                self.build.push_corner(vertex, uv);
                self.build.set_normal(normal);
                let normal = i64::from(normal);
                if self
                    .largest_normal
                    .is_none_or(|(largest, _)| normal > largest)
                {
                    self.largest_normal = Some((normal, number));
                }
            } else {
                self.build.push_corner(vertex, uv);
            }
        }
        self.build.close_face(number).map_err(|e| *e.problem)
    }

    fn finish(mut self) -> Result<MeshFile, FileError> {
        if self.build.positions.is_empty() {
            let problem = Problem::NotAMesh("an OBJ file has lines that begin with 'v'".into());
            return Err(self.build.error(1, problem));
        }
        if let Some((normal, line)) = self.largest_normal
            && normal as usize >= self.normal_numbers.len()
        {
            let problem = Problem::IndexOutOfRange {
                what: "normal",
                index: normal + 1,
                count: self.normal_numbers.len() as u64,
                first: 1,
            };
            return Err(self.build.error(line, problem));
        }
        self.build.renumber_normals(&self.normal_numbers);
        self.build.finish()
    }
}

/// From the number in the file, 1 for the first or −1 for the latest, to one that counts from 0.
fn resolve(what: &'static str, index: i64, count: usize) -> Result<u32, Problem> {
    let resolved = if index > 0 {
        index - 1
    } else {
        index + count as i64
    };
    u32::try_from(resolved)
        .ok()
        .filter(|&r| index != 0 && r != u32::MAX)
        .ok_or(Problem::IndexOutOfRange {
            what,
            index,
            count: count as u64,
            first: 1,
        })
}

fn bad_corner(word: &[u8]) -> Problem {
    Problem::Syntax {
        what: format!("{} is not a corner of a face", quoted(word)),
        remedy: "corners look like 7, 7/1, 7//2 or 7/1/2",
    }
}

fn name_of(line: &[u8]) -> String {
    rest_of(line, b"o")
}

/// What stands behind a keyword.
fn rest_of(line: &[u8], keyword: &[u8]) -> String {
    let line = line.trim_ascii();
    String::from_utf8_lossy(line[keyword.len()..].trim_ascii()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<MeshFile, FileError> {
        read(Path::new("t.obj"), text.as_bytes())
    }

    fn refused(text: &str, line: u64) -> Problem {
        let error = parse(text).unwrap_err();
        assert_eq!(error.place, Place::Line(line), "{error}");
        *error.problem
    }

    const TRIANGLE: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";

    #[test]
    fn all_forms_of_faces_are_read() {
        let text = "# a comment \\\nv 0 0 0 # one\r\nv 1 0 0\rv 1 1 0 1.0\n\tv 0  1 \\\n 0\nvt 0 0\nvt .5 0 7\nvt 1\nvn 0 0 1\n\
                    f 1/1/1 2/2/1 3/3/1\nf -4//-1 3//1 -1//1\nf 1 2 \\\r\n4\nf 2/1 3/2 4/3\n";
        let file = parse(text).unwrap();
        assert_eq!(file.positions[3], DVec3::new(0.0, 1.0, 0.0));
        assert_eq!(file.faces, [[0, 1, 2], [0, 2, 3], [0, 1, 3], [1, 2, 3]]);
        let uv = file.uv.unwrap();
        assert_eq!(
            uv.coordinates,
            [DVec2::ZERO, DVec2::new(0.5, 0.0), DVec2::X]
        );
        assert_eq!(uv.corners, [Some([0, 1, 2]), None, None, Some([0, 1, 2])]);
        assert!(file.part_names.is_empty() && file.attributes.is_empty());
    }

    #[test]
    fn faces_may_come_before_their_vertices() {
        let file = parse(&format!("f 1 2 3\n{TRIANGLE}")).unwrap();
        assert_eq!(file.faces, [[0, 1, 2]]);
        assert!(matches!(
            refused(&format!("f -1 -2 -3\n{TRIANGLE}"), 1),
            Problem::IndexOutOfRange { index: -1, .. }
        ));
    }

    #[test]
    fn a_concave_polygon_is_cut_inside() {
        let text = "v 0 0 0\nv 4 0 0\nv 1 1 0\nv 0 4 0\nvt 0 0\nvt 4 0\nvt 1 1\nvt 0 4\nf 2/2 3/3 4/4 1/1\n";
        let file = parse(text).unwrap();
        assert!(
            file.faces.iter().all(|f| f.contains(&2)),
            "the notch is in both"
        );
        let uv = file.uv.unwrap();
        for (face, mapped) in file.faces.iter().zip(uv.corners) {
            assert_eq!(
                mapped,
                Some(*face),
                "texture coordinates follow the corners"
            );
        }
    }

    #[test]
    fn two_frames_of_polygons_are_one_mesh_though_cut_differently() {
        let frame = |notch: f64| {
            parse(&format!(
                "v 0 0 0\nv 4 0 0\nv {notch} {notch} 0\nv 0 4 0\nf 2 3 4 1\n"
            ))
            .unwrap()
        };
        let (convex, concave) = (frame(4.0), frame(1.0));
        assert_ne!(convex.faces, concave.faces);
        assert!(convex.check_motion_to(&concave).is_ok());
        let other = parse("v 0 0 0\nv 4 0 0\nv 4 4 0\nv 0 4 0\nf 1 2 3 4\n").unwrap();
        assert!(convex.check_motion_to(&other).is_err());
    }

    #[test]
    fn objects_name_parts_and_groups_do_where_there_are_no_objects() {
        let faces = "v 0 0 1\nf 1 2 3\ng b c\nf 1 2 4\ng a\nf 2 3 4\n";
        let grouped = parse(&format!("{TRIANGLE}g a\n{faces}")).unwrap();
        assert_eq!(grouped.part_names, ["a", "b c"]);
        assert_eq!(grouped.part_of_face, [0, 1, 0]);
        let named = parse(&format!("{TRIANGLE}o  my dress \n{faces}")).unwrap();
        assert_eq!(named.part_names, ["my dress"]);
        let none = parse(&format!("{TRIANGLE}g\nf 1 2 3\ng \n")).unwrap();
        assert!(none.part_names.is_empty());
    }

    #[test]
    fn colours_are_kept_as_attributes() {
        let file = parse("v 0 0 0\nv 1 0 0 .1 .2 .3\nv 0 1 0 1 0 0 .5\nf 1 2 3\n").unwrap();
        let names: Vec<_> = file.attributes.iter().map(|a| a.name.as_str()).collect();
        assert_eq!(names, ["red", "green", "blue", "alpha"]);
        assert_eq!(file.attributes[0].values, [1.0, 0.1, 1.0]);
        assert_eq!(file.attributes[3].values, [1.0, 1.0, 0.5]);
    }

    /// A table: one row for each fault.
    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let with = |line: &str| format!("{TRIANGLE}{line}\n");
        assert!(matches!(
            refused(&with("f 1 2 9"), 4),
            Problem::IndexOutOfRange {
                what: "vertex",
                index: 9,
                count: 3,
                first: 1
            }
        ));
        assert!(matches!(
            refused(&with("f 0 1 2"), 4),
            Problem::IndexOutOfRange { index: 0, .. }
        ));
        assert!(matches!(
            refused(&with("f -4 1 2"), 4),
            Problem::IndexOutOfRange { index: -4, .. }
        ));
        assert!(matches!(
            refused(&with("f 1/1 2/1 3/1"), 4),
            Problem::IndexOutOfRange {
                what: "texture coordinate",
                index: 1,
                count: 0,
                ..
            }
        ));
        assert!(matches!(
            refused(&with("f 1//1 2//1 3//1"), 4),
            Problem::IndexOutOfRange { what: "normal", .. }
        ));
        assert!(matches!(
            refused(&with("f 4294967296 1 2"), 4),
            Problem::IndexOutOfRange {
                index: 4_294_967_296,
                ..
            }
        ));
        assert!(matches!(
            refused(&with("f 1 2 2"), 4),
            Problem::DegenerateFace {
                vertex: 2,
                first: 1
            }
        ));
        assert!(matches!(
            refused(&with("f 1 2 3\n\nf 3 1 2"), 6),
            Problem::DuplicateFace {
                first: Place::Line(4)
            }
        ));
        for bad in [
            "f 1 2",
            "f",
            "f 1 2 x",
            "f 1 2 3/1/1/1",
            "f 1 2 /3",
            "f 1 2 3.0",
        ] {
            assert!(
                matches!(refused(&with(bad), 4), Problem::Syntax { .. }),
                "{bad}"
            );
        }
        for bad in [
            "v 1 2",
            "v 1 2 3 4 5",
            "v 1 2 3 0.5",
            "v a b c",
            "v 1,0 2 3",
            "v 1 2 3 4 5 6 7 8",
            "vt",
        ] {
            assert!(
                matches!(refused(&with(bad), 4), Problem::Syntax { .. }),
                "{bad}"
            );
        }
        assert!(matches!(
            refused(&with("v 1 nan 2"), 4),
            Problem::NotFinite { .. }
        ));
        assert!(matches!(
            refused(&with("vt inf 2"), 4),
            Problem::NotFinite { .. }
        ));
        assert!(matches!(
            refused(&with("v 1 1e-80 2"), 4),
            Problem::OutOfRange { .. }
        ));
        assert!(matches!(
            refused("# nothing\nl 1 2\n", 1),
            Problem::NotAMesh(_)
        ));
        assert!(matches!(
            refused("v 1 2 3\n\0\0\n", 2),
            Problem::NotAMesh(_)
        ));
    }

    #[test]
    fn what_is_written_comes_back_to_the_bit() {
        let text = "v 0.1 -0 1e-70\nv 1e30 0.30000000000000004 5e-7\nv 0 1 0\nv 0 0 1\nvt 0.1 0.7\nvt 1e300 0\nvt 0 1\n\
                    o left\nf 1/1 2/2 3/3\no right sleeve\nf 1 2 4\n";
        let file = parse(text).unwrap();
        let mut out = Vec::new();
        write(&file, &mut out).unwrap();
        let back = read(Path::new("t.obj"), &out).unwrap();
        assert_eq!(back, file);
        assert_eq!(back.positions[0].y.to_bits(), (-0.0f64).to_bits());
    }
}
