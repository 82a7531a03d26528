//! A page of a plan, whose files are read a chunk at a time.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use prunus_manifest::{DataFileColumns, Distinct, FileId, ReadTransaction, SchemaId, SnapshotId, TableId, TableRow};
use prunus_pruner::Verdict;
use prunus_statistics::{FieldId, FileStatistics};

use super::filter::{Filter, ReadFilter, WrittenResiduals};
use super::kept::KeptPlan;
use super::metrics::PlanMetrics;
use super::passes::Survivor;
use super::{Plan, PlannedFile, ResolvedSnapshot, add_elapsed, gone_or_lost};
use crate::cancel::Cancelled;
use crate::catalog::Catalog;
use crate::file_chunk::{FILES_PER_CHUNK, FileChunk, chunk_count, chunk_of};
use crate::file_columns::FileNames;
use crate::files::FileEntry;
use crate::history::History;
use crate::schema::Schema;
use crate::table_schema::TableSchema;
use crate::{Result, blocking};

/// About how much of residuals a chunk has at most, unless one alone is more. The longer they are, the fewer files a chunk has.
const MAX_RESIDUAL_BYTES_PER_CHUNK: usize = 4 << 20;

/// What a file calls the columns that it does not call as the schema does, by field, as a column key; `None` for one that it does not
/// hold, though it has a column of that name.
pub type NamesInFile = Arc<[(FieldId, Option<String>)]>;

/// A page of a plan without its files, which [`PlannedPage::chunk`] reads. It holds no transaction.
pub struct PlannedPage {
    /// The snapshot that was planned.
    pub snapshot_id: SnapshotId,
    /// The id of the schema that names were bound to.
    pub schema_id: SchemaId,
    /// What was done, over all pages. How long it took is that up to the first chunk.
    pub metrics: PlanMetrics,
    catalog: Catalog,
    table_id: TableId,
    schema: Arc<TableSchema>,
    /// Where the table has and had but one schema, files call all columns as it does.
    history: Option<Arc<History>>,
    /// Its files. The plan may have many more, which are not held until the last of these is read.
    survivors: Box<[Survivor]>,
    more: bool,
    residuals: WrittenResiduals,
    files_per_chunk: usize,
}

/// Some of a page's files by rising `file_id`; all columns are of one length.
#[derive(Clone, Debug)]
pub struct PlannedChunk {
    /// The files.
    pub files: FileChunk,
    /// `Some` or `All`.
    pub verdicts: Vec<Verdict>,
    /// What of the filter still has to run on their rows, by its place in [`PlannedPage::residuals`]; `None` if nothing.
    pub residuals: Vec<Option<usize>>,
    /// What they call columns otherwise.
    pub columns: Distinct<NamesInFile>,
}

impl PlannedPage {
    pub(super) fn new(
        catalog: &Catalog,
        (table, snapshot): (&TableRow, &ResolvedSnapshot),
        (schema, history): (Arc<TableSchema>, Option<Arc<History>>),
        plan: &KeptPlan,
        (range, more, filter): (Range<usize>, bool, Option<&ReadFilter>),
    ) -> Self {
        let survivors = plan.passed.survivors.get(range).unwrap_or_default();
        let residuals = plan.passed.residuals.write(filter, survivors.iter().filter_map(|file| file.residual()));
        Self {
            snapshot_id: snapshot.snapshot_id,
            schema_id: snapshot.schema_id,
            metrics: plan.passed.metrics.clone(),
            catalog: catalog.clone(),
            table_id: table.table_id,
            schema,
            history,
            survivors: survivors.into(),
            more,
            files_per_chunk: files_per_chunk(residuals.longest_bytes()),
            residuals,
        }
    }

    /// The schema.
    pub fn schema(&self) -> &Schema {
        &self.schema.schema
    }

    /// How many files the page has.
    pub fn len(&self) -> usize {
        self.survivors.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.survivors.is_empty()
    }

    /// Whether its residuals are so long that whoever goes on behind its first chunk asks for most of it anew.
    pub(super) fn has_long_residuals(&self) -> bool {
        self.files_per_chunk < FILES_PER_CHUNK && self.chunks() > 1
    }

    /// How many chunks its files are read in; at least one, which may be empty.
    pub fn chunks(&self) -> usize {
        chunk_count(self.len(), self.files_per_chunk)
    }

    /// The last file of the page, if more follow in the next.
    pub fn next_after(&self) -> Option<FileId> {
        self.survivors.last().filter(|_| self.more).map(|last| last.file_id())
    }

    /// The different residuals of the page's files, in the filter's language.
    pub fn residuals(&self) -> &[Arc<Filter>] {
        &self.residuals.filters
    }

    /// What `render` makes of a chunk, on a thread that may block. Holds the snapshot against expiry for as long as a page
    /// token does.
    ///
    /// # Errors
    /// [`crate::Error::Expired`] if it took longer to ask for the chunk; [`crate::Error::Store`].
    pub async fn chunk<T: Send + 'static>(
        self: Arc<Self>,
        index: usize,
        render: impl FnOnce(&Self, &PlannedChunk) -> T + Send + 'static,
    ) -> Result<T> {
        let turn = self.catalog.admission.read().await?;
        blocking::run_while_awaited(turn, move |_| Ok(render(&self, &self.load_later(index)?))).await
    }

    /// What `render` makes of a chunk with what is known of these columns of its files, each in the type that it has in the schema; on
    /// a thread that may block.
    ///
    /// # Errors
    /// [`crate::Error::Expired`] if the files are forgotten meanwhile; [`crate::Error::TooMany`] if too many plans wait;
    /// [`crate::Error::Store`].
    pub async fn with_statistics<T: Send + 'static>(
        self: Arc<Self>,
        chunk: PlannedChunk,
        columns: BTreeSet<FieldId>,
        render: impl FnOnce(&Self, &PlannedChunk, &[FileStatistics]) -> T + Send + 'static,
    ) -> Result<T> {
        let turn = self.catalog.admission.plan(|| 0).await?;
        blocking::run_while_awaited(turn, move |_| {
            let known = self.catalog.store.read(|tx| {
                let known = self.load_statistics(tx, &chunk, &columns);
                known.map_err(|error| gone_or_lost(tx, self.table_id, self.snapshot_id, error))
            })?;
            Ok(render(&self, &chunk, &known))
        })
        .await
    }

    fn load_statistics(
        &self,
        tx: &ReadTransaction<'_>,
        chunk: &PlannedChunk,
        columns: &BTreeSet<FieldId>,
    ) -> Result<Vec<FileStatistics>> {
        // Files may have been sealed or grouped anew since they were planned.
        let file_ids: Vec<FileId> = chunk.files.rows.file_id.values().iter().copied().map(FileId).collect();
        let known = tx.load_statistics(self.table_id, &file_ids, columns)?;
        let Some(history) = &self.history else { return Ok(known) };
        Ok(known.into_iter().map(|known| history.read_as(known, &self.schema.leaves)).collect())
    }

    /// The table that was planned; no other ever has this id.
    pub fn table_id(&self) -> TableId {
        self.table_id
    }

    /// Reads a chunk in a transaction of its own: ids stay valid.
    fn load_later(&self, index: usize) -> Result<PlannedChunk> {
        self.catalog.store.read(|tx| {
            self.load_chunk(tx, index).map_err(|error| gone_or_lost(tx, self.table_id, self.snapshot_id, error))
        })
    }

    pub(super) fn load_chunk(&self, tx: &ReadTransaction<'_>, index: usize) -> Result<PlannedChunk> {
        if self.more || self.chunks() > 1 {
            self.catalog.leases.take(self.table_id, self.snapshot_id, self.catalog.clock.now_ms());
        }
        let survivors = chunk_of(&self.survivors, index, self.files_per_chunk);
        let file_ids: Vec<FileId> = survivors.iter().map(|survivor| survivor.file_id()).collect();
        let files = FileChunk::load(tx, &file_ids, &self.schema.leaves)?;
        let residual = |survivor: &Survivor| survivor.residual().and_then(|index| self.residuals.place(index));
        Ok(PlannedChunk {
            columns: self.names_in_files(&files.rows),
            files,
            verdicts: survivors.iter().map(|survivor| survivor.verdict()).collect(),
            residuals: survivors.iter().map(residual).collect(),
        })
    }

    fn names_in_files(&self, rows: &DataFileColumns) -> Distinct<NamesInFile> {
        let names = self.history.as_ref().map(|history| FileNames::new(history, &self.schema.schema));
        rows.leaves.map(|leaves| names.as_ref().map(|names| names.of_file(leaves)).unwrap_or_default().into())
    }

    /// The page with its files, of which the first chunk is read.
    pub(super) fn into_plan(mut self, first: &PlannedChunk, cancelled: &Cancelled) -> Result<Plan> {
        let started = Instant::now();
        let mut files = self.files_of(first);
        for index in 1..self.chunks() {
            cancelled.check()?;
            files.extend(self.files_of(&self.load_later(index)?));
        }
        add_elapsed(&mut self.metrics.timings.entries, started);
        add_elapsed(&mut self.metrics.timings.total, started);
        let Self { snapshot_id, schema_id, schema, more, metrics, .. } = self;
        Ok(Plan { snapshot_id, schema_id, schema: schema.schema.clone(), files, more, metrics })
    }

    fn files_of(&self, chunk: &PlannedChunk) -> Vec<PlannedFile> {
        let file = |(index, (verdict, residual)): (usize, (&Verdict, &Option<usize>))| {
            let (partition, columns) = (chunk.files.partitions.get(index)?, chunk.columns.get(index)?);
            Some(PlannedFile {
                entry: FileEntry { row: chunk.files.rows.row(index)?, partition: partition.clone() },
                verdict: *verdict,
                residual: residual.and_then(|place| self.residuals().get(place).cloned()),
                columns: Arc::clone(columns),
            })
        };
        chunk.verdicts.iter().zip(&chunk.residuals).enumerate().filter_map(file).collect()
    }
}

/// How many files a chunk has.
fn files_per_chunk(longest_residual_bytes: usize) -> usize {
    (MAX_RESIDUAL_BYTES_PER_CHUNK / longest_residual_bytes.max(1)).clamp(1, FILES_PER_CHUNK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_residuals_make_short_chunks() {
        let at_the_limit = MAX_RESIDUAL_BYTES_PER_CHUNK / FILES_PER_CHUNK;
        assert_eq!(files_per_chunk(0), FILES_PER_CHUNK);
        assert_eq!(files_per_chunk(at_the_limit), FILES_PER_CHUNK);
        assert!(files_per_chunk(at_the_limit + 1) < FILES_PER_CHUNK);
        assert_eq!(files_per_chunk(2 * MAX_RESIDUAL_BYTES_PER_CHUNK), 1);
    }

    #[test]
    fn a_plan_of_ten_million_files_takes_less_than_half_of_the_cache() {
        assert!(10_000_000 * size_of::<Survivor>() as u64 <= crate::DEFAULT_PLAN_CACHE_BYTES / 2);
    }
}
