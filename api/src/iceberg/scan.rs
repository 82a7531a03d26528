//! A scan: as a client asks for it, and as it is planned, page after page.

use prunus_catalog::{
    Catalog, Error, Fault, FileId, Filter, MAX_SELECTED_COLUMNS, PageSize, PlanPage, PlanRequest, Pruning, SchemaId,
    SnapshotId, SnapshotRef, TableIdent,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::doubts::{Doubt, doubts_in};
use super::past::Past;
use super::scan_names::{ColumnRef, FoldedNames, Mention, columns_in, visit_columns};
use crate::problem::Problem;

/// What a client asks for. Members that are not known are of no account, and null is as good as absent.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct ScanJson {
    /// The snapshot; the newest if absent.
    snapshot_id: Option<i64>,
    /// What was appended after this one,
    start_snapshot_id: Option<i64>,
    /// up to this one.
    end_snapshot_id: Option<i64>,
    /// The columns that are wanted; all if absent.
    select: Option<Vec<String>>,
    filter: Option<Value>,
    case_sensitive: Option<bool>,
    /// Whether names are those of the snapshot's schema, and not those of today.
    use_snapshot_schema: Option<bool>,
    /// How many rows are enough.
    min_rows_requested: Option<u64>,
    /// The columns whose statistics are wanted.
    stats_fields: Option<Vec<String>>,
}

/// A scan whose names are those of a schema that is settled. Its snapshot is settled once its first page is planned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Scan {
    #[serde(skip)]
    pub(super) snapshot: SnapshotRef,
    since: Option<i64>,
    /// Not in what is serialized: it may be as deep as a request may be, and whatever holds it would be deeper.
    #[serde(skip)]
    pub(super) filter: Option<Value>,
    /// The columns that are wanted beside those of the filter; `None` if all are.
    pub(super) selected: Option<Vec<String>>,
    /// Those of the filter.
    pub(super) filtered: Vec<ColumnRef>,
    /// Those of the filter beside literals that PyIceberg misreads where they are no values of the column's type.
    pub(super) doubts: Vec<(ColumnRef, Doubt)>,
    /// Whether case is not to count: then it does not for clients in files, either.
    pub(super) ignores_case: bool,
    pub(super) min_rows: Option<u64>,
    pub(super) stats_fields: Vec<String>,
    /// A wanted column of the snapshot's own schema that clients find by its id alone.
    pub(super) lost: Option<String>,
    /// The ids of wanted columns that the snapshot has and the table has no more.
    pub(super) gone: Vec<i32>,
    /// Whether a name of the filter may mean one column or another: then no file is skipped for it.
    is_ambiguous: bool,
}

impl ScanJson {
    /// The scan of a table that is asked for.
    pub(super) async fn settle(self, catalog: &Catalog, ident: &TableIdent) -> Result<Scan, Problem> {
        let range = self.range()?;
        let snapshot = self.snapshot(range, catalog, ident).await?;
        let mut scan = Scan {
            snapshot,
            since: range.map(|(start, _)| start),
            filter: self.filter,
            selected: self.select.filter(|names| !names.is_empty()),
            filtered: Vec::new(),
            doubts: Vec::new(),
            ignores_case: self.case_sensitive == Some(false),
            // None at all is what nobody asks for who scans.
            min_rows: self.min_rows_requested.filter(|rows| *rows > 0),
            stats_fields: self.stats_fields.unwrap_or_default(),
            lost: None,
            gone: Vec::new(),
            is_ambiguous: false,
        };
        scan.check_lists()?;
        if scan.ignores_case {
            let found = catalog.load_scan_schema(ident.clone(), snapshot).await?;
            scan.snapshot = SnapshotRef::Pinned(found.snapshot_id, found.schema_id);
            scan.name_exactly(&FoldedNames::of(&found.schema))?;
        }
        scan.note_filter();
        if let Some(id) = range.map(|(_, end)| end).or(self.snapshot_id)
            && let Some(past) = Past::load(catalog, ident, SnapshotId(id)).await?
        {
            scan.read_in(&past, self.use_snapshot_schema == Some(true));
        }
        Ok(scan)
    }

    fn range(&self) -> Result<Option<(i64, i64)>, Problem> {
        match (self.snapshot_id, self.start_snapshot_id, self.end_snapshot_id) {
            (_, None, None) => Ok(None),
            (None, Some(start), _) if start < 0 => Err(no_such_snapshot(start)),
            (None, Some(start), Some(end)) => Ok(Some((start, end))),
            (Some(_), ..) => Err(Fault::new("snapshot-id and a range of snapshots exclude each other").into()),
            (None, ..) => Err(Fault::new("start-snapshot-id and end-snapshot-id go together").into()),
        }
    }

    /// Names are those of today unless those of the snapshot are asked for: the specification has it so, and clients that do not ask for
    /// them have bound the filter to the schema that the table has today.
    async fn snapshot(
        &self,
        range: Option<(i64, i64)>,
        catalog: &Catalog,
        ident: &TableIdent,
    ) -> Result<SnapshotRef, Problem> {
        let Some(id) = range.map(|(_, end)| end).or(self.snapshot_id) else { return Ok(SnapshotRef::Current) };
        if SnapshotId(id) == SnapshotId::EMPTY {
            // What the catalog calls the empty table is no snapshot to clients.
            return Err(no_such_snapshot(id));
        }
        if self.use_snapshot_schema == Some(true) {
            return Ok(SnapshotRef::Id(SnapshotId(id)));
        }
        let today = catalog.load_scan_schema(ident.clone(), SnapshotRef::Current).await?;
        Ok(SnapshotRef::Pinned(SnapshotId(id), today.schema_id))
    }
}

fn no_such_snapshot(id: i64) -> Problem {
    Error::NotFound { what: "snapshot", name: id.to_string() }.into()
}

impl Scan {
    /// Which rows are wanted; `true` where all are.
    pub(super) fn filter(&self) -> Value {
        self.filter.clone().unwrap_or(Value::Bool(true))
    }

    /// The request for a page of so many files.
    pub(super) fn request(&self, after: Option<FileId>, size: PageSize) -> PlanRequest {
        PlanRequest {
            filter: self.filter.clone().map(Filter::Iceberg),
            snapshot: self.snapshot,
            since: self.since.map(SnapshotId),
            pruning: if self.is_ambiguous { Pruning::Off } else { Pruning::On },
            page: after.map_or(PlanPage::First(size), |after| PlanPage::After(after, size)),
            ..PlanRequest::default()
        }
    }

    /// The same scan of what its first page was planned of.
    pub(super) fn pinned(self, snapshot_id: SnapshotId, schema_id: SchemaId) -> Self {
        Self { snapshot: SnapshotRef::Pinned(snapshot_id, schema_id), ..self }
    }

    fn name_exactly(&mut self, names: &FoldedNames) -> Result<(), Problem> {
        let mut faults = Vec::new();
        let mut name = |at: &str, name: &mut String| match names.exact(at, name) {
            Ok(exact) => *name = exact,
            Err(fault) => faults.push(*fault),
        };
        self.selected.iter_mut().flatten().for_each(|column| name("select", column));
        self.stats_fields.iter_mut().for_each(|column| name("stats-fields", column));
        if let Some(filter) = &mut self.filter {
            visit_columns(filter, &mut |mention| {
                if let Mention::Name(column) = mention {
                    name("filter", column);
                }
            });
        }
        if faults.is_empty() { Ok(()) } else { Err(faults.into()) }
    }

    /// Minds that columns had other names: clients may take those in `select` from the schema of the snapshot whatever they say of it,
    /// and read files by the names of today.
    fn read_in(&mut self, past: &Past, by_own_names: bool) {
        if by_own_names {
            self.lost = past.lost(self.wanted().as_deref());
            return;
        }
        let selected = self.selected.as_deref().map(ColumnRef::of_names);
        self.lost = past.lost(selected.as_deref());
        self.gone = past.gone(selected.as_deref());
        self.selected = self.selected.as_deref().map(|names| past.names_of_today(names));
        self.is_ambiguous = self.filtered.iter().any(|column| past.is_ambiguous(column));
    }

    /// All that is read of files; `None` if that is all columns.
    pub(super) fn wanted(&self) -> Option<Vec<ColumnRef>> {
        let selected = self.selected.as_deref()?;
        Some([ColumnRef::of_names(selected), self.filtered.clone()].concat())
    }

    fn note_filter(&mut self) {
        let Some(filter) = &mut self.filter else { return };
        self.filtered = columns_in(filter).into_iter().collect();
        self.doubts = doubts_in(filter).into_iter().collect();
    }

    fn check_lists(&self) -> Result<(), Problem> {
        let selected = self.selected.as_deref().unwrap_or_default();
        let lists = [("select", selected), ("stats-fields", &self.stats_fields)];
        let is_long = lists.iter().filter(|(_, names)| names.len() > MAX_SELECTED_COLUMNS);
        let faults: Vec<Fault> = is_long
            .map(|(at, names)| Fault::at(*at, format!("{} columns are more than {MAX_SELECTED_COLUMNS}", names.len())))
            .collect();
        if faults.is_empty() { Ok(()) } else { Err(faults.into()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(columns: usize) -> Scan {
        Scan {
            snapshot: SnapshotRef::Current,
            since: None,
            filter: None,
            selected: None,
            filtered: Vec::new(),
            doubts: Vec::new(),
            ignores_case: false,
            min_rows: None,
            stats_fields: vec![String::new(); columns],
            lost: None,
            gone: Vec::new(),
            is_ambiguous: false,
        }
    }

    #[test]
    fn lists_of_columns_are_as_long_as_the_limit() {
        assert!(scan(MAX_SELECTED_COLUMNS).check_lists().is_ok());
        assert!(scan(MAX_SELECTED_COLUMNS + 1).check_lists().is_err());
        let selects = |columns| Scan { selected: Some(vec![String::new(); columns]), ..scan(0) };
        assert!(selects(MAX_SELECTED_COLUMNS).check_lists().is_ok());
        assert!(selects(MAX_SELECTED_COLUMNS + 1).check_lists().is_err());
    }
}
