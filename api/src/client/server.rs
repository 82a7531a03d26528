//! The server itself.

use serde_json::Value;

use super::{Client, Result};

impl Client {
    /// `GET /healthz`
    ///
    /// # Errors
    /// [`ClientError`](super::ClientError).
    pub async fn health(&self) -> Result<Value> {
        self.send(self.get(self.server_url("healthz"))).await
    }
}
