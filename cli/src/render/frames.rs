//! Which frames: `0,60,last`, `10..50`, `10..50/5`, `every 10`.

use std::str::FromStr;

use crate::failure::Failure;

/// A choice of frames, not yet checked against a recording.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Frames {
    text: String,
    parts: Vec<Part>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Part {
    first: Option<u64>,
    /// `None` is the last frame.
    last: Option<u64>,
    step: u64,
}

impl FromStr for Frames {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts: Option<Vec<Part>> = text.split(',').map(|part| parse(part.trim())).collect();
        match parts {
            Some(parts) => Ok(Self {
                text: text.into(),
                parts,
            }),
            None => Err(
                "write numbers and ranges, e.g. 0,60,last or 10..50 or 10..50/5 or \"every 10\""
                    .into(),
            ),
        }
    }
}

fn parse(part: &str) -> Option<Part> {
    let number = |text: &str| text.trim().parse::<u64>().ok();
    // an end of a range: a number, or nothing for the first or last frame
    let end = |text: &str| match text.trim() {
        "" | "last" => Some(None),
        other => number(other).map(Some),
    };
    if let Some(step) = part.strip_prefix("every") {
        return Some(Part {
            first: Some(0),
            last: None,
            step: number(step).filter(|n| *n > 0)?,
        });
    }
    if let Some((first, rest)) = part.split_once("..") {
        let (last, step) = match rest.split_once('/') {
            Some((last, step)) => (last, number(step).filter(|n| *n > 0)?),
            None => (rest, 1),
        };
        let first = end(first)?.unwrap_or(0);
        return Some(Part {
            first: Some(first),
            last: end(last)?,
            step,
        });
    }
    let frame = match part {
        "last" => None,
        other => Some(number(other)?),
    };
    Some(Part {
        first: frame,
        last: frame,
        step: 1,
    })
}

impl Frames {
    /// The frames, in the order of the text, for a recording of so many.
    pub(crate) fn of(&self, count: u64) -> Result<Vec<u64>, Failure> {
        let end = count - 1;
        let mut frames = Vec::new();
        for part in &self.parts {
            let (first, last) = (part.first.unwrap_or(end), part.last.unwrap_or(end));
            if let Some(beyond) = [first, last].into_iter().find(|frame| *frame > end) {
                return Err(Failure::input(format!(
                    "--frames {}: there is no frame {beyond}; the recording has 0 to {end}",
                    self.text
                )));
            }
            if first > last {
                return Err(Failure::input(format!(
                    "--frames {}: {first}..{last} is empty; write the smaller number first",
                    self.text
                )));
            }
            frames.extend((first..=last).step_by(part.step as usize));
        }
        Ok(frames)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<u64> {
        text.parse::<Frames>().unwrap().of(121).unwrap()
    }

    #[test]
    fn frames_are_read_as_people_write_them() {
        assert_eq!(of("0,60,last"), [0, 60, 120]);
        assert_eq!(of("10..13"), [10, 11, 12, 13]);
        assert_eq!(of("0..20/10, 7"), [0, 10, 20, 7]);
        assert_eq!(of("every 50"), [0, 50, 100]);
        assert_eq!(of("118.."), [118, 119, 120]);
        assert_eq!(of("../60"), [0, 60, 120]);
    }

    #[test]
    fn nonsense_and_missing_frames_are_refused() {
        for bad in ["", "x", "1-5", "every 0", "1..2/0", "1,,2", "-1"] {
            assert!(bad.parse::<Frames>().is_err(), "{bad}");
        }
        for missing in ["121", "5..200", "9..3"] {
            assert!(
                missing.parse::<Frames>().unwrap().of(121).is_err(),
                "{missing}"
            );
        }
    }
}
