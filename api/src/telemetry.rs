//! What the server tells of itself while it works: lines of a log, and traces for those who collect them.
//!
//! Neither ever holds up a request. Lines and spans are put into queues that are bounded, and are lost, and counted, where the one who
//! is to take them does not keep up: a log that nobody reads must not stop a catalog.

mod causes;
mod collector;
mod lines;
mod redaction;
mod traces;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tracing_subscriber::filter::{EnvFilter, LevelFilter, ParseError};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, Registry};

use crate::cli::prose::Paint;
use crate::settings::{LogFormat, LogSettings, TraceSettings};

use causes::WithCauses;
use lines::Lines;
use traces::Traces;

pub(crate) use traces::{note_status, take_up_trace};

/// How long the end of a server waits for what is still to be written or sent.
const LAST_WAIT: Duration = Duration::from_secs(2);

/// Lines that were not written.
static LINES_DROPPED: AtomicU64 = AtomicU64::new(0);
/// Spans that were sent to the collector.
static SPANS_SENT: AtomicU64 = AtomicU64::new(0);
/// Spans that were not.
static SPANS_DROPPED: AtomicU64 = AtomicU64::new(0);

/// Why nothing can be told.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// The filter of the log is none.
    #[error("the filter of the log cannot be read")]
    Filter(#[from] ParseError),
    /// The collector's URL is none.
    #[error("the URL of the collector of traces is none of HTTP")]
    Endpoint,
    /// There is no client for the collector.
    #[error("no client for the collector of traces can be made")]
    Client(#[source] reqwest::Error),
    /// The thread that writes the log cannot be started.
    #[error("the thread that writes the log cannot be started")]
    Thread(#[source] std::io::Error),
}

/// The log and the traces of a server, for as long as it runs. What is left is written when it is dropped; spans are sent by
/// [`Telemetry::stop`].
#[derive(Debug)]
pub struct Telemetry {
    lines: Lines,
    traces: Option<Traces>,
}

/// Logs to standard error, and sends traces where that is asked for. Where a log is being written already, that one goes on. Call it
/// on the runtime of the server.
///
/// # Errors
/// [`TelemetryError`] where the settings cannot be followed.
pub fn start(log: &LogSettings, traces: &TraceSettings) -> Result<Telemetry, TelemetryError> {
    let paint = if log.format == LogFormat::Text { Paint::of_stderr() } else { Paint::Plain };
    let filter = log_filter(log)?;
    let lines = Lines::start(std::io::stderr(), paint, &LINES_DROPPED)?;
    let traces = traces.otlp_endpoint.as_deref().map(Traces::start).transpose()?;
    let of_log = log_layer(log.format, &lines, paint).with_filter(filter);
    let of_traces = traces.as_ref().map(Traces::layer);
    // Fails only where there is one.
    let _ = tracing_subscriber::registry().with(of_traces).with(of_log).try_init();
    Ok(Telemetry { lines, traces })
}

impl Telemetry {
    /// Sends the spans that are left, for a moment, and writes the lines that are left.
    pub async fn stop(mut self) {
        if let Some(traces) = self.traces.take() {
            traces.stop(LAST_WAIT).await;
        }
    }
}

impl Drop for Telemetry {
    fn drop(&mut self) {
        self.lines.flush(LAST_WAIT);
    }
}

/// What of the log is written: as is set, else what is worth knowing.
fn log_filter(log: &LogSettings) -> Result<EnvFilter, ParseError> {
    parse_filter(log.filter.as_deref().unwrap_or_default())
}

/// What a filter of the log stands for, over what is worth knowing.
///
/// # Errors
/// Why it is none.
pub(crate) fn parse_filter(filter: &str) -> Result<EnvFilter, ParseError> {
    EnvFilter::builder().with_default_directive(LevelFilter::INFO.into()).parse(filter)
}

type Over<S> = tracing_subscriber::layer::Layered<Option<Box<dyn Layer<S> + Send + Sync>>, S>;

fn log_layer(format: LogFormat, lines: &Lines, paint: Paint) -> Box<dyn Layer<Over<Registry>> + Send + Sync> {
    let layer = tracing_subscriber::fmt::layer().with_writer(lines.writer()).with_ansi(paint == Paint::Ansi);
    match format {
        LogFormat::Text => layer.boxed(),
        // Each span is there once; the request's is the first.
        LogFormat::Json => layer.json().with_current_span(false).map_event_format(WithCauses).boxed(),
    }
}

/// What was sent and what was lost since the process was started: lines and spans that were not taken, and spans that were.
pub(crate) struct Told {
    pub(crate) lines_dropped: u64,
    pub(crate) spans_sent: u64,
    pub(crate) spans_dropped: u64,
}

impl Told {
    pub(crate) fn so_far() -> Self {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Self { lines_dropped: read(&LINES_DROPPED), spans_sent: read(&SPANS_SENT), spans_dropped: read(&SPANS_DROPPED) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(set: Option<&str>) -> Result<String, ParseError> {
        let log = LogSettings { filter: set.map(str::to_owned), ..LogSettings::default() };
        log_filter(&log).map(|filter| filter.to_string())
    }

    #[test]
    fn what_is_worth_knowing_is_logged_where_nothing_is_set() {
        assert_eq!(filter(None).unwrap(), "info");
        assert_eq!(filter(Some("warn")).unwrap(), "warn");
    }

    #[test]
    fn a_filter_that_is_none_is_an_error() {
        assert!(filter(Some("prunus=loud")).is_err());
    }
}
