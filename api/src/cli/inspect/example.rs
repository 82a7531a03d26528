//! A table that has all that an inspection can find.

use serde_json::{Value, json};

use super::{Inspection, Scan, advice};

fn column(name: &str, column_type: &str, obstacles: &Value, known: u64) -> Value {
    let share = |files: u64| json!({"files": files, "share": 0.5});
    let provenance = json!({"declared": 60 - known, "footer": known, "scanned": 0, "constant": 0});
    let side = json!({"exact": share(0), "bound": share(known), "estimate": share(0), "unknown": share(60 - known),
        "provenance": provenance});
    let counts = |known| json!({"known": share(known), "unknown": share(60 - known), "provenance": provenance});
    json!({"id": "#1", "name": name, "type": column_type, "obstacles": obstacles, "statistics": {
        "without_values": share(0), "absent": share(0), "min": side, "max": side, "null_count": counts(60),
        "nan_count": counts(0), "overlap": {"mean": 31.5, "max": 45}
    }})
}

fn scan() -> Scan {
    let plan = json!({
        "snapshot_id": 7, "schema": {"schema_id": 1, "fields": []}, "files": [],
        "metrics": {
            "manifests_considered": 3, "manifests_pruned": 1, "parts_read": 2, "parts_cached": 0, "files_considered": 60,
            "files_pruned": 20, "files_kept": 40, "files_all": 0, "rows_kept": 400_000, "rows_pruned": 200_572,
            "bytes_kept": 13_000_000, "bytes_pruned": 7_000_000, "files_of_unknown_rows": 0,
            "conjuncts": [
                {"expression": "price > 100", "files_pruned": 20, "prunable": true, "reason": "NaN count unknown in 40 files"},
                {"expression": "lower(city) = 'x'", "files_pruned": 0, "prunable": false, "reason": "unsupported form"},
            ],
            "timings_us": {"bind": 1, "manifests": 1, "files": 1, "entries": 1, "total": 1_234}
        }
    });
    let explained = json!({"verdict": "some", "conjuncts": [
        {"expression": "price > 100", "outcomes": ["true", "false"], "statistics": {},
         "sentence": "`price > 100` may be true or false: `price` is from 1 to 90, but it is not known how many NaNs there are, and \
                      some engines take NaN for greater than 100"},
    ]});
    let explained = super::ExplainedFile {
        path: "s3://lake/orders/part-1.parquet".to_owned(),
        explained: serde_json::from_value(explained).unwrap(),
    };
    Scan { plan: serde_json::from_value(plan).unwrap(), explained: vec![explained] }
}

/// A table with a filter that met every obstacle.
pub(super) fn inspection() -> Inspection {
    let table = json!({
        "namespace": "shop", "name": "orders", "table_id": "x", "location": "s3://lake/orders/", "current_snapshot": 7,
        "schema": {"schema_id": 1, "fields": []}, "files": 60, "rows": 600_572, "bytes": 20_000_000, "cluster_by": ["day"],
        "properties": {"owner": "me"}, "created_at": "2026-01-01T00:00:00.000Z"
    });
    let snapshot = json!({"snapshot_id": 7, "parent": 6, "operation": "append", "committed_at": "2026-01-02T00:00:00.000Z",
        "schema_id": 1, "added_files": 10, "removed_files": 0, "files": 60, "rows": 600_572, "bytes": 20_000_000, "tags": [],
        "summary": {}});
    let met =
        |reason: &str| json!([{"reason": reason, "plans": 12, "last_at": "2026-01-02T00:00:00.000Z", "example": "x"}]);
    let columns = json!({"snapshot_id": 7, "schema_id": 1, "files": 60, "obstacles_since": "2026-01-01T00:00:00.000Z", "columns": [
        column("day", "date", &json!([]), 60),
        column("price", "float64", &met("nan_count_unknown"), 60),
        column("city", "string", &met("without_statistics"), 20),
    ]});
    let audit = json!({"audit_id": 3, "snapshot_id": 7, "mode": "footer", "sample": 1.0, "repair": false, "state": "done",
        "created_at": "2026-01-02T00:00:00.000Z", "files": 60, "files_checked": 60, "files_missing": 1, "files_changed": 0,
        "files_unreadable": 0, "statistics_refuted": 0, "statistics_repaired": 0, "findings": 1, "findings_left_out": 0});
    let mut inspection = Inspection {
        table: serde_json::from_value(table).unwrap(),
        snapshots: serde_json::from_value(json!([snapshot])).unwrap(),
        layout: serde_json::from_value(json!({"manifests": 9, "tail_files": 3, "overlap": 8})).unwrap(),
        columns: serde_json::from_value(columns).unwrap(),
        audits: serde_json::from_value(json!([audit])).unwrap(),
        scan: Some(scan()),
        advice: Vec::new(),
    };
    inspection.advice = advice::advice(&inspection);
    inspection
}
