//! The page of a run: one file, with totals, plots as SVG and pictures inside. `percale run --report` writes it.

use std::path::Path;

use percale::Figures;
use percale::io::write_atomically;
use percale::record::{Recording, Summary};

use crate::failure::Failure;
use crate::page::{self, COLOURS, Curve, escape};
use crate::render::stage::{Source, Stage};

/// Pictures on the page, and their pixels.
const PICTURES: u64 = 6;
const SIZE: [u32; 2] = [560, 420];
/// A curve: its name, and its value at a frame.
type Value = (&'static str, fn(&Figures) -> f64);

/// What is plotted: title and curves.
const PLOTS: [(&str, &[Value]); 7] = [
    (
        "impacts",
        &[
            ("vertex-face", |f| f.impacts.vertex_face as f64),
            ("edge-edge", |f| f.impacts.edge_edge as f64),
        ],
    ),
    ("rounds of stages", &[("rounds", |f| f.calls() as f64)]),
    (
        "attempts that came to nothing",
        &[
            ("retries", |f| f.retries as f64),
            ("shortened to spare the cloth", |f| f.stretched as f64),
            ("fail-safes", |f| f.failsafe_count() as f64),
        ],
    ),
    ("kinetic energy, J", &[("cloth", |f| f.kinetic_energy)]),
    (
        "largest strain, %",
        &[("strain", |f| 100.0 * f.largest_strain)],
    ),
    (
        "crossings that are left",
        &[
            ("listed", |f| f.crossings as f64),
            ("not listed", |f| f.intersections as f64),
        ],
    ),
    (
        "processor time by phase, ms",
        &[
            ("dynamics", |f| f.phases.propose_ms),
            ("contact", |f| f.phases.repel_ms),
            ("response", |f| f.phases.respond_ms),
            ("certification", |f| f.phases.accept_ms),
            ("audit", |f| f.phases.audit_ms),
            ("untangling", |f| f.phases.analyse_ms + f.phases.target_ms),
        ],
    ),
];

/// Writes the page of a result folder; `about` are the totals as people read them.
pub(crate) fn write(
    folder: &Path,
    file: &Path,
    about: &str,
    summary: &Summary,
) -> Result<(), Failure> {
    let recording = Recording::open(folder)?;
    let name = file_name(folder);
    let stopped = summary.stopped.as_ref().map(|stopped| {
        format!(
            "stopped before frame {}: {}",
            stopped.frame, stopped.message
        )
    });
    let page = page(
        &name,
        about,
        stopped.as_deref(),
        recording.reports(),
        &pictures(&recording)?,
    );
    write_atomically(file, |out| out.write_all(page.as_bytes()))
        .map_err(|error| Failure::stopped(format!("cannot write {}: {error}", file.display())))
}

fn file_name(folder: &Path) -> String {
    let name = folder.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// Frames evenly from first to last, as PNG.
fn pictures(recording: &Recording) -> Result<Vec<(u64, Vec<u8>)>, Failure> {
    let last = recording.frame_count() - 1;
    let mut frames: Vec<u64> = (0..PICTURES).map(|k| k * last / (PICTURES - 1)).collect();
    frames.dedup();
    let stage = Stage::new(Source::Recording(recording), &frames, SIZE, None)?;
    let mut pictures = Vec::new();
    for frame in frames {
        let mut png = Vec::new();
        stage.draw(frame)?.write_png(&mut png)?;
        pictures.push((frame, png));
    }
    Ok(pictures)
}

fn page(
    name: &str,
    about: &str,
    stopped: Option<&str>,
    reports: &[Figures],
    pictures: &[(u64, Vec<u8>)],
) -> String {
    let mut page = page::begin(name, name);
    if let Some(stopped) = stopped {
        page.push_str(&format!("<p class=\"stopped\">{}</p>\n", escape(stopped)));
    }
    page.push_str(&format!(
        "<pre>{}</pre>\n<div class=\"pictures\">\n",
        escape(about)
    ));
    for (frame, png) in pictures {
        page.push_str(&page::figure(png, &format!("frame {frame}")));
    }
    page.push_str("</div>\n");
    let plots = PLOTS.map(|(title, values)| (title, curves(values, reports)));
    page.push_str(&page::plots(&plots));
    page.push_str("</body></html>\n");
    page
}

fn curves(values: &[Value], reports: &[Figures]) -> Vec<Curve<'static>> {
    let each = values.iter().zip(COLOURS).map(|(&(name, value), colour)| {
        let points = reports
            .iter()
            .map(|report| (report.frame, Some(value(report))));
        Curve {
            name,
            colour,
            points: points.collect(),
            failed: vec![],
        }
    });
    each.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_zero_is_plotted_and_the_rest_is_named() {
        let report = |frame, retries| Figures {
            frame,
            retries,
            ..Figures::default()
        };
        let reports = [report(1, 0), report(2, 4)];
        let page = page(
            "a<b",
            "totals",
            Some("no room & more"),
            &reports,
            &[(0, vec![1])],
        );
        assert!(page.contains("<h1>a&lt;b</h1>") && page.contains("no room &amp; more"));
        // retries are all that is not 0
        assert_eq!(page.matches("<svg").count(), 1);
        assert!(page.contains("d=\"M62.0 168.0L632.0 8.0\""), "{page}");
        assert!(page.contains("0 in every frame: impacts; rounds of stages; kinetic energy, J"));
        assert_eq!(page.matches("<figure>").count(), 1);
        assert!(page.contains(page::MARK));
    }
}
