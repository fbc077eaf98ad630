//! What can be wrong with a result folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::checksums;

/// Why a result folder cannot be written, read or continued.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResultError {
    /// The system refused.
    #[error("{}: {source}{}", path.display(), remedy(source))]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },

    /// There is a result already.
    #[error("{}: already holds a result; continue it with --resume, replace it with --force, or choose another folder with -o", path.display())]
    Exists {
        /// The folder.
        path: PathBuf,
    },

    /// There is a start that was refused.
    #[error("{}: already holds a start that was refused; replace it with --force, or choose another folder with -o", path.display())]
    HoldsRefused {
        /// The folder.
        path: PathBuf,
    },

    /// There are files of somebody else.
    #[error("{}: holds files that are not a result of Percale, and those are never replaced; choose another folder with -o", path.display())]
    Foreign {
        /// The folder.
        path: PathBuf,
    },

    /// There is nothing to continue.
    #[error("{}: {what}, so there is nothing to continue; start the run without --resume, or name its folder with -o", path.display())]
    Nothing {
        /// The folder.
        path: PathBuf,
        /// What is there instead.
        what: &'static str,
    },

    /// Another run is writing it.
    #[error(
        "{}: another run is writing this folder{}; wait until it ends, stop it, or choose another folder with -o",
        path.display(), process.map(|id| format!(" (process {id})")).unwrap_or_default()
    )]
    Busy {
        /// The folder.
        path: PathBuf,
        /// The number of its process, if it could be read.
        process: Option<u32>,
    },

    /// It is not a result folder, or a damaged one.
    #[error("{}: {message}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong, and what to do.
        message: String,
    },

    /// It belongs to another scene or version.
    #[error("{}: cannot resume: {message}; run it anew into another folder with -o, or here with --force", path.display())]
    Different {
        /// The folder.
        path: PathBuf,
        /// What differs.
        message: String,
    },
}

fn remedy(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::StorageFull => "; all earlier frames are intact: make room, then --resume",
        io::ErrorKind::PermissionDenied
        | io::ErrorKind::ReadOnlyFilesystem
        | io::ErrorKind::NotADirectory
        | io::ErrorKind::AlreadyExists => "; choose a folder that can be written with -o",
        _ => "",
    }
}

/// The bytes of a file that belongs to a result.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, ResultError> {
    fs::read(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => damaged(path, format!("missing; {}", checksums::REMEDY)),
        _ => at(path)(source),
    })
}

pub(super) fn at(path: &Path) -> impl Fn(io::Error) -> ResultError + '_ {
    move |source| ResultError::Io {
        path: path.into(),
        source,
    }
}

pub(super) fn damaged(path: &Path, message: String) -> ResultError {
    ResultError::Damaged {
        path: path.into(),
        message,
    }
}
