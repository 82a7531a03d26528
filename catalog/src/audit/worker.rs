//! The task that works on audits that were asked for, a step of each in turn. One whose store does not answer rests, and in
//! the end it fails.

use std::collections::HashMap;
use std::error::Error as _;
use std::hash::Hash;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures::FutureExt;
use prunus_manifest::{AuditEnd, AuditId, AuditRow};
use tokio::time::{Instant, sleep};

use super::background::Background;
use super::reach::Attempt;
use crate::catalog::Catalog;
use crate::storage::StorageError;
use crate::{Error, Result};

/// How long nothing is looked for after nothing was found, where nobody tells that there is something.
pub(super) const IDLE: Duration = Duration::from_secs(10);
/// How long is waited after the first failure; each further one doubles it.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// How long is waited at most.
const MAX_PAUSE: Duration = Duration::from_mins(10);
/// After how many failures in a row an audit fails.
const MAX_FAILURES: u32 = 8;

/// What failed in its last step, how often in a row, and until when it rests.
#[derive(Debug)]
pub(super) struct Resting<K>(HashMap<K, (u32, Instant)>);

/// The task's memory. What matters stands in the store.
struct Worker<'c> {
    catalog: &'c Catalog,
    resting: Resting<AuditId>,
}

impl Catalog {
    /// Works on all audits, also on those that an earlier server has begun, and in the background; for as long as it is polled.
    /// A server runs it once beside answering.
    pub async fn run_audits(&self) {
        let worker = Worker { catalog: self, resting: Resting::default() };
        tokio::join!(worker.run(), Background::new(self).run());
    }
}

impl Worker<'_> {
    async fn run(mut self) {
        loop {
            let pause = self.work().await;
            tokio::select! {
                () = sleep(pause) => {}
                () = self.catalog.audits_begun.notified() => {}
            }
        }
    }

    /// Takes all audits that do not rest a step further; says how long to wait then.
    async fn work(&mut self) -> Duration {
        let running = match self.catalog.read(|tx| Ok(tx.list_running_audits()?)).await {
            Ok(running) => running,
            Err(error) => {
                log("audits cannot be listed", &error);
                return IDLE;
            }
        };
        let left = |audit: &AuditRow| audit.begun.files_total.saturating_sub(audit.counts.files_checked);
        self.catalog.activity.audits.running.set(running.len() as u64);
        self.catalog.activity.audits.files_left.set(running.iter().map(left).sum());
        self.resting.retain(|audit_id| running.iter().any(|audit| audit.audit_id == *audit_id));
        let mut pause = IDLE;
        for audit in &running {
            if let Some(left) = self.resting.time_left(audit.audit_id) {
                pause = pause.min(left);
            } else {
                self.step(audit).await;
                pause = Duration::ZERO;
            }
        }
        pause
    }

    async fn step(&mut self, audit: &AuditRow) {
        let audit_id = audit.audit_id;
        let attempt = self.resting.attempt(audit_id);
        match guarded(self.catalog.step(audit, attempt)).await {
            Ok(()) => self.resting.forget(audit_id),
            // The table, and the audit with it.
            Err(Error::NotFound { .. }) => {}
            Err(error) if may_pass(&error) && attempt == Attempt::First => {
                tracing::warn!(%audit_id, error = chain(&error), "an audit cannot go on for now");
                self.resting.add(audit_id);
            }
            Err(error) => {
                tracing::warn!(%audit_id, error = chain(&error), "an audit cannot go on");
                // So that it is not tried without end where its end cannot be written.
                self.resting.add(audit_id);
                self.fail(audit, message_of(&error)).await;
            }
        }
    }

    async fn fail(&self, audit: &AuditRow, message: String) {
        let (table_id, audit_id, now_ms) = (audit.begun.table_id, audit.audit_id, self.catalog.clock.now_ms());
        let end = move |tx: &prunus_manifest::WriteTransaction<'_>| {
            tx.end_audit(table_id, audit_id, AuditEnd::Failed { message: message.clone() }, now_ms)?;
            Ok(())
        };
        match self.catalog.write(end).await {
            Ok(()) | Err(Error::NotFound { .. }) => {}
            Err(error) => log("an audit cannot be ended", &error),
        }
    }
}

/// The outcome of work that may panic: one audit must not end all others.
pub(super) async fn guarded<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    AssertUnwindSafe(work).catch_unwind().await.unwrap_or(Err(Error::Background))
}

/// Whether the same may succeed later.
fn may_pass(error: &Error) -> bool {
    match error {
        Error::StorageUnavailable { source, .. } => source.is_retryable(),
        Error::StoreFull(_) => true,
        _ => false,
    }
}

/// Why an audit failed, for those who asked for it.
fn message_of(error: &Error) -> String {
    match error {
        Error::StorageUnavailable { source: StorageError::Unavailable(_) | StorageError::TooSlow, .. } => {
            error.to_string()
        }
        Error::StorageUnavailable { source, .. } => format!("{error}: {source}"),
        _ => error.to_string(),
    }
}

impl<K> Default for Resting<K> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<K: Copy + Eq + Hash> Resting<K> {
    pub(super) fn retain(&mut self, is_kept: impl Fn(&K) -> bool) {
        self.0.retain(|key, _| is_kept(key));
    }

    /// How long something rests still; `None` if it does not.
    pub(super) fn time_left(&self, key: K) -> Option<Duration> {
        let (_, until) = self.0.get(&key)?;
        Some(until.saturating_duration_since(Instant::now())).filter(|left| !left.is_zero())
    }

    /// Which attempt the next one is.
    pub(super) fn attempt(&self, key: K) -> Attempt {
        let failures = self.0.get(&key).map_or(0, |(failures, _)| *failures);
        if failures + 1 < MAX_FAILURES { Attempt::First } else { Attempt::Last }
    }

    /// Lets something rest that failed, longer each time.
    pub(super) fn add(&mut self, key: K) {
        let failures = self.0.get(&key).map_or(0, |(failures, _)| *failures).saturating_add(1);
        self.0.insert(key, (failures, Instant::now() + pause_after(failures)));
    }

    pub(super) fn forget(&mut self, key: K) {
        self.0.remove(&key);
    }

    /// When the first of these rests no more, in how long.
    pub(super) fn first_end(&self) -> Option<Duration> {
        self.0.keys().filter_map(|key| self.time_left(*key)).min()
    }
}

fn pause_after(failures: u32) -> Duration {
    FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(failures.saturating_sub(1))).min(MAX_PAUSE)
}

/// A failure with its causes.
pub(super) fn chain(error: &Error) -> String {
    let causes = std::iter::successors(error.source(), |cause: &&(dyn std::error::Error + 'static)| (**cause).source());
    causes.fold(error.to_string(), |chain, cause| format!("{chain}: {cause}"))
}

pub(super) fn log(what: &'static str, error: &Error) {
    tracing::warn!(error = chain(error), "{what}");
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use prunus_manifest::{AuditMode, AuditState, Operation};
    use prunus_pruner::NanOrder;

    use super::*;
    use crate::audit::AuditRequest;
    use crate::commit::{AddedFile, CommitRequest};
    use crate::{CatalogOptions, FieldJson, NewTable, Once, SchemaSource, TableIdent};

    /// A table with files that nobody has read.
    async fn with_files(catalog: &Catalog, paths: &[String]) -> TableIdent {
        let ident: TableIdent = "n.t".parse().unwrap();
        catalog.create_namespace("n".parse().unwrap(), BTreeMap::new()).await.unwrap();
        let field: FieldJson = serde_json::from_str(r#"{"name": "a", "type": "int64"}"#).unwrap();
        let new = NewTable {
            ident: ident.clone(),
            schema: SchemaSource::Fields(vec![field.to_new_field().unwrap()]),
            location: None,
            cluster_by: None,
            properties: BTreeMap::from([("verification".to_owned(), "declared".to_owned())]),
        };
        catalog.create_table(new).await.unwrap();
        let file = |path: &String| AddedFile { path: path.clone(), size_bytes: Some(1), ..AddedFile::default() };
        let commit = CommitRequest {
            operation: Operation::Append,
            base_snapshot: None,
            add: paths.iter().map(file).collect(),
            remove: Vec::new(),
            filter: None,
            nan_order: NanOrder::Any,
            summary: BTreeMap::new(),
        };
        catalog.commit(ident.clone(), commit).await.unwrap();
        ident
    }

    #[tokio::test]
    async fn an_audit_whose_store_never_answers_fails_with_a_message() {
        let folder = tempfile::tempdir().unwrap();
        let catalog = Catalog::open(folder.path(), CatalogOptions::default()).await.unwrap();
        // Nobody listens there any more.
        let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let paths = ["a", "b"].map(|name| format!("http://{address}/{name}"));
        let ident = with_files(&catalog, &paths).await;
        let request = AuditRequest { mode: AuditMode::Footer, sample: 1.0, repair: false };
        let audit = catalog.start_audit(ident, request, Once::unkeyed()).await.unwrap().of_unkeyed();
        let mut worker = Worker { catalog: &catalog, resting: Resting::default() };
        worker.resting.0.insert(audit.audit_id, (MAX_FAILURES - 1, Instant::now()));
        worker.work().await;
        let table_id = audit.begun.table_id;
        let ended = catalog.read(move |tx| Ok(tx.load_audit(table_id, audit.audit_id)?)).await.unwrap();
        let messages = paths.map(|path| format!("the object store failed for `{path}`: connection refused"));
        let AuditState::Failed { message } = ended.state else { panic!("{ended:?}") };
        assert!(messages.contains(&message), "{message}");
    }

    #[test]
    fn each_failure_doubles_the_pause_up_to_a_limit() {
        let pauses: Vec<u64> = [1, 2, 3, 8, 10, 11, u32::MAX].map(|failures| pause_after(failures).as_secs()).into();
        assert_eq!(pauses, [1, 2, 4, 128, 512, 600, 600]);
    }

    /// Within which whole pauses the time lies that something rests still.
    fn pauses_left(resting: &Resting<i32>, key: i32) -> Option<u128> {
        Some(resting.time_left(key)?.as_millis().div_ceil(FIRST_PAUSE.as_millis()))
    }

    #[test]
    fn what_failed_rests_until_its_pause_is_over() {
        let mut resting = Resting::default();
        resting.add(7);
        assert_eq!((pauses_left(&resting, 7), pauses_left(&resting, 8)), (Some(1), None));
        resting.0.insert(9, (1, Instant::now()));
        assert_eq!(pauses_left(&resting, 9), None);
        resting.add(7);
        assert_eq!(pauses_left(&resting, 7), Some(2));
        resting.forget(7);
        resting.add(7);
        assert_eq!(pauses_left(&resting, 7), Some(1));
    }

    #[test]
    fn the_last_attempt_comes_after_so_many_failures() {
        let mut resting = Resting::default();
        for _ in 1..MAX_FAILURES {
            assert_eq!(resting.attempt(7), Attempt::First);
            resting.add(7);
        }
        assert_eq!(resting.attempt(7), Attempt::Last);
    }
}
