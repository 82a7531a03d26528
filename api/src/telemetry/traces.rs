//! Traces: the spans of requests and of what is done for them, for a collector that speaks OTLP.
//!
//! Without a collector nothing of this is there: a span that nobody wants costs a look at a flag. With one, a span that has ended is
//! put into a queue without waiting; `collector` sends them.

use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::http::{HeaderMap, StatusCode};
use opentelemetry::trace::{
    SpanContext, SpanId, Status, TraceContextExt, TraceFlags, TraceId, TraceState, TracerProvider,
};
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SdkTracerProvider, Span as SdkSpan, SpanData, SpanProcessor};
use tokio::sync::mpsc;
use tracing::{Metadata, Span};
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::{Layer, Registry};

use super::collector::Collector;
use super::{SPANS_DROPPED, TelemetryError};

/// How many spans wait to be sent.
const MAX_SPANS: usize = 8_192;
/// The header in which clients say which trace a request belongs to.
const PARENT: &str = "traceparent";

/// What sends traces, for as long as it is not stopped.
#[derive(Debug)]
pub(super) struct Traces {
    provider: SdkTracerProvider,
    collector: Collector,
}

impl Traces {
    /// Sends traces to the collector at a URL, from the runtime that this is called on.
    pub(super) fn start(endpoint: &str) -> Result<Self, TelemetryError> {
        let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
        let resource = Resource::builder().with_service_name("prunus").with_attribute(version).build();
        let (spans, ended) = mpsc::channel(MAX_SPANS);
        let collector = Collector::start(endpoint, &resource, ended)?;
        let provider = SdkTracerProvider::builder().with_resource(resource).with_span_processor(Queue(spans)).build();
        Ok(Self { provider, collector })
    }

    /// What makes traces of spans: of ours alone, so that the client which sends them makes none of its own.
    pub(super) fn layer(&self) -> Box<dyn Layer<Registry> + Send + Sync> {
        let is_ours = |metadata: &Metadata<'_>| metadata.is_span() && metadata.target().starts_with("prunus");
        let layer = tracing_opentelemetry::layer().with_tracer(self.provider.tracer("prunus"));
        let layer = layer.with_location(false).with_threads(false).with_target(false).with_tracked_inactivity(false);
        layer.with_filter(filter_fn(is_ours)).boxed()
    }

    /// Sends what is left, for no longer than so.
    pub(super) async fn stop(self, wait: Duration) {
        self.collector.stop(wait).await;
    }
}

/// Spans that have ended, on their way to be sent.
#[derive(Debug)]
struct Queue(mpsc::Sender<SpanData>);

impl SpanProcessor for Queue {
    fn on_start(&self, _: &mut SdkSpan, _: &Context) {}

    fn on_end(&self, span: SpanData) {
        if span.span_context.is_sampled() && self.0.try_send(span).is_err() {
            SPANS_DROPPED.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn force_flush(&self) -> OTelSdkResult {
        Ok(())
    }

    fn shutdown_with_timeout(&self, _: Duration) -> OTelSdkResult {
        Ok(())
    }
}

/// Makes a request's span one of the trace that its client says it belongs to.
pub(crate) fn take_up_trace(span: &Span, headers: &HeaderMap) {
    let Some(parent) = headers.get(PARENT) else { return };
    if let Some(parent) = parent.to_str().ok().and_then(parent_of) {
        // Fails where there are no traces, and then it does not matter.
        let _ = span.set_parent(Context::new().with_remote_span_context(parent));
    }
}

/// Marks the span of a request at which the server failed.
pub(crate) fn note_status(span: &Span, status: StatusCode) {
    span.set_attribute("http.response.status_code", i64::from(status.as_u16()));
    if status.is_server_error() {
        span.set_status(Status::error(""));
    }
}

/// What the header says, by the W3C's recommendation of Trace Context; `None` where it is not as that wants it.
fn parent_of(header: &str) -> Option<SpanContext> {
    /// The length of a header of version 0. A later one may be longer, and begins alike.
    const VERSION_0_BYTES: usize = 55;
    const MAX_BYTES: usize = 512;
    if header.len() > MAX_BYTES || !header.is_ascii() {
        return None;
    }
    let (known, more) = header.split_at_checked(VERSION_0_BYTES)?;
    let mut parts = known.split('-');
    let (version, trace, span, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let has_lengths = [version, trace, span, flags].map(str::len) == [2, 32, 16, 2] && parts.next().is_none();
    let is_hex = |text: &str| text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let is_known = version != "ff" && (more.is_empty() || (version != "00" && more.starts_with('-')));
    if !has_lengths || !is_known || ![version, trace, span, flags].into_iter().all(is_hex) {
        return None;
    }
    let flags = TraceFlags::new(u8::from_str_radix(flags, 16).ok()?) & TraceFlags::SAMPLED;
    let (trace, span) = (TraceId::from_hex(trace).ok()?, SpanId::from_hex(span).ok()?);
    let context = SpanContext::new(trace, span, flags, true, TraceState::NONE);
    context.is_valid().then_some(context)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";

    fn check(header: &str, expected: Option<bool>) {
        let parent = parent_of(header);
        assert_eq!(parent.as_ref().map(SpanContext::is_sampled), expected, "{header}");
        if let Some(parent) = parent {
            assert_eq!(parent.trace_id().to_string(), TRACE);
            assert_eq!(parent.span_id().to_string(), "b7ad6b7169203331");
        }
    }

    #[test]
    fn a_parent_is_taken_up_as_it_is_written() {
        check(&format!("00-{TRACE}-b7ad6b7169203331-01"), Some(true));
        check(&format!("00-{TRACE}-b7ad6b7169203331-00"), Some(false));
        check(&format!("00-{TRACE}-b7ad6b7169203331-ff"), Some(true));
        check(&format!("cc-{TRACE}-b7ad6b7169203331-01-what-comes"), Some(true));
    }

    #[test]
    fn what_is_no_parent_is_not_taken_up() {
        check("", None);
        check(&format!("ff-{TRACE}-b7ad6b7169203331-01"), None);
        check(&format!("00-{TRACE}-b7ad6b7169203331-01-more"), None);
        check(&format!("00-{TRACE}-b7ad6b7169203331-0"), None);
        check(&format!("00-{}-b7ad6b7169203331-01", "0".repeat(32)), None);
        check(&format!("00-{TRACE}-0000000000000000-01"), None);
        check(&format!("00-{}-b7ad6b7169203331-01", TRACE.to_uppercase()), None);
        check(&format!("0--{TRACE}-b7ad6b716920333-01"), None);
        check(&format!("00-{TRACE}-b7ad6b716920333é-01"), None);
        check(&format!("cc-{TRACE}-b7ad6b7169203331-01-{}", "x".repeat(600)), None);
    }
}
