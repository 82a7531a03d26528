//! What registering and auditing files need to know of their table.

use std::collections::BTreeMap;

use prunus_statistics::{FieldId, FileColumn, cut_to_limit};

use crate::collect::{ItemHolder, TableColumn};
use crate::location::Location;
use crate::properties::{KeptStatistics, StatisticsProperties};
use crate::schema::LeafColumn;
use crate::storage::Allowed;

/// What registering needs to know of the table.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) location: Option<Location>,
    /// Where its files may lie.
    pub(crate) allowed: Allowed,
    pub(crate) columns: Vec<LeafColumn>,
    /// The same in the same order, as the collector looks for them in files.
    pub(crate) wanted: Vec<TableColumn>,
    /// The leaves that lie in lists and maps.
    pub(crate) items: Vec<LeafColumn>,
    /// These lists and maps, as the collector looks for them in files.
    pub(crate) holders: Vec<ItemHolder>,
    /// Whether there are lists or maps too, whose presence in a file is not checked.
    pub(crate) has_nested: bool,
    pub(crate) properties: StatisticsProperties,
    /// The columns of which not all statistics are kept.
    pub(crate) kept: BTreeMap<FieldId, KeptStatistics>,
}

impl Target {
    /// What is kept of the statistics of a column.
    pub(crate) fn kept(&self, field_id: FieldId) -> KeptStatistics {
        self.kept.get(&field_id).copied().unwrap_or_default()
    }

    /// What is kept of a file's statistics, with bounds no longer than the table has them. What a column is known to be without
    /// its values (a constant, not in the file) always is.
    pub(crate) fn kept_of(&self, mut columns: BTreeMap<FieldId, FileColumn>) -> BTreeMap<FieldId, FileColumn> {
        for leaf in self.columns.iter().chain(&self.items) {
            let Some(FileColumn::Present(statistics)) = columns.get_mut(&leaf.id) else { continue };
            if statistics.is_constant() {
                continue;
            }
            cut_to_limit(statistics, leaf.column_type, self.properties.string_bound_bytes);
            match self.kept(leaf.id) {
                KeptStatistics::Bounds => {}
                KeptStatistics::Counts => (statistics.min, statistics.max) = (None, None),
                KeptStatistics::None => _ = columns.remove(&leaf.id),
            }
        }
        columns
    }
}
