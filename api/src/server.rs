//! The server: the router on a listener.

use std::io;

use prunus_catalog::Catalog;
use tokio::net::TcpListener;

use crate::router::router;

/// Answers on the listener until `shutdown` is ready, then finishes the requests that have begun.
///
/// # Errors
/// What the operating system says of the listener.
pub async fn serve(
    catalog: Catalog,
    listener: TcpListener,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    axum::serve(listener, router(catalog)).with_graceful_shutdown(shutdown).await
}
