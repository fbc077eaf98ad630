//! `percale compare`: methods side by side, from the same states.

mod page;

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use glam::DVec3;
use percale::compare::{Compared, Method, compare};
use percale::geometry::Mesh;
use percale::io::write_atomically;
use percale::scene::{Scene, Variant};

use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output::say;
use crate::progress::Progress;
use crate::render::stage::{Source, Stage};
use crate::run::{cannot_start, key_value};
use crate::stages::stage_list;

/// Compare methods on one scene, each frame from the same state
///
/// The first method makes the frames; every other one starts each frame from the same state. Writes compare.json, compare.csv
/// and compare.html (one file, with plots and pictures); Ctrl-C ends after the frame, with what has been compared so far. Exit code 1: a
/// method gave up a frame.
///
/// "Taken back" sums the energy of motion that repulsions and stages took in every interval; each interval proposes the fall of what lies on
/// something anew, so a load at rest counts again and again: compare it between methods, not with the energy of the cloth.
#[derive(Debug, clap::Args)]
pub(crate) struct Compare {
    /// Built-in scene or file
    scene: String,
    /// A method: its name, its stages with settings, then other keys of the scene:
    /// `--method ours="impulses,inelastic{form=coulomb}; failsafe=hold; time.max_loops=64"`
    #[arg(long = "method", value_name = "NAME=STAGES", value_parser = method)]
    methods: Vec<(String, Vec<(String, String)>)>,
    /// Methods in short: stages by comma, methods by semicolon, e.g. "impulses,hold;inelastic"
    #[arg(long, value_name = "STAGES;STAGES", conflicts_with = "methods")]
    response: Option<String>,
    /// Where to write
    #[arg(long, short)]
    out: PathBuf,
    /// Frames to compare [default: the scene's]
    #[arg(long)]
    frames: Option<u64>,
    /// Use the scene's small variant
    #[arg(long)]
    small: bool,
    /// Let every method go its own way instead of starting each frame from the first one's state
    #[arg(long)]
    apart: bool,
    /// Change a key of the scene for all methods
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = key_value)]
    changes: Vec<(String, String)>,
    /// How many frames are shown as pictures
    #[arg(long, default_value_t = 3)]
    pictures: u64,
    /// Print the totals as one JSON object
    #[arg(long)]
    json: bool,
}

/// Size of a picture, in pixels.
const PICTURE: [u32; 2] = [480, 360];

impl Compare {
    /// The methods, each ready to start, and how many frames they are compared over.
    fn methods(&self) -> Result<(Vec<Method>, u64), Failure> {
        let specs = match &self.response {
            Some(text) => short_form(text).map_err(Failure::input)?,
            None => self.methods.clone(),
        };
        if specs.len() < 2 {
            let message = "name at least two methods: --method a=impulses --method b=inelastic";
            return Err(Failure::input(message));
        }
        let variant = if self.small {
            Variant::Small
        } else {
            Variant::Full
        };
        let mut methods = Vec::new();
        let mut frames = self.frames;
        for (name, own) in &specs {
            let changes = [&self.changes[..], own].concat();
            let scene = Scene::load_variant(&self.scene, variant)?.set_all(changes)?;
            frames = frames.or(Some(scene.frames));
            methods.push(Method {
                name: name.clone(),
                simulation: scene
                    .build()
                    .map_err(|error| cannot_start(&self.scene, error))?,
            });
        }
        let frames = frames.expect("there are two methods at least").max(1);
        Ok((methods, frames))
    }

    pub(crate) fn run(&self) -> Result<ExitCode, Failure> {
        let (mut methods, frames) = self.methods()?;
        let shown: Vec<u64> = (1..=self.pictures)
            .map(|i| (i * frames).div_ceil(self.pictures))
            .collect();
        let mut pictures: Vec<(u64, Vec<Vec<DVec3>>)> = Vec::new();
        let progress = Progress::new("frame", frames, 0);
        let interrupt = Interrupt::watch(&progress, "frame", "nothing was written")?;
        fs::create_dir_all(&self.out).map_err(|error| cannot_write(&self.out, &error))?;
        let mut go_on = |done: f64| progress.at(done);
        let compared = compare(
            &mut methods,
            frames,
            self.apart,
            &mut go_on,
            |frame, states| {
                if shown.contains(&frame) || interrupt.came() {
                    pictures.push((frame, states.iter().map(|x| x.to_vec()).collect()));
                }
                if interrupt.came() {
                    return ControlFlow::Break(());
                }
                ControlFlow::Continue(())
            },
        );
        progress.finish_with_line();
        let figures = compared?;

        let mesh = methods[0].simulation.state().mesh();
        let mut drawn = Vec::new();
        for (frame, states) in &pictures {
            drawn.push((*frame, draw(mesh, states)?));
        }
        let json = serde_json::to_string(&figures)?;
        self.write("compare.json", &json)?;
        self.write("compare.csv", &csv(&figures))?;
        let page = page::page(&self.scene, self.apart, &figures, &drawn);
        self.write("compare.html", &page)?;
        if self.json {
            say!("{}", serde_json::to_string(&totals(&figures))?);
        } else {
            crate::output::write(format_args!("{}", table(&figures)));
        }
        let done = figures.iter().map(|method| method.frames.len()).max();
        let done = done.unwrap_or_default() as u64;
        if interrupt.came() && done < frames {
            eprintln!(
                "stopped after frame {done} of {frames}; {} holds these frames",
                self.out.display()
            );
            return Ok(Interrupt::code());
        }
        let failed = figures.iter().any(|method| method.failed_frames() > 0);
        Ok(ExitCode::from(u8::from(failed)))
    }

    fn write(&self, name: &str, text: &str) -> Result<(), Failure> {
        let path = self.out.join(name);
        write_atomically(&path, |out| out.write_all(text.as_bytes()))
            .map_err(|error| cannot_write(&path, &error))
    }
}

/// A picture of each state, as PNG.
fn draw(mesh: &Mesh, states: &[Vec<DVec3>]) -> Result<Vec<Vec<u8>>, Failure> {
    // one camera for all methods of a frame, so that they can be laid over each other
    let camera = Stage::new(Source::Still(mesh, &states[0]), &[0], PICTURE, None)?.camera;
    let mut images = Vec::new();
    for x in states {
        let stage = Stage::new(Source::Still(mesh, x), &[0], PICTURE, Some(camera))?;
        let mut png = Vec::new();
        stage.draw(0)?.write_png(&mut png)?;
        images.push(png);
    }
    Ok(images)
}

fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    Failure::input(format!("{}: {error}", path.display()))
}

/// `NAME=stage,stage{key=value}; key=value; ...` as changes of scene keys.
fn method(text: &str) -> Result<(String, Vec<(String, String)>), String> {
    let (name, rest) = text
        .split_once('=')
        .ok_or("write NAME=STAGES, e.g. ours=impulses,inelastic")?;
    Ok((name.trim().into(), changes(rest.trim_matches('"'))?))
}

/// `a,b;c`: two methods, named by their stages.
fn short_form(text: &str) -> Result<Vec<(String, Vec<(String, String)>)>, String> {
    let parts = text.split(';').map(str::trim);
    parts
        .map(|part| Ok((part.to_string(), changes(part)?)))
        .collect()
}

fn changes(text: &str) -> Result<Vec<(String, String)>, String> {
    let mut parts = text.split(';').map(str::trim);
    let stages = parts.next().unwrap_or_default();
    let mut changes = vec![("response".to_string(), stage_list(stages)?)];
    for part in parts.filter(|part| !part.is_empty()) {
        let (key, value) = key_value(part)?;
        let value = match key.as_str() {
            "failsafe" if !value.starts_with('[') => stage_list(&value)?,
            _ => value,
        };
        changes.push((key, value));
    }
    Ok(changes)
}

/// The figures without their frames.
fn totals(figures: &[Compared]) -> serde_json::Value {
    let each = figures.iter().map(|method| {
        let mut value = serde_json::to_value(method).expect("figures are plain data");
        if let Some(table) = value.as_object_mut() {
            table.remove("frames");
        }
        value
    });
    serde_json::json!({ "methods": each.collect::<Vec<_>>() })
}

/// One line per frame and method.
fn csv(figures: &[Compared]) -> String {
    let mut text = String::from(
        "method,frame,failed,mean_interval,pairs_per_call,calls,retries,failsafes,intersections,energy_lost,sliding_kept,\
         propose_ms,repel_ms,respond_ms,accept_ms,audit_ms\n",
    );
    for method in figures {
        for frame in &method.frames {
            let f = &frame.figures;
            let kept = f.sliding_kept();
            let kept = kept.map_or(String::new(), |kept| kept.to_string());
            let p = &f.phases;
            let name = method.name.replace('"', "\"\"");
            let _ = writeln!(
                text,
                "\"{name}\",{},{},{},{},{},{},{},{},{},{kept},{},{},{},{},{}",
                f.frame,
                frame.failed,
                frame.mean_interval(),
                f.pairs_per_call(),
                f.calls(),
                f.retries,
                f.failsafe_count(),
                f.intersections,
                f.energy_lost(),
                p.propose_ms,
                p.repel_ms,
                p.respond_ms,
                p.accept_ms,
                p.audit_ms
            );
        }
    }
    text
}

fn table(figures: &[Compared]) -> String {
    let width = figures.iter().map(|f| f.name.chars().count()).max();
    let width = width.unwrap_or_default().max(6);
    let mut text = format!(
        "{:width$}  failed  interval  pairs/call  fail-safes  retries  taken back, J  sliding kept  response, s  CPU, s\n",
        "method"
    );
    for method in figures {
        let f = &method.figures;
        let kept = f.sliding_kept();
        let kept = kept.map_or("-".into(), |kept| format!("{:.1} %", 100.0 * kept));
        let _ = writeln!(
            text,
            "{:width$}  {:6}  {:8.4}  {:10.1}  {:10}  {:7}  {:13.2e}  {kept:>12}  {:11.2}  {:6.1}",
            method.name,
            method.failed_frames(),
            method.mean_interval(),
            f.pairs_per_call(),
            f.failsafe_count(),
            f.retries,
            f.energy_lost(),
            1e-3 * f.phases.respond_ms,
            method.seconds(),
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_read_as_people_write_them() {
        let (name, changes) =
            method("ours=impulses{max_rounds=5},inelastic{form=paper, max_rounds=9}; failsafe=hold; time.max_loops=64")
                .unwrap();
        assert_eq!(name, "ours");
        let expected = [
            (
                "response",
                "[{ kind = \"impulses\", max_rounds = 5 }, { kind = \"inelastic\", form = \"paper\", max_rounds = 9 }]",
            ),
            ("failsafe", "[{ kind = \"hold\" }]"),
            ("time.max_loops", "64"),
        ];
        let changes: Vec<(&str, &str)> = changes.iter().map(|(k, v)| (&k[..], &v[..])).collect();
        assert_eq!(changes, expected);
        Scene::load("drop").unwrap().set_all(changes).unwrap();
    }

    #[test]
    fn unknown_stages_and_open_braces_are_refused_by_name() {
        assert!(method("a=impulse").unwrap_err().contains("'impulse'"));
        assert!(
            method("a=hold{max_rounds=3")
                .unwrap_err()
                .contains("closing")
        );
        assert!(method("impulses").is_err());
        assert_eq!(short_form("impulses,hold;inelastic").unwrap().len(), 2);
    }
}
