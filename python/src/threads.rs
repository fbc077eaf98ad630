//! Work that is done without Python's lock.

use std::process;
use std::sync::OnceLock;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// The process that has begun to compute.
static PROCESS: OnceLock<u32> = OnceLock::new();

/// Computes while other threads of Python go on. A process that was forked from one that has computed has none of its threads, and
/// would wait for them forever: it is refused.
pub(crate) fn computing<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    if *PROCESS.get_or_init(process::id) != process::id() {
        return Err(PyRuntimeError::new_err(
            "this process was forked from one that had used percale, and has none of its threads; use another start method, e.g. \
             multiprocessing.get_context(\"spawn\")",
        ));
    }
    Ok(py.detach(work))
}
