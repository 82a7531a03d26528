//! The server: the router on a listener.

use std::io;

use prunus_catalog::Catalog;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::router::router_with;
use crate::settings::Settings;

/// Answers on the listener until `shutdown` is ready, then finishes the requests that have begun. Beside that it works on
/// audits, and lets old entries of the journal go; what of these is begun then is done again by the next server.
///
/// # Errors
/// What the operating system says of the listener; [`NoAdmin`](crate::NoAdmin) if its address needs tokens, and nobody has one that
/// could give them.
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
    let access = settings.access.of_listener(listener.local_addr()?, &catalog).map_err(io::Error::other)?;
    let served = axum::serve(listener, router_with(catalog, access)).with_graceful_shutdown(shutdown).await;
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
