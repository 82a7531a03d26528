//! The example that readers of Arrow plans learn from does what it says.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{Int64Array, RecordBatch};
use parquet::arrow::ArrowWriter;
use prunus_catalog::{Catalog, CatalogOptions};

use crate::python::{Python, run};
use crate::{PYTHON, REQUIRED};

/// Writes a file of ten rows whose ids count up.
fn write(path: &Path, first: i64) {
    let ids = Int64Array::from_iter_values(first..first + 10);
    let batch = RecordBatch::try_from_iter([("id", Arc::new(ids) as _)]).unwrap();
    let mut writer = ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_example_skips_what_a_plan_skips() {
    let Some(python) = Python::named(PYTHON, REQUIRED) else { return };
    let folder = tempfile::tempdir().unwrap();
    let [store, data] = ["store", "events and more"].map(|name| folder.path().join(name));
    for path in [&store, &data] {
        std::fs::create_dir(path).unwrap();
    }
    // As a URI its name would be that of another file.
    (0..10).for_each(|number| write(&data.join(format!("{number}%20.parquet")), number * 10));
    let catalog = Catalog::open(&store, CatalogOptions::default()).await.unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(prunus::serve(catalog, listener, prunus::settings::Settings::default(), std::future::pending()));
    let filter = r#"{"type": "gt-eq", "term": "id", "value": 75}"#;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/plan_and_read.py");
    // The second time all that it makes is there.
    for _ in 0..2 {
        let mut command = python.command(&python.interpreter);
        command.arg(&script).arg(&url).arg(&data).arg(filter);
        let printed = tokio::task::spawn_blocking(move || run(command)).await.unwrap();
        let mut lines = printed.lines();
        assert_eq!(lines.next(), Some("25 rows in 3 files, 2 of them without a filter"));
        assert!(lines.next().unwrap().starts_with("skipped 7 of 10 files, "), "{printed}");
    }
}
