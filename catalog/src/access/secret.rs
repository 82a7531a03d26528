//! The tokens themselves, which are known only to those who hold them.

use std::fmt;
use std::str::FromStr;

use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom, SystemRandom};

use crate::{Error, Result};

/// What every token begins with, so that one that lies about is known for what it is.
pub(super) const PREFIX: &str = "prunus_";
/// How many random bytes a token is made of.
const RANDOM_BYTES: usize = 32;
/// How long a token is, in bytes: the prefix, and a character for each six bits.
const TOKEN_BYTES: usize = PREFIX.len() + (RANDOM_BYTES * 8).div_ceil(6);

/// A token. It is shown where that is asked for by name, and nowhere else.
#[derive(Clone, PartialEq, Eq)]
pub struct TokenSecret(String);

/// A text that is no token. It is not repeated, since it may be one with a slip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a token is `{PREFIX}` and 43 letters, digits, `-` or `_`")]
pub struct TokenFormError;

impl TokenSecret {
    /// A token that nobody has had before.
    pub(super) fn generate() -> Result<Self> {
        let mut random = [0; RANDOM_BYTES];
        SystemRandom::new().fill(&mut random).map_err(|_| Error::NoRandomness)?;
        Ok(Self(format!("{PREFIX}{}", base64url(&random))))
    }

    /// What it is, for the one who is to have it.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// What is stored of it.
    pub(super) fn hash(&self) -> [u8; 32] {
        sha256(&self.0)
    }
}

impl FromStr for TokenSecret {
    type Err = TokenFormError;

    fn from_str(text: &str) -> Result<Self, TokenFormError> {
        let is_of_alphabet = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        let random = text.strip_prefix(PREFIX).ok_or(TokenFormError)?;
        if text.len() == TOKEN_BYTES && random.bytes().all(is_of_alphabet) {
            Ok(Self(text.to_owned()))
        } else {
            Err(TokenFormError)
        }
    }
}

impl fmt::Debug for TokenSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenSecret(***)")
    }
}

impl fmt::Display for TokenSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// The hash by which a token is known; `None` for what is too short or too long to be one, which is not worth hashing.
///
/// No salt and no slow hash: a token is as random as a key, so there is nothing to guess.
pub(super) fn hash_of(token: &str) -> Option<[u8; 32]> {
    (token.len() == TOKEN_BYTES).then(|| sha256(token))
}

fn sha256(token: &str) -> [u8; 32] {
    let mut hash = [0; 32];
    hash.copy_from_slice(digest(&SHA256, token.as_bytes()).as_ref());
    hash
}

/// The bytes in the alphabet of URLs (RFC 4648, section 5), without padding.
fn base64url(bytes: &[u8]) -> String {
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let missing = 3 - group.len();
        let bits = group.iter().fold(0_u32, |bits, byte| (bits << 8) | u32::from(*byte)) << (8 * missing);
        let sixes = [18, 12, 6, 0].map(|place| (bits >> place).to_le_bytes()[0] & 0b11_1111);
        text.extend(sixes.into_iter().take(4 - missing).map(character));
    }
    text
}

fn character(six_bits: u8) -> char {
    char::from(match six_bits {
        0..26 => b'A' + six_bits,
        26..52 => b'a' + six_bits - 26,
        52..62 => b'0' + six_bits - 52,
        62 => b'-',
        _ => b'_',
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_written_as_rfc_4648_has_it() {
        for (bytes, expected) in [
            (&b""[..], ""),
            (b"f", "Zg"),
            (b"fo", "Zm8"),
            (b"foo", "Zm9v"),
            (b"foob", "Zm9vYg"),
            (&[0xff, 0xfb], "__s"),
        ] {
            assert_eq!(base64url(bytes), expected);
        }
    }

    #[test]
    fn a_token_has_its_form_and_is_another_each_time() {
        let (one, other) = (TokenSecret::generate().unwrap(), TokenSecret::generate().unwrap());
        assert_eq!(one.reveal().parse::<TokenSecret>().as_ref(), Ok(&one));
        assert_ne!(one, other);
        assert_ne!(one.hash(), other.hash());
        assert_eq!(one.reveal().len(), TOKEN_BYTES);
    }

    #[test]
    fn what_is_no_token_is_refused() {
        let body = "a".repeat(43);
        assert!(format!("prunus_{body}").parse::<TokenSecret>().is_ok());
        for text in [String::new(), body.clone(), format!("prunus_{body}a"), format!("prunus_{}+", "a".repeat(42))] {
            assert_eq!(text.parse::<TokenSecret>(), Err(TokenFormError), "{text}");
        }
    }

    #[test]
    fn a_token_is_not_shown_by_accident() {
        let secret = TokenSecret::generate().unwrap();
        let shown = format!("{secret} {secret:?} {:?}", Some(&secret));
        assert!(!shown.contains(&secret.reveal()[PREFIX.len()..]), "{shown}");
    }
}
