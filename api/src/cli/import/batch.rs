//! One commit of an import: what the server refuses is taken out, and the rest goes in.

use std::collections::{HashMap, HashSet};

use prunus_catalog::TableIdent;

use crate::client::{Client, ClientError};
use crate::wire::{
    CommitJson, CommittedJson, ConflictReasonJson, FaultJson, NewFileJson, OperationJson, ProblemJson, TableJson,
};

use super::listing::Candidate;
use super::summary::Refused;

/// How many rows each commit added: the difference to the snapshot before it, whoever made that.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowCounter {
    snapshot_id: i64,
    rows: u64,
}

impl RowCounter {
    /// From the table as it is.
    pub(super) fn new(table: &TableJson) -> Self {
        Self { snapshot_id: table.current_snapshot, rows: table.rows }
    }

    pub(super) async fn added(
        &mut self,
        client: &Client,
        table: &TableIdent,
        committed: &CommittedJson,
    ) -> Result<u64, ClientError> {
        let before = match committed.snapshot_id - 1 {
            before if before == self.snapshot_id => self.rows,
            // There is no snapshot of the empty table.
            0 => 0,
            // Someone else committed in between, or another batch that was answered later.
            before => client.load_snapshot(table, before).await?.rows,
        };
        *self = Self { snapshot_id: committed.snapshot_id, rows: committed.rows };
        Ok(committed.rows.saturating_sub(before))
    }
}

/// What became of a batch.
#[derive(Debug)]
pub(super) struct Outcome {
    /// How many files it had.
    pub(super) files: usize,
    /// What was committed in the end.
    pub(super) added: Option<Added>,
    pub(super) refused: Vec<Refused>,
    /// How many were registered by someone else since the table was listed.
    pub(super) live_already: usize,
    /// What ended it before all of its files were committed or refused.
    pub(super) error: Option<ClientError>,
}

/// What a batch added.
#[derive(Debug)]
pub(super) struct Added {
    pub(super) files: usize,
    pub(super) bytes: u64,
    pub(super) committed: CommittedJson,
}

/// Commits a batch without the files that are at fault.
pub(super) async fn commit(client: &Client, table: &TableIdent, mut batch: Vec<Candidate>) -> Outcome {
    let mut outcome = Outcome { files: batch.len(), added: None, refused: Vec::new(), live_already: 0, error: None };
    while !batch.is_empty() {
        match client.commit(table, &append(&batch)).await {
            Ok(committed) => {
                let bytes = batch.iter().filter_map(|file| file.size_bytes).sum();
                outcome.added = Some(Added { files: batch.len(), bytes, committed });
                break;
            }
            Err(ClientError::Problem(problem)) => {
                let Some(blamed) = blame(&problem, batch) else {
                    outcome.error = Some(ClientError::Problem(problem));
                    break;
                };
                outcome.refused.extend(blamed.refused);
                outcome.live_already += blamed.live_already;
                batch = blamed.rest;
            }
            Err(error) => {
                outcome.error = Some(error);
                break;
            }
        }
    }
    outcome
}

fn append(batch: &[Candidate]) -> CommitJson {
    CommitJson {
        operation: OperationJson::Append,
        base_snapshot: None,
        add: batch.iter().map(|file| NewFileJson { path: file.path.clone(), ..NewFileJson::default() }).collect(),
        remove: Vec::new(),
        filter: None,
        nan_order: None,
        summary: [("tool".to_owned(), "prunus import".to_owned())].into(),
    }
}

/// A batch that was refused, by what became of its files.
#[derive(Debug, PartialEq)]
struct Blamed {
    refused: Vec<Refused>,
    /// How many were registered by someone else since the table was listed.
    live_already: usize,
    /// Nothing is said against these.
    rest: Vec<Candidate>,
}

/// Which files a refusal is about; `None` if it is about none of them, so that the commit cannot be mended.
fn blame(problem: &ProblemJson, batch: Vec<Candidate>) -> Option<Blamed> {
    let mut faults: HashMap<&str, Vec<FaultJson>> = HashMap::new();
    for fault in &problem.faults {
        if let Some(path) = &fault.path {
            faults.entry(path).or_default().push(fault.clone());
        }
    }
    let mut live = HashSet::new();
    for conflict in problem.conflicts.iter().flatten() {
        if conflict.reason == ConflictReasonJson::AlreadyLive {
            live.insert(conflict.path.as_str());
        } else {
            let fault = FaultJson { message: conflict.message.clone(), ..FaultJson::default() };
            faults.entry(&conflict.path).or_default().push(fault);
        }
    }
    let size = batch.len();
    let mut blamed = Blamed { refused: Vec::new(), live_already: 0, rest: Vec::new() };
    for file in batch {
        if let Some(faults) = faults.remove(file.path.as_str()) {
            blamed.refused.push(Refused { path: file.path, faults });
        } else if live.contains(file.path.as_str()) {
            blamed.live_already += 1;
        } else {
            blamed.rest.push(file);
        }
    }
    (blamed.rest.len() < size).then_some(blamed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn problem(status: u16, mut parts: serde_json::Value) -> ProblemJson {
        let whole = json!({"type": "/problems/x", "title": "t", "status": status, "detail": "d", "request_id": "r", "retryable": false});
        parts.as_object_mut().unwrap().extend(whole.as_object().unwrap().clone());
        serde_json::from_value(parts).unwrap()
    }

    fn batch() -> Vec<Candidate> {
        ["a", "b", "c"].map(|path| Candidate { path: path.to_owned(), size_bytes: Some(1), etag: None }).into()
    }

    fn paths(files: &[Candidate]) -> Vec<&str> {
        files.iter().map(|file| file.path.as_str()).collect()
    }

    #[test]
    fn files_at_fault_are_taken_out_with_their_faults() {
        let faults = json!({"faults": [
            {"path": "b", "column": "x", "message": "one"}, {"path": "b", "message": "two"}, {"message": "of no file"}
        ]});
        let blamed = blame(&problem(422, faults), batch()).unwrap();
        assert_eq!(paths(&blamed.rest), ["a", "c"]);
        let [refused] = blamed.refused.as_slice() else { panic!("{blamed:?}") };
        assert_eq!((refused.path.as_str(), refused.faults.len()), ("b", 2));
    }

    #[test]
    fn what_someone_else_registered_is_no_fault() {
        let conflicts = json!({"conflicts": [
            {"path": "a", "reason": "already_live", "message": "the path is live already"},
            {"path": "c", "reason": "object_changed", "message": "it changed"},
        ]});
        let blamed = blame(&problem(409, conflicts), batch()).unwrap();
        assert_eq!((paths(&blamed.rest), blamed.live_already), (vec!["b"], 1));
        let message = |refused: &Refused| refused.faults.first().map(|fault| fault.message.clone());
        assert_eq!(blamed.refused.first().and_then(message).as_deref(), Some("it changed"));
    }

    #[test]
    fn a_refusal_of_no_file_stands() {
        let faults = json!({"faults": [{"at": "operation", "message": "no"}, {"path": "elsewhere", "message": "no"}]});
        assert_eq!(blame(&problem(422, faults), batch()), None);
        assert_eq!(blame(&problem(503, json!({})), batch()), None);
    }
}
