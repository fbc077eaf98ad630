//! The page of a run: one file, with totals, plots as SVG and pictures inside. `percale run --report` writes it.

use std::fmt::Write as _;
use std::path::Path;

use percale::Figures;
use percale::io::write_atomically;
use percale::record::{Recording, Summary};

use crate::compare::page::{base64, escape};
use crate::failure::Failure;
use crate::render::stage::{Source, Stage};

/// Pictures on the page, and their pixels.
const PICTURES: u64 = 6;
const SIZE: [u32; 2] = [400, 300];
/// Width and height of a plot, in pixels, with room for its labels.
const PLOT: [f64; 2] = [640.0, 160.0];
const LEFT: f64 = 70.0;
const BOTTOM: f64 = 22.0;
/// Colours of curves, told apart by most eyes.
const COLOURS: [&str; 6] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9",
];

/// A curve: its name, and its value at a frame.
type Curve = (&'static str, fn(&Figures) -> f64);

/// What is plotted: title and curves.
const PLOTS: [(&str, &[Curve]); 7] = [
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
    let name = escape(name);
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\">\n<title>{name}</title>\n<style>\n\
         body {{ font: 15px/1.4 sans-serif; margin: 2em auto; max-width: 70em; padding: 0 1em; }}\n\
         figure {{ display: inline-block; margin: .5em; }} svg {{ display: block; margin: .3em 0 1.2em; }}\n\
         .stopped {{ color: #b21821; white-space: pre-wrap; }}\n</style>\n<h1>{name}</h1>\n"
    );
    if let Some(stopped) = stopped {
        let _ = writeln!(page, "<p class=\"stopped\">{}</p>", escape(stopped));
    }
    let _ = writeln!(page, "<pre>{}</pre>", escape(about));
    for (frame, png) in pictures {
        let data = base64(png);
        let _ = writeln!(
            page,
            "<figure><img alt=\"frame {frame}\" src=\"data:image/png;base64,{data}\"><figcaption>frame {frame}</figcaption></figure>"
        );
    }
    for (title, curves) in PLOTS {
        let _ = writeln!(page, "<h3>{title}</h3>\n{}", plot(curves, reports));
    }
    page.push_str("</html>\n");
    page
}

fn plot(curves: &[Curve], reports: &[Figures]) -> String {
    let [width, height] = PLOT;
    let last = reports.last().map_or(1, |report| report.frame).max(1) as f64;
    let values = curves
        .iter()
        .flat_map(|(_, value)| reports.iter().map(value));
    let top = values.filter(|v| v.is_finite()).fold(0.0, f64::max);
    let top = if top > 0.0 { top } else { 1.0 };
    let at_x = |frame: u64| LEFT + (width - LEFT - 4.0) * frame as f64 / last;
    let at_y = |value: f64| (height - BOTTOM - 4.0) * (1.0 - value.clamp(0.0, top) / top) + 4.0;
    let zero = at_y(0.0);
    let mut svg = format!(
        "<svg width=\"{width}\" height=\"{height}\" font-size=\"12\">\
         <path d=\"M{LEFT} 0V{zero}H{width}\" fill=\"none\" stroke=\"#888\"/>\
         <text x=\"{0}\" y=\"14\" text-anchor=\"end\">{1}</text><text x=\"{0}\" y=\"{zero}\" text-anchor=\"end\">0</text>\
         <text x=\"{width}\" y=\"{2}\" text-anchor=\"end\">frame {last}</text>",
        LEFT - 6.0,
        short(top),
        height - 4.0,
    );
    for ((name, value), (k, colour)) in curves.iter().zip(COLOURS.iter().enumerate()) {
        let points = reports.iter().filter(|report| value(report).is_finite());
        let points: Vec<String> = points
            .map(|report| format!("{:.1},{:.1}", at_x(report.frame), at_y(value(report))))
            .collect();
        let _ = write!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\"/><text x=\"{}\" y=\"{}\" fill=\"{colour}\">{name}</text>",
            points.join(" "),
            LEFT + 8.0,
            14 + 14 * k,
        );
    }
    svg.push_str("</svg>");
    svg
}

/// A number in few characters.
fn short(x: f64) -> String {
    match x {
        x if (0.01..1e5).contains(&x) => format!("{}", (x * 100.0).round() / 100.0),
        x => format!("{x:.1e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_plot_has_its_curves_from_zero_to_the_largest() {
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
        assert_eq!(page.matches("<svg").count(), PLOTS.len());
        let curves: usize = PLOTS.iter().map(|(_, curves)| curves.len()).sum();
        assert_eq!(page.matches("<polyline").count(), curves);
        assert!(page.contains("text-anchor=\"end\">4</text>"), "the largest");
        assert!(page.contains("points=\"353.0,138.0 636.0,4.0\""), "{page}");
    }
}
