//! The journal: who changed what.
//!
//! A job of the writer that a request asked for says what it changed ([`Made`]), and the entry is written beside the change
//! ([`Catalog::write_once`]), so that no use case can leave it out. What takes many transactions has an entry that grows
//! ([`GrowingEntry`]).

use std::sync::Arc;
use std::time::Duration;

use prunus_manifest::{
    GrowingEntry, JournalDetail, JournalEntry, JournalFilter, JournalId, JournalPage, ReadTransaction, Role,
    SnapshotId, WriteTransaction,
};
use serde_json::Value;
use tokio::time::sleep;

use crate::Result;
use crate::access::{Places, Principal};
use crate::actor::Actor;
use crate::catalog::Catalog;
use crate::name::{NamespaceName, TableIdent};
use crate::page::PageSize;

/// What the journal calls the name that a table was given, and the one that it had before. They are left out for those who do not
/// see what is in the namespace.
pub(crate) const RENAMED_TO: &str = "renamed_to";
pub(crate) const RENAMED_FROM: &str = "renamed_from";

const MS_PER_DAY: i64 = 24 * 60 * 60 * 1000;

/// How often it is looked for entries that are too old.
const LOOKED_FOR: Duration = Duration::from_mins(10);

/// How many entries one transaction deletes at most.
const MAX_PER_STEP: u32 = 1_000;

/// How many bytes of names a list in a detail has, about.
const MAX_LISTED_BYTES: usize = 1_000;

/// What came of a job of the writer that was asked for: its outcome, and the changes that it made, for the journal.
pub(crate) struct Made<T> {
    outcome: T,
    changes: Vec<Change>,
}

impl<T> Made<T> {
    /// One change was made.
    pub(crate) fn change(outcome: T, change: Change) -> Self {
        Self { outcome, changes: vec![change] }
    }

    /// These changes were made.
    pub(crate) fn changes(outcome: T, changes: Vec<Change>) -> Self {
        Self { outcome, changes }
    }

    /// All was so already: nothing was changed, and there is nothing to tell.
    pub(crate) fn nothing(outcome: T) -> Self {
        Self { outcome, changes: Vec::new() }
    }
}

/// A change, as the journal is told of it.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    operation: &'static str,
    namespace: Option<String>,
    table: Option<String>,
    from_snapshot: Option<SnapshotId>,
    to_snapshot: Option<SnapshotId>,
    detail: JournalDetail,
}

impl Change {
    /// Of the catalog as a whole. `operation` is what the API calls it.
    pub(crate) fn of_catalog(operation: &'static str) -> Self {
        Self {
            operation,
            namespace: None,
            table: None,
            from_snapshot: None,
            to_snapshot: None,
            detail: JournalDetail::new(),
        }
    }

    /// Of a namespace.
    pub(crate) fn of_namespace(operation: &'static str, namespace: &NamespaceName) -> Self {
        Self { namespace: Some(namespace.as_str().to_owned()), ..Self::of_catalog(operation) }
    }

    /// Of a table.
    pub(crate) fn of_table(operation: &'static str, ident: &TableIdent) -> Self {
        Self { table: Some(ident.name.as_str().to_owned()), ..Self::of_namespace(operation, &ident.namespace) }
    }

    /// The same with the snapshot before it.
    pub(crate) fn from(self, snapshot_id: SnapshotId) -> Self {
        Self { from_snapshot: Some(snapshot_id), ..self }
    }

    /// The same with the snapshot after it.
    pub(crate) fn to(self, snapshot_id: SnapshotId) -> Self {
        Self { to_snapshot: Some(snapshot_id), ..self }
    }

    /// The same with something more to say. No secret and nothing of the data: whoever may read the journal reads it.
    pub(crate) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.detail.insert(name.to_owned(), value.into());
        self
    }

    /// The same with a count, unless it is 0.
    pub(crate) fn with_count(self, name: &str, count: u64) -> Self {
        if count == 0 { self } else { self.with(name, count) }
    }

    /// The same with texts, as many as are short together, and how many more there are.
    pub(crate) fn with_list(self, name: &str, texts: &[String]) -> Self {
        let mut bytes = 0;
        let is_short = |text: &&String| {
            bytes += text.len();
            bytes <= MAX_LISTED_BYTES
        };
        let mut listed: Vec<String> = texts.iter().take_while(is_short).cloned().collect();
        if listed.len() < texts.len() {
            listed.push(format!("and {} more", texts.len() - listed.len()));
        }
        if listed.is_empty() { self } else { self.with(name, listed) }
    }
}

/// Who makes changes, and when.
#[derive(Clone)]
pub(crate) struct Scribe {
    actor: Arc<Actor>,
    now_ms: i64,
}

impl Scribe {
    fn entry(&self, change: Change) -> JournalEntry {
        JournalEntry {
            at_ms: self.now_ms,
            principal: self.actor.principal.clone(),
            request_id: self.actor.request_id.clone(),
            operation: change.operation.into(),
            namespace: change.namespace,
            table: change.table,
            from_snapshot: change.from_snapshot,
            to_snapshot: change.to_snapshot,
            detail: change.detail,
        }
    }

    /// Tells of the changes in the transaction that they were made in.
    pub(crate) fn write<T>(&self, tx: &WriteTransaction<'_>, made: Made<T>) -> Result<T> {
        for change in made.changes {
            tx.append_journal(&self.entry(change))?;
        }
        Ok(made.outcome)
    }

    /// The entry of a change that takes several transactions.
    pub(crate) fn growing(&self, change: Change) -> GrowingEntry {
        GrowingEntry::new(self.entry(change))
    }
}

impl Catalog {
    /// Who makes changes through this clone now.
    pub(crate) fn scribe(&self) -> Scribe {
        self.scribe_at(self.clock.now_ms())
    }

    /// The same at this time, in milliseconds since 1970-01-01T00:00Z.
    pub(crate) fn scribe_at(&self, now_ms: i64) -> Scribe {
        Scribe { actor: Arc::clone(&self.actor), now_ms }
    }

    /// A page of what the principal may see of the journal, as an admin, newest first, from the first entry before `before`. With a
    /// filter, and where entries have much to say, a page may be short of its size and still not be the last.
    ///
    /// # Errors
    /// [`Error::TooMany`](crate::Error::TooMany), [`Error::Store`](crate::Error::Store).
    pub async fn list_journal(
        &self,
        mut filter: JournalFilter,
        before: Option<JournalId>,
        page_size: PageSize,
    ) -> Result<JournalPage> {
        if let Places::Within(namespaces) = self.principal.places(Role::Admin) {
            filter.visible = Some(namespaces.iter().map(|namespace| namespace.as_str().to_owned()).collect());
        }
        // With a filter that few fit, many entries are looked at.
        let list = move |tx: &ReadTransaction<'_>| Ok(tx.list_journal(&filter, before, page_size.get())?);
        let mut page = self.read_in_turn(move |tx, _| list(tx)).await?;
        page.rows.iter_mut().for_each(|row| leave_out_unseen(&self.principal, &mut row.entry.detail));
        Ok(page)
    }

    /// Deletes entries of the journal that are older than what is kept, a few at a time, for as long as it is polled. A server
    /// runs it once beside answering.
    pub async fn run_journal_retention(&self) {
        if self.journal_days == 0 {
            return;
        }
        loop {
            if let Err(error) = self.forget_journal().await {
                tracing::error!(
                    error = &error as &dyn std::error::Error,
                    "old entries of the journal were not deleted"
                );
            }
            sleep(LOOKED_FOR).await;
        }
    }

    /// Deletes all that is older than this, up to the first entries that are not.
    async fn forget_journal(&self) -> Result<()> {
        let before_ms = self.clock.now_ms().saturating_sub(MS_PER_DAY.saturating_mul(self.journal_days.into()));
        while self.write(move |tx| Ok(tx.forget_journal(before_ms, MAX_PER_STEP)?)).await? > 0 {}
        Ok(())
    }
}

/// Takes names of tables out of a detail whose namespaces the principal does not see.
fn leave_out_unseen(principal: &Principal, detail: &mut JournalDetail) {
    for name in [RENAMED_TO, RENAMED_FROM] {
        let table = detail.get(name).and_then(Value::as_str);
        let namespace = table.and_then(|table| table.rsplit_once('.')).map(|(namespace, _)| namespace);
        if namespace.is_some_and(|namespace| !principal.sees(namespace)) {
            detail.remove(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, Ordering};

    use uuid::Uuid;

    use super::*;
    use crate::{CatalogOptions, Clock, SystemClock};

    /// Stands still until it is moved.
    #[derive(Debug, Default)]
    struct SetClock(AtomicI64);

    impl Clock for SetClock {
        fn now_ms(&self) -> i64 {
            self.0.load(Ordering::Relaxed)
        }

        fn new_uuid(&self) -> Uuid {
            SystemClock.new_uuid()
        }
    }

    async fn entries(catalog: &Catalog) -> Vec<JournalEntry> {
        let page = catalog.list_journal(JournalFilter::default(), None, PageSize::default()).await.unwrap();
        page.rows.into_iter().map(|row| row.entry).collect()
    }

    async fn create(catalog: &Catalog, name: &str) {
        catalog.create_namespace(name.parse().unwrap(), [].into()).await.unwrap();
    }

    #[tokio::test]
    async fn a_change_is_that_of_who_asked_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let options = CatalogOptions { clock: Arc::new(SetClock(77.into())), ..CatalogOptions::default() };
        let catalog = Catalog::open(folder.path(), options).await.unwrap();
        create(&catalog.acting_as(Actor { principal: "ann".to_owned(), request_id: "r-1".to_owned() }), "a").await;
        create(&catalog, "b").await;
        let told: Vec<_> =
            entries(&catalog).await.into_iter().map(|told| (told.principal, told.request_id, told.at_ms)).collect();
        let by = |principal: &str, request_id: &str| (principal.to_owned(), request_id.to_owned(), 77);
        assert_eq!(told, [by("", ""), by("ann", "r-1")]);
    }

    #[tokio::test]
    async fn entries_go_when_they_are_older_than_what_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(SetClock::default());
        let options =
            CatalogOptions { clock: Arc::<SetClock>::clone(&clock), journal_days: 2, ..CatalogOptions::default() };
        let catalog = Catalog::open(folder.path(), options).await.unwrap();
        for name in ["a", "b", "c"] {
            create(&catalog, name).await;
            clock.0.fetch_add(MS_PER_DAY, Ordering::Relaxed);
        }
        // The first is three days old, and the second two, which is not older than two.
        catalog.forget_journal().await.unwrap();
        let left: Vec<_> = entries(&catalog).await.into_iter().map(|told| told.namespace.unwrap()).collect();
        assert_eq!(left, ["c", "b"]);
    }

    #[test]
    fn a_long_list_is_cut_and_says_so() {
        let name = "x".repeat(MAX_LISTED_BYTES / 2);
        let listed = |names: usize| {
            let change = Change::of_catalog("x").with_list("names", &vec![name.clone(); names]);
            change.detail.get("names").map(|names| names.as_array().unwrap().len())
        };
        assert_eq!((listed(0), listed(2), listed(3)), (None, Some(2), Some(3)));
        let change = Change::of_catalog("x").with_list("names", &vec![name; 5]);
        assert_eq!(change.detail["names"][2], "and 3 more");
    }
}
