//! The page of a comparison: one file, with plots as SVG and pictures inside.

use std::fmt::Write as _;

use percale::compare::{Compared, Frame};

use crate::page::{self, COLOURS, Curve, escape, short};

/// What is plotted: title, unit, value of a frame.
type Value = (&'static str, fn(&Frame) -> Option<f64>);

const VALUES: [Value; 11] = [
    ("response, ms of processor time", |f| {
        Some(f.figures.phases.respond_ms)
    }),
    ("all phases, ms of processor time", |f| {
        Some(f.figures.phases.total_ms())
    }),
    (
        "mean interval between successful resolutions, frames",
        |f| Some(f.mean_interval()),
    ),
    ("pairs per call of a stage", |f| {
        Some(f.figures.pairs_per_call())
    }),
    (
        "energy of motion taken back by contact and response, J",
        |f| Some(f.figures.energy_lost()),
    ),
    ("sliding kept", |f| f.figures.sliding_kept()),
    ("impacts", |f| Some(f.figures.impacts.total() as f64)),
    ("rounds of stages", |f| Some(f.figures.calls() as f64)),
    ("retries", |f| Some(f.figures.retries as f64)),
    ("kinetic energy at the end of the frame, J", |f| {
        Some(f.figures.kinetic_energy)
    }),
    ("largest strain, %", |f| {
        Some(100.0 * f.figures.largest_strain)
    }),
];

/// The page: totals, plots, pictures by frame and method.
pub(super) fn page(
    scene: &str,
    apart: bool,
    figures: &[Compared],
    pictures: &[(u64, Vec<Vec<u8>>)],
) -> String {
    let how = if apart {
        "every method on its own way"
    } else {
        "every frame from the first method's state"
    };
    let mut page = page::begin(&format!("{scene}: methods compared"), scene);
    let _ = writeln!(page, "<p>{how}</p>");
    page.push_str(
        "<table><tr><th>method<th>failed frames<th>mean interval<th>pairs per call<th>fail-safes<th>retries\
         <th>intersections<th>energy taken back, J<th>sliding kept<th>response, s<th>CPU, s</tr>\n",
    );
    for (method, colour) in figures.iter().zip(COLOURS.iter().cycle()) {
        let f = &method.figures;
        let kept = f.sliding_kept();
        let kept = kept.map_or("–".into(), |kept| format!("{:.1} %", 100.0 * kept));
        let _ = writeln!(
            page,
            "<tr><td><span style=\"color:{colour}\">■</span> {}<td>{}<td>{:.4}<td>{:.1}<td>{}<td>{}<td>{}<td>{}<td>{kept}<td>{:.2}<td>{:.1}</tr>",
            escape(&method.name),
            method.failed_frames(),
            method.mean_interval(),
            f.pairs_per_call(),
            f.failsafe_count(),
            f.retries,
            f.intersections,
            short(f.energy_lost()),
            1e-3 * f.phases.respond_ms,
            method.seconds()
        );
    }
    page.push_str("</table>\n");
    let plots = VALUES.map(|(title, value)| (title, curves(figures, value)));
    page.push_str(&page::plots(&plots));
    for (frame, images) in pictures {
        let _ = writeln!(page, "<h3>frame {frame}</h3>\n<div class=\"pictures\">");
        for (f, png) in figures.iter().zip(images) {
            page.push_str(&page::figure(png, &f.name));
        }
        page.push_str("</div>\n");
    }
    page.push_str("</body></html>\n");
    page
}

/// One curve for each method; frames that it gave up have no value.
fn curves(figures: &[Compared], value: fn(&Frame) -> Option<f64>) -> Vec<Curve<'_>> {
    let each = figures.iter().zip(COLOURS.iter().cycle());
    let each = each.map(|(method, colour)| Curve {
        name: &method.name,
        colour,
        points: (method.frames.iter())
            .map(|frame| (frame.figures.frame, value(frame).filter(|_| !frame.failed)))
            .collect(),
        failed: (method.frames.iter().filter(|frame| frame.failed))
            .map(|frame| frame.figures.frame)
            .collect(),
    });
    each.collect()
}
