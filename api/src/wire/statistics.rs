//! The statistics of one column of one data file.

use prunus_catalog::{DeclaredBound, DeclaredStatistics, literal_from_json, value_to_json};
use prunus_statistics::{Bound, ColumnStatistics, Count, Precision, PrimitiveType, Provenance};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::openapi::values::{CountSchema, ValueSchema};

/// Statistics as a writer declares them; null or absent is unknown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NewStatisticsJson {
    /// The lower bound of the values that are neither null nor NaN.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = ValueSchema)]
    pub min: Option<Value>,
    /// The upper bound of the values that are neither null nor NaN.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = ValueSchema)]
    pub max: Option<Value>,
    /// How tight `min` is; `bound` if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_precision: Option<PrecisionJson>,
    /// How tight `max` is; `bound` if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_precision: Option<PrecisionJson>,
    /// How many rows are null.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<CountSchema>)]
    pub null_count: Option<u64>,
    /// How many rows are NaN.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<CountSchema>)]
    pub nan_count: Option<u64>,
}

impl NewStatisticsJson {
    /// The declaration; or what is wrong with each bound that is no value at all.
    pub(super) fn parse(&self) -> Result<DeclaredStatistics, Vec<String>> {
        let mut faults = Vec::new();
        let mut bound = |side: &str, json: &Option<Value>, precision: Option<PrecisionJson>| {
            let value = literal_from_json(json.as_ref()?);
            if value.is_none() {
                faults.push(format!("{side} is not a boolean, number or string"));
            }
            Some(DeclaredBound { value: value?, precision: precision.unwrap_or(PrecisionJson::Bound).into() })
        };
        let (min, max) = (bound("min", &self.min, self.min_precision), bound("max", &self.max, self.max_precision));
        let statistics = DeclaredStatistics { min, max, null_count: self.null_count, nan_count: self.nan_count };
        if faults.is_empty() { Ok(statistics) } else { Err(faults) }
    }
}

/// Statistics as they are registered; null is unknown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct StatisticsJson {
    /// The lower bound of the values that are neither null nor NaN.
    #[schema(required = true, value_type = ValueSchema)]
    pub min: Option<Value>,
    /// The upper bound of the values that are neither null nor NaN.
    #[schema(required = true, value_type = ValueSchema)]
    pub max: Option<Value>,
    /// How tight `min` is.
    #[schema(required = true)]
    pub min_precision: Option<PrecisionJson>,
    /// How tight `max` is.
    #[schema(required = true)]
    pub max_precision: Option<PrecisionJson>,
    /// How many rows are null.
    #[schema(required = true)]
    pub null_count: Option<u64>,
    /// How many rows are NaN.
    #[schema(required = true)]
    pub nan_count: Option<u64>,
    /// Where each that is known came from.
    #[schema(required = true)]
    pub provenance: ProvenancesJson,
}

impl StatisticsJson {
    /// The statistics of a column of this type.
    pub(super) fn new(statistics: &ColumnStatistics, column_type: PrimitiveType) -> Self {
        let ColumnStatistics { min, max, null_count, nan_count } = statistics;
        let value = |bound: &Option<Bound>| bound.as_ref().map(|bound| value_to_json(&bound.value, column_type));
        let precision = |bound: &Option<Bound>| bound.as_ref().map(|bound| bound.precision.into());
        let from_bound = |bound: &Option<Bound>| bound.as_ref().map(|bound| bound.provenance.into());
        let from_count = |count: &Option<Count>| count.map(|count| count.provenance.into());
        Self {
            min: value(min),
            max: value(max),
            min_precision: precision(min),
            max_precision: precision(max),
            null_count: null_count.map(|count| count.value),
            nan_count: nan_count.map(|count| count.value),
            provenance: ProvenancesJson {
                min: from_bound(min),
                max: from_bound(max),
                null_count: from_count(null_count),
                nan_count: from_count(nan_count),
            },
        }
    }
}

/// Where each statistic came from; absent for what is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct ProvenancesJson {
    /// Of `min`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub min: Option<ProvenanceJson>,
    /// Of `max`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub max: Option<ProvenanceJson>,
    /// Of `null_count`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub null_count: Option<ProvenanceJson>,
    /// Of `nan_count`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub nan_count: Option<ProvenanceJson>,
}

/// How far a bound may be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PrecisionJson {
    /// The value occurs in the file and none lies beyond it.
    Exact,
    /// No value lies beyond it; it may not occur.
    Bound,
    /// A guess: shown to people, never used to prune.
    Estimate,
}

impl From<PrecisionJson> for Precision {
    fn from(precision: PrecisionJson) -> Self {
        match precision {
            PrecisionJson::Exact => Self::Exact,
            PrecisionJson::Bound => Self::Bound,
            PrecisionJson::Estimate => Self::Estimate,
        }
    }
}

impl From<Precision> for PrecisionJson {
    fn from(precision: Precision) -> Self {
        match precision {
            Precision::Exact => Self::Exact,
            Precision::Bound => Self::Bound,
            Precision::Estimate => Self::Estimate,
        }
    }
}

/// Where a statistic came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProvenanceJson {
    /// The writer's word.
    Declared,
    /// The file's footer.
    Footer,
    /// The data was read.
    Scanned,
    /// A partition constant of the file.
    Constant,
}

impl From<Provenance> for ProvenanceJson {
    fn from(provenance: Provenance) -> Self {
        match provenance {
            Provenance::Declared => Self::Declared,
            Provenance::Footer => Self::Footer,
            Provenance::Scanned => Self::Scanned,
            Provenance::Constant => Self::Constant,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prunus_statistics::{Literal, Number};
    use serde_json::json;

    #[test]
    fn a_declared_bound_is_a_bound_unless_it_says_more() {
        let json = json!({"min": 1, "max": "x", "max_precision": "exact", "null_count": null});
        let declared = serde_json::from_value::<NewStatisticsJson>(json).unwrap().parse().unwrap();
        let bound = |value, precision| Some(DeclaredBound { value, precision });
        assert_eq!(
            declared,
            DeclaredStatistics {
                min: bound(Literal::Number(Number::parse("1").unwrap()), Precision::Bound),
                max: bound(Literal::Text("x".to_owned()), Precision::Exact),
                null_count: None,
                nan_count: None,
            }
        );
    }

    #[test]
    fn a_bound_that_is_no_value_is_a_fault() {
        let json = json!({"min": [1], "max": {}});
        let faults = serde_json::from_value::<NewStatisticsJson>(json).unwrap().parse().unwrap_err();
        assert_eq!(faults, ["min is not a boolean, number or string", "max is not a boolean, number or string"]);
    }

    #[test]
    fn what_is_unknown_is_null_and_has_no_provenance() {
        let bound = Bound {
            value: prunus_statistics::Value::Integer(150),
            precision: Precision::Exact,
            provenance: Provenance::Scanned,
        };
        let statistics = ColumnStatistics {
            min: Some(bound),
            null_count: Some(Count { value: 0, provenance: Provenance::Footer }),
            ..ColumnStatistics::default()
        };
        let column_type = "decimal(9,2)".parse().unwrap();
        assert_eq!(
            serde_json::to_value(StatisticsJson::new(&statistics, column_type)).unwrap(),
            json!({
                "min": "1.50", "max": null, "min_precision": "exact", "max_precision": null,
                "null_count": 0, "nan_count": null,
                "provenance": {"min": "scanned", "null_count": "footer"},
            })
        );
    }
}
