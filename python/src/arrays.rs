//! Arrays in and out: each is copied once on its way in, and moved on its way out.

use numpy::ndarray::ArrayView2;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use percale::DVec3;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Positions of an array (n, 3) of 64-bit or 32-bit numbers, in any order in memory.
pub(crate) fn vectors(name: &str, array: &Bound<'_, PyAny>) -> PyResult<Vec<DVec3>> {
    if let Ok(array) = array.extract::<PyReadonlyArray2<'_, f64>>() {
        return rows(name, array.as_array(), |x| x);
    }
    if let Ok(array) = array.extract::<PyReadonlyArray2<'_, f32>>() {
        return rows(name, array.as_array(), f64::from);
    }
    Err(wrong(name, "an array (n, 3) of numbers"))
}

fn rows<T: Copy>(
    name: &str,
    array: ArrayView2<'_, T>,
    number: impl Fn(T) -> f64,
) -> PyResult<Vec<DVec3>> {
    if array.ncols() != 3 {
        return Err(wrong(name, "an array (n, 3) of numbers"));
    }
    let vector = |a: T, b: T, c: T| DVec3::new(number(a), number(b), number(c));
    Ok(match array.as_slice() {
        Some(all) => {
            let (rows, _) = all.as_chunks::<3>();
            rows.iter().map(|&[a, b, c]| vector(a, b, c)).collect()
        }
        None => {
            let rows = array.outer_iter();
            rows.map(|row| vector(row[0], row[1], row[2])).collect()
        }
    })
}

/// Triangles of an array (m, 3) of whole numbers.
pub(crate) fn faces(name: &str, array: &Bound<'_, PyAny>) -> PyResult<Vec<[u32; 3]>> {
    if let Ok(array) = array.extract::<PyReadonlyArray2<'_, i64>>() {
        return corners(name, array.as_array());
    }
    if let Ok(array) = array.extract::<PyReadonlyArray2<'_, i32>>() {
        return corners(name, array.as_array());
    }
    if let Ok(array) = array.extract::<PyReadonlyArray2<'_, u32>>() {
        return corners(name, array.as_array());
    }
    if let Ok(array) = array.extract::<PyReadonlyArray2<'_, u64>>() {
        return corners(name, array.as_array());
    }
    Err(wrong(name, "an array (m, 3) of whole numbers"))
}

fn corners<T: Copy + TryInto<u32> + std::fmt::Display>(
    name: &str,
    array: ArrayView2<'_, T>,
) -> PyResult<Vec<[u32; 3]>> {
    if array.ncols() != 3 {
        return Err(wrong(name, "an array (m, 3) of whole numbers"));
    }
    let mut faces = Vec::with_capacity(array.nrows());
    for (face, row) in array.outer_iter().enumerate() {
        let corner = |k: usize| {
            row[k].try_into().map_err(|_| {
                let message = format!(
                    "{name}: face {face} has the vertex {}; vertices are numbered from 0, and there are fewer than 2^32",
                    row[k]
                );
                PyValueError::new_err(message)
            })
        };
        faces.push([corner(0)?, corner(1)?, corner(2)?]);
    }
    Ok(faces)
}

/// Vertex numbers of a list of whole numbers.
pub(crate) fn indices(name: &str, array: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
    let Ok(array) = array.extract::<PyReadonlyArray1<'_, i64>>() else {
        return Err(wrong(name, "a list of vertex numbers"));
    };
    let index = |&v: &i64| {
        u32::try_from(v).map_err(|_| {
            PyValueError::new_err(format!(
                "{name}: {v} is no vertex; they are numbered from 0"
            ))
        })
    };
    array.as_array().iter().map(index).collect()
}

/// Numbers of a list.
pub(crate) fn numbers(name: &str, array: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    match array.extract::<PyReadonlyArray1<'_, f64>>() {
        Ok(array) => Ok(array.as_array().iter().copied().collect()),
        Err(_) => Err(wrong(name, "a list of numbers")),
    }
}

fn wrong(name: &str, expected: &str) -> PyErr {
    PyValueError::new_err(format!("{name}: it must be {expected}"))
}

const _: () =
    assert!(size_of::<DVec3>() == 3 * size_of::<f64>() && align_of::<DVec3>() == align_of::<f64>());

/// An array (n, 3) that takes over the memory of the vectors.
pub(crate) fn moved(py: Python<'_>, vectors: Vec<DVec3>) -> Bound<'_, PyArray2<f64>> {
    let count = vectors.len();
    let mut vectors = std::mem::ManuallyDrop::new(vectors);
    // SAFETY: a DVec3 is three f64 and aligned like one (checked above), and the memory is given up by the list of vectors
    let numbers = unsafe {
        Vec::from_raw_parts(
            vectors.as_mut_ptr().cast::<f64>(),
            3 * vectors.len(),
            3 * vectors.capacity(),
        )
    };
    shaped(numbers.into_pyarray(py), count, 3)
}

/// An array (n, N) of rows.
pub(crate) fn table<const N: usize, T: numpy::Element>(
    py: Python<'_>,
    rows: Vec<[T; N]>,
) -> Bound<'_, PyArray2<T>> {
    let count = rows.len();
    shaped(rows.into_flattened().into_pyarray(py), count, N)
}

fn shaped<'py, T: numpy::Element>(
    array: Bound<'py, PyArray1<T>>,
    rows: usize,
    columns: usize,
) -> Bound<'py, PyArray2<T>> {
    array
        .reshape([rows, columns])
        .expect("as many numbers as rows and columns")
}
