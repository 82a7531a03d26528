//! The HTTP server of Prunus, and the JSON that it speaks.
//!
//! [`serve`] answers on a listener until it is told to stop; [`router`] is the same without a network. A request goes from
//! the router through an extractor (`extract`) to a handler (`routes`), which parses, calls the catalog and renders; the
//! JSON of both ways is in [`wire`], and every error becomes a `problem`.

mod accept;
mod extract;
mod idempotency;
mod page_token;
mod problem;
mod request_id;
mod router;
mod routes;
mod server;
pub mod wire;

pub mod cli;
pub mod client;
pub mod demo;

pub use router::{MAX_BODY_BYTES, router};
pub use server::serve;
