//! `percale resolve`: the collision step alone, on files.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;
use std::sync::Arc;

use glam::DVec3;
use percale::error::StepError;
use percale::geometry::{Body, BodyKind, Mesh};
use percale::io::{self, MeshFile, write_atomically};
use percale::resolve::{self, Resolution, lumped_mass};
use percale::response::Stage;
use percale::{Collider, Settings, Surfaces};

use crate::failure::Failure;
use crate::inputs::same_file;
use crate::output::say;

/// Change a candidate mesh until the straight motion from START to it meets nothing
///
/// START must be free of intersections; START, CANDIDATE and RESULT have the same topology. Exit code 0: RESULT is
/// written and certified; 1: something is left that no stage could resolve, nothing is written; 2: the input
/// cannot be used.
#[derive(Debug, clap::Args)]
pub(crate) struct Resolve {
    /// Mesh at the start, free of intersections
    start: PathBuf,
    /// The same mesh where a simulator would have it at the end
    candidate: PathBuf,
    /// Where to write the certified mesh (.obj or .ply, also .gz)
    #[arg(long, short)]
    out: PathBuf,
    /// File with the numbers of vertices (from 0) that must end where CANDIDATE has them
    #[arg(long, value_name = "FILE")]
    fixed: Option<PathBuf>,
    /// An obstacle at the start and at the end of the motion
    #[arg(long, num_args = 2, value_names = ["START", "END"])]
    obstacle: Vec<PathBuf>,
    /// File with the mass of each vertex, in kg [default: by area]
    #[arg(long, value_name = "FILE")]
    mass: Option<PathBuf>,
    /// Distance that features keep, in metres [default: 1 % of the mean edge]
    #[arg(long)]
    thickness: Option<f64>,
    /// Coulomb coefficient
    #[arg(long, default_value_t = 0.3)]
    friction: f64,
    /// Duration of the motion, in seconds
    #[arg(long, value_name = "S", default_value_t = 1.0 / 60.0)]
    dt: f64,
    /// Write the velocities of RESULT, in m/s: a line `x y z` for each vertex
    #[arg(long, value_name = "FILE")]
    velocities: Option<PathBuf>,
    /// Stages, in order, of impulses, `rigid_zones`, inelastic, volume, hold [default: impulses, inelastic, hold]
    #[arg(long, value_delimiter = ',')]
    response: Vec<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Resolve {
    pub(crate) fn run(&self) -> Result<ExitCode, Failure> {
        // to enter the pool once costs less than to enter it for every loop
        rayon::scope(|_| self.resolve())
    }

    fn resolve(&self) -> Result<ExitCode, Failure> {
        let settings = self.settings()?;
        self.check_outputs()?;
        let cloth = io::read(&self.start)?;
        let end = io::read(&self.candidate)?;
        cloth.check_motion_to(&end)?;
        let obstacle = match &self.obstacle[..] {
            [start, end] => {
                let (start, end) = (io::read(start)?, io::read(end)?);
                start.check_motion_to(&end)?;
                Some((start, end))
            }
            _ => None,
        };
        let count = cloth.positions.len();
        let (mesh, x0, x1) = together(&cloth, &end, obstacle.as_ref())?;
        let mesh = Arc::new(mesh);

        let inverse_mass = self.inverse_masses(&mesh, &x0, count)?;
        let thickness = self
            .thickness
            .unwrap_or_else(|| Surfaces::default_thickness(&mesh, &x0));
        let surfaces = Surfaces::uniform(&mesh, x0.clone(), thickness, self.friction)?;
        let v = vec![DVec3::ZERO; x0.len()];
        let mut collider = Collider::new(&mesh);
        let start = collider
            .start(x0, v)
            .map_err(|error| Failure::input(format!("{}: {error}", self.start.display())))?;
        let resolved = resolve::resolve(
            &settings,
            &start,
            x1,
            &inverse_mass,
            &surfaces,
            self.dt,
            &mut collider,
        );
        let (accepted, report) = resolved.map_err(|error| self.refused(&settings, &error))?;

        let mut result = cloth;
        result.positions = accepted.positions()[..count].to_vec();
        io::write(&self.out, &result)?;
        if let Some(path) = &self.velocities {
            let velocities = &accepted.velocities()[..count];
            write_atomically(path, |out| {
                let mut lines = velocities.iter();
                lines.try_for_each(|v| writeln!(out, "{} {} {}", v.x, v.y, v.z))
            })
            .map_err(|error| Failure::input(format!("{}: {error}", path.display())))?;
        }
        match self.json {
            true => say!("{}", serde_json::to_string(&report)?),
            false => say!("{}: {}", self.out.display(), describe(&report)),
        }
        Ok(ExitCode::SUCCESS)
    }

    /// 1/kg for each vertex; 0 for those of the obstacle, those without mass and those of --fixed.
    fn inverse_masses(&self, mesh: &Mesh, x0: &[DVec3], count: usize) -> Result<Vec<f64>, Failure> {
        let mass = match &self.mass {
            Some(path) => masses(path, count)?,
            None => lumped_mass(mesh, x0)[..count].to_vec(),
        };
        let inverse = mass.iter().map(|&m| if m > 0.0 { 1.0 / m } else { 0.0 });
        let mut inverse_mass: Vec<f64> = inverse.collect();
        inverse_mass.resize(x0.len(), 0.0);
        if let Some(path) = &self.fixed {
            for vertex in numbers::<usize>(path)? {
                if vertex >= count {
                    let message = format!(
                        "{}: vertex {vertex}, but there are {count} (from 0)",
                        path.display()
                    );
                    return Err(Failure::input(message));
                }
                inverse_mass[vertex] = 0.0;
            }
        }
        Ok(inverse_mass)
    }

    fn settings(&self) -> Result<Settings, Failure> {
        let mut settings = Settings::default();
        if !self.response.is_empty() {
            let stage = |name: &String| {
                let known = Stage::NAMES.join(", ");
                Stage::named(name).ok_or(Failure::input(format!(
                    "--response {name}: no such stage; there are {known}"
                )))
            };
            settings.response = self.response.iter().map(stage).collect::<Result<_, _>>()?;
            settings.failsafe.clear();
        }
        let usable = |value: f64| value.is_finite() && value >= 0.0;
        if !usable(self.friction) || !self.thickness.is_none_or(|h| usable(h) && h > 0.0) {
            return Err(Failure::input(
                "--friction must be at least 0, --thickness above 0",
            ));
        }
        if !(1e-12..=1e12).contains(&self.dt) {
            return Err(Failure::input(format!(
                "--dt {}: write the duration of the motion in seconds, from 1e-12 to 1e12",
                self.dt
            )));
        }
        Ok(settings)
    }

    /// Nothing that is read may be overwritten, under whatever name.
    fn check_outputs(&self) -> Result<(), Failure> {
        let mut taken: Vec<&PathBuf> = vec![&self.start, &self.candidate];
        taken.extend(self.obstacle.iter().chain(&self.fixed).chain(&self.mass));
        let outputs = [
            ("--out", Some(&self.out)),
            ("--velocities", self.velocities.as_ref()),
        ];
        for (option, path) in outputs.into_iter().filter_map(|(o, p)| Some((o, p?))) {
            if let Some(other) = taken.iter().find(|other| same_file(path, other)) {
                return Err(Failure::input(format!(
                    "{option} {}: this is {}, which would be overwritten; name another file",
                    path.display(),
                    other.display()
                )));
            }
            taken.push(path);
        }
        Ok(())
    }

    /// A refusal in terms of this command: it has neither intervals nor fail-safes.
    /// What would leave more room.
    fn room(&self) -> &'static str {
        match (&self.fixed, &self.obstacle[..]) {
            (None, []) => "try a candidate that is nearer to the start",
            (Some(_), []) => "free some of the vertices of --fixed",
            (None, _) => "leave more room beside --obstacle",
            (Some(_), _) => {
                "leave more room beside --obstacle, or free some of the vertices of --fixed"
            }
        }
    }

    fn refused(&self, settings: &Settings, error: &StepError) -> Failure {
        let candidate = self.candidate.display();
        let reason = match error {
            StepError::Pinched(pinch) => pinch.describe() + "; " + self.room(),
            StepError::Unresolved {
                count,
                first,
                vertices,
                bodies: [a, b],
            } => {
                let holds = |stages: &[Stage]| stages.iter().any(|s| matches!(s, Stage::Hold(_)));
                let remedy = match holds(&settings.response) || holds(&settings.failsafe) {
                    true => self.room(),
                    false => "append hold to --response",
                };
                format!(
                    "{count} impacts left, first between {first} (vertices {vertices:?}) of '{a}' and '{b}'; {remedy}"
                )
            }
            StepError::BadCandidate(error) => {
                let message = format!("{candidate}: {error}; nothing was written");
                return Failure::input(message);
            }
            other => other.to_string(),
        };
        Failure::stopped(format!("{candidate}: {reason}; nothing was written"))
    }
}

fn describe(report: &Resolution) -> String {
    let stages = report.stages.iter().map(|(name, n)| format!("{name} {n}"));
    let stages = match report.stages.is_empty() {
        true => "none needed".into(),
        false => stages.collect::<Vec<_>>().join(", "),
    };
    format!(
        "{} impacts resolved in {} rounds ({stages}), {} vertices moved, kept share {}",
        report.impacts_before,
        report.rounds,
        report.moved,
        report
            .kept_share
            .map_or("1".into(), |kept| format!("{kept:.3}")),
    )
}

/// One mesh of cloth and obstacle, with the positions at both ends.
fn together(
    cloth: &MeshFile,
    end: &MeshFile,
    obstacle: Option<&(MeshFile, MeshFile)>,
) -> Result<(Mesh, Vec<DVec3>, Vec<DVec3>), Failure> {
    let (mut x0, mut x1) = (cloth.positions.clone(), end.positions.clone());
    let mut faces = cloth.faces.clone();
    let body = |name: &str, kind, vertices, faces| Body {
        name: name.into(),
        kind,
        vertices,
        faces,
    };
    let (n, m) = (x0.len() as u32, faces.len() as u32);
    let mut bodies = vec![body(&cloth.name(), BodyKind::Cloth, 0..n, 0..m)];
    if let Some((start, end)) = obstacle {
        // two files of one name in different folders
        let is_twice = start.name() == cloth.name();
        let name = match is_twice {
            true => start.path.display().to_string(),
            false => start.name(),
        };
        x0.extend(&start.positions);
        x1.extend(&end.positions);
        faces.extend(start.faces.iter().map(|face| face.map(|v| v + n)));
        bodies.push(body(
            &name,
            BodyKind::Obstacle,
            n..x0.len() as u32,
            m..faces.len() as u32,
        ));
    }
    Ok((Mesh::with_bodies(x0.len(), faces, bodies)?, x0, x1))
}

fn masses(path: &Path, count: usize) -> Result<Vec<f64>, Failure> {
    let masses = numbers::<f64>(path)?;
    let bad = masses.iter().position(|m| !(m.is_finite() && *m >= 0.0));
    match bad {
        Some(line) => Err(Failure::input(format!(
            "{}: value {} is not a mass",
            path.display(),
            line + 1
        ))),
        None if masses.len() != count => Err(Failure::input(format!(
            "{}: {} masses for {count} vertices; there must be one for each",
            path.display(),
            masses.len()
        ))),
        None => Ok(masses),
    }
}

/// Numbers of a text file, separated by white space or commas.
pub(crate) fn numbers<T: FromStr>(path: &Path) -> Result<Vec<T>, Failure> {
    let name = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::input(format!("{name}: {error}")))?;
    let words = text.lines().enumerate().flat_map(|(line, text)| {
        text.split(|c: char| c.is_whitespace() || c == ',')
            .filter(|word| !word.is_empty())
            .map(move |word| (line + 1, word))
    });
    let parse = |(line, word): (usize, &str)| {
        word.parse().map_err(|_| {
            Failure::input(format!(
                "{name}:{line}: '{word}' is not a number of the right kind"
            ))
        })
    };
    words.map(parse).collect()
}
