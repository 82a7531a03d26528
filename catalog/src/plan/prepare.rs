//! From a request's text to a program over the schema's columns.

use std::collections::HashSet;

use prunus_pruner::{BindOptions, BoundPredicate, Column, FilterError, PruningProgram, ResidualProgram};
use prunus_statistics::SessionZone;

use crate::limits::{MAX_SELECTED_COLUMNS, too_many};
use crate::{Error, Fault, Result, column_ref};

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

/// Binds the filter to the columns of a schema and compiles it, and checks what else of the request depends on them; every fault
/// of all of it.
pub(super) fn compile(
    columns: &[Column],
    request: &PlanRequest,
    filter: Result<&Option<ReadFilter>, &FilterError>,
) -> Result<Prepared> {
    let mut faults = request.faults.clone();
    let zone = match request.time_zone.as_deref().map(|name| (name, SessionZone::named(name))) {
        None => SessionZone::Unknown,
        Some((_, Some(zone))) => zone,
        Some((name, None)) => {
            let message = format!("there is no time zone `{name}`; one is named like `Europe/Paris`");
            faults.push(Fault::at("time_zone", message));
            SessionZone::Unknown
        }
    };
    faults.extend(unknown_columns(columns, &request.select));
    let options = BindOptions { nan_order: request.nan_order, zone };
    let bound = match filter {
        Ok(None) => Ok(BoundPredicate::always()),
        Ok(Some(filter)) => BoundPredicate::bind(&filter.predicate, columns, &options)
            .map_err(|errors| errors.into_iter().map(|error| filter.fault(error)).collect()),
        Err(error) => Err(vec![error.clone()]),
    };
    let bound = match bound {
        Ok(bound) if faults.is_empty() => bound,
        Err(errors) if faults.is_empty() => return Err(Error::Filter(errors)),
        bound => {
            faults.extend(bound.err().iter().flatten().map(Fault::of_filter));
            return Err(Error::Invalid(faults));
        }
    };
    let residuals = match filter {
        Ok(Some(filter)) if request.pruning == Pruning::On && request.page != PlanPage::MetricsOnly => {
            Some(ResidualProgram::new(&filter.predicate, columns, &options).map_err(Error::Filter)?)
        }
        _ => None,
    };
    Ok(Prepared { program: PruningProgram::compile(bound), residuals, pruning: request.pruning })
}

/// Whether a request asks for columns that do not exist.
pub(super) fn selects_unknown(columns: &[Column], request: &PlanRequest) -> bool {
    !request.select.is_empty() && !unknown_columns(columns, &request.select).is_empty()
}

/// A fault for each key that names no column, or one if there are more keys than are looked at.
fn unknown_columns(columns: &[Column], keys: &[String]) -> Vec<Fault> {
    if keys.is_empty() {
        return Vec::new();
    }
    if let Some(fault) = too_many("select", "columns", keys.len(), MAX_SELECTED_COLUMNS) {
        return vec![fault];
    }
    let names: Vec<String> = columns.iter().map(|column| column_ref::key(&column.path)).collect();
    let ids: Vec<String> = columns.iter().map(|column| column.id.to_string()).collect();
    let known: HashSet<&String> = names.iter().chain(&ids).collect();
    let unknown = keys.iter().filter(|key| !known.contains(key));
    let message = |key| column_ref::unknown_name(key, names.iter().map(String::as_str));
    unknown.map(|key| Fault::at("select", message(key)).in_column(key)).collect()
}
