//! What is asked of a plan.

use prunus_catalog::{Fault, Filter, Limits, NanOrder, PageSize, PlanPage, PlanRequest, Pruning, SnapshotRef};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, SchemaType, Type};
use utoipa::{PartialSchema, ToSchema};

use super::time::snapshot_ref;
use crate::openapi::values::{NumberSchema, PageSizeSchema};
use crate::page_token::FilePosition;

/// The most bytes that the residuals of a page take together: the longer a filter is, the fewer files a page has.
const MAX_RESIDUAL_BYTES_PER_PAGE: usize = 64 << 20;

/// A scan to be planned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
#[schema(examples(json!({"filter": "fare > 100 AND day >= DATE '2024-01-31'", "select": ["day", "fare"]})))]
pub struct PlanJson {
    /// The rows that are wanted; all if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<FilterJson>,
    /// The snapshot; the newest if neither it nor a time is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<NumberSchema>)]
    pub snapshot_id: Option<i64>,
    /// RFC 3339: the newest snapshot that was committed at or before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub as_of: Option<String>,
    /// The columns that are wanted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub select: Vec<String>,
    /// How the reader's engine orders NaN.
    pub nan_order: NanOrderJson,
    /// The zone in which the reader's engine reads local times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_zone: Option<String>,
    /// Whether statistics are used; without, every live file is kept.
    pub prune: bool,
    /// Whether only metrics are wanted.
    pub dry_run: bool,
    /// The most files of a page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<PageSizeSchema>)]
    pub page_size: Option<u32>,
    /// The `next_page_token` of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_token: Option<String>,
}

impl Default for PlanJson {
    fn default() -> Self {
        Self {
            filter: None,
            snapshot_id: None,
            as_of: None,
            select: Vec::new(),
            nan_order: NanOrderJson::Any,
            time_zone: None,
            prune: true,
            dry_run: false,
            page_size: None,
            page_token: None,
        }
    }
}

impl PlanJson {
    /// What the request asks for whatever page of it: page tokens belong to it.
    pub(crate) fn without_page(&self) -> Self {
        Self { page_size: None, page_token: None, dry_run: false, ..self.clone() }
    }

    /// The request as the catalog is asked, from the position that a page token named, with every fault found; what is at fault
    /// is taken as absent.
    pub(crate) fn parse(self, position: Option<FilePosition>, limits: &Limits) -> PlanRequest {
        let mut faults = Vec::new();
        let snapshot = snapshot_ref(self.snapshot_id, self.as_of.as_deref()).unwrap_or_else(|found| {
            faults.extend(found);
            SnapshotRef::Current
        });
        let filter = self.filter.map(Filter::from);
        let filter_bytes = filter.as_ref().map_or(0, Filter::written_bytes);
        let page_size = page_size(self.page_size, filter_bytes, limits).unwrap_or_else(|found| {
            faults.extend(found);
            PageSize::default()
        });
        if self.dry_run && position.is_some() {
            faults.push(Fault::at("dry_run", "the metrics of a plan have no pages: leave out dry_run or page_token"));
        }
        PlanRequest {
            filter,
            snapshot: position.map_or(snapshot, FilePosition::snapshot),
            since: None,
            select: self.select,
            nan_order: self.nan_order.into(),
            time_zone: self.time_zone,
            pruning: if self.prune { Pruning::On } else { Pruning::Off },
            page: match position.map(FilePosition::after) {
                _ if self.dry_run => PlanPage::MetricsOnly,
                None => PlanPage::First(page_size),
                Some(file_id) => PlanPage::After(file_id, page_size),
            },
            faults,
        }
    }
}

/// The size of a page, so that its residuals stay within [`MAX_RESIDUAL_BYTES_PER_PAGE`].
fn page_size(asked: Option<u32>, filter_bytes: usize, limits: &Limits) -> Result<PageSize, Vec<Fault>> {
    let asked = limits.page_size(asked)?;
    let files_max = (MAX_RESIDUAL_BYTES_PER_PAGE / filter_bytes.max(1)).max(1);
    let size = asked.get().min(u32::try_from(files_max).unwrap_or(u32::MAX));
    Ok(PageSize::new(size).unwrap_or(asked))
}

/// A filter, or what is left of one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "a filter is SQL text or an Iceberg expression object")]
pub enum FilterJson {
    /// A SQL boolean expression.
    Sql(String),
    /// An expression as the Iceberg REST specification writes it.
    Iceberg(Map<String, Value>),
    /// The Iceberg expression of every row, or of none.
    Constant(bool),
}

impl PartialSchema for FilterJson {
    fn schema() -> RefOr<Schema> {
        let description = "A filter: a SQL boolean expression as text; or an expression as the Iceberg REST specification writes it, \
                           an object, or `true` or `false`.";
        let examples =
            [json!("fare > 100 AND day >= DATE '2024-01-31'"), json!({"type": "gt", "term": "fare", "value": 100})];
        ObjectBuilder::new()
            .schema_type(SchemaType::from_iter([Type::String, Type::Object, Type::Boolean]))
            .description(Some(description))
            .examples(examples)
            .into()
    }
}

impl ToSchema for FilterJson {}

impl From<FilterJson> for Filter {
    fn from(filter: FilterJson) -> Self {
        match filter {
            FilterJson::Sql(text) => Self::Sql(text),
            FilterJson::Iceberg(object) => Self::Iceberg(Value::Object(object)),
            FilterJson::Constant(value) => Self::Iceberg(Value::Bool(value)),
        }
    }
}

impl From<&Filter> for FilterJson {
    fn from(filter: &Filter) -> Self {
        match filter {
            Filter::Sql(text) => Self::Sql(text.clone()),
            Filter::Iceberg(Value::Object(object)) => Self::Iceberg(object.clone()),
            // An Iceberg expression that is no object is true or false.
            Filter::Iceberg(constant) => Self::Constant(*constant != Value::Bool(false)),
        }
    }
}

/// How an engine orders NaN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum NanOrderJson {
    /// Not known.
    #[default]
    Any,
    /// Above every number, equal to itself.
    Greatest,
    /// Unordered, as IEEE 754 compares.
    Ieee,
}

impl From<NanOrderJson> for NanOrder {
    fn from(order: NanOrderJson) -> Self {
        match order {
            NanOrderJson::Any => Self::Any,
            NanOrderJson::Greatest => Self::Greatest,
            NanOrderJson::Ieee => Self::Ieee,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prunus_catalog::{DEFAULT_PAGE_SIZE, FileId, MAX_PAGE_SIZE, SchemaId, SnapshotId};

    fn read(json: Value) -> PlanJson {
        serde_json::from_value(json).unwrap()
    }

    fn faults(json: Value) -> Vec<String> {
        read(json).parse(None, &Limits::default()).faults.into_iter().filter_map(|fault| fault.at).collect()
    }

    #[test]
    fn a_plan_of_nothing_asks_for_all_rows_of_the_newest_snapshot() {
        let request = read(json!({})).parse(None, &Limits::default());
        assert_eq!((request.filter, request.snapshot), (None, SnapshotRef::Current));
        assert_eq!((request.pruning, request.page), (Pruning::On, PlanPage::default()));
    }

    #[test]
    fn a_plan_survives_being_written() {
        let json = json!({"filter": "a = 1", "as_of": "2024-01-31T12:00:00Z", "select": ["a"], "nan_order": "ieee",
            "time_zone": "Europe/Paris", "prune": false, "dry_run": true, "page_size": 5, "page_token": "x"});
        assert_eq!(serde_json::to_value(read(json.clone())).unwrap(), json);
    }

    #[test]
    fn every_fault_of_a_plan_is_found() {
        let bad = json!({"snapshot_id": 1, "as_of": "2024-01-31T12:00:00Z", "page_size": 0});
        assert_eq!(faults(bad), ["as_of", "page_size"]);
    }

    #[test]
    fn metrics_alone_have_no_later_page() {
        let position = FilePosition { snapshot_id: 3, schema_id: 2, after: 9 };
        let dry = read(json!({"dry_run": true, "page_size": 5}));
        assert_eq!(dry.clone().parse(None, &Limits::default()).faults, []);
        assert_eq!(dry.parse(Some(position), &Limits::default()).faults[0].at.as_deref(), Some("dry_run"));
    }

    #[test]
    fn a_filter_is_text_or_an_object() {
        let error = serde_json::from_value::<PlanJson>(json!({"filter": 5})).unwrap_err();
        assert_eq!(error.to_string(), "a filter is SQL text or an Iceberg expression object");
    }

    #[test]
    fn a_position_pins_snapshot_and_schema() {
        let position = FilePosition { snapshot_id: 3, schema_id: 2, after: 9 };
        let request = read(json!({"page_size": 4})).parse(Some(position), &Limits::default());
        assert_eq!(request.snapshot, SnapshotRef::Pinned(SnapshotId(3), SchemaId(2)));
        assert_eq!(request.page, PlanPage::After(FileId(9), PageSize::new(4).unwrap()));
    }

    #[test]
    fn long_filters_make_short_pages() {
        let size = |asked, bytes| page_size(asked, bytes, &Limits::default()).unwrap().get();
        assert_eq!(size(None, 10), DEFAULT_PAGE_SIZE);
        let at_the_limit = MAX_RESIDUAL_BYTES_PER_PAGE / MAX_PAGE_SIZE as usize;
        assert_eq!(size(Some(MAX_PAGE_SIZE), at_the_limit), MAX_PAGE_SIZE);
        assert!(size(Some(MAX_PAGE_SIZE), at_the_limit + 1) < MAX_PAGE_SIZE);
        assert_eq!(size(None, 2 * MAX_RESIDUAL_BYTES_PER_PAGE), 1);
        assert!(page_size(Some(MAX_PAGE_SIZE + 1), 0, &Limits::default()).is_err());
    }
}
