//! The server itself.

use serde::{Deserialize, Serialize};

use super::{Client, Result};
use crate::wire::ConfigJson;

/// That a server answers. No other text will do, so that not every web server passes for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Health {
    /// It does.
    Ok,
}

/// That a server can work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Readiness {
    /// It can.
    Ready,
}

impl Client {
    /// `GET /healthz`: whether the server answers.
    ///
    /// # Errors
    /// [`ClientError`](super::ClientError).
    pub async fn health(&self) -> Result<Health> {
        self.send(self.get(self.server_url("healthz"))).await
    }

    /// `GET /readyz`: whether it can work.
    ///
    /// # Errors
    /// [`ClientError`](super::ClientError), with status 503 if its store cannot be read.
    pub async fn readiness(&self) -> Result<Readiness> {
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
