//! The body of a page.

use std::future::ready;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures::FutureExt;
use futures::stream::{self, StreamExt, TryStreamExt};
use prunus_catalog::Error;
use tokio::task::JoinError;
use tracing::Instrument;

use super::patience::{PATIENCE, while_asked_for};
use super::{ipc, json};
use crate::accept::Format;
use crate::problem::Problem;

/// How many pieces of a body are worked on, or wait for the client, at a time. What a body takes of memory is about that of so many,
/// and a client that does not read stops the work on it.
pub(crate) const MAX_PIECES_AT_ONCE: usize = 2;

/// The answer that begins with the first piece. The rest are what makes the other pieces: they run in order,
/// [`MAX_PIECES_AT_ONCE`] at a time, as the client reads, and those that have not begun when it goes away never do, nor when it
/// reads nothing for [`PATIENCE`]. One that fails breaks the connection off, and is logged.
pub(crate) fn answer<F>(
    format: Format,
    mut first: Vec<u8>,
    rest: impl ExactSizeIterator<Item = F> + Send + 'static,
    request_id: String,
) -> Response
where
    F: Future<Output = Result<Vec<u8>, Problem>> + Send + 'static,
{
    let end = match format {
        Format::Json => json::END,
        Format::Arrow => ipc::END,
    };
    let body = if rest.len() == 0 {
        first.extend_from_slice(end);
        Body::from(first)
    } else {
        // On a task of its own a piece is made while the client takes the one before.
        let made = rest.map(|piece| tokio::spawn(piece.in_current_span()).map(joined));
        let rest = stream::iter(made).buffered(MAX_PIECES_AT_ONCE).map_ok(Bytes::from);
        let pieces = stream::iter([Ok(Bytes::from(first))]).chain(rest).chain(stream::iter([Ok(end.into())]));
        let until_failure =
            while_asked_for(pieces, PATIENCE).scan(false, |has_failed, piece: Result<Bytes, Problem>| {
                let is_over = std::mem::replace(has_failed, piece.is_err());
                ready((!is_over).then_some(piece))
            });
        Body::from_stream(until_failure.inspect_err(move |problem| {
            tracing::error!(request_id, error = problem.chain(), "an answer broke off");
        }))
    };
    let headers = [(header::CONTENT_TYPE, format.content_type()), (header::VARY, HeaderValue::from_static("accept"))];
    (headers, body).into_response()
}

fn joined(piece: Result<Result<Vec<u8>, Problem>, JoinError>) -> Result<Vec<u8>, Problem> {
    piece.unwrap_or(Err(Problem::Catalog(Error::Background)))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use axum::body::to_bytes;

    use super::*;

    type Piece = Result<Vec<u8>, Problem>;

    fn of_pieces(pieces: Vec<Piece>) -> (Response, Arc<AtomicUsize>) {
        let begun = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&begun);
        let rest = pieces.into_iter().map(move |piece| {
            let counted = Arc::clone(&counted);
            async move {
                counted.fetch_add(1, Ordering::SeqCst);
                piece
            }
        });
        (answer(Format::Json, b"[0".to_vec(), rest, String::new()), begun)
    }

    fn numbered(count: u8) -> Vec<Piece> {
        (1..=count).map(|number| Ok(vec![b',', b'0' + number])).collect()
    }

    #[tokio::test]
    async fn pieces_come_in_order() {
        let (response, _) = of_pieces(numbered(5));
        assert_eq!(to_bytes(response.into_body(), usize::MAX).await.unwrap(), "[0,1,2,3,4,5]}");
    }

    #[tokio::test]
    async fn one_piece_has_its_length() {
        let (response, _) = of_pieces(Vec::new());
        assert_eq!(http_body_size(&response), Some(4));
        let (response, _) = of_pieces(numbered(1));
        assert_eq!(http_body_size(&response), None);
    }

    fn http_body_size(response: &Response) -> Option<u64> {
        axum::body::HttpBody::size_hint(response.body()).exact()
    }

    #[tokio::test]
    async fn a_client_that_stops_reading_stops_the_work() {
        let (response, begun) = of_pieces(numbered(9));
        let mut body = response.into_body().into_data_stream();
        for read in 1..=4 {
            assert!(body.next().await.unwrap().is_ok());
            pause().await;
            // Of those that were read one was there from the beginning.
            assert!(begun.load(Ordering::SeqCst) < read + MAX_PIECES_AT_ONCE, "{read}: {begun:?}");
        }
        let until_then = begun.load(Ordering::SeqCst);
        drop(body);
        pause().await;
        assert_eq!(begun.load(Ordering::SeqCst), until_then);
    }

    #[tokio::test]
    async fn a_piece_is_made_while_the_one_before_is_taken() {
        let (response, begun) = of_pieces(numbered(9));
        let mut body = response.into_body().into_data_stream();
        for read in 1..=4 {
            assert!(body.next().await.unwrap().is_ok());
            pause().await;
            assert_eq!(begun.load(Ordering::SeqCst), if read == 1 { 0 } else { read });
        }
    }

    /// Lets the tasks run that can.
    async fn pause() {
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn nothing_follows_a_failure() {
        let mut pieces = numbered(5);
        pieces[2] = Err(Problem::Catalog(Error::Background));
        let (response, _) = of_pieces(pieces);
        let pieces: Vec<_> = response.into_body().into_data_stream().collect().await;
        let shown: Vec<_> = pieces.into_iter().map(Result::ok).collect();
        let piece = |text: &'static str| Some(Bytes::from(text));
        assert_eq!(shown, [piece("[0"), piece(",1"), piece(",2"), None]);
    }
}
