//! DataFusion's pruner on the same statistics.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, UInt64Array};
use datafusion::common::Column as ColumnName;
use datafusion::common::pruning::PruningStatistics;
use datafusion::physical_optimizer::pruning::PruningPredicateBuilder;
use datafusion::prelude::SessionContext;
use datafusion::scalar::ScalarValue;
use prunus_statistics::{Value, ZoneMap};

use super::super::arrays::array;
use super::data::Table;

/// Which containers DataFusion keeps; all where it makes no pruning predicate of the filter. The filter is simplified as its
/// optimizer does, and its limits are those that it comes with.
pub(crate) fn kept(table: &Table, context: &SessionContext, filter: &str) -> Vec<bool> {
    let schema = table.rows.schema();
    let parsed = context.parse_sql_expr(filter, schema).unwrap();
    let simple = table.rows.simplified(parsed).unwrap();
    let expression = context.create_physical_expr(simple, schema).unwrap();
    match PruningPredicateBuilder::new().with_file_schema(Arc::clone(schema.inner())).try_build(expression) {
        Ok(predicate) => predicate.prune(&Statistics(table)).unwrap_or_else(|_| vec![true; table.containers.len()]),
        Err(_) => vec![true; table.containers.len()],
    }
}

struct Statistics<'a>(&'a Table);

impl Statistics<'_> {
    fn bounds(&self, column: &ColumnName, side: fn(&ZoneMap) -> Option<&Value>) -> ArrayRef {
        let at = self.index(column);
        let bounds: Vec<Option<&Value>> = self.0.zones[at].iter().map(side).collect();
        array(self.0.columns[at].column_type.unwrap(), &bounds)
    }

    fn index(&self, column: &ColumnName) -> usize {
        self.0.columns.iter().position(|known| known.path[0] == column.name).unwrap()
    }
}

impl PruningStatistics for Statistics<'_> {
    fn min_values(&self, column: &ColumnName) -> Option<ArrayRef> {
        Some(self.bounds(column, ZoneMap::min))
    }

    fn max_values(&self, column: &ColumnName) -> Option<ArrayRef> {
        Some(self.bounds(column, ZoneMap::max))
    }

    fn num_containers(&self) -> usize {
        self.0.containers.len()
    }

    fn null_counts(&self, column: &ColumnName) -> Option<ArrayRef> {
        let counts = self.0.zones[self.index(column)].iter().map(ZoneMap::null_count);
        Some(Arc::new(counts.collect::<UInt64Array>()))
    }

    fn row_counts(&self) -> Option<ArrayRef> {
        Some(Arc::new(UInt64Array::from(self.0.row_counts.clone())))
    }

    fn contained(&self, _: &ColumnName, _: &HashSet<ScalarValue>) -> Option<BooleanArray> {
        None
    }
}
