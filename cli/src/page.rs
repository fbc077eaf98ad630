//! What the pages share that commands write: one file each, with plots as SVG and pictures inside, opened offline.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::failure::Failure;

/// In the head of every page that we write: such a file may be replaced by the next one.
pub(crate) const MARK: &str = "<meta name=\"generator\" content=\"Percale\">";
/// The mark lies within so many bytes.
const MARKED: u64 = 1000;
/// Colours of curves, told apart by most eyes.
pub(crate) const COLOURS: [&str; 6] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9",
];
/// Width and height of a plot, in units of its own, with room for its labels.
const PLOT: [f64; 2] = [640.0, 190.0];
const LEFT: f64 = 62.0;
const RIGHT: f64 = 8.0;
const TOP: f64 = 8.0;
const BOTTOM: f64 = 22.0;
/// Width of the curve that is drawn last; those below it are wider, so that curves that are equal are all seen.
const THIN: f64 = 1.6;
/// How much wider the lowest curve is.
const WIDER: f64 = 2.5;

const STYLE: &str = "\
body { font: 15px/1.45 system-ui, sans-serif; margin: 0 auto; max-width: 86em; padding: 1.5em 1.5em 3em; color: #23262b; }
h1 { font-size: 1.5em; margin: 0 0 .4em; } h3 { font-size: 1em; margin: 0; }
pre { background: #f4f5f6; padding: .8em 1em; border-radius: 4px; overflow-x: auto; }
table { border-collapse: collapse; margin: .5em 0 1.5em; } th, td { padding: .25em .8em; text-align: right; border-bottom: 1px solid #d4d7db; }
th:first-child, td:first-child { text-align: left; padding-left: 0; white-space: nowrap; }
.plots, .pictures { display: grid; gap: 1.2em 1.8em; grid-template-columns: repeat(auto-fill, minmax(min(34em, 100%), 1fr)); margin: 1.5em 0; }
.pictures { grid-template-columns: repeat(auto-fill, minmax(min(22em, 100%), 1fr)); }
figure { margin: 0; } img { display: block; width: 100%; border-radius: 4px; } figcaption, .legend, .zero { color: #5a616b; }
svg { display: block; width: 100%; height: auto; } .legend span { margin-right: 1.2em; white-space: nowrap; }
.stopped { color: #b21821; white-space: pre-wrap; }
";

/// A page with a title, before what is in it.
pub(crate) fn begin(title: &str, heading: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n{MARK}\n<meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>{}</title>\n<style>\n{STYLE}</style></head><body>\n<h1>{}</h1>\n",
        escape(title),
        escape(heading)
    )
}

/// Values over frames; failed ones are crosses on the axis.
pub(crate) struct Curve<'a> {
    pub(crate) name: &'a str,
    pub(crate) colour: &'static str,
    pub(crate) points: Vec<(u64, Option<f64>)>,
    pub(crate) failed: Vec<u64>,
}

impl Curve<'_> {
    fn values(&self) -> impl Iterator<Item = f64> {
        let values = self.points.iter().filter_map(|(_, value)| *value);
        values.filter(|value| value.is_finite())
    }

    fn is_zero(&self) -> bool {
        self.failed.is_empty() && self.values().all(|value| value == 0.0)
    }
}

/// Plots beside each other; what is 0 in every frame of every curve is named in one line below.
pub(crate) fn plots(plots: &[(&str, Vec<Curve<'_>>)]) -> String {
    let mut page = String::from("<div class=\"plots\">\n");
    let mut zero = Vec::new();
    for (title, curves) in plots {
        if curves.iter().all(Curve::is_zero) {
            zero.push(escape(title));
            continue;
        }
        let legend = curves.iter().map(|curve| {
            let none = if curve.is_zero() { " (0)" } else { "" };
            let name = escape(curve.name);
            format!(
                "<span><b style=\"color:{}\">■</b> {name}{none}</span>",
                curve.colour
            )
        });
        let legend: String = match &curves[..] {
            [_] => String::new(),
            _ => format!("<div class=\"legend\">{}</div>", legend.collect::<String>()),
        };
        let _ = writeln!(
            page,
            "<div><h3>{}</h3>{legend}\n{}</div>",
            escape(title),
            plot(curves)
        );
    }
    page.push_str("</div>\n");
    if !zero.is_empty() {
        let _ = writeln!(
            page,
            "<p class=\"zero\">0 in every frame: {}</p>",
            zero.join("; ")
        );
    }
    page
}

fn plot(curves: &[Curve<'_>]) -> String {
    let [width, height] = PLOT;
    let frames = curves.iter().flat_map(|curve| &curve.points);
    let (first, last) = frames.fold((u64::MAX, 0), |(first, last), &(frame, _)| {
        (first.min(frame), last.max(frame))
    });
    let first = first.min(last);
    let span = (last - first).max(1) as f64;
    let values = || curves.iter().flat_map(Curve::values);
    let (low, top) = (values().fold(0.0, f64::min), values().fold(0.0, f64::max));
    let low = if low < 0.0 { -round_up(-low) } else { 0.0 };
    let top = if top > 0.0 || low == 0.0 {
        round_up(top)
    } else {
        0.0
    };
    let at_x = |frame: u64| LEFT + (width - LEFT - RIGHT) * (frame - first) as f64 / span;
    let at_y = |value: f64| {
        let share = (value.clamp(low, top) - low) / (top - low);
        TOP + (height - TOP - BOTTOM) * (1.0 - share)
    };
    let (right, zero) = (width - RIGHT, at_y(0.0));
    let mut svg =
        format!("<svg viewBox=\"0 0 {width} {height}\" font-size=\"12\" fill=\"#5a616b\">");
    let mut ticks = match (low < 0.0, top > 0.0) {
        (true, true) => vec![low, top],
        (true, false) => vec![low, 0.5 * low],
        (false, _) => vec![0.5 * top, top],
    };
    ticks.push(0.0); // last, over the others
    for value in ticks {
        let colour = if value == 0.0 { "#888" } else { "#e2e4e7" };
        let _ = write!(
            svg,
            "<path d=\"M{LEFT} {y:.1}H{right}\" stroke=\"{colour}\"/>\
             <text x=\"{x}\" y=\"{baseline:.1}\" text-anchor=\"end\">{}</text>",
            short(value),
            y = at_y(value),
            x = LEFT - 7.0,
            baseline = at_y(value) + 4.0,
        );
    }
    let below = height - 6.0;
    let _ = write!(
        svg,
        "<text x=\"{LEFT}\" y=\"{below}\">frame {first}</text>\
         <text x=\"{right}\" y=\"{below}\" text-anchor=\"end\">frame {last}</text>"
    );
    let above = |k: usize| (curves.len() - 1 - k) as f64;
    let wider = (WIDER / above(0).max(1.0)).min(1.5);
    for (k, curve) in curves.iter().enumerate() {
        let mut path = String::new();
        let mut pen = 'M';
        for &(frame, value) in &curve.points {
            match value.filter(|value| value.is_finite()) {
                Some(value) => {
                    let _ = write!(path, "{pen}{:.1} {:.1}", at_x(frame), at_y(value));
                    pen = 'L';
                }
                None => pen = 'M',
            }
        }
        let _ = write!(
            svg,
            "<path d=\"{path}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{:.1}\" stroke-linejoin=\"round\"/>",
            curve.colour,
            THIN + wider * above(k)
        );
        for &frame in &curve.failed {
            let _ = write!(
                svg,
                "<text x=\"{:.1}\" y=\"{zero:.1}\" text-anchor=\"middle\" fill=\"{}\">×</text>",
                at_x(frame),
                curve.colour
            );
        }
    }
    svg.push_str("</svg>");
    svg
}

/// The end of an axis: the next of 1, 2, 4, 5, 6, 8 times a power of ten, which also has a short half.
fn round_up(x: f64) -> f64 {
    if x <= 0.0 {
        return 1.0;
    }
    let power = 10f64.powf(x.log10().floor());
    let digits = [1.0, 2.0, 4.0, 5.0, 6.0, 8.0, 10.0];
    let end = digits.into_iter().find(|d| x <= d * power * (1.0 + 1e-9));
    end.unwrap_or(10.0) * power
}

/// A number in few characters.
pub(crate) fn short(x: f64) -> String {
    match x.abs() {
        0.0 => "0".into(),
        size if (1e-3..1e5).contains(&size) => {
            let digits = (2 - size.log10().floor() as i32).max(0);
            let rounded = (x * 10f64.powi(digits)).round() / 10f64.powi(digits);
            format!("{rounded}")
        }
        _ => {
            let text = format!("{x:.1e}");
            text.replace(".0e", "e")
        }
    }
}

pub(crate) fn escape(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}

/// An image of a page, from a PNG, with what stands below it.
pub(crate) fn figure(png: &[u8], text: &str) -> String {
    let (data, text) = (base64(png), escape(text));
    format!(
        "<figure><img alt=\"{text}\" src=\"data:image/png;base64,{data}\"><figcaption>{text}</figcaption></figure>\n"
    )
}

/// Whether a page may be written to a file that `option` names: it is called .html, and what is there already is a page of ours.
pub(crate) fn check_target(option: &str, file: &Path) -> Result<(), Failure> {
    let refused = |why: &str| {
        let name = file.display();
        Err(Failure::input(format!("{option} {name}: {why}")))
    };
    let end = file.extension().unwrap_or_default().to_ascii_lowercase();
    if end != "html" && end != "htm" {
        return refused("a page is written there; name a file that ends in .html");
    }
    if file.is_dir() {
        return refused("this is a folder; name a file in it");
    }
    let Ok(there) = File::open(file) else {
        return Ok(()); // nothing, or nothing that can be written either
    };
    let mut head = Vec::new();
    let _ = there.take(MARKED).read_to_end(&mut head);
    match head.is_empty() || String::from_utf8_lossy(&head).contains(MARK) {
        true => Ok(()),
        false => refused(
            "this file is no page of Percale and stays as it is; name another, or remove it first",
        ),
    }
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

    #[test]
    fn numbers_are_short_and_axes_end_above_them() {
        for (x, text) in [
            (0.0, "0"),
            (4.0, "4"),
            (0.0312, "0.0312"),
            (1234.5, "1235"),
            (1e-9, "1e-9"),
            (2.5e7, "2.5e7"),
        ] {
            assert_eq!(short(x), text);
        }
        for (x, end) in [
            (0.0, 1.0),
            (0.99, 1.0),
            (3.0, 4.0),
            (41.0, 50.0),
            (9.1, 10.0),
            (0.2, 0.2),
        ] {
            assert!((round_up(x) - end).abs() < 1e-12, "{x}: {}", round_up(x));
        }
    }

    #[test]
    fn equal_curves_are_all_seen_and_what_is_zero_is_one_line() {
        let curve = |name, colour, values: [f64; 3]| Curve {
            name,
            colour,
            points: (1..).zip(values.map(Some)).collect(),
            failed: vec![],
        };
        let page = plots(&[
            (
                "a<b",
                vec![
                    curve("one", "red", [0.0, 2.0, 4.0]),
                    curve("two", "blue", [0.0, 2.0, 4.0]),
                ],
            ),
            (
                "nothing",
                vec![
                    curve("one", "red", [0.0; 3]),
                    curve("two", "blue", [0.0; 3]),
                ],
            ),
        ]);
        assert_eq!(page.matches("<svg").count(), 1);
        let same = "d=\"M62.0 168.0L347.0 88.0L632.0 8.0\"";
        assert_eq!(page.matches(same).count(), 2, "{page}");
        assert!(
            page.contains("stroke=\"red\" stroke-width=\"3.1\"")
                && page.contains("stroke=\"blue\" stroke-width=\"1.6\"")
        );
        assert!(
            page.contains("■</b> one") && page.contains("■</b> two") && page.contains("a&lt;b")
        );
        assert!(page.contains("0 in every frame: nothing"));
    }

    #[test]
    fn failed_frames_break_a_curve_and_are_marked() {
        let curve = Curve {
            name: "one",
            colour: "red",
            points: vec![
                (0, Some(1.0)),
                (1, None),
                (2, Some(f64::NAN)),
                (3, Some(1.0)),
            ],
            failed: vec![1],
        };
        let svg = plot(&[curve]);
        assert!(
            svg.contains("d=\"M62.0 8.0M632.0 8.0\"") && svg.contains('×'),
            "{svg}"
        );
    }

    #[test]
    fn values_below_zero_are_plotted_below_the_axis() {
        let curve = |values: [f64; 3]| Curve {
            name: "one",
            colour: "red",
            points: (1..).zip(values.map(Some)).collect(),
            failed: vec![],
        };
        let below = plot(&[curve([0.0, -2.0, -4.0])]);
        assert!(
            below.contains("d=\"M62.0 8.0L347.0 88.0L632.0 168.0\""),
            "{below}"
        );
        assert!(below.contains(">-4</text>") && below.contains(">-2</text>"));
        let both = plot(&[curve([-4.0, 0.0, 4.0])]);
        assert!(
            both.contains("d=\"M62.0 168.0L347.0 88.0L632.0 8.0\""),
            "{both}"
        );
    }

    #[test]
    fn only_our_pages_are_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let check = |path: &Path| check_target("--html", path).map_err(|f| f.to_string());
        assert_eq!(check(&folder.path().join("new.html")), Ok(()));
        assert_eq!(check(&file("ours.HTML", &begin("a", "a"))), Ok(()));
        assert_eq!(check(&file("empty.html", "")), Ok(()));
        for (path, word) in [
            (
                file("letter.html", "<!doctype html><p>Dear"),
                "no page of Percale",
            ),
            (file("towel.toml", "frames = 1"), ".html"),
            (folder.path().join("new"), ".html"),
        ] {
            let error = check(&path).unwrap_err();
            assert!(error.contains(word) && error.contains("--html"), "{error}");
        }
    }
}
