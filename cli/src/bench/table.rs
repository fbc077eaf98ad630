//! Records of scenes as a Markdown table.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use percale::io::write_atomically;

use super::record::{Record, State};
use crate::failure::Failure;

/// A document has its table between these.
const BEGIN: &str = "<!-- percale bench scenes --table: begin -->";
const END: &str = "<!-- percale bench scenes --table: end -->";

/// What each column shows.
const COLUMNS: [(&str, fn(&Record) -> String); 16] = [
    ("scene", Record::short_name),
    ("vertices", |r| r.vertices.to_string()),
    ("frames", frames),
    ("intersections", |r| r.figures.intersections.to_string()),
    ("intervals", |r| r.figures.intervals.to_string()),
    ("refused", |r| by_name(&r.figures.refused)),
    ("fail-safes", |r| by_name(&r.figures.failsafes)),
    ("loops", |r| r.figures.loops.to_string()),
    ("iterations", |r| r.figures.iterations.to_string()),
    ("CPU s/frame", |r| seconds(r.cpu_seconds_per_frame.total)),
    ("propose, repel, respond, accept", |r| {
        let cpu = &r.cpu_seconds_per_frame;
        let each = [cpu.propose, cpu.repel, cpu.respond, cpu.accept];
        each.map(seconds).join(", ")
    }),
    ("largest strain (limit)", |r| {
        let limit = r.strain_limit.map_or("-".into(), |limit| limit.to_string());
        format!("{:.3} ({limit})", r.figures.largest_strain)
    }),
    ("smallest gap, m (share)", |r| {
        match (r.figures.smallest_gap, r.figures.smallest_gap_share) {
            (Some(gap), Some(share)) => format!("{gap:.1e} ({share:.2})"),
            _ => "-".into(),
        }
    }),
    ("kept", |r| {
        r.kept_share.map_or("-".into(), |kept| format!("{kept:.2}"))
    }),
    ("speed at the end, median, most, m/s", |r| {
        format!(
            "{:.1e}, {:.1e}",
            r.figures.median_speed, r.figures.largest_speed
        )
    }),
    ("last frame", |r| {
        r.last_frame_hash.chars().take(8).collect()
    }),
];

fn frames(record: &Record) -> String {
    let (done, wanted) = (record.frames_done, record.frames_wanted);
    match record.state {
        State::Done => done.to_string(),
        State::Stopped => format!("{done} of {wanted}, stopped"),
        State::Interrupted | State::Running => format!("{done} of {wanted}"),
    }
}

/// `0`, or `3 hold, 1 squeeze`.
fn by_name(counts: &BTreeMap<String, usize>) -> String {
    let each = counts.iter().map(|(name, count)| format!("{count} {name}"));
    match counts.is_empty() {
        true => "0".into(),
        false => each.collect::<Vec<_>>().join(", "),
    }
}

/// With three digits, whatever their size.
fn seconds(seconds: f64) -> String {
    let decimals = match seconds {
        s if s < 0.1 => 4,
        s if s < 1.0 => 3,
        s if s < 10.0 => 2,
        _ => 1,
    };
    format!("{seconds:.decimals$}")
}

/// Who measured, one row for each record, and why some stopped.
pub(super) fn of(records: &[Record]) -> String {
    let builds: BTreeSet<String> = records.iter().map(|r| r.build.name()).collect();
    let threads: BTreeSet<usize> = records.iter().map(|r| r.threads).collect();
    let threads: Vec<String> = threads.iter().map(usize::to_string).collect();
    let loads = records.iter().filter_map(|r| r.load_average);
    let loads = loads.map(|[minute, ..]| minute);
    let least = loads.clone().fold(f64::INFINITY, f64::min);
    let load = match least.is_finite() {
        true => format!(", load {least:.1} to {:.1}", loads.fold(0.0, f64::max)),
        false => String::new(),
    };
    let mut text = format!(
        "`percale bench scenes`, percale {}; threads: {}{load}.\n\n",
        builds.into_iter().collect::<Vec<_>>().join(", "),
        threads.join(", "),
    );
    let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    text += &row(COLUMNS.map(|(head, _)| head.into()).to_vec());
    text += &format!("{}|\n", "|---".repeat(COLUMNS.len()));
    for record in records {
        text += &row(COLUMNS.map(|(_, cell)| cell(record)).to_vec());
    }
    let stopped = records
        .iter()
        .filter_map(|r| Some((r, r.stopped.as_ref()?)));
    for (i, (record, stop)) in stopped.enumerate() {
        let gap = if i == 0 { "\n" } else { "" };
        let (name, frame) = (record.short_name(), stop.frame);
        let message = stop.message.replace('\n', " ");
        let _ = writeln!(text, "{gap}- {name} stops at frame {frame}: {message}");
    }
    text
}

/// Replaces what is between the markers of a document.
pub(super) fn put_into(file: &Path, table: &str) -> Result<(), Failure> {
    let failure =
        |what: &dyn std::fmt::Display| Failure::input(format!("{}: {what}", file.display()));
    let text = fs::read_to_string(file).map_err(|error| failure(&error))?;
    let replaced = between(&text, table).ok_or_else(|| {
        failure(&format!(
            "has no place for the table; write these two lines where it belongs:\n{BEGIN}\n{END}"
        ))
    })?;
    write_atomically(file, |out| out.write_all(replaced.as_bytes()))
        .map_err(|error| failure(&error))
}

fn between(text: &str, table: &str) -> Option<String> {
    let (before, rest) = text.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n{table}{END}{after}"))
}

#[cfg(test)]
mod tests {
    use percale::step::Figures;

    use super::*;

    #[test]
    fn a_table_takes_the_place_of_the_one_before() {
        let document = format!("a\n{BEGIN}\nold\n{END}\nb\n");
        let new = between(&document, "new\n").unwrap();
        assert_eq!(new, format!("a\n{BEGIN}\nnew\n{END}\nb\n"));
        assert_eq!(between(&new, "new\n").unwrap(), new);
        assert_eq!(between("a\n", "new\n"), None);
    }

    #[test]
    fn a_stopped_scene_has_its_reason_below_the_table() {
        let record = Record {
            name: "press".into(),
            state: State::Stopped,
            frames_wanted: 30,
            frames_done: 11,
            figures: Figures {
                refused: [("pinched".into(), 2)].into(),
                ..Figures::default()
            },
            stopped: Some(super::super::record::Stop {
                frame: 12,
                message: "no room".into(),
            }),
            ..Record::default()
        };
        let text = of(&[record]);
        assert!(
            text.contains("| press | 0 | 11 of 30, stopped | 0 | 0 | 2 pinched | 0 |"),
            "{text}"
        );
        assert!(
            text.ends_with("\n\n- press stops at frame 12: no room\n"),
            "{text}"
        );
        let widths: BTreeSet<usize> = text
            .lines()
            .filter(|line| line.starts_with('|'))
            .map(|line| line.matches('|').count())
            .collect();
        assert_eq!(widths, BTreeSet::from([COLUMNS.len() + 1]));
    }
}
