//! "Did you mean": the table or namespace that was probably meant by a name that there is not.

use prunus_manifest::ReadTransaction;
use prunus_pruner::nearest;

use crate::Error;
use crate::access::Principal;

/// How many names are looked at.
const MAX_NAMES: u32 = 1_000;

/// The error, with the name that was probably meant if it is about one that there is not. Reads the names in the transaction that
/// found none, and for it alone: a request that finds its table pays nothing.
pub(crate) fn with_suggestion(tx: &ReadTransaction<'_>, principal: &Principal, error: Error) -> Error {
    let (what, name) = match error {
        Error::NotFound { what: what @ ("table" | "namespace"), name } => (what, name),
        Error::OfTable { table, source } => {
            return Error::OfTable { table, source: Box::new(with_suggestion(tx, principal, *source)) };
        }
        other => return other,
    };
    // The answer is that there is none, whatever becomes of the search.
    let suggestion = match what {
        "table" => table_like(tx, principal, &name).unwrap_or_default(),
        _ => namespace_like(tx, principal, &name).unwrap_or_default(),
    };
    match suggestion {
        Some(suggestion) => Error::Misnamed { what, name, suggestion },
        None => Error::NotFound { what, name },
    }
}

/// The table of nearly this name in its namespace, or else the one of the same name in another. These two functions alone decide
/// whose names are told: those that the principal may see.
fn table_like(tx: &ReadTransaction<'_>, principal: &Principal, ident: &str) -> prunus_manifest::Result<Option<String>> {
    let Some((namespace, name)) = ident.rsplit_once('.') else { return Ok(None) };
    let tables = if principal.sees(namespace) { tx.list_table_names(namespace, MAX_NAMES)? } else { Vec::new() };
    if let Some(table) = nearest(name, tables.iter().map(String::as_str)) {
        return Ok(Some(format!("{namespace}.{table}")));
    }
    let mut elsewhere = tx.list_namespaces_of_table(name, MAX_NAMES)?;
    elsewhere.retain(|namespace| principal.sees(namespace));
    // Of several the one that is most like the one that was asked for.
    let namespace = nearest(namespace, elsewhere.iter().map(String::as_str));
    let namespace = namespace.or_else(|| elsewhere.first().map(String::as_str));
    Ok(namespace.map(|namespace| format!("{namespace}.{name}")))
}

fn namespace_like(
    tx: &ReadTransaction<'_>,
    principal: &Principal,
    name: &str,
) -> prunus_manifest::Result<Option<String>> {
    let mut namespaces = tx.list_namespace_names(MAX_NAMES)?;
    namespaces.retain(|namespace| principal.sees(namespace));
    Ok(nearest(name, namespaces.iter().map(String::as_str)).map(str::to_owned))
}
