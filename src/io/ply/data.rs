//! The numbers behind the header of a PLY file, in any encoding.

use super::header::{Encoding, Property};
use crate::io::error::Problem;
use crate::io::mesh_file::ScalarKind;
use crate::io::text::{self, Lines, quoted};

/// The numbers behind the header.
pub(super) struct Data<'a> {
    pub(super) encoding: Encoding,
    bytes: &'a [u8],
    /// First byte behind the header.
    start: usize,
    /// Next byte of a binary file.
    next: usize,
    lines: Lines<'a>,
    /// Words of the current line that have not been used.
    line: Words<'a>,
}

/// Words of one line of an ascii file.
#[derive(Default)]
struct Words<'a>(&'a [u8]);

impl<'a> Iterator for Words<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let rest = self.0.trim_ascii_start();
        let end = rest
            .iter()
            .position(u8::is_ascii_whitespace)
            .unwrap_or(rest.len());
        let (word, rest) = rest.split_at(end);
        self.0 = rest;
        (!word.is_empty()).then_some(word)
    }
}

impl<'a> Data<'a> {
    /// The data of a file, given the lines behind its header.
    pub(super) fn new(encoding: Encoding, bytes: &'a [u8], lines: Lines<'a>) -> Self {
        let start = bytes.len() - lines.rest().len();
        Self {
            encoding,
            bytes,
            start,
            next: start,
            lines,
            line: Words::default(),
        }
    }

    /// Bytes that have not been used.
    pub(super) fn left(&self) -> usize {
        match self.encoding {
            Encoding::Ascii => self.lines.rest().len() + self.line.0.len(),
            _ => self.bytes.len() - self.next,
        }
    }

    /// Line or byte, for messages.
    pub(super) fn place(&self) -> u64 {
        match self.encoding {
            Encoding::Ascii => self.lines.number(),
            _ => self.next as u64,
        }
    }

    /// Goes to the next line that is not blank.
    pub(super) fn begin_row(&mut self) -> Result<(), Problem> {
        if self.encoding != Encoding::Ascii {
            return Ok(());
        }
        match self.lines.find(|(_, line)| !line.trim_ascii().is_empty()) {
            Some((_, line)) => {
                self.line = Words(line);
                Ok(())
            }
            None => Err(Problem::Truncated(
                "before all promised lines have come".into(),
            )),
        }
    }

    /// Checks that the line is used up.
    pub(super) fn end_row(&mut self) -> Result<(), Problem> {
        match self.line.next() {
            None => Ok(()),
            Some(word) => Err(Problem::Syntax {
                what: format!("{} is one number too many on this line", quoted(word)),
                remedy: "each line has exactly the properties that the header declares",
            }),
        }
    }

    fn word(&mut self) -> Result<&'a [u8], Problem> {
        self.line.next().ok_or(Problem::Syntax {
            what: "too few numbers on this line".into(),
            remedy: "each line has exactly the properties that the header declares; is the file truncated?",
        })
    }

    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], Problem> {
        let taken = self.bytes[self.next..]
            .get(..count)
            .ok_or_else(|| Problem::Truncated("in the middle of its data".into()))?;
        self.next += count;
        Ok(taken)
    }

    pub(super) fn scalar(&mut self, kind: ScalarKind) -> Result<f64, Problem> {
        if self.encoding == Encoding::Ascii {
            let word = self.word()?;
            return if kind.is_integer() {
                whole(word, kind)
            } else {
                text::number(word)
            };
        }
        let mut eight = [0; 8];
        let bytes = &mut eight[..kind.size()];
        bytes.copy_from_slice(self.take(kind.size())?);
        if self.encoding == Encoding::Big {
            bytes.reverse();
        }
        let [a, b, c, d, ..] = eight;
        Ok(match kind {
            ScalarKind::I8 => f64::from(a as i8),
            ScalarKind::U8 => f64::from(a),
            ScalarKind::I16 => f64::from(i16::from_le_bytes([a, b])),
            ScalarKind::U16 => f64::from(u16::from_le_bytes([a, b])),
            ScalarKind::I32 => f64::from(i32::from_le_bytes([a, b, c, d])),
            ScalarKind::U32 => f64::from(u32::from_le_bytes([a, b, c, d])),
            ScalarKind::F32 => f64::from(f32::from_le_bytes([a, b, c, d])),
            ScalarKind::F64 => f64::from_le_bytes(eight),
        })
    }

    pub(super) fn coordinate(&mut self, kind: ScalarKind) -> Result<f64, Problem> {
        if self.encoding == Encoding::Ascii {
            return text::coordinate(self.word()?);
        }
        text::in_range(self.scalar(kind)?)
    }

    /// Length of a list, not longer than what is left of the file.
    pub(super) fn length(
        &mut self,
        kind: ScalarKind,
        property: &Property,
    ) -> Result<usize, Problem> {
        let length = self.scalar(kind)?;
        let least = match self.encoding {
            Encoding::Ascii => 2,
            _ => property.kind.size(),
        };
        if length < 0.0 {
            return Err(Problem::Syntax {
                what: format!("a list of length {length}"),
                remedy: "the file is damaged, or its header declares another type than it uses",
            });
        }
        if length > (self.left().div_ceil(least)) as f64 {
            return Err(Problem::Truncated(format!(
                "within a list '{}' of {length} numbers",
                property.name
            )));
        }
        Ok(length as usize)
    }

    /// Refuses data that the header does not declare.
    pub(super) fn check_end(&self) -> Result<(), Problem> {
        let rest = match self.encoding {
            Encoding::Ascii => self.lines.rest(),
            _ => &self.bytes[self.next..],
        };
        if rest.trim_ascii().is_empty() {
            return Ok(());
        }
        Err(Problem::Syntax {
            what: format!(
                "{} bytes behind the last element; the header declares {} only",
                rest.len(),
                self.bytes.len() - rest.len() - self.start
            ),
            remedy: "its counts or types do not fit the data; write the file anew",
        })
    }
}

fn whole(word: &[u8], kind: ScalarKind) -> Result<f64, Problem> {
    let (low, high) = match kind {
        ScalarKind::I8 => (i64::from(i8::MIN), i64::from(i8::MAX)),
        ScalarKind::U8 => (0, i64::from(u8::MAX)),
        ScalarKind::I16 => (i64::from(i16::MIN), i64::from(i16::MAX)),
        ScalarKind::U16 => (0, i64::from(u16::MAX)),
        ScalarKind::U32 => (0, i64::from(u32::MAX)),
        _ => (i64::from(i32::MIN), i64::from(i32::MAX)),
    };
    text::integer(word)
        .filter(|value| (low..=high).contains(value))
        .map(|value| value as f64)
        .ok_or_else(|| Problem::Syntax {
            what: format!(
                "{} is not a whole number of type {}",
                quoted(word),
                kind.name()
            ),
            remedy: "it must be one without a point and within the range of its type",
        })
}
