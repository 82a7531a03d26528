//! Answers that wait for their client no longer than their snapshot does.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use futures::stream::{self, Stream};
use prunus_catalog::{Error, LEASE_MS};
use tokio::task::JoinSet;
use tracing::Instrument;

use crate::problem::Problem;

/// How long an answer waits until its next piece is asked for. After that its snapshot is not held any more, either.
pub(super) const PATIENCE: Duration = Duration::from_millis(LEASE_MS.unsigned_abs());

type Pieces<T> = Pin<Box<dyn Stream<Item = Result<T, Problem>> + Send>>;

/// What is left of an answer.
struct Rest<T> {
    /// `None` once it was let go.
    pieces: Option<Pieces<T>>,
    /// Since when nobody asks for the next piece; `None` while somebody does.
    idle_since: Option<Instant>,
}

/// These pieces, as long as the next is asked for within `patience` from the one before. Then all that they hold is let go, though
/// the stream itself may be held for longer, and whoever does ask finds it broken off.
pub(super) fn while_asked_for<T: Send + 'static>(
    pieces: impl Stream<Item = Result<T, Problem>> + Send + 'static,
    patience: Duration,
) -> impl Stream<Item = Result<T, Problem>> + Send {
    let rest = Arc::new(Mutex::new(Rest { pieces: Some(Box::pin(pieces)), idle_since: Some(Instant::now()) }));
    // It ends with the stream.
    let mut watch = JoinSet::new();
    watch.spawn(let_go(Arc::downgrade(&rest), patience).in_current_span());
    stream::poll_fn(move |context| {
        let _watch = &watch;
        lock(&rest).poll_next(context)
    })
}

impl<T> Rest<T> {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<T, Problem>>> {
        let Some(pieces) = &mut self.pieces else {
            let what = "the rest of an answer that nobody asked for".to_owned();
            return Poll::Ready(Some(Err(Problem::Catalog(Error::Expired { what }))));
        };
        let polled = pieces.as_mut().poll_next(context);
        self.idle_since = polled.is_ready().then(Instant::now);
        polled
    }
}

/// Lets an answer go once nobody has asked for it for so long.
async fn let_go<T>(rest: Weak<Mutex<Rest<T>>>, patience: Duration) {
    let mut pause = patience;
    loop {
        tokio::time::sleep(pause).await;
        let Some(rest) = rest.upgrade() else { return };
        let mut rest = lock(&rest);
        let idle = rest.idle_since.map_or(Duration::ZERO, |since| since.elapsed());
        if idle >= patience {
            rest.pieces = None;
            tracing::info!("an answer was let go: its client takes nothing of it any more");
            return;
        }
        pause = patience.saturating_sub(idle);
    }
}

fn lock<T>(rest: &Mutex<Rest<T>>) -> MutexGuard<'_, Rest<T>> {
    rest.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use futures::StreamExt;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(1);

    /// Pieces that all hold the same, and what they hold.
    fn pieces() -> (impl Stream<Item = Result<u8, Problem>> + Unpin, Weak<()>) {
        let held = Arc::new(());
        let is_held = Arc::downgrade(&held);
        let pieces = stream::iter(0..9).zip(stream::repeat(held)).map(|(number, _)| Ok(number));
        (while_asked_for(pieces, PATIENCE), is_held)
    }

    #[tokio::test]
    async fn what_nobody_asks_for_is_let_go() {
        let (mut pieces, held) = pieces();
        assert!(pieces.next().await.is_some_and(|piece| piece.is_ok()));
        assert!(held.upgrade().is_some());
        tokio::time::sleep(2 * PATIENCE).await;
        assert!(held.upgrade().is_none());
        assert!(pieces.next().await.is_some_and(|piece| piece.is_err()));
    }

    #[tokio::test]
    async fn what_is_asked_for_now_and_then_is_whole() {
        let (mut pieces, _) = pieces();
        let mut read = Vec::new();
        while let Some(piece) = pieces.next().await {
            read.push(piece.unwrap());
            tokio::time::sleep(PATIENCE / 50).await;
        }
        assert_eq!(read, (0..9).collect::<Vec<_>>());
    }

    #[tokio::test]
    async fn a_piece_that_takes_long_is_waited_for() {
        let slow = stream::once(async {
            tokio::time::sleep(2 * PATIENCE).await;
            Ok(1_u8)
        });
        let pieces: Vec<_> = while_asked_for(slow, PATIENCE).map(Result::ok).collect().await;
        assert_eq!(pieces, [Some(1)]);
    }
}
