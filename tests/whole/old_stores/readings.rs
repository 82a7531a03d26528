//! What the README says of the second store.

use std::collections::BTreeMap;

use prunus_catalog::{Catalog, PageSize, RequestKey, SnapshotRef, TableIdent};
use prunus_statistics::{Bound, ColumnStatistics, Count, FileColumn, Precision, PrimitiveType, Provenance, Value};

use super::{live_files, planned};

fn readings() -> TableIdent {
    "lab.readings".parse().unwrap()
}

pub(super) async fn holds_the_readings(catalog: &Catalog) {
    let (namespaces, _) = catalog.list_namespaces(String::new(), PageSize::default()).await.unwrap();
    let named: Vec<_> = namespaces.into_iter().map(|namespace| (namespace.name, namespace.properties)).collect();
    let site = BTreeMap::from([("site".to_owned(), "north".to_owned())]);
    assert_eq!(named, [("lab".to_owned(), site)]);
    let table = catalog.load_table(readings()).await.unwrap();
    assert_eq!((table.location.as_deref(), table.cluster_by), (Some("s3://bucket/readings/"), vec!["at".to_owned()]));
    assert_eq!((table.totals.files, table.totals.rows, table.totals.files_of_unknown_rows), (10, 650, 1));

    for (snapshot, live) in LIVE.iter().copied() {
        assert_eq!(live_files(catalog, readings(), snapshot).await, live, "snapshot {snapshot}");
        assert_eq!(planned(catalog, readings(), snapshot, None).await.0, live, "snapshot {snapshot}");
    }
    for (filter, kept, all) in PLANS {
        let expected = (kept.to_vec(), all.to_vec());
        assert_eq!(planned(catalog, readings(), 6, Some(filter)).await, expected, "{filter}");
    }
    has_its_snapshots(catalog).await;
    has_the_reply_to_the_last_commit(catalog).await;
    has_the_statistics_of_the_fourth_file(catalog).await;
}

/// The numbers of the live files of each retained snapshot; files are called `r01.parquet` and so on.
const LIVE: &[(i64, &[u32])] = &[
    (2, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]),
    (5, &[1, 2, 4, 5, 6, 7, 8, 9, 10, 12, 13]),
    (6, &[1, 2, 4, 6, 7, 8, 9, 10, 12, 14]),
];

/// Filters on the newest snapshot: which files are kept, and which of them match as a whole. Files of odd numbers have no NaN
/// count, and the eighth no row count.
const PLANS: &[(&str, &[u32], &[u32])] = &[
    ("at < TIMESTAMP WITH TIME ZONE '2024-03-03 00:00:00Z'", &[1, 2], &[1, 2]),
    ("at >= TIMESTAMP WITH TIME ZONE '2024-03-12 00:00:00Z'", &[12, 14], &[12, 14]),
    ("value > 11", &[1, 7, 9, 12, 14], &[12, 14]),
    ("value BETWEEN 8 AND 9", &[8, 9], &[8]),
    ("note = 'x'", &[1, 2, 6, 7, 8, 9, 10, 12, 14], &[]),
    ("sensor < 's02'", &[1], &[]),
];

async fn has_its_snapshots(catalog: &Catalog) {
    let (snapshots, _) = catalog.list_snapshots(readings(), None, PageSize::default()).await.unwrap();
    let retained: Vec<_> =
        snapshots.iter().map(|snapshot| (snapshot.row.snapshot_id.0, snapshot.row.parent.0)).collect();
    assert_eq!(retained, [(6, 5), (5, 4), (2, 1)]);
    let steps: Vec<_> = snapshots.iter().map(|snapshot| snapshot.row.summary["step"].as_str()).collect();
    assert_eq!(steps, ["5", "4", "1"]);
    let (tags, _) = catalog.list_tags(readings(), String::new(), PageSize::default()).await.unwrap();
    let tags: Vec<_> = tags.iter().map(|tag| (tag.name.as_str(), tag.snapshot_id.0)).collect();
    assert_eq!(tags, [("release", 2)]);
}

async fn has_the_reply_to_the_last_commit(catalog: &Catalog) {
    let request = RequestKey {
        scope: " POST /v1/namespaces/lab/tables/readings/commits".to_owned(),
        key: "commit-6".to_owned(),
        content_hash: 0x5077_bf60_c67f_b663_d790_dbf5_e1af_cf58,
    };
    let reply = catalog.get_reply(request).await.unwrap().unwrap();
    let body = "{\"snapshot_id\":6,\"committed_at\":\"2024-01-31T12:06:00.000Z\",\"added_files\":1,\"removed_files\":2,\
        \"rows\":650,\"files_of_unknown_rows\":1,\"bytes\":10073,\"warnings\":[]}";
    assert_eq!((reply.status, std::str::from_utf8(&reply.body).unwrap()), (201, body));
}

async fn has_the_statistics_of_the_fourth_file(catalog: &Catalog) {
    let path = "s3://bucket/readings/r04.parquet".to_owned();
    let file = catalog.load_file(readings(), SnapshotRef::Current, path).await.unwrap();
    assert_eq!((file.entry.row.size_bytes, file.entry.row.row_count), (1004, Some(40)));
    let provenance = Provenance::Declared;
    let bound = |value, precision| Some(Bound { value, precision, provenance });
    let count = |value| Some(Count { value, provenance });
    let value = ColumnStatistics {
        min: bound(Value::Float(4.0), Precision::Bound),
        max: bound(Value::Float(4.5), Precision::Bound),
        null_count: count(0),
        nan_count: count(0),
    };
    let text = |text: &str| Value::Bytes(text.as_bytes().to_vec());
    let sensor = ColumnStatistics {
        min: bound(text("s04"), Precision::Bound),
        max: bound(text("s04z"), Precision::Estimate),
        null_count: None,
        nan_count: None,
    };
    let column = |name: &str| file.columns.get(name).cloned();
    assert_eq!(column("value"), Some((PrimitiveType::Float64, FileColumn::Present(value))));
    assert_eq!(column("sensor"), Some((PrimitiveType::String, FileColumn::Present(sensor))));
    assert_eq!(column("note"), Some((PrimitiveType::String, FileColumn::Absent)));
}
