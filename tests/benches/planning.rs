//! How long does a plan take, how long do commits, checks and backups, and how much room do they need, as a table grows?
//!
//! `cargo bench -p prunus-tests` makes tables of 100,000 and of 1,000,000 files and prints one table of figures; numbers as
//! arguments make tables of so many. A file has 10 columns of declared statistics and a path of 94 bytes; files are clustered
//! by `ts` and by no other column; a tail of 4,095 files is not sealed. Plans go through the catalog, without HTTP. Each is
//! first held to the number of files that it must keep. Medians; a cold plan opens the database, which the operating system
//! has in its cache.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "a bench may stop at the first fault, and its numbers are small"
)]

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

use prunus_catalog::{
    AddedFile, Catalog, CatalogOptions, CommitRequest, DeclaredBound, DeclaredStatistics, FieldJson, Filter,
    NamespaceName, NewTable, Operation, PlanRequest, SchemaSource, TableIdent,
};
use prunus_statistics::{Literal, LiteralZone, Number, Precision};
use serde_json::json;

/// How many files a commit adds.
const BATCH: usize = 10_000;
/// How many files a manifest is made of: one less is the longest tail that is not sealed.
const MANIFEST: usize = 4_096;
const ROUNDS: usize = 200;
const COLUMNS: [(&str, &str); 10] = [
    ("ts", "timestamp(us)"),
    ("id", "int64"),
    ("s", "string"),
    ("price", "float64"),
    ("d", "date"),
    ("id32", "int32"),
    ("qty", "int32"),
    ("f1", "float64"),
    ("i1", "int64"),
    ("cat", "string"),
];

fn main() {
    let asked: Vec<usize> = std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let sizes = if asked.is_empty() { vec![100_000, 1_000_000] } else { asked };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    println!("| files | what | figure |\n| ---: | --- | ---: |");
    for files in sizes {
        runtime.block_on(measure(files));
    }
}

async fn measure(files: usize) {
    let folder = tempfile::tempdir().unwrap();
    let catalog = Catalog::open(folder.path(), CatalogOptions::default()).await.unwrap();
    let ident = create_table(&catalog).await;
    let started = Instant::now();
    for first in (0..files).step_by(BATCH) {
        commit(&catalog, &ident, first..files.min(first + BATCH), files).await;
        catalog.wait_for_sealing().await.unwrap();
    }
    row(files, "commits of 10,000 files each, sealing included, for each file", started.elapsed() / files as u32);
    let sealed_bytes = size_bytes(folder.path());
    for first in files..(files + 1).next_multiple_of(MANIFEST) - 1 {
        commit(&catalog, &ident, first..first + 1, files).await;
    }
    let between = |from, to| format!("ts >= {} AND ts < {}", timestamp(from, 0), timestamp(to, 0));
    let one = between(files / 3, files / 3 + 1);
    let thousand = between(files / 3, files / 3 + 1_000);
    let unclustered = format!("id = {}", place(files / 2, files) * 1_000 + 7);
    let plans =
        [("one file by ts", &one, 1), ("1,000 files by ts", &thousand, 1_000), ("one file by id", &unclustered, 1)];
    for (name, filter, kept) in plans {
        let mut times = Vec::new();
        for _ in 0..ROUNDS {
            times.push(plan(&catalog, &ident, filter, kept).await);
        }
        row(files, &format!("{name}, warm"), median(times));
    }
    drop(catalog);
    for (name, filter, kept) in plans {
        let mut times = Vec::new();
        for _ in 0..5 {
            let started = Instant::now();
            let catalog = Catalog::open(folder.path(), CatalogOptions::default()).await.unwrap();
            plan(&catalog, &ident, filter, kept).await;
            times.push(started.elapsed());
            drop(catalog);
        }
        row(files, &format!("{name}, cold, opening included"), median(times));
    }
    let started = Instant::now();
    let report = prunus_catalog::check(folder.path(), |_| ()).await.unwrap();
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    row(files, "a check of all that there is", started.elapsed());
    let started = Instant::now();
    prunus_catalog::backup(folder.path(), &folder.path().join("backup.db")).await.unwrap();
    row(files, "a backup", started.elapsed());
    println!("| {files} | size of the sealed database, for each file | {} bytes |", sealed_bytes / files as u64);
}

async fn create_table(catalog: &Catalog) -> TableIdent {
    let ident: TableIdent = "bench.t".parse().unwrap();
    let namespace: NamespaceName = "bench".parse().unwrap();
    catalog.create_namespace(namespace, BTreeMap::new()).await.unwrap();
    let fields = COLUMNS.map(|(name, column_type)| {
        let field: FieldJson = serde_json::from_value(json!({"name": name, "type": column_type})).unwrap();
        field.to_new_field().unwrap()
    });
    let table = NewTable {
        ident: ident.clone(),
        schema: SchemaSource::Fields(fields.to_vec()),
        location: None,
        cluster_by: None,
        properties: BTreeMap::from([("verification".to_owned(), "declared".to_owned())]),
    };
    catalog.create_table(table).await.unwrap();
    ident
}

async fn commit(catalog: &Catalog, ident: &TableIdent, numbers: Range<usize>, files: usize) {
    let request = CommitRequest {
        operation: Operation::Append,
        base_snapshot: None,
        add: numbers.map(|number| file(number, files)).collect(),
        remove: Vec::new(),
        summary: BTreeMap::new(),
    };
    catalog.commit(ident.clone(), request).await.unwrap();
}

/// The time of a plan that keeps so many files.
async fn plan(catalog: &Catalog, ident: &TableIdent, filter: &str, kept: u64) -> Duration {
    let request = PlanRequest { filter: Some(Filter::Sql(filter.to_owned())), ..PlanRequest::default() };
    let started = Instant::now();
    let plan = catalog.plan(ident.clone(), request).await.unwrap();
    let time = started.elapsed();
    assert_eq!((plan.metrics.files_kept, plan.files.len() as u64), (kept, kept), "{filter}");
    time
}

/// The place of a file in the order of its ids: another than its own.
fn place(number: usize, files: usize) -> usize {
    if number < files { number * 7_919 % files } else { number }
}

fn timestamp(minutes: usize, microseconds: i128) -> Literal {
    let nanoseconds = 1_704_067_200_000_000_000 + minutes as i128 * 60_000_000_000 + microseconds * 1_000;
    Literal::Timestamp { nanoseconds, zone: LiteralZone::Local }
}

fn number(value: usize) -> Literal {
    Literal::Number(Number::new(value as i128, 0))
}

fn file(index: usize, files: usize) -> AddedFile {
    let drawn = |seed: usize| (index.wrapping_mul(2_654_435_761).wrapping_add(seed * 40_503) >> 7) % 1_000_000;
    let id = place(index, files) * 1_000;
    let text = |number: usize| Literal::Text(format!("item-{number:011}"));
    let category = || Literal::Text(format!("cat-{:02}", drawn(9) % 100));
    let bounds = [
        [timestamp(index, 0), timestamp(index + 1, -1)],
        [number(id), number(id + 999)],
        [text(id), text(id + 999)],
        [number(drawn(3)), number(drawn(3) + 10)],
        [Literal::Date(19_000 + index as i64 / 1_440), Literal::Date(19_001 + index as i64 / 1_440)],
        [number(drawn(5)), number(drawn(5) + 5)],
        [number(drawn(6) % 50), number(drawn(6) % 50 + 3)],
        [number(drawn(7)), number(drawn(7) + 1)],
        [number(drawn(8) * 7), number(drawn(8) * 7 + 6)],
        [category(), category()],
    ];
    // Dates and times are declared as texts.
    let text_of = |value: Literal| match value {
        Literal::Date(_) | Literal::Timestamp { .. } => {
            Literal::Text(value.to_string().split('\'').nth(1).unwrap().to_owned())
        }
        value => value,
    };
    let declared = |value: Literal| Some(DeclaredBound { value: text_of(value), precision: Precision::Exact });
    let columns = COLUMNS.into_iter().zip(bounds).map(|((name, _), [min, max])| {
        let (min, max) = (declared(min), declared(max));
        (name.to_owned(), DeclaredStatistics { min, max, null_count: Some(0), nan_count: Some(0) })
    });
    AddedFile {
        path: format!(
            "s3://bench-bucket/warehouse/namespace/table/data/part-{index:010}-0123456789abcdef.zstd.parquet"
        ),
        size_bytes: Some(100_000_000),
        row_count: Some(1_000),
        columns: columns.collect(),
        ..AddedFile::default()
    }
}

fn size_bytes(folder: &Path) -> u64 {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).sum()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn row(files: usize, what: &str, time: Duration) {
    println!("| {files} | {what} | {:.3} ms |", time.as_secs_f64() * 1e3);
}
