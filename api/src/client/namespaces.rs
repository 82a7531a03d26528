//! Namespaces.

use reqwest::Method;

use super::{Client, Page, Result};
use crate::wire::{NamespaceJson, NamespacesJson, NewNamespaceJson};

impl Client {
    /// `POST /v1/namespaces`
    ///
    /// # Errors
    /// [`ClientError`](super::ClientError), with status 409 if there is one of that name.
    pub async fn create_namespace(&self, namespace: &NewNamespaceJson) -> Result<NamespaceJson> {
        self.send(self.change(Method::POST, self.url(&["namespaces"])).json(namespace)).await
    }

    /// `GET /v1/namespaces`
    ///
    /// # Errors
    /// [`ClientError`](super::ClientError).
    pub async fn list_namespaces(&self, page: &Page) -> Result<NamespacesJson> {
        self.send(self.get(self.url(&["namespaces"])).query(page)).await
    }

    /// `GET /v1/namespaces/{ns}`
    ///
    /// # Errors
    /// [`ClientError`](super::ClientError).
    pub async fn load_namespace(&self, namespace: &str) -> Result<NamespaceJson> {
        self.send(self.get(self.url(&["namespaces", namespace]))).await
    }

    /// `DELETE /v1/namespaces/{ns}`
    ///
    /// # Errors
    /// [`ClientError`](super::ClientError), with status 409 if there are tables in it.
    pub async fn drop_namespace(&self, namespace: &str) -> Result<()> {
        self.send_for_nothing(self.change(Method::DELETE, self.url(&["namespaces", namespace]))).await
    }
}
