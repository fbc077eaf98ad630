//! Percale for Python: passes arrays in and out, raises errors with their fields, and decides nothing.
//!
//! The package `percale` beside it wraps this module: it makes arrays of whatever it is given and checks their shapes.

mod arrays;
mod calls;
mod collider;
mod errors;
mod recording;
mod runs;
mod simulation;
mod threads;
mod values;

use pyo3::prelude::*;

/// The compiled part of the package `percale`.
#[pymodule]
fn _percale(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<collider::Collider>()?;
    module.add_class::<simulation::Simulation>()?;
    module.add_class::<recording::Recording>()?;
    module.add_function(wrap_pyfunction!(calls::intersections, module)?)?;
    module.add_function(wrap_pyfunction!(calls::has_intersections, module)?)?;
    module.add_function(wrap_pyfunction!(calls::check, module)?)?;
    module.add_function(wrap_pyfunction!(calls::impacts, module)?)?;
    module.add_function(wrap_pyfunction!(calls::first_impact, module)?)?;
    module.add_function(wrap_pyfunction!(calls::paths, module)?)?;
    module.add_function(wrap_pyfunction!(calls::untangle, module)?)?;
    module.add_function(wrap_pyfunction!(calls::round_trip, module)?)?;
    module.add_function(wrap_pyfunction!(simulation::scenes, module)?)?;
    module.add_function(wrap_pyfunction!(runs::run, module)?)?;
    module.add_function(wrap_pyfunction!(runs::cases, module)?)?;
    module.add_function(wrap_pyfunction!(runs::check_cases, module)?)?;
    module.add_function(wrap_pyfunction!(runs::run_case, module)?)?;
    module.add_function(wrap_pyfunction!(runs::table, module)?)?;
    Ok(())
}
