//! Grouping the manifests of a table anew, on request. What is due is grouped in the background, too.

use std::sync::Arc;

use prunus_manifest::TableLayout;

use crate::catalog::Catalog;
use crate::journal::Change;
use crate::name::TableIdent;
use crate::table_schema::TableSchema;
use crate::tables::{cluster_by_ids, cluster_by_keys};
use crate::{Error, Result, blocking};

/// How manifests are to be grouped anew.
#[derive(Clone, Debug, Default)]
pub struct RegroupRequest {
    /// The columns by whose lower bounds entries are ordered from now on; absent: those of the table.
    pub cluster_by: Option<Vec<String>>,
    /// Whether nothing is changed, only looked at.
    pub dry_run: bool,
}

/// What grouping anew did, or would find.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Regrouped {
    /// The columns that entries are ordered by, as keys.
    pub cluster_by: Vec<String>,
    /// How the table was laid out, seen in that order.
    pub before: TableLayout,
    /// How it is laid out now; `None` where nothing was changed.
    pub after: Option<TableLayout>,
    /// How many entries were put into other manifests; one counts each time.
    pub entries_moved: u64,
}

impl Catalog {
    /// Groups the manifests of a table anew, until none is small and none overlap that need not. Returns when it is done;
    /// commits and plans go on meanwhile, and no snapshot changes. It goes on when its caller goes away, and refuses a second caller
    /// until it is done; then there is little left to do for that one.
    ///
    /// # Errors
    /// [`crate::Error::TooMany`] if the table is being grouped anew on request, or too many others are;
    /// [`crate::Error::Invalid`] for columns that there are not, [`crate::Error::NotFound`], [`crate::Error::Store`].
    pub async fn regroup(&self, ident: TableIdent, request: RegroupRequest) -> Result<Regrouped> {
        let RegroupRequest { cluster_by: asked, dry_run } = request;
        let turn = self.admission.regroup().await?;
        let (is_asked, change) = (asked.is_some(), Change::of_table("regroup_manifests", &ident));
        let named = ident.clone();
        let (table_id, ids, cluster_by) = self
            .read(move |tx| {
                let table = tx.load_table(ident.namespace.as_str(), ident.name.as_str())?;
                let TableSchema { leaves, items, .. } = TableSchema::load(tx, table.table_id, table.schema_id)?;
                let ids = match asked {
                    Some(keys) => cluster_by_ids(&keys, &leaves, &items).map_err(Error::Invalid)?,
                    None => table.cluster_by,
                };
                let keys = cluster_by_keys(&ids, &leaves);
                Ok((table.table_id, ids, keys))
            })
            .await?;
        let turn_of_table = if dry_run { None } else { Some(self.admission.regroup_table(table_id)?) };
        let (store, scribe) = (Arc::clone(&self.store), self.scribe());
        blocking::run(move || {
            let _turns = (turn, turn_of_table);
            if dry_run {
                let before = store.load_layout(table_id, &ids)?;
                return Ok(Regrouped { cluster_by, before, after: None, entries_moved: 0 });
            }
            // Only what was asked for: another may have asked for something else meanwhile.
            let mut entry = scribe.growing(change.clone());
            if is_asked {
                let asked = scribe.growing(change.with_list("cluster_by", &cluster_by));
                entry = store.write(move |tx| {
                    named.check_still_names(tx, table_id)?;
                    if tx.load_table_by_id(table_id)?.cluster_by == ids {
                        return Ok::<_, Error>(entry.clone());
                    }
                    tx.set_cluster_by(table_id, &ids)?;
                    Ok(asked.grow(tx, &[])?)
                })?;
            }
            let prunus_manifest::Regrouped { before, after, entries_moved } = store.regroup_for(table_id, entry)?;
            Ok(Regrouped { cluster_by, before, after: Some(after), entries_moved })
        })
        .await
    }
}
