//! Whether the catalog can be worked with: its store answers, and its disk takes more.

use std::path::Path;
use std::sync::Arc;

use rustix::fs::{StatVfs, StatVfsMountFlags, statvfs};

use crate::catalog::Catalog;
use crate::{Error, blocking};

/// Why it cannot be worked with. None of it names a path.
#[derive(Debug, thiserror::Error)]
pub enum NotReady {
    /// The store does not answer, or is not what was opened.
    #[error("the server is not ready: its store does not answer")]
    Store(#[source] Error),
    /// Nobody can say how the disk is.
    #[error("the server is not ready: the disk of its catalog does not answer")]
    Disk(#[source] std::io::Error),
    /// Nothing can be written.
    #[error("the server is not ready: the disk of its catalog is read-only")]
    ReadOnly,
    /// The disk is full, or soon will be.
    #[error(
        "the server is not ready: the disk of its catalog has {free_bytes} free bytes, and {min_bytes} are to be free"
    )]
    Full {
        /// How much is free.
        free_bytes: u64,
        /// How much must be.
        min_bytes: u64,
    },
}

impl Catalog {
    /// That the store can be read and is what it was when it was opened, and that its disk can be written to and has as many free
    /// bytes as it is to have. Reads a page of it or two.
    ///
    /// # Errors
    /// [`NotReady`].
    pub async fn check_ready(&self) -> Result<(), NotReady> {
        self.read(|tx| Ok(tx.check_version()?)).await.map_err(NotReady::Store)?;
        let (folder, min_bytes) = (Arc::clone(&self.data_folder), self.free_bytes_min);
        let looked_at = blocking::attempt(move || check_disk(&folder, min_bytes)).await;
        looked_at.unwrap_or(Err(NotReady::Store(Error::Background)))
    }
}

fn check_disk(folder: &Path, min_bytes: u64) -> Result<(), NotReady> {
    let disk = statvfs(folder).map_err(|error| NotReady::Disk(error.into()))?;
    judge(&disk, min_bytes)
}

fn judge(disk: &StatVfs, min_bytes: u64) -> Result<(), NotReady> {
    if disk.f_flag.contains(StatVfsMountFlags::RDONLY) {
        return Err(NotReady::ReadOnly);
    }
    // What is kept back for the administrator is not for us.
    let free_bytes = disk.f_bavail.saturating_mul(disk.f_frsize);
    if free_bytes < min_bytes { Err(NotReady::Full { free_bytes, min_bytes }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CatalogOptions;

    async fn checked(free_bytes_min: u64) -> Result<(), NotReady> {
        let folder = tempfile::tempdir().unwrap();
        let options = CatalogOptions { free_bytes_min, ..CatalogOptions::default() };
        Catalog::open(folder.path(), options).await.unwrap().check_ready().await
    }

    #[tokio::test]
    async fn a_catalog_with_room_is_ready() {
        checked(1).await.unwrap();
    }

    #[tokio::test]
    async fn a_catalog_on_a_full_disk_is_not_ready() {
        let min_bytes = u64::MAX;
        assert!(
            matches!(checked(min_bytes).await, Err(NotReady::Full { min_bytes: u64::MAX, free_bytes }) if free_bytes > 0)
        );
    }

    #[test]
    fn a_disk_is_judged_by_what_is_free_and_how_it_is_mounted() {
        let folder = tempfile::tempdir().unwrap();
        let found = statvfs(folder.path()).unwrap();
        let disk = StatVfs { f_bavail: 10, f_frsize: 512, f_flag: StatVfsMountFlags::empty(), ..found };
        assert!(judge(&disk, 5_120).is_ok());
        assert!(matches!(judge(&disk, 5_121), Err(NotReady::Full { free_bytes: 5_120, min_bytes: 5_121 })));
        let read_only = StatVfs { f_flag: StatVfsMountFlags::RDONLY, ..disk };
        assert!(matches!(judge(&read_only, 0), Err(NotReady::ReadOnly)));
    }

    #[test]
    fn a_folder_that_is_gone_is_not_ready() {
        let gone = tempfile::tempdir().unwrap().path().join("none");
        assert!(matches!(check_disk(&gone, 0), Err(NotReady::Disk(_))));
    }
}
