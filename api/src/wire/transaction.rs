//! Transactions.

use std::collections::BTreeMap;

use prunus_catalog::{CommitRequest, Fault, TableCommit, TableCommitted, TableIdent};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::commit::{CommitJson, CommittedJson, OperationJson};
use super::file::NewFileJson;
use super::plan::{FilterJson, NanOrderJson};
use crate::openapi::values::{NumberSchema, QualifiedNameSchema};

/// Commits to several tables, all or none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(examples(json!({"commits": [
    {"table": "lake.raw.trips", "operation": "append", "add": [{"path": "2024-01.parquet"}]},
    {"table": "lake.raw.stops", "operation": "delete", "remove": ["2023-01.parquet"]},
]})))]
pub struct TransactionJson {
    /// The commits, one for each table.
    pub commits: Vec<TableCommitJson>,
}

// The fields of [`CommitJson`] stand here once more, since what is flattened neither refuses unknown fields nor says where a
// fault is.
/// A commit of a transaction: a commit with its table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TableCommitJson {
    /// The table, behind its namespace and a dot.
    #[schema(value_type = QualifiedNameSchema)]
    pub table: String,
    /// What the commit means.
    pub operation: OperationJson,
    /// The snapshot that it was worked out from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<NumberSchema>)]
    pub base_snapshot: Option<i64>,
    /// The files to be added.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub add: Vec<NewFileJson>,
    /// The paths of the files to be removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remove: Vec<String>,
    /// The rows that an overwrite was worked out from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<FilterJson>,
    /// How the writer's engine orders NaN in `filter`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nan_order: Option<NanOrderJson>,
    /// What the writer notes.
    #[serde(default, deserialize_with = "super::unique_map::deserialize", skip_serializing_if = "BTreeMap::is_empty")]
    pub summary: BTreeMap<String, String>,
}

impl TransactionJson {
    /// The commits as the catalog is asked for them. Where the name of a table is none, nothing else can be looked for: then every
    /// such name and all that is known to be wrong with files.
    pub(crate) fn parse(self) -> Result<Vec<TableCommit>, Vec<Fault>> {
        let mut faults = Vec::new();
        let mut commits = Vec::with_capacity(self.commits.len());
        let mut is_named = true;
        for (index, commit) in self.commits.into_iter().enumerate() {
            let (table, request) = commit.parse();
            let of_files = request.add.iter().enumerate().flat_map(|(file, added)| {
                added.faults.iter().map(move |fault| Fault { at: Some(format!("add[{file}]")), ..fault.clone() })
            });
            let of_commit = table.as_ref().err().cloned().into_iter().flatten().chain(of_files);
            faults.extend(of_commit.map(|fault| fault.within(&format!("commits[{index}]"))));
            match table {
                Ok(table) => commits.push(TableCommit { table, request }),
                Err(_) => is_named = false,
            }
        }
        if is_named { Ok(commits) } else { Err(faults) }
    }
}

impl TableCommitJson {
    fn parse(self) -> (Result<TableIdent, Vec<Fault>>, CommitRequest) {
        let Self { table, operation, base_snapshot, add, remove, filter, nan_order, summary } = self;
        let table = table.parse().map_err(|error| vec![Fault::at("table", format!("{error}"))]);
        let request = CommitJson { operation, base_snapshot, add, remove, filter, nan_order, summary }.parse();
        (table, request)
    }
}

/// What a transaction did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TransactionCommittedJson {
    /// What became of each commit, in their order.
    pub commits: Vec<TableCommittedJson>,
}

/// What a commit of a transaction did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TableCommittedJson {
    /// The table, behind its namespace and a dot.
    pub table: String,
    /// What became of its commit.
    #[serde(flatten)]
    pub committed: CommittedJson,
}

impl From<Vec<TableCommitted>> for TransactionCommittedJson {
    fn from(commits: Vec<TableCommitted>) -> Self {
        let commit = |TableCommitted { table, committed }| TableCommittedJson {
            table: table.to_string(),
            committed: committed.into(),
        };
        Self { commits: commits.into_iter().map(commit).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn faults(commits: &serde_json::Value) -> Vec<String> {
        let json = serde_json::from_value::<TransactionJson>(json!({"commits": commits})).unwrap();
        json.parse().unwrap_err().into_iter().filter_map(|fault| fault.at).collect()
    }

    #[test]
    fn every_fault_of_every_commit_says_where_it_is() {
        let bad_file = json!({"path": "b", "columns": {"c": {"min": []}}});
        let commits = json!([
            {"table": "n.t", "operation": "append", "add": [{"path": "a"}]},
            {"table": "t", "operation": "append", "add": [{"path": "a"}, bad_file]},
            {"table": "n.u", "operation": "append", "add": [bad_file]},
        ]);
        assert_eq!(faults(&commits), ["commits[1].table", "commits[1].add[1]", "commits[2].add[0]"]);
    }

    #[test]
    fn a_transaction_takes_every_field_of_a_commit() {
        let commit = json!({
            "operation": "overwrite", "base_snapshot": 1, "add": [{"path": "a"}], "remove": ["b"], "filter": "a = 1",
            "nan_order": "ieee", "summary": {"k": "v"},
        });
        let mut named = commit.clone();
        named["table"] = "n.t".into();
        let transaction: TransactionJson = serde_json::from_value(json!({"commits": [named]})).unwrap();
        assert_eq!(serde_json::to_value(&transaction).unwrap()["commits"][0], named);
        let alone = serde_json::from_value::<CommitJson>(commit).unwrap();
        let [TableCommit { table, request }] = &transaction.parse().unwrap()[..] else { panic!("there is one") };
        assert_eq!((table.to_string(), format!("{request:?}")), ("n.t".to_owned(), format!("{:?}", alone.parse())));
    }
}
