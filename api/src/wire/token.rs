//! Access tokens.

use std::fmt;

use prunus_catalog::{Fault, Grant, Grants, NewToken, Token, TokenSecret};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::time::{parse_time, to_rfc3339};
use crate::openapi::values::{GrantSchema, TokenNameSchema};

/// A token to be created.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(examples(json!({"name": "nightly-load", "grants": ["writer:lake.raw", "reader:lake"], "expires_at": "2099-01-01T00:00:00Z"})))]
pub struct NewTokenJson {
    /// What its holder is called: in the journal, in the log and to those who revoke it.
    #[schema(value_type = TokenNameSchema)]
    pub name: String,
    /// What it opens: from 1 to 100 grants, each of another place.
    #[schema(value_type = Vec<GrantSchema>, min_items = 1, max_items = 100)]
    pub grants: Vec<String>,
    /// When it ends, RFC 3339, with the token that it is created with at the latest; if it is absent, then, or never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub expires_at: Option<String>,
}

impl NewTokenJson {
    /// The token as the catalog is asked for it.
    pub(crate) fn parse(&self) -> Result<NewToken, Vec<Fault>> {
        let name = self.name.parse().map_err(|error| vec![Fault::at("name", format!("{error}"))]);
        let expires_at_ms = self.expires_at.as_deref().map(|text| parse_time("expires_at", text)).transpose();
        let rest = Fault::both(grants(&self.grants), expires_at_ms);
        let (name, (grants, expires_at_ms)) = Fault::both(name, rest)?;
        Ok(NewToken { name, grants, expires_at_ms })
    }
}

fn grants(texts: &[String]) -> Result<Grants, Vec<Fault>> {
    let (mut grants, mut faults) = (Vec::new(), Vec::new());
    for (index, text) in texts.iter().enumerate() {
        match text.parse::<Grant>() {
            Ok(grant) => grants.push(grant),
            Err(error) => faults.push(Fault::at(format!("grants[{index}]"), error.to_string())),
        }
    }
    if faults.is_empty() { Grants::new(grants) } else { Err(faults) }
}

/// A token as it stands, without the secret, which nobody can tell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TokenJson {
    /// What its holder is called.
    pub name: String,
    /// What it opens, by place.
    pub grants: Vec<String>,
    /// When it was created, RFC 3339.
    #[schema(format = DateTime)]
    pub created_at: String,
    /// The token that it was created with; empty if none was needed.
    pub created_by: String,
    /// When it ends, RFC 3339; absent if never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime, nullable = false)]
    pub expires_at: Option<String>,
    /// When it was revoked, RFC 3339; absent if it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime, nullable = false)]
    pub revoked_at: Option<String>,
}

impl From<Token> for TokenJson {
    fn from(token: Token) -> Self {
        Self {
            name: token.name,
            grants: token.grants.iter().map(ToString::to_string).collect(),
            created_at: to_rfc3339(token.created_at_ms),
            created_by: token.created_by,
            expires_at: token.expires_at_ms.map(to_rfc3339),
            revoked_at: token.revoked_at_ms.map(to_rfc3339),
        }
    }
}

/// A token that was created now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CreatedTokenJson {
    /// The token.
    #[serde(flatten)]
    pub token: TokenJson,
    /// The secret, to be sent as `Authorization: Bearer SECRET`. It is told here and never again.
    #[schema(value_type = String)]
    pub secret: SecretJson,
}

impl From<(Token, TokenSecret)> for CreatedTokenJson {
    fn from((token, secret): (Token, TokenSecret)) -> Self {
        Self { token: token.into(), secret: SecretJson(secret.reveal().to_owned()) }
    }
}

/// The secret of a token. It is shown as JSON, and nowhere else.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SecretJson(String);

impl SecretJson {
    /// What it is, for the one who is to have it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SecretJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretJson(***)")
    }
}

/// A page of tokens by name, those that hold no more among them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TokensJson {
    /// The page.
    pub tokens: Vec<TokenJson>,
    /// What asks for the next page; absent at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub next_page_token: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_of_a_token_is_told() {
        let new = NewTokenJson {
            name: "a b".to_owned(),
            grants: vec!["reader".to_owned(), "owner".to_owned(), "reader:a..b".to_owned()],
            expires_at: Some("tomorrow".to_owned()),
        };
        let places: Vec<_> = new.parse().unwrap_err().into_iter().filter_map(|fault| fault.at).collect();
        assert_eq!(places, ["name", "grants[1]", "grants[2]", "expires_at"]);
    }

    #[test]
    fn a_created_token_does_not_show_its_secret_by_accident() {
        let json =
            serde_json::json!({"name": "n", "grants": [], "created_at": "", "created_by": "", "secret": "hidden"});
        let created: CreatedTokenJson = serde_json::from_value(json).unwrap();
        assert!(!format!("{created:?}").contains("hidden"));
        assert_eq!(created.secret.reveal(), "hidden");
    }
}
