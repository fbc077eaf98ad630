//! What the parameters of shapes may be.

use super::grid_vertices;

/// The key that is out of its range, and what is allowed.
pub(in crate::scene) type Check = Result<(), (&'static str, String)>;

/// More than this many vertices in one shape is a typing error.
const MAX_VERTICES: f64 = 2e7;

pub(super) fn lengths(values: &[(&'static str, f64)]) -> Check {
    for &(key, value) in values {
        if !(value > 0.0 && value.is_finite()) {
            return Err((key, format!("{value} must be a positive length, in metres")));
        }
        // areas and volumes of shorter ones are 0 in floats, of longer ones infinite
        if !(1e-12..=1e12).contains(&value) {
            return Err((key, format!("{value:e} must be from 1e-12 to 1e12 m")));
        }
    }
    Ok(())
}

pub(super) fn at_least(key: &'static str, value: u32, least: u32) -> Check {
    if value >= least {
        return Ok(());
    }
    Err((key, format!("{value} must be at least {least}")))
}

pub(super) fn around(key: &'static str, value: u32) -> Check {
    if value >= 3 {
        return Ok(());
    }
    Err((key, format!("{value} around must be at least 3")))
}

pub(super) fn vertices(key: &'static str, count: f64) -> Check {
    if count <= MAX_VERTICES {
        return Ok(());
    }
    Err((
        key,
        format!("about {count:.0} vertices; at most {MAX_VERTICES:.0}"),
    ))
}

pub(super) fn grid(cells: &[u32]) -> Check {
    for &count in cells {
        at_least("cells", count, 1)?;
    }
    vertices("cells", grid_vertices(cells))
}

pub(super) fn centres(cells: [u32; 2], centres: u32) -> Check {
    let count = u64::from(cells[0]) * u64::from(cells[1]);
    if u64::from(centres) <= count {
        return Ok(());
    }
    Err((
        "centres",
        format!("{centres} is more than the {count} cells"),
    ))
}
