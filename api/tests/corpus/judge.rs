//! What the server says of a file, held against the truth, as the corpus's README says that a collector is judged.

use std::cmp::Ordering;

use prunus::wire::{PrecisionJson, ProvenanceJson, StatisticsJson};
use prunus_statistics::{Value, parse_value};
use serde_json::Value as Json;

use crate::case::{Case, Expected, Policy, is_repeated, path};
use crate::import::{Column, Outcome, Registered};
use crate::truth::{compare, is_same, true_value};

/// The longest string or binary that a table of the tests keeps whole where data is read.
const STRING_BOUND_BYTES: u64 = 1024;

/// All that is wrong with what became of a file.
pub(crate) fn faults(case: &Case, policy: Policy, outcome: &Outcome) -> Vec<String> {
    let expected = case.expected(policy);
    let faults = match outcome {
        Outcome::Broken(what) => vec![what.clone()],
        Outcome::NoTable(said) if expected == Expected::Registered && case.why_no_table().is_none() => {
            vec![format!("no table can be made of it: {said}")]
        }
        Outcome::Refused(said) if expected == Expected::Registered => vec![format!("refused: {said}")],
        Outcome::NoTable(said) | Outcome::Refused(said) => fault_of_refusal(case, said).into_iter().collect(),
        Outcome::Registered(_) if expected == Expected::Refused => vec!["registered, but should be refused".to_owned()],
        Outcome::Registered(registered) => faults_of_statistics(case, policy, registered),
    };
    faults.into_iter().map(|fault| format!("{}: {fault}", case.name())).collect()
}

/// A refusal names the file and says what is wrong with it.
pub(crate) fn fault_of_refusal(case: &Case, said: &str) -> Option<String> {
    let Some((_, reason)) = said.split_once(&format!("{}: ", case.path())) else {
        return Some(format!("refused without its name: {said}"));
    };
    let is_clear = reason.trim().len() > 15 && !said.contains("panicked");
    (!is_clear).then(|| format!("refused without a reason: {said}"))
}

/// What of the statistics of a file is false, although nothing but its data shows it.
pub(crate) fn lies(case: &Case, registered: &Registered) -> Vec<String> {
    let judged = case.leaves().iter().filter_map(|leaf| {
        let column = registered.column(leaf)?;
        Some(Judged { leaf, column, policy: Policy::Audit, must_be_known: false })
    });
    judged.flat_map(|judged| judged.faults()).collect()
}

fn faults_of_statistics(case: &Case, policy: Policy, registered: &Registered) -> Vec<String> {
    let mut faults = Vec::new();
    if let Some(rows) = case.rows()
        && registered.row_count != Some(rows)
    {
        faults.push(format!("{:?} rows instead of {rows}", registered.row_count));
    }
    for leaf in case.leaves() {
        let place = path(leaf).join(".");
        let Some(column) = registered.column(leaf) else {
            if case.why_no_table().is_none() {
                faults.push(format!("{place}: the table does not have it"));
            }
            continue;
        };
        let judged = Judged { leaf, column, policy, must_be_known: must_be_known(case, policy, leaf) };
        faults.extend(judged.faults().into_iter().map(|fault| format!("{place}: {fault}")));
    }
    faults
}

/// Whether there is no excuse for what is unknown of a leaf.
fn must_be_known(case: &Case, policy: Policy, leaf: &Json) -> bool {
    // The parts of a variant have no order of their own; their group is not a leaf, so the file's tag has to tell.
    let may_be_of_variant = case.has_tag("variant") && path(leaf).len() > 1;
    policy != Policy::Footer && case.has_sound_data() && !may_be_of_variant
}

/// A column, and the leaf that it is.
struct Judged<'a> {
    leaf: &'a Json,
    column: &'a Column,
    policy: Policy,
    must_be_known: bool,
}

/// A bound as the server says it.
struct Bound {
    value: Value,
    precision: PrecisionJson,
    provenance: ProvenanceJson,
}

impl Judged<'_> {
    fn faults(&self) -> Vec<String> {
        let StatisticsJson { min, max, min_precision, max_precision, null_count, nan_count, provenance } =
            &self.column.statistics;
        let mut faults = Vec::new();
        let sides = [(Side::Min, min, min_precision, provenance.min), (Side::Max, max, max_precision, provenance.max)];
        for (side, value, precision, provenance) in sides {
            let found = match (value, precision, provenance) {
                (None, None, None) => self.fault_of_unknown(side).map(str::to_owned),
                (Some(json), Some(precision), Some(provenance)) => match self.value(json) {
                    None => Some(format!("is {json}, which does not read back as one of {}", self.column.column_type)),
                    Some(value) => {
                        let bound = Bound { value, precision: *precision, provenance };
                        self.fault_of_bound(side, &bound).map(|fault| format!("{fault}: {:?}", bound.value))
                    }
                },
                _ => Some("is known without precision or provenance, or these without it".to_owned()),
            };
            faults.extend(found.map(|fault| format!("{} {fault}, truth {}", side.name(), self.truth(side))));
        }
        faults.extend(self.fault_of_count("null_count", *null_count, provenance.null_count));
        faults.extend(self.fault_of_count("nan_count", *nan_count, provenance.nan_count));
        faults
    }

    /// A value as the API writes it, read back.
    fn value(&self, json: &Json) -> Option<Value> {
        let text = json.as_str().map_or_else(|| json.to_string(), str::to_owned);
        parse_value(&text, self.column.column_type).ok()
    }

    fn truth(&self, side: Side) -> &Json {
        &self.leaf["truth"][side.name()]
    }

    /// Whether something can come from there under the policy.
    fn is_source(&self, provenance: ProvenanceJson) -> bool {
        match self.policy {
            Policy::Footer => provenance == ProvenanceJson::Footer,
            Policy::Scan => provenance == ProvenanceJson::Scanned,
            Policy::Audit => matches!(provenance, ProvenanceJson::Footer | ProvenanceJson::Scanned),
        }
    }

    fn fault_of_bound(&self, side: Side, bound: &Bound) -> Option<&'static str> {
        let truth = self.truth(side);
        if !self.is_source(bound.provenance) {
            return Some("is not from where the policy reads");
        }
        if bound.provenance == ProvenanceJson::Footer && bound.precision != PrecisionJson::Bound {
            return Some("is said to be more than a bound by a footer");
        }
        if self.leaf["order"] == "undefined" {
            return Some("is known, and nothing has an order");
        }
        if !self.covers_other_reading(side, bound) {
            return Some("does not cover another reading of the values");
        }
        if truth.is_null() {
            return (bound.precision == PrecisionJson::Exact).then_some("is said to occur, and nothing is known to");
        }
        if compare(&bound.value, truth) == Some(side.beyond()) && !self.only_data_shows("bounds") {
            return Some("has a value beyond it");
        }
        match bound.precision {
            PrecisionJson::Exact if !is_same(&bound.value, truth) => Some("is said to occur, and does not"),
            PrecisionJson::Bound if self.must_be_known && self.can_be_exact() => Some("is not exact"),
            PrecisionJson::Exact | PrecisionJson::Bound | PrecisionJson::Estimate => None,
        }
    }

    fn fault_of_unknown(&self, side: Side) -> Option<&'static str> {
        let has_bound = !self.truth(side).is_null() && self.leaf["order"] != "undefined";
        let must = self.must_be_known && has_bound && self.leaf["ambiguous"].is_null() && self.can_be_exact();
        must.then_some("is unknown")
    }

    /// Whether bounds that are kept whole can be the least and the greatest value: both are allowed in the column, and short.
    fn can_be_exact(&self) -> bool {
        let truths = [Side::Min, Side::Max].map(|side| self.truth(side));
        let is_short = |truth: &Json| truth["len"].as_u64().is_none_or(|len| len <= STRING_BOUND_BYTES);
        let is_whole = |truth: &Json| truth["hex_prefix"].is_null();
        let keeps =
            |truth: &&Json| is_short(truth) && is_whole(truth) && true_value(truth).fits(self.column.column_type);
        truths.iter().all(keeps)
    }

    /// Where a second reading of the values is defensible, a bound holds for both.
    fn covers_other_reading(&self, side: Side, bound: &Bound) -> bool {
        let ambiguous = &self.leaf["ambiguous"];
        if ambiguous.is_null() {
            return true;
        }
        let other = ambiguous[format!("alternative_{}", side.name())].as_str();
        let other = other.and_then(|text| parse_value(text, self.column.column_type).ok());
        other.is_some_and(|other| bound.value.compare(&other).is_some_and(|ordering| ordering != side.beyond()))
    }

    fn fault_of_count(&self, name: &str, count: Option<u64>, provenance: Option<ProvenanceJson>) -> Option<String> {
        let truth = self.leaf["truth"][name].as_u64();
        let is_asked = name == "null_count" || self.column.column_type.is_float();
        match (count, truth) {
            // Rows are counted, and a row may have none or many of these values.
            (None, _) if is_repeated(self.leaf) => None,
            (Some(count), _) if is_repeated(self.leaf) => Some(format!("{name} is {count} in a list or map")),
            (None, _) if self.must_be_known && is_asked => Some(format!("{name} is unknown, truth {truth:?}")),
            (None, _) if provenance.is_some() => Some(format!("{name} is unknown and has a provenance")),
            (None, _) => None,
            (Some(_), _) if !provenance.is_some_and(|provenance| self.is_source(provenance)) => {
                Some(format!("{name} is not from where the policy reads"))
            }
            // What has no NaN by its type may be said to have none.
            (Some(0), None) if !is_asked => None,
            (Some(count), Some(truth)) if count != truth && !self.only_data_shows(name) => {
                Some(format!("{name} is {count}, truth {truth}"))
            }
            (Some(_), _) => None,
        }
    }

    /// Whether the footer is wrong about it and nothing in the footer lets anybody notice.
    fn only_data_shows(&self, what: &str) -> bool {
        let footer = &self.leaf["footer"];
        let signals = footer["signal"].as_array().map(Vec::as_slice).unwrap_or_default();
        let is_none = |signal: &Json| signal.as_str().is_some_and(|signal| signal.starts_with("none"));
        self.policy == Policy::Footer && footer[what] == "wrong" && signals.iter().any(is_none)
    }
}

#[derive(Clone, Copy)]
enum Side {
    Min,
    Max,
}

impl Side {
    const fn name(self) -> &'static str {
        match self {
            Self::Min => "min",
            Self::Max => "max",
        }
    }

    /// How a bound that a value lies beyond compares with that value.
    const fn beyond(self) -> Ordering {
        match self {
            Self::Min => Ordering::Greater,
            Self::Max => Ordering::Less,
        }
    }
}
