//! `percale check`: what crosses in meshes or in a result, and what meets during a motion.

mod paths;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use glam::DVec3;
use indicatif::{ProgressBar, ProgressStyle};
use percale::error::NamedFace;
use percale::geometry::{Asked, Collider, Crossings, Impact, Mesh, Mode, Pair, Scope};
use percale::io::write_atomically;
use percale::record::Recording;
use percale::untangle::{self, Analysis, Rest};
use serde::Serialize;

use crate::failure::Failure;
use crate::inputs;
use crate::interrupt::Interrupt;
use crate::output::say;
use crate::progress::Progress;
use paths::ListedPath;

/// Pairs that the JSON object lists; `--pairs` writes all.
const MAX_PAIRS: usize = 1000;
/// Lines of counts and examples that the text for people lists.
const MAX_LINES: usize = 10;
/// Triangles from which on a progress display appears.
const LARGE: usize = 50_000;

/// Find intersections of meshes, of every frame of a result folder, or impacts of a motion
///
/// Several meshes are tested together, numbered through in the given order. Exit code 0: nothing crosses, or meets during a motion; 1: something does;
/// 2: the input cannot be used. What crosses at the start of a motion is reported, but is not what it is judged by.
#[derive(Debug, clap::Args)]
pub(crate) struct Check {
    /// Meshes (.obj, .ply, .stl, also .gz), patterns such as 'cloth*.obj', or one result folder
    #[arg(required = true, value_name = "MESH|DIR")]
    inputs: Vec<PathBuf>,
    /// Test the straight motion from this mesh to MESH; repeat it for each of several meshes
    #[arg(long, value_name = "MESH")]
    from: Vec<PathBuf>,
    /// How the continuous test decides
    #[arg(long, value_enum, default_value_t = Ccd::Fast, requires = "from")]
    ccd: Ccd,
    /// Find the earliest impact only: how far everything may go; costs less
    #[arg(long, requires = "from")]
    first: bool,
    /// Write all pairs as CSV: `face_a,face_b` (with the frame in front for folders), or `kind,v0,v1,v2,v3,time` for a motion
    #[arg(long, value_name = "FILE")]
    pairs: Option<PathBuf>,
    /// List the intersection paths with their types
    #[arg(long, conflicts_with = "from")]
    paths: bool,
    /// Write the intersection paths as polylines, .obj or .ply
    #[arg(long, value_name = "FILE", requires = "paths")]
    polylines: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// The modes of the continuous test.
#[derive(Clone, Copy, Debug, PartialEq, clap::ValueEnum)]
enum Ccd {
    /// Filters and certified isolation; undecided pairs count as impacts
    Fast,
    /// Exact arithmetic where the fast test cannot decide
    Exact,
    /// The papers' cubic; undecided pairs count as impacts
    Cubic,
}

impl Check {
    pub(crate) fn run(&self) -> Result<ExitCode, Failure> {
        let files = inputs::expand(&self.inputs)?;
        match inputs::folder(&files)? {
            Some(folder) if self.from.is_empty() => self.check_folder(folder),
            Some(folder) => Err(Failure::input(format!(
                "{}: --from takes mesh files, not a folder; export the two frames first",
                folder.display()
            ))),
            None if self.from.is_empty() => self.check_meshes(&files),
            None => self.check_motion(&files),
        }
    }

    fn check_meshes(&self, files: &[PathBuf]) -> Result<ExitCode, Failure> {
        let (input, pattern) = inputs::read_flat(files)?;
        let _spinner = Spinner::over(input.mesh.faces().len());
        let rest = pattern.as_deref().map_or(Rest::Unknown, Rest::Parameters);
        let analysis = self.analyse(&input.mesh, &input.positions, rest)?;
        if let (Some(path), Some(analysis)) = (&self.polylines, &analysis) {
            paths::write_polylines(path, analysis, &input.positions)?;
        }
        let crossings =
            percale::geometry::crossings(&input.mesh, &input.positions, Scope::Everything);
        if let Some(path) = &self.pairs {
            write_csv(path, "face_a,face_b", |out| {
                write_faces(out, "", &crossings)
            })?;
        }
        let report = StaticReport {
            vertices: input.mesh.vertex_count(),
            triangles: input.mesh.faces().len(),
            intersections: crossings.faces.len(),
            edge_face: crossings.edge_faces.len(),
            by_body: by_body(
                &input.mesh,
                &crossings,
                &input.part_names,
                &input.part_of_face,
            ),
            pairs: first_pairs(&crossings.faces, |&pair| pair.to_vec()),
            frames: None,
            run: None,
            paths: analysis.map(|a| paths::list(None, &a, &input.positions)),
        };
        self.print(&report, || describe_static(&report))?;
        Ok(answer(report.intersections))
    }

    fn analyse(
        &self,
        mesh: &Mesh,
        x: &[DVec3],
        rest: Rest<'_>,
    ) -> Result<Option<Analysis>, Failure> {
        if !self.paths {
            return Ok(None);
        }
        let analysis = untangle::analyse(mesh, x, rest);
        analysis
            .map(Some)
            .map_err(|e| Failure::input(e.to_string()))
    }

    fn check_folder(&self, folder: &Path) -> Result<ExitCode, Failure> {
        if self.polylines.is_some() {
            return Err(Failure::input(format!(
                "{}: --polylines takes mesh files, not a folder; export the frame first",
                folder.display()
            )));
        }
        let recording = Recording::open(folder)?;
        let mesh = recording.mesh();
        let names: Vec<String> = mesh.bodies().iter().map(|b| b.name.clone()).collect();
        let body_of_face: Vec<u32> = (0..mesh.faces().len() as u32)
            .map(|face| mesh.body_of_face(face))
            .collect();
        let mut collider = Collider::new(mesh);
        let mut counts = Counts::new();
        let mut pairs = Vec::new();
        let mut lines = Vec::new();
        let mut frames = Vec::new();
        let mut paths = self.paths.then(Vec::new);
        let progress = Progress::new("frame", recording.frame_count(), 0);
        let interrupt = Interrupt::watch(&progress, "frame", "nothing was written")?;
        for frame in 0..recording.frame_count() {
            if interrupt.came() {
                progress.finish();
                let message = format!("stopped after {frame} frames; nothing was written");
                return Err(Failure::interrupted(message));
            }
            let x = recording.positions(frame)?;
            let crossings = collider.crossings(&x, Scope::Certified);
            frames.push(Frame {
                frame,
                intersections: crossings.faces.len(),
                edge_face: crossings.edge_faces.len(),
            });
            count(&mut counts, mesh, &crossings, &body_of_face);
            if let Some(paths) = paths.as_mut().filter(|_| !crossings.faces.is_empty())
                && let Some(analysis) = self.analyse(mesh, &x, Rest::Unknown)?
            {
                paths.extend(paths::list(Some(frame), &analysis, &x));
            }
            pairs.extend(
                crossings
                    .faces
                    .iter()
                    .take(MAX_PAIRS - pairs.len())
                    .map(|&[a, b]| vec![frame as u32, a, b]),
            );
            if self.pairs.is_some() {
                write_faces(&mut lines, &format!("{frame},"), &crossings)
                    .expect("writing to memory does not fail");
            }
            progress.add_one();
        }
        progress.finish();
        let hash = recording.hash()?; // also compares it with the report's
        if let Some(path) = &self.pairs {
            write_csv(path, "frame,face_a,face_b", |out| out.write_all(&lines))?;
        }
        let report = StaticReport {
            vertices: mesh.vertex_count(),
            triangles: mesh.faces().len(),
            intersections: frames.iter().map(|f| f.intersections).sum(),
            edge_face: frames.iter().map(|f| f.edge_face).sum(),
            by_body: named(&counts, &names),
            frames: Some(frames),
            run: Some(RunOf {
                first: first_pair(mesh, &pairs),
                hash,
                refused: recording.is_refused(),
                ended: recording.summary().is_some(),
            }),
            pairs,
            paths,
        };
        self.print(&report, || describe_static(&report))?;
        Ok(answer(report.intersections))
    }

    fn check_motion(&self, files: &[PathBuf]) -> Result<ExitCode, Failure> {
        let starts = inputs::expand(&self.from)?;
        let (input, end) = inputs::read_motion(&starts, files)?;
        let _spinner = Spinner::over(input.mesh.faces().len());
        let mode = match self.ccd {
            Ccd::Fast => Mode::Fast,
            Ccd::Exact => Mode::Exact,
            Ccd::Cubic => Mode::Cubic,
        };
        let asked = Asked { mode, margin: None };
        let mut collider = Collider::new(&input.mesh);
        let crossings = collider.crossings(&input.positions, Scope::Everything);
        let motion = collider.motion(&input.positions, &end)?;
        let impacts = match self.first {
            true => collider.first_impact(motion, &asked).into_iter().collect(),
            false => collider.impacts(motion, &asked),
        };
        if let Some(path) = &self.pairs {
            write_csv(path, "kind,v0,v1,v2,v3,time", |out| {
                impacts.iter().try_for_each(|impact| {
                    let [a, b, c, d] = impact.vertices;
                    let Impact { time, .. } = impact;
                    writeln!(out, "{},{a},{b},{c},{d},{time}", kind(impact))
                })
            })?;
        }
        let vertex_face = impacts.iter().filter(|i| kind(i) == "vf").count();
        let report = MotionReport {
            vertices: input.mesh.vertex_count(),
            triangles: input.mesh.faces().len(),
            impacts: impacts.len(),
            vertex_face,
            edge_edge: impacts.len() - vertex_face,
            uncertain: impacts.iter().filter(|i| !i.certain).count(),
            start_intersections: crossings.faces.len(),
            only_first: self.first,
            first_time: impacts.iter().map(|i| i.time).min_by(f64::total_cmp),
            pairs: first_pairs(&impacts, |impact| MotionPair {
                kind: kind(impact),
                vertices: impact.vertices,
                time: impact.time,
            }),
        };
        self.print(&report, || describe_motion(&report))?;
        Ok(answer(report.impacts))
    }

    fn print(&self, report: &impl Serialize, text: impl Fn() -> String) -> Result<(), Failure> {
        if self.json {
            say!("{}", serde_json::to_string(report)?);
        } else {
            say!("{}", text());
        }
        Ok(())
    }
}

/// Whether something was found, as an exit code.
fn answer(count: usize) -> ExitCode {
    ExitCode::from(u8::from(count > 0))
}

/// What crosses at an instant, or at any frame of a folder.
#[derive(Debug, Serialize)]
struct StaticReport {
    vertices: usize,
    triangles: usize,
    /// Crossing pairs of faces, over all frames.
    intersections: usize,
    /// Edges that pierce faces without a common vertex, over all frames.
    edge_face: usize,
    by_body: Vec<BodyCount>,
    /// The first crossing faces, after the frame for folders.
    pairs: Vec<Vec<u32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frames: Option<Vec<Frame>>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    run: Option<RunOf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    paths: Option<Vec<ListedPath>>,
}

/// What is known of the run that made a folder.
#[derive(Debug, Serialize)]
struct RunOf {
    /// SHA-256 of the positions of all frames, computed anew.
    hash: String,
    /// Whether the start crosses itself and was refused.
    refused: bool,
    /// Whether the run has written its report.
    ended: bool,
    /// The first crossing faces, by object.
    #[serde(skip)]
    first: Option<[NamedFace; 2]>,
}

#[derive(Debug, Serialize)]
struct Frame {
    frame: u64,
    intersections: usize,
    edge_face: usize,
}

/// Counts between two named objects or connected components, or within one.
#[derive(Debug, Serialize)]
struct BodyCount {
    a: String,
    b: String,
    intersections: usize,
    edge_face: usize,
}

/// What meets during a motion.
#[derive(Debug, Serialize)]
struct MotionReport {
    vertices: usize,
    triangles: usize,
    impacts: usize,
    vertex_face: usize,
    edge_edge: usize,
    /// Those among the impacts that are not excluded, but not proved either.
    uncertain: usize,
    /// Pairs of faces that cross or touch at the start, by the exact static test: what of them does not move is no impact.
    start_intersections: usize,
    /// Whether only the earliest impact was asked for.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    only_first: bool,
    first_time: Option<f64>,
    pairs: Vec<MotionPair>,
}

#[derive(Debug, Serialize)]
struct MotionPair {
    kind: &'static str,
    vertices: [u32; 4],
    time: f64,
}

/// Crossing faces and edge-face crossings by the numbers of two parts, the smaller first.
type Counts = BTreeMap<[u32; 2], [usize; 2]>;

fn by_body(
    mesh: &Mesh,
    crossings: &Crossings,
    names: &[String],
    part_of_face: &[u32],
) -> Vec<BodyCount> {
    let mut counts = Counts::new();
    count(&mut counts, mesh, crossings, part_of_face);
    named(&counts, names)
}

fn count(counts: &mut Counts, mesh: &Mesh, crossings: &Crossings, part_of_face: &[u32]) {
    let part = |face: u32| part_of_face[face as usize];
    let mut add = |a: u32, b: u32, column: usize| {
        counts.entry([a.min(b), a.max(b)]).or_default()[column] += 1;
    };
    for &[f, g] in &crossings.faces {
        add(part(f), part(g), 0);
    }
    for &[edge, face] in &crossings.edge_faces {
        // an edge between two groups counts for the first face that has it
        add(part(mesh.edge_owner()[edge as usize]), part(face), 1);
    }
}

fn named(counts: &Counts, names: &[String]) -> Vec<BodyCount> {
    counts
        .iter()
        .map(|(&[a, b], &[intersections, edge_face])| BodyCount {
            a: names[a as usize].clone(),
            b: names[b as usize].clone(),
            intersections,
            edge_face,
        })
        .collect()
}

/// The first crossing faces of a folder, whose pairs begin with the frame.
fn first_pair(mesh: &Mesh, pairs: &[Vec<u32>]) -> Option<[NamedFace; 2]> {
    match pairs.first()?[..] {
        [_, a, b] => Some([a, b].map(|face| NamedFace::of(mesh, face))),
        _ => None,
    }
}

fn first_pairs<T, P>(all: &[T], pair: impl Fn(&T) -> P) -> Vec<P> {
    all.iter().take(MAX_PAIRS).map(pair).collect()
}

fn kind(impact: &Impact) -> &'static str {
    match impact.pair {
        Pair::VertexFace { .. } => "vf",
        Pair::EdgeEdge { .. } => "ee",
    }
}

fn write_faces(out: &mut dyn Write, prefix: &str, crossings: &Crossings) -> io::Result<()> {
    let mut faces = crossings.faces.iter();
    faces.try_for_each(|[a, b]| writeln!(out, "{prefix}{a},{b}"))
}

fn write_csv(
    path: &Path,
    header: &str,
    rows: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    write_atomically(path, |out| {
        writeln!(out, "{header}")?;
        rows(out)
    })
    .map_err(|error| {
        Failure::input(format!(
            "{}: cannot write the pairs: {error}",
            path.display()
        ))
    })
}

fn describe_static(report: &StaticReport) -> String {
    let mut text = format!(
        "{} vertices, {} triangles{}: {} intersections (pairs of faces), {} edge-face crossings",
        report.vertices,
        report.triangles,
        report
            .frames
            .as_ref()
            .map_or(String::new(), |f| format!(", {} frames", f.len())),
        report.intersections,
        report.edge_face
    );
    for body in report.by_body.iter().take(MAX_LINES) {
        text += &format!(
            "\n  {} - {}: {} intersections, {} edge-face",
            body.a, body.b, body.intersections, body.edge_face
        );
    }
    if report.by_body.len() > MAX_LINES {
        let more = report.by_body.len() - MAX_LINES;
        text += &format!("\n  and {more} more pairs of bodies; --json lists all");
    }
    if let Some(frames) = &report.frames {
        let crossed: Vec<&Frame> = frames.iter().filter(|f| f.intersections > 0).collect();
        if let (Some(first), Some(last)) = (crossed.first(), crossed.last()) {
            text += &format!(
                "\n  in {} frames, from {} to {}",
                crossed.len(),
                first.frame,
                last.frame
            );
        }
    }
    if let Some(paths) = &report.paths {
        text += &paths::describe(paths);
    }
    if let Some(pair) = report.pairs.first() {
        let named = report.run.as_ref().and_then(|run| run.first.as_ref());
        text += &match (pair.as_slice(), named) {
            ([frame, ..], Some([a, b])) => {
                format!("\n  first: {a} and {b} in frame {frame} (from 0 in each object)")
            }
            (pair, _) => format!("\n  first: faces {} and {}", pair[0], pair[1]),
        };
    }
    if let Some(run) = &report.run {
        text += match (run.refused, run.ended) {
            (true, _) => "\n  a start that was refused: nothing was run, and it is not certified",
            (_, true) => "\n  all checksums are right, and so is the hash in report.json",
            (_, false) => "\n  all checksums are right; the run has not ended",
        };
    }
    text
}

fn describe_motion(report: &MotionReport) -> String {
    let mut text = format!(
        "{} vertices, {} triangles: ",
        report.vertices, report.triangles
    );
    text += &match (report.only_first, report.impacts) {
        (true, 0) => "nothing meets".to_owned(),
        (true, _) => "something meets; only the earliest impact was asked for".to_owned(),
        (false, impacts) => format!(
            "{impacts} impacts, {} vertex-face and {} edge-edge",
            report.vertex_face, report.edge_edge
        ),
    };
    if let (Some(time), Some(first)) = (report.first_time, report.pairs.first()) {
        text += &format!(
            "\n  first at {time} of the motion: {} {:?}",
            first.kind, first.vertices
        );
    }
    if report.start_intersections > 0 {
        text += &format!(
            "\n  {} pairs of faces cross or touch already at the start; those that do not move are not among the impacts",
            report.start_intersections
        );
    }
    if report.uncertain > 0 {
        text += &format!(
            "\n  {} of them could not be excluded, but are not proved either; try --ccd exact",
            report.uncertain
        );
    }
    text
}

/// A spinner on stderr while something large is tested.
struct Spinner(ProgressBar);

impl Spinner {
    fn over(triangles: usize) -> Self {
        if triangles < LARGE {
            return Self(ProgressBar::hidden());
        }
        let bar = ProgressBar::new_spinner();
        let template = "{spinner} testing {msg} triangles, {elapsed}";
        bar.set_style(ProgressStyle::with_template(template).expect("the template is well formed"));
        bar.set_message(triangles.to_string());
        bar.enable_steady_tick(Duration::from_millis(100));
        Self(bar)
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
