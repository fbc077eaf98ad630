//! The page of a comparison: one file, with plots as SVG and pictures inside.

use std::fmt::Write as _;

use percale::compare::{Compared, Frame};

/// Colours of the methods, told apart by most eyes.
const COLOURS: [&str; 6] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9",
];

/// Width and height of a plot, in pixels, with room for its labels at the left and bottom.
const PLOT: [f64; 2] = [640.0, 200.0];
const LEFT: f64 = 70.0;
const BOTTOM: f64 = 24.0;

/// What is plotted: title, unit, value of a frame.
type Curve = (&'static str, fn(&Frame) -> Option<f64>);

const CURVES: [Curve; 11] = [
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
    let mut page = String::from(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\">\n<style>\n\
         body { font: 15px/1.4 sans-serif; margin: 2em auto; max-width: 70em; padding: 0 1em; }\n\
         table { border-collapse: collapse; } th, td { padding: .2em .7em; text-align: right; border-bottom: 1px solid #ccc; }\n\
         th:first-child, td:first-child { text-align: left; } figure { display: inline-block; margin: .5em; }\n\
         svg { display: block; margin: .5em 0 1.5em; }\n</style>\n",
    );
    let scene = escape(scene);
    let how = if apart {
        "every method on its own way"
    } else {
        "every frame from the first method's state"
    };
    let _ = writeln!(
        page,
        "<title>{scene}: methods compared</title>\n<h1>{scene}</h1>\n<p>{how}</p>"
    );
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
            "<tr><td><span style=\"color:{colour}\">■</span> {}<td>{}<td>{:.4}<td>{:.1}<td>{}<td>{}<td>{}<td>{:.3e}<td>{kept}<td>{:.2}<td>{:.1}</tr>",
            escape(&method.name),
            method.failed_frames(),
            method.mean_interval(),
            f.pairs_per_call(),
            f.failsafe_count(),
            f.retries,
            f.intersections,
            f.energy_lost(),
            1e-3 * f.phases.respond_ms,
            method.seconds()
        );
    }
    page.push_str("</table>\n");
    for (title, value) in CURVES {
        let _ = writeln!(page, "<h3>{title}</h3>\n{}", plot(figures, value));
    }
    for (frame, images) in pictures {
        let _ = writeln!(page, "<h3>frame {frame}</h3>");
        for (f, png) in figures.iter().zip(images) {
            let name = escape(&f.name);
            let data = base64(png);
            let _ = writeln!(
                page,
                "<figure><img alt=\"{name}, frame {frame}\" src=\"data:image/png;base64,{data}\"><figcaption>{name}</figcaption></figure>"
            );
        }
    }
    page.push_str("</html>\n");
    page
}

/// One curve for each method over the frames, from zero; failed frames are crosses on the axis.
fn plot(figures: &[Compared], value: fn(&Frame) -> Option<f64>) -> String {
    let [width, height] = PLOT;
    let all = figures.iter().flat_map(|f| &f.frames);
    let last = all.clone().map(|f| f.figures.frame).max().unwrap_or(1) as f64;
    let top = all
        .filter(|f| !f.failed)
        .filter_map(value)
        .fold(0.0, f64::max);
    let top = if top > 0.0 { top } else { 1.0 };
    let at_x = |frame: u64| LEFT + (width - LEFT) * frame as f64 / last;
    let at_y = |value: f64| (height - BOTTOM) * (1.0 - value.max(0.0) / top) + 4.0;
    let zero = at_y(0.0);
    let mut svg = format!(
        "<svg width=\"{width}\" height=\"{height}\" font-size=\"12\">\
         <path d=\"M{LEFT} 0V{zero}H{width}\" fill=\"none\" stroke=\"#888\"/>\
         <text x=\"{0}\" y=\"14\" text-anchor=\"end\">{top:.3}</text>\
         <text x=\"{0}\" y=\"{zero}\" text-anchor=\"end\">0</text>\
         <text x=\"{width}\" y=\"{1}\" text-anchor=\"end\">frame {last}</text>",
        LEFT - 6.0,
        height - 4.0,
    );
    for (f, colour) in figures.iter().zip(COLOURS.iter().cycle()) {
        let mut path = String::new();
        let mut pen = 'M';
        for frame in &f.frames {
            match value(frame).filter(|_| !frame.failed) {
                Some(value) => {
                    let _ = write!(
                        path,
                        "{pen}{:.1} {:.1}",
                        at_x(frame.figures.frame),
                        at_y(value)
                    );
                    pen = 'L';
                }
                None => pen = 'M',
            }
            if frame.failed {
                let x = at_x(frame.figures.frame);
                let _ = write!(
                    svg,
                    "<text x=\"{x:.1}\" y=\"{zero}\" text-anchor=\"middle\" fill=\"{colour}\">×</text>"
                );
            }
        }
        let _ = write!(
            svg,
            "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\"/>"
        );
    }
    svg.push_str("</svg>");
    svg
}

pub(crate) fn escape(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}

/// RFC 4648, section 4.
pub(crate) fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let word = (0..3).fold(0, |word, i| {
            word << 8 | u32::from(three.get(i).copied().unwrap_or(0))
        });
        for i in 0..4 {
            let letter = LETTERS[(word >> (18 - 6 * i)) as usize & 63];
            text.push(if i <= three.len() {
                char::from(letter)
            } else {
                '='
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_standard() {
        // the test vectors of RFC 4648, section 10
        for (plain, coded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }
}
