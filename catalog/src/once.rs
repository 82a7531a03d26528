//! Requests that are carried out once, however often they are sent.
//!
//! A client that does not hear of an answer sends its request again, under the same key. Where the change is one transaction,
//! the reply to the first one is stored in it ([`Once`]), so there is no moment at which one of them is there and the other is
//! not. An expiry and a grouping anew are many transactions, and a refusal is none: their replies are stored after the fact
//! ([`Catalog::ensure_reply`]), and what is killed before that is carried out again.

use prunus_manifest::{RequestKey, StoredReply, WriteTransaction};

use crate::Result;
use crate::catalog::Catalog;

/// Whether a use case is asked for under a key, and what is then kept of its outcome.
pub struct Once<T> {
    keyed: Option<(RequestKey, Render<T>)>,
}

/// What a client is told of an outcome.
pub type Render<T> = fn(&T) -> Result<StoredReply>;

impl<T> Clone for Once<T> {
    fn clone(&self) -> Self {
        Self { keyed: self.keyed.clone() }
    }
}

/// What came of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Done<T> {
    /// It was carried out now.
    Now(T),
    /// It was carried out before, and this was the reply.
    Before(StoredReply),
}

impl<T> Once<T> {
    /// Under no key: each request is carried out.
    pub const fn unkeyed() -> Self {
        Self { keyed: None }
    }

    /// Under a key. `render` says what is stored of the outcome; it runs in the transaction and should be quick.
    pub const fn keyed(request: RequestKey, render: Render<T>) -> Self {
        Self { keyed: Some((request, render)) }
    }

    /// Whether the request has a key.
    pub(crate) const fn is_keyed(&self) -> bool {
        self.keyed.is_some()
    }

    /// Runs the job of a request, unless it is answered already, and stores its reply beside what it did.
    pub(crate) fn run(
        &self,
        tx: &WriteTransaction<'_>,
        now_ms: i64,
        job: impl FnOnce(&WriteTransaction<'_>) -> Result<T>,
    ) -> Result<Done<T>> {
        let Some((request, render)) = &self.keyed else { return job(tx).map(Done::Now) };
        if let Some(reply) = tx.get_reply(request, now_ms)? {
            return Ok(Done::Before(reply));
        }
        let outcome = job(tx)?;
        tx.insert_reply(request, &render(&outcome)?, now_ms)?;
        Ok(Done::Now(outcome))
    }
}

impl<T> Done<T> {
    /// What came of a request under no key.
    pub(crate) fn of_unkeyed(self) -> T {
        match self {
            Self::Now(outcome) => outcome,
            Self::Before(_) => unreachable!("a reply is found by its key alone"),
        }
    }
}

impl Catalog {
    /// The reply that a request was given before, if it was.
    ///
    /// # Errors
    /// [`Error::KeyReused`](crate::Error::KeyReused), [`Error::Store`](crate::Error::Store).
    pub async fn get_reply(&self, request: RequestKey) -> Result<Option<StoredReply>> {
        let now_ms = self.clock.now_ms();
        let reply = self.read(move |tx| Ok(tx.get_reply(&request, now_ms)?)).await?;
        self.activity.replies_replayed.add(reply.is_some().into());
        Ok(reply)
    }

    /// Stores the reply to a request whose outcome was not stored with it: a refusal, or what is more than one transaction. If
    /// the request was answered meanwhile, that answer stands and is returned.
    ///
    /// # Errors
    /// [`Error::KeyReused`](crate::Error::KeyReused), [`Error::Store`](crate::Error::Store).
    pub async fn ensure_reply(&self, request: RequestKey, reply: StoredReply) -> Result<Option<StoredReply>> {
        let (turn, now_ms) = (self.admission.note().await?, self.clock.now_ms());
        let earlier = self
            .write(move |tx| {
                let _turn = &turn;
                let earlier = tx.get_reply(&request, now_ms)?;
                if earlier.is_none() {
                    tx.insert_reply(&request, &reply, now_ms)?;
                }
                Ok(earlier)
            })
            .await?;
        let counted = if earlier.is_none() { &self.activity.replies_stored } else { &self.activity.replies_replayed };
        counted.add(1);
        Ok(earlier)
    }
}
