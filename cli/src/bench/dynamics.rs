//! `percale bench dynamics`: how long the cloth's own motion takes, without contact.

use std::process::ExitCode;

use cpu_time::ProcessTime;
use glam::DVec3;
use percale::dynamics::{
    self, ClothModel, Dynamics, Fabric, Implicit, Integrator, Newmark, RestShape, Stretch,
};
use percale::geometry::Mesh;
use percale::scene::shapes::{Shape, Sheet};
use serde::Serialize;

use super::{least, median};
use crate::failure::Failure;
use crate::output::say;

/// Length of a step, s.
const DT: f64 = 1.0 / 60.0;

/// Measure the dynamics: a square of cotton, 1 m wide, that hangs from two corners; no contact
///
/// The implicit integrator in loops of 1/960 s, and semi-implicit Newmark at CFL 1. One thread.
#[derive(Debug, clap::Args)]
pub(super) struct DynamicsBench {
    /// Vertices along each side
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(2..2000))]
    vertices: u32,
    /// Steps of 1/60 s, from rest
    #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..))]
    steps: u32,
    /// Only this integrator
    #[arg(long, value_parser = ["implicit", "newmark"])]
    only: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Report {
    vertices: usize,
    steps: u32,
    runs: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    integrator: &'static str,
    stretch: Stretch,
    /// CPU ms of each step (by the clock where the system does not tell).
    ms: Vec<f64>,
    /// Integrator loops of all steps.
    loops: u64,
    /// Iterations of the solves in all steps.
    iterations: u64,
    /// Matrices, ms by the clock, of each step; 0 for Newmark.
    assembly_ms: Vec<f64>,
    /// Solves, ms by the clock, of each step; 0 for Newmark.
    solve_ms: Vec<f64>,
    /// CPU ns per loop and vertex.
    ns_per_loop_and_vertex: f64,
    /// Of the end positions: another hash is another computation.
    hash: String,
}

impl DynamicsBench {
    pub(super) fn run(&self) -> Result<ExitCode, Failure> {
        let mut runs = Vec::new();
        for (name, integrator) in [
            ("implicit", Integrator::Implicit(Implicit::default())),
            ("newmark", Integrator::Newmark(Newmark::default())),
        ] {
            if self.only.as_ref().is_some_and(|only| only != name) {
                continue;
            }
            for stretch in [Stretch::Springs, Stretch::Membrane] {
                runs.push(self.measure(name, &integrator, stretch)?);
            }
        }
        let report = Report {
            vertices: (self.vertices * self.vertices) as usize,
            steps: self.steps,
            runs,
        };
        if self.json {
            say!("{}", serde_json::to_string(&report)?);
        } else {
            print_table(&report);
        }
        Ok(ExitCode::SUCCESS)
    }

    fn measure(
        &self,
        name: &'static str,
        integrator: &Integrator,
        stretch: Stretch,
    ) -> Result<Row, Failure> {
        let cells = self.vertices - 1;
        let shape = Shape::Sheet(Sheet {
            size: [1.0, 1.0],
            cells: [cells, cells],
            centres: 0,
        });
        let sheet = shape.triangles().map_err(Failure::input)?;
        let mesh = Mesh::new(sheet.x.len(), sheet.faces)
            .map_err(|error| Failure::input(error.to_string()))?;
        let model = ClothModel {
            body: 0,
            fabric: Fabric::default(),
            stretch,
            rest: RestShape::from_positions(&mesh, &mesh.bodies()[0], sheet.x.clone()),
            pinned: vec![0, cells],
        };
        let settings = dynamics::Settings {
            integrator: integrator.clone(),
            ..dynamics::Settings::default()
        };
        let dynamics = Dynamics::new(&mesh, &[model], &settings);
        let mut row = Row {
            integrator: name,
            stretch,
            ms: Vec::new(),
            loops: 0,
            iterations: 0,
            assembly_ms: Vec::new(),
            solve_ms: Vec::new(),
            ns_per_loop_and_vertex: 0.0,
            hash: String::new(),
        };
        let mut x = sheet.x.clone();
        let mut v = vec![DVec3::ZERO; x.len()];
        for step in 0..self.steps {
            let cpu = ProcessTime::now();
            let end = dynamics.propose(&x, &v, &sheet.x, f64::from(step) * DT, DT);
            row.ms.push(1e3 * cpu.elapsed().as_secs_f64());
            row.loops += u64::from(end.loops);
            row.iterations += u64::from(end.iterations);
            row.assembly_ms.push(end.assembly_ms);
            row.solve_ms.push(end.solve_ms);
            (x, v) = (end.x, end.v);
        }
        let total: f64 = row.ms.iter().sum();
        row.ns_per_loop_and_vertex = 1e6 * total / row.loops as f64 / x.len() as f64;
        row.hash = format!("{:016x}", hash(&x));
        Ok(row)
    }
}

/// FNV-1a over the bits of all coordinates.
fn hash(x: &[DVec3]) -> u64 {
    let bytes = x
        .iter()
        .flat_map(|p| p.to_array())
        .flat_map(f64::to_le_bytes);
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

fn print_table(report: &Report) {
    say!(
        "{} vertices, {} steps of 1/60 s, one thread",
        report.vertices,
        report.steps
    );
    say!(
        "{:15} {:9} {:>11} {:>7} {:>7} {:>11} {:>11} {:>9} {:>7} {:>8} {:>17}",
        "integrator",
        "stretch",
        "cpu ms min",
        "median",
        "max",
        "iterations",
        "loops/step",
        "assembly",
        "solve",
        "ns/l/v",
        "hash"
    );
    for row in &report.runs {
        let steps = f64::from(report.steps);
        let ms = |value: Option<f64>| value.map_or("-".into(), |ms| format!("{ms:.1}"));
        say!(
            "{:15} {:9} {:>11} {:>7} {:>7} {:>11.1} {:>11.1} {:>9} {:>7} {:>8.0} {:>17}",
            row.integrator,
            format!("{:?}", row.stretch).to_lowercase(),
            ms(least(&row.ms)),
            ms(median(&row.ms)),
            ms(row.ms.iter().copied().max_by(f64::total_cmp)),
            row.iterations as f64 / steps,
            row.loops as f64 / steps,
            ms(median(&row.assembly_ms)),
            ms(median(&row.solve_ms)),
            row.ns_per_loop_and_vertex,
            row.hash,
        );
    }
}
