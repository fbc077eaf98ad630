//! The cure of tangled meshes: judged by the static test and the auditor, never by its own measure.

mod data;
mod laws;
mod random;
