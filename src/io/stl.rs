//! STL, text and binary: loose triangles, welded where corners have exactly equal coordinates.
//!
//! Welding by a tolerance would move or merge what the file keeps apart; equal means equal (0 and −0 count as equal, the first
//! one stays). Vertices are numbered in the order in which they first appear.
//!
//! Why not a crate: `stl_io` (0.11.0) reads text as f32 too, so coordinates would not be as written, and names no place.

use std::collections::HashMap;
use std::path::Path;

use glam::DVec3;

use super::builder::Builder;
use super::error::{FileError, Place, Problem};
use super::mesh_file::MeshFile;
use super::text::{self, Lines, quoted, words};

/// Bytes before the first facet of a binary file: a comment of 80 and the count.
const HEADER: usize = 84;
/// Bytes of a facet: normal, three corners, two of padding.
const FACET: usize = 50;

/// Reads an STL file; `path` is for messages.
pub(super) fn read(path: &Path, bytes: &[u8]) -> Result<MeshFile, FileError> {
    // binary files often begin with "solid" too; their length gives them away
    let facet_count = bytes
        .get(HEADER - 4..HEADER)
        .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    let length = |count: u32| HEADER as u64 + FACET as u64 * u64::from(count);
    match facet_count {
        Some(count) if length(count) == bytes.len() as u64 => read_binary(path, bytes),
        _ if begins_with_solid(bytes) => read_text(path, bytes),
        Some(count) if length(count) > bytes.len() as u64 => {
            let problem = Problem::Truncated(format!(
                "too early: {count} facets take {} bytes, it has {}",
                length(count),
                bytes.len()
            ));
            Err(FileError::new(
                path,
                Place::Byte(HEADER as u64 - 4),
                problem,
            ))
        }
        Some(count) => {
            let problem = Problem::NotAMesh(format!(
                "{count} facets take {} bytes of a binary STL file, it has {}",
                length(count),
                bytes.len()
            ));
            Err(FileError::new(
                path,
                Place::Byte(HEADER as u64 - 4),
                problem,
            ))
        }
        None => {
            let problem = Problem::NotAMesh("too short for an STL file".into());
            Err(FileError::new(path, Place::Whole, problem))
        }
    }
}

fn begins_with_solid(bytes: &[u8]) -> bool {
    let start = bytes.trim_ascii_start();
    start
        .get(..5)
        .is_some_and(|s| s.eq_ignore_ascii_case(b"solid"))
}

/// Vertices by their coordinates.
struct Welder<'a> {
    build: Builder<'a>,
    /// Only looked up, never iterated.
    known: HashMap<[u64; 3], u32>,
    facet_count: u64,
}

impl<'a> Welder<'a> {
    fn new(path: &'a Path, place: fn(u64) -> Place) -> Self {
        Self {
            build: Builder::new(path, 0, place),
            known: HashMap::new(),
            facet_count: 0,
        }
    }

    fn facet(&mut self, corners: [DVec3; 3], place: u64) -> Result<(), FileError> {
        let [a, b, c] = corners;
        if a == b || b == c || c == a {
            let facet = self.facet_count;
            return Err(self.build.error(place, Problem::DegenerateFacet { facet }));
        }
        for corner in corners {
            // adding 0 turns −0 into 0
            let key = (corner + DVec3::ZERO).to_array().map(f64::to_bits);
            let next = self.build.positions.len() as u32;
            let vertex = *self.known.entry(key).or_insert(next);
            if vertex == next {
                self.build.positions.push(corner);
            }
            self.build.push_corner(vertex, None);
        }
        self.facet_count += 1;
        self.build.close_face(place)
    }
}

fn read_binary(path: &Path, bytes: &[u8]) -> Result<MeshFile, FileError> {
    let mut welder = Welder::new(path, Place::Byte);
    for (i, facet) in bytes[HEADER..].chunks_exact(FACET).enumerate() {
        let start = HEADER + i * FACET;
        let mut corners = [DVec3::ZERO; 3];
        for k in 0..9 {
            let at = 12 + 4 * k;
            let value =
                f32::from_le_bytes([facet[at], facet[at + 1], facet[at + 2], facet[at + 3]]);
            corners[k / 3][k % 3] = text::in_range(f64::from(value))
                .map_err(|problem| welder.build.error((start + at) as u64, problem))?;
        }
        welder.facet(corners, start as u64)?;
    }
    welder.build.finish()
}

fn read_text(path: &Path, bytes: &[u8]) -> Result<MeshFile, FileError> {
    let mut welder = Welder::new(path, Place::Line);
    let mut expected = Expected::Solid;
    let mut corners = [DVec3::ZERO; 3];
    let mut facet_line = 0;
    let mut lines = Lines::of(bytes);
    for (number, line) in lines.by_ref() {
        let mut words = words(line);
        let Some(keyword) = words.next() else {
            continue;
        };
        let keyword = keyword.to_ascii_lowercase();
        expected = match (expected, keyword.as_slice()) {
            (Expected::Solid, b"solid") => {
                let name = String::from_utf8_lossy(line.trim_ascii()[5..].trim_ascii());
                welder.build.enter_part(name.into_owned());
                Expected::Facet
            }
            (Expected::Facet, b"facet") => {
                facet_line = number;
                Expected::Loop
            }
            (Expected::Facet, b"endsolid") => Expected::Solid,
            (Expected::Loop, b"outer") => Expected::Vertex(0),
            (Expected::Vertex(k), b"vertex") => {
                let mut coordinate = || match words.next() {
                    Some(word) => text::coordinate(word),
                    None => Err(Problem::Syntax {
                        what: "a vertex with too few numbers".into(),
                        remedy: "write vertex x y z",
                    }),
                };
                let mut point = || Ok(DVec3::new(coordinate()?, coordinate()?, coordinate()?));
                corners[k] = point().map_err(|problem| welder.build.error(number, problem))?;
                if k == 2 {
                    Expected::EndLoop
                } else {
                    Expected::Vertex(k + 1)
                }
            }
            (Expected::EndLoop, b"endloop") => Expected::EndFacet,
            (Expected::EndFacet, b"endfacet") => {
                welder.facet(corners, facet_line)?;
                Expected::Facet
            }
            (expected, _) => {
                let problem = Problem::Syntax {
                    what: format!("{} where {} should be", quoted(&keyword), expected.name()),
                    remedy: "a facet is: facet, outer loop, three vertex lines, endloop, endfacet",
                };
                return Err(welder.build.error(number, problem));
            }
        };
    }
    if expected != Expected::Solid {
        let problem = Problem::Truncated(format!("where {} should be", expected.name()));
        return Err(welder.build.error(lines.number(), problem));
    }
    welder.build.finish()
}

/// What the next line of a text file has to begin with.
#[derive(Clone, Copy, PartialEq)]
enum Expected {
    Solid,
    Facet,
    Loop,
    Vertex(usize),
    EndLoop,
    EndFacet,
}

impl Expected {
    fn name(self) -> &'static str {
        match self {
            Self::Solid => "'solid'",
            Self::Facet => "'facet' or 'endsolid'",
            Self::Loop => "'outer loop'",
            Self::Vertex(_) => "'vertex'",
            Self::EndLoop => "'endloop'",
            Self::EndFacet => "'endfacet'",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TETRAHEDRON: [[f32; 9]; 4] = [
        [0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.1, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 0.0, 1.0],
        [0.1, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        [0.0, 1.0, 0.0, 0.0, -0.0, 0.0, 0.0, 0.0, 1.0],
    ];

    fn binary(facets: &[[f32; 9]]) -> Vec<u8> {
        let mut bytes = b"solid but binary".to_vec();
        bytes.resize(80, b' ');
        bytes.extend((facets.len() as u32).to_le_bytes());
        for f in facets {
            bytes.extend([0; 12]);
            bytes.extend(f.iter().flat_map(|c| c.to_le_bytes()));
            bytes.extend([0; 2]);
        }
        bytes
    }

    fn text(facets: &[[f32; 9]]) -> String {
        let mut out = String::from("solid  a tetrahedron\n");
        for f in facets {
            out += "facet normal 0 0 0\n outer loop\n";
            for c in f.chunks(3) {
                out += &format!("  vertex {} {} {}\n", c[0], c[1], c[2]);
            }
            out += " endloop\nendfacet\n";
        }
        out + "endsolid\n"
    }

    fn parse(bytes: &[u8]) -> Result<MeshFile, FileError> {
        read(Path::new("t.stl"), bytes)
    }

    #[test]
    fn equal_corners_are_welded_in_both_encodings() {
        let from_binary = parse(&binary(&TETRAHEDRON)).unwrap();
        let from_text = parse(text(&TETRAHEDRON).to_uppercase().as_bytes()).unwrap();
        assert_eq!(from_binary.positions.len(), 4);
        assert_eq!(
            from_binary.faces,
            [[0, 1, 2], [0, 2, 3], [2, 1, 3], [1, 0, 3]]
        );
        assert_eq!(from_text.faces, from_binary.faces);
        assert_eq!(
            from_binary.positions[2].x,
            f64::from(0.1f32),
            "f32 is widened exactly"
        );
        assert_eq!(from_text.positions[2].x, 0.1, "text is read as written");
        assert_eq!(from_text.part_names, ["A TETRAHEDRON"]);
    }

    #[test]
    fn damage_is_named_with_its_place() {
        let whole = binary(&TETRAHEDRON);
        let cut = parse(&whole[..150]).unwrap_err();
        // it begins with "solid", so it is taken for a text
        assert!(
            matches!(*cut.problem, Problem::Syntax { .. } | Problem::Truncated(_)),
            "{cut}"
        );
        let mut plain = whole.clone();
        plain[..5].fill(0);
        assert!(matches!(
            *parse(&plain[..150]).unwrap_err().problem,
            Problem::Truncated(_)
        ));
        plain.push(0);
        assert!(matches!(
            *parse(&plain).unwrap_err().problem,
            Problem::NotAMesh(_)
        ));
        assert!(matches!(
            *parse(b"short").unwrap_err().problem,
            Problem::NotAMesh(_)
        ));

        let mut facets = TETRAHEDRON;
        facets[2][4] = f32::NAN;
        let error = parse(&binary(&facets)).unwrap_err();
        assert_eq!(error.place, Place::Byte(84 + 2 * 50 + 12 + 16));
        assert!(matches!(*error.problem, Problem::NotFinite { .. }));
        facets = TETRAHEDRON;
        facets[1][3] = 0.0;
        let error = parse(&binary(&facets)).unwrap_err();
        assert_eq!(*error.problem, Problem::DegenerateFacet { facet: 1 });

        let text = text(&TETRAHEDRON);
        let error = parse(&text.as_bytes()[..text.len() - 10]).unwrap_err();
        assert!(matches!(*error.problem, Problem::Truncated(_)), "{error}");
        let error = parse(text.replacen("outer loop", "inner loop", 1).as_bytes()).unwrap_err();
        assert_eq!(error.place, Place::Line(3));
        let error = parse(text.replacen(" 1 0\n", " 1\n", 1).as_bytes()).unwrap_err();
        assert_eq!(error.place, Place::Line(5));
        let twice = [TETRAHEDRON[0], TETRAHEDRON[1], TETRAHEDRON[0]];
        let error = parse(&binary(&twice)).unwrap_err();
        assert_eq!(
            *error.problem,
            Problem::DuplicateFace {
                first: Place::Byte(84)
            }
        );
    }
}
