//! From a request's text to a program over the schema's columns.

use prunus_pruner::{BindOptions, BoundPredicate, Column, PruningProgram, ResidualProgram};
use prunus_statistics::SessionZone;

use crate::{Error, Fault, Result};

use super::filter::ReadFilter;
use super::{PlanPage, PlanRequest, Pruning};

/// What a plan computes.
pub(super) struct Prepared {
    pub(super) program: PruningProgram,
    /// What finds out what of the filter is left for each file; `None` where that is not asked.
    pub(super) residuals: Option<ResidualProgram>,
    /// Whether the program's answers are to be used.
    pub(super) pruning: Pruning,
}

/// Binds the filter to the columns of a schema and compiles it, and checks what else of the request depends on them.
pub(super) fn compile(columns: &[Column], request: &PlanRequest, filter: Option<&ReadFilter>) -> Result<Prepared> {
    let zone = match &request.time_zone {
        None => SessionZone::Unknown,
        Some(name) => SessionZone::named(name)
            .ok_or_else(|| Error::invalid(Fault::at("time_zone", format!("there is no time zone `{name}`"))))?,
    };
    let unknown: Vec<Fault> = request
        .select
        .iter()
        .filter(|key| !is_column(columns, key))
        .map(|key| Fault::at("select", "unknown column").in_column(key))
        .collect();
    if !unknown.is_empty() {
        return Err(Error::Invalid(unknown));
    }
    let options = BindOptions { nan_order: request.nan_order, zone };
    let bound = match filter {
        None => BoundPredicate::always(),
        Some(filter) => BoundPredicate::bind(&filter.predicate, columns, &options).map_err(Error::Filter)?,
    };
    let residuals = match filter {
        Some(filter) if request.pruning == Pruning::On && request.page != PlanPage::MetricsOnly => {
            Some(ResidualProgram::new(&filter.predicate, columns, &options).map_err(Error::Filter)?)
        }
        _ => None,
    };
    Ok(Prepared { program: PruningProgram::compile(bound), residuals, pruning: request.pruning })
}

fn is_column(columns: &[Column], key: &str) -> bool {
    columns.iter().any(|column| crate::column_ref::key(&column.path) == key || column.id.to_string() == key)
}
