//! The journal: who changed what.

use axum::Json;
use prunus_catalog::{Fault, JournalFilter, JournalId, NameError, NamespaceName, TableIdent};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::access::{ActingCatalog, Need, need_of};
use crate::extract::QueryOf;
use crate::openapi::Refused;
use crate::openapi::values::{NamespaceNameSchema, PageSizeSchema, QualifiedNameSchema};
use crate::page_token::PageTokens;
use crate::problem::Problem;
use crate::wire::{JournalJson, parse_time};

/// Which entries: those that all of it fits.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct JournalQuery {
    /// Of this namespace, and of those below it.
    #[param(value_type = Option<NamespaceNameSchema>)]
    namespace: Option<String>,
    /// Of this table, as it was called then: NAMESPACE.TABLE.
    #[param(value_type = Option<QualifiedNameSchema>)]
    table: Option<String>,
    /// Of the token of this name.
    principal: Option<String>,
    /// Of this operation, as this document names it.
    operation: Option<String>,
    /// RFC 3339: at or after it.
    #[param(format = DateTime)]
    since: Option<String>,
    /// RFC 3339: before it.
    #[param(format = DateTime)]
    until: Option<String>,
    /// The most entries of a page.
    #[param(value_type = Option<PageSizeSchema>)]
    page_size: Option<u32>,
    /// The `next_page_token` of the page before.
    page_token: Option<String>,
}

/// List the changes that were made.
///
/// Newest first. A page looks at a bounded number of entries: with a filter it may be shorter than it was asked to be, or empty,
/// though it has a `next_page_token`.
#[utoipa::path(
    get, path = "/v1/journal", operation_id = "list_journal", tag = "server",
    params(JournalQuery),
    responses((status = 200, description = "A page of them.", body = JournalJson), Refused),
)]
pub(crate) async fn list(
    ActingCatalog(catalog): ActingCatalog,
    QueryOf(query): QueryOf<JournalQuery>,
) -> Result<Json<JournalJson>, Problem> {
    let JournalQuery { namespace, table, principal, operation, since, until, .. } = &query;
    let tokens = PageTokens::of("journal", &(namespace, table, principal, operation, since, until));
    let before: Option<i64> = tokens.decode(query.page_token.as_deref())?;
    let (filter, page_size) = Fault::both(query.filter(), catalog.limits().page_size(query.page_size))?;
    let page = catalog.list_journal(filter, before.map(JournalId), page_size).await?;
    let next_page_token = page.next_before.map(|before| tokens.encode(&before.0));
    Ok(Json(JournalJson { next_page_token, ..page.into() }))
}

impl JournalQuery {
    /// The entries that are asked for, or everything that is wrong with that.
    fn filter(&self) -> Result<JournalFilter, Vec<Fault>> {
        let fault = |at: &'static str| move |error: NameError| vec![Fault::at(at, error.to_string())];
        let namespace = self.namespace.as_deref().map(str::parse::<NamespaceName>).transpose();
        let table = self.table.as_deref().map(str::parse::<TableIdent>).transpose();
        let names = Fault::both(namespace.map_err(fault("namespace")), table.map_err(fault("table")));
        let time = |at, text: &Option<String>| text.as_deref().map(|text| parse_time(at, text)).transpose();
        let times = Fault::both(time("since", &self.since), time("until", &self.until));
        let rest = Fault::both(times, self.known_operation());
        let ((namespace, table), ((since_ms, until_ms), operation)) = Fault::both(names, rest)?;
        Ok(JournalFilter {
            namespace: namespace.map(|namespace| namespace.as_str().to_owned()),
            table: table.map(|table| (table.namespace.as_str().to_owned(), table.name.as_str().to_owned())),
            principal: self.principal.clone(),
            operation,
            since_ms,
            until_ms,
            visible: None,
        })
    }

    /// The operation, which one that there is not would make an empty journal of.
    fn known_operation(&self) -> Result<Option<String>, Vec<Fault>> {
        match &self.operation {
            Some(operation) if need_of(operation) == Need::Impossible => {
                Err(vec![Fault::at("operation", format!("there is no operation `{operation}`"))])
            }
            operation => Ok(operation.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_that_there_is_not_is_refused() {
        let filter = |operation: &str| {
            let query: JournalQuery = serde_json::from_value(serde_json::json!({ "operation": operation })).unwrap();
            query.filter().map(|filter| filter.operation)
        };
        assert_eq!(filter("commit"), Ok(Some("commit".to_owned())));
        assert_eq!(filter("comit").unwrap_err()[0].at.as_deref(), Some("operation"));
    }
}
