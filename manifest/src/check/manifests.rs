//! Manifests, one after another: the entries against the rows of their files, the blocks against each other.

use std::collections::{BTreeMap, BTreeSet};

use arrow::array::{Array, UInt64Array};
use prunus_statistics::{FieldId, PrimitiveType};
use rusqlite::{Row, params};

use super::sums::{ManifestRows, Rows, Sums};
use super::{AllRead, Check, CheckProgress, Difference, Fault, Findings, Place, SumOf, zone};
use crate::column_detail::Details;
use crate::column_zones::ColumnZones;
use crate::entry_block::{EntryBlock, EntryIdentity};
use crate::error::{BlockName, FormatError};
use crate::ids::Unsigned;
use crate::manifest::{ManifestRow, ManifestZone, manifest_row};
use crate::transaction::ReadTransaction;
use crate::{FileId, ManifestId, Result, SnapshotId, TableId, checked, column_block, declared};

const LIST_MANIFESTS: &str = "
    SELECT manifest_id, table_id, files, rows, files_of_unknown_rows, bytes, first_added_snapshot, last_added_snapshot,
        removed_files, removed_rows, removed_files_of_unknown_rows, removed_bytes
    FROM manifest
    ORDER BY manifest_id";

const LIST_FORGOTTEN: &str = "
    SELECT f.file_id, EXISTS (SELECT 1 FROM data_file d WHERE d.file_id = f.file_id)
    FROM forgotten_entry f
    WHERE f.manifest_id = ?1
    ORDER BY f.file_id";

const SELECT_FILE: &str = "
    SELECT table_id, manifest_id, row_count, size_bytes, added_snapshot
    FROM data_file
    WHERE file_id = ?1";

const LIST_COLUMN_BLOCKS: &str = "
    SELECT field_id, column_type, block
    FROM column_block
    WHERE manifest_id = ?1
    ORDER BY field_id";

const SELECT_DETAIL: &str = "
    SELECT block
    FROM column_detail
    WHERE manifest_id = ?1 AND field_id = ?2";

const SELECT_ZONE: &str = "
    SELECT column_type, zone, declared_files
    FROM manifest_zone
    WHERE table_id = ?1 AND field_id = ?2 AND manifest_id = ?3";

const LIST_ZONES_WITHOUT_BLOCK: &str = "
    SELECT z.manifest_id, z.field_id
    FROM manifest_zone z
    WHERE NOT EXISTS (SELECT 1 FROM column_block b WHERE b.manifest_id = z.manifest_id AND b.field_id = z.field_id)
    UNION
    SELECT d.manifest_id, d.field_id
    FROM column_detail d
    WHERE NOT EXISTS (SELECT 1 FROM column_block b WHERE b.manifest_id = d.manifest_id AND b.field_id = d.field_id)";

impl Check<'_> {
    /// Checks every manifest; says how many there are.
    pub(super) fn check_manifests(&mut self, rows: &Rows) -> u64 {
        let mut manifests: BTreeMap<ManifestId, ManifestRow> = BTreeMap::new();
        self.reader.each_row(Place::default(), LIST_MANIFESTS, [], |_, row| {
            let manifest = manifest_row(row)?;
            manifests.insert(manifest.manifest_id, manifest);
            Ok(())
        });
        let of = manifests.len() as u64;
        for (done, manifest) in (0..).zip(manifests.values()) {
            (self.progress)(CheckProgress::Manifests { done, of });
            self.check_manifest(manifest, rows);
        }
        for (manifest_id, rows) in rows.manifests.iter().filter(|(id, _)| !manifests.contains_key(id)) {
            let place = Place { manifest_id: Some(*manifest_id), ..Place::default() };
            self.reader.findings.add(place, Fault::FilesWithoutEntry(rows.files));
        }
        self.reader.each_row(Place::default(), LIST_ZONES_WITHOUT_BLOCK, [], |findings, row| {
            let (manifest_id, field_id) = (row.get(0)?, FieldId(row.get(1)?));
            if let Some(manifest) = manifests.get(&manifest_id) {
                let missing = manifest.missing(BlockName::Column(field_id));
                findings.add(place_of(manifest).column(field_id), Fault::Unreadable(missing));
            }
            Ok(())
        });
        of
    }

    fn check_manifest(&mut self, manifest: &ManifestRow, rows: &Rows) {
        let place = place_of(manifest);
        let entries = self.reader.tx.load_entry_block(manifest);
        let entries = self.reader.findings.take(place, entries);
        if let Some(entries) = &entries {
            self.check_entries(manifest, &entries.identities().collect::<Vec<_>>(), rows);
        }
        let row_counts = entries.as_ref().map(EntryBlock::row_counts);
        let tx = self.reader.tx;
        self.reader.each_row(place, LIST_COLUMN_BLOCKS, [manifest.manifest_id], |findings, row| {
            let column = CheckedColumn { manifest, field_id: FieldId(row.get(0)?), row_counts };
            column.check(tx, row, findings);
            Ok(())
        });
    }

    fn check_entries(&mut self, manifest: &ManifestRow, entries: &[EntryIdentity], rows: &Rows) {
        let place = place_of(manifest);
        let forgotten = self.check_forgotten(manifest, entries);
        let (mut all, mut removed) = (Sums::default(), Sums::default());
        let mut of_entries = ManifestRows::default();
        for entry in entries {
            all.add(*entry);
            if forgotten.contains(&entry.file_id) {
                removed.add(*entry);
            } else {
                of_entries.files += 1;
                of_entries.digest = of_entries.digest.wrapping_add(entry.digest());
            }
        }
        self.check_sums(place, SumOf::Entries, manifest.totals, all);
        let added = || entries.iter().map(|entry| entry.added_snapshot);
        let found = (added().min().unwrap_or(SnapshotId::EMPTY), added().max().unwrap_or(SnapshotId::EMPTY));
        let stored = (manifest.first_added_snapshot, manifest.last_added_snapshot);
        if stored != found {
            self.reader.findings.add(place, Fault::AddedSnapshots(Difference { stored, found }));
        }
        let of_rows = rows.manifests.get(&manifest.manifest_id).copied().unwrap_or_default();
        if rows.all_read == AllRead::No {
            return;
        }
        self.check_sums(place, SumOf::Removed, manifest.removed, removed.plus(of_rows.removed));
        if (of_rows.files, of_rows.digest) != (of_entries.files, of_entries.digest) {
            self.find_differences(manifest, entries, (&forgotten, of_rows.files));
        }
    }

    fn check_sums(&mut self, place: Place, of: SumOf, stored: crate::Totals, found: Sums) {
        let found = found.totals();
        if stored != found {
            self.reader.findings.add(place, Fault::Sums { of, difference: Difference { stored, found } });
        }
    }

    /// The forgotten entries of a manifest, each of which must be an entry without a row.
    fn check_forgotten(&mut self, manifest: &ManifestRow, entries: &[EntryIdentity]) -> BTreeSet<FileId> {
        let ids: BTreeSet<FileId> = entries.iter().map(|entry| entry.file_id).collect();
        let mut forgotten = BTreeSet::new();
        let place = place_of(manifest);
        self.reader.each_row(place, LIST_FORGOTTEN, [manifest.manifest_id], |findings, row| {
            let file_id: FileId = row.get(0)?;
            forgotten.insert(file_id);
            if !ids.contains(&file_id) {
                findings.add(place.file(file_id), Fault::ForgottenWithoutEntry);
            }
            if row.get(1)? {
                findings.add(place.file(file_id), Fault::ForgottenWithRow);
            }
            Ok(())
        });
        forgotten
    }

    /// Finds which entries it is that differ from their rows. They are looked up one by one, which only damage is worth.
    fn find_differences(
        &mut self,
        manifest: &ManifestRow,
        entries: &[EntryIdentity],
        (forgotten, files): (&BTreeSet<FileId>, u64),
    ) {
        let mut seen = BTreeSet::new();
        let mut found = 0;
        for entry in entries.iter().filter(|entry| !forgotten.contains(&entry.file_id)) {
            let place = place_of(manifest).file(entry.file_id);
            let row = self.reader.tx.query_first(SELECT_FILE, [entry.file_id], |row| file_row(row, entry.file_id));
            let Some(row) = self.reader.findings.take(place, row) else { continue };
            let fault = match row {
                _ if !seen.insert(entry.file_id) => Some(Fault::EntryTwice),
                None => Some(Fault::EntryWithoutRow),
                Some((home, _)) if home != (manifest.table_id, Some(manifest.manifest_id)) => {
                    Some(Fault::EntryElsewhere)
                }
                Some((_, identity)) => {
                    found += 1;
                    (identity != *entry).then_some(Fault::EntryDiffers)
                }
            };
            if let Some(fault) = fault {
                self.reader.findings.add(place, fault);
            }
        }
        if files > found {
            self.reader.findings.add(place_of(manifest), Fault::FilesWithoutEntry(files - found));
        }
    }
}

/// Where a row says that its file is.
type Home = (TableId, Option<ManifestId>);

fn file_row(row: &Row<'_>, file_id: FileId) -> Result<(Home, EntryIdentity)> {
    let identity = EntryIdentity {
        file_id,
        row_count: row.get::<_, Option<Unsigned>>(2)?.map(|rows| rows.0),
        size_bytes: row.get::<_, Unsigned>(3)?.0,
        added_snapshot: row.get(4)?,
    };
    Ok(((row.get(0)?, row.get(1)?), identity))
}

fn place_of(manifest: &ManifestRow) -> Place {
    Place::table(manifest.table_id).manifest(manifest.manifest_id)
}

/// A column of a manifest.
struct CheckedColumn<'m> {
    manifest: &'m ManifestRow,
    field_id: FieldId,
    /// Of the entries; `None` where these do not read.
    row_counts: Option<&'m UInt64Array>,
}

impl CheckedColumn<'_> {
    /// Checks a column's block, and its zone and detail against that.
    fn check(&self, tx: &ReadTransaction<'_>, row: &Row<'_>, findings: &mut Findings) {
        let Self { manifest, field_id, .. } = *self;
        let place = place_of(manifest).column(field_id);
        let Some((zones, column_type)) = findings.take(place, decode_block(row, manifest, field_id)) else {
            return;
        };
        let name = BlockName::Detail(field_id);
        let declared = tx.query_first(SELECT_DETAIL, params![manifest.manifest_id, field_id.0], |row| {
            let bytes = row.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?;
            let details = Details::decode(bytes, &zones, column_type);
            details.and_then(|details| self.count_declared(&details, column_type)).map_err(manifest.damaged(name))
        });
        let declared =
            findings.take(place, declared.and_then(|declared| declared.ok_or_else(|| manifest.missing(name))));

        let key = params![manifest.table_id, field_id.0, manifest.manifest_id];
        let zone = tx.query_first(SELECT_ZONE, key, |row| decode_zone(row, manifest, field_id));
        match findings.take(place, zone) {
            None => {}
            Some(None) => findings.add(place, Fault::NoZone),
            Some(Some((_, written_as))) if written_as != column_type => findings.add(place, Fault::ZoneType),
            Some(Some((ManifestZone { zone, declared_files }, _))) => {
                for claim in zone::claims_too_much(&zone, &zones, column_type) {
                    findings.add(place, Fault::ZoneTooNarrow(claim));
                }
                if let (Some(stored), Some(Some(found))) = (declared_files, declared)
                    && stored != found
                {
                    findings.add(place, Fault::DeclaredFiles(Difference { stored, found }));
                }
            }
        }
    }

    /// Reads every file's entry; says how many hold something usable that is their writer's word, if that can be told.
    fn count_declared(&self, details: &Details<'_>, column_type: PrimitiveType) -> Result<Option<u64>, FormatError> {
        let mut declared = 0;
        for index in 0..self.manifest.len() {
            let column = details.get(index)?;
            let row_count = self.row_counts.and_then(|counts| counts.is_valid(index).then(|| counts.value(index)));
            declared += u64::from(declared::is_declared(column.as_ref(), column_type, row_count));
        }
        Ok(self.row_counts.is_some().then_some(declared))
    }
}

fn decode_block(row: &Row<'_>, manifest: &ManifestRow, field_id: FieldId) -> Result<(ColumnZones, PrimitiveType)> {
    let name = BlockName::Column(field_id);
    let column_type = row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?;
    let column_type: PrimitiveType = column_type.parse().map_err(manifest.damaged(name))?;
    let bytes = row.get_ref(2)?.as_blob().map_err(rusqlite::Error::from)?;
    let zones = column_block::decode(bytes, column_type.physical_type(), manifest.len());
    Ok((zones.map_err(manifest.damaged(name))?, column_type))
}

fn decode_zone(row: &Row<'_>, manifest: &ManifestRow, field_id: FieldId) -> Result<(ManifestZone, PrimitiveType)> {
    let name = BlockName::Zone(field_id);
    let column_type = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
    let column_type: PrimitiveType = column_type.parse().map_err(manifest.damaged(name))?;
    let bytes = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
    let zone = checked::unpack(bytes).map_err(manifest.damaged(name))?;
    let declared_files = row.get::<_, Option<Unsigned>>(2)?.map(|files| files.0);
    Ok((ManifestZone { zone, declared_files }, column_type))
}
