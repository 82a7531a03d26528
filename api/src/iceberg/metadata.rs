//! The metadata of a table, as Iceberg has it, out of what the catalog knows.
//!
//! There is no file of it, and there are no manifests: a client that plans scans itself would look for the manifest list of a snapshot,
//! which is named and is not there. So it fails, and never takes the table for an empty one.

use std::collections::BTreeSet;

use prunus_catalog::{Operation, SchemaId, SnapshotId, SnapshotRow, TableHistory, Tag};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::{Map, Value, json};

use super::column_types::schema_json;
use super::error::Refusal;
use super::name_mapping::{self, NameMapping};

/// What the names of metadata are below, where a table has no place of its own. Nothing is ever there.
const NOWHERE: &str = "file:///nowhere";
/// The ids of partition fields begin behind this one.
const LAST_PARTITION_ID: u32 = 999;
/// What Iceberg calls the newest snapshot.
const MAIN: &str = "main";
/// What the summary of a snapshot calls what its commit meant.
const OPERATION: &str = "operation";

/// What a client is given of a table.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct TableJson<'h> {
    metadata_location: String,
    metadata: MetadataJson<'h>,
    /// Empty: some versions of DuckDB would take whatever stands here for the settings of an object store.
    config: Map<String, Value>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct MetadataJson<'h> {
    #[serde(flatten)]
    table: Value,
    snapshots: Vec<SnapshotJson<'h>>,
    snapshot_log: Vec<LoggedJson>,
}

/// There may be many, so that they are not made into trees.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct SnapshotJson<'h> {
    snapshot_id: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_snapshot_id: Option<i64>,
    sequence_number: i64,
    timestamp_ms: i64,
    schema_id: i64,
    manifest_list: String,
    summary: SummaryJson<'h>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct LoggedJson {
    snapshot_id: i64,
    timestamp_ms: i64,
}

/// A table, or what of it Iceberg has no words for.
pub(super) fn table_json(history: &TableHistory) -> Result<TableJson<'_>, Refusal> {
    let table = &history.table;
    let location = table.location.as_deref().unwrap_or(NOWHERE).trim_end_matches('/').to_owned();
    let last_updated_ms = history.snapshots.last().map_or(table.created_at_ms, |row| row.committed_at_ms);
    let mut json = json!({
        "format-version": 2,
        "table-uuid": table.table_id,
        "location": location,
        "last-sequence-number": table.current_snapshot.0,
        "last-updated-ms": last_updated_ms,
        "last-column-id": history.schemas.iter().map(|(_, schema)| schema.last_field_id().0).max().unwrap_or(0),
        "current-schema-id": table.schema_id.0,
        "schemas": schemas(history)?,
        "default-spec-id": 0,
        "partition-specs": [{"spec-id": 0, "fields": []}],
        "last-partition-id": LAST_PARTITION_ID,
        "default-sort-order-id": 0,
        "sort-orders": [{"order-id": 0, "fields": []}],
        "properties": properties(history)?,
        "metadata-log": [],
        "refs": refs(history)?,
    });
    if let (Some(members), true) = (json.as_object_mut(), table.current_snapshot != SnapshotId::EMPTY) {
        members.insert("current-snapshot-id".to_owned(), table.current_snapshot.0.into());
    }
    let logged = |row: &SnapshotRow| LoggedJson { snapshot_id: row.snapshot_id.0, timestamp_ms: row.committed_at_ms };
    let metadata_location = format!("{location}/metadata/{}.metadata.json", table.current_snapshot.0);
    let metadata = MetadataJson {
        table: json,
        snapshots: history.snapshots.iter().map(|row| SnapshotJson::of(row, &location)).collect(),
        snapshot_log: history.snapshots.iter().map(logged).collect(),
    };
    Ok(TableJson { metadata_location, metadata, config: Map::new() })
}

fn schemas(history: &TableHistory) -> Result<Vec<Value>, Refusal> {
    let of_snapshots = history.snapshots.iter().map(|row| row.schema_id.0);
    let meant: BTreeSet<i64> = of_snapshots.chain([history.table.schema_id.0]).collect();
    let schemas = history.schemas.iter().filter(|(id, _)| meant.contains(&id.0));
    schemas
        .map(|(id, schema)| schema_json(id.0, schema).map_err(|faults| not_of_iceberg(*id, history, &faults)))
        .collect()
}

fn not_of_iceberg(id: SchemaId, history: &TableHistory, faults: &[String]) -> Refusal {
    let which = if id == history.table.schema_id { String::new() } else { format!(", as it was in schema {id},") };
    let (namespace, name) = (&history.table.namespace, &history.table.name);
    Refusal::NotOfIceberg(format!(
        "table {namespace}.{name}{which} cannot be told of in Iceberg: {}",
        faults.join("; ")
    ))
}

/// What the owner set, and the name mapping whatever they set: it is what files without field ids are read by.
fn properties(history: &TableHistory) -> Result<Map<String, Value>, Refusal> {
    let mapping = serde_json::to_string(&NameMapping::of(history));
    let mapping = mapping.map_err(|error| Refusal::NotOfIceberg(error.to_string()))?;
    let set = history.table.properties.iter().map(|(key, value)| (key.clone(), Value::from(value.as_str())));
    Ok(set.chain([(name_mapping::PROPERTY.to_owned(), mapping.into())]).collect())
}

/// What snapshots are called: the newest by the name that Iceberg has for it, which no tag can have beside it.
fn refs(history: &TableHistory) -> Result<Map<String, Value>, Refusal> {
    if history.tags.iter().any(|tag| tag.name == MAIN) {
        let fault = format!("a tag is called `{MAIN}`, which is what Iceberg calls the newest snapshot");
        return Err(not_of_iceberg(history.table.schema_id, history, &[fault]));
    }
    let tag = |tag: &Tag| (tag.name.clone(), json!({"snapshot-id": tag.snapshot_id.0, "type": "tag"}));
    let newest = history.table.current_snapshot;
    let main =
        (newest != SnapshotId::EMPTY).then(|| (MAIN.to_owned(), json!({"snapshot-id": newest.0, "type": "branch"})));
    Ok(history.tags.iter().map(tag).chain(main).collect())
}

impl<'h> SnapshotJson<'h> {
    fn of(row: &'h SnapshotRow, location: &str) -> Self {
        let id = row.snapshot_id.0;
        Self {
            snapshot_id: id,
            parent_snapshot_id: (row.parent != SnapshotId::EMPTY).then_some(row.parent.0),
            sequence_number: id,
            timestamp_ms: row.committed_at_ms,
            schema_id: row.schema_id.0,
            manifest_list: format!("{location}/metadata/snap-{id}-is-planned-by-the-server-alone.avro"),
            summary: SummaryJson(row),
        }
    }
}

/// What the writer noted, and the counts of the catalog, which come first.
struct SummaryJson<'h>(&'h SnapshotRow);

impl Serialize for SummaryJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(row) = self;
        let known_rows = (row.totals.files_of_unknown_rows == 0).then_some(row.totals.rows);
        let counts = [
            ("added-data-files", Some(row.added_files)),
            ("deleted-data-files", Some(row.removed_files)),
            ("total-data-files", Some(row.totals.files)),
            ("total-files-size", Some(row.totals.bytes)),
            ("total-records", known_rows),
        ];
        let is_ours = |key: &str| key == OPERATION || counts.iter().any(|(ours, _)| *ours == key);
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry(OPERATION, operation(row.operation))?;
        for (key, count) in counts {
            if let Some(count) = count {
                map.serialize_entry(key, &count.to_string())?;
            }
        }
        for (key, note) in row.summary.iter().filter(|(key, _)| !is_ours(key)) {
            map.serialize_entry(key, note)?;
        }
        map.end()
    }
}

fn operation(operation: Operation) -> &'static str {
    match operation {
        Operation::Append => "append",
        Operation::Delete => "delete",
        Operation::Replace => "replace",
        Operation::Overwrite => "overwrite",
    }
}
