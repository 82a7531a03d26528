//! The files of a snapshot: listed, or one with its statistics.

use std::sync::Arc;

use axum::Json;
use axum::response::{IntoResponse, Response};
use prunus_catalog::{Catalog, Fault, Limits, PageSize, SnapshotRef, TableIdent};
use serde::Deserialize;
use utoipa::openapi::schema::{OneOfBuilder, Schema};
use utoipa::openapi::{Ref, RefOr};
use utoipa::{IntoParams, PartialSchema, ToSchema};

use crate::accept::{Accepted, Format};
use crate::access::ActingCatalog;
use crate::extract::{QueryOf, TableOf};
use crate::formats::{FilesWriter, body};
use crate::openapi::values::{ArrowStreamSchema, NumberSchema, PageSizeSchema};
use crate::openapi::{Gone, NotFound, Refused, TooMany};
use crate::page_token::{FilePosition, PageTokens, stale};
use crate::problem::Problem;
use crate::request_id::RequestIdOf;
use crate::wire::{FileJson, FilesJson, snapshot_ref};

/// Which files of which snapshot.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct FilesQuery {
    /// The path of the one file that is asked for, which has no pages.
    path: Option<String>,
    /// The snapshot; the newest if neither it nor a time is given.
    #[param(value_type = Option<NumberSchema>)]
    snapshot_id: Option<i64>,
    /// RFC 3339: the newest snapshot that was committed at or before it.
    #[param(format = DateTime)]
    as_of: Option<String>,
    /// The most entries of a page.
    #[param(value_type = Option<PageSizeSchema>)]
    page_size: Option<u32>,
    /// The `next_page_token` of the page before.
    page_token: Option<String>,
}

impl FilesQuery {
    /// How large a page is; one file has none.
    fn page_size(&self, limits: &Limits) -> Result<PageSize, Vec<Fault>> {
        let has_no_pages = self.path.is_some() && (self.page_size.is_some() || self.page_token.is_some());
        let fault = Fault::at("path", "one file has no pages: leave out path, or page_size and page_token");
        let of_path = if has_no_pages { Err(vec![fault]) } else { Ok(()) };
        Fault::both(limits.page_size(self.page_size), of_path).map(|(size, ())| size)
    }
}

/// A page of files; or, where one is asked for by its path, that file. A handler answers with either.
pub(crate) struct FilesOrFileJson;

impl PartialSchema for FilesOrFileJson {
    fn schema() -> RefOr<Schema> {
        let (files, file) = (FilesJson::name(), FileJson::name());
        OneOfBuilder::new().item(Ref::from_schema_name(files)).item(Ref::from_schema_name(file)).into()
    }
}

impl ToSchema for FilesOrFileJson {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((FilesJson::name().into_owned(), FilesJson::schema()));
        FilesJson::schemas(schemas);
    }
}

/// List the files of a snapshot, or look at one.
///
/// By rising `file_id`; with `path` one file with its statistics.
#[utoipa::path(
    get, path = "/v1/namespaces/{namespace}/tables/{table}/files", operation_id = "list_files", tag = "files",
    params(FilesQuery),
    responses(
        (status = 200, description = "A page of the files; with `path`, the file.", content((FilesOrFileJson = "application/json"), (ArrowStreamSchema = "application/vnd.apache.arrow.stream"))),
        NotFound, Gone, Refused, TooMany,
    ),
)]
pub(crate) async fn list(
    ActingCatalog(catalog): ActingCatalog,
    TableOf(ident): TableOf,
    accepted: Accepted,
    RequestIdOf(request_id): RequestIdOf,
    QueryOf(mut query): QueryOf<FilesQuery>,
) -> Result<Response, Problem> {
    let snapshot = snapshot_ref(query.snapshot_id, query.as_of.as_deref());
    let (snapshot, page_size) = Fault::both(snapshot, query.page_size(catalog.limits()))?;
    match query.path.take() {
        None => list_page((catalog, request_id), ident, (snapshot, page_size), &query, accepted.format()?).await,
        Some(path) => {
            accepted.json()?;
            Ok(Json(FileJson::from(catalog.load_file(ident, snapshot, path).await?)).into_response())
        }
    }
}

async fn list_page(
    (catalog, request_id): (Catalog, String),
    ident: TableIdent,
    (snapshot, page_size): (SnapshotRef, PageSize),
    query: &FilesQuery,
    format: Format,
) -> Result<Response, Problem> {
    let tokens = PageTokens::of("files", &(ident.to_string(), query.snapshot_id, &query.as_of));
    let position: Option<FilePosition> = tokens.decode(query.page_token.as_deref())?;
    let snapshot = position.map_or(snapshot, FilePosition::snapshot);
    let after = position.map(FilePosition::after);
    let writer = FilesWriter { format, tokens };
    let begin = move |page: &_, first: &_| writer.begin(page, first);
    let asked = (after, page_size);
    let (page, first) = catalog.list_files_page(ident, snapshot, asked, begin).await.map_err(stale(position))?;
    let page = Arc::new(page);
    let rest = (1..page.chunks()).map(move |index| {
        let page = Arc::clone(&page);
        async move { Ok(page.chunk(index, move |_, chunk| writer.chunk(chunk)).await??) }
    });
    Ok(body::answer(format, first?, rest, request_id))
}
