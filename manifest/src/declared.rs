//! Whose word statistics are: which files of a column hold something usable that nothing but their writer vouches for.

use arrow::array::BooleanArray;
use prunus_statistics::{
    Bound, ColumnStatistics, Count, FieldId, FileColumn, Precision, PrimitiveType, Provenance, normalise,
};

use crate::Result;
use crate::column_zones::ColumnZones;
use crate::error::BlockName;
use crate::manifest::ManifestRow;
use crate::schema::SchemaColumn;
use crate::tail::TailEntry;
use crate::transaction::ReadTransaction;

/// Whether a file holds a usable statistic of a column, a bound that is no estimate or a count, that is its writer's word.
/// That the file does not hold the column at all has no provenance, and so is nobody's word.
pub(crate) fn is_declared(column: Option<&FileColumn>, column_type: PrimitiveType, row_count: Option<u64>) -> bool {
    let Some(FileColumn::Present(statistics)) = column else { return false };
    // Most have none, and normalising takes a copy.
    if !has_declared(statistics) {
        return false;
    }
    let mut usable = statistics.clone();
    normalise(&mut usable, column_type, row_count);
    has_declared(&usable)
}

fn has_declared(statistics: &ColumnStatistics) -> bool {
    let bound = |bound: &Option<Bound>| {
        bound
            .as_ref()
            .is_some_and(|bound| bound.precision != Precision::Estimate && bound.provenance == Provenance::Declared)
    };
    let count = |count: Option<Count>| count.is_some_and(|count| count.provenance == Provenance::Declared);
    bound(&statistics.min) || bound(&statistics.max) || count(statistics.null_count) || count(statistics.nan_count)
}

impl TailEntry {
    /// The columns of which the file has statistics, usable or not, that are its writer's word.
    pub fn declared_columns(&self) -> impl Iterator<Item = FieldId> {
        let has_declared = |column: &FileColumn| match column {
            FileColumn::Absent => false,
            FileColumn::Present(statistics) => has_declared(statistics),
        };
        self.statistics.columns.iter().filter(move |(_, column)| has_declared(column)).map(|(field_id, _)| *field_id)
    }

    /// Whether the file holds a usable statistic of a column that is its writer's word.
    pub fn is_declared(&self, SchemaColumn { field_id, column_type }: SchemaColumn) -> bool {
        is_declared(self.statistics.columns.get(&field_id), column_type, self.row_count)
    }
}

impl ReadTransaction<'_> {
    /// The zone maps of a column over the entries of a manifest, as [`ReadTransaction::load_column_block`] gives them, but where
    /// something is the writer's word alone nothing is known. Costs as [`ReadTransaction::load_declared`].
    ///
    /// # Errors
    /// As both of these.
    pub fn load_undeclared_block(&self, manifest: &ManifestRow, column: SchemaColumn) -> Result<ColumnZones> {
        let declared = self.load_declared(manifest, column)?;
        let zones = self.load_column_block(manifest, column)?;
        zones.without(&declared).map_err(manifest.damaged(BlockName::Column(column.field_id)))
    }

    /// Which entries of a manifest, in their order, hold a usable statistic of a column that is their writer's word; no slot is
    /// null. Reads the blocks that plans do without: ask where the zone says that there are some, or does not say.
    ///
    /// # Errors
    /// [`Error::MissingBlock`](crate::Error::MissingBlock), [`Error::DamagedBlock`](crate::Error::DamagedBlock),
    /// [`Error::Sqlite`](crate::Error::Sqlite).
    pub fn load_declared(&self, manifest: &ManifestRow, column: SchemaColumn) -> Result<BooleanArray> {
        let entries = self.load_entry_block(manifest)?;
        let mut declared = vec![false; entries.len()];
        self.read_detail(manifest, column, |column_of| {
            for ((index, declared), row_count) in declared.iter_mut().enumerate().zip(entries.row_counts()) {
                *declared = is_declared(column_of(index)?.as_ref(), column.column_type, row_count);
            }
            Ok(())
        })?;
        Ok(declared.into())
    }
}

#[cfg(test)]
mod tests {
    use prunus_statistics::Value;

    use super::*;

    const DECLARED: Provenance = Provenance::Declared;

    fn bound(value: i128, precision: Precision, provenance: Provenance) -> Bound {
        Bound { value: Value::Integer(value), precision, provenance }
    }

    fn check(statistics: ColumnStatistics, expected: bool) {
        let column = FileColumn::Present(statistics);
        assert_eq!(is_declared(Some(&column), PrimitiveType::Int64, Some(10)), expected, "{column:?}");
    }

    #[test]
    fn a_bound_or_a_count_of_the_writer_is_declared() {
        let none = ColumnStatistics::default;
        let count = Some(Count { value: 3, provenance: DECLARED });
        check(ColumnStatistics { min: Some(bound(1, Precision::Exact, DECLARED)), ..none() }, true);
        check(ColumnStatistics { max: Some(bound(1, Precision::Bound, DECLARED)), ..none() }, true);
        check(ColumnStatistics { null_count: count, ..none() }, true);
        check(
            ColumnStatistics { max: Some(bound(1, Precision::Bound, Provenance::Footer)), null_count: count, ..none() },
            true,
        );
        check(ColumnStatistics { min: Some(bound(1, Precision::Exact, Provenance::Scanned)), ..none() }, false);
        check(none(), false);
    }

    #[test]
    fn what_may_not_be_used_is_not_declared() {
        let none = ColumnStatistics::default;
        check(ColumnStatistics { min: Some(bound(1, Precision::Estimate, DECLARED)), ..none() }, false);
        check(ColumnStatistics { null_count: Some(Count { value: 11, provenance: DECLARED }), ..none() }, false);
        // No column but one of floats has NaNs.
        check(ColumnStatistics { nan_count: Some(Count { value: 0, provenance: DECLARED }), ..none() }, false);
        let (min, max) = (Some(bound(2, Precision::Exact, DECLARED)), Some(bound(1, Precision::Exact, DECLARED)));
        check(ColumnStatistics { min, max, ..none() }, false);
    }

    #[test]
    fn a_column_that_is_absent_or_unsaid_is_not_declared() {
        assert!(!is_declared(Some(&FileColumn::Absent), PrimitiveType::Int64, Some(10)));
        assert!(!is_declared(None, PrimitiveType::Int64, Some(10)));
    }
}
