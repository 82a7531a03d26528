//! The server: the router on a listener.

use std::io;

use prunus_catalog::Catalog;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::router::router;
use crate::settings::Settings;

/// Answers on the listener until `shutdown` is ready, then finishes the requests that have begun. Beside that it works on
/// audits, and lets old entries of the journal go; what of these is begun then is done again by the next server.
///
/// # Errors
/// What the operating system says of the listener.
pub async fn serve(
    catalog: Catalog,
    listener: TcpListener,
    settings: Settings,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let auditor = catalog.clone();
    let kept = catalog.clone();
    let retention = AbortOnDrop(tokio::spawn(async move { kept.run_journal_retention().await }));
    let audits = AbortOnDrop(tokio::spawn(async move { auditor.run_audits().await }));
    let served = axum::serve(listener, router(catalog, &settings)).with_graceful_shutdown(shutdown).await;
    drop((audits, retention));
    served
}

/// A task that ends with what it is for.
struct AbortOnDrop(JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}
