//! The files of a snapshot: listed, or one with its statistics.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use prunus_catalog::{Catalog, Fault, FileId, SnapshotId, SnapshotRef, TableIdent};
use serde::Deserialize;

use crate::accept::{Accepted, Format};
use crate::extract::{QueryOf, TableOf};
use crate::formats::{FilesWriter, body};
use crate::page_token::{FilePosition, PageTokens, stale};
use crate::problem::Problem;
use crate::request_id::RequestIdOf;
use crate::wire::{FileJson, page_size, snapshot_ref};

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

pub(crate) async fn list(
    State(catalog): State<Catalog>,
    TableOf(ident): TableOf,
    accepted: Accepted,
    RequestIdOf(request_id): RequestIdOf,
    QueryOf(mut query): QueryOf<FilesQuery>,
) -> Result<Response, Problem> {
    let snapshot = snapshot_ref(query.snapshot_id, query.as_of.as_deref())?;
    match query.path.take() {
        None => list_page((catalog, request_id), ident, snapshot, &query, accepted.format()?).await,
        Some(_) if query.page_size.is_some() || query.page_token.is_some() => {
            Err(Fault::at("path", "one file has no pages").into())
        }
        Some(path) => {
            accepted.json()?;
            Ok(Json(FileJson::from(catalog.load_file(ident, snapshot, path).await?)).into_response())
        }
    }
}

async fn list_page(
    (catalog, request_id): (Catalog, String),
    ident: TableIdent,
    snapshot: SnapshotRef,
    query: &FilesQuery,
    format: Format,
) -> Result<Response, Problem> {
    let tokens = PageTokens::of("files", &(ident.to_string(), query.snapshot_id, &query.as_of));
    let position: Option<FilePosition> = tokens.decode(query.page_token.as_deref())?;
    let snapshot = position.map_or(snapshot, |position| SnapshotRef::Id(SnapshotId(position.snapshot_id)));
    let after = position.map(|position| FileId(position.after));
    let writer = FilesWriter { format, tokens };
    let begin = move |page: &_, first: &_| writer.begin(page, first);
    let asked = (after, page_size(query.page_size)?);
    let (page, first) = catalog.list_files_page(ident, snapshot, asked, begin).await.map_err(stale(position))?;
    let page = Arc::new(page);
    let rest = (1..page.chunks()).map(move |index| {
        let page = Arc::clone(&page);
        async move { Ok(page.chunk(index, move |_, chunk| writer.chunk(chunk)).await??) }
    });
    Ok(body::answer(format, first?, rest, request_id))
}
