//! `Recording`: a result folder that is read.

use std::path::PathBuf;

use numpy::PyArray2;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;

use crate::arrays::{moved, table};
use crate::errors::of_result;
use crate::simulation::{ObjectRow, objects};
use crate::threads::computing;
use crate::values::dictionary;

#[pyclass(module = "percale._percale", frozen)]
pub(crate) struct Recording {
    recording: percale::record::Recording,
}

#[pymethods]
impl Recording {
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let recording = computing(py, || percale::record::Recording::open(&path))?;
        let recording = recording.map_err(|error| of_result(py, &error))?;
        Ok(Self { recording })
    }

    fn frame_count(&self) -> u64 {
        self.recording.frame_count()
    }

    fn is_refused(&self) -> bool {
        self.recording.is_refused()
    }

    fn positions<'py>(&self, py: Python<'py>, frame: u64) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let count = self.recording.frame_count();
        if frame >= count {
            let message = format!("frame {frame}: there are frames 0 to {}", count - 1);
            return Err(PyIndexError::new_err(message));
        }
        let x = computing(py, || self.recording.positions(frame))?;
        Ok(moved(py, x.map_err(|error| of_result(py, &error))?))
    }

    fn faces<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<u32>> {
        table(py, self.recording.mesh().faces().to_vec())
    }

    fn objects(&self) -> Vec<ObjectRow> {
        objects(self.recording.mesh())
    }

    fn reports<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        dictionary(py, &self.recording.reports())
    }

    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let summary = self.recording.summary();
        summary.map(|summary| dictionary(py, summary)).transpose()
    }

    fn scene(&self) -> String {
        self.recording.scene().to_text()
    }

    fn hash(&self, py: Python<'_>) -> PyResult<String> {
        let hash = computing(py, || self.recording.hash())?;
        hash.map_err(|error| of_result(py, &error))
    }
}
