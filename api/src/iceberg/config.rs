//! What a client is told first: that scans are planned here, and what else there is.

use axum::Json;
use serde::Serialize;

/// The endpoints, as clients look for them: letter by letter.
const ENDPOINTS: [&str; 12] = [
    "GET /v1/{prefix}/namespaces",
    "GET /v1/{prefix}/namespaces/{namespace}",
    "HEAD /v1/{prefix}/namespaces/{namespace}",
    "GET /v1/{prefix}/namespaces/{namespace}/tables",
    "GET /v1/{prefix}/namespaces/{namespace}/tables/{table}",
    "HEAD /v1/{prefix}/namespaces/{namespace}/tables/{table}",
    "POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/plan",
    "GET /v1/{prefix}/namespaces/{namespace}/tables/{table}/plan/{plan-id}",
    "DELETE /v1/{prefix}/namespaces/{namespace}/tables/{table}/plan/{plan-id}",
    "POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/tasks",
    "POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/metrics",
    "GET /v1/config",
];

#[derive(Serialize)]
pub(crate) struct ConfigJson {
    defaults: NothingJson,
    overrides: OverridesJson,
    endpoints: [&'static str; ENDPOINTS.len()],
}

#[derive(Serialize)]
struct NothingJson {}

/// What every client does, whatever it is set to.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct OverridesJson {
    scan_planning_mode: &'static str,
    /// The same, as it was called in PyIceberg 0.11.
    rest_scan_planning_enabled: &'static str,
}

/// What a client can count on.
///
/// A `warehouse` that is asked for is of no account: there is one.
#[utoipa::path(get, path = "/iceberg/v1/config", operation_id = "iceberg_config", responses((status = 200)))]
pub(crate) async fn get() -> Json<ConfigJson> {
    let overrides = OverridesJson { scan_planning_mode: "server", rest_scan_planning_enabled: "true" };
    Json(ConfigJson { defaults: NothingJson {}, overrides, endpoints: ENDPOINTS })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::openapi::operations_of;

    #[test]
    fn the_endpoints_are_the_routes() {
        let paths = crate::iceberg::routes().into_openapi().paths.paths;
        let endpoint = |path: &str, method: String| {
            let path = path.trim_start_matches("/iceberg").replace("{plan_id}", "{plan-id}");
            format!("{method} {}", path.replace("/v1/namespaces", "/v1/{prefix}/namespaces"))
        };
        let routes = paths.iter().flat_map(|(path, item)| {
            let head = item.head.is_some().then(|| "HEAD".to_owned());
            let methods = operations_of(item).map(|(method, _)| method.to_string()).chain(head);
            methods.map(move |method| endpoint(path, method))
        });
        assert_eq!(routes.collect::<BTreeSet<_>>(), ENDPOINTS.map(str::to_owned).into());
    }
}
