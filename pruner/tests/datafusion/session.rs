//! DataFusion's own evaluation of a filter's text over rows.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, ToDFSchema};
use datafusion::error::Result;
use datafusion::execution::FunctionRegistry;
use datafusion::functions::datetime::planner::DatetimeFunctionPlanner;
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use datafusion::optimizer::simplify_expressions::ExprSimplifier;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::prelude::{Expr, SessionContext};
use prunus_pruner::Column;

use super::arrays::{array, field};
use super::plain::rows::Row;

/// A session that knows EXTRACT: DataFusion plans it by a feature that its own functions do not need.
pub(crate) fn context() -> SessionContext {
    let mut context = SessionContext::new();
    context.register_expr_planner(Arc::new(DatetimeFunctionPlanner)).unwrap();
    context
}

/// What a filter is on each row of a container; `None` where the engine fails on one of the rows.
pub(crate) type Outcomes = Option<Vec<Option<bool>>>;

/// The rows of containers, as DataFusion reads them.
pub(crate) struct Rows {
    schema: DFSchema,
    batch: RecordBatch,
    containers: Vec<Range<usize>>,
}

impl Rows {
    pub(crate) fn new(columns: &[Column], containers: &[Vec<Row>]) -> Self {
        let all: Vec<&Row> = containers.iter().flatten().collect();
        let schema = Arc::new(arrow::datatypes::Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
        let arrays: Vec<ArrayRef> = columns
            .iter()
            .enumerate()
            .map(|(index, column)| {
                let cells: Vec<_> = all.iter().map(|row| row[index].as_ref()).collect();
                array(column.column_type.unwrap(), &cells)
            })
            .collect();
        let mut start = 0;
        let containers = containers
            .iter()
            .map(|rows| {
                start += rows.len();
                start - rows.len()..start
            })
            .collect();
        let batch = RecordBatch::try_new(Arc::clone(&schema), arrays).unwrap();
        Self { schema: schema.to_dfschema().unwrap(), batch, containers }
    }

    pub(crate) fn schema(&self) -> &DFSchema {
        &self.schema
    }

    /// A filter's text as an expression over the rows.
    pub(crate) fn plan(&self, context: &SessionContext, text: &str) -> Result<Arc<dyn PhysicalExpr>> {
        let parsed = context.parse_sql_expr(text, &self.schema)?;
        // DataFusion evaluates COALESCE as the CASE that its optimizer makes of it. All else is evaluated as it was written, since
        // the optimizer leaves casts out that are not nothing: of TRY_CAST(300 AS TINYINT) <= 5 it makes 300 <= 5.
        let context_of_rows = self.simplify_context();
        let coerced = ExprSimplifier::new(context_of_rows.clone()).coerce(parsed, &self.schema)?;
        let without_coalesce = coerced.transform_up(|expression| match expression {
            Expr::ScalarFunction(call) if call.name() == "coalesce" => {
                Ok(Transformed::yes(match call.func.simplify(call.args, &context_of_rows)? {
                    ExprSimplifyResult::Simplified(case) => case,
                    ExprSimplifyResult::Original(arguments) => call.func.call(arguments),
                }))
            }
            other => Ok(Transformed::no(other)),
        })?;
        context.create_physical_expr(without_coalesce.data, &self.schema)
    }

    fn simplify_context(&self) -> SimplifyContext {
        SimplifyContext::builder().with_schema(Arc::new(self.schema.clone())).with_current_time().build()
    }

    /// An expression as DataFusion's optimizer has it.
    pub(crate) fn simplified(&self, expression: Expr) -> Result<Expr> {
        let simplifier = ExprSimplifier::new(self.simplify_context());
        simplifier.simplify(simplifier.coerce(expression, &self.schema)?)
    }

    /// What the expression is on the rows of each container. Where some row fails, containers are evaluated one by one.
    pub(crate) fn outcomes(&self, expression: &dyn PhysicalExpr) -> Vec<Outcomes> {
        if let Ok(all) = truths(expression, &self.batch) {
            return self.containers.iter().map(|rows| Some(all[rows.clone()].to_vec())).collect();
        }
        // Some functions of DataFusion panic on no rows.
        let one = |rows: &Range<usize>| match rows.len() {
            0 => Some(Vec::new()),
            len => truths(expression, &self.batch.slice(rows.start, len)).ok(),
        };
        self.containers.iter().map(one).collect()
    }
}

fn truths(expression: &dyn PhysicalExpr, batch: &RecordBatch) -> Result<Vec<Option<bool>>> {
    let values = expression.evaluate(batch)?.into_array(batch.num_rows())?;
    if values.data_type().is_null() {
        return Ok(vec![None; values.len()]);
    }
    Ok(values.as_boolean().iter().collect())
}
