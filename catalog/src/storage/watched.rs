//! Stores as they are asked: each request is counted with what came of it, and is a span of its own.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use futures::stream::{self, Stream, StreamExt};
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpRequest, HttpResponse, HttpService, ReqwestConnector,
};
use object_store::path::Path;
use object_store::{ClientOptions, GetOptions, GetRange, ObjectMeta, ObjectStore, ObjectStoreExt};
use tracing::Instrument;

use super::StorageError;
use super::activity::{StorageActivity, StoreOperation, StoreOutcome, StoreScheme, TryOutcome};
use super::connector::{Redirects, WithoutRedirects};
use super::retry::{may_pass, storage_error};

/// A store and the path in it that it is asked for.
pub(super) struct WatchedStore {
    pub(super) store: Arc<dyn ObjectStore>,
    pub(super) path: Path,
    pub(super) scheme: StoreScheme,
    pub(super) activity: Arc<StorageActivity>,
}

/// A request that runs; it is counted when this is dropped.
pub(super) struct Running {
    activity: Arc<StorageActivity>,
    scheme: StoreScheme,
    operation: StoreOperation,
    outcome: StoreOutcome,
    bytes: u64,
    began: Instant,
}

impl WatchedStore {
    /// What the store says of the object.
    pub(super) async fn head(&self) -> Result<ObjectMeta, object_store::Error> {
        let mut running = self.begin(StoreOperation::Head);
        let answer = self.store.head(&self.path).instrument(self.span(StoreOperation::Head)).await;
        running.outcome = outcome_of(&answer);
        answer
    }

    /// A part of the object, and what the store says of it; only if it has this etag, if one is given.
    pub(super) async fn get(
        &self,
        range: GetRange,
        if_match: Option<String>,
    ) -> Result<(ObjectMeta, Bytes), object_store::Error> {
        let mut running = self.begin(StoreOperation::Get);
        let options = GetOptions { range: Some(range), if_match, ..Default::default() };
        let get = async {
            let result = self.store.get_opts(&self.path, options).await?;
            Ok((result.meta.clone(), result.bytes().await?))
        };
        let answer = get.instrument(self.span(StoreOperation::Get)).await;
        running.outcome = outcome_of(&answer);
        running.bytes = answer.as_ref().map_or(0, |(_, bytes)| bytes.len() as u64);
        answer
    }

    /// The objects below the path, in the order in which the store names them.
    pub(super) fn list(&self) -> impl Stream<Item = Result<ObjectMeta, StorageError>> + Send + use<> {
        let prefix = Some(&self.path).filter(|prefix| !prefix.as_ref().is_empty());
        let (mut running, mut objects) = (self.begin(StoreOperation::List), self.store.list(prefix));
        stream::poll_fn(move |context| {
            // As a whole: it is to be dropped with the stream.
            let running = &mut running;
            let next = objects.poll_next_unpin(context);
            match &next {
                std::task::Poll::Ready(None) if running.outcome == StoreOutcome::Abandoned => {
                    running.outcome = StoreOutcome::Ok;
                }
                std::task::Poll::Ready(Some(failed @ Err(_))) => running.outcome = outcome_of(failed),
                _ => {}
            }
            next.map(|next| next.map(|object| object.map_err(storage_error)))
        })
    }

    fn begin(&self, operation: StoreOperation) -> Running {
        Running::begin(&self.activity, self.scheme, operation)
    }

    fn span(&self, operation: StoreOperation) -> tracing::Span {
        tracing::debug_span!("store_request", scheme = self.scheme.name(), operation = operation.name())
    }
}

impl Running {
    pub(super) fn begin(activity: &Arc<StorageActivity>, scheme: StoreScheme, operation: StoreOperation) -> Self {
        activity.in_flight.add(1);
        let (activity, outcome) = (Arc::clone(activity), StoreOutcome::Abandoned);
        Self { activity, scheme, operation, outcome, bytes: 0, began: Instant::now() }
    }

    /// That it ended, with so many bytes read.
    pub(super) fn end<T>(mut self, answer: &Result<T, StorageError>, bytes: impl FnOnce(&T) -> u64) {
        (self.outcome, self.bytes) = match answer {
            Ok(read) => (StoreOutcome::Ok, bytes(read)),
            Err(error) => (outcome_of_failure(error), 0),
        };
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.activity.in_flight.sub(1);
        let of_scheme = self.activity.of(self.scheme);
        let of_operation = of_scheme.of(self.operation);
        of_operation.ended(self.outcome).add(1);
        of_operation.duration_ns.observe_duration(self.began.elapsed());
        of_scheme.bytes_read.add(self.bytes);
    }
}

fn outcome_of<T>(answer: &Result<T, object_store::Error>) -> StoreOutcome {
    use object_store::Error as Failure;
    match answer {
        Ok(_) => StoreOutcome::Ok,
        Err(Failure::NotFound { .. }) => StoreOutcome::NotFound,
        Err(Failure::PermissionDenied { .. } | Failure::Unauthenticated { .. }) => StoreOutcome::Denied,
        Err(Failure::InvalidPath { .. } | Failure::Precondition { .. } | Failure::NotModified { .. }) => {
            StoreOutcome::Refused
        }
        Err(other) => match super::retry::status(other) {
            Some(401 | 403) => StoreOutcome::Denied,
            Some(status @ 400..=499) if !may_pass(status) => StoreOutcome::Refused,
            _ => StoreOutcome::Failed,
        },
    }
}

fn outcome_of_failure(error: &StorageError) -> StoreOutcome {
    match error {
        StorageError::NotFound => StoreOutcome::NotFound,
        StorageError::Denied => StoreOutcome::Denied,
        StorageError::Unavailable(_) | StorageError::TooSlow | StorageError::Unusable(_) => StoreOutcome::Failed,
        StorageError::NotAFile
        | StorageError::Refused { .. }
        | StorageError::Redirected { .. }
        | StorageError::Unconfined
        | StorageError::Replaced
        | StorageError::Location(_)
        | StorageError::Footer(_) => StoreOutcome::Refused,
    }
}

/// Makes HTTP clients whose tries are counted.
#[derive(Debug)]
pub(super) struct CountingConnector {
    pub(super) scheme: StoreScheme,
    pub(super) activity: Arc<StorageActivity>,
    pub(super) redirects: Redirects,
}

/// An HTTP client whose tries are counted.
#[derive(Debug)]
struct CountingClient {
    client: HttpClient,
    scheme: StoreScheme,
    activity: Arc<StorageActivity>,
}

impl HttpConnector for CountingConnector {
    fn connect(&self, options: &ClientOptions) -> Result<HttpClient, object_store::Error> {
        let (scheme, activity) = (self.scheme, Arc::clone(&self.activity));
        let client = match self.redirects {
            Redirects::Followed => ReqwestConnector::default().connect(options)?,
            Redirects::Refused => WithoutRedirects.connect(options)?,
        };
        Ok(HttpClient::new(CountingClient { client, scheme, activity }))
    }
}

/// A future as the trait has it, which is written with a macro.
type Boxed<'f, T> = Pin<Box<dyn Future<Output = T> + Send + 'f>>;

impl HttpService for CountingClient {
    fn call<'s, 'f>(&'s self, request: HttpRequest) -> Boxed<'f, Result<HttpResponse, HttpError>>
    where
        's: 'f,
        Self: 'f,
    {
        Box::pin(async move {
            let answer = self.client.execute(request).await;
            let outcome = match answer.as_ref().map(|answer| answer.status().as_u16()) {
                Err(_) => TryOutcome::NoAnswer,
                Ok(status) if status < 400 => TryOutcome::Ok,
                Ok(status) if may_pass(status) => TryOutcome::Failed,
                Ok(_) => TryOutcome::Refused,
            };
            self.activity.of(self.scheme).tries(outcome).add(1);
            answer
        })
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;
    use crate::location::Location;
    use crate::storage::Storage;

    /// A server that gives these answers, one for each request, to whoever asks; says where it is.
    async fn answering(answers: &'static [&'static str]) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            for answer in answers {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut request = [0; 4096];
                assert!(stream.read(&mut request).await.unwrap() > 0);
                let head = format!("HTTP/1.1 {answer}");
                stream.write_all(head.as_bytes()).await.unwrap();
            }
        });
        format!("http://{address}/a")
    }

    const BUSY: &str = "503 busy\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
    const GONE: &str = "404 gone\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
    const HEAD: &str = "200 OK\r\nconnection: close\r\ncontent-length: 7\r\n\
        last-modified: Tue, 01 Jan 2030 00:00:00 GMT\r\n\r\n";

    /// What came of asking for the head of an object: how many requests of this outcome, and how many tries of each.
    async fn asked(answers: &'static [&'static str], outcome: StoreOutcome) -> (u64, [u64; 4]) {
        let storage = Storage::from_environment();
        let location = Location::parse(&answering(answers).await, None).unwrap();
        let _ = storage.head(&location).await;
        let of_http = storage.activity().of(StoreScheme::Http);
        let of_head = of_http.of(StoreOperation::Head);
        assert_eq!((of_head.duration_ns.read().count, storage.activity().in_flight.get()), (1, 0));
        (of_head.ended(outcome).get(), TryOutcome::ALL.map(|outcome| of_http.tries(outcome).get()))
    }

    #[tokio::test]
    async fn a_request_is_counted_once_and_each_of_its_tries() {
        assert_eq!(asked(&[BUSY, BUSY, HEAD], StoreOutcome::Ok).await, (1, [1, 0, 2, 0]));
        assert_eq!(asked(&[GONE], StoreOutcome::NotFound).await, (1, [0, 1, 0, 0]));
    }

    #[tokio::test]
    async fn a_request_that_nobody_waits_for_is_abandoned() {
        let storage = Storage::from_environment();
        let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let location = format!("http://{}/a", silent.local_addr().unwrap());
        let location = Location::parse(&location, None).unwrap();
        let wait = std::time::Duration::from_millis(50);
        assert!(tokio::time::timeout(wait, storage.head(&location)).await.is_err());
        let of_head = storage.activity().of(StoreScheme::Http).of(StoreOperation::Head);
        assert_eq!((of_head.ended(StoreOutcome::Abandoned).get(), storage.activity().in_flight.get()), (1, 0));
    }

    #[tokio::test]
    async fn bytes_and_listings_of_this_machine_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a"), [7; 100]).unwrap();
        let storage = Storage::from_environment();
        let of = |name: &str| Location::parse(&format!("{}/{name}", folder.path().display()), None).unwrap();
        let object = storage.head(&of("a")).await.unwrap();
        storage.read_chunk(&object, 10..40).await.unwrap();
        assert_eq!(storage.list(&of("")).await.unwrap().len(), 1);
        let of_file = storage.activity().of(StoreScheme::File);
        assert_eq!(of_file.bytes_read.get(), 30);
        let ok = StoreOperation::ALL.map(|operation| of_file.of(operation).ended(StoreOutcome::Ok).get());
        assert_eq!(ok, [1, 1, 1]);
    }
}
