//! Runs into result folders: one, or many.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use percale::record::{Earlier, Summary, is_being_written};
use percale::runs::{Axis, Case, Standing};
use percale::{Figures, Scene, Simulation};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{of_run, of_scene};
use crate::simulation::scene_of;
use crate::threads::computing;
use crate::values::dictionary;

/// Runs a scene into a folder; Ctrl-C ends it after a frame, and so does an error of `progress`.
fn into_folder(
    py: Python<'_>,
    scene: &Scene,
    out: &Path,
    frames: u64,
    earlier: Earlier,
    progress: Option<&Py<PyAny>>,
) -> PyResult<Summary> {
    let simulation = computing(py, || scene.build())?;
    let mut simulation = simulation.map_err(|error| of_scene(py, error))?;
    let mut raised = None;
    let each = &mut |simulation: &Simulation, _: &Figures| {
        let told = Python::attach(|py| {
            py.check_signals()?;
            match progress {
                Some(progress) => progress.call1(py, (simulation.frame(), frames)).map(drop),
                None => Ok(()),
            }
        });
        match told {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                raised = Some(error);
                ControlFlow::Break(())
            }
        }
    };
    let done = computing(py, || {
        percale::record::run(scene, &mut simulation, out, frames, earlier, each)
    })?;
    match raised {
        Some(error) => Err(error),
        None => done.map_err(|error| of_run(py, &error)),
    }
}

/// What a scene is read from.
#[derive(FromPyObject)]
pub(crate) struct Source<'py> {
    source: Bound<'py, PyAny>,
    base: String,
    small: bool,
    changes: Bound<'py, PyDict>,
}

impl Source<'_> {
    fn scene(&self, py: Python<'_>) -> PyResult<Scene> {
        scene_of(py, &self.source, &self.base, self.small, &self.changes)
    }
}

#[pyfunction]
pub(crate) fn run<'py>(
    py: Python<'py>,
    source: Source<'py>,
    out: PathBuf,
    frames: Option<u64>,
    earlier: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let earlier = match earlier {
        "resume" => Earlier::Resume,
        "force" => Earlier::Replace,
        _ => Earlier::Refuse,
    };
    let scene = source.scene(py)?;
    let frames = frames.unwrap_or(scene.frames);
    let summary = into_folder(py, &scene, &out, frames, earlier, progress.as_ref())?;
    dictionary(py, &summary)
}

/// Changes of a case, and the name of its folder.
type Row = (String, Vec<(String, String)>);

#[pyfunction]
pub(crate) fn cases(axes: Vec<(String, Vec<String>)>) -> PyResult<Vec<Row>> {
    Ok(cases_of(axes)?
        .into_iter()
        .map(|case| (case.name, case.changes))
        .collect())
}

fn cases_of(axes: Vec<(String, Vec<String>)>) -> PyResult<Vec<Case>> {
    let axes: Vec<Axis> = (axes.into_iter())
        .map(|(key, values)| Axis { key, values })
        .collect();
    let wrong = |message: String| PyValueError::new_err(format!("vary: {message}"));
    percale::runs::cases(&axes).map_err(wrong)
}

/// Refuses a sweep that cannot be: a folder that holds something else, or no case that is a scene.
#[pyfunction]
pub(crate) fn check_cases(
    py: Python<'_>,
    source: Source<'_>,
    axes: Vec<(String, Vec<String>)>,
    names: Vec<String>,
    out: PathBuf,
    frames: Option<u64>,
) -> PyResult<()> {
    let scene = source.scene(py)?;
    let all = cases_of(axes)?;
    let own: Vec<&Case> = (all.iter().filter(|case| names.contains(&case.name))).collect();
    let frames = frames.unwrap_or(scene.frames);
    percale::runs::check(&own, &scene, &out, frames).map_err(PyValueError::new_err)
}

/// Runs a case to its end, or what is left of it; says how it stands then. A case that cannot be run is noted as such.
#[pyfunction]
pub(crate) fn run_case<'py>(
    py: Python<'py>,
    source: Source<'py>,
    axes: Vec<(String, Vec<String>)>,
    name: &str,
    out: PathBuf,
    frames: Option<u64>,
) -> PyResult<Bound<'py, PyAny>> {
    let scene = source.scene(py)?;
    let all = cases_of(axes)?;
    let Some(case) = all.into_iter().find(|case| case.name == name) else {
        return Err(PyValueError::new_err(format!("there is no case '{name}'")));
    };
    let frames = frames.unwrap_or(scene.frames);
    let cannot = |error: std::io::Error| PyOSError::new_err(format!("{}: {error}", out.display()));
    if !case.standing(&scene, &out, frames).status.is_final() {
        let run = case.scene(&scene).map_err(|error| of_scene(py, error));
        let folder = case.folder(&out);
        let run = run
            .and_then(|scene| into_folder(py, &scene, &folder, frames, Earlier::ResumeIfAny, None));
        let noted = match &run {
            Ok(_) => None,
            // somebody wants to stop, and the case may be continued
            Err(error) if !error.is_instance_of::<pyo3::exceptions::PyException>(py) => {
                return Err(error.clone_ref(py));
            }
            Err(error) => Some(error.value(py).to_string()),
        };
        // somebody else may be at it
        if noted.is_none() || !is_being_written(&folder) {
            case.note(&out, noted.as_deref()).map_err(cannot)?;
        }
    }
    row(py, &case, &case.standing(&scene, &out, frames))
}

/// Writes the table of totals, and returns its rows.
#[pyfunction]
pub(crate) fn table<'py>(
    py: Python<'py>,
    source: Source<'py>,
    axes: Vec<(String, Vec<String>)>,
    out: PathBuf,
    frames: Option<u64>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let scene = source.scene(py)?;
    let frames = frames.unwrap_or(scene.frames);
    let rows: Vec<(Case, Standing)> = (cases_of(axes)?.into_iter())
        .map(|case| {
            let standing = case.standing(&scene, &out, frames);
            (case, standing)
        })
        .collect();
    let written = percale::runs::write_table(&out, &rows);
    written.map_err(|error| PyOSError::new_err(format!("{}: {error}", out.display())))?;
    rows.iter()
        .map(|(case, standing)| row(py, case, standing))
        .collect()
}

fn row<'py>(py: Python<'py>, case: &Case, standing: &Standing) -> PyResult<Bound<'py, PyAny>> {
    let made = PyDict::new(py);
    made.set_item("folder", &case.name)?;
    let changes = PyDict::new(py);
    for (key, value) in &case.changes {
        changes.set_item(key, value)?;
    }
    made.set_item("changes", changes)?;
    made.set_item("status", standing.status.name())?;
    let summary = standing.summary.as_ref();
    made.set_item("hash", summary.map(|summary| &summary.hash))?;
    made.set_item(
        "totals",
        summary.map(|summary| dictionary(py, summary)).transpose()?,
    )?;
    made.set_item("message", &standing.message)?;
    Ok(made.into_any())
}
