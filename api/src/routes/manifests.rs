//! The manifests of a table: list, look into.

use axum::Json;
use prunus_catalog::{ManifestId, ManifestPosition, ManifestsRequest, SnapshotId, SnapshotRef};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::access::ActingCatalog;
use crate::extract::{ManifestOf, QueryOf, TableOf};
use crate::openapi::values::{NumberSchema, PageSizeSchema};
use crate::openapi::{Gone, NotFound, Refused, TooMany};
use crate::page_token::{FilePosition, LayoutPosition, PageTokens, stale};
use crate::problem::Problem;
use crate::wire::{ManifestDetailJson, ManifestsJson, snapshot_ref};

/// Of which snapshot, and which page.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ManifestsQuery {
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

/// List the manifests that hold a live file of a snapshot.
///
/// By rising `manifest_id`, with what of each is live in the snapshot.
#[utoipa::path(
    get, path = "/v1/namespaces/{namespace}/tables/{table}/manifests", operation_id = "list_manifests", tag = "files",
    params(ManifestsQuery),
    responses((status = 200, description = "A page of them.", body = ManifestsJson), NotFound, Gone, Refused, TooMany),
)]
pub(crate) async fn list(
    ActingCatalog(catalog): ActingCatalog,
    TableOf(ident): TableOf,
    QueryOf(query): QueryOf<ManifestsQuery>,
) -> Result<Json<ManifestsJson>, Problem> {
    let asked = snapshot_ref(query.snapshot_id, query.as_of.as_deref())?;
    let tokens = PageTokens::of("manifests", &(ident.to_string(), query.snapshot_id, &query.as_of));
    let position: Option<LayoutPosition> = tokens.decode(query.page_token.as_deref())?;
    let request = ManifestsRequest {
        snapshot: position.map_or(asked, |position| SnapshotRef::Id(SnapshotId(position.snapshot_id))),
        after: position.map(|position| ManifestPosition {
            manifest_id: ManifestId(position.after),
            manifests: position.manifests,
        }),
        page_size: catalog.limits().page_size(query.page_size)?,
    };
    let page = catalog.list_manifests(ident, request).await.map_err(stale(position))?;
    let next = page.next.map(|next| LayoutPosition {
        snapshot_id: page.snapshot_id.0,
        after: next.manifest_id.0,
        manifests: next.manifests,
    });
    let next_page_token = next.map(|position| tokens.encode(&position));
    Ok(Json(ManifestsJson { next_page_token, ..page.into() }))
}

/// Look into a manifest.
///
/// Its zones, by which plans decide whether they look at its files at all, and the files that are live in the snapshot.
#[utoipa::path(
    get, path = "/v1/namespaces/{namespace}/tables/{table}/manifests/{manifest_id}", operation_id = "get_manifest", tag = "files",
    params(ManifestsQuery),
    responses((status = 200, description = "The manifest with a page of its files.", body = ManifestDetailJson), NotFound, Gone, Refused, TooMany),
)]
pub(crate) async fn get(
    ActingCatalog(catalog): ActingCatalog,
    ManifestOf(ident, manifest_id): ManifestOf,
    QueryOf(query): QueryOf<ManifestsQuery>,
) -> Result<Json<ManifestDetailJson>, Problem> {
    let asked = snapshot_ref(query.snapshot_id, query.as_of.as_deref())?;
    let content = (ident.to_string(), manifest_id.0, query.snapshot_id, &query.as_of);
    let tokens = PageTokens::of("manifest", &content);
    let position: Option<FilePosition> = tokens.decode(query.page_token.as_deref())?;
    let snapshot = position.map_or(asked, FilePosition::snapshot);
    let page = (position.map(FilePosition::after), catalog.limits().page_size(query.page_size)?);
    let detail = catalog.load_manifest(ident, manifest_id, snapshot, page).await.map_err(stale(position))?;
    let last = detail.files.last().filter(|_| detail.more).map(|last| last.row.file_id);
    let (snapshot_id, schema_id) = (detail.snapshot_id.0, detail.schema_id.0);
    let next = last.map(|last| FilePosition { snapshot_id, schema_id, after: last.0 });
    let next_page_token = next.map(|position| tokens.encode(&position));
    Ok(Json(ManifestDetailJson { next_page_token, ..detail.into() }))
}
