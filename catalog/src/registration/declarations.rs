//! What the writer says of a file.

use std::collections::BTreeMap;

use prunus_manifest::FileLeaf;
use prunus_statistics::{ColumnStatistics, FieldId, FileColumn, normalise};

use super::{Content, Registration, Target};
use crate::collect::TableColumn;
use crate::declared::DeclaredStatistics;
use crate::partition::Constants;
use crate::schema::LeafColumn;
use crate::{Fault, column_ref};

impl Registration<'_> {
    /// The writer's word alone.
    pub(super) fn declared_alone(&mut self, constants: &Constants) -> Content {
        let row_count = self.added.row_count;
        if self.added.size_bytes.is_none() {
            let message = "size_bytes is needed, since the table's files are not read";
            self.faults.push(Fault::of_path(self.path(), message));
        }
        let declared = self.declarations(row_count);
        let mut columns: BTreeMap<FieldId, FileColumn> =
            declared.into_iter().map(|(leaf, statistics)| (leaf.id, FileColumn::Present(statistics))).collect();
        for leaf in self.absent_columns() {
            if columns.insert(leaf.id, TableColumn::from(&leaf).absent(row_count)).is_some() {
                let fault = Fault::new("the column is declared absent and has statistics");
                self.column_faults(&leaf, vec![fault]);
            }
        }
        self.apply_constants(&mut columns, constants, row_count);
        let leaves = self.leaves_by_word(&columns, constants);
        Content { object: None, row_count, leaves, columns }
    }

    /// What the writer has to call the columns in the file: as the table does now, whatever it calls them later.
    fn leaves_by_word(&self, columns: &BTreeMap<FieldId, FileColumn>, constants: &Constants) -> Vec<FileLeaf> {
        let is_in_file = |leaf: &&LeafColumn| {
            let is_constant = match columns.get(&leaf.id) {
                Some(FileColumn::Absent) => true,
                Some(FileColumn::Present(statistics)) => statistics.is_constant(),
                None => false,
            };
            !is_constant && !constants.contains_key(&leaf.id)
        };
        let leaf = |leaf: &LeafColumn| FileLeaf {
            path: leaf.path.clone(),
            field_id: None,
            column: Some(leaf.id),
            file_type: None,
            group_ids: Vec::new(),
        };
        self.target.columns.iter().filter(is_in_file).map(leaf).collect()
    }

    /// The declared statistics in their columns' types, made harmless; what is no statistic of its column is a fault.
    pub(super) fn declarations(&mut self, row_count: Option<u64>) -> Vec<(LeafColumn, ColumnStatistics)> {
        let declared = std::mem::take(&mut self.added.columns);
        let mut typed = Vec::with_capacity(declared.len());
        for (key, declared) in declared {
            let Some((leaf, statistics)) = self.declaration(&key, &declared, row_count) else { continue };
            if typed.iter().any(|(earlier, _): &(LeafColumn, _)| earlier.id == leaf.id) {
                let message = "the commit names the column more than once";
                self.column_faults(&leaf, vec![Fault::new(message)]);
            }
            typed.push((leaf, statistics));
        }
        typed
    }

    fn declaration(
        &mut self,
        key: &str,
        declared: &DeclaredStatistics,
        row_count: Option<u64>,
    ) -> Option<(LeafColumn, ColumnStatistics)> {
        let leaf = self.column(key)?;
        let mut statistics = match declared.typed(leaf.column_type) {
            Ok(statistics) => statistics,
            Err(faults) => {
                self.column_faults(&leaf, faults);
                return None;
            }
        };
        let is_item = self.is_item(&leaf);
        if is_item {
            self.drop_counts(&mut statistics, key);
        }
        let row_count = row_count.filter(|_| !is_item);
        for defect in normalise(&mut statistics, leaf.column_type, row_count) {
            let warning = Fault::of_path(self.path(), format!("{defect}; it is taken as unknown"));
            self.warnings.push(warning.in_column(key));
        }
        Some((leaf, statistics))
    }

    /// Whether a leaf lies in a list or map.
    pub(super) fn is_item(&self, leaf: &LeafColumn) -> bool {
        self.target.items.iter().any(|item| item.id == leaf.id)
    }

    /// Takes counts of what a list or map holds as unknown, which would be taken for counts of rows.
    fn drop_counts(&mut self, statistics: &mut ColumnStatistics, key: &str) {
        let counts = [statistics.null_count.take(), statistics.nan_count.take()];
        if counts.iter().any(Option::is_some) {
            let message =
                "null_count and nan_count count rows, and what a list or map holds is none; they are taken as unknown";
            self.warnings.push(Fault::of_path(self.path(), message).in_column(key));
        }
    }

    pub(super) fn absent_columns(&mut self) -> Vec<LeafColumn> {
        let keys = std::mem::take(&mut self.added.absent_columns);
        keys.iter().filter_map(|key| self.column(key)).collect()
    }

    pub(super) fn column(&mut self, key: &str) -> Option<LeafColumn> {
        let Target { columns, items, .. } = self.target;
        let leaf = column_ref::find(columns, key).or_else(|| column_ref::find(items, key)).cloned();
        if leaf.is_none() {
            let all: Vec<LeafColumn> = columns.iter().chain(items).cloned().collect();
            let message = column_ref::unknown(key, &all, &[]);
            self.faults.push(Fault::of_path(self.path(), message).in_column(key));
        }
        leaf
    }
}
