//! The collector of traces, and how spans are sent to it: some at once, as protobuf over HTTP. What it does not take is lost, and
//! counted: it is for those who look into a server, not for what the server answers.

use std::sync::atomic::Ordering;
use std::time::Duration;

use opentelemetry::trace::SpanKind;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::transform::common::tonic::ResourceAttributesWithSchema;
use opentelemetry_proto::transform::trace::tonic::group_spans_by_resource_and_scope;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SpanData;
use prost::Message;
use reqwest::{Client, Url};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout, timeout_at};

use super::{SPANS_DROPPED, SPANS_SENT, TelemetryError};

/// How many spans are sent at once.
const MAX_SPANS_AT_ONCE: usize = 512;
/// How long is waited for more of them.
const GATHERING: Duration = Duration::from_millis(500);
/// How long the collector may take for them.
const MAX_TIME: Duration = Duration::from_secs(10);
/// How long it may take to reach it.
const MAX_CONNECT_TIME: Duration = Duration::from_secs(3);
/// Where collectors take traces.
const PATH: &str = "v1/traces";
/// The name of the spans of requests, and the attributes that their names in traces are made of.
const REQUEST: &str = "request";
const METHOD: &str = "method";
const ROUTE: &str = "route";

/// The way to the task that sends spans.
#[derive(Debug)]
pub(super) struct Collector {
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

/// What the task has.
struct Sender {
    client: Client,
    url: Url,
    resource: ResourceAttributesWithSchema,
    ended: mpsc::Receiver<SpanData>,
    /// What is to be sent next.
    batch: Vec<SpanData>,
}

impl Collector {
    /// Sends the spans that come to a URL, in the name of a resource.
    pub(super) fn start(
        endpoint: &str,
        resource: &Resource,
        ended: mpsc::Receiver<SpanData>,
    ) -> Result<Self, TelemetryError> {
        let url = url_of(endpoint).ok_or(TelemetryError::Endpoint)?;
        let client = Client::builder().timeout(MAX_TIME).connect_timeout(MAX_CONNECT_TIME);
        let client = client.build().map_err(TelemetryError::Client)?;
        let sender = Sender { client, url, resource: resource.into(), ended, batch: Vec::new() };
        let (stop, stopped) = oneshot::channel();
        Ok(Self { stop, task: tokio::spawn(sender.run(stopped)) })
    }

    /// Sends what is left, for no longer than so.
    pub(super) async fn stop(self, wait: Duration) {
        // It ends of itself where it has ended already.
        let _ = self.stop.send(());
        let _ = timeout(wait, self.task).await;
    }
}

/// The URL that spans go to: below what is given, unless that is it already.
fn url_of(endpoint: &str) -> Option<Url> {
    let mut url: Url = endpoint.parse().ok()?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return None;
    }
    let path = url.path().trim_end_matches('/');
    if !path.ends_with(PATH) {
        url.set_path(&format!("{path}/{PATH}"));
    }
    Some(url)
}

impl Sender {
    async fn run(mut self, mut stopped: oneshot::Receiver<()>) {
        loop {
            tokio::select! {
                biased;
                _ = &mut stopped => break,
                () = gather(&mut self.ended, &mut self.batch) => {}
            }
            if self.batch.is_empty() {
                return;
            }
            self.send().await;
        }
        self.ended.close();
        while self.add_waiting() {
            self.send().await;
        }
    }

    /// Adds what waits to what is to be sent next; says whether that is anything.
    fn add_waiting(&mut self) -> bool {
        let room = MAX_SPANS_AT_ONCE.saturating_sub(self.batch.len());
        self.batch.extend(std::iter::from_fn(|| self.ended.try_recv().ok()).take(room));
        !self.batch.is_empty()
    }

    async fn send(&mut self) {
        let batch = std::mem::take(&mut self.batch);
        // Counted as lost until they have come, so that they are also where nobody waits for that any more.
        let mut sending = Sending { spans: batch.len() as u64, came: false };
        let batch: Vec<SpanData> = batch.into_iter().map(named).collect();
        let resource_spans = group_spans_by_resource_and_scope(batch, &self.resource);
        let body = ExportTraceServiceRequest { resource_spans }.encode_to_vec();
        let request = self.client.post(self.url.clone()).header("content-type", "application/x-protobuf").body(body);
        match request.send().await.and_then(reqwest::Response::error_for_status) {
            Ok(_) => sending.came = true,
            Err(error) => {
                let error = error.without_url();
                tracing::debug!(error = &error as &dyn std::error::Error, "spans were not sent");
            }
        }
    }
}

/// Spans on their way.
struct Sending {
    spans: u64,
    came: bool,
}

impl Drop for Sending {
    fn drop(&mut self) {
        let count = if self.came { &SPANS_SENT } else { &SPANS_DROPPED };
        count.fetch_add(self.spans, Ordering::Relaxed);
    }
}

/// Waits for spans, and a moment longer for more of them; none if there will be none. What has come stays where this is dropped.
async fn gather(ended: &mut mpsc::Receiver<SpanData>, batch: &mut Vec<SpanData>) {
    ended.recv_many(batch, MAX_SPANS_AT_ONCE).await;
    let end = Instant::now() + GATHERING;
    while (1..MAX_SPANS_AT_ONCE).contains(&batch.len()) {
        let room = MAX_SPANS_AT_ONCE - batch.len();
        match timeout_at(end, ended.recv_many(batch, room)).await {
            Ok(1..) => {}
            Ok(0) | Err(_) => break,
        }
    }
}

/// A span of a request as servers' are named, by method and route.
fn named(mut span: SpanData) -> SpanData {
    if span.name == REQUEST {
        let value = |key: &str| {
            let attribute = span.attributes.iter().find(|attribute| attribute.key.as_str() == key);
            attribute.map(|attribute| attribute.value.to_string()).unwrap_or_default()
        };
        span.name = format!("{} {}", value(METHOD), value(ROUTE)).into();
        span.span_kind = SpanKind::Server;
    }
    span
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_go_below_the_url_that_is_given() {
        let check = |endpoint: &str, expected: Option<&str>| {
            assert_eq!(url_of(endpoint).map(String::from).as_deref(), expected, "{endpoint}");
        };
        check("http://h:4318", Some("http://h:4318/v1/traces"));
        check("https://h/otlp/", Some("https://h/otlp/v1/traces"));
        check("http://h/v1/traces", Some("http://h/v1/traces"));
        check("h:4318", None);
        check("file:///tmp", None);
        check("", None);
    }
}
