//! The HTTP server of Prunus, and the JSON that it speaks.
//!
//! [`serve`] answers on a listener until it is told to stop; [`router`] is the same without a network. A request goes from
//! the router through an extractor (`extract`) to a handler (`routes`), which parses, calls the catalog and renders; the
//! JSON of both ways is in [`wire`], long answers are written by `formats`, and every error becomes a `problem`.

pub mod settings;
mod limits;
mod server;
mod router;
mod routes;
mod iceberg;
mod openapi;
mod extract;
mod accept;
mod formats;
mod unread;
mod routed;
mod detached;
mod metrics;
mod etag;
mod access;
mod idempotency;
mod replies;
mod page_token;
mod problem;
mod request_id;
mod request_log;
pub mod telemetry;
pub mod wire;

pub mod client;
pub mod cli;
pub mod demo;

pub use access::NoAdmin;
pub use router::{MAX_BODY_BYTES, router};
pub use server::{EntranceError, TlsError, serve};
