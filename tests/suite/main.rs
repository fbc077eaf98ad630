//! Integration tests: one binary, one module per theme.

mod documents;
mod flat_sheet;
mod judge;
mod laws;
mod scenes;
