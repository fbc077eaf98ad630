//! Integration tests: one binary, one module per theme.

mod ccd_data;
