//! Lines, words and numbers of text formats, on bytes: a file need not be UTF-8.

use super::error::Problem;

/// Physical lines with their numbers from 1; ends are LF, CR LF or CR.
#[derive(Clone)]
pub(super) struct Lines<'a> {
    rest: &'a [u8],
    number: u64,
}

impl<'a> Lines<'a> {
    /// The lines of a text; a byte order mark in front is skipped.
    pub(super) fn of(text: &'a [u8]) -> Self {
        Self {
            rest: text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text),
            number: 0,
        }
    }

    /// Number of the line returned last.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// What has not been returned yet.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = (u64, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let end = self
            .rest
            .iter()
            .position(|&b| b == b'\n' || b == b'\r')
            .unwrap_or(self.rest.len());
        let (line, tail) = self.rest.split_at(end);
        self.rest = tail
            .strip_prefix(b"\r\n")
            .or_else(|| tail.get(1..))
            .unwrap_or(tail);
        self.number += 1;
        Some((self.number, line))
    }
}

/// Words of a line, separated by blanks, up to a word that begins with `#`.
pub(super) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty())
        .take_while(|word| word[0] != b'#')
}

/// A word for a message: readable and short.
pub(super) fn quoted(word: &[u8]) -> String {
    const SHOWN: usize = 40;
    let text: String = String::from_utf8_lossy(&word[..word.len().min(4 * SHOWN)])
        .chars()
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .take(SHOWN)
        .collect();
    let more = if text.len() < word.len() { "…" } else { "" };
    format!("'{text}{more}'")
}

/// The f64 nearest to a decimal number; infinities and NaN are returned as such.
pub(super) fn number(word: &[u8]) -> Result<f64, Problem> {
    std::str::from_utf8(word)
        .ok()
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| Problem::Syntax {
            what: format!("{} is not a number", quoted(word)),
            remedy: "numbers look like -1.25 or 3e-4, with a point and separated by blanks",
        })
}

/// A coordinate within the range of the guarantee.
///
/// Text below the smallest f64 would silently become 0: it is refused like everything else below 1e-70.
pub(super) fn coordinate(word: &[u8]) -> Result<f64, Problem> {
    let value = number(word)?;
    let vanished = value == 0.0
        && word
            .iter()
            .take_while(|b| !matches!(b, b'e' | b'E'))
            .any(|b| (b'1'..=b'9').contains(b));
    if vanished {
        return Err(Problem::OutOfRange {
            value: quoted(word),
        });
    }
    in_range(value)
}

/// Refuses a coordinate outside the range of the guarantee.
pub(super) fn in_range(value: f64) -> Result<f64, Problem> {
    use crate::geometry::mesh::{LARGEST_COORDINATE, SMALLEST_COORDINATE};
    if value == 0.0 || (SMALLEST_COORDINATE..=LARGEST_COORDINATE).contains(&value.abs()) {
        Ok(value)
    } else if value.is_finite() {
        Err(Problem::OutOfRange {
            value: format!("{value:e}"),
        })
    } else {
        Err(Problem::NotFinite {
            what: "a coordinate",
            value: value.to_string(),
        })
    }
}

/// A number that may have any size but must be finite.
pub(super) fn finite(what: &'static str, word: &[u8]) -> Result<f64, Problem> {
    let value = number(word)?;
    if value.is_finite() {
        Ok(value)
    } else {
        Err(Problem::NotFinite {
            what,
            value: quoted(word),
        })
    }
}

/// A whole number, within i64.
pub(super) fn integer(word: &[u8]) -> Option<i64> {
    let (negative, digits) = match word {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    if digits.is_empty() {
        return None;
    }
    let mut value = 0i64;
    for &digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        value = value
            .checked_mul(10)?
            .checked_add(i64::from(digit - b'0'))?;
    }
    Some(if negative { -value } else { value })
}

/// The shortest text that parses back to the same bits.
///
/// The standard library prints the shortest digits that identify the value; very small and very large values get an
/// exponent instead of a row of zeros.
pub(super) fn shortest(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude == 0.0 || (1e-5..1e16).contains(&magnitude) {
        format!("{value}")
    } else {
        format!("{value:e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_end_with_lf_crlf_or_cr() {
        let lines: Vec<_> = Lines::of(b"\xef\xbb\xbfa\r\nb\n\nc\rd").collect();
        let expected: [(u64, &[u8]); 5] = [(1, b"a"), (2, b"b"), (3, b""), (4, b"c"), (5, b"d")];
        assert_eq!(lines, expected);
        assert_eq!(Lines::of(b"").count(), 0);
    }

    #[test]
    fn numbers_are_read_to_the_nearest_f64_and_others_are_named() {
        assert_eq!(number(b"1e-3").unwrap(), 1e-3);
        assert_eq!(number(b"+.5").unwrap(), 0.5);
        for bad in ["1,5", "0x10", "1.0d3", "", "-", "1.#IND", "--1"] {
            assert!(matches!(
                number(bad.as_bytes()),
                Err(Problem::Syntax { .. })
            ));
        }
        assert!(matches!(number(b"\xff\xfe"), Err(Problem::Syntax { .. })));
    }

    #[test]
    fn coordinates_outside_the_stated_range_are_refused() {
        for good in ["0", "-0.0", "0e99", "1e-70", "-1e30", "000"] {
            assert!(coordinate(good.as_bytes()).is_ok(), "{good}");
        }
        for bad in ["1e-71", "1.1e30", "1e-400", "-4.9e-324"] {
            let answer = coordinate(bad.as_bytes());
            assert!(matches!(answer, Err(Problem::OutOfRange { .. })), "{bad}");
        }
        for bad in ["nan", "inf", "-infinity", "1e400"] {
            let answer = coordinate(bad.as_bytes());
            assert!(matches!(answer, Err(Problem::NotFinite { .. })), "{bad}");
        }
    }

    #[test]
    fn integers_that_do_not_fit_are_not_integers() {
        assert_eq!(integer(b"-12"), Some(-12));
        assert_eq!(integer(b"9223372036854775807"), Some(i64::MAX));
        assert_eq!(integer(b"9223372036854775808"), None);
        assert_eq!(integer(b"1.0"), None);
        assert_eq!(integer(b"-"), None);
    }

    proptest! {
        #[test]
        fn shortest_text_gives_the_same_bits_back(bits: u64) {
            let value = f64::from_bits(bits);
            prop_assume!(!value.is_nan());
            let back = number(shortest(value).as_bytes()).unwrap();
            prop_assert_eq!(back.to_bits(), bits);
        }
    }
}
