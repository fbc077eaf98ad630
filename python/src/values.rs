//! Plain values: dictionaries of Python as TOML, reports as dictionaries.

use percale::response::Stage;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde::Serialize;

/// Lists and dictionaries within one another, at most: deeper is one that holds itself.
const MAX_DEPTH: u32 = 64;

/// A value of a scene; `place` names it in errors. Nothing (`None`) is left out by who holds it.
pub(crate) fn toml_of(value: &Bound<'_, PyAny>, place: &str) -> PyResult<toml::Value> {
    toml_within(value, place, 0)
}

fn toml_within(value: &Bound<'_, PyAny>, place: &str, depth: u32) -> PyResult<toml::Value> {
    if depth > MAX_DEPTH {
        let place: String = place.chars().take(40).collect();
        return Err(PyValueError::new_err(format!(
            "{place}...: lists and dictionaries are more than {MAX_DEPTH} deep; does one hold itself?"
        )));
    }
    if let Ok(value) = value.cast::<PyBool>() {
        return Ok(value.is_true().into());
    }
    if value.cast::<PyInt>().is_ok() {
        let wrong = |_| PyValueError::new_err(format!("{place}: {value} has more than 64 bits"));
        return Ok(value.extract::<i64>().map_err(wrong)?.into());
    }
    if let Ok(value) = value.cast::<PyFloat>() {
        return Ok(value.value().into());
    }
    if let Ok(value) = value.cast::<PyString>() {
        return Ok(value.to_string().into());
    }
    if let Ok(table) = value.cast::<PyDict>() {
        return Ok(table_within(table, place, depth + 1)?.into());
    }
    if value.cast::<PyList>().is_ok() || value.cast::<PyTuple>().is_ok() {
        let mut list = Vec::new();
        for (number, item) in value.try_iter()?.enumerate() {
            list.push(toml_within(
                &item?,
                &format!("{place}.{number}"),
                depth + 1,
            )?);
        }
        return Ok(list.into());
    }
    if value.hasattr("__fspath__")? {
        return Ok(value.call_method0("__fspath__")?.to_string().into());
    }
    // numbers and arrays of NumPy
    if value.hasattr("tolist")? {
        let plain = value.call_method0("tolist")?;
        if !plain.hasattr("tolist")? {
            return toml_within(&plain, place, depth + 1);
        }
    }
    let kind = value.get_type().name()?;
    let message = format!(
        "{place}: a {kind} cannot be in a scene; write numbers, texts, lists, dictionaries or arrays"
    );
    Err(PyValueError::new_err(message))
}

/// A table of a scene.
pub(crate) fn table_of(table: &Bound<'_, PyDict>, place: &str) -> PyResult<toml::Table> {
    table_within(table, place, 0)
}

fn table_within(table: &Bound<'_, PyDict>, place: &str, depth: u32) -> PyResult<toml::Table> {
    let mut made = toml::Table::new();
    for (key, value) in table {
        let Ok(key) = key.cast::<PyString>().map(|key| key.to_string()) else {
            let message = format!("{place}: the key {key} is no text");
            return Err(PyValueError::new_err(message));
        };
        if !value.is_none() {
            let within = match place {
                "scene" => key.clone(),
                _ => format!("{place}.{key}"),
            };
            made.insert(key, toml_within(&value, &within, depth)?);
        }
    }
    Ok(made)
}

/// A report as a dictionary.
pub(crate) fn dictionary<'py>(
    py: Python<'py>,
    report: &impl Serialize,
) -> PyResult<Bound<'py, PyAny>> {
    let value =
        serde_json::to_value(report).map_err(|error| PyValueError::new_err(error.to_string()))?;
    python_of(py, &value)
}

/// JSON as what Python makes of it.
pub(crate) fn python_of<'py>(
    py: Python<'py>,
    value: &serde_json::Value,
) -> PyResult<Bound<'py, PyAny>> {
    use serde_json::Value;
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(value) => PyBool::new(py, *value).to_owned().into_any(),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => whole.into_pyobject(py)?.into_any(),
            (None, number) => number.unwrap_or(f64::NAN).into_pyobject(py)?.into_any(),
        },
        Value::String(text) => text.into_pyobject(py)?.into_any(),
        Value::Array(list) => {
            let list: PyResult<Vec<_>> = list.iter().map(|item| python_of(py, item)).collect();
            PyList::new(py, list?)?.into_any()
        }
        Value::Object(map) => {
            let made = PyDict::new(py);
            for (key, value) in map {
                made.set_item(key, python_of(py, value)?)?;
            }
            made.into_any()
        }
    })
}

/// Stages as the package writes them: a list of dictionaries with a `kind`; nothing for the default.
pub(crate) fn stages(response: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Vec<Stage>>> {
    let Some(response) = response else {
        return Ok(None);
    };
    let list = toml_of(response, "response")?;
    let stages: Result<Vec<Stage>, _> = list.try_into();
    stages.map(Some).map_err(|error: toml::de::Error| {
        let known = Stage::NAMES.join(", ");
        PyValueError::new_err(format!("response: {}; stages are {known}", error.message()))
    })
}
