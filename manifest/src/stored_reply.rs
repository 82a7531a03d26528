//! Replies that are kept, so that a request that is sent again is answered and not carried out again.

use rusqlite::{Row, params};

use crate::transaction::{ReadTransaction, WriteTransaction};
use crate::{Error, Result, checked};

/// How long a reply is kept, in milliseconds.
pub const REPLY_KEPT_MS: i64 = 24 * 60 * 60 * 1000;

/// How many old replies are dropped when a new one is stored: more than one, so that a pile of them shrinks.
const MAX_DROPPED_PER_REPLY: u32 = 8;

/// What a request is known by when it is sent again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestKey {
    /// Who asked, and what for: keys of different scopes have nothing to do with each other.
    pub scope: String,
    /// The key that the client gave it.
    pub key: String,
    /// A hash of what was asked. It tells a request from another one that was given its key by mistake; whoever finds
    /// two contents of one hash on purpose is given their own first reply.
    pub content_hash: u128,
}

/// A reply as it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredReply {
    /// The HTTP status.
    pub status: u16,
    /// The body; empty if there was none.
    pub body: Vec<u8>,
}

const SELECT_REPLY: &str = "
    SELECT rowid, content_hash, status, body
    FROM stored_reply
    WHERE scope = ?1 AND idempotency_key = ?2 AND stored_at_ms > ?3";

// What is replaced is a reply that is too old to be given.
const INSERT_REPLY: &str = "
    INSERT OR REPLACE INTO stored_reply (scope, idempotency_key, content_hash, status, body, stored_at_ms)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6)";

const DROP_OLD_REPLIES: &str = "
    DELETE FROM stored_reply
    WHERE rowid IN (
        SELECT rowid
        FROM stored_reply
        WHERE stored_at_ms <= ?1
        ORDER BY stored_at_ms
        LIMIT ?2)";

impl ReadTransaction<'_> {
    /// The reply that a request was given in the last [`REPLY_KEPT_MS`] before `now_ms`, which is in milliseconds since
    /// 1970-01-01T00:00Z; `None` if there is none.
    ///
    /// # Errors
    /// [`Error::KeyReused`] if another content was sent with the key; [`Error::Sqlite`], [`Error::DamagedRow`].
    pub fn get_reply(&self, request: &RequestKey, now_ms: i64) -> Result<Option<StoredReply>> {
        let values = params![request.scope, request.key, now_ms.saturating_sub(REPLY_KEPT_MS)];
        match self.query_first(SELECT_REPLY, values, reply_row)? {
            Some((content_hash, _)) if content_hash != hash_text(request) => Err(Error::KeyReused),
            found => Ok(found.map(|(_, reply)| reply)),
        }
    }
}

impl WriteTransaction<'_> {
    /// Stores the reply to a request that has none, as [`ReadTransaction::get_reply`] says, and drops some of the replies
    /// that are too old to be given.
    ///
    /// # Errors
    /// [`Error::Sqlite`].
    pub fn insert_reply(&self, request: &RequestKey, reply: &StoredReply, now_ms: i64) -> Result<()> {
        let body = checked::seal(&reply.body);
        let values = params![request.scope, request.key, hash_text(request), reply.status, body, now_ms];
        self.execute(INSERT_REPLY, values)?;
        self.execute(DROP_OLD_REPLIES, params![now_ms.saturating_sub(REPLY_KEPT_MS), MAX_DROPPED_PER_REPLY])?;
        Ok(())
    }
}

fn hash_text(request: &RequestKey) -> String {
    format!("{:032x}", request.content_hash)
}

fn reply_row(row: &Row<'_>) -> Result<(String, StoredReply)> {
    let body = row.get_ref(3)?.as_blob().map_err(rusqlite::Error::from)?;
    let body = checked::open(body).map_err(Error::damaged_row("body of a reply", row.get(0)?))?.to_vec();
    Ok((row.get(1)?, StoredReply { status: row.get(2)?, body }))
}
