//! A client of the HTTP API: a method per route, with the wire types in and out.
//!
//! It adds nothing to the API: a page is a page, and an answer that is no success is an error with all that the server said.

use std::time::Duration;

use prunus_catalog::TableIdent;
use reqwest::{RequestBuilder, Response, StatusCode, Url};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::wire::{
    AuditJson, AuditPageJson, CommitJson, CommittedJson, CoverageJson, ExplainJson, ExplainedJson, FilesJson,
    ManifestDetailJson, ManifestsJson, NamespaceJson, NamespacesJson, NewAuditJson, NewNamespaceJson, NewTableJson,
    PlanJson, PlannedJson, ProblemJson, SnapshotJson, SnapshotsJson, TableJson, TablesJson,
};

/// How long to wait for a connection. Answers may take as long as they do: a commit reads many footers.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A server, by its URL. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Client {
    http: reqwest::Client,
    base: Url,
}

/// Why there is no answer of the expected kind.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The server cannot be reached, or the connection was lost.
    #[error("the server at {base} does not answer")]
    Unreachable {
        /// The server's URL.
        base: String,
        /// What failed.
        source: reqwest::Error,
    },
    /// The server answered with an error.
    #[error("{} ({})", .0.title, .0.status)]
    Problem(Box<ProblemJson>),
    /// Something answered that does not speak this API.
    #[error("what answers at {url} with status {status} is not a Prunus server, or one of another version")]
    Foreign {
        /// What was asked for.
        url: String,
        /// The status code.
        status: u16,
    },
    /// The client cannot be set up.
    #[error("the HTTP client cannot be set up")]
    SetUp(#[source] reqwest::Error),
}

impl ClientError {
    /// The status code of the answer, if there was one.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Problem(problem) => Some(problem.status),
            Self::Foreign { status, .. } => Some(*status),
            Self::Unreachable { .. } | Self::SetUp(_) => None,
        }
    }
}

/// The result of a request.
type Result<T> = std::result::Result<T, ClientError>;

impl Client {
    /// A client of the server at this URL.
    ///
    /// # Errors
    /// [`ClientError::SetUp`].
    pub fn new(base: Url) -> Result<Self> {
        let mut builder = reqwest::Client::builder().connect_timeout(CONNECT_TIMEOUT);
        if is_loopback(&base) {
            // A proxy from the environment leads away from this machine.
            builder = builder.no_proxy();
        }
        Ok(Self { http: builder.build().map_err(ClientError::SetUp)?, base })
    }

    /// `POST /v1/namespaces`
    ///
    /// # Errors
    /// [`ClientError`], with status 409 if there is one of that name.
    pub async fn create_namespace(&self, namespace: &NewNamespaceJson) -> Result<NamespaceJson> {
        self.send(self.http.post(self.url(&["namespaces"])).json(namespace)).await
    }

    /// `GET /v1/namespaces`
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn list_namespaces(&self, page_token: Option<&str>) -> Result<NamespacesJson> {
        self.send(self.http.get(self.url(&["namespaces"])).query(&PageQuery { page_token, page_size: None })).await
    }

    /// `POST /v1/namespaces/{ns}/tables`
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn create_table(&self, namespace: &str, table: &NewTableJson) -> Result<TableJson> {
        self.send(self.http.post(self.url(&["namespaces", namespace, "tables"])).json(table)).await
    }

    /// `GET /v1/namespaces/{ns}/tables`
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn list_tables(&self, namespace: &str, page_token: Option<&str>) -> Result<TablesJson> {
        let url = self.url(&["namespaces", namespace, "tables"]);
        self.send(self.http.get(url).query(&PageQuery { page_token, page_size: None })).await
    }

    /// `GET T`
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn load_table(&self, table: &TableIdent) -> Result<TableJson> {
        self.send(self.http.get(self.table_url(table, &[]))).await
    }

    /// `DELETE T`
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn drop_table(&self, table: &TableIdent) -> Result<()> {
        self.answer(self.http.delete(self.table_url(table, &[]))).await.map(drop)
    }

    /// `POST T/commits`
    ///
    /// # Errors
    /// [`ClientError`], with status 409 for a conflict and 422 for faults of files.
    pub async fn commit(&self, table: &TableIdent, commit: &CommitJson) -> Result<CommittedJson> {
        self.send(self.http.post(self.table_url(table, &["commits"])).json(commit)).await
    }

    /// `POST T/plan`
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn plan(&self, table: &TableIdent, plan: &PlanJson) -> Result<PlannedJson> {
        self.send(self.http.post(self.table_url(table, &["plan"])).json(plan)).await
    }

    /// `POST T/explain`
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn explain(&self, table: &TableIdent, explain: &ExplainJson) -> Result<ExplainedJson> {
        self.send(self.http.post(self.table_url(table, &["explain"])).json(explain)).await
    }

    /// `GET T/files`
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn list_files(&self, table: &TableIdent, page_size: u32, page_token: Option<&str>) -> Result<FilesJson> {
        let query = PageQuery { page_token, page_size: Some(page_size) };
        self.send(self.http.get(self.table_url(table, &["files"])).query(&query)).await
    }

    /// `GET T/manifests`
    ///
    /// # Errors
    /// [`ClientError`], with status 410 if manifests of earlier pages were grouped anew meanwhile.
    pub async fn list_manifests(
        &self,
        table: &TableIdent,
        snapshot_id: Option<i64>,
        as_of: Option<&str>,
        page_token: Option<&str>,
    ) -> Result<ManifestsJson> {
        let url = self.table_url(table, &["manifests"]);
        let of_snapshot = SnapshotQuery { snapshot_id, as_of };
        self.send(self.http.get(url).query(&of_snapshot).query(&PageQuery { page_token, page_size: None })).await
    }

    /// `GET T/manifests/{id}`
    ///
    /// # Errors
    /// [`ClientError`], with status 404 if the table has no such manifest, or none any more.
    pub async fn load_manifest(
        &self,
        table: &TableIdent,
        manifest_id: i64,
        (snapshot_id, as_of): (Option<i64>, Option<&str>),
        (page_size, page_token): (Option<u32>, Option<&str>),
    ) -> Result<ManifestDetailJson> {
        let url = self.table_url(table, &["manifests", &manifest_id.to_string()]);
        let of_snapshot = SnapshotQuery { snapshot_id, as_of };
        self.send(self.http.get(url).query(&of_snapshot).query(&PageQuery { page_token, page_size })).await
    }

    /// `GET T/columns`
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn load_coverage(
        &self,
        table: &TableIdent,
        snapshot_id: Option<i64>,
        as_of: Option<&str>,
    ) -> Result<CoverageJson> {
        let query = SnapshotQuery { snapshot_id, as_of };
        self.send(self.http.get(self.table_url(table, &["columns"])).query(&query)).await
    }

    /// `GET T/snapshots`
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn list_snapshots(&self, table: &TableIdent, page_token: Option<&str>) -> Result<SnapshotsJson> {
        let query = PageQuery { page_token, page_size: None };
        self.send(self.http.get(self.table_url(table, &["snapshots"])).query(&query)).await
    }

    /// `GET T/snapshots/{id}`
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn load_snapshot(&self, table: &TableIdent, snapshot_id: i64) -> Result<SnapshotJson> {
        self.send(self.http.get(self.table_url(table, &["snapshots", &snapshot_id.to_string()]))).await
    }

    /// `POST T/audits`
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn start_audit(&self, table: &TableIdent, audit: &NewAuditJson) -> Result<AuditJson> {
        self.send(self.http.post(self.table_url(table, &["audits"])).json(audit)).await
    }

    /// `GET T/audits/{id}`
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn load_audit(
        &self,
        table: &TableIdent,
        audit_id: i64,
        page_size: Option<u32>,
        page_token: Option<&str>,
    ) -> Result<AuditPageJson> {
        let query = PageQuery { page_token, page_size };
        self.send(self.http.get(self.table_url(table, &["audits", &audit_id.to_string()])).query(&query)).await
    }

    async fn send<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T> {
        let response = self.answer(request).await?;
        let (status, url) = (response.status(), response.url().clone());
        let body = response.bytes().await.map_err(|source| self.unreachable(source))?;
        serde_json::from_slice(&body).map_err(|_| foreign(&url, status))
    }

    async fn answer(&self, request: RequestBuilder) -> Result<Response> {
        let response = request.send().await.map_err(|source| self.unreachable(source))?;
        let (status, url) = (response.status(), response.url().clone());
        if status.is_success() {
            return Ok(response);
        }
        let body = response.bytes().await.map_err(|source| self.unreachable(source))?;
        Err(serde_json::from_slice(&body)
            .map_or_else(|_| foreign(&url, status), |problem| ClientError::Problem(Box::new(problem))))
    }

    fn unreachable(&self, source: reqwest::Error) -> ClientError {
        // The URL stands in the message, and twice would be once too often.
        ClientError::Unreachable { base: self.base.to_string(), source: source.without_url() }
    }

    fn table_url(&self, table: &TableIdent, below: &[&str]) -> Url {
        let segments = ["namespaces", table.namespace.as_str(), "tables", table.name.as_str()];
        self.url(&[&segments, below].concat())
    }

    /// The URL below `/v1` with these segments, each percent-encoded as it needs.
    fn url(&self, segments: &[&str]) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().push("v1").extend(segments);
        }
        url
    }
}

#[derive(Serialize)]
struct PageQuery<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    page_token: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    page_size: Option<u32>,
}

#[derive(Serialize)]
struct SnapshotQuery<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    snapshot_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    as_of: Option<&'a str>,
}

fn foreign(url: &Url, status: StatusCode) -> ClientError {
    ClientError::Foreign { url: url.to_string(), status: status.as_u16() }
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let ip = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    host == "localhost" || ip.is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table_url(base: &str, table: &str) -> String {
        let client = Client::new(base.parse().unwrap()).unwrap();
        client.table_url(&table.parse().unwrap(), &["plan"]).to_string()
    }

    #[test]
    fn names_are_percent_encoded_in_urls() {
        for (base, table, expected) in [
            ("http://h:1", "a.b.t", "http://h:1/v1/namespaces/a.b/tables/t/plan"),
            ("http://h/prefix/", "a.täble ?%", "http://h/prefix/v1/namespaces/a/tables/t%C3%A4ble%20%3F%25/plan"),
        ] {
            assert_eq!(table_url(base, table), expected);
        }
    }

    #[test]
    fn loopback_is_told_from_the_world() {
        for (url, expected) in [
            ("http://127.0.0.1:8181", true),
            ("http://[::1]:8181", true),
            ("http://localhost", true),
            ("http://example.org", false),
            ("http://10.0.0.1", false),
        ] {
            assert_eq!(is_loopback(&url.parse().unwrap()), expected, "{url}");
        }
    }

    #[tokio::test]
    async fn a_server_that_is_not_there_is_unreachable() {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let client = Client::new(format!("http://{free}").parse().unwrap()).unwrap();
        let error = client.list_namespaces(None).await.unwrap_err();
        assert!(matches!(error, ClientError::Unreachable { .. }), "{error:?}");
    }
}
