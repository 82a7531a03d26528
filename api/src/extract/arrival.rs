//! The arrival of bodies: how large they may be, how long they may take, and how much of them there may be in memory.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap};
use futures::StreamExt;
use prunus_catalog::Error;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

use super::encoding::{Encoding, decompress};
use super::room::{Held, Room};
use crate::problem::Problem;
use crate::router::MAX_BODY_BYTES;
use crate::server::seconds;
use crate::settings::LimitSettings;

/// How many of the largest bodies there is room for, beside one that takes room beyond.
const BODIES_AT_ONCE: usize = 2;
/// The least room that there is, in bytes.
const MIN_ROOM_BYTES: usize = 16 << 20;
/// How many large bodies are worked on at a time, on threads that may block.
const WORK_AT_ONCE: usize = 2;
/// How much is reserved for a body that says how long it is, in bytes. For more it must have arrived.
const MAX_RESERVED_BYTES: usize = 1 << 20;

/// What holds for all bodies together.
pub(crate) struct BodyRules {
    bytes_max: usize,
    time: Duration,
    room: Arc<Room>,
    work: Arc<Semaphore>,
}

impl BodyRules {
    pub(crate) fn of(limits: &LimitSettings) -> Self {
        let bytes_max = limits.body_bytes.min(MAX_BODY_BYTES);
        Self {
            bytes_max,
            time: seconds(limits.body_seconds),
            room: Arc::new(Room::of_bytes(MIN_ROOM_BYTES.max(BODIES_AT_ONCE * bytes_max))),
            work: Arc::new(Semaphore::new(WORK_AT_ONCE)),
        }
    }

    /// The most bytes that a body has, as it arrives and as it is once it is decompressed.
    pub(super) fn bytes_max(&self) -> usize {
        self.bytes_max
    }

    /// Runs work that takes a while on a thread that may block, when it has its turn.
    pub(super) async fn run_in_turn<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let turn = Arc::clone(&self.work).acquire_owned().await.map_err(|_| Error::Background)?;
        self.run(move || {
            let done = work();
            drop(turn);
            done
        })
        .await
    }

    /// The same without a turn. A panic of it is one of the caller.
    pub(super) async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, Problem> {
        tokio::task::spawn_blocking(work).await.map_err(|error| match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Error::Background.into(),
        })
    }
}

/// A request's body, on its way. All clones are of the same; what it has of room it has until the last of them is dropped, or until it
/// is given back.
#[derive(Clone)]
pub(crate) struct BodyTurn {
    rules: Arc<BodyRules>,
    /// `None` until it has arrived.
    held: Arc<Mutex<Option<Held>>>,
}

impl BodyTurn {
    pub(crate) fn new(rules: &Arc<BodyRules>) -> Self {
        Self { rules: Arc::clone(rules), held: Arc::default() }
    }

    /// That of a request, or the usual one where no gate gave it any.
    pub(super) fn of(extensions: &Extensions) -> Self {
        let usual = || Self::new(&Arc::new(BodyRules::of(&LimitSettings::default())));
        extensions.get().cloned().unwrap_or_else(usual)
    }

    pub(super) fn rules(&self) -> &BodyRules {
        &self.rules
    }

    /// Gives back what it has of room. For what counts what is made of the body by itself.
    pub(crate) fn give_room_back(&self) {
        if let Some(held) = self.held.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            *held = Held::none(&self.rules.room);
        }
    }

    fn has_arrived(&self) -> bool {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// The body, once all of it is there, as it is without its encoding.
    pub(super) async fn arrive(&self, headers: &HeaderMap, body: Body) -> Result<Bytes, Problem> {
        if self.has_arrived() {
            // Put back by whoever read it first.
            return axum::body::to_bytes(body, usize::MAX).await.map_err(|_| Problem::BodyUnreadable);
        }
        let encoding = Encoding::of(headers)?;
        let mut arrival = Arrival::begin(Arc::clone(&self.rules));
        let mut bytes = arrival.whole(body).await?;
        if let Some(encoding) = encoding {
            bytes = decompress(encoding, bytes, &mut arrival).await?;
        }
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = Some(arrival.held);
        Ok(bytes)
    }
}

/// For handlers; the request keeps it all the same.
impl<S: Send + Sync> FromRequestParts<S> for BodyTurn {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::of(&parts.extensions))
    }
}

/// A body that arrives.
pub(super) struct Arrival {
    rules: Arc<BodyRules>,
    held: Held,
    deadline: Instant,
}

impl Arrival {
    fn begin(rules: Arc<BodyRules>) -> Self {
        Self { held: Held::none(&rules.room), deadline: Instant::now() + rules.time, rules }
    }

    pub(super) fn rules(&self) -> &BodyRules {
        &self.rules
    }

    /// Waits for room for so many bytes of it in all.
    pub(super) async fn make_room(&mut self, bytes: usize) -> Result<(), Problem> {
        timeout_at(self.deadline, self.held.grow_to(bytes)).await.map_err(|_| Problem::NoRoomForBody)
    }

    /// Waits for its turn to be worked on for longer.
    pub(super) async fn turn(&self) -> Result<OwnedSemaphorePermit, Problem> {
        let turn = timeout_at(self.deadline, Arc::clone(&self.rules.work).acquire_owned()).await;
        turn.map_err(|_| Problem::NoRoomForBody)?.map_err(|_| Error::Background.into())
    }

    /// All of a body, as it is sent.
    async fn whole(&mut self, body: Body) -> Result<Bytes, Problem> {
        let bytes_max = self.rules.bytes_max;
        let said = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
        if said > bytes_max {
            return Err(Problem::BodyTooLarge(bytes_max));
        }
        let mut pieces = body.into_data_stream();
        let Some(first) = self.next(&mut pieces).await? else { return Ok(Bytes::new()) };
        self.check(first.len()).await?;
        let Some(second) = self.next(&mut pieces).await? else { return Ok(first) };
        let mut whole = Vec::with_capacity(
            said.clamp(first.len() + second.len(), MAX_RESERVED_BYTES.max(first.len() + second.len())),
        );
        whole.extend_from_slice(&first);
        let mut piece = Some(second);
        while let Some(bytes) = piece {
            self.check(whole.len() + bytes.len()).await?;
            whole.extend_from_slice(&bytes);
            piece = self.next(&mut pieces).await?;
        }
        Ok(whole.into())
    }

    async fn next(&self, pieces: &mut axum::body::BodyDataStream) -> Result<Option<Bytes>, Problem> {
        let piece = timeout_at(self.deadline, pieces.next())
            .await
            .map_err(|_| Problem::BodyTooSlow(self.rules.time.as_secs()))?;
        piece.transpose().map_err(|_| Problem::BodyUnreadable)
    }

    /// Whether there may be so many bytes, and there is room for them.
    async fn check(&mut self, bytes: usize) -> Result<(), Problem> {
        if bytes > self.rules.bytes_max {
            return Err(Problem::BodyTooLarge(self.rules.bytes_max));
        }
        self.make_room(bytes).await
    }
}

#[cfg(test)]
mod tests {
    use super::super::room::FREE_BYTES;
    use super::*;

    fn rules() -> Arc<BodyRules> {
        Arc::new(BodyRules::of(&LimitSettings { body_bytes: 1 << 20, body_seconds: 1, ..LimitSettings::default() }))
    }

    /// A body of so many bytes, as it arrives.
    async fn arrived(turn: &BodyTurn, bytes: usize) -> Result<usize, Problem> {
        let body = Body::from(vec![b' '; bytes]);
        turn.arrive(&HeaderMap::new(), body).await.map(|bytes| bytes.len())
    }

    #[tokio::test]
    async fn a_body_for_which_there_is_no_room_is_refused_and_a_small_one_needs_none() {
        let rules = rules();
        let [mut all, mut beyond] = [(); 2].map(|()| Held::none(&rules.room));
        all.grow_to(FREE_BYTES + MIN_ROOM_BYTES).await;
        beyond.grow_to(2 * FREE_BYTES).await;
        let check = async |bytes: usize| arrived(&BodyTurn::new(&rules), bytes).await;
        assert!(matches!(check(FREE_BYTES + 1).await, Err(Problem::NoRoomForBody)));
        assert_eq!(check(FREE_BYTES).await.unwrap(), FREE_BYTES);
        drop(beyond);
        assert_eq!(check(FREE_BYTES + 1).await.unwrap(), FREE_BYTES + 1);
    }

    #[tokio::test]
    async fn a_body_has_its_room_for_as_long_as_its_turn_is_held() {
        let rules = rules();
        let mut all = Held::none(&rules.room);
        all.grow_to(FREE_BYTES + MIN_ROOM_BYTES).await;
        let turn = BodyTurn::new(&rules);
        assert!(arrived(&turn, FREE_BYTES + 1).await.is_ok());
        let other = BodyTurn::new(&rules);
        assert!(arrived(&other, FREE_BYTES + 1).await.is_err());
        drop(turn);
        assert!(arrived(&other, FREE_BYTES + 1).await.is_ok());
    }

    #[tokio::test]
    async fn room_that_was_given_back_is_had_by_others() {
        let rules = rules();
        let mut all = Held::none(&rules.room);
        all.grow_to(FREE_BYTES + MIN_ROOM_BYTES).await;
        let [turn, other] = [(); 2].map(|()| BodyTurn::new(&rules));
        assert!(arrived(&turn, FREE_BYTES + 1).await.is_ok());
        turn.clone().give_room_back();
        assert!(arrived(&other, FREE_BYTES + 1).await.is_ok());
        assert!(turn.has_arrived());
    }

    #[tokio::test]
    async fn who_waits_for_room_has_no_turn() {
        let rules = rules();
        let [mut all, mut beyond] = [(); 2].map(|()| Held::none(&rules.room));
        all.grow_to(FREE_BYTES + MIN_ROOM_BYTES).await;
        beyond.grow_to(2 * FREE_BYTES).await;
        let zeros = zstd::encode_all(&*vec![0; 1 << 20], 3).unwrap();
        let headers = HeaderMap::from_iter([(axum::http::header::CONTENT_ENCODING, "zstd".parse().unwrap())]);
        let turns = [(); WORK_AT_ONCE].map(|()| BodyTurn::new(&rules));
        // Each gives its room back when it has arrived, so that the next one has some.
        let waiting = turns.map(async |turn| turn.arrive(&headers, Body::from(zeros.clone())).await.map(drop));
        let waiting = futures::future::join_all(waiting);
        let work = async {
            tokio::time::sleep(Duration::from_millis(200)).await;
            let done = rules.run_in_turn(|| ()).await;
            drop(beyond);
            done
        };
        let (arrived, done) = tokio::join!(waiting, tokio::time::timeout(Duration::from_millis(500), work));
        assert!(done.is_ok());
        assert!(arrived.iter().all(Result::is_ok), "{arrived:?}");
    }

    #[tokio::test]
    async fn a_body_that_was_put_back_is_read_as_it_is() {
        let turn = BodyTurn::new(&rules());
        assert!(arrived(&turn, 1).await.is_ok());
        let headers = HeaderMap::from_iter([(axum::http::header::CONTENT_ENCODING, "gzip".parse().unwrap())]);
        assert_eq!(turn.arrive(&headers, Body::from("{}")).await.unwrap(), "{}");
    }
}
