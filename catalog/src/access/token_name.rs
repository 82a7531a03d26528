//! What tokens are called.

use std::fmt;
use std::str::FromStr;

/// The longest name of a token, in bytes.
pub const MAX_TOKEN_NAME_BYTES: usize = 128;

/// What the holder of a token is called: letters and digits of ASCII, and `.`, `_`, `-`, `@` behind the first. So it stands in logs,
/// paths and scopes of keys as it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenName(String);

/// A text that is no name of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the name of a token has from 1 to {MAX_TOKEN_NAME_BYTES} letters, digits, `.`, `_`, `-` or `@` of ASCII, and begins with a \
     letter or digit"
)]
pub struct TokenNameError;

impl TokenName {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for TokenName {
    type Err = TokenNameError;

    fn from_str(text: &str) -> Result<Self, TokenNameError> {
        let begins = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
        let goes_on = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-@".contains(&byte));
        if begins && goes_on && text.len() <= MAX_TOKEN_NAME_BYTES {
            Ok(Self(text.to_owned()))
        } else {
            Err(TokenNameError)
        }
    }
}

impl fmt::Display for TokenName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_hold_to_their_form() {
        for name in ["etl", "7", "nightly.load-2", "ana_b@example.org", &"n".repeat(MAX_TOKEN_NAME_BYTES)] {
            assert_eq!(name.parse::<TokenName>().unwrap().as_str(), name);
        }
        for name in ["", ".", "..", "-x", "a b", "a/b", "ä", "a\n", &"n".repeat(MAX_TOKEN_NAME_BYTES + 1)] {
            assert_eq!(name.parse::<TokenName>(), Err(TokenNameError), "{name}");
        }
    }
}
