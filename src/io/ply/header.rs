//! The header of a PLY file: which elements follow, with which properties, in which encoding.

use std::path::Path;

use crate::io::error::{FileError, Place, Problem};
use crate::io::mesh_file::ScalarKind;
use crate::io::text::{Lines, integer, quoted, words};

/// How the numbers behind the header are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Ascii,
    Little,
    Big,
}

/// A kind of thing in the file, such as `vertex` or `face`.
#[derive(Debug, PartialEq)]
pub(super) struct Element {
    pub(super) name: String,
    /// How many the header promises; not to be believed before the data are seen.
    pub(super) count: u64,
    pub(super) properties: Vec<Property>,
}

/// A number or list of numbers that each thing has.
#[derive(Debug, PartialEq)]
pub(super) struct Property {
    pub(super) name: String,
    pub(super) kind: ScalarKind,
    /// The kind of the length, if it is a list.
    pub(super) list: Option<ScalarKind>,
}

impl ScalarKind {
    fn parse(word: &[u8]) -> Option<Self> {
        Some(match word {
            b"char" | b"int8" => Self::I8,
            b"uchar" | b"uint8" => Self::U8,
            b"short" | b"int16" => Self::I16,
            b"ushort" | b"uint16" => Self::U16,
            b"int" | b"int32" => Self::I32,
            b"uint" | b"uint32" => Self::U32,
            b"float" | b"float32" => Self::F32,
            b"double" | b"float64" => Self::F64,
            _ => return None,
        })
    }

    /// The name that PLY has for it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::I8 => "char",
            Self::U8 => "uchar",
            Self::I16 => "short",
            Self::U16 => "ushort",
            Self::I32 => "int",
            Self::U32 => "uint",
            Self::F32 => "float",
            Self::F64 => "double",
        }
    }

    /// Bytes in a binary file.
    pub(super) fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    /// Whether it holds whole numbers only.
    pub(super) fn is_integer(self) -> bool {
        !matches!(self, Self::F32 | Self::F64)
    }
}

impl Element {
    /// The fewest bytes that one such thing takes: lists may be empty, text needs a digit and a separator.
    pub(super) fn smallest_size(&self, encoding: Encoding) -> u64 {
        let sizes = self.properties.iter().map(|p| match encoding {
            Encoding::Ascii => 2,
            _ => p.list.unwrap_or(p.kind).size() as u64,
        });
        sizes.sum()
    }

    /// The exact bytes that one such thing takes in a binary file, if it has no lists.
    pub(super) fn fixed_size(&self) -> Option<u64> {
        let scalars = self.properties.iter().all(|p| p.list.is_none());
        scalars.then(|| self.properties.iter().map(|p| p.kind.size() as u64).sum())
    }
}

/// Reads the header; the lines that remain are the data.
pub(super) fn read<'a>(
    path: &Path,
    bytes: &'a [u8],
) -> Result<(Encoding, Vec<Element>, Lines<'a>), FileError> {
    let mut lines = Lines::of(bytes);
    let mut encoding = None;
    let mut elements: Vec<Element> = Vec::new();
    if lines
        .next()
        .is_none_or(|(_, line)| line.trim_ascii() != b"ply")
    {
        let problem = Problem::NotAMesh("the first line of a PLY file is 'ply'".into());
        return Err(FileError::new(path, Place::Line(1), problem));
    }
    while let Some((number, line)) = lines.next() {
        let error = |Wrong(what, remedy)| {
            let what = format!("{what}: {}", quoted(line));
            FileError::new(path, Place::Line(number), Problem::Syntax { what, remedy })
        };
        let all: Vec<&[u8]> = words(line).collect();
        match all.as_slice() {
            [] | [b"comment" | b"obj_info", ..] => {}
            [b"format", kind, version] => {
                encoding = Some(encoding_of(kind, version).map_err(error)?);
            }
            [b"element", name, count] => elements.push(element(name, count).map_err(error)?),
            [b"property", declared @ .., name] => {
                let property = property(declared, name).map_err(error)?;
                let element = elements.last_mut().ok_or(BAD_PROPERTY).map_err(error)?;
                element.properties.push(property);
            }
            [b"end_header"] => {
                let remedy = "add a line such as 'format ascii 1.0'";
                let missing = Wrong("the header names no format", remedy);
                let encoding = encoding.ok_or(missing).map_err(error)?;
                return Ok((encoding, elements, lines));
            }
            _ => {
                let remedy = "it knows format, comment, obj_info, element, property and end_header";
                return Err(error(Wrong("unknown line in the header", remedy)));
            }
        }
    }
    let problem = Problem::Truncated("within the header, before 'end_header'".into());
    Err(FileError::new(path, Place::Line(lines.number()), problem))
}

/// What is wrong with a line, and what to do.
struct Wrong(&'static str, &'static str);

const BAD_PROPERTY: Wrong = Wrong(
    "bad property",
    "properties follow an element and look like 'property double x' or 'property list uchar int vertex_indices'",
);

fn encoding_of(kind: &[u8], version: &[u8]) -> Result<Encoding, Wrong> {
    match (kind, version) {
        (b"ascii", b"1.0") => Ok(Encoding::Ascii),
        (b"binary_little_endian", b"1.0") => Ok(Encoding::Little),
        (b"binary_big_endian", b"1.0") => Ok(Encoding::Big),
        _ => Err(Wrong(
            "unknown PLY format",
            "it must be ascii, binary_little_endian or binary_big_endian, version 1.0",
        )),
    }
}

fn element(name: &[u8], count: &[u8]) -> Result<Element, Wrong> {
    let count = integer(count).and_then(|c| u64::try_from(c).ok());
    let remedy = "write 'element', a name and a whole number";
    Ok(Element {
        name: String::from_utf8_lossy(name).into_owned(),
        count: count.ok_or(Wrong("bad element count", remedy))?,
        properties: Vec::new(),
    })
}

fn property(declared: &[&[u8]], name: &[u8]) -> Result<Property, Wrong> {
    let (list, kind) = match declared {
        [kind] => (None, ScalarKind::parse(kind)),
        [b"list", length, kind] => {
            let length = ScalarKind::parse(length).filter(|k| k.is_integer());
            let remedy = "the length of a list is a whole number, such as uchar";
            let kind = ScalarKind::parse(kind).ok_or(BAD_PROPERTY)?;
            (
                Some(length.ok_or(Wrong("bad list property", remedy))?),
                Some(kind),
            )
        }
        _ => (None, None),
    };
    Ok(Property {
        name: String::from_utf8_lossy(name).into_owned(),
        kind: kind.ok_or(BAD_PROPERTY)?,
        list,
    })
}
