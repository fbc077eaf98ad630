//! `percale bench paths`: how long the analysis of tangled sheets takes.

use std::process::ExitCode;

use cpu_time::ThreadTime;
use percale::geometry::Mesh;
use percale::scene::tangles::{self, TABLE_1, Tangled};
use percale::untangle::{Rest, Segments, analyse, assemble};

use crate::failure::Failure;
use crate::output::say;

/// Measure the intersection analysis: the rows of Wicke's Table 1, then paths of growing numbers of segments
///
/// Least CPU milliseconds of three, one thread. A pair of faces is one segment of a contour, and two of Wicke's, which are counted here.
#[derive(Debug, clap::Args)]
pub(super) struct PathsBench {}

/// Cells of the sheets with a net of dents: 394 to 101,318 segments.
const DENTS: [u32; 5] = [16, 32, 64, 128, 262];

impl PathsBench {
    pub(super) fn run(&self) -> Result<ExitCode, Failure> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
        pool.install(|| {
            table_1()?;
            growth()
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

fn table_1() -> Result<(), Failure> {
    say!(
        "{:8} triangles  paths segments inside segments ms paths ms     all ms  paper: paths, segments, inside, ms",
        "row"
    );
    for (number, row) in TABLE_1.iter().enumerate() {
        let tangled = tangles::table_1(number).expect("there is a sheet for each row");
        let mesh = mesh(&tangled)?;
        let x = &tangled.positions;
        let (segments, segments_ms) = least_ms(|| Segments::find(&mesh, x));
        let ((_, paths), paths_ms) = least_ms(|| assemble(&mesh, x, &segments));
        let (analysis, all_ms) = least_ms(|| analyse(&mesh, x, Rest::Parameters(&tangled.uv)));
        let inside = analysis?
            .paths
            .iter()
            .map(|p| p.inside.vertices().len())
            .sum::<usize>();
        say!(
            "{:8} {:>9} {:>6} {:>8} {:>6} {:>11.2} {:>8.3} {:>10.2}  {}, {}, {}, {} + {}",
            row.name,
            mesh.faces().len(),
            paths.len(),
            2 * segments.segments.len(),
            inside,
            segments_ms,
            paths_ms,
            all_ms,
            row.paths,
            row.segments,
            row.inside,
            row.segments_ms,
            row.paths_ms,
        );
    }
    Ok(())
}

/// How the time of assembly grows with the number of segments.
fn growth() -> Result<(), Failure> {
    say!("\ncells segments contours       ms ns per segment");
    let mut measured = Vec::new();
    for cells in DENTS {
        let tangled = tangles::dents(cells);
        let mesh = mesh(&tangled)?;
        let segments = Segments::find(&mesh, &tangled.positions);
        let ((contours, _), ms) = least_ms(|| assemble(&mesh, &tangled.positions, &segments));
        let count = segments.segments.len();
        let each = 1e6 * ms / count as f64;
        say!(
            "{cells:>5} {count:>8} {:>8} {ms:>8.3} {each:>14.1}",
            contours.len()
        );
        measured.push([(count as f64).ln(), ms.ln()]);
    }
    say!("exponent {:.3}", slope(&measured));
    Ok(())
}

fn mesh(tangled: &Tangled) -> Result<Mesh, Failure> {
    Ok(Mesh::new(tangled.positions.len(), tangled.faces.clone())?)
}

/// Of the line that fits best.
fn slope(points: &[[f64; 2]]) -> f64 {
    let mean = |value: &dyn Fn(&[f64; 2]) -> f64| {
        points.iter().map(value).sum::<f64>() / points.len() as f64
    };
    let centre = [mean(&|p| p[0]), mean(&|p| p[1])];
    mean(&|p| (p[0] - centre[0]) * (p[1] - centre[1])) / mean(&|p| (p[0] - centre[0]).powi(2))
}

/// A result, and the least CPU time of three that it takes, in milliseconds.
fn least_ms<T>(mut work: impl FnMut() -> T) -> (T, f64) {
    let mut result = work();
    let mut least = f64::INFINITY;
    for _ in 0..3 {
        // the system may count in ticks of milliseconds: repeat until they are many
        let (begun, mut repeats, mut spent) = (ThreadTime::now(), 0.0, 0.0);
        while spent < 80.0 {
            result = work();
            repeats += 1.0;
            spent = 1e3 * begun.elapsed().as_secs_f64();
        }
        least = least.min(spent / repeats);
    }
    (result, least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_of_a_line_is_its_own() {
        let points = [1.0, 2.0, 4.0, 5.0].map(|x| [x, 3.0 - 1.5 * x]);
        assert!((slope(&points) + 1.5).abs() < 1e-12);
    }
}
