//! What lies in a folder before a run writes there: a result is replaced or continued, files of somebody else never.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use super::error::{ResultError, at};
use super::{checkpoint, checksums, lock};

/// What a folder holds, as far as its first bytes tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holding {
    /// It does not exist, or there is nothing but a lock.
    Nothing,
    /// A result, whole or not.
    Result,
    /// Something else.
    Foreign,
}

impl Holding {
    pub(super) fn of(folder: &Path) -> Result<Self, ResultError> {
        let mut entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::Nothing),
            Err(error) => return Err(at(folder)(error)),
        };
        let is_checksums = |bytes: &[u8]| bytes.starts_with(checksums::HEADER.as_bytes());
        if begins(&checksums::path_in(folder), is_checksums)
            || begins(&checkpoint::path_in(folder), checkpoint::is_checkpoint)
        {
            return Ok(Self::Result);
        }
        let is_lock = |path: &Path| path.ends_with(lock::NAME) && lock::is_lock(path);
        // of a run that was killed while it wrote its very first file
        let is_draft = |path: &Path| {
            let header = checksums::HEADER.as_bytes();
            let is_begun = |bytes: &[u8]| header.starts_with(bytes) || bytes.starts_with(header);
            path.ends_with("checksums.part") && begins(path, is_begun)
        };
        let is_nothing = |path: &Path| is_lock(path) || is_draft(path);
        let is_empty = entries.all(|entry| entry.is_ok_and(|entry| is_nothing(&entry.path())));
        Ok(if is_empty {
            Self::Nothing
        } else {
            Self::Foreign
        })
    }
}

/// Whether the first bytes of a file are as expected.
pub(super) fn begins(path: &Path, is_expected: impl Fn(&[u8]) -> bool) -> bool {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(64).read_to_end(&mut bytes));
    read.is_ok() && is_expected(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_run_leaves_that_was_killed_at_once_is_nothing() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(lock::NAME), "123\n").unwrap();
        let draft = folder.path().join("checksums.part");
        for (content, expected) in [
            ("", Holding::Nothing),
            ("percale chec", Holding::Nothing),
            (checksums::HEADER, Holding::Nothing),
            ("mine", Holding::Foreign),
        ] {
            fs::write(&draft, content).unwrap();
            assert_eq!(Holding::of(folder.path()).unwrap(), expected, "{content:?}");
        }
    }
}
