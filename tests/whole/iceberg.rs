//! The Iceberg REST API, as its clients ask for it.

mod errors;
mod names;
mod past_names;
mod plan;
