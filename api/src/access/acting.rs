//! The catalog as the one who asks has it.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use prunus_catalog::{Catalog, Principal};

use crate::problem::Problem;
use crate::request_id::RequestIdOf;

/// The catalog, whose changes are those of the request's principal, and which names nothing that they may not see.
pub(crate) struct ActingCatalog(pub(crate) Catalog);

impl FromRequestParts<Catalog> for ActingCatalog {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, catalog: &Catalog) -> Result<Self, Problem> {
        let Ok(RequestIdOf(request_id)) = RequestIdOf::from_request_parts(parts, catalog).await;
        // Nobody asks where nobody was let in.
        let principal = parts.extensions.get::<Arc<Principal>>().ok_or(Problem::NoToken)?;
        Ok(Self(catalog.on_behalf_of(Arc::clone(principal), request_id)))
    }
}
