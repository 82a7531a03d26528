//! What the path of a request names. Levels of a namespace are joined by 0x1F there, and by dots in the catalog.

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use prunus_catalog::{Fault, NamespaceName, TableIdent};
use serde::Deserialize;

use crate::extract::name;
use crate::problem::Problem;

/// What joins the levels of a namespace.
const SEPARATOR: char = '\u{1f}';

#[derive(Deserialize)]
struct PathParts {
    namespace: String,
    table: Option<String>,
    plan_id: Option<String>,
}

/// The namespace whose levels a path names; `None` if there can be none of this name.
pub(crate) fn namespace_of(levels: &str) -> Option<NamespaceName> {
    parse_namespace(levels).ok()
}

fn parse_namespace(levels: &str) -> Result<NamespaceName, Vec<Fault>> {
    // A dot would be taken for the end of a level.
    if levels.contains('.') {
        return Err(vec![Fault::at("namespace", "a level of a namespace cannot hold a dot")]);
    }
    name("namespace", Some(&levels.replace(SEPARATOR, ".")))
}

/// The levels of a namespace.
pub(super) fn levels_of(namespace: &str) -> Vec<String> {
    namespace.split('.').map(str::to_owned).collect()
}

/// The namespace of a `parent` parameter, which joins levels as a path does.
pub(super) fn parent_of(levels: &str) -> Result<NamespaceName, Problem> {
    parse_namespace(levels).map_err(Problem::MalformedQuery)
}

impl PathParts {
    async fn of(parts: &mut Parts) -> Result<Self, Problem> {
        let parts = Path::<Self>::from_request_parts(parts, &()).await;
        parts.map(|Path(parts)| parts).map_err(|rejection| Problem::MalformedPath(rejection.body_text()))
    }

    fn table(&self) -> Result<TableIdent, Problem> {
        let table = name("table", self.table.as_deref());
        let both = Fault::both(parse_namespace(&self.namespace), table);
        both.map(|(namespace, name)| TableIdent { namespace, name }).map_err(Problem::MalformedPathParts)
    }
}

/// The namespace that the path names.
pub(crate) struct IcebergNamespaceOf(pub(crate) NamespaceName);

impl<S: Send + Sync> FromRequestParts<S> for IcebergNamespaceOf {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let parts = PathParts::of(parts).await?;
        parse_namespace(&parts.namespace).map(Self).map_err(Problem::MalformedPathParts)
    }
}

/// The table that the path names.
pub(crate) struct IcebergTableOf(pub(crate) TableIdent);

impl<S: Send + Sync> FromRequestParts<S> for IcebergTableOf {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        PathParts::of(parts).await?.table().map(Self)
    }
}

/// The table and the id of a plan that the path names; the id is whatever stands there.
pub(crate) struct PlanOf(pub(crate) TableIdent, pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for PlanOf {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let parts = PathParts::of(parts).await?;
        Ok(Self(parts.table()?, parts.plan_id.unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(levels: &str) -> Option<String> {
        namespace_of(levels).map(|namespace| namespace.as_str().to_owned())
    }

    #[test]
    fn levels_are_the_parts_of_a_name() {
        assert_eq!(parsed("a").as_deref(), Some("a"));
        assert_eq!(parsed("a\u{1f}b").as_deref(), Some("a.b"));
        assert_eq!(levels_of("a.b"), ["a", "b"]);
    }

    #[test]
    fn a_level_with_a_dot_is_none() {
        for levels in ["a.b", "a.b\u{1f}c", "", "a\u{1f}", "\u{1f}a", "a\u{1f}\u{1f}b"] {
            assert_eq!(parsed(levels), None, "{levels:?}");
        }
    }
}
