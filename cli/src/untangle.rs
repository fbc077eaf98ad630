//! `percale untangle`: cures meshes that cross themselves, each other or a body.

mod batch;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use glam::{DVec2, DVec3};
use percale::geometry::{Body, BodyKind, Mesh};
use percale::io::{self, MeshFile, write_atomically};
use percale::render::{self, Colour, Image, contact_sheet};
use percale::untangle::{
    CureReport, CureSettings, Patient, Rest, cure, edge_lengths, pattern_lengths,
};
use percale::verify;
use serde::Serialize;

use crate::failure::Failure;
use crate::inputs::{self, same_file};
use crate::output::say;
use crate::render::stage::{Source, Stage};
use crate::resolve::numbers;

/// Intersections that the text for people lists.
const MAX_LINES: usize = 10;
/// Of the words on a picture of --render.
const LABEL: Colour = Colour([40, 44, 52]);
/// Pixels of one picture of --render.
const PICTURE: [u32; 2] = [640, 480];

/// Cure tangled meshes: move vertices until nothing crosses
///
/// One mesh gives one file; several meshes, a pattern or a folder give a folder of files with the same names, each cured by itself. Faces, polygons,
/// texture coordinates and all else in a file stay as they are; vertices far from any intersection keep their bits. Exit code 0: nothing crosses any more,
/// certified by the exact test; 1: something is left, listed, and the rest is written all the same; 2: an input cannot be used.
#[derive(Debug, clap::Args)]
pub(crate) struct Untangle {
    /// Meshes (.obj, .ply, .stl, also .gz), patterns such as 'look*.obj', or a folder of them
    #[arg(required = true, value_name = "IN")]
    inputs: Vec<PathBuf>,
    /// Where to write: a file (.obj or .ply, also .gz) for one mesh, a folder for several
    #[arg(long, short)]
    out: PathBuf,
    /// File with the numbers of vertices (from 0) that may not move
    #[arg(long, value_name = "FILE")]
    keep: Option<PathBuf>,
    /// File with a layer for each vertex, in their order: a piece of a higher layer belongs on the side to which the faces of the lower ones look; equal layers
    /// say nothing
    #[arg(long, value_name = "FILE")]
    layers: Option<PathBuf>,
    /// A body that the cloth must be outside of; it never moves, and what it does with itself does not count
    #[arg(long, value_name = "MESH")]
    body: Option<PathBuf>,
    /// The same mesh before it was tangled, for example as it hung: edges around what crossed get the lengths back that they have there
    #[arg(long, value_name = "MESH")]
    rest: Option<PathBuf>,
    /// Meshes that are cured at the same time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = jobs)]
    jobs: usize,
    /// Most steps for one mesh
    #[arg(long, value_name = "N", default_value_t = CureSettings::default().max_steps)]
    steps: u32,
    /// Distance in metres to which layers that crossed are parted in the end, at most a quarter of an edge
    #[arg(long, value_name = "METRES", default_value_t = 0.0, value_parser = thickness)]
    thickness: f64,
    /// Draw the mesh before and after, with its intersection paths; a .png file, or a folder for several meshes
    #[arg(long, value_name = "PNG")]
    render: Option<PathBuf>,
    /// Print one JSON object for each mesh, on a line of its own
    #[arg(long)]
    json: bool,
}

fn jobs(text: &str) -> Result<usize, String> {
    let count = text.parse().ok().filter(|n| (1..=1024).contains(n));
    count.ok_or_else(|| "write a number from 1 to 1024".into())
}

fn thickness(text: &str) -> Result<f64, String> {
    let metres = text.parse().ok().filter(|t| (0.0..1.0).contains(t));
    metres.ok_or_else(|| "write a length from 0 to 1 m".into())
}

/// A mesh to cure.
struct Task {
    input: PathBuf,
    out: PathBuf,
    render: Option<PathBuf>,
}

/// What is known beside the meshes.
struct Evidence<'a> {
    body: Option<&'a MeshFile>,
    /// As they were before they were tangled.
    rest: Option<&'a MeshFile>,
    /// Vertices that may not move.
    keep: &'a [usize],
    /// Of each vertex, or empty.
    layers: &'a [i32],
}

/// What became of a mesh.
#[derive(Debug, Serialize)]
struct Outcome {
    file: PathBuf,
    out: PathBuf,
    vertices: usize,
    triangles: usize,
    #[serde(flatten)]
    report: CureReport,
    /// Whether the exact test finds nothing in what was written.
    certified: bool,
}

impl Untangle {
    pub(crate) fn run(&self) -> Result<ExitCode, Failure> {
        let tasks = self.tasks()?;
        self.check_outputs(&tasks)?;
        let body = self.body.as_ref().map(io::read).transpose()?;
        let rest = self.rest.as_ref().map(inputs::read_one).transpose()?;
        let keep = match &self.keep {
            Some(path) => numbers::<usize>(path)?,
            None => Vec::new(),
        };
        let layers = match &self.layers {
            Some(path) => numbers::<i32>(path)?,
            None => Vec::new(),
        };
        let evidence = Evidence {
            body: body.as_ref(),
            rest: rest.as_ref(),
            keep: &keep,
            layers: &layers,
        };
        let is_batch = self.is_batch();
        if is_batch {
            for folder in [Some(&self.out), self.render.as_ref()]
                .into_iter()
                .flatten()
            {
                std::fs::create_dir_all(folder)
                    .map_err(|e| Failure::input(format!("{}: {e}", folder.display())))?;
            }
        }
        let outcomes = batch::in_order(&tasks, self.jobs, |task| self.cure_one(task, &evidence));
        let mut code = 0;
        for (task, outcome) in tasks.iter().zip(outcomes) {
            match outcome {
                Ok(outcome) => {
                    code = code.max(u8::from(outcome.report.intersections_after > 0));
                    match self.json {
                        true => say!("{}", serde_json::to_string(&outcome)?),
                        false => say!("{}", describe(&outcome)),
                    }
                }
                Err(failure) if !is_batch => return Err(failure),
                Err(failure) => {
                    code = 2;
                    failure.report();
                    if self.json {
                        let refused =
                            serde_json::json!({ "file": task.input, "error": failure.to_string() });
                        say!("{refused}");
                    }
                }
            }
        }
        Ok(ExitCode::from(code))
    }

    /// Whether several files are written.
    fn is_batch(&self) -> bool {
        let is_pattern = |p: &PathBuf| !p.exists() && p.to_string_lossy().contains(['*', '?', '[']);
        self.inputs.len() > 1 || self.inputs.iter().any(|p| p.is_dir() || is_pattern(p))
    }

    fn tasks(&self) -> Result<Vec<Task>, Failure> {
        let mut files = Vec::new();
        for input in inputs::expand(&self.inputs)? {
            if input.is_dir() {
                files.extend(meshes_in(&input)?);
            } else {
                files.push(input);
            }
        }
        if !self.is_batch() {
            let task = |input| Task {
                input,
                out: self.out.clone(),
                render: self.render.clone(),
            };
            return Ok(files.into_iter().map(task).collect());
        }
        let task = |input: PathBuf| {
            let name = input
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            // meshes are not written as .stl: it has no vertices
            let lower = name.to_lowercase();
            let written = match lower.find(".stl") {
                Some(at) => format!("{}.obj", &name[..at]),
                None => name.clone(),
            };
            let stem = name.split('.').next().unwrap_or_default().to_owned();
            Task {
                out: self.out.join(written),
                render: self
                    .render
                    .as_ref()
                    .map(|folder| folder.join(stem + ".png")),
                input,
            }
        };
        Ok(files.into_iter().map(task).collect())
    }

    /// Nothing that is read may be overwritten, under whatever name, and nothing written twice.
    fn check_outputs(&self, tasks: &[Task]) -> Result<(), Failure> {
        let mut taken: Vec<&PathBuf> = tasks.iter().map(|t| &t.input).collect();
        let evidence = [&self.keep, &self.layers, &self.body, &self.rest];
        taken.extend(evidence.into_iter().flatten());
        for task in tasks {
            for path in [Some(&task.out), task.render.as_ref()]
                .into_iter()
                .flatten()
            {
                if let Some(other) = taken.iter().find(|other| same_file(path, other)) {
                    return Err(Failure::input(format!(
                        "{}: this is {}, which would be overwritten; name another --out",
                        path.display(),
                        other.display()
                    )));
                }
                taken.push(path);
            }
        }
        Ok(())
    }

    fn cure_one(&self, task: &Task, evidence: &Evidence<'_>) -> Result<Outcome, Failure> {
        let &Evidence {
            body,
            rest,
            keep,
            layers,
        } = evidence;
        let file = inputs::read_one(&task.input)?;
        let (mesh, x) = together(&file, body)?;
        let count = file.positions.len();
        if let Some(v) = keep.iter().find(|&&v| v >= count) {
            return Err(Failure::input(format!(
                "{}: --keep has vertex {v}, but there are {count} (from 0)",
                task.input.display()
            )));
        }
        if !layers.is_empty() && layers.len() != count {
            return Err(Failure::input(format!(
                "{}: --layers has {} numbers for {count} vertices",
                task.input.display(),
                layers.len()
            )));
        }
        let mut layers = layers.to_vec();
        if !layers.is_empty() {
            layers.resize(x.len(), 0); // a body has an inside, and needs no layer
        }
        let mut is_kept = vec![false; x.len()];
        for &v in keep {
            is_kept[v] = true;
        }
        let lengths = rest_lengths(&mesh, &x, &file);
        let held = match rest {
            Some(rest) => held_lengths(rest, &file, &mesh, &x)?,
            None => Vec::new(),
        };
        let patient = Patient {
            mesh: &mesh,
            x: &x,
            rest: lengths.as_deref().map_or(Rest::Unknown, Rest::Lengths),
            keep: &is_kept,
            layers: &layers,
            lengths: &held,
        };
        let settings = CureSettings {
            max_steps: self.steps,
            thickness: self.thickness,
            ..CureSettings::default()
        };
        let cured = cure(patient, &settings)
            .map_err(|e| Failure::input(format!("{}: {e}", task.input.display())))?;
        let mut report = cured.report;
        let content = self.content(task, &file, &cured.positions[..count])?;

        // what is judged is what is stored
        let mut stored = cured.positions;
        let read = io::read_bytes(&task.out, &content)?;
        stored[..count].copy_from_slice(&read.positions);
        report.intersections_after = percale::geometry::crossing_faces(&mesh, &stored).len();
        let v = vec![DVec3::ZERO; stored.len()];
        let certified = verify::start(Arc::clone(&mesh), stored.clone(), v).is_ok();
        io::write_bytes(&task.out, &content)?;
        if let Some(picture) = &task.render {
            draw(picture, &mesh, &x, &stored)?;
        }
        Ok(Outcome {
            file: task.input.clone(),
            out: task.out.clone(),
            vertices: count,
            triangles: file.faces.len(),
            report,
            certified,
        })
    }

    /// The bytes to write: those of the input but for the coordinates.
    fn content(
        &self,
        task: &Task,
        file: &MeshFile,
        positions: &[DVec3],
    ) -> Result<Vec<u8>, Failure> {
        // a built-in sheet has no bytes
        let bytes = match task.input.exists() {
            true => std::fs::read(&task.input)?,
            false => Vec::new(),
        };
        let name = match task.input.exists() {
            true => task.input.clone(),
            false => PathBuf::from("built-in"),
        };
        Ok(io::with_positions(
            &name, &bytes, file, positions, &task.out,
        )?)
    }
}

/// Mesh files of a folder, by name.
fn meshes_in(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let cannot = |e: std::io::Error| Failure::input(format!("{}: {e}", folder.display()));
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(cannot)? {
        let path = entry.map_err(cannot)?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .to_lowercase();
        let plain = name.strip_suffix(".gz").unwrap_or(&name);
        if path.is_file() && [".obj", ".ply", ".stl"].iter().any(|e| plain.ends_with(e)) {
            files.push(path);
        }
    }
    files.sort();
    match files.is_empty() {
        true => Err(Failure::input(format!(
            "{}: no mesh files (.obj, .ply, .stl, also .gz) in this folder",
            folder.display()
        ))),
        false => Ok(files),
    }
}

/// One mesh of cloth and body.
fn together(cloth: &MeshFile, body: Option<&MeshFile>) -> Result<(Arc<Mesh>, Vec<DVec3>), Failure> {
    if cloth.faces.is_empty() {
        return Err(Failure::input(format!(
            "{}: there are no faces in it",
            cloth.path.display()
        )));
    }
    let (mut x, mut faces) = (cloth.positions.clone(), cloth.faces.clone());
    let (n, m) = (x.len() as u32, faces.len() as u32);
    let mut bodies = vec![Body {
        name: cloth.name(),
        kind: BodyKind::Cloth,
        vertices: 0..n,
        faces: 0..m,
    }];
    if let Some(body) = body {
        x.extend(&body.positions);
        faces.extend(body.faces.iter().map(|f| f.map(|v| v + n)));
        bodies.push(Body {
            name: body.path.display().to_string(),
            kind: BodyKind::Obstacle,
            vertices: n..x.len() as u32,
            faces: m..faces.len() as u32,
        });
    }
    let mesh = Mesh::with_bodies(x.len(), faces, bodies)
        .map_err(|e| Failure::input(format!("{}: {e}", cloth.path.display())))?;
    Ok((Arc::new(mesh), x))
}

/// Rest lengths by the cloth's pattern, if the file has one; those of a body as they are.
fn rest_lengths(mesh: &Mesh, x: &[DVec3], file: &MeshFile) -> Option<Vec<[f64; 3]>> {
    let uv: Option<Vec<[DVec2; 3]>> = (0..file.faces.len())
        .map(|f| inputs::corners_in_pattern(file, f))
        .collect();
    let cloth = Mesh::new(file.positions.len(), file.faces.clone()).ok()?;
    let mut lengths = pattern_lengths(&cloth, &file.positions, &uv?)?;
    for face in &mesh.faces()[lengths.len()..] {
        let [a, b, c] = face.map(|v| x[v as usize]);
        lengths.push([a.distance(b), b.distance(c), c.distance(a)]);
    }
    Some(lengths)
}

/// Lengths of all edges, those of cloth by the same mesh in another shape.
fn held_lengths(
    rest: &MeshFile,
    file: &MeshFile,
    mesh: &Mesh,
    x: &[DVec3],
) -> Result<Vec<f64>, Failure> {
    let refused = |why: String| Failure::input(format!("{}: --rest: {why}", rest.path.display()));
    let vertices = file.positions.len();
    if rest.positions.len() != vertices {
        return Err(refused(format!(
            "{} vertices, but {} has {vertices}",
            rest.positions.len(),
            file.path.display()
        )));
    }
    // how polygons are cut depends on their shape; what counts is how they are cut in the tangled mesh
    let is_same = match (&rest.polygons, &file.polygons) {
        (Some(polygons), Some(own)) => polygons == own,
        (None, None) => rest.faces == file.faces,
        _ => false,
    };
    if !is_same {
        let file = file.path.display();
        return Err(refused(format!("its faces are not those of {file}")));
    }
    let shape = [&rest.positions[..], &x[vertices..]].concat();
    edge_lengths(mesh, &shape).map_err(|e| refused(e.to_string()))
}

fn draw(file: &Path, mesh: &Mesh, before: &[DVec3], after: &[DVec3]) -> Result<(), Failure> {
    let mut first = Stage::new(Source::Still(mesh, before), &[0], PICTURE, None)?;
    first.shows_paths = true;
    let mut second = Stage::new(
        Source::Still(mesh, after),
        &[0],
        PICTURE,
        Some(first.camera),
    )?;
    second.shows_paths = true;
    // in the lower left corner, for types are listed in the upper one
    let labelled = |mut image: Image, label: &str| {
        let scale = (image.height() / 160).max(1);
        let at = [4 * scale, image.height() - 12 * scale];
        render::text(&mut image, label, at, scale, LABEL);
        (String::new(), image)
    };
    let cells = [
        labelled(first.draw(0)?, "before"),
        labelled(second.draw(0)?, "after"),
    ];
    let sheet = contact_sheet(&cells, 2);
    write_atomically(file, |out| sheet.write_png(out))
        .map_err(|e| Failure::input(format!("cannot write {}: {e}", file.display())))
}

fn describe(outcome: &Outcome) -> String {
    let Outcome { report, .. } = outcome;
    let (file, out) = (outcome.file.display(), outcome.out.display());
    let mut text = match report.intersections_before {
        0 => format!("{file}: nothing crosses; {out} has the same positions"),
        before => format!(
            "{file}: {before} crossing pairs of faces along {} paths, {} left after {} steps; {} of {} vertices moved, by {:.3e} m at most; {out}{}",
            report.paths.len(),
            report.intersections_after,
            report.steps,
            report.moved,
            outcome.vertices,
            report.max_displacement,
            if outcome.certified { ", certified" } else { "" },
        ),
    };
    for left in report.left.iter().take(MAX_LINES) {
        let [x, y, z] = left.at;
        text += &format!(
            "\n  left: {} along {} pairs of faces, {:.4} m, first faces {} and {} at ({x:.4}, {y:.4}, {z:.4}): {}",
            left.kind, left.segments, left.length, left.faces[0], left.faces[1], left.reason
        );
    }
    if report.left.len() > MAX_LINES {
        text += &format!(
            "\n  and {} more; --json lists all",
            report.left.len() - MAX_LINES
        );
    }
    text
}
