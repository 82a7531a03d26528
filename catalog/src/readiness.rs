//! Whether the catalog can be worked with: its store answers, and its disk takes more.

use std::path::Path;
use std::sync::Arc;

use std::time::Duration;

use rustix::fs::{StatVfs, StatVfsMountFlags, statvfs};
use tokio::sync::{Mutex, Semaphore};
use tokio::time::{Instant, timeout};

use crate::catalog::Catalog;
use crate::{Error, blocking};

/// How long the store and its disk have to answer: who asks wants to know soon, and a disk that hangs never does.
const MAX_CHECK_TIME: Duration = Duration::from_secs(2);
/// How long an outcome is told again. Anyone may ask, as often as they like.
const KEPT: Duration = Duration::from_secs(1);

/// The last look at the store and its disk. There is one at a time, which takes no other read's turn.
pub(crate) struct Readiness {
    kept: Mutex<Option<(Instant, Result<(), NotReady>)>>,
    /// Is had by the look itself, also when nobody waits for it any more: a disk that hangs has one thread and no more.
    look: Arc<Semaphore>,
}

/// Why it cannot be worked with. None of it names a path.
#[derive(Clone, Debug, thiserror::Error)]
pub enum NotReady {
    /// The store does not answer, or is not what was opened.
    #[error("the server is not ready: its store does not answer")]
    Store(#[source] Arc<Error>),
    /// Nobody can say how the disk is.
    #[error("the server is not ready: the disk of its catalog does not answer")]
    Disk(#[source] Arc<std::io::Error>),
    /// They have not answered yet.
    #[error("the server is not ready: its store, or the disk of its catalog, takes too long to answer")]
    Slow,
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
    /// bytes as it is to have. Reads a page of it or two, at most once a second, and answers within a few seconds.
    ///
    /// # Errors
    /// [`NotReady`].
    pub async fn check_ready(&self) -> Result<(), NotReady> {
        let readiness = &self.admission.readiness;
        // Who comes meanwhile is told the same: it is never had for longer than a look may take.
        let mut kept = readiness.kept.lock().await;
        if let Some((looked_at, outcome)) = &*kept
            && looked_at.elapsed() < KEPT
        {
            return outcome.clone();
        }
        let looking = self.look(Arc::clone(&readiness.look));
        let outcome = timeout(MAX_CHECK_TIME, looking).await.unwrap_or(Err(NotReady::Slow));
        *kept = Some((Instant::now(), outcome.clone()));
        outcome
    }

    async fn look(&self, turn: Arc<Semaphore>) -> Result<(), NotReady> {
        let failed = |error| NotReady::Store(Arc::new(error));
        // It is never closed.
        let turn = turn.acquire_owned().await.map_err(|_| failed(Error::Background))?;
        let catalog = self.clone();
        let looked_at = blocking::attempt(move || {
            let _turn = turn;
            catalog.read_here(|tx| Ok(tx.check_version()?)).map_err(failed)?;
            check_disk(&catalog.data_folder, catalog.free_bytes_min)
        });
        looked_at.await.unwrap_or_else(|| Err(failed(Error::Background)))
    }
}

impl Default for Readiness {
    fn default() -> Self {
        Self { kept: Mutex::default(), look: Arc::new(Semaphore::new(1)) }
    }
}

fn check_disk(folder: &Path, min_bytes: u64) -> Result<(), NotReady> {
    let disk = statvfs(folder).map_err(|error| NotReady::Disk(Arc::new(error.into())))?;
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
    use crate::admission::MAX_READS_AT_ONCE;

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

    #[tokio::test]
    async fn a_look_that_hangs_is_not_waited_for_and_none_is_begun_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let catalog = Catalog::open(folder.path(), CatalogOptions::default()).await.unwrap();
        let hangs = Arc::clone(&catalog.admission.readiness.look).acquire_owned().await.unwrap();
        assert!(matches!(catalog.check_ready().await, Err(NotReady::Slow)));
        drop(hangs);
        assert!(matches!(catalog.check_ready().await, Err(NotReady::Slow)), "the outcome is kept");
        *catalog.admission.readiness.kept.lock().await = None;
        catalog.check_ready().await.unwrap();
    }

    #[tokio::test]
    async fn readiness_takes_no_turn_of_short_reads() {
        let folder = tempfile::tempdir().unwrap();
        let catalog = Catalog::open(folder.path(), CatalogOptions::default()).await.unwrap();
        let mut turns = Vec::new();
        for _ in 0..MAX_READS_AT_ONCE {
            turns.push(catalog.admission.read().await.unwrap());
        }
        catalog.check_ready().await.unwrap();
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
