//! A case: columns, filters over them, and containers of rows with what is claimed of these; and whether verdicts hold there.

use prunus_pruner::{BindOptions, BoundPredicate, Column, NanOrder, Predicate, PruningProgram, Verdict};
use prunus_statistics::{PrimitiveType, SessionZone, ZoneMap};

use super::choices::Choices;
use super::engine::{Engine, Evaluation};
use super::filters;
use super::rows::{self, Row};
use super::statistics::{self, Claims};

pub(crate) const FILTERS: usize = 6;

pub(crate) struct Case {
    pub(crate) seed: Vec<u32>,
    pub(crate) columns: Vec<Column>,
    pub(crate) filters: Vec<Predicate>,
    pub(crate) containers: Vec<(Vec<Row>, Claims)>,
    pub(crate) session_in_utc: bool,
}

impl Case {
    pub(crate) fn new(list: Vec<u32>, containers: usize) -> Self {
        let mut choices = Choices::new(list.clone());
        let columns = rows::schema(&mut choices);
        let session_in_utc = choices.once_in(2);
        let filters = (0..FILTERS).map(|index| filters::predicate(&mut choices, &columns, index.min(4))).collect();
        let container = |choices: &mut Choices| {
            let rows = rows::rows(choices, &columns);
            let claims = statistics::claims(choices, &columns, &rows);
            (rows, claims)
        };
        let containers = (0..containers).map(|_| container(&mut choices)).collect();
        Self { seed: list, columns, filters, containers, session_in_utc }
    }

    pub(crate) fn types(&self) -> Vec<PrimitiveType> {
        self.columns.iter().filter_map(|column| column.column_type).collect()
    }

    pub(crate) fn options(&self, nan_order: NanOrder) -> BindOptions {
        let zone = if self.session_in_utc { SessionZone::named("UTC").unwrap() } else { SessionZone::Unknown };
        BindOptions { nan_order, zone }
    }

    pub(crate) fn program(&self, filter: &Predicate, nan_order: NanOrder) -> PruningProgram {
        let bound = BoundPredicate::bind(filter, &self.columns, &self.options(nan_order));
        PruningProgram::compile(bound.unwrap_or_else(|faults| panic!("{filter}: {faults:?}")))
    }

    /// Zone maps by column, then by container.
    pub(crate) fn zones(&self) -> Vec<Vec<ZoneMap>> {
        let by_container: Vec<Vec<ZoneMap>> =
            self.containers.iter().map(|(_, claims)| claims.zones(&self.columns)).collect();
        (0..self.columns.len()).map(|column| by_container.iter().map(|zones| zones[column].clone()).collect()).collect()
    }

    pub(crate) fn row_counts(&self) -> Vec<Option<u64>> {
        self.containers.iter().map(|(_, claims)| claims.row_count).collect()
    }

    /// Whether the verdict holds for these rows under every engine that `nan_order` stands for.
    pub(crate) fn check(
        &self,
        filter: &Predicate,
        nan_order: NanOrder,
        rows: &[Row],
        verdict: Verdict,
    ) -> Result<(), String> {
        if verdict == Verdict::Some {
            return Ok(());
        }
        for engine in Engine::all(nan_order, &self.types(), self.session_in_utc) {
            for (salt, row) in rows.iter().enumerate() {
                let outcome = Evaluation { engine, columns: &self.columns, row, salt }.predicate(filter);
                let holds = match verdict {
                    Verdict::None => outcome != Some(true),
                    Verdict::Some => true,
                    Verdict::All => outcome == Some(true),
                };
                if !holds {
                    let types: Vec<String> = self.types().iter().map(ToString::to_string).collect();
                    return Err(format!(
                        "{filter}\non {types:?} is {outcome:?} on {row:?}\nfor {engine:?}, {nan_order:?}; verdict {verdict:?}"
                    ));
                }
            }
        }
        Ok(())
    }

    /// Whether the residual matches the same rows as the filter under every engine that `nan_order` stands for.
    pub(crate) fn check_agreement(
        &self,
        filter: &Predicate,
        residual: &Predicate,
        nan_order: NanOrder,
        rows: &[Row],
    ) -> Result<(), String> {
        for engine in Engine::all(nan_order, &self.types(), self.session_in_utc) {
            for (salt, row) in rows.iter().enumerate() {
                let matches = |predicate| {
                    Evaluation { engine, columns: &self.columns, row, salt }.predicate(predicate) == Some(true)
                };
                if matches(filter) != matches(residual) {
                    let types: Vec<String> = self.types().iter().map(ToString::to_string).collect();
                    return Err(format!("{filter}\nleaves {residual}\non {types:?} differs on {row:?} for {engine:?}"));
                }
            }
        }
        Ok(())
    }
}
