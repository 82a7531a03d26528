//! A catalog in a program of your own, without a server: registers Parquet files, and plans a scan of them.
//!
//! ```sh
//! cargo run -p prunus-catalog --example embed -- EMPTY-FOLDER "day >= '2024-06-01'" a.parquet b.parquet
//! ```

use std::error::Error;
use std::path::Path;

use prunus_catalog::{
    AddedFile, Catalog, CatalogOptions, CommitRequest, Filter, NewTable, PlanRequest, SchemaSource, TableIdent,
};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, filter, paths @ ..] = arguments.as_slice() else { return Err("FOLDER FILTER FILE...".into()) };
    let first = paths.first().ok_or("no FILE is named")?;

    let catalog = Catalog::open(Path::new(folder), CatalogOptions::default()).await?;
    let table: TableIdent = "shop.orders".parse()?;
    catalog.create_namespace(table.namespace.clone(), [].into()).await?;
    catalog.create_table(NewTable::new(table.clone(), SchemaSource::File(first.clone()))).await?;

    let commit = CommitRequest::append(paths.iter().map(AddedFile::at));
    let committed = catalog.commit(table.clone(), commit).await?;
    println!("{} files with {} rows are registered", committed.added_files, committed.totals.rows);

    let plan = catalog.plan(table, PlanRequest::of(Filter::Sql(filter.clone()))).await?;
    for file in &plan.files {
        println!("{} ({:?} rows may match)", file.entry.row.path, file.verdict);
    }
    println!("{} files need not be read", plan.metrics.files_pruned);
    Ok(())
}
