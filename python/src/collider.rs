//! `Collider`: the collision step, with what need not be made anew for every step.

use numpy::PyArray2;
use percale::plain::{Beside, Stepper, Terms};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{faces, indices, moved, numbers, table, vectors};
use crate::calls::{impact_arrays, mode_of};
use crate::errors::of_call;
use crate::threads::computing;
use crate::values::{dictionary, stages};

#[pyclass(module = "percale._percale", frozen)]
pub(crate) struct Collider {
    stepper: std::sync::Mutex<Stepper>,
}

/// Where an obstacle is at both ends of a motion.
type Ends<'py> = Option<(Bound<'py, PyAny>, Bound<'py, PyAny>)>;

fn ends(obstacle: Ends<'_>) -> PyResult<Option<[Vec<percale::DVec3>; 2]>> {
    match obstacle {
        Some((o0, o1)) => Ok(Some([vectors("obstacle", &o0)?, vectors("obstacle", &o1)?])),
        None => Ok(None),
    }
}

impl Collider {
    /// One call at a time; the others wait, without Python's lock.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Stepper) -> T + Send,
    ) -> PyResult<T> {
        computing(py, || {
            // what a call that panicked has left is scratch: it changes no result
            let mut stepper =
                (self.stepper.lock()).unwrap_or_else(std::sync::PoisonError::into_inner);
            work(&mut stepper)
        })
    }
}

#[pymethods]
impl Collider {
    #[new]
    #[allow(
        clippy::too_many_arguments,
        reason = "called by the package only, which has keyword arguments"
    )]
    fn new<'py>(
        py: Python<'py>,
        f: &Bound<'py, PyAny>,
        vertices: usize,
        mass: Option<&Bound<'py, PyAny>>,
        fixed: Option<&Bound<'py, PyAny>>,
        obstacle: Option<(usize, Bound<'py, PyAny>)>,
        rest: Option<&Bound<'py, PyAny>>,
        thickness: Option<f64>,
        friction: f64,
        response: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Self> {
        let terms = Terms {
            mass: mass.map(|mass| numbers("mass", mass)).transpose()?,
            fixed: (fixed.map(|fixed| indices("fixed", fixed)).transpose()?).unwrap_or_default(),
            rest: rest.map(|rest| vectors("rest", rest)).transpose()?,
            thickness,
            friction,
            response: stages(response)?,
        };
        let obstacle = match obstacle {
            Some((vertex_count, f)) => {
                let faces = faces("obstacle", &f)?;
                Some(Beside {
                    vertex_count,
                    faces,
                })
            }
            None => None,
        };
        let f = faces("F", f)?;
        let stepper = computing(py, || Stepper::new(vertices, f, obstacle, terms))?;
        let stepper = stepper.map_err(|error| of_call(py, error))?;
        Ok(Self {
            stepper: stepper.into(),
        })
    }

    fn resolve<'py>(
        &self,
        py: Python<'py>,
        v0: &Bound<'py, PyAny>,
        v1: &Bound<'py, PyAny>,
        obstacle: Ends<'py>,
        dt: f64,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, Bound<'py, PyAny>)> {
        let (x0, x1, obstacle) = (vectors("V0", v0)?, vectors("V1", v1)?, ends(obstacle)?);
        let done = self.with(py, |stepper| stepper.resolve(x0, x1, obstacle, dt))?;
        let done = done.map_err(|error| of_call(py, error))?;
        let report = dictionary(py, &done.report)?;
        report.set_item("velocities", moved(py, done.velocities))?;
        Ok((moved(py, done.positions), report))
    }

    fn intersections<'py>(
        &self,
        py: Python<'py>,
        v: &Bound<'py, PyAny>,
        obstacle: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<u32>>> {
        let x = vectors("V", v)?;
        let obstacle = obstacle.map(|o| vectors("obstacle", o)).transpose()?;
        let found = self.with(py, |stepper| stepper.crossings(x, obstacle))?;
        Ok(table(py, found.map_err(|error| of_call(py, error))?.faces))
    }

    fn has_intersections(
        &self,
        py: Python<'_>,
        v: &Bound<'_, PyAny>,
        obstacle: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<bool> {
        let x = vectors("V", v)?;
        let obstacle = obstacle.map(|o| vectors("obstacle", o)).transpose()?;
        let found = self.with(py, |stepper| stepper.has_crossings(x, obstacle))?;
        found.map_err(|error| of_call(py, error))
    }

    fn impacts<'py>(
        &self,
        py: Python<'py>,
        v0: &Bound<'py, PyAny>,
        v1: &Bound<'py, PyAny>,
        obstacle: Ends<'py>,
        ccd: &str,
    ) -> PyResult<Bound<'py, PyDict>> {
        let mode = mode_of(ccd)?;
        let (x0, x1, obstacle) = (vectors("V0", v0)?, vectors("V1", v1)?, ends(obstacle)?);
        let found = self.with(py, |stepper| stepper.impacts(x0, x1, obstacle, mode))?;
        impact_arrays(py, &found.map_err(|error| of_call(py, error))?)
    }

    fn first_impact<'py>(
        &self,
        py: Python<'py>,
        v0: &Bound<'py, PyAny>,
        v1: &Bound<'py, PyAny>,
        obstacle: Ends<'py>,
        ccd: &str,
    ) -> PyResult<Bound<'py, PyDict>> {
        let mode = mode_of(ccd)?;
        let (x0, x1, obstacle) = (vectors("V0", v0)?, vectors("V1", v1)?, ends(obstacle)?);
        let found = self.with(py, |stepper| stepper.first_impact(x0, x1, obstacle, mode))?;
        let found = found.map_err(|error| of_call(py, error))?;
        impact_arrays(py, found.as_slice())
    }
}
