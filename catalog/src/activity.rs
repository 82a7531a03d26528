//! What a catalog has done since it was opened, for those who watch it: plain counters, which cost a relaxed atomic each. The store
//! has its own ([`StoreActivity`]).

use std::sync::Arc;
use std::time::Duration;

use prunus_manifest::{AuditFinding, FindingKind, Histogram, Number, StoreActivity, StoreState};

use crate::blocking::JobTimes;
use crate::catalog::Catalog;
use crate::commit::Committed;
use crate::name::TableIdent;
use crate::plan::{PlanMetrics, PlanTimings};
use crate::storage::StorageActivity;
use crate::{Error, Result};

/// A plan, commit or request that takes longer is told of in the log, with what took the time.
pub const SLOW: Duration = Duration::from_secs(1);

/// What a catalog has done and is doing.
#[derive(Debug, Default)]
pub struct Activity {
    /// Plans.
    pub plans: PlanActivity,
    /// What plans have kept in memory.
    pub plan_cache: Arc<PlanCacheActivity>,
    /// Commits, and rollbacks, which are commits too.
    pub commits: CommitActivity,
    /// Audits.
    pub audits: AuditActivity,
    /// Requests to object stores, and files of this machine.
    pub storage: Arc<StorageActivity>,
    /// Commits that found what they need to know of their table in memory.
    pub heads_found: Number,
    /// Commits that had to read it.
    pub heads_missed: Number,
    /// Replies that were stored under the keys of their requests.
    pub replies_stored: Number,
    /// Requests that were answered as before.
    pub replies_replayed: Number,
}

/// What came of requests of a kind.
#[derive(Debug, Default)]
pub struct Outcomes {
    /// They were carried out.
    pub done: Number,
    /// They were refused for what they ask, or since too many others wait.
    pub refused: Number,
    /// They contradict what the table holds, or others were always faster.
    pub conflicting: Number,
    /// The server or an object store failed at them.
    pub failed: Number,
}

/// What plans have done. Later pages of a plan count for nothing.
#[derive(Debug)]
pub struct PlanActivity {
    /// How many there were.
    pub outcomes: Outcomes,
    /// How long resolving, binding and compiling took, in nanoseconds.
    pub bind_ns: Histogram,
    /// How long manifests took.
    pub manifests_ns: Histogram,
    /// How long column blocks and the tail took.
    pub files_ns: Histogram,
    /// How long the entries of the first files took.
    pub entries_ns: Histogram,
    /// How long all of it took.
    pub total_ns: Histogram,
    /// Manifests that were considered.
    pub manifests_considered: Number,
    /// Of these, manifests that were left out as a whole.
    pub manifests_pruned: Number,
    /// Live files of the snapshots.
    pub files_considered: Number,
    /// Of these, files that were left out.
    pub files_pruned: Number,
    /// Of these, files that were kept.
    pub files_kept: Number,
    /// Rows of the files that were left out.
    pub rows_pruned: Number,
    /// Rows of the files that were kept.
    pub rows_kept: Number,
    /// Bytes of the files that were left out.
    pub bytes_pruned: Number,
    /// Bytes of the files that were kept.
    pub bytes_kept: Number,
}

/// How often plans found in memory what they needed.
#[derive(Debug, Default)]
pub struct PlanCacheActivity {
    /// Parts that were found.
    pub hits: Number,
    /// Parts that were read from the store.
    pub misses: Number,
    /// Parts that were dropped for want of room.
    pub evictions: Number,
}

/// What commits have done. A transaction over several tables is one that makes several snapshots.
#[derive(Debug)]
pub struct CommitActivity {
    /// How many there were.
    pub outcomes: Outcomes,
    /// Snapshots that were made.
    pub snapshots: Number,
    /// Files that were added.
    pub files_added: Number,
    /// Files that were removed.
    pub files_removed: Number,
    /// How long it took to read the files of each, in nanoseconds.
    pub reading_ns: Histogram,
    /// How long each waited for the writer.
    pub waiting_ns: Histogram,
    /// How long each was in the writer's transaction until it was durable.
    pub writing_ns: Histogram,
}

/// What audits have done, those included that nobody asked for.
#[derive(Debug, Default)]
pub struct AuditActivity {
    /// Audits that run, when it was last looked.
    pub running: Number,
    /// Files that these have still to look at.
    pub files_left: Number,
    /// Tables with files that nobody has looked at in the background, when it was last looked.
    pub tables_due: Number,
    /// Files that were looked at.
    pub files_read: Number,
    /// Bytes that were read of them.
    pub bytes_read: Number,
    /// What was found, by [`AuditActivity::KINDS`].
    findings: [Number; AuditActivity::KINDS.len()],
}

/// How much there is of a catalog at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CatalogState {
    /// Bytes that what plans have read takes in memory.
    pub plan_cache_bytes: u64,
    /// How many parts that is.
    pub plan_cache_entries: u64,
    /// Plans that are kept for their later pages.
    pub kept_plans: usize,
    /// Bytes that these take.
    pub kept_plans_bytes: usize,
    /// Tables that commits have in memory.
    pub heads: usize,
    /// Snapshots that are held for answers that are read page by page.
    pub leases: usize,
    /// The store.
    pub store: StoreState,
    /// Bytes that are free on the disk of the store; `None` where it does not tell.
    pub disk_free_bytes: Option<u64>,
}

impl Catalog {
    /// What was done since the catalog was opened.
    pub fn activity(&self) -> &Activity {
        &self.activity
    }

    /// What its store has done since.
    pub fn store_activity(&self) -> &StoreActivity {
        self.store.activity()
    }

    /// How much there is of the catalog now. Reads no table; asks the file system for the sizes of two files and of the disk.
    pub fn state(&self) -> CatalogState {
        let (plan_cache_entries, plan_cache_bytes) = self.plan_cache.size();
        let (kept_plans, kept_plans_bytes) = self.plan_cache.kept_plans_size();
        let disk = rustix::fs::statvfs(self.store.path()).ok();
        CatalogState {
            plan_cache_bytes,
            plan_cache_entries,
            kept_plans,
            kept_plans_bytes,
            heads: self.heads.len(),
            leases: self.leases.count(self.clock.now_ms()),
            store: self.store.state(),
            disk_free_bytes: disk.map(|disk| disk.f_bavail.saturating_mul(disk.f_frsize)),
        }
    }
}

impl Outcomes {
    /// Counts what came of a request.
    pub(crate) fn count<T>(&self, outcome: &Result<T>) {
        let number = match outcome {
            // Nobody waited for what would have come of it.
            Err(Error::Cancelled) => return,
            Ok(_) => &self.done,
            Err(error) => self.of_error(error),
        };
        number.add(1);
    }

    fn of_error(&self, error: &Error) -> &Number {
        match error {
            Error::NotFound { .. }
            | Error::Misnamed { .. }
            | Error::Expired { .. }
            | Error::AlreadyExists { .. }
            | Error::NamespaceNotEmpty(_)
            | Error::KeyReused
            | Error::Invalid(_)
            | Error::Filter(_)
            | Error::Forbidden(_)
            | Error::TooMany { .. }
            | Error::Overloaded { .. }
            | Error::Cancelled
            | Error::ForeignPageToken => &self.refused,
            Error::Conflict { .. } | Error::SchemaMoved | Error::HeadMoved => &self.conflicting,
            Error::OfTable { source, .. } => self.of_error(source),
            Error::StorageUnavailable { .. }
            | Error::StoreFull(_)
            | Error::Store(_)
            | Error::StoredSchema
            | Error::StoredGrant(_)
            | Error::ZoneMaps(_)
            | Error::Reply(_)
            | Error::NoRandomness
            | Error::Background => &self.failed,
        }
    }
}

impl Default for PlanActivity {
    fn default() -> Self {
        Self {
            outcomes: Outcomes::default(),
            bind_ns: Histogram::of_durations(),
            manifests_ns: Histogram::of_durations(),
            files_ns: Histogram::of_durations(),
            entries_ns: Histogram::of_durations(),
            total_ns: Histogram::of_durations(),
            manifests_considered: Number::default(),
            manifests_pruned: Number::default(),
            files_considered: Number::default(),
            files_pruned: Number::default(),
            files_kept: Number::default(),
            rows_pruned: Number::default(),
            rows_kept: Number::default(),
            bytes_pruned: Number::default(),
            bytes_kept: Number::default(),
        }
    }
}

impl PlanActivity {
    /// Counts a plan that was made, and tells of one that was slow.
    pub(crate) fn record(&self, ident: &TableIdent, metrics: &PlanMetrics) {
        let PlanTimings { bind, manifests, files, entries, total } = metrics.timings;
        self.bind_ns.observe_duration(bind);
        self.manifests_ns.observe_duration(manifests);
        self.files_ns.observe_duration(files);
        self.entries_ns.observe_duration(entries);
        self.total_ns.observe_duration(total);
        self.manifests_considered.add(metrics.manifests_considered);
        self.manifests_pruned.add(metrics.manifests_pruned);
        self.files_considered.add(metrics.files_considered);
        self.files_pruned.add(metrics.files_pruned);
        self.files_kept.add(metrics.files_kept);
        self.rows_pruned.add(metrics.rows_pruned);
        self.rows_kept.add(metrics.rows_kept);
        self.bytes_pruned.add(metrics.bytes_pruned);
        self.bytes_kept.add(metrics.bytes_kept);
        if total >= SLOW {
            let PlanMetrics { files_considered, parts_read, parts_cached, .. } = metrics;
            tracing::warn!(
                table = %ident, ?total, ?bind, ?manifests, ?files, ?entries, files_considered, parts_read, parts_cached,
                "a plan was slow"
            );
        }
    }
}

impl Default for CommitActivity {
    fn default() -> Self {
        Self {
            outcomes: Outcomes::default(),
            snapshots: Number::default(),
            files_added: Number::default(),
            files_removed: Number::default(),
            reading_ns: Histogram::of_durations(),
            waiting_ns: Histogram::of_durations(),
            writing_ns: Histogram::of_durations(),
        }
    }
}

impl CommitActivity {
    /// Counts the time that the files of a commit took, and tells of one that was slow.
    pub(crate) fn record_reading(&self, reading: Duration) {
        self.reading_ns.observe_duration(reading);
        if reading >= SLOW {
            tracing::warn!(?reading, "a commit was slow: its files took long to read");
        }
    }

    /// Counts the time that a commit took from when it was ready, and tells of one that was slow.
    pub(crate) fn record_writing(&self, JobTimes { waiting, writing }: JobTimes) {
        self.waiting_ns.observe_duration(waiting);
        self.writing_ns.observe_duration(writing);
        if waiting + writing >= SLOW {
            tracing::warn!(?waiting, ?writing, "a commit was slow: it waited for the writer, or that for the disk");
        }
    }

    /// Counts and tells what a commit has done to one table.
    pub(crate) fn record(&self, table: &TableIdent, committed: &Committed) {
        let Committed { snapshot_id, added_files, removed_files, .. } = committed;
        self.snapshots.add(1);
        self.files_added.add(*added_files);
        self.files_removed.add(*removed_files);
        tracing::info!(%table, %snapshot_id, added_files, removed_files, "committed");
    }
}

impl AuditActivity {
    /// The kinds of findings.
    pub const KINDS: [FindingKind; 5] = [
        FindingKind::Missing,
        FindingKind::Changed,
        FindingKind::Unreadable,
        FindingKind::Refuted,
        FindingKind::Schema,
    ];

    /// How many findings of each kind there were.
    pub fn findings(&self) -> impl Iterator<Item = (FindingKind, u64)> + '_ {
        Self::KINDS.into_iter().zip(&self.findings).map(|(kind, found)| (kind, found.get()))
    }

    pub(crate) fn record_finding(&self, finding: &AuditFinding) {
        let mut counted = Self::KINDS.iter().zip(&self.findings);
        if let Some((_, found)) = counted.find(|(kind, _)| **kind == finding.kind) {
            found.add(1);
        }
    }
}
