//! The continuous and the static test miss nothing: against an exact oracle, published answers and closed cases.

mod ccd_data;
mod ccd_flat;
mod ccd_oracle;
mod ccd_random;
mod ccd_separation;
mod flat_sheet;
mod published_meshes;
