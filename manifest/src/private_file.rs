//! Files that their owner alone reads: a store names every file of every table, and has bounds of what is in them.

use std::fs::{File, OpenOptions};
use std::io;
#[cfg(unix)]
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Who may read and write what is made here.
#[cfg(unix)]
const OWNER_ALONE: u32 = 0o600;

/// Opens a file for writing, as it is; one that is missing is made. What an operator has allowed on one that is there stays. SQLite
/// gives the log beside a database the mode of the database.
pub(crate) fn ensure(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true);
    #[cfg(unix)]
    options.mode(OWNER_ALONE);
    options.open(path)
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::{Existing, Store, backup, restore};

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_store_its_lock_and_its_copies_are_for_their_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let store = Store::open(&at("store.db")).unwrap();
        for name in ["store.db", "store.db.lock", "store.db-wal"] {
            assert_eq!(mode(&at(name)), OWNER_ALONE, "{name}");
        }
        drop(store);
        backup(&at("store.db"), &at("copy.db")).unwrap();
        restore(&at("restored.db"), &at("copy.db"), Existing::Refuse).unwrap();
        for name in ["copy.db", "restored.db"] {
            assert_eq!(mode(&at(name)), OWNER_ALONE, "{name}");
        }
    }

    #[test]
    fn what_is_allowed_on_a_file_that_is_there_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        drop(Store::open(&path).unwrap());
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
        drop(Store::open(&path).unwrap());
        assert_eq!(mode(&path), 0o640);
    }
}
