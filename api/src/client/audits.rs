//! Audits.

use prunus_catalog::TableIdent;
use reqwest::Method;

use super::{Client, Page, Result};
use crate::wire::{AuditJson, AuditPageJson, AuditsJson, NewAuditJson};

impl Client {
    /// `POST T/audits`
    ///
    /// # Errors
    /// [`ClientError`](super::ClientError).
    pub async fn start_audit(&self, table: &TableIdent, audit: &NewAuditJson) -> Result<AuditJson> {
        self.send(self.change(Method::POST, self.table_url(table, &["audits"])).json(audit)).await
    }

    /// `GET T/audits`
    ///
    /// # Errors
    /// [`ClientError`](super::ClientError).
    pub async fn list_audits(&self, table: &TableIdent) -> Result<AuditsJson> {
        self.send(self.get(self.table_url(table, &["audits"]))).await
    }

    /// `GET T/audits/{id}`
    ///
    /// # Errors
    /// [`ClientError`](super::ClientError).
    pub async fn load_audit(&self, table: &TableIdent, audit_id: i64, page: &Page) -> Result<AuditPageJson> {
        self.send(self.get(self.table_url(table, &["audits", &audit_id.to_string()])).query(page)).await
    }

    /// `DELETE T/audits/{id}`
    ///
    /// # Errors
    /// [`ClientError`](super::ClientError).
    pub async fn cancel_audit(&self, table: &TableIdent, audit_id: i64) -> Result<AuditJson> {
        self.send(self.change(Method::DELETE, self.table_url(table, &["audits", &audit_id.to_string()]))).await
    }
}
