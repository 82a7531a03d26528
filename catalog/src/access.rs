//! Who may do what: tokens, and the grants that each has.
//!
//! A token is shown once, when it is created, and stored as its hash. All of them are in memory, so that a request costs a hash
//! and a look into a map; what is created or revoked counts there once it is durable.

mod grant;
mod principal;
mod secret;
mod token_name;
mod tokens;

use std::sync::Arc;
use std::time::Duration;

use prunus_manifest::{NewTokenRow, Role, TokenRow, WriteTransaction};

use crate::catalog::Catalog;
use crate::journal::{Change, Made};
use crate::page::PageSize;
use crate::{Error, Fault, Result, blocking};

pub use grant::{Grant, GrantError, Grants, MAX_GRANTS, Scope};
pub use principal::{Needed, Places, Principal};
pub use secret::{TokenFormError, TokenSecret};
pub use token_name::{MAX_TOKEN_NAME_BYTES, TokenName, TokenNameError};
pub use tokens::RefusedToken;
pub(crate) use tokens::Tokens;

/// How many tokens are read at a time.
const TOKENS_PER_READ: u32 = 1_000;

/// A token to be created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewToken {
    /// What its holder is called.
    pub name: TokenName,
    /// What it opens.
    pub grants: Grants,
    /// When it ends, in milliseconds since 1970-01-01T00:00Z; `None`: with the token that it is created with, or never.
    pub expires_at_ms: Option<i64>,
}

/// A token as it stands; not the secret itself, which nobody can tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// What its holder is called.
    pub name: String,
    /// What it opens.
    pub grants: Grants,
    /// When it was created, in milliseconds since 1970-01-01T00:00Z.
    pub created_at_ms: i64,
    /// The name of the token that it was created with; empty if none was needed.
    pub created_by: String,
    /// When it ends, in milliseconds since 1970-01-01T00:00Z; `None`: never.
    pub expires_at_ms: Option<i64>,
    /// When it was revoked, in milliseconds since 1970-01-01T00:00Z; `None`: it was not.
    pub revoked_at_ms: Option<i64>,
}

impl Token {
    pub(crate) fn of_row(row: TokenRow) -> Result<Self> {
        let NewTokenRow { name, created_at_ms, created_by, expires_at_ms, grants, .. } = row.created;
        let grants = Grants::of_rows(grants).ok_or_else(|| Error::StoredGrant(name.clone()))?;
        Ok(Self { name, grants, created_at_ms, created_by, expires_at_ms, revoked_at_ms: row.revoked_at_ms })
    }

    /// Whether it opens anything at this time, in milliseconds since 1970-01-01T00:00Z.
    pub fn holds_at(&self, now_ms: i64) -> bool {
        self.revoked_at_ms.is_none() && self.expires_at_ms.is_none_or(|end_ms| now_ms < end_ms)
    }

    /// Whether it opens everything at this time, so that all other tokens can be given with it.
    fn is_admin_of_everything_at(&self, now_ms: i64) -> bool {
        let everything = Grant { role: Role::Admin, scope: Scope::Everywhere };
        self.holds_at(now_ms) && self.grants.iter().any(|grant| *grant == everything)
    }
}

impl Catalog {
    /// Creates a token, whose secret is told here and never again.
    ///
    /// # Errors
    /// [`Error::Forbidden`] if the principal is no admin of all that it opens; [`Error::AlreadyExists`] if there is, or was, one of
    /// that name; [`Error::Invalid`] if it ends before it begins or after the principal's own, or if there are too many; [`Error::NoRandomness`],
    /// [`Error::Store`].
    pub async fn create_token(&self, new: NewToken) -> Result<(Token, TokenSecret)> {
        self.principal.require_all_of(&new.grants)?;
        // Whoever pastes a secret where a name belongs would have it stand in the journal and in the log.
        if new.name.as_str().starts_with(secret::PREFIX) {
            let message = format!("a name does not begin with `{}`, as the tokens themselves do", secret::PREFIX);
            return Err(Error::invalid(Fault::at("name", message)));
        }
        let now_ms = self.clock.now_ms();
        let expires_at_ms = self.principal.end_of_given(new.expires_at_ms)?;
        if expires_at_ms.is_some_and(|end_ms| end_ms <= now_ms) {
            return Err(Error::invalid(Fault::at("expires_at", "a token ends in the future")));
        }
        let secret = TokenSecret::generate()?;
        let row = NewTokenRow {
            name: new.name.as_str().to_owned(),
            token_hash: secret.hash(),
            created_at_ms: now_ms,
            created_by: self.actor.principal.clone(),
            expires_at_ms,
            grants: new.grants.to_rows(),
        };
        let granted: Vec<String> = new.grants.iter().map(ToString::to_string).collect();
        let catalog = self.clone();
        // To its end, so that no caller that goes away leaves the memory behind the store.
        blocking::to_the_end(async move {
            let _turn = catalog.tokens.turn().await;
            let create = move |tx: &WriteTransaction<'_>| {
                let change = Change::of_catalog("create_token").with("token", row.name.clone());
                Ok(Made::change(tx.create_token(&row)?, change.with_list("grants", &granted)))
            };
            let row = catalog.write_note(create).await?;
            catalog.tokens.note(row.clone())?;
            Ok((Token::of_row(row)?, secret))
        })
        .await
    }

    /// Ends a token at once. One that is revoked already stays as it is.
    ///
    /// # Errors
    /// [`Error::Invalid`] for the last that is admin of everything, if a token is needed to ask for it;
    /// [`Error::NotFound`] for an admin of everything; [`Error::Forbidden`] if the principal is no admin of all that it opens,
    /// also if there is none of that name; [`Error::Store`].
    pub async fn revoke_token(&self, name: TokenName) -> Result<Token> {
        let (catalog, now_ms) = (self.clone(), self.clock.now_ms());
        blocking::to_the_end(async move {
            let _turn = catalog.tokens.turn().await;
            // Not the catalog: the thread that drops this is the store's own.
            let (principal, tokens) = (Arc::clone(&catalog.principal), Arc::clone(&catalog.tokens));
            let revoke = move |tx: &WriteTransaction<'_>| {
                let known = tx.get_token(name.as_str())?.map(Token::of_row).transpose()?;
                match &known {
                    Some(token) => {
                        principal.require_to_know(&token.grants)?;
                        tokens.require_another_admin(&principal, token, now_ms)?;
                    }
                    None => principal.require_everywhere(Role::Admin)?,
                }
                let row = tx.revoke_token(name.as_str(), now_ms)?;
                Ok(match known.and_then(|token| token.revoked_at_ms) {
                    Some(_) => Made::nothing(row),
                    None => Made::change(row, Change::of_catalog("revoke_token").with("token", name.as_str())),
                })
            };
            let row = catalog.write_note(revoke).await?;
            catalog.tokens.note(row.clone())?;
            Token::of_row(row)
        })
        .await
    }

    /// A page of the tokens that open nothing beyond what the principal is admin of, in the order of their names, from the first
    /// one after `after`, and whether there are more. Those that hold no more are among them.
    ///
    /// # Errors
    /// [`Error::StoredGrant`], [`Error::Store`].
    pub async fn list_tokens(&self, after: String, page_size: PageSize) -> Result<(Vec<Token>, bool)> {
        let principal = Arc::clone(&self.principal);
        self.read(move |tx| {
            let (mut after, mut tokens) = (after, Vec::new());
            loop {
                let rows = tx.list_tokens(&after, TOKENS_PER_READ)?;
                let Some(last) = rows.last() else { break };
                after.clone_from(&last.created.name);
                let read = rows.into_iter().map(Token::of_row).collect::<Result<Vec<Token>>>()?;
                tokens.extend(read.into_iter().filter(|token| principal.is_admin_of_all(&token.grants)));
                if tokens.len() > page_size.as_usize() {
                    break;
                }
            }
            let more = page_size.cut(&mut tokens);
            Ok((tokens, more))
        })
        .await
    }

    /// Who shows this token.
    ///
    /// # Errors
    /// [`RefusedToken`], which is for the log: whoever shows a token is not told what it is or was.
    pub fn authenticate(&self, token: &str) -> Result<Arc<Principal>, RefusedToken> {
        self.tokens.principal_of(token, self.clock.now_ms())
    }

    /// Whether anyone can give every token: some token holds that is admin of everything.
    pub fn has_admin(&self) -> bool {
        self.tokens.have_admin(self.clock.now_ms())
    }

    /// When the last token ends that is admin of everything, in milliseconds since 1970-01-01T00:00Z, if that is within this time.
    pub fn last_admin_ends_within(&self, within: Duration) -> Option<i64> {
        let now_ms = self.clock.now_ms();
        let latest_ms = now_ms.saturating_add(i64::try_from(within.as_millis()).unwrap_or(i64::MAX));
        self.tokens.last_admin_ends_at_ms(now_ms).filter(|end_ms| *end_ms <= latest_ms)
    }
}
