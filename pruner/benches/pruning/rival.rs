//! DataFusion's pruner on the same filters, and its evaluation of them over rows.

use std::sync::Arc;

use arrow::array::AsArray;
use arrow::record_batch::RecordBatch;
use datafusion::common::{DFSchema, ToDFSchema};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_optimizer::pruning::{PruningPredicate, PruningPredicateBuilder};
use datafusion::prelude::SessionContext;

use super::data::Table;

/// A session with the schema of the tables.
pub(crate) struct Rival {
    context: SessionContext,
    schema: DFSchema,
}

impl Rival {
    pub(crate) fn new(table: &Table) -> Self {
        Self { context: SessionContext::new(), schema: table.arrow_schema().to_dfschema().unwrap() }
    }

    /// A filter's text as an expression over rows, simplified, as a plan would have it.
    pub(crate) fn expression(&self, text: &str) -> Arc<dyn PhysicalExpr> {
        let parsed = self.context.parse_sql_expr(text, &self.schema).unwrap();
        self.context.create_physical_expr(parsed, &self.schema).unwrap()
    }

    /// The expression as a pruning predicate; the limit on the length of lists is lifted.
    pub(crate) fn build(&self, expression: Arc<dyn PhysicalExpr>) -> PruningPredicate {
        PruningPredicateBuilder::new()
            .with_file_schema(Arc::clone(self.schema.inner()))
            .with_max_in_list_size(usize::MAX)
            .try_build(expression)
            .unwrap()
    }

    /// For each row whether the filter is true.
    pub(crate) fn matches(&self, text: &str, rows: &RecordBatch) -> Vec<bool> {
        let values = self.expression(text).evaluate(rows).unwrap().into_array(rows.num_rows()).unwrap();
        values.as_boolean().iter().map(|value| value == Some(true)).collect()
    }
}
