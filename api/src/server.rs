//! The server: the router on a listener, and what stands between it and clients that are slow, many or hostile.
//!
//! `connections` accepts them, up to a limit, each a task that speaks HTTP/1.1 over a `socket`, over TLS or not (`tls`). What
//! it lets through comes to the `gate`, which stands around all routes. `lifecycle` is how all of them learn that the server stops.

mod connections;
mod entrance;
pub(crate) mod gate;
pub(crate) mod lifecycle;
mod open_files;
mod refusal;
mod socket;
mod tls;

use std::io;
use std::time::Duration;

use prunus_catalog::Catalog;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout, timeout_at};

use crate::router::router_of;
use crate::settings::Settings;
use connections::Connections;
use lifecycle::{Lifecycle, Phase};

pub(crate) use entrance::Entrance;
pub use entrance::EntranceError;
pub use tls::TlsError;

/// The longest time that may be set, in seconds.
pub(crate) const MAX_SECONDS: u64 = 24 * 60 * 60;
/// The longest head of a request that may be allowed, in bytes.
pub(crate) const MAX_HEADER_BYTES: usize = 256 << 10;
/// How long connections that idle stay when the server begins to stop. What a client has sent on one of them by then is answered,
/// where closing it at once would leave the client without knowing what became of its request.
const GRACE: Duration = Duration::from_millis(500);
/// How long connections that are cut may take to end.
const CUT: Duration = Duration::from_millis(500);

/// Answers on the listener until `shutdown` is ready: over TLS if a certificate is set, else in plain text. Beside that it works on
/// audits, and lets old entries of the journal go; what of these is begun then is done again by the next server.
///
/// When it is to stop, it accepts no connection any more and refuses changes; what has begun is finished, also what its client has
/// left. What has not ended in the `shutdown_seconds` of the settings is cut off.
///
/// # Errors
/// An [`EntranceError`]: what is wrong with the files of the certificate and its key, that the address needs tokens and nobody has one
/// that could give them, or that it is reached by others than the settings were made for; and what the operating system says of the
/// listener.
pub async fn serve(
    catalog: Catalog,
    listener: TcpListener,
    settings: Settings,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let entrance = Entrance::of(&settings, listener.local_addr()?, &catalog).map_err(io::Error::other)?;
    serve_at(entrance, catalog, listener, settings, shutdown).await;
    Ok(())
}

/// The same where it is settled how the server is entered.
pub(crate) async fn serve_at(
    entrance: Entrance,
    catalog: Catalog,
    listener: TcpListener,
    settings: Settings,
    shutdown: impl Future<Output = ()> + Send + 'static,
) {
    let Entrance { access, tls } = entrance;
    let lifecycle = Lifecycle::default();
    let auditor = catalog.clone();
    let kept = catalog.clone();
    let retention = AbortOnDrop(tokio::spawn(async move { kept.run_journal_retention().await }));
    let audits = AbortOnDrop(tokio::spawn(async move { auditor.run_audits().await }));
    let reload = tls.clone().map(|tls| AbortOnDrop(tokio::spawn(tls.follow_files())));
    let router = router_of(catalog, &settings, access, lifecycle.clone());
    let connections = Connections::new(router, tls, &settings.limits, lifecycle.clone());
    tokio::select! {
        () = connections.accept_all(&listener) => {}
        () = shutdown => {}
    }
    drop(listener);
    stop(&lifecycle, Duration::from_secs(settings.server.shutdown_seconds.min(MAX_SECONDS))).await;
    drop((audits, retention, reload));
}

/// A time that is set in seconds: one at least, and [`MAX_SECONDS`] at most.
pub(crate) fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds.clamp(1, MAX_SECONDS))
}

/// Waits for what has begun, and cuts off what is not done in time.
async fn stop(lifecycle: &Lifecycle, within: Duration) {
    let deadline = Instant::now() + within;
    lifecycle.enter(Phase::Refusing);
    let ended = async {
        if timeout(GRACE, lifecycle.ended()).await.is_err() {
            lifecycle.enter(Phase::Closing);
            lifecycle.ended().await;
        }
    };
    if timeout_at(deadline, ended).await.is_err() {
        tracing::warn!("what has not ended in {} seconds is cut off", within.as_secs());
        lifecycle.enter(Phase::Cut);
        // A change that still runs is not waited for: it is a transaction, which is made as a whole or not at all.
        let _ = timeout(CUT, lifecycle.ended()).await;
    }
}

/// A task that ends with what it is for.
struct AbortOnDrop(JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}
