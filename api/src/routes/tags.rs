//! Tags: set, list, look at, take away.

use axum::Json;
use axum::response::Response;
use prunus_catalog::{Render, SnapshotId, Tag, TagChange};

use super::namespaces::NamesQuery;
use crate::access::ActingCatalog;
use crate::extract::{JsonBody, QueryOf, TableOf, TagOf};
use crate::idempotency::KeyOf;
use crate::openapi::{Gone, NotFound, Refused};
use crate::page_token::PageTokens;
use crate::problem::Problem;
use crate::replies;
use crate::wire::{SnapshotIdJson, TagJson, TagsJson};

const SET: Render<(Tag, TagChange)> = |(tag, change)| match change {
    TagChange::Created => replies::created::<_, TagJson>(tag),
    TagChange::Moved { .. } | TagChange::Unchanged => replies::found::<_, TagJson>(tag),
};

/// Give a tag to a snapshot.
///
/// A snapshot that has one is not expired.
#[utoipa::path(
    put, path = "/v1/namespaces/{namespace}/tables/{table}/tags/{tag}", operation_id = "set_tag", tag = "snapshots",
    request_body = SnapshotIdJson,
    responses(
        (status = 200, description = "The tag, which was there.", body = TagJson),
        (status = 201, description = "The tag, which is new.", body = TagJson),
        NotFound, Gone,
    ),
)]
pub(crate) async fn set(
    ActingCatalog(catalog): ActingCatalog,
    key: KeyOf,
    TagOf(ident, name): TagOf,
    JsonBody(target): JsonBody<SnapshotIdJson>,
) -> Result<Response, Problem> {
    let done = catalog.set_tag_once(ident, name, SnapshotId(target.snapshot_id), key.once(SET)).await?;
    replies::answer(done, SET)
}

/// List the tags of a table.
///
/// By name.
#[utoipa::path(
    get, path = "/v1/namespaces/{namespace}/tables/{table}/tags", operation_id = "list_tags", tag = "snapshots",
    params(NamesQuery),
    responses((status = 200, description = "A page of them.", body = TagsJson), NotFound, Refused),
)]
pub(crate) async fn list(
    ActingCatalog(catalog): ActingCatalog,
    TableOf(ident): TableOf,
    QueryOf(query): QueryOf<NamesQuery>,
) -> Result<Json<TagsJson>, Problem> {
    let tokens = PageTokens::of("tags", &ident.to_string());
    let after: String = tokens.decode(query.page_token.as_deref())?.unwrap_or_default();
    let (tags, more) = catalog.list_tags(ident, after, catalog.limits().page_size(query.page_size)?).await?;
    let next_page_token = tags.last().filter(|_| more).map(|last| tokens.encode(&last.name));
    Ok(Json(TagsJson { tags: tags.into_iter().map(TagJson::from).collect(), next_page_token }))
}

/// Look at a tag.
///
/// At the snapshot that it names.
#[utoipa::path(
    get, path = "/v1/namespaces/{namespace}/tables/{table}/tags/{tag}", operation_id = "get_tag", tag = "snapshots",
    responses((status = 200, description = "The tag.", body = TagJson), NotFound),
)]
pub(crate) async fn get(
    ActingCatalog(catalog): ActingCatalog,
    TagOf(ident, name): TagOf,
) -> Result<Json<TagJson>, Problem> {
    Ok(Json(catalog.load_tag(ident, name).await?.into()))
}

/// Take a tag away.
///
/// The snapshot stays until it is expired.
#[utoipa::path(
    delete, path = "/v1/namespaces/{namespace}/tables/{table}/tags/{tag}", operation_id = "delete_tag", tag = "snapshots",
    responses((status = 204, description = "It is gone."), NotFound),
)]
pub(crate) async fn delete(
    ActingCatalog(catalog): ActingCatalog,
    key: KeyOf,
    TagOf(ident, name): TagOf,
) -> Result<Response, Problem> {
    let done = catalog.delete_tag_once(ident, name, key.once(replies::gone)).await?;
    replies::answer(done, replies::gone)
}
