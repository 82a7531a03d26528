//! A table with what it was: for those who want all of it at once, as of one moment.

use std::collections::BTreeSet;

use prunus_manifest::{MAX_TAGS_PER_TABLE, ReadTransaction, SchemaId, SnapshotId, SnapshotRow, TableRow};

use crate::Result;
use crate::cancel::Cancelled;
use crate::catalog::Catalog;
use crate::history::History;
use crate::name::TableIdent;
use crate::schema::Schema;
use crate::tables::{self, Table};
use crate::tags::Tag;

/// How many snapshots are read at a time.
const SNAPSHOTS_PER_READ: u32 = 100;

/// With how many bytes of notes the newest snapshots end; those before them are as good as not asked for.
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
    /// What `render` makes of a table with what it was, as of one moment, on a thread that may block. It takes as long as there are
    /// snapshots among those that are wanted.
    ///
    /// # Errors
    /// [`crate::Error::NotFound`]; [`crate::Error::TooMany`] if too many wait to read; [`crate::Error::Store`].
    pub async fn load_table_history<T: Send + 'static>(
        &self,
        ident: TableIdent,
        wanted: Snapshots,
        render: impl FnOnce(&TableHistory) -> T + Send + 'static,
    ) -> Result<T> {
        self.read_in_turn(move |tx, cancelled| {
            let row = tx.load_table(ident.namespace.as_str(), ident.name.as_str())?;
            let schemas = History::load(tx, &row)?.into_schemas();
            let schemas = (SchemaId::FIRST.0..).map(SchemaId).zip(schemas).collect();
            let tags = tx.list_tags(row.table_id, "", MAX_TAGS_PER_TABLE)?;
            let sets = tx.list_leaf_sets(row.table_id)?;
            let leaves = sets.into_iter().flatten().map(|leaf| leaf.path).collect();
            let snapshots = match wanted {
                Snapshots::None => Vec::new(),
                Snapshots::Named => named(tx, &row, &tags)?,
                Snapshots::Newest(count) => {
                    let newest = newest(tx, &row, (count, MAX_NOTES_READ_BYTES), cancelled)?;
                    let oldest = newest.first().map(|row| row.snapshot_id);
                    let is_older = |row: &SnapshotRow| oldest.is_none_or(|oldest| row.snapshot_id < oldest);
                    named(tx, &row, &tags)?.into_iter().filter(is_older).chain(newest).collect()
                }
            };
            Ok(render(&TableHistory { table: tables::load(tx, row)?, schemas, snapshots, tags, leaves }))
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

/// The newest snapshots, oldest first: up to so many, or up to the one with which their notes have so many bytes.
fn newest(
    tx: &ReadTransaction<'_>,
    table: &TableRow,
    (count, notes_bytes_max): (usize, usize),
    cancelled: &Cancelled,
) -> Result<Vec<SnapshotRow>> {
    let (mut snapshots, mut notes_bytes): (Vec<SnapshotRow>, usize) = (Vec::new(), 0);
    'enough: loop {
        cancelled.check()?;
        let before = snapshots.last().map(|oldest| oldest.snapshot_id);
        let older = tx.list_snapshots(table.table_id, before, SNAPSHOTS_PER_READ)?;
        if older.is_empty() {
            break;
        }
        for row in older {
            if snapshots.len() == count || notes_bytes >= notes_bytes_max {
                break 'enough;
            }
            notes_bytes += row.summary.iter().map(|(key, note)| key.len() + note.len()).sum::<usize>();
            snapshots.push(row);
        }
    }
    snapshots.reverse();
    Ok(snapshots)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::{AddedFile, CatalogOptions, CommitRequest, NewTable, SchemaSource};

    fn ident() -> TableIdent {
        "n.t".parse().unwrap()
    }

    /// A table of 250 snapshots, each with ten bytes of notes; the tenth has a tag.
    async fn catalog(folder: &std::path::Path) -> Catalog {
        let catalog = Catalog::open(folder, CatalogOptions::default()).await.unwrap();
        catalog.create_namespace("n".parse().unwrap(), [].into()).await.unwrap();
        let field: crate::FieldJson = serde_json::from_str(r#"{"name": "id", "type": "int64"}"#).unwrap();
        let schema = SchemaSource::Fields(vec![field.to_new_field().unwrap()]);
        let properties = [("verification".to_owned(), "declared".to_owned())].into();
        catalog.create_table(NewTable { properties, ..NewTable::new(ident(), schema) }).await.unwrap();
        for number in 0..250 {
            let file = AddedFile {
                path: format!("s3://b/{number}"),
                size_bytes: Some(1),
                row_count: Some(1),
                ..AddedFile::default()
            };
            let summary = BTreeMap::from([("key".to_owned(), "1234567".to_owned())]);
            catalog.commit(ident(), CommitRequest { summary, ..CommitRequest::append([file]) }).await.unwrap();
        }
        catalog.set_tag(ident(), "old".parse().unwrap(), SnapshotId(10)).await.unwrap();
        catalog
    }

    fn ids(snapshots: &[SnapshotRow]) -> Vec<i64> {
        snapshots.iter().map(|row| row.snapshot_id.0).collect()
    }

    #[tokio::test]
    async fn as_many_snapshots_are_read_as_are_wanted_and_their_notes_allow() {
        let folder = tempfile::tempdir().unwrap();
        let catalog = catalog(folder.path()).await;
        let load = async |wanted| {
            catalog.load_table_history(ident(), wanted, |history| ids(&history.snapshots)).await.unwrap()
        };
        assert_eq!(load(Snapshots::None).await, Vec::<i64>::new());
        assert_eq!(load(Snapshots::Named).await, [10, 250]);
        assert_eq!(load(Snapshots::Newest(0)).await, [10, 250]);
        assert_eq!(load(Snapshots::Newest(2)).await, [10, 249, 250]);
        assert_eq!(load(Snapshots::Newest(241)).await, (10..=250).collect::<Vec<_>>());
        assert_eq!(load(Snapshots::Newest(250)).await, (1..=250).collect::<Vec<_>>());
        assert_eq!(load(Snapshots::Newest(251)).await, (1..=250).collect::<Vec<_>>());
        let within = |notes_bytes: usize| {
            let read = |tx: &ReadTransaction<'_>| {
                let table = tx.load_table("n", "t")?;
                newest(tx, &table, (1_000, notes_bytes), &Cancelled::default())
            };
            ids(&catalog.store.read(read).unwrap())
        };
        assert_eq!(within(20), [249, 250]);
        assert_eq!(within(21), [248, 249, 250]);
        assert_eq!(within(1_500).len(), 150);
    }
}
