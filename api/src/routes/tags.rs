//! Tags: set, list, look at, take away.

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use prunus_catalog::{Catalog, Render, SnapshotId, Tag, TagChange};

use super::namespaces::NamesQuery;
use crate::extract::{JsonBody, QueryOf, TableOf, TagOf};
use crate::idempotency::KeyOf;
use crate::page_token::PageTokens;
use crate::problem::Problem;
use crate::replies;
use crate::wire::{SnapshotIdJson, TagJson, TagsJson, page_size};

const SET: Render<(Tag, TagChange)> = |(tag, change)| match change {
    TagChange::Created => replies::created::<_, TagJson>(tag),
    TagChange::Moved | TagChange::Unchanged => replies::found::<_, TagJson>(tag),
};

pub(crate) async fn set(
    State(catalog): State<Catalog>,
    key: KeyOf,
    TagOf(ident, name): TagOf,
    JsonBody(target): JsonBody<SnapshotIdJson>,
) -> Result<Response, Problem> {
    let done = catalog.set_tag_once(ident, name, SnapshotId(target.snapshot_id), key.once(SET)).await?;
    replies::answer(done, SET)
}

pub(crate) async fn list(
    State(catalog): State<Catalog>,
    TableOf(ident): TableOf,
    QueryOf(query): QueryOf<NamesQuery>,
) -> Result<Json<TagsJson>, Problem> {
    let tokens = PageTokens::of("tags", &ident.to_string());
    let after: String = tokens.decode(query.page_token.as_deref())?.unwrap_or_default();
    let (tags, more) = catalog.list_tags(ident, after, page_size(query.page_size)?).await?;
    let next_page_token = tags.last().filter(|_| more).map(|last| tokens.encode(&last.name));
    Ok(Json(TagsJson { tags: tags.into_iter().map(TagJson::from).collect(), next_page_token }))
}

pub(crate) async fn get(State(catalog): State<Catalog>, TagOf(ident, name): TagOf) -> Result<Json<TagJson>, Problem> {
    Ok(Json(catalog.load_tag(ident, name).await?.into()))
}

pub(crate) async fn delete(
    State(catalog): State<Catalog>,
    key: KeyOf,
    TagOf(ident, name): TagOf,
) -> Result<Response, Problem> {
    let done = catalog.delete_tag_once(ident, name, key.once(replies::gone)).await?;
    replies::answer(done, replies::gone)
}
