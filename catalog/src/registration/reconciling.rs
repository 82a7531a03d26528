//! What a file says and what its writer says, held against each other.

use std::collections::{BTreeMap, BTreeSet};

use prunus_statistics::{ColumnStatistics, FieldId, FileColumn};

use super::Registration;
use crate::partition::{self, Constants};
use crate::schema::LeafColumn;
use crate::{Fault, declared};

/// What a file says of itself.
pub(super) struct Known {
    pub(super) columns: BTreeMap<FieldId, FileColumn>,
    /// The columns all of whose data was read.
    pub(super) read: BTreeSet<FieldId>,
    pub(super) row_count: u64,
}

impl Registration<'_> {
    /// What the file says, held against what the writer declares and against the partition constants.
    pub(super) fn reconciled(
        &mut self,
        known: Known,
        declared: Vec<(LeafColumn, ColumnStatistics)>,
        constants: &Constants,
    ) -> BTreeMap<FieldId, FileColumn> {
        let Known { mut columns, read, row_count } = known;
        for (leaf, declared) in declared {
            let row_count = Some(row_count).filter(|_| !self.is_item(&leaf));
            let column = declared::Column { column_type: leaf.column_type, row_count };
            let reconciled = match columns.remove(&leaf.id) {
                Some(FileColumn::Present(known)) => {
                    let both = declared::reconcile(&known, declared, column);
                    // What is unknown although the data was read is so for good.
                    let both = if read.contains(&leaf.id) { both.map(|_| known) } else { both };
                    both.map_err(|refuted| refuted.into_iter().map(Fault::from).collect())
                }
                Some(FileColumn::Absent) => Err(vec![Fault::new("the file does not hold the column")]),
                None => Ok(if read.contains(&leaf.id) { ColumnStatistics::default() } else { declared }),
            };
            match reconciled {
                Ok(statistics) => {
                    columns.insert(leaf.id, FileColumn::Present(statistics));
                }
                Err(faults) => self.column_faults(&leaf, faults),
            }
        }
        for leaf in self.absent_columns() {
            if matches!(columns.get(&leaf.id), Some(FileColumn::Present(_))) && leaf.default.is_none() {
                let fault = Fault::new("the file holds the column");
                self.column_faults(&leaf, vec![fault.with_evidence("absent", "its schema names it")]);
            }
        }
        self.check_presence(&columns, constants);
        self.apply_constants(&mut columns, constants, Some(row_count));
        columns
    }

    /// A file must hold what the table requires, and something of the table at all.
    fn check_presence(&mut self, columns: &BTreeMap<FieldId, FileColumn>, constants: &Constants) {
        let target = self.target;
        let is_absent = |leaf: &LeafColumn| matches!(columns.get(&leaf.id), Some(FileColumn::Absent));
        let missing: Vec<&LeafColumn> = target
            .columns
            .iter()
            .filter(|leaf| leaf.required && is_absent(leaf) && !constants.contains_key(&leaf.id))
            .collect();
        for leaf in missing {
            let message = "the file does not hold the column, which may not be null and has no default";
            self.column_faults(leaf, vec![Fault::new(message)]);
        }
        for leaf in partition::undecided(&self.location, constants, &target.columns, &target.wanted) {
            let is_default = matches!(columns.get(&leaf.id), Some(FileColumn::Present(column)) if column.is_constant());
            if self.constants_known && (is_absent(leaf) || is_default) {
                let message = "the path has a folder of that name, which is a partition value only below the table's location \
                               and in the column's current spelling, and the file does not hold the column: give its value in \
                               `partition`";
                self.column_faults(leaf, vec![Fault::new(message)]);
            }
        }
        let mut others = target.columns.iter().filter(|leaf| !constants.contains_key(&leaf.id)).peekable();
        if !target.has_nested && others.peek().is_some() && others.all(is_absent) {
            self.faults.push(Fault::of_path(self.path(), "the file holds none of the table's columns"));
        }
    }

    /// A partition constant holds where the file does not have the column; where it has it, the file's own statistics count
    /// and must not speak against the constant.
    pub(super) fn apply_constants(
        &mut self,
        columns: &mut BTreeMap<FieldId, FileColumn>,
        constants: &Constants,
        row_count: Option<u64>,
    ) {
        let target = self.target;
        for leaf in &target.columns {
            let Some(constant) = constants.get(&leaf.id) else { continue };
            match columns.get(&leaf.id) {
                Some(FileColumn::Present(statistics)) if !statistics.is_constant() => {
                    if declared::refutes_constant(statistics, constant.as_ref()) {
                        let fault = Fault::new("the partition value lies outside the file's values");
                        let shown = constant
                            .as_ref()
                            .map_or("null".to_owned(), |value| value.display(leaf.column_type).to_string());
                        self.column_faults(
                            leaf,
                            vec![fault.with_evidence(shown, declared::describe(statistics, leaf.column_type))],
                        );
                    }
                }
                _ => {
                    let statistics = ColumnStatistics::constant(constant.clone(), row_count);
                    columns.insert(leaf.id, FileColumn::Present(statistics));
                }
            }
        }
    }
}
