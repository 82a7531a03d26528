//! All routes on one page, and the layers around them.

use std::any::Any;
use std::sync::Arc;

use axum::extract::Request;
use axum::middleware::{from_fn, from_fn_with_state, map_request};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Router};
use prunus_catalog::Catalog;
use tower_http::CompressionLevel;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{Predicate, SizeAbove};
use tower_http::request_id::{MakeRequestUuid, PropagateRequestIdLayer, SetRequestIdLayer};
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::access::{Access, Guard, admit};
use crate::iceberg::CancelledPlans;
use crate::metrics::{self, Metrics};
use crate::problem::{self, Problem};
use crate::routes::{
    self, audits, changes, columns, commits, config, docs, expire, files, health, journal, manifests, namespaces,
    orphans, plan, problems, regroup, snapshots, tables, tags, tokens, transactions,
};
use crate::server::gate::{self, Gate};
use crate::server::lifecycle::Lifecycle;
use crate::settings::Settings;
use crate::{accept, iceberg, idempotency, openapi, request_id, request_log, routed, unread};

/// The largest body that is read, once it is decompressed, whatever is set.
pub const MAX_BODY_BYTES: usize = 64 << 20;

/// The smallest body that is compressed.
const MIN_COMPRESSED_BYTES: u16 = 1024;

/// The HTTP API over a catalog, for who has a listener of their own. What of the settings is of a listener has no meaning here.
///
/// Whether requests need a token is what [`TokenRule`](crate::settings::TokenRule) says. **By default they need none**, as on a loopback
/// address: those whose `Host` is no loopback name, or that a proxy says to have passed on, are refused, and no more than these headers,
/// which anybody can write, keeps others out. Where anybody but this machine reaches the router, set `TokenRule::Required`, and open the
/// catalog with the options of these settings: they say where files may lie.
pub fn router(catalog: Catalog, settings: &Settings) -> Router {
    router_of(catalog, settings, settings.access.of_no_listener(), Lifecycle::default())
}

/// The same of a server that may stop, where it is settled whether requests need a token.
pub(crate) fn router_of(catalog: Catalog, settings: &Settings, access: Access, lifecycle: Lifecycle) -> Router {
    let limits = Extension(Arc::new(settings.limits.clone()));
    // Inside the gate, which says what holds for bodies, since it reads them.
    let keep_replies = from_fn_with_state(catalog.clone(), idempotency::keep_replies);
    let (routes, mut described) = routes().split_for_parts();
    let (iceberg, described_of_iceberg) = iceberg::routes().split_for_parts();
    let routes = routes.merge(iceberg);
    described.paths.paths.extend(described_of_iceberg.paths.paths);
    let guard = Arc::new(Guard::new(access, catalog.clone(), &described.paths));
    let leave_what_is_routed = from_fn_with_state(Arc::new(described.paths), routed::leave_what_is_routed);
    let routes = routes.fallback(no_such_route).method_not_allowed_fallback(method_not_allowed);
    let metrics = Metrics::of(&catalog);
    let routes = routes.with_state(catalog).layer(keep_replies);
    let routes = routes.layer(limits).layer(Extension(Arc::new(CancelledPlans::default())));
    let routes = routes.layer(from_fn(accept::require_format)).layer(from_fn(unread::refuse));
    let gate = Arc::new(Gate::new(&settings.limits, lifecycle));
    let routes = routes.layer(from_fn_with_state(guard, admit)).layer(leave_what_is_routed);
    with_layers(routes.layer(from_fn_with_state(gate, gate::pass)), metrics)
}

/// All routes, each with what the document says of it. Their methods and paths stand in `the_routes_are_these` below.
fn routes() -> OpenApiRouter<Catalog> {
    OpenApiRouter::with_openapi(openapi::opening())
        // The server itself.
        .routes(routes!(health::healthz))
        .routes(routes!(health::readyz))
        .routes(routes!(health::metrics))
        .routes(routes!(config::get))
        .routes(routes!(routes::openapi::get))
        .routes(routes!(docs::find))
        .routes(routes!(docs::index))
        .routes(routes!(docs::file))
        .routes(routes!(problems::list))
        .routes(routes!(problems::get))
        // Who may use it.
        .routes(routes!(tokens::list, tokens::create))
        .routes(routes!(tokens::revoke))
        // Namespaces.
        .routes(routes!(namespaces::list, namespaces::create))
        .routes(routes!(namespaces::get, namespaces::delete))
        // Tables.
        .routes(routes!(tables::list, tables::create))
        .routes(routes!(tables::get, tables::alter, tables::delete))
        // Changes of tables.
        .routes(routes!(commits::create))
        .routes(routes!(transactions::create))
        // Scans of a table.
        .routes(routes!(plan::plan))
        .routes(routes!(plan::explain))
        // How a table is laid out.
        .routes(routes!(regroup::regroup))
        // Whether what is known of files is true.
        .routes(routes!(audits::list, audits::start))
        .routes(routes!(audits::get, audits::cancel))
        // What is registered.
        .routes(routes!(snapshots::list))
        .routes(routes!(snapshots::get))
        .routes(routes!(files::list))
        .routes(routes!(columns::list))
        .routes(routes!(manifests::list))
        .routes(routes!(manifests::get))
        // History.
        .routes(routes!(changes::list))
        .routes(routes!(commits::roll_back))
        .routes(routes!(tags::list))
        .routes(routes!(tags::get, tags::set, tags::delete))
        .routes(routes!(expire::expire))
        .routes(routes!(orphans::list))
        // Who changed what.
        .routes(routes!(journal::list))
}

/// What the routes say of themselves.
pub(crate) fn described() -> OpenApi {
    routes().into_openapi()
}

/// The layers that are around what refuses requests, innermost first: what stands below another goes around it.
fn with_layers(routes: Router, metrics: Metrics) -> Router {
    routes
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn(problem::render))
        .layer(compression())
        .layer(PropagateRequestIdLayer::x_request_id())
        // Failures are logged by `problem::render`, which knows their causes.
        .layer(from_fn(request_log::tell))
        .layer(SetRequestIdLayer::x_request_id(MakeRequestUuid))
        .layer(map_request(request_id::drop_unusable))
        .layer(from_fn_with_state(metrics.clone(), metrics::measure))
        .layer(Extension(metrics))
}

/// Compresses what is worth it for those who take it, pieces as they come.
fn compression() -> CompressionLayer<impl Predicate> {
    CompressionLayer::new().quality(CompressionLevel::Fastest).compress_when(SizeAbove::new(MIN_COMPRESSED_BYTES))
}

async fn no_such_route(request: Request) -> Problem {
    Problem::NoSuchRoute(request.uri().path().to_owned())
}

async fn method_not_allowed(request: Request) -> Problem {
    Problem::MethodNotAllowed(request.method().to_string())
}

#[expect(clippy::needless_pass_by_value, reason = "the signature is that of the layer")]
fn panicked(payload: Box<dyn Any + Send>) -> Response {
    Problem::panicked(payload.as_ref()).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::{Body, to_bytes};
    use axum::http::{Method, StatusCode, header};
    use axum::routing::get;
    use prunus_catalog::CatalogOptions;
    use serde_json::{Value, json};
    use tempfile::TempDir;
    use tower::ServiceExt;

    const PLAN: &str = "/v1/namespaces/n/tables/t/plan";
    const COMMITS: &str = "/v1/namespaces/n/tables/t/commits";

    /// A router over a catalog of its own.
    struct Api {
        router: Router,
        _folder: TempDir,
    }

    impl Api {
        async fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let catalog = Catalog::open(folder.path(), CatalogOptions::default()).await.unwrap();
            Self { router: router(catalog, &Settings::default()), _folder: folder }
        }

        /// With table `n.t`, whose files are not read: a string, an integer and a date column.
        async fn with_table() -> Self {
            let api = Self::new().await;
            assert_eq!(api.post("/v1/namespaces", &json!({"name": "n"})).await.0, 201);
            let table = json!({
                "name": "t", "location": "/data/", "properties": {"verification": "declared"},
                "schema": {"fields": [
                    {"name": "city", "type": "string"},
                    {"name": "amount", "type": "int64", "nullable": false},
                    {"name": "day", "type": "date"},
                ]},
            });
            let (status, table) = api.post("/v1/namespaces/n/tables", &table).await;
            assert_eq!((status, &table["schema"]["fields"][2]["id"]), (201, &json!(3)), "{table}");
            api
        }

        /// With one commit of three files; nothing is declared of the last.
        async fn with_files() -> Self {
            let api = Self::with_table().await;
            let file = |name: &str, min: i64, max: i64| {
                json!({"path": name, "size_bytes": 100, "row_count": 10, "columns": {
                    "amount": {"min": min, "max": max, "max_precision": "exact", "null_count": 0},
                    "day": {"min": "2024-01-01", "max": "2024-01-31", "null_count": 2},
                }})
            };
            let commit = json!({"operation": "append", "summary": {"by": "test"}, "add": [
                file("a.parquet", 0, 9), file("b.parquet", 10, 19), {"path": "day=2024-02-01/c.parquet", "size_bytes": 7},
            ]});
            let (status, committed) = api.post(COMMITS, &commit).await;
            assert_eq!(status, 201, "{committed}");
            api
        }

        async fn send(&self, request: Request) -> (Response<()>, Value) {
            let response = self.router.clone().oneshot(request).await.unwrap();
            let (parts, body) = response.into_parts();
            let bytes = to_bytes(body, MAX_BODY_BYTES).await.unwrap();
            let json = if bytes.is_empty() { Value::Null } else { serde_json::from_slice(&bytes).unwrap() };
            if parts.status.as_u16() >= 400 {
                assert_eq!(parts.headers[header::CONTENT_TYPE], "application/problem+json");
                assert_eq!(json["status"], parts.status.as_u16());
                assert_eq!(json["request_id"], parts.headers["x-request-id"].to_str().unwrap());
            }
            (Response::from_parts(parts, ()), json)
        }

        async fn call(&self, method: Method, path: &str) -> (u16, Value) {
            let request = Request::builder().method(method).uri(path).body(Body::empty()).unwrap();
            let (response, json) = self.send(request).await;
            (response.status().as_u16(), json)
        }

        async fn get(&self, path: &str) -> (u16, Value) {
            self.call(Method::GET, path).await
        }

        async fn post_text(&self, path: &str, text: String) -> (u16, Value) {
            let request = Request::builder().method(Method::POST).uri(path);
            let request = request.header(header::CONTENT_TYPE, "application/json").body(Body::from(text)).unwrap();
            let (response, json) = self.send(request).await;
            (response.status().as_u16(), json)
        }

        async fn post(&self, path: &str, body: &Value) -> (u16, Value) {
            self.post_text(path, body.to_string()).await
        }
    }

    /// The names of the files of a plan or listing.
    fn names(answer: &Value) -> Vec<&str> {
        let files = answer["files"].as_array().unwrap();
        files.iter().map(|file| file["path"].as_str().unwrap().rsplit('/').next().unwrap()).collect()
    }

    #[tokio::test]
    async fn a_plan_lists_the_files_that_may_match() {
        let api = Api::with_files().await;
        let (status, plan) = api.post(PLAN, &json!({"filter": "amount >= 10 AND lower(city) = 'x'"})).await;
        assert_eq!((status, names(&plan)), (200, vec!["b.parquet", "c.parquet"]), "{plan}");
        assert_eq!(plan["files"][0]["residual"], "lower(city) = 'x'");
        assert_eq!(plan["files"][1]["row_count"], Value::Null);
        assert_eq!(plan["files"][1]["partition"], json!({"day": "2024-02-01"}));
        let metrics = &plan["metrics"];
        assert_eq!((&metrics["files_pruned"], &metrics["bytes_kept"]), (&json!(1), &json!(107)));
        assert_eq!(metrics["conjuncts"][1]["prunable"], false);
        assert!(metrics["conjuncts"][1]["reason"].is_string());

        let (_, all) = api.post(PLAN, &json!({"filter": "amount BETWEEN 10 AND 19 AND day < DATE '2024-02-01'"})).await;
        assert_eq!((names(&all), &all["files"][0]["verdict"]), (vec!["b.parquet"], &json!("some")));
        let (_, all) = api.post(PLAN, &json!({"filter": "amount BETWEEN 10 AND 19"})).await;
        assert_eq!(all["files"][0]["verdict"], "all");
        assert_eq!(all["files"][0]["residual"], Value::Null);
    }

    #[tokio::test]
    async fn a_residual_is_in_the_language_of_the_filter() {
        let api = Api::with_files().await;
        let sql = json!({"filter": "amount >= 10 AND amount < 15"});
        let (_, plan) = api.post(PLAN, &sql).await;
        assert_eq!(names(&plan), ["b.parquet", "c.parquet"]);
        assert_eq!(
            (&plan["files"][0]["residual"], &plan["files"][1]["residual"]),
            (&json!("amount < 15"), &sql["filter"])
        );

        let test = |kind: &str, value: i64| json!({"type": kind, "term": "amount", "value": value});
        let iceberg = json!({"filter": {"type": "and", "left": test("gt-eq", 10), "right": test("lt", 15)}});
        let (status, plan) = api.post(PLAN, &iceberg).await;
        assert_eq!((status, names(&plan)), (200, vec!["b.parquet", "c.parquet"]), "{plan}");
        assert_eq!(plan["files"][0]["residual"], test("lt", 15));
        assert_eq!(plan["files"][1]["residual"], iceberg["filter"]);
        let (_, plan) = api.post(PLAN, &json!({"filter": test("lt", 100)})).await;
        assert_eq!((&plan["files"][0]["verdict"], &plan["files"][0]["residual"]), (&json!("all"), &Value::Null));
        let (_, plan) = api.post(PLAN, &json!({"filter": true})).await;
        assert_eq!((names(&plan).len(), &plan["files"][2]["residual"]), (3, &Value::Null));
        let (_, plan) = api.post(PLAN, &json!({"filter": iceberg["filter"], "prune": false})).await;
        assert_eq!((names(&plan).len(), &plan["files"][0]["residual"]), (3, &iceberg["filter"]));
    }

    #[tokio::test]
    async fn a_file_is_explained() {
        const EXPLAIN: &str = "/v1/namespaces/n/tables/t/explain";
        let api = Api::with_files().await;
        let request = json!({"path": "a.parquet", "filter": "amount >= 10 AND day < DATE '2024-03-01'"});
        let (status, explained) = api.post(EXPLAIN, &request).await;
        assert_eq!(
            (status, &explained["verdict"], &explained["pruned_by"]),
            (200, &json!("none"), &json!(0)),
            "{explained}"
        );
        let amount = &explained["conjuncts"][0];
        assert_eq!(amount["outcomes"], json!(["false"]));
        assert_eq!(amount["sentence"], "`amount >= 10` is false on every row: the largest `amount` is 9");
        assert_eq!(amount["statistics"]["amount"]["max"], 9);
        assert_eq!(explained["conjuncts"][1]["outcomes"], json!(["true", "null"]));

        let request = json!({"path": "x.parquet", "filter": "amount >= 10"});
        assert_eq!(api.post(EXPLAIN, &request).await.0, 404);
        assert_eq!(api.post(EXPLAIN, &json!({"filter": "amount >= 10"})).await.0, 400);
        assert_eq!(api.post(EXPLAIN, &json!({"path": "a.parquet", "filters": "amount >= 10"})).await.0, 400);
        assert_eq!(api.post(EXPLAIN, &json!({"path": "a.parquet", "filter": "amont >= 10"})).await.0, 422);
    }

    #[tokio::test]
    async fn pages_join_to_the_whole_and_pin_their_snapshot() {
        let api = Api::with_files().await;
        let request = |token: &Value| json!({"filter": "amount IS NOT NULL", "page_size": 2, "page_token": token});
        let (_, first) = api.post(PLAN, &request(&Value::Null)).await;
        let files_url = "/v1/namespaces/n/tables/t/files?page_size=2";
        let (_, first_listing) = api.get(files_url).await;
        let more = json!({"operation": "append", "add": [{"path": "d.parquet", "size_bytes": 1}]});
        assert_eq!(api.post(COMMITS, &more).await.0, 201);

        let (_, second) = api.post(PLAN, &request(&first["next_page_token"])).await;
        assert_eq!((names(&first), names(&second)), (vec!["a.parquet", "b.parquet"], vec!["c.parquet"]));
        assert!(first["metrics"].is_object() && second.get("metrics").is_none());
        assert_eq!((&second["snapshot_id"], second.get("next_page_token")), (&json!(1), None));

        let token = first_listing["next_page_token"].as_str().unwrap();
        let (_, listing) = api.get(&format!("{files_url}&page_token={token}")).await;
        assert_eq!((names(&listing), listing.get("next_page_token")), (vec!["c.parquet"], None));

        let other = json!({"filter": "amount IS NULL", "page_token": first["next_page_token"]});
        let (status, problem) = api.post(PLAN, &other).await;
        assert_eq!((status, &problem["type"]), (400, &json!("/problems/foreign-page-token")));
    }

    #[tokio::test]
    async fn a_file_is_shown_with_its_statistics() {
        let api = Api::with_files().await;
        let (_, file) = api.get("/v1/namespaces/n/tables/t/files?path=b.parquet").await;
        assert_eq!((&file["row_count"], &file["added_snapshot"]), (&json!(10), &json!(1)));
        assert_eq!(
            file["columns"]["amount"],
            json!({
                "min": 10, "max": 19, "min_precision": "bound", "max_precision": "exact", "null_count": 0, "nan_count": null,
                "provenance": {"min": "declared", "max": "declared", "null_count": "declared"},
            })
        );
        assert_eq!(api.get("/v1/namespaces/n/tables/t/files?path=x.parquet").await.0, 404);
        assert_eq!(api.get("/v1/namespaces/n/tables/t/files?path=b.parquet&page_size=1").await.0, 422);
    }

    #[tokio::test]
    async fn tables_namespaces_and_snapshots_are_listed_and_dropped() {
        let api = Api::with_files().await;
        let (_, namespaces) = api.get("/v1/namespaces").await;
        assert_eq!(namespaces["namespaces"][0]["name"], "n");
        let (_, tables) = api.get("/v1/namespaces/n/tables").await;
        assert_eq!(tables, json!({"tables": [{"namespace": "n", "name": "t"}]}));
        let (_, table) = api.get("/v1/namespaces/n/tables/t").await;
        assert_eq!((&table["files"], &table["rows"], &table["current_snapshot"]), (&json!(3), &json!(20), &json!(1)));
        let (_, snapshots) = api.get("/v1/namespaces/n/tables/t/snapshots").await;
        let (_, snapshot) = api.get("/v1/namespaces/n/tables/t/snapshots/1").await;
        assert_eq!(snapshots, json!({"snapshots": [snapshot]}));
        assert_eq!(snapshot["summary"], json!({"by": "test"}));

        let (status, problem) = api.call(Method::DELETE, "/v1/namespaces/n").await;
        assert_eq!((status, &problem["type"]), (409, &json!("/problems/namespace-not-empty")));
        assert_eq!(api.call(Method::DELETE, "/v1/namespaces/n/tables/t").await, (204, Value::Null));
        assert_eq!(api.call(Method::DELETE, "/v1/namespaces/n").await.0, 204);
        assert_eq!(api.get("/v1/namespaces/n").await.0, 404);
    }

    #[tokio::test]
    async fn a_path_that_is_live_already_conflicts() {
        let api = Api::with_files().await;
        let again = json!({"operation": "append", "add": [{"path": "/data/a.parquet", "size_bytes": 100}]});
        let (status, problem) = api.post(COMMITS, &again).await;
        assert_eq!((status, &problem["current_snapshot"]), (409, &json!(1)));
        assert_eq!(problem["conflicts"][0]["reason"], "already_live");
    }

    #[tokio::test]
    async fn the_faults_of_a_filter_name_their_columns() {
        let api = Api::with_files().await;
        let (status, problem) = api.post(PLAN, &json!({"filter": "amont = 1 AND day > 5"})).await;
        assert_eq!((status, &problem["type"]), (422, &json!("/problems/invalid-filter")));
        let columns: Vec<_> = problem["faults"].as_array().unwrap().iter().map(|fault| &fault["column"]).collect();
        assert_eq!(columns, ["amont", "day"], "{problem}");
        assert_eq!(problem["faults"][0]["message"], "unknown column `amont`, did you mean `amount`?");
    }

    #[tokio::test]
    async fn errors_have_the_status_of_their_kind() {
        let api = Api::with_files().await;
        let plan = async |body: Value| api.post(PLAN, &body).await.0;
        assert_eq!(plan(json!({"snapshot_id": 9})).await, 404);
        assert_eq!(plan(json!({"snapshot_id": 0})).await, 200);
        let (status, problem) = api.post(PLAN, &json!({"as_of": "2001-01-01T00:00:00Z"})).await;
        assert_eq!((status, &problem["detail"]), (404, &json!("snapshot at `2001-01-01T00:00:00Z` does not exist")));
        assert_eq!(plan(json!({"select": ["nope"]})).await, 422);
        assert_eq!(plan(json!({"filter": {"type": "eq"}})).await, 422);
        assert_eq!(plan(json!({"filters": "a = 1"})).await, 400);
        assert_eq!(plan(json!({"page_token": "00"})).await, 400);
        assert_eq!(api.post_text(PLAN, "{\"filter\": ".to_owned()).await.0, 400);
        assert_eq!(api.post("/v1/namespaces/n/tables/none/plan", &json!({})).await.0, 404);
        assert_eq!(api.post("/v1/namespaces", &json!({"name": "n"})).await.0, 409);
        assert_eq!(api.post("/v1/namespaces", &json!({"name": "a..b"})).await.0, 422);
        assert_eq!(api.get("/v1/namespaces/n/tables/t/snapshots/9").await.0, 404);
        assert_eq!(api.get("/v1/namespaces/n/tables/t/snapshots/x").await.0, 400);
        assert_eq!(api.get("/v1/namespaces/n/tables/t/files?sise=1").await.0, 400);
        assert_eq!(api.get("/v1/namespaces/n/tables/t/files?page_size=0").await.0, 422);
        assert_eq!(api.get("/v1/namespaces/a%2Fb").await.0, 400);
        for path in ["/v1/namespaces/%FF", "/problems/%FF", "/docs/%FF"] {
            assert_eq!(api.get(path).await.0, 400, "{path}");
        }
        assert_eq!(api.get("/v2").await.0, 404);
        assert_eq!(api.call(Method::PUT, "/v1/namespaces/n").await.0, 405);
    }

    #[tokio::test]
    async fn unknown_fields_are_named() {
        let api = Api::with_table().await;
        let (status, problem) =
            api.post(COMMITS, &json!({"operation": "append", "add": [{"path": "a", "rows": 1}]})).await;
        assert_eq!((status, &problem["faults"][0]["at"]), (400, &json!("add[0].rows")));
        let message = problem["faults"][0]["message"].as_str().unwrap();
        assert!(message.starts_with("unknown field `rows`, expected one of `path`"), "{message}");
    }

    #[tokio::test]
    async fn faults_of_a_nested_type_are_named() {
        let api = Api::with_table().await;
        let nested = json!({"type": "struct", "fields": [{"name": "x", "typ": "int32"}]});
        let table = json!({"name": "u", "schema": {"fields": [{"name": "s", "type": nested}]}});
        let (status, problem) = api.post("/v1/namespaces/n/tables", &table).await;
        assert_eq!((status, &problem["faults"][0]["at"]), (400, &json!("schema.fields[0].type.fields[0].typ")));
        let message = problem["faults"][0]["message"].as_str().unwrap();
        assert!(message.starts_with("unknown field `typ`, expected one of"), "{message}");
    }

    #[tokio::test]
    async fn a_body_is_read_up_to_the_limit() {
        let api = Api::new().await;
        let body = |bytes: usize| format!("{{}}{}", " ".repeat(bytes - 2));
        assert_eq!(api.post_text("/v1/namespaces", body(MAX_BODY_BYTES)).await.0, 400);
        assert_eq!(api.post_text("/v1/namespaces", body(MAX_BODY_BYTES + 1)).await.0, 413);
        let request =
            Request::post("/v1/namespaces").header(header::CONTENT_TYPE, "text/csv").body(Body::empty()).unwrap();
        assert_eq!(api.send(request).await.0.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
    }

    #[tokio::test]
    async fn a_request_keeps_its_id() {
        let api = Api::new().await;
        let request = Request::get("/healthz").header("x-request-id", "mine").body(Body::empty()).unwrap();
        assert_eq!(api.send(request).await.0.headers()["x-request-id"], "mine");
        let request = Request::get("/none").body(Body::empty()).unwrap();
        let (response, problem) = api.send(request).await;
        assert_eq!(response.headers()["x-request-id"].len(), 36);
        assert_eq!(problem["type"], "/problems/no-such-route");
    }

    #[tokio::test]
    async fn other_formats_and_methods_are_named() {
        let api = Api::new().await;
        let request = Request::get("/v1/namespaces").header(header::ACCEPT, "text/csv").body(Body::empty()).unwrap();
        assert_eq!(api.send(request).await.0.status(), StatusCode::NOT_ACCEPTABLE);
        let request = Request::delete("/v1/namespaces").body(Body::empty()).unwrap();
        assert_eq!(api.send(request).await.0.headers()[header::ALLOW], "GET,HEAD,POST");
    }

    #[test]
    fn the_routes_are_these() {
        let document: Value = serde_json::from_str(openapi::document()).unwrap();
        let mut routes = Vec::new();
        for (path, item) in document["paths"].as_object().unwrap() {
            let operation = |(method, of): (&String, &Value)| {
                format!("{:6} {path}: {}", method.to_uppercase(), of["operationId"].as_str().unwrap())
            };
            routes.extend(item.as_object().unwrap().iter().map(operation));
        }
        insta::assert_snapshot!(routes.join("\n"), @r"
        GET    /docs: find_docs
        GET    /docs/: get_docs
        GET    /docs/{file}: get_docs_file
        GET    /healthz: get_health
        GET    /metrics: get_metrics
        GET    /openapi.json: get_openapi
        GET    /problems: list_problems
        GET    /problems/{name}: get_problem
        GET    /readyz: get_readiness
        GET    /v1/config: get_config
        GET    /v1/journal: list_journal
        GET    /v1/namespaces: list_namespaces
        POST   /v1/namespaces: create_namespace
        DELETE /v1/namespaces/{namespace}: delete_namespace
        GET    /v1/namespaces/{namespace}: get_namespace
        GET    /v1/namespaces/{namespace}/tables: list_tables
        POST   /v1/namespaces/{namespace}/tables: create_table
        DELETE /v1/namespaces/{namespace}/tables/{table}: delete_table
        GET    /v1/namespaces/{namespace}/tables/{table}: get_table
        PATCH  /v1/namespaces/{namespace}/tables/{table}: alter_table
        GET    /v1/namespaces/{namespace}/tables/{table}/audits: list_audits
        POST   /v1/namespaces/{namespace}/tables/{table}/audits: start_audit
        DELETE /v1/namespaces/{namespace}/tables/{table}/audits/{audit_id}: cancel_audit
        GET    /v1/namespaces/{namespace}/tables/{table}/audits/{audit_id}: get_audit
        GET    /v1/namespaces/{namespace}/tables/{table}/changes: list_changes
        GET    /v1/namespaces/{namespace}/tables/{table}/columns: list_columns
        POST   /v1/namespaces/{namespace}/tables/{table}/commits: commit
        POST   /v1/namespaces/{namespace}/tables/{table}/expire: expire_snapshots
        POST   /v1/namespaces/{namespace}/tables/{table}/explain: explain_file
        GET    /v1/namespaces/{namespace}/tables/{table}/files: list_files
        GET    /v1/namespaces/{namespace}/tables/{table}/manifests: list_manifests
        GET    /v1/namespaces/{namespace}/tables/{table}/manifests/{manifest_id}: get_manifest
        GET    /v1/namespaces/{namespace}/tables/{table}/orphans: list_orphans
        POST   /v1/namespaces/{namespace}/tables/{table}/plan: plan_scan
        POST   /v1/namespaces/{namespace}/tables/{table}/regroup: regroup_manifests
        POST   /v1/namespaces/{namespace}/tables/{table}/rollback: roll_back
        GET    /v1/namespaces/{namespace}/tables/{table}/snapshots: list_snapshots
        GET    /v1/namespaces/{namespace}/tables/{table}/snapshots/{snapshot_id}: get_snapshot
        GET    /v1/namespaces/{namespace}/tables/{table}/tags: list_tags
        DELETE /v1/namespaces/{namespace}/tables/{table}/tags/{tag}: delete_tag
        GET    /v1/namespaces/{namespace}/tables/{table}/tags/{tag}: get_tag
        PUT    /v1/namespaces/{namespace}/tables/{table}/tags/{tag}: set_tag
        GET    /v1/tokens: list_tokens
        POST   /v1/tokens: create_token
        DELETE /v1/tokens/{token}: revoke_token
        POST   /v1/transactions: commit_transaction
        ");
    }

    #[tokio::test]
    async fn a_route_that_is_not_in_the_document_is_not_there() {
        let api = Api::with_table().await;
        let document: Value = serde_json::from_str(openapi::document()).unwrap();
        for (path, item) in document["paths"].as_object().unwrap() {
            let path = path.replace("{namespace}", "n").replace("{table}", "t").replace(['{', '}'], "");
            let others = [Method::OPTIONS, Method::TRACE, Method::from_bytes(b"BREW").unwrap()];
            let methods = [Method::GET, Method::HEAD, Method::PUT, Method::POST, Method::PATCH, Method::DELETE];
            for method in methods.into_iter().chain(others) {
                let described = if method == Method::HEAD { "get" } else { &method.as_str().to_lowercase() };
                let is_described = item.get(described).is_some();
                for (path, body) in [(path.clone(), ""), (format!("{path}?snapshot_id=0"), ""), (path.clone(), "{}")] {
                    let request = Request::builder().method(&method).uri(&path).header("accept", "text/x");
                    let request = request.header("idempotency-key", "").body(Body::from(body)).unwrap();
                    let response = api.router.clone().oneshot(request).await.unwrap();
                    let is_told = response.status() == StatusCode::METHOD_NOT_ALLOWED;
                    assert_eq!(is_told, !is_described, "{method} {path}: {response:?}");
                    assert_eq!(response.headers().contains_key("allow"), is_told, "{method} {path}");
                }
            }
        }
    }

    #[tokio::test]
    async fn a_panic_is_a_problem_and_the_server_lives_on() {
        async fn panics() {
            panic!("secret");
        }
        let router = Router::new().route("/panic", get(panics)).route("/healthz", get(health::healthz));
        let router = with_layers(router, Metrics::of_requests());
        let api = Api { router, _folder: tempfile::tempdir().unwrap() };
        let (status, problem) = api.get("/panic").await;
        assert_eq!((status, &problem["type"]), (500, &json!("/problems/internal")));
        assert!(!problem.to_string().contains("secret"));
        assert_eq!(api.get("/healthz").await.0, 200);
    }
}
