//! All tokens in memory, by their hashes.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use prunus_manifest::{ReadTransaction, TokenRow};
use tokio::sync::{Mutex, MutexGuard};

use super::principal::Principal;
use super::secret::hash_of;
use super::{TOKENS_PER_READ, Token};
use crate::{Error, Fault, Result};

/// Why a token opens nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RefusedToken {
    /// No such token was ever created.
    #[error("the token is unknown")]
    Unknown,
    /// Its time is over.
    #[error("the token `{0}` is expired")]
    Expired(String),
    /// It was revoked.
    #[error("the token `{0}` is revoked")]
    Revoked(String),
}

/// All tokens of a catalog, also those that hold no more, so that the log can say which was shown.
#[derive(Default)]
pub(crate) struct Tokens {
    by_hash: RwLock<HashMap<[u8; 32], Known>>,
    changes: Mutex<()>,
}

/// What is known of a token.
struct Known {
    principal: Arc<Principal>,
    token: Token,
}

impl Tokens {
    /// Those of a store.
    pub(crate) fn load(tx: &ReadTransaction<'_>) -> Result<Self> {
        let tokens = Self::default();
        let mut after = String::new();
        loop {
            let rows = tx.list_tokens(&after, TOKENS_PER_READ)?;
            let Some(last) = rows.last() else { return Ok(tokens) };
            after.clone_from(&last.created.name);
            rows.into_iter().try_for_each(|row| tokens.note(row))?;
        }
    }

    /// The turn to change a token. Who has it stores the change and notes it here, so that the last change noted is the last one
    /// stored.
    pub(super) async fn turn(&self) -> MutexGuard<'_, ()> {
        self.changes.lock().await
    }

    /// Notes a token as it is stored now.
    pub(super) fn note(&self, row: TokenRow) -> Result<()> {
        let hash = row.created.token_hash;
        let token = Token::of_row(row)?;
        let principal = Arc::new(Principal::new(token.name.clone(), token.grants.clone(), token.expires_at_ms));
        let mut known = self.by_hash.write().unwrap_or_else(PoisonError::into_inner);
        known.insert(hash, Known { principal, token });
        Ok(())
    }

    /// The holder of a token that holds at this time. The token is found by its hash, so that how long this takes says nothing of
    /// how much of it is right.
    pub(super) fn principal_of(&self, token: &str, now_ms: i64) -> Result<Arc<Principal>, RefusedToken> {
        let hash = hash_of(token).ok_or(RefusedToken::Unknown)?;
        let known = self.by_hash.read().unwrap_or_else(PoisonError::into_inner);
        let Known { principal, token } = known.get(&hash).ok_or(RefusedToken::Unknown)?;
        if token.revoked_at_ms.is_some() {
            return Err(RefusedToken::Revoked(token.name.clone()));
        }
        if !token.holds_at(now_ms) {
            return Err(RefusedToken::Expired(token.name.clone()));
        }
        Ok(Arc::clone(principal))
    }

    /// The ends of the tokens that hold at this time and are admin of everything, but for the one of that name.
    fn ends_of_admins(&self, now_ms: i64, apart_from: Option<&str>) -> Vec<Option<i64>> {
        let known = self.by_hash.read().unwrap_or_else(PoisonError::into_inner);
        let admins = known.values().map(|known| &known.token).filter(|token| token.is_admin_of_everything_at(now_ms));
        admins.filter(|token| apart_from != Some(&token.name)).map(|token| token.expires_at_ms).collect()
    }

    /// Whether a token that holds at this time is admin of everything.
    pub(super) fn have_admin(&self, now_ms: i64) -> bool {
        !self.ends_of_admins(now_ms, None).is_empty()
    }

    /// When the last of them ends; `None` if there is none, or one that does not end.
    pub(super) fn last_admin_ends_at_ms(&self, now_ms: i64) -> Option<i64> {
        let ends: Option<Vec<i64>> = self.ends_of_admins(now_ms, None).into_iter().collect();
        ends?.into_iter().max()
    }

    /// Refuses to end the last token that is admin of everything, where it is asked for with a token: nobody could give one again.
    /// Who needs no token is not shut out by that.
    pub(super) fn require_another_admin(&self, principal: &Principal, token: &Token, now_ms: i64) -> Result<()> {
        let is_last = || self.ends_of_admins(now_ms, Some(&token.name)).is_empty();
        if principal.name().is_empty() || !token.is_admin_of_everything_at(now_ms) || !is_last() {
            return Ok(());
        }
        Err(Error::invalid(Fault::new(format!(
            "`{}` is the last token that is admin of everything: create another first, or revoke it on the folder of the catalog, \
             while no server has that open",
            token.name
        ))))
    }
}
