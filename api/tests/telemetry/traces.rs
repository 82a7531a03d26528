//! The spans of requests, as a collector gets them.

use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::Request;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use prunus::settings::{LogSettings, Settings, TraceSettings};
use prunus_catalog::{Catalog, CatalogOptions};
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::collector::Collector;

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";

async fn post(router: &Router, path: &str, body: &Value, headers: &[(&str, &str)]) -> u16 {
    let request = Request::post(path).header("content-type", "application/json");
    let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    let response = router.clone().oneshot(request.body(Body::from(body.to_string())).unwrap()).await.unwrap();
    let status = response.status().as_u16();
    to_bytes(response.into_body(), usize::MAX).await.unwrap();
    status
}

async fn metric(router: &Router, name: &str) -> u64 {
    let response = router.clone().oneshot(Request::get("/metrics").body(Body::empty()).unwrap()).await.unwrap();
    let page = String::from_utf8(to_bytes(response.into_body(), usize::MAX).await.unwrap().to_vec()).unwrap();
    page.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok()).unwrap()
}

/// The names of the spans below one, at any depth, sorted.
fn below(spans: &[Span], parent: &Span) -> Vec<String> {
    let children = spans.iter().filter(|span| span.parent_span_id == parent.span_id);
    let mut names: Vec<String> =
        children.flat_map(|child| std::iter::once(child.name.clone()).chain(below(spans, child))).collect();
    names.sort();
    names
}

/// One test, since a process has one way for all that it tells.
#[tokio::test(flavor = "multi_thread")]
async fn a_collector_gets_the_spans_of_requests_and_holds_up_none_when_it_hangs() {
    let (collector, url) = Collector::start().await;
    let log = LogSettings { filter: Some("error".to_owned()), ..LogSettings::default() };
    let telemetry = prunus::telemetry::start(&log, &TraceSettings { otlp_endpoint: Some(url) }).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let catalog = Catalog::open(folder.path(), CatalogOptions::default()).await.unwrap();
    let router = prunus::router(catalog, &Settings::default());
    let table = json!({
        "name": "t", "properties": {"verification": "declared"}, "location": "/data/",
        "schema": {"fields": [{"name": "a", "type": "int64"}]},
    });
    assert_eq!(post(&router, "/v1/namespaces", &json!({"name": "n"}), &[]).await, 201);
    assert_eq!(post(&router, "/v1/namespaces/n/tables", &table, &[]).await, 201);
    let commit = json!({"operation": "append", "add": [{"path": "a", "size_bytes": 1}]});
    assert_eq!(post(&router, "/v1/namespaces/n/tables/t/commits", &commit, &[]).await, 201);
    let parent = format!("00-{TRACE}-b7ad6b7169203331-01");
    let (traced, secret) = (("traceparent", parent.as_str()), ("authorization", "Bearer secret"));
    let plan = json!({"filter": "a > 1"});
    let route = "/v1/namespaces/n/tables/t/plan";
    assert_eq!(post(&router, &format!("{route}?x=secret"), &plan, &[traced, secret]).await, 401);
    assert_eq!(post(&router, route, &plan, &[traced]).await, 200);

    let name = "POST /v1/namespaces/{namespace}/tables/{table}/plan";
    let spans = collector.wait_for(name).await;
    let planned = |span: &&Span| span.name == name && !below(&spans, span).is_empty();
    let plan = spans.iter().find(planned).unwrap();
    assert_eq!(below(&spans, plan), ["plan", "plan_bind", "plan_entries", "plan_manifests", "plan_tail"]);
    let trace = u128::from_str_radix(TRACE, 16).unwrap().to_be_bytes();
    assert_eq!((plan.trace_id.as_slice(), plan.kind()), (trace.as_slice(), SpanKind::Server));
    let committed = spans.iter().find(|span| span.name.ends_with("/commits")).unwrap();
    assert_eq!(below(&spans, committed), ["read_files", "transaction", "wait_for_writer"]);
    assert!(!format!("{spans:?}").contains("secret"));
    assert!(metric(&router, "prunus_trace_spans_sent_total").await >= 8);

    collector.hang();
    let began = Instant::now();
    while metric(&router, "prunus_trace_spans_dropped_total").await == 0 {
        for _ in 0..200 {
            assert_eq!(post(&router, "/v1/namespaces/n/tables/t/plan", &json!({"filter": "a > 1"}), &[]).await, 200);
        }
    }
    // Before the collector's time is over, so it was the queue that was full.
    assert!(began.elapsed() < Duration::from_mins(1));
    let began = Instant::now();
    telemetry.stop().await;
    assert!(began.elapsed() < Duration::from_secs(8));
}
