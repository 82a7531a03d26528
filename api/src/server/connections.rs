//! Connections: accepted up to a limit, each on a task of its own.

use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tower::util::MapRequest;

use super::lifecycle::{Lifecycle, Phase};
use super::open_files;
use super::socket::Socket;
use super::tls::Tls;
use super::{MAX_HEADER_BYTES, refusal, seconds};
use crate::request_log::Peer;
use crate::settings::LimitSettings;

/// How much a connection reads ahead of what is asked of it, in bytes. Longer heads are read as far as they are allowed to be.
const READ_AHEAD_BYTES: usize = 64 << 10;
/// How many clients are told at a time that there are too many.
const MAX_REFUSALS: usize = 64;
/// How long telling a client may take.
const REFUSAL_TIME: Duration = Duration::from_secs(1);
/// How long nothing is accepted where the system has no room for a connection.
const PAUSE: Duration = Duration::from_millis(250);

/// What all connections have in common.
pub(super) struct Connections(Arc<Common>);

struct Common {
    router: Router,
    /// `None` for plain text.
    tls: Option<Tls>,
    http: http1::Builder,
    /// How long a handshake may take.
    handshake_time: Duration,
    /// How long a client may take nothing of what is sent to it.
    write_time: Duration,
    places: Arc<Semaphore>,
    refusals: Arc<Semaphore>,
    lifecycle: Lifecycle,
}

impl Connections {
    pub(super) fn new(router: Router, tls: Option<Tls>, limits: &LimitSettings, lifecycle: Lifecycle) -> Self {
        Self(Arc::new(Common {
            router,
            tls,
            http: http(limits),
            handshake_time: seconds(limits.header_seconds),
            write_time: seconds(limits.write_seconds),
            places: Arc::new(Semaphore::new(open_files::leave_room(limits.connections).min(Semaphore::MAX_PERMITS))),
            refusals: Arc::new(Semaphore::new(MAX_REFUSALS)),
            lifecycle,
        }))
    }

    /// Accepts until it is dropped.
    pub(super) async fn accept_all(&self, listener: &TcpListener) {
        loop {
            match listener.accept().await {
                Ok((stream, peer)) => self.take(stream, peer),
                Err(error) => recover(&error).await,
            }
        }
    }

    /// Attends to a client if there is a place for it; else tells it that there is none.
    fn take(&self, stream: TcpStream, peer: SocketAddr) {
        if let Ok(place) = Arc::clone(&self.0.places).try_acquire_owned() {
            // Counted here: a server that stops must not miss a task that was not run yet.
            let begun = self.0.lifecycle.begin();
            let common = Arc::clone(&self.0);
            tokio::spawn(async move {
                attend(&common, stream, peer).await;
                drop((place, begun));
            });
        } else if self.0.tls.is_none()
            && let Ok(turn) = Arc::clone(&self.0.refusals).try_acquire_owned()
        {
            let socket = Socket::new(stream, REFUSAL_TIME);
            tokio::spawn(async move {
                let _turn = turn;
                let _ = timeout(REFUSAL_TIME, refusal::tell(socket)).await;
            });
        }
        // Else it is closed: a handshake would cost more than it is worth to be told.
    }
}

/// HTTP/1.1 within the limits. What is malformed is answered by `hyper` itself, and the connection closed.
fn http(limits: &LimitSettings) -> http1::Builder {
    let header_bytes = limits.header_bytes.clamp(1, MAX_HEADER_BYTES);
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(seconds(limits.header_seconds))
        .max_header_size(header_bytes)
        .max_buf_size(header_bytes.max(READ_AHEAD_BYTES));
    http
}

/// A client that gave up before it was accepted is nobody's concern. Else the system has no room, and gets time to have some: the
/// client waits in its queue.
async fn recover(error: &io::Error) {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    if !matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset) {
        tracing::error!(%error, "a connection could not be accepted");
        tokio::time::sleep(PAUSE).await;
    }
}

/// A client from its first byte to its last.
async fn attend(common: &Common, stream: TcpStream, peer: SocketAddr) {
    // Answers are written as a whole, so that there is nothing to wait for.
    let _ = stream.set_nodelay(true);
    let socket = Socket::new(stream, common.write_time);
    let Some(tls) = &common.tls else { return converse(common, socket, peer).await };
    let shaken = tokio::select! {
        biased;
        shaken = timeout(common.handshake_time, tls.accept(socket)) => shaken,
        () = common.lifecycle.reached(Phase::Closing) => return,
    };
    match shaken {
        Ok(Ok(stream)) => converse(common, stream, peer).await,
        Ok(Err(error)) => tracing::debug!(%error, %peer, "a TLS handshake failed"),
        Err(_) => tracing::debug!(%peer, "a TLS handshake took too long"),
    }
}

/// Requests and answers, until one of the two ends it.
async fn converse(common: &Common, stream: impl AsyncRead + AsyncWrite + Unpin, peer: SocketAddr) {
    let service =
        TowerToHyperService::new(MapRequest::new(common.router.clone(), move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(Peer(peer));
            request
        }));
    let mut connection = pin!(common.http.serve_connection(TokioIo::new(stream), service));
    let ended = tokio::select! {
        biased;
        ended = connection.as_mut() => Some(ended),
        () = common.lifecycle.reached(Phase::Closing) => None,
    };
    let ended = if let Some(ended) = ended {
        ended
    } else {
        connection.as_mut().graceful_shutdown();
        tokio::select! {
            biased;
            ended = connection => ended,
            () = common.lifecycle.reached(Phase::Cut) => return,
        }
    };
    if let Err(error) = ended {
        tracing::debug!(error = &error as &dyn std::error::Error, %peer, "a connection ended early");
    }
}
