//! The statistics of the tail: those of each file in it, and no others.

use super::{Check, Fault, Place};
use crate::{FileId, ManifestId, tail};

const LIST_STATISTICS: &str = "
    SELECT s.file_id, s.statistics, f.table_id, f.manifest_id
    FROM tail_statistics s CROSS JOIN data_file f ON f.file_id = s.file_id
    ORDER BY s.file_id";

const LIST_FILES_WITHOUT: &str = "
    SELECT f.table_id, f.file_id
    FROM data_file f INDEXED BY data_file_tail
    WHERE f.manifest_id IS NULL AND NOT EXISTS (SELECT 1 FROM tail_statistics s WHERE s.file_id = f.file_id)";

impl Check<'_> {
    pub(super) fn check_tail_statistics(&mut self) {
        self.reader.each_row(Place::default(), LIST_STATISTICS, [], |findings, row| {
            let file_id: FileId = row.get(0)?;
            let place = Place::table(row.get(2)?).file(file_id);
            let bytes = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
            findings.take(place, tail::decode_statistics(bytes, file_id));
            if row.get::<_, Option<ManifestId>>(3)?.is_some() {
                findings.add(place, Fault::StatisticsTwice);
            }
            Ok(())
        });
        self.reader.each_row(Place::default(), LIST_FILES_WITHOUT, [], |findings, row| {
            findings.add(Place::table(row.get(0)?).file(row.get(1)?), Fault::NoStatistics);
            Ok(())
        });
    }
}
