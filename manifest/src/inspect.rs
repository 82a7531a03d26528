//! The statistics of files as they were registered, with precision and provenance: for people and audits, not for plans.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use prunus_statistics::{FieldId, FileColumn, FileStatistics};
use rusqlite::Row;

use crate::column_detail::Details;
use crate::entry_block::EntryBlock;
use crate::error::{BlockName, FormatError};
use crate::manifest::ManifestRow;
use crate::schema::SchemaColumn;
use crate::transaction::ReadTransaction;
use crate::{DataFileRow, Error, FileId, ManifestId, Result, SnapshotId, TableId, tail};

/// A data file with its statistics.
#[derive(Clone, Debug, PartialEq)]
pub struct InspectedFile {
    /// The file.
    pub row: DataFileRow,
    /// What is known of its columns, as it was registered or repaired.
    pub statistics: FileStatistics,
}

const SELECT_STATISTICS: &str = "
    SELECT f.table_id, f.manifest_id, s.statistics
    FROM data_file f LEFT JOIN tail_statistics s ON s.file_id = f.file_id
    WHERE f.file_id = ?1";

const SELECT_DETAIL: &str = "
    SELECT block
    FROM column_detail
    WHERE manifest_id = ?1 AND field_id = ?2";

/// What the file at an index said of a column, in the newest type of the column; `None` if nothing.
type ColumnOfFile<'a> = dyn Fn(usize) -> Result<Option<FileColumn>, FormatError> + 'a;

/// Where a file's statistics stand.
enum Place {
    Tail(FileStatistics),
    Manifest(TableId, ManifestId),
}

/// Files of one manifest, to be read together.
type FilesByManifest = BTreeMap<ManifestId, Vec<FileId>>;

/// The columns whose statistics are read.
#[derive(Clone, Copy)]
enum Columns<'c> {
    All,
    These(&'c BTreeSet<FieldId>),
}

impl Columns<'_> {
    fn has(self, column: FieldId) -> bool {
        match self {
            Self::All => true,
            Self::These(columns) => columns.contains(&column),
        }
    }
}

impl ReadTransaction<'_> {
    /// The statistics of a file as they were registered, in the newest types of their columns. Reads every column's blocks of the
    /// file's manifest.
    ///
    /// # Errors
    /// [`Error::FileNotFound`], [`Error::MissingBlock`], [`Error::DamagedBlock`], [`Error::DamagedRow`], [`Error::Sqlite`].
    pub fn load_file_statistics(&self, file_id: FileId) -> Result<FileStatistics> {
        let place = self.query_first(SELECT_STATISTICS, [file_id], |row| place(row, file_id))?;
        match place.ok_or(Error::FileNotFound(file_id))? {
            Place::Tail(statistics) => Ok(statistics),
            Place::Manifest(table_id, manifest_id) => {
                let mut read = self.sealed_statistics((table_id, manifest_id), &[file_id], Columns::All)?;
                read.pop().map(|(_, statistics)| statistics).ok_or(Error::FileNotFound(file_id))
            }
        }
    }

    /// Up to `limit` files that are live in a snapshot, with their statistics, ascending by id, from `from` on. Each manifest
    /// that has some of them is decoded once, all columns of it, so a page costs about as much as it touches manifests: ask
    /// for hundreds of files rather than for tens. Of a snapshot that has expired it gives what is not forgotten.
    ///
    /// # Errors
    /// [`Error::MissingBlock`], [`Error::DamagedBlock`], [`Error::DamagedRow`], [`Error::Sqlite`].
    pub fn list_inspected_files(
        &self,
        table_id: TableId,
        snapshot_id: SnapshotId,
        from: FileId,
        limit: u32,
    ) -> Result<Vec<InspectedFile>> {
        let after = FileId(from.0.saturating_sub(1));
        let rows = self.list_live_files(table_id, snapshot_id, Some(after), limit)?;
        self.inspect_files(table_id, rows)
    }

    /// The same files of one table with their statistics, in their order.
    pub(crate) fn inspect_files(&self, table_id: TableId, rows: Vec<DataFileRow>) -> Result<Vec<InspectedFile>> {
        let places = rows.iter().map(|row| (row.file_id, row.manifest_id));
        let mut read = self.statistics_of(table_id, places, Columns::All)?;
        let inspected = |row: DataFileRow| {
            let statistics = read.remove(&row.file_id).ok_or(Error::FileNotFound(row.file_id))?;
            Ok(InspectedFile { row, statistics })
        };
        rows.into_iter().map(inspected).collect()
    }

    /// What is known of these columns of files of one table, in their order, and in the newest types of the columns. Each manifest
    /// that has some of the files is read once, of its columns these alone; a file of the tail costs a decode of all that is known
    /// of it.
    ///
    /// # Errors
    /// [`Error::FileNotFound`], [`Error::MissingBlock`], [`Error::DamagedBlock`], [`Error::DamagedRow`], [`Error::Sqlite`].
    pub fn load_statistics(
        &self,
        table_id: TableId,
        file_ids: &[FileId],
        columns: &BTreeSet<FieldId>,
    ) -> Result<Vec<FileStatistics>> {
        let manifests = self.load_data_file_columns(file_ids)?.manifest_id;
        let places = file_ids.iter().copied().zip(manifests.iter().map(|manifest_id| manifest_id.map(ManifestId)));
        let mut read = self.statistics_of(table_id, places, Columns::These(columns))?;
        file_ids.iter().map(|file_id| read.remove(file_id).ok_or(Error::FileNotFound(*file_id))).collect()
    }

    fn statistics_of(
        &self,
        table_id: TableId,
        files: impl Iterator<Item = (FileId, Option<ManifestId>)>,
        columns: Columns<'_>,
    ) -> Result<HashMap<FileId, FileStatistics>> {
        let (mut sealed, mut read) = (FilesByManifest::new(), HashMap::new());
        for (file_id, manifest_id) in files {
            if let Some(manifest_id) = manifest_id {
                sealed.entry(manifest_id).or_default().push(file_id);
                continue;
            }
            let mut statistics = self.load_file_statistics(file_id)?;
            statistics.columns.retain(|column, _| columns.has(*column));
            read.insert(file_id, statistics);
        }
        for (manifest_id, file_ids) in sealed {
            read.extend(self.sealed_statistics((table_id, manifest_id), &file_ids, columns)?);
        }
        Ok(read)
    }

    /// The statistics of some of a manifest's files.
    fn sealed_statistics(
        &self,
        (table_id, manifest_id): (TableId, ManifestId),
        file_ids: &[FileId],
        columns: Columns<'_>,
    ) -> Result<Vec<(FileId, FileStatistics)>> {
        let missing = Error::MissingBlock { table_id, manifest_id, block: BlockName::Entries };
        let manifest = self.get_manifest(manifest_id)?.ok_or(missing)?;
        let entries = self.load_entry_block(&manifest)?;
        let wanted: HashSet<FileId> = file_ids.iter().copied().collect();
        let (indexes, mut read): (Vec<usize>, Vec<_>) = entries
            .identities()
            .enumerate()
            .filter(|(_, entry)| wanted.contains(&entry.file_id))
            .map(|(index, entry)| (index, (entry.file_id, FileStatistics::default())))
            .unzip();
        if read.len() != wanted.len() {
            return Err(manifest.missing(BlockName::Entries));
        }
        self.read_details(&manifest, columns, |field_id, column_of| {
            for (index, (_, statistics)) in indexes.iter().zip(&mut read) {
                statistics.columns.extend(column_of(*index)?.map(|column| (field_id, column)));
            }
            Ok(())
        })?;
        Ok(read)
    }

    /// All entries of a manifest with the statistics of each, in their order, as they were registered, in the newest types.
    ///
    /// # Errors
    /// [`Error::MissingBlock`], [`Error::DamagedBlock`], [`Error::DamagedRow`], [`Error::Sqlite`].
    pub(crate) fn sealed_entries(&self, manifest: &ManifestRow) -> Result<(EntryBlock, Vec<FileStatistics>)> {
        let entries = self.load_entry_block(manifest)?;
        let mut all = vec![FileStatistics::default(); entries.len()];
        self.read_details(manifest, Columns::All, |field_id, column_of| {
            for (index, statistics) in all.iter_mut().enumerate() {
                statistics.columns.extend(column_of(index)?.map(|column| (field_id, column)));
            }
            Ok(())
        })?;
        Ok((entries, all))
    }

    /// Decodes the details of each of these columns that a manifest has a block of, and hands over what gives those of a file.
    fn read_details(
        &self,
        manifest: &ManifestRow,
        columns: Columns<'_>,
        mut read: impl FnMut(FieldId, &ColumnOfFile<'_>) -> Result<(), FormatError>,
    ) -> Result<()> {
        for column in self.list_columns(manifest.table_id)?.into_iter().filter(|column| columns.has(column.field_id)) {
            self.read_detail(manifest, column, |column_of| read(column.field_id, column_of))?;
        }
        Ok(())
    }

    /// Decodes the details of a column, if a manifest has a block of it, and hands over what gives those of a file.
    pub(crate) fn read_detail(
        &self,
        manifest: &ManifestRow,
        column: SchemaColumn,
        read: impl FnOnce(&ColumnOfFile<'_>) -> Result<(), FormatError>,
    ) -> Result<()> {
        let SchemaColumn { field_id, column_type } = column;
        let Some((zones, written_as)) = self.get_column_block(manifest, field_id)? else { return Ok(()) };
        let name = BlockName::Detail(field_id);
        let mut read = Some(read);
        let decoded = self.query_first(SELECT_DETAIL, (manifest.manifest_id, field_id.0), |row| {
            let bytes = row.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?;
            let details = Details::decode(bytes, &zones, written_as).map_err(manifest.damaged(name))?;
            let column_of = |index| Ok(details.get(index)?.map(|said| said.read_as(written_as, column_type)));
            let Some(read) = read.take() else { return Ok(()) };
            read(&column_of).map_err(manifest.damaged(name))
        })?;
        decoded.ok_or_else(|| manifest.missing(name))
    }
}

fn place(row: &Row<'_>, file_id: FileId) -> Result<Place> {
    if let Some(manifest_id) = row.get(1)? {
        return Ok(Place::Manifest(row.get(0)?, manifest_id));
    }
    // Missing ones read as no bytes, and those fit no checksum.
    let bytes = row.get_ref(2)?.as_blob_or_null().map_err(rusqlite::Error::from)?.unwrap_or_default();
    tail::decode_statistics(bytes, file_id).map(Place::Tail)
}
