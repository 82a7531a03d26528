//! Manifests: how a table is laid out now, and what plans know of each part of it.

use std::collections::BTreeMap;

use prunus_catalog::{ManifestDetail, ManifestEntry, ManifestPage, ManifestZone, Totals, value_to_json};
use prunus_statistics::PrimitiveType;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::file::FileJson;
use super::statistics::PrecisionJson;
use crate::openapi::values::ValueSchema;

/// How many files there are of some kind, and what they hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TotalsJson {
    /// How many files.
    pub files: u64,
    /// The rows of those whose row count is known.
    pub rows: u64,
    /// How many of them have no known row count.
    #[serde(default)]
    #[schema(required = true)]
    pub files_of_unknown_rows: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl From<Totals> for TotalsJson {
    fn from(Totals { files, rows, files_of_unknown_rows, bytes }: Totals) -> Self {
        Self { files, rows, files_of_unknown_rows, bytes }
    }
}

/// A manifest, and what a snapshot has of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ManifestJson {
    /// Its id, which no other manifest ever has.
    pub manifest_id: i64,
    /// Its files that are live in the snapshot.
    #[serde(flatten)]
    pub live: TotalsJson,
    /// All its files, where that is more: also those that are live in other snapshots alone, or in none any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub entries: Option<TotalsJson>,
    /// The first snapshot that one of its files is live in.
    pub first_added_snapshot: i64,
    /// The first snapshot that its newest file is live in.
    pub last_added_snapshot: i64,
}

impl From<ManifestEntry> for ManifestJson {
    fn from(entry: ManifestEntry) -> Self {
        Self {
            manifest_id: entry.manifest_id.0,
            live: entry.live.into(),
            entries: (entry.entries != entry.live).then(|| entry.entries.into()),
            first_added_snapshot: entry.first_added_snapshot.0,
            last_added_snapshot: entry.last_added_snapshot.0,
        }
    }
}

/// A page of the manifests that hold a live file of a snapshot, by rising `manifest_id`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ManifestsJson {
    /// The snapshot.
    pub snapshot_id: i64,
    /// The page.
    pub manifests: Vec<ManifestJson>,
    /// What is live in the tail: the newest files, which are in no manifest yet. On the last page alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub tail: Option<TotalsJson>,
    /// What asks for the next page; absent at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub next_page_token: Option<String>,
}

impl From<ManifestPage> for ManifestsJson {
    fn from(page: ManifestPage) -> Self {
        Self {
            snapshot_id: page.snapshot_id.0,
            manifests: page.manifests.into_iter().map(ManifestJson::from).collect(),
            tail: page.tail.map(TotalsJson::from),
            next_page_token: None,
        }
    }
}

/// One manifest, with a page of its live files by rising `file_id`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ManifestDetailJson {
    /// The snapshot.
    pub snapshot_id: i64,
    /// The manifest.
    #[serde(flatten)]
    pub manifest: ManifestJson,
    /// What is known of each column over all files of the manifest, by column: what plans decide by whether they look at the files
    /// at all. On the first page alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub zones: Option<BTreeMap<String, ZoneJson>>,
    /// The page. Files come without their columns.
    pub live_files: Vec<FileJson>,
    /// What asks for the next page; absent at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub next_page_token: Option<String>,
}

impl From<ManifestDetail> for ManifestDetailJson {
    fn from(detail: ManifestDetail) -> Self {
        let zone = |(key, (column_type, zone)): (String, (PrimitiveType, ManifestZone))| {
            (key, ZoneJson::new(&zone, column_type))
        };
        Self {
            snapshot_id: detail.snapshot_id.0,
            manifest: detail.manifest.into(),
            zones: detail.zones.map(|zones| zones.into_iter().map(zone).collect()),
            live_files: detail.files.into_iter().map(FileJson::from).collect(),
            next_page_token: None,
        }
    }
}

/// What is known of a column over all files of a manifest; null is unknown. Files that are not live any more count.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct ZoneJson {
    /// The lower bound of the values that are neither null nor NaN; unknown as soon as one file that may hold a value has none.
    #[schema(required = true, value_type = ValueSchema)]
    pub min: Option<Value>,
    /// The upper bound of the same.
    #[schema(required = true, value_type = ValueSchema)]
    pub max: Option<Value>,
    /// How tight `min` is: a zone has bounds, and does not say whether they occur.
    #[schema(required = true)]
    pub min_precision: Option<PrecisionJson>,
    /// How tight `max` is.
    #[schema(required = true)]
    pub max_precision: Option<PrecisionJson>,
    /// How many rows are null; unknown as soon as it is not known of one file.
    #[schema(required = true)]
    pub null_count: Option<u64>,
    /// How many rows are NaN; of floats alone.
    #[schema(required = true)]
    pub nan_count: Option<u64>,
    /// Whether it is known that no row holds a value that is neither null nor NaN. There are no bounds then, and none are missing.
    pub without_values: bool,
    /// How many files have usable statistics of the column that are their writer's word alone.
    #[schema(required = true)]
    pub declared_files: Option<u64>,
}

impl ZoneJson {
    fn new(ManifestZone { zone, declared_files }: &ManifestZone, column_type: PrimitiveType) -> Self {
        let value = |value: &prunus_statistics::Value| value_to_json(value, column_type);
        Self {
            min: zone.min().map(value),
            max: zone.max().map(value),
            min_precision: zone.min().map(|_| PrecisionJson::Bound),
            max_precision: zone.max().map(|_| PrecisionJson::Bound),
            null_count: zone.null_count(),
            nan_count: zone.nan_count().filter(|_| column_type.is_float()),
            without_values: zone.is_valueless(),
            declared_files: *declared_files,
        }
    }
}
