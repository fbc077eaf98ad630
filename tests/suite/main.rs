//! The integration tests, one module per theme.

mod paths;
