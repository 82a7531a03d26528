//! Changes of what is in tables.

use prunus_catalog::TableIdent;
use reqwest::Method;

use super::{Client, Result};
use crate::wire::{CommitJson, CommittedJson, SnapshotIdJson, TransactionCommittedJson, TransactionJson};

impl Client {
    /// `POST T/commits`
    ///
    /// # Errors
    /// [`ClientError`](super::ClientError), with status 409 for a conflict and 422 for faults of files.
    pub async fn commit(&self, table: &TableIdent, commit: &CommitJson) -> Result<CommittedJson> {
        self.send(self.change(Method::POST, self.table_url(table, &["commits"])).json(commit)).await
    }

    /// `POST /v1/transactions`
    ///
    /// # Errors
    /// As those of [`Client::commit`].
    pub async fn commit_all(&self, transaction: &TransactionJson) -> Result<TransactionCommittedJson> {
        self.send(self.change(Method::POST, self.url(&["transactions"])).json(transaction)).await
    }

    /// `POST T/rollback`
    ///
    /// # Errors
    /// [`ClientError`](super::ClientError).
    pub async fn roll_back(&self, table: &TableIdent, snapshot_id: i64) -> Result<CommittedJson> {
        let body = SnapshotIdJson { snapshot_id };
        self.send(self.change(Method::POST, self.table_url(table, &["rollback"])).json(&body)).await
    }
}
