//! The catalog as the one who asks has it.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use prunus_catalog::{Actor, Catalog};

use crate::request_id::RequestIdOf;

/// The catalog, whose changes are those of the request's principal.
pub(crate) struct ActingCatalog(pub(crate) Catalog);

impl FromRequestParts<Catalog> for ActingCatalog {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, catalog: &Catalog) -> Result<Self, Infallible> {
        let RequestIdOf(request_id) = RequestIdOf::from_request_parts(parts, catalog).await?;
        Ok(Self(catalog.acting_as(Actor { principal: String::new(), request_id })))
    }
}
