//! The file lock that keeps a second writing process out.
//!
//! It is the operating system's, so that it ends with the process however that ends; a row in the database would outlive
//! a kill.

use std::fs::{File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::{Error, Result, backup, private_file};

/// What the file holds once there was a store.
const MARK: &[u8] = b"prunus\n";

/// Held as long as the store is open.
pub(crate) struct StoreLock {
    file: File,
    path: PathBuf,
}

impl StoreLock {
    /// Locks the file `<database>.lock`, which stays there when the lock is gone.
    pub(crate) fn acquire(database: &Path) -> Result<Self> {
        let path = backup::beside(database, ".lock");
        let unusable = |source| Error::LockFile { path: path.clone(), source };
        let file = private_file::ensure(&path).map_err(unusable)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { file, path }),
            Err(TryLockError::WouldBlock) => Err(Error::Locked { path: database.to_owned() }),
            Err(TryLockError::Error(source)) => Err(unusable(source)),
        }
    }

    /// Whether there was a store before.
    pub(crate) fn is_marked(&self) -> Result<bool> {
        Ok(self.file.metadata().map_err(|source| self.unusable(source))?.len() > 0)
    }

    /// Notes that there is a store from now on. It works as well without the note, where there is no room for it, say.
    pub(crate) fn mark(&self) {
        if matches!(self.is_marked(), Ok(false)) {
            _ = (&self.file).write_all(MARK);
        }
    }

    fn unusable(&self, source: std::io::Error) -> Error {
        Error::LockFile { path: self.path.clone(), source }
    }
}
