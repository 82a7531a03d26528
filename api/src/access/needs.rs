//! What each operation needs. The one place that decides it.

use prunus_catalog::Role;
use prunus_catalog::Role::{Admin, Reader, Writer};

use Need::{Anyone, OfBody, OfPath, Somewhere, Token};

/// What a principal needs for an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// Nothing: no token is looked at.
    Anyone,
    /// To be known. What is answered depends on what they may see.
    Token,
    /// The role on the namespace that the path names.
    OfPath(Role),
    /// The role on all namespaces that the body names, which the handler requires; before the body is read, on some namespace.
    OfBody(Role),
    /// The role on some namespace. What is answered, and what may be done, is bounded by where they have it.
    Somewhere(Role),
    /// More than anyone has.
    Impossible,
}

/// The operations by their ids in the document of the API, each with what it needs. One that does not stand here is let to nobody.
#[rustfmt::skip]
const NEEDS: [(&str, Need); 58] = [
    // The server itself.
    ("get_health", Anyone),
    ("get_readiness", Anyone),
    ("get_openapi", Anyone),
    ("find_docs", Anyone),
    ("get_docs", Anyone),
    ("get_docs_file", Anyone),
    ("list_problems", Anyone),
    ("get_problem", Anyone),
    ("get_config", Token),
    ("get_metrics", Token),
    // Tokens, and what was done with them.
    ("list_tokens", Somewhere(Admin)),
    ("create_token", Somewhere(Admin)),
    ("revoke_token", Somewhere(Admin)),
    ("list_journal", Somewhere(Admin)),
    // Namespaces.
    ("list_namespaces", Token),
    ("get_namespace", OfPath(Reader)),
    ("create_namespace", OfBody(Admin)),
    ("delete_namespace", OfPath(Admin)),
    // Tables. Into another namespace one is renamed by who may write there, too, which the handler requires.
    ("list_tables", OfPath(Reader)),
    ("get_table", OfPath(Reader)),
    ("create_table", OfPath(Writer)),
    ("alter_table", OfPath(Writer)),
    ("delete_table", OfPath(Admin)),
    // Changes of tables.
    ("commit", OfPath(Writer)),
    ("commit_transaction", OfBody(Writer)),
    ("roll_back", OfPath(Writer)),
    ("set_tag", OfPath(Writer)),
    ("delete_tag", OfPath(Writer)),
    ("expire_snapshots", OfPath(Admin)),
    ("regroup_manifests", OfPath(Writer)),
    ("start_audit", OfPath(Writer)),
    ("cancel_audit", OfPath(Writer)),
    // What is registered.
    ("plan_scan", OfPath(Reader)),
    ("explain_file", OfPath(Reader)),
    ("list_snapshots", OfPath(Reader)),
    ("get_snapshot", OfPath(Reader)),
    ("list_files", OfPath(Reader)),
    ("list_columns", OfPath(Reader)),
    ("list_manifests", OfPath(Reader)),
    ("get_manifest", OfPath(Reader)),
    ("list_changes", OfPath(Reader)),
    ("list_tags", OfPath(Reader)),
    ("get_tag", OfPath(Reader)),
    ("list_audits", OfPath(Reader)),
    ("get_audit", OfPath(Reader)),
    // What lies in the store beside what is registered.
    ("list_orphans", OfPath(Writer)),
    // Tables as Iceberg has them.
    ("iceberg_config", Token),
    ("iceberg_list_namespaces", Token),
    ("iceberg_load_namespace", OfPath(Reader)),
    ("iceberg_namespace_exists", OfPath(Reader)),
    ("iceberg_list_tables", OfPath(Reader)),
    ("iceberg_load_table", OfPath(Reader)),
    ("iceberg_table_exists", OfPath(Reader)),
    ("iceberg_plan", OfPath(Reader)),
    ("iceberg_fetch_plan", OfPath(Reader)),
    ("iceberg_cancel_plan", OfPath(Reader)),
    ("iceberg_fetch_tasks", OfPath(Reader)),
    ("iceberg_report", OfPath(Reader)),
];

/// What an operation needs.
pub(crate) fn need_of(operation: &str) -> Need {
    NEEDS.iter().find(|(known, _)| *known == operation).map_or(Need::Impossible, |(_, need)| *need)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_operation_has_one_need() {
        let documents = [crate::router::described(), crate::iceberg::routes().into_openapi()];
        let paths = documents.iter().flat_map(|document| document.paths.paths.values());
        let of_head = paths.clone().filter_map(|path| path.head.as_ref());
        let operations = paths.flat_map(crate::openapi::operations_of).map(|(_, of)| of).chain(of_head);
        let described: BTreeSet<String> = operations.filter_map(|of| of.operation_id.clone()).collect();
        let known: BTreeSet<String> = NEEDS.iter().map(|(operation, _)| (*operation).to_owned()).collect();
        assert_eq!(known.len(), NEEDS.len());
        let missing: Vec<_> = described.difference(&known).collect();
        assert!(missing.is_empty(), "{missing:?} are let to nobody");
        assert_eq!(known.difference(&described).next(), None);
    }

    #[test]
    fn an_unknown_operation_is_let_to_nobody() {
        assert_eq!(need_of("shut_down"), Need::Impossible);
    }
}
