//! The manifests of a table: listed with what is live in each, and one looked at with its zones and its files.
//!
//! Manifests are how a table is laid out now. They hold the files of all its snapshots, so an older one is read in the
//! manifests that its files lie in today. Sealing and regrouping change which these are, and no snapshot.

use std::collections::BTreeMap;
use std::sync::Arc;

use prunus_manifest::{
    FileId, ManifestId, ManifestRow, ManifestZone, ReadTransaction, SchemaColumn, SchemaId, SnapshotId, TableId,
    TableRow, Totals,
};
use prunus_pruner::Mask;
use prunus_statistics::PrimitiveType;

use crate::cancel::Cancelled;
use crate::catalog::Catalog;
use crate::files::FileEntry;
use crate::name::TableIdent;
use crate::page::PageSize;
use crate::plan::{ResolvedSnapshot, SnapshotRef, add_file};
use crate::plan_cache::{Manifests, PlanCache, PlanReader};
use crate::schema::LeafColumn;
use crate::table_schema::TableSchema;
use crate::{Error, Result, column_ref, live_entries};

/// Which manifests are asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct ManifestsRequest {
    /// The snapshot whose files they hold.
    pub snapshot: SnapshotRef,
    /// Where the page before ended; `None` for the first page.
    pub after: Option<ManifestPosition>,
    /// How many manifests the page has.
    pub page_size: PageSize,
}

/// Where a page of manifests ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ManifestPosition {
    /// Its last manifest.
    pub manifest_id: ManifestId,
    /// How many manifests the table had up to that one. Ids only rise, so where there are fewer of them later, files that were
    /// listed have gone into a manifest that is still to come.
    pub manifests: u64,
}

/// A page of the manifests that hold a live file of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestPage {
    /// The snapshot.
    pub snapshot_id: SnapshotId,
    /// The page's manifests, ascending by id.
    pub manifests: Vec<ManifestEntry>,
    /// What is live in the tail. With the last page alone: until then files may go from the tail into manifests.
    pub tail: Option<Totals>,
    /// Where the page ended, where more follow.
    pub next: Option<ManifestPosition>,
}

/// A manifest and what a snapshot has of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ManifestEntry {
    /// Its id.
    pub manifest_id: ManifestId,
    /// Its files that are live in the snapshot.
    pub live: Totals,
    /// All its files, also those that are live in other snapshots alone, or in none any more.
    pub entries: Totals,
    /// The snapshot that its first file is live from.
    pub first_added_snapshot: SnapshotId,
    /// The snapshot that its last file is live from.
    pub last_added_snapshot: SnapshotId,
}

/// One manifest with what plans read of it, and a page of its live files.
#[derive(Clone, Debug)]
pub struct ManifestDetail {
    /// The snapshot.
    pub snapshot_id: SnapshotId,
    /// The schema by which it is told of.
    pub schema_id: SchemaId,
    /// The manifest.
    pub manifest: ManifestEntry,
    /// What is known of each column over all its files, by column key. On the first page alone.
    pub zones: Option<BTreeMap<String, (PrimitiveType, ManifestZone)>>,
    /// The page's files that are live in the snapshot, by rising `file_id`.
    pub files: Vec<FileEntry>,
    /// Whether more files follow.
    pub more: bool,
}

impl Catalog {
    /// A page of the manifests that hold a live file of a snapshot, ascending by id. A page that has a next one holds its
    /// snapshot against expiry.
    ///
    /// For the newest snapshot this reads a row for each manifest. For an older one it reads what was removed of manifests, and the
    /// entries of those of which some were added or removed up to it and some after, as a plan does; these are kept in memory as they are for plans.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Expired`], also if manifests of the pages before were grouped anew meanwhile;
    /// [`Error::Store`].
    pub async fn list_manifests(&self, ident: TableIdent, request: ManifestsRequest) -> Result<ManifestPage> {
        let cache = self.plan_cache.clone();
        let (table_id, page) =
            self.read_in_turn(move |tx, cancelled| list(tx, (&cache, cancelled), &ident, request)).await?;
        if page.next.is_some() {
            self.leases.take(table_id, page.snapshot_id, self.clock.now_ms());
        }
        Ok(page)
    }

    /// One manifest of a table, with a page of its files that are live in a snapshot from the first one after `after`. A page that
    /// has a next one holds the snapshot against expiry, and not the manifest, which may be grouped anew. Reads the manifest's
    /// entries and, for the first page, one small row for each column; no block of a column.
    ///
    /// # Errors
    /// [`Error::NotFound`], also for a manifest of another table and for one that is there no more; [`Error::Expired`], also for
    /// such a manifest if it is not the first page that is asked for; [`Error::Store`].
    pub async fn load_manifest(
        &self,
        ident: TableIdent,
        manifest_id: ManifestId,
        snapshot: SnapshotRef,
        (after, page_size): (Option<FileId>, PageSize),
    ) -> Result<ManifestDetail> {
        let cache = self.plan_cache.clone();
        let load = move |tx: &ReadTransaction<'_>, cancelled: &Cancelled| {
            let table = tx.load_table(ident.namespace.as_str(), ident.name.as_str())?;
            let manifest = tx.get_manifest(manifest_id)?.filter(|manifest| manifest.table_id == table.table_id);
            let manifest = manifest.ok_or_else(|| gone(manifest_id, after))?;
            let resolved = snapshot.resolve(tx, &table)?;
            let reader = PlanReader::new(&cache, tx, &table, cancelled);
            let detail = look_into(tx, &reader, &manifest, &resolved, (after, page_size))?;
            Ok((table.table_id, detail))
        };
        let (table_id, detail) = self.read_in_turn(load).await?;
        if detail.more {
            self.leases.take(table_id, detail.snapshot_id, self.clock.now_ms());
        }
        Ok(detail)
    }
}

/// What it means that there is no such manifest: it never was one of the table, or the page before was of it.
fn gone(manifest_id: ManifestId, after: Option<FileId>) -> Error {
    match after {
        None => Error::NotFound { what: "manifest", name: manifest_id.to_string() },
        Some(_) => Error::Expired { what: format!("manifest {manifest_id}") },
    }
}

pub(crate) fn list(
    tx: &ReadTransaction<'_>,
    (cache, cancelled): (&PlanCache, &Cancelled),
    ident: &TableIdent,
    request: ManifestsRequest,
) -> Result<(TableId, ManifestPage)> {
    let table = tx.load_table(ident.namespace.as_str(), ident.name.as_str())?;
    let ResolvedSnapshot { snapshot_id, .. } = request.snapshot.resolve(tx, &table)?;
    let reader = PlanReader::new(cache, tx, &table, cancelled);
    let all = reader.list_manifests()?;
    let mut manifests = Vec::new();
    for manifest in all.rows.get(start_of_page(&all, request.after)?..).unwrap_or_default() {
        reader.check_awaited()?;
        let entry = ManifestEntry::new(manifest, live_totals(&reader, &table, manifest, snapshot_id)?);
        if entry.live.files > 0 {
            manifests.push(entry);
        }
        if manifests.len() > request.page_size.as_usize() {
            break;
        }
    }
    let more = request.page_size.cut(&mut manifests);
    let next = manifests.last().filter(|_| more).map(|last| ManifestPosition {
        manifest_id: last.manifest_id,
        manifests: count_up_to(&all, last.manifest_id) as u64,
    });
    let tail = if more { None } else { Some(live_tail(&reader, snapshot_id)?) };
    Ok((table.table_id, ManifestPage { snapshot_id, manifests, tail, next }))
}

/// Which manifest a page begins with.
fn start_of_page(all: &Manifests, after: Option<ManifestPosition>) -> Result<usize> {
    let Some(ManifestPosition { manifest_id, manifests }) = after else { return Ok(0) };
    let start = count_up_to(all, manifest_id);
    if start as u64 == manifests {
        Ok(start)
    } else {
        Err(Error::Expired { what: "the layout that the page before is of".to_owned() })
    }
}

fn count_up_to(all: &Manifests, manifest_id: ManifestId) -> usize {
    all.rows.partition_point(|manifest| manifest.manifest_id <= manifest_id)
}

/// What of a manifest is live in a snapshot. Its entries are read only where its row and its removals do not tell.
fn live_totals(
    reader: &PlanReader<'_>,
    table: &TableRow,
    manifest: &ManifestRow,
    snapshot_id: SnapshotId,
) -> Result<Totals> {
    if manifest.first_added_snapshot > snapshot_id {
        return Ok(Totals::default());
    }
    if manifest.last_added_snapshot <= snapshot_id
        && let Some(sum) = live_entries::sum_of_added(reader, table, manifest, snapshot_id)?
    {
        return Ok(sum);
    }
    let entries = reader.load_entries(manifest)?;
    Ok(live_entries::sum(&entries, &live_mask(reader, manifest, snapshot_id)?))
}

/// Which entries of a manifest are live in a snapshot.
fn live_mask(reader: &PlanReader<'_>, manifest: &ManifestRow, snapshot_id: SnapshotId) -> Result<Mask> {
    let entries = reader.load_entries(manifest)?;
    let removals = if manifest.removed.files == 0 { Arc::default() } else { reader.load_removals(manifest)? };
    Ok(live_entries::live_in(snapshot_id, &entries, &removals))
}

fn live_tail(reader: &PlanReader<'_>, snapshot_id: SnapshotId) -> Result<Totals> {
    let tail = reader.load_tail()?;
    let mut sum = Totals::default();
    for chunk in tail.chunks() {
        let live = live_entries::live_in(snapshot_id, &chunk.block, tail.removals());
        for entry in live.indices().filter_map(|index| chunk.entries.get(index)) {
            add_file(&mut sum, entry.row_count, entry.size_bytes);
        }
    }
    Ok(sum)
}

impl ManifestEntry {
    fn new(manifest: &ManifestRow, live: Totals) -> Self {
        Self {
            manifest_id: manifest.manifest_id,
            live,
            entries: manifest.totals,
            first_added_snapshot: manifest.first_added_snapshot,
            last_added_snapshot: manifest.last_added_snapshot,
        }
    }
}

fn look_into(
    tx: &ReadTransaction<'_>,
    reader: &PlanReader<'_>,
    manifest: &ManifestRow,
    snapshot: &ResolvedSnapshot,
    (after, page_size): (Option<FileId>, PageSize),
) -> Result<ManifestDetail> {
    let snapshot_id = snapshot.snapshot_id;
    let schema = reader.load_schema(snapshot.schema_id)?;
    let entries = reader.load_entries(manifest)?;
    let live = live_mask(reader, manifest, snapshot_id)?;
    let file_ids = entries.file_ids();
    // Entries stand in the order that they are clustered by.
    let mut page: Vec<FileId> = live.indices().map(|index| FileId(file_ids.value(index))).collect();
    page.retain(|file_id| after.is_none_or(|after| *file_id > after));
    page.sort_unstable();
    let more = page_size.cut(&mut page);
    let rows = tx.load_data_files(&page)?;
    Ok(ManifestDetail {
        snapshot_id,
        schema_id: snapshot.schema_id,
        manifest: ManifestEntry::new(manifest, live_entries::sum(&entries, &live)),
        zones: if after.is_none() { Some(zones(tx, manifest, &schema)?) } else { None },
        files: rows.into_iter().map(|row| FileEntry::new(row, &schema.leaves)).collect(),
        more,
    })
}

/// What is known of each column of a schema over a manifest.
fn zones(
    tx: &ReadTransaction<'_>,
    manifest: &ManifestRow,
    schema: &TableSchema,
) -> Result<BTreeMap<String, (PrimitiveType, ManifestZone)>> {
    let leaves: Vec<_> = schema.leaves.iter().chain(&schema.items).collect();
    let column = |leaf: &&LeafColumn| SchemaColumn { field_id: leaf.id, column_type: leaf.column_type };
    let columns: Vec<SchemaColumn> = leaves.iter().map(column).collect();
    let zones = tx.load_zones_of_manifest(manifest, &columns)?;
    let keyed = leaves.iter().zip(zones).map(|(leaf, zone)| (column_ref::key(&leaf.path), (leaf.column_type, zone)));
    Ok(keyed.collect())
}
