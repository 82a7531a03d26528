//! A client of the HTTP API: a method per route, with the wire types in and out.
//!
//! It adds little to the API: a page is a page, and an answer that is no success is an error with all that the server said. Only a
//! request that the server was too busy for is sent again a few times, if that can do no harm.

mod again;
mod audits;
mod commits;
mod history;
mod layout;
mod namespaces;
mod scans;
mod server;
mod tables;
mod tls_fault;
mod tokens;

use std::time::Duration;

use prunus_catalog::{TableIdent, TokenSecret};
use reqwest::header::{AUTHORIZATION, HeaderValue};
use reqwest::{Certificate, Method, RequestBuilder, Response, StatusCode, Url};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::wire::ProblemJson;

pub use history::JournalQuery;
pub use server::{Health, Readiness};
pub use tls_fault::TlsFault;

/// How long to wait for a connection. Answers may take as long as they do: a commit reads many footers.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a connection that idles is kept. Servers close those that idle for longer, and a change that is sent as one does has an
/// unknown outcome.
const IDLE_TIME: Duration = Duration::from_secs(10);

/// The header of a key under which a change is carried out once.
const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// A server, by its URL. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Client {
    http: reqwest::Client,
    base: Url,
    idempotency_key: Option<HeaderValue>,
    /// The whole header; marked as sensitive, so that it is shown nowhere.
    authorization: Option<HeaderValue>,
}

/// Which page of a listing; by default the first, as long as the server makes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Page {
    /// The most entries of it; none is the server's default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_size: Option<u32>,
    /// The `next_page_token` of the page before; none for the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_token: Option<String>,
}

/// Which snapshot; by default the newest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SnapshotChoice {
    /// The snapshot's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot_id: Option<i64>,
    /// RFC 3339: the newest snapshot that was committed at or before it. Excludes an id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub as_of: Option<String>,
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
    /// There is something there that cannot be talked to over TLS as it was asked for, or not without.
    #[error("the server at {base} cannot be talked to: {fault}")]
    Tls {
        /// The server's URL.
        base: String,
        /// What is wrong.
        fault: TlsFault,
        /// What failed.
        source: reqwest::Error,
    },
    /// The server answered with an error.
    #[error("{} ({})", .0.title, .0.status)]
    Problem(Box<ProblemJson>),
    /// The server had too much to do each time that it was asked; this is what it said last.
    #[error("the server was asked {tries} times: {} ({})", .problem.title, .problem.status)]
    GaveUp {
        /// How often.
        tries: u32,
        /// What it said.
        problem: Box<ProblemJson>,
    },
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
    /// The status code of the server's answer, if there was one; what is no Prunus server has none that means anything.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Problem(problem) | Self::GaveUp { problem, .. } => Some(problem.status),
            Self::Foreign { .. } | Self::Unreachable { .. } | Self::Tls { .. } | Self::SetUp(_) => None,
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
        Self::trusting(base, Vec::new())
    }

    /// The same, which trusts these authorities of certificates beside those that it knows.
    ///
    /// # Errors
    /// [`ClientError::SetUp`].
    pub fn trusting(base: Url, authorities: Vec<Certificate>) -> Result<Self> {
        let builder = reqwest::Client::builder().connect_timeout(CONNECT_TIMEOUT).pool_idle_timeout(IDLE_TIME);
        let mut builder = authorities.into_iter().fold(builder, reqwest::ClientBuilder::add_root_certificate);
        if is_loopback(&base) {
            // A proxy from the environment leads away from this machine.
            builder = builder.no_proxy();
        }
        Ok(Self {
            http: builder.build().map_err(ClientError::SetUp)?,
            base,
            idempotency_key: None,
            authorization: None,
        })
    }

    /// The same client, whose requests show this token.
    #[must_use]
    pub fn with_token(self, token: &TokenSecret) -> Self {
        // A token is visible ASCII, of which there is always a header.
        let header = HeaderValue::from_str(&format!("Bearer {}", token.reveal())).ok();
        let authorization = header.map(|mut header| {
            header.set_sensitive(true);
            header
        });
        Self { authorization, ..self }
    }

    /// The same client, whose changing requests carry this `Idempotency-Key`: use it for one change alone, sent as often as need be.
    #[must_use]
    pub fn under_key(self, key: HeaderValue) -> Self {
        Self { idempotency_key: Some(key), ..self }
    }

    /// The server's URL.
    pub fn base(&self) -> &Url {
        &self.base
    }

    fn get(&self, url: Url) -> RequestBuilder {
        self.request(Method::GET, url)
    }

    fn request(&self, method: Method, url: Url) -> RequestBuilder {
        let request = self.http.request(method, url);
        match &self.authorization {
            Some(authorization) => request.header(AUTHORIZATION, authorization),
            None => request,
        }
    }

    /// A request that changes something.
    fn change(&self, method: Method, url: Url) -> RequestBuilder {
        let request = self.request(method, url);
        match &self.idempotency_key {
            Some(key) => request.header(IDEMPOTENCY_KEY, key),
            None => request,
        }
    }

    async fn send<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T> {
        let response = self.answer(request).await?;
        let (status, url) = (response.status(), response.url().clone());
        let body = response.bytes().await.map_err(|source| self.unreachable(source))?;
        serde_json::from_slice(&body).map_err(|_| foreign(&url, status))
    }

    /// A request whose success has no body.
    async fn send_for_nothing(&self, request: RequestBuilder) -> Result<()> {
        let response = self.answer(request).await?;
        match response.status() {
            StatusCode::NO_CONTENT => Ok(()),
            // A success of some kind is no proof that anything was done: any web server has them.
            status => Err(foreign(response.url(), status)),
        }
    }

    /// The success of a request.
    async fn answer(&self, request: RequestBuilder) -> Result<Response> {
        // It is large, and a part of whatever asks.
        Box::pin(self.ask(request)).await
    }

    /// Sends a request, and again where the server was too busy.
    async fn ask(&self, request: RequestBuilder) -> Result<Response> {
        let (http, request) = request.build_split();
        let mut request = request.map_err(|source| self.unreachable(source))?;
        let mut tries = 1;
        loop {
            // A body in memory is shared, not copied.
            let next = request.try_clone().filter(|_| tries < again::MAX_TRIES && again::may_be_sent_again(&request));
            let response = http.execute(request).await.map_err(|source| self.unreachable(source))?;
            match next.zip(again::pause_after(&response)) {
                Some((next, pause)) => {
                    tokio::time::sleep(pause).await;
                    request = next;
                    tries += 1;
                }
                None if response.status().is_success() => return Ok(response),
                None => return Err(self.refusal(response, tries).await),
            }
        }
    }

    /// What an answer that is no success says.
    async fn refusal(&self, response: Response, tries: u32) -> ClientError {
        let (status, url) = (response.status(), response.url().clone());
        let body = match response.bytes().await {
            Ok(body) => body,
            Err(source) => return self.unreachable(source),
        };
        match serde_json::from_slice(&body) {
            Err(_) => foreign(&url, status),
            Ok(problem) if tries == 1 => ClientError::Problem(Box::new(problem)),
            Ok(problem) => ClientError::GaveUp { tries, problem: Box::new(problem) },
        }
    }

    fn unreachable(&self, source: reqwest::Error) -> ClientError {
        // The URL stands in the message, and twice would be once too often.
        let (base, source) = (self.base.to_string(), source.without_url());
        match TlsFault::of(&source, self.base.scheme()) {
            Some(fault) => ClientError::Tls { base, fault, source },
            None => ClientError::Unreachable { base, source },
        }
    }

    /// The URL below the server's own with this path, such as `healthz`.
    fn server_url(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().push(path);
        }
        url
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

fn foreign(url: &Url, status: StatusCode) -> ClientError {
    ClientError::Foreign { url: url.to_string(), status: status.as_u16() }
}

/// Whether what is sent there stays on this machine.
pub(crate) fn is_loopback(url: &Url) -> bool {
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

    #[test]
    fn a_token_is_not_shown_by_accident() {
        let token: TokenSecret = format!("prunus_{}", "x".repeat(43)).parse().unwrap();
        let client = Client::new("http://h".parse().unwrap()).unwrap().with_token(&token);
        let request = client.get(client.url(&["config"]));
        assert!(!format!("{client:?} {request:?}").contains("xxx"));
        let request = request.build().unwrap();
        assert_eq!(request.headers()[AUTHORIZATION], format!("Bearer {}", token.reveal()));
        assert!(!format!("{request:?}").contains("xxx"));
    }

    #[tokio::test]
    async fn a_server_that_is_not_there_is_unreachable() {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let client = Client::new(format!("http://{free}").parse().unwrap()).unwrap();
        let error = client.list_namespaces(&Page::default()).await.unwrap_err();
        assert!(matches!(error, ClientError::Unreachable { .. }), "{error:?}");
    }
}
