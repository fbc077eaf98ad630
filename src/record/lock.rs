//! One writer for a result folder at a time.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::Path;

use super::error::{ResultError, at};

/// Name of the file that is locked. It stays when the run has ended: taking it away could take it from the next run.
pub(super) const NAME: &str = "lock";

/// Locks a folder for writing, until the file is dropped or the process ends, however it ends.
///
/// The lock is the system's, on an open file; the number of the process in it is for messages only.
pub(super) fn lock(folder: &Path) -> Result<File, ResultError> {
    let path = folder.join(NAME);
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    let mut file = options.open(&path).map_err(at(&path))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let holder = fs::read_to_string(&path).unwrap_or_default();
            return Err(ResultError::Busy {
                path: folder.into(),
                process: holder.trim().parse().ok(),
            });
        }
        Err(TryLockError::Error(source)) => return Err(at(&path)(source)),
    }
    file.set_len(0)
        .and_then(|()| writeln!(file, "{}", std::process::id()))
        .map_err(at(&path))?;
    Ok(file)
}

/// Whether somebody is writing a folder at this moment.
pub fn is_being_written(folder: &Path) -> bool {
    let file = File::open(folder.join(NAME));
    file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// Whether a file could be one that [`lock`] has made: empty, or a number.
pub(super) fn is_lock(path: &Path) -> bool {
    fs::read_to_string(path)
        .is_ok_and(|text| text.trim().is_empty() || text.trim().parse::<u32>().is_ok())
}
