//! Tables: create, list, look at, change, forget.

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use prunus_catalog::{Catalog, Render, Table};

use super::namespaces::NamesQuery;
use crate::extract::{JsonBody, NamespaceOf, QueryOf, TableOf};
use crate::idempotency::KeyOf;
use crate::page_token::PageTokens;
use crate::problem::Problem;
use crate::replies;
use crate::wire::{AlterTableJson, NewTableJson, TableJson, TableNameJson, TablesJson, page_size};

const CREATED: Render<Table> = replies::created::<_, TableJson>;
const ALTERED: Render<Table> = replies::found::<_, TableJson>;

pub(crate) async fn create(
    State(catalog): State<Catalog>,
    key: KeyOf,
    NamespaceOf(namespace): NamespaceOf,
    JsonBody(new): JsonBody<NewTableJson>,
) -> Result<Response, Problem> {
    let done = catalog.create_table_once(new.parse(namespace)?, key.once(CREATED)).await?;
    replies::answer(done, CREATED)
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

pub(crate) async fn alter(
    State(catalog): State<Catalog>,
    key: KeyOf,
    TableOf(ident): TableOf,
    JsonBody(body): JsonBody<AlterTableJson>,
) -> Result<Response, Problem> {
    let done = catalog.alter_table_once(ident, body.parse(), key.once(ALTERED)).await?;
    replies::answer(done, ALTERED)
}

pub(crate) async fn delete(
    State(catalog): State<Catalog>,
    key: KeyOf,
    TableOf(ident): TableOf,
) -> Result<Response, Problem> {
    let done = catalog.drop_table_once(ident, key.once(replies::gone)).await?;
    replies::answer(done, replies::gone)
}
