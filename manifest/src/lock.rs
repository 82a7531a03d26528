//! The file lock that keeps a second writing process out.
//!
//! It is the operating system's, so that it ends with the process however that ends; a row in the database would outlive
//! a kill.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

use crate::{Error, Result, backup};

/// Held as long as the store is open.
pub(crate) struct StoreLock {
    _file: File,
}

impl StoreLock {
    /// Locks the file `<database>.lock`, which stays there when the lock is gone.
    pub(crate) fn acquire(database: &Path) -> Result<Self> {
        let path = backup::beside(database, ".lock");
        let unusable = |source| Error::LockFile { path: path.clone(), source };
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path).map_err(unusable)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => Err(Error::Locked { path: database.to_owned() }),
            Err(TryLockError::Error(source)) => Err(unusable(source)),
        }
    }
}
