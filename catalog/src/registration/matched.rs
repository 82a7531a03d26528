//! A table's columns in a file.

use std::collections::{BTreeMap, BTreeSet};

use prunus_statistics::{FieldId, FileColumn};

use super::Target;
use crate::collect::{
    self, CollectedColumns, CollectedItems, ColumnFault, Footer, LeafInFile, LeafScan, ScannedLeaves, TableColumn,
};
use crate::schema::LeafColumn;

/// The columns of a table in a file, those in lists and maps too. Bounds are not cut: what they refute would be less.
pub(super) struct Matched {
    /// What is known of each; one that is missing here is unknown.
    pub(super) columns: BTreeMap<FieldId, FileColumn>,
    pub(super) leaves: Vec<LeafInFile>,
    leaf_of_column: BTreeMap<FieldId, usize>,
    leaf_of_item: BTreeMap<FieldId, usize>,
    /// The columns all of whose data was read: what is unknown of them is so for good.
    pub(super) read: BTreeSet<FieldId>,
}

impl Matched {
    /// Finds them.
    ///
    /// # Errors
    /// As [`collect::match_columns`].
    pub(super) fn find(
        footer: &Footer<'_>,
        scanned: &ScannedLeaves,
        target: &Target,
    ) -> Result<Self, Vec<ColumnFault>> {
        let CollectedColumns { mut columns, leaves, leaf_of_column } =
            collect::match_scanned_columns(footer, scanned, &target.wanted, usize::MAX)?;
        let CollectedItems { columns: items, leaf_of_item } =
            collect::match_items(footer, scanned, &target.holders, usize::MAX);
        columns.extend(items);
        let is_read = |(_, leaf): &(&FieldId, &usize)| matches!(scanned.get(leaf), Some(LeafScan::Everything(_)));
        let read = leaf_of_column.iter().chain(&leaf_of_item).filter(is_read).map(|(id, _)| *id).collect();
        Ok(Self { columns, leaves, leaf_of_column, leaf_of_item, read })
    }

    /// Which column each leaf of the file is.
    pub(super) fn columns_of_leaves(&self) -> BTreeMap<usize, FieldId> {
        self.leaf_of_column.iter().chain(&self.leaf_of_item).map(|(id, leaf)| (*leaf, *id)).collect()
    }

    /// Which leaf of the file a column is, if it holds it.
    pub(super) fn leaf_of(&self, field_id: FieldId) -> Option<usize> {
        self.leaf_of_column.get(&field_id).or_else(|| self.leaf_of_item.get(&field_id)).copied()
    }
}

impl From<&LeafColumn> for TableColumn {
    fn from(leaf: &LeafColumn) -> Self {
        Self {
            id: leaf.id,
            path: leaf.path.clone(),
            former_paths: Vec::new(),
            column_type: leaf.column_type,
            default: leaf.default.clone(),
        }
    }
}
