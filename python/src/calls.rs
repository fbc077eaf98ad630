//! Calls that keep nothing.

use std::sync::Arc;

use glam::DVec2;
use numpy::PyArray2;
use percale::geometry::{Collider, Impact, Mode};
use percale::plain::{self, Beside, Evidence};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{faces, indices, moved, numbers, table, vectors};
use crate::errors::of_call;
use crate::threads::computing;
use crate::values::dictionary;

#[pyfunction]
pub(crate) fn intersections<'py>(
    py: Python<'py>,
    v: &Bound<'py, PyAny>,
    f: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyArray2<u32>>> {
    let (x, faces) = (vectors("V", v)?, faces("F", f)?);
    let found = computing(py, || {
        let mesh = plain::mesh(x.len(), faces)?;
        plain::crossings(&mesh, &x)
    })?;
    let found = found.map_err(|error| of_call(py, error))?;
    Ok(table(py, found.faces))
}

#[pyfunction]
pub(crate) fn has_intersections(
    py: Python<'_>,
    v: &Bound<'_, PyAny>,
    f: &Bound<'_, PyAny>,
) -> PyResult<bool> {
    let (x, faces) = (vectors("V", v)?, faces("F", f)?);
    let found = computing(py, || {
        let mesh = plain::mesh(x.len(), faces)?;
        plain::has_crossings(&mesh, &x)
    })?;
    found.map_err(|error| of_call(py, error))
}

/// What crosses, counted: pairs of faces, edge-face crossings, and both by connected component.
#[pyfunction]
pub(crate) fn check<'py>(
    py: Python<'py>,
    v: &Bound<'py, PyAny>,
    f: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyDict>> {
    let (x, faces) = (vectors("V", v)?, faces("F", f)?);
    let count = x.len();
    let found = computing(py, || {
        let mesh = plain::mesh(x.len(), faces)?;
        let crossings = plain::crossings(&mesh, &x)?;
        let counts = crossings.by_group(&mesh, &mesh.components());
        Ok((Arc::clone(&mesh), crossings, counts))
    })?;
    let (mesh, crossings, counts) = found.map_err(|error| of_call(py, error))?;
    let report = PyDict::new(py);
    report.set_item("vertices", count)?;
    report.set_item("triangles", mesh.faces().len())?;
    report.set_item("intersections", crossings.faces.len())?;
    report.set_item("edge_face", crossings.edge_faces.len())?;
    let mut by_body = Vec::new();
    for ([a, b], counts) in counts {
        let row = PyDict::new(py);
        row.set_item("a", a)?;
        row.set_item("b", b)?;
        row.set_item("intersections", counts.intersections)?;
        row.set_item("edge_face", counts.edge_face)?;
        by_body.push(row);
    }
    report.set_item("by_body", by_body)?;
    report.set_item("pairs", table(py, crossings.faces))?;
    Ok(report)
}

/// How the continuous test decides.
pub(crate) fn mode_of(name: &str) -> PyResult<Mode> {
    match name {
        "fast" => Ok(Mode::Fast),
        "exact" => Ok(Mode::Exact),
        "cubic" => Ok(Mode::Cubic),
        _ => {
            let message = format!("ccd: there is no mode '{name}'; write fast, exact or cubic");
            Err(pyo3::exceptions::PyValueError::new_err(message))
        }
    }
}

/// Impacts as arrays, one row each.
pub(crate) fn impact_arrays<'py>(
    py: Python<'py>,
    impacts: &[Impact],
) -> PyResult<Bound<'py, PyDict>> {
    use numpy::IntoPyArray;
    let report = PyDict::new(py);
    let times: Vec<f64> = impacts.iter().map(|i| i.time).collect();
    let is_vertex_face: Vec<bool> = impacts.iter().map(Impact::is_vertex_face).collect();
    let certain: Vec<bool> = impacts.iter().map(|i| i.certain).collect();
    report.set_item("times", times.into_pyarray(py))?;
    let vertices = impacts.iter().map(|i| i.vertices).collect();
    report.set_item("vertices", table(py, vertices))?;
    let weights = impacts.iter().map(|i| i.weights).collect();
    report.set_item("weights", table(py, weights))?;
    let normals = impacts.iter().map(|i| i.normal).collect();
    report.set_item("normals", moved(py, normals))?;
    report.set_item("is_vertex_face", is_vertex_face.into_pyarray(py))?;
    report.set_item("certain", certain.into_pyarray(py))?;
    Ok(report)
}

#[pyfunction]
pub(crate) fn impacts<'py>(
    py: Python<'py>,
    v0: &Bound<'py, PyAny>,
    v1: &Bound<'py, PyAny>,
    f: &Bound<'py, PyAny>,
    ccd: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let mode = mode_of(ccd)?;
    let (x0, x1, faces) = (vectors("V0", v0)?, vectors("V1", v1)?, faces("F", f)?);
    let found = computing(py, || {
        let mesh = plain::mesh(x0.len(), faces)?;
        plain::impacts(&mut Collider::new(&mesh), &x0, &x1, mode)
    })?;
    let found = found.map_err(|error| of_call(py, error))?;
    impact_arrays(py, &found)
}

#[pyfunction]
pub(crate) fn first_impact<'py>(
    py: Python<'py>,
    v0: &Bound<'py, PyAny>,
    v1: &Bound<'py, PyAny>,
    f: &Bound<'py, PyAny>,
    ccd: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let mode = mode_of(ccd)?;
    let (x0, x1, faces) = (vectors("V0", v0)?, vectors("V1", v1)?, faces("F", f)?);
    let found = computing(py, || {
        let mesh = plain::mesh(x0.len(), faces)?;
        plain::first_impact(&mut Collider::new(&mesh), &x0, &x1, mode)
    })?;
    let found = found.map_err(|error| of_call(py, error))?;
    impact_arrays(py, found.as_slice())
}

/// Parameters of the corners of faces, from an array (3 m, 3) whose last column is nothing.
fn uv_of(uv: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Vec<[DVec2; 3]>>> {
    let Some(uv) = uv else { return Ok(None) };
    let corners: Vec<_> = vectors("uv", uv)?.iter().map(|c| c.truncate()).collect();
    let (faces, _) = corners.as_chunks::<3>();
    Ok(Some(faces.to_vec()))
}

#[pyfunction]
pub(crate) fn paths<'py>(
    py: Python<'py>,
    v: &Bound<'py, PyAny>,
    f: &Bound<'py, PyAny>,
    uv: Option<&Bound<'py, PyAny>>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let (x, faces, uv) = (vectors("V", v)?, faces("F", f)?, uv_of(uv)?);
    let found = computing(py, || {
        let mesh = plain::mesh(x.len(), faces)?;
        plain::paths(&mesh, &x, uv.as_deref())
    })?;
    let analysis = found.map_err(|error| of_call(py, error))?;
    let mut list = Vec::new();
    for (path, summary) in analysis.paths.iter().zip(analysis.summaries(&x)) {
        let row = dictionary(py, &summary)?;
        row.set_item("points", moved(py, path.polyline(&analysis.segments, &x)))?;
        row.set_item("faces", path.faces.clone())?;
        list.push(row);
    }
    Ok(list)
}

#[pyfunction]
#[allow(
    clippy::too_many_arguments,
    reason = "called by the package only, which has keyword arguments"
)]
pub(crate) fn untangle<'py>(
    py: Python<'py>,
    v: &Bound<'py, PyAny>,
    f: &Bound<'py, PyAny>,
    uv: Option<&Bound<'py, PyAny>>,
    keep: Option<&Bound<'py, PyAny>>,
    layers: Option<&Bound<'py, PyAny>>,
    body: Option<(Bound<'py, PyAny>, Bound<'py, PyAny>)>,
    rest: Option<&Bound<'py, PyAny>>,
    thickness: f64,
    max_steps: Option<u32>,
) -> PyResult<(Bound<'py, PyArray2<f64>>, Bound<'py, PyAny>)> {
    let (x, f) = (vectors("V", v)?, faces("F", f)?);
    let rest = rest.map(|rest| vectors("rest", rest)).transpose()?;
    let keep = keep.map(|keep| indices("keep", keep)).transpose()?;
    let layers = match layers {
        Some(layers) => numbers("layers", layers)?
            .iter()
            .map(|&l| l as i32)
            .collect(),
        None => Vec::new(),
    };
    let body = match body {
        Some((x, f)) => {
            let (x, faces) = (vectors("body", &x)?, faces("body", &f)?);
            let vertex_count = x.len();
            Some((
                Beside {
                    vertex_count,
                    faces,
                },
                x,
            ))
        }
        None => None,
    };
    let evidence = Evidence {
        uv: uv_of(uv)?,
        rest,
        keep: keep.unwrap_or_default(),
        layers,
        body,
        thickness,
        max_steps,
    };
    let cured = computing(py, || plain::untangled(x, f, evidence))?;
    let cured = cured.map_err(|error| of_call(py, error))?;
    let report = dictionary(py, &cured.report)?;
    report.set_item("certified", cured.certified)?;
    Ok((moved(py, cured.positions), report))
}

/// An array in and out, and nothing else: what passing it on costs.
#[pyfunction]
pub(crate) fn round_trip<'py>(
    py: Python<'py>,
    v: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    Ok(moved(py, vectors("V", v)?))
}
