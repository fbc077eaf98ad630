//! Integration tests: one binary, one module per theme.

mod ccd_data;
mod ccd_flat;
mod ccd_oracle;
mod ccd_random;
mod ccd_separation;
