//! What the server counts of its work, for Prometheus.
//!
//! A layer counts requests by the template of their route, never by their path: there are as many series as there are routes,
//! however many tables there are. What other layers did they have counted themselves, and are asked for it when somebody asks for
//! the metrics: none of it costs a table scan, and nothing waits for it.

mod catalog;
mod exposition;
mod process;
mod storage;
mod store;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::{Body, HttpBody};
use axum::extract::{MatchedPath, Request, State};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use futures::TryStreamExt;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::prometheus_text;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;
use prunus_catalog::Catalog;

/// The content type of [`Metrics::encode`].
pub(crate) const CONTENT_TYPE: &str = prometheus_text::CONTENT_TYPE;

/// Where the buckets of latencies end, in seconds.
const LATENCY_BUCKETS: [f64; 15] =
    [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0];

/// The route of what has none.
pub(crate) const NO_ROUTE: &str = "none";

/// All that is counted. Cheap to clone; all clones count the same.
#[derive(Clone)]
pub(crate) struct Metrics(Arc<Counted>);

struct Counted {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    broken_off: Family<RouteLabels, Counter>,
    latency: Family<RouteLabels, Histogram, fn() -> Histogram>,
    in_flight: Gauge,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    route: String,
    method: &'static str,
    status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabels {
    route: String,
}

impl Metrics {
    /// Of a server of this catalog; none counted yet.
    pub(crate) fn of(catalog: &Catalog) -> Self {
        let mut all = Registry::default();
        all.register_collector(Box::new(process::OfProcess));
        let prunus = all.sub_registry_with_prefix("prunus");
        prunus.register_collector(Box::new(catalog::OfCatalog(catalog.clone())));
        prunus.register_collector(Box::new(process::OfTelemetry));
        Self::counting_in(all)
    }

    /// Of requests alone.
    #[cfg(test)]
    pub(crate) fn of_requests() -> Self {
        Self::counting_in(Registry::default())
    }

    fn counting_in(mut all: Registry) -> Self {
        let registry = all.sub_registry_with_prefix("prunus");
        let version = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        registry.register("build", "The version of the server", version);
        let latency: Family<_, _, fn() -> Histogram> = Family::new_with_constructor(|| Histogram::new(LATENCY_BUCKETS));
        let (requests, broken_off, in_flight) = (Family::default(), Family::default(), Gauge::default());
        registry.register("requests", "Requests whose answer began", requests.clone());
        let help = "Of these, the ones whose answer the server broke off";
        registry.register("answers_broken_off", help, broken_off.clone());
        let help = "How long requests took until their answer began, in seconds";
        registry.register("request_duration_seconds", help, latency.clone());
        registry.register("requests_in_flight", "Requests that are being answered", in_flight.clone());
        Self(Arc::new(Counted { registry: all, requests, broken_off, latency, in_flight }))
    }

    fn count_request(&self, route: String, method: &Method, status: StatusCode, duration: Duration) {
        let labels = RequestLabels { route: route.clone(), method: known_method(method), status: status.as_u16() };
        self.0.requests.get_or_create(&labels).inc();
        self.0.latency.get_or_create(&RouteLabels { route }).observe(duration.as_secs_f64());
    }

    /// All of it in Prometheus' text format. Asks the file system, so it may block for a moment.
    ///
    /// # Errors
    /// None that is known: text in memory takes what is written.
    pub(crate) fn encode(&self) -> Result<String, fmt::Error> {
        let mut text = String::new();
        prometheus_text::encode(&mut text, &self.0.registry)?;
        Ok(text)
    }
}

/// The method, if it is one that a route may have: clients may think of any number of others.
pub(crate) fn known_method(method: &Method) -> &'static str {
    const KNOWN: [(Method, &str); 7] = [
        (Method::GET, "GET"),
        (Method::HEAD, "HEAD"),
        (Method::POST, "POST"),
        (Method::PUT, "PUT"),
        (Method::PATCH, "PATCH"),
        (Method::DELETE, "DELETE"),
        (Method::OPTIONS, "OPTIONS"),
    ];
    KNOWN.into_iter().find(|(known, _)| known == method).map_or("other", |(_, name)| name)
}

/// The middleware that counts requests. A request whose client hangs up is in flight until then, and not answered; one whose answer
/// is sent piece by piece is in flight until the last of it is.
pub(crate) async fn measure(State(metrics): State<Metrics>, request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().map_or(NO_ROUTE, MatchedPath::as_str).to_owned();
    let (method, started) = (request.method().clone(), Instant::now());
    let in_flight = InFlight::begin(&metrics);
    let response = next.run(request).await;
    metrics.count_request(route.clone(), &method, response.status(), started.elapsed());
    // What is there as a whole is answered with its head.
    if response.body().size_hint().exact().is_some() { response } else { followed(response, in_flight, route) }
}

/// The answer, which is looked after until it has ended.
fn followed(response: Response, in_flight: InFlight, route: String) -> Response {
    response
        .map(|body| Body::from_stream(body.into_data_stream().inspect_err(move |_| in_flight.count_broken_off(&route))))
}

/// A request, counted for as long as this lives.
struct InFlight(Metrics);

impl InFlight {
    fn begin(metrics: &Metrics) -> Self {
        metrics.0.in_flight.inc();
        Self(metrics.clone())
    }

    fn count_broken_off(&self, route: &str) {
        let labels = RouteLabels { route: route.to_owned() };
        self.0.0.broken_off.get_or_create(&labels).inc();
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.0.in_flight.dec();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_that_nobody_knows_makes_no_series_of_its_own() {
        assert_eq!(known_method(&Method::PATCH), "PATCH");
        assert_eq!(known_method(&Method::from_bytes(b"BREW").unwrap()), "other");
    }

    #[test]
    fn a_request_is_in_flight_until_it_is_dropped() {
        let metrics = Metrics::of_requests();
        let one = InFlight::begin(&metrics);
        assert_eq!(metrics.0.in_flight.get(), 1);
        drop(one);
        assert_eq!(metrics.0.in_flight.get(), 0);
    }

    #[tokio::test]
    async fn an_answer_in_pieces_is_in_flight_until_its_end_and_counted_if_it_breaks_off() {
        for breaks_off in [false, true] {
            let metrics = Metrics::of_requests();
            let last = if breaks_off { Err("gone") } else { Ok("b") };
            let body = Body::from_stream(futures::stream::iter([Ok("a"), last]));
            let response = followed(Response::new(body), InFlight::begin(&metrics), "/x".to_owned());
            assert_eq!(metrics.0.in_flight.get(), 1);
            assert_eq!(axum::body::to_bytes(response.into_body(), usize::MAX).await.is_err(), breaks_off);
            assert_eq!(metrics.0.in_flight.get(), 0);
            let counted = metrics.encode().unwrap().contains("prunus_answers_broken_off_total{route=\"/x\"} 1");
            assert_eq!(counted, breaks_off);
        }
    }
}
