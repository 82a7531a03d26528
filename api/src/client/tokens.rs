//! Access tokens.

use reqwest::Method;

use super::{Client, Page, Result};
use crate::wire::{CreatedTokenJson, NewTokenJson, TokensJson};

impl Client {
    /// `POST /v1/tokens`
    ///
    /// # Errors
    /// [`ClientError`](super::ClientError), with status 409 if there is or was one of that name.
    pub async fn create_token(&self, token: &NewTokenJson) -> Result<CreatedTokenJson> {
        // No key is taken here, so that it is sent once: a second one would find the name taken, and nobody would have the secret.
        self.send(self.request(Method::POST, self.url(&["tokens"])).json(token)).await
    }

    /// `GET /v1/tokens`
    ///
    /// # Errors
    /// [`ClientError`](super::ClientError).
    pub async fn list_tokens(&self, page: &Page) -> Result<TokensJson> {
        self.send(self.get(self.url(&["tokens"])).query(page)).await
    }

    /// `DELETE /v1/tokens/{token}`
    ///
    /// # Errors
    /// [`ClientError`](super::ClientError).
    pub async fn revoke_token(&self, name: &str) -> Result<()> {
        self.send_for_nothing(self.change(Method::DELETE, self.url(&["tokens", name]))).await
    }
}
