//! What can be wrong with a file: where, what, and what to do about it.

use std::fmt;
use std::path::{Path, PathBuf};

/// A file that cannot be read or written as asked.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{}{place}: {problem}", path.display())]
pub struct FileError {
    /// The file, as it was named by the caller.
    pub path: PathBuf,
    /// Where in it.
    pub place: Place,
    /// What is wrong, and what to try.
    pub problem: Box<Problem>,
}

impl FileError {
    /// An error at a place of a file.
    pub fn new(path: &Path, place: Place, problem: Problem) -> Self {
        Self {
            path: path.to_owned(),
            place,
            problem: Box::new(problem),
        }
    }

    /// What the system said when the file was opened, read or written.
    pub(super) fn from_io(path: &Path, error: &std::io::Error) -> Self {
        let problem = match error.kind() {
            std::io::ErrorKind::NotFound => Problem::Missing,
            std::io::ErrorKind::IsADirectory => Problem::IsFolder,
            _ => Problem::Refused(error.to_string()),
        };
        Self::new(path, Place::Whole, problem)
    }
}

/// Where in a file something is wrong; bytes and lines are those of the unpacked text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The file as a whole.
    Whole,
    /// A line of a text, from 1.
    Line(u64),
    /// A byte of a binary file, from 0.
    Byte(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => Ok(()),
            Self::Line(line) => write!(f, ":{line}"),
            Self::Byte(byte) => write!(f, ", byte {byte}"),
        }
    }
}

/// What is wrong with a file.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// No such file, or no such folder to write into.
    #[error("no such file or folder; check the spelling and the folder you started in")]
    Missing,

    /// A folder where a file is needed.
    #[error("this is a folder; name a mesh file in it")]
    IsFolder,

    /// The system refuses to read or write.
    #[error("the system refuses: {0}")]
    Refused(String),

    /// A glTF file that cannot be used as a body.
    #[error("{0}")]
    Character(String),

    /// Neither the extension nor the content is known.
    #[error(
        "unknown kind of file{}; Percale reads .obj, .ply, .stl, .glb and .gltf, plain or as .gz, and writes .obj and .ply",
        extension.as_ref().map(|e| format!(" '.{e}'")).unwrap_or_default()
    )]
    UnknownFormat {
        /// The extension, if there is one.
        extension: Option<String>,
    },

    /// The compressed data are damaged or cut off.
    #[error("damaged gzip data ({0}); fetch the file again or pack it anew")]
    Gzip(String),

    /// The file unpacks to far more than a mesh would.
    #[error(
        "{packed} packed bytes unpack to more than {limit}, which no mesh does; if it is what you expect, unpack it with gunzip first"
    )]
    Bomb {
        /// Packed bytes.
        packed: u64,
        /// Where unpacking stopped, in bytes.
        limit: u64,
    },

    /// More than fits.
    #[error("{what} are more than {limit}; split the mesh into several files")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// How much is possible.
        limit: u64,
    },

    /// The content is something else.
    #[error("not a mesh: {0}")]
    NotAMesh(String),

    /// The file ends too early.
    #[error("the file ends {0}; it is probably truncated, fetch it again or write it anew")]
    Truncated(String),

    /// The text or the header cannot be understood.
    #[error("{what}; {remedy}")]
    Syntax {
        /// What is wrong.
        what: String,
        /// What to try.
        remedy: &'static str,
    },

    /// A number is NaN or infinite.
    #[error(
        "{what} is {value}, which is not a finite number; repair it in the program that wrote the file"
    )]
    NotFinite {
        /// Which number.
        what: &'static str,
        /// As written.
        value: String,
    },

    /// A coordinate is outside the range in which detection is proved.
    #[error(
        "coordinate {value}: each must be 0 or between 1e-70 and 1e30 m in magnitude; scale the mesh, or set what is meant to be 0 to 0"
    )]
    OutOfRange {
        /// As written.
        value: String,
    },

    /// A face uses something that does not exist.
    #[error(
        "the face uses {what} {index}, but there are {count}, counted from {first}; is the file truncated?"
    )]
    IndexOutOfRange {
        /// What is numbered: "vertex", "texture coordinate" or "normal".
        what: &'static str,
        /// As written.
        index: i64,
        /// How many there are.
        count: u64,
        /// Number of the first: 1 in OBJ, 0 in PLY.
        first: u32,
    },

    /// A face uses a vertex twice.
    #[error(
        "the face uses vertex {vertex} twice (counted from {first}); remove degenerate faces first"
    )]
    DegenerateFace {
        /// The vertex, as the format numbers it.
        vertex: u64,
        /// Number of the first: 1 in OBJ, 0 in PLY.
        first: u32,
    },

    /// A facet of an STL has two equal corners.
    #[error("facet {facet} (from 0) has two equal corners; remove degenerate faces first")]
    DegenerateFacet {
        /// The facet, from 0.
        facet: u64,
    },

    /// Two faces lie on the same three vertices.
    #[error(
        "the face has the same three vertices as the one at {}; remove one of them",
        at(first)
    )]
    DuplicateFace {
        /// Where the other one is.
        first: Place,
    },

    /// There is nothing to test.
    #[error("there are no faces; detection needs at least one triangle")]
    NoFaces,

    /// Positions of another mesh.
    #[error("{found} {what}, but {expected} has {wanted}; both must be the same mesh, moved")]
    OtherMesh {
        /// "vertices" or "faces".
        what: &'static str,
        /// How many are here.
        found: usize,
        /// The file they should fit to.
        expected: String,
        /// How many are there.
        wanted: usize,
    },

    /// Faces of another mesh.
    #[error(
        "face {face} (from 0) has the corners {found:?}, but {wanted:?} in {expected}; both must be the same mesh, moved"
    )]
    OtherFaces {
        /// The first face that differs, from 0.
        face: usize,
        /// Its corners here.
        found: [u32; 3],
        /// The file it should fit to.
        expected: String,
        /// Its corners there.
        wanted: [u32; 3],
    },

    /// The mesh cannot be used.
    #[error("{0}")]
    Mesh(#[from] crate::geometry::MeshError),
}

fn at(place: &Place) -> String {
    match place {
        Place::Whole => "another place".into(),
        Place::Line(line) => format!("line {line}"),
        Place::Byte(byte) => format!("byte {byte}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_file_place_fault_and_remedy() {
        let problem = Problem::DegenerateFace {
            vertex: 7,
            first: 1,
        };
        let error = FileError::new(Path::new("a/b.obj"), Place::Line(12), problem);
        assert_eq!(
            error.to_string(),
            "a/b.obj:12: the face uses vertex 7 twice (counted from 1); remove degenerate faces first"
        );
        let io = std::io::Error::from(std::io::ErrorKind::NotFound);
        assert_eq!(
            FileError::from_io(Path::new("x.ply"), &io).to_string(),
            "x.ply: no such file or folder; check the spelling and the folder you started in"
        );
    }
}
