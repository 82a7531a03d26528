//! Repairs: statistics of files are replaced where they stand. No file changes by it, and no snapshot.
//!
//! Of a file in the tail the row is written anew. The blocks of a manifest never change, so another one is built of the same
//! entries and put in its place, which costs as much for one file as for all of them: repairs are gathered by manifest. Each
//! manifest, and each handful of files of the tail, is a job of its own, so that no commit waits for many.

use std::collections::BTreeMap;
use std::sync::PoisonError;

use prunus_statistics::{FieldId, FileColumn, FileStatistics, PrimitiveType};
use rusqlite::params;

use super::{Gathered, Layout, MAX_ATTEMPTS, gather_manifests};
use crate::builder::{self, BuiltManifest, Entry};
use crate::install::{self, InstallError};
use crate::schema::SchemaColumn;
use crate::transaction::{ReadTransaction, WriteTransaction};
use crate::{EncodedStatistics, Error, FileId, ManifestId, Result, TableId, late_column, tail};

/// How many files of the tail are repaired in one job at most: other commits wait meanwhile.
const MAX_TAIL_FILES_PER_JOB: usize = 256;

/// What is to become of the statistics of one column of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnRepair {
    /// The type that both are in. If the column is of another one by then, the repair is superseded.
    pub column_type: PrimitiveType,
    /// What they were when the repair was worked out; `None` if nothing was said of the column.
    pub before: Option<FileColumn>,
    /// What they are to be.
    pub after: FileColumn,
}

/// The columns of a file that are to be repaired; what is known of all others stays. Of a column that no schema of the table
/// ever had, nothing is kept.
pub type FileRepair = BTreeMap<FieldId, ColumnRepair>;

/// What became of the repair of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepairOutcome {
    /// All its columns are as they are to be, and one at least was not before.
    Repaired,
    /// All its columns were so already.
    Unchanged,
    /// A column is neither what it was when the repair was worked out nor what it is to be, or is of another type. Nothing of
    /// the file was repaired.
    Superseded,
    /// The file is forgotten, or none of the table's.
    Gone,
    /// What it stands in changed each time before the repair was in place. Nothing of the file was repaired; trying again may
    /// help.
    Moved,
}

/// Where a file's statistics stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Nowhere,
    /// With the number of the handful that it is one of.
    Tail(usize),
    Manifest(ManifestId),
}

/// Repairs of files that are open yet.
type Repairs<'r> = BTreeMap<FileId, &'r FileRepair>;
type Outcomes = BTreeMap<FileId, RepairOutcome>;

/// The newest types of a table's columns.
type Types = BTreeMap<FieldId, PrimitiveType>;

/// What is to become of the statistics of some files in the tail.
struct Rewriting {
    /// That of the statistics that were read: a column that has become of another type since raises it.
    generation: u64,
    files: Vec<Rewritten>,
}

/// The statistics of a file in the tail, as they are stored and as they are to be.
struct Rewritten {
    file_id: FileId,
    before: Vec<u8>,
    after: EncodedStatistics,
}

const SELECT_PLACE: &str = "
    SELECT manifest_id
    FROM data_file
    WHERE file_id = ?1 AND table_id = ?2";

const SELECT_TAIL_STATISTICS: &str = "
    SELECT s.statistics
    FROM data_file f LEFT JOIN tail_statistics s ON s.file_id = f.file_id
    WHERE f.file_id = ?1 AND f.manifest_id IS NULL";

const REWRITE_TAIL_STATISTICS: &str = "
    UPDATE tail_statistics
    SET statistics = ?3
    WHERE file_id = ?1 AND statistics = ?2";

impl Layout {
    /// Replaces statistics; says what became of each file. Where it fails, what it did before stays done, and whoever asks
    /// again is told that it is.
    pub(crate) fn repair(&self, table_id: TableId, repairs: &BTreeMap<FileId, FileRepair>) -> Result<Outcomes> {
        let mut outcomes: Outcomes = repairs.keys().map(|file_id| (*file_id, RepairOutcome::Moved)).collect();
        for _ in 0..MAX_ATTEMPTS {
            let is_open = |file_id: &FileId| outcomes.get(file_id) == Some(&RepairOutcome::Moved);
            let open: Repairs<'_> =
                repairs.iter().filter(|(id, _)| is_open(id)).map(|(id, repair)| (*id, repair)).collect();
            if open.is_empty() {
                break;
            }
            // A manifest that is built anew is one that all late columns were looked for in.
            self.fill_all(table_id)?;
            for (place, repairs) in self.readers.read(|tx| locate(tx, table_id, open))? {
                outcomes.extend(self.repair_in(table_id, place, &repairs)?);
            }
        }
        Ok(outcomes)
    }

    fn repair_in(&self, table_id: TableId, place: Place, repairs: &Repairs<'_>) -> Result<Outcomes> {
        match place {
            Place::Nowhere => Ok(repairs.keys().map(|file_id| (*file_id, RepairOutcome::Gone)).collect()),
            Place::Tail(_) => self.repair_tail(table_id, repairs),
            Place::Manifest(manifest_id) => self.repair_manifest(table_id, manifest_id, repairs),
        }
    }

    /// Repairs what is still in the tail, and says nothing of the rest.
    fn repair_tail(&self, table_id: TableId, repairs: &Repairs<'_>) -> Result<Outcomes> {
        let _guard = self.one_at_a_time.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut outcomes, rewriting) = self.readers.read(|tx| rewrite(tx, table_id, repairs))?;
        if !rewriting.files.is_empty() {
            let stored = self.writer.write(move |tx| store(tx, table_id, &rewriting))?;
            outcomes.extend(stored.into_iter().map(|file_id| (file_id, RepairOutcome::Repaired)));
        }
        Ok(outcomes)
    }

    /// Repairs what is still in a manifest, and says nothing of the rest.
    fn repair_manifest(&self, table_id: TableId, manifest_id: ManifestId, repairs: &Repairs<'_>) -> Result<Outcomes> {
        let _guard = self.one_at_a_time.lock().unwrap_or_else(PoisonError::into_inner);
        let gathered = self.read(table_id, |tx, table| {
            let Some(manifest) = tx.get_manifest(manifest_id)? else { return Ok(None) };
            if !late_column::are_manifests_filled(tx, table_id, &self.late(tx, &table)?)? {
                return Ok(None);
            }
            gather_manifests(tx, table, &[manifest]).map(Some)
        })?;
        let Some(mut gathered) = gathered else { return Ok(Outcomes::new()) };
        let mut outcomes = Outcomes::new();
        let types = types_of(&gathered.columns);
        for Entry { identity, statistics } in &mut gathered.entries {
            if let Some(repair) = repairs.get(&identity.file_id) {
                outcomes.insert(identity.file_id, apply(statistics, repair, &types)?);
            }
        }
        if !outcomes.values().any(|outcome| *outcome == RepairOutcome::Repaired) {
            return Ok(outcomes);
        }
        let built = rebuild(&gathered)?;
        let Gathered { table, source, .. } = gathered;
        let install = move |tx: &WriteTransaction<'_>| {
            install::install(tx, table_id, table.statistics_generation, &source, std::slice::from_ref(&built))?;
            Ok(tx.raise_statistics_generation(table_id)?)
        };
        match self.writer.write(install) {
            Ok(()) => Ok(outcomes),
            Err(InstallError::Moved) => Ok(Outcomes::new()),
            Err(InstallError::Store(error)) => Err(error),
        }
    }
}

/// Where files stand that are to be repaired together.
fn locate<'r>(
    tx: &ReadTransaction<'_>,
    table_id: TableId,
    repairs: Repairs<'r>,
) -> Result<BTreeMap<Place, Repairs<'r>>> {
    // So that a table that is gone is told of as such.
    tx.load_head(table_id)?;
    let mut places: BTreeMap<Place, Repairs<'r>> = BTreeMap::new();
    let mut of_tail = 0;
    for (file_id, repair) in repairs {
        let place = match tx.query_first(SELECT_PLACE, params![file_id, table_id], |row| Ok(row.get(0)?))? {
            None => Place::Nowhere,
            Some(None) => {
                of_tail += 1;
                Place::Tail(of_tail / MAX_TAIL_FILES_PER_JOB)
            }
            Some(Some(manifest_id)) => Place::Manifest(manifest_id),
        };
        places.entry(place).or_default().insert(file_id, repair);
    }
    Ok(places)
}

/// Works out what is to be stored for files of the tail. Says nothing of those that are not in it.
fn rewrite(tx: &ReadTransaction<'_>, table_id: TableId, repairs: &Repairs<'_>) -> Result<(Outcomes, Rewriting)> {
    let mut outcomes = Outcomes::new();
    let mut rewriting = Rewriting { generation: tx.load_statistics_generation(table_id)?, files: Vec::new() };
    let types = types_of(&tx.list_columns(table_id)?);
    for (file_id, repair) in repairs {
        let stored: Option<Option<Vec<u8>>> =
            tx.query_first(SELECT_TAIL_STATISTICS, [file_id], |row| Ok(row.get(0)?))?;
        let Some(stored) = stored else { continue };
        // Missing ones are taken as no bytes, and those fit no checksum.
        let before = stored.unwrap_or_default();
        let mut statistics = tail::decode_statistics(&before, *file_id)?;
        match apply(&mut statistics, repair, &types)? {
            RepairOutcome::Repaired => {
                let after = EncodedStatistics::new(&statistics)?;
                rewriting.files.push(Rewritten { file_id: *file_id, before, after });
            }
            outcome => {
                outcomes.insert(*file_id, outcome);
            }
        }
    }
    Ok((outcomes, rewriting))
}

/// Stores statistics of files in the tail where they are still what they were; says of which files.
fn store(tx: &WriteTransaction<'_>, table_id: TableId, rewriting: &Rewriting) -> Result<Vec<FileId>> {
    if tx.load_statistics_generation(table_id)? != rewriting.generation {
        return Ok(Vec::new());
    }
    let mut stored = Vec::with_capacity(rewriting.files.len());
    for Rewritten { file_id, before, after } in &rewriting.files {
        if tx.execute(REWRITE_TAIL_STATISTICS, params![file_id, before, after.bytes()])? == 1 {
            stored.push(*file_id);
        }
    }
    if !stored.is_empty() {
        tx.raise_statistics_generation(table_id)?;
    }
    Ok(stored)
}

/// A manifest of the same entries in their order.
fn rebuild(gathered: &Gathered) -> Result<BuiltManifest> {
    let Gathered { table, columns, entries, .. } = gathered;
    let built = builder::build(&entries.iter().collect::<Vec<_>>(), columns).map_err(Error::encode)?;
    built.ok_or(Error::TotalsOverflow(table.table_id))
}

/// Repairs the statistics of a file in memory, all columns or none.
fn apply(statistics: &mut FileStatistics, repair: &FileRepair, types: &Types) -> Result<RepairOutcome> {
    let mut outcome = RepairOutcome::Unchanged;
    for (field_id, ColumnRepair { column_type, before, after }) in repair {
        if types.get(field_id).is_some_and(|newest| newest != column_type) {
            return Ok(RepairOutcome::Superseded);
        }
        let current = statistics.columns.get(field_id);
        if is_same(current, Some(after))? {
            continue;
        }
        if !is_same(current, before.as_ref())? {
            return Ok(RepairOutcome::Superseded);
        }
        outcome = RepairOutcome::Repaired;
    }
    if outcome == RepairOutcome::Repaired {
        statistics.columns.extend(repair.iter().map(|(field_id, column)| (*field_id, column.after.clone())));
    }
    Ok(outcome)
}

fn types_of(columns: &[SchemaColumn]) -> Types {
    columns.iter().map(|column| (column.field_id, column.column_type)).collect()
}

/// As they would be stored, since a NaN is not equal to itself and zeros of both signs are.
fn is_same(a: Option<&FileColumn>, b: Option<&FileColumn>) -> Result<bool> {
    let bytes = |column: Option<&FileColumn>| rmp_serde::to_vec(&column).map_err(Error::encode);
    Ok(bytes(a)? == bytes(b)?)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use prunus_statistics::ColumnStatistics;

    use super::*;
    use crate::layout::Step;
    use crate::readers::Readers;
    use crate::writer::Writer;
    use crate::{PowerLoss, database, sample};

    /// A table with a full tail of two files, and nothing that seals it by itself.
    fn layout(folder: &tempfile::TempDir) -> (Layout, TableId) {
        let path = folder.path().join("store.db");
        let connection = database::open_writer(&path, PowerLoss::LosesNothing).unwrap();
        let writer = Arc::new(Writer::start(connection, 2, Arc::default(), Arc::default()).unwrap());
        let table_id = writer.write(|tx| Ok::<_, Error>(sample::create_table(tx))).unwrap();
        writer.write(move |tx| tx.commit(&sample::append(table_id, &["a", "b"]))).unwrap();
        (Layout::new(Arc::new(Readers::new(&path, 2, Arc::default())), writer, 2, None), table_id)
    }

    /// Of the first file.
    fn repairs() -> BTreeMap<FileId, FileRepair> {
        let after = FileColumn::Present(ColumnStatistics::default());
        [(FileId(1), [(FieldId(1), ColumnRepair { column_type: PrimitiveType::Int64, before: None, after })].into())]
            .into()
    }

    #[test]
    fn a_manifest_of_older_statistics_is_not_put_in_place() {
        let folder = tempfile::tempdir().unwrap();
        let (layout, table_id) = layout(&folder);
        let gathered = layout.read(table_id, |tx, table| layout.gather_tail(tx, table)).unwrap().unwrap();
        let built = layout.build(&gathered).unwrap();
        assert_eq!(layout.repair(table_id, &repairs()).unwrap(), [(FileId(1), RepairOutcome::Repaired)].into());
        assert!(matches!(layout.install(&gathered, built, None), Err(InstallError::Moved)));
        assert_eq!(layout.seal(table_id).unwrap(), Step::Done(2));
    }

    #[test]
    fn what_was_sealed_since_it_was_read_is_not_written_to_the_tail() {
        let folder = tempfile::tempdir().unwrap();
        let (layout, table_id) = layout(&folder);
        let repairs = repairs();
        let open = repairs.iter().map(|(file_id, repair)| (*file_id, repair)).collect();
        let (_, rewritten) = layout.readers.read(|tx| rewrite(tx, table_id, &open)).unwrap();
        layout.seal(table_id).unwrap();
        assert_eq!(layout.writer.write(move |tx| store(tx, table_id, &rewritten)).unwrap(), []);
        let generation = layout.readers.read(|tx| tx.load_statistics_generation(table_id)).unwrap();
        assert_eq!(generation, 0);
    }

    #[test]
    fn what_was_rewritten_since_it_was_read_is_let_be() {
        let folder = tempfile::tempdir().unwrap();
        let (layout, table_id) = layout(&folder);
        let repairs = repairs();
        let open = repairs.iter().map(|(file_id, repair)| (*file_id, repair)).collect();
        let (_, rewritten) = layout.readers.read(|tx| rewrite(tx, table_id, &open)).unwrap();
        layout.repair(table_id, &repairs).unwrap();
        assert_eq!(layout.writer.write(move |tx| store(tx, table_id, &rewritten)).unwrap(), []);
    }

    #[test]
    fn what_was_read_before_other_statistics_came_is_let_be() {
        let folder = tempfile::tempdir().unwrap();
        let (layout, table_id) = layout(&folder);
        let repairs = repairs();
        let open = repairs.iter().map(|(file_id, repair)| (*file_id, repair)).collect();
        let (_, rewriting) = layout.readers.read(|tx| rewrite(tx, table_id, &open)).unwrap();
        layout.writer.write(move |tx| tx.raise_statistics_generation(table_id)).unwrap();
        assert_eq!(layout.writer.write(move |tx| store(tx, table_id, &rewriting)).unwrap(), []);
    }

    #[test]
    fn what_has_left_its_place_is_not_spoken_of() {
        let folder = tempfile::tempdir().unwrap();
        let (layout, table_id) = layout(&folder);
        let repairs = repairs();
        let open: Repairs<'_> = repairs.iter().map(|(file_id, repair)| (*file_id, repair)).collect();
        layout.seal(table_id).unwrap();
        assert_eq!(layout.repair_in(table_id, Place::Tail(0), &open).unwrap(), Outcomes::new());
        let elsewhere = Place::Manifest(ManifestId(77));
        assert_eq!(layout.repair_in(table_id, elsewhere, &open).unwrap(), Outcomes::new());
    }
}
