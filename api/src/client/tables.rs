//! Tables, and what is known of their columns and files.

use prunus_catalog::TableIdent;
use reqwest::Method;
use serde::Serialize;

use super::{Client, Page, Result, SnapshotChoice};
use crate::wire::{AlterTableJson, CoverageJson, FileJson, FilesJson, NewTableJson, TableJson, TablesJson};

impl Client {
    /// `POST /v1/namespaces/{ns}/tables`
    ///
    /// # Errors
    /// [`ClientError`](super::ClientError).
    pub async fn create_table(&self, namespace: &str, table: &NewTableJson) -> Result<TableJson> {
        self.send(self.change(Method::POST, self.url(&["namespaces", namespace, "tables"])).json(table)).await
    }

    /// `GET /v1/namespaces/{ns}/tables`
    ///
    /// # Errors
    /// [`ClientError`](super::ClientError).
    pub async fn list_tables(&self, namespace: &str, page: &Page) -> Result<TablesJson> {
        self.send(self.get(self.url(&["namespaces", namespace, "tables"])).query(page)).await
    }

    /// `GET T`
    ///
    /// # Errors
    /// [`ClientError`](super::ClientError).
    pub async fn load_table(&self, table: &TableIdent) -> Result<TableJson> {
        self.send(self.get(self.table_url(table, &[]))).await
    }

    /// `PATCH T`
    ///
    /// # Errors
    /// [`ClientError`](super::ClientError).
    pub async fn alter_table(&self, table: &TableIdent, change: &AlterTableJson) -> Result<TableJson> {
        self.send(self.change(Method::PATCH, self.table_url(table, &[])).json(change)).await
    }

    /// `DELETE T`
    ///
    /// # Errors
    /// [`ClientError`](super::ClientError).
    pub async fn drop_table(&self, table: &TableIdent) -> Result<()> {
        self.send_for_nothing(self.change(Method::DELETE, self.table_url(table, &[]))).await
    }

    /// `GET T/columns`
    ///
    /// # Errors
    /// [`ClientError`](super::ClientError).
    pub async fn load_coverage(&self, table: &TableIdent, snapshot: &SnapshotChoice) -> Result<CoverageJson> {
        self.send(self.get(self.table_url(table, &["columns"])).query(snapshot)).await
    }

    /// `GET T/files`
    ///
    /// # Errors
    /// [`ClientError`](super::ClientError).
    pub async fn list_files(&self, table: &TableIdent, snapshot: &SnapshotChoice, page: &Page) -> Result<FilesJson> {
        self.send(self.get(self.table_url(table, &["files"])).query(snapshot).query(page)).await
    }

    /// `GET T/files?path=`
    ///
    /// # Errors
    /// [`ClientError`](super::ClientError).
    pub async fn load_file(&self, table: &TableIdent, snapshot: &SnapshotChoice, path: &str) -> Result<FileJson> {
        let request = self.get(self.table_url(table, &["files"])).query(snapshot).query(&PathQuery { path });
        self.send(request).await
    }
}

#[derive(Serialize)]
struct PathQuery<'a> {
    path: &'a str,
}
