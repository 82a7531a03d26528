//! Tags: names of snapshots, which are never expired while they have one.

use prunus_manifest::{SnapshotId, TagChange, TagRow};

use crate::Result;
use crate::catalog::Catalog;
use crate::journal::{Change, Made};
use crate::name::{TableIdent, TagName};
use crate::once::{Done, Once};
use crate::page::PageSize;

/// A tag of a table.
pub type Tag = TagRow;

impl Catalog {
    /// Gives a tag to a snapshot, and takes it from the one that had it.
    ///
    /// # Errors
    /// [`crate::Error::NotFound`] for the table and the snapshot, which also is the answer for 0, the empty table;
    /// [`crate::Error::Invalid`] if the table has too many tags, [`crate::Error::Store`].
    pub async fn set_tag(&self, ident: TableIdent, name: TagName, snapshot_id: SnapshotId) -> Result<(Tag, TagChange)> {
        self.set_tag_once(ident, name, snapshot_id, Once::unkeyed()).await.map(Done::of_unkeyed)
    }

    /// The same for a request that may be sent more than once.
    ///
    /// # Errors
    /// As [`Catalog::set_tag`], and [`crate::Error::KeyReused`].
    pub async fn set_tag_once(
        &self,
        ident: TableIdent,
        name: TagName,
        snapshot_id: SnapshotId,
        once: Once<(Tag, TagChange)>,
    ) -> Result<Done<(Tag, TagChange)>> {
        let now_ms = self.clock.now_ms();
        self.write_once(once, move |tx| {
            let table = tx.load_table(ident.namespace.as_str(), ident.name.as_str())?;
            let (tag, change) = tx.set_tag(table.table_id, name.as_str(), snapshot_id, now_ms)?;
            let made = Change::of_table("set_tag", &ident).with("tag", name.as_str()).to(snapshot_id);
            Ok(match change {
                TagChange::Created => Made::change((tag, change), made),
                TagChange::Moved { from } => Made::change((tag, change), made.from(from)),
                TagChange::Unchanged => Made::nothing((tag, change)),
            })
        })
        .await
    }

    /// The tag of this name.
    ///
    /// # Errors
    /// [`crate::Error::NotFound`], [`crate::Error::Store`].
    pub async fn load_tag(&self, ident: TableIdent, name: TagName) -> Result<Tag> {
        self.read(move |tx| {
            let table = tx.load_table(ident.namespace.as_str(), ident.name.as_str())?;
            Ok(tx.load_tag(table.table_id, name.as_str())?)
        })
        .await
    }

    /// A page of the tags of a table in the order of their names, from the first one after `after`, and whether there are
    /// more.
    ///
    /// # Errors
    /// [`crate::Error::NotFound`], [`crate::Error::Store`].
    pub async fn list_tags(&self, ident: TableIdent, after: String, page_size: PageSize) -> Result<(Vec<Tag>, bool)> {
        self.read(move |tx| {
            let table = tx.load_table(ident.namespace.as_str(), ident.name.as_str())?;
            let mut rows = tx.list_tags(table.table_id, &after, page_size.and_one())?;
            let more = page_size.cut(&mut rows);
            Ok((rows, more))
        })
        .await
    }

    /// Takes a tag away. Its snapshot may be expired from then on.
    ///
    /// # Errors
    /// [`crate::Error::NotFound`], [`crate::Error::Store`].
    pub async fn delete_tag(&self, ident: TableIdent, name: TagName) -> Result<()> {
        self.delete_tag_once(ident, name, Once::unkeyed()).await.map(Done::of_unkeyed)
    }

    /// The same for a request that may be sent more than once.
    ///
    /// # Errors
    /// As [`Catalog::delete_tag`], and [`crate::Error::KeyReused`].
    pub async fn delete_tag_once(&self, ident: TableIdent, name: TagName, once: Once<()>) -> Result<Done<()>> {
        self.write_once(once, move |tx| {
            let table = tx.load_table(ident.namespace.as_str(), ident.name.as_str())?;
            let tag = tx.load_tag(table.table_id, name.as_str())?;
            tx.delete_tag(table.table_id, name.as_str())?;
            let made = Change::of_table("delete_tag", &ident).with("tag", name.as_str()).from(tag.snapshot_id);
            Ok(Made::change((), made))
        })
        .await
    }
}
