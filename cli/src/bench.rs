//! `percale bench`: how long the parts take.

mod cure;
mod dynamics;
mod paths;
mod query;
mod record;
mod scenes;
mod sheet;
mod table;
mod volume;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use cpu_time::ProcessTime;
use glam::DVec3;
use percale::geometry::{Asked, Collider, Impact, Mesh, Mode, Pair, Scope};
use percale::verify::audit;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::failure::Failure;
use crate::inputs;
use crate::output::say;
use cure::CureBench;
use dynamics::DynamicsBench;
use paths::PathsBench;
use query::QueryBench;
use scenes::ScenesBench;
use volume::VolumeBench;

/// Measure the parts of Percale
#[derive(Debug, clap::Args)]
pub(crate) struct Bench {
    #[command(subcommand)]
    part: Part,
}

#[derive(Debug, clap::Subcommand)]
enum Part {
    Kernels(Kernels),
    Query(QueryBench),
    Paths(PathsBench),
    Cure(CureBench),
    Volume(VolumeBench),
    Dynamics(DynamicsBench),
    Scenes(ScenesBench),
}

/// Measure detection on a motion: static test, audit, broad phase, whole continuous detection
///
/// Every kernel starts from nothing: trees are built within the measured time. Use --threads 1 to compare CPU times.
#[derive(Debug, clap::Args)]
struct Kernels {
    /// Mesh at the start of the motion
    start: PathBuf,
    /// The same mesh at its end
    end: PathBuf,
    /// How often each kernel is measured
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Report {
    vertices: usize,
    triangles: usize,
    threads: usize,
    kernels: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    name: &'static str,
    /// How many it found: another number is another computation.
    count: usize,
    /// Of all bits that it found, see [`Found::hash`].
    hash: String,
    /// CPU seconds of each run, all threads together.
    cpu_seconds: Vec<f64>,
    /// Seconds of each run by the clock.
    seconds: Vec<f64>,
}

/// What a kernel found.
enum Found {
    Anything(bool),
    Faces(Vec<[u32; 2]>),
    Pairs(Vec<Pair>),
    Impacts(Vec<Impact>),
}

impl Found {
    fn count(&self) -> usize {
        match self {
            Self::Anything(is_any) => usize::from(*is_any),
            Self::Faces(faces) => faces.len(),
            Self::Pairs(pairs) => pairs.len(),
            Self::Impacts(impacts) => impacts.len(),
        }
    }

    /// The first half of the SHA-256 of all numbers, in order, of impacts with time, weights and normal: the same hash is the same bits.
    fn hash(&self) -> String {
        let mut hasher = Sha256::new();
        match self {
            Self::Anything(is_any) => hasher.update([u8::from(*is_any)]),
            Self::Faces(faces) => faces
                .iter()
                .flatten()
                .for_each(|f| hasher.update(f.to_le_bytes())),
            Self::Pairs(pairs) => pairs.iter().for_each(|&pair| add_pair(&mut hasher, pair)),
            Self::Impacts(impacts) => {
                for impact in impacts {
                    add_pair(&mut hasher, impact.pair);
                    for v in impact.vertices {
                        hasher.update(v.to_le_bytes());
                    }
                    let numbers = [impact.time].into_iter().chain(impact.weights);
                    for x in numbers.chain(impact.normal.to_array()) {
                        hasher.update(x.to_bits().to_le_bytes());
                    }
                    hasher.update([u8::from(impact.certain)]);
                }
            }
        }
        hasher.finalize()[..16]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }
}

fn add_pair(hasher: &mut Sha256, pair: Pair) {
    let (kind, a, b) = match pair {
        Pair::VertexFace { vertex, face } => (0, vertex, face),
        Pair::EdgeEdge { a, b } => (1, a, b),
    };
    hasher.update([kind]);
    hasher.update(a.to_le_bytes());
    hasher.update(b.to_le_bytes());
}

/// A kernel: its name and what it does with the two ends of a motion.
type Kernel = (&'static str, fn(&Arc<Mesh>, &[DVec3], &[DVec3]) -> Found);

const KERNELS: [Kernel; 7] = [
    ("static-any", |mesh, x0, _| {
        Found::Anything(Collider::new(mesh).has_crossings(x0, Scope::Certified))
    }),
    ("static", |mesh, x0, _| {
        let crossings = Collider::new(mesh).crossings(x0, Scope::Certified);
        Found::Faces(crossings.faces)
    }),
    ("audit", |mesh, x0, _| {
        Found::Faces(audit::intersections(mesh, x0))
    }),
    ("pairs", |mesh, x0, x1| {
        let mut collider = Collider::new(mesh);
        let motion = collider.motion(x0, x1).expect(READ);
        Found::Pairs(collider.pairs(motion, 0.0))
    }),
    ("impacts-fast", |mesh, x0, x1| {
        impacts(mesh, x0, x1, Mode::Fast)
    }),
    ("impacts-exact", |mesh, x0, x1| {
        impacts(mesh, x0, x1, Mode::Exact)
    }),
    ("first-impact", |mesh, x0, x1| {
        let mut collider = Collider::new(mesh);
        let motion = collider.motion(x0, x1).expect(READ);
        let first = collider.first_impact(motion, &Asked::default());
        Found::Impacts(first.into_iter().collect())
    }),
];

/// Readers refuse what a motion cannot be.
const READ: &str = "positions were checked when they were read";

fn impacts(mesh: &Arc<Mesh>, x0: &[DVec3], x1: &[DVec3], mode: Mode) -> Found {
    let asked = Asked { mode, margin: None };
    let mut collider = Collider::new(mesh);
    let motion = collider.motion(x0, x1).expect(READ);
    Found::Impacts(collider.impacts(motion, &asked))
}

impl Bench {
    pub(crate) fn run(&self) -> Result<ExitCode, Failure> {
        match &self.part {
            Part::Kernels(kernels) => kernels.run(),
            Part::Query(query) => query.run(),
            Part::Paths(paths) => paths.run(),
            Part::Cure(cure) => cure.run(),
            Part::Volume(volume) => volume.run(),
            Part::Dynamics(dynamics) => dynamics.run(),
            Part::Scenes(scenes) => scenes.run(),
        }
    }
}

impl Kernels {
    fn run(&self) -> Result<ExitCode, Failure> {
        let (start, end) = (self.start.clone(), self.end.clone());
        let (input, x1) = inputs::read_motion(&[start], &[end])?;
        let (mesh, x0) = (&input.mesh, &input.positions);
        let measure = |(name, kernel): &Kernel| {
            let mut row = Row {
                name,
                count: 0,
                hash: String::new(),
                cpu_seconds: Vec::new(),
                seconds: Vec::new(),
            };
            for _ in 0..self.repeat {
                let (clock, cpu) = (Instant::now(), ProcessTime::now());
                let found = kernel(mesh, x0, &x1);
                row.seconds.push(clock.elapsed().as_secs_f64());
                row.cpu_seconds.push(cpu.elapsed().as_secs_f64());
                (row.count, row.hash) = (found.count(), found.hash());
            }
            row
        };
        let report = Report {
            vertices: mesh.vertex_count(),
            triangles: mesh.faces().len(),
            threads: rayon::current_num_threads(),
            kernels: KERNELS.iter().map(measure).collect(),
        };
        if self.json {
            say!("{}", serde_json::to_string(&report)?);
        } else {
            print_table(&report);
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn print_table(report: &Report) {
    say!(
        "{} vertices, {} triangles, {} threads",
        report.vertices,
        report.triangles,
        report.threads
    );
    say!(
        "{:14} {:>9} {:>11} {:>11} {:>11}  hash",
        "kernel",
        "count",
        "cpu ms min",
        "median",
        "ms min"
    );
    for row in &report.kernels {
        let ms = |seconds: Option<f64>| seconds.map_or("-".into(), |s| format!("{:.1}", 1e3 * s));
        say!(
            "{:14} {:>9} {:>11} {:>11} {:>11}  {}",
            row.name,
            row.count,
            ms(least(&row.cpu_seconds)),
            ms(median(&row.cpu_seconds)),
            ms(least(&row.seconds)),
            row.hash,
        );
    }
}

fn least(values: &[f64]) -> Option<f64> {
    values.iter().copied().min_by(f64::total_cmp)
}

fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}
