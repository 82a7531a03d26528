//! Tags: set, list, look at, take away.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use prunus_catalog::{Catalog, SnapshotId, TagChange};

use super::namespaces::NamesQuery;
use crate::extract::{JsonBody, QueryOf, TableOf, TagOf};
use crate::page_token::PageTokens;
use crate::problem::Problem;
use crate::wire::{SnapshotIdJson, TagJson, TagsJson, page_size};

pub(crate) async fn set(
    State(catalog): State<Catalog>,
    TagOf(ident, name): TagOf,
    JsonBody(target): JsonBody<SnapshotIdJson>,
) -> Result<(StatusCode, Json<TagJson>), Problem> {
    let (tag, change) = catalog.set_tag(ident, name, SnapshotId(target.snapshot_id)).await?;
    let status = match change {
        TagChange::Created => StatusCode::CREATED,
        TagChange::Moved | TagChange::Unchanged => StatusCode::OK,
    };
    Ok((status, Json(tag.into())))
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

pub(crate) async fn delete(State(catalog): State<Catalog>, TagOf(ident, name): TagOf) -> Result<StatusCode, Problem> {
    catalog.delete_tag(ident, name).await?;
    Ok(StatusCode::NO_CONTENT)
}
