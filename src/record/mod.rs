//! The result folder: what a run leaves behind, and what it goes on from.
//!
//! ```text
//! scene.toml            the scene with every default written out
//! objects/NAME.obj      topology and start positions of each object
//! objects/NAME.x64      certified positions: 8 bytes "PERCALE1", vertex count (u64),
//!                       then x y z (f64) of every vertex, frame after frame; little-endian
//! frames.jsonl          one report per frame, written as the run goes
//! checksums             SHA-256 of scene.toml, of each .obj, of each frame of each .x64, of each line of frames.jsonl
//! checkpoint            all that the run remembers, and the SHA-256 of the checksums up to there; replaced after each frame
//! report.json           totals and all frames, written when the run ends
//! lock                  locked by the run that writes the folder; holds the number of its process, for messages
//! ```
//!
//! Positions, reports and checksums are appended first, the checkpoint is replaced last: whatever lies behind the checkpoint is
//! half-written, and [`ResultFolder::resume`] cuts it off.
//!
//! Every byte that a reader uses is protected: `checkpoint` and `report.json` end with a checksum of themselves, the checkpoint
//! seals `checksums`, and those cover the rest; the header of a `.x64` has to agree with its `.obj`. Readers
//! ([`Recording`]) compare whatever they read, [`ResultFolder::resume`] compares everything before it changes anything.
//! Folders of builds that wrote no checksums are refused by name: nothing shows whether they are still what was certified.
//!
//! A start that crosses itself leaves a folder too, to be looked at: frame 0 is not certified then, the checkpoint says so, and
//! it cannot be resumed.

mod cache;
mod checkpoint;
mod checksums;
mod error;
pub mod export;
mod holding;
mod lock;
mod recording;
mod result;
mod run;
mod summary;
mod surfaces;

pub use checkpoint::{pack, unpack};
pub use error::ResultError;
pub use lock::is_being_written;
pub use recording::Recording;
pub use result::ResultFolder;
pub use run::{Earlier, RunError, run};
pub use summary::{Stopped, Summary};
