//! Plans: which files of a snapshot can hold a row that a filter matches.
//!
//! The way of a plan: resolve the snapshot, bind the filter to its schema, compile it once ([`prepare`]); prune manifests by
//! their zones, then files by their column blocks, then the tail ([`passes`]); and only then read the entries of the files
//! that are left, a page of them. All this up to the first chunk of the page happens in one read transaction. Later chunks are
//! read in their own: entries are never changed, so these may see a later state. Only if the snapshot was expired in between
//! may they be gone, and then the plan is made anew; an entry that is gone though its snapshot is there was lost, which is a
//! failure of the store.

#[cfg(test)]
mod cancel_tests;
mod explain;
mod filter;
mod kept;
mod metrics;
mod overlap;
mod page;
mod passes;
mod prepare;

use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use prunus_manifest::{
    Error as StoreError, FileId, Operation, ReadTransaction, SchemaId, SnapshotId, SnapshotRow, TableId, TableRow,
    Totals,
};
use prunus_pruner::{FilterError, NanOrder, Verdict};
use prunus_statistics::FieldId;

use crate::admission::Turn;
use crate::cancel::Cancelled;
use crate::catalog::Catalog;
use crate::clock::time_text;
use crate::files::FileEntry;
use crate::name::TableIdent;
use crate::page::PageSize;
use crate::plan_cache::PlanReader;
use crate::schema::Schema;
use crate::table_schema::TableSchema;
use crate::{Error, Fault, Result, blocking, files, tables};

use filter::ReadFilter;
use kept::KeptPlan;
use passes::{Passed, Span, Survivor};

pub use explain::{Explained, ExplainedConjunct};
pub use filter::Filter;
pub(crate) use kept::{KeptPlans, PlanOrigin};
pub(crate) use metrics::add_file;
pub use metrics::{ConjunctMetrics, PlanMetrics, PlanTimings};
pub(crate) use overlap::OverlapFilter;
pub use page::{NamesInFile, PlannedChunk, PlannedPage};

/// Which snapshot is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SnapshotRef {
    /// The newest; names bind to the current schema.
    #[default]
    Current,
    /// This one; names bind to its schema.
    Id(SnapshotId),
    /// The newest that was committed at or before this time, in milliseconds since 1970-01-01T00:00Z; names bind to its
    /// schema.
    AsOf(i64),
    /// What an earlier page of the same answer was made from, so that all its pages agree.
    Pinned(SnapshotId, SchemaId),
}

/// A snapshot that was asked for.
pub(crate) struct ResolvedSnapshot {
    pub(crate) snapshot_id: SnapshotId,
    /// The schema that names bind to.
    pub(crate) schema_id: SchemaId,
    /// What is live in it.
    pub(crate) totals: Totals,
}

impl SnapshotRef {
    /// Which snapshot it is.
    pub(crate) fn resolve(self, tx: &ReadTransaction<'_>, table: &TableRow) -> Result<ResolvedSnapshot> {
        let empty =
            |schema_id| ResolvedSnapshot { snapshot_id: SnapshotId::EMPTY, schema_id, totals: Totals::default() };
        let of_row = |row: SnapshotRow| ResolvedSnapshot {
            snapshot_id: row.snapshot_id,
            schema_id: row.schema_id,
            totals: row.totals,
        };
        match self {
            Self::Current => Ok(ResolvedSnapshot {
                snapshot_id: table.current_snapshot,
                schema_id: table.schema_id,
                totals: table.totals,
            }),
            Self::Id(SnapshotId::EMPTY) => Ok(empty(table.schema_id)),
            Self::Pinned(SnapshotId::EMPTY, schema_id) => Ok(empty(schema_id)),
            Self::Pinned(snapshot_id, schema_id) => {
                let row = tx.load_snapshot(table.table_id, snapshot_id)?;
                Ok(ResolvedSnapshot { schema_id, ..of_row(row) })
            }
            Self::Id(snapshot_id) => Ok(of_row(tx.load_snapshot(table.table_id, snapshot_id)?)),
            Self::AsOf(time_ms) => match tx.get_snapshot_at(table.table_id, time_ms) {
                Ok(Some(row)) => Ok(of_row(row)),
                // Before the table was made nothing can have expired.
                Err(StoreError::SnapshotAtExpired { .. }) | Ok(None) if time_ms < table.created_at_ms => {
                    Err(Error::NotFound { what: "snapshot at", name: time_text(time_ms) })
                }
                Ok(None) => Ok(empty(table.schema_id)),
                Err(error) => Err(error.into()),
            },
        }
    }
}

/// What is to be planned.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlanRequest {
    /// The filter; none matches every row.
    pub filter: Option<Filter>,
    /// The snapshot.
    pub snapshot: SnapshotRef,
    /// Only what was appended after this snapshot is wanted, which may be gone; each one after it must be there, and an append.
    pub since: Option<SnapshotId>,
    /// The columns that the reader wants; they must exist.
    pub select: Vec<String>,
    /// How the reader's engine orders NaN.
    pub nan_order: NanOrder,
    /// The zone in which it reads local times; unknown if absent.
    pub time_zone: Option<String>,
    /// Whether statistics are used at all; without, every live file is kept.
    pub pruning: Pruning,
    /// The page that is wanted.
    pub page: PlanPage,
    /// What was found wrong with the request when it was read. With any, it is looked at as far as can be and refused.
    pub faults: Vec<Fault>,
}

impl PlanRequest {
    /// A scan of the newest snapshot by a filter; its first page.
    pub fn of(filter: Filter) -> Self {
        Self { filter: Some(filter), ..Self::default() }
    }

    /// About how much memory it takes.
    fn size_bytes(&self) -> usize {
        let names = self.select.iter().map(|name| name.len() + size_of::<String>()).sum::<usize>();
        names + self.filter.as_ref().map_or(0, Filter::written_bytes)
    }
}

/// Whether a plan prunes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Pruning {
    /// It does.
    #[default]
    On,
    /// It keeps every live file, to be compared with.
    Off,
}

/// Which of the kept files are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanPage {
    /// None: the metrics alone.
    MetricsOnly,
    /// The first ones.
    First(PageSize),
    /// Those after a file, by rising `file_id`.
    After(FileId, PageSize),
}

impl Default for PlanPage {
    fn default() -> Self {
        Self::First(PageSize::default())
    }
}

/// A page of a plan.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The snapshot that was planned.
    pub snapshot_id: SnapshotId,
    /// The id of the schema that names were bound to.
    pub schema_id: SchemaId,
    /// The schema.
    pub schema: Schema,
    /// The page's files by rising `file_id`.
    pub files: Vec<PlannedFile>,
    /// Whether more files follow.
    pub more: bool,
    /// What was done, over all pages.
    pub metrics: PlanMetrics,
}

/// A file that may hold a matching row.
#[derive(Clone, Debug)]
pub struct PlannedFile {
    /// The file.
    pub entry: FileEntry,
    /// `Some` or `All`.
    pub verdict: Verdict,
    /// What of the filter still has to run on its rows, in the filter's language; `None` if nothing. Files with the same
    /// residual share it.
    pub residual: Option<Arc<Filter>>,
    /// What the file calls the columns that it does not call as the schema does, by field, as a column key; `None` for one that it
    /// does not hold, though it has a column of that name. Of structs only these are named.
    pub columns: Arc<[(FieldId, Option<String>)]>,
}

/// What the names of a scan bind to.
#[derive(Clone, Debug)]
pub struct ScanSchema {
    /// The table; no other ever has this id.
    pub table_id: TableId,
    /// The snapshot that would be planned.
    pub snapshot_id: SnapshotId,
    /// The id of the schema.
    pub schema_id: SchemaId,
    /// The schema.
    pub schema: Schema,
}

impl Catalog {
    /// What the names of a scan of this snapshot bind to.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Expired`], [`Error::Store`].
    pub async fn load_scan_schema(&self, ident: TableIdent, snapshot: SnapshotRef) -> Result<ScanSchema> {
        self.read(move |tx| {
            let table = tx.load_table(ident.namespace.as_str(), ident.name.as_str())?;
            let ResolvedSnapshot { snapshot_id, schema_id, .. } = snapshot.resolve(tx, &table)?;
            let schema = tables::load_schema(tx, &table, schema_id)?;
            Ok(ScanSchema { table_id: table.table_id, snapshot_id, schema_id, schema })
        })
        .await
    }

    /// Plans a scan. A plan that has a next page holds its snapshot against expiry.
    ///
    /// # Errors
    /// [`Error::Filter`] or [`Error::Invalid`] with every fault of the request, [`Error::NotFound`], [`Error::Expired`],
    /// [`Error::Store`].
    pub async fn plan(&self, ident: TableIdent, request: PlanRequest) -> Result<Plan> {
        let started = Instant::now();
        let (turn, catalog) = (self.turn_to_plan(&request).await?, self.clone());
        blocking::run_while_awaited(turn, move |cancelled| {
            let plan = || {
                let (page, first) = catalog.plan_once(&ident, &request, started, cancelled)?;
                page.into_plan(&first, cancelled)
            };
            catalog.counted(&ident, &request, plan, |plan| &plan.metrics)
        })
        .await
    }

    /// Plans a scan for whom a page as a whole is too much: gives the page without its files, and what `render` makes of the
    /// first chunk of these. [`PlannedPage::chunk`] reads the others. A page of more than one chunk holds its snapshot
    /// against expiry, too.
    ///
    /// # Errors
    /// Those of [`Catalog::plan`].
    pub async fn plan_page<T: Send + 'static>(
        &self,
        ident: TableIdent,
        request: PlanRequest,
        render: impl FnOnce(&PlannedPage, &PlannedChunk) -> T + Send + 'static,
    ) -> Result<(PlannedPage, T)> {
        let started = Instant::now();
        let (turn, catalog) = (self.turn_to_plan(&request).await?, self.clone());
        blocking::run_while_awaited(turn, move |cancelled| {
            let plan = || catalog.plan_once(&ident, &request, started, cancelled);
            let (page, first) = catalog.counted(&ident, &request, plan, |(page, _)| &page.metrics)?;
            let rendered = render(&page, &first);
            Ok((page, rendered))
        })
        .await
    }

    /// Leave to make a plan, or counts that there is none.
    async fn turn_to_plan(&self, request: &PlanRequest) -> Result<Turn> {
        let turn = self.admission.plan(|| request.size_bytes()).await;
        if turn.is_err() && !matches!(request.page, PlanPage::After(..)) {
            self.activity.plans.outcomes.count(&turn);
        }
        turn
    }

    /// Plans, again where that may help, and counts it. Later pages are of the same plan, and count for nothing.
    fn counted<T>(
        &self,
        ident: &TableIdent,
        request: &PlanRequest,
        plan: impl FnMut() -> Result<T>,
        metrics_of: fn(&T) -> &PlanMetrics,
    ) -> Result<T> {
        let planned = tracing::debug_span!("plan").in_scope(|| again_if_expired(plan));
        if !matches!(request.page, PlanPage::After(..)) {
            self.activity.plans.outcomes.count(&planned);
            if let Ok(planned) = &planned {
                self.activity.plans.record(ident, metrics_of(planned));
            }
        }
        planned
    }

    fn plan_once(
        &self,
        ident: &TableIdent,
        request: &PlanRequest,
        started: Instant,
        cancelled: &Cancelled,
    ) -> Result<(PlannedPage, PlannedChunk)> {
        let filter = ReadFilter::parse_of(request, &self.limits);
        let (mut page, first) = self.read_here(|tx| {
            let mut page = find(tx, (self, cancelled), ident, request, filter.as_ref())?;
            let entries_started = Instant::now();
            let first = tracing::debug_span!("plan_entries").in_scope(|| page.load_chunk(tx, 0))?;
            page.metrics.timings.entries = entries_started.elapsed();
            Ok((page, first))
        })?;
        // A later page is of the same plan.
        if !matches!(request.page, PlanPage::After(..)) {
            self.obstacle_log.record(page.table_id(), &page.metrics, self.clock.now_ms());
        }
        page.metrics.timings.total = started.elapsed();
        Ok((page, first))
    }
}

/// Plans once more if the snapshot went before its files were read. Where the newest was asked for, there is a newer one
/// then; otherwise the answer is what it would have been a moment later.
fn again_if_expired<T>(mut plan: impl FnMut() -> Result<T>) -> Result<T> {
    match plan() {
        Err(Error::Expired { .. }) => plan(),
        answer => answer,
    }
}

/// What it means that the entries of a snapshot could not be read: they went with it, or something is wrong with the store.
pub(crate) fn gone_or_lost(
    tx: &ReadTransaction<'_>,
    table_id: TableId,
    snapshot_id: SnapshotId,
    error: Error,
) -> Error {
    match (&error, tx.get_snapshot(table_id, snapshot_id)) {
        (Error::Store(StoreError::FileNotFound(_)), Ok(None)) => {
            Error::Expired { what: format!("snapshot {snapshot_id}") }
        }
        _ => error,
    }
}

/// Everything but the files' entries.
fn find(
    tx: &ReadTransaction<'_>,
    (catalog, cancelled): (&Catalog, &Cancelled),
    ident: &TableIdent,
    request: &PlanRequest,
    filter: Result<&Option<ReadFilter>, &FilterError>,
) -> Result<PlannedPage> {
    let started = Instant::now();
    let table = tx.load_table(ident.namespace.as_str(), ident.name.as_str())?;
    if let PlanPage::After(file_id, _) = request.page {
        files::check_page(tx, &table, Some(file_id))?;
    }
    let snapshot = request.snapshot.resolve(tx, &table)?;
    // Later pages are of the same range, whatever has expired of it.
    if let (Some(since), false) = (request.since, matches!(request.page, PlanPage::After(..))) {
        check_appends(tx, &table, (since, snapshot.snapshot_id), cancelled)?;
    }
    let reader = PlanReader::new(&catalog.plan_cache, tx, &table, cancelled);
    let schema = reader.load_schema(snapshot.schema_id)?;
    let history = if table.schema_id == SchemaId::FIRST { None } else { Some(reader.load_history()?) };
    let (origin, plans) = (reader.origin(&snapshot), reader.kept_plans());
    let kept = match request.page {
        // What is wrong with the request is found where it is planned.
        PlanPage::After(..) if request.faults.is_empty() && !prepare::selects_unknown(&schema.columns, request) => {
            plans.get(origin, request)
        }
        PlanPage::After(..) | PlanPage::First(_) | PlanPage::MetricsOnly => None,
    };
    let is_kept = kept.is_some();
    let plan = if let Some(plan) = kept {
        plan
    } else {
        let passed = pass(&reader, &table, &snapshot, &schema, (request, filter, started))?;
        Arc::new(KeptPlan::new(origin, request, passed))
    };
    let (range, more) = cut_page(&plan.passed.survivors, request.page);
    let filter = filter.ok().and_then(Option::as_ref);
    let page = PlannedPage::new(catalog, (&table, &snapshot), (schema, history), &plan, (range, more, filter));
    if (more || page.has_long_residuals()) && !is_kept {
        plans.insert(&plan);
    }
    Ok(page)
}

/// Runs the passes; the survivors come by rising `file_id`.
fn pass(
    reader: &PlanReader<'_>,
    table: &TableRow,
    snapshot: &ResolvedSnapshot,
    schema: &TableSchema,
    (request, filter, started): (&PlanRequest, Result<&Option<ReadFilter>, &FilterError>, Instant),
) -> Result<Passed> {
    let program = tracing::debug_span!("plan_bind").in_scope(|| prepare::compile(&schema.columns, request, filter))?;
    let bind = started.elapsed();
    let span = Span { after: request.since.unwrap_or(SnapshotId::EMPTY), up_to: snapshot.snapshot_id };
    let mut passed = passes::run(reader, table, span, &program)?;
    if request.since.is_none() {
        check_totals(table, snapshot, &passed.metrics)?;
    }
    passed.survivors.sort_unstable_by_key(|survivor| survivor.file_id());
    // It may be kept for long.
    passed.survivors.shrink_to_fit();
    passed.metrics.timings.bind = bind;
    Ok(passed)
}

/// That nothing but appends came after one snapshot up to another: then what is live in the one alone is what they appended. Of what
/// was replaced or removed in between, readers of appends disagree on whether it was ever there.
fn check_appends(
    tx: &ReadTransaction<'_>,
    table: &TableRow,
    (since, up_to): (SnapshotId, SnapshotId),
    cancelled: &Cancelled,
) -> Result<()> {
    if since > up_to {
        let message = format!("snapshot {since} is not before snapshot {up_to}");
        return Err(Error::invalid(Fault::new(message)));
    }
    for snapshot_id in (since.0 + 1..=up_to.0).map(SnapshotId) {
        cancelled.check()?;
        let Some(snapshot) = tx.get_snapshot(table.table_id, snapshot_id)? else {
            return Err(Error::Expired { what: format!("snapshot {snapshot_id}, which lies in the range,") });
        };
        if snapshot.operation != Operation::Append {
            let message = format!(
                "snapshot {snapshot_id} is no append: scan the ranges before and after it, and the table itself"
            );
            return Err(Error::invalid(Fault::new(message)));
        }
    }
    Ok(())
}

/// Holds what a plan has looked at against what the snapshot is said to hold: a row that is lost or damaged is an error, never
/// a file fewer.
fn check_totals(table: &TableRow, snapshot: &ResolvedSnapshot, metrics: &PlanMetrics) -> Result<()> {
    let (found, expected) = (metrics.totals(), snapshot.totals);
    if found == expected {
        return Ok(());
    }
    let (table_id, snapshot_id) = (table.table_id, snapshot.snapshot_id);
    Err(Error::Store(prunus_manifest::Error::Miscounted { table_id, snapshot_id, expected, found }))
}

/// Which of the survivors a page asks for, and whether more follow.
fn cut_page(survivors: &[Survivor], page: PlanPage) -> (Range<usize>, bool) {
    let (after, size) = match page {
        PlanPage::MetricsOnly => return (0..0, false),
        PlanPage::First(size) => (0, size),
        PlanPage::After(file_id, size) => (survivors.partition_point(|survivor| survivor.file_id() <= file_id), size),
    };
    let end = survivors.len().min(after.saturating_add(size.as_usize()));
    (after..end, end < survivors.len())
}

/// Since when something runs, added to what it took before.
fn add_elapsed(sum: &mut Duration, started: Instant) {
    *sum += started.elapsed();
}

#[cfg(test)]
mod tests {
    use prunus_manifest::FileId;

    use super::*;

    /// How often a plan is tried, and what comes of it, where it fails so many times.
    fn tried(failures: u32, failure: fn() -> Error) -> (u32, Result<()>) {
        let mut tries = 0;
        let answer = again_if_expired(|| {
            tries += 1;
            if tries <= failures { Err(failure()) } else { Ok(()) }
        });
        (tries, answer)
    }

    #[test]
    fn a_plan_whose_files_went_is_made_once_more() {
        let gone = || Error::Expired { what: String::new() };
        assert!(matches!(tried(0, gone), (1, Ok(()))));
        assert!(matches!(tried(1, gone), (2, Ok(()))));
        assert!(matches!(tried(2, gone), (2, Err(Error::Expired { .. }))));
        assert!(matches!(tried(1, || Error::SchemaMoved), (1, Err(Error::SchemaMoved))));
    }

    #[tokio::test]
    async fn a_file_that_is_not_found_is_expired_if_its_snapshot_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let catalog = Catalog::open(folder.path(), crate::CatalogOptions::default()).await.unwrap();
        let check = |error: StoreError, expected: &str| {
            let answer =
                catalog.store.read(|tx| Ok::<_, Error>(gone_or_lost(tx, TableId(7), SnapshotId(8), error.into())));
            assert_eq!(answer.unwrap().to_string(), expected);
        };
        check(StoreError::FileNotFound(FileId(1)), "snapshot 8 is expired");
        check(StoreError::Closed, "the store failed");
    }
}
