//! A collector of traces: an HTTP server that keeps what it is sent, or takes it and never answers.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::routing::post;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use tokio::net::TcpListener;

#[derive(Clone, Default)]
pub(crate) struct Collector {
    spans: Arc<Mutex<Vec<Span>>>,
    hangs: Arc<AtomicBool>,
}

impl Collector {
    /// Starts it; says where it is.
    pub(crate) async fn start() -> (Self, String) {
        let collector = Self::default();
        let router = Router::new().route("/v1/traces", post(take)).with_state(collector.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        (collector, url)
    }

    /// From now on it answers nobody.
    pub(crate) fn hang(&self) {
        self.hangs.store(true, Ordering::SeqCst);
    }

    /// Waits for a span of this name, and gives all that came so far.
    pub(crate) async fn wait_for(&self, name: &str) -> Vec<Span> {
        for _ in 0..1_000 {
            let spans = self.spans.lock().unwrap().clone();
            if spans.iter().any(|span| span.name == name) {
                return spans;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("there is no span {name} among {:?}", self.spans.lock().unwrap());
    }
}

async fn take(State(collector): State<Collector>, headers: HeaderMap, body: Bytes) {
    assert_eq!(headers["content-type"], "application/x-protobuf");
    if collector.hangs.load(Ordering::SeqCst) {
        std::future::pending::<()>().await;
    }
    let request = ExportTraceServiceRequest::decode(body).unwrap();
    let of_scopes = request.resource_spans.into_iter().flat_map(|resource| resource.scope_spans);
    collector.spans.lock().unwrap().extend(of_scopes.flat_map(|scope| scope.spans));
}
