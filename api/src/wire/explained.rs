//! Why a plan keeps or skips a file.

use std::collections::BTreeMap;

use prunus_catalog::{Explained, ExplainedConjunct, Outcome, Verdict};
use prunus_statistics::FileColumn;
use serde::{Deserialize, Serialize};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{Object, ObjectBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use super::plan::{FilterJson, NanOrderJson, PlanJson};
use super::statistics::StatisticsJson;
use crate::openapi::values::OutcomeSchema;

/// A file of a plan to be explained. What the plan says of pages is of no account.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "ExplainFields")]
pub struct ExplainJson {
    /// The file.
    pub path: String,
    /// The plan.
    #[serde(flatten)]
    pub plan: PlanJson,
}

/// By hand, since a derived one would let the plan refuse `path`.
impl PartialSchema for ExplainJson {
    fn schema() -> RefOr<Schema> {
        let plan = match PlanJson::schema() {
            RefOr::T(Schema::Object(plan)) => plan,
            _ => Object::new(),
        };
        let path = ObjectBuilder::new().schema_type(Type::String).description(Some("The file."));
        ObjectBuilder::from(plan)
            .property("path", path)
            .required("path")
            .examples([serde_json::json!({"path": "2024-01.parquet", "filter": "fare > 100"})])
            .description(Some("A file of a plan to be explained. What the plan says of pages is of no account."))
            .into()
    }
}

impl ToSchema for ExplainJson {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        PlanJson::schemas(schemas);
    }
}

/// The fields of an [`ExplainJson`]. (Those of a plan stand here once more, since what is flattened does not say where a fault is.)
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExplainFields {
    path: String,
    #[serde(default)]
    filter: Option<FilterJson>,
    #[serde(default)]
    snapshot_id: Option<i64>,
    #[serde(default)]
    as_of: Option<String>,
    #[serde(default)]
    select: Vec<String>,
    #[serde(default)]
    nan_order: NanOrderJson,
    #[serde(default)]
    time_zone: Option<String>,
    #[serde(default = "prunes")]
    prune: bool,
    #[serde(default)]
    dry_run: bool,
    #[serde(default)]
    page_size: Option<u32>,
    #[serde(default)]
    page_token: Option<String>,
}

const fn prunes() -> bool {
    true
}

impl From<ExplainFields> for ExplainJson {
    fn from(fields: ExplainFields) -> Self {
        let ExplainFields { path, filter, snapshot_id, as_of, select, nan_order, time_zone, .. } = fields;
        let ExplainFields { prune, dry_run, page_size, page_token, .. } = fields;
        let plan = PlanJson {
            filter,
            snapshot_id,
            as_of,
            select,
            nan_order,
            time_zone,
            prune,
            dry_run,
            page_size,
            page_token,
        };
        Self { path, plan }
    }
}

/// What is found of a file, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ExplainedJson {
    /// The snapshot that was planned.
    #[serde(default)]
    #[schema(required = true)]
    pub snapshot_id: i64,
    /// The file.
    #[serde(default)]
    #[schema(required = true)]
    pub file_id: i64,
    /// The manifest that it is in, whose zone kept it from being skipped with all beside it; absent while it is in none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub manifest_id: Option<i64>,
    /// `none`, `some` or `all`: how many of its rows may match.
    pub verdict: ExplainedVerdictJson,
    /// The conjunct that it is skipped for, by its place in the filter; absent if it is kept, or has no rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub pruned_by: Option<usize>,
    /// What each conjunct of the filter contributes.
    pub conjuncts: Vec<ExplainedConjunctJson>,
}

/// How many of a file's rows match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExplainedVerdictJson {
    /// None: a plan skips the file.
    None,
    /// Perhaps some.
    Some,
    /// All.
    All,
}

/// What is found of one conjunct, and from what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ExplainedConjunctJson {
    /// Its text as SQL.
    pub expression: String,
    /// Of `true`, `false` and `null` those that it may be on the file's rows.
    #[schema(value_type = Vec<OutcomeSchema>)]
    pub outcomes: Vec<String>,
    /// The statistics of the columns that it reads, where there are any.
    pub statistics: BTreeMap<String, StatisticsJson>,
    /// All of it as a sentence.
    pub sentence: String,
}

impl From<Explained> for ExplainedJson {
    fn from(explained: Explained) -> Self {
        Self {
            snapshot_id: explained.snapshot_id.0,
            file_id: explained.file_id.0,
            manifest_id: explained.manifest_id.map(|manifest_id| manifest_id.0),
            verdict: match explained.verdict {
                Verdict::None => ExplainedVerdictJson::None,
                Verdict::Some => ExplainedVerdictJson::Some,
                Verdict::All => ExplainedVerdictJson::All,
            },
            pruned_by: explained.pruned_by,
            conjuncts: explained.conjuncts.into_iter().map(ExplainedConjunctJson::from).collect(),
        }
    }
}

impl From<ExplainedConjunct> for ExplainedConjunctJson {
    fn from(conjunct: ExplainedConjunct) -> Self {
        let statistics = conjunct.statistics.into_iter().filter_map(|(key, (column_type, column))| match column {
            FileColumn::Present(statistics) => Some((key, StatisticsJson::new(&statistics, column_type))),
            FileColumn::Absent => None,
        });
        Self {
            expression: conjunct.expression,
            outcomes: conjunct.outcomes.into_iter().map(Outcome::name).map(str::to_owned).collect(),
            statistics: statistics.collect(),
            sentence: conjunct.sentence,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_explanation_takes_every_field_of_a_plan() {
        let plan = json!({"filter": "a = 1", "snapshot_id": 1, "as_of": "2024-01-31T12:00:00Z", "select": ["a"], "nan_order": "ieee",
            "time_zone": "Europe/Paris", "prune": false, "dry_run": true, "page_size": 5, "page_token": "x"});
        let mut json = plan.clone();
        json["path"] = "p".into();
        let explain: ExplainJson = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(explain.plan, serde_json::from_value(plan).unwrap());
        assert_eq!(serde_json::to_value(&explain).unwrap(), json);
    }

    #[test]
    fn an_explanation_of_a_path_alone_is_of_the_plan_of_all_rows() {
        let explain: ExplainJson = serde_json::from_value(json!({"path": "p"})).unwrap();
        assert_eq!(explain.plan, PlanJson::default());
    }
}
