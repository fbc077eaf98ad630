//! Integration tests, one module per theme, linked once.
#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]

mod loaders;
