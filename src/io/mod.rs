//! Files: meshes in and out, the result folder.

pub mod result;
