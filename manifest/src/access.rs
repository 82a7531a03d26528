//! Access tokens: by which hashes they are known, what they are called, and what they open.
//!
//! A row is never deleted: a name that stands in the journal means one token for ever.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use rusqlite::{OpenFlags, Row, params};

use crate::error::FormatError;
use crate::ids::Unsigned;
use crate::transaction::{ReadTransaction, WriteTransaction};
use crate::{Error, Result, TokenId, database};

/// The most tokens that hold at a time: neither revoked nor expired.
pub const MAX_TOKENS: u32 = 10_000;

/// How many migrations a store has at least that has a place for tokens.
const FIRST_VERSION_WITH_TOKENS: usize = 4;

/// What a token may do where it is granted. Each may do what those before it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Look at what is registered, and plan.
    Reader,
    /// Register, and change tables.
    Writer,
    /// Delete, expire, and give tokens.
    Admin,
}

impl Role {
    /// All roles, by what they may do.
    pub const ALL: [Self; 3] = [Self::Reader, Self::Writer, Self::Admin];

    /// How it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reader => "reader",
            Self::Writer => "writer",
            Self::Admin => "admin",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Role {
    type Err = FormatError;

    fn from_str(name: &str) -> Result<Self, FormatError> {
        let unknown = || FormatError::UnknownName(name.to_owned());
        Self::ALL.into_iter().find(|role| role.name() == name).ok_or_else(unknown)
    }
}

/// A role, and where it is granted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantRow {
    /// The namespace, and all below it; empty for all there are.
    pub namespace: String,
    /// What may be done there.
    pub role: Role,
}

/// A token to be created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewTokenRow {
    /// What its holder is called, unique among all tokens that there ever were.
    pub name: String,
    /// The SHA-256 of the token.
    pub token_hash: [u8; 32],
    /// Now, in milliseconds since 1970-01-01T00:00Z.
    pub created_at_ms: i64,
    /// The name of the token that it was created with; empty if none was needed.
    pub created_by: String,
    /// When it ends, in milliseconds since 1970-01-01T00:00Z; `None`: never.
    pub expires_at_ms: Option<i64>,
    /// What it opens, each namespace once.
    pub grants: Vec<GrantRow>,
}

/// A token as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenRow {
    /// Its id.
    pub token_id: TokenId,
    /// What it was created with; its grants by namespace.
    pub created: NewTokenRow,
    /// When it was revoked, in milliseconds since 1970-01-01T00:00Z; `None`: it was not.
    pub revoked_at_ms: Option<i64>,
}

const SELECT_TOKEN: &str = "
    SELECT token_id, name, token_hash, created_at_ms, created_by, expires_at_ms, revoked_at_ms
    FROM access_token
    WHERE name = ?1";

const LIST_TOKENS: &str = "
    SELECT token_id, name, token_hash, created_at_ms, created_by, expires_at_ms, revoked_at_ms
    FROM access_token
    WHERE name > ?1
    ORDER BY name
    LIMIT ?2";

const LIST_GRANTS: &str = "
    SELECT namespace, role
    FROM access_grant
    WHERE token_id = ?1
    ORDER BY namespace";

const COUNT_TOKENS: &str = "
    SELECT count(*)
    FROM access_token
    WHERE revoked_at_ms IS NULL AND (expires_at_ms IS NULL OR expires_at_ms > ?1)";

const INSERT_TOKEN: &str = "
    INSERT INTO access_token (name, token_hash, created_at_ms, created_by, expires_at_ms)
    VALUES (?1, ?2, ?3, ?4, ?5)";

const INSERT_GRANT: &str = "
    INSERT INTO access_grant (token_id, namespace, role)
    VALUES (?1, ?2, ?3)";

const REVOKE_TOKEN: &str = "
    UPDATE access_token
    SET revoked_at_ms = ?2
    WHERE token_id = ?1 AND revoked_at_ms IS NULL";

impl ReadTransaction<'_> {
    /// The token of this name, if there is or was one.
    ///
    /// # Errors
    /// [`Error::Sqlite`], [`Error::DamagedRow`].
    pub fn get_token(&self, name: &str) -> Result<Option<TokenRow>> {
        let token = self.query_first(SELECT_TOKEN, [name], token_row)?;
        token.map(|token| self.with_grants(token)).transpose()
    }

    /// Up to `limit` tokens, also those that hold no more, in the order of their names, from the first one after `after` (`""`:
    /// from the first).
    ///
    /// # Errors
    /// [`Error::Sqlite`], [`Error::DamagedRow`].
    pub fn list_tokens(&self, after: &str, limit: u32) -> Result<Vec<TokenRow>> {
        let tokens = self.query_all(LIST_TOKENS, params![after, limit], token_row)?;
        tokens.into_iter().map(|token| self.with_grants(token)).collect()
    }

    fn with_grants(&self, mut token: TokenRow) -> Result<TokenRow> {
        let id = token.token_id;
        token.created.grants = self.query_all(LIST_GRANTS, [id], |row| {
            let role = row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?;
            let role = role.parse().map_err(Error::damaged_row("role of a token", id.0))?;
            Ok(GrantRow { namespace: row.get(0)?, role })
        })?;
        Ok(token)
    }
}

/// All tokens of the store in the SQLite file at `path`, in the order of their names, also of one that nobody has open: nothing is
/// changed by it. A store of a version that knew no tokens has none.
///
/// # Errors
/// [`Error::NoStore`], [`Error::NotADatabase`], [`Error::ForeignDatabase`], [`Error::NewerDatabase`], [`Error::Sqlite`],
/// [`Error::DamagedRow`].
pub fn list_tokens_of(path: &Path) -> Result<Vec<TokenRow>> {
    let (connection, applied) = database::open_existing(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    if applied < FIRST_VERSION_WITH_TOKENS {
        return Ok(Vec::new());
    }
    ReadTransaction::new(&connection).list_tokens("", u32::MAX)
}

impl WriteTransaction<'_> {
    /// Creates a token.
    ///
    /// # Errors
    /// [`Error::TokenExists`], also if one of that name holds no more; [`Error::TooManyTokens`], [`Error::Sqlite`],
    /// [`Error::DamagedRow`].
    pub fn create_token(&self, new: &NewTokenRow) -> Result<TokenRow> {
        if self.get_token(&new.name)?.is_some() {
            return Err(Error::TokenExists(new.name.clone()));
        }
        if self.count_tokens(new.created_at_ms)? >= u64::from(MAX_TOKENS) {
            return Err(Error::TooManyTokens);
        }
        let values = params![new.name, new.token_hash, new.created_at_ms, new.created_by, new.expires_at_ms];
        let token_id = TokenId(self.insert(INSERT_TOKEN, values)?);
        for GrantRow { namespace, role } in &new.grants {
            self.execute(INSERT_GRANT, params![token_id, namespace, role.name()])?;
        }
        Ok(TokenRow { token_id, created: new.clone(), revoked_at_ms: None })
    }

    /// Ends a token, at `now_ms` in milliseconds since 1970-01-01T00:00Z. One that is revoked already stays as it is.
    ///
    /// # Errors
    /// [`Error::TokenNotFound`], [`Error::Sqlite`], [`Error::DamagedRow`].
    pub fn revoke_token(&self, name: &str, now_ms: i64) -> Result<TokenRow> {
        let not_found = || Error::TokenNotFound(name.to_owned());
        let token = self.get_token(name)?.ok_or_else(not_found)?;
        if token.revoked_at_ms.is_some() {
            return Ok(token);
        }
        self.execute(REVOKE_TOKEN, params![token.token_id, now_ms])?;
        Ok(TokenRow { revoked_at_ms: Some(now_ms), ..token })
    }

    fn count_tokens(&self, now_ms: i64) -> Result<u64> {
        let count = self.query_first(COUNT_TOKENS, [now_ms], |row| Ok(row.get::<_, Unsigned>(0)?.0))?;
        Ok(count.unwrap_or_default())
    }
}

/// A token without its grants.
fn token_row(row: &Row<'_>) -> Result<TokenRow> {
    let created = NewTokenRow {
        name: row.get(1)?,
        token_hash: row.get(2)?,
        created_at_ms: row.get(3)?,
        created_by: row.get(4)?,
        expires_at_ms: row.get(5)?,
        grants: Vec::new(),
    };
    Ok(TokenRow { token_id: row.get(0)?, created, revoked_at_ms: row.get(6)? })
}
