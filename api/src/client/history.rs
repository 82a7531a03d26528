//! Snapshots: what they are, what differs between them, names of them, and letting them go.

use prunus_catalog::TableIdent;
use reqwest::Method;
use serde::Serialize;

use super::{Client, Page, Result};
use crate::wire::{
    ChangesJson, ExpireJson, ExpiredJson, JournalJson, OrphansJson, SnapshotIdJson, SnapshotJson, SnapshotsJson,
    TagJson, TagsJson,
};

impl Client {
    /// `GET T/snapshots`
    ///
    /// # Errors
    /// [`ClientError`](super::ClientError).
    pub async fn list_snapshots(&self, table: &TableIdent, page: &Page) -> Result<SnapshotsJson> {
        self.send(self.get(self.table_url(table, &["snapshots"])).query(page)).await
    }

    /// `GET T/snapshots/{id}`
    ///
    /// # Errors
    /// [`ClientError`](super::ClientError).
    pub async fn load_snapshot(&self, table: &TableIdent, snapshot_id: i64) -> Result<SnapshotJson> {
        self.send(self.get(self.table_url(table, &["snapshots", &snapshot_id.to_string()]))).await
    }

    /// `GET T/changes`, to the newest snapshot where `to` is absent.
    ///
    /// # Errors
    /// [`ClientError`](super::ClientError).
    pub async fn list_changes(
        &self,
        table: &TableIdent,
        from: i64,
        to: Option<i64>,
        page: &Page,
    ) -> Result<ChangesJson> {
        self.send(self.get(self.table_url(table, &["changes"])).query(&ChangesQuery { from, to }).query(page)).await
    }

    /// `PUT T/tags/{tag}`
    ///
    /// # Errors
    /// [`ClientError`](super::ClientError).
    pub async fn set_tag(&self, table: &TableIdent, tag: &str, snapshot_id: i64) -> Result<TagJson> {
        let body = SnapshotIdJson { snapshot_id };
        self.send(self.change(Method::PUT, self.table_url(table, &["tags", tag])).json(&body)).await
    }

    /// `GET T/tags`
    ///
    /// # Errors
    /// [`ClientError`](super::ClientError).
    pub async fn list_tags(&self, table: &TableIdent, page: &Page) -> Result<TagsJson> {
        self.send(self.get(self.table_url(table, &["tags"])).query(page)).await
    }

    /// `GET T/tags/{tag}`
    ///
    /// # Errors
    /// [`ClientError`](super::ClientError).
    pub async fn load_tag(&self, table: &TableIdent, tag: &str) -> Result<TagJson> {
        self.send(self.get(self.table_url(table, &["tags", tag]))).await
    }

    /// `DELETE T/tags/{tag}`
    ///
    /// # Errors
    /// [`ClientError`](super::ClientError).
    pub async fn delete_tag(&self, table: &TableIdent, tag: &str) -> Result<()> {
        self.send_for_nothing(self.change(Method::DELETE, self.table_url(table, &["tags", tag]))).await
    }

    /// `POST T/expire`
    ///
    /// # Errors
    /// [`ClientError`](super::ClientError).
    pub async fn expire(&self, table: &TableIdent, expire: &ExpireJson) -> Result<ExpiredJson> {
        self.send(self.change(Method::POST, self.table_url(table, &["expire"])).json(expire)).await
    }

    /// `GET T/orphans`; objects of at least three days where no time is given.
    ///
    /// # Errors
    /// [`ClientError`](super::ClientError).
    pub async fn list_orphans(&self, table: &TableIdent, older_than: Option<&str>, page: &Page) -> Result<OrphansJson> {
        self.send(self.get(self.table_url(table, &["orphans"])).query(&OrphansQuery { older_than }).query(page)).await
    }

    /// `GET /v1/journal`
    ///
    /// # Errors
    /// [`ClientError`](super::ClientError).
    pub async fn list_journal(&self, query: &JournalQuery, page: &Page) -> Result<JournalJson> {
        self.send(self.get(self.url(&["journal"])).query(query).query(page)).await
    }
}

/// Which entries of the journal: those that all of it fits. What is `None` fits any.
#[derive(Clone, Debug, Default, Serialize)]
pub struct JournalQuery {
    /// Of this namespace, and of those below it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Of this table: NAMESPACE.TABLE.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    /// Of the token of this name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub principal: Option<String>,
    /// Of this operation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// At or after this time, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Before this time, RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
}

#[derive(Serialize)]
struct ChangesQuery {
    from: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<i64>,
}

#[derive(Serialize)]
struct OrphansQuery<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    older_than: Option<&'a str>,
}
