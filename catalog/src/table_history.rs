//! A table with what it was: for those who want all of it at once, as of one moment.

use std::collections::BTreeSet;

use prunus_manifest::{MAX_TAGS_PER_TABLE, ReadTransaction, SchemaId, SnapshotId, SnapshotRow, TableRow};

use crate::cancel::Cancelled;
use crate::catalog::Catalog;
use crate::name::TableIdent;
use crate::schema::Schema;
use crate::schema_json::schema_from_text;
use crate::tables::{self, Table};
use crate::tags::Tag;
use crate::{Error, Result};

/// How many snapshots are read at a time.
const SNAPSHOTS_PER_READ: u32 = 100;

/// How many bytes of notes are read with the newest snapshots; those before them are as good as not asked for.
const MAX_NOTES_READ_BYTES: usize = 64 << 20;

/// Which snapshots are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Snapshots {
    /// None.
    None,
    /// The newest, and those that have a tag.
    Named,
    /// So many of the newest, fewer where their notes are long, and those that have a tag.
    Newest(usize),
}

/// A table with what it was.
#[derive(Clone, Debug)]
pub struct TableHistory {
    /// The table as it is.
    pub table: Table,
    /// All schemas that it has and had, by their ids, oldest first.
    pub schemas: Vec<(SchemaId, Schema)>,
    /// The snapshots that were asked for, oldest first.
    pub snapshots: Vec<SnapshotRow>,
    /// The tags, by name.
    pub tags: Vec<Tag>,
    /// The paths of all leaves that files of the table have or had, whether they are columns of it or not.
    pub leaves: BTreeSet<Vec<String>>,
}

impl Catalog {
    /// A table with what it was, as of one moment. It takes as long as there are snapshots among those that are wanted.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Store`].
    pub async fn load_table_history(&self, ident: TableIdent, wanted: Snapshots) -> Result<TableHistory> {
        self.read_in_turn(move |tx, cancelled| {
            let row = tx.load_table(ident.namespace.as_str(), ident.name.as_str())?;
            let texts = tx.list_schemas(row.table_id)?;
            let schemas = texts.iter().map(|text| schema_from_text(text).ok_or(Error::StoredSchema));
            let schemas = (SchemaId::FIRST.0..).map(SchemaId).zip(schemas).map(|(id, schema)| Ok((id, schema?)));
            let schemas = schemas.collect::<Result<_>>()?;
            let tags = tx.list_tags(row.table_id, "", MAX_TAGS_PER_TABLE)?;
            let sets = tx.list_leaf_sets(row.table_id)?;
            let leaves = sets.into_iter().flatten().map(|leaf| leaf.path).collect();
            let snapshots = match wanted {
                Snapshots::None => Vec::new(),
                Snapshots::Named => named(tx, &row, &tags)?,
                Snapshots::Newest(count) => {
                    let newest = newest(tx, &row, count, cancelled)?;
                    let oldest = newest.first().map_or(SnapshotId::EMPTY, |row| row.snapshot_id);
                    let named = named(tx, &row, &tags)?.into_iter().filter(|row| row.snapshot_id < oldest);
                    named.chain(newest).collect()
                }
            };
            Ok(TableHistory { table: tables::load(tx, row)?, schemas, snapshots, tags, leaves })
        })
        .await
    }
}

fn named(tx: &ReadTransaction<'_>, table: &TableRow, tags: &[Tag]) -> Result<Vec<SnapshotRow>> {
    let newest = std::iter::once(table.current_snapshot).filter(|newest| *newest != SnapshotId::EMPTY);
    let mut ids: Vec<SnapshotId> = tags.iter().map(|tag| tag.snapshot_id).chain(newest).collect();
    ids.sort_unstable();
    ids.dedup();
    ids.into_iter().map(|id| Ok(tx.load_snapshot(table.table_id, id)?)).collect()
}

fn newest(tx: &ReadTransaction<'_>, table: &TableRow, count: usize, cancelled: &Cancelled) -> Result<Vec<SnapshotRow>> {
    let (mut snapshots, mut notes_bytes): (Vec<SnapshotRow>, usize) = (Vec::new(), 0);
    while snapshots.len() < count && notes_bytes < MAX_NOTES_READ_BYTES {
        cancelled.check()?;
        let before = snapshots.last().map(|oldest| oldest.snapshot_id);
        let older = tx.list_snapshots(table.table_id, before, SNAPSHOTS_PER_READ)?;
        if older.is_empty() {
            break;
        }
        for row in older {
            notes_bytes += row.summary.iter().map(|(key, note)| key.len() + note.len()).sum::<usize>();
            snapshots.push(row);
        }
    }
    snapshots.truncate(count);
    snapshots.reverse();
    Ok(snapshots)
}
