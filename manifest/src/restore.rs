//! Restoring: a backup takes the place of a store, and what was there is moved aside.
//!
//! ```text
//! <database>.restoring   the copy of the backup, as long as it is not whole: nothing else has changed
//! <database>.restored    the whole copy, as long as the old store is moved aside: nobody may open what is there
//! <database>             the new store
//! ```
//! Each step is a renaming within one folder, so that a kill leaves the one state or the next.

use std::path::{Path, PathBuf};

use crate::backup::{self, beside, remove_if_there, sync_folder_of, unusable};
use crate::lock::StoreLock;
use crate::{Error, Result};

/// The copy while it is being made.
const RESTORING: &str = ".restoring";

/// The copy once it is whole.
const RESTORED: &str = ".restored";

/// What SQLite keeps beside a database and what is a part of it. Moved before the database itself: a log without its
/// database is never taken for that of another.
const LOGS: [&str; 2] = ["-wal", "-journal"];

/// An index into the log; SQLite makes it anew.
const SHARED_MEMORY: &str = "-shm";

/// What is done with a store that is where the backup is to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// It stays and nothing happens.
    Refuse,
    /// It is moved aside, and never deleted.
    MoveAside,
}

/// Puts the backup in the file `from` in the place of the store in the SQLite file at `path`. Says where the store is now
/// that was there. The backup itself is only read.
///
/// Killed at any moment it leaves the old store, the new one, or one that [`crate::Store::open`] refuses until this is run
/// again.
///
/// # Errors
/// [`Error::Locked`] if a process has the store open; [`Error::StoreExists`] if there is one that is to stay; [`Error::NoStore`],
/// [`Error::NotADatabase`], [`Error::ForeignDatabase`], [`Error::NewerDatabase`] or [`Error::DamagedCopy`] if `from` is no
/// backup that can be used; [`Error::LockFile`], [`Error::File`] or [`Error::Sqlite`] if files cannot be written.
pub fn restore(path: &Path, from: &Path, existing: Existing) -> Result<Option<PathBuf>> {
    let _lock = StoreLock::acquire(path)?;
    if existing == Existing::Refuse && path.exists() {
        return Err(Error::StoreExists { path: path.to_owned() });
    }
    let (restoring, restored) = (beside(path, RESTORING), beside(path, RESTORED));
    backup::copy(from, &restoring)?;
    rename(&restoring, &restored)?;
    let moved_to = move_aside(path)?;
    rename(&restored, path)?;
    Ok(moved_to)
}

/// Refuses a store that a killed restore has left between the old and the new one, and one that would be made anew where a
/// killed restore was to put one.
pub(crate) fn refuse_unfinished(path: &Path) -> Result<()> {
    let is_empty = || std::fs::metadata(path).map_or(true, |database| database.len() == 0);
    if beside(path, RESTORED).exists() || (beside(path, RESTORING).exists() && is_empty()) {
        return Err(Error::RestoreUnfinished { path: path.to_owned() });
    }
    Ok(())
}

fn move_aside(path: &Path) -> Result<Option<PathBuf>> {
    let there = |path: &Path| LOGS.map(|ending| beside(path, ending).exists());
    let old_logs = there(path);
    if !path.exists() && old_logs == [false; 2] {
        return Ok(None);
    }
    // The first name that is free. One that has a log and no database is free for the database of that log, which a
    // killed restore has not moved yet.
    let is_free = |aside: &PathBuf| {
        let taken = there(aside);
        !aside.exists() && !taken.iter().zip(old_logs).any(|(taken, old)| *taken && old)
    };
    let mut names = (1_u64..).map(|number| beside(path, &format!(".before-restore-{number}")));
    let Some(aside) = names.find(is_free) else { return Ok(None) };
    for ending in LOGS {
        let log = beside(path, ending);
        if log.exists() {
            rename(&log, &beside(&aside, ending))?;
        }
    }
    remove_if_there(&beside(path, SHARED_MEMORY))?;
    if path.exists() {
        rename(path, &aside)?;
    }
    Ok(Some(aside))
}

/// Renames a file, durably: what is done next is never there without it.
fn rename(from: &Path, to: &Path) -> Result<()> {
    std::fs::rename(from, to).map_err(unusable(from))?;
    sync_folder_of(to)
}
