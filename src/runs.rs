//! Many runs of one scene: every combination of some values of some keys, one result folder each, and a table of totals.
//!
//! Nothing but the folders is remembered: whoever runs a [`Case`], in whatever order, on whatever machine, leaves the same folder under
//! the same name, and the table is made of the folders that are there. So shards need not know of each other, and a case that was
//! interrupted is continued by the next who comes. Why a case has no result stands beside its folder, in `NAME.error`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::io::write_atomically;
use crate::record::{Recording, Summary};
use crate::scene::{Scene, SceneError};

/// A key of the scene and the values that it takes, as for `--set`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// The key.
    pub key: String,
    /// TOML, or a bare word.
    pub values: Vec<String>,
}

impl Axis {
    /// Reads `key=a,b`; commas within brackets, braces and quotes part nothing.
    ///
    /// # Errors
    /// No key, no value, or a value twice.
    ///
    /// # Examples
    /// ```
    /// use percale::runs::Axis;
    ///
    /// let axis = Axis::parse("cloth.0.shape.cells=[8, 8],[16, 16]")?;
    /// assert_eq!(axis.values, ["[8, 8]", "[16, 16]"]);
    /// # Ok::<(), String>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, String> {
        let form = "write KEY=VALUE,VALUE, e.g. friction=0.1,0.3";
        let (key, values) = text.split_once('=').ok_or(form)?;
        let (mut depth, mut quote, mut parts) = (0, None, vec![String::new()]);
        for c in values.chars() {
            match (quote, c) {
                (Some(open), c) if c == open => quote = None,
                (Some(_), _) => {}
                (None, '"' | '\'') => quote = Some(c),
                (None, '[' | '{') => depth += 1,
                (None, ']' | '}') => depth -= 1,
                (None, ',') if depth == 0 => {
                    parts.push(String::new());
                    continue;
                }
                _ => {}
            }
            parts.last_mut().expect("there is one").push(c);
        }
        let axis = Self {
            key: key.trim().into(),
            values: parts.iter().map(|value| value.trim().into()).collect(),
        };
        axis.check().map(|()| axis)
    }

    /// Whether there are values, once each.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check(&self) -> Result<(), String> {
        let Self { key, values } = self;
        if key.is_empty() {
            return Err("there is no key; write KEY=VALUE,VALUE, e.g. friction=0.1,0.3".into());
        }
        if values.is_empty() || values.iter().any(String::is_empty) {
            return Err(format!("{key}: a value is empty; write {key}=VALUE,VALUE"));
        }
        let mut seen = BTreeSet::new();
        match values.iter().find(|value| !seen.insert(*value)) {
            Some(value) => Err(format!("{key}: {value} is there twice")),
            None => Ok(()),
        }
    }
}

/// One of the runs: its folder, and what it changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// Name of its folder; depends on the changes alone.
    pub name: String,
    /// Keys and values, in the order of the axes.
    pub changes: Vec<(String, String)>,
}

/// No name of a file is longer than this on the usual systems, with what is appended to it.
const LONGEST_NAME: usize = 120;

/// More combinations are a slip of the pen.
const MAX_CASES: usize = 100_000;

impl Case {
    fn new(changes: Vec<(String, String)>) -> Self {
        let text: Vec<String> = changes.iter().map(|(k, v)| format!("{k}={v}")).collect();
        let text = text.join(",");
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "._=,-".contains(c);
        let mut name: String = (text.chars().filter(|c| !" \"'".contains(*c)))
            .map(|c| if is_plain(c) { c } else { '_' })
            .collect();
        if name != text || name.len() > LONGEST_NAME {
            name.truncate(LONGEST_NAME);
            name.push('-');
            for byte in &Sha256::digest(&text)[..8] {
                let _ = write!(name, "{byte:02x}");
            }
        }
        if name.is_empty() {
            name = "as-it-is".into();
        }
        Self { name, changes }
    }

    /// The scene of this case.
    ///
    /// # Errors
    /// A key or a value that the scene does not take.
    pub fn scene(&self, scene: &Scene) -> Result<Scene, SceneError> {
        let changes = self.changes.iter().map(|(k, v)| (k, v.as_str()));
        scene.clone().set_all(changes)
    }

    /// Its result folder.
    pub fn folder(&self, out: &Path) -> PathBuf {
        out.join(&self.name)
    }

    fn error_file(&self, out: &Path) -> PathBuf {
        out.join(format!("{}.error", self.name))
    }

    /// Notes why it has no result, or that it has one.
    ///
    /// # Errors
    /// Those of the system.
    pub fn note(&self, out: &Path, error: Option<&str>) -> io::Result<()> {
        let path = self.error_file(out);
        match error {
            Some(message) => write_atomically(&path, |file| writeln!(file, "{message}")),
            None if path.exists() => fs::remove_file(path),
            None => Ok(()),
        }
    }

    /// How it stands, as a case of `scene`: a folder that holds a run of another scene, or a longer one, is [`Status::Foreign`].
    pub fn standing(&self, scene: &Scene, out: &Path, frames: u64) -> Standing {
        let scene = match self.scene(scene) {
            Ok(scene) => scene,
            Err(error) => return Standing::new(Status::Failed, error.to_string()),
        };
        let folder = self.folder(out);
        let noted = fs::read_to_string(self.error_file(out)).ok();
        let noted = noted.map(|text| text.trim().to_owned());
        if !folder.exists() {
            return match noted {
                Some(message) => Standing::new(Status::Failed, message),
                None => Standing::default(),
            };
        }
        let recording = match Recording::open(&folder) {
            Ok(recording) => recording,
            Err(error) => {
                let message = noted.unwrap_or_else(|| error.to_string());
                return Standing::new(Status::Failed, message);
            }
        };
        if let Some(difference) = recording.differs_from(&scene) {
            let message = format!("the folder holds a run of another scene: {difference}");
            return Standing::new(Status::Foreign, message);
        }
        let summary = recording.summary().cloned();
        let done = recording.frame_count() - 1;
        if done > frames {
            let message = format!("the folder holds {done} frames, and {frames} are asked for");
            return Standing::new(Status::Foreign, message);
        }
        let stopped = summary.as_ref().and_then(|s| s.stopped.as_ref());
        let status = match &summary {
            _ if recording.is_refused() => Status::Failed,
            Some(_) if stopped.is_some() => Status::Stopped,
            Some(summary) if summary.frames == frames => Status::Done,
            _ if noted.is_some() => Status::Failed,
            _ => Status::Begun,
        };
        let message = match status {
            Status::Done => None,
            _ => stopped.map(|stopped| stopped.message.clone()).or(noted),
        };
        Standing {
            status,
            summary,
            message,
        }
    }
}

/// Looks whether a sweep may use a folder: nothing there is of another sweep, and at least one case is a scene.
///
/// # Errors
/// What is in the way, and what to do.
pub fn check(cases: &[&Case], scene: &Scene, out: &Path, frames: u64) -> Result<(), String> {
    let mut wrong = None;
    let mut is_any_right = cases.is_empty();
    for case in cases {
        if let Err(error) = case.scene(scene) {
            wrong.get_or_insert(error);
            continue;
        }
        is_any_right = true;
        let Standing {
            status, message, ..
        } = case.standing(scene, out, frames);
        if status == Status::Foreign {
            let folder = case.folder(out);
            return Err(format!(
                "{}: {}; choose another folder for this sweep",
                folder.display(),
                message.unwrap_or_default()
            ));
        }
    }
    match wrong {
        Some(error) if !is_any_right => Err(error.to_string()),
        _ => Ok(()),
    }
}

/// All combinations of the values, the last axis fastest.
///
/// # Errors
/// A key twice, an axis that is none, or more combinations than anybody runs.
pub fn cases(axes: &[Axis]) -> Result<Vec<Case>, String> {
    let mut keys = BTreeSet::new();
    let mut all: Vec<Vec<(String, String)>> = vec![Vec::new()];
    for axis in axes {
        axis.check()?;
        if !keys.insert(&axis.key) {
            let key = &axis.key;
            return Err(format!(
                "{key} is varied twice; write all its values in one list"
            ));
        }
        if all.len().saturating_mul(axis.values.len()) > MAX_CASES {
            return Err(format!(
                "more than {MAX_CASES} combinations; vary fewer values at once"
            ));
        }
        let longer = all.iter().flat_map(|changes| {
            axis.values.iter().map(|value| {
                let mut changes = changes.clone();
                changes.push((axis.key.clone(), value.clone()));
                changes
            })
        });
        all = longer.collect();
    }
    Ok(all.into_iter().map(Case::new).collect())
}

/// How far a case has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Nobody has begun it.
    #[default]
    Open,
    /// Begun, and to be continued.
    Begun,
    /// All frames are there.
    Done,
    /// It ended on the way, and would again: the message says why.
    Stopped,
    /// It has no result: the message says why.
    Failed,
    /// Its folder holds something else: the message says what.
    Foreign,
}

impl Status {
    /// As in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Begun => "begun",
            Self::Done => "done",
            Self::Stopped => "stopped",
            Self::Failed => "failed",
            Self::Foreign => "foreign",
        }
    }

    /// Whether there is nothing left to do.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Done | Self::Stopped | Self::Foreign)
    }
}

/// What there is of a case.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Standing {
    /// How far it has come.
    pub status: Status,
    /// Totals, if its run has ended.
    pub summary: Option<Summary>,
    /// Why it has no result, or none to the end.
    pub message: Option<String>,
}

impl Standing {
    fn new(status: Status, message: String) -> Self {
        Self {
            status,
            summary: None,
            message: Some(message),
        }
    }
}

/// Writes the table of totals of all cases, `totals.csv`, whole or not at all.
///
/// # Errors
/// Those of the system.
pub fn write_table(out: &Path, rows: &[(Case, Standing)]) -> io::Result<PathBuf> {
    let path = out.join("totals.csv");
    write_atomically(&path, |file| {
        let keys = rows.first().map_or(&[][..], |(case, _)| &case.changes);
        let mut header = vec!["folder"];
        header.extend(keys.iter().map(|(key, _)| key.as_str()));
        header.extend([
            "status",
            "frames",
            "intersections",
            "impacts",
            "rounds",
            "failsafes",
            "retries",
            "smallest_gap",
            "largest_strain",
            "seconds",
            "hash",
            "message",
        ]);
        write_row(file, header.into_iter().map(String::from))?;
        for (case, standing) in rows {
            let mut row = vec![case.name.clone()];
            row.extend(case.changes.iter().map(|(_, value)| value.clone()));
            row.push(standing.status.name().into());
            row.extend(match &standing.summary {
                Some(s) => [
                    s.frames.to_string(),
                    s.intersections.to_string(),
                    s.figures.impacts.total().to_string(),
                    s.figures.calls().to_string(),
                    s.figures.failsafe_count().to_string(),
                    s.figures.retries.to_string(),
                    s.figures
                        .smallest_gap
                        .map_or(String::new(), |g| g.to_string()),
                    s.figures.largest_strain.to_string(),
                    format!("{:.3}", s.seconds()),
                    s.hash.clone(),
                ],
                None => Default::default(),
            });
            row.push(standing.message.clone().unwrap_or_default());
            write_row(file, row.into_iter())?;
        }
        Ok(())
    })?;
    Ok(path)
}

fn write_row(out: &mut dyn io::Write, cells: impl Iterator<Item = String>) -> io::Result<()> {
    let quoted = cells.map(|cell| match cell.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell,
    });
    writeln!(out, "{}", quoted.collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::*;
    use crate::record::{self, Earlier};

    #[test]
    fn combinations_are_all_there_and_named_by_what_they_change() {
        let axes = ["friction=0.1,0.3", "cloth.0.fabric=silk,denim"];
        let axes: Vec<Axis> = axes.iter().map(|text| Axis::parse(text).unwrap()).collect();
        let cases = cases(&axes).unwrap();
        let names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "friction=0.1,cloth.0.fabric=silk",
                "friction=0.1,cloth.0.fabric=denim",
                "friction=0.3,cloth.0.fabric=silk",
                "friction=0.3,cloth.0.fabric=denim",
            ]
        );
    }

    #[test]
    fn names_that_no_file_can_have_are_told_apart_by_their_hash() {
        let axis = Axis::parse("a=\"x/y\",\"x\\y\",[1, 2]").unwrap();
        let cases = cases(&[axis]).unwrap();
        let names: BTreeSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
        assert_eq!(names.len(), 3);
        assert!(
            names
                .iter()
                .all(|name| !name.contains(['/', '\\', ' ', '"']))
        );
        let long = Axis::parse(&format!("a={}", "1".repeat(400))).unwrap();
        assert!(super::cases(&[long]).unwrap()[0].name.len() < 140);
    }

    #[test]
    fn axes_that_are_none_are_refused() {
        for (text, word) in [
            ("friction", "KEY=VALUE"),
            ("=1", "no key"),
            ("friction=", "empty"),
            ("friction=1,,2", "empty"),
            ("friction=1,1", "twice"),
        ] {
            let error = Axis::parse(text).unwrap_err();
            assert!(error.contains(word), "{text}: {error}");
        }
        let twice = [Axis::parse("a=1").unwrap(), Axis::parse("a=2").unwrap()];
        assert!(cases(&twice).unwrap_err().contains("varied twice"));
    }

    #[test]
    fn a_folder_of_another_scene_or_with_more_frames_is_foreign() {
        let folder = tempfile::tempdir().unwrap();
        let small = [
            ("cloth.0.shape.cells", "[4, 4]"),
            ("obstacle.0.shape.subdivisions", "0"),
        ];
        let scene = Scene::load("drop").unwrap().set_all(small).unwrap();
        let case = Case::new(vec![("friction".into(), "0.1".into())]);
        let own = case.scene(&scene).unwrap();
        let (out, each) = (folder.path(), &mut |_: &_, _: &_| ControlFlow::Continue(()));
        let mut simulation = own.build().unwrap();
        let path = case.folder(out);
        record::run(&own, &mut simulation, &path, 2, Earlier::Refuse, each).unwrap();
        let status = |scene: &Scene, frames| case.standing(scene, out, frames).status;
        assert_eq!(status(&scene, 2), Status::Done);
        assert_eq!(status(&scene, 3), Status::Begun);
        assert_eq!(status(&scene, 1), Status::Foreign);
        let other = scene.clone().set("fps", 30).unwrap();
        assert_eq!(status(&other, 2), Status::Foreign);
        let refused = check(&[&case], &other, out, 2).unwrap_err();
        assert!(refused.contains("another folder"), "{refused}");
        check(&[&case], &scene, out, 3).unwrap();
        let wrong = Case::new(vec![("frictoin".into(), "0.1".into())]);
        let refused = check(&[&wrong], &scene, out, 2).unwrap_err();
        assert!(refused.contains("did you mean"), "{refused}");
        check(&[&wrong, &case], &scene, out, 2).unwrap();
    }

    #[test]
    fn tables_quote_what_needs_it() {
        let folder = tempfile::tempdir().unwrap();
        let scene = Scene::load("drop").unwrap();
        let case = Case::new(vec![("cloth.0.shape.cells".into(), "[8, 8]".into())]);
        case.note(folder.path(), Some("no \"such\" key")).unwrap();
        let standing = case.standing(&scene, folder.path(), 1);
        assert_eq!(standing.status, Status::Failed);
        let path = write_table(folder.path(), &[(case.clone(), standing)]).unwrap();
        let text = fs::read_to_string(path).unwrap();
        let row = text.lines().nth(1).unwrap();
        assert!(row.contains("\"[8, 8]\",failed,,"), "{row}");
        assert!(row.ends_with("\"no \"\"such\"\" key\""), "{row}");
        case.note(folder.path(), None).unwrap();
        assert_eq!(case.standing(&scene, folder.path(), 1).status, Status::Open);
    }
}
