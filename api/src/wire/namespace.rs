//! Namespaces.

use std::collections::BTreeMap;

use prunus_catalog::{Error, Fault};
use prunus_catalog::{Namespace, NamespaceName};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::time::to_rfc3339;
use crate::openapi::values::NamespaceNameSchema;

/// A namespace to be created.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(examples(json!({"name": "lake.raw", "properties": {"owner": "data"}})))]
pub struct NewNamespaceJson {
    /// Its name: one to four parts joined by dots.
    #[schema(value_type = NamespaceNameSchema)]
    pub name: String,
    /// What its owner notes.
    #[serde(default, deserialize_with = "super::unique_map::deserialize", skip_serializing_if = "BTreeMap::is_empty")]
    pub properties: BTreeMap<String, String>,
}

impl NewNamespaceJson {
    /// The name as one that can be.
    pub(crate) fn parse_name(&self) -> Result<NamespaceName, Error> {
        self.name.parse().map_err(|error| Error::invalid(Fault::at("name", format!("{error}"))))
    }
}

/// A namespace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct NamespaceJson {
    /// Its name.
    pub name: String,
    /// What its owner noted.
    pub properties: BTreeMap<String, String>,
    /// When it was created, RFC 3339.
    #[schema(format = DateTime)]
    pub created_at: String,
}

impl From<Namespace> for NamespaceJson {
    fn from(namespace: Namespace) -> Self {
        let Namespace { name, properties, created_at_ms } = namespace;
        Self { name, properties, created_at: to_rfc3339(created_at_ms) }
    }
}

/// A page of namespaces by name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct NamespacesJson {
    /// The page.
    pub namespaces: Vec<NamespaceJson>,
    /// What asks for the next page; absent at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub next_page_token: Option<String>,
}
