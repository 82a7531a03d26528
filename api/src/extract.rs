//! From the parts of a request to typed values. Whatever does not fit is a problem that names every place.

mod arrival;
mod body;
mod encoding;
mod form;
mod form_error;
mod form_tree;
mod query;
mod room;

use std::fmt::Display;
use std::str::FromStr;

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use prunus_catalog::{AuditId, Fault, ManifestId, NamespaceName, SnapshotId, TableIdent, TagName, TokenName};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::problem::Problem;

use form_error::FormPart;

pub(crate) use arrival::{BodyRules, BodyTurn};
pub(crate) use body::{JsonBody, MAX_BODY_DEPTH, body_bytes};
pub(crate) use query::QueryOf;

/// Reads a configuration, or finds every fault of its form.
pub(crate) fn read_settings<T: DeserializeOwned>(said: Value) -> Result<T, Vec<Fault>> {
    let tree = serde_json::from_value(said).map_err(|error| vec![Fault::new(error.to_string())])?;
    form::read(tree, FormPart::Key)
}

/// A place as faults name it.
pub(crate) fn dotted(path: &[String]) -> String {
    let mut at = String::new();
    for key in path {
        form_tree::push_key(key, &mut at);
    }
    at
}

/// The parts of a path that are variable. A route has some of them.
#[derive(Deserialize)]
struct PathParts {
    namespace: Option<String>,
    table: Option<String>,
    snapshot_id: Option<String>,
    tag: Option<String>,
    audit_id: Option<String>,
    manifest_id: Option<String>,
    token: Option<String>,
}

/// A part of a path, or what is wrong with it.
pub(crate) type Part<T> = Result<T, Vec<Fault>>;

impl PathParts {
    async fn of(parts: &mut Parts) -> Result<Self, Problem> {
        let parts = Path::<Self>::from_request_parts(parts, &()).await;
        parts.map(|Path(parts)| parts).map_err(|rejection| Problem::MalformedPath(rejection.body_text()))
    }

    fn namespace(&self) -> Part<NamespaceName> {
        name("namespace", self.namespace.as_deref())
    }

    fn table(&self) -> Part<TableIdent> {
        let (namespace, name) = Fault::both(self.namespace(), name("table", self.table.as_deref()))?;
        Ok(TableIdent { namespace, name })
    }

    /// The table and what the path names of it.
    fn of_table<T>(&self, part: Part<T>) -> Result<(TableIdent, T), Problem> {
        Fault::both(self.table(), part).map_err(Problem::MalformedPathParts)
    }
}

/// A name that a path has; nothing is none.
pub(crate) fn name<T: FromStr<Err: Display>>(part: &'static str, text: Option<&str>) -> Part<T> {
    text.unwrap_or_default().parse().map_err(|error: T::Err| vec![Fault::at(part, error.to_string())])
}

fn number(part: &'static str, text: Option<&str>) -> Part<i64> {
    let text = text.unwrap_or_default();
    text.parse().map_err(|_| vec![Fault::at(part, format!("`{text}` is not a whole number"))])
}

/// The one part of a path that is variable, as it stands there.
pub(crate) struct SegmentOf(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for SegmentOf {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let segment = Path::<String>::from_request_parts(parts, &()).await;
        segment.map(|Path(segment)| Self(segment)).map_err(|rejection| Problem::MalformedPath(rejection.body_text()))
    }
}

/// The namespace that the path names.
pub(crate) struct NamespaceOf(pub(crate) NamespaceName);

impl<S: Send + Sync> FromRequestParts<S> for NamespaceOf {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let name = PathParts::of(parts).await?.namespace();
        name.map(Self).map_err(Problem::MalformedPathParts)
    }
}

/// The table that the path names.
pub(crate) struct TableOf(pub(crate) TableIdent);

impl<S: Send + Sync> FromRequestParts<S> for TableOf {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        PathParts::of(parts).await?.table().map(Self).map_err(Problem::MalformedPathParts)
    }
}

/// The table and the snapshot that the path names.
pub(crate) struct SnapshotOf(pub(crate) TableIdent, pub(crate) SnapshotId);

impl<S: Send + Sync> FromRequestParts<S> for SnapshotOf {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let parts = PathParts::of(parts).await?;
        let snapshot_id = number("snapshot_id", parts.snapshot_id.as_deref()).map(SnapshotId);
        parts.of_table(snapshot_id).map(|(table, snapshot_id)| Self(table, snapshot_id))
    }
}

/// The table and the tag that the path names.
pub(crate) struct TagOf(pub(crate) TableIdent, pub(crate) TagName);

impl<S: Send + Sync> FromRequestParts<S> for TagOf {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let parts = PathParts::of(parts).await?;
        parts.of_table(name("tag", parts.tag.as_deref())).map(|(table, tag)| Self(table, tag))
    }
}

/// The table and the audit that the path names.
pub(crate) struct AuditOf(pub(crate) TableIdent, pub(crate) AuditId);

impl<S: Send + Sync> FromRequestParts<S> for AuditOf {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let parts = PathParts::of(parts).await?;
        let audit_id = number("audit_id", parts.audit_id.as_deref()).map(AuditId);
        parts.of_table(audit_id).map(|(table, audit_id)| Self(table, audit_id))
    }
}

/// The table and the manifest that the path names.
pub(crate) struct ManifestOf(pub(crate) TableIdent, pub(crate) ManifestId);

impl<S: Send + Sync> FromRequestParts<S> for ManifestOf {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let parts = PathParts::of(parts).await?;
        let manifest_id = number("manifest_id", parts.manifest_id.as_deref()).map(ManifestId);
        parts.of_table(manifest_id).map(|(table, manifest_id)| Self(table, manifest_id))
    }
}

/// The token that the path names.
pub(crate) struct TokenOf(pub(crate) TokenName);

impl<S: Send + Sync> FromRequestParts<S> for TokenOf {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let token = PathParts::of(parts).await?.token;
        name("token", token.as_deref()).map(Self).map_err(Problem::MalformedPathParts)
    }
}
