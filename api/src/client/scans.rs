//! Plans, and why they are as they are.

use prunus_catalog::TableIdent;
use reqwest::Method;

use super::{Client, Result};
use crate::wire::{ExplainJson, ExplainedJson, PlanJson, PlannedJson};

impl Client {
    /// `POST T/plan`
    ///
    /// # Errors
    /// [`ClientError`](super::ClientError).
    pub async fn plan(&self, table: &TableIdent, plan: &PlanJson) -> Result<PlannedJson> {
        self.send(self.request(Method::POST, self.table_url(table, &["plan"])).json(plan)).await
    }

    /// `POST T/explain`
    ///
    /// # Errors
    /// [`ClientError`](super::ClientError).
    pub async fn explain(&self, table: &TableIdent, explain: &ExplainJson) -> Result<ExplainedJson> {
        self.send(self.request(Method::POST, self.table_url(table, &["explain"])).json(explain)).await
    }
}
