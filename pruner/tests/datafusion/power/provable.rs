//! What the statistics of integer columns prove, found by trying every row that they allow.

use datafusion::prelude::SessionContext;
use prunus_statistics::{Value, ZoneMap};

use super::super::plain::rows::Row;
use super::super::session::Rows;
use super::data::Table;

/// The columns that are tried: `i`, `j` and `n`.
const TRIED: usize = 3;

/// For each container every row that its statistics allow, as far as the integer columns go.
pub(crate) struct Provable {
    rows: Rows,
    /// Where a bound is not known, too many rows are allowed to try them all.
    tried: Vec<bool>,
}

impl Provable {
    pub(crate) fn new(table: &Table) -> Self {
        let of_container = |index: usize| -> Option<Vec<Row>> {
            let zones: Vec<Vec<Option<Value>>> =
                (0..TRIED).map(|column| allowed(&table.zones[column][index])).collect::<Option<_>>()?;
            let mut rows = Vec::new();
            for i in &zones[0] {
                for j in &zones[1] {
                    rows.extend(zones[2].iter().map(|n| vec![i.clone(), j.clone(), n.clone()]));
                }
            }
            Some(rows)
        };
        let containers: Vec<Option<Vec<Row>>> = (0..table.containers.len()).map(of_container).collect();
        let tried = containers.iter().map(Option::is_some).collect();
        let containers: Vec<Vec<Row>> = containers.into_iter().map(Option::unwrap_or_default).collect();
        Self { rows: Rows::new(&table.columns[..TRIED], &containers), tried }
    }

    /// Whether no row that the statistics allow matches; `None` where that was not tried.
    pub(crate) fn no_match(&self, context: &SessionContext, filter: &str) -> Vec<Option<bool>> {
        let expression = self.rows.plan(context, filter).unwrap();
        let outcomes = self.rows.outcomes(expression.as_ref());
        let judged = outcomes.into_iter().zip(&self.tried).map(|(truths, tried)| {
            let truths = truths.filter(|_| *tried)?;
            Some(!truths.contains(&Some(true)))
        });
        judged.collect()
    }
}

/// The cells that a zone map allows.
fn allowed(zone: &ZoneMap) -> Option<Vec<Option<Value>>> {
    if zone.is_valueless() {
        return Some(vec![None]);
    }
    let (Some(Value::Integer(low)), Some(Value::Integer(high))) = (zone.min(), zone.max()) else { return None };
    let mut cells: Vec<Option<Value>> = (*low..=*high).map(|value| Some(Value::Integer(value))).collect();
    if zone.null_count() != Some(0) {
        cells.push(None);
    }
    Some(cells)
}
