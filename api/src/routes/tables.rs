//! Tables: create, list, look at, forget.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use prunus_catalog::Catalog;

use super::namespaces::NamesQuery;
use crate::extract::{JsonBody, NamespaceOf, QueryOf, TableOf};
use crate::page_token::PageTokens;
use crate::problem::Problem;
use crate::wire::{NewTableJson, TableJson, TableNameJson, TablesJson, page_size};

pub(crate) async fn create(
    State(catalog): State<Catalog>,
    NamespaceOf(namespace): NamespaceOf,
    JsonBody(new): JsonBody<NewTableJson>,
) -> Result<(StatusCode, Json<TableJson>), Problem> {
    let table = catalog.create_table(new.parse(namespace)?).await?;
    Ok((StatusCode::CREATED, Json(table.into())))
}

pub(crate) async fn list(
    State(catalog): State<Catalog>,
    NamespaceOf(namespace): NamespaceOf,
    QueryOf(query): QueryOf<NamesQuery>,
) -> Result<Json<TablesJson>, Problem> {
    let tokens = PageTokens::of("tables", &namespace.as_str());
    let after: String = tokens.decode(query.page_token.as_deref())?.unwrap_or_default();
    let (names, more) = catalog.list_tables(namespace.clone(), after, page_size(query.page_size)?).await?;
    let next_page_token = names.last().filter(|_| more).map(|last| tokens.encode(last));
    let table = |name| TableNameJson { namespace: namespace.as_str().to_owned(), name };
    Ok(Json(TablesJson { tables: names.into_iter().map(table).collect(), next_page_token }))
}

pub(crate) async fn get(State(catalog): State<Catalog>, TableOf(ident): TableOf) -> Result<Json<TableJson>, Problem> {
    Ok(Json(catalog.load_table(ident).await?.into()))
}

pub(crate) async fn delete(State(catalog): State<Catalog>, TableOf(ident): TableOf) -> Result<StatusCode, Problem> {
    catalog.drop_table(ident).await?;
    Ok(StatusCode::NO_CONTENT)
}
