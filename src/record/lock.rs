//! One writer for a result folder at a time.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::Path;
use std::thread;
use std::time::Duration;

use super::error::{ResultError, at};

/// Name of the file that is locked. It stays when the run has ended: taking it away could take it from the next run.
pub(super) const NAME: &str = "lock";

/// Readers that ask [`is_being_written`] hold the lock for some microseconds: a run tries this often before it takes the folder for busy.
const TRIES: u32 = 20;
const PAUSE: Duration = Duration::from_millis(5);

/// Locks a folder for writing, until the file is dropped or the process ends, however it ends.
///
/// The lock is the system's, on an open file; the number of the process in it is for messages only.
pub(super) fn lock(folder: &Path) -> Result<File, ResultError> {
    let path = folder.join(NAME);
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    let mut file = options.open(&path).map_err(at(&path))?;
    let mut locked = file.try_lock();
    for _ in 1..TRIES {
        if !matches!(locked, Err(TryLockError::WouldBlock)) {
            break;
        }
        thread::sleep(PAUSE);
        locked = file.try_lock();
    }
    match locked {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_seen_while_it_is_held_and_looking_does_not_take_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        assert!(!is_being_written(path), "no file");
        let held = lock(path).unwrap();
        assert!(is_being_written(path));
        assert!(matches!(lock(path), Err(ResultError::Busy { .. })));
        drop(held);
        assert!(!is_being_written(path), "the file stays, the lock does not");
        let reader = File::open(path.join(NAME)).unwrap();
        reader.try_lock_shared().unwrap();
        let ended = thread::spawn(move || {
            thread::sleep(2 * PAUSE);
            drop(reader);
        });
        lock(path).expect("a reader is waited for");
        ended.join().unwrap();
    }
}
