//! Errors of the library as exceptions of `percale.errors`, with their fields.

use percale::error::{MeshError, RefusedStart, StartError, StepError};
use percale::plain::CallError;
use percale::record::{ResultError, RunError};
use percale::scene::SceneError;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::values::python_of;

/// An exception of `percale.errors`; one that cannot be made is the error instead.
fn raised(py: Python<'_>, class: &str, message: String, fields: &Bound<'_, PyDict>) -> PyErr {
    let made = || {
        let class = py.import("percale.errors")?.getattr(class)?;
        class.call((message,), Some(fields))
    };
    match made() {
        Ok(error) => PyErr::from_value(error),
        Err(error) => error,
    }
}

/// Fields of an exception.
struct Fields<'py>(Bound<'py, PyDict>);

impl<'py> Fields<'py> {
    fn new(py: Python<'py>) -> Self {
        Self(PyDict::new(py))
    }

    fn with(self, name: &str, value: impl IntoPyObject<'py>) -> Self {
        // a name and a plain value always fit into a dictionary
        let _ = self.0.set_item(name, value);
        self
    }
}

pub(crate) fn of_call(py: Python<'_>, error: CallError) -> PyErr {
    let message = error.to_string();
    match error {
        CallError::Mesh { argument, source } => {
            let fields = mesh_fields(py, &source).with("argument", argument);
            raised(py, "MeshError", message, &fields.0)
        }
        CallError::Start { argument, source } => {
            let fields = start_fields(py, &source).with("argument", argument);
            raised(py, "StartError", message, &fields.0)
        }
        CallError::Step(error) => of_step(py, &error, None),
        _ => PyValueError::new_err(message),
    }
}

fn mesh_fields<'py>(py: Python<'py>, error: &MeshError) -> Fields<'py> {
    let fields = Fields::new(py);
    match error {
        MeshError::IndexOutOfRange { face, vertex, .. } => {
            fields.with("face", *face).with("vertex", *vertex)
        }
        MeshError::DegenerateFace { face, .. } => fields.with("face", *face),
        MeshError::DuplicateFace { first, .. } => fields.with("face", *first),
        MeshError::NotFinite { vertex, .. } | MeshError::OutOfRange { vertex, .. } => {
            fields.with("vertex", *vertex)
        }
        _ => fields,
    }
}

fn start_fields<'py>(py: Python<'py>, error: &StartError) -> Fields<'py> {
    match error {
        StartError::Crossing {
            count,
            faces,
            bodies,
        } => (Fields::new(py).with("count", *count).with("faces", *faces))
            .with("bodies", bodies.clone()),
        StartError::Mesh(error) => mesh_fields(py, error),
        _ => Fields::new(py),
    }
}

pub(crate) fn of_step(py: Python<'_>, error: &StepError, frame: Option<u64>) -> PyErr {
    let fields = Fields::new(py).with("frame", frame);
    let fields = match error {
        StepError::Unresolved {
            count,
            vertices,
            bodies,
            ..
        } => (fields.with("kind", "unresolved").with("count", *count))
            .with("vertices", *vertices)
            .with("bodies", bodies.clone()),
        StepError::Pinched(pinch) => {
            let pinch = serde_json::to_value(pinch).unwrap_or_default();
            let fields = fields.with("kind", "pinched");
            match python_of(py, &pinch) {
                Ok(pinch) => fields.with("pinch", pinch),
                Err(_) => fields,
            }
        }
        StepError::Crossing { count, first } => {
            let fields = fields.with("kind", "crossing");
            fields.with("count", *count).with("faces", *first)
        }
        StepError::NewPath {
            count,
            first,
            bodies,
            ..
        } => (fields.with("kind", "new_path").with("count", *count))
            .with("faces", *first)
            .with("bodies", bodies.clone()),
        StepError::BadCandidate(_) => fields.with("kind", "bad_candidate"),
        _ => fields.with("kind", "bad_value"),
    };
    let message = match frame {
        Some(frame) => format!("frame {frame}: {error}"),
        None => error.to_string(),
    };
    raised(py, "StepError", message, &fields.0)
}

pub(crate) fn of_scene(py: Python<'_>, error: SceneError) -> PyErr {
    let message = error.to_string();
    let fields = Fields::new(py);
    match error {
        SceneError::File { path, .. } => {
            let fields = fields.with("place", path.display().to_string());
            raised(py, "SceneError", message, &fields.0)
        }
        SceneError::Text { origin, line, .. } => {
            let fields = fields.with("place", origin).with("line", line);
            raised(py, "SceneError", message, &fields.0)
        }
        SceneError::Value { place, .. } | SceneError::Mesh { place, .. } => {
            let fields = fields.with("place", place);
            raised(py, "SceneError", message, &fields.0)
        }
        SceneError::Start(error) => {
            let fields = start_fields(py, &error);
            raised(py, "StartError", message, &fields.0)
        }
        SceneError::Tangled(start) => {
            let RefusedStart { count, first, .. } = &*start;
            let bodies = first.clone().map(|face| face.object);
            let faces = first.clone().map(|face| face.face);
            let fields = fields.with("count", *count).with("faces", faces);
            let fields = fields.with("bodies", bodies);
            raised(py, "StartError", message, &fields.0)
        }
        _ => raised(py, "SceneError", message, &fields.0),
    }
}

pub(crate) fn of_start(py: Python<'_>, error: &StartError) -> PyErr {
    raised(
        py,
        "StartError",
        error.to_string(),
        &start_fields(py, error).0,
    )
}

pub(crate) fn of_result(py: Python<'_>, error: &ResultError) -> PyErr {
    let path = match error {
        ResultError::Io { path, .. }
        | ResultError::Exists { path }
        | ResultError::HoldsRefused { path }
        | ResultError::Foreign { path }
        | ResultError::Nothing { path, .. }
        | ResultError::Busy { path, .. }
        | ResultError::Damaged { path, .. }
        | ResultError::Different { path, .. } => Some(path.display().to_string()),
        _ => None,
    };
    let fields = Fields::new(py).with("path", path);
    // the library speaks in terms of the command line
    let message = (error.to_string())
        .replace("--resume", "resume=True")
        .replace("--force", "force=True")
        .replace(" with -o", "");
    raised(py, "ResultError", message, &fields.0)
}

pub(crate) fn of_run(py: Python<'_>, error: &RunError) -> PyErr {
    match error {
        RunError::Result(error) => of_result(py, error),
        RunError::Start(error) => of_start(py, error),
        _ => PyValueError::new_err(error.to_string()),
    }
}
