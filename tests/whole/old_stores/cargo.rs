//! What the README says of the third store.

use prunus_catalog::{AuditState, Catalog, PageSize, TableIdent};

use super::{live_files, planned};

fn cargo() -> TableIdent {
    "port.north.cargo".parse().unwrap()
}

pub(super) async fn holds_the_cargo(catalog: &Catalog) {
    let table = catalog.load_table(cargo()).await.unwrap();
    assert_eq!(table.location.as_deref(), Some("s3://bucket/cargo/"));
    assert_eq!((table.totals.files, table.totals.rows, table.totals.files_of_unknown_rows), (9, 400, 1));
    let names: Vec<_> = table.schema.fields().iter().map(|field| field.name.clone()).collect();
    assert_eq!(names, ["ship", "weight", "sort", "berth"]);
    for (snapshot, live) in LIVE.iter().copied() {
        assert_eq!(live_files(catalog, cargo(), snapshot).await, live, "snapshot {snapshot}");
        assert_eq!(planned(catalog, cargo(), snapshot, None).await.0, live, "snapshot {snapshot}");
    }
    for (filter, kept, all) in PLANS {
        let expected = (kept.to_vec(), all.to_vec());
        assert_eq!(planned(catalog, cargo(), 4, Some(filter)).await, expected, "{filter}");
    }
    let (tags, _) = catalog.list_tags(cargo(), String::new(), PageSize::default()).await.unwrap();
    let tags: Vec<_> = tags.iter().map(|tag| (tag.name.as_str(), tag.snapshot_id.0)).collect();
    assert_eq!(tags, [("first", 1)]);
    let audits = catalog.list_audits(cargo()).await.unwrap();
    let states: Vec<_> = audits
        .iter()
        .map(|audit| (audit.begun.snapshot_id.0, audit.state.clone(), audit.counts.files_checked))
        .collect();
    assert_eq!(states, [(4, AuditState::Cancelled, 0)]);
}

/// The numbers of the live files of each snapshot; files are called `s01.parquet` and so on.
const LIVE: &[(i64, &[u32])] = &[
    (1, &[1, 2, 3, 4, 5]),
    (2, &[1, 2, 3, 4, 5, 6, 7, 8, 9]),
    (3, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]),
    (4, &[1, 2, 3, 4, 5, 6, 7, 8, 9]),
];

/// Filters on the newest snapshot: which files are kept, and which of them match as a whole. Files of odd numbers have no NaN
/// count, and of the fifth the rows are not known.
const PLANS: &[(&str, &[u32], &[u32])] = &[
    ("ship <= DATE '2024-05-02'", &[1, 2], &[1, 2]),
    ("weight BETWEEN 6 AND 7", &[6, 7], &[]),
    ("weight > 8", &[1, 3, 5, 7, 8, 9], &[]),
    ("sort = 'x'", &[1, 2, 3, 4, 5, 6, 7, 8, 9], &[]),
];
