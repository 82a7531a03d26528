//! The causes of errors in lines of JSON.
//!
//! The lines for people have them; the library's JSON has the error itself alone.

use std::error::Error;
use std::fmt;

use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

/// Writes a line of JSON, and into its fields the causes of each error that it has, as `error.sources`.
pub(super) struct WithCauses<F>(pub(super) F);

impl<S, N, F> FormatEvent<S, N> for WithCauses<F>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
    F: FormatEvent<S, N>,
{
    fn format_event(&self, context: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let mut causes = Causes(Map::new());
        event.record(&mut causes);
        if causes.0.is_empty() {
            return self.0.format_event(context, writer, event);
        }
        let mut line = String::new();
        self.0.format_event(context, Writer::new(&mut line), event)?;
        match serde_json::from_str(&line) {
            Ok(line) => writeln!(writer, "{}", causes.added_to(line)),
            Err(_) => writer.write_str(&line),
        }
    }
}

/// By the names of their fields.
struct Causes(Map<String, Value>);

impl Causes {
    fn added_to(self, mut line: Value) -> Value {
        if let Some(fields) = line.get_mut("fields").and_then(Value::as_object_mut) {
            fields.extend(self.0);
        }
        line
    }
}

impl Visit for Causes {
    fn record_debug(&mut self, _: &Field, _: &dyn fmt::Debug) {}

    fn record_error(&mut self, field: &Field, error: &(dyn Error + 'static)) {
        let causes = std::iter::successors(error.source(), |cause: &&(dyn Error + 'static)| (*cause).source());
        let causes: Vec<Value> = causes.map(|cause| cause.to_string().into()).collect();
        if !causes.is_empty() {
            self.0.insert(format!("{field}.sources"), causes.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use tracing_subscriber::layer::SubscriberExt;

    use super::*;
    use crate::cli::prose::Paint;
    use crate::settings::LogFormat;
    use crate::telemetry::lines::Lines;
    use crate::telemetry::{LAST_WAIT, LINES_DROPPED, log_layer};

    #[derive(Debug, thiserror::Error)]
    #[error("the outer")]
    struct Outer(#[source] std::fmt::Error);

    #[test]
    fn an_error_in_json_has_its_causes() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let lines = Lines::start(file.reopen().unwrap(), Paint::Plain, &LINES_DROPPED).unwrap();
        let layer = log_layer(LogFormat::Json, &lines, Paint::Plain);
        let subscriber = tracing_subscriber::registry().with(None).with(layer);
        tracing::subscriber::with_default(subscriber, || {
            let error = Outer(std::fmt::Error);
            tracing::error!(error = &error as &dyn Error, "it failed");
        });
        lines.flush(LAST_WAIT);
        let line: Value = serde_json::from_slice(&std::fs::read(file.path()).unwrap()).unwrap();
        assert_eq!((&line["fields"]["error"], &line["level"]), (&"the outer".into(), &"ERROR".into()));
        assert_eq!(line["fields"]["error.sources"], serde_json::json!([std::fmt::Error.to_string()]));
    }
}
