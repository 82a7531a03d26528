//! The layout of a table: which of its entries stand in which manifest. Changing it changes no snapshot.
//!
//! A step reads entries, builds manifests of them, and puts these in place of what the entries stood in before, in one job
//! of the writer, which refuses if that has changed meanwhile.

mod repair;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use prunus_statistics::{FieldId, ZoneMap};
use rusqlite::{Connection, params};

use crate::builder::{self, BuiltManifest, Entry};
use crate::ids::Unsigned;
use crate::install::{self, InstallError, Source};
use crate::journal::GrowingEntry;
use crate::late_column::{self, LateColumn, ReadLateColumns};
use crate::manifest::ManifestRow;
use crate::readers::Readers;
use crate::regroup::{self, Limits, Settled, Survey};
use crate::schema::SchemaColumn;
use crate::table::TableRow;
use crate::transaction::ReadTransaction;
use crate::writer::Writer;
use crate::{Error, Result, SchemaId, TableId};

pub use repair::{ColumnRepair, FileRepair, RepairOutcome};

/// How many manifests are made of a tail in one step at most. Entries are put in order across all of them, so more make
/// narrower zones, and take more memory.
const MAX_MANIFESTS_PER_SEAL: u64 = 4;

/// How often a step is begun anew because what it was built from has changed.
const MAX_ATTEMPTS: usize = 5;

/// How often files are looked into for late columns before it is given up.
const MAX_FILLS: u32 = 100_000;

/// How many steps one request takes at most for each manifest that there is.
const MAX_STEPS_PER_MANIFEST: u64 = 8;

/// What the journal calls the count of entries that were put into other manifests.
const ENTRIES_MOVED: &str = "entries_moved";

const LIST_DUE: &str = "
    SELECT t.table_id
    FROM lake_table t
    WHERE t.tail_files >= ?1 OR t.schema_id > ?2
        OR EXISTS (SELECT 1 FROM manifest m INDEXED BY manifest_by_table WHERE m.table_id = t.table_id)";

/// The tables that may have been due when the store was closed, or killed: those with full tails, with manifests, or with columns
/// that came late.
pub(crate) fn list_due(connection: &Connection, target_files: u64) -> Result<BTreeSet<TableId>> {
    let mut statement = connection.prepare(LIST_DUE)?;
    let tables = statement.query_map(params![Unsigned(target_files), SchemaId::FIRST], |row| row.get(0))?;
    Ok(tables.collect::<rusqlite::Result<_>>()?)
}

/// Whether there was anything to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// So many entries were put into other manifests; none where it was found that this would be no better.
    Done(u64),
    NothingToDo,
}

/// How well a table is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableLayout {
    /// How many manifests it has.
    pub manifests: u64,
    /// How many live files are in none yet.
    pub tail_files: u64,
    /// How many manifests at most share a value of the first column of `cluster_by`; `None` if there is none.
    pub overlap: Option<u64>,
}

/// What grouping a table anew did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Regrouped {
    /// How the table was laid out before.
    pub before: TableLayout,
    /// How it is laid out now.
    pub after: TableLayout,
    /// How many entries were put into other manifests; one counts each time.
    pub entries_moved: u64,
}

/// What changes layouts.
pub(crate) struct Layout {
    readers: Arc<Readers>,
    writer: Arc<Writer>,
    target_files: u64,
    late_columns: Option<ReadLateColumns>,
    /// Held through each step: two at a time would only take manifests from under each other.
    one_at_a_time: Mutex<()>,
}

/// Entries with all that manifests are built with.
struct Gathered {
    table: TableRow,
    columns: Vec<SchemaColumn>,
    entries: Vec<Entry>,
    source: Source,
}

impl Layout {
    pub(crate) fn new(
        readers: Arc<Readers>,
        writer: Arc<Writer>,
        target_files: u64,
        late_columns: Option<ReadLateColumns>,
    ) -> Self {
        Self { readers, writer, target_files, late_columns, one_at_a_time: Mutex::new(()) }
    }

    /// Looks into some files for columns that came after them.
    pub(crate) fn fill(&self, table_id: TableId) -> Result<Step> {
        self.attempt(|| {
            let found = self.read(table_id, |tx, table| late_column::find(tx, &table, &self.late(tx, &table)?))?;
            let Some(found) = found else { return Ok(Step::NothingToDo) };
            let files = found.files;
            self.writer.write(move |tx| late_column::install(tx, table_id, &found))?;
            Ok(Step::Done(files))
        })
    }

    /// Looks into all files that there are for columns that came after them.
    fn fill_all(&self, table_id: TableId) -> Result<()> {
        // The limit is for a table that gets columns faster than this.
        for _ in 0..MAX_FILLS {
            if self.fill(table_id)? == Step::NothingToDo {
                break;
            }
        }
        Ok(())
    }

    /// Makes manifests of the oldest entries of a tail, whole ones only.
    pub(crate) fn seal(&self, table_id: TableId) -> Result<Step> {
        self.attempt(|| {
            let Some(gathered) = self.read(table_id, |tx, table| self.gather_tail(tx, table))? else {
                return Ok(Step::NothingToDo);
            };
            // One job each, so that no commit waits for more than one manifest.
            for built in self.build(&gathered)? {
                self.install(&gathered, vec![built], None)?;
            }
            Ok(Step::Done(gathered.entries.len() as u64))
        })
    }

    /// Groups some manifests anew: small ones into fewer, overlapping ones by the order of the table. Where that was asked for,
    /// the entry of the journal is told of it.
    pub(crate) fn regroup(
        &self,
        table_id: TableId,
        limits: Limits,
        settled: &mut Settled,
        entry: &mut Option<GrowingEntry>,
    ) -> Result<Step> {
        self.attempt(|| {
            let found = self.read(table_id, |tx, table| {
                // Where a column has come meanwhile the table is due again.
                if !late_column::are_manifests_filled(tx, table_id, &self.late(tx, &table)?)? {
                    return Ok(None);
                }
                let Some(group) = regroup::next_group(tx, &table, self.target_files, limits, settled)? else {
                    return Ok(None);
                };
                Ok(Some((gather_manifests(tx, table, &group.manifests)?, group)))
            })?;
            let Some((gathered, group)) = found else { return Ok(Step::NothingToDo) };
            let built = self.build(&gathered)?;
            if !group.is_better(&zones_of(&built, group.ordered_by)) {
                settled.extend(&group);
                return Ok(Step::Done(0));
            }
            *entry = self.install(&gathered, built, entry.clone())?;
            Ok(Step::Done(gathered.entries.len() as u64))
        })
    }

    /// Groups manifests anew until nothing is left to do.
    pub(crate) fn regroup_all(&self, table_id: TableId, mut entry: Option<GrowingEntry>) -> Result<Regrouped> {
        let before = self.load(table_id, None)?;
        let mut settled = Settled::default();
        let mut entries_moved = 0;
        // Each step but one that settles manifests makes fewer of them, or fewer that overlap; the limit is for a table that
        // changes faster than this.
        self.fill_all(table_id)?;
        for _ in 0..MAX_STEPS_PER_MANIFEST.saturating_mul(before.manifests.saturating_add(1)) {
            match self.regroup(table_id, Limits::REQUESTED, &mut settled, &mut entry)? {
                Step::Done(entries) => entries_moved += entries,
                Step::NothingToDo => break,
            }
        }
        Ok(Regrouped { before, after: self.load(table_id, None)?, entries_moved })
    }

    /// How a table is laid out, in the order of its own columns or of others.
    pub(crate) fn load(&self, table_id: TableId, cluster_by: Option<&[FieldId]>) -> Result<TableLayout> {
        self.readers.read(|tx| {
            let table = tx.load_table_by_id(table_id)?;
            let order = cluster_by.unwrap_or(&table.cluster_by).first();
            let survey = Survey::take(tx, table_id, order.copied(), self.target_files)?;
            let overlap = survey.overlap().map(|overlap| overlap as u64);
            let tail_files = table.tail_files.saturating_sub(tx.count_tail_removals(table_id)?);
            Ok(TableLayout { manifests: survey.manifests() as u64, tail_files, overlap })
        })
    }

    fn attempt(&self, mut step: impl FnMut() -> Result<Step, InstallError>) -> Result<Step> {
        let _guard = self.one_at_a_time.lock().unwrap_or_else(PoisonError::into_inner);
        for _ in 0..MAX_ATTEMPTS {
            match step() {
                Ok(step) => return Ok(step),
                Err(InstallError::Moved) => {}
                Err(InstallError::Store(error)) => return Err(error),
            }
        }
        // Whatever changes the table so often is at work; the next reason to look at it comes soon.
        Ok(Step::NothingToDo)
    }

    /// Reads of a table; `None` if it is gone, too.
    fn read<T>(
        &self,
        table_id: TableId,
        job: impl FnOnce(&ReadTransaction<'_>, TableRow) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        self.readers.read(|tx| match tx.load_table_by_id(table_id) {
            Err(Error::TableGone(_)) => Ok(None),
            table => job(tx, table?),
        })
    }

    fn late(&self, tx: &ReadTransaction<'_>, table: &TableRow) -> Result<Vec<LateColumn>> {
        late_column::list(tx, table, self.late_columns)
    }

    fn gather_tail(&self, tx: &ReadTransaction<'_>, table: TableRow) -> Result<Option<Gathered>> {
        let files = (table.tail_files / self.target_files).min(MAX_MANIFESTS_PER_SEAL) * self.target_files;
        if files == 0 {
            return Ok(None);
        }
        let tail = tx.list_oldest_of_tail(table.table_id, files)?;
        let late = self.late(tx, &table)?;
        // Where a column has come meanwhile the table is due again.
        if !tail.iter().all(|entry| late_column::is_entry_filled(entry, &late)) {
            return Ok(None);
        }
        let columns = tx.list_columns(table.table_id)?;
        let entries = tail.into_iter().map(Entry::from).collect();
        Ok(Some(Gathered { table, columns, entries, source: Source::Tail }))
    }

    fn build(&self, gathered: &Gathered) -> Result<Vec<BuiltManifest>> {
        let Gathered { table, columns, entries, .. } = gathered;
        let order = builder::order(entries, columns, &table.cluster_by);
        let build = |group: &[&Entry]| {
            let built = builder::build(group, columns).map_err(Error::encode)?;
            built.ok_or(Error::TotalsOverflow(table.table_id))
        };
        builder::cut(&order, self.target_files).map(build).collect()
    }

    /// Puts manifests in place, and tells the entry of the journal of it, if there is one: gives back what that is then.
    fn install(
        &self,
        gathered: &Gathered,
        built: Vec<BuiltManifest>,
        entry: Option<GrowingEntry>,
    ) -> Result<Option<GrowingEntry>, InstallError> {
        let (table_id, generation) = (gathered.table.table_id, gathered.table.statistics_generation);
        let (source, moved) = (gathered.source.clone(), gathered.entries.len() as u64);
        self.writer.write(move |tx| {
            install::install(tx, table_id, generation, &source, &built)?;
            let grow = |entry: &GrowingEntry| entry.grow(tx, &[(ENTRIES_MOVED, moved)]);
            Ok(entry.as_ref().map(grow).transpose()?)
        })
    }
}

fn gather_manifests(tx: &ReadTransaction<'_>, table: TableRow, manifests: &[ManifestRow]) -> Result<Gathered> {
    let columns = tx.list_columns(table.table_id)?;
    let mut entries = Vec::new();
    for manifest in manifests {
        let forgotten = tx.list_forgotten(manifest.manifest_id)?;
        let (block, statistics) = tx.sealed_entries(manifest)?;
        let all = block.identities().zip(statistics).map(|(identity, statistics)| Entry { identity, statistics });
        entries.extend(all.filter(|entry| !forgotten.contains_key(&entry.identity.file_id)));
    }
    let source = Source::Manifests(manifests.iter().map(|manifest| manifest.manifest_id).collect());
    Ok(Gathered { table, columns, entries, source })
}

fn zones_of<'b>(built: &'b [BuiltManifest], field_id: Option<FieldId>) -> Vec<Option<&'b ZoneMap>> {
    let column_of =
        |built: &'b BuiltManifest| built.columns.iter().find(|column| Some(column.column.field_id) == field_id);
    built.iter().map(|built| column_of(built).map(|column| &column.zone)).collect()
}
