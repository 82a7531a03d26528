//! Filters of commits: whether files that were added meanwhile may hold a row that the commit was worked out from.

use prunus_manifest::{FileId, SnapshotId, TableRow};
use prunus_pruner::{FilterLimits, NanOrder};

use super::filter::{Filter, ReadFilter};
use super::passes::{self, Span};
use super::prepare::{self, Prepared};
use super::{PlanPage, PlanRequest};
use crate::Result;
use crate::plan_cache::PlanReader;
use crate::table_schema::TableSchema;

/// A filter, compiled to find the files that may hold a row of it.
pub(crate) struct OverlapFilter {
    prepared: Prepared,
}

impl OverlapFilter {
    /// Binds and compiles a filter; its faults come together.
    pub(crate) fn compile(
        schema: &TableSchema,
        filter: Filter,
        nan_order: NanOrder,
        limits: &FilterLimits,
    ) -> Result<Self> {
        let filter = ReadFilter::parse(filter, limits).map(Some);
        let request = PlanRequest { nan_order, page: PlanPage::MetricsOnly, ..PlanRequest::default() };
        Ok(Self { prepared: prepare::compile(&schema.columns, &request, filter.as_ref())? })
    }

    /// The files that are live in the newest snapshot, were added after an older one, and may hold a row of the filter;
    /// ascending.
    pub(crate) fn files_that_may_match(
        &self,
        reader: &PlanReader<'_>,
        table: &TableRow,
        after: SnapshotId,
    ) -> Result<Vec<FileId>> {
        let span = Span { after, up_to: table.current_snapshot };
        let passed = passes::run(reader, table, span, &self.prepared)?;
        let mut files: Vec<FileId> = passed.survivors.iter().map(|survivor| survivor.file_id()).collect();
        files.sort_unstable();
        Ok(files)
    }
}
