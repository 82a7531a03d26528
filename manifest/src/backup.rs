//! Backups: one consistent state of a store as a file of its own, made while the store is in use.

use std::ffi::OsString;
use std::fs::{File, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};

use crate::{Error, Result, database, private_file};

// As a reader: the writer goes on, and its log is folded into the database when the copy is done.
const COPY: &str = "VACUUM INTO ?1";

const INTEGRITY_CHECK: &str = "PRAGMA integrity_check(1)";

/// Copies the store in the SQLite file at `path` into a new file `to`, and says how many bytes that has. The store may be in
/// use, also by another process: the copy is of one state, with all that was committed when it began. It appears under its
/// name once it is whole, checked and durable; until then it is called `<to>.partial`.
///
/// # Errors
/// [`Error::NoStore`], [`Error::NotADatabase`], [`Error::ForeignDatabase`] or [`Error::NewerDatabase`] if there is no store
/// that can be copied; [`Error::FileExists`] if there is something at `to`; [`Error::Locked`] if another backup writes there;
/// [`Error::DamagedCopy`], [`Error::Sqlite`] or [`Error::File`] if the copy did not come about.
pub fn backup(path: &Path, to: &Path) -> Result<u64> {
    let exists = || Err(Error::FileExists { path: to.to_owned() });
    if to.exists() {
        return exists();
    }
    let partial = beside(to, ".partial");
    let held = hold(&partial)?;
    if let Err(error) = copy(path, &partial) {
        discard(&partial);
        return Err(error);
    }
    // A link is refused where there is a file by now, a renaming would replace it.
    match std::fs::hard_link(&partial, to) {
        Ok(()) => std::fs::remove_file(&partial).map_err(unusable(&partial))?,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            discard(&partial);
            return exists();
        }
        // Not every file system has links.
        Err(_) => std::fs::rename(&partial, to).map_err(unusable(to))?,
    }
    sync_folder_of(to)?;
    drop(held);
    Ok(std::fs::metadata(to).map_err(unusable(to))?.len())
}

/// Copies a store into the file `to`, which is emptied first, checks the copy and makes it durable. A copy that does not come
/// about leaves an empty file, which takes no room.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<()> {
    let source = open(from)?;
    let file = private_file::ensure(to).and_then(|file| file.set_len(0).map(|()| file)).map_err(unusable(to))?;
    let copied = fill(&source, to).and_then(|()| file.sync_all().map_err(unusable(to)));
    if copied.is_err()
        && let Err(error) = file.set_len(0)
    {
        tracing::warn!(%error, path = %to.display(), "what was copied is still there");
    }
    copied
}

fn fill(source: &Connection, to: &Path) -> Result<()> {
    remove_if_there(&beside(to, "-journal"))?;
    source.execute(COPY, [text(to)?])?;
    verify(to)
}

fn open(path: &Path) -> Result<Connection> {
    database::open_existing(path, OpenFlags::SQLITE_OPEN_READ_ONLY).map(|(connection, _)| connection)
}

fn verify(copy: &Path) -> Result<()> {
    let answer: String = open(copy)?.query_row(INTEGRITY_CHECK, [], |row| row.get(0))?;
    if answer == "ok" { Ok(()) } else { Err(Error::DamagedCopy { path: copy.to_owned(), message: answer }) }
}

/// Takes a file for oneself, which may be what a backup left that was killed.
fn hold(partial: &Path) -> Result<File> {
    let file = private_file::ensure(partial).map_err(unusable(partial))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Error::Locked { path: partial.to_owned() }),
        Err(TryLockError::Error(source)) => Err(unusable(partial)(source)),
    }
}

/// The path as SQLite takes it: whole, so that it is never read as a URI or as a name in memory.
fn text(path: &Path) -> Result<String> {
    let whole = std::path::absolute(path).map_err(unusable(path))?;
    let text = whole.into_os_string().into_string();
    text.map_err(|_| unusable(path)(io::Error::new(ErrorKind::InvalidInput, "the path is not UTF-8")))
}

/// The file beside another that is named after it.
pub(crate) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name: OsString = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

pub(crate) fn remove_if_there(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(unusable(path)(error)),
        _ => Ok(()),
    }
}

/// Removes a copy that is of no use, while another error is on its way, which this must not hide.
fn discard(partial: &Path) {
    if let Err(error) = remove_if_there(partial) {
        tracing::warn!(error = &error as &dyn std::error::Error, "a copy that is of no use is still there");
    }
}

/// Makes it durable which files there are beside this one.
pub(crate) fn sync_folder_of(path: &Path) -> Result<()> {
    let whole = std::path::absolute(path).map_err(unusable(path))?;
    let Some(folder) = whole.parent() else { return Ok(()) };
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(unusable(folder))
}

/// For `map_err`: a file that the operating system does not let us use.
pub(crate) fn unusable(path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::File { path, source }
}
