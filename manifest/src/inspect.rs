//! The statistics of one file as they were registered, with precision and provenance: for people, not for plans.

use prunus_statistics::{FieldId, FileStatistics};
use rusqlite::Row;

use crate::column_detail::Details;
use crate::entry_block::EntryBlock;
use crate::error::{BlockName, FormatError};
use crate::manifest::ManifestRow;
use crate::transaction::ReadTransaction;
use crate::{Error, FileId, ManifestId, Result, TableId, tail};

const SELECT_STATISTICS: &str = "
    SELECT f.table_id, f.manifest_id, s.statistics
    FROM data_file f LEFT JOIN tail_statistics s ON s.file_id = f.file_id
    WHERE f.file_id = ?1";

const SELECT_DETAIL: &str = "
    SELECT block
    FROM column_detail
    WHERE manifest_id = ?1 AND field_id = ?2";

/// Where a file's statistics stand.
enum Place {
    Tail(FileStatistics),
    Manifest(TableId, ManifestId),
}

impl ReadTransaction<'_> {
    /// The statistics of a file as they were registered. Reads every column's blocks of the file's manifest.
    ///
    /// # Errors
    /// [`Error::FileNotFound`], [`Error::MissingBlock`], [`Error::DamagedBlock`], [`Error::DamagedRow`], [`Error::Sqlite`].
    pub fn load_file_statistics(&self, file_id: FileId) -> Result<FileStatistics> {
        let place = self.query_first(SELECT_STATISTICS, [file_id], |row| place(row, file_id))?;
        match place.ok_or(Error::FileNotFound(file_id))? {
            Place::Tail(statistics) => Ok(statistics),
            Place::Manifest(table_id, manifest_id) => {
                let missing = Error::MissingBlock { table_id, manifest_id, block: BlockName::Entries };
                let manifest = self.get_manifest(manifest_id)?.ok_or(missing)?;
                self.sealed_statistics(&manifest, file_id)
            }
        }
    }

    fn sealed_statistics(&self, manifest: &ManifestRow, file_id: FileId) -> Result<FileStatistics> {
        let entries = self.load_entry_block(manifest)?;
        let index = entries.file_ids().values().iter().position(|id| *id == file_id.0);
        let index = index.ok_or_else(|| manifest.missing(BlockName::Entries))?;
        let mut statistics = FileStatistics::default();
        self.read_details(manifest, |field_id, details| {
            statistics.columns.extend(details.get(index)?.map(|column| (field_id, column)));
            Ok(())
        })?;
        Ok(statistics)
    }

    /// All entries of a manifest with the statistics of each, in their order, as they were registered.
    ///
    /// # Errors
    /// [`Error::MissingBlock`], [`Error::DamagedBlock`], [`Error::DamagedRow`], [`Error::Sqlite`].
    pub(crate) fn sealed_entries(&self, manifest: &ManifestRow) -> Result<(EntryBlock, Vec<FileStatistics>)> {
        let entries = self.load_entry_block(manifest)?;
        let mut all = vec![FileStatistics::default(); entries.len()];
        self.read_details(manifest, |field_id, details| {
            for (index, statistics) in all.iter_mut().enumerate() {
                statistics.columns.extend(details.get(index)?.map(|column| (field_id, column)));
            }
            Ok(())
        })?;
        Ok((entries, all))
    }

    /// Decodes the details of each column that a manifest has a block of.
    fn read_details(
        &self,
        manifest: &ManifestRow,
        mut read: impl FnMut(FieldId, &Details<'_>) -> Result<(), FormatError>,
    ) -> Result<()> {
        for column in self.list_columns(manifest.table_id)? {
            self.read_detail(manifest, column.field_id, |details| read(column.field_id, details))?;
        }
        Ok(())
    }

    /// Decodes the details of a column, if a manifest has a block of it.
    pub(crate) fn read_detail(
        &self,
        manifest: &ManifestRow,
        field_id: FieldId,
        read: impl FnOnce(&Details<'_>) -> Result<(), FormatError>,
    ) -> Result<()> {
        let Some((zones, written_as)) = self.get_column_block(manifest, field_id)? else { return Ok(()) };
        let name = BlockName::Detail(field_id);
        let mut read = Some(read);
        let decoded = self.query_first(SELECT_DETAIL, (manifest.manifest_id, field_id.0), |row| {
            let bytes = row.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?;
            let details = Details::decode(bytes, &zones, written_as).map_err(manifest.damaged(name))?;
            let Some(read) = read.take() else { return Ok(()) };
            read(&details).map_err(manifest.damaged(name))
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
