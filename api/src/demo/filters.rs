//! The five filters of the demo: each as the SQL that the server plans, and as code of its own that says of every row
//! whether it matches, so that the proof does not lean on what it proves.

use arrow::array::{ArrayRef, BooleanArray, Date32Array, Datum, Decimal128Array, RecordBatch, Scalar, StringViewArray};
use arrow::compute::kernels::cast_utils::Parser;
use arrow::compute::kernels::cmp::{eq, gt_eq, lt, lt_eq};
use arrow::compute::{and, is_null, or};
use arrow::datatypes::Date32Type;
use arrow::error::ArrowError;

/// The columns that the filters read.
pub(super) const COLUMNS: [&str; 5] = ["l_quantity", "l_extendedprice", "l_returnflag", "l_shipdate", "l_comment"];

/// A filter in both its forms.
#[derive(Debug)]
pub(super) struct DemoFilter {
    pub(super) title: &'static str,
    pub(super) sql: &'static str,
    pub(super) matches: fn(&RecordBatch) -> Result<BooleanArray, ArrowError>,
}

pub(super) const FILTERS: [DemoFilter; 5] = [
    DemoFilter {
        title: "a date range",
        sql: "l_shipdate BETWEEN '1994-01-01' AND '1994-12-31'",
        matches: |rows| between(column(rows, "l_shipdate")?, &date("1994-01-01")?, &date("1994-12-31")?),
    },
    DemoFilter {
        title: "a price range: every file holds such prices",
        sql: "l_extendedprice BETWEEN 50000 AND 60000",
        matches: |rows| between(column(rows, "l_extendedprice")?, &cents(5_000_000)?, &cents(6_000_000)?),
    },
    DemoFilter {
        title: "a conjunction",
        sql: "l_shipdate >= '1998-01-01' AND l_quantity < 10",
        matches: |rows| {
            let late = gt_eq(column(rows, "l_shipdate")?, &date("1998-01-01")?)?;
            and(&late, &lt(column(rows, "l_quantity")?, &cents(1_000)?)?)
        },
    },
    DemoFilter {
        title: "an IN list, on a column the files are not sorted by",
        sql: "l_returnflag IN ('A', 'R')",
        matches: |rows| {
            let flag = column(rows, "l_returnflag")?;
            or(&eq(flag, &text("A"))?, &eq(flag, &text("R"))?)
        },
    },
    DemoFilter {
        title: "IS NULL, on a column without nulls",
        sql: "l_comment IS NULL",
        matches: |rows| is_null(column(rows, "l_comment")?),
    },
];

/// A column by its name.
pub(super) fn column<'a>(rows: &'a RecordBatch, name: &str) -> Result<&'a ArrayRef, ArrowError> {
    rows.column_by_name(name).ok_or_else(|| ArrowError::SchemaError(format!("there is no column {name}")))
}

fn between(values: &ArrayRef, low: &dyn Datum, high: &dyn Datum) -> Result<BooleanArray, ArrowError> {
    and(&gt_eq(values, low)?, &lt_eq(values, high)?)
}

fn date(text: &str) -> Result<Scalar<Date32Array>, ArrowError> {
    let days = Date32Type::parse(text).ok_or_else(|| ArrowError::ParseError(format!("{text} is no date")))?;
    Ok(Date32Array::new_scalar(days))
}

/// A number with two digits after the point, as all decimals of `lineitem` have.
fn cents(unscaled: i128) -> Result<Scalar<Decimal128Array>, ArrowError> {
    Ok(Scalar::new(Decimal128Array::from(vec![unscaled]).with_precision_and_scale(15, 2)?))
}

fn text(text: &str) -> Scalar<StringViewArray> {
    StringViewArray::new_scalar(text)
}

/// How many rows match.
pub(super) fn count_matches(filter: &DemoFilter, rows: &RecordBatch) -> Result<usize, ArrowError> {
    let matches = (filter.matches)(rows)?;
    // A row whose condition is null does not match: `true_count` counts what is valid and true.
    debug_assert_eq!(matches.len(), rows.num_rows());
    Ok(matches.true_count())
}

#[cfg(test)]
mod tests {
    use tpchgen::generators::LineItemGenerator;
    use tpchgen_arrow::LineItemArrow;

    use super::*;

    #[test]
    fn each_filter_reads_only_the_columns_that_the_proof_reads() {
        let generator = LineItemArrow::new(LineItemGenerator::new(0.001, 1, 1)).with_batch_size(10_000);
        for rows in generator {
            let rows = rows.unwrap();
            let indices: Vec<usize> = COLUMNS.iter().map(|name| rows.schema().index_of(name).unwrap()).collect();
            let projected = rows.project(&indices).unwrap();
            for filter in &FILTERS {
                let found = count_matches(filter, &projected).unwrap();
                assert!(found < rows.num_rows(), "{}", filter.sql);
                assert_eq!(found == 0, filter.sql.ends_with("IS NULL"), "{}", filter.sql);
            }
        }
    }
}
