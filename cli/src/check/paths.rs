//! `percale check --paths`: intersection paths as text, JSON and polylines.

use std::collections::BTreeMap;
use std::path::Path;

use glam::DVec3;
use percale::io::write_atomically;
use percale::untangle::{Analysis, Kind, PathSummary};
use serde::Serialize;

use super::MAX_LINES;
use crate::failure::Failure;

/// A path in the JSON object.
#[derive(Debug, Serialize)]
pub(super) struct ListedPath {
    /// The frame, for folders.
    #[serde(skip_serializing_if = "Option::is_none")]
    frame: Option<u64>,
    #[serde(flatten)]
    summary: PathSummary,
}

pub(super) fn list(frame: Option<u64>, analysis: &Analysis, x: &[DVec3]) -> Vec<ListedPath> {
    let summaries = analysis.summaries(x).into_iter();
    summaries
        .map(|summary| ListedPath { frame, summary })
        .collect()
}

pub(super) fn write_polylines(
    path: &Path,
    analysis: &Analysis,
    x: &[DVec3],
) -> Result<(), Failure> {
    let extension = path
        .extension()
        .and_then(|e| e.to_str())
        .unwrap_or_default();
    let written = match extension.to_ascii_lowercase().as_str() {
        "obj" => write_atomically(path, |out| analysis.write_obj(x, out)),
        "ply" => write_atomically(path, |out| analysis.write_ply(x, out)),
        _ => {
            return Err(Failure::input(format!(
                "{}: polylines are written as .obj or .ply",
                path.display()
            )));
        }
    };
    let cannot = |e| {
        Failure::input(format!(
            "{}: cannot write the polylines: {e}",
            path.display()
        ))
    };
    written.map_err(cannot)
}

/// Counts by type, then the longest paths.
pub(super) fn describe(paths: &[ListedPath]) -> String {
    // intersections by type: their number, and that of the crossing pairs of faces along them
    let mut counts: BTreeMap<Kind, (usize, usize)> = BTreeMap::new();
    let mut intersections = 0;
    let mut previous = None;
    for path in paths {
        let count = counts.entry(path.summary.kind).or_default();
        if previous.replace((path.frame, path.summary.contour))
            != Some((path.frame, path.summary.contour))
        {
            intersections += 1;
            count.0 += 1;
        }
        count.1 += path.summary.segments;
    }
    let mut text = format!("\n  {intersections} intersection paths and their partners");
    for (kind, (count, segments)) in counts {
        text += &format!(
            "\n    {kind:<6} {count:>6}  along {} pairs of faces",
            segments / 2
        );
    }
    let mut order: Vec<&ListedPath> = paths.iter().collect();
    order.sort_by(|a, b| b.summary.length.total_cmp(&a.summary.length)); // stable: equal ones by number
    for path in order.iter().take(MAX_LINES) {
        let PathSummary {
            kind,
            path: own,
            contour,
            segments,
            length,
            inside,
            loop_vertices,
            touch,
            ..
        } = &path.summary;
        text += "\n    ";
        if let Some(frame) = path.frame {
            text += &format!("frame {frame} ");
        }
        text += &format!(
            "#{contour} {kind}, {} side: {segments} segments, {length:.4} m",
            own.name()
        );
        if !loop_vertices.is_empty() {
            text += &format!(", loop vertices {loop_vertices:?}");
        }
        text += &match inside {
            Some(count) => format!(", {count} vertices inside"),
            None => ", parts nothing".into(),
        };
        if *touch {
            text += ", touches only";
        }
    }
    if paths.len() > MAX_LINES {
        text += &format!(
            "\n    and {} more; --json lists all",
            paths.len() - MAX_LINES
        );
    }
    text
}
