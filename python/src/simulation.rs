//! `Simulation`: a scene that is stepped.

use std::path::Path;
use std::sync::Mutex;

use numpy::PyArray2;
use percale::Scene;
use percale::record::{pack, unpack};
use percale::scene::{BUILTIN, SceneError, Variant};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::arrays::{moved, table};
use crate::errors::{of_result, of_scene, of_start, of_step};
use crate::threads::computing;
use crate::values::{dictionary, table_of, toml_of};

/// Names of the scenes that come with the library.
#[pyfunction]
pub(crate) fn scenes() -> Vec<&'static str> {
    BUILTIN.iter().map(|(name, _)| *name).collect()
}

/// A scene by name, from a file or from a dictionary, with changes.
pub(crate) fn scene_of(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    base: &str,
    small: bool,
    changes: &Bound<'_, PyDict>,
) -> PyResult<Scene> {
    let raise = |error: SceneError| of_scene(py, error);
    let scene = match source.cast::<PyDict>() {
        Ok(_) if small => {
            let message =
                "small: a scene that is a dictionary has no small variant; change its values";
            return Err(PyValueError::new_err(message));
        }
        Ok(table) => {
            Scene::from_table(table_of(table, "scene")?, "scene", Path::new(base)).map_err(raise)?
        }
        Err(_) => {
            let name: String = source.extract()?;
            let variant = if small { Variant::Small } else { Variant::Full };
            Scene::load_variant(&name, variant).map_err(raise)?
        }
    };
    let mut all = Vec::new();
    for (key, value) in changes {
        let key: String = key.extract()?;
        let value = toml_of(&value, &key)?;
        all.push((key, value));
    }
    scene.set_all(all).map_err(raise)
}

/// Name, whether it is cloth, first and last vertex, first and last face.
pub(crate) type ObjectRow = (String, bool, [u32; 2], [u32; 2]);

/// The objects of a mesh.
pub(crate) fn objects(mesh: &percale::Mesh) -> Vec<ObjectRow> {
    let object = |body: &percale::geometry::Body| {
        let is_cloth = body.kind == percale::geometry::BodyKind::Cloth;
        let (v, f) = (&body.vertices, &body.faces);
        (
            body.name.clone(),
            is_cloth,
            [v.start, v.end],
            [f.start, f.end],
        )
    };
    mesh.bodies().iter().map(object).collect()
}

#[pyclass(module = "percale._percale", frozen)]
pub(crate) struct Simulation {
    scene: Scene,
    simulation: Mutex<percale::Simulation>,
}

impl Simulation {
    /// One call at a time; the others wait, without Python's lock.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut percale::Simulation) -> T + Send,
    ) -> PyResult<T> {
        computing(py, || match self.simulation.lock() {
            Ok(mut simulation) => Ok(work(&mut simulation)),
            Err(_) => Err(PyRuntimeError::new_err(
                "an earlier step of this simulation has failed by a bug; make a new one",
            )),
        })?
    }
}

#[pymethods]
impl Simulation {
    #[new]
    fn new<'py>(
        py: Python<'py>,
        source: &Bound<'py, PyAny>,
        base: &str,
        small: bool,
        changes: &Bound<'py, PyDict>,
    ) -> PyResult<Self> {
        let scene = scene_of(py, source, base, small, changes)?;
        let simulation = computing(py, || scene.build())?;
        let simulation = simulation.map_err(|error| of_scene(py, error))?.into();
        Ok(Self { scene, simulation })
    }

    /// One output frame.
    fn step<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let (report, frame) = self.with(py, |simulation| {
            let frame = simulation.frame() + 1;
            (simulation.step(), frame)
        })?;
        let report = report.map_err(|error| of_step(py, &error, Some(frame)))?;
        py.check_signals()?;
        dictionary(py, &report)
    }

    fn positions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let x = self.with(py, |simulation| simulation.state().positions().to_vec())?;
        Ok(moved(py, x))
    }

    fn velocities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let v = self.with(py, |simulation| simulation.state().velocities().to_vec())?;
        Ok(moved(py, v))
    }

    fn faces<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u32>>> {
        let faces = self.with(py, |simulation| simulation.state().mesh().faces().to_vec())?;
        Ok(table(py, faces))
    }

    fn mass(&self, py: Python<'_>) -> PyResult<Vec<f64>> {
        self.with(py, |simulation| simulation.mass().to_vec())
    }

    fn frame(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |simulation| simulation.frame())
    }

    fn frames(&self) -> u64 {
        self.scene.frames
    }

    fn fps(&self) -> f64 {
        self.scene.fps
    }

    fn objects(&self, py: Python<'_>) -> PyResult<Vec<ObjectRow>> {
        self.with(py, |simulation| objects(simulation.state().mesh()))
    }

    /// The scene with every default, as TOML.
    fn scene(&self) -> String {
        self.scene.to_text()
    }

    fn checkpoint<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let packed = self.with(py, |simulation| pack(&simulation.checkpoint(), &self.scene))?;
        Ok(PyBytes::new(py, &packed))
    }

    fn restore(&self, py: Python<'_>, bytes: &[u8]) -> PyResult<()> {
        let restored = self.with(py, |simulation| {
            let count = simulation.state().mesh().vertex_count();
            unpack(bytes, &self.scene, count).map(|checkpoint| simulation.restore(checkpoint))
        })?;
        let restored = restored.map_err(|error| of_result(py, &error))?;
        restored.map_err(|error| of_start(py, &error))
    }
}
