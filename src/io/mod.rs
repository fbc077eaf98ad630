//! Files: meshes in and out, the result folder.

mod cache;
pub mod recording;
pub mod result;
