//! How tables are laid out.

use prunus_catalog::TableIdent;
use reqwest::Method;

use super::{Client, Result};
use crate::wire::{RegroupJson, RegroupedJson};

impl Client {
    /// `POST T/regroup`
    ///
    /// # Errors
    /// [`ClientError`](super::ClientError).
    pub async fn regroup(&self, table: &TableIdent, regroup: &RegroupJson) -> Result<RegroupedJson> {
        self.send(self.change(Method::POST, self.table_url(table, &["regroup"])).json(regroup)).await
    }
}
