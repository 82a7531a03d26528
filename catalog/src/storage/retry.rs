//! How stores are asked: how many requests at once, how long for, how often again, and what it means that one failed.
//!
//! A failure that may pass (no connection, a status of 5xx, 408 or 429) is waited out between tries, each time a random while
//! that grows; any other is told at once.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::client::{HttpError, HttpErrorKind};
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::http::HttpBuilder;
use object_store::limit::LimitStore;
use object_store::local::LocalFileSystem;
use object_store::{BackoffConfig, ClientOptions, ObjectStore, ObjectStoreScheme, RetryConfig};
use url::{Position, Url};

use super::StorageError;
use super::activity::{StorageActivity, StoreScheme};
use super::connector::Redirects;
use super::options::ObjectStoreOptions;
use super::watched::CountingConnector;
use crate::location::LocationError;

/// How many requests run at once against one store, whichever commits and listings they are of.
pub const MAX_REQUESTS_AT_ONCE: usize = 32;
/// How often a request is tried again.
pub const MAX_RETRIES: usize = 8;
/// How long after its first try a request is tried again.
pub const MAX_RETRY_TIME: Duration = Duration::from_secs(30);
/// How long one try may take, with its answer.
pub(super) const MAX_TRY_TIME: Duration = Duration::from_secs(30);
pub(super) const MAX_CONNECT_TIME: Duration = Duration::from_secs(5);
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const MAX_PAUSE: Duration = Duration::from_secs(5);
/// A pause is a random one between the first and so many times the one before.
const PAUSE_GROWTH: f64 = 3.0;

/// The builder of a store with these options, those that it does not know left out.
macro_rules! with_options {
    ($builder:ty, $url:expr, $options:expr, $connector:expr) => {{
        let builder = <$builder>::new().with_url($url).with_retry(retries()).with_client_options(times());
        let builder = builder.with_http_connector($connector);
        $options.iter().fold(builder, |builder, (key, value)| match key.parse() {
            Ok(key) => builder.with_config(key, *value),
            Err(_) => builder,
        })
    }};
}

/// The store that a URL names.
pub(super) fn open(
    url: &Url,
    options: &ObjectStoreOptions,
    redirects: Redirects,
    activity: &Arc<StorageActivity>,
) -> Result<Arc<dyn ObjectStore>, object_store::Error> {
    let mut options: Vec<(&str, &str)> = options.iter().collect();
    let (scheme, activity) = (StoreScheme::of_url(url.scheme()), Arc::clone(activity));
    let connector = CountingConnector { scheme, activity, redirects };
    if url.scheme() == "http" {
        options.push(("allow_http", "true"));
    }
    match ObjectStoreScheme::parse(url)?.0 {
        ObjectStoreScheme::Local => Ok(Arc::new(LocalFileSystem::new())),
        ObjectStoreScheme::AmazonS3 => {
            Ok(limited(with_options!(AmazonS3Builder, url.as_str(), options, connector).build()?))
        }
        ObjectStoreScheme::GoogleCloudStorage => {
            Ok(limited(with_options!(GoogleCloudStorageBuilder, url.as_str(), options, connector).build()?))
        }
        ObjectStoreScheme::MicrosoftAzure => {
            Ok(limited(with_options!(MicrosoftAzureBuilder, url.as_str(), options, connector).build()?))
        }
        ObjectStoreScheme::Http => {
            Ok(limited(with_options!(HttpBuilder, &url[..Position::BeforePath], options, connector).build()?))
        }
        other => {
            let source = format!("{other:?} is no store that files are read from").into();
            Err(object_store::Error::NotSupported { source })
        }
    }
}

fn limited(store: impl ObjectStore) -> Arc<dyn ObjectStore> {
    Arc::new(LimitStore::new(store, MAX_REQUESTS_AT_ONCE))
}

fn retries() -> RetryConfig {
    RetryConfig {
        backoff: BackoffConfig { init_backoff: FIRST_PAUSE, max_backoff: MAX_PAUSE, base: PAUSE_GROWTH },
        max_retries: MAX_RETRIES,
        retry_timeout: MAX_RETRY_TIME,
    }
}

fn times() -> ClientOptions {
    ClientOptions::new().with_timeout(MAX_TRY_TIME).with_connect_timeout(MAX_CONNECT_TIME)
}

/// What it means that a store failed, once it was tried as often as it makes sense.
pub(super) fn storage_error(error: object_store::Error) -> StorageError {
    // Not its own words: a store may repeat what was sent to it.
    tracing::debug!(cause = short_cause(&error), "an object store did not give what it was asked for");
    match error {
        object_store::Error::NotFound { .. } => StorageError::NotFound,
        object_store::Error::PermissionDenied { .. } | object_store::Error::Unauthenticated { .. } => {
            StorageError::Denied
        }
        object_store::Error::InvalidPath { source } => LocationError::Key(source.to_string()).into(),
        other => match status(&other) {
            Some(401 | 403) => StorageError::Denied,
            Some(status @ (300..=303 | 305..=399)) => StorageError::Redirected { status },
            Some(status @ 400..=499) if !may_pass(status) => StorageError::Refused { status, source: other.into() },
            _ => StorageError::Unavailable(other.into()),
        },
    }
}

/// Whether a store that failed may do better if it is asked for the same in another way: it answered, and neither that there is
/// no such object nor that it has no time now.
pub(super) fn may_answer_otherwise(error: &object_store::Error) -> bool {
    match error {
        object_store::Error::NotFound { .. }
        | object_store::Error::PermissionDenied { .. }
        | object_store::Error::Unauthenticated { .. } => false,
        other => match status(other) {
            Some(status) => !matches!(status, 300..=399 | 401 | 403 | 404) && !may_pass(status),
            None => !chain(other).any(<dyn Error>::is::<HttpError>),
        },
    }
}

pub(super) fn may_pass(status: u16) -> bool {
    matches!(status, 408 | 429 | 500..)
}

/// The status code that a store failed with, if it answered with one. The type that has it is not public, its text is.
pub(super) fn status(error: &object_store::Error) -> Option<u16> {
    chain(error).find_map(|cause| {
        cause.to_string().strip_prefix("Server returned non-2xx status code: ")?.get(..3)?.parse().ok()
    })
}

/// What a store failed of, in a few words; `None` where that cannot be told. What its errors say themselves is not passed on: they
/// may hold addresses of the inside, and parts of what was sent.
pub(super) fn short_cause(error: &object_store::Error) -> Option<String> {
    if let Some(status) = status(error) {
        return Some(format!("it answered with status {status}"));
    }
    // The first cause says most.
    chain(error).filter_map(words_of).last()
}

fn words_of(cause: &(dyn Error + 'static)) -> Option<String> {
    use std::io::ErrorKind as Io;
    if let Some(error) = cause.downcast_ref::<std::io::Error>() {
        let is_known = matches!(
            error.kind(),
            Io::ConnectionRefused
                | Io::ConnectionReset
                | Io::ConnectionAborted
                | Io::BrokenPipe
                | Io::HostUnreachable
                | Io::NetworkUnreachable
                | Io::TimedOut
                | Io::UnexpectedEof
        );
        return is_known.then(|| error.kind().to_string());
    }
    match cause.downcast_ref::<HttpError>().map(HttpError::kind) {
        Some(HttpErrorKind::Timeout) => return Some("timed out".to_owned()),
        Some(HttpErrorKind::Connect) => return Some("no connection".to_owned()),
        Some(HttpErrorKind::Interrupted) => return Some("the connection broke off".to_owned()),
        _ => {}
    }
    // The type is not public, its text is.
    (cause.to_string() == "dns error").then(|| "the name of its host was not found".to_owned())
}

/// What an error was caused by, from the nearest cause to the first.
fn chain(error: &object_store::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(error.source(), |cause: &&(dyn Error + 'static)| (**cause).source())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_store_can_be_opened() {
        let options = [("azure_storage_account_name", "a"), ("aws_region", "b"), ("user_agent", "c")];
        let options = options.map(|(key, value)| (key.to_owned(), value.to_owned()));
        let options = ObjectStoreOptions::default().with(&options.into()).unwrap();
        for url in [
            "file:///",
            "s3://b/",
            "gs://b/",
            "az://c/",
            "abfss://c@a.dfs.core.windows.net/",
            "http://h/",
            "https://h:1/",
        ] {
            for redirects in [Redirects::Followed, Redirects::Refused] {
                let opened = open(&Url::parse(url).unwrap(), &options, redirects, &Arc::default());
                assert!(opened.is_ok(), "{url}: {opened:?}");
            }
        }
    }

    #[test]
    fn a_cause_is_told_in_few_words_and_nothing_else_of_it() {
        let failed = |source: Box<dyn Error + Send + Sync>| object_store::Error::Generic { store: "S3", source };
        let refused = std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
        assert_eq!(short_cause(&failed(Box::new(refused))).as_deref(), Some("connection refused"));
        let status = "Server returned non-2xx status code: 503 Service Unavailable: secret";
        assert_eq!(short_cause(&failed(status.into())).as_deref(), Some("it answered with status 503"));
        assert_eq!(short_cause(&failed("dns error".into())).as_deref(), Some("the name of its host was not found"));
        assert_eq!(short_cause(&failed("secret".into())), None);
        assert_eq!(short_cause(&failed(Box::new(std::io::Error::other("secret")))), None);
    }

    #[test]
    fn a_store_that_cannot_be_set_up_is_an_error() {
        for url in ["az://c/", "memory:///"] {
            let (url, options) = (Url::parse(url).unwrap(), ObjectStoreOptions::default());
            assert!(open(&url, &options, Redirects::Followed, &Arc::default()).is_err(), "{url}");
        }
    }
}
