//! The files of a snapshot: listed, or one with its statistics.

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use prunus_catalog::{Catalog, Fault, FileId, PageSize, SnapshotId, SnapshotRef, TableIdent};
use serde::Deserialize;

use crate::extract::{QueryOf, TableOf};
use crate::page_token::{FilePosition, PageTokens, stale};
use crate::problem::Problem;
use crate::wire::{FileJson, FilesJson, page_size, snapshot_ref};

/// Which files of which snapshot.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FilesQuery {
    path: Option<String>,
    snapshot_id: Option<i64>,
    as_of: Option<String>,
    page_size: Option<u32>,
    page_token: Option<String>,
}

impl FilesQuery {
    /// How large a page is; one file has none.
    fn page_size(&self) -> Result<PageSize, Vec<Fault>> {
        let has_no_pages = self.path.is_some() && (self.page_size.is_some() || self.page_token.is_some());
        let fault = Fault::at("path", "one file has no pages: leave out path, or page_size and page_token");
        let of_path = if has_no_pages { Err(vec![fault]) } else { Ok(()) };
        Fault::both(page_size(self.page_size), of_path).map(|(size, ())| size)
    }
}

pub(crate) async fn list(
    State(catalog): State<Catalog>,
    TableOf(ident): TableOf,
    QueryOf(mut query): QueryOf<FilesQuery>,
) -> Result<Response, Problem> {
    let snapshot = snapshot_ref(query.snapshot_id, query.as_of.as_deref());
    let (snapshot, page_size) = Fault::both(snapshot, query.page_size())?;
    match query.path.take() {
        None => Ok(list_page(catalog, ident, (snapshot, page_size), &query).await?.into_response()),
        Some(path) => Ok(Json(FileJson::from(catalog.load_file(ident, snapshot, path).await?)).into_response()),
    }
}

async fn list_page(
    catalog: Catalog,
    ident: TableIdent,
    (snapshot, page_size): (SnapshotRef, PageSize),
    query: &FilesQuery,
) -> Result<Json<FilesJson>, Problem> {
    let tokens = PageTokens::of("files", &(ident.to_string(), query.snapshot_id, &query.as_of));
    let position: Option<FilePosition> = tokens.decode(query.page_token.as_deref())?;
    let snapshot = position.map_or(snapshot, |position| SnapshotRef::Id(SnapshotId(position.snapshot_id)));
    let after = position.map(|position| FileId(position.after));
    let (snapshot_id, files, more) =
        catalog.list_files(ident, snapshot, after, page_size).await.map_err(stale(position))?;
    let last = files.last().filter(|_| more);
    let position = |after: FileId| FilePosition { snapshot_id: snapshot_id.0, after: after.0 };
    let next_page_token = last.map(|last| tokens.encode(&position(last.row.file_id)));
    let files = files.into_iter().map(FileJson::from).collect();
    Ok(Json(FilesJson { snapshot_id: snapshot_id.0, files, next_page_token }))
}
