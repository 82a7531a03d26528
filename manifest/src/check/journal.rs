//! The journal, and the tokens with what they may do.

use rusqlite::Row;

use super::{Check, Fault, Findings, Place};
use crate::journal::{self, JournalEntry, JournalRow};
use crate::{JournalId, Result, SnapshotId};

const LIST_JOURNAL: &str = "
    SELECT entry_id, at_ms, principal, request_id, operation, namespace, table_name, from_snapshot, to_snapshot, detail
    FROM journal
    ORDER BY entry_id";

const LIST_TOKENS: &str = "
    SELECT token_id, name
    FROM access_token
    ORDER BY token_id";

const LIST_GRANTS: &str = "
    SELECT token_id, namespace
    FROM access_grant
    ORDER BY token_id, namespace";

impl Check<'_> {
    /// Each entry by itself: what it names may be gone. That grants are of tokens is a reference, which SQLite looks at.
    pub(super) fn check_journal_and_tokens(&mut self) {
        let place = Place::default();
        self.reader.each_row(place, LIST_JOURNAL, [], check_entry);
        self.reader.each_row(place, LIST_TOKENS, [], |findings, row| {
            let name: String = row.get(1)?;
            if name.is_empty() {
                findings.add(place, Fault::Token { token_id: row.get(0)?, is: "has no name" });
            }
            Ok(())
        });
        self.reader.each_row(place, LIST_GRANTS, [], |findings, row| {
            let namespace: String = row.get(1)?;
            // An empty one is everywhere.
            if !namespace.is_empty() && !is_namespace(&namespace) {
                findings.add(place, Fault::Token { token_id: row.get(0)?, is: "is of a namespace that cannot be" });
            }
            Ok(())
        });
    }
}

fn check_entry(findings: &mut Findings, row: &Row<'_>) -> Result<()> {
    let JournalRow { entry_id, entry } = journal::journal_row(row)?;
    if let Some(is) = fault_of(entry_id, &entry) {
        findings.add(Place::default(), Fault::JournalEntry { entry_id, is });
    }
    Ok(())
}

/// What no change could have left.
fn fault_of(entry_id: JournalId, entry: &JournalEntry) -> Option<&'static str> {
    let snapshots = [entry.from_snapshot, entry.to_snapshot];
    if entry_id < JournalId(1) {
        Some("is before the first one")
    } else if entry.operation.is_empty() {
        Some("names no operation")
    } else if entry.namespace.as_deref().is_some_and(|namespace| !is_namespace(namespace)) {
        Some("names a namespace that cannot be")
    } else if entry.table.is_some() && (entry.namespace.is_none() || entry.table.as_deref() == Some("")) {
        Some("names a table that cannot be")
    } else if snapshots.into_iter().flatten().any(|snapshot_id| snapshot_id < SnapshotId::EMPTY) {
        Some("names a snapshot that cannot be")
    } else {
        None
    }
}

/// Whether it has parts, none of them empty.
fn is_namespace(name: &str) -> bool {
    name.split('.').all(|part| !part.is_empty())
}
