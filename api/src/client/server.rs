//! The server itself.

use serde_json::Value;

use super::{Client, Result};
use crate::wire::ConfigJson;

impl Client {
    /// `GET /healthz`: whether the server answers.
    ///
    /// # Errors
    /// [`ClientError`](super::ClientError).
    pub async fn health(&self) -> Result<Value> {
        self.send(self.get(self.server_url("healthz"))).await
    }

    /// `GET /readyz`: whether it can work.
    ///
    /// # Errors
    /// [`ClientError`](super::ClientError), with status 503 if its store cannot be read.
    pub async fn readiness(&self) -> Result<Value> {
        self.send(self.get(self.server_url("readyz"))).await
    }

    /// `GET /v1/config`: what a client can count on.
    ///
    /// # Errors
    /// [`ClientError`](super::ClientError).
    pub async fn load_config(&self) -> Result<ConfigJson> {
        self.send(self.get(self.url(&["config"]))).await
    }
}
