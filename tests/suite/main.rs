//! The integration tests, one module per theme.

mod path_judge;
mod paths;
