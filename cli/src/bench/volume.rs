//! `percale bench volume`: how many simultaneous pairs each method resolves in one call, and what the coupled solve costs.

use std::f64::consts::TAU;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use cpu_time::ProcessTime;
use glam::{DVec3, dvec3};
use percale::geometry::{Asked, Collider, Mesh, Mode};
use percale::response::volume::minres::{Until, solve};
use percale::response::volume::system::System;
use percale::response::volume::{Gradient, Recipe, tetrahedron};
use percale::response::{ImpulseForm, Impulses, Policy, SemiGlobal, Stage, Volume, respond};
use percale::scene::shapes::{Shape, Sheet};
use percale::{Candidate, Impact, Surfaces, verify};

use crate::failure::Failure;
use crate::output::say;

/// Measure the volume stage beside the others: layers of cloth that are sent through each other
///
/// Every method gets the same candidate once, without repulsions and retries; resolved means that the exact test accepts
/// the end. A method that has failed at two sizes, or takes longer than a minute, is not asked again.
#[derive(Debug, clap::Args)]
pub(super) struct VolumeBench {
    /// Sheets in the stack
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(2..=100))]
    layers: u32,
    /// Cells along a side of each sheet, one size after the other; a cell is 1 cm wide
    #[arg(long, value_delimiter = ',', default_values_t = [6, 10, 16, 24, 36, 54, 80])]
    cells: Vec<u32>,
    /// How far they are sent through each other, in distances between two sheets
    #[arg(long, default_value_t = 2.0)]
    depth: f64,
    /// The lowest sheet stays where it is and the highest comes down by this share of the height of the stack, both scripted; the sheets between
    /// them lie still. In place of ripples
    #[arg(long, conflicts_with = "depth")]
    pressed: Option<f64>,
    /// Frames that the motion lasts, one after the other: the same velocities, a longer way
    #[arg(long, value_delimiter = ',', default_values_t = [1], value_parser = clap::value_parser!(u32).range(1..=64))]
    frames: Vec<u32>,
    /// Methods, by name; all of them if none is given
    #[arg(long, value_delimiter = ',')]
    methods: Vec<String>,
    /// Writes the residuals of the first solve at each size as CSV
    #[arg(long)]
    residuals: Option<PathBuf>,
    /// Writes what each method did at each size as CSV
    #[arg(long)]
    calls: Option<PathBuf>,
}

/// Distance between two sheets, in metres.
const SPACING: f64 = 4e-3;

/// Width of a cell, in metres.
const CELL: f64 = 0.01;

/// Thickness, in metres.
const THICKNESS: f64 = 2e-3;

/// Duration of a frame, in seconds.
const DT: f64 = 1.0 / 60.0;

/// CPU seconds after which a method is not asked again.
const LONGEST: f64 = 60.0;

/// Iterations by which the cost of one is measured.
const MEASURED: u32 = 60;

struct Method {
    name: &'static str,
    stage: Stage,
    failures: u32,
    most: usize,
}

fn methods() -> Vec<Method> {
    let volume = |recipe| {
        Stage::Volume(Volume {
            recipe: Some(recipe),
            ..Volume::default()
        })
    };
    let (paper, secant) = (Recipe::PAPER, Recipe::SECANT);
    let rounds = u32::MAX;
    let impulses = |form| {
        Stage::Impulses(Impulses {
            form,
            ..Impulses::default()
        })
    };
    let long = Stage::Volume(Volume {
        max_rounds: 200,
        ..Volume::default()
    });
    let set = |policy| {
        Stage::SemiGlobal(SemiGlobal {
            policy,
            ..SemiGlobal::default()
        })
    };
    let named = |name| Stage::named(name).expect("a stage of this name");
    let scaled = Recipe {
        is_scaled: true,
        ..paper
    };
    let mean = Recipe {
        gradient: Gradient::Mean,
        ..scaled
    };
    let pulling = Recipe {
        only_pushes: false,
        to_thickness: false,
        ..secant
    };
    let each = [
        ("volume-paper", volume(paper)),
        ("paper-rounds", volume(Recipe { rounds, ..paper })),
        ("paper-scaled", volume(scaled)),
        ("paper-mean", volume(mean)),
        ("volume-pulling", volume(pulling)),
        ("volume", volume(secant)),
        ("volume-long", long),
        ("impulses-notes", impulses(ImpulseForm::Notes)),
        ("impulses", impulses(ImpulseForm::Remembered)),
        ("inelastic", named("inelastic")),
        ("rigid_zones", named("rigid_zones")),
        ("semi_global", set(Policy::SemiGlobal)),
        ("global", set(Policy::Global)),
    ];
    each.map(|(name, stage)| Method {
        name,
        stage,
        failures: 0,
        most: 0,
    })
    .into()
}

/// A stack of sheets, where they would go, and what weighs how much.
struct Stack {
    mesh: Arc<Mesh>,
    x0: Vec<DVec3>,
    x1: Vec<DVec3>,
    inverse_mass: Vec<f64>,
}

impl Stack {
    fn new(layers: u32, cells: u32, depth: f64, pressed: Option<f64>) -> Result<Self, Failure> {
        let side = CELL * f64::from(cells);
        let sheet = Shape::Sheet(Sheet {
            size: [side, side],
            cells: [cells, cells],
            centres: 0,
        });
        let sheet = sheet.triangles().map_err(Failure::input)?;
        let (n, mut faces) = (sheet.x.len() as u32, Vec::new());
        let (mut x0, mut x1) = (Vec::new(), Vec::new());
        for layer in 0..layers {
            faces.extend(sheet.faces.iter().map(|face| face.map(|v| v + layer * n)));
            let turn = 0.35 * f64::from(layer);
            let (sin, cos) = turn.sin_cos();
            for p in &sheet.x {
                let p = dvec3(
                    cos * p.x - sin * p.z,
                    SPACING * f64::from(layer),
                    sin * p.x + cos * p.z,
                );
                x0.push(p);
                x1.push(match pressed {
                    None => p + way(p, layer, depth * SPACING),
                    Some(share) if layer + 1 == layers => p.with_y((1.0 - share) * p.y),
                    Some(_) => p,
                });
            }
        }
        let mesh = Arc::new(Mesh::new(x0.len(), faces)?);
        // 0.2 kg/m²
        let mass = percale::resolve::lumped_mass(&mesh, &x0);
        let mut inverse_mass: Vec<f64> = mass.iter().map(|m| 1.0 / (0.2 * m)).collect();
        if pressed.is_some() {
            let n = n as usize;
            inverse_mass[..n].fill(0.0);
            inverse_mass[(layers as usize - 1) * n..].fill(0.0);
        }
        Ok(Self {
            mesh,
            x0,
            x1,
            inverse_mass,
        })
    }

    fn surfaces(&self) -> Result<Surfaces, Failure> {
        let rest = self.x0.clone();
        Ok(Surfaces::uniform(&self.mesh, rest, THICKNESS, 0.0)?)
    }

    fn impacts(&self, collider: &mut Collider) -> Result<Vec<Impact>, Failure> {
        let asked = Asked {
            mode: Mode::Fast,
            margin: None,
        };
        let motion = collider.motion(&self.x0, &self.x1)?;
        Ok(collider.impacts(motion, &asked))
    }
}

/// Ripples of 7 to 23 cm, another phase for each layer, across a slide of up to a cell.
fn way(p: DVec3, layer: u32, depth: f64) -> DVec3 {
    let phase = 2.4 * f64::from(layer); // near the golden angle: no two layers go together
    let wave = |length: f64, along: f64| (TAU * along / length + phase).sin();
    let up = wave(0.23, p.x + 0.3 * p.z) + wave(0.11, p.z - 0.2 * p.x) + wave(0.07, p.x + p.z);
    let slide = 0.5 * CELL * wave(1.9, p.x);
    dvec3(slide, depth * 0.6 * up, 0.5 * slide)
}

impl VolumeBench {
    pub(super) fn run(&self) -> Result<ExitCode, Failure> {
        let mut methods = methods();
        if !self.methods.is_empty() {
            methods.retain(|method| self.methods.iter().any(|name| name == method.name));
        }
        if methods.is_empty() {
            return Err(Failure::input("no such method".to_string()));
        }
        let mut curves = String::from("pairs,form,iteration,residual\n");
        say!(
            "vertices    pairs  ns per pair and iteration (least of three)  iterations to 1e-3, plain, scaled"
        );
        for &cells in &self.cells {
            self.cost(cells, &mut curves)?;
        }
        write(self.residuals.as_ref(), &curves)?;
        say!(
            "\nframes vertices    pairs  method           resolved  left  rounds  solves  iterations  residual  energy kept  CPU s"
        );
        let mut calls =
            String::from("frames,pairs,method,resolved,left,rounds,energy_kept,seconds\n");
        let mut most: Vec<Vec<usize>> = Vec::new();
        for &frames in &self.frames {
            for method in &mut methods {
                (method.failures, method.most) = (0, 0);
            }
            for &cells in &self.cells {
                self.race(cells, frames, &mut methods, &mut calls)?;
            }
            most.push(methods.iter().map(|method| method.most).collect());
        }
        write(self.calls.as_ref(), &calls)?;
        let frames = self.frames.iter().map(|n| format!("{n:>9}"));
        say!(
            "\nmost pairs resolved in one call, by the frames that the motion lasts:\n{:16}{}",
            "method",
            frames.collect::<String>()
        );
        for (i, method) in methods.iter().enumerate() {
            let each = most.iter().map(|most| format!("{:>9}", most[i]));
            say!("{:16}{}", method.name, each.collect::<String>());
        }
        Ok(ExitCode::SUCCESS)
    }

    /// What an iteration of the coupled solve costs at one size.
    fn cost(&self, cells: u32, curves: &mut String) -> Result<(), Failure> {
        let stack = Stack::new(self.layers, cells, self.depth, self.pressed)?;
        let mut impacts = stack.impacts(&mut Collider::new(&stack.mesh))?;
        impacts.sort_unstable_by_key(|impact| impact.pair);
        let mobility = stack.inverse_mass.iter().map(|w| w.sqrt()).collect();
        let vertices: Vec<[u32; 4]> = impacts.iter().map(|impact| impact.vertices).collect();
        let at = |x: &[DVec3], row: usize| vertices[row].map(|v| x[v as usize]);
        let sign: Vec<f64> = (0..vertices.len())
            .map(|row| tetrahedron::orientation(at(&stack.x0, row)))
            .collect();
        let gradient =
            |row: usize| tetrahedron::gradient(at(&stack.x1, row)).map(|g| sign[row] * g);
        let lack: Vec<f64> = (0..vertices.len())
            .map(|row| {
                let [v0, v1] = [&stack.x0, &stack.x1].map(|x| tetrahedron::volume(at(x, row)));
                sign[row] * (v0 - v1)
            })
            .collect();
        let mut system = System::new(vertices.clone(), mobility);
        let until = Until {
            tolerance: 1e-3,
            max_iterations: 2000,
        };
        system.set(|row| (gradient(row), 1.0));
        let plain = solve(&system, &lack, &until);
        let scale: Vec<f64> = (0..vertices.len())
            .map(|row| match system.diagonal(row) {
                0.0 => 0.0,
                diagonal => 1.0 / diagonal.sqrt(),
            })
            .collect();
        system.set(|row| (gradient(row), scale[row]));
        let right: Vec<f64> = lack.iter().zip(&scale).map(|(a, b)| a * b).collect();
        let scaled = solve(&system, &right, &until);
        let mut least = f64::INFINITY;
        for _ in 0..3 {
            let clock = ProcessTime::now();
            let measured = Until {
                tolerance: 0.0,
                max_iterations: MEASURED,
            };
            let done = solve(&system, &right, &measured).iterations().max(1);
            let ns = 1e9 * clock.elapsed().as_secs_f64();
            least = least.min(ns / f64::from(done) / vertices.len().max(1) as f64);
        }
        say!(
            "{:8} {:8}  {least:9.1}  {:24} {:7}",
            stack.x0.len(),
            vertices.len(),
            plain.iterations(),
            scaled.iterations()
        );
        for (form, solved) in [("plain", &plain), ("scaled", &scaled)] {
            for (k, residual) in solved.residuals.iter().enumerate() {
                let _ = writeln!(curves, "{},{form},{},{residual:e}", vertices.len(), k + 1);
            }
        }
        Ok(())
    }

    /// Every method once at one size.
    fn race(
        &self,
        cells: u32,
        frames: u32,
        methods: &mut [Method],
        calls: &mut String,
    ) -> Result<(), Failure> {
        let long = f64::from(frames);
        let pressed = self.pressed.map(|share| (share * long).min(0.95));
        let stack = Stack::new(self.layers, cells, self.depth * long, pressed)?;
        let surfaces = stack.surfaces()?;
        let still = vec![DVec3::ZERO; stack.x0.len()];
        let start = verify::start(Arc::clone(&stack.mesh), stack.x0.clone(), still)?;
        for method in methods.iter_mut().filter(|method| method.failures < 2) {
            let mut collider = Collider::new(&stack.mesh);
            let (masses, wanted) = (&stack.inverse_mass, stack.x1.clone());
            let mut candidate = Candidate::new(&start, masses, &surfaces, long * DT, wanted)?;
            let clock = ProcessTime::now();
            let stages = [method.stage.clone()];
            let response = respond(&stages, &[], &mut candidate, &mut collider);
            let seconds = clock.elapsed().as_secs_f64();
            let (_, account) = response.accounts.first().copied().unwrap_or_default();
            let kept = account.energy_after / account.energy_before;
            let proof = response.proof.as_ref();
            let resolved = verify::accept(candidate, &mut collider, proof).is_ok();
            let work = response.volume;
            say!(
                "{frames:6} {:8} {:8}  {:17} {:>7} {:5} {:7} {:7} {:11} {:9.1e} {:12.3} {:6.2}",
                stack.x0.len(),
                response.met.len(),
                method.name,
                if resolved { "yes" } else { "no" },
                response.left,
                response.rounds.len(),
                work.solves,
                work.iterations,
                work.largest_residual,
                kept,
                seconds
            );
            let _ = writeln!(
                calls,
                "{frames},{},{},{resolved},{},{},{kept},{seconds}",
                response.met.len(),
                method.name,
                response.left,
                response.rounds.len()
            );
            if resolved {
                method.most = method.most.max(response.met.len());
                method.failures = 0;
            } else {
                method.failures += 1;
            }
            if seconds > LONGEST {
                method.failures = 2;
            }
        }
        Ok(())
    }
}

fn write(file: Option<&PathBuf>, text: &str) -> Result<(), Failure> {
    match file {
        Some(file) => fs::write(file, text)
            .map_err(|error| Failure::input(format!("{}: {error}", file.display()))),
        None => Ok(()),
    }
}
