//! The contract on one table: verdicts and residuals, held against the engine's evaluation of the filter over the rows.

use std::collections::HashMap;

use datafusion::prelude::SessionContext;
use prunus_pruner::{
    BindOptions, BoundPredicate, Column, Predicate, PruningProgram, Residual, ResidualProgram, Verdict, ZoneMaps,
};
use prunus_statistics::ZoneMap;

use super::computed;
use super::plain::case::Case;
use super::plain::rows::Row;
use super::session::{Outcomes, Rows};
use super::zones::zone_maps;

/// Containers with their rows and their zone maps.
pub(crate) struct Table {
    pub(crate) columns: Vec<Column>,
    pub(crate) containers: Vec<Vec<Row>>,
    pub(crate) rows: Rows,
    maps: ZoneMaps,
}

/// How much was judged.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    filters: usize,
    /// Filters and residuals that the engine does not plan.
    unplanned: usize,
    pairs: usize,
    /// Pairs on whose rows the engine fails.
    failed: usize,
    decided: usize,
    /// Residuals that were evaluated, being neither empty nor the whole filter.
    residuals: usize,
}

impl Table {
    pub(crate) fn of_plain(case: &Case) -> Self {
        let containers = case.containers.iter().map(|(rows, _)| rows.clone()).collect();
        Self::new(case.columns.clone(), containers, &case.row_counts(), &case.zones())
    }

    pub(crate) fn of_computed(case: computed::case::Case) -> Self {
        Self::new(case.columns, case.containers, &case.row_counts, &case.zones)
    }

    fn new(
        columns: Vec<Column>,
        containers: Vec<Vec<Row>>,
        row_counts: &[Option<u64>],
        zones: &[Vec<ZoneMap>],
    ) -> Self {
        let maps = zone_maps(&columns, row_counts, zones);
        let rows = Rows::new(&columns, &containers);
        Self { columns, containers, rows, maps }
    }

    /// Adds what was judged of a filter to `counts`.
    pub(crate) fn judge(
        &self,
        context: &SessionContext,
        filter: &Predicate,
        options: &BindOptions,
        counts: &mut Counts,
    ) {
        counts.filters += 1;
        let Ok(expression) = self.rows.plan(context, &filter.to_string()) else {
            counts.unplanned += 1;
            return;
        };
        let bound = BoundPredicate::bind(filter, &self.columns, options);
        let bound = bound.unwrap_or_else(|faults| panic!("{filter}: {faults:?}"));
        let selection = PruningProgram::compile(bound).evaluate(&self.maps);
        let residuals = ResidualProgram::new(filter, &self.columns, options).unwrap().evaluate(&self.maps, &selection);
        let mut of_residuals: HashMap<String, Vec<Outcomes>> = HashMap::new();
        for (index, truths) in self.rows.outcomes(expression.as_ref()).into_iter().enumerate() {
            let Some(truths) = truths else {
                counts.failed += 1;
                continue;
            };
            counts.pairs += 1;
            let verdict = selection.verdict(index);
            counts.decided += usize::from(verdict != Verdict::Some);
            let holds = |truth: &Option<bool>| match verdict {
                Verdict::None => *truth != Some(true),
                Verdict::Some => true,
                Verdict::All => *truth == Some(true),
            };
            let fault = truths.iter().position(|truth| !holds(truth));
            assert_eq!(fault, None, "{}", self.shown(filter, index, fault, &format!("verdict {verdict:?}")));
            let Some(left) = residuals.of(index).and_then(|residual| still_to_run(residual, filter)) else { continue };
            counts.residuals += 1;
            let all = of_residuals.entry(left.clone()).or_insert_with(|| {
                if let Ok(expression) = self.rows.plan(context, &left) {
                    return self.rows.outcomes(expression.as_ref());
                }
                // The optimizer may have dropped from the filter what is not planned.
                counts.unplanned += 1;
                vec![None; self.containers.len()]
            });
            // A test that fails may be one that is left.
            let Some(of_left) = &all[index] else { continue };
            let fault = truths.iter().zip(of_left).position(|(a, b)| (*a == Some(true)) != (*b == Some(true)));
            assert_eq!(fault, None, "{}", self.shown(filter, index, fault, &format!("residual {left}")));
        }
    }

    /// A filter and the row on which it is a fault.
    fn shown(&self, filter: &Predicate, index: usize, row: Option<usize>, what: &str) -> String {
        let types: Vec<String> =
            self.columns.iter().filter_map(|column| column.column_type).map(|each| each.to_string()).collect();
        let row = row.map(|row| &self.containers[index][row]);
        format!("{filter}\n{what}\non {}\nrow {row:?}", types.join(", "))
    }
}

/// The text of a residual that is not the filter itself: TRUE where nothing is left.
fn still_to_run(residual: &Residual, filter: &Predicate) -> Option<String> {
    match residual.predicate(filter) {
        None => Some("TRUE".to_owned()),
        Some(left) => (left != *filter).then(|| left.to_string()),
    }
}

impl Counts {
    /// That enough was judged for the property to mean something.
    pub(crate) fn are_enough(&self) {
        let Self { filters, unplanned, pairs, failed, decided, residuals } = *self;
        assert!(pairs >= 100_000, "{self:?}: too few pairs");
        assert!(unplanned <= filters / 5, "{self:?}: too many filters that DataFusion does not plan");
        assert!(failed <= pairs / 5, "{self:?}: too many pairs on which DataFusion fails");
        assert!(decided >= pairs / 3, "{self:?}: too few pairs decided");
        assert!(residuals >= pairs / 100, "{self:?}: too few residuals");
        println!("{self:?}");
    }
}
