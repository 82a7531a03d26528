//! The Iceberg REST catalog, for reading: engines that know it load a table, have its scans planned here, and read the files.
//!
//! It is another face of the same catalog. [`routes`] stand beside those of the native API, behind the same door and limits; their
//! operations are those of Iceberg's specification, and so are their errors ([`error`]). What only writers need is not here.

mod path;
mod error;

mod config;
mod namespaces;
mod tables;
mod plan;
mod tasks;
mod reports;

mod metadata;
mod column_types;
mod name_mapping;

mod scan;
mod scan_names;
mod doubts;
mod past;
mod scan_token;
mod cancelled;
mod envelope;
mod readable;
mod file_task;
mod file_statistics;
mod single_value;

use prunus_catalog::Catalog;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) use cancelled::CancelledPlans;
pub(crate) use error::{Refusal, answer};
pub(crate) use path::namespace_of;

/// What the paths of all routes begin with.
const PREFIX: &str = "/iceberg/";

/// Whether a path, or the template of one, is of this API.
pub(crate) fn is_of(path: &str) -> bool {
    path.starts_with(PREFIX)
}

/// All routes.
pub(crate) fn routes() -> OpenApiRouter<Catalog> {
    OpenApiRouter::new()
        .routes(routes!(config::get))
        .routes(routes!(namespaces::list))
        .routes(routes!(namespaces::load, namespaces::exists))
        .routes(routes!(tables::list))
        .routes(routes!(tables::load, tables::exists))
        .routes(routes!(plan::plan))
        .routes(routes!(plan::fetch, plan::cancel))
        .routes(routes!(tasks::fetch))
        .routes(routes!(reports::take))
}
